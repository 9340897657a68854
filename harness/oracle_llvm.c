// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * llvm-dwarfdump as an oracle, for files on which libdwarf fails: its rows are read from what it
 * prints. Version 14 does not bring the CFA back on DW_CFA_restore_state, so it is a weak one.
 */
#include "harness/oracle.h"

#include "harness/rule_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* One printed row: "0x401004: CFA=RSP+16: RBP=[CFA-16], RIP=[CFA-8]". */
struct llvm_row {
	u64 fde;	/* offset of its FDE in the section */
	u64 pc;
	char *text;	/* behind the pc */
};

struct oracle_llvm {
	struct oracle oracle;
	struct image *img;
	struct llvm_row *row;
	size_t nr;
	size_t room;
	char op_name[256][24];	/* by code, without "DW_OP_" */
};

static bool add_row(struct oracle_llvm *o, u64 fde, const char *line)
{
	char *end;
	u64 pc = strtoull(line, &end, 16);

	if (strncmp(end, ": CFA=", 6))
		return true;
	if (o->nr == o->room) {
		size_t room = o->room ? 2 * o->room : 1024;
		struct llvm_row *grown = reallocarray(o->row, room, sizeof(*grown));

		if (!grown)
			return false;
		o->row = grown;
		o->room = room;
	}
	o->row[o->nr] = (struct llvm_row){ fde, pc, strdup(end + 2) };
	return o->row[o->nr++].text != NULL;
}

/* Takes FDE heads ("00000030 00000014 0000001c FDE cie=...") and rows from the output. */
static bool read_output(struct oracle_llvm *o, FILE *in)
{
	bool good = true, in_eh_frame = false, in_fde = false;
	char *line = NULL;
	size_t size = 0;
	u64 fde = 0;

	while (good && getline(&line, &size, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, ".eh_frame contents", 18))
			in_eh_frame = true;
		if (!in_eh_frame)
			continue;
		if (strstr(line, " FDE cie=")) {
			fde = strtoull(line, NULL, 16);
			in_fde = true;
		} else if (strstr(line, " CIE")) {
			in_fde = false;
		} else if (in_fde && !strncmp(line, "  0x", 4)) {
			good = add_row(o, fde, line + 2);
		}
	}
	free(line);
	return good;
}

