// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Random answers of a run, resolved by addr2line as well: an independent reader of the same files.
 */
#include "harness/symbols_verify.h"

#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/demangle.h"
#include "harness/json.h"

extern char **environ;

/* Room for an inline chain as text. */
#define MAX_TEXT	65536

/*	symbol		name		meaning */
#define VERDICTS(X) \
	X(UNCHECKED,	"unchecked",	"addr2line gave no answer") \
	X(EQUAL,	"equal",	"the same functions, files and lines") \
	X(OUTSIDE,	"outside-size",	"addr2line names the symbol before a gap; we do not") \
	X(PLT,		"plt",		"a PLT stub, which addr2line does not name") \
	X(GUESS,	"guess",	"ours is marked as a guess") \
	X(FILE,		"file",		"the same functions and lines, another file") \
	X(LINE,		"line",		"the same functions, another line") \
	X(FUNCTION,	"function",	"another function, or another inline chain")

enum verdict {
#define X(sym, name, text) VERIFY_##sym,
	VERDICTS(X)
#undef X
	NR_VERDICTS
};

static const char *const names[] = {
#define X(sym, name, text) name,
	VERDICTS(X)
#undef X
};

static const char *const meanings[] = {
#define X(sym, name, text) text,
	VERDICTS(X)
#undef X
};

struct question {
	char *path;
	u64 lookup;
	const struct symbols_answer *answer;
	enum verdict verdict;
	char *theirs;
};

struct symbols_verify {
	struct question *q;
	u32 nr;
	u32 max;
	u64 seen;
	u64 seed;
	bool done;
	u64 count[NR_VERDICTS];
};

/**
 * symbols_verify_new() - begin
 * @nr: answers to check
 *
 * Return: an empty set, NULL where there is no memory.
 */
struct symbols_verify *symbols_verify_new(u32 nr)
{
	struct symbols_verify *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->q = calloc(nr, sizeof(*v->q));
	v->max = nr;
	v->seed = 1;
	if (v->q)
		return v;
	free(v);
	return NULL;
}

/**
 * symbols_verify_free() - give a set back
 * @v: the set, or NULL
 */
void symbols_verify_free(struct symbols_verify *v)
{
	if (!v)
		return;
	for (u32 i = 0; i < v->nr; i++) {
		free(v->q[i].path);
		free(v->q[i].theirs);
	}
	free(v->q);
	free(v);
}

/**
 * symbols_verify_add() - offer an answer; each of all that are offered is kept as likely
 * @v: the set
 * @host_path: the file, as this host has it
 * @lookup: the address that was looked up, not the printed one
 * @a: must live until the report
 *
 * The choice is the same for the same run: no clock is in it.
 */
void symbols_verify_add(struct symbols_verify *v, const char *host_path, u64 lookup,
			const struct symbols_answer *a)
{
	u64 at = v->seen++;
	char *path;

	v->seed = v->seed * 6364136223846793005u + 1442695040888963407u;
	if (v->nr == v->max)
		at = (v->seed >> 20) % v->seen;
	if (at >= v->max)
		return;
	path = strdup(host_path);
	if (!path)
		return;
	free(v->q[at].path);
	v->q[at] = (struct question){ .path = path, .lookup = lookup, .answer = a };
	if (at == v->nr)
		v->nr++;
}

static int by_path(const void *a, const void *b)
{
	const struct question *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : x->lookup < y->lookup ? -1 : x->lookup > y->lookup;
}

static void ours(const struct symbols_answer *a, char *text)
{
	size_t used = 0;

	*text = '\0';
	if (!a->nr_places)
		snprintf(text, MAX_TEXT, "%s ??:0\n", a->name ? a->name : "??");
	for (u32 i = 0; i < a->nr_places && used < MAX_TEXT - 1; i++) {
		const struct symbols_place *p = &a->place[i];
		const char *name = p->name ? p->name : a->name && !a->guess ? a->name : "??";

		used += (size_t)snprintf(text + used, MAX_TEXT - used, "%s %s:%u\n", name,
					 p->file ? p->file : "??", p->line);
	}
}

/* One address's part of addr2line -a -f -i -C: pairs of lines, up to the next address. */
static bool read_answer(FILE *f, char **line, size_t *room, char *text)
{
	size_t used = 0;

	*text = '\0';
	while (getline(line, room, f) > 0 && strncmp(*line, "0x", 2)) {
		char name[8192], place[8192], *end;

		(*line)[strcspn(*line, "\n")] = '\0';
		demangle_printable(*line, name, sizeof(name));
		if (getline(line, room, f) <= 0)
			return false;
		end = strstr(*line, " (discriminator");
		(*line)[end ? (size_t)(end - *line) : strcspn(*line, "\n")] = '\0';
		end = strrchr(*line, ':');
		if (end && end[1] == '?')
			end[1] = '0';
		demangle_printable(*line, place, sizeof(place));
		if (used < MAX_TEXT - 1)
			used += (size_t)snprintf(text + used, MAX_TEXT - used, "%s %s\n", name,
						 *place == ':' ? "??:0" : place);
	}
	return *text;
}

