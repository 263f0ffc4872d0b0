/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `profile select` must show the part of the profile that libsweetspot gives to a program, whatever is asked. */
#include <math.h>

#include "lib/profile/profile_impl.h"
#include "base/json/js.h"
#include "tests/tuner/profile/made.h"
#include "tuner/profile/profile.h"

enum { ROUNDS = 3000 };

static sweetspot_profile *opened(const json_t *profile) {
	char why[SWEETSPOT_MESSAGE], *text = json_dumps(profile, JSON_COMPACT);
	const struct ssp_message message = {why, sizeof why};
	sweetspot_profile *open = ssp_parse(text, strlen(text), &message);
	if (!open)
		printf("# %s\n", why);
	free(text);
	return open;
}

static bool same_number(double a, double b) {
	return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= 1e-9 * fabs(a);
}

static bool same_config(const json_t *ours, const sweetspot_config *theirs) {
	return js_int_or(ours, "block", -1) == sweetspot_int(theirs, "block", -2) &&
	       strcmp(js_string_or(ours, "variant", ""), sweetspot_word(theirs, "variant", "?")) == 0;
}

static bool agree(const json_t *profile, const sweetspot_profile *open, const char *kernel, const char *objective,
                  double n, int *found) {
	struct sweetspot_value value = {"n", n, NULL};
	struct sweetspot_match match;
	struct profile_choice choice;
	struct err err = {0};
	json_t *problem = n > 0 ? json_pack("{s:f}", "n", n) : json_object();
	const sweetspot_config *theirs = sweetspot_lookup(open, kernel, objective, &value, n > 0, &match);
	bool ours = profile_select(profile, kernel, objective, problem, &choice, &err) == 0;
	json_decref(problem);
	if (!theirs || !ours)
		return !theirs == !ours && (ours || *err.hint);
	*found += 1;
	return same_config(choice.config, theirs) &&
	       strcmp(profile_fit_word(choice.fit), sweetspot_status_word(match.fit)) == 0 &&
	       same_number(choice.predicted, match.predicted) && same_number(choice.measured, match.measured) &&
	       same_number(choice.distance, match.distance) && strcmp(choice.objective, match.objective) == 0;
}

static void test_agreement(void) {
	static const char *const kernels[] = {"fw", "gol", "synthetic", "none"};
	static const char *const objectives[] = {NULL, "time", "energy", "edp"};
	struct rng rng;
	int wrong = -1, found = 0;
	rng_seed(&rng, 11);
	for (int round = 0; round < ROUNDS; round++) {
		json_t *profile = made_profile(&rng, "sha256:1");
		sweetspot_profile *open = opened(profile);
		double n = rng_below(&rng, 8) ? (double)(32 + rng_below(&rng, 800)) : 0;
		n = rng_below(&rng, 3) ? n : 64 << rng_below(&rng, 4);
		if (!open || !agree(profile, open, kernels[rng_below(&rng, 4)], objectives[rng_below(&rng, 4)], n, &found))
			wrong = round;
		sweetspot_close(open);
		json_decref(profile);
	}
	ok(wrong < 0 && found > ROUNDS / 10, "both find the same in %d of %d profiles", found, ROUNDS);
	if (wrong >= 0)
		printf("# not in round %d\n", wrong);
}

static void word_is(const json_t *profile, const char *kernel, const char *word, const char *want, const char *hint) {
	struct err err = {0};
	json_t *problem = json_object();
	int failed = profile_select_word(profile, kernel, word, problem, &err);
	char *text = js_canonical(problem);
	if (want)
		is_text(failed ? err.what : text, want, word);
	else
		ok(failed && err.code == ERR_USAGE && strstr(err.hint, hint), "%s: %s (%s)", word, err.what, err.hint);
	free(text);
	json_decref(problem);
}

static void test_words(void) {
	struct rng rng;
	rng_seed(&rng, 12);
	json_t *profile = made_profile(&rng, "sha256:1");
	json_object_del(profile, "sizes");
	json_t *entry = json_array_get(json_object_get(profile, "entries"), 0);
	json_object_set_new(entry, "kernel", json_string("mine"));
	json_object_set_new(entry, "problem", json_pack("{s:i,s:s,s:f}", "size", 8, "graph", "17", "rho", 0.5));
	word_is(profile, "mine", "size=9", "{\"size\":9}", NULL);
	word_is(profile, "mine", "rho=1e-3", "{\"rho\":0.001}", NULL);
	word_is(profile, "mine", "graph=12", "{\"graph\":\"12\"}", NULL);
	word_is(profile, "mine", "size=many", NULL, "number");
	word_is(profile, "mine", "sise=9", NULL, "size");
	word_is(profile, "mine", "size=", NULL, "NAME=VALUE");
	word_is(profile, "mine", "=9", NULL, "NAME=VALUE");
	json_decref(profile);
}

int main(void) {
	test_agreement();
	test_words();
	return tap_done();
}
