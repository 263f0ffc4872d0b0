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

static struct record *parse(const char *text, size_t size, const char *name, struct err *err) {
	struct scan scan = scan_of(text, size, name, err);
	const struct record_format *format = record_detect(&scan);
	if (!format)
		return NULL;
	struct build *build = build_new();
	struct record *record = format->read(&scan, build) ? build_finish(build, name, err) : NULL;
	if (record)
		record->format = format->name;
	build_free(build);
	return record;
}

struct record *record_read(const char *path, struct err *err) {
	size_t size;
	char *text = load_text(path, &size, err);
	struct record *record = text ? parse(text, size, path, err) : NULL;
	free(text);
	return record;
}

struct record *record_parse(const char *text, size_t size, const char *name, struct err *err) {
	size_t copied;
	char *copy = load_copy(text, size, name, &copied, err);
	struct record *record = copy ? parse(copy, copied, name, err) : NULL;
	free(copy);
	return record;
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
