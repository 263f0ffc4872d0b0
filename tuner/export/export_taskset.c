/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

static void put_command(const struct profile_entry *entry, FILE *out) {
	mem_auto char *cpus = export_cpus_all(entry);
	if (cpus)
		fprintf(out, "taskset -c %s ", cpus);
}

static int taskset_write(const struct profile *profile, FILE *out, struct err *err) {
	return export_shell_runs(profile, out, "taskset", export_shell_set_inside, put_command, err);
}

const struct export_format export_taskset = {
	.name = "taskset",
	.summary = "shell functions that run a program under taskset",
	.binding = true,
	.write = taskset_write,
};
