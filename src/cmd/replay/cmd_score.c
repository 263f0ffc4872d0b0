/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/replay/replay_impl.h"
#include "src/cmd/tune/options.h"
#include "tuner/replay/threads.h"

static const struct {
	enum score_figure figure;
	const char *name;
} scores[] = {
	{SCORE_TIME, "score_time"},
	{SCORE_EVALS, "score_evals"},
	{SCORE_TIME_MEDIAN, "score_time_median"},
	{SCORE_EVALS_MEDIAN, "score_evals_median"},
	{SCORE_TIME_EXPECTED, "score_time_expected"},
	{SCORE_EVALS_EXPECTED, "score_evals_expected"},
};
enum { SCORES = sizeof scores / sizeof *scores };

struct score_space {
	const char *path;
	struct record *record;
	struct score_axis *axis;
	struct replay_task task;
	const char *peers; /* the name of the space in the file of peers, or NULL */
};

struct score_entry { /* the results of one strategy */
	const struct strategy *strategy;
	struct score_table **tables;  /* one for each space */
	struct score_result *results; /* one for each space, then one over all */
};

struct session {
	struct app *app;
	struct replay_settings settings;
	struct arena *arena;
	struct score_space *spaces;
	size_t space_count;
	struct score_entry *entries;
	size_t entry_count;
	struct err *errs;       /* one for each run */
	size_t shown;           /* entries that have a run on every space; an interruption leaves out the others */
	const char *peers_path; /* NULL without --peers */
	struct score_peers *peers;
	struct score_peer *peers_shown; /* over all spaces; NULL unless the file knows each space */
	size_t peer_count;
	double begun;
};

static json_t *ci_json(const struct score_result *result, size_t figure) {
	return json_pack("[o,o]", js_number(result->low[figure]), js_number(result->high[figure]));
}

static void points_name(size_t i, char *name, size_t size) {
	snprintf(name, size, "%llu", (unsigned long long)score_points[i]);
}

static void targets_name(size_t i, char *name, size_t size) {
	snprintf(name, size, "%g%%", score_targets[i] * 100);
}

/* Makes {"10": .., "25": ..} from figures that belong together. */
typedef json_t *figure_value(const void *from, size_t figure);
static json_t *list_json(const void *from, figure_value *value, size_t first, size_t count,
                         void (*name_of)(size_t i, char *name, size_t size)) {
	json_t *object = json_object();
	for (size_t i = 0; i < count; i++) {
		char name[32];
		name_of(i, name, sizeof name);
		json_object_set_new(object, name, value(from, first + i));
	}
	return object;
}

static void figures_add(json_t *object, const void *from, figure_value *value) {
	for (size_t i = 0; i < SCORES; i++)
		json_object_set_new(object, scores[i].name, value(from, scores[i].figure));
	json_object_set_new(object, "ratio_at", list_json(from, value, SCORE_RATIO, SCORE_POINTS, points_name));
	json_object_set_new(object, "ratio_at_mean", list_json(from, value, SCORE_RATIO_MEAN, SCORE_POINTS, points_name));
	json_object_set_new(object, "evals_to", list_json(from, value, SCORE_TO, SCORE_TARGETS, targets_name));
}

static json_t *result_value(const void *from, size_t figure) {
	const struct score_result *result = from;
	return json_pack("{s:o,s:o}", "value", js_number(result->value[figure]), "ci", ci_json(result, figure));
}

static json_t *peer_value(const void *from, size_t figure) {
	return js_number(((const double *)from)[figure]);
}

static json_t *result_json(const struct score_result *result) {
	json_t *object =
		json_pack("{s:o,s:o}", "score", js_number(result->value[SCORE_TIME]), "ci", ci_json(result, SCORE_TIME));
	figures_add(object, result, result_value);
	return object;
}

