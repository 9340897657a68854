// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A session of looking up names: modules opened on demand, answers kept.
 */
#include "harness/symbols_int.h"
#include "harness/demangle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Strings and answers live as long as the session: blocks that are only added to. */
struct block {
	struct block *next;
	size_t used;
	size_t size;
	char bytes[];
};

/* An answer, by module and question. */
struct kept {
	struct symbols_module *mod;
	u64 addr;
	bool activation;
	struct symbols_answer *answer;
};

struct symbols_module {
	struct symbols *session;
	struct symbols_module *next;
	struct symbols_key key;		/* strings and build-id are copies */
	enum symbols_state state;
	char why[256];
	bool tables_read;
	bool dwarf_tried;
	struct debuginfo_file *file;
	struct debuginfo_file *debug;	/* has .symtab, or .debug_info, or both */
	struct debuginfo_file *info;	/* has .debug_info where @debug lacks it */
	struct debuginfo_file *mini;
	void *mini_bytes;
	char *map_bytes;
	struct symbols_names names;
	struct symbols_dwarf *dwarf;
};

struct symbols {
	struct symbols_options opts;
	struct debuginfo *di;
	struct symbols_stats stats;
	struct symbols_module *modules;
	struct block *blocks;
	struct kept *kept;		/* open addressing, a power of two */
	size_t nr_kept;
	size_t room;
};

static const struct symbols_answer nothing;

static void *keep_bytes(struct symbols *s, size_t size)
{
	struct block *b = s->blocks;
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (!b || size > b->size - b->used) {
		size_t room = size > 65536 ? size : 65536;

		b = calloc(1, sizeof(*b) + room);
		if (!b)
			return NULL;
		b->size = room;
		b->next = s->blocks;
		s->blocks = b;
	}
	p = b->bytes + b->used;
	b->used += size;
	return p;
}

static const char *keep_text(void *arg, const char *text)
{
	size_t size = strlen(text) + 1;
	char *p = keep_bytes(arg, size);

	return p ? memcpy(p, text, size) : NULL;
}

/**
 * symbols_table_name() - a table's name in reports and JSON
 * @table: any value
 *
 * Return: the name.
 */
const char *symbols_table_name(enum symbols_table table)
{
	static const char *const names[] = {
#define X(sym, name, text) [SYMBOLS_TABLE_##sym] = name,
		SYMBOLS_TABLES(X)
#undef X
	};

	return (unsigned int)table < SYMBOLS_NR_TABLES ? names[table] : "?";
}

/**
 * symbols_state_name() - a state's name in reports and JSON
 * @state: any value
 *
 * Return: the name.
 */
const char *symbols_state_name(enum symbols_state state)
{
	static const char *const names[] = {
#define X(sym, name, text) [SYMBOLS_##sym] = name,
		SYMBOLS_STATES(X)
#undef X
	};

	return (unsigned int)state < SYMBOLS_NR_STATES ? names[state] : "?";
}

/**
 * symbols_new() - begin a session
 * @opts: copied, with the strings that the search has in it
 *
 * Not for use by two threads at a time.
 *
 * Return: the session, or NULL with errno set; symbols_free() ends it.
 */
struct symbols *symbols_new(const struct symbols_options *opts)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->opts = *opts;
	s->di = debuginfo_new(&opts->debuginfo);
	if (s->di)
		return s;
	free(s);
	return NULL;
}

static void free_module(struct symbols_module *mod)
{
	symbols_dwarf_close(mod->dwarf);
	symbols_names_free(&mod->names);
	debuginfo_close(mod->mini);
	debuginfo_close(mod->info);
	debuginfo_close(mod->debug);
	debuginfo_close(mod->file);
	free(mod->mini_bytes);
	free(mod->map_bytes);
	free(mod);
}

/**
 * symbols_free() - end a session; its modules and answers end with it
 * @s: the session, or NULL
 */
