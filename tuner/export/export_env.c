/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

static int env_write(const struct profile *profile, FILE *out, struct err *err) {
	export_heading(out, "# ", profile, "source this file, as with `. ./FILE`.");
	export_shell_settings(profile, out, NULL);
	return export_end(out, "variables", err);
}

const struct export_format export_env = {
	.name = "env",
	.summary = "shell variables to source: OMP_* and SWEETSPOT_<KERNEL>_<PARAMETER>",
	.write = env_write,
};
