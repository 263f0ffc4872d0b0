/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables by their declarations, and what they become for the engine. Kokkos' own are fractions (0, .999) of lists
 * that only Kokkos sees, each list depending on the value chosen before:
 *
 *     KERNEL_tile_size_N     1, 2, 4 .. while the product stays below 1024
 *     KERNEL_vector_length   1, 2, 4 .. ascending; on a processor its value changes nothing
 *     KERNEL_team_size       the largest team, half of it, a quarter ..
 *
 * We search by the places of these lists. A list that is shorter or longer than expected gives other values, but valid
 * ones. Candidates are copied: sets often point to memory that is gone after the declaration. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/kokkos/space/kokkos_space.h"

enum {
	CHUNK = 1024,
	CHUNKS = 1024,
	TILE_PLACES = 10,
	TEAM_PLACES = 11,
	VECTOR_PLACES = 6,
	PRODUCT_LIMIT = 1024,
	PARTS = 20, /* of a range without a step */
	VALUES_MOST = 1024,
	LABEL_MOST = 200
};

static struct {
	pthread_mutex_t lock;
	struct kokkos_variable *_Atomic *_Atomic chunks[CHUNKS]; /* by number */
	struct kokkos_variable *_Atomic last;
	_Atomic size_t fractions;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct kokkos_variable *kokkos_variable_find(size_t id) {
	struct kokkos_variable *_Atomic *chunk = id / CHUNK < CHUNKS ? known.chunks[id / CHUNK] : NULL;
	return chunk ? chunk[id % CHUNK] : NULL;
}

static size_t element_size(enum kokkos_type type) {
	return type == KOKKOS_WORD ? KOKKOS_STRING : 8;
}

static bool set_read(struct kokkos_variable *variable, const struct kokkos_set *set) {
	size_t size = element_size(variable->info.type);
	if (!set->values || !set->size || set->size > VALUES_MOST)
		return false;
	variable->values = calloc(set->size, sizeof *variable->values);
	for (size_t i = 0; variable->values && i < set->size; i++) {
		memcpy(&variable->values[i], (const char *)set->values + i * size, size);
		variable->values[i].word[KOKKOS_STRING - 1] = '\0';
	}
	variable->count = variable->values ? set->size : 0;
	return variable->count > 0;
}

static void add(struct kokkos_variable *variable, double number) {
	union kokkos_value value = {.word = ""};
	if (variable->info.type == KOKKOS_INT)
		value.integer = (int64_t)number;
	else
		value.real = number;
	variable->values[variable->count++] = value;
}

/* Chooses among many values: as many to each factor where the ratio matters, else to each step. */
static double place_of(double first, double step, double count, double at, bool ratio) {
	double last = first + step * (count - 1);
	double wanted = ratio && first > 0 ? first * pow(last / first, at) : first + (last - first) * at;
	return first + step * round((wanted - first) / step);
}

static bool range_read(struct kokkos_variable *variable, const struct kokkos_range *range) {
	bool whole = variable->info.type == KOKKOS_INT;
	double lower = whole ? (double)range->lower.integer : range->lower.real;
	double upper = whole ? (double)range->upper.integer : range->upper.real;
	double step = whole ? (double)range->step.integer : range->step.real;
	if (!isfinite(lower) || !isfinite(upper) || !isfinite(step) || lower > upper || step < 0)
		return false;
	if (!(step > 0))
		step = whole ? 1 : (upper - lower) / PARTS;
	double first = range->open_lower ? lower + step : lower;
	double count = step > 0 ? floor((upper - first) / step + 1e-9) + 1 : 1;
	if (range->open_upper && first + step * (count - 1) > upper - 1e-9 * step)
		count--;
	if (!(count >= 1))
		return false;
	size_t listed = count > KOKKOS_LISTED ? KOKKOS_LISTED : (size_t)count;
	variable->values = calloc(listed, sizeof *variable->values);
	for (size_t i = 0; variable->values && i < listed; i++) {
		double number = (double)listed < count ? place_of(first, step, count, (double)i / (double)(listed - 1),
		                                                  variable->info.category == KOKKOS_RATIO)
		                                       : first + step * (double)i;
		bool again = variable->count && whole && variable->values[variable->count - 1].integer == (int64_t)number;
		if (!again)
			add(variable, number);
	}
	return variable->count > 0;
}

/* A fraction of a list of Kokkos' own. The suffix, or NULL. */
static const char *fraction_suffix(const struct kokkos_variable *variable, enum kokkos_role *role) {
	static const struct {
		const char *suffix;
		enum kokkos_role role;
	} roles[] = {{"_tile_size_", KOKKOS_TILE}, {"_vector_length", KOKKOS_VECTOR}, {"_team_size", KOKKOS_TEAM}};
	const struct kokkos_info *info = &variable->info;
	const struct kokkos_range *range = &info->candidates.range;
	if (info->type != KOKKOS_DOUBLE || info->quantity != KOKKOS_RANGE || !range->open_lower || !range->open_upper ||
	    range->lower.real != 0 || !(range->upper.real > .9 && range->upper.real < 1))
		return NULL;
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
		size_t length = strlen(variable->name), size = strlen(roles[i].suffix);
		bool tile = roles[i].role == KOKKOS_TILE;
		const char *at = tile && length ? variable->name + length - 1 - size : variable->name + length - size;
		if (length <= size + tile || strncmp(at, roles[i].suffix, size) != 0)
			continue;
		*role = roles[i].role;
		return at;
	}
	return NULL;
}

