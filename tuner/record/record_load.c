/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <iconv.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

#include "base/proc/pipe.h"
#include "base/stop.h"
#include "base/sys.h"
#include "base/text.h"
#include "tuner/record/record_impl.h"

/* Files as they arrive: packed, in UTF-16, with a byte order mark, or another thing than the one that was meant. */
/* Packers whose libraries we do not link: their own programs unpack. */
static const struct {
	const char *magic, *tool;
	size_t length;
} packers[] = {{"BZh", "bzip2", 3},
               {"\xfd"
                "7zXZ",
                "xz", 5},
               {"\x28\xb5\x2f\xfd", "zstd", 4}};

/* Other things that people hand over by mistake. A hint with "%s" gets the name of the file. */
static const struct {
	const char *begins, *what, *hint;
} mistaken[] = {
	{"version https://git-lfs.github.com/", "is a pointer of Git LFS, which stands for a file that was not fetched",
     "fetch it with `git lfs pull`"},
	{"<!doctype html", "is a saved web page", "download the file itself, on GitHub with the button \"Raw\""},
	{"<html", "is a saved web page", "download the file itself, on GitHub with the button \"Raw\""},
	{"SQLite format 3", "is a database of SQLite, as OpenTuner and Optuna keep it",
     "export a table from it: sqlite3 -header -csv FILE 'select ..' >table.csv"},
	{"%PDF-", "is a PDF document", "copy its table into a text file, one line a row"},
	{"\x89HDF", "is an HDF5 file", "export a table from it as CSV"},
};

static int mistaken_check(const char *path, const char *text, size_t size, struct err *err) {
	size_t at = 0;
	while (at < size && strchr(" \t\r\n", text[at]) && text[at])
		at++;
	for (size_t i = 0; i < sizeof mistaken / sizeof *mistaken; i++) {
		size_t length = strlen(mistaken[i].begins);
		if (size - at >= length && strncasecmp(text + at, mistaken[i].begins, length) == 0)
			return err_set(err, ERR_USAGE, mistaken[i].hint, "%s %s", path, mistaken[i].what);
	}
	return 0;
}

/* The output of `TOOL -dc <PATH`. */
static char *tool_unpack(const char *tool, const char *path, size_t packed, size_t *size, struct err *err) {
	const char *const argv[] = {tool, "-dc", "--", path, NULL};
	int ends[3] = {-1, -1, -1}, status = -1;
	struct rusage usage;
	pid_t child = proc_spawn(&(struct proc_spec){.argv = argv}, ends, NULL);
	if (child < 0) {
		err_set(err, ERR_USAGE, NULL, "%s is packed by %s, which is not installed here", path, tool);
		return err_null(err_hint(err, "install %s, or unpack the file elsewhere", tool));
	}
	proc_shut(&ends[0]);
	struct pollfd wait = {.fd = ends[1], .events = POLLIN};
	size_t most = record_unpacked_most(packed), room = 1 << 16, length = 0;
	char *text = mem_grow(NULL, room + SCAN_PAD, 1);
	for (ssize_t got = 1; got != 0 && length <= most;) {
		if (length == room)
			text = mem_grow(text, (room *= 2) + SCAN_PAD, 1);
		proc_poll(&wait, 1, 60);
		got = read(ends[1], text + length, room - length);
		length += got > 0 ? (size_t)got : 0;
		if (got < 0 && proc_is_final(got))
			break;
	}
	proc_shut(&ends[1]);
	proc_shut(&ends[2]);
	while (!proc_collect(child, &status, &usage))
		usleep(1000);
	*size = length;
	if (length <= most && status == 0)
		return text;
	free(text);
	if (length > most)
		err_set(err, ERR_USAGE, "if you trust it, unpack it first", "%s: expands to more than %zu bytes", path, most);
	else
		err_set(err, ERR_USAGE, "fetch the file again", "%s: damaged %s data", path, tool);
	return NULL;
}

