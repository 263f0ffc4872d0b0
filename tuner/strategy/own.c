/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strategies of the user's own: a shared object with the table of lib/strategy.h, or a program that gets a request a
 * line on stdin and answers `ask` on stdout, which becomes such a table here. */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/proc/proc.h"
#include "lib/strategy.h"
#include "tuner/search/strategy.h"

enum { TRIES = 256 };
static const double ANSWER_SECONDS = 60, GRACE_SECONDS = 1;

struct own_strategy {
	struct strategy table;
	void *library; /* NULL: a program */
	const struct ss_strategy *plugin;
};

struct own {
	struct strategy_task task;
	const struct ss_strategy *plugin;
	struct ss_space space;
	void *state;
	char fault[600];
};

static bool are_levels(const struct space *space, const int *levels) {
	for (size_t p = 0; p < space_params(space); p++)
		if (levels[p] < SPACE_ABSENT || levels[p] >= (int)space_param_values(space, p))
			return false;
	return true;
}

static int is_valid(const struct ss_space *space, const int *levels) {
	const struct own *own = space->own;
	uint64_t index;
	return are_levels(own->task.space, levels) && space_index(own->task.space, levels, &index);
}

static void draw(const struct ss_space *space, uint64_t *seed, int *levels) {
	const struct own *own = space->own;
	struct rng rng;
	rng_split(&rng, (*seed)++, "strategy own");
	space_config(own->task.space, space_sample(own->task.space, &rng), levels);
}

static void space_show(struct own *own) {
	const struct strategy_task *task = &own->task;
	size_t params = space_params(task->space);
	struct ss_param *param = arena_alloc(task->arena, params, sizeof *param);
	for (size_t p = 0; p < params; p++) {
		size_t values = space_param_values(task->space, p);
		double *numbers = arena_alloc(task->arena, values, sizeof *numbers);
		for (size_t i = 0; i < values; i++)
			numbers[i] = value_number(space_param_value(task->space, p, i));
		param[p] = (struct ss_param){space_param_name(task->space, p), (int)values, numbers};
	}
	double about = space_estimate(task->space);
	own->space = (struct ss_space){
		(int)params, param, task->seed, task->budget, about > 0 ? about : (double)space_valid(task->space),
		is_valid,    draw,  own};
}

static void end(void *state) {
	struct own *own = state;
	if (own->state && own->plugin->end)
		own->plugin->end(own->state);
}

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct own *own = state;
	own->task = *task;
	own->plugin = ((const struct own_strategy *)task->strategy)->plugin;
	space_show(own);
	own->state = own->plugin->begin(&own->space);
	arena_defer(task->arena, end, own);
	if (own->state)
		return 0;
	return err_set(err, ERR_USAGE, NULL, "the strategy %.200s has not begun%s%s", task->strategy->name,
	               *own->fault ? ": " : "", own->fault);
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct own *own = state;
	int levels[SPACE_PARAMS_MAX];
	space_config(own->task.space, index, levels);
	bool failed = outcome->result == STRATEGY_FAILURE;
	own->plugin->tell(own->state, levels,
	                  failed                                 ? SS_FAILURE
	                  : outcome->result == STRATEGY_CENSORED ? SS_CUT
	                                                         : SS_VALUE,
	                  failed ? NAN : outcome->value);
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	struct own *own = state;
	(void)want; /* one at a time, because the search marks each as taken before it asks again */
	for (int i = 0; i < TRIES && !*own->fault; i++) {
		int levels[SPACE_PARAMS_MAX] = {0};
		if (!own->plugin->ask(own->state, levels))
			return 0;
		if (!are_levels(own->task.space, levels) || !space_index(own->task.space, levels, out)) {
			own->plugin->tell(own->state, levels, SS_FAILURE, NAN);
			continue;
		}
		const struct strategy_outcome *known = history_find(own->task.history, *out);
		if (known)
			tell(own, *out, known);
		else if (!history_taken(own->task.history, *out))
			return 1;
	}
	return 0;
}

static const char *fault(const void *state) {
	const struct own *own = state;
	return *own->fault ? own->fault : NULL;
}

/* A program. Its state is the process; `own` has what went wrong. */
struct program {
	struct own *own;
	struct proc *proc;
};

/* With the last line that it wrote to stderr, which names a Python exception. */
static void program_fail(struct program *program, const char *what) {
	mem_auto char *said = mem_strdup(program->proc ? proc_stderr(program->proc) : "");
	for (size_t size = strlen(said); size && said[size - 1] == '\n';)
		said[--size] = '\0';
	const char *last = strrchr(said, '\n');
	snprintf(program->own->fault, sizeof program->own->fault, "%s%s%.400s", what, *said ? ": " : "",
	         last ? last + 1 : said);
}

static void program_write(struct program *program, json_t *request) {
	js_auto json_t *mine = request;
	struct err err = {0};
	mem_auto char *text = json_dumps(mine, JSON_COMPACT | JSON_REAL_PRECISION(17)), *line = mem_printf("%s\n", text);
	if (!*program->own->fault && proc_write(program->proc, line, strlen(line), ANSWER_SECONDS, &err))
		program_fail(program, err.what);
}

