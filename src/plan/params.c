/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/params.h"

#include "base/expr/expr.h"
#include "base/text.h"

enum { THREADS_MAX_LEAST = 128 };
static const char *const place_words[] = {TOPO_PLACES}, *const bind_words[] = {TOPO_BINDS};

static const char *joined(struct arena *arena, const char *const *words, size_t count) {
	const char *text = words[0];
	for (size_t i = 1; i < count; i++)
		text = arena_printf(arena, "%s,%s", text, words[i]);
	return text;
}

/* Every count on small machines; on large ones powers of two, their midpoints, the cores of one package, those of the
 * fastest kind and their hardware threads, all cores, and all hardware threads. */
const char *params_thread_counts(struct arena *arena, const struct topo *topo, bool oversubscribe) {
	int all = topo_count(topo, TOPO_PU), cores = topo_count(topo, TOPO_CORE), packages = topo_count(topo, TOPO_PACKAGE);
	int per_package = packages > 0 ? cores / packages : cores, fast_threads,
		fast = topo_fast_cores(topo, &fast_threads);
	const char *text = "1";
	for (int n = 2; n <= all; n++) {
		int high = n;
		while (high > 3)
			high /= 2;
		bool round = (n & (n - 1)) == 0 || (high == 3 && (n % 3) == 0 && ((n / 3) & (n / 3 - 1)) == 0);
		if (all <= 16 || round || n == all || n == cores || n == per_package || n == fast || n == fast_threads)
			text = arena_printf(arena, "%s,%d", text, n);
	}
	return oversubscribe ? arena_printf(arena, "%s,%d", text, 2 * all) : text;
}

static struct kernel_param *add(struct params *params, const char *name, const char *summary, enum value_type type) {
	struct kernel_param *param = &params->items[params->count++];
	*param = (struct kernel_param){.name = name, .summary = summary, .type = type};
	return param;
}

/* Reports go up to 128 threads, also on machines that have far fewer. */
static int params_threads_max(int all) {
	return 4 * all > THREADS_MAX_LEAST ? 4 * all : THREADS_MAX_LEAST;
}

static void add_openmp(struct params *params, const struct topo *topo, bool oversubscribe, bool team_given) {
	int all = topo_count(topo, TOPO_PU);
	struct kernel_param *param = add(params, "threads", "size of the team", VALUE_INT);
	param->initial = arena_printf(params->arena, "%d", all);
	param->values = team_given ? param->initial : params_thread_counts(params->arena, topo, oversubscribe);
	param->min = 1;
	param->max = params_threads_max(all);
	param = add(params, "proc_bind", "binding of threads to places, as OMP_PROC_BIND", VALUE_WORD);
	param->values = joined(params->arena, bind_words, sizeof bind_words / sizeof *bind_words);
	param->initial = "false";
	param = add(params, "places", "kind of places, as OMP_PLACES", VALUE_WORD);
	param->values = joined(params->arena, place_words, sizeof place_words / sizeof *place_words);
	param->initial = "cores";
	param->when = "proc_bind != 'false'";
}

/* The schedule needs at least two threads, because one thread runs the same iterations in the same order anyway. */
static void add_schedule(struct params *params, const char *when) {
	struct kernel_param *param =
		add(params, "schedule", "distribution of loop iterations, as OMP_SCHEDULE", VALUE_WORD);
	param->values = "static,dynamic,guided";
	param->initial = "static";
	param->when = when ? arena_printf(params->arena, "threads > 1 and (%s)", when) : "threads > 1";
	param = add(params, "chunk", "iterations per chunk", VALUE_INT);
	param->values = "1,4,16,64";
	param->initial = "1";
	param->when = "schedule != 'static'";
	param->min = 1;
	param->max = 1 << 30;
}

void params_init(struct params *params, const struct kernel_desc *kernel, const struct topo *topo, bool oversubscribe) {
	*params = (struct params){.kernel = kernel, .arena = arena_new()};
	if (kernel->openmp)
		add_openmp(params, topo, oversubscribe, kernel->team_given);
	if (kernel->openmp && kernel->schedule)
		add_schedule(params, kernel->schedule_when);
	for (size_t i = 0; i < kernel->param_count && params->count < PARAMS_ROOM; i++)
		params->items[params->count++] = kernel->params[i];
}

