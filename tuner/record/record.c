/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/record/record.h"

#include <stdlib.h>

#include "tuner/record/build.h"
#include "tuner/record/format.h"
#include "tuner/record/load.h"

const char *record_status_word(enum record_status status) {
	static const char *const words[] = {
		[RECORD_CORRECT] = "correct", [RECORD_CONSTRAINTS] = "constraints", [RECORD_COMPILE] = "compile",
		[RECORD_RUNTIME] = "runtime", [RECORD_TIMEOUT] = "timeout",         [RECORD_CORRECTNESS] = "correctness",
	};
	return words[status];
}

static struct record *parse(struct load *load, struct err *err) {
	struct scan scan = load_scan(load, err);
	const struct record_format *format = record_detect(&scan);
	if (!format)
		return NULL;
	struct build *build = build_new();
	struct record *record = format->read(&scan, build) ? build_finish(build, scan.name, err) : NULL;
	if (record)
		record->format = format->name;
	build_free(build);
	return record;
}

/* A text that cannot be unpacked explains every other error, so that only this one is reported. */
static struct record *parse_and_free(struct load *load, struct err *err) {
	struct err why = {0}, packed = {0};
	if (!load)
		return NULL;
	struct record *record = parse(load, &why);
	int ended = load_end(load, &packed);
	if (ended) {
		record_free(record);
		record = NULL;
	}
	if (ended > 0) {
		why = (struct err){0};
		record = parse(load, &why);
	}
	if (!record && err)
		*err = ended < 0 ? packed : why;
	load_free(load);
	return record;
}

struct record *record_read(const char *path, struct err *err) {
	return parse_and_free(load_file(path, err), err);
}

struct record *record_parse(const char *text, size_t size, const char *name, struct err *err) {
	return parse_and_free(load_memory(text, size, name, err), err);
}

void record_free(struct record *record) {
	if (!record)
		return;
	space_free(record->space);
	arena_free(record->arena);
	free(record);
}

double record_row_cost(const struct record_row *row) {
	const struct record_cost *cost = &row->cost;
	return cost->compile + cost->run + cost->framework + cost->search + cost->validation;
}
