/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the worker as a child process. This is the launcher to copy. */
#include "tuner/fleet/fleet_impl.h"

static void local_probe(struct launcher_probe *probe) {
	probe->usable = true;
}

static int local_open(struct launched *launched, const struct launcher_settings *settings, struct err *err) {
	const char *const command[] = {settings->worker, NULL}, *const *const parts[] = {command};
	if (settings->words && settings->words[0])
		return err_set(err, ERR_USAGE, "leave them out",
		               "the launcher local starts the worker itself and takes no arguments");
	launched_add_all(launched, settings, parts, 1);
	return 0;
}

const struct launcher launcher_local = {
	.name = "local",
	.summary = "the worker as a child process on this machine",
	.probe = local_probe,
	.open = local_open,
};
