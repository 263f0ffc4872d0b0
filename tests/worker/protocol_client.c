/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/worker/protocol_client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/proc/proc.h"

/* Long, because on a busy machine a team of threads waits for a processor at each of its barriers. */
enum { PATIENCE_S = 900 };

struct client {
	struct proc *proc;
	char text[512];
};

struct client *client_start(const char *program, uint64_t address_space) {
	static const char *const unset[] = {"OMP_*", "GOMP_*", "KMP_*", NULL};
	const char *build = getenv("BUILDDIR");
	char *path = mem_printf("%s/%s", build ? build : ".", program);
	const char *const argv[] = {path, NULL};
	struct proc_spec spec = {.argv = argv, .unset = unset, .address_space = address_space};
	struct client *client = mem_alloc(1, sizeof *client);
	struct err err;
	client->proc = proc_start(&spec, &err);
	if (!client->proc) {
		printf("Bail out! %s\n", err.what);
		exit(99);
	}
	free(path);
	return client;
}

void client_send(struct client *client, const char *data, size_t size) {
	struct err err;
	if (proc_write(client->proc, data, size, PATIENCE_S, &err) != 0)
		printf("# %s\n", err.what);
}

json_t *client_answer(struct client *client, double seconds) {
	char *line;
	size_t size;
	enum proc_read got = proc_read(client->proc, seconds, NULL, &line, &size);
	if (got != PROC_LINE)
		return NULL;
	json_t *json = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(json)) {
		printf("# no JSON object: %.200s\n", line);
		json_decref(json);
		return NULL;
	}
	return json;
}

static json_t *ask(struct client *client, const char *format, va_list ap) {
	char *line;
	int size = vasprintf(&line, format, ap);
	if (size < 0)
		return NULL;
	line[size] = '\n';
	client_send(client, line, (size_t)size + 1);
	free(line);
	return client_answer(client, PATIENCE_S);
}

json_t *client_ask(struct client *client, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	json_t *answer = ask(client, format, ap);
	va_end(ap);
	return answer;
}

const char *client_text(struct client *client, const char *member, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	json_t *answer = ask(client, format, ap);
	va_end(ap);
	const char *text = json_string_value(path_get(answer, member));
	snprintf(client->text, sizeof client->text, "%s", text ? text : "");
	json_decref(answer);
	return client->text;
}

void client_expect_end(struct client *client, const char *request) {
	json_t *answer = client_ask(client, "%s", request);
	if (answer) {
		printf("# it answered\n");
		json_decref(answer);
	}
}

const char *client_stderr(struct client *client) {
	return proc_stderr(client->proc);
}

int client_pid(const struct client *client) {
	return (int)proc_pid(client->proc);
}

int client_stop(struct client *client) {
	int status = proc_stop(client->proc, PATIENCE_S);
	free(client);
	return status;
}

json_t *path_get(json_t *json, const char *path) {
	char key[64];
	while (json && *path) {
		size_t size = strcspn(path, ".");
		snprintf(key, sizeof key, "%.*s", (int)size, path);
		json = json_object_get(json, key);
		path += size + (path[size] == '.');
	}
	return json;
}
