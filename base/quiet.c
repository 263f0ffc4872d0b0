/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/quiet.h"

#include <math.h>
#include <stdlib.h>

#include "base/opt.h"

int quiet_seconds(double *seconds, struct err *err) {
	static const char NAME[] = "SWEETSPOT_WAIT";
	const char *text = getenv(NAME);
	struct err why = {0};
	*seconds = INFINITY;
	if (!text || !*text || opt_seconds(text, NAME, seconds, &why) == 0)
		return 0;
	return err_set(err, ERR_USAGE, "for example SWEETSPOT_WAIT=0, or 30s", "%s must be a duration, not '%.60s'", NAME,
	               text);
}
