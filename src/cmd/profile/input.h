/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles as the verbs of `sweetspot profile` take them: from files, folders and the store, with their standing here.
 */
#ifndef SRC_CMD_PROFILE_INPUT_H
#define SRC_CMD_PROFILE_INPUT_H
#include <jansson.h>

#include "src/app/cmd.h"
#include "tuner/profile/state.h"
#include "tuner/store/store.h"

struct profile_input {
	char *path; /* of the file or of the store */
	bool from_file;
	json_t *profile;
	json_t *hashes; /* of executables that were looked at */
	enum profile_origin origin;
};
struct profile_inputs {
	struct profile_input *items;
	size_t count;
};

/* Files as they are, folders by the .json in them, sorted. Call profile_inputs_free in any case. */
int profile_inputs_files(struct profile_inputs *inputs, struct app *app, const char *const *paths, size_t count,
                         struct err *err);
/* A profile for each machine in the store, this one's first. */
int profile_inputs_store(struct profile_inputs *inputs, struct app *app, const struct opt_args *args, struct err *err);
void profile_inputs_free(struct profile_inputs *inputs);

/* The one to use: of a file (NULL: of the store, this machine's). Of a folder this machine's, or that of another
 * compiler; ERR_NOTHING where there is none. */
int profile_input_open(struct profile_input *input, struct app *app, const struct opt_args *args, const char *path,
                       struct err *err);
void profile_input_close(struct profile_input *input);
/* --kernel, where a plug-in's may be named by its file: leaves out all others. */
int profile_input_pick(struct profile_input *input, struct app *app, const struct opt_args *args, struct err *err);

/* The kernel of an entry as it is here: of --kernel or built in; NULL: not known. */
const struct kernel_desc *profile_kernel(struct app *app, const struct opt_args *args, const json_t *entry);
/* The state of an entry here: profile_entry_state. */
const char *profile_state_here(struct app *app, const struct opt_args *args, const struct profile_input *input,
                               const json_t *entry);
/* "cpu, threads": what makes it another machine; caller frees. */
char *profile_differing(struct app *app, const struct profile_input *input);
/* The recommendations of the store for a machine. New reference. */
json_t *profile_of_store(struct app *app, struct store *store, const char *fingerprint, struct err *err);

#endif
