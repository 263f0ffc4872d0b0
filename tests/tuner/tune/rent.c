/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole procedure on simulated programs whose truth is known: what is recommended is the smallest that has the
 * gain, each of its changes has a price that holds, and the budget is kept. */
#include <math.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "tests/tuner/space/help.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/tune/tune.h"

enum { SEEDS = 10 };
static const double LATE = 0.02;
struct shape {
	struct space *(*make)(void);
	json_t *(*today)(void);
};

struct program {
	double (*factor)(const json_t *config);
	double seconds, noise;
	double load;  /* of this share of the runs each takes up to half longer, and starts 20 ms later */
	double slow;  /* this share of the runs takes 1.3 times as long */
	double drift; /* of the logarithm, as a wave of 10 s */
	struct rng rng;
	double clock;
};

static bool is(const json_t *config, const char *name, const char *value) {
	return strcmp(js_string_or(config, name, ""), value) == 0;
}

static bool is_bound(const json_t *config) {
	return !is(config, "bind", "false");
}

static double nothing(const json_t *config) {
	(void)config;
	return 1;
}

static double binding(const json_t *config) {
	return is_bound(config) ? 1 / 1.5 : 1;
}

static double schedule(const json_t *config) {
	return is(config, "schedule", "dynamic") ? 1 / 1.4 : 1;
}

static double both(const json_t *config) {
	return is_bound(config) && is(config, "schedule", "dynamic") ? 1 / 1.5 : 1;
}

static double spin_or_wait(const json_t *config) {
	return is(config, "spin", "none") || is(config, "wait", "passive") ? 1 / 1.3 : 1;
}

static double all_three(const json_t *config) {
	return is(config, "wait", "passive") ? both(config) : 1;
}

/* The schedule brings something only with a binding. */
static double bound_schedule(const json_t *config) {
	return !is_bound(config) ? 1 : is(config, "schedule", "dynamic") ? 1 / 1.5 : 1 / 1.2;
}

static double one_flag(const json_t *config) {
	return is(config, "F5", "on") ? 1 / 1.4 : 1;
}

/* A quarter of the gain needs -ffast-math. */
static double dangerous_flag(const json_t *config) {
	return one_flag(config) * (is(config, "F1", "-ffast-math") ? 1 / 1.1 : 1);
}

/* Today's setting is the slowest by far. */
static double any_schedule(const json_t *config) {
	return is(config, "schedule", "default") ? 1 : 1. / 8;
}

static double any_schedule_and_wait(const json_t *config) {
	return any_schedule(config) * (is(config, "wait", "passive") ? 1 / 1.3 : 1);
}

static double place(const json_t *config) {
	return is(config, "places", "cores") ? 1 / 1.3 : 1;
}

static int run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct program *p = ctx;
	(void)err;
	*result = (struct trial_result){.value = NAN, .least = INFINITY};
	result->samples = mem_alloc((size_t)request->samples, sizeof *result->samples);
	double cut = request->cut_s > 0 ? request->cut_s : INFINITY;
	while (result->sample_count < (size_t)request->samples && result->status == TRIAL_CORRECT) {
		double seconds = p->seconds * p->factor(request->config) * exp(p->noise * rng_normal(&p->rng));
		seconds *= exp(p->drift * sin(p->clock * 6.28 / 10)) * (rng_unit(&p->rng) < p->slow ? 1.3 : 1);
		if (rng_unit(&p->rng) < p->load) {
			seconds *= 1 + rng_unit(&p->rng) / 2;
			result->elapsed_s += LATE;
		}
		result->elapsed_s += fmin(seconds, cut);
		if (seconds > cut)
			result->status = TRIAL_CENSORED;
		else
			result->samples[result->sample_count++] = seconds;
		result->least = fmin(result->least, fmin(seconds, cut));
	}
	p->clock += result->elapsed_s;
	result->value = result->status == TRIAL_CORRECT ? result->samples[0] : cut;
	if (result->status != TRIAL_CORRECT)
		result->sample_count = 0;
	return 0;
}

static double now(void *ctx) {
	return ((struct program *)ctx)->clock;
}

static struct space *space_make(void) {
	struct space *space = space_new();
	add_param(space, "bind", "false, close, spread", NULL);
	add_param(space, "places", "cores, threads", "bind != 'false'");
	add_param(space, "schedule", "default, dynamic, guided", NULL);
	add_param(space, "chunk", "1, 16, 64", "schedule != 'default'");
	add_param(space, "wait", "default, passive", NULL);
	add_param(space, "spin", "default, none, long", NULL);
	built(space);
	return space;
}

