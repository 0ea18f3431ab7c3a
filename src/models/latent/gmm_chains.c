/* gmm_chains.c -- Markov chains of a mixture by Gibbs sampling, and which component is which.
 * All chains begin at the end of EM.  The posterior is the same for any order of the components, and a chain may change it;
 * so the components of each draw are matched with those of EM's end: with r the responsibilities there and p those of
 * the draw, the order that minimises sum_i sum_c r_ic log(r_ic / p_i,order(c)) over some rows, an assignment problem (Stephens
 * 2000, J. Royal Stat. Soc. B 62, with a reference that stays).  R-hat and effective numbers of draws are those of
 * the log likelihood, which no order changes, and of the parameters so matched. */
#include "gmm_gibbs.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/assignment.h"
#include "prob/mc/chains.h"

#include <math.h>
#include <string.h>

enum { MOST_KEPT = 200, FEWEST = 10 }; /* draws in the file; of a chain that the time limit cuts */

typedef struct sampler {
    const cri_rows     *rows;
    const cri_gmm_rows *some;
    uint64_t            seed, next; /* the seed of a sweep; rows seen so far in it */
    uint64_t            first;      /* of the leaf */
    size_t              chains, length, listed;
    cri_gmm           **chain;     /* [chains] */
    cri_gmm             at;        /* one of them, as the pass sees it */
    double             *sums;      /* [cri_gmm_width + 1] */
    double             *reference; /* [n x k] responsibilities of some rows at EM's end */
    double             *r, *density, *X, *work, *cost; /* of these rows; [k x k] */
    size_t             *order;                         /* [k] */
    double             *values; /* [chains x length x (1 + listed)]: log likelihood, parameters */
    double             *sum;    /* [k][d x width] of the covariances */
    double             *draws;  /* [MOST_KEPT x draw size], of which there are */
    size_t              kept, step; /* of every so many one is kept */
    cri_gmm            *m;
} sampler;

/* --- a sweep ---------------------------------------------------------------------------------- */

static cr_status meet(cr_ctx *cx, void *met, const cri_rows *leaf)
{
    sampler *s = met;
    s->first = s->next, s->next += leaf->n;
    for (size_t i = 0; leaf->w && i < leaf->n; i++)
        if (leaf->w[i] != floor(leaf->w[i]) || leaf->w[i] > 1e15) {
            cr_fail(cx, CR_EDATA,
                    "gmm: a row has the weight %g, but --infer gibbs needs whole numbers",
                    leaf->w[i]);
            return cr_fail_hint(cx, "--infer vb takes any weights");
        }
    return CR_OK;
}

static void add(const void *of, const cri_rows *rows, cri_range range, double *sums, double *work)
{
    const sampler *s = of;
    size_t         n = range.end - range.begin, d = s->at.d;
    double        *X = work + cri_gmm_sweep_work(&s->at);
    for (size_t at = 0; at < n; at += CRI_GMM_BLOCK) {
        size_t begin = range.begin + at,
               end = n - at < CRI_GMM_BLOCK ? range.end : begin + CRI_GMM_BLOCK;
        cri_rows_fill(rows, begin, end, X, d);
        cri_gmm_sweep_rows(&s->at, s->seed, s->first + begin, X, rows->w ? rows->w + begin : NULL,
                           end - begin, sums, work);
    }
}

/* Sweep number `number` of a chain; s->sums[0] is the log likelihood before it. */
static cr_status sweep(cr_ctx *cx, sampler *s, size_t chain, size_t number, uint64_t seed)
{
    cr_status st = CR_OK;
    cr_rng    r = cr_rng_stream(seed, (uint64_t)1 << 63 | (uint64_t)chain << 40 | number);
    cri_gmm  *m = s->chain[chain];
    size_t    work = cri_gmm_sweep_work(m) + CRI_GMM_BLOCK * m->d;
    s->seed = cr_rng_u64(&r), s->next = 0, s->at = *m;
    CR_TRY(cri_em_gather(cx, &(cri_em_pass){ add, s, cri_gmm_width(m), work, meet, s }, s->rows,
                         s->sums));
    CR_TRY(cri_gmm_draw_parameters(cx, s->sums, &r, m));
done:
    return st;
}

