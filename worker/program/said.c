/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/program/said.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { SAID_LINES = 10, SAID_LINES_SHOWN = 1000, SAID_LINE = 400 };

/* Lines of binary data say nothing, so a few words replace a run of them. */
static void line_add(json_t *lines, const char *line, bool binary) {
	const char *last = json_string_value(json_array_get(lines, json_array_size(lines) - 1));
	if (binary && last && strcmp(last, PROGRAM_BINARY) == 0) {
		return;
	}
	json_array_append_new(lines, json_string(binary ? PROGRAM_BINARY : line));
}

/* Adds the last lines of the text that are not empty. */
static void lines_add(json_t *lines, char *text, size_t most) {
	size_t end = strlen(text), start, count = 0;
	for (start = end; start > 0 && count < most; start--) {
		count += text[start - 1] == '\n' && start < end;
	}
	start += count == most ? 1 : 0; /* that newline belongs to the line before */
	for (char *line = text + start, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next) {
			*next++ = '\0';
		}
		if (strlen(line) > SAID_LINE) {
			line[SAID_LINE] = '\0';
		}
		bool binary = text_is_binary(line, strlen(line));
		text_clean(line, false);
		if (line[strspn(line, " ")]) {
			line_add(lines, line, binary);
		}
	}
}

json_t *program_said(const struct program_trial *trial) {
	size_t most = trial->request->show ? SAID_LINES_SHOWN : SAID_LINES;
	json_t *lines = json_array();
	char *out = digest_end_text(&trial->output.digest), *err = tail_raw(&trial->run.tail);
	lines_add(lines, out, most);
	lines_add(lines, err, most);
	free(out);
	free(err);
	return lines;
}
