# SPDX-License-Identifier: GPL-3.0-or-later
# The worker with kernels that misbehave.
check_PROGRAMS += %D%/faulty-worker
%C%_faulty_worker_SOURCES = %D%/faulty.c
%C%_faulty_worker_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_faulty_worker_LDADD = libworker.la libcounters.la libtopo.la libbase.la

check_PROGRAMS += %D%/protocol
%C%_protocol_SOURCES = %D%/protocol.c %D%/protocol_client.c %D%/protocol_client.h
%C%_protocol_LDADD = libbase.la
TESTS += %D%/protocol

check_PROGRAMS += %D%/protocol_malformed
%C%_protocol_malformed_SOURCES = %D%/protocol_malformed.c %D%/protocol_client.c %D%/protocol_client.h
%C%_protocol_malformed_LDADD = libbase.la
TESTS += %D%/protocol_malformed

check_PROGRAMS += %D%/protocol_faulty
%C%_protocol_faulty_SOURCES = %D%/protocol_faulty.c %D%/protocol_client.c %D%/protocol_client.h
%C%_protocol_faulty_LDADD = libbase.la
slow_tests += %D%/protocol_faulty

check_PROGRAMS += %D%/requests
%C%_requests_SOURCES = %D%/requests.c %D%/fuzz_request.c %D%/fuzz_request.h
%C%_requests_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_requests_LDADD = libworker.la libcounters.la libtopo.la libbase.la
TESTS += %D%/requests
EXTRA_DIST += %D%/seeds
fuzz_targets += %D%/fuzz_request
%C%_fuzz_request_SOURCES = %D%/fuzz_request.c %D%/fuzz_request.h tests/fuzz_json.c
%C%_fuzz_request_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_fuzz_request_LDFLAGS = $(LIBFUZZER)
%C%_fuzz_request_LDADD = $(%C%_requests_LDADD)

check_PROGRAMS += %D%/program_held
%C%_program_held_SOURCES = %D%/program_held.c
%C%_program_held_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_program_held_LDADD = libworker.la libcounters.la libtopo.la libbase.la
TESTS += %D%/program_held

check_PROGRAMS += %D%/gpu_records
%C%_gpu_records_SOURCES = %D%/gpu_records.c %D%/fuzz_gpu.c
%C%_gpu_records_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_gpu_records_LDADD = libworker.la libcounters.la libtopo.la libbase.la
TESTS += %D%/gpu_records
fuzz_targets += %D%/fuzz_gpu
%C%_fuzz_gpu_SOURCES = %D%/fuzz_gpu.c
%C%_fuzz_gpu_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_fuzz_gpu_LDFLAGS = $(LIBFUZZER)
%C%_fuzz_gpu_LDADD = $(%C%_gpu_records_LDADD)
fuzz_targets += %D%/fuzz_answer
%C%_fuzz_answer_SOURCES = %D%/fuzz_answer.c tests/fuzz_json.c
%C%_fuzz_answer_LDFLAGS = $(LIBFUZZER)
%C%_fuzz_answer_LDADD = $(TUNER) libbase.la $(GSL_LIBS) $(JANSSON_LIBS) -lm

check_PROGRAMS += %D%/source_compare
%C%_source_compare_SOURCES = %D%/source_compare.c
%C%_source_compare_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_source_compare_LDADD = libworker.la libkernels.la libcounters.la libtopo.la libbase.la -lm
TESTS += %D%/source_compare

check_PROGRAMS += %D%/counting_passes
%C%_counting_passes_SOURCES = %D%/counting_passes.c
%C%_counting_passes_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_counting_passes_LDADD = libworker.la libcounters.la libtopo.la libbase.la
TESTS += %D%/counting_passes

# A benchmark: prints what a trial costs beyond the kernel's own time.
check_PROGRAMS += %D%/protocol_overhead
%C%_protocol_overhead_SOURCES = %D%/protocol_overhead.c %D%/protocol_client.c %D%/protocol_client.h
%C%_protocol_overhead_LDADD = libbase.la

dist_check_SCRIPTS += %D%/protocol_manual
TESTS += %D%/protocol_manual
check_PROGRAMS += %D%/topology
%C%_topology_SOURCES = %D%/topology.c
%C%_topology_LDADD = libtopo.la libbase.la
TESTS += %D%/topology

check_PROGRAMS += %D%/topology_hostile
%C%_topology_hostile_SOURCES = %D%/topology_hostile.c
%C%_topology_hostile_LDADD = libtopo.la libbase.la
TESTS += %D%/topology_hostile

check_PROGRAMS += %D%/affinity
%C%_affinity_SOURCES = %D%/affinity.c
%C%_affinity_LDADD = libtopo.la libbase.la $(HWLOC_LIBS)
TESTS += %D%/affinity

check_PROGRAMS += %D%/binding
%C%_binding_SOURCES = %D%/binding.c
%C%_binding_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_binding_LDADD = libtopo.la libbase.la
TESTS += %D%/binding

check_PROGRAMS += %D%/counters
%C%_counters_SOURCES = %D%/counters.c
%C%_counters_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_counters_LDADD = libcounters.la libbase.la
TESTS += %D%/counters

# Recorded with lstopo, then edited: CPUs taken out with holes in their numbers, a cache that not every core has, nothing
# but CPUs.
EXTRA_DIST += %D%/machines/asymmetric.xml %D%/machines/hybrid.xml %D%/machines/kinds.xml %D%/machines/bare.xml

# Programs that the worker runs.
check_PROGRAMS += %D%/program_app
%C%_program_app_SOURCES = %D%/program_app.c
%C%_program_app_LDADD = -lpthread

program_tests = %D%/program %D%/program_ends %D%/program_malformed
check_PROGRAMS += $(program_tests)
TESTS += %D%/program_malformed
slow_tests += %D%/program %D%/program_ends
%C%_program_SOURCES = %D%/program.c %D%/program_fixture.h %D%/protocol_client.c %D%/protocol_client.h
%C%_program_LDADD = libbase.la
%C%_program_ends_SOURCES = %D%/program_ends.c %D%/program_fixture.h %D%/protocol_client.c %D%/protocol_client.h
%C%_program_ends_LDADD = libbase.la
%C%_program_malformed_SOURCES = %D%/program_malformed.c %D%/program_fixture.h \
	%D%/protocol_client.c %D%/protocol_client.h
%C%_program_malformed_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_program_malformed_LDADD = libworker.la libcounters.la libtopo.la libbase.la
