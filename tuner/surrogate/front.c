/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The configuration to measure next: the candidate that promises most. Two objectives: a second model, without sources,
 * predicts the other one, and a proposal maximises the expected improvement of the hypervolume that the front
 * dominates, as a sum over its strips (Emmerich, Deutz, Klinkenberg, Hypervolume-based expected improvement:
 * monotonicity properties and exact computation, 2011). Volumes are of logarithms, so that the units do not matter. */
#include "tuner/model/pareto.h"
#include "tuner/surrogate/surrogate_impl.h"

enum { POINTS_MAX = 256, STRIPS_MAX = 16, GAIN_FROM = -8, GAIN_EACH = 64, GAINS = 16 * GAIN_EACH };
/* How far the reference lies behind the ends of the front: a share of its range, and at least this. */
static const double BEHIND = 0.1, BEHIND_LEAST = 0.05;

struct point {
	double log[2];
};

struct front {
	struct point points[POINTS_MAX]; /* that no other dominates, by the first logarithm */
	size_t count, fits;
	float gain[GAINS + 1]; /* the expected improvement of a normal variable by its gap */
};

/* of a candidate's target, after surrogate_ask */
static double deviation_of(const struct surrogate *surrogate, size_t c) {
	return sqrt(surrogate->fit.stretch * fmax(gp_pool_variance(surrogate->fit.values)[c], 1e-9));
}

void front_begin(struct surrogate *surrogate) {
	struct strategy_task task = surrogate->task;
	struct front *front = surrogate->front = arena_alloc(task.arena, 1, sizeof *front);
	task.two = false;
	task.length_count = 0;
	task.lengths = NULL;
	surrogate->second = surrogate_new(&task, false);
	surrogate->second->leader = surrogate;
	for (int i = 0; i <= GAINS; i++)
		front->gain[i] = (float)surrogate_gain_of(GAIN_FROM + (double)i / GAIN_EACH, 1);
}

static double gain_of(const struct front *front, double gap, double deviation) {
	double at = (gap / deviation - GAIN_FROM) * GAIN_EACH;
	if (!(at > 0))
		return 0;
	if (at >= GAINS)
		return gap;
	int step = (int)at;
	double low = (double)front->gain[step], high = (double)front->gain[step + 1];
	return deviation * (low + (at - step) * (high - low));
}

/* The front with one more point. A full one stays as it is. */
static size_t point_put(struct point *points, size_t count, struct point new) {
	struct point all[POINTS_MAX + 1];
	size_t front[POINTS_MAX + 1];
	memcpy(all, points, count * sizeof *points);
	all[count] = new;
	size_t kept = (size_t)pareto_front((const double(*)[2])all, count + 1, front);
	if (kept > POINTS_MAX)
		return count;
	for (size_t i = 0; i < kept; i++)
		points[i] = all[front[i]];
	return kept;
}

void front_report(struct surrogate *surrogate, uint64_t index, const struct strategy_outcome *outcome) {
	struct front *front = surrogate->front;
	struct strategy_outcome other = *outcome;
	if (outcome->result != STRATEGY_VALUE || !(outcome->second > 0))
		return;
	other.value = outcome->second;
	other.deviation = 0;
	front->count = point_put(front->points, front->count, (struct point){{log(outcome->value), log(outcome->second)}});
	surrogate_report(surrogate->second, index, &other);
}

/* Points of pending configurations count as well. At most STRIPS_MAX of all, both ends included; as targets. */
static size_t strips(const struct surrogate *surrogate, const struct surrogate *other, struct point *strip) {
	struct point all[POINTS_MAX];
	const struct front *front = surrogate->front;
	size_t count = front->count, most;
	for (size_t i = 0; i < count; i++)
		for (int k = 0; k < 2; k++)
			all[i].log[k] = front->points[i].log[k] - (k ? other : surrogate)->best;
	for (size_t i = 0; i < surrogate->waiting.count && i < other->waiting.count; i++)
		count = point_put(all, count,
		                  (struct point){{surrogate->fit.target[surrogate->fit.in_value + i],
		                                  other->fit.target[other->fit.in_value + i]}});
	most = count < STRIPS_MAX ? count : STRIPS_MAX;
	for (size_t i = 0; i < most; i++)
		strip[i] = all[most > 1 ? i * (count - 1) / (most - 1) : 0];
	return most;
}

