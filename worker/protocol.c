/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/protocol.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "worker/counters_answer.h"
#include "worker/describe.h"
#include "worker/devices_answer.h"
#include "worker/kernel/compile.h"
#include "worker/kernel/library.h"
#include "worker/kernel/lines.h"
#include "worker/machine_answer.h"
#include "worker/program/program.h"
#include "worker/source/source.h"
#include "worker/trial.h"
#include "worker/kernel/word.h"

enum { PROTOCOL_MEMORY_SHARE = 4 /* part of the memory that states may take */ };

struct protocol {
	struct states *states;
	struct team *team;
	struct libraries *libraries;
	struct counters *counters;
	struct devices *devices;
	struct gpu_compiler *compiler; /* NULL: not needed so far */
	int input;                     /* descriptor of the requests, or -1 */
	bool abandoned;                /* nobody reads answers any more */
	bool ending;                   /* a device is broken, or limits were taken away: this process must end */
};

struct protocol *protocol_new(void) {
	struct protocol *protocol = mem_alloc(1, sizeof *protocol);
	protocol->states = states_new(STATE_COUNT, sys_memory_total() / PROTOCOL_MEMORY_SHARE);
	protocol->team = team_new();
	protocol->libraries = libraries_new();
	protocol->counters = counters_new();
	protocol->devices = devices_new();
	protocol->input = -1;
	return protocol;
}

void protocol_free(struct protocol *protocol) {
	if (protocol) {
		states_free(protocol->states);
		team_free(protocol->team);
		libraries_free(protocol->libraries);
		counters_free(protocol->counters);
		devices_free(protocol->devices);
		gpu_compiler_free(protocol->compiler);
		free(protocol);
	}
}

static json_t *op_describe(struct protocol *protocol, const json_t *request, struct err *err) {
	static const char *const keys[] = {"op", "id", "library", "counters"};
	const struct kernel_entry *entries = kernel_registry;
	const char *library;
	bool counters = true;
	if (word_check_keys(request, keys, sizeof keys / sizeof *keys, err) != 0 ||
	    (json_object_get(request, "counters") && js_bool(request, "counters", &counters, err) != 0)) {
		return NULL;
	}
	if (json_object_get(request, "library")) {
		bool named = js_string(request, "library", &library, err) == 0;
		entries = named ? libraries_load(protocol->libraries, library, err) : NULL;
	}
	return entries ? describe_json(entries, counters ? protocol->counters : NULL) : NULL;
}

static json_t *op_trial(struct protocol *protocol, const json_t *request, struct err *err) {
	const struct trial_home home = {protocol->states, protocol->team, protocol->libraries, protocol->counters,
	                                protocol->devices};
	return trial_run(&home, request, &protocol->ending, err);
}

static json_t *op_drop(struct protocol *protocol, const json_t *request, struct err *err) {
	static const char *const keys[] = {"op", "id"};
	if (word_check_keys(request, keys, 2, err) != 0) {
		return NULL;
	}
	return json_pack("{s:I}", "dropped", (json_int_t)states_clear(protocol->states));
}

static json_t *op_program(struct protocol *protocol, const json_t *request, struct err *err) {
	json_t *reply = program_answer(protocol->input, protocol->counters, request, &protocol->abandoned, err);
	protocol->ending = json_is_true(json_object_get(reply, "ending"));
	return reply;
}

static json_t *op_counters(struct protocol *protocol, const json_t *request, struct err *err) {
	const struct counters_home home = {protocol->counters, protocol->libraries, protocol->devices};
	return counters_answer(&home, request, err);
}

static json_t *op_metrics(struct protocol *protocol, const json_t *request, struct err *err) {
	(void)protocol;
	return counters_metrics_answer(request, err);
}

static json_t *op_devices(struct protocol *protocol, const json_t *request, struct err *err) {
	return devices_answer(protocol->devices, request, err);
}

static json_t *op_compile(struct protocol *protocol, const json_t *request, struct err *err) {
	bool ours = json_object_get(request, "kernel");
	return (ours ? compile_kernel_answer : source_compile_answer)(&protocol->compiler, request, err);
}

static json_t *op_machine(struct protocol *protocol, const json_t *request, struct err *err) {
	(void)protocol;
	return machine_answer(request, err);
}

