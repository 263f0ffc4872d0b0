/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the conclusions from measurements of doc/experiments.md: two processors, one NUMA node. */
#include "tests/tuner/diagnosis/made.h"
#include "tests/tap.h"

enum { PARTS = 5 };

struct measured {
	const char *words[PARTS]; /* in the order of the names */
	double seconds, iterations;
};

static bool is_number(const char *word) {
	return word[strspn(word, "0123456789")] == '\0';
}

/* names: those of the problem come first. */
static json_t *findings_of(const struct measured *rows, size_t count, const char *const *names, int problems) {
	struct made *made = made_new(1, 2, 2);
	made->noise = 0;
	for (size_t i = 0; i < count; i++) {
		json_t *part[2] = {json_object(), json_object()}, *detail = NULL;
		for (int n = 0; n < PARTS && names[n]; n++)
			json_object_set_new(part[n >= problems], names[n],
			                    is_number(rows[i].words[n]) ? json_integer(atoi(rows[i].words[n]))
			                                                : json_string(rows[i].words[n]));
		if (rows[i].iterations > 0)
			detail = json_pack("{s:[{s:s,s:f,s:s}]}", "figures", "name", "iterations", "value", rows[i].iterations,
			                   "unit", "");
		made_add(made, part[0], part[1], rows[i].seconds, detail);
	}
	made->noise = 0.05;
	json_t *findings = made_findings(made);
	made_free(made);
	size_t i;
	json_t *one;
	json_array_foreach(findings, i, one) printf("# %s %s: %s\n", js_string_or(one, "confidence", ""),
	                                            js_string_or(one, "name", ""), js_string_or(one, "sentence", ""));
	return findings;
}

static const struct measured locks[] = {
	{{"none", "1"}, 3.22e-05, 0},     {{"none", "2"}, 0.000153, 0},    {{"none", "4"}, 0.000349, 0},
	{{"mutex", "1"}, 0.000209, 0},    {{"mutex", "2"}, 0.000713, 0},   {{"mutex", "4"}, 0.000931, 0},
	{{"spin", "1"}, 0.000139, 0},     {{"spin", "2"}, 0.000626, 0},    {{"spin", "4"}, 0.00802, 0},
	{{"tas", "1"}, 4.98e-05, 0},      {{"tas", "2"}, 0.000392, 0},     {{"tas", "4"}, 0.000482, 0},
	{{"ttas", "1"}, 5.83e-05, 0},     {{"ttas", "2"}, 0.00045, 0},     {{"ttas", "4"}, 0.000527, 0},
	{{"backoff", "1"}, 5.91e-05, 0},  {{"backoff", "2"}, 0.000175, 0}, {{"backoff", "4"}, 0.000361, 0},
	{{"ticket", "1"}, 5.81e-05, 0},   {{"ticket", "2"}, 0.000841, 0},  {{"ticket", "4"}, 0.0486, 0},
	{{"array", "1"}, 0.000128, 0},    {{"array", "2"}, 0.00194, 0},    {{"array", "4"}, 0.0454, 0},
	{{"clh", "1"}, 6.01e-05, 0},      {{"clh", "2"}, 0.00179, 0},      {{"clh", "4"}, 0.0442, 0},
	{{"mcs", "1"}, 9.49e-05, 0},      {{"mcs", "2"}, 0.00178, 0},      {{"mcs", "4"}, 0.0419, 0},
	{{"critical", "1"}, 0.000146, 0}, {{"critical", "2"}, 0.00112, 0}, {{"critical", "4"}, 0.00108, 0},
	{{"omp", "1"}, 0.000146, 0},      {{"omp", "2"}, 0.00119, 0},      {{"omp", "4"}, 0.00115, 0},
	{{"futex", "1"}, 0.000126, 0},    {{"futex", "2"}, 0.00125, 0},    {{"futex", "4"}, 0.00104, 0},
};

/* One of the values prevents it, in a table so small that confidence is low. */
static const struct measured pads[] = {
	{{"2", "none", "serial"}, 1.69, 0},  {{"2", "none", "parallel"}, 1.67, 0},  {{"2", "none", "objects"}, 1.48, 0},
	{{"2", "line", "serial"}, 0.275, 0}, {{"2", "line", "parallel"}, 0.259, 0}, {{"2", "line", "objects"}, 0.26, 0},
};

