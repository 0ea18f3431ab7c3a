/* predictor.c -- predictive distribution, description and file of the Gaussian linear models. */
#include "predictor.h"
#include "../../base/parallel.h"
#include "../../base/scratch.h"
#include "../../math/blas_internal.h"
#include "../../math/special.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

cr_status cri_predictor_new(cr_ctx *cx, size_t p, size_t r, cri_predictor *out)
{
    cri_predictor m = { .p = p,
                        .r = r,
                        .intercept_sd = NAN,
                        .sign = 1,
                        .dof = INFINITY,
                        .coef = cr_alloc(cx, p, sizeof(double)),
                        .coef_sd = cr_alloc(cx, p, sizeof(double)),
                        .centre = cr_alloc(cx, p, sizeof(double)),
                        .scale = cr_alloc(cx, p, sizeof(double)),
                        .F = cr_alloc(cx, r, p * sizeof(double)) };
    if (!m.coef || !m.coef_sd || !m.centre || !m.scale || !m.F) {
        cri_predictor_free(cx, &m);
        return CR_ENOMEM;
    }
    for (size_t j = 0; j < p; j++) m.scale[j] = 1, m.coef_sd[j] = NAN;
    *out = m;
    return CR_OK;
}

void cri_predictor_free(cr_ctx *cx, cri_predictor *m)
{
    double *vectors[] = { m->coef, m->coef_sd, m->centre, m->scale, m->diagonal };
    size_t  q = m->has_intercept + m->p;
    for (size_t i = 0; i < 5; i++) cr_free(cx, vectors[i], m->p, sizeof(double));
    cr_free(cx, m->start, m->r, sizeof(double));
    cr_free(cx, m->robust, q, q * sizeof(double));
    cr_free(cx, m->F, m->r, m->p * sizeof(double));
    *m = (cri_predictor){ 0 };
}

cr_status cri_predictor_add_diagonal(cr_ctx *cx, cri_predictor *m)
{
    m->diagonal = cr_alloc(cx, m->p, sizeof(double));
    m->start = cr_alloc(cx, m->r, sizeof(double));
    return m->diagonal && m->start ? CR_OK : CR_ENOMEM;
}

cr_status cri_predictor_widen(cr_ctx *cx, cri_predictor *m, const size_t *which, size_t p)
{
    cri_predictor room, wide = *m;
    cr_status     st = cri_predictor_new(cx, p, m->r, &room);
    if (st != CR_OK) return st;
    wide.p = p;
    wide.coef = room.coef, wide.coef_sd = room.coef_sd;
    wide.centre = room.centre, wide.scale = room.scale;
    wide.F = room.F;
    for (size_t j = 0; j < m->p; j++) {
        wide.coef[which[j]] = m->coef[j];
        wide.coef_sd[which[j]] = m->coef_sd[j];
        wide.centre[which[j]] = m->centre[j];
        wide.scale[which[j]] = m->scale[j];
        for (size_t i = 0; i < m->r; i++) wide.F[i * p + which[j]] = m->F[i * m->p + j];
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
        for (size_t k = 0; k < m->r; k++)
            variance += m->sign * m->F[k * m->p + j] * m->F[k * m->p + j];
        m->coef_sd[j] = m->sigma * sqrt(variance > 0 ? variance : 0) / m->scale[j];
        plain += plain_of(m, j) * u * u;
    }
    for (size_t k = 0; k < m->r; k++) {
        double f = m->start ? -m->start[k] : 0;
        for (size_t j = 0; j < m->p; j++) f += m->F[k * m->p + j] * m->centre[j] / m->scale[j];
        factored += f * f;
    }
    h0 += plain + m->sign * factored;
    m->intercept_sd = m->has_intercept ? m->sigma * sqrt(h0 > 0 ? h0 : 0) : NAN;
}

/* --- predict --------------------------------------------------------------------------------- */

enum { BLOCK = 128 };

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

