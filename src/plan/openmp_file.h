/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Program files and libraries as bytes; nothing in them is believed. */
#ifndef SRC_PLAN_OPENMP_FILE_H
#define SRC_PLAN_OPENMP_FILE_H
#include <stdbool.h>
#include <stddef.h>

enum openmp_file {
	OPENMP_FILE_OTHER,  /* a script, or damaged, or not readable */
	OPENMP_FILE_STATIC, /* an ELF program that the system starts itself */
	OPENMP_FILE_DYNAMIC /* one that a dynamic loader starts */
};
/* interpreter: the dynamic loader that the file asks for; empty where its name is that of no loader. */
enum openmp_file openmp_file_kind(const char *path, char *interpreter, size_t size);
/* Is there text that begins with `start` and that `wanted` (NULL: any) takes? It is shown letters, digits and _ from
 * `start` on, at most 127. 1 yes, 0 no, -1 for what can't be read or is too large. */
int openmp_file_has(const char *path, const char *start, bool (*wanted)(const char *text));

#endif
