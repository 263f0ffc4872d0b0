/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <zlib.h>

#include "base/stop.h"
#include "base/sys.h"
#include "tuner/record/record_impl.h"

/* Packed bytes from which on a thread pays, and unpacked bytes between two updates of the limit. */
enum { THREAD_SIZE = 1 << 16, STEP = 1 << 18 };
/* Recorded spaces become 10 to 30 times smaller, and deflate cannot do better than 1032 (zlib's technical details). */
enum { RATIO_DEFLATE = 1032 };

struct load {
	const char *name;
	char *text, *owned; /* the unpacked text; the packed bytes if we own them */
	const char *from;   /* the packed bytes */
	size_t from_size;
	size_t size, room; /* bytes of the text */
	size_t most;       /* that the text may have */
	z_stream stream;
	bool packed, threaded;
	pthread_t thread;
	pthread_mutex_t lock; /* signals the fields below */
	pthread_cond_t grown;
	size_t frontier; /* behind a newline; the text up to here, and SCAN_PAD bytes more, will not change */
	bool done, stop;
	int status; /* zlib's; Z_BUF_ERROR: the room was too small */
};

static bool is_gzip(const char *data, size_t size) {
	return size > 18 && memcmp(data, "\x1f\x8b", 2) == 0;
}

/* The last member's size modulo 2^32 in the last four bytes (RFC 1952), which may be wrong. */
static size_t size_stored(const char *data, size_t size) {
	const unsigned char *tail = (const unsigned char *)data + size - 4;
	return tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16 | (size_t)tail[3] << 24;
}

static int unpack_error(const struct load *load, const char *why, struct err *err) {
	return err_set(err, ERR_USAGE, "fetch the file again", "%s: damaged gzip data: %s", load->name, why);
}

/* The part that is unpacked is enough to judge, so that a bomb that lies about its size does not cost time, either.
 */
static bool is_bomb(const struct load *load) {
	size_t consumed = load->from_size - load->stream.avail_in;
	return load->size > load->most || (load->size > UNPACK_SMALL && load->size / UNPACK_RATIO > consumed);
}

/* Unpacks at most `step` bytes; Z_STREAM_END behind the last member. */
static int unpack_some(struct load *load, size_t step) {
	size_t room = load->room - load->size;
	if (room > step)
		room = step;
	load->stream.next_out = (Bytef *)load->text + load->size;
	load->stream.avail_out = (uInt)room;
	int status = inflate(&load->stream, Z_NO_FLUSH);
	load->size += room - load->stream.avail_out;
	if (status == Z_STREAM_END && load->stream.avail_in > 0)
		return inflateReset(&load->stream);
	return status;
}

static int unpack_start(struct load *load, const char *data, size_t size, struct err *err) {
	load->stream = (z_stream){.next_in = (Bytef *)data, .avail_in = (uInt)size};
	load->from = data;
	load->from_size = size;
	load->size = 0;
	if (size > LOAD_LIMIT || inflateInit2(&load->stream, 16 + MAX_WBITS) != Z_OK)
		return err_set(err, ERR_USAGE, NULL, "%s: cannot be unpacked", load->name);
	return 0;
}

static int too_large(const struct load *load, struct err *err) {
	return err_set(err, ERR_USAGE, "if you trust it, unpack it with gunzip first; a file may have 1 GiB",
	               "%s: expands to more than %zu bytes", load->name, load->most);
}

static int unpack_all(struct load *load, struct err *err) {
	for (;;) {
		if (is_bomb(load))
			return too_large(load, err);
		if (load->size == load->room) {
			load->room = load->room > load->most / 2 ? load->most + 1 : load->room * 2 + 4096;
			load->text = mem_grow(load->text, load->room + SCAN_PAD, 1);
		}
		if (stop_asked())
			return stop_fail(err, "while a file was unpacked");
		int status = unpack_some(load, STEP);
		if (status == Z_STREAM_END)
			break;
		if (status == Z_BUF_ERROR && load->stream.avail_in == 0)
			return unpack_error(load, "it ends early", err);
		if (status != Z_OK && status != Z_BUF_ERROR)
			return unpack_error(load, load->stream.msg ? load->stream.msg : zError(status), err);
	}
	memset(load->text + load->size, 0, SCAN_PAD);
	return 0;
}

