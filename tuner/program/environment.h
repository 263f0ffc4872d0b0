/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The environment variables that put a configuration into effect. */
#ifndef TUNER_PROGRAM_ENVIRONMENT_H
#define TUNER_PROGRAM_ENVIRONMENT_H
#include <jansson.h>
#include <stdbool.h>

/* Returns the OMP_* variables of a configuration: {"OMP_NUM_THREADS": "2", ...}. Other parameters become
 * SWEETSPOT_<KERNEL>_<PARAM>, or are left out if kernel is NULL. The word "default" sets nothing. New reference. */
json_t *config_environment(const char *kernel, const json_t *config);
/* Does the configuration decide about this variable, as it changes a parameter that the variable sets or overrides? */
bool config_governs(const char *variable, const json_t *config, const json_t *today);
/* The variable of an OpenMP parameter; NULL: it is none. */
const char *config_variable(const char *param);
/* The names of the parameters that OpenMP has variables for; NULL-terminated. */
extern const char *const config_settings[];
bool config_is_setting(const char *name);
#endif
