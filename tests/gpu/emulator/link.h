/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interface between compiled device code and the emulated driver; read as C and as C++. */
#ifndef TESTS_GPU_EMULATOR_LINK_H
#define TESTS_GPU_EMULATOR_LINK_H

#define EMULATED_ABI 3

struct emulated_xyz {
	unsigned x, y, z;
};

/* Operations across the threads of a warp, or of a block. */
enum emulated_op {
	EMULATED_SYNC,
	EMULATED_SHUFFLE,
	EMULATED_BALLOT,
	EMULATED_MATCH,
	EMULATED_GATHER, /* the address of the values of all lanes, valid until the warp's next one */
	EMULATED_ADD,
	EMULATED_MIN,
	EMULATED_MAX,
	EMULATED_UMIN,
	EMULATED_UMAX,
	EMULATED_AND,
	EMULATED_OR,
	EMULATED_XOR
};

/* Given by the driver to each module it loads. */
struct emulated_services {
	/* A barrier of the block; returns how many of its threads brought a value that is not 0. */
	int (*barrier)(int line, int value);
	/* For the lanes in mask. argument: the lane whose value a shuffle takes, or -1 for one's own. */
	unsigned long long (*together)(enum emulated_op op, unsigned mask, unsigned long long value, int argument);
	unsigned (*active)(void); /* lanes of this warp that have not ended */
	void *(*dynamic)(void);
	void (*yield)(void); /* this thread waits for another one */
	void (*step)(void);  /* a place where another thread may come first */
	void (*trap)(const char *why);
	/* The place in a block of the same cluster that is `at` in this one's dynamic shared memory. */
	void *(*peer)(void *at, unsigned rank);
	unsigned *(*cluster)(void); /* a word of the cluster, 0 at first */
};

/* cuTensorMapEncodeTiled fills this in. It describes rows of elements of `size` bytes, and boxes whose rows are
 * permuted in runs of `swizzle` bytes, or not at all for 0. */
struct emulated_tensor_map {
	const char *at;
	unsigned long long columns, rows, pitch;
	unsigned size, box_columns, box_rows, swizzle;
};

/* Each kernel has a table named emulated_kernel_NAME. */
struct emulated_kernel {
	void (*call)(void **arguments);
	unsigned threads_max; /* its launch bound; 0: none */
	unsigned cluster;     /* blocks in a row that run together; 0: none */
	unsigned count;
	const unsigned *sizes; /* of its arguments */
};

/* Each module has one, named emulated_module. */
struct emulated_module {
	unsigned abi;
	struct emulated_xyz *thread, *block, *block_size, *grid_size;
	const struct emulated_services **services;
	char *shared, *shared_end; /* its static shared variables, one after the other */
};

#endif
