/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "src/show/counters.h"

/* Plain numbers from here on get a prefix. */
static const double LARGE = 1e5;

/* Units that are not simply printed behind the number. */
static const struct form {
	const char *unit;
	enum { SECONDS, BYTES, PREFIXED, BARE } kind;
	double scale;
	const char *shown;
} forms[] = {
	{"s", SECONDS, 1, NULL},           {"seconds", SECONDS, 1, NULL},
	{"ms", SECONDS, 1e-3, NULL},       {"us", SECONDS, 1e-6, NULL},
	{"ns", SECONDS, 1e-9, NULL},       {"B", BYTES, 1, NULL},
	{"bytes", BYTES, 1, NULL},         {"byte", BYTES, 1, NULL},
	{"KiB", BYTES, 1024, NULL},        {"B/s", PREFIXED, 1, "B/s"},
	{"bytes/s", PREFIXED, 1, "B/s"},   {"Hz", PREFIXED, 1, "Hz"},
	{"J", PREFIXED, 1, "J"},           {"W", PREFIXED, 1, "W"},
	{"flop/s", PREFIXED, 1, "flop/s"}, {"FLOP/s", PREFIXED, 1, "flop/s"},
	{"op/s", PREFIXED, 1, "op/s"},     {"count", BARE, 1, NULL},
	{"counts", BARE, 1, NULL},         {"events", BARE, 1, NULL},
	{"ratio", BARE, 1, NULL},          {"", BARE, 1, NULL},
};

static const struct form *form_of(const char *unit) {
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcmp(forms[i].unit, unit) == 0)
			return &forms[i];
	return NULL;
}

static const char *prefix_of(double *value, bool small) {
	static const char *const prefixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P"};
	int at = 3;
	for (; fabs(*value) >= 999.95 && at < 8; at++)
		*value /= 1000;
	for (; small && *value != 0 && fabs(*value) < 0.9995 && at > 0; at--)
		*value *= 1000;
	return prefixes[at];
}

static void plain(double value, const char *unit, char *text, size_t size) {
	const char *prefix = fabs(value) >= LARGE ? prefix_of(&value, false) : "";
	const char *space = *prefix || *unit ? " " : "";
	bool whole = !*prefix && value == trunc(value);
	snprintf(text, size, whole ? "%.0f%s%s%s%.40s" : "%.4g%s%s%s%.40s", value, space, prefix,
	         *prefix && *unit ? " " : "", unit);
}

void counters_value(double value, const char *unit, char *text, size_t size) {
	const char *known = unit ? unit : "";
	const struct form *form = form_of(known);
	if (!isfinite(value)) {
		snprintf(text, size, "-");
	} else if (!form) {
		plain(value, known, text, size);
	} else if (form->kind == SECONDS) {
		ui_seconds(value * form->scale, text, size);
	} else if (form->kind == BYTES) {
		ui_bytes(value * form->scale, text, size);
	} else if (form->kind == PREFIXED) {
		const char *prefix = prefix_of(&value, true);
		snprintf(text, size, "%.4g %s%s", value, prefix, form->shown);
	} else {
		plain(value, "", text, size);
	}
	text_clean(text, false);
}
