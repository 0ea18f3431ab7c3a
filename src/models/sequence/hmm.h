/* hmm.h -- hidden Markov models: the state, and what the files of the model share.
 *   P(z_1 = i) = pi_i,   P(z_t = j | z_t-1 = i) = A_ij,   p(x_t | z_t) = prod_j p(x_tj | z_t),   i = 1 .. k
 * Columns are independent given the state, except for Gaussian ones, which have a covariance; a missing cell has no
 * factor: it is integrated out.
 *
 *   1. hmm.c           options, answers, descriptor
 *   2. hmm_describe.c  description
 *   3. hmm_data.c      rows in the order of their sequences, by columns
 *   4. hmm_step.c      E-step: densities, expected statistics;   chain.c  forward-backward, Viterbi
 *   5. hmm_solve.c     M-step: parameters, priors, the order of states
 *   6. hmm_plan.c      before the starts: kinds of columns, units, what is given by files
 *   7. hmm_start.c     starts;   hmm_given.c   parameters that are given
 *   8. hmm_search.c    rejected ends, the number of states
 *   9. hmm_vector.c    parameters as numbers without constraints;   hmm_errors.c   standard errors
 *  10. hmm_vb.c        a posterior by variational Bayes: its steps;   hmm_vb_bound.c   the bound, intervals
 *  11. hmm_update.c    rows that come later
 *  12. hmm_regress.c   covariates, in which the means of columns are linear
 *  13. hmm_duration.c  how long states last, where that is not geometric: nodes of the chain
 *  14. hmm_ties.c      transitions that are equal: their M-step
 *  15. hmm_paths.c     the most probable paths, and the entropy of all of them
 *   emission.c, emission_more.c, emission_regress.c, emission_mixture.c, joint.c   what a state emits
 * (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_HMM_H
#define CREDENCE_MODELS_SEQUENCE_HMM_H

#include "chain.h"
#include "emission.h"
#include "joint.h"
#include "models/core/em.h"
#include "models/common/sequence_names.h"

/* clang-format off */
#define CRI_HMM(MEMBER)                                                                            \
    MEMBER(count,  p,              (),      ">0",            "columns")                            \
    MEMBER(count,  k,              (),      ">0",            "states")                             \
    MEMBER(count,  L,              (),      "",              "levels of all categories")           \
    MEMBER(count,  g,              (),      "",              "columns that are normal together")   \
    MEMBER(count,  gg,             (),      "",              "g times g")                          \
    MEMBER(count,  q,              (),      "spare",         "covariates")                         \
    MEMBER(count,  pq,             (),      "spare",         "p times q")                          \
    MEMBER(count,  M,              (),      "spare",         "parts of a mixture")                 \
    MEMBER(count,  parts,          (),      "spare",         "those of all columns that are mixtures") \
    MEMBER(count,  stages,         (),      "spare",         "of durations; 0: they are geometric") \
    MEMBER(choice, covariance_is,  (),      "full|diag|tied", "of Gaussian columns")               \
    MEMBER(index,  kind,           (p),     "1..13",         "cri_emission_kind of each column")   \
    MEMBER(index,  first,          (p),     "",              "the first level of a category among L") \
    MEMBER(vector, centre,         (p),     "",              "of columns that are moved, else 0")  \
    MEMBER(vector, scale,          (p),     ">0",            "what columns are divided by")        \
    MEMBER(vector, overall,        (p),     "",              "mean over all rows, of cos for angles") \
    MEMBER(vector, overall2,       (p),     "",              "mean of log x, of sin for angles")   \
    MEMBER(vector, overall_level,  (L),     ">=0",           "of levels, smoothed")                \
    MEMBER(real,   prior_rows,     (),      ">=0",           "that the prior of a state's emissions counts for") \
    MEMBER(real,   prior_transitions, (),   ">=0",           "that of a row of A") \
    MEMBER(vector, pi,             (k),     ">=0 sums",      "P(z_1)")                             \
    MEMBER(matrix, A,              (k, k),  ">=0 sums",      "P(z_t | z_t-1)")                     \
    MEMBER(vector, may_begin,      (k),     "0..1",          "whether pi may be above 0")          \
    MEMBER(matrix, may_go,         (k, k),  "0..1",          "whether A may be above 0")           \
    MEMBER(count,  ties,           (),      "spare",         "k where transitions are tied; 0: none is") \
    MEMBER(codes,  tie,            (ties, k), "full",        "the same above 0: these are equal") \
    MEMBER(count,  free_transitions, (),    "spare",         "with ties: free numbers of A")       \
    MEMBER(vector, share,          (k),     ">=0",           "expected share of the rows")         \
    MEMBER(matrix, mean,           (p, k),  "",              "first parameters of numbers")        \
    MEMBER(matrix, spread,         (p, k),  ">=0",           "second parameters")                  \
    MEMBER(matrix, tail,           (p, k),  ">=0",           "third parameters")                   \
    MEMBER(matrix, level,          (L, k),  ">=0",           "probabilities of levels")            \
    MEMBER(matrix, covariance,     (gg, k), "",              "of columns that are normal together") \
    MEMBER(matrix, part_weight,    (parts, k), ">=0 full",   "of the parts of mixtures")           \
    MEMBER(matrix, part_mean,      (parts, k), "full",       "likewise")                           \
    MEMBER(matrix, part_sd,        (parts, k), ">0 full",    "likewise")                           \
    MEMBER(matrix, leave,          (stages, k), "0..1 full", "P(z_t+1 is another | so many rows)") \
    MEMBER(matrix, blend,          (q, q),  "full",          "makes of covariates what is uncorrelated") \
    MEMBER(matrix, slope,          (p, q),  "full",          "coefficients of covariates in all rows") \
    MEMBER(matrix, coef,           (pq, k), "full",          "what is added to these in a state")  \
    MEMBER(count,  errors,         (),      "",              "standard errors, 0 where none are known") \
    MEMBER(vector, error,          (errors), ">=0 any full", "of the parameters, as they are described") \
    MEMBER(count,  sequences,      (),      ">0",            "that it has learned from")           \
    MEMBER(count,  place,          (),      ">0",            "1 + nodes: numbers of a place")          \
    MEMBER(matrix, ends,           (sequences, place), ">=0", "rows of each, and P(z | rows) at the last") \
    MEMBER(text,   labels,         (),      "none",          "of the sequences, each before a line feed") \
    MEMBER(real,   weight,         (),      ">0",            "rows")                               \
    MEMBER(real,   log_likelihood, (),      "any none",      "of the rows; NaN with vb")           \
    MEMBER(count,  rejected,       (),      "",              "starts whose end was")               \
    MEMBER(real,   best_rejected,  (),      "none",          "the highest objective of these")     \
    MEMBER(count,  tried,          (),      ">0",            "candidates")                         \
    MEMBER(vector, tried_k,        (tried), ">=1",           "their states")                       \
    MEMBER(vector, tried_likelihood, (tried), "any",         "log likelihood, with vb the bound; NaN: every end was rejected") \
    MEMBER(vector, tried_parameters, (tried), ">=0 any",     "free parameters")                    \
    MEMBER(part,   em,             (cri_em_outcome), "inside", "how it was found")                 \
    MEMBER(real,   alpha,          (),      ">=0 spare",     "of the Dirichlet priors, with vb; 0: estimates by EM") \
    MEMBER(vector, leaving,        (k),     ">=0 none",      "with vb: expected transitions out of each state") \
    MEMBER(matrix, seen,           (p, k),  ">=0 none",      "with vb: expected rows of each column in each state") \
    MEMBER(count,  statistics,     (),      "spare",         "cri_hmm_width, or 0: they were not kept") \
    MEMBER(vector, sums,           (statistics), "none",     "expected under these parameters") \
    MEMBER(real,   bound,          (),      "spare",         "with vb, after an update: on the evidence of all rows") \
    MEMBER(real,   searched,       (),      ">=0 spare",     "after an update: the rows of the fit")   \
    MEMBER(matrix, log_level,      (L, k),  "made",          "logarithms")                         \
    MEMBER(matrix, whiten,         (gg, k), "made",          "inverse factors of the covariances") \
    MEMBER(vector, factor,         (gg),    "made",          "workspace: a factor of a covariance") \
    MEMBER(vector, peak,           (k),     "made",          "log densities at the means")
