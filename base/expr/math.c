/* SPDX-License-Identifier: BSD-3-Clause */
/* The operators on values, with Python's results. Whole numbers stay whole until they overflow, then become real. */
#include <math.h>

#include "base/expr/node.h"

static struct value failed(void) {
	return (struct value){.type = EXPR_FAILED};
}

/* Bit operators and conversions, with Python's results: whole numbers behave as endless two's complement. */
static struct value shifted_left(int64_t a, int64_t by) {
	int64_t whole;
	if (a == 0)
		return value_int(0);
	if (by < 63 && !__builtin_mul_overflow(a, INT64_C(1) << by, &whole))
		return value_int(whole);
	double real = by < 2000 ? ldexp((double)a, (int)by) : INFINITY;
	return isinf(real) ? failed() : value_real(real);
}

static struct value expr_bits(enum expr_op op, struct value a, struct value b) {
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

static struct value expr_convert(enum expr_op op, struct value a) {
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

static bool is_number(struct value v) {
	return v.type == VALUE_INT || v.type == VALUE_REAL;
}

static double real_of(struct value v) {
	return v.type == VALUE_INT ? (double)v.as.i : v.as.r;
}

static struct value real_or_failed(double r) {
	return isnan(r) ? failed() : value_real(r);
}

bool expr_true(struct value v) {
	switch (v.type) {
	case VALUE_INT:
		return v.as.i != 0;
	case VALUE_REAL:
		return v.as.r != 0;
	case VALUE_WORD:
		return v.as.w[0] != 0;
	}
	return false;
}

/* Exact also beyond 2^53, where a conversion to double would round. */
static int compare_whole_real(int64_t i, double r) {
	if (r >= 0x1p63)
		return -1;
	if (r < -0x1p63)
		return 1;
	int64_t whole = (int64_t)r;
	if (i != whole)
		return i < whole ? -1 : 1;
	double rest = r - (double)whole;
	return rest > 0 ? -1 : rest < 0;
}

/* False if the two cannot be ordered. */
static bool compare(struct value a, struct value b, int *order) {
	if (a.type == VALUE_WORD && b.type == VALUE_WORD)
		*order = strcmp(a.as.w, b.as.w);
	else if (!is_number(a) || !is_number(b))
		return false;
	else if (a.type == VALUE_INT && b.type == VALUE_INT)
		*order = (a.as.i > b.as.i) - (a.as.i < b.as.i);
	else if (a.type == VALUE_INT)
		*order = compare_whole_real(a.as.i, b.as.r);
	else if (b.type == VALUE_INT)
		*order = -compare_whole_real(b.as.i, a.as.r);
	else
		*order = (a.as.r > b.as.r) - (a.as.r < b.as.r);
	return true;
}

static struct value relate(enum expr_op op, struct value a, struct value b) {
	int order;
	if (!compare(a, b, &order))
		return op == EXPR_EQ ? value_int(0) : op == EXPR_NE ? value_int(1) : failed();
	switch (op) {
	case EXPR_LT:
		return value_int(order < 0);
	case EXPR_LE:
		return value_int(order <= 0);
	case EXPR_GT:
		return value_int(order > 0);
	case EXPR_GE:
		return value_int(order >= 0);
	case EXPR_EQ:
		return value_int(order == 0);
	default:
		return value_int(order != 0);
	}
}

/* Rounds to minus infinity; the caller has excluded b == 0 and the one quotient that overflows. */
static int64_t divide_whole(enum expr_op op, int64_t a, int64_t b) {
	int64_t rest = a % b;
	bool down = rest != 0 && (a < 0) != (b < 0);
	if (op == EXPR_MOD)
		return down ? rest + b : rest;
	return a / b - down;
}

/* Follows float_divmod() of CPython's Objects/floatobject.c. */
static void divmod_real(double a, double b, double *quotient, double *rest) {
	double mod = fmod(a, b), div = (a - mod) / b;
	if (mod == 0) {
		mod = copysign(0, b);
	} else if ((b < 0) != (mod < 0)) {
		mod += b;
		div -= 1;
	}
	double down = floor(div);
	*quotient = div == 0 ? copysign(0, a / b) : down + (div - down > 0.5);
	*rest = mod;
}

static struct value divide(enum expr_op op, struct value a, struct value b) {
	double quotient, rest;
	if (real_of(b) == 0)
		return failed();
	if (op == EXPR_DIV)
		return real_or_failed(real_of(a) / real_of(b));
	if (a.type == VALUE_INT && b.type == VALUE_INT) {
		if (b.as.i == -1)
			return op == EXPR_MOD ? value_int(0) : expr_unary(EXPR_NEG, a);
		return value_int(divide_whole(op, a.as.i, b.as.i));
	}
	divmod_real(real_of(a), real_of(b), &quotient, &rest);
	return real_or_failed(op == EXPR_MOD ? rest : quotient);
}

/* Exponentiation by squaring; false on overflow. The exponent is not negative. */
static bool power_whole(int64_t base, int64_t exponent, int64_t *out) {
	int64_t result = 1;
	for (;;) {
		if ((exponent & 1) && __builtin_mul_overflow(result, base, &result))
			return false;
		exponent >>= 1;
		if (exponent == 0)
			break;
		if (__builtin_mul_overflow(base, base, &base))
			return false;
	}
	*out = result;
	return true;
}

static struct value power(struct value a, struct value b) {
	int64_t whole;
	bool both_whole = a.type == VALUE_INT && b.type == VALUE_INT;
	double x = real_of(a), y = real_of(b);
	if (both_whole && b.as.i >= 0)
		return power_whole(a.as.i, b.as.i, &whole) ? value_int(whole) : real_or_failed(pow(x, y));
	if (x == 0 && y < 0)
		return failed();
	double r = pow(x, y);
	return isinf(r) && isfinite(x) && isfinite(y) ? failed() : real_or_failed(r);
}

static struct value arithmetic(enum expr_op op, struct value a, struct value b) {
	bool whole = a.type == VALUE_INT && b.type == VALUE_INT;
	int64_t i;
	if (!is_number(a) || !is_number(b))
		return failed();
	switch (op) {
	case EXPR_ADD:
		return whole && !__builtin_add_overflow(a.as.i, b.as.i, &i) ? value_int(i)
		                                                            : real_or_failed(real_of(a) + real_of(b));
	case EXPR_SUB:
		return whole && !__builtin_sub_overflow(a.as.i, b.as.i, &i) ? value_int(i)
		                                                            : real_or_failed(real_of(a) - real_of(b));
	case EXPR_MUL:
		return whole && !__builtin_mul_overflow(a.as.i, b.as.i, &i) ? value_int(i)
		                                                            : real_or_failed(real_of(a) * real_of(b));
	case EXPR_POW:
		return power(a, b);
	case EXPR_BIT_AND:
	case EXPR_BIT_OR:
	case EXPR_BIT_XOR:
	case EXPR_LEFT:
	case EXPR_RIGHT:
		return expr_bits(op, a, b);
	default:
		return divide(op, a, b);
	}
}

struct value expr_unary(enum expr_op op, struct value a) {
	if (a.type == EXPR_FAILED)
		return a;
	if (op == EXPR_NOT)
		return value_int(!expr_true(a));
	if (op >= EXPR_INVERT && op <= EXPR_ROUND)
		return expr_convert(op, a);
	if (!is_number(a))
		return failed();
	bool negate = op == EXPR_NEG || (op == EXPR_ABS && (a.type == VALUE_INT ? a.as.i < 0 : signbit(a.as.r)));
	if (!negate)
		return a;
	if (a.type == VALUE_REAL || a.as.i == INT64_MIN)
		return value_real(-real_of(a));
	return value_int(-a.as.i);
}

struct value expr_binary(enum expr_op op, struct value a, struct value b) {
	int order;
	if (a.type == EXPR_FAILED || b.type == EXPR_FAILED)
		return failed();
	if (op >= EXPR_LT && op <= EXPR_NE)
		return relate(op, a, b);
	if (op != EXPR_MIN && op != EXPR_MAX)
		return arithmetic(op, a, b);
	if (!compare(a, b, &order))
		return failed();
	return (op == EXPR_MIN ? order > 0 : order < 0) ? b : a;
}