/* The parts of a zip archive that are needed here (PKWARE, APPNOTE.TXT 4.3). */
struct entry {
	const char *name, *data;
	size_t name_size, packed, size;
	unsigned method, flags;
};

static size_t number(const char *at, size_t bytes) {
	size_t value = 0;
	for (size_t i = bytes; i-- > 0;)
		value = value << 8 | (unsigned char)at[i];
	return value;
}

/* Reads the entry of the directory at `at` and moves behind it; false at the end, or if it is damaged. */
static bool entry_read(const char *zip, size_t size, size_t *at, struct entry *entry) {
	enum { DIRECTORY = 46, LOCAL = 30 };
	if (size < DIRECTORY || *at > size - DIRECTORY || memcmp(zip + *at, "PK\1\2", 4) != 0)
		return false;
	const char *head = zip + *at;
	size_t local = number(head + 42, 4);
	*entry = (struct entry){.name = head + DIRECTORY,
	                        .name_size = number(head + 28, 2),
	                        .packed = number(head + 20, 4),
	                        .size = number(head + 24, 4),
	                        .method = (unsigned)number(head + 10, 2),
	                        .flags = (unsigned)number(head + 8, 2)};
	*at += DIRECTORY + entry->name_size + number(head + 30, 2) + number(head + 32, 2);
	if (*at > size || local > size - LOCAL || memcmp(zip + local, "PK\3\4", 4) != 0)
		return false;
	size_t data = local + LOCAL + number(zip + local + 26, 2) + number(zip + local + 28, 2);
	entry->data = zip + data;
	return data <= size && entry->packed <= size - data;
}

/* Folders, and what macOS adds, are not files that somebody packed. */
static bool is_file(const struct entry *entry) {
	return entry->name_size && entry->name[entry->name_size - 1] != '/' &&
	       !(entry->name_size > 9 && strncmp(entry->name, "__MACOSX/", 9) == 0);
}

static char *entry_unpack(const struct entry *entry, size_t *size) {
	char *text = mem_alloc(entry->size + 1 + SCAN_PAD, 1);
	z_stream stream = {.next_in = (Bytef *)entry->data,
	                   .avail_in = (uInt)entry->packed,
	                   .next_out = (Bytef *)text,
	                   .avail_out = (uInt)entry->size + 1};
	bool fine = !(entry->flags & 1) && (entry->method == 8 || (entry->method == 0 && entry->packed == entry->size));
	if (fine && entry->method == 0)
		memcpy(text, entry->data, entry->size);
	else if (fine && (fine = inflateInit2(&stream, -MAX_WBITS) == Z_OK)) {
		fine = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == entry->size;
		inflateEnd(&stream);
	}
	*size = entry->size;
	if (fine)
		return text;
	free(text);
	return NULL;
}

static char *zip_unpack(const char *path, const char *zip, size_t packed, size_t *size, struct err *err) {
	struct entry entry, only = {0};
	size_t files = 0, at = packed;
	bool book = false;
	while (at > 0 && (packed - at < 22 || memcmp(zip + at, "PK\5\6", 4) != 0))
		at--;
	at = at ? number(zip + at + 16, 4) : packed;
	while (entry_read(zip, packed, &at, &entry)) {
		book = book || (entry.name_size > 3 && memcmp(entry.name, "xl/", 3) == 0) ||
		       (entry.name_size == 11 && memcmp(entry.name, "content.xml", 11) == 0);
		if (is_file(&entry) && ++files)
			only = entry;
	}
	char *text = NULL;
	if (book)
		err_set(err, ERR_USAGE, "save its sheet as CSV", "%s is a spreadsheet", path);
	else if (files > 1)
		err_set(err, ERR_USAGE, "unpack it, and name one of them", "%s is an archive of %zu files", path, files);
	else if (files && only.size > record_unpacked_most(packed))
		err_set(err, ERR_USAGE, "if you trust it, unpack it first", "%s: expands to %zu bytes", path, only.size);
	else if (!files || !(text = entry_unpack(&only, size)))
		err_set(err, ERR_USAGE, "fetch the file again, or unpack it with unzip", "%s: damaged zip archive", path);
	return text;
}

