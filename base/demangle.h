/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions as their programmers wrote them. */
#ifndef BASE_DEMANGLE_H
#define BASE_DEMANGLE_H
#include <stdbool.h>
#include <stddef.h>

/* C++ by the demangler of libstdc++, where it is installed: "Grid<double>::sum", without the result and the parameters.
 * Fortran's module procedures: "solver::step". Anything else is copied. The demangler needs time and memory without
 * limits for symbols made for that, so those of a program are demangled apart (proc/apart.h). */
void demangle(const char *symbol, char *name, size_t size);
/* False: the symbol would be copied. */
bool demangle_is_needed(const char *symbol);
/* The name within what a demangler prints: "void f<int>(int) const" is f<int>. */
void demangle_trim(const char *text, char *name, size_t size);
#endif
