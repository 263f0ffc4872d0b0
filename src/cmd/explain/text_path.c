/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the path from the baseline to the winner, one change at a time. */
#include <config.h>

#include <stdlib.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "src/cmd/explain/explain_text.h"
#include "tuner/result/result.h"

enum { INDENT = 2, STEPS_SHOWN = 6 };

static char *member_text(const char *name, const json_t *to, const json_t *from) {
	char now[96], was[96], *clean = mem_strdup(name), *text;
	explain_value_text(to, now, sizeof now);
	explain_value_text(from, was, sizeof was);
	text_clean(clean, false);
	if (json_is_null(to))
		text = mem_printf("without %s", clean);
	else if (json_is_null(from))
		text = mem_printf("%s=%s", clean, now);
	else
		text = mem_printf("%s=%s instead of %s", clean, now, was);
	free(clean);
	return text;
}

static char *step_text(const json_t *step) {
	const json_t *was = json_object_get(step, "was");
	const char *name;
	json_t *to;
	char *line = mem_strdup("");
	json_object_foreach(json_object_get(step, "set"), name, to) {
		char *member = member_text(name, to, json_object_get(was, name));
		char *longer = mem_printf("%s%s%s", line, *line ? ", " : "", member);
		free(member);
		free(line);
		line = longer;
	}
	return line;
}

static void step_print(const struct explain_text *text, const json_t *step) {
	char ratio[64], *what = step_text(step);
	explain_ratio_text(speedup_read(step), ratio, sizeof ratio);
	char *line = mem_printf("%-20s  %s%s", ratio, what, js_bool_or(step, "measured", false) ? "" : " (predicted)");
	ui_wrap(text->out, INDENT, INDENT + 22, line);
	free(line);
	free(what);
}

/* Where the winner is not proven to be faster, neither is any step to it. */
static const char *title_of(const json_t *result) {
	if (verdict_of(result) == VERDICT_TIE)
		return "from the baseline to a setting that is equally fast (one change at a time)";
	if (!result_is_decided(result) && !json_object_get(result, "table"))
		return "from the baseline to the best so far (undecided: the steps may be noise)";
	return "what makes it fast (from the baseline, one change at a time)";
}

void explain_text_path(const struct explain_text *text) {
	const json_t *steps = json_object_get(text->result, "path"), *one;
	size_t count = json_array_size(steps), i;
	if (count == 0)
		return;
	explain_title(text, title_of(text->result));
	json_array_foreach((json_t *)steps, i, one) {
		if (i >= STEPS_SHOWN && !text->all) {
			explain_more_print(text, INDENT, count - i);
			break;
		}
		step_print(text, one);
	}
}