/* The text in UTF-8, NULL if the encoding is not known here. Half a pair and the like become U+FFFD. */
static char *converted(const char *encoding, char *data, size_t *size) {
	size_t room = 3 * *size + 1, left = room, own = *size;
	iconv_t to_utf8 = iconv_open("UTF-8", encoding);
	if (to_utf8 == (iconv_t)-1)
		return NULL;
	char *out = mem_alloc(room + SCAN_PAD, 1), *in = data, *to = out;
	size_t step = *encoding == 'U' ? 2 : 1;
	while (iconv(to_utf8, &in, &own, &to, &left) == (size_t)-1 && own >= step && left > 3) {
		in += step;
		own -= step;
		to = stpcpy(to, "\xef\xbf\xbd");
		left -= 3;
	}
	iconv_close(to_utf8);
	*size = (size_t)(to - out);
	return out;
}

/* Spreadsheets write other texts than UTF-8: in GB 18030 a letter has an even number of bytes, and some of them are
 * low; Greek has long words of high ones; the West has single ones. NULL: the text is UTF-8, or something else. */
static const char *encoding_guess(const char *data, size_t size) {
	size_t high = 0, low = 0, odd = 0, runs = 0;
	bool utf8 = true, text = true;
	for (size_t at = 0; at < size && utf8; at++) {
		size_t length = text_utf8(data + at, size - at);
		utf8 = length > 0;
		at += length ? length - 1 : 0;
	}
	for (size_t at = 0, run; at < size && !utf8; at += run + 1) {
		for (run = 0; at + run < size && (data[at + run] & 0x80); run++)
			low += (unsigned char)data[at + run] < 0xc1;
		high += run;
		runs += run > 0;
		odd += run % 2;
		unsigned char c = at + run < size ? (unsigned char)data[at + run] : ' ';
		text = text && (c >= 0x20 || c == '\t' || c == '\n' || c == '\r') && c != 0x7f;
	}
	return utf8 || !text ? NULL : !odd && low ? "GB18030" : high >= 3 * runs ? "CP1253" : "ISO-8859-1";
}

static char *decoded(char *data, size_t *size) {
	const unsigned char *head = (const unsigned char *)data;
	bool big = *size >= 2 && head[0] == 0xfe && head[1] == 0xff;
	bool little = *size >= 2 && head[0] == 0xff && head[1] == 0xfe;
	if (*size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) {
		*size -= 3;
		memmove(data, data + 3, *size);
	}
	bool json = *size && (*data == '{' || *data == '['); /* always UTF-8, and possibly large */
	const char *encoding = big || little ? "UTF-16" : json ? NULL : encoding_guess(data, *size);
	char *out = encoding ? converted(encoding, data, size) : NULL;
	if (!out)
		return data;
	free(data);
	return out;
}

char *record_arrive(const char *path, char *data, size_t *size, struct err *err) {
	char *text = NULL;
	bool packed = false;
	for (size_t i = 0; i < sizeof packers / sizeof *packers && !packed; i++)
		if (*size > packers[i].length && memcmp(data, packers[i].magic, packers[i].length) == 0) {
			packed = true;
			text = tool_unpack(packers[i].tool, path, *size, size, err);
		}
	if (!packed && *size > 4 && memcmp(data, "PK\3\4", 4) == 0) {
		packed = true;
		text = zip_unpack(path, data, *size, size, err);
	}
	if (packed) {
		free(data);
		data = text;
	}
	if (!data)
		return NULL;
	data = decoded(data, size);
	data[*size] = '\0';
	if (mistaken_check(path, data, *size, err) == 0)
		return data;
	free(data);
	return NULL;
}

