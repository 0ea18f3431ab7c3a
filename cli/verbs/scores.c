/* scores.c -- metrics in sheets. */
#include "scores.h"

#include <math.h>
#include <stdio.h>

const cr_field scores_fold[] = {
    CR_COUNT("rows", 0, "rows of the fold"),
    CR_COUNT("repeat", CR_FIELD_SOMETIMES, "the repeat it belongs to, if there are several"),
    CR_FIELD_LAST,
};

void scores_note(cli *c, const cr_assessment *a)
{
    if (!isnan(a->quantile))
        out_text(c,
                 "\npredictions are the %g quantile: rmse, mae and r2 measure its distance from "
                 "the target, not that of the mean\n",
                 a->quantile);
}

const char *scores_title(size_t folds, size_t repeats, char out[64])
{
    if (repeats > 1)
        snprintf(out, 64, "%zu times %zu-fold cross-validation", repeats, folds);
    else
        snprintf(out, 64, "%zu-fold cross-validation", folds);
    return out;
}