static const struct {
	const char *name;
	json_t *(*run)(struct protocol *protocol, const json_t *request, struct err *err);
} protocol_ops[] = {
	{"describe", op_describe}, {"trial", op_trial},       {"drop", op_drop},
	{"program", op_program},   {"counters", op_counters}, {"metrics", op_metrics},
	{"devices", op_devices},   {"machine", op_machine},   {"compile", op_compile},
};

enum { PROTOCOL_OPS = sizeof protocol_ops / sizeof *protocol_ops };

json_t *protocol_dispatch(struct protocol *protocol, const json_t *request, struct err *err) {
	const char *op, *names[PROTOCOL_OPS];
	char what[160];
	if (js_string(request, "op", &op, err) != 0) {
		return NULL;
	}
	for (size_t i = 0; i < PROTOCOL_OPS; i++) {
		names[i] = protocol_ops[i].name;
		if (strcmp(op, names[i]) == 0) {
			return protocol_ops[i].run(protocol, request, err);
		}
	}
	snprintf(what, sizeof what, "unknown operation \"%.100s\"", op);
	word_unknown(op, names, PROTOCOL_OPS, what, err);
	return NULL;
}

static json_t *error_json(struct err *err) {
	word_clean(err->what, sizeof err->what);
	word_clean(err->hint, sizeof err->hint);
	json_t *error = json_pack("{s:s, s:s}", "what", err->what, "hint", err->hint);
	if (err->code == ERR_UNAVAILABLE || err->code == ERR_FAILED) {
		const char *code = err->code == ERR_FAILED ? "failed" : "unavailable";
		json_object_set_new(error, "code", json_string(code));
	}
	return json_pack("{s:o}", "error", error);
}

static json_t *line_request(const char *line, size_t size, struct err *err) {
	json_t *request = js_parse(line, size, "request", err);
	if (request && !json_is_object(request)) {
		json_decref(request);
		err_set(err, ERR_USAGE, "write {\"op\": ...}", "a request must be a JSON object");
		return NULL;
	}
	return request;
}

json_t *protocol_answer(struct protocol *protocol, const char *line, size_t size) {
	struct err err = {.code = ERR_OK};
	json_t *request = line_request(line, size, &err), *answer = NULL;
	json_t *id = json_object_get(request, "id");
	if (id && !json_is_integer(id)) {
		err_set(&err, ERR_USAGE, NULL, "id must be a whole number");
		id = NULL;
	} else if (request) {
		answer = protocol_dispatch(protocol, request, &err);
	}
	if (!answer) {
		answer = error_json(&err);
	}
	if (id) {
		json_object_set(answer, "id", id);
	}
	json_decref(request);
	return answer;
}

static int text_write(int fd, const char *text, size_t size) {
	while (size > 0) {
		ssize_t wrote = write(fd, text, size);
		if (wrote < 0 && errno != EINTR) {
			return -1;
		}
		text += wrote > 0 ? wrote : 0;
		size -= wrote > 0 ? (size_t)wrote : 0;
	}
	return 0;
}

int protocol_write(int fd, const json_t *answer) {
	static const char sorry[] = "{\"error\":{\"what\":\"the answer cannot be written\",\"hint\":\"\"}}\n";
	char *text = json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(12));
	if (!text) {
		return text_write(fd, sorry, sizeof sorry - 1);
	}
	size_t size = strlen(text);
	text[size] = '\n'; /* replaces the NUL, so that one write sends one line */
	int status = text_write(fd, text, size + 1);
	free(text);
	return status;
}

static json_t *long_json(void) {
	struct err err;
	err_set(&err, ERR_USAGE, NULL, "the request exceeds %d bytes", PROTOCOL_LINE_MAX);
	return error_json(&err);
}

int protocol_serve(int in, int out) {
	struct lines *lines = lines_new(in, PROTOCOL_LINE_MAX);
	struct protocol *protocol = protocol_new();
	const char *line;
	size_t size;
	int status = 0;
	protocol->input = in;
	for (enum lines_got got; status == 0 && !protocol->abandoned && !protocol->ending &&
	                         (got = lines_next(lines, &line, &size)) != LINES_END;) {
		json_t *answer = got == LINES_LONG ? long_json() : protocol_answer(protocol, line, size);
		status = protocol->abandoned || protocol_write(out, answer) == 0 ? 0 : 1;
		json_decref(answer);
	}
	protocol_free(protocol);
	lines_free(lines);
	return status;
}
