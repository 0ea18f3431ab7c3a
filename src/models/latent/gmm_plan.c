/* gmm_plan.c -- before the first start of a search for a mixture: options, a survey of all rows, and some rows that
 * starts are made of. */
#include "gmm_plan.h"
#include "models/common/described.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/dense/decompose.h"

#include <math.h>
#include <string.h>

static cr_status check_gibbs(cr_ctx *cx, const cri_gmm_options *o)
{
    int form = o->covariance;
    if (o->infer != CRI_GMM_INFER_GIBBS || form == CRI_GMM_FULL || form == CRI_GMM_VVV ||
        form == CRI_GMM_DIAG || form == CRI_GMM_VVI)
        return CR_OK;
    cr_fail(
        cx, CR_EARG,
        "gmm: --infer gibbs draws covariances that are full or diagonal, each component its own");
    return cr_fail_hint(cx, "--covariance full or --covariance diag; or --infer em");
}

/* As many factors as columns would leave no noise. */
static cr_status check_factors(cr_ctx *cx, const cri_gmm_plan *p)
{
    if (p->o->covariance != CRI_GMM_PPCA || p->o->factors < p->d) return CR_OK;
    cr_fail(cx, CR_EARG, "gmm: --factors is %zu, but must be below the number of columns, %zu",
            p->o->factors, p->d);
    return cr_fail_hint(cx, p->d == 1 ? "--covariance full describes a single column"
                                      : "--covariance full has no noise of its own");
}

/* --- rows for the starts ---------------------------------------------------------------------- */

cr_status cri_gmm_meet(cr_ctx *cx, void *search, const cri_rows *leaf)
{
    return cri_row_sample_meet(cx, &((cri_gmm_plan *)search)->kept, leaf);
}

/* The sample in t, in the order of the keys. */
static void take_sample(cri_gmm_plan *p)
{
    cri_row_sample_sort(&p->kept);
    p->sample.n = p->kept.n;
    for (size_t i = 0; i < p->sample.n; i++) {
        const cri_sampled_row *row = &p->kept.kept[i];
        p->sample.w[i] = row->w;
        p->sample.weight += row->w;
        for (size_t j = 0; j < p->d; j++)
            p->sample.T[i * p->d + j] = (row->x[j] - p->centre[j]) / p->scale[j];
    }
}

/* --- opening ---------------------------------------------------------------------------------- */

void cri_gmm_close(cr_ctx *cx, void *search)
{
    cri_gmm_plan *p = search;
    size_t        n = CRI_MOST_SAMPLED * p->d;
    cr_free(cx, p->origin, p->d, sizeof(double));
    cr_free(cx, p->centre, p->d, sizeof(double));
    cr_free(cx, p->scale, p->d, sizeof(double));
    cr_free(cx, p->C, p->d * p->width, sizeof(double));
    cr_free(cx, p->sample.T, n, sizeof(double));
    cr_free(cx, p->sample.w, CRI_MOST_SAMPLED, sizeof(double));
    cri_row_sample_close(cx, &p->kept);
    cri_gmm_tree_free(cx, p->tree);
    cr_free(cx, p->tried_k, p->tried, sizeof(double));
    cr_free(cx, p->tried_form, p->tried, sizeof(double));
    cr_free(cx, p->tried_likelihood, p->tried, sizeof(double));
    cr_free(cx, p->tried_starts, p->tried, sizeof(double));
    cr_free(cx, p, 1, sizeof *p);
}

/* Those that the option asks for, in the order of mclust. */
static void choose_forms(cri_gmm_plan *p)
{
    static const int named[] = { CRI_GMM_VVV, CRI_GMM_EEE, CRI_GMM_VVI, CRI_GMM_VII };
    int              asked = p->o->covariance;
    for (int form = 0; asked == CRI_GMM_AUTO && form < CRI_GMM_N_FORMS; form++)
        p->forms[p->n_forms++] = form;
    if (asked != CRI_GMM_AUTO)
        p->forms[p->n_forms++] = asked < CRI_GMM_FULL ? asked : named[asked - CRI_GMM_FULL];
}

