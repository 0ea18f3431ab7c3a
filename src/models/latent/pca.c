/* pca.c -- principal components: the few orthogonal directions along which rows vary most.
 *   t = (x - centre) / scale,   C = sum_i w_i t_i t_i^T / (W - 1) = sum_j lambda_j v_j v_j^T
 *   z_j = v_j . t,   the variance of z_j is lambda_j;   share_j = lambda_j / trace C
 * The best q directions are those of the largest lambda: among all planes of dimension q theirs leaves the smallest
 * sum of squared distances.  The sign of v_j makes its largest loading positive.  C follows from the moments of
 * the rows, O(n p^2 + p^3): a fit and a stream give the same bits, an update the same up to rounding.  Where p x p is
 * out of proportion, the directions come from the rows themselves (pca_wide.c), of which sparse ones stay sparse.
 * Pearson (1901), Phil. Mag. 2; Hotelling (1933), J. Educ. Psychology 24; Jolliffe (2002). */
#include "pca.h"
#include "components.h"
#include "models/common/described.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define PCA_OPTIONS(X)                                                                             \
    X(text,   components, "auto", "", CRI_COMPONENTS_HELP, "2")                                    \
    X(choice, solver,     "auto", "auto|moments|dual|krylov",                                      \
      "by p x p sums over the rows, by n x n products of fewer rows, or by products with the rows alone; auto: by the size", "krylov") \
    X(real,   tol,        "1e-8", ">0", "krylov: until the residual of each component is at most this share of its eigenvalue", "1e-6") \
    X(count,  max_iter,   "1000", ">=1", "krylov: give up after this many products with a block of vectors", "100")
/* clang-format on */
enum { SOLVER_AUTO, SOLVER_MOMENTS, SOLVER_DUAL, SOLVER_KRYLOV };
static const char *const solver_names[] = { "moments", "dual", "krylov" };

CR_OPTIONS(pca_options, pca_table, PCA_OPTIONS);

static const cri_requirement pca_requirements[] = {
    { "tol", "solver", "auto|krylov", false },
    { "max_iter", "solver", "auto|krylov", false },
    CRI_REQUIREMENT_LAST,
};

CRI_RECORD_TABLE(, cri_pca_record, cri_pca, CRI_PCA);

enum { BLOCK = 128 };

static void pca_release(cr_ctx *cx, void *state)
{
    cri_coordinates_free(cx, &((cri_pca *)state)->at);
}

/* --- what was found --------------------------------------------------------------------------- */

cr_status cri_pca_keep(cr_ctx *cx, const double *centre, const double *scale,
                       const cri_decomposed *of, cri_spread_extent extent, cri_pca *m)
{
    cr_status st = CR_OK;
    size_t    p = m->p;
    CR_TRY(cri_record_allocate(cx, cri_pca_record, m));
    memcpy(m->centre, centre, p * sizeof(double));
    memcpy(m->scale, scale, p * sizeof(double));
    for (size_t j = 0; j < m->q && j < of->known; j++) { /* the others are 0 */
        m->eigenvalue[j] = of->lambda[j];
        memcpy(m->loading + j * p, of->V + j * p, p * sizeof(double));
    }
    if (extent == CRI_SPREAD_VECTORS) {
        m->loading_sd = cr_resize(cx, NULL, 0, m->q * p, sizeof(double));
        if (!m->loading_sd) CR_TRY(CR_ENOMEM);
        for (size_t i = 0; i < m->q * p; i++) m->loading_sd[i] = INFINITY;
    }
    if (of->known > 0)
        CR_TRY(cri_spread(cx, of, m->q < of->known ? m->q : of->known, extent, m->eigenvalue_sd,
                          m->loading_sd));
    else
        cr_log(cx, CR_LOG_WARNING, "pca: the rows do not vary: all coordinates are 0");
    if (of->known > 0 && extent != CRI_SPREAD_VECTORS)
        cr_log(cx, CR_LOG_WARNING, "pca: of %zu columns the loadings are given without sds", p);
    CR_TRY(cri_coordinates_name(cx, m->q, &m->at));
done:
    return st;
}

/* --- fit ------------------------------------------------------------------------------------- */

