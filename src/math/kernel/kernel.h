/* kernel.h -- covariance functions from an expression: values, gradients, names.
 *
 *     2.5*rbf(x1, x2; l=0.5, ard) * periodic(t; p=12 fixed) + linear(x1) + white(0.1)
 *
 *   expression  sums of products of factors; a factor is a number, a kernel, or (expression), each
 *               with ^2, ^3, ... behind it.  A number stands for the constant kernel: in a product it
 *               is an amplitude, which is learned unless it is fixed.
 *   kernel      name(columns; parameters).  Without columns it acts on all columns of its kind.
 *               `name(...)@[a,b]` names the columns too.  `variance=2` in a kernel that has no such
 *               parameter is the amplitude: 2*name(...).
 *   parameter   name=value, or name=[v1,v2,...], or the word `ard` (one length-scale a column).  After
 *               the value: `fixed`, bounds [low,high], a prior ~lognormal(mean, sd), ~gamma(shape,
 *               rate), ~invgamma(shape, scale), ~normal(mean, sd), ~halfnormal(sd).
 *   base=       rbf, matern and rq stand over another kernel k: their squared distance is
 *               (k(x,x) - 2 k(x,y) + k(y,y)) / l^2.
 *   normalise   normalise(k) is k(x,y) / sqrt(k(x,x) k(y,y)) of any expression k without `white`.
 *   centre      centre(k) is the kernel of the features of k less their mean over rows that the kernel is
 *               told (cr_kernel_centre_on): k(x,y) - m(x) - m(y) + M, of any expression without `white`.
 *   warp=       log or kumaraswamy: what numbers go through first.
 *   file=       fisher(file="model.cred"): the kernel with the numbers of a saved model.
 *
 * The learned parameters are one vector theta of unconstrained coordinates: the logarithm of a
 * positive one, the logit of one in (0, 1), others as they are.  Matrices are computed tile by
 * tile: beside the result they need some hundred kB a thread, however many kernels are in the
 * expression.  Same bits for any number of threads.  Rasmussen & Williams (2006), ch. 4-5;
 * Schoelkopf & Smola (2002); Shawe-Taylor & Cristianini (2004); Duvenaud (2014), thesis, ch. 2. */
#ifndef CREDENCE_MATH_KERNEL_KERNEL_H
#define CREDENCE_MATH_KERNEL_KERNEL_H

#include "base/context.h"
#include "math/dense/view.h"

typedef struct cr_kernel cr_kernel;

/* --- rows ------------------------------------------------------------------------------------ */

typedef enum cr_kernel_kind { CR_KERNEL_NUMBER, CR_KERNEL_CATEGORY, CR_KERNEL_TEXT } cr_kernel_kind;

/* The texts that codes of categories stand for: with them, kernels of texts read columns of
 * categories. text gives that of a code in category column `column`; it is called from several
 * threads at once. */
typedef struct cr_kernel_names {
    const char *(*text)(const void *user, size_t column, uint32_t code);
    const void *user;
} cr_kernel_names;

/* n rows to compare; borrowed.  Parts that no kernel of the expression reads may be left 0. */
typedef struct cr_kernel_input {
    size_t             rows;
    cr_cmat            numbers; /* [rows x d]                          */
    const uint32_t    *codes;   /* [rows x categories]                 */
    size_t             categories;
    const char *const *texts; /* [rows x text_columns]               */
    size_t             text_columns;
    cr_kernel_names    names; /* of these codes, where the kernel's own do not know them all */
} cr_kernel_input;

/* The rows of a matrix of numbers. */
static inline cr_kernel_input cr_kernel_rows(cr_cmat X)
{
    cr_kernel_input input = { X.rows, X, NULL, 0, NULL, 0, { NULL, NULL } };
    return input;
}

/* What a column name in an expression means. */
typedef struct cr_kernel_column {
    cr_kernel_kind kind;
    size_t         levels; /* of a category, 0 when not known               */
    bool           named;  /* its codes have names: kernels of texts take it */
} cr_kernel_column;

/* The columns that an expression may name.  find gives the index of a column among those of its
 * kind, or -1.  count and name serve "did you mean"; name may be NULL. */
