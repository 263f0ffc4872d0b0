/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The differences between two profiles: of two machines, compilers or dates. */
#pragma once
#include <jansson.h>

/* {"machine": [{"name", "a", "b"}], "entries": [{"kernel", "problem", "objective", "device", "a": entry or null, "b":
 * the same, "changes": ["added" or "removed", or of "configuration", "time", "verdict", "source", "baseline"],
 * "config": [{"name", "a", "b"}], "ratio": b's median over a's or null, "ci": its 95 % interval or null, "verdict":
 * "faster" (b is), "slower", "tie", "undecided" or null}]}, with the entries that did not change; the newest of several
 * entries for the same problem counts. The two were not measured in pairs, so a verdict needs an interval beyond 1 %
 * and beyond the noise floors of both. A time has changed if it is faster or slower. New reference. */
json_t *profile_diff(const json_t *a, const json_t *b);