/* True while bytes are left to unpack. */
static bool publish(struct load *load, int status) {
	size_t safe = load->size > SCAN_PAD ? load->size - SCAN_PAD : 0;
	bool done = status != Z_OK || load->size == load->room || is_bomb(load);
	if (done) /* the memory may have been in use before */
		memset(load->text + load->size, 0, SCAN_PAD);
	pthread_mutex_lock(&load->lock);
	const char *line = safe > load->frontier ? memrchr(load->text + load->frontier, '\n', safe - load->frontier) : NULL;
	if (line)
		load->frontier = (size_t)(line + 1 - load->text);
	load->status = status == Z_OK && done ? Z_BUF_ERROR : status;
	load->done = done;
	done |= load->stop;
	pthread_cond_signal(&load->grown);
	pthread_mutex_unlock(&load->lock);
	return !done;
}

static void *unpack_beside(void *context) {
	struct load *load = context;
	while (publish(load, unpack_some(load, STEP)))
		;
	return NULL;
}

/* Signals must go to the main thread. */
static bool start_thread(struct load *load) {
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	load->threaded = pthread_create(&load->thread, NULL, unpack_beside, load) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return load->threaded;
}

static void join(struct load *load) {
	if (load->threaded)
		pthread_join(load->thread, NULL);
	load->threaded = false;
}

static void more(struct scan *scan) {
	struct load *load = scan->source;
	pthread_mutex_lock(&load->lock);
	while (!load->done && load->text + load->frontier <= scan->at)
		pthread_cond_wait(&load->grown, &load->lock);
	scan->limit = load->done ? SCAN_NO_LIMIT : load->text + load->frontier;
	if (load->done)
		scan->end = load->text + load->size;
	pthread_mutex_unlock(&load->lock);
}

static struct load *load_new(const char *name) {
	struct load *load = mem_alloc(1, sizeof *load);
	load->name = name;
	pthread_mutex_init(&load->lock, NULL);
	pthread_cond_init(&load->grown, NULL);
	return load;
}

static void load_free(struct load *load);

/* The size at the end of a file that was cut is any number, so that only the data tell whether they are a bomb; a size
 * that no data of this length can have is refused without unpacking anything. */
static struct load *load_packed(struct load *load, const char *data, size_t size, bool beside, struct err *err) {
	size_t stored = size_stored(data, size);
	load->most = record_unpacked_most(size);
	if (stored / RATIO_DEFLATE > size) {
		unpack_error(load, "it ends early, or the size at its end is wrong", err);
		load_free(load);
		return NULL;
	}
	load->packed = true;
	load->room = (stored < load->most ? stored : load->most) + 1;
	load->text = mem_large(load->room + SCAN_PAD);
	if (unpack_start(load, data, size, err) == 0 &&
	    ((beside && size >= THREAD_SIZE && start_thread(load)) || unpack_all(load, err) == 0))
		return load;
	load_free(load);
	return NULL;
}

static struct load *load_memory(const char *data, size_t size, const char *name, struct err *err) {
	struct load *load = load_new(name);
	if (is_gzip(data, size))
		return load_packed(load, data, size, true, err);
	load->text = mem_grow(NULL, size + SCAN_PAD, 1);
	if (size)
		memcpy(load->text, data, size);
	memset(load->text + size, 0, SCAN_PAD);
	load->size = size;
	return load;
}

/* NULL with err. */
static struct load *load_file(const char *path, struct err *err) {
	size_t size;
	char *data = sys_read_file(path, LOAD_LIMIT, &size, err);
	if (!data)
		return NULL;
	struct load *load = load_new(path);
	if (is_gzip(data, size)) {
		load->owned = data;
		return load_packed(load, data, size, true, err);
	}
	data = record_arrive(path, data, &size, err);
	if (!data) {
		load_free(load);
		return NULL;
	}
	load->text = mem_grow(data, size + SCAN_PAD, 1);
	memset(load->text + size, 0, SCAN_PAD);
	load->size = size;
	return load;
}

/* The text, which lives as long as the load. */
static struct scan load_scan(struct load *load, struct err *err) {
	struct scan scan = scan_of(load->text, load->threaded ? load->room : load->size, load->name, err);
	if (!load->threaded)
		return scan;
	scan.limit = load->text;
	scan.more = more;
	scan.source = load;
	return scan;
}

/* The thread cannot go on because the room was too small: unpack again, with room that grows. */
static int unpack_again(struct load *load, struct err *err) {
	inflateEnd(&load->stream);
	return unpack_start(load, load->from, load->from_size, err) || unpack_all(load, err) ? -1 : 1;
}

