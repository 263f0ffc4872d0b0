/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/replay/replay_impl.h"

#include <unistd.h>

#include "base/json/js.h"
#include "base/tree.h"
#include "src/cmd/tune/options.h"
#include "tuner/replay/threads.h"
#include "tuner/study/study.h"

enum { REPEAT_MAX = 100000, JOBS_MAX = 1024, BATCH_MAX = 4096 };

const struct opt replay_options[] = {
	OPT_GROUP("Search"),
	{"repeat", 0, "N", "number of repeats (replay: 1, score: 25)", 0},
	{"seed", 0, "N", "random seed of the first repeat, then N + 1, .. (1)", 0},
	{"batch", 0, "N", "configurations proposed at a time (1)", 0},
	{"jobs", 'j', "N", "repeats run in parallel (number of cores)", 0},
	{"minimize", 0, "NAME", "objective of which less is better", 0},
	{"maximize", 0, "NAME", "objective of which more is better", 0},
	{"unit", 0, "U", "unit of the objective, where the file does not tell", 0},
	{"value", 0, "COLUMN", "the file is a table, and this is its objective", 0},
	{"parameters", 0, "A,B,..", "its parameters (all other columns)", 0},
	OPT_GROUP("Prior knowledge"),
	{"from", 0, "FILE", "earlier results: a recorded space or a folder", OPT_REPEAT},
	{"counters", 0, NULL, "give the strategy the recorded counters, too", 0},
	{"no-counters", 0, NULL, "give it times only (the default)", 0},
	{0},
};

/* A result of T4's form; samples NULL: it failed. New reference. */
static json_t *result_json(const json_t *config, const struct study_row *row, const char *objective, double scale) {
	bool time = strcmp(objective, "time") == 0;
	double value = row ? scale > 0 ? 1 / (row->value * scale) : row->value * (time ? 1e3 : 1) : 0;
	return json_pack("{s:O,s:s,s:[{s:s,s:o,s:s}],s:[s]}", "configuration", config, "invalidity",
	                 row ? "correct" : "runtime", "measurements", "name", objective, "value",
	                 row ? js_number(value) : json_null(), "unit", time ? "ms" : "", "objectives", objective);
}

/* The rows of a table as T4 results. New reference; NULL if they are not one space. */
static json_t *results_json(struct study_set *set, const char *path, struct err *err) {
	struct study_item *item = study_set_count(set) ? study_set_at(set, 0) : NULL;
	const char *value = js_string_or(item ? item->table : NULL, "value", "");
	if (!item || study_set_count(set) > 1)
		return err_null(err_set(err, ERR_USAGE, "write a file for each kernel", "%s: it has %zu kernels", path,
		                        study_set_count(set)));
	bool rate = js_bool_or(item->table, "rate", false);
	bool unitless = !rate && !*js_string_or(js_named(json_object_get(item->producer, "columns"), value), "unit", "");
	const char *objective = unitless ? value : rate ? "score" : "time";
	double scale = rate ? js_real_or(item->table, "scale", 1) : 0;
	json_t *results = json_array();
	study_machine(item->study, item->machine, NULL, item->noise);
	study_limit(item->study, SIZE_MAX);
	study_finish(item->study);
	for (size_t r = 0; r < study_rows(item->study); r++) {
		if (!study_same_problem(item->study, 0, r)) {
			err_set(err, ERR_USAGE, "keep the rows of one of them", "%s: it has several problems, such as %s", path,
			        study_columns(item->study) ? study_column(item->study, 0)->name : "");
			json_decref(results);
			return NULL;
		}
		const struct study_row *row = study_row(item->study, r);
		json_array_append_new(results, result_json(row->config, row, objective, scale));
	}
	js_each (config, item->failed)
		json_array_append_new(results, result_json(config, NULL, objective, scale));
	return json_pack("{s:{s:s},s:o}", "metadata", "benchmark", item->kernel, "results", results);
}

