// Many connections in one process, waited for with epoll: the first one calls, the others have a match rule each.
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "private.h"

struct peer {
  DBusConnection *connection;
  DBusWatch *read_watch;
};

struct bench_subscribers {
  char *address, *rule;
  int poll, count, room;
  struct peer **peers;
};

static dbus_bool_t add_watch(DBusWatch *watch, void *data) {
  if (dbus_watch_get_flags(watch) & DBUS_WATCH_READABLE) ((struct peer *)data)->read_watch = watch;
  return TRUE;
}

static void remove_watch(DBusWatch *watch, void *data) {
  struct peer *peer = data;
  if (peer->read_watch == watch) peer->read_watch = NULL;
}

static bool add_peer(bench_subscribers *all, const char *rule) {
  if (all->count == all->room) {
    all->room = all->room ? all->room * 2 : 16;
    all->peers = realloc(all->peers, (size_t)all->room * sizeof *all->peers);
    if (!all->peers) abort();
  }
  DBusConnection *connection = bench_connect(all->address);
  if (!connection) return false;
  DBusError error;
  dbus_error_init(&error);
  if (rule) dbus_bus_add_match(connection, rule, &error);
  struct peer *peer = calloc(1, sizeof *peer);
  if (!peer) abort();
  peer->connection = connection;
  all->peers[all->count++] = peer;
  int descriptor = -1;
  dbus_connection_set_watch_functions(connection, add_watch, remove_watch, NULL, peer, NULL);
  dbus_connection_get_unix_fd(connection, &descriptor);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = peer};
  bool is_added = !dbus_error_is_set(&error) && epoll_ctl(all->poll, EPOLL_CTL_ADD, descriptor, &event) == 0;
  dbus_error_free(&error);
  return is_added;
}

bench_subscribers *bench_subscribers_open(const char *address, const char *rule) {
  bench_subscribers *all = calloc(1, sizeof *all);
  if (!all) abort();
  all->address = strdup(address);
  all->rule = strdup(rule);
  all->poll = epoll_create1(EPOLL_CLOEXEC);
  if (all->poll >= 0 && add_peer(all, NULL)) return all;
  bench_subscribers_close(all);
  return NULL;
}

void bench_subscribers_close(bench_subscribers *all) {
  for (int index = 0; index < all->count; index++) {
    struct peer *peer = all->peers[index];
    dbus_connection_set_watch_functions(peer->connection, NULL, NULL, NULL, NULL, NULL);
    bench_disconnect(peer->connection);
    free(peer);
  }
  if (all->poll >= 0) close(all->poll);
  free(all->peers);
  free(all->address);
  free(all->rule);
  free(all);
}

bool bench_subscribers_grow(bench_subscribers *all, int count) {
  while (all->count <= count)
    if (!add_peer(all, all->rule)) return false;
  return true;
}

bool bench_subscribers_call(bench_subscribers *all, const bench_call *call, int number) {
  DBusMessage *message = bench_message(call, number);
  DBusMessage *reply = dbus_connection_send_with_reply_and_block(all->peers[0]->connection, message, 60000, NULL);
  dbus_message_unref(message);
  if (reply) dbus_message_unref(reply);
  return reply;
}

double bench_subscribers_time(bench_subscribers *all, const bench_call *call, int number) {
  struct epoll_event events[256];
  DBusMessage *message = bench_message(call, number);
  DBusConnection *caller = all->peers[0]->connection;
  int waiting = all->count - 1;
  bool is_answered = false;
  double began = bench_now(), taken = 0;
  dbus_connection_send(caller, message, NULL);
  dbus_connection_flush(caller);
  dbus_message_unref(message);
  while (waiting > 0 || !is_answered) {
    int ready = epoll_wait(all->poll, events, 256, 60000);
    if (ready <= 0) return -1;
    for (int index = 0; index < ready; index++) {
      struct peer *peer = events[index].data.ptr;
      if (peer->read_watch) dbus_watch_handle(peer->read_watch, DBUS_WATCH_READABLE);
      while ((message = dbus_connection_pop_message(peer->connection))) {
        int type = dbus_message_get_type(message);
        if (dbus_message_is_signal(message, DBUS_INTERFACE_PROPERTIES, "PropertiesChanged") && --waiting == 0)
          taken = bench_now() - began;
        if (peer->connection == caller && type == DBUS_MESSAGE_TYPE_METHOD_RETURN) is_answered = true;
        bool is_error = type == DBUS_MESSAGE_TYPE_ERROR;
        dbus_message_unref(message);
        if (is_error) return -1;
      }
    }
  }
  return taken;
}
