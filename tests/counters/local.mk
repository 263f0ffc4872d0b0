# SPDX-License-Identifier: GPL-3.0-or-later
# The worker in an emulated machine that has a PMU.
dist_check_SCRIPTS += %D%/guest
check_PROGRAMS += %D%/guest_replies
%C%_guest_replies_SOURCES = %D%/guest_replies.c %D%/guest_loop.h \
	%D%/guest_console.c %D%/guest_console.h
%C%_guest_replies_LDADD = libbase.la
EXTRA_DIST += %D%/guest_packages %D%/guest_image %D%/guest_archive %D%/guest_init %D%/guest_requests \
	%D%/guest_kernel.c %D%/guest_program.c

# What the guest needs of a build for its own architecture.
.PHONY: worker-only guest-clean
worker-only: $(BUILT_SOURCES)
	$(MAKE) $(AM_MAKEFLAGS) sweetspot-worker$(EXEEXT)
guest-clean:
	rm -rf %D%/guest-machine
clean-local: guest-clean
