// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Linked into a program, it samples that program from within by SIGPROF and writes a perf.data
 * file: for machines that are only emulated, where no perf_event_open() is.
 *
 * EHU_SAMPLER names the file; without it nothing happens. Each sample carries libgcc's own
 * backtrace (_Unwind_Backtrace) as its user callchain: a second reference, which knows signed
 * return addresses and every signal frame of its machine.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define PERIOD_US	1000
#define STACK_BYTES	(32u << 10)
#define MAX_FRAMES	600
#define MAX_TEXTS	256
#define PAGE		4096u

/* Bits of the user registers in the order of perf's mask, and where the context has them. */
#if defined(__s390x__)
#define REGS_MASK	0x3ffffffffULL
#define NR_REGS		34
#define ARCH_MACHINE	EM_S390
#elif defined(__aarch64__)
#define REGS_MASK	0x1ffffffffULL
#define NR_REGS		33
#define ARCH_MACHINE	EM_AARCH64
#elif defined(__x86_64__)
#define REGS_MASK	0xff01ffULL
#define NR_REGS		17
#define ARCH_MACHINE	EM_X86_64
#else
#error "no registers for this machine"
#endif

static void take_regs(const ucontext_t *uc, uint64_t *r, uint64_t *pc, uint64_t *sp)
{
#if defined(__s390x__)
	for (int k = 0; k < 16; k++) {
		r[k] = uc->uc_mcontext.gregs[k];
		memcpy(&r[16 + k], &uc->uc_mcontext.fpregs.fprs[k], 8);
	}
	r[32] = uc->uc_mcontext.psw.mask;
	*pc = r[33] = uc->uc_mcontext.psw.addr;
	*sp = r[15];
#elif defined(__aarch64__)
	for (int k = 0; k < 31; k++)
		r[k] = uc->uc_mcontext.regs[k];
	*sp = r[31] = uc->uc_mcontext.sp;
	*pc = r[32] = uc->uc_mcontext.pc;
#else
	static const int from[NR_REGS] = {
		REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP,
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	};

	for (int k = 0; k < NR_REGS; k++)
		r[k] = (uint64_t)uc->uc_mcontext.gregs[from[k]];
	*sp = r[7];
	*pc = r[8];
#endif
}

/* As in a perf.data file: tools/perf/Documentation/perf.data-file-format.txt. */
struct section {
	uint64_t offset, size;
};

struct header {
	uint64_t magic, size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4];
};

struct file_attr {
	struct perf_event_attr attr;
	struct section ids;
};

struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
};

static int out = -1;
static int probe[2];
static atomic_flag busy = ATOMIC_FLAG_INIT;
static uint64_t lost, data_size;
static struct text { uint64_t start, end, ino; } text[MAX_TEXTS];
static unsigned int nr_texts;
static sigjmp_buf astray;
static volatile sig_atomic_t in_libgcc;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put(const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len) {
		ssize_t n = write(out, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(99);
		p += n;
		len -= (size_t)n;
	}
}

static void put_record(uint32_t type, uint16_t misc, const void *body, size_t len)
{
	struct perf_event_header h = { type, misc, (uint16_t)(sizeof(h) + len) };

	put(&h, sizeof(h));
	put(body, len);
	data_size += h.size;
}

static struct sample_id id_now(void)
{
	return (struct sample_id){ (uint32_t)getpid(), (uint32_t)syscall(SYS_gettid), now() };
}

/*
 * A trampoline of the emulator is in no file: its page is written to one, an ELF file without
 * sections, so that its code can be looked at.
 */
static void put_page(const char *path, uint64_t start, uint64_t len)
{
	ElfW(Ehdr) eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
			     sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32,
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
			     ELFDATA2MSB,
#else
			     ELFDATA2LSB,
#endif
			     EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = ARCH_MACHINE, .e_version = EV_CURRENT,
		.e_phoff = sizeof(eh), .e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(ElfW(Phdr)), .e_phnum = 1,
	};
	ElfW(Phdr) ph = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = PAGE, .p_vaddr = start,
		.p_filesz = len, .p_memsz = len, .p_align = PAGE,
	};
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || write(fd, &eh, sizeof(eh)) < 0 || write(fd, &ph, sizeof(ph)) < 0 ||
	    pwrite(fd, (void *)(uintptr_t)start, len, PAGE) != (ssize_t)len)
		_exit(98);
	close(fd);
}

