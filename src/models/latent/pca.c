/* pca.c -- principal components: the few orthogonal directions along which rows vary most.
 *   t = (x - centre) / scale,   C = sum_i w_i t_i t_i^T / (W - 1) = sum_j lambda_j v_j v_j^T
 *   z_j = v_j . t,   the variance of z_j is lambda_j;   share_j = lambda_j / trace C
 * The best q directions are those of the largest lambda: among all planes of dimension q theirs leaves the smallest
 * sum of squared distances.  The sign of v_j makes its largest loading positive.  C follows from the moments of
 * the rows, O(n p^2 + p^3): a fit, an update and a stream give the same bits.
 * Pearson (1901), Phil. Mag. 2; Hotelling (1933), J. Educ. Psychology 24; Jolliffe (2002). */
#include "pca.h"
#include "components.h"
#include "spread.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/dense/decompose.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define PCA_OPTIONS(X)                                                                             \
    X(text, components, "auto", "", CRI_COMPONENTS_HELP, "2")
/* clang-format on */
CR_OPTIONS(pca_options, pca_table, PCA_OPTIONS);

CRI_RECORD_TABLE(static, pca_record, cri_pca, CRI_PCA);

enum { BLOCK = 128 };

static void pca_release(cr_ctx *cx, void *state)
{
    cri_coordinates_free(cx, &((cri_pca *)state)->at);
}

/* --- fit ------------------------------------------------------------------------------------- */

static cr_status pca_open(cr_ctx *cx, const cri_rows *rows, const void *options, void **out_state)
{
    cr_status st = cri_components_check(cx, "pca", ((const pca_options *)options)->components);
    if (st != CR_OK) return st;
    if (rows->p == 0) return cr_fail(cx, CR_EDATA, "pca: there are no columns to combine");
    *out_state = cr_alloc(cx, 1, sizeof(cri_pca));
    return *out_state ? CR_OK : CR_ENOMEM;
}

/* The kept directions; where nothing varies, one that is 0. */
static void keep_directions(cri_pca *m, const double *lambda, const double *V, size_t rank)
{
    for (size_t j = 0; j < m->q; j++) {
        m->eigenvalue[j] = lambda[j];
        for (size_t i = 0; i < m->p && j < rank; i++) m->loading[j * m->p + i] = V[i * m->p + j];
    }
}

static cr_status pca_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                           cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_pca   *m = state;
    size_t     p = m->p = m->moments.p, rank;
    double    *lambda = cr_scratch_f64(&s, p), *V = cr_scratch_matrix(&s, p, p), n;
    cri_gram   g = { 0 };

    CR_TRY(s.status);
    CR_TRY(cri_gram_new(cx, &m->moments, true, design->standardised, &g));
    n = g.weight;
    m->total = 0;
    for (size_t i = 0; i < p * p; i++) g.G[i] /= fmax(n - 1, 1);
    for (size_t i = 0; i < p; i++) m->total += g.G[i * p + i];
    CR_TRY(cri_directions(cx, g.G, p, lambda, V, &rank));
    m->q = cri_components_choose(cx, "pca", ((const pca_options *)options)->components,
                                 &(cri_spectrum_of){ lambda, p, rank, n });
    CR_TRY(cri_record_allocate(cx, pca_record, m));
    memcpy(m->centre, g.centre, p * sizeof(double));
    memcpy(m->scale, g.scale, p * sizeof(double));
    keep_directions(m, lambda, V, rank);
    CR_TRY(cri_spread(cx, &(cri_decomposed){ g.G, V, lambda, p, design->standardised, n }, m->q,
                      m->eigenvalue_sd, m->loading_sd));
    CR_TRY(cri_coordinates_name(cx, m->q, &m->at));
    if (rank == 0) cr_log(cx, CR_LOG_WARNING, "pca: the rows do not vary: all coordinates are 0");
    report->stop = CR_STOP_CLOSED_FORM;
done:
    cri_gram_free(cx, &g);
    cr_scratch_end(&s);
    return st;
}

/* All but the moments, which the statistics are. */
static void pca_reopen(cr_ctx *cx, void *state)
{
    cri_pca *m = state, empty = { 0 };
    pca_release(cx, m);
    cri_record_free(cx, pca_record, m);
    *m = empty;
}

/* --- coordinates, and back ------------------------------------------------------------------- */

typedef struct projection {
    const cri_pca  *m;
    const cri_rows *rows;
    double         *out;
} projection;