void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	while (s->modules) {
		struct symbols_module *mod = s->modules;

		s->modules = mod->next;
		free_module(mod);
	}
	while (s->blocks) {
		struct block *b = s->blocks;

		s->blocks = b->next;
		free(b);
	}
	free(s->kept);
	debuginfo_free(s->di);
	free(s);
}

/**
 * symbols_stats() - what a session has done so far
 * @s: the session
 *
 * Return: the counters; valid as long as the session.
 */
const struct symbols_stats *symbols_stats(const struct symbols *s)
{
	return &s->stats;
}

/**
 * symbols_debuginfo() - the search that a session uses, for its counters and for others
 * @s: the session
 *
 * Return: the search.
 */
struct debuginfo *symbols_debuginfo(const struct symbols *s)
{
	return s->di;
}

static bool same_key(const struct symbols_key *a, const struct symbols_key *b)
{
	return a->jit == b->jit && a->pid == b->pid && a->bytes == b->bytes &&
	       a->size == b->size && !strcmp(a->path, b->path) &&
	       !strcmp(a->host_path ? a->host_path : "", b->host_path ? b->host_path : "") &&
	       a->map_start == b->map_start && a->map_end == b->map_end &&
	       a->build_id_len == b->build_id_len &&
	       (!a->build_id_len || !memcmp(a->build_id, b->build_id, a->build_id_len));
}

static size_t suffix_at(const char *path)
{
	static const char suffix[] = " (deleted)";
	size_t len = strlen(path), tail = sizeof(suffix) - 1;

	return len > tail && !strcmp(path + len - tail, suffix) ? len - tail : len;
}

/* Processes that see the same files share their modules: a file is opened once. */
static void normalise(struct symbols *s, struct symbols_key *key)
{
	struct debuginfo_root root;

	if (key->jit) {
		key->path = "";
		key->host_path = NULL;
		key->build_id_len = 0;
		key->map_start = key->map_end = 0;
		return;
	}
	if (!key->path)
		key->path = "";
	if (!key->path[suffix_at(key->path)]) {
		key->map_start = key->map_end = 0;
		debuginfo_root_open(s->di, key->pid, &root);
		if (!root.own_fd)
			key->pid = 0;
		debuginfo_root_close(&root);
	}
}

/**
 * symbols_module() - name a module, without opening anything
 * @s: the session
 * @key: which one; copied
 *
 * Return: the module, the same one for the same key; NULL where there is no memory or the
 * build-id is longer than 64 bytes. It ends with the session.
 */
struct symbols_module *symbols_module(struct symbols *s, const struct symbols_key *key)
{
	struct symbols_key k = *key;
	struct symbols_module *mod;
	const char *host;
	u8 *id;

	if (k.build_id_len > 64)
		return NULL;
	normalise(s, &k);
	for (mod = s->modules; mod; mod = mod->next) {
		if (same_key(&mod->key, &k))
			return mod;
	}
	host = k.host_path;
	mod = calloc(1, sizeof(*mod));
	id = keep_bytes(s, 64);
	k.path = keep_text(s, k.path);
	if (host)
		k.host_path = keep_text(s, host);
	if (!mod || !id || !k.path || (host && !k.host_path)) {
		free(mod);
		return NULL;
	}
	if (k.build_id_len)
		memcpy(id, k.build_id, k.build_id_len);
	k.build_id = id;
	mod->key = k;
	mod->session = s;
	mod->next = s->modules;
	s->modules = mod;
	return mod;
}

static bool is_wanted(const struct symbols_module *mod, const struct debuginfo_file *f)
{
	return !mod->key.build_id_len ||
	       (f->build_id_len == mod->key.build_id_len &&
		!memcmp(f->build_id, mod->key.build_id, f->build_id_len));
}

static bool take(struct symbols_module *mod, struct debuginfo_file *f, enum symbols_state state)
{
	if (!f)
		return false;
	if (!is_wanted(mod, f)) {
		debuginfo_close(f);
		mod->state = SYMBOLS_STALE;
		snprintf(mod->why, sizeof(mod->why), "the file is now another build");
		return false;
	}
	mod->file = f;
	mod->state = state;
	mod->why[0] = '\0';
	return true;
}