static json_t *openmp_today(void) {
	return json_pack("{s:s,s:s,s:s,s:s}", "bind", "false", "schedule", "default", "wait", "default", "spin", "default");
}

static struct space *flags_make(void) {
	struct space *space = space_new();
	char name[8];
	for (int i = 1; i <= 12; i++) {
		snprintf(name, sizeof name, "F%d", i);
		add_param(space, name, i == 1 ? "off, -ffast-math" : "off, on", NULL);
	}
	built(space);
	return space;
}

static json_t *flags_today(void) {
	json_t *today = json_object();
	char name[8];
	for (int i = 1; i <= 12; i++) {
		snprintf(name, sizeof name, "F%d", i);
		json_object_set_new(today, name, json_string("off"));
	}
	return today;
}

/* Each variant has parameters of its own. */
static struct space *variants_make(void) {
	struct space *space = space_new();
	add_param(space, "variant", "plain, fast, other", NULL);
	add_param(space, "block", "128, 32, 64, 256", NULL);
	add_param(space, "launch", "queued, graph", "variant == 'plain'");
	add_param(space, "edge", "32, 64, 128", "variant == 'fast'");
	add_param(space, "resident", "1, 2, 4", "variant == 'fast'");
	built(space);
	return space;
}

static json_t *variants_today(void) {
	return json_pack("{s:s,s:i,s:s}", "variant", "plain", "block", 128, "launch", "queued");
}

/* A team of one does without what a larger one has, and its binding does not depend on that. */
static struct space *teams_make(void) {
	struct space *space = space_new();
	add_param(space, "team", "2, 1", NULL);
	add_param(space, "bind", "false, close", NULL);
	add_param(space, "places", "cores, threads", "bind != 'false'");
	add_param(space, "schedule", "default, dynamic", "team > 1");
	add_param(space, "wait", "default, passive", "team > 1");
	built(space);
	return space;
}

static json_t *teams_today(void) {
	return json_pack("{s:i,s:s,s:s,s:s}", "team", 2, "bind", "false", "schedule", "default", "wait", "default");
}

static const struct shape openmp = {space_make, openmp_today}, flags = {flags_make, flags_today},
						  variants = {variants_make, variants_today}, teams = {teams_make, teams_today};

/* The smaller team always looks a little better, so that it is in the winner. */
static double bound_team(const json_t *config) {
	return (is_bound(config) ? 1 / 1.5 : 1) * (js_int_or(config, "team", 2) == 1 ? 0.995 : 1);
}

static double fast_variant(const json_t *config) {
	return is(config, "variant", "fast") ? 1. / 4 : 1;
}

static double no_flag(const json_t *config) {
	return nothing(config);
}

static const struct shape *shape_of(double (*factor)(const json_t *)) {
	return factor == fast_variant                                                ? &variants
	       : factor == bound_team                                                ? &teams
	       : factor == one_flag || factor == dangerous_flag || factor == no_flag ? &flags
	                                                                             : &openmp;
}

static json_t *tune(struct program *p, int seed, double budget) {
	char *path = fixture_path("rent.db");
	struct store *store = fixture_open(path);
	const struct shape *shape = shape_of(p->factor);
	struct space *space = shape->make();
	struct runner runner = {.ctx = p, .run = run};
	struct err err = {0};
	json_t *problem = json_pack("{s:s}", "command", "./app"), *result = NULL;
	json_t *baseline = shape->today();
	struct tune_task task = {.kernel = "app",
	                         .source = "sha256:0",
	                         .problem = problem,
	                         .space = space,
	                         .baseline = baseline,
	                         .whole_programs = true,
	                         .strategy = strategy_find("auto"),
	                         .seed = (uint64_t)seed,
	                         .budget = {.seconds = budget},
	                         .runner = &runner,
	                         .store = store,
	                         .session = fixture_session(store, MACHINE),
	                         .command = "sweetspot tune",
	                         .hooks.now = now,
	                         .hooks.now_ctx = p};
	rng_seed(&p->rng, (uint64_t)seed);
	if (space_config_read(space, baseline, NULL, &task.start, &err) ||
	    tune_run(&task, &(struct tune_observer){0}, &result, &err))
		printf("# %s\n", err.what);
	json_decref(problem);
	json_decref(baseline);
	space_free(space);
	store_close(store);
	free(path);
	return result;
}

