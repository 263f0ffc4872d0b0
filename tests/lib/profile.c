/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program's queries of a profile. */
#include <math.h>
#include <omp.h>

#include "base/rng.h"
#include "tests/lib/profile_made.h"
#include "tests/tap.h"

/* The binary interface: what programs are compiled with. */
#ifdef __LP64__
_Static_assert(sizeof(struct sweetspot_value) == 24, "a value is part of the interface");
_Static_assert(offsetof(struct sweetspot_value, number) == 8 && offsetof(struct sweetspot_value, word) == 16,
               "its members");
_Static_assert(sizeof(struct sweetspot_match) == 56, "a match is part of the interface");
_Static_assert(offsetof(struct sweetspot_match, predicted) == 8 && offsetof(struct sweetspot_match, measured) == 16 &&
                   offsetof(struct sweetspot_match, speedup) == 24 &&
                   offsetof(struct sweetspot_match, distance) == 32 && offsetof(struct sweetspot_match, unit) == 40 &&
                   offsetof(struct sweetspot_match, objective) == 48,
               "its members");
#endif
_Static_assert(SWEETSPOT_NONE == 0 && SWEETSPOT_EXACT == 1 && SWEETSPOT_INTERPOLATED == 2 && SWEETSPOT_NEAREST == 3 &&
                   SWEETSPOT_STALE == 4 && SWEETSPOT_FOREIGN == 5 && SWEETSPOT_ANYWAY == 1 && SWEETSPOT_MESSAGE == 512,
               "the numbers are part of the interface");

#define FW_100                                                                                                         \
	MADE_ENTRY(                                                                                                        \
		"fw", "\"n\":100,\"graph\":\"dense\"",                                                                         \
		"\"threads\":2,\"block\":32,\"ratio\":0.5,\"variant\":\"tiled\",\"pin\":true,\"large\":9007199254740993",      \
		"\"OMP_NUM_THREADS\":\"3\",\"OMP_SCHEDULE\":\"guided,7\",\"OMP_DYNAMIC\":\"false\","                           \
		"\"OMP_PLACES\":\"no such\"",                                                                                  \
		"0.25", "current")
#define FW_10000  MADE_ENTRY("fw", "\"n\":10000,\"graph\":\"dense\"", "\"block\":64", "", "9", "current")
#define OLD_5     MADE_ENTRY("old", "\"n\":5", "\"block\":8", "\"OMP_NUM_THREADS\":\"2\"", "1", "stale")
#define GOL_64    MADE_ENTRY("gol", "\"n\":64,\"rule\":\"b3\"", "\"block\":1", "", "0.5", "current")
#define GOL_65536 MADE_ENTRY("gol", "\"n\":65536,\"rule\":\"b3\"", "\"block\":9", "", "0.5", "current")
#define GOL_150   MADE_ENTRY("gol", "\"n\":150,\"rule\":\"b3\"", "\"block\":2", "", "0.5", "current")
#define GOL_1000  MADE_ENTRY("gol", "\"n\":1000,\"rule\":\"b3\"", "\"block\":3", "", "0.5", "current")
#define GOL_SIZES                                                                                                      \
	"{\"kernel\":\"gol\",\"over\":\"n\",\"objective\":\"time\",\"unit\":\"s\",\"problem\":{\"rule\":\"b3\"},"          \
	"\"thresholds\":[{\"from\":64,\"to\":200,\"config\":{\"block\":2},\"environment\":{}},"                            \
	"{\"from\":400,\"to\":4096,\"config\":{\"block\":3},\"environment\":{}}],"                                         \
	"\"laws\":[{\"pieces\":[{\"from\":64,\"to\":512,\"overhead\":1,\"factor\":2,\"exponent\":2},"                      \
	"{\"from\":512,\"to\":4096,\"overhead\":0,\"factor\":1,\"exponent\":3}]}]}"
#define LONE_SIZES                                                                                                     \
	"{\"kernel\":\"lone\",\"over\":\"n\",\"problem\":{},\"laws\":[],"                                                  \
	"\"thresholds\":[{\"from\":8,\"to\":16,\"config\":{\"block\":5},\"environment\":{}}]}"

/* Macros without arguments stand for the entries, because clang-format stacks calls between string literals. */
static const char text[] = MADE_HEAD("sweetspot-profile/1", "2025-01-31T12:00:00Z", MADE_MACHINE) FW_100
	"," FW_10000 "," OLD_5 "," GOL_64 "," GOL_150 "," GOL_1000 "," GOL_65536 "],\"sizes\":[" GOL_SIZES "," LONE_SIZES
	"]}";

