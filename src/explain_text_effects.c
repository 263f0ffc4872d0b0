/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What mattered. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/base/value.h"
#include "src/explain_text.h"

enum { EFFECTS_SHOWN = 6, INDENT = 2, CELL = 64 };

static void value_cell(const json_t *json, char cell[CELL]) {
	struct value value;
	snprintf(cell, CELL, "-");
	if (json && value_from_json(json, &value))
		value_text(value, cell, CELL);
	text_clean(cell, false);
}

static void share_cell(const json_t *effect, char cell[CELL]) {
	double share = js_real_or(effect, "share", NAN);
	snprintf(cell, CELL, "-");
	if (isfinite(share))
		snprintf(cell, CELL, "%.0f %%", 100 * share);
}

static void effect_add(struct table *table, const json_t *effect) {
	char name[CELL], ratio[CELL], best[CELL], worst[CELL], share[CELL];
	snprintf(name, sizeof name, "  %s", js_string_or(effect, "param", "?"));
	text_clean(name, false);
	explain_ratio_text(js_real_or(effect, "ratio", NAN), json_object_get(effect, "ci"), ratio, sizeof ratio);
	value_cell(json_object_get(effect, "best"), best);
	value_cell(json_object_get(effect, "worst"), worst);
	share_cell(effect, share);
	table_add(table, name, js_bool_or(effect, "known", false) ? ratio : "too few", best, worst, share);
}

void explain_text_effects(const struct explain_text *text) {
	static const char *const titles[] = {"  parameter", "worst over best", "best", "worst", "of the variance"};
	const json_t *effects = json_object_get(text->result, "effects");
	size_t i, shown = 0;
	json_t *one;
	if (json_array_size(effects) == 0)
		return;
	explain_title(text, "what mattered");
	struct table *table = table_new(5, titles);
	json_array_foreach((json_t *)effects, i, one) {
		if (text->all || (shown < EFFECTS_SHOWN && js_bool_or(one, "known", false))) {
			effect_add(table, one);
			shown++;
		}
	}
	if (shown)
		table_print(table, text->ui, text->out);
	else
		ui_wrap(text->out, INDENT, INDENT, "too little was measured to tell");
	table_free(table);
}
