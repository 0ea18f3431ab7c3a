/* topics_vb.c -- variational Bayes:  q(theta, z, phi) = prod_d Dir(theta_d | gamma_d) prod q(z) prod_k Dir(phi_k | lambda_k)
 *   tokens of term w in document d:  q(z = k) ~ exp(E log theta_dk + E log phi_kw)
 *   gamma_dk = alpha_k + sum_w n_dw q(z = k),     lambda_kw = eta + sum_d n_dw q(z = k)
 * With q(z) at its best the bound on log p(w) is
 *   sum_d sum_w n_dw log sum_k exp(E log theta_dk + E log phi_kw) - sum_d KL(gamma_d | alpha) - sum_k KL(lambda_k | eta).
 * Batch: all documents in every pass, until the bound settles.  On-line: step t takes a batch of documents, and
 * lambda = (1 - rho) lambda + rho (eta + D / |batch| sum_d n_dw q(z = k)), rho = (delay + t)^-forget, where D are all
 * documents: those of the fit, and of updates as well.  Documents are cut into shards by their number, whose sums are
 * added in order: the same bits for any number of threads.  Memory: 16 K V and, for each shard, 8 K V bytes.
 * Blei, Ng & Jordan (2003), JMLR 3; Hoffman, Blei & Bach (2010), NIPS 23. */
#include "topics.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { MOST_SHARDS = 16, WORTH = 4, MOST_ROUNDS = 100, PRIOR_STEPS = 5 };

static const double SETTLED = 1e-3; /* mean change of gamma at which a document is done */

typedef struct vb {
    const cri_documents *docs;
    const cri_topics    *m;
    size_t               K, V, shards;
    cri_range            part;     /* of the documents, at hand     */
    cri_clock            clock;    /* once it is over, the documents that are left are left out */
    atomic_bool          late;     /* so it has been */
    double              *weight;   /* [V x K] exp(E log phi_kw)     */
    double              *sums;     /* [shards x V x K] of n_dw q(z) */
    double              *bound;    /* [shards]                      */
    double              *log_mean; /* [shards x K] sums of E log theta_dk */
    double              *work;     /* [shards x 3 K]                */
} vb;

static double sum_of(const double *a, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i];
    return sum;
}

/* out = exp(E log x) or E log x itself of a Dirichlet with parameters a. */
static void mean_log(const double *a, size_t n, bool exponential, double *out)
{
    double all = cr_digamma(sum_of(a, n));
    for (size_t i = 0; i < n; i++) {
        double x = cr_digamma(a[i]) - all;
        out[i] = exponential ? exp(x) : x;
    }
}

/* --- a document ------------------------------------------------------------------------------- */

/* Finds gamma [K] and exp(E log theta) [K] of a document; next [K] is workspace. */
static void settle_document(const vb *v, size_t d, double *gamma, double *theta, double *next)
{
    const cri_documents *docs = v->docs;
    size_t               K = v->K, begin = docs->start[d], end = docs->start[d + 1];
    double               n = 0;
    for (size_t e = begin; e < end; e++) n += docs->count[e];
    for (size_t k = 0; k < K; k++) gamma[k] = v->m->alpha[k] + n / (double)K;
    for (size_t round = 0; round < MOST_ROUNDS; round++) {
        double change = 0;
        mean_log(gamma, K, true, theta);
        memset(next, 0, K * sizeof *next);
        for (size_t e = begin; e < end; e++) {
            const double *phi = v->weight + (size_t)docs->term[e] * K;
            double        sum = 0;
            for (size_t k = 0; k < K; k++) sum += theta[k] * phi[k];
            double share = (double)docs->count[e] / fmax(sum, 1e-300);
            for (size_t k = 0; k < K; k++) next[k] += share * phi[k];
        }
        for (size_t k = 0; k < K; k++) {
            double value = v->m->alpha[k] + theta[k] * next[k];
            change += fabs(value - gamma[k]);
            gamma[k] = value;
        }
        if (change <= SETTLED * (double)K) break;
    }
    mean_log(gamma, K, true, theta);
}

