/* markov_time.h -- Markov chains in continuous time: symbols seen at times, of a chain that may have jumped in between.
 *   P(x_t+d = b | x_t = a) = (e^(Q d))_ab,   q_ab >= 0 the rate of jumps from a to b,   q_aa = -sum_b q_ab
 *   q_ab ~ Gamma(alpha, beta),   P(first symbol) ~ Dirichlet, as in discrete time
 * By EM: given Q, the expected jumps N_ab and the expected time R_a in each symbol between all pairs of neighbours follow
 * from one integral for each different gap d, with n_ab(d) of these pairs,
 *   G = sum_d integral_0^d e^(Q' s) W e^(Q' (d - s)) ds,   W_ab = n_ab(d) / P_ab(d),   N_ab = q_ab G_ab,   R_a = G_aa,
 * and q_ab = (N_ab + alpha) / (R_a + beta) is the mode of log q.  G is also the gradient of the log likelihood:
 * d / d q_ab = G_ab - G_aa; its differences are the observed information.
 * O(k^2) for each different gap and step where it is short, else O(k^3).  Bladt & Sorensen (2005), Statistical inference for discretely observed Markov
 * jump processes, Journal of the Royal Statistical Society B 67; Van Loan (1978), IEEE Transactions on Automatic Control
 * 23, for the integral.
 *
 *   1. markov_gaps.c          which symbols followed which, after which gaps
 *   2. markov_expect.c        expected jumps and times
 *   3. markov_time.c          EM, errors
 *   4. markov_time_answer.c   predictions, forecasts, draws
 *   markov_expm.c             exponentials of generators
 * (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_MARKOV_TIME_H
#define CREDENCE_MODELS_SEQUENCE_MARKOV_TIME_H

#include "base/scratch.h"
#include "markov.h"

/* --- gaps (markov_gaps.c) -------------------------------------------------------------------- */

/* Pairs of neighbours, by the time between them.  Cells of gap g are start[g] .. start[g + 1] - 1. */
typedef struct cri_markov_gaps {
    size_t    n, cells;    /* different gaps; cells of all of them                    */
    double   *gap;         /* [n] rising                                              */
    size_t   *start;       /* [n + 1]                                                 */
    uint32_t *cell;        /* [cells] a k + b of symbols a, b that follow each other  */
    double   *count;       /* [cells] how often                                       */
    double    pairs, time; /* of all gaps                                          */
} cri_markov_gaps;

/* The time from one row of a sequence, at `before`, to the next; `same`: they have the same symbol.  CR_EDATA, naming the
 * place, where it is 0 and they have not, or below 0. */
cr_status cri_markov_gap(cr_ctx *cx, const cri_rows *rows, size_t row, double before, bool same,
                         double *out_gap);
/* Of symbols [rows], in memory of the arena.  Gaps that differ by rounding count as equal, and a symbol that was seen
 * twice at a time as seen once.  Fails with CR_EDATA where two symbols were, or no sequence has two times. */
cr_status cri_markov_gaps_find(cr_ctx *cx, cr_scratch *s, const cri_rows *rows,
                               const double *symbol, size_t k, cri_markov_gaps *out);

/* --- expectations (markov_expect.c) ---------------------------------------------------------- */

typedef struct cri_markov_expectation {
    const cri_markov_gaps *g;
    size_t                 k, terms;
    bool                   summed; /* whether short gaps are summed over their events */
    double                 q;      /* the largest rate of leaving                     */
    const double          *Q;      /* [k x k] of the last one                         */
    double *sums; /* log likelihood of the pairs, G transposed [k x k], sums over terms */
    double *powers, *work;
} cri_markov_expectation;

/* Memory from the arena. */
cr_status cri_markov_expectation_open(cr_scratch *s, const cri_markov_gaps *g, size_t k,
                                      cri_markov_expectation *out);
/* Sets the sums at a generator. */
cr_status cri_markov_expect(cr_ctx *cx, cri_markov_expectation *e, const double *Q);
/* G_ab, of which G_aa is the expected time in a. */
static inline double cri_markov_expected(const cri_markov_expectation *e, size_t a, size_t b)
{
    return e->sums[1 + b * e->k + a];
}

/* --- fit (markov_time.c) --------------------------------------------------------------------- */

typedef struct cri_markov_time_settings {
    double prior_jumps, tol;
    size_t max_iter;
} cri_markov_time_settings;

/* Sets the rates, what follows from them, and log_likelihood, of a chain whose symbols and counts are there. */
cr_status cri_markov_time_fit(cr_ctx *cx, const cri_rows *rows, const double *symbol,
                              const cri_markov_time_settings *o, cri_markov *m, cr_report *report);
/* Where the sequences of the fit end: their rows, last symbols and last times. */
void cri_markov_time_ends(const cri_rows *rows, const double *symbol, cri_markov *m);

/* --- answers (markov_time_answer.c) ---------------------------------------------------------- */

enum { CRI_MARKOV_TIME_PLACE = 3 }; /* rows, the last symbol, its time */

cr_status cri_markov_time_answer(cr_ctx *cx, const cri_markov *m, const cri_rows *rows,
                                 double *opt_places, cr_prediction *out);
/* Every unit of time. */
cr_status cri_markov_time_forecast(cr_ctx *cx, const cri_markov *m, const double *places, size_t n,
                                   size_t ahead, cr_prediction *out);
/* Rows one unit of time apart. */
cr_status cri_markov_time_sample(cr_ctx *cx, const cri_markov *m, size_t count, uint64_t seed,
                                 double *out);

#endif
