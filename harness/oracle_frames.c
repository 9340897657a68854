// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Unwinds a sample with libdwfl, and says of each frame how libdwfl came to it.
 */
#include "harness/oracle_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/rule_text.h"

/* libdwfl asks for ids; a session walks one thread of one process at a time. */
#define THE_TID 1

/**
 * struct oracle_frames - a libdwfl session
 * @arch: the machine
 * @dwfl: the session
 * @di: finds files with .debug_frame; NULL for no other file than those of the process
 * @attached: dwfl_attach_state() was called: once there was a module to tell the machine
 * @regs: of the sample that is being walked
 * @mem: its memory
 * @cost: of that walk
 * @error: libdwfl's word on how the last walk ended, "" where the stack ended
 */
struct oracle_frames {
	const struct ehu_arch *arch;
	Dwfl *dwfl;
	struct debuginfo *di;
	bool attached;
	const struct ehu_regs *regs;
	const struct ehf_mem *mem;
	struct oracle_frames_cost cost;
	char error[160];
	char reg_text[16];
};

/* A walk under way. */
struct walk {
	struct oracle_frames *o;
	struct compare_oracle *out;
	u32 max;
	bool exact;	/* the next frame's pc is no return address */
	u8 via;		/* how the next frame is reached */
	bool guessed;	/* what follows is not compared */
};

/* libdwfl is given each file when it is told the module. */
static int no_file(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		   char **file_name, Elf **elf)
{
	(void)mod, (void)userdata, (void)name, (void)base, (void)file_name, (void)elf;
	return -1;
}

/*
 * What .eh_frame does not say, libdw finds in another file only where it was asked for, and then
 * by our search: its own would take what it finds on this host.
 */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **found)
{
	struct oracle_frames *o = *userdata;
	struct debuginfo_file *file, *debug;
	int fd = -1;

	(void)mod, (void)base, (void)file_name, (void)link, (void)crc;
	if (!o || !o->di || debuginfo_open(o->di, 0, name, &file) != DEBUGINFO_ACCEPTED)
		return -1;
	debug = debuginfo_find(o->di, file, DEBUGINFO_FRAME);
	if (debug) {
		*found = strdup(debug->host_path);
		fd = *found ? dup(debug->fd) : -1;
	}
	debuginfo_close(debug);
	debuginfo_close(file);
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = no_file,
	.find_debuginfo = find_debuginfo,
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return THE_TID;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl;
	*thread = arg;
	return tid == THE_TID;
}

