/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The diagram of a space that one table lists in full, as a recorded space is. The rows are sorted and merged from the
 * last parameter to the first, in time linear in their number. */
#ifndef TUNER_SPACE_TABLE_H
#define TUNER_SPACE_TABLE_H
#include "tuner/space/impl.h"

/* The table that names every parameter, if it is the only active one; otherwise NULL. */
const struct space_table *space_full_table(const struct space *space, const bool *off);
/* Drops duplicate rows, and rows that violate a condition or an active constraint. DIAGRAM_ENTANGLED: too large. */
struct diagram *space_table_diagram(const struct space *space, const struct space_table *table, const bool *off,
                                    enum diagram_status *status);

#endif
