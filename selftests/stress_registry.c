// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The registry under eight threads: walks that hold sections while they are removed, registered
 * again, found corrupt, copied into forked mms, and dropped.
 *
 * EHU_STRESS_SECONDS: how long (2).
 */
#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"
#include "selftests/lib/srcu.h"

#include "unwind/registry.h"
#include "unwind/walk.h"

/*
 * Libraries. Two versions of each lie side by side in memory; they describe the same text and
 * differ in their CFA: SP + 8 or SP + 16. The last one's table is corrupt, and the one before has
 * a malformed program.
 */
enum { NR_LIBS = 6, MALFORMED = 4, CORRUPT = 5, TEXT_SIZE = 0x1000 };
enum { WALKERS = 3, OWNERS = 2, THREADS = 8, RECLAIMER = THREADS };

#define TEXT(lib)	(0x10000000 + (u64)(lib) * TEXT_SIZE)
#define STACK_BASE	(B_BASE + 0x8000)
#define FRAMES		40

struct mm {
	struct ehu_registry reg;	/* first */
	pthread_mutex_t lock;
};

/* An image of memory that nobody changes: sections, and a stack that returns from lib to lib. */
static struct b image;
static struct ehf_section section[NR_LIBS][2];
static u64 stack[FRAMES * 2];

static struct mm shared;
static struct srcu srcu = SRCU_INIT;
static pthread_mutex_t retired_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ehu_retired *retired;
static unsigned long numbers;
static long live;
static int stop;
static __thread int me;

static struct {
	unsigned long added, exists, refused, removed, gone, unmapped, dups, drops, walks, frames,
		hits, corrupt, freed, errors;
} sum;

#define INC(n)		__atomic_fetch_add(&sum.n, 1, __ATOMIC_RELAXED)
#define WRONG(cond)	((cond) ? (void)(INC(errors), fprintf(stderr, "# line %d: %s\n", \
							       __LINE__, #cond)) : (void)0)

/* ---- what a kernel provides ---- */

static void *op_alloc(const struct ehu_registry_ops *ops TH_UNUSED, size_t size)
{
	static unsigned long calls;

	/* Now and then there is none. */
	if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 61 == 0)
		return NULL;
	__atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
	return malloc(size);
}

static void op_free(const struct ehu_registry_ops *ops TH_UNUSED, void *p)
{
	__atomic_fetch_sub(&live, 1, __ATOMIC_RELAXED);
	free(p);
}

static void op_retire(const struct ehu_registry_ops *ops TH_UNUSED, struct ehu_retired *r)
{
	pthread_mutex_lock(&retired_lock);
	r->space[0] = retired;
	retired = r;
	pthread_mutex_unlock(&retired_lock);
}

static void reclaim(void)
{
	struct ehu_retired *r, *next;

	pthread_mutex_lock(&retired_lock);
	r = retired;
	retired = NULL;
	pthread_mutex_unlock(&retired_lock);
	srcu_synchronize(&srcu);
	for (; r; r = next) {
		next = r->space[0];
		op_free(NULL, r);
		INC(freed);
	}
}

static unsigned long op_generation(const struct ehu_registry_ops *ops TH_UNUSED)
{
	return __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
}

static u32 op_read_lock(struct ehu_registry *reg TH_UNUSED)
{
	return srcu_enter(&srcu, me);
}

static void op_read_unlock(struct ehu_registry *reg TH_UNUSED, u32 key)
{
	srcu_leave(&srcu, me, key);
}

static void op_lock(struct ehu_registry *reg)
{
	pthread_mutex_lock(&((struct mm *)(void *)reg)->lock);
}

static void op_unlock(struct ehu_registry *reg)
{
	pthread_mutex_unlock(&((struct mm *)(void *)reg)->lock);
}

static bool op_mapping(struct ehu_registry *reg TH_UNUSED, u64 addr, struct ehu_mapping *m)
{
	if (addr >= TEXT(0) && addr < TEXT(NR_LIBS))
		*m = (struct ehu_mapping){ TEXT(0), TEXT(NR_LIBS), true };
	else
		*m = (struct ehu_mapping){ B_BASE, B_BASE + B_SIZE, false };
	return addr >= m->start && addr < m->end;
}

