/* gp_mcmc.c -- slice sampling of hyper-parameters. */
#include "gp_mcmc.h"
#include "base/context_internal.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum {
    WARM_AXES = 12,
    WARM_DIRECTIONS = 8,
    WARM = WARM_AXES + WARM_DIRECTIONS,
    SKIP = 4,
    MOST_STEPS = 8,
    SPARSEST = 4
};
static const double SLICE = 5; /* evaluations that one takes, about */

/* --- the density ----------------------------------------------------------------------------- */

typedef struct chains {
    cr_ctx                *cx;
    const cri_gp_learning *learning;
    cr_kernel             *k; /* overwritten */
    double                 noise;
    cri_gp_space           u;
    double                *reach;      /* [size] how far starts lie from the best   */
    double                *directions; /* [size x size] rows that slices go along   */
    double                *trial;      /* [size]                                    */
    size_t                 evaluations;
} chains;

/* log p(y | theta) p(theta) as a density of theta; -INFINITY where there is none. */
static cr_status log_density(chains *c, const double *x, double *out)
{
    cr_status           st = CR_OK;
    const cri_gp_space *u = &c->u;
    double              value;
    *out = -INFINITY;
    for (size_t j = 0; j < u->size; j++)
        if (!(x[j] >= u->lower[j] && x[j] <= u->upper[j])) return CR_OK;
    CR_TRY(cr_check_interrupt(c->cx));
    CR_TRY(cr_kernel_set_theta(c->cx, c->k, x));
    st = c->learning->objective(c->cx, c->learning->workspace, c->learning->problem, c->k,
                                u->size > u->p ? exp(x[u->p]) : c->noise, &value, NULL);
    c->evaluations++;
    if (st == CR_ENUMERIC) return CR_OK;
    CR_TRY(st);
    *out = value + cri_gp_log_prior(c->learning->prior, c->k, x, NULL);
done:
    return st;
}

/* --- slices ---------------------------------------------------------------------------------- */

static cr_status density_along(chains *c, const double *x, const double *v, double s, double *out)
{
    for (size_t j = 0; j < c->u.size; j++) c->trial[j] = x[j] + s * v[j];
    return log_density(c, c->trial, out);
}

/* One slice along v: x [size] and its *value move (Neal 2003, fig. 3 and 5; two units wide). */
static cr_status slice(chains *c, cr_rng *rng, const double *v, double *x, double *value)
{
    cr_status st = CR_OK;
    double    level = *value - cr_rng_exponential(rng), at;
    double    low = -2 * cr_rng_uniform(rng), high = low + 2, s;
    size_t    left = (size_t)cr_rng_below(rng, MOST_STEPS), right = MOST_STEPS - 1 - left;
    for (; left > 0; left--, low -= 2) {
        CR_TRY(density_along(c, x, v, low, &at));
        if (!(at > level)) break;
    }
    for (; right > 0; right--, high += 2) {
        CR_TRY(density_along(c, x, v, high, &at));
        if (!(at > level)) break;
    }
    for (;;) {
        s = low + (high - low) * cr_rng_uniform(rng);
        CR_TRY(density_along(c, x, v, s, &at));
        if (at >= level) break;
        if (high - low < 1e-12) { /* where it was */
            s = 0, at = *value;
            break;
        }
        *(s < 0 ? &low : &high) = s;
    }
    for (size_t j = 0; j < c->u.size; j++) x[j] += s * v[j];
    *value = at;
done:
    return st;
}

static cr_status sweep(chains *c, cr_rng *rng, double *x, double *value)
{
    cr_status st = CR_OK;
    size_t    size = c->u.size;
    for (size_t a = 0; a < size; a++) CR_TRY(slice(c, rng, c->directions + a * size, x, value));
done:
    return st;
}

/* --- chains ---------------------------------------------------------------------------------- */

