/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/program/program_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/text.h"

enum { WITNESS_KINDS = 4 /* more different runs of one trial are not kept */, WITNESS_ERRORS = 8, WITNESS_LINE = 200 };

/* A program that fails and says so may still end with status 0. */
static bool is_error(const char *line) {
	static const char *const words[] = {"error",     "fail",     "cannot", "can't",     "not found", "denied",
	                                    "violation", "invalid",  "fatal",  "exception", "traceback", "abort",
	                                    "no such",   "overflow", "unable", "panic"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(line, words[i]))
			return true;
	return false;
}

/* The lines of stderr that speak of errors. */
static json_t *errors_json(const struct program_run *run) {
	json_t *lines = json_array();
	char *text = tail_text(&run->tail), *rest = text;
	for (char *line; json_array_size(lines) < WITNESS_ERRORS && (line = strsep(&rest, "\n"));) {
		if (strlen(line) > WITNESS_LINE)
			line[WITNESS_LINE] = '\0';
		if (is_error(line))
			json_array_append_new(lines, js_text(line));
	}
	free(text);
	return lines;
}

static double processor_seconds(const struct rusage *usage) {
	return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
	       ((double)usage->ru_utime.tv_usec + (double)usage->ru_stime.tv_usec) * 1e-6;
}

static bool is_same(const json_t *a, const json_t *b) {
	return js_same(a, b, (const char *const[]){"output", "errors", "left", "files", NULL});
}

static void runs_add(json_t *seen, const json_t *one) {
	json_object_set_new(seen, "runs", json_integer(js_int_or(seen, "runs", 0) + 1));
	json_object_set_new(seen, "processor_s",
	                    json_real(js_real_or(seen, "processor_s", 0) + js_real_or(one, "processor_s", 0)));
}

void program_witness_add(json_t *list, const struct program_run *run, const struct program_output *output,
                         const char *hash, json_t *files) {
	json_t *one =
		json_pack("{s:i,s:o,s:o,s:s,s:o,s:f}", "runs", 1, "output", digest_json(&output->digest, hash), "errors",
	              errors_json(run), "left", run->left, "files", files, "processor_s", processor_seconds(&run->usage));
	js_each (seen, list) {
		if (is_same(seen, one)) {
			runs_add(seen, one);
			json_decref(one);
			return;
		}
	}
	if (json_array_size(list) < WITNESS_KINDS)
		json_array_append_new(list, one);
	else
		json_decref(one);
}
