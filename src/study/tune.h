/* tune.h -- settings of a model chosen by cross-validation on fixed folds.
 * What is tried is a set of dimensions, each a setting with its values:
 *
 *     lambda=0.01..100:log:20         20 values from 0.01 to 100, evenly spaced in their logarithm
 *     degree=1..5:5                   evenly spaced; whole numbers for a setting that counts
 *     basis=poly:1|poly:2|poly:3      these
 *
 * A grid tries every combination, a random search draws each dimension anew (a range: all of it,
 * not only its grid).  Bergstra & Bengio (2012), "Random search for hyper-parameter optimization",
 * JMLR 13; Breiman, Friedman, Olshen & Stone (1984), CART, sec. 3.4.3, for the rule of one standard
 * error. */
#ifndef CREDENCE_STUDY_TUNE_H
#define CREDENCE_STUDY_TUNE_H

#include "cross_validate.h"

/* clang-format off */
#define CR_TUNE_OPTIONS(X)                                                                           \
    X(list,   over,   "",     "NAME=VALUES", "a setting and its values: LOW..HIGH[:log][:COUNT], with 10 values unless COUNT is given (all whole numbers if there are at most 20), or A|B|C; repeat the option for more settings", "lambda=0.01..100:log:20") \
    X(choice, search, "grid", "grid|random", "try every combination, or --draws random ones", "random") \
    X(count,  draws,  "50",   "1..1000000",  "number of combinations that a random search tries", "20")     \
    X(text,   metric, "",     "",            "the score to optimise; default: log_score for numbers, log_loss for classes, accuracy where there are no probabilities", "rmse") \
    X(choice, rule,   "best", "best|1se",    "best: the best mean score; 1se: of those within one standard error of it, the one that fits the training rows least closely", "1se")
/* clang-format on */
enum cr_tune_search { CR_SEARCH_GRID, CR_SEARCH_RANDOM };
enum cr_tune_rule { CR_RULE_BEST, CR_RULE_1SE };

CR_OPTIONS_STRUCT(cr_tune_options, CR_TUNE_OPTIONS);
/* The table of these options. */
extern CR_API const cr_option cr_tune_table[];

typedef struct cr_candidate {
    cr_setting   *settings; /* [dimensions] what was tried, owned   */
    cr_assessment mean;     /* over the folds                       */
    double        se[CR_MOST_METRICS];
    bool          within;   /* one standard error of the best       */
    double        apparent; /* score on its own training rows; NaN unless the rule asked for it */
} cr_candidate;

typedef struct cr_tuning {
    size_t         dimensions, n; /* candidates */
    cr_candidate  *candidates;    /* [n] in the order they were made: the first dimension slowest */
    size_t         metric;        /* place of the score in an assessment */
    size_t         best, chosen;
    size_t         folds, repeats;
    uint64_t       seed;
    cr_assessment *fold; /* [n x folds x repeats] of each candidate in turn */
} cr_tuning;

/* Cross-validates every candidate on the same folds and chooses one.  Of equals the first.
 * Fails with CR_EARG for a dimension that cannot be read, has no such setting, or for a metric that
 * is not there; where a candidate's fit fails, with that failure and a note that names it. */
CR_API cr_status cr_tune(cr_ctx *cx, const cr_model_spec *spec, const cr_table *table,
                         const cr_tune_options *options, const cr_cv_options *cv,
                         cr_tuning *out_tuning);
/* Frees its parts. */
CR_API void cr_tuning_free(cr_ctx *cx, cr_tuning *tuning);

#endif
