// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The per-mm registry: a sorted table of text ranges that readers search without a lock.
 *
 * Adding publishes a new table. Removing clears a pointer in the one that is there, so it needs
 * no memory and cannot fail. What readers may still look at is retired, not freed.
 */
#include "unwind/registry.h"

#include "ehframe/lookup.h"
#include "unwind/atomic.h"
#include "unwind/check.h"

/* A registration between its first look at the arguments and its place in the table. */
struct ehu_adding {
	struct ehu_adding *next;
	const struct ehu_section_args *args;
	const struct ehf_section *s;
	bool stale;	/* something of it was unmapped meanwhile */
};

static bool overlaps(u64 start, u64 end, u64 from, u64 to)
{
	return start < to && from < end;
}

static struct ehu_section *section_of(const struct ehf_section *s)
{
	return s ? (struct ehu_section *)((u8 *)(uintptr_t)s - offsetof(struct ehu_section, s)) :
		   NULL;
}

static struct ehu_section *section_at(const struct ehu_range *r)
{
	return section_of(ehu_load(&r->section));
}

static u32 table_size(const struct ehu_registry *reg)
{
	return reg->table ? reg->table->map.nr : 0;
}

/* Under the lock. */
static void debug(struct ehu_registry *reg, enum ehu_event_kind kind, int err,
		  enum ehf_stop stop, const struct ehu_section *sec)
{
	const struct ehu_registry_ops *ops = reg->ops;
	struct ehu_event e = { .kind = kind, .err = err, .stop = stop };
	u64 now;

	if (!ops->debug)
		return;
	now = ops->now_ms ? ops->now_ms(reg) : 0;
	if (!reg->nr_messages || now - reg->window_ms >= EHU_DEBUG_MS) {
		reg->window_ms = now;
		reg->nr_messages = 0;
	}
	if (reg->nr_messages >= EHU_DEBUG_BURST) {
		reg->suppressed++;
		return;
	}
	reg->nr_messages++;
	e.suppressed = reg->suppressed;
	reg->suppressed = 0;
	if (sec) {
		e.handle = sec->handle;
		e.start = sec->s.text_start;
		e.end = sec->s.text_end;
	}
	ops->debug(reg, &e);
}

/* Under the lock, after a change: what was cached before it is not found after it. */
static void changed(struct ehu_registry *reg)
{
	ehu_store(&reg->sections.generation, reg->ops->generation(reg->ops));
}

static struct ehu_table *table_alloc(const struct ehu_registry_ops *ops, u32 max)
{
	struct ehu_table *t = ops->alloc(ops, sizeof(*t) + max * sizeof(t->range[0]));

	if (t)
		ehu_map_init(&t->map, t->range, max);
	return t;
}

/* Takes one range out. Its section goes with its last range. */
static void drop_range(struct ehu_registry *reg, struct ehu_range *r)
{
	struct ehu_section *sec = section_at(r);

	ehu_store(&r->section, NULL);
	if (!--sec->nr_ranges)
		reg->ops->retire(reg->ops, &sec->retired);
}

/* All ranges of a section. Returns how many there were. */
static u32 drop_section(struct ehu_registry *reg, const struct ehu_section *sec)
{
	u32 k, nr = 0;

	for (k = 0; k < table_size(reg); k++) {
		if (section_at(&reg->table->range[k]) != sec)
			continue;
		nr++;
		drop_range(reg, &reg->table->range[k]);
	}
	if (nr)
		changed(reg);
	return nr;
}

static struct ehu_registry *registry_of(const struct ehu_sections *sections)
{
	return (struct ehu_registry *)(uintptr_t)sections;	/* its first member */
}

static const struct ehf_section *find(const struct ehu_sections *sections, u64 addr)
{
	const struct ehu_section *sec = ehu_registry_find(registry_of(sections), addr);

	return sec ? &sec->s : NULL;
}

/*
 * A walk has met a stop. Only class corrupt costs the section its place; if another walk was
 * faster, or the section was removed by hand, there is nothing left to do.
 */
static void corrupt(const struct ehu_sections *sections, const struct ehf_section *s,
		    enum ehf_stop stop)
{
	struct ehu_registry *reg = registry_of(sections);
	struct ehu_section *sec = section_of(s);

