/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the baseline, which is what the user runs today: OpenMP settings of the environment, and own parameters as
 * given by --default. */
#include <ctype.h>

#include "base/json/js.h"
#include "src/plan/plan_impl.h"
#include "src/plan/params.h"

/* Reads the OpenMP settings of the user's environment (OpenMP 5.2, chapter 21, and the manuals of libgomp and of LLVM's
 * runtime). An empty variable counts as unset. */
static const char *variable(const char *name) {
	const char *text = getenv(name);
	return text && text[strspn(text, " \t")] ? text : NULL;
}

/* The text up to one of the characters of `stop`, trimmed and in lower case. */
static const char *part(struct draft *draft, const char *text, const char *stop) {
	text += strspn(text, " \t");
	char *copy = arena_printf(draft->plan->arena, "%.*s", (int)strcspn(text, stop), text);
	for (size_t size = strlen(copy); size > 0 && isspace((unsigned char)copy[size - 1]); size--)
		copy[size - 1] = '\0';
	for (char *c = copy; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return copy;
}

/* Reads digits; *rest points behind them. */
static bool whole(const char *text, int64_t least, struct value *out, char **rest) {
	if (!isdigit((unsigned char)*text))
		return false;
	long long number = strtoll(text, rest, 10); /* an overflow gives INT64_MAX, which is refused below */
	*out = value_int(number);
	return number >= least && number < INT64_MAX;
}

static bool threads_read(struct draft *draft, const char *text, struct value *out) {
	char *rest;
	return whole(part(draft, text, ","), 1, out, &rest) && !*rest && out->as.i <= INT32_MAX;
}

static bool proc_bind_read(struct draft *draft, const char *text, struct value *out) {
	static const char *const words[] = {"false", "close", "spread", "primary", NULL};
	const char *word = part(draft, text, ",");
	word = strcmp(word, "true") == 0 ? "close" : strcmp(word, "master") == 0 ? "primary" : word;
	*out = value_word(word);
	return opt_is_known(word, words);
}

/* Accepts a name, a name with a number such as cores(4), or a list such as {0:4},{4:4}. The last two are outside of the
 * space. */
static bool places_read(struct draft *draft, const char *text, struct value *out) {
	static const char *const words[] = {"threads", "cores", "ll_caches", "numa_domains", "sockets", NULL};
	char *list = arena_strdup(draft->plan->arena, part(draft, text, ""));
	text_clean(list, false);
	*out = value_word(list);
	return *list == '{' || opt_is_known(part(draft, list, "("), words);
}

/* "monotonic:dynamic,4" */
static bool schedule_parse(struct draft *draft, const char *text, const char **kind, struct value *chunk) {
	static const char *const kinds[] = {"static", "dynamic", "guided", "auto", NULL};
	static const char *const modifiers[] = {"monotonic", "nonmonotonic", NULL};
	const char *colon = strchr(text, ':'), *comma;
	char *rest;
	if (colon && !opt_is_known(part(draft, text, ":"), modifiers))
		return false;
	text = colon ? colon + 1 : text;
	comma = strchr(text, ',');
	*kind = part(draft, text, ",");
	*chunk = value_int(strcmp(*kind, "dynamic") == 0 || strcmp(*kind, "guided") == 0);
	return opt_is_known(*kind, kinds) && (!comma || (whole(part(draft, comma + 1, ""), 1, chunk, &rest) && !*rest));
}

static bool schedule_read(struct draft *draft, const char *text, struct value *out) {
	struct value chunk;
	const char *kind;
	bool good = schedule_parse(draft, text, &kind, &chunk);
	*out = value_word(good ? kind : "default");
	return good;
}

static bool wait_policy_read(struct draft *draft, const char *text, struct value *out) {
	const char *word = part(draft, text, "");
	*out = value_word(word);
	return strcmp(word, "active") == 0 || strcmp(word, "passive") == 0;
}

/* "30000", "30k", "infinite" */
static bool spincount_read(struct draft *draft, const char *text, struct value *out) {
	static const char powers[] = "kmgt";
	const char *word = part(draft, text, "");
	char *rest;
	*out = value_word("infinite");
	if (strcmp(word, "infinite") == 0 || strcmp(word, "infinity") == 0)
		return true;
	if (!whole(word, 0, out, &rest))
		return false;
	const char *power = *rest ? strchr(powers, *rest) : NULL;
	for (const char *p = powers; power && p <= power; p++)
		if (__builtin_mul_overflow(out->as.i, INT64_C(1000), &out->as.i))
			return false;
	return !rest[power ? 1 : 0];
}

/* "200", "200ms", "infinite" */
static bool blocktime_read(struct draft *draft, const char *text, struct value *out) {
	const char *word = part(draft, text, "");
	char *rest;
	*out = value_word("infinite");
	if (strcmp(word, "infinite") == 0)
		return true;
	return whole(word, 0, out, &rest) && (!*rest || strcmp(rest, "ms") == 0);
}

/* Tells whether both kinds of places give the same binding on this machine. False if either is not a kind of places. */
static bool bindings_same(const struct topo *topo, int threads, const char *proc_bind, const char *places,
                          const char *others) {
	struct topo_binding *one = topo_binding_new(topo, threads, places, proc_bind, NULL);
	struct topo_binding *two = one ? topo_binding_new(topo, threads, others, proc_bind, NULL) : NULL;
	bool same = two && strcmp(topo_binding_key(one), topo_binding_key(two)) == 0;
	topo_binding_free(two);
	topo_binding_free(one);
	return same;
}

/* If only the binding is given, libgomp uses hardware threads as places and LLVM uses cores. If both are the same on
 * this machine, the value is "cores", which is the one in the space. */
static struct value places_default(const struct draft *draft, const json_t *config) {
	int threads = (int)json_integer_value(json_object_get(config, "threads"));
	const char *places = draft->found.runtime == OPENMP_LLVM ? "cores" : "threads";
	bool same = bindings_same(draft->topo, threads, js_string_or(config, "proc_bind", ""), places, "cores");
	return value_word(same ? "cores" : places);
}

/* OMP_PLACES and GOMP_CPU_AFFINITY imply a binding. */
static struct value proc_bind_default(void) {
	return value_word(variable("OMP_PLACES") || variable("GOMP_CPU_AFFINITY") ? "close" : "false");
}

/* The chunk size of OMP_SCHEDULE if its schedule is the one of the configuration, else the schedule's default. */
static struct value chunk_default(struct draft *draft, const json_t *config) {
	const char *text = variable("OMP_SCHEDULE"), *schedule = js_string_or(config, "schedule", ""), *kind;
	struct value chunk;
	if (text && schedule_parse(draft, text, &kind, &chunk) && strcmp(kind, schedule) == 0)
		return chunk;
	return value_int(strcmp(schedule, "static") != 0);
}

static struct value unset(struct draft *draft, const char *name, const json_t *config) {
	if (strcmp(name, "threads") == 0)
		return value_int(topo_count(draft->topo, TOPO_PU));
	if (strcmp(name, "proc_bind") == 0)
		return proc_bind_default();
	if (strcmp(name, "places") == 0)
		return places_default(draft, config);
	return strcmp(name, "chunk") == 0 ? chunk_default(draft, config) : value_word("default");
}

static void not_understood(struct draft *draft, const char *name, const char *text, const struct setting *setting,
                           struct value value) {
	char *clean = arena_strdup(draft->plan->arena, text), instead[64];
	value_text(value, instead, sizeof instead);
	text_clean(clean, false);
	draft_note(draft, "%s=\"%.100s\" is not understood; the baseline uses %s=%s", name, clean, setting->name, instead);
}

/* The current value of a setting according to the environment. config: the settings read so far. */
static struct value draft_environment(struct draft *draft, const struct setting *setting, const json_t *config) {
	static const struct {
		const char *setting, *variable;
		bool (*read)(struct draft *draft, const char *text, struct value *out);
	} sources[] = {
		{"threads", "OMP_NUM_THREADS", threads_read},
		{"proc_bind", "OMP_PROC_BIND", proc_bind_read},
		{"places", "OMP_PLACES", places_read},
		{"schedule", "OMP_SCHEDULE", schedule_read},
		{"wait_policy", "OMP_WAIT_POLICY", wait_policy_read},
		{"spincount", "GOMP_SPINCOUNT", spincount_read},
		{"blocktime", "KMP_BLOCKTIME", blocktime_read},
	};
	struct value value;
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		const char *text = strcmp(sources[i].setting, setting->name) == 0 ? variable(sources[i].variable) : NULL;
		if (!text)
			continue;
		if (sources[i].read(draft, text, &value))
			return value;
		value = unset(draft, setting->name, config);
		not_understood(draft, sources[i].variable, text, setting, value);
		return value;
	}
	return unset(draft, setting->name, config);
}