/* The point behind the front up to which volumes are counted; only what is better than that has to be told apart. */
static struct point reference(const struct front *front) {
	const struct point first = front->points[0], last = front->points[front->count - 1];
	struct point behind = {{last.log[0], first.log[1]}};
	for (int k = 0; k < 2; k++)
		behind.log[k] += fmax(BEHIND_LEAST, BEHIND * fabs(last.log[k] - first.log[k]));
	return behind;
}

/* In each strip between two points, the width that is gained times the height. */
static double volume_of(const struct front *front, const struct point *strip, size_t count, struct point behind,
                        const double mean[2], const double deviation[2]) {
	double sum = 0, before = 0;
	for (size_t i = 0; i <= count; i++) {
		double to = i < count ? strip[i].log[0] : behind.log[0], top = i ? strip[i - 1].log[1] : behind.log[1];
		double width = gain_of(front, to - mean[0], deviation[0]);
		if (width > before)
			sum += (width - before) * gain_of(front, top - mean[1], deviation[1]);
		before = width;
	}
	return sum;
}

static double goal_of(const struct surrogate *surrogate) {
	return surrogate->worth.incumbent - surrogate->worth.step;
}

struct choice {
	uint64_t best, nearest;
	double most, least;
};

static void choose(struct choice *choice, uint64_t index, double worth, double shortfall) {
	if (worth > choice->most) {
		choice->most = worth;
		choice->best = index;
	}
	if (shortfall < choice->least) {
		choice->least = shortfall;
		choice->nearest = index;
	}
}

/* At least the gain, without functions that thousands of candidates would wait for. */
static double gain_most(const struct surrogate *surrogate, double gap, double deviation) {
	double step = (gap / deviation - GAP_MIN) * GAP_STEP;
	if (step >= GAP_STEPS)
		return INFINITY;
	return deviation * (double)surrogate->worth.gain_most[step > 0 ? (int)step : 0];
}

static double chance_of(const struct surrogate *surrogate, size_t candidate) {
	return surrogate->odds.works ? (double)surrogate->odds.chance[candidate] : 1;
}

enum { BOLD_EACH = 64 }; /* chance.c says why */

static bool may_be_proposed(const struct surrogate *surrogate, size_t candidate) {
	bool bold = (surrogate->count + surrogate->waiting.count) % BOLD_EACH == 0;
	return !surrogate->odds.strict ||
	       chance_of(surrogate, candidate) >= (bold ? surrogate->odds.pass_bold : surrogate->odds.pass);
}

double surrogate_gain_at(const struct surrogate *surrogate, size_t c) {
	double gap = goal_of(surrogate) - gp_pool_mean(surrogate->fit.values)[c];
	return chance_of(surrogate, c) * surrogate_gain_of(gap, deviation_of(surrogate, c));
}

/* The expected gain of what may be proposed, boldly or not, is multiplied by the chance to this power: with 98 % it
 * halves. */
static const double CAUTION = 30;

/* a factor of its worth */
static double surrogate_caution_of(const struct surrogate *surrogate, size_t candidate) {
	return surrogate->odds.strict ? pow(chance_of(surrogate, candidate), CAUTION) : 1;
}

double surrogate_most_promising(struct surrogate *surrogate, uint64_t *index) {
	const float *mean = gp_pool_mean(surrogate->fit.values);
	const struct pool *pool = &surrogate->pool;
	struct choice doubted = {UINT64_MAX, UINT64_MAX, 0, INFINITY}, passed = doubted;
	double power = cost_power(surrogate->cost);
	for (size_t c = 0; c < pool->count; c++) {
		surrogate->worth.gain[c] = 0;
		if (history_taken(surrogate->task.history, pool->index[c]))
			continue;
		double deviation = deviation_of(surrogate, c), gap = goal_of(surrogate) - mean[c];
		bool passes = may_be_proposed(surrogate, c);
		struct choice *choice = passes ? &passed : &doubted;
		double worth = chance_of(surrogate, c) * gain_most(surrogate, gap, deviation);
		surrogate->worth.gain[c] = worth;
		if (power > 0 || worth > choice->most)
			worth = surrogate->worth.gain[c] = surrogate_gain_at(surrogate, c);
		if (power > 0 && worth > 0)
			worth *= cost_share(surrogate->cost, power, pool->codes + c * surrogate->dims);
		if (passes && worth > passed.most) /* a power of thousands of chances takes time */
			worth *= surrogate_caution_of(surrogate, c);
		choose(choice, pool->index[c], worth, -gap / deviation);
	}
	const struct choice *choice = passed.nearest == UINT64_MAX ? &doubted : &passed;
	*index = choice->best == UINT64_MAX ? choice->nearest : choice->best;
	return choice->most;
}

