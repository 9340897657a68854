// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * unwind/registry.c and unwind/check.c: each way in, each way out, each refusal, and what a walk
 * sees of it; every allocation and every read made to fail.
 */
#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"

#include "unwind/check.h"
#include "unwind/registry.h"
#include "unwind/walk.h"

#define TEXT	(B_BASE + 0x100000)	/* where the code is said to be */
#define NR_MAPS	6

/* A kernel's part: one mm, one counter, one clock, memory that can run out. */
struct mm {
	struct ehu_registry reg;	/* first: ops find the rest from it */
	struct ehu_mapping map[NR_MAPS];
	int nr_maps;
	bool locked;
};

static struct {
	unsigned long last_number;
	int allocs, fail_alloc;		/* that one fails, counted from 1 */
	int live;
	int readers;
	struct ehu_retired *retired[4096];
	int nr_retired, freed;
	u64 now;
	struct ehu_event event[64];
	int nr_events;
} k;

static void *op_alloc(const struct ehu_registry_ops *ops TH_UNUSED, size_t size)
{
	if (++k.allocs == k.fail_alloc)
		return NULL;
	k.live++;
	return malloc(size);
}

static void op_free(const struct ehu_registry_ops *ops TH_UNUSED, void *p)
{
	k.live--;
	free(p);
}

static void grace(void)
{
	for (int n = 0; n < k.nr_retired; n++)
		op_free(NULL, k.retired[n]);
	k.freed += k.nr_retired;
	k.nr_retired = 0;
}

static void op_retire(const struct ehu_registry_ops *ops TH_UNUSED, struct ehu_retired *r)
{
	memset(r->space, 0xa5, sizeof(r->space));
	k.retired[k.nr_retired++] = r;
	if (!k.readers)
		grace();
}

static unsigned long op_generation(const struct ehu_registry_ops *ops TH_UNUSED)
{
	return ++k.last_number;
}

static u32 op_read_lock(struct ehu_registry *reg TH_UNUSED)
{
	k.readers++;
	return 17;
}

static void op_read_unlock(struct ehu_registry *reg TH_UNUSED, u32 key)
{
	EXPECT_EQ(17, key);
	if (!--k.readers)
		grace();
}

static void op_lock(struct ehu_registry *reg)
{
	struct mm *mm = (struct mm *)reg;

	EXPECT_FALSE(mm->locked);
	mm->locked = true;
}

static void op_unlock(struct ehu_registry *reg)
{
	struct mm *mm = (struct mm *)reg;

	EXPECT_TRUE(mm->locked);
	mm->locked = false;
}

static bool op_mapping(struct ehu_registry *reg, u64 addr, struct ehu_mapping *m)
{
	struct mm *mm = (struct mm *)reg;

	EXPECT_TRUE(mm->locked);
	for (int n = 0; n < mm->nr_maps; n++) {
		*m = mm->map[n];
		if (addr >= m->start && addr < m->end)
			return true;
	}
	return false;
}

static u64 op_now(struct ehu_registry *reg TH_UNUSED)
{
	return k.now;
}

static void op_debug(struct ehu_registry *reg, const struct ehu_event *e)
{
	EXPECT_TRUE(((struct mm *)reg)->locked);
	if (k.nr_events < 64)
		k.event[k.nr_events++] = *e;
}

static const struct ehu_registry_ops ops = {
	.alloc = op_alloc, .free = op_free, .retire = op_retire, .generation = op_generation,
	.read_lock = op_read_lock, .read_unlock = op_read_unlock, .lock = op_lock,
	.unlock = op_unlock, .mapping = op_mapping, .now_ms = op_now, .debug = op_debug,
};

FIXTURE(reg)
{
	struct b b;
	struct mm mm, child;
	struct ehu_text text[EHU_MAX_TEXTS];
	struct ehu_section_args args;
	struct ehu_added added;
	u64 fde[2];
	u64 stack;
};

/* Two FDEs at TEXT, 16 bytes each: CFA = SP + 8 and SP + 16. Behind the section, a stack. */
static void build(FIXTURE_DATA(reg) *self)
{
	struct b *b = &self->b;
	u64 cie;

	b_init(b, &ehu_arch_x86_64.abi);
	cie = b_cie(b, &b_zr);
	b_put(b, 0x0c, 7, 8, 0x90, 1);	/* def_cfa rsp+8, rip at cfa-8 */
	b_close(b);
	self->fde[0] = b_fde(b, cie, TEXT, 16);
	b_close(b);
	self->fde[1] = b_fde(b, cie, TEXT + 16, 16);
	b_put(b, 0x0e, 16);		/* def_cfa_offset 16 */
	b_close(b);
	b_end(b);
	b_hdr(b, 0x1b, 0x03, 0x3b);
	while (b->len % 8)
		b_u8(b, 0);
	self->stack = b_pos(b);
	b_fixed(b, TEXT + 16 + 5, 8);	/* returns into the second function, */
	b_fixed(b, 0x1111, 8);
	b_fixed(b, 0x666, 8);		/* which returns to nowhere */
	b_fixed(b, 0x777, 8);
}

