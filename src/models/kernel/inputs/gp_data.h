/* gp_data.h -- the rows of a Gaussian process: distinct inputs, each with what was seen there.
 * Rows of equal inputs are merged without loss.  A row i of weight w_i counts as w_i rows, each
 * with noise of variance s v_i (s the noise, v_i its share, 1 unless a column says otherwise).  For
 * a group g of rows with the same input, with P = sum_i w_i / v_i, the average y_g = sum_i (w_i /
 * v_i) y_i / P is sufficient: it has noise of variance s r_g, r_g = 1 / P, and
 *
 *   log p(y) = log N(y_1 .. y_n; m, K + s diag r) - spread / (2 s) - (count - n) log(2 pi s) / 2
 *              - (log_shares - sum_g log r_g) / 2,
 *   spread = sum_i (w_i / v_i) (y_i - y_g)^2,  count = sum_i w_i,  log_shares = sum_i w_i log v_i.
 *
 * (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_INPUTS_GP_DATA_H
#define CREDENCE_MODELS_KERNEL_INPUTS_GP_DATA_H

#include "models/core/class.h"
#include "base/scratch.h"
#include "math/kernel/kernel.h"

typedef struct cri_gp_data {
    size_t    n, d, c; /* distinct inputs, columns of numbers, categories      */
    double   *X;       /* [n x d]                                              */
    uint32_t *codes;   /* [n x c]                                              */
    double   *y, *r;   /* [n] averages; their noise is s r                     */
    size_t   *first;   /* [n] the first row of the table with this input       */
    double   *w;       /* [n] the weight of each row where none is merged, or NULL */
    double    count, spread, log_shares;
} cri_gp_data;

/* The kinds of the terms of a design: how many are numbers and how many categories. */
void cri_gp_shape(const cr_design *design, size_t *out_numbers, size_t *out_categories);
/* How many codes the k-th category of a design may have. */
size_t cri_gp_codes(const cr_design *design, size_t k);
/* The rows [begin, end) as inputs of kernels: X [end-begin x d], codes [end-begin x c]; workspace
 * [end-begin x p].  Pure. */
void cri_gp_split(const cri_rows *rows, size_t begin, size_t end, double *workspace, double *X,
                  uint32_t *codes);
/* Adds rows to data (zeroed, or made before by this) with their y, weights and, where opt_shares is
 * not NULL, shares of the noise; rows of weight 0 are passed over.  Inputs that are there already
 * take them in, when merge; else new data keep the weights.  Those that are new follow the others in
 * rising order of their numbers and codes, so that what is drawn from them by their places does not
 * depend on the order of the rows, nor on their weights where rows are merged.  opt_group [rows]:
 * the input of each row of weight > 0.  O((n + rows) d + rows log rows).  On failure data is as it
 * was. */
cr_status cri_gp_data_add(cr_ctx *cx, cri_gp_data *data, const cri_rows *rows,
                          const double *opt_shares, bool merge, size_t *opt_group);
/* m of the inputs, drawn without replacement, in their order; of spread and count their part. */
cr_status cri_gp_data_draw(cr_ctx *cx, const cri_gp_data *data, size_t m, uint64_t seed,
                           cri_gp_data *out);
/* The mean of the targets, each row by its precision. */
double cri_gp_data_mean(const cri_gp_data *data);
/* out [d]: the standard deviation of each column of numbers, 1 of one that is constant. */
void cri_gp_data_sds(const cri_gp_data *data, double *out);
/* Takes shift off the targets. */
void cri_gp_data_shift(cri_gp_data *data, double shift);
/* Room for n inputs, zeroed. */
cr_status cri_gp_data_new(cr_ctx *cx, size_t n, size_t d, size_t c, cri_gp_data *out);
/* A copy. */
cr_status cri_gp_data_copy(cr_ctx *cx, const cri_gp_data *data, cri_gp_data *out);
/* Sorts inputs that were merged, by columns and codes: in the order of the rows no more.  O(n log n). */
cr_status cri_gp_data_sort(cr_ctx *cx, cri_gp_data *data);
/* Frees the arrays. */
void cri_gp_data_free(cr_ctx *cx, cri_gp_data *data);
/* Rows [begin, end), borrowed; count, spread and log_shares are 0. */
cri_gp_data cri_gp_data_view(const cri_gp_data *data, size_t begin, size_t end);
/* The inputs of the rows `index` [m], memory of the arena. */
cr_status cri_gp_data_pick(cr_scratch *s, const cri_gp_data *data, const size_t *index, size_t m,
                           cri_gp_data *out);
