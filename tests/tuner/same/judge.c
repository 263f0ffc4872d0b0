/* SPDX-License-Identifier: GPL-3.0-or-later */
/* judge SIDES BASE BEST: reads replies of the worker from stdin, one a line, the first letter of SIDES for the first of
 * them: b, of the setting BASE, or w, of the setting BEST. Prints what the latter does otherwise, or "same". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/same/same.h"

static void clauses_print(json_t *clauses, bool *any) {
	size_t i;
	json_t *clause;
	json_array_foreach(clauses, i, clause) {
		puts(json_string_value(clause));
		*any = true;
	}
	json_decref(clauses);
}

static json_t *line_read(char **line, size_t *room) {
	return getline(line, room, stdin) > 0 ? json_loads(*line, 0, NULL) : NULL;
}

int main(int argc, char **argv) {
	json_t *lists[2] = {json_array(), json_array()}, *reply;
	char *line = NULL;
	size_t room = 0;
	bool any = false;
	if (argc != 4)
		return 2;
	struct same_case one = {.base_config = json_loads(argv[2], 0, NULL),
	                        .best_config = json_loads(argv[3], 0, NULL),
	                        .base = lists[0],
	                        .best = lists[1]};
	for (const char *side = argv[1]; *side && (reply = line_read(&line, &room)); side++) {
		const char *status = json_string_value(json_object_get(reply, "status"));
		if (!status || strcmp(status, "correct") != 0) {
			printf("%s: %s", *side == 'b' ? "the baseline fails" : "it fails", line);
			return 1;
		}
		same_add(lists[*side == 'w'], json_object_get(reply, "evidence"));
		json_decref(reply);
	}
	if (!same_is_known(&one))
		return puts("unknown"), 1;
	clauses_print(same_output(&one), &any);
	clauses_print(same_files(&one), &any);
	clauses_print(same_left(&one), &any);
	if (!any)
		puts("same");
	json_decref((json_t *)one.base_config);
	json_decref((json_t *)one.best_config);
	json_decref(lists[0]);
	json_decref(lists[1]);
	free(line);
	return 0;
}
