# SPDX-License-Identifier: Apache-2.0
# The pprof exporter's messages, made from the published profile.proto. Included by the Makefile.
PPROF_PROTO ?= /usr/share/gocode/src/github.com/google/pprof/proto

$(BUILD)/profile.pb-c.c: $(PPROF_PROTO)/profile.proto
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)protoc-c --c_out=$(BUILD) -I $(PPROF_PROTO) $<

$(BUILD)/profile.pb-c.h: $(BUILD)/profile.pb-c.c ;

$(BUILD)/profile.pb-c.o: $(BUILD)/profile.pb-c.c
	$(Q)$(CC) $(CPPFLAGS) -std=gnu17 -g $(HARDEN) -c $< -o $@

# -MMD does not follow -isystem headers, and a first build has no .d files.
PPROF_USERS := $(wildcard exporters/pprof*.c)
$(PPROF_USERS:%.c=$(BUILD)/%.o) $(PPROF_USERS:%.c=$(BUILD)/asan/%.o) \
	$(BUILD)/asan/tests/unit/exporters_pprof.o: $(BUILD)/profile.pb-c.h