/* The bytes of a deleted file are there as long as something maps it. */
static bool open_deleted(struct symbols_module *mod, const char *path)
{
	struct debuginfo_file *f;
	char host[96];

	if (mod->key.pid > 0 && mod->key.map_end) {
		snprintf(host, sizeof(host), "/proc/%d/map_files/%llx-%llx", (int)mod->key.pid,
			 (unsigned long long)mod->key.map_start,
			 (unsigned long long)mod->key.map_end);
		if (debuginfo_open_host(mod->session->di, host, path, &f) == DEBUGINFO_ACCEPTED) {
			f->pid = mod->key.pid;
			if (take(mod, f, SYMBOLS_DELETED))
				return true;
		}
	}
	/* Whatever has the path now is another file, unless its build-id says otherwise. */
	return mod->key.build_id_len &&
	       debuginfo_open(mod->session->di, mod->key.pid, path, &f) == DEBUGINFO_ACCEPTED &&
	       take(mod, f, SYMBOLS_DELETED);
}

static bool open_file(struct symbols_module *mod)
{
	size_t len = suffix_at(mod->key.path);
	struct debuginfo *di = mod->session->di;
	enum debuginfo_verdict verdict;
	struct debuginfo_file *f;

	mod->state = SYMBOLS_MISSING;
	if (mod->key.bytes) {
		verdict = debuginfo_open_memory(mod->key.bytes, mod->key.size, mod->key.path, &f);
		snprintf(mod->why, sizeof(mod->why), "its image is %s",
			 debuginfo_verdict_name(verdict));
		return verdict == DEBUGINFO_ACCEPTED && take(mod, f, SYMBOLS_OPEN);
	}
	if (mod->key.host_path) {
		verdict = debuginfo_open_host(di, mod->key.host_path, mod->key.path, &f);
		snprintf(mod->why, sizeof(mod->why), "the file is %s",
			 debuginfo_verdict_name(verdict));
		if (verdict == DEBUGINFO_ACCEPTED && take(mod, f, SYMBOLS_OPEN))
			return true;
	} else if (mod->key.path[len]) {
		char *path = strndup(mod->key.path, len);
		bool found;

		snprintf(mod->why, sizeof(mod->why), "the file was deleted");
		found = path && open_deleted(mod, path);
		free(path);
		if (found)
			return true;
	} else if (*mod->key.path == '[' || !*mod->key.path) {
		snprintf(mod->why, sizeof(mod->why), "no file");
	} else {
		verdict = debuginfo_open(di, mod->key.pid, mod->key.path, &f);
		snprintf(mod->why, sizeof(mod->why), "the file is %s",
			 debuginfo_verdict_name(verdict));
		if (verdict == DEBUGINFO_ACCEPTED && take(mod, f, SYMBOLS_OPEN))
			return true;
	}
	if (!mod->key.build_id_len)
		return false;
	f = debuginfo_find_elf(di, mod->key.pid, mod->key.build_id, mod->key.build_id_len);
	return take(mod, f, SYMBOLS_CACHED);
}

/* Open the module's own file, once. */
static bool ready(struct symbols_module *mod)
{
	if (mod->state == SYMBOLS_UNOPENED) {
		if (mod->key.jit) {
			const char *why = "";
			bool found = symbols_jit_read(&mod->names, mod->session->di, mod->key.pid,
						      &mod->map_bytes, &why,
						      &mod->session->stats);

			mod->state = found ? SYMBOLS_OPEN : SYMBOLS_MISSING;
			mod->tables_read = true;
			mod->dwarf_tried = true;
			snprintf(mod->why, sizeof(mod->why), "%s", found ? "" : why);
		} else {
			open_file(mod);
		}
	}
	return mod->file || mod->map_bytes;
}

