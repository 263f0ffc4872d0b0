/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the stored results that differ in one number of the problem only. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/sizes/impl.h"

enum { RESULTS_MAX = 1024 };

struct found {
	json_t *result;
	char *source;
	int64_t search;
};

struct finder {
	const char *kernel, *objective;
	struct found *found; /* oldest first */
	size_t count;
};

static double cost_of(const json_t *result) {
	return js_real_or(json_object_get(result, "best"), "median", NAN);
}

static int result_add(void *ctx, const struct store_row *stored) {
	struct finder *finder = ctx;
	const json_t *result = stored->result;
	if (strcmp(stored->kernel, finder->kernel) != 0 ||
	    strcmp(js_string_or(result, "objective", "time"), finder->objective) != 0 ||
	    json_object_get(result, "program") || !json_is_object(json_object_get(result, "problem")) ||
	    !json_is_object(js_at(result, "best.config")) || !(cost_of(result) > 0))
		return 0;
	finder->found = mem_grow(finder->found, finder->count + 1, sizeof *finder->found);
	finder->found[finder->count++] = (struct found){
		.result = json_incref((json_t *)result), .source = mem_strdup(stored->source), .search = stored->search};
	return finder->count == RESULTS_MAX;
}

/* A kernel on another device or with another source is another kernel. */
static bool same_kernel(const struct found *a, const struct found *b) {
	return strcmp(a->source, b->source) == 0 &&
	       strcmp(js_string_or(a->result, "device", "cpu"), js_string_or(b->result, "device", "cpu")) == 0;
}

static json_t *without(const json_t *problem, const char *over) {
	json_t *rest = json_copy((json_t *)problem);
	json_object_del(rest, over);
	return rest;
}

static bool in_group(const struct found *one, const struct found *problem_row, const char *over, const json_t *rest) {
	const json_t *problem = json_object_get(one->result, "problem");
	js_auto json_t *others = without(problem, over);
	return same_kernel(one, problem_row) && json_number_value(json_object_get(problem, over)) > 0 &&
	       json_equal(others, (json_t *)rest);
}

/* Collects the results that equal one of them in all but `over`; of several with the same size the newest stays. */
static struct sizes *group(const struct finder *finder, const struct found *problem_row, const char *over) {
	struct sizes *sizes = sizes_new(finder->kernel, over);
	json_t *rest = without(json_object_get(problem_row->result, "problem"), over);
	for (size_t i = 0; i < finder->count; i++) {
		const struct found *one = &finder->found[i];
		const json_t *best = json_object_get(one->result, "best"), *ci = json_object_get(best, "ci");
		if (!in_group(one, problem_row, over, rest))
			continue;
		const json_t *low = json_array_get(ci, 0), *high = json_array_get(ci, 1);
		const struct sizes_point point = {
			.n = json_number_value(json_object_get(json_object_get(one->result, "problem"), over)),
			.cost = cost_of(one->result),
			.ci = {json_is_number(low) ? json_number_value(low) : NAN,
		           json_is_number(high) ? json_number_value(high) : NAN},
			.config = json_object_get(best, "config"),
			.finalists = json_object_get(one->result, "finalists"),
			.search = one->search,
		};
		sizes_add(sizes, &point);
	}
	json_t *about = json_pack("{s:o,s:s,s:s,s:s}", "problem", rest, "objective", finder->objective, "device",
	                          js_string_or(problem_row->result, "device", "cpu"), "unit",
	                          js_string_or(json_object_get(problem_row->result, "best"), "unit", "s"));
	sizes_about(sizes, about);
	return sizes;
}

static bool is_wanted(const json_t *problem, const char *name, const char *over, const json_t *asked) {
	if (over && strcmp(over, name) != 0)
		return false;
	js_members (other, value, asked)
		if (strcmp(other, name) != 0 && !json_equal(value, json_object_get(problem, other)))
			return false;
	return true;
}

/* The largest group; of equally large ones the group of the newest result. */
static struct sizes *largest(const struct finder *finder, const char *over, const json_t *asked) {
	struct sizes *best = NULL;
	for (size_t i = finder->count; i-- > 0;) {
		const json_t *problem = json_object_get(finder->found[i].result, "problem");
		if (!same_kernel(&finder->found[i], &finder->found[finder->count - 1]))
			continue;
		js_members (name, value, problem) {
			if (!(json_number_value(value) > 0) || !is_wanted(problem, name, over, asked))
				continue;
			struct sizes *one = group(finder, &finder->found[i], name);
			bool more = !best || sizes_count(one) > sizes_count(best);
			sizes_free(more ? best : one);
			best = more ? one : best;
		}
	}
	return best;
}

struct sizes *sizes_load(struct store *store, const char *fingerprint, const char *kernel, const char *objective,
                         const char *over, const json_t *problem, struct err *err) {
	const struct store_filter own = {.fingerprint = fingerprint, .kernel = kernel};
	struct finder finder = {.kernel = kernel, .objective = objective};
	struct sizes *sizes = NULL;
	int failed = store_each(store, STORE_RESULTS, &own, result_add, &finder, err);
	if (!failed)
		sizes = largest(&finder, over, problem);
	for (size_t i = 0; i < finder.count; i++) {
		json_decref(finder.found[i].result);
		free(finder.found[i].source);
	}
	free(finder.found);
	if (!failed && !sizes)
		failed = err_set(err, ERR_NOTHING, "tune it at several sizes: sweetspot tune KERNEL --sizes NAME=A..B",
		                 "%s does not hold results of %s at several sizes on this machine", store_path(store), kernel);
	if (!failed && sizes_ratios_read(sizes, store, err))
		failed = -1;
	if (!failed)
		return sizes;
	sizes_free(sizes);
	return NULL;
}
