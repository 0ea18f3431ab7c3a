/* fisher.c -- Fisher's discriminants: the few directions that best separate the classes.
 *   directions w:  maximise  (w' B w) / (w' W w),   B = sum_k n_k (m_k - m)(m_k - m)',
 *                  W = sum of the scatters of the classes;   W^-1 B w = lambda w,
 * at most K - 1 with lambda > 0.  Coordinates z_j = w_j . (x - m), each of variance 1 within the
 * classes (divisor n - K).  Classes are told apart by lda in these coordinates; with all K - 1 of
 * them that is lda itself.  Through L^-1, S = W / (n - K) = L L^T, the eigenvectors are the right
 * singular vectors of the scaled class means: O(n p^2 + p^3 + K p min(K, p)). Fisher (1936), Annals
 * of Eugenics 7; Rao (1948), J. Royal Stat. Soc. B 10. */
#include "discriminant.h"
#include "models/common/coordinates.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/dense/decompose.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define FISHER_OPTIONS(X)                                                                            \
    X(real,   shrinkage,  "0",      "0..1", "share by which covariances between columns are shrunk", "0.1") \
    X(count,  dimensions, "0",      ">=0",  "number of directions; 0: all, at most classes - 1", "2") \
    X(list,   priors,     "",       "",     "prior probabilities of the classes: uniform, or CLASS=P for each; default: their shares of the rows", "uniform")
/* clang-format on */

CR_OPTIONS(fisher_options, fisher_table, FISHER_OPTIONS);

/* clang-format off */
#define FISHER_STATE(MEMBER)                                                                       \
    MEMBER(part,   moments,    (cri_class_moments), "inside", "what update needs")                 \
    MEMBER(part,   densities,  (cri_discriminant),  "inside", "slope and offset are those of the classes in the coordinates") \
    MEMBER(count,  p,          (),                  "",       "terms")                             \
    MEMBER(count,  q,          (),                  "",       "directions")                        \
    MEMBER(count,  K,          (),                  "",       "classes")                           \
    MEMBER(matrix, direction,  (q, p),              "",       "w")                                 \
    MEMBER(vector, eigenvalue, (q),                 ">=0",    "lambda")                            \
    MEMBER(matrix, position,   (K, q),              "",       "of the classes' means")             \
    MEMBER(real,   wilks,      (),                  "0..1",   "prod 1 / (1 + lambda), all of them") \
    MEMBER(real,   between,    (),                  ">=0",    "sum of all lambda")
/* clang-format on */

CRI_RECORD(fisher_state, FISHER_STATE, cri_coordinates at;);
CRI_RECORD_TABLE(static, fisher_record, fisher_state, FISHER_STATE);

static void fisher_release(cr_ctx *cx, void *state)
{
    cri_coordinates_free(cx, &((fisher_state *)state)->at);
}

/* --- fit ------------------------------------------------------------------------------------- */

/* Rows sqrt(n_k / (n - K)) L^-1 (m_k - m) [K x p]; returns the number of classes that have rows. */
static size_t whiten_means(const fisher_state *f, double *M)
{
    size_t p = f->p, there = 0;
    double n = 0;
    for (size_t k = 0; k < f->K; k++) n += f->moments.weight[k], there += f->moments.weight[k] > 0;
    double left = n > (double)there ? n - (double)there : 1;
    for (size_t k = 0; k < f->K; k++)
        for (size_t j = 0; j < p; j++)
            M[k * p + j] = sqrt(f->moments.weight[k] / left) *
                           (f->moments.mean[k * p + j] - f->densities.centre[j]);
    cri_blas_enter();
    if (p > 0)
        cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)f->K,
                    (int)p, 1, f->densities.inverse, (int)p, M, (int)p);
    cri_blas_leave();
    return there;
}

/* Row j = L^-T v_j, the greatest share of its variation made positive. */
static void set_directions(fisher_state *f, const double *V, size_t stride)
{
    size_t p = f->p;
    cri_blas_enter();
    for (size_t j = 0; j < f->q; j++) {
        double *w = f->direction + j * p, most = 0, sign = 1;
        for (size_t i = 0; i < p; i++) w[i] = V[i * stride + j];
        cblas_dtrmv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)p,
                    f->densities.inverse, (int)p, w, 1);
        for (size_t i = 0; i < p; i++) {
            double share = w[i] * sqrt(f->densities.variance[i]);
            if (fabs(share) > most * (1 + 1e-9)) most = fabs(share), sign = share < 0 ? -1 : 1;
        }
        for (size_t i = 0; i < p; i++) w[i] *= sign;
    }
    cri_blas_leave();
}

