/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests counters whose relation to the time is known, and times that do not depend on any. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"
#include "tuner/model/effects/drivers.h"

enum { SHUFFLES = 200, TWIN = 2 };

struct trials {
	struct drivers_data data;
	double *time, *counter;
};

enum kind { HANGS, CHANCE, HEAVY };

/* Counters 0 and 1 drive the time; the third one is almost the first. HEAVY: counters and times with far-out values. */
static void trials_draw(struct trials *t, struct rng *rng, size_t rows, size_t counters, enum kind kind) {
	t->time = mem_alloc(rows, sizeof *t->time);
	t->counter = mem_alloc(rows * counters, sizeof *t->counter);
	for (size_t i = 0; i < rows; i++) {
		double *own = t->counter + i * counters;
		for (size_t c = 0; c < counters; c++) {
			double far = kind == HEAVY ? sqrt(-1 / log(1 - 0.999 * rng_unit(rng) - 1e-4)) : 1;
			own[c] = exp((1 + (double)(c % 3)) * far * rng_normal(rng));
		}
		if (counters > TWIN)
			own[TWIN] = 1000 * own[0] * exp(0.05 * rng_normal(rng));
		double f = kind == HANGS ? 0.8 * log(own[0]) + 0.4 * log(own[1]) : kind == HEAVY ? exp(rng_normal(rng)) : 0;
		t->time[i] = exp(f + 0.2 * rng_normal(rng));
	}
	t->data = (struct drivers_data){.rows = rows,
	                                .counters = counters,
	                                .time = t->time,
	                                .counter = t->counter,
	                                .winner = DRIVERS_NONE,
	                                .baseline = DRIVERS_NONE};
}

static void trials_end(struct trials *t) {
	free(t->time);
	free(t->counter);
}

static const struct driver *driver_of(const struct drivers *d, size_t counter) {
	for (size_t g = 0; g < d->count; g++)
		for (size_t m = 0; m < d->driver[g].count; m++)
			if (d->driver[g].members[m] == counter)
				return &d->driver[g];
	return NULL;
}

static bool finds(const struct drivers *d) {
	const struct driver *first = driver_of(d, 0), *second = driver_of(d, 1);
	return first && second && first->significant && second->significant && first == driver_of(d, TWIN) &&
	       first != second;
}

static void drivers_are_found(struct rng *rng, size_t rows, size_t counters, bool outliers) {
	int found = 0, inside = 0, extra = 0;
	for (int draw = 0; draw < SHUFFLES; draw++) {
		struct trials t;
		struct drivers d;
		trials_draw(&t, rng, rows, counters, HANGS);
		for (size_t i = 4; i < rows && outliers; i += 9)
			t.time[i] *= 50;
		bool done = drivers_make(&d, &t.data) == 0 && d.method == DRIVERS_JOINT;
		const struct driver *second = done ? driver_of(&d, 1) : NULL;
		double unit = second ? second->slope / second->coefficient : 0;
		inside += second && second->ci[0] * unit <= 0.4 && second->ci[1] * unit >= 0.4;
		found += done && finds(&d);
		for (size_t g = 0; done && g < d.count; g++)
			extra += d.driver[g].significant && d.driver[g].representative > TWIN;
		drivers_clear(&d);
		trials_end(&t);
	}
	printf("# %zu rows, %zu counters%s: both found %d, slope inside %d, others found %d, of %d\n", rows, counters,
	       outliers ? ", outliers" : "", found, inside, extra, SHUFFLES);
	ok(found >= SHUFFLES * 95 / 100, "%zu counters drive the time of %zu rows, and are found", (size_t)2, rows);
	ok(inside >= SHUFFLES * 90 / 100, "the interval of a slope contains it in at least 90 %%");
	ok(extra <= SHUFFLES * 5 / 100, "others are found in at most 5 %%");
}

static void chance_is_silent(struct rng *rng, size_t rows, size_t counters, enum kind kind) {
	int any = 0;
	for (int draw = 0; draw < SHUFFLES; draw++) {
		struct trials t;
		struct drivers d;
		bool found = false;
		trials_draw(&t, rng, rows, counters, kind);
		if (drivers_make(&d, &t.data) == 0)
			for (size_t g = 0; g < d.count; g++)
				found |= d.driver[g].significant;
		any += found;
		drivers_clear(&d);
		trials_end(&t);
	}
	printf("# %zu rows, %zu counters%s: %d of %d draws with a driver\n", rows, counters,
	       kind == HEAVY ? ", far-out values" : "", any, SHUFFLES);
	ok(any < SHUFFLES * 5 / 100 + 1, "no driver in 95 %% of draws by chance");
}

