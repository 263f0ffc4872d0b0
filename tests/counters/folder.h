/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder of tables, made for a test. */
#ifndef TESTS_COUNTERS_FOLDER_H
#define TESTS_COUNTERS_FOLDER_H
#include <stddef.h>

char *folder_new(void);         /* with empty events/ and groups/ in it; NULL without one. folder_free it */
void folder_free(char *folder); /* and removes it */
/* Writes a file of it, such as "events/a.json". */
int folder_put(const char *folder, const char *file, const void *data, size_t size);
/* A little of each kind that is right: events/generic.json, events/cpu.json, groups/g.json. */
extern const char *const folder_right[][2];
enum { FOLDER_RIGHT = 3 };
void folder_put_right(const char *folder);

#endif
