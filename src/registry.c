/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/cmd.h"

#define COMMAND(name) extern const struct cmd cmd_##name;
#include "src/registry.def"
#undef COMMAND

#define COMMAND(name) &cmd_##name,
const struct cmd *const cmd_registry[] = {
#include "src/registry.def"
	NULL};
#undef COMMAND
