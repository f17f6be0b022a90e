// Jansson as Swift imports it: the flags are expressions with casts.
#pragma once
#include <jansson.h>

// Reads any JSON value, with escaped NULs in texts.
static inline json_t *cjansson_read(const char *bytes, size_t count) {
  return json_loadb(bytes, count, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

// Writes any JSON value on one line, with the members of objects in order.
static const size_t cjansson_line = JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS;
