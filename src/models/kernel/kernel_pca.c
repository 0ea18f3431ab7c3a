/* kernel_pca.c -- principal components in the space of a kernel.
 *   phi(x) . phi(x') = k(x, x'),   m = sum_i w_i phi(x_i) / W,   W = sum_i w_i
 *   directions v of most variation of phi(x) - m;   coordinates  z_j(x) = v_j . (phi(x) - m)
 * With K centred, Kc = (I - 1 p^T) K (I - p 1^T), p = w / W, and D = diag w: D^1/2 Kc D^1/2 = U
 * diag(l) U^T,
 *   z_j(x) = sum_i a_ij kc(x_i, x),   a_ij = w_i^1/2 U_ij / l_j^1/2,
 * so that l_j = sum_i w_i z_j(x_i)^2.  The sum of all l is the trace, what there is to explain.
 * Rows of equal inputs are merged.  O(n^3) once, O(n q) for a new row; the way back to rows:
 * preimage.h.  Schoelkopf, Smola & Mueller (1998), Neural Computation 10. */
#include "default_kernel.h"
#include "preimage.h"
#include "models/kernel/inputs/gp_centre.h"
#include "models/core/rows_check.h"
#include "models/common/coordinates.h"
#include "models/common/some_rows.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define KERNEL_PCA_OPTIONS(X)                                                                        \
    X(text,  kernel,     "", "", "kernel expression (see credence models kernels); default: rbf with the median distance between rows as length-scale", "'poly(degree=2)'")                            \
    X(count, components, "2", ">=0", "number of coordinates; 0: all", "3")
/* clang-format on */

CR_OPTIONS(kernel_pca_options, kernel_pca_table, KERNEL_PCA_OPTIONS);

enum { BLOCK = 256 };

static const double NOTHING = 1e-12; /* eigenvalues below this share of the trace are rounding */

/* clang-format off */
#define KERNEL_PCA_STATE(MEMBER)                                                                   \
    MEMBER(text,   formula,    (),     "as:kernel",  "the kernel")                                 \
    MEMBER(count,  n,          (),     ">0",         "distinct inputs")                            \
    MEMBER(count,  d,          (),     "",           "their columns of numbers")                   \
    MEMBER(count,  c,          (),     "",           "their categories")                           \
    MEMBER(count,  q,          (),     ">0",         "coordinates")                                \
    MEMBER(matrix, X,          (n, d), "",           "the inputs")                                 \
    MEMBER(codes,  codes,      (n, c), "as:levels",  "likewise")                                   \
    MEMBER(matrix, weight,     (n, q), "",           "of k(x_i, x) in the coordinates")            \
    MEMBER(vector, offset,     (q),    "",           "taken off them")                             \
    MEMBER(vector, eigenvalue, (q),    ">=0",        "descending")                                 \
    MEMBER(real,   total,      (),     ">=0",        "the trace")                                  \
    MEMBER(real,   rows,       (),     ">0",         "the sum of the weights")                     \
    MEMBER(vector, share,      (n),    "0..1 sums none", "p; absent: a file that does not tell it") \
    MEMBER(part,   centre,     (cri_gp_centre_rows), "none", "rows of the kernel")
/* clang-format on */

CRI_RECORD(kernel_pca_state, KERNEL_PCA_STATE, cr_kernel *kernel; cri_coordinates at;);
CRI_RECORD_TABLE(static, kernel_pca_record, kernel_pca_state, KERNEL_PCA_STATE);

static void kernel_pca_release(cr_ctx *cx, void *state)
{
    kernel_pca_state *m = state;
    cr_kernel_free(cx, m->kernel);
    cri_coordinates_free(cx, &m->at);
}

static cr_kernel_input inputs_of(const kernel_pca_state *m)
{
    return (cr_kernel_input){
        .rows = m->n, .numbers = cr_cmat_of(m->X, m->n, m->d), .codes = m->codes, .categories = m->c
    };
}

/* --- fit ------------------------------------------------------------------------------------- */

/* What a fit works on. */
typedef struct work {
    size_t  n;
    double *K, *V;           /* [n x n] the matrix that has the eigenvectors V */
    double *l;               /* [n] eigenvalues, ascending                     */
    double *p;               /* [n] w / W                                      */
    double *mean;            /* [n] sum_j p_j K_ij                             */
    double  total_mean, sum; /* sum_i p_i mean_i; W                     */
} work;

