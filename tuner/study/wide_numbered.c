/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns whose headers are a number and the same word: "1 thread,2 threads", "n=100,n=200", "run 1,run 2", "1,2,4". */
#include <math.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

enum { TEAMS_LEAST = 4 };
static const char member_words[] = "rank process processe proc thread worker core";

/* Numbers from 1 without a gap count runs; 1, 2, 4, 8 are teams. From 0 they are the members of one: "rank 0". */
static bool is_counting(const struct wide *wide, size_t first) {
	for (size_t i = 0; i < wide->count; i++)
		if (strtod(wide->value[i], NULL) != (double)(i + first))
			return false;
	return true;
}

/* A letter may be the name of a version; "v1" and "version 2" are words, and so is "O3". */
static bool is_name_of_numbers(const char *word, bool counting) {
	if (strlen(word) == 1 || table_has_word(word, "parallel"))
		return strchr("tpnmkb", *word) && !counting;
	return !table_among(word, strlen(word), "version variant implementation impl ver case test kernel code");
}

/* "-O2" and "-O3" beside another compiler are names, and so are "blocked 32" and "blocked 64" beside "ikj". */
static bool others_timed(const struct csv *csv, const struct wide *wide) {
	struct table_name name;
	size_t timed = 0, own = 0;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		bool time = name.measure == MEASURE_TIME && wide_is_numbers(csv, c) && !table_is_statistic(&name);
		timed += (time || (wide_is_unknown(csv, c) && wide_may_be_time(csv, csv->header[c]))) &&
		         !table_has_word(name.base, table_middle_words) && !table_has_word(csv->header[c], table_serial_words);
	}
	for (size_t i = 0; i < wide->count; i++) {
		table_name_read(csv->header[wide->column[i]], &name);
		own += name.measure == MEASURE_TIME || wide_may_be_time(csv, csv->header[wide->column[i]]);
	}
	return timed > own;
}

/* Serial code beside columns of teams. Its column becomes the last one; false if it fits nowhere. */
static bool serial_add(const struct csv *csv, const struct table_name *one, struct wide *wide) {
	struct table_name name;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		if (!wide_is_numbers(csv, c) || table_is_figure(csv->header[c]) ||
		    !table_has_word(csv->header[c], table_serial_words))
			continue;
		if (wide->with_serial || !wide->name || strcmp(wide->name, "threads") != 0 ||
		    ((one->measure != MEASURE_NONE || name.measure != MEASURE_TIME) && name.measure != MEASURE_NONE &&
		     !wide_is_same_measure(one, &name)))
			return false;
		wide->with_serial = true;
		wide->column[wide->count] = c;
		wide->value[wide->count++] = "";
	}
	return true;
}

/* Are numbers without a name teams? From 1 on: beside locks, or if the second one gains by each schedule. */
static bool are_teams(const struct csv *csv, const struct wide *wide) {
	bool first = csv->rows > 0 && strcmp(wide->value[0], "1") == 0, many = first && wide->count >= TEAMS_LEAST;
	bool scheduled = first, sized = many && csv->rows > 1 && table_is_problem(csv->header[0]);
	double members = strtod(wide->value[1], NULL);
	for (size_t r = 0; r < csv->rows && (scheduled || sized); r++) {
		const char *cell = csv_cell(csv, r, 0);
		double one = table_own(csv, r, wide->column[0]), two = table_own(csv, r, wide->column[1]);
		bool gains = two < one;
		scheduled = scheduled && gains && table_among(cell, strcspn(cell, " ,("), "static dynamic guided auto");
		sized = sized && gains && two < 0.8 * one && 0.8 * one < members * two;
	}
	return scheduled || sized || (many && table_has_word(csv->header[0], "lock locks mutex barrier"));
}

/* Is there a version of another name beside "DR1" and "DR2"? */
static bool has_other(const struct csv *csv, const struct wide *wide, const char *word) {
	bool other = false, known = table_is_parameter(word) || table_is_problem(word) || table_is_team(word);
	for (size_t c = 0; c < csv->columns && !known && strlen(word) > 1 && !other; c++) {
		size_t i = 0;
		while (i < wide->count && wide->column[i] != c)
			i++;
		other = i == wide->count && wide_is_unknown(csv, c) && !table_has_word(csv->header[c], table_serial_words) &&
		        !table_is_team(csv->header[c]);
	}
	return other;
}

/* Columns whose headers are a number and the same word. */
bool wide_numbered_find(const struct csv *csv, struct wide *wide) {
	char word[TABLE_NAME], first[TABLE_NAME] = "", number[TABLE_NAME];
	struct table_name one, name;
	for (size_t c = 0; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		if (!wide_is_numbers(csv, c) || table_is_statistic(&name) || !wide_header_split(csv->header[c], word, number) ||
		    (wide->count && (strcmp(word, first) != 0 || !wide_is_same_measure(&one, &name))))
			continue;
		if (wide->count == 0) {
			one = name;
			snprintf(first, sizeof first, "%s", word);
		}
		wide->column[wide->count] = c;
		wide->value[wide->count++] = arena_strdup(csv->arena, number);
	}
	bool counting = is_counting(wide, 1), members = is_counting(wide, 0) && table_has_word(first, member_words);
	bool runs = counting && (table_among(first, strlen(first), table_run_words) ||
	                         (strcmp(first, "t") == 0 && table_is_team(csv->header[0])));
	if (wide->count < 2 ||
	    (!runs && (others_timed(csv, wide) || ((counting || is_counting(wide, 0)) && has_other(csv, wide, first)))))
		return false;
	if (members || runs || (counting && strcmp(first, "time") == 0))
		wide->repeats = true;
	else if (*first)
		wide->name = wide_name_of_word(csv, first);
	else
		wide->name = are_teams(csv, wide) ? "threads" : NULL;
	wide->numbered = !wide->repeats;
	wide->unnamed = wide->numbered && !wide_kinds(csv, wide, one.measure);
	return (!*first || runs || is_name_of_numbers(first, counting)) && serial_add(csv, &one, wide);
}