/* KL(Dir(a) | Dir(b)), with E log x of the former in log_mean. */
static double divergence(const double *a, const double *opt_b, double b, const double *log_mean,
                         size_t n)
{
    double sum_b = opt_b ? sum_of(opt_b, n) : b * (double)n;
    double kl = cr_lgamma_abs(sum_of(a, n)) - cr_lgamma_abs(sum_b);
    for (size_t i = 0; i < n; i++) {
        double prior = opt_b ? opt_b[i] : b;
        kl += cr_lgamma_abs(prior) - cr_lgamma_abs(a[i]) + (a[i] - prior) * log_mean[i];
    }
    return kl;
}

static void gather_shard(void *arg, size_t shard)
{
    vb                  *v = arg;
    const cri_documents *docs = v->docs;
    size_t               K = v->K, n = v->part.end - v->part.begin;
    size_t               begin = v->part.begin + n * shard / v->shards;
    size_t               end = v->part.begin + n * (shard + 1) / v->shards;
    double              *sums = v->sums + shard * v->V * K, *gamma = v->work + shard * 3 * K;
    double              *theta = gamma + K, *next = theta + K, *log_mean = v->log_mean + shard * K;
    double               bound = 0;
    memset(sums, 0, v->V * K * sizeof *sums);
    memset(log_mean, 0, K * sizeof *log_mean);
    for (size_t d = begin; d < end; d++) {
        if (cri_clock_over(&v->clock)) {
            atomic_store(&v->late, true);
            break;
        }
        settle_document(v, d, gamma, theta, next);
        for (size_t e = docs->start[d]; e < docs->start[d + 1]; e++) {
            size_t        w = docs->term[e];
            const double *phi = v->weight + w * K;
            double        sum = 0;
            for (size_t k = 0; k < K; k++) sum += theta[k] * phi[k];
            double share = (double)docs->count[e] / fmax(sum, 1e-300);
            for (size_t k = 0; k < K; k++) sums[w * K + k] += share * theta[k] * phi[k];
            bound += (double)docs->count[e] * log(fmax(sum, 1e-300));
        }
        mean_log(gamma, K, false, next);
        bound -= divergence(gamma, v->m->alpha, 0, next, K);
        for (size_t k = 0; k < K; k++) log_mean[k] += next[k];
    }
    v->bound[shard] = bound;
}

/* --- a pass ----------------------------------------------------------------------------------- */

static cr_status open_vb(cr_scratch *s, const cri_documents *docs, const cri_topics *m,
                         size_t together, vb *v)
{
    double entries = (double)docs->start[docs->n] * (double)together / (double)(docs->n + !docs->n);
    double shards = WORTH * entries / ((double)m->k * (double)m->terms);
    v->docs = docs, v->m = m, v->K = m->k, v->V = m->terms;
    atomic_init(&v->late, false);
    v->clock = cri_clock_start(s->cx, NAN);
    v->shards = shards < 1 ? 1 : shards > MOST_SHARDS ? MOST_SHARDS : (size_t)shards;
    v->weight = cr_scratch_matrix(s, v->V, v->K);
    v->sums = cr_scratch_matrix(s, v->shards, v->V * v->K);
    v->bound = cr_scratch_f64(s, v->shards);
    v->log_mean = cr_scratch_matrix(s, v->shards, v->K);
    v->work = cr_scratch_matrix(s, v->shards, 3 * v->K);
    return s->status;
}

/* weight from lambda; returns sum_k KL(lambda_k | eta), and in *opt_log_mean the sum of all E log phi. */
static double weigh_terms(const vb *v, double *row, double *opt_log_mean)
{
    double kl = 0;
    if (opt_log_mean) *opt_log_mean = 0;
    for (size_t k = 0; k < v->K; k++) {
        const double *lambda = v->m->lambda + k * v->V;
        mean_log(lambda, v->V, false, row);
        kl += divergence(lambda, NULL, v->m->eta, row, v->V);
        if (opt_log_mean) *opt_log_mean += sum_of(row, v->V);
        for (size_t w = 0; w < v->V; w++) v->weight[w * v->K + k] = exp(row[w]);
    }
    return kl;
}