enum part { PART_OPENMP = 1, PART_GIVEN = 2, PART_GUESSED = 4 };

static enum part part_of(const struct draft_param *param) {
	return param->setting ? PART_OPENMP : param->held ? PART_GIVEN : PART_GUESSED;
}

/* Adds the parameters of these parts whose condition holds. One pass is enough, because conditions of OpenMP settings
 * refer only to earlier parameters. */
static int add_parts(struct draft *draft, unsigned parts, json_t *config, struct err *err) {
	for (size_t i = 0; i < draft->count; i++) {
		const struct draft_param *param = &draft->params[i];
		bool exists;
		if (!(part_of(param) & parts))
			continue;
		if (params_when_holds(param->when, NULL, config, &exists, err))
			return -1;
		if (exists)
			json_object_set_new(config, param->name, value_json(param->initial));
	}
	return 0;
}

/* Reads the settings from the environment. A value of --set comes first, because other settings depend on it. */
static int settings_read(struct draft *draft, struct err *err) {
	js_auto json_t *config = json_object();
	int failed = 0;
	for (size_t i = 0; i < draft->count && !failed; i++) {
		struct draft_param *param = &draft->params[i];
		bool exists = false;
		if (!param->setting)
			continue;
		failed = params_when_holds(param->when, NULL, config, &exists, err);
		if (failed || !exists)
			continue;
		struct value today = draft_environment(draft, param->setting, config);
		if (!param->held || value_equal(param->initial, today))
			param->initial = today;
		else
			draft->plan->program.baseline_set = true;
		json_object_set_new(config, param->name, value_json(param->initial));
	}
	return failed;
}

