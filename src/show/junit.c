/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/show/junit.h"

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"

struct junit {
	char *suite;
	json_t *cases; /* [{"group", "name", "seconds", "result", "message"}] */
};

struct junit *junit_new(const char *suite) {
	struct junit *junit = mem_alloc(1, sizeof *junit);
	junit->suite = mem_strdup(suite);
	junit->cases = json_array();
	return junit;
}

void junit_free(struct junit *junit) {
	if (!junit)
		return;
	json_decref(junit->cases);
	free(junit->suite);
	free(junit);
}

void junit_add(struct junit *junit, const char *group, const char *name, double seconds, enum junit_result result,
               const char *message) {
	json_array_append_new(junit->cases,
	                      json_pack("{s:o,s:o,s:o,s:i,s:o}", "group", js_text(group), "name", js_text(name), "seconds",
	                                js_number(seconds), "result", (int)result, "message", js_text(message)));
}

static void put_attribute(FILE *out, const char *name, const char *text) {
	fprintf(out, " %s=\"", name);
	text_markup(out, text);
	putc('"', out);
}

static void put_message(FILE *out, enum junit_result result, const char *message) {
	if (result == JUNIT_PASSED) {
		fputs("    <system-out>", out);
		text_markup(out, message);
		fputs("</system-out>\n", out);
		return;
	}
	fprintf(out, "    <%s", result == JUNIT_FAILED ? "failure" : "skipped");
	put_attribute(out, "message", message);
	fputs("/>\n", out);
}

static void put_case(FILE *out, const json_t *row) {
	const json_t *seconds = json_object_get(row, "seconds");
	fputs("  <testcase", out);
	put_attribute(out, "classname", js_string_or(row, "group", ""));
	put_attribute(out, "name", js_string_or(row, "name", ""));
	if (json_is_number(seconds))
		fprintf(out, " time=\"%.9g\"", json_number_value(seconds));
	fputs(">\n", out);
	put_message(out, (enum junit_result)js_int_or(row, "result", 0), js_string_or(row, "message", ""));
	fputs("  </testcase>\n", out);
}

static void put_suite(FILE *out, const struct junit *junit) {
	size_t tests = json_array_size(junit->cases), count[3] = {0};
	for (size_t i = 0; i < tests; i++)
		count[js_int_or(json_array_get(junit->cases, i), "result", 0)]++;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite", out);
	put_attribute(out, "name", junit->suite);
	fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", tests, count[JUNIT_FAILED],
	        count[JUNIT_SKIPPED]);
	for (size_t i = 0; i < tests; i++)
		put_case(out, json_array_get(junit->cases, i));
	fputs("</testsuite>\n", out);
}

int junit_write(const struct junit *junit, const char *path, struct err *err) {
	mem_auto char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (out)
		put_suite(out, junit);
	int failed =
		!out || fclose(out) ? err_set(err, ERR_FAILED, NULL, "out of memory") : sys_write_file(path, text, size, err);
	return failed;
}
