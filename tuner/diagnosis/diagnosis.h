/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diagnosis names one mechanism that slows a kernel down, with the evidence for it. Each is one file with one line in
 * local.mk. It must not contain names of kernels or of their variants: it recognises parameters by the field's names
 * (threads, pad, schedule ..), counters, figures, ceilings and changes of times. ADR 10 says why. */
#ifndef TUNER_DIAGNOSIS_DIAGNOSIS_H
#define TUNER_DIAGNOSIS_DIAGNOSIS_H

#include "tuner/study/contrast.h"

/* low: it fits, but other mechanisms may fit as well, and the next experiment decides. medium: one kind of evidence,
 * above the noise. high: independent kinds of evidence, or a clear contrast of many pairs. */
enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

struct findings; /* the findings of all diagnoses */
struct finding;

struct diagnosis {
	const char *name;    /* for example "false_sharing" */
	const char *summary; /* for `list diagnoses` */
	const char *device;  /* "cpu", "cuda", or NULL for both */
	void (*examine)(const struct study *study, struct findings *findings);
	/* Examined even if times do not follow the configurations, because the diagnosis looks for just that, or does not
	 * infer anything from times. */
	bool always;
	/* Reads what a GPU counted of winner and baseline: a clear difference of these two is enough. */
	bool counted;
};
extern const struct diagnosis *const diagnosis_registry[]; /* ends with NULL */

/* Adds a finding of the current diagnosis. gain: how many times faster the kernel would be without it, as far as is
 * known, otherwise 1; findings are shown in this order. The sentence tells the user what slows what down. */
struct finding *findings_add(struct findings *findings, enum confidence confidence, double gain, const char *sentence,
                             ...) __attribute__((format(printf, 4, 5)));
/* Sets the subject, for example {"lock":"tas"}; not called if it is the whole kernel. */
void finding_about(struct finding *finding, const struct study *study, size_t column, int level);
enum evidence {
	EVIDENCE_CONTRAST,
	EVIDENCE_SCALING,
	EVIDENCE_COUNTER,
	EVIDENCE_FIGURE,
	EVIDENCE_CEILING,
	EVIDENCE_MACHINE
};
/* value: the number in the text, NAN for none; unit may be NULL. */
void finding_evidence(struct finding *finding, enum evidence kind, double value, const char *unit, const char *text,
                      ...) __attribute__((format(printf, 5, 6)));
/* The same for a number that may be unknown: then what is missing is named, or nothing if that is NULL. */
void finding_known(struct finding *finding, enum evidence kind, double value, const char *unit, const char *missing,
                   const char *text, ...) __attribute__((format(printf, 6, 7)));
/* Names evidence that is missing and would decide. */
void finding_missing(struct finding *finding, enum evidence kind, const char *text, ...)
	__attribute__((format(printf, 3, 4)));
/* Sets the experiment that would decide, as arguments of sweetspot: "sweep KERNEL .. --over ..", "compare ..", "machine
 * --ceilings", "run .. --counters ..". Words with blanks are quoted for a shell. */
void finding_next(struct finding *finding, const char *command, ...) __attribute__((format(printf, 2, 3)));

size_t findings_count(const struct findings *findings);
struct findings *findings_new(void);
void findings_free(struct findings *findings);
/* Examines every diagnosis of the registry that fits the study's device. Adds nothing if the times do not follow the
 * configurations (study_pattern above 1 %). */
void findings_examine(struct findings *findings, const struct study *study);
/* Examines those of another registry, in its order: none is left out because of the pattern of the times, and nothing
 * is dropped or sorted. */
void findings_each(struct findings *findings, const struct study *study, const struct diagnosis *const *registry);
/* [{"name","sentence","about":{..},"confidence","strength","at_most","evidence":[{"kind","text","value"?,"unit"?}],
 * "missing":[{"kind","text"}],"next":"sweetspot .." or null}], the strongest first; each diagnosis names a subject only
 * once. New reference. */
json_t *findings_json(const struct findings *findings);

/* Marks the rows whose times are impossible, so that they are never recommended (study_doubt). */
void impossible_times_doubt(struct study *study);

/* The configuration of a row as words, "P=V ..", and its problem, as a command needs them to repeat it. The caller
 * frees them. */
char *study_words(const struct study *study, size_t row);
#endif
