/* SPDX-License-Identifier: GPL-3.0-or-later */
/* POSIX shell text. Names consist of letters, digits and "_", values are in single quotes, and comments do not hold
 * control characters, so that nothing in a profile can become a command. */
#ifndef TUNER_EXPORT_SHELL_IMPL_H
#define TUNER_EXPORT_SHELL_IMPL_H
#include "tuner/export/export_settings_impl.h"

void export_shell_quoted(FILE *out, const char *value);
export_setter export_shell_set, export_shell_set_inside; /* inside a function: one tab before */
/* Sets more variables for an entry; NULL: there are none. */
typedef void export_shell_more(const struct profile *profile, const struct profile_entry *entry, FILE *out,
                               export_setter *set);
/* A file to source. It exports the variables of the only entry; with several entries it has a function for each, and
 * exports the variables that they share. */
void export_shell_settings(const struct profile *profile, FILE *out, export_shell_more *more);
/* Writes the variables, the folder and exec of the entry's own command, which end a shell of their own; inside: a
 * function. False and nothing where the command must be built first. */
bool export_shell_command_put(const struct profile *profile, const struct profile_entry *entry, bool inside, FILE *out);
/* A function for each entry, "sweetspot_run_fw_n1024 PROGRAM ARG..", sets the variables and runs the program under the
 * command that `command` writes, such as "taskset -c 0,1 ". Fails if an entry does not have a binding. */
typedef void export_shell_command(const struct profile_entry *entry, FILE *out);
int export_shell_runs(const struct profile *profile, FILE *out, const char *format, export_setter *set,
                      export_shell_command *command, struct err *err);

#endif
