// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Modules: which files are used, which are not and why, and the load bias of each layout.
 */
#include "harness/module.h"
#include "harness/vdso.h"
#include "selftests/kselftest_harness.h"

#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "harness/perf_proc.h"

FIXTURE(modules)
{
	struct pager *pager;
	struct modules *mods;
	char dir[64];
	char copy[128];		/* of this program */
	struct image *img;	/* the same */
	struct perf_rec_mmap map;
};

static bool run(const char *format, const char *arg, const char *to)
{
	char cmd[512];

	snprintf(cmd, sizeof(cmd), format, arg, to);
	return !system(cmd);
}

static bool write_file(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0700);
	bool ok = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* A mapping of a file as the kernel records it without build-id. */
static struct perf_rec_mmap map_of(const char *path)
{
	struct perf_rec_mmap map = {
		.addr = 0x7f0000000000, .len = 0x1000, .has_prot = true,
		.prot = PROT_READ | PROT_EXEC, .name = path,
	};
	struct stat st;

	if (!stat(path, &st)) {
		map.has_inode = true;
		map.maj = major(st.st_dev);
		map.min = minor(st.st_dev);
		map.ino = st.st_ino;
	}
	return map;
}

FIXTURE_SETUP(modules)
{
	struct module_params params = { 0 };
	struct image_error err;

	strcpy(self->dir, "/tmp/task_modules.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->copy, sizeof(self->copy), "%s/program", self->dir);
	ASSERT_TRUE(run("cp %s %s", "/proc/$PPID/exe", self->copy));
	ASSERT_EQ(IMAGE_OK, image_open(self->copy, &self->img, &err));
	self->pager = pager_new(NULL);
	params.pager = self->pager;
	self->mods = module_table_new(&params);
	ASSERT_NE(NULL, self->mods);
	self->map = map_of(self->copy);
}

FIXTURE_TEARDOWN(modules)
{
	module_table_free(self->mods);
	pager_free(self->pager);
	image_close(self->img);
	run("rm -rf %s %s", self->dir, "");
}

TEST_F(modules, by_inode)
{
	struct module *m = module_find(self->mods, &self->map, NULL);

	ASSERT_NE(NULL, m);
	EXPECT_STREQ("ok", module_status_name(m->status));
	EXPECT_STREQ("inode", module_identity_name(m->identity));
	EXPECT_STREQ("", m->why);
	EXPECT_EQ(&ehu_arch_x86_64, m->arch);
	EXPECT_EQ(self->img->nr_segs, m->nr_segs);
	EXPECT_EQ(m, module_find(self->mods, &self->map, NULL));
	EXPECT_EQ(m, module_first(self->mods));
	EXPECT_EQ(NULL, m->next);
	self->map.ino++;
	m = module_find(self->mods, &self->map, NULL);
	EXPECT_STREQ("stale", module_status_name(m->status));
	EXPECT_NE(NULL, strstr(m->why, "inode"));
	EXPECT_FALSE(module_usable(m));
	EXPECT_EQ(NULL, m->file);
}

TEST_F(modules, by_build_id)
{
	struct perf_rec_mmap map = { .addr = 0x1000, .len = 0x1000, .name = self->copy };
	struct module *m;

	if (!self->img->build_id_len || self->img->build_id_len > PERF_ABI_BUILD_ID_LEN)
		SKIP(return, "the linker wrote no build-id");
	map.build_id_size = (u8)self->img->build_id_len;
	memcpy(map.build_id, self->img->build_id, map.build_id_size);
	m = module_find(self->mods, &map, NULL);
	EXPECT_STREQ("ok", module_status_name(m->status));
	EXPECT_STREQ("build-id", module_identity_name(m->identity));
	map.build_id[3] ^= 1;
	m = module_find(self->mods, &map, NULL);
	EXPECT_STREQ("stale", module_status_name(m->status));
	EXPECT_NE(NULL, strstr(m->why, "build-id"));
	EXPECT_FALSE(module_usable(m));
	/* A prefix of the id is another id, one with zeros behind it is perf's table's. */
	map.build_id[3] ^= 1;
	map.build_id_size--;
	EXPECT_EQ(MODULE_STALE, module_find(self->mods, &map, NULL)->status);
}

static const u8 *table_id(void *arg, const char *path, u32 *size)
{
	const struct image *img = arg;

	if (strcmp(path, img->path))
		return NULL;
	*size = img->build_id_len;
	return img->build_id;
}

TEST_F(modules, by_the_headers_table)
{
	struct perf_rec_mmap map = { .addr = 0x1000, .len = 0x1000, .name = self->copy };
	struct module_params params = { .pager = self->pager, .build_id = table_id,
					.arg = self->img };
	struct modules *mods = module_table_new(&params);
	struct module *m;

	if (!self->img->build_id_len || self->img->build_id_len > PERF_ABI_BUILD_ID_LEN)
		SKIP(return, "the linker wrote no build-id");
	m = module_find(mods, &map, NULL);
	EXPECT_EQ(MODULE_OK, m->status);
	EXPECT_EQ(MODULE_ID_BUILD_ID, m->identity);
	/* The mapping's own id comes first. */
	map.build_id_size = 20;
	EXPECT_EQ(MODULE_STALE, module_find(mods, &map, NULL)->status);
	module_table_free(mods);
}

TEST_F(modules, unverified)
{
	struct module *m;

	self->map.min++;
	m = module_find(self->mods, &self->map, NULL);
	EXPECT_EQ(MODULE_OK, m->status);
	EXPECT_EQ(MODULE_ID_UNVERIFIED, m->identity);
	EXPECT_NE(NULL, strstr(m->why, "device"));
	self->map.has_inode = false;
	m = module_find(self->mods, &self->map, NULL);
	EXPECT_EQ(MODULE_OK, m->status);
	EXPECT_EQ(MODULE_ID_UNVERIFIED, m->identity);
	EXPECT_TRUE(module_usable(m));
}

TEST_F(modules, below_a_prefix)
{
	struct module_params params = { .pager = self->pager, .symfs = self->dir };
	struct modules *mods = module_table_new(&params);
	struct perf_rec_mmap map = map_of("/program");
	struct module *m = module_find(mods, &map, NULL);

	EXPECT_EQ(MODULE_OK, m->status);
	EXPECT_STREQ("/program", m->path);
	EXPECT_STREQ(self->copy, m->file_path);
	EXPECT_EQ(MODULE_ID_UNVERIFIED, m->identity);
	map.name = "/program2";
	EXPECT_EQ(MODULE_DELETED, module_find(mods, &map, NULL)->status);
	module_table_free(mods);
}

TEST_F(modules, not_to_be_used)
{
	static const struct { const char *name, *status; } row[] = {
		{ "/usr/bin/gone (deleted)", "deleted" },
		{ "/no/such/file", "deleted" },
		{ "/dev/null/x", "deleted" },
		{ "/dev/null", "not-elf" },
		{ "/tmp", "not-elf" },
		{ "//anon", "anonymous" },
		{ "", "anonymous" },
		{ "/memfd:jit (deleted)", "anonymous" },
		{ "/dev/zero (deleted)", "anonymous" },
		{ "[anon:v8]", "anonymous" },
		{ "anon_inode:[perf_event]", "anonymous" },
		{ "[stack]", "special" },
		{ "[vsyscall]", "special" },
		{ "[heap]", "special" },
		{ "//toolong", "special" },
		{ "relative", "special" },
	};

	for (size_t k = 0; k < EHF_ARRAY_SIZE(row); k++) {
		struct perf_rec_mmap map = { .addr = 0x1000, .len = 0x1000, .name = row[k].name };
		struct module *m = module_find(self->mods, &map, NULL);

		ASSERT_NE(NULL, m);
		EXPECT_STREQ(row[k].status, module_status_name(m->status)) {
			TH_LOG("of %s", row[k].name);
		}
		EXPECT_FALSE(module_usable(m));
		EXPECT_EQ(NULL, m->file);
		EXPECT_STRNE("", m->why);
		EXPECT_EQ(-1, module_dup_fd(m));
	}
}

/* The smallest image: a header, a PT_LOAD, and no CFI. */
struct tiny {
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	u8 text[64];
};

static struct tiny tiny_elf(void)
{
	struct tiny t = {
		.eh = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			.e_phoff = sizeof(t.eh), .e_ehsize = sizeof(t.eh), .e_phnum = 1,
			.e_phentsize = sizeof(t.ph),
		},
		.ph = {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = sizeof(t),
			.p_memsz = sizeof(t), .p_align = 4096,
		},
	};

	return t;
}