	if (ehf_stop_class(stop) != EHF_CLASS_CORRUPT)
		return;
	reg->ops->lock(reg);
	if (drop_section(reg, sec))
		debug(reg, EHU_EVENT_CORRUPT, 0, stop, sec);
	reg->ops->unlock(reg);
}

/**
 * ehu_registry_init() - the registry of a new mm, empty
 * @reg: filled in
 * @ops: what the caller provides; must outlive every object that is retired
 */
void ehu_registry_init(struct ehu_registry *reg, const struct ehu_registry_ops *ops)
{
	*reg = (struct ehu_registry){
		.sections = { .find = find, .corrupt = corrupt },
		.ops = ops,
	};
	changed(reg);
}

/**
 * ehu_registry_enter() - before a walk that uses @reg->sections
 * @reg: the registry
 *
 * What is found until ehu_registry_leave() stays readable until then, removed or not.
 *
 * Return: for ehu_registry_leave().
 */
u32 ehu_registry_enter(struct ehu_registry *reg)
{
	return reg->ops->read_lock(reg);
}

/**
 * ehu_registry_leave() - after a walk
 * @reg: the registry
 * @key: what ehu_registry_enter() returned
 */
void ehu_registry_leave(struct ehu_registry *reg, u32 key)
{
	reg->ops->read_unlock(reg, key);
}

/**
 * ehu_registry_find() - the section that describes an address
 * @reg: the registry, between enter and leave
 * @addr: an address in the task
 *
 * Return: the section, or NULL.
 */
const struct ehu_section *ehu_registry_find(const struct ehu_registry *reg, u64 addr)
{
	const struct ehu_table *t = ehu_load(&reg->table);
	const struct ehu_range *r = t ? ehu_map_find(&t->map, addr) : NULL;

	return r ? section_at(r) : NULL;
}

static bool bad_span(u64 start, u64 end, u64 top)
{
	return start >= end || end - 1 > top || end - start > EHU_MAX_SECTION;
}

/* What can be said of the arguments without a look at the task. */
static int check_args(const struct ehf_abi *abi, const struct ehu_section_args *a)
{
	u64 top = abi->addr_size == 4 ? ~0U : ~0ULL;
	u64 last = 0;
	u32 k;

	if (a->flags & ~(u32)(EHU_ADD_SCAN | EHU_ADD_CHECK))
		return -EINVAL;
	if (!a->nr_texts || a->nr_texts > EHU_MAX_TEXTS)
		return -EINVAL;
	for (k = 0; k < a->nr_texts; k++) {
		const struct ehu_text *t = &a->text[k];

		if (t->start >= t->end || t->start < last || t->end - 1 > top)
			return -EINVAL;
		last = t->end;
	}
	if (!a->hdr && (a->hdr_end || !a->eh_frame))
		return -EINVAL;
	if (a->hdr > top || (a->hdr_end && bad_span(a->hdr, a->hdr_end, top)))
		return -EINVAL;
	if (a->eh_frame > top)
		return -EINVAL;
	if (a->eh_frame_end && a->eh_frame && bad_span(a->eh_frame, a->eh_frame_end, top))
		return -EINVAL;
	/* Without a header there is nothing but the scan, and that needs the true end. */
	if ((!a->hdr || a->flags & EHU_ADD_SCAN) && !a->eh_frame_end)
		return -EINVAL;
	if (!a->hdr && !(a->flags & EHU_ADD_SCAN))
		return -EINVAL;
	return 0;
}

/* The end of the mapping at @addr, or 0. */
static u64 mapping_end(struct ehu_registry *reg, u64 addr)
{
	struct ehu_mapping m = { 0 };
	u64 end = 0;

	reg->ops->lock(reg);
	if (reg->ops->mapping(reg, addr, &m))
		end = m.end;
	reg->ops->unlock(reg);
	return end;
}

/*
 * Reads the header. Ends that nobody gave are those of the mappings; where .eh_frame is, only
 * the header may know. It is read once, so that what was checked is what is used.
 */
