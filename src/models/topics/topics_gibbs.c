/* topics_gibbs.c -- collapsed Gibbs sampling.
 *   p(z_di = k | all other z) ~ (n_dk + alpha_k) (n_kw + eta) / (n_k + V eta),   the token itself not counted
 * One chain goes through the documents in order.  The factor of document and total, (n_dk + alpha_k) / (n_k + V eta), is
 * kept up to date, so that a token costs K products in single precision, in four lanes whose running sums are the
 * table that the draw is looked up in: u falls into a lane, then into a place of it.  A draw has 24 random bits.
 * Jumps that are mispredicted and loads that wait for stores take most of the time, so there are few of both.
 *
 * Large corpora are cut into shards of documents, by their number alone.  In a sweep each shard goes through its documents
 * with a copy of n_kw as it was before, and the changes of all are added up: an approximation where there is more than one
 * shard (Newman, Asuncion, Smyth & Welling 2009, JMLR 10), the same bits for any number of threads.  A small corpus is one
 * shard, and its chains are exact.
 *
 * alpha and eta, where they are learned, move by a step of Minka's fixed point every few sweeps of the first half, given
 * z: a stochastic ascent of log p(w | alpha, eta).  From the second half, every tenth sweep gives
 * E[phi | z] and Var[phi | z]; means and sds are those of the mixture of these.
 * Memory: 4 bytes a token, and in each chain 2 a token and 4 K V; 8 K V for each thread where there are shards.
 * Griffiths & Steyvers (2004), PNAS 101. */
#include "topics.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "math/special/special.h"
#include "prob/mc/chains.h"

#include <math.h>
#include <string.h>

enum {
    LANES = 4,
    AHEAD = 32, /* random numbers drawn together */
    MOST_SHARDS = 64,
    WORTH = 4,        /* tokens of a shard for each cell of n_kw that is copied, */
    FEWEST = 1 << 18, /* and at least                                         */
    LEARN = 10,       /* sweeps between steps of alpha and eta                  */
    BEGIN = 20,       /* and before the first                                   */
    KEEP = 10,        /* sweeps between those that are kept                     */
    SMOOTH_STEPS = 3
};

static const double LEAST_PRIOR = 1e-4, MOST_PRIOR = 1e4;

typedef struct chain {
    uint16_t *z;     /* [tokens]      */
    int32_t  *n_kw;  /* [V x stride]  */
    int32_t  *n_k;   /* [stride]      */
    double   *alpha; /* [K]           */
    double    eta;
    double   *phi, *square; /* [V x K] sums over kept sweeps of E[phi | z] and E[phi^2 | z] */
    size_t    kept;
    double    log_joint; /* of the last sweep that was looked at */
    double   *trace;     /* [kept so far] log p(w, z)            */
} chain;

/* What a shard works with. */
typedef struct workspace {
    int32_t *n_kw, *n_k, *n_d; /* its own copies of the chain's; tokens of a document by topic */
    float   *factor, *alpha;   /* [stride] (n_dk + alpha_k) / (n_k + V eta); alpha */
    float   *running;          /* [stride] sums so far, lane by lane              */
    float    eta, eta_sum;
} workspace;

typedef struct sampler {
    const cri_documents      *docs;
    const cri_topics_options *o;
    size_t                    K, V, stride, shards, tokens;
    uint32_t                 *word;  /* [tokens]           */
    size_t                   *begin; /* [documents + 1]    */
    size_t                   *cut;   /* [shards + 1] documents */
    size_t                    chains, sweep;
    uint64_t                  seed;
    chain                    *chain;
    workspace                *workspace; /* [slots], with shards; else [chains] */
    cri_slots                 slots;
    atomic_int *change; /* [chains x V x stride] what shards have changed; NULL with one */
} sampler;

/* --- one token -------------------------------------------------------------------------------- */

/* Four numbers side by side: of the places k, k + 1, .., and one running sum for each lane. */
typedef float   four __attribute__((vector_size(4 * LANES), may_alias));
typedef int32_t four_whole __attribute__((vector_size(4 * LANES), may_alias));