/* UINT64_MAX: no configuration has both objectives yet, or none promises anything. */
static uint64_t front_ask(struct surrogate *surrogate) {
	struct front *front = surrogate->front;
	struct surrogate *other = surrogate->second;
	struct point behind, strip[STRIPS_MAX];
	uint64_t best = UINT64_MAX;
	double most = 0;
	if (!front->count)
		return UINT64_MAX;
	behind = reference(front);
	surrogate->cap = behind.log[0] -= surrogate->best;
	other->cap = behind.log[1] -= other->best;
	surrogate_predict(surrogate);
	if (!surrogate->pool.whole && front->fits != surrogate->fit.fits)
		surrogate_pool_fill(other);
	front->fits = surrogate->fit.fits;
	surrogate_predict(other);
	size_t count = strips(surrogate, other, strip);
	for (size_t c = 0; c < surrogate->pool.count; c++) {
		const double mean[] = {(double)gp_pool_mean(surrogate->fit.values)[c],
		                       (double)gp_pool_mean(other->fit.values)[c]},
					 deviation[] = {deviation_of(surrogate, c), deviation_of(other, c)};
		if (history_taken(surrogate->task.history, surrogate->pool.index[c]) || !may_be_proposed(surrogate, c))
			continue;
		double worth = chance_of(surrogate, c) * surrogate_caution_of(surrogate, c) *
		               volume_of(front, strip, count, behind, mean, deviation);
		if (worth > most) {
			most = worth;
			best = surrogate->pool.index[c];
		}
	}
	return best;
}

uint64_t surrogate_ask(struct surrogate *surrogate) {
	if (surrogate->worked == 0)
		return UINT64_MAX;
	uint64_t index = surrogate->front ? front_ask(surrogate) : UINT64_MAX;
	if (index != UINT64_MAX)
		return index;
	surrogate_predict(surrogate);
	surrogate_most_promising(surrogate, &index);
	return index;
}

static const double GAIN_MAX = 100; /* largest gain, as a logarithm, so that its exponential stays finite */

enum { TOP = 64 };

/* The candidates with the largest gains. */
static size_t top_find(const struct surrogate *surrogate, size_t *top, size_t room) {
	double most[TOP];
	size_t count = 0;
	for (size_t c = 0; c < surrogate->pool.count; c++) {
		size_t at = count;
		if (!(surrogate->worth.gain[c] > 0) || (count == room && surrogate->worth.gain[c] <= most[room - 1]))
			continue; /* taken, or too little even if it were all of that */
		double gain = surrogate_gain_at(surrogate, c);
		while (at > 0 && gain > most[at - 1])
			at--;
		if (at == room || !(gain > 0))
			continue;
		count += count < room;
		memmove(&top[at + 1], &top[at], (count - at - 1) * sizeof *top);
		memmove(&most[at + 1], &most[at], (count - at - 1) * sizeof *most);
		top[at] = c;
		most[at] = gain;
	}
	return count;
}

/* The expected maximum of the largest gains, as if they were independent. Gains of neighbours are correlated, so that
 * this is an upper bound, and a search that stops by it stops late rather than early. */
double surrogate_promise(const struct surrogate *surrogate, uint64_t left) {
	enum { STEPS_OF_GAIN = 64 };
	size_t top[TOP], room = left < TOP ? (size_t)left : TOP;
	const float *mean = gp_pool_mean(surrogate->fit.values);
	double widest = 0, sum = 0;
	if (!surrogate->asked || surrogate->front || room == 0)
		return surrogate->asked && !surrogate->front ? 0 : NAN;
	size_t count = top_find(surrogate, top, room);
	for (size_t i = 0; i < count; i++)
		widest = fmax(widest, surrogate->worth.incumbent - mean[top[i]] + 4 * deviation_of(surrogate, top[i]));
	for (int step = 0; step < STEPS_OF_GAIN; step++) {
		double gain = widest * (step + 0.5) / STEPS_OF_GAIN, none = 1;
		for (size_t i = 0; i < count; i++) {
			double z = (surrogate->worth.incumbent - mean[top[i]] - gain) / deviation_of(surrogate, top[i]);
			none *= 1 - chance_of(surrogate, top[i]) * 0.5 * erfc(-z / sqrt(2));
		}
		sum += (1 - none) * widest / STEPS_OF_GAIN;
	}
	return expm1(fmin(sum, GAIN_MAX));
}
