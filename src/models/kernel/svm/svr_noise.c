/* svr_noise.c -- how far targets lie from the function, by rows that it had not seen.
 * The support vectors of a fit lie on its tube or outside it by construction, so that its own residuals say little of the
 * noise.  Instead the rows are dealt to folds, each is foretold by a fit to the others, and the residuals e are taken for
 *   laplace   density exp(-|e| / s) / (2 s),  s = mean |e|         gaussian   s = root of the mean of e^2,
 * of which auto takes the likelier.  Lin & Weng (2004), "Simple probabilistic predictions for support vector
 * regression". */
#include "svr.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- folds ----------------------------------------------------------------------------------- */

typedef struct ranked {
    const cri_svr_sample *sample;
    size_t                row;
} ranked;

/* Targets, then numbers, then categories. */
static int compare_rows(const cri_svr_sample *s, size_t a, size_t b)
{
    size_t d = s->rows.numbers.cols, c = s->rows.categories;
    if (s->y[a] != s->y[b]) return s->y[a] < s->y[b] ? -1 : 1;
    for (size_t j = 0; j < d; j++) {
        double x = s->rows.numbers.a[a * s->rows.numbers.stride + j];
        double y = s->rows.numbers.a[b * s->rows.numbers.stride + j];
        if (x != y) return x < y ? -1 : 1;
    }
    for (size_t j = 0; j < c; j++) {
        uint32_t x = s->rows.codes[a * c + j], y = s->rows.codes[b * c + j];
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    int           order = compare_rows(x->sample, x->row, y->row);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

cr_status cri_svr_order(cr_ctx *cx, const cri_svr_sample *sample, size_t *order)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = sample->n;
    ranked    *r = cr_scratch_bytes(&s, n, sizeof *r);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) r[i] = (ranked){ sample, i };
    qsort(r, n, sizeof *r, compare_ranked);
    for (size_t i = 0; i < n; i++) order[i] = r[i].row;
done:
    cr_scratch_end(&s);
    return st;
}

/* fold [n]: the different rows in an order of their own, dealt in a random one; how many folds have rows. */
static cr_status deal(cr_ctx *cx, const cri_svr_sample *sample, size_t folds, uint64_t seed,
                      size_t *fold, size_t *out_folds)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = sample->n, different = 0, *place = cr_scratch_index(&s, n);
    size_t    *order = cr_scratch_index(&s, n);
    cr_rng     rng = cr_rng_stream(seed, 1);
    CR_TRY(s.status);
    CR_TRY(cri_svr_order(cx, sample, order));
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && compare_rows(sample, order[i - 1], order[i]) != 0) different++;
        fold[order[i]] = different;
    }
    different += n > 0;
    cr_rng_permutation(&rng, different, place);
    if (folds > different) folds = different;
    for (size_t i = 0; i < n; i++) fold[i] = place[fold[i]] % folds;
    *out_folds = folds;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- residuals ------------------------------------------------------------------------------- */

/* The residuals of the rows of a fold, foretold by a fit to the others, into e; *out_late where the time was over. */
static cr_status leave_out(cr_ctx *cx, const cri_svr_sample *sample, const cri_svr_tube *tube,
                           const size_t *fold, size_t which, double *e, bool *out_late)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      n = sample->n, k = 0, h = 0, needed = 0;
    size_t     *kept = cr_scratch_index(&s, n), *held = cr_scratch_index(&s, n);
    double     *y = cr_scratch_f64(&s, n), *w = cr_scratch_f64(&s, n), *f = cr_scratch_f64(&s, n);
    cri_svr_fit fit = { .beta = cr_scratch_f64(&s, n), .value = cr_scratch_f64(&s, n) };
    cri_svr_sample  some = { .kernel = sample->kernel, .y = y, .weight = w };
    cr_kernel_input queries, support;

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        if (fold[i] == which) {
            held[h++] = i;
            continue;
        }
        y[k] = sample->y[i], w[k] = sample->weight[i];
        kept[k++] = i;
    }
    some.n = k;
    CR_TRY(cri_svm_pick(&s, &sample->rows, kept, k, &some.rows));
    CR_TRY(cri_svm_pick(&s, &sample->rows, held, h, &queries));
    CR_TRY(cri_svr_train(cx, &some, tube, &fit));
    *out_late = fit.from.late;
    for (size_t i = 0; i < k; i++) /* the others add nothing */
        if (fit.beta[i] != 0) kept[needed] = kept[i], fit.beta[needed++] = fit.beta[i];
    CR_TRY(cri_svm_pick(&s, &sample->rows, kept, needed, &support));
    CR_TRY(cri_svm_values(cx, sample->kernel, &support, fit.beta, 1, &queries, f));
    for (size_t i = 0; i < h; i++) e[held[i]] = sample->y[held[i]] - f[i] - fit.b;
done:
    cr_scratch_end(&s);
    return st;
}

/* Kind and scale from residuals; where all are 0 there is no spread to speak of. */
static void judge(const cri_svr_sample *sample, const double *e, cri_svr_spread *out)
{
    double weight = 0, size = 0, square = 0;
    for (size_t i = 0; i < sample->n; i++) {
        weight += sample->weight[i];
        size += sample->weight[i] * fabs(e[i]);
        square += sample->weight[i] * e[i] * e[i];
    }
    size /= weight;
    out->rmse = sqrt(square / weight);
    if (out->kind == CRI_SVR_AUTO) /* -log of the likelihood of a row, but for what both have */
        out->kind = log(2 * size) + 1 <= log(out->rmse) + 0.5 * log(2 * acos(-1)) + 0.5
                        ? CRI_SVR_LAPLACE
                        : CRI_SVR_GAUSSIAN;
    out->scale = out->kind == CRI_SVR_LAPLACE ? size : out->rmse;
    if (!(out->scale > 0)) out->scale = NAN;
}

cr_status cri_svr_measure(cr_ctx *cx, const cri_svr_sample *sample, const cri_svr_tube *tube,
                          cri_svr_noise kind, size_t folds, uint64_t seed, const double *fallback,
                          cri_svr_spread *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = sample->n, *fold = cr_scratch_index(&s, n);
    double    *e = cr_scratch_f64(&s, n);
    bool       late = false;

    *out = (cri_svr_spread){ .kind = kind, .scale = NAN, .rmse = NAN };
    if (kind == CRI_SVR_NONE) goto done;
    CR_TRY(s.status);
    CR_TRY(deal(cx, sample, folds, seed, fold, &out->folds));
    for (size_t f = 0; out->folds > 1 && !late && f < out->folds; f++) {
        cr_progress(cx, "folds", (double)f, (double)out->folds);
        late = cri_clock_over(&tube->how.clock);
        if (!late) CR_TRY(leave_out(cx, sample, tube, fold, f, e, &late));
    }
    if (late || out->folds < 2) {
        cr_log(cx, CR_LOG_WARNING,
               "svr: %s: the spread of predictions is that of the residuals of the fit, which is "
               "too small",
               late ? "there was no time to leave rows out"
                    : "there are too few rows to leave some out");
        memcpy(e, fallback, n * sizeof *e);
        out->folds = 0;
    }
    judge(sample, e, out);
done:
    cr_scratch_end(&s);
    return st;
}