cr_status cri_gmm_open(cr_ctx *cx, const cri_rows *first, const void *options, void **out_plan)
{
    cr_status     st = CR_OK;
    cri_gmm_plan *p = cr_alloc(cx, 1, sizeof *p);
    if (!p) return CR_ENOMEM;
    p->o = options, p->design = first->design, p->d = first->p;
    p->total.best_rejected = NAN;
    CR_TRY(cri_read_numbers(cx, "gmm", "k", "components", p->o->k, &p->from, &p->to));
    CR_TRY(cri_described_numbers(cx, "gmm", first->design));
    CR_TRY(cri_blas_reserve(cx));
    if (p->o->infer == 1 && p->o->covariance != CRI_GMM_FULL && p->o->covariance != CRI_GMM_VVV)
        CR_TRY(cri_fail_unused(cx, "covariance", "infer", "em"));
    if (p->o->infer != CRI_GMM_INFER_EM && p->o->prior != 0)
        CR_TRY(cr_fail(cx, CR_EARG,
                       "--prior none cannot be combined with --infer %s: a posterior needs a prior",
                       p->o->infer == CRI_GMM_INFER_VB ? "vb" : "gibbs"));
    CR_TRY(check_gibbs(cx, p->o));
    CR_TRY(check_factors(cx, p));
    choose_forms(p);
    p->width = 1;
    for (size_t i = 0; i < p->n_forms; i++)
        if (!cri_gmm_is_diagonal(p->forms[i])) p->width = p->d;
    p->origin = cr_alloc(cx, p->d, sizeof(double));
    p->centre = cr_alloc(cx, p->d, sizeof(double));
    p->scale = cr_alloc(cx, p->d, sizeof(double));
    p->C = cr_alloc(cx, p->d * p->width, sizeof(double));
    CR_TRY(cri_row_sample_open(cx, p->d, &p->kept));
    p->sample.d = p->d;
    p->sample.T = cr_alloc(cx, CRI_MOST_SAMPLED * p->d, sizeof(double));
    p->sample.w = cr_alloc(cx, CRI_MOST_SAMPLED, sizeof(double));
    if (!p->origin || !p->centre || !p->scale || !p->C || !p->sample.T || !p->sample.w)
        CR_TRY(CR_ENOMEM);
    cri_choose_origin(first, p->kept.row, p->origin);
    *out_plan = p;
    p = NULL;
done:
    if (p) cri_gmm_close(cx, p);
    return st;
}

double cri_gmm_least_rows(const cri_gmm_plan *p, int form)
{
    if (form == CRI_GMM_PPCA) return (double)p->o->factors + 2.5;
    return cri_gmm_form_name(form)[2] == 'V' ? (double)p->d + 1.5 : 2.5;
}

/* --- the survey ------------------------------------------------------------------------------- */

/* Sums about the origin, those of missing cells 0: of x [d], of products [d x width]; and what is missing: the weight
 * of the rows without column j [d], without j or l [d x width], and the sum of x_j where l is missing [d x width]. */
typedef struct places {
    size_t x, product, without, either, lost; /* where they begin among the sums */
} places;

static places places_of(const cri_gmm_plan *p)
{
    size_t d = p->d, size = p->d * p->width;
    return (places){ 0, d, d + size, 2 * d + size, 2 * (d + size) };
}

size_t cri_gmm_survey_width(const void *search)
{
    const cri_gmm_plan *p = search;
    return 2 * p->d + 3 * p->d * p->width;
}

size_t cri_gmm_survey_work(const void *search) { return ((const cri_gmm_plan *)search)->d; }

/* Notes what is missing in a row: its missing cells become 0. */
static void note_missing(const cri_gmm_plan *p, double *sums, double w, double *x)
{
    size_t d = p->d;
    places at = places_of(p);
    for (size_t j = 0; j < d; j++) {
        if (isnan(x[j])) sums[at.without + j] += w;
        for (size_t l = 0; p->width > 1 && l < d; l++) {
            if (isnan(x[j]) || isnan(x[l])) sums[at.either + j * d + l] += w;
            if (!isnan(x[j]) && isnan(x[l])) sums[at.lost + j * d + l] += w * x[j];
        }
    }
    for (size_t j = 0; j < d; j++) x[j] = isnan(x[j]) ? 0 : x[j];
}

