// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Is docs/subset.md what the code does? Every code is tried, whether its tables have it or not. */
#include "selftests/kselftest_harness.h"

#include <stdlib.h>

#include "ehframe/expr.h"
#include "ehframe/insn.h"
#include "ehframe/program.h"
#include "selftests/lib/builder.h"

/* A table of the page: what it says of each code, "" where it says nothing. */
struct said {
	char text[256][64];
};

static char *trim(char *s)
{
	char *end;

	s += strspn(s, " \t\n");
	end = s + strlen(s);
	while (end > s && strchr(" \t\n", end[-1]))
		*--end = '\0';
	return s;
}

/* Cell @n of "| a | b | c |", or NULL. */
static char *cell(char *line, int n)
{
	char *p = line;

	while (p && n--)
		p = strchr(p + 1, '|');
	return p ? p + 1 : NULL;
}

/*
 * Reads the table below the heading @section whose first column is @head: codes as 0xNN, 0xNN-0xMM,
 * several of them, a number, or a letter. Keeps column @column.
 */
static bool read_table(struct said *said, const char *section, const char *head, int column)
{
	const char *src = getenv("EHU_SRC");
	char path[512], line[1024];
	bool in_section = false, in_table = false, any = false;
	FILE *f;

	memset(said, 0, sizeof(*said));
	snprintf(path, sizeof(path), "%s/docs/subset.md", src ? src : ".");
	f = fopen(path, "r");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		char codes[64], *first, *kept, *end;

		if (line[0] == '#')
			in_section = strstr(line, section) != NULL;
		if (line[0] != '|') {
			in_table = false;
			continue;
		}
		kept = cell(line, column);
		first = cell(line, 0);
		if (!in_section || !kept || !first)
			continue;
		snprintf(codes, sizeof(codes), "%.*s", (int)strcspn(first, "|"), first);
		end = strchr(kept, '|');
		if (end)
			*end = '\0';
		if (!strcmp(trim(codes), head)) {
			in_table = true;
			continue;
		}
		if (!in_table || codes[0] == '-')
			continue;
		for (char *p = strtok(trim(codes), " "); p; p = strtok(NULL, " ")) {
			unsigned long low, high;

			low = p[1] || (p[0] >= '0' && p[0] <= '9') ? strtoul(p, &p, 0) :
								     (unsigned char)*p;
			high = *p == '-' ? strtoul(p + 1, NULL, 0) : low;
			for (; low <= high && low < 256; low++) {
				snprintf(said->text[low], sizeof(said->text[low]), "%s ",
					 trim(kept));
				any = true;
			}
		}
	}
	fclose(f);
	return any;
}

static bool says(const struct said *said, unsigned int code, const char *what)
{
	size_t n = strlen(what);

	return !strncmp(said->text[code], what, n) && said->text[code][n] == ' ';
}

/* What one program came to: its first two rows, and the states it left. */
struct result {
	struct ehf_row row[2];
	u32 depth;
};

/* Bytes of the instruction at the start of @bytes, its block included; 0 for an unknown one. */
static u32 insn_len(const struct ehf_abi *abi, const u8 *bytes, u32 len)
{
	struct ehf_insn insn;
	struct ehf_cursor c;
	struct b b;

	b_init(&b, abi);
	b_bytes(&b, bytes, len);
	ehf_open(&c, &b.ctx, b.base, b_pos(&b));
	ehf_insn_read(&c, 0, &insn);
	if (insn.op == DW_CFA_def_cfa_expression || insn.op == DW_CFA_expression ||
	    insn.op == DW_CFA_val_expression)
		ehf_skip(&c, ehf_uleb(&c));
	return c.stop ? 0 : (u32)(ehf_pos(&c) - b.base);
}

/* Runs "FP saved at CFA + data_align", then one instruction with operands of these bytes. */
static struct result try_insn(const struct ehf_abi *abi, u8 code, u8 first, u8 other)
{
	struct b_cie o = b_zr;
	u8 bytes[32] = { code, first };
	struct ehf_program p;
	struct ehf_fde fde;
	struct result r;
	u64 cie, addr;
	struct b b;
	u32 len;

