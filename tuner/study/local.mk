# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/study.h %D%/contrast.h \
	%D%/study_set.c %D%/study_set_store.c %D%/study_set_document.c %D%/study_set_file.c %D%/study_set.h
