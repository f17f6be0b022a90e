// The measuring side of the benchmarks, on libdbus in C so that it costs as little as it can beside what is measured.
// All times are in microseconds. It ends the process where memory runs out.
#pragma once
#include <stdbool.h>
#include <sys/types.h>

// A call that is made again and again.
//
// `format` has a letter for each argument: `s` the next text; `f` the next text followed by the call's number; `n` a
// variant of the number; `v` a{sv} with the next text's int32, the number; `e` an empty a{sv}; `l` a{sv} with linger.
typedef struct bench_call bench_call;
bench_call *bench_call_new(
    const char *destination, const char *path, const char *interface, const char *member, const char *format,
    const char *first, const char *second);

// A connection that calls.
typedef struct bench_client bench_client;
// NULL if there is no such bus.
bench_client *bench_client_open(const char *address);
void bench_client_close(bench_client *client);
// What the last error reply said, or "".
const char *bench_client_error(const bench_client *client);

// Calls one after another, round and round through `calls`, numbered from `first` on, into `taken`, from the sending to
// the reply; how many were refused, or -1 where the bus is gone.
int bench_time(bench_client *client, bench_call *const *calls, int kinds, int first, int count, double *taken);
// The same with `window` calls under way at a time; the time of all of them in `taken`.
int bench_flood(
    bench_client *client, bench_call *const *calls, int kinds, int first, int count, int window, double *taken);

// Connections that each match one signal of a change.
typedef struct bench_subscribers bench_subscribers;
bench_subscribers *bench_subscribers_open(const char *address, const char *rule);
void bench_subscribers_close(bench_subscribers *subscribers);
// Makes them `count` at least; false where no more connections can be had.
bool bench_subscribers_grow(bench_subscribers *subscribers, int count);
// One call from the connection that calls, outside of any measuring; whether it was answered well.
bool bench_subscribers_call(bench_subscribers *subscribers, const bench_call *call, int number);
// The time from the call until the last of them has its signal; negative where a minute passes without.
double bench_subscribers_time(bench_subscribers *subscribers, const bench_call *call, int number);

// How many processors this process may use, before anything is pinned.
int bench_processors(void);
// Keeps all threads of a process on the last of these processors, or lets them use all again.
void bench_pin(pid_t process, bool is_pinned);
// The processor time that a process's threads have used.
double bench_processor_time(pid_t process);
// Lets this process, and those that it starts, have as many files as the system allows; how many that is.
long bench_raise_file_limit(void);

// Runs a program to its end with its output thrown away; negative where it ends with another status than 0.
double bench_run(char *const *arguments, char *const *environment);
// From the start of a program until it holds `name`, which nobody does before; negative where a minute passes without.
double bench_time_to_name(
    bench_client *client, const char *name, char *const *arguments, char *const *environment, pid_t *process);
// Ends a process and waits until `name` is free.
void bench_end(bench_client *client, const char *name, pid_t process);
