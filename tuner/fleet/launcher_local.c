/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the worker as a child process. This is the launcher to copy. */
#include <config.h>

#include <stdlib.h>

#include "base/mem.h"
#include "tuner/fleet/launcher.h"

struct local {
	char *worker;
	const char *argv[2];
};

static void local_probe(struct launcher_probe *probe) {
	probe->usable = true;
}

static void *local_open(const struct launcher_settings *settings, size_t *nodes, struct err *err) {
	if (settings->words && settings->words[0]) {
		err_set(err, ERR_USAGE, "leave them out", "the launcher local starts the worker itself and takes no arguments");
		return NULL;
	}
	struct local *local = mem_alloc(1, sizeof *local);
	local->worker = mem_strdup(settings->worker);
	local->argv[0] = local->worker;
	*nodes = settings->nodes ? settings->nodes : 1;
	return local;
}

static const char *const *local_argv(const void *state, size_t node) {
	const struct local *local = state;
	(void)node;
	return local->argv;
}

static void local_close(void *state) {
	struct local *local = state;
	free(local->worker);
	free(local);
}

const struct launcher launcher_local = {
	.name = "local",
	.summary = "the worker as a child process on this machine",
	.probe = local_probe,
	.open = local_open,
	.argv = local_argv,
	.close = local_close,
};
