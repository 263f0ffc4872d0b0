/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Headers of wide tables: numbers and words, versions, units; and which columns say nothing. */
#include <strings.h>

#include "tuner/study/study_impl.h"

enum { FRACTIONS_LEAST = 3 };

bool wide_is_numbers(const struct csv *csv, size_t column) {
	bool some = false;
	for (size_t r = 0; r < csv->rows; r++) {
		bool own = isfinite(table_own(csv, r, column));
		if (!own && !table_is_missing(csv_cell(csv, r, column)))
			return false;
		some = some || own;
	}
	return some;
}

/* The one value of a header such as "4 threads", "threads=4", "p4", "64x64" or "4": its number, and the word in the
 * singular. */
bool wide_header_split(const char *header, char word[TABLE_NAME], char number[TABLE_NAME]) {
	char key[TABLE_NAME], *digits;
	size_t length = 0;
	const char *open = strchr(header, '(');
	bool noted = open && strchr(open, '=') && !open[strcspn(open, ")") + 1]; /* "MFLOPS (n=512)" */
	table_words_join(noted ? open + 1 : header, key);
	digits = key + strcspn(key, "0123456789");
	size_t count = strspn(digits, "0123456789"), all = count, square;
	if (!count)
		return false;
	snprintf(number, TABLE_NAME, "%.*s", (int)count, digits);
	if (table_side(digits, &square))
		all = square;
	for (const char *at = key; *at; at++)
		if (at < digits || at >= digits + all)
			word[length++] = *at;
	if (all > count && !length)
		length = (size_t)snprintf(word, TABLE_NAME, "size");
	word[length] = '\0';
	while (length && word[length - 1] == '_')
		word[--length] = '\0';
	memmove(word, word + strspn(word, "_"), strlen(word + strspn(word, "_")) + 1);
	length = strlen(word);
	if (length > 2 && word[length - 1] == 's' && word[length - 2] != 's')
		word[length - 1] = '\0';
	return !strpbrk(word, "0123456789");
}

const char *wide_name_of_word(const struct csv *csv, const char *word) {
	char plural[TABLE_NAME + 1];
	if (table_is_threads(word) ||
	    table_has_word(word, "thread threads core cores openmp omp openmpi pthread pthreads parallel") ||
	    strcmp(word, "t") == 0 || strcmp(word, "p") == 0 || strcmp(word, "time_t") == 0) /* "Time 4T" */
		return "threads";
	snprintf(plural, sizeof plural, "%ss", word);
	bool known = table_is_parameter(word) || table_is_problem(word);
	return arena_strdup(csv->arena, !known && (table_is_parameter(plural) || table_is_problem(plural)) ? plural : word);
}

const char wide_version_words[] =
	"serial sequential seq blocking nonblocking parallel openmp omp pthreads pthread mpi cuda hip ticket ticketlock "
	"rwlock futex anderson backoff opencl gpu cpu cilk tbb naive simple basic baseline reference original tiled "
	"blocked unrolled vectorized simd sse avx avx2 avx512 optimized optimised static dynamic guided auto mutex spin "
	"spinlock atomic critical tas ttas clh mcs lockfree blas openblas mkl cublas padded unpadded privatized touch "
	"coarse fine lazy optimistic gcc clang icc icx o0 o1 o2 o3 t ijk ikj jik jki kij kji sort java python rust cpp "
	"fortran julia golang javascript node pypy numba numpy cython jax pytorch tensorflow single multi";

/* A line above the table may say what its numbers are: "# GFLOP/s", "# times in ms". */
const char *wide_noted_unit(const struct csv *csv, struct table_name *unit) {
	for (size_t i = 0; i < csv->note_count; i++) {
		char *copy = arena_strdup(csv->arena, csv->notes[i]), *rest = NULL;
		for (char *at = copy; (at = strpbrk(at, "kKMG")); at++) /* "M ops/s" */
			if (at[1] == ' ' && (at == copy || strchr(" (", at[-1])))
				memmove(at + 1, at + 2, strlen(at + 1));
		for (char *word = strtok_r(copy, " ,;:()[].*", &rest); word; word = strtok_r(NULL, " ,;:()[].*", &rest)) {
			table_name_read(word, unit);
			if (word[1] && strcasecmp(word, "second") != 0 && unit->measure != MEASURE_NONE && !*unit->base &&
			    strcmp(unit->per, "unit") != 0)
				return word;
		}
	}
	return NULL;
}

/* Are unknown numbers times, by their names, by versions that they are of, or by a comment about all numbers? */
bool wide_may_be_time(const struct csv *csv, const char *header) {
	struct table_name unit;
	char key[TABLE_NAME];
	table_words_join(header, key);
	return table_has_word(key,
	                      "time zeit runtime laufzeit walltime elapsed duration tseq tser tserial tpar tparallel") ||
	       table_has_word(key, wide_version_words) || wide_noted_unit(csv, &unit);
}

/* Fractions that are never the same twice were not chosen: "first-touch" beside "naive". */
static bool are_fractions(const struct csv *csv, size_t column) {
	size_t whole = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		whole += table_own(csv, r, column) == floor(table_own(csv, r, column));
		if (table_seen(csv, column, r, r))
			return false;
	}
	return csv->rows >= FRACTIONS_LEAST && 2 * whole < csv->rows;
}

/* Fractions of which each occurs equally often, and several times, were chosen: the width of a grid. */
static bool are_chosen(const struct csv *csv, size_t column) {
	size_t all = table_seen(csv, column, 0, csv->rows), r = 0;
	while (r < csv->rows && table_seen(csv, column, r, csv->rows) == all)
		r++;
	return r == csv->rows && all >= FRACTIONS_LEAST && table_varies(csv, column);
}

/* Numbers without a unit that are neither an input nor a figure. */
bool wide_is_unknown(const struct csv *csv, size_t column) {
	const char *header = csv->header[column];
	struct table_name name;
	table_name_read(header, &name);
	bool fixed = csv->rows > 2 && !table_varies(csv, column) && !wide_may_be_time(csv, header);
	bool other = table_among(header, strlen(header), table_run_words) || strchr(header, '%') ||
	             table_among(header, strlen(header), table_middle_words);
	bool chosen = csv->rows <= TABLE_PAIRS_ROWS && !wide_may_be_time(csv, header) && are_chosen(csv, column);
	return !fixed && !other && !chosen && name.measure == MEASURE_NONE && wide_is_numbers(csv, column) &&
	       !table_is_statistic(&name) && !table_is_problem(header) &&
	       (!table_is_parameter(header) || are_fractions(csv, column)) && !table_is_counter(header) &&
	       !table_is_count(header) && (!table_is_figure(header) || table_has_word(header, "time"));
}