static struct sweetspot_profile *made(const char *json) {
	char why[SWEETSPOT_MESSAGE] = "";
	struct ssp_message message = {why, sizeof why};
	struct sweetspot_profile *profile = ssp_parse(json, strlen(json), &message);
	if (!profile)
		printf("# %s\n", why);
	return profile;
}

static const sweetspot_config *find(const sweetspot_profile *profile, const char *kernel, double n, const char *name,
                                    const char *word, struct sweetspot_match *match) {
	struct sweetspot_value problem[] = {{"n", n, NULL}, {name, 0, word}};
	return sweetspot_lookup(profile, kernel, NULL, problem, name ? 2 : 1, match);
}

static void check_exact(const sweetspot_profile *profile) {
	struct sweetspot_match match;
	const sweetspot_config *config = find(profile, "fw", 100, "graph", "dense", &match);
	ok(config && match.status == SWEETSPOT_EXACT && match.fit == SWEETSPOT_EXACT && match.distance == 0, "exact");
	ok(match.predicted == 0.25 && match.measured == 0.25 && match.speedup == 2.5,
	   "an exact match has the measured values");
	is_text(match.unit, "s", "an exact match has its unit");
	is_text(match.objective, "time", "an exact match has its objective");
	ok(find(profile, "fw", 100, NULL, NULL, &match) == config && match.status == SWEETSPOT_EXACT,
	   "less said, same answer");
	ok(sweetspot_lookup(profile, "fw", "time", NULL, 0, NULL) != NULL, "a lookup needs neither a problem nor a match");
	ok(!find(profile, "fw", 100, "graph", "sparse", &match) && match.status == SWEETSPOT_NONE,
	   "another word does not match");
	ok(!find(profile, "fw", 100, "other", "dense", &match), "a name that the entry lacks does not match");
	ok(!find(profile, "nosuch", 100, NULL, NULL, &match) && isnan(match.predicted), "another kernel does not match");
	ok(!sweetspot_lookup(profile, "fw", "energy", NULL, 0, &match), "another objective does not match");
	ok(!find(profile, "fw", NAN, NULL, NULL, &match), "a number that is not known does not match");
	config = find(profile, "old", 5, NULL, NULL, &match);
	ok(config && match.status == SWEETSPOT_STALE && match.fit == SWEETSPOT_EXACT, "stale, if exact");
}

static void check_types(const sweetspot_profile *profile) {
	const sweetspot_config *config = find(profile, "fw", 100, NULL, NULL, NULL);
	struct sweetspot_value setting;
	size_t count = 0;
	ok(sweetspot_int(config, "block", -1) == 32 && sweetspot_real(config, "block", -1) == 32, "a whole number");
	ok(sweetspot_real(config, "ratio", -1) == 0.5 && sweetspot_int(config, "ratio", -1) == -1,
	   "a real is not an integer");
	ok(sweetspot_int(config, "large", -1) == 9007199254740993, "an integer that no double holds");
	is_text(sweetspot_word(config, "variant", "x"), "tiled", "a word");
	is_text(sweetspot_word(config, "block", "x"), "x", "a number is not a word");
	ok(sweetspot_int(config, "variant", 7) == 7 && isnan(sweetspot_real(config, "nosuch", NAN)), "defaults");
	ok(sweetspot_int(config, "pin", 7) == 1, "a boolean is 0 or 1");
	is_text(sweetspot_word(config, "pin", "x"), "true", "a boolean is also a word");
	while (sweetspot_setting(config, count, &setting)) {
		count++;
		bool same = setting.word ? strcmp(sweetspot_word(config, setting.name, ""), setting.word) == 0
		                         : sweetspot_real(config, setting.name, NAN) == setting.number;
		ok(same, "setting %s is what asking for it gives", setting.name);
	}
	ok(count == 6, "all settings are listed");
}

