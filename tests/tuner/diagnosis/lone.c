/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves of one to three methods over teams, by Amdahl's law or the USL, and over sizes, by a power law, off by 3 %
 * each, with one time that is wrong by a factor: it is suspect, and never recommended; without such a time nothing is
 * suspect. SWEETSPOT_SEEDS=2000 makes more tables of each kind than the usual 300. */
#include <stdlib.h>

#include "tests/tuner/diagnosis/made.h"
#include "tests/tap.h"

enum { AXES = 4, POINTS_MOST = 8, METHODS_MOST = 3 };
struct axis {
	size_t count;
	int n[POINTS_MOST];
};
static const struct axis teams[AXES] = {{5, {1, 2, 4, 8, 16}},
                                        {6, {1, 2, 4, 8, 16, 32}},
                                        {7, {1, 2, 3, 4, 6, 8, 12}},
                                        {8, {1, 2, 4, 8, 16, 24, 32, 64}}},
						 sizes[AXES] = {{4, {256, 512, 1024, 2048}},
                                        {5, {500, 1000, 2000, 4000, 8000}},
                                        {5, {10, 100, 1000, 10000, 100000}},
                                        {6, {1000, 2000, 4000, 8000, 16000, 32000}}};

/* The work of each method grows in its own way, and so do the costs of its teams. */
static struct made *made_of(uint64_t seed, const struct axis *axis, bool of_teams, int methods) {
	static const char *const names[METHODS_MOST] = {"a", "b", "c"};
	struct made *made = made_new(seed, 64, 64);
	for (int m = 0; m < methods; m++) {
		double base = made_between(made, 1, 20), sigma = made_between(made, 0.005, 0.3);
		double kappa = seed % 2 ? made_between(made, 0, 0.003) : 0, power = made_between(made, 1, 3);
		for (size_t i = 0; i < axis->count; i++) {
			int n = axis->n[i];
			json_t *config = json_pack("{s:s}", "method", names[m]), *problem = json_object();
			json_object_set_new(of_teams ? config : problem, of_teams ? "threads" : "n", json_integer(n));
			made_add(made, problem, config,
			         of_teams ? base * (1 + sigma * (n - 1) + kappa * n * (n - 1)) / n : base * pow(n / 1000.0, power),
			         NULL);
		}
	}
	return made;
}

struct counts {
	int tables, named, recommended, others;
};

/* The time of one method at one number between others is that of the law times the factor, or those at all larger ones
 * as well: a cache that the data come to fit into, or no longer, or more threads than processors. */
static struct counts count(int tables, bool of_teams, double factor, bool lasts) {
	struct counts counts = {.tables = tables};
	for (uint64_t seed = 0; seed < (uint64_t)tables; seed++) {
		const struct axis *axis = &(of_teams ? teams : sizes)[seed / 2 % AXES];
		int methods = 1 + (int)(seed / (2 * AXES) % METHODS_MOST);
		struct made *made = made_of(seed, axis, of_teams, methods);
		size_t least = lasts ? 2 : 1 /* a first time alone is as unlike the others as any */;
		size_t at = least + rng_below(&made->rng, axis->count - 1 - least), points = lasts ? axis->count - at : 1;
		struct made_row *first = &made->row[at + axis->count * rng_below(&made->rng, (uint64_t)methods)];
		for (size_t i = 0; i < points; i++)
			first[i].value *= factor;
		struct study *study = made_study(made);
		impossible_times_doubt(study);
		for (size_t r = 0; r < study_rows(study); r++) {
			bool own = study_row(study, r)->value == first->value, doubted = study_row(study, r)->doubted;
			counts.named += own && doubted;
			counts.recommended += own && r == study_winner(study);
			counts.others += !own && doubted;
		}
		study_free(study);
		made_free(made);
	}
	return counts;
}

/* least and most: the share of tables in which it is suspect, and recommended. */
static void wrong(int tables, bool of_teams, double factor, double least, double most) {
	struct counts counts = count(tables, of_teams, factor, false);
	const char *of = of_teams ? "team" : "size";
	ok(counts.named >= least * tables, "%.2f times the time of a %s is suspect in %d of %d tables", factor, of,
	   counts.named, tables);
	ok(counts.recommended <= most * tables, "%.2f times the time of a %s is recommended in %d", factor, of,
	   counts.recommended);
	ok(counts.others <= 0.01 * tables, "beside %.2f times the time of a %s %d others are suspect", factor, of,
	   counts.others);
}

static void right(int tables, bool of_teams, double factor, const char *words) {
	struct counts counts = count(tables, of_teams, factor, true);
	ok(counts.named + counts.others <= 0.01 * tables, "%s: %d times are suspect in %d tables", words,
	   counts.named + counts.others, tables);
}

int main(void) {
	const char *given = getenv("SWEETSPOT_SEEDS");
	int tables = given && atoi(given) > 0 ? atoi(given) : 300;
	wrong(tables, true, 1 / 3.0, 0.97, 0.001);
	wrong(tables, true, 1 / 2.0, 0.8, 0.1);
	wrong(tables, true, 3, 0.8, 0);
	right(2 * tables, true, 1, "no team is wrong");
	right(tables, true, 1 / 2.0, "a cache that the data of larger teams fit into");
	right(tables, true, 2, "teams that are larger than the machine");
	wrong(tables, false, 1 / 3.0, 0.97, 1);
	wrong(tables, false, 2, 0.97, 1);
	right(2 * tables, false, 1, "no size is wrong");
	right(tables, false, 3, "sizes that are larger than a cache");
	return tap_done();
}
