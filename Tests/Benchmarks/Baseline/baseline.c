// What libdbus itself costs: the least that a service in C does for the same calls.
//   benchmark-baseline echo NAME            answers Get with an int32, and anything else with nothing
//   benchmark-baseline forward NAME TARGET  passes each call on to TARGET with DBusPendingCall, and its reply back
//   benchmark-baseline emit NAME            on Emit sends the signals of a focus change, then replies
#include <dbus/dbus.h>
#include <stdio.h>
#include <string.h>

static const char *forward_target;

static void append_int_variant(DBusMessageIter *iterator, dbus_int32_t number) {
  DBusMessageIter variant;
  dbus_message_iter_open_container(iterator, DBUS_TYPE_VARIANT, "i", &variant);
  dbus_message_iter_append_basic(&variant, DBUS_TYPE_INT32, &number);
  dbus_message_iter_close_container(iterator, &variant);
}

static void reply_and_free(DBusConnection *connection, DBusMessage *reply) {
  dbus_connection_send(connection, reply, NULL);
  dbus_message_unref(reply);
}

static DBusHandlerResult echo(DBusConnection *connection, DBusMessage *call, void *data) {
  (void)data;
  if (dbus_message_get_type(call) != DBUS_MESSAGE_TYPE_METHOD_CALL) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  DBusMessage *reply = dbus_message_new_method_return(call);
  if (strcmp(dbus_message_get_member(call), "Get") == 0) {
    DBusMessageIter iterator;
    dbus_message_iter_init_append(reply, &iterator);
    append_int_variant(&iterator, 8);
  }
  reply_and_free(connection, reply);
  return DBUS_HANDLER_RESULT_HANDLED;
}

struct forwarded {
  DBusConnection *connection;
  DBusMessage *call;
};

static void forwarded_free(void *data) {
  struct forwarded *forwarded = data;
  dbus_message_unref(forwarded->call);
  dbus_free(forwarded);
}

static void forwarded_reply(DBusPendingCall *pending, void *data) {
  struct forwarded *forwarded = data;
  DBusMessage *answer = dbus_pending_call_steal_reply(pending);
  DBusMessage *reply = dbus_message_copy(answer);
  dbus_message_set_reply_serial(reply, dbus_message_get_serial(forwarded->call));
  dbus_message_set_destination(reply, dbus_message_get_sender(forwarded->call));
  reply_and_free(forwarded->connection, reply);
  dbus_message_unref(answer);
  dbus_pending_call_unref(pending);
}

static DBusHandlerResult forward(DBusConnection *connection, DBusMessage *call, void *data) {
  (void)data;
  if (dbus_message_get_type(call) != DBUS_MESSAGE_TYPE_METHOD_CALL) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  struct forwarded *forwarded = dbus_malloc0(sizeof *forwarded);
  forwarded->connection = connection;
  forwarded->call = dbus_message_ref(call);
  DBusMessage *copy = dbus_message_copy(call);
  dbus_message_set_destination(copy, forward_target);
  DBusPendingCall *pending = NULL;
  dbus_connection_send_with_reply(connection, copy, &pending, 5000);
  dbus_pending_call_set_notify(pending, forwarded_reply, forwarded, forwarded_free);
  dbus_message_unref(copy);
  return DBUS_HANDLER_RESULT_HANDLED;
}

static void append_empty_array(DBusMessageIter *iterator, const char *element) {
  DBusMessageIter array;
  dbus_message_iter_open_container(iterator, DBUS_TYPE_ARRAY, element, &array);
  dbus_message_iter_close_container(iterator, &array);
}

// PropertiesChanged with one path and one int, as long as what a focus change says of each object.
static void emit_one(DBusConnection *connection, const char *path, const char *interface, dbus_int32_t number) {
  DBusMessage *signal = dbus_message_new_signal(path, "org.freedesktop.DBus.Properties", "PropertiesChanged");
  const char *name = "Number";
  DBusMessageIter iterator, dictionary, entry;
  dbus_message_iter_init_append(signal, &iterator);
  dbus_message_iter_append_basic(&iterator, DBUS_TYPE_STRING, &interface);
  dbus_message_iter_open_container(&iterator, DBUS_TYPE_ARRAY, "{sv}", &dictionary);
  dbus_message_iter_open_container(&dictionary, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
  dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &name);
  append_int_variant(&entry, number);
  dbus_message_iter_close_container(&dictionary, &entry);
  dbus_message_iter_close_container(&iterator, &dictionary);
  append_empty_array(&iterator, "s");
  dbus_connection_send(connection, signal, NULL);
  dbus_message_unref(signal);
}

static DBusHandlerResult emit(DBusConnection *connection, DBusMessage *call, void *data) {
  static dbus_int32_t number = 0;
  (void)data;
  if (dbus_message_get_type(call) != DBUS_MESSAGE_TYPE_METHOD_CALL) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  number++;
  emit_one(connection, "/org/focusd/Focus1", "org.focusd.Focus1.Manager", number);
  emit_one(connection, "/org/focusd/Focus1/field/one", "org.focusd.Focus1.Field", number);
  emit_one(connection, "/org/focusd/Focus1/field/two", "org.focusd.Focus1.Field", number);
  emit_one(connection, "/org/focusd/Focus1/focused", "demo.Form", number);
  reply_and_free(connection, dbus_message_new_method_return(call));
  return DBUS_HANDLER_RESULT_HANDLED;
}

int main(int count, char **arguments) {
  const char *mode = count > 2 ? arguments[1] : "";
  DBusHandleMessageFunction handler = NULL;
  if (strcmp(mode, "echo") == 0) handler = echo;
  if (strcmp(mode, "emit") == 0) handler = emit;
  if (strcmp(mode, "forward") == 0 && count > 3) {
    handler = forward;
    forward_target = arguments[3];
  }
  if (!handler) {
    fprintf(stderr, "usage: benchmark-baseline echo|emit NAME, or forward NAME TARGET\n");
    return 2;
  }
  DBusError error;
  dbus_error_init(&error);
  DBusConnection *connection = dbus_bus_get_private(DBUS_BUS_SESSION, &error);
  if (!connection) {
    fprintf(stderr, "benchmark-baseline: %s\n", error.message);
    return 1;
  }
  dbus_connection_add_filter(connection, handler, NULL, NULL);
  dbus_bus_request_name(connection, arguments[2], DBUS_NAME_FLAG_DO_NOT_QUEUE, &error);
  puts("ready");
  fflush(stdout);
  while (dbus_connection_read_write_dispatch(connection, -1)) {
  }
  return 0;
}
