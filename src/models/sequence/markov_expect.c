/* markov_expect.c -- the expected jumps and times between the rows of a chain in continuous time, and their log likelihood.
 * Gaps d that are short beside the rate q of the state that is left most are summed over the number n of its events,
 *   e^(Q d) = sum_n w_n R^n,   R = I + Q / q,   w_n = e^(-q d) (q d)^n / n!,
 *   integral_0^d e^(Q s) W e^(Q (d - s)) ds = 1 / q sum_n w_(n+1) sum_(m <= n) R^m W R^(n-m)
 * (uniformisation), of which all but the weights is the same for all gaps: the W are added up by n, and the matrices
 * multiplied once.  Long gaps take an exponential each.  No term is negative. */
#include "base/parallel.h"
#include "base/scratch.h"
#include "markov_expm.h"
#include "markov_time.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_EVENTS = 64 }; /* that are expected in a short gap */
static const size_t MOST_SUMS = (size_t)1 << 18;

/* What is left out is below 1e-17 of each entry: the states may be as many jumps away from each other. */
static size_t terms_for(double events, size_t k)
{
    return (size_t)ceil(events + 8 * sqrt(events)) + 22 + k;
}

cr_status cri_markov_expectation_open(cr_scratch *s, const cri_markov_gaps *g, size_t k,
                                      cri_markov_expectation *out)
{
    size_t kk = k * k, most = kk * terms_for(MOST_EVENTS, k);
    *out = (cri_markov_expectation){ .g = g, .k = k, .summed = most <= MOST_SUMS };
    if (!out->summed) most = 0;
    out->sums = cr_scratch_f64(s, 1 + kk + most);
    out->powers = cr_scratch_f64(s, most);
    out->work = cr_scratch_f64(s, 5 * kk);
    return s->status;
}

/* C = A B, plus D. */
static void multiply_add(const double *A, const double *B, const double *opt_D, size_t k, double *C)
{
    for (size_t i = 0; i < k; i++) {
        double *row = C + i * k;
        for (size_t j = 0; j < k; j++) row[j] = opt_D ? opt_D[i * k + j] : 0;
        for (size_t l = 0; l < k; l++)
            for (size_t j = 0; j < k; j++) row[j] += A[i * k + l] * B[l * k + j];
    }
}

/* R^0, R^1, ... by cells: powers [k k x terms]. */
static void find_powers(cri_markov_expectation *e)
{
    size_t  k = e->k, kk = k * k, N = e->terms;
    double *R = e->work, *now = R + kk, *next = now + kk;
    for (size_t c = 0; c < kk; c++) {
        now[c] = c % (k + 1) == 0;
        R[c] = now[c] + (e->q > 0 ? e->Q[c] / e->q : 0);
    }
    for (size_t n = 0; n < N; n++) {
        for (size_t c = 0; c < kk; c++) e->powers[c * N + n] = now[c];
        multiply_add(now, R, NULL, k, next);
        memcpy(now, next, kk * sizeof *now);
    }
}

/* One gap by the sum: weights w, then the cells. */
static void add_short(const cri_markov_expectation *e, size_t gap, double *sums, double *w)
{
    const cri_markov_gaps *g = e->g;
    size_t                 k = e->k, N = e->terms;
    double                 events = e->q * g->gap[gap], *by_terms = sums + 1 + k * k;
    size_t                 own = terms_for(events, k);
    w[0] = exp(-events);
    for (size_t n = 1; n < own; n++) w[n] = w[n - 1] * events / (double)n;
    for (size_t c = g->start[gap]; c < g->start[gap + 1]; c++) {
        size_t        a = g->cell[c] / k, b = g->cell[c] % k;
        const double *power = e->powers + g->cell[c] * N;
        double       *V = by_terms + (b * k + a) * N, p = 0;
        for (size_t n = 0; n < own; n++) p += w[n] * power[n];
        p = fmax(p, DBL_MIN);
        sums[0] += g->count[c] * log(p);
        for (size_t n = 0; n + 1 < own; n++) V[n] += g->count[c] / p * w[n + 1];
    }
}

/* One gap by its exponential. */
static void add_long(const cri_markov_expectation *e, size_t gap, double *sums, double *work)
{
    const cri_markov_gaps *g = e->g;
    size_t                 k = e->k, kk = k * k;
    double                *P = work, *W = P + kk, *L = W + kk, *rest = L + kk;
    cri_generator_exponential(e->Q, k, g->gap[gap], NULL, P, NULL, rest);
    memset(W, 0, kk * sizeof *W); /* transposed */
    for (size_t c = g->start[gap]; c < g->start[gap + 1]; c++) {
        size_t a = g->cell[c] / k, b = g->cell[c] % k;
        double p = fmax(P[g->cell[c]], DBL_MIN);
        sums[0] += g->count[c] * log(p);
        W[b * k + a] = g->count[c] / p;
    }
    cri_generator_exponential(e->Q, k, g->gap[gap], W, P, L, rest);
    for (size_t c = 0; c < kk; c++) sums[1 + c] += L[c];
}

static bool is_short(const cri_markov_expectation *e, size_t gap)
{
    return e->summed && e->q * e->g->gap[gap] <= MOST_EVENTS;
}

static void add_gaps(void *arg, cri_range range, double *sums, double *work)
{
    const cri_markov_expectation *e = arg;
    for (size_t i = range.begin; i < range.end; i++)
        (is_short(e, i) ? add_short : add_long)(e, i, sums, work);
}

/* Adds what the sums over terms come to: with B_m = V_m + B_(m+1) R, sum_m R^m B_m, both from the last. */
static void add_terms(cri_markov_expectation *e)
{
    size_t  k = e->k, kk = k * k, N = e->terms;
    double *R = e->work, *B = R + kk, *S = B + kk, *next = S + kk, *V = e->sums + 1 + kk;
    memset(B, 0, kk * sizeof *B);
    memset(S, 0, kk * sizeof *S);
    for (size_t c = 0; c < kk; c++) R[c] = (c % (k + 1) == 0) + e->Q[c] / e->q;
    for (size_t n = N; n-- > 0;) {
        for (size_t c = 0; c < kk; c++) next[c] = V[c * N + n];
        multiply_add(B, R, next, k, next + kk);
        memcpy(B, next + kk, kk * sizeof *B);
        multiply_add(R, S, B, k, next);
        memcpy(S, next, kk * sizeof *S);
    }
    for (size_t c = 0; c < kk; c++) e->sums[1 + c] += S[c] / e->q;
}

cr_status cri_markov_expect(cr_ctx *cx, cri_markov_expectation *e, const double *Q)
{
    size_t k = e->k, kk = k * k, n = e->g->n, work = 3 * kk + cri_generator_work(k);
    size_t together = n / 16 > 4 ? n / 16 : 4;
    double longest = 0;
    e->Q = Q, e->q = 0, e->terms = 0;
    for (size_t a = 0; a < k; a++) e->q = fmax(e->q, -Q[a * k + a]);
    for (size_t i = n; i-- > 0 && longest == 0;) longest = is_short(e, i) ? e->g->gap[i] : 0;
    if (longest > 0) {
        e->terms = terms_for(e->q * longest, k);
        find_powers(e);
    }
    cr_status st = cri_parallel_sum_in(cx, NULL, n, together, 1 + kk + kk * e->terms,
                                       work > e->terms ? work : e->terms, add_gaps, e, e->sums);
    if (st == CR_OK && e->terms > 0 && e->q > 0) add_terms(e);
    return st;
}
