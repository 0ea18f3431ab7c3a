/* stochastic.h -- minimisation by gradients on a few items at a time.
 *   F(x) = (1/N) sum_i f_i(x),   x <- x - rate_t direction(g_t),   g_t the mean over a batch
 * batch = N is the plain gradient method, batch = 1 on-line learning.  Rules:
 *   plain     d = g
 *   momentum  d = momentum d + g                               (Polyak 1964)
 *   adam      moments of g and g^2, corrected for their start  (Kingma & Ba 2015)
 * Schedules, t counted in epochs from 0, with fractions:
 *   constant  rate;    inverse  rate / (1 + decay t);    root  rate / sqrt(1 + decay t)
 *   cosine    rate (1 + cos(pi t / epochs)) / 2
 * The inverse one satisfies the conditions of Robbins & Monro (1951).  With averaging, x is the
 * mean of the iterates over the last half of the epochs (Polyak & Juditsky 1992).
 * The order of the items in an epoch comes from stream `epoch` of the seed. */
#ifndef CREDENCE_MATH_OPTIM_STOCHASTIC_H
#define CREDENCE_MATH_OPTIM_STOCHASTIC_H

#include "minimize.h"

/* *out_f = sum over the listed items of f_i(x), out_gradient [n] = the sum of their gradients. */
typedef cr_status cr_batch_fn(void *user, const double *x, size_t n, const size_t *items,
                              size_t n_items, double *out_f, double *out_gradient);

typedef struct cr_stochastic_problem {
    size_t        n, items;
    cr_batch_fn  *batch;
    const double *lower, *upper; /* [n], NULL: none; x is moved into the box after each step */
    void         *user;
} cr_stochastic_problem;

/* clang-format off */
#define CR_STOCHASTIC_OPTIONS(X)                                                                   \
    X(choice, rule,     "adam",    "plain|momentum|adam", "how a gradient becomes a step",         \
      "momentum")                                                                                  \
    X(real,   rate,     "0.01",    ">0",     "learning rate at the start", "0.1")                  \
    X(choice, schedule, "root",    "constant|inverse|root|cosine",                                 \
      "how the learning rate falls with the epochs", "constant")                                   \
    X(real,   decay,    "1",       ">=0",    "how fast it falls, per epoch", "0.1")                \
    X(count,  batch,    "32",      ">=1",    "items per step; 1 is on-line learning", "256")       \
    X(count,  epochs,   "100",     ">=0",    "maximum number of passes over the items", "20")            \
    X(choice, order,    "shuffled", "shuffled|given", "order of the items in an epoch", "given")   \
    X(real,   momentum, "0.9",     "0..<1",                                                        \
      "share of the last step, or of the mean gradient of adam, that is kept", "0.8")              \
    X(real,   second,   "0.999",   "0..<1",                                                        \
      "share of the mean squared gradient of adam that is kept", "0.99")                           \
    X(flag,   average,  "false",   "",                                                             \
      "give the mean of x over the last half of the epochs", "true")                               \
    X(real,   f_tolerance, "0",    ">=0",                                                          \
      "converged when an epoch changes its mean f by less than this times max(1, |f|)", "1e-6")    \
    X(real,   time_limit, "",      ">0",     "give up after this many seconds", "60")              \
    X(count,  seed,     "0",       "",       "random seed; the same seed gives the same bits", "7")
/* clang-format on */
enum cr_sgd_rule { CR_SGD_PLAIN, CR_SGD_MOMENTUM, CR_SGD_ADAM };
enum cr_sgd_schedule { CR_SGD_CONSTANT, CR_SGD_INVERSE, CR_SGD_ROOT, CR_SGD_COSINE };
enum cr_sgd_order { CR_SGD_SHUFFLED, CR_SGD_GIVEN };

CR_OPTIONS_STRUCT(cr_stochastic_options, CR_STOCHASTIC_OPTIONS);
/* The table of these options. */
extern CR_API const cr_option cr_stochastic_table[];
/* Their defaults; there is nothing to free. */
CR_API cr_stochastic_options cr_stochastic_defaults(void);

/* Minimises from x [n] on; x becomes the last iterate, or the average.  O(items) of the batch
 * function and O(n) per step.  In the report, iterations are epochs, evaluations are batches,
 * trace[0] = NaN and then the mean of f over each epoch as its steps saw it, f the last of these.
 * It stops with CR_END_MAX_ITER (all epochs done), CR_END_F, CR_END_TIME, or CR_END_NOT_FINITE:
 * then x is where the values were still finite; a smaller rate may help.  options NULL: the
 * defaults. Fails with CR_EARG, CR_EINTERRUPTED, CR_ENOMEM or as the batch function does; then x
 * and *out_report are left as they were. */
CR_API cr_status cr_minimize_stochastic(cr_ctx *cx, const cr_stochastic_problem *problem,
                                        const cr_stochastic_options *options, double *x,
                                        cr_minimize_report *out_report);

#endif
