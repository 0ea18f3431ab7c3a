/* basis.h -- one number becomes several: the functions b_0(x) .. b_{n-1}(x) of a basis.
 *
 *     rbf        exp(-(x - c_k)^2 / (2 s_k^2)), bumps at the centres c_k; all fade outside
 *     bspline    B-splines of a degree on the knots t_0 < ... < t_m, the ends repeated; they are
 * not negative and sum to one; beyond t_0 and t_m each goes on along its tangent there (degree 0:
 * stays as it is) natural    natural cubic splines, b_k(t_j) = [j = k], linear beyond t_0 and t_m;
 * sum to one piecewise  the indicator of the cell [t_{k-1}, t_k); the outer cells have no end hinge
 * x, and max(0, x - t_k) fourier    sin(2 pi j x / T), cos(2 pi j x / T) for j = 1, 2, ...
 *
 * A basis is learned from a column (basis_learn.c) as a specification says (basis_text.c), and
 * never changes after that.  De Boor (1978), "A practical guide to splines", ch. IV and X; Hastie,
 * Tibshirani & Friedman (2009), sec. 5.2.  (Internal header.) */
#ifndef CREDENCE_DATA_DESIGN_BASIS_H
#define CREDENCE_DATA_DESIGN_BASIS_H

#include "data/table/table.h"
#include "base/scratch.h"

typedef enum cri_basis_kind {
    CRI_BASIS_NONE, /* the number itself      */
    CRI_BASIS_POLY, /* only in specifications */
    CRI_BASIS_RBF,
    CRI_BASIS_BSPLINE,
    CRI_BASIS_NATURAL,
    CRI_BASIS_PIECEWISE,
    CRI_BASIS_HINGE,
    CRI_BASIS_FOURIER,
    CRI_BASIS_KINDS
} cri_basis_kind;

enum {
    CRI_MOST_POWERS = 32,
    CRI_MOST_FUNCTIONS = 1000, /* of one basis */
    CRI_MOST_DEGREE = 9,
    CRI_BASIS_NAME_SIZE = 32
};

typedef struct cri_basis {
    cri_basis_kind kind;
    size_t         degree; /* bspline                                                         */
    size_t         n;      /* functions                                                       */
    double         period; /* fourier                                                         */
    size_t         n_knots;
    double *knots;  /* [n_knots] increasing: both ends and the inner ones of bspline and natural;
                       the inner ones of piecewise and hinge; the centres of rbf        */
    double *widths; /* [n_knots] of rbf, else NULL                                     */
    double *curve;  /* [n x n] of natural: row j = second derivatives at t_j; else NULL */
} cri_basis;

/* "bspline", ... */
const char *cri_basis_kind_name(cri_basis_kind kind);

/* From kind, degree, period, knots and widths to a basis that can be evaluated: checks them, counts
 * the functions, makes `curve`.  Fails with CR_EDATA and what is wrong; the caller frees. */
cr_status cri_basis_prepare(cr_ctx *cx, cri_basis *basis);
/* A copy of kind, degree, period, knots and, of rbf, widths; to be prepared. */
cr_status cri_basis_copy(cr_ctx *cx, const cri_basis *from, cri_basis *out);
/* Frees the arrays and leaves a basis of kind NONE. */
void cri_basis_free(cr_ctx *cx, cri_basis *basis);

/* out[k] = b_k(x), k = 0 .. n-1; all NaN for NaN.  O(n).  Pure. */
void cri_basis_eval(const cri_basis *basis, double x, double *out);
/* true when the functions sum to one everywhere, so that one is superfluous beside an intercept. */
bool cri_basis_sums_to_one(const cri_basis *basis);
/* What function k is called behind its column: "[bspline 3]", "[sin 2]", or "" for x itself. */
const char *cri_basis_function_name(const cri_basis *basis, size_t k,
                                    char out[CRI_BASIS_NAME_SIZE]);

/* --- specifications (basis_text.c) ----------------------------------------------------------- */

/* What --basis says of a column. */
typedef struct cri_basis_spec {
    const char    *text; /* as it was written */
    cri_basis_kind kind;
    size_t         count; /* functions, cells, powers or pairs of waves; 0 = by the knots */
    size_t         degree;
    double         width; /* of rbf; NaN = by the distance of the centres */
    double         period;
    const double  *knots; /* [n_knots] as given; none = at quantiles */
    size_t         n_knots;
    double         range[2]; /* ends of bspline and natural; NaN = those of the data */
} cri_basis_spec;

/* Reads one specification, "bspline:8:2" or "natural:knots=1;2;5", its arrays in the arena. */
cr_status cri_basis_parse(cr_scratch *s, const char *text, cri_basis_spec *out);
/* What becomes of each column of the table by a list of specifications, "SPEC" for all chosen
 * columns of numbers and "COLUMN=SPEC" for some: out [columns], NULL where a column stays as it is.
 */
cr_status cri_basis_choose(cr_scratch *s, const cr_table *table, const bool *chosen,
                           const char *text, const cri_basis_spec **out);

/* --- learning (basis_learn.c) ---------------------------------------------------------------- */

/* The basis for a column: knots at weighted quantiles (a row of weight 2 is two rows) unless they
 * are given.  A column with fewer different values than functions gets fewer, with a warning; one
 * with a single value is CR_EDATA.  O(rows log rows). */
cr_status cri_basis_learn(cr_ctx *cx, const cr_table *table, const cr_column *column,
                          const cr_column *opt_weights, const cri_basis_spec *spec,
                          cri_basis *out_basis);

#endif
