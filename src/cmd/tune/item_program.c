/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/plan/program_plan.h"
#include "src/show/counters.h"
#include "src/cmd/tune/item.h"
#include "tuner/program/command.h"
#include "tuner/spec/c/c.h"

struct program_item {
	struct spec *spec; /* NULL: from the command line */
	struct program_plan *plan;
	struct program *program;
};

static void usage_add(const struct program *program, json_t *setup) {
	json_t *config = json_object_get(setup, "config"), *usage = config ? program_usage(program, config) : NULL;
	if (usage)
		json_object_set_new(setup, "usage", usage);
}

static void notes_add(const struct program_plan *plan, json_t *result) {
	json_t *notes = json_array();
	for (const char *const *note = plan->notes; note && *note; note++)
		json_array_append_new(notes, json_string(*note));
	json_object_set_new(result, "notes", notes);
}

static void member_copy(json_t *to, const json_t *from, const char *name) {
	json_t *value = json_object_get(from, name);
	if (value)
		json_object_set(to, name, value);
}

/* The variables that put a change into effect, as "OMP_PROC_BIND=close OMP_PLACES=cores". */
static void set_add(const struct program *program, const json_t *config, json_t *price) {
	const char *param = js_string_or(price, "param", "");
	js_auto json_t *some = json_object();
	member_copy(some, config, param);
	js_each (with, json_object_get(price, "with"))
		member_copy(some, config, json_string_value(with));
	js_auto json_t *variables = config_environment(NULL, some);
	mem_auto char *text = mem_strdup("");
	json_object_del(variables, "OMP_DYNAMIC");
	js_members (name, value, variables)
		mem_append(&text, "%s%s=%s", *text ? " " : "", name, json_string_value(value));
	if (*text && strcmp(program_param_way(program, param), "openmp") == 0)
		json_object_set_new(price, "set", json_string(text));
}

static void worth_name(const struct program *program, json_t *result) {
	const json_t *config = js_at(result, "best.config");
	js_each (price, json_object_get(result, "worth"))
		set_add(program, config, price);
}

/* True if it reaches the program only through the environment. */
static bool is_silent_variable(const struct program_item *p, const char *param) {
	const struct program_spec *spec = &p->plan->program;
	if (strcmp(program_param_way(p->program, param), "environment") != 0)
		return false;
	for (const char *const *word = spec->argv; *word; word++)
		if (template_expands(*word, param))
			return false;
	return true;
}

