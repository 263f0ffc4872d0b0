# SPDX-License-Identifier: GPL-3.0-or-later
# Tests print TAP and carry no suffix. C tests are check_PROGRAMS, shell tests are dist_check_SCRIPTS. Each test is in one
# list, which is its class: TESTS if it takes 3 seconds or less on a quiet machine, otherwise slow_tests, gpu_tests, or
# waiting_tests and slurm_tests (which start daemons of Slurm). The long ones are first in TESTS, so that a parallel run
# does not end with one of them alone. Programs find their data beside the sources only if the build is in a folder of theirs, so
# other builds name it.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-timed $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_TESTS_ENVIRONMENT = SRCDIR='$(abs_top_srcdir)' BUILDDIR='$(abs_top_builddir)' CC='$(CC)'; OMP_WAIT_POLICY=passive; \
	PATH='$(PYTHON3_PATH)'"$$PATH"; export SRCDIR BUILDDIR CC OMP_WAIT_POLICY PATH; \
	test -d '$(abs_top_builddir)/../data' || { SWEETSPOT_DATA='$(abs_top_srcdir)/data'; export SWEETSPOT_DATA; };
dist_check_SCRIPTS =
fuzz_targets =
EXTRA_DIST += build-aux/libtool-fast build-aux/tap-timed build-aux/fuzz build-aux/fuzz-options build-aux/gen-fuzz-bundle build-aux/gen-fuzz-run build-aux/ci-sanitized build-aux/analyze build-aux/analyze-answered build-aux/analyze.h %D%/fuzz.h %D%/mutate.h %D%/tap.h %D%/tap.sh %D%/wait.sh %D%/schema.py %D%/schema.sh

include %D%/base/local.mk
include %D%/kernels/local.mk
include %D%/gpu/local.mk
include %D%/worker/local.mk
include %D%/counters/local.mk
include %D%/tuner/inside/local.mk
include %D%/tuner/model/local.mk
include %D%/tuner/study/local.mk
include %D%/tuner/diagnosis/local.mk
include %D%/tuner/reading/local.mk
include %D%/tuner/probe/local.mk
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
include %D%/python/local.mk
include %D%/regions/local.mk
include %D%/kokkos/local.mk
include %D%/replay/local.mk
include %D%/run/local.mk
include %D%/show/local.mk
include %D%/status/local.mk
include %D%/tune/local.mk
include %D%/tuner/export/local.mk
include %D%/tuner/fleet/local.mk
include %D%/tuner/profile/local.mk
include %D%/tuner/build/local.mk
include %D%/tuner/program/local.mk
include %D%/tuner/result/local.mk
include %D%/tuner/same/local.mk
include %D%/tuner/race/local.mk
include %D%/tuner/regions/local.mk
include %D%/tuner/replay/local.mk
include %D%/tuner/search/local.mk
include %D%/tuner/sizes/local.mk
include %D%/tuner/space/local.mk
include %D%/tuner/spec/local.mk
include %D%/tuner/store/local.mk
include %D%/tuner/surrogate/local.mk
include %D%/doc/local.mk
include %D%/packaging/local.mk
include %D%/tuner/busy/local.mk
include %D%/tuner/tune/local.mk
include %D%/style/local.mk

# What makes test programs quick to build. How fast they run matters little, because the work is in the libraries; -O0 comes
# last, and sanitizers and coverage are left as they are.
tests/%.$(OBJEXT): CFLAGS += -O0 $(mmd_flag)
# Dependencies on our own headers only, as build-aux/libtool-fast asks for; gcc prefers this to automake's -MD.
if AMDEP
mmd_flag = -MMD
endif
$(filter tests/%,$(check_PROGRAMS)): private LIBTOOL = $(SHELL) $(top_srcdir)/build-aux/libtool-fast --gold

# One class of tests at a time; `make check` runs all of them. Without -j twice as many and two run as there are
# processors, because many of them mostly wait: for daemons, for a pause, for a child.
all_slurm_tests = $(waiting_tests) $(slurm_tests)
quick_tests = $(filter-out $(slow_tests) $(all_slurm_tests) $(gpu_tests),$(TESTS))
check_jobs = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$$(($$(nproc 2>/dev/null || echo 2) * 2 + 2)))
# Programs that only slower tests need are left out.
check_class = +$(MAKE) $(AM_MAKEFLAGS) $(check_jobs) check
.PHONY: check-quick check-slow check-slurm check-gpu check-times list-tests
check-quick: all
	$(check_class) TESTS='$(quick_tests)' check_PROGRAMS='$(filter-out $(slow_tests) $(gpu_tests),$(check_PROGRAMS))'
check-slow: all
	$(check_class) TESTS='$(slow_tests)'
check-slurm: all
	$(check_class) TESTS='$(all_slurm_tests)' check_PROGRAMS=
check-gpu: all
	$(check_class) TESTS='$(gpu_tests) $(filter tests/gpu/%,$(quick_tests))' check_PROGRAMS='$(filter tests/gpu/%,$(check_PROGRAMS))'
