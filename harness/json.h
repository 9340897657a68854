/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * JSON lines: one object a line, with commas and escapes in the right places.
 */
#ifndef HARNESS_JSON_H
#define HARNESS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct json - an object under construction
 * @out: where it is written
 * @comma: a member stands before the next one
 */
struct json {
	FILE *out;
	bool comma;
};

void json_begin(struct json *j, FILE *out, const char *type);
void json_end(struct json *j);
void json_open(struct json *j, const char *key);
void json_close(struct json *j);
void json_open_list(struct json *j, const char *key);
void json_close_list(struct json *j);
void json_text(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, uint64_t value);
void json_signed(struct json *j, const char *key, int64_t value);
void json_addr(struct json *j, const char *key, uint64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

#endif /* HARNESS_JSON_H */
