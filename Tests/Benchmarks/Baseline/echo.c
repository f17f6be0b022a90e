// Answers as the daemon answers for a stored int32 that has focus, with the same bodies, knowing nothing. Beside that,
// Carry2 to Carry4 send their arguments on as so many signals, Tell sends as many as it is asked for, and Repeat answers
// what the daemon does.
#include <string.h>

#include "baseline.h"

static void append_origin(DBusMessageIter *iterator) {
  const char *field = "/org/focusd/Focus1/field/stored";
  dbus_uint64_t revision = 8;
  dbus_message_iter_append_basic(iterator, DBUS_TYPE_OBJECT_PATH, &field);
  dbus_message_iter_append_basic(iterator, DBUS_TYPE_UINT64, &revision);
}

void append_written(DBusMessage *reply, dbus_int32_t number) {
  DBusMessageIter iterator;
  dbus_message_iter_init_append(reply, &iterator);
  append_variant(&iterator, DBUS_TYPE_INT32, &number);
  append_origin(&iterator);
}

// The arguments of a call as a signal: its bytes are those of the call but for the second, which is the type.
static DBusMessage *as_signal(DBusMessage *call) {
  char *bytes;
  int count;
  if (!dbus_message_marshal(call, &bytes, &count)) return NULL;
  bytes[1] = DBUS_MESSAGE_TYPE_SIGNAL;
  DBusMessage *signal = dbus_message_demarshal(bytes, count, NULL);
  dbus_free(bytes);
  if (signal) dbus_message_set_destination(signal, NULL);
  return signal;
}

// Sends the arguments of the first call on, to everyone, `count` times. Later calls have the same, and send copies.
static void carry(DBusConnection *connection, DBusMessage *call, int count) {
  static DBusMessage *carried = NULL;
  if (!carried) carried = as_signal(call);
  for (int index = 0; carried && index < count; index++) send_and_free(connection, dbus_message_copy(carried));
}

// Sends as many signals as the first argument says, each with as many bytes as the second.
static void tell(DBusConnection *connection, DBusMessage *call) {
  dbus_uint32_t count = 0, size = 0;
  dbus_message_get_args(
      call, NULL, DBUS_TYPE_UINT32, &count, DBUS_TYPE_UINT32, &size, DBUS_TYPE_INVALID);
  unsigned char *bytes = dbus_malloc0(size + 1);
  for (dbus_uint32_t index = 0; index < count; index++) {
    DBusMessage *signal = dbus_message_new_signal("/org/focusd/Focus1/field/stored", "bench.Echo", "Told");
    dbus_message_append_args(signal, DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE, &bytes, (int)size, DBUS_TYPE_INVALID);
    send_and_free(connection, signal);
  }
  dbus_free(bytes);
}

// The daemon's reply to the call that the arguments name, which takes none: asked once, and sent as it is from then on.
static DBusMessage *repeat(DBusConnection *connection, DBusMessage *call) {
  static DBusMessage *repeated = NULL;
  if (!repeated) {
    const char *path, *interface, *member;
    if (!dbus_message_get_args(
            call, NULL, DBUS_TYPE_OBJECT_PATH, &path, DBUS_TYPE_STRING, &interface, DBUS_TYPE_STRING, &member,
            DBUS_TYPE_INVALID))
      return NULL;
    DBusMessage *asked = dbus_message_new_method_call("org.focusd.Focus1", path, interface, member);
    repeated = dbus_connection_send_with_reply_and_block(connection, asked, DBUS_TIMEOUT_INFINITE, NULL);
    dbus_message_unref(asked);
  }
  DBusMessage *reply = repeated ? dbus_message_copy(repeated) : NULL;
  if (!reply) return NULL;
  dbus_message_set_sender(reply, NULL);
  dbus_message_set_destination(reply, dbus_message_get_sender(call));
  dbus_message_set_reply_serial(reply, dbus_message_get_serial(call));
  return reply;
}

// With an argument, Set and Write send the two signals that the daemon sends.
DBusHandlerResult echo(DBusConnection *connection, DBusMessage *call, void *data) {
  static dbus_int32_t number = 0;
  (void)data;
  if (dbus_message_get_type(call) != DBUS_MESSAGE_TYPE_METHOD_CALL) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  const char *member = dbus_message_get_member(call);
  DBusMessage *reply = strcmp(member, "Repeat") == 0 ? repeat(connection, call) : NULL;
  if (reply) {
    send_and_free(connection, reply);
    return DBUS_HANDLER_RESULT_HANDLED;
  }
  reply = dbus_message_new_method_return(call);
  DBusMessageIter iterator;
  dbus_message_iter_init_append(reply, &iterator);
  if (strcmp(member, "Get") == 0) {
    append_variant(&iterator, DBUS_TYPE_INT32, &number);
  } else if (strcmp(member, "Read") == 0) {
    DBusMessageIter array;
    dbus_message_iter_open_container(&iterator, DBUS_TYPE_ARRAY, "v", &array);
    append_variant(&array, DBUS_TYPE_INT32, &number);
    dbus_message_iter_close_container(&iterator, &array);
    append_origin(&iterator);
  } else if (strcmp(member, "Write") == 0) {
    append_written(reply, number);
  }
  if (strncmp(member, "Carry", 5) == 0) carry(connection, call, member[5] - '0');
  if (strcmp(member, "Tell") == 0) tell(connection, call);
  if (baseline_argument && strcmp(member, "Get") != 0 && strcmp(member, "Read") != 0) {
    number++;
    const char *paths[] = {"/org/focusd/Focus1/field/stored", "/org/focusd/Focus1/focused"};
    for (int index = 0; index < 2; index++)
      tell_change(connection, paths[index], "demo.Form", "Number", DBUS_TYPE_INT32, &number);
  }
  send_and_free(connection, reply);
  return DBUS_HANDLER_RESULT_HANDLED;
}
