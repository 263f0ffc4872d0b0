/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/value.h"
#include "tuner/inside/inside_impl.h"
#include "tuner/result/result.h"

enum { TABLE_MOST = 100 << 10 };

struct inside_session *inside_session_new(uint64_t seed) {
	struct inside_session *session = mem_alloc(1, sizeof *session);
	session->seed = seed;
	session->scratch.fd = -1;
	return session;
}

static void ring_drop(struct inside_session *session) {
	if (session->ring)
		munmap(session->ring, sizeof *session->ring);
	if (session->path)
		unlink(session->path);
	free(session->path);
	session->path = NULL;
	session->ring = NULL;
}

void inside_session_free(struct inside_session *session) {
	if (!session)
		return;
	ring_drop(session);
	if (session->scratch.path)
		scratch_close(&session->scratch);
	for (size_t i = 0; i < session->count; i++)
		inside_subject_free(session->subjects[i]);
	free(session->subjects);
	free(session);
}

/* The file is whole before the library can see it. */
static int ring_make(struct inside_session *session, const struct inside_mode *mode, double known_s, struct err *err) {
	struct inside_ring head = {.size = sizeof head, .learns = mode->learns, .share = mode->share};
	head.ahead_s = isnan(mode->ahead_s) ? mode->share * known_s : mode->ahead_s;
	head.credit = mode->credit;
	head.seed = (uint32_t)session->seed;
	memcpy(head.magic, INSIDE_MAGIC, sizeof head.magic);
	if (!session->scratch.path && scratch_open(&session->scratch, SCRATCH_INSIDE, err))
		return -1;
	session->path = mem_printf("%s/ring", session->scratch.path);
	int fd = open(session->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool good = fd >= 0 && ftruncate(fd, sizeof head) == 0 &&
	            pwrite(fd, &head, offsetof(struct inside_ring, contexts), 0) == offsetof(struct inside_ring, contexts);
	int why = errno;
	if (fd >= 0)
		close(fd);
	session->ring = good ? ssi_ring_open(session->path) : NULL;
	return session->ring
	           ? 0
	           : err_set(err, ERR_FAILED, scratch_hint(why), "cannot make %s: %s", session->path, strerror(why));
}

int inside_run_begin(struct inside_session *session, const struct inside_mode *mode, json_t *environment,
                     struct err *err) {
	double known_s = 0;
	for (size_t i = 0; i < session->count; i++)
		for (size_t k = 0; k < session->subjects[i]->count; k++)
			known_s += session->subjects[i]->cells[k]->run_seconds;
	mem_auto char *table = inside_session_table(session, false);
	ring_drop(session);
	if (ring_make(session, mode, known_s, err))
		return -1;
	json_object_set_new(environment, INSIDE_RING, json_string(session->path));
	if (table)
		json_object_set_new(environment, INSIDE_TABLE, json_string(table));
	return 0;
}

/* Copies of texts that the program may be changing. */
static char *text_of(const char *text, size_t size) {
	char *copy = mem_alloc(size + 1, 1);
	memcpy(copy, text, size);
	copy[strnlen(copy, size)] = '\0';
	return copy;
}

static void cell_meet(struct inside_session *session, struct inside_subject *subject, struct inside_cell *shared) {
	mem_auto char *problem = text_of(shared->problem, INSIDE_PROBLEM);
	struct inside_known *cell = inside_known_get(session, subject, problem);
	if (cell->shared)
		return;
	cell->shared = shared;
	cell->before_calls = cell->before_ns = 0;
	cell->run_seconds = 0;
	cell->run_epoch = atomic_load(&shared->epoch);
}

static struct inside_known *known_of(const struct inside_subject *subject, const struct inside_cell *shared) {
	for (size_t i = 0; i < subject->count; i++)
		if (subject->cells[i]->shared == shared)
			return subject->cells[i];
	return NULL;
}

static struct inside_subject *subject_of(struct inside_session *session, struct inside_context *shared) {
	for (size_t i = 0; i < session->count; i++)
		if (session->subjects[i]->shared == shared)
			return session->subjects[i];
	mem_auto char *kernel = text_of(shared->kernel, INSIDE_NAME - 1), *text = text_of(shared->space, INSIDE_SPACE - 1);
	struct inside_subject *subject = *kernel ? inside_subject_get(session, kernel, text) : NULL;
	if (subject && !subject->shared)
		subject->shared = shared;
	return subject && subject->shared == shared ? subject : NULL;
}

size_t inside_run_poll(struct inside_session *session) {
	size_t results = 0;
	for (size_t i = 0; session->ring && i < INSIDE_CONTEXTS; i++) {
		struct inside_context *shared = &session->ring->contexts[i];
		bool there = atomic_load_explicit(&shared->there, memory_order_acquire) == INSIDE_THERE;
		struct inside_subject *subject = there ? subject_of(session, shared) : NULL;
		for (size_t k = 0; subject && k < INSIDE_CELLS; k++) {
			struct inside_cell *cell = &shared->cells[k];
			if (atomic_load_explicit(&cell->there, memory_order_acquire) != INSIDE_THERE)
				continue;
			if (!known_of(subject, cell))
				cell_meet(session, subject, cell);
			struct inside_known *known = known_of(subject, cell);
			results += known ? inside_known_serve(known, session->ring->learns) : 0;
		}
	}
	session->trials += results;
	return results;
}

void inside_run_end(struct inside_session *session, bool crashed) {
	if (!session->ring)
		return;
	inside_run_poll(session);
	for (size_t i = 0; i < session->count; i++) {
		session->subjects[i]->shared = NULL;
		for (size_t k = 0; k < session->subjects[i]->count; k++)
			if (session->subjects[i]->cells[k]->shared)
				inside_known_leave(session->subjects[i]->cells[k], crashed);
	}
	session->seconds += 1e-9 * (double)atomic_load(&session->ring->ns);
	session->lost += 1e-9 * (double)atomic_load(&session->ring->spent_ns);
	ring_drop(session);
}

struct inside_account inside_session_account(const struct inside_session *session) {
	struct inside_account account = {.contexts = session->count,
	                                 .trials = session->trials,
	                                 .seconds = session->seconds,
	                                 .lost = session->lost,
	                                 .done = true};
	for (size_t i = 0; i < session->count; i++)
		for (size_t k = 0; k < session->subjects[i]->count; k++) {
			struct inside_known *cell = session->subjects[i]->cells[k];
			account.cells++;
			account.better += inside_known_faster(cell);
			account.done = account.done && inside_known_done(cell);
		}
	if (session->ring) {
		account.seconds += 1e-9 * (double)atomic_load(&session->ring->ns);
		account.lost += 1e-9 * (double)atomic_load(&session->ring->spent_ns);
	}
	return account;
}

/* ---- the table ---- */

static void settings_write(FILE *out, const json_t *config) {
	fputs(" :", out);
	js_members (name, value, config) {
		fputc(' ', out);
		ssi_text_write(out, name);
		fputc('=', out);
		if (json_is_string(value)) {
			fputc('\'', out);
			ssi_text_write(out, json_string_value(value));
		} else if (json_is_integer(value)) {
			fprintf(out, "%lld", (long long)json_integer_value(value));
		} else {
			fprintf(out, "%.17g", json_number_value(value));
		}
	}
}

static bool is_used(const struct inside_known *cell, bool proven) {
	if (cell->best == cell->subject->start)
		return false;
	return proven ? cell->proven || (cell->is_new && inside_known_faster(cell)) : true;
}

static bool any_used(const struct inside_subject *subject, bool proven) {
	for (size_t i = 0; i < subject->count; i++)
		if (is_used(subject->cells[i], proven))
			return true;
	return false;
}

/* Where the default holds for one class of problems, it must not get the values of another one. */
static void line_write(FILE *out, struct inside_known *cell, bool proven) {
	bool used = is_used(cell, proven);
	if (proven && !any_used(cell->subject, proven))
		return;
	ssi_text_write(out, cell->subject->kernel);
	fprintf(out, "%s%s", *cell->problem ? " " : "", cell->problem);
	if (used) {
		js_auto json_t *config = inside_config_json(cell->subject, cell->best);
		settings_write(out, config);
	}
	double relative = used ? inside_tried_get(cell, cell->best)->relative : 0;
	if (!proven && cell->default_s > 0)
		fprintf(out, " @%.9g", cell->default_s);
	if (!proven && used && isfinite(relative))
		fprintf(out, " ~%.6g", relative);
	fputc('\n', out);
}

char *inside_session_table(const struct inside_session *session, bool proven) {
	char *text = NULL;
	size_t size = 0, empty;
	FILE *out = open_memstream(&text, &size);
	fputs("sweetspot-inside 1\n", out);
	fflush(out);
	empty = size;
	for (size_t i = 0; i < session->count; i++)
		for (size_t k = 0; size < TABLE_MOST - 4096 && k < session->subjects[i]->count; k++) {
			line_write(out, session->subjects[i]->cells[k], proven);
			fflush(out);
		}
	fclose(out);
	if (size > empty && size < TABLE_MOST)
		return text;
	free(text);
	return NULL;
}
