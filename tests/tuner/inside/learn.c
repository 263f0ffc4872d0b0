/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library and the tuner's session in one process, on models whose optimum is known: costs are computed, with noise,
 * so that nothing depends on the machine. */
#include <errno.h>
#include <math.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "lib/sweetspot.h"
#include "tests/tap.h"
#include "tuner/inside/inside.h"

enum { FOUND = 300, FOLLOWED = 200, DRIFTS = 1000, CALLS = 2000, MODELS = 50, STRETCH = 40, MOST = 28, WAYS = 3 };
static const double SHARE = 0.03, CLOSE = 1.06, DIFFERENT = 1.3, FASTEST = 1e-3;

static const long long blocks[] = {8, 16, 32, 64, 128, 256}, unrolls[] = {1, 2, 4, 8};
static const char *const ways[] = {"plain", "tiled", "packed"};

/* The logarithm of a cost: steps from the best block and unrolling, and what a way adds. */
struct landscape {
	double block, unroll; /* of a step */
	int best_block, best_unroll;
	double way[WAYS];
};

static double cost_at(const struct landscape *land, int block, int unroll, int way) {
	return FASTEST * exp(land->block * abs(block - land->best_block) + land->unroll * abs(unroll - land->best_unroll) +
	                     land->way[way]);
}

enum { DEFAULT_BLOCK = 2, DEFAULT_WAY = 0 };

/* Before and after the drift. Without any slope every choice costs the same. */
struct model {
	struct landscape land[2];
	double by_default[2];
};

static struct landscape landscape_draw(struct rng *rng) {
	struct landscape land = {.block = 0.05 + 0.2 * rng_unit(rng),
	                         .unroll = 0.05 + 0.2 * rng_unit(rng),
	                         .best_block = 1 + (int)rng_below(rng, 5),
	                         .best_unroll = (int)rng_below(rng, 4)};
	uint64_t best = rng_below(rng, WAYS);
	for (uint64_t i = 0; i < WAYS; i++)
		land.way[i] = i == best ? 0 : 0.1 + 0.8 * rng_unit(rng);
	return land;
}

/* After the drift the former best costs clearly more, as the default does at first. */
static struct model model_draw(uint64_t seed) {
	struct model model;
	struct rng rng;
	double before;
	rng_seed(&rng, seed);
	do {
		for (int i = 0; i < 2; i++) {
			model.land[i] = landscape_draw(&rng);
			model.by_default[i] = cost_at(&model.land[i], DEFAULT_BLOCK, 0, DEFAULT_WAY);
		}
		int way = 0;
		while (model.land[0].way[way] > 0)
			way++;
		before = cost_at(&model.land[1], model.land[0].best_block, model.land[0].best_unroll, way);
	} while (before < DIFFERENT * FASTEST || model.by_default[0] < DIFFERENT * FASTEST);
	return model;
}

static const struct model flat = {.by_default = {1e-3, 1e-3}};

static sweetspot_context *declare(void) {
	sweetspot_context *context = sweetspot_context_open("work");
	sweetspot_context_int(context, "block", blocks, 6, blocks[DEFAULT_BLOCK]);
	sweetspot_context_int(context, "unroll", unrolls, 4, unrolls[0]);
	sweetspot_context_word(context, "way", ways, WAYS, ways[DEFAULT_WAY]);
	sweetspot_context_constraint(context, "way != 'packed' or block >= 16");
	return context;
}

static double cost_of(const struct landscape *land, const struct sweetspot_choice *choice) {
	const char *word = sweetspot_chosen_word(choice, "way");
	int way = 0;
	while (strcmp(ways[way], word) != 0)
		way++;
	return cost_at(land, (int)log2((double)sweetspot_chosen_int(choice, "block") / 8),
	               (int)log2((double)sweetspot_chosen_int(choice, "unroll")), way);
}

/* A call in a hundred is interrupted, the others vary by 3 %. */
static double noisy(double cost, struct rng *rng) {
	return cost * exp(0.03 * rng_normal(rng)) * (rng_unit(rng) < 0.01 ? 5 : 1);
}

struct course {
	int found, followed; /* calls until it stays close to the optimum; before and after the drift */
	double ratio, lost;  /* of all costs to those of the defaults; part of the time that trying cost */
	size_t better;
};

