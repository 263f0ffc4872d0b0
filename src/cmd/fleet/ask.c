/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/fleet/ask.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/sys.h"

enum { TEXT_MAX = 4 << 20 };

struct proc *fleet_ask_start(const char *const *argv, struct err *err) {
	const struct proc_spec spec = {.argv = argv, .end_signal = SIGTERM, .end_seconds = 10};
	return proc_start(&spec, err);
}

static void text_add(struct fleet_answer *answer, size_t *used, const char *line, size_t size) {
	if (*used + size + 2 > TEXT_MAX) {
		answer->large = true;
		return;
	}
	answer->text = mem_grow(answer->text, *used + size + 2, 1);
	memcpy(answer->text + *used, line, size);
	*used += size;
	answer->text[(*used)++] = '\n';
	answer->text[*used] = '\0';
}

static void last_line(const char *text, char *line, size_t size) {
	size_t end = strlen(text), start;
	while (end && text[end - 1] == '\n')
		end--;
	for (start = end; start && text[start - 1] != '\n';)
		start--;
	snprintf(line, size, "%.*s", (int)(end - start), text + start);
}

/* Copies the message of the first "error: .." line, which both srun and this program write, else the last line. */
static void message_find(const char *diagnostics, char *line, size_t size) {
	const char *at = strstr(diagnostics, "error: ");
	if (at)
		snprintf(line, size, "%.*s", (int)strcspn(at + 7, "\n"), at + 7);
	else
		last_line(diagnostics, line, size);
}

static void reason_find(struct fleet_answer *answer, const char *diagnostics, double seconds) {
	char line[120], status[60];
	message_find(diagnostics, line, sizeof line);
	if (answer->large)
		snprintf(answer->why, sizeof answer->why, "it wrote more than %d bytes", TEXT_MAX);
	else if (answer->late)
		snprintf(answer->why, sizeof answer->why, "no answer within %.3g s%s%s", seconds, *line ? ": " : "", line);
	else if (answer->stopped)
		snprintf(answer->why, sizeof answer->why, "interrupted");
	else if (answer->status != 0) {
		proc_status_text(answer->status, status, sizeof status);
		snprintf(answer->why, sizeof answer->why, "%s", *line ? line : status);
	}
}

void fleet_ask_finish(struct proc *proc, double begun, double seconds, const volatile int *stop,
                      struct fleet_answer *answer) {
	enum proc_read got = PROC_EOF;
	double deadline = begun + seconds;
	char *line, *diagnostics;
	size_t size, used = 0;
	*answer = (struct fleet_answer){.text = mem_strdup("")};
	while (!answer->large && (got = proc_read(proc, deadline - sys_now(), stop, &line, &size)) == PROC_LINE)
		text_add(answer, &used, line, size);
	answer->late = got == PROC_TIMEOUT;
	answer->stopped = got == PROC_INTERRUPTED;
	answer->large = answer->large || got == PROC_FLOOD;
	diagnostics = mem_strdup(proc_stderr(proc));
	answer->status = proc_stop(proc, got == PROC_EOF && !answer->large ? 2 : 0);
	reason_find(answer, diagnostics, seconds);
	free(diagnostics);
}

int fleet_ask(const char *const *argv, double seconds, const volatile int *stop, struct fleet_answer *answer,
              struct err *err) {
	struct proc *proc = fleet_ask_start(argv, err);
	if (!proc)
		return -1;
	fleet_ask_finish(proc, sys_now(), seconds, stop, answer);
	return 0;
}

void fleet_answer_clear(struct fleet_answer *answer) {
	free(answer->text);
	answer->text = NULL;
}