TEST_F(modules, files_of_other_kinds)
{
	Elf32_Ehdr small = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_PPC, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(small),
	};
	struct tiny t = tiny_elf();
	struct module_place *pl;
	struct ehf_fde fde = { 0 };
	struct ehf_found found;
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = { .abi = &ehu_arch_x86_64.abi, .limits = &ehf_limits_walk,
			       .cost = &cost };
	char path[128];
	struct module *m;

	self->map.name = path;
	self->map.has_inode = false;
	snprintf(path, sizeof(path), "%s/text", self->dir);
	ASSERT_TRUE(write_file(path, "#!/bin/sh\n", 10));
	EXPECT_EQ(MODULE_NOT_ELF, module_find(self->mods, &self->map, NULL)->status);
	snprintf(path, sizeof(path), "%s/empty", self->dir);
	ASSERT_TRUE(write_file(path, "", 0));
	EXPECT_EQ(MODULE_NOT_ELF, module_find(self->mods, &self->map, NULL)->status);
	snprintf(path, sizeof(path), "%s/ppc", self->dir);
	ASSERT_TRUE(write_file(path, &small, sizeof(small)));
	EXPECT_EQ(MODULE_OTHER_MACHINE, module_find(self->mods, &self->map, NULL)->status);
	snprintf(path, sizeof(path), "%s/cut", self->dir);
	ASSERT_TRUE(write_file(path, &t, sizeof(t) - 1));
	EXPECT_EQ(MODULE_DAMAGED, module_find(self->mods, &self->map, NULL)->status);
	snprintf(path, sizeof(path), "%s/fifo", self->dir);
	ASSERT_EQ(0, mkfifo(path, 0600));
	EXPECT_EQ(MODULE_NOT_ELF, module_find(self->mods, &self->map, NULL)->status);

	/* Its section is one in which nothing is found, without a byte read. */
	snprintf(path, sizeof(path), "%s/tiny", self->dir);
	ASSERT_TRUE(write_file(path, &t, sizeof(t)));
	m = module_find(self->mods, &self->map, NULL);
	EXPECT_STREQ("no-cfi", module_status_name(m->status));
	EXPECT_TRUE(module_usable(m));
	pl = module_place_get(m, 0x5000);
	ASSERT_NE(NULL, pl);
	EXPECT_EQ(EHF_STOP_NONE, pl->stop);
	EXPECT_EQ(EHF_STOP_NO_FDE, ehf_fde_find(&ctx, &pl->section, 0x5010, &fde, &found));
	EXPECT_EQ(0, cost.reads);
	module_place_put(pl);
}

