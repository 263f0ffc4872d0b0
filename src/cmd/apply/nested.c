/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command may evaluate its words a second time (`sh -c`, eval, ssh), where no quoting of ours reaches. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/cmd/apply/apply.h"
#include "base/mem.h"

static const char PLAIN[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _.,:=/+@%-";
static const char BETWEEN[] = " \t\n'\";|&(){}`";

static bool is_evaluator(const char *word, size_t size) {
	static const char *const names[] = {"eval",   "sh",    "bash",    "dash",  "zsh",      "ksh",   "mksh", "ash",
	                                    "fish",   "csh",   "tcsh",    "ssh",   "rsh",      "su",    "make", "gmake",
	                                    "awk",    "gawk",  "mawk",    "watch", "parallel", "pdsh",  "let",  "declare",
	                                    "python", "perl",  "ruby",    "node",  "lua",      "php",   "[[",   "typeset",
	                                    "tclsh",  "julia", "Rscript", "trap",  "script",   "octave"};
	while (size > 1 && strchr("0123456789.", word[size - 1])) /* python3.11 */
		size--;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == size && memcmp(names[i], word, size) == 0)
			return true;
	return false;
}

/* The name without its folder of a program in the text that evaluates text, or NULL. */
static const char *evaluator_in(const char *text, size_t *size) {
	while (*(text += strspn(text, BETWEEN))) {
		size_t length = strcspn(text, BETWEEN);
		const char *slash = memrchr(text, '/', length), *name = slash ? slash + 1 : text;
		*size = length - (size_t)(name - text);
		if (is_evaluator(name, *size))
			return name;
		text += length;
	}
	return NULL;
}

static bool is_named(const char *const *named, const char *name) {
	while (named && *named && strcmp(*named, name) != 0)
		named++;
	return named && *named;
}

static bool is_filled_in(const struct apply_request *request, const char *name) {
	char *hole = mem_printf("{%s}", name);
	bool found = false;
	for (size_t i = 0; i < request->count; i++)
		found = found || strstr(request->words[i], hole);
	free(hole);
	return found;
}

int apply_nested_check(const json_t *config, const struct apply_request *request, struct err *err) {
	const char *evaluator = NULL, *name;
	json_t *value;
	size_t size = 0;
	for (size_t i = 0; i < request->count && !evaluator; i++)
		evaluator = evaluator_in(request->words[i], &size);
	json_object_foreach((json_t *)config, name, value) {
		const char *text = json_is_string(value) ? json_string_value(value) : "";
		if (!evaluator || !text[strspn(text, PLAIN)] || is_named(request->params, name) || !is_filled_in(request, name))
			continue;
		err_set(err, ERR_USAGE, NULL,
		        "the value of {%.64s} comes from a file and holds characters that %.*s would evaluate", name, (int)size,
		        evaluator);
		return err_hint(err, "if you trust the file: --param %.64s", name);
	}
	return 0;
}
