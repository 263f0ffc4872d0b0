/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comments, titles and names, shared by the formats that people and other languages read. */
#ifndef TUNER_EXPORT_EXPORT_TEXT_IMPL_H
#define TUNER_EXPORT_EXPORT_TEXT_IMPL_H

#include "tuner/result/result.h"

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
void export_hex(FILE *out, const char *text, size_t length);   /* e280ae */
void export_octal(FILE *out, const char *text, size_t length); /* \342\200\256 */
char *export_value_text(const json_t *value); /* a number or a word as text, a boolean as 0 or 1; the caller frees it */
int export_document(json_t *document, FILE *out, const char *what, struct err *err); /* releases the document */
int export_end(FILE *out, const char *what, struct err *err);                        /* -1: the stream failed */
#endif
