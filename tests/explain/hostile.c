/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded measurements that were changed anywhere, by bytes and by values, do no harm. Numbers behind the name are
 * seeds for as many more rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = {
	"explain/recorded/locks.json",
	"explain/recorded/kmeans_sync.json",
	"explain/recorded/gol_small.json",
	"explain/recorded/quake.json",
	"explain/recorded/cc.json",
	"explain/recorded/fw.json",
	"tuner/diagnosis/recorded/gpu_fw.json",
	"tuner/diagnosis/recorded/gpu_cc.json",
	"explain/recorded/lists.json",
	"tuner/diagnosis/recorded/gpu_quake_launch.json",
	"tuner/diagnosis/recorded/gpu_fw_copies.json",
};
enum { FILES = sizeof files / sizeof *files, ROWS = 16, VALUES = 260, BYTES = 260, DEEP = 400 };

/* Whether it was read. */
static bool run(const char *text, size_t size) {
	/* Of its own size, so that a sanitizer sees a step behind it. */
	uint8_t *copy = mem_alloc(size + !size, 1);
	memcpy(copy, text, size);
	bool read = LLVMFuzzerTestOneInput(copy, size) == 0;
	free(copy);
	return read;
}

static bool run_json(const json_t *document) {
	char *text = json_dumps(document, JSON_COMPACT | JSON_ENCODE_ANY);
	bool read = text && run(text, strlen(text));
	free(text);
	return read;
}

static json_t *recorded(size_t file) {
	char *path = mem_printf("%s/tests/%s", getenv("SRCDIR") ? getenv("SRCDIR") : ".", files[file]);
	json_t *document = js_load(path, 1 << 24, NULL);
	free(path);
	return document;
}

/* Some of its rows, each time others. */
static json_t *part_of(const json_t *whole, struct rng *rng) {
	json_t *document = json_deep_copy(whole), *rows = json_object_get(document, "rows");
	while (json_array_size(rows) > ROWS)
		json_array_remove(rows, rng_below(rng, json_array_size(rows)));
	return document;
}

static json_t *nested(void) {
	json_t *inner = json_array();
	for (int i = 0; i < DEEP; i++)
		inner = i % 2 ? json_pack("[o]", inner) : json_pack("{s:o}", "config", inner);
	return inner;
}

static json_t *value_any(struct rng *rng) {
	static const double reals[] = {
		0, -1, 1e308, -1e308, 1e-308, 4.9e-324, 0.5, 2.5e-7, 1e12, 1 << 20, 1.7976931348623157e308};
	static const json_int_t whole[] = {0, -1, 1, 2147483648, 4294967296, INT64_MAX, INT64_MIN, 1 << 20, 100000, 3};
	static const char *const words[] = {"",
	                                    "NaN",
	                                    "1e308",
	                                    "-4",
	                                    "\x1b[31mred\a",
	                                    "a\nb\tc",
	                                    "it's; rm $x `y`",
	                                    "tas",
	                                    "cuda",
	                                    "censored",
	                                    "runtime",
	                                    "\xc3\xa9\xe2\x82\xac",
	                                    "%s%n",
	                                    "none",
	                                    "static",
	                                    "threads",
	                                    "true",
	                                    "atomic",
	                                    "pageable"};
	switch (rng_below(rng, 8)) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(rng_below(rng, 2));
	case 2:
		return rng_below(rng, 2) ? json_array() : json_object();
	case 3:
		return nested();
	case 4:
		return json_integer(whole[rng_below(rng, sizeof whole / sizeof *whole)]);
	case 5:
		return json_string(words[rng_below(rng, sizeof words / sizeof *words)]);
	default:
		return json_real(reals[rng_below(rng, sizeof reals / sizeof *reals)]);
	}
}

/* A name as an object has it, or a long or dirty one. */
static char *name_any(struct rng *rng, const char *name) {
	static const char *const names[] = {"threads", "pad", "schedule", "n", "x\x1b[2J", "a b'c", "tile", "lock", "%s"};
	switch (rng_below(rng, 3)) {
	case 0:
		return mem_printf("%s_%0150d\xe2\x82\xac", name, 7);
	default:
		return mem_strdup(names[rng_below(rng, sizeof names / sizeof *names)]);
	}
}

static void object_change(json_t *object, struct rng *rng) {
	void *at = json_object_iter(object);
	for (uint64_t skip = rng_below(rng, json_object_size(object)); skip > 0; skip--)
		at = json_object_iter_next(object, at);
	char *key = mem_strdup(json_object_iter_key(at)), *other = name_any(rng, key);
	switch (rng_below(rng, 4)) {
	case 0:
		json_object_del(object, key);
		break;
	case 1:
		json_object_set(object, other, json_object_get(object, key));
		break;
	default:
		json_object_set_new(object, key, value_any(rng));
	}
	free(other);
	free(key);
}

static void array_change(json_t *array, struct rng *rng) {
	size_t at = rng_below(rng, json_array_size(array));
	json_t *copy = json_deep_copy(json_array_get(array, at));
	switch (rng_below(rng, 4)) {
	case 0:
		json_array_remove(array, at);
		break;
	case 1:
		json_array_append(array, copy);
		break;
	case 2:
		json_array_insert_new(array, at, value_any(rng));
		break;
	default:
		json_array_set_new(array, at, value_any(rng));
	}
	json_decref(copy);
}

