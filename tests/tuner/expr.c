/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions against what Python gives for the same text. */
#include <config.h>

#include "tuner/expr.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/tap.h"

struct row {
	const char *text;
	char type; /* i whole, r real, w word, e fails when evaluated */
	int64_t i;
	double r;
	const char *w;
};

/* Computed with CPython 3.11: a=7 b=-3 c=2.5 z=0 w='tiled' big=2**62 n=4096 lo=-2**63 h=-0.5 */
static const struct row rows[] = {
	/* clang-format off */
	{"1 + 2 * 3", 'i', 7, 0, NULL},
	{"(1 + 2) * 3", 'i', 9, 0, NULL},
	{"a // 2", 'i', 3, 0, NULL},
	{"b // 2", 'i', -2, 0, NULL},
	{"a // b", 'i', -3, 0, NULL},
	{"b // a", 'i', -1, 0, NULL},
	{"a % b", 'i', -2, 0, NULL},
	{"b % a", 'i', 4, 0, NULL},
	{"b % 2", 'i', 1, 0, NULL},
	{"c // 2", 'r', 0, 0x1.0000000000000p+0, NULL},
	{"c % 2", 'r', 0, 0x1.0000000000000p-1, NULL},
	{"-c // 2", 'r', 0, -0x1.0000000000000p+1, NULL},
	{"-c % 2", 'r', 0, 0x1.8000000000000p+0, NULL},
	{"h // 3", 'r', 0, -0x1.0000000000000p+0, NULL},
	{"h % 3", 'r', 0, 0x1.4000000000000p+1, NULL},
	{"7 // -2.0", 'r', 0, -0x1.0000000000000p+2, NULL},
	{"7 % -2.0", 'r', 0, -0x1.0000000000000p+0, NULL},
	{"5.5 % -2", 'r', 0, -0x1.0000000000000p-1, NULL},
	{"a / 2", 'r', 0, 0x1.c000000000000p+1, NULL},
	{"6 / 3", 'r', 0, 0x1.0000000000000p+1, NULL},
	{"2 ** 10", 'i', 1024, 0, NULL},
	{"-2 ** 2", 'i', -4, 0, NULL},
	{"(-2) ** 3", 'i', -8, 0, NULL},
	{"2 ** -1", 'r', 0, 0x1.0000000000000p-1, NULL},
	{"2 ** 3 ** 2", 'i', 512, 0, NULL},
	{"2 ** -2 ** 2", 'r', 0, 0x1.0000000000000p-4, NULL},
	{"0 ** 0", 'i', 1, 0, NULL},
	{"4 ** 0.5", 'r', 0, 0x1.0000000000000p+1, NULL},
	{"2.0 ** 3", 'r', 0, 0x1.0000000000000p+3, NULL},
	{"1 ** 9223372036854775807", 'i', 1, 0, NULL},
	{"(-1) ** 9223372036854775807", 'i', -1, 0, NULL},
	{"3 ** 39", 'i', 4052555153018976267, 0, NULL},
	{"- - a", 'i', 7, 0, NULL},
	{"+a", 'i', 7, 0, NULL},
	{"not a", 'i', 0, 0, NULL},
	{"not z", 'i', 1, 0, NULL},
	{"not not a", 'i', 1, 0, NULL},
	{"a < 10", 'i', 1, 0, NULL},
	{"1 < a < 10", 'i', 1, 0, NULL},
	{"1 < a < 5 < z", 'i', 0, 0, NULL},
	{"1 < a > b <= z == 0", 'i', 1, 0, NULL},
	{"b < z < a < n", 'i', 1, 0, NULL},
	{"1 < z < 1 / z", 'i', 0, 0, NULL},
	{"a == 7.0", 'i', 1, 0, NULL},
	{"a != 7.0", 'i', 0, 0, NULL},
	{"a == 'tiled'", 'i', 0, 0, NULL},
	{"a != 'tiled'", 'i', 1, 0, NULL},
	{"w == 'tiled'", 'i', 1, 0, NULL},
	{"w != \"naive\"", 'i', 1, 0, NULL},
	{"w < 'u'", 'i', 1, 0, NULL},
	{"w in ['naive', 'tiled']", 'i', 1, 0, NULL},
	{"w in ('naive', 'flat')", 'i', 0, 0, NULL},
	{"w not in ['naive', 'tiled']", 'i', 0, 0, NULL},
	{"a in [1, 7, 9]", 'i', 1, 0, NULL},
	{"a in [1, 7.0]", 'i', 1, 0, NULL},
	{"a in []", 'i', 0, 0, NULL},
	{"a not in [1, 2]", 'i', 1, 0, NULL},
	{"a in [1, 'x', 7]", 'i', 1, 0, NULL},
	{"a + 1 in [8]", 'i', 1, 0, NULL},
	{"not a in [7]", 'i', 0, 0, NULL},
	{"a and b", 'i', -3, 0, NULL},
	{"z and b", 'i', 0, 0, NULL},
	{"a or b", 'i', 7, 0, NULL},
	{"z or b", 'i', -3, 0, NULL},
	{"z or w", 'w', 0, 0, "tiled"},
	{"w and a", 'i', 7, 0, NULL},
	{"'' or 5", 'i', 5, 0, NULL},
	{"z and 1 / z", 'i', 0, 0, NULL},
	{"a or 1 / z", 'i', 7, 0, NULL},
	{"z == 0 or a % z == 0", 'i', 1, 0, NULL},
	{"z != 0 and a % z == 0", 'i', 0, 0, NULL},
	{"True", 'i', 1, 0, NULL},
	{"False", 'i', 0, 0, NULL},
	{"True + True", 'i', 2, 0, NULL},
	{"-True", 'i', -1, 0, NULL},
	{"True == 1", 'i', 1, 0, NULL},
	{"min(3, 1, 2)", 'i', 1, 0, NULL},
	{"max(3, 1, 2)", 'i', 3, 0, NULL},
	{"min(2, 1.5)", 'r', 0, 0x1.8000000000000p+0, NULL},
	{"max(a, b, c)", 'i', 7, 0, NULL},
	{"max('a', 'b')", 'w', 0, 0, "b"},
	{"abs(b)", 'i', 3, 0, NULL},
	{"abs(-2.5)", 'r', 0, 0x1.4000000000000p+1, NULL},
	{"min(a, n) * max(b, 2)", 'i', 14, 0, NULL},
	{"big - 1 + big", 'i', 9223372036854775807, 0, NULL},
	{"lo + 0", 'i', INT64_MIN, 0, NULL},
	{"lo // 1", 'i', INT64_MIN, 0, NULL},
	{"lo % -1", 'i', 0, 0, NULL},
	{"9223372036854775807", 'i', 9223372036854775807, 0, NULL},
	{"9223372036854775807 == 9223372036854775806", 'i', 0, 0, NULL},
	{"9007199254740993 == 9007199254740992.0", 'i', 0, 0, NULL},
	{"9007199254740993 > 9007199254740992.0", 'i', 1, 0, NULL},
	{"9223372036854775807 < 9223372036854775808.0", 'i', 1, 0, NULL},
	{"lo == -9223372036854775808.0", 'i', 1, 0, NULL},
	{"1e3", 'r', 0, 0x1.f400000000000p+9, NULL},
	{".5", 'r', 0, 0x1.0000000000000p-1, NULL},
	{"5.", 'r', 0, 0x1.4000000000000p+2, NULL},
	{"1.5e-3", 'r', 0, 0x1.89374bc6a7efap-10, NULL},
	{"n % (a * 2) == 0 and n // 64 <= 64", 'i', 0, 0, NULL},
	{"32 <= a * n <= 1024", 'i', 0, 0, NULL},
	{"(a * 3 + 2 * 2) * (n * 1 + 2 * 2) * (2 + 1) * 4 <= 49152", 'i', 0, 0, NULL},
	{"a*b<=c or not(a<b)and w=='tiled'", 'i', 1, 0, NULL},
	{"not a == 7", 'i', 0, 0, NULL},
	{"not (a == 7)", 'i', 0, 0, NULL},
	{"2 < 3 == True", 'i', 0, 0, NULL},
	{"(2 < 3) == True", 'i', 1, 0, NULL},
	{"a < b or b < a", 'i', 1, 0, NULL},
	{"(a or b) and (z or 3)", 'i', 3, 0, NULL},
	{"a % 2 == 1 and b % 2 == 1", 'i', 1, 0, NULL},
	{"10 - 3 - 2", 'i', 5, 0, NULL},
	{"100 // 7 // 2", 'i', 7, 0, NULL},
	{"100 / 8 / 2", 'r', 0, 0x1.9000000000000p+2, NULL},
	{"2 * 3 % 4", 'i', 2, 0, NULL},
	{"-7 // 2", 'i', -4, 0, NULL},
	{"-7 % 3", 'i', 2, 0, NULL},
	{"7 - -3", 'i', 10, 0, NULL},
	{"7 -3", 'i', 4, 0, NULL},
	{"5 % 3 ** 2", 'i', 5, 0, NULL},
	{"-2 ** -2", 'r', 0, -0x1.0000000000000p-2, NULL},
	{"0.1 + 0.2", 'r', 0, 0x1.3333333333334p-2, NULL},
	{"1e308 * 10 > 1e308", 'i', 1, 0, NULL},
	{"'a' == \"a\"", 'i', 1, 0, NULL},
	{"'it\"s' == 'it\"s'", 'i', 1, 0, NULL},
	{"(((((1)))))", 'i', 1, 0, NULL},
	{"a<b<c", 'i', 0, 0, NULL},
	{"a>b<c", 'i', 1, 0, NULL},
	{"a ==\t7", 'i', 1, 0, NULL},
	{"3 + z + 1 + max(-1, (-1<1))", 'i', 5, 0, NULL},
	{"z", 'i', 0, 0, NULL},
	{"c", 'r', 0, 0x1.4000000000000p+1, NULL},
	{"((-1) in [min(-1, 0.5), True]) * -z", 'i', 0, 0, NULL},
	{"(n==((b<c<=2) or 0.5))", 'i', 0, 0, NULL},
	{"3", 'i', 3, 0, NULL},
	{"(((b in [2, b]) and (0.5<=1!=2)) or (c!=1) / 2)", 'i', 1, 0, NULL},
	{"((not (h>z<c))<(n in [3, -1]) * min(True, 0.5)!=(not -a))", 'i', 0, 0, NULL},
	{"-1 - (b and c) % (-2 ** 2 or 10 * 2)", 'r', 0, 0x1.0000000000000p-1, NULL},
	{"(max(3, True)==(10)) * (True==z) // (1!=z)", 'i', 0, 0, NULL},
	{"(-10 ** 2 / (h and z) or ((2 not in [b, b])>=(c>=h)))", 'e', 0, 0, NULL},
	{"10", 'i', 10, 0, NULL},
	{"(not a - 2 % (0.5 not in [3, a]))", 'i', 0, 0, NULL},
	{"(10)", 'i', 10, 0, NULL},
	{"(not ((z>True)==max(a, h)))", 'i', 1, 0, NULL},
	{"(max(min(3, 2), (True in [2, b])))", 'i', 2, 0, NULL},
	{"(max(a - a, max(True, b)) or min(-True ** 2, (n==z)))", 'i', 1, 0, NULL},
	{"(not 1 + n) + (c) * -b ** 2", 'r', 0, -0x1.6800000000000p+4, NULL},
	{"((not 1)>(10 or 3)) / max(b, True) - n + c", 'r', 0, -0x1.ffb0000000000p+11, NULL},
	{"((3>10<=a)) % True * z + h // n", 'r', 0, -0x1.0000000000000p+0, NULL},
	{"(c - 0.5>(3!=h)) + 10 // (z>=0.5)", 'e', 0, 0, NULL},
	{"-1 ** 2", 'i', -1, 0, NULL},
	{"(((c and 10))>1 // (10<=c<a))", 'e', 0, 0, NULL},
	{"(max((c<b<=0.5), min(b, -1)) and ((3<=10)>(2 and -1)!=max(True, 3)))", 'i', 0, 0, NULL},
	{"((10 in [a, h]) + -0.5 in [3 // 3 + -b ** 2, True])", 'i', 0, 0, NULL},
	{"(-b ** 2)", 'i', -9, 0, NULL},
	{"(((c>10) not in [a / 0.5, z])>max(-3, a * 3)<=(not (b<=n)))", 'i', 0, 0, NULL},
	{"(z / 2) / a", 'r', 0, 0x0.0p+0, NULL},
	{"(((not h)<h / z!=10))", 'e', 0, 0, NULL},
	{"(1 and (not a % c))", 'i', 0, 0, NULL},
	{"(((1 and 0.5) or min(a, 1))<=(3<1<=n) % (0.5)<max(0.5, (True>=2)))", 'i', 0, 0, NULL},
	{"-3", 'i', -3, 0, NULL},
	{"(-1 and 10) / min(h, 2) * (min(z, 0.5) or (a<10<=2))", 'r', 0, -0x0.0p+0, NULL},
	{"1", 'i', 1, 0, NULL},
	{"max(((3!=10)!=-True), c)", 'r', 0, 0x1.4000000000000p+1, NULL},
	{"((0.5)<=n // z<=(3 not in [n, 0.5])) - (10 % a<=(b))", 'e', 0, 0, NULL},
	{"((10 / 1 and n))", 'i', 4096, 0, NULL},
	{"min(((z>n)<-z ** 2), (-1))", 'i', -1, 0, NULL},
	{"(not a)", 'i', 0, 0, NULL},
	{"-h + (0.5 or 0.5) % (-a or 1)", 'r', 0, -0x1.8000000000000p+2, NULL},
	{"((1<2<2)<=-1) % -a ** 2 - (n not in [-1, 10])", 'i', -1, 0, NULL},
	{"((True>(b)<2 / 1) or -True ** 2)", 'i', 1, 0, NULL},
	{"(-True and b % 3) // (not b - 2)", 'e', 0, 0, NULL},
	{"-c ** 2", 'r', 0, -0x1.9000000000000p+2, NULL},
	{"(min((-1<=10<=z), (-1<=1)))", 'i', 0, 0, NULL},
	{"((a + z>=z + -1)==n % b % (a not in [a, n]))", 'e', 0, 0, NULL},
	{"(((n and True) or True / c)!=((n>a<=h)))", 'i', 1, 0, NULL},
	{"((not z) and b / h) / 3 - (not -1)", 'r', 0, 0x1.0000000000000p+1, NULL},
	{"min((b / True<2 * 0.5<=10), (-1<=c) // (not c))", 'e', 0, 0, NULL},
	{"(3!=h) + -0.5 ** 2", 'r', 0, 0x1.8000000000000p-1, NULL},
	{"((not (2 and -1))<=-True ** 2<(not c))", 'i', 0, 0, NULL},
	{"(2 and c)", 'r', 0, 0x1.4000000000000p+1, NULL},
	{"min(3, (b // b))", 'i', 1, 0, NULL},
	{"(h==(2 in [2, n]) // (z and 0.5))", 'e', 0, 0, NULL},
	{"((not (3<h<=-1)))", 'i', 1, 0, NULL},
	{"max((h and True), z) - max(-1, h) % a", 'r', 0, -0x1.6000000000000p+2, NULL},
	{"((not (c or 0.5))<a!=min(n, z) * -a)", 'i', 1, 0, NULL},
	{"-0.5", 'r', 0, -0x1.0000000000000p-1, NULL},
	{"((3 * -1<=max(a, 3)<(True<3))>max(c, b) * -a ** 2<=-0.5 ** 2)", 'i', 1, 0, NULL},
	{"(h) % ((0.5<=3<=z)<z % c!=(h==0.5))", 'e', 0, 0, NULL},
	{"(max(min(1, z), (1>-1<a)))", 'i', 1, 0, NULL},
	{"-1", 'i', -1, 0, NULL},
	{"(c % 10 + -1 or min((not z), True % True))", 'r', 0, 0x1.8000000000000p+0, NULL},
	{"(True % (n and n)<((n in [a, True]) and z % b)!=min(True, a) * -c ** 2)", 'i', 0, 0, NULL},
	{"max((z>=0.5) + min(h, 1), (z) * min(0.5, 2))", 'r', 0, 0x0.0p+0, NULL},
	{"(((3 and 2) not in [-n, 2]) in [((c in [-1, c])<(10<0.5)<True * 1), b])", 'i', 1, 0, NULL},
	{"(not True / 3) % (a in [1, -1]) % (0.5!=z)", 'e', 0, 0, NULL},
	{"((not (1)))", 'i', 0, 0, NULL},
	{"(not ((not a)))", 'i', 1, 0, NULL},
	{"(not (h + 2))", 'i', 0, 0, NULL},
	{"3 - (2 // 2==True)", 'i', 2, 0, NULL},
	{"max(-0.5, (a not in [1, b]) / (h))", 'r', 0, -0x1.0000000000000p-1, NULL},
	{"(not min(1, c)) - (0.5) // 0.5 / n", 'r', 0, -0x1.0000000000000p-12, NULL},
	{"(-z ** 2)", 'i', 0, 0, NULL},
	{"((not -10 ** 2))", 'i', 0, 0, NULL},
	{"(--1)", 'i', 1, 0, NULL},
	{"((-1 * c>(0.5)<n // c) and -c)", 'i', 0, 0, NULL},
	{"min((3 % z not in [min(2, b), n]), min(c, z) / (a in [2, 2]))", 'e', 0, 0, NULL},
	{"(a % (b or c) and (not (0.5 or True)))", 'i', 0, 0, NULL},
	{"((min(n, 2) or (h<True<h))!=(a / 1 in [z / 0.5, 3]))", 'i', 1, 0, NULL},
	{"((b in [0.5, True]) - c in [(c) * (c<=a<=-1), a])", 'i', 0, 0, NULL},
	{"min((not (not a)), ((2) not in [z - 1, 0.5]))", 'i', 1, 0, NULL},
	{"-1 - 10 - (10 and b) * -n", 'i', -12299, 0, NULL},
	{"0.5 % (c<=h<=10) / True + 0.5", 'e', 0, 0, NULL},
	{"(not -True ** 2)", 'i', 0, 0, NULL},
	{"((-1 in [-1, -1])) / ((True)<=(h<=c!=True))", 'r', 0, 0x1.0000000000000p+0, NULL},
	{"(True not in [b, 2]) / (a!=10) - ((not b) not in [(3>3), 3])", 'r', 0, 0x1.0000000000000p+0, NULL},
	{"((-1<=3<2) * (True and -1)<min(z, (-1 in [True, b])))", 'i', 0, 0, NULL},
	{"(c / a + -b ** 2 in [(b not in [c, z]) % h + a, a])", 'i', 0, 0, NULL},
	{"max(c, (-1) // (h))", 'r', 0, 0x1.4000000000000p+1, NULL},
	{"(not -2)", 'i', 0, 0, NULL},
	{"(-z)", 'i', 0, 0, NULL},
	{"(-1>1 + 2 * (0.5>z))", 'i', 0, 0, NULL},
	{"min(1 - n, (c<=h<=b)) - (3) / z * n", 'e', 0, 0, NULL},
	{"(n>=(0.5<3<=2) + max(1, 1))", 'i', 1, 0, NULL},
	{"((z==b) // (c>0.5<z) in [10, 10])", 'e', 0, 0, NULL},
	{"max((-1 ** 2), (h + h))", 'i', -1, 0, NULL},
	{"-b * ((not a) or -a)", 'i', -21, 0, NULL},
	{"b", 'i', -3, 0, NULL},
	{"(10 % a>-10 ** 2<a * 2) // (b<=min(c, 2)!=1 % -1)", 'i', 1, 0, NULL},
	{"(not (h or -1) * min(c, h))", 'i', 0, 0, NULL},
	{"(not min(1, 0.5) + (not True))", 'i', 0, 0, NULL},
	{"0.5", 'r', 0, 0x1.0000000000000p-1, NULL},
	{"((n + 1))", 'i', 4097, 0, NULL},
	{"(-1 // b<=3 - 1!=(10==2)) // ((h>=n)==(h<3<=1))", 'i', 1, 0, NULL},
	{"h", 'r', 0, -0x1.0000000000000p-1, NULL},
	{"(((z<=a<-1) or 2 * b)==(0.5 * z))", 'i', 0, 0, NULL},
	{"(min(-0.5, True // 2)<=((-1<2!=10) not in [(not -1), h])<-n)", 'i', 0, 0, NULL},
	{"(not h * -1) - (n // n==max(3, 1))", 'i', 0, 0, NULL},
	{"(0.5 or min(h, 0.5) // 1 / True)", 'r', 0, 0x1.0000000000000p-1, NULL},
	{"(min((b or b), (3<=3<=z)) in [(-1 in [a, n]) % 1 + 0.5, c])", 'i', 0, 0, NULL},
	{"max(min((not c), min(b, 3)), -True)", 'i', -1, 0, NULL},
	{"(((c<b) and -a))", 'i', 0, 0, NULL},
	{"(not (z in [-1, h]) + --1 ** 2)", 'i', 0, 0, NULL},
	{"-b", 'i', 3, 0, NULL},
	{"(((not 2)<(c>a)))", 'i', 0, 0, NULL},
	{"((3 or (b))<=((not n) or a * z)!=(2 - h<=(not -1)))", 'i', 0, 0, NULL},
	{"-z ** 2", 'i', 0, 0, NULL},
	{"(-h<=(b // 10>=10)!=True - 0.5 + h)", 'i', 0, 0, NULL},
	{"((n<(not 1)<=(c))<=((1) and -1 ** 2)!=n)", 'i', 0, 0, NULL},
	{"(a)", 'i', 7, 0, NULL},
	{"(not (0.5 % -1<max(0.5, h)<True))", 'i', 0, 0, NULL},
	{"((0.5 + h in [(b or 1), -1])<(not h) % (3)<(min(z, 10)==min(0.5, n)))", 'i', 0, 0, NULL},
	{"((c<=2) or (10>=0.5)) * z * b // c // True", 'r', 0, 0x0.0p+0, NULL},
	{"(n<(n>(b<2!=c)))", 'i', 0, 0, NULL},
	{"True / 10", 'r', 0, 0x1.999999999999ap-4, NULL},
	/* clang-format on */
};

