/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "src/cmd/explain/explain_table_impl.h"
#include "src/show/results.h"
#include "tuner/model/effects/drivers.h"
#include "tuner/model/pareto.h"
#include "tuner/program/program.h"
#include "tuner/reading/reading.h"
#include "tuner/result/result.h"

/* Finds the counters that vary with the time, over the configurations of the problem that were counted. */

enum { COUNTERS_MAX = 64, SHOWN_MAX = 24 };

struct rows_counted {
	const char *name[COUNTERS_MAX];
	size_t names, rows, *row;
	double *time, *counter;
};

static void names_add(struct rows_counted *counts, const json_t *rows) {
	js_each (row, rows) {
		const char *name = js_string_or(row, "name", "");
		if (*name && json_is_number(json_object_get(row, "value")) && counts->names < COUNTERS_MAX &&
		    !text_is_among(name, counts->name, counts->names))
			counts->name[counts->names++] = name;
	}
}

/* Only rows timed in full are used: the time of a censored row is a lower bound. */
static void counts_find(struct rows_counted *counts, const struct explain_view *view) {
	const struct study *study = view->study;
	counts->row = mem_alloc(study_rows(study) + 1, sizeof *counts->row);
	for (size_t i = 0; i < study_rows(study); i++) {
		const struct study_row *row = study_row(study, i);
		if (!row->counted || !explain_timed(view, i))
			continue;
		names_add(counts, json_object_get(row->counted, "counters"));
		counts->row[counts->rows++] = i;
	}
	counts->time = mem_alloc(counts->rows + 1, sizeof *counts->time);
	counts->counter = mem_alloc(counts->rows * counts->names + 1, sizeof *counts->counter);
	for (size_t r = 0; r < counts->rows; r++) {
		counts->time[r] = study_row(study, counts->row[r])->value;
		for (size_t c = 0; c < counts->names; c++)
			counts->counter[r * counts->names + c] = study_counter(study, counts->row[r], counts->name[c]);
	}
}

static long index_of(const struct rows_counted *counts, size_t row) {
	for (size_t i = 0; i < counts->rows; i++)
		if (counts->row[i] == row)
			return (long)i;
	return DRIVERS_NONE;
}

static json_t *driver_json(const struct rows_counted *counts, const struct driver *driver) {
	json_t *with = json_array();
	for (size_t i = 1; i < driver->count; i++)
		json_array_append_new(with, json_string(counts->name[driver->members[i]]));
	return json_pack("{s:s,s:o,s:o,s:o,s:[o,o],s:o,s:b,s:o,s:o,s:[o,o]}", "counter",
	                 counts->name[driver->representative], "with", with, "slope", js_number(driver->slope),
	                 "coefficient", js_number(driver->coefficient), "ci", js_number(driver->ci[0]),
	                 js_number(driver->ci[1]), "p", js_number(driver->adjusted), "significant", driver->significant,
	                 "ratio", js_number(driver->ratio), "share", js_number(driver->share), "share_ci",
	                 js_number(driver->share_ci[0]), js_number(driver->share_ci[1]));
}

static json_t *drivers_json(const struct rows_counted *counts, const struct drivers *drivers) {
	static const char *const methods[] = {"ratios", "one by one", "joint"};
	json_t *list = json_array();
	for (size_t i = 0; i < drivers->count && i < SHOWN_MAX; i++)
		json_array_append_new(list, driver_json(counts, &drivers->driver[i]));
	return json_pack("{s:s,s:I,s:o,s:o,s:o,s:o,s:s*}", "method", methods[drivers->method], "rows",
	                 (json_int_t)drivers->rows, "r2", js_number(drivers->r2), "time_ratio",
	                 js_number(drivers->time_ratio), "unexplained", js_number(drivers->unexplained), "counters", list,
	                 "reason", *drivers->reason ? drivers->reason : NULL);
}

static json_t *explain_drivers(const struct explain_view *view, size_t winner, size_t baseline) {
	struct rows_counted counts = {0};
	struct drivers drivers;
	json_t *json = NULL;
	counts_find(&counts, view);
	const struct drivers_data data = {.rows = counts.rows,
	                                  .counters = counts.names,
	                                  .time = counts.time,
	                                  .counter = counts.counter,
	                                  .winner = index_of(&counts, winner),
	                                  .baseline = index_of(&counts, baseline)};
	if (counts.rows > 1 && counts.names) {
		if (drivers_make(&drivers, &data) == 0)
			json = drivers_json(&counts, &drivers);
		else
			json = json_pack("{s:s,s:I,s:[],s:s}", "method", "none", "rows", (json_int_t)counts.rows, "counters",
			                 "reason", drivers.reason);
		drivers_clear(&drivers);
	}
	free(counts.row);
	free(counts.time);
	free(counts.counter);
	return json;
}

