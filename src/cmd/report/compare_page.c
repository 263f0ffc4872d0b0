/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of --compare: what changed from A to B, problem by problem. */
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/app/app.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"
#include "tuner/profile/profile.h"

/* --machine: a page about another machine of the store. */
enum { SHORT = 12 };

struct choosing {
	const char *wanted; /* the first letters of a fingerprint; NULL selects the machine that was measured last */
	json_t *found;
	size_t count;
};

static const char *letters_of(const char *fingerprint) {
	const char *colon = strchr(fingerprint, ':');
	return colon ? colon + 1 : fingerprint;
}

static int on_machine(void *ctx, const struct store_row *one) {
	struct choosing *choosing = ctx;
	const char *wanted = choosing->wanted ? letters_of(choosing->wanted) : "";
	if (one->searches == 0 || strncmp(letters_of(one->fingerprint), wanted, strlen(wanted)) != 0)
		return 0;
	if (choosing->count++ == 0) {
		choosing->found = json_is_object(one->machine) ? json_copy((json_t *)one->machine) : json_object();
		json_object_set_new(choosing->found, "fingerprint", json_string(one->fingerprint));
	}
	return 0;
}

/* Files are named after the fingerprint, so it must not contain a path. */
static bool is_sane(const char *fingerprint) {
	const char *letters = letters_of(fingerprint);
	return *letters && letters[strspn(letters, "0123456789abcdef")] == '\0';
}

static json_t *report_machine_find(struct store *store, const char *wanted, struct err *err) {
	struct choosing choosing = {.wanted = wanted};
	if (store_each(store, STORE_MACHINES, NULL, on_machine, &choosing, err) == 0) {
		if (choosing.count == 0 || !*letters_of(wanted))
			err_set(err, ERR_USAGE, "`sweetspot store info` lists the fingerprints",
			        "the store does not contain a machine whose fingerprint begins with \"%s\"", wanted);
		else if (choosing.count > 1)
			err_set(err, ERR_USAGE, "give more of its letters; `sweetspot store info` lists the fingerprints",
			        "the fingerprints of %zu machines begin with \"%s\"", choosing.count, wanted);
		else if (!is_sane(js_string_or(choosing.found, "fingerprint", "")))
			err_set(err, ERR_USAGE, NULL, "the store is damaged: it has an invalid fingerprint");
		else
			return choosing.found;
	}
	json_decref(choosing.found);
	return NULL;
}

static json_t *report_machine_newest(struct store *store, struct err *err) {
	struct choosing choosing = {0};
	return store_each(store, STORE_MACHINES, NULL, on_machine, &choosing, err) ? NULL : choosing.found;
}

int report_machine_choose(struct report *report, struct store *store, struct err *err) {
	const char *wanted = opt_get(report->args, "machine", NULL);
	struct err ignored = {0};
	const char *here = app_fingerprint(report->app, wanted ? &ignored : err);
	if (!wanted)
		return here ? 0 : -1;
	js_auto json_t *found = report_machine_find(store, wanted, err);
	if (!found)
		return -1;
	report->is_foreign = !here || strcmp(here, js_string_or(found, "fingerprint", "")) != 0;
	app_machine_assume(report->app, found);
	return 0;
}

static const char *report_machine_short(struct report *report, const char *fingerprint) {
	return arena_printf(report->arena, "%.*s", SHORT, letters_of(fingerprint));
}

const char *report_machine_other(struct report *report, struct store *store) {
	js_auto json_t *newest = report_machine_newest(store, NULL);
	return newest ? report_machine_short(report, js_string_or(newest, "fingerprint", "")) : "";
}

/* --compare A B: reads the recommendations of both sides, each a store, a machine of the store, or a date. */
static const double DAY = 86400, MINUTE = 60;

/* "2026-01-31" or "2026-01-31T12:00", in UTC; *until: the end of that day or minute. */
static bool date_read(const char *word, double *until) {
	struct tm tm = {0};
	const char *rest = strptime(word, "%Y-%m-%d", &tm);
	bool whole = rest && !*rest;
	if (rest && (*rest == 'T' || *rest == ' '))
		rest = strptime(rest + 1, "%H:%M", &tm);
	int day = tm.tm_mday;
	if (!rest || *rest)
		return false;
	*until = (double)timegm(&tm) + (whole ? DAY : MINUTE);
	return tm.tm_mday == day; /* there is no 30 February */
}