/* K, centred and weighted: D^1/2 Kc D^1/2. */
static cr_status centre(cr_ctx *cx, const kernel_pca_state *m, const cri_gp_data *data, work *w)
{
    cr_kernel_input in = cri_gp_inputs(data);
    size_t          n = w->n;
    cr_status       st = cr_kernel_cross(cx, m->kernel, &in, &in, cr_mat_of(w->K, n, n));
    if (st != CR_OK) return st;
    for (size_t i = 0; i < n; i++) w->sum += 1 / data->r[i];
    for (size_t i = 0; i < n; i++) w->p[i] = 1 / data->r[i] / w->sum;
    for (size_t i = 0; i < n; i++) w->mean[i] = cr_dot(w->K + i * n, w->p, n);
    w->total_mean = cr_dot(w->mean, w->p, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            w->K[i * n + j] = sqrt(w->p[i] * w->p[j]) * w->sum *
                              (w->K[i * n + j] - w->mean[i] - w->mean[j] + w->total_mean);
    return CR_OK;
}

/* How many eigenvalues count, up to those wanted; at least one, which may be 0. */
static size_t count_components(cr_ctx *cx, const work *w, double total, size_t wanted)
{
    size_t rank = 0;
    while (rank < w->n && w->l[w->n - 1 - rank] > NOTHING * total) rank++;
    if (wanted == 0 || wanted > rank) {
        if (wanted > rank)
            cr_log(cx, CR_LOG_WARNING,
                   "kernel-pca: the rows vary in only %zu direction%s, fewer than %zu", rank,
                   rank == 1 ? "" : "s", wanted);
        return rank > 0 ? rank : 1;
    }
    return wanted;
}

/* true when input a comes after b, column by column: an order that does not turn on that of the
 * rows. */
static bool comes_after(const kernel_pca_state *m, size_t a, size_t b)
{
    for (size_t j = 0; j < m->d; j++) {
        double x = m->X[a * m->d + j], y = m->X[b * m->d + j];
        if (x != y) return x > y;
    }
    for (size_t j = 0; j < m->c; j++)
        if (m->codes[a * m->c + j] != m->codes[b * m->c + j])
            return m->codes[a * m->c + j] > m->codes[b * m->c + j];
    return false;
}

/* The sign that makes the coordinate of greatest size positive; of several as great, that of the
 * last in the order of the inputs. */
static double sign_of(const kernel_pca_state *m, const work *w, size_t column)
{
    double most = 0;
    size_t n = w->n, at = SIZE_MAX;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(w->V[i * n + column]) / sqrt(w->p[i]));
    for (size_t i = 0; i < n; i++) {
        double z = w->V[i * n + column] / sqrt(w->p[i]);
        if (fabs(z) >= (1 - 1e-7) * most && (at == SIZE_MAX || comes_after(m, i, at))) at = i;
    }
    return at != SIZE_MAX && w->V[at * n + column] < 0 ? -1 : 1;
}

/* Weights and offsets of the coordinates. */
static void set_coordinates(kernel_pca_state *m, const work *w)
{
    size_t n = w->n, q = m->q;
    for (size_t j = 0; j < q; j++) {
        size_t at = n - 1 - j;
        double l = m->eigenvalue[j] = fmax(w->l[at], 0), sum = 0;
        if (!(l > NOTHING * m->total)) continue; /* nothing varies: the coordinate is 0 */
        double sign = sign_of(m, w, at);
        for (size_t i = 0; i < n; i++) {
            double a = sign * sqrt(w->p[i] * w->sum / l) * w->V[i * n + at];
            m->weight[i * q + j] = a;
            m->offset[j] += a * (w->mean[i] - w->total_mean);
            sum += a;
        }
        for (size_t i = 0; i < n; i++)
            m->weight[i * q + j] -= w->p[i] * sum; /* 0 but for rounding */
    }
}

static cr_status keep_inputs(cr_ctx *cx, const cri_gp_data *data, const double *p,
                             kernel_pca_state *m)
{
    m->share = cr_alloc(cx, m->n, sizeof *m->share);
    if (!m->share) return CR_ENOMEM;
    memcpy(m->share, p, m->n * sizeof *p);
    if (m->d > 0) memcpy(m->X, data->X, m->n * m->d * sizeof(double));
    if (m->c > 0) memcpy(m->codes, data->codes, m->n * m->c * sizeof *m->codes);
    return cri_gp_kernel_keep(cx, m->kernel, &m->formula, &m->centre);
}

