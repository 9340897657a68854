// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Resolves an address, a symbol or a section with an offset against an image. */
#include "harness/dump_place.h"

#include <stdio.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/**
 * dump_number() - read a hexadecimal number
 * @text: its digits, with or without 0x
 * @len: bytes of it; all must be digits
 * @value: filled in
 *
 * Return: false for anything but a number of at most 64 bits.
 */
bool dump_number(const char *text, size_t len, u64 *value)
{
	u64 v = 0;

	if (len > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		text += 2;
		len -= 2;
	}
	if (!len)
		return false;
	for (size_t i = 0; i < len; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0 || v >> 60)
			return false;
		v = v << 4 | (u64)digit;
	}
	*value = v;
	return true;
}

/**
 * dump_place() - find out what address is meant
 * @img: the file that has the names
 * @text: a hexadecimal number, or the name of a section or a symbol, with "+0xOFF" or without
 * @len: bytes of it
 * @addr: filled in: ELF virtual address
 * @why: filled in on failure: what is wrong
 * @why_size: bytes there
 *
 * A name wins over a number where both would do ("f" is a symbol if there is one).
 *
 * Return: false where it is no address.
 */
bool dump_place(struct image *img, const char *text, size_t len, u64 *addr, char *why,
		size_t why_size)
{
	const struct image_symbol *sym;
	const char *plus = memrchr(text, '+', len);
	size_t base = plus ? (size_t)(plus - text) : len;
	u64 off = 0, size;
	char name[512];

	if (plus && !dump_number(plus + 1, len - base - 1, &off)) {
		snprintf(why, why_size, "'%.*s': no hexadecimal offset after '+'", (int)len, text);
		return false;
	}
	if (base >= sizeof(name)) {
		snprintf(why, why_size, "a name of %zu bytes", base);
		return false;
	}
	memcpy(name, text, base);
	name[base] = '\0';
	if (name[0] == '.' && image_section_named(img, name, addr, &size)) {
		*addr += off;
		return true;
	}
	sym = base ? image_symbol_named(img, name) : NULL;
	if (sym) {
		*addr = sym->addr + off;
		return true;
	}
	if (dump_number(text, base, addr)) {
		*addr += off;
		return true;
	}
	snprintf(why, why_size, "'%s' is no address, and no symbol or section of %s", name,
		 img->path);
	return false;
}
