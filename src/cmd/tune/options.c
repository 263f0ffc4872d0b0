/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/tune/options.h"

#include <sys/random.h>

#include "base/sys.h"

const struct opt stop_when_options[] = {
	OPT_GROUP("Search"),
	{"stop-when", 0, "gain<1%", "stop when less gain is expected (1% if timed)", 0},
	{0},
};

static const char *blanks_skip(const char *text) {
	return text + strspn(text, " ");
}

/* Returns the text after `word` and blanks, or NULL if `text` does not begin with `word`. */
static const char *after(const char *text, const char *word) {
	return text && strncmp(text, word, strlen(word)) == 0 ? blanks_skip(text + strlen(word)) : NULL;
}

int stop_when_read(const struct opt_args *args, double *gain, struct err *err) {
	const char *text = opt_get(args, "stop-when", NULL);
	*gain = 0;
	if (!text)
		return 0;
	const char *number = after(after(blanks_skip(text), "gain"), "<");
	char *end = NULL;
	double value = number && strspn(number, "0123456789.") && !strpbrk(number, "xX") ? strtod(number, &end) : -1;
	const char *rest = end ? blanks_skip(end) : "";
	bool percent = *rest == '%';
	value = percent ? value / 100 : value;
	if (!end || end == number || *blanks_skip(rest + percent) || !(value > 0 && value < 1))
		return err_set(err, ERR_USAGE, "write --stop-when 'gain<1%'", "--stop-when takes gain<X%%, not '%.60s'", text);
	*gain = value;
	return 0;
}

static const double DEFAULT_SECONDS = 60;
/* A budget in time is an upper limit; one in evaluations is what the user wants to see measured. */
static const double DEFAULT_STOP_GAIN = 0.01;

const struct opt tune_what_options[] = {
	OPT_GROUP("What to tune"),
	{"objective", 0, "NAME", "quantity to minimise: time, energy or edp (time)", 0},
	{"spec", 0, "FILE.json", "tune a T1 specification", 0},
	{"sizes", 0, "NAME=A..B", "tune a kernel at several sizes: a list or a range", 0},
	{0},
};

const struct opt tune_options[] = {
	OPT_GROUP("Search"),
	{"budget", 'b', "90s|200e", "limit: time or number of evaluations (60s)", 0},
	{"strategy", 0, "NAME", "search strategy, see `list strategies` (auto)", 0},
	{"seed", 0, "N", "random seed of the search and the comparisons", 0},
	{"no-transfer", 0, NULL, "do not use earlier results", 0},
	{"complete", 0, NULL, "run every trial to completion, to record a space", 0},
	{"resume", 0, NULL, "continue an interrupted search", 0},
	{"plan", 0, NULL, "only print what would be run, and the budget", 0},
	OPT_GROUP("Measuring"),
	{"timeout", 0, "SECONDS", "time limit of a trial (a multiple of the baseline)", 0},
	{"counters", 'c', "NAME,..", "counters for the baseline and the finalists (auto)", OPT_REPEAT},
	{"flush-l2", 0, NULL, "empty the GPU's L2 cache before each run", 0},
	{0},
};

/* Reads "2node-h", a time that all nodes spend together. */
static int node_seconds_read(const char *text, size_t digits, double *seconds, struct err *err) {
	char duration[64];
	const char *unit = text + digits + strlen("node-");
	int length = snprintf(duration, sizeof duration, "%.*s%s", (int)digits, text, unit);
	if (digits && *unit && strcmp(unit, "ms") != 0 && length < (int)sizeof duration &&
	    opt_seconds(duration, "budget", seconds, NULL) == 0)
		return 0;
	return err_set(err, ERR_USAGE, "for example 600node-s, 30node-min, 2node-h",
	               "--budget takes a time of nodes, not '%s'", text);
}

int tune_budget_read(const char *text, struct tune_budget *budget, struct err *err) {
	char *end;
	size_t length = strlen(text), digits = strspn(text, "0123456789.");
	*budget = (struct tune_budget){0};
	if (length > 1 && text[length - 1] == 'e') {
		unsigned long long count = strtoull(text, &end, 10);
		if (text[0] < '0' || text[0] > '9' || *end != 'e' || count > 1000000000ull)
			return err_set(err, ERR_USAGE, "write --budget 200e for 200 evaluations",
			               "--budget %s is not a number of evaluations", text);
		*budget = (struct tune_budget){.evaluations = count};
	} else if (strncmp(text + digits, "node-", 5) == 0) {
		if (node_seconds_read(text, digits, &budget->node_seconds, err))
			return -1;
	} else if (opt_seconds(text, "budget", &budget->seconds, err)) {
		return err_hint(err, "for example 90s, 10m, 1h30m, 200e, 2node-h");
	}
	if (budget->evaluations == 0 && !(budget->seconds > 0) && !(budget->node_seconds > 0))
		return err_set(err, ERR_USAGE, "give it time (--budget 60s) or evaluations (--budget 100e)",
		               "a budget of 0 allows no measurement");
	return 0;
}

