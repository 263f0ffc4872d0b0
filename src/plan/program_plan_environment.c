/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the OpenMP settings of the user's environment (OpenMP 5.2, chapter 21, and the manuals of libgomp and of LLVM's
 * runtime). An empty variable counts as unset. */
#include <config.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "src/plan/bindings.h"
#include "src/plan/program_plan_impl.h"

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

static bool is_one_of(const char *word, const char *const *words) {
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
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
	return is_one_of(word, words);
}

/* Accepts a name, a name with a number such as cores(4), or a list such as {0:4},{4:4}. The last two are outside of the
 * space. */
static bool places_read(struct draft *draft, const char *text, struct value *out) {
	static const char *const words[] = {"threads", "cores", "ll_caches", "numa_domains", "sockets", NULL};
	char *list = arena_strdup(draft->plan->arena, part(draft, text, ""));
	text_clean(list, false);
	*out = value_word(list);
	return *list == '{' || is_one_of(part(draft, list, "("), words);
}

/* "monotonic:dynamic,4" */
static bool schedule_parse(struct draft *draft, const char *text, const char **kind, struct value *chunk) {
	static const char *const kinds[] = {"static", "dynamic", "guided", "auto", NULL};
	static const char *const modifiers[] = {"monotonic", "nonmonotonic", NULL};
	const char *colon = strchr(text, ':'), *comma;
	char *rest;
	if (colon && !is_one_of(part(draft, text, ":"), modifiers))
		return false;
	text = colon ? colon + 1 : text;
	comma = strchr(text, ',');
	*kind = part(draft, text, ",");
	*chunk = value_int(strcmp(*kind, "dynamic") == 0 || strcmp(*kind, "guided") == 0);
	return is_one_of(*kind, kinds) && (!comma || (whole(part(draft, comma + 1, ""), 1, chunk, &rest) && !*rest));
}

static bool schedule_read(struct draft *draft, const char *text, struct value *out) {
	struct value chunk;
	const char *kind;
	bool good = schedule_parse(draft, text, &kind, &chunk);
	*out = value_word(good ? kind : "default");
	return good;
}

static bool wait_policy_read(struct draft *draft, const char *text, struct value *out) {
	static const char *const words[] = {"active", "passive", NULL};
	const char *word = part(draft, text, "");
	*out = value_word(word);
	return is_one_of(word, words);
}

/* "30000", "30k", "infinite" */
static bool spincount_read(struct draft *draft, const char *text, struct value *out) {
	static const char *const words[] = {"infinite", "infinity", NULL};
	static const char powers[] = "kmgt";
	const char *word = part(draft, text, "");
	char *rest;
	*out = value_word("infinite");
	if (is_one_of(word, words))
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

static const char *word_of(const json_t *config, const char *name) {
	const char *word = json_string_value(json_object_get(config, name));
	return word ? word : "";
}

/* If only the binding is given, libgomp uses hardware threads as places and LLVM uses cores. If both are the same on
 * this machine, the value is "cores", which is the one in the space. */
static struct value places_default(const struct draft *draft, const json_t *config) {
	int threads = (int)json_integer_value(json_object_get(config, "threads"));
	const char *places = draft->found.runtime == OPENMP_LLVM ? "cores" : "threads";
	bool same = bindings_same(draft->topo, threads, word_of(config, "proc_bind"), places, "cores");
	return value_word(same ? "cores" : places);
}

/* OMP_PLACES and GOMP_CPU_AFFINITY imply a binding. */
static struct value proc_bind_default(void) {
	return value_word(variable("OMP_PLACES") || variable("GOMP_CPU_AFFINITY") ? "close" : "false");
}

/* The chunk size of OMP_SCHEDULE if its schedule is the one of the configuration, else the schedule's default. */
static struct value chunk_default(struct draft *draft, const json_t *config) {
	const char *text = variable("OMP_SCHEDULE"), *schedule = word_of(config, "schedule"), *kind;
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

struct value draft_environment(struct draft *draft, const struct setting *setting, const json_t *config) {
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
