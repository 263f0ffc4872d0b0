# SPDX-License-Identifier: GPL-3.0-or-later
# These bring backends of their own, which answer as recorded machines do.
counter_plan_tests = %D%/plan %D%/plan_words %D%/tables %D%/tables_fuzz
check_PROGRAMS += $(counter_plan_tests)
TESTS += $(counter_plan_tests)
%C%_plan_SOURCES = %D%/plan.c %D%/machine.c %D%/machine.h
%C%_plan_LDADD = libcounterplan.la libbase.la
%C%_plan_words_SOURCES = %D%/plan_words.c %D%/machine.c %D%/machine.h
%C%_plan_words_LDADD = libcounterplan.la libbase.la
%C%_tables_SOURCES = %D%/tables.c %D%/folder.c %D%/folder.h %D%/machine.c %D%/machine.h
%C%_tables_LDADD = libcounterplan.la libbase.la
%C%_tables_fuzz_SOURCES = %D%/tables_fuzz.c %D%/fuzz_tables.c %D%/folder.c %D%/folder.h %D%/machine.c %D%/machine.h
%C%_tables_fuzz_LDADD = libcounterplan.la libbase.la

EXTRA_DIST += \
	%D%/machines/icelake-x.json \
	%D%/machines/neoverse-n1.json \
	%D%/machines/paranoid.json \
	%D%/machines/qemu-a57.json \
	%D%/machines/sapphirerapids.json \
	%D%/machines/skylake-x.json \
	%D%/machines/vm.json \
	%D%/machines/zen2.json \
	%D%/machines/zen3.json \
	%D%/machines/zen4-filtered.json \
	%D%/machines/zen4.json
