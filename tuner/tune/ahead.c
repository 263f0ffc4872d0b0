/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The proposals of the strategy. Everything that it is told at first is stored, because a resumed search must be told
 * the same: evaluation counts that were estimated from times, and the contents of the store at that moment. Several are
 * proposed at a time, so that the later ones are built while the first ones are built or measured. Where builds would
 * disturb the measurements, a batch is built and then measured; elsewhere each that was measured makes room for another
 * one to build. */
#include <math.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "tuner/tune/bench_impl.h"

enum kind { KIND_BASELINE, KIND_SEARCH, KIND_PROBE, KIND_NODE, KIND_COUNT };
struct row {
	char *config;
	enum kind kind;
	bool taken;
	double merged; /* the stored value, which merges all attempts so far */
	struct trial_result result;
};
struct recall {
	struct row *rows;
	size_t count, left;    /* left: rows of the search not taken yet */
	size_t at[KIND_COUNT]; /* all rows of this kind before this index are taken */
	bool searched, counted;
	double seconds;
};

static bool kind_find(const char *phase, enum kind *kind) {
	static const char *const phases[KIND_COUNT] = {"baseline", "search", "probe", "node"};
	for (int i = 0; i < KIND_COUNT; i++) {
		*kind = i;
		if (strcmp(phase, phases[i]) == 0)
			return true;
	}
	return false;
}

/* The value of a row may merge several trials, but its samples are its own. */
static struct trial_result result_of(const struct store_trial *trial, enum trial_status status) {
	struct trial_result result = {.status = status,
	                              .value = trial->value,
	                              .least = NAN,
	                              .elapsed_s = trial->elapsed,
	                              .disturbed = trial->disturbed,
	                              .sample_count = trial->sample_count};
	if (trial->sample_count) {
		result.samples = mem_alloc(trial->sample_count, sizeof *result.samples);
		memcpy(result.samples, trial->samples, trial->sample_count * sizeof *result.samples);
		result.least = stats_min(result.samples, result.sample_count);
	}
	if (status == TRIAL_CORRECT && trial->sample_count)
		result.value = stats_median(result.samples, result.sample_count);
	snprintf(result.message, sizeof result.message, "%s", trial->message ? trial->message : "");
	result.reply = json_incref((json_t *)trial->detail);
	return result;
}

static bool samples_good(const struct store_trial *trial) {
	for (size_t i = 0; i < trial->sample_count; i++)
		if (!(trial->samples[i] > 0 && isfinite(trial->samples[i])))
			return false;
	return true;
}

/* The other phases follow the search, but the baseline may have been counted before it. */
static void other_add(struct recall *recall, const char *phase) {
	bool counters = strcmp(phase, "counters") == 0;
	recall->searched = recall->searched || recall->counted || !counters;
	recall->counted = recall->counted || counters;
}

static int row_add(void *ctx, const struct store_trial *trial) {
	struct recall *recall = ctx;
	struct row row = {0};
	enum trial_status status;
	if (trial->elapsed > 0 && isfinite(trial->elapsed))
		recall->seconds += trial->elapsed;
	if (!kind_find(trial->phase, &row.kind)) {
		other_add(recall, trial->phase);
		return 0;
	}
	if (!trial_status_find(trial->status, &status) || !samples_good(trial) ||
	    ((status == TRIAL_CORRECT || status == TRIAL_CENSORED) && !(trial->value > 0)))
		return 0; /* implausible, so it is measured again */
	row.config = mem_strdup(trial->config);
	row.merged = trial->value;
	row.result = result_of(trial, status);
	recall->left += row.kind == KIND_SEARCH;
	recall->searched = recall->searched && row.kind != KIND_SEARCH; /* it went on after a comparison */
	recall->rows = mem_grow(recall->rows, recall->count + 1, sizeof *recall->rows);
	recall->rows[recall->count++] = row;
	return 0;
}

static struct recall *recall_new(struct store *store, int64_t search, struct err *err) {
	struct recall *recall = mem_alloc(1, sizeof *recall);
	if (search == 0 || store_trials_each(store, search, NULL, row_add, recall, err) == 0)
		return recall;
	recall_free(recall);
	return NULL;
}

