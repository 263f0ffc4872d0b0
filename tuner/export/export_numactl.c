/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

static void put_command(const struct profile_entry *entry, FILE *out) {
	mem_auto char *cpus = export_cpus_all(entry);
	if (cpus)
		fprintf(out, "numactl --physcpubind=%s ", cpus);
}

static int numactl_write(const struct profile *profile, FILE *out, struct err *err) {
	return export_shell_runs(profile, out, "numactl", export_shell_set_inside, put_command, err);
}

const struct export_format export_numactl = {
	.name = "numactl",
	.summary = "shell functions that run a program under numactl",
	.binding = true,
	.write = numactl_write,
};
