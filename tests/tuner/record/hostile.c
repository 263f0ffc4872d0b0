/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that end anywhere, that were changed anywhere, and that unpack to anything do no harm. */
#include <malloc.h>
#include <zlib.h>

#include "base/rng.h"
#include "tests/tuner/record/record_help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = {
	"{'device_name': 'A GPU', 'problem_size': [64, 48], 'tune_params_keys': ['x', 'y'], 'tune_params': {'x': [4, 1], "
	"'y': ['a', true]}, 'objective': 'time', 'cache': {\n'4,a': {'x': 4, 'y': 'a', 'time': 2.5, 'times': [2, 3.25, 0], "
	"'compile_time': 1000.5, 'G/s': {'q': [1, null]}},\n'1,True': {'x': 1, 'y': true, 'time': 'RuntimeFailedConfig', "
	"'times': [7.5]},\n'4,True': {'x': 4, 'y': true, 'time': 1.25e-1}}}",
	"{'metadata': {'timeunit': 'ms'}, 'results': [{'configuration': {'x': 3, 'w': '\\u00e9'}, 'times': {'compilation': "
	"1000, 'runtimes': [3, 2.5]}, 'invalidity': 'correct', 'measurements': [{'name': 'time', 'value': 4, 'unit': ''}, "
	"{'name': 'c', 'value': 5}], 'objectives': ['time']}, {'configuration': {'x': 4}, 'invalidity': 'compile'}]}",
	"{'Metadata': {'TimeUnit': 'Seconds'}, 'Results': [{'ComputationResults': [{'Duration': 5.5, 'ProfilingData': "
	"{'Counters': [{'Name': 'a', 'Type': 'Double', 'Value': 5.5}, {'Name': 'b.sum', 'Value': 2}]}}, {'Duration': 1, "
	"'ProfilingData': {'Counters': [{'Name': 'a', 'Value': 1}]}}], 'Configuration': [{'Name': 'x', 'Value': 2, "
	"'ValueType': "
	"'Double'}], 'Status': 'Ok', 'TotalOverhead': 3}, {'Configuration': [{'Name': 'x', 'Value': 7}], 'Status': "
	"'Bad'}]}",
};
enum { FILES = sizeof files / sizeof *files };

