# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/spec %D%/values %D%/errors
TESTS += %D%/spec %D%/values %D%/errors
%C%_spec_SOURCES = %D%/spec.c %D%/help.h %D%/texts.h tests/tuner/space/help.h
%C%_spec_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS)
%C%_values_SOURCES = %D%/values.c
%C%_values_LDADD = $(TUNER) libbase.la
%C%_errors_SOURCES = %D%/errors.c %D%/fuzz_spec.c %D%/help.h %D%/texts.h
%C%_errors_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS)
EXTRA_DIST += %D%/seeds
fuzz_targets += %D%/fuzz_spec
%C%_fuzz_spec_SOURCES = %D%/fuzz_spec.c tests/fuzz_json.c
%C%_fuzz_spec_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_DIGITS=3
%C%_fuzz_spec_LDFLAGS = $(LIBFUZZER)
%C%_fuzz_spec_LDADD = $(%C%_errors_LDADD)
