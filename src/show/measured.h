/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `--export markdown|csv|json`: what was measured, as a table for other programs. */
#ifndef SRC_SHOW_MEASURED_H
#define SRC_SHOW_MEASURED_H
#include <jansson.h>

#include "base/opt.h"

enum measured_format { MEASURED_NONE, MEASURED_MARKDOWN, MEASURED_CSV, MEASURED_JSON };

extern const struct opt measured_options[]; /* --export */
/* ERR_USAGE for an unknown word, or beside --json. */
int measured_format_read(const struct opt_args *args, enum measured_format *format, struct err *err);
/* Rows are flat objects. The columns are those of all rows, in the order in which they first occur. */
void measured_write(enum measured_format format, const json_t *rows, FILE *out);

/* Results as JUnit XML, which the test pages of GitLab, Jenkins and others read. */
enum junit_result { JUNIT_PASSED, JUNIT_FAILED, JUNIT_SKIPPED };

struct junit;
struct junit *junit_new(const char *suite);
void junit_free(struct junit *junit);
/* seconds: how long the thing under test takes, or NAN. message: the reason of a failure or a skip, else shown as the
 * output of the case; may be "". Texts are copied and made safe for XML. */
void junit_add(struct junit *junit, const char *group, const char *name, double seconds, enum junit_result result,
               const char *message);
int junit_write(const struct junit *junit, const char *path, struct err *err);
#endif