static void op_debug(struct ehu_registry *reg TH_UNUSED, const struct ehu_event *e)
{
	WRONG(e->kind > EHU_EVENT_CORRUPT);
}

static const struct ehu_registry_ops ops = {
	.alloc = op_alloc, .free = op_free, .retire = op_retire, .generation = op_generation,
	.read_lock = op_read_lock, .read_unlock = op_read_unlock, .lock = op_lock,
	.unlock = op_unlock, .mapping = op_mapping, .debug = op_debug,
};

static bool read_image(const struct ehf_mem *mem TH_UNUSED, u64 addr, void *dst, u32 len)
{
	/* A page fault: others get a turn while this walk holds its section. */
	if (addr % 7 == 0)
		sched_yield();
	if (addr >= B_BASE && addr - B_BASE < image.len && len <= image.len - (addr - B_BASE)) {
		memcpy(dst, image.buf + (addr - B_BASE), len);
		return true;
	}
	if (addr >= STACK_BASE && addr - STACK_BASE < sizeof(stack) &&
	    len <= sizeof(stack) - (addr - STACK_BASE)) {
		memcpy(dst, (u8 *)stack + (addr - STACK_BASE), len);
		return true;
	}
	return false;
}

/* The stack is at hand, so that rows are served from the cache; sections are not. */
static const u8 *stack_at(const struct ehf_mem *m TH_UNUSED, u64 addr, u64 len, u64 *avail)
{
	u64 left = sizeof(stack) - (addr - STACK_BASE);

	if (addr < STACK_BASE || addr - STACK_BASE >= sizeof(stack))
		return NULL;
	*avail = len < left ? len : left;
	return (const u8 *)stack + (addr - STACK_BASE);
}

static const struct ehf_mem mem = { .read = read_image, .direct = stack_at };

/* ---- libraries ---- */

static void build(void)
{
	b_init(&image, &ehu_arch_x86_64.abi);
	for (int lib = 0; lib < NR_LIBS; lib++) {
		for (int v = 0; v < 2; v++) {
			u64 cie;

			image.nr_fdes = 0;
			image.s.eh_frame = b_pos(&image);
			cie = b_cie(&image, &b_zr);
			b_put(&image, 0x0c, 7, (u8)(8 + 8 * v), 0x90, 1);
			b_close(&image);
			b_fde(&image, cie, TEXT(lib), TEXT_SIZE);
			if (lib == MALFORMED)
				b_u8(&image, 0x0b);
			b_close(&image);
			b_end(&image);
			b_hdr(&image, 0x1b, 0x03, 0x3b);
			if (lib == CORRUPT)
				b_poke(&image, image.len - 4, 0x7fffffff, 4);
			section[lib][v] = image.s;
		}
	}
	for (int k = 0; k < FRAMES * 2; k++)
		stack[k] = TEXT(k % 4) + 8;
}

static int add(struct mm *mm, int lib, int version, u64 *handle)
{
	struct ehu_text text = { TEXT(lib), TEXT(lib + 1) };
	struct ehf_section *s = &section[lib][version];
	struct ehu_section_args args = {
		.nr_texts = 1, .text = &text, .hdr = s->hdr, .hdr_end = s->hdr_end,
		.eh_frame = s->eh_frame, .eh_frame_end = s->eh_frame_end,
	};
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = {
		.mem = &mem, .abi = &ehu_arch_x86_64.abi, .limits = &ehf_limits_walk, .cost = &cost,
	};
	struct ehu_added added;
	int ret = ehu_registry_add(&mm->reg, &ctx, &args, &added);

	*handle = added.handle;
	if (!ret)
		INC(added);
	else if (ret == -EEXIST)
		INC(exists);
	else
		INC(refused);
	WRONG(ret && ret != -EEXIST && ret != -EFAULT && ret != -ENOMEM);
	WRONG(!ret != !!added.handle);
	return ret;
}

