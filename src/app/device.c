/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/app_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_MAX = 999, NAME_MAX_BYTES = 48 };

const struct device device_cpu = {.word = "cpu", .kind = "cpu"};

static const char HINT[] = "the device is cpu, cuda, cuda:N for the Nth GPU, hip, hip:N, opencl, opencl:N, or "
						   "opencl:NAME with a part of the name of a platform or device";

/* Reads what follows "cuda", "hip" or "opencl": nothing, or a colon and a number. */
static bool index_read(const char *text, long *index) {
	char *end;
	*index = 0;
	if (!*text)
		return true;
	if (text[0] != ':' || text[1] < '0' || text[1] > '9')
		return false;
	*index = strtol(text + 1, &end, 10);
	return !*end && *index <= INDEX_MAX;
}

/* The worker knows which devices there are, so a name is kept as it is. */
static bool is_name(const char *text) {
	static const char others[] = " ._()-@";
	size_t size = strlen(text);
	for (const char *at = text + 1; text[0] == ':' && *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr(others, *at))
			return false;
	return text[0] == ':' && size > 1 && size < NAME_MAX_BYTES && !isdigit((unsigned char)text[1]);
}

int device_read(const char *word, struct device *device, struct err *err) {
	static const char *const kinds[] = {"cuda", "opencl", "hip"};
	*device = device_cpu;
	if (strcmp(word, "cpu") == 0)
		return 0;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t length = strlen(kinds[i]);
		long index;
		bool begins = strncmp(word, kinds[i], length) == 0, named = begins && i == 1 && is_name(word + length);
		if (!named && (!begins || !index_read(word + length, &index)))
			continue;
		if (named)
			snprintf(device->word, sizeof device->word, "%s", word);
		else
			snprintf(device->word, sizeof device->word, "%s:%ld", kinds[i], index);
		device->kind = kinds[i];
		return 0;
	}
	return err_set(err, ERR_USAGE, HINT, "unknown device \"%.60s\"", word);
}