/* clang-format on */
struct cri_hmm_data;
/* data: of the search that it belongs to, else NULL; joint [g]: the columns that are normal together; fixed: the
 * parameters were given, and are to stay; known: the names of the sequences; with vb, else NULL, predictive:
 * what the next row is like; expected: what the E-step takes. */
CRI_RECORD(cri_hmm, CRI_HMM, const struct cri_hmm_data *data; size_t * joint; bool lost; bool fixed;
           char *text; const char **names; cri_sequence_names known; struct cri_hmm * predictive;
           double                                            *expected;);
extern const cri_member cri_hmm_record[];

/* As the choices of --infer. */
enum { CRI_HMM_INFER_EM, CRI_HMM_INFER_VB };

#define CRI_HMM_STATES "1:4"
#define CRI_HMM_OPTIONS(X)                                                                         \
    X(text, states, CRI_HMM_STATES, "N",                                                           \
      "number of hidden states, or the first and last to choose from by BIC", "3")                 \
    X(list, emission, "auto", "",                                                                  \
      "distribution of numbers in a state: auto (bernoulli for true and false, else gaussian), "   \
      "gaussian, lognormal, student-t, bernoulli, poisson, negative-binomial, gamma, von-mises "   \
      "or mixture:M (of M normal ones); "                                                          \
      "COLUMN=... for single columns; texts are categories",                                       \
      "poisson")                                                                                   \
    X(choice, covariance, "full", "full|diag|tied",                                                \
      "of gaussian columns in a state: any, none between columns, or one for all states", "diag")  \
    X(list, covariates, "", "COLUMN",                                                              \
      "columns of numbers that no state emits, but that the means of gaussian columns depend on, " \
      "linearly, with coefficients of each state",                                                 \
      "x")                                                                                         \
    X(count, duration, "1", ">=1",                                                                 \
      "rows up to which the durations of states have any distribution, geometric from there on; "  \
      "1: geometric, as of a Markov chain",                                                        \
      "10")                                                                                        \
    X(text, topology, "full", "",                                                                  \
      "transitions that are possible: full, left-right (to the same state and later ones, from "   \
      "the first), or banded:W (to states at most W away)",                                        \
      "left-right")                                                                                \
    X(text, transitions, "", "FILE",                                                               \
      "JSON file, or JSON itself, {\"A\": [[...]]} of transitions to start from: those of 0 stay " \
      "0; \"tie\": [[\"a\", \"\"], [\"\", \"a\"]]: those of one name are equal",                   \
      "A.json")                                                                                    \
    X(text, start, "", "FILE",                                                                     \
      "JSON file, or JSON itself, of parameters to start from, or with --max-iter 0 to keep: pi, " \
      "A, and B, rate, mean, sd, covariance, ...",                                                 \
      "start.json")                                                                                \
    X(text, state, "", "COLUMN",                                                                   \
      "column of the states that are known, 1, 2, ...; empty where they are not", "state")         \
    X(choice, infer, "em", "em|vb",                                                                \
      "estimates by EM; or a posterior by variational Bayes, whose bound on the log evidence "     \
      "chooses the number of states",                                                              \
      "vb")                                                                                        \
    X(real, alpha, "1", ">=0.01",                                                                  \
      "of the Dirichlet priors of pi and of each row of A with --infer vb: small values empty "    \
      "states that are not needed",                                                                \
      "0.1")                                                                                       \
    X(real, prior_rows, "0.01", ">=0",                                                             \
      "rows like all rows together that the prior of what a state emits counts for", "1")          \
    X(real, prior_transitions, "", ">=0",                                                          \
      "transitions to states at random that the prior of each state's transitions counts for; "    \
      "default: 1 where there are fewer than five rows for a parameter, else 0.0001",              \
      "1")                                                                                         \
    X(real, least_spread, "1e-3", ">=0",                                                           \
      "reject ends in which a state has a variance below this share of that of all rows", "1e-6")  \
    X(real, tol, "1e-8", ">=0", "stop when a step gains less than this per row", "1e-6")           \
    X(count, max_iter, "1000", ">=0", "give up after this many steps; 0: keep the --start", "50")  \
    X(count, restarts, "10", ">=1", "random starts, of which the best result is kept", "20")
