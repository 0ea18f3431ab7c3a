/* hmm_vector.c -- all that a step changes as numbers without constraints, in which steps are extrapolated: logarithms of
 * probabilities and of what must be above 0, means as they are, and the Cholesky factors of covariances, the diagonal by
 * its logarithm.  Without a prior probabilities may be 0: there are no such numbers then. */
#include "hmm.h"
#include "hmm_duration.h"
#include "hmm_ties.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* Walks over the numbers in one order: they are read from the state, or set. */
typedef struct walk {
    double       *out;
    const double *in;
    size_t        n;
    bool          valid;
    bool         *free; /* which can vary by themselves */
    double        rows; /* that speak for what comes */
    double       *ties; /* to read: [cri_hmm_ties_work]; to find what is free: and k x k */
} walk;

static void pass_number(walk *w, double *x)
{
    if (w->out) w->out[w->n] = *x;
    if (w->in) *x = w->in[w->n];
    if (w->in) w->valid &= isfinite(*x);
    if (w->free) w->free[w->n] = w->rows > 0.5;
    w->n++;
}

static void pass_positive(walk *w, double *x)
{
    double log_x = log(*x);
    pass_number(w, &log_x);
    if (w->in) *x = exp(log_x);
    if (w->in) w->valid &= *x > 0 && isfinite(*x);
}

