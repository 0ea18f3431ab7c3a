/* mixture.h -- mixtures of independent columns of mixed kinds: the state, and what the files of the model share.
 *   P(c) = share_c,   p(x | c) = prod_j p(x_j | c),   c = 1 .. k;   a missing x_j has no factor: it is integrated out
 *     gaussian   N(mu, sd^2), in t = (x - centre) / scale, in which the numbers are of moderate size
 *     lognormal  the same of log x
 *     poisson    counts of this rate
 *     bernoulli  x > threshold with probability p
 *     category   level l with probability p_l
 * Bernoulli and Poisson columns are *linear*: log p(x_j | c) = eta_cj x_j + base_cj and what no component changes, so
 * a block of rows is scored by one matrix product.
 *
 *   1. mixture.c         options, answers, description, descriptor
 *   2. mixture_step.c    E-step: scores, responsibilities, expected statistics
 *   3. mixture_solve.c   M-step: the state that is best for statistics; its prior
 *   4. mixture_draws.c   Monte-Carlo EM: statistics of drawn classes, gains and their errors
 *   5. mixture_plan.c    before the starts: kinds, survey of all rows, some rows to start from
 *   6. mixture_start.c   starts: spread-out rows, and swaps
 *   7. mixture_search.c  the search: candidates, rejected ends, the choice
 *   8. mixture_errors.c  standard errors from the scores of the rows
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_MIXTURE_H
#define CREDENCE_MODELS_LATENT_MIXTURE_H

#include "models/core/em.h"

typedef enum cri_mixture_kind {
    CRI_MIXTURE_AUTO, /* until the rows are known: bernoulli where all are 0 or 1, else gaussian */
    CRI_MIXTURE_GAUSSIAN,
    CRI_MIXTURE_LOGNORMAL,
    CRI_MIXTURE_BERNOULLI,
    CRI_MIXTURE_POISSON,
    CRI_MIXTURE_CATEGORY,
    CRI_MIXTURE_KINDS
} cri_mixture_kind;

