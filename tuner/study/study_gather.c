/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merges trials of the same configuration on the same problem. */
#include "base/hash.h"
#include "base/json/js.h"
#include "tuner/study/study_impl.h"

static size_t *slot_find(const struct study *study, const char *key) {
	size_t i = hash_text(key) & (study->gathering.slot_count - 1);
	while (study->gathering.slots[i] && strcmp(study->gathering.rows[study->gathering.slots[i] - 1].key, key) != 0)
		i = (i + 1) & (study->gathering.slot_count - 1);
	return &study->gathering.slots[i];
}

static void slots_grow(struct study *study) {
	study->gathering.slot_count = study->gathering.slot_count ? 4 * study->gathering.slot_count : 64;
	free(study->gathering.slots);
	study->gathering.slots = mem_alloc(study->gathering.slot_count, sizeof *study->gathering.slots);
	for (size_t i = 0; i < study->gathering.count; i++)
		*slot_find(study, study->gathering.rows[i].key) = i + 1;
}

/* Skips a quoted text without escapes; NULL for anything else. */
static const char *plain_word(const char *at) {
	if (*at++ != '"')
		return NULL;
	while (*at >= ' ' && *at < 127 && *at != '"' && *at != '\\')
		at++;
	return *at == '"' ? at + 1 : NULL;
}

/* Skips a word, a whole number, true or false in canonical form. */
static const char *plain_value(const char *at) {
	if (*at == '"')
		return plain_word(at);
	if (strncmp(at, "true", 4) == 0 || strncmp(at, "false", 5) == 0)
		return at + (*at == 't' ? 4 : 5);
	const char *digits = at + (*at == '-');
	size_t count = strspn(digits, "0123456789");
	return count && count <= 18 && (*digits != '0' || (count == 1 && digits == at)) ? digits + count : NULL;
}

static bool ascends(const char *a, const char *b) {
	size_t x = (size_t)(strchr(a + 1, '"') - a), y = (size_t)(strchr(b + 1, '"') - b);
	int order = memcmp(a, b, x < y ? x : y);
	return order < 0 || (order == 0 && x < y);
}

/* Is it certain that js_canonical would not change this text? Parsing each trial of a large store would take most of
 * the time. */
static bool is_canonical(const char *text) {
	const char *at = text, *last = NULL;
	if (*at != '{')
		return false;
	if (strcmp(at, "{}") == 0)
		return true;
	do {
		const char *key = at + 1;
		at = plain_word(key);
		if (!at || *at != ':' || (last && !ascends(last, key)) || !(at = plain_value(at + 1)))
			return false;
		last = key;
	} while (*at == ',');
	return strcmp(at, "}") == 0;
}

static const char *problem_text(struct study *study, const json_t *problem) {
	if (study->last_problem == problem)
		return study->last_text;
	json_decref(study->last_problem);
	free(study->last_text);
	study->last_problem = json_incref((json_t *)problem);
	study->last_text = js_canonical(problem);
	return study->last_text;
}

/* config_text: canonical. */
static char *key_of(struct study *study, const json_t *problem, const char *config_text) {
	return mem_printf("[%s,%s]", problem_text(study, problem), config_text);
}

static char *trial_key(struct study *study, const struct study_trial *trial) {
	if (trial->config_text && is_canonical(trial->config_text))
		return key_of(study, trial->problem, trial->config_text);
	char *text = js_canonical(trial->config), *key = key_of(study, trial->problem, text);
	free(text);
	return key;
}

json_t *study_config(struct study *study, const json_t *problem, const char *config_text) {
	if (!json_is_object(problem) || !study->gathering.slot_count || !is_canonical(config_text))
		return NULL;
	mem_auto char *key = key_of(study, problem, config_text);
	const size_t *slot = slot_find(study, key);
	return *slot ? study->gathering.rows[*slot - 1].config : NULL;
}

struct gathered *study_gather(struct study *study, const struct study_trial *trial) {
	if (2 * (study->gathering.count + 1) > study->gathering.slot_count)
		slots_grow(study);
	char *key = trial_key(study, trial);
	size_t *slot = slot_find(study, key);
	if (*slot) {
		free(key);
		return &study->gathering.rows[*slot - 1];
	}
	if (study->gathering.count == study->gathering.room) {
		study->gathering.room = study->gathering.room ? 2 * study->gathering.room : 64;
		study->gathering.rows = mem_grow(study->gathering.rows, study->gathering.room, sizeof *study->gathering.rows);
	}
	struct gathered *one = &study->gathering.rows[study->gathering.count++];
	*one = (struct gathered){
		.key = key, .problem = json_incref((json_t *)trial->problem), .config = json_incref((json_t *)trial->config)};
	*slot = study->gathering.count;
	return one;
}