/* The kernel that nobody named compares them too. */
static void warn_of_texts(cr_ctx *cx, const cr_design *d)
{
    for (size_t j = 0; j < d->n_columns; j++)
        if (d->columns[j].type == CR_CATEGORY)
            cr_log(
                cx, CR_LOG_WARNING,
                "kernel-pca: column '%s' contains text, of which the default kernel asks whether "
                "it is equal: --features '!%s' leaves it out",
                d->columns[j].name, d->columns[j].name);
}

static cr_status fit_rows(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    cr_status                 st = CR_OK;
    cr_scratch                s = cr_scratch_begin(cx);
    const kernel_pca_options *o = options;
    kernel_pca_state         *m = cr_alloc(cx, 1, sizeof *m);
    cri_gp_data               data = { 0 };
    work                      w = { 0 };
    size_t                    n;
    (void)seed;

    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_check_sizes(cx, rows, true));
    CR_TRY(cri_inputs_add(cx, &data, rows));
    n = w.n = data.n;
    if (n == 0) CR_TRY(cr_fail(cx, CR_EDATA, "kernel-pca: no row has a positive weight"));
    double left = (double)cri_memory_left(cx);
    if (41e0 * (double)n * (double)n > left) {
        cr_fail(cx, CR_ENOMEM,
                "kernel-pca of %zu distinct rows needs %.3g GB, but only %.3g GB are left", n,
                41e-9 * (double)n * (double)n, left / 1e9);
        CR_TRY(cr_fail_hint(
            cx, "%.0f rows would fit: use some of the rows for the fit, and predict the others",
            floor(0.95 * sqrt(left / 41))));
    }
    if (!o->kernel) warn_of_texts(cx, rows->design);
    CR_TRY(cri_default_kernel(cx, o->kernel, rows->design, &data, 1,
                              "some components would have a negative variance", &m->kernel));
    CR_TRY(cri_gp_check_data(cx, m->kernel, rows, &data));
    w.K = cr_scratch_matrix(&s, n, n);
    w.V = cr_scratch_matrix(&s, n, n);
    w.l = cr_scratch_f64(&s, n);
    w.p = cr_scratch_f64(&s, n);
    w.mean = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    CR_TRY(centre(cx, m, &data, &w));
    for (size_t i = 0; i < n; i++) m->total += w.K[i * n + i];
    m->total = fmax(m->total, 0);
    m->rows = w.sum;
    CR_TRY(cr_eigen(cx, cr_cmat_of(w.K, n, n), w.l, cr_mat_of(w.V, n, n)));
    m->n = n, m->d = data.d, m->c = data.c;
    m->q = count_components(cx, &w, m->total, o->components);
    CR_TRY(cri_record_allocate(cx, kernel_pca_record, m));
    CR_TRY(keep_inputs(cx, &data, w.p, m));
    set_coordinates(m, &w);
    CR_TRY(cri_coordinates_name(cx, m->q, &m->at));
    report->stop = CR_STOP_CLOSED_FORM;
    *out_state = m;
    m = NULL;
done:
    cri_gp_data_free(cx, &data);
    cri_state_free(cx, &cri_class_kernel_pca, m);
    cr_scratch_end(&s);
    return st;
}

/* Within a time limit, of some rows where all take too long. */
static cr_status kernel_pca_fit(cr_ctx *cx, const cri_rows *rows, const void *options,
                                uint64_t seed, void **out_state, cr_report *report)
{
    return cri_fit_some(cx, fit_rows, rows, options, seed, out_state, report);
}

/* --- coordinates ----------------------------------------------------------------------------- */

