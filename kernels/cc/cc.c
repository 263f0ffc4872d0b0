/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: connected components of a built-in graph or of one from a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/cc/cc.h"
#include "kernels/fail.h"
#include "kernels/pages.h"

/* A file into memory, and to its reader. */
/* Lines and numbers of a text in memory. */

bool cc_text_blank(struct cc_text *text) {
	while (*text->at == ' ' || *text->at == '\t' || *text->at == '\r')
		text->at++;
	return text->at == text->end || *text->at == '\n';
}

bool cc_text_next(struct cc_text *text) {
	const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
	text->at = newline ? newline + 1 : text->end;
	text->line += newline != NULL;
	return text->at < text->end;
}

bool cc_text_comment(const struct cc_text *text, const char *marks) {
	return *text->at && strchr(marks, *text->at);
}

static bool is_digit(char c) {
	return c >= '0' && c <= '9';
}

/* After a number comes a blank, a new line or the end. */
static bool is_over(const struct cc_text *text) {
	return text->at == text->end || (*text->at && strchr(" \t\r\n", *text->at));
}

enum ss_status cc_text_number(struct cc_text *text, const char *what, int64_t most, int64_t *number) {
	int64_t n = 0;
	bool large = false, negative = !cc_text_blank(text) && *text->at == '-';
	const char *begin = text->at += negative;
	for (; is_digit(*text->at); text->at++)
		large |= __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *text->at - '0', &n);
	if (text->at == begin || !is_over(text))
		return cc_text_wrong(text, "%s: a whole number was expected", what);
	if (negative)
		return cc_text_wrong(text, "%s is negative", what);
	if (large || n > most)
		return cc_text_wrong(text, "%s is too large", what);
	*number = n;
	return SS_OK;
}

enum ss_status cc_text_real(struct cc_text *text, const char *what) {
	char *end = NULL;
	if (!cc_text_blank(text))
		strtod(text->at, &end);
	if (!end || end == text->at)
		return cc_text_wrong(text, "%s: a number was expected", what);
	text->at = end;
	return is_over(text) ? SS_OK : cc_text_wrong(text, "%s: a number was expected", what);
}

enum ss_status cc_text_end(struct cc_text *text) {
	return cc_text_blank(text) ? SS_OK : cc_text_wrong(text, "the line goes on where it should end");
}

enum { NAME_SHOWN = 96 };

