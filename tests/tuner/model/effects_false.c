/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs of programs whose truth is known: how often is an effect called clear of a setting that does nothing? With
 * "table" as argument it prints the figures of doc/measurement.md. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"
#include "tuner/model/effects/effects.h"

enum { THREADS, BIND, PLACES, SCHEDULE, CHUNK, WAIT, SPIN, COPY, PARAMS, ROWS_MAX = 300 };

static const size_t levels[PARAMS] = {3, 3, 2, 3, 3, 2, 3, 2};
/* What is run today. */
static const int today[PARAMS] = {2, 0, EFFECTS_ABSENT, 0, EFFECTS_ABSENT, 0, 0, 0};

static bool is_bound(const int *level) {
	return level[BIND] > 0;
}

static double nothing(const int *level) {
	(void)level;
	return 0;
}

static double binding(const int *level) {
	return is_bound(level) ? -0.4 : 0;
}

static double schedule(const int *level) {
	return level[SCHEDULE] == 1 ? -0.3 : 0;
}

static double several(const int *level) {
	return binding(level) + schedule(level) + (level[WAIT] ? -0.1 : 0);
}

static double together(const int *level) {
	return is_bound(level) && level[SCHEDULE] == 1 ? -0.4 : 0;
}

static double three_together(const int *level) {
	return together(level) < 0 && level[WAIT] ? -0.5 : 0;
}

static double crossing(const int *level) {
	return (level[WAIT] != 0) == (level[SPIN] == 1) ? -0.3 : 0;
}

static double either(const int *level) {
	return level[WAIT] || level[SPIN] == 1 ? -0.3 : 0;
}

static double chunk(const int *level) {
	return level[CHUNK] == 2 ? -0.4 : 0;
}

static double places(const int *level) {
	return level[PLACES] == 0 ? -0.4 : 0;
}

static double threads(const int *level) {
	return level[THREADS] == 0 ? 1.2 : level[THREADS] == 1 ? 0.5 : 0;
}

static double threads_bound(const int *level) {
	return threads(level) + (is_bound(level) ? -0.1 * level[THREADS] : 0);
}

static const struct truth {
	const char *name;
	double (*log)(const int *level);
	unsigned matters; /* a place belongs to its binding, and a chunk to its schedule */
} truths[] = {
	{"nothing matters", nothing, 0},
	{"a binding", binding, 1 << BIND},
	{"a schedule", schedule, 1 << SCHEDULE},
	{"three, independently", several, 1 << BIND | 1 << SCHEDULE | 1 << WAIT},
	{"two, only together", together, 1 << BIND | 1 << SCHEDULE},
	{"three, only together", three_together, 1 << BIND | 1 << SCHEDULE | 1 << WAIT},
	{"two that cross", crossing, 1 << WAIT | 1 << SPIN},
	{"either of two", either, 1 << WAIT | 1 << SPIN},
	{"a chunk of a schedule", chunk, 1 << SCHEDULE | 1 << CHUNK},
	{"a place of a binding", places, 1 << BIND | 1 << PLACES},
	{"threads", threads, 1 << THREADS},
	{"a binding that grows with threads", threads_bound, 1 << THREADS | 1 << BIND},
};
enum { TRUTHS = sizeof truths / sizeof *truths };

struct log {
	size_t rows;
	int level[ROWS_MAX * PARAMS];
	double cost[ROWS_MAX];
	bool over[ROWS_MAX];
	struct rng rng;
};

/* A single thread has no binding, a binding has a place, and a schedule that deals has a chunk. */
static void conditions_keep(int *level, struct rng *rng) {
	bool bound = level[THREADS] > 0, placed, dealt = level[SCHEDULE] > 0;
	if (!bound)
		level[BIND] = EFFECTS_ABSENT;
	else if (level[BIND] == EFFECTS_ABSENT)
		level[BIND] = (int)rng_below(rng, levels[BIND]);
	placed = level[BIND] > 0;
	if (placed != (level[PLACES] != EFFECTS_ABSENT))
		level[PLACES] = placed ? (int)rng_below(rng, levels[PLACES]) : EFFECTS_ABSENT;
	if (dealt != (level[CHUNK] != EFFECTS_ABSENT))
		level[CHUNK] = dealt ? (int)rng_below(rng, levels[CHUNK]) : EFFECTS_ABSENT;
}

static void draw(int *level, struct rng *rng) {
	for (size_t p = 0; p < PARAMS; p++)
		level[p] = (int)rng_below(rng, levels[p]);
	conditions_keep(level, rng);
}

/* A neighbour of the best so far, in one or two parameters. */
static void step(int *level, const int *best, struct rng *rng) {
	memcpy(level, best, PARAMS * sizeof *level);
	for (size_t i = 0, count = 1 + rng_below(rng, 2); i < count; i++) {
		size_t p = rng_below(rng, PARAMS);
		level[p] = level[p] == EFFECTS_ABSENT ? EFFECTS_ABSENT : (int)rng_below(rng, levels[p]);
	}
	conditions_keep(level, rng);
}

struct noise {
	const char *name;
	double deviation, slow; /* slow: the share of the rows that take half as long again */
};

/* A search begins with what is run today and at random, then goes on around its best, and cuts short what is slow. */
static void log_make(struct log *log, const struct truth *truth, const struct noise *noise, bool search) {
	double best = INFINITY;
	const int *at = log->level;
	for (size_t row = 0; row < log->rows; row++) {
		int *level = log->level + row * PARAMS;
		if (row == 0)
			memcpy(level, today, sizeof today);
		else if (!search || row < log->rows / 4 || row % 3 == 0)
			draw(level, &log->rng);
		else
			step(level, at, &log->rng);
		double slow = rng_unit(&log->rng) < noise->slow ? 1.5 : 1;
		double cost = 0.1 * exp(truth->log(level) + noise->deviation * rng_normal(&log->rng)) * slow;
		log->over[row] = search && cost > 1.3 * best;
		log->cost[row] = log->over[row] ? 1.3 * best : cost;
		if (cost < best) {
			best = cost;
			at = level;
		}
	}
}

