/* svm.h -- support vector machines for classes: what a fitted one is, and the parts that make it.
 *
 *   1. svm.c           the model: options, fit, describe, the descriptor
 *      svm_describe.c   what it says of itself
 *   2. svm_classes.c   machines for pairs of classes, or for each against the rest, and what they say together
 *   3. svm_machine.h   one machine: soft, hard and nu margins
 *   4. svm_solver.h    the quadratic programme
 *   5. svm_block.h     its working set;  svm_rows.h   its kernel rows
 *   6. linear_machine.h   one machine of the linear kernel by its weights: linear_svm.h, linear_rows.h
 *   7. svm_joint.h   machines of many classes found together (Crammer & Singer)
 *   8. libsvm_model.h  model files of LIBSVM;  svm_function.h   what svr and one-class-svm keep
 *
 * (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_SVM_SVM_H
#define CREDENCE_MODELS_KERNEL_SVM_SVM_H

#include "svm_joint.h"
#include "svm_machine.h"
#include "models/core/class.h"
#include "models/kernel/inputs/gp_centre.h"

#include <math.h>

typedef enum cri_svm_multi {
    CRI_SVM_OVO,
    CRI_SVM_OVR,
    CRI_SVM_CRAMMER_SINGER
} cri_svm_multi; /* choices of --multi */

/* A machine m has links[m] of the rows below: row[l] with weight beta[l], those of the first machine first.  One
 * against one: pairs (i, j), i < j, i rising before j, f > 0 for class j.  One against the rest and joint: f > 0 for class m.  Two
 * classes: one machine, f > 0 for the second. */
/* clang-format off */
#define CRI_SVM_STATE(MEMBER)                                                                      \
    MEMBER(text,   formula,   (),         "as:kernel",   "the kernel")                             \
    MEMBER(choice, kind,      (),         "c|nu",        "of the margin")                          \
    MEMBER(choice, multi,     (),         "ovo|ovr|crammer-singer", "pairs of classes, or each") \
    MEMBER(real,   C,         (),         ">=0 endless", "0 of nu")                                \
    MEMBER(real,   nu,        (),         ">=0",         "0 of c")                                 \
    MEMBER(count,  loss,      (),         "spare",       "0: hinge, 1: its square")                \
    MEMBER(count,  penalty,   (),         "spare",       "0: l2, 1: l1")                           \
    MEMBER(count,  support,   (),         "spare",       "of machines that keep weights alone")    \
    MEMBER(real,   tol,       (),         ">0",          "of the violation")                       \
    MEMBER(real,   rows,      (),         ">0",          "the sum of the weights")                 \
    MEMBER(count,  n,         (),         ">0",          "support vectors of all machines")        \
    MEMBER(count,  d,         (),         "",            "their columns of numbers")               \
    MEMBER(count,  c,         (),         "",            "their categories")                       \
    MEMBER(matrix, X,         (n, d),     "",            "the support vectors")                    \
    MEMBER(codes,  codes,     (n, c),     "as:levels",   "likewise")                               \
    MEMBER(count,  K,         (),         ">=2",         "classes")                                \
    MEMBER(count,  M,         (),         ">0",          "machines")                               \
    MEMBER(index,  links,     (M),        "",            "support vectors of each")                \
    MEMBER(index,  bounded,   (M),        "",            "of them, at the bound")                  \
    MEMBER(index,  steps,     (M),        "",            "of the solver")                          \
    MEMBER(vector, b,         (M),        "",            "")                                       \
    MEMBER(vector, objective, (M),        "",            "of the dual")                            \
    MEMBER(vector, gap,       (M),        ">=0 minus",   "primal less dual; NaN: not known")       \
    MEMBER(vector, violation, (M),        ">=0",         "of the conditions")                      \
    MEMBER(vector, norm,      (M),        ">=0",         "|w|")                                    \
    MEMBER(real,   loo,       (),         "0..1 none",   "share of errors with rows left out, by the span") \
    MEMBER(count,  P,         (),         "spare",       "prices of a path, rising")               \
    MEMBER(vector, path_C,    (P),        ">0 full",     "")                                       \
    MEMBER(vector, path_objective, (P),   "full",        "as above, at each")                      \
    MEMBER(vector, path_gap,  (P),        ">=0 minus full", "")                                    \
    MEMBER(vector, path_norm, (P),        ">=0 full",    "")                                       \
    MEMBER(vector, path_errors, (P),      "0..1 full",   "share of the rows of the fit")           \
    MEMBER(vector, path_loo,  (P),        "0..1 minus full", "NaN where it was not asked for")     \
    MEMBER(index,  path_support, (P),     "full",        "")                                       \
    MEMBER(index,  path_bounded, (P),     "full",        "")                                       \
    MEMBER(count,  S,         (),         "",            "links of all")                           \
    MEMBER(index,  row,       (S),        "",            "the support vector")                     \
    MEMBER(vector, beta,      (S),        "",            "its weight")                             \
    MEMBER(part,   centre,    (cri_gp_centre_rows), "none", "rows of the kernel")
