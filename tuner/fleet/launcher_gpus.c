/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker for each GPU of this machine. CUDA_VISIBLE_DEVICES shows a worker, and the programs that it runs, just one
 * of them, so that every worker measures on a first GPU (CUDA C++ Programming Guide, appendix on environment
 * variables). Each configuration, and each pair of a comparison, is measured on one and the same GPU, as on nodes of a
 * cluster. */
#include "tuner/fleet/fleet_impl.h"

enum { GPUS_MAX = 1000 };

static void gpus_probe(struct launcher_probe *probe) {
	probe->usable = true;
}

/* The hosts are GPUs, as CUDA_VISIBLE_DEVICES names them. */
static int gpus_open(struct launched *launched, const struct launcher_settings *settings, struct err *err) {
	size_t count = 0;
	while (settings->hosts && settings->hosts[count] && count < GPUS_MAX)
		count++;
	if (count == 0)
		return err_set(err, ERR_USAGE, "add --gpus all", "the launcher gpus needs to know which GPUs measure");
	if (settings->nodes > count || (settings->words && settings->words[0]))
		return err_set(err, ERR_USAGE, "leave --nodes and --launcher-args out",
		               "the GPUs to measure on are those of --gpus");
	for (size_t i = 0; i < count; i++) {
		const char *gpu = settings->hosts[i];
		const char *const command[] = {"env", arena_printf(launched->arena, "CUDA_VISIBLE_DEVICES=%s", gpu),
		                               arena_printf(launched->arena, "SWEETSPOT_NODE=GPU %s", gpu), settings->worker,
		                               NULL};
		const char *const *const parts[] = {command};
		launched_add(launched, parts, 1);
	}
	return 0;
}

const struct launcher launcher_gpus = {
	.name = "gpus",
	.summary = "a worker for each GPU of this machine (--gpus)",
	.here = true,
	.probe = gpus_probe,
	.open = gpus_open,
};
