/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/app/app.h"
#include "src/plan/source_spec.h"
#include "src/cmd/tune/item.h"

/* NULL: the CPU, or a specification that will be refused. */
static const char *device_of(const char *path) {
	struct err ignored = {0};
	struct spec *spec = spec_load(path, &ignored);
	enum spec_language language = spec ? spec_language(spec) : SPEC_OTHER;
	spec_free(spec);
	return spec_device(language);
}

void tune_item_device_use(struct app *app, const struct opt_args *args) {
	const char *word = opt_words(args) ? opt_word(args, 0) : "", *spec = opt_get(args, "spec", NULL);
	struct err ignored = {0};
	const char *device = source_is_file(word) ? spec_device(source_language(word)) : spec ? device_of(spec) : NULL;
	if (device && !opt_has(args, "device"))
		app_device_use(app, device, &ignored);
}

struct tune_item *tune_item_source(struct app *app, const char *path, const struct opt_args *args, struct err *err) {
	struct spec *spec = source_spec(path, args, err);
	struct tune_item *item = spec ? tune_item_gpu(app, spec, args, err) : NULL;
	if (!item)
		spec_free(spec);
	return item;
}
