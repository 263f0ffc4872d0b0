/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Malformed requests for programs: each is refused with a message that names the mistake, and runs nothing. */
#include "base/json/js.h"
#include "base/rng.h"
#include "worker/program/program_impl.h"
#include "tests/worker/program_fixture.h"

#define P "{\"op\":\"program\",\"argv\":[\"/bin/false\"],"

#define EIGHT "\"perf\",\"perf\",\"perf\",\"perf\",\"perf\",\"perf\",\"perf\",\"perf\""

static const struct {
	const char *line, *what, *hint;
} bad[] = {
	{"{\"op\":\"program\"}", "must name a program", ""},
	{"{\"op\":\"program\",\"argv\":[]}", "must name a program", ""},
	{"{\"op\":\"program\",\"argv\":[\"\"]}", "must name a program", ""},
	{"{\"op\":\"program\",\"argv\":\"ls\"}", "argv", ""},
	{"{\"op\":\"program\",\"argv\":[\"ls\",3]}", "argv", "string"},
	{"{\"op\":\"program\",\"argv\":[[\"ls\"]]}", "argv", ""},
	{"{\"op\":\"program\",\"argv\":[\"a\\u0000b\"]}", "not valid JSON", ""},
	{P "\"env\":[]}", "env", ""},
	{P "\"env\":{\"A\":1}}", "\"A\" in 'env'", "string"},
	{P "\"env\":{\"A=B\":\"1\"}}", "A=B", ""},
	{P "\"env\":{\"\":\"1\"}}", "env", ""},
	{P "\"env\":{\"A\":\"x\\u0000y\"}}", "not valid JSON", ""},
	{P "\"unset\":\"A\"}", "unset", ""},
	{P "\"unset\":[\"\"]}", "unset", "PREFIX"},
	{P "\"unset\":[\"A=B\"]}", "A=B", "NAME"},
	{P "\"unset\":[\"A*B\"]}", "A*B", ""},
	{P "\"unset\":[7]}", "unset", ""},
	{P "\"cwd\":7}", "cwd", ""},
	{P "\"cwd\":\"\"}", "cwd", ""},
	{P "\"input\":[]}", "input", ""},
	{P "\"before\":true}", "before", ""},
	{P "\"verify\":true}", "verify", ""},
	{P "\"samples\":0}", "samples", ""},
	{P "\"samples\":-1}", "samples", ""},
	{P "\"samples\":100001}", "samples", ""},
	{P "\"samples\":1.5}", "samples", ""},
	{P "\"warmup\":-1}", "warmup", ""},
	{P "\"timeout_s\":-1}", "timeout_s", ""},
	{P "\"timeout_s\":\"3\"}", "timeout_s", ""},
	{P "\"limit_s\":1e300}", "limit_s", ""},
	{P "\"file_limit\":-1}", "file_limit", ""},
	{P "\"hash\":1}", "hash", ""},
	{P "\"counters\":\"perf\"}", "counters", ""},
	{P "\"counters\":[1]}", "counters", "string"},
	{P "\"counters\":[[\"perf\"]]}", "counters", ""},
	{P "\"counters\":[\"perv\"]}", "perv", "perf"},
	{P "\"counters\":[\"\"]}", "counters", ""},
	{P "\"counters\":[" EIGHT "," EIGHT "," EIGHT "," EIGHT ",\"perf\"]}", "counters", ""},
	{P "\"metric\":\"\"}", "metric", ""},
	{P "\"metric\":\"([0-9\"}", "metric", "POSIX"},
	{P "\"metric\":7}", "metric", ""},
	{P "\"device\":7}", "device", ""},
	{P "\"device\":\"\"}", "device", ""},
	{P "\"device\":\"cuba\"}", "cuba", "cuda"},
	{P "\"device\":\"opencl\"}", "opencl", "cuda"},
	{P "\"kernel\":\"fw\"}", "kernel", ""},
	{P "\"sample\":3}", "sample", "samples"},
};

