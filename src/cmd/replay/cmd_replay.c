/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "src/app/cmd.h"
#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/replay/replay_impl.h"
#include "src/cmd/tune/options.h"
#include "tuner/replay/threads.h"

/* A word that looks like a number is a word if the space contains it as a word, and otherwise a number. */
static json_t *value_read(const struct space *space, const char *name, const char *text) {
	int param = space_param_find(space, name);
	for (size_t i = 0; param >= 0 && i < space_param_values(space, (size_t)param); i++)
		if (value_equal(space_param_value(space, (size_t)param, i), value_word(text)))
			return json_string(text);
	return value_json(value_parse(text));
}

static int word_read(const struct space *space, char *word, json_t *config, struct err *err) {
	char *equals = strchr(word, '=');
	if (!equals || equals == word)
		return err_set(err, ERR_USAGE, "write --baseline 'P=V ..'", "\"%.100s\" does not give a value", word);
	*equals = '\0';
	if (json_object_set_new(config, word, value_read(space, word, equals + 1)))
		return err_set(err, ERR_USAGE, NULL, "a name is not UTF-8 text");
	return 0;
}

static int words_read(const struct space *space, char *words, json_t *config, struct err *err) {
	char *rest = NULL;
	for (char *word = strtok_r(words, ", \t\n", &rest); word; word = strtok_r(NULL, ", \t\n", &rest))
		if (word_read(space, word, config, err))
			return -1;
	return 0;
}

/* Reads "P=V ..", separated by spaces or commas. ERR_USAGE if the space does not have such a configuration. */
static int replay_baseline_read(const char *words, const struct record *record, uint64_t *index, struct err *err) {
	mem_auto char *list = mem_strdup(words);
	js_auto json_t *config = json_object();
	int failed =
		words_read(record->space, list, config, err) || space_config_read(record->space, config, NULL, index, err)
			? err_prefix(err, "--baseline")
			: 0;
	if (failed && !*err->hint)
		err_hint(err, "it must be a configuration of the space, with all of its parameters");
	return failed;
}

/* A value as the file has it. */
static json_t *shown_json(const struct record *record, double value) {
	return js_number(record_shown(record, value));
}

static json_t *space_json_of(const struct record *record) {
	uint64_t all = space_valid(record->space);
	return json_pack("{s:o,s:I,s:I,s:I,s:o,s:o,s:o,s:o}", "cartesian", js_number(space_cartesian(record->space)),
	                 "configurations", (json_int_t)all, "valid", (json_int_t)record->correct, "failed",
	                 (json_int_t)(all - record->correct), "optimum", shown_json(record, record->optimum), "median",
	                 shown_json(record, record->median), "worst", shown_json(record, record->worst), "best",
	                 space_config_json(record->space, record->best));
}

/* In words. */
static const char *replay_chosen_by(const struct replay *run) {
	return isnan(run->noise) ? "the least value" : "repeats of the leaders";
}

/* null: nothing worked. */
static json_t *chosen_json(const struct record *record, const struct replay *run) {
	if (run->chosen.times == 0)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:I,s:s}", "config", space_config_json(record->space, run->chosen.index), "value",
	                 shown_json(record, record->rows[run->chosen.index].value), "measured",
	                 shown_json(record, run->chosen.value), "measurements", (json_int_t)run->chosen.times, "by",
	                 replay_chosen_by(run));
}

static json_t *evaluations_json(const struct record *record, const struct replay *run, bool noisy) {
	json_t *list = json_array();
	double best = NAN;
	for (size_t i = 0; i < run->count; i++) {
		const struct replay_step *step = &run->steps[i];
		best = fmin(best, step->value);
		json_t *one = json_pack("{s:o,s:o,s:o,s:o}", "config", space_config_json(record->space, step->index), "value",
		                        shown_json(record, step->value), "best", shown_json(record, best), "seconds",
		                        js_number(step->seconds));
		if (noisy)
			json_object_set_new(one, "measured", shown_json(record, step->measured));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *runs_json(const struct replay_output *output) {
	json_t *list = json_array();
	for (size_t i = 0; i < output->count; i++)
		if (output->played[i])
			json_array_append_new(list,
			                      json_pack("{s:I,s:o,s:o}", "seed", (json_int_t)(output->seed + i), "evaluations",
			                                evaluations_json(output->record, &output->runs[i], output->noise > 0),
			                                "chosen", chosen_json(output->record, &output->runs[i])));
	return list;
}

static json_t *replay_output_json(const struct replay_output *output) {
	const struct record *record = output->record;
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:f,s:b,s:o,s:o}", "schema", "sweetspot-replay/1",
	                 "file", output->path, "format", record->format, "kernel", record->kernel, "device", record->device,
	                 "problem", record->problem, "objective", record->objective, "unit", record->unit, "direction",
	                 record->more ? "maximize" : "minimize", "strategy", output->strategy, "noise", output->noise,
	                 "interrupted", output->interrupted, "space", space_json_of(record), "runs", runs_json(output));
}

