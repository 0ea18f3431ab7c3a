/* bayes_columns.h -- naive Bayes: given the class, each column has a distribution of its own.
 *   p(x | k) = prod_j p(x_j | k),  and a missing x_j has no factor: it is integrated out.
 *     gaussian     N(m, v), v = sum w (x - m)^2 / n, at least `floor` of the variance over all rows
 *     kernel       (1/n) sum_i w_i N(x; x_i, h^2), h = 0.9 min(sd, IQR/1.34) n^-1/5 (Silverman)
 *     poisson      rate = mean, at least `floor` of that over all rows
 *     bernoulli    x > threshold with probability (n_1 + a) / (n + 2 a)
 *     category     level l with probability (n_l + a) / (n + a levels)
 *     multinomial  counts of all such columns together,
 *                  theta_j = (sum x_j + a) / (sum all + a columns); with a gap, the counts of the
 *                  columns that are there, given their sum
 * Shrunk towards all rows (bayes_shrink.c): Student's t for gaussian, negative binomial for poisson.
 * Bayesian predictive: Student's t with n - 1 degrees of freedom for gaussian (prior 1/v), negative
 * binomial for poisson (Jeffreys' prior), Dirichlet-multinomial for multinomial; the others are
 * that already.  A class that has no spread in a column (one value only) takes the spread within
 * all classes; one that has no value there, mean and spread over all rows.  The statistics merge
 * exactly.  (Internal header.) */
#ifndef CREDENCE_MODELS_GENERATIVE_BAYES_COLUMNS_H
#define CREDENCE_MODELS_GENERATIVE_BAYES_COLUMNS_H

#include "discriminant.h"
#include "models/common/column_kinds.h"

typedef enum cri_nb_kind {
    CRI_NB_GAUSSIAN,
    CRI_NB_KERNEL,
    CRI_NB_MULTINOMIAL,
    CRI_NB_BERNOULLI,
    CRI_NB_POISSON,
    CRI_NB_CATEGORY,
    CRI_NB_KINDS
} cri_nb_kind;

/* What is known of one term in one class, as scores use it; see make_entry. */
typedef struct cri_nb_entry {
    double a, b, c, d;
} cri_nb_entry;

/* clang-format off */
/* Known as soon as the columns are, */
#define CRI_NB_COLUMNS(MEMBER)                                                                      \
    MEMBER(index,  kind,      (p),       "0..5", "cri_nb_kind of each")                             \
    MEMBER(vector, threshold, (p),       "",    "of bernoulli")                                     \
    MEMBER(index,  first,     (p),       "",    "the first level of a category in count, the number of a kernel") \
    MEMBER(vector, width,     (p),       ">=0", "a bandwidth that is given, else 0")
#define CRI_NB_SETTINGS(MEMBER)                                                                     \
    MEMBER(flag,   bayes,        (),     "",    "densities are averaged over what the estimates may be") \
    MEMBER(count,  shrunk,       (),     "0..1 spare", "averaged under a prior about all rows")       \
    MEMBER(real,   smoothing,    (),     ">=0", "added to each count")                              \
    MEMBER(real,   floor,        (),     "0<..1", "least share of the variance over all rows")
/* sums over rows with their sizes, */
#define CRI_NB_SIZES(MEMBER)                                                                        \
    MEMBER(count,  K,         (),        ">0",  "classes")                                          \
    MEMBER(count,  p,         (),        "",    "terms")
#define CRI_NB_PLACES(MEMBER)                                                                       \
    MEMBER(count,  L,            (),     "",    "levels of all categories")                         \
    MEMBER(count,  kernels,      (),     "",    "terms of that kind")                               \
    MEMBER(count,  cells,        (),     "",    "kernels * K")                                      \
    MEMBER(count,  ends,         (),     ">0",  "cells + 1")
#define CRI_NB_SHARED(MEMBER)                                                                       \
    MEMBER(real,   log_shared,   (),     "none", "sum w log of what counts have beside their parameters: factorials")
#define CRI_NB_COUNTS(MEMBER)                                                                       \
    MEMBER(vector, class_weight, (K),    ">=0", "rows of each class")                               \
    MEMBER(matrix, weight,       (K, p), ">=0", "of the values that are there")                     \
    MEMBER(matrix, mean,         (K, p), "any", "their mean")                                       \
    MEMBER(matrix, scatter,      (K, p), ">=0 any", "sum w (x - mean)^2")                           \
    MEMBER(matrix, count,        (K, L), ">=0", "of levels")                                        \
    MEMBER(index,  start,        (ends), "rises", "of the points of kernel c and class k, at c K + k")
#define CRI_NB_POINTS(MEMBER)                                                                       \
    MEMBER(count,  points,    (),        "",    "different values kept for kernels")                \
    MEMBER(vector, point,     (points),  "",    "sorted in each cell")                              \
    MEMBER(vector, mass,      (points),  ">=0", "what each counts")
/* and what follows from them. */
#define CRI_NB_PRIORS(MEMBER)                                                                       \
    MEMBER(vector, log_prior,    (K),    "any", "log probability of each class")
#define CRI_NB_TABLES(MEMBER)                                                                       \
    MEMBER(matrix, log_level,    (K, L), "made", "log probability of a level")                      \
    MEMBER(vector, bandwidth,    (cells), "made", "of each kernel and class")
