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

/* The demands of entries on a batch system. */
/* The threads of an entry; 0 if unknown. */
long export_threads(const struct profile_entry *entry);
/* The ranks of MPI that its command starts; 0: it does not say. */
long export_ranks(const struct profile *profile, const struct profile_entry *entry);
/* The cores that they need on the machine of the profile: one for each thread, or for each pair of threads that share
 * one, at most all. 0 if unknown. */
long export_cores(const struct profile *profile, const struct profile_entry *entry);
/* The most of any entry. */
long export_most(const struct profile *profile,
                 long (*demand)(const struct profile *profile, const struct profile_entry *entry));

/* The CPUs of an entry's threads, from its member "binding" as topo_binding_key writes it: "[0-3]x2[4-7]x2", or "[*]x4"
 * for all CPUs. The program adds it to the entries of this machine. */
/* "0,2,4": all CPUs of the team; NULL: not bound. The caller frees it. */
char *export_cpus_all(const struct profile_entry *entry);
/* "0,2,0,2": one CPU for each thread, where threads that share a place take its CPUs in turn; NULL: not bound. The
 * caller frees it. */
char *export_cpus_each(const struct profile_entry *entry);
#endif
