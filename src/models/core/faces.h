/* faces.h -- how a class learns and what it answers: small tables of functions, each of which a class has or
 * has not.  What a class offers is read off the faces that are there and the functions in them.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_FACES_H
#define CREDENCE_MODELS_CORE_FACES_H

#include "data/design/design_internal.h"
#include "base/parallel.h"
#include "base/record.h"
#include "base/rng.h"
#include "base/sheet.h"
#include "model.h"
#include "parts.h"

/* --- how it learns ---------------------------------------------------------------------------- */

/* From sums over the rows.  Statistics of parts of the rows are gathered one by one and merge exactly, and the
 * posterior follows from them: a fit, an update and a stream are one thing (sums.c), which adds the leaves of
 * the data up in a canonical tree (base/forest.h), so that all of them give the same bits.  The statistics
 * are a struct declared by a record of its own, that stands in the state; or the state itself, of which the
 * record then names the members that are statistics. */
typedef struct cri_sums_face {
    const cri_member *record;
    size_t            size, at; /* of the struct; where it stands in the state */
    /* A fit to rows in so many leaves goes this way; else, the class having both, by `whole`.  NULL: always. */
    bool (*serves)(const cri_rows *rows, const void *options, size_t leaves);
    /* CR_EUNSUPPORTED, in words, for a state that came another way: it can learn no more.  NULL: none did. */
    cr_status (*check)(cr_ctx *cx, const void *state);
    /* A state with its settings and no statistics, for rows such as these, which are all or the first of a
     * stream: fails where the design or the options are not for the model.  NULL: there are no settings. */
    cr_status (*open)(cr_ctx *cx, const cri_rows *rows, const void *options, void **out_state);
    /* Looks at rows that have come, before they are gathered: says what there is to be said of them, and notes
     * in the state what they show of its settings.  NULL: nothing. */
    void (*meet)(cr_ctx *cx, void *state, const cri_rows *rows, const void *options);
    /* The statistics of some rows, into a zeroed struct; after a failure what is there is freed by the record. */
    cr_status (*gather)(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                        void *sums);
    /* a becomes the statistics of the rows of both, those of a first; b stays. */
    cr_status (*merge)(cr_ctx *cx, const void *state, void *a, const void *b);
    /* Classes that came later have joined the design: class k of the statistics becomes map[k] of `classes`,
     * those between have no rows yet.  NULL: all classes must be in the first rows. */
    cr_status (*join)(cr_ctx *cx, void *sums, const size_t *map, size_t classes);
    /* The posterior from the statistics in the state, which has none yet. */
    cr_status (*solve)(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                       cr_report *report);
    /* Frees what `solve` made, so that it can be called again.  NULL: it overwrites all. */
    void (*reopen)(cr_ctx *cx, void *state);
    /* After it, of a fit that has all rows at hand: what takes another pass over them.  NULL: nothing does. */
    cr_status (*review)(cr_ctx *cx, const cri_rows *rows, const void *options, void *state,
                        cr_report *report);
    /* Statistics that were read are such as this state can have.  NULL: all have the same shapes. */
    bool (*fits)(const void *state, void *sums);
} cri_sums_face;

/* From expected sums, again and again: EM (em.c).  A step gathers the expected statistics of all rows under the
 * state and solves for the next one; the driver owns the loop, the starts and the choice among them. */
typedef struct cri_em_face {
    size_t at; /* where the cri_em_outcome (em.h) stands in the state */
    /* A state to begin with, by random numbers and rows of the first leaf, drawn as they weigh. */
    cr_status (*start)(cr_ctx *cx, const cri_rows *rows, const void *options, cr_rng *rng,
                       void **out_state);
    /* How many numbers the statistics are, and how many the workspace of `gather`. */
    size_t (*width)(const void *state);
    size_t (*work)(const void *state);
    /* Adds the statistics of some rows to sums [width], of which the first is the objective, what all rows
     * add to it: sum w log p(x).  Of a class of sequences the range is of these, not of rows.  Pure. */
    void (*gather)(const void *state, const cri_rows *rows, cri_range range, double *sums,
                   double *work);
    /* The state that is best for these statistics. */
    cr_status (*solve)(cr_ctx *cx, const void *options, const double *sums, void *state);
    /* All that a step changes as numbers without constraints, in which the driver extrapolates steps; NULL: it does
     * not.  How many they are, 0 where this state has none; those of a state; and the state of such numbers, what
     * else is in it staying as it was: *out_valid is false where there is none. */
    size_t (*dimension)(const void *state);
    void (*to_vector)(const void *state, double *out);
    cr_status (*from_vector)(cr_ctx *cx, const double *vector, void *state, bool *out_valid);
} cri_em_face;

