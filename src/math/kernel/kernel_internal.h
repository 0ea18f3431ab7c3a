/* kernel_internal.h -- how an expression is kept and evaluated.  (Internal header.)
 *
 * A kernel is a list of nodes, children before their parents, the root last.  Work on rows goes in
 * three steps:
 *   prepare   each leaf maps each set of rows to features F [rows x width] once, O(n);
 *   forward   on one tile of (row, column) pairs, leaves go from features to values by way of
 *             t = |F_i - F_j|^2 or F_i . F_j (their link k = f(t)), and parents combine tiles;
 *   backward  adjoint tiles go from the root to the leaves (reverse differentiation), where they are
 *             contracted with features by matrix products.
 * Pairs (i, i) are worked on as tiles too, of one column: the diagonal, where t = 0. */
#ifndef CREDENCE_MATH_KERNEL_KERNEL_INTERNAL_H
#define CREDENCE_MATH_KERNEL_KERNEL_INTERNAL_H

#include "array.h"
#include "kernel.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <stdatomic.h>

enum {
    CRI_TILE = 64, /* rows and columns of a tile                       */
    CRI_AREA = CRI_TILE * CRI_TILE,
    CRI_MOST_SPECS = 8, /* parameters in the table of one kernel            */
    CRI_MOST_NODES = 256,
    CRI_MOST_DEPTH = 64,
    CRI_MOST_CENTRES = 3,     /* centre within centre: each costs three times more */
    CRI_MOST_VALUES = 100000, /* values of one parameter                          */
    CRI_NONE = -1
};

typedef enum cri_family {
    CRI_CONSTANT, /* the same for all pairs                                       */
    CRI_WHITE,    /* the same for pairs of one row with itself, else 0            */
    CRI_DISTANCE, /* k = f(|F_i - F_j|^2), f(0) = 1                               */
    CRI_DOT,      /* k = f(F_i . F_j)                                             */
    CRI_PAIRS     /* computed pair by pair                                        */
} cri_family;

typedef enum cri_role {
    CRI_SETTING, /* part of the form: a whole number, a choice                    */
    CRI_LENGTH,  /* divides the features; one for all columns or one for each     */
    CRI_MAP,     /* in the map to features; one for all columns or one for each   */
    CRI_WARP,    /* in the warping of the inputs                                  */
    CRI_LINK     /* elsewhere                                                     */
} cri_role;

typedef enum cri_coordinate { CRI_REAL, CRI_LOG, CRI_LOGIT } cri_coordinate;

typedef struct cri_spec {
    cr_kernel_spec shown;
    cri_role       role;
    cri_coordinate coordinate;
    double         fallback, least, most; /* of settings: whole numbers unless `real` */
    bool           real;
} cri_spec;

typedef struct cri_text_kernel cri_text_kernel; /* texts.h */
typedef struct cri_job         cri_job;
typedef struct cri_side        cri_side;
typedef struct cri_node        cri_node;

/* A block of pairs: rows [i0, i0 + ni) with columns [j0, j0 + nj), or, when diagonal, rows
 * [i0, i0 + ni) with themselves (nj = 1).  Entry (i, j) is at i * nj + j. */
typedef struct cri_tile {
    size_t i0, ni, j0, nj;
    bool   diagonal;
} cri_tile;

struct cr_kernel_class {
    const char     *name, *aliases; /* aliases: with blanks between, NULL: none */
    const char     *summary, *formula, *reference, *example;
    const cri_spec *specs; /* up to one without a name */
    cri_family      family;
    int             kind; /* cr_kernel_kind, or CRI_NONE                     */
    bool            not_psd, one_column, base, warps, not_negative, per_column;
    bool            wraps; /* stands over the expression in its parentheses        */

    /* How many features for n columns; NULL: n, the columns themselves.  map writes them; push
     * writes what they change by when x changes by dx; tangent, when element e of parameter s
     * grows. */
    size_t (*width)(const cri_node *node, size_t n);
    void (*map)(const cr_kernel *k, const cri_node *node, const double *x, size_t n, double *F);
    void (*push)(const cr_kernel *k, const cri_node *node, const double *x, const double *dx,
                 size_t n, double *T);
    void (*tangent)(const cr_kernel *k, const cri_node *node, size_t s, size_t e, const double *x,
                    size_t n, double *T);

