/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The node of the top-down tree that takes most of the pipeline's slots (A. Yasin, "A Top-Down Method for Performance
 * Analysis and Counters Architecture", ISPASS 2014), where it takes so many that it matters. Slots that retire are
 * work, so they are no reason. */
#include <math.h>

#include "tuner/diagnosis/diagnosis_probe.h"

static const double LEAST = 40; /* percent of the slots */

static const struct node {
	const char *metric, *words, *group; /* the group that tells more */
} nodes[] = {
	{"backend_bound.memory", "backend memory bound", "MEM"},
	{"backend_bound.core", "backend core bound", "VECTOR"},
	{"frontend_bound", "frontend bound", "ICACHE"},
	{"bad_speculation", "bound by wrong speculation", "BRANCH"},
	{"backend_bound", "backend bound", "STALLS"}, /* where its parts are not known */
};
enum { NODES = sizeof nodes / sizeof *nodes };

static const struct node *most_of(const struct study *study, size_t row, double *most) {
	const struct node *found = NULL;
	*most = LEAST;
	for (size_t i = 0; i < NODES; i++) {
		double share = study_metric(study, row, nodes[i].metric);
		if (share >= *most && (i < NODES - 1 || isnan(study_metric(study, row, nodes[0].metric)))) {
			found = &nodes[i];
			*most = share;
		}
	}
	return found;
}

static void level_add(struct finding *finding, const struct study *study, size_t row) {
	double retiring = study_metric(study, row, "retiring"), wrong = study_metric(study, row, "bad_speculation");
	double frontend = study_metric(study, row, "frontend_bound"), backend = study_metric(study, row, "backend_bound");
	finding_known(finding, EVIDENCE_COUNTER, retiring + wrong, "%", NULL,
	              "%.3g %% of the slots retire, %.3g %% are lost to wrong speculation, %.3g %% to the front end, "
	              "%.3g %% to the back end",
	              retiring, wrong, frontend, backend);
}

static void problem_examine(const struct study *study, struct findings *findings, size_t problem) {
	const struct probe_scope scope = {-1, -1, problem, 0, 0};
	size_t row = probe_best(study, &scope);
	double share;
	const struct node *node = row == SIZE_MAX ? NULL : most_of(study, row, &share);
	char text[PROBE_TEXT];
	if (!node)
		return;
	probe_problem(study, problem, text);
	struct finding *finding = findings_add(findings, CONFIDENCE_MEDIUM, 1 / (1 - fmin(share, 90) / 100),
	                                       "%s is %s at %.3g %% of the pipeline's slots",
	                                       *text ? text : "the best setting", node->words, share);
	probe_about_problem(finding, study, problem);
	probe_topdown_add(finding, study, row, node->metric, node->words);
	level_add(finding, study, row);
	probe_next_counters(finding, study, row, node->group);
}

static void examine(const struct study *study, struct findings *findings) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem);
	for (size_t i = 0; i < problems; i++)
		problem_examine(study, findings, problem[i]);
}

const struct diagnosis diagnosis_pipeline_bound = {
	.name = "pipeline_bound",
	.summary = "most slots of the pipeline are lost for one reason, by top-down counters",
	.device = "cpu",
	.examine = examine,
};
