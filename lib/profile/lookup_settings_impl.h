/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside libsweetspot: checked reading of JSON. Each function returns -1 if memory is missing or the type is wrong. */
#ifndef LIB_PROFILE_LOOKUP_SETTINGS_IMPL_H
#define LIB_PROFILE_LOOKUP_SETTINGS_IMPL_H
#include <jansson.h>

#include "lib/profile/profile_impl.h"

/* Names with numbers, words or booleans, at most `limit`. */
int ssp_settings_read(struct ssp_arena *arena, const json_t *json, size_t limit, struct ssp_settings *settings);
/* A text member; `otherwise` (which may be NULL) if it is absent. */
int ssp_text_read(struct ssp_arena *arena, const json_t *object, const char *key, const char *otherwise,
                  const char **text);
/* NaN if it is not a number. */
double ssp_number(const json_t *object, const char *key);
/* The member "sizes"; in sizes.c. */
int ssp_sizes_read(struct sweetspot_profile *profile, const json_t *json, const struct ssp_message *message);

#endif