/* Places winner and baseline below the machine's ceilings (Williams, Waterman, Patterson: "Roofline: An Insightful
 * Visual Performance Model for Multicore Architectures", 2009). Operations and bytes are the minimum that the kernel
 * declares; counted bytes are used where a counter provides them. */
static const double GIGA = 1e9;

/* The name of a kernel's operation -> the measured peaks to compare it with. */
static const struct {
	const char *op, *peaks[3];
} peaks[] = {
	{"floating-point operation", {"fp32", "fp64"}},
	{"flop", {"fp32", "fp64"}},
	{"relaxation", {"addmin"}},
	{"pair", {"addmin"}},
};

static void roof_add(json_t *roofs, const char *name, const char *level, double roof, double rate, const char *unit) {
	if (!(roof > 0) || !(rate > 0) || !isfinite(rate / roof))
		return;
	json_array_append_new(roofs, json_pack("{s:s,s:f,s:s,s:f,s:s*}", "name", name, "value", roof, "unit", unit, "share",
	                                       rate / roof, "level", level));
}

static const char *op_of(const struct study *study, size_t row) {
	return js_string_or(json_object_get(study_row(study, row)->detail, "work"), "op", "operation");
}

static json_t *roofs_json(const struct study *study, size_t row, double ops, double bytes) {
	static const char *const cpu[] = {"dram", "l3", "l2", "l1d", NULL}, *const gpu[] = {"dram", "l2", NULL};
	bool on_cpu = strcmp(study_device(study), "cpu") == 0;
	double team = on_cpu ? fmax(1, study_value_number(study, row, "threads", 1)) : 0;
	json_t *roofs = json_array();
	for (const char *const *level = on_cpu ? cpu : gpu; *level; level++)
		roof_add(roofs, "read", *level, study_ceiling(study, "read", *level, team), bytes / GIGA, "GB/s");
	for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
		for (size_t p = 0; strcmp(peaks[i].op, op_of(study, row)) == 0 && peaks[i].peaks[p]; p++)
			roof_add(roofs, peaks[i].peaks[p], NULL, study_ceiling(study, peaks[i].peaks[p], NULL, team), ops / GIGA,
			         strcmp(peaks[i].peaks[p], "addmin") == 0 ? "Gpair/s" : "GFLOP/s");
	return roofs;
}

/* Bytes moved to or from memory, if a counter measured them. */
static double counted_bytes(const struct study *study, size_t row) {
	double read = study_metric(study, row, "read_volume");
	return read > 0 ? read : study_metric(study, row, "dram_volume");
}

static json_t *position(const struct study *study, size_t row) {
	if (row == SIZE_MAX)
		return NULL;
	double seconds = study_row(study, row)->value, ops = study_work(study, row, "ops"),
		   bytes = study_work(study, row, "bytes"), counted = counted_bytes(study, row);
	if (!(ops > 0))
		return NULL;
	bytes = bytes > 0 ? bytes : NAN;
	double moved = counted > 0 ? counted : bytes;
	return json_pack("{s:O,s:f,s:s,s:o,s:o,s:o,s:o,s:o}", "config", study_row(study, row)->config, "seconds", seconds,
	                 "op", op_of(study, row), "ops_per_s", js_number(ops / seconds), "bytes_per_s",
	                 js_number(bytes / seconds), "counted_bytes_per_s", js_number(counted / seconds), "intensity",
	                 js_number(ops / moved), "roofs", roofs_json(study, row, ops / seconds, moved / seconds));
}

static bool was_measured(const struct study *study) {
	int most = strcmp(study_device(study), "cpu") == 0 ? INT_MAX : 0;
	return study_ceiling(study, "read", "dram", most) > 0 || study_ceiling(study, "fp32", NULL, most) > 0;
}

static json_t *explain_roofline(const struct explain_view *view, size_t winner_row, size_t baseline_row) {
	js_auto json_t *winner = strcmp(view->unit, "s") == 0 ? position(view->study, winner_row) : NULL;
	if (!winner)
		return NULL;
	json_t *roofline = json_pack("{s:O,s:o*}", "winner", winner, "baseline", position(view->study, baseline_row));
	if (!was_measured(view->study)) {
		bool gpu = strcmp(study_device(view->study), "cpu") != 0;
		json_object_set_new(roofline, "missing", json_string("the ceilings of this machine have not been measured"));
		json_object_set_new(roofline, "next",
		                    gpu ? json_sprintf("sweetspot machine --ceilings --device %s", study_device(view->study))
		                        : json_string("sweetspot machine --ceilings"));
	}
	return roofline;
}