FIXTURE_SETUP(reg)
{
	struct ehu_mapping *m = self->mm.map;

	build(self);
	ehu_registry_init(&self->mm.reg, &ops);
	ehu_registry_init(&self->child.reg, &ops);
	m[0] = (struct ehu_mapping){ B_BASE, B_BASE + B_SIZE, false };
	m[1] = (struct ehu_mapping){ TEXT, TEXT + 0x1000, true };
	m[2] = (struct ehu_mapping){ TEXT + 0x1000, TEXT + 0x2000, false };
	m[3] = (struct ehu_mapping){ TEXT + 0x3000, TEXT + 0x9000, true };
	self->mm.nr_maps = 4;
	self->text[0] = (struct ehu_text){ TEXT, TEXT + 0x100 };
	self->args = (struct ehu_section_args){
		.nr_texts = 1, .text = self->text,
		.hdr = self->b.s.hdr, .hdr_end = self->b.s.hdr_end,
		.eh_frame = self->b.s.eh_frame, .eh_frame_end = self->b.s.eh_frame_end,
	};
}

/* Whatever a test did, nothing is left behind, locked or open. */
FIXTURE_TEARDOWN(reg)
{
	ehu_registry_drop(&self->mm.reg);
	ehu_registry_drop(&self->child.reg);
	EXPECT_EQ(0, k.readers);
	EXPECT_EQ(0, k.nr_retired);
	EXPECT_EQ(0, k.live);
	EXPECT_NULL(self->mm.reg.adding);
	EXPECT_EQ(0, self->b.broken);
}

static int add(FIXTURE_DATA(reg) *self)
{
	b_memory(&self->b, B_COPY);
	return ehu_registry_add(&self->mm.reg, &self->b.ctx, &self->args, &self->added);
}

static u64 handle_at(struct mm *mm, u64 addr)
{
	u32 key = ehu_registry_enter(&mm->reg);
	const struct ehu_section *sec = ehu_registry_find(&mm->reg, addr);
	u64 handle = sec ? sec->handle : 0;

	EXPECT_TRUE((mm->reg.sections.find(&mm->reg.sections, addr) != NULL) == (sec != NULL));
	ehu_registry_leave(&mm->reg, key);
	return handle;
}

static enum ehf_stop walk(FIXTURE_DATA(reg) *self, struct mm *mm, u64 ip, struct ehu_trace *t,
			  struct ehu_row_cache *cache, struct ehf_memo *memo)
{
	static struct ehu_entry entry[8];
	struct ehu_regs regs = { .ip = ip, .known = 1 << 7 };
	struct ehu_unwind u = {
		.arch = &ehu_arch_x86_64, .mem = &self->b.mem, .sections = &mm->reg.sections,
		.limits = &ehf_limits_walk, .cache = cache, .memo = memo,
	};
	u32 key = ehu_registry_enter(&mm->reg);

	regs.reg[7] = self->stack;
	t->entry = entry;
	t->max = 8;
	EXPECT_EQ(0, ehu_walk(&u, &regs, t));
	ehu_registry_leave(&mm->reg, key);
	return t->stop;
}

TEST_F(reg, add_find_remove)
{
	EXPECT_EQ(0, handle_at(&self->mm, TEXT));
	ASSERT_EQ(0, add(self));
	EXPECT_NE(0, self->added.handle);
	EXPECT_EQ(EHF_STOP_NONE, self->added.stop);
	EXPECT_EQ(0, handle_at(&self->mm, TEXT - 1));
	EXPECT_EQ(self->added.handle, handle_at(&self->mm, TEXT));
	EXPECT_EQ(self->added.handle, handle_at(&self->mm, TEXT + 0xff));
	EXPECT_EQ(0, handle_at(&self->mm, TEXT + 0x100));
	EXPECT_EQ(-ENOENT, ehu_registry_remove(&self->mm.reg, self->added.handle + 1));
	EXPECT_EQ(-ENOENT, ehu_registry_remove(&self->mm.reg, 0));
	EXPECT_EQ(0, ehu_registry_remove(&self->mm.reg, self->added.handle));
	EXPECT_EQ(0, handle_at(&self->mm, TEXT));
	EXPECT_EQ(-ENOENT, ehu_registry_remove(&self->mm.reg, self->added.handle));
}

