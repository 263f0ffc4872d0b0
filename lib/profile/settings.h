/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside libsweetspot: checked reading of JSON. Each function returns -1 where memory or the type is missing. */
#ifndef LIB_PROFILE_SETTINGS_H
#define LIB_PROFILE_SETTINGS_H
#include <jansson.h>

#include "lib/profile/profile.h"

/* Names with numbers, words or booleans, at most `limit`. */
int ssp_settings_read(struct ssp_arena *arena, const json_t *json, size_t limit, struct ssp_settings *settings);
/* A member that is text; `otherwise` (which may be NULL) where it is absent. */
int ssp_text_read(struct ssp_arena *arena, const json_t *object, const char *key, const char *otherwise,
                  const char **text);
/* NaN where it is no number. */
double ssp_number(const json_t *object, const char *key);
/* Members "sizes"; profile_sizes.c. */
int ssp_sizes_read(struct sweetspot_profile *profile, const json_t *json, const struct ssp_message *message);

#endif
