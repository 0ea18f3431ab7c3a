/* hmm_errors.c -- standard errors of the parameters from the observed information: minus the second derivatives of the
 * objective at its maximum, in the numbers without constraints of hmm_vector.c,
 *   H_ij = (f(+ +) - f(+ -) - f(- +) + f(- -)) / (4 h_i h_j),   the covariance of the estimates is about (-H)^-1,
 * with steps h at which f falls by about a thousandth, where rounding and higher derivatives are both small; then by the
 * delta method to the parameters as they are described.  They hold for long sequences and a maximum inside its bounds:
 * a probability for which less than half a row speaks is held fixed; of pi and A it has the sd of the posterior of its
 * row, a Dirichlet distribution of what was expected and the prior, and else no error.
 * 2 d^2 passes forward for d numbers: none are given where that is too much. */
#include "hmm.h"
#include "hmm_ties.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <string.h>

enum { MOST_FREE = 60 };
static const double EFFORT = 4e9; /* multiplications of all passes */
static const double FALL = 1e-3;  /* nats by which f falls at a step */

/* --- the objective --------------------------------------------------------------------------- */

typedef struct probe {
    cri_hmm      *m;    /* a copy, whose parameters change */
    const double *v;    /* [dimension] those of the maximum */
    double       *at;   /* [dimension] */
    size_t       *free; /* [n] which of them vary */
    double       *h;    /* [n] their steps */
    size_t        n, dimension;
    double        top; /* f at the maximum */
} probe;

static void add_log_p(void *arg, cri_range range, double *acc, double *work)
{
    const cri_hmm *m = arg;
    cri_hmm_view   v;
    cri_blas_enter();
    cri_hmm_view_open(m, m->data, work, &v);
    work += cri_hmm_view_work(m);
    for (size_t s = range.begin; s < range.end; s++)
        *acc += cri_chain_run(&v.chain, m->data->start[s], m->data->start[s + 1], m->data->longest,
                              &(cri_chain_wish){ 0 }, work);
    cri_blas_leave();
}

/* f where number i has gone a steps and number j b; NaN where there is no such model. */
static cr_status look(cr_ctx *cx, probe *p, size_t i, double a, size_t j, double b, double *out)
{
    cr_status st = CR_OK;
    bool      valid = false;
    double    sum = 0;
    memcpy(p->at, p->v, p->dimension * sizeof *p->at);
    p->at[p->free[i]] += a * p->h[i];
    p->at[p->free[j]] += b * p->h[j];
    *out = NAN;
    CR_TRY(cri_hmm_from_vector(cx, p->at, p->m, &valid));
    if (!valid) goto done;
    CR_TRY(cri_parallel_sum_in(cx, NULL, p->m->data->n, cri_sequences_together(p->m->data->n), 1,
                               cri_hmm_work(p->m), add_log_p, p->m, &sum));
    *out = sum + cri_hmm_log_prior(p->m);
done:
    return st;
}

/* A step at which f falls by about FALL on average of both sides; *out is the second derivative, NaN where f is flat. */
static cr_status find_step(cr_ctx *cx, probe *p, size_t i, double *out)
{
    cr_status st = CR_OK;
    double    up, down;
    *out = NAN;
    p->h[i] = 0.01;
    for (int tries = 0; tries < 12 && p->h[i] < 5; tries++) {
        CR_TRY(look(cx, p, i, 1, i, 0, &up));
        CR_TRY(look(cx, p, i, -1, i, 0, &down));
        double fall = p->top - 0.5 * (up + down);
        if (!isfinite(fall)) {
            p->h[i] /= 10;
        } else if (fall < FALL / 1e4) {
            p->h[i] *= 10;
        } else if (fall < FALL / 4 || fall > FALL * 4) {
            p->h[i] *= sqrt(FALL / fall);
        } else {
            *out = -2 * fall / (p->h[i] * p->h[i]);
            break;
        }
    }
done:
    return st;
}

/* --- errors ---------------------------------------------------------------------------------- */

