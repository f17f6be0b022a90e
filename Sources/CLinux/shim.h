// What the toolchain's Glibc module leaves out.
#pragma once
#include <getopt.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <wchar.h>

// Declared by <wchar.h> for X/Open programs alone.
extern int wcwidth(wchar_t character);

// Declared by <pthread.h> for GNU programs alone.
extern int pthread_tryjoin_np(pthread_t thread, void **result);
extern int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *deadline);

// `prctl(2)` takes a variable number of arguments, which Swift does not import.
static inline int clinux_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0); }
