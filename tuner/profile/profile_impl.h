/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef TUNER_PROFILE_PROFILE_IMPL_H
#define TUNER_PROFILE_PROFILE_IMPL_H

#include "tuner/store/store.h"

/* A wisdom file of Kernel Launcher as a profile of its GPU, for profile_check; NULL and err if it is wrong. date: when
 * it was written. False for another file. */
bool profile_wisdom_read(const char *text, const char *date, json_t **profile, struct err *err);
#endif