typedef struct cr_kernel_columns {
    ptrdiff_t (*find)(const void *user, const char *name, cr_kernel_column *out_column);
    const char *(*name)(const void *user, size_t i);
    const void *user;
    size_t      count;   /* of names                                                  */
    size_t      numbers; /* columns of numbers: what `ard` without columns stands for */
    const char *(*role)(const void *user, const char *name); /* what else a column is: "the target";
                                                                NULL when nothing.  May be NULL     */
    /* The expression, from cr_alloc, that kernel(file="path") stands for; may be NULL. */
    cr_status (*file)(const void *user, cr_ctx *cx, const char *kernel, const char *path,
                      char **out_text);
} cr_kernel_columns;

/* Writes the features of row i, and the value for row i of a with row j of b. */
typedef void cr_kernel_features_fn(void *user, const cr_kernel_input *rows, size_t i, double *out);
typedef double cr_kernel_value_fn(void *user, const cr_kernel_input *a, size_t i,
                                  const cr_kernel_input *b, size_t j);

/* A kernel made by the caller, for use under its name in expressions: either width > 0 features,
 * whose products it is (a Fisher kernel: the score of a fitted model, times the root of the inverse
 * information), or a function of two rows (a probability product kernel).  It has no parameters and
 * no gradient in the rows; it must be positive semi-definite unless not_psd says so.  Both are
 * called from several threads at once. */
typedef struct cr_kernel_hook {
    const char            *name;
    size_t                 width;    /* number of features; 0: it is a function of pairs */
    cr_kernel_features_fn *features; /* with width > 0 */
    cr_kernel_value_fn    *value;    /* with width = 0 */
    void                  *user;
    bool                   not_psd;
} cr_kernel_hook;

/* --- expressions ----------------------------------------------------------------------------- */

/* Reads an expression.  Without opt_columns, x1, x2, ... name the columns of numbers, c1, ... those
 * of categories and t1, ... those of texts.  Hooks [n_hooks] are copied, what they point to is not.
 * Fails with CR_EARG; the notes of the failure show the line with ^ under the fault. */
CR_API cr_status cr_kernel_parse(cr_ctx *cx, const char *text, const cr_kernel_columns *opt_columns,
                                 const cr_kernel_hook *hooks, size_t n_hooks,
                                 cr_kernel **out_kernel);
/* A kernel of its own with the same parameters. */
CR_API cr_status cr_kernel_copy(cr_ctx *cx, const cr_kernel *k, cr_kernel **out_kernel);
/* Says what the codes of categories are called: kernels of texts then read columns of categories,
 * not the texts of the input.  What names point to is borrowed, also by copies of the kernel. */
CR_API void cr_kernel_set_names(cr_kernel *k, cr_kernel_names names);
/* true when the kernel holds centre(...): it has values once it is told rows. */
CR_API bool cr_kernel_needs_rows(const cr_kernel *k);
/* Says over which rows centre(...) takes its means, each by its weight (NULL: all 1); a kernel
 * without it is left as it is.  Rows are copied, but for what their names point to; copies of the
 * kernel have them too.  With n of them, a matrix of N x M values of such a kernel takes (N + M) n
 * more, and n^2.  Fails as cr_kernel_check does, with CR_EARG when no weight is above 0, with
 * CR_ENOMEM; the kernel is then as it was. */
CR_API cr_status cr_kernel_centre_on(cr_ctx *cx, cr_kernel *k, const cr_kernel_input *rows,
                                     const double *opt_weights);
/* Frees a kernel; NULL is allowed. */
CR_API void cr_kernel_free(cr_ctx *cx, cr_kernel *k);
/* Writes the expression in canonical form, with its present parameters in full precision; reading
 * it gives the same kernel.  Returns the length it needs, like snprintf. */
CR_API size_t cr_kernel_print(const cr_kernel *k, char *out, size_t size);
/* How many terms the expression is a sum of; 1 for one that is no sum. */
CR_API size_t cr_kernel_terms(const cr_kernel *k);
/* The i-th term as a kernel of its own, with the same values.  Fails with CR_EARG beyond the
 * last. */
