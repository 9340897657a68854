// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Every instruction of a call through the PLT, lazy binding included: the program steps itself by
 * the trap flag, and each step is traced from the signal handler.
 *
 * Wherever the call is, what is behind its return address is known.
 */
#include "selftests/kernel/guest.h"

#include <ucontext.h>

#if defined(__x86_64__) || defined(__i386__)

#ifdef __x86_64__
#define UC_IP(uc) ((uintptr_t)(uc)->uc_mcontext.gregs[REG_RIP])
#else
#define UC_IP(uc) ((uintptr_t)(uc)->uc_mcontext.gregs[REG_EIP])
#endif

long plug(long (*fn)(void *arg), void *arg);

/*
 * Notes its own return address and CFA in known_outer, begins to step, and calls plug() from the
 * only place whose address is known: plug_returns is behind it.
 */
long stepped_call(void);
extern const char stepped_end[], plug_returns[];
struct truth known_outer __attribute__((visibility("hidden"), used));
long note(void *arg) __attribute__((visibility("hidden"), used));

__asm__(".text\n"
	".type stepped_call, @function\n"
	"stepped_call:\n"
	"	.cfi_startproc\n"
#ifdef __x86_64__
	"	mov (%rsp), %rax\n"
	"	mov %rax, known_outer(%rip)\n"
	"	lea 8(%rsp), %rax\n"
	"	mov %rax, known_outer+8(%rip)\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	orl $0x100, (%rsp)\n"
	"	popfq\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	lea note(%rip), %rdi\n"
	"	xor %esi, %esi\n"
	"	call plug@PLT\n"
	"plug_returns:\n"
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	andl $~0x100, (%rsp)\n"
	"	popfq\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
#else
	"	mov (%esp), %eax\n"
	"	mov %eax, known_outer\n"
	"	lea 4(%esp), %eax\n"
	"	mov %eax, known_outer+4\n"
	"	sub $12, %esp\n"
	"	.cfi_adjust_cfa_offset 12\n"
	"	pushfl\n"
	"	.cfi_adjust_cfa_offset 4\n"
	"	orl $0x100, (%esp)\n"
	"	popfl\n"
	"	.cfi_adjust_cfa_offset -4\n"
	"	movl $note, (%esp)\n"
	"	movl $0, 4(%esp)\n"
	"	call plug@PLT\n"
	"plug_returns:\n"
	"	pushfl\n"
	"	.cfi_adjust_cfa_offset 4\n"
	"	andl $~0x100, (%esp)\n"
	"	popfl\n"
	"	.cfi_adjust_cfa_offset -4\n"
	"	add $12, %esp\n"
	"	.cfi_adjust_cfa_offset -12\n"
#endif
	"	ret\n"
	"	.cfi_endproc\n"
	"stepped_end:\n"
	".size stepped_call, . - stepped_call\n");

static int dev_fd;
static struct trace last;
static int steps, inside, cut, bad;

static void on_step(int sig TH_UNUSED, siginfo_t *info TH_UNUSED, void *context)
{
	uintptr_t pc = UC_IP((ucontext_t *)context);
	uint64_t cookie;
	uintptr_t ip;
	uint32_t at = 3;

	steps++;
	if (ask(dev_fd, &cookie, &ip) || !next_trace(dev_fd, &last) || last.head.nr < 3 ||
	    last.entry[2].ip != pc) {
		bad++;
		return;
	}
	if (pc < (uintptr_t)stepped_call || pc >= (uintptr_t)stepped_end) {
		inside++;
		while (at < last.head.nr && last.entry[at].ip != (uintptr_t)plug_returns)
			at++;
		at++;
	}
	if (at < last.head.nr && last.entry[at].ip == known_outer.ra &&
	    last.entry[at].sp == known_outer.cfa && has_truth(&last, at + 1, nr_truth) &&
	    is_complete(&last))
		return;
	/*
	 * _dl_runtime_resolve keeps its CFA in rbx, which its callees save, and of which nothing
	 * is known once they are passed.
	 */
	if (last.head.stop == EHF_STOP_CFA_REG && last.head.nr > 3) {
		cut++;
		return;
	}
	if (!bad++) {
		fprintf(stderr, "# step %d\n", steps);
		print_trace(&last);
	}
}

long note(void *arg TH_UNUSED)
{
	return 1;
}

static void step_once(int fd)
{
	struct sigaction sa = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };

	steps = inside = cut = bad = 0;
	dev_fd = fd;
	ASSERT_EQ(0, sigaction(SIGTRAP, &sa, NULL));
	ENTER();
	EXPECT_EQ(2, stepped_call());
	LEAVE();
	EXPECT_EQ(0, bad);
	EXPECT_LT(5, inside);
	TH_LOG("%d steps, %d behind the call, %d of them end at a CFA in rbx", steps, inside, cut);
}

TEST_F_TIMEOUT(dev, every_step_of_a_call_through_the_plt, 60)
{
	ASSERT_EQ(0, start(self->fd, 0, 0));
	step_once(self->fd);
	/* The first call was bound on the way, and was long; the next one goes straight. */
	EXPECT_LT(200, steps);
	step_once(self->fd);
	EXPECT_GT(100, steps);
	EXPECT_EQ(0, cut);
}

#else

TEST(plt)
{
	SKIP(return, "this machine has no trap flag");
}

#endif

TEST_HARNESS_MAIN
