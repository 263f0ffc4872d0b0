/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/trial/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

static const char *const words[TRIAL_STATUS_COUNT] = {
#define TRIAL_WORD(name, word, text) word,
	TRIAL_STATUS(TRIAL_WORD)
#undef TRIAL_WORD
};

static const char *const texts[TRIAL_STATUS_COUNT] = {
#define TRIAL_TEXT(name, word, text) text,
	TRIAL_STATUS(TRIAL_TEXT)
#undef TRIAL_TEXT
};

static const char *const objectives[TRIAL_OBJECTIVE_COUNT][2] = {
#define TRIAL_OBJECTIVE_ROW(name, word, unit) {word, unit},
	TRIAL_OBJECTIVES(TRIAL_OBJECTIVE_ROW)
#undef TRIAL_OBJECTIVE_ROW
};

const char *trial_objective_word(enum trial_objective objective) {
	return objectives[objective][0];
}

const char *trial_objective_unit(enum trial_objective objective) {
	return objectives[objective][1];
}

const char *trial_metric_unit(const char *metric) {
	return !metric || pattern_kernel(metric) ? "s" : "";
}

bool trial_objective_find(const char *word, enum trial_objective *objective) {
	for (int i = 0; i < TRIAL_OBJECTIVE_COUNT; i++) {
		if (strcmp(word, objectives[i][0]) == 0) {
			*objective = i;
			return true;
		}
	}
	return false;
}

const char *trial_unit(const char *word) {
	static const char minimize[] = "minimize ";
	enum trial_objective objective;
	if (trial_objective_find(word, &objective))
		return trial_objective_unit(objective);
	return strncmp(word, minimize, sizeof minimize - 1) == 0 ? trial_metric_unit(word + sizeof minimize - 1) : "";
}

const char *trial_status_word(enum trial_status status) {
	return words[status];
}

const char *trial_status_text(enum trial_status status) {
	return texts[status];
}

bool trial_status_find(const char *word, enum trial_status *status) {
	for (int i = 0; i < TRIAL_STATUS_COUNT; i++) {
		if (strcmp(word, words[i]) == 0) {
			*status = i;
			return true;
		}
	}
	return false;
}

void trial_result_fail(struct trial_result *result, enum trial_status status, const char *message) {
	memset(result, 0, sizeof *result);
	result->status = status;
	result->value = result->least = NAN;
	snprintf(result->message, sizeof result->message, "%.255s", message);
}

void trial_result_clear(struct trial_result *result) {
	free(result->samples);
	json_decref(result->reply);
	memset(result, 0, sizeof *result);
	result->value = result->least = NAN;
}
