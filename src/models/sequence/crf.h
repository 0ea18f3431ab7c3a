/* crf.h -- a fitted conditional random field: templates, attributes, weights.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_CRF_H
#define CREDENCE_MODELS_SEQUENCE_CRF_H

#include "models/core/class.h"
#include "crf_attributes.h"
#include "crf_chain.h"

/* Why the weights have standard deviations, or none. */
typedef enum cri_crf_errors {
    CRI_CRF_POSTERIOR,  /* they have: of the posterior under the quadratic penalty */
    CRI_CRF_LIKELIHOOD, /* they have: without a penalty */
    CRI_CRF_MANY,
    CRI_CRF_ABSOLUTE,
    CRI_CRF_FLAT,
    CRI_CRF_LATE,
    CRI_CRF_NEAR
} cri_crf_errors;

/* clang-format off */
#define CRI_CRF(MEMBER)                                                                              \
    MEMBER(count,  K,             (),         ">0",   "labels")                                      \
    MEMBER(count,  p,             (),         "",     "terms of the design")                         \
    MEMBER(count,  templates,     (),         "",     "what attributes are made by")                 \
    MEMBER(count,  atoms,         (),         ">0",   "that a template has at the most")             \
    MEMBER(count,  width,         (),         ">1",   "atoms + 1")                                   \
    MEMBER(count,  A,             (),         "",     "attributes")                                  \
    MEMBER(count,  sequences,     (),         ">0",   "learned from")                                \
    MEMBER(count,  free,          (),         "",     "weights that were learned")                   \
    MEMBER(count,  nonzero,       (),         "",     "of these, not 0")                             \
    MEMBER(count,  errors,        (),         "0..6", "cri_crf_errors")                              \
    MEMBER(flag,   seen,          (),         "",     "attributes have weights for the labels they were seen with alone") \
    MEMBER(real,   lambda,        (),         ">=0",  "quadratic penalty")                           \
    MEMBER(real,   l1,            (),         ">=0",  "absolute penalty")                            \
    MEMBER(real,   objective,     (),         "none", "at the end")                                  \
    MEMBER(real,   kkt,           (),         "none", "the largest violation of optimality")         \
    MEMBER(real,   above,         (),         ">=0 spare", "minimum: how far the objective is from it at the most; 0: not known") \
    MEMBER(matrix, term,          (templates, atoms), ">=-1", "of an atom; -1: there is none")       \
    MEMBER(matrix, offset,        (templates, atoms), "",     "of an atom, in rows")                 \
    MEMBER(codes,  keys,          (A, width), "",     "what attributes are (crf_attributes.h), in order") \
    MEMBER(matrix, weight,        (A, K),     "",     "of attributes")                               \
    MEMBER(matrix, transition,    (K, K),     "",     "from label to label")                         \
    MEMBER(matrix, weight_sd,     (A, K),     "none any", "standard deviations; NaN: not learned")   \
    MEMBER(matrix, transition_sd, (K, K),     "none any", "likewise")
/* clang-format on */
/* `list` and `find` are made of what is in the file. */
CRI_RECORD(cri_crf, CRI_CRF, cri_template *list; cri_attributes find;);
extern const cri_member cri_crf_record[];

typedef struct cri_crf_settings {
    double      lambda, l1, tol; /* tol NaN: by default */
    size_t      max_iter;        /* CR_COUNT_UNSET: by default */
    bool        intercept, seen, sgd;
    uint64_t    seed; /* sgd */
    const char *window;
} cri_crf_settings;

cr_status cri_crf_fit(cr_ctx *cx, const cri_rows *rows, const cri_crf_settings *o, cri_crf *m,
                      cr_report *report);
/* Makes what is not in the file, once the rest is known to fit the design. */
cr_status cri_crf_ready(cr_ctx *cx, void *state, const cr_design *design);
void      cri_crf_release(cr_ctx *cx, void *state);

/* --- answers --------------------------------------------------------------------------------- */

/* p(y_t = k | x) of every row, out [rows->n x K]. */
cr_status cri_crf_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
/* The labelling of highest probability of each sequence, as the face of sequences says. */
cr_status cri_crf_decode(cr_ctx *cx, const void *state, const cri_rows *rows, double *path,
                         double *log_probability);
/* The best labellings, and the entropy of all of them, likewise (crf_paths.c). */
cr_status cri_crf_paths(cr_ctx *cx, const void *state, const cri_rows *rows, size_t count,
                        double *path, double *log_probability);
cr_status cri_crf_path_entropy(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
/* Labellings drawn from p(y | x), each of all rows of a sequence together: out [rows->n x count]. */
cr_status             cri_crf_sample(cr_ctx *cx, const void *state, const cr_design *design,
                                     const cri_rows *rows, size_t count, uint64_t seed, double *out);
extern const cr_field cri_crf_statistics[];
cr_status cri_crf_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out);

#endif
