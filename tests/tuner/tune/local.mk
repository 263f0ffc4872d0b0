# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/programs %D%/effects %D%/counters %D%/resume %D%/sources %D%/stop %D%/again
TESTS += %D%/programs %D%/effects %D%/counters %D%/resume %D%/sources %D%/stop %D%/again
%C%_programs_SOURCES = %D%/programs.c tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_programs_LDADD = libtuner.la libbase.la -lm
%C%_effects_SOURCES = %D%/effects.c
%C%_effects_LDADD = libtuner.la libbase.la -lm
%C%_counters_SOURCES = %D%/counters.c tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_counters_LDADD = libtuner.la libbase.la -lm
%C%_resume_SOURCES = %D%/resume.c %D%/spy.c %D%/spy.h tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_resume_LDADD = libtuner.la libbase.la -lm
%C%_sources_SOURCES = %D%/sources.c %D%/spy.c %D%/spy.h tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_sources_LDADD = libtuner.la libbase.la -lm
%C%_stop_SOURCES = %D%/stop.c %D%/spy.c %D%/spy.h tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_stop_LDADD = libtuner.la libbase.la -lm
%C%_again_SOURCES = %D%/again.c %D%/spy.c %D%/spy.h tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_again_LDADD = libtuner.la libbase.la -lm