enum { STEP = 1 << 18 /* unpacked bytes between two looks at Ctrl-C */ };
/* Recorded spaces become 10 to 30 times smaller, and deflate cannot do better than 1032 (zlib's technical details). */
enum { RATIO_DEFLATE = 1032 };

struct unpacking {
	const char *name;
	size_t packed;
	char *text;
	size_t size, room; /* bytes of the text */
	size_t most;       /* that it may have */
	z_stream stream;
};

static bool is_gzip(const char *data, size_t size) {
	return size > 18 && memcmp(data, "\x1f\x8b", 2) == 0;
}

/* The last member's size modulo 2^32 in the last four bytes (RFC 1952), which may be wrong. */
static size_t size_stored(const char *data, size_t size) {
	const unsigned char *tail = (const unsigned char *)data + size - 4;
	return tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16 | (size_t)tail[3] << 24;
}

static int unpack_error(const struct unpacking *u, const char *why, struct err *err) {
	return err_set(err, ERR_USAGE, "fetch the file again", "%s: damaged gzip data: %s", u->name, why);
}

/* The part that is unpacked is enough to judge, so that a bomb that lies about its size does not cost time, either.
 */
static bool is_bomb(const struct unpacking *u) {
	size_t consumed = u->packed - u->stream.avail_in;
	return u->size > u->most || (u->size > UNPACK_SMALL && u->size / UNPACK_RATIO > consumed);
}

/* Unpacks at most STEP bytes; Z_STREAM_END behind the last member. */
static int unpack_some(struct unpacking *u) {
	size_t room = u->room - u->size;
	if (room > STEP)
		room = STEP;
	u->stream.next_out = (Bytef *)u->text + u->size;
	u->stream.avail_out = (uInt)room;
	int status = inflate(&u->stream, Z_NO_FLUSH);
	u->size += room - u->stream.avail_out;
	if (status == Z_STREAM_END && u->stream.avail_in > 0)
		return inflateReset(&u->stream);
	return status;
}

static int unpack_all(struct unpacking *u, struct err *err) {
	for (;;) {
		if (is_bomb(u))
			return err_set(err, ERR_USAGE, "if you trust it, unpack it with gunzip first; a file may have 1 GiB",
			               "%s: expands to more than %zu bytes", u->name, u->most);
		if (u->size == u->room) {
			u->room = u->room > u->most / 2 ? u->most + 1 : u->room * 2 + 4096;
			u->text = mem_grow(u->text, u->room + SCAN_PAD, 1);
		}
		if (stop_asked())
			return stop_fail(err, "while a file was unpacked");
		int status = unpack_some(u);
		if (status == Z_STREAM_END)
			return 0;
		if (status == Z_BUF_ERROR && u->stream.avail_in == 0)
			return unpack_error(u, "it ends early", err);
		if (status != Z_OK && status != Z_BUF_ERROR)
			return unpack_error(u, u->stream.msg ? u->stream.msg : zError(status), err);
	}
}

/* The text of packed data, and its size in place of theirs; NULL with err. The size at the end of a file that was cut
 * is any number, so that only the data tell whether they are a bomb; a size that no data of this length can have is
 * refused without unpacking anything. */
static char *unpacked(const char *name, const char *data, size_t *size, struct err *err) {
	size_t stored = size_stored(data, *size);
	struct unpacking u = {.name = name, .packed = *size, .most = record_unpacked_most(*size)};
	u.stream = (z_stream){.next_in = (Bytef *)data, .avail_in = (uInt)*size};
	if (stored / RATIO_DEFLATE > *size) {
		unpack_error(&u, "it ends early, or the size at its end is wrong", err);
		return NULL;
	}
	if (*size > LOAD_LIMIT || inflateInit2(&u.stream, 16 + MAX_WBITS) != Z_OK)
		return err_null(err_set(err, ERR_USAGE, NULL, "%s: cannot be unpacked", name));
	u.room = (stored < u.most ? stored : u.most) + 1;
	u.text = mem_large(u.room + SCAN_PAD);
	int failed = unpack_all(&u, err);
	inflateEnd(&u.stream);
	*size = u.size;
	if (!failed)
		return u.text;
	free(u.text);
	return NULL;
}

