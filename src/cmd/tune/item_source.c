/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/plan/source_spec.h"
#include "src/cmd/tune/item.h"

struct tune_item *tune_item_source(struct app *app, const char *path, const struct opt_args *args, struct err *err) {
	struct spec *spec = source_spec(path, args, err);
	struct tune_item *item = spec ? tune_item_gpu(app, spec, args, err) : NULL;
	if (!item)
		spec_free(spec);
	return item;
}
