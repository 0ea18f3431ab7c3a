/* gp_predict.c -- predictive distributions and joint draws of a Gaussian process. */
#include "gp_draws.h"
#include "gp_lowrank.h"
#include "gp_mcmc.h"
#include "models/gp/cg/gp_nearest.h"
#include "gp_posterior.h"
#include "models/gp/sparse/gp_spectrum.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 1024,          /* rows predicted at a time, at least: n x BLOCK numbers of workspace  */
    MOST_BLOCK = 4096,     /* and at most: the more, the less often a solve copies L         */
    MOST_NUMBERS = 1 << 23 /* numbers that more than BLOCK rows may take                     */
};

/* Some rows on their way through the formulas. */
typedef struct block {
    size_t          count;
    double         *workspace, *X; /* [count x p], [count x d] */
    uint32_t       *codes;         /* [count x c]              */
    double         *C;             /* [n x count] k, then w, then v; not of a low rank */
    size_t          rows;          /* of v: n, or the rank of the root */
    double         *R;             /* [q x count] A^-1 (h - U^T v)  */
    double         *H;             /* [count x q]              */
    double         *prior;         /* [count] k(x, x)          */
    cr_kernel_input in;
} block;

static cr_status block_new(cr_scratch *s, const cri_gp_posterior *m, size_t p, size_t count,
                           bool low, block *out)
{
    *out = (block){ .count = count,
                    .workspace = cr_scratch_matrix(s, count, p),
                    .X = cr_scratch_matrix(s, count, m->at.d),
                    .codes = cr_scratch_bytes(s, count * m->at.c, sizeof(uint32_t)),
                    .C = cr_scratch_matrix(s, low ? 0 : m->at.n, count),
                    .R = cr_scratch_matrix(s, m->q, count),
                    .H = cr_scratch_matrix(s, count, m->q),
                    .prior = cr_scratch_f64(s, count) };
    return s->status;
}

/* The inputs of rows [begin, end), or of those that an index names, which were read before, and
 * their terms of the mean. */
static cr_status read_rows(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                           const size_t *opt_index, size_t begin, size_t end, block *b)
{
    size_t count = b->count = end - begin;
    if (!opt_index) cri_gp_split(rows, begin, end, b->workspace, b->X, b->codes);
    for (size_t i = 0; opt_index && i < count; i++)
        cri_gp_split(rows, opt_index[begin + i], opt_index[begin + i] + 1, b->workspace,
                     b->X + i * m->at.d, b->codes + i * m->at.c);
    b->in = (cr_kernel_input){ .rows = count,
                               .numbers = cr_cmat_of(b->X, count, m->at.d),
                               .codes = b->codes,
                               .categories = m->at.c,
                               .names = cri_gp_names(rows) };
    cri_gp_mean_fill(&m->mean, b->X, count, b->H);
    return opt_index ? CR_OK : cri_gp_check_inputs(cx, m->kernel, rows, begin, &b->in);
}

/* k and the mean of the rows of a block. */
static cr_status mean_of_block(cr_ctx *cx, const cri_gp_posterior *m, block *b, double *out_mean)
{
    cr_status       st = CR_OK;
    size_t          count = b->count, n = m->at.n;
    cr_kernel_input at = cri_gp_inputs(&m->at);

    if (m->approx == CRI_GP_RFF)
        CR_TRY(cri_gp_waves(cx, m->at.X, m->at.y, m->at.r, n, b->X, count, m->at.d, b->C, NULL));
    else
        CR_TRY(cr_kernel_cross(cx, m->kernel, &at, &b->in, cr_mat_of(b->C, n, count)));
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(b->C, n, count), CR_TRANSPOSED, m->alpha, 0, out_mean));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < m->q; j++) out_mean[i] += b->H[i * m->q + j] * m->beta[j];
done:
    return st;
}

/* Rows [begin, end): inputs, k and the mean. */
static cr_status predict_mean(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                              size_t begin, size_t end, block *b, double *out_mean)
{
    cr_status st = read_rows(cx, m, rows, NULL, begin, end, b);
    return st == CR_OK ? mean_of_block(cx, m, b, out_mean) : st;
}

