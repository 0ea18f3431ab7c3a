/* predictor.c -- predictive distribution, description and file of the Gaussian linear models. */
#include "predictor.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/special/special.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_predictor_record, cri_predictor, CRI_PREDICTOR);
CRI_RECORD_FREE(cri_predictor);

cr_status cri_predictor_new(cr_ctx *cx, size_t p, size_t rank, cri_predictor *out)
{
    cr_status     st = CR_OK;
    cri_predictor m = { .p = p, .rank = rank, .intercept_sd = NAN, .sign = 1, .dof = INFINITY };
    CR_TRY(cri_record_allocate(cx, cri_predictor_record, &m));
    for (size_t j = 0; j < p; j++) m.scale[j] = 1, m.coef_sd[j] = NAN;
    *out = m;
    m = (cri_predictor){ 0 };
done:
    cri_record_free(cx, cri_predictor_record, &m);
    return st;
}

cr_status cri_predictor_add_diagonal(cr_ctx *cx, cri_predictor *m)
{
    m->diagonal = cr_alloc(cx, m->p, sizeof(double));
    m->start = cr_alloc(cx, m->rank, sizeof(double));
    return m->diagonal && m->start ? CR_OK : CR_ENOMEM;
}

cr_status cri_predictor_widen(cr_ctx *cx, cri_predictor *m, const size_t *which, size_t p)
{
    cri_predictor fresh, wide = *m;
    cr_status     st = cri_predictor_new(cx, p, m->rank, &fresh);
    if (st != CR_OK) return st;
    wide.p = p;
    wide.coef = fresh.coef, wide.coef_sd = fresh.coef_sd;
    wide.centre = fresh.centre, wide.scale = fresh.scale;
    wide.factor = fresh.factor;
    wide.relations = m->relations ? cr_alloc(cx, m->aliased * p, sizeof(double)) : NULL;
    if (m->relations && !wide.relations) {
        cri_predictor_free(cx, &fresh);
        return CR_ENOMEM;
    }
    for (size_t j = 0; j < m->p; j++) {
        wide.coef[which[j]] = m->coef[j];
        wide.coef_sd[which[j]] = m->coef_sd[j];
        wide.centre[which[j]] = m->centre[j];
        wide.scale[which[j]] = m->scale[j];
        for (size_t i = 0; i < m->rank; i++)
            wide.factor[i * p + which[j]] = m->factor[i * m->p + j];
        for (size_t a = 0; a < m->aliased; a++)
            wide.relations[a * p + which[j]] = m->relations[a * m->p + j];
    }
    cri_predictor_free(cx, m);
    *m = wide;
    return CR_OK;
}

void cri_predictor_set_coef(cri_predictor *m, const double *b, double offset)
{
    m->intercept = m->at_centre = offset;
    for (size_t j = 0; j < m->p; j++) {
        m->coef[j] = b[j] / m->scale[j];
        m->intercept -= m->coef[j] * m->centre[j];
    }
}

/* What term j has beside its part in F. */
static double plain_of(const cri_predictor *m, size_t j)
{
    return m->diagonal ? m->diagonal[j] : m->plain;
}

void cri_predictor_set_sds(cri_predictor *m)
{
    double h0 = m->mean_share; /* the intercept is the mean at x = 0 */
    double plain = 0, factored = 0;
    for (size_t j = 0; j < m->p; j++) {
        double u = m->centre[j] / m->scale[j], variance = plain_of(m, j);
        for (size_t k = 0; k < m->rank; k++)
            variance += m->sign * m->factor[k * m->p + j] * m->factor[k * m->p + j];
        bool unknown = m->sign > 0 && !(variance > 0); /* a constant column: nothing speaks of it */
        m->coef_sd[j] = unknown ? (double)NAN : m->sigma * sqrt(fmax(variance, 0)) / m->scale[j];
        plain += plain_of(m, j) * u * u;
    }
    for (size_t k = 0; k < m->rank; k++) {
        double f = m->start ? -m->start[k] : 0;
        for (size_t j = 0; j < m->p; j++) f += m->factor[k * m->p + j] * m->centre[j] / m->scale[j];
        factored += f * f;
    }
    h0 += plain + m->sign * factored;
    m->intercept_sd = m->has_intercept ? m->sigma * sqrt(h0 > 0 ? h0 : 0) : NAN;
}