static const struct {
	const char *name;
	struct value value;
} names[] = {
	{"a", {VALUE_INT, {.i = 7}}},       {"b", {VALUE_INT, {.i = -3}}},
	{"c", {VALUE_REAL, {.r = 2.5}}},    {"z", {VALUE_INT, {.i = 0}}},
	{"w", {VALUE_WORD, {.w = "tiled"}}}, {"big", {VALUE_INT, {.i = INT64_C(1) << 62}}},
	{"n", {VALUE_INT, {.i = 4096}}},    {"lo", {VALUE_INT, {.i = INT64_MIN}}},
	{"h", {VALUE_REAL, {.r = -0.5}}},
};

enum { NAMES = sizeof names / sizeof *names, ROWS = sizeof rows / sizeof *rows };

static void fill(const struct expr *expr, struct value *values) {
	for (size_t i = 0; i < expr_name_count(expr); i++) {
		values[i] = value_int(1);
		for (size_t j = 0; j < NAMES; j++)
			if (strcmp(expr_name(expr, i), names[j].name) == 0)
				values[i] = names[j].value;
	}
}

/* 1 evaluated, 0 failed, -1 does not parse */
static int eval(const char *text, struct value *out, struct err *err) {
	struct expr *expr = expr_parse(text, err);
	if (!expr)
		return -1;
	struct value *values = mem_alloc(expr_name_count(expr) + 1, sizeof *values);
	fill(expr, values);
	bool done = expr_eval(expr, values, out);
	bool truth = done && (out->type == VALUE_INT    ? out->as.i != 0
	                      : out->type == VALUE_REAL ? out->as.r != 0
	                                                : *out->as.w);
	if (expr_holds(expr, values) != truth)
		ok(false, "'%s' holds where its value is true", text);
	free(values);
	/* A word may point into the expression. */
	if (done && out->type == VALUE_WORD)
		out->as.w = strcmp(out->as.w, "tiled") == 0 ? "tiled" : strcmp(out->as.w, "b") == 0 ? "b" : "?";
	expr_free(expr);
	return done;
}