/* The names of the prices, in the order of the space. */
static const char *names_of(const json_t *worth, char *text, size_t size) {
	*text = '\0';
	js_each (price, worth) {
		size_t used = strlen(text);
		snprintf(text + used, size - used, "%s%s", used ? " " : "", js_string_or(price, "param", "?"));
	}
	return text;
}

/* The same names, in any order? */
static bool are(const char *names, const char *want) {
	char text[200], *rest = NULL;
	snprintf(text, sizeof text, "%s", want);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		if (!strstr(names, word))
			return false;
	return strlen(names) == strlen(want);
}

/* An upper end that is not known is null. */
static bool covers(const json_t *price, double truth) {
	const json_t *ci = json_object_get(price, "ci"), *high = json_array_get(ci, 1);
	return json_number_value(json_array_get(ci, 0)) <= truth &&
	       (!json_is_number(high) || truth <= json_number_value(high));
}

/* Every change of the recommendation has a price of its own or belongs to one, and nothing else has. */
static bool is_priced(const json_t *result) {
	const json_t *today = json_object_get(json_object_get(result, "baseline"), "config");
	js_auto json_t *left = json_deep_copy(json_object_get(json_object_get(result, "best"), "config"));
	bool good = true;
	js_each (price, json_object_get(result, "worth")) {
		const char *param = js_string_or(price, "param", "");
		good = good && !json_equal(json_object_get(left, param), json_object_get(today, param));
		json_object_del(left, param);
		js_each (name, json_object_get(price, "with"))
			json_object_del(left, json_string_value(name));
	}
	js_members (key, value, left)
		good = good && json_equal(value, json_object_get(today, key));
	return good;
}

static double seconds_of(const json_t *result) {
	double sum = 0;
	js_members (phase, value, json_object_get(result, "seconds"))
		sum += json_number_value(value);
	return sum;
}

/* Has each price the true one in its interval? It is the time without the change over that with all of them. */
static bool hold(const json_t *worth, double (*factor)(const json_t *), const json_t *result) {
	json_t *best = json_object_get(json_object_get(result, "best"), "config"),
		   *today = json_object_get(json_object_get(result, "baseline"), "config");
	bool good = true;
	js_each (price, worth) {
		js_auto json_t *without = json_copy(best);
		const char *name = js_string_or(price, "param", "");
		json_object_set(without, name, json_object_get(today, name));
		js_each (word, json_object_get(price, "with")) {
			const char *other = json_string_value(word);
			json_object_del(without, other);
			if (json_object_get(today, other))
				json_object_set(without, other, json_object_get(today, other));
		}
		good = good && covers(price, factor(without) / factor(best));
	}
	return good;
}

static bool has_unproven_danger(const json_t *worth) {
	js_each (price, worth)
		if (js_string_or(price, "danger", NULL) && !js_bool_or(price, "proven", false))
			return true;
	return false;
}

/* Counts the results of a program in so many tunes of `budget` seconds. */
struct told {
	int faster, minimal, priced, held, whole, kept, close, unsafe, harmful, sure;
	double final; /* seconds of the race and the duel */
};

static struct told tell(const struct program *program, double budget, int seeds, const char *want, const char *also,
                        double gain) {
	struct told told = {0};
	for (int seed = 1; seed <= seeds; seed++) {
		struct program p = *program;
		js_auto json_t *result = tune(&p, seed, budget);
		json_t *worth = json_object_get(result, "worth"), *speedup = json_object_get(result, "speedup"),
			   *ci = json_object_get(speedup, "ci");
		char names[200];
		names_of(worth, names, sizeof names);
		bool minimal = are(names, want) || (also && are(names, also));
		told.faster += is(result, "verdict", "faster");
		told.sure += js_bool_or(result, "proven", false) != is(result, "verdict", "undecided");
		told.minimal += minimal;
		told.unsafe += is(result, "verdict", "faster") && has_unproven_danger(worth);
		told.harmful += is(result, "verdict", "faster") && strstr(names, "F1");
		told.priced += !worth || is_priced(result);
		told.held += !worth || !minimal || hold(worth, program->factor, result);
		told.whole += !is(result, "verdict", "faster") || covers(speedup, gain);
		told.close += json_number_value(json_array_get(ci, 0)) > gain / 2;
		told.final += js_real_or(json_object_get(result, "seconds"), "race", 0) +
		              js_real_or(json_object_get(result, "seconds"), "duel", 0);
		told.kept += p.clock <= budget + 2 && fabs(seconds_of(result) - js_real_or(result, "elapsed_s", 0)) < 0.01;
		if (getenv("VERBOSE"))
			printf("# seed %d: %s %s speedup %.3g [%.3g, %.3g] pairs %d of %d tried, %.1f s\n", seed,
			       js_string_or(result, "verdict", "?"), names, js_real_or(speedup, "ratio", NAN),
			       json_number_value(json_array_get(ci, 0)), json_number_value(json_array_get(ci, 1)),
			       (int)js_int_or(result, "pairs", 0), (int)js_int_or(result, "evaluations", 0), p.clock);
	}
	return told;
}