/* --- predict --------------------------------------------------------------------------------- */

enum { BLOCK = 128, TILE = 32 };

typedef struct predict_work {
    const cri_predictor *m;
    const cri_rows      *rows;
    cr_prediction       *out;
    bool                 sparse, spread; /* means by the entries; leverages by the row itself */
    const double        *start;          /* [r] start + F u at x = 0: leverages by the entries */
    double               plain;          /* sum_j diagonal_j u_j^2 there                       */
} predict_work;

/* The means of rows U [n x p]. */
static void predict_means(const cri_predictor *m, const double *U, size_t n, double *mean)
{
    for (size_t i = 0; i < n; i++) {
        mean[i] = m->at_centre;
        for (size_t j = 0; j < m->p; j++) mean[i] += m->coef[j] * (U[i * m->p + j] - m->centre[j]);
    }
}

/* The means of sparse rows, by their entries. */
static void predict_sparse_means(const cri_predictor *m, const cri_sparse *X, cri_range range,
                                 double *mean)
{
    for (size_t i = range.begin; i < range.end; i++)
        mean[i] = m->intercept + cri_sparse_dot(X, i, m->coef);
}

/* Leverage, scale and dof of rows whose leverage is all alike. */
static void predict_alike(const cri_predictor *m, cri_range range, cr_prediction *out)
{
    for (size_t i = range.begin; i < range.end; i++) {
        out->leverage[i] = m->mean_share;
        out->scale[i] = m->sigma * sqrt(1 + m->mean_share);
        out->dof[i] = m->dof;
    }
}

/* Leverage, scale and dof of row i, of leverage h. */
static void set_spread(const cri_predictor *m, double h, size_t i, cr_prediction *out)
{
    if (h < 0) h = 0; /* a variance is never negative; rounding of a difference may be */
    out->leverage[i] = h;
    out->scale[i] = m->sigma * sqrt(1 + h);
    out->dof[i] = m->dof;
}

/* F u of n rows, always in tiles of as many: a library chooses its way by the shape, and a row must get the same bits
 * in any company.  U and FU have memory for whole tiles. */
static void apply_factor(const cri_predictor *m, double *U, double *FU, size_t n)
{
    size_t p = m->p, r = m->rank, whole = (n + TILE - 1) / TILE * TILE;
    if (r == 0 || p == 0) return;
    memset(U + n * p, 0, (whole - n) * p * sizeof *U);
    for (size_t i = 0; i < whole; i += TILE)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, TILE, (int)r, (int)p, 1, U + i * p,
                    (int)p, m->factor, (int)p, 0, FU + i * r, (int)r);
}

/* Leverage, scale and dof of the n rows U [n x p] from `begin` on; U is standardised in place,
 * FU [BLOCK x r] is workspace. */
static void predict_spreads(const cri_predictor *m, double *U, double *FU, size_t begin, size_t n,
                            cr_prediction *out)
{
    size_t p = m->p, r = m->rank;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++) U[i * p + j] = (U[i * p + j] - m->centre[j]) / m->scale[j];
    apply_factor(m, U, FU, n);
    for (size_t i = 0; i < n; i++) {
        double plain = 0, factored = 0;
        for (size_t j = 0; m->plain != 0 && j < p; j++) plain += U[i * p + j] * U[i * p + j];
        for (size_t k = 0; k < r; k++) factored += FU[i * r + k] * FU[i * r + k];
        set_spread(m, m->mean_share + m->plain * plain + m->sign * factored, begin + i, out);
    }
}