/* A table, or what another producer wrote (doc/tables.md). NULL with err. */
static struct record *table_record(const char *path, const struct record_choice *choice, struct err *err) {
	const struct study_reading reading = {.objective = choice ? choice->objective : NULL,
	                                      .more = choice && choice->more,
	                                      .unit = choice ? choice->unit : NULL};
	struct study_set *set = study_set_new("time");
	int failed = study_set_file(set, path, &reading, err);
	js_auto json_t *results = failed ? NULL : results_json(set, path, err);
	mem_auto char *text = results ? json_dumps(results, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
	struct record *record = text ? record_parse(text, strlen(text), path, err) : NULL;
	if (record)
		record->format = "table";
	study_set_free(set);
	return record;
}

struct record *replay_record(const char *path, const struct record_choice *choice, struct err *err) {
	struct record *record = record_read(path, choice, err);
	if (!record && err->code == ERR_USAGE) {
		*err = (struct err){.code = ERR_OK};
		record = choice && choice->value ? record_table(path, choice, err) : table_record(path, choice, err);
	}
	if (record || err->code != ERR_USAGE || access(path, F_OK) == 0)
		return record;
	if (strpbrk(path, "*?["))
		err_set(err, ERR_USAGE, NULL, "no file matches %s", path);
	return err_null(err_hint(
		err, "record a space with `sweetspot export KERNEL --format kt -o SPACE.json`, or use one of another tuner"));
}

static int from_add(const char *path, bool folder, struct replay_settings *settings, struct err *err) {
	struct record *record = replay_record(path, &settings->choice, err);
	if (!record)
		return -1;
	settings->from = mem_grow(settings->from, settings->from_count + 1, sizeof *settings->from);
	settings->from[settings->from_count++] = (struct replay_from){record, mem_strdup(path), folder};
	return 0;
}

/* Every file of a folder is a recorded space. */
static int from_folder(const char *path, struct replay_settings *settings, struct err *err) {
	size_t count;
	mem_auto char **paths = tree_files(path, "", &count);
	int failed =
		count ? 0 : err_set(err, ERR_USAGE, "--from takes a recorded space or a folder of them", "%s is empty", path);
	for (size_t i = 0; i < count; i++) {
		failed = failed || from_add(paths[i], true, settings, err);
		free(paths[i]);
	}
	return failed;
}

static int from_read(const struct opt_args *args, struct replay_settings *settings, struct err *err) {
	for (size_t i = 0; i < opt_count(args, "from"); i++) {
		const char *path = opt_at(args, "from", i);
		if (tree_is_folder(path) ? from_folder(path, settings, err) : from_add(path, false, settings, err))
			return -1;
	}
	return 0;
}

static int counters_read(const struct opt_args *args, bool *counters, struct err *err) {
	*counters = opt_has(args, "counters");
	if (*counters && opt_has(args, "no-counters"))
		return err_set(err, ERR_USAGE, "leave one of them out", "--counters and --no-counters exclude each other");
	return 0;
}

/* Reads the options that describe the objective and the columns of a table. */
static int choice_read(const struct opt_args *args, struct replay_settings *settings, struct err *err) {
	const char *named = opt_get(args, "maximize", opt_get(args, "minimize", NULL));
	const char *list = opt_get(args, "parameters", NULL), *value = opt_get(args, "value", NULL);
	char *rest = NULL;
	if (opt_has(args, "maximize") && opt_has(args, "minimize"))
		return err_set(err, ERR_USAGE, "leave one of them out", "--minimize and --maximize exclude each other");
	if (value && named && strcmp(value, named) != 0)
		return err_set(err, ERR_USAGE, "leave one of them out", "--value and --%s name two columns",
		               opt_has(args, "maximize") ? "maximize" : "minimize");
	if (list && !value && !named)
		return err_set(err, ERR_USAGE, "add --value COLUMN", "--parameters does not say which column is the value");
	settings->choice = (struct record_choice){.objective = named,
	                                          .more = opt_has(args, "maximize"),
	                                          .unit = opt_get(args, "unit", NULL),
	                                          .value = value  ? value
	                                                   : list ? named
	                                                          : NULL};
	settings->parameter_list = mem_strdup(list ? list : "");
	for (char *word = strtok_r(settings->parameter_list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		settings->parameters = mem_grow(settings->parameters, settings->choice.parameter_count + 1, sizeof(char *));
		settings->parameters[settings->choice.parameter_count++] = word + strspn(word, " ");
	}
	settings->choice.parameters = settings->parameters;
	return 0;
}

int replay_settings_read(const struct opt_args *args, size_t repeat, struct replay_settings *settings,
                         struct err *err) {
	const char *budget = opt_get(args, "budget", NULL);
	long long seed, repeats, jobs, batch;
	*settings = (struct replay_settings){0};
	if (choice_read(args, settings, err) || opt_int(args, "seed", 0, INT64_MAX - REPEAT_MAX, 1, &seed, err) ||
	    opt_int(args, "repeat", 1, REPEAT_MAX, (long long)repeat, &repeats, err) ||
	    opt_int(args, "jobs", 1, JOBS_MAX, (long long)replay_threads_cores(), &jobs, err) ||
	    opt_int(args, "batch", 1, BATCH_MAX, 1, &batch, err) || counters_read(args, &settings->counters, err) ||
	    (budget && tune_budget_read(budget, &settings->budget, err)) || from_read(args, settings, err))
		return -1;
	tune_budget_alone(&settings->budget);
	settings->seed = (uint64_t)seed;
	settings->repeat = (size_t)repeats;
	settings->jobs = (size_t)jobs;
	settings->batch = (size_t)batch;
	return 0;
}

void replay_settings_clear(struct replay_settings *settings) {
	for (size_t i = 0; i < settings->from_count; i++) {
		record_free(settings->from[i].record);
		free(settings->from[i].path);
	}
	free(settings->from);
	free(settings->parameters);
	free(settings->parameter_list);
	*settings = (struct replay_settings){0};
}

static void left_out(const struct replay_from *from, struct ui *ui) {
	if (from->folder)
		ui_note(ui, "%s is left out, because it shares no configuration with the space to search", from->path);
	else
		ui_warn(ui, "spaces are joined by parameters with the same names and values",
		        "%s is left out, because it shares no configuration with the space to search", from->path);
}

void replay_settings_task(const struct replay_settings *settings, const struct record *record, struct arena *arena,
                          struct ui *ui, struct replay_task *task) {
	struct strategy_source *sources = arena_alloc(arena, settings->from_count + 1, sizeof *sources);
	size_t count = 0;
	for (size_t i = 0; i < settings->from_count; i++) {
		const struct record *from = settings->from[i].record;
		sources[count] = replay_source(from, record->space, *from->device ? from->device : from->kernel, arena);
		if (sources[count].count)
			count++;
		else
			left_out(&settings->from[i], ui);
	}
	bool counters = settings->counters && record->counter_count;
	*task = (struct replay_task){
		.record = record,
		.evaluations = settings->budget.evaluations,
		.seconds = settings->budget.seconds,
		.batch = settings->batch,
		.sources = sources,
		.source_count = count,
		.counters = counters,
		.outcomes = replay_outcomes(record, counters, arena),
	};
}