static bool same_real(double a, double b) {
	return a == b || fabs(a - b) <= 1e-15 * fabs(b);
}

static bool row_agrees(const struct row *row) {
	struct value got;
	struct err err = {0};
	int status = eval(row->text, &got, &err);
	if (status < 0)
		printf("# %s\n", err.what);
	if (row->type == 'e' || status <= 0)
		return row->type == 'e' && status == 0;
	if (row->type == 'w')
		return got.type == VALUE_WORD && strcmp(got.as.w, row->w) == 0;
	if (row->type == 'i')
		return got.type == VALUE_INT && got.as.i == row->i;
	return got.type == VALUE_REAL && same_real(got.as.r, row->r);
}

static void test_rows(void) {
	for (size_t i = 0; i < ROWS; i++)
		if (!ok(row_agrees(&rows[i]), "row %zu gives what Python gives", i))
			printf("# %s\n", rows[i].text);
}

static void test_overflow(void) {
	static const struct {
		const char *text;
		double want;
	} cases[] = {{"big + big", 0x1p63},        {"big * 4", 0x1p64}, {"-lo", 0x1p63},
	             {"abs(lo)", 0x1p63},          {"lo // -1", 0x1p63}, {"lo - 1", -0x1p63},
	             {"2 ** 64", 0x1p64},          {"9223372036854775808", 0x1p63}, {"big * big * big", 0x1p186}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct value got;
		ok(eval(cases[i].text, &got, NULL) == 1 && got.type == VALUE_REAL && got.as.r == cases[i].want,
		   "%s becomes real", cases[i].text);
	}
}