/* The first call after which most calls are close to the optimum; those that try something else are in between. */
static int close_from(const bool *is_close, int begin, int end) {
	for (int i = begin; i + STRETCH <= end; i++) {
		int count = 0;
		for (int k = i; k < i + STRETCH; k++)
			count += is_close[k];
		if (is_close[i] && count >= MOST)
			return i;
	}
	return end;
}

static struct course play(const struct model *model, uint64_t seed, double share, bool credit) {
	struct course course = {0};
	struct inside_session *session = inside_session_new(seed);
	const struct inside_mode mode = {.learns = true, .share = share, .credit = credit};
	js_auto json_t *set = json_object();
	struct err err = {0};
	struct rng rng;
	double sum = 0, by_default = 0;
	static bool is_close[CALLS];
	rng_seed(&rng, seed);
	inside_run_begin(session, &mode, set, &err);
	js_members (name, value, set)
		setenv(name, json_string_value(value), 1);
	sweetspot_context *context = declare();
	for (int i = 0; i < CALLS; i++) {
		struct sweetspot_value n = {"n", 1000, NULL};
		struct sweetspot_choice choice;
		bool late = i >= DRIFTS;
		sweetspot_choose(context, &n, 1, &choice);
		double cost = cost_of(&model->land[late], &choice);
		sweetspot_report(&choice, noisy(cost, &rng));
		inside_run_poll(session);
		sum += cost;
		by_default += model->by_default[late];
		is_close[i] = cost <= CLOSE * FASTEST;
	}
	course.found = close_from(is_close, 0, DRIFTS);
	course.followed = close_from(is_close, DRIFTS, CALLS) - DRIFTS;
	course.ratio = sum / by_default;
	inside_run_end(session, false);
	struct inside_account account = inside_session_account(session);
	course.lost = account.lost / account.seconds;
	course.better = account.better;
	inside_session_free(session);
	return course;
}

/* In a process of its own, because the library reads its environment once. */
static struct course play_apart(const struct model *model, uint64_t seed, double share, bool credit) {
	struct course course = {0};
	int ends[2];
	fflush(stdout);
	if (pipe(ends) != 0)
		return course;
	pid_t child = fork();
	if (child == 0) {
		course = play(model, seed, share, credit);
		_exit(write(ends[1], &course, sizeof course) != sizeof course);
	}
	close(ends[1]);
	if (read(ends[0], &course, sizeof course) != sizeof course)
		course.ratio = NAN;
	close(ends[0]);
	waitpid(child, NULL, 0);
	return course;
}

/* credit: what was won may be spent, so that the whole run may lose the share against the defaults; as `tune` does. */
static void models_test(bool credit) {
	int found = 0, followed = 0, slower = 0, over = 0;
	for (uint64_t seed = 1; seed <= MODELS; seed++) {
		const struct model model = model_draw(seed);
		struct course course = play_apart(&model, seed, SHARE, credit);
		printf("# model %d: found %d, followed %d, %.4f of the defaults, %.4f lost\n", (int)seed, course.found,
		       course.followed, course.ratio, course.lost);
		found += course.found <= FOUND;
		followed += course.followed <= FOLLOWED;
		slower += !(course.ratio <= 1 + SHARE);
		over += !(course.lost <= 1.2 * SHARE);
	}
	const char *with = credit ? "with what was won" : "within the share";
	printf("# %s: found %d, followed %d\n", with, found, followed);
	ok(found >= MODELS * 0.86, "the optimum is found within %d calls in most models, %s", FOUND, with);
	ok(followed >= MODELS * (credit ? 0.94 : 0.92), "a drift is followed within %d calls in most models, %s", FOLLOWED,
	   with);
	ok(slower == 0, "a run that learns loses no more than the share against the defaults, %s", with);
	if (!credit)
		ok(over == 0, "trying costs about its share at most");
}

static void flat_test(void) {
	int slower = 0, over = 0, kept = 0;
	for (uint64_t seed = 1; seed <= MODELS; seed++) {
		struct course course = play_apart(&flat, seed, SHARE, seed % 2);
		slower += !(course.ratio <= 1.001);
		over += !(course.lost <= SHARE);
		kept += course.better == 0;
	}
	ok(slower == 0, "a program that does not care takes as long as with its defaults");
	ok(over == 0, "trying costs a program that does not care its share at most");
	ok(kept == MODELS, "nothing is recommended for a program that does not care");
}

