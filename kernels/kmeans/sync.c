/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock of a shared table. Ways without a lock object are in shared.c. */
#include <config.h>
#include <string.h>

#include "kernels/kmeans/kmeans.h"

static bool is_object(const struct lock_kind *kind) {
	return kind && kind->acquire && kind->release && !(kind->flags & LOCK_UNSAFE);
}

enum ss_status kmeans_sync_new(struct kmeans_state *s, const char *word) {
	const struct lock_kind *kind = lock_find(word);
	struct lock_shape shape = {.threads = s->threads, .pad = LOCK_LINE};
	s->sync = word;
	s->lossy = s->threads > 1 && strcmp(word, "none") == 0;
	if (!is_object(kind))
		return SS_OK;
	s->lock_memory = kmeans_pages_new(&s->pages[KMEANS_LOCK], 1, kind->size(&shape));
	if (!s->lock_memory || kind->init(s->lock_memory, &shape) != 0)
		return SS_FAILED;
	s->lock = kind;
	return SS_OK;
}

void kmeans_sync_free(struct kmeans_state *s) {
	if (s->lock)
		s->lock->destroy(s->lock_memory);
	s->lock = NULL;
}
