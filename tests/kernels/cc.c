/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cc: every variant on every built-in graph and on graphs whose components are known; the generators; what a run shows. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "kernels/cc/cc.h"
#include "tests/kernels/live.h"
#include "tests/tap.h"

extern const struct ss_kernel kernel_cc;

struct setting {
	const char *variant, *update, *link, *rounds;
};

static const struct setting settings[] = {
	{"rows", "inplace", "hook", "2"},    {"rows", "synchronous", "hook", "2"}, {"jump", "inplace", "hook", "2"},
	{"afforest", "inplace", "hook", "1"}, {"afforest", "inplace", "hook", "2"}, {"afforest", "inplace", "hook", "4"},
	{"afforest", "inplace", "splice", "1"}, {"afforest", "inplace", "splice", "3"}, {"serial", "inplace", "hook", "2"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static struct cc_input *input_of(struct live *live) {
	return live->input;
}

static struct cc_state *state_of(struct live *live) {
	return live->state[0].memory;
}

static struct live *open_built_in(const char *graph, const char *n, const char *degree) {
	struct live *live = live_new(&kernel_cc);
	live_problem(live, "graph", graph);
	live_problem(live, "n", n);
	live_problem(live, "degree", degree);
	return live;
}

static void configure(struct live *live, const struct setting *setting, int threads, omp_sched_t schedule) {
	live_config(live, 0, "variant", setting->variant);
	live_config(live, 0, "update", setting->update);
	live_config(live, 0, "link", setting->link);
	live_config(live, 0, "rounds", setting->rounds);
	live->state[0].threads = threads;
	live->state[0].schedule = schedule;
}

/* Leaves the state set up, so that its labels can be looked at. */
static bool run_right(struct live *live, int runs) {
	enum ss_status status = live_setup(live, 0);
	for (int i = 0; status == SS_OK && i < runs; i++) {
		status = live_run(live, 0);
		status = status == SS_OK ? live_verify(live, 0) : status;
	}
	if (status != SS_OK)
		printf("# status %d: %s\n", (int)status, live->message);
	return status == SS_OK;
}

static bool setting_right(struct live *live, const struct setting *setting, int threads, omp_sched_t schedule) {
	configure(live, setting, threads, schedule);
	bool right = run_right(live, 2);
	live_teardown(live, 0);
	if (!right)
		printf("# %s %s %s rounds %s, %d threads\n", setting->variant, setting->update, setting->link, setting->rounds,
		       threads);
	return right;
}

static bool all_right(struct live *live) {
	bool right = true, large = input_of(live)->graph.n > 2000;
	for (int i = 0; i < SETTINGS; i++) {
		right = setting_right(live, &settings[i], large ? 2 : 3, omp_sched_dynamic) && right;
		if (!large)
			right = setting_right(live, &settings[i], 1, omp_sched_static) && right;
	}
	return right;
}

static void built_in_test(void) {
	static const char *const graphs[] = {"kmer", "rgg", "queen", "rmat"};
	static const char *const sizes[] = {"1", "2", "3", "17", "255", "1000", "20000"};
	for (size_t g = 0; g < 4; g++)
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			struct live *live = open_built_in(graphs[g], sizes[i], i % 2 ? "0" : "4");
			ok(live_open(live) == SS_OK && all_right(live), "%s of %s, every variant", graphs[g], sizes[i]);
			live_free(live);
		}
}

/* A graph by hand: `join` adds the edges; `label` is what vertex v must end with. */
struct shape {
	const char *name;
	int n;
	void (*join)(struct cc_pairs *pairs);
	int (*label)(int v, int n);
};

static void join_nothing(struct cc_pairs *pairs) {
	(void)pairs;
}

static void join_path(struct cc_pairs *pairs) {
	for (int32_t v = 1; v < pairs->n; v++)
		cc_pairs_add(pairs, v - 1, v);
}

/* Every second vertex up, then the others down: labels must travel the whole way. */
static void join_zigzag(struct cc_pairs *pairs) {
	for (int32_t v = 2; v < pairs->n; v++)
		cc_pairs_add(pairs, v, v - 2);
	cc_pairs_add(pairs, pairs->n - 2, pairs->n - 1);
}

static void join_star(struct cc_pairs *pairs) {
	for (int32_t v = 0; v < pairs->n - 1; v++)
		cc_pairs_add(pairs, pairs->n - 1, v);
}

static void join_cycle(struct cc_pairs *pairs) {
	join_path(pairs);
	cc_pairs_add(pairs, pairs->n - 1, 0);
}

/* One of the even, one of the odd vertices. */
static void join_cliques(struct cc_pairs *pairs) {
	for (int32_t v = 0; v < pairs->n; v++)
		for (int32_t w = v % 2; w < v; w += 2)
			cc_pairs_add(pairs, v, w);
}

/* Pairs (v, n - 1 - v), each several times, and loops. */
static void join_mess(struct cc_pairs *pairs) {
	for (int32_t v = 0; v < pairs->n; v++) {
		cc_pairs_add(pairs, v, v);
		cc_pairs_add(pairs, v, pairs->n - 1 - v);
		cc_pairs_add(pairs, v, pairs->n - 1 - v);
	}
}

static int label_own(int v, int n) {
	(void)n;
	return v;
}

static int label_zero(int v, int n) {
	(void)v, (void)n;
	return 0;
}

static int label_parity(int v, int n) {
	(void)n;
	return v % 2;
}

static int label_mirror(int v, int n) {
	return v < n - 1 - v ? v : n - 1 - v;
}

static const struct shape shapes[] = {
	{"no edges", 100, join_nothing, label_own},     {"one vertex", 1, join_nothing, label_own},
	{"a path", 300, join_path, label_zero},         {"a path that folds back", 200, join_zigzag, label_zero},
	{"a star", 500, join_star, label_zero},         {"a cycle", 129, join_cycle, label_zero},
	{"two cliques", 60, join_cliques, label_parity}, {"loops and duplicates", 77, join_mess, label_mirror},
};

static bool labels_known(struct live *live, const struct shape *shape) {
	for (int v = 0; v < shape->n; v++)
		if (state_of(live)->label[v] != shape->label(v, shape->n))
			return false;
	return true;
}

static bool shape_right(struct live *live, const struct shape *shape) {
	bool right = true;
	for (int i = 0; i < SETTINGS; i++) {
		configure(live, &settings[i], 1 + i % 3, omp_sched_guided);
		right = run_right(live, 1) && labels_known(live, shape) && right;
		live_teardown(live, 0);
	}
	return right;
}

static void shapes_test(void) {
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct live *live = live_new(&kernel_cc);
		struct cc_pairs pairs = {.n = shapes[i].n};
		shapes[i].join(&pairs);
		ok(cc_graph_build(&input_of(live)->graph, &pairs) == SS_OK && shape_right(live, &shapes[i]), "%s",
		   shapes[i].name);
		live_free(live);
	}
}

