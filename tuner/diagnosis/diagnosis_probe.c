/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <strings.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"
#include "tuner/model/paired.h"

enum { TEAMS_MOST = 1000 };
static const double LIMIT = 0.05, HOLD = 0.01, NORMAL_95 = 1.959964;

bool probe_in(void *ctx, const struct study *study, size_t row) {
	const struct probe_scope *scope = ctx;
	double team = study_value_number(study, row, "threads", NAN);
	if (scope->column >= 0 && study_row(study, row)->level[scope->column] != scope->level)
		return false;
	if ((scope->least > 0 && !(team >= scope->least)) || (scope->most > 0 && !(team <= scope->most)))
		return false;
	return scope->problem_row == SIZE_MAX || study_same_problem(study, row, scope->problem_row);
}

double probe_size(const struct study *study, size_t row) {
	double ops = study_work(study, row, "ops"), bytes = study_work(study, row, "bytes"), size = 1;
	if (ops > 0 || bytes > 0)
		return ops > 0 ? ops : bytes;
	for (size_t c = 0; c < study_columns(study); c++) {
		double number = study_column(study, c)->is_problem ? study_number(study, row, c) : NAN;
		size *= number > 0 ? number : 1;
	}
	return size;
}

size_t probe_problems(const struct study *study, size_t rows[PROBE_PROBLEMS]) {
	double size[PROBE_PROBLEMS];
	size_t count = 0;
	for (size_t r = 0; r < study_rows(study) && count < PROBE_PROBLEMS; r++) {
		size_t known = 0;
		while (known < count && !study_same_problem(study, r, rows[known]))
			known++;
		if (known < count)
			continue;
		double own = probe_size(study, r);
		for (known = count++; known > 0 && own < size[known - 1]; known--) {
			rows[known] = rows[known - 1];
			size[known] = size[known - 1];
		}
		rows[known] = r;
		size[known] = own;
	}
	return count;
}

size_t probe_best(const struct study *study, const struct probe_scope *scope) {
	struct probe_scope copy = *scope;
	size_t best = SIZE_MAX;
	for (size_t r = 0; r < study_rows(study); r++)
		if (!study_row(study, r)->over && !study_row(study, r)->doubted && probe_in(&copy, study, r) &&
		    (best == SIZE_MAX || study_row(study, r)->value < study_row(study, best)->value))
			best = r;
	return best;
}

double probe_limit(const struct study *study) {
	return fmax(LIMIT, 2 * study_noise(study));
}

bool probe_over(const struct study *study, const struct study_ratio *ratio) {
	return ratio->ratio > 1 + probe_limit(study) && ratio->ci[0] > 1 + study_noise(study);
}

bool probe_under(const struct study *study, const struct study_ratio *ratio) {
	return ratio->ratio < 1 / (1 + probe_limit(study)) && ratio->ci[1] < 1 / (1 + study_noise(study));
}

/* The probability of this ratio or a larger one if the true ratio is within the noise; 1 if it is below. It is taken
 * from the interval, because ranks of few pairs do not reach small probabilities. */
static double chance_of(const struct study *study, const struct study_ratio *ratio) {
	double error = log(ratio->ci[1] / ratio->ci[0]) / (2 * NORMAL_95),
		   over = log(ratio->ratio) - log1p(study_noise(study));
	if (ratio->pairs == 0 || !(over > 0))
		return 1;
	return error > 0 ? erfc(over / error / sqrt(2)) : 0;
}

struct study_ratio probe_apart(const struct study_ratio *a, const struct study_ratio *b) {
	double wide = hypot(log(a->ci[1] / a->ci[0]), log(b->ci[1] / b->ci[0])) / 2;
	struct study_ratio ratio = {.ratio = a->ratio / b->ratio, .pairs = a->pairs < b->pairs ? a->pairs : b->pairs};
	ratio.ci[0] = ratio.ratio * exp(-wide);
	ratio.ci[1] = ratio.ratio * exp(wide);
	ratio.p = wide > 0 ? erfc(fabs(log(ratio.ratio)) / (wide / NORMAL_95) / sqrt(2)) : 0;
	ratio.agree = a->agree < b->agree ? a->agree : b->agree;
	return ratio;
}

size_t probe_hold(const struct study *study, struct probe_case *cases, size_t count) {
	mem_auto double *p = mem_alloc(count + 1, sizeof *p), *adjusted = mem_alloc(count + 1, sizeof *adjusted);
	size_t holding = 0;
	for (size_t i = 0; i < count; i++)
		p[i] = chance_of(study, &cases[i].ratio);
	if (count)
		paired_holm(p, count, adjusted);
	for (size_t i = 0; i < count; i++)
		holding += cases[i].holds = adjusted[i] <= HOLD && probe_over(study, &cases[i].ratio);
	return holding;
}

bool probe_is_team(const struct study_column *column) {
	static const char words[] = "threads ranks processes proc procs np nproc nprocs nranks numproc ntasks tasks gpus "
								"nodes devices rank process";
	static const char *const before[] = {"n_", "num_", "mpi_"}; /* "n_procs" */
	const char *name = column->name, *sign;
	for (size_t i = 0; i < sizeof before / sizeof *before; i++)
		name += strncasecmp(name, before[i], strlen(before[i])) == 0 ? strlen(before[i]) : 0;
	sign = strstr(name, " ("); /* "MPI processes (P)" */
	size_t end = sign ? (size_t)(sign - name) : strlen(name), length = 0;
	while (length < end && !strchr(" /_", name[end - length - 1]))
		length++;
	for (const char *at = words; *at; at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' '))
		if (strcspn(at, " ") == length && strncasecmp(at, name + end - length, length) == 0)
			return true;
	return false;
}