static cr_status kernel_pca_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                    cr_prediction *out)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    const kernel_pca_state *m = state;
    size_t                  n = m->n, q = m->q, most = rows->n < BLOCK ? rows->n : BLOCK;
    double                 *workspace = cr_scratch_matrix(&s, most, rows->p),
           *X = cr_scratch_matrix(&s, most, m->d);
    uint32_t       *codes = cr_scratch_bytes(&s, most * m->c, sizeof *codes);
    double         *C = cr_scratch_matrix(&s, n, most);
    cr_kernel_input at = inputs_of(m);

    CR_TRY(s.status);
    for (size_t b = 0; b < cri_block_count(rows->n, BLOCK); b++) {
        cri_range r = cri_block_range(rows->n, BLOCK, b);
        size_t    count = r.end - r.begin;
        double   *z = out->vector + r.begin * q;
        cri_gp_split(rows, r.begin, r.end, workspace, X, codes);
        cr_kernel_input in = { .rows = count,
                               .numbers = cr_cmat_of(X, count, m->d),
                               .codes = codes,
                               .categories = m->c,
                               .names = cri_gp_names(rows) };
        CR_TRY(cri_gp_check_inputs(cx, m->kernel, rows, r.begin, &in));
        CR_TRY(cr_kernel_cross(cx, m->kernel, &at, &in, cr_mat_of(C, n, count)));
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < q; j++) z[i * q + j] = -m->offset[j];
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(C, n, count), CR_TRANSPOSED, cr_cmat_of(m->weight, n, q),
                       CR_PLAIN, 1, cr_mat_of(z, count, q)));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- and back -------------------------------------------------------------------------------- */

/* Of the rows of the fit: coordinates, what these leave out, and products of directions with the
 * mean. */
static cr_status look_at_rows(cr_ctx *cx, const kernel_pca_state *m, double *place, double *beside,
                              double *square)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = m->n, q = m->q, most = n < BLOCK ? n : BLOCK;
    cr_kernel_input at = inputs_of(m);
    double         *C = cr_scratch_matrix(&s, most, n), *mean = cr_scratch_f64(&s, n);

    CR_TRY(s.status);
    CR_TRY(cr_kernel_diagonal(cx, m->kernel, &at, false, beside));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < q; j++) place[i * q + j] = -m->offset[j];
    for (size_t b = 0; b < cri_block_count(n, BLOCK); b++) {
        cri_range       r = cri_block_range(n, BLOCK, b);
        size_t          count = r.end - r.begin;
        cr_kernel_input some = { .rows = count,
                                 .numbers = cr_cmat_of(m->X + r.begin * m->d, count, m->d),
                                 .codes = m->codes + r.begin * m->c,
                                 .categories = m->c };
        CR_TRY(cr_kernel_cross(cx, m->kernel, &some, &at, cr_mat_of(C, count, n)));
        for (size_t i = 0; i < count; i++) mean[r.begin + i] = cr_dot(C + i * n, m->share, n);
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(C, count, n), CR_PLAIN, cr_cmat_of(m->weight, n, q),
                       CR_PLAIN, 1, cr_mat_of(place + r.begin * q, count, q)));
    }
    square[q] = cr_dot(mean, m->share, n);
    memcpy(square, m->offset, q * sizeof *square);
    for (size_t i = 0; i < n; i++) {
        beside[i] += square[q] - 2 * mean[i];
        beside[i] = fmax(beside[i] - cr_dot(place + i * q, place + i * q, q), 0);
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status kernel_pca_reconstruct(cr_ctx *cx, const void *state, const double *Z,
                                        size_t count, double *out, double *distance)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    const kernel_pca_state *m = state;
    size_t                  n = m->n, q = m->q;
    double                 *place = cr_scratch_matrix(&s, n, q), *beside = cr_scratch_f64(&s, n),
           *square = cr_scratch_f64(&s, q + 1);

    if (cr_kernel_reads(m->kernel, CR_KERNEL_CATEGORY) ||
        cr_kernel_reads(m->kernel, CR_KERNEL_TEXT) || m->d == 0) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "kernel-pca: only numbers can be reconstructed from coordinates, but the kernel "
                "reads categories or text");
        CR_TRY(cr_fail_hint(
            cx, "fit it with numeric --features only, or with a kernel for numbers, such as rbf"));
    }
    if (!m->share) {
        cr_fail(
            cx, CR_EUNSUPPORTED,
            "kernel-pca: the model file lacks the weights of its rows, which reconstruction needs");
        CR_TRY(cr_fail_hint(cx, "fit the model again"));
    }
    CR_TRY(s.status);
    CR_TRY(look_at_rows(cx, m, place, beside, square));
    CR_TRY(cri_preimages(cx,
                         &(cri_preimage_space){ .kernel = m->kernel,
                                                .at = inputs_of(m),
                                                .n = n,
                                                .d = m->d,
                                                .q = q,
                                                .share = m->share,
                                                .weight = m->weight,
                                                .square = square,
                                                .place = place,
                                                .beside = beside },
                         Z, count, out, distance));