/* Goes down at random and changes what it stops in. */
static void change(json_t *json, struct rng *rng) {
	for (;;) {
		json_t *inner = NULL;
		if (json_is_array(json) && json_array_size(json))
			inner = json_array_get(json, rng_below(rng, json_array_size(json)));
		else if (json_is_object(json) && json_object_size(json)) {
			void *at = json_object_iter(json);
			for (uint64_t skip = rng_below(rng, json_object_size(json)); skip > 0; skip--)
				at = json_object_iter_next(json, at);
			inner = json_object_iter_value(at);
		} else
			return;
		bool ends = !(json_is_array(inner) || json_is_object(inner)) || rng_below(rng, 5) == 0;
		if (ends && json_is_array(json))
			array_change(json, rng);
		else if (ends)
			object_change(json, rng);
		if (ends)
			return;
		json = inner;
	}
}

/* The same member of all rows: what is a column then. */
static void column_change(json_t *document, struct rng *rng) {
	static const char *const members[] = {"config", "problem", "work"};
	static const char *const names[] = {"threads", "n", "ops", "bytes", "lock", "variant", "pad"};
	const char *member = members[rng_below(rng, 3)], *name = names[rng_below(rng, 7)];
	json_t *row, *value = value_any(rng);
	size_t i;
	json_array_foreach(json_object_get(document, "rows"), i, row) {
		if (rng_below(rng, 3) == 0) {
			json_decref(value);
			value = value_any(rng);
		}
		if (json_is_object(json_object_get(row, member)))
			json_object_set(json_object_get(row, member), name, value);
	}
	json_decref(value);
}

static void test_values(uint64_t seed) {
	struct rng rng;
	int runs = 0, read = 0;
	rng_seed(&rng, seed);
	for (; runs < VALUES; runs++) {
		json_t *whole = recorded((size_t)runs % FILES), *document = part_of(whole, &rng);
		for (uint64_t n = 1 + rng_below(&rng, 4); n > 0; n--)
			change(document, &rng);
		if (rng_below(&rng, 2))
			column_change(document, &rng);
		read += run_json(document);
		json_decref(document);
		json_decref(whole);
	}
	ok(read > VALUES / 10 && read < VALUES, "%d documents with changed values, of which %d are read", runs, read);
}

static void mutate(struct rng *rng, char *text, size_t size) {
	static const char marks[] = "{}[]\",:\\0123456789.eE-+tfn \n\x01\xff";
	for (uint64_t i = 1 + rng_below(rng, 3); i > 0; i--) {
		size_t at = rng_below(rng, size), from = rng_below(rng, size), span = rng_below(rng, 12);
		if (at + span > size || from + span > size)
			span = 1;
		switch (rng_below(rng, 4)) {
		case 0:
			text[at] = marks[rng_below(rng, sizeof marks)];
			break;
		case 1:
			text[at] ^= (char)(1 << rng_below(rng, 8));
			break;
		case 2:
			memmove(text + at, text + from, span);
			break;
		default: /* a digit stays one, so that most documents are read */
			for (; at < size; at++)
				if (strchr("123456789", text[at])) {
					text[at] = (char)('1' + rng_below(rng, 9));
					break;
				}
		}
	}
}

static void test_bytes(uint64_t seed) {
	struct rng rng;
	int runs = 0, read = 0;
	rng_seed(&rng, seed);
	for (; runs < BYTES; runs++) {
		json_t *whole = recorded((size_t)runs % FILES), *document = part_of(whole, &rng);
		char *text = json_dumps(document, JSON_COMPACT);
		mutate(&rng, text, strlen(text));
		read += run(text, strlen(text));
		free(text);
		json_decref(document);
		json_decref(whole);
	}
	ok(read > BYTES / 10 && read < BYTES, "%d documents with changed bytes, of which %d are read", runs, read);
}

/* Rows of `columns` parameters with `levels` values each. */
static bool table_run(int rows, int columns, int levels, double median) {
	json_t *list = json_array();
	for (int r = 0; r < rows; r++) {
		json_t *config = json_pack("{s:i}", "threads", 1 << (r % 6));
		for (int c = 0; c < columns; c++) {
			char *name = mem_printf("p%d", c);
			json_object_set_new(config, name, json_integer((r * (c + 7) / 3) % levels));
			free(name);
		}
		json_array_append_new(list, json_pack("{s:{s:i},s:o,s:f}", "problem", "n", 64 + r % 3, "config", config,
		                                      "median", median * (1 + r % 5)));
	}
	json_t *document = json_pack("{s:s,s:s,s:{s:i,s:i},s:o}", "schema", "sweetspot-sweep/1", "kernel", "k'; x",
	                             "machine", "cores", 4, "threads", 8, "rows", list);
	bool read = run_json(document);
	json_decref(document);
	return read;
}

static void test_tables(void) {
	static const int columns[] = {0, 1, 30, 127, 128, 2000};
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		ok(table_run(20, columns[i], 3, 1e-3) == (columns[i] < 128), "%d parameters and threads", columns[i]);
	ok(table_run(1, 2, 2, 1e-3) && table_run(0, 2, 2, 1e-3), "one row, and none");
	ok(table_run(60, 3, 2, 1e-300) && table_run(60, 3, 2, 1e8), "times at both ends");
	ok(table_run(3000, 2, 3000, 1e-3), "a table with as many values as rows, more than are looked at, is explained");
}

static void test_whole(void) {
	for (size_t i = 0; i < FILES; i++) {
		json_t *document = recorded(i);
		if (ok(document && json_array_size(json_object_get(document, "rows")) > 0, "%s", files[i]) && i % 4 == 0)
			run_json(document);
		json_decref(document);
	}
}

int main(int argc, char **argv) {
	test_whole();
	test_tables();
	test_values(21);
	test_bytes(22);
	for (int i = 1; i < argc; i++) {
		test_values(strtoull(argv[i], NULL, 10));
		test_bytes(strtoull(argv[i], NULL, 10));
	}
	return tap_done();
}
