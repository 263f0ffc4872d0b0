/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels and regions of a program with Kokkos, as libsweetspot-kokkos saw them in a run. */
#ifndef TUNER_PROGRAM_KOKKOS_SEEN_H
#define TUNER_PROGRAM_KOKKOS_SEEN_H
#include <jansson.h>
#include <stdbool.h>

/* {"regions": [{"name", "kind", "calls", "time", "share"}], "processes", "facts": {"version", "device", "tile"}} by the
 * records in the folder, whose names begin with "kokkos.". NULL: there are none. New reference. */
json_t *kokkos_seen_read(const char *folder, double seconds);
/* The program has tiles to choose, and its Kokkos computes wrong results with those that a tool chooses. */
bool kokkos_seen_breaks(const json_t *seen);
#endif