CR_API cr_status cr_kernel_term(cr_ctx *cx, const cr_kernel *k, size_t i, cr_kernel **out_kernel);
/* true when both have the same form, columns, parameters, bounds and priors (not: rows of
 * centre). */
CR_API bool cr_kernel_equal(const cr_kernel *a, const cr_kernel *b);
/* true when every Gram matrix is positive semi-definite; false for sigmoid and what contains it. */
CR_API bool cr_kernel_is_psd(const cr_kernel *k);
/* true when k(x, y) turns on rows of this kind. */
CR_API bool cr_kernel_reads(const cr_kernel *k, cr_kernel_kind kind);
/* Fails with CR_EARG or CR_EDATA, naming row and column, when the rows do not suit the kernel: too
 * few columns, a number that is not finite, one outside its domain (chi2 and others need x >= 0), a
 * level beyond the last. */
CR_API cr_status cr_kernel_check(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *rows);

/* --- parameters ------------------------------------------------------------------------------ */

typedef enum cr_kernel_prior {
    CR_PRIOR_NONE,
    CR_PRIOR_LOGNORMAL,
    CR_PRIOR_GAMMA,
    CR_PRIOR_INVGAMMA,
    CR_PRIOR_NORMAL,
    CR_PRIOR_HALFNORMAL
} cr_kernel_prior;

typedef struct cr_kernel_parameter {
    char            name[96];     /* "rbf.l[2]", "2.rbf.l": unique in the expression        */
    double          value;        /* natural, not theta                                     */
    double          lower, upper; /* bounds, natural                                        */
    cr_kernel_prior prior;
    double          prior_a, prior_b;
    bool            fixed;
    bool            given; /* part of the form: it cannot be learned                 */
    size_t          theta; /* its place in theta, SIZE_MAX when fixed                */
    const char     *help;
} cr_kernel_parameter;

/* The number of parameters, fixed ones too. */
CR_API size_t cr_kernel_parameters(const cr_kernel *k);
/* The i-th parameter, in the order of the text. */
CR_API cr_kernel_parameter cr_kernel_parameter_at(const cr_kernel *k, size_t i);
/* Sets the natural value of one parameter, also of a fixed one.  Fails with CR_EARG when it is out
 * of its range. */
CR_API cr_status cr_kernel_set_value(cr_ctx *cx, cr_kernel *k, size_t i, double value);
/* Fixes a parameter at its value, or frees it.  Changes the size of theta. */
CR_API void cr_kernel_fix(cr_kernel *k, size_t i, bool fixed);

/* The length of theta: the parameters that are not fixed. */
CR_API size_t cr_kernel_theta_size(const cr_kernel *k);
/* theta as it is. */
CR_API void cr_kernel_theta(const cr_kernel *k, double *out_theta);
/* Sets theta; values beyond the bounds are moved onto them.  Fails with CR_EARG, nothing changed,
 * when one is not finite. */
CR_API cr_status cr_kernel_set_theta(cr_ctx *cx, cr_kernel *k, const double *theta);
/* The bounds of theta; -INFINITY and INFINITY where there are none. */
CR_API void cr_kernel_theta_bounds(const cr_kernel *k, double *out_lower, double *out_upper);
/* The sum of the log prior densities of the values, 0 without priors; adds its derivatives by theta
 * to opt_gradient.  with_jacobian: as a density of theta rather than of the values (for
 * sampling). */
CR_API double cr_kernel_log_prior(const cr_kernel *k, bool with_jacobian, double *opt_gradient);

/* --- values ---------------------------------------------------------------------------------- */

typedef enum cr_kernel_fill { CR_FILL_BOTH, CR_FILL_LOWER } cr_kernel_fill;

/* out [n x n]: k(x_i, x_j), both triangles or the lower only.  O(n^2 d / 2).  `white` adds to the
 * diagonal.  Fails as cr_kernel_check does, with CR_EARG on a wrong shape, CR_EINTERRUPTED,
 * CR_ENOMEM; out is then overwritten or as it was. */
