# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/programs %D%/wrong %D%/gain %D%/effects %D%/counters %D%/resume %D%/sources %D%/stop %D%/again \
	%D%/hangs %D%/long %D%/rent
TESTS += %D%/programs %D%/wrong %D%/gain %D%/effects %D%/counters %D%/resume %D%/sources %D%/stop %D%/again %D%/hangs %D%/long %D%/rent
%C%_programs_SOURCES = %D%/programs.c tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_programs_LDADD = $(TUNER) libbase.la -lm
%C%_wrong_SOURCES = %D%/wrong.c $(FLEET_SIMULATED) tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_wrong_LDADD = $(TUNER) libbase.la -lm
%C%_gain_SOURCES = %D%/gain.c $(FLEET_SIMULATED) tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_gain_LDADD = $(TUNER) libbase.la -lm
%C%_effects_SOURCES = %D%/effects.c
%C%_effects_LDADD = $(TUNER) libbase.la -lm
%C%_counters_SOURCES = %D%/counters.c tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_counters_LDADD = $(TUNER) libbase.la -lm
%C%_resume_SOURCES = %D%/resume.c %D%/spy.c %D%/spy.h tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_resume_LDADD = $(TUNER) libbase.la -lm
%C%_sources_SOURCES = %D%/sources.c %D%/spy.c %D%/spy.h tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_sources_LDADD = $(TUNER) libbase.la -lm
%C%_stop_SOURCES = %D%/stop.c %D%/spy.c %D%/spy.h tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_stop_LDADD = $(TUNER) libbase.la -lm
%C%_again_SOURCES = %D%/again.c %D%/spy.c %D%/spy.h tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_again_LDADD = $(TUNER) libbase.la -lm
%C%_hangs_SOURCES = %D%/hangs.c tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_hangs_LDADD = $(TUNER) libbase.la -lm
%C%_long_SOURCES = %D%/long.c tests/tuner/store/fixture.h
%C%_long_LDADD = $(PLAN_LIBS)
%C%_rent_SOURCES = %D%/rent.c tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_rent_LDADD = $(TUNER) libbase.la -lm
