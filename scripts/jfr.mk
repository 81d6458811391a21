# SPDX-License-Identifier: Apache-2.0
# What only the tests and measurements of JFR need. Included by the Makefile.

# jfr_totals reads recordings and prints totals; jfr_make writes them.
$(BUILD)/jfr_totals $(BUILD)/jfr_make: $(BUILD)/jfr_%: $(BUILD)/tests/jfr/%.o $(OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(BUILD)/asan/jfr_totals: $(BUILD)/asan/tests/jfr/totals.o \
		$(patsubst %.c,$(BUILD)/asan/%.o,$(SRC)) $(GENERATED)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $^ $(LDLIBS) -o $@

# What writing costs, in CPU time and bytes.
bench-jfr-write: $(BUILD)/jfr_make
	@$< speed $(BUILD)/bench.jfr 10000000
	@rm -f $(BUILD)/bench.jfr

bench: bench-jfr-write

.PHONY: bench-jfr-write

# What reading a large file costs, beside the JDK's own tool.
bench-jfr: all $(BUILD)/jfr_totals
	@bench/jfr.py

bench: bench-jfr

.PHONY: bench-jfr
