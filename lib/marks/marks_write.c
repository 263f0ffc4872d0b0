/* SPDX-License-Identifier: BSD-3-Clause */
/* One JSON object a line; doc/regions.md describes them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/marks/marks.h"

enum { WRITE_WAIT_S = 2 };

static void text_write(FILE *out, const char *text) {
	putc('"', out);
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;
		if (byte < ' ' || byte == 0x7f || byte == '"' || byte == '\\')
			fprintf(out, "\\u%04x", byte);
		else
			putc(byte, out);
	}
	putc('"', out);
}

static void head_write(FILE *out, struct ssr_state *state, bool final) {
	fprintf(out, "{\"sweetspot_regions\":1,\"pid\":%ld,\"program\":", (long)state->pid);
	text_write(out, program_invocation_short_name);
	fprintf(out, ",\"complete\":%s,\"dropped\":%" PRIu64 ",\"unread_events\":%u,\"events\":[", final ? "true" : "false",
	        atomic_load(&state->dropped), state->unread_events);
	for (size_t i = 0; i < state->event_count; i++) {
		fputs(i ? "," : "", out);
		text_write(out, state->events[i].name);
	}
	fputs("]}\n", out);
}

static void event_write(FILE *out, const struct ssr_counter *counter, const struct ssr_sum *sum) {
	int error = atomic_load(&counter->error);
	if (error)
		fprintf(out, "{\"errno\":%d}", error);
	else
		fprintf(out, "{\"value\":%" PRIu64 ",\"enabled\":%" PRIu64 ",\"running\":%" PRIu64 "%s}",
		        atomic_load(&sum->value), atomic_load(&sum->enabled), atomic_load(&sum->running),
		        atomic_load(&counter->user_only) ? ",\"user_only\":true" : "");
}

static bool is_empty(struct ssr_mark *mark) {
	return !atomic_load(&mark->calls) && !atomic_load(&mark->unbegun) && !atomic_load(&mark->unended) &&
	       !atomic_load(&mark->depth);
}

static void mark_write(FILE *out, const struct ssr_state *state, struct ssr_mark *mark) {
	fprintf(out,
	        "{\"thread\":%u,\"calls\":%" PRIu64 ",\"ns\":%" PRIu64 ",\"unbegun\":%" PRIu64 ",\"unended\":%" PRIu64
	        ",\"events\":[",
	        mark->thread->number, atomic_load(&mark->calls), atomic_load(&mark->ns), atomic_load(&mark->unbegun),
	        atomic_load(&mark->unended) + atomic_load(&mark->depth));
	for (size_t i = 0; i < state->event_count; i++) {
		fputs(i ? "," : "", out);
		event_write(out, &mark->thread->counters[i], &mark->sums[i]);
	}
	fputs("]}", out);
}

static void name_write(FILE *out, const struct ssr_state *state, const struct ssr_name *name) {
	const char *comma = "";
	for (struct ssr_mark *mark = name->marks; mark; mark = mark->next) {
		if (is_empty(mark))
			continue;
		if (!*comma) {
			fputs("{\"name\":", out);
			text_write(out, name->text);
			fputs(",\"threads\":[", out);
		}
		fputs(comma, out);
		mark_write(out, state, mark);
		comma = ",";
	}
	fputs(*comma ? "]}\n" : "", out);
}

/* Rename, so that a reader sees all of it or nothing. */
static int file_write(struct ssr_state *state, bool final, const char *path, const char *temporary) {
	int fd = open(temporary, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out && fd >= 0)
		close(fd);
	if (!out)
		return -1;
	head_write(out, state, final);
	for (const struct ssr_name *name = state->names; name; name = name->next)
		name_write(out, state, name);
	bool failed = ferror(out);
	return fclose(out) != 0 || failed ? -1 : rename(temporary, path);
}

/* The thread that calls exit() may have been cancelled while holding the lock. */
static bool lock_in_time(struct ssr_state *state) {
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WRITE_WAIT_S;
	return pthread_mutex_timedlock(&state->lock, &until) == 0;
}

static void write_locked(struct ssr_state *state, bool final) {
	char *path = NULL, *temporary = NULL;
	if (!final && atomic_load(&state->ending))
		return;
	if (!state->names || state->pid != getpid()) /* a child of a clone() that the library did not see */
		return;
	if (asprintf(&path, "%s/regions-%ld-%" PRIu64 ".json", state->folder, (long)state->pid, state->start_ns) < 0)
		path = NULL;
	if (!path || asprintf(&temporary, "%s.part", path) < 0)
		temporary = NULL;
	if (temporary && file_write(state, final, path, temporary) != 0 && final)
		fprintf(stderr, "sweetspot: warning: cannot write the regions to %s: %s\n", state->folder, strerror(errno));
	free(temporary);
	free(path);
}

/* A thread that is cancelled here would keep the lock. */
void ssr_write(struct ssr_state *state, bool final) {
	int before = errno, cancel;
	if (final)
		atomic_store(&state->ending, true);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (lock_in_time(state)) {
		write_locked(state, final);
		pthread_mutex_unlock(&state->lock);
	}
	pthread_setcancelstate(cancel, NULL);
	errno = before;
}