/* The label is the kernel's, whole, although the input with its name holds 63 characters. */
static bool role_find(struct kokkos_variable *variable) {
	const char *suffix = variable->is_output ? fraction_suffix(variable, &variable->role) : NULL;
	if (!variable->is_output &&
	    (strcmp(variable->name, "kokkos.kernel_name") == 0 || strcmp(variable->name, "kokkos.kernel_type") == 0))
		variable->role = KOKKOS_NAME;
	if (variable->role == KOKKOS_TILE)
		variable->dimension = (unsigned)(suffix[strlen("_tile_size_")] - '0');
	variable->label = suffix ? strndup(variable->name, (size_t)(suffix - variable->name)) : strdup(variable->name);
	return variable->label != NULL;
}

static bool candidates_read(struct kokkos_variable *variable, const struct kokkos_info *info) {
	if (!variable->is_output || variable->role != KOKKOS_OWN)
		return true;
	if (info->quantity == KOKKOS_SET)
		return set_read(variable, &info->candidates.set);
	return info->quantity == KOKKOS_RANGE && info->type != KOKKOS_WORD && range_read(variable, &info->candidates.range);
}

static void variable_keep(struct kokkos_variable *variable) {
	pthread_mutex_lock(&known.lock);
	struct kokkos_variable *_Atomic *chunk = known.chunks[variable->id / CHUNK];
	if (!chunk) {
		chunk = calloc(CHUNK, sizeof *chunk);
		known.chunks[variable->id / CHUNK] = chunk;
	}
	if (chunk) {
		variable->next = known.last;
		known.last = variable;
		chunk[variable->id % CHUNK] = variable;
		known.fractions += variable->role != KOKKOS_OWN && variable->role != KOKKOS_NAME;
	}
	pthread_mutex_unlock(&known.lock);
}

struct kokkos_variable *kokkos_variable_declare(bool is_output, const char *name, size_t id, struct kokkos_info *info) {
	struct kokkos_variable *variable = info && id / CHUNK < CHUNKS ? calloc(1, sizeof *variable) : NULL;
	if (!variable)
		return NULL;
	variable->id = id;
	variable->is_output = is_output;
	variable->info = *info;
	variable->name = strdup(name ? name : "");
	if (!variable->name || !role_find(variable))
		return NULL;
	if (!candidates_read(variable, info))
		variable->count = 0;
	variable_keep(variable);
	return variable;
}

/* ---- questions ---- */
/* Names in constraints and profiles. */
static void param_name(const struct kokkos_variable *variable, char *name) {
	switch (variable->role) {
	case KOKKOS_TILE:
		snprintf(name, KOKKOS_PARAM, "tile_%u", variable->dimension);
		return;
	case KOKKOS_VECTOR:
		snprintf(name, KOKKOS_PARAM, "vector_length");
		return;
	case KOKKOS_TEAM:
		snprintf(name, KOKKOS_PARAM, "team_divisor");
		return;
	default:
		snprintf(name, KOKKOS_PARAM, "%s", variable->name);
	}
	for (char *c = name; *c; c++)
		if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
			*c = '_';
}

