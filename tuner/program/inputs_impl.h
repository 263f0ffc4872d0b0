/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that a build has read from a folder, and those that a run has used of what a build has made. As long as
 * they are the same, the build need not be repeated. The times of last access in a copy of the folder reveal them; if
 * the file system does not keep those, all files count. */
#ifndef TUNER_PROGRAM_INPUTS_IMPL_H
#define TUNER_PROGRAM_INPUTS_IMPL_H
#include <jansson.h>
#include <stdbool.h>

/* Resets the times of last access in a copy. Returns false if the file system does not keep them. */
bool program_inputs_mark(const char *copy);
/* The facts on which a build depends: {"files", "folders", "links"}, or {"all"} where the copy is NULL or not marked.
 * `skip` is left out, as in program_tree_copy. New reference; NULL: a file has changed since this second. */
json_t *program_inputs_seen(const char *source, const char *copy, const char *skip, double since);
/* Is all of this still the same? */
bool program_inputs_hold(const char *source, const char *skip, const json_t *facts);
/* The same without the listings of folders: a file beside the sources, such as a log, may be new, but nothing that was
 * read has changed. */
bool program_inputs_unchanged(const char *source, const char *skip, const json_t *facts);

/* What a build has made in `tree`: the names that its sources lack, or have with another size or time. Resets the times
 * of last access of these files. New reference; NULL: the file system does not keep them. */
json_t *program_made_mark(const char *source, const char *tree);
/* Has any of them been read or executed since? */
bool program_made_used(const char *tree, const json_t *made);
#endif
