/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/app_impl.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"

/* Takes ownership of path and kernels. */
static const struct kernel_list *plugin_add(struct plugins *plugins, char *path, struct kernel_list *kernels) {
	plugins->items = mem_grow(plugins->items, plugins->count + 1, sizeof *plugins->items);
	plugins->items[plugins->count++] = (struct plugin){path, kernels};
	return kernels;
}

/* A program that was tuned has its results under its name, and would never load. */
static void program_hint(const char *path, struct err *err) {
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct stat file;
	bool runs = stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0;
	if (err->code == ERR_USAGE && runs && !strstr(name, ".so")) {
		err_set(err, ERR_USAGE, NULL, "%.200s is a program, not a plug-in", path);
		err_hint(err,
		         "to name a program that was tuned, leave out its path: %s; to tune it: sweetspot tune --openmp -- %s",
		         name, path);
	}
}

const struct kernel_list *app_plugin(struct app *app, const char *path, struct err *err) {
	struct plugins *plugins = app_plugins(app);
	char *whole = realpath(path, NULL);
	if (!whole)
		return err_null(
			err_set(err, ERR_USAGE,
		            "build it first; a program follows two dashes (-- ./app in.dat), and built-in kernels are written "
		            "without a slash: `sweetspot list kernels`",
		            "plug-in not found: %s", path));
	for (size_t i = 0; i < plugins->count; i++) {
		if (strcmp(plugins->items[i].path, whole) == 0) {
			free(whole);
			return plugins->items[i].kernels;
		}
	}
	struct worker *worker = app_worker(app, err);
	js_auto json_t *description = worker ? worker_describe(worker, whole, false, err) : NULL;
	struct kernel_list *kernels = description ? kernel_list_new(description, whole, err) : NULL;
	if (kernels)
		return plugin_add(plugins, whole, kernels);
	program_hint(whole, err);
	free(whole);
	return NULL;
}

/* "FILE" or "FILE:NAME", where FILE contains a slash or ends in .so. The colon belongs to the file if a file of the
 * whole name exists. */
static bool is_plugin(const char *word, char **path, const char **name) {
	const char *slash = strrchr(word, '/'), *colon = strrchr(word, ':');
	bool named = colon && colon > word && (!slash || colon > slash) && access(word, F_OK) != 0;
	size_t length = named ? (size_t)(colon - word) : strlen(word);
	if (!slash && (length < 4 || strncmp(word + length - 3, ".so", 3) != 0))
		return false;
	*path = mem_printf("%.*s", (int)length, word);
	*name = named ? colon + 1 : NULL;
	return true;
}

/* Returns the list that the word refers to. *name is the kernel in it that the word asks for, or NULL for all of them.
 */
static const struct kernel_list *word_read(struct app *app, const char *word, const char **name, struct err *err) {
	mem_auto char *path = NULL;
	*name = word;
	if (!is_plugin(word, &path, name))
		return app_kernels(app, err);
	return app_plugin(app, path, err);
}

const struct kernel_desc *app_kernel(struct app *app, const char *word, struct err *err) {
	const char *name;
	const struct kernel_list *list = word_read(app, word, &name, err);
	if (!list)
		return NULL;
	if (name)
		return kernel_list_find(list, name, app_device_kind(app), err);
	size_t count = kernel_list_count(list);
	if (count == 1)
		return kernel_list_at(list, 0);
	err_set(err, ERR_USAGE, NULL, "the plug-in %s has %zu kernels; name one of them", word, count);
	return err_null(err_hint(err, "%s:%s (`sweetspot list kernels %s` lists all)", word,
	                         count ? kernel_list_at(list, 0)->name : "NAME", word));
}

/* On any device. */
static bool is_built_in(struct app *app, const char *name) {
	const struct kernel_list *list = app_kernels(app, NULL);
	for (size_t i = 0; list && i < kernel_list_count(list); i++)
		if (strcmp(kernel_list_at(list, i)->name, name) == 0)
			return true;
	return false;
}

void app_name_unknown(struct app *app, const char *word, const struct err *unknown, const char *const *names,
                      size_t count, struct err *err) {
	const char *near = near_word(word, names, count);
	*err = *unknown;
	/* A file, or the size of a problem, is explained there; so is a kernel of another device. */
	if (!strpbrk(word, "/=") && !is_built_in(app, word)) {
		bool hinted = strncmp(unknown->hint, "did you mean", strlen("did you mean")) == 0;
		err_set(err, ERR_USAGE, NULL, "\"%s\" is neither a kernel nor a result on this machine", word);
		err_hint(err, "%s", hinted ? unknown->hint : "`sweetspot` without arguments shows what was tuned here");
	}
	if (near)
		err_hint(err, "did you mean %s?", near);
}

struct named {
	const struct kernel_desc **items;
	size_t count;
};

static void named_add(struct named *named, const struct kernel_desc *kernel) {
	named->items = mem_grow(named->items, named->count + 1, sizeof *named->items);
	named->items[named->count++] = kernel;
}

static void named_add_all(struct named *named, const struct kernel_list *list, const char *device) {
	for (size_t i = 0; i < kernel_list_count(list); i++)
		if (strcmp(kernel_list_at(list, i)->device, device) == 0)
			named_add(named, kernel_list_at(list, i));
}

static int word_add(struct app *app, struct named *named, const char *word, struct err *err) {
	const char *name;
	const struct kernel_list *list = word_read(app, word, &name, err);
	const struct kernel_desc *kernel = list && name ? kernel_list_find(list, name, app_device_kind(app), err) : NULL;
	if (!list || (name && !kernel))
		return -1;
	if (kernel)
		named_add(named, kernel);
	else
		named_add_all(named, list, app_device_kind(app));
	return 0;
}

const struct kernel_desc **app_kernels_named(struct app *app, const struct opt_args *args, size_t *count,
                                             struct err *err) {
	struct named named = {.items = mem_alloc(1, sizeof *named.items)};
	const struct kernel_list *built_in = opt_words(args) ? NULL : app_kernels(app, err);
	int failed = opt_words(args) || built_in ? 0 : -1;
	if (built_in)
		named_add_all(&named, built_in, app_device_kind(app));
	for (size_t i = 0; i < opt_words(args) && !failed; i++)
		failed = word_add(app, &named, opt_word(args, i), err);
	*count = named.count;
	if (!failed)
		return named.items;
	free(named.items);
	return NULL;
}