TEST_F(modules, a_file_that_may_not_be_read)
{
	struct module *m;

	ASSERT_EQ(0, chmod(self->copy, 0));
	if (!getuid() && seteuid(65534))
		SKIP(return, "cannot become another user");
	self->map.has_inode = false;
	m = module_find(self->mods, &self->map, NULL);
	EXPECT_EQ(0, seteuid(getuid()));
	/* The directory is closed to others too, which ends the same way. */
	EXPECT_STREQ("unreadable", module_status_name(m->status));
	EXPECT_NE(NULL, strstr(m->why, "Permission denied"));
}

TEST_F(modules, own_vdso)
{
	struct perf_rec_mmap map = { .addr = 0x7fff00001000, .pgoff = 0x123000, .name = "[vdso]" };
	struct module_params params = { .pager = self->pager, .no_vdso = true };
	struct modules *mods = module_table_new(&params);
	const struct image_segment *seg;
	size_t size;
	struct module *m;
	u64 bias;

	if (!perf_proc_vdso(&size))
		SKIP(return, "no vDSO");
	map.len = size;
	m = module_find(self->mods, &map, NULL);
	EXPECT_EQ(MODULE_OK, m->status);
	EXPECT_EQ(MODULE_ID_OWN_VDSO, m->identity);
	ASSERT_NE(NULL, m->memory);
	seg = module_segment(m, &map, NULL, &bias);
	ASSERT_NE(NULL, seg);
	EXPECT_EQ(map.addr, seg->addr + bias);
	EXPECT_EQ(MODULE_SPECIAL, module_find(mods, &map, NULL)->status);
	map.len += 4096;
	EXPECT_EQ(MODULE_SPECIAL, module_find(self->mods, &map, NULL)->status);
	module_table_free(mods);
}

