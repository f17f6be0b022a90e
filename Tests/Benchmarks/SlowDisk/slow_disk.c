// Preloaded into the daemon: every sync takes a second.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

int fsync(int descriptor) {
  sleep(1);
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(descriptor);
}

int fdatasync(int descriptor) {
  sleep(1);
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(descriptor);
}
