/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves of one to three methods over teams, by Amdahl's law or the USL, off by 3 % each, with one time that is wrong
 * by a factor: it is suspect, and never recommended; without such a time nothing is suspect. SWEETSPOT_SEEDS=2000 makes
 * more tables of each kind than the usual 300. */
#include <stdlib.h>

#include "tests/tuner/diagnosis/made.h"
#include "tests/tap.h"

enum { TEAMS = 4, POINTS_MOST = 8, METHODS_MOST = 3 };
static const struct teams {
	size_t count;
	int threads[POINTS_MOST];
} teams[TEAMS] = {
	{5, {1, 2, 4, 8, 16}}, {6, {1, 2, 4, 8, 16, 32}}, {7, {1, 2, 3, 4, 6, 8, 12}}, {8, {1, 2, 4, 8, 16, 24, 32, 64}}};

static struct made *made_of(uint64_t seed, const struct teams *team, int methods) {
	static const char *const names[METHODS_MOST] = {"a", "b", "c"};
	struct made *made = made_new(seed, 64, 64);
	for (int m = 0; m < methods; m++) {
		double base = made_between(made, 1, 20), sigma = made_between(made, 0.005, 0.3);
		double kappa = seed % 2 ? made_between(made, 0, 0.003) : 0;
		for (size_t i = 0; i < team->count; i++) {
			int n = team->threads[i];
			made_add(made, json_object(), json_pack("{s:s,s:i}", "method", names[m], "threads", n),
			         base * (1 + sigma * (n - 1) + kappa * n * (n - 1)) / n, NULL);
		}
	}
	return made;
}

struct counts {
	int tables, named, recommended, others;
};

/* The times of one method at one team between others are those of the law times the factor, or those of all larger
 * teams as well: a cache that the data come to fit into, or more threads than processors. */
static struct counts count(int tables, double factor, bool lasts) {
	struct counts counts = {.tables = tables};
	for (uint64_t seed = 0; seed < (uint64_t)tables; seed++) {
		const struct teams *team = &teams[seed / 2 % TEAMS];
		int methods = 1 + (int)(seed / (2 * TEAMS) % METHODS_MOST);
		struct made *made = made_of(seed, team, methods);
		size_t least = lasts ? 2 : 1 /* a first time alone is as unlike the others as any */;
		size_t at = least + rng_below(&made->rng, team->count - 1 - least), points = lasts ? team->count - at : 1;
		struct made_row *first = &made->row[at + team->count * rng_below(&made->rng, (uint64_t)methods)];
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
static void wrong(int tables, double factor, const char *words, double least, double most) {
	struct counts counts = count(tables, factor, false);
	ok(counts.named >= least * tables, "a time %s is suspect in %d of %d tables", words, counts.named, tables);
	ok(counts.recommended <= most * tables, "a time %s is recommended in %d", words, counts.recommended);
	ok(counts.others <= 0.01 * tables, "beside a time %s %d others are suspect", words, counts.others);
}

static void right(int tables, double factor, const char *words) {
	struct counts counts = count(tables, factor, true);
	ok(counts.named + counts.others <= 0.01 * tables, "%s: %d times are suspect in %d tables", words,
	   counts.named + counts.others, tables);
}

int main(void) {
	const char *given = getenv("SWEETSPOT_SEEDS");
	int tables = given && atoi(given) > 0 ? atoi(given) : 300;
	wrong(tables, 1 / 3.0, "three times too short", 0.97, 0.001);
	wrong(tables, 1 / 2.0, "twice too short", 0.8, 0.1);
	wrong(tables, 3, "three times too long", 0.8, 0);
	right(2 * tables, 1, "no time is wrong");
	right(tables, 1 / 2.0, "a cache that the data of larger teams fit into");
	right(tables, 2, "teams that are larger than the machine");
	return tap_done();
}