/* n probabilities `stride` apart, over those that are allowed. */
static void pass_shares(walk *w, double *p, const double *opt_allowed, size_t n, size_t stride)
{
    double sum = 0;
    size_t top = 0, at = w->n;
    for (size_t i = 1; i < n; i++) top = p[i * stride] > p[top * stride] ? i : top;
    for (size_t i = 0; i < n && w->free; i++) {
        if (opt_allowed && !(opt_allowed[i] > 0)) continue;
        w->free[at++] = i != top && p[i * stride] * w->rows > 0.5;
    }
    if (w->free) {
        w->n = at;
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (!opt_allowed || opt_allowed[i] > 0)
            pass_positive(w, &p[i * stride]), sum += p[i * stride];
    if (w->in) w->valid &= sum > 0 && isfinite(sum);
    for (size_t i = 0; i < n && w->in; i++) p[i * stride] /= sum;
}

/* Weights, means and sds of the parts of mixtures. */
static void pass_mixture(walk *w, cri_hmm *m, size_t j)
{
    cri_emitted e = cri_hmm_emitted(m, j, NULL);
    for (size_t c = 0; c < m->k; c++) {
        double rows = m->share[c] * m->weight;
        w->rows = rows;
        pass_shares(w, e.part_weight + c, NULL, m->M, m->k);
        for (size_t at = c; at < m->M * m->k; at += m->k) {
            w->rows = rows * e.part_weight[at];
            pass_number(w, &e.part_mean[at]);
            pass_positive(w, &e.part_sd[at]);
        }
    }
}

static void pass_column(walk *w, cri_hmm *m, size_t j)
{
    size_t              k = m->k;
    const cri_emission *e = cri_emission_of(m->kind[j]);
    bool                any = !e || e->moved || m->kind[j] == CRI_EMIT_VON_MISES;
    for (size_t c = 0; c < k; c++) {
        double *mean = &m->mean[j * k + c];
        w->rows = m->share[c] * m->weight;
        if (any)
            pass_number(w, mean);
        else
            pass_positive(w, mean);
        if (w->in && m->kind[j] == CRI_EMIT_BERNOULLI) w->valid &= *mean < 1;
        if (e && e->parameter[1]) pass_positive(w, &m->spread[j * k + c]);
        if (e && e->parameter[2]) pass_positive(w, &m->tail[j * k + c]);
        for (size_t l = 0; l < m->q && m->kind[j] == CRI_EMIT_REGRESSED; l++)
            pass_number(w, &m->coef[(j * m->q + l) * k + c]);
    }
}

/* Through the factor L of S = L L^T [g x g], of the first state alone where all have the same. */
static void pass_covariances(walk *w, cri_hmm *m, double *L)
{
    size_t g = m->g, k = m->k, own = m->covariance_is == 2 ? 1 : k;
    for (size_t c = 0; c < own; c++) {
        w->rows = own == 1 ? m->weight : m->share[c] * m->weight;
        for (size_t a = 0; a < g; a++)
            for (size_t b = 0; b <= a; b++) {
                double v = m->covariance[(a * g + b) * k + c];
                for (size_t i = 0; i < b; i++) v -= L[a * g + i] * L[b * g + i];
                L[a * g + b] = a == b ? sqrt(v) : v / L[b * g + b];
            }
        for (size_t a = 0; a < g; a++)
            for (size_t b = 0; b <= a; b++)
                (a == b ? pass_positive : pass_number)(w, &L[a * g + b]);
        for (size_t a = 0; a < g && w->in; a++)
            for (size_t b = 0; b <= a; b++) {
                double v = 0;
                for (size_t i = 0; i <= b; i++) v += L[a * g + i] * L[b * g + i];
                for (size_t s = c; s < (own == 1 ? k : c + 1); s++)
                    m->covariance[(a * g + b) * k + s] = m->covariance[(b * g + a) * k + s] = v;
            }
    }
}

/* To leave a state, and to stay, in each stage. */
static void pass_leave(walk *w, cri_hmm *m, size_t i)
{
    for (size_t d = 0; d < m->stages && cri_hmm_can_leave(m, i); d++) {
        double *leave = &m->leave[d * m->k + i], both[2] = { *leave, 1 - *leave };
        if (w->free) w->rows = cri_hmm_stage_rows(m, i, d);
        pass_shares(w, both, NULL, 2, 1);
        if (w->in) *leave = both[0];
    }
}

/* A with ties: the weights of which it is the maximum, of which A itself are some. */
static void pass_tied(walk *w, cri_hmm *m)
{
    size_t  kk = m->k * m->k;
    double *free = w->ties, *work = w->free ? w->ties + kk : w->ties;
    if (w->free) cri_hmm_ties_free(m, free, work);
    for (size_t e = 0; e < kk; e++) {
        if (!(m->may_go[e] > 0)) continue;
        if (!w->free) {
            pass_positive(w, &m->A[e]);
            continue;
        }
        double rows = cri_hmm_transition_rows(m, e / m->k, e % m->k);
        w->free[w->n++] = free[e] > 0 && m->A[e] * rows > 0.5;
    }
    if (w->in) w->valid = w->valid && cri_hmm_solve_ties(m, m->A, m->A, work);
}

static void pass_all(walk *w, cri_hmm *m, double *L)
{
    size_t k = m->k;
    w->rows = (double)m->sequences;
    pass_shares(w, m->pi, m->may_begin, k, 1);
    if (m->ties > 0) pass_tied(w, m);
    for (size_t i = 0; i < k && m->ties == 0; i++) {
        w->rows = m->share[i] * m->weight;
        pass_shares(w, m->A + i * k, m->may_go + i * k, k, 1);
        pass_leave(w, m, i);
    }
    for (size_t j = 0; j < m->p; j++) {
        if (m->kind[j] == CRI_EMIT_COVARIATE) continue;
        if (m->kind[j] == CRI_EMIT_MIXTURE) {
            pass_mixture(w, m, j);
            continue;
        }
        if (m->kind[j] != CRI_EMIT_CATEGORY) {
            pass_column(w, m, j);
            continue;
        }
        for (size_t c = 0; c < k; c++) {
            w->rows = m->share[c] * m->weight;
            pass_shares(w, m->level + m->first[j] * k + c, NULL, cri_hmm_levels(m, j), k);
        }
    }
    if (m->g > 0) pass_covariances(w, m, L);
}

size_t cri_hmm_dimension(const void *state)
{
    const cri_hmm *m = state;
    size_t         n = 0, k = m->k;
    bool           levels = m->L > 0 || m->M > 0;
    if (cri_hmm_is_vb(m) || !(m->prior_transitions > 0) || (levels && !(m->prior_rows > 0)) ||
        m->fixed)
        return 0;
    for (size_t i = 0; i < k; i++) n += m->may_begin[i] > 0;
    for (size_t i = 0; i < k * k; i++) n += m->may_go[i] > 0;
    for (size_t i = 0; i < k; i++) n += cri_hmm_can_leave(m, i) ? 2 * m->stages : 0;
    for (size_t j = 0; j < m->p; j++) {
        const cri_emission *e = cri_emission_of(m->kind[j]);
        if (m->kind[j] == CRI_EMIT_COVARIATE) continue;
        if (m->kind[j] == CRI_EMIT_MIXTURE) {
            n += 3 * m->M * k;
            continue;
        }
        n += m->kind[j] == CRI_EMIT_CATEGORY ? cri_hmm_levels(m, j) * k : k;
        if (e) n += (e->parameter[1] ? k : 0) + (e->parameter[2] ? k : 0);
        if (m->kind[j] == CRI_EMIT_REGRESSED) n += m->q * k;
    }
    return n + (m->covariance_is == 2 ? 1 : k) * m->g * (m->g + 1) / 2;
}

void cri_hmm_to_vector(const void *state, double *out)
{
    cri_hmm m = *(const cri_hmm *)state; /* whose arrays are only read */
    walk    w = { .out = out, .valid = true };
    pass_all(&w, &m, m.factor);
}

cr_status cri_hmm_from_vector(cr_ctx *cx, const double *vector, void *state, bool *out_valid)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_hmm   *m = state;
    double    *work = cr_scratch_f64(&s, cri_hmm_own_work(m));
    walk w = { .in = vector, .valid = true, .ties = cr_scratch_f64(&s, cri_hmm_ties_work(m)) };

    CR_TRY(s.status);
    pass_all(&w, m, m->factor);
    *out_valid = w.valid && cri_hmm_prepare(m, work);
done:
    cr_scratch_end(&s);
    return st;
}

void cri_hmm_find_free(const cri_hmm *state, double *work, bool *out)
{
    cri_hmm m = *state; /* whose arrays are only read */
    walk    w = { .free = out, .valid = true, .ties = work };
    pass_all(&w, &m, m.factor);
}