static void check_table(struct fixture *f) {
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		json_t *answer = client_ask(f->client, "%s", bad[i].line);
		bool good = strstr(text_of(answer, "error.what"), bad[i].what) && *text_of(answer, "error.what") &&
		            strstr(text_of(answer, "error.hint"), bad[i].hint);
		if (!ok(good, "refused: %s", bad[i].line))
			printf("# %s, %s\n", text_of(answer, "error.what"), text_of(answer, "error.hint"));
		json_decref(answer);
	}
}

/* `count` short words; the first is the program. */
static json_t *many_words(struct fixture *f, int count) {
	char *line = mem_alloc((size_t)count * 4 + 100, 1), *at = line;
	at += sprintf(at, "{\"op\":\"program\",\"argv\":[\"/bin/true\"");
	for (int i = 1; i < count; i++)
		at += sprintf(at, ",\"\"");
	sprintf(at, "]}");
	json_t *answer = client_ask(f->client, "%s", line);
	free(line);
	return answer;
}

static void check_sizes(struct fixture *f) {
	answers(many_words(f, 4096), "correct", "", "4096 words are taken");
	json_t *answer = many_words(f, 4097);
	ok(strstr(text_of(answer, "error.what"), "argv"), "4097 are not");
	json_decref(answer);
	char *word = mem_alloc(500001, 1);
	memset(word, 'x', 500000);
	answers(client_ask(f->client, "{\"op\":\"program\",\"argv\":[\"/bin/true\",\"%s\"]}", word), "runtime",
	        "cannot run /bin/true: Argument list too long", "a word that is too long for the kernel is refused");
	answers(client_ask(f->client, "{\"op\":\"program\",\"argv\":[\"%s\"]}", word), "runtime", "cannot run xxx",
	        "a program whose name is too long for the kernel is refused");
	free(word);
}

/* An accepted request is inside its bounds, whatever was changed in it. */
static bool sane(const struct program_request *r) {
	bool good = r->argv && r->argv[0] && r->argv[0][0] && r->samples >= 1 && r->samples <= 100000 && r->warmup >= 0 &&
	            r->warmup <= 100000 && r->timeout_s >= 0 && r->timeout_s <= 1e9 && r->limit_s >= 0 && r->limit_s <= 1e9;
	for (size_t i = 1; good && r->set[i]; i++)
		good = r->set[i][0] != '=' && strchr(r->set[i], '=');
	for (size_t i = 0; good && r->unset[i]; i++)
		good = r->unset[i][0] && !strchr(r->unset[i], '=');
	return good;
}

static const char seed[] =
	"{\"op\":\"program\",\"id\":9,\"argv\":[\"./"
	"app\",\"96\"],\"env\":{\"OMP_NUM_THREADS\":\"2\"},\"unset\":[\"OMP_*\"],"
	"\"cwd\":\"/x\",\"input\":\"in.dat\",\"before\":\"rm -f out\",\"verify\":\"cmp out "
	"good\",\"samples\":3,\"warmup\":0,"
	"\"timeout_s\":10,\"limit_s\":0.5,\"metric\":\"rate ([0-9.]+)\",\"hash\":true,\"file_limit\":0}";
static const char *const tokens[] = {"{", "}",    "[",    "]",      ":",     ",",       "\"",   "null", "true", "-1",
                                     "0", "1e99", "\"\"", "\"A*\"", "\"=\"", "\\u0000", "\xff", "{}",   "[]",   "*"};

static size_t mutate(struct rng *rng, char *line, size_t size) {
	const char *token = tokens[rng_below(rng, sizeof tokens / sizeof *tokens)];
	size_t at = rng_below(rng, size + 1), cut = rng_below(rng, 12), put = rng_below(rng, 3) ? strlen(token) : 0;
	cut = cut > size - at || rng_below(rng, 2) ? 0 : cut;
	memmove(line + at + put, line + at + cut, size - at - cut);
	memcpy(line + at, token, put);
	return size - cut + put;
}