    /* k = f(t) for n values (out may be t), f'(t), and df/dp of parameter s. */
    void (*link)(const cr_kernel *k, const cri_node *node, const double *t, size_t n, double *out);
    void (*slope)(const cr_kernel *k, const cri_node *node, const double *t, const double *v,
                  size_t n, double *out);
    void (*partial)(const cr_kernel *k, const cri_node *node, size_t s, const double *t,
                    const double *v, size_t n, double *out);

    /* CRI_PAIRS: the same pair by pair; dx: derivative by the second row, sum_i A_ij added to
     * FA. */
    void (*pairs)(const cri_job *job, size_t node, cri_tile tile, double *out);
    void (*pairs_partial)(const cri_job *job, size_t node, size_t s, size_t e, cri_tile tile,
                          const double *v, double *out);
    void (*pairs_dx)(const cri_job *job, size_t node, cri_tile tile, const double *v,
                     const double *adjoint, double *FA);
    /* Makes ready a side for pairs, then both for matrices; the memory is the arena's. */
    cr_status (*prepare)(cr_scratch *s, const cri_job *job, size_t node, cri_side *side);
    cr_status (*join)(cr_scratch *s, const cri_job *job, size_t node);
    const cri_text_kernel *text; /* of kernels of texts */
};

typedef enum cri_op { CRI_LEAF, CRI_OVER, CRI_SUM, CRI_PRODUCT, CRI_POWER } cri_op;
typedef enum cri_warp { CRI_PLAIN, CRI_WARP_LOG, CRI_WARP_KUMARASWAMY } cri_warp;

typedef struct cri_column {
    size_t index;
    char  *name;
} cri_column;

struct cri_node {
    cri_op op;
    const cr_kernel_class *class; /* of leaves, and of what stands over a base; NULL for a hook */
    size_t   hook;                /* of k->hooks when class is NULL                             */
    size_t   first, next;         /* first child, next sibling; SIZE_MAX: none            */
    size_t   power;
    cri_warp warp;
    size_t   column_begin, n_columns; /* of k->columns; none: all of the kind     */
    size_t   param[CRI_MOST_SPECS], n_values[CRI_MOST_SPECS]; /* of k->params     */
    double   setting[CRI_MOST_SPECS];
};

typedef struct cri_param {
    double          value, lower, upper, prior_a, prior_b;
    cr_kernel_prior prior;
    bool            fixed;
    const cri_spec *spec;
    size_t          node, element;
} cri_param;

typedef struct cri_text_table cri_text_table;
typedef struct cri_reference  cri_reference;

struct cr_kernel {
    cri_node       *nodes;
    cri_param      *params;
    cri_column     *columns;
    cr_kernel_hook *hooks; /* with names of their own */
    size_t          n_nodes, n_params, n_columns, n_hooks;
    size_t          begin; /* nodes before it are passed over: of a part of a kernel */
    size_t          node_capacity, param_capacity, column_capacity;
    cr_kernel_names names;  /* of the codes of categories; text NULL: none */
    cri_text_table *tables; /* [n_tables] of nodes of texts, while a model is learned; or NULL */
    size_t          n_tables;
    bool            borrows_tables;
    cri_reference  *reference; /* the rows that centre takes its means over, or NULL */
};

/* Values between all texts of a column, by their codes: of the first nodes of a kernel. */
struct cri_text_table {
    size_t  n;      /* codes; 0: no table */
    double *values; /* [n x n]            */
};

/* The rows that centre(...) takes its means over: copies, but for what the codes are called. */
struct cri_reference {
    cr_kernel_input in;
    double         *numbers; /* [rows x d]                                              */
    uint32_t       *codes;   /* [rows x categories]                                     */
    char          **texts;   /* [rows x text_columns]                                   */
    double         *p;       /* [rows] weights, of sum 1                                */
    size_t          n_nodes, n_params;
    double        **mean;  /* [n_nodes][rows] of centre: m(r_i); NULL until settled   */
    double         *total; /* [n_nodes] sum_i p_i m(r_i)                              */
    double        **slope; /* [n_nodes][n_params] its derivatives, or NULL            */
};

