/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of a batch script for PBS. PBS sets OMP_NUM_THREADS to ompthreads, or to ncpus without it, before the script
 * runs (pbs_resources(7), "ompthreads"); it counts the processors of a host as its administrator configured them, by
 * default all hardware threads. */
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

static long threads(const struct profile *profile, const struct profile_entry *entry) {
	(void)profile;
	return export_threads(entry);
}

static int pbs_write(const struct profile *profile, FILE *out, struct err *err) {
	long most = export_most(profile, threads), ranks = export_most(profile, export_ranks);
	char mpi[48] = "";
	if (ranks) {
		snprintf(mpi, sizeof mpi, ":mpiprocs=%ld", ranks);
		most = most ? most : 1;
	}
	fputs("#!/bin/sh\n", out);
	if (most)
		fprintf(out, "#PBS -l select=1:ncpus=%ld%s:ompthreads=%ld\n", most * (ranks ? ranks : 1), mpi, most);
	else
		fputs("#PBS -l select=1\n", out);
	export_heading(out, "# ", profile, "the head of a batch script; the program follows.");
	export_shell_settings(profile, out, NULL);
	return export_end(out, "batch script", err);
}

const struct export_format export_pbs = {
	.name = "pbs",
	.summary = "the head of a PBS batch script: #PBS lines and variables",
	.write = pbs_write,
};
