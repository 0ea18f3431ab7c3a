/* scores.h -- metrics in sheets, for the verbs that judge models. */
#ifndef CREDENCE_CLI_VERBS_SCORES_H
#define CREDENCE_CLI_VERBS_SCORES_H

#include "../cli.h"
#include "study/score_sheet.h"

/* What a fold holds besides its metrics; the means over folds. */
extern const cr_field scores_fold[];
#define SCORES_OF_FOLDS                                                                            \
    CR_OTHER(NUMBERS, "metrics", 0, "the mean of each score over the folds"),                      \
        CR_OTHER(NUMBERS, "se", 0, "standard errors of these means")

/* The class that some scores are of, in text, below them; a warning where it was not asked for and is most of the
 * rows. */
void scores_note_class(cli *c, const cr_assessment *a, const char *opt_positive);
/* The same, and what the scores are errors of, where that is not the middle. */
void scores_note(cli *c, const cr_assessment *a, const char *opt_positive);
/* "10-fold cross-validation", "5 times 10-fold cross-validation". */
const char *scores_title(size_t folds, size_t repeats, char out[64]);

#endif
