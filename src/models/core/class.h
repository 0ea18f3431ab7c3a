/* class.h -- what a model declares: one descriptor, from which every surface is made.
 * A class works on rows of numbers (cri_rows) and keeps its posterior in a state of its own; the
 * model around it (model.c) holds design, options and report.  A function that a class cannot offer
 * is NULL.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_CLASS_H
#define CREDENCE_MODELS_CORE_CLASS_H

#include "data/design/design_internal.h"
#include "models/list.h"
#include "faces.h"
#include "model.h"
#include "parameters.h"
#include "parts.h"
#include "data/store/record_store.h"
#include "data/store/store.h"
#include "unused.h"

/* The numbers that may stand in columns without a target. */
typedef enum cri_support {
    CRI_SUPPORT_ANY,
    CRI_SUPPORT_POSITIVE, /* none below zero */
    CRI_SUPPORT_COUNTS,
    CRI_SUPPORT_LEVELS /* whole numbers and texts */
} cri_support;

/* The `word` of a choice may carry the value of another option: "word:3" sets both. */
typedef struct cri_carried {
    const char *choice, *word, *option;
} cri_carried;

struct cr_model_class {
    const char *name, *summary;
    const char *formulas;  /* the model in plain text, a few lines */
    const char *reference; /* book or paper                        */
    const char
            *example; /* data in examples/ and options of a command that works; NULL: by the task */
    unsigned tasks;
    bool     target_optional; /* without --target it does what else it can be fitted for */
    const char *
        for_classes; /* of a model of numbers: what to do with a target of classes; NULL: nothing */

    /* Of a model of numbers: how the user calls what takes a target of two classes as 0 and 1, the second being 1;
     * NULL, or of NULL: with these options it takes none. */
    const char *(*two_classes)(const void *options);

    const cr_option       *options;
    size_t                 options_size;
    const cri_requirement *requirements; /* options that require others (unused.h); NULL: none do */
    const cri_carried     *carried; /* a word that carries the value of another option; or NULL */
    cr_scale               default_scale; /* what --scale auto means */
    bool        scales_itself; /* standardises by its own statistics: rows come unstandardised */
    bool        target_as_is;  /* the target cannot be standardised: counts, positive numbers  */
    bool        joint;   /* its likelihood is that of target and columns, not of the target alone */
    cri_support support; /* the numbers it describes                                              */
    bool        robust_classes; /* standard errors allow for weights of classes */
    bool        takes_sparse; /* looks at terms and columns by their accessors, or at the entries */
    /* With these options alone; NULL: always. */
    bool (*sparse_when)(const void *options);
    bool       sparse_levels; /* says as much of sparse rows: wide categories come as entries too */
    bool       takes_missing; /* sees gaps in the features as NaN, unless the user says else      */
    bool       sequences; /* sees rows in sequences (rows->sequences), by --sequence and --time */
    bool       varying;   /* takes varying intercepts: (1 | COLUMN) in --terms                  */
    cri_coding coding;    /* how categories become terms                                        */
    /* Options of its own, of kind text, that name columns it reads as rows->roles[k]; ends with
     * NULL. */
    const char *const *roles;
    const char *
        aside; /* one that names a column it looks at itself, which is no feature; NULL: none does */

    /* The columns it looks at, as --features names them, where that is not set: a text of cri_string_copy, or
     * NULL for all.  NULL: all. */
    cr_status (*columns)(cr_ctx *cx, const void *options, const cr_table *table,
                         char **out_features);
    /* Tells the design, which is new, what the options say about its columns: which are texts. */
    cr_status (*shape)(cr_ctx *cx, const void *options, cr_design *design);
    /* Warns where probabilities that are not calibrated cannot be relied on, true then; NULL: it has no such sign. */
    bool (*doubt)(cr_ctx *cx, const cr_design *design, const void *state);
    const cri_sums_face     *sums;     /* how it learns: from sums over rows,              */
    const cri_em_face       *em;       /* from expected sums, step by step,                */
    const cri_em_search     *search;   /* among the ends of EM; NULL: of like starts       */
    const cri_whole_face    *whole;    /* or from all rows at once                         */
    const cri_rows_face     *rows;     /* what it says of rows                             */
    const cri_function_face *function; /* the same of its function; NULL: it has none      */
    const cri_clusters_face *clusters; /* its clusters; NULL: it has none, or none to describe */
    const cri_choice_face   *choice;   /* the candidates it was chosen among; NULL: it never is */
    const cri_sequence_face *sequence; /* what it says of sequences; NULL: it sees none */
    const cri_network_face  *network;  /* the network it is or has learned; NULL: it has none */

