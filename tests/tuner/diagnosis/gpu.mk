# SPDX-License-Identifier: GPL-3.0-or-later
GPU_DIAGNOSIS_TESTS = %D%/gpu_counters %D%/gpu_functions %D%/gpu_times %D%/gpu_recorded
check_PROGRAMS += $(GPU_DIAGNOSIS_TESTS)
EXTRA_DIST += %D%/gpu_help.h %D%/recorded
%C%_gpu_counters_SOURCES = %D%/gpu_counters.c
%C%_gpu_counters_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
%C%_gpu_functions_SOURCES = %D%/gpu_functions.c
%C%_gpu_functions_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
%C%_gpu_times_SOURCES = %D%/gpu_times.c
%C%_gpu_times_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
%C%_gpu_recorded_SOURCES = %D%/gpu_recorded.c
%C%_gpu_recorded_CPPFLAGS = $(AM_CPPFLAGS) -DRECORDED='"$(abs_top_srcdir)/%D%/recorded"'
%C%_gpu_recorded_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
TESTS += %D%/gpu_functions %D%/gpu_recorded
slow_tests += %D%/gpu_counters %D%/gpu_times
