/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of LIKWID's marker API as regions of Sweetspot. Installed below sweetspot/, so that LIKWID's own header of
 * this name stays what it is:
 *
 *     cc -DLIKWID_PERFMON -I PREFIX/include/sweetspot app.c -lsweetspot
 *
 * The names and arguments are those of likwid-marker.h of LIKWID 5. Without LIKWID_PERFMON the macros are empty, as
 * there. A program cannot read the counts of its own regions: LIKWID_MARKER_GET sets all of them to 0. */
#ifndef LIKWID_MARKER_H
#define LIKWID_MARKER_H
#include "../sweetspot.h"

#ifdef LIKWID_PERFMON

static inline void likwid_markerNothing(void) {
}

static inline int likwid_markerStartRegion(const char *tag) {
	sweetspot_begin(tag);
	return 0;
}

static inline int likwid_markerStopRegion(const char *tag) {
	sweetspot_end(tag);
	return 0;
}

/* Regions need no registration, and their sums are not reset. */
static inline int likwid_markerRegisterRegion(const char *tag) {
	(void)tag;
	return 0;
}

static inline void likwid_markerGetRegion(const char *tag, int *events, double *counts, double *seconds, int *calls) {
	(void)tag;
	(void)counts;
	if (events)
		*events = 0;
	if (seconds)
		*seconds = 0;
	if (calls)
		*calls = 0;
}

#define likwid_markerInit        likwid_markerNothing
#define likwid_markerThreadInit  likwid_markerNothing
#define likwid_markerNextGroup   likwid_markerNothing
#define likwid_markerClose       likwid_markerNothing
#define likwid_markerResetRegion likwid_markerRegisterRegion
#define likwid_markerWriteFile   likwid_markerRegisterRegion

#define LIKWID_MARKER_INIT           likwid_markerInit()
#define LIKWID_MARKER_THREADINIT     likwid_markerThreadInit()
#define LIKWID_MARKER_SWITCH         likwid_markerNextGroup()
#define LIKWID_MARKER_REGISTER(tag)  likwid_markerRegisterRegion(tag)
#define LIKWID_MARKER_START(tag)     likwid_markerStartRegion(tag)
#define LIKWID_MARKER_STOP(tag)      likwid_markerStopRegion(tag)
#define LIKWID_MARKER_RESET(tag)     likwid_markerResetRegion(tag)
#define LIKWID_MARKER_WRITE_FILE(to) likwid_markerWriteFile(to)
#define LIKWID_MARKER_CLOSE          likwid_markerClose()
#define LIKWID_MARKER_GET(tag, events, counts, seconds, calls)                                                         \
	likwid_markerGetRegion(tag, events, counts, seconds, calls)

#else

#define LIKWID_MARKER_INIT
#define LIKWID_MARKER_THREADINIT
#define LIKWID_MARKER_SWITCH
#define LIKWID_MARKER_REGISTER(tag)
#define LIKWID_MARKER_START(tag)
#define LIKWID_MARKER_STOP(tag)
#define LIKWID_MARKER_RESET(tag)
#define LIKWID_MARKER_WRITE_FILE(to)
#define LIKWID_MARKER_CLOSE
#define LIKWID_MARKER_GET(tag, events, counts, seconds, calls)

#endif
#endif