static void test_bad_text(void) {
	static const char *const bad[] = {
		"", " ", "a +", "* a", "(a", "a)", "a b", "a = 1", "1 <", "a in", "a in 7", "a in [1", "a in [1 2]", "'open",
		"\"open'", "a not 3", "f(a)", "abs()", "abs(1, 2)", "min()", "not", "a and", "or a", "1x", "1.2.3", "1e",
		"0x10", "1e999", "a # b", "a $ b", "a; b", "'a\\'", "a in [1] in [2]", "1 < a in [1]", "a <> b", "a === b",
		"[1]", "a ! b", "is", "a if b", "1 + not a", "lambda", "min(1,,2)", "a in [,]", "\xff"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = {0};
		struct expr *expr = expr_parse(bad[i], &err);
		ok(!expr && err.code == ERR_USAGE && err.what[0] && !strchr(err.what, '\n'), "bad text %zu is refused: %s", i,
		   err.what);
		expr_free(expr);
	}
}

static void test_place(void) {
	struct err err = {0};
	ok(!expr_parse("block * 8 <= = n", &err) && strstr(err.what, "column 14"), "the place is told: %s", err.what);
}

static void test_names(void) {
	struct expr *expr = expr_parse("x*y + max(x, _z9) > 'x' and not True in [y]", NULL);
	ok(expr && expr_name_count(expr) == 3, "three distinct names");
	is_text(expr_name(expr, 0), "x", "in order of appearance");
	is_text(expr_name(expr, 2), "_z9", "the last one");
	is_text(expr_source(expr), "x*y + max(x, _z9) > 'x' and not True in [y]", "the source is kept");
	expr_free(expr);
}

