# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/environment.c %D%/command.c \
	%D%/program_impl.h %D%/inputs.c %D%/program_json.c %D%/program.c %D%/program.h \
 %D%/program_json.h %D%/service.c %D%/run.c %D%/program_shell.c %D%/source.c %D%/command.h \
	%D%/program_tree.c %D%/program_trial.c
