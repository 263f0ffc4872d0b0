/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker at the other end of a pipe, for tests. */
#ifndef TESTS_WORKER_PROTOCOL_CLIENT_H
#define TESTS_WORKER_PROTOCOL_CLIENT_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client;

/* program: its path below the build folder. Ends the test where it can't be started. */
struct client *client_start(const char *program, uint64_t address_space);
/* Sends bytes as they are. */
void client_send(struct client *client, const char *data, size_t size);
/* The next answer; NULL at the end of output, after `seconds`, or if it is not a JSON object. New reference. */
json_t *client_answer(struct client *client, double seconds);
/* Sends one line, made like printf, and gives its answer. New reference. */
json_t *client_ask(struct client *client, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Like client_ask, but returns only the answer's member as text ("" if it is missing); valid until the next call. */
const char *client_text(struct client *client, const char *member, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* One request after which the worker must not answer; returns after its end. */
void client_expect_end(struct client *client, const char *request);
const char *client_stderr(struct client *client);
int client_pid(const struct client *client);
/* Closes its stdin, waits, and returns the wait status. */
int client_stop(struct client *client);

/* "a.b.c" inside a JSON value; NULL if it is missing. Borrowed. */
json_t *path_get(json_t *json, const char *path);

#endif