/* Whether a mapping has been told; what it takes the place of is forgotten. */
static int is_told(const struct text *t)
{
	unsigned int k, kept = 0;
	int told = 0;

	for (k = 0; k < nr_texts; k++) {
		if (text[k].start == t->start && text[k].end == t->end && text[k].ino == t->ino)
			told = 1;
		else if (text[k].start < t->end && t->start < text[k].end)
			continue;
		text[kept++] = text[k];
	}
	nr_texts = kept;
	return told;
}

static void put_mapping(const char *line)
{
	struct {
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint32_t maj, min;
		uint64_t ino, generation;
		uint32_t prot, flags;
		char name[256];
	} m = { 0 };
	unsigned long long start, end, pgoff, ino;
	unsigned int maj, min;
	struct sample_id id = id_now();
	char perm[8], record[sizeof(m) + sizeof(id)];
	size_t len;
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, perm, &pgoff, &maj, &min,
		   &ino, &at) < 7 || perm[2] != 'x' || is_told(&(struct text){ start, end, ino }) ||
	    nr_texts == MAX_TEXTS)
		return;
	text[nr_texts++] = (struct text){ start, end, ino };
	m.pid = m.tid = id.pid;
	m.addr = start;
	m.len = end - start;
	m.pgoff = pgoff;
	m.maj = maj;
	m.min = min;
	m.ino = ino;
	m.prot = PROT_READ | PROT_EXEC;
	m.flags = MAP_PRIVATE;
	snprintf(m.name, sizeof(m.name), "%s", line + at);
	m.name[strcspn(m.name, "\n")] = '\0';
	if (!ino && end - start <= 4 * PAGE && strncmp(m.name, "[v", 2)) {
		snprintf(m.name, sizeof(m.name), "%.230s.page%u", getenv("EHU_SAMPLER"), nr_texts);
		put_page(m.name, start, end - start);
		m.pgoff = PAGE;
	}
	len = sizeof(m) - sizeof(m.name) + ((strlen(m.name) + 8) & ~7u);
	memcpy(record, &m, len);
	memcpy(record + len, &id, sizeof(id));
	put_record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, record, len + sizeof(id));
}

static void put_mappings(void)
{
	static char maps[128 << 10];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, maps + len, sizeof(maps) - 1 - len)) > 0)
		len += (size_t)n;
	maps[len] = '\0';
	if (fd >= 0)
		close(fd);
	for (char *line = maps, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		put_mapping(line);
	}
}

struct backtrace {
	uint64_t pc;		/* of the interrupted frame */
	uint64_t chain[MAX_FRAMES];
	unsigned int nr;
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
	struct backtrace *b = arg;
	int exact = 0;
	uint64_t ip = _Unwind_GetIPInfo(context, &exact);

	/* The handler's own frames come first. */
	if (!b->nr && !(exact && ip == b->pc))
		return _URC_NO_REASON;
	/* libgcc calls once more behind the outermost frame. */
	if (b->nr == MAX_FRAMES || !ip)
		return _URC_END_OF_STACK;
	b->chain[b->nr++] = ip;
	return _URC_NO_REASON;
}

/* Bytes from @sp up that can be read, page by page. */
static uint32_t readable(uint64_t sp)
{
	uint64_t at = sp, end = sp + STACK_BYTES;
	char byte;

	while (at < end && write(probe[1], (void *)(uintptr_t)at, 1) == 1) {
		(void)!read(probe[0], &byte, 1);
		at = (at | (PAGE - 1)) + 1;
	}
	if (at > end)
		at = end;
	return (uint32_t)(at - sp) & ~7u;
}

static void on_prof(int sig, siginfo_t *info, void *context)
{
	static struct backtrace b;
	static char record[STACK_BYTES + 8 * (MAX_FRAMES + NR_REGS + 16)];
	int error = errno;
	uint64_t *r = (uint64_t *)(void *)record, pc, sp, regs[NR_REGS];
	struct sample_id id;
	uint32_t size;

	(void)sig, (void)info;
	if (atomic_flag_test_and_set(&busy)) {
		lost++;
		return;
	}
	take_regs(context, regs, &pc, &sp);
	b.nr = 0;
	b.pc = pc;
	in_libgcc = 1;
	if (!sigsetjmp(astray, 1))
		_Unwind_Backtrace(on_frame, &b);
	else
		b.nr = 0;
	in_libgcc = 0;
	put_mappings();	/* libraries may have come and gone */
	id = id_now();	/* behind the mappings: records are put in order of time */
	*r++ = pc;
	memcpy(r, &id, sizeof(id));
	r += 2;
	*r++ = b.nr + 1;
	*r++ = PERF_CONTEXT_USER;
	memcpy(r, b.chain, 8 * b.nr);
	r += b.nr;
	*r++ = PERF_SAMPLE_REGS_ABI_64;
	memcpy(r, regs, sizeof(regs));
	r += NR_REGS;
	size = readable(sp);
	*r++ = size;
	memcpy(r, (void *)(uintptr_t)sp, size);
	r += size / 8;
	if (size)
		*r++ = size;
	put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, record, (size_t)((char *)r - record));
	atomic_flag_clear(&busy);
	errno = error;
}

