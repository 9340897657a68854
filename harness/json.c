// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Writes JSON lines. Text from outside may hold any bytes: what is not valid UTF-8 is written as
 * the replacement character, so that every line can be parsed.
 */
#include "harness/json.h"

#include <inttypes.h>
#include <string.h>

/* Bytes of the UTF-8 sequence at @s, 0 for one that is not valid (RFC 3629, section 4). */
static int utf8_len(const unsigned char *s)
{
	static const struct {
		unsigned char first, last, low, high;
		int len;
	} forms[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (s[0] < forms[i].first || s[0] > forms[i].last)
			continue;
		if (s[1] < forms[i].low || s[1] > forms[i].high)
			return 0;
		/* A terminating 0 is no continuation byte: nothing is read behind it. */
		for (int k = 2; k < forms[i].len; k++) {
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		}
		return forms[i].len;
	}
	return 0;
}

static void put_text(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', out);
	while (*s) {
		int len;

		if (*s == '"' || *s == '\\') {
			fprintf(out, "\\%c", *s++);
		} else if (*s < 0x20 || *s == 0x7f) {
			fprintf(out, "\\u%04x", *s++);
		} else if (*s < 0x80) {
			fputc(*s++, out);
		} else if ((len = utf8_len(s)) != 0) {
			fwrite(s, 1, (size_t)len, out);
			s += len;
		} else {
			fputs("\\ufffd", out);
			s++;
		}
	}
	fputc('"', out);
}

static void put_key(struct json *j, const char *key)
{
	if (j->comma)
		fputc(',', j->out);
	j->comma = true;
	if (key) {
		put_text(j->out, key);
		fputc(':', j->out);
	}
}

/**
 * json_begin() - begin a line
 * @j: the object
 * @out: where to
 * @type: value of its "type" member, which follows the version
 */
void json_begin(struct json *j, FILE *out, const char *type)
{
	j->out = out;
	j->comma = true;
	fputs("{\"v\":1", out);
	json_text(j, "type", type);
}

/**
 * json_end() - end the line
 * @j: the object
 */
void json_end(struct json *j)
{
	fputs("}\n", j->out);
}

/**
 * json_open() - begin an object inside
 * @j: the object
 * @key: its name; NULL inside a list
 */
void json_open(struct json *j, const char *key)
{
	put_key(j, key);
	fputc('{', j->out);
	j->comma = false;
}

/**
 * json_close() - end the object inside
 * @j: the object
 */
void json_close(struct json *j)
{
	fputc('}', j->out);
	j->comma = true;
}

/**
 * json_open_list() - begin a list
 * @j: the object
 * @key: its name; NULL inside a list
 */
void json_open_list(struct json *j, const char *key)
{
	put_key(j, key);
	fputc('[', j->out);
	j->comma = false;
}

/**
 * json_close_list() - end the list
 * @j: the object
 */
void json_close_list(struct json *j)
{
	fputc(']', j->out);
	j->comma = true;
}

/**
 * json_text() - a string
 * @j: the object
 * @key: its name; NULL inside a list
 * @value: any bytes up to a 0; NULL is written as null
 */
void json_text(struct json *j, const char *key, const char *value)
{
	put_key(j, key);
	if (value)
		put_text(j->out, value);
	else
		fputs("null", j->out);
}

/**
 * json_number() - a count
 * @j: the object
 * @key: its name; NULL inside a list
 * @value: its value
 */
void json_number(struct json *j, const char *key, uint64_t value)
{
	put_key(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

/**
 * json_signed() - a signed number
 * @j: the object
 * @key: its name; NULL inside a list
 * @value: its value
 */
void json_signed(struct json *j, const char *key, int64_t value)
{
	put_key(j, key);
	fprintf(j->out, "%" PRId64, value);
}

/**
 * json_addr() - an address: a string, for numbers in JSON often have 53 bits
 * @j: the object
 * @key: its name; NULL inside a list
 * @value: its value
 */
void json_addr(struct json *j, const char *key, uint64_t value)
{
	put_key(j, key);
	fprintf(j->out, "\"0x%" PRIx64 "\"", value);
}

/**
 * json_bool() - true or false
 * @j: the object
 * @key: its name; NULL inside a list
 * @value: its value
 */
void json_bool(struct json *j, const char *key, bool value)
{
	put_key(j, key);
	fputs(value ? "true" : "false", j->out);
}

/**
 * json_null() - nothing
 * @j: the object
 * @key: its name; NULL inside a list
 */
void json_null(struct json *j, const char *key)
{
	put_key(j, key);
	fputs("null", j->out);
}