enum { DEFAULT_EVALUATIONS = 200 };

static const struct opt options[] = {
	OPT_GROUP("Search"),
	{"strategy", 0, "NAME", "search strategy, see `list strategies` (auto)", 0},
	{"budget", 'b', "150e|90s", "evaluations, or seconds as recorded (200e)", 0},
	{"noise", 0, "20%", "add noise to values; remeasure the leaders at the end", 0},
	OPT_GROUP("Prior knowledge"),
	{"baseline", 0, "'P=V ..'", "configuration to evaluate first", 0},
	OPT_GROUP("Output"),
	{"output", 'o', "FILE", "write JSON to FILE, and the table to stdout", 0},
	{0},
};

/* The task of all repeats, and the results of each. */
struct session {
	struct app *app;
	struct replay_task task;
	double gain; /* the argument of --stop-when */
	bool verbose;
	size_t count;
	struct replay *runs;
	bool *played;
	struct err *errs;
	double begun;
};

/* The context of one repeat in its callback. */
struct repeat {
	const struct session *session;
	uint64_t seed;
	char phase[256]; /* the last one that was printed */
};

static void phase_note(struct repeat *repeat, const struct search *search, size_t evaluations) {
	const char *phase = search_phase(search);
	if (!phase || strncmp(phase, repeat->phase, sizeof repeat->phase - 1) == 0)
		return;
	snprintf(repeat->phase, sizeof repeat->phase, "%s", phase);
	ui_note(app_ui(repeat->session->app), "seed %llu, after %zu: %s", (unsigned long long)repeat->seed, evaluations,
	        repeat->phase);
}

static void choice_note(const struct session *session, uint64_t seed, const struct replay *run) {
	const char *by = replay_chosen_by(run);
	if (run->chosen.times && !isnan(run->noise))
		ui_note(app_ui(session->app),
		        "seed %llu: chosen by %s; a value has a noise of %.1f %%, the chosen one %zu values",
		        (unsigned long long)seed, by, 100 * run->noise, run->chosen.times);
	else
		ui_note(app_ui(session->app), "seed %llu: chosen by %s", (unsigned long long)seed, by);
}

static bool enough(void *ctx, const struct search *search, const struct replay *replay) {
	struct repeat *repeat = ctx;
	const struct session *session = repeat->session;
	if (session->verbose)
		phase_note(repeat, search, replay->count);
	return *app_interrupt(session->app) ||
	       stop_when_holds(session->gain, search, replay_most(&session->task) - replay->count);
}

static void play(void *ctx, size_t i) {
	struct session *session = ctx;
	struct repeat repeat = {.session = session, .seed = session->task.seed + i};
	struct replay_task task = session->task;
	task.seed = repeat.seed;
	task.enough = enough;
	task.ctx = &repeat;
	if (*app_interrupt(session->app))
		return;
	session->played[i] = !replay_run(&task, &session->runs[i], &session->errs[i]);
	if (session->verbose && session->played[i])
		choice_note(session, repeat.seed, &session->runs[i]);
}

static bool watch(void *ctx, size_t done) {
	struct session *session = ctx;
	double spent = sys_now() - session->begun;
	if (session->verbose) /* the notes of the repeats go to stderr instead */
		return *app_interrupt(session->app) != 0;
	if (done)
		ui_progress(app_ui(session->app), "replay  %zu of %zu repeats, %.0f s left", done, session->count,
		            spent / (double)done * (double)(session->count - done));
	else
		ui_progress(app_ui(session->app), "replay  0 of %zu repeats", session->count);
	return *app_interrupt(session->app) != 0;
}

static int document_write(const struct replay_output *output, const char *path, struct err *err) {
	mem_auto char *text = NULL;
	size_t size = 0;
	js_auto json_t *json = replay_output_json(output);
	FILE *memory = open_memstream(&text, &size);
	int failed = memory ? js_write(json, memory) : -1;
	if (memory)
		fclose(memory);
	failed = failed ? err_set(err, ERR_FAILED, NULL, "out of memory") : sys_write_file(path, text, size, err);
	return failed;
}

