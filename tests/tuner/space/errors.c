/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the errors of spaces and their messages. */
#include <math.h>

#include "tests/tap.h"
#include "tests/tuner/space/help.h"

static struct space *small_space(void) {
	struct space *space = space_new();
	struct err err;
	add_param(space, "variant", "naive,tiled", NULL);
	add_param(space, "block", "16,32,64", "variant == 'tiled'");
	add_param(space, "threads", "1..8", NULL);
	must(space_add_constant(space, "size", value_int(100), &err), &err);
	return space;
}

/* Building must fail; `what` and `hint` are parts of the message. */
static void fails(struct space *space, const char *what, const char *hint) {
	struct err err = {0};
	int status = space_build(space, &err);
	ok(status != 0 && err.code == ERR_USAGE && strstr(err.what, what) && strstr(err.hint, hint), "%s", err.what);
	if (!strstr(err.what, what) || !strstr(err.hint, hint))
		printf("# hint %s\n", err.hint);
	space_free(space);
}

static void test_names(void) {
	struct space *space = small_space();
	add_constraint(space, "thread <= 4");
	fails(space, "'thread'", "'threads'");
	space = small_space();
	add_constraint(space, "block < siz");
	fails(space, "'siz'", "'size'");
	space = small_space();
	add_constraint(space, "variant == tiled");
	fails(space, "'tiled'", "quotes");
	space = small_space();
	add_param(space, "chunk", "1,2", "blok > 16");
	fails(space, "'chunk'", "'block'");
}

static void test_circles(void) {
	struct space *space = small_space();
	add_param(space, "a", "1,2", "b == 1");
	add_param(space, "b", "1,2", "c == 1");
	add_param(space, "c", "1,2", "a == 1");
	fails(space, "circular conditions: 'a', 'b', 'c'", "");
	space = small_space();
	add_param(space, "a", "1,2", "a == 1");
	fails(space, "circular conditions: 'a'", "");
}

static void test_empty(void) {
	static const char *const names[] = {"threads", "block"};
	static const int rows[] = {0, 1};
	struct err err;
	struct space *space = small_space();
	add_constraint(space, "threads >= 2");
	add_constraint(space, "threads > size");
	add_constraint(space, "threads % 2 == 0");
	fails(space, "nothing meets 'threads > size'", "drop");
	space = small_space();
	add_constraint(space, "threads % 2 == 0");
	add_constraint(space, "threads >= 2");
	add_constraint(space, "threads % 2 == 1");
	fails(space, "'threads % 2 == 0' and 'threads % 2 == 1' together", "drop");
	space = small_space();
	add_constraint(space, "1 / 0 > 0");
	fails(space, "nothing meets '1 / 0 > 0'", "");
	space = small_space();
	must(space_add_table(space, names, 2, rows, 0, &err), &err);
	fails(space, "the table of threads, block", "");
	space = small_space();
	must(space_add_table(space, names, 2, rows, 1, &err), &err);
	add_constraint(space, "threads > 1");
	add_constraint(space, "threads < 8");
	fails(space, "'threads > 1' and 'the table of threads, block'", "");
}

static void test_tables(void) {
	static const char *const unknown[] = {"threads", "blocks"}, *const twice[] = {"threads", "threads"},
							 *const good[] = {"threads", "block"};
	static const int past[] = {8, 0}, below[] = {0, -2}, absent[] = {-1, 0};
	const struct {
		const char *const *names;
		const int *row;
		const char *what;
	} cases[] = {{unknown, past, "'blocks'"},
	             {twice, below + 1, "twice"},
	             {good, past, "value number 8 of 'threads'"},
	             {good, below, "value number -2 of 'block'"},
	             {good, absent, "'threads', which is not conditional"}};
	static const int fine[] = {0, 0};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct space *space = small_space();
		struct err err;
		const int *row = cases[i].names == twice || cases[i].names == unknown ? fine : cases[i].row;
		must(space_add_table(space, cases[i].names, 2, row, 1, &err), &err);
		fails(space, cases[i].what, "");
	}
}

