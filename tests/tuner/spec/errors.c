/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Invalid specifications are refused with the place of the error; mutated ones do no harm. */
#include <stdint.h>

#include "base/rng.h"
#include "tests/tap.h"
#include "tests/tuner/spec/help.h"
#include "tests/tuner/spec/texts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void refused(struct spec *spec, const struct err *err, const char *says) {
	ok(!spec && err->code == ERR_USAGE && strncmp(err->what, "folder/file.t1.json", 19) == 0 && strstr(err->what, says),
	   "%s", err->what);
	spec_free(spec);
}

static void test_documents(void) {
	static const char *const rows[][2] = {
		{"[]", "'ConfigurationSpace' is missing"},
		{"{", "not valid JSON"},
		{"{'ConfigurationSpace': 5}", "'ConfigurationSpace' must be"},
		{"{'ConfigurationSpace': {}}", "'TuningParameters' is missing"},
		{"{'ConfigurationSpace': {'TuningParameters': {}}}", "'TuningParameters' must be"},
		{"{'ConfigurationSpace': {'TuningParameters': []}}", "'TuningParameters' is empty"},
		{"{'ConfigurationSpace': {'TuningParameters': []}, 'KernelSpecification': []}",
	     "'KernelSpecification' must be"},
		{"{'ConfigurationSpace': {'TuningParameters': [], 'TuningParameters': []}}", "duplicate"},
		{"{'ConfigurationSpace': {'TuningParameters': [{'Name': 'a', 'Values': '[1]'}], 'Conditions': 'a == 1'}}",
	     "'Conditions' must be"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = {0};
		struct spec *spec = spec_of(rows[i][0], &err);
		refused(spec, &err, rows[i][1]);
	}
}

static void test_params(void) {
	static const char *const rows[][2] = {
		{"5", "TuningParameters[0]: it must be an object"},
		{"{}", "TuningParameters[0]: 'Name' is missing"},
		{"{'Name': 'a'}", "TuningParameters[0] \"a\": 'Values' is missing"},
		{"{'Name': 'a', 'Values': null}", "TuningParameters[0] \"a\": Values: [0] is neither a number nor a word"},
		{"{'Name': 'a', 'Values': [1, [2]]}", "TuningParameters[0] \"a\": Values: [1] is neither a number nor a word"},
		{"{'Name': 'a', 'Values': []}", "\"a\": Values: the list is empty"},
		{"{'Name': 'a', 'Values': ['x\\n']}", "\"a\": Values: [0]: a word has a control character"},
		{"{'Name': 'a', 'Values': '[1]'}, {'Name': 'tile', 'Values': 'lst(range(4))'}",
	     "TuningParameters[1] \"tile\": Values: at \"lst(range(4)\": unknown function: use range()"},
		{"{'Name': 'a', 'Values': '[1]'}, {'Name': 'a', 'Values': '[2]'}", "the name 'a' is taken"},
		{"{'Name': 'a b', 'Values': '[1]'}", "'a b' cannot be the name of a parameter"},
		{"{'Name': 'a', 'Values': '[1]', 'Default': {}}", "\"a\": Default: must be one number or word"},
		{"{'Name': 'a', 'Values': '[1]', 'Default': [1, 1]}", "\"a\": Default: must be one number or word"},
		{"{'Name': 'a', 'Values': 'range(2**20)'}, {'Name': 'b', 'Values': '[1]'}",
	     "\"b\": more than 1048576 values in all"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = {0};
		struct spec *spec = spec_with(rows[i][0], "", "", &err);
		refused(spec, &err, rows[i][1]);
	}
}

static void test_conditions(void) {
	static const char *const rows[][2] = {
		{"7", "Conditions[0]: it must be an object"},
		{"{'Parameters': ['a']}", "Conditions[0]: 'Expression' is missing"},
		{"{'Expression': 5}", "Conditions[0]: 'Expression' must be"},
		{"{'Expression': 'a >'}", "Conditions[0]: a value is missing at the end"},
		{"{'Expression': 'a > 0'}, {'Expression': 'tille > 0'}", "Conditions[1]: 'tille' is not a tuning parameter"},
		{"{'Expression': 'a > 0 && tile / 2 > 1'}", "/ differs between C and Python"},
		{"{'Expression': 'a > 0 && !'}", "nothing follows the '!'"},
		{"{'Expression': 'a = 1'}", "use == to compare"},
		{"{'Expression': 'a $ 1'}", "expected an operator"},
		{"{'Expression': 'a & 1 == 1 && tile > 1'}", "bind differently in C"},
		{"{'Expression': 'a > 5 and tile > 5'}", "a > 5 and tile > 5"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = {0};
		struct spec *spec =
			spec_with("{'Name': 'a', 'Values': '[1, 2]'}, {'Name': 'tile', 'Values': '[1, 2]'}", rows[i][0], "", &err);
		refused(spec, &err, rows[i][1]);
	}
	struct err err = {0};
	char *bangs = mem_alloc(4001, 1), *condition;
	memset(bangs, '!', 4000);
	condition = mem_printf("'%sa'", bangs);
	struct spec *spec = spec_with("{'Name': 'a', 'Values': '[1]'}", condition, "", &err);
	refused(spec, &err, "nested too deeply");
	free(bangs);
	free(condition);
}

static void test_files(void) {
	struct err err = {0};
	ok(!spec_load("/nonexistent/x.json", &err) && err.what[0], "no such file: %s", err.what);
	err = (struct err){0};
	ok(!spec_load("/dev", &err) && err.what[0], "a folder: %s", err.what);
}

/* Bytes changed, cut out and doubled. */
static void mutate(struct rng *rng, char *text, size_t *size, size_t room) {
	for (size_t edits = 1 + rng_below(rng, 4); edits > 0; edits--) {
		size_t at = rng_below(rng, *size), length = 1 + rng_below(rng, 40);
		if (at + length > *size)
			length = *size - at;
		switch (rng_below(rng, 3)) {
		case 0:
			text[at] = "0123456789+-*/%()[]{}\"':,.!&| abefnu"[rng_below(rng, 36)];
			break;
		case 1:
			memmove(text + at, text + at + length, *size - at - length);
			*size -= length;
			break;
		default:
			if (*size + length > room)
				break;
			memmove(text + at + length, text + at, *size - at);
			*size += length;
		}
		*size += *size == 0;
	}
}

static void test_mutations(void) {
	static const char *const seeds[] = {hotspot_text, convolution_text, dedispersion_text, gemm_text};
	struct rng rng;
	size_t rounds = 0;
	rng_seed(&rng, 17);
	for (; rounds < 6000; rounds++) {
		char *seed = quoted(seeds[rng_below(&rng, 4)]);
		size_t size = strlen(seed), room = size + 200;
		char *text = mem_alloc(room, 1);
		memcpy(text, seed, size);
		mutate(&rng, text, &size, room);
		LLVMFuzzerTestOneInput((const uint8_t *)text, size);
		free(text);
		free(seed);
	}
	ok(rounds == 6000, "%zu mutated specifications are read or refused, and nothing else", rounds);
}

int main(void) {
	test_documents();
	test_params();
	test_conditions();
	test_files();
	test_mutations();
	return tap_done();
}