/* Computes once the means that centre(...) needs at the present values of the parameters; a change
 * of these forgets them.  Without it, each matrix computes them again.  O(n^2) for n rows. */
cr_status cri_kernel_settle(cr_ctx *cx, cr_kernel *k);
/* A copy of the kernel that is settled, with_slopes: for gradients too; NULL for a kernel without
 * centre. */
cr_status cri_kernel_settled(cr_ctx *cx, const cr_kernel *k, bool with_slopes,
                             cr_kernel **out_copy);
/* Adds dM / dp of the centre at a node to natural [n_params]. */
cr_status cri_centre_slopes(cr_ctx *cx, const cr_kernel *k, size_t node, double *natural);
/* Forgets them. */
void cri_kernel_unsettle(cr_ctx *cx, cr_kernel *k);
/* A copy of the rows and of what is settled; of NULL: NULL. */
cr_status cri_reference_copy(cr_ctx *cx, const cri_reference *from, cri_reference **out);
/* Frees it; NULL is allowed. */
void cri_reference_free(cr_ctx *cx, cri_reference *r);
/* Where in it these rows stand, one after the other; SIZE_MAX when they do not. */
size_t cri_reference_find(const cri_reference *r, const cr_kernel_input *rows);

/* Computes once the values of a node of texts between the texts with codes 0 .. n-1; copies of the
 * kernel borrow them.  The values of its parameters must not change until they are dropped. */
cr_status cri_kernel_tabulate(cr_ctx *cx, cr_kernel *k, size_t node, size_t n);
/* Drops all such tables. */
void cri_kernel_drop_tables(cr_ctx *cx, cr_kernel *k);

/* An empty kernel with copies of the hooks. */
cr_status cri_kernel_new(cr_ctx *cx, const cr_kernel_hook *hooks, size_t n_hooks, cr_kernel **out);

/* --- parameters of a node -------------------------------------------------------------------- */

/* The value of element e of parameter s, where one value may serve all elements. */
static inline double cri_value(const cr_kernel *k, const cri_node *node, size_t s, size_t e)
{
    return k->params[node->param[s] + (node->n_values[s] > 1 ? e : 0)].value;
}
/* The place of the parameter with this role in the table; SIZE_MAX if there is none. */
size_t cri_spec_of_role(const cr_kernel_class *c, cri_role role);
/* The natural value from theta, theta from it, and d value / d theta. */
double cri_to_theta(const cri_param *p, double value);
double cri_from_theta(const cri_param *p, double theta);
double cri_chain(const cri_param *p);
/* true when the value may be taken by a parameter of this kind. */
bool cri_in_range(const cri_spec *spec, double value);

/* Names of priors, by number; NULL beyond. */
const char *cri_prior_name(size_t prior);
/* How many numbers it takes. */
size_t cri_prior_size(cr_kernel_prior prior);
/* Its median or so, where a parameter without a value begins. */
double cri_prior_centre(const cri_param *p);

/* Rows of the table of a kernel: a parameter that is learned unless it is fixed, and a setting, whole
 * unless `real`, within bounds. */
#define CRI_LEARNED(name, alias, text, range, help, role, coordinate, value)                       \
    {                                                                                              \
        { name, alias, text, range, help, true }, role, coordinate, value, 0, 0, false             \
    }
#define CRI_GIVEN(name, alias, text, range, help, value, least, most, real)                        \
    {                                                                                              \
        { name, alias, text, range, help, false }, CRI_SETTING, CRI_REAL, value, least, most, real \
    }
#define CRI_LAST_SPEC CRI_GIVEN(NULL, NULL, NULL, NULL, NULL, 0, 0, 0, false)
/* The parameters of warpings stand last in the table of each kernel that warps. */
#define CRI_WARP_SPEC(name)                                                                        \
    CRI_LEARNED(name, NULL, "1", ">0", "kumaraswamy warping x -> 1 - (1 - x^a)^b", CRI_WARP,       \
                CRI_LOG, 1)
