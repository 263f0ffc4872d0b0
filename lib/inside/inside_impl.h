/* SPDX-License-Identifier: BSD-3-Clause */
/* Choices inside a run. Two variables of the environment decide what happens; without both, each choice is the default.
 *
 * SWEETSPOT_INSIDE is a table of what is known, as text, so that no file need be there when a rank starts:
 *
 *     sweetspot-inside 1
 *     app:spmv n=1000 : block=16 variant='row @0.0007 ~-0.4
 *
 * A line has a kernel (PROGRAM:LABEL), the problem, the values, and where that is known, after @ the seconds of a
 * call with the default, and after ~ the logarithm of the cost with these values against it. Numbers are as printf
 * writes them, words follow a '. Bytes that are not graphic, and any of % = ' : @ ~ within names and words, are %XX. A
 * problem gets the values of the same problem; else those of the nearest one, in the logarithms of its numbers, if its
 * words are the same. A line without a colon states that the default holds there.
 *
 * SWEETSPOT_INSIDE_RING is the path of a file (format.h) that a tuner has made. A process that declares a context takes
 * an entry and describes the space, one parameter or constraint a line, with names and words written as above:
 *
 *     int block 32 : 16 32 64 128        type, name, default, values; a default that is not among them is a value, too
 *     word variant row : row warp
 *     without-default                    a choice cannot give the default back
 *     where variant != 'warp' or block >= 32     (as the program wrote it)
 *
 * Each class of problems that occurs becomes a cell. The tuner puts proposals into its slots, up to 8 at a time. The
 * library takes one when there is budget for it, has some calls run with it between calls with what holds (the
 * incumbent), and drops it as soon as it is clearly slower, or makes it the incumbent if it is clearly faster, each
 * against calls of the same stretch of time. It never asks: with no proposals, because the tuner is slow, stopped or
 * dead, the incumbent goes on.
 *
 * The environment is inherited: forked children, programs that they execute, and the ranks of a node share the ring.
 * Each process has its own incumbents and statistics, so that none needs another one's lock; what one of them has
 * found, the tuner advises to the others (inside_cell.advised).
 *
 * Where cells may influence each other, the tuner makes them members of the joint cell, each with a few of its
 * configurations, its options (joint.c). The library learns them as if the members were parameters of one context. */
#ifndef LIB_INSIDE_INSIDE_IMPL_H
#define LIB_INSIDE_INSIDE_IMPL_H
#include <pthread.h>

#include "lib/inside/inside.h"
#include "lib/inside/format.h"

enum inside_type { INSIDE_INT, INSIDE_REAL, INSIDE_WORD };

union inside_value {
	long long integer;
	double real;
	char *word;
};

struct inside_param {
	char *name;
	enum inside_type type;
	uint16_t count;
	union inside_value *values, otherwise;
};

struct inside_rule {
	struct inside_rule *next;
	char *text;
};

/* A configuration that was chosen once stays where it is. */
struct inside_config {
	struct inside_config *next;
	struct inside_levels levels;
};

struct inside_place;
struct inside_learner;

enum { INSIDE_PLACES = 256 };

struct sweetspot_context {
	struct sweetspot_context *next;
	char *label, *kernel;
	pthread_mutex_t lock;
	_Atomic uint32_t count; /* parameters that may be read */
	struct inside_param params[INSIDE_PARAMS];
	struct inside_rule *rules;
	bool broken;        /* a rule cannot be understood: only the defaults are safe */
	bool needs_another; /* the default cannot be chosen */
	_Atomic bool sealed, active;
	struct inside_config otherwise, *configs;
	struct inside_context *shared; /* NULL: nothing is learned */
	uint32_t place_count;
	struct inside_place *_Atomic places[INSIDE_PLACES];
	struct inside_learner *learners[INSIDE_CELLS];
};

/* A problem that was asked for, or a class of them. */
struct inside_place {
	uint64_t hash;
	const struct inside_config *config;
	struct inside_learner *learner; /* NULL: the config always */
};

struct inside_problem {
	const struct sweetspot_value *values;
	size_t count;
	uint64_t problem_class;
};

/* Facts that earlier runs have seen; 0: not known. */
struct inside_past {
	double default_cost;
	double relative; /* logarithm of the cost of what is known to be good against the default's */
};

/* Where the environment is read, once. */
struct inside_process {
	pthread_mutex_t lock;
	struct sweetspot_context *contexts;
	bool begun;
	char *table;
	struct inside_ring *ring; /* NULL: nothing is learned */
};

/* ---- declare.c ---- */
bool ssi_allows(const struct sweetspot_context *context, const struct inside_levels *levels);
/* The lock of the context must be held. NULL without memory. */
const struct inside_config *ssi_config_of(struct sweetspot_context *context, const struct inside_levels *levels);

/* ---- learn.c, joint.c ---- */
struct inside_learning {
	/* Makes the learner of a class of problems, which begins with what is known. The lock of the context must be held.
	 * NULL: it is not learned. */
	struct inside_learner *(*make)(struct inside_ring *ring, struct sweetspot_context *context,
	                               struct inside_cell *cell, const struct inside_config *known,
	                               const struct inside_past *past);
	void (*observe)(struct inside_learner *learner, struct sweetspot_choice *choice);
	void (*choose)(struct inside_learner *learner, struct sweetspot_choice *choice);
	void (*report)(struct inside_learner *learner, struct sweetspot_choice *choice, double cost);
	void (*forked)(struct inside_learner *learner); /* a forked child begins anew */
};
/* As if there were nothing joint, and for each learner as it is chosen, without `make` and `observe`. */
extern const struct inside_learning ssi_alone, ssi_learning;
#endif
