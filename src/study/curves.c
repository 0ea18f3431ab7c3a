/* curves.c -- rows in the order of falling scores. */
#include "curves.h"
#include "base/scratch.h"

#include <math.h>
#include <stdlib.h>

typedef struct scored {
    double score, weight;
    bool   hit;
} scored;

static int falling(const void *a, const void *b)
{
    double x = ((const scored *)a)->score, y = ((const scored *)b)->score;
    return x > y ? -1 : x < y;
}

static cr_status allocate(cr_ctx *cx, size_t n, cr_threshold_curve *c)
{
    double **arrays[] = { &c->threshold, &c->false_positive, &c->recall, &c->precision };
    c->n = n;
    for (size_t k = 0; k < 4; k++) {
        *arrays[k] = cr_alloc(cx, n, sizeof(double));
        if (!*arrays[k]) return CR_ENOMEM;
    }
    return CR_OK;
}

void cr_threshold_curve_free(cr_ctx *cx, cr_threshold_curve *c)
{
    double *arrays[] = { c->threshold, c->false_positive, c->recall, c->precision };
    for (size_t k = 0; k < 4; k++) cr_free(cx, arrays[k], c->n, sizeof(double));
    *c = (cr_threshold_curve){ 0 };
}

static size_t count_different(const scored *rows, size_t n)
{
    size_t different = 0;
    for (size_t i = 0; i < n; i++) different += i == 0 || rows[i].score != rows[i - 1].score;
    return different;
}

/* Points 1 .. of the curve, one for each different score. */
static void walk(const scored *rows, size_t n, double positive, double negative,
                 cr_threshold_curve *c)
{
    double hits = 0, misses = 0;
    size_t k = 0;
    c->threshold[0] = INFINITY, c->precision[0] = 1;
    for (size_t i = 0; i < n; i++) {
        *(rows[i].hit ? &hits : &misses) += rows[i].weight;
        if (i + 1 < n && rows[i + 1].score == rows[i].score) continue;
        k++;
        c->threshold[k] = rows[i].score;
        c->recall[k] = hits / positive;
        c->false_positive[k] = misses / negative;
        c->precision[k] = hits + misses > 0 ? hits / (hits + misses) : 1;
        c->auc += (c->false_positive[k] - c->false_positive[k - 1]) *
                  (c->recall[k] + c->recall[k - 1]) / 2;
        c->average_precision += (c->recall[k] - c->recall[k - 1]) * c->precision[k];
    }
}

cr_status cr_threshold_curve_of(cr_ctx *cx, const double *score, size_t stride,
                                const bool *is_class, const double *opt_w, size_t n,
                                cr_threshold_curve *out)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    scored            *rows = cr_scratch_bytes(&s, n, sizeof *rows);
    cr_threshold_curve c = { 0 };
    double             positive = 0, negative = 0;

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        rows[i] = (scored){ score[i * stride], opt_w ? opt_w[i] : 1, is_class[i] };
        if (isnan(rows[i].score))
            CR_TRY(cr_fail(cx, CR_EDATA, "the score of row %zu is not a number", i + 1));
        *(is_class[i] ? &positive : &negative) += rows[i].weight;
    }
    if (!(positive > 0 && negative > 0))
        CR_TRY(
            cr_fail(cx, CR_EDATA,
                    "all rows are of the same kind: a curve needs rows of the class and others"));
    qsort(rows, n, sizeof *rows, falling);
    CR_TRY(allocate(cx, count_different(rows, n) + 1, &c));
    walk(rows, n, positive, negative, &c);
    c.share = positive / (positive + negative);
    *out = c;
    c = (cr_threshold_curve){ 0 };
done:
    cr_threshold_curve_free(cx, &c);
    cr_scratch_end(&s);
    return st;
}
