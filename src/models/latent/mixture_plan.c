/* mixture_plan.c -- before the first start of a search for a mixture: which distribution each column has, a survey of
 * all rows, and some rows that starts are made of. */
#include "mixture_plan.h"
#include "models/common/described.h"
#include "data/table/table_internal.h"
#include "math/dense/blas_internal.h"
#include "models/common/column_kinds.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[] = { "auto", "gaussian", "lognormal", "bernoulli", "poisson" };
static const cri_kind_names kinds = { "numbers", kind_names, sizeof kind_names / sizeof *kind_names,
                                      CRI_MIXTURE_BERNOULLI };

/* --- opening ---------------------------------------------------------------------------------- */

void cri_mixture_plan_close(cr_ctx *cx, void *search)
{
    cri_mixture_plan *a = search;
    cr_free(cx, a->kind, a->p, sizeof *a->kind);
    cr_free(cx, a->first, a->p, sizeof *a->first);
    cr_free(cx, a->threshold, a->p, sizeof(double));
    cr_free(cx, a->origin, a->p, sizeof(double));
    cr_free(cx, a->centre, a->p, sizeof(double));
    cr_free(cx, a->scale, a->p, sizeof(double));
    cr_free(cx, a->overall, a->p, sizeof(double));
    cr_free(cx, a->overall_level, a->L, sizeof(double));
    cr_free(cx, a->sample.X, CRI_MOST_SAMPLED * a->p, sizeof(double));
    cr_free(cx, a->sample.w, CRI_MOST_SAMPLED, sizeof(double));
    cri_row_sample_close(cx, &a->kept);
    cr_free(cx, a->tried_likelihood, a->tried, sizeof(double));
    cr_free(cx, a, 1, sizeof *a);
}

static cr_status read_kinds(cr_ctx *cx, cri_mixture_plan *a)
{
    const cr_design *d = a->design;
    size_t           L = 0;
    for (size_t j = 0; j < a->p; j++) {
        cr_type type = cr_design_column_type(d, cri_term_column(d, j));
        a->kind[j] = type == CR_CATEGORY  ? CRI_MIXTURE_CATEGORY
                     : type == CR_BOOLEAN ? CRI_MIXTURE_BERNOULLI
                                          : CRI_MIXTURE_AUTO;
        a->first[j] = L;
        L += cri_term_levels(d, j);
    }
    cr_status st = cri_column_kinds(cx, d, a->o->numbers, &kinds, a->kind, a->threshold);
    if (st == CR_OK) a->overall_level = cr_alloc(cx, L, sizeof(double));
    if (st == CR_OK && !a->overall_level) return CR_ENOMEM;
    if (st == CR_OK) a->L = L;
    return st;
}

cr_status cri_mixture_plan_open(cr_ctx *cx, const cri_rows *first, const void *options,
                                void **out_plan)
{
    cr_status         st = CR_OK;
    cri_mixture_plan *a = cr_alloc(cx, 1, sizeof *a);
    if (!a) return CR_ENOMEM;
    a->o = options, a->design = first->design, a->p = first->p;
    a->total.best_rejected = NAN;
    CR_TRY(cri_read_numbers(cx, "mixture", "k", "components", a->o->k, &a->from, &a->to));
    CR_TRY(cri_described_check(cx, "mixture", first->design));
    CR_TRY(cri_blas_reserve(cx));
    a->kind = cr_alloc(cx, a->p, sizeof *a->kind);
    a->first = cr_alloc(cx, a->p, sizeof *a->first);
    a->threshold = cr_alloc(cx, a->p, sizeof(double));
    a->origin = cr_alloc(cx, a->p, sizeof(double));
    a->centre = cr_alloc(cx, a->p, sizeof(double));
    a->scale = cr_alloc(cx, a->p, sizeof(double));
    a->overall = cr_alloc(cx, a->p, sizeof(double));
    a->sample.X = cr_alloc(cx, CRI_MOST_SAMPLED * a->p, sizeof(double));
    a->sample.w = cr_alloc(cx, CRI_MOST_SAMPLED, sizeof(double));
    if (!a->kind || !a->first || !a->threshold || !a->origin || !a->centre || !a->scale ||
        !a->overall || !a->sample.X || !a->sample.w)
        CR_TRY(CR_ENOMEM);
    CR_TRY(cri_row_sample_open(cx, a->p, &a->kept));
    CR_TRY(read_kinds(cx, a));
    cri_choose_origin(first, a->kept.row, a->origin);
    for (size_t j = 0; j < a->p; j++)
        if (a->kind[j] == CRI_MIXTURE_LOGNORMAL)
            a->origin[j] = a->origin[j] > 0 ? log(a->origin[j]) : 0;
    *out_plan = a;
    a = NULL;
done:
    if (a) cri_mixture_plan_close(cx, a);
    return st;
}