/* The first shard becomes the sum of all; the bound is NaN where the clock has left documents out. */
static cr_status gather(cr_ctx *cx, vb *v, cri_range part, double *out_bound)
{
    size_t cells = v->V * v->K;
    v->part = part;
    cr_status st = cri_parallel_for(cx, NULL, v->shards, gather_shard, v);
    if (st != CR_OK) return st;
    *out_bound = atomic_load(&v->late) ? NAN : sum_of(v->bound, v->shards);
    for (size_t s = 1; s < v->shards; s++) {
        for (size_t j = 0; j < cells; j++) v->sums[j] += v->sums[s * cells + j];
        for (size_t k = 0; k < v->K; k++) v->log_mean[k] += v->log_mean[s * v->K + k];
    }
    return CR_OK;
}

/* Both make the terms of the bound that have alpha, or eta, largest: psi(a_k) = psi(sum a) + mean of E log x_k. */
static void learn_alpha(const vb *v, cri_topics *m)
{
    double n = (double)v->docs->n;
    for (size_t i = 0; i < PRIOR_STEPS; i++) {
        double all = cr_digamma(sum_of(m->alpha, m->k));
        for (size_t k = 0; k < m->k; k++)
            m->alpha[k] = fmin(fmax(cr_digamma_inv(all + v->log_mean[k] / n), 1e-4), 1e4);
    }
}

static void learn_eta(double mean, cri_topics *m)
{
    for (size_t i = 0; i < PRIOR_STEPS; i++)
        m->eta =
            fmin(fmax(cr_digamma_inv(cr_digamma(m->eta * (double)m->terms) + mean), 1e-4), 1e4);
}

void cri_topics_from_lambda(cri_topics *m)
{
    double all = 0;
    for (size_t k = 0; k < m->k; k++) {
        double sum = sum_of(m->lambda + k * m->terms, m->terms);
        for (size_t w = 0; w < m->terms; w++) {
            double p = m->lambda[k * m->terms + w] / sum;
            m->phi[k * m->terms + w] = p;
            m->sd[k * m->terms + w] = sqrt(p * (1 - p) / (sum + 1));
        }
        all += m->share[k] = fmax(sum - m->eta * (double)m->terms, 0);
    }
    for (size_t k = 0; k < m->k; k++) m->share[k] = all > 0 ? m->share[k] / all : 0;
}

static void start_lambda(uint64_t seed, cri_topics *m)
{
    for (size_t k = 0; k < m->k; k++) {
        cr_rng r = cr_rng_stream(seed, k);
        for (size_t w = 0; w < m->terms; w++)
            m->lambda[k * m->terms + w] = cr_rng_gamma(&r, 100) / 100;
    }
}

static void set_lambda(const vb *v, double keep, double scale, cri_topics *m)
{
    for (size_t k = 0; k < v->K; k++)
        for (size_t w = 0; w < v->V; w++) {
            double *to = &m->lambda[k * v->V + w];
            *to = keep * *to + (1 - keep) * (m->eta + scale * v->sums[w * v->K + k]);
        }
}

/* --- batch and on-line ------------------------------------------------------------------------ */

