/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inputs of a build command besides the sources. */
#include <config.h>

#include <stdlib.h>

#include "base/json/js.h"
#include "base/sha256.h"
#include "tuner/build/toolchain.h"
#include "tuner/program/build_impl.h"

void program_build_identity(const struct program *program, const json_t *environment, const json_t *config,
                            char hash[SHA256_TEXT]) {
	const struct program_case one = {program, config, "{BUILD}"};
	const char *missing, *source = program_build_source(program);
	char *line = program_fill(&one, program->spec.build, true, &missing), *variables = js_canonical(environment);
	struct sha256 sha;
	sha256_start(&sha);
	toolchain_hash_text(&sha, "1");
	toolchain_hash_text(&sha, source);
	toolchain_hash_text(&sha, program->out_of_tree ? program->here : NULL);
	toolchain_hash_text(&sha, line);
	toolchain_hash_text(&sha, variables);
	toolchain_hash_line(&sha, line ? line : "");
	toolchain_hash_host(&sha);
	sha256_end(&sha, hash);
	free(line);
	free(variables);
}
