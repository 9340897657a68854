// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ehframe/insn.c: every opcode with its operands, in every spelling of its numbers.
 */
#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"

#include "ehframe/insn.h"

/*
 * Operands by opcode, from DWARF 5, table 7.29 and the LSB: a address, 1 2 4 8 advance of that
 * many bytes, r register, R second register, u unsigned, s signed, b block, - none.
 */
static const char *const operands[0x40] = {
	[0x00] = "-", [0x01] = "a", [0x02] = "1", [0x03] = "2", [0x04] = "4", [0x05] = "ru",
	[0x06] = "r", [0x07] = "r", [0x08] = "r", [0x09] = "rR", [0x0a] = "-", [0x0b] = "-",
	[0x0c] = "ru", [0x0d] = "r", [0x0e] = "u", [0x0f] = "b", [0x10] = "rb", [0x11] = "rs",
	[0x12] = "rs", [0x13] = "s", [0x14] = "ru", [0x15] = "rs", [0x16] = "rb", [0x1d] = "8",
	[0x2c] = "-", [0x2d] = "-", [0x2e] = "u", [0x2f] = "ru",
};

FIXTURE(insn)
{
	struct b b;
	struct ehf_cursor c;
};

FIXTURE_VARIANT(insn)
{
	enum b_kind kind;
	bool big;
	u32 pad;	/* bytes of each LEB128 */
};

FIXTURE_VARIANT_ADD(insn, copy_le) { B_COPY, false, 10 };
FIXTURE_VARIANT_ADD(insn, copy_be) { B_COPY, true, 10 };
FIXTURE_VARIANT_ADD(insn, direct_padded) { B_DIRECT, false, EHF_MAX_LEB };
FIXTURE_VARIANT_ADD(insn, crumbs_padded) { B_CRUMBS, true, 12 };

FIXTURE_SETUP(insn)
{
	b_init(&self->b, &ehu_arch_x86_64.abi);
	self->b.abi.big_endian = variant->big;
	b_memory(&self->b, variant->kind);
}

FIXTURE_TEARDOWN(insn)
{
	EXPECT_EQ(0, self->b.broken);
	EXPECT_FALSE(self->b.overflow);
}

#define REG1	((1ULL << 32) + 6)	/* must not become 6 */
#define REG2	(~0ULL)
#define UOFF	(1ULL << 63)
#define SOFF	INT64_MIN
#define ADDR	0x123456789aULL

/* Writes one instruction and says what it has to read as. */
static void build(struct b *b, u32 op, u32 pad, struct ehf_insn *want)
{
	const char *p = op & 0xc0 ? (op & 0xc0) == 0x80 ? "u" : "-" : operands[op];

	b_cut(b, B_BASE);
	b_u8(b, (u8)op);
	memset(want, 0, sizeof(*want));
	want->op = (u8)(op & 0xc0 ? op & 0xc0 : op);
	if ((op & 0xc0) == DW_CFA_advance_loc)
		want->delta = op & 0x3f;
	else if (op & 0xc0)
		want->reg = op & 0x3f;
	for (; *p; p++) {
		u32 len = *p >= '1' && *p <= '8' ? (u32)(*p - '0') : 0;

		if (len) {
			want->delta = 0xf1f2f3f4f5f6f7f8ULL >> 8 * (8 - len);
			b_fixed(b, want->delta, len);
		} else if (*p == 'a') {
			want->delta = ADDR;
			b_ptr(b, 0x1c, ADDR, 0);
		} else if (*p == 'r') {
			want->reg = REG1;
			b_uleb_pad(b, REG1, pad);
		} else if (*p == 'R') {
			want->reg2 = REG2;
			b_uleb_pad(b, REG2, pad);
		} else if (*p == 'u') {
			want->uoff = UOFF;
			b_uleb_pad(b, UOFF, pad);
		} else if (*p == 's') {
			want->soff = SOFF;
			b_sleb_pad(b, SOFF, pad);
		}
	}
}

static bool defined(u32 op)
{
	return op & 0xc0 || operands[op];
}

