// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Notes of a core dump: registers of each thread, mapped files, the auxiliary vector.
 */
#include "harness/core.h"

#include "ehframe/cursor.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifndef NT_ARM_PAC_MASK
#define NT_ARM_PAC_MASK	0x406
#endif

#define NO_REG	0xff
#define IP	0xfe

/**
 * struct layout - where NT_PRSTATUS has what (struct elf_prstatus of each machine)
 * @arch: the machine
 * @pid: bytes to pr_pid
 * @regs: bytes to pr_reg
 * @width: bytes of a register
 * @reg: DWARF number of each register in pr_reg's order; IP for the pc, NO_REG for others
 * @nr: entries of @reg
 */
struct layout {
	const struct ehu_arch *arch;
	u16 pid;
	u16 regs;
	u8 width;
	const u8 *reg;
	u32 nr;
};

/* struct user_regs_struct: r15 r14 r13 r12 rbp rbx r11-r8 rax rcx rdx rsi rdi orig rip cs flags rsp */
static const u8 x86_64[] = {
	15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, NO_REG, IP, NO_REG, NO_REG, 7,
};

/* ebx ecx edx esi edi ebp eax ds es fs gs orig eip cs flags esp */
static const u8 i386[] = {
	3, 1, 2, 6, 7, 5, 0, NO_REG, NO_REG, NO_REG, NO_REG, NO_REG, IP, NO_REG, NO_REG, 4,
};

/* s390_regs: PSW mask and address, then the GPRs. */
static const u8 s390x[] = {
	NO_REG, IP, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
};

/* user_pt_regs: x0-x30, sp, pc */
static const u8 aarch64[] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
	25, 26, 27, 28, 29, 30, 31, IP,
};

static const struct layout layouts[] = {
	{ &ehu_arch_x86_64, 32, 112, 8, x86_64, sizeof(x86_64) },
	{ &ehu_arch_x32, 24, 72, 8, x86_64, sizeof(x86_64) },
	{ &ehu_arch_i386, 24, 72, 4, i386, sizeof(i386) },
	{ &ehu_arch_s390x, 32, 112, 8, s390x, sizeof(s390x) },
	{ &ehu_arch_aarch64, 32, 112, 8, aarch64, sizeof(aarch64) },
};

static const struct layout *layout_of(const struct ehu_arch *arch)
{
	for (size_t k = 0; k < EHF_ARRAY_SIZE(layouts); k++) {
		if (layouts[k].arch == arch)
			return &layouts[k];
	}
	return NULL;
}

static u64 number(const struct core *c, const u8 *p, u32 len)
{
	return ehf_number(p, len, c->arch->abi.big_endian);
}

static int on_prstatus(struct core *c, const u8 *p, u64 len)
{
	const struct layout *l = layout_of(c->arch);
	struct core_thread *t;

	if (!l || len < l->regs || (len - l->regs) / l->width < l->nr ||
	    c->nr_threads == CORE_MAX_THREADS) {
		c->dropped++;
		return 0;
	}
	if (c->nr_threads == c->max_threads) {
		u32 max = c->max_threads ? 2 * c->max_threads : 16;

		t = reallocarray(c->thread, max, sizeof(*t));
		if (!t)
			return -ENOMEM;
		c->thread = t;
		c->max_threads = max;
	}
	t = &c->thread[c->nr_threads++];
	*t = (struct core_thread){ .tid = (u32)number(c, p + l->pid, 4),
				   .signal = (u32)number(c, p + 12, 2) };
	for (u32 k = 0; k < l->nr; k++) {
		u64 v = number(c, p + l->regs + k * l->width, l->width);

		if (l->reg[k] == IP) {
			t->regs.ip = v;
		} else if (l->reg[k] != NO_REG) {
			t->regs.reg[l->reg[k]] = v;
			t->regs.known |= 1ULL << l->reg[k];
		}
	}
	return 0;
}

/* s390x parks GPRs in FPRs: fpc and padding, then f0-f15 in architectural order. */
static void on_fpregset(struct core *c, const u8 *p, u64 len)
{
	static const u8 dwarf[16] = {
		16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31,
	};
	struct core_thread *t;

	if (c->arch != &ehu_arch_s390x || !c->nr_threads || len < 8 + 8 * 16)
		return;
	t = &c->thread[c->nr_threads - 1];
	for (u32 k = 0; k < 16; k++) {
		t->regs.reg[dwarf[k]] = number(c, p + 8 + 8 * k, 8);
		t->regs.known |= 1ULL << dwarf[k];
	}
}

