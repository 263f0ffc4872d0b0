/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which configuration is the best if values are noisy and no comparison follows? The smallest of many noisy values is
 * usually a lucky one. The last evaluations of a budget therefore repeat the leaders, as long as it is not clear who
 * leads: either the leader or its closest challenger, whichever was measured less (top-two sampling: Russo, Simple
 * Bayesian algorithms for best arm identification, 2016, with the challenger of Shang et al., Fixed-confidence
 * guarantees for Bayesian best-arm identification, 2020). doc/lab/search.md has what that gains. */
#ifndef TUNER_SEARCH_LEADERS_H
#define TUNER_SEARCH_LEADERS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leaders;
struct leaders *leaders_new(void);
void leaders_free(struct leaders *leaders);
/* Adds a measurement, > 0; smaller is better. All of a configuration count by their geometric mean. */
void leaders_note(struct leaders *leaders, uint64_t index, double value);
/* Which one should be measured again; false: it is clear who leads, or there are not two. */
bool leaders_again(const struct leaders *leaders, uint64_t *index);

struct leader {
	uint64_t index; /* UINT64_MAX: nothing was measured */
	double value;   /* geometric mean of its measurements; NAN: there are none */
	size_t times;
};
/* The least value, or where repeats have shown the noise, the least upper end of an interval of one deviation. */
struct leader leaders_best(const struct leaders *leaders);
/* The deviation of the logarithm of one measurement, from the repeats; NAN: there were none. */
double leaders_noise(const struct leaders *leaders);

#endif