static const struct measured borders[] = {
	{{"rows", "branches"}, 0.151, 0},
	{{"rows", "halo"}, 0.118, 0},
	{{"collapse", "branches"}, 0.212, 0},
	{{"collapse", "halo"}, 0.183, 0},
};

static const struct measured iterations[] = {
	{{"kmer", "rows"}, 0.117, 369},  {{"kmer", "jump"}, 0.00566, 7},  {{"kmer", "afforest"}, 0.004, 3},
	{{"rgg", "rows"}, 0.0273, 20},   {{"rgg", "jump"}, 0.00476, 3},   {{"rgg", "afforest"}, 0.002, 3},
	{{"queen", "rows"}, 0.00503, 3}, {{"queen", "jump"}, 0.00351, 2}, {{"queen", "afforest"}, 0.0016, 3},
	{{"rmat", "rows"}, 0.0104, 4},   {{"rmat", "jump"}, 0.0122, 3},   {{"rmat", "afforest"}, 0.00441, 3},
};

static const struct measured lists[] = {
	{{"1024", "coarse", "1"}, 0.00325, 0},      {{"1024", "coarse", "2"}, 0.00353, 0},
	{{"1024", "fine", "1"}, 0.00635, 0},        {{"1024", "fine", "2"}, 0.00711, 0},
	{{"1024", "optimistic", "1"}, 0.00719, 0},  {{"1024", "optimistic", "2"}, 0.00386, 0},
	{{"1024", "lazy", "1"}, 0.00327, 0},        {{"1024", "lazy", "2"}, 0.00173, 0},
	{{"1024", "nonblocking", "1"}, 0.00323, 0}, {{"1024", "nonblocking", "2"}, 0.00168, 0},
	{{"8192", "coarse", "1"}, 0.0694, 0},       {{"8192", "coarse", "2"}, 0.0696, 0},
	{{"8192", "fine", "1"}, 0.0862, 0},         {{"8192", "fine", "2"}, 0.0548, 0},
	{{"8192", "optimistic", "1"}, 0.17, 0},     {{"8192", "optimistic", "2"}, 0.0829, 0},
	{{"8192", "lazy", "1"}, 0.0678, 0},         {{"8192", "lazy", "2"}, 0.0417, 0},
	{{"8192", "nonblocking", "1"}, 0.0729, 0},  {{"8192", "nonblocking", "2"}, 0.0339, 0},
};

#define FINDINGS(rows, problems, ...)                                                                                  \
	findings_of(rows, sizeof(rows) / sizeof *(rows), (const char *const[]){__VA_ARGS__, NULL}, problems)

static void test_locks(void) {
	static const char *const fair[] = {"ticket", "array", "clh", "mcs"}, *const unfair[] = {"tas", "ttas", "critical",
	                                                                                        "futex"};
	json_t *findings = FINDINGS(locks, 0, "lock", "threads");
	for (int i = 0; i < 4; i++) {
		ok(made_count(findings, "lock_holder_preemption", "lock", fair[i]) == 1, "%s waits for owners that do not run",
		   fair[i]);
		ok(made_count(findings, "lock_holder_preemption", "lock", unfair[i]) == 0, "%s does not", unfair[i]);
	}
	ok(made_count(findings, "lock_convoy", NULL, NULL) == 0, "two processors do not show how locks scale");
	json_decref(findings);
}

static void test_rest(void) {
	json_t *findings = FINDINGS(pads, 0, "threads", "pad", "first_touch");
	ok(made_count(findings, "false_sharing", "pad", "none") == 1, "sums without padding share lines");
	ok(made_count(findings, "numa_first_touch", NULL, NULL) == 0, "one node: no first touch");
	json_decref(findings);

	findings = FINDINGS(borders, 0, "variant", "border");
	ok(made_count(findings, "scheduling_overhead", "variant", "collapse") == 1, "collapse hurts");
	json_decref(findings);

	findings = FINDINGS(iterations, 1, "graph", "variant");
	ok(made_count(findings, "iteration_count", "graph", "kmer") == 1, "a chain needs many iterations by rows");
	json_decref(findings);

	findings = FINDINGS(lists, 1, "n", "variant", "threads");
	ok(made_count(findings, "inner_teams", NULL, NULL) == 0,
	   "a lock around everything is not mistaken for a team of one");
	ok(made_count(findings, "oversubscription", NULL, NULL) == 0,
	   "a team of as many threads as processors is not too large");
	json_decref(findings);
}

int main(void) {
	test_locks();
	test_rest();
	return tap_done();
}