struct walker {
	struct ehu_slot slot[256];
	struct ehu_row_cache cache;
	struct ehf_memo memo;
	struct ehu_entry entry[FRAMES * 2 + 2];
};

static void walker_init(struct walker *w)
{
	memset(w, 0, sizeof(*w));
	if (ehu_row_cache_init(&w->cache, w->slot, 256))
		abort();
}

/*
 * A walk from a library; each frame is in one of the first four. Its stops are those of this
 * image and of what may be missing, and no others.
 */
static u64 walk(struct mm *mm, struct walker *w, int lib)
{
	struct ehu_regs regs = { .ip = TEXT(lib) + 4, .known = 1 << 7 };
	struct ehu_unwind u = {
		.arch = &ehu_arch_x86_64, .mem = &mem, .sections = &mm->reg.sections,
		.limits = &ehf_limits_walk, .cache = &w->cache, .memo = &w->memo,
	};
	struct ehu_trace t = { .entry = w->entry, .max = FRAMES * 2 + 2 };
	u32 key = ehu_registry_enter(&mm->reg);

	regs.reg[7] = STACK_BASE;
	ehu_walk(&u, &regs, &t);
	ehu_registry_leave(&mm->reg, key);
	INC(walks);
	__atomic_fetch_add(&sum.frames, t.nr, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sum.hits, w->cache.hits, __ATOMIC_RELAXED);
	w->cache.hits = 0;
	switch (t.stop) {
	case EHF_STOP_MEMORY:		/* all of the stack */
		break;
	case EHF_STOP_PC_NOT_IN_MODULE:
		break;
	case EHF_STOP_RESTORE_EMPTY:
		WRONG(lib != MALFORMED);
		break;
	case EHF_STOP_BAD_TABLE:
		WRONG(lib != CORRUPT);
		INC(corrupt);
		break;
	default:
		fprintf(stderr, "# stop %s\n", ehf_stop_name(t.stop));
		INC(errors);
	}
	for (u32 k = 1; k < t.nr; k++) {
		u64 step = t.entry[k].sp - t.entry[k - 1].sp;

		WRONG(step != 8 && step != 16);
		WRONG(t.entry[k].ip != stack[(t.entry[k].sp - STACK_BASE) / 8 - 1]);
	}
	return t.nr > 1 ? t.entry[1].sp - t.entry[0].sp : 0;
}

/* ---- threads ---- */

static void *run_walker(void *arg)
{
	static struct walker all[THREADS];
	struct walker *w = &all[me = (int)(intptr_t)arg];

	walker_init(w);
	for (unsigned int n = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++)
		walk(&shared, w, (int)(n % NR_LIBS));
	return NULL;
}

/*
 * Has two libraries to itself and knows what is registered: what its walks see, through a cache
 * that lives all the while, must be that. What is unmapped by others may be missing.
 */
static void *run_owner(void *arg)
{
	static struct walker all[THREADS];
	struct walker *w = &all[me = (int)(intptr_t)arg];
	int lib = (me - WALKERS) * 2;
	u64 handle[2] = { 0, 0 };
	unsigned int n = 0;

	walker_init(w);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		int turn = (int)(n & 1), version = (int)(n / 2 & 1);
		u64 step;

		if (handle[turn]) {
			if (ehu_registry_remove(&shared.reg, handle[turn]))
				INC(gone);
			else
				INC(removed);
			WRONG(walk(&shared, w, lib + turn));
			WRONG(ehu_registry_remove(&shared.reg, handle[turn]) != -ENOENT);
		}
		n++;
		if (add(&shared, lib + turn, version, &handle[turn]))
			continue;
		for (int k = 0; k < 3; k++) {
			step = walk(&shared, w, lib + turn);
			WRONG(step && step != 8 + 8 * (u64)version);
		}
		if (n % 16 == 0)
			usleep(100);
	}
	return NULL;
}

/* Registers the bad ones again and again; walkers throw the corrupt one out. */
static void *run_adder(void *arg)
{
	me = (int)(intptr_t)arg;
	for (unsigned int n = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) {
		u64 handle;

		if (add(&shared, n & 1 ? CORRUPT : MALFORMED, 0, &handle) == -EEXIST)
			sched_yield();
	}
	return NULL;
}

