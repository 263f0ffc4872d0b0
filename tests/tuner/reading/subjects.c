/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of many parameters: statements stay short, and a search does not get one for each of its accidental series. */
#include "tests/tuner/diagnosis/made.h"
#include "tests/tap.h"
#include "tuner/reading/reading.h"

enum { SENTENCE_MOST = 260, SEARCHED = 126 };

static const char *const yes_no[] = {"yes", "no"};
static const char *const variants[] = {"register", "shared", "global"};

/* A setting of seven parameters, and its time. */
static void add(struct made *made, size_t at) {
	int b = (int)(at % 5), m = (int)(at / 5 % 3), n = (int)(at / 15 % 3), u = (int)(at / 45 % 3);
	int l = (int)(at / 135 % 2), v = (int)(at / 270 % 3);
	double time = 1e-3 * (1 + abs(b - 1 - (m + n * u + l) % 3)) * (1 + 0.5 * abs(m - 1)) * (1 + 0.2 * n) *
	              (1 + 0.3 * v) * (l ? 1.2 : 1) * (1 + 0.1 * u);
	made_add(made, json_pack("{s:i}", "n", 4096),
	         json_pack("{s:s,s:s,s:i,s:i,s:i,s:i}", "lookahead_of_rows", yes_no[l], "variant", variants[v], "block",
	                   16 << b, "tile_of_rows", 1 << m, "tile_of_columns", 1 << n, "unroll_inner", 1 << u),
	         time, NULL);
}

static json_t *readings_of(struct made *made) {
	json_t *json = made_examined(made, readings_examine);
	made_free(made);
	return json;
}

static size_t named(const json_t *readings, const char *name) {
	size_t count = 0, i;
	json_t *one;
	json_array_foreach((json_t *)readings, i, one) count += strcmp(js_string_or(one, "name", ""), name) == 0;
	return count;
}

static size_t longest(const json_t *readings) {
	size_t most = 0, i;
	json_t *one;
	json_array_foreach((json_t *)readings, i, one) {
		size_t length = strlen(js_string_or(one, "sentence", ""));
		if (length > most)
			printf("# %s\n", js_string_or(one, "sentence", ""));
		most = length > most ? length : most;
	}
	return most;
}

int main(void) {
	struct made *grid = made_new(1, 8, 8), *search = made_new(2, 8, 8);
	grid->noise = search->noise = 0.02;
	for (size_t at = 0; at < 270; at++)
		add(grid, at);
	json_t *readings = readings_of(grid);
	ok(named(readings, "curve") > 0 && named(readings, "curve") < 20, "a grid of 270 rows has %zu curves",
	   named(readings, "curve"));
	ok(longest(readings) <= SENTENCE_MOST, "no sentence has more than %d characters (%zu)", SENTENCE_MOST,
	   longest(readings));
	json_decref(readings);
	for (size_t i = 0; i < SEARCHED; i++)
		add(search, (size_t)rng_below(&search->rng, 810));
	readings = readings_of(search);
	ok(named(readings, "curve") == 0 && named(readings, "crossing") == 0,
	   "a search of %d rows has no curves and no crossings", SEARCHED);
	ok(longest(readings) <= SENTENCE_MOST, "a search has no long sentence (%zu)", longest(readings));
	json_decref(readings);
	return tap_done();
}