#define CRI_WARP_SPECS CRI_WARP_SPEC("a"), CRI_WARP_SPEC("b")

/* f(t) = t, of kernels that are a product as it is (dot.c). */
void cri_same_link(const cr_kernel *k, const cri_node *node, const double *t, size_t n,
                   double *out);
void cri_same_slope(const cr_kernel *k, const cri_node *node, const double *t, const double *v,
                    size_t n, double *out);

/* --- terms (terms.c) ------------------------------------------------------------------------- */

/* true when the node is 0 between two rows, whatever they are: white, and products with it. */
bool cri_kernel_is_noise(const cr_kernel *k, size_t node);
/* numbers[j] := true for the columns of numbers, of d, that the node looks at; categories[j] for
 * those of codes. */
void cri_kernel_columns_read(const cr_kernel *k, size_t node, size_t d, bool *numbers, size_t codes,
                             bool *categories);
/* For people: values of three digits, no bounds, no priors. */
void cri_kernel_shorten(cr_kernel *k);

/* --- held rows (held.c) ---------------------------------------------------------------------- */

/* Rows made ready once for many matrices of which they are the columns; kernel and rows are borrowed. */
typedef struct cri_kernel_held cri_kernel_held;
cr_status cri_kernel_hold(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *rows,
                          cri_kernel_held **out);
void      cri_kernel_release(cri_kernel_held *opt_held);
/* cr_kernel_cross(X, rows) to rounding. */
cr_status cri_kernel_cross_held(cr_ctx *cx, const cri_kernel_held *held, const cr_kernel_input *X,
                                cr_mat out);
/* All values of a job: out [a x b] (gram.c). */
cr_status cri_job_fill(cr_ctx *cx, const cri_job *job, cr_mat out);

/* --- evaluation ------------------------------------------------------------------------------ */

/* What is made ready of one set of rows for one node. */
typedef struct cri_prepared {
    size_t   width;
    double  *F;        /* [rows x width] features                                     */
    double  *columns;  /* [width x rows] the same turned over, of narrow ones         */
    double  *norm;     /* [rows] |F_i|^2                                              */
    double **tangent;  /* [params of the node] dF / dp, of maps and warpings, or NULL */
    double  *diagonal; /* [rows] k(x, x) of the base; of centre, its mean m(x)        */
    void    *extra;    /* what prepare made                                           */
} cri_prepared;

struct cri_side {
    const cr_kernel_input *in;
    cri_prepared          *node; /* [n_nodes] */
};

/* Features of row i. */
static inline const double *cri_feature_row(const cri_side *side, size_t node, size_t i)
{
    return side->node[node].F + i * side->node[node].width;
}

static inline double cri_whole_power(double x, size_t n)
{
    double out = 1;
    for (; n > 0; n >>= 1, x *= x)
        if (n & 1) out *= x;
    return out;
}

