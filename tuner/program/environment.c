/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/value.h"
#include "tuner/program/environment.h"
#include "tuner/program/program_impl.h"

/* The text of a number, word or boolean; NULL for anything else. Caller frees. */
static char *scalar_text(const json_t *json) {
	struct value value;
	if (json_is_string(json))
		return mem_strdup(json_string_value(json));
	if (json_is_boolean(json))
		return mem_strdup(json_is_true(json) ? "true" : "false");
	if (!json || !value_from_json(json, &value))
		return NULL;
	int size = value_text(value, NULL, 0) + 1;
	char *text = mem_alloc((size_t)size, 1);
	value_text(value, text, size);
	return text;
}

static void env_set(json_t *env, const char *name, char *text) {
	if (text)
		json_object_set_new(env, name, json_string(text));
	free(text);
}

/* NULL for "default", which leaves the choice to the runtime. */
static char *setting_text(const json_t *config, const char *param) {
	char *text = scalar_text(json_object_get(config, param));
	if (!text || strcmp(text, "default") != 0)
		return text;
	free(text);
	return NULL;
}

/* Sets OMP_SCHEDULE="dynamic,4"; without a chunk the runtime uses its own. */
static void env_schedule(json_t *env, const json_t *config) {
	mem_auto char *schedule = setting_text(config, "schedule");
	mem_auto char *chunk = scalar_text(json_object_get(config, "chunk"));
	if (schedule && chunk && strcmp(chunk, "0") != 0)
		env_set(env, "OMP_SCHEDULE", mem_printf("%s,%s", schedule, chunk));
	else if (schedule)
		env_set(env, "OMP_SCHEDULE", mem_strdup(schedule));
}

static bool is_unbound(const json_t *proc_bind) {
	const char *word = json_string_value(proc_bind);
	return json_is_false(proc_bind) || (word && strcmp(word, "false") == 0);
}

static void env_openmp(json_t *env, const json_t *config) {
	const json_t *proc_bind = json_object_get(config, "proc_bind");
	env_set(env, "OMP_NUM_THREADS", scalar_text(json_object_get(config, "threads")));
	env_set(env, "OMP_PROC_BIND", scalar_text(proc_bind));
	if (!is_unbound(proc_bind))
		env_set(env, "OMP_PLACES", scalar_text(json_object_get(config, "places")));
	env_schedule(env, config);
	env_set(env, "OMP_WAIT_POLICY", setting_text(config, "wait_policy"));
	env_set(env, "GOMP_SPINCOUNT", setting_text(config, "spincount"));
	env_set(env, "KMP_BLOCKTIME", setting_text(config, "blocktime"));
	/* The team must be as large as the one that was measured. */
	if (json_object_get(env, "OMP_NUM_THREADS"))
		json_object_set_new(env, "OMP_DYNAMIC", json_string("false"));
}

/* The variables, and the parameters that they set or override. The first variable of a parameter is its own. */
static const struct {
	const char *variable, *params[2];
} governed[] = {
	{"OMP_NUM_THREADS", {"threads"}},
	{"OMP_DYNAMIC", {"threads"}},
	{"OMP_PROC_BIND", {"proc_bind", "places"}},
	{"OMP_PLACES", {"places", "proc_bind"}},
	{"GOMP_CPU_AFFINITY", {"proc_bind", "places"}},
	{"KMP_AFFINITY", {"proc_bind", "places"}},
	{"OMP_SCHEDULE", {"schedule", "chunk"}},
	{"OMP_WAIT_POLICY", {"wait_policy"}},
	{"GOMP_SPINCOUNT", {"spincount"}},
	{"KMP_BLOCKTIME", {"blocktime"}},
};
enum { GOVERNED = sizeof governed / sizeof *governed };

bool config_governs(const char *variable, const json_t *config, const json_t *today) {
	for (size_t i = 0; i < GOVERNED; i++)
		for (size_t k = 0; k < 2 && strcmp(governed[i].variable, variable) == 0; k++) {
			const char *param = governed[i].params[k];
			const json_t *value = param ? json_object_get(config, param) : NULL;
			if (!today || (param && !(value == json_object_get(today, param)) &&
			               !json_equal(value, json_object_get(today, param))))
				return true;
		}
	return false;
}

