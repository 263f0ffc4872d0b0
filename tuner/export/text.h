/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What formats share that people and other programs' languages read: comments, titles, names. */
#ifndef TUNER_EXPORT_TEXT_H
#define TUNER_EXPORT_TEXT_H
#include <jansson.h>
#include <stdio.h>

#include "src/base/err.h"

/* One line: no control characters, and nothing that would continue it. lead: "# ". */
void export_comment(FILE *out, const char *lead, const char *text);
void export_heading(FILE *out, const char *lead, const json_t *profile, const char *use); /* for which machine */
void export_title(FILE *out, const char *lead, const json_t *entry); /* kernel, problem, speedup; stale; in full */
char *export_title_text(const json_t *entry);                        /* its first line; caller frees */
/* " n=1024" for each member of the problem; caller frees. */
char *export_problem(const json_t *entry, const char *lead, const char *between);
/* prefix and text with "_" for all that is no letter or digit of ASCII; none twice that is in `taken`, an object that
 * remembers. Caller frees. */
char *export_name(const char *prefix, const char *text, json_t *taken);
char *export_entry_name(const char *prefix, const json_t *entry,
                        json_t *taken); /* of kernel and problem: PREFIXfw_n1024 */
void export_upper(char *name);
char *export_value_text(const json_t *value); /* a number or a word as text, a truth value as 0 or 1; caller frees */
int export_end(FILE *out, const char *what, struct err *err); /* -1: the stream failed */

#endif
