// The least that a service in C on libdbus does: what each baseline shares.
#pragma once
#include <dbus/dbus.h>

// What follows the name on the command line, or NULL.
extern const char *baseline_argument;

DBusHandlerResult echo(DBusConnection *connection, DBusMessage *call, void *data);
DBusHandlerResult ideal(DBusConnection *connection, DBusMessage *call, void *data);
DBusHandlerResult emit(DBusConnection *connection, DBusMessage *call, void *data);
DBusHandlerResult forward(DBusConnection *connection, DBusMessage *call, void *data);
DBusHandlerResult play(DBusConnection *connection, DBusMessage *call, void *data);
// Registers the player as a bound field that has focus.
void play_registers(DBusConnection *connection);

// Sends `message` and lets go of it.
void send_and_free(DBusConnection *connection, DBusMessage *message);
// Appends a variant of the basic type `type`.
void append_variant(DBusMessageIter *iterator, int type, const void *value);
// Appends a variant that holds an array with one object path.
void append_paths(DBusMessageIter *iterator, const char *path);
// Opens a{sv}, and an entry of it under `name`; each is closed with `end_entry` and `end_properties`.
void begin_properties(DBusMessageIter *iterator, DBusMessageIter *array);
void begin_entry(DBusMessageIter *array, DBusMessageIter *entry, const char *name);
void end_entry(DBusMessageIter *array, DBusMessageIter *entry);
void end_properties(DBusMessageIter *iterator, DBusMessageIter *array);
// Appends what the daemon replies to Write: the value, the field and the revision.
void append_written(DBusMessage *reply, dbus_int32_t number);
// PropertiesChanged of one basic value.
DBusMessage *change_signal(const char *path, const char *interface, const char *name, int type, const void *value);
// Sends PropertiesChanged of one basic value.
void tell_change(
    DBusConnection *connection, const char *path, const char *interface, const char *name, int type, const void *value);