struct rates {
	int clear, wrong, found, there; /* effects that are clear; of what does nothing; of what matters; that matter */
	int logs, bad;                  /* bad: with a wrong one */
	int parents;                    /* wrong ones of what brings others */
	bool blind;                     /* nobody says what is run today */
};

static void log_judge(struct log *log, const struct truth *truth, struct rates *rates) {
	struct effect effects[PARAMS];
	const struct effects_table table = {.rows = log->rows,
	                                    .params = PARAMS,
	                                    .levels = levels,
	                                    .level = log->level,
	                                    .cost = log->cost,
	                                    .over = log->over,
	                                    .today = rates->blind ? NULL : today};
	int wrong = rates->wrong;
	effects_fit(&table, effects);
	for (size_t p = 0; p < PARAMS; p++) {
		bool clear = effects[p].known && effects[p].ci[0] > 1.01, matters = truth->matters >> p & 1;
		rates->clear += clear;
		rates->wrong += clear && !matters;
		rates->parents += clear && !matters && p == THREADS;
		rates->there += matters;
		rates->found += clear && matters;
	}
	rates->logs++;
	rates->bad += rates->wrong > wrong;
}

static const struct noise noises[] = {{"3 %", 0.03, 0}, {"10 %", 0.1, 0}, {"3 %, two speeds", 0.03, 0.3}};
static const size_t sizes[] = {30, 100, 300};
enum { NOISES = sizeof noises / sizeof *noises, SIZES = sizeof sizes / sizeof *sizes, REPEATS = 8 };

/* truth, noise, size, search: SIZE_MAX stands for all of them. repeats: below 0, the fit is not told of today. */
static struct rates rates_of(size_t truth, size_t noise, size_t size, size_t search, int repeats) {
	struct rates rates = {.blind = repeats < 0};
	for (size_t t = 0; t < TRUTHS; t++)
		for (size_t n = 0; n < NOISES; n++)
			for (size_t s = 0; s < SIZES; s++)
				for (size_t k = 0; k < 2; k++) {
					bool counts = (truth == SIZE_MAX || truth == t) && (noise == SIZE_MAX || noise == n) &&
					              (size == SIZE_MAX || size == s) && (search == SIZE_MAX || search == k);
					for (int i = 1; counts && i <= abs(repeats); i++) {
						struct log log = {.rows = sizes[s]};
						rng_seed(&log.rng, (uint64_t)i);
						log_make(&log, &truths[t], &noises[n], k);
						log_judge(&log, &truths[t], &rates);
					}
				}
	return rates;
}

static void row_print(const char *name, const struct rates *r) {
	printf("%-36s %6d %6d %6d %6d %6d %6d\n", name, r->clear, r->wrong, r->found, r->there, r->logs, r->bad);
}

static int table_print(void) {
	enum { MANY = 40 };
	struct rates rates;
	printf("%-36s %6s %6s %6s %6s %6s %6s\n", "logs", "clear", "false", "found", "of", "logs", "bad");
	for (size_t t = 0; t < TRUTHS; t++) {
		rates = rates_of(t, SIZE_MAX, SIZE_MAX, SIZE_MAX, MANY);
		row_print(truths[t].name, &rates);
	}
	rates = rates_of(SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, -MANY);
	row_print("all, without today's setting", &rates);
	for (size_t n = 0; n < NOISES; n++) {
		rates = rates_of(SIZE_MAX, n, SIZE_MAX, SIZE_MAX, MANY);
		row_print(noises[n].name, &rates);
	}
	for (size_t s = 0; s < SIZES; s++)
		for (size_t k = 0; k < 2; k++) {
			char name[40];
			snprintf(name, sizeof name, "%zu rows, %s", sizes[s], k ? "of a search" : "at random");
			rates = rates_of(SIZE_MAX, SIZE_MAX, s, k, MANY);
			row_print(name, &rates);
		}
	return 0;
}

int main(int argc, char **argv) {
	(void)argv;
	if (argc > 1)
		return table_print();
	struct rates none = rates_of(0, SIZE_MAX, SIZE_MAX, SIZE_MAX, 5 * REPEATS);
	ok(none.bad <= 0.05 * none.logs, "where nothing matters, %d of %d logs have an effect that is clear", none.bad,
	   none.logs);
	struct rates all = rates_of(SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, REPEATS);
	ok(all.wrong <= 0.05 * all.clear, "%d of %d effects that are clear are of settings that do nothing", all.wrong,
	   all.clear);
	ok(all.found >= 0.5 * all.there, "%d of %d effects are found", all.found, all.there);
	struct rates blind = rates_of(SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, -REPEATS);
	ok(blind.wrong <= 0.05 * blind.clear && blind.found >= 0.4 * blind.there && blind.parents <= 0.01 * blind.logs,
	   "logs that do not say what is run today have %d false effects of %d that are clear, and %d of %d are found",
	   blind.wrong, blind.clear, blind.found, blind.there);
	struct rates bound = rates_of(1, SIZE_MAX, SIZE_MAX, SIZE_MAX, 2 * REPEATS);
	ok(bound.parents <= 0.02 * bound.logs,
	   "threads, without which there is no binding, have its effect in %d of %d logs", bound.parents, bound.logs);
	return tap_done();
}
