/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cc: graphs from files, good ones, wrong ones and mutilated ones. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/cc/cc.h"
#include "tests/kernels/live.h"
#include "tests/tap.h"

extern const struct ss_kernel kernel_cc;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool file_write(const char *name, const void *data, size_t size) {
	FILE *file = fopen(name, "wb");
	return file && (size == 0 || fwrite(data, size, 1, file) == 1) && fclose(file) == 0;
}

struct good {
	const char *name, *text;
	int n, edges, components;
};

#define MARKET "%%MatrixMarket matrix coordinate "

/* Valid files, and files found in the wild. */
static const struct good goods[] = {
	{"plain.graph", "3 2\n2\n1 3\n2\n", 3, 2, 1},
	{"no_newline.graph", "3 2\n2\n1 3\n2", 3, 2, 1},
	{"blank_lines.graph", "4 1\n\n4\n\n2\n\n\n", 4, 1, 3},
	{"comments.graph", "% a\n%b\n3 1\n% c\n2\n1\n%d\n\n% end", 3, 1, 2},
	{"blanks.graph", "  3\t2 \r\n 2 \r\n\t1  3\r\n2\r\n", 3, 2, 1},
	{"fmt.graph", "2 1 0\n2\n1\n", 2, 1, 1},
	{"edge_weights.graph", "3 2 1\n2 7\n1 7 3 9\n2 9\n", 3, 2, 1},
	{"vertex_weights.graph", "3 2 10\n5 2\n5 1 3\n5 2\n", 3, 2, 1},
	{"two_weights.graph", "3 2 010 2\n5 6 2\n5 6 1 3\n5 6 2\n", 3, 2, 1},
	{"sizes.graph", "3 2 100\n9 2\n9 1 3\n9 2\n", 3, 2, 1},
	{"all.graph", "3 2 111 1\n9 5 2 7\n9 5 1 7 3 8\n9 5 2 8\n", 3, 2, 1},
	{"one_sided.graph", "3 1\n2 3\n\n\n", 3, 2, 1},
	{"loop.graph", "2 2\n1 2\n1 2\n", 2, 1, 1},
	{"one.graph", "1 0\n\n", 1, 0, 1},
	{"pattern.mtx", MARKET "pattern symmetric\n% c\n3 3 2\n2 1\n3 2\n", 3, 2, 1},
	{"real.mtx", MARKET "real general\n3 3 4\n1 1 2.5\n1 2 -1e3\n2 1 4\n3 3 .5\n", 3, 1, 2},
	{"integer.mtx", "%%matrixmarket MATRIX Coordinate Integer General\n\n3 3 2\n\n1 2 5\n\n3 2 -6\n", 3, 2, 1},
	{"complex.mtx", MARKET "complex hermitian\n2 2 1\n2 1 1.0 -2.0\n", 2, 1, 1},
	{"empty.mtx", MARKET "pattern general\n5 5 0\n", 5, 0, 5},
	{"by_content.txt", MARKET "pattern general\n3 3 1\n3 1\n", 3, 1, 2},
	{"snap.txt", "# Nodes: 4\n# FromNodeId\tToNodeId\n0\t5\n5\t0\n7\t900\n", 4, 2, 2},
	{"sparse", "9000000000000000000 4\n4 17\n\n17 9000000000000000000\n", 3, 3, 1},
	{"loops.el", "1 1\n2 2\n2 3\n2 3\n3 2\n", 3, 1, 2},
	{"weights.tsv", "% sym\n1 2 0.5 1234567\n2 3 -1\n", 3, 2, 1},
};

static bool good_right(const struct good *good) {
	struct live *live = live_new(&kernel_cc);
	const struct cc_input *input = live->input;
	live_problem(live, "graph", good->name);
	bool right = live_open(live) == SS_OK && live_setup(live, 0) == SS_OK && live_run(live, 0) == SS_OK &&
	             live_verify(live, 0) == SS_OK;
	if (!right)
		printf("# %s\n", live->message);
	right = right && input->graph.n == good->n && input->graph.ends == 2 * (size_t)good->edges &&
	        input->components == good->components;
	live_teardown(live, 0);
	live_free(live);
	return right;
}

static void goods_test(void) {
	for (size_t i = 0; i < sizeof goods / sizeof *goods; i++)
		ok(file_write(goods[i].name, goods[i].text, strlen(goods[i].text)) && good_right(&goods[i]), "%s",
		   goods[i].name);
}