/* An x32 program has a vDSO of its own, which lies where that of an i386 program would. */
TEST_F(modules, vdso_of_x32_is_not_that_of_i386)
{
	struct perf_rec_mmap map = { .addr = 0xf7fc9000, .name = "[vdso]" };
	struct module *i386, *x32;
	size_t size;

	if (!vdso_compat(&size))
		SKIP(return, "no vDSO of 32-bit programs");
	map.len = size;
	x32 = module_find(self->mods, &map, &ehu_arch_x32);
	i386 = module_find(self->mods, &map, &ehu_arch_i386);
	ASSERT_NE(x32, i386);
	EXPECT_EQ(MODULE_SPECIAL, x32->status);
	EXPECT_NE(NULL, strstr(x32->why, "x32"));
	EXPECT_EQ(MODULE_OK, i386->status);
	EXPECT_EQ(&ehu_arch_i386, i386->arch);
	/* Before the program is known, the address decides. */
	EXPECT_EQ(i386, module_find(self->mods, &map, NULL));
	/* A 64-bit program's may lie low, too. */
	EXPECT_NE(i386, module_find(self->mods, &map, &ehu_arch_x86_64));
}

TEST_F(modules, a_place_has_its_section_there)
{
	struct module *m = module_find(self->mods, &self->map, NULL);
	const u64 bias = 0x555500000000;
	struct module_place *pl = module_place_get(m, bias), *other;
	const struct ehf_section *s = &self->img->section;

	ASSERT_NE(NULL, pl);
	EXPECT_EQ(EHF_STOP_NONE, pl->stop);
	EXPECT_EQ(s->text_start + bias, pl->section.text_start);
	EXPECT_EQ(s->text_end + bias, pl->section.text_end);
	EXPECT_EQ(s->eh_frame + bias, pl->section.eh_frame);
	EXPECT_EQ(s->eh_frame_end + bias, pl->section.eh_frame_end);
	EXPECT_EQ(s->nr_fdes, pl->section.nr_fdes);
	EXPECT_EQ(s->table + bias, pl->section.table);
	EXPECT_EQ(pl, module_place_get(m, bias));
	other = module_place_get(m, 2 * bias);
	EXPECT_NE(pl, other);
	EXPECT_GT(pager_stats(self->pager)->page_ins, 0);
	module_corrupt(&other->section, EHF_STOP_BAD_TABLE);
	module_corrupt(&other->section, EHF_STOP_BAD_CIE);
	EXPECT_EQ(2, m->corrupt);
	EXPECT_EQ(EHF_STOP_BAD_TABLE, m->corrupt_stop);
	module_place_put(other);
	module_place_put(pl);
	module_place_put(pl);
	EXPECT_EQ(NULL, m->places);
}

TEST_F(modules, descriptor_of_the_same_file)
{
	struct module *m = module_find(self->mods, &self->map, NULL);
	int fd = module_dup_fd(m);
	struct stat st;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, fstat(fd, &st));
	EXPECT_EQ(self->map.ino, st.st_ino);
	close(fd);
}

/* Layouts of real files; addresses of the segments, then the mapping and its bias. */
FIXTURE(layout)
{
	struct module m;
};

FIXTURE_VARIANT(layout)
{
	struct image_segment seg[5];	/* addr, end, pos, file_end, flags */
	u32 nr;
	struct perf_rec_mmap map;
	u64 there;			/* bias of the place that is there, 0 for none */
	int want;			/* segment, -1 for none */
	u64 bias;
};

