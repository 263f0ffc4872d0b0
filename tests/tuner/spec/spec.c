/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Specifications of published spaces, and the meaning of their members. */
#include "base/hash.h"
#include "tests/tap.h"
#include "tests/tuner/space/help.h"
#include "tests/tuner/spec/help.h"
#include "tests/tuner/spec/texts.h"

static struct spec *good(struct spec *spec, const struct err *err) {
	if (!spec)
		must(-1, err);
	return spec;
}

static bool baseline_is_valid(const struct spec *spec) {
	uint64_t index;
	return space_config_read(spec_space(spec), spec_baseline(spec), NULL, &index, NULL) == 0;
}

static bool baseline_is(const struct spec *spec, const char *want) {
	char *text = quoted(want);
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	bool same = json && json_equal(spec_baseline(spec), json);
	json_decref(json);
	free(text);
	if (!same)
		json_dumpf(spec_baseline(spec), stdout, JSON_COMPACT);
	return same;
}

static void test_published(const char *name, const char *text, double cartesian, uint64_t valid) {
	struct err err = {0};
	struct spec *spec = good(spec_of(text, &err), &err);
	ok(space_cartesian(spec_space(spec)) == cartesian && space_valid(spec_space(spec)) == valid,
	   "%s: %llu of %.0f are valid", name, (unsigned long long)space_valid(spec_space(spec)),
	   space_cartesian(spec_space(spec)));
	ok(baseline_is_valid(spec), "%s: the baseline is valid", name);
	spec_free(spec);
}

/* Every configuration of the one is one of the other; both have as many. */
static void test_same_space(const char *text, struct space *other) {
	struct err err = {0};
	struct spec *spec = good(spec_of(text, &err), &err);
	const struct space *space = spec_space(spec);
	uint64_t strange = 0, index;
	for (uint64_t i = 0; i < space_valid(space); i += 7) {
		json_t *config = space_config_json(space, i);
		strange += space_config_read(other, config, NULL, &index, NULL) != 0;
		json_decref(config);
	}
	ok(strange == 0 && space_valid(space) == space_valid(other), "the same configurations as from domains");
	space_free(other);
	spec_free(spec);
}

static void test_defaults(void) {
	struct err err = {0};
	struct spec *spec = good(spec_of(hotspot_text, &err), &err);
	ok(baseline_is(
		   spec, "{'grid_width': 4096, 'grid_height': 4096, 'block_size_x': 256, 'block_size_y': 1, 'tile_size_x': 1, "
				 "'tile_size_y': 1, 'temporal_tiling_factor': 1, 'max_tfactor': 10, 'loop_unroll_factor_t': 1, "
				 "'sh_power': 1}"),
	   "a Default that is not among the values, and one that is not valid with the others");
	spec_free(spec);
	spec = good(spec_with("{'Name': 'a', 'Values': '[1, 2, 3]', 'Default': 3}, {'Name': 'b', 'Values': '[1, 2, 3]'}",
	                      "{'Expression': 'b > 1'}", "", &err),
	            &err);
	ok(baseline_is(spec, "{'a': 3, 'b': 2}"), "a Default stays where the first of another is not valid");
	spec_free(spec);
	spec = good(spec_with("{'Name': 'a', 'Values': '[`x`, `2`]', 'Default': '2'}, {'Name': 'b', 'Values': '[1, 2]', "
	                      "'Default': 2.0}, {'Name': 'c', 'Values': '[`x`, `y`]', 'Default': '`y`'}",
	                      "", "", &err),
	            &err);
	ok(baseline_is(spec, "{'a': '2', 'b': 2, 'c': 'y'}"), "Defaults as words, numbers and Python");
	spec_free(spec);
}

static void test_booleans(void) {
	struct err err = {0};
	struct spec *spec = good(spec_with("{'Name': 'fast', 'Type': 'bool', 'Values': '[True, False]', 'Default': false},"
	                                   "{'Name': 'n', 'Type': 'int', 'Values': '[1, 2]'}",
	                                   "{'Expression': 'fast == True or n == 1'}", "", &err),
	                         &err);
	ok(space_valid(spec_space(spec)) == 3 && baseline_is(spec, "{'fast': 0, 'n': 1}"),
	   "True and False compare as in Python");
	spec_free(spec);
}

