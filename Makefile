# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# ehunwind: build, test and install. One make, no recursion.
#
#   make -j2              libraries, tools and test programs, below $O (build/)
#   make setup            install the Debian packages that are missing
#   make demo             set up, build, check bash and libc, then samples of a real program
#   make test             set up, build, run every test under prove
#   make test T="core_record dump"    only these: files of selftests/, without their .c or .t
#   make fuzz             each fuzzer for FUZZ_TIME seconds (60); FUZZ=NAME for one
#   make prove            Frama-C Eva over ehframe/ and arch/
#   make stress           the long tests
#   make bench            ns a frame: ours, libdw, libunwind and two floors
#   make bench-static     ns a row of files: ours and libdw
#   make bench-trace      quick: our walk and libdw's over captures of small programs
#   make bench-growth     how the cost of a frame grows, as tables and plots (docs/growth-*.svg)
#   make bench-print      printing the stacks of big recordings, beside perf script
#   make bench-symbols    what names cost: a capture checked without and with them
#   make test-html        the page of a real run, opened in headless Chromium
#   make core             the freestanding library and its own tests, nothing else
#   make test-core        run those tests; with CROSS_COMPILE under qemu-user
#   make CROSS_COMPILE=s390x-linux-gnu- O=DIR    core and ehunwind-record of that machine
#   make test-guests      record in s390x, arm64 and x32 guests under qemu, unwind here
#   make module           the core as a kernel module, against installed headers
#   make test-kernel      run it in a Debian guest under qemu; ARCH=s390x for that one
#   make test-kunit       the core's tests under KASAN in a user-mode kernel (builds one)
#   make install          to $(DESTDIR)$(PREFIX); PREFIX is /usr/local
#   make clean            remove $O
#
# Variables: O=DIR, CC=gcc|clang, CFLAGS="-O2 -g", WERROR=1,
# SAN=address,undefined (or thread), CROSS_COMPILE=s390x-linux-gnu-,
# SETUP=no (install nothing), V=1 (show the commands). Objects know their flags:
# a change of compiler or flags rebuilds them.
# One test by hand: make build/selftests/core_record.t && build/selftests/core_record.t -v

O	?= build
PREFIX	?= /usr/local
CFLAGS	?= -O2 -g
version	:= 0.1.0
ifeq ($(origin CC),default)
CC	:= $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR	:= $(CROSS_COMPILE)ar
endif

