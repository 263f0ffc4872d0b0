/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work in the order of streams. It is done as late as it may be: when somebody waits for it, so that a wait that is
 * missing shows. SWEETSPOT_EMULATED_EAGER=1: at once. */
#ifndef TESTS_GPU_EMULATOR_STREAM_H
#define TESTS_GPU_EMULATOR_STREAM_H
#include <stdbool.h>

#include "tests/gpu/emulator/abi.h"
#include "tests/gpu/emulator/launch.h"

enum op_kind { OP_COPY, OP_FILL, OP_LAUNCH, OP_RECORD, OP_WAIT };

struct op {
	struct op *next;
	enum op_kind kind;
	struct { /* rows of bytes; a plain copy has one */
		char *to;
		const char *from;
		size_t to_pitch, from_pitch, width, rows;
		bool to_device, from_device;
		void *staged; /* a copy, because the host may overwrite its own at once */
	} copy;
	struct {
		char *to;
		uint32_t value;
		size_t count, each; /* bytes of a value */
	} fill;
	struct launch launch; /* its arguments are the op's own */
	struct event *event;
	struct stream *stream; /* where the event is recorded */
	uint64_t ticket;
};

/* The op takes over everything that the caller allocated in it, even on failure. stream may be NULL: the default
 * one. */
CUresult stream_submit(struct stream *stream, const struct op *op);
CUresult stream_finish(struct stream *stream);
CUresult stream_wait(struct stream *stream);        /* NULL: the default one; refused while it is being captured */
void streams_finish(const struct context *context); /* NULL: all contexts' */
void *launch_copy(const struct launch *launch, void *const *arguments); /* for launch.arguments; one free(3) */

#endif