/* The same of rows with entries, where there is a diagonal; f [r] is workspace.  O(entries r). */
static void predict_entries(const predict_work *w, cri_range range, double *f)
{
    const cri_predictor *m = w->m;
    const cri_sparse    *X = w->rows->sparse;
    for (size_t i = range.begin; i < range.end; i++) {
        size_t end, e = cri_sparse_row(X, i, &end);
        double plain = w->plain, factored = 0;
        memcpy(f, w->start, m->rank * sizeof *f);
        for (; e < end; e++) {
            size_t j = X->column[e];
            double x = X->value[e] / m->scale[j], c = m->centre[j] / m->scale[j];
            plain += m->diagonal[j] * x * (x - 2 * c);
            for (size_t k = 0; k < m->rank; k++) f[k] += m->factor[k * m->p + j] * x;
        }
        for (size_t k = 0; k < m->rank; k++) factored += f[k] * f[k];
        set_spread(m, m->mean_share + plain + m->sign * factored, i, w->out);
    }
}

/* workspace: the rows U [BLOCK x p] and F U [BLOCK x r], where any row is spread out. */
static void predict_block(void *arg, cri_range range, double *workspace)
{
    const predict_work  *w = arg;
    const cri_predictor *m = w->m;
    bool                 filled = !w->sparse || (w->spread && !w->start);
    size_t               p = m->p, n = range.end - range.begin;
    double              *U = workspace, *FU = workspace + (filled ? BLOCK * p : 0);

    if (filled) cri_rows_fill(w->rows, range.begin, range.end, U, p);
    if (w->sparse)
        predict_sparse_means(m, w->rows->sparse, range, w->out->mean);
    else
        predict_means(m, U, n, w->out->mean + range.begin);
    if (w->spread && w->start)
        predict_entries(w, range, FU);
    else if (w->spread)
        predict_spreads(m, U, FU, range.begin, n, w->out);
    else if (w->out->scale)
        predict_alike(m, range, w->out);
}

static cr_status predict_rows(cr_ctx *cx, predict_work *w)
{
    const cri_predictor *m = w->m;
    bool                 filled = !w->sparse || (w->spread && !w->start);
    size_t    workspace_size = filled ? BLOCK * (m->p + m->rank) : w->spread ? m->rank : 0;
    cr_status st = cri_blas_reserve(cx);
    if (st != CR_OK) return st;
    cri_blas_enter();
    st = cri_parallel_rows(cx, "predicting", w->rows->n, BLOCK, workspace_size, predict_block, w);
    cri_blas_leave();
    return st;
}

/* Where there is a diagonal: all by the entries, which rows of ordinary columns have not yet. */
static cr_status predict_diagonal(cr_ctx *cx, predict_work *w)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_rows   view = { 0 };
    double    *start = cr_scratch_f64(&s, w->m->rank);

    CR_TRY(s.status);
    if (!w->rows->sparse) {
        CR_TRY(cri_rows_open_entries(cx, w->rows, &view));
        w->rows = &view;
    }
    if (!w->rows->sparse->plain)
        CR_TRY(cr_fail(cx, CR_EDATA, "a model of levels has terms that are standardised"));
    for (size_t k = 0; k < w->m->rank; k++) {
        start[k] = w->m->start[k];
        for (size_t j = 0; j < w->m->p; j++)
            if (w->m->centre[j] != 0)
                start[k] -= w->m->factor[k * w->m->p + j] * w->m->centre[j] / w->m->scale[j];
    }
    for (size_t j = 0; j < w->m->p; j++) {
        double u = w->m->centre[j] / w->m->scale[j];
        w->plain += w->m->diagonal[j] * u * u;
    }
    w->start = start;
    w->sparse = true;
    CR_TRY(predict_rows(cx, w));
done:
    cri_rows_close_entries(cx, &view);
    cr_scratch_end(&s);
    return st;
}

