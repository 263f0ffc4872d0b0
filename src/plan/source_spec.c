/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/plan.h"

#include "base/json/js.h"
#include "base/t1/slice.h"

const struct opt source_options[] = {
	OPT_GROUP("CUDA, OpenCL or HIP source (FILE.cu, FILE.cl, FILE.hip)"),
	{"kernel", 0, "NAME", "the __global__ or __kernel function to tune", 0},
	{"arg", 0, "ARGUMENT", "next argument, e.g. 'float in[n] random'", OPT_REPEAT},
	{"problem", 0, "X,Y,Z", "problem size, ProblemSize[0] .. in expressions", 0},
	{"grid", 0, "X,Y,Z", "number of blocks, as expressions", 0},
	{"grid-div", 0, "X,Y,Z", "elements of the problem per block (its threads)", 0},
	{"block", 0, "X,Y,Z", "threads per block, or work items per work group", 0},
	{"shared", 0, "BYTES", "dynamic shared memory per block", 0},
	{"option", 0, "OPTION", "compiler option, e.g. --option=-use_fast_math", OPT_REPEAT},
	{"compiler", 0, "NAME", "CUDA: nvrtc, nvcc, or a parameter with these values", 0},
	{0},
};

static const struct source_kind {
	const char *ending, *word;
	enum spec_language language;
} source_kinds[] = {{".cu", "CUDA", SPEC_CUDA}, {".cl", "OpenCL", SPEC_OPENCL}, {".hip", "HIP", SPEC_HIP}};

/* NULL for another file. */
static const struct source_kind *kind_of(const char *word) {
	size_t size = strlen(word);
	for (size_t i = 0; i < sizeof source_kinds / sizeof *source_kinds; i++) {
		size_t length = strlen(source_kinds[i].ending);
		if (size > length && strcmp(word + size - length, source_kinds[i].ending) == 0)
			return &source_kinds[i];
	}
	return NULL;
}

enum spec_language source_language(const char *word) {
	const struct source_kind *kind = kind_of(word);
	return kind ? kind->language : SPEC_OTHER;
}

bool source_is_file(const char *word) {
	return kind_of(word);
}

static json_t *slice_json(struct slice s) {
	s = slice_trim(s);
	return json_stringn(s.at, (size_t)(s.end - s.at));
}

static struct slice whole(const char *text) {
	return (struct slice){text, text + strlen(text)};
}

/* Splits "a, max(b, c)" at commas outside brackets. NULL for more than three expressions, or for an empty one. */
static json_t *three_json(const char *option, const char *text, struct err *err) {
	json_t *list = json_array();
	struct slice s = whole(text);
	for (;;) {
		const char *comma = slice_find(s, ",");
		struct slice one = {s.at, comma};
		if (json_array_size(list) == 3 || slice_empty(one) || json_array_append_new(list, slice_json(one)))
			break;
		if (comma == s.end)
			return list;
		s.at = comma + 1;
	}
	json_decref(list);
	return err_null(err_set(err, ERR_USAGE, "give one to three expressions separated by commas",
	                        "--%s %.200s is not valid", option, text));
}

/* ---- arguments ---- */

struct words {
	struct slice rest;
	json_t *json;
	const char *text;
	struct err *err;
};

static int bad(const struct words *w, const char *what) {
	return err_set(w->err, ERR_USAGE,
	               "TYPE NAME[SIZE] with read, write, update, random, random=V, constant, = V, file=F, reference=F, "
	               "tolerance=V or "
	               "verify=sum",
	               "--arg '%.200s': %s", w->text, what);
}

static struct slice word_read(struct slice *rest) {
	*rest = slice_trim(*rest);
	struct slice word = {rest->at, rest->at};
	while (word.end < rest->end && slice_word_char(*word.end))
		word.end++;
	rest->at = word.end;
	return word;
}

static bool mark_accept(struct slice *rest, char mark) {
	struct slice s = slice_trim(*rest);
	if (s.at == s.end || *s.at != mark)
		return false;
	rest->at = s.at + 1;
	return true;
}

/* A number becomes a JSON number; anything else stays a text, which is an expression. */
static json_t *amount_json(struct slice s) {
	json_t *text = slice_json(s);
	struct value value = value_parse(json_string_value(text));
	if (value.type == VALUE_WORD)
		return text;
	json_decref(text);
	return value_json(value);
}

/* The value after a '=', up to a blank. */
static struct slice value_read(struct slice *rest) {
	*rest = slice_trim(*rest);
	struct slice value = {rest->at, rest->at};
	while (value.end < rest->end && *value.end != ' ' && *value.end != '\t')
		value.end++;
	rest->at = value.end;
	return value;
}