CR_OPTIONS_STRUCT(cri_hmm_options, CRI_HMM_OPTIONS);

/* --- rows (hmm_data.c) ----------------------------------------------------------------------- */

/* All rows in the order of their sequences, steps start[s] .. start[s + 1] - 1 being sequence s. */
typedef struct cri_hmm_data {
    size_t T, p, n, longest; /* steps, columns, sequences, steps of the longest             */
    const size_t *start;     /* [n + 1] borrowed from the rows                               */
    const size_t *row;       /* [T] the row of each step, likewise                           */
    double       *X;         /* [p x T] in the units of the model; codes; NaN where missing  */
    double       *shared;    /* [T] what the log density has that no state changes           */
    double       *label;     /* [T] states that are known, 0, 1, ..., else NaN; NULL: none   */
    size_t        q;         /* covariates                                                   */
    double       *U; /* [T x q] covariates in the units of the model; NaN where one is missing */
} cri_hmm_data;

/* Reads rows in their own units; what no state changes is 0 yet. */
cr_status cri_hmm_data_open(cr_ctx *cx, const cri_rows *rows, cri_hmm_data *out);
void      cri_hmm_data_close(cr_ctx *cx, cri_hmm_data *data);
/* Fails where a state that is known is not one of k. */
cr_status cri_hmm_check_labels(cr_ctx *cx, const cri_hmm_data *data, size_t k);
/* Fails, naming the place, where a cell is not what its kind describes. */
cr_status cri_hmm_check_support(cr_ctx *cx, const cri_rows *rows, const cri_hmm_data *data,
                                const size_t *kind);