int tune_strategy_read(const char *name, const struct strategy **strategy, struct err *err) {
	const char *names[64] = {0};
	size_t count = 0;
	*strategy = strategy_is_own(name) ? strategy_own(name, err) : strategy_find(name);
	if (*strategy || strategy_is_own(name))
		return *strategy ? 0 : -1;
	for (; strategy_registry[count] && count < 64; count++)
		names[count] = strategy_registry[count]->name;
	return opt_refuse(err, name, names, count, "did you mean %s?", "`sweetspot list strategies` lists them",
	                  "unknown strategy \"%s\"", name);
}

static int objective_word(const char *word, size_t length, enum trial_objective *objective, struct err *err) {
	char one[64];
	snprintf(one, sizeof one, "%.*s", length < sizeof one ? (int)length : (int)sizeof one - 1, word);
	if (trial_objective_find(one, objective))
		return 0;
	return err_set(
		err, ERR_USAGE,
		"an objective is time, energy (joules per run) or edp (energy times time), or two of them: time,energy",
		"unknown objective \"%.60s\"", one);
}

/* Reads one objective, or two such as "time,energy". */
static int objective_read(const struct opt_args *args, struct tune_settings *settings, struct err *err) {
	const char *words = opt_get(args, "objective", "time"), *device = opt_get(args, "device", "cpu");
	size_t first = strcspn(words, ",");
	settings->goal.pareto = words[first] == ',';
	if (objective_word(words, first, &settings->goal.objective, err))
		return -1;
	if (settings->goal.pareto) {
		const char *second = words + first + 1;
		if (strchr(second, ','))
			return err_set(err, ERR_USAGE, "give at most two: --objective time,energy",
			               "--objective %.60s names too many objectives", words);
		if (objective_word(second, strlen(second), &settings->goal.second, err))
			return -1;
		if (settings->goal.second == settings->goal.objective)
			return err_set(err, ERR_USAGE, "give it once, or two that differ: --objective time,energy",
			               "--objective %.60s names the same objective twice", words);
	}
	if ((settings->goal.objective == TRIAL_OBJECTIVE_TIME && !settings->goal.pareto) || strncmp(device, "cuda", 4) == 0)
		return 0;
	if (strcmp(device, "cpu") != 0)
		return err_set(err, ERR_USAGE, "leave --objective out",
		               "only CUDA devices report the energy that --objective %.60s needs", words);
	if (opt_dashes(args)) /* of a program: by the processor's counters or a command */
		return 0;
	return err_set(
		err, ERR_USAGE,
		"add --device cuda; on the CPU `sweetspot run --counters rapl` measures the energy of one configuration",
		"--objective %.60s needs a kernel on a GPU", words);
}

/* The counters of `tune` without --counters. */
static const char *const by_default[] = {"auto", NULL};

/* "all" is removed from the names because it does not name a group: it extends counting to the trials of the search. */
static int counters_read(const struct opt_args *args, struct tune_settings *settings, struct err *err) {
	struct trial_counters *counters = &settings->counters;
	if (counters_words_read(args, &settings->words, err))
		return -1;
	counters->every = counters_words_remove(&settings->words, "all");
	counters->optional = !opt_has(args, "counters");
	if (settings->words.count)
		counters->asked = settings->words.names;
	else if (counters->every || counters->optional)
		counters->asked = by_default;
	return 0;
}

void tune_settings_clear(struct tune_settings *settings) {
	counters_words_free(&settings->words);
	strategy_free(settings->strategy);
}

int tune_settings_read(const struct opt_args *args, struct tune_settings *settings, struct err *err) {
	const char *budget = opt_get(args, "budget", NULL);
	long long seed;
	uint64_t drawn = 1;
	settings->budget = (struct tune_budget){.seconds = DEFAULT_SECONDS, .may_grow = true};
	settings->transfer = !opt_has(args, "no-transfer");
	settings->limits.complete = opt_has(args, "complete");
	if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) < 0)
		drawn = (uint64_t)(sys_wall() * 1e6);
	drawn &= 0x7fffffff; /* 31 bits are short enough to type them again. */
	if ((budget && tune_budget_read(budget, &settings->budget, err)) ||
	    opt_limit(args, "timeout", &settings->limits.timeout_s, err) ||
	    opt_limit(args, "build-timeout", &settings->limits.build_timeout_s, err) ||
	    tune_strategy_read(opt_get(args, "strategy", "auto"), &settings->strategy, err) ||
	    objective_read(args, settings, err) || counters_read(args, settings, err) ||
	    measured_format_read(args, &settings->format, err) || stop_when_read(args, &settings->limits.stop_gain, err) ||
	    opt_int(args, "jobs", 1, BUILD_JOBS_MAX, 0, &settings->jobs, err) ||
	    opt_int(args, "seed", 0, INT64_MAX, (long long)drawn, &seed, err))
		return -1;
	settings->seed = (uint64_t)seed;
	if (!opt_has(args, "stop-when") && !settings->limits.complete && settings->budget.evaluations == 0)
		settings->limits.stop_gain = DEFAULT_STOP_GAIN;
	return 0;
}
