/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The diagram of a space that one table lists in full, as a recorded space is: the rows are sorted and merged from the
 * last parameter to the first, in time linear in the rows. */
#ifndef TUNER_SPACE_TABLE_H
#define TUNER_SPACE_TABLE_H
#include "tuner/space/impl.h"

/* The table that names every parameter, where it is the only one that is on; NULL: there is none. */
const struct space_table *space_full_table(const struct space *space, const bool *off);
/* Rows that break a condition, or a constraint that is on, are left out; so are twins. DIAGRAM_ENTANGLED: too large. */
struct diagram *space_table_diagram(const struct space *space, const struct space_table *table, const bool *off,
                                    enum diagram_status *status);

#endif