/* --- rows ------------------------------------------------------------------------------------- */

cr_status cri_mixture_check_cell(cr_ctx *cx, const cri_rows *rows, size_t i, size_t j,
                                 cri_mixture_kind kind, double x)
{
    char where[512];
    bool counts = kind == CRI_MIXTURE_POISSON;
    if (isnan(x) || (counts ? x >= 0 && x == floor(x) : x > 0)) return CR_OK;
    cr_fail(cx, CR_EDATA, "%s: '%s' is %g, but %s",
            cri_table_where(rows->table, rows->index ? rows->index[i] : i, where, sizeof where),
            cr_design_term_name(rows->design, j), x,
            !counts ? "lognormal numbers are above 0"
            : x < 0 ? "poisson counts are not negative"
                    : "poisson counts are whole numbers");
    return cr_fail_hint(cx, "use --numbers gaussian for any numbers, or --numbers "
                            "auto,COLUMN=poisson to choose by column");
}

cr_status cri_mixture_meet(cr_ctx *cx, void *search, const cri_rows *leaf)
{
    cri_mixture_plan *a = search;
    enum { BLOCK = 512 };
    double x[BLOCK];
    for (size_t j = 0; j < a->p; j++) {
        if (a->kind[j] != CRI_MIXTURE_POISSON && a->kind[j] != CRI_MIXTURE_LOGNORMAL) continue;
        for (size_t at = 0; at < leaf->n; at += BLOCK) {
            size_t    end = leaf->n - at < BLOCK ? leaf->n : at + BLOCK;
            cr_status st = at % (64 * BLOCK) == 0 ? cr_check_interrupt(cx) : CR_OK;
            if (st == CR_OK) cri_rows_fill_term(leaf, j, at, end, x, 1);
            for (size_t i = at; st == CR_OK && i < end; i++)
                if (!leaf->w || leaf->w[i] > 0)
                    st = cri_mixture_check_cell(cx, leaf, i, j, (cri_mixture_kind)a->kind[j],
                                                x[i - at]);
            if (st != CR_OK) return st;
        }
    }
    return cri_row_sample_meet(cx, &a->kept, leaf);
}

static void take_sample(cri_mixture_plan *a)
{
    cri_row_sample_sort(&a->kept);
    a->sample.n = a->kept.n, a->sample.p = a->p;
    for (size_t i = 0; i < a->sample.n; i++) {
        a->sample.w[i] = a->kept.kept[i].w;
        memcpy(a->sample.X + i * a->p, a->kept.kept[i].x, a->p * sizeof(double));
    }
    a->sample.least = a->o->least_spread;
}

/* --- the survey ------------------------------------------------------------------------------- */

/* Of each number: the weight of the cells that are there, their sum and sum of squares about the origin, the weight of
 * those that are neither 0 nor 1, and of those above the threshold.  Then the weight of each level, and that of rows
 * without any cell. */
enum { THERE, SUM, SQUARES, OTHER, ABOVE, SURVEYED };

size_t cri_mixture_survey_width(const void *search)
{
    const cri_mixture_plan *a = search;
    return SURVEYED * a->p + a->L + 1;
}

size_t cri_mixture_survey_work(const void *search) { return ((const cri_mixture_plan *)search)->p; }

