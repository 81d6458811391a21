# SPDX-License-Identifier: Apache-2.0
# make            build jvmscope, without root and without a running BTF kernel
# make demo       install what is missing, build, record a sample JVM (root)
# make check      the same set-up, then all quick tests (root for the live ones)
# scripts/targets.mk has the rest: check-full, check-vm, check-jdks, check-cross, bench, fuzz, soak
BUILD     ?= .build
CLANG     ?= clang
# Ubuntu's /usr/sbin/bpftool is a script that wants the tools of the running kernel.
BPFTOOL   ?= $(firstword $(wildcard /usr/lib/linux-tools-*/bpftool /usr/sbin/bpftool /usr/bin/bpftool) bpftool)
LLVM_STRIP ?= llvm-strip
MACHINE   ?= $(shell uname -m)
ARCH      := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(MACHINE)))
VERSION   := $(shell cat VERSION)
PREFIX    ?= /usr/local
# Short lines; make V=1 shows the commands.
Q         := $(if $(V),,@)
say        = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

WARNINGS  := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	     -Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla \
	     -Wformat=2 -Wundef -Wnull-dereference -Wswitch-enum
CPPFLAGS  += -D_GNU_SOURCE -DJVMSCOPE_VERSION='"$(VERSION)"' -I. -Iuserspace -isystem $(BUILD)
CFLAGS    += -std=gnu17 -g $(WARNINGS) -MMD -MP
HARDEN    := -O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
LDFLAGS   += -pie -Wl,-z,relro,-z,now
LDLIBS    := -lbpf -llzma -lz -lzstd -lyajl -lprotobuf-c -liberty -lm
BPFFLAGS  := -target bpf -mcpu=v3 -std=gnu17 -O2 -g -MMD -MP -Wall -Wextra -Werror \
	     -Wno-unused-parameter -D__TARGET_ARCH_$(ARCH) -I. -Ibpf -Ivmlinux/$(ARCH) \
	     -Ivmlinux -idirafter /usr/include/$(MACHINE)-linux-gnu

# make unit DIRS="base target" compiles and tests only these folders.
DIRS      ?= base trie model target jvm ledger jfr import live cli
MAIN_SRC  := userspace/cli/main.c
SRC       := $(filter-out $(MAIN_SRC),$(foreach d,$(DIRS),$(wildcard userspace/$(d)/*.c)) \
	     $(if $(filter model,$(DIRS)),$(wildcard exporters/*.c)) $(wildcard trie/trie*.c))
# These define shared maps; bpftool needs the definition before its users.
BPF_FIRST := bpf/core.bpf.c bpf/vm.bpf.c
BPF_SRC   := $(BPF_FIRST) $(filter-out $(BPF_FIRST),$(wildcard bpf/*.bpf.c))
BPF_OBJ   := $(BPF_SRC:%.c=$(BUILD)/%.o)
GENERATED := $(BUILD)/trie_default.o $(if $(filter model,$(DIRS)),$(BUILD)/profile.pb-c.o)
OBJ       := $(SRC:%.c=$(BUILD)/%.o) $(GENERATED)
MAIN_OBJ  := $(MAIN_SRC:%.c=$(BUILD)/%.o)
SKELETON  := $(BUILD)/jvmscope.skel.h
# What is undefined ends the program, as a bad address does: else it is a line that nobody reads.
SANITIZE  := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# A unit test file tests/unit/DIR_NAME.c belongs to the folder DIR (bpf, base, exporters, ...).
UNIT_SRC  := $(foreach d,$(DIRS) bpf $(if $(filter model,$(DIRS)),exporters),$(wildcard tests/unit/$(d)_*.c))
UNIT_OBJ  := $(patsubst %.c,$(BUILD)/asan/%.o,$(SRC) $(UNIT_SRC)) $(BUILD)/asan/tests/unit/main.o \
	     $(GENERATED)
SUITES    := $(patsubst tests/unit/%.c,%,$(UNIT_SRC))
# The kernel, /proc and the JVM as userspace/live sees them; a disk that is full for userspace/jfr.
FAKED_live := bpf_map_update_elem bpf_map_delete_elem bpf_map_lookup_elem bpf_map_get_next_key cost_map_bytes \
	     target_each_thread target_thread_cpu_ns maps_read fopen jvm_threads jvm_in_code_heap \
	     jvm_close jvm_describe jvm_frame_at jvm_object_layout jvm_task_layout jvm_major jvm_number_methods syscall close epoll_ctl bpf_program__attach_perf_event bpf_link__destroy
FAKED_jfr := pwrite ftruncate
FAKED     := $(filter live jfr,$(DIRS))
FAKES     := $(FAKED:%=tests/unit/fakes_%.c)
WRAP      := $(foreach d,$(FAKED),$(FAKED_$(d):%=-Wl,--wrap=%))

all: $(BUILD)/jvmscope

# Every bpf/*.bpf.c is its own object; linked together they are one program.
$(BUILD)/bpf/%.o: bpf/%.c
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPFFLAGS) -c $< -o $@

$(BUILD)/jvmscope.bpf.o: $(BPF_OBJ)
	$(call say,LINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^
	$(Q)$(LLVM_STRIP) -g $@

$(SKELETON): $(BUILD)/jvmscope.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name jvmscope_bpf > $@

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(HARDEN) -c $< -o $@

$(BUILD)/asan/%.o: %.c
	@mkdir -p $(@D)
	$(call say,ASAN,$<)
	$(Q)$(CC) $(CPPFLAGS) -Itests -I$(BUILD)/asan $(CFLAGS) $(SANITIZE) -c $< -o $@

# Only live.c includes the skeleton, and -MMD does not track -isystem headers.
$(BUILD)/userspace/live/live.o $(BUILD)/asan/userspace/live/live.o: $(SKELETON)

$(BUILD)/jvmscope: $(MAIN_OBJ) $(OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# For tests: the kernel's raw stacks of a JVM, and the names of its frames.
$(BUILD)/stacks $(BUILD)/names: $(BUILD)/%: $(BUILD)/tests/live/%.o $(OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# The list of suites is the list of files in tests/unit.
$(BUILD)/asan/suites.inc: $(UNIT_SRC) Makefile
	@mkdir -p $(@D)
	@printf 'SUITE(%s)\n' $(SUITES) > $@
$(BUILD)/asan/tests/unit/main.o: $(BUILD)/asan/suites.inc

$(BUILD)/unit: $(UNIT_OBJ) $(FAKES:%.c=$(BUILD)/asan/%.o)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $(WRAP) $^ -lcunit -ldw -lelf $(LDLIBS) -o $@

unit: $(BUILD)/unit
	$<

lint:
	tests/lint/run.sh

clean:
	rm -rf $(BUILD)

.PHONY: all unit lint clean
.DELETE_ON_ERROR:
include $(wildcard scripts/*.mk)
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
