// A media player that plays nothing: as much of MPRIS as playerctld and the daemon ask for, all of it in constants.
#include <string.h>

#include "baseline.h"

#define ROOT "org.mpris.MediaPlayer2"
#define PLAYER ROOT ".Player"

static const double volume = 0.5;
static const dbus_int64_t position = 8;

static const char *xml =
    "<node><interface name=\"" ROOT "\"><property name=\"Identity\" type=\"s\" access=\"read\"/></interface>"
    "<interface name=\"" PLAYER "\"><method name=\"PlayPause\"/>"
    "<property name=\"PlaybackStatus\" type=\"s\" access=\"read\"/>"
    "<property name=\"CanControl\" type=\"b\" access=\"read\"/>"
    "<property name=\"CanPlay\" type=\"b\" access=\"read\"/>"
    "<property name=\"CanPause\" type=\"b\" access=\"read\"/>"
    "<property name=\"Metadata\" type=\"a{sv}\" access=\"read\"/>"
    "<property name=\"Volume\" type=\"d\" access=\"readwrite\"/>"
    "<property name=\"Position\" type=\"x\" access=\"read\">"
    "<annotation name=\"org.freedesktop.DBus.Property.EmitsChangedSignal\" value=\"false\"/></property>"
    "</interface></node>";

static void append_entry(DBusMessageIter *array, const char *name, int type, const void *value) {
  DBusMessageIter entry;
  begin_entry(array, &entry, name);
  append_variant(&entry, type, value);
  end_entry(array, &entry);
}

static void append_metadata(DBusMessageIter *array) {
  const char *title = "A title";
  DBusMessageIter entry, variant, metadata;
  begin_entry(array, &entry, "Metadata");
  dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "a{sv}", &variant);
  begin_properties(&variant, &metadata);
  append_entry(&metadata, "xesam:title", DBUS_TYPE_STRING, &title);
  end_properties(&variant, &metadata);
  dbus_message_iter_close_container(&entry, &variant);
  end_entry(array, &entry);
}

static void append_all(DBusMessageIter *iterator, DBusMessage *call) {
  const char *interface = "", *identity = "mock", *status = "Playing";
  const dbus_bool_t yes = TRUE;
  DBusMessageIter array;
  dbus_message_get_args(call, NULL, DBUS_TYPE_STRING, &interface, DBUS_TYPE_INVALID);
  begin_properties(iterator, &array);
  if (strcmp(interface, ROOT) == 0) append_entry(&array, "Identity", DBUS_TYPE_STRING, &identity);
  if (strcmp(interface, PLAYER) == 0) {
    append_entry(&array, "PlaybackStatus", DBUS_TYPE_STRING, &status);
    append_entry(&array, "CanControl", DBUS_TYPE_BOOLEAN, &yes);
    append_entry(&array, "CanPlay", DBUS_TYPE_BOOLEAN, &yes);
    append_entry(&array, "CanPause", DBUS_TYPE_BOOLEAN, &yes);
    append_metadata(&array);
    append_entry(&array, "Volume", DBUS_TYPE_DOUBLE, &volume);
    append_entry(&array, "Position", DBUS_TYPE_INT64, &position);
  }
  end_properties(iterator, &array);
}

static void append_one(DBusMessageIter *iterator, DBusMessage *call) {
  const char *interface = "", *name = "";
  dbus_message_get_args(call, NULL, DBUS_TYPE_STRING, &interface, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID);
  if (strcmp(name, "Volume") == 0)
    append_variant(iterator, DBUS_TYPE_DOUBLE, &volume);
  else
    append_variant(iterator, DBUS_TYPE_INT64, &position);
}

DBusHandlerResult play(DBusConnection *connection, DBusMessage *call, void *data) {
  (void)data;
  if (dbus_message_get_type(call) != DBUS_MESSAGE_TYPE_METHOD_CALL) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  const char *member = dbus_message_get_member(call);
  DBusMessage *reply = dbus_message_new_method_return(call);
  DBusMessageIter iterator;
  dbus_message_iter_init_append(reply, &iterator);
  if (strcmp(member, "Get") == 0) append_one(&iterator, call);
  if (strcmp(member, "GetAll") == 0) append_all(&iterator, call);
  if (strcmp(member, "Introspect") == 0) dbus_message_iter_append_basic(&iterator, DBUS_TYPE_STRING, &xml);
  if (dbus_message_get_no_reply(call))
    dbus_message_unref(reply);
  else
    send_and_free(connection, reply);
  return DBUS_HANDLER_RESULT_HANDLED;
}

void play_registers(DBusConnection *connection) {
  DBusMessage *call = dbus_message_new_method_call(
      "org.focusd.Focus1", "/org/focusd/Focus1", "org.focusd.Focus1.Manager", "Register");
  const char *id = "player", *object = "/org/mpris/MediaPlayer2";
  const dbus_bool_t yes = TRUE;
  DBusMessageIter iterator, array;
  dbus_message_iter_init_append(call, &iterator);
  dbus_message_iter_append_basic(&iterator, DBUS_TYPE_STRING, &id);
  begin_properties(&iterator, &array);
  end_properties(&iterator, &array);
  begin_properties(&iterator, &array);
  append_entry(&array, "object", DBUS_TYPE_OBJECT_PATH, &object);
  append_entry(&array, "focus", DBUS_TYPE_BOOLEAN, &yes);
  end_properties(&iterator, &array);
  dbus_message_set_no_reply(call, TRUE);
  send_and_free(connection, call);
}
