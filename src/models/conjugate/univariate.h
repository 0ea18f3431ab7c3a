/* univariate.h -- conjugate models of single columns.
 *   x_1 .. x_n | theta ~ p(x | theta),   theta ~ p(theta | prior),
 *   p(theta | x) = p(theta | posterior):  prior and posterior have the same form.
 * A family tells the mathematics of one column in a few pure functions on arrays of parameters
 * [n_params] and of sufficient statistics [n_stats]; what is here makes a model of it: several
 * columns are independent, each with a posterior of its own and the same prior, and their log
 * evidences add up.  The state is the prior and the statistics, so that batches merge exactly; all
 * the rest follows from them.
 * DeGroot (1970), Optimal Statistical Decisions, ch. 9; Gelman et al. (2013), BDA, ch. 2-3.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_CONJUGATE_UNIVARIATE_H
#define CREDENCE_MODELS_CONJUGATE_UNIVARIATE_H

#include "base/rng.h"
#include "models/core/class.h"
#include "describe.h"
#include "prior.h"

#include <math.h>

enum { CRI_MOST_MARGINALS = 2 };

typedef struct cri_conjugate_family {
    const char *model;
    const char *needs;    /* what a value must be, for messages: "a whole number, 0 or more"     */
    const char *improper; /* what the data lack when the posterior is improper                  */
    bool        binary;   /* values are 0 or 1, 1 where the column has its level of success     */
    size_t      n_params, n_stats, n_work;

    bool (*valid)(const double *prior, double x);
    /* Values that can be, but hint at a slip: one of them is warned of, with the advice.  NULL:
     * none. */
    bool (*strange)(double x);
    const char *advice;
    /* stats = the statistics of n values with positive weights; the first is the sum of weights. */
    void (*measure)(const double *x, const double *w, size_t n, double *stats);
    /* stats becomes those of both; NULL: their sums. */
    void (*merge)(double *stats, const double *more);
    cr_status (*prior)(cr_ctx *cx, const cri_prior *p, const void *options, double *params);
    bool (*proper)(const double *params);
    /* What every fit gives, so that a file with anything else is refused: finite numbers that are
     * not negative where they count or spread.  The statistics are known to be finite. */
    bool (*sound)(const double *prior, const double *stats);
    void (*posterior)(const double *prior, const double *stats, double *params);
    /* What the functions below need beside the parameters; NULL: nothing. */
    cr_status (*prepare)(cr_ctx *cx, const double *params, double *work);
    /* Of values that come in this order; prior and posterior are proper. */
    double (*log_evidence)(const double *prior, const double *stats, const double *params,
                           const double *work);
    /* The distribution of the next value; that of the registry where log_predictive is NULL. */
    cri_named (*predictive)(const double *params);
    double (*log_predictive)(const double *params, const double *work, double x);
    /* A value from parameters that are drawn from the posterior. */
    double (*draw)(const double *params, const double *work, cr_rng *r);
    /* The posterior, jointly, and for each parameter alone: its name and distribution; NULL where
     * there is the one `parameter` only. */
    cri_named (*joint)(const double *params);
    const char *parameter;
    size_t (*marginals)(const double *params, const char *names[CRI_MOST_MARGINALS],
                        cri_named out[CRI_MOST_MARGINALS]);
    /* Summaries of the k-th parameter; NULL: those of its distribution in the registry. */
    cr_status (*summarise)(cr_ctx *cx, const double *params, const double *work, size_t k,
                           double level, cri_summary *out);
    const char *const *statistics; /* names [n_stats] */
    const char        *evidence;   /* how it is known; NULL: in closed form */
} cri_conjugate_family;

/* clang-format off */
#define CRI_CONJUGATE_STATE(MEMBER)                                                                \
    MEMBER(count,  n,            (),            "",       "columns")                               \
    MEMBER(count,  n_params,     (),            "",       "parameters of prior and posterior")     \
    MEMBER(count,  n_stats,      (),            "",       "statistics of a column")                \
    MEMBER(real,   level,        (),            "0<..<1", "mass of the intervals of the parameters") \
    MEMBER(vector, prior,        (n_params),    "any",    "its parameters")                        \
    MEMBER(vector, success,      (n),           "any",    "of binary columns: the value that counts") \
    MEMBER(vector, above,        (n),           "any",    "or the number it must exceed; NaN: none") \
    MEMBER(matrix, stats,        (n, n_stats),  "",       "of the rows; the first is their weight") \
    MEMBER(matrix, params,       (n, n_params), "made",   "of the posterior")                      \
    MEMBER(vector, log_evidence, (n),           "made",   "NaN: none")                             \
    MEMBER(count,  n_work,       (),            "made",   "what a family keeps for a column")      \
    MEMBER(matrix, work,         (n, n_work),   "made",   "that")
/* Of these, what merges. */
#define CRI_CONJUGATE_SUMS(MEMBER)                                                                 \
    MEMBER(count,  n,            (),            "",       "")                                      \
    MEMBER(count,  n_stats,      (),            "",       "")                                      \
    MEMBER(matrix, stats,        (n, n_stats),  "",       "")
/* clang-format on */

CRI_RECORD(cri_conjugate, CRI_CONJUGATE_STATE, const cri_conjugate_family *family;);
extern const cri_member cri_conjugate_record[], cri_conjugate_sums_record[];

/* x is finite and not below `least`. */
static inline bool cri_at_least(double x, double least) { return x >= least && isfinite(x); }