static void check_mutated(void) {
	enum { ROUNDS = 30000 };
	struct rng rng;
	int wrong = 0, taken = 0;
	rng_seed(&rng, 1);
	for (int i = 0; i < ROUNDS; i++) {
		struct err err = {.code = ERR_OK};
		struct arena *arena = arena_new();
		struct program_request request;
		char *line = mem_alloc(sizeof seed + 100, 1);
		size_t size = sizeof seed - 1;
		memcpy(line, seed, size);
		for (uint64_t changes = rng_below(&rng, 4); changes > 0; changes--)
			size = mutate(&rng, line, size);
		json_t *json = js_parse(line, size, "request", &err);
		if (json_is_object(json)) {
			bool good = program_request_read(arena, json, &request, &err) == 0;
			wrong += good ? !sane(&request) : !err.what[0];
			taken += good;
		}
		json_decref(json);
		arena_free(arena);
		free(line);
	}
	ok(wrong == 0, "%d mutated requests are refused with a word, or sane", ROUNDS);
	ok(taken > ROUNDS / 10 && taken < ROUNDS - ROUNDS / 10, "among them %d that are taken", taken);
}

static void metric_free(struct program_metric *metric) {
	program_output_free(&(struct program_output){.metric = metric, .spool = -1});
}

/* However the bytes are cut into pieces, the same number is found as by looking at the whole. */
static void check_pieces(void) {
	static const char alphabet[] = "v=123.5\n\n x\0";
	struct program_metric *metric = program_metric_new("v=([0-9.]+)", NULL);
	struct rng rng;
	int wrong = 0, found = 0;
	rng_seed(&rng, 2);
	for (int i = 0; i < 20000; i++) {
		char text[64];
		double values[2] = {-1, -1};
		size_t size = rng_below(&rng, sizeof text + 1);
		for (size_t k = 0; k < size; k++)
			text[k] = alphabet[rng_below(&rng, sizeof alphabet)];
		for (int way = 0; way < 2; way++) {
			program_metric_start(metric);
			for (size_t at = 0, step; at < size; at += step) {
				step = way ? 1 + rng_below(&rng, size - at) : size;
				program_metric_add(metric, text + at, step);
			}
			program_metric_end(metric);
			if (program_metric_value(metric, NULL, &values[way], NULL) != 0)
				values[way] = program_metric_found(metric) ? -2 : -1;
		}
		wrong += values[0] != values[1];
		found += values[0] > 0;
	}
	ok(wrong == 0 && found > 100, "a metric is found in whatever pieces its line comes (%d found)", found);
	metric_free(metric);
}

/* A number is found anywhere in a long line, and whole or not at all where a piece ends within it. */
static void check_long(void) {
	enum { SIZE = 60000 };
	static char text[SIZE + 1];
	struct program_metric *metric = program_metric_new("rate ([0-9.]+)($|,)", NULL);
	int wrong = 0;
	for (size_t at = 0; at + 11 < SIZE; at += 7) {
		double value = -1;
		memset(text, at % 2 ? 'x' : ' ', SIZE);
		memcpy(text + at, "rate 12.75,", 11);
		program_metric_start(metric);
		program_metric_add(metric, text, SIZE);
		program_metric_end(metric);
		wrong += program_metric_value(metric, NULL, &value, NULL) == 0 ? value != 12.75 : at % 2 == 0;
	}
	ok(wrong == 0, "a metric is found in a long line");
	metric_free(metric);
	memset(text, '7', SIZE);
	metric = program_metric_new("[0-9]+", NULL);
	program_metric_start(metric);
	program_metric_add(metric, text, SIZE);
	program_metric_end(metric);
	double value;
	ok(program_metric_value(metric, NULL, &value, NULL) != 0, "a number of 60000 digits is not a metric");
	metric_free(metric);
}

int main(void) {
	struct fixture f;
	fixture_open(&f);
	check_table(&f);
	check_sizes(&f);
	check_mutated();
	check_pieces();
	check_long();
	answers(client_ask(f.client, "{\"op\":\"program\",\"argv\":[\"true\"]}"), "correct", "", "after all that it runs");
	ok(no_scratch(&f), "nothing is left in the worker's TMPDIR");
	fixture_close(&f);
	return tap_done();
}