/* What a prctl() would refuse, one by one; each time all the rest is as it should be. */
TEST_F(reg, arguments_one_by_one)
{
	const struct ehu_section_args good = self->args;
	const u64 hdr = good.hdr;
	struct ehu_section_args *a = &self->args;
	int nr = 0;

#define REFUSED(err, ...) do { \
	__VA_ARGS__; \
	EXPECT_EQ(err, add(self)) { \
		TH_LOG("%s", #__VA_ARGS__); \
	} \
	EXPECT_EQ(0, self->added.handle); \
	*a = good; \
	self->text[0] = (struct ehu_text){ TEXT, TEXT + 0x100 }; \
	nr++; \
} while (0)
	REFUSED(-EINVAL, a->flags = 0x80);
	REFUSED(-EINVAL, a->nr_texts = 0);
	REFUSED(-EINVAL, a->nr_texts = EHU_MAX_TEXTS + 1);
	REFUSED(-EINVAL, self->text[0].end = TEXT);
	REFUSED(-EINVAL, self->text[0].end = TEXT - 1);
	REFUSED(-EINVAL, a->nr_texts = 2, self->text[1] = self->text[0]);
	REFUSED(-EINVAL, a->nr_texts = 2, self->text[1] = (struct ehu_text){ TEXT - 64, TEXT });
	REFUSED(-EINVAL, a->hdr_end = hdr);
	REFUSED(-EINVAL, a->hdr_end = hdr - 1);
	REFUSED(-EINVAL, a->hdr_end = hdr + EHU_MAX_SECTION + 1);
	REFUSED(-EINVAL, a->eh_frame_end = a->eh_frame);
	REFUSED(-EINVAL, a->eh_frame_end = a->eh_frame + EHU_MAX_SECTION + 1);
	REFUSED(-EINVAL, a->hdr = 0);
	REFUSED(-EINVAL, a->hdr = 0, a->hdr_end = 0, a->eh_frame = 0);
	REFUSED(-EINVAL, a->hdr = 0, a->hdr_end = 0);		/* neither table nor scan */
	REFUSED(-EINVAL, a->flags = EHU_ADD_SCAN, a->eh_frame_end = 0);
	/* The header's word against the caller's. */
	REFUSED(-EINVAL, a->eh_frame += 4);
	EXPECT_EQ(EHF_STOP_BAD_HEADER, self->added.stop);
	REFUSED(-EINVAL, a->hdr_end = hdr + 3);
	EXPECT_EQ(EHF_STOP_BAD_HEADER, self->added.stop);
	REFUSED(-EINVAL, a->hdr_end = hdr + 20);
	EXPECT_EQ(EHF_STOP_BAD_TABLE, self->added.stop);
	REFUSED(-EINVAL, a->hdr += 1);
	/* Mappings. */
	REFUSED(-EFAULT, self->text[0] = (struct ehu_text){ TEXT - 0x100, TEXT + 0x100 });
	REFUSED(-EFAULT, self->text[0] = (struct ehu_text){ TEXT + 0x2000, TEXT + 0x2100 });
	REFUSED(-ERANGE, self->text[0] = (struct ehu_text){ TEXT, TEXT + 0x1001 });
	REFUSED(-ERANGE, self->text[0] = (struct ehu_text){ TEXT, ~0ULL });
	REFUSED(-EPERM, self->text[0] = (struct ehu_text){ TEXT + 0x1000, TEXT + 0x1100 });
	REFUSED(-EFAULT, a->nr_texts = 2, self->text[1] = (struct ehu_text){ ~0ULL - 9, ~0ULL });
	REFUSED(-EFAULT, a->hdr = 0x1000, a->hdr_end = 0x1100);
	REFUSED(-EFAULT, a->hdr = 0x1000, a->hdr_end = 0);
	REFUSED(-EFAULT, self->mm.map[0].end = self->b.s.hdr);
	self->mm.map[0].end = B_BASE + B_SIZE;
	REFUSED(-EFAULT, self->mm.map[0].start = self->b.s.eh_frame + 1);
	self->mm.map[0].start = B_BASE;
#undef REFUSED
	EXPECT_EQ(0, add(self));
	EXPECT_EQ(-EEXIST, add(self));
	self->text[0] = (struct ehu_text){ TEXT + 0xff, TEXT + 0x101 };
	EXPECT_EQ(-EEXIST, add(self));
	self->text[0] = (struct ehu_text){ TEXT + 0x100, TEXT + 0x101 };
	EXPECT_EQ(0, add(self));
	TH_LOG("%d arguments refused", nr);
}

TEST_F(reg, addresses_fit_the_machine)
{
	struct ehu_section_args good;

	self->b.abi.addr_size = 4;
	self->b.abi.word_size = 4;
	EXPECT_EQ(0, add(self));
	EXPECT_EQ(0, ehu_registry_remove(&self->mm.reg, self->added.handle));
	good = self->args;
	self->args.hdr += 1ULL << 32;
	self->args.hdr_end += 1ULL << 32;
	EXPECT_EQ(-EINVAL, add(self));
	self->args = good;
	self->args.eh_frame += 1ULL << 32;
	self->args.eh_frame_end = 0;
	EXPECT_EQ(-EINVAL, add(self));
	self->args = good;
	self->text[0].end = (1ULL << 32) + 1;
	EXPECT_EQ(-EINVAL, add(self));
	self->text[0].end = 1ULL << 32;
	EXPECT_EQ(-ERANGE, add(self));
}

/* R15: ends that nobody gave are those of the mappings. */
TEST_F(reg, unknown_ends_are_those_of_the_mapping)
{
	const struct ehu_section *sec;
	u32 key;

	self->args.hdr_end = 0;
	self->args.eh_frame = 0;
	self->args.eh_frame_end = 0;
	ASSERT_EQ(0, add(self));
	key = ehu_registry_enter(&self->mm.reg);
	sec = ehu_registry_find(&self->mm.reg, TEXT);
	ASSERT_NE(NULL, sec);
	EXPECT_EQ(B_BASE + B_SIZE, sec->s.hdr_end);
	EXPECT_EQ(self->b.s.eh_frame, sec->s.eh_frame);
	EXPECT_EQ(B_BASE + B_SIZE, sec->s.eh_frame_end);
	EXPECT_FALSE(sec->s.scan);
	EXPECT_EQ(2, sec->s.nr_fdes);
	ehu_registry_leave(&self->mm.reg, key);
}

