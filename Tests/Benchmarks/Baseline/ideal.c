// Answers Set and Write as the echo does, with the daemon's two signals before each reply and two writes to a file, and with
// nothing that could be done beforehand: the three messages are marshalled once, and each call sends copies of their
// bytes in one send(2). It is what a service could reach that receives with libdbus.
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "baseline.h"

// A marshalled message, and where the parts lie that differ: D-Bus specification, "Message Format".
struct template {
  char *bytes;
  int count;
  int reply_serial, value;
};

static struct template signals[2], replies[2];

// Takes the bytes of `message`, in which `number` and, in a reply, the serial 0x5a5a5a5a are searched for.
static struct template marshal(DBusMessage *message, dbus_int32_t number) {
  struct template made = {.reply_serial = -1, .value = -1};
  const dbus_uint32_t serial = 0x5a5a5a5a;
  dbus_message_set_serial(message, 1);
  if (!dbus_message_marshal(message, &made.bytes, &made.count)) abort();
  for (int index = 0; index + 4 <= made.count; index += 4) {
    if (memcmp(made.bytes + index, &serial, 4) == 0) made.reply_serial = index;
    if (memcmp(made.bytes + index, &number, 4) == 0) made.value = index;
  }
  dbus_message_unref(message);
  return made;
}

static void prepare(DBusMessage *call) {
  const dbus_int32_t number = 0x3c3c3c3c;
  const char *paths[] = {"/org/focusd/Focus1/field/stored", "/org/focusd/Focus1/focused"};
  for (int index = 0; index < 2; index++)
    signals[index] = marshal(change_signal(paths[index], "demo.Form", "Number", DBUS_TYPE_INT32, &number), number);
  for (int index = 0; index < 2; index++) {
    DBusMessage *reply = dbus_message_new_method_return(call);
    dbus_message_set_reply_serial(reply, 0x5a5a5a5a);
    if (index == 1) append_written(reply, number);
    replies[index] = marshal(reply, number);
  }
}

static int copy(char *to, const struct template *from, dbus_uint32_t serial, dbus_uint32_t answered, dbus_int32_t value) {
  memcpy(to, from->bytes, from->count);
  memcpy(to + 8, &serial, 4);
  if (from->reply_serial >= 0) memcpy(to + from->reply_serial, &answered, 4);
  if (from->value >= 0) memcpy(to + from->value, &value, 4);
  return from->count;
}

static int open_file(void) {
  char name[] = "/tmp/benchmark-ideal.XXXXXX";
  int file = mkstemp(name);
  unlink(name);
  return file;
}

// Only one client calls it: the replies bear the name of the first.
DBusHandlerResult ideal(DBusConnection *connection, DBusMessage *call, void *data) {
  static dbus_uint32_t serial = 1000;
  static dbus_int32_t number = 0;
  static int file = -1;
  static char page[4096];
  char sent[2048];
  (void)data;
  if (dbus_message_get_type(call) != DBUS_MESSAGE_TYPE_METHOD_CALL) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  if (file < 0) {
    file = open_file();
    prepare(call);
  }
  int socket, count = 0, is_write = strcmp(dbus_message_get_member(call), "Write") == 0;
  number++;
  if (pwrite(file, page, sizeof page, 0) < 0 || pwrite(file, page, 24, sizeof page) < 0) abort();
  for (int index = 0; index < 2; index++) count += copy(sent + count, &signals[index], serial++, 0, number);
  count += copy(sent + count, &replies[is_write], serial++, dbus_message_get_serial(call), number);
  dbus_connection_get_socket(connection, &socket);
  if (send(socket, sent, count, MSG_NOSIGNAL) != count) abort();
  return DBUS_HANDLER_RESULT_HANDLED;
}