static inline double cri_sum(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

struct cri_job {
    cr_ctx          *cx;
    const cr_kernel *k;
    cri_side         a, b; /* the rows and the columns of the matrix; the same for a Gram matrix */
    bool             same, white, gradients;
    bool         held;  /* the columns, and what is taken off features, are those of another job */
    double     **shift; /* [n_nodes][width] taken off the features of distances */
    double      *total; /* [n_nodes] of centre: the mean of m                   */
    atomic_bool *no_memory; /* a tile could not get a workspace                     */
};

/* Checks the rows; makes features and diagonals of both sides; Z NULL for a Gram matrix.  The arena
 * keeps them. */
cr_status cri_job_begin(cr_scratch *s, const cr_kernel *k, const cr_kernel_input *X,
                        const cr_kernel_input *opt_Z, bool gradients, cri_job *out_job);
/* The same with the columns of a job that outlives this one, its `a`; not for kernels with centre(...). */
cr_status cri_job_begin_held(cr_scratch *s, const cri_job *held, const cr_kernel_input *X,
                             cri_job *out_job);
/* Makes ready what whole matrices need beyond diagonals. */
cr_status cri_job_join(cr_scratch *s, const cri_job *job);
/* The columns of row i that the node acts on, as numbers, warped: x [n].  Returns n. */
size_t cri_gather(const cr_kernel *k, const cri_node *node, const cr_kernel_input *in, size_t i,
                  double *x);
/* true when kernels of texts read the codes of categories. */
bool cri_reads_codes(const cr_kernel *k, const cr_kernel_input *in);
/* The text of row i that the node acts on. */
const char *cri_text_of(const cr_kernel *k, const cri_node *node, const cr_kernel_input *in,
                        size_t i);
/* The number of columns that it acts on. */
size_t cri_active(const cri_node *node, const cr_kernel_input *in);
/* The index of its c-th column. */
static inline size_t cri_column_at(const cr_kernel *k, const cri_node *node, size_t c)
{
    return node->n_columns ? k->columns[node->column_begin + c].index : c;
}
/* Derivatives by the features of row i to derivatives by the row itself, added to dx [d]. */
void cri_pull_back(const cr_kernel *k, const cri_node *node, const cr_kernel_input *in, size_t i,
                   size_t width, const double *FA, double *workspace, double *dx);
/* What cri_pull_back wants as workspace, in doubles. */
size_t cri_pull_back_workspace_size(size_t columns, size_t width);

/* Room for one tile: values, t and adjoints of all nodes, and of products with features. */
typedef struct cri_workspace {
    double **value, **t, **adjoint; /* [n_nodes][CRI_AREA]         */
    double  *work[2];               /* [CRI_AREA]                  */
    double  *products;              /* [2 x CRI_TILE x most width] */
    bool     backward;
} cri_workspace;

/* Quietly: false when there is no memory. */
bool   cri_workspace_new(const cri_job *job, bool backward, cri_workspace *out_workspace);
void   cri_workspace_free(const cri_job *job, cri_workspace *workspace);
size_t cri_workspace_size(const cri_job *job, bool backward);

/* Where derivatives are gathered.  Any of them may be NULL. */
typedef struct cri_gradient {
    double  *natural;    /* [n_params] by the natural values                            */
    double **features_b; /* [n_nodes][rows of b x width] by the features of the columns */
    double **diagonal_a; /* [n_nodes][rows of a] by the diagonal of what a distance stands over;
                          * of centre by -m(x): of a diagonal both of m(x) + m(x), in diagonal_b */
    double **diagonal_b;
} cri_gradient;

/* Values of all nodes on the tile; that of the root is value[n_nodes - 1]. */
void cri_forward(const cri_job *job, cri_tile tile, cri_workspace *workspace);
/* From the adjoint of the node `last`, in workspace->adjoint[last], to derivatives; forward went
 * before with the same tile. */
void cri_backward(const cri_job *job, size_t last, cri_tile tile, cri_workspace *workspace,
                  cri_gradient *g);
/* What derivatives forwards need of whole sides: d diagonal / dp, and d total / dp. */
typedef struct cri_tangents {
    double **a, **b; /* [n_nodes][rows], of what stands over a base that the parameter is in */
    double  *total;  /* [n_nodes] of centre                                                  */
} cri_tangents;

/* Makes them, for jobs with gradients. */
cr_status cri_tangents_new(cr_scratch *s, const cri_job *job, size_t param, cri_tangents *out);
/* workspace->adjoint[node] := d value[node] / d (natural parameter `param`), of all nodes that it
 * is in. */
void cri_tangent(const cri_job *job, size_t param, const cri_tangents *tangents, cri_tile tile,
                 cri_workspace *workspace);
/* true when the parameter is in the node or below it. */
bool cri_depends(const cr_kernel *k, size_t node, size_t param);

/* Of one leaf: values, their derivative by one parameter, and the contraction with an adjoint. */
void cri_leaf_forward(const cri_job *job, size_t node, cri_tile tile, double *t, double *out);
void cri_leaf_partial(const cri_job *job, size_t node, size_t s, size_t e, cri_tile tile,
                      const double *t, const double *value, double *out);
void cri_leaf_backward(const cri_job *job, size_t node, cri_tile tile, const double *adjoint,
                       cri_workspace *workspace, cri_gradient *g);
/* Of normalise(...): values, the adjoint of what it stands over, and one derivative forwards
 * (normalise.c). */
void cri_normalise_forward(const cri_job *job, size_t node, cri_tile tile,
                           cri_workspace *workspace);
void cri_normalise_backward(const cri_job *job, size_t node, cri_tile tile, const double *adjoint,
                            cri_workspace *workspace, cri_gradient *g);
void cri_normalise_tangent(const cri_job *job, size_t node, const cri_tangents *tangents,
                           cri_tile tile, cri_workspace *workspace);
/* The same of centre(...) (centre.c). */
void cri_centre_forward(const cri_job *job, size_t node, cri_tile tile, cri_workspace *workspace);
void cri_centre_backward(const cri_job *job, size_t node, cri_tile tile, const double *adjoint,
                         cri_workspace *workspace, cri_gradient *g);
void cri_centre_tangent(const cri_job *job, size_t node, const cri_tangents *tangents,
                        cri_tile tile, cri_workspace *workspace);
/* Its means of both sides and their total, into the job. */
cr_status cri_centre_means(cr_scratch *s, cri_job *job, size_t node);
/* Their derivatives by a parameter. */
cr_status cri_centre_mean_tangents(cr_scratch *s, const cri_job *job, size_t node, size_t param,
                                   cri_tangents *out);
/* What stands below a node, as a kernel that borrows all it has. */
cr_kernel cri_kernel_below(const cr_kernel *k, size_t node);
/* The first of the nodes that the node consists of; they go up to itself. */
size_t cri_first_below(const cr_kernel *k, size_t node);
/* true for centre(...). */
bool cri_is_centre(const cri_node *node);
/* The family of a leaf, also of one by a hook. */
cri_family cri_family_of(const cr_kernel *k, const cri_node *node);

/* --- classes --------------------------------------------------------------------------------- */

/* All of them, in alphabetical order; X(stem) stands for cri_kernel_<stem>. */
/* clang-format off */
#define CRI_KERNELS(X) \
    X(bhattacharyya) X(brownian) X(category) X(centre) X(chi2) X(constant) X(cosine) \
    X(exp_jensen_shannon) X(fisher) X(hamming) X(intersection) X(jaccard) X(jensen_shannon) \
    X(linear) X(loglinear) X(matern) X(mismatch) X(normalise) X(periodic) X(polynomial) X(product) X(rbf) \
    X(rq) X(set) X(sigmoid) X(spectrum) X(subsequence) X(weighted_degree) X(white)
/* clang-format on */
#define CRI_DECLARE(stem) extern const cr_kernel_class cri_kernel_##stem;
CRI_KERNELS(CRI_DECLARE)
#undef CRI_DECLARE

/* Of a node of loglinear: the first of the parameters that are the centres, or the units, of its columns. */
size_t cri_loglinear_centre(const cri_node *node);
size_t cri_loglinear_scale(const cri_node *node);

/* Looks a kernel up without making a failure. */
const cr_kernel_class *cri_kernel_lookup(const char *name, size_t length);
/* Adds to the failure just made that no kernel has this name: the nearest of names, aliases and
 * hooks of opt_k. */
cr_status cri_kernel_fail_nearest(cr_ctx *cx, const char *name, const cr_kernel *opt_k);

/* A number that does not suit a kernel. */
typedef struct cri_kernel_fault {
    size_t      row, column; /* of the input, from 0 */
    double      value;
    const char *kernel, *needs; /* "chi2", "at least 0" */
} cri_kernel_fault;

/* The first of them; false where all suit.  O(rows x columns). */
bool   cri_kernel_find_fault(const cr_kernel *k, const cr_kernel_input *rows,
                             cri_kernel_fault *out_fault);
size_t cri_spec_count(const cr_kernel_class *c);

#endif