/* (n_dk + alpha_k) / (n_k + V eta). */
static inline float factor_of(const workspace *w, size_t k, int32_t n_d, int32_t n_k)
{
    return ((float)n_d + w->alpha[k]) / ((float)n_k + w->eta_sum);
}

/* The topic of a token, by a draw u in [0, 1), from the products of all topics but for that of `old`, which is `rest`.
 * Nothing is stored before it is loaded in another width, which would stall. */
static inline size_t draw(const workspace *w, const int32_t *n_w, size_t stride, size_t old,
                          float rest, float u)
{
    const four       *factor = (const four *)w->factor;
    const four_whole *count = (const four_whole *)n_w;
    four             *running = (four *)w->running;
    int32_t           at_old = (int32_t)old;
    four              sum = { 0 }, eta = { w->eta, w->eta, w->eta, w->eta };
    four              other = { rest, rest, rest, rest };
    four_whole        place = { 0, 1, 2, 3 }, step = { LANES, LANES, LANES, LANES };
    four_whole        here = { at_old, at_old, at_old, at_old }, below = { 0 };
    for (size_t v = 0; v < stride / LANES; v++) {
        four       p = factor[v] * (__builtin_convertvector(count[v], four) + eta);
        four_whole is_old = place == here;
        sum += (four)(((four_whole)p & ~is_old) | ((four_whole)other & is_old));
        running[v] = sum;
        place += step;
    }
    float       a = sum[0], b = a + sum[1], c = b + sum[2], at = u * (c + sum[3]);
    size_t      lane = (size_t)(at >= a) + (size_t)(at >= b) + (size_t)(at >= c);
    const float before[LANES] = { 0, a, b, c }; /* a jump would be mispredicted */
    at -= before[lane];
    four bar = { at, at, at, at };
    for (size_t v = 0; v < stride / LANES; v++) below -= running[v] <= bar;
    return (size_t)below[lane] * LANES + lane;
}

/* Rounding may lead behind the last topic, or to one without any probability; the largest takes its place. */
static size_t largest(const workspace *w, const int32_t *n_w, size_t K)
{
    size_t best = 0;
    for (size_t k = 1; k < K; k++)
        if (w->factor[k] * ((float)n_w[k] + w->eta) > w->factor[best] * ((float)n_w[best] + w->eta))
            best = k;
    return best;
}

static void open_document(const sampler *s, const chain *c, size_t d, workspace *w)
{
    w->eta = (float)c->eta;
    w->eta_sum = (float)((double)s->V * c->eta);
    memset(w->n_d, 0, s->stride * sizeof *w->n_d);
    for (size_t i = s->begin[d]; i < s->begin[d + 1]; i++) w->n_d[c->z[i]]++;
    for (size_t k = 0; k < s->K; k++) {
        w->alpha[k] = (float)c->alpha[k];
        w->factor[k] = factor_of(w, k, w->n_d[k], w->n_k[k]);
    }
}

/* Counts change where a topic does; most stay. */
static void sample_document(const sampler *s, const chain *c, size_t d, cr_rng *r, workspace *w)
{
    size_t K = s->K, stride = s->stride;
    float  u[AHEAD];
    open_document(s, c, d, w);
    for (size_t i = s->begin[d], drawn = AHEAD; i < s->begin[d + 1]; i++) {
        size_t   old = c->z[i], k;
        int32_t *n_w = w->n_kw + s->word[i] * stride;
        if (drawn == AHEAD) {
            for (size_t j = 0; j < AHEAD; j++) u[j] = (float)(cr_rng_u32(r) >> 8) * 0x1p-24f;
            drawn = 0;
        }
        float without = factor_of(w, old, w->n_d[old] - 1, w->n_k[old] - 1);
        k = draw(w, n_w, stride, old, without * ((float)(n_w[old] - 1) + w->eta), u[drawn++]);
        if (k == old) continue;
        if (k >= K) k = largest(w, n_w, K);
        w->factor[old] = without;
        n_w[old]--, w->n_d[old]--, w->n_k[old]--;
        n_w[k]++, w->n_d[k]++, w->n_k[k]++;
        w->factor[k] = factor_of(w, k, w->n_d[k], w->n_k[k]);
        c->z[i] = (uint16_t)k;
    }
}

