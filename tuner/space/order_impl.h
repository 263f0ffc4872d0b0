/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variable orders that are worth trying, because the size of a diagram depends on its order and the best order is hard
 * to find. All of them put a parameter after those that its condition mentions. */
#ifndef TUNER_SPACE_ORDER_IMPL_H
#define TUNER_SPACE_ORDER_IMPL_H
#include "tuner/space/part_impl.h"

enum space_order {
	ORDER_DECLARED, /* the order in which parameters were added */
	ORDER_NARROW,   /* greedy: keeps the number of parameters small that undecided parts still need */
	ORDER_FINISH,   /* part by part, the one with the fewest parameters left first */
	ORDER_COUNT
};

void space_order_make(const struct space *space, const struct part_source *sources, size_t count, enum space_order kind,
                      int *order);
#endif