void cri_gmm_survey(const void *search, const cri_rows *rows, cri_range range, double *sums,
                    double *x)
{
    const cri_gmm_plan *p = search;
    size_t              d = p->d;
    double             *product = sums + places_of(p).product;
    for (size_t i = range.begin; i < range.end; i++) {
        double w = rows->w ? rows->w[i] : 1;
        bool   whole = true;
        if (!(w > 0)) continue;
        cri_rows_fill(rows, i, i + 1, x, d);
        for (size_t j = 0; j < d; j++) whole &= !isnan(x[j] -= p->origin[j]);
        if (!whole) note_missing(p, sums, w, x);
        for (size_t j = 0; j < d; j++) {
            double wx = w * x[j];
            sums[j] += wx;
            if (p->width == 1) product[j] += wx * x[j];
            for (size_t l = 0; p->width > 1 && l <= j; l++) product[j * d + l] += wx * x[l];
        }
    }
}

/* Centre and covariance of all rows.  With missing cells means and variances are of the cells that are there, and C is
 * that of rows in which the mean stands for what is missing, stretched to these variances. */
static void find_moments(cri_gmm_plan *p, const double *sums)
{
    size_t        d = p->d, width = p->width;
    places        at = places_of(p);
    const double *x = sums + at.x, *without = sums + at.without, *lost = sums + at.lost;
    for (size_t j = 0; j < d; j++) p->centre[j] = p->origin[j] + x[j] / (p->weight - without[j]);
    for (size_t i = 0; i < d * width; i++) {
        size_t j = i / width, l = width > 1 ? i % d : i;
        double nj = p->weight - without[j], nl = p->weight - without[l];
        double both = p->weight - (width > 1 ? sums[at.either + i] : without[j]);
        double mj = x[j] / nj, ml = x[l] / nl;
        double xj = x[j] - (width > 1 ? lost[j * d + l] : 0);
        double xl = x[l] - (width > 1 ? lost[l * d + j] : 0);
        double product = sums[at.product + (width == 1 ? j : j > l ? j * d + l : l * d + j)];
        p->C[i] = (product - mj * xl - ml * xj + mj * ml * both) / sqrt(nj * nl);
    }
}

/* Columns that do not vary, or do so with others only, have no density. */
static cr_status check_variances(cr_ctx *cx, const cri_gmm_plan *p)
{
    for (size_t j = 0; j < p->d; j++) {
        double      variance = p->C[j * p->width + (p->width > 1 ? j : 0)];
        const char *name = cr_design_term_name(p->design, j);
        if (!isfinite(variance) || !isfinite(p->centre[j]))
            return cr_fail(cx, CR_ENUMERIC,
                           "gmm: the variance of column '%s' is beyond all numbers", name);
        if (variance > pow(4e-16 * p->centre[j], 2) && variance > 1e-290) continue;
        cr_fail(cx, CR_EDATA, "gmm: column '%s' is the same in all rows: it has no density", name);
        return cr_fail_hint(cx, "--features '!%s' leaves it out", name);
    }
    return CR_OK;
}

/* Cholesky on the correlations: a column whose pivot is rounding is made up of those before it. */
static cr_status check_rank(cr_ctx *cx, const cri_gmm_plan *p, double *L)
{
    size_t d = p->d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = p->C[i * d + j] / sqrt(p->C[i * (d + 1)] * p->C[j * (d + 1)]);
            for (size_t l = 0; l < j; l++) sum -= L[i * d + l] * L[j * d + l];
            if (i == j && !(sum > 1e-11)) {
                const char *name = cr_design_term_name(p->design, i);
                cr_fail(cx, CR_EDATA,
                        "gmm: column '%s' is a linear combination of other columns: covariances of "
                        "all of them have no inverse",
                        name);
                return cr_fail_hint(cx,
                                    "--features '!%s' leaves it out, --covariance diag does "
                                    "without correlations",
                                    name);
            }
            L[i * d + j] = i == j ? sqrt(sum) : sum / L[j * d + j];
        }
    return CR_OK;
}

