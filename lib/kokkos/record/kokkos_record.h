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
#endif
