/* SPDX-License-Identifier: GPL-3.0-or-later */
/* likwid-pin gives each thread one CPU, in the order of their creation, by the numbers of the system (likwid-pin(1)).
 * The binding of the OpenMP runtime would undo that. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tuner/export/cpus.h"
#include "tuner/export/export.h"
#include "tuner/export/shell.h"
#include "tuner/export/text.h"

static void put_command(const json_t *entry, FILE *out) {
	char *cpus = export_cpus_each(entry);
	if (cpus)
		fprintf(out, "likwid-pin -q -c %s ", cpus);
	free(cpus);
}

static void set_inside(FILE *out, const char *name, const char *value) {
	bool binds = strcmp(name, "OMP_PROC_BIND") == 0 || strcmp(name, "OMP_PLACES") == 0;
	export_shell_set_inside(out, name, binds ? NULL : value);
}

static int likwid_write(const json_t *profile, FILE *out, struct err *err) {
	if (export_cpus_check(profile, "likwid", err))
		return -1;
	export_heading(out, "# ", profile, "source this file, then sweetspot_run_.. PROGRAM ARG..");
	export_shell_runs(profile, out, set_inside, put_command);
	return export_end(out, "commands", err);
}

extern const struct export_format export_likwid;
const struct export_format export_likwid = {
	.name = "likwid",
	.summary = "shell functions that run a program under likwid-pin",
	.binding = true,
	.write = likwid_write,
};