static void set(const struct words *w, const char *key, const char *text) {
	json_object_set_new(w->json, key, json_string(text));
}

static const struct use {
	const char *word, *key, *value;
	bool reads;            /* read-only unless another word says otherwise */
	const char *value_key; /* member for the value after a '='; NULL if a value is not allowed */
	bool value_needed;
} uses[] = {
	{"read", "AccessType", "ReadOnly", false, NULL, false},
	{"write", "AccessType", "WriteOnly", false, NULL, false},
	{"update", "AccessType", "ReadWrite", false, NULL, false},
	{"random", "FillType", "Random", true, "FillValue", false},
	{"constant", "MemType", "Constant", true, NULL, false},
	{"file", "FillType", "BinaryRaw", true, "DataSource", true},
	{"reference", "Output", NULL, false, "ReferenceFile", true},
	{"tolerance", "Output", NULL, false, "Tolerance", true},
	{"verify", "Output", NULL, false, "Verify", true},
};

static const struct use *use_find(struct slice word) {
	for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
		if (strlen(uses[i].word) == (size_t)(word.end - word.at) &&
		    strncmp(uses[i].word, word.at, strlen(uses[i].word)) == 0)
			return &uses[i];
	return NULL;
}

static int use_read(struct words *w, bool *reads) {
	if (mark_accept(&w->rest, '=')) {
		struct slice value = w->rest;
		if (!json_is_string(json_object_get(w->json, "Size"))) /* the expression of a scalar may contain blanks */
			w->rest.at = w->rest.end;
		else
			value = value_read(&w->rest);
		if (slice_empty(value))
			return bad(w, "a value must follow the =");
		json_object_set_new(w->json, "FillValue", amount_json(value));
		return 0;
	}
	struct slice word = word_read(&w->rest);
	const struct use *use = use_find(word);
	if (!use)
		return bad(w, "it contains an unknown word");
	if (use->value)
		set(w, use->key, use->value);
	else
		json_object_set_new(w->json, use->key, json_integer(1));
	*reads = *reads || use->reads;
	bool given = use->value_key && mark_accept(&w->rest, '=');
	if (use->value_needed && !given)
		return bad(w, "file= and reference= need a file name, tolerance= a number, verify= sum, sorted or norm");
	if (!given)
		return 0;
	struct slice value = value_read(&w->rest);
	bool number = strcmp(use->value_key, "FillValue") == 0 || strcmp(use->value_key, "Tolerance") == 0;
	json_object_set_new(w->json, use->value_key, number ? amount_json(value) : slice_json(value));
	return 0;
}

static bool is_word(struct slice s, const char *word) {
	return slice_begins(s, word) && (size_t)(s.end - s.at) == strlen(word);
}

/* The words of C's whole numbers, which may stand in any order and together; `bytes` 0: says nothing about the size. */
static const struct {
	const char *word;
	unsigned bytes;
} whole_words[] = {{"signed", 0}, {"unsigned", 0}, {"int", 0}, {"char", 1}, {"short", 2}, {"long", 8}};
enum { WHOLE_WORDS = sizeof whole_words / sizeof *whole_words, WHOLE_UNSIGNED = 1 };

static size_t whole_find(struct slice word) {
	size_t at = 0;
	while (at < WHOLE_WORDS && !is_word(word, whole_words[at].word))
		at++;
	return at;
}

/* Skips qualifiers and marks of pointers, and reads the next word. */
static struct slice declared_read(struct slice *rest) {
	static const char *const qualifiers[] = {"const", "volatile", "restrict", "__restrict__", "__restrict"};
	for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers;) {
		struct slice after = *rest, word = mark_accept(&after, '*') ? (struct slice){NULL, NULL} : word_read(&after);
		bool skipped = !word.at || is_word(word, qualifiers[i]);
		if (skipped)
			*rest = after;
		i = skipped ? 0 : i + 1;
	}
	return word_read(rest);
}

/* Reads a type as a C program writes it, and the name. One word stays as it is; stdint.h's lose their _t, and of
 * several the type is the sign and the size. */
static json_t *type_read(struct words *w, struct slice *name) {
	struct slice type = declared_read(&w->rest), next = declared_read(&w->rest);
	size_t found = whole_find(type), size = (size_t)(type.end - type.at);
	bool sign = found == WHOLE_UNSIGNED, several = found < WHOLE_WORDS && is_word(type, "long");
	unsigned bytes = found < WHOLE_WORDS ? whole_words[found].bytes : 0;
	for (; found < WHOLE_WORDS && whole_find(next) < WHOLE_WORDS; next = declared_read(&w->rest)) {
		sign = sign || whole_find(next) == WHOLE_UNSIGNED;
		bytes = bytes ? bytes : whole_words[whole_find(next)].bytes;
		several = true;
	}
	*name = next;
	if (several)
		return json_sprintf("%sint%u", sign ? "u" : "", 8 * (bytes ? bytes : 4));
	if (is_word(type, "size_t"))
		return json_string("uint64");
	bool plain = size > 2 && memcmp(type.end - 2, "_t", 2) == 0;
	return slice_json((struct slice){type.at, plain ? type.end - 2 : type.end});
}