/* --- a sweep ---------------------------------------------------------------------------------- */

/* Random numbers belong to a document in a sweep of a chain. */
static cr_rng stream_of(const sampler *s, size_t at, size_t sweep, size_t d)
{
    return cr_rng_stream(s->seed + 0x9E3779B97F4A7C15u * (sweep + 1),
                         ((uint64_t)at << 40) | (uint64_t)d);
}

static void sample_shard(const sampler *s, size_t chain_at, size_t shard, workspace *w)
{
    const chain *c = &s->chain[chain_at];
    for (size_t d = s->cut[shard]; d < s->cut[shard + 1]; d++) {
        cr_rng r = stream_of(s, chain_at, s->sweep, d);
        sample_document(s, c, d, &r, w);
    }
}

/* Block b is a shard of a chain. */
static void sweep_block(void *arg, size_t b)
{
    sampler *s = arg;
    size_t   at = b / s->shards, cells = s->V * s->stride;
    chain   *c = &s->chain[at];
    if (s->shards == 1) {
        workspace w = s->workspace[at];
        w.n_kw = c->n_kw, w.n_k = c->n_k;
        sample_shard(s, at, 0, &w);
        return;
    }
    size_t     slot = cri_slot_take(&s->slots);
    workspace *w = &s->workspace[slot];
    memcpy(w->n_kw, c->n_kw, cells * sizeof *w->n_kw);
    memcpy(w->n_k, c->n_k, s->stride * sizeof *w->n_k);
    sample_shard(s, at, b % s->shards, w);
    for (size_t j = 0; j < cells; j++) {
        int32_t by = w->n_kw[j] - c->n_kw[j];
        if (by != 0) atomic_fetch_add(&s->change[at * cells + j], by);
    }
    cri_slot_leave(&s->slots, slot);
}

/* Sums of whole numbers are the same in any order. */
static void merge(sampler *s)
{
    size_t cells = s->V * s->stride;
    for (size_t at = 0; s->shards > 1 && at < s->chains; at++) {
        chain *c = &s->chain[at];
        memset(c->n_k, 0, s->stride * sizeof *c->n_k);
        for (size_t j = 0; j < cells; j++) {
            c->n_kw[j] += atomic_load(&s->change[at * cells + j]);
            atomic_store(&s->change[at * cells + j], 0);
            c->n_k[j % s->stride] += c->n_kw[j];
        }
    }
}

/* --- alpha, eta and the joint ----------------------------------------------------------------- */

typedef struct tallies {
    cri_tally topic, length, cell; /* n_dk of one topic, n_d, and n_kw */
    int32_t  *n_dk;                /* [documents x K] */
} tallies;

static void count_topics(const sampler *s, const chain *c, tallies *t)
{
    memset(t->n_dk, 0, s->docs->n * s->K * sizeof *t->n_dk);
    for (size_t d = 0; d < s->docs->n; d++)
        for (size_t i = s->begin[d]; i < s->begin[d + 1]; i++) t->n_dk[d * s->K + c->z[i]]++;
}

static void tally_topic(const sampler *s, size_t k, tallies *t)
{
    memset(t->topic.at, 0, (t->topic.most + 1) * sizeof *t->topic.at);
    for (size_t d = 0; d < s->docs->n; d++) t->topic.at[t->n_dk[d * s->K + k]]++;
    t->topic.at[0] = 0;
}

static void tally_cells(const sampler *s, const chain *c, tallies *t)
{
    memset(t->cell.at, 0, (t->cell.most + 1) * sizeof *t->cell.at);
    for (size_t w = 0; w < s->V; w++)
        for (size_t k = 0; k < s->K; k++) t->cell.at[c->n_kw[w * s->stride + k]]++;
    t->cell.at[0] = 0;
}

