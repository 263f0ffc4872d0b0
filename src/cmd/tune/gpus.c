/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/tune/gpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"

enum { GPUS_MAX = 1000 };

/* Results hold for GPUs of one model, so the device is the first one that each worker sees. */
static int device_use(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_dashes(args))
		return 0;
	if (opt_has(args, "device") && strcmp(opt_get(args, "device", ""), "cuda") != 0)
		return err_set(err, ERR_USAGE, "leave --device out, or choose one GPU with --device cuda:N",
		               "--gpus cannot be combined with --device %.40s", opt_get(args, "device", ""));
	return app_device_use(app, "cuda", err);
}

/* A GPU as CUDA_VISIBLE_DEVICES names it: one that is set already may hide some, or put them in another order. */
static char *visible_name(size_t index) {
	const char *at = getenv("CUDA_VISIBLE_DEVICES");
	if (!at)
		return mem_printf("%zu", index);
	for (; index > 0 && *at; index--) {
		at += strcspn(at, ",");
		at += *at == ',';
	}
	return mem_printf("%.*s", (int)strcspn(at, ","), at);
}

static char **add(char **names, size_t *count, char *name) {
	names = mem_grow(names, *count + 2, sizeof *names);
	names[(*count)++] = name;
	names[*count] = NULL;
	return names;
}

static void names_free(char **names) {
	for (char **name = names; name && *name; name++)
		free(*name);
	free(names);
}

/* Reads "0,2" where there are `all` GPUs. */
static char **some(const char *text, size_t all, struct err *err) {
	char **names = NULL;
	size_t count = 0;
	bool used[GPUS_MAX] = {false};
	for (const char *at = text; at;) {
		char *end;
		bool digit = *at >= '0' && *at <= '9';
		unsigned long index = digit ? strtoul(at, &end, 10) : 0;
		if (!digit || (*end && *end != ',') || index >= all || used[index]) {
			err_set(err, ERR_USAGE, "--gpus all, or numbers such as --gpus 0,1",
			        "--gpus %.60s does not name different GPUs of the %zu here", text, all);
			names_free(names);
			return NULL;
		}
		used[index] = true;
		names = add(names, &count, visible_name(index));
		at = *end ? end + 1 : NULL;
	}
	return names;
}

char **tune_gpus_read(struct app *app, const struct opt_args *args, struct err *err) {
	const char *text = opt_get(args, "gpus", "all");
	const json_t *devices = device_use(app, args, err) ? NULL : app_devices(app, err);
	size_t all = json_array_size(json_object_get(devices, "devices"));
	if (!devices)
		return NULL;
	if (all == 0 || all > GPUS_MAX) {
		err_set(err, ERR_UNAVAILABLE, "`sweetspot doctor` says what is missing", "no GPU was found for --gpus %.60s",
		        text);
		return NULL;
	}
	if (strcmp(text, "all") != 0)
		return some(text, all, err);
	char **names = NULL;
	size_t count = 0;
	while (count < all)
		names = add(names, &count, visible_name(count));
	return names;
}
