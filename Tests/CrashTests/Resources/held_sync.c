// Preloaded into the daemon: says which thread syncs a file, and holds it while the FIFO that HELD_SYNC names is there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int synced(const char *name, int descriptor) {
  fprintf(stderr, "sync in %s\n", gettid() == getpid() ? "the loop" : "another thread");
  const char *path = getenv("HELD_SYNC");
  // Opening it waits for a writer, reading for that one's end.
  int gate = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (gate >= 0) {
    char byte;
    while (read(gate, &byte, 1) > 0) continue;
    close(gate);
  }
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(descriptor);
}

int fsync(int descriptor) { return synced("fsync", descriptor); }
int fdatasync(int descriptor) { return synced("fdatasync", descriptor); }