/* Teams of a processor have at most its threads. */
static size_t team_places(bool host) {
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t places = 1;
	for (; host && cpus > 1 && places < TEAM_PLACES; cpus /= 2)
		places++;
	return host ? places : TEAM_PLACES;
}

static size_t fraction_places(const struct kokkos_variable *variable, bool host) {
	switch (variable->role) {
	case KOKKOS_TILE:
		return TILE_PLACES;
	case KOKKOS_VECTOR:
		return host ? 1 : VECTOR_PLACES;
	default:
		return team_places(host);
	}
}

/* 0 stands for what Kokkos does by itself. */
static int fraction_declare(sweetspot_context *context, const struct kokkos_variable *variable, const char *param,
                            bool host) {
	long long values[TEAM_PLACES];
	size_t places = fraction_places(variable, host);
	for (size_t i = 0; i < places; i++)
		values[i] = 1LL << i;
	return sweetspot_context_int(context, param, values, places, 0);
}

static int words_declare(sweetspot_context *context, const struct kokkos_variable *variable, const char *param,
                         const union kokkos_value *now) {
	const char **words = calloc(variable->count, sizeof *words);
	char otherwise[KOKKOS_STRING];
	snprintf(otherwise, sizeof otherwise, "%.*s", KOKKOS_STRING - 1, now->word);
	for (size_t i = 0; words && i < variable->count; i++)
		words[i] = variable->values[i].word;
	int failed = words ? sweetspot_context_word(context, param, words, variable->count, otherwise) : -1;
	free(words);
	return failed;
}

/* The value that comes in is the program's own. */
static int own_declare(sweetspot_context *context, const struct kokkos_variable *variable, const char *param,
                       const union kokkos_value *now) {
	if (variable->info.type == KOKKOS_WORD)
		return words_declare(context, variable, param, now);
	long long integers[VALUES_MOST];
	double reals[VALUES_MOST];
	for (size_t i = 0; i < variable->count; i++) {
		integers[i] = variable->values[i].integer;
		reals[i] = variable->values[i].real;
	}
	return variable->info.type == KOKKOS_INT
	           ? sweetspot_context_int(context, param, integers, variable->count, now->integer)
	           : sweetspot_context_real(context, param, reals, variable->count, now->real);
}

/* Several fractions have all a place or none: 0 is Kokkos' heuristic. */
static int rules_declare(const struct kokkos_question *question) {
	char all[KOKKOS_OUTPUTS * (KOKKOS_PARAM + 4)] = "", product[sizeof all] = "", rule[2 * sizeof all + 32];
	size_t used = 0, made = 0, fractions = 0;
	bool tiles = question->has_tiles;
	for (size_t i = 0; i < question->count; i++) {
		if (question->outputs[i]->role == KOKKOS_OWN)
			continue;
		const char *name = question->params[i];
		used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", fractions ? ", " : "", name);
		made += (size_t)snprintf(product + made, sizeof product - made, "%s%s", fractions++ ? " * " : "", name);
	}
	if (fractions < 2)
		return 0;
	snprintf(rule, sizeof rule, "min(%s) > 0 or max(%s) == 0", all, all);
	if (sweetspot_context_constraint(question->context, rule))
		return -1;
	snprintf(rule, sizeof rule, "%s %s %d", product, tiles ? "<" : "<=", PRODUCT_LIMIT);
	return tiles || !question->host ? sweetspot_context_constraint(question->context, rule) : 0;
}