/* The end of a long name, with question marks for bytes that cannot be printed. */
static void name_show(const char *name, char shown[NAME_SHOWN + 1]) {
	size_t size = strlen(name), skip = size > NAME_SHOWN ? size - NAME_SHOWN : 0;
	memcpy(shown, name + skip, size - skip + 1);
	if (skip)
		memcpy(shown, "...", 3);
	for (char *c = shown; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
}

static enum ss_status wrong(const struct cc_text *text, int64_t line, const char *format, va_list ap) {
	char shown[NAME_SHOWN + 1], reason[256];
	name_show(text->name, shown);
	vsnprintf(reason, sizeof reason, format, ap);
	if (line)
		return kernel_fail(text->call, SS_INVALID, "%s line %lld: %s", shown, (long long)line, reason);
	return kernel_fail(text->call, SS_INVALID, "%s: %s", shown, reason);
}

enum ss_status cc_text_wrong(const struct cc_text *text, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	wrong(text, text->line, format, ap);
	va_end(ap);
	return SS_INVALID;
}

enum ss_status cc_file_wrong(const struct cc_text *text, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	wrong(text, 0, format, ap);
	va_end(ap);
	return SS_INVALID;
}

/* The last one reads all other files. */
static const struct cc_format *const cc_formats[] = {&cc_matrix_market, &cc_metis, &cc_serialized, &cc_edge_list};
enum { FORMATS = sizeof cc_formats / sizeof *cc_formats };

static bool format_fits(const struct cc_format *format, const char *path, const char *data, size_t size) {
	size_t length = strlen(path), extension = strlen(format->extension),
		   magic = format->magic ? strlen(format->magic) : 0;
	if (magic > 0 && size >= magic && memcmp(data, format->magic, magic) == 0)
		return true;
	return length >= extension && strcmp(path + length - extension, format->extension) == 0;
}

enum ss_status cc_file_parse(const char *path, const char *data, size_t size, const struct ss_call *call,
                             struct cc_pairs *pairs) {
	struct cc_text text = {data, data + size, 1, path, size, call};
	int format = 0;
	while (format < FORMATS - 1 && !format_fits(cc_formats[format], path, data, size))
		format++;
	enum ss_status status = cc_formats[format]->read(&text, pairs);
	if (status == SS_OK && pairs->n < 1)
		return cc_file_wrong(&text, "a graph without vertices");
	if (status == SS_NOMEM)
		return kernel_fail(call, SS_NOMEM, "no memory for the edges of a file of %zu bytes", size);
	return status;
}

/* Turns the word in `graph` into a graph. */

static const struct cc_generator *const generators[] = {&cc_kmer, &cc_rgg, &cc_queen, &cc_rmat};

const struct cc_generator *cc_generator_find(const char *name) {
	for (size_t i = 0; name && i < sizeof generators / sizeof *generators; i++)
		if (strcmp(generators[i]->name, name) == 0)
			return generators[i];
	return NULL;
}

/* Memory of a configuration. */

static size_t steps_room(const struct cc_graph *g) {
	return g->n + 1 < CC_STEPS_KEPT ? (size_t)g->n + 1 : CC_STEPS_KEPT;
}

/* Sorted by falling alignment. */
static void state_carve(struct cc_state *s) {
	size_t n = (size_t)s->graph.n;
	s->graph.first = s->pages;
	s->changed = (double *)(s->graph.first + n + 1);
	s->label = (int32_t *)(s->changed + steps_room(&s->graph));
	s->graph.target = s->label + n;
	s->other = s->synchronous ? s->graph.target + s->graph.ends : NULL;
}

static void graph_copy(struct cc_state *s, const struct cc_graph *from) {
#pragma omp parallel for schedule(runtime)
	for (int32_t v = 0; v < from->n; v++) {
		size_t begin = from->first[v], end = from->first[v + 1];
		s->graph.first[v + 1] = end;
		memcpy(s->graph.target + begin, from->target + begin, (end - begin) * sizeof *from->target);
		s->label[v] = v;
		if (s->other)
			s->other[v] = v;
	}
}

static enum ss_status cc_state_new(struct cc_state *s, struct cc_input *input) {
	const struct cc_graph *g = &input->graph;
	size_t n = (size_t)g->n, labels = (s->synchronous ? 2 * n : n) + g->ends;
	s->input = input;
	s->graph = (struct cc_graph){.n = g->n, .ends = g->ends};
	s->bytes = (n + 1) * sizeof *g->first + steps_room(g) * sizeof *s->changed + labels * sizeof *s->label;
	void *pages = kernel_pages_new(s->bytes);
	if (!pages)
		return SS_NOMEM;
	s->pages = pages;
	state_carve(s);
	graph_copy(s, g);
	return SS_OK;
}

static void cc_state_free(void *opaque) {
	struct cc_state *s = opaque;
	kernel_pages_free(s->pages, s->bytes);
	s->pages = NULL;
}

/* label[v] = v; forgets the run before. */
static void cc_labels_start(struct cc_state *s) {
	s->steps = 0;
	s->looked = 0;
#pragma omp parallel for schedule(runtime)
	for (int32_t v = 0; v < s->graph.n; v++)
		s->label[v] = v;
}

void cc_step_note(struct cc_state *s, int64_t changed) {
	if ((size_t)s->steps < steps_room(&s->graph))
		s->changed[s->steps] = (double)changed;
	s->steps++;
}

/* Only v's own thread writes its label; on the way others may be shortened or not. */
void cc_labels_compress(struct cc_state *s) {
	int32_t *label = s->label;
#pragma omp parallel for schedule(runtime)
	for (int32_t v = 0; v < s->graph.n; v++) {
		int32_t at = cc_load(&label[v]), above;
		while ((above = cc_load(&label[at])) != at)
			at = above;
		cc_store(&label[v], at);
	}
}

struct list {
	struct ss_figure *out;
	size_t count, most;
};

static void figure_add(struct list *list, const char *name, double value, const char *unit) {
	if (list->count < list->most)
		list->out[list->count++] = (struct ss_figure){name, value, unit};
}

static void figures_of_graph(struct list *list, const struct cc_state *s) {
	const struct cc_graph *g = &s->graph;
	figure_add(list, "vertices", g->n, "");
	figure_add(list, "edges", (double)(g->ends / 2), "");
	if (s->input->expected) {
		figure_add(list, "components", s->input->components, "");
		figure_add(list, "largest", g->n ? (double)s->input->largest / g->n : 0, "of vertices");
	}
	figure_add(list, "edge_bytes", (double)g->ends * sizeof *g->target + ((double)g->n + 1) * sizeof *g->first, "B");
}

size_t cc_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out, size_t most) {
	const struct cc_state *s = state;
	struct list list = {out, 0, most};
	double edges = (double)s->graph.ends / 2;
	(void)call;
	figures_of_graph(&list, s);
	figure_add(&list, "iterations", (double)s->steps, "");
	if (s->steps > 0)
		figure_add(&list, "time_per_iteration", 1e6 * seconds / (double)s->steps, "us");
	if (seconds > 0)
		figure_add(&list, "edges_per_s", 1e-6 * edges / seconds, "Medges/s");
	if (s->looked > 0)
		figure_add(&list, "looked", (double)s->looked / (double)s->graph.ends, "of edge ends");
	return list.count;
}