static void *program_begin(const struct ss_space *space) {
	struct own *own = (struct own *)space->own;
	const char *const argv[] = {own->task.strategy->name, NULL};
	const struct proc_spec spec = {.argv = argv};
	struct program *program = arena_alloc(own->task.arena, 1, sizeof *program);
	struct err err = {0};
	*program = (struct program){own, proc_start(&spec, &err)};
	if (!program->proc) {
		program_fail(program, err.what);
		return NULL;
	}
	json_t *request = space_json(own->task.space);
	json_object_set_new(request, "op", json_string("begin"));
	json_object_set_new(request, "seed", json_integer((json_int_t)space->seed));
	json_object_set_new(request, "budget", json_integer((json_int_t)space->budget));
	program_write(program, request);
	return program;
}

static void tell_line(struct program *program, json_t *config, const char *result, double value, const char *error) {
	program_write(program, json_pack("{s:s,s:o,s:s,s:o,s:s*}", "op", "tell", "config", config, "result", result,
	                                 "value", js_number(value), "error", error));
}

/* The answer to `ask`, {"config": {..}} or {"config": null}; NULL: there is none. */
static json_t *program_answer(struct program *program) {
	char *line;
	size_t size;
	struct err err = {0};
	program_write(program, json_pack("{s:s}", "op", "ask"));
	if (*program->own->fault)
		return NULL;
	enum proc_read got = proc_read(program->proc, ANSWER_SECONDS, NULL, &line, &size);
	json_t *answer = got == PROC_LINE ? js_parse(line, size, "its answer", &err) : NULL;
	if (!answer)
		program_fail(program, got == PROC_LINE      ? err.what
		                      : got == PROC_TIMEOUT ? "it has not answered for a minute"
		                                            : "it has ended");
	return answer;
}

static int program_ask(void *state, int *levels) {
	struct program *program = state;
	const struct space *space = program->own->task.space;
	for (int i = 0; i < TRIES; i++) {
		js_auto json_t *answer = program_answer(program);
		json_t *config = json_object_get(answer, "config");
		struct err err = {0};
		uint64_t index;
		if (!json_is_object(config))
			return 0;
		if (space_config_read(space, config, NULL, &index, &err) == 0) {
			space_config(space, index, levels);
			return 1;
		}
		tell_line(program, json_incref(config), "failure", NAN, err.what);
	}
	return 0;
}

static void program_tell(void *state, const int *levels, enum ss_result result, double value) {
	static const char *const words[] = {[SS_VALUE] = "value", [SS_CUT] = "cut", [SS_FAILURE] = "failure"};
	struct program *program = state;
	uint64_t index;
	if (space_index(program->own->task.space, levels, &index))
		tell_line(program, space_config_json(program->own->task.space, index), words[result], value, NULL);
}

static void program_end(void *state) {
	struct program *program = state;
	proc_stop(program->proc, GRACE_SECONDS);
}

static const struct ss_strategy of_program = {SS_STRATEGY_ABI, program_begin, program_ask, program_tell, program_end};

static const struct strategy prototype = {
	.summary = "a strategy of your own",
	.state_size = sizeof(struct own),
	.init = init,
	.ask = ask,
	.tell = tell,
	.fault = fault,
};

static int library_open(struct own_strategy *own, const char *path, struct err *err) {
	own->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!own->library)
		return err_set(err, ERR_USAGE, "build it with cc -shared -fPIC", "%.300s cannot be loaded: %.180s", path,
		               dlerror());
	own->plugin = dlsym(own->library, "sweetspot_strategy");
	if (!own->plugin)
		return err_set(err, ERR_USAGE, "see sweetspot/strategy.h", "%.300s does not export sweetspot_strategy", path);
	if (own->plugin->abi != SS_STRATEGY_ABI || !own->plugin->begin || !own->plugin->ask || !own->plugin->tell)
		return err_set(err, ERR_USAGE, "build it against the installed sweetspot/strategy.h",
		               "%.300s has another interface, or lacks begin, ask or tell", path);
	return 0;
}

bool strategy_is_own(const char *name) {
	size_t size = strlen(name);
	return strchr(name, '/') ||
	       (size > 3 && (strcmp(name + size - 3, ".so") == 0 || strcmp(name + size - 3, ".py") == 0));
}

const struct strategy *strategy_own(const char *name, struct err *err) {
	struct own_strategy *own = mem_alloc(1, sizeof *own);
	char *path = strchr(name, '/') ? mem_strdup(name) : mem_printf("./%s", name);
	size_t size = strlen(path);
	bool library = size > 3 && strcmp(path + size - 3, ".so") == 0;
	own->table = prototype;
	own->table.name = path;
	own->plugin = &of_program;
	int failed = 0;
	if (access(path, library ? R_OK : X_OK) != 0)
		failed = err_set(err, ERR_USAGE, errno == EACCES ? "make it executable: chmod +x" : NULL, "strategy %.300s: %s",
		                 path, strerror(errno));
	else if (library)
		failed = library_open(own, path, err);
	if (!failed)
		return &own->table;
	strategy_free(&own->table);
	return NULL;
}

void strategy_free(const struct strategy *strategy) {
	struct own_strategy *own = (struct own_strategy *)strategy;
	if (!strategy || strategy->init != init)
		return;
	if (own->library)
		dlclose(own->library);
	free((char *)own->table.name);
	free(own);
}
