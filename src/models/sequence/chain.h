/* chain.h -- a hidden Markov chain of k states, whatever it emits: filtering, smoothing and the most probable path.
 *   P(z_1 = i) = pi_i,   P(z_t = j | z_t-1 = i) = A_ij,   b_t(i) = p(x_t | z_t = i)
 * The densities of steps come as logarithms from a function, block by block; each step is divided by its largest, and
 * the filter by its sum, so that sequences of any length neither underflow nor overflow:
 *   c_t = p(x_t | x_1..t-1),   alpha_t = P(z_t | x_1..t),   beta_t = p(x_t+1..T | z_t) / p(x_t+1..T | x_1..t)
 * O(T k^2) time.  A sequence longer than a block is filtered twice, from the filter kept at the begin of each block, so
 * that the memory is that of a block and of k numbers for each.
 * Rabiner (1989), Proc. IEEE 77; Bishop (2006), PRML, sec. 13.2.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_CHAIN_H
#define CREDENCE_MODELS_SEQUENCE_CHAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Rows of k numbers are padded with zeros to a multiple of the lanes of a vector. */
enum { CRI_CHAIN_LANES = 4 };
static inline size_t cri_chain_stride(size_t k)
{
    return (k + CRI_CHAIN_LANES - 1) / CRI_CHAIN_LANES * CRI_CHAIN_LANES;
}

/* A chain whose states last (hmm_duration.h): node d k + i is state i in its row d + 1, or D or later. */
typedef struct cri_chain_stages {
    size_t        k, D;
    const double *leave,
        *stay;          /* [D x k], adding up to 1                                            */
    const double *A;    /* [k x k] where a state that is left goes to: 0 on the diagonal       */
    double       *work; /* [k] */
} cri_chain_stages;

typedef struct cri_chain {
    size_t        k, stride; /* stride: of rows of k numbers                                    */
    const double *pi;        /* [stride]                                                        */
    const double *A, *At;    /* [stride x stride] and its transpose, padded with zeros          */
    const cri_chain_stages *stages; /* in place of A, k being its nodes; NULL: there are none   */
    /* log b_t of the steps begin .. end-1 of all data: out [(end - begin) x stride], the padding as it likes. */
    void (*emit)(const void *of, size_t begin, size_t end, double *out);
    const void *of;
    /* Where a step has one symbol and nothing else: the symbols of all steps, NaN where missing, and for each symbol the
     * densities, relative to their largest, the log of that, and the logs of the densities, `log_stride` apart.  symbol
     * NULL: there are no such. */
    const double *symbol, *table, *table_top; /* [steps], [symbols x stride], [symbols] */
    const double *log_table;
    size_t        log_stride;
} cri_chain;

/* Copies m [k x k] to out [stride x stride], transposed or not, padding with `pad`. */
void cri_chain_pad(const double *m, size_t k, bool transpose, double pad, double *out);

/* The steps of a block, by the longest sequence and k alone; how many numbers the functions below work in. */
size_t cri_chain_block(size_t longest, size_t k);
size_t cri_chain_work(size_t longest, size_t k);

/* What is wanted of a sequence; what is NULL is not. */
typedef struct cri_chain_wish {
    const double
        *before; /* [k] P(z) given the steps before the first of these; NULL: there are none */
    double
        *log_density; /* [T] log p(x_t | x_1..t-1), -infinity where it is impossible              */
    double *filtered; /* [T x k] P(z_t | x_1..t)                                                  */
    double *smoothed; /* [T x k] P(z_t | x_1..T)                                                  */
    double *last;     /* [k] P(z_T | x_1..T)                                                      */
    double *begins;   /* [k] += P(z_1 | x)                                                        */
    double *pairs; /* [k x k] += sum_t P(z_t = i, z_t+1 = j | x); with stages as cri_stages_count */
    /* Sees P(z_t | x) of blocks of steps [n x stride] from the last to the first. */
    void (*visit)(void *arg, size_t begin, size_t n, const double *gamma);
    void *arg;
} cri_chain_wish;

/* log p(x) of the steps begin .. end-1.  A step that no state can emit after the steps before it is passed over as if
 * it were missing; the answer is then -infinity. */
double cri_chain_run(const cri_chain *c, size_t begin, size_t end, size_t longest,
                     const cri_chain_wish *wish, double *work);

/* The most probable path z [T] and log p(x, z).  log_pi [stride] and log_A [stride x stride] are padded with -infinity.
 * Of equal paths the one with the lower states at its end. */
double cri_chain_viterbi(const cri_chain *c, const double *log_pi, const double *log_A,
                         size_t begin, size_t end, size_t longest, double *path, double *work);

/* --- kernels (chain_kernel.c): the same bits on every machine -------------------------------- */

/* The filter of n steps from `before` [stride], or from `first` [stride], the prediction of the first step: alpha
 * [n x stride] from densities b [n x stride], and their sums c_t [n].  A step without any has sum 0: its prediction stays,
 * and its densities become 1. */
void cri_chain_filter(const double *opt_before, const double *first, const double *A, size_t k,
                      size_t stride, size_t n, double *b, double *alpha, double *sum);
/* Backwards over n steps: b becomes P(z_t | all steps), next [n x stride] the b_t+1 beta_t+1 / c_t+1 of the step behind,
 * and w [stride], that of the step behind them all unless they are the last, that of the first.  beta [stride] to work
 * in. */
void cri_chain_smooth(const double *At, size_t k, size_t stride, size_t n, bool last,
                      const double *sum, const double *alpha, double *b, double *next, double *w,
                      double *beta);
/* Both of a chain with stages (chain_stages.c). */
void cri_stages_filter(const cri_chain_stages *g, const double *opt_before, const double *first,
                       size_t stride, size_t n, double *b, double *alpha, double *sum);
void cri_stages_smooth(const cri_chain_stages *g, size_t stride, size_t n, bool last,
                       const double *sum, const double *alpha, double *b, double *next, double *w,
                       double *beta);
/* Adds up the expected steps of a block that stay in a state and that leave it, by stages [D x k] each, and where these
 * go to [k x k]: counts [2 D k + k k]. */
void cri_stages_count(const cri_chain_stages *g, size_t stride, size_t n, const double *alpha,
                      const double *next, double *counts);
/* out[j] = max_i x[i] + M[i, j], from[j] the first such i. */
void cri_chain_maximise(const double *x, const double *M, size_t k, size_t stride, double *out,
                        double *from);

#endif
