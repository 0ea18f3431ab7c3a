/* average_score.c -- the scores of a mixture: density, quantiles and CRPS of it as it is. */
#include "assess_internal.h"
#include "average_internal.h"
#include "math/quadrature.h"
#include "math/special/special.h"
#include "prob/dist/dist_class.h"

#include <math.h>
#include <string.h>

typedef struct row_of {
    cr_ctx            *cx;
    const cri_mixture *m;
    size_t             row;
    cr_status          st; /* the first failure */
} row_of;

static double part_cdf(row_of *r, const cr_prediction *p, double x)
{
    double z = (x - p->mean[r->row]) / p->scale[r->row], F = NAN;
    if (!p->family)
        return isinf(p->dof[r->row]) ? cr_norm_cdf(z) : cr_student_t_cdf(z, p->dof[r->row]);
    cr_status st =
        cr_dist_cdf(r->cx, p->family, p->params + r->row * p->n_params, p->n_params, x, &F);
    if (st != CR_OK && r->st == CR_OK) r->st = st;
    return F;
}

static double mixture_cdf(row_of *r, double x)
{
    double F = 0;
    for (size_t k = 0; k < r->m->n; k++)
        if (r->m->weights[k] > 0) F += r->m->weights[k] * part_cdf(r, &r->m->parts[k], x);
    return F;
}

static double part_log_density(row_of *r, const cr_prediction *p, double y)
{
    size_t i = r->row;
    double z = (y - p->mean[i]) / p->scale[i], f = NAN;
    if (!p->family)
        return (isinf(p->dof[i]) ? cr_norm_logpdf(z) : cr_student_t_logpdf(z, p->dof[i])) -
               log(p->scale[i]);
    cr_status st =
        cr_dist_logpdf(r->cx, p->family, p->params + i * p->n_params, p->n_params, y, &f);
    if (st != CR_OK && r->st == CR_OK) r->st = st;
    return f;
}

static double mixture_log_density(row_of *r, double y)
{
    double most = -INFINITY, sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < r->m->n; k++) {
            if (!(r->m->weights[k] > 0)) continue;
            double a = log(r->m->weights[k]) + part_log_density(r, &r->m->parts[k], y);
            if (pass == 0)
                most = fmax(most, a);
            else if (isfinite(most))
                sum += exp(a - most);
        }
    return isfinite(most) ? most + log(sum) : most;
}