static int read_header(struct ehu_registry *reg, const struct ehf_ctx *ctx,
		       const struct ehu_section_args *a, struct ehf_section *s,
		       enum ehf_stop *stop)
{
	if (a->hdr && !s->hdr_end) {
		s->hdr_end = mapping_end(reg, s->hdr);
		if (!s->hdr_end)
			return -EFAULT;
	}
	if (!s->eh_frame_end)
		s->eh_frame_end = ~0ULL;
	*stop = ehf_section_init(ctx, s);
	if (!*stop && !a->eh_frame_end) {
		s->eh_frame_end = mapping_end(reg, s->eh_frame);
		if (!s->eh_frame_end)
			return -EFAULT;
		if (s->eh_frame_end - s->eh_frame > EHU_MAX_SECTION)
			s->eh_frame_end = s->eh_frame + EHU_MAX_SECTION;
	}
	if (!*stop && bad_span(s->eh_frame, s->eh_frame_end, ~0ULL))
		*stop = EHF_STOP_BAD_HEADER;
	if (!*stop && a->flags & EHU_ADD_CHECK)
		*stop = ehu_check_table(ctx, s);
	if (!*stop)
		return 0;
	if (ehf_stop_class(*stop) == EHF_CLASS_OVER_LIMIT)
		return -ERANGE;
	return ehf_stop_class(*stop) == EHF_CLASS_FAULT ? -EFAULT : -EINVAL;
}

/* Under the lock: what the task's mappings must be like. */
static int check_mappings(struct ehu_registry *reg, const struct ehu_section_args *a,
			  const struct ehf_section *s)
{
	struct ehu_mapping m = { 0 };
	u32 k;

	for (k = 0; k < a->nr_texts; k++) {
		const struct ehu_text *t = &a->text[k];

		if (!reg->ops->mapping(reg, t->start, &m))
			return -EFAULT;
		if (t->end > m.end)
			return -ERANGE;
		if (!m.exec)
			return -EPERM;
	}
	if (s->hdr && !reg->ops->mapping(reg, s->hdr, &m))
		return -EFAULT;
	return reg->ops->mapping(reg, s->eh_frame, &m) ? 0 : -EFAULT;
}

/* Under the lock: a new table with the old one's ranges and those of @sec. */
static int insert(struct ehu_registry *reg, const struct ehu_section_args *a,
		  struct ehu_section *sec)
{
	struct ehu_table *old = reg->table, *t;
	u32 k, nr = 0;
	int ret;

	for (k = 0; k < table_size(reg); k++)
		nr += old->range[k].section != NULL;
	if (nr + a->nr_texts > EHU_MAX_RANGES)
		return -ENOSPC;
	t = table_alloc(reg->ops, nr + a->nr_texts);
	if (!t)
		return -ENOMEM;
	for (k = 0; k < table_size(reg); k++)
		if (old->range[k].section)
			t->range[t->map.nr++] = old->range[k];
	for (k = 0; k < a->nr_texts; k++) {
		ret = ehu_map_add(&t->map, a->text[k].start, a->text[k].end, &sec->s);
		if (ret) {
			reg->ops->free(reg->ops, t);
			return ret;
		}
	}
	sec->nr_ranges = a->nr_texts;
	ehu_store(&reg->table, t);
	if (old)
		reg->ops->retire(reg->ops, &old->retired);
	return 0;
}

static void adding_begin(struct ehu_registry *reg, struct ehu_adding *me)
{
	reg->ops->lock(reg);
	me->next = reg->adding;
	reg->adding = me;
	reg->ops->unlock(reg);
}

/* Under the lock. */
static void adding_end(struct ehu_registry *reg, struct ehu_adding *me)
{
	struct ehu_adding **p = &reg->adding;

	while (*p != me)
		p = &(*p)->next;
	*p = me->next;
}