/* Where the classes stand, and what follows for their scores. */
static void set_positions(fisher_state *f)
{
    size_t p = f->p, q = f->q;
    for (size_t k = 0; k < f->K; k++) {
        double *at = f->position + k * q, *slope = f->densities.slope + k * p;
        memset(slope, 0, p * sizeof *slope);
        f->densities.offset[k] = f->densities.log_prior[k];
        for (size_t j = 0; j < q; j++) {
            const double *w = f->direction + j * p;
            for (size_t i = 0; i < p; i++)
                at[j] += w[i] * (f->moments.mean[k * p + i] - f->densities.centre[i]);
            for (size_t i = 0; i < p; i++) slope[i] += at[j] * w[i];
            f->densities.offset[k] -= 0.5 * at[j] * at[j];
        }
    }
}

static cr_status find_directions(cr_ctx *cx, fisher_state *f, size_t wanted)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     K = f->K, p = f->p, r = K < p ? K : p;
    double    *M = cr_scratch_matrix(&s, K, p), *U = cr_scratch_matrix(&s, K, r);
    double    *V = cr_scratch_matrix(&s, p, r), *sv = cr_scratch_f64(&s, r);

    CR_TRY(s.status);
    size_t most = whiten_means(f, M) - 1;
    if (most > p) most = p;
    if (r > 0) CR_TRY(cr_svd(cx, cr_cmat_of(M, K, p), cr_mat_of(U, K, r), sv, cr_mat_of(V, p, r)));
    f->q = wanted > 0 && wanted < most ? wanted : most;
    if (wanted > most)
        cr_log(cx, CR_LOG_WARNING, "there are at most %zu directions, not %zu", most, wanted);
    CR_TRY(cri_record_allocate(cx, fisher_record, f));
    f->wilks = 1;
    for (size_t j = 0; j < most; j++) {
        double lambda = sv[j] * sv[j];
        if (j < f->q) f->eigenvalue[j] = lambda;
        f->between += lambda;
        f->wilks /= 1 + lambda;
    }
    set_directions(f, V, r);
    set_positions(f);
    CR_TRY(cri_coordinates_name(cx, f->q, &f->at));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status fisher_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                               const void *options, void *sums)
{
    (void)state, (void)options;
    return cri_class_moments_of_rows(cx, rows, true, sums);
}

static cr_status fisher_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                              cr_report *report)
{
    cr_status                st = CR_OK;
    const fisher_options    *o = options;
    cri_discriminant_options g = { .pooled = true, .shrinkage = o->shrinkage, .priors = o->priors };
    fisher_state            *f = state;

    f->p = f->moments.p;
    f->K = f->moments.K;
    CR_TRY(cri_discriminant_make(cx, design, &f->moments, &g, &f->densities));
    CR_TRY(find_directions(cx, f, o->dimensions));
    report->stop = CR_STOP_CLOSED_FORM;
done:
    return st;
}

/* All but the moments, which the statistics are. */
static void fisher_reopen(cr_ctx *cx, void *state)
{
    fisher_state *f = state, empty = { 0 };
    fisher_release(cx, f);
    cri_record_free(cx, fisher_record, f);
    *f = empty;
}

/* --- predict and transform ------------------------------------------------------------------- */

static cr_status fisher_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    const fisher_state *f = state;
    return cri_discriminant_predict(cx, &f->densities, f->moments.mean, rows, out->prob);
}

enum { BLOCK = 128 };

typedef struct transform_work {
    const fisher_state *f;
    const cri_rows     *rows;
    double             *out;
} transform_work;

/* X [BLOCK x p] is workspace. */
static void transform_block(void *arg, cri_range range, double *X)
{
    const transform_work *w = arg;
    size_t                p = w->f->p, q = w->f->q, n = range.end - range.begin;
    cri_rows_fill(w->rows, range.begin, range.end, X, p);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++) X[i * p + j] -= w->f->densities.centre[j];
    if (p > 0 && q > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)q, (int)p, 1, X, (int)p,
                    w->f->direction, (int)p, 0, w->out + range.begin * q, (int)q);
}

static cr_status fisher_transform(cr_ctx *cx, const void *state, const cri_rows *rows, double *out)
{
    transform_work w = { state, rows, out };
    cr_status      st = cri_blas_reserve(cx);
    if (st != CR_OK) return st;
    cri_blas_enter();
    st = cri_parallel_rows(cx, "projecting", rows->n, BLOCK, BLOCK * w.f->p, transform_block, &w);
    cri_blas_leave();
    return st;
}

