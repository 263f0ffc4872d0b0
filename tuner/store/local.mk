# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/about.c %D%/about.h %D%/busy.c %D%/db.c %D%/db.h %D%/file.c \
	%D%/merge.c %D%/merge.h %D%/merge_impl.h %D%/merge_keys.c %D%/merge_search.c %D%/merge_session.c \
	%D%/merge_trial.c %D%/plan.c %D%/read.c %D%/reals.c %D%/remove.c %D%/remove.h %D%/resume.c %D%/schema.c \
	%D%/share.h %D%/share_export.c %D%/share_facts.c %D%/share_impl.h %D%/share_import.c \
	%D%/store.c %D%/store.h %D%/there.c %D%/trial_store.c %D%/trial_store.h %D%/trials.c %D%/trials_json.c \
	%D%/trials_json.h %D%/write.c