const char *config_variable(const char *param) {
	for (size_t i = 0; i < GOVERNED; i++)
		if (strcmp(governed[i].params[0], param) == 0)
			return governed[i].variable;
	return strcmp(param, "chunk") == 0 ? "OMP_SCHEDULE" : NULL;
}

const char *const config_settings[] = {"threads",     "places",    "proc_bind", "schedule", "chunk",
                                       "wait_policy", "spincount", "blocktime", NULL};

bool config_is_setting(const char *name) {
	const char *const *setting = config_settings;
	while (*setting && strcmp(name, *setting) != 0)
		setting++;
	return *setting;
}

static bool is_openmp(const json_t *config, const char *param) {
	return config_is_setting(param) && (strcmp(param, "chunk") != 0 || json_object_get(config, "schedule"));
}

/* Sets SWEETSPOT_<KERNEL>_<PARAM> in capitals; characters that are not allowed in a name become "_". If two parameters
 * then have the same name, the second one gets another "_". */
static void env_param(json_t *env, const char *kernel, const char *param, const json_t *value) {
	char *name = mem_printf("SWEETSPOT_%s_%s", kernel, param);
	for (char *c = name; *c; c++)
		*c = isascii((unsigned char)*c) && isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
	while (json_object_get(env, name)) {
		char *longer = mem_printf("%s_", name);
		free(name);
		name = longer;
	}
	env_set(env, name, scalar_text(value));
	free(name);
}

/* The same without the OMP_* variables of what is as it is today: a number of threads that is right for this machine
 * would limit the next one. today: NULL if it is not known. */
static json_t *config_environment_changed(const char *kernel, const json_t *config, const json_t *today) {
	json_t *env = config_environment(kernel, config);
	for (size_t i = 0; i < GOVERNED; i++)
		if (!config_governs(governed[i].variable, config, today))
			json_object_del(env, governed[i].variable);
	return env;
}

json_t *config_environment(const char *kernel, const json_t *config) {
	json_t *env = json_object();
	env_openmp(env, config);
	if (!kernel)
		return env;
	js_members (param, value, config)
		if (!is_openmp(config, param))
			env_param(env, kernel, param, value);
	return env;
}

const char *const program_governed[] = {
	"OMP_NUM_THREADS",
	"OMP_PROC_BIND",
	"OMP_PLACES",
	"OMP_SCHEDULE",
	"OMP_WAIT_POLICY",
	"OMP_DYNAMIC",
	"GOMP_SPINCOUNT",
	"KMP_BLOCKTIME",
	"GOMP_CPU_AFFINITY",
	"KMP_AFFINITY",
	NULL,
};

/* A baseline that sets variables by itself has them written, too. */
static const json_t *today_of(const struct program *program) {
	return program->spec.baseline_set ? NULL : program->baseline;
}

static bool is_governed(const struct program *program, const json_t *config, const char *name) {
	return program->spec.openmp && config_governs(name, config, today_of(program));
}

static void openmp_add(const struct program *program, const json_t *config, json_t *variables) {
	js_auto json_t *members = json_copy((json_t *)config);
	for (size_t i = 0; i < program->params.count; i++)
		json_object_del(members, program->params.list[i]);
	js_auto json_t *openmp = config_environment_changed(NULL, members, today_of(program));
	json_object_update(variables, openmp);
}

/* "unset" as the value of one of the user's variables; the program then runs without it. */
static bool is_without(const struct program *program, const json_t *config, const char *name) {
	const char *value = json_string_value(json_object_get(config, name));
	return value && strcmp(value, PROGRAM_UNSET) == 0 && program_is_variable(program, name);
}

json_t *program_environment(const struct program *program, const json_t *config) {
	json_t *variables = program->spec.variables ? json_copy((json_t *)program->spec.variables) : json_object();
	if (program->spec.openmp)
		openmp_add(program, config, variables);
	for (size_t i = 0; i < program->params.count; i++) {
		const char *name = program->params.list[i];
		mem_auto char *value = program_value_text(json_object_get(config, name));
		if (value && program_is_variable(program, name) && !is_without(program, config, name))
			json_object_set_new(variables, name, json_string(value));
	}
	return variables;
}

