# SPDX-License-Identifier: BSD-3-Clause
# Everything but main and the kernels' registry, so that checks can link a registry of their own.
noinst_LTLIBRARIES += libworker.la
libworker_la_LIBADD = libgpu.la
libworker_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
libworker_la_SOURCES = \
	%D%/cli.c %D%/cli.h \
	%D%/byhand.c %D%/byhand.h \
	%D%/protocol.c %D%/protocol.h \
	%D%/program.c %D%/program.h \
	%D%/program_count.c %D%/program_count.h \
	%D%/program_books.c %D%/program_books.h \
	%D%/program_guard.c %D%/program_guard.h \
	%D%/program_metric.c %D%/program_metric.h \
	%D%/program_output.c %D%/program_output.h \
	%D%/program_place.c %D%/program_place.h \
	%D%/program_request.c %D%/program_request.h \
	%D%/program_run.c %D%/program_run.h \
	%D%/program_simulate.c %D%/program_simulate.h \
	%D%/program_simulate_read.c \
	%D%/program_scratch.c %D%/program_scratch.h \
	%D%/program_trial.c %D%/program_trial.h \
	%D%/program_usage.c %D%/program_usage.h \
	%D%/regions.c %D%/regions.h \
	%D%/regions_book.c %D%/regions_book.h \
	%D%/regions_run.c %D%/regions_run.h \
	%D%/regions_text.c \
	%D%/lines.c %D%/lines.h \
	%D%/machine_answer.c %D%/machine_answer.h \
	%D%/describe.c %D%/describe.h \
	%D%/request.c %D%/request.h \
	%D%/call.c %D%/call.h \
	%D%/device.c %D%/device.h \
	%D%/device_report.c %D%/device_report.h \
	%D%/devices_answer.c %D%/devices_answer.h \
	%D%/library.c %D%/library_check.c %D%/library.h \
	%D%/param.c %D%/param.h \
	%D%/word.c %D%/word.h \
	%D%/trial.c %D%/trial.h \
	%D%/source_kernel.c %D%/source_input.c %D%/source_setup.c %D%/source_verify.c %D%/source_text.c %D%/source_values.c %D%/source.h \
	%D%/state.c %D%/state.h \
	%D%/live.c %D%/live.h \
	%D%/figures.c %D%/figures.h \
	%D%/measure.c %D%/measure.h \
	%D%/team.c %D%/team.h \
	%D%/noise.c %D%/noise.h \
	%D%/counters.c %D%/counters.h \
	%D%/counters_answer.c %D%/counters_answer.h \
	%D%/counting.c %D%/counting_batch.c %D%/counting_batch.h %D%/counting_json.c %D%/counting.h \
	%D%/simulate.c %D%/simulate.h \
	%D%/simulate_child.c \
	%D%/simulate_file.c %D%/simulate_file.h \
	%D%/simulate_harvest.c %D%/simulate_harvest.h \
	%D%/simulate_values.c \
	%D%/simulate_count.c \
	%D%/crash.c %D%/crash.h

pkglibexec_PROGRAMS += sweetspot-worker
sweetspot_worker_SOURCES = %D%/main.c
sweetspot_worker_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
sweetspot_worker_LDADD = libworker.la libkernels.la libgpu.la libcounters.la libtopo.la libbase.la
sweetspot_worker_LDFLAGS = $(AM_LDFLAGS) $(BUNDLE_RPATH_WORKER)
