/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels and regions of a program with Kokkos, as libsweetspot-kokkos saw them in a run. */
#ifndef TUNER_PROGRAM_KOKKOS_SEEN_H
#define TUNER_PROGRAM_KOKKOS_SEEN_H
#include <jansson.h>
#include <stdbool.h>

/* {"regions": [{"name", "kind", "calls", "time", "share"}], "processes", "facts": {"version", "device", "tile"}} by the
 * records in the folder, whose names begin with "kokkos.". NULL: there are none. New reference. */
json_t *kokkos_seen_read(const char *folder, double seconds);
/* The version of a Kokkos that computes wrong results with tiles that a tool chooses, if its program has any to choose,
 * by the file of facts that the library has left. NULL: none. Caller frees. */
char *kokkos_seen_broken(const char *facts);
#endif