static void add_squares(const double *A, size_t rows, size_t count, double *out)
{
    for (size_t a = 0; a < rows; a++)
        for (size_t i = 0; i < count; i++) out[i] += A[a * count + i] * A[a * count + i];
}

/* The same by the root: b->C := root^T k, b->R = A^-1 (h - (C^-1 H)^T k). */
static cr_status project_block(cr_ctx *cx, const cri_gp_posterior *m, block *b, double *opt_taken)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->at.n, count = b->count, q = m->q;
    double    *V = cr_scratch_matrix(&s, m->inverse.rank, count);
    cr_cmat    C = cr_cmat_of(b->C, n, count);

    CR_TRY(s.status);
    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < count; i++) b->R[j * count + i] = b->H[i * q + j];
    if (q) {
        CR_TRY(cr_gemm(cx, -1, cr_cmat_of(m->U, n, q), CR_TRANSPOSED, C, CR_PLAIN, 1,
                       cr_mat_of(b->R, q, count)));
        CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->A, q, q), cr_mat_of(b->R, q, count)));
    }
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(m->inverse.root, n, m->inverse.rank), CR_TRANSPOSED, C,
                   CR_PLAIN, 0, cr_mat_of(V, m->inverse.rank, count)));
    for (size_t i = 0; opt_taken && i < count; i++) opt_taken[i] = 0;
    if (opt_taken && m->inverse.near) {
        cri_gp_nearest near = { &m->at,          m->kernel,       m->noise,
                                m->inverse.rank, m->inverse.near, m->inverse.image };
        CR_TRY(cri_gp_nearest_take(cx, &near, b->C, V, count, opt_taken));
    }
    memcpy(b->C, V, m->inverse.rank * count * sizeof *V);
    b->rows = m->inverse.rank;
    if (opt_taken) add_squares(b->C, m->inverse.rank, count, opt_taken);
done:
    cr_scratch_end(&s);
    return st;
}

/* b->C := v, b->R, and variance [count] := the share of w in k(x, x): what is to be taken off. */
static cr_status solve_block(cr_ctx *cx, const cri_gp_posterior *m, block *b, double *opt_taken)
{
    cr_status st = CR_OK;
    size_t    n = m->at.n, count = b->count, q = m->q;
    cr_mat    C = cr_mat_of(b->C, n, count), R = cr_mat_of(b->R, q, count);

    CR_TRY(cr_kernel_diagonal(cx, m->kernel, &b->in, false, b->prior));
    b->rows = n;
    if (m->cg) return project_block(cx, m, b, opt_taken);
    if (m->L) CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->L, n, n), C));
    for (size_t i = 0; opt_taken && i < count; i++) opt_taken[i] = 0;
    for (size_t a = 0; opt_taken && a < n; a++)
        for (size_t i = 0; i < count; i++) opt_taken[i] += C.a[a * count + i] * C.a[a * count + i];
    if (m->L2) CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->L2, n, n), C));
    if (q == 0) goto done;
    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < count; i++) R.a[j * count + i] = b->H[i * q + j];
    CR_TRY(cr_gemm(cx, -1, cr_cmat_of(m->U, n, q), CR_TRANSPOSED, cr_const(C), CR_PLAIN, 1, R));
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->A, q, q), R));
done:
    return st;
}

/* The variance of f in each row of the block, never below 0. */
static cr_status predict_variance(cr_ctx *cx, const cri_gp_posterior *m, block *b, double *variance)
{
    cr_status st = solve_block(cx, m, b, variance);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < b->count; i++) {
        double left = cri_gp_has_features(m) ? 0 : b->prior[i] - variance[i];
        variance[i] = left > 0 ? left : 0;
    }
    if (m->L2) add_squares(b->C, m->at.n, b->count, variance);
    add_squares(b->R, m->q, b->count, variance);
    return CR_OK;
}

