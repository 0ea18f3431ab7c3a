/* scores.c -- metrics as JSON and as tables. */
#include "scores.h"

#include <math.h>
#include <stdio.h>

json_t *scores_number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

json_t *scores_cell(double x)
{
    return isinf(x) ? json_string(x > 0 ? "inf" : "-inf") : scores_number(x);
}

json_t *scores_object(const cr_assessment *a)
{
    json_t *object = json_object();
    for (size_t i = 0; i < a->n; i++)
        json_object_set_new(object, a->metrics[i].name, scores_number(a->metrics[i].value));
    return object;
}

json_t *scores_values(const cr_assessment *a, const double *values)
{
    json_t *object = json_object();
    for (size_t i = 0; i < a->n; i++)
        json_object_set_new(object, a->metrics[i].name, scores_number(values[i]));
    return object;
}

json_t *scores_table(const cr_assessment *mean, const double *se)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < mean->n; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "metric", json_string(mean->metrics[i].name));
        json_object_set_new(row, "mean", scores_cell(mean->metrics[i].value));
        json_object_set_new(row, "se", scores_number(se[i]));
        json_array_append_new(rows, row);
    }
    return rows;
}

json_t *scores_folds(const cr_assessment *fold, size_t folds, size_t repeats)
{
    json_t *list = json_array();
    for (size_t f = 0; f < folds * repeats; f++) {
        json_t *one = scores_object(&fold[f]);
        json_object_set_new(one, "rows", json_integer((json_int_t)fold[f].rows));
        if (repeats > 1)
            json_object_set_new(one, "repeat", json_integer((json_int_t)(f / folds + 1)));
        json_array_append_new(list, one);
    }
    return list;
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
