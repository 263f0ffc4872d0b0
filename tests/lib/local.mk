# SPDX-License-Identifier: GPL-3.0-or-later
# libsweetspot, and what the worker makes of what it writes.
check_PROGRAMS += %D%/app
%C%_app_SOURCES = %D%/app.c
%C%_app_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -pthread
%C%_app_LDADD = $(LIBSWEETSPOT)

lib_tests = %D%/counted %D%/hostile %D%/profile %D%/profile_places %D%/profile_machine %D%/profile_hostile \
	%D%/profile_threads %D%/profile_fleet
check_PROGRAMS += $(lib_tests) %D%/regions
TESTS += $(lib_tests)
slow_tests += %D%/regions
%C%_regions_SOURCES = %D%/regions.c %D%/rig.h
%C%_regions_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_regions_LDADD = libworker.la libcounters.la libtopo.la libbase.la
%C%_counted_SOURCES = %D%/counted.c %D%/rig.h tests/worker/protocol_client.c tests/worker/protocol_client.h
%C%_counted_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_counted_LDADD = libworker.la libcounters.la libtopo.la libbase.la
%C%_hostile_SOURCES = %D%/hostile.c %D%/fuzz_regions.c %D%/rig.h
%C%_hostile_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_hostile_LDADD = libworker.la libcounters.la libtopo.la libbase.la
EXTRA_DIST += %D%/seeds
fuzz_targets += %D%/fuzz_regions
%C%_fuzz_regions_SOURCES = %D%/fuzz_regions.c tests/fuzz_json.c
%C%_fuzz_regions_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_fuzz_regions_LDFLAGS = $(LIBFUZZER)
%C%_fuzz_regions_LDADD = $(%C%_hostile_LDADD)

# The archive: it has what the shared library hides.
LIBSWEETSPOT_INSIDE = libsweetspot.a libbase.la $(JANSSON_LIBS) -lm
%C%_profile_SOURCES = %D%/profile.c %D%/profile_made.h
%C%_profile_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_profile_LDADD = $(LIBSWEETSPOT_INSIDE)
%C%_profile_places_SOURCES = %D%/profile_places.c %D%/profile_made.h
%C%_profile_places_LDADD = $(LIBSWEETSPOT_INSIDE)
%C%_profile_machine_SOURCES = %D%/profile_machine.c %D%/profile_made.h
%C%_profile_machine_LDADD = $(LIBSWEETSPOT_INSIDE)
%C%_profile_fleet_SOURCES = %D%/profile_fleet.c %D%/profile_made.h
%C%_profile_fleet_LDADD = $(TUNER) $(LIBSWEETSPOT_INSIDE)
%C%_profile_hostile_SOURCES = %D%/profile_hostile.c %D%/fuzz_profile.c %D%/profile_made.h
%C%_profile_hostile_LDADD = $(LIBSWEETSPOT_INSIDE)
fuzz_targets += %D%/fuzz_profile
%C%_fuzz_profile_SOURCES = %D%/fuzz_profile.c tests/fuzz_json.c
%C%_fuzz_profile_LDFLAGS = $(LIBFUZZER)
%C%_fuzz_profile_LDADD = $(%C%_profile_hostile_LDADD)
%C%_profile_threads_SOURCES = %D%/profile_threads.c %D%/profile_made.h
%C%_profile_threads_CFLAGS = $(AM_CFLAGS) -pthread
%C%_profile_threads_LDADD = $(LIBSWEETSPOT_INSIDE)

dist_check_SCRIPTS += %D%/linked %D%/languages %D%/launcher %D%/profile_linked %D%/abi
TESTS += %D%/linked %D%/languages %D%/launcher %D%/profile_linked %D%/abi