static struct debuginfo_file *find(struct symbols_module *mod, unsigned int need)
{
	struct debuginfo_file *f = debuginfo_find(mod->session->di, mod->file, need);

	mod->session->stats.debug_files += f != NULL;
	return f;
}

/*
 * A stripped file's .symtab may be in a debug file; one that holds .debug_info as well is the
 * better find, and saves a second search.
 */
static void read_tables(struct symbols_module *mod)
{
	struct symbols *s = mod->session;

	if (mod->tables_read)
		return;
	mod->tables_read = true;
	if (!(mod->file->holds & DEBUGINFO_SYMTAB)) {
		mod->debug = find(mod, DEBUGINFO_SYMTAB | DEBUGINFO_INFO);
		if (!mod->debug)
			mod->debug = find(mod, DEBUGINFO_SYMTAB);
		mod->mini = symbols_mini_open(mod->file, &mod->mini_bytes);
	}
	symbols_names_read(&mod->names, mod->file, false, &s->stats);
	if (mod->debug)
		symbols_names_read(&mod->names, mod->debug, false, &s->stats);
	if (mod->mini)
		symbols_names_read(&mod->names, mod->mini, true, &s->stats);
	symbols_plt_read(&mod->names, mod->file, keep_text, s);
	symbols_names_sort(&mod->names);
}

/* Names by DWARF end where libdw does; those by symbols go on. */
static void note_fault(struct symbols_module *mod)
{
	const char *fault = mod->dwarf ? symbols_dwarf_fault(mod->dwarf) : NULL;

	if (fault)
		snprintf(mod->why, sizeof(mod->why), ".debug_info: %s", fault);
}

/* Whether symbols came from the file itself says nothing about where its .debug_info is. */
static void open_dwarf(struct symbols_module *mod)
{
	struct debuginfo_file *from = mod->file;
	const char *why = NULL;

	if (mod->dwarf_tried || mod->session->opts.no_lines)
		return;
	mod->dwarf_tried = true;
	if (!(from->holds & DEBUGINFO_INFO)) {
		from = mod->debug && mod->debug->holds & DEBUGINFO_INFO ? mod->debug : NULL;
		if (!from)
			from = mod->info = find(mod, DEBUGINFO_INFO);
	}
	if (from)
		mod->dwarf = symbols_dwarf_open(mod->session->di, from, &why,
						&mod->session->stats);
	if (!from)
		snprintf(mod->why, sizeof(mod->why), "no .debug_info, here or elsewhere");
	else if (!mod->dwarf)
		snprintf(mod->why, sizeof(mod->why), ".debug_info: %s", why);
	else
		note_fault(mod);
}

/*
 * A name fit to print: without its version, demangled, escaped. What follows '@' in the name of
 * a PLT stub is no version: it stays.
 */
static const char *readable(struct symbols *s, const char *raw, enum symbols_table table)
{
	char plain[DEMANGLE_MAX_IN + 1], out[DEMANGLE_MAX_OUT + 8], text[SYMBOLS_NAME_MAX];
	bool cut = table == SYMBOLS_TABLE_SYMTAB || table == SYMBOLS_TABLE_PLT;
	size_t len = cut ? symbols_name_length(raw) : strlen(raw);
	const char *name = raw;

	if (len < sizeof(plain)) {
		memcpy(plain, raw, len);
		plain[len] = '\0';
		name = plain;
	}
	if (!s->opts.raw) {
		enum demangle_result got = demangle(name, out, DEMANGLE_MAX_OUT);

		s->stats.not_demangled += got == DEMANGLE_REFUSED || got == DEMANGLE_TOO_LONG;
		if (got == DEMANGLE_DONE)
			name = out;
	}
	if (table == SYMBOLS_TABLE_PLT && name == out)
		strcat(out, "@plt");
	else if (table == SYMBOLS_TABLE_PLT)
		name = raw;
	s->stats.names_cut += demangle_printable(name, text, sizeof(text)) != 0;
	return keep_text(s, text);
}

