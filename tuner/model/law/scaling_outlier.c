/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdint.h>

#include "tuner/model/law/scaling_impl.h"

/* With many points, only the TRIED largest residuals are tested. */
enum { TRIED = 24, OUTLIERS_SHARE = 8, FREEDOM_LEAST = 2 };
static const double LEVEL = 0.01;
static const double WILD = 0.1;    /* of log seconds; points closer to the law do little harm */
static const double EXACT = 1e-12; /* a smaller variance is taken for rounding */

static enum scaling_law law_for(const struct scaling_data *data) {
	return data->distinct > 4 && data->count > scaling_params(SCALING_USL) + FREEDOM_LEAST ? SCALING_USL
	                                                                                       : SCALING_AMDAHL;
}

/* log(measured / law), with the law of the other points. */
static double off_law(const struct scaling *scaling, const struct scaling_data *others, struct rates at, size_t point) {
	double eta, threads = scaling->threads[point];
	scaling_squares(others, at, &eta);
	return scaling->log_seconds[point] + log(threads) - eta - log(scaling_growth(at, threads));
}

/* The probability that the squares fall so much by chance when the point is left out (mean-shift model: Cook and
 * Weisberg 1982, section 2.2.2). The weights of both fits have a mean of 1: `scale` converts one to the other. */
static double deleted_p(const struct scaling *scaling, enum scaling_law law, const struct scaling_data *all,
                        double squares, size_t point) {
	struct scaling_data rest;
	struct rates at;
	size_t params = scaling_params(law);
	scaling_data_fill(&rest, scaling, point);
	if (rest.distinct <= params || rest.count < params + FREEDOM_LEAST)
		return 1;
	double scale = rest.scale / all->scale, freedom = (double)(rest.count - params);
	double without = scaling_minimum(&rest, law, &at) * scale;
	if (fabs(off_law(scaling, &rest, at, point)) < WILD)
		return 1;
	double t = sqrt(fmax(squares - without, 0) / fmax(without / freedom, EXACT));
	return 2 * gsl_cdf_tdist_Q(t, freedom);
}

/* The TRIED-th largest residual; smaller ones are not tested. */
static double least_tried(const struct scaling *scaling, const struct scaling_data *all, struct rates at) {
	double off[SCALING_POINTS_MAX];
	size_t count = 0;
	for (size_t i = 0; i < scaling->points; i++)
		if (!scaling->outlier[i])
			off[count++] = -fabs(off_law(scaling, all, at, i));
	if (count <= TRIED)
		return 0;
	gsl_sort(off, 1, count);
	return -off[TRIED - 1];
}

/* Finds the most likely outlier; false: there is none. */
static bool worst_find(const struct scaling *scaling, size_t *worst) {
	struct scaling_data all;
	struct rates at;
	scaling_data_fill(&all, scaling, SIZE_MAX);
	enum scaling_law law = law_for(&all);
	double squares = scaling_minimum(&all, law, &at), least = LEVEL / (double)all.count;
	double tried = least_tried(scaling, &all, at);
	bool found = false;
	for (size_t i = 0; i < scaling->points; i++) {
		if (scaling->outlier[i] || fabs(off_law(scaling, &all, at, i)) < tried)
			continue;
		double p = deleted_p(scaling, law, &all, squares, i);
		if (!(p < least))
			continue;
		least = p;
		*worst = i;
		found = true;
	}
	return found;
}

void scaling_outliers_find(struct scaling *scaling) {
	size_t worst, most = (scaling->points + OUTLIERS_SHARE - 1) / OUTLIERS_SHARE;
	while (scaling->outliers < most && worst_find(scaling, &worst)) {
		scaling->outlier[worst] = true;
		scaling->outliers++;
	}
}