/* In the order that the file has. */
#define CRI_NB_STATE(MEMBER)                                                                        \
    CRI_NB_SIZES(MEMBER) CRI_NB_COLUMNS(MEMBER) CRI_NB_PLACES(MEMBER) CRI_NB_SETTINGS(MEMBER)       \
    CRI_NB_SHARED(MEMBER) CRI_NB_PRIORS(MEMBER) CRI_NB_COUNTS(MEMBER) CRI_NB_TABLES(MEMBER)         \
    CRI_NB_POINTS(MEMBER)
#define CRI_NB_SUMS(MEMBER)                                                                         \
    CRI_NB_SIZES(MEMBER) CRI_NB_PLACES(MEMBER) CRI_NB_SHARED(MEMBER) CRI_NB_COUNTS(MEMBER)          \
    CRI_NB_POINTS(MEMBER)
#define CRI_NB_SCORES(MEMBER) CRI_NB_PRIORS(MEMBER) CRI_NB_TABLES(MEMBER)
/* clang-format on */

/* entry [p x K] and prior_rows (bayes_shrink.c): made from the sums, not saved. */
CRI_RECORD(cri_nb, CRI_NB_STATE, cri_nb_entry *entry; double prior_rows;);

static inline cri_nb_kind cri_nb_kind_of(const cri_nb *m, size_t j)
{
    return (cri_nb_kind)m->kind[j];
}

/* Reads --numbers and --bandwidth into kind, threshold, first and width; counts L and kernels. */
cr_status cri_nb_read_kinds(cr_ctx *cx, const cr_design *design, const char *numbers,
                            const char *bandwidth, cri_nb *m);

/* The statistics of rows: one pass, parallel, O(n p). */
cr_status cri_nb_gather(cr_ctx *cx, const cri_rows *rows, cri_nb *m);
/* The statistics of `from` added to those of `to`, of the same shape and kinds; not the points. */
void cri_nb_merge(cri_nb *to, const cri_nb *from);
/* Fails with CR_EDATA where a column of counts holds a negative number, or a Poisson count is not
 * whole; with opt_log_shared also adds what cri_nb has under that name. */
cr_status cri_nb_check_counts(cr_ctx *cx, const cri_rows *rows, const cri_nb *m,
                              double *opt_log_shared);

/* One term over all classes. */
typedef struct cri_nb_overall {
    double n, mean, variance, within; /* divided by n; within: about the means of the classes */
    double classes;                   /* with a value                                      */
    bool   constant;
} cri_nb_overall;
cri_nb_overall cri_nb_sum_up(const cri_nb *m, size_t j);

/* How many rows at the mean over all the prior of a class is worth, by how far apart the classes are, and the predictive
 * of a normal term under it (bayes_shrink.c). */
double       cri_nb_prior_rows(const cri_nb *m);
cri_nb_entry cri_nb_shrunk_normal(const cri_nb *m, size_t cell, const cri_nb_overall *o);
/* Student's t of mean, scale and degrees of freedom. */
cri_nb_entry cri_nb_student_t(double mean, double scale, double dof);

/* The points of kernels (bayes_kernel.c): sets those of rows, adds those of others.  A sort. */
cr_status cri_nb_set_points(cr_ctx *cx, const cri_rows *rows, cri_nb *m);
cr_status cri_nb_add_points(cr_ctx *cx, const cri_nb *from, cri_nb *to);
/* Bandwidths of all cells, from points and statistics; `spread` [p] over all rows. */
void cri_nb_set_bandwidths(cri_nb *m, const double *spread);
/* log density of kernel term j in class k at x, in the range of long double. */
long double cri_nb_kernel(const cri_nb *m, size_t j, size_t k, double x);

/* Makes the parts that are not saved; priors are set.  Fails with CR_ENUMERIC, CR_ENOMEM. */
cr_status cri_nb_prepare(cr_ctx *cx, const cr_design *design, cri_nb *m);
/* sum of log p(x, k) over the rows, at the estimates; NaN with kernels, or with gaps in counts. */
double cri_nb_log_likelihood(const cri_nb *m);

/* Class probabilities, or with `joint` log p(x, k), of rows: out [n x K] (bayes_predict.c). */
cr_status cri_nb_score(cr_ctx *cx, const cri_nb *m, const cri_rows *rows, bool joint, double *out);
/* true for counts, which share factorials: 1 / x! each, and the multinomial ones total! together. */
static inline bool cri_nb_counts(cri_nb_kind kind)
{
    return kind == CRI_NB_POISSON || kind == CRI_NB_MULTINOMIAL;
}
/* log p(x | k) of one value of term j that is there, but for what counts share
 * (bayes_predict.c). */
long double cri_nb_term(const cri_nb *m, size_t j, size_t k, double x);
/* Fails as cri_nb_check_counts does, naming row i and term j. */
cr_status cri_nb_refuse_count(cr_ctx *cx, const cri_rows *rows, size_t i, size_t j, double x,
                              cri_nb_kind kind);

/* The same by the entries of sparse rows alone (bayes_sparse.c): O(entries + K p). */
cr_status cri_nb_gather_sparse(cr_ctx *cx, const cri_rows *rows, cri_nb *m);
cr_status cri_nb_check_sparse(cr_ctx *cx, const cri_rows *rows, const cri_nb *m,
                              double *opt_log_shared);
cr_status cri_nb_score_sparse(cr_ctx *cx, const cri_nb *m, const cri_rows *rows, bool joint,
                              double *out);

#endif
