/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Under some locks an entry takes longer the more threads wait, because all of them poll one word, or sleep and are
 * woken in turn (Anderson, The performance of spin lock alternatives for shared-memory multiprocessors, 1990; Blasgen
 * et al., The convoy phenomenon, 1979). A lock of the same column that scales shows that it is the lock. */
#include <math.h>

#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"

enum { LOCKS_MAX = 64 };
static const double APART = 1.5; /* growth over that of the best lock */

struct locks {
	size_t column, problem_row;
	int few, many; /* levels of threads */
	double few_threads, many_threads;
	size_t count;
	int best;
	struct probe_case
		lock[LOCKS_MAX]; /* a: its level; extra: growth, and the time at the most threads over that of the best lock */
	struct study_ratio growth[LOCKS_MAX];
};

/* Finds the smallest team that competes, and the largest that the machine has room for. */
static bool teams_find(const struct study *study, struct locks *locks) {
	struct curve curve;
	struct probe_scope scope = {(int)locks->column, locks->lock[0].a, locks->problem_row, 0, 0};
	size_t first = 0; /* any lock gets slower from one thread to two, because there is competition from then on */
	scope.most = isfinite(probe_room(study)) ? probe_room(study) : 0;
	if (!curve_make(study, scope, &curve))
		return false;
	while (first < curve.count && curve.threads[first] < 2)
		first++;
	if (first + 2 > curve.count)
		return false;
	locks->few = curve.level[first];
	locks->many = curve.level[curve.count - 1];
	locks->few_threads = curve.threads[first];
	locks->many_threads = curve.threads[curve.count - 1];
	return true;
}

static void locks_list(const struct study *study, struct locks *locks) {
	const struct study_column *column = study_column(study, locks->column);
	for (int l = 0; l < (int)column->levels && locks->count < LOCKS_MAX; l++)
		if (probe_word(column, l, probe_locks))
			locks->lock[locks->count++].a = l;
}

/* Finds the growth of each lock, and the lock that grows least. */
static void growth_find(const struct study *study, struct locks *locks) {
	size_t threads = (size_t)probe_threads(study);
	for (size_t i = 0; i < locks->count; i++) {
		struct probe_scope scope = {(int)locks->column, locks->lock[i].a, locks->problem_row, 0, 0};
		locks->growth[i] = study_contrast(study, threads, locks->many, locks->few, probe_in, &scope);
		if (locks->growth[i].pairs && (locks->best < 0 || locks->growth[i].ratio < locks->growth[locks->best].ratio))
			locks->best = (int)i;
	}
}

static void locks_test(const struct study *study, struct locks *locks) {
	struct probe_scope most = {-1, -1, locks->problem_row, locks->many_threads, locks->many_threads};
	for (size_t i = 0; i < locks->count; i++) {
		locks->lock[i].problem_row = locks->problem_row;
		locks->lock[i].ratio = probe_apart(&locks->growth[i], &locks->growth[locks->best]);
		struct study_ratio there =
			study_contrast(study, locks->column, locks->lock[i].a, locks->lock[locks->best].a, probe_in, &most);
		locks->lock[i].extra[0] = locks->growth[i].ratio;
		locks->lock[i].extra[1] = (int)i == locks->best ? 1 : there.ratio;
	}
	probe_hold(study, locks->lock, locks->count);
	for (size_t i = 0; i < locks->count; i++)
		/* A lock that grows more, but is still faster with the most threads, is not the worse one. */
		locks->lock[i].holds = locks->lock[i].holds && locks->lock[i].ratio.ratio >= APART &&
		                       locks->lock[i].extra[1] > 1 && !probe_under(study, &locks->growth[i]);
}

/* 1: the slowest at the most threads. */
static size_t rank_of(const struct locks *locks, size_t lock) {
	size_t rank = 1;
	for (size_t i = 0; i < locks->count; i++)
		rank += locks->lock[i].extra[1] > locks->lock[lock].extra[1];
	return rank;
}

static const char *rank_text(size_t rank, char text[PROBE_TEXT]) {
	static const char *const words[] = {"", "the slowest", "the second slowest", "the third slowest"};
	if (rank < sizeof words / sizeof *words)
		return words[rank];
	snprintf(text, PROBE_TEXT, "the %zuth slowest", rank);
	return text;
}