/* Leverage, scale and dof of the n rows U [n x p] from `begin` on; U is standardised in place,
 * FU [n x r] is room. */
static void predict_spreads(const cri_predictor *m, double *U, double *FU, size_t begin, size_t n,
                            cr_prediction *out)
{
    size_t p = m->p, r = m->r;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++) U[i * p + j] = (U[i * p + j] - m->centre[j]) / m->scale[j];
    if (r > 0 && p > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)r, (int)p, 1, U, (int)p,
                    m->F, (int)p, 0, FU, (int)r);
    for (size_t i = 0; i < n; i++) {
        double plain = 0, factored = 0;
        for (size_t j = 0; m->plain != 0 && j < p; j++) plain += U[i * p + j] * U[i * p + j];
        for (size_t k = 0; k < r; k++) factored += FU[i * r + k] * FU[i * r + k];
        set_spread(m, m->mean_share + m->plain * plain + m->sign * factored, begin + i, out);
    }
}

/* The same of rows with entries, where there is a diagonal; f [r] is room.  O(entries r). */
static void predict_entries(const predict_work *w, cri_range range, double *f)
{
    const cri_predictor *m = w->m;
    const cri_sparse    *X = w->rows->sparse;
    for (size_t i = range.begin; i < range.end; i++) {
        size_t end, e = cri_sparse_row(X, i, &end);
        double plain = w->plain, factored = 0;
        memcpy(f, w->start, m->r * sizeof *f);
        for (; e < end; e++) {
            size_t j = X->column[e];
            double x = X->value[e] / m->scale[j], c = m->centre[j] / m->scale[j];
            plain += m->diagonal[j] * x * (x - 2 * c);
            for (size_t k = 0; k < m->r; k++) f[k] += m->F[k * m->p + j] * x;
        }
        for (size_t k = 0; k < m->r; k++) factored += f[k] * f[k];
        set_spread(m, m->mean_share + plain + m->sign * factored, i, w->out);
    }
}

/* room: the rows U [BLOCK x p] and F U [BLOCK x r], where any row is spread out. */
static void predict_block(void *arg, cri_range range, double *room)
{
    const predict_work  *w = arg;
    const cri_predictor *m = w->m;
    bool                 filled = !w->sparse || (w->spread && !w->start);
    size_t               p = m->p, n = range.end - range.begin;
    double              *U = room, *FU = room + (filled ? BLOCK * p : 0);

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
    size_t               room = filled ? BLOCK * (m->p + m->r) : w->spread ? m->r : 0;
    cr_status            st = cri_blas_reserve(cx);
    if (st != CR_OK) return st;
    cri_blas_enter();
    st = cri_parallel_rows(cx, "predicting", w->rows->n, BLOCK, room, predict_block, w);
    cri_blas_leave();
    return st;
}