size_t cc_series(const void *state, const struct ss_call *call, struct ss_series *out, size_t most) {
	const struct cc_state *s = state;
	(void)call;
	if (most < 1 || !s->changed)
		return 0;
	size_t count = s->steps < CC_STEPS_KEPT ? (size_t)s->steps : CC_STEPS_KEPT;
	out[0] = (struct ss_series){"changed", s->changed, count};
	return 1;
}

/* The problem: a built-in graph or one from a file. */

enum { PROBLEM_GRAPH, PROBLEM_N, PROBLEM_DEGREE };

const struct ss_param cc_problem[] = {
	[PROBLEM_GRAPH] = {"graph", "a built-in graph, or a file (METIS, Matrix Market, edge list, GAP .sg)", SS_TEXT,
                       "kmer,rgg,queen,rmat", "rgg", NULL, 0, 0},
	[PROBLEM_N] = {"n", "vertices of a built-in graph, rounded if necessary", SS_INT, NULL, "32768", NULL, 1, CC_N_MAX},
	[PROBLEM_DEGREE] = {"degree", "mean number of neighbours; 0: the default of the graph", SS_INT, NULL, "0", NULL, 0,
                        CC_DEGREE_MAX},
	{.name = NULL},
};

/* Reads what is available, `size` bytes at most. */
static ssize_t read_all(int file, char *data, size_t size) {
	size_t done = 0;
	while (done < size) {
		ssize_t part = read(file, data + done, size - done);
		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return -1;
		if (part == 0)
			break;
		done += (size_t)part;
	}
	return (ssize_t)done;
}

static enum ss_status contents_read(int file, const struct cc_text *text, char **data, size_t *size) {
	struct stat about;
	if (fstat(file, &about) != 0)
		return cc_file_wrong(text, "%s", strerror(errno));
	if (!S_ISREG(about.st_mode))
		return cc_file_wrong(text, "not a regular file");
	*data = malloc((size_t)about.st_size + 1);
	if (!*data)
		return kernel_fail(text->call, SS_NOMEM, "no memory for a file of %lld bytes", (long long)about.st_size);
	ssize_t done = read_all(file, *data, (size_t)about.st_size);
	if (done < 0)
		return cc_file_wrong(text, "%s", strerror(errno));
	(*data)[done] = '\0';
	*size = (size_t)done;
	return SS_OK;
}

/* file.c: the file's contents, with a '\0' behind them. Without O_NONBLOCK a pipe would keep us waiting for its writer.
 */
static enum ss_status cc_file_load(const char *path, const struct ss_call *call, char **data, size_t *size) {
	struct cc_text text = {.name = path, .call = call};
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return cc_file_wrong(&text, "%s", strerror(errno));
	enum ss_status status = contents_read(file, &text, data, size);
	close(file);
	return status;
}

static enum ss_status file_read(struct cc_pairs *pairs, const char *path, const struct ss_call *call) {
	char *data = NULL;
	size_t size = 0;
	enum ss_status status = cc_file_load(path, call, &data, &size);
	if (status == SS_OK)
		status = cc_file_parse(path, data, size, call, pairs);
	free(data);
	return status;
}

/* A built-in graph or a file. What is wrong with it is in the call's message. */
static enum ss_status cc_graph_open(struct cc_graph *graph, const char *source, int64_t n, int64_t degree,
                                    const struct ss_call *call) {
	const struct cc_generator *generator = cc_generator_find(source);
	struct cc_pairs pairs = {0};
	enum ss_status status;
	if (generator)
		status = generator->make(&pairs, (int32_t)n, (int)degree, call->seed) ? SS_OK : SS_NOMEM;
	else if (!source || access(source, F_OK) != 0)
		return kernel_fail(call, SS_INVALID,
		                   "no graph '%.80s': kmer, rgg, queen and rmat are built in, and no such file",
		                   source ? source : "");
	else
		status = file_read(&pairs, source, call);
	if (status == SS_OK)
		status = cc_graph_build(graph, &pairs);
	cc_pairs_free(&pairs);
	if (status == SS_NOMEM)
		return kernel_fail(call, SS_NOMEM, "no memory for this graph");
	return status;
}

enum ss_status cc_problem_open(struct cc_graph *graph, const struct ss_call *call) {
	const struct ss_value *p = call->problem;
	return cc_graph_open(graph, p[PROBLEM_GRAPH].w, p[PROBLEM_N].i, p[PROBLEM_DEGREE].i, call);
}

