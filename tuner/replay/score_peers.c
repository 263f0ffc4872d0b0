/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <strings.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "tuner/replay/score_impl.h"

enum { FILE_MAX = 64 << 20, LIST_MAX = 64 };

struct score_peers {
	json_t *file;
	json_t *results;
	int point[SCORE_POINTS], target[SCORE_TARGETS]; /* places in the lists; -1: not in the list */
};

static void points_find(struct score_peers *peers, const json_t *points) {
	for (int i = 0; i < SCORE_POINTS; i++) {
		peers->point[i] = -1;
		for (size_t at = 0; at < json_array_size(points); at++)
			if (json_number_value(json_array_get(points, at)) == (double)score_points[i])
				peers->point[i] = (int)at;
	}
}

static void targets_find(struct score_peers *peers, const json_t *targets) {
	for (int i = 0; i < SCORE_TARGETS; i++) {
		char name[16];
		snprintf(name, sizeof name, "%g%%", score_targets[i] * 100);
		peers->target[i] = -1;
		for (size_t at = 0; at < json_array_size(targets); at++) {
			const char *text = json_string_value(json_array_get(targets, at));
			if (text && strcmp(text, name) == 0)
				peers->target[i] = (int)at;
		}
	}
}

/* Names are printed, so that they must not have control characters. */
static bool is_name(const char *text) {
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			return false;
	return *text && strlen(text) < 100;
}

static int names_check(const json_t *results, struct err *err) {
	js_members (space, rows, results) {
		if (!is_name(space) || !json_is_object(rows))
			return err_set(err, ERR_USAGE, NULL, "\"results\" has a member that is not a space");
		js_members (peer, row, rows)
			if (!is_name(peer) || !json_is_object(row))
				return err_set(err, ERR_USAGE, NULL, "\"results\" of %s has a member that is not a strategy", space);
	}
	return 0;
}

struct score_peers *score_peers_read(const char *path, struct err *err) {
	static const char hint[] = "the file needs the members points, targets and results";
	json_t *points, *targets, *file = js_load(path, FILE_MAX, err);
	if (!file)
		return NULL;
	struct score_peers *peers = mem_alloc(1, sizeof *peers);
	peers->file = file;
	if (js_array(file, "points", LIST_MAX, &points, err) || js_array(file, "targets", LIST_MAX, &targets, err) ||
	    js_object(file, "results", &peers->results, err) || names_check(peers->results, err)) {
		err_prefix(err, "%s", path);
		err_hint(err, "%s", hint);
		score_peers_free(peers);
		return NULL;
	}
	points_find(peers, points);
	targets_find(peers, targets);
	return peers;
}

void score_peers_free(struct score_peers *peers) {
	if (peers)
		json_decref(peers->file);
	free(peers);
}

/* "KERNEL.DEVICE.json.gz", in any folder, as "KERNEL/DEVICE". */
static void space_of_path(const char *path, char *name, size_t size) {
	const char *base = strrchr(path, '/');
	snprintf(name, size, "%s", base ? base + 1 : path);
	char *end = strstr(name, ".json"), *dot;
	if (end)
		*end = '\0';
	dot = strrchr(name, '.');
	if (dot)
		*dot = '/';
}

/* The same first word of the kernel, and the device is said somewhere in the record's. */
static bool is_space_of(const char *space, const struct record *record) {
	size_t word = strcspn(space, "_/");
	const char *device = strchr(space, '/');
	return word && strncasecmp(space, record->kernel, word) == 0 && strcspn(record->kernel, "_") == word && device &&
	       device[1] && strcasestr(record->device, device + 1);
}

const char *score_peers_space(const struct score_peers *peers, const char *path, const struct record *record) {
	char name[256];
	const char *found = NULL;
	space_of_path(path, name, sizeof name);
	js_members (space, rows, peers->results) {
		if (strcmp(space, name) == 0)
			return space;
		if (!found && is_space_of(space, record))
			found = space;
	}
	return found;
}

/* A value that is not a sensible number counts as missing. */
static double number_at(const json_t *row, const char *key, double min, double max) {
	double value = js_real_or(row, key, NAN);
	return value >= min && value <= max ? value : NAN;
}

static double listed(const json_t *row, const char *key, int at, double max) {
	const json_t *item = at < 0 ? NULL : json_array_get(json_object_get(row, key), (size_t)at);
	double value = json_is_number(item) ? json_number_value(item) : NAN;
	return value >= 0 && value <= max ? value : NAN;
}

/* null: the median run never came to it. */
static double evaluations_at(const json_t *row, int at) {
	const json_t *item = at < 0 ? NULL : json_array_get(json_object_get(row, "evals_to"), (size_t)at);
	double value = listed(row, "evals_to", at, 1e12);
	return json_is_null(item) ? INFINITY : value >= 1 ? value : NAN;
}

static void figures_read(const struct score_peers *peers, const json_t *row, double figures[SCORE_FIGURES]) {
	for (int i = 0; i < SCORE_FIGURES; i++)
		figures[i] = NAN;
	figures[SCORE_TIME_EXPECTED] = number_at(row, "score_time", -1e6, 1);
	figures[SCORE_EVALS_EXPECTED] = number_at(row, "score_evals", -1e6, 1);
	figures[SCORE_EVALS_MEDIAN] = number_at(row, "score_evals_median_rank", -1e6, 1);
	for (int i = 0; i < SCORE_POINTS; i++) {
		figures[SCORE_RATIO + i] = listed(row, "ratio_at", peers->point[i], 1);
		figures[SCORE_RATIO_MEAN + i] = listed(row, "ratio_at_mean", peers->point[i], 1);
	}
	for (int i = 0; i < SCORE_TARGETS; i++)
		figures[SCORE_TO + i] = evaluations_at(row, peers->target[i]);
}