/* Waits for the whole text. -1 with err if it could not be unpacked; 1 if the text has moved and must be scanned again.
 */
static int load_end(struct load *load, struct err *err) {
	if (!load->threaded)
		return 0;
	join(load);
	if (load->status == Z_STREAM_END)
		return 0;
	if (is_bomb(load))
		return too_large(load, err);
	if (load->status == Z_BUF_ERROR && load->size == load->room)
		return unpack_again(load, err);
	if (load->status == Z_BUF_ERROR)
		return unpack_error(load, "it ends early", err);
	return unpack_error(load, load->stream.msg ? load->stream.msg : zError(load->status), err);
}

/* NULL is fine. */
static void load_free(struct load *load) {
	if (!load)
		return;
	pthread_mutex_lock(&load->lock);
	load->stop = true;
	pthread_mutex_unlock(&load->lock);
	join(load);
	if (load->packed)
		inflateEnd(&load->stream);
	pthread_cond_destroy(&load->grown);
	pthread_mutex_destroy(&load->lock);
	free(load->text);
	free(load->owned);
	free(load);
}

const char *record_status_word(enum record_status status) {
	static const char *const words[] = {
		[RECORD_CORRECT] = "correct", [RECORD_CONSTRAINTS] = "constraints", [RECORD_COMPILE] = "compile",
		[RECORD_RUNTIME] = "runtime", [RECORD_TIMEOUT] = "timeout",         [RECORD_CORRECTNESS] = "correctness",
	};
	return words[status];
}

/* A text whose mark was not taken away when the file was read: it is packed, or in memory. */
static void mark_skip(struct scan *scan) {
	if (scan->more)
		scan->more(scan);
	if (scan->end - scan->at >= 3 && memcmp(scan->at, "\xef\xbb\xbf", 3) == 0)
		scan->at += 3;
}

static struct record *parse(struct load *load, const struct record_choice *choice, struct err *err) {
	struct scan scan = load_scan(load, err);
	mark_skip(&scan);
	const struct record_format *format = record_detect(&scan);
	if (!format)
		return NULL;
	struct build *build = build_new(choice);
	struct record *record = format->read(&scan, build) ? build_finish(build, scan.name, err) : NULL;
	if (record)
		record->format = format->name;
	build_free(build);
	return record;
}

/* A text that cannot be unpacked explains every other error, so that only this one is reported. */
static struct record *parse_and_free(struct load *load, const struct record_choice *choice, struct err *err) {
	struct err why = {0}, packed = {0};
	if (!load)
		return NULL;
	struct record *record = parse(load, choice, &why);
	int ended = load_end(load, &packed);
	if (ended) {
		record_free(record);
		record = NULL;
	}
	if (ended > 0) {
		why = (struct err){0};
		record = parse(load, choice, &why);
	}
	if (!record && err)
		*err = ended < 0 ? packed : why;
	load_free(load);
	return record;
}

char *record_text(const char *path, size_t *size, struct err *err) {
	bool is_stdin = strcmp(path, "-") == 0;
	char *data = is_stdin ? sys_read_fd(STDIN_FILENO, "standard input", LOAD_LIMIT, size, err)
	                      : sys_read_file(path, LOAD_LIMIT, size, err),
		 *text;
	if (!data && err && err->code == ERR_FAILED)
		err->code = ERR_USAGE;
	if (!data || !is_gzip(data, *size))
		return data ? record_arrive(path, data, size, err) : NULL;
	struct load *load = load_new(path);
	load->owned = data;
	load = load_packed(load, data, *size, false, err);
	if (!load)
		return NULL;
	text = load->text;
	*size = load->size;
	load->text = NULL;
	load_free(load);
	return record_arrive(path, text, size, err);
}

struct record *record_read(const char *path, const struct record_choice *choice, struct err *err) {
	return parse_and_free(load_file(path, err), choice, err);
}

struct record *record_parse(const char *text, size_t size, const char *name, struct err *err) {
	return parse_and_free(load_memory(text, size, name, err), NULL, err);
}

void record_free(struct record *record) {
	if (!record)
		return;
	space_free(record->space);
	arena_free(record->arena);
	free(record);
}

double record_row_cost(const struct record_row *row) {
	const struct record_cost *cost = &row->cost;
	return cost->compile + cost->run + cost->framework + cost->search + cost->validation;
}