/* A word of the target, as a number of the host. */
static bool memory_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result, void *arg)
{
	struct oracle_frames *o = arg;
	const struct ehf_abi *abi = &o->arch->abi;
	u32 len = o->arch->elf_class == 1 ? 4 : 8, k;
	u8 bytes[8];
	u64 v = 0;

	(void)dwfl;
	o->cost.reads++;
	if (addr > UINT64_MAX - len || !o->mem->read(o->mem, addr, bytes, len)) {
		o->cost.failed++;
		return false;
	}
	for (k = 0; k < len; k++)
		v |= (u64)bytes[k] << 8 * (abi->big_endian ? len - 1 - k : k);
	*result = v;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	struct oracle_frames *o = arg;
	const struct ehu_regs *regs = o->regs;
	u32 k;

	for (k = 0; k < EHU_NR_REGS; k++) {
		Dwarf_Word v = regs->reg[k];

		if (regs->known >> k & 1 && !(o->arch->ra_is_pc && k == o->arch->abi.reg_ra) &&
		    !dwfl_thread_state_registers(thread, (int)k, 1, &v))
			return false;
	}
	if (o->arch->ra_is_pc) {
		Dwarf_Word pc = regs->ip;

		return dwfl_thread_state_registers(thread, o->arch->abi.reg_ra, 1, &pc);
	}
	dwfl_thread_state_register_pc(thread, regs->ip);
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

/*
 * Which CFI libdwfl will use at @addr, in the order in which it looks (__libdwfl_frame_unwind()
 * in elfutils 0.188): .eh_frame, .debug_frame, then the backend's guess. It says nothing of that
 * itself.
 */
static enum compare_via covers(struct oracle_frames *o, u64 addr, bool *signal)
{
	Dwfl_Module *mod = dwfl_addrmodule(o->dwfl, addr);
	Dwarf_CFI *cfi;
	Dwarf_Frame *frame;
	Dwarf_Addr bias;

	*signal = false;
	if (!mod)
		return COMPARE_VIA_GUESS;
	cfi = dwfl_module_eh_cfi(mod, &bias);
	if (cfi && !dwarf_cfi_addrframe(cfi, addr - bias, &frame)) {
		dwarf_frame_info(frame, NULL, NULL, signal);
		free(frame);
		return COMPARE_VIA_EH_FRAME;
	}
	cfi = dwfl_module_dwarf_cfi(mod, &bias);
	if (cfi && !dwarf_cfi_addrframe(cfi, addr - bias, &frame)) {
		dwarf_frame_info(frame, NULL, NULL, signal);
		free(frame);
		return COMPARE_VIA_DEBUG_FRAME;
	}
	return COMPARE_VIA_GUESS;
}

/*
 * The trampoline of a signal without CFI, by its code: its number among the machine's layouts, or
 * -1. What libdw's backend makes of it is its own affair: s390_unwind() knows frames of
 * sigreturn (svc 119) and no others, aarch64 none.
 */
static int signal_code(struct oracle_frames *o, u64 pc)
{
	u8 code[16];

	for (u32 k = 0; k < o->arch->nr_signal; k++) {
		const struct ehu_signal_layout *l = &o->arch->signal[k];

		if (l->code && l->code_len <= sizeof(code) && pc <= UINT64_MAX - sizeof(code) &&
		    o->mem->read(o->mem, pc, code, l->code_len) &&
		    !memcmp(code, l->code, l->code_len))
			return (int)k;
	}
	return -1;
}

/* At the topmost frame's pc s390_unwind() undoes a step back that nobody took, and finds nothing. */
static void look_for_trampoline(struct walk *w, u64 pc, bool exact)
{
	static const u8 svc_sigreturn[] = { 0x0a, 0x77 };
	int k = signal_code(w->o, pc);
	const struct ehu_signal_layout *l = k < 0 ? NULL : &w->o->arch->signal[k];

	if (!l)
		return;
	if (w->o->arch == &ehu_arch_s390x && !exact && !memcmp(l->code, svc_sigreturn, l->code_len)) {
		w->via = COMPARE_VIA_SIGNAL;
		w->exact = true;
	} else {
		w->out->fault = COMPARE_FAULT_SIGNAL_CODE;
	}
}

/*
 * Behind a signal frame that s390_unwind() has followed, libdw has the FPRs in architectural order
 * where DWARF has its own: a register that a leaf parked in one comes out as another one's.
 */
static bool is_parked(struct oracle_frames *o, u64 pc)
{
	const int regs[] = { o->arch->abi.reg_fp, o->arch->abi.reg_sp };
	Dwfl_Module *mod = dwfl_addrmodule(o->dwfl, pc);
	Dwarf_CFI *cfi;
	Dwarf_Frame *frame;
	Dwarf_Addr bias;
	bool parked = false;

	cfi = mod ? dwfl_module_eh_cfi(mod, &bias) : NULL;
	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame))
		return false;
	for (size_t k = 0; k < EHF_ARRAY_SIZE(regs); k++) {
		Dwarf_Op mem[3], *ops;
		size_t nr;

		if (!dwarf_frame_register(frame, regs[k], mem, &ops, &nr) && nr == 1 &&
		    ops[0].atom == DW_OP_regx && ops[0].number >= 16 && ops[0].number < 32)
			parked = true;
	}
	free(frame);
	return parked;
}

