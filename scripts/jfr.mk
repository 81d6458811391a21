# SPDX-License-Identifier: Apache-2.0
# What only the tests and measurements of JFR need. Included by the Makefile.

# Reads recordings and prints totals.
$(BUILD)/jfr_totals: $(BUILD)/tests/jfr/totals.o $(OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(BUILD)/asan/jfr_totals: $(BUILD)/asan/tests/jfr/totals.o \
		$(patsubst %.c,$(BUILD)/asan/%.o,$(SRC)) $(BUILD)/trie_default.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $^ $(LDLIBS) -o $@