/* The machine that --machine names, else this one if the store knows it, else the one that was measured last. */
static json_t *machine_of(struct report *report, struct store *store, struct err *err) {
	const char *wanted = opt_get(report->args, "machine", NULL);
	struct err ignored = {0};
	if (wanted)
		return report_machine_find(store, wanted, err);
	const char *here = app_fingerprint(report->app, &ignored);
	json_t *found = here ? report_machine_find(store, here, &ignored) : NULL;
	return found ? found : report_machine_newest(store, err);
}

static int side_fill(struct report *report, struct report_side *side, struct store *store, json_t *machine,
                     double until, struct err *err) {
	const char *path = store_path(store), *fingerprint = js_string_or(machine, "fingerprint", "");
	struct err none = {0};
	char last[32];
	side->profile = machine ? profile_until(store, fingerprint, NULL, until, &none) : NULL;
	if (!side->profile && none.code != ERR_NOTHING && none.code != ERR_OK) {
		*err = none;
		return -1;
	}
	if (!side->profile)
		return err_set(err, ERR_NOTHING, "`sweetspot store list` lists what a store holds",
		               "%s does not contain a result of tune%s", path, until > 0 ? " from that time" : "");
	side->title =
		arena_printf(report->arena, "%s, machine %s, store %s%s%s", js_string_or(machine, "cpu", "unknown processor"),
	                 report_machine_short(report, fingerprint), path, until > 0 ? ", as it was until " : "",
	                 until > 0 ? report_time(until, last, sizeof last) : "");
	return 0;
}

/* A word that is a file names a store, even if it could also be a date or a machine. */
static int side_open(struct report *report, struct report_side *side, const char *word, struct err *err) {
	double until = 0;
	bool file = access(word, F_OK) == 0, date = !file && date_read(word, &until);
	struct store *store = store_open(file ? word : opt_get(report->args, "store", NULL), STORE_READ, err);
	if (!store)
		return -1;
	js_auto json_t *machine = file || date ? machine_of(report, store, err) : report_machine_find(store, word, err);
	int failed = err->code == ERR_OK ? side_fill(report, side, store, machine, until, err) : -1;
	if (err->code == ERR_USAGE && !file && !date && !machine)
		err_hint(err, "give two files of stores, two machines (`sweetspot store info` lists them), or two dates");
	store_close(store);
	return failed;
}

int report_compare(struct report *report, struct err *err) {
	const struct opt_args *args = report->args;
	if (opt_has(args, "from"))
		return err_set(err, ERR_USAGE, "leave one of them out", "--compare reads stores, --from reads files");
	if (opt_words(args) < 2)
		return err_set(err, ERR_USAGE, "sweetspot report --compare old.db new.db",
		               "--compare needs two stores, machines or dates");
	for (size_t i = 0; i < 2; i++)
		if (side_open(report, &report->sides[i], opt_word(args, i), err))
			return -1;
	report->diff = profile_diff(report->sides[0].profile, report->sides[1].profile);
	json_t *entries = json_object_get(report->diff, "entries");
	profile_array_pick(entries, report_names(report, 2));
	return json_array_size(entries)
	           ? 0
	           : err_set(err, ERR_NOTHING, NULL, "neither side contains a result of these kernels");
}

static const char *const sides[] = {"a", "b"}, *const letters[] = {"A", "B"};

/* B's speedup over A; of times the inverse of their ratio. */
static struct speedup gain_of(const json_t *row) {
	struct speedup read = speedup_read(row);
	bool rate = js_bool_or(js_at(row, "a.program"), "maximize", false);
	return rate ? read : speedup_inverse(read.ratio, (const double[]){read.low, read.high});
}

/* Could they be compared? */
static bool is_judged(const json_t *row) {
	return verdict_said(row, NULL);
}

