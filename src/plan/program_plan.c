/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>

#include "base/sys.h"
#include "src/plan/params.h"
#include "src/plan/plan_impl.h"
#include "tuner/program/command.h"

const struct opt program_options[] = {
	OPT_GROUP("Program (after --)"),
	{"openmp", 0, NULL, "tune its OpenMP settings: threads, binding, ..", 0},
	{"param", 0, "P=A,B,..", "values of {P} in the command, or of the variable P", OPT_REPEAT},
	{"default", 0, "P=V", "value used today, for the baseline (first value)", OPT_REPEAT},
	{"constraint", 0, "EXPR", "condition on parameters, e.g. 'A * B <= 64'", OPT_REPEAT},
	{"build", 0, "CMD", "build command, run once per combination it names", 0},
	{"metric", 0, "REGEX", "number in the output, or kernel:NAME (wall time)", 0},
	{"energy-command", 0, "CMD", "command that prints the joules of the last run", 0},
	{"maximize", 0, NULL, "larger values of the metric are better", 0},
	{"verify", 0, "CMD", "command that checks the output; status 0: correct", 0},
	{"expect-output", 0, "same|any", "require the baseline's output (any: it may differ)", 0},
	{"expect-files", 0, "[same]", "require the files that the baseline writes", OPT_MAYBE},
	{"before-each", 0, "CMD", "command to run before each run, not timed", 0},
	{"setup", 0, "CMD", "command that starts what it needs, such as a server", 0},
	{"teardown", 0, "CMD", "command that ends that (its session is ended)", 0},
	{"ready", 0, "CMD|PORT", "command or port that tells when it is ready", 0},
	{"template", 0, "IN=OUT", "file to fill {P} into, as before --setup", OPT_REPEAT},
	{"ranks", 0, "A..B", "tune MPI ranks and their binding, by mpirun or srun", 0},
	{"name", 0, "NAME", "name of the results (what does the work)", 0},
	{"shell", 0, NULL, "run the command through sh", 0},
	{"cwd", 0, "DIR", "directory to run the program in", 0},
	{"input", 0, "FILE", "file for its standard input (empty)", 0},
	{0},
};

void draft_note(struct draft *draft, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	mem_auto char *text = mem_vprintf(format, ap);
	va_end(ap);
	if (draft->note_count < DRAFT_NOTES_MAX)
		draft->notes[draft->note_count++] = arena_strdup(draft->plan->arena, text);
}

/* NULL if unknown */
static struct draft_param *draft_param_find(struct draft *draft, const char *name) {
	for (size_t i = 0; i < draft->count; i++)
		if (strcmp(draft->params[i].name, name) == 0)
			return &draft->params[i];
	return NULL;
}

/* NULL if it is not among its values */
static struct value *draft_value(struct draft_param *param, struct value wanted) {
	for (size_t i = 0; i < param->count; i++)
		if (value_equal(param->values[i], wanted))
			return &param->values[i];
	return NULL;
}

static bool has_value(struct draft *draft, const char *name, int64_t number) {
	struct draft_param *param = draft_param_find(draft, name);
	return param && param->setting && draft_value(param, value_int(number));
}

static int constraints_add(struct draft *draft, struct err *err) {
	struct space *space = draft->plan->space;
	for (size_t i = 0; i < opt_count(draft->args, "constraint"); i++)
		if (space_add_constraint(space, opt_at(draft->args, "constraint", i), err))
			return -1;
	/* Without a chunk size dynamic and guided use 1, so 0 and 1 would be the same configuration. */
	if (has_value(draft, "chunk", 0) && has_value(draft, "chunk", 1))
		return space_add_constraint(space, "chunk != 0 or schedule == 'static'", err);
	return 0;
}

static int space_make(struct draft *draft, struct err *err) {
	struct program_plan *plan = draft->plan;
	plan->space = space_new();
	for (size_t i = 0; i < draft->count; i++) {
		const struct draft_param *param = &draft->params[i];
		if (space_add_param(plan->space, param->name, param->setting ? param->setting->summary : "", param->values,
		                    param->count, param->when, err))
			return -1;
	}
	if (plan->program.openmp && bindings_add(plan->space, draft->topo, err))
		return -1;
	return constraints_add(draft, err) || draft_ranks_limit(draft, plan->space, err) || space_build(plan->space, err)
	           ? -1
	           : 0;
}

