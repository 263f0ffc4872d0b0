/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Published specifications have Defaults that are not among the Values, or not valid together: the baseline is the
 * nearest valid configuration. */
#include <config.h>

#include "tuner/space/repair.h"
#include "tuner/spec/impl.h"

void spec_find_baseline(struct spec *spec) {
	int places[SPACE_PARAMS_MAX], fixed[SPACE_PARAMS_MAX];
	size_t count = space_params(spec->space);
	uint64_t index = 0;
	for (size_t i = 0; i < count; i++) {
		places[i] = spec->defaults[i] < 0 ? 0 : spec->defaults[i];
		fixed[i] = spec->defaults[i] < 0 ? REPAIR_FREE : spec->defaults[i];
	}
	bool found = space_index(spec->space, places, &index) || space_repair(spec->space, places, fixed, count, &index);
	for (size_t i = 0; !found && i < count; i++)
		fixed[i] = REPAIR_FREE;
	if (!found && !space_repair(spec->space, places, fixed, count, &index))
		index = 0;
	spec->baseline = space_config_json(spec->space, index);
}
