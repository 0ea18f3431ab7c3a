/* hmm_regress.c -- see hmm_regress.h. */
#include "hmm_regress.h"
#include "base/list.h"
#include "base/scratch.h"
#include "models/common/column_kinds.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <string.h>

/* A variance of which others leave less than this is theirs, and the rest rounding. */
static const double LEAST_SHARE = 1e-10;

cri_hmm_units cri_hmm_units_of(const cri_hmm *m)
{
    return (cri_hmm_units){ .p = m->p,
                            .q = m->q,
                            .kind = m->kind,
                            .centre = m->centre,
                            .scale = m->scale,
                            .blend = m->blend,
                            .slope = m->slope };
}

/* --- which columns --------------------------------------------------------------------------- */

static const char *term_name(const void *design, size_t j)
{
    return cr_design_term_name(design, j);
}

static cr_status name_covariate(cr_ctx *cx, const cr_design *d, const char *name, size_t *kind)
{
    size_t p = cr_design_terms(d), j = 0;
    while (j < p && strcmp(cr_design_term_name(d, j), name) != 0) j++;
    if (j == p) {
        cr_fail(cx, CR_EARG, "--covariates: the model does not use a column '%s'", name);
        return cr_fail_nearest(cx, name, "columns", p, term_name, d);
    }
    if (cri_term_levels(d, j) > 0)
        return cr_fail(cx, CR_EARG, "--covariates: the column '%s' is a category, not a number",
                       name);
    kind[j] = CRI_EMIT_COVARIATE;
    return CR_OK;
}

static cr_status check_emitted(cr_ctx *cx, const cr_design *d, const size_t *kind, size_t q)
{
    size_t p = cr_design_terms(d);
    if (p == q) {
        cr_fail(cx, CR_EARG,
                "--covariates: all columns are covariates, none is left to be emitted");
        return cr_fail_hint(cx, "--features y,x --covariates x");
    }
    for (size_t j = 0; j < p; j++) {
        const char *name = cr_design_term_name(d, j);
        if (kind[j] == CRI_EMIT_COVARIATE || kind[j] == CRI_EMIT_GAUSSIAN) continue;
        cr_fail(cx, CR_EARG,
                "--covariates: the column '%s' is %s, but only gaussian columns have covariates",
                name, cri_emission_name(kind[j]));
        return cr_fail_hint(cx, "--features '!%s' leaves it out", name);
    }
    return CR_OK;
}

cr_status cri_hmm_name_covariates(cr_ctx *cx, const cr_design *d, const char *list, size_t *kind,
                                  size_t *out_q)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char     **names = NULL;
    size_t     n = 0, q = 0, p = cr_design_terms(d);

    CR_TRY(cri_list_split(&s, list, &names, &n));
    for (size_t i = 0; i < n; i++) CR_TRY(name_covariate(cx, d, names[i], kind));
    for (size_t j = 0; j < p; j++) q += kind[j] == CRI_EMIT_COVARIATE;
    if (q > 0) CR_TRY(check_emitted(cx, d, kind, q));
    for (size_t j = 0; j < p && q > 0; j++)
        if (kind[j] == CRI_EMIT_GAUSSIAN) kind[j] = CRI_EMIT_REGRESSED;
    *out_q = q;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- units ----------------------------------------------------------------------------------- */

/* u [q] of step t before it is blended: covariates in units of their sds.  false where one is missing. */
static bool take_covariates(const cri_hmm_data *d, const cri_hmm_units *v, size_t t, double *u)
{
    bool there = true;
    for (size_t j = 0, l = 0; j < v->p; j++) {
        if (v->kind[j] != CRI_EMIT_COVARIATE) continue;
        u[l] = (d->X[j * d->T + t] - v->centre[j]) / v->scale[j];
        there &= !isnan(u[l++]);
    }
    return there;
}

/* u becomes blend u. */
static void blend(const cri_hmm_units *v, double *u)
{
    for (size_t l = v->q; l-- > 0;) {
        u[l] *= v->blend[l * v->q + l];
        for (size_t h = 0; h < l; h++) u[l] += v->blend[l * v->q + h] * u[h];
    }
}

static size_t covariate_term(const size_t *kind, size_t l)
{
    size_t j = 0;
    for (;; j++)
        if (kind[j] == CRI_EMIT_COVARIATE && l-- == 0) return j;
}

size_t cri_hmm_covariate(const cri_hmm *m, size_t l) { return covariate_term(m->kind, l); }