void params_clear(struct params *params) {
	arena_free(params->arena);
}

const struct kernel_param *params_find(const struct params *params, const char *name) {
	for (size_t i = 0; i < params->count; i++)
		if (strcmp(params->items[i].name, name) == 0)
			return &params->items[i];
	return NULL;
}

static const struct kernel_param *problem_find(const struct params *params, const char *name) {
	for (size_t i = 0; i < params->kernel->problem_count; i++)
		if (strcmp(params->kernel->problem[i].name, name) == 0)
			return &params->kernel->problem[i];
	return NULL;
}

static int unknown_name(const struct params *params, const char *name, bool problem, bool config, struct err *err) {
	const char *names[2 * PARAMS_ROOM] = {0};
	size_t count = 0;
	for (size_t i = 0; config && i < params->count; i++)
		names[count++] = params->items[i].name;
	for (size_t i = 0; problem && i < params->kernel->problem_count && count < 2 * PARAMS_ROOM; i++)
		names[count++] = params->kernel->problem[i].name;
	const char *near = near_word(name, names, count);
	err_set(err, ERR_USAGE, NULL, "%s: unknown %s \"%s\"", params->kernel->name, config ? "parameter" : "size", name);
	if (near)
		return err_hint(err, "did you mean %s?", near);
	return err_hint(err, "`sweetspot list params %s` lists them", params->kernel->name);
}

/* The summaries speak of a grid of ints or bytes, so the plural of a word stands for it. */
static bool word_means(const char *typed, const char *word) {
	size_t length = strlen(word);
	return strncmp(typed, word, length) == 0 && (!typed[length] || strcmp(typed + length, "s") == 0);
}

/* Returns NULL with err for a word that the parameter does not have. New reference. */
static json_t *word_read(const struct params *params, const struct kernel_param *param, const char *word,
                         struct err *err) {
	const char *words[256];
	size_t count = 0;
	if (!param->values)
		return json_string(word);
	char *list = arena_strdup(params->arena, param->values), *rest = NULL;
	const char *meant = NULL;
	for (char *one = strtok_r(list, ",", &rest); one && count < 256; one = strtok_r(NULL, ",", &rest)) {
		if (strcmp(one, word) == 0 || (!meant && word_means(word, one)))
			meant = one;
		words[count++] = one;
	}
	if (meant)
		return json_string(meant);
	const char *near = near_word(word, words, count);
	err_set(err, ERR_USAGE, NULL, "%s: unknown %s \"%s\"", params->kernel->name, param->name, word);
	if (near)
		err_hint(err, "did you mean %s? The values are %s", near, param->values);
	else
		err_hint(err, "the values are %s", param->values);
	return NULL;
}

static int out_of_bounds(const struct params *params, const struct kernel_param *param, const char *text,
                         struct err *err) {
	err_set(err, ERR_USAGE, NULL, "%s: %s cannot be \"%s\"", params->kernel->name, param->name, text);
	const char *kind = param->type == VALUE_INT ? "a whole number" : "a number";
	if (param->min == 0 && param->max == 0)
		return err_hint(err, "it must be %s", kind);
	return err_hint(err, "it must be %s from %.15g to %.15g", kind, param->min, param->max);
}

/* A text must be UTF-8 because it is stored as JSON. */
static json_t *text_read(const struct params *params, const struct kernel_param *param, const char *text,
                         struct err *err) {
	json_t *json = *text ? json_string(text) : NULL;
	if (!json) {
		err_set(err, ERR_USAGE, NULL, "%s: %s is %s", params->kernel->name, param->name,
		        *text ? "not valid UTF-8" : "empty");
		if (param->values)
			err_hint(err, "it can be %s or any other text", param->values);
	}
	return json;
}

static json_t *value_read(const struct params *params, const struct kernel_param *param, const char *text,
                          struct err *err) {
	struct value value = value_parse(text);
	if (param->text)
		return text_read(params, param, text, err);
	if (param->type == VALUE_WORD)
		return word_read(params, param, text, err);
	double number = value.type == VALUE_INT ? (double)value.as.i : value.type == VALUE_REAL ? value.as.r : 0;
	bool fits = value.type == VALUE_INT || (value.type == VALUE_REAL && param->type == VALUE_REAL);
	bool bounded = param->min != 0 || param->max != 0;
	if (!fits || (bounded && !(number >= param->min && number <= param->max))) {
		out_of_bounds(params, param, text, err);
		return NULL;
	}
	return value_json(value);
}