/* How many rows to predict at a time from n inputs. */
static size_t block_of(size_t n)
{
    size_t many = MOST_NUMBERS / (n ? n : 1);
    return many < BLOCK ? BLOCK : many > MOST_BLOCK ? MOST_BLOCK : many;
}

/* mean and variance of f in `count` rows, or in those that an index names. */
static cr_status predict_dense(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                               const size_t *opt_index, size_t count, double *mean,
                               double *opt_variance)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     size = block_of(m->at.n), most = count < size ? count : size;
    double    *some = cr_scratch_f64(&s, most), *spread = cr_scratch_f64(&s, most);
    block      b;

    CR_TRY(block_new(&s, m, rows->p, most, false, &b));
    for (size_t k = 0; k < cri_block_count(count, size); k++) {
        cri_range r = cri_block_range(count, size, k);
        CR_TRY(read_rows(cx, m, rows, opt_index, r.begin, r.end, &b));
        CR_TRY(mean_of_block(cx, m, &b, some));
        if (opt_variance) CR_TRY(predict_variance(cx, m, &b, spread));
        for (size_t i = 0; i < b.count; i++) {
            size_t to = opt_index ? opt_index[r.begin + i] : r.begin + i;
            mean[to] = some[i];
            if (opt_variance) opt_variance[to] = spread[i];
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The same of all rows by the low-rank form; those that it does not hold for by the dense
 * formulas. */
static cr_status predict_low(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                             double *mean, double *opt_variance)
{
    cr_status                st = CR_OK;
    cr_scratch               s = cr_scratch_begin(cx);
    size_t                   most = rows->n < MOST_BLOCK ? rows->n : MOST_BLOCK, others = 0;
    size_t                  *index = cr_scratch_index(&s, rows->n);
    double                  *errors = cr_scratch_f64(&s, 2 * most);
    cri_gp_lowrank_workspace workspace;
    block                    b;

    CR_TRY(block_new(&s, m, rows->p, most, true, &b));
    CR_TRY(cri_gp_lowrank_open(&s, m, most, &workspace));
    for (size_t k = 0; k < cri_block_count(rows->n, MOST_BLOCK); k++) {
        cri_range           r = cri_block_range(rows->n, MOST_BLOCK, k);
        cri_gp_lowrank_rows found = { .count = r.end - r.begin,
                                      .H = b.H,
                                      .prior = b.prior,
                                      .mean = mean + r.begin,
                                      .mean_error = errors,
                                      .variance = opt_variance ? opt_variance + r.begin : NULL,
                                      .variance_error = errors + most };
        CR_TRY(read_rows(cx, m, rows, NULL, r.begin, r.end, &b));
        CR_TRY(cr_kernel_diagonal(cx, m->kernel, &b.in, false, b.prior));
        CR_TRY(cri_gp_lowrank_predict(cx, m, &b.in, &workspace, &found));
        for (size_t i = 0; i < b.count; i++)
            if (!cri_gp_lowrank_holds(m, &found, i)) index[others++] = r.begin + i;
    }
    if (others) CR_TRY(predict_dense(cx, m, rows, index, others, mean, opt_variance));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status predict_rows(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                              double *mean, double *opt_variance)
{
    bool low = opt_variance ? m->low.rank > 0 : cri_gp_lowrank_for_means(m);
    return low ? predict_low(cx, m, rows, mean, opt_variance)
               : predict_dense(cx, m, rows, NULL, rows->n, mean, opt_variance);
}

/* The noise of new rows: that of a row of weight 1, and of white kernels. */
static cr_status add_noise(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                           size_t begin, block *b, double *variance)
{
    for (size_t i = 0; i < b->count; i++)
        variance[i] += m->noise_column ? rows->roles[0][begin + i] : m->noise;
    if (!m->white) return CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *all = cr_scratch_f64(&s, b->count);
    cr_status  st = s.status;
    if (st == CR_OK) st = cr_kernel_diagonal(cx, m->kernel, &b->in, true, all);
    for (size_t i = 0; st == CR_OK && i < b->count; i++) variance[i] += all[i] - b->prior[i];
    cr_scratch_end(&s);
    return st;
}

/* The noise of all rows. */
static cr_status add_noise_to_rows(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                                   double *variance)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    block      b;
    CR_TRY(block_new(&s, m, rows->p, rows->n < BLOCK ? rows->n : BLOCK, true, &b));
    for (size_t k = 0; k < cri_block_count(rows->n, BLOCK); k++) {
        cri_range r = cri_block_range(rows->n, BLOCK, k);
        b.count = r.end - r.begin;
        if (m->white) {
            CR_TRY(read_rows(cx, m, rows, NULL, r.begin, r.end, &b));
            CR_TRY(cr_kernel_diagonal(cx, m->kernel, &b.in, false, b.prior));
        }
        CR_TRY(add_noise(cx, m, rows, r.begin, &b, variance + r.begin));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    cr_status               st = CR_OK;
    const cri_gp_posterior *m = state;

    if (m->n_draws) return cri_gp_mcmc_predict(cx, m, rows, out);
    CR_TRY(predict_rows(cx, m, rows, out->mean, out->scale));
    if (!out->scale) goto done;
    CR_TRY(add_noise_to_rows(cx, m, rows, out->scale));
    for (size_t i = 0; i < rows->n; i++) {
        out->scale[i] = sqrt(out->scale[i]);
        out->dof[i] = INFINITY;
    }
done:
    return st;
}

/* --- joint draws ----------------------------------------------------------------------------- */

static cr_status check_memory(cr_ctx *cx, const cri_gp_posterior *m, size_t n)
{
    double bytes = 8 * (double)n * ((double)n + (double)m->at.n);
    if (bytes < (double)cri_memory_left(cx)) return CR_OK;
    cr_fail(cx, CR_ENOMEM, "joint draws at %zu rows need %.3g GB for their covariance", n,
            bytes / 1e9);
    return cr_fail_hint(cx, "draw at fewer rows");
}

/* Scales a covariance to the variances prior - taken, which are not above those it has. */
static void scale_to(const double *prior, double *taken, size_t n, double *S)
{
    for (size_t i = 0; i < n; i++) {
        double left = fmax(prior[i] - taken[i], 0), has = S[i * n + i];
        taken[i] = has > left ? sqrt(left / has) : 1;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) S[i * n + j] *= taken[i] * taken[j];
}

/* S [n x n] := the covariance of the function at all rows; mean [n]. */
static cr_status joint(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows, block *b,
                       double *mean, double *S)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = rows->n, a = m->at.n;
    cr_mat     K = cr_mat_of(S, n, n);
    double    *taken = cr_scratch_bytes(&s, n, sizeof(double));

    CR_TRY(s.status);
    CR_TRY(predict_mean(cx, m, rows, 0, n, b, mean));
    CR_TRY(cr_kernel_cross(cx, m->kernel, &b->in, &b->in, K));
    if (cri_gp_has_features(m)) memset(S, 0, n * n * sizeof *S);
    if (m->L2 && !cri_gp_has_features(m)) { /* - w^T w here, + v^T v below */
        CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->L, a, a), cr_mat_of(b->C, a, n)));
        CR_TRY(cr_syrk(cx, -1, cr_cmat_of(b->C, a, n), CR_TRANSPOSED, 1, K));
        CR_TRY(predict_mean(cx, m, rows, 0, n, b, mean));
    }
    CR_TRY(solve_block(cx, m, b, m->inverse.near ? taken : NULL));
    CR_TRY(cr_syrk(cx, m->L2 ? 1 : -1, cr_cmat_of(b->C, b->rows, n), CR_TRANSPOSED, 1, K));
    if (m->inverse.near) scale_to(b->prior, taken, n, S);
    if (m->q) CR_TRY(cr_syrk(cx, 1, cr_cmat_of(b->R, m->q, n), CR_TRANSPOSED, 1, K));
    for (size_t i = 0; i < n; i++) S[i * n + i] = fmax(S[i * n + i], 0);