/* --- which component is which ----------------------------------------------------------------- */

/* Responsibilities of some rows, in t already: out [n x k]. */
static void respond(sampler *s, const cri_gmm *m, double *out)
{
    size_t  d = m->d;
    double *zero = s->X + CRI_GMM_BLOCK * d, *unit = zero + d;
    cri_gmm as = *m;
    for (size_t j = 0; j < d; j++) zero[j] = 0, unit[j] = 1;
    as.centre = zero, as.scale = unit;
    for (size_t at = 0; at < s->some->n; at += CRI_GMM_BLOCK) {
        size_t n = s->some->n - at < CRI_GMM_BLOCK ? s->some->n - at : CRI_GMM_BLOCK;
        memcpy(s->X, s->some->T + at * d, n * d * sizeof *s->X);
        cri_gmm_respond(&as, s->X, n, out + at * m->k, s->density, s->work);
    }
}

/* s->order: component c of the draw is order[c] of the reference; whether they have another order. */
static cr_status match(cr_ctx *cx, sampler *s, const cri_gmm *m, bool *out_moved)
{
    const double LEAST = 1e-300;
    size_t       k = m->k;
    respond(s, m, s->r);
    memset(s->cost, 0, k * k * sizeof *s->cost);
    for (size_t i = 0; i < s->some->n; i++)
        for (size_t c = 0; c < k; c++) {
            double surprise = -s->some->w[i] * log(fmax(s->r[i * k + c], LEAST));
            for (size_t l = 0; l < k; l++) s->cost[c * k + l] += s->reference[i * k + l] * surprise;
        }
    cr_status st = cri_assign(cx, s->cost, k, s->order);
    for (size_t c = 0; st == CR_OK && c < k; c++) *out_moved |= s->order[c] != c;
    return st;
}

/* --- draws ------------------------------------------------------------------------------------ */

/* Takes a draw of a chain into the values, the sum of covariances and, where opt_kept is given, the file. */
static void take(sampler *s, const cri_gmm *m, double *value, double *opt_kept)
{
    size_t k = m->k, d = m->d, size = d * m->width;
    for (size_t c = 0; c < k; c++) {
        size_t        to = s->order[c];
        const double *L = m->L + c * size;
        value[to] = m->share[c];
        memcpy(value + k + to * d, m->mean + c * d, d * sizeof *value);
        for (size_t i = 0; i < d; i++) {
            double variance = m->width == 1 ? L[i] * L[i] : 0;
            for (size_t j = 0; m->width > 1 && j <= i; j++) {
                double sum = 0;
                for (size_t l = 0; l <= j; l++) sum += L[i * d + l] * L[j * d + l];
                s->sum[to * size + i * d + j] += sum;
                variance = sum; /* of the last, j = i */
            }
            if (m->width == 1) s->sum[to * size + i] += variance;
            value[k + m->kd + to * d + i] = sqrt(variance);
        }
        if (!opt_kept) continue;
        opt_kept[to] = m->share[c];
        memcpy(opt_kept + k + to * d, m->mean + c * d, d * sizeof *opt_kept);
        memcpy(opt_kept + k + m->kd + to * size, L, size * sizeof *opt_kept);
    }
}

/* Keeps every other of the draws that are kept; whether this one, of each chain, is then to be kept too. */
static bool thin(sampler *s, size_t draw)
{
    size_t round = s->chains * cri_gmm_draw_size(s->m), rounds = s->kept / s->chains;
    for (size_t i = 0; 2 * i < rounds; i++)
        memmove(s->draws + i * round, s->draws + 2 * i * round, round * sizeof *s->draws);
    s->kept = (rounds + 1) / 2 * s->chains;
    s->step *= 2;
    return draw % s->step == 0 && s->kept + s->chains <= MOST_KEPT;
}

