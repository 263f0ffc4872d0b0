/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles that are already JSON in memory: the tuner includes this header and links libprofile.la, so that it
 * answers with the look-up that programs use. */
#ifndef LIB_PROFILE_LOOKUP_H
#define LIB_PROFILE_LOOKUP_H
#include <jansson.h>
#include <stdbool.h>

#include "lib/sweetspot.h"

/* NULL and the reason. The profile does not borrow from json; sweetspot_close frees it. */
sweetspot_profile *ssp_read(const json_t *json, char *text, size_t size);

/* A configuration's place in the JSON: entries[at], or sizes[at].thresholds[range]. */
struct ssp_place {
	bool is_entry;
	size_t at, range;
};
struct ssp_place ssp_place_of(const sweetspot_profile *profile, const sweetspot_config *config);

/* May a recommendation be used? The one place that decides it: programs, `apply`, `export` and reports ask here. */
enum ssp_use {
	SSP_PROVEN, /* yes */
	SSP_KEEPS,  /* the user's own setting stays: nothing is faster */
	SSP_OPEN    /* it is not proven */
};
/* Takes an entry of a profile, or a result of `tune`. */
enum ssp_use ssp_use_of(const json_t *entry);
/* A range is as proven as the sizes that were tuned in it, and those beside it that have its configuration. */
enum ssp_use ssp_use_of_range(const sweetspot_profile *profile, size_t sizes, size_t range);
/* sweetspot_lookup, but a tie gives the configuration that it was found with, and *use says so. */
const sweetspot_config *ssp_find(const sweetspot_profile *profile, const char *kernel, const char *objective,
                                 const struct sweetspot_value *problem, size_t count, struct sweetspot_match *match,
                                 enum ssp_use *use);
#endif
