/* topics_mix.c -- new documents, under phi as it is: Gibbs sampling of the topics of their tokens,
 *   p(z_i = k | the others) ~ (n_k + alpha_k) phi_kw,   mix = the mean of (n_k + alpha_k) / (n + sum alpha)
 * over the sweeps 101 to 200.  The random numbers belong to the terms of the document, so that the same document has the
 * same mix wherever it stands.
 *
 * Document completion: the tokens, in the order of the terms, are dealt out in turn; those at places 0, 2, .. are seen,
 * and log p = sum log sum_k mix_k phi_kw over the others, mix given those that are seen.
 * Wallach, Murray, Salakhutdinov & Mimno (2009), ICML, sec. 5.1.  O(200 n K) a document. */
#include "topics.h"
#include "base/parallel.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { BURN = 100, MIX_SWEEPS = 200, TOGETHER = 8 };

typedef struct job {
    const cri_topics    *m;
    const cri_documents *docs;
    double              *mix, *opt_score, *opt_scored;
    float               *phi;     /* [V x K] */
    size_t               longest; /* tokens  */
    double               alpha;   /* sum     */
} job;

/* Which part of a document counts: all tokens, or those at even places. */
static size_t tokens_of(const job *j, size_t d, bool half, uint32_t *out)
{
    const cri_documents *docs = j->docs;
    size_t               n = 0, place = 0;
    for (size_t e = docs->start[d]; e < docs->start[d + 1]; e++)
        for (uint32_t i = 0; i < docs->count[e]; i++, place++)
            if (!half || place % 2 == 0) out[n++] = docs->term[e];
    return n;
}

static uint64_t stream_of(const uint32_t *word, size_t n)
{
    uint64_t hash = 0xCBF29CE484222325u; /* FNV-1a, a term at a time */
    for (size_t i = 0; i < n; i++) hash = (hash ^ word[i]) * 0x100000001B3u;
    return hash;
}

typedef struct mixer {
    double   *n, *p;    /* [K] */
    uint32_t *word, *z; /* [longest] */
} mixer;

/* The topic of a token, drawn. */
static uint32_t draw_topic(const job *j, const mixer *x, uint32_t word, cr_rng *r)
{
    size_t       K = j->m->k, k = 0;
    const float *phi = j->phi + (size_t)word * K;
    double       sum = 0;
    for (size_t i = 0; i < K; i++) x->p[i] = sum += (x->n[i] + j->m->alpha[i]) * (double)phi[i];
    double at = cr_rng_uniform(r) * sum;
    while (k + 1 < K && x->p[k] <= at) k++;
    return (uint32_t)k;
}

/* out [K] the mix of n tokens. */
static void mix_tokens(const job *j, const mixer *x, size_t n, double *out)
{
    size_t K = j->m->k;
    cr_rng r = cr_rng_stream(0, stream_of(x->word, n));
    memset(x->n, 0, K * sizeof *x->n);
    memset(out, 0, K * sizeof *out);
    for (size_t i = 0; i < n; i++) x->n[x->z[i] = draw_topic(j, x, x->word[i], &r)]++;
    for (size_t sweep = 0; sweep < MIX_SWEEPS && n > 0; sweep++) {
        for (size_t i = 0; i < n; i++) {
            x->n[x->z[i]]--;
            x->n[x->z[i] = draw_topic(j, x, x->word[i], &r)]++;
        }
        for (size_t k = 0; sweep >= BURN && k < K; k++) out[k] += x->n[k] / (MIX_SWEEPS - BURN);
    }
    for (size_t k = 0; k < K; k++) out[k] = (out[k] + j->m->alpha[k]) / ((double)n + j->alpha);
}

/* The tokens at odd places under a mix. */
static double score_rest(const job *j, size_t d, const double *mix, double *out_n)
{
    const cri_documents *docs = j->docs;
    size_t               K = j->m->k, place = 0, scored = 0;
    double               sum = 0;
    for (size_t e = docs->start[d]; e < docs->start[d + 1]; e++) {
        size_t n = docs->count[e], odd = (n + place % 2) / 2;
        double p = 0;
        place += n;
        for (size_t k = 0; k < K; k++) p += mix[k] * j->m->phi[k * j->m->terms + docs->term[e]];
        if (odd > 0) sum += (double)odd * log(p);
        scored += odd;
    }
    *out_n = (double)scored;
    return sum;
}

static void mix_documents(void *arg, cri_range range, double *work)
{
    const job *j = arg;
    size_t     K = j->m->k;
    mixer      x = { .n = work, .p = work + K, .word = (uint32_t *)(work + 3 * K) };
    double    *seen = work + 2 * K;
    x.z = x.word + j->longest;
    for (size_t d = range.begin; d < range.end; d++) {
        mix_tokens(j, &x, tokens_of(j, d, false, x.word), j->mix + d * K);
        if (!j->opt_score) continue;
        mix_tokens(j, &x, tokens_of(j, d, true, x.word), seen);
        j->opt_score[d] = score_rest(j, d, seen, &j->opt_scored[d]);
    }
}

cr_status cri_topics_mix(cr_ctx *cx, const cri_topics *m, const cri_documents *docs, double *mix,
                         double *opt_score, double *opt_scored)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    job j = { .m = m, .docs = docs, .mix = mix, .opt_score = opt_score, .opt_scored = opt_scored };
    j.phi = cr_scratch_bytes(&s, m->terms * m->k, sizeof *j.phi);
    CR_TRY(s.status);
    for (size_t w = 0; w < m->terms; w++)
        for (size_t k = 0; k < m->k; k++) j.phi[w * m->k + k] = (float)m->phi[k * m->terms + w];
    for (size_t k = 0; k < m->k; k++) j.alpha += m->alpha[k];
    for (size_t d = 0; d < docs->n; d++) {
        size_t n = 0;
        for (size_t e = docs->start[d]; e < docs->start[d + 1]; e++) n += docs->count[e];
        j.longest = n > j.longest ? n : j.longest;
    }
    CR_TRY(cri_parallel_rows(cx, "documents", docs->n, TOGETHER, 3 * m->k + j.longest,
                             mix_documents, &j));
done:
    cr_scratch_end(&s);
    return st;
}