/* What became of the starts of one candidate of a search. */
typedef struct cri_em_ends {
    size_t made, rejected; /* starts, and those whose end cannot be the answer */
    double best_rejected;  /* the highest objective of these; NaN where there are none */
} cri_em_ends;

/* A search by EM that is more than like starts, and takes the place of `start`: it surveys all rows before the first start, adds a log prior to
 * the objective, rejects ends, and chooses among candidates (numbers of components, forms) by a criterion. */
typedef struct cri_em_search {
    /* What the starts share, made from the rows of the first leaf, or of all sequences, and the options; freed by
     * `close`. */
    cr_status (*open)(cr_ctx *cx, const cri_rows *first, const void *options, void **out_plan);
    void (*close)(cr_ctx *cx, void *plan);
    /* One pass over all rows before the starts: `meet` sees leaf after leaf, and `survey` adds the statistics of
     * some rows to sums [survey_width], with survey_work numbers to work in; pure.  `settle` takes the sums
     * over all rows and, behind them, their weight.  `survey` NULL: `open` has seen all there is to see. */
    cr_status (*meet)(cr_ctx *cx, void *plan, const cri_rows *leaf);
    size_t (*survey_width)(const void *plan);
    size_t (*survey_work)(const void *plan);
    void (*survey)(const void *plan, const cri_rows *rows, cri_range range, double *sums,
                   double *work);
    cr_status (*settle)(cr_ctx *cx, void *plan, const double *sums);
    /* How many candidates there are, and how many starts one of them needs when so many are asked for. */
    size_t (*candidates)(const void *plan);
    size_t (*starts)(const void *plan, size_t candidate, size_t restarts);
    /* Start number `attempt`; it may make use of the best end so far. */
    cr_status (*start)(cr_ctx *cx, const void *plan, size_t candidate, size_t attempt,
                       const void *opt_best, cr_rng *rng, void **out_state);
    /* What is added to the log likelihood: steps maximise the sum. */
    double (*log_prior)(const void *state);
    /* Asked where a step gained no more than `worth`: true where the next may, the state having been made finer, by
     * more draws.  NULL: never. */
    bool (*refine)(void *state, double worth);
    /* true where the last step led nowhere: the run ends, and its end is rejected. */
    bool (*lost)(const void *state);
    /* Keeps what the statistics of the last pass, taken under this very state, say of it. */
    void (*reach)(void *state, const double *sums);
    /* Whether the end of a run cannot be the answer. */
    cr_status (*judge)(cr_ctx *cx, const void *plan, const void *state, bool *out_rejected);
    /* Notes the best end of a candidate so far, NULL where all were rejected; the lowest criterion is kept. */
    void (*note)(void *plan, size_t candidate, const cri_em_ends *ends, void *opt_best,
                 double *out_criterion);
    /* A candidate whose criterion, after the first start that was not rejected, is higher than the lowest by more than
     * this gets no other starts; after each of the others, half as much counts.  NULL: each gets all that it needs. */
    double (*margin)(const void *plan);
    /* Sets what the report says of it beside the course of EM; NULL: the objective less log_prior is the log
     * likelihood. */
    void (*report)(const void *state, cr_report *report);
    /* Completes the state that is the answer; fails, in words, where there is none (NULL). */
    cr_status (*finish)(cr_ctx *cx, const void *plan, void *opt_state);
    /* After it: what takes more passes over the rows (cri_em_gather) at the answer, by random numbers of this seed;
     * `late` where the time limit has ended the search.  NULL: nothing does. */
    cr_status (*review)(cr_ctx *cx, const void *plan, const cri_rows *rows, uint64_t seed,
                        bool late, void *state);
} cri_em_search;

/* What all of them can be asked for. */
#define CRI_EM_OPTIONS(X)                                                                          \
    X(real, tol, "1e-6", ">=0", "stop when a step gains less than this per row", "1e-9")           \
    X(count, max_iter, "500", ">=1", "give up after this many steps", "50")                        \
    X(count, restarts, "5", ">=1", "random starts, of which the best result is kept", "20")

/* From all rows at once. A class that fits by EM has an update here, if it has one. */
typedef struct cri_whole_face {
    /* Data and options in; a state and a report out (the caller has filled report->rows). */
    cr_status (*fit)(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                     void **out_state, cr_report *report);
    /* A new state: what `state` knew and the new rows. */
    cr_status (*update)(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                        void **out_state, cr_report *report);
    bool passes; /* fit takes the first block of a stream, and goes through all of it (passes.h) */
    bool update_forgets; /* update knows the old rows by what it kept: near a fit on all rows */
    bool update_holds;   /* update keeps hyper-parameters as fit learned them: no stream of fits */
} cri_whole_face;

