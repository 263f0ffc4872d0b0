/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <math.h>

#include "lib/profile/lookup_settings_impl.h"

static int config_read(struct ssp_arena *arena, const json_t *json, struct sweetspot_config *config) {
	if (ssp_settings_read(arena, json_object_get(json, "config"), SSP_SETTINGS_MAX, &config->settings) != 0)
		return -1;
	return ssp_settings_read(arena, json_object_get(json, "environment"), SSP_SETTINGS_MAX, &config->environment);
}

/* Ascending, without overlap. */
static int ranges_read(struct ssp_arena *arena, const json_t *json, struct ssp_sizes *sizes) {
	size_t count = json_array_size(json);
	double before = 0;
	sizes->ranges = count > 0 && count <= SSP_RANGES_MAX ? ssp_arena_alloc(arena, count, sizeof *sizes->ranges) : NULL;
	if (!sizes->ranges)
		return -1;
	for (; sizes->range_count < count; sizes->range_count++) {
		const json_t *one = json_array_get(json, sizes->range_count);
		struct ssp_range *range = &sizes->ranges[sizes->range_count];
		range->from = ssp_number(one, "from");
		range->to = ssp_number(one, "to");
		if (!(range->from > 0) || !(range->from >= before) || !(range->to >= range->from) ||
		    config_read(arena, one, &range->config) != 0)
			return -1;
		before = range->to;
	}
	return 0;
}

static bool piece_read(const json_t *json, struct ssp_piece *piece) {
	piece->from = ssp_number(json, "from");
	piece->to = ssp_number(json, "to");
	piece->overhead = ssp_number(json, "overhead");
	piece->factor = ssp_number(json, "factor");
	piece->exponent = ssp_number(json, "exponent");
	return piece->from > 0 && piece->to >= piece->from && isfinite(piece->overhead) && isfinite(piece->factor) &&
	       isfinite(piece->exponent);
}

/* The first law belongs to the best configuration; it may be missing. */
static int law_read(struct ssp_arena *arena, const json_t *laws, struct ssp_sizes *sizes) {
	const json_t *pieces = json_object_get(json_array_get(laws, 0), "pieces");
	size_t count = json_array_size(pieces);
	if (json_array_size(laws) == 0)
		return json_is_array(laws) || !laws ? 0 : -1;
	sizes->pieces = count > 0 && count <= SSP_PIECES_MAX ? ssp_arena_alloc(arena, count, sizeof *sizes->pieces) : NULL;
	if (!sizes->pieces)
		return -1;
	for (; sizes->piece_count < count; sizes->piece_count++)
		if (!piece_read(json_array_get(pieces, sizes->piece_count), &sizes->pieces[sizes->piece_count]))
			return -1;
	return 0;
}

static int sizes_read(struct ssp_arena *arena, const json_t *json, struct ssp_sizes *sizes) {
	if (ssp_text_read(arena, json, "kernel", NULL, &sizes->kernel) || !sizes->kernel ||
	    ssp_text_read(arena, json, "over", NULL, &sizes->over) || !sizes->over ||
	    ssp_text_read(arena, json, "objective", "time", &sizes->objective) ||
	    ssp_text_read(arena, json, "unit", "", &sizes->unit))
		return -1;
	if (ssp_settings_read(arena, json_object_get(json, "problem"), SSP_PROBLEM_MAX, &sizes->problem) != 0)
		return -1;
	return ranges_read(arena, json_object_get(json, "thresholds"), sizes) ||
	               law_read(arena, json_object_get(json, "laws"), sizes)
	           ? -1
	           : 0;
}

int ssp_sizes_read(struct sweetspot_profile *profile, const json_t *json, const struct ssp_message *message) {
	size_t count = json_array_size(json);
	if (!json)
		return 0;
	bool fits = json_is_array(json) && count <= SSP_ENTRIES_MAX;
	profile->sizes = fits ? ssp_arena_alloc(profile->arena, count, sizeof *profile->sizes) : NULL;
	for (size_t i = 0; profile->sizes && i < count; i++) {
		if (sizes_read(profile->arena, json_array_get(json, i), &profile->sizes[i]) != 0) {
			ssp_message_set(message, "sizes: %zu: a member is missing, or not of its type or range", i);
			return -1;
		}
	}
	if (!profile->sizes)
		ssp_message_set(message, "sizes: must be an array of at most %d, and fit in memory", SSP_ENTRIES_MAX);
	profile->sizes_count = count;
	return profile->sizes ? 0 : -1;
}

double ssp_law(const struct ssp_sizes *sizes, double size) {
	for (size_t i = 0; i < sizes->piece_count; i++) {
		const struct ssp_piece *piece = &sizes->pieces[i];
		double cost = piece->overhead + piece->factor * pow(size, piece->exponent);
		if (size >= piece->from && size <= piece->to)
			return isfinite(cost) && cost >= 0 ? cost : NAN;
	}
	return NAN;
}
