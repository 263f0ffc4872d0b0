/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "base/sys.h"
#include "tuner/space/impl.h"

static size_t rule_count(const struct space *space) {
	return space->constraint_count + space->table_count;
}

/* Is the space empty without the rules that are off? */
static bool is_empty_without(const struct space *space, const bool *off) {
	enum diagram_status status;
	struct diagram *diagram = diagram_new(space, off, &status);
	bool empty = diagram && diagram->root == DIAGRAM_DEAD;
	diagram_free(diagram);
	return empty;
}

/* Keeps a minimal set of rules that makes the space empty, because that is what the user has to change: each rule is
 * dropped for good if the space stays empty without it. A single rule that is enough is looked for first. */
static size_t find_guilty(const struct space *space, bool *off) {
	size_t count = rule_count(space), left = 0;
	for (size_t i = 0; i < count; i++) {
		memset(off, 1, count);
		off[i] = false;
		if (is_empty_without(space, off))
			return 1;
	}
	memset(off, 0, count);
	for (size_t i = 0; i < count; i++) {
		off[i] = true;
		if (!is_empty_without(space, off)) {
			off[i] = false;
			left++;
		}
	}
	return left;
}

static int report_empty(const struct space *space, struct err *err) {
	size_t count = rule_count(space), used = 0;
	char text[160], list[400] = "";
	bool *off = mem_alloc(count, sizeof *off);
	size_t guilty = find_guilty(space, off);
	for (size_t i = 0; i < count && used < sizeof list - 1; i++) {
		if (off[i])
			continue;
		const char *rule = space_rule_text(space, i, text, sizeof text);
		used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", used ? " and " : "", rule);
	}
	free(off);
	if (guilty == 1)
		return err_set(err, ERR_USAGE, "no values of its parameters satisfy it: widen their ranges or drop it",
		               "the space is empty: nothing meets %s", list);
	return err_set(err, ERR_USAGE, "drop one of them or widen the ranges",
	               "the space is empty: nothing meets %s together", list);
}

int space_build(struct space *space, struct err *err) {
	enum diagram_status status;
	if (space->diagram)
		return err_set(err, ERR_FAILED, NULL, "the space was built already");
	if (space_bind(space, err) != 0)
		return -1;
	struct diagram *diagram = diagram_new(space, NULL, &status);
	if (status == DIAGRAM_STOPPED)
		return stop_fail(err, "while the space was counted");
	if (status == DIAGRAM_OVERFLOW)
		return err_set(err, ERR_USAGE, "give the parameters fewer values", "the space has over 2^64 configurations");
	if (status == DIAGRAM_ENTANGLED)
		return err_set(err, ERR_USAGE, "give the parameters of the largest constraint fewer values",
		               "the constraints tie too many values together to count the space");
	if (diagram->root == DIAGRAM_DEAD) {
		diagram_free(diagram);
		return report_empty(space, err);
	}
	space->diagram = diagram;
	return 0;
}

uint64_t space_valid(const struct space *space) {
	return space->diagram ? space->diagram->nodes[space->diagram->root].count : 0;
}