const char *record_status_word(enum record_status status) {
	static const char *const words[] = {
		[RECORD_CORRECT] = "correct", [RECORD_CONSTRAINTS] = "constraints", [RECORD_COMPILE] = "compile",
		[RECORD_RUNTIME] = "runtime", [RECORD_TIMEOUT] = "timeout",         [RECORD_CORRECTNESS] = "correctness",
	};
	return words[status];
}

#define RECORD(name) extern const struct record_format record_##name;
#include "tuner/record/registry.def"
#undef RECORD

#define RECORD(name) &record_##name,
static const struct record_format *const record_registry[] = {
#include "tuner/record/registry.def"
	NULL};
#undef RECORD

static const struct record_format *format_of(const struct scan_text *key) {
	for (const struct record_format *const *format = record_registry; *format; format++)
		for (const char *const *sign = (*format)->signs; *sign; sign++)
			if (scan_text_is(key, *sign))
				return *format;
	return NULL;
}

/* NULL with the error set if the format is unknown. The scan keeps its place. */
static const struct record_format *record_detect(struct scan *scan) {
	const struct record_format *format = NULL;
	struct scan look = *scan;
	struct scan_text key;
	scan_object(&look);
	while (!format && scan_member(&look, &key))
		if (!(format = format_of(&key)))
			scan_skip(&look);
	if (!format && !look.failed) {
		look.at = look.start;
		scan_fail(&look, "cache files of Kernel Tuner, T4 results and results of KTT can be read",
		          "unknown format of recorded configurations");
	}
	return format;
}

bool record_is_known(const char *text, size_t size) {
	struct scan scan = scan_of(text, size, "", NULL);
	return record_detect(&scan) != NULL;
}

static struct record *parse(const char *text, size_t size, const char *name, const struct record_choice *choice,
                            struct err *err) {
	struct scan scan = scan_of(text, size, name, err);
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

/* Takes the data; the text, with SCAN_PAD zeros behind it. */
static char *text_of(const char *path, char *data, size_t *size, struct err *err) {
	if (data && is_gzip(data, *size)) {
		char *text = unpacked(path, data, size, err);
		free(data);
		data = text;
	}
	data = data ? record_arrive(path, data, size, err) : NULL;
	if (!data)
		return NULL;
	data = mem_grow(data, *size + SCAN_PAD, 1);
	memset(data + *size, 0, SCAN_PAD);
	return data;
}

char *record_text(const char *path, size_t *size, struct err *err) {
	bool is_stdin = strcmp(path, "-") == 0;
	char *data = is_stdin ? sys_read_fd(STDIN_FILENO, "standard input", LOAD_LIMIT, size, err)
	                      : sys_read_file(path, LOAD_LIMIT, size, err);
	if (!data && err && err->code == ERR_FAILED)
		err->code = ERR_USAGE;
	return text_of(path, data, size, err);
}

struct record *record_read(const char *path, const struct record_choice *choice, struct err *err) {
	size_t size;
	mem_auto char *text = text_of(path, sys_read_file(path, LOAD_LIMIT, &size, err), &size, err);
	return text ? parse(text, size, path, choice, err) : NULL;
}

struct record *record_parse(const char *text, size_t size, const char *name, struct err *err) {
	char *data = mem_grow(NULL, size + SCAN_PAD, 1);
	if (size)
		memcpy(data, text, size);
	mem_auto char *own = text_of(name, data, &size, err);
	return own ? parse(own, size, name, NULL, err) : NULL;
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
