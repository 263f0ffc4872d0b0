/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kmeans: every variant, way of synchronising, padding and reduction against the oracle, in every bit; the oracle
 * against a textbook; and the hooks' reports. */
#include <math.h>

#include "kernels/locks/registry.h"
#include "tests/kernels/kmeans.h"

static const char *const configs[] = {
	"variant=shared sync=atomic",
	"variant=shared sync=critical",
	"variant=privatized",
	"variant=privatized reduction=tree",
	"variant=privatized pad=line first_touch=parallel",
	"variant=privatized pad=line first_touch=objects reduction=tree",
	"variant=privatized pad=page first_touch=parallel reduction=tree",
	"variant=privatized pad=page first_touch=objects",
	"variant=blocked block=1",
	"variant=blocked block=16",
	"variant=blocked block=100",
	"variant=blocked",
	"variant=blocked block=4096",
};
enum { CONFIGS = sizeof configs / sizeof *configs };

static bool configs_right(struct rig *rig) {
	bool right = true;
	for (int c = 0; c < CONFIGS; c++)
		right = rig_once(rig, configs[c]) && right;
	rig->live->state[0].threads = 1;
	right = rig_once(rig, "variant=serial") && rig_once(rig, configs[0]) && rig_once(rig, "variant=blocked") && right;
	right = rig_once(rig, "variant=shared sync=none") && rig_once(rig, "variant=shared delta=shared") && right;
	rig->live->state[0].threads = 3;
	return right;
}

/* The largest has whole blocks of 16 and of 100 objects and a part of one. Centres of three loops come from centres
 * that are means; inertia_test runs more loops. */
static void sizes_test(void) {
	static const int sizes[] = {1, 2, 3, 17, 255, 430}, widths[] = {1, 2, 3, 5, 16, 17, 33};
	static const int clusters[] = {1, 2, 3, 4, 15, 16, 17, 33};
	for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
		for (size_t d = 0; d < sizeof widths / sizeof *widths; d++) {
			bool right = true;
			for (size_t k = 0; k < sizeof clusters / sizeof *clusters; k++) {
				char problem[80];
				struct rig rig;
				snprintf(problem, sizeof problem, "n=%d coords=%d clusters=%d loops=3", sizes[n], widths[d],
				         clusters[k]);
				right = rig_open(&rig, problem) == SS_OK && right;
				rig.live->state[0].threads = 3;
				right = configs_right(&rig) && right;
				rig_close(&rig);
			}
			ok(right, "%d objects of %d coordinates: all configurations, over the clusters", sizes[n], widths[d]);
		}
}

static void locks_test(void) {
	struct rig rig;
	rig_open(&rig, "n=700 coords=3 clusters=5 loops=4");
	for (const struct lock_kind *const *kind = lock_registry; *kind; kind++) {
		char config[80];
		bool right = true;
		snprintf(config, sizeof config, "variant=shared sync=%s", (*kind)->name);
		for (int threads = 1; threads <= 5; threads += 2) {
			rig.live->state[0].threads = threads;
			right = rig_once(&rig, config) && right;
		}
		ok(right, "sync=%s with 1, 3 and 5 threads", (*kind)->name);
	}
	rig_close(&rig);
}

static void teams_test(void) {
	static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
	struct rig rig;
	rig_open(&rig, "n=700 coords=5 clusters=9 loops=5");
	for (int c = 0; c < CONFIGS; c++) {
		bool right = true;
		for (int threads = 1; threads <= 8; threads += threads < 4 ? 1 : 4)
			for (int kind = 0; kind < 3; kind++) {
				rig.live->state[0].threads = threads;
				rig.live->state[0].schedule = kinds[kind];
				rig.live->state[0].chunk = threads % 2 ? 0 : 3;
				right = rig_once(&rig, configs[c]) && right;
			}
		ok(right, "%s with 1, 2, 3, 4 and 8 threads and each schedule", configs[c]);
	}
	rig_close(&rig);
}

