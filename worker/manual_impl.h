/* SPDX-License-Identifier: BSD-3-Clause */
/* A manual trial: words and options of the command line instead of a request. */
#ifndef WORKER_MANUAL_IMPL_H
#define WORKER_MANUAL_IMPL_H
#include "base/opt.h"
#include <jansson.h>

extern const struct opt manual_options[];
/* args: "run", the kernel, "P=V" words. Prints the trial's line to fd `out`. 0, 1 for a failed trial, or -1 with err
 * and nothing printed. */
int manual_run(const struct opt_args *args, int out, struct err *err);

/* The worker's protocol, defined in doc/protocol.md. */
enum { PROTOCOL_VERSION = 1, PROTOCOL_LINE_MAX = 1 << 20 };

struct protocol;
struct protocol *protocol_new(void);
/* The answer to one line with any content; never NULL. New reference. */
json_t *protocol_answer(struct protocol *protocol, const char *line, size_t size);
/* Writes one line; -1 if the reader is gone. */
int protocol_write(int fd, const json_t *answer);
/* Answers lines until the end of input; returns an exit status. */
int protocol_serve(int in, int out);
#endif
