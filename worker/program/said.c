/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <math.h>

#include "base/text.h"
#include "worker/program/program_impl.h"
#include "base/json/js.h"

enum { DIGEST_READ = 4 << 20 }; /* beyond that, words and numbers are not looked at */

void digest_start(struct digest *digest) {
	digest->bytes = digest->lines = 0;
	digest->words = digest->line = HASH_START;
	digest->bag = 0;
	digest->sum = 0;
	digest->head_size = digest->tail_size = digest->number_size = 0;
	sha256_start(&digest->sha);
}

static void letter_add(uint64_t *hash, char c) {
	*hash = hash_add(*hash, &c, 1);
}

static void number_end(struct digest *digest) {
	if (digest->number_size == 0)
		return;
	digest->number[digest->number_size] = '\0';
	double value = strtod(digest->number, NULL);
	digest->sum += isfinite(value) ? value : 0;
	digest->number_size = 0;
	letter_add(&digest->words, '#');
}

static void text_read(struct digest *digest, const char *data, size_t size) {
	for (size_t i = 0; i < size; i++) {
		char c = data[i];
		bool inside = isdigit((unsigned char)c) || (c == '.' && digest->number_size > 0);
		if (inside && digest->number_size + 1 < sizeof digest->number) {
			digest->number[digest->number_size++] = c;
		} else if (!inside) {
			number_end(digest);
			letter_add(&digest->words, c);
		}
		letter_add(&digest->line, c);
		if (c == '\n') {
			digest->lines++;
			digest->bag += digest->line;
			digest->line = HASH_START;
		}
	}
}

/* A chunk that is longer than the memory replaces all of it. */
static void tail_add(struct digest *digest, const char *data, size_t size) {
	size_t left = size < DIGEST_TAIL ? DIGEST_TAIL - size : 0;
	left = left < digest->tail_size ? left : digest->tail_size;
	memmove(digest->tail, digest->tail + digest->tail_size - left, left);
	if (size > DIGEST_TAIL) {
		data += size - DIGEST_TAIL;
		size = DIGEST_TAIL;
	}
	memcpy(digest->tail + left, data, size);
	digest->tail_size = left + size;
}

void digest_add(struct digest *digest, const char *data, size_t size) {
	size_t room = DIGEST_HEAD - digest->head_size, more = size < room ? size : room;
	memcpy(digest->head + digest->head_size, data, more);
	digest->head_size += more;
	tail_add(digest, data, size);
	sha256_add(&digest->sha, data, size);
	if (digest->bytes < DIGEST_READ)
		text_read(digest, data, size);
	digest->bytes += size;
}

void digest_end(struct digest *digest, char hash[SHA256_TEXT]) {
	number_end(digest);
	digest->bag += digest->line;
	sha256_end(&digest->sha, hash);
}