/* Sweeps of all chains by turns, until each has `length` draws after the warm-up or there is no time for more; s->length
 * becomes what there is. */
static cr_status run(cr_ctx *cx, sampler *s, size_t warm_up, uint64_t seed)
{
    cr_status st = CR_OK;
    cri_gmm  *m = s->m;
    size_t    asked = s->length, width = 1 + s->listed;
    double    left = cri_time_left(cx), reserve = isinf(left) ? 0 : fmin(left / 4, 2);
    double    longest = 0; /* round of sweeps; another follows the last draw */
    bool      own_bar = cri_progress_open_steps(cx, "Gibbs sampling");
    for (size_t number = 0; number < warm_up + asked; number++) {
        size_t draw = number - warm_up;
        CR_TRY(cr_check_interrupt(cx));
        if (number > 0 && isfinite(left)) longest = fmax(longest, left - cri_time_left(cx));
        left = cri_time_left(cx);
        if (left < reserve + 2 * longest) {
            s->length = number > warm_up ? draw : 0;
            break;
        }
        cri_progress_steps(cx, (double)number + 1);
        bool keep = number >= warm_up && draw % s->step == 0;
        if (keep && s->kept + s->chains > MOST_KEPT) keep = thin(s, draw);
        for (size_t c = 0; c < s->chains; c++) {
            bool moved = false;
            CR_TRY(sweep(cx, s, c, number, seed));
            if (number > warm_up) /* of the draw before */
                s->values[(c * asked + draw - 1) * width] = s->sums[0];
            if (number < warm_up) continue;
            CR_TRY(match(cx, s, s->chain[c], &moved));
            m->sampled.relabelled += moved;
            take(s, s->chain[c], s->values + (c * asked + draw) * width + 1,
                 keep ? s->draws + s->kept * cri_gmm_draw_size(m) : NULL);
            s->kept += keep;
        }
    }
    if (s->length < FEWEST && s->length < asked) {
        cr_fail(cx, CR_ENOMEM, "gmm: the time limit is reached while the chains warm up");
        CR_TRY(cr_fail_hint(cx, "--infer vb needs no draws; or allow more time with --time-limit"));
    }
    for (size_t c = 0; c < s->chains; c++) { /* the log likelihood of the last draw */
        CR_TRY(sweep(cx, s, c, warm_up + asked, seed));
        s->values[(c * asked + s->length - 1) * width] = s->sums[0];
        if (c > 0)
            memmove(s->values + c * s->length * width, s->values + c * asked * width,
                    s->length * width * sizeof *s->values);
    }
done:
    if (own_bar) cri_progress_close(cx);
    return st;
}

/* --- the posterior ---------------------------------------------------------------------------- */

/* k parts of `size` numbers of x, in a new order: part c becomes that of from[c]. */
static void arrange(double *x, const size_t *from, size_t k, size_t size, double *tmp)
{
    memcpy(tmp, x, k * size * sizeof *x);
    for (size_t c = 0; c < k; c++) memcpy(x + c * size, tmp + from[c] * size, size * sizeof *x);
}

static void arrange_listed(double *x, const size_t *from, size_t k, size_t d, double *tmp)
{
    arrange(x, from, k, 1, tmp);
    arrange(x + k, from, k, d, tmp);
    arrange(x + k + k * d, from, k, d, tmp);
}

/* Means, sds, R-hat and effective numbers of the draws. */
static void summarise(sampler *s)
{
    cri_gmm                 *m = s->m;
    cri_gmm_posterior_draws *o = &m->sampled;
    size_t                   width = 1 + s->listed, n = s->chains * s->length;
    for (size_t i = 0; i < width; i++) {
        double mean, variance, rhat, ess;
        cri_mean_variance(s->values + i, n, width, &mean, &variance);
        cri_chains_diagnose(s->values + i, s->chains, s->length, width, &rhat, &ess);
        if (i == 0) {
            o->log_likelihood = mean, o->log_likelihood_sd = sqrt(variance);
            o->likelihood_rhat = rhat, o->likelihood_ess = ess;
            continue;
        }
        o->value[i - 1] = mean, m->error[i - 1] = sqrt(variance);
        o->rhat[i - 1] = rhat, o->ess[i - 1] = ess;
    }
}

