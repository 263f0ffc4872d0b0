/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/run/slower.h"

#include <math.h>

#include "base/json/js.h"
#include "src/show/junit.h"

int slower_read(struct slower *slower, const struct opt_args *args, struct err *err) {
	*slower = (struct slower){.asked = opt_has(args, "fail-slower"),
	                          .strict = opt_has(args, "fail-undecided"),
	                          .junit = opt_get(args, "junit", NULL)};
	if (slower->asked)
		return opt_share(args, "fail-slower", &slower->limit, err);
	if (!slower->strict && !slower->junit)
		return 0;
	return err_set(err, ERR_USAGE, "give the tolerated slowdown: --fail-slower 3%", "--%s needs --fail-slower",
	               slower->strict ? "fail-undecided" : "junit");
}

void slower_judge(struct slower *slower, const struct duel_result *duel) {
	slower->failed = duel->failed[1] != TRIAL_CORRECT ? "b" : duel->failed[0] != TRIAL_CORRECT ? "a" : NULL;
	slower->ratio = 1 / duel->paired.ratio;
	slower->ci[0] = 1 / duel->paired.ci[1];
	slower->ci[1] = 1 / duel->paired.ci[0];
	slower->outcome =
		duel->paired.count ? regression_judge(slower->ci[0], slower->ci[1], slower->limit) : REGRESSION_UNDECIDED;
}

json_t *slower_json(const struct slower *slower) {
	return json_pack("{s:f,s:s,s:o,s:[o,o]}", "limit", slower->limit, "outcome",
	                 slower->failed ? "failed" : regression_word(slower->outcome), "ratio", js_number(slower->ratio),
	                 "ci", js_number(slower->ci[0]), js_number(slower->ci[1]));
}

static void describe(const struct slower *slower, char *text, size_t size) {
	static const char *const said[] = {"that is within", "undecided against", "slower than allowed by"};
	if (slower->failed)
		snprintf(text, size, "%s failed", slower->failed);
	else
		snprintf(text, size, "b takes %.4f [%.4f, %.4f] of a's time: %s the limit of %.4g %%", slower->ratio,
		         slower->ci[0], slower->ci[1], said[slower->outcome], slower->limit * 100);
}

static bool fails(const struct slower *slower) {
	return slower->failed || slower->outcome == REGRESSION_SLOWER ||
	       (slower->strict && slower->outcome == REGRESSION_UNDECIDED);
}

int slower_junit(const struct slower *slower, const char *const names[2], double seconds, struct err *err) {
	char text[256];
	if (!slower->junit)
		return 0;
	struct junit *junit = junit_new("sweetspot compare");
	describe(slower, text, sizeof text);
	enum junit_result result = fails(slower)                             ? JUNIT_FAILED
	                           : slower->outcome == REGRESSION_UNDECIDED ? JUNIT_SKIPPED
	                                                                     : JUNIT_PASSED;
	junit_add(junit, names[0], names[1], seconds, result, text);
	int failed = junit_write(junit, slower->junit, err);
	junit_free(junit);
	return failed;
}

int slower_verdict(const struct slower *slower, struct ui *ui, struct err *err) {
	char text[256];
	if (!slower->asked)
		return 0;
	describe(slower, text, sizeof text);
	if (fails(slower))
		return err_set(err, ERR_FAILED,
		               slower->failed                            ? "run it alone to see why"
		               : slower->outcome == REGRESSION_UNDECIDED ? "more pairs may decide it: --max-pairs 401"
		                                                         : NULL,
		               "%s", text);
	if (slower->outcome == REGRESSION_UNDECIDED)
		ui_warn(ui, "more pairs may decide it (--max-pairs 401); --fail-undecided makes this an error", "%s", text);
	return 0;
}