    /* The covariance of the parameters that `describe` shows, in their order, *out [n x n],
     * allocated, in the units rows->y has; NaN where a parameter has no standard error. */
    cr_status (*covariance)(cr_ctx *cx, const void *state, double **out, size_t *out_n);
    /* Adds "parameters" (a list of rows, parameters.h), "statistics" (an object of what `statistics`
     * declares) and its own tables to `out`. */
    cr_status (*describe)(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out);
    const cr_field *statistics;
    const cr_field *tables; /* rows that this class alone has; NULL: none */
    /* The state as a record, by which it is saved, loaded and freed.  `ready` refuses a state that
     * was read and does not fit the design with CR_EDATA (the caller words it), or with CR_EARG and
     * its own words (the caller names the file), and makes what is not in the file; `release` frees
     * of that what the record does not name. */
    const cri_member *state;
    size_t            state_size;
    cr_status (*ready)(cr_ctx *cx, void *state, const cr_design *design);
    void (*release)(cr_ctx *cx, void *state);
};

/* The state of a class, by its record; `out` is a JSON object of its own.  The check is CR_ENUMERIC
 * for a fitted state that could not be read again: numbers in it overflow. */
cr_status cri_state_check(cr_ctx *cx, const cr_model_class *c, const void *state);
cr_status cri_state_write(cr_ctx *cx, const cr_model_class *c, const void *state, cri_store *store,
                          json_t *out);
cr_status cri_state_read(cr_ctx *cx, const cr_model_class *c, const cri_store *store,
                         const json_t *in, const cr_design *design, void **out_state);
void      cri_state_free(cr_ctx *cx, const cr_model_class *c, void *state);

/* How many leaves these rows are of, those that have none left out. */
size_t cri_sums_leaves(const cri_rows *rows);
/* true when it can learn from further rows. */
bool cri_class_updates(const cr_model_class *c);
/* The faces of a class; one without functions where it has none. */
const cri_whole_face    *cri_learning_of(const cr_model_class *c);
const cri_rows_face     *cri_answers_of(const cr_model_class *c);
const cri_function_face *cri_function_of(const cr_model_class *c);
const cri_sequence_face *cri_sequence_of(const cr_model_class *c);

/* true when it says how well it knows the mean of a row, without noise. */
bool cri_class_knows_means(const cr_model_class *c);

/* The standardisation that the options ask for, "auto" resolved by the class. */
cr_scale cri_class_scale(const cr_model_class *c, int scale_option);

#define CRI_DECLARE_CLASS(stem) extern const cr_model_class cri_class_##stem;
CRI_MODELS(CRI_DECLARE_CLASS)
/* Networks as they are given, not fitted (models/network/): a model of these comes from a file, and
 * `credence models` does not list them. */
CRI_DECLARE_CLASS(network)
CRI_DECLARE_CLASS(gaussian_network)
CRI_DECLARE_CLASS(dynamic_network)

/* Room for the parameters of a family in a prediction: sets family, n_params and params
 * [n x n_params].  The family is named as in the registry of distributions. */
cr_status cri_prediction_family(cr_ctx *cx, cr_prediction *prediction, const char *family,
                                size_t n_params);

/* Room for n values a row by whose signs a classifier decides, of pairs of classes or not; names [n] are the state's.
 * Its prob then only ranks, until it is calibrated. */
cr_status cri_prediction_decisions(cr_ctx *cx, cr_prediction *prediction, size_t n, bool of_pairs,
                                   const char *const *names);

/* The failure of what needs probabilities. */
cr_status cri_fail_ranks(cr_ctx *cx, const char *model);

/* Room for n columns with `total` levels together, first[n] = total; freed by cr_levels_free. */
cr_status cri_levels_new(cr_ctx *cx, size_t n, size_t total, cr_levels *out);
/* Sets the text of level i to prefix and level. */
cr_status cri_levels_name(cr_ctx *cx, cr_levels *out, size_t i, const char *prefix,
                          const char *level);

#endif
