/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever a line holds, it is answered, and the worker lives on. */
#include <stdlib.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tests/worker/protocol_client.h"

#define TRIAL "{\"op\":\"trial\",\"id\":4,\"kernel\":\"synthetic\","

/* 101 bytes of letters of two, so that a cut after 100 bytes falls inside one. */
#define E10       "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
#define LONG_WORD "h" E10 E10 E10 E10 E10

/* A request, and what its error must say. */
static const struct {
	const char *line, *what, *hint;
} bad[] = {
	{"", "not valid JSON", ""},
	{"{\"op\":\"trial\",\"kernel\":\"fw\"", "not valid JSON", ""},
	{"{\"op\":\"describe\"} {}", "not valid JSON", ""},
	{"[1,2,3]", "JSON object", "op"},
	{"17", "not valid JSON", ""},
	{"{}", "op", ""},
	{"{\"op\":5}", "op", ""},
	{"{\"op\":\"describ\"}", "describ", "describe"},
	{"{\"op\":\"describe\",\"id\":\"x\"}", "id", ""},
	{"{\"op\":\"describe\",\"more\":1}", "more", ""},
	{"{\"op\":\"describe\",\"counters\":[]}", "counters", ""},
	{"{\"op\":\"drop\",\"op\":\"drop\"}", "duplicate", ""},
	{"{\"op\":\"trial\"}", "kernel", ""},
	{"{\"op\":\"trial\",\"kernel\":7}", "kernel", ""},
	{"{\"op\":\"trial\",\"kernel\":\"synthetc\"}", "synthetc", "synthetic"},
	{TRIAL "\"sample\":3}", "sample", "samples"},
	{TRIAL "\"samples\":-1}", "samples", ""},
	{TRIAL "\"samples\":1e300}", "samples", ""},
	{TRIAL "\"samples\":\"3\"}", "samples", ""},
	{TRIAL "\"samples\":2.5}", "samples", ""},
	{TRIAL "\"seed\":-1}", "seed", ""},
	{TRIAL "\"seed\":99999999999999999999}", "", ""},
	{TRIAL "\"min_sample_s\":-1}", "min_sample_s", ""},
	{TRIAL "\"limit_s\":true}", "limit_s", ""},
	{TRIAL "\"verify\":\"sometimes\"}", "verify", ""},
	{TRIAL "\"counters\":\"fake\"}", "counters", ""},
	{TRIAL "\"counters\":[3]}", "counters", ""},
	{TRIAL "\"counters\":[\"fakes\"]}", "fakes", "fake"},
	{TRIAL "\"problem\":[]}", "problem", ""},
	{TRIAL "\"problem\":{\"m\":3}}", "\"m\"", "n"},
	{TRIAL "\"problem\":{\"n\":0}}", "n is 0", ""},
	{TRIAL "\"problem\":{\"n\":\"many\"}}", "whole number", ""},
	{TRIAL "\"problem\":{\"n\":1.5}}", "whole number", ""},
	{TRIAL "\"problem\":{\"n\":null}}", "whole number", ""},
	{TRIAL "\"problem\":{\"n\":{\"n\":1}}}", "whole number", ""},
	{TRIAL "\"config\":3}", "object", ""},
	{TRIAL "\"config\":{\"varant\":\"a\"}}", "varant", "variant"},
	{TRIAL "\"config\":{\"variant\":\"aa\"}}", "variant", ""},
	{TRIAL "\"config\":{\"variant\":1}}", "variant", ""},
	{TRIAL "\"config\":{\"threads\":0}}", "threads", ""},
	{TRIAL "\"config\":{\"threads\":-2}}", "threads", ""},
	{TRIAL "\"config\":{\"threads\":9223372036854775807}}", "threads", ""},
	{TRIAL "\"config\":{\"proc_bind\":\"clos\"}}", "clos", "close"},
	{TRIAL "\"config\":{\"places\":\"core\"}}", "core", "cores"},
	{TRIAL "\"config\":{\"schedule\":\"static\"}}", "schedule", ""},
	{"{\"op\":\"trial\",\"kernel\":\"gol\",\"config\":{\"schedule\":\"auto\"}}", "schedule", ""},
	{"{\"op\":\"trial\",\"kernel\":\"gol\",\"config\":{\"chunk\":-1}}", "chunk", ""},
	{"\xff\xfe{\"op\":\"describe\"}", "not valid JSON", ""},
	{"{\"op\":\"\xc3\x28\"}", "not valid JSON", ""},
	{"{\"op\":\"a\\u0000b\"}", "not valid JSON", ""},
	{"{\"op\":\"" LONG_WORD "\"}", "unknown operation", "describe"},
};