static json_t *space_result(const struct score_space *space, const struct score_table *runs,
                            const struct score_result *result) {
	const struct score_axis *axis = space->axis;
	json_t *object = json_pack(
		"{s:s,s:s,s:s,s:I,s:I,s:o,s:o,s:{s:I,s:I,s:o},s:I,s:o}", "file", space->path, "kernel", space->record->kernel,
		"device", space->record->device, "configurations", (json_int_t)space_valid(space->record->space), "valid",
		(json_int_t)space->record->correct, "optimum", js_number(axis->optimum), "median", js_number(axis->median),
		"score_axis", "start", (json_int_t)axis->start, "cutoff_95", (json_int_t)axis->cutoff, "evaluation_s",
		js_number(axis->each), "runs", (json_int_t)score_table_runs(runs), "ms_per_proposal",
		js_number(1e3 * score_table_asking(runs)));
	if (space->peers)
		json_object_set_new(object, "peers_space", json_string(space->peers));
	json_object_update_new(object, result_json(result));
	return object;
}

static json_t *entry_json(const struct session *session, const struct score_entry *entry) {
	json_t *per_space = json_array();
	for (size_t i = 0; i < session->space_count; i++)
		json_array_append_new(per_space, space_result(&session->spaces[i], entry->tables[i], &entry->results[i]));
	const struct score_result *all = &entry->results[session->space_count];
	return json_pack("{s:s,s:o,s:o,s:o,s:o}", "strategy", entry->strategy->name, "score",
	                 js_number(all->value[SCORE_TIME]), "ci", ci_json(all, SCORE_TIME), "over_all", result_json(all),
	                 "per_space", per_space);
}

static json_t *peers_json(const struct session *session) {
	json_t *rows = json_array();
	for (size_t i = 0; i < session->peer_count; i++) {
		json_t *row = json_pack("{s:s}", "name", session->peers_shown[i].name);
		figures_add(row, session->peers_shown[i].figures, peer_value);
		json_array_append_new(rows, row);
	}
	return json_pack("{s:s,s:o}", "file", session->peers_path, "over_all", rows);
}

/* The members of the first strategy are repeated at the top of the document; "strategies" has all of them. */
static json_t *score_json(const struct session *session) {
	json_t *list = json_array();
	for (size_t i = 0; i < session->shown; i++)
		json_array_append_new(list, entry_json(session, &session->entries[i]));
	json_t *document =
		json_pack("{s:s,s:I,s:I,s:b}", "schema", "sweetspot-score/1", "repeat", (json_int_t)session->settings.repeat,
	              "seed", (json_int_t)session->settings.seed, "interrupted", *app_interrupt(session->app) != 0);
	json_object_update(document, json_array_get(list, 0));
	json_object_set_new(document, "strategies", list);
	if (session->peers_path)
		json_object_set_new(document, "peers", peers_json(session));
	return document;
}

/* The columns of the table, which are some of the 21 figures. */
static const struct {
	enum score_figure figure;
	const char *title, *format;
	bool least; /* the lowest value is the best */
} shown[] = {
	{SCORE_TIME, "score", "%.3f", false},
	{SCORE_TIME_EXPECTED, "by mean", "%.3f", false},
	{SCORE_EVALS_EXPECTED, "evals", "%.3f", false},
	{SCORE_RATIO + 1, "best at 25", "%.3f", false},
	{SCORE_RATIO + 2, "50", "%.3f", false},
	{SCORE_RATIO + 3, "100", "%.3f", false},
	{SCORE_RATIO + 4, "200", "%.3f", false},
	{SCORE_TO, "run to 10 %", "%.1f", true},
	{SCORE_TO + 1, "5 %", "%.1f", true},
	{SCORE_TO + 2, "1 %", "%.1f", true},
};
enum { SHOWN = sizeof shown / sizeof *shown, SCORE_COLUMNS = SHOWN + 2, CELL = 64 };

