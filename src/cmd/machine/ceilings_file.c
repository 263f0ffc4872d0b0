/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the ceilings in a file, which is checked when it is read, because another program may have written it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "src/cmd/machine/ceilings.h"

static const char SCHEMA[] = "sweetspot-ceilings/1";
static const char AGAIN[] = "measure them again: sweetspot machine --ceilings";
enum { FILE_MAX = 4 << 20, CEILINGS_MAX = 4096, SAMPLES_MAX = 10000, THREADS_MAX = 1 << 20 };
static const double VALUE_MAX = 1e15;

/* The fingerprint comes from this program, "sha256:" and digits, so that it is safe in a file name. */
static char *file_path(struct app *app, const char *folder, struct err *err) {
	const char *fingerprint = app_fingerprint(app, err);
	if (!fingerprint)
		return NULL;
	const char *digits = strchr(fingerprint, ':');
	return mem_printf("%s/ceilings-%.16s.json", folder, digits ? digits + 1 : fingerprint);
}

static int document_write(const char *path, const json_t *document, struct err *err) {
	mem_auto char *text = js_canonical(document);
	mode_t old = umask(S_IRWXG | S_IRWXO);
	int failed = sys_write_file(path, text, strlen(text), err);
	umask(old);
	return failed;
}

int ceilings_save(struct app *app, const json_t *ceilings, struct err *err) {
	mem_auto char *folder = sys_cache_dir(err), *path = folder ? file_path(app, folder, err) : NULL;
	int failed = -1;
	if (path && sys_make_dirs(folder, err) == 0) {
		js_auto json_t *document = json_pack("{s:s,s:s,s:O}", "schema", SCHEMA, "fingerprint",
		                                     app_fingerprint(app, err), "ceilings", ceilings);
		failed = document_write(path, document, err);
	}
	return failed;
}

static int samples_check(const json_t *one, struct err *err) {
	json_t *samples;
	if (js_array(one, "samples", SAMPLES_MAX, &samples, err))
		return -1;
	js_each (sample, samples)
		if (!json_is_number(sample) || !(json_number_value(sample) > 0) || json_number_value(sample) > VALUE_MAX)
			return err_set(err, ERR_USAGE, NULL, "a sample is not a positive number");
	return 0;
}

static int pair_check(const json_t *one, struct err *err) {
	int64_t from, to;
	return js_int(one, "from", 0, THREADS_MAX, &from, err) || js_int(one, "to", 0, THREADS_MAX, &to, err);
}

/* A ceiling without blocks has neither of the two numbers. */
static int gpu_check(const json_t *one, struct err *err) {
	const char *name, *unit, *level = NULL;
	int64_t block, per_sm;
	double value;
	if (js_string(one, "name", &name, err) || js_string(one, "unit", &unit, err) ||
	    js_real(one, "value", 0, VALUE_MAX, &value, err) || samples_check(one, err) ||
	    (json_object_get(one, "level") && js_string(one, "level", &level, err)))
		return -1;
	const struct ceiling_gpu *gpu = ceiling_gpu_find(name, level);
	if (!gpu || strcmp(gpu->kind.unit, unit) != 0 || !(value > 0))
		return err_set(err, ERR_USAGE, NULL, "unknown ceiling \"%.40s\" in \"%.40s\"", name, unit);
	return gpu->launched && (js_int(one, "block", 1, THREADS_MAX, &block, err) ||
	                         js_int(one, "per_sm", 1, THREADS_MAX, &per_sm, err))
	           ? -1
	           : 0;
}

static int one_check(const json_t *one, struct err *err) {
	const char *name, *unit, *level, *device = NULL;
	int64_t threads;
	double value;
	if (!json_is_object(one))
		return err_set(err, ERR_USAGE, NULL, "must be an object");
	if (json_object_get(one, "device") && js_string(one, "device", &device, err))
		return -1;
	if (device)
		return strcmp(device, "cuda") == 0 ? gpu_check(one, err)
		                                   : err_set(err, ERR_USAGE, NULL, "\"%.40s\" is not a device", device);
	if (js_string(one, "name", &name, err) || js_string(one, "unit", &unit, err) ||
	    js_int(one, "threads", 1, THREADS_MAX, &threads, err) || js_real(one, "value", 0, VALUE_MAX, &value, err) ||
	    samples_check(one, err))
		return -1;
	const struct ceiling_kind *kind = ceiling_kind_find(name);
	if (!kind || strcmp(kind->unit, unit) != 0 || !(value > 0))
		return err_set(err, ERR_USAGE, NULL, "unknown ceiling \"%.40s\" in \"%.40s\"", name, unit);
	if (kind->group == CEILING_BANDWIDTH &&
	    (js_string(one, "level", &level, err) || !opt_is_known(level, ceiling_levels)))
		return err_set(err, ERR_USAGE, NULL, "%s lacks its level of memory", name);
	return kind->group == CEILING_PAIR ? pair_check(one, err) : 0;
}

int ceilings_check(const json_t *ceilings, struct err *err) {
	if (!json_is_array(ceilings) || json_array_size(ceilings) > CEILINGS_MAX)
		return err_set(err, ERR_USAGE, AGAIN, "the ceilings must be a list of at most %d", CEILINGS_MAX);
	js_each (one, ceilings) {
		if (one_check(one, err)) {
			err_prefix(err, "ceiling %zu", one_at);
			return err_hint(err, "%s", AGAIN);
		}
	}
	return 0;
}

/* Accepts plain files only, because opening a pipe would wait for its other end. */
static char *file_read(const char *path, size_t *size, struct err *err) {
	struct stat info;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	if (fd < 0 && errno == ENOENT)
		err_set(err, ERR_NOTHING, "sweetspot machine --ceilings",
		        "the ceilings of this machine have not been measured yet");
	else if (fd < 0)
		err_set(err, ERR_USAGE, AGAIN, "cannot read %s: %s", path, strerror(errno));
	else if (fstat(fd, &info) || !S_ISREG(info.st_mode))
		err_set(err, ERR_USAGE, AGAIN, "%s is not a regular file", path);
	else
		text = sys_read_fd(fd, path, FILE_MAX, size, err);
	if (fd >= 0)
		close(fd);
	return text;
}

static json_t *document_check(const json_t *document, const char *fingerprint, struct err *err) {
	json_t *ceilings = json_object_get(document, "ceilings");
	if (strcmp(js_string_or(document, "schema", ""), SCHEMA) != 0)
		err_set(err, ERR_USAGE, AGAIN, "this is not %s", SCHEMA);
	else if (strcmp(js_string_or(document, "fingerprint", ""), fingerprint) != 0)
		err_set(err, ERR_USAGE, AGAIN, "the ceilings belong to another machine");
	else if (ceilings_check(ceilings, err) == 0)
		return json_incref(ceilings);
	return NULL;
}

json_t *ceilings_load(struct app *app, struct err *err) {
	mem_auto char *folder = sys_cache_dir(err), *path = folder ? file_path(app, folder, err) : NULL;
	size_t size = 0;
	mem_auto char *text = path ? file_read(path, &size, err) : NULL;
	js_auto json_t *document = text ? js_parse(text, size, path, err) : NULL;
	json_t *ceilings = document ? document_check(document, app_fingerprint(app, err), err) : NULL;
	if (document && !ceilings)
		err_prefix(err, "%s", path);
	return ceilings;
}