list-tests:
	@printf 'quick %s\n' $(quick_tests)
	@printf 'slow %s\n' $(slow_tests)
	@printf 'slurm %s\n' $(all_slurm_tests)
	@printf 'gpu %s\n' $(gpu_tests)
# How long each test of the last run took: seconds, and seconds of processor time, which a busy machine changes less.
check-times:
	@echo '    wall     cpu  test'
	@find tests -name '*.trs' -exec sed -n 's/^:seconds: //p' {} + | sort -rn | awk '\
		{ printf "%8.1f %7.1f  %s\n", $$1, $$2, $$3; wall += $$1; cpu += $$2 } END { printf "%8.1f %7.1f  all\n", wall, cpu }'

# Every fuzz_*.c is a target of libFuzzer, and most are part of a test, too, which calls them with mutated inputs. They
# are built in a build of their own, by clang, and run for FUZZ_SECONDS each, FUZZ_JOBS at a time (one a processor).
FUZZ_SECONDS = 60
FUZZ_JOBS =
# 1: without AddressSanitizer, in fuzz-fast, which has many times as many inputs in the same time.
FUZZ_FAST =
LIBFUZZER = $(AM_LDFLAGS) -fsanitize=fuzzer
EXTRA_PROGRAMS += $(fuzz_targets)
.PHONY: fuzz fuzz-targets fuzz-bundle analyze
fuzz:
	@FUZZ_FAST='$(FUZZ_FAST)' $(SHELL) $(srcdir)/build-aux/fuzz '$(srcdir)' fuzz$(FUZZ_FAST:1=-fast) '$(FUZZ_SECONDS)' \
		'$(FUZZ_JOBS)' $(fuzz_targets)
# The targets as one archive, for machines with more processors.
fuzz-bundle:
	@FUZZ_FAST='$(FUZZ_FAST)' $(SHELL) $(srcdir)/build-aux/fuzz '$(srcdir)' fuzz$(FUZZ_FAST:1=-fast) 0 '$(FUZZ_JOBS)' $(fuzz_targets)
	@test ! -e fuzz$(FUZZ_FAST:1=-fast)/config.status || $(SHELL) $(srcdir)/build-aux/gen-fuzz-bundle '$(srcdir)' fuzz$(FUZZ_FAST:1=-fast) \
		sweetspot-fuzz$(FUZZ_FAST:1=-fast)-$(PACKAGE_VERSION)-$(host_cpu).tar.xz $(fuzz_targets)
fuzz-targets: $(BUILT_SOURCES)
	$(MAKE) $(AM_MAKEFLAGS) $(fuzz_targets)

# Kills tuners of all kinds and resumes them, cuts the power SOAK_CUTS times, lets each system call fail with each error, and
# plays a million trials on 10,000 nodes; the suite does a few of each.
SOAK_ROUNDS = 1000
SOAK_CUTS = 500
SOAK_SEED = 1
soak_environment = SRCDIR='$(abs_top_srcdir)' BUILDDIR='$(abs_top_builddir)' SWEETSPOT_DATA='$(abs_top_srcdir)/data'
.PHONY: soak
soak: all
	$(soak_environment) $(srcdir)/tests/tune/soak '$(SOAK_ROUNDS)' '$(SOAK_SEED)'
	$(soak_environment) $(srcdir)/tests/tune/power '$(SOAK_CUTS)' '$(SOAK_SEED)'
	$(soak_environment) $(srcdir)/tests/tune/faults all
	$(soak_environment) CC='$(CC)' $(srcdir)/tests/tune/memory all
	$(MAKE) $(AM_MAKEFLAGS) tests/tuner/fleet/million$(EXEEXT)
	tests/tuner/fleet/million$(EXEEXT) 1000000

# Static analysis by clang and gcc, whichever is installed, ANALYZE_JOBS at a time (one a processor), over all C files or those
# that have changed since the commit ANALYZE_SINCE.
ANALYZE_JOBS =
ANALYZE_SINCE =
analyze_flags = $(DEFS) $(AM_CPPFLAGS) $(PAPI_CFLAGS) $(CUPTI_CPPFLAGS) $(CUDA_CPPFLAGS) $(STD_CFLAGS) $(OPENMP_CFLAGS) \
	-DSS_PKGDATADIR="" -DSS_SYSCONFDIR="" -DSSP_SYSCONFDIR="" -DSS_LIBEXECDIR=""
analyze: $(BUILT_SOURCES)
	@$(SHELL) $(srcdir)/build-aux/analyze '$(srcdir)' analyze '$(ANALYZE_JOBS)' '$(analyze_flags)' '$(ANALYZE_SINCE)'

EXTRA_DIST += %D%/installcheck
installcheck-local:
	CC='$(CC)' $(SHELL) $(srcdir)/tests/installcheck '$(DESTDIR)$(bindir)' '$(DESTDIR)$(pkglibexecdir)' \
		'$(DESTDIR)$(pkgconfigdir)' '$(DESTDIR)$(mandir)' '$(DESTDIR)$(docdir)'