static double sum_of(const double *a, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i];
    return sum;
}

/* log p(w, z | alpha, eta). */
static double log_joint(const sampler *s, const chain *c, tallies *t)
{
    double eta_sum = (double)s->V * c->eta, value;
    count_topics(s, c, t);
    tally_cells(s, c, t);
    value = cri_tally_lgamma(&t->cell, c->eta);
    for (size_t k = 0; k < s->K; k++) value -= cr_lgamma_diff(eta_sum, (double)c->n_k[k]);
    for (size_t k = 0; k < s->K; k++) {
        tally_topic(s, k, t);
        value += cri_tally_lgamma(&t->topic, c->alpha[k]);
    }
    return value - cri_tally_lgamma(&t->length, sum_of(c->alpha, s->K));
}

static double bounded(double x) { return fmin(fmax(x, LEAST_PRIOR), MOST_PRIOR); }

/* Minka (2000), Estimating a Dirichlet distribution, (55). */
static void learn_alpha(const sampler *s, chain *c, tallies *t)
{
    double below = cri_tally_digamma(&t->length, sum_of(c->alpha, s->K));
    if (!(below > 0)) return;
    for (size_t k = 0; k < s->K; k++) {
        tally_topic(s, k, t);
        c->alpha[k] = bounded(c->alpha[k] * cri_tally_digamma(&t->topic, c->alpha[k]) / below);
    }
}

static void learn_eta(const sampler *s, chain *c, tallies *t)
{
    double V = (double)s->V, below = 0;
    tally_cells(s, c, t);
    for (size_t k = 0; k < s->K; k++)
        below += cr_digamma((double)c->n_k[k] + V * c->eta) - cr_digamma(V * c->eta);
    if (below > 0) c->eta = bounded(c->eta * cri_tally_digamma(&t->cell, c->eta) / (V * below));
}

static void learn_prior(const sampler *s, chain *c, tallies *t)
{
    count_topics(s, c, t);
    for (size_t i = 0; i < SMOOTH_STEPS; i++) {
        if (isnan(s->o->alpha)) learn_alpha(s, c, t);
        if (isnan(s->o->eta)) learn_eta(s, c, t);
    }
}

/* --- what is kept ----------------------------------------------------------------------------- */

/* phi_k | z ~ Dirichlet(n_kw + eta). */
static void keep(const sampler *s, chain *c)
{
    double eta_sum = (double)s->V * c->eta;
    for (size_t w = 0; w < s->V; w++)
        for (size_t k = 0; k < s->K; k++) {
            double total = (double)c->n_k[k] + eta_sum;
            double mean = ((double)c->n_kw[w * s->stride + k] + c->eta) / total;
            c->phi[w * s->K + k] += mean;
            c->square[w * s->K + k] += mean * mean + mean * (1 - mean) / (total + 1);
        }
    c->kept++;
}

/* exp(- mean log p(w)) of the tokens of the fit at the last z of a chain. */
static double perplexity_of(const sampler *s, const chain *c, tallies *t)
{
    double eta_sum = (double)s->V * c->eta, sum = 0, alpha = sum_of(c->alpha, s->K);
    count_topics(s, c, t);
    for (size_t d = 0; d < s->docs->n; d++) {
        double length = (double)(s->begin[d + 1] - s->begin[d]) + alpha;
        for (size_t e = s->docs->start[d]; e < s->docs->start[d + 1]; e++) {
            const int32_t *n_w = c->n_kw + s->docs->term[e] * s->stride;
            double         p = 0;
            for (size_t k = 0; k < s->K; k++)
                p += ((double)t->n_dk[d * s->K + k] + c->alpha[k]) * ((double)n_w[k] + c->eta) /
                     ((double)c->n_k[k] + eta_sum);
            sum += (double)s->docs->count[e] * log(p / length);
        }
    }
    return s->tokens > 0 ? exp(-sum / (double)s->tokens) : (double)s->V;
}