static void *run_unmapper(void *arg)
{
	me = (int)(intptr_t)arg;
	for (unsigned int n = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) {
		u32 nr = ehu_registry_remove_range(&shared.reg, TEXT(n % NR_LIBS) + 0x10,
						   TEXT(n % NR_LIBS) + 0x20);

		__atomic_fetch_add(&sum.unmapped, nr, __ATOMIC_RELAXED);
		if (n % 128 == 0) {
			ehu_registry_drop(&shared.reg);
			INC(drops);
		}
		usleep(200);
	}
	return NULL;
}

static void *run_forker(void *arg)
{
	static struct walker all[THREADS];
	struct walker *w = &all[me = (int)(intptr_t)arg];

	walker_init(w);
	for (unsigned int n = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) {
		struct mm child = { .lock = PTHREAD_MUTEX_INITIALIZER };
		u64 handle, step;

		ehu_registry_init(&child.reg, &ops);
		if (ehu_registry_dup(&child.reg, &shared.reg)) {
			WRONG(child.reg.table);
			continue;
		}
		INC(dups);
		/* The child's are its own: nobody takes them away. */
		step = walk(&child, w, (int)(n % 4));
		WRONG(walk(&child, w, (int)(n % 4)) != step);
		add(&child, CORRUPT, 1, &handle);
		walk(&child, w, CORRUPT);
		WRONG(ehu_registry_remove(&child.reg, handle) != -ENOENT);
		ehu_registry_drop(&child.reg);
		/* Walks by others of this mm there are none: it may go. */
		pthread_mutex_destroy(&child.lock);
	}
	return NULL;
}

static void *run_reclaimer(void *arg)
{
	me = (int)(intptr_t)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		reclaim();
		usleep(100);
	}
	return NULL;
}

#define OVER(n, least)	(__atomic_load_n(&sum.n, __ATOMIC_RELAXED) > (least))

/* Has everything happened, and not only once? On a loaded machine that may take a while. */
static bool enough(void)
{
	return OVER(added, 100) && OVER(removed, 100) && OVER(unmapped, 10) && OVER(corrupt, 10) &&
	       OVER(dups, 10) && OVER(drops, 0) && OVER(walks, 100) && OVER(hits, 100);
}

TEST_TIMEOUT(eight_threads, 900)
{
	static void *(*const run[THREADS + 1])(void *) = {
		run_walker, run_walker, run_walker, run_owner, run_owner, run_adder, run_unmapper,
		run_forker, run_reclaimer,
	};
	const char *seconds = getenv("EHU_STRESS_SECONDS");
	pthread_t thread[THREADS + 1];

	build();
	ASSERT_FALSE(image.overflow);
	pthread_mutex_init(&shared.lock, NULL);
	ehu_registry_init(&shared.reg, &ops);
	for (int k = 0; k <= THREADS; k++)
		pthread_create(&thread[k], NULL, run[k], (void *)(intptr_t)k);
	sleep(seconds ? (unsigned int)atoi(seconds) : 2);
	for (int k = 0; k < 100 && !enough(); k++)
		sleep(1);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int k = 0; k <= THREADS; k++)
		pthread_join(thread[k], NULL);
	ehu_registry_drop(&shared.reg);
	reclaim();
	EXPECT_EQ(0, live);
	EXPECT_EQ(0, sum.errors);
	TH_LOG("%lu added, %lu there already, %lu refused; removed: %lu by handle, %lu gone before, "
	       "%lu by range, %lu found corrupt, %lu drops; %lu forks", sum.added, sum.exists,
	       sum.refused, sum.removed, sum.gone, sum.unmapped, sum.corrupt, sum.drops, sum.dups);
	TH_LOG("%lu walks, %lu frames, %lu cache hits; %lu objects freed", sum.walks, sum.frames,
	       sum.hits, sum.freed);
	EXPECT_TRUE(enough());
}

TEST_HARNESS_MAIN
