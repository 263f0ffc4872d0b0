/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `profile verify --ci`: is a recommendation slower than it was when it was recorded? The recorded samples are not
 * paired with the present ones, so the two intervals are divided, which is on the safe side. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/profile/text.h"
#include "src/cmd/profile/verify.h"
#include "src/show/junit.h"

static const double LIMIT = 0.05;

int verify_ci_read(struct verify *verify, struct err *err) {
	const struct opt_args *args = verify->args;
	verify->ci = opt_has(args, "ci");
	verify->limit = LIMIT;
	verify->junit = opt_get(args, "junit", NULL);
	if (!verify->ci && opt_has(args, "fail-slower"))
		return err_set(err, ERR_USAGE, "add --ci", "--fail-slower needs --ci");
	return opt_share(args, "fail-slower", &verify->limit, err);
}

/* The interval of the present value over the recorded one; false if one of them is unknown. */
static bool ratio_of(const struct verified *row, int side, double ratio[2]) {
	const json_t *entry = side ? json_object_get(row->entry, "baseline") : row->entry,
				 *ci = json_object_get(entry, "ci");
	double low = json_number_value(json_array_get(ci, 0)), high = json_number_value(json_array_get(ci, 1));
	const double *now = row->duel.ci[side];
	if (!(low > 0 && high > 0 && now[0] > 0 && now[1] > 0))
		return false;
	if (js_bool_or(json_object_get(row->entry, "program"), "maximize",
	               false)) { /* it has rates, and the duel their inverse */
		double swap = 1 / low;
		low = 1 / high;
		high = swap;
	}
	ratio[0] = now[0] / high;
	ratio[1] = now[1] / low;
	return true;
}

void verify_ci_judge(const struct verify *verify, struct verified *row) {
	double now[2], baseline[2];
	row->recorded = REGRESSION_UNDECIDED;
	if (!row->duel.paired.count || !ratio_of(row, 0, now))
		return;
	row->against[0] = now[0];
	row->against[1] = now[1];
	row->recorded = regression_judge(now[0], now[1], verify->limit);
	if (!verify->ci || row->recorded != REGRESSION_SLOWER || *row->reason)
		return;
	bool both =
		ratio_of(row, 1, baseline) && regression_judge(baseline[0], baseline[1], verify->limit) == REGRESSION_SLOWER;
	snprintf(row->reason, sizeof row->reason, "takes %.2f to %.2f of the recorded time%s", now[0], now[1],
	         both ? ", and so does its baseline: the program, its input or the machine became slower" : "");
}

bool verify_ci_fails(const struct verify *verify, const struct verified *row) {
	return row->outcome == VERIFY_NO_LONGER || row->outcome == VERIFY_SLOWER ||
	       (verify->ci && row->recorded == REGRESSION_SLOWER);
}

json_t *verify_ci_json(const struct verify *verify, const struct verified *row) {
	bool known = row->against[1] > 0;
	return json_pack("{s:f,s:s,s:[o,o]}", "limit", verify->limit, "outcome", regression_word(row->recorded), "ci",
	                 js_number(known ? row->against[0] : NAN), js_number(known ? row->against[1] : NAN));
}

static void case_add(struct junit *junit, const struct verify *verify, const struct verified *row) {
	char *kernel = profile_text_kernel(row->entry), *problem = profile_text_problem(row->entry);
	char *name = mem_printf("%s %s", kernel, problem);
	bool time = row->duel.paired.count && strcmp(js_string_or(row->entry, "unit", ""), "s") == 0;
	enum junit_result result = verify_ci_fails(verify, row)     ? JUNIT_FAILED
	                           : row->outcome == VERIFY_UNKNOWN ? JUNIT_SKIPPED
	                                                            : JUNIT_PASSED;
	char now[64], *message;
	json_t *speedup = verify_speedup_json(&row->duel);
	profile_text_speedup(speedup, now, sizeof now);
	message = mem_printf("%s%s%s; speedup over the baseline %s", verify_outcome_word(row->outcome),
	                     *row->reason ? ": " : "", row->reason, now);
	junit_add(junit, kernel, name, time ? row->duel.median[0] : NAN, result, message);
	json_decref(speedup);
	free(message);
	free(name);
	free(problem);
	free(kernel);
}

int verify_junit(const struct verify *verify, struct err *err) {
	if (!verify->junit)
		return 0;
	struct junit *junit = junit_new("sweetspot profile verify");
	for (size_t i = 0; i < verify->done; i++)
		case_add(junit, verify, &verify->rows[i]);
	int failed = junit_write(junit, verify->junit, err);
	junit_free(junit);
	return failed;
}
