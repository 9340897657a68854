// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Processes and their mappings: exec, fork, reuse of addresses and of numbers, epochs, bounds.
 */
#include "harness/task.h"
#include "selftests/kselftest_harness.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#define AT	0x7f0000000000ULL
#define PID	100

FIXTURE(task)
{
	struct pager *pager;
	struct modules *mods;
	struct task_table *t;
	char dir[64];
	char a[128];	/* two files of one layout */
	char b[128];
	struct image *img;
	const struct image_segment *text;
};

FIXTURE_SETUP(task)
{
	struct module_params params = { 0 };
	struct image_error err;
	char cmd[512];

	strcpy(self->dir, "/tmp/task_maps.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->a, sizeof(self->a), "%s/a", self->dir);
	snprintf(self->b, sizeof(self->b), "%s/b", self->dir);
	snprintf(cmd, sizeof(cmd), "cp /proc/$PPID/exe %s; cp /proc/$PPID/exe %s", self->a,
		 self->b);
	ASSERT_EQ(0, system(cmd));
	ASSERT_EQ(IMAGE_OK, image_open(self->a, &self->img, &err));
	for (u32 k = 0; k < self->img->nr_segs; k++) {
		if (self->img->seg[k].flags & PF_X)
			self->text = &self->img->seg[k];
	}
	ASSERT_NE(NULL, self->text);
	self->pager = pager_new(NULL);
	params.pager = self->pager;
	self->mods = module_table_new(&params);
	self->t = task_table_new(self->mods);
	ASSERT_NE(NULL, self->t);
}

FIXTURE_TEARDOWN(task)
{
	char cmd[128];

	task_table_free(self->t);
	module_table_free(self->mods);
	pager_free(self->pager);
	image_close(self->img);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", self->dir);
	EXPECT_EQ(0, system(cmd));
}

static void map_raw(struct task_table *t, u32 pid, const char *name, u64 addr, u64 len, u64 pgoff,
		    u32 prot)
{
	static struct perf_event_rec rec;

	rec = (struct perf_event_rec){
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER, .pid = pid, .tid = pid,
		.mmap = { .addr = addr, .len = len, .pgoff = pgoff, .has_prot = true,
			  .prot = prot, .data = !(prot & PROT_EXEC), .name = name },
	};
	task_record(t, &rec);
}

static u64 pages(u64 v)
{
	return (v + 4095) & ~4095ULL;
}

static u64 text_addr(const struct image_segment *text, u64 bias)
{
	return bias + (text->addr & ~4095ULL);
}

static u64 text_len(const struct image_segment *text)
{
	return pages(text->file_end) - (text->addr & ~4095ULL);
}

/* The text of a file at a bias. */
static void map_text(struct task_table *t, u32 pid, const struct image_segment *text,
		     const char *name, u64 bias)
{
	map_raw(t, pid, name, text_addr(text, bias), text_len(text), text->pos & ~4095ULL,
		PROT_READ | PROT_EXEC);
}

static void anon(struct task_table *t, u32 pid, u64 addr, u64 len)
{
	map_raw(t, pid, "//anon", addr, len, 0, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static void comm(struct task_table *t, u32 pid, u32 tid, const char *name, bool exec)
{
	static struct perf_event_rec rec;

	rec = (struct perf_event_rec){
		.type = PERF_RECORD_COMM, .pid = pid, .tid = tid,
		.comm = { .exec = exec, .name = name },
	};
	task_record(t, &rec);
}

static void forks(struct task_table *t, u32 ppid, u32 pid, u32 tid, u16 misc)
{
	static struct perf_event_rec rec;

	rec = (struct perf_event_rec){
		.type = PERF_RECORD_FORK, .misc = misc, .pid = pid, .tid = tid,
		.task = { .ppid = ppid, .ptid = ppid },
	};
	task_record(t, &rec);
}

static void exits(struct task_table *t, u32 pid, u32 tid)
{
	static struct perf_event_rec rec;

	rec = (struct perf_event_rec){ .type = PERF_RECORD_EXIT, .pid = pid, .tid = tid };
	task_record(t, &rec);
}

/* Ranges in order, without overlaps, with their counts right. */
static bool sound(const struct task_maps *maps)
{
	for (u32 k = 0; k < maps->nr; k++) {
		if (maps->range[k].start >= maps->range[k].end || !maps->range[k].module ||
		    (k && maps->range[k - 1].end > maps->range[k].start))
			return false;
	}
	return true;
}

static const struct ehf_section *section_at(struct task_maps *maps, u64 addr)
{
	const struct ehu_map *map = task_text(maps);

	return map->sections.find(&map->sections, addr);
}

TEST_F(task, text_brings_its_segments)
{
	struct task_maps *maps;
	const struct task_range *r;

	map_text(self->t, PID, self->text, self->a, AT);
	maps = task_find(self->t, PID)->maps;
	EXPECT_TRUE(sound(maps));
	EXPECT_EQ(&ehu_arch_x86_64, maps->arch);
	EXPECT_STREQ(self->a, maps->main->path);
	r = task_range_at(maps, self->text->addr + AT);
	ASSERT_NE(NULL, r);
	EXPECT_EQ((u32)TASK_TEXT, r->flags);
	EXPECT_EQ(AT, r->place->bias);
	/* .eh_frame_hdr is where its program header says, at the bias of the text. */
	r = task_range_at(maps, self->img->section.hdr + AT);
	ASSERT_NE(NULL, r);
	EXPECT_TRUE(r->flags & TASK_IMPLIED);
	EXPECT_FALSE(r->flags & TASK_WRITABLE);
	EXPECT_EQ(image_segment_at(self->img, self->img->section.hdr)->pos +
		  (self->img->section.hdr - image_segment_at(self->img,
							     self->img->section.hdr)->addr),
		  r->pos + (self->img->section.hdr + AT - r->start));
	for (u32 k = 0; k < self->img->nr_segs; k++) {
		const struct image_segment *s = &self->img->seg[k];

		r = task_range_at(maps, s->addr + AT);
		ASSERT_NE(NULL, r);
		EXPECT_EQ(!!(s->flags & PF_W), !!(r->flags & TASK_WRITABLE));
	}
	EXPECT_NE(NULL, section_at(maps, self->text->addr + AT));
	EXPECT_EQ(NULL, section_at(maps, self->img->section.hdr + AT));
	EXPECT_EQ(1, maps->nr_places);
	EXPECT_NE(0, maps->text.sections.generation);
	EXPECT_EQ(NULL, task_range_at(maps, 0x1000));
}

TEST_F(task, exec_drops_all)
{
	struct task_maps *maps;
	u64 epoch, generation;

	map_text(self->t, PID, self->text, self->a, AT);
	maps = task_find(self->t, PID)->maps;
	epoch = maps->epoch;
	generation = maps->generation;
	comm(self->t, PID, PID, "renamed", false);
	EXPECT_EQ(epoch, task_find(self->t, PID)->maps->epoch);
	EXPECT_STREQ("renamed", task_find(self->t, PID)->comm);
	comm(self->t, PID, PID + 1, "thread", false);
	EXPECT_STREQ("renamed", task_find(self->t, PID)->comm);
	comm(self->t, PID, PID, "a name that is longer than what is kept of it", true);
	maps = task_find(self->t, PID)->maps;
	EXPECT_EQ(0, maps->nr);
	EXPECT_EQ(NULL, maps->arch);
	EXPECT_EQ(NULL, maps->main);
	EXPECT_NE(epoch, maps->epoch);
	EXPECT_NE(generation, maps->generation);
	EXPECT_EQ(31, strlen(task_find(self->t, PID)->comm));
	EXPECT_EQ(1, self->t->stats.execs);
	EXPECT_EQ(0, self->t->nr_ranges);
}

/* dlclose() leaves no record: it shows when another file has the addresses. */
TEST_F(task, reuse_after_dlclose)
{
	struct task_maps *maps;
	u64 epoch, generation;

	map_text(self->t, PID, self->text, self->a, AT);
	maps = task_find(self->t, PID)->maps;
	epoch = maps->epoch;
	generation = maps->generation;
	task_text(maps);
	/* The same file at the same place: nothing is new. */
	map_text(self->t, PID, self->text, self->a, AT);
	EXPECT_EQ(epoch, maps->epoch);
	/* Another one elsewhere: one more. */
	map_text(self->t, PID, self->text, self->b, 2 * AT);
	EXPECT_EQ(epoch, maps->epoch);
	EXPECT_NE(generation, maps->generation);
	task_text(maps);
	EXPECT_EQ(2, maps->nr_places);
	/* Its last page lies where the first one's text begins: that one is gone, all of it. */
	map_text(self->t, PID, self->text, self->b, AT - 4096 * (text_len(self->text) / 4096 - 1));
	EXPECT_NE(epoch, maps->epoch);
	EXPECT_EQ(1, self->t->stats.epochs);
	EXPECT_TRUE(sound(maps));
	task_text(maps);
	EXPECT_EQ(2, maps->nr_places);
	for (u32 k = 0; k < maps->nr; k++)
		EXPECT_STREQ(self->b, maps->range[k].module->path);
}

/* Text that a program copies to huge pages: what is not covered stays. */
TEST_F(task, memory_over_text)
{
	u64 at = text_addr(self->text, AT), len = text_len(self->text);
	struct task_maps *maps;
	u64 epoch;

	if (len < 3 * 4096)
		SKIP(return, "the text is too small");
	map_text(self->t, PID, self->text, self->a, AT);
	maps = task_find(self->t, PID)->maps;
	epoch = maps->epoch;
	anon(self->t, PID, at + 4096, 4096);
	EXPECT_TRUE(sound(maps));
	EXPECT_NE(epoch, maps->epoch);
	EXPECT_NE(NULL, section_at(maps, at));
	EXPECT_EQ(NULL, section_at(maps, at + 4096));
	EXPECT_EQ(NULL, section_at(maps, at + 8191));
	EXPECT_NE(NULL, section_at(maps, at + 8192));
	EXPECT_EQ((self->text->pos & ~4095ULL) + 8192, task_range_at(maps, at + 8192)->pos);
}

TEST_F(task, zeros_behind_data_begin_no_epoch)
{
	struct task_maps *maps;
	u64 epoch;

	map_text(self->t, PID, self->text, self->a, AT);
	maps = task_find(self->t, PID)->maps;
	epoch = maps->epoch;
	for (u32 k = 0; k < self->img->nr_segs; k++) {
		if (self->img->seg[k].flags & PF_W)
			anon(self->t, PID, pages(self->img->seg[k].addr) + AT, 4096);
	}
	EXPECT_EQ(epoch, maps->epoch);
	EXPECT_TRUE(sound(maps));
}

/* V8 maps part of its own text a second time: no section describes it there. */
TEST_F(task, alias_of_text)
{
	u64 at = text_addr(self->text, AT), pos = self->text->pos & ~4095ULL;
	struct task_maps *maps;
	const struct task_range *r;
	u32 nr;

	if (text_len(self->text) < 3 * 4096)
		SKIP(return, "the text is too small");
	map_text(self->t, PID, self->text, self->a, AT);
	maps = task_find(self->t, PID)->maps;
	nr = maps->nr;
	map_raw(self->t, PID, self->a, 2 * AT, 4096, pos + 4096, PROT_READ | PROT_EXEC);
	EXPECT_EQ(nr + 1, maps->nr);
	r = task_range_at(maps, 2 * AT);
	ASSERT_NE(NULL, r);
	EXPECT_EQ(NULL, r->place);
	EXPECT_STREQ(self->a, r->module->path);
	EXPECT_EQ(1, r->module->no_segment);
	EXPECT_EQ(NULL, section_at(maps, 2 * AT));
	/* Part of it where it is already, and all of it elsewhere (dlmopen), are another matter. */
	map_raw(self->t, PID, self->a, at + 4096, 4096, pos + 4096, PROT_READ | PROT_EXEC);
	EXPECT_NE(NULL, section_at(maps, at + 4096));
	map_text(self->t, PID, self->text, self->a, 3 * AT);
	EXPECT_NE(NULL, section_at(maps, text_addr(self->text, 3 * AT)));
	task_text(maps);
	EXPECT_EQ(2, maps->nr_places);
	/* What is known of a process that runs already may begin in the middle. */
	map_raw(self->t, PID + 1, self->a, at + 4096, 4096, pos + 4096, PROT_READ | PROT_EXEC);
	EXPECT_NE(NULL, section_at(task_find(self->t, PID + 1)->maps, at + 4096));
}

/* perf records text only: data that a loader maps over it must not be read from the text's file. */
TEST_F(task, mapping_of_the_whole_span)
{
	u64 last = self->img->seg[self->img->nr_segs - 1].end;
	u64 at = text_addr(self->text, AT);
	struct task_maps *maps;
	const struct task_range *r;

	map_raw(self->t, PID, self->a, at, pages(last) - (at - AT), self->text->pos & ~4095ULL,
		PROT_READ | PROT_EXEC);
	maps = task_find(self->t, PID)->maps;
	EXPECT_TRUE(sound(maps));
	r = task_range_at(maps, at);
	ASSERT_NE(NULL, r);
	EXPECT_LE(r->end, at + text_len(self->text));
	for (u32 k = 0; k < self->img->nr_segs; k++) {
		if (!(self->img->seg[k].flags & PF_W))
			continue;
		r = task_range_at(maps, self->img->seg[k].addr + AT);
		ASSERT_NE(NULL, r);
		EXPECT_TRUE(r->flags & TASK_WRITABLE);
	}
}

/* Text that was writable once (relocations in it) is never the file's again. */
TEST_F(task, once_writable)
{
	u64 at = text_addr(self->text, AT), len = text_len(self->text);
	u64 pos = self->text->pos & ~4095ULL;
	struct task_maps *maps;

	map_raw(self->t, PID, self->a, at, len, pos, PROT_READ | PROT_WRITE | PROT_EXEC);
	maps = task_find(self->t, PID)->maps;
	EXPECT_TRUE(task_range_at(maps, at)->flags & TASK_WRITABLE);
	map_raw(self->t, PID, self->a, at, len, pos, PROT_READ | PROT_EXEC);
	EXPECT_TRUE(task_range_at(maps, at)->flags & TASK_WRITABLE);
	EXPECT_TRUE(task_range_at(maps, at)->flags & TASK_TEXT);
	EXPECT_NE(NULL, section_at(maps, at));
}

TEST_F(task, fork_shares_until_one_changes)
{
	struct task_maps *old, *child;
	u64 epoch;

	map_text(self->t, PID, self->text, self->a, AT);
	comm(self->t, PID, PID, "parent", false);
	old = task_find(self->t, PID)->maps;
	epoch = old->epoch;
	forks(self->t, PID, PID + 1, PID + 1, 0);
	child = task_find(self->t, PID + 1)->maps;
	EXPECT_EQ(old, child);
	EXPECT_STREQ("parent", task_find(self->t, PID + 1)->comm);
	/* A file in one of them is not in the other. */
	map_text(self->t, PID + 1, self->text, self->b, 2 * AT);
	child = task_find(self->t, PID + 1)->maps;
	EXPECT_NE(old, child);
	EXPECT_EQ(old, task_find(self->t, PID)->maps);
	EXPECT_NE(epoch, child->epoch);
	EXPECT_EQ(epoch, old->epoch);
	EXPECT_EQ(NULL, task_range_at(old, text_addr(self->text, 2 * AT)));
	EXPECT_NE(NULL, task_range_at(child, text_addr(self->text, 2 * AT)));
	EXPECT_NE(NULL, task_range_at(child, text_addr(self->text, AT)));
	EXPECT_NE(old->generation, child->generation);
	EXPECT_EQ(child->arch, old->arch);
	EXPECT_EQ(child->main, old->main);
	/* exec in the child leaves the parent alone. */
	forks(self->t, PID, PID + 2, PID + 2, 0);
	comm(self->t, PID + 2, PID + 2, "other", true);
	EXPECT_EQ(0, task_find(self->t, PID + 2)->maps->nr);
	EXPECT_EQ(epoch, task_find(self->t, PID)->maps->epoch);
	EXPECT_EQ(3, self->t->stats.forks + self->t->stats.execs);
}

/* Maps that somebody holds stay as they are. */
TEST_F(task, held_maps_do_not_change)
{
	struct task_maps *held;
	u32 nr;

	map_text(self->t, PID, self->text, self->a, AT);
	held = task_maps_hold(task_find(self->t, PID)->maps);
	nr = held->nr;
	map_text(self->t, PID, self->text, self->b, AT);
	EXPECT_EQ(nr, held->nr);
	EXPECT_STREQ(self->a, task_range_at(held, text_addr(self->text, AT))->module->path);
	EXPECT_NE(held, task_find(self->t, PID)->maps);
	comm(self->t, PID, PID, "x", true);
	EXPECT_NE(NULL, section_at(held, text_addr(self->text, AT)));
	task_maps_put(held);
}

TEST_F(task, threads_share)
{
	map_text(self->t, PID, self->text, self->a, AT);
	forks(self->t, PID, PID, PID + 1, 0);
	EXPECT_EQ(NULL, task_find(self->t, PID + 1));
	EXPECT_EQ(1, self->t->stats.threads);
	/* A thread ends, then the main one; what lives on can still be sampled. */
	exits(self->t, PID, PID + 1);
	EXPECT_FALSE(task_find(self->t, PID)->exited);
	exits(self->t, PID, PID);
	EXPECT_TRUE(task_find(self->t, PID)->exited);
	EXPECT_NE(0, task_find(self->t, PID)->maps->nr);
}

TEST_F(task, numbers_are_used_again)
{
	map_text(self->t, PID, self->text, self->a, AT);
	map_text(self->t, PID + 1, self->text, self->b, 2 * AT);
	exits(self->t, PID + 1, PID + 1);
	forks(self->t, PID, PID + 1, PID + 1, 0);
	EXPECT_FALSE(task_find(self->t, PID + 1)->exited);
	EXPECT_EQ(task_find(self->t, PID)->maps, task_find(self->t, PID + 1)->maps);
	/* Of a parent that is not known nothing is inherited, and nothing of the old process. */
	forks(self->t, 7, PID + 1, PID + 1, 0);
	EXPECT_EQ(0, task_find(self->t, PID + 1)->maps->nr);
}

/* perf makes FORK records up for processes that run already, and their mappings as well. */
TEST_F(task, made_up_forks_inherit_nothing)
{
	map_text(self->t, PID, self->text, self->a, AT);
	forks(self->t, PID, PID + 1, PID + 1, 1 << 13);
	EXPECT_EQ(0, task_find(self->t, PID + 1)->maps->nr);
}

TEST_F(task, what_is_no_mapping)
{
	struct perf_event_rec rec = {
		.type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_KERNEL, .pid = ~0U,
		.mmap = { .addr = 0xffffffff81000000, .len = 0x1000, .name = "[kernel.kallsyms]" },
	};

	task_record(self->t, &rec);
	rec.pid = PID;
	rec.misc = PERF_RECORD_MISC_GUEST_USER;
	task_record(self->t, &rec);
	EXPECT_EQ(2, self->t->stats.kernel_mmaps);
	rec.misc = PERF_RECORD_MISC_USER;
	rec.mmap.name = self->a;
	rec.mmap.len = 0;
	task_record(self->t, &rec);
	rec.mmap.len = ~0ULL - rec.mmap.addr + 1;
	task_record(self->t, &rec);
	rec.mmap.len = ~0ULL;
	task_record(self->t, &rec);
	EXPECT_EQ(3, self->t->stats.bad_mmaps);
	EXPECT_EQ(NULL, task_find(self->t, PID));
	rec.type = PERF_RECORD_SAMPLE;
	EXPECT_EQ(0, task_record(self->t, &rec));
}

/* Generated code: many small mappings side by side are one range. */
TEST_F(task, neighbours_merge)
{
	struct task_maps *maps;

	for (u64 k = 0; k < 1000; k++)
		anon(self->t, PID, AT + k * 4096, 4096);
	maps = task_find(self->t, PID)->maps;
	EXPECT_EQ(1, maps->nr);
	anon(self->t, PID, AT + 5000 * 4096, 4096);
	EXPECT_EQ(2, maps->nr);
	map_raw(self->t, PID, "[stack]", AT + 10 * 4096, 4096, 0, PROT_READ | PROT_WRITE);
	EXPECT_EQ(4, maps->nr);
	EXPECT_TRUE(sound(maps));
}

/* Mappings that no program makes: any address, any overlap; the ranges stay sound. */
TEST_F(task, random_mappings)
{
	const char *name[] = { self->a, self->b, "//anon", "[stack]", "/no/such/file" };
	struct task_maps *maps;
	u64 seed = 88172645463325252ULL;

	for (u32 k = 0; k < 4000; k++) {
		u64 r, addr;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		r = seed;
		addr = ((r >> 8 & 0xff) << 12) + (r >> 5 & 1 ? AT : 0);
		map_raw(self->t, PID + (r & 1), name[(r >> 1) % 5],
			addr - (r >> 6 & 1 ? 0x40000 : 0), ((r >> 16 & 0x3f) + 1) << 12,
			(r >> 24 & 0x3f) << 12, r >> 32 & 7);
		if (!(r >> 40 & 0x3f))
			forks(self->t, PID, PID + 1, PID + 1, 0);
		if (!(r >> 48 & 0xff))
			comm(self->t, PID, PID, "x", true);
		if (!task_find(self->t, PID))
			continue;
		maps = task_find(self->t, PID)->maps;
		ASSERT_TRUE(sound(maps));
		task_text(maps);
		for (u32 n = 1; n < maps->text.nr; n++)
			ASSERT_LE(maps->text.range[n - 1].end, maps->text.range[n].start);
	}
}

TEST_F(task, bounded)
{
	u32 pid;

	for (pid = 1; pid <= TASK_MAX + 100; pid++) {
		anon(self->t, pid, AT, 4096);
		if (pid & 1)
			exits(self->t, pid, pid);
	}
	EXPECT_EQ((u32)TASK_MAX, self->t->nr);
	EXPECT_EQ(100, self->t->stats.dropped_tasks);
	EXPECT_EQ((u64)TASK_MAX, self->t->nr_ranges);
	/* Those that had ended went first. */
	EXPECT_NE(NULL, task_find(self->t, 2));
	EXPECT_NE(NULL, task_find(self->t, TASK_MAX + 100));
}

TEST_F(task, ranges_are_bounded)
{
	struct task_maps *maps;

	for (u64 k = 0; k < TASK_MAX_RANGES + 10; k++)
		map_raw(self->t, PID, k & 1 ? "//anon" : "[heap]", 4096 * k, 4096, 0, PROT_READ);
	maps = task_find(self->t, PID)->maps;
	EXPECT_LE(maps->nr, (u32)TASK_MAX_RANGES);
	EXPECT_GT(self->t->stats.dropped_ranges, 0);
	EXPECT_TRUE(sound(maps));
}

TEST_HARNESS_MAIN