/* To the units of the model; sets what no state changes. */
void cri_hmm_data_scale(cri_hmm_data *data, const size_t *kind, const double *centre,
                        const double *scale);

/* --- states (hmm_solve.c) -------------------------------------------------------------------- */

size_t cri_hmm_levels(const cri_hmm *m, size_t j);
/* The states of the chain that is worked with (hmm_duration.h). */
static inline size_t cri_hmm_nodes(const cri_hmm *m)
{
    return m->k * (m->stages > 0 ? m->stages : 1);
}
/* A state of its shape with nothing in it. */
typedef struct cri_hmm_shape {
    size_t k, p, L, g, tried, sequences, q, stages, M, parts, ties;
} cri_hmm_shape;
cr_status cri_hmm_new(cr_ctx *cx, cri_hmm_shape shape, cri_hmm **out);
/* joint, from the kinds. */
cr_status cri_hmm_place(cr_ctx *cx, cri_hmm *m);
/* What is made of the parameters; work [cri_hmm_own_work].  false where a covariance is none. */
bool   cri_hmm_prepare(cri_hmm *m, double *work);
size_t cri_hmm_own_work(const cri_hmm *m);
/* How many columns before j are mixtures. */
size_t cri_hmm_mixtures_before(const cri_hmm *m, size_t j);
/* Parts in the order of their means, and mean and sd of mixtures as a whole. */
void cri_hmm_order_parts(cri_hmm *m);
/* What the next row is like: the state itself or, of a posterior, averages over it. */
static inline const cri_hmm *cri_hmm_next(const cri_hmm *m)
{
    return m->predictive ? m->predictive : m;
}
/* Column j of a state, without the covariates of rows, and the columns that are normal together; work of the caller. */
cri_emitted cri_hmm_emitted(const cri_hmm *m, size_t j, double *work);
cri_joint   cri_hmm_joint(const cri_hmm *m, const double **columns, double *work);
/* Free parameters of k states. */
double cri_hmm_parameters(const cri_hmm *m);
/* Are there fewer than five rows for a parameter? */
bool cri_hmm_are_few(const cri_hmm *m);
/* States in an order that does not depend on the start: by the mean of the first column of numbers, or by their shares. */
cr_status cri_hmm_order(cr_ctx *cx, cri_hmm *m);

cr_status cri_hmm_solve(cr_ctx *cx, const void *options, const double *sums, void *state);
double    cri_hmm_log_prior(const void *state);