/* Directions: the columns of the Cholesky factor of the covariance of states [n x size], rows `stride` apart. */
static cr_status set_directions(chains *c, const double *states, size_t stride, size_t n)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(c->cx);
    size_t     size = c->u.size;
    double    *S = cr_scratch_bytes(&s, size * size, sizeof(double));
    double    *mean = cr_scratch_bytes(&s, size, sizeof(double));

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < size; j++) mean[j] += states[i * stride + j] / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < size; a++)
            for (size_t b = 0; b <= a; b++)
                S[a * size + b] += (states[i * stride + a] - mean[a]) *
                                   (states[i * stride + b] - mean[b]) / (double)n;
    for (size_t a = 0; a < size; a++) /* as n grows the covariance itself; at least something */
        S[a * size + a] = S[a * size + a] * (1 + 2 * (double)size / (double)n) + 1e-6;
    CR_TRY(cr_chol(c->cx, cr_mat_of(S, size, size)));
    memset(c->directions, 0, size * size * sizeof(double));
    for (size_t a = 0; a < size; a++)
        for (size_t b = 0; b <= a; b++) c->directions[b * size + a] = S[a * size + b];
done:
    cr_scratch_end(&s);
    return st;
}

/* Starts spread about the best; a start without a density is drawn in towards it. */
static cr_status start_chain(chains *c, cr_rng *rng, const double *best, double *x, double *value)
{
    cr_status           st = CR_OK;
    const cri_gp_space *u = &c->u;
    double              reach = 1;
    for (int attempt = 0; attempt < 20; attempt++, reach *= 0.6) {
        for (size_t j = 0; j < u->size; j++) {
            double z = best[j] + reach * c->reach[j] * cr_rng_normal(rng);
            x[j] = fmin(fmax(z, u->lower[j]), u->upper[j]);
        }
        CR_TRY(log_density(c, x, value));
        if (!isinf(*value)) goto done;
    }
    st = cr_fail(c->cx, CR_ENUMERIC, "gp: the density of the hyper-parameters is nowhere above 0");
done:
    return st;
}

/* true where the time limit leaves no further sweep of every chain, or after the first of them not half of those that
 * warm the chains up: a quarter of what was left at the start is for the rest of the fit. */
static bool is_late(const chains *c, double left, double begun, size_t sweeps)
{
    double each = (cri_seconds() - begun) / (double)c->evaluations;
    double next = SLICE * CRI_GP_CHAINS * (double)c->u.size * each;
    double needed = sweeps == 1 ? 0.5 * WARM : 1.5;
    return !isinf(left) && cri_time_left(c->cx) < left / 4 + needed * next;
}

/* draws [CHAINS x length] of which `made` are there become [CHAINS x made]. */
static void close_gaps(double *draws, size_t width, size_t length, size_t made)
{
    for (size_t a = 1; a < CRI_GP_CHAINS; a++)
        memmove(draws + a * made * width, draws + a * length * width, made * width * sizeof *draws);
}

/* Where the four chains are; how much time there was when they began. */
typedef struct states {
    double *x; /* [CHAINS x size] */
    double  value[CRI_GP_CHAINS], left, begun;
    cr_rng  rng[CRI_GP_CHAINS];
    size_t  sweeps, planned;
} states;

static cr_status sweep_all(chains *c, states *now)
{
    cr_status st = CR_OK;
    cri_progress_part(c->cx, (double)now->sweeps++ / (double)now->planned);
    for (size_t a = 0; a < CRI_GP_CHAINS; a++)
        CR_TRY(sweep(c, &now->rng[a], now->x + a * c->u.size, &now->value[a]));
done:
    return st;
}

/* Sweeps before the first draw; false where the time is up. */
static cr_status warm_up(chains *c, states *now, bool *out_done)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(c->cx);
    size_t     size = c->u.size, kept = 0;
    double    *early = cr_scratch_matrix(&s, CRI_GP_CHAINS * (WARM_AXES - SKIP), size);

    CR_TRY(s.status);
    *out_done = false;
    for (size_t i = 0; i < WARM; i++) {
        if (is_late(c, now->left, now->begun, i)) goto done;
        CR_TRY(sweep_all(c, now));
        for (size_t a = 0; a < CRI_GP_CHAINS && i >= SKIP && i < WARM_AXES; a++)
            memcpy(early + kept++ * size, now->x + a * size, size * sizeof *early);
        if (i + 1 == WARM_AXES) CR_TRY(set_directions(c, early, size, kept));
    }
    *out_done = true;
done:
    cr_scratch_end(&s);
    return st;
}