static bool is_of_openmp(const char *entry) {
	return strncmp(entry, "OMP_", 4) == 0 || strncmp(entry, "GOMP_", 5) == 0 || strncmp(entry, "KMP_", 4) == 0;
}

json_t *program_variables(const struct program *program, const json_t *config) {
	json_t *variables = json_object(), *own = program_environment(program, config);
	for (char **entry = environ; entry && *entry; entry++) {
		size_t size = strcspn(*entry, "=");
		mem_auto char *name = mem_printf("%.*s", (int)size, *entry);
		if ((*entry)[size] && is_of_openmp(name) && !is_governed(program, config, name))
			json_object_set_new(variables, name, json_string(*entry + size + 1));
	}
	json_object_update(variables, own);
	for (size_t i = 0; i < program->params.count; i++)
		if (is_without(program, config, program->params.list[i]))
			json_object_del(variables, program->params.list[i]);
	json_decref(own);
	return variables;
}

json_t *program_without(const struct program *program, const json_t *config) {
	json_t *names = json_array();
	for (size_t i = 0; i < program->params.count; i++)
		if (is_without(program, config, program->params.list[i]))
			json_array_append_new(names, json_string(program->params.list[i]));
	return names;
}

/* Those of them, and the user's OpenMP variables, that are set here and must not be; array, new reference. */
static json_t *program_unset(const struct program *program, const json_t *config) {
	json_t *own = program_environment(program, config), *names = json_array();
	for (const char *const *name = program_governed; *name; name++)
		if (getenv(*name) && is_governed(program, config, *name) && !json_object_get(own, *name))
			json_array_append_new(names, json_string(*name));
	for (size_t i = 0; i < program->params.count; i++)
		if (is_without(program, config, program->params.list[i]) && getenv(program->params.list[i]))
			json_array_append_new(names, json_string(program->params.list[i]));
	json_decref(own);
	return names;
}

static void word_add(struct program_text *out, const char *text) {
	mem_auto char *word = program_quote(text);
	program_text_add(out, word);
}

/* The folder in which a person would build: that of the sources, or one beside it. */
static char *line_build(const struct program *program) {
	if (!program->spec.build)
		return NULL;
	if (program->out_of_tree)
		return mem_printf("%s/sweetspot-build", program->here);
	return mem_strdup(program->cwd ? program->cwd : program->here);
}

/* Adds the build command unchanged if it can precede "&&", otherwise in a separate shell. */
static void build_add(struct program_text *out, const struct program_case *one) {
	const char *missing;
	mem_auto char *line = program_fill(one, one->program->spec.build, true, &missing);
	const char *text = line ? line : one->program->spec.build;
	if (strpbrk(text, "#\n")) {
		program_text_add(out, "sh -c ");
		word_add(out, text);
	} else if (strpbrk(text, ";|&") || strncmp(text, "cd ", 3) == 0 || strncmp(text, "ex", 2) == 0) {
		program_text_printf(out, "(%s)", text);
	} else {
		program_text_add(out, text);
	}
	program_text_add(out, " && ");
}

static void variables_add(struct program_text *out, const struct program *program, const json_t *config) {
	js_auto json_t *variables = program_environment(program, config), *unset = program_unset(program, config);
	mem_auto char *prefix = program_env_prefix(unset, variables);
	program_text_add(out, prefix);
}

static bool call_add(struct program_text *out, const struct program_case *one) {
	const char *missing, *call = one->program->spec.call;
	char *line = call ? program_fill(one, call, false, &missing) : NULL;
	if (line)
		program_text_add(out, line);
	free(line);
	return line;
}

static void command_add(struct program_text *out, const struct program_case *one) {
	const char *missing = NULL;
	if (call_add(out, one))
		return;
	js_auto json_t *words = program_words(one, &missing);
	js_each (word, words) {
		bool shell = word_at == 0 && one->program->spec.shell;
		program_text_add(out, word_at ? " " : "");
		word_add(out, shell ? "sh" : json_string_value(word));
	}
	if (missing)
		program_text_printf(out, "# {%s} has not been given a value", missing);
}

