#include "baseline.h"

void send_and_free(DBusConnection *connection, DBusMessage *message) {
  dbus_connection_send(connection, message, NULL);
  dbus_message_unref(message);
}

void append_variant(DBusMessageIter *iterator, int type, const void *value) {
  const char signature[] = {(char)type, '\0'};
  DBusMessageIter variant;
  dbus_message_iter_open_container(iterator, DBUS_TYPE_VARIANT, signature, &variant);
  dbus_message_iter_append_basic(&variant, type, value);
  dbus_message_iter_close_container(iterator, &variant);
}

void append_paths(DBusMessageIter *iterator, const char *path) {
  DBusMessageIter variant, array;
  dbus_message_iter_open_container(iterator, DBUS_TYPE_VARIANT, "ao", &variant);
  dbus_message_iter_open_container(&variant, DBUS_TYPE_ARRAY, "o", &array);
  dbus_message_iter_append_basic(&array, DBUS_TYPE_OBJECT_PATH, &path);
  dbus_message_iter_close_container(&variant, &array);
  dbus_message_iter_close_container(iterator, &variant);
}

void begin_properties(DBusMessageIter *iterator, DBusMessageIter *array) {
  dbus_message_iter_open_container(iterator, DBUS_TYPE_ARRAY, "{sv}", array);
}

void begin_entry(DBusMessageIter *array, DBusMessageIter *entry, const char *name) {
  dbus_message_iter_open_container(array, DBUS_TYPE_DICT_ENTRY, NULL, entry);
  dbus_message_iter_append_basic(entry, DBUS_TYPE_STRING, &name);
}

void end_entry(DBusMessageIter *array, DBusMessageIter *entry) { dbus_message_iter_close_container(array, entry); }

void end_properties(DBusMessageIter *iterator, DBusMessageIter *array) {
  dbus_message_iter_close_container(iterator, array);
}

DBusMessage *change_signal(const char *path, const char *interface, const char *name, int type, const void *value) {
  DBusMessage *signal = dbus_message_new_signal(path, DBUS_INTERFACE_PROPERTIES, "PropertiesChanged");
  DBusMessageIter iterator, array, entry;
  dbus_message_iter_init_append(signal, &iterator);
  dbus_message_iter_append_basic(&iterator, DBUS_TYPE_STRING, &interface);
  begin_properties(&iterator, &array);
  begin_entry(&array, &entry, name);
  append_variant(&entry, type, value);
  end_entry(&array, &entry);
  end_properties(&iterator, &array);
  dbus_message_iter_open_container(&iterator, DBUS_TYPE_ARRAY, "s", &array);
  dbus_message_iter_close_container(&iterator, &array);
  return signal;
}

void tell_change(
    DBusConnection *connection, const char *path, const char *interface, const char *name, int type,
    const void *value) {
  send_and_free(connection, change_signal(path, interface, name, type, value));
}