static bool is_of(const json_t *row, const char *side) {
	return json_is_object(json_object_get(row, side));
}

/* The problem of a program repeats its command, which the setting shows anyway. */
static const char *problem_of(struct report *report, const json_t *row) {
	const json_t *problem = json_object_get(row, "problem");
	const char *objective = js_string_or(row, "objective", "time");
	bool is_time = strcmp(objective, "time") == 0, is_program = json_object_get(problem, "command");
	mem_auto char *words = is_program ? NULL : results_config(problem, NULL);
	return arena_printf(report->arena, "%s%s%s", words ? words : "", words && *words && !is_time ? ", " : "",
	                    is_time ? "" : objective);
}

static const char *words_of(struct report *report, const json_t *row) {
	struct speedup gain = gain_of(row);
	if (!is_of(row, "a") || !is_of(row, "b"))
		return is_of(row, "a") ? "only A has it" : "only B has it";
	if (!is_judged(row))
		return isfinite(gain.ratio) ? "one of them has no interval" : "they measure different quantities";
	switch (verdict_of(row)) {
	case VERDICT_FASTER:
		return arena_printf(report->arena, "B is %.3gx faster [%.3g, %.3g]", gain.ratio, gain.low, gain.high);
	case VERDICT_SLOWER:
		return arena_printf(report->arena, "B is %.3gx slower [%.3g, %.3g]", 1 / gain.ratio, 1 / gain.high,
		                    1 / gain.low);
	case VERDICT_TIE:
		return arena_printf(report->arena, "no significant difference: %.3gx [%.3g, %.3g]", gain.ratio, gain.low,
		                    gain.high);
	default:
		return speedup_is_vague(gain)
		           ? "undecided: too noisy"
		           : arena_printf(report->arena, "undecided: %.3gx [%.3g, %.3g]", gain.ratio, gain.low, gain.high);
	}
}

static const char *median_text(struct report *report, const json_t *entry) {
	const json_t *ci = json_object_get(entry, "ci");
	const double values[] = {js_real_or(entry, "median", NAN), report_end(ci, 0), report_end(ci, 1)};
	const char *unit = js_string_or(entry, "unit", "");
	if (!isfinite(values[1] + values[2]))
		return arena_strdup(report->arena, results_value(values[0], unit).text);
	return arena_printf(report->arena, "%s [%s, %s]", results_value(values[0], unit).text,
	                    results_value(values[1], unit).text, results_value(values[2], unit).text);
}

/* "12 ms [11.8 ms, 12.1 ms]", sorted by the median */
static void side_put(struct report *report, struct html_table *table, const json_t *row, size_t side) {
	const json_t *entry = json_object_get(row, sides[side]);
	html_table_number(table, js_real_or(entry, "median", NAN), "%s", median_text(report, entry));
}

/* "N: 1 -> 2"; a setting that only one side has is told whole. */
static void settings_put(struct html_table *table, const json_t *row) {
	const json_t *settings = json_object_get(row, "config");
	bool both = is_of(row, "a") && is_of(row, "b");
	mem_auto char *text = both ? mem_strdup(json_array_size(settings) ? "" : "the same")
	                           : results_config(js_at(row, is_of(row, "a") ? "a.config" : "b.config"), NULL);
	js_each (one, settings) {
		mem_auto char *a = column_plain(json_object_get(one, "a")), *b = column_plain(json_object_get(one, "b"));
		if (both)
			mem_append(&text, "%s%s: %s -> %s", one_at ? ", " : "", js_string_or(one, "name", ""), a, b);
	}
	html_table_text(table, "%s", text);
}

