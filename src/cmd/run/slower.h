/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `compare OLD NEW --fail-slower 3%`: an exit status for continuous integration. */
#ifndef SRC_CMD_RUN_SLOWER_H
#define SRC_CMD_RUN_SLOWER_H
#include <jansson.h>

#include "src/app/cmd.h"
#include "tuner/race/race.h"
#include "tuner/race/regression.h"

struct slower {
	bool asked, strict; /* strict: undecided fails, too */
	const char *junit;  /* a file to write, or NULL */
	double limit;
	enum regression outcome;
	const char *failed;  /* "a" or "b", which did not always work, or NULL */
	double ratio, ci[2]; /* the time of b over the time of a */
};

int slower_read(struct slower *slower, const struct opt_args *args, struct err *err);
void slower_judge(struct slower *slower, const struct duel_result *duel);
/* {"limit", "outcome", "ratio", "ci"}: the time of b over that of a. New reference. */
json_t *slower_json(const struct slower *slower);
/* Writes the JUnit file. names: of a and b; seconds: of b. */
int slower_junit(const struct slower *slower, const char *const names[2], double seconds, struct err *err);
/* ERR_FAILED if b is slower than allowed or does not work; warns where it is undecided. */
int slower_verdict(const struct slower *slower, struct ui *ui, struct err *err);

#endif