/* draws [CHAINS x length]: one of each chain every `every` sweeps; *out_made of them before the time is up. */
static cr_status draw(chains *c, states *now, size_t length, size_t every, double *draws,
                      size_t *out_made)
{
    cr_status st = CR_OK;
    size_t    size = c->u.size, width = c->u.p + 1, i = 0;
    for (; i < length * every; i++) {
        if (is_late(c, now->left, now->begun, now->sweeps)) break;
        CR_TRY(sweep_all(c, now));
        for (size_t a = 0; a < CRI_GP_CHAINS && (i + 1) % every == 0; a++) {
            double *to = draws + (a * length + i / every) * width;
            to[width - 1] = c->noise > 0 ? log(c->noise) : CRI_GP_NO_NOISE;
            memcpy(to, now->x + a * size, size * sizeof *to);
        }
    }
    *out_made = i / every;
done:
    return st;
}

/* While the chains disagree and `most` evaluations allow it, their draws count as warm-up: directions are those of all
 * of them, and between the draws that replace them lie twice as many sweeps. */
static cr_status run_chains(chains *c, const double *best, double most, size_t *io_length,
                            double *draws)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(c->cx);
    size_t     size = c->u.size, width = c->u.p + 1, length = *io_length, made;
    double     rhat, ess;
    bool       warm;
    states     now = { .left = cri_time_left(c->cx), .begun = cri_seconds() };
    double    *next = cr_scratch_matrix(&s, CRI_GP_CHAINS * length, width);
    now.x = cr_scratch_matrix(&s, CRI_GP_CHAINS, size);

    CR_TRY(s.status);
    for (size_t a = 0; a < CRI_GP_CHAINS; a++) {
        now.rng[a] = cr_rng_stream(c->learning->seed, 20000 + a);
        CR_TRY(start_chain(c, &now.rng[a], best, now.x + a * size, &now.value[a]));
    }
    now.planned = WARM + length;
    *io_length = 0;
    CR_TRY(warm_up(c, &now, &warm));
    if (!warm) goto done;
    CR_TRY(draw(c, &now, length, 1, draws, io_length));
    if (*io_length < length) {
        close_gaps(draws, width, length, *io_length);
        goto done;
    }
    for (size_t every = 2; every <= SPARSEST; every *= 2) {
        double each = (double)c->evaluations / (double)now.sweeps;
        cri_gp_chains_agreement(draws, length, width, size, &rhat, &ess);
        if (!(rhat > CRI_GP_DISAGREE) || (double)(now.sweeps + length * every) * each > most) break;
        now.planned = now.sweeps + length * every;
        CR_TRY(set_directions(c, draws, width, CRI_GP_CHAINS * length));
        CR_TRY(draw(c, &now, length, every, next, &made));
        if (made < length) break;
        memcpy(draws, next, CRI_GP_CHAINS * length * width * sizeof *draws);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_mcmc(cr_ctx *cx, const cri_gp_learning *learning, const cr_kernel *k, double noise,
                      const double *sd, double most, size_t *count, double *draws,
                      size_t *opt_evaluations)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = cr_kernel_theta_size(k), size = p + learning->learn_noise,
           length = *count / CRI_GP_CHAINS;
    double *best = cr_scratch_f64(&s, p + 1);
    chains  c = { .cx = cx,
                  .learning = learning,
                  .noise = noise,
                  .reach = cr_scratch_f64(&s, p + 1),
                  .directions = cr_scratch_bytes(&s, size * size, sizeof(double)),
                  .trial = cr_scratch_f64(&s, p + 1) };

    CR_TRY(s.status);
    CR_TRY(cr_kernel_copy(cx, k, &c.k));
    CR_TRY(cri_gp_space_new(&s, k, learning->problem, learning->variance, noise,
                            learning->learn_noise, &c.u));
    cr_kernel_theta(k, best);
    best[p] = noise > 0 ? log(noise) : CRI_GP_NO_NOISE;
    for (size_t a = 0; a < size; a++) {
        c.reach[a] = sd[a] < 0.5 ? 2 * sd[a] : 1; /* NaN: 1 */
        c.directions[a * size + a] = 0.5 * c.reach[a];
    }
    CR_TRY(run_chains(&c, best, most, &length, draws));
    *count = length * CRI_GP_CHAINS;
    if (opt_evaluations) *opt_evaluations = c.evaluations;
done:
    cr_kernel_free(cx, c.k);
    cr_scratch_end(&s);
    return st;
}
