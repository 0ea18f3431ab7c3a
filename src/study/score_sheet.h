/* score_sheet.h -- what studies found, in sheets: the text, CSV and JSON of the command line and the reports
 * (report.h) are made of them.  (Internal header.) */
#ifndef CREDENCE_STUDY_SCORE_SHEET_H
#define CREDENCE_STUDY_SCORE_SHEET_H

#include "base/sheet.h"
#include "compare_models.h"
#include "tune.h"

/* An object of each metric by its name; of numbers in the order of the metrics. */
void cri_scores_put(cri_sheet *s, const char *name, const cr_assessment *a);
void cri_scores_put_values(cri_sheet *s, const char *name, const cr_assessment *a,
                           const double *values);
/* "metrics" and "se". */
void cri_scores_put_means(cri_sheet *s, const cr_assessment *mean, const double *se);

/* "metrics", "se", "quantile" where they are of one, and "folds". */
void cri_put_cv(const cr_cv *cv, cri_sheet *root);
/* All of a comparison; `names` [n] is what the models are called. */
void cri_put_comparison(const cr_comparison *x, const char *const *names, cri_sheet *root);
/* All of a tuning but the name of the model; the search and the rule are those of its options. */
void cri_put_tuning(const cr_tuning *t, int search, int rule, cri_sheet *root);
/* What a candidate tried: the value of each setting by its name. */
void cri_put_candidate_settings(const cr_tuning *t, const cr_candidate *k, cri_sheet *to);

#endif