/* Means of the covariates over the steps that have all of them, to their centres, and their covariance S [q x q]. */
static cr_status average_covariates(cr_ctx *cx, const cri_hmm_data *d, const cri_hmm_units *v,
                                    double *u, double *mean, double *S)
{
    size_t q = v->q, n = 0;
    memset(mean, 0, q * sizeof *mean);
    memset(S, 0, q * q * sizeof *S);
    for (size_t t = 0; t < d->T; t++) {
        if (!take_covariates(d, v, t, u)) continue;
        for (size_t l = 0; l < q; l++) mean[l] += u[l];
        n++;
    }
    if (n == 0) return cr_fail(cx, CR_EDATA, "hmm: no row has all covariates");
    for (size_t l = 0; l < q; l++) {
        size_t j = covariate_term(v->kind, l);
        v->centre[j] += v->scale[j] * mean[l] / (double)n;
    }
    for (size_t t = 0; t < d->T; t++) {
        if (!take_covariates(d, v, t, u)) continue;
        for (size_t l = 0; l < q; l++)
            for (size_t h = 0; h <= l; h++) S[l * q + h] += u[l] * u[h] / (double)n;
    }
    return CR_OK;
}

/* blend = the inverse of the Cholesky factor of S, whose lower triangle becomes the factor. */
static cr_status find_blend(cr_ctx *cx, const cr_design *design, const cri_hmm_units *v, double *S)
{
    size_t q = v->q;
    for (size_t l = 0; l < q; l++) {
        double own = S[l * q + l], left = own;
        for (size_t h = 0; h < l; h++) {
            double w = S[l * q + h];
            for (size_t i = 0; i < h; i++) w -= S[l * q + i] * S[h * q + i];
            S[l * q + h] = w / S[h * q + h];
            left -= S[l * q + h] * S[l * q + h];
        }
        if (!(left > LEAST_SHARE * own)) {
            cr_fail(cx, CR_EDATA, "hmm: the covariate '%s' is a sum of multiples of others",
                    cr_design_term_name(design, covariate_term(v->kind, l)));
            return cr_fail_hint(cx, "leave it out of --covariates and of --features");
        }
        S[l * q + l] = sqrt(left);
        for (size_t h = 0; h <= l; h++) { /* row l of the inverse */
            double w = h == l;
            for (size_t i = h; i < l; i++) w -= S[l * q + i] * v->blend[i * q + h];
            v->blend[l * q + h] = w / S[l * q + l];
        }
    }
    return CR_OK;
}

/* The moments of 1 and u over the steps that have column j: M [q+1 x q+1], and of these with y: right [q+1]. */
static size_t add_moments(const cri_hmm_data *d, const cri_hmm_units *v, size_t j, double *M,
                          double *right)
{
    size_t q = v->q, w = q + 1, n = 0;
    memset(M, 0, w * w * sizeof *M);
    memset(right, 0, w * sizeof *right);
    for (size_t t = 0; t < d->T; t++) {
        const double *u = d->U + t * q;
        double        y = (d->X[j * d->T + t] - v->centre[j]) / v->scale[j];
        if (isnan(y) || isnan(u[0])) continue;
        n++;
        for (size_t a = 0; a < w; a++) {
            double x = a > 0 ? u[a - 1] : 1;
            right[a] += x * y;
            for (size_t b = 0; b <= a; b++) M[a * w + b] += x * (b > 0 ? u[b - 1] : 1);
        }
    }
    for (size_t a = 0; a < w; a++)
        for (size_t b = 0; b < a; b++) M[b * w + a] = M[a * w + b];
    return n;
}

/* The sd of what the line leaves of column j, in units of its scale. */
static double left_over(const cri_hmm_data *d, const cri_hmm_units *v, size_t j, const double *line,
                        size_t n)
{
    double sum = 0;
    for (size_t t = 0; t < d->T; t++) {
        const double *u = d->U + t * v->q;
        double        r = (d->X[j * d->T + t] - v->centre[j]) / v->scale[j] - line[0];
        for (size_t l = 0; l < v->q; l++) r -= line[l + 1] * u[l];
        if (!isnan(r)) sum += r * r;
    }
    return sqrt(sum / (double)n);
}