void cri_mixture_survey(const void *search, const cri_rows *rows, cri_range range, double *sums,
                        double *x)
{
    const cri_mixture_plan *a = search;
    double                 *level = sums + SURVEYED * a->p;
    for (size_t i = range.begin; i < range.end; i++) {
        double w = rows->w ? rows->w[i] : 1;
        bool   empty = true;
        if (!(w > 0)) continue;
        cri_rows_fill(rows, i, i + 1, x, a->p);
        for (size_t j = 0; j < a->p; j++) {
            double *of = sums + SURVEYED * j;
            if (isnan(x[j])) continue;
            empty = false;
            of[THERE] += w;
            if (a->kind[j] == CRI_MIXTURE_CATEGORY) {
                level[a->first[j] + (size_t)x[j]] += w;
                continue;
            }
            double t = (a->kind[j] == CRI_MIXTURE_LOGNORMAL ? log(x[j]) : x[j]) - a->origin[j];
            of[SUM] += w * t;
            of[SQUARES] += w * t * t;
            of[OTHER] += x[j] == 0 || x[j] == 1 ? 0 : w;
            of[ABOVE] += x[j] > a->threshold[j] ? w : 0;
        }
        if (empty) level[a->L] += w;
    }
}

/* Centre and scale of a real column: mean and sd of all rows. */
static cr_status settle_real(cr_ctx *cx, cri_mixture_plan *a, size_t j, const double *of)
{
    const char *name = cr_design_term_name(a->design, j);
    double      mean = of[SUM] / of[THERE], variance = of[SQUARES] / of[THERE] - mean * mean;
    a->centre[j] = a->origin[j] + mean;
    if (!isfinite(variance) || !isfinite(a->centre[j]))
        return cr_fail(cx, CR_ENUMERIC,
                       "mixture: the variance of column '%s' is beyond all numbers", name);
    if (variance > pow(4e-16 * a->centre[j], 2) && variance > 1e-15 * mean * mean &&
        variance > 1e-290) {
        a->scale[j] = sqrt(variance);
        return CR_OK;
    }
    cr_fail(cx, CR_EDATA, "mixture: column '%s' is the same in all rows: it has no density", name);
    return cr_fail_hint(cx, "--features '!%s' leaves it out", name);
}

static cr_status settle_column(cr_ctx *cx, cri_mixture_plan *a, size_t j, const double *sums)
{
    const double *of = sums + SURVEYED * j, *level = sums + SURVEYED * a->p + a->first[j];
    size_t        levels = cri_term_levels(a->design, j);
    a->scale[j] = 1;
    if (!(of[THERE] > 0))
        return cr_fail(cx, CR_EDATA, "mixture: column '%s' has no value",
                       cr_design_term_name(a->design, j));
    if (a->kind[j] == CRI_MIXTURE_AUTO)
        a->kind[j] = of[OTHER] > 0 ? CRI_MIXTURE_GAUSSIAN : CRI_MIXTURE_BERNOULLI;
    switch ((cri_mixture_kind)a->kind[j]) {
    case CRI_MIXTURE_BERNOULLI:
        a->overall[j] = (of[ABOVE] + 0.5) / (of[THERE] + 1);
        break;
    case CRI_MIXTURE_POISSON:
        a->overall[j] = (of[SUM] + of[THERE] * a->origin[j] + 0.5) / (of[THERE] + 1);
        if (!isfinite(a->overall[j]))
            return cr_fail(cx, CR_ENUMERIC,
                           "mixture: the mean of column '%s' is beyond all "
                           "numbers",
                           cr_design_term_name(a->design, j));
        break;
    case CRI_MIXTURE_CATEGORY:
        for (size_t l = 0; l < levels; l++)
            a->overall_level[a->first[j] + l] =
                (level[l] + 0.5) / (of[THERE] + 0.5 * (double)levels);
        break;
    default:
        return settle_real(cx, a, j, of);
    }
    return CR_OK;
}

cr_status cri_mixture_settle(cr_ctx *cx, void *search, const double *sums)
{
    cr_status         st = CR_OK;
    cri_mixture_plan *a = search;
    size_t            width = cri_mixture_survey_width(a);
    a->weight = sums[width] - sums[width - 1];
    for (size_t j = 0; j < a->p; j++) CR_TRY(settle_column(cx, a, j, sums));
    take_sample(a);
    a->tried = a->to - a->from + 1;
    a->tried_likelihood = cr_alloc(cx, a->tried, sizeof(double));
    if (!a->tried_likelihood) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < a->tried; i++) a->tried_likelihood[i] = NAN;
done:
    return st;
}
