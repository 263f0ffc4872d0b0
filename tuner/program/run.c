/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells whether the recommended setting does the work of the baseline. */
#include <math.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "tuner/program/program_impl.h"
#include "tuner/result/result.h"
#include "tuner/same/same.h"

/* Leaves out what an option has settled already. */
static json_t *differs_of(const struct program *program, const struct same_case *one) {
	const struct program_spec *spec = &program->spec;
	json_t *all = json_array();
	js_auto json_t *left = same_left(one), *files = same_files(one), *output = same_output(one);
	if (!spec->verify && !spec->expect_files) {
		json_array_extend(all, left);
		json_array_extend(all, files);
	}
	if (!spec->verify && !spec->expect_same && !spec->expect_any)
		json_array_extend(all, output);
	return all;
}

static json_t *evidence_of(const struct program *program, const struct same_case *one) {
	json_t *differs = program_is_baseline(program, one->best_config) ? json_array() : differs_of(program, one);
	return json_pack("{s:b,s:o,s:{s:o,s:o}}", "same_work", json_array_size(differs) == 0, "differs", differs,
	                 "processor_s", "baseline", js_number(same_processor(one->base)), "best",
	                 js_number(same_processor(one->best)));
}

/* A single run of the baseline does not tell what repeats, so that it proves something only where nothing differs. */
static bool is_known(const struct same_case *one) {
	if (same_is_known(one))
		return true;
	if (!same_shows(one->base) || same_runs(one->best) == 0)
		return false;
	js_auto json_t *left = same_left(one), *files = same_files(one), *output = same_output(one);
	return json_array_size(left) + json_array_size(files) + json_array_size(output) == 0;
}

/* Why nothing was found the same. */
static const char *unchecked_why(const struct program *program, const struct same_case *one, bool known,
                                 bool files_differ) {
	if (program->unchecked)
		return program->unchecked;
	if (!known)
		return "too few runs to tell what repeats";
	if (files_differ)
		return "its files differ";
	if (same_prints_more(one))
		return "its output differs between runs or settings";
	return one->metric ? "it prints nothing but the metric" : "it prints nothing";
}

/* Names the part of the output that was not compared, where all that repeats was found to be the same; NULL: the output
 * says nothing.
 */
static const char *output_except(const struct same_case *one) {
	js_auto json_t *differs = same_output(one);
	bool same = json_array_size(differs) == 0 && same_prints_numbers(one);
	return !same         ? NULL
	       : one->metric ? "the metric, times and what changes from run to run"
	                     : "times and what changes from run to run";
}

/* Says what was compared without an option that asks for it. A baseline that stays has only its own runs to be compared
 * with: those that differ from all others are. */
static json_t *compared_of(const struct program *program, const struct same_case *all) {
	struct same_case own = *all;
	const struct same_case *one = &own;
	size_t kinds = json_array_size(all->base);
	js_auto json_t *others = all->base == all->best && kinds > 1 ? json_copy((json_t *)all->base) : NULL;
	js_auto json_t *last = others ? json_pack("[O]", json_array_get(others, kinds - 1)) : NULL;
	if (others) {
		json_array_remove(others, kinds - 1);
		own.base = others;
		own.best = last;
	}
	bool known = is_known(all);
	json_int_t runs = (json_int_t)same_runs(all->best);
	const char *some = known && !program->spec.expect_any ? output_except(one) : NULL;
	const char *except = one->metric ? "the metric" : NULL;
	bool alike = known && same_outputs(one) == same_runs(one->best);
	js_auto json_t *differs = known ? same_files(one) : NULL;
	bool differ = json_array_size(differs) > 0;
	mem_auto char *files = known && !differ ? same_files_how(one) : NULL;
	json_t *checked =
		alike || some ? json_pack("{s:s,s:I,s:s*}", "how", "output same", "runs", runs, "except", alike ? except : some)
		: files       ? json_pack("{s:s,s:I}", "how", "files same", "runs", runs)
					  : json_pack("{s:s,s:i,s:o}", "how", "nothing", "runs", 0, "why",
	                              js_text(unchecked_why(program, all, known, differ)));
	if (files)
		json_object_set_new(checked, "files", js_text(files));
	return checked;
}

/* runs: of a comparison that counts them; 0: those that are known here. */
static json_t *checked_of(const struct program *program, const struct same_case *one, int64_t runs) {
	const struct program_spec *spec = &program->spec;
	int64_t seen = runs > 0 ? runs : (int64_t)same_runs(one->best);
	if (spec->verify && !program->unchecked)
		return json_pack("{s:s,s:I,s:s}", "how", "verify", "runs", (json_int_t)seen, "by", spec->verify);
	if (spec->expect_same)
		return json_pack("{s:s,s:I}", "how", "output same", "runs", (json_int_t)seen);
	if (spec->expect_files)
		return json_pack("{s:s,s:I}", "how", "files same", "runs", (json_int_t)seen);
	return compared_of(program, one);
}

