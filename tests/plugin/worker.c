/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worker's protocol with plug-ins: two of them at once, a kernel of the same name in each, a file that changes. */
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tests/worker/protocol_client.h"

static char folder[] = "/tmp/sweetspot-plugin-XXXXXX";

/* A variant of bad.c. */
static bool build(const char *name, const char *flags) {
	const char *cc = getenv("CC"), *source = getenv("SRCDIR");
	char *line = mem_printf("mkdir -p %s/include && ln -sfn %s/kernels %s/include/sweetspot && "
	                        "%s -shared -fPIC -O1 -I%s/include %s -o %s/%s %s/tests/plugin/bad.c",
	                        folder, source, folder, cc ? cc : "cc", folder, flags, folder, name, source);
	int status = system(line);
	free(line);
	return status == 0;
}

static const char *ask(struct client *client, const char *member, const char *library, const char *rest) {
	return client_text(client, member,
	                   "{\"op\":\"trial\",\"kernel\":\"sum\",\"library\":\"%s/%s\",\"samples\":1,"
	                   "\"min_sample_s\":0%s}",
	                   folder, library, rest);
}

/* States and inputs are kept: the same name, problem and configuration in another library is another kernel. */
static void check_two(struct client *client) {
	static const char wrong[] = ",\"config\":{\"fault\":\"wrong\"}";
	for (int turn = 0; turn < 2; turn++) {
		is_text(ask(client, "status", "one.so", ""), "correct", "a trial of the first");
		is_text(ask(client, "status", "two.so", ""), "correct", "a kernel of the same name in the second");
		is_text(ask(client, "message", "one.so", wrong), "factor 1", "the first is asked");
		is_text(ask(client, "message", "two.so", wrong), "factor 2", "the second is asked");
	}
	is_text(client_text(client, "status", "{\"op\":\"trial\",\"kernel\":\"synthetic\",\"samples\":1}"), "correct",
	        "built-in kernels are there beside them");
	is_text(client_text(client, "error.what", "{\"op\":\"trial\",\"kernel\":\"sum\"}"), "unknown kernel \"sum\"",
	        "a request without a library finds built-in kernels only");
	is_text(client_text(client, "error.what", "{\"op\":\"trial\",\"kernel\":\"fw\",\"library\":\"%s/one.so\"}", folder),
	        "unknown kernel \"fw\"", "a request with a library finds its own kernels only");
}

static void check_requests(struct client *client) {
	ok(strstr(ask(client, "error.what", "nosuch.so", ""), "does not exist"), "a missing file is an answer");
	ok(strstr(client_text(client, "error.what", "{\"op\":\"describe\",\"library\":\"one.so\"}"), "not absolute"),
	   "a relative path is refused");
	ok(*client_text(client, "error.what", "{\"op\":\"describe\",\"library\":7}"), "a number as a library is refused");
	ok(*client_text(client, "error.what", "{\"op\":\"describe\",\"library\":\"\"}"),
	   "an empty text as a library is refused");
	ok(strstr(ask(client, "error.hint", "one.so", ",\"config\":{\"stp\":1}"), "step"), "a mistyped parameter is named");
	json_t *answer = client_ask(client, "{\"op\":\"describe\",\"library\":\"%s/one.so\"}", folder);
	json_t *kernels = path_get(answer, "kernels"), *kernel = json_array_get(kernels, 0);
	const char *source = json_string_value(json_object_get(kernel, "source"));
	ok(json_array_size(kernels) == 1 && source && strlen(source) == 71, "describe: its kernels alone, with a hash");
	json_decref(answer);
}

static void check_change(struct client *client) {
	ok(build("one.so.new", "-DFACTOR=3"), "a plug-in is built anew");
	char *from = mem_printf("%s/one.so.new", folder), *to = mem_printf("%s/one.so", folder);
	ok(rename(from, to) == 0, "a plug-in takes the old one's place");
	ok(strstr(ask(client, "error.what", "one.so", ""), "has changed since"), "a plug-in that has changed is not used");
	is_text(ask(client, "status", "two.so", ""), "correct", "others are not touched by that");
	free(from);
	free(to);
}

static void check_limit(struct client *client) {
	char *from = mem_printf("%s/two.so", folder);
	int loaded = 0;
	bool refused = false;
	for (int i = 0; i < 70 && !refused; i++) {
		char *name = mem_printf("copy%d.so", i), *to = mem_printf("%s/%s", folder, name);
		char *line = mem_printf("cp %s %s", from, to);
		if (system(line) == 0 && *ask(client, "status", name, ""))
			loaded++;
		else
			refused = strstr(ask(client, "error.what", name, ""), "more than 64") != NULL;
		free(line);
		free(to);
		free(name);
	}
	ok(refused && loaded == 62, "64 and no more (%d more were loaded)", loaded);
	is_text(ask(client, "status", "two.so", ""), "correct", "those loaded before still answer");
	free(from);
}

int main(void) {
	if (!mkdtemp(folder) || !build("one.so", "-DFACTOR=1") || !build("two.so", "-DFACTOR=2")) {
		printf("Bail out! no plug-ins to test\n");
		return 99;
	}
	struct client *client = client_start("sweetspot-worker", 0);
	check_two(client);
	check_requests(client);
	check_change(client);
	check_limit(client);
	ok(client_stop(client) == 0, "the worker ends well");
	char *line = mem_printf("rm -rf %s", folder);
	ok(system(line) == 0, "tidied up");
	free(line);
	return tap_done();
}
