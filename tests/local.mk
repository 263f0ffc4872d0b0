# SPDX-License-Identifier: GPL-3.0-or-later
# Tests print TAP and carry no suffix. C tests are check_PROGRAMS, shell tests are dist_check_SCRIPTS.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_TESTS_ENVIRONMENT = SRCDIR='$(abs_top_srcdir)' BUILDDIR='$(abs_top_builddir)' CC='$(CC)'; OMP_WAIT_POLICY=passive; \
	export SRCDIR BUILDDIR CC OMP_WAIT_POLICY;
dist_check_SCRIPTS =
EXTRA_DIST += %D%/tap.h %D%/tap.sh %D%/schema.py %D%/schema.sh

include %D%/base/local.mk
include %D%/kernels/local.mk
include %D%/gpu/local.mk
include %D%/worker/local.mk
include %D%/counters/local.mk
include %D%/model/local.mk
include %D%/study/local.mk
include %D%/diagnosis/local.mk
include %D%/explain/local.mk
include %D%/tuner/local.mk
include %D%/fleet/local.mk
include %D%/record/local.mk
include %D%/store/local.mk
include %D%/program/local.mk
include %D%/lib/local.mk
include %D%/report/local.mk
include %D%/cli/local.mk
include %D%/plugin/local.mk
include %D%/completions/local.mk
include %D%/style/local.mk
TESTS += $(dist_check_SCRIPTS)

EXTRA_DIST += %D%/installcheck
installcheck-local:
	CC='$(CC)' $(SHELL) $(srcdir)/tests/installcheck '$(DESTDIR)$(bindir)' '$(DESTDIR)$(pkglibexecdir)' \
		'$(DESTDIR)$(pkgconfigdir)' '$(DESTDIR)$(mandir)' '$(DESTDIR)$(docdir)'
