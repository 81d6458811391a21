# SPDX-License-Identifier: Apache-2.0
# What one hit of a uprobe costs (root). Included by the Makefile.

$(BUILD)/hit: $(BUILD)/bench/hit.o $(OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(BUILD)/hit.bpf.o: bench/hit.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPFFLAGS) -c $< -o $@

bench-hit: $(BUILD)/hit $(BUILD)/hit.bpf.o
	@$^

bench: bench-hit

.PHONY: bench-hit