	memset(&r, 0, sizeof(r));
	memset(bytes + 2, other, 16);
	len = insn_len(abi, bytes, sizeof(bytes));
	b_init(&b, abi);
	o.ra = abi->reg_ra;
	o.fde_enc = 0;
	cie = b_cie(&b, &o);
	b_put(&b, 0x0c, (u8)abi->reg_sp, 8, 0x05, (u8)abi->reg_ra, 1);
	b_close(&b);
	/* Long enough that an advance by any of these numbers is seen. */
	addr = b_fde(&b, cie, 0x1000, abi->addr_size == 4 ? 0x70000000 : 1ULL << 62);
	b_put(&b, 0x05, (u8)abi->reg_fp, 1);
	b_bytes(&b, bytes, len ? len : 1);
	for (int k = 0; k < 32; k++)
		b_u8(&b, DW_CFA_nop);
	b_close(&b);
	b_end(&b);
	if (b.overflow || ehf_fde_parse(&b.ctx, &b.s, addr, &fde))
		abort();
	ehf_program_start(&p, &b.ctx, &fde);
	for (int k = 0; k < 2; k++)
		ehf_program_next(&p, &r.row[k]);
	r.depth = p.depth;
	return r;
}

static bool same(const struct result *a, const struct result *b)
{
	if (a->depth != b->depth)
		return false;
	for (int k = 0; k < 2; k++) {
		const struct ehf_row *x = &a->row[k], *y = &b->row[k];

		if (x->start != y->start || x->end != y->end || x->stop != y->stop ||
		    x->flags != y->flags || x->cfa.kind != y->cfa.kind ||
		    x->cfa.reg != y->cfa.reg || x->cfa.off != y->cfa.off)
			return false;
		for (int i = 0; i < EHF_NR_TRACKED; i++) {
			if (x->rule[i].kind != y->rule[i].kind || x->rule[i].reg != y->rule[i].reg ||
			    x->rule[i].off != y->rule[i].off)
				return false;
		}
	}
	return true;
}

/* An opcode is applied when some operand makes a difference to DW_CFA_nop in its place. */
static const char *verdict(const struct ehf_abi *abi, u8 code)
{
	const u8 bytes[] = { 0, 1, 2, (u8)abi->reg_fp, (u8)abi->reg_ra };
	struct result nop = try_insn(abi, DW_CFA_nop, 0, 0);

	if (try_insn(abi, code, 0, 0).row[0].stop == EHF_STOP_OPCODE)
		return "unsupported-opcode";
	for (size_t i = 0; i < EHF_ARRAY_SIZE(bytes); i++) {
		for (size_t k = 0; k < EHF_ARRAY_SIZE(bytes); k++) {
			struct result r = try_insn(abi, code, bytes[i], bytes[k]);

			if (!same(&r, &nop))
				return "applied";
		}
	}
	return "ignored";
}

FIXTURE(insns) { struct said said; };
FIXTURE_VARIANT(insns) { const struct ehu_arch *arch; int column; };
FIXTURE_VARIANT_ADD(insns, x86_64) { .arch = &ehu_arch_x86_64, .column = 2 };
FIXTURE_VARIANT_ADD(insns, i386) { .arch = &ehu_arch_i386, .column = 2 };
FIXTURE_VARIANT_ADD(insns, s390x) { .arch = &ehu_arch_s390x, .column = 2 };
FIXTURE_VARIANT_ADD(insns, aarch64) { .arch = &ehu_arch_aarch64, .column = 3 };
FIXTURE_SETUP(insns)
{
	ASSERT_TRUE(read_table(&self->said, "Call frame instructions", "code", variant->column));
}

TEST_F(insns, are_as_the_page_says)
{
	for (unsigned int code = 0; code < 256; code++) {
		const char *v = verdict(&variant->arch->abi, (u8)code);

		if (!self->said.text[code][0]) {
			EXPECT_STREQ("unsupported-opcode", v) { TH_LOG("0x%02x", code); }
			continue;
		}
		/* "restore" of registers that are not tracked does nothing, nor does advance by 0. */
		if (code >= 0x40)
			EXPECT_STRNE("unsupported-opcode", v) { TH_LOG("0x%02x", code); }
		else
			EXPECT_TRUE(says(&self->said, code, v)) {
				TH_LOG("0x%02x is %s, the page says %s", code, v,
				       self->said.text[code]);
			}
	}
	EXPECT_STREQ("applied", verdict(&variant->arch->abi, 0x41));
	EXPECT_STREQ("applied", verdict(&variant->arch->abi, 0x80 | (u8)variant->arch->abi.reg_ra));
	EXPECT_STREQ("applied", verdict(&variant->arch->abi, 0xc0 | (u8)variant->arch->abi.reg_fp));
}

