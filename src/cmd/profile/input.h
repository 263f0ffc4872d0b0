/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles from files, folders and the store, and how they relate to this machine, for the verbs of `sweetspot
 * profile`. */
#ifndef SRC_CMD_PROFILE_INPUT_H
#define SRC_CMD_PROFILE_INPUT_H

#include "src/app/cmd.h"
#include "tuner/profile/profile.h"

struct profile_input {
	char *path; /* the path of the file or of the store */
	bool from_file;
	json_t *profile;
	json_t *hashes; /* hashes of executables, so that each is read only once */
	enum profile_origin origin;
};
struct profile_inputs {
	struct profile_input *items;
	size_t count;
};

/* Reads the files, and the .json files of folders in sorted order. Call profile_inputs_free even after a failure. */
int profile_inputs_files(struct profile_inputs *inputs, struct app *app, const char *const *paths, size_t count,
                         struct err *err);
void profile_inputs_free(struct profile_inputs *inputs);

/* Opens one profile: the file or, if path is NULL, that of this machine in the store. From a folder it takes the
 * profile of this machine, or of this machine with another compiler; ERR_NOTHING if there is neither. */
int profile_input_open(struct profile_input *input, struct app *app, const struct opt_args *args, const char *path,
                       struct err *err);
void profile_input_close(struct profile_input *input);
/* The profile of this machine in the store; *path (if not NULL) is that of the store. */
json_t *profile_input_store(struct app *app, const struct opt_args *args, char **path, struct err *err);
/* Keeps only the entries of --kernel, where a kernel of a plug-in may be given by its file. */
int profile_input_pick(struct profile_input *input, struct app *app, const struct opt_args *args, struct err *err);

/* Returns the state of an entry on this machine, see profile_entry_state. */
const char *profile_state_here(struct app *app, const struct opt_args *args, const struct profile_input *input,
                               const json_t *entry);
/* Lists what makes it another machine, for example "cpu, threads"; the caller frees it. */
char *profile_differing(struct app *app, const struct profile_input *input);

/* Parts of entries as text for people. */

/* The caller frees the results. The kernel is followed by an objective other than time and a device other than the CPU:
 * "fw (energy)". */
char *profile_text_kernel(const json_t *entry);
char *profile_text_problem(const json_t *entry);
char *profile_text_clean(const char *text); /* a copy without control characters */
/* Copies the members that identify an entry: kernel, problem, objective, device. New reference. */
json_t *profile_text_head(const json_t *entry);
#endif
