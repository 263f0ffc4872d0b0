/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orders of placement worth trying. All of them place a parameter after those that its condition mentions. */
#ifndef TUNER_SPACE_ORDER_H
#define TUNER_SPACE_ORDER_H
#include "tuner/space/part.h"

enum space_order {
	ORDER_DECLARED, /* as the parameters were added */
	ORDER_NARROW,   /* next comes what keeps the parameters that undecided parts still need few */
	ORDER_FINISH,   /* part by part, the one with the least left first */
	ORDER_COUNT
};

void space_order_make(const struct space *space, const struct part_source *sources, size_t count, enum space_order kind,
                      int *order);

#endif
