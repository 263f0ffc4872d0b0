/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results as JUnit XML, which the test pages of GitLab, Jenkins and others read. */
#ifndef SRC_SHOW_JUNIT_H
#define SRC_SHOW_JUNIT_H
#include "base/err.h"

enum junit_result { JUNIT_PASSED, JUNIT_FAILED, JUNIT_SKIPPED };

struct junit;
struct junit *junit_new(const char *suite);
void junit_free(struct junit *junit);
/* seconds: how long the thing under test takes, or NAN. message: the reason of a failure or a skip, else shown as the
 * output of the case; may be "". Texts are copied and made safe for XML. */
void junit_add(struct junit *junit, const char *group, const char *name, double seconds, enum junit_result result,
               const char *message);
int junit_write(const struct junit *junit, const char *path, struct err *err);
#endif