#define R	PF_R
#define RX	(PF_R | PF_X)
#define RW	(PF_R | PF_W)
#define SEG(addr, pos, size, flags) { addr, (addr) + (size), pos, (addr) + (size), flags }
#define MAP(a, l, off, p) { .addr = a, .len = l, .pgoff = off, .has_prot = true, .prot = p }
#define GCC_SEGS { SEG(0, 0, 0x600, R), SEG(0x1000, 0x1000, 0x155, RX), \
		   SEG(0x2000, 0x2000, 0xd0, R), SEG(0x3db0, 0x2db0, 0x268, RW) }
/* lld, mold: file offsets differ from addresses, and one page of the file is in two segments. */
#define LLD_SEGS { SEG(0, 0, 0x5e0, R), SEG(0x15e0, 0x5e0, 0x2c0, RX), \
		   SEG(0x28a0, 0x8a0, 0x1a0, RW), SEG(0x3a40, 0xa40, 0x30, RW) }
/* node: three executable segments */
#define NODE_SEGS { SEG(0x400000, 0, 0x7fd000, R), SEG(0xbfd000, 0x7fd000, 0x100, RX), \
		    SEG(0xe00000, 0xa00000, 0x102000, RX), \
		    SEG(0xf02000, 0xb02000, 0x18aa000, RX), SEG(0x27ac000, 0x23ac000, 0x1000, R) }

FIXTURE_VARIANT_ADD(layout, gcc_text) {
	.seg = GCC_SEGS, .nr = 4, .map = MAP(0x7f0000001000, 0x1000, 0x1000, PROT_READ | PROT_EXEC),
	.want = 1, .bias = 0x7f0000000000,
};
FIXTURE_VARIANT_ADD(layout, gcc_whole_span_first) {
	.seg = GCC_SEGS, .nr = 4, .map = MAP(0x7f0000000000, 0x5000, 0, PROT_READ),
	.want = 0, .bias = 0x7f0000000000,
};
FIXTURE_VARIANT_ADD(layout, gcc_data) {
	.seg = GCC_SEGS, .nr = 4,
	.map = MAP(0x7f0000003000, 0x2000, 0x2000, PROT_READ | PROT_WRITE),
	.want = 3, .bias = 0x7f0000000000,
};
FIXTURE_VARIANT_ADD(layout, gcc_relro) {
	.seg = GCC_SEGS, .nr = 4, .map = MAP(0x7f0000003000, 0x1000, 0x2000, PROT_READ),
	.there = 0x7f0000000000, .want = 3, .bias = 0x7f0000000000,
};
FIXTURE_VARIANT_ADD(layout, lld_text) {
	.seg = LLD_SEGS, .nr = 4, .map = MAP(0x7f0000001000, 0x1000, 0, PROT_READ | PROT_EXEC),
	.want = 1, .bias = 0x7f0000000000,
};
FIXTURE_VARIANT_ADD(layout, lld_first) {
	.seg = LLD_SEGS, .nr = 4, .map = MAP(0x7f0000000000, 0x1000, 0, PROT_READ),
	.want = 0, .bias = 0x7f0000000000,
};
FIXTURE_VARIANT_ADD(layout, fixed_address) {
	.seg = { SEG(0x400000, 0, 0x500, R), SEG(0x401000, 0x1000, 0x5000, RX) }, .nr = 2,
	.map = MAP(0x401000, 0x5000, 0x1000, PROT_READ | PROT_EXEC), .want = 1, .bias = 0,
};
FIXTURE_VARIANT_ADD(layout, prelinked) {
	.seg = { SEG(0x7b000000, 0, 0x9000, RX) }, .nr = 1,
	.map = MAP(0x7f0000000000, 0x9000, 0, PROT_READ | PROT_EXEC), .want = 0,
	.bias = 0x7f0000000000 - 0x7b000000,
};
FIXTURE_VARIANT_ADD(layout, old_whole_span) {
	.seg = { SEG(0, 0, 0x7100, RX), SEG(0x208000, 0x8000, 0x500, RW) }, .nr = 2,
	.map = MAP(0x7f0000000000, 0x209000, 0, PROT_READ | PROT_EXEC), .want = 0,
	.bias = 0x7f0000000000,
};
FIXTURE_VARIANT_ADD(layout, node_first) {
	.seg = NODE_SEGS, .nr = 5, .map = MAP(0xbfd000, 0x1000, 0x7fd000, PROT_READ | PROT_EXEC),
	.want = 1, .bias = 0,
};
FIXTURE_VARIANT_ADD(layout, node_third) {
	.seg = NODE_SEGS, .nr = 5,
	.map = MAP(0xf02000, 0x18aa000, 0xb02000, PROT_READ | PROT_EXEC), .want = 3, .bias = 0,
};
FIXTURE_VARIANT_ADD(layout, middle_of_text) {
	.seg = NODE_SEGS, .nr = 5, .map = MAP(0x1000000, 0x2000, 0xc00000, PROT_READ | PROT_EXEC),
	.want = 3, .bias = 0,
};
FIXTURE_VARIANT_ADD(layout, pages_of_64k) {
	.seg = { SEG(0x11000, 0x1000, 0x8000, RX) }, .nr = 1,
	.map = MAP(0x7f0000010000, 0x10000, 0, PROT_READ | PROT_EXEC), .want = 0,
	.bias = 0x7f0000000000,
};
/* Personality READ_IMPLIES_EXEC: the length tells the two that begin in one page. */
FIXTURE_VARIANT_ADD(layout, all_readable_is_executable) {
	.seg = { SEG(0, 0, 0x5e0, R), SEG(0x15e0, 0x5e0, 0x3000, RX) }, .nr = 2,
	.map = MAP(0x7f0000000000, 0x1000, 0, PROT_READ | PROT_EXEC), .want = 0,
	.bias = 0x7f0000000000,
};
FIXTURE_VARIANT_ADD(layout, behind_the_file) {
	.seg = GCC_SEGS, .nr = 4, .map = MAP(0x1000, 0x1000, 0x4000, PROT_READ | PROT_EXEC),
	.want = -1,
};
FIXTURE_VARIANT_ADD(layout, offset_without_end) {
	.seg = GCC_SEGS, .nr = 4,
	.map = MAP(0x1000, 0x1000, ~0xfffULL, PROT_READ | PROT_EXEC), .want = -1,
};
FIXTURE_VARIANT_ADD(layout, odd_address) {
	.seg = GCC_SEGS, .nr = 4, .map = MAP(0x1234, 0x1000, 0x1000, PROT_READ | PROT_EXEC),
	.want = -1,
};