static void table_put(struct report *report, const json_t *rows) {
	static const char *const titles[] = {"result", "\2change", "95 % interval", "\1A", "\1B", "\2setting", NULL};
	static const char *const tones[VERDICT_COUNT] = {[VERDICT_FASTER] = "high", [VERDICT_SLOWER] = "warning"};
	struct report_ruler ruler = REPORT_RULER;
	js_each (row, rows)
		report_ruler_add(&ruler, gain_of(row));
	struct html_table table = html_table_begin(
		report->html, NULL, "Every problem of both sides. A bar is the interval of the speedup, with a line at 1.",
		titles);
	js_each (row, rows) {
		struct speedup gain = gain_of(row);
		double order = isfinite(gain.ratio) ? gain.ratio : INFINITY;
		html_table_row(&table);
		html_table_cell(&table, NAN);
		html_put(report->html, "%s<small> %s</small>", js_string_or(row, "kernel", ""), problem_of(report, row));
		html_table_cell_end(&table);
		html_table_cell(&table, order);
		html_put(report->html, "<span class=\"%s\">%s</span>", tones[verdict_of(row)] ? tones[verdict_of(row)] : "low",
		         words_of(report, row));
		html_table_cell_end(&table);
		html_table_cell(&table, order);
		report_interval(report->html, &ruler, gain);
		html_table_cell_end(&table);
		side_put(report, &table, row, 0);
		side_put(report, &table, row, 1);
		settings_put(&table, row);
	}
	html_table_end(&table);
}

static void summary_put(struct report *report, const json_t *rows) {
	size_t counts[VERDICT_COUNT] = {0}, both = 0, only[2] = {0};
	js_each (row, rows) {
		bool shared = is_of(row, "a") && is_of(row, "b");
		both += shared;
		only[0] += !shared && is_of(row, "a");
		only[1] += !shared && is_of(row, "b");
		counts[verdict_of(row)] += is_judged(row);
	}
	html_put(report->html,
	         "<p class=\"lead\">Of the %zu problem%s that both have, B is faster in %zu and slower in %zu", both,
	         both == 1 ? "" : "s", counts[VERDICT_FASTER], counts[VERDICT_SLOWER]);
	if (counts[VERDICT_TIE])
		html_put(report->html, ", no significant difference in %zu", counts[VERDICT_TIE]);
	if (counts[VERDICT_UNDECIDED])
		html_put(report->html, ", %zu %s undecided", counts[VERDICT_UNDECIDED],
		         counts[VERDICT_UNDECIDED] == 1 ? "is" : "are");
	html_put(report->html, ".");
	for (size_t side = 0; side < 2; side++)
		if (only[side])
			html_put(report->html, " Only %s has %zu more.", letters[side], only[side]);
	html_put(
		report->html,
		"</p><p class=\"note\">A and B were measured at different times, so their intervals (95 %%) do not contain "
		"what "
		"changed in between, such as load, clock or temperature. A difference counts if its interval is beyond 1 %% "
		"and the noise floors of both. `sweetspot compare` measures two settings of one machine in pairs.</p>");
}

static void machines_put(struct report *report) {
	static const struct column columns[] = {COLUMN("\2property", "name", .absent = ""),
	                                        COLUMN("\2A", "a", .text = column_plain),
	                                        COLUMN("\2B", "b", .text = column_plain),
	                                        {0}};
	const json_t *differences = json_object_get(report->diff, "machine");
	html_put(report->html, "<section id=\"machines\"><h2>Machines</h2>");
	if (json_array_size(differences) == 0)
		html_put(report->html, "<p>Both sides are the same machine with the same compiler.</p>");
	html_rows(report->html, NULL, "What differs", columns, differences);
	html_put(report->html, "</section>");
}

void report_compare_page(struct report *report) {
	const json_t *rows = json_object_get(report->diff, "entries");
	char now[32];
	page_begin(report->html, "Sweetspot comparison", false);
	html_put(report->html, "<header><h1>Sweetspot comparison</h1>");
	for (size_t side = 0; side < 2; side++)
		html_put(report->html, "<p>%s: %s</p>", letters[side], report->sides[side].title);
	html_put(report->html, "<p class=\"note\">%s, by sweetspot " PACKAGE_VERSION "</p>",
	         report_time(sys_wall(), now, sizeof now));
	html_put(report->html, "</header><main><section id=\"results\"><h2>What changed</h2>");
	summary_put(report, rows);
	table_put(report, rows);
	html_put(report->html, "</section>");
	machines_put(report);
	html_put(report->html, "</main>");
	page_end(report->html);
}