/* Two masks of the bits that a signature takes: of data pointers, and of return addresses. */
static void on_pac_mask(struct core *c, const u8 *p, u64 len)
{
	if (c->arch != &ehu_arch_aarch64 || !c->nr_threads || len < 16)
		return;
	/* Bit 55 tells the kernel's half from the user's; the top byte may hold a tag. */
	c->thread[c->nr_threads - 1].ra_mask = ~number(c, p + 8, 8) & ((1ULL << 55) - 1);
}

static void on_auxv(struct core *c, const u8 *p, u64 len)
{
	u32 word = c->arch->elf_class == ELFCLASS32 ? 4 : 8;

	for (u64 k = 0; 2 * word <= len - k; k += 2 * word) {
		u64 type = number(c, p + k, word), value = number(c, p + k + word, word);

		switch (type) {
		case AT_PHDR:
			c->phdr = value;
			break;
		case AT_ENTRY:
			c->entry = value;
			break;
		case AT_BASE:
			c->base = value;
			break;
		case AT_SYSINFO_EHDR:
			c->vdso = value;
			break;
		}
	}
}

/* A count and a page size, for each a start, an end and an offset in pages; then the names. */
static int on_file(struct core *c, const u8 *p, u64 len)
{
	u32 word = c->arch->elf_class == ELFCLASS32 ? 4 : 8;
	u64 nr, page, name;

	if (len < 2 * word || c->file)
		return 0;
	nr = number(c, p, word);
	page = number(c, p + word, word);
	if (nr > (len - 2 * word) / (3 * word) || nr > CORE_MAX_FILES) {
		c->dropped++;
		return 0;
	}
	c->file = calloc((size_t)nr + 1, sizeof(*c->file));
	if (!c->file)
		return -ENOMEM;
	name = 2 * word + nr * 3 * word;
	for (u64 k = 0; k < nr; k++) {
		const u8 *e = p + 2 * word + k * 3 * word;
		struct core_file *f = &c->file[c->nr_files];
		const u8 *end = name < len ? memchr(p + name, 0, len - name) : NULL;

		if (!end) {
			c->dropped += nr - k;
			break;
		}
		*f = (struct core_file){
			.start = number(c, e, word), .end = number(c, e + word, word),
			.name = (const char *)p + name,
		};
		name += (u64)(end - (p + name)) + 1;
		if (f->end <= f->start ||
		    __builtin_mul_overflow(number(c, e + 2 * word, word), page, &f->pos)) {
			c->dropped++;
			continue;
		}
		c->nr_files++;
	}
	return 0;
}

/**
 * core_notes_read() - take in the notes of one PT_NOTE
 * @core: the core
 * @p: their bytes
 * @len: how many
 * @align: 4 or 8
 *
 * Return: 0, or -ENOMEM. What contradicts itself is counted and left out.
 */
int core_notes_read(struct core *core, const u8 *p, u64 len, u64 align)
{
	int rc = 0;

	while (len >= 12 && !rc) {
		u64 namesz = number(core, p, 4), descsz = number(core, p + 4, 4);
		u32 type = (u32)number(core, p + 8, 4);
		u64 desc = (12 + namesz + align - 1) & ~(align - 1);	/* below 2^33 */
		bool linux_note, core_note;
		u64 next;

		if (desc > len || descsz > len - desc) {
			core->dropped++;
			return 0;
		}
		core_note = namesz >= 4 && !memcmp(p + 12, "CORE", 4);
		linux_note = namesz >= 5 && !memcmp(p + 12, "LINUX", 5);
		if (core_note && type == NT_PRSTATUS)
			rc = on_prstatus(core, p + desc, descsz);
		else if (core_note && type == NT_FPREGSET)
			on_fpregset(core, p + desc, descsz);
		else if (core_note && type == NT_AUXV)
			on_auxv(core, p + desc, descsz);
		else if (core_note && type == NT_FILE)
			rc = on_file(core, p + desc, descsz);
		else if (linux_note && type == NT_ARM_PAC_MASK)
			on_pac_mask(core, p + desc, descsz);
		next = (desc + descsz + align - 1) & ~(align - 1);
		if (next >= len)
			break;
		p += next;
		len -= next;
	}
	return rc;
}
