/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions as their programmers wrote them. */
#ifndef SRC_BASE_DEMANGLE_H
#define SRC_BASE_DEMANGLE_H
#include <stddef.h>

/* C++ by the demangler of libstdc++, where it is installed: "Grid<double>::sum", without the result and the parameters.
 * Fortran's module procedures: "solver::step". Anything else is copied. */
void demangle(const char *symbol, char *name, size_t size);
/* The name within what a demangler prints: "void f<int>(int) const" is f<int>. */
void demangle_trim(const char *text, char *name, size_t size);

#endif
