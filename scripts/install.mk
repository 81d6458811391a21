# SPDX-License-Identifier: Apache-2.0
# install and uninstall; PREFIX is /usr/local, DESTDIR a root to stage into. Included by the Makefile.
#
# The same list of files serves both, so uninstall removes what install made and nothing else.
BINDIR        ?= $(PREFIX)/bin
MANDIR        ?= $(PREFIX)/share/man
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
DOCDIR        ?= $(PREFIX)/share/doc/jvmscope

INSTALL_DOCS  := README.md LICENSE docs/json-schema.json docs/ps-schema.json docs/events.md docs/trie.md docs/jdk-support.md docs/overhead.md

installed_files = $(BINDIR)/jvmscope $(MANDIR)/man1/jvmscope.1 $(COMPLETIONDIR)/jvmscope \
		  $(addprefix $(DOCDIR)/,$(notdir $(INSTALL_DOCS)))

install: all
	install -D -m 755 $(BUILD)/jvmscope $(DESTDIR)$(BINDIR)/jvmscope
	install -D -m 644 docs/jvmscope.1 $(DESTDIR)$(MANDIR)/man1/jvmscope.1
	install -D -m 644 completions/jvmscope.bash $(DESTDIR)$(COMPLETIONDIR)/jvmscope
	install -d $(DESTDIR)$(DOCDIR)
	install -m 644 $(INSTALL_DOCS) $(DESTDIR)$(DOCDIR)

uninstall:
	rm -f $(addprefix $(DESTDIR),$(installed_files))
	[ ! -d $(DESTDIR)$(DOCDIR) ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(DOCDIR)

.PHONY: install uninstall