static bool has_edge(const struct cc_graph *g, int32_t from, int32_t to) {
	for (size_t e = g->first[from]; e < g->first[from + 1]; e++)
		if (g->target[e] == to)
			return true;
	return false;
}

static bool graph_sane(const struct cc_graph *g) {
	bool sane = g->first[0] == 0 && g->first[g->n] == g->ends && g->ends % 2 == 0;
	for (int32_t v = 0; sane && v < g->n; v++)
		for (size_t e = g->first[v]; sane && e < g->first[v + 1]; e++) {
			sane = g->target[e] >= 0 && g->target[e] < g->n && g->target[e] != v && has_edge(g, g->target[e], v);
			sane &= e == g->first[v] || g->target[e - 1] < g->target[e];
		}
	return sane;
}

/* A matrix beside the rows. */
static void build_test(void) {
	enum { N = 40 };
	bool right = true, in[N][N];
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct cc_graph graph = {0};
		struct cc_pairs pairs = {.n = N};
		uint64_t random = seed;
		memset(in, 0, sizeof in);
		for (uint64_t i = 0; i < 25 * seed; i++) {
			int32_t a = kernel_random_below(&random, N), b = kernel_random_below(&random, N);
			cc_pairs_add(&pairs, a, b);
			in[a][b] = in[b][a] = a != b;
		}
		right &= cc_graph_build(&graph, &pairs) == SS_OK && graph_sane(&graph);
		for (int32_t a = 0; a < N; a++)
			for (int32_t b = 0; b < N; b++)
				right &= has_edge(&graph, a, b) == (a != b && in[a][b]);
		cc_graph_free(&graph);
	}
	ok(right, "rows have the edges that were added, once, sorted, from both ends");
}

static bool same_graph(const struct cc_graph *a, const struct cc_graph *b) {
	return a->n == b->n && a->ends == b->ends && memcmp(a->target, b->target, a->ends * sizeof *a->target) == 0 &&
	       memcmp(a->first, b->first, ((size_t)a->n + 1) * sizeof *a->first) == 0;
}