static void known(const char *what, double (*factor)(const json_t *), double noise, const char *want, const char *also,
                  double gain) {
	struct program program = {.factor = factor, .seconds = 0.06, .noise = noise};
	struct told told = tell(&program, 25, SEEDS, want, also, gain);
	if (gain > 1)
		ok(told.faster >= SEEDS - 1 && told.minimal >= SEEDS - 1, "%s: %d of %d are proven, %d are as small as can be",
		   what, told.faster, SEEDS, told.minimal);
	else
		ok(told.faster == 0, "%s: %d of %d are called faster", what, told.faster, SEEDS);
	ok(told.priced == SEEDS && told.held >= SEEDS - 1 && told.whole >= SEEDS - 1,
	   "%s: all changes are priced in %d, and prices and gain hold in %d and %d", what, told.priced, told.held,
	   told.whole);
	ok(told.kept == SEEDS && told.sure == SEEDS,
	   "%s: the phases add up to the kept budget in %d of %d; %d are proven or open", what, told.kept, SEEDS,
	   told.sure);
}

/* Where today's setting takes many times as long as the best, the runs that tell which changes pay are ended. */
static void dear(const char *what, double (*factor)(const json_t *), double noise, const char *want, const char *also,
                 double gain) {
	struct program program = {.factor = factor, .seconds = 0.8, .noise = noise};
	struct told told = tell(&program, 20, SEEDS, want, also, gain);
	ok(told.faster == SEEDS && told.minimal >= SEEDS - 1,
	   "eight times as long today, %s: %d of %d are proven, %d are as small as can be", what, told.faster, SEEDS,
	   told.minimal);
	ok(told.priced == SEEDS && told.held >= SEEDS - 1 && told.whole >= SEEDS - 1 && told.kept == SEEDS,
	   "eight times as long today, %s: all changes are priced in %d, prices hold in %d, the gain in %d, the budget in "
	   "%d",
	   what, told.priced, told.held, told.whole, told.kept);
	ok(told.close >= SEEDS - 1, "eight times as long today, %s: the gain is shown to half of it in %d", what,
	   told.close);
}

static void table(const char *only) {
	static const struct {
		const char *name;
		double (*factor)(const json_t *);
		const char *want, *also;
		double seconds, gain;
	} rows[] = {{"nothing", nothing, "", NULL, 0.06, 1},
	            {"a binding, 1.5", binding, "bind", NULL, 0.06, 1.5},
	            {"a schedule, 1.4", schedule, "schedule", NULL, 0.06, 1.4},
	            {"two, only together", both, "bind schedule", NULL, 0.06, 1.5},
	            {"three, only together", all_three, "bind schedule wait", NULL, 0.06, 1.5},
	            {"either of two, 1.3", spin_or_wait, "spin", "wait", 0.06, 1.3},
	            {"a place, 1.3", place, "bind", NULL, 0.06, 1.3},
	            {"one needs another", bound_schedule, "bind schedule", NULL, 0.06, 1.5},
	            {"a flag of twelve, 1.4", one_flag, "F5", NULL, 0.06, 1.4},
	            {"none of twelve flags", no_flag, "", NULL, 0.06, 1},
	            {"any schedule, 8", any_schedule, "schedule", NULL, 0.8, 8},
	            {"the same and waiting", any_schedule_and_wait, "schedule wait", NULL, 0.8, 10.4},
	            {"runs of .5 s", binding, "bind", NULL, 0.5, 1.5}};
	static const struct {
		const char *name;
		double budget;
		struct program noise;
	} kinds[] = {{"3 %", 20, {.noise = 0.03}},
	             {"10 %", 20, {.noise = 0.1}},
	             {"two speeds", 20, {.noise = 0.01, .slow = 0.2}},
	             {"2 % and drift", 20, {.noise = 0.02, .drift = 0.1}},
	             {"20 % and load", 40, {.noise = 0.2, .load = 0.5}}};
	printf("%-22s %-14s %6s %6s %7s %7s %7s %7s %7s\n", "truth", "noise", "tunes", "faster", "minimal", "price", "gain",
	       "close", "final");
	for (size_t t = 0; t < sizeof rows / sizeof *rows; t++)
		for (size_t k = only && !strstr(rows[t].name, only) ? sizeof kinds : 0; k < sizeof kinds / sizeof *kinds; k++) {
			struct program p = kinds[k].noise;
			int seeds = (rows[t].gain > 1 ? 4 : 10) * SEEDS;
			p.factor = rows[t].factor;
			p.seconds = rows[t].seconds;
			struct told r = tell(&p, kinds[k].budget, seeds, rows[t].want, rows[t].also, rows[t].gain);
			printf("%-22s %-14s %6d %6d %7d %7d %7d %7d %7.1f\n", rows[t].name, kinds[k].name, seeds, r.faster,
			       r.minimal, r.held, r.whole, r.close, r.final / seeds);
			fflush(stdout);
		}
}

