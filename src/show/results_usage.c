/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The resources that a program uses besides time, baseline -> best. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json/js.h"
#include "src/show/results.h"

enum { WIDTH = 78 /* and a comma: what fits an ordinary terminal is not folded again */ };

enum resource_unit { SECONDS, BYTES, COUNT };

static const struct resource {
	const char *name, *key, *more; /* `more`: second member to add, or NULL */
	enum resource_unit unit;
} resources[] = {
	{"user", "user_s", NULL, SECONDS},
	{"system", "system_s", NULL, SECONDS},
	{"peak memory", "max_rss_bytes", NULL, BYTES},
	{"page faults", "minor_faults", "major_faults", COUNT},
	{"context switches", "voluntary_switches", "involuntary_switches", COUNT},
	{"migrations", "migrations", NULL, COUNT},
	{"run delay", "run_delay_s", NULL, SECONDS},
};

static double resource_of(const json_t *usage, const struct resource *resource) {
	double value = js_real_or(usage, resource->key, NAN);
	return resource->more ? value + js_real_or(usage, resource->more, NAN) : value;
}

static void resource_text(double value, enum resource_unit unit, char *text, size_t size) {
	*text = '\0';
	if (!isfinite(value))
		return;
	if (unit == SECONDS)
		ui_seconds(value, text, size);
	else if (unit == BYTES)
		ui_bytes(value, text, size);
	else
		snprintf(text, size, "%.0f", value);
}

/* "user 800 ms -> 410 ms"; "" if a side does not have it. */
static void resource_pair(const json_t *from, const json_t *to, const struct resource *resource, char *text,
                          size_t size) {
	char a[48], b[48];
	double before = resource_of(from, resource), after = resource_of(to, resource);
	resource_text(before, resource->unit, a, sizeof a);
	resource_text(after, resource->unit, b, sizeof b);
	*text = '\0';
	if (json_is_object(from) && isfinite(before) && isfinite(after))
		snprintf(text, size, "%s %s -> %s", resource->name, a, b);
	else if (!json_is_object(from) && isfinite(after))
		snprintf(text, size, "%s %s", resource->name, b);
}

/* Prints as many per line as fit. */
void results_usage_print(const json_t *result, FILE *out) {
	const json_t *best = json_object_get(result, "best"), *baseline = json_object_get(result, "baseline");
	bool same = json_equal(json_object_get(best, "config"), json_object_get(baseline, "config"));
	const json_t *from = same ? NULL : json_object_get(baseline, "usage"), *to = json_object_get(best, "usage");
	int column = 0;
	for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
		char text[200];
		resource_pair(from, to, &resources[i], text, sizeof text);
		if (!*text)
			continue;
		bool fits = column && column + 2 + (int)strlen(text) <= WIDTH;
		if (!column)
			fprintf(out, "%-*s", RESULTS_INDENT, "resources:");
		else if (fits)
			fputs(", ", out);
		else
			fprintf(out, ",\n%*s", RESULTS_INDENT, "");
		column = (fits ? column + 2 : RESULTS_INDENT) + fprintf(out, "%s", text);
	}
	if (column)
		fputc('\n', out);
}
