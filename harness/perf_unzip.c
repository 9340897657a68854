// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The zstd stream inside PERF_RECORD_COMPRESSED, turned back into records piece by piece. */

#include "harness/perf_unzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Room for a cut record of the greatest size and three more behind it. */
#define PLAIN	(4 * PERF_ABI_MAX_RECORD)

/* zstd may keep a window of this many bytes (log2): the default limit of its own decoder. */
#define WINDOW_LOG	27

struct perf_unzip {
	ZSTD_DCtx *ctx;
	ZSTD_inBuffer in;
	size_t head;
	size_t len;
	_Alignas(8) u8 plain[PLAIN];
};

/**
 * perf_unzip_new() - start a stream
 *
 * Return: the stream, NULL without memory.
 */
struct perf_unzip *perf_unzip_new(void)
{
	struct perf_unzip *z = malloc(sizeof(*z));

	if (!z)
		return NULL;
	memset(z, 0, offsetof(struct perf_unzip, plain));
	z->ctx = ZSTD_createDCtx();
	if (!z->ctx) {
		free(z);
		return NULL;
	}
	ZSTD_DCtx_setParameter(z->ctx, ZSTD_d_windowLogMax, WINDOW_LOG);
	return z;
}

/**
 * perf_unzip_free() - end a stream
 * @z: stream or NULL
 */
void perf_unzip_free(struct perf_unzip *z)
{
	if (!z)
		return;
	ZSTD_freeDCtx(z->ctx);
	free(z);
}

/**
 * perf_unzip_feed() - give the payload of the next compressed record
 * @z: stream, whose last payload is used up
 * @bytes: payload; must stay until perf_unzip_more() returned 0
 * @len: its bytes
 */
void perf_unzip_feed(struct perf_unzip *z, const void *bytes, size_t len)
{
	z->in = (ZSTD_inBuffer){ .src = bytes, .size = len };
}

/**
 * perf_unzip_more() - decompress until the buffer is full or the payload used up
 * @z: stream
 * @why: zstd's message on error
 *
 * Return: bytes added, 0 when the payload is used up, -EBADMSG if it is damaged.
 */
int perf_unzip_more(struct perf_unzip *z, const char **why)
{
	ZSTD_outBuffer out;
	size_t before;

	memmove(z->plain, z->plain + z->head, z->len);
	z->head = 0;
	before = z->len;
	out = (ZSTD_outBuffer){ .dst = z->plain, .size = PLAIN, .pos = z->len };
	while (out.pos < out.size) {
		size_t in = z->in.pos;
		size_t pos = out.pos;
		size_t rc = ZSTD_decompressStream(z->ctx, &out, &z->in);

		if (ZSTD_isError(rc)) {
			*why = ZSTD_getErrorName(rc);
			return -EBADMSG;
		}
		/* With the payload used up zstd may still hold output back: ask until it does not. */
		if (in == z->in.pos && pos == out.pos)
			break;
	}
	z->len = out.pos;
	return (int)(z->len - before);
}

/**
 * perf_unzip_peek() - the decompressed bytes
 * @z: stream
 * @len: how many
 *
 * Return: the bytes, which hold until perf_unzip_more().
 */
const u8 *perf_unzip_peek(const struct perf_unzip *z, size_t *len)
{
	*len = z->len;
	return z->plain + z->head;
}

/**
 * perf_unzip_take() - drop bytes that were used
 * @z: stream
 * @len: how many, not more than there are
 */
void perf_unzip_take(struct perf_unzip *z, size_t len)
{
	z->head += len;
	z->len -= len;
}