json_t *params_problem(const struct params *params) {
	json_t *problem = json_object();
	for (size_t i = 0; i < params->kernel->problem_count; i++) {
		const struct kernel_param *part = &params->kernel->problem[i];
		json_t *value = value_read(params, part, part->initial, NULL);
		json_object_set_new(problem, part->name, value ? value : json_string(part->initial));
	}
	return problem;
}

int params_word(const struct params *params, const char *word, json_t *problem, json_t *config, struct err *err) {
	const char *equals = strchr(word, '=');
	if (!equals || equals == word)
		return err_set(err, ERR_USAGE,
		               "write NAME=VALUE; several values of a name are for `sweetspot sweep --over NAME=A,B`",
		               "\"%s\" does not give a value", word);
	char *name = arena_strdup(params->arena, word);
	name[equals - word] = '\0';
	const struct kernel_param *part = problem ? problem_find(params, name) : NULL;
	const struct kernel_param *param = part || !config ? NULL : params_find(params, name);
	if (!part && !param)
		return unknown_name(params, name, problem, config, err);
	json_t *value = value_read(params, part ? part : param, equals + 1, err);
	if (!value)
		return -1;
	json_object_set_new(part ? problem : config, name, value);
	return 0;
}

/* A text such as a file name may contain commas and spaces, so it is not split. */
static bool is_text(const struct params *params, const char *word) {
	const char *equals = strchr(word, '=');
	char *name = arena_strdup(params->arena, word);
	name[equals ? equals - word : 0] = '\0';
	const struct kernel_param *part = problem_find(params, name);
	return part && part->text;
}

/* It ends where another part of the problem follows; returns what does. */
static char *text_cut(const struct params *params, char *words) {
	for (char *at = words; (at = strpbrk(at, ", \t\n")); at++) {
		char *name = arena_strdup(params->arena, at + 1);
		size_t size = strcspn(name, "=, \t\n");
		bool named = name[size] == '=';
		name[size] = '\0';
		if (named && problem_find(params, name)) {
			*at = '\0';
			return at + 1;
		}
	}
	return NULL;
}

int params_words(const struct params *params, const char *words, json_t *problem, json_t *config, struct err *err) {
	char *list = arena_strdup(params->arena, words), *rest = NULL;
	if (problem && is_text(params, words)) {
		rest = text_cut(params, list);
		int failed = params_word(params, list, problem, config, err);
		return failed || !rest ? failed : params_words(params, rest, problem, config, err);
	}
	for (char *word = strtok_r(list, ", \t\n", &rest); word; word = strtok_r(NULL, ", \t\n", &rest))
		if (params_word(params, word, problem, config, err))
			return -1;
	return 0;
}

int params_when_holds(const char *when, const json_t *problem, const json_t *config, bool *out, struct err *err) {
	*out = true;
	if (!when)
		return 0;
	struct expr *expr = expr_parse(when, err);
	if (!expr)
		return -1;
	struct value values[PARAMS_ROOM];
	size_t count = expr_name_count(expr);
	for (size_t i = 0; i < count && *out; i++) {
		const json_t *value = json_object_get(config, expr_name(expr, i));
		if (!value)
			value = json_object_get(problem, expr_name(expr, i));
		*out = i < PARAMS_ROOM && value && value_from_json(value, &values[i]);
	}
	*out = *out && expr_holds(expr, values);
	expr_free(expr);
	return 0;
}

json_t *params_complete(const struct params *params, const json_t *problem, const json_t *config, struct err *err) {
	json_t *full = json_copy((json_t *)config);
	bool changed = true;
	while (changed) { /* conditions may depend on later parameters */
		changed = false;
		for (size_t i = 0; i < params->count; i++) {
			const struct kernel_param *param = &params->items[i];
			bool wanted;
			if (json_object_get(full, param->name))
				continue;
			if (params_when_holds(param->when, problem, full, &wanted, err)) {
				json_decref(full);
				return NULL;
			}
			json_t *value = wanted ? value_read(params, param, param->initial, NULL) : NULL;
			if (value)
				json_object_set_new(full, param->name, value);
			changed = changed || value;
		}
	}
	return full;
}