/* Nobody knows whether what is faster does less. */
static void unverified_set(json_t *result) {
	verdict_set(result, VERDICT_UNDECIDED);
	json_object_set_new(result, "unverified", json_true());
	json_object_set_new(result, "proven", json_false());
}

void program_work_tell(const struct program *program, const struct same_case *one, int64_t runs, json_t *result) {
	const struct program_spec *spec = &program->spec;
	bool told = spec->verify || spec->expect_same || spec->expect_any || spec->expect_files;
	json_object_set_new(result, "checked", checked_of(program, one, runs));
	if (!is_known(one)) {
		if (verdict_of(result) == VERDICT_FASTER && !told)
			unverified_set(result);
		return;
	}
	json_object_set_new(result, "evidence", evidence_of(program, one));
	if (verdict_of(result) == VERDICT_FASTER && !js_bool_or(json_object_get(result, "evidence"), "same_work", true))
		verdict_set(result, VERDICT_NOT_SAME);
}

bool program_other_work(const struct program *program, const json_t *config) {
	const struct same_case one = program_same_case(program, config);
	if (!same_is_known(&one) || program_is_baseline(program, config))
		return false;
	js_auto json_t *differs = differs_of(program, &one);
	return json_array_size(differs) > 0;
}

/* Says what those do otherwise that are left out because of it. */
static void left_out_tell(const struct program *program, json_t *left_out) {
	const struct same_case one = program_same_case(program, json_object_get(left_out, "config"));
	json_object_set_new(left_out, "differs", differs_of(program, &one));
}

void program_work_add(const struct program *program, json_t *result) {
	const json_t *config = js_at(result, "best.config");
	if (json_object_get(result, "other_work"))
		left_out_tell(program, json_object_get(result, "other_work"));
	if (!config)
		return;
	const struct same_case one = program_same_case(program, config);
	program_work_tell(program, &one, js_int_or(json_object_get(result, "checked"), "runs", 0), result);
}

/* Checks what a worker reports of a program's work on GPUs. */
enum { ROWS_MAX = 4096 };

struct fact {
	const char *key;
	json_type type; /* JSON_REAL: a number that is not negative, or null */
};

static bool member_good(const json_t *row, const struct fact *member) {
	const json_t *value = json_object_get(row, member->key);
	if (member->type == JSON_TRUE)
		return json_is_boolean(value);
	if (member->type == JSON_REAL)
		return json_is_null(value) || (json_is_number(value) && json_number_value(value) >= 0);
	if (member->type == JSON_INTEGER)
		return json_is_integer(value) && json_integer_value(value) >= 0;
	return value && json_typeof(value) == member->type;
}

static int rows_check(const json_t *object, const char *key, const struct fact *members, struct err *err) {
	json_t *rows;
	if (!json_object_get(object, key))
		return 0;
	if (js_array(object, key, ROWS_MAX, &rows, err))
		return -1;
	js_each (row, rows)
		for (const struct fact *m = members; m->key; m++)
			if (!member_good(row, m))
				return err_set(err, ERR_FAILED, NULL, "%s[%zu] of the work on GPUs is malformed: %s", key, row_at,
				               m->key);
	return 0;
}

static int texts_check(const json_t *object, const char *key, struct err *err) {
	json_t *rows;
	if (js_array(object, key, ROWS_MAX, &rows, err))
		return -1;
	js_each (row, rows)
		if (!json_is_string(row))
			return err_set(err, ERR_FAILED, NULL, "%s[%zu] of the work on GPUs is malformed", key, row_at);
	return 0;
}

/* Optional: only where kernels were counted. */
static int counts_check(const json_t *work, struct err *err) {
	static const struct fact spreads[] = {{"name", JSON_STRING}, {"unit", JSON_STRING}, {"least", JSON_REAL},
	                                      {"mean", JSON_REAL},   {"most", JSON_REAL},   {NULL, JSON_NULL}};
	js_each (function, json_object_get(work, "functions"))
		if (rows_check(function, "counters", spreads, err) || rows_check(function, "metrics", spreads, err))
			return -1;
	return 0;
}