/* As numbers without constraints (hmm_vector.c), for cri_em_face. */
size_t    cri_hmm_dimension(const void *state);
void      cri_hmm_to_vector(const void *state, double *out);
cr_status cri_hmm_from_vector(cr_ctx *cx, const double *vector, void *state, bool *out_valid);
/* Which of these numbers can vary by themselves: of probabilities all but the largest, and those for which hardly any
 * row speaks.  work [cri_hmm_ties_work + k x k]. */
void cri_hmm_find_free(const cri_hmm *m, double *work, bool *out);

/* --- steps (hmm_step.c) ---------------------------------------------------------------------- */

/* Statistics: log likelihood; P(z_1) [k]; transitions [k x k]; rows [k]; columns [p x CRI_EMIT_SUMS x k]; levels
 * [L x k]; columns that are normal together [cri_joint_width]; regressed columns [p x cri_emit_regress_sums x k];
 * mixtures [3 x parts x k]; steps that stay in a state and that leave it, by stages [stages x k], and then pairs are
 * those that leave. */
typedef struct cri_hmm_sums {
    double *begins, *pairs, *rows, *columns, *levels, *joint, *regressed, *mixed, *stays, *leaves;
} cri_hmm_sums;
/* Those of column j. */
double      *cri_hmm_sums_of(const cri_hmm *m, const cri_hmm_sums *s, size_t j);
cri_hmm_sums cri_hmm_sums_at(const cri_hmm *m, double *sums);
size_t       cri_hmm_width(const void *state);
size_t       cri_hmm_work(const void *state);
void cri_hmm_gather(const void *state, const cri_rows *rows, cri_range sequences, double *sums,
                    double *work);

enum { CRI_HMM_FOLDED = 64 };
/* A state at work on data: the chain and the memory for what it emits.  Of `work` [cri_hmm_view_work]. */
typedef struct cri_hmm_view {
    const cri_hmm      *m;
    const cri_hmm_data *data;
    const double       *opt_shift; /* [p x k] added to the log densities of cells that are there */
    double             *work;
    const double      **columns; /* [g] */
    double          *folded; /* [CRI_HMM_FOLDED x stride of k] to work in, where there are stages */
    cri_chain_stages stages;
    cri_chain        chain;
} cri_hmm_view;
size_t cri_hmm_view_work(const cri_hmm *m);
void cri_hmm_view_open(const cri_hmm *m, const cri_hmm_data *data, double *work, cri_hmm_view *out);

/* Adds the statistics of what steps begin .. begin + n - 1 emit, of which gamma [n x stride of k] are the
 * probabilities of the states. */
void cri_hmm_add_known(const cri_hmm_view *v, size_t begin, size_t n, const double *gamma,
                       double *sums);

/* The statistics of the sequences of the data of m.  opt_before [sequences]: where each goes on from a place, NULL
 * where it begins. */
void cri_hmm_expect(const cri_hmm *m, cri_range sequences, const double *const *opt_before,
                    double *sums, double *work);

/* --- a posterior by variational Bayes (hmm_vb.c, hmm_vb_bound.c) ------------------------------ */

static inline bool cri_hmm_is_vb(const cri_hmm *m) { return m->alpha > 0; }
/* Whether a kind of column has a conjugate prior. */
bool cri_hmm_vb_knows(size_t kind);
/* From the parameters of a start. */
cr_status cri_hmm_vb_begin(cr_ctx *cx, double alpha, cri_hmm *m);
/* What the steps of a posterior take beside the state, and what is made of it for answers. */
cr_status cri_hmm_vb_open(cr_ctx *cx, cri_hmm *m);
void      cri_hmm_vb_close(cr_ctx *cx, cri_hmm *m);
/* *out is m with the parameters whose logarithms are the expected ones, which it borrows; returns the shift of the
 * view. */
