/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the fuzz targets of files of other programs: what was read has positive values, and a refusal its reason.
 */
#ifndef TESTS_TUNER_STUDY_PRODUCED_CHECK_H
#define TESTS_TUNER_STUDY_PRODUCED_CHECK_H
#include <math.h>
#include <stdlib.h>

#include "tuner/study/study.h"

static inline void produced_require(bool condition) {
	if (!condition)
		abort();
}

static inline void produced_check(struct study_set *set, bool read, const struct err *err) {
	produced_require(read || (err->code == ERR_USAGE && *err->what));
	for (size_t i = 0; i < study_set_count(set); i++) {
		struct study_item *item = study_set_at(set, i);
		study_machine(item->study, item->machine, NULL, item->noise);
		study_finish(item->study);
		for (size_t r = 0; r < study_rows(item->study); r++)
			produced_require(study_row(item->study, r)->value > 0 && isfinite(study_row(item->study, r)->value));
	}
}
#endif
