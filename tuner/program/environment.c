/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/proc/power.h"
#include "base/proc/serves.h"
#include "tuner/program/program_impl.h"

static void env_set(json_t *env, const char *name, char *text) {
	if (text)
		json_object_set_new(env, name, json_string(text));
	free(text);
}

/* NULL for "default", which leaves the choice to the runtime. */
static char *setting_text(const json_t *config, const char *param) {
	char *text = program_value_text(json_object_get(config, param));
	if (!text || strcmp(text, "default") != 0)
		return text;
	free(text);
	return NULL;
}

/* Sets OMP_SCHEDULE="dynamic,4"; without a chunk the runtime uses its own. */
static void env_schedule(json_t *env, const json_t *config) {
	mem_auto char *schedule = setting_text(config, "schedule");
	mem_auto char *chunk = program_value_text(json_object_get(config, "chunk"));
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
	env_set(env, "OMP_NUM_THREADS", program_value_text(json_object_get(config, "threads")));
	env_set(env, "OMP_PROC_BIND", program_value_text(proc_bind));
	if (!is_unbound(proc_bind))
		env_set(env, "OMP_PLACES", program_value_text(json_object_get(config, "places")));
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
	{"OMP_PROC_BIND", {"proc_bind", "places"}},
	{"OMP_PLACES", {"places", "proc_bind"}},
	{"OMP_SCHEDULE", {"schedule", "chunk"}},
	{"OMP_WAIT_POLICY", {"wait_policy"}},
	{"OMP_DYNAMIC", {"threads"}},
	{"GOMP_SPINCOUNT", {"spincount"}},
	{"KMP_BLOCKTIME", {"blocktime"}},
	{"GOMP_CPU_AFFINITY", {"proc_bind", "places"}},
	{"KMP_AFFINITY", {"proc_bind", "places"}},
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
	mem_auto char *name = mem_printf("SWEETSPOT_%s_%s", kernel, param);
	for (char *c = name; *c; c++)
		*c = isascii((unsigned char)*c) && isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
	while (json_object_get(env, name))
		mem_append(&name, "_");
	env_set(env, name, program_value_text(value));
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

const char *program_governed(size_t i) {
	return i < GOVERNED ? governed[i].variable : NULL;
}

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
	js_auto json_t *own = program_environment(program, config);
	json_t *names = json_array();
	for (size_t i = 0; i < GOVERNED; i++) {
		const char *name = governed[i].variable;
		if (getenv(name) && is_governed(program, config, name) && !json_object_get(own, name))
			json_array_append_new(names, json_string(name));
	}
	for (size_t i = 0; i < program->params.count; i++)
		if (is_without(program, config, program->params.list[i]) && getenv(program->params.list[i]))
			json_array_append_new(names, json_string(program->params.list[i]));
	return names;
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
static void build_add(char **out, const struct program_case *one) {
	const char *missing;
	mem_auto char *line = program_fill(one, one->program->spec.build, true, &missing);
	const char *text = line ? line : one->program->spec.build;
	mem_auto char *word = program_quote(text);
	if (strpbrk(text, "#\n"))
		mem_append(out, "sh -c %s && ", word);
	else if (strpbrk(text, ";|&") || strncmp(text, "cd ", 3) == 0 || strncmp(text, "ex", 2) == 0)
		mem_append(out, "(%s) && ", text);
	else
		mem_append(out, "%s && ", text);
}

static bool call_add(char **out, const struct program_case *one) {
	const char *missing, *call = one->program->spec.call;
	char *line = call ? program_fill(one, call, false, &missing) : NULL;
	if (line)
		mem_append(out, "%s", line);
	free(line);
	return line;
}

static void command_add(char **out, const struct program_case *one) {
	const char *missing = NULL;
	if (call_add(out, one))
		return;
	js_auto json_t *words = program_words(one, &missing);
	js_each (word, words) {
		bool shell = word_at == 0 && one->program->spec.shell;
		mem_auto char *quoted = program_quote(shell ? "sh" : json_string_value(word));
		mem_append(out, "%s%s", word_at ? " " : "", quoted);
	}
	if (missing)
		mem_append(out, "# {%s} has not been given a value", missing);
}

/* Adds whatever precedes the command. Returns true if that changes the folder, so that all of it needs parentheses. */
static bool prologue_add(char **out, const struct program_case *one) {
	const struct program *program = one->program;
	bool moves = program->cwd || program->out_of_tree;
	if (moves)
		mem_append(out, "(");
	if (program->out_of_tree) {
		mem_auto char *build = program_quote(one->build);
		mem_append(out, "mkdir -p %s && cd %s && ", build, build);
		build_add(out, one);
	}
	if (program->cwd) {
		mem_auto char *cwd = program_quote(program->spec.cwd);
		mem_append(out, "cd %s && ", cwd);
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
static void template_add(char **out, const struct program_spec *spec, const char *template, program_filler *fill,
                         const void *ctx) {
	mem_auto char *from = mem_printf("%.*s", (int)strcspn(template, "="), template), *in = program_quote(from),
				  *to = program_quote(template + strlen(from) + 1);
	if (strchr(from, '{')) { /* the text itself */
		mem_auto char *text = fill(ctx, from, false), *word = program_quote(text ? text : from);
		const char *gpu = power_gpu(template + strlen(from) + 1);
		if (gpu) {
			mem_append(out, "nvidia-smi -i %s -pl %s >/dev/null && ", gpu, word);
			return;
		}
		mem_append(out, "echo %s | tee %s >/dev/null && ", word, template + strlen(from) + 1);
		return;
	}
	mem_append(out, "sed");
	for (const char *const *name = spec->params; name && *name; name++) {
		mem_auto char *hole = mem_printf("{%s}", *name), *value = fill(ctx, hole, false),
					  *script = mem_printf("s/%s/", hole);
		for (const char *c = value; c && *c; c++)
			mem_append(&script, strchr("/\\&", *c) ? "\\%c" : "%c", *c);
		mem_append(&script, "/g");
		mem_auto char *word = program_quote(script);
		if (value)
			mem_append(out, " -e %s", word);
	}
	mem_append(out, " %s >%s && ", in, to);
}

static void around_add(char **out, const char *text, program_filler *fill, const void *ctx) {
	mem_auto char *line = fill(ctx, text, true), *word = program_quote(line ? line : text);
	bool plain = !strpbrk(text, "#\n;|&");
	mem_append(out, "%s%s", plain ? "" : "sh -c ", !plain ? word : line ? line : text);
}

/* A server in the foreground does not end, and any may need a moment until it is ready. */
static void setup_add(char **out, const struct program_spec *spec, program_filler *fill, const void *ctx) {
	enum { PATIENCE = 30 };
	int port = spec->ready ? serves_port(spec->ready) : 0;
	mem_append(out, spec->serves ? "{ " : "");
	around_add(out, spec->setup, fill, ctx);
	mem_append(out, spec->serves ? " & } && " : " && ");
	if (!spec->ready)
		return;
	mem_auto char *opens = mem_printf("(: </dev/tcp/127.0.0.1/%d) 2>/dev/null", port),
				  *line = mem_printf("until %s; do sleep .1; done", port ? opens : spec->ready),
				  *word = program_quote(line);
	mem_append(out, "timeout %d %s -c %s && ", PATIENCE, port ? "bash" : "sh", word);
}

struct program_around program_around(const struct program_spec *spec, program_filler *fill, const void *ctx) {
	char *before = mem_strdup(""), *behind = mem_strdup("");
	for (const char *const *template = spec->templates; template && *template; template ++)
		template_add(&before, spec, *template, fill, ctx);
	if (spec->setup)
		setup_add(&before, spec, fill, ctx);
	if (names_any(spec, spec->before_each)) {
		around_add(&before, spec->before_each, fill, ctx);
		mem_append(&before, " && ");
	}
	if (spec->setup && spec->teardown) {
		mem_append(&behind, "; ");
		around_add(&behind, spec->teardown, fill, ctx);
	} else if (spec->setup && spec->serves) {
		mem_append(&behind, "; kill $!");
	}
	return (struct program_around){before, behind};
}

static char *case_fill(const void *ctx, const char *text, bool shell) {
	const char *missing;
	return program_fill(ctx, text, shell, &missing);
}

char *program_line(const struct program *program, const json_t *config) {
	js_auto json_t *variables = program_environment(program, config), *unset = program_unset(program, config);
	mem_auto char *build = line_build(program), *prefix = program_env_prefix(unset, variables);
	const struct program_case one = {program, config, build};
	char *out = mem_strdup("");
	bool moves = prologue_add(&out, &one);
	struct program_around around = program_around(&program->spec, case_fill, &one);
	mem_append(&out, "%s%s", around.before, prefix);
	command_add(&out, &one);
	if (program->input) {
		mem_auto char *input = program_quote(program->out_of_tree ? program->input : program->spec.input);
		mem_append(&out, " < %s", input);
	}
	mem_append(&out, "%s%s", around.behind, moves ? ")" : "");
	free(around.before);
	free(around.behind);
	return out;
}