/* Checks `gpu_work` of a reply in the same way. */
static int program_gpu_check(const json_t *reply, struct err *err) {
	static const struct fact functions[] = {
		{"name", JSON_STRING},      {"calls", JSON_INTEGER},     {"seconds", JSON_REAL},      {"least", JSON_REAL},
		{"mean", JSON_REAL},        {"most", JSON_REAL},         {"grid", JSON_ARRAY},        {"block", JSON_ARRAY},
		{"grid_varies", JSON_TRUE}, {"block_varies", JSON_TRUE}, {"registers", JSON_INTEGER}, {"occupancy", JSON_REAL},
		{NULL, JSON_NULL}};
	static const struct fact copies[] = {{"way", JSON_STRING},   {"count", JSON_INTEGER},    {"bytes", JSON_INTEGER},
	                                     {"seconds", JSON_REAL}, {"pageable", JSON_INTEGER}, {NULL, JSON_NULL}};
	static const struct fact devices[] = {{"device", JSON_INTEGER}, {"name", JSON_STRING},    {"span_s", JSON_REAL},
	                                      {"busy_s", JSON_REAL},    {"kernels_s", JSON_REAL}, {"gaps", JSON_ARRAY},
	                                      {NULL, JSON_NULL}};
	json_t *work;
	if (js_object(reply, "gpu_work", &work, err) || texts_check(work, "notes", err))
		return -1;
	return rows_check(work, "functions", functions, err) || rows_check(work, "copies", copies, err) ||
	               rows_check(work, "devices", devices, err) || counts_check(work, err)
	           ? -1
	           : 0;
}

enum { COUNTERS_MAX = 4096 };
static bool is_text_or_null(const json_t *object, const char *key) {
	const json_t *member = json_object_get(object, key);
	return !member || json_is_null(member) || json_is_string(member);
}

static bool is_number_or_null(const json_t *object, const char *key) {
	const json_t *member = json_object_get(object, key);
	return json_is_number(member) || json_is_null(member);
}

/* An event must have either a value or a reason why there is none. */
static bool event_good(const json_t *event) {
	static const char *const statuses[] = {"counted", "scaled", "simulated", "unavailable"};
	const char *status = js_string_or(event, "status", "");
	size_t known = 0;
	while (known < 4 && strcmp(statuses[known], status) != 0)
		known++;
	bool has_value = json_is_number(json_object_get(event, "value"));
	return known < 4 && *js_string_or(event, "name", "") && is_number_or_null(event, "value") &&
	       has_value == (known < 3) && (has_value || *js_string_or(event, "reason", "")) &&
	       is_text_or_null(event, "unit") && is_text_or_null(event, "source") && is_text_or_null(event, "group") &&
	       is_text_or_null(event, "reason");
}

static bool metric_good(const json_t *metric) {
	return *js_string_or(metric, "name", "") && is_number_or_null(metric, "value") && is_text_or_null(metric, "unit") &&
	       is_text_or_null(metric, "group") && is_text_or_null(metric, "formula") && is_text_or_null(metric, "reason");
}

static int each_check(const json_t *object, const char *key, bool (*good)(const json_t *), struct err *err) {
	json_t *array;
	if (js_array(object, key, COUNTERS_MAX, &array, err))
		return -1;
	for (size_t i = 0; i < json_array_size(array); i++)
		if (!good(json_array_get(array, i)))
			return err_set(err, ERR_FAILED, NULL, "%s[%zu] is malformed", key, i);
	return 0;
}

/* Checks `counters` and `counting` of a reply; returns -1 with err if they are malformed. */
static int program_counters_check(const json_t *reply, struct err *err) {
	json_t *counting;
	int64_t runs;
	if (each_check(reply, "counters", event_good, err) || js_object(reply, "counting", &counting, err))
		return -1;
	return js_int(counting, "runs", 0, INT64_MAX, &runs, err) || each_check(counting, "metrics", metric_good, err) ? -1
	                                                                                                               : 0;
}

/* The worker ends runs that take too long. The tuner waits a little longer and ends a worker that fails to. */
static const double SPARE_SECONDS = 30, LEFT_SPARE_SECONDS = 2, COMMAND_SECONDS = 60, GRACE_SECONDS = 2;
/* Shares of the timed part. Waiting for a CPU does not count, because the configuration may cause it. A limit is
 * several times what a run takes, so only much stolen time explains that it was reached. */
static const double STEAL = 0.02, STEAL_OF_TIMEOUT = 0.25;

enum { COUNT_RUNS = 16 }; /* at most, for counting: worker/program/runner_count.c */
/* A simulated run may take this many time-outs, and some more: worker/program/runner_count.c */
static const double SIMULATION_TIMES = 600, SIMULATION_SECONDS = 60;