void recall_free(struct recall *recall) {
	if (!recall)
		return;
	for (size_t i = 0; i < recall->count; i++) {
		free(recall->rows[i].config);
		trial_result_clear(&recall->rows[i].result);
	}
	free(recall->rows);
	free(recall);
}

/* The first untaken row of this kind and configuration (NULL: any); recall->count if there is none. */
static size_t row_find(const struct recall *recall, enum kind kind, const json_t *config) {
	size_t i = recall->at[kind];
	char *text = i < recall->count ? js_canonical(config) : NULL;
	for (; i < recall->count; i++) {
		const struct row *row = &recall->rows[i];
		if (row->kind == kind && !row->taken && (!text || strcmp(row->config, text) == 0))
			break;
	}
	free(text);
	return i;
}

static void row_take(struct recall *recall, size_t i, struct trial_result *result) {
	struct row *row = &recall->rows[i];
	*result = row->result;
	row->result = (struct trial_result){.value = NAN, .least = NAN};
	row->taken = true;
	recall->left -= row->kind == KIND_SEARCH;
	for (size_t *at = &recall->at[row->kind]; *at < recall->count; ++*at)
		if (recall->rows[*at].kind == row->kind && !recall->rows[*at].taken)
			break;
}

bool recall_take(struct recall *recall, const char *phase, const json_t *config, struct trial_result *result) {
	enum kind kind;
	size_t i = kind_find(phase, &kind) ? row_find(recall, kind, config) : recall->count;
	if (i == recall->count)
		return false;
	row_take(recall, i, result);
	return true;
}

bool recall_probe(struct recall *recall, const json_t *next, struct trial_result *result) {
	size_t before = next ? row_find(recall, KIND_SEARCH, next) : recall->count;
	size_t i = row_find(recall, KIND_PROBE, NULL);
	if (i >= before)
		return false;
	row_take(recall, i, result);
	return true;
}

static int by_config(const void *a, const void *b) {
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	int order = strcmp(x->config, y->config);
	return order ? order : (x > y) - (x < y);
}

static int by_row(const void *a, const void *b) {
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	return (x > y) - (x < y);
}

/* Keeps the last successful row of each configuration, else its last one. The rows must be sorted by_config; returns
 * how many stay. */
static size_t last_of_each(struct row **rows, size_t count) {
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		bool other = kept == 0 || strcmp(rows[kept - 1]->config, rows[i]->config) != 0;
		if (other)
			kept++;
		else if (rows[i]->result.status != TRIAL_CORRECT && rows[kept - 1]->result.status == TRIAL_CORRECT)
			continue;
		rows[kept - 1] = rows[i];
	}
	return kept;
}

void recall_each(struct recall *recall, void (*each)(void *ctx, const char *config, const struct trial_result *result),
                 void *ctx) {
	mem_auto struct row **rows = mem_alloc(recall->left + 1, sizeof *rows);
	size_t count = 0;
	for (size_t i = 0; i < recall->count; i++) {
		struct row *row = &recall->rows[i];
		if (row->kind == KIND_SEARCH && !row->taken)
			rows[count++] = row;
		row->taken = row->taken || row->kind == KIND_SEARCH;
	}
	qsort(rows, count, sizeof *rows, by_config);
	count = last_of_each(rows, count);
	qsort(rows, count, sizeof *rows, by_row);
	for (size_t i = 0; i < count; i++) {
		if (rows[i]->result.status == TRIAL_CORRECT && rows[i]->merged > 0)
			rows[i]->result.value = rows[i]->merged;
		each(ctx, rows[i]->config, &rows[i]->result);
	}
	recall->left = 0;
}

/* The place of its first trial in the search, in the order in which they were run; SIZE_MAX: none. */
static size_t recall_row(const struct recall *recall, const json_t *config) {
	size_t row = row_find(recall, KIND_SEARCH, config);
	return row < recall->count ? row : SIZE_MAX;
}

bool recall_has(const struct recall *recall, const json_t *config) {
	return row_find(recall, KIND_SEARCH, config) < recall->count;
}

/* Untaken search trials */
static size_t recall_left(const struct recall *recall) {
	return recall->left;
}

