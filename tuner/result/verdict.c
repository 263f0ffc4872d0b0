/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/result/result.h"

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"

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

enum verdict verdict_named(const char *word) {
	enum verdict verdict = VERDICT_UNDECIDED;
	verdict_find(word, &verdict);
	return verdict;
}

const char *verdict_said(const json_t *result, const char *fallback) {
	return js_string_or(result, VERDICT_MEMBER, fallback);
}

enum verdict verdict_of(const json_t *result) {
	return verdict_named(verdict_said(result, ""));
}

void verdict_set(json_t *result, enum verdict verdict) {
	json_object_set_new(result, VERDICT_MEMBER, json_string(words[verdict]));
}

void verdict_copy(json_t *to, const json_t *from) {
	json_t *verdict = json_object_get(from, VERDICT_MEMBER);
	json_object_set_new(to, VERDICT_MEMBER, verdict ? json_incref(verdict) : json_null());
}

bool verdict_is_faster(const json_t *result) {
	enum verdict verdict = verdict_of(result);
	return verdict == VERDICT_FASTER || verdict == VERDICT_NOT_SAME;
}

bool verdict_is_decided(const json_t *result) {
	return verdict_of(result) != VERDICT_UNDECIDED;
}

static char *nothing_text(const char *why) {
	char *text = mem_printf("nothing%s%s", *why ? ": " : "", why);
	text_clean(text, false);
	return text;
}

char *verdict_checked(const json_t *result) {
	const json_t *checked = json_object_get(result, "checked");
	const char *how = js_string_or(checked, "how", NULL), *by = js_string_or(checked, "by", "its own test");
	const char *except = js_string_or(checked, "except", NULL);
	long long runs = (long long)js_int_or(checked, "runs", 0);
	bool verified = how && strcmp(how, "verify") == 0;
	if (!how)
		return NULL;
	if (!verified && strcmp(how, "output same") != 0 && strcmp(how, "files same") != 0)
		return nothing_text(js_string_or(checked, "why", ""));
	mem_auto char *text = verified ? mem_printf("verified by %s", by)
	                               : mem_printf("%s%s%s", how, except ? " but for " : "", except ? except : "");
	const char *files = js_string_or(checked, "files", NULL);
	const char *link = !files ? "" : strcmp(how, "files same") == 0 ? ": " : "; files same: ";
	char *all = runs > 0 ? mem_printf("%s in %lld of %lld runs%s%s", text, runs, runs, link, files ? files : "")
	                     : mem_strdup(text);
	text_clean(all, false);
	return all;
}
