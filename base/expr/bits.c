/* SPDX-License-Identifier: BSD-3-Clause */
/* Bit operators and conversions, with Python's results: whole numbers behave as endless two's complement. */
#include <config.h>

#include <math.h>

#include "base/expr/node.h"

static struct value failed(void) {
	return (struct value){.type = EXPR_FAILED};
}

static struct value shifted_left(int64_t a, int64_t by) {
	int64_t whole;
	if (a == 0)
		return value_int(0);
	if (by < 63 && !__builtin_mul_overflow(a, INT64_C(1) << by, &whole))
		return value_int(whole);
	double real = by < 2000 ? ldexp((double)a, (int)by) : INFINITY;
	return isinf(real) ? failed() : value_real(real);
}

struct value expr_bits(enum expr_op op, struct value a, struct value b) {
	if (a.type != VALUE_INT || b.type != VALUE_INT)
		return failed();
	int64_t x = a.as.i, y = b.as.i;
	switch (op) {
	case EXPR_BIT_AND:
		return value_int(x & y);
	case EXPR_BIT_OR:
		return value_int(x | y);
	case EXPR_BIT_XOR:
		return value_int(x ^ y);
	default:
		break;
	}
	if (y < 0)
		return failed();
	if (op == EXPR_LEFT)
		return shifted_left(x, y);
	return value_int(y > 63 ? -(x < 0) : x >> y);
}

static struct value whole_of(double r) {
	if (!isfinite(r))
		return failed();
	return r >= -0x1p63 && r < 0x1p63 ? value_int((int64_t)r) : value_real(r);
}

struct value expr_convert(enum expr_op op, struct value a) {
	bool whole = a.type == VALUE_INT;
	if (!whole && a.type != VALUE_REAL)
		return failed();
	switch (op) {
	case EXPR_INVERT:
		return whole ? value_int(~a.as.i) : failed();
	case EXPR_FLOAT:
		return whole ? value_real((double)a.as.i) : a;
	case EXPR_ROUND: /* ties to even, like the default rounding of IEEE 754 */
		return whole ? a : whole_of(rint(a.as.r));
	default:
		return whole ? a : whole_of(trunc(a.as.r));
	}
}