bool recall_searched(const struct recall *recall) {
	return recall->searched;
}

/* Time of all its trials */
static double recall_seconds(const struct recall *recall) {
	return recall->seconds;
}

static const double LOOK_SECONDS = 0.25; /* between looks at the budget, and at Ctrl-C, while builds are awaited */
enum { LEAST_EVALUATIONS = 2 /* the baseline and another one */ };
/* A build that takes that many times as long as the longest so far is given up while too few are known for a median,
 * but no build is before some seconds, because a busy machine can slow a short one down that much. */
static const double PATIENCE = 10, PATIENCE_SECONDS_MIN = 5;
static const double SHARE = 0.2; /* of the budget, if that is less than these seconds */

void tune_ahead_patience(struct tune *tune) {
	struct builder *builder = tune->task->builder;
	double seconds = tune->task->limits.build_timeout_s;
	if (!builder)
		return;
	if (!(seconds > 0)) {
		double longest = builder_figures(builder).longest_s;
		seconds = tune->search ? search_patience(tune->search) : INFINITY;
		if (!isfinite(seconds) && longest > 0)
			seconds = PATIENCE * longest;
		seconds =
			fmax(seconds, fmin(PATIENCE_SECONDS_MIN, tune_promised(tune) ? SHARE * tune_budget_time(tune) : INFINITY));
	}
	builder_patience(builder, seconds);
}

/* The number of proposals that the budget allows beside those that are waiting. */
static size_t room(const struct tune *tune) {
	const struct tune_ahead *ahead = &tune->bench.ahead;
	size_t low = ahead->beside ? ahead->depth - 1 : 0;
	if (ahead->count > low)
		return 0;
	size_t want = ahead->depth - ahead->count;
	uint64_t limit = tune->money.budget.evaluations, used = tune->tally.evaluations + ahead->count;
	if (limit && used >= limit)
		return ahead->count ? 0 : 1;
	return limit && limit - used < want ? (size_t)(limit - used) : want;
}

static void propose(struct tune *tune) {
	struct tune_ahead *ahead = &tune->bench.ahead;
	size_t want = room(tune);
	enum tune_spending before = tune_spend(tune, SPENT_SEARCH);
	if (want)
		ahead->count += search_ask(tune->search, ahead->queue + ahead->count, want);
	tune_spend(tune, before);
}

bool tune_is_recalling(const struct tune *tune) {
	return !tune->memory.is_new && recall_left(tune->memory.recall) > 0;
}

/* Trials that an interrupted run has stored need no build. */
static void builds_want(struct tune *tune) {
	const struct tune_ahead *ahead = &tune->bench.ahead;
	json_t *configs[TUNE_AHEAD_MAX] = {NULL};
	size_t count = 0;
	for (size_t i = 0; i < ahead->count; i++) {
		json_t *config = space_config_json(tune->task->space, ahead->queue[i]);
		if (tune_is_recalling(tune) && recall_has(tune->memory.recall, config))
			json_decref(config);
		else
			configs[count++] = config;
	}
	builder_want(tune->task->builder, (const json_t *const *)configs, count);
	for (size_t i = 0; i < count; i++)
		json_decref(configs[i]);
}

/* The first that can be measured at once; `count`: none. During a resumed run it is the one that was measured first. */
static size_t ready(const struct tune *tune) {
	const struct tune_ahead *ahead = &tune->bench.ahead;
	size_t first = ahead->count, row = SIZE_MAX;
	for (size_t i = 0; i < ahead->count; i++) {
		js_auto json_t *config = space_config_json(tune->task->space, ahead->queue[i]);
		size_t at = tune_is_recalling(tune) ? recall_row(tune->memory.recall, config) : SIZE_MAX;
		if (at < row) {
			row = at;
			first = i;
		} else if (first == ahead->count && builder_has(tune->task->builder, config)) {
			first = i;
		}
	}
	return first;
}

/* Waits for builds: for all where nothing may be measured beside one, else for the first. Returns 1 with *at, 0 if the
 * budget is used up. */