/* Adds whatever precedes the command. Returns true if that changes the folder, so that all of it needs parentheses. */
static bool prologue_add(struct program_text *out, const struct program_case *one) {
	const struct program *program = one->program;
	bool moves = program->cwd || program->out_of_tree;
	if (moves)
		program_text_add(out, "(");
	if (program->out_of_tree) {
		program_text_add(out, "mkdir -p ");
		word_add(out, one->build);
		program_text_add(out, " && cd ");
		word_add(out, one->build);
		program_text_add(out, " && ");
		build_add(out, one);
	}
	if (program->cwd) {
		program_text_add(out, "cd ");
		word_add(out, program->spec.cwd);
		program_text_add(out, " && ");
	}
	if (program->spec.build && !program->out_of_tree)
		build_add(out, one);
	return moves;
}

static bool names_any(const struct program_spec *spec, const char *text) {
	for (const char *const *name = spec->params; name && *name; name++)
		if (template_mentions(text, *name))
			return true;
	return false;
}

/* "sed -e 's/{B}/8/g' -e .. IN >OUT && ": a replacement escapes the slash, the backslash and "&". */
static void template_add(struct program_text *out, const struct program_spec *spec, const char *template,
                         program_filler *fill, const void *ctx) {
	mem_auto char *from = mem_printf("%.*s", (int)strcspn(template, "="), template);
	if (strchr(from, '{')) { /* the text itself */
		mem_auto char *text = fill(ctx, from, false);
		program_text_add(out, "echo ");
		word_add(out, text ? text : from);
		program_text_printf(out, " | tee %s >/dev/null && ", template + strlen(from) + 1);
		return;
	}
	program_text_add(out, "sed");
	for (const char *const *name = spec->params; name && *name; name++) {
		mem_auto char *hole = mem_printf("{%s}", *name), *value = fill(ctx, hole, false);
		struct program_text script = {0};
		program_text_printf(&script, "s/%s/", hole);
		for (const char *c = value; c && *c; c++)
			program_text_printf(&script, "%s%c", strchr("/\\&", *c) ? "\\" : "", *c);
		program_text_add(&script, "/g");
		mem_auto char *line = program_text_detach(&script);
		if (value) {
			program_text_add(out, " -e ");
			word_add(out, line);
		}
	}
	program_text_add(out, " ");
	word_add(out, from);
	program_text_add(out, " >");
	word_add(out, template + strlen(from) + 1);
	program_text_add(out, " && ");
}

static void around_add(struct program_text *out, const char *text, program_filler *fill, const void *ctx) {
	mem_auto char *line = fill(ctx, text, true);
	bool plain = !strpbrk(text, "#\n;|&");
	program_text_add(out, plain ? "" : "sh -c ");
	plain ? program_text_add(out, line ? line : text) : word_add(out, line ? line : text);
}

struct program_around program_around(const struct program_spec *spec, program_filler *fill, const void *ctx) {
	struct program_text before = {0}, behind = {0};
	for (const char *const *template = spec->templates; template && *template; template ++)
		template_add(&before, spec, *template, fill, ctx);
	const char *const texts[] = {spec->setup, names_any(spec, spec->before_each) ? spec->before_each : NULL};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i]) {
			around_add(&before, texts[i], fill, ctx);
			program_text_add(&before, " && ");
		}
	if (spec->setup && spec->teardown) {
		program_text_add(&behind, "; ");
		around_add(&behind, spec->teardown, fill, ctx);
	}
	return (struct program_around){program_text_detach(&before), program_text_detach(&behind)};
}

static char *case_fill(const void *ctx, const char *text, bool shell) {
	const char *missing;
	return program_fill(ctx, text, shell, &missing);
}

char *program_line(const struct program *program, const json_t *config) {
	struct program_text out = {0};
	mem_auto char *build = line_build(program);
	const struct program_case one = {program, config, build};
	bool moves = prologue_add(&out, &one);
	struct program_around around = program_around(&program->spec, case_fill, &one);
	program_text_add(&out, around.before);
	variables_add(&out, program, config);
	command_add(&out, &one);
	if (program->input) {
		program_text_add(&out, " < ");
		word_add(&out, program->out_of_tree ? program->input : program->spec.input);
	}
	program_text_add(&out, around.behind);
	program_text_add(&out, moves ? ")" : "");
	free(around.before);
	free(around.behind);
	return program_text_detach(&out);
}
