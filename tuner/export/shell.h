/* SPDX-License-Identifier: GPL-3.0-or-later */
/* POSIX shell text. Names are made of letters, digits and "_"; values stand in single quotes; comments hold no control
 * characters: nothing in a profile can become a command. */
#ifndef TUNER_EXPORT_SHELL_H
#define TUNER_EXPORT_SHELL_H
#include "tuner/export/settings.h"

void export_shell_quoted(FILE *out, const char *value);
export_setter export_shell_set, export_shell_set_inside; /* inside a function: one tab before */
/* More variables for an entry, by set; NULL: none. */
typedef void export_shell_more(const json_t *profile, const json_t *entry, FILE *out, export_setter *set);
/* To be sourced. One entry: its variables are exported. Several: a function for each, and what all of them agree on is
 * exported at once. */
void export_shell_settings(const json_t *profile, FILE *out, export_shell_more *more);
/* A function for each entry, "sweetspot_run_fw_n1024 PROGRAM ARG..": sets the variables but those with the prefix
 * `but` (NULL: all), and runs the program by what `command` writes, such as "taskset -c 0,1 ". */
typedef void export_shell_command(const json_t *entry, FILE *out);
void export_shell_runs(const json_t *profile, FILE *out, export_setter *set, export_shell_command *command);

#endif
