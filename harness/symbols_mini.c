// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * MiniDebugInfo: the ELF file with a .symtab that .gnu_debugdata holds, compressed by xz.
 */
#include "harness/symbols_int.h"

#include <lzma.h>
#include <stdlib.h>

/* What Fedora's largest programs need is a few MiB; xz could announce terabytes. */
#define MAX_SIZE	(256u << 20)
#define MAX_MEMORY	(256u << 20)

static u8 *unpack(const u8 *in, u64 size, size_t *got)
{
	lzma_stream strm = LZMA_STREAM_INIT;
	size_t room = 1 << 16;
	u8 *out = malloc(room);
	lzma_ret ret;

	if (!out || lzma_stream_decoder(&strm, MAX_MEMORY, 0) != LZMA_OK) {
		free(out);
		return NULL;
	}
	strm.next_in = in;
	strm.avail_in = size;
	strm.next_out = out;
	strm.avail_out = room;
	while ((ret = lzma_code(&strm, LZMA_FINISH)) == LZMA_OK && room < MAX_SIZE) {
		u8 *grown;

		if (strm.avail_out)
			continue;
		grown = realloc(out, 2 * room);
		if (!grown)
			break;
		out = grown;
		strm.next_out = out + room;
		strm.avail_out = room;
		room *= 2;
	}
	*got = (size_t)strm.total_out;
	lzma_end(&strm);
	if (ret == LZMA_STREAM_END)
		return out;
	free(out);
	return NULL;
}

/**
 * symbols_mini_open() - open the MiniDebugInfo of a file
 * @file: the file
 * @bytes: filled in: to be freed after the result is closed
 *
 * It is part of the file, so that no build-id needs to be compared.
 *
 * Return: an ELF file in memory, NULL where there is none or it is damaged.
 */
struct debuginfo_file *symbols_mini_open(const struct debuginfo_file *file, void **bytes)
{
	struct debuginfo_file *mini;
	size_t got;
	u64 size;
	const u8 *in = debuginfo_section(file, ".gnu_debugdata", &size);

	*bytes = in ? unpack(in, size, &got) : NULL;
	if (!*bytes)
		return NULL;
	if (debuginfo_open_memory(*bytes, got, file->path, &mini) == DEBUGINFO_ACCEPTED)
		return mini;
	free(*bytes);
	*bytes = NULL;
	return NULL;
}