/* The state becomes the posterior mean, its components in the order of their shares. */
static cr_status set_mean(cr_ctx *cx, sampler *s)
{
    cr_status                st = CR_OK;
    cri_gmm                 *m = s->m;
    cri_gmm_posterior_draws *o = &m->sampled;
    size_t                   k = m->k, d = m->d, size = d * m->width, *from = s->order;
    double n = (double)(s->chains * s->length), *tmp = s->sums; /* k d width at least */

    for (size_t c = 0; c < k; c++) {
        size_t at = c;
        for (; at > 0 && o->value[c] > o->value[from[at - 1]]; at--) from[at] = from[at - 1];
        from[at] = c;
    }
    for (size_t i = 0; i < k * size; i++) s->sum[i] /= n;
    arrange(s->sum, from, k, size, tmp);
    arrange_listed(o->value, from, k, d, tmp);
    arrange_listed(o->rhat, from, k, d, tmp);
    arrange_listed(o->ess, from, k, d, tmp);
    arrange_listed(m->error, from, k, d, tmp);
    o->draws = cr_alloc(cx, s->kept * cri_gmm_draw_size(m), sizeof *o->draws);
    if (!o->draws) CR_TRY(CR_ENOMEM);
    o->kept = s->kept, o->size = cri_gmm_draw_size(m);
    memcpy(o->draws, s->draws, o->kept * o->size * sizeof *o->draws);
    for (size_t i = 0; i < o->kept; i++) {
        double *draw = o->draws + i * o->size;
        arrange(draw, from, k, 1, tmp);
        arrange(draw + k, from, k, d, tmp);
        arrange(draw + k + m->kd, from, k, size, tmp);
    }
    memcpy(m->share, o->value, k * sizeof *m->share);
    memcpy(m->mean, o->value + k, m->kd * sizeof *m->mean);
    if (!cri_gmm_set_covariances(m, s->sum))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "gmm: the mean of the covariances has no inverse"));
    cri_gmm_prepare(m);
    m->log_likelihood = NAN;
done:
    return st;
}

double cri_gmm_worst_rhat(const cri_gmm *m)
{
    double worst = m->sampled.likelihood_rhat;
    for (size_t i = 0; i < m->listed; i++) worst = fmax(worst, m->sampled.rhat[i]);
    return worst;
}

double cri_gmm_least_ess(const cri_gmm *m)
{
    double least = m->sampled.likelihood_ess;
    for (size_t i = 0; m->k > 1 && i < m->k; i++) least = fmin(least, m->sampled.ess[i]);
    for (size_t i = m->k; i < m->listed; i++) least = fmin(least, m->sampled.ess[i]);
    return least;
}

