// What libdbus itself costs: the least that a service in C does for the same calls.
//   benchmark-baseline echo NAME [tell]     answers Get, Read, Set, Write and large calls; with `tell` after their signals
//   benchmark-baseline ideal NAME           answers Set and Write of one client with all bytes prepared
//   benchmark-baseline forward NAME TARGET  passes each call on to TARGET with DBusPendingCall, and its reply back
//   benchmark-baseline emit NAME            on any call sends the signals of a move of focus, then replies
//   benchmark-baseline play NAME [alone]    is a media player and, unless `alone`, a bound field of the daemon
#include <stdio.h>
#include <string.h>

#include "baseline.h"

const char *baseline_argument;

int main(int count, char **arguments) {
  static const struct {
    const char *mode;
    DBusHandleMessageFunction handler;
  } modes[] = {{"echo", echo}, {"ideal", ideal}, {"forward", forward}, {"emit", emit}, {"play", play}};
  DBusHandleMessageFunction handler = NULL;
  for (size_t index = 0; count > 2 && index < sizeof modes / sizeof *modes; index++)
    if (strcmp(arguments[1], modes[index].mode) == 0) handler = modes[index].handler;
  baseline_argument = count > 3 ? arguments[3] : NULL;
  if (!handler || (handler == forward && !baseline_argument)) {
    fprintf(
        stderr, "usage: benchmark-baseline echo NAME [tell], ideal NAME, forward NAME TARGET, emit NAME or play NAME [alone]\n");
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
  if (handler == play && !baseline_argument) play_registers(connection);
  puts("ready");
  fflush(stdout);
  while (dbus_connection_read_write_dispatch(connection, -1)) {
  }
  return 0;
}