/* T [BLOCK x p] is workspace. */
static void project_block(void *arg, cri_range range, double *T)
{
    const projection *w = arg;
    const cri_pca    *m = w->m;
    size_t            p = m->p, n = range.end - range.begin;
    cri_rows_fill(w->rows, range.begin, range.end, T, p);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++) T[i * p + j] = (T[i * p + j] - m->centre[j]) / m->scale[j];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)m->q, (int)p, 1, T, (int)p,
                m->loading, (int)p, 0, w->out + range.begin * m->q, (int)m->q);
}

static cr_status pca_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    projection w = { state, rows, out->vector };
    cr_status  st = cri_blas_reserve(cx);
    if (st != CR_OK) return st;
    cri_blas_enter();
    st = cri_parallel_rows(cx, "projecting", rows->n, BLOCK, BLOCK * w.m->p, project_block, &w);
    cri_blas_leave();
    return st;
}

/* x = centre + scale sum_j z_j v_j: a point of the plane itself, at distance 0. */
static cr_status pca_reconstruct(cr_ctx *cx, const void *state, const double *Z, size_t n,
                                 double *out, double *distance)
{
    const cri_pca *m = state;
    return cri_plane_points(cx, &(cri_plane){ m->q, m->p, m->loading, m->centre, m->scale }, Z, n,
                            out, distance);
}

static const char *const *pca_labels(const void *state, size_t *out_n)
{
    const cri_pca *m = state;
    *out_n = m->q;
    return m->at.names;
}

/* --- describe and file ----------------------------------------------------------------------- */

static const cr_field pca_statistics[] = {
    CR_COUNT("components", 0, "coordinates"),
    CR_NUMBER("total", CR_FIELD_NULL, "total variance of the terms, as they were scaled"),
    CR_NUMBER("eigenvalue(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each coordinate: its variance (divisor n - 1)"),
    CR_NUMBER("share(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each coordinate: its share of the total"),
    CR_NUMBER("eigenvalue_sd(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each coordinate: sd of its variance, for normal rows"),
    CR_NUMBER("explained", CR_FIELD_NULL, "share of the total explained by the coordinates"),
    CR_FIELD_LAST,
};

static cr_status pca_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    const cri_pca *m = state;
    cri_sheet     *list = cri_put_list(out, "parameters"), *s;
    char           name[64];
    for (size_t j = 0; j < m->q; j++)
        for (size_t i = 0; i < m->p; i++) {
            double sd = m->loading_sd[j * m->p + i];
            cri_parameter_add(list, m->loading[j * m->p + i], isinf(sd) ? NAN : sd, "%s.%s",
                              m->at.names[j], cr_design_term_name(design, i));
        }
    s = cri_put_object(out, "statistics");
    cri_put_count(s, "components", m->q);
    cri_put_real(s, "total", m->total);
    cri_put_real(s, "explained", cri_coordinates_describe(&m->at, m->eigenvalue, m->total, s));
    for (size_t j = 0; j < m->q; j++) {
        snprintf(name, sizeof name, "eigenvalue_sd(%s)", m->at.names[j]);
        cri_put_real(s, name, m->eigenvalue_sd[j]);
    }
    (void)cx;
    return CR_OK;
}

static cr_status pca_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_pca *m = state;
    bool     fits = m->p == cr_design_terms(design) && cri_moments_fit(&m->moments, m->p);
    return fits ? cri_coordinates_name(cx, m->q, &m->at) : CR_EDATA;
}

const cr_model_class cri_class_pca = {
    .example = "examples/iris.csv --features '*cm' --components 2",
    .name = "pca",
    .summary = "principal components: the directions along which rows vary most",
    .formulas = "z_j = v_j . (x - centre) / scale,   C = sum_j lambda_j v_j v_j'\n"
                "C = covariance of the columns as scaled (divisor n - 1), lambda_1 >= lambda_2 ...",
    .reference = "Pearson (1901), Phil. Mag. 2; Jolliffe (2002), Principal Component Analysis",
    .tasks = CR_TASK_TRANSFORM,
    .options = pca_table,
    .options_size = sizeof(pca_options),
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .sums = &(const cri_sums_face){ .record = cri_moments_record,
                                    .size = sizeof(cri_moments),
                                    .at = offsetof(cri_pca, moments),
                                    .open = pca_open,
                                    .gather = cri_moments_gather,
                                    .merge = cri_moments_add,
                                    .solve = pca_solve,
                                    .reopen = pca_reopen },
    .rows = &(const cri_rows_face){ .predict = pca_predict,
                                    .reconstruct = pca_reconstruct,
                                    .labels = pca_labels },
    .describe = pca_describe,
    .statistics = pca_statistics,
    .state = pca_record,
    .state_size = sizeof(cri_pca),
    .ready = pca_ready,
    .release = pca_release,
};