static void finish(struct draft *draft) {
	struct program_plan *plan = draft->plan;
	const char **params = arena_alloc(plan->arena, draft->count + 1, sizeof *params);
	const char **notes = arena_alloc(plan->arena, draft->note_count + 1, sizeof *notes);
	size_t count = 0;
	for (size_t i = 0; i < draft->count; i++)
		if (!draft->params[i].setting)
			params[count++] = draft->params[i].name;
	memcpy(notes, draft->notes, draft->note_count * sizeof *notes);
	plan->program.params = params;
	plan->notes = notes;
}

static int draft_user_params(struct draft *draft, struct err *err);

struct program_plan *program_plan_new(struct app *app, const struct opt_args *args, struct err *err) {
	const struct topo *topo = app_topo(app, err);
	if (!topo)
		return NULL;
	mem_auto struct draft *draft = mem_alloc(1, sizeof *draft);
	struct program_plan *plan = mem_alloc(1, sizeof *plan);
	plan->arena = arena_new();
	draft->plan = plan;
	draft->args = args;
	draft->topo = topo;
	bool good = !draft_command(draft, err) && !draft_openmp(draft, err) && !draft_user_params(draft, err) &&
	            !space_make(draft, err) && !draft_baseline(draft, err);
	if (good)
		finish(draft);
	if (good)
		return plan;
	program_plan_free(plan);
	return NULL;
}

void program_plan_free(struct program_plan *plan) {
	if (!plan)
		return;
	space_free(plan->space);
	json_decref(plan->problem);
	json_decref(plan->baseline);
	arena_free(plan->arena);
	free(plan);
}

/* The user's own parameters: --param and --default. */
/* Names that have another meaning in the command or in an expression. */
static bool is_reserved(const char *name) {
	static const char *const words[] = {"SOURCE", "BUILD", "and",  "or",   "not",   "in",  "is",  "if",  "else",
	                                    "lambda", "for",   "None", "True", "False", "min", "max", "abs", NULL};
	return opt_is_known(name, words);
}

static int name_check(struct draft *draft, const char *name, struct err *err) {
	const struct draft_param *taken = draft_param_find(draft, name);
	if (taken && taken->setting)
		return err_set(err, ERR_USAGE, "choose another name, or give its values with --range",
		               "%s is one of the parameters of --openmp", name);
	if (taken)
		return err_set(err, ERR_USAGE, "list all its values in one --param", "the parameter %s is given twice", name);
	if (is_reserved(name))
		return err_set(err, ERR_USAGE, "choose another name",
		               "%s cannot be the name of a parameter because it is reserved", name);
	return 0;
}

/* Reads "a,b" in quotes, where "" stands for one quote, into *word. Returns what follows; NULL if it does not end. */
static const char *quoted_read(struct arena *arena, const char *text, struct value *word) {
	char *inside = arena_alloc(arena, strlen(text) + 1, 1);
	size_t size = 0;
	for (text++; *text && (*text != '"' || text[1] == '"'); text++) {
		text += *text == '"';
		inside[size++] = *text;
	}
	*word = value_word(inside);
	return *text ? text + 1 + strspn(text + 1, " \t") : NULL;
}

static bool is_written_so(struct value value, struct value word) {
	char ours[64];
	value_text(value, ours, sizeof ours);
	return value.type == VALUE_WORD || strcmp(ours, word.as.w) == 0;
}

/* A parameter in a constraint must stay a number, because expressions calculate with it. */
static bool is_constrained(const struct draft *draft, const char *name) {
	for (size_t i = 0; i < opt_count(draft->args, "constraint"); i++)
		if (strstr(opt_at(draft->args, "constraint", i), name))
			return true;
	return false;
}

static int utf8_check(const char *name, const char *text, struct err *err) {
	size_t left = strlen(text);
	for (size_t step; left; text += step, left -= step)
		if (!(step = text_utf8(text, left)))
			return err_set(err, ERR_USAGE, "the store accepts only UTF-8", "a value of %.100s is not UTF-8", name);
	return 0;
}

/* Reads the item at *text as a word, and moves *text behind its comma; NULL at the end. *bare: neither empty nor
 * quoted.
 */
static int word_next(struct arena *arena, const char **text, struct value *word, bool *bare, struct err *err) {
	const char *first = *text + strspn(*text, " \t"), *end = first + strcspn(first, ",");
	size_t size = (size_t)(end - first);
	while (size > 0 && isspace((unsigned char)first[size - 1]))
		size--;
	*bare = size > 0 && *first != '"';
	*word = value_word(arena_printf(arena, "%.*s", (int)size, first));
	if (*first == '"' && (!(end = quoted_read(arena, first, word)) || (*end && *end != ',')))
		return err_set(
			err, ERR_USAGE, "write \"a,b\",c; within the quotes, \"\" stands for a quote",
			end ? "a quoted value continues after its closing quote: %.100s" : "a quote is not closed: %.100s", first);
	*text = *end ? end + 1 : NULL;
	return 0;
}