static bool says(json_t *answer, const char *path, const char *want) {
	const char *text = json_string_value(path_get(answer, path));
	if (text && strstr(text, want))
		return true;
	printf("# %s is %s\n", path, text ? text : "absent");
	return false;
}

static void check_table(struct client *client) {
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		json_t *answer = client_ask(client, "%s", bad[i].line);
		bool good = says(answer, "error.what", bad[i].what) && says(answer, "error.hint", bad[i].hint);
		if (good && strncmp(bad[i].line, TRIAL, sizeof TRIAL - 1) == 0 && bad[i].what[0])
			good = json_integer_value(path_get(answer, "id")) == 4;
		ok(good, "refused: %.60s", i < 46 ? bad[i].line : "bytes that are not text");
		json_decref(answer);
	}
}

static void check_raw(struct client *client, const char *data, size_t size, const char *what) {
	client_send(client, data, size);
	json_t *answer = client_answer(client, 60);
	ok(path_get(answer, "error.what"), "%s is answered", what);
	json_decref(answer);
}

static void check_huge(struct client *client) {
	enum { SIZE = 3 << 20 };
	char *line = mem_alloc(SIZE, 1);
	memset(line, ' ', SIZE);
	line[SIZE - 1] = '\n';
	check_raw(client, line, SIZE, "a line of 3 MiB");
	memset(line, '[', 1 << 19);
	line[1 << 19] = '\n';
	check_raw(client, line, (1 << 19) + 1, "half a million open brackets");
	memset(line, 0, 1000);
	line[1000] = '\n';
	check_raw(client, line, 1001, "a line of zeros");
	for (int i = 0; i < 4096; i++) {
		line[i] = (char)(i * 167 + 13);
		line[i] = line[i] == '\n' ? 'x' : line[i];
	}
	line[4096] = '\n';
	check_raw(client, line, 4097, "binary garbage");
	free(line);
}

/* The longest line allowed is read, one byte more is not. */
static void check_limit(struct client *client) {
	enum { LIMIT = 1 << 20 };
	char *line = mem_alloc(LIMIT + 2, 1);
	for (int over = 0; over < 2; over++) {
		size_t size = (size_t)(LIMIT + over);
		memset(line, ' ', size);
		memcpy(line, "{\"op\":\"drop\"}", 13);
		line[size] = '\n';
		client_send(client, line, size + 1);
		json_t *answer = client_answer(client, 60);
		ok(path_get(answer, over ? "error.what" : "dropped"), "a line of 1 MiB and %d bytes", over);
		json_decref(answer);
	}
	free(line);
}

/* Lines may come in pieces and together; the last one may lack its newline. */
static void check_pieces(struct client *client) {
	static const char drop[] = "{\"op\":\"drop\",\"id\":1}\n{\"op\":\"drop\",\"id\":2}\n{\"op\":\"drop\",\"id\":3";
	bool in_order = true;
	for (size_t i = 0; i < sizeof drop - 1; i++)
		client_send(client, drop + i, 1);
	client_send(client, "}\n", 2);
	for (int i = 1; i <= 3; i++) {
		json_t *answer = client_answer(client, 60);
		in_order = in_order && json_integer_value(path_get(answer, "id")) == i;
		json_decref(answer);
	}
	ok(in_order, "requests in pieces are answered in order");
}

int main(void) {
	struct client *client = client_start("sweetspot-worker", 0);
	check_table(client);
	check_huge(client);
	check_limit(client);
	check_pieces(client);
	is_text(client_text(client, "status", TRIAL "\"problem\":{\"n\":1},\"samples\":1,\"min_sample_s\":0}"), "correct",
	        "after all that it measures as before");
	client_send(client, "{\"op\":", 6);
	int status = client_stop(client);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "input that ends inside a line ends the worker in order");
	return tap_done();
}
