/* crf_chain.h -- one chain of labels y_0 .. y_(n-1) under scores.
 *   p(y) = exp(sum_t S[t, y_t] + sum_(t>0) T[y_(t-1), y_t]) / Z
 * Sums over all K^n labellings by the forward-backward recursions, O(n K^2) each.  With
 * E = exp(S - row maximum) and M = exp(T - largest T), both at most 1, the forward vectors are
 * scaled to sum to one at every step:
 *   a_t = c_t (a_(t-1) M) * E_t,   b_(t-1) = M (c_t E_t * b_t),   p(y_t) = a_t * b_t,
 *   log Z = -sum_t log c_t + row maxima + (n - 1) largest T.
 * What is below e^-708 in a row of E can be favoured by T on both of its sides, by no more than the
 * range of T each: where that is at most CRI_CRF_CHAIN_RANGE, what underflows is below e^-100 of Z, and
 * all c_t are finite.  A wider T is taken through the same recursions in logarithms.
 * Rabiner (1989), Proc. IEEE 77; Lafferty, McCallum & Pereira (2001), ICML.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_CRF_CHAIN_H
#define CREDENCE_MODELS_SEQUENCE_CRF_CHAIN_H

#include "base/rng.h"
#include "base/scratch.h"

enum { CRI_CRF_CHAIN_RANGE = 300, CRI_CHAIN_LANES = 4 };

/* Transition weights, made ready.  Rows of K numbers lie `stride` apart, K rounded up to whole
 * lanes; what lies between is 0. */
typedef struct cri_crf_chain {
    const cr_ctx *cx; /* asked now and then whether to stop: answers are then NaN */
    size_t        K, stride;
    bool          scaled; /* else in logarithms */
    double        top;    /* the largest weight */
    double       *T;      /* [K x stride] the weights                          */
    double       *M, *Mt; /* [K x stride] exp(T - top), and its transpose      */
} cri_crf_chain;

/* Room for K labels; what fails is in the status of the arena. */
void cri_crf_chain_begin(cr_scratch *s, size_t K, cri_crf_chain *out);
/* Takes T [K x stride], which must be finite. */
void cri_crf_chain_set(cri_crf_chain *c, const double *T);

/* How many numbers of workspace a chain of n rows takes. */
size_t cri_crf_chain_work(const cri_crf_chain *c, size_t n);

/* The score of the labelling y [n]: the exponent above.  S [n x stride]. */
double cri_crf_chain_score(const cri_crf_chain *c, size_t n, const double *S, const uint32_t *y);
/* Turns scores S [n x stride] into p(y_t = k); returns log Z.  Where opt_pairs [K x stride] is
 * given, adds what cri_crf_chain_pairs makes the expected number of transitions of, times `weight`. */
double cri_crf_chain_marginals(const cri_crf_chain *c, size_t n, double *S, double weight,
                               double *opt_pairs, double *work);
/* The sums that were added up over chains as expected numbers of transitions, in place. */
void cri_crf_chain_pairs(const cri_crf_chain *c, double *pairs);

/* A labelling drawn from p, into path [n]: from the last label backwards, given the one behind it.  `work`
 * is as cri_crf_chain_marginals of this chain has left it, and good for any number of draws. */
void cri_crf_chain_draw(const cri_crf_chain *c, size_t n, double *work, cr_rng *rng,
                        uint32_t *path);

/* The entropy of p in nats.  log_weights [K x stride] are those of cri_chain_weigh_logs; `work` as above, rest [3 K]. */
double cri_crf_chain_entropy(const cri_crf_chain *c, size_t n, const double *log_weights,
                             const double *work, double *rest);

/* The best labelling, by Viterbi's algorithm, into path [n]; returns its score.  Of equal ones, that
 * whose last label comes first, and so on backwards.  from [n x K], work [3 stride]. */
double cri_crf_chain_best(const cri_crf_chain *c, size_t n, const double *S, uint32_t *path,
                          uint32_t *from, double *work);

#endif