/* --- set up ----------------------------------------------------------------------------------- */

static size_t count_shards(const sampler *s)
{
    size_t each = WORTH * s->V * s->stride;
    if (s->o->shards != CR_COUNT_UNSET) return s->o->shards;
    size_t shards = s->tokens / (each > FEWEST ? each : FEWEST);
    return shards < 1 ? 1 : shards > MOST_SHARDS ? MOST_SHARDS : shards;
}

static void expand(sampler *s)
{
    const cri_documents *d = s->docs;
    size_t               at = 0;
    for (size_t i = 0; i < d->n; i++) {
        s->begin[i] = at;
        for (size_t e = d->start[i]; e < d->start[i + 1]; e++)
            for (uint32_t n = 0; n < d->count[e]; n++) s->word[at++] = d->term[e];
    }
    s->begin[d->n] = at;
}

/* Cuts the documents where the tokens are in equal parts. */
static void cut_shards(sampler *s)
{
    size_t d = 0;
    for (size_t j = 0; j <= s->shards; j++) {
        size_t tokens = (size_t)((double)s->tokens * (double)j / (double)s->shards);
        while (j > 0 && d < s->docs->n && (s->begin[d] < tokens || j == s->shards)) d++;
        s->cut[j] = d;
    }
}

static void scatter(const sampler *s, size_t at)
{
    chain *c = &s->chain[at];
    for (size_t d = 0; d < s->docs->n; d++) {
        cr_rng r = stream_of(s, at, SIZE_MAX - 1, d);
        for (size_t i = s->begin[d]; i < s->begin[d + 1]; i++) {
            c->z[i] = (uint16_t)cr_rng_below(&r, s->K);
            c->n_kw[s->word[i] * s->stride + c->z[i]]++;
            c->n_k[c->z[i]]++;
        }
    }
}

static void open_workspace(cr_scratch *a, const sampler *s, bool copies, workspace *w)
{
    if (copies) w->n_kw = cr_scratch_bytes(a, s->V * s->stride, sizeof *w->n_kw);
    if (copies) w->n_k = cr_scratch_bytes(a, s->stride, sizeof *w->n_k);
    w->n_d = cr_scratch_bytes(a, s->stride, sizeof *w->n_d);
    w->factor = cr_scratch_bytes(a, s->stride, sizeof *w->factor);
    w->alpha = cr_scratch_bytes(a, s->stride, sizeof *w->alpha);
    w->running = cr_scratch_bytes(a, s->stride, sizeof *w->running);
}

static cr_status open_sampler(cr_ctx *cx, cr_scratch *a, sampler *s)
{
    size_t cells = s->V * s->stride, points = s->o->sweeps / KEEP + 2;
    s->word = cr_scratch_bytes(a, s->tokens, sizeof *s->word);
    s->begin = cr_scratch_index(a, s->docs->n + 1);
    s->shards = count_shards(s);
    s->cut = cr_scratch_index(a, s->shards + 1);
    s->chain = cr_scratch_bytes(a, s->chains, sizeof *s->chain);
    if (a->status != CR_OK) return a->status;
    expand(s);
    cut_shards(s);
    for (size_t i = 0; i < s->chains; i++) {
        chain *c = &s->chain[i];
        c->z = cr_scratch_bytes(a, s->tokens, sizeof *c->z);
        c->n_kw = cr_scratch_bytes(a, cells, sizeof *c->n_kw);
        c->n_k = cr_scratch_bytes(a, s->stride, sizeof *c->n_k);
        c->alpha = cr_scratch_f64(a, s->K);
        c->phi = cr_scratch_bytes(a, s->V * s->K, sizeof *c->phi);
        c->square = cr_scratch_bytes(a, s->V * s->K, sizeof *c->square);
        c->trace = cr_scratch_f64(a, points);
        if (a->status != CR_OK) return a->status;
        c->eta = isnan(s->o->eta) ? 0.01 : s->o->eta;
        for (size_t k = 0; k < s->K; k++) c->alpha[k] = isnan(s->o->alpha) ? 0.1 : s->o->alpha;
        scatter(s, i);
    }
    bool   copies = s->shards > 1;
    size_t n = copies ? cri_slots_needed(cx, s->chains * s->shards) : s->chains;
    s->slots.n = n;
    s->workspace = cr_scratch_bytes(a, n, sizeof *s->workspace);
    if (copies) s->change = cr_scratch_bytes(a, s->chains * cells, sizeof *s->change);
    for (size_t i = 0; a->status == CR_OK && i < n; i++)
        open_workspace(a, s, copies, &s->workspace[i]);
    return a->status;
}