static void isa_test(void) {
	static const char *const problems[] = {"n=203 coords=16 clusters=16", "n=203 coords=1 clusters=4",
	                                       "n=203 coords=19 clusters=45", "n=203 coords=7 clusters=8 loops=3"};
	for (const struct kmeans_isa *isa = kmeans_isas; isa->name; isa++) {
		bool right = true;
		if (!isa->usable()) {
			tap_skip(isa->name, "not on this CPU");
			continue;
		}
		for (int p = 0; p < 4; p++) {
			struct rig rig;
			rig_open(&rig, problems[p]);
			rig_setup(&rig, "variant=blocked block=64");
			rig_state(&rig)->isa = isa;
			right = live_run(rig.live, 0) == SS_OK && rig_verify(&rig) == SS_OK && right;
			live_teardown(rig.live, 0);
			rig_close(&rig);
		}
		ok(right, "blocked, compiled for %s", isa->name);
	}
	ok(kmeans_isa_best()->usable(), "the chosen instruction set is usable");
}

/* Objects of one's own choice, at the corners of the grid. */
static void objects_set(struct rig *rig, double (*coordinate)(size_t i, size_t j)) {
	struct kmeans_input *in = rig_input(rig);
	for (size_t i = 0; i < in->n; i++)
		for (size_t j = 0; j < in->coords; j++)
			in->objects[i * in->coords + j] = coordinate(i, j);
}

static double all_equal(size_t i, size_t j) {
	(void)i;
	return (double)(j % 4096) / 4096;
}

static double two_places(size_t i, size_t j) {
	(void)j;
	return i % 3 == 1 ? 0.25 : 0.75;
}

/* Next to each other at the end of the range, where a distance differs from another in its last bit. */
static double far_end(size_t i, size_t j) {
	return (4095 - (double)((i * 7 + j * j * i) % 3 == 0)) / 4096;
}

static double corners(size_t i, size_t j) {
	return (i * 2654435761u >> (j % 13) & 1) ? 4095.0 / 4096 : 0;
}

static void objects_test(void) {
	static const struct {
		const char *what, *problem;
		double (*coordinate)(size_t, size_t);
		size_t empty;
	} cases[] = {
		{"all objects equal", "n=100 coords=5 clusters=7", all_equal, 6},
		{"two places, seven clusters", "n=100 coords=3 clusters=7", two_places, 5},
		{"neighbours at the end of the range", "n=300 coords=1024 clusters=12 loops=5", far_end, SIZE_MAX},
		{"the corners of the range", "n=300 coords=1024 clusters=20 loops=5", corners, SIZE_MAX},
		{"fewer objects than clusters", "n=5 coords=2 clusters=12", NULL, 7},
	};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct rig rig;
		rig_open(&rig, cases[c].problem);
		if (cases[c].coordinate)
			objects_set(&rig, cases[c].coordinate);
		rig.live->state[0].threads = 3;
		ok(configs_right(&rig), "%s: all configurations", cases[c].what);
		rig_right(&rig, "variant=blocked");
		size_t empty = kmeans_empty(rig_state(&rig));
		ok(cases[c].empty == SIZE_MAX || empty == cases[c].empty, "%s: %zu clusters are empty", cases[c].what, empty);
		live_teardown(rig.live, 0);
		rig_close(&rig);
	}
}

/* The textbook, in long double, one loop: from the centres before to membership and centres after. */
static bool loop_right(const struct kmeans_input *in, const double *before, const double *after) {
	size_t entries = in->clusters * in->coords;
	double *sums = calloc(entries + in->clusters, sizeof *sums), *counts = sums + entries;
	bool right = true;
	for (size_t i = 0; i < in->n; i++) {
		long double least = INFINITY;
		size_t nearest = 0;
		for (size_t c = 0; c < in->clusters; c++) {
			long double distance = 0;
			for (size_t j = 0; j < in->coords; j++) {
				long double apart = (long double)in->objects[i * in->coords + j] - before[c * in->coords + j];
				distance += apart * apart;
			}
			if (distance < least) {
				least = distance;
				nearest = c;
			}
		}
		counts[nearest]++;
		for (size_t j = 0; j < in->coords; j++)
			sums[nearest * in->coords + j] += in->objects[i * in->coords + j];
	}
	for (size_t e = 0; e < entries; e++) {
		double count = counts[e / in->coords], want = count > 0 ? sums[e] / count : before[e];
		right = right && fabs(after[e] - want) <= ldexp(0.5001, -KMEANS_CENTRE_BITS);
	}
	free(sums);
	return right;
}

