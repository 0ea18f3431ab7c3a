/* gp_method.h -- a method of Gaussian process regression: one row of the table in
 * methods/gp_methods.c.
 * A fit chooses its method once; what is fitted is a posterior (gp_posterior.h) that shows by its
 * parts which method it is of.  Everything that differs between methods is a member here: no other
 * file asks which one it has.  A new method is one file in methods/ and one row of the table.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GP_POSTERIOR_GP_METHOD_H
#define CREDENCE_MODELS_GP_POSTERIOR_GP_METHOD_H

#include "models/gp/search/gp_learn.h"
#include "gp_posterior.h"

struct cri_gp_fit; /* methods/gp_fit.h */

/* Some rows on their way through the formulas of gp_posterior.h. */
typedef struct cri_gp_block {
    size_t           count;
    double          *terms, *X; /* [count x p], [count x d]                        */
    uint32_t        *codes;     /* [count x c]                                     */
    double          *C;         /* [n x count] k, then overwritten                 */
    double          *R;         /* [q x count] A^-1 (h - U^T v)                    */
    double          *H;         /* [count x q]                                     */
    double          *prior;     /* [count] k(x, x)                                 */
    const cr_kernel *kernel;    /* of f, or of a part of it                        */
    cr_kernel_input  in;
} cri_gp_block;

/* What is drawn: targets with their noise, or functions, after the data or before them. */
typedef enum cri_gp_drawn { CRI_GP_TARGETS, CRI_GP_FUNCTIONS, CRI_GP_PRIOR_FUNCTIONS } cri_gp_drawn;

/* The answers of a process, as the model class asks for them. */
typedef struct cri_gp_answers {
    cr_status (*predict)(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                         cr_prediction *out);
    cr_status (*function)(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows, bool prior,
                          double *mean, double *opt_sd, double *opt_covariance);
    cr_status (*draw)(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                      cri_gp_drawn what, size_t count, uint64_t seed, double *out);
    cr_status (*slopes)(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows, double *out);
    cr_status (*part)(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design, size_t k,
                      const cri_rows *opt_rows, cr_part *out_part, double *mean, double *sd);
    cr_status (*parameters)(cr_ctx *cx, const cri_gp_posterior *m, cri_sheet *list);
} cri_gp_answers;
extern const cri_gp_answers cri_gp_process_answers; /* of one setting of the hyper-parameters */
extern const cri_gp_answers cri_gp_mixture_answers; /* of draws of them (gp_mcmc.h)           */

typedef struct cri_gp_method {
    const char      *name;
    const char      *option;   /* that asks for it                                             */
    const char      *help;     /* the distribution of y, or how it is computed                 */
    const char      *process;  /* what it makes, in messages                                   */
    const char      *inputs;   /* the statistic that counts those that predictions rest on     */
    const char      *uses;     /* options that it reads, of those that not all methods do      */
    cri_gp_approx    approx;   /* in the file                                                  */
    unsigned         factors;  /* of CRI_GP_L, CRI_GP_L2                                       */
    bool             features; /* f is linear in the features: it has no variance beyond them  */
    bool             measures_kernel; /* kernel_error is known                                 */
    bool             few_pairs;       /* never looks at all pairs of rows                      */
    cr_evidence_kind evidence;        /* exact, a bound, an estimate                           */

    /* --- the fit, in this order --- */
    /* Refuses kernels and noises that it cannot take. */
    cr_status (*check)(cr_ctx *cx, const struct cri_gp_fit *f);
    /* Refuses with CR_ENOMEM, a figure and a hint what memory would not hold; reports the cost of
     * a large one. */
    cr_status (*cost)(cr_ctx *cx, const struct cri_gp_fit *f);
    /* Sets the inputs m->at that predictions rest on, and where the rows are. */
    cr_status (*prepare)(cr_ctx *cx, cr_scratch *s, struct cri_gp_fit *f);
    /* The objective and its workspace, once m is allocated. */
    cr_status (*open)(cr_ctx *cx, cr_scratch *s, struct cri_gp_fit *f);
    /* Hyper-parameters at the maximum of the objective. */
    cr_status (*learn)(cr_ctx *cx, struct cri_gp_fit *f, cri_gp_learned *learned);
    /* How sure they are: their sds, or draws of them.  NULL: not known. */
    cr_status (*hyper)(cr_ctx *cx, struct cri_gp_fit *f);
    /* All that predicts, at the hyper-parameters that m has. */
    cr_status (*condition)(cr_ctx *cx, struct cri_gp_fit *f);

    /* --- the posterior --- */
    /* Whether what a file has of its part fits the rest.  NULL: it has none of its own. */
    bool (*fits)(const cri_gp_posterior *m);
    const cri_gp_answers *answers;
    /* b->C [n x count] := k(at, x), or features of x. */
    cr_status (*cross)(cr_ctx *cx, const cri_gp_posterior *m, cri_gp_block *b);
    /* From b->C, b->H and b->prior: the variances of f, or S [count x count] += the covariance
     * less the prior one.  Overwrites b->C and b->R. */
    cr_status (*project)(cr_ctx *cx, const cri_gp_posterior *m, cri_gp_block *b,
                         double *opt_variance, double *opt_S);
    /* Means and variances of f at all rows. */
    cr_status (*moments)(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows, double *mean,
                         double *opt_variance);
    /* out [count x d] += the slopes of k(at, x) . alpha; W [n x count] is workspace. */
    cr_status (*slopes)(cr_ctx *cx, const cri_gp_posterior *m, const cri_gp_block *b, double *W,
                        double *out);
    /* Statistics of its own. */
    void (*describe)(const cri_gp_posterior *m, const cr_design *design, cri_sheet *out);
    /* What `old` knew and more rows, at the same hyper-parameters.  NULL: only by another fit. */
    cr_status (*extend)(cr_ctx *cx, const cri_gp_posterior *old, const cri_rows *rows,
                        cri_gp_posterior **out);
    /* The evidence at other hyper-parameters: its objective, and a workspace for n rows.  NULL: it
     * has none to draw. */
    cri_gp_objective *evidence_at;
    cr_status (*workspace)(cr_scratch *s, const cri_gp_posterior *m, size_t n, void **out);
} cri_gp_method;

