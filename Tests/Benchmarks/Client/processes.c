#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "private.h"

static cpu_set_t *allowed(void) {
  static cpu_set_t set;
  static bool is_known = false;
  if (!is_known) sched_getaffinity(0, sizeof set, &set);
  is_known = true;
  return &set;
}

int bench_processors(void) { return CPU_COUNT(allowed()); }

void bench_pin(pid_t process, bool is_pinned) {
  cpu_set_t set = *allowed();
  if (is_pinned) {
    int last = CPU_SETSIZE - 1;
    while (last > 0 && !CPU_ISSET(last, &set)) last--;
    CPU_ZERO(&set);
    CPU_SET(last, &set);
  }
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *threads = opendir(path);
  if (!threads) return;
  struct dirent *thread;
  while ((thread = readdir(threads)))
    if (thread->d_name[0] != '.') sched_setaffinity(atoi(thread->d_name), sizeof set, &set);
  closedir(threads);
}

double bench_processor_time(pid_t process) {
  clockid_t clock;
  struct timespec time = {0};
  if (clock_getcpuclockid(process, &clock) == 0) clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

long bench_raise_file_limit(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return (long)limit.rlim_cur;
}

static pid_t spawn(char *const *arguments, char *const *environment) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int stream = 0; stream < 3; stream++)
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", stream ? O_WRONLY : O_RDONLY, 0);
  // The threads that tasks run on hold signals back, and what they start would do so too.
  posix_spawnattr_t attributes;
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t process = -1;
  if (posix_spawn(&process, arguments[0], &actions, &attributes, arguments, environment) != 0) process = -1;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return process;
}

double bench_run(char *const *arguments, char *const *environment) {
  double began = bench_now();
  pid_t process = spawn(arguments, environment);
  int status = 1;
  if (process < 0 || waitpid(process, &status, 0) < 0 || status != 0) return -1;
  return bench_now() - began;
}

// Waits until the bus tells that `name` is held, or free, for a minute at most.
static bool wait_for_name(bench_client *client, const char *name, bool is_held) {
  double end = bench_now() + 60e6;
  while (bench_now() < end) {
    DBusMessage *message;
    while ((message = dbus_connection_pop_message(client->connection))) {
      const char *of = "", *before = "", *now = "";
      bool is_told = dbus_message_is_signal(message, DBUS_INTERFACE_DBUS, "NameOwnerChanged") &&
                     dbus_message_get_args(
                         message, NULL, DBUS_TYPE_STRING, &of, DBUS_TYPE_STRING, &before, DBUS_TYPE_STRING, &now,
                         DBUS_TYPE_INVALID) &&
                     strcmp(of, name) == 0 && (*now != '\0') == is_held;
      dbus_message_unref(message);
      if (is_told) return true;
    }
    dbus_connection_read_write(client->connection, 1000);
  }
  return false;
}

double bench_time_to_name(
    bench_client *client, const char *name, char *const *arguments, char *const *environment, pid_t *process) {
  char rule[256];
  snprintf(
      rule, sizeof rule, "type='signal',sender='" DBUS_SERVICE_DBUS "',member='NameOwnerChanged',arg0='%s'", name);
  DBusError error;
  dbus_error_init(&error);
  dbus_bus_add_match(client->connection, rule, &error);
  double began = bench_now();
  *process = spawn(arguments, environment);
  if (*process < 0 || !wait_for_name(client, name, true)) return -1;
  return bench_now() - began;
}

void bench_end(bench_client *client, const char *name, pid_t process) {
  kill(process, SIGTERM);
  waitpid(process, NULL, 0);
  wait_for_name(client, name, false);
  char rule[256];
  snprintf(
      rule, sizeof rule, "type='signal',sender='" DBUS_SERVICE_DBUS "',member='NameOwnerChanged',arg0='%s'", name);
  dbus_bus_remove_match(client->connection, rule, NULL);
}