double cc_problem_size(const struct ss_call *call, double *edges) {
	const struct cc_generator *generator = cc_generator_find(call->problem[PROBLEM_GRAPH].w);
	double n = call->problem[PROBLEM_N].r, degree = call->problem[PROBLEM_DEGREE].r;
	*edges = 0;
	if (!generator)
		return 0;
	*edges = n * (degree > 0 ? degree : generator->degree(n)) / 2;
	return n;
}

void cc_graph_free(struct cc_graph *graph) {
	free(graph->first);
	free(graph->target);
	*graph = (struct cc_graph){0};
}

void cc_input_free(void *opaque) {
	struct cc_input *input = opaque;
	cc_graph_free(&input->graph);
	free(input->expected);
	input->expected = NULL;
}

enum { PARAM_VARIANT, PARAM_UPDATE, PARAM_LINK, PARAM_ROUNDS };

/* The order is that of the words of `variant`. */
static const struct cc_variant *const variants[] = {&cc_rows, &cc_jump, &cc_afforest, &cc_serial};
static const struct cc_variant *const counted[] = {&cc_rows_counted, &cc_jump_counted, &cc_afforest_counted,
                                                   &cc_serial_counted};

static const struct ss_param params[] = {
	[PARAM_VARIANT] = {"variant", "algorithm", SS_WORD, "rows,jump,afforest,serial", "rows", NULL, 0, 0},
	[PARAM_UPDATE] = {"update", "labels change in place, or between two arrays", SS_WORD, "inplace,synchronous",
                      "inplace", "variant == 'rows'", 0, 0},
	[PARAM_LINK] = {"link", "how trees are joined: roots are hooked, or paths spliced on the way", SS_WORD,
                    "hook,splice", "hook", "variant == 'afforest'", 0, 0},
	[PARAM_ROUNDS] = {"rounds", "edges of each vertex that are linked first", SS_INT, "1..4", "2",
                      "variant == 'afforest'", 1, CC_ROUNDS_MAX},
	{.name = NULL},
};

static const char *const constraints[] = {"variant != 'serial' or threads == 1", NULL};

static enum ss_status cc_open(void *opaque, const struct ss_call *call) {
	struct cc_input *input = opaque;
	return cc_problem_open(&input->graph, call);
}

static enum ss_status cc_setup(void *opaque, void *input, const struct ss_call *call) {
	struct cc_state *s = opaque;
	*s = (struct cc_state){.variant = variants[call->config[PARAM_VARIANT].i],
	                       .rounds = (int)call->config[PARAM_ROUNDS].i};
	s->synchronous = s->variant == &cc_rows && call->config[PARAM_UPDATE].i == 1;
	s->splice = call->config[PARAM_LINK].i == 1;
	if (cc_state_new(s, input) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory for a copy of the graph");
	return SS_OK;
}

static const struct ss_event events[] = {
	[CC_ITERATIONS] = {"iterations", "steps of the whole team, counted by its first thread"},
	[CC_LABEL_UPDATES] = {"label_updates", "vertices that got a smaller label, or trees that were linked to another"},
	[CC_EDGE_ENDS] = {"edge_ends_visited", "edge ends that were examined"},
	[CC_CAS_FAILURES] = {"cas_failures", "failed compare-and-swaps of a label"},
	{.name = NULL},
};

static enum ss_status cc_run(void *opaque, const struct ss_call *call) {
	struct cc_state *s = opaque;
	cc_labels_start(s);
	s->events = call->events;
	if (!call->events) {
		s->variant->run(s);
		return SS_OK;
	}
	counted[call->config[PARAM_VARIANT].i]->run(s);
	kernel_count(call->events, CC_ITERATIONS, s->steps);
	return SS_OK;
}

static struct ss_work cc_work(const struct ss_call *call) {
	double edges, n = cc_problem_size(call, &edges);
	return (struct ss_work){edges, 2 * edges * sizeof(int32_t) + (n > 0 ? (n + 1) * sizeof(size_t) : 0), "edge"};
}

const struct ss_kernel kernel_cc = {
	.abi = SS_KERNEL_ABI,
	.name = "cc",
	.summary = "connected components of an undirected graph",
	.flags = SS_OPENMP | SS_SCHEDULE,
	.problem = cc_problem,
	.params = params,
	.constraints = constraints,
	.schedule_when = "variant != 'serial'",
	.serial = "variant=serial",
	.input_size = sizeof(struct cc_input),
	.state_size = sizeof(struct cc_state),
	.open = cc_open,
	.setup = cc_setup,
	.run = cc_run,
	.verify = cc_labels_check,
	.work = cc_work,
	.teardown = cc_state_free,
	.close = cc_input_free,
	.figures = cc_figures,
	.series = cc_series,
	.events = events,
};