/* No program takes an argument of this name. */
static bool is_runtime_variable(const char *param) {
	static const char *const prefixes[] = {"OMP_", "GOMP_", "KMP_", "OPENBLAS_", "MKL_", "MAGICK_"};
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (strncmp(param, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* Runtimes ignore misspelt variables silently. Returns the nearest known name, or NULL. */
static const char *mistyped(const char *param) {
	static const char *const known[] = {
		"OMP_NUM_THREADS",      "OMP_PROC_BIND",     "OMP_PLACES",       "OMP_SCHEDULE",        "OMP_WAIT_POLICY",
		"OMP_DYNAMIC",          "OMP_STACKSIZE",     "OMP_THREAD_LIMIT", "OMP_NESTED",          "OMP_MAX_ACTIVE_LEVELS",
		"GOMP_SPINCOUNT",       "GOMP_CPU_AFFINITY", "GOMP_STACKSIZE",   "KMP_BLOCKTIME",       "KMP_AFFINITY",
		"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",   "MKL_DYNAMIC",      "MAGICK_THREAD_LIMIT",
	};
	enum { KNOWN = sizeof known / sizeof *known };
	for (size_t i = 0; i < KNOWN; i++)
		if (strcmp(param, known[i]) == 0)
			return NULL;
	return is_runtime_variable(param) ? near_word(param, known, KNOWN) : NULL;
}

/* The ratio from which on a parameter is known to do something. */
static const double CLEAR = 1.02;

/* The program reads a variable whose values change its time, so the placeholder was not forgotten. */
static bool has_effect(const json_t *result, const char *param) {
	const json_t *effect = js_find(json_object_get(result, "effects"), "param", param);
	return fmax(json_number_value(js_at(effect, "ci.0")), js_real_or(effect, "estimate", 0)) > CLEAR;
}

/* A parameter that can be `unset` must be a variable. */
static bool may_be_unset(const struct program_item *p, const char *param) {
	const struct space *space = p->plan->space;
	char text[64];
	for (size_t i = 0; i < space_params(space); i++)
		for (size_t level = 0; level < space_param_values(space, i); level++) {
			value_text(space_param_value(space, i, level), text, sizeof text);
			if (strcmp(space_param_name(space, i), param) == 0 && strcmp(text, PROGRAM_UNSET) == 0)
				return true;
		}
	return false;
}

/* Adds a note if nothing was gained and a placeholder may have been forgotten. */
static void variables_note(const struct program_item *p, json_t *result) {
	json_t *notes = json_object_get(result, "notes");
	/* Then all others are slower, so a value did make a difference. */
	bool beaten = json_is_number(json_object_get(result, "closest")) || js_bool_or(result, "slower", false);
	if (beaten || (verdict_of(result) != VERDICT_TIE && verdict_is_decided(result)))
		return;
	for (const char *const *param = p->plan->program.params; *param; param++) {
		if (!is_silent_variable(p, *param) || is_runtime_variable(*param) || has_effect(result, *param) ||
		    may_be_unset(p, *param))
			continue;
		mem_auto char *text = mem_printf(
			"no value of %s made a clear difference; it was passed as an environment variable: if it is an argument, "
			"write {%s} into the command",
			*param, *param);
		json_array_append_new(notes, json_string(text));
	}
}

/* A program that waits for its stdin, or whose work is too small, ends before there is anything to measure. */
static void short_note(const struct program_item *p, json_t *result) {
	static const double SHORT_SECONDS = 0.01;
	const json_t *baseline = json_object_get(result, "baseline");
	double seconds = js_real_or(baseline, "median", NAN);
	if (strcmp(js_string_or(baseline, "unit", ""), "s") != 0 || !(seconds < SHORT_SECONDS))
		return;
	mem_auto char *text =
		mem_printf("a run takes only %.2g ms, much of which may be its start: give it more work%s", 1000 * seconds,
	               p->plan->program.input ? "" : ", or --input FILE if it reads stdin, which is empty now");
	json_array_append_new(json_object_get(result, "notes"), json_string(text));
}

/* Where reading what it writes is a part of its time. */
static void output_note(json_t *result) {
	double bytes = js_real_or(js_at(result, "baseline.usage"), "output_bytes", 0);
	if (!(bytes > SYS_OUTPUT_HELD))
		return;
	mem_auto char *text =
		mem_printf("it prints %.3g MB a run; what exceeds %d MiB is looked at while it runs, which takes "
	               "some of its time: let it print less, or to a file",
	               bytes / 1e6, SYS_OUTPUT_HELD >> 20);
	json_array_append_new(json_object_get(result, "notes"), json_string(text));
}

static void annotate(void *ctx, json_t *result) {
	const struct program_item *p = ctx;
	json_t *best = json_object_get(result, "best"), *config = json_object_get(best, "config");
	usage_add(p->program, best);
	usage_add(p->program, json_object_get(result, "baseline"));
	json_object_set_new(result, "program", program_json(p->program, config ? config : p->plan->baseline));
	worth_name(p->program, result);
	notes_add(p->plan, result);
	program_work_add(p->program, result);
	variables_note(p, result);
	short_note(p, result);
	output_note(result);
}

static bool other_work(void *ctx, const json_t *config) {
	const struct program_item *p = ctx;
	return program_other_work(p->program, config);
}

/* Runs in the thread of a node, so the program and its build folders are its own. */
static int work_open(void *ctx, struct worker *worker, void **state, struct runner *runner, struct err *err) {
	const struct tune_item *item = ctx;
	const struct program_item *p = item->state;
	struct program_spec spec = p->plan->program;
	spec.build_folder = item->folder;
	struct program *program = program_new(&spec, worker, err);
	if (!program)
		return -1;
	*state = program;
	*runner = program_runner(program);
	return 0;
}

static void work_close(void *state) {
	program_free(state);
}

static void work_seen(void *ctx, const struct trial_request *request, const struct trial_result *result) {
	const struct program_item *p = ctx;
	program_note(p->program, request->config, result);
}

static char *line_of(const struct tune_item *item, const json_t *config) {
	const struct program_item *p = item->state;
	return program_line(p->program, config);
}

static void free_program(struct tune_item *item) {
	mem_auto struct program_item *p = item->state;
	program_free(p->program);
	program_plan_free(p->plan);
	spec_free(p->spec);
}

/* Takes ownership of the plan. The specification stays with the caller if the result is NULL. */
static struct tune_item *item_new(struct app *app, struct spec *spec, struct program_plan *plan, struct err *err) {
	struct worker *worker = plan ? app_worker(app, err) : NULL;
	struct program *program = worker ? program_new(&plan->program, worker, err) : NULL;
	if (!program) {
		program_plan_free(plan);
		return NULL;
	}
	struct tune_item *item = mem_alloc(1, sizeof *item);
	struct program_item *p = mem_alloc(1, sizeof *p);
	*p = (struct program_item){.spec = spec, .plan = plan, .program = program};
	*item = (struct tune_item){
		.state = p, .notes = plan->notes, .runner = program_runner(program), .line = line_of, .free = free_program};
	item->work =
		(struct pool_work){.ctx = item, .open = work_open, .close = work_close, .seen = work_seen, .seen_ctx = p};
	item->task = (struct tune_task){
		.kernel = plan->name,
		.source = plan->source,
		.problem = plan->problem,
		.space = plan->space,
		.baseline = plan->baseline,
		.start = plan->start,
		.whole_programs = true,
		.goal.metric = plan->program.metric,
		.goal.maximize = plan->program.maximize,
		.checked = plan->program.verify         ? "verify"
	               : plan->program.expect_same  ? "output same"
	               : plan->program.expect_files ? "files same"
	                                            : NULL,
		.builder = program_builder(program),
		.hooks.annotate = annotate,
		.hooks.annotate_ctx = p,
		.hooks.other_work = other_work,
		.hooks.work_ctx = p,
	};
	return item;
}

/* The first {WORD} of the command or the build that is not a parameter; caller frees. */
static char *stranger_find(const struct program_item *p) {
	const struct program_spec *spec = &p->plan->program;
	static const char *const own[] = {"SOURCE", "BUILD"};
	enum { OWN = sizeof own / sizeof *own, MOST = 256 };
	const char *list[MOST + OWN];
	size_t count = 0;
	for (; spec->params[count] && count < MOST; count++)
		list[count] = spec->params[count];
	for (size_t i = 0; i < OWN; i++)
		list[count + i] = own[i];
	const struct template_names names = {list, count + OWN, count};
	char *stranger = template_stranger(spec->build, &names);
	for (const char *const *word = spec->argv; *word && !stranger; word++)
		stranger = template_stranger(*word, &names);
	return stranger;
}

/* Options of this program that were given after the dashes. Names that other programs use, too, are left out. */
static void options_inform(struct app *app, const struct program_item *p) {
	static const char *const names[] = {"--budget", "--param", "--openmp", "--strategy", "--plan", "--expect-output"};
	for (const char *const *word = p->plan->program.argv; *word; word++)
		for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
			size_t length = strlen(names[i]);
			if (strncmp(*word, names[i], length) == 0 && ((*word)[length] == '\0' || (*word)[length] == '='))
				ui_inform(app_ui(app),
				          "%s is passed to the program because it follows --; options of sweetspot go before --",
				          names[i]);
		}
}

/* Words that suggest a rate. */
static bool looks_like_rate(const char *metric) {
	static const char *const parts[] = {"flop", "/s", "per sec", "throughput", "bandwidth", "speedup"};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strcasestr(metric, parts[i]))
			return true;
	const char *rate = strcasestr(metric, "rate");
	return rate && (rate == metric || !isalpha((unsigned char)rate[-1])) && !isalpha((unsigned char)rate[4]);
}

static void metric_inform(struct app *app, const struct program_spec *program) {
	if (program->metric && !program->maximize && looks_like_rate(program->metric))
		ui_inform(app_ui(app),
		          "the metric looks like a rate, but smaller values count as better; --maximize changes that");
}

/* The first value with blanks, of a parameter that is a whole argument; false if there is none. */
static bool blank_find(const struct space *space, const char *word, char *text, size_t size) {
	for (size_t i = 0; i < space_params(space); i++) {
		size_t length = strlen(space_param_name(space, i));
		bool whole = *word == '{' && strncmp(word + 1, space_param_name(space, i), length) == 0 &&
		             strcmp(word + 1 + length, "}") == 0;
		for (size_t level = 0; whole && level < space_param_values(space, i); level++) {
			value_text(space_param_value(space, i, level), text, size);
			if (strchr(text, ' '))
				return true;
		}
	}
	return false;
}

/* Only a shell splits a value into words, which surprises those who give several options as one value. */
static void blanks_inform(struct app *app, const struct program_plan *plan) {
	char text[256];
	for (const char *const *word = plan->program.argv; *word && !plan->program.shell; word++)
		if (blank_find(plan->space, *word, text, sizeof text))
			ui_inform(app_ui(app),
			          "\"%s\" is one argument of the program; a line after --shell -- splits it into words", text);
}

/* Says which parameters reach the program through its environment: that is meant for some, and a forgotten placeholder
 * for others. */
static void variables_inform(struct app *app, const struct tune_item *item) {
	const struct program_item *p = item->state;
	mem_auto char *stranger = stranger_find(p),
				  *also = stranger ? mem_printf(" (but {%s}, which is not a parameter)", stranger) : mem_strdup("");
	for (const char *const *param = p->plan->program.params; *param; param++) {
		if (is_silent_variable(p, *param) && mistyped(*param))
			ui_inform(app_ui(app), "%s is passed as an environment variable; did you mean %s?", *param,
			          mistyped(*param));
		if (!is_silent_variable(p, *param) || is_runtime_variable(*param))
			continue;
		if (may_be_unset(p, *param))
			ui_inform(app_ui(app), "%s is passed as an environment variable", *param);
		else
			ui_inform(
				app_ui(app),
				"%s is passed as an environment variable, because {%s} does not occur in the command%s; write {%s} "
				"where its value belongs",
				*param, *param, also, *param);
	}
	options_inform(app, p);
	blanks_inform(app, p->plan);
	metric_inform(app, &p->plan->program);
}

static void building_set(struct program_plan *plan, const struct opt_args *args, double build_timeout_s) {
	plan->program.rebuild = opt_has(args, "rebuild");
	plan->program.build_timeout_s = build_timeout_s;
}

/* The energy of a program is what RAPL counts meanwhile, or what a command says. */
static int energy_check(struct app *app, const struct opt_args *args, const struct program_spec *spec,
                        struct err *err) {
	const char *objective = opt_get(args, "objective", "time");
	if (strcmp(objective, "time") == 0)
		return 0;
	if (spec->metric)
		return err_set(err, ERR_USAGE, "give one of the two",
		               "--objective %.60s and --metric both say what is minimised", objective);
	const json_t *rapl = spec->energy_command ? NULL : js_named(counters_sources(app), "rapl");
	if (spec->energy_command || js_bool_or(rapl, "usable", false))
		return 0;
	err_set(err, ERR_USAGE, NULL, "--objective %.60s needs RAPL, the processor's energy counters: %s", objective,
	        js_string_or(rapl, "reason", "this build cannot count energy"));
	return err_hint(err, "%s; or --energy-command CMD, a command that prints the joules of the last run",
	                js_string_or(rapl, "fix", "measure on the machine itself"));
}

struct tune_item *tune_item_program(struct app *app, const struct opt_args *args, double build_timeout_s,
                                    struct err *err) {
	struct program_plan *plan = program_plan_new(app, args, err);
	if (plan && energy_check(app, args, &plan->program, err)) {
		program_plan_free(plan);
		return NULL;
	}
	if (plan)
		building_set(plan, args, build_timeout_s);
	struct tune_item *item = item_new(app, NULL, plan, err);
	if (item)
		variables_inform(app, item);
	return item;
}

/* For a specification in the language "Command". Takes ownership of the specification if it succeeds. */
static struct tune_item *tune_item_command(struct app *app, struct spec *spec, const struct opt_args *args,
                                           double build_timeout_s, struct err *err) {
	struct program_plan *plan = program_plan_from_spec(spec, args, err);
	if (plan)
		building_set(plan, args, build_timeout_s);
	return item_new(app, spec, plan, err);
}

/* An item for a C function of a specification. */
struct function_item {
	struct spec *spec;
	struct spec_c *function; /* NULL for nodes, because each of them has its own */
	json_t *problem;
	bool rebuild; /* even what earlier sessions have built */
	char source[SHA256_TEXT];
};

/* Runs in the thread of a node. */
static int function_work_open(void *ctx, struct worker *worker, void **state, struct runner *runner, struct err *err) {
	const struct tune_item *item = ctx;
	const struct function_item *f = item->state;
	struct spec_c *function = spec_c_new_at(f->spec, worker, item->folder, err);
	if (!function)
		return -1;
	*state = function;
	*runner = spec_c_runner(function);
	return 0;
}

static void function_work_close(void *state) {
	spec_c_free(state);
}

static int open_function(struct tune_item *item, struct app *app, struct err *err) {
	struct function_item *f = item->state;
	struct worker *worker = app_worker(app, err);
	f->function = worker ? spec_c_new(f->spec, worker, err) : NULL;
	if (!f->function)
		return -1;
	if (f->rebuild)
		spec_c_rebuild(f->function);
	item->runner = spec_c_runner(f->function);
	item->task.builder = spec_c_builder(f->function);
	item->task.source = spec_c_source(f->function);
	return 0;
}

static void free_function(struct tune_item *item) {
	mem_auto struct function_item *f = item->state;
	spec_c_free(f->function);
	json_decref(f->problem);
	spec_free(f->spec);
}

static bool goes_elsewhere(const struct opt_args *args) {
	const struct launcher *launcher = launcher_find(opt_get(args, "launcher", "local"));
	return launcher && launcher->elsewhere;
}

static struct tune_item *function_new(struct spec *spec, const struct opt_args *args, struct err *err) {
	bool elsewhere = goes_elsewhere(args);
	char source[SHA256_TEXT] = "";
	if (elsewhere && spec_c_identify(spec, source, err))
		return NULL;
	struct tune_item *item = mem_alloc(1, sizeof *item);
	struct function_item *f = mem_alloc(1, sizeof *f);
	*f = (struct function_item){.spec = spec, .problem = json_object(), .rebuild = opt_has(args, "rebuild")};
	memcpy(f->source, source, sizeof f->source);
	*item = (struct tune_item){
		.state = f, .open = elsewhere ? NULL : open_function, .made_by_open = !elsewhere, .free = free_function};
	if (elsewhere)
		item->work = (struct pool_work){.ctx = item, .open = function_work_open, .close = function_work_close};
	item->task = (struct tune_task){
		.kernel = spec_name(spec),
		.source = elsewhere ? f->source : spec_hash(spec),
		.problem = f->problem,
		.space = spec_space(spec),
		.baseline = spec_baseline(spec),
		.start = UINT64_MAX,
	};
	if (space_config_read(spec_space(spec), spec_baseline(spec), NULL, &item->task.start, NULL))
		item->task.start = UINT64_MAX;
	return item;
}

struct tune_item *tune_item_spec(struct app *app, const char *path, const struct opt_args *args, double build_timeout_s,
                                 struct err *err) {
	struct spec *spec = spec_load(path, err);
	struct tune_item *item = NULL;
	if (!spec)
		return NULL;
	switch (spec_language(spec)) {
	case SPEC_COMMAND:
		item = tune_item_command(app, spec, args, build_timeout_s, err);
		break;
	case SPEC_C:
		item = function_new(spec, args, err);
		break;
	case SPEC_CUDA:
	case SPEC_OPENCL:
	case SPEC_HIP:
		item = tune_item_gpu(app, spec, args, err);
		break;
	case SPEC_OTHER:
		err_set(err, ERR_USAGE, "the Language of its KernelSpecification must be Command, C, CUDA, OpenCL or HIP",
		        "%s is written in %s", path, spec_language_word(spec));
	}
	if (!item)
		spec_free(spec);
	return item;
}
