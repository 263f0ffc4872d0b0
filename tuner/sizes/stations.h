/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes at which something was measured, points and midpoints that were raced, and what each configuration loses
 * there. */
#ifndef TUNER_SIZES_STATIONS_H
#define TUNER_SIZES_STATIONS_H
#include "tuner/sizes/impl.h"

struct stations {
	const struct sizes_entry *at[SIZES_RANGES_MAX]; /* ascending */
	size_t count, own[SIZES_RANGES_MAX];            /* own: the configuration that stands for a station in any case */
	const json_t **configs;                         /* in question, each once */
	size_t config_count;
	double *loss; /* [station * config_count + config], against the best in question; NAN: not known */
};

/* without: a point that is left out, with the configurations that its search alone knows; SIZE_MAX: none. */
void stations_make(struct stations *stations, const struct sizes *sizes, size_t without);
void stations_clear(struct stations *stations);

#endif