/* The scales [n] of the mean by the robust covariance of intercept and coefficients. */
static cr_status set_robust_scales(cr_ctx *cx, const cri_predictor *m, const cri_rows *rows,
                                   double *scale)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     one = m->has_intercept, q = m->q;
    double    *x = cr_scratch_f64(&s, q);

    CR_TRY(s.status);
    if (one) x[0] = 1;
    for (size_t i = 0; i < rows->n; i++) {
        double variance = 0;
        CR_TRY(cr_check_interrupt(cx));
        cri_rows_fill(rows, i, i + 1, x + one, m->p);
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b < q; b++) variance += x[a] * m->robust[a * q + b] * x[b];
        scale[i] = sqrt(fmax(variance, 0));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_predictor_drop_noise(cr_ctx *cx, const cri_predictor *m, const cri_rows *rows,
                                   cr_prediction *out)
{
    if (m->robust) return set_robust_scales(cx, m, rows, out->scale);
    for (size_t i = 0; i < rows->n; i++) out->scale[i] = m->sigma * sqrt(out->leverage[i]);
    return CR_OK;
}

/* The mean is linear in the terms: its average is the mean of the average row. */
cr_status cri_predictor_mean_spread(cr_ctx *cx, const cri_predictor *m, const cri_rows *rows,
                                    double *out_scale, double *out_dof)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *x = cr_scratch_f64(&s, m->p), *u = cr_scratch_bytes(&s, m->p, sizeof(double));
    double     h = m->mean_share;

    CR_TRY(s.status);
    if (m->diagonal || m->robust || isnan(m->sigma)) goto done;
    for (size_t i = 0; i < rows->n; i++) {
        cri_rows_fill(rows, i, i + 1, x, m->p);
        for (size_t j = 0; j < m->p; j++) u[j] += x[j] / (double)rows->n;
    }
    for (size_t j = 0; j < m->p; j++) {
        u[j] = (u[j] - m->centre[j]) / m->scale[j];
        h += m->plain * u[j] * u[j];
    }
    for (size_t k = 0; k < m->rank; k++) {
        double f = 0;
        for (size_t j = 0; j < m->p; j++) f += m->factor[k * m->p + j] * u[j];
        h += m->sign * f * f;
    }
    *out_scale = m->sigma * sqrt(fmax(h, 0));
    *out_dof = m->dof;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_predictor_predict(cr_ctx *cx, const cri_predictor *m, const cri_rows *rows,
                                cr_prediction *out)
{
    predict_work w = { .m = m, .rows = rows, .out = out };
    w.sparse = rows->sparse && rows->sparse->plain;
    w.spread = out->scale && (m->rank > 0 || m->plain != 0 || m->diagonal);
    return m->diagonal ? predict_diagonal(cx, &w) : predict_rows(cx, &w);
}

/* The first relation that does not hold in a row x [p], or m->aliased.  Columns that were taken for dependent are so
 * to 1e-7 of their sd; relations are in units of that of their term. */
static size_t broken_relation(const cri_predictor *m, const double *x)
{
    for (size_t a = 0; a < m->aliased; a++) {
        const double *N = m->relations + a * m->p;
        double        sum = 0, size = 0, level = 0;
        for (size_t j = 0; j < m->p; j++) {
            double part = N[j] * (x[j] - m->centre[j]);
            sum += part;
            size += fabs(part);
            level += fabs(N[j] * m->centre[j]);
        }
        if (fabs(sum) > 1e-5 * size + 1e-12 * level + 1e-5) return a;
    }
    return m->aliased;
}

/* The term that relation a is of: the only one without a coefficient that takes part. */
static size_t term_of_relation(const cri_predictor *m, size_t a)
{
    for (size_t j = 0; j < m->p; j++) {
        bool known = false;
        for (size_t k = 0; k < m->rank && !known; k++) known = m->factor[k * m->p + j] != 0;
        if (!known && m->relations[a * m->p + j] != 0) return j;
    }
    return 0;
}

