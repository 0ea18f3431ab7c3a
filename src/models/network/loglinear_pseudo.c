/* loglinear_pseudo.c -- weights where the junction tree is too wide for log Z.
 *   pseudo-likelihood:  sum over rows and variables of log p(x_v | the other cells of the row),
 * which needs no Z, has one maximum, and tends to the truth with the rows, by a little more slowly than the likelihood;
 * O(rows x entries of terms in their variables) for a gradient.  Its standard errors are H^-1 V H^-1, H its Hessian and V the
 * sum of products of the gradients of rows.
 *   persistent contrastive divergence:  w += rate (means in the rows - means in draws),
 * draws moving on by sweeps of Gibbs sampling while w moves; rates fall, and the second half of the steps is averaged.
 * Besag (1975), The Statistician 24; Varin, Reid & Firth (2011), Statistica Sinica 21; Younes (1999), Stochastics 65;
 * Tieleman (2008), ICML. */
#include "loglinear.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

/* --- the conditional of a variable ------------------------------------------------------------ */

double cri_potentials_condition(const cri_potentials *t, const double *w, const uint16_t *row,
                                size_t v, double *out)
{
    size_t states = t->states[v];
    double top = -INFINITY, sum = 0, own;
    for (size_t s = 0; s < states; s++) out[s] = 0;
    for (size_t i = t->of_begin[v]; i < t->of_begin[v + 1]; i++) {
        size_t place = t->of[i], stride = t->stride[place];
        size_t e = cri_term_entry(t, t->term_of[place], row) - stride * row[v];
        for (size_t s = 0; s < states; s++, e += stride)
            if (t->parameter[e] != CRI_NO_WEIGHT) out[s] += t->coefficient[e] * w[t->parameter[e]];
    }
    for (size_t s = 0; s < states; s++) top = fmax(top, out[s]);
    own = out[row[v]] - top;
    for (size_t s = 0; s < states; s++) sum += out[s] = exp(out[s] - top);
    for (size_t s = 0; s < states; s++) out[s] /= sum;
    return own - log(sum);
}

/* Adds scale * d log p(x_v | rest) / dw. */
static void add_slope(const cri_potentials *t, const uint16_t *row, size_t v, const double *p,
                      double scale, double *sum)
{
    for (size_t i = t->of_begin[v]; i < t->of_begin[v + 1]; i++) {
        size_t place = t->of[i], stride = t->stride[place];
        size_t e = cri_term_entry(t, t->term_of[place], row) - stride * row[v];
        for (size_t s = 0; s < t->states[v]; s++, e += stride)
            if (t->parameter[e] != CRI_NO_WEIGHT)
                sum[t->parameter[e]] += scale * t->coefficient[e] * ((s == row[v]) - p[s]);
    }
}

static size_t most_states(const cri_potentials *t)
{
    size_t most = 1;
    for (size_t v = 0; v < t->p; v++) most = t->states[v] > most ? t->states[v] : most;
    return most;
}

/* --- the pseudo-likelihood -------------------------------------------------------------------- */

typedef struct pass {
    const cri_loglinear_task *t;
    const double             *w;
    bool                      slope;
} pass;

static void add_rows(void *arg, cri_range range, double *acc, double *work)
{
    const pass           *a = arg;
    const cri_potentials *x = &a->t->m->terms;
    for (size_t i = range.begin; i < range.end; i++) {
        const uint16_t *row = a->t->row + i * x->p;
        if (a->t->gap[i]) continue;
        for (size_t v = 0; v < x->p; v++) {
            if (x->states[v] < 2) continue;
            acc[0] += a->t->cases.weight[i] * cri_potentials_condition(x, a->w, row, v, work);
            if (a->slope) add_slope(x, row, v, work, a->t->cases.weight[i], acc + 1);
        }
    }
}

