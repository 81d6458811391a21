# SPDX-License-Identifier: Apache-2.0
# The built-in list of class-name rules becomes a constant. Included by the Makefile.
#
# gen runs on the machine that builds, so that a cross build works.
HOSTCC ?= cc

$(BUILD)/gen: trie/gen.c $(wildcard trie/trie*.[ch])
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -D_GNU_SOURCE -std=gnu17 -O1 -I. $(filter %.c,$^) -o $@

$(BUILD)/trie_default.c: trie/default.rules $(BUILD)/gen
	$(call say,GEN,$@)
	$(Q)$(BUILD)/gen $< trie_default > $@

$(BUILD)/trie_default.o: $(BUILD)/trie_default.c
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(HARDEN) -c $< -o $@

# What a lookup costs, beside other ways.
bench-trie: $(BUILD)/trie_bench
	@bench/trie.sh

$(BUILD)/trie_bench: bench/trie_bench.c bench/trie_rivals.c $(wildcard trie/trie*.[ch]) bench/trie_rivals.h
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -MMD -MP,$(CFLAGS)) $(HARDEN) $(LDFLAGS) $(filter %.c,$^) -lz -o $@

bench: bench-trie

.PHONY: bench-trie
