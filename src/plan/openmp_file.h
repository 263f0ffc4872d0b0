/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads program files and libraries as bytes, without trusting anything in them. */
#ifndef SRC_PLAN_OPENMP_FILE_H
#define SRC_PLAN_OPENMP_FILE_H
#include <stdbool.h>
#include <stddef.h>

enum openmp_file {
	OPENMP_FILE_OTHER,  /* a script, or a damaged or unreadable file */
	OPENMP_FILE_STATIC, /* an ELF program that the system starts itself */
	OPENMP_FILE_DYNAMIC /* an ELF program that a dynamic loader starts */
};
/* interpreter: the dynamic loader that the file asks for; empty if it is not named like one. */
enum openmp_file openmp_file_kind(const char *path, char *interpreter, size_t size);
/* Tells whether the file contains text that begins with `start` and that `wanted` accepts (NULL accepts any). `wanted`
 * gets the letters, digits and _ from `start` on, at most 127. 1 yes, 0 no, -1 if the file is unreadable or too large.
 */
int openmp_file_has(const char *path, const char *start, bool (*wanted)(const char *text));
#endif