static void nothing_test(void) {
	const struct model model = model_draw(1);
	struct course course = play_apart(&model, 1, 0, false);
	ok(course.lost == 0 && fabs(course.ratio - 1) < 1e-5, "a program whose share is 0 keeps its defaults");
}

/* A run of the program, call by call with the tuner: each waits for the other. */
static void run_apart(struct inside_session *session, char *program, const struct model *model, int calls,
                      struct rng *rng) {
	const struct inside_mode mode = {.learns = true, .share = SHARE};
	js_auto json_t *set = json_object();
	struct err err = {0};
	int ends[2];
	char turn = 0;
	inside_run_begin(session, &mode, set, &err);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		program_invocation_short_name = program;
		js_members (name, value, set)
			setenv(name, json_string_value(value), 1);
		sweetspot_context *context = declare();
		for (int i = 0; i < calls; i++) {
			struct sweetspot_value n = {"n", 1000, NULL};
			struct sweetspot_choice choice;
			sweetspot_choose(context, &n, 1, &choice);
			sweetspot_report(&choice, noisy(cost_of(&model->land[0], &choice), rng));
			if (write(ends[1], &turn, 1) != 1 || read(ends[1], &turn, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(ends[1]);
	while (read(ends[0], &turn, 1) == 1) {
		inside_run_poll(session);
		if (write(ends[0], &turn, 1) != 1)
			break;
	}
	close(ends[0]);
	waitpid(child, NULL, 0);
	inside_run_end(session, false);
}

/* The runs after it have the savings or debts of a run, but those of another program do not. */
static void runs_test(void) {
	static const int calls[] = {1000, 60, 60, 10, 60, 10};
	double lost = 0, seconds = 0;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		const struct model model = model_draw(seed);
		struct inside_session *session = inside_session_new(seed);
		struct inside_account before = {0}, after;
		for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
			struct rng rng;
			rng_seed(&rng, 100 * seed + i);
			run_apart(session, i ? "short" : "long", i ? &model : &flat, calls[i], &rng);
			if (i == 0)
				before = inside_session_account(session);
		}
		after = inside_session_account(session);
		lost += after.lost - before.lost;
		seconds += after.seconds - before.seconds;
		inside_session_free(session);
	}
	printf("# runs of changing length: %.4f lost\n", lost / seconds);
	ok(seconds > 0 && lost <= 1.1 * SHARE * seconds, "runs of changing length try within the share of all of them");
}

/* Its record would make the profiles of a store invalid. */
static void unknown_test(void) {
	struct inside_session *session = inside_session_new(1);
	const struct inside_mode mode = {.learns = true, .share = SHARE};
	js_auto json_t *set = json_object();
	struct err err = {0};
	inside_run_begin(session, &mode, set, &err);
	js_members (name, value, set)
		setenv(name, json_string_value(value), 1);
	sweetspot_context *context = declare();
	for (int i = 0; i < 100; i++) {
		struct sweetspot_value n = {"n", i % 2 ? NAN : INFINITY, NULL};
		struct sweetspot_choice choice;
		sweetspot_choose(context, &n, 1, &choice);
		sweetspot_report(&choice, 1e-3);
		inside_run_poll(session);
	}
	ok(inside_session_account(session).cells == 0, "nothing is learned for a size that is not a number");
	inside_session_free(session);
}

static void values_test(void) {
	static long long many[2000];
	struct sweetspot_choice choice;
	sweetspot_context *context = sweetspot_context_open("values");
	for (int i = 0; i < 2000; i++)
		many[i] = i;
	ok(sweetspot_context_int(context, "many", many, 2000, 7) == -1, "a parameter with 2000 values is not accepted");
	sweetspot_choose(context, NULL, 0, &choice);
	ok(sweetspot_chosen_int(&choice, "many") == 7, "a parameter with too many values keeps its default");
}

int main(void) {
	models_test(false);
	models_test(true);
	flat_test();
	nothing_test();
	runs_test();
	unknown_test(); /* the library reads its environment once: from here on there is this ring */
	values_test();
	return tap_done();
}