static void score_row_add(struct table *table, const char *name, const double figures[SCORE_FIGURES], double asking) {
	char cells[SHOWN + 1][CELL];
	const char *texts[SCORE_COLUMNS];
	snprintf(cells[0], CELL, "%.60s", name);
	for (size_t i = 0; i < SHOWN; i++)
		if (isfinite(figures[shown[i].figure]))
			snprintf(cells[i + 1], CELL, shown[i].format, figures[shown[i].figure]);
		else
			snprintf(cells[i + 1], CELL, "-");
	struct shown proposal = isnan(asking) ? (struct shown){""} : ui_seconds(asking);
	for (size_t i = 0; i <= SHOWN; i++)
		texts[i] = cells[i];
	texts[SHOWN + 1] = proposal.text;
	table_row(table, texts);
}

static struct table *table_begin(const char *first) {
	const char *titles[SCORE_COLUMNS] = {first};
	for (size_t i = 0; i < SHOWN; i++)
		titles[i + 1] = shown[i].title;
	titles[SHOWN + 1] = "proposal";
	struct table *table = table_new(SCORE_COLUMNS, titles);
	for (size_t i = 1; i < SCORE_COLUMNS; i++)
		table_right(table, i);
	return table;
}

static void spaces_print(const struct session *session, const struct score_entry *entry) {
	struct table *table = table_begin(entry->strategy->name);
	for (size_t i = 0; i < session->space_count; i++)
		score_row_add(table, text_base_name(session->spaces[i].path), entry->results[i].value,
		              score_table_asking(entry->tables[i]));
	table_end(table, app_ui(session->app), stdout);
	putchar('\n');
}

/* Tells whether the peer is the best peer in at least one column. */
static bool is_top(const struct session *session, size_t peer) {
	for (size_t column = 0; column < SHOWN; column++) {
		int figure = (int)shown[column].figure;
		double sign = shown[column].least ? -1 : 1, value = sign * session->peers_shown[peer].figures[figure];
		bool top = isfinite(value);
		for (size_t i = 0; i < session->peer_count && top; i++)
			top = !(sign * session->peers_shown[i].figures[figure] > value);
		if (top)
			return true;
	}
	return false;
}

static void all_print(const struct session *session) {
	struct table *table = table_begin("over all spaces");
	for (size_t i = 0; i < session->shown; i++) {
		const struct score_result *all = &session->entries[i].results[session->space_count];
		score_row_add(table, session->entries[i].strategy->name, all->value, NAN);
		score_row_add(table, "  95 % from", all->low, NAN);
		score_row_add(table, "  to", all->high, NAN);
	}
	for (size_t i = 0; i < session->peer_count; i++)
		if (is_top(session, i))
			score_row_add(table, session->peers_shown[i].name, session->peers_shown[i].figures, NAN);
	table_end(table, app_ui(session->app), stdout);
}

static void score_print(const struct session *session) {
	for (size_t i = 0; i < session->shown; i++)
		spaces_print(session, &session->entries[i]);
	all_print(session);
	printf("\n%zu repeats. score: performance over time against random search, by rank (0: as random search,\n"
	       "1: the optimum at once); by mean, evals: against the mean of random search, over time and over\n"
	       "evaluations; best at N: optimum over the best so far; run to X %%: evaluations until the best is\n"
	       "within X %% of the optimum. Medians over repeats.\n",
	       session->settings.repeat);
	if (session->peers_path && session->peer_count == 0)
		printf("No peer in %s was measured on all of these spaces.\n", session->peers_path);
}

enum { DEFAULT_REPEAT = 25 };

static const struct opt options[] = {
	OPT_GROUP("Search"),
	{"strategy", 0, "NAME", "strategy to score, see `list strategies` (auto)", OPT_REPEAT},
	{"budget", 'b', "150e|90s", "limit per repeat (whatever the figures need)", 0},
	{0},
};

static const struct opt output_options[] = {
	OPT_GROUP("Output"),
	{"peers", 0, "FILE", "results of other tuners, for comparison", 0},
	{0},
};

