# SPDX-License-Identifier: Apache-2.0
# The targets that are not the build: demo, checks, measurements. Included by the Makefile.
export BUILD CLANG BPFTOOL LLVM_STRIP

CLANG_TIDY ?= clang-tidy-14

demo:
	@scripts/demo.sh

# All quick tests; the last line is "N passed, N failed, N skipped".
check:
	@scripts/check.sh quick

# Every acceptance test that needs no other kernel, no other JDK and no hours.
check-full:
	@scripts/check.sh full

# The BPF objects of both compilers on other kernels, in QEMU.
check-vm:
	@scripts/setup.sh build check full jdk
	@tests/vm/check.sh

# The same live tests on the JDKs from 8 to the newest that the mirror has.
check-jdks:
	@scripts/setup.sh build check jdk
	@$(MAKE) -s -j2 all $(BUILD)/stacks $(BUILD)/names
	@tests/live/check_jdks.sh

# Compiles everything for the other architecture; runs nothing.
check-cross:
	@scripts/setup.sh build full
	@scripts/cross.sh

bench: all
	@bench/bench.py

# Each fuzz target for a minute; tests/fuzz/run.sh SECONDS for other times.
fuzz:
	@scripts/setup.sh build full
	@tests/fuzz/run.sh

soak: all
	@tests/live/run.py --soak

.PHONY: demo check check-full check-vm check-jdks check-cross bench fuzz soak tidy

# ---- clang-tidy: a stamp for each file that passed, as old as the newest header it may see

TIDY_SRC   := $(wildcard userspace/*/*.c exporters/*.c trie/*.c)
TIDY_BPF   := $(wildcard bpf/*.bpf.c)
TIDY_SEES  := .clang-tidy Makefile $(wildcard userspace/*/*.h exporters/*.h trie/*.h bpf/*.h vmlinux/*.h)
# The analyzer takes twenty times as long as all other checks: LINT=quick goes without it.
TIDY_DIR   := $(BUILD)/tidy$(if $(filter quick,$(LINT)),-quick)
TIDY_QUICK := $(if $(filter quick,$(LINT)),--checks=-clang-analyzer-*)
TIDY_STAMP := $(TIDY_SRC:%=$(TIDY_DIR)/%.ok) $(TIDY_BPF:%=$(TIDY_DIR)/%.ok)

tidy: $(TIDY_STAMP)

# The generated skeleton leaks when memory is out, and the analyzer follows it there.
$(TIDY_DIR)/userspace/live/live.c.ok: TIDY_FLAGS := $(or $(TIDY_QUICK),--checks=-clang-analyzer-unix.Malloc)
$(TIDY_DIR)/userspace/live/live.c.ok: $(SKELETON)
$(PPROF_USERS:%=$(TIDY_DIR)/%.ok): $(BUILD)/profile.pb-c.h

# BPF code reads addresses of another process, computes them from small numbers whose ranges the
# verifier checks, and has parameters that only its program macros use.
comma := ,
TIDY_NOT_BPF := -bugprone-narrowing-conversions,-bugprone-implicit-widening-of-multiplication-result,$\
	-performance-no-int-to-ptr,-misc-unused-parameters

$(TIDY_DIR)/bpf/%.ok: bpf/% $(TIDY_SEES)
	@mkdir -p $(@D)
	$(CLANG_TIDY) --quiet --checks=$(TIDY_NOT_BPF)$(if $(TIDY_QUICK),$(comma)-clang-analyzer-*) $< -- $(filter-out -MMD -MP,$(BPFFLAGS)) 2>$@.log || { cat $@.log >&2; false; }
	@touch $@

$(TIDY_DIR)/%.ok: % $(TIDY_SEES)
	@mkdir -p $(@D)
	$(CLANG_TIDY) --quiet $(or $(TIDY_FLAGS),$(TIDY_QUICK)) $< -- $(CPPFLAGS) $(filter-out -MMD -MP,$(CFLAGS)) 2>$@.log || \
		{ cat $@.log >&2; false; }
	@touch $@

# ---- for scripts/cross.sh: all object files of the program, not linked
cross-objects: $(OBJ) $(MAIN_OBJ)
.PHONY: cross-objects
