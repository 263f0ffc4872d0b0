# SPDX-License-Identifier: GPL-3.0-or-later
base_tests = %D%/text %D%/numbers %D%/files %D%/json %D%/options %D%/process %D%/remains
check_PROGRAMS += $(base_tests)
TESTS += $(base_tests)
%C%_text_SOURCES = %D%/text.c
%C%_text_LDADD = libbase.la
%C%_numbers_SOURCES = %D%/numbers.c
%C%_numbers_LDADD = libbase.la
%C%_files_SOURCES = %D%/files.c
%C%_files_LDADD = libbase.la
%C%_json_SOURCES = %D%/json.c %D%/fuzz_js.c
%C%_json_LDADD = libbase.la
%C%_options_SOURCES = %D%/options.c
%C%_options_LDADD = libbase.la
%C%_process_SOURCES = %D%/process.c
%C%_process_LDADD = libbase.la
%C%_remains_SOURCES = %D%/remains.c
%C%_remains_LDADD = libbase.la
