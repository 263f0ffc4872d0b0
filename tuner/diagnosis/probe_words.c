/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of the field that are recognised, and those that findings are written with. */
#include <strings.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"

static bool is_plain(const char *text) {
	return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+.,/:=")] == '\0';
}

/* Quoted for a shell if necessary. */
static char *word_of(const char *name, struct value value) {
	char text[256];
	value_text(value, text, sizeof text);
	char *word = mem_printf("%s=%s", name, text);
	if (is_plain(word))
		return word;
	char *quoted = mem_alloc(4 * strlen(word) + 3, 1), *out = quoted;
	*out++ = '\'';
	for (const char *in = word; *in; in++)
		if (*in == '\'')
			out = stpcpy(out, "'\\''");
		else
			*out++ = *in;
	*out = '\'';
	free(word);
	return quoted;
}

static void words_add(char **words, const json_t *object) {
	js_members (name, json, object) {
		struct value value;
		if (!value_from_json(json, &value))
			continue;
		mem_auto char *word = word_of(name, value);
		mem_append(words, "%s%s", **words ? " " : "", word);
	}
}

char *study_words(const struct study *study, size_t row) {
	const struct study_row *one = study_row(study, row);
	char *words = mem_strdup("");
	words_add(&words, one->problem);
	words_add(&words, one->config);
	return words;
}

const char probe_locks[] =
	"mutex spin spinlock tas ttas backoff ticket array anderson clh mcs critical omp futex lock locks";
const char probe_fair_locks[] = "ticket array anderson clh mcs fifo queue";

/* Calls `is` for each word; true if one call returned true. */
static bool any_word(const char *words, bool (*is)(const void *ctx, const char *word, size_t length), const void *ctx) {
	while (*words) {
		size_t length = strcspn(words, " ");
		if (length && is(ctx, words, length))
			return true;
		words += length + (words[length] == ' ');
	}
	return false;
}

struct part {
	const char *text;
	size_t length;
};

static bool is_part(const void *ctx, const char *word, size_t length) {
	const struct part *part = ctx;
	return part->length == length && strncasecmp(part->text, word, length) == 0;
}

bool probe_text_has(const char *text, const char *words) {
	for (const char *at = text; *at;) {
		struct part part = {at, strcspn(at, "_-+ ")};
		if (any_word(words, is_part, &part))
			return true;
		at += part.length + (at[part.length] != '\0');
	}
	return false;
}

bool probe_word(const struct study_column *column, int level, const char *words) {
	char text[PROBE_TEXT];
	return level >= 0 && value_text(column->level[level], text, sizeof text) > 0 && probe_text_has(text, words);
}

static bool is_within(const void *ctx, const char *word, size_t length) {
	const char *name = ctx;
	for (; *name; name++)
		if (strncasecmp(name, word, length) == 0)
			return true;
	return false;
}

bool probe_named(const struct study_column *column, const char *words) {
	return any_word(words, is_within, column->name);
}

size_t probe_words_count(const struct study_column *column, const char *words) {
	size_t count = 0;
	for (int l = 0; l < (int)column->levels; l++)
		count += probe_word(column, l, words);
	return count;
}

/* An array, and what is critical, is a lock only beside others, or in a column of locks. */
static const char sure_locks[] = "mutex spin spinlock tas ttas backoff ticket anderson clh mcs omp futex lock locks";

static bool is_lock_column(const struct study_column *column) {
	return probe_words_count(column, probe_locks) >= 2 &&
	       (probe_words_count(column, sure_locks) || probe_named(column, "lock sync"));
}

int probe_lock_column(const struct study *study) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (!column->is_problem && !column->numeric && is_lock_column(column))
			return (int)c;
	}
	return -1;
}

const char *probe_s(double count) {
	return count == 1 ? "" : "s";
}

const char *probe_level(const struct study *study, size_t column, int level, char text[PROBE_TEXT]) {
	const struct study_column *one = study_column(study, column);
	char value[PROBE_TEXT / 2] = "-";
	if (level != STUDY_ABSENT)
		value_text(one->level[level], value, sizeof value);
	snprintf(text, PROBE_TEXT, "%.70s=%s", one->name, value);
	return text;
}