/* The same lines, but for what stands before or after the last ' ' or ':' of each. */
static bool same_but(const char *a, const char *b, bool files)
{
	while (*a && *b) {
		size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n"), na = la, nb = lb;

		while (na && a[na] != ' ')
			na--;
		while (nb && b[nb] != ' ')
			nb--;
		if (na != nb || memcmp(a, b, na))
			return false;
		if (!files) {
			size_t ca = la, cb = lb;

			while (ca && a[ca] != ':')
				ca--;
			while (cb && b[cb] != ':')
				cb--;
			if (la - ca != lb - cb || memcmp(a + ca, b + cb, la - ca))
				return false;
		}
		a += la + 1;
		b += lb + 1;
	}
	return !*a && !*b;
}

static enum verdict judge(const struct symbols_answer *a, const char *we, const char *they)
{
	if (!strcmp(we, they))
		return VERIFY_EQUAL;
	if (a->guess)
		return VERIFY_GUESS;
	if (a->table == SYMBOLS_TABLE_PLT)
		return VERIFY_PLT;
	if (a->table == SYMBOLS_TABLE_NONE && !symbols_function(a) && !strchr(they, '/'))
		return VERIFY_OUTSIDE;
	if (same_but(we, they, false))
		return VERIFY_FILE;
	return same_but(we, they, true) ? VERIFY_LINE : VERIFY_FUNCTION;
}

static FILE *ask(const char *path, FILE *in, pid_t *pid)
{
	char *const argv[] = { "addr2line", "-a", "-f", "-i", "-C", "-e", (char *)(uintptr_t)path, NULL };
	posix_spawn_file_actions_t actions;
	int out[2], failed;

	if (pipe2(out, O_CLOEXEC))
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(in), 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	failed = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	if (!failed)
		return fdopen(out[0], "r");
	close(out[0]);
	return NULL;
}

static void check_file(struct question *q, u32 nr)
{
	static char we[MAX_TEXT], they[MAX_TEXT];
	FILE *in = tmpfile(), *f;
	char *line = NULL;
	size_t room = 0;
	pid_t pid;

	if (!in)
		return;
	for (u32 i = 0; i < nr; i++)
		fprintf(in, "%#" PRIx64 "\n", q[i].lookup);
	rewind(in);
	f = ask(q[0].path, in, &pid);
	if (f && getline(&line, &room, f) > 0) {
		for (u32 i = 0; i < nr && read_answer(f, &line, &room, they); i++) {
			ours(q[i].answer, we);
			q[i].verdict = judge(q[i].answer, we, they);
			if (q[i].verdict != VERIFY_EQUAL)
				q[i].theirs = strdup(they);
		}
	}
	if (f) {
		fclose(f);
		waitpid(pid, NULL, 0);
	}
	free(line);
	fclose(in);
}

static void check(struct symbols_verify *v)
{
	if (v->done)
		return;
	v->done = true;
	qsort(v->q, v->nr, sizeof(*v->q), by_path);
	for (u32 i = 0, end; i < v->nr; i = end) {
		for (end = i; end < v->nr && !strcmp(v->q[end].path, v->q[i].path); end++)
			;
		check_file(&v->q[i], end - i);
	}
	for (u32 i = 0; i < v->nr; i++)
		v->count[v->q[i].verdict]++;
}

/**
 * symbols_verify_json() - what came out: a line for each disagreement, and one of counts
 * @v: the set
 * @out: where to
 */
void symbols_verify_json(struct symbols_verify *v, FILE *out)
{
	static char we[MAX_TEXT];
	struct json j;

	check(v);
	for (u32 i = 0; i < v->nr; i++) {
		const struct question *q = &v->q[i];

		if (q->verdict == VERIFY_EQUAL)
			continue;
		ours(q->answer, we);
		json_begin(&j, out, "symbols-disagreement");
		json_text(&j, "kind", names[q->verdict]);
		json_text(&j, "file", q->path);
		json_addr(&j, "lookup", q->lookup);
		json_text(&j, "ours", we);
		json_text(&j, "addr2line", q->theirs ? q->theirs : "");
		json_end(&j);
	}
	json_begin(&j, out, "symbols-verify");
	json_number(&j, "asked", v->nr);
	json_number(&j, "of", v->seen);
	for (u32 k = 0; k < NR_VERDICTS; k++)
		json_number(&j, names[k], v->count[k]);
	json_end(&j);
}

static void indent(const char *text, FILE *out)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		fprintf(out, "      %.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

/**
 * symbols_verify_text() - the same for a person
 * @v: the set
 * @out: where to
 */
void symbols_verify_text(struct symbols_verify *v, FILE *out)
{
	static char we[MAX_TEXT];

	check(v);
	fprintf(out, "\nNames against addr2line: %u of %" PRIu64 " frames asked\n", v->nr, v->seen);
	for (u32 k = 0; k < NR_VERDICTS; k++) {
		if (v->count[k])
			fprintf(out, "  %10" PRIu64 "  %-14s %s\n", v->count[k], names[k], meanings[k]);
	}
	for (u32 i = 0; i < v->nr; i++) {
		const struct question *q = &v->q[i];

		if (q->verdict == VERIFY_EQUAL)
			continue;
		ours(q->answer, we);
		fprintf(out, "  %s: %s %#" PRIx64 "\n    ours\n", names[q->verdict], q->path, q->lookup);
		indent(we, out);
		fprintf(out, "    addr2line\n");
		indent(q->theirs ? q->theirs : "", out);
	}
}