/* clang-format off */
#define CRI_MIXTURE(MEMBER)                                                                        \
    MEMBER(count,  p,              (),      ">0",            "columns")                            \
    MEMBER(count,  k,              (),      ">0",            "components")                         \
    MEMBER(count,  L,              (),      "",              "levels of all categories")           \
    MEMBER(index,  kind,           (p),     "1..5",          "cri_mixture_kind of each column")    \
    MEMBER(index,  first,          (p),     "",              "the first level of a category among L") \
    MEMBER(vector, threshold,      (p),     "",              "of bernoulli")                       \
    MEMBER(vector, centre,         (p),     "",              "of gaussian and lognormal columns, else 0") \
    MEMBER(vector, scale,          (p),     ">0",            "what these are divided by, else 1")  \
    MEMBER(vector, overall,        (p),     ">=0",           "probability or rate over all rows, smoothed") \
    MEMBER(vector, overall_level,  (L),     ">=0",           "of levels, likewise")                \
    MEMBER(real,   prior_rows,     (),      ">=0",           "that the prior counts for; 0: no prior") \
    MEMBER(real,   prior_variance, (),      ">=0",           "its variance of t")                  \
    MEMBER(vector, share,          (k),     ">=0 sums",      "P(c)")                               \
    MEMBER(matrix, mean,           (k, p),  "",              "of t; a probability, a rate; 0 of a category") \
    MEMBER(matrix, sd,             (k, p),  ">0",            "of t, else 1")                       \
    MEMBER(matrix, level,          (k, L),  ">=0",           "probabilities of levels")            \
    MEMBER(vector, share_error,    (k),     ">=0 any",       "standard errors, NaN where none are known: of shares,") \
    MEMBER(matrix, mean_error,     (k, p),  ">=0 any",       "of means, probabilities and rates,") \
    MEMBER(matrix, sd_error,       (k, p),  ">=0 any",       "of sds,")                            \
    MEMBER(matrix, level_error,    (k, L),  ">=0 any",       "of probabilities of levels")         \
    MEMBER(count,  draws,          (),      "",              "of the class of a row, at the last pass; 0: exact") \
    MEMBER(real,   gain,           (),      "",              "of the last step, as the draws say") \
    MEMBER(real,   gain_error,     (),      ">=0",           "its Monte-Carlo standard error")     \
    MEMBER(real,   draws_error,    (),      ">=0",           "that of the expected log likelihood of rows with their classes") \
    MEMBER(real,   weight,         (),      ">0",            "of the rows")                        \
    MEMBER(real,   log_likelihood, (),      "",              "of the rows")                        \
    MEMBER(real,   log_certainty,  (),      "",              "sum of log p(cluster | row)")        \
    MEMBER(count,  rejected,       (),      "",              "starts whose end was")               \
    MEMBER(real,   best_rejected,  (),      "none",          "the highest objective of these")     \
    MEMBER(count,  tried,          (),      ">0",            "candidates")                         \
    MEMBER(vector, tried_k,        (tried), ">=1",           "their components")                   \
    MEMBER(vector, tried_likelihood, (tried), "any",         "log likelihood; NaN: every end was rejected") \
    MEMBER(part,   em,             (cri_em_outcome), "inside", "how it was found")                 \
    MEMBER(index,  slot,           (p),     "made",          "the place of a column among its like") \
    MEMBER(index,  column,         (p),     "made",          "linear columns, then real ones, then categories") \
    MEMBER(matrix, eta,            (k, p),  "made",          "[k x q] of linear columns")          \
    MEMBER(matrix, base,           (k, p),  "made",          "[k x q] likewise")                   \
    MEMBER(matrix, log_level,      (k, L),  "made",          "log probabilities of levels")        \
    MEMBER(matrix, peak,           (k, p),  "made",          "[k x g] log densities of t at their means") \
    MEMBER(vector, constant,       (k),     "made",          "log share and sums of base and peak")
/* clang-format on */
enum { CRI_MIXTURE_FACTORIALS = 128 };
/* q linear columns and g real ones; `salt` and `round` name the draws; `waits` after a step that was not made. */
CRI_RECORD(cri_mixture, CRI_MIXTURE, size_t q; size_t g; bool lost; bool waits; uint64_t salt;
           uint64_t round; char *text; const char **names;
           double                                   log_factorial[CRI_MIXTURE_FACTORIALS];);
extern const cri_member cri_mixture_record[];

#define CRI_MIXTURE_OPTIONS(X)                                                                     \
    X(text, k, "1:9", "N", "number of components, or the first and last to choose from by BIC",    \
      "3")                                                                                         \
    X(list, numbers, "auto", "",                                                                   \
      "distribution of numbers in a component: auto (bernoulli where all are 0 or 1, else "        \
      "gaussian), gaussian, lognormal, bernoulli[:THRESHOLD] or poisson; COLUMN=... for single "   \
      "columns",                                                                                   \
      "poisson")                                                                                   \
    X(choice, prior, "weak", "weak|none",                                                          \
      "weak prior, as if a component had a little of all rows together, or plain likelihood",      \
      "none")                                                                                      \
    X(real, prior_rows, "0.1", ">0", "rows that the prior of a component counts for", "1")         \
    X(real, least_spread, "1e-3", ">=0",                                                           \
      "reject ends in which a component has a variance below this share of that of all rows",      \
      "1e-6")                                                                                      \
    X(choice, e_step, "exact", "exact|mc",                                                         \
      "probabilities of the components as they are, or by draws: Monte-Carlo EM", "mc")            \
    X(count, draws, "20", "10..100000",                                                            \
      "draws of the component of each row at first; more where a step is lost in their error",     \
      "100")                                                                                       \
    CRI_EM_OPTIONS(X)
