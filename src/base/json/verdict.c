/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/base/json/verdict.h"

#include <string.h>

#include "src/base/json/js.h"

static const char *const words[VERDICT_COUNT] = {
#define VERDICT_WORD(name, word) word,
	VERDICTS(VERDICT_WORD)
#undef VERDICT_WORD
};

const char *verdict_word(enum verdict verdict) {
	return words[verdict];
}

bool verdict_find(const char *word, enum verdict *verdict) {
	for (int i = 0; i < VERDICT_COUNT; i++) {
		if (strcmp(word, words[i]) == 0) {
			*verdict = i;
			return true;
		}
	}
	return false;
}

enum verdict verdict_of(const json_t *result) {
	enum verdict verdict = VERDICT_UNDECIDED;
	verdict_find(js_string_or(result, "verdict", ""), &verdict);
	return verdict;
}
