/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/show/junit.h"

#include <math.h>

#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"

/* The cases are written as they come; the head, which counts them, at the end. */
struct junit {
	char *suite, *cases;
	size_t size, count[3];
	FILE *out;
};

struct junit *junit_new(const char *suite) {
	struct junit *junit = mem_alloc(1, sizeof *junit);
	junit->suite = mem_strdup(suite);
	junit->out = open_memstream(&junit->cases, &junit->size);
	return junit;
}

void junit_free(struct junit *junit) {
	if (junit->out)
		fclose(junit->out);
	free(junit->cases);
	free(junit->suite);
	free(junit);
}

static void put_attribute(FILE *out, const char *name, const char *text) {
	mem_auto char *clean = mem_strdup(text);
	text_clean(clean, false);
	fprintf(out, " %s=\"", name);
	text_markup(out, clean);
	putc('"', out);
}

void junit_add(struct junit *junit, const char *group, const char *name, double seconds, enum junit_result result,
               const char *message) {
	FILE *out = junit->out;
	if (!out)
		return;
	junit->count[result]++;
	fputs("  <testcase", out);
	put_attribute(out, "classname", group);
	put_attribute(out, "name", name);
	if (isfinite(seconds))
		fprintf(out, " time=\"%.9g\"", seconds);
	fputs(result == JUNIT_FAILED    ? ">\n    <failure"
	      : result == JUNIT_SKIPPED ? ">\n    <skipped"
	                                : ">\n    <system-out",
	      out);
	if (result == JUNIT_PASSED) {
		mem_auto char *clean = mem_strdup(message);
		text_clean(clean, false);
		putc('>', out);
		text_markup(out, clean);
		fputs("</system-out>", out);
	} else {
		put_attribute(out, "message", message);
		fputs("/>", out);
	}
	fputs("\n  </testcase>\n", out);
}

int junit_write(const struct junit *junit, const char *path, struct err *err) {
	mem_auto char *text = NULL;
	size_t size = 0;
	FILE *out = junit->out && fflush(junit->out) == 0 ? open_memstream(&text, &size) : NULL;
	if (!out)
		return err_set(err, ERR_FAILED, NULL, "out of memory");
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite", out);
	put_attribute(out, "name", junit->suite);
	fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n%s</testsuite>\n",
	        junit->count[0] + junit->count[1] + junit->count[2], junit->count[JUNIT_FAILED],
	        junit->count[JUNIT_SKIPPED], junit->cases);
	return fclose(out) ? err_set(err, ERR_FAILED, NULL, "out of memory") : sys_write_file(path, text, size, err);
}
