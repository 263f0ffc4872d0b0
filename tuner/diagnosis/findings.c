/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "tuner/diagnosis/diagnosis.h"

struct finding {
	const struct diagnosis *diagnosis;
	enum confidence confidence;
	double gain;
	char *sentence, *next;
	json_t *about, *evidence, *missing;
};

struct findings {
	struct finding **all;
	size_t count, room;
	const struct diagnosis *examining;
	bool few; /* too few rows to test whether the times follow the configurations */
};

/* The share of shuffled tables that may be taken for real ones. */
static const double CHANCE_MAX = 0.01, SETTLED_LEAST = 0.05, SETTLED_DEVIATIONS = 4;
enum { SETTLED_TRIALS = 5 };
enum { FINDINGS_MAX = 1000, TEXT_MAX = 1000 };

static const char *confidence_word(enum confidence confidence) {
	static const char *const words[] = {"low", "medium", "high"};
	return words[confidence];
}

static const char *evidence_word(enum evidence kind) {
	static const char *const words[] = {"contrast", "scaling", "counter", "figure", "ceiling", "machine"};
	return words[kind];
}

struct findings *findings_new(void) {
	return mem_alloc(1, sizeof(struct findings));
}

size_t findings_count(const struct findings *findings) {
	return findings->count;
}

static void finding_free(struct finding *finding) {
	free(finding->sentence);
	free(finding->next);
	json_decref(finding->about);
	json_decref(finding->evidence);
	json_decref(finding->missing);
	free(finding);
}

void findings_free(struct findings *findings) {
	if (!findings)
		return;
	for (size_t i = 0; i < findings->count; i++)
		finding_free(findings->all[i]);
	free(findings->all);
	free(findings);
}

/* Names in it come from outside, and may have been cut within a character. */
static char *text_of(const char *format, va_list args) {
	char text[TEXT_MAX];
	vsnprintf(text, sizeof text, format, args);
	text_clean(text, false);
	return mem_strdup(text);
}

struct finding *findings_add(struct findings *findings, enum confidence confidence, double gain, const char *sentence,
                             ...) {
	va_list args;
	struct finding *finding = mem_alloc(1, sizeof *finding);
	findings->all = mem_room(findings->all, findings->count, &findings->room, sizeof *findings->all);
	va_start(args, sentence);
	finding->sentence = text_of(sentence, args);
	va_end(args);
	finding->diagnosis = findings->examining;
	finding->confidence = findings->few ? CONFIDENCE_LOW : confidence;
	finding->gain = gain > 1 && isfinite(gain) ? gain : 1;
	finding->about = json_object();
	finding->evidence = json_array();
	finding->missing = json_array();
	findings->all[findings->count++] = finding;
	return finding;
}

void finding_about(struct finding *finding, const struct study *study, size_t column, int level) {
	const struct study_column *one = study_column(study, column);
	if (level != STUDY_ABSENT)
		json_object_set_new(finding->about, one->name, value_json(one->level[level]));
}

static json_t *line_add(json_t *list, enum evidence kind, const char *text, va_list args) {
	mem_auto char *words = text_of(text, args);
	json_t *one = json_pack("{s:s,s:s}", "kind", evidence_word(kind), "text", words);
	json_array_append_new(list, one);
	return one;
}

static void evidence_add(struct finding *finding, enum evidence kind, double value, const char *unit, const char *text,
                         va_list args) {
	json_t *one = line_add(finding->evidence, kind, text, args);
	if (isfinite(value))
		json_object_set_new(one, "value", js_number(value));
	if (isfinite(value) && unit)
		json_object_set_new(one, "unit", json_string(unit));
}

void finding_evidence(struct finding *finding, enum evidence kind, double value, const char *unit, const char *text,
                      ...) {
	va_list args;
	va_start(args, text);
	evidence_add(finding, kind, value, unit, text, args);
	va_end(args);
}

void finding_known(struct finding *finding, enum evidence kind, double value, const char *unit, const char *missing,
                   const char *text, ...) {
	va_list args;
	va_start(args, text);
	if (isfinite(value))
		evidence_add(finding, kind, value, unit, text, args);
	else if (missing)
		finding_missing(finding, kind, "%s", missing);
	va_end(args);
}

void finding_missing(struct finding *finding, enum evidence kind, const char *text, ...) {
	va_list args;
	va_start(args, text);
	line_add(finding->missing, kind, text, args);
	va_end(args);
}

/* The command is meant to be copied to a shell, so that everything a shell would interpret must be quoted. */
static bool is_safe_command(const char *text) {
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+.,/:= ";
	bool quoted = false;
	for (; *text; text++)
		if (*text == '\'')
			quoted = !quoted;
		else if (!quoted && *text == '\\' && text[1] == '\'')
			text++;
		else if (iscntrl((unsigned char)*text) || (!quoted && !strchr(plain, *text)))
			return false;
	return !quoted;
}

