/* SPDX-License-Identifier: BSD-3-Clause */
/* Typed values of parameters and expressions. */
#ifndef BASE_VALUE_H
#define BASE_VALUE_H
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { PARAM_VALUES_MAX = 1 << 20 }; /* of a parameter */
enum value_type { VALUE_INT, VALUE_REAL, VALUE_WORD };

struct value {
	enum value_type type;
	union {
		int64_t i;
		double r;
		const char *w; /* not owned */
	} as;
};

struct value value_int(int64_t i);
struct value value_real(double r);
struct value value_word(const char *w);
double value_number(struct value value); /* NAN for a word */
/* For qsort: numbers by size, then words. Whole numbers that differ only beyond the precision of double stay distinct.
 */
int value_order(const void *left, const void *right);
bool value_equal(struct value a, struct value b); /* 2 equals 2.0; a word equals only the same word */
/* A whole number, a real number, else a word: the text itself. */
struct value value_parse(const char *text);
/* New reference, never NULL: null for a real that JSON cannot express, '?' for bytes of a word that are not UTF-8. */
json_t *value_json(struct value value);
/* Number, string or boolean (1 or 0); words point into json. False for anything else. */
bool value_from_json(const json_t *json, struct value *out);
/* Shortest text that reads back as an equal value; returns the length like snprintf. Infinities, NaN and words that
 * look like numbers do not have such a text. */
int value_text(struct value value, char *text, size_t size);
char *value_string(struct value value); /* the same; the caller frees it */
#endif
