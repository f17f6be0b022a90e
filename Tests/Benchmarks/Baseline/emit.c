// Sends the signals of a move of focus between two fields, as the daemon does and in its order, then the reply.
#include "baseline.h"

#define FIELD "/org/focusd/Focus1/field/"

static void tell_focus(DBusConnection *connection, const char *now, const char *before) {
  DBusMessage *signal = dbus_message_new_signal("/org/focusd/Focus1", DBUS_INTERFACE_PROPERTIES, "PropertiesChanged");
  const char *interface = "org.focusd.Focus1.Manager";
  DBusMessageIter iterator, array, entry;
  dbus_message_iter_init_append(signal, &iterator);
  dbus_message_iter_append_basic(&iterator, DBUS_TYPE_STRING, &interface);
  begin_properties(&iterator, &array);
  begin_entry(&array, &entry, "FocusedField");
  append_variant(&entry, DBUS_TYPE_OBJECT_PATH, &now);
  end_entry(&array, &entry);
  begin_entry(&array, &entry, "FocusPath");
  append_paths(&entry, now);
  end_entry(&array, &entry);
  begin_entry(&array, &entry, "History");
  append_paths(&entry, before);
  end_entry(&array, &entry);
  end_properties(&iterator, &array);
  dbus_message_iter_open_container(&iterator, DBUS_TYPE_ARRAY, "s", &array);
  dbus_message_iter_close_container(&iterator, &array);
  send_and_free(connection, signal);
}

DBusHandlerResult emit(DBusConnection *connection, DBusMessage *call, void *data) {
  static dbus_int32_t number = 1;
  const char *paths[] = {FIELD "one", FIELD "two"};
  const dbus_bool_t no = FALSE, yes = TRUE;
  (void)data;
  if (dbus_message_get_type(call) != DBUS_MESSAGE_TYPE_METHOD_CALL) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  number = 3 - number;
  const char *now = paths[number - 1], *before = paths[2 - number];
  tell_focus(connection, now, before);
  tell_change(connection, before, "org.focusd.Focus1.Field", "Focused", DBUS_TYPE_BOOLEAN, &no);
  tell_change(connection, now, "org.focusd.Focus1.Field", "Focused", DBUS_TYPE_BOOLEAN, &yes);
  tell_change(connection, "/org/focusd/Focus1/focused", "demo.Focus", "Number", DBUS_TYPE_INT32, &number);
  send_and_free(connection, dbus_message_new_method_return(call));
  return DBUS_HANDLER_RESULT_HANDLED;
}
