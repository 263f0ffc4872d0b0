/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker for each GPU of this machine. CUDA_VISIBLE_DEVICES shows a worker, and the programs that it runs, just one
 * of them, so that every worker measures on a first GPU (CUDA C++ Programming Guide, appendix on environment
 * variables). Each configuration, and each pair of a comparison, is measured on one and the same GPU, as on nodes of a
 * cluster. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/fleet/launcher.h"

enum { GPUS_MAX = 1000, WORDS = 5 };

struct gpus {
	struct arena *arena;
	const char *const **argv; /* of each worker */
};

static void gpus_probe(struct launcher_probe *probe) {
	probe->usable = true;
}

static const char *const *argv_make(struct arena *arena, const char *worker, const char *gpu) {
	const char **argv = arena_alloc(arena, WORDS, sizeof *argv);
	argv[0] = "env";
	argv[1] = arena_printf(arena, "CUDA_VISIBLE_DEVICES=%s", gpu);
	argv[2] = arena_printf(arena, "SWEETSPOT_NODE=GPU %s", gpu);
	argv[3] = arena_strdup(arena, worker);
	return argv;
}

static void gpus_close(void *state) {
	struct gpus *gpus = state;
	arena_free(gpus->arena);
	free(gpus->argv);
	free(gpus);
}

/* The hosts are GPUs, as CUDA_VISIBLE_DEVICES names them. */
static void *gpus_open(const struct launcher_settings *settings, size_t *nodes, struct err *err) {
	size_t count = 0;
	while (settings->hosts && settings->hosts[count] && count < GPUS_MAX)
		count++;
	if (count == 0) {
		err_set(err, ERR_USAGE, "add --gpus all", "the launcher gpus needs to know which GPUs measure");
		return NULL;
	}
	if (settings->nodes > count || (settings->words && settings->words[0])) {
		err_set(err, ERR_USAGE, "leave --nodes and --launcher-args out", "the GPUs to measure on are those of --gpus");
		return NULL;
	}
	struct gpus *gpus = mem_alloc(1, sizeof *gpus);
	gpus->arena = arena_new();
	gpus->argv = mem_alloc(count, sizeof *gpus->argv);
	for (size_t i = 0; i < count; i++)
		gpus->argv[i] = argv_make(gpus->arena, settings->worker, settings->hosts[i]);
	*nodes = count;
	return gpus;
}

static const char *const *gpus_argv(const void *state, size_t node) {
	const struct gpus *gpus = state;
	return gpus->argv[node];
}

const struct launcher launcher_gpus = {
	.name = "gpus",
	.summary = "a worker for each GPU of this machine (--gpus)",
	.here = true,
	.probe = gpus_probe,
	.open = gpus_open,
	.argv = gpus_argv,
	.close = gpus_close,
};
