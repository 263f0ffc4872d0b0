# SPDX-License-Identifier: GPL-3.0-or-later
STUDY_TESTS = %D%/study %D%/counted %D%/table_hostile
check_PROGRAMS += $(STUDY_TESTS)
%C%_study_SOURCES = %D%/study.c
%C%_study_LDADD = libtuner.la libbase.la $(GSL_LIBS) -lm
%C%_counted_SOURCES = %D%/counted.c
%C%_counted_LDADD = libtuner.la libbase.la $(GSL_LIBS) $(JANSSON_LIBS) -lm
%C%_table_hostile_SOURCES = %D%/table_hostile.c %D%/fuzz_table.c
%C%_table_hostile_LDADD = libtuner.la libbase.la $(GSL_LIBS) $(JANSSON_LIBS) -lm
TESTS += $(STUDY_TESTS)
fuzz_targets += %D%/fuzz_table
%C%_fuzz_table_SOURCES = %D%/fuzz_table.c
%C%_fuzz_table_LDFLAGS = $(LIBFUZZER)
%C%_fuzz_table_LDADD = $(%C%_table_hostile_LDADD)