struct bad {
	const char *name, *text, *message;
};

#define METIS_BIG "99999999999999999999"

static const struct bad bads[] = {
	{"bad.graph", "3 2\n2 9\n1\n\n", "bad.graph line 2: neighbour 9, but there are 3 vertices"},
	{"zero.graph", "3 2\n2\n1 0\n2\n", "zero.graph line 3: neighbour 0, but there are 3 vertices"},
	{"minus.graph", "3 2\n2\n1 -3\n2\n", "minus.graph line 3: neighbour is negative"},
	{"word.graph", "3 2\n2\n1 x\n2\n", "word.graph line 3: neighbour: a whole number was expected"},
	{"real.graph", "3 2\n2\n1 3.0\n2\n", "real.graph line 3: neighbour: a whole number was expected"},
	{"large.graph", "3 2\n" METIS_BIG "\n", "large.graph line 2: neighbour is too large"},
	{"more.graph", "3 2\n2\n1 3\n2\n1\n", "more.graph line 5: more lines than the 3 vertices of the header"},
	{"fewer.graph", "3 2\n2\n1 3\n", "fewer.graph: ends after vertex 2 of 3"},
	{"huge.graph", "2000000000 2\n2\n1\n", "huge.graph: ends after vertex 2 of 2000000000"},
	{"vertices.graph", "3000000000 2\n2\n1\n", "vertices.graph line 1: number of vertices is too large"},
	{"edges.graph", "2 " METIS_BIG "\n2\n1\n", "edges.graph line 1: number of edges is too large"},
	{"count.graph", "3 3\n2\n1 3\n2\n", "count.graph: the header has 3 edges, so 6 neighbours, but 4 are listed"},
	{"half.graph", "2\n2\n1\n", "half.graph line 1: number of edges: a whole number was expected"},
	{"empty.graph", "", "empty.graph: no line with the numbers of vertices and edges"},
	{"comment.graph", "% nothing", "comment.graph: no line with the numbers of vertices and edges"},
	{"none.graph", "0 0\n", "none.graph: a graph without vertices"},
	{"fmt.graph", "2 1 2\n2\n1\n", "fmt.graph line 1: fmt is 2; its digits must be 0 or 1"},
	{"fmt2.graph", "2 1 999\n2\n1\n", "fmt2.graph line 1: fmt is too large"},
	{"rest.graph", "2 1 0 0 7\n2\n1\n", "rest.graph line 1: the line goes on where it should end"},
	{"weight.graph", "2 1 1\n2\n1 4\n", "weight.graph line 2: weight of an edge: a number was expected"},
	{"size.graph", "2 1 100\n\n9 1\n", "size.graph line 2: size or weight of a vertex: a number was expected"},
	{"array.mtx", "%%MatrixMarket matrix array real general\n2 2\n", "array.mtx line 1: the format must be coordinate"},
	{"vector.mtx", "%%MatrixMarket vector\n", "vector.mtx line 1: the object must be matrix"},
	{"field.mtx", MARKET "quaternion general\n", "field.mtx line 1: the field must be pattern or another known word"},
	{"symmetry.mtx", MARKET "real\n", "symmetry.mtx line 1: the symmetry must be general or another known word"},
	{"banner.mtx", "3 3 1\n1 2\n", "banner.mtx line 1: the first word must be %%MatrixMarket"},
	{"nosize.mtx", MARKET "pattern general\n%\n\n",
     "nosize.mtx: no line with the numbers of rows, columns and entries"},
	{"oblong.mtx", MARKET "pattern general\n3 4 1\n1 2\n",
     "oblong.mtx line 2: 3 rows and 4 columns: the matrix of a graph is square"},
	{"huge.mtx", MARKET "pattern general\n2000000000 2000000000 1\n1 2\n",
     "huge.mtx line 2: 2000000000 vertices in a file of"},
	{"row.mtx", MARKET "pattern general\n3 3 1\n4 2\n", "row.mtx line 3: row 4, but there are 3"},
	{"column.mtx", MARKET "pattern general\n3 3 1\n1 0\n", "column.mtx line 3: column 0, but there are 3"},
	{"value.mtx", MARKET "real general\n3 3 1\n1 2\n", "value.mtx line 3: value: a number was expected"},
	{"extra.mtx", MARKET "pattern general\n3 3 1\n1 2 5\n", "extra.mtx line 3: the line goes on where it should end"},
	{"over.mtx", MARKET "pattern general\n3 3 1\n1 2\n2 3\n", "over.mtx line 4: more than the 1 entries of the header"},
	{"under.mtx", MARKET "pattern general\n3 3 9\n1 2\n2 3\n", "under.mtx: ends after entry 2 of 9"},
	{"one.txt", "1 2\n3\n", "one.txt line 2: vertex: a whole number was expected"},
	{"minus.txt", "1 2\n-3 1\n", "minus.txt line 2: vertex is negative"},
	{"rubbish.txt", "1 2 and more\n", "rubbish.txt line 1: the text after the edge: a number was expected"},
	{"large.txt", "1 " METIS_BIG "\n", "large.txt line 1: vertex is too large"},
	{"empty.txt", "# nothing\n\n", "empty.txt: no edges"},
	{"letters", "a b\n", "letters line 1: vertex: a whole number was expected"},
	{"short.sg", "\1", "short.sg: no header of a serialized graph"},
};