CR_OPTIONS_STRUCT(cri_mixture_options, CRI_MIXTURE_OPTIONS);

static inline cri_mixture_kind cri_mixture_kind_of(const cri_mixture *m, size_t j)
{
    return (cri_mixture_kind)m->kind[j];
}
static inline bool cri_mixture_is_real(size_t kind)
{
    return kind == CRI_MIXTURE_GAUSSIAN || kind == CRI_MIXTURE_LOGNORMAL;
}
static inline bool cri_mixture_is_linear(size_t kind)
{
    return kind == CRI_MIXTURE_BERNOULLI || kind == CRI_MIXTURE_POISSON;
}

/* --- states (mixture_solve.c) ----------------------------------------------------------------- */

/* The levels of column j among L. */
size_t cri_mixture_levels(const cri_mixture *m, size_t j);
/* A state of its shape with nothing in it; `tried` candidates. */
cr_status cri_mixture_new(cr_ctx *cx, size_t k, size_t p, size_t L, size_t tried,
                          cri_mixture **out);
/* slot, column, q and g from the kinds. */
void cri_mixture_place(cri_mixture *m);
/* What is made of the parameters: eta, base, log_level, peak, constants. */
void cri_mixture_prepare(cri_mixture *m);
/* Copies the parameters. */
void cri_mixture_take(const cri_mixture *from, cri_mixture *to);

/* --- steps (mixture_step.c, mixture_solve.c) -------------------------------------------------- */

enum { CRI_MIXTURE_BLOCK = 256 }; /* rows at a time */

/* The expected statistics of rows: where they stand in a part [cri_mixture_part_size].  z = (t - mean) / sd, of the
 * state that they were gathered under. */
typedef struct cri_mixture_part {
    double *n;                      /* [k] rows of each component                            */
    double *x, *absent;             /* [k x q] sums of linear columns; rows without a cell   */
    double *z, *square, *real_gaps; /* [k x g] sums of z and z^2; rows without a cell        */
    double *count;                  /* [k x L] of levels                                     */
} cri_mixture_part;
size_t           cri_mixture_part_size(const cri_mixture *m);
cri_mixture_part cri_mixture_part_at(const cri_mixture *m, double *at);
/* The same to read. */
typedef struct cri_mixture_sums {
    const double *n, *x, *absent, *z, *square, *real_gaps, *count;
} cri_mixture_sums;
cri_mixture_sums cri_mixture_sums_at(const cri_mixture *m, const double *at);

/* Rows of a block, by columns: Y [q x n] of linear columns and R [g x n] of real ones, missing cells 0 and marked in
 * Y_gap and R_gap; codes C [p - q - g x n] of categories, NaN where missing; w [n], 0 of rows without any cell; what the
 * log density has beside its components, shared [n]. */
typedef struct cri_mixture_block {
    size_t  n;
    bool    linear_gaps, real_gaps;
    double *X; /* [p x n] as they came */
    double *Y, *Y_gap, *R, *R_gap, *C, *w, *shared;
    double *r; /* [k x n] log p(x, c), then p(c | x) */
    double *log_density, *log_top, *z;
    double *draws; /* [k x n], with draws alone */
} cri_mixture_block;

/* Statistics: the log likelihood, the sum of log p(cluster | row), and a part; with draws one for each batch. */
enum { CRI_MIXTURE_BATCHES = 10 };
size_t cri_mixture_parts(const cri_mixture *m);
size_t cri_mixture_width(const void *state);
size_t cri_mixture_work(const void *state);
void   cri_mixture_gather(const void *state, const cri_rows *rows, cri_range range, double *sums,
                          double *work);
/* The same of n rows X [n x p] of weights w [n]. */
void cri_mixture_add(const cri_mixture *m, const double *X, const double *w, size_t n, double *sums,
                     double *work);
/* The statistics of n rows of which row i belongs to component of[i], to one part. */
void cri_mixture_add_groups(const cri_mixture *m, const double *X, const double *w,
                            const size_t *of, size_t n, double *part, double *work);
