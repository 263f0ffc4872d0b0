/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The differences between two profiles: of two machines, compilers or dates. */
#ifndef TUNER_PROFILE_DIFF_H
#define TUNER_PROFILE_DIFF_H
#include <jansson.h>

/* {"machine": [{"name", "a", "b"}], "entries": [{"kernel", "problem", "objective", "device", "a": entry or null, "b":
 * the same, "changes": ["added" or "removed", or of "configuration", "time", "verdict", "source", "baseline"],
 * "config": [{"name", "a", "b"}], "ratio": b's median over a's or null}]}, with the entries that did not change; the
 * newest of several entries for the same problem counts. A time has changed if the intervals do not meet. New
 * reference. */
json_t *profile_diff(const json_t *a, const json_t *b);

#endif
