/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <errno.h>
#include <time.h>

#include "base/stop.h"
#include "base/sys.h"
#include "tuner/store/db.h"

/* SQLite takes a lock that fails with ENOLCK for one that another process holds, because NFS may answer so once in a
 * while. errno is still that of the last attempt. */
int store_busy(void *context, int tries) {
	struct store *store = context;
	int error = errno;
	double now = sys_now(), limit = STORE_BUSY_MS;
	if (tries == 0)
		store->busy_since = now;
	store->busy_error = error == ENOLCK ? ENOLCK : 0;
	if (store->busy_error)
		limit = STORE_BUSY_NO_LOCKS_MS;
	else if (stop_asked())
		limit = STORE_BUSY_STOPPED_MS;
	if ((now - store->busy_since) * 1e3 > limit)
		return 0;
	nanosleep(&(struct timespec){.tv_nsec = tries < 10 ? 2000000 : 50000000}, NULL);
	return 1;
}
