# SPDX-License-Identifier: GPL-3.0-or-later
# CUDA programs that are watched: a libcupti and a program that stand in for those of a machine with a GPU.
EXTRA_DIST += %D%/fake_cupti.c %D%/app.c
check_PROGRAMS += %D%/read
gpu_tests += %D%/read
%C%_read_SOURCES = %D%/read.c
%C%_read_LDADD = libworker.la libgpu.la libcounters.la libtopo.la libbase.la
%C%_read_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
if HAVE_CUPTI
check_PROGRAMS += %D%/functions
gpu_tests += %D%/functions
%C%_functions_SOURCES = %D%/functions.c
%C%_functions_CPPFLAGS = $(gpu_test_CPPFLAGS)
%C%_functions_LDADD = libcounters.la libgpu.la libbase.la
check_DATA += %D%/libcupti.so.13 %D%/app
CLEANFILES += %D%/libcupti.so.13 %D%/app
%D%/libcupti.so.13: $(srcdir)/%D%/fake_cupti.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(STD_CFLAGS) -O2 -g -fPIC -shared $(CUPTI_CPPFLAGS) \
		$(srcdir)/%D%/fake_cupti.c -Wl,-soname,libcupti.so.13 -o $@
%D%/app: $(srcdir)/%D%/app.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(STD_CFLAGS) -O2 -g $(srcdir)/%D%/app.c -o $@ -ldl
endif
dist_check_SCRIPTS += %D%/programs
gpu_tests += %D%/programs