/*
 * libgcc reads what is not there when it is interrupted in its own epilogues, where signed return
 * addresses are not signed any more: such a sample has no chain.
 */
static void on_segv(int sig)
{
	if (in_libgcc)
		siglongjmp(astray, 1);
	signal(sig, SIG_DFL);
}

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
	.sample_period = PERIOD_US * 1000,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
		       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	.sample_id_all = 1, .mmap2 = 1, .mmap = 1, .comm = 1,
	.sample_regs_user = REGS_MASK, .sample_stack_user = STACK_BYTES,
};

#define DATA_AT		(sizeof(struct header) + sizeof(struct file_attr))
/* HEADER_OSRELEASE, HEADER_VERSION, HEADER_ARCH: bits 4, 5, 6. */
#define FEATURES	(1u << 4 | 1u << 5 | 1u << 6)

static void put_head(void)
{
	struct header h = {
		.magic = 0x32454c4946524550ULL, .size = sizeof(h),
		.attr_size = sizeof(struct file_attr),
		.attrs = { sizeof(h), sizeof(struct file_attr) },
		.data = { DATA_AT, data_size }, .features = { FEATURES },
	};
	struct file_attr a = { .attr = attr };

	lseek(out, 0, SEEK_SET);
	put(&h, sizeof(h));
	put(&a, sizeof(a));
}

static __attribute__((destructor)) void stop(void)
{
	const struct itimerval none = { 0 };
	struct utsname u;
	struct { uint32_t len; char text[64]; } feature[3] = { 0 };
	struct section s[3];
	uint64_t body[4] = { 0 };

	if (out < 0)
		return;
	setitimer(ITIMER_PROF, &none, NULL);
	while (atomic_flag_test_and_set(&busy))
		;	/* nobody lets go of it again: this was the last sample */
	if (lost) {
		struct sample_id id = id_now();

		body[1] = lost;
		memcpy(body + 2, &id, sizeof(id));
		put_record(PERF_RECORD_LOST, 0, body, sizeof(body));
	}
	uname(&u);
	snprintf(feature[0].text, 64, "%.60s", "emulated");
	snprintf(feature[1].text, 64, "%s", "ehunwind-sampler");
	snprintf(feature[2].text, 64, "%.60s", u.machine);
	for (int k = 0; k < 3; k++) {
		feature[k].len = 64;
		s[k] = (struct section){ DATA_AT + data_size + sizeof(s) + (size_t)k * sizeof(feature[0]),
					 sizeof(feature[0]) };
	}
	put(s, sizeof(s));
	put(feature, sizeof(feature));
	put_head();
	close(out);
}

static __attribute__((constructor)) void start(void)
{
	const char *path = getenv("EHU_SAMPLER");
	const struct itimerval every = { { 0, PERIOD_US }, { 0, PERIOD_US } };
	struct sigaction sa = { .sa_sigaction = on_prof, .sa_flags = SA_SIGINFO | SA_RESTART };
	static struct backtrace b;
	struct { uint32_t pid, tid; char name[16]; struct sample_id id; } comm = { 0 };

	if (!path)
		return;
	out = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out < 0 || pipe(probe))
		_exit(97);
	put_head();
	comm.id = id_now();
	comm.pid = comm.tid = comm.id.pid;
	snprintf(comm.name, sizeof(comm.name), "%.15s", program_invocation_short_name);
	put_record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, &comm, sizeof(comm));
	put_mappings();
	_Unwind_Backtrace(on_frame, &b);	/* what it sets up once is set up here */
	signal(SIGSEGV, on_segv);
	signal(SIGBUS, on_segv);
	sigaction(SIGPROF, &sa, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
}
