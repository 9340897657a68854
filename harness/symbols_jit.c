// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Names of code without a file: /tmp/perf-PID.map, which JIT compilers write for profilers.
 */
#include "harness/image.h"
#include "harness/symbols_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Largest map that is read; node's are some MiB an hour. */
#define MAX_SIZE	(1ull << 30)

/* The process's number in its own pid namespace: by that it names its map. */
static long own_pid(pid_t pid)
{
	char path[64], line[256];
	long last = pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *p = line + sizeof("NSpid:") - 1, *end;

		if (strncmp(line, "NSpid:", sizeof("NSpid:") - 1))
			continue;
		for (long n = strtol(p, &end, 10); end != p; n = strtol(p, &end, 10)) {
			last = n;
			p = end;
		}
		break;
	}
	if (f)
		fclose(f);
	return last;
}

/* Anybody may write to /tmp: names from another user are not ours to print. */
static bool is_trusted(int fd, pid_t pid, off_t *size)
{
	struct stat st, process;
	char path[64];

	if (fstat(fd, &st))
		return false;
	*size = st.st_size;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return !st.st_uid || st.st_uid == geteuid() ||
	       (!stat(path, &process) && process.st_uid == st.st_uid);
}

/* "START SIZE NAME": two hexadecimal numbers, then a name that may hold anything but an end. */
static bool parse_line(char *line, struct symbols_name *name)
{
	char *end;

	name->addr = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return false;
	line = end;
	name->size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || !name->size ||
	    name->size > UINT64_MAX - name->addr)
		return false;
	name->name = end + 1;
	name->limit = name->addr + name->size;
	return true;
}

/* Code is moved and thrown away: of two lines for an address the later one is right. */
static bool parse(struct symbols_names *n, char *text, struct symbols_stats *stats)
{
	while (*text) {
		struct symbols_name name = { .table = SYMBOLS_TABLE_PERF_MAP };
		size_t len = strcspn(text, "\n");
		bool last = !text[len];

		text[len] = '\0';
		if (!parse_line(text, &name))
			stats->map_lines_bad += *text != '\0';
		else if (!symbols_names_add(n, &name) ||
			 !symbols_ranges_add(&n->sized, name.addr, name.limit, n->nr,
					     (u32)n->nr - 1))
			return false;
		if (last)
			break;
		text += len + 1;
	}
	return symbols_ranges_flatten(&n->sized);
}

/**
 * symbols_jit_read() - read the perf map of a process
 * @n: filled in, ready for symbols_names_find()
 * @di: says where the process's root is
 * @pid: the process, as this host numbers it; it may be gone
 * @bytes: filled in: to be freed after @n
 * @why: filled in where the result is false
 * @stats: counts the map, and lines that are none
 *
 * The map is in the process's own /tmp, under its own number. It must belong to root, to us or
 * to the owner of the process.
 *
 * Return: false where there is no map that can be used.
 */
bool symbols_jit_read(struct symbols_names *n, struct debuginfo *di, pid_t pid, char **bytes,
		      const char **why, struct symbols_stats *stats)
{
	enum debuginfo_verdict verdict = DEBUGINFO_ABSENT;
	struct debuginfo_root root;
	char path[64];
	off_t size = 0;
	ssize_t got = 0;
	bool trusted;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%ld.map", own_pid(pid));
	debuginfo_root_open(di, pid, &root);
	fd = debuginfo_root_file(di, &root, path, &verdict);
	debuginfo_root_close(&root);
	*why = verdict == DEBUGINFO_ABSENT ? "no perf map" : "its perf map cannot be read";
	if (fd < 0)
		return false;
	trusted = is_trusted(fd, pid, &size);
	*why = !trusted ? "its perf map belongs to somebody else" : "its perf map is too large";
	*bytes = trusted && (u64)size <= MAX_SIZE ? malloc((size_t)size + 1) : NULL;
	while (*bytes && got < size) {
		ssize_t more = pread(fd, *bytes + got, (size_t)(size - got), got);

		if (more <= 0)
			break;
		got += more;
	}
	close(fd);
	if (!*bytes)
		return false;
	(*bytes)[got] = '\0';
	stats->tables++;
	*why = "out of memory";
	return parse(n, *bytes, stats);
}