/* All items as words. *bare: none is empty, as in ",-O2,-O3 -ffast-math", or in quotes because it has a comma. */
static int words_read(struct arena *arena, const char *text, struct value **words, size_t *count, bool *bare,
                      struct err *err) {
	size_t most = 1;
	for (const char *c = text; *c; c++)
		most += *c == ',';
	*words = arena_alloc(arena, most, sizeof **words);
	*bare = true;
	for (*count = 0; text; ++*count) {
		bool one;
		if (word_next(arena, &text, &(*words)[*count], &one, err))
			return -1;
		*bare = *bare && one;
	}
	return 0;
}

/* Values of which one is empty or quoted are all words, because neither is a number. So are those that would be printed
 * differently as numbers: in01.dat is not in1.dat, and release 1.10 is not 1.1. */
static int values_parse(struct draft *draft, const char *text, struct draft_param *param, struct err *err) {
	struct value *words;
	size_t count;
	bool bare, as_written = true;
	if (words_read(draft->plan->arena, text, &words, &count, &bare, err))
		return -1;
	if (bare && domain_parse(text, draft->plan->arena, &param->values, &param->count, err))
		return -1;
	bool kept = bare && (count != param->count || strstr(text, "..") || strchr(text, '(') ||
	                     is_constrained(draft, param->name));
	for (size_t i = 0; bare && !kept && i < count; i++)
		as_written = as_written && is_written_so(param->values[i], words[i]);
	if (kept || (bare && as_written))
		return 0;
	param->values = words;
	param->count = count;
	for (const char *c = text; !bare && *c; c++)
		if (iscntrl((unsigned char)*c))
			return err_set(err, ERR_USAGE, NULL, "a value has a control character");
	const struct value *twice = bare ? NULL : domain_duplicate(words, count);
	return twice ? err_set(err, ERR_USAGE, "list each value once", "the value '%s' occurs twice", twice->as.w) : 0;
}

/* A range is often written with a dash, and there is nothing to choose from a single value. */
static int single_refuse(const struct draft_param *param, struct err *err) {
	char value[64];
	if (param->count != 1)
		return 0;
	value_text(param->values[0], value, sizeof value);
	err_set(err, ERR_USAGE, NULL, "%.60s has one value, \"%s\", so there is nothing to choose", param->name, value);
	return err_hint(err, "a list is %.60s=1,2,4 and a range %.60s=1..8; what never changes belongs into the command",
	                param->name, param->name);
}

/* Brackets would become a part of the first and the last value. */
static void values_doubt(struct draft *draft, const struct draft_param *param) {
	char first[64], last[64];
	const char *name = param->name;
	value_text(param->values[0], first, sizeof first);
	value_text(param->values[param->count - 1], last, sizeof last);
	const char *open = *first ? strchr("[{(", *first) : NULL,
			   *shut = *last ? strchr("]})", last[strlen(last) - 1]) : NULL;
	if (param->count > 1 && open && shut)
		draft_note(draft, "the first value of %.60s is \"%s\" and the last one \"%s\"; write a list without brackets",
		           name, first, last);
}

static int param_add(struct draft *draft, const char *text, struct err *err) {
	const char *values, *name = draft_name(draft, "param", text, &values, err);
	if (!name || name_check(draft, name, err))
		return -1;
	struct draft_param *param = draft_param_new(draft, name, err);
	if (!param || utf8_check(name, values, err))
		return -1;
	if (values_parse(draft, values, param, err))
		return err_prefix(err, "%.100s", name);
	param->initial = param->values[0];
	values_doubt(draft, param);
	return single_refuse(param, err);
}

static int unknown_name(struct draft *draft, const char *name, struct err *err) {
	const char *names[SPACE_PARAMS_MAX];
	size_t count = 0;
	for (size_t i = 0; i < draft->count; i++)
		if (!draft->params[i].setting)
			names[count++] = draft->params[i].name;
	return opt_refuse(err, name, names, count, "did you mean %s?", "give it with --param first",
	                  "--default: unknown parameter \"%.100s\"", name);
}

/* Is it "1,B=2", values of several parameters in one option? */
static bool is_list(struct draft *draft, const char *text) {
	const char *comma = strchr(text, ','), *equals = comma ? strchr(comma, '=') : NULL;
	mem_auto char *name = equals ? mem_printf("%.*s", (int)(equals - comma - 1), comma + 1) : NULL;
	return name && draft_param_find(draft, name);
}