/* The parts of a run, from its number. The repeat changes slowest, so that the time left can be estimated from the time
 * spent, and an interrupted score has results of every space. */
struct run_parts {
	const struct session *session;
	size_t entry, space, repeat;
};

static struct run_parts run_parts_of(const struct session *session, size_t i) {
	size_t entries = session->entry_count, spaces = session->space_count;
	return (struct run_parts){session, i % entries, i / entries % spaces, i / entries / spaces};
}

static bool enough(void *ctx, const struct search *search, const struct replay *replay) {
	const struct run_parts *parts = ctx;
	const struct session *session = parts->session;
	const struct tune_budget *budget = &session->settings.budget;
	(void)search;
	if (*app_interrupt(session->app))
		return true;
	bool given = budget->evaluations || budget->seconds > 0;
	return !given && score_axis_covered(session->spaces[parts->space].axis, replay);
}

/* Stops at the optimum, because evaluations after it do not change any figure. */
static void play(void *ctx, size_t i) {
	struct session *session = ctx;
	struct run_parts parts = run_parts_of(session, i);
	const struct score_space *space = &session->spaces[parts.space];
	struct replay_task task = space->task;
	struct replay replay;
	task.strategy = session->entries[parts.entry].strategy;
	task.seed = session->settings.seed + parts.repeat;
	task.until = space->axis->optimum;
	task.enough = enough;
	task.ctx = &parts;
	if (*app_interrupt(session->app) || replay_run(&task, &replay, &session->errs[i]))
		return;
	if (!*app_interrupt(session->app))
		score_table_set(session->entries[parts.entry].tables[parts.space], parts.repeat, &replay, task.evaluations);
	replay_clear(&replay);
}

static bool watch(void *ctx, size_t done) {
	struct session *session = ctx;
	size_t count = session->entry_count * session->space_count * session->settings.repeat;
	double spent = sys_now() - session->begun;
	if (done)
		ui_progress(app_ui(session->app), "score  %zu of %zu runs, %.0f s left", done, count,
		            spent / (double)done * (double)(count - done));
	else
		ui_progress(app_ui(session->app), "score  0 of %zu runs", count);
	return *app_interrupt(session->app) != 0;
}

static int spaces_read(struct session *session, const struct opt_args *args, struct err *err) {
	size_t count = opt_words(args);
	session->spaces = mem_alloc(count, sizeof *session->spaces);
	for (size_t i = 0; i < count; i++) {
		struct score_space *space = &session->spaces[session->space_count++];
		space->path = opt_word(args, i);
		space->record = replay_record(space->path, &session->settings.choice, err);
		if (!space->record)
			return -1;
		replay_settings_task(&session->settings, space->record, session->arena, app_ui(session->app), &space->task);
		space->axis = score_axis_new(space->record);
		if (!opt_has(args, "budget"))
			space->task.expected = score_axis_length(space->axis);
		space->peers = session->peers ? score_peers_space(session->peers, space->path, space->record) : NULL;
	}
	return 0;
}

static int entries_make(struct session *session, const struct opt_args *args, struct err *err) {
	size_t named = opt_count(args, "strategy"), count = named ? named : 1;
	session->entries = mem_alloc(count, sizeof *session->entries);
	for (size_t i = 0; i < count; i++) {
		struct score_entry *entry = &session->entries[session->entry_count++];
		if (tune_strategy_read(named ? opt_at(args, "strategy", i) : "auto", &entry->strategy, err))
			return -1;
		entry->tables = mem_alloc(opt_words(args), sizeof *entry->tables);
		entry->results = mem_alloc(opt_words(args) + 1, sizeof *entry->results);
	}
	return 0;
}

static void sheets_make(struct session *session) {
	for (size_t e = 0; e < session->entry_count; e++)
		for (size_t s = 0; s < session->space_count; s++)
			session->entries[e].tables[s] = score_table_new(session->spaces[s].axis, session->settings.repeat);
}