/* The inputs as a kernel sees them. */
cr_kernel_input cri_gp_inputs(const cri_gp_data *data);

struct cri_kernel_fault;
/* The failure that names the row of the table and the column of a number that does not suit. */
cr_status cri_gp_fail_value(cr_ctx *cx, const cr_design *design, const cr_table *table, size_t row,
                            const struct cri_kernel_fault *fault);
/* Do the numbers of rows [begin, begin + in->rows), split into `in`, suit the kernel?  Fails with
 * CR_EDATA naming row and column. */
cr_status cri_gp_check_inputs(cr_ctx *cx, const cr_kernel *k, const cri_rows *rows, size_t begin,
                              const cr_kernel_input *in);
/* The same of data that were made of rows. */
cr_status cri_gp_check_data(cr_ctx *cx, const cr_kernel *k, const cri_rows *rows,
                            const cri_gp_data *data);

/* Reads a kernel expression whose names are the columns of the design; text NULL: the default, rbf
 * with one length-scale a column, times hamming of each category.  It opens no file: fisher(file=)
 * is a fault here, because a fitted model has the numbers in its place. */
cr_status cri_gp_kernel(cr_ctx *cx, const char *text, const cr_design *design,
                        cr_kernel **out_kernel);
/* The same, also of one that is not positive semi-definite. */
cr_status cri_gp_kernel_any(cr_ctx *cx, const char *text, const cr_design *design,
                            cr_kernel **out_kernel);
/* The same for an expression that the user gave, in which fisher(file=) is read; opt_why: what a
 * kernel that is not positive semi-definite would do to the method; NULL: it does no harm. */
cr_status cri_gp_kernel_for(cr_ctx *cx, const char *text, const cr_design *design,
                            const char *opt_why, cr_kernel **out_kernel);
/* The kernel of a process, and each term of a sum that has no amplitude gets one: rbf becomes
 * 1*rbf. */
cr_status cri_gp_kernel_scaled(cr_ctx *cx, const char *text, const cr_design *design,
                               cr_kernel **out_kernel);
/* Marks the columns of the design that kernels of texts in the expression read; text NULL: none. */
cr_status cri_gp_shape_texts(cr_ctx *cx, const char *opt_text, cr_design *design);
/* A kernel that was made for another design with the same columns takes its texts from this one. */
void cri_gp_kernel_bind(cr_kernel *k, const cr_design *design);
/* Computes once the values of kernels of texts that no learned parameter changes (learn false: of
 * all) between all texts of the design, where memory allows; to be dropped by
 * cri_kernel_drop_tables when the kernel is learned. */
cr_status cri_gp_tabulate(cr_ctx *cx, cr_kernel *k, const cr_design *design, bool learn);
/* The texts of the codes of rows, also of those that the design does not know. */
cr_kernel_names cri_gp_names(const cri_rows *rows);
/* Adds "of" to the parameters in a description, by their names, when some are elements. */
void cri_gp_report_elements(const cr_kernel *k, const cr_design *design, cri_sheet *list);
/* true when the expression has a white kernel. */
bool cri_gp_kernel_has_white(const cr_kernel *k);
/* The canonical text, from cr_alloc; freed by cri_string_free. */
char *cri_gp_kernel_text(cr_ctx *cx, const cr_kernel *k);

#endif
