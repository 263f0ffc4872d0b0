/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diagnosis names one thing that holds a kernel back, and says by what it was recognised. One file and one line in
 * local.mk each; names of kernels and of their variants have no place in them: what counts are parameters by the
 * field's names (threads, pad, schedule ..), counters, figures, ceilings and how times change. */
#ifndef TUNER_DIAGNOSIS_DIAGNOSIS_H
#define TUNER_DIAGNOSIS_DIAGNOSIS_H
#include <jansson.h>
#include <stdbool.h>

#include "tuner/study/contrast.h"
#include "tuner/study/study.h"

/* low: it fits, and so may other things; the next experiment decides. medium: one kind of evidence, above the noise.
 * high: kinds of evidence that do not depend on one another, or a clear contrast of many pairs. */
enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };
const char *confidence_word(enum confidence confidence);

struct findings; /* what was found, by all */
struct finding;

struct diagnosis {
	const char *name;    /* "false_sharing" */
	const char *summary; /* what it is, for `list diagnoses` */
	const char *device;  /* "cpu", "cuda", or NULL: both */
	void (*examine)(const struct study *study, struct findings *findings);
	/* Examined even where values do not follow the configurations: that is what it looks for, or it infers nothing. */
	bool always;
};
extern const struct diagnosis *const diagnosis_registry[]; /* ends with NULL */
const struct diagnosis *diagnosis_find(const char *name);

/* One more, of the diagnosis that is being examined. strength: how many times faster it would be without, as far as is
 * known, else 1; findings are shown in this order. The sentence says what holds what back, to a person. */
struct finding *findings_add(struct findings *findings, enum confidence confidence, double strength,
                             const char *sentence, ...) __attribute__((format(printf, 4, 5)));
/* The subject: {"lock":"tas"}; not called for the kernel as a whole. */
void finding_about(struct finding *finding, const struct study *study, size_t column, int level);
enum evidence {
	EVIDENCE_CONTRAST,
	EVIDENCE_SCALING,
	EVIDENCE_COUNTER,
	EVIDENCE_FIGURE,
	EVIDENCE_CEILING,
	EVIDENCE_MACHINE
};
const char *evidence_word(enum evidence kind);
/* value: the number that the text is about, NAN for none; unit may be NULL. */
void finding_evidence(struct finding *finding, enum evidence kind, double value, const char *unit, const char *text,
                      ...) __attribute__((format(printf, 5, 6)));
/* Evidence that is not there, and would decide. */
void finding_missing(struct finding *finding, enum evidence kind, const char *text, ...)
	__attribute__((format(printf, 3, 4)));
/* The experiment that would decide, as arguments of sweetspot: "sweep KERNEL .. --over ..", "compare ..", "machine
 * --ceilings", "run .. --counters ..". Words with blanks are quoted for a shell. */
void finding_next(struct finding *finding, const char *command, ...) __attribute__((format(printf, 2, 3)));

struct findings *findings_new(void);
void findings_free(struct findings *findings);
/* Examines everything that is in the registry and fits the study's device. Nothing is added where the values do not
 * follow the configurations (study_pattern above 1 %). */
void findings_examine(struct findings *findings, const struct study *study);
/* [{"name","sentence","about":{..},"confidence","strength","evidence":[{"kind","text","value"?,"unit"?}],
 * "missing":[{"kind","text"}],"next":"sweetspot .." or null}], the strongest first, each thing that one diagnosis says
 * of one subject once. New reference. */
json_t *findings_json(const struct findings *findings);

/* Words of a row's configuration, "P=V ..", with the problem's: what a command needs to repeat it. Caller frees. */
char *study_words(const struct study *study, size_t row);

#endif
