/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef TUNER_EXPORT_EXPORT_IMPL_H
#define TUNER_EXPORT_EXPORT_IMPL_H
#include "tuner/result/result.h"

/* The environment variables of entries, for formats that set, unset or share them. */
typedef void export_setter(FILE *out, const char *name, const char *value); /* value NULL: unset it */
typedef void export_environment(FILE *out, const char *prefix,
                                const struct profile_entry *entry); /* PREFIX_ENVIRONMENT */
/* All entries of a profile, each with a comment behind #, its environment, and its configuration as PREFIX_BLOCK and so
 * on, without using a name twice. */
int export_settings_entries(const struct profile *profile, FILE *out, export_environment *environment,
                            export_setter *set, struct err *err);

/* The body of a module file: the titles of all entries, and the variables of the only entry or the shared ones. */
typedef void export_titler(FILE *out, const char *title);
int export_module(const struct profile *profile, FILE *out, const char *lead, export_titler *title, export_setter *set,
                  struct err *err);

/* Comments, titles and names, shared by the formats that people and other languages read. */

/* One line: no control characters, and nothing that would continue it. lead: "# ". */
void export_comment(FILE *out, const char *lead, const char *text);
void export_heading(FILE *out, const char *lead, const struct profile *profile,
                    const char *use); /* names the machine */
void export_title(FILE *out, const char *lead,
                  const struct profile_entry *entry); /* kernel, problem, speedup; if it is stale; the command line */
char *export_title_text(const struct profile_entry *entry); /* its first line; caller frees */
/* prefix and text with "_" in place of everything except ASCII letters and digits, and a number behind names that are
 * in `taken`, an object to which the name is added. The caller frees it. */
char *export_name(const char *prefix, const char *text, json_t *taken);
char *export_entry_name(const char *prefix, const struct profile_entry *entry,
                        json_t *taken); /* of kernel and problem: PREFIXfw_n1024 */
void export_upper(char *name);
/* Is the character a control that a terminal or an editor may obey instead of showing it? Raw, it could make a line
 * look like other code than it is. Tabs and ends of lines are not. */
bool export_is_hidden(const char *text, size_t length);
typedef void export_hidden_fn(FILE *out, const char *text, size_t length);
void export_hidden_each(FILE *out, const char *text, export_hidden_fn *fn); /* calls fn for each of them */
/* Writes the value; `hidden` writes those characters, `plain` each other byte. */
typedef void export_byte_fn(FILE *out, char c);
void export_bytes(FILE *out, const char *text, export_byte_fn *plain, export_hidden_fn *hidden);
void export_hex(FILE *out, const char *text, size_t length); /* e280ae */
/* \342\200\256 */
static inline void export_octal(FILE *out, const char *text, size_t length) {
	for (size_t i = 0; i < length; i++)
		fprintf(out, "\\%03o", (unsigned char)text[i]);
}
char *export_value_text(const json_t *value); /* a number or a word as text, a boolean as 0 or 1; the caller frees it */
int export_document(json_t *document, FILE *out, const char *what, struct err *err); /* releases the document */
int export_end(FILE *out, const char *what, struct err *err);                        /* -1: the stream failed */

/* POSIX shell text. Names consist of letters, digits and "_", values are in single quotes, and comments do not hold
 * control characters, so that nothing in a profile can become a command. */
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

/* Shared by the formats that keep every configuration. */

/* The only entry of a profile, which must have trials in seconds; ERR_USAGE for several, or another unit. */
const struct profile_entry *export_trials_entry(const struct profile *profile, const char *format, struct err *err);
double export_trial_ms(const json_t *trial); /* the median of its samples; NAN without samples */
json_t *export_samples_ms(const json_t *trial);
json_t *export_timestamp(const json_t *trial); /* "2025-01-31T12:00:00+00:00" */
#endif
