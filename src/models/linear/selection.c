/* selection.c -- which subset of the terms a linear model uses. */
#include "selection.h"
#include "folds_view.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>

CRI_RECORD_FREE(cri_selection);

static cr_status allocate(cr_ctx *cx, size_t p, size_t sizes, cri_selection *s)
{
    s->p = p;
    s->sizes = sizes;
    cr_status st = cri_record_allocate(cx, cri_selection_record, s);
    for (size_t k = 0; st == CR_OK && k < sizes; k++) s->cv[k] = s->cv_se[k] = -1;
    return st;
}

/* --- criteria -------------------------------------------------------------------------------- */

double cri_selection_information(const cri_selection *s, size_t k, double price, double log_unit)
{
    double n = s->weight, rss = fmax(s->rss[k], 1e-15 * s->tss);
    return n * (log(2 * M_PI * rss / n) + 1 + 2 * log_unit) +
           price * ((double)k + s->intercept + 1);
}

double cri_selection_adjusted_r2(const cri_selection *s, size_t k)
{
    double total = s->weight - s->intercept;
    return 1 - s->rss[k] / (total - (double)k) / (s->tss / total);
}

/* The less the better. */
static double loss(const cri_selection *s, size_t k, cri_criterion criterion)
{
    switch (criterion) {
    case CRI_CRITERION_AIC:
        return cri_selection_information(s, k, 2, 0);
    case CRI_CRITERION_CV:
        return s->cv[k] < 0 ? INFINITY : s->cv[k];
    case CRI_CRITERION_ADJUSTED_R2:
        return -cri_selection_adjusted_r2(s, k);
    default:
        return cri_selection_information(s, k, log(s->weight), 0);
    }
}

static size_t choose_size(const cri_selection *s, cri_criterion criterion)
{
    size_t best = s->sizes;
    for (size_t k = 0; k < s->sizes; k++)
        if (s->rss[k] >= 0 &&
            (best == s->sizes || loss(s, k, criterion) < loss(s, best, criterion)))
            best = k;
    return best == s->sizes ? 0 : best;
}

/* The smallest set whose error is within one standard error of the least: the least of many errors is
 * too small by chance.  Breiman et al. (1984), sec. 3.4.3. */
static size_t choose_within_error(const cri_selection *s)
{
    size_t best = choose_size(s, CRI_CRITERION_CV);
    for (size_t k = 0; k < best; k++)
        if (s->cv[k] >= 0 && s->cv[k] <= s->cv[best] + s->cv_se[best]) return k;
    return best;
}

/* --- cross-validation ------------------------------------------------------------------------ */

/* Least squares on the set of `size` terms from cross-products of the training rows, and its mean
 * squared error on the rows left out.  which, b, L are workspace. */
static cr_status test_set(cr_ctx *cx, const cri_gram *g, const double *member,
                          const cri_moments *test, size_t *which, double *b, double *L, double *out)
{
    cr_status st = CR_OK;
    size_t    p = g->p, k = 0;
    double    b0 = g->offset;
    for (size_t j = 0; j < p; j++)
        if (member[j] != 0) which[k++] = j;
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j < k; j++) L[i * k + j] = g->G[which[i] * p + which[j]];
        L[i * k + i] *= 1 + 1e-14; /* a term that is a combination of others gets what is left */
        b[i] = g->g[which[i]];
    }
    CR_TRY(cr_chol(cx, cr_mat_of(L, k, k)));
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(L, k, k), cr_mat_of(b, k, 1)));
    for (size_t i = 0; i < k; i++) {
        b[i] /= g->scale[which[i]];
        b0 -= b[i] * g->centre[which[i]];
    }
    *out = cri_moments_mse(test, b0, which, b, k);
done:
    return st;
}

/* errors [sizes]: of the sets that the search finds without this fold; -1 where it finds none. */
static cr_status run_fold(cr_ctx *cx, const cri_selection_settings *o, const cri_moments *folds,
                          size_t n, size_t f, size_t sizes, double *errors)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      p = folds[0].p, *which = cr_scratch_index(&s, p);
    double     *b = cr_scratch_f64(&s, p), *L = cr_scratch_matrix(&s, p, p);
    cri_subsets sets = { .p = p,
                         .most = sizes - 1,
                         .rss = cr_scratch_f64(&s, sizes),
                         .member = cr_scratch_matrix(&s, sizes, p) };
    cri_moments train = { 0 };
    cri_gram    g = { 0 };

    CR_TRY(s.status);
    CR_TRY(cri_folds_moments_without(cx, folds, n, f, &train));
    CR_TRY(cri_gram_new(cx, &train, o->intercept, true, &g));
    CR_TRY(cri_subsets_find(cx, &g, o->method, SIZE_MAX, &sets));
    for (size_t k = 0; k < sizes; k++) {
        errors[k] = -1;
        if (sets.rss[k] < 0) continue;
        st = test_set(cx, &g, sets.member + k * p, &folds[f], which, b, L, &errors[k]);
        if (st == CR_ENUMERIC) errors[k] = -1, st = CR_OK;
        CR_TRY(st);
    }
