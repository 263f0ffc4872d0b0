# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/pool_simulated %D%/tune_pool %D%/tune_pool_ends %D%/promised %D%/million %D%/two %D%/judge %D%/launchers \
	%D%/slurm_words %D%/pool_workers %D%/pool_killed
TESTS += %D%/pool_simulated %D%/tune_pool %D%/tune_pool_ends %D%/promised %D%/two %D%/judge %D%/launchers %D%/slurm_words \
	%D%/pool_workers
slow_tests += %D%/million %D%/pool_killed
FLEET_SIMULATED = %D%/simulated.c %D%/simulated.h %D%/event_heap.c %D%/event_heap.h
%C%_pool_simulated_SOURCES = %D%/pool_simulated.c $(FLEET_SIMULATED)
%C%_pool_simulated_LDADD = $(TUNER) libbase.la -lm
%C%_tune_pool_SOURCES = %D%/tune_pool.c %D%/play.c %D%/play.h $(FLEET_SIMULATED) tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_tune_pool_LDADD = $(TUNER) libbase.la -lm
%C%_tune_pool_ends_SOURCES = %D%/tune_pool_ends.c %D%/play.c %D%/play.h $(FLEET_SIMULATED) tests/tuner/space/help.h \
	tests/tuner/store/fixture.h
%C%_tune_pool_ends_LDADD = $(TUNER) libbase.la -lm
%C%_promised_SOURCES = %D%/promised.c %D%/play.c %D%/play.h $(FLEET_SIMULATED) tests/tuner/space/help.h \
	tests/tuner/store/fixture.h
%C%_promised_LDADD = $(TUNER) libbase.la -lm
%C%_million_SOURCES = %D%/million.c %D%/play.c %D%/play.h $(FLEET_SIMULATED) tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_million_LDADD = $(TUNER) libbase.la -lm
%C%_two_SOURCES = %D%/two.c %D%/play.c %D%/play.h $(FLEET_SIMULATED) tests/tuner/space/help.h tests/tuner/store/fixture.h
%C%_two_LDADD = $(TUNER) libbase.la -lm
%C%_judge_SOURCES = %D%/judge.c
%C%_judge_LDADD = $(TUNER) libbase.la -lm
%C%_launchers_SOURCES = %D%/launchers.c %D%/fuzz_nodes.c
%C%_launchers_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS)
%C%_slurm_words_SOURCES = %D%/slurm_words.c
%C%_slurm_words_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS)
%C%_pool_workers_SOURCES = %D%/pool_workers.c %D%/rig.h
%C%_pool_workers_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS)
%C%_pool_killed_SOURCES = %D%/pool_killed.c %D%/rig.h
%C%_pool_killed_LDADD = $(TUNER) libbase.la $(JANSSON_LIBS)
EXTRA_DIST += %D%/seeds
fuzz_targets += %D%/fuzz_nodes
%C%_fuzz_nodes_SOURCES = %D%/fuzz_nodes.c
%C%_fuzz_nodes_LDFLAGS = $(LIBFUZZER)
%C%_fuzz_nodes_LDADD = $(%C%_launchers_LDADD)