/* The Pareto front of time against energy, over the trials that have both. */
enum { JOULES_MAX = 10000 };

/* "energy_j" of a trial is a list, one for each sample. */
static double joules_of(const json_t *detail) {
	const json_t *list = json_object_get(detail, "energy_j");
	size_t count = json_array_size(list), known = 0;
	mem_auto double *joules = mem_alloc(count + 1, sizeof *joules);
	for (size_t i = 0; i < count && i < JOULES_MAX; i++) {
		double one = json_number_value(json_array_get(list, i));
		if (one > 0)
			joules[known++] = one;
	}
	return known ? stats_median(joules, known) : NAN;
}

static json_t *front_json(const struct study *study, const size_t *row, const double (*points)[2], const size_t *front,
                          size_t count) {
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list,
		                      json_pack("{s:O,s:o,s:o}", "config", study_row(study, row[front[i]])->config, "seconds",
		                                js_number(points[front[i]][0]), "joules", js_number(points[front[i]][1])));
	return list;
}

static json_t *explain_pareto(const struct explain_view *view) {
	const struct study *study = view->study;
	size_t rows = study_rows(study), count = 0, *row = mem_alloc(rows + 1, sizeof *row);
	mem_auto size_t *front = mem_alloc(rows + 1, sizeof *front);
	double(*points)[2] = mem_alloc(rows + 1, sizeof *points);
	json_t *json = NULL;
	for (size_t i = 0; i < rows; i++) {
		const json_t *detail = study_row(study, i)->detail;
		double seconds = js_real_or(detail, "seconds", NAN), joules = joules_of(detail);
		if (!(seconds > 0) || !(joules > 0) || !explain_of_problem(view, i))
			continue;
		points[count][0] = seconds;
		points[count][1] = joules;
		row[count++] = i;
	}
	if (count > 1) {
		size_t kept = (size_t)pareto_front((const double(*)[2])points, count, front);
		kept = (size_t)pareto_thin((const double(*)[2])points, front, kept, study_noise(study));
		json = json_pack("{s:[s,s],s:I,s:o}", "objectives", "time", "energy", "configurations", (json_int_t)count,
		                 "front", front_json(study, row, (const double(*)[2])points, front, kept));
	}
	free(points);
	free(row);
	return json;
}

/* A part that is the same for all problems of a study; NULL if it was not made yet, or if the result lacks it. */
static json_t *known(const struct explain_view *view, const char *name) {
	return json_incref(json_object_get(view->other, name));
}

static json_t *problems_json(const struct explain_view *view) {
	const struct study *study = view->study;
	if (view->other)
		return known(view, "problems");
	size_t rows[EXPLAIN_PROBLEMS_MAX], count = explain_problems(study, rows);
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:O,s:I}", "problem", study_row(study, rows[i])->problem,
		                                      "configurations", (json_int_t)explain_rows(study, rows[i])));
	return list;
}

static json_t *setup_json(const struct explain_view *view, size_t row, const json_t *tuned) {
	if (row == SIZE_MAX)
		return json_null();
	const struct study_row *one = study_row(view->study, row);
	double spread = exp(1.96 * one->deviation);
	json_t *setup = json_pack("{s:O,s:o,s:[o,o],s:s,s:I}", "config", one->config, "median", js_number(one->value), "ci",
	                          js_number(one->value / spread), js_number(one->value * spread), "unit", view->unit,
	                          "trials", (json_int_t)one->trials);
	/* The duel's own median replaces the one of all trials because it is what the recommendation rests on. */
	if (json_is_number(json_object_get(tuned, "median")) && json_equal(json_object_get(tuned, "config"), one->config)) {
		json_object_set(setup, "median", json_object_get(tuned, "median"));
		if (json_is_array(json_object_get(tuned, "ci")))
			json_object_set(setup, "ci", json_object_get(tuned, "ci"));
	}
	return setup;
}

/* Adds the result of the duel as `tune` reported it, which may be none. Where nothing was tuned, the ratio of medians
 * is shown, and stays undecided. */