done:
    cri_gram_free(cx, &g);
    cri_moments_free(cx, &train);
    cr_scratch_end(&s);
    return st;
}

/* Means over the folds and their standard errors, as in lasso_path.h; a size that some fold has no
 * set of has neither. */
static void summarise(const double *errors, const cri_moments *folds, size_t n, cri_selection *s)
{
    for (size_t k = 0; k < s->sizes; k++) {
        double sum = 0, weight = 0, spread = 0;
        bool   all = true;
        for (size_t f = 0; f < n; f++) {
            all = all && errors[f * s->sizes + k] >= 0;
            sum += folds[f].weight * errors[f * s->sizes + k];
            weight += folds[f].weight;
        }
        for (size_t f = 0; f < n; f++) {
            double e = errors[f * s->sizes + k] - sum / weight;
            spread += folds[f].weight * e * e;
        }
        if (!all) continue;
        s->cv[k] = sum / weight;
        s->cv_se[k] = sqrt(spread / weight / (double)(n - 1));
    }
}

static cr_status cross_validate(cr_ctx *cx, const cri_rows *rows, const cri_selection_settings *o,
                                cri_selection *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cri_folds_view view = { 0 };
    cri_moments   *folds = NULL;
    double        *errors;

    CR_TRY(cri_folds_of_rows(cx, &s, rows, o->folds, o->seed, false, &view));
    folds = cr_scratch_bytes(&s, view.folds, sizeof *folds);
    errors = cr_scratch_matrix(&s, view.folds, out->sizes);
    CR_TRY(s.status);
    CR_TRY(cri_folds_moments(cx, &view, folds));
    for (size_t f = 0; f < view.folds; f++) {
        CR_TRY(run_fold(cx, o, folds, view.folds, f, out->sizes, errors + f * out->sizes));
        cr_progress(cx, "cross-validating the selection", (double)(f + 1), (double)view.folds);
    }
    if (view.folds > 0) summarise(errors, folds, view.folds, out);
    out->folds = view.folds;
done:
    for (size_t f = 0; folds && f < view.folds; f++) cri_moments_free(cx, &folds[f]);
    cr_scratch_end(&s);
    return st;
}

/* --- selection ------------------------------------------------------------------------------- */

/* The largest set that leaves a degree of freedom to the noise. */
static size_t most_terms(size_t p, double weight, bool intercept)
{
    double most = floor(weight) - intercept - 1;
    return most < 0 ? 0 : most < (double)p ? (size_t)most : p;
}

static cr_status check(cr_ctx *cx, const cri_selection_settings *o, size_t p, size_t most)
{
    if (o->method == CRI_SUBSET_BACKWARD && most < p) {
        cr_fail(cx, CR_EARG, "backward selection starts from all %zu terms and needs more rows", p);
        return cr_fail_hint(cx, "use --select forward");
    }
    if (o->size == SIZE_MAX || o->size <= most) return CR_OK;
    return cr_fail(cx, CR_EARG, "--size: %zu terms of %zu, but the rows allow at most %zu", o->size,
                   p, most);
}

cr_status cri_select(cr_ctx *cx, const cri_rows *rows, const cri_selection_settings *o,
                     cri_selection *out)
{
    cr_status     st = CR_OK;
    cri_moments   m = { 0 };
    cri_gram      g = { 0 };
    cri_selection s = { .intercept = o->intercept };

    CR_TRY(cri_moments_of_rows(cx, rows, &m));
    CR_TRY(cri_gram_new(cx, &m, o->intercept, true, &g));
    size_t        most = most_terms(g.p, g.weight, o->intercept);
    bool          few = g.weight < (double)CRI_ROWS_PER_TERM * (double)g.p;
    cri_criterion criterion = o->criterion != CRI_CRITERION_AUTO ? o->criterion
                              : few                              ? CRI_CRITERION_CV
                                                                 : CRI_CRITERION_BIC;
    CR_TRY(check(cx, o, g.p, most));
    CR_TRY(allocate(cx, g.p, most + 1, &s));
    s.weight = g.weight;
    s.tss = g.tt;
    cri_subsets sets = { .p = g.p, .most = most, .rss = s.rss, .member = s.member };
    CR_TRY(cri_subsets_find(cx, &g, o->method, o->size, &sets));
    if (few || (o->size == SIZE_MAX && criterion == CRI_CRITERION_CV))
        CR_TRY(cross_validate(cx, rows, o, &s));
    s.size = o->size != SIZE_MAX                ? o->size
             : criterion != o->criterion && few ? choose_within_error(&s)
                                                : choose_size(&s, criterion);
    if (s.rss[s.size] < 0) {
        cr_fail(cx, CR_EDATA, "no %zu of the terms are linearly independent", s.size);
        CR_TRY(cr_fail_hint(cx, "use a smaller --size"));
    }
    *out = s;
    s = (cri_selection){ 0 };
done:
    cri_selection_free(cx, &s);
    cri_gram_free(cx, &g);
    cri_moments_free(cx, &m);
    return st;
}
