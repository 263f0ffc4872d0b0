# SPDX-License-Identifier: GPL-3.0-or-later
# A page for each command, from its part of sweetspot(1).
COMMAND_PAGES = $(patsubst cmd_%.c,%D%/sweetspot-%.1,$(notdir $(COMMANDS)))
nodist_man1_MANS = $(COMMAND_PAGES)
EXTRA_DIST += %D%/command-page
CLEANFILES += $(COMMAND_PAGES)
COMMAND_OF_PAGE = $(patsubst sweetspot-%.1,%,$(@F))
$(COMMAND_PAGES): $(COMMANDS) %D%/sweetspot.1 %D%/command-page
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SHELL) $(srcdir)/%D%/command-page $(COMMAND_OF_PAGE) $(srcdir)/$(filter %/cmd_$(COMMAND_OF_PAGE).c,$(COMMANDS)) $(srcdir)/%D%/sweetspot.1 >$@.tmp && mv $@.tmp $@
dist_man_MANS += %D%/sweetspot.1 %D%/sweetspot-worker.1 %D%/sweetspot_begin.3 %D%/sweetspot_end.3 %D%/libsweetspot.3 %D%/sweetspot-profile.5