static void run(const char *text, size_t size) {
	/* An allocation of exactly this size, so that a sanitizer sees a read behind it. */
	uint8_t *copy = mem_alloc(size, 1);
	if (size)
		memcpy(copy, text, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static char *packed(const char *text, size_t size, size_t *out) {
	z_stream stream = {0};
	char *data = mem_alloc(size + 256, 1);
	deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
	stream.next_in = (Bytef *)text;
	stream.avail_in = (uInt)size;
	stream.next_out = (Bytef *)data;
	stream.avail_out = (uInt)size + 256;
	deflate(&stream, Z_FINISH);
	*out = stream.total_out;
	deflateEnd(&stream);
	return data;
}

static void test_cut(void) {
	for (size_t i = 0; i < FILES; i++) {
		char *text = quoted(files[i]);
		size_t size = strlen(text);
		for (size_t cut = 0; cut <= size; cut++)
			run(text, cut);
		struct err err = {0};
		struct record *record = record_parse(text, size, "whole", &err);
		ok(record, "file %zu, cut at each of %zu bytes", i, size);
		record_free(record);
		free(text);
	}
}

static void mutate(struct rng *rng, char *text, size_t size) {
	static const char marks[] = "{}[]\",:\\0123456789.eE-+tfn \n\x01\xff";
	for (uint64_t i = 1 + rng_below(rng, 4); i > 0; i--) {
		size_t at = rng_below(rng, size), from = rng_below(rng, size), span = rng_below(rng, 12);
		if (at + span > size || from + span > size)
			span = 1;
		switch (rng_below(rng, 3)) {
		case 0:
			text[at] = marks[rng_below(rng, sizeof marks)];
			break;
		case 1:
			text[at] ^= (char)(1 << rng_below(rng, 8));
			break;
		default:
			memmove(text + at, text + from, span);
		}
	}
}

static void test_mutated(void) {
	struct rng rng;
	rng_seed(&rng, 11);
	int runs = 0;
	for (; runs < 20000; runs++) {
		char *text = quoted(files[runs % FILES]);
		size_t size = strlen(text);
		mutate(&rng, text, size);
		run(text, size);
		free(text);
	}
	ok(runs == 20000, "%d changed files", runs);
}

static void test_packed(void) {
	char *text = quoted(files[0]);
	struct rng rng;
	rng_seed(&rng, 12);
	size_t size;
	char *data = packed(text, strlen(text), &size), *both = mem_alloc(2 * size, 1);
	struct err err = {0};
	struct record *record = record_parse(data, size, "packed", &err);
	ok(record && record->correct == 2, "a packed file");
	record_free(record);
	for (size_t cut = 0; cut < size; cut++)
		run(data, cut);
	for (int i = 0; i < 3000; i++) {
		memcpy(both, data, size);
		both[rng_below(&rng, size)] ^= (char)(1 << rng_below(&rng, 8));
		run(both, size);
	}
	record = record_parse(data, size - 4, "cut", &err);
	ok(!record && err.code == ERR_USAGE && strstr(err.what, "gzip"), "%s", err.what);
	free(both);
	free(data);
	free(text);
}

/* Two members one after the other are one text. */
static void test_members(void) {
	char *text = quoted(files[1]);
	size_t size = strlen(text), half = size / 2, first, second;
	char *a = packed(text, half, &first), *b = packed(text + half, size - half, &second);
	char *both = mem_alloc(first + second, 1);
	memcpy(both, a, first);
	memcpy(both + first, b, second);
	struct err err = {0};
	struct record *record = record_parse(both, first + second, "members", &err);
	ok(record && record->correct == 1, "a packed file of two members");
	record_free(record);
	free(both);
	free(a);
	free(b);
	free(text);
}

/* A cache file that is unpacked while it is read, with and without newlines. */
static char *large(const char *between, size_t *size) {
	char *text = NULL;
	struct rng rng;
	rng_seed(&rng, 13);
	FILE *out = open_memstream(&text, size);
	fprintf(out, "{\"tune_params_keys\": [\"x\"],%s\"skipped\": [{\"a\": [1,%s2]}, \"[\"], \"cache\": {", between,
	        between);
	for (int i = 0; i < 20000; i++)
		fprintf(out, "%s%s\"%d\":%s {\"x\": %d, \"time\": 1.%05d, \"times\": [%d.5,%s %d]}", i ? "," : "", between, i,
		        i % 7 ? "" : between, i, (int)rng_below(&rng, 100000), i, i % 5 ? "" : between,
		        (int)rng_below(&rng, 1000000));
	fprintf(out, "%s}}", between);
	fclose(out);
	return text;
}

static void test_large(void) {
	static const char *const between[] = {"\n", "", "\n            \n  ", " "};
	for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
		size_t size, packed_size;
		struct err err = {0};
		char *text = large(between[i], &size), *data = packed(text, size, &packed_size);
		struct record *plain = record_parse(text, size, "plain", &err);
		struct record *record = record_parse(data, packed_size, "packed", &err);
		bool same = plain && record && record->correct == 20000 && plain->correct == 20000;
		for (uint64_t k = 0; same && k < 20000; k++)
			same = record->rows[k].value == plain->rows[k].value &&
			       record->rows[k].samples[1] == plain->rows[k].samples[1];
		ok(packed_size > 1 << 16 && same, "a large packed file reads as the plain one: %zu%s", i, err.what);
		record_free(record);
		data[packed_size - 4] ^= 0x7f; /* the recorded size is wrong */
		record = record_parse(data, packed_size, "lying", &err);
		ok(!record && err.code == ERR_USAGE && strstr(err.what, "gzip"), "%s", err.what);
		record_free(record);
		err = (struct err){0};
		record = record_parse(data, packed_size / 2, "cut", &err);
		ok(!record && err.code == ERR_USAGE && strstr(err.what, "gzip"), "%s", err.what);
		record_free(record);
		record_free(plain);
		free(data);
		free(text);
	}
}

/* Memory that was in use before holds something behind the text. */
static void test_used_memory(void) {
	size_t size, packed_size;
	struct err err = {0};
	char *text = large("\n", &size), *data = packed(text, size, &packed_size);
	mallopt(M_PERTURB, 0xff ^ '\n'); /* malloc() fills memory with the complement */
	struct record *record = record_parse(data, packed_size, "used", &err);
	ok(record && record->correct == 20000, "a large packed file ends where it ends in used memory, too: %s", err.what);
	mallopt(M_PERTURB, 0);
	record_free(record);
	free(data);
	free(text);
}

/* Two members: the end of the file tells only the size of the second. */
static void test_large_members(void) {
	size_t size, first, second;
	char *text = large("\n", &size), *a = packed(text, size - 20, &first), *b = packed(text + size - 20, 20, &second);
	char *both = mem_alloc(first + second, 1);
	memcpy(both, a, first);
	memcpy(both + first, b, second);
	struct err err = {0};
	struct record *record = record_parse(both, first + second, "members", &err);
	ok(record && record->correct == 20000, "more than the end tells%s", err.what);
	record_free(record);
	free(both);
	free(a);
	free(b);
	free(text);
}

/* A small file that would fill the memory. */
static void test_bomb(void) {
	enum { BOMB = 200 << 20 };
	size_t size;
	struct err err = {0};
	char *text = mem_alloc(BOMB, 1);
	memset(text, ' ', BOMB);
	char *data = packed(text, BOMB, &size);
	free(text);
	struct record *record = record_parse(data, size, "bomb", &err);
	ok(!record && err.code == ERR_USAGE && strstr(err.what, "expands to more than") && *err.hint,
	   "%zu bytes that become 200 MiB: %s", size, err.what);
	record_free(record);
	memset(data + size - 4, 0, 4);
	data[size - 3] = 4;
	record = record_parse(data, size, "lying bomb", &err);
	ok(!record && err.code == ERR_USAGE && strstr(err.what, "expands to more than"),
	   "the same that says that it becomes 1 KiB: %s", err.what);
	record_free(record);
	free(data);
}

/* Names, parameters and counters without end. */
static void test_many(void) {
	char *text = NULL;
	size_t size;
	struct err err = {0};
	FILE *out = open_memstream(&text, &size);
	fputs("{\"results\": [{\"configuration\": {", out);
	for (int i = 0; i < 100; i++)
		fprintf(out, "%s\"p%d\": 1", i ? ", " : "", i);
	fputs("}}]}", out);
	fclose(out);
	struct record *record = record_parse(text, size, "many", &err);
	ok(!record && err.code == ERR_USAGE && strstr(err.what, "parameters"), "%s", err.what);
	free(text);
	out = open_memstream(&text, &size);
	fputs("{\"results\": [{\"configuration\": {\"x\": 1}, \"invalidity\": \"correct\", \"measurements\": [", out);
	for (int i = 0; i < 5000; i++)
		fprintf(out, "%s{\"name\": \"c%d\", \"value\": 1}", i ? ", " : "", i);
	fputs("]}]}", out);
	fclose(out);
	err = (struct err){0};
	record = record_parse(text, size, "many", &err);
	ok(!record && err.code == ERR_USAGE && strstr(err.what, "measurements"), "%s", err.what);
	free(text);
}

int main(void) {
	test_cut();
	test_mutated();
	test_packed();
	test_members();
	test_large();
	test_used_memory();
	test_large_members();
	test_bomb();
	test_many();
	return tap_done();
}
