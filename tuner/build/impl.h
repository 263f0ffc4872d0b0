/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder only. */
#ifndef TUNER_BUILD_IMPL_H
#define TUNER_BUILD_IMPL_H
#include <pthread.h>

#include "tuner/build/cache.h"

/* ---- the cache ---- */

struct build_cache {
	char *wanted, *base; /* base: once it exists */
	pthread_mutex_t mutex;
	unsigned locks; /* that are held; atomic */
};

/* ---- the builder ---- */

enum build_state {
	BUILD_IDLE, /* neither built nor wanted */
	BUILD_WANTED,
	BUILD_RUNNING,
	BUILD_DONE,
	BUILD_BROKEN /* `err` says why nothing could be built */
};

struct build {
	char *key;
	json_t *config; /* its own copy, because a thread reads it */
	enum build_state state;
	uint64_t order;      /* the smallest is built first */
	double begun, limit; /* limit: seconds that `make` was given; 0: none */
	bool too_long;       /* it is being stopped for that */
	struct built built;
	bool used; /* somebody has asked for it */
	struct err err;
	struct build_helper *helper; /* while it runs */
};

struct build_helper {
	struct builder *builder;
	pthread_t thread;
	bool started;
	int stop; /* atomic, because the worker's exchange polls it */
};

struct builder {
	struct build_work work;
	struct worker *worker;
	struct build **list;
	size_t count;
	struct build_figures figures;
	struct build_helper *helpers;
	pthread_mutex_t mutex;
	pthread_cond_t wake /* the helpers */, change /* the caller */;
	bool ending;
	uint64_t order;
	struct built late; /* the result of a build that did not end in time */
};
#endif
