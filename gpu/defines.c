/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns a configuration into -DNAME=VALUE and the other options of the compiler. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/compile.h"

/* A count beyond the limit makes options_make refuse it. */
void gpu_define_word(struct gpu_defines *defines, const char *name, const char *value) {
	if (defines->count < GPU_DEFINES_MAX &&
	    snprintf(defines->text[defines->count], GPU_DEFINE, "%s=%s", name, value) < GPU_DEFINE)
		defines->count++;
	else
		defines->count = GPU_DEFINES_MAX + 1;
}

void gpu_define(struct gpu_defines *defines, const char *name, long long value) {
	char text[24];
	snprintf(text, sizeof text, "%lld", value);
	gpu_define_word(defines, name, text);
}

static int by_text(const void *a, const void *b) {
	return strcmp(a, b);
}

static bool says(const char *const *words, const char *prefix) {
	for (; words && *words; words++)
		if (strncmp(*words, prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

int options_make(struct options *options, const struct source *source, const char *arch) {
	size_t defines = source->defines ? source->defines->count : 0, more = 0;
	while (source->options && source->options[more])
		more++;
	options->count = 0;
	if (defines > GPU_DEFINES_MAX || more > COMPILE_OPTIONS_MAX - OPTIONS_OWN - defines)
		return -1;
	if (arch) {
		snprintf(options->arch, sizeof options->arch, "--gpu-architecture=%s", arch);
		options->words[options->count++] = options->arch;
		options->words[options->count++] = "--ptxas-options=-v";
	}
	if (!says(source->options, "--std=") && !says(source->options, "-std="))
		options->words[options->count++] = "--std=c++17";
	for (size_t i = 0; i < defines; i++)
		snprintf(options->defines[i], sizeof options->defines[i], "-D%s", source->defines->text[i]);
	qsort(options->defines, defines, sizeof *options->defines, by_text);
	for (size_t i = 0; i < defines; i++)
		options->words[options->count++] = options->defines[i];
	for (size_t i = 0; i < more; i++)
		options->words[options->count++] = source->options[i];
	return options->count;
}