static void warn(cr_ctx *cx, const cri_gmm *m, size_t length, size_t asked)
{
    double rhat = cri_gmm_worst_rhat(m), ess = cri_gmm_least_ess(m);
    if (length < asked)
        cr_log(cx, CR_LOG_WARNING, "the time limit ended the chains: %zu of %zu draws",
               length * m->sampled.chains, asked * m->sampled.chains);
    if (ess < 100)
        cr_log(cx, CR_LOG_WARNING,
               "the draws are worth only %.0f independent ones: use more --draws", ess);
    if (rhat > 1.05)
        cr_log(cx, CR_LOG_WARNING,
               "the chains disagree (R-hat %.3f): use more --draws or a longer --warm-up, or fewer "
               "components",
               rhat);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* The prior of variational Bayes; with diagonal covariances its marginal, of nu - d + 1 = 1 degree of freedom. */
static void set_prior(cri_gmm *m, double alpha)
{
    for (size_t i = 0; i < m->d * m->width; i++) m->prior_scale[i] /= m->prior_rows;
    m->prior_rows = m->width == 1 ? 1 : (double)m->d;
    m->alpha = alpha;
}

static cr_status new_chain(cr_ctx *cx, const cri_gmm *m, cri_gmm **out)
{
    cr_status st = cri_gmm_new(cx, m->k, m->d, m->form, 1, out);
    if (st != CR_OK) return st;
    cri_gmm *to = *out;
    size_t   d = m->d, size = d * m->width;
    memcpy(to->centre, m->centre, d * sizeof(double));
    memcpy(to->scale, m->scale, d * sizeof(double));
    memcpy(to->share, m->share, m->k * sizeof(double));
    memcpy(to->mean, m->mean, m->kd * sizeof(double));
    memcpy(to->L, m->L, m->k * size * sizeof(double));
    memcpy(to->prior_scale, m->prior_scale, size * sizeof(double));
    to->prior_rows = m->prior_rows, to->prior_kappa = m->prior_kappa, to->alpha = m->alpha;
    cri_gmm_prepare(to);
    return CR_OK;
}

static cr_status allocate(cr_ctx *cx, sampler *s)
{
    cri_gmm                 *m = s->m;
    cri_gmm_posterior_draws *o = &m->sampled;
    o->chains = s->chains, o->listed = m->listed = s->listed;
    o->value = cr_alloc(cx, s->listed, sizeof(double));
    o->rhat = cr_alloc(cx, s->listed, sizeof(double));
    o->ess = cr_alloc(cx, s->listed, sizeof(double));
    m->error = cr_alloc(cx, s->listed, sizeof(double));
    return o->value && o->rhat && o->ess && m->error ? CR_OK : CR_ENOMEM;
}

cr_status cri_gmm_run_chains(cr_ctx *cx, const cri_rows *rows, const cri_gmm_rows *some,
                             const cri_gmm_options *o, uint64_t seed, cri_gmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch room = cr_scratch_begin(cx);
    size_t     k = m->k, asked = (o->draws + o->chains - 1) / o->chains;
    sampler    s = {
           .rows = rows, .some = some, .chains = o->chains, .length = asked, .step = 1, .m = m
    };

    s.listed = k + 2 * m->kd;
    set_prior(m, o->alpha);
    s.chain = cr_scratch_bytes(&room, s.chains, sizeof *s.chain);
    s.sums = cr_scratch_f64(&room, cri_gmm_width(m) + 1);
    s.reference = cr_scratch_matrix(&room, some->n, k), s.r = cr_scratch_matrix(&room, some->n, k);
    s.density = cr_scratch_f64(&room, CRI_GMM_BLOCK);
    s.X = cr_scratch_matrix(&room, CRI_GMM_BLOCK + 2, m->d);
    s.work = cr_scratch_f64(&room, cri_gmm_work(m));
    s.cost = cr_scratch_matrix(&room, k, k), s.order = cr_scratch_index(&room, k);
    s.values = cr_scratch_matrix(&room, s.chains * asked, 1 + s.listed);
    s.sum = cr_scratch_bytes(&room, m->kd * m->width, sizeof(double));
    s.draws = cr_scratch_matrix(&room, MOST_KEPT, cri_gmm_draw_size(m));
    CR_TRY(room.status);
    CR_TRY(allocate(cx, &s));
    for (size_t c = 0; c < s.chains; c++) CR_TRY(new_chain(cx, m, &s.chain[c]));
    respond(&s, m, s.reference);
    CR_TRY(run(cx, &s, o->warm_up, seed));
    m->sampled.made = s.chains * s.length, m->sampled.warm_up = o->warm_up;
    summarise(&s);
    CR_TRY(set_mean(cx, &s));
    warn(cx, m, s.length, asked);
    CR_TRY(cri_gmm_ready_draws(cx, m));
done:
    for (size_t c = 0; s.chain && c < s.chains; c++) cri_state_free(cx, &cri_class_gmm, s.chain[c]);
    cr_scratch_end(&room);
    return st;
}
