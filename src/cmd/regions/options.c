/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of `tune` and `run` that make sense with --regions; any other would be ignored without a word. */
#include <config.h>

#include <string.h>

#include "base/json/js.h"
#include "src/cmd/regions/command.h"

static bool is_among(const char *name, const char *const *names) {
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

const char *regions_option_other(const struct opt_args *args, const struct opt *const *tables,
                                 const char *const *allowed) {
	for (size_t t = 0; tables[t]; t++)
		for (const struct opt *option = tables[t]; option->name; option++)
			if (*option->name && opt_has(args, option->name) && !is_among(option->name, allowed))
				return option->name;
	return NULL;
}

int regions_options_check(const struct opt_args *args, const struct opt *const *tables, struct err *err) {
	static const char *const allowed[] = {"regions",       "openmp",   "force", "budget",   "seed",        "store",
	                                      "timeout",       "verify",   "cwd",   "input",    "before-each", "json",
	                                      "expect-output", "counters", "quiet", "no-store", "verbose",     NULL};
	const char *other = regions_option_other(args, tables, allowed);
	bool both = opt_has(args, "regions") && opt_has(args, "openmp");
	double budget_s = 1;
	if (other || both)
		return err_set(err, ERR_USAGE, "tune the regions first, then the rest",
		               "--%s cannot be combined with --regions", other ? other : "openmp");
	if (opt_has(args, "budget") && opt_seconds(opt_get(args, "budget", NULL), "budget", &budget_s, err))
		return -1;
	return budget_s > 0 ? 0
	                    : err_set(err, ERR_USAGE, "give it time (--budget 60s)", "a budget of 0 allows no measurement");
}
