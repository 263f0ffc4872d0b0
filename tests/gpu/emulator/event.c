/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events and graphs. */
#include <stdlib.h>

#include "tests/gpu/emulator/stream_impl.h"

CU_EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags) {
	CUresult result = context_ready();
	(void)flags;
	if (result != CUDA_SUCCESS)
		return result;
	*event = calloc(1, sizeof **event);
	return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CU_EXPORT CUresult cuEventDestroy_v2(CUevent event) {
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	streams_finish(NULL);
	free(event);
	return context_ready();
}

CU_EXPORT CUresult cuEventRecord(CUevent event, CUstream wanted) {
	CUresult result = context_ready();
	struct stream *stream = result == CUDA_SUCCESS ? stream_known(wanted) : NULL;
	if (result != CUDA_SUCCESS)
		return result;
	if (!stream || !event)
		return CUDA_ERROR_INVALID_HANDLE;
	event->capture = stream->capture;
	event->captured = stream->captured;
	event->stream = stream;
	if (stream->capture)
		return CUDA_SUCCESS;
	struct op op = {.kind = OP_RECORD, .event = event, .stream = stream, .ticket = ++event->asked};
	return stream_submit(stream, &op);
}

/* A stream that waits for captured work is captured, too. */
static CUresult join(struct stream *stream, struct event *event) {
	if (stream->capture && stream->capture != event->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (!stream->capture)
		stream->captured = stream->joined = 0;
	stream->capture = event->capture;
	if (event->stream->joined < event->captured)
		event->stream->joined = event->captured;
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuStreamWaitEvent(CUstream wanted, CUevent event, unsigned flags) {
	CUresult result = context_ready();
	struct stream *stream = result == CUDA_SUCCESS ? stream_known(wanted) : NULL;
	if (result != CUDA_SUCCESS)
		return result;
	if (!stream || !event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (flags > 1)
		return CUDA_ERROR_INVALID_VALUE;
	if (event->capture && event->stream->capture == event->capture)
		return join(stream, event);
	if (!event->stream || event->stream == stream)
		return CUDA_SUCCESS;
	struct op op = {.kind = OP_WAIT, .event = event, .stream = event->stream, .ticket = event->asked};
	return stream_submit(stream, &op);
}

CU_EXPORT CUresult cuEventSynchronize(CUevent event) {
	CUresult result = context_ready();
	if (result != CUDA_SUCCESS || !event || !event->stream)
		return result != CUDA_SUCCESS ? result : event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
	if (event->done < event->asked)
		stream_finish_until(event->stream, event, event->asked);
	return context_now()->failure;
}

CU_EXPORT CUresult cuEventQuery(CUevent event) {
	CUresult result = context_ready();
	if (result != CUDA_SUCCESS || !event)
		return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_HANDLE;
	return event->done < event->asked ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

/* Seconds of the device in one of the host: a trial of a slow device needs few launches, which are what a test waits
 * for. Only a test that asks the worker itself may have more than one, because the tuner refuses times that cannot have
 * passed. */
static double slowness(void) {
	return (double)number_from("SWEETSPOT_EMULATED_SLOWNESS", 1);
}

CU_EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
	CUresult result = context_ready();
	if (result != CUDA_SUCCESS)
		return result;
	if (!from || !to || !from->asked || !to->asked)
		return CUDA_ERROR_INVALID_HANDLE;
	if (from->done < from->asked || to->done < to->asked)
		return CUDA_ERROR_NOT_READY;
	*milliseconds = (float)((to->seconds - from->seconds) * 1e3 * slowness());
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent from, CUevent to) {
	return cuEventElapsedTime(milliseconds, from, to);
}

void graph_drop(struct graph *graph) {
	if (--graph->users > 0)
		return;
	streams_finish(NULL); /* launched work uses its arguments */
	for (struct op *op = graph->first, *next; op; op = next) {
		next = op->next;
		op_free(op);
	}
	free(graph);
}

CU_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
	CUresult result = context_ready();
	if (result != CUDA_SUCCESS || !graph || flags)
		return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
	graph->users++;
	*exec = graph;
	return CUDA_SUCCESS;
}

static CUresult replay(struct stream *stream, const struct op *op) {
	struct op *copy = op_copy(op);
	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (op->kind == OP_LAUNCH)
		copy->launch.arguments = launch_copy(&op->launch, op->launch.arguments);
	copy->copy.staged = NULL;
	bool fine = op->kind != OP_LAUNCH || copy->launch.arguments;
	CUresult result = fine ? stream_submit(stream, copy) : CUDA_ERROR_OUT_OF_MEMORY;
	free(copy);
	return result;
}

CU_EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream wanted) {
	CUresult result = context_ready();
	struct stream *stream = result == CUDA_SUCCESS ? stream_known(wanted) : NULL;
	if (result == CUDA_SUCCESS && (!exec || !stream))
		return CUDA_ERROR_INVALID_HANDLE;
	for (const struct op *op = exec->first; op && result == CUDA_SUCCESS; op = op->next)
		result = replay(stream, op);
	return result;
}

CU_EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec) {
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	graph_drop(exec);
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuGraphDestroy(CUgraph graph) {
	return cuGraphExecDestroy(graph);
}
