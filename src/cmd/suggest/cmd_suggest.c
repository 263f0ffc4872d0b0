/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search whose measurements are made by someone else: one request a line on stdin, one answer a line on stdout. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/tune/options.h"
#include "tuner/spec/spec.h"

enum { COUNT_MAX = 4096 };

static const struct opt options[] = {
	OPT_GROUP("Search"),
	{"spec", 0, "FILE.json", "specification with the space (required)", 0},
	{"strategy", 0, "NAME", "search strategy, see `list strategies` (auto)", 0},
	{"budget", 'b', "150e", "evaluations to plan for (as many as there are)", 0},
	{"seed", 0, "N", "random seed of the search (1)", 0},
	{"objectives", 0, "1|2", "2: search the front of \"value\" and \"second\" (1)", 0},
	{0},
};

struct suggest {
	const struct space *space;
	struct search *search;
	uint64_t asked[COUNT_MAX];
};

static json_t *ask(struct suggest *s, const json_t *request, struct err *err) {
	int64_t count = 1;
	if (json_object_get(request, "count") && js_int(request, "count", 1, COUNT_MAX, &count, err))
		return NULL;
	size_t found = search_ask(s->search, s->asked, (size_t)count);
	if (search_fault(s->search, err))
		return NULL;
	json_t *configs = json_array();
	for (size_t i = 0; i < found; i++)
		json_array_append_new(configs, space_config_json(s->space, s->asked[i]));
	const char *phase = search_phase(s->search);
	return json_pack("{s:o,s:o}", "configs", configs, "phase", phase ? json_string(phase) : json_null());
}

static int outcome_read(const json_t *request, struct strategy_outcome *outcome, struct err *err) {
	const json_t *value = json_object_get(request, "value");
	*outcome =
		(struct strategy_outcome){.result = STRATEGY_FAILURE, .seconds = fmax(0, js_real_or(request, "seconds", 0))};
	if (!value || json_is_null(value))
		return 0;
	outcome->result = js_bool_or(request, "censored", false) ? STRATEGY_CENSORED : STRATEGY_VALUE;
	if (js_real(request, "value", 0, HUGE_VAL, &outcome->value, err))
		return -1;
	outcome->second = js_real_or(request, "second", 0);
	if (!(outcome->value > 0) || isinf(outcome->value) || !(outcome->second >= 0))
		return err_set(err, ERR_USAGE, "a smaller value is better",
		               "\"value\" and \"second\" must be above 0, or null for a failure");
	return 0;
}

static json_t *tell(struct suggest *s, const json_t *request, struct err *err) {
	json_t *config;
	struct strategy_outcome outcome;
	uint64_t index;
	if (js_object(request, "config", &config, err) || space_config_read(s->space, config, NULL, &index, err) ||
	    outcome_read(request, &outcome, err))
		return NULL;
	search_tell(s->search, index, &outcome);
	uint64_t best = history_best(search_history(s->search));
	return json_pack("{s:I,s:o}", "told", (json_int_t)history_count(search_history(s->search)), "best",
	                 best == UINT64_MAX ? json_null() : space_config_json(s->space, best));
}

static json_t *answer(struct suggest *s, const char *line, size_t size, struct err *err) {
	const char *op;
	js_auto json_t *request = js_parse(line, size, "the request", err);
	if (!request || js_string(request, "op", &op, err))
		return NULL;
	if (strcmp(op, "ask") == 0)
		return ask(s, request, err);
	if (strcmp(op, "tell") == 0)
		return tell(s, request, err);
	return err_null(err_set(err, ERR_USAGE, "\"ask\" or \"tell\"", "unknown operation \"%.40s\"", op));
}

static void serve(struct suggest *s) {
	mem_auto char *line = NULL;
	size_t room = 0;
	for (ssize_t size; (size = getline(&line, &room, stdin)) > 0;) {
		struct err err = {.code = ERR_OK};
		js_auto json_t *reply = answer(s, line, (size_t)size, &err);
		if (!reply)
			reply = json_pack("{s:{s:o,s:o}}", "error", "what", js_text(err.what), "hint", js_text(err.hint));
		json_dumpf(reply, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
		putchar('\n');
		fflush(stdout);
	}
}

static int task_read(const struct opt_args *args, struct strategy_task *task, struct err *err) {
	const char *text = opt_get(args, "budget", NULL);
	struct tune_budget budget = {0};
	long long seed = 1, objectives = 1;
	if ((text && tune_budget_read(text, &budget, err)) || opt_int(args, "seed", 0, INT64_MAX, 1, &seed, err) ||
	    opt_int(args, "objectives", 1, 2, 1, &objectives, err))
		return -1;
	task->two = objectives == 2;
	task->seed = (uint64_t)seed;
	task->budget = budget.evaluations;
	task->seconds = budget.seconds;
	return 0;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	const struct strategy *strategy = NULL;
	struct strategy_task task = {.start = UINT64_MAX};
	(void)app;
	if (!opt_has(args, "spec") || opt_words(args))
		return err_set(err, ERR_USAGE, "sweetspot suggest --spec FILE.json", "suggest needs a specification");
	bool read =
		tune_strategy_read(opt_get(args, "strategy", "auto"), &strategy, err) == 0 && task_read(args, &task, err) == 0;
	struct spec *spec = read ? spec_load(opt_get(args, "spec", ""), err) : NULL;
	mem_auto struct suggest *s = mem_alloc(1, sizeof *s);
	s->space = task.space = spec ? spec_space(spec) : NULL;
	s->search = spec ? search_new(strategy, &task, err) : NULL;
	if (s->search)
		serve(s);
	int failed = s->search ? 0 : -1;
	search_free(s->search);
	spec_free(spec);
	strategy_free(strategy);
	return failed;
}

const struct cmd cmd_suggest = {
	.name = "suggest",
	.summary = "suggest configurations to a program that measures them itself",
	.usage = "suggest [OPTION...] --spec FILE.json",
	.options = (const struct opt *const[]){options, NULL},
	.notes = "Each line on stdin is a request, each line on stdout its answer, as JSON:\n"
			 "{\"op\":\"ask\"} and {\"op\":\"tell\",\"config\":{..},\"value\":1.5}.",
	.examples = "sweetspot suggest --spec FILE.json </dev/null",
	.only_reads = true,
	.run = run,
};