/* The regression of column j in all rows. */
static cr_status settle_column(cr_ctx *cx, const cr_design *design, const cri_hmm_data *d,
                               const cri_hmm_units *v, size_t j, double *M, double *L, double *line)
{
    size_t      q = v->q, n = add_moments(d, v, j, M, line);
    const char *name = cr_design_term_name(design, j);
    if (n <= q + 1 || !cri_factor_point(M, q + 1, L))
        return cr_fail(
            cx, CR_EDATA,
            "hmm: only %zu rows have '%s' and its covariates: too few for %zu coefficients", n,
            name, q + 1);
    cri_solve_lower(L, q + 1, line);
    cri_solve_upper(L, q + 1, line);
    double sd = left_over(d, v, j, line, n);
    if (!(sd > LEAST_SHARE))
        return cr_fail(
            cx, CR_EDATA,
            "hmm: '%s' is a linear function of the covariates in all rows: it has no density",
            name);
    for (size_t l = 0; l < q; l++) v->slope[j * q + l] = line[l + 1] / sd;
    v->centre[j] += v->scale[j] * line[0];
    v->scale[j] *= sd;
    return CR_OK;
}

static cr_status make_room(cr_ctx *cx, cri_hmm_data *d, size_t q)
{
    d->q = q;
    d->U = cr_alloc(cx, q * d->T, sizeof(double));
    return d->U ? CR_OK : CR_ENOMEM;
}

/* u of all steps, NaN in those that lack a covariate. */
static void fill_covariates(cri_hmm_data *d, const cri_hmm_units *v)
{
    for (size_t t = 0; t < d->T; t++) {
        double *u = d->U + t * v->q;
        bool    there = take_covariates(d, v, t, u);
        blend(v, u);
        for (size_t l = 0; l < v->q && !there; l++) u[l] = NAN;
    }
}

/* Columns less the regression of all rows. */
static void take_off(cri_hmm_data *d, const cri_hmm_units *v)
{
    for (size_t j = 0; j < v->p; j++) {
        if (v->kind[j] != CRI_EMIT_REGRESSED) continue;
        for (size_t t = 0; t < d->T; t++)
            for (size_t l = 0; l < v->q; l++)
                d->X[j * d->T + t] -= v->scale[j] * v->slope[j * v->q + l] * d->U[t * v->q + l];
    }
}

cr_status cri_hmm_settle_regression(cr_ctx *cx, const cr_design *design, cri_hmm_data *d,
                                    const cri_hmm_units *v)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     w = v->q + 1;
    double    *M = cr_scratch_matrix(&s, w, w), *L = cr_scratch_matrix(&s, w, w);
    double    *line = cr_scratch_f64(&s, w), *u = cr_scratch_f64(&s, w);

    CR_TRY(s.status);
    CR_TRY(average_covariates(cx, d, v, u, line, M));
    CR_TRY(find_blend(cx, design, v, M));
    CR_TRY(make_room(cx, d, v->q));
    fill_covariates(d, v);
    for (size_t j = 0; j < v->p; j++) {
        CR_TRY(cr_check_interrupt(cx));
        if (v->kind[j] == CRI_EMIT_REGRESSED)
            CR_TRY(settle_column(cx, design, d, v, j, M, L, line));
    }
    take_off(d, v);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_hmm_regress_data(cr_ctx *cx, cri_hmm_data *d, const cri_hmm_units *v)
{
    cr_status st = v->q > 0 ? make_room(cx, d, v->q) : CR_OK;
    if (v->q == 0 || st != CR_OK) return st;
    fill_covariates(d, v);
    take_off(d, v);
    return CR_OK;
}

/* --- lines ----------------------------------------------------------------------------------- */

double cri_hmm_coefficient(const cri_hmm *m, size_t j, size_t c, size_t l)
{
    size_t q = m->q;
    double sum = 0;
    for (size_t h = l; h < q; h++)
        sum += m->blend[h * q + l] * (m->slope[j * q + h] + m->coef[(j * q + h) * m->k + c]);
    return sum * m->scale[j] / m->scale[cri_hmm_covariate(m, l)];
}

double cri_hmm_intercept(const cri_hmm *m, size_t j, size_t c)
{
    double intercept = m->centre[j] + m->scale[j] * m->mean[j * m->k + c];
    for (size_t l = 0; l < m->q; l++)
        intercept -= cri_hmm_coefficient(m, j, c, l) * m->centre[cri_hmm_covariate(m, l)];
    return intercept;
}

void cri_hmm_set_line(cri_hmm *m, size_t j, size_t c, double intercept, double *coef)
{
    size_t q = m->q;
    for (size_t l = 0; l < q; l++) {
        size_t x = cri_hmm_covariate(m, l);
        intercept += coef[l] * m->centre[x];
        coef[l] *= m->scale[x] / m->scale[j];
    }
    m->mean[j * m->k + c] = (intercept - m->centre[j]) / m->scale[j];
    cri_solve_upper(m->blend, q, coef);
    for (size_t l = 0; l < q; l++) m->coef[(j * q + l) * m->k + c] = coef[l] - m->slope[j * q + l];
}
