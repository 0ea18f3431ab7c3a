/* mixture_draws.c -- Monte-Carlo EM: the components of the rows are drawn instead of averaged over.
 * Each row draws its component M times from p(c | x), in BATCHES batches, and the statistics of each batch are kept
 * apart.  With s_b the statistics of batch b and Q(theta; s) the log likelihood of rows with their components, a step
 * from theta to theta', best for the mean of the s_b, gains
 *   Delta = mean_b Q(theta'; s_b) - Q(theta; s_b)     with the standard error of this mean over the batches.
 * A step is made where Delta is above its error times 1.28, so that nine in ten gain; else M is doubled and the step
 * tried anew.  The search ends when Delta plus 1.28 errors is below the tolerance, or M has reached MOST_DRAWS.
 * The draws of a row belong to what it holds, not to its place: rows in another order, cut into other blocks or counted
 * by weights draw the same.  Equal rows draw alike therefore, which the errors, being over batches, include.  The
 * likelihood itself is exact at every pass, as p(c | x) is.
 * Booth & Hobert (1999), J. Royal Stat. Soc. B 61; Caffo, Jank & Jones (2005), J. Royal Stat. Soc. B 67. */
#include "mixture.h"
#include "em_starts.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { BATCHES = CRI_MIXTURE_BATCHES, MOST_DRAWS = 10240 };
static const double CONFIDENCE = 1.28; /* errors: one step in ten may lose */

/* The component of each draw by the first cumulative probability above a uniform number. */
static void draw_batch(const cri_mixture *m, const cri_mixture_block *b, size_t i, size_t draws,
                       cr_rng *r)
{
    size_t n = b->n, k = m->k;
    double each = b->w[i] / (double)draws;
    for (size_t c = 0; c < k; c++) b->draws[c * n + i] = 0;
    for (size_t d = 0; d < draws; d++) {
        double left = cr_rng_uniform(r);
        size_t c = 0;
        while (c + 1 < k && (left -= b->r[c * n + i]) >= 0) c++;
        b->draws[c * n + i] += each;
    }
}

void cri_mixture_add_draws(const cri_mixture *m, const cri_mixture_block *b, double *parts)
{
    size_t draws = m->draws / BATCHES;
    for (size_t batch = 0; batch < BATCHES; batch++) {
        for (size_t i = 0; i < b->n; i++) {
            uint64_t row = cri_hash_row(b->X + i, m->p, b->n);
            cr_rng   r = cr_rng_stream(m->salt + m->round * BATCHES + batch, row);
            draw_batch(m, b, i, draws, &r);
        }
        cri_mixture_add_part(m, b, b->draws, parts + batch * cri_mixture_part_size(m));
    }
}

/* Q(theta; s) of the parameters of m for a part that was gathered under those of `under`. */
static double expected(const cri_mixture *m, const cri_mixture *under, const double *part)
{
    cri_mixture_sums s = cri_mixture_sums_at(m, part);
    double           sum = 0;
    for (size_t c = 0; c < m->k; c++) {
        sum += s.n[c] * log(m->share[c]);
        for (size_t a = 0, at = c * m->q; a < m->q; a++, at++)
            sum += s.x[at] * m->eta[at] + (s.n[c] - s.absent[at]) * m->base[at];
        for (size_t a = 0, at = c * m->g; a < m->g; a++, at++) {
            size_t cell = c * m->p + m->column[m->q + a];
            double n = s.n[c] - s.real_gaps[at], sd = under->sd[cell];
            double shift = under->mean[cell] - m->mean[cell];
            double squares = sd * sd * s.square[at] + 2 * sd * shift * s.z[at] + n * shift * shift;
            sum += n * m->peak[at] - 0.5 * squares / (m->sd[cell] * m->sd[cell]);
        }
        for (size_t l = c * m->L; l < (c + 1) * m->L; l++) sum += s.count[l] * m->log_level[l];
    }
    return sum;
}

/* The mean of a number from each batch, and its standard error. */
static double mean_of(const double *x, double *out_error)
{
    double mean = 0, squares = 0;
    for (size_t b = 0; b < BATCHES; b++) mean += x[b] / BATCHES;
    for (size_t b = 0; b < BATCHES; b++) squares += (x[b] - mean) * (x[b] - mean);
    *out_error = sqrt(squares / (BATCHES * (BATCHES - 1.0)));
    return mean;
}

double cri_mixture_draws_error(const cri_mixture *m, const double *parts)
{
    double x[BATCHES], error;
    for (size_t b = 0; b < BATCHES; b++)
        x[b] = expected(m, m, parts + b * cri_mixture_part_size(m));
    mean_of(x, &error);
    return error;
}

static void more_draws(cri_mixture *m)
{
    m->draws = 2 * m->draws < MOST_DRAWS ? 2 * m->draws : MOST_DRAWS;
    m->waits = true;
}

cr_status cri_mixture_solve_draws(cr_ctx *cx, const double *parts, cri_mixture *m)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       size = cri_mixture_part_size(m);
    double      *mean = cr_scratch_bytes(&s, size, sizeof(double)), gain[BATCHES], prior;
    cri_mixture *before = NULL;

    CR_TRY(s.status);
    CR_TRY(cri_mixture_new(cx, m->k, m->p, m->L, 1, &before));
    memcpy(before->kind, m->kind, m->p * sizeof *m->kind);
    memcpy(before->first, m->first, m->p * sizeof *m->first);
    cri_mixture_place(before);
    cri_mixture_take(m, before);
    prior = cri_mixture_log_prior(m);
    for (size_t i = 0; i < BATCHES * size; i++) mean[i % size] += parts[i] / BATCHES;
    m->waits = false;
    m->round++;
    cri_mixture_solve_part(m, mean);
    if (m->lost) goto done;
    for (size_t b = 0; b < BATCHES; b++)
        gain[b] =
            expected(m, before, parts + b * size) - expected(before, before, parts + b * size);
    m->gain = mean_of(gain, &m->gain_error) + cri_mixture_log_prior(m) - prior;
    if (m->gain < CONFIDENCE * m->gain_error && m->draws < MOST_DRAWS) {
        cri_mixture_take(before, m);
        more_draws(m);
    }
done:
    cri_state_free(cx, &cri_class_mixture, before);
    cr_scratch_end(&s);
    return st;
}

double cri_mixture_left(const cri_mixture *m)
{
    return m->draws ? m->gain + CONFIDENCE * m->gain_error : 0;
}

bool cri_mixture_refine(void *state, double worth)
{
    cri_mixture *m = state;
    if (!m->draws || cri_mixture_left(m) < worth) return false;
    if (m->waits) return true;
    if (m->draws >= MOST_DRAWS) return false;
    more_draws(m);
    return true;
}