static int argument_words(struct words *w) {
	struct slice name;
	json_t *type = type_read(w, &name);
	bool reads = false;
	json_object_set_new(w->json, "Type", type);
	if (slice_empty(name))
		return bad(w, "it needs a type and a name");
	json_object_set_new(w->json, "Name", slice_json(name));
	w->rest = slice_trim(w->rest);
	bool vector = w->rest.at < w->rest.end && *w->rest.at == '[';
	const char *close = vector ? slice_close(w->rest) : NULL;
	set(w, "MemoryType", vector ? "Vector" : "Scalar");
	if (vector && !close)
		return bad(w, "the [ is not closed");
	if (vector) {
		json_object_set_new(w->json, "Size", slice_json((struct slice){w->rest.at + 1, close}));
		w->rest.at = close + 1;
	}
	while (!slice_empty(w->rest))
		if (use_read(w, &reads))
			return -1;
	if (vector && reads && !json_object_get(w->json, "AccessType") && !json_object_get(w->json, "Output"))
		set(w, "AccessType", "ReadOnly");
	if (!vector && !json_object_get(w->json, "FillValue"))
		return bad(w, "a scalar needs a value: 'int n = 4096'");
	return 0;
}

static json_t *arguments_json(const struct opt_args *args, struct err *err) {
	json_t *list = json_array();
	for (size_t i = 0; i < opt_count(args, "arg"); i++) {
		struct words w = {.text = opt_at(args, "arg", i), .json = json_object(), .err = err};
		w.rest = whole(w.text);
		json_array_append_new(list, w.json);
		if (argument_words(&w)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* ---- parameters ---- */

/* Splits NAME=VALUE and returns the value. */
static const char *after_name(const char *option, const char *text, struct slice *name, struct err *err) {
	const char *equals = strchr(text, '=');
	*name = slice_trim((struct slice){text, equals ? equals : text});
	if (equals && !slice_empty(*name) && equals[1])
		return equals + 1;
	return err_null(
		err_set(err, ERR_USAGE, "--param block_size_x=32,64,128", "--%s %.200s does not give a value", option, text));
}

static json_t *param_json(const char *text, struct err *err) {
	struct slice name;
	struct value *values;
	size_t count;
	struct arena *arena = arena_new();
	const char *domain = after_name("param", text, &name, err);
	json_t *param = NULL;
	if (domain && domain_parse(domain, arena, &values, &count, err) == 0) {
		json_t *list = json_array();
		for (size_t i = 0; i < count; i++)
			json_array_append_new(list, value_json(values[i]));
		param = json_pack("{s:o,s:o}", "Name", slice_json(name), "Values", list);
	} else if (domain) {
		err_prefix(err, "--param %.60s", text);
	}
	arena_free(arena);
	return param;
}

static json_t *param_named(json_t *params, struct slice name) {
	js_each (param, params) {
		const char *is = json_string_value(json_object_get(param, "Name"));
		if (is && strlen(is) == (size_t)(name.end - name.at) && strncmp(is, name.at, strlen(is)) == 0)
			return param;
	}
	return NULL;
}

static int defaults_set(json_t *params, const struct opt_args *args, struct err *err) {
	for (size_t i = 0; i < opt_count(args, "default"); i++) {
		struct slice name;
		const char *value = after_name("default", opt_at(args, "default", i), &name, err);
		json_t *param = value ? param_named(params, name) : NULL;
		if (!value)
			return -1;
		if (!param)
			return err_set(err, ERR_USAGE, "give it with --param first", "--default %.100s: unknown parameter",
			               opt_at(args, "default", i));
		json_object_set_new(param, "Default", value_json(value_parse(value)));
	}
	return 0;
}

static json_t *space_json_of(const struct opt_args *args, struct err *err) {
	js_auto json_t *params = json_array(), *conditions = json_array();
	int failed = 0;
	for (size_t i = 0; i < opt_count(args, "param") && !failed; i++) {
		json_t *param = param_json(opt_at(args, "param", i), err);
		failed = !param || json_array_append_new(params, param);
	}
	for (size_t i = 0; i < opt_count(args, "constraint"); i++)
		json_array_append_new(conditions, json_pack("{s:s}", "Expression", opt_at(args, "constraint", i)));
	if (!failed && !json_array_size(params))
		failed = err_set(err, ERR_USAGE, "--param block_size_x=32,64,128 tunes a macro of the source",
		                 "there is nothing to tune");
	if (!failed)
		failed = defaults_set(params, args, err);
	return failed ? NULL : json_pack("{s:O,s:O}", "TuningParameters", params, "Conditions", conditions);
}

/* ---- specification ---- */

static int shape_add(json_t *kernel, const struct opt_args *args, struct err *err) {
	static const struct {
		const char *option, *member;
	} threes[] = {{"problem", "ProblemSize"}, {"grid", "GlobalSize"}, {"block", "LocalSize"}, {"grid-div", NULL}};
	static const char *const divisors[] = {"GridDivX", "GridDivY", "GridDivZ"};
	for (size_t i = 0; i < sizeof threes / sizeof *threes; i++) {
		const char *text = opt_get(args, threes[i].option, NULL);
		js_auto json_t *list = text ? three_json(threes[i].option, text, err) : NULL;
		if (text && !list)
			return -1;
		if (threes[i].member && list)
			json_object_set(kernel, threes[i].member, list);
		for (size_t d = 0; !threes[i].member && d < json_array_size(list); d++)
			json_object_set(kernel, divisors[d], json_array_get(list, d));
	}
	if (opt_has(args, "grid") && opt_has(args, "grid-div"))
		return err_set(err, ERR_USAGE, "--grid gives the number of blocks, --grid-div the elements per block",
		               "--grid and --grid-div cannot be combined");
	if (!opt_has(args, "grid") && !opt_has(args, "problem"))
		return err_set(err, ERR_USAGE, "--grid X,Y,Z, or --problem X,Y,Z with --grid-div",
		               "the number of blocks is not given");
	if (opt_has(args, "shared"))
		json_object_set_new(kernel, "SharedMemory", json_string(opt_get(args, "shared", "0")));
	return 0;
}

static json_t *kernel_json(const char *path, const struct opt_args *args, struct err *err) {
	const char *name = opt_get(args, "kernel", NULL);
	json_t *arguments = name ? arguments_json(args, err) : NULL, *options = json_array();
	if (!name)
		err_set(err, ERR_USAGE,
		        source_language(path) == SPEC_OPENCL ? "--kernel NAME selects its __kernel function"
		                                             : "--kernel NAME selects its __global__ function",
		        "--kernel is missing for %.200s", path);
	for (size_t i = 0; i < opt_count(args, "option"); i++)
		json_array_append_new(options, json_string(opt_at(args, "option", i)));
	if (!arguments) {
		json_decref(options);
		return NULL;
	}
	const struct source_kind *kind = kind_of(path); /* NULL: not a source, which the caller has refused */
	json_t *kernel = json_pack("{s:s,s:s,s:s,s:o,s:o}", "Language", kind ? kind->word : "", "KernelName", name,
	                           "KernelFile", text_base_name(path), "CompilerOptions", options, "Arguments", arguments);
	if (kernel && opt_has(args, "compiler"))
		json_object_set_new(kernel, "Compiler", json_string(opt_get(args, "compiler", "")));
	if (kernel) /* --grid counts blocks, that is work groups */
		json_object_set_new(kernel, "GlobalSizeType", json_string("CUDA"));
	if (kernel && !shape_add(kernel, args, err))
		return kernel;
	if (!kernel)
		err_set(err, ERR_USAGE, NULL, "the arguments are not valid UTF-8");
	json_decref(kernel);
	return NULL;
}

/* A word that names nothing is told before what else may be missing. */
static int compiler_check(const struct opt_args *args, struct err *err) {
	const char *word = opt_get(args, "compiler", "nvrtc");
	size_t size = strlen(word);
	bool known = strcmp(word, "nvrtc") == 0 || strcmp(word, "nvcc") == 0;
	for (size_t i = 0; i < opt_count(args, "param"); i++)
		known = known || (strncmp(opt_at(args, "param", i), word, size) == 0 && opt_at(args, "param", i)[size] == '=');
	return known ? 0
	             : err_set(err, ERR_USAGE, "give nvcc, nvrtc, or a parameter with these values",
	                       "--compiler %.60s is unknown", word);
}

struct spec *source_spec(const char *path, const struct opt_args *args, struct err *err) {
	js_auto json_t *space = compiler_check(args, err) ? NULL : space_json_of(args, err),
				   *kernel = space ? kernel_json(path, args, err) : NULL;
	js_auto json_t *root =
		kernel ? json_pack("{s:O,s:O}", "ConfigurationSpace", space, "KernelSpecification", kernel) : NULL;
	mem_auto char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	return text ? spec_parse(text, strlen(text), path, err) : NULL;
}