const char *probe_problem(const struct study *study, size_t row, char text[PROBE_TEXT]) {
	size_t length = 0;
	text[0] = '\0';
	for (size_t c = 0; row != SIZE_MAX && c < study_columns(study); c++) {
		char one[PROBE_TEXT];
		if (!study_column(study, c)->is_problem || study_row(study, row)->level[c] == STUDY_ABSENT)
			continue;
		probe_level(study, c, study_row(study, row)->level[c], one);
		if (length + strlen(one) + 2 < PROBE_TEXT)
			length += (size_t)snprintf(text + length, PROBE_TEXT - length, "%s%s", length ? " " : "", one);
	}
	return text;
}

const char *probe_at(const struct study *study, size_t row, char text[PROBE_TEXT]) {
	char problem[PROBE_TEXT];
	snprintf(text, PROBE_TEXT, "%s%.150s", *probe_problem(study, row, problem) ? " at " : "", problem);
	return text;
}

void probe_about_problem(struct finding *finding, const struct study *study, size_t row) {
	for (size_t c = 0; row != SIZE_MAX && c < study_columns(study); c++)
		if (study_column(study, c)->is_problem)
			finding_about(finding, study, c, study_row(study, row)->level[c]);
}

/* The end of a word, which may be quoted for a shell. */
static const char *word_end(const char *text) {
	for (bool quoted = false; *text && (quoted || *text != ' '); text++)
		quoted ^= *text == '\'';
	return text;
}

static bool is_name(const void *ctx, const char *word, size_t length) {
	const char *text = ctx;
	text += *text == '\'';
	return strncmp(text, word, length) == 0 && text[length] == '=';
}

char *probe_words(const struct study *study, size_t row, const char *without) {
	char *words = study_words(study, row), *out = words;
	for (const char *at = words, *end; *at; at = end + (*end == ' ')) {
		end = word_end(at);
		if (any_word(without, is_name, at))
			continue;
		if (out != words)
			*out++ = ' ';
		memmove(out, at, (size_t)(end - at));
		out += end - at;
		if (!*end)
			break;
	}
	*out = '\0';
	return words;
}

/* "1,2,4": the levels of a numeric column. The caller frees it. */
static char *levels_text(const struct study *study, size_t column) {
	const struct study_column *one = study_column(study, column);
	char *list = mem_strdup("");
	for (size_t l = 0; l < one->levels; l++) {
		char text[PROBE_TEXT];
		value_text(one->level[l], text, sizeof text);
		mem_append(&list, "%s%s", l ? "," : "", text);
	}
	return list;
}

void probe_next_threads(struct finding *finding, const struct study *study, size_t row, size_t column) {
	mem_auto char *words = probe_words(study, row, "threads"), *levels = levels_text(study, column);
	finding_next(finding, "sweep %s %s --over threads=%s --samples 21", study_kernel(study), words, levels);
}

void probe_next_compare(struct finding *finding, const struct study *study, const struct probe_scope *scope,
                        int other) {
	size_t row = probe_best(study, scope), column = (size_t)scope->column;
	char own[PROBE_TEXT], against[PROBE_TEXT];
	mem_auto char *words = row == SIZE_MAX ? NULL : probe_words(study, row, study_column(study, column)->name);
	if (words)
		finding_next(finding, "compare %s %s %s %s", study_kernel(study), words,
		             probe_level(study, column, scope->level, own), probe_level(study, column, other, against));
}

void probe_topdown_add(struct finding *finding, const struct study *study, size_t row, const char *metric,
                       const char *words) {
	double share = study_metric(study, row, metric);
	finding_known(finding, EVIDENCE_COUNTER, share, "%", NULL, "%s at %.3g %% of the slots (TOPDOWN)", words, share);
}

void probe_next_counters(struct finding *finding, const struct study *study, size_t row, const char *group) {
	mem_auto char *words = row == SIZE_MAX ? NULL : study_words(study, row);
	if (words)
		finding_next(finding, "run %s %s --counters %s", study_kernel(study), words, group);
}

/* Formulas call it B or NB. */
bool probe_tile(const struct study_column *column) {
	static const char *const letters[] = {"b", "bs", "nb", "ts"};
	for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
		if (strcasecmp(column->name, letters[i]) == 0)
			return true;
	return probe_named(column, "block tile band panel factor");
}
