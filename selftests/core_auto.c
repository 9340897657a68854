// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * unwind/auto.c: program headers of both classes and byte orders, from an ELF header and from
 * AT_PHDR, and everything that can be wrong with them.
 */
#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"

#include "unwind/auto.h"

enum { LOAD = 1, DYNAMIC = 2, PHDR = 6, EH_FRAME = 0x6474e550, R = 4, RW = 6, RX = 5 };

/* The file wants to be at VADDR and is at B_BASE. */
#define VADDR	0x200000u
#define TEXT	(B_BASE + 0x10000)

/* One mm, and memory that is not reused. */
struct mm {
	struct ehu_registry reg;	/* first */
	struct ehu_mapping exec[2];
};

static unsigned long last_number;

static void *op_alloc(const struct ehu_registry_ops *ops TH_UNUSED, size_t size)
{
	return malloc(size);
}

static void op_free(const struct ehu_registry_ops *ops TH_UNUSED, void *p)
{
	free(p);
}

static void op_retire(const struct ehu_registry_ops *ops TH_UNUSED, struct ehu_retired *r)
{
	free(r);
}

static unsigned long op_generation(const struct ehu_registry_ops *ops TH_UNUSED)
{
	return ++last_number;
}

static u32 op_read_lock(struct ehu_registry *reg TH_UNUSED)
{
	return 0;
}

static void op_read_unlock(struct ehu_registry *reg TH_UNUSED, u32 key TH_UNUSED)
{
}

static void op_lock(struct ehu_registry *reg TH_UNUSED)
{
}

static bool op_mapping(struct ehu_registry *reg, u64 addr, struct ehu_mapping *m)
{
	struct mm *mm = (struct mm *)reg;

	for (int k = 0; k < 2; k++) {
		*m = mm->exec[k];
		if (addr >= m->start && addr < m->end)
			return true;
	}
	*m = (struct ehu_mapping){ B_BASE, B_BASE + B_SIZE, false };
	return addr >= m->start && addr < m->end;
}

static const struct ehu_registry_ops ops = {
	.alloc = op_alloc, .free = op_free, .retire = op_retire, .generation = op_generation,
	.read_lock = op_read_lock, .read_unlock = op_read_unlock, .lock = op_lock,
	.unlock = op_lock, .mapping = op_mapping,
};

FIXTURE(elf)
{
	struct b b;
	struct ehu_arch arch;
	struct mm mm;
	struct ehu_image image;
	struct ehu_added added;
	u32 word, phdrs, phent, phnum;
};

FIXTURE_VARIANT(elf)
{
	const struct ehu_arch *arch;
	bool other_order;
};

FIXTURE_VARIANT_ADD(elf, x86_64) { &ehu_arch_x86_64, false };
FIXTURE_VARIANT_ADD(elf, s390x) { &ehu_arch_s390x, false };
FIXTURE_VARIANT_ADD(elf, i386) { &ehu_arch_i386, false };
FIXTURE_VARIANT_ADD(elf, x32) { &ehu_arch_x32, false };
FIXTURE_VARIANT_ADD(elf, big_endian_32) { &ehu_arch_i386, true };

/* A program header at its place. */
static void put(FIXTURE_DATA(elf) *self, u32 nr, u32 type, u32 flags, u64 off, u64 vaddr,
		u64 filesz, u64 memsz)
{
	u32 at = self->phdrs + nr * self->phent, w = self->word;

	b_poke(&self->b, at, type, 4);
	if (w == 8)
		b_poke(&self->b, at + 4, flags, 4);
	at += w == 8 ? 8 : 4;
	b_poke(&self->b, at, off, w);
	b_poke(&self->b, at + w, vaddr, w);
	b_poke(&self->b, at + 2 * w, 0xdead, w);	/* p_paddr: nobody's business */
	b_poke(&self->b, at + 3 * w, filesz, w);
	b_poke(&self->b, at + 4 * w, memsz, w);
	if (w == 4)
		b_poke(&self->b, at + 20, flags, 4);
}