/**
 * ehu_registry_add() - register a section for text ranges
 * @reg: the registry of the current task's mm
 * @ctx: the task's memory and machine
 * @args: what is registered
 * @added: filled in: the handle, or which stop the bytes gave
 *
 * Checks what a prctl() would have to: see the errors. May sleep; reads the task's memory
 * without the lock. What is unmapped while it does so is not registered.
 *
 * Return: 0, or
 *   -EINVAL  unknown flags, no or too many texts, ranges that are empty, not in order or too
 *            large, neither header nor .eh_frame, a scan without the true end; or, with
 *            @added->stop set, a header that cannot be used or (EHU_ADD_CHECK) a bad table,
 *   -EFAULT  text, header or .eh_frame is not mapped, or no longer, or cannot be read,
 *   -ERANGE  a text reaches beyond its mapping; a table too large to check,
 *   -EPERM   a text's mapping is not executable,
 *   -EEXIST  a text overlaps one that is registered,
 *   -ENOSPC  EHU_MAX_RANGES are there already,
 *   -ENOMEM.
 */
int ehu_registry_add(struct ehu_registry *reg, const struct ehf_ctx *ctx,
		     const struct ehu_section_args *args, struct ehu_added *added)
{
	const struct ehu_registry_ops *ops = reg->ops;
	struct ehu_adding me = { .args = args };
	struct ehu_section *sec;
	int ret;

	*added = (struct ehu_added){ .stop = EHF_STOP_NONE };
	ret = check_args(ctx->abi, args);
	if (ret)
		return ret;
	sec = ops->alloc(ops, sizeof(*sec));
	if (!sec)
		return -ENOMEM;
	*sec = (struct ehu_section){
		.s = {
			.text_start = args->text[0].start,
			.text_end = args->text[args->nr_texts - 1].end,
			.hdr = args->hdr,
			.hdr_end = args->hdr_end,
			.eh_frame = args->eh_frame,
			.eh_frame_end = args->eh_frame_end,
			.scan = args->flags & EHU_ADD_SCAN,
		},
	};
	adding_begin(reg, &me);
	ret = read_header(reg, ctx, args, &sec->s, &added->stop);
	ops->lock(reg);
	adding_end(reg, &me);
	if (!ret && me.stale)
		ret = -EFAULT;
	if (!ret)
		ret = check_mappings(reg, args, &sec->s);
	if (!ret) {
		sec->handle = ops->generation(ops);
		ret = insert(reg, args, sec);
	}
	if (!ret)
		ehu_store(&reg->sections.generation, (unsigned long)sec->handle);
	else
		sec->handle = 0;
	debug(reg, ret ? EHU_EVENT_REFUSED : EHU_EVENT_ADDED, ret, added->stop, sec);
	added->handle = sec->handle;
	ops->unlock(reg);
	if (ret)
		ops->free(ops, sec);
	return ret;
}

/**
 * ehu_registry_remove() - remove a section by handle
 * @reg: the registry
 * @handle: from ehu_registry_add(), in this mm or in the one that it was forked from
 *
 * A walk that is using the section goes on with it.
 *
 * Return: 0, or -ENOENT: a handle never comes to name another section.
 */
int ehu_registry_remove(struct ehu_registry *reg, u64 handle)
{
	struct ehu_section *sec = NULL;
	u32 k;

	reg->ops->lock(reg);
	for (k = 0; k < table_size(reg) && !sec; k++) {
		sec = section_at(&reg->table->range[k]);
		if (sec && sec->handle != handle)
			sec = NULL;
	}
	if (sec) {
		debug(reg, EHU_EVENT_REMOVED, 0, EHF_STOP_NONE, sec);
		drop_section(reg, sec);
	}
	reg->ops->unlock(reg);
	return sec ? 0 : -ENOENT;
}

/**
 * ehu_registry_remove_range() - addresses are unmapped, or mapped to something else
 * @reg: the registry
 * @start: first address
 * @end: one past the last
 *
 * Call it after the mappings have changed. Every text range that overlaps goes, whole; a section
 * goes with its last text range or when its own bytes overlap. A registration that is under way
 * with any of these addresses will fail.
 *
 * Return: text ranges that were removed.
 */
