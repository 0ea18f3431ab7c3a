/* scores.h -- metrics in sheets, for the verbs that judge models. */
#ifndef CREDENCE_CLI_VERBS_SCORES_H
#define CREDENCE_CLI_VERBS_SCORES_H

#include "../cli.h"
#include "study/cross_validate.h"

/* What a fold holds besides its metrics; the means over folds. */
extern const cr_field scores_fold[];
#define SCORES_OF_FOLDS                                                                            \
    CR_OTHER(NUMBERS, "metrics", 0, "the mean of each score over the folds"),                      \
        CR_OTHER(NUMBERS, "se", 0, "standard errors of these means")

/* An object of each metric by its name; of numbers in the order of the metrics. */
void scores_put(cri_sheet *s, const char *name, const cr_assessment *a);
void scores_put_values(cri_sheet *s, const char *name, const cr_assessment *a,
                       const double *values);
/* "metrics" and "se". */
void scores_put_means(cri_sheet *s, const cr_assessment *mean, const double *se);
/* The list "folds": each fold's metrics with its number of rows, and the repeat where there are several. */
void scores_put_folds(cri_sheet *s, const cr_assessment *fold, size_t folds, size_t repeats);
/* In text, below the scores: what they are errors of, where that is not the middle. */
void scores_note(cli *c, const cr_assessment *a);
/* "10-fold cross-validation", "5 times 10-fold cross-validation". */
const char *scores_title(size_t folds, size_t repeats, char out[64]);

#endif
