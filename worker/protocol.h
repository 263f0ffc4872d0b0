/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's protocol, defined in doc/protocol.md. */
#ifndef WORKER_PROTOCOL_H
#define WORKER_PROTOCOL_H
#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

enum { PROTOCOL_VERSION = 1, PROTOCOL_LINE_MAX = 1 << 20 };

struct protocol;
struct protocol *protocol_new(void);
void protocol_free(struct protocol *protocol);
/* The answer to one line with any content; never NULL. New reference. */
json_t *protocol_answer(struct protocol *protocol, const char *line, size_t size);
/* The answer to one request without error wrapping: NULL and err. New reference. */
json_t *protocol_dispatch(struct protocol *protocol, const json_t *request, struct err *err);
/* Writes one line; -1 if the reader is gone. */
int protocol_write(int fd, const json_t *answer);
/* Answers lines until the end of input; returns an exit status. */
int protocol_serve(int in, int out);

#endif