static uint32_t hash_of(const char *text) {
	uint32_t hash = 2166136261u;
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

/* PROGRAM:LABEL, where the label is the kernel's, or its variable's, or what the names of several begin with. One that
 * is too long for the engine is cut, but stays another one than those that begin alike. */
static void label_of(const struct kokkos_question *question, char *label) {
	const char *first = question->outputs[0]->label;
	size_t length = strlen(first), whole = length;
	for (size_t i = 1; i < question->count; i++) {
		size_t same = 0;
		while (same < length && question->outputs[i]->label[same] == first[same])
			same++;
		length = same;
	}
	while (length && length < whole && strchr("._-: ", first[length - 1]))
		length--;
	length = length ? length : whole;
	int used = snprintf(label, LABEL_MOST, "%.60s:", program_invocation_short_name);
	if ((size_t)used + length < LABEL_MOST)
		snprintf(label + used, LABEL_MOST - (size_t)used, "%.*s", (int)length, first);
	else
		snprintf(label + used, LABEL_MOST - (size_t)used, "%.*s..%08x", LABEL_MOST - used - 12, first, hash_of(first));
}

static bool context_make(struct kokkos_question *question, const struct kokkos_variable_value *now, bool can_keep) {
	char label[LABEL_MOST];
	label_of(question, label);
	question->context = sweetspot_context_open(label);
	for (size_t i = 0; question->context && i < question->count; i++) {
		const struct kokkos_variable *variable = question->outputs[i];
		param_name(variable, question->params[i]);
		question->has_tiles = question->has_tiles || variable->role == KOKKOS_TILE;
		question->is_builtin = question->is_builtin || variable->role != KOKKOS_OWN;
		if (variable->role != KOKKOS_OWN
		        ? fraction_declare(question->context, variable, question->params[i], question->host)
		        : own_declare(question->context, variable, question->params[i], &now[i].value))
			return false;
	}
	if (!question->context || rules_declare(question))
		return false;
	if (question->is_builtin && !can_keep)
		ssi_context_without_default(question->context);
	return true;
}

static bool is_same(const struct kokkos_question *question, struct kokkos_variable *const *outputs, size_t count) {
	return question->count == count &&
	       memcmp(question->outputs, outputs, count * sizeof(struct kokkos_variable *)) == 0;
}

static struct kokkos_question *question_find(struct kokkos_variable *const *outputs, size_t count) {
	struct kokkos_question *question = __atomic_load_n(&outputs[0]->questions, __ATOMIC_ACQUIRE);
	while (question && !is_same(question, outputs, count))
		question = question->next;
	return question;
}

/* The caller holds the lock. */
static struct kokkos_question *question_make(struct kokkos_variable *const *outputs, size_t count,
                                             const struct kokkos_variable_value *now, bool host, bool can_keep) {
	struct kokkos_question *question = calloc(1, sizeof *question);
	if (!question)
		return NULL;
	question->count = count;
	question->host = host;
	memcpy(question->outputs, outputs, count * sizeof(struct kokkos_variable *));
	if (!context_make(question, now, can_keep))
		question->context = NULL;
	question->next = outputs[0]->questions;
	__atomic_store_n(&outputs[0]->questions, question, __ATOMIC_RELEASE);
	return question;
}

static struct kokkos_question *question_get(struct kokkos_variable *const *outputs, size_t count,
                                            const struct kokkos_variable_value *now, bool host, bool can_keep) {
	struct kokkos_question *question = question_find(outputs, count);
	if (!question) {
		pthread_mutex_lock(&known.lock);
		question = question_find(outputs, count);
		if (!question)
			question = question_make(outputs, count, now, host, can_keep);
		pthread_mutex_unlock(&known.lock);
	}
	return question;
}

struct kokkos_question *kokkos_question_of(const struct kokkos_variable_value *outputs, size_t count, bool host,
                                           bool can_keep) {
	struct kokkos_variable *variables[KOKKOS_OUTPUTS];
	if (!count || count > KOKKOS_OUTPUTS)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		variables[i] = kokkos_variable_find(outputs[i].id);
		if (!variables[i] || !variables[i]->is_output || (variables[i]->role == KOKKOS_OWN && !variables[i]->count))
			return NULL;
	}
	return question_get(variables, count, outputs, host, can_keep);
}

size_t kokkos_fraction_count(void) {
	return known.fractions;
}

/* Kokkos declares them one after the other, so that the last one is found first. */
struct kokkos_question *kokkos_question_of_label(const char *label, bool host, bool can_keep) {
	struct kokkos_variable *found[KOKKOS_OUTPUTS];
	size_t count = 0;
	for (struct kokkos_variable *v = known.last; v && count < KOKKOS_OUTPUTS; v = v->next)
		if (v->is_output && v->role != KOKKOS_OWN && strcmp(v->label, label) == 0)
			found[count++] = v;
		else if (count)
			break;
	for (size_t i = 0; i < count / 2; i++) {
		struct kokkos_variable *other = found[i];
		found[i] = found[count - 1 - i];
		found[count - 1 - i] = other;
	}
	return count ? question_get(found, count, NULL, host, can_keep) : NULL;
}

