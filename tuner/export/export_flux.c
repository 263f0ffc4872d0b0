/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of a batch script for Flux. Lines with "flux:" contain only numbers and fixed words (flux-batch(1),
 * "SUBMISSION DIRECTIVES"). Flux counts cores, and binds a task to all of its own unless cpu-affinity is off
 * (flux-shell(1)). */
#include <string.h>

#include "tuner/export/export.h"
#include "tuner/export/shell_impl.h"
#include "tuner/export/export_text_impl.h"

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