/* Header, six program headers, a section with an FDE: two executable segments elsewhere. */
FIXTURE_SETUP(elf)
{
	struct b *b = &self->b;
	u64 cie;

	self->arch = *variant->arch;
	if (variant->other_order)
		self->arch.abi.big_endian = !self->arch.abi.big_endian;
	b_init(b, &self->arch.abi);
	self->word = self->arch.abi.addr_size;
	self->phent = self->word == 8 ? 56 : 32;
	self->phnum = 6;
	b_put(b, 0x7f, 'E', 'L', 'F');
	b_put(b, self->arch.elf_class, self->arch.abi.big_endian ? 2 : 1, 1, 0);
	b_fixed(b, 0, 8);
	b_fixed(b, 3, 2);
	b_fixed(b, self->arch.e_machine, 2);
	b_fixed(b, 1, 4);
	b_fixed(b, 0x1234, self->word);
	self->phdrs = self->word == 8 ? 64 : 52;
	b_fixed(b, self->phdrs, self->word);
	b_fixed(b, 0, self->word);
	b_fixed(b, 0, 4);
	b_fixed(b, self->phdrs, 2);
	b_fixed(b, self->phent, 2);
	b_fixed(b, self->phnum, 2);
	b_fixed(b, 0, 6);
	EXPECT_EQ(self->phdrs, b->len);
	for (u32 k = 0; k < 20 * self->phent; k++)
		b_u8(b, 0);
	b->s.eh_frame = b_pos(b);
	cie = b_cie(b, &b_zr);
	b_put(b, 0x0c, 7, 8);
	b_close(b);
	b_fde(b, cie, TEXT + 16, 32);
	b_close(b);
	b_end(b);
	b_hdr(b, 0x1b, 0x03, 0x3b);
	b_fixed(b, 0, 8);
	put(self, 0, PHDR, R, self->phdrs, VADDR + self->phdrs, 6 * self->phent, 6 * self->phent);
	put(self, 1, LOAD, R, 0, VADDR, b->len, b->len + 100);
	put(self, 2, LOAD, RX, 0x10000, VADDR + 0x10000, 0x800, 0x800);
	put(self, 3, EH_FRAME, R, 0, VADDR + b->s.hdr - B_BASE, b->s.hdr_end - b->s.hdr,
	    b->s.hdr_end - b->s.hdr);
	put(self, 4, LOAD, RX, 0x14000, VADDR + 0x14000, 0x400, 0x400);
	put(self, 5, DYNAMIC, RW, ~0ULL, ~0ULL, ~0ULL, ~0ULL);
	b_memory(b, B_COPY);
	ehu_registry_init(&self->mm.reg, &ops);
	self->mm.exec[0] = (struct ehu_mapping){ TEXT, TEXT + 0x1000, true };
	self->mm.exec[1] = (struct ehu_mapping){ TEXT + 0x4000, TEXT + 0x5000, true };
}

FIXTURE_TEARDOWN(elf)
{
	EXPECT_EQ(0, self->b.broken);
	EXPECT_FALSE(self->b.overflow);
	ehu_registry_drop(&self->mm.reg);
}

static int by_ehdr(FIXTURE_DATA(elf) *self)
{
	return ehu_auto_ehdr(&self->b.ctx, &self->arch, B_BASE, &self->image);
}

static int by_phdrs(FIXTURE_DATA(elf) *self, const u64 *bias)
{
	return ehu_auto_phdrs(&self->b.ctx, B_BASE + self->phdrs, self->phnum, self->phent, bias,
			      &self->image);
}

static int add(FIXTURE_DATA(elf) *self)
{
	return ehu_auto_add(&self->mm.reg, &self->b.ctx, &self->image, EHU_ADD_CHECK,
			    &self->added);
}

static void check_image(FIXTURE_DATA(elf) *self)
{
	const struct ehu_image *im = &self->image;

	EXPECT_EQ(B_BASE - VADDR, im->bias);
	EXPECT_EQ(self->b.s.hdr, im->hdr);
	EXPECT_EQ(self->b.s.hdr_end, im->hdr_end);
	ASSERT_EQ(3, im->nr_loads);
	EXPECT_EQ(B_BASE, im->load[0].start);
	EXPECT_EQ(B_BASE + self->b.len, im->load[0].file_end);
	EXPECT_EQ(B_BASE + self->b.len + 100, im->load[0].end);
	EXPECT_FALSE(im->load[0].exec);
	EXPECT_EQ(TEXT, im->load[1].start);
	EXPECT_EQ(TEXT + 0x800, im->load[1].end);
	EXPECT_TRUE(im->load[1].exec);
}