/* Compressed data differs in every byte although it holds the same. */
static const char *packed_name(const struct digest *digest) {
	static const struct {
		const char *name, *magic;
		size_t size;
	} kinds[] = {{"gzip", "\x1f\x8b", 2},
	             {"xz",
	              "\xfd"
	              "7zXZ",
	              5},
	             {"zstd", "\x28\xb5\x2f\xfd", 4},
	             {"bzip2", "BZh", 3},
	             {"lz4", "\x04\x22\x4d\x18", 4},
	             {"zip", "PK\x03\x04", 4},
	             {"png", "\x89PNG", 4},
	             {"jpeg", "\xff\xd8\xff", 3},
	             {"lzma", "\x5d\x00\x00", 3},
	             {"ogg", "OggS", 4},
	             {"matroska", "\x1a\x45\xdf\xa3", 4},
	             {"flac", "fLaC", 4},
	             {"mp3", "ID3", 3},
	             {"7z", "7z\xbc\xaf", 4},
	             {"lzip", "LZIP", 4}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (digest->head_size >= kinds[i].size && memcmp(digest->head, kinds[i].magic, kinds[i].size) == 0)
			return kinds[i].name;
	return digest->head_size > 8 && memcmp(digest->head + 4, "ftyp", 4) == 0 ? "mp4" : NULL;
}

/* Lines of text, with the parts that a carriage return overwrites on a terminal as lines of their own. */
static json_t *lines_json(const char *data, size_t size) {
	mem_auto char *text = mem_alloc(size + 1, 1);
	for (size_t i = 0; i < size; i++)
		text[i] = data[i] == '\r' ? '\n' : data[i] ? data[i] : ' ';
	text_clean(text, true);
	return json_string(text);
}

json_t *digest_json(const struct digest *digest, const char *hash) {
	char words[20], bag[20];
	const char *packed = packed_name(digest);
	bool whole = digest->bytes <= DIGEST_HEAD;
	size_t head = digest->head_size, skip = 0;
	snprintf(words, sizeof words, "%016llx", (unsigned long long)digest->words);
	snprintf(bag, sizeof bag, "%016llx", (unsigned long long)digest->bag);
	json_t *json =
		json_pack("{s:I,s:I,s:s,s:s,s:s,s:f}", "bytes", (json_int_t)digest->bytes, "lines", (json_int_t)digest->lines,
	              "hash", hash, "words", words, "bag", bag, "sum", isfinite(digest->sum) ? digest->sum : 0.0);
	if (packed) {
		json_object_set_new(json, "packed", json_string(packed));
	} else if (text_is_binary(digest->head, digest->head_size)) {
		json_object_set_new(json, "binary", json_true());
	} else {
		while (!whole && head > 0 && digest->head[head - 1] != '\n')
			head--;
		json_object_set_new(json, "text", lines_json(digest->head, head));
	}
	if (!whole && json_object_get(json, "text")) {
		while (skip < digest->tail_size && digest->tail[skip] != '\n')
			skip++;
		json_object_set_new(json, "end", lines_json(digest->tail + skip, digest->tail_size - skip));
	}
	return json;
}

/* The last bytes as text, with blanks for zeros; the caller frees it. */
static char *digest_end_text(const struct digest *digest) {
	char *text = mem_alloc(digest->tail_size + 1, 1);
	for (size_t i = 0; i < digest->tail_size; i++)
		text[i] = digest->tail[i] ? digest->tail[i] : ' ';
	return text;
}

enum { SAID_LINES = 10, SAID_LINES_SHOWN = 1000, SAID_LINE = 400 };

/* Lines of binary data say nothing, so a few words replace a run of them. */
static void line_add(json_t *lines, const char *line, bool binary) {
	const char *last = json_string_value(json_array_get(lines, json_array_size(lines) - 1));
	if (binary && last && strcmp(last, PROGRAM_BINARY) == 0)
		return;
	json_array_append_new(lines, json_string(binary ? PROGRAM_BINARY : line));
}

/* Adds the last lines of the text that are not empty. */
static void lines_add(json_t *lines, char *text, size_t most) {
	size_t end = strlen(text), start, count = 0;
	for (start = end; start > 0 && count < most; start--)
		count += text[start - 1] == '\n' && start < end;
	start += count == most ? 1 : 0; /* that newline belongs to the line before */
	for (char *line = text + start, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (strlen(line) > SAID_LINE)
			line[SAID_LINE] = '\0';
		bool binary = text_is_binary(line, strlen(line));
		text_clean(line, false);
		if (line[strspn(line, " ")])
			line_add(lines, line, binary);
	}
}

json_t *program_said(const struct program_trial *trial) {
	size_t most = trial->request->show ? SAID_LINES_SHOWN : SAID_LINES;
	json_t *lines = json_array();
	mem_auto char *out = digest_end_text(&trial->output.digest), *err = tail_raw(&trial->run.tail);
	lines_add(lines, out, most);
	lines_add(lines, err, most);
	return lines;
}

enum { WITNESS_KINDS = 4 /* more different runs of one trial are not kept */, WITNESS_ERRORS = 8, WITNESS_LINE = 200 };

/* A program that fails and says so may still end with status 0. */
static bool is_error(const char *line) {
	static const char *const words[] = {"error",     "fail",     "cannot", "can't",     "not found", "denied",
	                                    "violation", "invalid",  "fatal",  "exception", "traceback", "abort",
	                                    "no such",   "overflow", "unable", "panic"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(line, words[i]))
			return true;
	return false;
}

/* The lines of stderr that speak of errors. */
static json_t *errors_json(const struct program_run *run) {
	json_t *lines = json_array();
	char *text = tail_text(&run->tail), *rest = text;
	for (char *line; json_array_size(lines) < WITNESS_ERRORS && (line = strsep(&rest, "\n"));) {
		if (strlen(line) > WITNESS_LINE)
			line[WITNESS_LINE] = '\0';
		if (is_error(line))
			json_array_append_new(lines, js_text(line));
	}
	free(text);
	return lines;
}

static double processor_seconds(const struct rusage *usage) {
	return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
	       ((double)usage->ru_utime.tv_usec + (double)usage->ru_stime.tv_usec) * 1e-6;
}

static bool is_same(const json_t *a, const json_t *b) {
	return js_same(a, b, (const char *const[]){"output", "errors", "left", "files", NULL});
}

static void runs_add(json_t *seen, const json_t *one) {
	json_object_set_new(seen, "runs", json_integer(js_int_or(seen, "runs", 0) + 1));
	json_object_set_new(seen, "processor_s",
	                    json_real(js_real_or(seen, "processor_s", 0) + js_real_or(one, "processor_s", 0)));
}

void program_witness_add(json_t *list, const struct program_run *run, const struct program_output *output,
                         const char *hash, json_t *files) {
	json_t *one =
		json_pack("{s:i,s:o,s:o,s:s,s:o,s:f}", "runs", 1, "output", digest_json(&output->digest, hash), "errors",
	              errors_json(run), "left", run->left, "files", files, "processor_s", processor_seconds(&run->usage));
	js_each (seen, list) {
		if (is_same(seen, one)) {
			runs_add(seen, one);
			json_decref(one);
			return;
		}
	}
	if (json_array_size(list) < WITNESS_KINDS)
		json_array_append_new(list, one);
	else
		json_decref(one);
}