static int show(const struct replay_output *output, struct ui *ui, const struct opt_args *args, struct err *err) {
	const char *path = opt_get(args, "output", NULL);
	bool to_file = path && strcmp(path, "-") != 0;
	if (to_file && document_write(output, path, err))
		return -1;
	if (!to_file && (path || opt_has(args, "json"))) {
		json_t *json = replay_output_json(output);
		js_print(json);
	} else if (!opt_has(args, "json")) {
		replay_output_print(output, ui, stdout);
	}
	return 0;
}

static int finish(struct session *session, const struct opt_args *args, struct err *err) {
	const struct replay_output output = {
		.record = session->task.record,
		.path = opt_word(args, 0),
		.strategy = session->task.strategy->name,
		.runs = session->runs,
		.played = session->played,
		.count = session->count,
		.seed = session->task.seed,
		.interrupted = *app_interrupt(session->app) != 0,
		.noise = session->task.noise,
	};
	for (size_t i = 0; i < session->count; i++)
		if (session->errs[i].code != ERR_OK) {
			*err = session->errs[i];
			return -1;
		}
	if (show(&output, app_ui(session->app), args, err))
		return -1;
	return output.interrupted ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

/* With --verbose one repeat runs at a time, so that its notes stay together. */
static int session_run(struct session *session, size_t jobs, const struct opt_args *args, struct err *err) {
	const struct replay_threads_work work = {.count = session->count, .work = play, .watch = watch, .ctx = session};
	session->runs = mem_alloc(session->count, sizeof *session->runs);
	session->played = mem_alloc(session->count, sizeof *session->played);
	session->errs = mem_alloc(session->count, sizeof *session->errs);
	session->begun = sys_now();
	replay_threads_run(&work, session->verbose ? 1 : jobs);
	ui_progress_end(app_ui(session->app));
	int failed = finish(session, args, err);
	for (size_t i = 0; i < session->count; i++)
		replay_clear(&session->runs[i]);
	free(session->runs);
	free(session->played);
	free(session->errs);
	return failed;
}

static int play_file(struct app *app, const struct opt_args *args, const struct replay_settings *settings,
                     struct err *err) {
	struct session session = {.app = app, .verbose = opt_has(args, "verbose"), .count = settings->repeat};
	const struct strategy *strategy;
	double noise = 0;
	if (tune_strategy_read(opt_get(args, "strategy", "auto"), &strategy, err) ||
	    stop_when_read(args, &session.gain, err) || opt_share(args, "noise", &noise, err))
		return -1;
	struct record *record = replay_record(opt_word(args, 0), &settings->choice, err);
	struct arena *arena = arena_new();
	const char *baseline = opt_get(args, "baseline", NULL);
	uint64_t start;
	int failed = record ? 0 : -1;
	if (record)
		replay_settings_task(settings, record, arena, app_ui(app), &session.task);
	if (record && baseline) {
		failed = replay_baseline_read(baseline, record, &start, err);
		session.task.start = &start;
	}
	if (!failed) {
		session.task.strategy = strategy;
		session.task.seed = settings->seed;
		session.task.noise = noise;
		if (!opt_has(args, "budget"))
			session.task.evaluations = DEFAULT_EVALUATIONS;
		if (session.gain > 0 && !strategy->promise)
			ui_warn(app_ui(app), "--strategy auto can predict it",
			        "%s cannot predict its gain, so it ignores --stop-when", strategy->name);
		failed = session_run(&session, settings->jobs, args, err);
	}
	arena_free(arena);
	record_free(record);
	return failed;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	struct replay_settings settings = {0};
	if (opt_words(args) != 1)
		return err_set(err, ERR_USAGE, "sweetspot replay SPACE.json.gz --strategy random",
		               opt_words(args) ? "give one recorded space at a time" : "give a recorded space");
	int failed = replay_settings_read(args, 1, &settings, err);
	if (!failed)
		failed = play_file(app, args, &settings, err);
	replay_settings_clear(&settings);
	return failed;
}

static const struct opt *const tables[] = {options, stop_when_options, replay_options, NULL};

const struct cmd cmd_replay = {
	.name = "replay",
	.summary = "run a search strategy on a recorded space",
	.usage = "replay [OPTION...] SPACE.json[.gz]",
	.options = tables,
	.notes = "SPACE is a cache file of Kernel Tuner, a T4 or KTT result, or a table, which\n"
			 "answers evaluations; failed ones count. A seed gives the same sequence again.",
	.examples = "sweetspot replay space.json.gz --strategy auto --budget 100e --repeat 3",
	.run = run,
};