static int on_frame(Dwfl_Frame *state, void *arg)
{
	struct walk *w = arg;
	const struct ehf_abi *abi = &w->o->arch->abi;
	const u64 ra_mask = ehu_arch_ra_mask(w->o->arch, 0);
	struct compare_frame *f;
	Dwarf_Word v;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(state, &pc, NULL))
		return DWARF_CB_ABORT;
	if (w->out->nr == w->max) {
		w->out->full = true;
		return DWARF_CB_ABORT;
	}
	if (!w->guessed && w->out->nr && pc & ~ra_mask) {
		w->out->fault = COMPARE_FAULT_SIGNED_RA;
		w->out->next_pc = pc & ra_mask;
		return DWARF_CB_ABORT;
	}
	f = &w->out->frame[w->out->nr++];
	*f = (struct compare_frame){ .pc = pc, .via = w->via, .exact = w->exact };
	if (!dwfl_frame_reg(state, abi->reg_sp, &v)) {
		f->sp = v;
		f->sp_known = true;
	}
	if (!dwfl_frame_reg(state, abi->reg_fp, &v)) {
		f->fp = v;
		f->fp_known = true;
	}
	exact = w->exact;
	if (w->via == COMPARE_VIA_SIGNAL && is_parked(w->o, pc)) {
		w->out->fault = COMPARE_FAULT_FPR_ORDER;
		return DWARF_CB_ABORT;
	}
	w->via = covers(w->o, exact ? pc : pc - 1, &w->exact);
	/*
	 * The vDSO of s390x has CFI for its trampolines that says nothing of a signal. A return
	 * address is looked up before it; only a pc that is right there meets it, and comes out
	 * twice.
	 */
	if (exact && w->via == COMPARE_VIA_EH_FRAME && !w->exact && signal_code(w->o, pc) >= 0) {
		w->out->fault = COMPARE_FAULT_SIGNAL_CODE;
		return DWARF_CB_ABORT;
	}
	if (w->via == COMPARE_VIA_GUESS && !w->guessed)
		look_for_trampoline(w, pc, exact);
	w->guessed |= w->via == COMPARE_VIA_GUESS || w->via == COMPARE_VIA_DEBUG_FRAME;
	return DWARF_CB_OK;
}

static bool attach(struct oracle_frames *o)
{
	if (!o->attached)
		o->attached = dwfl_attach_state(o->dwfl, NULL, THE_TID, &thread_callbacks, o);
	return o->attached;
}

static void keep_error(struct oracle_frames *o)
{
	const char *text = dwfl_errmsg(-1);

	strncpy(o->error, text ? text : "unknown error", sizeof(o->error) - 1);
}

/**
 * oracle_frames_new() - begin a session without modules
 * @arch: the machine; the modules decide which one libdwfl takes, and have to agree
 *
 * A session is for one address space while no two modules have used one address: a process, up
 * to an exec or the reuse of a range.
 *
 * Return: the session, NULL where memory ran out.
 */
struct oracle_frames *oracle_frames_new(const struct ehu_arch *arch)
{
	struct oracle_frames *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->arch = arch;
	o->dwfl = dwfl_begin(&callbacks);
	if (!o->dwfl) {
		free(o);
		return NULL;
	}
	dwfl_report_begin(o->dwfl);
	dwfl_report_end(o->dwfl, NULL, NULL);
	return o;
}

/**
 * oracle_frames_debuginfo() - let libdw use .debug_frame of separate files
 * @o: the session, before modules are added
 * @di: the search; must outlive the session
 *
 * Frames that it reaches by them are still cut from the comparison, and counted.
 */
void oracle_frames_debuginfo(struct oracle_frames *o, struct debuginfo *di)
{
	o->di = di;
}

/**
 * oracle_frames_free() - end a session
 * @o: the session, or NULL
 */
void oracle_frames_free(struct oracle_frames *o)
{
	if (!o)
		return;
	dwfl_end(o->dwfl);
	free(o);
}

/**
 * oracle_frames_add() - tell a module
 * @o: the session
 * @name: what to call it
 * @fd: its ELF file, which is read from; stays the caller's
 * @bias: added to ELF virtual addresses
 *
 * Once for each file and bias, however many mappings it has: libdwfl drops the second report of
 * one as overlapping. Modules may be added between walks.
 *
 * Return: 0, or a negative errno value, with oracle_frames_error().
 */
int oracle_frames_add(struct oracle_frames *o, const char *name, int fd, u64 bias)
{
	int own = dup(fd), result = 0;
	Dwfl_Module *mod;
	void **userdata;

	if (own < 0)
		return -errno;
	dwfl_report_begin_add(o->dwfl);
	/* libdwfl owns the descriptor from here on, unless it refuses. */
	mod = dwfl_report_elf(o->dwfl, name, name, own, bias, true);
	if (!mod) {
		keep_error(o);
		close(own);
		result = -EINVAL;
	} else {
		dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
		*userdata = o;
	}
	dwfl_report_end(o->dwfl, NULL, NULL);
	return result;
}

