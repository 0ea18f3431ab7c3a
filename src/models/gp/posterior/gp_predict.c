/* gp_predict.c -- predictive distributions and joint draws of a Gaussian process. */
#include "gp_draws.h"
#include "gp_method.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 1024,          /* rows predicted at a time, at least: n x BLOCK numbers of workspace */
    MOST_BLOCK = 4096,     /* and at most: the more, the less often a solve copies L             */
    MOST_NUMBERS = 1 << 23 /* that more than BLOCK rows may take                                 */
};

/* --- blocks of rows -------------------------------------------------------------------------- */

cr_status cri_gp_block_new(cr_scratch *s, const cri_gp_posterior *m, size_t p, size_t count,
                           bool with_C, cri_gp_block *out)
{
    *out = (cri_gp_block){ .count = count,
                           .terms = cr_scratch_matrix(s, count, p),
                           .X = cr_scratch_matrix(s, count, m->at.d),
                           .codes = cr_scratch_bytes(s, count * m->at.c, sizeof(uint32_t)),
                           .C = cr_scratch_matrix(s, with_C ? m->at.n : 0, count),
                           .R = cr_scratch_matrix(s, m->q, count),
                           .H = cr_scratch_matrix(s, count, m->q),
                           .prior = cr_scratch_f64(s, count),
                           .kernel = m->kernel };
    return s->status;
}

cr_status cri_gp_block_read(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                            const size_t *opt_index, size_t begin, size_t end, cri_gp_block *b)
{
    size_t count = b->count = end - begin;
    if (!opt_index) cri_gp_split(rows, begin, end, b->terms, b->X, b->codes);
    for (size_t i = 0; opt_index && i < count; i++)
        cri_gp_split(rows, opt_index[begin + i], opt_index[begin + i] + 1, b->terms,
                     b->X + i * m->at.d, b->codes + i * m->at.c);
    b->in = (cr_kernel_input){ .rows = count,
                               .numbers = cr_cmat_of(b->X, count, m->at.d),
                               .codes = b->codes,
                               .categories = m->at.c,
                               .names = cri_gp_names(rows) };
    cri_gp_mean_fill(&m->mean, b->X, count, b->H);
    return opt_index ? CR_OK : cri_gp_check_inputs(cx, m->kernel, rows, begin, &b->in);
}

cr_status cri_gp_kernel_cross(cr_ctx *cx, const cri_gp_posterior *m, cri_gp_block *b)
{
    cr_kernel_input at = cri_gp_inputs(&m->at);
    return cr_kernel_cross(cx, b->kernel, &at, &b->in, cr_mat_of(b->C, m->at.n, b->count));
}

/* mean [count] := k . alpha + h . b, the former where there is a kernel; C := k. */
static cr_status mean_of_block(cr_ctx *cx, const cri_gp_posterior *m, cri_gp_block *b, double *mean)
{
    cr_status st = CR_OK;
    size_t    count = b->count;
    memset(mean, 0, count * sizeof *mean);
    if (b->kernel) {
        CR_TRY(cri_gp_method_of(m)->cross(cx, m, b));
        CR_TRY(cr_gemv(cx, 1, cr_cmat_of(b->C, m->at.n, count), CR_TRANSPOSED, m->alpha, 0, mean));
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < m->q; j++) mean[i] += b->H[i * m->q + j] * m->beta[j];
done:
    return st;
}

void cri_gp_add_squares(const double *A, size_t rows, size_t count, double *out)
{
    for (size_t a = 0; a < rows; a++)
        for (size_t i = 0; i < count; i++) out[i] += A[a * count + i] * A[a * count + i];
}

cr_status cri_gp_project_mean(cr_ctx *cx, const cri_gp_posterior *m, cri_gp_block *b, cr_cmat V)
{
    cr_status st = CR_OK;
    size_t    count = b->count, q = m->q;
    cr_mat    R = cr_mat_of(b->R, q, count);
    if (q == 0) goto done;
    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < count; i++) R.a[j * count + i] = b->H[i * q + j];
    if (V.rows)
        CR_TRY(cr_gemm(cx, -1, cr_cmat_of(m->U, m->at.n, q), CR_TRANSPOSED, V, CR_PLAIN, 1, R));
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->A, q, q), R));
done:
    return st;
}