static void check_nothing(void) {
	struct sweetspot_match match;
	struct sweetspot_value setting, many[65] = {{"n", 1, NULL}};
	char why[SWEETSPOT_MESSAGE];
	sweetspot_close(NULL);
	ok(!sweetspot_lookup(NULL, "fw", NULL, NULL, 0, &match) && match.status == SWEETSPOT_NONE, "no profile, no match");
	ok(sweetspot_int(NULL, "x", 5) == 5 && sweetspot_real(NULL, "x", 5) == 5, "no configuration, the default");
	is_text(sweetspot_word(NULL, "x", "y"), "y", "no configuration gives the default of a word");
	ok(!sweetspot_setting(NULL, 0, &setting) && !sweetspot_kernel(NULL, 0) && !sweetspot_about(NULL, "path"),
	   "nothing to list");
	ok(sweetspot_apply(NULL, 0, why, sizeof why) == -1 && *why, "nothing to apply, and why");
	ok(!sweetspot_lookup(NULL, "fw", NULL, many, 65, &match), "too many members");
	is_text(sweetspot_status_word(SWEETSPOT_FOREIGN), "foreign", "a status in words");
	is_text(sweetspot_status_word(99), "unknown", "an unknown status is called so");
}

static void check_sizes(const sweetspot_profile *profile) {
	struct sweetspot_match match;
	struct rng rng;
	bool right = true;
	rng_seed(&rng, 3);
	for (int i = 0; i < 2000; i++) {
		double n = 65 + (double)rng_below(&rng, 4032);
		if (n == 150 || n == 1000) /* tuned */
			continue;
		double law = n <= 512 ? 1 + 2 * n * n : n * n * n;
		const sweetspot_config *config = find(profile, "gol", n, "rule", "b3", &match);
		long long block = n <= 200 || (n < 400 && n / 200 <= 400 / n) ? 2 : 3;
		right = right && match.status == SWEETSPOT_INTERPOLATED && sweetspot_int(config, "block", 0) == block &&
		        fabs(match.predicted / law - 1) < 1e-12 && match.distance == 0 && isnan(match.measured);
	}
	ok(right, "within the sizes: the configuration of the range, the cost of the law");
	const sweetspot_config *config = find(profile, "gol", 64, "rule", "b3", &match);
	ok(match.status == SWEETSPOT_EXACT && sweetspot_int(config, "block", 0) == 1,
	   "an individually tuned problem comes first");
	config = find(profile, "gol", 8192, "rule", "b3", &match);
	ok(match.status == SWEETSPOT_NEAREST && sweetspot_int(config, "block", 0) == 3 && isnan(match.predicted) &&
	       fabs(match.distance - log(2)) < 1e-12,
	   "above all sizes: the last range, and no prediction");
	config = find(profile, "gol", 50000, "rule", "b3", &match);
	ok(match.status == SWEETSPOT_NEAREST && sweetspot_int(config, "block", 0) == 9,
	   "an individually tuned problem that is nearer comes before the last range");
	config = find(profile, "gol", 32, NULL, NULL, &match);
	ok(match.status == SWEETSPOT_NEAREST && sweetspot_int(config, "block", 0) == 1,
	   "below: the problem tuned at their end");
	ok(!find(profile, "gol", 100, "rule", "b36", &match), "another rule does not have sizes");
	config = find(profile, "lone", 4, NULL, NULL, &match);
	ok(match.status == SWEETSPOT_NEAREST && sweetspot_int(config, "block", 0) == 5 && isnan(match.predicted) &&
	       fabs(match.distance - log(2)) < 1e-12,
	   "below all sizes: the first range, without a law no prediction");
	config = find(profile, "lone", 12, NULL, NULL, &match);
	ok(match.status == SWEETSPOT_INTERPOLATED && isnan(match.predicted),
	   "a size within ranges without a law has no prediction");
}

#define VERDICT(n, config, verdict)                                                                                    \
	"{\"kernel\":\"v\",\"unit\":\"s\",\"problem\":{\"n\":" n "},\"config\":{\"block\":" config                         \
	"},\"environment\":{},\"median\":1,\"state\":\"current\",\"verdict\":\"" verdict "\"}"
#define RANGE(from, to, config) "{\"from\":" from ",\"to\":" to ",\"config\":{\"block\":" config "},\"environment\":{}}"

/* Pairs of a size and the block that is found there, 0 for nothing. */
static void check_use(const char *json, const char *label, const int (*expected)[2]) {
	sweetspot_profile *profile = made(json);
	struct sweetspot_match match;
	bool right = profile;
	for (; right && (*expected)[0]; expected++) {
		const sweetspot_config *config = find(profile, "v", (*expected)[0], NULL, NULL, &match);
		bool good = sweetspot_int(config, "block", 0) == (*expected)[1] && !config == !match.status;
		if (!good)
			printf("# n %d: %lld, %s\n", (*expected)[0], sweetspot_int(config, "block", 0),
			       sweetspot_status_word(match.status));
		right = right && good;
	}
	ok(right, "%s", label);
	sweetspot_close(profile);
}

