// What the toolchain's Glibc module leaves out.
#pragma once
#include <getopt.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <wchar.h>

// Declared by <wchar.h> for X/Open programs alone.
extern int wcwidth(wchar_t character);