void finding_next(struct finding *finding, const char *command, ...) {
	va_list args;
	va_start(args, command);
	char *text = mem_vprintf(command, args);
	va_end(args);
	free(finding->next);
	finding->next = is_safe_command(text) ? text : NULL;
	if (!finding->next)
		free(text);
}

static bool fits(const struct diagnosis *diagnosis, const struct study *study) {
	const char *device = study_device(study);
	return !diagnosis->device || strncmp(device, diagnosis->device, strlen(diagnosis->device)) == 0;
}

static bool is_same(const struct finding *a, const struct finding *b) {
	return a->diagnosis == b->diagnosis && json_equal(a->about, b->about);
}

/* A diagnosis names a subject once: the finding with the highest confidence, then with the greatest gain, remains.
 */
static bool is_better(const struct finding *a, const struct finding *b) {
	return a->confidence != b->confidence ? a->confidence > b->confidence : a->gain > b->gain;
}

static void drop(struct findings *findings, size_t i) {
	finding_free(findings->all[i]);
	findings->all[i] = findings->all[--findings->count];
}

static void repeated_drop(struct findings *findings) {
	for (size_t i = 0; i < findings->count; i++) {
		for (size_t j = i + 1; j < findings->count;) {
			if (!is_same(findings->all[i], findings->all[j])) {
				j++;
				continue;
			}
			if (is_better(findings->all[j], findings->all[i])) {
				struct finding *better = findings->all[j];
				findings->all[j] = findings->all[i];
				findings->all[i] = better;
			}
			drop(findings, j);
		}
	}
}

static int by_gain(const void *a, const void *b) {
	const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
	if (x->confidence != y->confidence)
		return x->confidence < y->confidence ? 1 : -1;
	if (x->gain != y->gain)
		return x->gain < y->gain ? 1 : -1;
	int names = strcmp(x->diagnosis->name, y->diagnosis->name);
	return names ? names : strcmp(x->sentence, y->sentence);
}

/* Did a tune compare its winner with the baseline again and again, and is the difference clear? What counters say of
 * these two needs no pattern in the times of the others. */
static bool is_settled(const struct study *study) {
	size_t winner = study_winner(study), baseline = study_baseline(study);
	if (winner == SIZE_MAX || baseline == SIZE_MAX || winner == baseline)
		return false;
	const struct study_row *fast = study_row(study, winner), *slow = study_row(study, baseline);
	double apart = fmax(SETTLED_LEAST, SETTLED_DEVIATIONS * hypot(fast->deviation, slow->deviation));
	return fast->trials >= SETTLED_TRIALS && slow->trials >= SETTLED_TRIALS && log(slow->value / fast->value) > apart;
}

static void examine_all(struct findings *findings, const struct study *study, const struct diagnosis *const *registry,
                        double chance) {
	bool shown = !(chance > CHANCE_MAX), settled = !shown && is_settled(study);
	for (const struct diagnosis *const *d = registry; *d; d++) {
		findings->examining = *d;
		if (fits(*d, study) && (shown || (*d)->always || (settled && (*d)->counted)) && study_rows(study) > 0 &&
		    findings->count < FINDINGS_MAX)
			(*d)->examine(study, findings);
	}
}

void findings_examine(struct findings *findings, const struct study *study) {
	double chance = study_pattern(study);
	findings->few = study_few(study);
	examine_all(findings, study, diagnosis_registry, findings->few ? 0 : chance);
	repeated_drop(findings);
	if (findings->count)
		qsort(findings->all, findings->count, sizeof *findings->all, by_gain);
}

void findings_each(struct findings *findings, const struct study *study, const struct diagnosis *const *registry) {
	examine_all(findings, study, registry, 0);
}

static json_t *finding_json(const struct finding *finding) {
	json_t *next = finding->next ? json_sprintf("sweetspot %s", finding->next) : NULL;
	return json_pack("{s:s,s:s,s:O,s:s,s:f,s:o,s:O,s:O,s:o}", "name", finding->diagnosis->name, "sentence",
	                 finding->sentence, "about", finding->about, "confidence", confidence_word(finding->confidence),
	                 "strength", finding->gain, "at_most", finding->gain > 1 ? json_real(finding->gain) : json_null(),
	                 "evidence", finding->evidence, "missing", finding->missing, "next", next ? next : json_null());
}

json_t *findings_json(const struct findings *findings) {
	json_t *list = json_array();
	for (size_t i = 0; i < findings->count; i++)
		json_array_append_new(list, finding_json(findings->all[i]));
	return list;
}
