/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <langinfo.h>
#include <math.h>

#include "base/stats.h"
#include "base/sys.h"
#include "base/json/save.h"
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

/* The task of all repeats, and the results of each. */
struct session {
	struct app *app;
	const char *path;
	struct replay_task task;
	double gain; /* the argument of --stop-when */
	bool verbose;
	size_t count;
	struct replay *runs;
	bool *played;
	struct err *errs;
	double begun;
};

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

static json_t *runs_json(const struct session *session) {
	json_t *list = json_array();
	for (size_t i = 0; i < session->count; i++)
		if (session->played[i])
			json_array_append_new(
				list, json_pack("{s:I,s:o,s:o}", "seed", (json_int_t)(session->task.seed + i), "evaluations",
			                    evaluations_json(session->task.record, &session->runs[i], session->task.noise > 0),
			                    "chosen", chosen_json(session->task.record, &session->runs[i])));
	return list;
}

static json_t *replay_json(const struct session *session) {
	const struct record *record = session->task.record;
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:f,s:b,s:o,s:o}", "schema", "sweetspot-replay/1",
	                 "file", session->path, "format", record->format, "kernel", record->kernel, "device",
	                 record->device, "problem", record->problem, "objective", record->objective, "unit", record->unit,
	                 "direction", record->more ? "maximize" : "minimize", "strategy", session->task.strategy->name,
	                 "noise", session->task.noise, "interrupted", *app_interrupt(session->app) != 0, "space",
	                 space_json_of(record), "runs", runs_json(session));
}

enum { TARGETS = 3, COLUMNS = 7 + TARGETS, CURVE = 16, ROWS_MAX = 25 };
static const double targets[TARGETS] = {.10, .05, .01};

struct figures {
	double evaluations, best, ratio, to[TARGETS], seconds; /* to: INFINITY if it was never reached */
};

static struct figures figures_of(const struct record *record, const struct replay *run) {
	struct figures figures = {.evaluations = (double)run->count, .best = NAN, .to = {INFINITY, INFINITY, INFINITY}};
	for (size_t i = 0; i < run->count; i++) {
		figures.best = fmin(figures.best, run->steps[i].value);
		for (int t = 0; t < TARGETS; t++)
			if (isinf(figures.to[t]) && figures.best <= record->optimum * (1 + targets[t]))
				figures.to[t] = (double)(i + 1);
	}
	figures.ratio = isnan(figures.best) ? 0 : record->optimum / figures.best;
	figures.seconds = run->count ? run->steps[run->count - 1].seconds : 0;
	return figures;
}