/* variance - |w|^2 + |v|^2 + |R|^2, the first difference not below 0. */
cr_status cri_gp_factor_project(cr_ctx *cx, const cri_gp_posterior *m, cri_gp_block *b,
                                double *opt_variance, double *opt_S)
{
    cr_status st = CR_OK;
    size_t    n = m->at.n, count = b->count;
    cr_mat    C = cr_mat_of(b->C, n, count), S = cr_mat_of(opt_S, count, count);
    bool      features = cri_gp_method_of(m)->features;

    if (m->L) CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->L, n, n), C));
    if (opt_variance) {
        memset(opt_variance, 0, count * sizeof *opt_variance);
        if (!features) cri_gp_add_squares(C.a, n, count, opt_variance);
        for (size_t i = 0; !features && i < count; i++)
            opt_variance[i] = fmax(b->prior[i] - opt_variance[i], 0);
    }
    if (opt_S && !features) CR_TRY(cr_syrk(cx, -1, cr_const(C), CR_TRANSPOSED, 1, S));
    if (m->L2) {
        CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->L2, n, n), C));
        if (opt_variance) cri_gp_add_squares(C.a, n, count, opt_variance);
        if (opt_S) CR_TRY(cr_syrk(cx, 1, cr_const(C), CR_TRANSPOSED, 1, S));
    }
    CR_TRY(cri_gp_project_mean(cx, m, b, cr_const(C)));
    if (opt_variance) cri_gp_add_squares(b->R, m->q, count, opt_variance);
    if (opt_S && m->q) CR_TRY(cr_syrk(cx, 1, cr_cmat_of(b->R, m->q, count), CR_TRANSPOSED, 1, S));
done:
    return st;
}

/* The variances of f, or of the mean function alone. */
static cr_status variance_of_block(cr_ctx *cx, const cri_gp_posterior *m, cri_gp_block *b,
                                   double *variance)
{
    cr_status st = CR_OK;
    if (b->kernel) {
        CR_TRY(cr_kernel_diagonal(cx, b->kernel, &b->in, false, b->prior));
        CR_TRY(cri_gp_method_of(m)->project(cx, m, b, variance, NULL));
    } else {
        memset(variance, 0, b->count * sizeof *variance);
        CR_TRY(cri_gp_project_mean(cx, m, b, cr_cmat_of(NULL, 0, b->count)));
        cri_gp_add_squares(b->R, m->q, b->count, variance);
    }
done:
    return st;
}

/* --- means and variances --------------------------------------------------------------------- */

/* How many rows to predict at a time from n inputs. */
static size_t block_of(size_t n)
{
    size_t many = MOST_NUMBERS / (n ? n : 1);
    return many < BLOCK ? BLOCK : many > MOST_BLOCK ? MOST_BLOCK : many;
}