/* The user's constraint that this configuration breaks, or NULL. */
static const char *broken(const struct draft *draft, const json_t *config) {
	for (size_t i = 0; i < opt_count(draft->args, "constraint"); i++) {
		const char *text = opt_at(draft->args, "constraint", i);
		struct expr *expr = expr_parse(text, NULL);
		struct value values[SPACE_PARAMS_MAX];
		size_t count = expr ? expr_name_count(expr) : 0;
		bool present = expr && count <= SPACE_PARAMS_MAX;
		for (size_t n = 0; n < count && present; n++)
			present = value_from_json(json_object_get(config, expr_name(expr, n)), &values[n]);
		bool holds = !present || expr_holds(expr, values);
		expr_free(expr);
		if (!holds)
			return text;
	}
	return NULL;
}

/* Keeps the values of `parts`, and sets the rest as in the nearest valid configuration. */
static json_t *around(struct draft *draft, unsigned parts, uint64_t *index) {
	js_auto json_t *held = json_object();
	int failed = add_parts(draft, parts, held, NULL) || space_config_nearest(draft->plan->space, held, 0, index, NULL);
	return failed ? NULL : space_config_json(draft->plan->space, *index);
}

static void note_values(struct draft *draft, const json_t *config, const char *constraint) {
	const char *list = "";
	for (size_t i = 0; i < draft->count; i++) {
		struct value value;
		char text[64];
		if (part_of(&draft->params[i]) != PART_GUESSED ||
		    !value_from_json(json_object_get(config, draft->params[i].name), &value))
			continue;
		value_text(value, text, sizeof text);
		list = arena_printf(draft->plan->arena, "%s%s%s=%s", list, *list ? " " : "", draft->params[i].name, text);
	}
	draft_note(draft, "the baseline is the first configuration that meets '%s', with %s; --default chooses another",
	           constraint, list);
}

/* A parameter without --default starts at its first value. That is only a guess, so it is changed if a constraint
 * requires it. */
static json_t *give_way(struct draft *draft, uint64_t *index, struct err *err) {
	json_t *config = around(draft, PART_OPENMP | PART_GIVEN, index);
	if (config)
		return config;
	config = around(draft, PART_GIVEN, index);
	js_auto json_t *openmp = config ? json_object() : NULL;
	if (openmp && draft->plan->program.openmp) { /* the settings of the environment are outside of the space */
		*index = UINT64_MAX;
		for (size_t i = 0; i < SETTINGS; i++)
			json_object_del(config, program_settings[i].name);
		if (add_parts(draft, PART_OPENMP, openmp, err) || json_object_update(config, openmp) || broken(draft, config)) {
			json_decref(config);
			config = NULL;
		}
	}
	return config;
}

static bool has_guesses(const struct draft *draft) {
	for (size_t i = 0; i < draft->count; i++)
		if (part_of(&draft->params[i]) == PART_GUESSED)
			return true;
	return false;
}

int draft_baseline(struct draft *draft, struct err *err) {
	struct program_plan *plan = draft->plan;
	plan->baseline = json_object();
	if (settings_read(draft, err) || add_parts(draft, ~0U, plan->baseline, err))
		return -1;
	plan->program.baseline = plan->baseline;
	if (!space_config_read(plan->space, plan->baseline, NULL, &plan->start, NULL))
		return 0;
	plan->start = UINT64_MAX;
	const char *constraint = broken(draft, plan->baseline);
	if (!constraint)
		return 0;
	uint64_t index = UINT64_MAX;
	json_t *config = has_guesses(draft) ? give_way(draft, &index, err) : NULL;
	if (!config) {
		draft_note(draft, "the baseline does not meet '%s' but is measured anyway", constraint);
		return 0;
	}
	json_decref(plan->baseline);
	plan->baseline = config;
	plan->start = index;
	plan->program.baseline = config;
	note_values(draft, config, constraint);
	return 0;
}
