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
include %D%/tuner/model/local.mk
include %D%/tuner/study/local.mk
include %D%/tuner/diagnosis/local.mk
include %D%/explain/local.mk
include %D%/fleet/local.mk
include %D%/tuner/record/local.mk
include %D%/plan/local.mk
include %D%/lib/local.mk
include %D%/report/local.mk
include %D%/cli/local.mk
include %D%/plugin/local.mk
include %D%/completions/local.mk
include %D%/apply/local.mk
include %D%/machine/local.mk
include %D%/profile/local.mk
include %D%/replay/local.mk
include %D%/run/local.mk
include %D%/show/local.mk
include %D%/status/local.mk
include %D%/tune/local.mk
include %D%/tuner/export/local.mk
include %D%/tuner/fleet/local.mk
include %D%/tuner/profile/local.mk
include %D%/tuner/program/local.mk
include %D%/tuner/race/local.mk
include %D%/tuner/replay/local.mk
include %D%/tuner/search/local.mk
include %D%/tuner/sizes/local.mk
include %D%/tuner/space/local.mk
include %D%/tuner/spec/local.mk
include %D%/tuner/store/local.mk
include %D%/tuner/strategy/local.mk
include %D%/tuner/surrogate/local.mk
include %D%/tuner/tune/local.mk
include %D%/style/local.mk
TESTS += $(dist_check_SCRIPTS)

EXTRA_DIST += %D%/installcheck
installcheck-local:
	CC='$(CC)' $(SHELL) $(srcdir)/tests/installcheck '$(DESTDIR)$(bindir)' '$(DESTDIR)$(pkglibexecdir)' \
		'$(DESTDIR)$(pkgconfigdir)' '$(DESTDIR)$(mandir)' '$(DESTDIR)$(docdir)'