done:
    cr_scratch_end(&s);
    return st;
}

/* The same before any data: h . b and k. */
static cr_status joint_prior(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows, block *b,
                             double *mean, double *S)
{
    cr_status st = CR_OK;
    CR_TRY(predict_mean(cx, m, rows, 0, rows->n, b, mean));
    CR_TRY(cr_kernel_diagonal(cx, m->kernel, &b->in, false, b->prior));
    CR_TRY(cr_kernel_cross(cx, m->kernel, &b->in, &b->in, cr_mat_of(S, rows->n, rows->n)));
    for (size_t i = 0; i < rows->n; i++) {
        mean[i] = 0;
        for (size_t j = 0; j < m->q; j++) mean[i] += b->H[i * m->q + j] * m->beta[j];
    }
done:
    return st;
}

cr_status cri_gp_sample(cr_ctx *cx, const void *state, const cr_design *design,
                        const cri_rows *rows, size_t count, uint64_t seed, double *out)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    const cri_gp_posterior *m = state;
    size_t                  n = rows ? rows->n : 0;
    double                 *S, *mean, *noise;
    block                   b;

    if (n == 0) goto done;
    if (m->n_draws) {
        st = cri_gp_mcmc_sample(cx, m, design, rows, CRI_GP_TARGETS, count, seed, out);
        goto done;
    }
    CR_TRY(check_memory(cx, m, n));
    S = cr_scratch_matrix(&s, n, n);
    mean = cr_scratch_f64(&s, n);
    noise = cr_scratch_bytes(&s, n, sizeof(double));
    CR_TRY(block_new(&s, m, rows->p, n, false, &b));
    CR_TRY(joint(cx, m, rows, &b, mean, S));
    CR_TRY(add_noise(cx, m, rows, 0, &b, noise));
    for (size_t i = 0; i < n; i++) S[i * n + i] += noise[i];
    CR_TRY(cri_gp_draw(cx, mean, S, n, b.prior, count, seed, out));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the function itself --------------------------------------------------------------------- */