cr_status cri_gp_some_moments(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                              const size_t *opt_index, size_t count, const cr_kernel *opt_kernel,
                              bool with_mean, double *mean, double *opt_variance)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       size = block_of(m->at.n), most = count < size ? count : size;
    double      *some = cr_scratch_f64(&s, most), *spread = cr_scratch_f64(&s, most);
    cri_gp_block b;

    CR_TRY(cri_gp_block_new(&s, m, rows->p, most, opt_kernel != NULL, &b));
    b.kernel = opt_kernel;
    for (size_t k = 0; k < cri_block_count(count, size); k++) {
        cri_range r = cri_block_range(count, size, k);
        CR_TRY(cri_gp_block_read(cx, m, rows, opt_index, r.begin, r.end, &b));
        if (!with_mean) memset(b.H, 0, b.count * m->q * sizeof *b.H);
        CR_TRY(mean_of_block(cx, m, &b, some));
        if (opt_variance) CR_TRY(variance_of_block(cx, m, &b, spread));
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

cr_status cri_gp_dense_moments(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                               double *mean, double *opt_variance)
{
    return cri_gp_some_moments(cx, m, rows, NULL, rows->n, m->kernel, true, mean, opt_variance);
}

/* The noise of new rows: that of a row of weight 1, and of white kernels. */
static cr_status add_noise(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                           size_t begin, cri_gp_block *b, double *variance)
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
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    cri_gp_block b;
    CR_TRY(cri_gp_block_new(&s, m, rows->p, rows->n < BLOCK ? rows->n : BLOCK, false, &b));
    for (size_t k = 0; k < cri_block_count(rows->n, BLOCK); k++) {
        cri_range r = cri_block_range(rows->n, BLOCK, k);
        b.count = r.end - r.begin;
        if (m->white) {
            CR_TRY(cri_gp_block_read(cx, m, rows, NULL, r.begin, r.end, &b));
            CR_TRY(cr_kernel_diagonal(cx, m->kernel, &b.in, false, b.prior));
        }
        CR_TRY(add_noise(cx, m, rows, r.begin, &b, variance + r.begin));
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status predict(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                         cr_prediction *out)
{
    cr_status st = CR_OK;
    CR_TRY(cri_gp_method_of(m)->moments(cx, m, rows, out->mean, out->scale));
    if (!out->scale) goto done;
    CR_TRY(add_noise_to_rows(cx, m, rows, out->scale));
    for (size_t i = 0; i < rows->n; i++) {
        out->scale[i] = sqrt(out->scale[i]);
        out->dof[i] = INFINITY;
    }
done:
    return st;
}

/* --- all rows together ----------------------------------------------------------------------- */

/* A block of all rows, for which memory must do. */
static cr_status read_all(cr_ctx *cx, cr_scratch *s, const cri_gp_posterior *m,
                          const cri_rows *rows, cri_gp_block *b)
{
    size_t n = rows->n;
    double bytes = 8 * (double)n * ((double)n + (double)m->at.n);
    if (bytes >= (double)cri_memory_left(cx)) {
        cr_fail(cx, CR_ENOMEM, "joint draws at %zu rows need %.3g GB for their covariance", n,
                bytes / 1e9);
        return cr_fail_hint(cx, "draw at fewer rows");
    }
    cr_status st = cri_gp_block_new(s, m, rows->p, n, true, b);
    return st == CR_OK ? cri_gp_block_read(cx, m, rows, NULL, 0, n, b) : st;
}

/* mean [n] and covariance S [n x n] of f in a block of all rows; prior: before any data, h . b and
 * k. */
static cr_status joint(cr_ctx *cx, const cri_gp_posterior *m, bool prior, cri_gp_block *b,
                       double *mean, double *S)
{
    cr_status            st = CR_OK;
    size_t               n = b->count;
    const cri_gp_method *method = cri_gp_method_of(m);

    CR_TRY(cr_kernel_diagonal(cx, m->kernel, &b->in, false, b->prior));
    if (prior) b->kernel = NULL;
    CR_TRY(mean_of_block(cx, m, b, mean));
    if (method->features && !prior)
        memset(S, 0, n * n * sizeof *S);
    else
        CR_TRY(cr_kernel_cross(cx, m->kernel, &b->in, &b->in, cr_mat_of(S, n, n)));
    if (prior) goto done;
    CR_TRY(method->project(cx, m, b, NULL, S));
    for (size_t i = 0; i < n; i++) S[i * n + i] = fmax(S[i * n + i], 0);
done:
    return st;
}

static cr_status function(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows, bool prior,
                          double *mean, double *opt_sd, double *opt_covariance)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       n = rows->n;
    double      *S = opt_covariance;
    cri_gp_block b;

    if (!prior && !S) {
        CR_TRY(cri_gp_method_of(m)->moments(cx, m, rows, mean, opt_sd));
        for (size_t i = 0; opt_sd && i < n; i++) opt_sd[i] = sqrt(opt_sd[i]);
        goto done;
    }
    CR_TRY(read_all(cx, &s, m, rows, &b));
    if (!S) S = cr_scratch_matrix(&s, n, n);
    CR_TRY(s.status);
    CR_TRY(joint(cx, m, prior, &b, mean, S));
    for (size_t i = 0; opt_sd && i < n; i++) opt_sd[i] = sqrt(S[i * n + i]);
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status draw(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                      cri_gp_drawn what, size_t count, uint64_t seed, double *out)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       n = rows->n;
    cri_gp_block b;

    CR_TRY(read_all(cx, &s, m, rows, &b));
    double *S = cr_scratch_matrix(&s, n, n), *mean = cr_scratch_f64(&s, n);
    double *noise = cr_scratch_bytes(&s, n, sizeof(double));
    CR_TRY(s.status);
    CR_TRY(joint(cx, m, what == CRI_GP_PRIOR_FUNCTIONS, &b, mean, S));
    if (what == CRI_GP_TARGETS) CR_TRY(add_noise(cx, m, rows, 0, &b, noise));
    for (size_t i = 0; i < n; i++) S[i * n + i] += noise[i];
    CR_TRY(cri_gp_draw(cx, mean, S, n, b.prior, count, seed, out));
done:
    cr_scratch_end(&s);
    return st;
}

const cri_gp_answers cri_gp_process_answers = { .predict = predict,
                                                .function = function,
                                                .draw = draw,
                                                .slopes = cri_gp_process_slopes,
                                                .part = cri_gp_process_part,
                                                .parameters = cri_gp_process_parameters };

/* --- the functions of the model class -------------------------------------------------------- */

static const cri_gp_answers *answers_of(const void *m) { return cri_gp_method_of(m)->answers; }

cr_status cri_gp_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    return answers_of(state)->predict(cx, state, rows, out);
}

