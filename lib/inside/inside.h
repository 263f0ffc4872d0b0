/* SPDX-License-Identifier: BSD-3-Clause */
/* For the libraries that contain this room: libsweetspot, and those that see what programs choose by other interfaces.
 */
#ifndef LIB_INSIDE_INSIDE_H
#define LIB_INSIDE_INSIDE_H
#include <stdbool.h>

#include "lib/sweetspot.h"

/* Each such library defines it: a profile that the program itself can open, asked where the environment has no table.
 * setting: called for each recommended value. False: nothing is known. */
typedef void inside_setting_fn(void *ctx, const struct sweetspot_value *setting);
bool ssi_profile_find(const char *kernel, const struct sweetspot_value *problem, size_t count,
                      inside_setting_fn *setting, void *ctx);

/* The caller may not be able to give the default back, because something else decides as soon as it is not asked. A
 * choice then has the middle of the values until something better is known. Before the first choice. */
void ssi_context_without_default(sweetspot_context *context);
/* A call that has the default, whatever is known: its cost counts for the default. */
void ssi_observe(sweetspot_context *context, const struct sweetspot_value *problem, size_t count,
                 struct sweetspot_choice *choice);
/* Something is recommended for the context, or it is learned: to ask makes a difference. */
bool ssi_context_active(sweetspot_context *context);
/* The index of the chosen value, or -1 for the default. */
int ssi_chosen_level(const struct sweetspot_choice *choice, const char *name);
#endif
