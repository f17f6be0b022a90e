// Passes each call on to another service with DBusPendingCall, and the reply back, neither of them decoded.
#include "baseline.h"

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
  send_and_free(forwarded->connection, reply);
  dbus_message_unref(answer);
  dbus_pending_call_unref(pending);
}

DBusHandlerResult forward(DBusConnection *connection, DBusMessage *call, void *data) {
  (void)data;
  if (dbus_message_get_type(call) != DBUS_MESSAGE_TYPE_METHOD_CALL) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  struct forwarded *forwarded = dbus_malloc0(sizeof *forwarded);
  forwarded->connection = connection;
  forwarded->call = dbus_message_ref(call);
  DBusMessage *copy = dbus_message_copy(call);
  dbus_message_set_destination(copy, baseline_argument);
  DBusPendingCall *pending = NULL;
  dbus_connection_send_with_reply(connection, copy, &pending, 5000);
  dbus_pending_call_set_notify(pending, forwarded_reply, forwarded, forwarded_free);
  dbus_message_unref(copy);
  return DBUS_HANDLER_RESULT_HANDLED;
}