static int await(struct tune *tune, size_t *at, struct err *err) {
	const struct tune_ahead *ahead = &tune->bench.ahead;
	enum tune_spending before = tune_spend(tune, SPENT_BUILD);
	while (!(tune->stopped = tune_over(tune)) && !tune_interrupted(tune)) {
		tune_ahead_patience(tune);
		*at = ahead->beside ? ready(tune) : 0;
		if (ahead->beside && *at < ahead->count)
			break;
		if (builder_wait(tune->task->builder, LOOK_SECONDS) == 0 && !ahead->beside)
			break;
		tune_report(tune, TUNE_SEARCH);
	}
	tune_spend(tune, before);
	return tune_interrupted(tune) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : !tune->stopped;
}

static uint64_t take(struct tune_ahead *ahead, size_t at) {
	uint64_t index = ahead->queue[at];
	for (ahead->count--; at < ahead->count; at++)
		ahead->queue[at] = ahead->queue[at + 1];
	return index;
}

/* Is it built, or was it measured by a run that is being resumed? */
static bool is_made(const struct tune *tune, uint64_t index) {
	js_auto json_t *config = space_config_json(tune->task->space, index);
	return (tune_is_recalling(tune) && recall_has(tune->memory.recall, config)) ||
	       builder_has(tune->task->builder, config);
}

/* Orders what is pending by what is known now. Proposals that are not worth a build any more are given back; one that
 * is built already is measured all the same, because that costs little. */
static void reconsider(struct tune *tune) {
	struct tune_ahead *ahead = &tune->bench.ahead;
	enum tune_spending before = tune_spend(tune, SPENT_SEARCH);
	size_t kept = search_rank(tune->search, ahead->queue, ahead->count), count = ahead->count;
	ahead->count = 0;
	for (size_t i = 0; i < count; i++)
		if (i < kept || is_made(tune, ahead->queue[i]))
			ahead->queue[ahead->count++] = ahead->queue[i];
		else
			search_withdraw(tune->search, ahead->queue[i]);
	tune_spend(tune, before);
}

/* Does a budget in seconds allow this beside the finals? */
static bool tune_fits(const struct tune *tune, double seconds) {
	return !tune_promised(tune) || tune_is_recalling(tune) ||
	       tune_elapsed(tune) + seconds + tune_finals_kept(tune) < tune_budget_time(tune);
}

/* A build that would end after the search has no use, and takes the time of the finals. */
static bool build_fits(struct tune *tune) {
	struct tune_ahead *ahead = &tune->bench.ahead;
	if (!tune->task->builder || tune->tally.evaluations < LEAST_EVALUATIONS || is_made(tune, ahead->queue[0]))
		return true;
	const struct build_figures figures = builder_figures(tune->task->builder);
	double seconds = figures.made ? figures.spent_s / (double)figures.made : 0;
	if (ahead->beside || figures.made == 0 || tune_fits(tune, seconds))
		return true;
	ahead->unfit_s = seconds;
	return false;
}

int tune_ahead_next(struct tune *tune, uint64_t *index, struct err *err) {
	struct tune_ahead *ahead = &tune->bench.ahead;
	size_t at = 0;
	tune_ahead_patience(tune);
	if (ahead->depth > 1 && ahead->count)
		reconsider(tune);
	propose(tune);
	if (ahead->count == 0) {
		tune->stopped = "space";
		return 0;
	}
	if (!build_fits(tune)) {
		tune->stopped = "budget";
		return 0;
	}
	if (ahead->depth > 1) {
		builds_want(tune);
		int rc = await(tune, &at, err);
		if (rc <= 0)
			return rc;
	}
	*index = take(ahead, at);
	return 1;
}

/* Whatever comes next is measured undisturbed. */
void tune_ahead_end(struct tune *tune) {
	if (!tune->task->builder)
		return;
	enum tune_spending before = tune_spend(tune, SPENT_BUILD);
	builder_want(tune->task->builder, NULL, 0);
	while (builder_wait(tune->task->builder, LOOK_SECONDS))
		continue;
	tune_spend(tune, before);
}

int recall_begin(struct tune *tune, struct err *err) {
	tune->memory.recall = recall_new(tune->task->store, tune->task->resume, err);
	if (!tune->memory.recall)
		return -1;
	tune->money.spent_before = recall_seconds(tune->memory.recall);
	return 0;
}
