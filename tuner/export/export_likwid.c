/* SPDX-License-Identifier: GPL-3.0-or-later */
/* likwid-pin gives each thread one CPU, in the order of creation, by the CPU numbers of the system (likwid-pin(1)). The
 * binding of the OpenMP runtime would undo that. */
#include "base/mem.h"
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

static void put_command(const struct profile_entry *entry, FILE *out) {
	mem_auto char *cpus = export_cpus_each(entry);
	if (cpus)
		fprintf(out, "likwid-pin -q -c %s ", cpus);
}

static void set_inside(FILE *out, const char *name, const char *value) {
	bool binds = strcmp(name, "OMP_PROC_BIND") == 0 || strcmp(name, "OMP_PLACES") == 0;
	export_shell_set_inside(out, name, binds ? NULL : value);
}

static int likwid_write(const struct profile *profile, FILE *out, struct err *err) {
	return export_shell_runs(profile, out, "likwid", set_inside, put_command, err);
}

const struct export_format export_likwid = {
	.name = "likwid",
	.summary = "shell functions that run a program under likwid-pin",
	.binding = true,
	.write = likwid_write,
};