cr_status cri_loglinear_pseudo(cri_loglinear_task *t, const double *w, double *out_f,
                               double *opt_gradient)
{
    enum { TOGETHER = 64 };
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(t->cx);
    const cri_potentials *x = &t->m->terms;
    size_t                width = 1 + (opt_gradient ? x->parameters : 0);
    double               *sums = cr_scratch_f64(&s, width);
    pass                  a = { t, w, opt_gradient != NULL };
    CR_TRY(s.status);
    CR_TRY(cri_parallel_sum_in(t->cx, NULL, t->cases.n, TOGETHER, width, most_states(x), add_rows,
                               &a, sums));
    *out_f = -sums[0];
    for (size_t k = 0; opt_gradient && k < x->parameters; k++) opt_gradient[k] = -sums[1 + k];
done:
    cr_scratch_end(&s);
    return st;
}

/* Adds scale * the covariance of the features under p(x_v | rest) to H; list and slope are workspaces. */
static void add_curvature(const cri_potentials *t, const uint16_t *row, size_t v, const double *p,
                          double scale, size_t *list, double *mean, double *H)
{
    size_t K = t->parameters, n = 0;
    for (size_t s = 0; s < t->states[v]; s++) {
        size_t first = n;
        for (size_t i = t->of_begin[v]; i < t->of_begin[v + 1]; i++) {
            size_t place = t->of[i];
            size_t e = cri_term_entry(t, t->term_of[place], row) + t->stride[place] * s -
                       t->stride[place] * row[v];
            if (t->parameter[e] != CRI_NO_WEIGHT) list[n++] = e;
        }
        for (size_t i = first; i < n; i++) {
            mean[t->parameter[list[i]]] += p[s] * t->coefficient[list[i]];
            for (size_t j = first; j < n; j++)
                H[t->parameter[list[i]] * K + t->parameter[list[j]]] +=
                    scale * p[s] * t->coefficient[list[i]] * t->coefficient[list[j]];
        }
    }
    /* a weight may stand in the list once for each state: the first time counts */
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = t->parameter[list[i]], j = 0;
        while (j < kept && list[j] != k) j++;
        if (j == kept) list[kept++] = k;
    }
    for (size_t i = 0; i < kept; i++)
        for (size_t j = 0; j < kept; j++)
            H[list[i] * K + list[j]] -= scale * mean[list[i]] * mean[list[j]];
    for (size_t i = 0; i < kept; i++) mean[list[i]] = 0;
}

cr_status cri_loglinear_pseudo_covariance(cri_loglinear_task *t, const double *w, double *out)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(t->cx);
    const cri_potentials *x = &t->m->terms;
    size_t                K = x->parameters, most = most_states(x);
    double               *H = cr_scratch_matrix(&s, K, K), *V = cr_scratch_matrix(&s, K, K);
    double               *p = cr_scratch_f64(&s, most), *slope = cr_scratch_f64(&s, K);
    double               *mean = cr_scratch_bytes(&s, K, sizeof *mean);
    size_t               *list = cr_scratch_index(&s, most * x->begin[x->n] + 1);
    CR_TRY(s.status);
    memset(H, 0, K * K * sizeof *H);
    memset(V, 0, K * K * sizeof *V);
    for (size_t i = 0; i < t->cases.n; i++) {
        const uint16_t *row = t->row + i * x->p;
        double          weight = t->cases.weight[i];
        if (i % 64 == 0) CR_TRY(cr_check_interrupt(t->cx));
        if (t->gap[i]) continue;
        memset(slope, 0, K * sizeof *slope);
        for (size_t v = 0; v < x->p; v++) {
            if (x->states[v] < 2) continue;
            cri_potentials_condition(x, w, row, v, p);
            add_slope(x, row, v, p, 1, slope);
            add_curvature(x, row, v, p, weight, list, mean, H);
        }
        for (size_t k = 0; k < K; k++)
            for (size_t l = 0; slope[k] != 0 && l < K; l++)
                V[k * K + l] += weight * slope[k] * slope[l];
    }
    for (size_t k = 0; k < K; k++) H[k * K + k] += t->o->l2;
    CR_TRY(cr_chol(t->cx, cr_mat_of(H, K, K)));
    CR_TRY(cr_chol_inverse(t->cx, cr_cmat_of(H, K, K), cr_mat_of(out, K, K)));
    for (size_t k = 0; k < K; k++) /* H = C V */
        for (size_t l = 0; l < K; l++) {
            double sum = 0;
            for (size_t j = 0; j < K; j++) sum += out[k * K + j] * V[j * K + l];
            H[k * K + l] = sum;
        }
    for (size_t k = 0; k < K; k++) /* (C V) C, row by row of V */
        for (size_t l = 0; l < K; l++) {
            double sum = 0;
            for (size_t j = 0; j < K; j++) sum += H[k * K + j] * out[l * K + j];
            V[k * K + l] = sum;
        }
    memcpy(out, V, K * K * sizeof *out);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- contrastive divergence ------------------------------------------------------------------- */

