/* SPDX-License-Identifier: BSD-3-Clause */
/* Records launches. Entries are never removed, because graphs refer to them by number. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "gpu/impl.h"

static bool is_same(const struct launch_entry *entry, const struct gpu_function *function,
                    const struct gpu_shape *shape) {
	return entry->function == function && entry->shape.shared == shape->shared &&
	       entry->shape.cooperative == shape->cooperative &&
	       memcmp(entry->shape.grid, shape->grid, sizeof shape->grid) == 0 &&
	       memcmp(entry->shape.block, shape->block, sizeof shape->block) == 0;
}

/* Returns a new entry; NULL if all are taken, and then the launch is not recorded. */
static struct launch_entry *entry_new(struct launch_log *log) {
	return log->count < LAUNCHES_MAX ? &log->entries[log->count++] : NULL;
}

void launch_log_add(struct launch_log *log, const struct gpu_function *function, const struct gpu_shape *shape,
                    int64_t launches) {
	size_t i = log->last;
	if (i >= log->count || !is_same(&log->entries[i], function, shape))
		for (i = 0; i < log->count && !is_same(&log->entries[i], function, shape); i++)
			;
	struct launch_entry *entry = i < log->count ? &log->entries[i] : entry_new(log);
	if (!entry)
		return;
	if (i == log->count - 1 && entry->launches == 0)
		*entry = (struct launch_entry){function, *shape, 0};
	entry->launches += launches;
	log->last = i;
}

size_t gpu_launches(const struct gpu *gpu, struct gpu_launched *out, size_t most) {
	size_t count = 0;
	for (size_t i = 0; i < gpu->log.count && count < most; i++) {
		const struct launch_entry *entry = &gpu->log.entries[i];
		const struct gpu_shape *shape = &entry->shape;
		if (entry->launches == 0)
			continue;
		struct occupancy o = {0, NAN, NULL}; /* only for the warps of NVIDIA's GPUs */
		if (gpu->facts.kind == GPU_CUDA)
			o = occupancy_of(&gpu->facts, &entry->function->facts, shape->block[0] * shape->block[1] * shape->block[2],
			                 shape->shared);
		out[count++] = (struct gpu_launched){
			entry->function->name, entry->function->facts, *shape, entry->launches, o.occupancy, o.limiter};
	}
	return count;
}

void gpu_launches_forget(struct gpu *gpu) {
	for (size_t i = 0; i < gpu->log.count; i++)
		gpu->log.entries[i].launches = 0;
}
