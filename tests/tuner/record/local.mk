# SPDX-License-Identifier: GPL-3.0-or-later
RECORD_TESTS = %D%/scan %D%/kt %D%/t4 %D%/ktt %D%/hostile %D%/round_trip %D%/spaces
check_PROGRAMS += $(RECORD_TESTS)
%C%_scan_SOURCES = %D%/scan.c
%C%_scan_LDADD = libtuner.la libbase.la
%C%_kt_SOURCES = %D%/kt.c %D%/record_help.h
%C%_kt_LDADD = libtuner.la libbase.la -lm
%C%_t4_SOURCES = %D%/t4.c %D%/record_help.h
%C%_t4_LDADD = libtuner.la libbase.la -lm
%C%_ktt_SOURCES = %D%/ktt.c %D%/record_help.h
%C%_ktt_LDADD = libtuner.la libbase.la -lm
%C%_hostile_SOURCES = %D%/hostile.c %D%/fuzz_record.c %D%/record_help.h
%C%_hostile_LDADD = libtuner.la libbase.la $(ZLIB_LIBS) -lm
%C%_round_trip_SOURCES = %D%/round_trip.c tests/tuner/store/fixture.h
%C%_round_trip_LDADD = libtuner.la libbase.la $(JANSSON_LIBS) -lm
%C%_spaces_SOURCES = %D%/spaces.c
%C%_spaces_LDADD = libtuner.la libbase.la -lm
TESTS += $(RECORD_TESTS)