TEST_F(reg, section_without_a_header_is_scanned)
{
	struct ehu_trace t;

	self->args.hdr = 0;
	self->args.hdr_end = 0;
	self->args.flags = EHU_ADD_SCAN;
	ASSERT_EQ(0, add(self));
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, walk(self, &self->mm, TEXT + 4, &t, NULL, NULL));
	EXPECT_EQ(3, t.nr);
}

/* Every read of add fails once: refused, and nothing is left. */
TEST_F(reg, any_read_may_fault)
{
	u32 reads, n;

	self->args.flags = EHU_ADD_CHECK;
	ASSERT_EQ(0, add(self));
	reads = self->b.reads;
	EXPECT_EQ(0, ehu_registry_remove(&self->mm.reg, self->added.handle));
	EXPECT_LT(5, reads);
	for (n = 1; n <= reads; n++) {
		b_memory(&self->b, B_COPY);
		self->b.fault_at = n;
		EXPECT_EQ(-EFAULT, ehu_registry_add(&self->mm.reg, &self->b.ctx, &self->args,
						    &self->added));
		EXPECT_EQ(EHF_STOP_SECTION_MEMORY, self->added.stop);
		EXPECT_EQ(1, k.live);	/* the table, where nothing is now */
		EXPECT_EQ(0, handle_at(&self->mm, TEXT));
	}
}

TEST_F(reg, any_allocation_may_fail)
{
	for (int n = 1; n <= 2; n++) {
		k.allocs = 0;
		k.fail_alloc = n;
		EXPECT_EQ(-ENOMEM, add(self));
		EXPECT_EQ(0, self->added.handle);
		EXPECT_EQ(0, k.live);
	}
	k.fail_alloc = 0;
	EXPECT_EQ(0, add(self));
	/* Removal needs no memory. */
	k.allocs = 0;
	EXPECT_EQ(0, ehu_registry_remove(&self->mm.reg, self->added.handle));
	EXPECT_EQ(0, k.allocs);
}

TEST_F(reg, whole_table_is_checked_on_request)
{
	struct ehf_section *s = &self->b.s;
	u32 table = (u32)(s->hdr + 12 - B_BASE);
	u8 saved[16];

	memcpy(saved, self->b.buf + table, 16);
	/* Two entries the wrong way round. */
	memcpy(self->b.buf + table, saved + 8, 8);
	memcpy(self->b.buf + table + 8, saved, 8);
	ASSERT_EQ(0, add(self));
	EXPECT_EQ(0, ehu_registry_remove(&self->mm.reg, self->added.handle));
	self->args.flags = EHU_ADD_CHECK;
	EXPECT_EQ(-EINVAL, add(self));
	EXPECT_EQ(EHF_STOP_BAD_TABLE, self->added.stop);
	/* An entry that starts where its FDE does not. */
	memcpy(self->b.buf + table, saved, 16);
	self->b.buf[table] ^= 1;
	EXPECT_EQ(-EINVAL, add(self));
	EXPECT_EQ(EHF_STOP_BAD_TABLE, self->added.stop);
	/* One that names the CIE; one that names what is outside. */
	memcpy(self->b.buf + table, saved, 16);
	b_poke(&self->b, table + 4, s->eh_frame - s->hdr, 4);
	EXPECT_EQ(-EINVAL, add(self));
	EXPECT_EQ(EHF_STOP_BAD_CIE_POINTER, self->added.stop);
	b_poke(&self->b, table + 4, s->eh_frame_end - s->hdr, 4);
	EXPECT_EQ(-EINVAL, add(self));
	EXPECT_EQ(EHF_STOP_BAD_TABLE, self->added.stop);
	/* R18: the same FDE twice is fine. */
	memcpy(self->b.buf + table, saved, 8);
	memcpy(self->b.buf + table + 8, saved, 8);
	EXPECT_EQ(0, add(self));
}

/* R6: one section for two segments; the gap between them is not found and costs nothing. */
TEST_F(reg, several_texts_for_one_section)
{
	struct ehu_trace t;

	self->text[1] = (struct ehu_text){ TEXT + 0x3000, TEXT + 0x3100 };
	self->text[2] = (struct ehu_text){ TEXT + 0x4000, TEXT + 0x4100 };
	self->args.nr_texts = 3;
	ASSERT_EQ(0, add(self));
	for (int n = 0; n < 3; n++) {
		EXPECT_EQ(self->added.handle, handle_at(&self->mm, self->text[n].start));
		EXPECT_EQ(self->added.handle, handle_at(&self->mm, self->text[n].end - 1));
		EXPECT_EQ(0, handle_at(&self->mm, self->text[n].end));
	}
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, walk(self, &self->mm, TEXT + 0x200, &t, NULL, NULL));
	EXPECT_EQ(EHF_STOP_NO_FDE, walk(self, &self->mm, TEXT + 0x3080, &t, NULL, NULL));
	EXPECT_EQ(self->added.handle, handle_at(&self->mm, TEXT));
	/* One of them is unmapped: the others stay, until the last one goes. */
	EXPECT_EQ(1, ehu_registry_remove_range(&self->mm.reg, TEXT + 0x30ff, TEXT + 0x3200));
	EXPECT_EQ(0, handle_at(&self->mm, TEXT + 0x3000));
	EXPECT_EQ(self->added.handle, handle_at(&self->mm, TEXT + 0x4000));
	EXPECT_EQ(0, k.nr_retired);
	EXPECT_EQ(1, ehu_registry_remove_range(&self->mm.reg, TEXT - 1, TEXT + 1));
	EXPECT_EQ(0, ehu_registry_remove(&self->mm.reg, self->added.handle));
	EXPECT_EQ(0, handle_at(&self->mm, TEXT + 0x4000));
	EXPECT_EQ(1, k.live);	/* the table */
}