static void open_tallies(cr_scratch *a, const sampler *s, tallies *t)
{
    size_t longest = 0, most = 0;
    for (size_t d = 0; d < s->docs->n; d++) {
        size_t n = s->begin[d + 1] - s->begin[d];
        longest = n > longest ? n : longest;
    }
    double *of = cr_scratch_bytes(a, s->V, sizeof *of);
    for (size_t i = 0; of && i < s->tokens; i++) of[s->word[i]]++;
    for (size_t w = 0; of && w < s->V; w++) most = (size_t)of[w] > most ? (size_t)of[w] : most;
    t->topic.most = t->length.most = longest;
    t->cell.most = most;
    t->topic.at = cr_scratch_bytes(a, longest + 1, sizeof(double));
    t->length.at = cr_scratch_bytes(a, longest + 1, sizeof(double));
    t->cell.at = cr_scratch_bytes(a, most + 1, sizeof(double));
    t->n_dk = cr_scratch_bytes(a, s->docs->n * s->K, sizeof *t->n_dk);
    for (size_t d = 0; t->length.at && d < s->docs->n; d++)
        t->length.at[s->begin[d + 1] - s->begin[d]]++;
}

/* --- the answer ------------------------------------------------------------------------------- */

static double mean_of(const double *a, size_t n) { return sum_of(a, n) / (double)n; }

/* The cosine between topic k of the best chain and topic j of another. */
static double cosine(const sampler *s, const chain *a, size_t k, const chain *b, size_t j)
{
    double ab = 0, aa = 0, bb = 0;
    for (size_t w = 0; w < s->V; w++) {
        double x = a->phi[w * s->K + k], y = b->phi[w * s->K + j];
        ab += x * y, aa += x * x, bb += y * y;
    }
    return ab / sqrt(aa * bb);
}

/* Labels of chains differ; topics are compared with those most like them, each of which is taken once: the pair that
 * is most alike first.  O(K^2 V). */
static cr_status compare_chains(cr_ctx *cx, const sampler *s, size_t best, cri_topics *m)
{
    cr_status  st = CR_OK;
    cr_scratch a = cr_scratch_begin(cx);
    size_t     K = s->K;
    double    *like = cr_scratch_matrix(&a, K, K);
    bool      *taken = cr_scratch_bytes(&a, 2 * K, sizeof *taken);
    CR_TRY(a.status);
    for (size_t other = 0; other < s->chains; other++) {
        if (other == best) continue;
        for (size_t k = 0; k < K; k++) {
            CR_TRY(cr_check_interrupt(cx));
            for (size_t j = 0; j < K; j++)
                like[k * K + j] = cosine(s, &s->chain[best], k, &s->chain[other], j);
        }
        memset(taken, 0, 2 * K * sizeof *taken);
        for (size_t pair = 0; pair < K; pair++) {
            size_t k = K, j = K;
            for (size_t i = 0; i < K * K; i++) {
                if (taken[i / K] || taken[K + i % K]) continue;
                if (k == K || like[i] > like[k * K + j]) k = i / K, j = i % K;
            }
            taken[k] = taken[K + j] = true;
            m->agreement[k] += like[k * K + j] / (double)(s->chains - 1);
        }
    }
done:
    cr_scratch_end(&a);
    return st;
}