FIXTURE_SETUP(layout)
{
	/* The module only looks. */
	self->m.seg = (struct image_segment *)(uintptr_t)variant->seg;
	self->m.nr_segs = variant->nr;
}

FIXTURE_TEARDOWN(layout)
{
}

TEST_F(layout, bias)
{
	struct module_place there = { .bias = variant->there };
	const struct image_segment *seg;
	u64 bias = 0;

	seg = module_segment(&self->m, &variant->map, variant->there ? &there : NULL, &bias);
	if (variant->want < 0) {
		EXPECT_EQ(NULL, seg);
		return;
	}
	ASSERT_NE(NULL, seg);
	EXPECT_EQ(variant->want, seg - variant->seg);
	EXPECT_EQ(variant->bias, bias);
}

/* ---- roots ---- */

FIXTURE(root) { struct pager *pager; char dir[64]; char inside[128]; };
FIXTURE_VARIANT(root) { bool no_openat2; };
FIXTURE_VARIANT_ADD(root, openat2) { .no_openat2 = false };
FIXTURE_VARIANT_ADD(root, by_hand) { .no_openat2 = true };

/* DIR/s is a root; DIR/s/real/program and DIR/program are this program. */
FIXTURE_SETUP(root)
{
	strcpy(self->dir, "/tmp/task_modules.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	ASSERT_TRUE(run("mkdir -p %s/s/real%s", self->dir, self->dir));
	ASSERT_TRUE(run("cp %s %s/program", "/proc/$PPID/exe", self->dir));
	ASSERT_TRUE(run("cp %s %s/s/real/program", "/proc/$PPID/exe", self->dir));
	snprintf(self->inside, sizeof(self->inside), "%s/s/real/program", self->dir);
	self->pager = pager_new(NULL);
}

FIXTURE_TEARDOWN(root)
{
	pager_free(self->pager);
	run("rm -rf %s %s", self->dir, "");
}

/* What an absolute link means is what it means to the target: nothing of this host. */
TEST_F(root, no_link_leads_out)
{
	char symfs[128];
	struct module_params params = { .pager = self->pager, .symfs = symfs,
					.no_openat2 = variant->no_openat2 };
	struct perf_rec_mmap map = { .addr = 0x1000, .len = 0x1000 };
	struct modules *mods;
	struct module *m;
	int fd;

	snprintf(symfs, sizeof(symfs), "%s/s", self->dir);
	ASSERT_TRUE(run("ln -s /real %s/s/lib%s", self->dir, ""));
	ASSERT_TRUE(run("ln -s ../../../../../../real %s/s/up%s", self->dir, ""));
	ASSERT_TRUE(run("ln -s %s/program %s/s/out", self->dir, self->dir));
	ASSERT_TRUE(run("ln -s loop %s/s/loop%s", self->dir, ""));
	mods = module_table_new(&params);
	ASSERT_NE(NULL, mods);
	map.name = "/lib/program";
	m = module_find(mods, &map, NULL);
	EXPECT_EQ(MODULE_OK, m->status);
	EXPECT_STREQ(self->inside, m->file_path);
	fd = module_dup_fd(m);
	EXPECT_LE(0, fd);
	close(fd);
	map.name = "/up/program";
	m = module_find(mods, &map, NULL);
	EXPECT_EQ(MODULE_OK, m->status);
	EXPECT_STREQ(self->inside, m->file_path);
	map.name = "/out";
	EXPECT_EQ(MODULE_DELETED, module_find(mods, &map, NULL)->status);
	map.name = "/loop";
	EXPECT_EQ(MODULE_UNREADABLE, module_find(mods, &map, NULL)->status);
	module_table_free(mods);
}

/* A child that sees DIR/s/real in place of DIR, or has DIR/s as its root. */
static pid_t child_elsewhere(const char *dir, bool chrooted)
{
	char inside[128];
	int ready[2];
	char byte;
	pid_t pid;

	snprintf(inside, sizeof(inside), "%s/s%s", dir, chrooted ? "" : "/real");
	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chrooted ? chroot(inside) :
		    unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount(inside, dir, NULL, MS_BIND, NULL))
			_exit(1);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

static void elsewhere(FIXTURE_DATA(root) *self, bool chrooted, bool no_openat2)
{
	struct module_params params = { .pager = self->pager, .live = true,
					.no_openat2 = no_openat2 };
	struct perf_rec_mmap map = { .addr = 0x1000, .len = 0x1000 };
	struct modules *mods;
	struct module *m;
	char name[128];
	struct stat st;
	pid_t pid = child_elsewhere(self->dir, chrooted);

	if (pid < 0)
		SKIP(return, "no other root: %s", strerror(errno));
	ASSERT_EQ(0, stat(self->inside, &st));
	snprintf(name, sizeof(name), "%s/program", chrooted ? "/real" : self->dir);
	map.name = name;
	map.has_inode = true;
	map.maj = major(st.st_dev);
	map.min = minor(st.st_dev);
	map.ino = st.st_ino;
	map.pid = (u32)pid;
	mods = module_table_new(&params);
	ASSERT_NE(NULL, mods);
	m = module_find(mods, &map, NULL);
	EXPECT_EQ(MODULE_OK, m->status) {
		TH_LOG("%s", m->why);
	}
	EXPECT_EQ(MODULE_ID_INODE, m->identity);
	module_table_free(mods);
	/* Of a recording nobody knows whose process the number is now: the file is this host's. */
	params.live = false;
	mods = module_table_new(&params);
	m = module_find(mods, &map, NULL);
	EXPECT_EQ(chrooted ? MODULE_DELETED : MODULE_STALE, m->status);
	module_table_free(mods);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(root, mount_namespace)
{
	elsewhere(self, false, variant->no_openat2);
}

TEST_F(root, chroot)
{
	elsewhere(self, true, variant->no_openat2);
}

TEST_HARNESS_MAIN