static void test_adding(void) {
	const struct value one[] = {value_int(1)}, twice[] = {value_int(1), value_real(1.0)}, bad[] = {value_real(NAN)};
	struct space *space = small_space();
	struct err err;
	ok(space_add_param(space, "threads", "", one, 1, NULL, &err) && strstr(err.what, "taken"), "%s", err.what);
	ok(space_add_param(space, "size", "", one, 1, NULL, &err) && strstr(err.what, "taken"),
	   "a constant's name is taken");
	ok(space_add_param(space, "2x", "", one, 1, NULL, &err) && err.code == ERR_USAGE, "%s", err.what);
	ok(space_add_param(space, "", "", one, 1, NULL, &err) && err.code == ERR_USAGE, "%s", err.what);
	ok(space_add_param(space, "a b", "", one, 1, NULL, &err) && err.code == ERR_USAGE, "%s", err.what);
	ok(space_add_param(space, "x", "", one, 0, NULL, &err) && err.code == ERR_USAGE, "%s", err.what);
	ok(space_add_param(space, "x", "", twice, 2, NULL, &err) && strstr(err.what, "twice"), "%s", err.what);
	ok(space_add_param(space, "x", "", bad, 1, NULL, &err) && strstr(err.what, "finite"), "%s", err.what);
	ok(space_add_param(space, "x", "", one, 1, "a +", &err) && strstr(err.what, "'x'"), "%s", err.what);
	ok(space_add_constraint(space, "a +", &err) && err.code == ERR_USAGE, "%s", err.what);
	char name[16];
	for (int i = 0; i < SPACE_PARAMS_MAX - 3; i++) {
		snprintf(name, sizeof name, "q%d", i);
		add_param(space, name, "1", NULL);
	}
	ok(space_add_param(space, "x", "", one, 1, NULL, &err) && err.code == ERR_USAGE, "%s", err.what);
	built(space);
	ok(space_valid(space) == 32, "64 parameters are accepted: %llu", (unsigned long long)space_valid(space));
	ok(space_add_constraint(space, "threads > 2", &err) != 0, "a space that was built cannot be extended");
	ok(space_build(space, &err) != 0, "a space cannot be built twice");
	space_free(space);
}

/* A space that is too tangled to be counted is a list of valid configurations, and says so. */
static void test_tangled(void) {
	static const int weights[] = {524287, 131071, 65537, 104729, 99991, 7919, 611953, 350377};
	struct space *space = space_new();
	char name[16], *sum = mem_strdup("");
	int config[SPACE_PARAMS_MAX], valid = 0;
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof name, "p%d", i);
		add_param(space, name, "1..12", NULL);
		char *longer = mem_printf("%s%s%d * p%d", sum, i ? " + " : "", weights[i], i);
		free(sum);
		sum = longer;
	}
	mem_auto char *rule = mem_printf("(%s) %% 1000003 < 20000", sum);
	free(sum);
	add_constraint(space, rule);
	built(space);
	for (uint64_t index = 0; index < space_valid(space); index++) {
		long long total = 0;
		space_config(space, index, config);
		for (int i = 0; i < 8; i++)
			total += (long long)weights[i] * (config[i] + 1);
		valid += total % 1000003 < 20000;
	}
	double share = space_estimate(space) / space_cartesian(space);
	ok(valid > 1000 && (uint64_t)valid == space_valid(space), "all %d configurations that were drawn are valid", valid);
	ok(share > 0.015 && share < 0.025, "the estimate of a space that was drawn is near 2 %%: %.2f %%", 100 * share);
	space_free(space);
	space = built(small_space());
	ok(space_estimate(space) == 0, "a space that was counted is not estimated");
	space_free(space);
}

static void test_no_params(void) {
	struct space *space = built(space_new());
	uint64_t index = 7;
	ok(space_valid(space) == 1 && space_index(space, NULL, &index) && index == 0,
	   "no parameters: the empty configuration");
	ok(space_near(space, 0, SPACE_HAMMING, &index, 1) == 0, "the empty configuration does not have neighbours");
	space_free(space);
}

int main(void) {
	test_names();
	test_circles();
	test_empty();
	test_tables();
	test_adding();
	test_tangled();
	test_no_params();
	return tap_done();
}