/* clang-format on */
CRI_RECORD(cri_svm, CRI_SVM_STATE, cr_kernel *kernel; char **names; double *W;);
extern const cri_member cri_svm_record[];

/* The support vectors as a kernel sees them. */
cr_kernel_input cri_svm_inputs(const cri_svm *m);

/* --- svm_classes.c --------------------------------------------------------------------------- */

/* A gap as states hold it: not below 0, NaN where it is not known. */
static inline double cri_svm_known_gap(double gap)
{
    return isfinite(gap) ? gap > 0 ? gap : 0 : (double)NAN;
}

/* Trains a machine; opt_w: the weights of the columns of a penalty l1, or NULL. */
cr_status cri_svm_train_one(cr_ctx *cx, const cri_svm_sample *sample, const cri_svm_margin *margin,
                            cri_svm_machine *machine, double *opt_w);

/* --- svm_describe.c -------------------------------------------------------------------------- */

/* The largest gap of all machines, or that of those found together; NaN where it is not known. */
double                cri_svm_gap(const cri_svm *m);
extern const cr_field cri_svm_statistics[], cri_svm_tables[];
cr_status cri_svm_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out);

/* --- svm_path.c ------------------------------------------------------------------------------ */

/* Trains the only machine for the prices path_C of the state too, in rising order, each from the one before, and keeps what
 * they are like; *machine is that of the margin. */
cr_status cri_svm_train_path(cr_ctx *cx, cri_svm *m, bool loo, const cri_svm_sample *sample,
                             const cri_svm_margin *margin, cri_svm_machine *machine);
/* The share of errors when each row is left out with all its weight, by the span of the support vectors, as if these
 * stayed what they are: a row is lost where y f(x) <= |beta| S^2, S the distance of its feature from the span of the
 * others.  NaN where none is free, or memory does not suffice.  O(free^3 + free^2 n).
 * Vapnik & Chapelle (2000), Neural Computation 12. */
cr_status cri_svm_span(cr_ctx *cx, const cri_svm_sample *sample, const cri_svm_machine *machine,
                       double *out_share);
/* true for support vectors whose weight is at its bound. */
bool cri_svm_is_bounded(const cri_svm_machine *machine, double beta, double weight);

/* --- svm_classes.c, again -------------------------------------------------------------------- */

/* true where the machines of all classes are found together. */
static inline bool cri_svm_is_joint(const cri_svm *m)
{
    return m->K > 2 && m->multi == CRI_SVM_CRAMMER_SINGER;
}
/* How many machines there are for K classes. */
size_t cri_svm_machines(cri_svm_multi multi, size_t K);
/* The classes that machine m is for (f > 0) and against; SIZE_MAX: all others. */
void cri_svm_classes_of(const cri_svm *m, size_t machine, size_t *out_for, size_t *out_against);

/* Trains all machines of the state, of which kind, multi, C, nu, tol and K are set, on rows of classes y with weights,
 * and keeps their support vectors.  opt_late: the time was over. */
cr_status cri_svm_train_all(cr_ctx *cx, cri_svm *m, const cr_kernel *kernel,
                            const cri_gp_data *data, const cr_design *design, bool loo,
                            const cri_svm_settings *how, cr_report *report);

/* What machines found together say of themselves goes into the state, with A [n x K] of the caller. */
cri_svm_joint_solution cri_svm_joint_of(cri_svm *m, double *A);
/* Of the linear kernel: W [M x d], the weights of the columns, by which rows are decided. */
cr_status cri_svm_set_weights(cr_ctx *cx, cri_svm *m);
/* Room for what is said of each machine. */
cr_status cri_svm_allocate_machines(cr_ctx *cx, cri_svm *m);
/* The values of all machines for rows, out [rows x M].  O(rows n d). */
cr_status cri_svm_decide(cr_ctx *cx, const cri_svm *m, const cri_rows *rows, double *out);
/* Shares of the classes of a row from these, share [K]: the class with the most votes, or the greatest value, has the
 * largest; they sum to one and say no more. */
void cri_svm_rank(const cri_svm *m, const double *f, double *share);

/* --- svm_sparse.c ---------------------------------------------------------------------------- */

/* The same as cri_svm_train_all, of the linear kernel and sparse rows. */
cr_status cri_svm_train_sparse(cr_ctx *cx, cri_svm *m, const cri_rows *rows,
                               const cri_svm_settings *how, cr_report *report);
/* cri_svm_decide of sparse rows. */
cr_status cri_svm_decide_sparse(cr_ctx *cx, const cri_svm *m, const cri_rows *rows, double *out);

#endif