TEST_F(elf, registers_what_the_headers_say)
{
	for (int way = 0; way < 3; way++) {
		const u64 bias = (u64)B_BASE - VADDR;
		const struct ehf_section *s;

		ASSERT_EQ(0, way == 0 ? by_ehdr(self) : by_phdrs(self, way == 1 ? NULL : &bias));
		check_image(self);
		ASSERT_EQ(0, add(self));
		s = self->mm.reg.sections.find(&self->mm.reg.sections, TEXT + 20);
		ASSERT_NE(NULL, s);
		EXPECT_EQ(self->b.s.eh_frame, s->eh_frame);
		/* R15: the end of its PT_LOAD's file part; no scan up to there. */
		EXPECT_EQ(B_BASE + self->b.len, s->eh_frame_end);
		EXPECT_EQ(1, s->nr_fdes);
		EXPECT_FALSE(s->scan);
		EXPECT_TRUE(self->mm.reg.sections.find(&self->mm.reg.sections, TEXT + 0x4000) == s);
		EXPECT_NULL(self->mm.reg.sections.find(&self->mm.reg.sections, TEXT + 0x800));
		EXPECT_NULL(self->mm.reg.sections.find(&self->mm.reg.sections, TEXT + 0x4400));
		EXPECT_EQ(-EEXIST, add(self));
		ehu_registry_drop(&self->mm.reg);
	}
}

TEST_F(elf, any_read_may_fault)
{
	u32 reads, n;

	b_memory(&self->b, B_COPY);
	ASSERT_EQ(0, by_ehdr(self));
	reads = self->b.reads;
	for (n = 1; n <= reads; n++) {
		b_memory(&self->b, B_COPY);
		self->b.fault_at = n;
		EXPECT_EQ(-EFAULT, by_ehdr(self));
	}
	self->b.fault_at = 0;
	ASSERT_EQ(0, by_ehdr(self));
	b_memory(&self->b, B_COPY);
	ASSERT_EQ(0, add(self));
	reads = self->b.reads;
	ehu_registry_drop(&self->mm.reg);
	for (n = 1; n <= reads; n++) {
		b_memory(&self->b, B_COPY);
		self->b.fault_at = n;
		EXPECT_EQ(-EFAULT, add(self));
		EXPECT_EQ(EHF_STOP_SECTION_MEMORY, self->added.stop);
	}
}

TEST_F(elf, every_prefix)
{
	u32 len = self->b.len;

	for (self->b.len = 0; self->b.len < self->phdrs + 6 * self->phent; self->b.len++)
		EXPECT_EQ(-EFAULT, by_ehdr(self));
	self->b.len = len;
	EXPECT_EQ(0, by_ehdr(self));
}

/* Each bit of the headers: whatever it makes of them, nothing is read that is not there. */
TEST_F(elf, every_bit_flipped)
{
	int good = 0, bad = 0;

	for (u32 bit = 0; bit < 8 * (self->phdrs + 6 * self->phent); bit++) {
		self->b.buf[bit / 8] ^= (u8)(1 << bit % 8);
		if (!by_ehdr(self) && !add(self)) {
			good++;
			ehu_registry_drop(&self->mm.reg);
		} else {
			bad++;
		}
		self->b.buf[bit / 8] ^= (u8)(1 << bit % 8);
	}
	EXPECT_LT(0, good);
	EXPECT_LT(0, bad);
}

TEST_F(elf, other_files_are_refused)
{
	struct b *b = &self->b;
	struct ehu_arch other = self->arch;

	for (u32 at = 0; at < 6; at++) {	/* magic, class, order */
		b->buf[at] ^= 3;
		EXPECT_EQ(-EINVAL, by_ehdr(self));
		b->buf[at] ^= 3;
	}
	other.e_machine++;
	EXPECT_EQ(-EINVAL, ehu_auto_ehdr(&b->ctx, &other, B_BASE, &self->image));
	EXPECT_EQ(-EINVAL, ehu_auto_ehdr(&b->ctx, &self->arch,
					 self->word == 8 ? ~0ULL - 8 : ~0U - 8, &self->image));
	/* Where the program headers are said to be. */
	b_poke(b, self->word == 8 ? 32 : 28, self->word == 8 ? ~0ULL : ~0U, self->word);
	EXPECT_EQ(-EINVAL, by_ehdr(self));
}

