/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of entries as text for people. */
#ifndef SRC_CMD_PROFILE_CMD_PROFILE_TEXT_H
#define SRC_CMD_PROFILE_CMD_PROFILE_TEXT_H
#include <jansson.h>
#include <stddef.h>

/* The caller frees the results. The kernel is followed by an objective other than time and a device other than the CPU:
 * "fw (energy)". */
char *profile_text_kernel(const json_t *entry);
char *profile_text_problem(const json_t *entry);
char *profile_text_config(const json_t *entry);
char *profile_text_clean(const char *text); /* a copy without control characters */
/* Writes a median with its unit. */
void profile_text_median(const json_t *entry, char *text, size_t size);
/* Copies the members that identify an entry: kernel, problem, objective, device. New reference. */
json_t *profile_text_head(const json_t *entry);
#endif