TEST_F(reg, unmapping_removes_what_overlaps)
{
	static const struct { s64 from, to; bool text, gone; } r[] = {
		{ -8, 0, true, false }, { -8, 1, true, true }, { 0xff, 0x100, true, true },
		{ 0x100, 0x200, true, false }, { 0, 0, true, false }, { 5, 4, true, false },
		{ -0x100000, 0x100000, true, true }, { 0, 1, false, true },
	};
	const u64 spots[] = { self->b.s.hdr, self->b.s.hdr_end - 1, self->b.s.eh_frame,
			      self->b.s.eh_frame_end - 1 };

	for (u32 n = 0; n < EHF_ARRAY_SIZE(r) - 1; n++) {
		ASSERT_EQ(0, add(self));
		EXPECT_EQ(r[n].gone, ehu_registry_remove_range(&self->mm.reg, TEXT + (u64)r[n].from,
							       TEXT + (u64)r[n].to));
		EXPECT_EQ(r[n].gone, !handle_at(&self->mm, TEXT));
		EXPECT_EQ(r[n].gone ? -ENOENT : 0, ehu_registry_remove(&self->mm.reg,
								       self->added.handle));
	}
	for (u32 n = 0; n < EHF_ARRAY_SIZE(spots); n++) {
		ASSERT_EQ(0, add(self));
		EXPECT_EQ(1, ehu_registry_remove_range(&self->mm.reg, spots[n], spots[n] + 1));
	}
	ASSERT_EQ(0, add(self));
	EXPECT_EQ(0, ehu_registry_remove_range(&self->mm.reg, self->b.s.hdr_end, B_BASE + B_SIZE));
}

static FIXTURE_DATA(reg) *racing;
static u32 race_at;

/* Memory whose nth read unmaps the text, as another thread might. */
static bool racing_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	bool ok = b_read(mem, addr, dst, len);

	if (racing->b.reads == race_at)
		ehu_registry_remove_range(&racing->mm.reg, TEXT, TEXT + 1);
	return ok;
}

/* R13: unmapped between the look at the header and the place in the table: not registered. */
TEST_F(reg, unmapped_while_it_is_added)
{
	u32 reads;

	ASSERT_EQ(0, add(self));
	reads = self->b.reads;
	EXPECT_EQ(0, ehu_registry_remove(&self->mm.reg, self->added.handle));
	racing = self;
	for (race_at = 1; race_at <= reads; race_at++) {
		b_memory(&self->b, B_COPY);
		self->b.mem.read = racing_read;
		EXPECT_EQ(-EFAULT, ehu_registry_add(&self->mm.reg, &self->b.ctx, &self->args,
						    &self->added));
		EXPECT_EQ(0, handle_at(&self->mm, TEXT));
	}
	EXPECT_EQ(0, add(self));
}

/* R14: the header is read once; what was checked is what is used. */
TEST_F(reg, header_bytes_are_fetched_once)
{
	ASSERT_EQ(0, add(self));
	for (u64 addr = self->b.s.hdr; addr < self->b.s.hdr + 12; addr++)
		EXPECT_EQ(1, self->b.fetched[addr - B_BASE]);
}

TEST_F(reg, fork_keeps_handles_and_shares_nothing)
{
	unsigned long generation;

	self->text[1] = (struct ehu_text){ TEXT + 0x3000, TEXT + 0x3100 };
	self->args.nr_texts = 2;
	ASSERT_EQ(0, add(self));
	generation = self->mm.reg.sections.generation;
	ASSERT_EQ(0, ehu_registry_dup(&self->child.reg, &self->mm.reg));
	EXPECT_EQ(self->added.handle, handle_at(&self->child, TEXT));
	EXPECT_EQ(self->added.handle, handle_at(&self->child, TEXT + 0x3000));
	EXPECT_EQ(0, handle_at(&self->child, TEXT + 0x2000));
	EXPECT_EQ(generation, self->mm.reg.sections.generation);
	EXPECT_NE(generation, self->child.reg.sections.generation);
	EXPECT_EQ(4, k.live);
	EXPECT_EQ(0, ehu_registry_remove(&self->mm.reg, self->added.handle));
	EXPECT_EQ(self->added.handle, handle_at(&self->child, TEXT));
	EXPECT_EQ(0, ehu_registry_remove(&self->child.reg, self->added.handle));
	EXPECT_EQ(0, handle_at(&self->child, TEXT + 0x3000));
}