const double *cri_hmm_vb_expect(const cri_hmm *m, cri_hmm *out);
void          cri_hmm_vb_shift(const cri_hmm_view *v, size_t begin, size_t end, double *out);
/* The posterior from expected statistics; own work. */
void cri_hmm_vb_solve(cri_hmm *m, double *sums, double *work);
/* E log p(rows and paths that these are the statistics of), but for what does not depend on the posterior. */
double cri_hmm_vb_log_of_sums(const cri_hmm *m, double *sums);
/* The divergence of the posterior from the prior, negative. */
double cri_hmm_vb_log_prior(const cri_hmm *m);
/* The sds and central 95 % intervals of the parameters, out [cri_hmm_values], as they are described. */
typedef struct cri_hmm_known {
    double sd, lower, upper;
} cri_hmm_known;
void cri_hmm_vb_know(const cri_hmm *m, cri_hmm_known *out);
/* Sets `predictive`, whose columns are in the units of m, log-normal ones by their logarithms. */
cr_status cri_hmm_vb_set_predictive(cr_ctx *cx, cri_hmm *m);
/* Whether what was read is a posterior. */
bool cri_hmm_vb_fits(const cri_hmm *m);
/* The posterior of the mean and the covariance of a normal column, or of those that are normal together, in state c:
 *   N(mu; m, S / beta) InverseWishart(S; nu, nu S),   beta = kappa + rows,   nu = nu0 + rows of the covariance */
typedef struct cri_hmm_normal {
    double kappa, beta, nu0, nu;
} cri_hmm_normal;
cri_hmm_normal cri_hmm_vb_normal(const cri_hmm *m, size_t j, size_t c);
/* v: the prior of a covariance is InverseWishart(nu0, v I). */
double cri_hmm_vb_scale(const cri_hmm *m);
/* Of a Poisson rate: the posterior is Gamma(a, b), the prior Gamma(a0, b0). */
typedef struct cri_hmm_rate {
    double a0, b0, a, b;
} cri_hmm_rate;
cri_hmm_rate cri_hmm_vb_rate(const cri_hmm *m, size_t j, size_t c);
/* Probabilities with a Dirichlet posterior: p [n], `stride` apart, times the total of its parameters; those of which
 * `allowed` is 0 are none of them. */
typedef struct cri_hmm_shares {
    double       *p;
    const double *opt_allowed;
    size_t        n, stride;
    double        alpha, rows; /* of the prior, each; total = places alpha + rows */
} cri_hmm_shares;
/* Of a row of A or, i being k, of pi; of the levels of a category in state c, or of a Bernoulli column (p alone). */
cri_hmm_shares cri_hmm_vb_transitions(const cri_hmm *m, size_t i);
cri_hmm_shares cri_hmm_vb_levels(const cri_hmm *m, size_t j, size_t c);
double         cri_hmm_vb_total(const cri_hmm_shares *s);

/* --- rows that come later (hmm_update.c) ------------------------------------------------------ */

cr_status cri_hmm_update(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                         void **out_state, cr_report *report);

/* --- the search (hmm_plan.c, hmm_search.c) --------------------------------------------------- */

extern const cri_em_search cri_hmm_search;

/* --- standard errors (hmm_errors.c) ---------------------------------------------------------- */

cr_status cri_hmm_find_errors(cr_ctx *cx, const void *plan, const cri_rows *rows, uint64_t seed,
                              bool late, void *state);

/* --- the model ------------------------------------------------------------------------------- */

/* Rows of new data in the units of the model. */
cr_status cri_hmm_open_rows(cr_ctx *cx, const cri_hmm *m, const cri_rows *rows, cri_hmm_data *out);
/* The best paths, and the entropy of all paths, as the face of sequences says (hmm_paths.c). */
cr_status cri_hmm_paths(cr_ctx *cx, const void *state, const cri_rows *rows, size_t count,
                        double *path, double *log_probability);
cr_status cri_hmm_path_entropy(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
/* Names of states and sequences. */
cr_status cri_hmm_name(cr_ctx *cx, cri_hmm *m);
/* places [sequences x place]: before the rows of data, then after them. */
cr_status cri_hmm_follow(cr_ctx *cx, const cri_hmm *m, const cri_hmm_data *data, double *places);
cr_status cri_hmm_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out);
/* The parameters as they are described: how many, their values, and which are probabilities for which less than half a
 * row speaks. */
size_t                cri_hmm_values(const cri_hmm *m, double *opt_values, bool *opt_weak);
extern const cr_field cri_hmm_statistics[], cri_hmm_tables[];

#endif