static void take_answer(const sampler *s, const chain *c, tallies *t, cri_topics *m)
{
    double n = (double)c->kept;
    for (size_t k = 0; k < s->K; k++) {
        double total = 0;
        for (size_t w = 0; w < s->V; w++) total += c->phi[w * s->K + k] / n;
        for (size_t w = 0; w < s->V; w++) {
            double mean = c->phi[w * s->K + k] / n;
            double variance = c->square[w * s->K + k] / n - mean * mean;
            m->phi[k * s->V + w] = mean / total; /* the sum is 1 except for rounding */
            m->sd[k * s->V + w] = sqrt(fmax(variance, 0));
        }
        m->alpha[k] = c->alpha[k];
        m->share[k] = s->tokens > 0 ? (double)c->n_k[k] / (double)s->tokens : 0;
    }
    m->eta = c->eta;
    m->log_joint = mean_of(c->trace, c->kept);
    m->perplexity = perplexity_of(s, c, t);
    m->kept = c->kept;
}

static cr_status give(cr_ctx *cx, const sampler *s, tallies *t, cri_topics *m, cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch a = cr_scratch_begin(cx);
    size_t     best = 0, n = s->chain[0].kept;
    double    *traces = cr_scratch_f64(&a, s->chains * n);
    CR_TRY(a.status);
    for (size_t i = 1; i < s->chains; i++)
        if (mean_of(s->chain[i].trace, n) > mean_of(s->chain[best].trace, n)) best = i;
    for (size_t i = 0; i < s->chains; i++)
        memcpy(traces + i * n, s->chain[i].trace, n * sizeof *traces);
    cri_chains_diagnose(traces, s->chains, n, 1, &m->rhat, &m->ess);
    take_answer(s, &s->chain[best], t, m);
    if (s->chains > 1) {
        m->agreement = cr_alloc(cx, s->K, sizeof *m->agreement);
        if (!m->agreement) CR_TRY(CR_ENOMEM);
        CR_TRY(compare_chains(cx, s, best, m));
    }
    m->iterations = s->sweep, m->chains = s->chains, m->shards = s->shards;
    m->bound = NAN;
    report->iterations = s->sweep;
    report->stop = CR_STOP_LIMIT;
done:
    cr_scratch_end(&a);
    return st;
}

cr_status cri_topics_gibbs(cr_ctx *cx, const cri_documents *docs, const cri_topics_options *o,
                           uint64_t seed, cri_topics *m, cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch a = cr_scratch_begin(cx);
    cri_clock  clock = cri_clock_start(cx, NAN);
    sampler    s = { .docs = docs, .o = o, .K = m->k, .V = m->terms, .chains = o->chains };
    tallies    t = { 0 };
    s.stride = (s.K + LANES - 1) / LANES * LANES;
    s.tokens = (size_t)docs->tokens;
    s.seed = seed;

    CR_TRY(open_sampler(cx, &a, &s));
    open_tallies(&a, &s, &t);
    CR_TRY(a.status);
    for (bool over = false; s.sweep < o->sweeps && !over; s.sweep++) {
        CR_TRY(cri_parallel_for(cx, NULL, s.chains * s.shards, sweep_block, &s));
        merge(&s);
        cr_progress(cx, "sweeps", (double)(s.sweep + 1), (double)o->sweeps);
        size_t done = s.sweep + 1;
        bool   learns = isnan(o->alpha) || isnan(o->eta), half = 2 * done > o->sweeps;
        over = cri_clock_over(&clock);
        for (size_t i = 0; i < s.chains; i++) {
            chain *c = &s.chain[i];
            if (learns && !half && done >= BEGIN && done % LEARN == 0) learn_prior(&s, c, &t);
            bool last = done == o->sweeps || over;
            if (!(half && done % KEEP == 0) && !(last && c->kept == 0)) continue;
            c->trace[c->kept] = log_joint(&s, c, &t);
            keep(&s, c);
        }
    }
    CR_TRY(give(cx, &s, &t, m, report));
done:
    cr_scratch_end(&a);
    return st;
}
