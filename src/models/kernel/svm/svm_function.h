/* svm_function.h -- one function of support vectors, f(x) = sum_i beta_i k(x_i, x) + b: what svr and one-class-svm keep of a
 * fit, and what both do with it.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_SVM_SVM_FUNCTION_H
#define CREDENCE_MODELS_KERNEL_SVM_SVM_FUNCTION_H

#include "svm_solver.h"
#include "models/core/class.h"
#include "models/kernel/inputs/gp_centre.h"

/* clang-format off */
#define CRI_SVM_FUNCTION(MEMBER)                                                                        \
    MEMBER(text,   formula,   (),     "as:kernel",   "the kernel")                                 \
    MEMBER(real,   tol,       (),     ">0",          "of the violation")                           \
    MEMBER(real,   rows,      (),     ">0",          "the sum of the weights")                     \
    MEMBER(count,  n,         (),     "",            "support vectors that are kept")              \
    MEMBER(count,  d,         (),     "",            "their columns of numbers")                   \
    MEMBER(count,  c,         (),     "",            "their categories")                           \
    MEMBER(matrix, X,         (n, d), "",            "the support vectors")                        \
    MEMBER(codes,  codes,     (n, c), "as:levels",   "likewise")                                   \
    MEMBER(vector, beta,      (n),    "",            "their weights")                              \
    MEMBER(real,   b,         (),     "",            "")                                           \
    MEMBER(count,  support,   (),     "",            "support vectors")                            \
    MEMBER(count,  bounded,   (),     "",            "of them, at the bound")                      \
    MEMBER(real,   objective, (),     "",            "of the dual")                                \
    MEMBER(real,   gap,       (),     ">=0 endless", "primal less dual")                           \
    MEMBER(real,   violation, (),     ">=0 endless", "of the conditions")                          \
    MEMBER(real,   norm,      (),     ">=0",         "|w|")                                        \
    MEMBER(part,   centre,    (cri_gp_centre_rows), "none", "rows of the kernel")
/* clang-format on */
/* w [d]: of the linear kernel the weights of the columns, by which rows are valued; else NULL. */
CRI_RECORD(cri_svm_function, CRI_SVM_FUNCTION, cr_kernel *kernel; double *w;);
extern const cri_member cri_svm_function_record[];

/* The region of a one-class machine. */
#define CRI_ONE_CLASS(MEMBER)                                                                      \
    MEMBER(part, f, (cri_svm_function), "", "")                                                    \
    MEMBER(real, nu, (), "0<..1 none", "")
CRI_RECORD(cri_one_class, CRI_ONE_CLASS);

/* The kernel as written, or rbf with `times` the median distance between distinct rows as length-scale; checked for
 * these data, with a warning where it is not positive semi-definite. */
cr_status cri_svm_kernel(cr_ctx *cx, const char *model, const char *opt_text, double times,
                         const cri_rows *rows, const cri_gp_data *data, cr_kernel **out_kernel);

/* Takes the kernel, and those of the rows whose beta [n] is not 0; bounded where |beta_i| reaches bound[i].  What the
 * solver said of itself is copied from `from`. */
cr_status cri_svm_function_keep(cr_ctx *cx, cri_svm_function *m, const cri_gp_data *data,
                                const double *beta, const double *bound,
                                const cri_svm_solution *from);
/* The support vectors as a kernel sees them. */
cr_kernel_input cri_svm_function_inputs(const cri_svm_function *m);
/* out [rows]: f.  O(rows n d). */
cr_status cri_svm_function_values(cr_ctx *cx, const cri_svm_function *m, const cri_rows *rows,
                                  double *out);
/* The kernel of a state that was read; CR_EDATA where that does not fit the design. */
cr_status cri_svm_function_ready(cr_ctx *cx, cri_svm_function *m, const cr_design *design);
void      cri_svm_function_release(cr_ctx *cx, cri_svm_function *m);

/* What both say of it: rows of a table of statistics, and their values; the first of them the parameters. */
#define CRI_SVM_FUNCTION_FIELDS                                                                    \
    CR_TEXT("kernel", 0, "the kernel with its hyper-parameters"),                                  \
        CR_COUNT("support_vectors", 0, "rows that the function needs"),                            \
        CR_COUNT("bounded", 0, "support vectors whose weight is at its bound"),                    \
        CR_COUNT("free", 0, "support vectors whose weight is below its bound"),                    \
        CR_NUMBER("dual_objective", 0, "1/2 a^T Q a + p^T a, at its least"),                       \
        CR_NUMBER("duality_gap", CR_FIELD_NULL,                                                    \
                  "primal less dual: the objective is at most this from its optimum"),             \
        CR_NUMBER("violation", CR_FIELD_NULL, "of the optimality conditions")
void cri_svm_function_describe_parameters(const cri_svm_function *m, const cr_design *design,
                                          double b, cri_sheet *list);
void cri_svm_function_describe(const cri_svm_function *m, cri_sheet *statistics);
/* Warns where the time limit or the number of steps ended the search, which it notes in the report. */
void cri_svm_function_report(cr_ctx *cx, const char *model, const cri_svm_solution *from,
                             cr_report *report);

#endif