/* The method that a posterior is of, by the parts that it has. */
const cri_gp_method *cri_gp_method_of(const cri_gp_posterior *m);
/* The method of --approx, not auto. */
const cri_gp_method *cri_gp_method_at(int approx);

/* out [count] := the objective with the parameters which[0] .. which[n - 1] of k, the noise after the
 * last of them, at values [count x n]; NaN where it has no value.  k is overwritten. */
cr_status cri_gp_evaluate_at(cr_ctx *cx, const cri_gp_learning *learning, cr_kernel *k,
                             double noise, const size_t *which, size_t n, const double *values,
                             size_t count, double *out);
/* Keeps starts, evaluations and bounds, which are reported; classes: of a classifier. */
cr_status cri_gp_posterior_learned(cr_ctx *cx, cri_gp_posterior *m, const cri_gp_learned *learned,
                                   bool classes, cr_report *report);

/* --- what methods share (gp_predict.c, gp_slopes.c) ------------------------------------------ */

/* k(at, x), and its slopes. */
cr_status cri_gp_kernel_cross(cr_ctx *cx, const cri_gp_posterior *m, cri_gp_block *b);
cr_status cri_gp_kernel_slopes(cr_ctx *cx, const cri_gp_posterior *m, const cri_gp_block *b,
                               double *W, double *out);
/* By the factors L and L2 that there are. */
cr_status cri_gp_factor_project(cr_ctx *cx, const cri_gp_posterior *m, cri_gp_block *b,
                                double *opt_variance, double *opt_S);
/* R := A^-1 (h - U^T V), V [n x count]. */
cr_status cri_gp_project_mean(cr_ctx *cx, const cri_gp_posterior *m, cri_gp_block *b, cr_cmat V);
/* Row after row of A [rows x count]: out [count] += the squares. */
void cri_gp_add_squares(const double *A, size_t rows, size_t count, double *out);
/* By cross and project, some rows at a time. */
cr_status cri_gp_dense_moments(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                               double *mean, double *opt_variance);
/* The same for the rows that an index names and were read before; of a part of f: opt_kernel, and
 * the mean function or not. */
cr_status cri_gp_some_moments(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                              const size_t *opt_index, size_t count, const cr_kernel *opt_kernel,
                              bool with_mean, double *mean, double *opt_variance);
/* A block for `count` rows, memory of the arena; without C where it is not needed. */
cr_status cri_gp_block_new(cr_scratch *s, const cri_gp_posterior *m, size_t p, size_t count,
                           bool with_C, cri_gp_block *out);
/* The inputs of rows [begin, end) with their terms of the mean; or of those that an index names. */
cr_status cri_gp_block_read(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                            const size_t *opt_index, size_t begin, size_t end, cri_gp_block *b);
/* The form of low rank, and the dense formulas for rows that it does not hold for. */
cr_status cri_gp_lowrank_moments(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                                 double *mean, double *opt_variance);
/* The slopes, parameters and parts of one process (gp_slopes.c, gp_posterior.c, gp_parts.c). */
cr_status cri_gp_process_slopes(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                                double *out);
cr_status cri_gp_process_parameters(cr_ctx *cx, const cri_gp_posterior *m, cri_sheet *list);
cr_status cri_gp_process_part(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design,
                              size_t k, const cri_rows *opt_rows, cr_part *out_part, double *mean,
                              double *sd);

#endif