/**
 * oracle_frames_walk() - unwind a sample
 * @o: the session
 * @regs: registers of the topmost frame
 * @mem: the task's memory
 * @max: frames that @out->frame has room for, 1 at least
 * @out: @frame is given, the rest is filled in
 * @cost: filled in, if not NULL
 *
 * libdwfl's end of a stack says little: "outermost" may be an undefined or zero return address,
 * or one that cannot be read; an error may be a pc without CFI or the end of ld.so's stack. So
 * the frames are what counts. Source: backends and libdwfl/frame_unwind.c of elfutils 0.188.
 *
 * Return: 0, or a negative errno value where there is no walk: oracle_frames_error().
 */
int oracle_frames_walk(struct oracle_frames *o, const struct ehu_regs *regs,
		       const struct ehf_mem *mem, u32 max, struct compare_oracle *out,
		       struct oracle_frames_cost *cost)
{
	struct walk w = { .o = o, .out = out, .max = max, .exact = true,
			  .via = COMPARE_VIA_REGS };

	out->nr = 0;
	out->full = false;
	out->fault = COMPARE_FAULT_NONE;
	/* libdwfl reads words as long as the ELF class says; x32's registers are longer. */
	out->fp_lost = o->arch->abi.word_size > o->arch->abi.addr_size ? ~0xffffffffULL : 0;
	o->regs = regs;
	o->mem = mem;
	o->cost = (struct oracle_frames_cost){ 0 };
	o->error[0] = '\0';
	if (!attach(o)) {
		keep_error(o);
		return -EINVAL;
	}
	if (dwfl_getthread_frames(o->dwfl, THE_TID, on_frame, &w) < 0)
		keep_error(o);
	if (cost)
		*cost = o->cost;
	return out->nr ? 0 : -EINVAL;
}

struct pcs {
	u64 *pc;
	u32 nr;
	u32 max;
};

static int on_pc(Dwfl_Frame *state, void *arg)
{
	struct pcs *p = arg;
	Dwarf_Addr pc;

	if (p->nr == p->max || !dwfl_frame_pc(state, &pc, NULL))
		return DWARF_CB_ABORT;
	p->pc[p->nr++] = pc;
	return DWARF_CB_OK;
}

/**
 * oracle_frames_pcs() - unwind a sample for its pcs alone, as fast as libdwfl can
 * @o: the session
 * @regs: registers of the topmost frame
 * @mem: the task's memory
 * @pc: filled in
 * @max: room there
 *
 * What a benchmark compares with: nothing is asked about how a frame was found.
 *
 * Return: number of frames, or a negative errno value.
 */
int oracle_frames_pcs(struct oracle_frames *o, const struct ehu_regs *regs,
		      const struct ehf_mem *mem, u64 *pc, u32 max)
{
	struct pcs p = { pc, 0, max };

	o->regs = regs;
	o->mem = mem;
	if (!attach(o))
		return -EINVAL;
	dwfl_getthread_frames(o->dwfl, THE_TID, on_pc, &p);
	return (int)p.nr;
}

/**
 * oracle_frames_error() - what libdwfl said last
 * @o: the session
 *
 * Return: a text that is valid until the next call; "" where the stack just ended.
 */
const char *oracle_frames_error(const struct oracle_frames *o)
{
	return o->error;
}

/**
 * oracle_frames_symbol() - the name of an address, by libdwfl
 * @o: the session
 * @addr: address in the target, already minus 1 for a return address
 * @off: set to the bytes from the symbol
 *
 * Symbols are loaded by the first call.
 *
 * Return: a name that lives as long as the session, or NULL.
 */
const char *oracle_frames_symbol(struct oracle_frames *o, u64 addr, u64 *off)
{
	Dwfl_Module *mod = dwfl_addrmodule(o->dwfl, addr);
	GElf_Off offset = 0;
	GElf_Sym sym;
	const char *name;

	*off = 0;
	if (!mod)
		return NULL;
	name = dwfl_module_addrinfo(mod, addr, &offset, &sym, NULL, NULL, NULL);
	*off = offset;
	return name;
}