CR_API cr_status cr_kernel_gram(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                                cr_kernel_fill fill, cr_mat out);
/* out [n x m]: k(x_i, z_j), `white` nowhere.  O(n m d). */
CR_API cr_status cr_kernel_cross(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                                 const cr_kernel_input *Z, cr_mat out);
/* out [n]: k(x_i, x_i), `white` too when with_white.  O(n d). */
CR_API cr_status cr_kernel_diagonal(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                                    bool with_white, double *out);

/* --- gradients ------------------------------------------------------------------------------- */

/* out [n x n] = dK / dtheta_j of the Gram matrix, both triangles. */
CR_API cr_status cr_kernel_gram_derivative(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                                           size_t j, cr_mat out);
/* out_gradient[j] = sum_ab W_ab dK_ab / dtheta_j for all j in one pass, W [n x n] symmetric, of
 * which the lower triangle is read.  One product with the n x d data instead of d passes over n^2
 * numbers.  This is the gradient of the evidence with W = (alpha alpha^T - K^-1) / 2. */
CR_API cr_status cr_kernel_gram_gradient(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                                         cr_cmat W, double *out_gradient);
/* The same of the cross matrix, W [n x m]: by theta, and by the rows of Z: out_dZ [m x d] (either
 * may be absent: NULL, or a matrix with a = NULL). */
CR_API cr_status cr_kernel_cross_gradient(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                                          const cr_kernel_input *Z, cr_cmat W, double *opt_gradient,
                                          cr_mat opt_dZ);
/* The same of the Gram matrix by the rows: out_dX [n x d] = d (sum_ab W_ab K_ab) / dX, W symmetric,
 * both triangles read. */
CR_API cr_status cr_kernel_gram_input_gradient(cr_ctx *cx, const cr_kernel *k,
                                               const cr_kernel_input *X, cr_cmat W, cr_mat out_dX);
/* The same of the diagonal: sum_i w_i k(x_i, x_i) by theta (`white` too when with_white) and by
 * X. */
CR_API cr_status cr_kernel_diagonal_gradient(cr_ctx *cx, const cr_kernel *k,
                                             const cr_kernel_input *X, const double *w,
                                             bool with_white, double *opt_gradient, cr_mat opt_dX);

/* --- the kernels there are ------------------------------------------------------------------- */

typedef struct cr_kernel_class cr_kernel_class;

/* One parameter in the table of a kernel. */
typedef struct cr_kernel_spec {
    const char *name, *alias; /* alias: another name, or NULL                        */
    const char *fallback;     /* its value when not given                            */
    const char *range;        /* ">0", "0<..<1", ">=1", "" ...                       */
    const char *help;
    bool        learned; /* part of theta unless fixed                          */
} cr_kernel_spec;

/* The number of kernels. */
CR_API size_t cr_kernel_count(void);
/* The i-th kernel in the order of the alphabet; NULL beyond the last. */
CR_API const cr_kernel_class *cr_kernel_at(size_t i);
/* The kernel of this name or alias; NULL, with a failure that tells the nearest, if there is
 * none. */
CR_API const cr_kernel_class *cr_kernel_find(cr_ctx *cx, const char *name);
/* Its name in expressions. */
CR_API const char *cr_kernel_name(const cr_kernel_class *c);
/* Other names, with blanks between; "" for none. */
CR_API const char *cr_kernel_aliases(const cr_kernel_class *c);
/* One line about it. */
CR_API const char *cr_kernel_summary(const cr_kernel_class *c);
/* The kernel in plain text, one line or several. */
CR_API const char *cr_kernel_formula(const cr_kernel_class *c);
/* The book or paper it is from. */
CR_API const char *cr_kernel_reference(const cr_kernel_class *c);
/* An expression with it. */
CR_API const char *cr_kernel_example(const cr_kernel_class *c);
/* "numbers", "categories", "texts", "a kernel" or "nothing": what it acts on. */
CR_API const char *cr_kernel_acts_on(const cr_kernel_class *c);
/* The i-th parameter; NULL beyond the last. */
CR_API const cr_kernel_spec *cr_kernel_spec_at(const cr_kernel_class *c, size_t i);

#endif
