/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "tuner/program/program_impl.h"

/* Compilers (GCC, Clang, gfortran, nvcc), linkers, CMake and Python write one of these; make and cargo only repeat that
 * something failed, so their own lines come last. */
static const char *const marks[] = {"error:",      "Error:",      "undefined reference",
                                    "error #",     "CMake Error", "No such file or directory",
                                    "cannot find", "not found",   "No rule to make target"};

/* The compiler repeats that its linker failed, behind what the linker said. */
static bool is_repetition(const char *text) {
	return strstr(text, "ld returned 1 exit status") || strstr(text, "linker command failed");
}

static const char *find(const json_t *lines, const char *mark) {
	js_each (line, lines) {
		const char *text = json_string_value(line);
		if (text && strstr(text, mark) && !is_repetition(text))
			return text;
	}
	return NULL;
}

/* The earliest line with any of the marks. */
static const char *earliest(const json_t *lines) {
	js_each (line, lines) {
		const char *text = json_string_value(line);
		for (size_t m = 0; text && m < sizeof marks / sizeof *marks; m++)
			if (strstr(text, marks[m]))
				return text;
	}
	return NULL;
}

const char *program_first_error(const json_t *lines) {
	const char *line = find(lines, "error:");
	if (!line)
		line = earliest(lines);
	return line ? line : json_string_value(json_array_get(lines, json_array_size(lines) - 1));
}
