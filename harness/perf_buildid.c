// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The build-id table of a perf.data file: which path had which build-id. */

#include "harness/perf_buildid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS		1024
/* A file can repeat entries without end; a whole distribution has fewer binaries. */
#define MAX_ENTRIES	65536
#define MAX_BYTES	(16u << 20)

struct entry {
	struct entry *next;
	u32 size;
	u8 id[PERF_ABI_BUILD_ID_LEN];
	char path[];
};

struct perf_buildid {
	struct entry *bucket[BUCKETS];
	u32 nr;
	size_t bytes;
};

/* FNV-1a */
static u32 bucket_of(const char *path)
{
	u32 hash = 2166136261u;

	for (; *path; path++)
		hash = (hash ^ (u8)*path) * 16777619u;
	return hash % BUCKETS;
}

/**
 * perf_buildid_new() - start an empty table
 *
 * Return: the table, NULL without memory.
 */
struct perf_buildid *perf_buildid_new(void)
{
	return calloc(1, sizeof(struct perf_buildid));
}

/**
 * perf_buildid_free() - end a table
 * @t: table or NULL
 */
void perf_buildid_free(struct perf_buildid *t)
{
	if (!t)
		return;
	for (u32 i = 0; i < BUCKETS; i++) {
		while (t->bucket[i]) {
			struct entry *e = t->bucket[i];

			t->bucket[i] = e->next;
			free(e);
		}
	}
	free(t);
}

/**
 * perf_buildid_add() - add one entry as perf writes it
 * @t: table
 * @record: behind the record header: s32 pid, 24 bytes of id, path
 * @size: bytes of that
 * @misc: of the record header
 *
 * Entries of the kernel and its modules are left out: nothing looks for them. Of a path that
 * comes twice the first is kept.
 *
 * Return: 1 if added, 0 if left out, -EINVAL if it is damaged, -ENOSPC when the table is full,
 *         -ENOMEM. Source: struct perf_record_header_build_id of tools/lib/perf.
 */
int perf_buildid_add(struct perf_buildid *t, const void *record, size_t size, u16 misc)
{
	enum { ID = 4, ID_SIZE = ID + PERF_ABI_BUILD_ID_LEN, PATH = ID + 24 };
	u16 mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	const u8 *p = record;
	struct entry *e;
	size_t len;
	u32 id_size = PERF_ABI_BUILD_ID_LEN;
	u32 known;
	u32 b;

	if (size <= PATH || !memchr(p + PATH, 0, size - PATH))
		return -EINVAL;
	if (misc & PERF_ABI_MISC_BUILD_ID_SIZE)
		id_size = p[ID_SIZE];
	if (id_size > PERF_ABI_BUILD_ID_LEN)
		return -EINVAL;
	if (!id_size || mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL ||
	    perf_buildid_find(t, (const char *)p + PATH, &known))
		return 0;
	len = strlen((const char *)p + PATH) + 1;
	if (t->nr == MAX_ENTRIES || len > MAX_BYTES - t->bytes)
		return -ENOSPC;
	e = malloc(sizeof(*e) + len);
	if (!e)
		return -ENOMEM;
	e->size = id_size;
	memcpy(e->id, p + ID, PERF_ABI_BUILD_ID_LEN);
	memcpy(e->path, p + PATH, len);
	b = bucket_of(e->path);
	e->next = t->bucket[b];
	t->bucket[b] = e;
	t->nr++;
	t->bytes += len;
	return 1;
}

/**
 * perf_buildid_find() - look a path up
 * @t: table
 * @path: as the mapping record names it
 * @size: bytes of the id
 *
 * Return: the id, NULL if the table has none for @path.
 */
const u8 *perf_buildid_find(const struct perf_buildid *t, const char *path, u32 *size)
{
	for (const struct entry *e = t->bucket[bucket_of(path)]; e; e = e->next) {
		if (!strcmp(e->path, path)) {
			*size = e->size;
			return e->id;
		}
	}
	return NULL;
}