static pid_t spawn(const char *path, int *fd)
{
	static const char *const names[] = { "llvm-dwarfdump", "llvm-dwarfdump-14" };
	posix_spawn_file_actions_t actions;
	int p[2], err = ENOENT;
	pid_t pid = -1;

	if (pipe2(p, O_CLOEXEC))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, p[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	for (size_t i = 0; err && i < EHF_ARRAY_SIZE(names); i++) {
		const char *argv[] = { names[i], "--eh-frame", "--", path, NULL };

		err = posix_spawnp(&pid, names[i], &actions, NULL, (char **)(uintptr_t)argv,
				   environ);
	}
	posix_spawn_file_actions_destroy(&actions);
	close(p[1]);
	if (err) {
		close(p[0]);
		return -1;
	}
	*fd = p[0];
	return pid;
}

/* "R11D" is 11, "F4D" the DWARF number of f4: s390x ABI supplement, 1.5.1. */
static bool find_s390x_reg(const char *name, u64 *reg)
{
	static const u8 fpr[] = {
		16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31,
	};
	char *end;
	u64 n;

	if (name[1] < '0' || name[1] > '9')
		return false;
	n = strtoull(name + 1, &end, 10);
	if (n >= sizeof(fpr) || strcmp(end, "D"))
		return false;
	*reg = name[0] == 'F' ? fpr[n] : n;
	return name[0] == 'F' || name[0] == 'R';
}

/*
 * Registers by the names that llvm has for the parts of them that DWARF numbers: "R11D" and "F0D"
 * on s390x, "W29" and "WSP" on AArch64, "RBP" or "EBP" on x86.
 */
static bool find_reg(const struct oracle_llvm *o, const char *name, size_t len, u64 *reg)
{
	const struct ehu_arch *arch = o->img->arch;
	char plain[16];

	if (len > 3 && !strncasecmp(name, "reg", 3)) {
		*reg = strtoull(name + 3, NULL, 10);
		return true;
	}
	if (!len || len >= sizeof(plain))
		return false;
	memcpy(plain, name, len);
	plain[len] = '\0';
	if (arch == &ehu_arch_s390x)
		return find_s390x_reg(plain, reg);
	if (arch == &ehu_arch_aarch64 && !strcmp(plain, "WSP"))
		strcpy(plain, "SP");
	else if (arch == &ehu_arch_aarch64 && plain[0] == 'W')
		plain[0] = 'X';
	for (u32 i = 0; i < arch->nr_reg_names; i++) {
		if (arch->reg_name[i] && !strcasecmp(arch->reg_name[i], plain)) {
			*reg = i;
			return true;
		}
	}
	return false;
}

/* "RSP+8", "RSP-8" or "RSP": up to the first of ":,]" and blanks. */
static bool parse_reg_off(const struct oracle_llvm *o, const char *s, u64 *reg, s64 *off)
{
	size_t len = strcspn(s, "+-:,] ");

	*off = s[len] == '+' || s[len] == '-' ? strtoll(s + len, NULL, 10) : 0;
	return find_reg(o, s, len, reg);
}

/* "DW_OP_breg6 RBP-40", "DW_OP_plus_uconst 0x8", "DW_OP_deref" */
static bool parse_op(const struct oracle_llvm *o, const char *s, struct ehf_raw_op *op)
{
	size_t len;
	u32 code;
	u64 reg;

	s += strlen("DW_OP_");
	len = strcspn(s, " ,]:");
	for (code = 0; code < 256; code++) {
		if (strlen(o->op_name[code]) == len && !strncmp(o->op_name[code], s, len))
			break;
	}
	if (code == 256)
		return false;
	*op = (struct ehf_raw_op){ .code = (u8)code };
	s += len;
	if (*s != ' ')
		return true;
	s++;
	if (!strncmp(o->op_name[code], "breg", 4))
		return parse_reg_off(o, s, code == 0x92 ? &op->arg : &reg, &op->off) &&
		       (code == 0x92 || (op->arg = code - 0x70, true));
	op->arg = (u64)strtoll(s, NULL, 0);
	if (code == 0x11)	/* consts keeps its operand in both */
		op->off = (s64)op->arg;
	return true;
}

/* Operations from @s on, separated by ", "; returns what follows them, or NULL. */
static const char *parse_ops(const struct oracle_llvm *o, const char *s, struct oracle_rule *rule)
{
	for (;;) {
		if (rule->nr_ops == ORACLE_MAX_OPS || !parse_op(o, s, &rule->ops[rule->nr_ops]))
			return NULL;
		rule->nr_ops++;
		s += strcspn(s, ",]:");
		if (strncmp(s, ", DW_OP_", 8))
			return s;
		s += 2;
	}
}

/* The value behind "NAME="; returns what follows it, or NULL for one that is not understood. */
static const char *parse_value(const struct oracle_llvm *o, const char *s, bool is_cfa,
			       struct oracle_rule *rule)
{
	bool deref = *s == '[';

	s += deref;
	if (!strncmp(s, "DW_OP_", 6)) {
		rule->kind = deref ? ORACLE_AT_EXPR : ORACLE_VAL_EXPR;
		s = parse_ops(o, s, rule);
		if (!s)
			return NULL;
	} else if (!strncmp(s, "undefined", 9)) {
		rule->kind = ORACLE_UNDEF;
	} else if (!strncmp(s, "same", 4)) {
		rule->kind = ORACLE_SAME;
	} else if (!is_cfa && !strncmp(s, "CFA", 3)) {
		rule->kind = deref ? ORACLE_AT_CFA : ORACLE_VAL_CFA;
		rule->off = s[3] == '+' || s[3] == '-' ? strtoll(s + 3, NULL, 10) : 0;
	} else if (!deref && parse_reg_off(o, s, &rule->reg, &rule->off)) {
		rule->kind = ORACLE_REG;
	} else {
		return NULL;
	}
	return s + strcspn(s, is_cfa ? ":" : ",");
}

static bool parse_row(struct oracle_llvm *o, const char *s, const u16 *regs, struct oracle_row *row)
{
	struct oracle_rule skipped = { .ops = NULL };
	struct ehf_raw_op unused[ORACLE_MAX_OPS];

	s = parse_value(o, s + strlen("CFA="), true, &row->rule[ORACLE_CFA]);
	while (s && (*s == ':' || *s == ',')) {
		struct oracle_rule *rule = &skipped;
		size_t len;
		u64 reg = 0;

		s += strspn(s, ":, ");
		if (!*s)
			break;
		len = strcspn(s, "=");
		if (s[len] != '=' || !find_reg(o, s, len, &reg))
			return false;
		for (u32 k = 0; k < EHF_NR_TRACKED; k++) {
			if (regs[k] == reg)
				rule = &row->rule[k];
		}
		skipped = (struct oracle_rule){ .ops = unused };
		s = parse_value(o, s + len + 1, false, rule);
	}
	return s != NULL;
}

static enum oracle_answer llvm_row(struct oracle *oracle, u64 pc, const struct ehf_fde *fde,
				   struct oracle_row *row)
{
	struct oracle_llvm *o = (struct oracle_llvm *)oracle;
	const u16 regs[EHF_NR_TRACKED] = {
		[EHF_FP] = o->img->arch->abi.reg_fp,
		[EHF_RA] = fde->cie.ra_reg,
		[EHF_SP] = o->img->arch->abi.reg_sp,
	};
	const struct llvm_row *best = NULL;

	for (size_t i = 0; i < o->nr; i++) {
		if (o->row[i].fde == fde->addr - o->img->section.eh_frame && o->row[i].pc <= pc)
			best = &o->row[i];
	}
	row->end = 0;
	row->knows_signal = false;
	row->defaults = false;
	row->ra_reg = fde->cie.ra_reg;
	for (u32 k = 0; k < ORACLE_NR_RULES; k++)
		row->rule[k] = (struct oracle_rule){ .kind = ORACLE_UNSPEC, .ops = row->ops[k] };
	if (!best) {
		snprintf(row->why, sizeof(row->why), "prints no row there");
		return ORACLE_NONE;
	}
	if (!parse_row(o, best->text, regs, row)) {
		snprintf(row->why, sizeof(row->why), "not understood: %.90s", best->text);
		return ORACLE_REFUSES;
	}
	return ORACLE_ROW;
}

static void llvm_close(struct oracle *oracle)
{
	struct oracle_llvm *o = (struct oracle_llvm *)oracle;

	for (size_t i = 0; i < o->nr; i++)
		free(o->row[i].text);
	free(o->row);
	free(o);
}

/* The names that rule texts use are llvm's without the prefix. */
static void name_ops(struct oracle_llvm *o)
{
	for (u32 code = 0; code < 256; code++) {
		struct ehf_raw_op op = { .code = (u8)code };
		char text[64];
		size_t len;

		rule_text_op(text, sizeof(text), &op);
		len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
		if (len < sizeof(o->op_name[0]))
			memcpy(o->op_name[code], text, len);
	}
}

/**
 * oracle_llvm_open() - run llvm-dwarfdump on a file and keep its rows
 * @img: the file; must outlive the oracle
 * @why: filled in on failure
 * @n: bytes of @why
 *
 * Return: the oracle, or NULL.
 */
struct oracle *oracle_llvm_open(struct image *img, char *why, size_t n)
{
	struct oracle_llvm *o = calloc(1, sizeof(*o));
	bool good = false;
	int fd = -1;
	pid_t pid;
	FILE *in;

	snprintf(why, n, "llvm-dwarfdump cannot be run");
	if (!o)
		return NULL;
	o->oracle = (struct oracle){ "llvm-dwarfdump", true, llvm_row, llvm_close };
	o->img = img;
	name_ops(o);
	pid = spawn(img->path, &fd);
	if (pid > 0) {
		in = fdopen(fd, "r");
		if (in) {
			good = read_output(o, in) && o->nr;
			fclose(in);
		} else {
			close(fd);
		}
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		if (!good)
			snprintf(why, n, "llvm-dwarfdump prints no rows");
	}
	if (!good) {
		llvm_close(&o->oracle);
		return NULL;
	}
	return &o->oracle;
}