static void speedup_add(json_t *result, const struct explain_view *view, size_t winner, size_t baseline) {
	json_t *speedup = json_object_get(view->tune, "speedup");
	if (verdict_said(view->tune, NULL)) {
		json_object_set_new(result, "speedup", speedup ? json_incref(speedup) : json_null());
		mem_auto char *sentence = results_verdict(view->tune);
		json_object_set_new(result, "sentence", js_text(sentence));
		verdict_set(result, verdict_of(view->tune));
	} else if (winner != SIZE_MAX && baseline != SIZE_MAX) {
		double ratio = study_row(view->study, baseline)->value / study_row(view->study, winner)->value;
		json_object_set_new(result, "speedup", json_pack("{s:o,s:n}", "ratio", js_number(ratio), "ci"));
		verdict_set(result, VERDICT_UNDECIDED);
	} else {
		json_object_set_new(result, "speedup", json_null());
		verdict_set(result, VERDICT_NO_BASELINE);
	}
}

/* Did tune compare its best with the baseline without a decision? Then nothing can be said of how its neighbours differ
 * from it, because that is decided by the same noise. */
static bool is_undecided(const struct explain_view *view) {
	return verdict_said(view->tune, NULL) && !verdict_is_decided(view->tune);
}

/* The row of the "best" or "baseline" that tune reported for this problem; SIZE_MAX if it reported none. */
static size_t tuned_row(const struct explain_view *view, const char *member) {
	return explain_row_of(view, json_object_get(json_object_get(view->tune, member), "config"));
}

/* The recommendation if the problem was tuned; else its fastest safe row. */
static size_t winner_of(const struct explain_view *view) {
	const struct study *study = view->study;
	size_t winner = study_winner(study), best = tuned_row(view, "best");
	if (winner != SIZE_MAX && explain_of_problem(view, winner))
		return winner;
	if (best != SIZE_MAX)
		return best;
	for (size_t i = 0; i < study_rows(study); i++) {
		const struct study_row *row = study_row(study, i);
		if (study_usable(study, i) && explain_of_problem(view, i) &&
		    (best == SIZE_MAX || row->value < study_row(study, best)->value))
			best = i;
	}
	return best;
}

static size_t baseline_of(const struct explain_view *view) {
	size_t baseline = study_baseline(view->study);
	bool own = baseline != SIZE_MAX && explain_of_problem(view, baseline);
	return own ? baseline : tuned_row(view, "baseline");
}

static bool is_program(const struct explain_view *view) {
	js_each (tune, view->item->tunes)
		if (json_object_get(tune, "program"))
			return true;
	return false;
}

/* Suggested commands name the store that this explanation was read from, so that their results end up there. */
static void next_complete(const struct explain_view *view, json_t *finding) {
	static const char *const storing[] = {"sweetspot sweep ", "sweetspot compare ", "sweetspot tune "};
	const char *next = js_string_or(finding, "next", NULL), *store = opt_get(view->args, "store", NULL);
	/* Its code is not known here, or needs its whole command line, so that no short command can measure it again. */
	if (view->item->table || is_program(view)) {
		json_object_set_new(finding, "next", json_null());
		return;
	}
	for (size_t i = 0; next && store && i < sizeof storing / sizeof *storing; i++) {
		if (strncmp(next, storing[i], strlen(storing[i])) != 0)
			continue;
		mem_auto char *quoted = program_quote(store);
		json_object_set_new(finding, "next", json_sprintf("%s --store %s", next, quoted));
		return;
	}
}

static void nexts_complete(const struct explain_view *view, const json_t *list) {
	js_each (one, list)
		next_complete(view, one);
}

/* The findings of the whole study. */
static json_t *findings_of(const struct explain_view *view, const char *name,
                           void (*examine)(struct findings *findings, const struct study *study)) {
	if (view->other)
		return known(view, name);
	struct findings *findings = findings_new();
	examine(findings, view->study);
	json_t *json = findings_json(findings);
	nexts_complete(view, json);
	findings_free(findings);
	return json;
}

/* Does an effect say what the rows of a search show, which lie on no curve? */
static bool has_effect(const json_t *result) {
	js_each (effect, json_object_get(result, "effects"))
		if (js_bool_or(effect, "known", false) &&
		    json_number_value(json_array_get(json_object_get(effect, "ci"), 0)) > 1)
			return true;
	return false;
}

static bool has_law(const json_t *result) {
	js_each (one, json_object_get(result, "scaling"))
		if (json_is_string(json_object_get(one, "law")))
			return true;
	return false;
}