static cr_status fit_batch(cr_ctx *cx, const cri_documents *docs, const cri_topics_options *o,
                           cri_topics *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_clock  clock = cri_clock_start(cx, NAN);
    double    *row = cr_scratch_f64(&s, m->terms), log_mean, bound, before = -INFINITY;
    vb         v = { 0 };
    CR_TRY(open_vb(&s, docs, m, docs->n, &v));
    for (m->iterations = 0; m->iterations < o->passes && !m->converged;) {
        double kl = weigh_terms(&v, row, &log_mean);
        CR_TRY(gather(cx, &v, (cri_range){ 0, docs->n }, &bound));
        bool late = isnan(bound) || cri_clock_over(&clock);
        if (isnan(bound) && m->iterations > 0) break;
        m->bound = bound - kl;
        m->iterations++;
        cr_progress(cx, "passes", (double)m->iterations, (double)o->passes);
        m->converged = m->bound - before <= o->tol * fabs(m->bound) && m->iterations > 1;
        before = m->bound;
        if (isnan(bound)) set_lambda(&v, 0, 1, m); /* of some documents: better than none */
        if (m->converged || late) break;
        if (isnan(o->alpha)) learn_alpha(&v, m);
        if (isnan(o->eta) && m->iterations > 1)
            learn_eta(log_mean / ((double)m->k * (double)m->terms), m);
        set_lambda(&v, 0, 1, m);
    }
    m->shards = v.shards;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_topics_vb_steps(cr_ctx *cx, const cri_documents *docs, const cri_topics_options *o,
                              cri_topics *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_clock  clock = cri_clock_start(cx, NAN);
    size_t     batch = o->batch < docs->n ? o->batch : docs->n;
    double    *row = cr_scratch_f64(&s, m->terms), bound;
    vb         v = { 0 };
    CR_TRY(open_vb(&s, docs, m, batch, &v));
    m->shards = v.shards;
    for (size_t b = 0; b < cri_block_count(docs->n, batch) && !cri_clock_over(&clock); b++) {
        cri_range part = cri_block_range(docs->n, batch, b);
        double    rho = pow(o->delay + m->steps + 1, -o->forget);
        weigh_terms(&v, row, NULL);
        CR_TRY(gather(cx, &v, part, &bound));
        if (isnan(bound) && m->steps > 0) break;
        set_lambda(&v, 1 - rho, m->documents / (double)(part.end - part.begin), m);
        m->steps++;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The bound of all documents under lambda as it is. */
static cr_status find_bound(cr_ctx *cx, const cri_documents *docs, cri_topics *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *row = cr_scratch_f64(&s, m->terms), bound;
    vb         v = { 0 };
    CR_TRY(open_vb(&s, docs, m, docs->n, &v));
    double kl = weigh_terms(&v, row, NULL);
    CR_TRY(gather(cx, &v, (cri_range){ 0, docs->n }, &bound));
    m->bound = bound - kl;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_topics_vb(cr_ctx *cx, const cri_documents *docs, const cri_topics_options *o,
                        uint64_t seed, cri_topics *m, cr_report *report)
{
    cr_status st = CR_OK;
    cri_clock clock = cri_clock_start(cx, NAN);
    m->lambda = cr_alloc(cx, m->k * m->terms, sizeof *m->lambda);
    if (!m->lambda) CR_TRY(CR_ENOMEM);
    m->eta = isnan(o->eta) ? 0.01 : o->eta;
    for (size_t k = 0; k < m->k; k++) m->alpha[k] = isnan(o->alpha) ? 0.1 : o->alpha;
    start_lambda(seed, m);
    if (m->infer == CRI_TOPICS_VB) {
        CR_TRY(fit_batch(cx, docs, o, m));
    } else {
        for (; m->iterations < o->passes; m->iterations++) {
            if (m->iterations > 0 && cri_clock_over(&clock)) break;
            CR_TRY(cri_topics_vb_steps(cx, docs, o, m));
            cr_progress(cx, "passes", (double)m->iterations + 1, (double)o->passes);
        }
        CR_TRY(find_bound(cx, docs, m));
        m->converged = m->iterations == o->passes;
    }
    cri_topics_from_lambda(m);
    m->perplexity = exp(-m->bound / docs->tokens);
    m->log_joint = m->rhat = m->ess = NAN;
    report->iterations = m->iterations;
    report->log_evidence = m->bound;
    report->evidence = CR_EVIDENCE_BOUND;
done:
    return st;
}