static const char *const *fisher_labels(const void *state, size_t *out_n)
{
    const fisher_state *f = state;
    *out_n = f->q;
    return f->at.names;
}

/* --- describe and file ----------------------------------------------------------------------- */

static void describe_coordinate(const fisher_state *f, const cr_design *d, size_t j,
                                cri_sheet *list)
{
    for (size_t i = 0; i < f->p; i++)
        cri_parameter_add(list, f->direction[j * f->p + i], NAN, "%s: %s", f->at.names[j],
                          cr_design_term_name(d, i));
    for (size_t k = 0; k < f->K; k++) {
        double n = f->moments.weight[k];
        cri_parameter_add(list, n > 0 ? f->position[k * f->q + j] : NAN, 1 / sqrt(n), "%s | %s",
                          f->at.names[j], cr_design_class(d, k));
    }
}

static const cr_field fisher_statistics[] = {
    CR_COUNT("dimensions", 0, "coordinates"),
    CR_NUMBER("shrinkage", CR_FIELD_NULL, "shrinkage of the covariance towards its diagonal"),
    CR_NUMBER("jitter", CR_FIELD_EITHER, "amount added to the diagonal, if it was needed"),
    CR_NUMBER("eigenvalue(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each coordinate: variance between the classes over that within"),
    CR_NUMBER("share(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each coordinate: its share of the variance between classes"),
    CR_NUMBER("wilks_lambda", CR_FIELD_NULL,
              "variance within over total: small if the classes differ"),
    CRI_PRIOR_FIELDS,
    CR_FIELD_LAST,
};

static cr_status fisher_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                 cri_sheet *out)
{
    const fisher_state *f = state;
    cri_sheet          *list = cri_put_list(out, "parameters"), *s;
    for (size_t j = 0; j < f->q; j++) describe_coordinate(f, design, j, list);
    s = cri_put_object(out, "statistics");
    cri_put_count(s, "dimensions", f->q);
    cri_put_real(s, "shrinkage", f->densities.shrinkage);
    if (f->densities.jitter > 0) cri_put_real(s, "jitter", f->densities.jitter);
    cri_coordinates_describe(&f->at, f->eigenvalue, f->between, s);
    cri_put_real(s, "wilks_lambda", f->wilks);
    cri_priors_describe(design, f->moments.weight, f->densities.log_prior, s);
    (void)cx;
    return CR_OK;
}

static cr_status fisher_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    fisher_state *f = state;
    bool          fits = cri_class_moments_fit(&f->moments, true, design) &&
                cri_discriminant_fits(&f->densities, &f->moments) && f->p == f->moments.p &&
                f->K == f->moments.K;
    return fits ? cri_coordinates_name(cx, f->q, &f->at) : CR_EDATA;
}

static bool fisher_doubt(cr_ctx *cx, const cr_design *design, const void *state)
{
    return cri_class_moments_doubt(cx, design, &((const fisher_state *)state)->moments);
}

const cr_model_class cri_class_fisher = {
    .example = "examples/iris.csv --target species",
    .name = "fisher",
    .summary = "Fisher's discriminants: the directions that best separate the classes",
    .formulas = "z_j = w_j . (x - m),   W^-1 B w = lambda w,   w' S w = 1\n"
                "B = sum_k n_k (m_k - m)(m_k - m)',  W = sum of scatters,  S = W / (n - K)\n"
                "p(k | z) ~ prior_k exp(-|z - z(m_k)|^2 / 2)",
    .reference =
        "Fisher (1936), Annals of Eugenics 7; Rao (1948), J. Royal Stat. Soc. B 10; Hastie, "
        "Tibshirani & Friedman (2009), sec. 4.3.3",
    .tasks = CR_TASK_CLASSIFICATION,
    .options = fisher_table,
    .options_size = sizeof(fisher_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .sums = &(const cri_sums_face){ .record = cri_class_moments_record,
                                    .size = sizeof(cri_class_moments),
                                    .at = offsetof(fisher_state, moments),
                                    .gather = fisher_gather,
                                    .merge = cri_class_moments_merge,
                                    .join = cri_class_moments_join_pooled,
                                    .solve = fisher_solve,
                                    .reopen = fisher_reopen },
    .rows = &(const cri_rows_face){ .predict = fisher_predict,
                                    .transform = fisher_transform,
                                    .labels = fisher_labels },
    .doubt = fisher_doubt,
    .describe = fisher_describe,
    .statistics = fisher_statistics,
    .state = fisher_record,
    .state_size = sizeof(fisher_state),
    .ready = fisher_ready,
    .release = fisher_release,
};
