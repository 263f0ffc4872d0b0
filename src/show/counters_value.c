/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of --counters, who counts them, and how a value is written. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
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

static struct shown plain(double value, const char *unit) {
	const char *prefix = fabs(value) >= LARGE ? prefix_of(&value, false) : "";
	const char *space = *prefix || *unit ? " " : "";
	bool whole = !*prefix && value == trunc(value);
	struct shown shown;
	snprintf(shown.text, sizeof shown.text, whole ? "%.0f%s%s%s%.40s" : "%.4g%s%s%s%.40s", value, space, prefix,
	         *prefix && *unit ? " " : "", unit);
	text_clean(shown.text, false);
	return shown;
}

struct shown counters_value(double value, const char *unit) {
	const struct form *form = form_of(unit ? unit : "");
	struct shown shown = {"-"};
	if (!isfinite(value))
		return shown;
	if (!form)
		return plain(value, unit ? unit : "");
	if (form->kind == SECONDS)
		return ui_seconds(value * form->scale);
	if (form->kind == BYTES)
		return ui_bytes(value * form->scale);
	if (form->kind != PREFIXED)
		return plain(value, "");
	const char *prefix = prefix_of(&value, true);
	snprintf(shown.text, sizeof shown.text, "%.4g %s%s", value, prefix, form->shown);
	return shown;
}

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

static size_t find(const struct counters_words *words, const char *name) {
	size_t i = 0;
	while (i < words->count && strcmp(words->names[i], name) != 0)
		i++;
	return i;
}

bool counters_words_remove(struct counters_words *words, const char *name) {
	size_t at = find(words, name);
	if (at == words->count)
		return false;
	memmove(&words->names[at], &words->names[at + 1], (words->count - at) * sizeof *words->names);
	words->count--;
	return true;
}

static char *joined(const struct opt_args *args) {
	char *text = mem_strdup("");
	for (size_t i = 0; i < opt_count(args, "counters"); i++)
		mem_append(&text, ",%s", opt_at(args, "counters", i));
	return text;
}

static bool is_text(const char *name) {
	size_t left = strlen(name), length;
	for (; left && (length = text_utf8(name, left)); name += length)
		left -= length;
	return left == 0;
}

int counters_words_read(const struct opt_args *args, struct counters_words *words, struct err *err) {
	*words = (struct counters_words){.text = joined(args)};
	char *rest = NULL;
	for (char *name = strtok_r(words->text, ", \t\n", &rest); name; name = strtok_r(NULL, ", \t\n", &rest)) {
		if (!is_text(name))
			return err_set(err, ERR_USAGE, "`sweetspot list metrics` lists the names",
			               "--counters contains a name that is not valid UTF-8");
		if (find(words, name) < words->count)
			continue;
		if (words->count == COUNTERS_WORDS_MAX)
			return err_set(err, ERR_USAGE, "use groups, which `sweetspot list metrics` lists",
			               "--counters accepts at most %d names", COUNTERS_WORDS_MAX);
		words->names[words->count++] = name;
		words->names[words->count] = NULL;
	}
	if (opt_has(args, "counters") && words->count == 0)
		return err_set(err, ERR_USAGE, "`sweetspot list metrics` lists the names; none turns counting off",
		               "--counters is empty");
	if (counters_words_remove(words, "none") && words->count)
		return err_set(err, ERR_USAGE, "omit none, or omit the other names",
		               "--counters none cannot be combined with other names");
	return 0;
}

void counters_words_free(struct counters_words *words) {
	free(words->text);
	*words = (struct counters_words){0};
}

/* Warns about GPU metrics that do not fit into one run. */
static void passes_warn(struct app *app, const json_t *answer) {
	js_members (source, passes, json_object_get(answer, "passes")) {
		if (json_integer_value(passes) > 1)
			ui_warn(app_ui(app), "the group GPU needs only one run", "%.40s needs %lld runs to count these once",
			        source, (long long)json_integer_value(passes));
	}
}

json_t *counters_ask(struct app *app, const struct counters_subject *subject, const char *const *asked, bool *slow,
                     struct err *err) {
	struct worker *worker = app_worker(app, err);
	json_t *answer = worker ? worker_counters(worker, subject, asked, err) : NULL;
	if (answer) {
		worker_counters_usable(answer, slow);
		passes_warn(app, answer);
	}
	return answer;
}

void counters_slow_warn(struct app *app) {
	ui_warn(app_ui(app), NULL, "simulated counts take 30 to 600 times as long as the run itself");
}

int counters_unavailable(const char *const *asked, const json_t *rows, struct err *err) {
	mem_auto char *words = trial_counters_words(asked);
	const char *reason = js_string_or(json_array_get(rows, 0), "reason", "");
	err_set(err, ERR_UNAVAILABLE, "run `sweetspot doctor` to see what can be counted here and how to enable the rest",
	        "%.100s: cannot be counted on this machine%s%.250s", words, *reason ? ": " : "", reason);
	return -1;
}
