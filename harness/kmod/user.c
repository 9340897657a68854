// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The current task as the core sees it: its memory, its registers and its machine.
 */
#include <linux/compat.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#include "harness/kmod/kmod.h"

static bool user_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	struct kmod_mem *m = container_of(mem, struct kmod_mem, mem);
	const void __user *from = u64_to_user_ptr(addr);
	bool ok;

	if (m->nofault) {
		ok = !copy_from_user_nofault(dst, from, len);
	} else {
		/* A walk or the check of a table may read for long: be preempted, be killed. */
		cond_resched();
		ok = !fatal_signal_pending(current) && !copy_from_user(dst, from, len);
	}
	m->faults += !ok;
	return ok;
}

/**
 * kmod_mem_init() - the current task's memory
 * @m: filled in
 * @nofault: fail where a page is not in memory; else bring it in, which may sleep
 */
void kmod_mem_init(struct kmod_mem *m, bool nofault)
{
	*m = (struct kmod_mem){ .mem.read = user_read, .nofault = nofault };
}

#if defined(CONFIG_X86_64)

#include <asm/ptrace.h>

const struct ehu_arch *kmod_regs(struct pt_regs *regs, struct ehu_regs *to)
{
	const unsigned long r64[] = {
		regs->ax, regs->dx, regs->cx, regs->bx, regs->si, regs->di, regs->bp, regs->sp,
		regs->r8, regs->r9, regs->r10, regs->r11, regs->r12, regs->r13, regs->r14,
		regs->r15, regs->ip,
	};
	const unsigned long r32[] = {
		regs->ax, regs->cx, regs->dx, regs->bx, regs->sp, regs->bp, regs->si, regs->di,
		regs->ip,
	};
	bool wide = user_64bit_mode(regs);
	u32 nr = wide ? ARRAY_SIZE(r64) : ARRAY_SIZE(r32);
	u32 k;

	if (v8086_mode(regs))
		return NULL;
	*to = (struct ehu_regs){ .ip = wide ? regs->ip : (u32)regs->ip };
	for (k = 0; k < nr; k++) {
		to->reg[k] = wide ? r64[k] : (u32)r32[k];
		to->known |= 1ULL << k;
	}
	return wide ? &ehu_arch_x86_64 : &ehu_arch_i386;
}

#elif defined(CONFIG_S390)

#include <asm/fpu/api.h>
#include <asm/fpu/internal.h>
#include <asm/ptrace.h>

const struct ehu_arch *kmod_regs(struct pt_regs *regs, struct ehu_regs *to)
{
	/* f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15 are 16 to 31. */
	static const u8 dwarf[] = {
		16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31,
	};
	_s390_fp_regs fp;
	u32 k;

	if (!(regs->psw.mask & PSW_MASK_EA))
		return NULL;
	*to = (struct ehu_regs){ .ip = regs->psw.addr, .known = ~0U };
	save_fpu_regs();
	fpregs_store(&fp, &current->thread.fpu);
	for (k = 0; k < 16; k++) {
		to->reg[k] = regs->gprs[k];
		memcpy(&to->reg[dwarf[k]], &fp.fprs[k], sizeof(to->reg[0]));
	}
	return &ehu_arch_s390x;
}

#else
#error "no registers for this machine"
#endif

/**
 * kmod_arch() - the machine that the current task is a program of
 *
 * Return: NULL where it is none that is supported.
 */
const struct ehu_arch *kmod_arch(void)
{
	struct ehu_regs regs;

	return kmod_regs(task_pt_regs(current), &regs);
}