/* Appends to a text of fixed size; what does not fit is cut. */
static void append(char *buf, size_t n, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void append(char *buf, size_t n, const char *format, ...)
{
	size_t len = strlen(buf);
	va_list ap;

	va_start(ap, format);
	vsnprintf(buf + len, n - len, format, ap);
	va_end(ap);
}

/* For one use at a time. */
static const char *reg_name(struct oracle_frames *o, u64 reg)
{
	rule_text_reg_name(o->reg_text, sizeof(o->reg_text), o->arch,
			   reg < EHF_REG_OTHER ? (unsigned int)reg : EHF_REG_OTHER);
	return o->reg_text;
}

static void append_ops(struct oracle_frames *o, char *buf, size_t n, const Dwarf_Op *ops,
		       size_t nr)
{
	size_t k;

	for (k = 0; k < nr; k++) {
		const Dwarf_Op *op = &ops[k];

		append(buf, n, "%s", k ? ";" : "");
		if (op->atom == DW_OP_bregx)
			append(buf, n, "%s%+ld", reg_name(o, op->number), (long)op->number2);
		else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
			append(buf, n, "%s%+ld", reg_name(o, op->atom - DW_OP_breg0),
			       (long)op->number);
		else if (op->atom == DW_OP_deref)
			append(buf, n, "deref");
		else if (op->atom == DW_OP_stack_value)
			append(buf, n, "value");
		else
			append(buf, n, "op%#x(%ld)", op->atom, (long)op->number);
	}
}

static void append_reg(struct oracle_frames *o, char *buf, size_t n, Dwarf_Frame *frame,
		       const char *name, int reg)
{
	Dwarf_Op mem[3], *ops;
	size_t nr, used = 1;
	long off = 0;

	append(buf, n, " %s=", name);
	if (dwarf_frame_register(frame, reg, mem, &ops, &nr)) {
		append(buf, n, "error");
	} else if (!nr) {
		append(buf, n, "%s", ops == mem ? "undef" : "same");
	} else if (ops[0].atom == DW_OP_regx) {
		append(buf, n, "reg(%s)", reg_name(o, ops[0].number));
	} else if (ops[0].atom == DW_OP_call_frame_cfa) {
		if (nr > 1 && ops[1].atom == DW_OP_plus_uconst)
			off = (long)ops[used++].number;
		if (nr == used)
			append(buf, n, "[CFA%+ld]", off);
		else if (nr == used + 1 && ops[used].atom == DW_OP_stack_value)
			append(buf, n, "val(CFA%+ld)", off);
		else
			append_ops(o, buf, n, ops, nr);
	} else {
		append(buf, n, "expr{");
		append_ops(o, buf, n, ops, nr);
		append(buf, n, "}");
	}
}

/**
 * oracle_frames_row() - libdw's row at an address, as text
 * @o: the session
 * @addr: address in the target, already minus 1 for a return address
 * @buf: filled in; a text in any case
 * @n: room there, 1 at least
 *
 * The grammar is that of harness/rule_text.h, with the operations of an expression as libdw has
 * them.
 */
void oracle_frames_row(struct oracle_frames *o, u64 addr, char *buf, size_t n)
{
	Dwfl_Module *mod = dwfl_addrmodule(o->dwfl, addr);
	Dwarf_CFI *cfi;
	Dwarf_Frame *frame;
	Dwarf_Addr bias = 0;
	Dwarf_Op *ops;
	size_t nr;
	bool signal = false;
	int ra;

	buf[0] = '\0';
	cfi = mod ? dwfl_module_eh_cfi(mod, &bias) : NULL;
	if (!cfi || dwarf_cfi_addrframe(cfi, addr - bias, &frame)) {
		append(buf, n, "%s", mod ? "no row" : "not in a module");
		return;
	}
	ra = dwarf_frame_info(frame, NULL, NULL, &signal);
	append(buf, n, "CFA=");
	if (dwarf_frame_cfa(frame, &ops, &nr) || !nr)
		append(buf, n, "error");
	else if (nr == 1)
		append_ops(o, buf, n, ops, nr);
	else
		append(buf, n, "expr{"), append_ops(o, buf, n, ops, nr), append(buf, n, "}");
	append_reg(o, buf, n, frame, "RA", ra);
	append_reg(o, buf, n, frame, "FP", o->arch->abi.reg_fp);
	append_reg(o, buf, n, frame, "SP", o->arch->abi.reg_sp);
	append(buf, n, "%s", signal ? " sig" : "");
	free(frame);
}
