/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "src/cmd/fleet/run.h"

enum { TEXT_MAX = 120, SIZE_MAX_READ = 64 << 10, COUNT_MAX = 1 << 20 };

/* Skips lines before the document, because a prolog of the job may write some. */
static const char *document_begin(const char *text) {
	while (*text && *text != '{') {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

static int fingerprint_read(const json_t *machine, char fingerprint[SHA256_TEXT], struct err *err) {
	const char *text;
	if (js_string(machine, "fingerprint", &text, err))
		return -1;
	bool good = strlen(text) == SHA256_TEXT - 1 && strncmp(text, "sha256:", 7) == 0 &&
	            strspn(text + 7, "0123456789abcdef") == 64;
	if (!good)
		return err_set(err, ERR_USAGE, NULL, "its fingerprint is invalid");
	memcpy(fingerprint, text, SHA256_TEXT);
	return 0;
}

/* Copies a text, shortened and safe to print. */
static json_t *text_copy(const json_t *from, const char *key) {
	char text[TEXT_MAX + 1];
	const char *given = js_string_or(from, key, NULL);
	if (!given)
		return json_null();
	snprintf(text, sizeof text, "%s", given);
	text_clean(text, false);
	return json_string(text);
}

static int counts_copy(json_t *to, const json_t *from, struct err *err) {
	static const char *const names[] = {"packages", "numa_nodes", "cores", "threads"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		int64_t count;
		if (js_int(from, names[i], 0, COUNT_MAX, &count, err))
			return -1;
		json_object_set_new(to, names[i], json_integer((json_int_t)count));
	}
	return 0;
}

json_t *fleet_machine_read(const char *text, char fingerprint[SHA256_TEXT], struct err *err) {
	const char *begin = document_begin(text);
	size_t size = strlen(begin);
	if (size > SIZE_MAX_READ) {
		err_set(err, ERR_USAGE, NULL, "its description is longer than %d bytes", SIZE_MAX_READ);
		return NULL;
	}
	json_t *from = js_parse(begin, size, "its description", err), *machine = json_object();
	int failed = !from || fingerprint_read(from, fingerprint, err) || counts_copy(machine, from, err);
	json_object_set_new(machine, "cpu", text_copy(from, "cpu"));
	json_object_set_new(machine, "gpu", text_copy(json_object_get(from, "gpu"), "name"));
	json_decref(from);
	if (!failed)
		return machine;
	json_decref(machine);
	return NULL;
}

char *fleet_machine_text(const json_t *machine) {
	const char *gpu = js_string_or(machine, "gpu", NULL);
	return mem_printf("%s%s%s", js_string_or(machine, "cpu", "unknown processor"), gpu ? ", " : "", gpu ? gpu : "");
}