/* The sds of the columns where they are standardised, else one number for all, so that forms which compare columns
 * see them as they are; unless their units are so different that rounding would decide. */
static void choose_scale(cri_gmm_plan *p)
{
    double sum = 0, low = INFINITY, high = 0;
    size_t step = p->width > 1 ? p->d + 1 : 1;
    bool   unit_free = true;
    for (size_t j = 0; j < p->d; j++) {
        double v = p->C[j * step];
        sum += v / (double)p->d, low = fmin(low, v), high = fmax(high, v);
    }
    for (size_t i = 0; i < p->n_forms; i++) unit_free &= cri_gmm_is_unit_free(p->forms[i]);
    bool each = p->design->standardised || (unit_free && high > 1e10 * low);
    for (size_t j = 0; j < p->d; j++) p->scale[j] = sqrt(each ? p->C[j * step] : sum);
}

/* All pairs of a form and a number of components. */
static cr_status list_candidates(cr_ctx *cx, cri_gmm_plan *p)
{
    size_t most = (p->to - p->from + 1) * p->n_forms, n = 0;
    p->tried = most;
    p->tried_k = cr_alloc(cx, most, sizeof(double));
    p->tried_form = cr_alloc(cx, most, sizeof(double));
    p->tried_likelihood = cr_alloc(cx, most, sizeof(double));
    p->tried_starts = cr_alloc(cx, most, sizeof(double));
    if (!p->tried_k || !p->tried_form || !p->tried_likelihood || !p->tried_starts) return CR_ENOMEM;
    for (size_t i = 0; i < p->n_forms; i++)
        for (size_t k = p->from; k <= p->to; k++, n++) {
            p->tried_k[n] = (double)k, p->tried_form[n] = p->forms[i];
            p->tried_likelihood[n] = NAN;
        }
    return CR_OK;
}

cr_status cri_gmm_settle(cr_ctx *cx, void *search, const double *sums)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cri_gmm_plan *p = search;
    size_t        d = p->d, width = p->width;
    double       *L = cr_scratch_matrix(&s, d, width), *values = cr_scratch_f64(&s, d);
    bool          ppca = p->o->covariance == CRI_GMM_PPCA;
    size_t        noise = ppca ? d - p->o->factors : 0;

    CR_TRY(s.status);
    p->weight = sums[cri_gmm_survey_width(p)];
    for (size_t j = 0; j < d; j++)
        if (!(p->weight > sums[places_of(p).without + j]))
            CR_TRY(cr_fail(cx, CR_EDATA, "gmm: column '%s' has no value",
                           cr_design_term_name(p->design, j)));
    find_moments(p, sums);
    CR_TRY(check_variances(cx, p));
    if (width > 1 && !ppca) CR_TRY(check_rank(cx, p, L)); /* noise needs no rank */
    choose_scale(p);
    for (size_t i = 0; i < d * width; i++)
        p->C[i] /= p->scale[i / width] * p->scale[width > 1 ? i % d : i];
    if (width > 1) CR_TRY(cr_eigen(cx, cr_cmat_of(p->C, d, d), values, cr_mat_of(L, d, d)));
    for (size_t j = 0; width == 1 && j < d; j++) values[0] = fmin(j ? values[0] : p->C[0], p->C[j]);
    for (size_t j = 1; ppca && j < noise; j++) values[0] += values[j]; /* of one component */
    p->sample.least = p->o->least_spread * (ppca ? fmax(values[0], 0) / (double)noise : values[0]);
    take_sample(p);
    if (p->to > 1) CR_TRY(cri_gmm_tree_new(cx, &p->sample, &p->tree));
    CR_TRY(list_candidates(cx, p));
done:
    cr_scratch_end(&s);
    return st;
}