/* J [values x n]: what a step of number i changes, over the step. */
static cr_status differentiate(cr_ctx *cx, probe *p, size_t values, double *up, double *down,
                               double *J)
{
    cr_status st = CR_OK;
    bool      valid = false;
    for (size_t i = 0; i < p->n; i++) {
        memcpy(p->at, p->v, p->dimension * sizeof *p->at);
        p->at[p->free[i]] += p->h[i];
        CR_TRY(cri_hmm_from_vector(cx, p->at, p->m, &valid));
        cri_hmm_values(p->m, up, NULL);
        p->at[p->free[i]] -= 2 * p->h[i];
        CR_TRY(cri_hmm_from_vector(cx, p->at, p->m, &valid));
        cri_hmm_values(p->m, down, NULL);
        for (size_t a = 0; a < values; a++) J[a * p->n + i] = (up[a] - down[a]) / (2 * p->h[i]);
    }
done:
    return st;
}

/* H [n x n] of the numbers that vary; those in which f is flat are left out first.  *out_done is false where the time
 * is up. */
static cr_status find_hessian(cr_ctx *cx, probe *p, double *H, bool *out_done)
{
    cr_status st = CR_OK;
    size_t    n = 0;
    double    curvature;
    *out_done = false;
    for (size_t i = 0; i < p->n; i++) {
        if (cri_time_left(cx) < 1) goto done;
        p->free[n] = p->free[i];
        CR_TRY(find_step(cx, p, n, &curvature));
        if (isnan(curvature)) continue;
        H[n++] = curvature; /* the diagonal, for now */
    }
    p->n = n;
    for (size_t i = n; i-- > 0;) H[i * n + i] = H[i];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double pp, pm, mp, mm;
            if (cri_time_left(cx) < 1) goto done;
            CR_TRY(look(cx, p, i, 1, j, 1, &pp));
            CR_TRY(look(cx, p, i, 1, j, -1, &pm));
            CR_TRY(look(cx, p, i, -1, j, 1, &mp));
            CR_TRY(look(cx, p, i, -1, j, -1, &mm));
            H[i * n + j] = H[j * n + i] = (pp - pm - mp + mm) / (4 * p->h[i] * p->h[j]);
        }
    *out_done = n > 0;
done:
    return st;
}

/* V [n x n] = (-H)^-1, by correlations; false where that is no covariance, or rounding decides.  R, L [n x n]. */
static bool invert(const double *H, size_t n, double *R, double *L, double *column, double *V)
{
    for (size_t i = 0; i < n * n; i++) R[i] = -H[i] / sqrt(H[i / n * (n + 1)] * H[i % n * (n + 1)]);
    if (!cri_factor_point(R, n, L)) return false;
    for (size_t i = 0; i < n; i++)
        if (!(L[i * (n + 1)] > 1e-5)) return false;
    cri_small_inverse(L, n, V, column);
    for (size_t i = 0; i < n * n; i++) V[i] /= sqrt(H[i / n * (n + 1)] * H[i % n * (n + 1)]);
    return true;
}

static void set_errors(const double *J, const double *V, const bool *weak, size_t values, size_t n,
                       double *error)
{
    for (size_t a = 0; a < values; a++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) sum += J[a * n + i] * V[i * n + j] * J[a * n + j];
        error[a] = sum > 0 && !weak[a] ? sqrt(sum) : NAN;
    }
}

/* sqrt(p (1 - p) / (n + s + 1)) of pi and A, for which n rows speak and a prior of s, where the information gives none:
 * too few rows speak for p or for all the others of its row.  A prior of less than one transition says too little. */
static void fill_weak(const cri_hmm *m, double *error)
{
    size_t k = m->k;
    double s = m->prior_transitions;
    for (size_t a = 0; a < k + k * k; a++) {
        double p = a < k ? m->pi[a] : m->A[a - k], rows = (double)m->sequences;
        if (!isnan(error[a]) || m->ties > 0 || !(s >= 1) || !(p > 0)) continue;
        if (a >= k) rows = cri_hmm_transition_rows(m, (a - k) / k, (a - k) % k);
        error[a] = sqrt(p * (1 - p) / (rows + s + 1));
    }
}

