/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "tests/gpu/emulator/stream_impl.h"

static struct stream *streams;

static struct stream *stream_add(struct context *context, bool plain) {
	struct stream *stream = calloc(1, sizeof *stream);
	if (!stream)
		return NULL;
	*stream = (struct stream){.next = streams, .context = context, .plain = plain};
	stream->end = &stream->first;
	return streams = stream;
}

struct stream *stream_known(struct stream *wanted) {
	struct context *context = context_now();
	for (struct stream *stream = streams; stream; stream = stream->next)
		if (wanted ? stream == wanted : stream->plain && stream->context == context)
			return stream;
	return wanted ? NULL : stream_add(context, true);
}

static void step(struct stream *stream) {
	struct op *op = stream->first;
	stream->first = op->next;
	if (!stream->first)
		stream->end = &stream->first;
	if (stream->context->failure == CUDA_SUCCESS || op->kind == OP_RECORD) {
		CUresult result = op_run(op);
		if (stream->context->failure == CUDA_SUCCESS)
			stream->context->failure = result;
	}
	op_free(op);
}

CUresult stream_finish(struct stream *stream) {
	while (stream->first)
		step(stream);
	return stream->context->failure;
}

CUresult stream_finish_until(struct stream *stream, const struct event *event, uint64_t ticket) {
	while (event->done < ticket && stream->first)
		step(stream);
	return CUDA_SUCCESS;
}

void streams_finish(const struct context *context) {
	for (struct stream *stream = streams; stream; stream = stream->next)
		if (!context || stream->context == context)
			stream_finish(stream);
}

static bool eager(void) {
	return number_from("SWEETSPOT_EMULATED_EAGER", 0) != 0;
}

static CUresult captured(struct stream *stream, struct op *op) {
	*stream->capture->end = op;
	stream->capture->end = &op->next;
	stream->captured++;
	return CUDA_SUCCESS;
}

CUresult stream_submit(struct stream *wanted, const struct op *given) {
	struct stream *stream = stream_known(wanted);
	struct op *op = op_copy(given);
	if (!stream || !op) {
		free(op);
		return stream ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_HANDLE;
	}
	if (stream->capture)
		return captured(stream, op);
	*stream->end = op;
	stream->end = &op->next;
	if (eager())
		stream_finish(stream);
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
	CUresult result = context_ready();
	(void)priority;
	if (result != CUDA_SUCCESS || flags > 1)
		return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
	*stream = stream_add(context_now(), false);
	return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CU_EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
	return cuStreamCreateWithPriority(stream, flags, 0);
}

CU_EXPORT CUresult cuStreamDestroy_v2(CUstream wanted) {
	struct stream *stream = wanted ? stream_known(wanted) : NULL, **at = &streams;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	stream_finish(stream);
	while (*at != stream)
		at = &(*at)->next;
	*at = stream->next;
	free(stream);
	return context_ready();
}

CUresult stream_wait(struct stream *wanted) {
	CUresult result = context_ready();
	struct stream *stream = result == CUDA_SUCCESS ? stream_known(wanted) : NULL;
	if (result != CUDA_SUCCESS)
		return result;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	return stream_finish(stream);
}

CU_EXPORT CUresult cuStreamSynchronize(CUstream stream) {
	return stream_wait(stream);
}

CU_EXPORT CUresult cuCtxSynchronize(void) {
	CUresult result = context_ready();
	if (result != CUDA_SUCCESS)
		return result;
	for (struct stream *stream = streams; stream; stream = stream->next)
		if (stream->capture && stream->context == context_now())
			return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	streams_finish(context_now());
	return context_now()->failure;
}

/* ---- capture ---- */

CU_EXPORT CUresult cuStreamBeginCapture_v2(CUstream wanted, int mode) {
	CUresult result = context_ready();
	struct stream *stream = wanted ? stream_known(wanted) : NULL;
	if (result != CUDA_SUCCESS || !stream || mode < 0 || mode > 2)
		return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	stream->capture = calloc(1, sizeof *stream->capture);
	if (!stream->capture)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*stream->capture = (struct graph){.end = &stream->capture->first, .origin = stream, .users = 1};
	stream->captured = stream->joined = 0;
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuStreamEndCapture(CUstream wanted, CUgraph *graph) {
	struct stream *stream = wanted ? stream_known(wanted) : NULL;
	CUresult result = CUDA_SUCCESS;
	*graph = NULL;
	if (!stream || !stream->capture || stream->capture->origin != stream)
		return stream && stream->capture ? CUDA_ERROR_STREAM_CAPTURE_UNMATCHED : CUDA_ERROR_INVALID_VALUE;
	struct graph *capture = stream->capture;
	stream->capture = NULL;
	for (struct stream *other = streams; other; other = other->next) {
		if (other->capture != capture)
			continue;
		if (other->joined < other->captured)
			result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
		other->capture = NULL;
	}
	if (result == CUDA_SUCCESS)
		*graph = capture;
	else
		graph_drop(capture);
	return result;
}
