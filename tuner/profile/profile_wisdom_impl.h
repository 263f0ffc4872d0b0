/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TUNER_PROFILE_PROFILE_WISDOM_IMPL_H
#define TUNER_PROFILE_PROFILE_WISDOM_IMPL_H
#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* A wisdom file of Kernel Launcher? */
bool profile_is_wisdom(const char *text);
/* As a profile of its GPU, for profile_check; date: when it was written. NULL and err. */
json_t *profile_wisdom_read(const char *text, const char *date, struct err *err);
#endif