# What there is. A new file needs no line here.
core	:= $(wildcard ehframe/*.c arch/*.c unwind/*.c)
harness	:= $(wildcard harness/*.c)
testlib	:= $(wildcard selftests/lib*.c selftests/lib/*.c)
tools	:= $(patsubst tools/%.c,$O/%,$(wildcard tools/ehunwind-*.c))
ctests	:= $(patsubst %.c,$O/%.t,$(filter-out $(testlib),$(wildcard selftests/*.c)))
core_t	:= $(filter $O/selftests/core_%,$(ctests))
tests	:= $(sort $(ctests) $(wildcard selftests/*.t))
fuzzers	:= $(patsubst selftests/fuzz/fuzz_%.c,$O/fuzz/%,$(wildcard selftests/fuzz/fuzz_*.c))
core_o	:= $(core:%.c=$O/%.o)
harn_o	:= $(harness:%.c=$O/%.o)
test_o	:= $(patsubst $O/%.t,$O/%.o,$(ctests)) $(testlib:%.c=$O/%.o)
tool_o	:= $(tools:$O/%=$O/tools/%.o)
# The recorder alone: it also runs where no other part of the harness does.
record_o := $(patsubst %,$O/harness/%.o,cli record_main perf_capture perf_events perf_proc \
	perf_ring perf_signals perf_target perf_wait perf_write)
objs	:= $(core_o) $(harn_o) $(test_o) $(tool_o)
# A name that no test has stays in the list, so that make says so.
run_t	:= $(if $T,$(foreach t,$T,$(or $(filter $O/selftests/$t.t selftests/$t.t,$(tests)),\
		selftests/$t.t)),$(tests))

all: $(if $(CROSS_COMPILE),core $O/ehunwind-record,$O/libehunwind.a $O/libharness.a $(tools) $(ctests))
core: $O/libehunwind.a $(core_t)

say	= $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@echo '  $1	$@'; )

# Flags. The core sees no libc header: -nostdinc leaves it the compiler's own.
warn	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
warn	+= $(if $(WERROR),-Werror)
san	:= $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
once	= $(eval $1 := $2)$2
ccinc	= $(call once,ccinc,$(shell $(CC) -print-file-name=include))
flags	= -std=gnu11 -iquote . $(warn) $(CFLAGS) $(san)
frame	:= $(if $(SAN),,-Wframe-larger-than=1024)
cflags	= $(flags) -D_GNU_SOURCE= -pthread
freest	= $(flags) -ffreestanding -nostdinc -isystem $(ccinc) -Wconversion $(frame)
$(core_o): cflags = $(freest)

# A library that a program does not use leaves no trace in it.
pkgs	= $(call once,pkgs,$(shell pkg-config --libs libdw libelf liburing libzstd zlib \
		liblzma 2>/dev/null || echo -ldw -lelf -luring -lzstd -lz -llzma))
libs	= -Wl,--as-needed $(pkgs) -liberty -lm
static	:= $(if $(CROSS_COMPILE),-static)
link	= $(call say,LINK)$(CC) $(CFLAGS) $(san) $(static) -pthread $(LDFLAGS) \
		-o $@ $(filter %.o %.a,$^)

$(objs): $O/.flags
$O/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(cflags) -MMD -MP -c -o $@ $<

# libdw and libdwarf have 34 function names in common. So a file of the harness with libdwarf in
# its name is linked with libdwarf.a right away, and libdwarf's names end there.
closed	= $(foreach o,$1,$(if $(findstring libdwarf,$o),$(o:.o=.closed.o),$o))
%.closed.o: %.o
	$(call say,LINK)$(CC) -r -nostdlib -o $@ $< $(shell $(CC) -print-file-name=libdwarf.a)
	@$(CROSS_COMPILE)objcopy -w -L 'dw*' -L '_dwarf*' -L lookfor_name $@

$O/libehunwind.a: $(core_o) $O/.lists
$O/libharness.a: $(call closed,$(harn_o)) $O/.lists
$O/libselftests.a: $(testlib:%.c=$O/%.o) $O/.lists
$O/%.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $(filter %.o,$^)

$(core_t): $O/%.t: $O/%.o $O/libehunwind.a
	$(link)
$(filter-out $(core_t),$(ctests)): $O/%.t: $O/%.o $O/libselftests.a $O/libharness.a $O/libehunwind.a
	$(link) $(libs)
$(filter-out $O/ehunwind-record,$(tools)): $O/%: $O/tools/%.o $O/libharness.a $O/libehunwind.a
	$(link) $(libs)
# The recorder is copied into guests and other people's machines: no shared library.
$O/ehunwind-record: $O/tools/ehunwind-record.o $(record_o)
	$(link) $(libs)
$O/ehunwind-record: static := $(if $(SAN),,-static)
$O/ehunwind-record: libs = -luring

# For another machine it wants that machine's liburing, from a Debian package: not installed here.
ifdef CROSS_COMPILE
triple	:= $(CROSS_COMPILE:%-=%)
debian	:= $(patsubst aarch64,arm64,$(firstword $(subst -, ,$(triple))))
CROSS_ROOT ?= $O/guests/debian-$(debian)/root
$(record_o): cflags += -idirafter $(CROSS_ROOT)/usr/include \
	-idirafter $(CROSS_ROOT)/usr/include/$(triple)
$(record_o): | $(CROSS_ROOT)/usr/include/liburing.h
$O/ehunwind-record: libs = -L$(CROSS_ROOT)/usr/lib/$(triple) -luring
$(CROSS_ROOT)/usr/include/liburing.h:
	EHU_BUILD=$(abspath $O) tools/guest-fetch.sh $(debian) - liburing-dev
endif

# A peer that only the benchmark needs, and only where its headers are.
unwpkg	= $(if $(CROSS_COMPILE),,$(call once,unwpkg,$(shell pkg-config --libs libunwind-generic 2>/dev/null)))
$O/ehunwind-bench: libs = -Wl,--as-needed $(pkgs) $(unwpkg) -liberty -lm

# Fuzzers have objects of their own: clang with sanitizers and coverage.
fuzz_cc	:= clang -fno-sanitize-recover=all -fno-omit-frame-pointer
fuzz_o	:= $(patsubst $O/%,$O/fuzz/%,$(core_o) $(harn_o))
fuzz_t	:= $(fuzzers:$O/fuzz/%=$O/fuzz/selftests/fuzz/fuzz_%.o)
$(fuzz_o) $(fuzz_t): $O/.flags
$O/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(fuzz_cc) -fsanitize=fuzzer-no-link,address,undefined $(cflags) -MMD -MP -c -o $@ $<
$O/fuzz/all.a: $(call closed,$(fuzz_o)) $O/.lists
$(fuzzers): $O/fuzz/%: $O/fuzz/selftests/fuzz/fuzz_%.o $O/fuzz/all.a
	$(call say,LINK)$(fuzz_cc) -fsanitize=fuzzer,address,undefined -pthread -o $@ $^ $(libs)
fuzzinc	= $(call once,fuzzinc,$(shell clang -print-file-name=include))
$(core_o:$O/%=$O/fuzz/%): cflags = $(freest)
$(core_o:$O/%=$O/fuzz/%): ccinc = $(fuzzinc)
$(core_o:$O/%=$O/fuzz/%): frame =

# A stamp changes only when what it says does: other flags, another list of files.
$O/.flags: says = $(CC) $(CFLAGS) $(SAN) $(WERROR)
$O/.lists: says = $(core) $(harness) $(testlib)
$O/.flags $O/.lists: FORCE
	@mkdir -p $(@D)
	@echo '$(says)' | cmp -s - $@ || echo '$(says)' > $@

# demo and test install what is missing before the first compiler run.
setup:
	@[ "$(SETUP)" = no ] || tools/setup --check >/dev/null || tools/setup
ifneq ($(filter setup demo test,$(MAKECMDGOALS)),)
$O/.flags $O/.lists: | setup
endif

env	= EHU_BUILD=$(abspath $O) EHU_SRC=. EHU_CC='$(CC)' EHU_SAN='$(SAN)' \
	  EHU_TIMEOUT_SCALE=$(if $(CROSS_COMPILE),10,$(if $(SAN),5,1))
qemu	= qemu-$(firstword $(subst -, ,$(CROSS_COMPILE)))-static
test: $(if $T,$O/libehunwind.a $(tools),all) $(run_t)
	@$(env) selftests/run $(run_t)
test-core: core
	@$(env) EHU_RUN='$(if $(CROSS_COMPILE),$(qemu))' selftests/run $(core_t)
fuzz: $(if $(FUZZ),$(FUZZ:%=$O/fuzz/%),$(fuzzers))
	@$(env) selftests/fuzz/run $(or $(FUZZ_TIME),60) $^
test-guests: all
	@$(env) $(call script,tools/guests.sh) $(ARCH)
demo: all
	@$(env) tools/demo
prove:
	@$(env) $(call script,selftests/prove/run)
stress bench bench-static bench-trace bench-symbols bench-print bench-growth \
	test-html: all
	@$(env) $(call script,tools/$@.sh)
# They want what tools/setup --kernel installs, and say so.
kernel	= @EHU_BUILD=$(abspath $O) tools/kernel-
module:
	$(kernel)module.sh
test-kernel:
	$(kernel)guest.sh $(ARCH)
test-kunit:
	$(kernel)kunit.sh
script	= $(if $(wildcard $1),$1,sh -c 'echo "make $@: this checkout has no $1" >&2; exit 1')

lib	:= $(DESTDIR)$(PREFIX)/lib
install: $O/libehunwind.a $(tools)
	install -d $(lib)/pkgconfig $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $O/libehunwind.a $(lib)
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(version)|' tools/ehunwind.pc.in \
		> $(lib)/pkgconfig/ehunwind.pc
	for h in $(wildcard ehframe/*.h arch/*.h unwind/*.h); do \
		install -D -m 644 $$h $(DESTDIR)$(PREFIX)/include/ehunwind/$$h || exit; done
	for t in $(tools); do install $$t $(DESTDIR)$(PREFIX)/bin || exit; done
	for m in $(wildcard docs/*.1); do \
		install -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man1 || exit; done

help:
	@sed -n '/^#/!q; 3,$$s/^# \{0,1\}//p' Makefile
clean:
	rm -rf $O

.PHONY: all core setup test test-core fuzz demo prove stress bench bench-static bench-trace
.PHONY: bench-symbols bench-print bench-growth test-html module test-kernel test-kunit
.PHONY: test-guests install help clean FORCE
.DELETE_ON_ERROR:
-include $(patsubst %.o,%.d,$(objs) $(fuzz_o) $(fuzz_t))