static double deadline(const struct program_run *run) {
	double timeout = js_real_or(run->request, "timeout_s", 0), each = timeout;
	double left = js_real_or(run->request, "left_s", 0), side = js_real_or(run->request, "side_s", COMMAND_SECONDS);
	if (!(timeout > 0))
		return left > 0 ? left + LEFT_SPARE_SECONDS : 0;
	each += json_object_get(run->request, "before") ? fmax(timeout, side) : 0;
	each += json_object_get(run->request, "verify") ? fmax(timeout, side) : 0;
	double simulation = run->slow ? SIMULATION_TIMES * timeout + SIMULATION_SECONDS + each : 0;
	double all = (run->runs + (run->counters || run->watch ? COUNT_RUNS : 0)) * each + simulation + SPARE_SECONDS;
	return left > 0 ? fmin(all, left + LEFT_SPARE_SECONDS) : all;
}

static double timed(const json_t *samples) {
	double sum = 0;
	for (size_t i = 0; i < json_array_size(samples); i++)
		sum += json_number_value(json_array_get(samples, i));
	return sum;
}

static int hash_check(const json_t *answer, struct err *err) {
	const char *hash = js_string_or(answer, "hash", NULL);
	bool good = hash && strlen(hash) == SHA256_TEXT - 1 && strncmp(hash, "sha256:", 7) == 0 &&
	            strspn(hash + 7, "0123456789abcdef") == SHA256_TEXT - 1 - 7;
	return good ? 0 : err_set(err, ERR_FAILED, NULL, "the hash of the output is missing");
}

static void invert(struct trial_result *result) {
	for (size_t i = 0; i < result->sample_count; i++)
		result->samples[i] = 1 / result->samples[i];
	result->least = stats_min(result->samples, result->sample_count);
}

/* A rate so small that its inverse is infinite cannot be compared. */
static int metrics_read(const struct program_run *run, const json_t *answer, struct trial_result *result,
                        struct err *err) {
	size_t runs = result->sample_count;
	if (worker_samples_read(answer, "metrics", result, err))
		return -1;
	if (result->sample_count != runs)
		return err_set(err, ERR_FAILED, NULL, "%zu metrics were reported for %zu runs", result->sample_count, runs);
	if (run->maximize)
		invert(result);
	for (size_t i = 0; i < result->sample_count; i++)
		if (!isfinite(result->samples[i]))
			return err_set(err, ERR_FAILED, NULL, "a metric is too small to be a rate");
	return 0;
}

static int correct_read(const struct program_run *run, const json_t *answer, struct trial_result *result,
                        struct err *err) {
	if (worker_samples_read(answer, "samples", result, err))
		return -1;
	if ((run->metric && metrics_read(run, answer, result, err)) ||
	    (run->objective != TRIAL_OBJECTIVE_TIME && worker_energies_read(answer, run->objective, result, err)))
		return -1;
	if ((run->hash && hash_check(answer, err)) || (run->counters && program_counters_check(answer, err)) ||
	    (run->watch && program_gpu_check(answer, err)))
		return -1;
	result->value = stats_median(result->samples, result->sample_count);
	return 0;
}

static int censored_read(const struct program_run *run, const json_t *answer, struct trial_result *result,
                         struct err *err) {
	double bound = run->metric ? js_real_or(answer, "bound", NAN) : NAN;
	result->value = run->maximize ? 1 / bound : bound;
	if (result->value > 0 && isfinite(result->value))
		return 0;
	if (!(run->limit_s > 0))
		return err_set(err, ERR_FAILED, NULL, "the trial was cut short without a limit");
	result->value = run->limit_s;
	if (json_array_size(json_object_get(answer, "samples")) == 0)
		return 0;
	return worker_samples_read(answer, "samples", result, err);
}

static int run_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	const struct program_run *run = ctx;
	if (worker_status_read(answer, result, err))
		return -1;
	double steal = js_real_or(json_object_get(answer, "noise"), "steal_s", 0);
	if (result->status == TRIAL_TIMEOUT)
		result->disturbed = steal > STEAL_OF_TIMEOUT * js_real_or(run->request, "timeout_s", INFINITY);
	if (result->status != TRIAL_CORRECT && result->status != TRIAL_CENSORED)
		return 0;
	double cut = result->status == TRIAL_CENSORED ? js_real_or(run->request, "cut_s", 0) : 0;
	result->disturbed = steal > STEAL * (timed(json_object_get(answer, "samples")) + cut);
	return result->status == TRIAL_CORRECT ? correct_read(run, answer, result, err)
	                                       : censored_read(run, answer, result, err);
}

int program_run(struct worker *worker, const struct program_run *run, struct trial_result *result, struct err *err) {
	const struct worker_question question = {.request = run->request,
	                                         .timeout_s = deadline(run),
	                                         .grace_s = GRACE_SECONDS,
	                                         .use = run_use,
	                                         .ctx = (void *)run};
	return worker_exchange(worker, &question, result, err);
}