/* Draws how the ratio rose over the run. */
static void curve_draw(const struct record *record, const struct replay *run, char *text, size_t size) {
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const plain[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	int levels = utf8 ? 8 : 10;
	double best = NAN;
	size_t at = 0, done = 0;
	text[0] = '\0';
	for (size_t column = 1; run->count && column <= CURVE && at + 4 < size; column++) {
		for (; done < (run->count * column + CURVE - 1) / CURVE; done++)
			best = fmin(best, run->steps[done].value);
		double ratio = isnan(best) ? 0 : record->optimum / best;
		int level = ratio >= 1 ? levels - 1 : (int)(ratio * levels);
		at += (size_t)snprintf(text + at, size - at, "%s", utf8 ? blocks[level] : plain[level]);
	}
}

/* Writes a value of the record's objective, such as "0.5536 ms". */
static struct shown value_shown(const struct record *record, double value) {
	struct shown shown = {"-"};
	if (strcmp(record->unit, "ms") == 0)
		return ui_seconds(value / 1e3);
	if (isfinite(value))
		snprintf(shown.text, sizeof shown.text, "%.4g%s%.20s", record_shown(record, value), *record->unit ? " " : "",
		         record->unit);
	return shown;
}

static void row_add(struct table *table, const struct record *record, const char *name, const struct figures *figures,
                    const char *curve) {
	char cells[COLUMNS][32];
	snprintf(cells[0], sizeof *cells, "%.31s", name);
	snprintf(cells[1], sizeof *cells, "%.0f", figures->evaluations);
	snprintf(cells[4], sizeof *cells, "%.3f", figures->ratio);
	for (int t = 0; t < TARGETS; t++)
		snprintf(cells[5 + t], sizeof *cells, isinf(figures->to[t]) ? "-" : "%.4g", figures->to[t]);
	table_add(table, cells[0], cells[1], ui_seconds(figures->seconds).text, value_shown(record, figures->best).text,
	          cells[4], cells[5], cells[6], cells[7], curve);
}

static double median_of(const struct figures *runs, size_t count, size_t member) {
	mem_auto double *values = mem_alloc(count, sizeof *values);
	for (size_t i = 0; i < count; i++)
		memcpy(&values[i], (const char *)&runs[i] + member, sizeof *values);
	return stats_median(values, count);
}

static struct figures medians_of(const struct figures *runs, size_t count) {
	struct figures median;
	for (size_t at = 0; at < sizeof median; at += sizeof(double)) {
		double value = median_of(runs, count, at);
		memcpy((char *)&median + at, &value, sizeof value);
	}
	return median;
}

/* Prints two lines such as "convolution_milo on A100: 4362 configurations ..". */
static void space_print(const struct record *record) {
	uint64_t all = space_valid(record->space);
	printf("%s%s%s: %llu configurations, %llu fail; best %s, median %s\n",
	       *record->kernel ? record->kernel : "a recorded space", *record->device ? " on " : "", record->device,
	       (unsigned long long)all, (unsigned long long)(all - record->correct),
	       value_shown(record, record->optimum).text, value_shown(record, record->median).text);
	if (record->guessed)
		printf("%s: %s is better (assumed; otherwise use --%s '%s')\n", record->objective,
		       record->more ? "more" : "less", record->more ? "minimize" : "maximize", record->objective);
}

/* If values are noisy, the runs may recommend another configuration than the best one that they evaluated. */
static void choice_print(const struct session *session) {
	mem_auto double *ratios = mem_alloc(session->count + 1, sizeof *ratios);
	size_t count = 0;
	for (size_t i = 0; i < session->count; i++) {
		const struct leader *chosen = &session->runs[i].chosen;
		if (session->played[i])
			ratios[count++] =
				chosen->times ? session->task.record->optimum / session->task.record->rows[chosen->index].value : 0;
	}
	printf("\nnoise %.3g %%: the median of optimum/chosen is %.3f\n", 100 * session->task.noise,
	       stats_median(ratios, count));
}

static void table_show(const struct session *session) {
	struct table *table = table_titled("seed", "evaluations", "cost", "best found", "optimum/best", "run to 10 %",
	                                   "5 %", "1 %", "progress", NULL);
	mem_auto struct figures *runs = mem_alloc(session->count, sizeof *runs);
	size_t played = 0;
	for (size_t column = 0; column < 8; column++)
		table_right(table, column);
	for (size_t i = 0; i < session->count; i++) {
		char seed[32], curve[4 * CURVE + 1];
		if (!session->played[i])
			continue;
		runs[played++] = figures_of(session->task.record, &session->runs[i]);
		snprintf(seed, sizeof seed, "%llu", (unsigned long long)(session->task.seed + i));
		curve_draw(session->task.record, &session->runs[i], curve, sizeof curve);
		if (played <= ROWS_MAX)
			row_add(table, session->task.record, seed, &runs[played - 1], curve);
	}
	struct figures median = medians_of(runs, played);
	if (played > 1)
		row_add(table, session->task.record, "median", &median, "");
	space_print(session->task.record);
	printf("strategy %s\n\n", session->task.strategy->name);
	table_print(table, app_ui(session->app), stdout);
	if (session->task.noise > 0 && played)
		choice_print(session);
	table_free(table);
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
	       search_hopeless(search, session->gain, replay_most(&session->task) - replay->count);
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

static int show(const struct session *session, const struct opt_args *args, struct err *err) {
	const char *path = opt_get(args, "output", NULL);
	bool to_file = path && strcmp(path, "-") != 0;
	js_auto json_t *json = path || opt_has(args, "json") ? replay_json(session) : NULL;
	if (to_file && js_save(json, path, err))
		return -1;
	if (!opt_has(args, "json") && (to_file || !path))
		table_show(session);
	else if (!to_file)
		js_write(json, stdout);
	return 0;
}

static int finish(struct session *session, const struct opt_args *args, struct err *err) {
	for (size_t i = 0; i < session->count; i++)
		if (session->errs[i].code != ERR_OK) {
			*err = session->errs[i];
			return -1;
		}
	if (show(session, args, err))
		return -1;
	return *app_interrupt(session->app) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
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
	struct session session = {
		.app = app, .path = opt_word(args, 0), .verbose = opt_has(args, "verbose"), .count = settings->repeat};
	const struct strategy *strategy = NULL;
	double noise = 0;
	bool read = !tune_strategy_read(opt_get(args, "strategy", "auto"), &strategy, err) &&
	            !stop_when_read(args, &session.gain, err) && !opt_share(args, "noise", &noise, err);
	struct record *record = read ? replay_record(opt_word(args, 0), &settings->choice, err) : NULL;
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
	strategy_free(strategy);
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

const struct cmd cmd_replay = {
	.name = "replay",
	.summary = "run a search strategy on a recorded space",
	.usage = "replay [OPTION...] SPACE.json[.gz]",
	.options = (const struct opt *const[]){options, stop_when_options, replay_options, NULL},
	.notes = "SPACE is a cache file of Kernel Tuner, a T4 or KTT result, or a table, which\n"
			 "answers evaluations; failed ones count. A seed gives the same sequence again.",
	.examples = "sweetspot replay space.json.gz --strategy auto --budget 100e --repeat 3",
	.run = run,
};
