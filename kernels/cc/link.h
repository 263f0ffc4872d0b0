/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining the trees of an edge's two ends, by many threads at once. Both return whether two roots became one. A pointer
 * only ever moves to a smaller vertex, by compare and swap: so no cycle comes up, and no hook is lost. */
#ifndef KERNELS_CC_LINK_H
#define KERNELS_CC_LINK_H
#include "kernels/cc/cc.h"

/* Hooks the larger root to the smaller vertex: Sutton, Ben-Nun and Barak, 2018 (see afforest.c). */
static inline bool cc_link_hook(int32_t *label, int32_t a, int32_t b, int64_t *events) {
	int32_t x = cc_load(&label[a]), y = cc_load(&label[b]);
	while (x != y) {
		int32_t high = x > y ? x : y, low = x > y ? y : x, above = cc_load(&label[high]);
		if (above == low)
			return false;
		if (above == high) {
			if (cc_swap(&label[high], high, low))
				return true;
			KERNEL_COUNT(events, CC_CAS_FAILURES, 1);
		}
		x = cc_load(&label[cc_load(&label[high])]);
		y = cc_load(&label[low]);
	}
	return false;
}

/* Rem's algorithm with splicing: climbs from the end with the larger pointer and bends that to the smaller one on the
 * way. What is cut off is joined again by the climb from above it. Patwary, Refsnes and Manne, "Multi-core spanning
 * forest algorithms using the disjoint-set data structure", 2012; with compare and swap instead of locks in Dhulipala,
 * Hong and Shun, "ConnectIt: a framework for static and incremental parallel graph connectivity algorithms", 2020. */
static inline bool cc_link_splice(int32_t *label, int32_t a, int32_t b, int64_t *events) {
	for (;;) {
		int32_t x = cc_load(&label[a]), y = cc_load(&label[b]);
		if (x == y)
			return false;
		int32_t climber = x > y ? a : b, from = x > y ? x : y, to = x > y ? y : x;
		bool bent = cc_swap(&label[climber], from, to);
		if (bent && from == climber)
			return true;
		KERNEL_COUNT(events, CC_CAS_FAILURES, !bent);
		if (x > y)
			a = from;
		else
			b = from;
	}
}

#endif