static int unknown_value(struct draft *draft, const struct draft_param *param, const char *text, struct err *err) {
	char list[300] = "", value[64];
	size_t used = 0;
	for (size_t i = 0; i < param->count && used < sizeof list; i++) {
		value_text(param->values[i], value, sizeof value);
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", value);
	}
	err_set(err, ERR_USAGE, NULL, "--default: \"%.100s\" is not a value of %s", text, param->name);
	if (is_list(draft, text))
		return err_hint(err, "write --default once for each parameter: --default %s=%.*s --default %.100s", param->name,
		                (int)strcspn(text, ","), text, strchr(text, ',') + 1);
	return err_hint(err, "the values are %s%s", list, used < sizeof list ? "" : " ..");
}

static int default_read(struct draft *draft, const char *text, struct err *err) {
	const char *value, *name = draft_name(draft, "default", text, &value, err);
	struct draft_param *param = name ? draft_param_find(draft, name) : NULL;
	if (!name)
		return -1;
	if (param && param->setting)
		return err_set(err, ERR_USAGE, "set its variable, or fix it with --set",
		               "--default: %s comes from the environment", name);
	if (!param)
		return unknown_name(draft, name, err);
	if (param->held)
		return err_set(err, ERR_USAGE, "give only one", "the parameter %s has two defaults", name);
	const struct value *known = draft_value(param, value_parse(value));
	known = known ? known : draft_value(param, value_word(value));
	struct value inside;
	const char *end = !known && *value == '"' ? quoted_read(draft->plan->arena, value, &inside) : NULL;
	known = end && !*end ? draft_value(param, inside) : known;
	if (!known)
		return unknown_value(draft, param, value, err);
	param->initial = *known;
	param->held = true;
	return 0;
}

/* The text of a template; NULL: it cannot be read, which is refused later. The caller frees it. */
static char *template_text(const struct program_spec *program, const char *given) {
	bool absolute = *given == '/' || !(program->cwd || program->folder);
	mem_auto char *path = mem_printf("%s%s%.*s",
	                                 absolute       ? ""
	                                 : program->cwd ? program->cwd
	                                                : program->folder,
	                                 absolute ? "" : "/", (int)strcspn(given, "="), given);
	size_t size;
	return sys_read_file(path, 16 << 20, &size, NULL);
}

/* Does the value get into the command, the build or a service, rather than into the environment? */
static bool is_mentioned(const struct draft *draft, const char *name) {
	const struct program_spec *program = &draft->plan->program;
	bool mentioned = template_mentions(program->build, name) || template_mentions(program->setup, name);
	for (const char *const *given = program->templates; given && *given && !mentioned; given++) {
		mem_auto char *text = template_text(program, *given);
		mentioned = template_mentions(text ? text : *given, name);
	}
	for (const char *const *word = program->argv; *word; word++)
		mentioned = mentioned || template_mentions(*word, name);
	return mentioned;
}

/* A variable that is set now starts at that value, because that is how the program is run today, and one that is not
 * set starts at "unset". */
static void today_take(struct draft *draft, struct draft_param *param) {
	const char *now = getenv(param->name);
	if (param->setting || param->held || is_mentioned(draft, param->name))
		return;
	const struct value *known = now ? draft_value(param, value_parse(now)) : NULL;
	known = known ? known : draft_value(param, value_word(now ? now : PROGRAM_UNSET));
	if (!known) {
		char first[64];
		value_text(param->values[0], first, sizeof first);
		draft_note(
			draft,
			now ? "%.60s is \"%.60s\" today, which is not among its values; the baseline sets it to %s"
				: "%.60s is not set today%.0s, but the baseline sets it to %s; with `unset` as a value of it the "
				  "baseline runs without it",
			param->name, now ? now : "", first);
		return;
	}
	param->initial = *known;
}

/* Reads --param and --default. */
static int draft_user_params(struct draft *draft, struct err *err) {
	for (size_t i = 0; i < opt_count(draft->args, "param"); i++)
		if (param_add(draft, opt_at(draft->args, "param", i), err))
			return -1;
	for (size_t i = 0; i < opt_count(draft->args, "default"); i++)
		if (default_read(draft, opt_at(draft->args, "default", i), err))
			return -1;
	for (size_t i = 0; i < draft->count; i++)
		today_take(draft, &draft->params[i]);
	return 0;
}
