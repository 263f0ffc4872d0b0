/* SPDX-License-Identifier: BSD-3-Clause */
/* Provides the headers of our own .cu files. NVRTC gets them by name, because the host may lack a search path for them.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "gpu/compile.h"
#include "src/base/mem.h"

#define HEADER_SHARED "sweetspot.cuh"

bool include_next(const char **text, struct include *include) {
	const char *line = *text, *end;
	for (; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		const char *at = line + strspn(line, " \t");
		if (*at != '#')
			continue;
		at += 1 + strspn(at + 1, " \t");
		if (strncmp(at, "include", 7) != 0)
			continue;
		at += 7 + strspn(at + 7, " \t");
		bool angled = *at == '<';
		*include = (struct include){.quoted = !angled};
		if (angled || *at == '"') {
			include->name = at + 1;
			include->length = strcspn(at + 1, angled ? ">\n" : "\"\n");
		}
		*text = *end ? end + 1 : end;
		return true;
	}
	return false;
}

bool include_is_shared(const struct include *include) {
	return include->quoted && include->length == strlen(HEADER_SHARED) &&
	       strncmp(include->name, HEADER_SHARED, include->length) == 0;
}

static bool is_known(const struct headers *headers, const struct include *include) {
	for (int i = 0; i < headers->count; i++)
		if (strlen(headers->names[i]) == include->length &&
		    strncmp(headers->names[i], include->name, include->length) == 0)
			return true;
	return false;
}

/* Takes ownership of the name and the path. */
static bool header_add(struct headers *headers, char *name, char *path, struct err *err) {
	char *text = NULL;
	if (headers->count == HEADERS_MAX)
		err_set(err, ERR_FAILED, NULL, "a kernel's source includes more than %d headers", HEADERS_MAX);
	else
		text = source_read(path, err);
	free(path);
	if (!text) {
		free(name);
		return false;
	}
	headers->names[headers->count] = name;
	headers->texts[headers->count++] = text;
	return true;
}

/* Adds the headers that a text includes and that are still missing, from the folder of the source. */
static bool headers_of(struct headers *headers, const char *source, const char *text, struct err *err) {
	struct include include;
	const char *slash = strrchr(source, '/');
	int folder = slash ? (int)(slash + 1 - source) : 0;
	while (include_next(&text, &include)) {
		int length = (int)include.length;
		if (include.quoted && length > 0 && !is_known(headers, &include) &&
		    !header_add(headers, mem_printf("%.*s", length, include.name),
		                mem_printf("%.*s%.*s", folder, source, length, include.name), err))
			return false;
	}
	return true;
}

bool headers_read(const struct source *source, struct headers *headers, struct err *err) {
	*headers = (struct headers){.count = 0};
	if (source->device) /* sweetspot.cuh is for CUDA */
		return true;
	if (!header_add(headers, mem_strdup(HEADER_SHARED), mem_strdup(HEADER_SHARED), err))
		return false;
	bool fine = source->users || headers_of(headers, source->name, source->text, err);
	for (int i = 1; fine && i < headers->count; i++)
		fine = headers_of(headers, source->name, headers->texts[i], err);
	if (!fine)
		headers_free(headers);
	return fine;
}

void headers_free(struct headers *headers) {
	for (int i = 0; i < headers->count; i++) {
		free(headers->names[i]);
		free(headers->texts[i]);
	}
	headers->count = 0;
}