/* --- what it answers -------------------------------------------------------------------------- */

/* Machines along a path of prices of an error. */
typedef struct cri_price_path {
    size_t        n;        /* 0 of a model without a path                            */
    double        own;      /* the price that the model predicts with                 */
    const double *price;    /* [n] rising                                             */
    const double *errors;   /* [n] share of the rows of the fit                       */
    const double *left_out; /* [n] the same with each row left out, NaN: not known    */
    const size_t *support;  /* [n] support vectors                                    */
} cri_price_path;

/* About rows. */
typedef struct cri_rows_face {
    /* Fills mean/scale/dof (and leverage), prob, log_density or vector, as out->kind says, of rows
     * 0 .. rows->n-1; arrays are allocated, but those of a family (cri_prediction_family), which
     * the class asks for itself.  A class of densities and clusters, or densities and coordinates,
     * fills log_density too.  With means_alone it may be asked for the mean only: scale, dof and
     * leverage are NULL then. */
    cr_status (*predict)(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
    /* Which rows those of the fit do not determine the answer of, whatever their number: which[i] = 1 + a term that
     * they say nothing of (beside the others), else 0.  NULL: the answer is always determined. */
    cr_status (*undetermined)(cr_ctx *cx, const void *state, const cri_rows *rows, size_t *which);
    /* log p(x, class) of rows, out [rows->n x classes of the target], in the units of the terms. */
    cr_status (*log_joint)(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
    /* The spread under the posterior, without noise, of the average over rows of the predictive mean: Student's t of
     * this scale and these degrees of freedom (infinite: normal).  NaN where it is not known. */
    cr_status (*mean_spread)(cr_ctx *cx, const void *state, const cri_rows *rows, double *out_scale,
                             double *out_dof);
    /* Central intervals of mass `level` of the probabilities of classes, under the posterior: lower and upper
     * [rows->n x classes of the target]. */
    cr_status (*probability_intervals)(cr_ctx *cx, const void *state, const cri_rows *rows,
                                       double level, double *lower, double *upper);
    /* As predict, without the noise of an observation: scale and dof tell how well the mean of each row is known, NaN
     * where that is not said.  mean, scale, dof and leverage are allocated. */
    cr_status (*mean)(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
    /* Central intervals of mass `level` of that mean, of a class in which it is no Student's t: lower and upper
     * [rows->n]. */
    cr_status (*mean_intervals)(cr_ctx *cx, const void *state, const cri_rows *rows, double level,
                                double *lower, double *upper);
    /* Coordinates of rows, out [rows->n x labels], of a class whose predict answers something
     * else. */
    cr_status (*transform)(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
    /* From coordinates Z [n x labels] back to rows: out [n x terms of the design that are numbers],
     * in the units of the terms, and how far what these rows become is from the points, distance
     * [n]. */
    cr_status (*reconstruct)(cr_ctx *cx, const void *state, const double *Z, size_t n, double *out,
                             double *distance);
    /* The names of its clusters or coordinates; not needed for classes of a target. */
    const char *const *(*labels)(const void *state, size_t *out_n);
    /* The distribution of the next row's columns; n and mean/scale/dof are allocated for out->n
     * columns of numbers, a family as in predict. */
    cr_status (*next)(cr_ctx *cx, const void *state, const cr_design *design, cr_prediction *out);
    /* The same of columns of levels: asks for room (cri_levels_new), fills column, first and
     * prob, and sets the texts (cri_levels_name). */
    cr_status (*next_levels)(cr_ctx *cx, const void *state, const cr_design *design,
                             cr_levels *out);
    /* Draws: without rows, out [count x design columns] (units of the data, codes of levels); with
     * rows, targets [rows->n x count] in the units rows->y has. */
    cr_status (*sample)(cr_ctx *cx, const void *state, const cr_design *design,
                        const cri_rows *opt_rows, size_t count, uint64_t seed, double *out);
    bool means_alone;  /* predict can leave out what costs more than the mean           */
    bool has_leverage; /* predict fills the leverage of numbers                        */
    bool by_distance;  /* of clusters: predict fills vector with distances, not prob   */
    bool decides;      /* predict fills decision (cri_prediction_decisions), and prob ranks */
    bool region;       /* of coordinates: the first is above 0 within a region, below outside  */
    /* What it is like along a path of prices: borrows from the state. */
    void (*prices)(const void *state, cri_price_path *out);
} cri_rows_face;

/* Coefficients along a path of penalties. */
typedef struct cri_coefficient_path {
    size_t        n_lambdas, n_terms; /* 0 of a model without a path                       */
    size_t        chosen;             /* which lambda the model predicts with             */
    const double *lambda;             /* [n_lambdas] falling                              */
    const double *terms;              /* [n_terms] of the design, those ever other than 0 */
    const double *others;             /* of pairs of terms: the second of each; else NULL */
    const double *coef;    /* [n_lambdas x n_terms] of the terms as they were penalised      */
    const double *nonzero; /* [n_lambdas] how many are not 0                   */
    bool          folds;   /* errors by cross-validation are there, and with it */
    size_t        least, one_se; /* the lambda of least error, and by the rule of one
                                         standard error                                   */
} cri_coefficient_path;

/* As a function of the columns: without noise, in parts, by its hyper-parameters. */
typedef struct cri_function_face {
    /* What a function that is a sum is made of (parts.h): the part number k, *out_part empty beyond
     * the last; mean and sd [rows->n] of it at the rows, where there are any, in the units rows->y
     * has. */
    cr_status (*part)(cr_ctx *cx, const void *state, const cr_design *design, size_t k,
                      const cri_rows *opt_rows, cr_part *out_part, double *mean, double *sd);
    /* The function itself, without noise, after the data or (prior) before them: mean [rows->n],
     * sd, and the covariance [rows->n x rows->n]. */
    cr_status (*function)(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                          double *mean, double *opt_sd, double *opt_covariance);
    /* Draws of it: out [rows->n x count]. */
    cr_status (*functions)(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                           size_t count, uint64_t seed, double *out);
    /* The gradient of its mean by the terms of the design that are numbers: out [rows->n x their
     * number]. */
    cr_status (*slopes)(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
    /* The hyper-parameter number k, *out_hyper empty beyond the last. */
    cr_status (*hyper)(cr_ctx *cx, const void *state, size_t k, cr_hyper *out_hyper);
    /* The log evidence of rows with their targets, in the units rows->y has, with the n
     * hyper-parameters `which` at values [count x n]; NaN where there is none: out [count]. */
    cr_status (*evidence_at)(cr_ctx *cx, const void *state, const cri_rows *rows,
                             const size_t *which, size_t n, const double *values, size_t count,
                             double *out);
    /* The inducing inputs of a sparse process: *out_X [n x terms of the design], allocated, in the
     * units of the terms. */
    cr_status (*inducing)(cr_ctx *cx, const void *state, const cr_design *design, double **out_X,
                          size_t *out_n);
    /* What figures of rows call these inputs, which they mark: "relevance vectors"; NULL: they do not. */
    const char *marked;
    /* Its coefficients along a path of penalties: borrows from the state. */
    void (*path)(const void *state, cri_coefficient_path *out);
} cri_function_face;

/* As one that was chosen among candidates. */
typedef struct cri_choice {
    size_t      n;        /* candidates; fewer than 2: nothing was chosen              */
    const char *by;       /* the criterion: "BIC"                                      */
    const char *of;       /* what a candidate has a number of: "components"            */
    bool        lower;    /* lower values are better                                   */
    const char *no_value; /* why a candidate may have none, as the end of a sentence   */
    const char *how;      /* the option that tries several: "--k 1:9"                  */
} cri_choice;

typedef struct cri_candidate {
    size_t      number; /* of components                      */
    const char *form;   /* NULL: all are of the same form     */
    double      value;  /* of the criterion; NaN: it has none */
    bool        chosen;
} cri_candidate;

typedef struct cri_choice_face {
    void (*choice)(const void *state, cri_choice *out);
    void (*candidate)(const void *state, size_t i, cri_candidate *out);
} cri_choice_face;

/* As clusters: where each lies. */
typedef struct cri_clusters_face {
    /* The share of cluster c in all rows, its mean [terms] and, of a class with covariances, its covariance
     * [terms x terms], all in the units of the terms. */
    void (*cluster)(const void *state, size_t c, double *out_share, double *mean,
                    double *opt_covariance);
    bool covariances; /* the clusters are normal distributions, not just centres */
} cri_clusters_face;

/* About rows in sequences (rows->sequences), of a class that sees them; what the face of rows answers is what the
 * class says by default, and what evaluation looks at.  Where a sequence stands is a row of numbers, its *place*: how
 * many of its rows were seen, then what the class makes of them; zeros before the first. */
typedef struct cri_sequence_face {
    /* The target is a series: it may have gaps (rows->y is NaN there), and predictions look at it where the data
     * have it (rows->y, NULL where they have not). */
    bool series;
    /* How many numbers a place is. */
    size_t (*width)(const void *state);
    /* As predict of the face of rows, each row given those of its sequence up to it, itself included unless it is
     * the target that is predicted.  places [sequences x width]: before the first of these rows; then after the
     * last. */
    cr_status (*filter)(cr_ctx *cx, const void *state, const cri_rows *rows, double *places,
                        cr_prediction *out);
    /* The same given all rows of the sequence. */
    cr_status (*smooth)(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
    /* The most probable path of each sequence: path [rows->n] indices of the labels, and log_probability
     * [sequences], that of the path and the rows together, or, of classes of a target, of the path given the
     * rows. */
    cr_status (*decode)(cr_ctx *cx, const void *state, const cri_rows *rows, double *path,
                        double *log_probability);
    /* The `count` most probable paths of each sequence, as far as there are so many of positive probability: path
     * [count x rows->n] and log_probability [count x sequences] as above; of the others they are left as they were. */
    cr_status (*paths)(cr_ctx *cx, const void *state, const cri_rows *rows, size_t count,
                       double *path, double *log_probability);
    /* The entropy of the posterior over all paths of each sequence, in nats: out [sequences]. */
    cr_status (*path_entropy)(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
    /* The `ahead` rows behind each of n places, answer k * ahead + h of place k.  log_density is NULL. */
    cr_status (*forecast)(cr_ctx *cx, const void *state, const cr_design *design,
                          const double *places, size_t n, size_t ahead, cr_prediction *out);
    /* The name of column k that is observed beside the target, NULL beyond the last; and the `ahead` rows of it, as
     * of the target, in the units of the data: mean and sd [n x ahead], normal.  NULL: there are none. */
    const char *(*beside)(const void *state, size_t k);
    cr_status (*forecast_beside)(cr_ctx *cx, const void *state, size_t k, const double *places,
                                 size_t n, size_t ahead, double *mean, double *sd);
    /* Columns of rows, in the units of the data, drawn from each label in turn: out [labels x count x columns], NaN
     * where a column is no number.  NULL: labels have no columns. */
    cr_status (*draw_labels)(cr_ctx *cx, const void *state, const cr_design *design, size_t count,
                             uint64_t seed, double *out);
    /* How far a row ahead is from the one before it on the scale of --time, whose column is of this type; NULL, or NaN:
     * as far as the rows are. */
    double (*step)(const void *state, cr_type time);
    /* The places after the rows of the fit [n x width], and the names of the sequences, NULL of one that has none:
     * borrowed from the state. */
    void (*ends)(const void *state, size_t *out_n, const double **out_places,
                 const char *const **out_names);
} cri_sequence_face;

struct cri_network_methods; /* graph/query/methods.h */

/* As a network: what query, infer, plot, convert and describe ask is answered by the functions of its
 * kind, with states or linear-Gaussian. */
typedef struct cri_network_face {
    const struct cri_network_methods *methods;
    /* The network of this kind that the state holds. */
    const void *(*network)(const void *state);
    /* What was learned of its arcs, as in cri_any_network; NULL: nothing. */
    void (*arcs)(const void *state, const double **out_strength, const double **out_compelled);
} cri_network_face;

/* `step` of the face of sequences of a model; NaN where it has none. */
double cri_model_step(const cr_model *model, cr_type time);
/* `beside` likewise: the name of column k that is observed beside the target; NULL beyond the last. */
const char *cri_model_beside(const cr_model *model, size_t k);

/* The inputs that figures of the model mark, and what they are called: Z [n x terms of the design], allocated, in the
 * units of the data.  Nothing, n = 0, of a class that has none. */
cr_status cri_model_marked(cr_ctx *cx, const cr_model *model, const char **out_name, double **out_Z,
                           size_t *out_n);

/* The path of a model, borrowed from it; empty of one that has none. */
cri_coefficient_path cri_model_path(const cr_model *model);
/* Whether the first of its coordinates is the decision of a region. */
bool cri_model_has_region(const cr_model *model);
/* Whether its class can have a path of prices, and that. */
bool           cri_model_has_prices(const cr_model *model);
cri_price_path cri_model_prices(const cr_model *model);

/* The clusters of a model, or its candidates, and the state they are asked with; NULL where its class has none. */
const cri_clusters_face *cri_model_clusters(const cr_model *model, const void **out_state);
const cri_choice_face   *cri_model_choice(const cr_model *model, const void **out_state);

#endif
