/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/json/js.h"
#include "src/show/counters.h"

const json_t *counters_sources(struct app *app) {
	const json_t *sources = json_object_get(app_counters(app, NULL), "counters");
	return json_is_array(sources) ? sources : NULL;
}

static bool is_usable(const json_t *sources, const char *name) {
	return js_bool_or(js_named(sources, name), "usable", false);
}

/* A source that counts only software events is usable, too. */
static bool in_hardware(const json_t *source) {
	return js_bool_or(source, "usable", false) && js_bool_or(source, "hardware", false);
}

bool counters_hardware(const json_t *sources, const char **why, const char **fix) {
	const json_t *perf = js_named(sources, "perf"), *papi = js_named(sources, "papi");
	const json_t *source = in_hardware(papi) ? papi : perf ? perf : papi;
	*why = js_string_or(source, "reason", "this build does not include a hardware counter source");
	*fix = js_string_or(source, "fix", "");
	return in_hardware(papi) || in_hardware(perf);
}

/* Substitutes for a source; the first usable one is named to the user. */
static const struct substitute {
	const char *name, *other, *text;
	bool hardware; /* the other one must count in hardware */
} substitutes[] = {
	{"papi", "perf", "generic hardware events of perf", true},
	{"papi", "perf", "software events of perf: --counters SOFTWARE", false},
	{"papi", "rusage", "per-thread counts of the operating system: --counters rusage", false},
	{"perf", "papi", "PAPI's events", true},
	{"perf", "rusage", "per-thread counts of the operating system: --counters rusage", false},
	{"papi-sde", "rusage", "the figures that a kernel reports, printed by `sweetspot run`", false},
	{"cachegrind", "papi", "cache misses counted by hardware: --counters CACHE", true},
	{"cachegrind", "perf", "cache misses counted by hardware: --counters CACHE", true},
};

static const char *substitute_of(const json_t *sources, const char *name) {
	for (size_t i = 0; i < sizeof substitutes / sizeof *substitutes; i++) {
		const struct substitute *s = &substitutes[i];
		const json_t *other = js_named(sources, s->other);
		if (strcmp(s->name, name) == 0 && (s->hardware ? in_hardware(other) : is_usable(sources, s->other)))
			return s->text;
	}
	return NULL;
}

static bool counts_events(const char *name) {
	return strcmp(name, "papi") == 0 || strcmp(name, "perf") == 0;
}

const char *counters_instead(const json_t *sources, const char *name, char *text, size_t size) {
	static const char SIMULATED[] =
		"cache and branch counts by simulation, 30 to 600 times slower: --counters cachegrind";
	const json_t *source = js_named(sources, name);
	bool events = counts_events(name), usable = js_bool_or(source, "usable", false);
	if (in_hardware(source) || (usable && !events))
		return "";
	const char *other =
		usable ? "software events, which it can count: --counters SOFTWARE" : substitute_of(sources, name);
	bool simulated = events && is_usable(sources, "cachegrind") && !in_hardware(js_named(sources, "perf")) &&
	                 !in_hardware(js_named(sources, "papi"));
	snprintf(text, size, "%s%s%s", other ? other : "", other && simulated ? "; " : "", simulated ? SIMULATED : "");
	if (!*text)
		snprintf(text, size, "nothing: its counts stay unknown");
	return text;
}