#define V_FASTER_10   VERDICT("10", "1", "faster")
#define V_TIE_40      VERDICT("40", "2", "tie")
#define V_TIE_100     VERDICT("100", "2", "tie")
#define V_FASTER_500  VERDICT("500", "3", "faster")
#define V_OPEN_1000   VERDICT("1000", "3", "undecided")
#define V_OTHER_3000  VERDICT("3000", "6", "faster, but not the same work")
#define V_FAILS_5000  VERDICT("5000", "4", "no baseline")
#define V_TIE_9000    VERDICT("9000", "5", "tie")
#define V_RANGE_10    RANGE("10", "20", "1")
#define V_RANGE_21    RANGE("21", "200", "2")
#define V_RANGE_201   RANGE("201", "2000", "3")
#define V_RANGE_2001  RANGE("2001", "9000", "4")
#define V_SIZES_BEGIN "{\"kernel\":\"v\",\"over\":\"n\",\"problem\":{},\"laws\":[],\"thresholds\":["

static const char proven[] =
	MADE_HEAD("sweetspot-profile/1", "x", MADE_MACHINE) V_FASTER_10 "," V_TIE_100 "," V_OPEN_1000 "," V_OTHER_3000 "]}";
static const char ranges[] = MADE_HEAD("sweetspot-profile/1", "x", MADE_MACHINE) V_FASTER_10
	"," V_TIE_40 "," V_TIE_100 "," V_FASTER_500 "," V_OPEN_1000 "," V_FAILS_5000 "," V_TIE_9000
	"],\"sizes\":[" V_SIZES_BEGIN V_RANGE_10 "," V_RANGE_21 "," V_RANGE_201 "," V_RANGE_2001 "]}]}";

static const char open_there[] = MADE_HEAD("sweetspot-profile/1", "x", MADE_MACHINE) V_OPEN_1000 "," V_FASTER_10 "]}";

static void check_proven(void) {
	static const int alone[][2] = {{10, 1}, {12, 1}, {100, 0}, {90, 0}, {1000, 0}, {2000, 0}, {3000, 0}, {0, 0}};
	static const int between[][2] = {{10, 1},   {15, 1},   {40, 0},   {60, 0},   {100, 0},  {150, 0}, {500, 3},
	                                 {3000, 4}, {5000, 4}, {7000, 4}, {9000, 0}, {1000, 0}, {0, 0}};
	static const int there[][2] = {{10, 1}, {900, 1}, {1000, 0}, {2000, 1}, {0, 0}};
	check_use(proven, "a tie gives nothing, there and nearby, and what is undecided or other work is passed over",
	          alone);
	check_use(open_there, "what is proven of one size is not used at another one that was tuned and is undecided",
	          there);
	check_use(ranges, "a range is as proven as the sizes that were tuned in it", between);
}

/* Against the definition, on problems of two numbers. */
static void check_nearest(void) {
	enum { ENTRIES = 40 };
	double n[ENTRIES], m[ENTRIES];
	struct rng rng;
	struct sweetspot_match match;
	rng_seed(&rng, 5);
	json_t *json = json_loads(MADE_HEAD("sweetspot-profile/1", "x", MADE_MACHINE) "]}", 0, NULL);
	for (int i = 0; i < ENTRIES; i++) {
		n[i] = 1 + (double)rng_below(&rng, 100000);
		m[i] = 1 + (double)rng_below(&rng, 1000);
		json_array_append_new(json_object_get(json, "entries"),
		                      json_pack("{s:s,s:{s:f,s:f},s:{s:i},s:{},s:f,s:s}", "kernel", "k", "problem", "n", n[i],
		                                "m", m[i], "config", "i", i, "environment", "median", 1.0, "state", "current"));
	}
	char *dump = json_dumps(json, 0);
	sweetspot_profile *profile = made(dump);
	int wrong = 0;
	for (int round = 0; round < 1000; round++) {
		struct sweetspot_value asked[] = {{"m", 1 + (double)rng_below(&rng, 1000), NULL},
		                                  {"n", 0.5 + (double)rng_below(&rng, 100000), NULL}};
		double least = INFINITY;
		const sweetspot_config *config = sweetspot_lookup(profile, "k", NULL, asked, 2, &match);
		long long i = sweetspot_int(config, "i", 0);
		for (int k = 0; k < ENTRIES; k++)
			least = fmin(least, hypot(log(m[k] / asked[0].number), log(n[k] / asked[1].number)));
		double got = hypot(log(m[i] / asked[0].number), log(n[i] / asked[1].number));
		wrong += match.status != SWEETSPOT_NEAREST || fabs(got - least) > 1e-9 || fabs(match.distance - least) > 1e-9;
	}
	ok(wrong == 0, "the nearest is the nearest in logarithms");
	sweetspot_close(profile);
	free(dump);
	json_decref(json);
}