static bool refused(const char *name, const char *message) {
	struct live *live = live_new(&kernel_cc);
	live_problem(live, "graph", name);
	enum ss_status status = live_open(live);
	bool right = status == SS_INVALID && strncmp(live->message, message, strlen(message)) == 0;
	if (!right)
		printf("# status %d: %s\n", (int)status, live->message);
	live_free(live);
	return right;
}

static void bads_test(void) {
	for (size_t i = 0; i < sizeof bads / sizeof *bads; i++)
		ok(file_write(bads[i].name, bads[i].text, strlen(bads[i].text)) && refused(bads[i].name, bads[i].message), "%s",
		   bads[i].message);
	ok(file_write("nul.graph", "2 1\n2\0\n1\n", 9) && refused("nul.graph", "nul.graph line 2: neighbour: a whole"),
	   "a zero byte in a METIS file");
	ok(file_write("nul.txt", "\0 1\n", 4) && refused("nul.txt", "nul.txt line 1: vertex: a whole"),
	   "a zero byte in a list of edges");
}

static void odd_files_test(void) {
	ok(mkdir("folder.graph", 0700) == 0 && refused("folder.graph", "folder.graph: not a regular file"), "a directory");
	ok(mkfifo("pipe.graph", 0600) == 0 && refused("pipe.graph", "pipe.graph: not a regular file"),
	   "a pipe without a writer is not waited for");
	ok(symlink("nowhere", "link.graph") == 0 && refused("link.graph", "no graph 'link.graph'"), "a link to nowhere");
	ok(refused("/dev/zero", "/dev/zero: not a regular file"), "a device");
	ok(file_write("line\nbreak.graph", "x", 1) && refused("line\nbreak.graph", "line?break.graph line 1: number of"),
	   "the message is one line, whatever the file is called");
	if (geteuid() == 0)
		tap_skip("an unreadable file", "root reads everything");
	else
		ok(chmod("plain.graph", 0) == 0 && refused("plain.graph", "plain.graph: Permission denied"),
		   "an unreadable file");
}

/* The graph of four vertices 0 - 1 - 2, 3 in GAP's format, and damaged copies. */
struct serialized {
	char bytes[256];
	size_t size;
};

static void put(struct serialized *file, const void *value, size_t size) {
	memcpy(file->bytes + file->size, value, size);
	file->size += size;
}

static struct serialized serialized_new(bool directed, int64_t ends, int64_t n, int64_t second, int32_t target) {
	struct serialized file = {.size = 0};
	int64_t first[] = {0, second, 3, 4, 4};
	int32_t targets[] = {target, 0, 2, 1};
	put(&file, &(char){directed}, 1);
	put(&file, &ends, 8);
	put(&file, &n, 8);
	for (int i = 0; i <= directed; i++) {
		put(&file, first, sizeof first);
		put(&file, targets, sizeof targets);
	}
	return file;
}

static bool serialized_refused(struct serialized file, size_t size, const char *message) {
	return file_write("test.sg", file.bytes, size) && refused("test.sg", message);
}

