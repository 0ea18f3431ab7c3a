/* scores.c -- metrics in sheets. */
#include "scores.h"

#include <math.h>
#include <stdio.h>

const cr_field scores_fold[] = {
    CR_COUNT("rows", 0, "rows of the fold"),
    CR_COUNT("repeat", CR_FIELD_SOMETIMES, "which repeat it belongs to, where there are several"),
    CR_FIELD_LAST,
};

static void put_metrics(cri_sheet *object, const cr_assessment *a)
{
    for (size_t i = 0; i < a->n; i++) cri_put_real(object, a->metrics[i].name, a->metrics[i].value);
}

void scores_put(cri_sheet *s, const char *name, const cr_assessment *a)
{
    put_metrics(cri_put_object(s, name), a);
}

void scores_put_values(cri_sheet *s, const char *name, const cr_assessment *a, const double *values)
{
    cri_sheet *object = cri_put_object(s, name);
    for (size_t i = 0; i < a->n; i++) cri_put_real(object, a->metrics[i].name, values[i]);
}

void scores_put_means(cri_sheet *s, const cr_assessment *mean, const double *se)
{
    scores_put(s, "metrics", mean);
    scores_put_values(s, "se", mean, se);
}

void scores_put_folds(cri_sheet *s, const cr_assessment *fold, size_t folds, size_t repeats)
{
    cri_sheet *list = cri_put_list(s, "folds");
    for (size_t f = 0; f < folds * repeats; f++) {
        cri_sheet *one = cri_put_object(list, NULL);
        put_metrics(one, &fold[f]);
        cri_put_count(one, "rows", fold[f].rows);
        if (repeats > 1) cri_put_count(one, "repeat", f / folds + 1);
    }
}

void scores_note(cli *c, const cr_assessment *a)
{
    if (!isnan(a->quantile))
        out_text(c,
                 "\nthe predictions are the %g quantile: rmse, mae and r2 are its distance from "
                 "the target, "
                 "not that of the mean\n",
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