/* Problems of 1, 2 ... loops are the same but for their length. */
static void oracle_test(void) {
	enum { LOOPS = 12 };
	double *before = NULL;
	struct rig rig[LOOPS];
	bool right = true, same = true;
	for (int loop = 0; loop < LOOPS; loop++) {
		char problem[80];
		snprintf(problem, sizeof problem, "n=400 coords=3 clusters=6 loops=%d", loop + 1);
		rig_open(&rig[loop], problem);
		struct kmeans_input *in = rig_input(&rig[loop]);
		right = kmeans_oracle(in, NULL) == SS_OK && right;
		if (!before) {
			before = malloc(in->clusters * in->coords * sizeof *before);
			kmeans_centres_first(in, before);
		}
		right = loop_right(in, before, in->centres) && right;
		memcpy(before, in->centres, in->clusters * in->coords * sizeof *before);
		for (int l = 0; l < loop; l++)
			same = same && in->changed[l] == rig_input(&rig[loop - 1])->changed[l];
	}
	ok(right, "each loop of the oracle is the textbook's");
	ok(same && rig_input(&rig[0])->changed[0] == 400, "every object changes in the first loop, and changes repeat");
	ok(rig_input(&rig[LOOPS - 1])->changed[LOOPS - 1] < 40, "the iteration settles");
	for (int loop = 0; loop < LOOPS; loop++)
		rig_close(&rig[loop]);
	free(before);
}

static long double inertia_exact(const struct kmeans_state *s) {
	size_t coords = s->input->coords;
	long double inertia = 0;
	for (size_t i = 0; i < s->input->n; i++)
		for (size_t j = 0; j < coords; j++) {
			double apart = kmeans_object(s, i)[j] - s->centres[(size_t)s->membership[i] * coords + j];
			inertia += (long double)apart * apart;
		}
	return inertia;
}

static void inertia_test(void) {
	long double last = INFINITY;
	bool falls = true, agrees = true;
	for (int loops = 1; loops <= 15; loops++) {
		char problem[80];
		struct rig rig;
		snprintf(problem, sizeof problem, "n=900 coords=4 clusters=11 loops=%d", loops);
		rig_open(&rig, problem);
		rig_right(&rig, "variant=blocked");
		long double inertia = inertia_exact(rig_state(&rig));
		falls = falls && inertia <= last && inertia > 0;
		agrees = agrees && fabs(kmeans_inertia(rig_state(&rig)) - (double)inertia) < 1e-9 * (double)inertia;
		last = inertia;
		live_teardown(rig.live, 0);
		rig_close(&rig);
	}
	ok(falls, "the sum of squared distances never rises");
	ok(agrees, "the figure is that sum");
}

static void verify_test(void) {
	for (int c = 0; c < CONFIGS; c++) {
		struct rig rig;
		rig_open(&rig, "n=90 coords=4 clusters=6 loops=3");
		bool found = rig_setup(&rig, configs[c]) == SS_OK && rig_verify(&rig) == SS_INCORRECT;
		struct kmeans_state *s = rig_state(&rig);
		ok(found && rig.live->message[0], "%s: the bare input is not a result", configs[c]);
		live_run(rig.live, 0);
		for (size_t i = 0; i < 90; i++) {
			int32_t right = s->membership[i];
			s->membership[i] = (right + 1) % 6;
			found = rig_verify(&rig) == SS_INCORRECT && found;
			s->membership[i] = i % 2 ? -1 : 6;
			found = rig_verify(&rig) == SS_INCORRECT && found;
			s->membership[i] = right;
		}
		for (size_t e = 0; e < 24; e++) {
			double right = s->centres[e];
			s->centres[e] = nextafter(right, 2);
			found = rig_verify(&rig) == SS_INCORRECT && found;
			s->centres[e] = NAN;
			found = rig_verify(&rig) == SS_INCORRECT && found;
			s->centres[e] = right;
		}
		for (int loop = 0; loop < 3; loop++) {
			s->changed[loop]++;
			found = rig_verify(&rig) == SS_INCORRECT && found;
			s->changed[loop]--;
		}
		ok(found, "%s: one wrong membership, centre or count is found", configs[c]);
		ok(rig_verify(&rig) == SS_OK, "%s: and nothing else is", configs[c]);
		live_teardown(rig.live, 0);
		rig_close(&rig);
	}
}

