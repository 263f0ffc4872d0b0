/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiles on the worker's machine, because code for the processor of a node has to be made on that node. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/sys.h"
#include "tuner/spec/c/impl.h"
#include "tuner/worker/exchange.h"

static const double SPARE_SECONDS = 30, GRACE_SECONDS = 2;
enum { LOG_MAX = 1 << 20 };

static int compile_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	(void)ctx;
	return worker_status_read(answer, result, err);
}

/* The worker keeps the end of a program's output, but the first error of a compiler is the useful one: its output goes
 * to a log file. */
static json_t *request_make(const struct c_compiler *compiler, const char *const *argv, const char *log,
                            double seconds) {
	json_t *words =
		json_pack("[s,s,s,s,s]", "/bin/sh", "-c", "log=$1; shift; exec \"$@\" >/dev/null 2>\"$log\"", "sh", log);
	for (; *argv; argv++)
		json_array_append_new(words, json_string(*argv));
	return json_pack("{s:s,s:o,s:s,s:{s:s,s:s},s:i,s:i,s:f}", "op", "program", "argv", words, "cwd", compiler->cwd,
	                 "env", "LC_ALL", "C", "TMPDIR", compiler->folder, "samples", 1, "warmup", 0, "timeout_s", seconds);
}

static void message_read(const char *log, const struct trial_result *result, char message[256]) {
	struct err none = {0};
	size_t size;
	char *text = sys_read_file(log, LOG_MAX, &size, &none);
	message[0] = '\0';
	if (text && result->status != TRIAL_TIMEOUT)
		c_first_error(text, message);
	if (!message[0])
		snprintf(message, 256, "the compiler: %.200s",
		         *result->message ? result->message : trial_status_text(result->status));
	free(text);
}

enum c_outcome c_compile_there(const struct c_compiler *compiler, const char *const *argv, double seconds,
                               char message[256], struct err *err) {
	char *log = mem_printf("%s/compiler.log", compiler->folder);
	json_t *request = request_make(compiler, argv, log, seconds);
	const struct worker_question question = {
		.request = request, .timeout_s = seconds + SPARE_SECONDS, .grace_s = GRACE_SECONDS, .use = compile_use};
	struct trial_result result = {0};
	enum c_outcome outcome = C_BROKEN;
	if (!request)
		err_set(err, ERR_USAGE, "write it in UTF-8", "the compiler's arguments cannot be sent to a node");
	else if (worker_exchange(compiler->worker, &question, &result, err) == 0)
		outcome = result.status == TRIAL_CORRECT ? C_DONE : C_REFUSED;
	if (outcome == C_REFUSED)
		message_read(log, &result, message);
	trial_result_clear(&result);
	json_decref(request);
	free(log);
	return outcome;
}