cr_status cri_predictor_undetermined(cr_ctx *cx, const cri_predictor *m, const cri_rows *rows,
                                     size_t *which)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *x = cr_scratch_f64(&s, m->p);

    CR_TRY(s.status);
    memset(which, 0, rows->n * sizeof *which);
    for (size_t i = 0; m->relations && i < rows->n; i++) {
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        cri_rows_fill(rows, i, i + 1, x, m->p);
        size_t a = broken_relation(m, x);
        if (a < m->aliased) which[i] = 1 + term_of_relation(m, a);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_predictor_quality(cr_ctx *cx, const cri_predictor *m, const cri_rows *rows,
                                cri_fit_quality *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = rows->n;
    cr_prediction   p = { .n = n,
                          .mean = cr_scratch_f64(&s, n),
                          .scale = cr_scratch_f64(&s, n),
                          .dof = cr_scratch_f64(&s, n),
                          .leverage = cr_scratch_f64(&s, n) };
    cri_fit_quality q = { 0 };
    double          weight = 0;

    CR_TRY(s.status);
    CR_TRY(cri_predictor_predict(cx, m, rows, &p));
    for (size_t i = 0; i < n; i++) {
        double w = rows->w ? rows->w[i] : 1, e = rows->y[i] - p.mean[i], h = w * p.leverage[i];
        if (w == 0) continue;
        weight += w;
        q.rss += w * e * e;
        q.loo += h < 1 - 1e-10 ? w * (e / (1 - h)) * (e / (1 - h)) : INFINITY;
        if (h > q.max_leverage * (1 + 1e-9)) q.max_row = rows->index ? rows->index[i] : i;
        q.max_leverage =
            fmax(q.max_leverage, h); /* the first of rows that are equal but for rounding */
    }
    q.loo /= weight;
    *out = q;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- describe -------------------------------------------------------------------------------- */

/* How parameters with t (or normal) distributions of the same degrees of freedom are told: the
 * scale of one is its standard error; the sd of the posterior is `spread` times that, and half an
 * interval `reach` times. */
typedef struct shape {
    cri_shown shown;
    double    dof, spread, reach;
} shape;

static shape shape_of(double dof, cri_shown shown, double reach)
{
    double spread = isinf(dof) || shown != CRI_SHOW_POSTERIOR ? 1
                    : dof > 2                                 ? sqrt(dof / (dof - 2))
                                                              : INFINITY;
    return (shape){ shown, dof, spread, reach };
}

static void add_parameter(cri_sheet *list, const char *name, double value, double scale, shape s)
{
    double     t = value / scale;
    cri_sheet *row = cri_parameter_add(list, value, scale * s.spread, "%s", name);
    cri_parameter_interval(row, value, s.reach * scale);
    if (s.shown != CRI_SHOW_TESTS) return;
    cri_put_real(row, isinf(s.dof) ? "z" : "t", t);
    cri_put_real(row, "p", cr_student_t_two_sided(t, s.dof));
}

void cri_predictor_describe(const cri_predictor *m, const cr_design *d, cri_shown shown,
                            cri_sheet *out)
{
    cri_predictor_describe_within(m, d, shown, cr_student_t_ppf(0.975, m->dof), NULL, out);
}

void cri_predictor_describe_within(const cri_predictor *m, const cr_design *d, cri_shown shown,
                                   double reach, const double *opt_dof, cri_sheet *out)
{
    cri_sheet *list = cri_put_list(out, "parameters");
    shape      s = shape_of(m->dof, shown, reach);
    double     shift = d->target_shift, scale = d->target_scale; /* back to the target's units */
    if (opt_dof) s.reach = cr_student_t_ppf(0.975, opt_dof[0]);
    if (m->has_intercept)
        add_parameter(list, "intercept", m->intercept * scale + shift, m->intercept_sd * scale, s);
    for (size_t j = 0; j < m->p; j++) {
        if (opt_dof) s.reach = cr_student_t_ppf(0.975, opt_dof[1 + j]);
        add_parameter(list, cr_design_term_name(d, j), m->coef[j] * scale, m->coef_sd[j] * scale,
                      s);
    }
}

/* --- file ------------------------------------------------------------------------------------ */

bool cri_predictor_fits(const cri_predictor *m, size_t p)
{
    return m->p == p && !m->diagonal == !m->start && (!m->robust || m->q == m->has_intercept + p);
}
