/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text for people, made from the JSON. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/explain.h"
#include "src/results.h"

void explain_print(struct ui *ui, const json_t *result, bool all, FILE *out) {
	size_t i;
	json_t *one;
	(void)ui;
	(void)all;
	fprintf(out, "%s\n", js_string_or(result, "kernel", "?"));
	json_array_foreach(json_object_get(result, "diagnoses"), i, one)
		fprintf(out, "  %s\n", js_string_or(one, "sentence", ""));
}