TEST_F(reg, fork_is_rolled_back)
{
	int allocs;

	for (u64 n = 0; n < 5; n++) {
		self->text[0] = (struct ehu_text){ TEXT + 0x100 * n, TEXT + 0x100 * n + 0x80 };
		self->text[1] = (struct ehu_text){ TEXT + 0x3000 + 0x100 * n,
						   TEXT + 0x3000 + 0x100 * n + 0x80 };
		self->args.nr_texts = 2;
		ASSERT_EQ(0, add(self));
	}
	k.allocs = 0;
	ASSERT_EQ(0, ehu_registry_dup(&self->child.reg, &self->mm.reg));
	allocs = k.allocs;
	EXPECT_EQ(6, allocs);
	ehu_registry_drop(&self->child.reg);
	for (int n = 1; n <= allocs; n++) {
		k.allocs = 0;
		k.fail_alloc = n;
		EXPECT_EQ(-ENOMEM, ehu_registry_dup(&self->child.reg, &self->mm.reg));
		EXPECT_EQ(6, k.live);
		EXPECT_NULL(self->child.reg.table);
	}
	k.fail_alloc = 0;
	EXPECT_EQ(0, ehu_registry_dup(&self->child.reg, &self->mm.reg));
	EXPECT_EQ(12, k.live);
}

TEST_F(reg, exec_drops_everything)
{
	unsigned long generation;

	ASSERT_EQ(0, add(self));
	generation = self->mm.reg.sections.generation;
	ehu_registry_drop(&self->mm.reg);
	EXPECT_EQ(0, k.live);
	EXPECT_EQ(0, handle_at(&self->mm, TEXT));
	EXPECT_NE(generation, self->mm.reg.sections.generation);
	ehu_registry_drop(&self->mm.reg);
	EXPECT_EQ(0, add(self));
}

/* Removed under a walk's feet: it goes on with what it found, and no longer. */
TEST_F(reg, a_walk_keeps_what_it_found)
{
	const struct ehf_section *s;
	u32 key;

	ASSERT_EQ(0, add(self));
	key = ehu_registry_enter(&self->mm.reg);
	s = self->mm.reg.sections.find(&self->mm.reg.sections, TEXT);
	ASSERT_NE(NULL, s);
	EXPECT_EQ(0, ehu_registry_remove(&self->mm.reg, self->added.handle));
	EXPECT_EQ(1, k.nr_retired);	/* the section */
	EXPECT_NULL(self->mm.reg.sections.find(&self->mm.reg.sections, TEXT));
	self->text[0] = (struct ehu_text){ TEXT + 0x200, TEXT + 0x300 };
	ASSERT_EQ(0, add(self));
	EXPECT_EQ(2, k.nr_retired);	/* and the table that it was in */
	ehu_registry_drop(&self->mm.reg);
	EXPECT_EQ(4, k.nr_retired);
	EXPECT_EQ(self->b.s.hdr, s->hdr);	/* for ASan */
	/* Corrupt, says the walk: gone already, nothing happens. */
	self->mm.reg.sections.corrupt(&self->mm.reg.sections, s, EHF_STOP_BAD_CIE);
	EXPECT_EQ(4, k.nr_retired);
	ehu_registry_leave(&self->mm.reg, key);
	EXPECT_EQ(0, k.live);
}

/* R13, R14: another section at the same addresses; caches and memos know the difference. */
TEST_F(reg, added_again_at_the_same_address)
{
	static struct ehu_slot slot[64];
	struct ehu_row_cache cache;
	struct ehf_memo memo;
	struct ehu_trace t;
	u64 first;
	u32 sp_row;

	memset(&memo, 0, sizeof(memo));
	ASSERT_EQ(0, ehu_row_cache_init(&cache, slot, 64));
	ASSERT_EQ(0, add(self));
	first = self->added.handle;
	b_memory(&self->b, B_DIRECT);	/* rows in a cache are for stacks at hand */
	for (int n = 0; n < 2; n++) {
		walk(self, &self->mm, TEXT + 4, &t, &cache, &memo);
		ASSERT_EQ(3, t.nr);
		EXPECT_EQ(self->stack + 8, t.entry[1].sp);
		EXPECT_EQ(self->stack + 24, t.entry[2].sp);
	}
	EXPECT_LT(0, cache.hits);
	EXPECT_EQ(0, ehu_registry_remove(&self->mm.reg, first));
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, walk(self, &self->mm, TEXT + 4, &t, &cache, &memo));
	EXPECT_EQ(1, t.nr);
	/* The CIE says rsp + 16 now, and so does the first row. */
	sp_row = (u32)(self->b.s.eh_frame - B_BASE) + 4 + 4 + 1 + 3 + 1 + 1 + 1 + 1 + 1 + 2;
	ASSERT_EQ(8, self->b.buf[sp_row]);
	self->b.buf[sp_row] = 24;
	ASSERT_EQ(0, add(self));
	EXPECT_NE(first, self->added.handle);
	EXPECT_EQ(-ENOENT, ehu_registry_remove(&self->mm.reg, first));
	b_memory(&self->b, B_DIRECT);
	walk(self, &self->mm, TEXT + 4, &t, &cache, &memo);
	EXPECT_EQ(self->stack + 24, t.entry[1].sp);
	EXPECT_EQ(0x666, t.entry[1].ip);
}