static uint64_t valid_with(const char *condition) {
	struct err err = {0};
	char *json = mem_printf("{'Expression': '%s'}", condition);
	struct spec *spec = spec_with("{'Name': 'a', 'Values': 'range(8)'}, {'Name': 'b', 'Values': 'range(8)'},"
	                              "{'Name': 'w', 'Values': '[`!`, `&&`]'}",
	                              json, "", &err);
	uint64_t valid = spec ? space_valid(spec_space(spec)) : 0;
	if (!spec)
		printf("# %s\n", err.what);
	spec_free(spec);
	free(json);
	return valid;
}

/* The same condition with C's operators and with Python's. */
static void test_c_conditions(void) {
	static const char *const pairs[][2] = {
		{"a < b && a > 2", "a < b and a > 2"},
		{"a == 1 || b == 1 && a > 4", "a == 1 or b == 1 and a > 4"},
		{"!a", "a == 0"},
		{"!a == b", "(not a) == b"},
		{"!(a < b)", "a >= b"},
		{"!!a == b", "(a != 0) == b"},
		{"!max(a, b)||!(a&&b)", "a == 0 or b == 0"},
		{"a!=b&&!( a == 3 )", "a != b and a != 3"},
		{"w == `!` && a != b", "w == `!` and a != b"},
		{"w != `&&` || a//2 == b", "w == `!` or a // 2 == b"},
		{"! a || !b", "a == 0 or b == 0"},
	};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		uint64_t got = valid_with(pairs[i][0]), want = valid_with(pairs[i][1]);
		ok(got == want && want > 0 && want < 128, "%s: %llu", pairs[i][0], (unsigned long long)got);
	}
}

static void test_members(void) {
	static const struct {
		const char *word;
		enum spec_language language;
	} rows[] = {{"Command", SPEC_COMMAND}, {"C", SPEC_C},           {"c", SPEC_C},     {"CUDA", SPEC_CUDA},
	            {"OpenCL", SPEC_OPENCL},   {"opencl", SPEC_OPENCL}, {"HIP", SPEC_HIP}, {"SYCL", SPEC_OTHER}};
	struct err err = {0};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *kernel = mem_printf("'Language': '%s', 'KernelName': 'k', 'Own': 5", rows[i].word);
		struct spec *spec = good(spec_with("{'Name': 'a', 'Values': '[1]'}", "", kernel, &err), &err);
		ok(spec_language(spec) == rows[i].language && strcmp(spec_language_word(spec), rows[i].word) == 0 &&
		       json_integer_value(json_object_get(spec_kernel(spec), "Own")) == 5,
		   "the language %s", rows[i].word);
		is_text(spec_name(spec), "k", "KernelName is the name");
		spec_free(spec);
		free(kernel);
	}
	struct spec *spec = good(spec_of(dedispersion_text, &err), &err);
	char hash[SHA256_TEXT], *text = quoted(dedispersion_text);
	sha256_text(text, strlen(text), hash);
	is_text(spec_hash(spec), hash, "the hash is that of the text");
	is_text(spec_name(spec), "file", "a specification without a name has that of its file");
	is_text(spec_folder(spec), "folder", "a specification has its folder");
	ok(spec_language(spec) == SPEC_OTHER && json_object_size(spec_kernel(spec)) == 0, "no KernelSpecification");
	struct space *space = spec_take_space(spec);
	spec_free(spec);
	ok(space_valid(space) == 11130, "a space that was taken outlives the specification");
	space_free(space);
	free(text);
}

int main(void) {
	test_published("hotspot", hotspot_text, 4440000, 82984);
	test_published("convolution", convolution_text, 10240, 4362);
	test_published("dedispersion", dedispersion_text, 22272, 11130);
	test_published("gemm", gemm_text, 663552, 116928);
	test_same_space(hotspot_text, built(hotspot_space()));
	test_same_space(convolution_text, built(convolution_space()));
	test_defaults();
	test_booleans();
	test_c_conditions();
	test_members();
	return tap_done();
}
