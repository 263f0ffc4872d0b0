/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stations: all sizes with measured ratios (points and raced midpoints), and the loss of each configuration there. */
#ifndef TUNER_SIZES_STATIONS_H
#define TUNER_SIZES_STATIONS_H
#include "tuner/sizes/impl.h"

struct stations {
	const struct sizes_entry *at[SIZES_RANGES_MAX]; /* ascending */
	size_t count, own[SIZES_RANGES_MAX];            /* own: the configuration that may always represent a station */
	const json_t **configs;                         /* the configurations in question, each once */
	size_t config_count;
	double *loss; /* [station * config_count + config], against the best in question; NAN: not known */
};

/* without: a point that is left out, together with the configurations that only its search found; SIZE_MAX: none. */
void stations_make(struct stations *stations, const struct sizes *sizes, size_t without);
void stations_clear(struct stations *stations);

#endif
