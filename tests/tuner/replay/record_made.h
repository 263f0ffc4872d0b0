/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded spaces for tests, as cache files in memory: parameters x (0 .. width-1) and y (0 .. height-1). */
#ifndef TESTS_TUNER_REPLAY_RECORD_MADE_H
#define TESTS_TUNER_REPLAY_RECORD_MADE_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tuner/record/record.h"

/* Milliseconds of a configuration, NAN: it fails. */
typedef double made_model(int x, int y);

static void made_values(FILE *out, int count) {
	for (int i = 0; i < count; i++)
		fprintf(out, "%s%d", i ? "," : "[", i);
	fputc(']', out);
}

static void made_row(FILE *out, int x, int y, double ms, double seconds) {
	fprintf(out, "%s\"%d,%d\":{\"x\":%d,\"y\":%d,\"compile_time\":%.17g,\"time\":", x || y ? "," : "", x, y, x, y,
	        seconds * 1e3);
	if (isnan(ms))
		fputs("\"RuntimeFailedConfig\"}", out);
	else
		fprintf(out, "%.17g,\"times\":[%.17g,%.17g,%.17g]}", ms, ms * .9, ms, ms * 1.1);
}

/* Every evaluation costs `seconds` to compile and nothing else. */
__attribute__((unused)) static struct record *record_made(int width, int height, made_model *model, double seconds) {
	char *text = NULL;
	size_t size = 0;
	struct err err = {0};
	FILE *out = open_memstream(&text, &size);
	fputs("{\"device_name\":\"test\",\"kernel_name\":\"made\",\"problem_size\":1,\"tune_params_keys\":[\"x\",\"y\"],"
	      "\"tune_params\":{\"x\":",
	      out);
	made_values(out, width);
	fputs(",\"y\":", out);
	made_values(out, height);
	fputs("},\"objective\":\"time\",\"cache\":{", out);
	for (int x = 0; x < width; x++)
		for (int y = 0; y < height; y++)
			made_row(out, x, y, model(x, y), seconds);
	fputs("}}", out);
	fclose(out);
	struct record *record = record_parse(text, size, "made", &err);
	free(text);
	if (!record) {
		err_print(&err, stderr);
		exit(1);
	}
	return record;
}

#endif