/* A figure that one space lacks is unknown over all spaces, because peers that were measured on some of them only
 * cannot be compared. */
static bool peer_over(const struct score_peers *peers, const char *name, const char *const *spaces, size_t count,
                      double figures[SCORE_FIGURES]) {
	double one[SCORE_FIGURES];
	memset(figures, 0, SCORE_FIGURES * sizeof *figures);
	for (size_t i = 0; i < count; i++) {
		const json_t *row = json_object_get(json_object_get(peers->results, spaces[i]), name);
		if (!row)
			return false;
		figures_read(peers, row, one);
		for (int f = 0; f < SCORE_FIGURES; f++)
			figures[f] += (f >= SCORE_TO ? log(one[f]) : one[f]) / (double)count;
	}
	for (int f = SCORE_TO; f < SCORE_FIGURES; f++)
		figures[f] = exp(figures[f]);
	return count > 0;
}

struct score_peer *score_peers_over(const struct score_peers *peers, const char *const *spaces, size_t count,
                                    size_t *found) {
	json_t *first = count ? json_object_get(peers->results, spaces[0]) : NULL;
	struct score_peer *list = mem_alloc(json_object_size(first) + 1, sizeof *list);
	*found = 0;
	js_members (name, row, first) {
		struct score_peer *peer = &list[*found];
		peer->name = name;
		*found += peer_over(peers, name, spaces, count, peer->figures);
	}
	return list;
}

const uint64_t score_points[SCORE_POINTS] = {10, 25, 50, 100, 200, 400};
const double score_targets[SCORE_TARGETS] = {.10, .05, .01};

struct score_table *score_table_new(const struct score_axis *axis, size_t runs) {
	struct score_table *table = mem_alloc(1, sizeof *table);
	table->axis = axis;
	table->runs = runs;
	table->set = mem_alloc(runs, sizeof *table->set);
	table->asking = mem_alloc(runs, sizeof *table->asking);
	for (size_t i = 0; i < COLUMNS; i++) {
		table->columns[i] = mem_alloc(runs, sizeof **table->columns);
		table->order[i] = mem_alloc(runs, sizeof **table->order);
	}
	return table;
}

void score_table_free(struct score_table *table) {
	if (!table)
		return;
	for (size_t i = 0; i < COLUMNS; i++) {
		free(table->columns[i]);
		free(table->order[i]);
	}
	free(table->set);
	free(table->asking);
	free(table);
}

/* The best value after each evaluation; NAN until one worked. */
static double *bests_of(const struct replay *replay) {
	double *bests = mem_alloc(replay->count + 1, sizeof *bests), best = NAN;
	for (size_t i = 0; i < replay->count; i++) {
		best = fmin(best, replay->steps[i].value);
		bests[i] = best;
	}
	return bests;
}

/* The best value after the first `count` evaluations. */
static double best_after(const double *bests, const struct replay *replay, double count) {
	size_t done = count < (double)replay->count ? (size_t)count : replay->count;
	return done ? bests[done - 1] : NAN;
}

static void curves_set(struct score_table *table, size_t run, const struct replay *replay, const double *bests) {
	const struct score_axis *axis = table->axis;
	size_t done = 0;
	for (int i = 0; i < SCORE_CURVE; i++) {
		while (done < replay->count && replay->steps[done].seconds <= axis->points[i] * axis->each)
			done++;
		double time = done ? bests[done - 1] : NAN, evals = best_after(bests, replay, rint(axis->points[i]));
		table->columns[COLUMN_TIME + i][run] = isnan(time) ? axis->median : time;
		table->columns[COLUMN_EVALS + i][run] = isnan(evals) ? axis->median : evals;
	}
}

static double first_within(const double *bests, size_t count, double limit) {
	for (size_t i = 0; i < count; i++)
		if (bests[i] <= limit)
			return (double)(i + 1);
	return INFINITY;
}

static double asking_of(const struct replay *replay) {
	mem_auto double *each = mem_alloc(replay->count + 1, sizeof *each);
	for (size_t i = 0; i < replay->count; i++)
		each[i] = replay->steps[i].asking;
	return stats_median(each, replay->count);
}

void score_table_set(struct score_table *table, size_t run, const struct replay *replay, uint64_t limit) {
	double *bests = bests_of(replay), optimum = table->axis->optimum;
	curves_set(table, run, replay, bests);
	for (int i = 0; i < SCORE_POINTS; i++) {
		double best = best_after(bests, replay, (double)score_points[i]), ratio = isnan(best) ? 0 : optimum / best;
		table->columns[COLUMN_RATIO + i][run] = limit && score_points[i] > limit ? NAN : ratio;
	}
	for (int i = 0; i < SCORE_TARGETS; i++)
		table->columns[COLUMN_TO + i][run] = first_within(bests, replay->count, optimum * (1 + score_targets[i]));
	table->asking[run] = asking_of(replay);
	table->set[run] = true;
	free(bests);
}

size_t score_table_runs(const struct score_table *table) {
	size_t count = 0;
	for (size_t i = 0; i < table->runs; i++)
		count += table->set[i];
	return count;
}

double score_table_asking(const struct score_table *table) {
	mem_auto double *each = mem_alloc(table->runs, sizeof *each);
	size_t count = 0;
	for (size_t i = 0; i < table->runs; i++)
		if (table->set[i] && !isnan(table->asking[i]))
			each[count++] = table->asking[i];
	return stats_median(each, count);
}