TEST_F(elf, program_headers_that_make_no_sense)
{
	const u64 max = self->word == 8 ? ~0ULL : ~0U;
	struct b *b = &self->b;

	EXPECT_EQ(-EINVAL, ehu_auto_phdrs(&b->ctx, B_BASE + self->phdrs, 6, self->phent + 1, NULL,
					  &self->image));
	EXPECT_EQ(-ERANGE, ehu_auto_phdrs(&b->ctx, B_BASE + self->phdrs, EHU_MAX_PHDRS + 1,
					  self->phent, NULL, &self->image));
	EXPECT_EQ(-EINVAL, ehu_auto_phdrs(&b->ctx, max - 100, 6, self->phent, NULL, &self->image));
	/* No PT_PHDR: someone must know the bias. */
	put(self, 0, DYNAMIC, 0, 0, 0, 0, 0);
	EXPECT_EQ(-EINVAL, by_phdrs(self, NULL));
	EXPECT_EQ(0, by_ehdr(self));
	/* A size that wraps, a file part that is larger than the whole. */
	put(self, 4, LOAD, RX, 0, max - 8, 4, 16);
	EXPECT_EQ(-EINVAL, by_ehdr(self));
	put(self, 4, LOAD, RX, 0, 0x1000, 17, 16);
	EXPECT_EQ(-EINVAL, by_ehdr(self));
	/* Where the file begins, no PT_LOAD says. */
	put(self, 1, DYNAMIC, 0, 0, 0, 0, 0);
	put(self, 4, DYNAMIC, 0, 0, 0, 0, 0);
	EXPECT_EQ(-EINVAL, by_ehdr(self));
}

TEST_F(elf, as_many_loads_as_are_kept)
{
	for (u32 k = 6; k < 20; k++)
		put(self, k, LOAD, R, 0x20000 + k * 4096, VADDR + 0x20000 + k * 4096, 8, 8);
	self->phnum = 19;
	EXPECT_EQ(0, by_phdrs(self, NULL));
	EXPECT_EQ(EHU_MAX_LOADS, self->image.nr_loads);
	self->phnum = 20;
	EXPECT_EQ(-ERANGE, by_phdrs(self, NULL));
}

TEST_F(elf, nothing_to_register)
{
	const struct ehf_section *s = &self->b.s;

	put(self, 3, DYNAMIC, 0, 0, 0, 0, 0);
	ASSERT_EQ(0, by_ehdr(self));
	EXPECT_EQ(-ENOENT, add(self));
	put(self, 3, EH_FRAME, R, 0, VADDR + s->hdr - B_BASE, 0, 0);
	ASSERT_EQ(0, by_ehdr(self));
	EXPECT_EQ(-ENOENT, add(self));
	put(self, 3, EH_FRAME, R, 0, VADDR + s->hdr - B_BASE, s->hdr_end - s->hdr,
	    s->hdr_end - s->hdr);
	put(self, 2, LOAD, RW, 0x10000, VADDR + 0x10000, 0x800, 0x800);
	put(self, 4, LOAD, R, 0x14000, VADDR + 0x14000, 0x400, 0x400);
	ASSERT_EQ(0, by_ehdr(self));
	EXPECT_EQ(-ENOENT, add(self));
}

TEST_F(elf, header_outside_the_segments)
{
	const struct ehf_section *s = &self->b.s;
	u64 size = s->hdr_end - s->hdr;

	/* In no PT_LOAD; or reaching beyond its file part. */
	put(self, 3, EH_FRAME, R, 0, VADDR + 0x9000, size, size);
	ASSERT_EQ(0, by_ehdr(self));
	EXPECT_EQ(-EINVAL, add(self));
	put(self, 3, EH_FRAME, R, 0, VADDR + s->hdr - B_BASE, size + 9, size + 9);
	ASSERT_EQ(0, by_ehdr(self));
	EXPECT_EQ(-EINVAL, add(self));
	put(self, 3, EH_FRAME, R, 0, VADDR + s->hdr - B_BASE, size, size);
	/* .eh_frame in none. */
	b_poke(&self->b, (u32)(s->hdr - B_BASE) + 4, 0x6000, 4);
	ASSERT_EQ(0, by_ehdr(self));
	EXPECT_EQ(-EINVAL, add(self));
	EXPECT_EQ(EHF_STOP_NONE, self->added.stop);
	/* A header of another version. */
	self->b.buf[s->hdr - B_BASE] = 2;
	EXPECT_EQ(-EINVAL, add(self));
	EXPECT_EQ(EHF_STOP_BAD_HEADER, self->added.stop);
	EXPECT_EQ(-EINVAL, ehu_auto_add(&self->mm.reg, &self->b.ctx, &self->image, EHU_ADD_SCAN,
					&self->added));
}

/* R14: the header is read twice; between the two it says something else. */
TEST_F(elf, header_that_changes)
{
	ASSERT_EQ(0, by_ehdr(self));
	b_memory(&self->b, B_COPY);
	self->b.flip_at = (u32)(self->b.s.hdr - B_BASE) + 4;
	self->b.flip_nth = 2;
	EXPECT_EQ(-EINVAL, add(self));
	EXPECT_EQ(EHF_STOP_BAD_HEADER, self->added.stop);
}

TEST_HARNESS_MAIN