static void session_clear(struct session *session) {
	for (size_t e = 0; e < session->entry_count; e++) {
		for (size_t s = 0; session->entries[e].tables && s < session->space_count; s++)
			score_table_free(session->entries[e].tables[s]);
		free(session->entries[e].tables);
		free(session->entries[e].results);
		strategy_free(session->entries[e].strategy);
	}
	for (size_t s = 0; s < session->space_count; s++) {
		score_axis_free(session->spaces[s].axis);
		record_free(session->spaces[s].record);
	}
	free(session->entries);
	free(session->spaces);
	free(session->errs);
	free(session->peers_shown);
	score_peers_free(session->peers);
	arena_free(session->arena);
	replay_settings_clear(&session->settings);
}

/* The peers are shown only if the file knows all spaces, because their figures over all would otherwise be about other
 * spaces. */
static void peers_over(struct session *session) {
	mem_auto const char **names = mem_alloc(session->space_count, sizeof *names);
	bool all = session->peers != NULL;
	for (size_t i = 0; i < session->space_count; i++) {
		names[i] = session->spaces[i].peers;
		all = all && names[i];
	}
	if (all)
		session->peers_shown = score_peers_over(session->peers, names, session->space_count, &session->peer_count);
}

static size_t complete(const struct session *session) {
	for (size_t e = 0; e < session->entry_count; e++)
		for (size_t s = 0; s < session->space_count; s++)
			if (score_table_runs(session->entries[e].tables[s]) == 0)
				return e;
	return session->entry_count;
}

static void show(struct session *session, const struct opt_args *args) {
	peers_over(session);
	for (size_t e = 0; e < session->shown; e++)
		score_results(session->entries[e].tables, session->space_count, session->settings.seed,
		              session->entries[e].results);
	if (opt_has(args, "json"))
		js_print(score_json(session));
	else
		score_print(session);
}

static int play_all(struct session *session, const struct opt_args *args, struct err *err) {
	size_t count = session->entry_count * session->space_count * session->settings.repeat;
	const struct replay_threads_work work = {.count = count, .work = play, .watch = watch, .ctx = session};
	session->errs = mem_alloc(count, sizeof *session->errs);
	session->begun = sys_now();
	replay_threads_run(&work, session->settings.jobs);
	ui_progress_end(app_ui(session->app));
	for (size_t i = 0; i < count; i++)
		if (session->errs[i].code != ERR_OK) {
			*err = session->errs[i];
			return -1;
		}
	session->shown = complete(session);
	if (session->shown)
		show(session, args);
	return *app_interrupt(session->app) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

static int session_run(struct session *session, const struct opt_args *args, struct err *err) {
	session->peers_path = opt_get(args, "peers", NULL);
	if (replay_settings_read(args, DEFAULT_REPEAT, &session->settings, err) || entries_make(session, args, err))
		return -1;
	session->peers = session->peers_path ? score_peers_read(session->peers_path, err) : NULL;
	if ((session->peers_path && !session->peers) || spaces_read(session, args, err))
		return -1;
	sheets_make(session);
	return play_all(session, args, err);
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_words(args) == 0)
		return err_set(err, ERR_USAGE, "sweetspot score SPACE.json.gz... --strategy auto", "give recorded spaces");
	struct session session = {.app = app, .arena = arena_new()};
	int failed = session_run(&session, args, err);
	session_clear(&session);
	return failed;
}

static const struct opt *const tables[] = {options, replay_options, output_options, NULL};

const struct cmd cmd_score = {
	.name = "score",
	.summary = "rate search strategies on recorded spaces",
	.usage = "score [OPTION...] [--strategy NAME]... SPACE.json[.gz]...",
	.options = tables,
	.notes = "Runs each strategy on each space as `replay` does. Figures come with their 95 %\n"
			 "intervals over the repeats.",
	.examples = "sweetspot score *.json.gz --strategy auto --strategy random",
	.run = run,
};