static cr_status check(cr_ctx *cx, const cri_rows *rows, const pca_options *o)
{
    cr_status st = cri_components_check(cx, "pca", o->components);
    if (st == CR_OK) st = cri_check_numbers(cx, "pca", rows->design);
    if (st != CR_OK) return st;
    return rows->p > 0 ? CR_OK : cr_fail(cx, CR_EDATA, "pca: there are no columns to combine");
}

/* The exact roads where their matrices are of a size to be decomposed: that of the columns, from which the model can
 * learn more, unless the rows are fewer and the columns many. */
static cri_pca_solver choose_solver(const cri_rows *rows, const pca_options *o)
{
    enum { FEW = 500, MOST = 4000 };
    size_t n = rows->n, p = rows->p;
    if (o->solver != SOLVER_AUTO) return (cri_pca_solver)(o->solver - SOLVER_MOMENTS);
    if (p <= FEW || (p <= n && p <= MOST)) return CRI_PCA_MOMENTS;
    return n < p && n <= MOST ? CRI_PCA_DUAL : CRI_PCA_KRYLOV;
}

/* From the rows themselves. */
static cr_status pca_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    cr_status          st = CR_OK;
    const pca_options *o = options;
    cri_pca_question   ask = { o->components, o->tol, o->max_iter, seed };
    cri_pca           *m = cr_alloc(cx, 1, sizeof *m);

    if (!m) return CR_ENOMEM;
    CR_TRY(check(cx, rows, o));
    CR_TRY(choose_solver(rows, o) == CRI_PCA_DUAL ? cri_pca_dual(cx, rows, &ask, m, report)
                                                  : cri_pca_krylov(cx, rows, &ask, m, report));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_pca, m);
    return st;
}

/* --- from the moments ------------------------------------------------------------------------- */

static bool pca_serves(const cri_rows *rows, const void *options, size_t leaves)
{
    (void)leaves;
    return choose_solver(rows, options) == CRI_PCA_MOMENTS;
}

static cr_status pca_check(cr_ctx *cx, const void *state)
{
    const cri_pca *m = state;
    if (m->solver == CRI_PCA_MOMENTS) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED, "a pca model fitted by --solver %s has no exact update",
            solver_names[m->solver]);
    return cr_fail_hint(cx, "fit it with --solver moments, or again to all the rows");
}

static cr_status pca_open(cr_ctx *cx, const cri_rows *rows, const void *options, void **out_state)
{
    const pca_options *o = options;
    cr_status          st = check(cx, rows, o);
    if (st != CR_OK) return st;
    if (o->solver > SOLVER_MOMENTS) { /* of a stream: else it does not come here */
        cr_fail(cx, CR_EARG, "--solver %s needs all rows at once, but they come as a stream",
                solver_names[o->solver - SOLVER_MOMENTS]);
        return cr_fail_hint(cx, "leave out --stream, or use --solver moments");
    }
    *out_state = cr_alloc(cx, 1, sizeof(cri_pca));
    return *out_state ? CR_OK : CR_ENOMEM;
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
                                 &(cri_spectrum_of){ lambda, rank, rank, n, 0 });
    CR_TRY(cri_pca_keep(cx, g.centre, g.scale,
                        &(cri_decomposed){ g.G, V, lambda, p, rank, design->standardised, n, NULL },
                        cri_spread_affordable(p, rank, m->q, design->standardised, true), m));
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
    cri_record_free(cx, cri_pca_record, m);
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

/* By the entries of sparse rows: z_j = x . u_j - c_j, u_j = v_j / scale, c_j = centre . u_j, some j at once.
 * *out_good = false where the means are so large that the difference would lose digits. */
