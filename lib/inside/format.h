/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of the program's library and the tuner: a file that both map, made by the tuner before the program starts.
 * The protocol is in inside_impl.h. Both sides check everything, because the other one may have written anything;
 * neither ever waits for the other. Native byte order; 0 is the state of everything that was not used. */
#ifndef LIB_INSIDE_FORMAT_H
#define LIB_INSIDE_FORMAT_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define INSIDE_MAGIC "SSINSID1"
#define INSIDE_TABLE "SWEETSPOT_INSIDE"
#define INSIDE_RING  "SWEETSPOT_INSIDE_RING"

enum {
	INSIDE_CONTEXTS = 64,
	INSIDE_CELLS = 16,   /* of a context: classes of its problems */
	INSIDE_SLOTS = 8,    /* of a cell: proposals that wait, run, or have run */
	INSIDE_MEMBERS = 12, /* cells that are chosen jointly */
	INSIDE_JOINT = 6,    /* configurations of each of them */
	INSIDE_PARAMS = 32,
	INSIDE_VALUES = 1024,
	INSIDE_NAME = 256,
	INSIDE_PROBLEM = 512,
	INSIDE_SPACE = 16384,
	INSIDE_OTHERWISE = 0xffff /* a level: the default */
};

/* A configuration: the index of each parameter's value. */
struct inside_levels {
	uint16_t at[INSIDE_PARAMS];
};

/* Contexts and cells: the library takes a free one, fills it, and then it is there. */
enum inside_entry { INSIDE_FREE, INSIDE_FILLING, INSIDE_THERE };

/* Slots: the tuner fills a free one (READY), a process takes it (TAKEN), and leaves the result (DONE), which the tuner
 * reads before it is free again. */
enum inside_slot_state { INSIDE_EMPTY, INSIDE_READY, INSIDE_TAKEN, INSIDE_DONE };

/* The purpose of a trial. A simpler configuration replaces what holds if it is not slower; any other has to be faster.
 */
enum inside_goal { INSIDE_TRY, INSIDE_SIMPLER, INSIDE_COMPARE };

enum inside_outcome {
	INSIDE_NOTHING, /* it could not be measured */
	INSIDE_WORSE,   /* it was dropped after few calls */
	INSIDE_SAME,    /* it is not clearly better */
	INSIDE_BETTER   /* it holds from now on */
};

struct inside_slot {
	_Atomic uint32_t state; /* enum inside_slot_state */
	_Atomic uint32_t live;  /* choices that have it and were not reported: what a crash would leave */
	uint32_t goal, outcome;
	uint32_t pid, calls; /* of the candidate */
	struct inside_levels levels;
	double keeps;    /* the part of the share that it must leave for what is more urgent */
	double cost;     /* the median, in seconds */
	double log;      /* of its cost against what held, in the same stretch of calls */
	double relative; /* the same against the default */
	double error;    /* standard error of `log` */
};

struct inside_cell {
	_Atomic uint32_t there;       /* enum inside_entry */
	_Atomic uint32_t epoch;       /* what the calls cost has changed so often: what was learned before may not hold */
	uint64_t problem_class;       /* a hash of it: sizes that are alike are one */
	char problem[INSIDE_PROBLEM]; /* "n=1000 mode='fast", of the first call */
	_Atomic uint64_t calls, ns;   /* in all, of every process */
	_Atomic uint64_t default_ns;  /* the median cost of a call with the default; 0: not known */
	_Atomic uint32_t advice;      /* how often `advised` was written; odd: it is being written */
	struct inside_levels advised; /* the tuner knows that it is good, as another process has measured it */
	double advised_relative;      /* the logarithm of its cost against the default's */
	uint32_t finder;              /* the process that has found the last better one, for the tuner */
	/* Chosen jointly with others: its number among the members of the ring's joint cell, from 1 on; 0: alone. */
	_Atomic uint32_t member;
	uint32_t options;
	double weight; /* its calls in a round of all members */
	struct inside_levels option[INSIDE_JOINT];
	struct inside_slot slots[INSIDE_SLOTS];
};

struct inside_context {
	_Atomic uint32_t there;
	uint32_t params;
	char kernel[INSIDE_NAME]; /* PROGRAM:LABEL */
	char space[INSIDE_SPACE]; /* the lines of inside_impl.h */
	struct inside_cell cells[INSIDE_CELLS];
};

struct inside_ring {
	char magic[8];
	uint32_t size, learns;  /* size: of this struct; learns 0: the program's calls are only counted */
	double share;           /* of the time that trying may cost */
	_Atomic double ahead_s; /* seconds that it may cost at once, before the share has grown to it; below 0: owed */
	uint32_t credit;        /* what is won against the defaults may be spent as well */
	uint32_t seed;
	_Atomic uint32_t learners; /* in all processes, so that each has its own order */
	_Atomic uint64_t spent_ns; /* lost by trying, of every process: the regret */
	_Atomic uint64_t ns;       /* in contexts */
	_Atomic uint64_t saved_ns; /* against the defaults, as far as these are known; may wrap below 0 */
	struct inside_context contexts[INSIDE_CONTEXTS];
	_Atomic uint32_t members; /* 0: nothing is chosen jointly */
	struct inside_cell joint; /* its levels are options of the members */
};

/* The texts of inside_impl.h: names, values, problems. Both sides write and read them. */
enum { INSIDE_TEXT = 512 };

struct inside_member {
	char name[INSIDE_TEXT], word[INSIDE_TEXT];
	double number;
	long long integer;
	bool is_word;
};

/* Bytes that are not graphic, or have a meaning here, become %XX. */
void ssi_text_write(FILE *out, const char *text);
/* to: of INSIDE_TEXT bytes. False: it is too long, or not written like that. */
bool ssi_text_read(const char *from, size_t size, char *to);
/* NAME=1.5 or NAME='word */
bool ssi_member_read(const char *text, size_t size, struct inside_member *member);

/* Maps the file for the tuner, too. NULL: it is not there, or not such a file of this user. */
struct inside_ring *ssi_ring_open(const char *path);
#endif