enum { THREADS, BIND, PLACES, COLUMNS };

static const char *const names[COLUMNS] = {"threads", "proc_bind", "places"};

struct bindings {
	const struct topo *topo;
	const struct space *space;
	size_t param[COLUMNS], values[COLUMNS];
	int *rows;
	size_t count;
	const char **keys; /* keys of the rows with one thread count */
	size_t key_count;
	struct arena *arena;
};

static const char *word_at(const struct bindings *b, int column, size_t level) {
	return space_param_value(b->space, b->param[column], level).as.w;
}

static bool is_word(const struct bindings *b, int column, size_t level, const char *word) {
	return strcmp(word_at(b, column, level), word) == 0;
}

/* Adds a row unless the same binding of this team is there already. All arguments are levels. */
static int binding_try(struct bindings *b, size_t thread, size_t bind, int place, struct err *err) {
	int threads = (int)space_param_value(b->space, b->param[THREADS], thread).as.i;
	const char *places = place == SPACE_ABSENT ? "cores" : word_at(b, PLACES, (size_t)place);
	struct topo_binding *binding = topo_binding_new(b->topo, threads, places, word_at(b, BIND, bind), err);
	if (!binding)
		return -1;
	const char *key = arena_strdup(b->arena, topo_binding_key(binding));
	topo_binding_free(binding);
	for (size_t i = 0; i < b->key_count; i++)
		if (strcmp(b->keys[i], key) == 0)
			return 0;
	b->keys[b->key_count++] = key;
	int *row = &b->rows[COLUMNS * b->count++];
	row[THREADS] = (int)thread;
	row[BIND] = (int)bind;
	row[PLACES] = place;
	return 0;
}

static int bindings_of_team(struct bindings *b, size_t thread, struct err *err) {
	static const char *const known_first[] = {"cores", "threads", "sockets", "numa_domains", "ll_caches"};
	b->key_count = 0;
	for (size_t bind = 0; bind < b->values[BIND]; bind++)
		if (is_word(b, BIND, bind, "false") && binding_try(b, thread, bind, SPACE_ABSENT, err))
			return -1;
	for (size_t bind = 0; bind < b->values[BIND]; bind++) {
		if (is_word(b, BIND, bind, "false"))
			continue;
		for (size_t k = 0; k < sizeof known_first / sizeof *known_first; k++)
			for (size_t place = 0; place < b->values[PLACES]; place++)
				if (is_word(b, PLACES, place, known_first[k]) && binding_try(b, thread, bind, (int)place, err))
					return -1;
	}
	return 0;
}

static int bindings_of_all(struct bindings *b, struct err *err) {
	for (size_t thread = 0; thread < b->values[THREADS]; thread++)
		if (bindings_of_team(b, thread, err))
			return -1;
	return 0;
}

int bindings_add(struct space *space, const struct topo *topo, struct err *err) {
	struct bindings b = {.topo = topo, .space = space, .arena = arena_new()};
	for (int column = 0; column < COLUMNS; column++) {
		b.param[column] = (size_t)space_param_find(space, names[column]);
		b.values[column] = space_param_values(space, b.param[column]);
	}
	size_t per_team = b.values[BIND] * (b.values[PLACES] + 1);
	b.rows = arena_alloc(b.arena, COLUMNS * b.values[THREADS] * per_team, sizeof *b.rows);
	b.keys = arena_alloc(b.arena, per_team, sizeof *b.keys);
	int failed = bindings_of_all(&b, err);
	if (!failed)
		failed = space_add_table(space, names, COLUMNS, b.rows, b.count, err);
	arena_free(b.arena);
	return failed;
}

const char *params_given(const struct opt_args *args, const char *option, const char *name) {
	size_t length = strlen(name);
	for (size_t i = opt_count(args, option); i-- > 0;) {
		const char *text = opt_at(args, option, i);
		if (strncmp(text, name, length) == 0 && text[length] == '=')
			return text + length + 1;
	}
	return NULL;
}
