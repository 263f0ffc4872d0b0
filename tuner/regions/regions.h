/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Teams and schedules for the regions of one program: found inside a few runs, proven by whole runs. */
#ifndef TUNER_REGIONS_REGIONS_H
#define TUNER_REGIONS_REGIONS_H

#include "tuner/program/program.h"
#include "tuner/regions/regions_record_impl.h"

struct regions_options {
	struct program_spec program; /* without parameters */
	struct worker *worker;
	const char *library; /* path of libsweetspot-omp.so */
	const char *mpi;     /* path of libsweetspot-mpi.so, for regions_profile; NULL: not wanted */
	const char
		*kokkos; /* path of libsweetspot-kokkos.so, for regions_profile; NULL: the program is not one of Kokkos */
	const char *kokkos_variable; /* that tells Kokkos to load it */
	const char *table;           /* the file that the settings found are written to */
	double budget_s;             /* 0: eight times the program's own time */
	double timeout_s;            /* of one run */
	uint64_t seed;
	const char *const *counters; /* NULL-terminated words for the profile, or NULL */
	bool slow;                   /* one of them needs a simulator */
	bool force;                  /* num_threads clauses are overruled, too */
	const volatile int *interrupt;
	/* May be NULL. done and all count runs of the program; all is an estimate. */
	void (*progress)(void *ctx, const char *phase, int done, int all);
	void *progress_ctx;
};

/* One run with nothing changed: {"time", "runtime", "default_threads", "processes", "regions": [{"name", "place",
 * "calls", "time", "share", "threads", "imbalance", "sharing", "fixed"}], "ranks": [{"rank", "mpi", "share",
 * "calls"}]}, by time. Kernels and regions of Kokkos have a "kind" instead of the last three. New reference. */
json_t *regions_profile(const struct regions_options *options, struct err *err);

/* A result as `tune --json` prints it, with "runs" and "regions". The table has the settings where they are proven, and
 * otherwise the same regions without any change. New reference. */
json_t *regions_tune(const struct regions_options *options, struct err *err);

/* LD_PRELOAD with the library in front of what the environment has. Caller frees. */
char *regions_preload(const char *library);
#endif
