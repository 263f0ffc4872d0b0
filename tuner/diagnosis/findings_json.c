/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/diagnosis/findings_impl.h"

static json_t *next_json(const struct finding *finding) {
	return finding->next ? json_sprintf("sweetspot %s", finding->next) : json_null();
}

static json_t *finding_json(const struct finding *finding) {
	json_t *next = next_json(finding);
	return json_pack("{s:s,s:s,s:O,s:s,s:o,s:O,s:O,s:o}", "name", finding->diagnosis->name, "sentence",
	                 finding->sentence, "about", finding->about, "confidence", confidence_word(finding->confidence),
	                 "strength", js_number(finding->strength), "evidence", finding->evidence, "missing",
	                 finding->missing, "next", next ? next : json_null());
}

json_t *findings_json(const struct findings *findings) {
	json_t *list = json_array();
	for (size_t i = 0; i < findings->count; i++)
		json_array_append_new(list, finding_json(findings->all[i]));
	return list;
}
