/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the size of a report's, 5 to 40 rows with one value each, in which nothing has an effect: neither a
 * diagnosis nor a reading may say anything in 95 of 100. And tables with effects whose rows were shuffled. */
#include "tests/tuner/diagnosis/made.h"
#include "tests/tap.h"
#include "tuner/reading/reading.h"

enum { TABLES = 100 };

struct layout {
	const char *name;
	int sizes, words, locks, threads, blocks; /* the number of values of each; 0: no such column */
};
static const struct layout layouts[] = {
	{"threads", 0, 0, 0, 7, 0},
	{"versions", 0, 5, 0, 0, 0},
	{"locks", 0, 0, 7, 0, 0},
	{"sizes and threads", 3, 0, 0, 5, 0},
	{"words and threads", 0, 4, 0, 6, 0},
	{"locks and threads", 0, 0, 5, 6, 0},
	{"sizes, words, threads", 3, 3, 0, 4, 0},
	{"words and blocks", 0, 4, 0, 0, 6},
	{"sizes and words", 4, 4, 0, 0, 0},
	{"sizes", 5, 0, 0, 0, 0},
	{"blocks", 0, 0, 0, 0, 8},
	{"threads and blocks", 0, 0, 0, 4, 5},
	{"two words", 0, 2, 0, 4, 0},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };
static const char *const words[] = {"serial", "recursive", "shared", "padded", "unpadded", "tiled"};
static const char *const locks[] = {"clh", "array", "mutex", "spin", "ttas", "critical", "tas"};

static int at_least_one(int count) {
	return count ? count : 1;
}

static void row_add(struct made *made, const struct layout *layout, int n, int w, int l, int t, int b, double time) {
	json_t *problem = json_object(), *config = json_object();
	if (layout->sizes)
		json_object_set_new(problem, "n", json_integer(256 << n));
	if (layout->words)
		json_object_set_new(config, "variant", json_string(words[w]));
	if (layout->locks)
		json_object_set_new(config, "lock", json_string(locks[l]));
	if (layout->threads)
		json_object_set_new(config, "threads", json_integer(1 << t));
	if (layout->blocks)
		json_object_set_new(config, "block", json_integer(16 << b));
	made_add(made, problem, config, time, NULL);
}

static struct made *made_of(const struct layout *layout, uint64_t seed, double noise, bool effects) {
	struct made *made = made_new(seed, 32, 64);
	double rate = made_between(made, 0.3, 0.9), best = made_between(made, 1, 3);
	made->nodes = 4;
	made->noise = noise;
	for (int n = 0; n < at_least_one(layout->sizes); n++)
		for (int w = 0; w < at_least_one(layout->words); w++)
			for (int l = 0; l < at_least_one(layout->locks); l++)
				for (int t = 0; t < at_least_one(layout->threads); t++)
					for (int b = 0; b < at_least_one(layout->blocks); b++)
						row_add(made, layout, n, w, l, t, b,
						        effects ? pow(8, n) * (1 + w) * (1 + l) * pow(2, -rate * t) * (1 + fabs(b - best)) : 1);
	made->noise = 0.05; /* as is assumed of a table with one value each */
	return made;
}

/* Prints the first statement of a kind of tables, to see what is mistaken. */
static size_t said(const struct made *made, bool print) {
	struct study *study = made_study(made);
	struct findings *findings = findings_new();
	impossible_times_doubt(study);
	findings_examine(findings, study);
	readings_examine(findings, study);
	json_t *json = findings_json(findings);
	size_t count = json_array_size(json);
	if (print && count)
		printf("# %s: %s\n", js_string_or(json_array_get(json, 0), "name", "?"),
		       js_string_or(json_array_get(json, 0), "sentence", "?"));
	json_decref(json);
	findings_free(findings);
	study_free(study);
	return count;
}

static int tables_said(const struct layout *layout, double noise) {
	int some = 0;
	for (uint64_t seed = 0; seed < TABLES; seed++) {
		struct made *made = made_of(layout, seed, noise, false);
		some += said(made, some == 0) > 0;
		made_free(made);
	}
	return some;
}

int main(void) {
	static const double noises[] = {0.01, 0.05, 0.1};
	int all = 0, tables = 0;
	for (size_t i = 0; i < LAYOUTS; i++)
		for (size_t s = 0; s < sizeof noises / sizeof *noises; s++) {
			int some = tables_said(&layouts[i], noises[s]);
			ok(some * 20 <= TABLES, "%s, values off by %.0f %%: something is said of %d in %d tables without an effect",
			   layouts[i].name, 100 * noises[s], some, TABLES);
			all += some;
			tables += TABLES;
		}
	ok(all * 50 <= tables, "something is said of %d in all %d tables without an effect", all, tables);
	/* A test of the test: with an effect most tables speak. */
	for (size_t i = 0; i < LAYOUTS; i++) {
		int some = 0;
		for (uint64_t seed = 0; seed < 40; seed++) {
			struct made *made = made_of(&layouts[i], seed, 0.02, true);
			some += said(made, false) > 0;
			made_free(made);
		}
		ok(some >= 38, "%s with an effect: something is said of %d in 40", layouts[i].name, some);
	}
	return tap_done();
}