cr_status cri_gp_function(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                          double *mean, double *opt_sd, double *opt_covariance)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    const cri_gp_posterior *m = state;
    size_t                  n = rows->n;
    double                 *S = opt_covariance;
    block                   b;

    if (m->n_draws) {
        st = cri_gp_mcmc_function(cx, m, rows, prior, mean, opt_sd, opt_covariance);
        goto done;
    }
    if (!prior && !S) {
        CR_TRY(predict_rows(cx, m, rows, mean, opt_sd));
        for (size_t i = 0; opt_sd && i < n; i++) opt_sd[i] = sqrt(opt_sd[i]);
        goto done;
    }
    CR_TRY(check_memory(cx, m, n));
    if (!S) S = cr_scratch_matrix(&s, n, n);
    CR_TRY(block_new(&s, m, rows->p, n, false, &b));
    CR_TRY(prior ? joint_prior(cx, m, rows, &b, mean, S) : joint(cx, m, rows, &b, mean, S));
    for (size_t i = 0; opt_sd && i < n; i++) opt_sd[i] = sqrt(S[i * n + i]);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_functions(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                           size_t count, uint64_t seed, double *out)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    const cri_gp_posterior *m = state;
    size_t                  n = rows->n;
    double                 *S, *mean;
    block                   b;

    if (m->n_draws) {
        cri_gp_drawn what = prior ? CRI_GP_PRIOR_FUNCTIONS : CRI_GP_FUNCTIONS;
        st = cri_gp_mcmc_sample(cx, m, NULL, rows, what, count, seed, out);
        goto done;
    }
    CR_TRY(check_memory(cx, m, n));
    S = cr_scratch_matrix(&s, n, n);
    mean = cr_scratch_f64(&s, n);
    CR_TRY(block_new(&s, m, rows->p, n, false, &b));
    CR_TRY(prior ? joint_prior(cx, m, rows, &b, mean, S) : joint(cx, m, rows, &b, mean, S));
    CR_TRY(cri_gp_draw(cx, mean, S, n, b.prior, count, seed, out));
done:
    cr_scratch_end(&s);
    return st;
}