/* R2: of all reasons why a walk stops, exactly those of class corrupt cost the section. */
TEST_F(reg, only_corrupt_removes)
{
	int removed = 0, kept = 0;

	for (int stop = 0; stop < EHF_NR_STOPS; stop++) {
		const struct ehf_section *s;
		bool gone;
		u32 key;

		ASSERT_EQ(0, add(self));
		key = ehu_registry_enter(&self->mm.reg);
		s = self->mm.reg.sections.find(&self->mm.reg.sections, TEXT);
		self->mm.reg.sections.corrupt(&self->mm.reg.sections, s, (enum ehf_stop)stop);
		ehu_registry_leave(&self->mm.reg, key);
		gone = !handle_at(&self->mm, TEXT);
		EXPECT_EQ(ehf_stop_class((enum ehf_stop)stop) == EHF_CLASS_CORRUPT, gone) {
			TH_LOG("%s", ehf_stop_name((enum ehf_stop)stop));
		}
		removed += gone;
		kept += !gone;
		ehu_registry_drop(&self->mm.reg);
	}
	EXPECT_EQ(5, removed);
	TH_LOG("%d reasons remove a section, %d do not", removed, kept);
}

/* The same with real bytes: what is wrong, the stop, and whether the section is still there. */
TEST_F(reg, what_a_walk_makes_of_bad_bytes)
{
	struct ehf_section *s = &self->b.s;
	const u32 hdr = (u32)(s->hdr - B_BASE), cie = (u32)(s->eh_frame - B_BASE);
	const u32 fde0 = (u32)(self->fde[0] - B_BASE);
	const struct {
		u32 at, value, len;
		enum ehf_stop stop;
		bool gone;
	} bad[] = {
		{ hdr + 16, 0x7fffffff, 4, EHF_STOP_BAD_TABLE, true },
		{ fde0, 0x7fffffff, 4, EHF_STOP_BAD_RECORD_LENGTH, true },
		{ fde0, 0xfffffff1, 4, EHF_STOP_BAD_RECORD_LENGTH, true },
		{ fde0 + 4, 0x7fffffff, 4, EHF_STOP_BAD_CIE_POINTER, true },
		{ fde0 + 4, 0, 4, EHF_STOP_BAD_CIE_POINTER, true },
		{ cie + 12, 0, 1, EHF_STOP_BAD_CIE, true },		/* code alignment */
		{ cie + 8, 9, 1, EHF_STOP_CIE_VERSION, false },
		{ cie + 9, 'q', 1, EHF_STOP_AUGMENTATION, false },
		{ cie + 16, 0x2b, 1, EHF_STOP_ENCODING, false },	/* text-relative */
		{ cie + 17, 0x3f, 1, EHF_STOP_OPCODE, false },
		{ cie + 17, 0x0b, 1, EHF_STOP_RESTORE_EMPTY, false },
		{ cie + 17, 0x41, 1, EHF_STOP_CIE_ADVANCES, false },
		{ cie + 17, 0x30010f, 3, EHF_STOP_EXPRESSION, false },	/* lit0 */
		{ fde0 + 8, 0, 4, EHF_STOP_TABLE_MISMATCH, false },
		{ hdr + 12, 0x7ffffff, 4, EHF_STOP_NO_FDE, false },
	};

	for (u32 n = 0; n < EHF_ARRAY_SIZE(bad); n++) {
		struct ehu_trace t;
		u32 at = bad[n].at;

		build(self);
		b_poke(&self->b, at, bad[n].value, bad[n].len);
		ASSERT_EQ(0, add(self));
		EXPECT_EQ(bad[n].stop, walk(self, &self->mm, TEXT + 4, &t, NULL, NULL)) {
			TH_LOG("number %u: %s", n, ehf_stop_name(t.stop));
		}
		EXPECT_EQ(1, t.nr);
		EXPECT_EQ(bad[n].gone, !handle_at(&self->mm, TEXT)) {
			TH_LOG("number %u", n);
		}
		if (bad[n].gone) {
			EXPECT_EQ(EHU_EVENT_CORRUPT, k.event[k.nr_events - 1].kind);
			EXPECT_EQ(bad[n].stop, k.event[k.nr_events - 1].stop);
			EXPECT_EQ(self->added.handle, k.event[k.nr_events - 1].handle);
		}
		k.now += EHU_DEBUG_MS;
		k.nr_events = 0;
		ehu_registry_drop(&self->mm.reg);
	}
}

/* A malformed program costs its own FDE: the one next to it goes on. */
TEST_F(reg, malformed_costs_one_fde)
{
	struct ehu_trace t;

	b_poke(&self->b, (u32)(self->fde[1] - B_BASE) + 17, 0x0b, 1);	/* restore_state */
	ASSERT_EQ(0, add(self));
	EXPECT_EQ(EHF_STOP_RESTORE_EMPTY, walk(self, &self->mm, TEXT + 4, &t, NULL, NULL));
	EXPECT_EQ(2, t.nr);
	EXPECT_NE(0, handle_at(&self->mm, TEXT));
	EXPECT_EQ(EHF_STOP_RESTORE_EMPTY, walk(self, &self->mm, TEXT + 20, &t, NULL, NULL));
	EXPECT_EQ(1, t.nr);
}

