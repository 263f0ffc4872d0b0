# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/ceilings_file %D%/ceilings_gpu
TESTS += %D%/ceilings_file %D%/ceilings_gpu
%C%_ceilings_file_SOURCES = %D%/ceilings_file.c
%C%_ceilings_file_LDADD = $(APP) $(GSL_LIBS) $(JANSSON_LIBS) -lm
# Its own functions stand for those of src/app.
%C%_ceilings_file_LDFLAGS = -Wl,--allow-multiple-definition
%C%_ceilings_gpu_SOURCES = %D%/ceilings_gpu.c
%C%_ceilings_gpu_LDADD = $(%C%_ceilings_file_LDADD)
%C%_ceilings_gpu_LDFLAGS = $(%C%_ceilings_file_LDFLAGS)
dist_check_SCRIPTS += %D%/ceilings %D%/ceilings_low
slow_tests += %D%/ceilings %D%/ceilings_low
