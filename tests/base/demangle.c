/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of a demangled name that people use. */
#include <string.h>

#include "tests/tap.h"
#include "base/text.h"

static void test_trim(const char *text, const char *want) {
	char name[160];
	demangle_trim(text, name, sizeof name);
	ok(strcmp(name, want) == 0, "%s is %s (%s)", text, want, name);
}

int main(void) {
	char name[160], small[5];
	test_trim("main", "main");
	test_trim("Grid<double>::sum() const", "Grid<double>::sum");
	test_trim("void sweep<std::vector<int> >(std::vector<int>&, int (*)(int))", "sweep<std::vector<int> >");
	test_trim("(anonymous namespace)::Functor::operator()(std::vector<double>&)",
	          "(anonymous namespace)::Functor::operator()");
	test_trim("main::{lambda()#3}::operator()() const", "main::{lambda()#3}::operator()");
	test_trim("void Grid<float>::apply<main::{lambda(float)#2}>(main::{lambda(float)#2})",
	          "Grid<float>::apply<main::{lambda(float)#2}>");
	test_trim("std::pair<int, long> f(int)", "f");
	test_trim("operator new(unsigned long)", "operator new");
	test_trim("bool operator< <int>(A<int> const&, A<int> const&)", "operator< <int>");
	test_trim("std::ostream& operator<< <int>(std::ostream&, A<int>)", "operator<< <int>");
	test_trim("", "");
	test_trim("(", "(");
	test_trim(")))", ")))");
	demangle("__solver_MOD_step", name, sizeof name);
	ok(strcmp(name, "solver::step") == 0, "a procedure of a Fortran module");
	demangle("__MOD_", name, sizeof name);
	ok(strcmp(name, "__MOD_") == 0, "a name that only looks like a Fortran module's stays as it is");
	demangle("_Znonsense", name, sizeof name);
	ok(strcmp(name, "_Znonsense") == 0, "a symbol that cannot be demangled stays");
	demangle("__solver_MOD_step", small, sizeof small);
	ok(strcmp(small, "solv") == 0, "a short buffer is kept to");
	return tap_done();
}