/* A copy whose parameters can change. */
static cr_status open_probe(cr_ctx *cx, cr_scratch *s, const cri_hmm *m, probe *p)
{
    cr_status st = CR_OK;
    bool     *free_ones;
    double   *v, *work = cr_scratch_f64(s, cri_hmm_ties_work(m) + m->k * m->k);
    p->dimension = cri_hmm_dimension(m);
    free_ones = cr_scratch_bytes(s, p->dimension, sizeof *free_ones);
    v = cr_scratch_f64(s, p->dimension);
    p->at = cr_scratch_f64(s, p->dimension);
    p->free = cr_scratch_index(s, p->dimension);
    p->h = cr_scratch_f64(s, p->dimension);
    p->m = cr_alloc(cx, 1, sizeof *p->m);
    CR_TRY(s->status);
    if (!p->m) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_record_copy(cx, cri_hmm_record, m, p->m));
    CR_TRY(cri_record_allocate(cx, cri_hmm_record, p->m)); /* what is made */
    CR_TRY(cri_hmm_place(cx, p->m));
    p->m->data = m->data;
    cri_hmm_to_vector(m, v);
    p->v = v;
    p->top = m->em.objective;
    cri_hmm_find_free(m, work, free_ones);
    for (size_t i = 0; i < p->dimension; i++)
        if (free_ones[i]) p->free[p->n++] = i;
done:
    return st;
}

static bool is_too_much(const cri_hmm *m, size_t n)
{
    double own = (double)(m->k + 4 * m->p + m->gg + 16 * (m->parts + 1) + m->p * m->q);
    double each = (double)m->data->T * (double)m->k * (own + 16 * (double)m->stages);
    return n > MOST_FREE || 2 * (double)(n * n + 6 * n) * each > EFFORT;
}

static cr_status find_errors(cr_ctx *cx, cri_hmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    probe      p = { 0 };
    size_t     values = cri_hmm_values(m, NULL, NULL), n;
    double    *H, *R, *L, *V, *J, *up, *down;
    bool      *weak, done = false;

    CR_TRY(open_probe(cx, &s, m, &p));
    n = p.n;
    if (n == 0 || is_too_much(m, n)) goto done;
    H = cr_scratch_matrix(&s, n, n), R = cr_scratch_matrix(&s, n, n);
    L = cr_scratch_matrix(&s, n, n), V = cr_scratch_matrix(&s, n, n);
    J = cr_scratch_matrix(&s, values, n);
    up = cr_scratch_f64(&s, values), down = cr_scratch_f64(&s, values);
    weak = cr_scratch_bytes(&s, values, sizeof *weak);
    CR_TRY(s.status);
    CR_TRY(look(cx, &p, 0, 0, 0, 0, &p.top));
    CR_TRY(find_hessian(cx, &p, H, &done));
    if (!done || !invert(H, p.n, R, L, down, V)) goto done;
    CR_TRY(differentiate(cx, &p, values, up, down, J));
    cri_hmm_values(m, NULL, weak);
    double *error = cr_resize(cx, m->error, m->errors, values, sizeof(double));
    if (!error) CR_TRY(CR_ENOMEM);
    m->error = error, m->errors = values;
    set_errors(J, V, weak, values, p.n, m->error);
    fill_weak(m, m->error);
done:
    cri_state_free(cx, &cri_class_hmm, p.m);
    cr_scratch_end(&s);
    return st;
}

/* A maximum takes what it fitted for known: log densities of new rows are lower than those of the rows of the fit by
 * about as many nats as there are parameters (Akaike 1973). */
static void warn_of_few(cr_ctx *cx, const cri_hmm *m)
{
    double parameters = cri_hmm_parameters(m);
    bool   known = m->q == 0 && m->stages == 0;
    if (cri_hmm_is_vb(m) || m->fixed || !cri_hmm_are_few(m)) return;
    for (size_t j = 0; j < m->p; j++) known = known && cri_hmm_vb_knows(m->kind[j]);
    cr_log(cx, CR_LOG_WARNING,
           "hmm: %g rows for %g parameters: log densities of new rows are lower than of these, by "
           "%.2g or more a row, and forecasts are too sure%s",
           m->weight, parameters, parameters / m->weight,
           known ? "; --infer vb averages over the parameters" : "");
}

cr_status cri_hmm_find_errors(cr_ctx *cx, const void *plan, const cri_rows *rows, uint64_t seed,
                              bool late, void *state)
{
    cri_hmm  *m = state;
    cr_status st = CR_OK;
    (void)plan, (void)rows, (void)seed;
    warn_of_few(cx, m);
    if (!late && cri_hmm_dimension(m) > 0) st = find_errors(cx, m);
    m->data = NULL; /* the plan's, which ends */
    return st;
}
