/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of a batch script for Flux. Lines with "flux:" contain only numbers and fixed words (flux-batch(1),
 * "SUBMISSION DIRECTIVES"). Flux counts cores, and binds a task to all of its own unless cpu-affinity is off
 * (flux-shell(1)). */

#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

/* The cores that they need on the machine of the profile: one for each thread, or for each pair of threads that share
 * one, at most all. 0 if unknown. */
static long export_cores(const struct profile *profile, const struct profile_entry *entry) {
	int64_t cores = profile->machine.cores, all = profile->machine.threads;
	long threads = export_threads(entry);
	if (cores < 1 || cores > 1000000 || threads == 0)
		return threads;
	if (strcmp(entry->places, "threads") == 0 && all > cores) {
		long each = (long)(all / cores);
		threads = (threads + each - 1) / each;
	}
	return threads < cores ? threads : (long)cores;
}

static void put_run(const struct profile *profile, const struct profile_entry *entry, FILE *out, export_setter *set) {
	long cores = export_cores(profile, entry);
	long ranks = export_ranks(profile, entry);
	fprintf(out, "%s# flux run --ntasks=%ld", set == export_shell_set ? "" : "\t", ranks ? ranks : 1);
	if (cores)
		fprintf(out, " --cores-per-task=%ld", cores);
	if (strcmp(entry->bind, "false") == 0)
		fputs(" -o cpu-affinity=off", out);
	fputs(" PROGRAM\n", out);
}

static int flux_write(const struct profile *profile, FILE *out, struct err *err) {
	long cores = export_most(profile, export_cores);
	long ranks = export_most(profile, export_ranks);
	fprintf(out, "#!/bin/sh\n#flux: --nodes=1\n#flux: --nslots=%ld\n", ranks ? ranks : 1);
	if (cores)
		fprintf(out, "#flux: --cores-per-slot=%ld\n", cores);
	export_heading(out, "# ", profile, "the head of a batch script; flux run follows.");
	export_shell_settings(profile, out, put_run);
	return export_end(out, "batch script", err);
}

const struct export_format export_flux = {
	.name = "flux",
	.summary = "the head of a Flux batch script: flux: lines, variables, options of flux run",
	.write = flux_write,
};
