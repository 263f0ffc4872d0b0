/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/profile/select.h"

#include <math.h>
#include <string.h>

#include "src/base/json/js.h"

static const double ROUNDING = 1e-12;

const char *profile_fit_word(enum profile_fit fit) {
	static const char *const words[] = {"exact", "interpolated", "nearest"};
	return words[fit];
}

static double number_of(const json_t *value) {
	return json_is_boolean(value) ? json_is_true(value) : json_is_number(value) ? json_number_value(value) : NAN;
}

/* A boolean is asked for by its word, too. */
static bool is_same_word(const json_t *there, const json_t *asked) {
	const char *word = json_is_boolean(there) ? (json_is_true(there) ? "true" : "false") : json_string_value(there);
	return word && json_is_string(asked) && strcmp(word, json_string_value(asked)) == 0;
}

/* Squared; INFINITY where they can't stand for each other. */
static double value_distance(const json_t *there, const json_t *asked) {
	if (json_is_string(asked) || json_is_string(there))
		return is_same_word(there, asked) ? 0 : INFINITY;
	double a = number_of(there), b = number_of(asked);
	if (a == b)
		return 0;
	double between = log(a) - log(b);
	return isfinite(between) ? between * between : INFINITY;
}

static double distance(const json_t *there, const json_t *asked, const char *but) {
	const char *name;
	json_t *value;
	double sum = 0;
	json_object_foreach((json_t *)asked, name, value) {
		const json_t *own = json_object_get(there, name);
		if (!but || strcmp(name, but) != 0)
			sum += own ? value_distance(own, value) : INFINITY;
	}
	return sum;
}

static bool is_of(const json_t *one, const char *kernel, const char *objective) {
	return strcmp(js_string_or(one, "kernel", ""), kernel) == 0 &&
	       strcmp(js_string_or(one, "objective", "time"), objective) == 0;
}

/* Of equals the last one, which is the newest. */
static const json_t *entry_nearest(const json_t *profile, const char *kernel, const char *objective,
                                   const json_t *problem, double *least) {
	const json_t *entries = json_object_get(profile, "entries"), *nearest = NULL;
	*least = INFINITY;
	for (size_t i = json_array_size(entries); i-- > 0 && *least > 0;) {
		const json_t *entry = json_array_get(entries, i);
		bool asked = is_of(entry, kernel, objective);
		double away = asked ? distance(json_object_get(entry, "problem"), problem, NULL) : INFINITY;
		if (away < *least) {
			*least = away;
			nearest = entry;
		}
	}
	return nearest;
}

/* Sizes of which all but the size is as asked for. */
static const json_t *sizes_find(const json_t *profile, const char *kernel, const char *objective, const json_t *problem,
                                double *size) {
	const json_t *all = json_object_get(profile, "sizes");
	for (size_t i = json_array_size(all); i-- > 0;) {
		const json_t *sizes = json_array_get(all, i);
		const char *over = js_string_or(sizes, "over", "");
		*size = js_real_or(problem, over, NAN);
		if (is_of(sizes, kernel, objective) && *size > 0 && isfinite(*size) &&
		    distance(json_object_get(sizes, "problem"), problem, over) == 0)
			return sizes;
	}
	return NULL;
}

static double end_of(const json_t *ranges, size_t i, const char *end) {
	return js_real_or(json_array_get(ranges, i), end, NAN);
}

/* Between two ranges, the one that is nearer. */
static const json_t *range_find(const json_t *ranges, double size) {
	size_t i = 0, count = json_array_size(ranges);
	while (i + 1 < count && size >= end_of(ranges, i + 1, "from"))
		i++;
	double to = end_of(ranges, i, "to");
	if (i + 1 < count && size > to && end_of(ranges, i + 1, "from") / size < size / to)
		i++;
	return json_array_get(ranges, i);
}

/* The cost at a size; NAN without a law, and beyond its sizes. */
static double law_at(const json_t *sizes, double size) {
	const json_t *law = json_array_get(json_object_get(sizes, "laws"), 0);
	json_t *piece;
	size_t i;
	json_array_foreach(json_object_get(law, "pieces"), i, piece) {
		double cost = js_real_or(piece, "overhead", 0) +
		              js_real_or(piece, "factor", NAN) * pow(size, js_real_or(piece, "exponent", NAN));
		if (size >= js_real_or(piece, "from", NAN) && size <= js_real_or(piece, "to", NAN))
			return isfinite(cost) && cost >= 0 ? cost : NAN;
	}
	return NAN;
}

static void sizes_take(const json_t *sizes, double size, struct profile_choice *choice) {
	const json_t *ranges = json_object_get(sizes, "thresholds"), *range = range_find(ranges, size);
	double first = end_of(ranges, 0, "from"), last = end_of(ranges, json_array_size(ranges) - 1, "to");
	*choice = (struct profile_choice){
		.fit = size >= first && size <= last ? PROFILE_INTERPOLATED : PROFILE_NEAREST,
		.sizes = sizes,
		.range = range,
		.config = json_object_get(range, "config"),
		.environment = json_object_get(range, "environment"),
		.unit = js_string_or(sizes, "unit", ""),
		.objective = js_string_or(sizes, "objective", "time"),
		.predicted = law_at(sizes, size),
		.measured = NAN,
		.speedup = NAN,
		.distance = size < first  ? log(first / size)
	                : size > last ? log(size / last)
	                              : 0,
	};
}

static void entry_take(const json_t *entry, double away, struct profile_choice *choice) {
	double median = js_real_or(entry, "median", NAN);
	*choice = (struct profile_choice){
		.fit = away == 0 ? PROFILE_EXACT : PROFILE_NEAREST,
		.entry = entry,
		.config = json_object_get(entry, "config"),
		.environment = json_object_get(entry, "environment"),
		.unit = js_string_or(entry, "unit", ""),
		.objective = js_string_or(entry, "objective", "time"),
		.predicted = away == 0 ? median : NAN,
		.measured = median,
		.speedup = js_real_or(json_object_get(entry, "speedup"), "ratio", NAN),
		.distance = sqrt(away),
	};
}

static int look_up(const json_t *profile, const char *kernel, const char *objective, const json_t *problem,
                   struct profile_choice *choice) {
	double away, size;
	const json_t *entry = entry_nearest(profile, kernel, objective, problem, &away);
	const json_t *sizes = entry && away == 0 ? NULL : sizes_find(profile, kernel, objective, problem, &size);
	if (sizes)
		sizes_take(sizes, size, choice);
	/* Beyond all ranges a problem that was tuned by itself may be nearer, or the last of them: the same but for
	 * rounding. */
	if (entry && (!sizes || sqrt(away) <= choice->distance * (1 + ROUNDING)))
		entry_take(entry, away, choice);
	return entry || sizes ? 0 : -1;
}

int profile_select(const json_t *profile, const char *kernel, const char *objective, const json_t *problem,
                   struct profile_choice *choice, struct err *err) {
	const char *wanted = profile_select_objective(profile, kernel, objective, err);
	if (!wanted)
		return -1;
	if (look_up(profile, kernel, wanted, problem, choice) == 0)
		return 0;
	return err_set(err, ERR_NOTHING, "`sweetspot profile show` lists what was tuned",
	               "%s was tuned for %s, but for nothing that is near this problem", kernel, wanted);
}
