/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `list counters`, `list metrics` and `list params`. */
#ifndef SRC_CMD_LIST_LIST_IMPL_H
#define SRC_CMD_LIST_LIST_IMPL_H
#include "base/json/js.h"
#include "src/app/cmd.h"
#include "src/show/columns.h"

/* A column of texts that may be absent. */
#define TEXT(name, member, ...) COLUMN(name, member, .absent = "", ##__VA_ARGS__)

static inline const char *list_text(const json_t *object, const char *key) {
	return js_string_or(object, key, "");
}

/* Shows the plan of the processor of --cpu, or the parameters of the kernel in word 1, or of the specification of
 * --spec.
 */
int list_detail(struct app *app, const struct opt_args *args, struct err *err);
#endif
