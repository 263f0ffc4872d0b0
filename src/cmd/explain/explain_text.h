/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of the text, in the order in which they are shown. A section prints nothing if its part is missing. */
#ifndef SRC_CMD_EXPLAIN_EXPLAIN_TEXT_H
#define SRC_CMD_EXPLAIN_EXPLAIN_TEXT_H

#include "src/ui/ui.h"
#include "tuner/result/result.h"

enum { INDENT = 2 };

struct explain_text {
	struct ui *ui;
	FILE *out;
	bool all; /* --verbose */
	const json_t *result;
	const char **refused; /* the last printed reason for which no law fits */
};
void explain_title(const struct explain_text *text, const char *title);
/* Prints the first of a list, or all with --verbose, to which a line points for the rest. */
void explain_list_print(const struct explain_text *text, const json_t *list, size_t most, int indent,
                        void (*print)(const struct explain_text *text, const json_t *one));

void explain_text_scaling(const struct explain_text *text);
void explain_text_effects(const struct explain_text *text);

/* "n=512 type=int32": the members in which the problems differ, or all if they do not. The caller frees it. */
char *explain_problem_text(const json_t *result, const json_t *problem);
/* "1.94x" or "1.94x [1.90, 1.98]" */
struct shown explain_ratio_text(struct speedup ratio);
/* The members of a configuration that were varied, largest effect first; all if none was varied. New reference. */
json_t *explain_varied(const json_t *result, const json_t *config);
/* The value of a member of a configuration; "-" if it is missing. The caller frees it. */
char *explain_value_text(const json_t *json);
#endif