cr_status cri_gp_sample(cr_ctx *cx, const void *state, const cr_design *design,
                        const cri_rows *rows, size_t count, uint64_t seed, double *out)
{
    (void)design;
    if (!rows || rows->n == 0) return CR_OK;
    return answers_of(state)->draw(cx, state, rows, CRI_GP_TARGETS, count, seed, out);
}

cr_status cri_gp_function(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                          double *mean, double *opt_sd, double *opt_covariance)
{
    return answers_of(state)->function(cx, state, rows, prior, mean, opt_sd, opt_covariance);
}

cr_status cri_gp_mean_spread(cr_ctx *cx, const void *state, const cri_rows *rows, double *out_scale,
                             double *out_dof)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = rows->n;
    double    *mean = cr_scratch_f64(&s, n), *S = cr_scratch_matrix(&s, n, n), sum = 0;

    CR_TRY(s.status);
    CR_TRY(cri_gp_function(cx, state, rows, false, mean, NULL, S));
    for (size_t i = 0; i < n * n; i++) sum += S[i];
    *out_scale = sqrt(fmax(sum, 0)) / (double)n;
    *out_dof = INFINITY;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_functions(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                           size_t count, uint64_t seed, double *out)
{
    cri_gp_drawn what = prior ? CRI_GP_PRIOR_FUNCTIONS : CRI_GP_FUNCTIONS;
    return answers_of(state)->draw(cx, state, rows, what, count, seed, out);
}

cr_status cri_gp_slopes(cr_ctx *cx, const void *state, const cri_rows *rows, double *out)
{
    return answers_of(state)->slopes(cx, state, rows, out);
}

cr_status cri_gp_part(cr_ctx *cx, const void *state, const cr_design *design, size_t k,
                      const cri_rows *rows, cr_part *out_part, double *mean, double *sd)
{
    return answers_of(state)->part(cx, state, design, k, rows, out_part, mean, sd);
}