static cr_status project_sparse(cr_ctx *cx, const projection *w, bool *out_good)
{
    enum { PANEL = CRI_SPARSE_PANEL };
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_pca *m = w->m;
    size_t         p = m->p, n = w->rows->n;
    double        *U = cr_scratch_matrix(&s, p, PANEL), *Y = cr_scratch_matrix(&s, n, PANEL);

    CR_TRY(s.status);
    *out_good = true;
    for (size_t first = 0; first < m->q && *out_good; first += PANEL) {
        size_t width = m->q - first < PANEL ? m->q - first : PANEL;
        double c[PANEL] = { 0 }, size[PANEL] = { 0 };
        memset(U, 0, p * PANEL * sizeof *U);
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < width; j++) {
                double u = U[i * PANEL + j] = m->loading[(first + j) * p + i] / m->scale[i];
                c[j] += m->centre[i] * u;
                size[j] += fabs(m->centre[i] * u);
            }
        for (size_t j = 0; j < width; j++)
            *out_good =
                *out_good && size[j] * DBL_EPSILON <= 1e-12 * sqrt(m->eigenvalue[first + j]);
        if (!*out_good) break;
        CR_TRY(cri_sparse_times_panel(cx, w->rows->sparse, U, Y));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < width; j++)
                w->out[i * m->q + first + j] = Y[i * PANEL + j] - c[j];
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status pca_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    projection w = { state, rows, out->vector };
    bool       good = false;
    cr_status  st = cri_blas_reserve(cx);
    if (st == CR_OK && rows->sparse && rows->sparse->plain) st = project_sparse(cx, &w, &good);
    if (st != CR_OK || good) return st;
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
    CR_TEXT("solver", 0, "how they were found: moments, dual or krylov"),
    CR_NUMBER("residual", CR_FIELD_SOMETIMES,
              "of krylov: the largest |C v - lambda v| / lambda of the coordinates"),
    CR_NUMBER("total", CR_FIELD_NULL,
              "total variance of the terms, as they were scaled; p n / (n - 1) of p standardised"),
    CR_NUMBER("eigenvalue(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each coordinate: its variance (divisor n - 1)"),
    CR_NUMBER("share(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each coordinate: its share of the total"),
    CR_NUMBER(
        "eigenvalue_sd(COORDINATE)", CR_FIELD_SOMETIMES,
        "of each coordinate: sd of its variance, for normal rows; absent where it is not known"),
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
            double sd = m->loading_sd ? m->loading_sd[j * m->p + i] : INFINITY;
            cri_parameter_add(list, m->loading[j * m->p + i], isinf(sd) ? NAN : sd, "%s.%s",
                              m->at.names[j], cr_design_term_name(design, i));
        }
    s = cri_put_object(out, "statistics");
    cri_put_count(s, "components", m->q);
    cri_put_text(s, "solver", solver_names[m->solver]);
    if (m->solver == CRI_PCA_KRYLOV) cri_put_real(s, "residual", m->residual);
    cri_put_real(s, "total", m->total);
    cri_put_real(s, "explained", cri_coordinates_describe(&m->at, m->eigenvalue, m->total, s));
    for (size_t j = 0; j < m->q; j++) {
        if (isinf(m->eigenvalue_sd[j])) continue;
        snprintf(name, sizeof name, "eigenvalue_sd(%s)", m->at.names[j]);
        cri_put_real(s, name, m->eigenvalue_sd[j]);
    }
    (void)cx;
    return CR_OK;
}

static cr_status pca_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_pca *m = state;
    bool     fits = m->p == cr_design_terms(design) && m->solver <= CRI_PCA_KRYLOV &&
                (m->solver != CRI_PCA_MOMENTS || cri_moments_fit(&m->moments, m->p));
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
    .requirements = pca_requirements,
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .takes_sparse = true,
    .sparse_levels = true,
    .sums = &(const cri_sums_face){ .record = cri_moments_record,
                                    .size = sizeof(cri_moments),
                                    .at = offsetof(cri_pca, moments),
                                    .serves = pca_serves,
                                    .check = pca_check,
                                    .open = pca_open,
                                    .gather = cri_moments_gather,
                                    .merge = cri_moments_add,
                                    .solve = pca_solve,
                                    .reopen = pca_reopen },
    .whole = &(const cri_whole_face){ .fit = pca_fit },
    .rows = &(const cri_rows_face){ .predict = pca_predict,
                                    .reconstruct = pca_reconstruct,
                                    .labels = pca_labels },
    .describe = pca_describe,
    .statistics = pca_statistics,
    .state = cri_pca_record,
    .state_size = sizeof(cri_pca),
    .ready = pca_ready,
    .release = pca_release,
};