/* However short the time is, what may harm results is recommended only where its own price is proven. */
static void danger(void) {
	static const double budgets[] = {3, 5, 8, 12, 25};
	int unsafe = 0, useless = 0, faster = 0;
	for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
		struct program pays = {.factor = dangerous_flag, .seconds = 0.06, .noise = 0.05}, brings_nothing = pays;
		brings_nothing.factor = one_flag;
		struct told told = tell(&pays, budgets[i], SEEDS, "F1 F5", NULL, 1.54),
					none = tell(&brings_nothing, budgets[i], SEEDS, "F5", NULL, 1.4);
		unsafe += told.unsafe + none.unsafe;
		useless += none.harmful;
		faster += told.faster + none.faster;
		if (budgets[i] == 25)
			ok(told.minimal >= SEEDS - 1, "-ffast-math that brings 1.1x is found and proven in %d of %d", told.minimal,
			   SEEDS);
	}
	ok(unsafe == 0 && useless <= 2 && faster >= 60,
	   "-ffast-math is recommended with an unproven price in %d of %d, and for nothing in %d", unsafe, faster, useless);
}

/* Long runs leave little time for the final: what cannot be told apart stays, and the proof is not lost. */
static void long_runs(void) {
	int faster = 0, kept = 0, has = 0, small = 0;
	for (int seed = 1; seed <= SEEDS; seed++) {
		struct program p = {.factor = binding, .seconds = 6, .noise = 0.01};
		js_auto json_t *result = tune(&p, seed, 300);
		faster += is(result, "verdict", "faster");
		has += is_bound(json_object_get(json_object_get(result, "best"), "config"));
		small += json_array_size(json_object_get(result, "worth")) == 1;
		kept += p.clock <= 315;
	}
	ok(faster == SEEDS && has == SEEDS && kept == SEEDS,
	   "runs of 6 s: %d of %d are proven, %d have the binding, %d keep the budget", faster, SEEDS, has, kept);
	ok(small >= SEEDS * 7 / 10, "runs of 6 s: %d have nothing else", small);
}

int main(int argc, char **argv) {
	fixture_begin();
	if (argc > 1 && strcmp(argv[1], "table") == 0) {
		table(argc > 2 ? argv[2] : NULL);
		return fixture_end();
	}
	known("nothing matters", nothing, 0.03, "", NULL, 1);
	known("nothing beside runs that vary by 60 %", nothing, 0.6, "", NULL, 1);
	known("a binding", binding, 0.03, "bind", NULL, 1.5);
	known("a schedule", schedule, 0.03, "schedule", NULL, 1.4);
	known("two, only together", both, 0.03, "bind schedule", NULL, 1.5);
	known("either of two", spin_or_wait, 0.03, "spin", "wait", 1.3);
	known("one that needs another", bound_schedule, 0.03, "bind schedule", NULL, 1.5);
	known("a flag of twelve", one_flag, 0.03, "F5", NULL, 1.4);
	known("a place", place, 0.03, "bind", NULL, 1.3);
	known("a variant with three parameters", fast_variant, 0.03, "variant", NULL, 4);
	known("a binding in a smaller team", bound_team, 0.01, "bind", NULL, 1.5);
	known("a binding beside much noise", binding, 0.1, "bind", NULL, 1.5);
	danger();
	dear("a schedule", any_schedule, 0.03, "schedule", NULL, 8);
	dear("a schedule beside noise", any_schedule, 0.1, "schedule", NULL, 8);
	dear("a schedule and waiting", any_schedule_and_wait, 0.03, "schedule wait", NULL, 10.4);
	long_runs();
	return fixture_end();
}