done:
    cr_scratch_end(&s);
    return st;
}

static const char *const *kernel_pca_labels(const void *state, size_t *out_n)
{
    const kernel_pca_state *m = state;
    *out_n = m->q;
    return m->at.names;
}

/* --- describe and file ----------------------------------------------------------------------- */

static const cr_field kernel_pca_statistics[] = {
    CR_TEXT("kernel", 0, "the covariance function with its hyper-parameters"),
    CR_COUNT("distinct_inputs", 0, "rows with different inputs"),
    CR_COUNT("components", 0, "coordinates"),
    CR_NUMBER("total", CR_FIELD_NULL, "total variation of the rows in the space of the kernel"),
    CR_NUMBER("eigenvalue(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each coordinate: variation along it"),
    CR_NUMBER("share(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each coordinate: its share of the total"),
    CR_NUMBER("explained", CR_FIELD_NULL, "share of the total explained by the coordinates"),
    CR_FIELD_LAST,
};

static cr_status kernel_pca_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                     cri_sheet *out)
{
    const kernel_pca_state *m = state;
    cri_sheet              *list = cri_put_list(out, "parameters"), *s;

    for (size_t i = 0; i < cr_kernel_parameters(m->kernel); i++) {
        cr_kernel_parameter p = cr_kernel_parameter_at(m->kernel, i);
        if (!p.given) cri_parameter_add(list, p.value, NAN, "%s", p.name);
    }
    cri_gp_report_elements(m->kernel, design, list);
    s = cri_put_object(out, "statistics");
    cri_put_text(s, "kernel", m->formula);
    cri_put_count(s, "distinct_inputs", m->n);
    cri_put_count(s, "components", m->q);
    cri_put_real(s, "total", m->total);
    cri_put_real(s, "explained", cri_coordinates_describe(&m->at, m->eigenvalue, m->total, s));
    (void)cx;
    return CR_OK;
}

static cr_status kernel_pca_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cr_status         st = CR_OK;
    kernel_pca_state *m = state;
    cr_kernel_input   at = inputs_of(m);
    size_t            d, c;
    cri_gp_shape(design, &d, &c);
    if (m->d != d || m->c != c || !cri_gp_codes_fit(design, m->codes, m->n, c)) return CR_EDATA;
    CR_TRY(cri_gp_kernel_restore(cx, m->formula, &m->centre, &at, design, &m->kernel));
    CR_TRY(cri_coordinates_name(cx, m->q, &m->at));
done:
    return st;
}

static cr_status kernel_pca_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    return cri_gp_shape_texts(cx, ((const kernel_pca_options *)options)->kernel, design);
}

const cr_model_class cri_class_kernel_pca = {
    .example = "examples/iris.csv --features '*cm'",
    .name = "kernel-pca",
    .summary = "principal components in the space of a kernel",
    .formulas = "z_j(x) = v_j . (phi(x) - m),   phi(x) . phi(x') = k(x, x')\n"
                "v_j: directions of most variation, from the eigenvectors of the centred K",
    .reference = "Schoelkopf, Smola & Mueller (1998), Neural Computation 10",
    .tasks = CR_TASK_TRANSFORM,
    .options = kernel_pca_table,
    .options_size = sizeof(kernel_pca_options),
    .default_scale = CR_SCALE_STANDARD,
    .coding = CRI_CODING_CODE,
    .shape = kernel_pca_shape,
    .whole = &(const cri_whole_face){ .fit = kernel_pca_fit },
    .rows = &(const cri_rows_face){ .predict = kernel_pca_predict,
                                    .reconstruct = kernel_pca_reconstruct,
                                    .labels = kernel_pca_labels },
    .describe = kernel_pca_describe,
    .statistics = kernel_pca_statistics,
    .state = kernel_pca_record,
    .state_size = sizeof(kernel_pca_state),
    .ready = kernel_pca_ready,
    .release = kernel_pca_release,
};