/* "array, clh do": the locks that grow as little as the best one. */
static const char *scaling_text(const struct study *study, const struct locks *locks, char text[PROBE_TEXT]) {
	const char *name = study_column(study, locks->column)->name;
	size_t length = 0;
	text[0] = '\0';
	for (size_t i = 0; i < locks->count; i++) {
		char one[PROBE_TEXT];
		if (!locks->growth[i].pairs ||
		    locks->growth[i].ratio > locks->growth[locks->best].ratio * (1 + probe_limit(study)))
			continue;
		probe_level(study, locks->column, locks->lock[i].a, one);
		if (length + strlen(one) + 8 < PROBE_TEXT)
			length += (size_t)snprintf(text + length, PROBE_TEXT - length, "%s%s", length ? ", " : "",
			                           one + strlen(name) + 1);
	}
	snprintf(text + length, PROBE_TEXT - length, " do%s", strchr(text, ',') ? "" : "es");
	return text;
}

static void lock_report(const struct study *study, struct findings *findings, const struct locks *locks, size_t i) {
	const struct probe_case *lock = &locks->lock[i];
	struct probe_scope scope = {(int)locks->column, lock->a, locks->problem_row, locks->many_threads,
	                            locks->many_threads};
	size_t row = probe_best(study, &scope), rank = rank_of(locks, i);
	double switches = row == SIZE_MAX ? NAN : study_counter(study, row, "voluntary_switches");
	char own[PROBE_TEXT], good[PROBE_TEXT], position[PROBE_TEXT];
	struct finding *finding = findings_add(
		findings, lock->ratio.pairs >= 3 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, lock->extra[1],
		"%s does not scale as %s: %s of %zu locks at %g threads", probe_level(study, locks->column, lock->a, own),
		scaling_text(study, locks, good), rank_text(rank, position), locks->count, locks->many_threads);
	finding_about(finding, study, locks->column, lock->a);
	probe_about_problem(finding, study, locks->problem_row);
	finding_evidence(finding, EVIDENCE_SCALING, lock->extra[0], "x",
	                 "with %g threads it takes %.2f times as long as with %g [%.2f, %.2f]", locks->many_threads,
	                 lock->extra[0], locks->few_threads, locks->growth[i].ci[0], locks->growth[i].ci[1]);
	finding_evidence(finding, EVIDENCE_CONTRAST, lock->ratio.ratio, "x",
	                 "that is %.2f times the growth under the best one [%.2f, %.2f]", lock->ratio.ratio,
	                 lock->ratio.ci[0], lock->ratio.ci[1]);
	finding_evidence(finding, EVIDENCE_CONTRAST, (double)rank, NULL,
	                 "%.2f times as long as the best lock at %g threads", lock->extra[1], locks->many_threads);
	finding_known(finding, EVIDENCE_COUNTER, switches, NULL,
	              "voluntary switches, which distinguish sleeping from polling (--counters SOFTWARE)",
	              "%.4g voluntary switches: threads that slept", switches);
	if (row != SIZE_MAX)
		probe_next_threads(finding, study, row, (size_t)probe_threads(study));
}

static size_t problem_examine(const struct study *study, struct findings *findings, size_t column, size_t problem_row) {
	mem_auto struct locks *locks = mem_alloc(1, sizeof *locks);
	size_t told = 0;
	locks->column = column;
	locks->problem_row = problem_row;
	locks_list(study, locks);
	locks->best = -1;
	if (locks->count >= 2 && teams_find(study, locks))
		growth_find(study, locks);
	if (locks->best >= 0)
		locks_test(study, locks);
	for (size_t i = 0; i < locks->count; i++)
		if (locks->lock[i].holds) {
			lock_report(study, findings, locks, i);
			told++;
		}
	return told;
}

static void examine(const struct study *study, struct findings *findings) {
	int threads = probe_threads(study), column = probe_lock_column(study);
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem);
	if (threads < 0 || column < 0 || !follows(study, threads) || !follows(study, column))
		return;
	if (!problem_examine(study, findings, (size_t)column, SIZE_MAX) && problems > 1)
		for (size_t i = 0; i < problems; i++)
			problem_examine(study, findings, (size_t)column, problem[i]);
}

const struct diagnosis diagnosis_lock_convoy = {
	.name = "lock_convoy",
	.summary = "entering a lock takes longer the more threads wait",
	.device = "cpu",
	.examine = examine,
};
