/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations with deliberate data races are recognised. */
#include "tests/tap.h"
#include "tuner/race/unsafe.h"

static bool holds(const char *text, const char *config) {
	json_t *json = json_loads(config, 0, NULL), *problem = json_pack("{s:i}", "n", 64);
	bool out = false;
	struct err err = {0};
	int failed = unsafe_holds(text, problem, json, &out, &err);
	json_decref(problem);
	json_decref(json);
	return !failed && out;
}

int main(void) {
	struct err err = {0};
	bool out;
	static const char text[] = "lock == 'none'; delta == 'shared' and n > 10";
	ok(!holds(NULL, "{}") && !holds("", "{}"), "a kernel without such variants is safe");
	ok(holds(text, "{\"lock\":\"none\",\"delta\":\"reduction\"}"), "one expression is enough");
	ok(!holds(text, "{\"lock\":\"tas\",\"delta\":\"reduction\"}"), "none holds");
	ok(holds(text, "{\"delta\":\"shared\"}"), "an expression with missing names does not hide the others");
	ok(holds(text, "{\"lock\":\"none\"}"), "an expression holds in either position");
	ok(!holds("n < 10", "{}"), "the problem counts as well");
	ok(unsafe_holds("lock ==", NULL, NULL, &out, &err) == -1 && *err.what, "a malformed expression is an error");
	return tap_done();
}
