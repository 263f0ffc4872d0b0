/* SPDX-License-Identifier: BSD-3-Clause */
/* Indexes entries by kernel and objective. */
#include <config.h>

#include <string.h>

#include "lib/profile/profile_impl.h"

/* FNV-1a, 32 bits (Fowler, Noll, Vo, 1991). */
static uint32_t ssp_hash(const char *text) {
	uint32_t hash = 2166136261U;
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619U;
	return hash;
}

static const struct ssp_kernel *chain_find(const struct ssp_kernel *kernel, const char *name, const char *objective,
                                           uint32_t hash) {
	for (; kernel; kernel = kernel->chain)
		if (kernel->hash == hash && strcmp(kernel->name, name) == 0 &&
		    (!objective || strcmp(kernel->objective, objective) == 0))
			break;
	return kernel;
}

const struct ssp_kernel *ssp_kernel_find(const struct sweetspot_profile *profile, const char *name,
                                         const char *objective) {
	uint32_t hash = ssp_hash(name);
	const struct ssp_kernel *first = profile->table[hash & (profile->slots - 1)];
	const struct ssp_kernel *found = chain_find(first, name, objective ? objective : "time", hash);
	if (found || objective)
		return found;
	found = chain_find(first, name, NULL, hash);
	/* Ambiguous: several match. */
	return found && chain_find(found->chain, name, NULL, hash) ? NULL : found;
}

static struct ssp_kernel *kernel_of(struct sweetspot_profile *profile, const char *name, const char *objective) {
	uint32_t hash = ssp_hash(name);
	struct ssp_kernel **slot = &profile->table[hash & (profile->slots - 1)];
	struct ssp_kernel *found = (struct ssp_kernel *)chain_find(*slot, name, objective, hash);
	if (found)
		return found;
	bool again = chain_find(*slot, name, NULL, hash) != NULL;
	found = &profile->kernels[profile->kernel_count++];
	*found = (struct ssp_kernel){.chain = *slot, .name = name, .objective = objective, .hash = hash, .again = again};
	*slot = found;
	return found;
}

static bool any_stale(const struct ssp_entry *entry) {
	for (; entry; entry = entry->next)
		if (entry->config.stale)
			return true;
	return false;
}

/* Ranges summarise results that have entries of their own. */
static void sizes_add(struct ssp_kernel *kernel, struct ssp_sizes *sizes) {
	bool stale = any_stale(kernel->entries);
	sizes->next = kernel->sizes;
	kernel->sizes = sizes;
	for (size_t i = 0; i < sizes->range_count; i++)
		sizes->ranges[i].config.stale = stale;
}

int ssp_index(struct sweetspot_profile *profile) {
	size_t most = profile->entry_count + profile->sizes_count;
	for (profile->slots = 16; profile->slots < 2 * most;)
		profile->slots *= 2;
	profile->kernels = ssp_arena_alloc(profile->arena, most, sizeof *profile->kernels);
	profile->table = ssp_arena_alloc(profile->arena, profile->slots, sizeof(struct ssp_kernel *));
	if (!profile->kernels || !profile->table)
		return -1;
	for (size_t i = 0; i < profile->entry_count; i++) {
		struct ssp_entry *entry = &profile->entries[i];
		struct ssp_kernel *kernel = kernel_of(profile, entry->kernel, entry->objective);
		entry->next = kernel->entries;
		kernel->entries = entry;
	}
	for (size_t i = 0; i < profile->sizes_count; i++)
		sizes_add(kernel_of(profile, profile->sizes[i].kernel, profile->sizes[i].objective), &profile->sizes[i]);
	return 0;
}

void ssp_foreign_set(struct sweetspot_profile *profile, const char *reason) {
	profile->foreign = reason;
	for (size_t i = 0; i < profile->entry_count; i++)
		profile->entries[i].config.foreign = true;
	for (size_t i = 0; i < profile->sizes_count; i++)
		for (size_t k = 0; k < profile->sizes[i].range_count; k++)
			profile->sizes[i].ranges[k].config.foreign = true;
}
