/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One measurement at a time on a machine: two tuners that measure at once would disturb each other. */
#ifndef SRC_APP_LOCK_H
#define SRC_APP_LOCK_H
#include <stdbool.h>

#include "src/base/err.h"
#include "src/ui/ui.h"

/* Waits for the other, saying so, until *interrupt is set. Returns a descriptor to keep open, or -1 and err when
 * interrupted. Where no lock file can be made it warns and returns a descriptor that locks nothing. The lock is the
 * user's ($XDG_RUNTIME_DIR or /tmp) and ends with the process. */
int lock_take(struct ui *ui, const volatile int *interrupt, struct err *err);
void lock_release(int fd);
bool lock_is_held(void); /* by another process now */

/* One at a time that writes into a folder, by the file `name` in it, which stays. ERR_FAILED at once where another one
 * has it, on whatever machine; who that is stands in the file. A file system that can't lock is warned of. */
int lock_folder(struct ui *ui, const char *folder, const char *name, struct err *err);

#endif