static void seeds_test(const char *name) {
	struct cc_graph graph[3] = {0};
	bool built = true;
	for (int i = 0; i < 3; i++) {
		struct cc_pairs pairs = {0};
		built &= cc_generator_find(name)->make(&pairs, 3000, 0, i == 2 ? 8 : 7);
		built &= cc_graph_build(&graph[i], &pairs) == SS_OK && graph_sane(&graph[i]);
	}
	ok(built && same_graph(&graph[0], &graph[1]), "%s: sane, and the same from the same seed", name);
	ok(same_graph(&graph[0], &graph[2]) == (strcmp(name, "queen") == 0), "%s: another seed", name);
	for (int i = 0; i < 3; i++)
		cc_graph_free(&graph[i]);
}

static int64_t edges_of(const char *name, int32_t n, int degree, int32_t *vertices) {
	struct cc_graph graph = {0};
	struct cc_pairs pairs = {0};
	cc_generator_find(name)->make(&pairs, n, degree, 5);
	cc_graph_build(&graph, &pairs);
	int64_t edges = (int64_t)(graph.ends / 2);
	*vertices = graph.n;
	cc_graph_free(&graph);
	return edges;
}

static bool near(double value, double wanted, double share) {
	return fabs(value - wanted) <= share * wanted;
}

static void generators_test(void) {
	int32_t n;
	ok(edges_of("queen", 1000, 0, &n) == (28 * 28 * 28 - 1000) / 2 && n == 1000, "queen: a cube of 10 has 10476 edges");
	ok(edges_of("queen", 999, 6, &n) == 2700 && n == 1000, "queen: 2700 of them across faces; 999 is rounded up");
	ok(edges_of("queen", 1000, 18, &n) == 2700 + 6 * 9 * 9 * 10, "queen: and two diagonals in each plane");
	ok(edges_of("rgg", 20000, 10, &n) > 0 && near((double)edges_of("rgg", 20000, 10, &n), 1e5, .05),
	   "rgg: the mean degree asked for");
	ok(near((double)edges_of("rgg", 20000, 0, &n), 1e4 * cc_rgg.degree(20000), .05), "rgg: its own mean degree");
	int64_t edges = edges_of("rmat", 5000, 8, &n);
	ok(n == 8192 && edges > n * 2 && edges <= n * 4, "rmat: a power of two vertices, edges less duplicates");
	ok(near((double)edges_of("kmer", 20000, 0, &n), 20000, .05) && n == 20000, "kmer: about two neighbours a vertex");
	ok(near((double)edges_of("kmer", 20000, 6, &n), 60000, .05), "kmer: more where asked for");
	ok(edges_of("kmer", 20000, 1, &n) < 12000, "kmer: loose short paths with a degree of 1");
}

static void degrees_test(void) {
	struct live *live = open_built_in("rmat", "4096", "0");
	int32_t isolated = 0, most = 0;
	live_open(live);
	const struct cc_graph *g = &input_of(live)->graph;
	for (int32_t v = 0; v < g->n; v++) {
		int32_t degree = (int32_t)(g->first[v + 1] - g->first[v]);
		isolated += degree == 0;
		most = degree > most ? degree : most;
	}
	ok(isolated > 0 && most > 10 * 32, "rmat: isolated vertices, and some with very many neighbours");
	live_free(live);
}

/* Relaxes every edge until nothing changes. */
static void oracle_test(void) {
	bool right = true;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct cc_input input = {0};
		struct cc_pairs pairs = {.n = 50};
		uint64_t random = seed;
		int32_t label[50], (*pair)[2] = calloc(seed + 10, sizeof *pair), count = (int32_t)seed + 10;
		for (int32_t i = 0; i < count; i++) {
			pair[i][0] = kernel_random_below(&random, 50);
			pair[i][1] = kernel_random_below(&random, 50);
			cc_pairs_add(&pairs, pair[i][0], pair[i][1]);
		}
		for (int32_t v = 0; v < 50; v++)
			label[v] = v;
		for (int step = 0; step < 50; step++)
			for (int32_t i = 0; i < count; i++) {
				int32_t a = label[pair[i][0]], b = label[pair[i][1]];
				label[pair[i][0]] = label[pair[i][1]] = a < b ? a : b;
			}
		right &= cc_graph_build(&input.graph, &pairs) == SS_OK && cc_oracle(&input) == SS_OK;
		int32_t roots = 0;
		for (int32_t v = 0; v < 50; v++) {
			right &= input.expected[v] == label[v];
			roots += label[v] == v;
		}
		right &= input.components == roots;
		free(pair);
		kernel_cc.close(&input);
	}
	ok(right, "the oracle finds the same components as relaxing the edges until nothing changes");
}

