/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_GPU_EMULATOR_STREAM_IMPL_H
#define TESTS_GPU_EMULATOR_STREAM_IMPL_H
#include "tests/gpu/emulator/device.h"
#include "tests/gpu/emulator/stream.h"

struct graph {
	struct op *first, **end;
	struct stream *origin;
	unsigned users; /* graphs, executable graphs and captures are the same thing here */
};

struct stream {
	struct stream *next;
	struct context *context;
	bool plain; /* the default one of its context */
	struct op *first, **end;
	struct graph *capture;
	uint64_t captured, joined; /* ops of it in the capture, and how many of them another stream waits for */
};

struct event {
	uint64_t asked, done;  /* tickets */
	double seconds;        /* of the last record that was done */
	struct stream *stream; /* of the last record that was asked for */
	struct graph *capture;
	uint64_t captured;
};

struct stream *stream_known(struct stream *stream); /* NULL: the default one; returns NULL for an unknown stream */
CUresult stream_finish_until(struct stream *stream, const struct event *event, uint64_t ticket);
void graph_drop(struct graph *graph);
struct op *op_copy(const struct op *op);
void op_free(struct op *op);
CUresult op_run(const struct op *op); /* the result is a failure of the context */

#endif
