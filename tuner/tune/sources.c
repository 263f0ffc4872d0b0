/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/tune/sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/value.h"
#include "tuner/tune/source.h"

enum { RELATIVES_READ = 64 /* the most to look into, in case their configurations do not fit this space */ };

/* A search that could be a source. */
struct relative {
	int64_t search;
	bool elsewhere, other_source;
	double distance; /* of its problem */
	char *name, *kind;
};

struct tune_sources {
	const struct tune_sources_query *query; /* only while sources are collected */
	struct relative *relatives;
	size_t relative_count;
	struct tune_source_data data[SOURCES_MAX];
	struct strategy_source list[SOURCES_MAX];
	int64_t search[SOURCES_MAX];
	size_t count;
};

static double member_distance(const json_t *a, const json_t *b) {
	double x = json_number_value(a), y = json_number_value(b);
	if (json_equal((json_t *)a, (json_t *)b))
		return 0;
	return json_is_number(a) && json_is_number(b) && x > 0 && y > 0 ? fabs(log(x / y)) : 1;
}

/* The distance of two numbers is the logarithm of their ratio, of anything else 1. */
static double problem_distance(const json_t *a, const json_t *b) {
	double sum = 0;
	const char *name;
	json_t *member;
	json_object_foreach((json_t *)a, name, member) sum += member_distance(member, json_object_get(b, name));
	json_object_foreach((json_t *)b, name, member) sum += json_object_get(a, name) ? 0 : 1;
	return sum;
}

/* A name for people: "n=1024, another source, on Xeon". Caller frees. */
static char *name_of(const json_t *problem, const struct relative *relative, const json_t *machine) {
	char *text = mem_strdup(""), *longer;
	const char *name, *gpu = js_string_or(json_object_get(machine, "gpu"), "name", NULL);
	json_t *member;
	json_object_foreach((json_t *)problem, name, member) {
		struct value value;
		char shown[64] = "?";
		if (value_from_json(member, &value))
			value_text(value, shown, sizeof shown);
		longer = mem_printf("%s%s%s=%s", text, *text ? " " : "", name, shown);
		free(text);
		text = longer;
	}
	longer = mem_printf("%s%s%s%s", text, relative->other_source ? ", another source" : "",
	                    relative->elsewhere ? ", on " : ", this machine",
	                    !relative->elsewhere ? ""
	                    : gpu                ? gpu
	                                         : js_string_or(machine, "cpu", "another machine"));
	free(text);
	text_clean(longer, false);
	return longer;
}

static int relative_add(void *ctx, const struct store_row *found) {
	struct tune_sources *sources = ctx;
	const struct tune_sources_query *query = sources->query;
	json_t *problem = js_parse(found->problem, strlen(found->problem), "a problem", NULL);
	if (found->search != query->search && json_is_object(problem)) {
		struct relative relative = {.search = found->search,
		                            .elsewhere = strcmp(found->fingerprint, query->fingerprint) != 0,
		                            .other_source = !query->source || strcmp(found->source, query->source) != 0,
		                            .distance = problem_distance(problem, query->problem)};
		relative.name = name_of(problem, &relative, found->machine);
		relative.kind = mem_printf("%s %s %s", found->fingerprint, found->source, found->problem);
		sources->relatives = mem_grow(sources->relatives, sources->relative_count + 1, sizeof *sources->relatives);
		sources->relatives[sources->relative_count++] = relative;
	}
	json_decref(problem);
	return 0;
}

static int by_likeness(const void *a, const void *b) {
	const struct relative *x = a, *y = b;
	if (x->elsewhere != y->elsewhere)
		return x->elsewhere ? 1 : -1;
	if (x->other_source != y->other_source)
		return x->other_source ? 1 : -1;
	if (x->distance != y->distance)
		return x->distance > y->distance ? 1 : -1;
	return (x->search < y->search) - (x->search > y->search);
}

static int source_add(struct tune_sources *sources, struct store *store, const struct relative *relative,
                      struct err *err) {
	const struct tune_sources_query *query = sources->query;
	struct tune_source_data *data = &sources->data[sources->count];
	if (tune_source_read(store, relative->search, query->until, query->space, query->start, data, err))
		return -1;
	if (data->count == 0) {
		tune_source_clear(data);
		return 0;
	}
	sources->list[sources->count] = (struct strategy_source){
		.name = relative->name, .count = data->count, .index = data->index, .outcome = data->outcome};
	sources->search[sources->count++] = relative->search;
	return 0;
}

static bool is_full(const struct tune_sources *sources, size_t at) {
	size_t same = 0;
	for (size_t i = 0; i < at; i++)
		for (size_t k = 0; k < sources->count; k++)
			same += sources->search[k] == sources->relatives[i].search &&
			        strcmp(sources->relatives[i].kind, sources->relatives[at].kind) == 0;
	return same >= SOURCES_OF_A_KIND;
}

static int sources_pick(struct tune_sources *sources, struct store *store, struct err *err) {
	if (sources->relative_count)
		qsort(sources->relatives, sources->relative_count, sizeof *sources->relatives, by_likeness);
	for (size_t i = 0; i < sources->relative_count && i < RELATIVES_READ && sources->count < SOURCES_MAX; i++)
		if (!is_full(sources, i) && source_add(sources, store, &sources->relatives[i], err))
			return -1;
	return 0;
}

static int sources_restore(struct tune_sources *sources, struct store *store, const json_t *wanted, struct err *err) {
	size_t i;
	json_t *search;
	json_array_foreach((json_t *)wanted, i, search) for (size_t k = 0; k < sources->relative_count; k++) {
		if (sources->relatives[k].search != json_integer_value(search) || sources->count == SOURCES_MAX)
			continue;
		if (source_add(sources, store, &sources->relatives[k], err))
			return -1;
		break;
	}
	return 0;
}

struct tune_sources *tune_sources_new(struct store *store, const struct tune_sources_query *query, const json_t *wanted,
                                      struct err *err) {
	const struct store_filter kin = {.kernel = query->kernel, .objective = query->objective};
	struct tune_sources *sources = mem_alloc(1, sizeof *sources);
	sources->query = query;
	int failed = store_each(store, STORE_RELATIVES, &kin, relative_add, sources, err);
	if (!failed)
		failed = wanted ? sources_restore(sources, store, wanted, err) : sources_pick(sources, store, err);
	sources->query = NULL;
	if (!failed)
		return sources;
	tune_sources_free(sources);
	return NULL;
}

void tune_sources_free(struct tune_sources *sources) {
	if (!sources)
		return;
	for (size_t i = 0; i < sources->count; i++)
		tune_source_clear(&sources->data[i]);
	for (size_t i = 0; i < sources->relative_count; i++) {
		free(sources->relatives[i].name);
		free(sources->relatives[i].kind);
	}
	free(sources->relatives);
	free(sources);
}

const struct strategy_source *tune_sources_list(const struct tune_sources *sources, size_t *count) {
	*count = sources ? sources->count : 0;
	return *count ? sources->list : NULL;
}

json_t *tune_sources_searches(const struct tune_sources *sources) {
	json_t *array = json_array();
	for (size_t i = 0; sources && i < sources->count; i++)
		json_array_append_new(array, json_integer(sources->search[i]));
	return array;
}

json_t *tune_sources_json(const struct tune_sources *sources) {
	json_t *array = json_array();
	for (size_t i = 0; sources && i < sources->count; i++)
		json_array_append_new(array, json_pack("{s:s,s:I}", "name", sources->list[i].name, "configurations",
		                                       (json_int_t)sources->list[i].count));
	return array;
}