/* The block of memory `work`; rows of cri_rows in it, with responsibilities and log densities, and with their weights
 * or each of weight 1. */
cri_mixture_block cri_mixture_cut(const cri_mixture *m, double *work);
void cri_mixture_respond(const cri_mixture *m, const cri_rows *rows, cri_range range, bool weigh,
                         cri_mixture_block *b);
/* Adds the statistics of a block to a part, the rows divided among the components by r [k x n], which has the weights
 * in it. */
void cri_mixture_add_part(const cri_mixture *m, const cri_mixture_block *b, const double *r,
                          double *part);

cr_status cri_mixture_solve(cr_ctx *cx, const void *options, const double *sums, void *state);
/* The parameters that are best for a part; sets `lost` where there are none. */
void   cri_mixture_solve_part(cri_mixture *m, const double *part);
double cri_mixture_log_prior(const void *state);
/* Free parameters. */
double cri_mixture_parameters(const cri_mixture *m, size_t k);
/* Whether a component has a variance below `least` of that of all rows. */
bool cri_mixture_is_flat(const cri_mixture *m, double least);

/* --- Monte-Carlo EM (mixture_draws.c) --------------------------------------------------------- */

/* Adds the statistics of draws of the classes of a block's rows to the parts of the batches. */
void cri_mixture_add_draws(const cri_mixture *m, const cri_mixture_block *b, double *parts);
/* A step by draws: taken where it gains beyond the error of the draws, else there will be more of them. */
cr_status cri_mixture_solve_draws(cr_ctx *cx, const double *parts, cri_mixture *m);
/* What another step may gain at most, as the draws say; 0 without draws. */
double cri_mixture_left(const cri_mixture *m);
/* Whether to go on, a step having gained less than `worth`: there are more draws then. */
bool cri_mixture_refine(void *state, double worth);
/* The error of the expected log likelihood under the state by which the parts were gathered. */
double cri_mixture_draws_error(const cri_mixture *m, const double *parts);

/* --- rows (mixture_plan.c) -------------------------------------------------------------------- */

/* Fails, naming the place, where cell x of row i and column j is no count, or not positive, as its kind asks. */
cr_status cri_mixture_check_cell(cr_ctx *cx, const cri_rows *rows, size_t i, size_t j,
                                 cri_mixture_kind kind, double x);

/* --- starts (mixture_start.c) ----------------------------------------------------------------- */

/* Some rows, that starts are made of. */
typedef struct cri_mixture_rows {
    size_t  n, p;
    double *X, *w; /* [n x p], [n] */
    double  least; /* a component with a smaller share of the variance of all rows is flat */
} cri_mixture_rows;

/* Moves the parameters of m, which has its columns and prior, to a start; a bare one without any step of EM. */
cr_status cri_mixture_start(cr_ctx *cx, const cri_mixture_rows *rows, bool bare, cr_rng *rng,
                            cri_mixture *m);
/* The same from an end that was reached: one of its components is moved to another place. */
cr_status cri_mixture_swap(cr_ctx *cx, const cri_mixture_rows *rows, const cri_mixture *end,
                           cr_rng *rng, cri_mixture *m);

/* --- the search (mixture_search.c) ------------------------------------------------------------ */

extern const cri_em_search cri_mixture_search;

/* --- standard errors (mixture_errors.c) ------------------------------------------------------- */

/* Sets the errors, by one more pass over the rows under the answer (cri_em_search). */
cr_status cri_mixture_find_errors(cr_ctx *cx, const void *plan, const cri_rows *rows, uint64_t seed,
                                  bool late, void *state);

/* --- the model (mixture.c) -------------------------------------------------------------------- */

/* The names of the clusters, "1", "2", ... */
cr_status cri_mixture_name(cr_ctx *cx, cri_mixture *m);

#endif
