/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "src/show/columns.h"
#include "src/show/results.h"

static char *range_text(const json_t *range, double *number) {
	double from = js_real_or(range, "from", NAN), to = js_real_or(range, "to", NAN);
	(void)number;
	return from == to ? mem_printf("%.6g", from) : mem_printf("%.6g..%.6g", from, to);
}

static void thresholds_print(struct ui *ui, const json_t *sizes) {
	const struct column columns[] = {COLUMN(js_string_or(sizes, "over", "size"), "", .text = range_text),
	                                 NUMBER("\1maximum loss", "loss", "%.1f %%", 100),
	                                 COLUMN("best configuration", "config", .text = column_config),
	                                 {0}};
	columns_print(ui, columns, json_object_get(sizes, "thresholds"), stdout);
}

enum { PIECES_SHOWN = 3 };

/* Many pieces are summarised by the range of their exponents. */
static void steepness_print(const json_t *pieces, const char *over) {
	double least = INFINITY, most = -INFINITY;
	js_each (piece, pieces) {
		double exponent = js_real_or(piece, "exponent", NAN);
		least = fmin(least, exponent);
		most = fmax(most, exponent);
	}
	printf(" %s^%.2f to %s^%.2f in %zu pieces\n", over, least, over, most, json_array_size(pieces));
}

static void law_print(const json_t *sizes, const json_t *law) {
	const char *over = js_string_or(sizes, "over", "size"), *unit = js_string_or(sizes, "unit", "s");
	const json_t *pieces = json_object_get(law, "pieces");
	size_t count = json_array_size(pieces);
	printf("law of the best configurations (%s):", js_string_or(law, "law", "?"));
	if (count > PIECES_SHOWN) {
		steepness_print(pieces, over);
		return;
	}
	js_each (piece, pieces) {
		double overhead = js_real_or(piece, "overhead", 0);
		printf("%s ", piece_at ? ";" : "");
		if (overhead > 0)
			printf("%.3g + ", overhead);
		printf("%.3g %s^%.2f", js_real_or(piece, "factor", NAN), over, js_real_or(piece, "exponent", NAN));
		if (count > 1)
			printf(" up to %.5g", js_real_or(piece, "to", NAN));
	}
	printf(" %s\n", unit);
}

static void accuracy_print(const json_t *sizes) {
	const json_t *out = json_object_get(sizes, "leave_one_out");
	double error = js_real_or(out, "median_error", NAN), loss = js_real_or(out, "median_loss", NAN);
	if (!isnan(error))
		printf("each size predicted from the others: median error %.1f %%, worst %.1f %%\n", 100 * error,
		       100 * js_real_or(out, "worst_error", NAN));
	if (!isnan(loss))
		printf("configuration that the others recommend: median loss %.1f %%, worst %.1f %% (%lld compared, "
		       "%lld failed)\n",
		       100 * loss, 100 * js_real_or(out, "worst_loss", NAN), (long long)js_int_or(out, "compared", 0),
		       (long long)js_int_or(out, "failed", 0));
}

void results_sizes_print(struct ui *ui, const json_t *sizes) {
	js_each (one, sizes) {
		const json_t *law = js_at(one, "laws.0");
		putchar('\n');
		thresholds_print(ui, one);
		if (law)
			law_print(one, law);
		else
			printf("no law fits: %s\n", js_string_or(one, "refused", "?"));
		accuracy_print(one);
	}
}