/* Every read of a walk fails once: a prefix of the trace, and the section stays. */
TEST_F(reg, faults_keep_the_section)
{
	struct ehu_trace t;
	u32 reads, n, nr;

	ASSERT_EQ(0, add(self));
	b_memory(&self->b, B_COPY);
	walk(self, &self->mm, TEXT + 4, &t, NULL, NULL);
	reads = self->b.reads;
	nr = t.nr;
	EXPECT_EQ(3, nr);
	for (n = 1; n <= reads; n++) {
		b_memory(&self->b, B_COPY);
		self->b.fault_at = n;
		walk(self, &self->mm, TEXT + 4, &t, NULL, NULL);
		EXPECT_EQ(EHF_CLASS_FAULT, ehf_stop_class(t.stop)) {
			TH_LOG("read %u: %s", n, ehf_stop_name(t.stop));
		}
		EXPECT_LT(t.nr, nr);
		EXPECT_EQ(self->added.handle, handle_at(&self->mm, TEXT));
	}
	self->b.fault_at = 0;
}

TEST_F(reg, messages_come_at_a_limited_rate)
{
	k.now = 1000;
	for (int n = 0; n < 8; n++) {
		ASSERT_EQ(0, add(self));
		EXPECT_EQ(0, ehu_registry_remove(&self->mm.reg, self->added.handle));
	}
	EXPECT_EQ(EHU_DEBUG_BURST, k.nr_events);
	for (int n = 0; n < k.nr_events; n++) {
		EXPECT_EQ(n & 1 ? EHU_EVENT_REMOVED : EHU_EVENT_ADDED, k.event[n].kind);
		EXPECT_EQ(TEXT, k.event[n].start);
		EXPECT_EQ(TEXT + 0x100, k.event[n].end);
		EXPECT_EQ(0, k.event[n].suppressed);
	}
	k.now += EHU_DEBUG_MS - 1;
	ASSERT_EQ(0, add(self));
	EXPECT_EQ(EHU_DEBUG_BURST, k.nr_events);
	k.now++;
	EXPECT_EQ(-EEXIST, add(self));
	ASSERT_EQ(EHU_DEBUG_BURST + 1, k.nr_events);
	EXPECT_EQ(EHU_EVENT_REFUSED, k.event[EHU_DEBUG_BURST].kind);
	EXPECT_EQ(-EEXIST, k.event[EHU_DEBUG_BURST].err);
	EXPECT_EQ(7, k.event[EHU_DEBUG_BURST].suppressed);
}

/* The generation is another after each change, in any mm, and the same after none. */
TEST_F(reg, generations)
{
	unsigned long *g = &self->mm.reg.sections.generation, last = *g;

	EXPECT_NE(0, *g);
	EXPECT_NE(*g, self->child.reg.sections.generation);
	ASSERT_EQ(0, add(self));
	EXPECT_NE(last, *g);
	last = *g;
	EXPECT_EQ(-EEXIST, add(self));
	EXPECT_EQ(-ENOENT, ehu_registry_remove(&self->mm.reg, 12345));
	EXPECT_EQ(0, ehu_registry_remove_range(&self->mm.reg, 0, 5));
	EXPECT_EQ(last, *g);
	EXPECT_EQ(1, ehu_registry_remove_range(&self->mm.reg, TEXT, TEXT + 1));
	EXPECT_NE(last, *g);
	ASSERT_EQ(0, add(self));
	last = *g;
	EXPECT_EQ(0, ehu_registry_remove(&self->mm.reg, self->added.handle));
	EXPECT_NE(last, *g);
}

TEST_F_TIMEOUT(reg, there_is_room_for_so_many_ranges, 300)
{
	u64 at = TEXT + 0x3000;
	u32 nr = 0;
	int ret;

	self->mm.map[3].end = at + 16 * EHU_MAX_RANGES * 2;
	self->args.nr_texts = EHU_MAX_TEXTS;
	do {
		for (u32 n = 0; n < EHU_MAX_TEXTS; n++, at += 16)
			self->text[n] = (struct ehu_text){ at, at + 8 };
		ret = add(self);
		nr += ret ? 0 : EHU_MAX_TEXTS;
	} while (!ret && nr <= EHU_MAX_RANGES);
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_EQ(EHU_MAX_RANGES, nr);
	EXPECT_EQ(self->mm.reg.table->range[5].start, TEXT + 0x3050);
	EXPECT_NE(0, handle_at(&self->mm, TEXT + 0x3000 + 16 * 20000));
	/* A place that becomes free can be had again. */
	EXPECT_LE(EHU_MAX_TEXTS, ehu_registry_remove_range(&self->mm.reg, TEXT + 0x3000,
						      TEXT + 0x3200));
	EXPECT_EQ(0, add(self));
}

TEST_HARNESS_MAIN