/* Lost updates are never called wrong, and errors that cannot come from them still are. */
static void racy_test(void) {
	struct rig rig;
	rig_open(&rig, "n=3000 coords=1 clusters=2 loops=5");
	rig.live->state[0].threads = 4;
	ok(rig_right(&rig, "variant=shared sync=none"), "lost sums are not a wrong result");
	rig_state(&rig)->membership[7] = 2;
	ok(rig_verify(&rig) == SS_INCORRECT, "a cluster that does not exist is");
	live_teardown(rig.live, 0);
	ok(rig_right(&rig, "variant=shared delta=shared") && rig_once(&rig, "variant=privatized delta=shared"),
	   "lost changes are not a wrong result");
	rig_right(&rig, "variant=shared delta=shared");
	rig_state(&rig)->changed[0] = 3001;
	ok(rig_verify(&rig) == SS_INCORRECT, "more changes than there are objects are");
	live_teardown(rig.live, 0);
	rig_close(&rig);
}

static double figure(struct rig *rig, const char *name) {
	struct ss_figure figures[SS_FIGURES_MAX];
	struct ss_call call = live_call(rig->live, 0);
	size_t count = kernel_kmeans.figures(rig_state(rig), &call, 0.5, figures, SS_FIGURES_MAX);
	for (size_t f = 0; f < count; f++)
		if (strcmp(figures[f].name, name) == 0)
			return figures[f].value;
	return NAN;
}

static void hooks_test(void) {
	struct rig rig;
	struct ss_series series = {0};
	rig_open(&rig, "n=2000 coords=2 clusters=4 loops=20");
	rig_right(&rig, "variant=shared");
	struct ss_call call = live_call(rig.live, 0);
	ok(figure(&rig, "loops") == 20 && figure(&rig, "time_per_loop") == 25 && figure(&rig, "assignments") == 0.08,
	   "figures of time");
	ok(figure(&rig, "empty_clusters") == 0 && isnan(figure(&rig, "lost_updates")), "figures of the result");
	size_t count = kernel_kmeans.series(rig_state(&rig), &call, &series, SS_SERIES_MAX);
	ok(count == 1 && series.count == 20 && series.values[0] == 2000, "the series of changes");
	ok(figure(&rig, "changed") == series.values[19], "the last number of changes is a figure");
	ok(kernel_kmeans.series(rig_state(&rig), &call, &series, 0) == 0, "no room, no series");
	live_teardown(rig.live, 0);
	rig_right(&rig, "variant=shared sync=none");
	ok(figure(&rig, "lost_updates") >= 0 && figure(&rig, "lost_updates") <= 2000, "the lost updates are a figure");
	live_teardown(rig.live, 0);
	struct ss_work work = kernel_kmeans.work(&call);
	ok(work.ops == 2000.0 * 2 * 4 * 20 && work.bytes == 2000.0 * 20 * (16 + 4), "work of one run");
	rig_close(&rig);
}

static void problem_test(void) {
	struct rig rig, other;
	rig_open(&rig, "size=0.5 coords=8");
	ok(rig_input(&rig)->n == 8192, "size is in MiB");
	rig_open(&other, "size=0.5 coords=8");
	ok(memcmp(rig_input(&rig)->objects, rig_input(&other)->objects, 1 << 19) == 0, "the same seed, the same objects");
	rig_close(&rig);
	rig_open(&rig, "size=0");
	ok(rig_input(&rig)->n == 1, "there is one object at least");
	rig_close(&rig);
	rig_close(&other);
	ok(rig_open(&rig, "size=1e6 coords=1") == SS_INVALID && rig.live->message[0], "too many objects are refused");
	rig_close(&rig);
	rig_open(&rig, "n=10");
	ok(rig_setup(&rig, "variant=serial") == SS_INVALID, "the serial variant refuses two threads");
	live_teardown(rig.live, 0);
	rig_close(&rig);
}

int main(void) {
	omp_set_dynamic(0);
	oracle_test();
	sizes_test();
	locks_test();
	teams_test();
	isa_test();
	objects_test();
	inertia_test();
	verify_test();
	racy_test();
	hooks_test();
	problem_test();
	return tap_done();
}
