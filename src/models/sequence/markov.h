/* markov.h -- Markov chains of symbols that are seen: the state, and what the files of the model share.
 *   P(x_t = b | x_t-m .. x_t-1 = c) = p_cb,   p_c ~ Dirichlet(alpha, .., alpha)
 * A *context* is the up to m symbols before a row; those of the first rows of a sequence are shorter, and rows of the table
 * of their own, so that chains of all orders describe the same rows and their evidences compare.  Contexts of l symbols
 * are numbered from k^0 + .. + k^(l-1), the last symbol as the lowest digit.
 *
 *   1. markov.c           options, fit, descriptor
 *   2. markov_answer.c    predictions, forecasts, draws;   markov_follow.h   where a sequence stands
 *   3. markov_describe.c  description: parameters, the long run, classes, absorption
 *   4. markov_time.h      chains in continuous time
 *   stationary.c          classes and stationary distributions
 * (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_MARKOV_H
#define CREDENCE_MODELS_SEQUENCE_MARKOV_H

#include "models/core/class.h"
#include "models/common/sequence_names.h"

/* clang-format off */
#define CRI_MARKOV(MEMBER)                                                                         \
    MEMBER(count,  k,          (),      ">0",        "symbols")                                    \
    MEMBER(count,  order,      (),      "",          "symbols before a row that count")            \
    MEMBER(count,  contexts,   (),      ">0",        "of this order and shorter ones")             \
    MEMBER(real,   alpha,      (),      ">0",        "prior count of each symbol in each context") \
    MEMBER(matrix, counts,     (contexts, k), ">=0", "how often a symbol followed a context")      \
    MEMBER(count,  sequences,  (),      ">0",        "that it has learned from")                   \
    MEMBER(count,  place,      (),      ">0",        "order + 1: numbers of a place")              \
    MEMBER(matrix, ends,       (sequences, place), "",  "rows of each, and its last symbols")      \
    MEMBER(text,   labels,     (),      "none",      "of the sequences, each before a line feed")  \
    MEMBER(real,   rows,       (),      ">0",        "that it has learned from")                   \
    MEMBER(real,   log_likelihood, (),  "",          "of the rows, at the means of the posterior") \
    MEMBER(real,   log_evidence, (),    "none",      "of the rows; none in continuous time")       \
    MEMBER(count,  tried,      (),      ">0",        "orders that were tried")                     \
    MEMBER(vector, tried_order, (tried), ">=0",      "these")                                      \
    MEMBER(vector, tried_evidence, (tried), "any",   "and their log evidences")                    \
    MEMBER(vector, stationary, (k),     ">=0 any",   "posterior mean of the stationary distribution; NaN: not found") \
    MEMBER(vector, stationary_sd, (k),  ">=0 any",   "its sd")                                     \
    MEMBER(vector, stationary_lower, (k), ">=0 any", "2.5 % of it")                                \
    MEMBER(vector, stationary_upper, (k), ">=0 any", "97.5 %")                                     \
    MEMBER(matrix, rate,       (k, k),  "none",      "generator of a chain in continuous time (markov_time.h)") \
    MEMBER(matrix, rate_sd,    (k, k),  "none any",  "posterior sds beside the diagonal; NaN: not known") \
    MEMBER(vector, holding_sd, (k),     "none any",  "of the mean times until a symbol is left")   \
    MEMBER(count,  gaps,       (),      "spare",     "different times between rows")               \
    MEMBER(real,   prior_jumps, (),     ">=0 spare", "shape of the prior of a rate")               \
    MEMBER(real,   prior_time, (),      ">=0 spare", "its rate")                                   \
    MEMBER(real,   objective,  (),      "spare",     "log posterior of the log rates, but for a constant")
/* clang-format on */
CRI_RECORD(cri_markov, CRI_MARKOV, const char **names; char **texts; cri_sequence_names known;);
extern const cri_member cri_markov_record[];

/* The number of the first context of l symbols: 1 + k + .. + k^(l-1); SIZE_MAX where it overflows. */
size_t cri_markov_first(size_t k, size_t l);
/* P(b | context). */
static inline double cri_markov_p(const cri_markov *m, size_t context, size_t b)
{
    const double *n = m->counts + context * m->k;
    double        total = 0;
    for (size_t j = 0; j < m->k; j++) total += n[j];
    return (n[b] + m->alpha) / (total + m->alpha * (double)m->k);
}

/* --- answers (markov_answer.c) --------------------------------------------------------------- */

cr_status cri_markov_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out);
size_t    cri_markov_place(const void *state);
cr_status cri_markov_filter(cr_ctx *cx, const void *state, const cri_rows *rows, double *places,
                            cr_prediction *out);
cr_status cri_markov_forecast(cr_ctx *cx, const void *state, const cr_design *design,
                              const double *places, size_t n, size_t ahead, cr_prediction *out);
/* One sequence. */
cr_status cri_markov_sample(cr_ctx *cx, const void *state, const cr_design *design,
                            const cri_rows *opt_rows, size_t count, uint64_t seed, double *out);

/* --- description (markov_describe.c) --------------------------------------------------------- */

/* Sets the stationary distribution and its uncertainty, from draws of the posterior by this seed. */
cr_status cri_markov_find_stationary(cr_ctx *cx, uint64_t seed, cri_markov *m);

cr_status             cri_markov_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                          cri_sheet *out);
extern const cr_field cri_markov_statistics[], cri_markov_tables[];

#endif
