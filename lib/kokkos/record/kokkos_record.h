/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of kernels, copies and regions by their names, for `run --regions`. */
#ifndef LIB_KOKKOS_RECORD_KOKKOS_RECORD_H
#define LIB_KOKKOS_RECORD_KOKKOS_RECORD_H
#include <stdbool.h>

enum kokkos_kind { KOKKOS_KERNEL, KOKKOS_REGION, KOKKOS_COPY, KOKKOS_SECTION };

void kokkos_record_start(void);
/* Nothing is timed unless $SWEETSPOT_KOKKOS_RECORD names where to, or a report is wanted. */
bool kokkos_record_wanted(void);
/* The table goes to stderr at the end. */
void kokkos_record_report(void);
void kokkos_record_begin(enum kokkos_kind kind, const char *name);
void kokkos_record_end(enum kokkos_kind kind);
void kokkos_record_fact(const char *key, const char *value);
/* Writes the record, once; a child of a fork leaves its parent's alone. */
void kokkos_record_write(void);

/* ---- kokkos_facts.c ---- */
void kokkos_facts_version(const char *version);
void kokkos_facts_tile(void); /* there is one to choose */
/* This Kokkos computes wrong results with tiles that a tool chooses, or does not say its version. */
bool kokkos_facts_broken(void);
/* An earlier run of this program has said that nothing breaks if Kokkos asks, or the environment names no file of
 * facts. can_withdraw: single kernels need not ask. */
bool kokkos_facts_allow(bool can_withdraw);
/* Leaves the facts for later runs, once. */
void kokkos_facts_write(void);
#endif
