// What the toolchain's Glibc module leaves out.
#pragma once
#include <getopt.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
