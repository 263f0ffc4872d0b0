/* SPDX-License-Identifier: BSD-3-Clause */
/* libsweetspot: what a program tells Sweetspot about itself. Installed as <sweetspot.h>; link with -lsweetspot.
 *
 * A region is what runs between sweetspot_begin(name) and sweetspot_end(name) in one thread. `sweetspot tune -- PROGRAM`
 * then shows the time of each region and what its threads counted in it. Elsewhere both calls return at once.
 *
 *     sweetspot_begin("sweep");
 *     ...
 *     sweetspot_end("sweep");
 *
 * Regions may nest, overlap, recurse, and be entered by many threads at the same time. A region ends in the thread that
 * began it. Names are copied, and cut after 255 bytes. Any call is harmless: an end without a begin, or a begin without
 * an end, is reported, and counts nothing. Not to be called in signal handlers.
 *
 * From Fortran, without an interface: call sweetspot_begin('sweep'). */
#ifndef SWEETSPOT_H
#define SWEETSPOT_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
void sweetspot_begin(const char *name);
void sweetspot_end(const char *name);
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