static const char *file_name(struct symbols *s, const struct symbols_level *level)
{
	char path[SYMBOLS_NAME_MAX], text[SYMBOLS_NAME_MAX];

	if (!level->file)
		return NULL;
	if (*level->file == '/' || !level->dir)
		snprintf(path, sizeof(path), "%s", level->file);
	else
		snprintf(path, sizeof(path), "%s/%s", level->dir, level->file);
	demangle_printable(path, text, sizeof(text));
	return keep_text(s, text);
}

static void add_places(struct symbols_module *mod, u64 addr, struct symbols_answer *a)
{
	struct symbols_level level[SYMBOLS_PLACES_MAX];
	struct symbols *s = mod->session;
	u32 nr = mod->dwarf ? symbols_dwarf_chain(mod->dwarf, addr, level, SYMBOLS_PLACES_MAX,
						  &a->cut) : 0;

	if (!nr) {
		note_fault(mod);
		return;
	}
	a->place = keep_bytes(s, nr * sizeof(*a->place));
	if (!a->place)
		return;
	a->nr_places = nr;
	for (u32 i = 0; i < nr; i++) {
		const char *raw = level[i].linkage ? level[i].linkage : level[i].name;

		a->place[i] = (struct symbols_place){
			.name = raw ? readable(s, raw, SYMBOLS_TABLE_NONE) : NULL, .raw = raw,
			.file = file_name(s, &level[i]),
			.line = level[i].line, .column = level[i].column,
		};
	}
}

/* "f" and "f.cold.1", "f@@V1": the compiler's and linker's additions to one name. */
static bool same_function(const char *dwarf, const char *symbol)
{
	size_t len = strlen(dwarf);

	return !strncmp(dwarf, symbol, len) &&
	       (!symbol[len] || symbol[len] == '.' || symbol[len] == '@');
}

/* One of the names of the symbol's address will do; so will "f" for _ZL1fv. */
static bool disagrees(const struct symbols_module *mod, const struct symbols_name *name,
		      const struct symbols_answer *a)
{
	const char *dwarf = a->nr_places ? a->place[a->nr_places - 1].raw : NULL;
	const struct symbols_name *end = mod->names.name + mod->names.nr;

	if (!dwarf || name->table == SYMBOLS_TABLE_PLT)
		return false;
	while (name > mod->names.name && name[-1].addr == name->addr)
		name--;
	for (u64 addr = name->addr; name < end && name->addr == addr; name++) {
		if (same_function(dwarf, name->name) ||
		    (!strncmp(name->name, "_Z", 2) && strstr(name->name, dwarf)))
			return false;
	}
	return true;
}

/*
 * Local functions of C++ may have no linkage name in DWARF, just "twice": the symbol's is that
 * of the same function, and says more.
 */
static void name_by_symbol(struct symbols_answer *a)
{
	struct symbols_place *last = a->nr_places ? &a->place[a->nr_places - 1] : NULL;

	if (last && last->raw && strncmp(last->raw, "_Z", 2) && strncmp(last->raw, "_R", 2) &&
	    (!strncmp(a->raw, "_Z", 2) || !strncmp(a->raw, "_R", 2)))
		last->name = a->name;
}

static struct symbols_answer *answer(struct symbols_module *mod, u64 addr, bool activation)
{
	u64 lookup = activation || !addr ? addr : addr - 1;
	struct symbols *s = mod->session;
	struct symbols_answer *a = keep_bytes(s, sizeof(*a));
	const struct symbols_name *name;
	u64 end;

	if (!a || !ready(mod))
		return a;
	if (mod->file) {
		read_tables(mod);
		open_dwarf(mod);
		add_places(mod, lookup, a);
	}
	name = symbols_names_find(&mod->names, lookup, &end, &a->guess);
	if (!name) {
		a->guess = false;
		return a;
	}
	a->table = name->table;
	a->raw = name->name;
	a->name = readable(s, name->name, name->table);
	a->start = name->addr;
	a->size = end - name->addr;
	a->offset = addr - name->addr;
	/* A guess is no evidence against DWARF. */
	a->disagrees = !a->guess && disagrees(mod, name, a);
	if (!a->guess && !a->disagrees && a->table != SYMBOLS_TABLE_PLT)
		name_by_symbol(a);
	return a;
}

