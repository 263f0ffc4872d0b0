/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages by which a launcher's command tells why a worker ended. */
#ifndef TUNER_FLEET_END_SIGN_IMPL_H
#define TUNER_FLEET_END_SIGN_IMPL_H
#include <stdbool.h>
#include <stddef.h>

#include "tuner/worker/worker.h"

struct end_sign { /* a list ends with one without words */
	const char *words, *reason;
	bool rest; /* append the rest of the line */
};

/* The first sign of the list that the text contains counts. */
bool end_sign_find(const struct end_sign *signs, const char *text, char *reason, size_t size);
/* The reason for a worker that never answered: the last line that was said. */
void end_never_started(const char *said, struct worker_loss *loss);

#endif