/* The p-quantile: between those of the parts, by halving. */
static double mixture_quantile(row_of *r, double p)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < r->m->n; k++) {
        const cr_prediction *q = &r->m->parts[k];
        double               x = NAN;
        if (!(r->m->weights[k] > 0)) continue;
        if (q->family) {
            cr_status st = cr_dist_quantile(r->cx, q->family, q->params + r->row * q->n_params,
                                            q->n_params, p, &x);
            if (st != CR_OK && r->st == CR_OK) r->st = st;
        } else {
            x = q->mean[r->row] + q->scale[r->row] * cr_student_t_ppf(p, q->dof[r->row]);
        }
        low = fmin(low, x), high = fmax(high, x);
    }
    for (int i = 0; i < 200 && high - low > 1e-13 * (fabs(low) + fabs(high)); i++) {
        double middle = low + (high - low) / 2;
        if (mixture_cdf(r, middle) < p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double below(double x, void *user) { return pow(mixture_cdf(user, x), 2); }
static double above(double x, void *user) { return pow(1 - mixture_cdf(user, x), 2); }

/* integral of (F(x) - 1{x >= y})^2, to about 1e-6 of itself. */
static cr_status mixture_crps(row_of *r, double y, double *out)
{
    cr_status st = CR_OK;
    double    mean, sd, left = 0, right = 0;
    cri_mixture_moments(r->m, r->row, &mean, &sd);
    double small = isfinite(sd) ? 1e-7 * sd : 0;
    CR_TRY(cr_integrate(r->cx, below, r, -INFINITY, y, small, 1e-6, &left, NULL));
    CR_TRY(cr_integrate(r->cx, above, r, y, INFINITY, small, 1e-6, &right, NULL));
    *out = left + right;
done:
    return st;
}

/* Whether every part has a spread in every row that counts. */
static bool has_spread(const cri_mixture *m, const size_t *rows, size_t n)
{
    for (size_t k = 0; k < m->n; k++)
        for (size_t i = 0; i < n; i++)
            if (!(m->parts[k].scale[rows[i]] > 0)) return false;
    return true;
}

/* What points alone do not give. */
static cr_status score_spread(cr_ctx *cx, const cri_mixture *m, const size_t *rows, size_t n,
                              const double *y, const double *w, double level,
                              cr_regression_metrics *out)
{
    cr_status st = CR_OK;
    double    W = 0, score = 0, crps = 0, covered = 0, width = 0;
    for (size_t i = 0; i < n; i++) {
        row_of r = { cx, m, rows[i], CR_OK };
        double ranked;
        if (i % 64 == 0) CR_TRY(cr_check_interrupt(cx));
        double lower = mixture_quantile(&r, 0.5 - level / 2);
        double upper = mixture_quantile(&r, 0.5 + level / 2);
        CR_TRY(mixture_crps(&r, y[i], &ranked));
        W += w[i];
        score += w[i] * mixture_log_density(&r, y[i]);
        crps += w[i] * ranked;
        covered += lower <= y[i] && y[i] <= upper ? w[i] : 0;
        width += w[i] * (upper - lower);
        CR_TRY(r.st);
    }
    out->log_score = score / W, out->crps = crps / W;
    out->coverage = covered / W, out->width = width / W;
done:
    return st;
}

static cr_status score_numbers(cr_ctx *cx, const cri_mixture *m, const size_t *rows,
                               const double *y, const double *w, double level, cr_assessment *a)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    double               *mean = cr_scratch_f64(&s, a->rows), sd;
    cr_predictive         points = { .n = a->rows, .mean = mean };
    cr_regression_metrics x;
    CR_TRY(s.status);
    for (size_t i = 0; i < a->rows; i++) cri_mixture_moments(m, rows[i], &mean[i], &sd);
    CR_TRY(cr_regression_evaluate(cx, y, &points, w, level, &x));
    if (has_spread(m, rows, a->rows)) CR_TRY(score_spread(cx, m, rows, a->rows, y, w, level, &x));
    cri_assess_add_numbers(a, &x);
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status score_classes(cr_ctx *cx, const cri_mixture *m, const size_t *rows,
                               const double *y, const double *w, const cr_judging *how,
                               cr_assessment *a)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     K = m->parts[0].n_classes;
    double    *P = cr_scratch_matrix(&s, a->rows, K);
    uint32_t  *codes = cr_scratch_bytes(&s, a->rows, sizeof *codes);
    CR_TRY(s.status);
    for (size_t i = 0; i < a->rows; i++) {
        codes[i] = (uint32_t)y[i];
        for (size_t c = 0; c < K; c++) {
            P[i * K + c] = 0;
            for (size_t k = 0; k < m->n; k++)
                P[i * K + c] += m->weights[k] * m->parts[k].prob[rows[i] * K + c];
            P[i * K + c] = fmin(P[i * K + c], 1);
        }
    }
    cr_prediction p = { .kind = CR_ANSWER_CLASS,
                        .n = a->rows,
                        .n_classes = K,
                        .prob = P,
                        .classes = m->parts[0].classes };
    CR_TRY(cri_assess_classes(cx, &p, codes, w, how->opt_positive, a));
    if (how->opt_loss) CR_TRY(cri_assess_add_loss(cx, &p, how->opt_loss, y, w, a));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_average_evaluate(cr_ctx *cx, const cr_model *const *models, const double *weights,
                               size_t n, const cr_table *t, const cr_judging *how,
                               cr_assessment *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        N = cr_table_rows(t), *rows = cr_scratch_index(&s, N);
    double       *y = cr_scratch_f64(&s, N), *w = cr_scratch_f64(&s, N);
    cri_mixture   m = { 0 };
    cr_assessment a = { .quantile = NAN, .positive_share = NAN };

    CR_TRY(s.status);
    if (!(how->level > 0 && how->level < 1))
        CR_TRY(cr_fail(cx, CR_EARG, "the level of an interval must lie between 0 and 1"));
    CR_TRY(cri_mixture_open(cx, models, weights, n, t, &m));
    CR_TRY(cr_observed(cx, models[0], t, y, w));
    for (size_t i = 0; i < N; i++) {
        if (isnan(y[i]) || !cri_mixture_has(&m, i)) continue;
        rows[a.rows] = i, y[a.rows] = y[i], w[a.rows] = w[i];
        a.rows++;
    }
    if (a.rows == 0)
        CR_TRY(
            cr_fail(cx, CR_EDATA, "%s: no row has both target and prediction", cr_table_source(t)));
    for (size_t i = 0; i < a.rows; i++) a.weight += w[i];
    bool numbers = m.parts[0].kind == CR_ANSWER_NUMBER;
    CR_TRY(numbers ? score_numbers(cx, &m, rows, y, w, how->level, &a)
                   : score_classes(cx, &m, rows, y, w, how, &a));
    if (numbers && how->opt_loss) /* decisions under a mixture of densities are not made */
        a.metrics[a.n++] = (cr_metric){ "loss", NAN, NAN };
    *out = a;
done:
    cri_mixture_free(cx, &m);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_average_evaluate(cr_ctx *cx, const cr_model *const *models, const double *weights,
                              size_t n, const cr_table *t, double level, cr_assessment *out)
{
    return cri_average_evaluate(cx, models, weights, n, t, &(cr_judging){ .level = level }, out);
}