static void verify_test(void) {
	struct live *live = open_built_in("queen", "27", "0");
	live_open(live);
	configure(live, &settings[0], 2, omp_sched_static);
	ok(run_right(live, 1), "before the labels are spoilt");
	state_of(live)->label[5] = 4;
	ok(live_verify(live, 0) == SS_INCORRECT, "a wrong label is found");
	is_text(live->message, "vertex 5 has label 4, should be 0", "and named");
	input_of(live)->expected[5] = 4;
	ok(live_verify(live, 0) == SS_INCORRECT, "so are neighbours with different labels, whatever the oracle says");
	is_text(live->message, "vertex 1 has label 0, a neighbour another", "and the first is named");
	input_of(live)->expected[5] = 0;
	for (int v = 0; v < 27; v++)
		state_of(live)->label[v] = 1;
	ok(live_verify(live, 0) == SS_INCORRECT, "labels that agree but are not the smallest are found");
	is_text(live->message, "vertex 0 has label 1, should be 0", "and named");
	live_teardown(live, 0);
	live_free(live);
}

static double figure_of(struct live *live, const char *name) {
	struct ss_figure out[SS_FIGURES_MAX];
	struct ss_call call = live_call(live, 0);
	size_t count = kernel_cc.figures(state_of(live), &call, 0.5, out, SS_FIGURES_MAX);
	for (size_t i = 0; i < count; i++)
		if (strcmp(out[i].name, name) == 0)
			return out[i].value;
	return -1;
}

/* Sum of the series and its length. */
static double series_sum(struct live *live, size_t *count) {
	struct ss_series series = {0};
	struct ss_call call = live_call(live, 0);
	double sum = 0;
	kernel_cc.series(state_of(live), &call, &series, 1);
	for (size_t i = 0; i < series.count; i++)
		sum += series.values[i];
	*count = series.count;
	return sum;
}

static void figures_right(struct live *live, const struct setting *setting) {
	const struct cc_input *input = input_of(live);
	size_t count;
	configure(live, setting, 2, omp_sched_static);
	bool right = run_right(live, 2);
	double sum = series_sum(live, &count), edges = (double)input->graph.ends / 2, iterations = figure_of(live, "iterations");
	ok(right && iterations >= 1 && iterations == (double)count && figure_of(live, "time_per_iteration") == 5e5 / iterations,
	   "%s: a value of the series for each iteration", setting->variant);
	ok(figure_of(live, "edges") == edges && figure_of(live, "edges_per_s") == 1e-6 * edges / 0.5 &&
	           figure_of(live, "vertices") == 900, "%s: edges and vertices", setting->variant);
	ok(figure_of(live, "components") == input->components && figure_of(live, "largest") * 900 == input->largest,
	   "%s: components", setting->variant);
	bool trees = setting->variant[0] == 'a' || setting->variant[0] == 's';
	ok(trees ? sum == 900 - input->components : sum >= 900 - input->components,
	   "%s: as many labels fall as there are vertices without a root", setting->variant);
	struct ss_call call = live_call(live, 0);
	ok(kernel_cc.figures(state_of(live), &call, 1, NULL, 0) == 0 && kernel_cc.series(state_of(live), &call, NULL, 0) == 0,
	   "%s: no room for figures", setting->variant);
	live_teardown(live, 0);
}

static void figures_test(void) {
	struct live *live = open_built_in("rgg", "900", "5");
	live_open(live);
	for (int i = 0; i < SETTINGS; i++)
		figures_right(live, &settings[i]);
	live_free(live);
}

static bool refused(const char *graph, const char *n, const char *degree, const char *why) {
	struct live *live = open_built_in(graph, n, degree);
	bool right = live_open(live) == SS_INVALID && strstr(live->message, why);
	if (!right)
		printf("# %s\n", live->message);
	live_free(live);
	return right;
}

static void refusals_test(void) {
	ok(refused("nothing", "10", "0", "kmer, rgg, queen and rmat are built in"), "an unknown word");
	ok(refused("", "10", "0", "built in"), "no word at all");
	ok(refused("rgg", "0", "0", "n must be"), "no vertices");
	ok(refused("rgg", "1000000000000", "0", "n must be"), "too many vertices");
	ok(refused("rgg", "10", "257", "degree"), "too many neighbours");
	ok(refused("rgg", "10", "-1", "degree"), "fewer than no neighbours");
	struct live *live = open_built_in("missing.graph", "10", "0");
	struct ss_work work = live_work(live, 0);
	ok(work.ops == 0 && work.bytes == 0 && work.op, "the work on a file is not known");
	live_free(live);
}

int main(void) {
	shapes_test();
	build_test();
	oracle_test();
	static const char *const names[] = {"kmer", "rgg", "queen", "rmat"};
	for (int i = 0; i < 4; i++)
		seeds_test(names[i]);
	generators_test();
	degrees_test();
	verify_test();
	figures_test();
	refusals_test();
	built_in_test();
	return tap_done();
}
