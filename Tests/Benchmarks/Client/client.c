#include "client.h"

#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "private.h"

struct bench_call {
  char *destination, *path, *interface, *member, *format, *texts[2];
};

static char *copied(const char *text) {
  char *copy = strdup(text ? text : "");
  if (!copy) abort();
  return copy;
}

bench_call *bench_call_new(
    const char *destination, const char *path, const char *interface, const char *member, const char *format,
    const char *first, const char *second) {
  bench_call *call = malloc(sizeof *call);
  if (!call) abort();
  *call = (bench_call){copied(destination), copied(path), copied(interface), copied(member), copied(format),
                       {copied(first), copied(second)}};
  return call;
}

static void append_variant(DBusMessageIter *iterator, int type, const void *value) {
  const char signature[] = {(char)type, '\0'};
  DBusMessageIter variant;
  dbus_message_iter_open_container(iterator, DBUS_TYPE_VARIANT, signature, &variant);
  dbus_message_iter_append_basic(&variant, type, value);
  dbus_message_iter_close_container(iterator, &variant);
}

// a{sv} with one entry, or without any where `name` is NULL.
static void append_properties(DBusMessageIter *iterator, const char *name, int type, const void *value) {
  DBusMessageIter array, entry;
  dbus_message_iter_open_container(iterator, DBUS_TYPE_ARRAY, "{sv}", &array);
  if (name) {
    dbus_message_iter_open_container(&array, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &name);
    append_variant(&entry, type, value);
    dbus_message_iter_close_container(&array, &entry);
  }
  dbus_message_iter_close_container(iterator, &array);
}

DBusMessage *bench_message(const bench_call *call, int number) {
  DBusMessage *message = dbus_message_new_method_call(call->destination, call->path, call->interface, call->member);
  if (!message) abort();
  DBusMessageIter iterator;
  dbus_message_iter_init_append(message, &iterator);
  char *const *text = call->texts;
  char numbered[128];
  const char *pointer = numbered;
  const dbus_int32_t value = number;
  const dbus_bool_t yes = TRUE;
  for (const char *letter = call->format; *letter; letter++) switch (*letter) {
      case 's': dbus_message_iter_append_basic(&iterator, DBUS_TYPE_STRING, text++); break;
      case 'f':
        snprintf(numbered, sizeof numbered, "%s%d", *text++, number);
        dbus_message_iter_append_basic(&iterator, DBUS_TYPE_STRING, &pointer);
        break;
      case 'n': append_variant(&iterator, DBUS_TYPE_INT32, &value); break;
      case 'v': append_properties(&iterator, *text++, DBUS_TYPE_INT32, &value); break;
      case 'l': append_properties(&iterator, "linger", DBUS_TYPE_BOOLEAN, &yes); break;
      default: append_properties(&iterator, NULL, 0, NULL);
    }
  return message;
}

double bench_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

DBusConnection *bench_connect(const char *address) {
  DBusConnection *connection = dbus_connection_open_private(address, NULL);
  if (!connection) return NULL;
  dbus_connection_set_exit_on_disconnect(connection, FALSE);
  if (dbus_bus_register(connection, NULL)) return connection;
  bench_disconnect(connection);
  return NULL;
}

void bench_disconnect(DBusConnection *connection) {
  dbus_connection_close(connection);
  while (dbus_connection_dispatch(connection) == DBUS_DISPATCH_DATA_REMAINS) {
  }
  dbus_connection_unref(connection);
}

bench_client *bench_client_open(const char *address) {
  DBusConnection *connection = bench_connect(address);
  if (!connection) return NULL;
  bench_client *client = calloc(1, sizeof *client);
  if (!client) abort();
  client->connection = connection;
  return client;
}

void bench_client_close(bench_client *client) {
  bench_disconnect(client->connection);
  free(client);
}

const char *bench_client_error(const bench_client *client) { return client->error; }

int bench_time(bench_client *client, bench_call *const *calls, int kinds, int first, int count, double *taken) {
  int refused = 0;
  for (int index = 0; index < count; index++) {
    DBusMessage *message = bench_message(calls[(first + index) % kinds], first + index);
    DBusError error;
    dbus_error_init(&error);
    double began = bench_now();
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(client->connection, message, 5000, &error);
    taken[index] = bench_now() - began;
    dbus_message_unref(message);
    if (reply) {
      dbus_message_unref(reply);
      continue;
    }
    refused++;
    snprintf(client->error, sizeof client->error, "%s: %s", error.name, error.message);
    dbus_error_free(&error);
    if (!dbus_connection_get_is_connected(client->connection)) return -1;
  }
  return refused;
}

// Looks at each message that has arrived, and says how many replies there were.
static int take_replies(bench_client *client, int *refused) {
  int replies = 0;
  DBusMessage *message;
  while ((message = dbus_connection_pop_message(client->connection))) {
    int type = dbus_message_get_type(message);
    if (type == DBUS_MESSAGE_TYPE_METHOD_RETURN || type == DBUS_MESSAGE_TYPE_ERROR) replies++;
    if (type == DBUS_MESSAGE_TYPE_ERROR) {
      const char *text = "";
      dbus_message_get_args(message, NULL, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID);
      snprintf(client->error, sizeof client->error, "%s: %s", dbus_message_get_error_name(message), text);
      (*refused)++;
    }
    dbus_message_unref(message);
  }
  return replies;
}

int bench_flood(
    bench_client *client, bench_call *const *calls, int kinds, int first, int count, int window, double *taken) {
  int sent = 0, answered = 0, refused = 0;
  double began = bench_now();
  while (answered < count) {
    for (; sent < count && sent < answered + window; sent++) {
      DBusMessage *message = bench_message(calls[(first + sent) % kinds], first + sent);
      dbus_connection_send(client->connection, message, NULL);
      dbus_message_unref(message);
    }
    if (!dbus_connection_read_write(client->connection, -1)) return -1;
    answered += take_replies(client, &refused);
  }
  *taken = bench_now() - began;
  return refused;
}