static void check_foreign(void) {
	struct sweetspot_match match;
	char why[SWEETSPOT_MESSAGE];
	sweetspot_profile *profile = made(text);
	ssp_foreign_set(profile, "made so");
	find(profile, "fw", 100, NULL, NULL, &match);
	ok(match.status == SWEETSPOT_FOREIGN && match.fit == SWEETSPOT_EXACT, "foreign, if exact");
	find(profile, "gol", 100, NULL, NULL, &match);
	ok(match.status == SWEETSPOT_FOREIGN && match.fit == SWEETSPOT_INTERPOLATED, "a match of sizes is foreign, too");
	const sweetspot_config *config = find(profile, "old", 5, NULL, NULL, &match);
	ok(match.status == SWEETSPOT_FOREIGN, "more than stale");
	ok(sweetspot_apply(config, 0, why, sizeof why) == -1 && strstr(why, "machine"),
	   "a foreign configuration is not applied: %s", why);
	is_text(sweetspot_about(profile, "foreign"), "made so", "a foreign profile says why");
	sweetspot_close(profile);
}

static void check_apply(const sweetspot_profile *profile) {
	char why[SWEETSPOT_MESSAGE];
	omp_sched_t kind;
	int chunk, team = 0;
	unsetenv("OMP_PLACES");
	omp_set_dynamic(1);
	int set = sweetspot_apply(find(profile, "fw", 100, NULL, NULL, NULL), 0, why, sizeof why);
	omp_get_schedule(&kind, &chunk);
	ok(set == 3 && omp_get_max_threads() == 3, "threads");
	ok(kind == omp_sched_guided && chunk == 7, "the schedule");
	ok(!omp_get_dynamic(), "no smaller team");
#pragma omp parallel
#pragma omp single
	team = omp_get_num_threads();
	ok(team == 3, "the team shows it");
	ok(strstr(why, "OMP_PLACES=no such") != NULL, "a setting that cannot be applied is reported: %s", why);
	const sweetspot_config *stale = find(profile, "old", 5, NULL, NULL, NULL);
	ok(sweetspot_apply(stale, 0, why, sizeof why) == -1 && omp_get_max_threads() == 3 && strstr(why, "changed"),
	   "a stale configuration is refused");
	ok(sweetspot_apply(stale, SWEETSPOT_ANYWAY, NULL, 0) == 1 && omp_get_max_threads() == 2,
	   "a stale configuration is applied where it is asked for");
}

static void check_about(const sweetspot_profile *profile) {
	is_text(sweetspot_about(profile, "fingerprint"), "sha256:12", "fingerprint");
	is_text(sweetspot_about(profile, "compiler"), "cc 1", "compiler");
	is_text(sweetspot_about(profile, "cpu"), "Made", "processor");
	ok(!sweetspot_about(profile, "cflags") && !sweetspot_about(profile, "nosuch"), "an unknown fact");
	is_text(sweetspot_kernel(profile, 0), "fw", "the first kernel");
	is_text(sweetspot_kernel(profile, 2), "gol", "the third, each one once");
	is_text(sweetspot_kernel(profile, 3), "lone", "one of which there are only sizes");
	ok(!sweetspot_kernel(profile, 4), "no kernel is listed twice");
}

int main(void) {
	sweetspot_profile *profile = made(text);
	if (!ok(profile != NULL, "a profile is read"))
		return tap_done();
	check_about(profile);
	check_exact(profile);
	check_types(profile);
	check_nothing();
	check_sizes(profile);
	check_proven();
	check_nearest();
	check_foreign();
	check_apply(profile);
	sweetspot_close(profile);
	return tap_done();
}