static char *repeat(const char *before, const char *middle, const char *after, size_t times) {
	char *text = mem_alloc(times * (strlen(before) + strlen(after)) + strlen(middle) + 1, 1), *at = text;
	for (size_t i = 0; i < times; i++)
		at = stpcpy(at, before);
	at = stpcpy(at, middle);
	for (size_t i = 0; i < times; i++)
		at = stpcpy(at, after);
	return text;
}

/* Deep nesting either parses and runs, or is refused; long flat text within the limit is fine. */
static void test_bombs(void) {
	static const struct {
		const char *before, *middle, *after;
	} shapes[] = {{"(", "1", ")"},     {"-", "1", ""},          {"not ", "1", ""},     {"2**", "1", ""},
	              {"1<(1<", "2", ")"}, {"abs(", "1", ")"},      {"1+2*3**(", "1", ")"}, {"a in [", "7", "]"},
	              {"1 or (2<3<", "1", ")"}, {"min(1,", "2", ")"}, {"a<b<(", "1", "<c)"}};
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		bool deep_refused = false, shallow_fine = false;
		for (size_t times = 1; times < 100000; times *= 10) {
			char *text = repeat(shapes[i].before, shapes[i].middle, shapes[i].after, times);
			struct value out;
			int status = eval(text, &out, NULL);
			shallow_fine |= times == 10 && status >= 0;
			deep_refused = status < 0;
			free(text);
		}
		ok(shallow_fine && deep_refused, "nesting of '%s': 10 levels are fine, 10000 are refused", shapes[i].before);
	}
	char *flat = repeat("1+", "1", "", 4000);
	struct value out;
	ok(eval(flat, &out, NULL) == 1 && out.as.i == 4001, "a long sum is fine");
	free(flat);
}

/* Whatever the text, parsing ends and an error says why. */
static void test_mutations(void) {
	static const char alphabet[] = "ab()[]<>=!+-*/%'\"., 019.exnotrdi_\t\n\x80";
	struct rng rng;
	size_t parsed = 0, refused = 0, silent = 0;
	rng_seed(&rng, 11);
	for (size_t round = 0; round < 40000; round++) {
		char text[256];
		struct value out;
		struct err err = {0};
		snprintf(text, sizeof text, "%s", rows[rng_below(&rng, ROWS)].text);
		size_t size = strlen(text), edits = 1 + rng_below(&rng, 4);
		while (edits-- > 0)
			text[rng_below(&rng, size)] = alphabet[rng_below(&rng, sizeof alphabet - 1)];
		int status = eval(text, &out, &err);
		parsed += status >= 0;
		refused += status < 0;
		silent += status < 0 && (err.code != ERR_USAGE || !err.what[0]);
	}
	ok(parsed > 1000 && refused > 1000 && silent == 0, "mutated text: %zu parsed, %zu refused, none silently", parsed,
	   refused);
}

int main(void) {
	test_rows();
	test_overflow();
	test_bad_text();
	test_place();
	test_names();
	test_bombs();
	test_mutations();
	return tap_done();
}
