# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/environment.c %D%/environment.h %D%/build_impl.h %D%/command.c %D%/copied.c %D%/evident.c %D%/evident_impl.h %D%/first_error.c %D%/first_error_impl.h \
	%D%/impl.h %D%/inputs.c %D%/inputs_impl.h %D%/program_json.c %D%/kept.c %D%/kept.h %D%/program.c %D%/program.h %D%/quote.c \
	%D%/recorded.c %D%/recorded.h %D%/service.c %D%/service_impl.h %D%/run.c %D%/run_impl.h %D%/program_shell.c %D%/program_shell_impl.h %D%/source.c %D%/source.h %D%/command.h %D%/program_text.c %D%/program_text_impl.h \
	%D%/program_tree.c %D%/program_tree_impl.h %D%/program_trial.c