/* Where there is a diagonal: all by the entries, which rows of ordinary columns have not yet. */
static cr_status predict_diagonal(cr_ctx *cx, predict_work *w)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_rows   view = { 0 };
    double    *start = cr_scratch_f64(&s, w->m->r);

    CR_TRY(s.status);
    if (!w->rows->sparse) {
        CR_TRY(cri_rows_open_entries(cx, w->rows, &view));
        w->rows = &view;
    }
    if (!w->rows->sparse->plain)
        CR_TRY(cr_fail(cx, CR_EDATA, "a model of levels has terms that are standardised"));
    for (size_t k = 0; k < w->m->r; k++) {
        start[k] = w->m->start[k];
        for (size_t j = 0; j < w->m->p; j++)
            if (w->m->centre[j] != 0)
                start[k] -= w->m->F[k * w->m->p + j] * w->m->centre[j] / w->m->scale[j];
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

cr_status cri_predictor_predict(cr_ctx *cx, const cri_predictor *m, const cri_rows *rows,
                                cr_prediction *out)
{
    predict_work w = { .m = m, .rows = rows, .out = out };
    w.sparse = rows->sparse && rows->sparse->plain;
    w.spread = out->scale && (m->r > 0 || m->plain != 0 || m->diagonal);
    return m->diagonal ? predict_diagonal(cx, &w) : predict_rows(cx, &w);
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
        if (h > q.max_leverage) q.max_leverage = h, q.max_row = rows->index ? rows->index[i] : i;
    }
    q.loo /= weight;
    *out = q;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- describe -------------------------------------------------------------------------------- */

/* A parameter with a t (or normal) distribution of this scale.  The scale itself is the standard
 * error; the sd of the posterior is larger. */
static cr_status add_parameter(cr_ctx *cx, json_t *list, const char *name, double value,
                               double scale, double dof, cri_shown shown)
{
    cr_status st = CR_OK;
    json_t   *item;
    double    spread = isinf(dof) || shown != CRI_SHOW_POSTERIOR ? 1
                       : dof > 2                                 ? sqrt(dof / (dof - 2))
                                                                 : INFINITY;
    double    half = cr_student_t_ppf(0.975, dof) * scale, t = value / scale;
    CR_TRY(cri_parameter_add(cx, list, json_string_nocheck(name), value, scale * spread, &item));
    CR_TRY(cri_parameter_interval(cx, item, value, half));
    if (shown != CRI_SHOW_TESTS) goto done;
    CR_TRY(cri_store_set(cx, item, "t", cri_json_number(t)));
    CR_TRY(cri_store_set(cx, item, "p", cri_json_number(cr_student_t_two_sided(t, dof))));
done:
    return st;
}

cr_status cri_predictor_describe(cr_ctx *cx, const cri_predictor *m, const cr_design *d,
                                 cri_shown shown, json_t *out)
{
    cr_status st = CR_OK;
    json_t   *list = json_array();
    double    shift = d->target_shift, scale = d->target_scale; /* back to the target's units */
    CR_TRY(cri_store_set(cx, out, "parameters", list));
    if (m->has_intercept)
        CR_TRY(add_parameter(cx, list, "intercept", m->intercept * scale + shift,
                             m->intercept_sd * scale, m->dof, shown));
    for (size_t j = 0; j < m->p; j++)
        CR_TRY(add_parameter(cx, list, cr_design_term_name(d, j), m->coef[j] * scale,
                             m->coef_sd[j] * scale, m->dof, shown));
done:
    return st;
}

/* --- file ------------------------------------------------------------------------------------ */

/* NaN sds (aliased terms, no intercept sd) are kept as -1 in the file, whose numbers are finite. */
static double sd_out(double sd) { return isnan(sd) ? -1 : sd; }
static double sd_in(double sd) { return sd < 0 ? NAN : sd; }

cr_status cri_predictor_write(cr_ctx *cx, const cri_predictor *m, cri_store *store, json_t *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *sd = cr_scratch_f64(&s, m->p);

    CR_TRY(s.status);
    for (size_t j = 0; j < m->p; j++) sd[j] = sd_out(m->coef_sd[j]);
    CR_TRY(cri_store_set(cx, out, "has_intercept", json_boolean(m->has_intercept)));
    CR_TRY(cri_store_set_real(cx, out, "intercept", m->intercept));
    CR_TRY(cri_store_set_real(cx, out, "at_centre", m->at_centre));
    CR_TRY(cri_store_set_real(cx, out, "intercept_sd", sd_out(m->intercept_sd)));
    CR_TRY(cri_store_set(cx, out, "rank", json_integer((json_int_t)m->r)));
    CR_TRY(cri_store_set_real(cx, out, "plain", m->plain));
    CR_TRY(cri_store_set_real(cx, out, "sign", m->sign));
    CR_TRY(cri_store_set_real(cx, out, "mean_share", m->mean_share));
    CR_TRY(cri_store_set_real(cx, out, "sigma", sd_out(m->sigma)));
    CR_TRY(cri_store_set(cx, out, "dof", cri_json_number(m->dof))); /* null = infinite */
    CR_TRY(cri_store_put_vector(cx, store, "coef", m->coef, m->p));
    CR_TRY(cri_store_put_vector(cx, store, "coef_sd", sd, m->p));
    CR_TRY(cri_store_put_vector(cx, store, "centre", m->centre, m->p));
    CR_TRY(cri_store_put_vector(cx, store, "scale", m->scale, m->p));
    CR_TRY(cri_store_put_matrix(cx, store, "factor", m->F, m->r, m->p));
    if (m->diagonal) {
        CR_TRY(cri_store_set(cx, out, "diagonal", json_true()));
        CR_TRY(cri_store_put_vector(cx, store, "diagonal", m->diagonal, m->p));
        CR_TRY(cri_store_put_vector(cx, store, "start", m->start, m->r));
    }
    size_t q = m->has_intercept + m->p;
    if (m->robust) CR_TRY(cri_store_set(cx, out, "robust", json_true()));
    if (m->robust) CR_TRY(cri_store_put_matrix(cx, store, "robust", m->robust, q, q));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_predictor_read(cr_ctx *cx, const cri_store *store, const json_t *in, size_t p,
                             cri_predictor *out)
{
    cr_status     st = CR_OK;
    cri_predictor m = { .p = p };
    CR_TRY(cri_store_get_count(cx, store, in, "rank", &m.r));
    CR_TRY(cri_store_get_real(cx, store, in, "intercept", &m.intercept));
    CR_TRY(cri_store_get_real(cx, store, in, "at_centre", &m.at_centre));
    CR_TRY(cri_store_get_real(cx, store, in, "intercept_sd", &m.intercept_sd));
    CR_TRY(cri_store_get_real(cx, store, in, "plain", &m.plain));
    CR_TRY(cri_store_get_real(cx, store, in, "sign", &m.sign));
    CR_TRY(cri_store_get_real(cx, store, in, "mean_share", &m.mean_share));
    CR_TRY(cri_store_get_real(cx, store, in, "sigma", &m.sigma));
    CR_TRY(cri_store_get_vector(cx, store, "coef", p, &m.coef));
    CR_TRY(cri_store_get_vector(cx, store, "coef_sd", p, &m.coef_sd));
    CR_TRY(cri_store_get_vector(cx, store, "centre", p, &m.centre));
    CR_TRY(cri_store_get_vector(cx, store, "scale", p, &m.scale));
    CR_TRY(cri_store_get_matrix(cx, store, "factor", m.r, p, &m.F));
    m.has_intercept = json_is_true(json_object_get(in, "has_intercept"));
    if (json_is_true(json_object_get(in, "diagonal"))) {
        CR_TRY(cri_store_get_vector(cx, store, "diagonal", p, &m.diagonal));
        CR_TRY(cri_store_get_vector(cx, store, "start", m.r, &m.start));
    }
    size_t q = m.has_intercept + p;
    if (json_is_true(json_object_get(in, "robust")))
        CR_TRY(cri_store_get_matrix(cx, store, "robust", q, q, &m.robust));
    m.intercept_sd = sd_in(m.intercept_sd);
    m.dof = cri_json_number_or_nan(in, "dof");
    if (isnan(m.dof)) m.dof = INFINITY;
    m.sigma = sd_in(m.sigma);
    bool valid = true;
    for (size_t j = 0; j < p; j++) {
        m.coef_sd[j] = sd_in(m.coef_sd[j]);
        valid = valid && m.scale[j] > 0 && !(m.diagonal && m.diagonal[j] < 0);
    }
    if (!valid)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: a scale or variance in the model file is not positive",
                       cri_store_source(store)));
    *out = m;
    m = (cri_predictor){ 0 };
done:
    cri_predictor_free(cx, &m);
    return st;
}