static size_t hash(const struct symbols_module *mod, u64 addr, bool activation)
{
	u64 h = (addr << 1 | activation) ^ (u64)(uintptr_t)mod >> 4;

	h *= 0x9e3779b97f4a7c15;
	return (size_t)(h ^ h >> 32);
}

static struct kept *find_kept(struct kept *kept, size_t room, const struct symbols_module *mod,
			      u64 addr, bool activation)
{
	size_t i = hash(mod, addr, activation) & (room - 1);

	while (kept[i].answer && (kept[i].mod != mod || kept[i].addr != addr ||
				  kept[i].activation != activation))
		i = (i + 1) & (room - 1);
	return &kept[i];
}

static bool grow(struct symbols *s)
{
	size_t room = s->room ? 2 * s->room : 1024;
	struct kept *grown;

	if (s->nr_kept * 2 < s->room)
		return true;
	grown = calloc(room, sizeof(*grown));
	if (!grown)
		return false;
	for (size_t i = 0; i < s->room; i++) {
		const struct kept *k = &s->kept[i];

		if (k->answer)
			*find_kept(grown, room, k->mod, k->addr, k->activation) = *k;
	}
	free(s->kept);
	s->kept = grown;
	s->room = room;
	return true;
}

/**
 * symbols_lookup() - say what is known about an address
 * @mod: the module; NULL is allowed, and knows nothing
 * @addr: the printed address, in the file's own address space (of the process, for a JIT)
 * @activation: the instruction at @addr is the one that runs: frame 0, or one that a signal
 *              interrupted. Otherwise it is a return address, and the call before it is asked
 *              about, while @addr stays what offsets count from.
 *
 * Return: the answer, never NULL; valid as long as the session.
 */
const struct symbols_answer *symbols_lookup(struct symbols_module *mod, u64 addr,
					    bool activation)
{
	struct symbols *s;
	struct kept *k;
	const struct symbols_answer *a;

	if (!mod)
		return &nothing;
	s = mod->session;
	if (!grow(s))
		return &nothing;
	k = find_kept(s->kept, s->room, mod, addr, activation);
	if (!k->answer) {
		*k = (struct kept){ mod, addr, activation, answer(mod, addr, activation) };
		if (!k->answer)
			return &nothing;
		s->nr_kept++;
	}
	a = k->answer;
	s->stats.lookups++;
	s->stats.by_table[a->table]++;
	s->stats.guesses += a->guess;
	s->stats.with_line += a->nr_places && a->place[0].file;
	s->stats.disagreements += a->disagrees;
	return a;
}

/**
 * symbols_module_state() - how a module's file was reached
 * @mod: the module; opened now if it was not yet
 * @why: filled in with what is missing and why, "" for nothing; valid as long as the session
 *
 * Return: the state.
 */
enum symbols_state symbols_module_state(struct symbols_module *mod, const char **why)
{
	ready(mod);
	*why = mod->why;
	return mod->state;
}

/**
 * symbols_module_file() - the file that a module's names come from
 * @mod: the module
 *
 * Return: the file, NULL where there is none or nobody has asked for a name yet.
 */
const struct debuginfo_file *symbols_module_file(const struct symbols_module *mod)
{
	return mod->file;
}

/**
 * symbols_function() - the name to print for a frame
 * @a: an answer
 *
 * The more specific source wins: the function that .debug_info has around the address, then
 * the symbol. What was inlined into it is in the places before the last.
 *
 * Return: the name, NULL where nothing names the address.
 */
const char *symbols_function(const struct symbols_answer *a)
{
	if (a->nr_places && a->place[a->nr_places - 1].name)
		return a->place[a->nr_places - 1].name;
	return a->name;
}