/* Beside blocks, so many threads are those of a block of a GPU. */
static const double OF_BLOCK = 256;

int probe_threads(const struct study *study) {
	int column = study_find(study, "threads");
	const struct study_column *one = column >= 0 ? study_column(study, (size_t)column) : NULL;
	bool blocks = study_find(study, "blocks") >= 0 || study_find(study, "Blocks") >= 0;
	if (!one || !one->numeric || one->levels > TEAMS_MOST)
		return -1;
	return blocks && value_number(one->level[one->levels - 1]) > OF_BLOCK ? -1 : column;
}

double probe_room(const struct study *study) {
	int threads = study_host(study)->threads;
	return threads > 0 ? threads : INFINITY;
}

struct study_ratio curve_gain(const struct study *study, const struct curve *curve, int a, int b) {
	struct probe_scope scope = curve->scope;
	return study_contrast(study, (size_t)probe_threads(study), a, b, probe_in, &scope);
}

/* The smallest team that no larger one beats. */
static size_t stop_find(const struct study *study, const struct curve *curve) {
	for (size_t i = 0; i + 1 < curve->count; i++) {
		bool beaten = false;
		for (size_t j = i + 1; j < curve->count && !beaten; j++) {
			struct study_ratio gain = curve_gain(study, curve, curve->level[i], curve->level[j]);
			beaten = probe_over(study, &gain);
		}
		if (!beaten)
			return i;
	}
	return curve->count - 1;
}

bool curve_make(const struct study *study, struct probe_scope scope, struct curve *curve) {
	int threads = probe_threads(study), first = -1;
	*curve = (struct curve){.scope = scope};
	for (int l = 0; threads >= 0 && l < (int)study_column(study, (size_t)threads)->levels; l++) {
		struct probe_scope one = scope;
		double team = value_number(study_column(study, (size_t)threads)->level[l]);
		one.least = one.most = team;
		if (team < scope.least || (scope.most > 0 && team > scope.most) || probe_best(study, &one) == SIZE_MAX)
			continue;
		first = first < 0 ? l : first;
		struct study_ratio speedup = {.ratio = 1, .ci = {1, 1}, .p = 1};
		if (l != first)
			speedup = study_contrast(study, (size_t)threads, first, l, probe_in, &scope);
		if ((l != first && speedup.pairs == 0) || curve->count == CURVE_MAX)
			continue;
		curve->level[curve->count] = l;
		curve->threads[curve->count] = team;
		curve->speedup[curve->count++] = speedup;
	}
	if (curve->count < 2)
		return false;
	curve->stop = stop_find(study, curve);
	return true;
}

struct judge_parts judge_parts_find(const struct study *study) {
	const json_t *figures = NULL;
	struct judge_parts parts = {.count = 0};
	for (size_t r = 0; r < study_rows(study) && !figures; r++)
		figures = json_object_get(study_row(study, r)->detail, "figures");
	js_each (one, figures) {
		const char *name = js_string_or(one, "name", "");
		if (parts.count < JUDGE_PARTS_MAX && strcmp(js_string_or(one, "unit", ""), "s") == 0 &&
		    strncmp(name, "time_per_", 9) != 0 && !json_object_get(one, "derived"))
			parts.name[parts.count++] = name;
	}
	return parts;
}

double judge_parts_share(const struct study *study, size_t row, const struct judge_parts *parts) {
	double sum = 0;
	for (size_t i = 0; i < parts->count; i++)
		sum += study_figure(study, row, parts->name[i]);
	return sum / study_row(study, row)->value;
}

/* The words of the field that are recognised, and those that findings are written with. */
static bool is_plain(const char *text) {
	return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+.,/:=")] == '\0';
}

/* Quoted for a shell if necessary. */
static char *word_of(const char *name, struct value value) {
	mem_auto char *text = value_string(value);
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
	const struct part whole = {text, strlen(text)};
	if (any_word(words, is_part, &whole))
		return true;
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

const char *probe_columns(const struct study *study, size_t row, bool of_problem, size_t without,
                          char text[PROBE_TEXT]) {
	size_t length = 0;
	text[0] = '\0';
	for (size_t c = 0; row != SIZE_MAX && c < study_columns(study); c++) {
		char one[PROBE_TEXT];
		int level = study_row(study, row)->level[c];
		if (c == without || (of_problem && !study_column(study, c)->is_problem) || level == STUDY_ABSENT)
			continue;
		probe_level(study, c, level, one);
		if (length + strlen(one) + 2 < PROBE_TEXT)
			length += (size_t)snprintf(text + length, PROBE_TEXT - length, "%s%s", length ? " " : "", one);
	}
	return text;
}

const char *probe_problem(const struct study *study, size_t row, char text[PROBE_TEXT]) {
	return probe_columns(study, row, true, SIZE_MAX, text);
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