static void serialized_test(void) {
	const struct good good = {"test.sg", "", 4, 2, 2};
	struct serialized file = serialized_new(false, 4, 4, 1, 1);
	ok(file_write("test.sg", file.bytes, file.size) && good_right(&good), "a serialized graph");
	ok(serialized_refused(file, file.size - 1, "test.sg: 4 vertices and 4 ends"), "a byte is missing");
	ok(serialized_refused(file, file.size + 1, "test.sg: 4 vertices and 4 ends"), "a byte too many");
	file = serialized_new(true, 4, 4, 1, 1);
	ok(file_write("test.sg", file.bytes, file.size) && good_right(&good), "a directed one");
	ok(serialized_refused(file, file.size / 2, "test.sg: 4 vertices and 4 ends"), "half of a directed one");
	ok(serialized_refused(serialized_new(false, INT64_MAX, 4, 1, 1), 73, "test.sg: 4 vertices and 92"),
	   "endless edges");
	ok(serialized_refused(serialized_new(false, -1, 4, 1, 1), 73, "test.sg: 4 vertices and -1"), "edges below none");
	ok(serialized_refused(serialized_new(false, 4, INT64_MAX, 1, 1), 73, "test.sg: 92"), "endless vertices");
	ok(serialized_refused(serialized_new(false, 4, -1, 1, 1), 73, "test.sg: -1 vertices"), "vertices below none");
	ok(serialized_refused(serialized_new(false, 4, 4, 4, 1), 73, "test.sg: offset 3 of vertex 2 is out of order"),
	   "offsets that fall");
	ok(serialized_refused(serialized_new(false, 4, 4, -8, 1), 73, "test.sg: offset -8 of vertex 1"),
	   "a negative offset");
	ok(serialized_refused(serialized_new(false, 4, 4, INT64_MAX, 1), 73, "test.sg: offset 92"), "an offset far out");
	ok(serialized_refused(serialized_new(false, 4, 4, 1, 4), 73, "test.sg: neighbour 4 of vertex 0"),
	   "a neighbour too far");
	ok(serialized_refused(serialized_new(false, 4, 4, 1, -1), 73, "test.sg: neighbour -1 of vertex 0"),
	   "a negative one");
}

/* Changes or repeats a few bytes, or cuts the end off. */
static size_t mutate(uint8_t *data, size_t size, size_t room, uint64_t *random) {
	static const char often[] = "0123456789 \n\n-.%#\t\r\0e";
	for (int edits = 1 + kernel_random_below(random, 4); edits > 0 && size > 1; edits--) {
		size_t at = 1 + (size_t)kernel_random_below(random, (uint32_t)(size - 1));
		switch (kernel_random_below(random, 4)) {
		case 0:
			data[at] = (uint8_t)often[kernel_random_below(random, sizeof often)];
			break;
		case 1:
			data[at] = (uint8_t)kernel_random(random);
			break;
		case 2:
			size = kernel_random_below(random, 8) ? size : at;
			break;
		default:
			if (size < room) {
				memmove(data + at + 1, data + at, size - at);
				size++;
			}
		}
	}
	return size;
}

static int fuzz(uint8_t format, const void *bytes, size_t size, uint64_t *random) {
	uint8_t data[512];
	if (size + 1 > sizeof data)
		return 0;
	for (int i = 0; i < 300; i++) {
		data[0] = format;
		memcpy(data + 1, bytes, size);
		LLVMFuzzerTestOneInput(data, mutate(data, size + 1, sizeof data, random));
	}
	return 300;
}

static void fuzz_test(void) {
	uint64_t random = 1;
	int tried = 0;
	LLVMFuzzerTestOneInput(NULL, 0);
	for (size_t i = 0; i < sizeof goods / sizeof *goods; i++)
		for (uint8_t format = 0; format < 4; format++)
			tried += fuzz(format, goods[i].text, strlen(goods[i].text), &random);
	for (size_t i = 0; i < sizeof bads / sizeof *bads; i++)
		tried += fuzz((uint8_t)(i % 4), bads[i].text, strlen(bads[i].text), &random);
	struct serialized file = serialized_new(false, 4, 4, 1, 1), directed = serialized_new(true, 4, 4, 1, 1);
	for (int i = 0; i < 20; i++) {
		tried += fuzz(3, file.bytes, file.size, &random);
		tried += fuzz(3, directed.bytes, directed.size, &random);
	}
	ok(tried > 40000, "%d mutated files are graphs or refused", tried);
}

int main(void) {
	char folder[] = "/tmp/sweetspot-cc-XXXXXX", remove[64];
	if (!mkdtemp(folder) || chdir(folder) != 0)
		return 99;
	goods_test();
	bads_test();
	odd_files_test();
	serialized_test();
	fuzz_test();
	snprintf(remove, sizeof remove, "rm -rf %s", folder);
	ok(chdir("/") == 0 && system(remove) == 0, "the files are gone");
	return tap_done();
}