/* ---- values ---- */
/* A point of the declared grid in the middle of the place, if there is one: behind the list Kokkos would crash. */
static double fraction(const struct kokkos_variable *variable, size_t place, size_t places) {
	const struct kokkos_range *range = &variable->info.candidates.range;
	double middle = ((double)place + .5) / (double)places, step = range->step.real;
	double point = step > 0 ? step * round(middle / step) : middle;
	double in = point * (double)places - (double)place;
	return point > 0 && point < range->upper.real && in > 1e-6 && in < 1 - 1e-6 ? point : middle;
}

/* The places that the values before it leave of the list. */
static size_t places_left(const struct kokkos_variable *variable, size_t before, bool host) {
	size_t places = fraction_places(variable, host);
	bool depends = variable->role == KOKKOS_TILE || (variable->role == KOKKOS_TEAM && !host);
	return !depends ? places : before < places ? places - before : 1;
}

/* Without a choice: the middle of a tile's list, a single lane, the largest team. */
static size_t place_chosen(const struct kokkos_variable *variable, int level, size_t places) {
	if (level < 0)
		return variable->role == KOKKOS_TILE ? places / 2 : 0;
	return (size_t)level < places ? (size_t)level : places - 1;
}

void kokkos_question_answer(const struct kokkos_question *question, const struct sweetspot_choice *choice,
                            struct kokkos_variable_value *outputs) {
	bool host = question->host;
	size_t before = 0;
	for (size_t i = 0; i < question->count; i++) {
		const struct kokkos_variable *variable = question->outputs[i];
		int level = choice ? ssi_chosen_level(choice, question->params[i]) : -1;
		if (variable->role != KOKKOS_OWN) {
			size_t places = places_left(variable, before, host), place = place_chosen(variable, level, places);
			bool fixed = variable->role == KOKKOS_VECTOR && host;
			outputs[i].value.real = fraction(variable, place, fixed ? TEAM_PLACES : places);
			before += place;
		} else if (level >= 0 && (size_t)level < variable->count) {
			memcpy(&outputs[i].value, &variable->values[level], sizeof outputs[i].value);
		}
	}
}

/* ---- problems ---- */
static void member_fill(const struct kokkos_variable *variable, const union kokkos_value *value,
                        struct sweetspot_value *member, char *text) {
	*member = (struct sweetspot_value){.name = variable->name};
	if (variable->info.type == KOKKOS_WORD)
		snprintf(text, KOKKOS_STRING + 1, "%.*s", KOKKOS_STRING - 1, value->word);
	else if (variable->info.type == KOKKOS_INT)
		snprintf(text, KOKKOS_STRING + 1, "%lld", (long long)value->integer);
	else
		snprintf(text, KOKKOS_STRING + 1, "%.17g", value->real);
	if (variable->info.type == KOKKOS_WORD || variable->info.category == KOKKOS_CATEGORICAL)
		member->word = text;
	else
		member->number = variable->info.type == KOKKOS_INT ? (double)value->integer : value->real;
}

/* Inputs come in the order of a hash, and among them are the last kernel's name and fractions. */
size_t kokkos_problem_read(const struct kokkos_variable_value *inputs, size_t count, struct sweetspot_value *problem,
                           char text[KOKKOS_FEATURES][KOKKOS_STRING + 1]) {
	size_t members = 0;
	for (size_t i = 0; i < count && members < KOKKOS_FEATURES; i++) {
		const struct kokkos_variable *variable = kokkos_variable_find(inputs[i].id);
		struct sweetspot_value member;
		if (!variable || variable->role != KOKKOS_OWN)
			continue;
		member_fill(variable, &inputs[i].value, &member, text[members]);
		size_t at = members++;
		for (; at && strcmp(problem[at - 1].name, member.name) > 0; at--)
			problem[at] = problem[at - 1];
		problem[at] = member;
	}
	return members;
}