/* If time is a product of powers, the shares are those of the powers, and nothing remains. */
static void shares_add_up(struct rng *rng) {
	struct trials t;
	struct drivers d;
	trials_draw(&t, rng, 40, 2, HANGS);
	for (size_t i = 0; i < 40; i++)
		t.time[i] = pow(t.counter[2 * i], 0.8) * pow(t.counter[2 * i + 1], 0.4) * exp(1e-4 * rng_normal(rng));
	t.counter[0] = 8;
	t.counter[1] = 4;
	t.counter[2] = t.counter[3] = 1;
	t.time[0] = pow(8, 0.8) * pow(4, 0.4);
	t.time[1] = 1;
	t.data.winner = 1;
	t.data.baseline = 0;
	bool done = drivers_make(&d, &t.data) == 0;
	double all = log(t.time[0]);
	ok(done && fabs(driver_of(&d, 0)->share - 0.8 * log(8) / all) < 0.01,
	   "the share of the first counter is that of its power");
	ok(done && fabs(driver_of(&d, 1)->share - 0.4 * log(4) / all) < 0.01,
	   "the share of the second counter is that of its power");
	ok(done && fabs(d.unexplained) < 0.01 && fabs(d.time_ratio * t.time[0] - 1) < 1e-9, "nothing stays unexplained");
	ok(done && fabs(driver_of(&d, 0)->ratio - 0.125) < 1e-12, "the ratio of a counter is winner over baseline");
	drivers_clear(&d);

	double work[40];
	for (size_t i = 0; i < 40; i++) {
		work[i] = exp(2 * rng_normal(rng));
		t.time[i] *= work[i];
		t.counter[2 * i] *= work[i];
		t.counter[2 * i + 1] *= work[i];
	}
	t.data.work = work;
	done = drivers_make(&d, &t.data) == 0;
	ok(done && fabs(driver_of(&d, 0)->slope - 0.8) < 0.01 && fabs(driver_of(&d, 1)->slope - 0.4) < 0.01,
	   "per unit of work, the effect of more work does not count");
	drivers_clear(&d);
	trials_end(&t);
}

static void two_rows(void) {
	static const double time[] = {1, 2}, counter[] = {10, 100, 0, 5, NAN, 20, 1000, 0, 5, 3};
	struct drivers_data data = {.rows = 2, .counters = 5, .time = time, .counter = counter, .winner = 0, .baseline = 1};
	struct drivers d;
	bool done = drivers_make(&d, &data) == 0;
	ok(done && d.method == DRIVERS_RATIOS && d.reason[0], "two rows are compared, with a caution");
	ok(done && d.count == 2 && d.driver[0].representative == 1 && fabs(d.driver[0].ratio - 0.1) < 1e-12,
	   "the largest ratio comes first");
	ok(done && !d.driver[0].significant && isnan(d.driver[0].share) && isnan(d.unexplained),
	   "nothing is explained by it");
	ok(d.fate[2] == DRIVERS_ZERO && d.fate[3] == DRIVERS_CONSTANT && d.fate[4] == DRIVERS_MISSING,
	   "uninformative counters are dropped, with the reason");
	drivers_clear(&d);
	data.baseline = DRIVERS_NONE;
	ok(drivers_make(&d, &data) == -1 && d.reason[0], "nothing is said without a baseline");
	drivers_clear(&d);
}

static void dirt_is_dropped(struct rng *rng) {
	struct trials t;
	struct drivers d;
	trials_draw(&t, rng, 60, 8, HANGS);
	for (size_t i = 0; i < 60; i++) {
		double *own = t.counter + i * 8;
		own[3] = 7;
		own[4] = i % 3 ? 0 : own[4];
		own[5] = i % 3 ? own[5] : NAN;
		own[6] = i == 5 ? -1 : own[6];
		own[7] = i % 10 ? own[7] : 0;
		own[1] = i % 20 ? own[1] : INFINITY;
	}
	bool done = drivers_make(&d, &t.data) == 0;
	ok(done && d.fate[3] == DRIVERS_CONSTANT && d.fate[4] == DRIVERS_ZERO && d.fate[5] == DRIVERS_MISSING &&
	       d.fate[6] == DRIVERS_NEGATIVE,
	   "constant, empty, missing and negative counters are dropped");
	ok(done && d.fate[7] == DRIVERS_KEPT && d.rows == 57,
	   "a few zeros are kept, and a few missing values drop their rows");
	ok(done && finds(&d), "the drivers are found although counters are dropped");
	drivers_clear(&d);
	t.time[3] = 0;
	ok(drivers_make(&d, &t.data) == -1 && d.reason[0], "a time of 0 is refused");
	drivers_clear(&d);
	t.time[3] = 1;
	t.data.winner = 60;
	ok(drivers_make(&d, &t.data) == -1 && d.reason[0], "a winner out of range is refused");
	drivers_clear(&d);
	trials_end(&t);
}

/* Twelve rows of twenty counters are analysed one counter at a time, and shares do not add up. */
static void few_rows(struct rng *rng) {
	struct trials t;
	struct drivers d;
	trials_draw(&t, rng, 12, 20, HANGS);
	bool done = drivers_make(&d, &t.data) == 0;
	ok(done && d.method == DRIVERS_ONE_BY_ONE && d.reason[0] && isnan(d.unexplained),
	   "few rows are analysed one by one, with the reason");
	drivers_clear(&d);
	trials_end(&t);
}

int main(void) {
	struct rng rng;
	rng_seed(&rng, 5);
	drivers_are_found(&rng, 60, 6, false);
	drivers_are_found(&rng, 36, 11, false);
	drivers_are_found(&rng, 60, 6, true);
	chance_is_silent(&rng, 60, 6, CHANCE);
	chance_is_silent(&rng, 18, 7, CHANCE);
	chance_is_silent(&rng, 60, 20, CHANCE);
	chance_is_silent(&rng, 12, 20, CHANCE);
	chance_is_silent(&rng, 60, 20, HEAVY);
	chance_is_silent(&rng, 24, 20, HEAVY);
	shares_add_up(&rng);
	two_rows();
	dirt_is_dropped(&rng);
	few_rows(&rng);
	return tap_done();
}
