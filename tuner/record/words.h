/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the formats. */
#ifndef TUNER_RECORD_WORDS_H
#define TUNER_RECORD_WORDS_H
#include "tuner/record/build.h"
#include "tuner/record/scan.h"

/* A text for the record; any other value is skipped and leaves *out unchanged. */
bool words_text(struct scan *scan, struct build *build, const char **out);
/* 4096, "n" and [64, 48] as "4096", "n" and "64x48" */
bool words_problem(struct scan *scan, struct build *build, const char **out);
/* A number; NAN for any other value. */
bool words_number(struct scan *scan, double *out);
/* The numbers of a list become samples; any other value is skipped. */
bool words_samples(struct scan *scan, struct build *build);
/* Reads a number in units of `unit_ms` milliseconds and stores it, in seconds, at the offset in struct record_cost. */
bool words_cost(struct scan *scan, struct record_cost *cost, size_t offset, double unit_ms);
/* The milliseconds in "s", "seconds", "Microseconds", "miliseconds", ..; 0 if it is not a unit of time. */
double words_unit_ms(const char *unit, size_t size);
double words_ms(double time, double unit_ms); /* rounded once */

#endif
