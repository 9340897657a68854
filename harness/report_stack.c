// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Puts the text of stacks together. printf() would take a third of the time of a walk.
 */
#include "harness/report_stack.h"

#include <string.h>

/**
 * report_stack_flush() - write what is there
 * @s: the text; errors show in ferror()
 */
void report_stack_flush(struct report_stack *s)
{
	fwrite(s->text, 1, s->used, s->out);
	s->used = 0;
}

/* Room for @n bytes, which is less than all; they are to be filled in. */
static char *more(struct report_stack *s, size_t n)
{
	char *p;

	if (n > sizeof(s->text) - s->used)
		report_stack_flush(s);
	p = s->text + s->used;
	s->used += n;
	return p;
}

static void put(struct report_stack *s, const char *text)
{
	size_t n = strlen(text);

	if (n > sizeof(s->text)) {
		report_stack_flush(s);
		fwrite(text, 1, n, s->out);
		return;
	}
	memcpy(more(s, n), text, n);
}

/* Eight hexadecimal digits, the first in the byte that comes first in memory. */
static u64 hex_digits(u32 value)
{
	const u64 ones = 0x0101010101010101ULL;
	u64 x = value;

	x = (x | x << 16) & 0x0000ffff0000ffffULL;
	x = (x | x << 8) & 0x00ff00ff00ff00ffULL;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fULL;
	/* A byte of 10 and more becomes a letter. */
	x += ones * '0' + ((x + ones * 6) >> 4 & ones) * ('a' - '0' - 10);
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(x) : x;
}

/* "\t%16PRIx64" at @p */
static void put_ip(char *p, u64 ip)
{
	u32 blank = ip ? (u32)__builtin_clzll(ip) / 4 : 15;
	u64 half[2] = { hex_digits((u32)(ip >> 32)), hex_digits((u32)ip) };

	*p++ = '\t';
	memcpy(p, half, 16);
	for (u32 k = 0; k < blank; k++)
		p[k] = ' ';
}

/* "%*u", or "%0*u" with @fill '0' */
static void put_number(struct report_stack *s, u64 n, u32 width, char fill)
{
	char digit[20];
	u32 k = sizeof(digit);

	do {
		digit[--k] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (sizeof(digit) - k < width)
		digit[--k] = fill;
	memcpy(more(s, sizeof(digit) - k), digit + k, sizeof(digit) - k);
}

/**
 * report_stack_begin() - the line above a stack
 * @s: @out is set; all zeros else at first
 * @comm: name of the task
 * @pid: its process
 * @time: nanoseconds
 */
void report_stack_begin(struct report_stack *s, const char *comm, u32 pid, u64 time)
{
	put(s, comm);
	put(s, " ");
	put_number(s, pid, 5, ' ');
	put(s, " ");
	put_number(s, time / 1000000000, 5, ' ');
	put(s, ".");
	put_number(s, time / 1000 % 1000000, 6, '0');
	put(s, ": \n");
}

/**
 * report_stack_frame() - a frame where no names are wanted
 * @s: the text
 * @ip: its pc
 */
void report_stack_frame(struct report_stack *s, u64 ip)
{
	char *p = more(s, 18);

	put_ip(p, ip);
	p[17] = '\n';
}

/**
 * report_stack_named() - a frame
 * @s: the text
 * @ip: its pc
 * @name: its function; NULL for none
 * @inlined: into that of the next line
 */
void report_stack_named(struct report_stack *s, u64 ip, const char *name, bool inlined)
{
	put_ip(more(s, 17), ip);
	*more(s, 1) = ' ';
	put(s, name ? name : "[unknown]");
	put(s, inlined ? " (inlined)\n" : "\n");
}

/**
 * report_stack_end() - the line below a stack
 * @s: the text; not all of it needs to be written yet
 */
void report_stack_end(struct report_stack *s)
{
	*more(s, 1) = '\n';
}
