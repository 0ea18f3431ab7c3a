/* scores.c -- metrics in sheets. */
#include "scores.h"

#include <math.h>
#include <stdio.h>

const cr_field scores_fold[] = {
    CR_COUNT("rows", 0, "rows of the fold"),
    CR_COUNT("repeat", CR_FIELD_SOMETIMES, "the repeat it belongs to, if there are several"),
    CR_FIELD_LAST,
};

static const double COMMON = 0.8;

void scores_note_class(cli *c, const cr_assessment *a, const char *opt_positive)
{
    bool asked = opt_positive && *opt_positive;
    if (*a->positive && !asked && a->positive_share > COMMON)
        cr_log(c->cx, CR_LOG_WARNING,
               "f1 and average_precision are of the class '%s', %.3g %% of the rows: --positive "
               "with the "
               "name of the rare class says how well that is found",
               a->positive, 100 * a->positive_share);
    if (c->format == FORMAT_TEXT && *a->positive)
        out_text(c, "\nauc, f1 and average_precision are of class %s\n", a->positive);
}

void scores_note(cli *c, const cr_assessment *a, const char *opt_positive)
{
    scores_note_class(c, a, opt_positive);
    if (c->format == FORMAT_TEXT && !isnan(a->quantile))
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