TEST_F(insn, every_opcode)
{
	struct ehf_insn in, want;

	for (u32 op = 0; op < 256; op++) {
		if (!defined(op))
			continue;
		build(&self->b, op, variant->pad, &want);
		b_put(&self->b, 0xee);	/* a block's length is left to be read */
		ehf_open(&self->c, &self->b.ctx, B_BASE, b_pos(&self->b));
		memset(&in, 0xee, sizeof(in));
		ehf_insn_read(&self->c, 0x1c, &in);
		EXPECT_EQ(EHF_STOP_NONE, self->c.stop) TH_LOG("opcode 0x%x", op);
		EXPECT_EQ(b_pos(&self->b) - 1, ehf_pos(&self->c)) TH_LOG("opcode 0x%x", op);
		EXPECT_EQ(want.op, in.op) TH_LOG("opcode 0x%x", op);
		EXPECT_EQ(want.delta, in.delta) TH_LOG("opcode 0x%x", op);
		EXPECT_EQ(want.reg, in.reg) TH_LOG("opcode 0x%x", op);
		EXPECT_EQ(want.reg2, in.reg2) TH_LOG("opcode 0x%x", op);
		EXPECT_EQ(want.uoff, in.uoff) TH_LOG("opcode 0x%x", op);
		EXPECT_EQ(want.soff, in.soff) TH_LOG("opcode 0x%x", op);
	}
}

TEST_F(insn, undefined_opcodes)
{
	struct ehf_insn in;
	u32 nr = 0;

	for (u32 op = 0; op < 0x40; op++) {
		if (defined(op))
			continue;
		nr++;
		b_cut(&self->b, B_BASE);
		b_put(&self->b, (u8)op, 1, 2, 3);
		ehf_open(&self->c, &self->b.ctx, B_BASE, b_pos(&self->b));
		ehf_insn_read(&self->c, 0x1c, &in);
		EXPECT_EQ(EHF_STOP_OPCODE, self->c.stop) TH_LOG("opcode 0x%x", op);
	}
	EXPECT_EQ(36, nr);
}

TEST_F(insn, every_prefix)
{
	struct ehf_insn in, want;

	for (u32 op = 0; op < 256; op++) {
		if (!defined(op))
			continue;
		build(&self->b, op, variant->pad, &want);
		for (u32 len = 0; len < self->b.len; len++) {
			ehf_open(&self->c, &self->b.ctx, B_BASE, B_BASE + len);
			ehf_insn_read(&self->c, 0x1c, &in);
			EXPECT_EQ(EHF_STOP_TRUNCATED, self->c.stop) {
				TH_LOG("opcode 0x%x cut to %u bytes", op, len);
			}
		}
	}
}

TEST_F(insn, any_read_may_fault)
{
	struct ehf_insn in, want;

	for (u32 op = 0; op < 256; op++) {
		u32 reads;

		if (!defined(op))
			continue;
		build(&self->b, op, variant->pad, &want);
		b_memory(&self->b, variant->kind);
		self->b.fault_at = 0;
		ehf_open(&self->c, &self->b.ctx, B_BASE, b_pos(&self->b));
		ehf_insn_read(&self->c, 0x1c, &in);
		reads = self->b.reads;
		for (u32 n = 1; n <= reads; n++) {
			b_memory(&self->b, variant->kind);
			self->b.fault_at = n;
			ehf_open(&self->c, &self->b.ctx, B_BASE, b_pos(&self->b));
			ehf_insn_read(&self->c, 0x1c, &in);
			EXPECT_EQ(EHF_STOP_SECTION_MEMORY, self->c.stop) {
				TH_LOG("opcode 0x%x, read number %u", op, n);
			}
		}
	}
}

/* set_loc's address is read by the FDEs' encoding, and refused in the same cases. */
TEST_F(insn, set_loc_encodings)
{
	struct ehf_insn in;

	for (u32 enc = 0; enc < 256; enc++) {
		enum ehf_stop want;

		b_cut(&self->b, B_BASE);
		b_u8(&self->b, DW_CFA_set_loc);
		for (u32 k = 0; k < 8; k++)
			b_u8(&self->b, 1);
		ehf_open(&self->c, &self->b.ctx, B_BASE + 1, b_pos(&self->b));
		ehf_pointer(&self->c, (u8)enc, 0);
		want = self->c.stop;
		ehf_open(&self->c, &self->b.ctx, B_BASE, b_pos(&self->b));
		ehf_insn_read(&self->c, (u8)enc, &in);
		EXPECT_EQ(want, self->c.stop) TH_LOG("encoding 0x%x", enc);
	}
}

TEST_HARNESS_MAIN
