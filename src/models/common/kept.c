/* kept.c -- rows of weight above 0, copied. */
#include "kept.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

void cri_kept_free(cr_ctx *cx, cri_kept *k)
{
    cr_free(cx, k->X, k->n, k->p * sizeof(double));
    cr_free(cx, k->y, k->n, sizeof(double));
    cr_free(cx, k->w, k->n, sizeof(double));
    *k = (cri_kept){ 0 };
}

/* A model that takes gaps still needs something else. */
static cr_status check_some_known(cr_ctx *cx, const char *model, const cri_kept *k)
{
    for (size_t i = 0; i < k->n * k->p; i++)
        if (!isnan(k->X[i])) return CR_OK;
    return cr_fail(cx, CR_EDATA, "all feature values are missing: %s has nothing to learn from",
                   model);
}

static cr_status fill(cr_ctx *cx, const cri_rows *rows, cri_kept *k)
{
    cr_status st = CR_OK;
    size_t    p = k->p, at = 0;
    if (k->n == rows->n) CR_TRY(cri_rows_matrix(cx, rows, k->X));
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        if (!(w > 0)) continue;
        if (k->n != rows->n) cri_rows_fill(rows, i, i + 1, k->X + at * p, p);
        k->y[at] = rows->y[i];
        k->w[at++] = w;
        k->weight += w;
    }
done:
    return st;
}

cr_status cri_kept_new(cr_ctx *cx, const char *model, const cri_rows *rows, cri_kept *out)
{
    cr_status st = CR_OK;
    cri_kept  k = { .p = rows->p, .whole = rows->whole };
    for (size_t i = 0; i < rows->n; i++) k.n += !rows->w || rows->w[i] > 0;
    if (k.p == 0)
        return cr_fail(cx, CR_EDATA, "%s needs at least one feature, but there is none", model);
    if (k.n == 0)
        return cr_fail(cx, CR_EDATA, "no row has a positive weight: %s has nothing to learn from",
                       model);
    k.X = cr_alloc(cx, k.n, k.p * sizeof(double));
    k.y = cr_alloc(cx, k.n, sizeof(double));
    k.w = cr_alloc(cx, k.n, sizeof(double));
    if (!k.X || !k.y || !k.w) CR_TRY(CR_ENOMEM);
    CR_TRY(fill(cx, rows, &k));
    CR_TRY(check_some_known(cx, model, &k));
    *out = k;
    k = (cri_kept){ 0 };
done:
    cri_kept_free(cx, &k);
    return st;
}

cr_status cri_word_or_number(cr_ctx *cx, const char *option, const char *text,
                             const char *const *words, const char *what, int *out_word, double *out)
{
    double x = NAN;
    size_t length = strlen(text);
    for (int i = 0; words[i]; i++)
        if (strcmp(text, words[i]) == 0) return *out_word = i, CR_OK;
    if (cri_parse_double(text, text + length, &x) != length || !isfinite(x))
        return cr_fail(cx, CR_EARG, "--%s: '%s' is not %s", option, text, what);
    *out_word = -1;
    *out = x;
    return CR_OK;
}
