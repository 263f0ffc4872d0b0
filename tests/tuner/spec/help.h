/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Specifications in few words, for tests: apostrophes stand for the quotes of JSON, ` for an apostrophe. */
#ifndef TESTS_TUNER_SPEC_HELP_H
#define TESTS_TUNER_SPEC_HELP_H
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/spec/spec.h"

__attribute__((unused)) static char *quoted(const char *text) {
	char *copy = mem_strdup(text);
	for (char *at = copy; *at; at++)
		*at = *at == '\'' ? '"' : *at == '`' ? '\'' : *at;
	return copy;
}

__attribute__((unused)) static struct spec *spec_of(const char *text, struct err *err) {
	char *json = quoted(text);
	struct spec *spec = spec_parse(json, strlen(json), "folder/file.t1.json", err);
	free(json);
	return spec;
}

/* Parameters, conditions and the members of KernelSpecification, each without its brackets. */
__attribute__((unused)) static struct spec *spec_with(const char *params, const char *conditions, const char *kernel,
                                                      struct err *err) {
	char *text = mem_printf("{'ConfigurationSpace': {'TuningParameters': [%s], 'Conditions': [%s]}, "
	                        "'KernelSpecification': {%s}}",
	                        params, conditions, kernel);
	struct spec *spec = spec_of(text, err);
	free(text);
	return spec;
}

#endif
