// What the parts of the measuring side share.
#pragma once
#include <dbus/dbus.h>

#include "client.h"

struct bench_client {
  DBusConnection *connection;
  char error[256];
};

double bench_now(void);
DBusMessage *bench_message(const bench_call *call, int number);
DBusConnection *bench_connect(const char *address);
void bench_disconnect(DBusConnection *connection);