/* 1 where a value of column j is a success. */
static inline double cri_conjugate_success(const cri_conjugate *m, size_t j, double value)
{
    return isnan(m->above[j]) ? value == m->success[j] : value > m->above[j];
}

/* What every such model is asked: --prior, --level, and, for binary columns, --success. */
typedef struct cri_conjugate_request {
    const char *prior, *opt_success;
    double      level;
    const void *options; /* of the model, for the family */
} cri_conjugate_request;

/* Options that every model here has. */
#define CRI_CONJUGATE_OPTIONS(X, prior_default, prior_help, prior_example)                         \
    X(list, prior, prior_default, "", prior_help, prior_example)                                   \
    X(real, level, "0.95", "0<..<1", "mass of the intervals of the parameters", "0.9")

/* Fails with CR_EARG where the design has a target, powers or standardised columns: these models
 * describe columns as they are. */
cr_status cri_conjugate_check(cr_ctx *cx, const char *model, const cr_design *design);
/* Fails with CR_EDATA at a column that holds text. */
cr_status cri_conjugate_need_numbers(cr_ctx *cx, const char *model, const cr_design *design);

/* A state with prior and what counts as success. */
cr_status cri_conjugate_open(cr_ctx *cx, const cri_conjugate_family *family, const cri_rows *rows,
                             const cri_conjugate_request *request, void **out_state);
/* The posterior of a state that was read. */
cr_status cri_conjugate_ready(cr_ctx *cx, const cri_conjugate_family *family, cri_conjugate *m,
                              const cr_design *design);

/* Numbers of a yes-or-no column that are more than 0 and 1: what is above 0 counts, and that is said. */
void cri_conjugate_meet(cr_ctx *cx, void *state, const cri_rows *rows, const char *opt_success);

/* These are entries of a class as they are. */
cr_status cri_conjugate_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                               const void *options, void *sums);
cr_status cri_conjugate_merge(cr_ctx *cx, const void *state, void *a, const void *b);
cr_status cri_conjugate_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                              cr_report *report);
bool      cri_conjugate_fits(const void *state, void *sums);
cr_status cri_conjugate_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out);
cr_status cri_conjugate_next(cr_ctx *cx, const void *state, const cr_design *design,
                             cr_prediction *out);
cr_status cri_conjugate_next_levels(cr_ctx *cx, const void *state, const cr_design *design,
                                    cr_levels *out); /* of a binary family */
cr_status cri_conjugate_sample(cr_ctx *cx, const void *state, const cr_design *design,
                               const cri_rows *opt_rows, size_t count, uint64_t seed, double *out);
cr_status cri_conjugate_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                 cri_sheet *out);

/* The members of a family that all of them define under the same names; what differs comes
 * after. */
#define CRI_CONJUGATE_FAMILY                                                                       \
    .n_params = PARAMS, .n_stats = STATS, .valid = valid, .measure = measure, .prior = read_prior, \
    .proper = proper, .sound = sound, .posterior = posterior, .log_evidence = log_evidence,        \
    .predictive = predictive, .draw = draw, .joint = joint, .statistics = statistics

/* A descriptor of a model of this kind; what differs comes after. */
#define CRI_CONJUGATE_CLASS(stem, next_row, levels)                                                \
    .tasks = CR_TASK_DENSITY, .options = stem##_table, .options_size = sizeof(stem##_options),     \
    .default_scale = CR_SCALE_NONE, .scales_itself = true, .coding = CRI_CODING_CODE,              \
    .sums = &(const cri_sums_face){ .record = cri_conjugate_sums_record,                           \
                                    .size = sizeof(cri_conjugate),                                 \
                                    .open = stem##_open,                                           \
                                    .meet = stem##_meet,                                           \
                                    .gather = cri_conjugate_gather,                                \
                                    .merge = cri_conjugate_merge,                                  \
                                    .solve = cri_conjugate_solve,                                  \
                                    .fits = cri_conjugate_fits },                                  \
    .rows = &(const cri_rows_face){ .predict = cri_conjugate_predict,                              \
                                    .next = (next_row),                                            \
                                    .next_levels = (levels),                                       \
                                    .sample = cri_conjugate_sample },                              \
    .describe = cri_conjugate_describe, .statistics = cri_prior_statistics,                        \
    .tables = cri_distribution_tables, .state = cri_conjugate_record,                              \
    .state_size = sizeof(cri_conjugate), .ready = stem##_ready

/* The entries that know their family and its options. */
#define CRI_CONJUGATE_ENTRIES(stem, family, success)                                               \
    static cr_status stem##_open(cr_ctx *cx, const cri_rows *rows, const void *options,            \
                                 void **out_state)                                                 \
    {                                                                                              \
        const stem##_options *o = options;                                                         \
        cri_conjugate_request request = { o->prior, success, o->level, o };                        \
        return cri_conjugate_open(cx, &(family), rows, &request, out_state);                       \
    }                                                                                              \
    static void stem##_meet(cr_ctx *cx, void *state, const cri_rows *rows, const void *options)    \
    {                                                                                              \
        const stem##_options *o = options;                                                         \
        (void)o;                                                                                   \
        cri_conjugate_meet(cx, state, rows, success);                                              \
    }                                                                                              \
    static cr_status stem##_ready(cr_ctx *cx, void *state, const cr_design *design)                \
    {                                                                                              \
        return cri_conjugate_ready(cx, &(family), state, design);                                  \
    }

#endif