u32 ehu_registry_remove_range(struct ehu_registry *reg, u64 start, u64 end)
{
	struct ehu_adding *a;
	u32 k, n, nr = 0;

	if (start >= end)
		return 0;
	reg->ops->lock(reg);
	for (a = reg->adding; a; a = a->next) {
		const struct ehu_section_args *args = a->args;

		for (n = 0; n < args->nr_texts; n++)
			a->stale |= overlaps(args->text[n].start, args->text[n].end, start, end);
		a->stale |= args->hdr && overlaps(args->hdr, args->hdr_end ? args->hdr_end :
						  args->hdr + 1, start, end);
		a->stale |= args->eh_frame && overlaps(args->eh_frame, args->eh_frame_end ?
						       args->eh_frame_end : args->eh_frame + 1,
						       start, end);
	}
	for (k = 0; k < table_size(reg); k++) {
		struct ehu_range *r = &reg->table->range[k];
		struct ehu_section *sec = section_at(r);

		if (!sec)
			continue;
		if (overlaps(r->start, r->end, start, end) ||
		    (sec->s.hdr && overlaps(sec->s.hdr, sec->s.hdr_end, start, end)) ||
		    overlaps(sec->s.eh_frame, sec->s.eh_frame_end, start, end)) {
			debug(reg, EHU_EVENT_UNMAPPED, 0, EHF_STOP_NONE, sec);
			drop_range(reg, r);
			nr++;
		}
	}
	if (nr)
		changed(reg);
	reg->ops->unlock(reg);
	return nr;
}

/* The copy of a section in another mm, made when its first range is met. */
static struct ehu_section *copy_of(const struct ehu_registry_ops *ops, struct ehu_section *sec)
{
	struct ehu_section *copy = sec->copy;

	if (copy)
		return copy;
	copy = ops->alloc(ops, sizeof(*copy));
	if (!copy)
		return NULL;
	*copy = (struct ehu_section){
		.s = sec->s,
		.handle = sec->handle,
	};
	sec->copy = copy;
	return copy;
}

/**
 * ehu_registry_dup() - the registry of a forked mm
 * @child: as ehu_registry_init() left it; nobody else knows it yet
 * @parent: the registry of the mm that was forked
 *
 * Handles stay the same, for the child's memory holds them. The generation does not.
 *
 * Return: 0, or -ENOMEM with @child still empty.
 */
int ehu_registry_dup(struct ehu_registry *child, struct ehu_registry *parent)
{
	const struct ehu_registry_ops *ops = child->ops;
	struct ehu_table *t = NULL;
	u32 k, nr;
	int ret = 0;

	parent->ops->lock(parent);
	nr = table_size(parent);
	if (nr) {
		t = table_alloc(ops, nr);
		ret = t ? 0 : -ENOMEM;
	}
	for (k = 0; k < nr && !ret; k++) {
		const struct ehu_range *r = &parent->table->range[k];
		struct ehu_section *copy;

		if (!r->section)
			continue;
		copy = copy_of(ops, section_at(r));
		if (!copy) {
			ret = -ENOMEM;
			break;
		}
		copy->nr_ranges++;
		t->range[t->map.nr++] = (struct ehu_range){ r->start, r->end, &copy->s };
	}
	for (k = 0; k < nr; k++) {
		struct ehu_section *sec = section_at(&parent->table->range[k]);

		if (!sec || !sec->copy)
			continue;
		if (ret)
			ops->free(ops, sec->copy);
		sec->copy = NULL;
	}
	if (ret)
		debug(parent, EHU_EVENT_REFUSED, ret, EHF_STOP_NONE, NULL);
	parent->ops->unlock(parent);
	if (ret) {
		if (t)
			ops->free(ops, t);
		return ret;
	}
	ehu_store(&child->table, t);
	changed(child);
	return 0;
}

/**
 * ehu_registry_drop() - remove everything: exec, or the end of the mm
 * @reg: the registry; empty and usable afterwards
 *
 * At the end of the mm no registration is under way any more.
 */
void ehu_registry_drop(struct ehu_registry *reg)
{
	struct ehu_adding *a;
	struct ehu_table *t;
	u32 k;

	reg->ops->lock(reg);
	t = reg->table;
	for (a = reg->adding; a; a = a->next)
		a->stale = true;
	for (k = 0; k < table_size(reg); k++)
		if (t->range[k].section)
			drop_range(reg, &t->range[k]);
	ehu_store(&reg->table, NULL);
	changed(reg);
	if (t)
		reg->ops->retire(reg->ops, &t->retired);
	reg->ops->unlock(reg);
}
