/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks. Two tuners that measure on one machine at the same time would disturb each other, so only one may. */
#ifndef SRC_APP_LOCK_H
#define SRC_APP_LOCK_H

#include "src/ui/ui.h"

/* Waits for another tuner, with a message, until *interrupt is set. Returns a descriptor to keep open, or -1 with err
 * if it was interrupted, or if SWEETSPOT_WAIT is not valid. If no lock file can be created, it warns and returns a
 * descriptor that locks nothing. Each user has one lock (in $XDG_RUNTIME_DIR or /tmp), which ends with the process. */
int lock_take(struct ui *ui, const volatile int *interrupt, struct err *err);
void lock_release(int fd);
bool lock_is_held(void); /* by another process now */

/* Reserves a folder for this process by a lock on the file `name` in it, which stays. If another process holds it, on
 * this or another host, fails at once with ERR_FAILED and names the process, which is recorded in the file. Warns if
 * the file system does not support locks. */
int lock_folder(struct ui *ui, const char *folder, const char *name, struct err *err);
#endif
