/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps what the runs of a program did, and tells whether the recommended setting does the work of the baseline. */
#include "base/json/js.h"
#include "tuner/result/result.h"
#include "tuner/program/program_impl.h"
#include "tuner/same/same.h"

enum { CONFIGS = 2000 /* whose evidence is kept; the finals bring that of the finalists again */ };

static json_t *list_of(const struct program *program, const json_t *config) {
	mem_auto char *key = program_key(config);
	return json_object_get(program->seen, key);
}

static void seen_thin(struct program *program) {
	json_t *baseline = json_incref(json_object_get(program->seen, program->baseline_key));
	json_object_clear(program->seen);
	if (baseline)
		json_object_set_new(program->seen, program->baseline_key, baseline);
}

void program_seen_add(struct program *program, const json_t *config, const struct trial_result *result) {
	const json_t *evidence = json_object_get(result->reply, "evidence");
	const char *unchecked = js_string_or(result->reply, "unchecked", NULL);
	if (unchecked && !program->unchecked)
		program->unchecked = mem_strdup(unchecked);
	if (result->status != TRIAL_CORRECT || !json_is_array(evidence))
		return;
	if (!list_of(program, config)) {
		mem_auto char *key = program_key(config);
		if (json_object_size(program->seen) >= CONFIGS)
			seen_thin(program);
		json_object_set_new(program->seen, key, json_array());
	}
	same_add(list_of(program, config), evidence);
}

static struct same_case case_of(const struct program *program, const json_t *config) {
	return (struct same_case){.base_config = program->baseline,
	                          .best_config = config,
	                          .metric = program->spec.metric,
	                          .base = list_of(program, program->baseline),
	                          .best = list_of(program, config)};
}

static char *first_of(json_t *clauses) {
	const char *first = json_string_value(json_array_get(clauses, 0));
	char *text = first ? mem_strdup(first) : NULL;
	json_decref(clauses);
	return text;
}

char *program_files_differ(const struct program *program, const json_t *config) {
	const struct same_case one = case_of(program, config);
	return one.base && one.best ? first_of(same_files(&one)) : NULL;
}

bool program_writes_files(const struct program *program) {
	const struct same_case one = case_of(program, program->baseline);
	return one.base && same_files_count(&one) > 0;
}

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

/* Why nothing was found the same. */
static const char *unchecked_why(const struct program *program, const struct same_case *one, bool files_differ) {
	if (program->unchecked)
		return program->unchecked;
	if (!same_is_known(one))
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

/* Says what was compared without an option that asks for it. */
static json_t *compared_of(const struct program *program, const struct same_case *one) {
	bool known = same_is_known(one);
	json_int_t runs = (json_int_t)same_runs(one->best);
	const char *some = known && !program->spec.expect_any ? output_except(one) : NULL;
	const char *except = one->metric ? "the metric" : NULL;
	bool alike = known && (json_int_t)same_outputs(one) == runs;
	js_auto json_t *differs = known ? same_files(one) : NULL;
	bool differ = json_array_size(differs) > 0;
	mem_auto char *files = known && !differ ? same_files_how(one) : NULL;
	json_t *checked =
		alike || some ? json_pack("{s:s,s:I,s:s*}", "how", "output same", "runs", runs, "except", alike ? except : some)
		: files       ? json_pack("{s:s,s:I}", "how", "files same", "runs", runs)
					  : json_pack("{s:s,s:i,s:o}", "how", "nothing", "runs", 0, "why",
	                              js_text(unchecked_why(program, one, differ)));
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

void program_work_tell(const struct program *program, const struct same_case *one, int64_t runs, json_t *result) {
	json_object_set_new(result, "checked", checked_of(program, one, runs));
	if (!same_is_known(one))
		return;
	json_object_set_new(result, "evidence", evidence_of(program, one));
	if (verdict_of(result) == VERDICT_FASTER && !js_bool_or(json_object_get(result, "evidence"), "same_work", true))
		verdict_set(result, VERDICT_NOT_SAME);
}

void program_work_add(const struct program *program, json_t *result) {
	const json_t *config = js_at(result, "best.config");
	if (!config)
		return;
	const struct same_case one = case_of(program, config);
	program_work_tell(program, &one, js_int_or(json_object_get(result, "checked"), "runs", 0), result);
}