TEST(operations_are_as_the_page_says)
{
	struct said said;

	ASSERT_TRUE(read_table(&said, "Expressions", "code", 1));
	for (unsigned int code = 0; code < 256; code++) {
		struct ehf_raw_op op;
		struct ehf_cursor c;
		struct b b;
		bool known;

		b_init(&b, &ehu_arch_x86_64.abi);
		b_u8(&b, (u8)code);
		for (int k = 0; k < 16; k++)
			b_u8(&b, 1);
		ehf_open(&c, &b.ctx, b.base, b_pos(&b));
		known = ehf_raw_op_read(&c, &op);
		EXPECT_EQ(said.text[code][0] != '\0', known) { TH_LOG("0x%02x", code); }
		EXPECT_EQ(EHF_STOP_NONE, c.stop);
	}
}

/* The stop of an FDE whose CIE is @o and whose fields have room enough. */
static enum ehf_stop try_fde(const struct b_cie *o)
{
	struct ehf_fde fde;
	struct b b;
	u64 cie, addr;

	b_init(&b, &ehu_arch_x86_64.abi);
	cie = b_cie(&b, o);
	b_put(&b, 0x0c, 7, 8, 0x90, 1);
	b_close(&b);
	addr = b_open(&b, false);
	b_fixed(&b, b_pos(&b) - cie, 4);
	for (int k = 0; k < 32; k++)
		b_u8(&b, 1);
	b_close(&b);
	b_end(&b);
	return ehf_fde_parse(&b.ctx, &b.s, addr, &fde);
}

TEST(versions_are_as_the_page_says)
{
	struct said said;

	ASSERT_TRUE(read_table(&said, "CIE", "version", 1));
	for (unsigned int v = 0; v < 256; v++) {
		struct b_cie o = b_zr;
		enum ehf_stop stop;

		o.version = (u8)v;
		o.fde_enc = 0x03;
		stop = try_fde(&o);
		EXPECT_EQ(says(&said, v, "accepted"), stop != EHF_STOP_CIE_VERSION) {
			TH_LOG("version %u: %s", v, ehf_stop_name(stop));
		}
	}
}

TEST(letters_are_as_the_page_says)
{
	struct said said;

	ASSERT_TRUE(read_table(&said, "CIE", "letter", 1));
	for (unsigned int ch = '!'; ch < 127; ch++) {
		char before[] = { 'z', (char)ch, 'R', 0 }, behind[] = { 'z', 'R', (char)ch, 0 };
		char alone[] = { (char)ch, 0 };
		struct b_cie o = b_zr;

		o.fde_enc = 0x03;
		o.pers_enc = 0x9b;
		o.aug = behind;
		EXPECT_EQ(EHF_STOP_NONE, try_fde(&o)) { TH_LOG("zR%c", ch); }
		o.aug = before;
		EXPECT_EQ(said.text[ch][0] ? EHF_STOP_NONE : EHF_STOP_AUGMENTATION, try_fde(&o)) {
			TH_LOG("z%cR", ch);
		}
		o.aug = alone;
		EXPECT_EQ(ch == 'z' ? EHF_STOP_NONE : EHF_STOP_AUGMENTATION, try_fde(&o)) {
			TH_LOG("%c", ch);
		}
	}
}

TEST(encodings_are_as_the_page_says)
{
	struct said said;

	ASSERT_TRUE(read_table(&said, "Pointer encodings", "encoding", 1));
	for (unsigned int enc = 0; enc < 256; enc++) {
		struct b_cie o = b_zr;

		o.fde_enc = (u8)enc;
		EXPECT_EQ(said.text[enc][0] ? EHF_STOP_NONE : EHF_STOP_ENCODING, try_fde(&o)) {
			TH_LOG("0x%02x", enc);
		}
	}
}

TEST_HARNESS_MAIN
