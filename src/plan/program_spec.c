/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/program_plan.h"

#include "base/json/js.h"
#include "base/proc/path.h"

enum { WORDS_MAX = 4096 };

/* Collects the specification and the options before the plan is made. */
struct draft {
	const struct spec *spec;
	const json_t *kernel;
	const struct opt_args *args;
	struct arena *arena;
	struct program_spec program;
};

/* Members that are texts, the options that override them, and their fields in struct program_spec. */
static const struct {
	const char *member, *option; /* NULL: there is none */
	size_t offset;
} texts[] = {
	{"Call", NULL, offsetof(struct program_spec, call)},
	{"Build", "build", offsetof(struct program_spec, build)},
	{"Metric", "metric", offsetof(struct program_spec, metric)},
	{"Verify", "verify", offsetof(struct program_spec, verify)},
	{"BeforeEach", "before-each", offsetof(struct program_spec, before_each)},
	{"Input", "input", offsetof(struct program_spec, input)},
};

static int read_texts(struct draft *d, struct err *err) {
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const char *text = texts[i].option ? opt_get(d->args, texts[i].option, NULL) : NULL;
		if (!text && json_object_get(d->kernel, texts[i].member) && js_string(d->kernel, texts[i].member, &text, err))
			return -1;
		if (text)
			*(const char **)((char *)&d->program + texts[i].offset) = arena_strdup(d->arena, text);
	}
	return 0;
}

static int read_switches(struct draft *d, struct err *err) {
	if (json_object_get(d->kernel, "Maximize") && js_bool(d->kernel, "Maximize", &d->program.maximize, err))
		return -1;
	d->program.maximize |= opt_has(d->args, "maximize");
	return program_expect_read(d->args, &d->program, err);
}

/* A folder in the specification is relative to the specification, one of --cwd to the current folder. */
static int read_cwd(struct draft *d, struct err *err) {
	const char *given = opt_get(d->args, "cwd", NULL), *from = NULL;
	if (given) {
		d->program.cwd = arena_strdup(d->arena, given);
		return 0;
	}
	if (!json_object_get(d->kernel, "Cwd"))
		return 0;
	if (js_string(d->kernel, "Cwd", &given, err))
		return -1;
	from = given[0] == '/' ? "" : spec_folder(d->spec);
	char *path = arena_printf(d->arena, "%s%s%s", from, *from ? "/" : "", given), *real = realpath(path, NULL);
	if (!real)
		return err_set(err, ERR_USAGE, "it is relative to the specification", "the folder '%s' does not exist", path);
	d->program.cwd = arena_strdup(d->arena, real);
	free(real);
	return 0;
}

static int no_command(struct err *err) {
	return err_set(err, ERR_USAGE, "\"Command\": [\"./app\", \"{B}\"], or a string for the shell",
	               "'Command' must be a list of words or a string");
}

static int read_command(struct draft *d, struct err *err) {
	const json_t *command = json_object_get(d->kernel, "Command");
	size_t count = json_is_string(command) ? 1 : json_array_size(command);
	if (count == 0 || count > WORDS_MAX)
		return no_command(err);
	const char **argv = arena_alloc(d->arena, count + 1, sizeof(const char *));
	for (size_t i = 0; i < count; i++) {
		const json_t *word = json_is_string(command) ? command : json_array_get(command, i);
		if (!json_is_string(word) || (i == 0 && json_string_length(word) == 0))
			return no_command(err);
		argv[i] = arena_strdup(d->arena, json_string_value(word));
	}
	d->program.argv = argv;
	d->program.shell = json_is_string(command) || opt_has(d->args, "shell");
	return 0;
}

/* Checks that the program exists, unless it is still to be built, run by a shell, or named by a parameter. */
static int check_program(const struct draft *d, struct err *err) {
	const struct program_spec *p = &d->program;
	if (p->build || p->shell || strchr(p->argv[0], '{'))
		return 0;
	mem_auto char *path = program_path(p->argv[0], p->cwd, err);
	return path ? 0 : -1;
}

static int check_options(const struct spec *spec, const struct opt_args *args, struct err *err) {
	static const char *const names[] = {"param", "constraint", "default", "openmp", "range", "set", "size", NULL};
	const char *other = opt_first(args, names);
	if (other)
		return err_set(err, ERR_USAGE, "change the file instead", "--%s cannot be combined with a specification",
		               other);
	if (opt_dashes(args))
		return err_set(err, ERR_USAGE, NULL, "the specification contains the command, so nothing may follow '--'");
	if (spec_language(spec) != SPEC_COMMAND)
		return err_set(err, ERR_USAGE, "\"Language\": \"Command\" in KernelSpecification",
		               "the specification's language is '%s', not 'Command'", spec_language_word(spec));
	return 0;
}

static const char *const *param_names(struct arena *arena, const struct space *space) {
	size_t count = space_params(space);
	const char **names = arena_alloc(arena, count + 1, sizeof(const char *));
	for (size_t i = 0; i < count; i++)
		names[i] = arena_strdup(arena, space_param_name(space, i));
	return names;
}

static struct program_plan *plan_make(struct draft *d, struct spec *spec) {
	struct program_plan *plan = mem_alloc(1, sizeof *plan);
	plan->arena = d->arena;
	plan->name = arena_strdup(d->arena, spec_name(spec));
	char *source = arena_alloc(d->arena, SHA256_TEXT, 1);
	program_source(&d->program, source);
	plan->source = source;
	plan->problem = program_problem(&d->program);
	plan->baseline = json_deep_copy(spec_baseline(spec));
	plan->space = spec_take_space(spec);
	if (space_config_read(plan->space, plan->baseline, NULL, &plan->start, NULL))
		plan->start = UINT64_MAX;
	plan->program = d->program;
	plan->program.params = param_names(d->arena, plan->space);
	plan->program.baseline = plan->baseline;
	return plan;
}

struct program_plan *program_plan_from_spec(struct spec *spec, const struct opt_args *args, struct err *err) {
	if (check_options(spec, args, err))
		return NULL;
	struct draft d = {.spec = spec, .kernel = spec_kernel(spec), .args = args, .arena = arena_new()};
	if (read_texts(&d, err) || read_switches(&d, err) || read_cwd(&d, err) || read_command(&d, err)) {
		err_prefix(err, "KernelSpecification");
		goto fail;
	}
	if (check_program(&d, err))
		goto fail;
	return plan_make(&d, spec);
fail:
	arena_free(d.arena);
	return NULL;
}
