/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watches how much of our processors others use while something is tuned. Times between two looks are compared: what
 * all processors did, less what this process and its descendants did, is what others did. A look takes some
 * milliseconds, so it is taken between trials only. */
#ifndef TUNER_BUSY_BUSY_H
#define TUNER_BUSY_BUSY_H
#include <jansson.h>
#include <stdbool.h>

struct busy;

struct busy *busy_new(void); /* takes the first look */
void busy_free(struct busy *busy);
/* Looks again if the last look is long enough ago for the clock ticks that the kernel counts in. */
void busy_look(struct busy *busy);
/* Did others use our processors at the last look, by more than what is always there? */
bool busy_now(const struct busy *busy);
/* Waits for others to end, at most so many seconds or until *interrupt is set. Returns the seconds waited. */
double busy_wait(struct busy *busy, double seconds, const volatile int *interrupt);
/* {"processors", "load", "others", "steal", "busy", "waited_s"} over all looks; null: /proc is not readable. `others`
 * and `steal` are in processors, `load` is the largest average over a minute. New reference. */
json_t *busy_json(const struct busy *busy);
/* Is that much use by others, of so many processors, worth a word? */
bool busy_judge(int processors, double others, double steal);

#endif
