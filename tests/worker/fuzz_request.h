/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker with one kernel that takes anything, and requests to it. */
#ifndef TESTS_WORKER_FUZZ_REQUEST_H
#define TESTS_WORKER_FUZZ_REQUEST_H
#include <stddef.h>

enum fuzz_kind { FUZZ_UNDOCUMENTED, FUZZ_ERROR, FUZZ_TRIAL, FUZZ_OTHER };

/* Sends the line and judges the answer; prints both where that is not documented. */
enum fuzz_kind fuzz_request(const char *line, size_t size);
#endif