/* A table that gets no statement is told why. */
static void silence_add(const struct explain_view *view, json_t *result) {
	if (!view->item->table || has_effect(result) || has_law(result) ||
	    json_array_size(json_object_get(result, "readings")) || json_array_size(json_object_get(result, "diagnoses")))
		return;
	if (view->other) {
		json_object_set(result, "silence", json_object_get(view->other, "silence"));
		return;
	}
	mem_auto char *why = reading_silence(view->study);
	json_object_set_new(result, "silence", json_string(why));
}

/* How many configurations of a table are as fast as the fastest one, as far as their noise tells. */
static void ties_add(const struct explain_view *view, size_t winner, json_t *result) {
	const struct study *study = view->study;
	json_int_t ties = 0;
	for (size_t r = 0; r < study_rows(study) && view->item->table && winner != SIZE_MAX; r++)
		ties += r != winner && study_usable(study, r) && study_same_problem(study, r, winner) &&
		        study_row(study, r)->value <= study_row(study, winner)->value * (1 + study_noise(study));
	json_object_set_new(result, "as_fast", ties ? json_integer(ties) : NULL);
}

/* A table may leave open what no finding above low has answered. */
static void decide_add(const struct explain_view *view, json_t *result) {
	if (!view->item->table)
		return;
	js_each (one, json_object_get(result, "diagnoses"))
		if (strcmp(js_string_or(one, "confidence", "low"), "low") != 0 &&
		    strcmp(js_string_or(one, "name", ""), "impossible_time") != 0)
			return;
	json_t *decide = view->other ? known(view, "decide") : reading_decide(view->study);
	json_object_set_new(result, "decide", decide);
}

static void explain_table_clear(struct explain_table *table) {
	for (size_t p = 0; p < GP_DIMS_MAX; p++)
		free(table->at[p]);
	response_free(table->response);
	free(table->row);
	free(table->level);
	free(table->cost);
	free(table->deviation);
	free(table->over);
}

/* A part that is NULL has nothing to say, and is not set. */
json_t *explain_result(const struct explain_view *view) {
	static const char *const told[] = {"worth", "not_needed", "other_work", "evaluations", "space"}; /* by tune */
	const struct study *study = view->study;
	struct explain_table table;
	size_t winner = winner_of(view), baseline = baseline_of(view), out = study_left_out(study);
	json_t *result = json_pack(
		"{s:s,s:s,s:O,s:o,s:s,s:I,s:I,s:o,s:O*,s:O*,s:O*,s:o*,s:o,s:o}", "kernel", study_kernel(study), "device",
		study_device(study), "problem", view->problem, "problems", problems_json(view), "objective", view->objective,
		"configurations", (json_int_t)(study_rows(study) + out), "failures", (json_int_t)study_failures(study), "noise",
		js_number(study_noise(study)), "machine", view->item->machine, "table", view->item->table, "source",
		view->item->producer, "left_out", out ? json_integer((json_int_t)out) : NULL, "winner",
		setup_json(view, winner, json_object_get(view->tune, "best")), "baseline",
		setup_json(view, baseline, json_object_get(view->tune, "baseline")));
	speedup_add(result, view, winner, baseline);
	for (size_t i = 0; i < sizeof told / sizeof *told; i++)
		json_object_set(result, told[i], json_object_get(view->tune, told[i]));
	json_object_set(result, "variables", json_object_get(json_object_get(view->tune, "program"), "variables"));
	explain_table_make(&table, view);
	explain_path_add(view, &table, winner, baseline, result);
	nexts_complete(view, json_object_get(result, "experiments"));
	if (view->item->table || is_program(view))
		json_object_del(result, "experiments");
	json_object_set_new(result, "scaling", explain_scaling(view));
	explain_effects_add(view, &table, is_undecided(view) ? SIZE_MAX : winner, baseline, result);
	explain_table_clear(&table);
	json_object_set_new(result, "drivers", explain_drivers(view, winner, baseline));
	json_object_set_new(result, "roofline", explain_roofline(view, winner, baseline));
	js_auto json_t *readings = findings_of(view, "readings", readings_examine);
	/* The smallest team is not the best one where each member has work of its own. */
	if (!view->item->table || !(reading_work_each(study) || js_named(readings, "weak")))
		json_object_set_new(result, "sizes", view->sizes ? json_incref(view->sizes) : explain_sizes(view));
	json_object_set_new(result, "pareto", explain_pareto(view));
	json_object_set(result, "readings", json_array_size(readings) ? readings : NULL);
	json_object_set_new(result, "diagnoses", findings_of(view, "diagnoses", findings_examine));
	ties_add(view, winner, result);
	silence_add(view, result);
	decide_add(view, result);
	return result;
}
