/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the formats. */
#ifndef TUNER_RECORD_WORDS_H
#define TUNER_RECORD_WORDS_H
#include "tuner/record/build.h"
#include "tuner/record/scan.h"

/* A text for the record; anything else is passed over and leaves *out as it is. */
bool words_text(struct scan *scan, struct build *build, const char **out);
/* 4096, "n" and [64, 48] as "4096", "n" and "64x48" */
bool words_problem(struct scan *scan, struct build *build, const char **out);
/* A number, or NAN for any other value. */
bool words_number(struct scan *scan, double *out);
/* All numbers of a list become samples; another value is passed over. */
bool words_samples(struct scan *scan, struct build *build);
/* A number of `unit_ms` milliseconds, as seconds, to where the cost has it (offsetof struct record_cost). */
bool words_cost(struct scan *scan, struct record_cost *cost, size_t offset, double unit_ms);
/* Milliseconds in "s", "seconds", "Microseconds", "miliseconds" ...; 0: not a unit of time. */
double words_unit_ms(const char *unit, size_t size);
double words_ms(double time, double unit_ms); /* rounded once */

#endif
