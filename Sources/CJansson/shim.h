// Jansson as Swift imports it: the flags are expressions with casts.
#pragma once
#include <jansson.h>

// Reads any JSON value, with escaped NULs in texts; whole numbers as real ones, of any size, or as integers of 64 bits.
static inline json_t *cjansson_read(const char *bytes, size_t count, _Bool is_real) {
  size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL;
  return json_loadb(bytes, count, is_real ? flags | JSON_DECODE_INT_AS_REAL : flags, NULL);
}

// Writes any JSON value on one line, with the members of objects in order.
static const size_t cjansson_line = JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS;