enum { PARTICLES = 256, STEPS = 2000 };

typedef struct chains {
    const cri_loglinear_task *t;
    const double             *w;
    uint16_t                 *row;  /* [PARTICLES x p] */
    cr_rng                   *rng;  /* [PARTICLES] */
    double                   *work; /* [PARTICLES x most states] */
    size_t                    most;
} chains;

static void sweep(void *arg, size_t i)
{
    const chains         *a = arg;
    const cri_potentials *x = &a->t->m->terms;
    uint16_t             *row = a->row + i * x->p;
    double               *p = a->work + i * a->most;
    for (size_t k = 0; k < a->t->o->steps; k++)
        for (size_t v = 0; v < x->p; v++) {
            if (x->states[v] < 2) continue;
            cri_potentials_condition(x, a->w, row, v, p);
            row[v] = (uint16_t)cr_rng_categorical(&a->rng[i], p, x->states[v]);
        }
}

/* Particles start anywhere, so that nothing depends on the order of the rows. */
static void start(chains *a)
{
    const cri_potentials *x = &a->t->m->terms;
    for (size_t i = 0; i < PARTICLES; i++) {
        a->rng[i] = cr_rng_stream(a->t->seed, i);
        for (size_t v = 0; v < x->p; v++)
            a->row[i * x->p + v] = (uint16_t)cr_rng_below(&a->rng[i], x->states[v]);
    }
}

cr_status cri_loglinear_diverge(cri_loglinear_task *t, double *w, size_t *out_steps,
                                bool *out_converged)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(t->cx);
    const cri_potentials *x = &t->m->terms;
    size_t K = x->parameters, steps = t->o->max_iter < STEPS ? t->o->max_iter : STEPS, averaged = 0;
    chains a = { .t = t, .w = w, .most = most_states(x) };
    double   *mean = cr_scratch_f64(&s, K), *average = cr_scratch_bytes(&s, K, sizeof *average);
    cri_clock clock = cri_clock_start(t->cx, NAN);
    a.row = cr_scratch_bytes(&s, PARTICLES * x->p, sizeof *a.row);
    a.rng = cr_scratch_bytes(&s, PARTICLES, sizeof *a.rng);
    a.work = cr_scratch_matrix(&s, PARTICLES, a.most);
    CR_TRY(s.status);
    start(&a);
    *out_steps = 0;
    for (size_t n = 0; n < steps; n++) {
        double rate = 0.5 / (1 + 20 * (double)n / (double)steps);
        CR_TRY(cr_check_interrupt(t->cx));
        CR_TRY(cri_parallel_for(t->cx, NULL, PARTICLES, sweep, &a));
        memset(mean, 0, K * sizeof *mean);
        for (size_t i = 0; i < PARTICLES; i++)
            cri_potentials_add(x, a.row + i * x->p, 1.0 / PARTICLES, mean);
        for (size_t k = 0; k < K; k++) {
            double seen = t->moment[k] / t->complete;
            double variance = t->m->spins ? 1 - seen * seen : seen * (1 - seen);
            double slope = seen - mean[k] - t->o->l2 * w[k] / t->complete;
            w[k] += rate * slope / (variance + 0.02);
        }
        if (n >= steps / 2) {
            averaged++;
            for (size_t k = 0; k < K; k++) average[k] += (w[k] - average[k]) / (double)averaged;
        }
        *out_steps = n + 1;
        if (cri_clock_over(&clock)) {
            t->late = true;
            break;
        }
    }
    if (averaged > 0) memcpy(w, average, K * sizeof *w);
    *out_converged = *out_steps == steps;
done:
    cr_scratch_end(&s);
    return st;
}
