/* SPDX-License-Identifier: BSD-3-Clause */
/* A file into memory, and to its reader. */
#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/fail.h"
#include "kernels/cc/reader.h"

/* The last one reads all other files. */
static const struct cc_format *const cc_formats[] = {&cc_matrix_market, &cc_metis, &cc_serialized, &cc_edge_list};
enum { FORMATS = sizeof cc_formats / sizeof *cc_formats };

/* Reads what is available, `size` bytes at most. */
static ssize_t read_all(int file, char *data, size_t size) {
	size_t done = 0;
	while (done < size) {
		ssize_t part = read(file, data + done, size - done);
		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return -1;
		if (part == 0)
			break;
		done += (size_t)part;
	}
	return (ssize_t)done;
}

static enum ss_status contents_read(int file, const struct cc_text *text, char **data, size_t *size) {
	struct stat about;
	if (fstat(file, &about) != 0)
		return cc_file_wrong(text, "%s", strerror(errno));
	if (!S_ISREG(about.st_mode))
		return cc_file_wrong(text, "not a regular file");
	*data = malloc((size_t)about.st_size + 1);
	if (!*data)
		return kernel_fail(text->call, SS_NOMEM, "no memory for a file of %lld bytes", (long long)about.st_size);
	ssize_t done = read_all(file, *data, (size_t)about.st_size);
	if (done < 0)
		return cc_file_wrong(text, "%s", strerror(errno));
	(*data)[done] = '\0';
	*size = (size_t)done;
	return SS_OK;
}

/* Without O_NONBLOCK a pipe would keep us waiting for its writer. */
enum ss_status cc_file_load(const char *path, const struct ss_call *call, char **data, size_t *size) {
	struct cc_text text = {.name = path, .call = call};
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return cc_file_wrong(&text, "%s", strerror(errno));
	enum ss_status status = contents_read(file, &text, data, size);
	close(file);
	return status;
}

static bool format_fits(const struct cc_format *format, const char *path, const char *data, size_t size) {
	size_t length = strlen(path), extension = strlen(format->extension),
		   magic = format->magic ? strlen(format->magic) : 0;
	if (magic > 0 && size >= magic && memcmp(data, format->magic, magic) == 0)
		return true;
	return length >= extension && strcmp(path + length - extension, format->extension) == 0;
}

enum ss_status cc_file_parse(const char *path, const char *data, size_t size, const struct ss_call *call,
                             struct cc_pairs *pairs) {
	struct cc_text text = {data, data + size, 1, path, size, call};
	int format = 0;
	while (format < FORMATS - 1 && !format_fits(cc_formats[format], path, data, size))
		format++;
	enum ss_status status = cc_formats[format]->read(&text, pairs);
	if (status == SS_OK && pairs->n < 1)
		return cc_file_wrong(&text, "a graph without vertices");
	if (status == SS_NOMEM)
		return kernel_fail(call, SS_NOMEM, "no memory for the edges of a file of %zu bytes", size);
	return status;
}
