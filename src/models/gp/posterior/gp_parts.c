/* gp_parts.c -- parts and evidence of a Gaussian process. */
#include "gp_parts.h"
#include "gp_mcmc.h"
#include "models/gp/sparse/gp_sparse.h"
#include "models/gp/sparse/gp_spectrum.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cr_status refuse(cr_ctx *cx, const cri_gp_posterior *m, const char *what, const char *fits)
{
    if (m->cg)
        cr_fail(cx, CR_EUNSUPPORTED, "a Gaussian process by --solver cg has no %s", what);
    else
        cr_fail(cx, CR_EUNSUPPORTED, "a Gaussian process by --approx %s has no %s",
                cri_gp_approx_name(m->approx), what);
    return cr_fail_hint(cx, "fit it with %s", fits);
}

/* Random features are those of the whole kernel; a root that needs the nearest inputs has no
 * covariance. */
static cr_status check_parts(cr_ctx *cx, const cri_gp_posterior *m)
{
    if (m->approx != CRI_GP_RFF && !m->inverse.near) return CR_OK;
    return refuse(cx, m, "parts", m->cg ? "--approx vfe" : "--approx vfe or nystrom");
}

static cr_status check_evidence(cr_ctx *cx, const cri_gp_posterior *m)
{
    bool fine = (m->approx == CRI_GP_EXACT && !m->cg) || m->approx == CRI_GP_SOR ||
                m->approx == CRI_GP_DTC || m->approx == CRI_GP_FITC || m->approx == CRI_GP_VFE;
    return fine ? CR_OK
                : refuse(cx, m, "log evidence to draw",
                         "--approx exact, sor, dtc, fitc or vfe, and --solver cholesky");
}

/* --- moments of a part ----------------------------------------------------------------------- */

typedef struct inputs {
    size_t          n;
    double         *H; /* [n x q] */
    cr_kernel_input in;
} inputs;

static cr_status inputs_of(cr_scratch *s, const cri_gp_posterior *m, const cri_rows *rows,
                           inputs *out)
{
    size_t    n = rows->n;
    double   *workspace = cr_scratch_matrix(s, n, rows->p), *X = cr_scratch_matrix(s, n, m->at.d);
    uint32_t *codes = cr_scratch_bytes(s, n * m->at.c, sizeof *codes);
    out->n = n;
    out->H = cr_scratch_matrix(s, n, m->q);
    if (s->status != CR_OK) return s->status;
    cri_gp_split(rows, 0, n, workspace, X, codes);
    cri_gp_mean_fill(&m->mean, X, n, out->H);
    out->in = (cr_kernel_input){ .rows = n,
                                 .numbers = cr_cmat_of(X, n, m->at.d),
                                 .codes = codes,
                                 .categories = m->at.c,
                                 .names = cri_gp_names(rows) };
    return CR_OK;
}

/* sign * sum of the squares down each column of A [rows x n], or the matrix of products. */
static cr_status add_squares(cr_ctx *cx, double sign, const double *A, size_t rows, size_t n,
                             bool joint, double *S)
{
    if (rows == 0) return CR_OK;
    if (joint)
        return cr_syrk(cx, sign, cr_cmat_of(A, rows, n), CR_TRANSPOSED, 1, cr_mat_of(S, n, n));
    for (size_t a = 0; a < rows; a++)
        for (size_t i = 0; i < n; i++) S[i] += sign * A[a * n + i] * A[a * n + i];
    return CR_OK;
}

/* R [q x n] -= U^T v, or by conjugate gradients U^T k. */
static cr_status take_off_mean(cr_ctx *cx, const cri_gp_posterior *m, cr_mat v, double *R)
{
    if (m->q == 0) return CR_OK;
    return cr_gemm(cx, -1, cr_cmat_of(m->U, m->at.n, m->q), CR_TRANSPOSED, cr_const(v), CR_PLAIN, 1,
                   cr_mat_of(R, m->q, v.cols));
}

/* c := root^T c. */
static cr_status apply_root(cr_ctx *cx, const cri_gp_posterior *m, cr_mat *c)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = c->cols, r = m->inverse.rank;
    double    *V = cr_scratch_matrix(&s, r, n);

    CR_TRY(s.status);
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(m->inverse.root, m->at.n, r), CR_TRANSPOSED, cr_const(*c),
                   CR_PLAIN, 0, cr_mat_of(V, r, n)));
    memcpy(c->a, V, r * n * sizeof *V);
    *c = cr_mat_of(c->a, r, n);
done:
    cr_scratch_end(&s);
    return st;
}

/* mean [n] and variances S [n], or covariance S [n x n] when joint, of the part with kernel opt_k,
 * of the mean function when with_mean, or of both together. */
static cr_status moments(cr_ctx *cx, const cri_gp_posterior *m, const cr_kernel *opt_k,
                         bool with_mean, const inputs *x, bool joint, double *mean, double *S)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = x->n, a = m->at.n, q = m->q;
    cr_kernel_input at = cri_gp_inputs(&m->at);
    double         *C = cr_scratch_matrix(&s, opt_k ? a : 0, n), *R = cr_scratch_matrix(&s, q, n);
    cr_mat          c = cr_mat_of(C, a, n);
    bool            features = cri_gp_has_features(m);

    CR_TRY(s.status);
    memset(mean, 0, n * sizeof *mean);
    memset(S, 0, (joint ? n * n : n) * sizeof *S);
    memset(R, 0, q * n * sizeof *R);
    for (size_t i = 0; with_mean && i < n; i++)
        for (size_t j = 0; j < q; j++) {
            mean[i] += x->H[i * q + j] * m->beta[j];
            R[j * n + i] = x->H[i * q + j];
        }
    if (opt_k) {
        if (!features)
            CR_TRY(joint ? cr_kernel_cross(cx, opt_k, &x->in, &x->in, cr_mat_of(S, n, n))
                         : cr_kernel_diagonal(cx, opt_k, &x->in, false, S));
        CR_TRY(m->approx == CRI_GP_RFF ? cri_gp_waves(cx, m->at.X, m->at.y, m->at.r, a,
                                                      x->in.numbers.a, n, m->at.d, C, NULL)
                                       : cr_kernel_cross(cx, opt_k, &at, &x->in, c));
        CR_TRY(cr_gemv(cx, 1, cr_const(c), CR_TRANSPOSED, m->alpha, 1, mean));
        if (m->cg) CR_TRY(take_off_mean(cx, m, c, R));
        if (m->cg) CR_TRY(apply_root(cx, m, &c));
        if (m->L) CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->L, a, a), c));
        if (!features) CR_TRY(add_squares(cx, -1, C, c.rows, n, joint, S));
        if (m->L2) {
            CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->L2, a, a), c));
            CR_TRY(add_squares(cx, 1, C, a, n, joint, S));
        }
        if (!m->cg) CR_TRY(take_off_mean(cx, m, c, R));
    }
    if (q) CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->A, q, q), cr_mat_of(R, q, n)));
    CR_TRY(add_squares(cx, 1, R, q, n, joint, S));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- parts ----------------------------------------------------------------------------------- */

/* The term of the kernel that is part number k, noise not counted; NULL beyond the last. */
static cr_status find_term(cr_ctx *cx, const cri_gp_posterior *m, size_t k, cr_kernel **out)
{
    for (size_t t = 0; t < cr_kernel_terms(m->kernel); t++) {
        cr_kernel *term = NULL;
        cr_status  st = cr_kernel_term(cx, m->kernel, t, &term);
        if (st != CR_OK) return st;
        bool noise = cri_kernel_is_noise(term, term->n_nodes - 1);
        if (!noise && k-- == 0) {
            *out = term;
            return CR_OK;
        }
        cr_kernel_free(cx, term);
    }
    return CR_OK;
}

/* Sets the only column among those read, if it is one. */
static void set_column(const cr_design *design, const bool *numbers, const bool *categories,
                       cr_part *out)
{
    const char *name = NULL;
    bool        category = false;
    for (size_t j = 0; j < design->p; j++) {
        bool code = cri_design_is_code(design, j);
        if (!*(code ? categories++ : numbers++)) continue;
        if (name || j < design->block.n) return;
        const cri_design_term *term = &design->terms[j - design->block.n];
        if (!code && term->power != 1) return;
        name = design->columns[term->column].name;
        category = code;
    }
    out->column = name;
    out->category = category;
}

static cr_status name_term(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design,
                           const cr_kernel *term, cr_part *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_kernel *brief = NULL;
    bool *numbers = cr_scratch_bytes(&s, m->at.d + m->at.c + 1, sizeof *numbers); /* none yet */

    CR_TRY(s.status);
    CR_TRY(cr_kernel_copy(cx, term, &brief));
    cri_kernel_columns_read(term, term->n_nodes - 1, m->at.d, numbers, m->at.c, numbers + m->at.d);
    cri_kernel_shorten(brief);
    cr_kernel_print(brief, out->name, sizeof out->name);
    set_column(design, numbers, numbers + m->at.d, out);
done:
    cr_kernel_free(cx, brief);
    cr_scratch_end(&s);
    return st;
}

static cr_status name_mean(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design,
                           cr_part *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool      *categories = cr_scratch_bytes(&s, m->at.c + 1, sizeof *categories);
    size_t     most = 0;

    CR_TRY(s.status);
    for (size_t t = 0; t < m->q; t++)
        if (m->mean.power[t] > (double)most) most = (size_t)m->mean.power[t];
    snprintf(out->name, sizeof out->name,
             most == 0   ? "mean function: constant"
             : most == 1 ? "mean function: linear"
                         : "mean function: polynomial");
    if (most > 0 && m->at.d == 1) set_column(design, &(const bool){ true }, categories, out);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_part(cr_ctx *cx, const void *state, const cr_design *design, size_t k,
                      const cri_rows *rows, cr_part *out_part, double *mean, double *sd)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    const cri_gp_posterior *m = state;
    cr_kernel              *term = NULL;
    cr_part                 part = { 0 };
    bool                    is_mean = m->q > 0 && k == 0;
    inputs                  x;

    if (m->n_draws && rows) {
        st = cri_gp_mcmc_part(cx, m, design, k, rows, out_part, mean, sd);
        goto done;
    }
    CR_TRY(check_parts(cx, m));
    if (is_mean)
        CR_TRY(name_mean(cx, m, design, &part));
    else
        CR_TRY(find_term(cx, m, k - (m->q > 0), &term));
    if (term) CR_TRY(name_term(cx, m, design, term, &part));
    if (rows && part.name[0]) {
        CR_TRY(inputs_of(&s, m, rows, &x));
        CR_TRY(cri_gp_check_inputs(cx, m->kernel, rows, 0, &x.in));
        CR_TRY(moments(cx, m, term, is_mean, &x, false, mean, sd));
        for (size_t i = 0; i < rows->n; i++) sd[i] = sqrt(fmax(sd[i], 0));
    }
    *out_part = part;
done:
    cr_kernel_free(cx, term);
    cr_scratch_end(&s);
    return st;
}

/* --- hyper-parameters ------------------------------------------------------------------------ */

cr_status cri_gp_hyper(cr_ctx *cx, const void *state, size_t k, cr_hyper *out)
{
    const cri_gp_posterior *m = state;
    size_t                  n = cr_kernel_parameters(m->kernel);
    (void)cx;
    if (k == n && !m->noise_column) {
        *out = (cr_hyper){ .value = m->noise,
                           .upper = INFINITY,
                           .log_sd = m->sd[m->n_theta],
                           .positive = m->noise > 0 };
        snprintf(out->name, sizeof out->name, "noise");
    } else if (k < n) {
        cr_kernel_parameter p = cr_kernel_parameter_at(m->kernel, k);
        bool                positive = p.lower >= 0 && p.upper > 1;
        *out = (cr_hyper){ .value = p.value,
                           .lower = p.lower,
                           .upper = p.upper,
                           .positive = positive,
                           .log_sd = p.theta < m->n_theta && positive ? m->sd[p.theta] : NAN };
        snprintf(out->name, sizeof out->name, "%s", p.name);
    }
    return CR_OK;
}

/* One evaluation, NaN where the covariance has no factor. */
static cr_status evaluate(cr_ctx *cx, const cri_gp_posterior *m, const cri_gp_problem *problem,
                          const cr_kernel *k, double noise, cri_gp_solution *solution,
                          cri_gp_sparse *sparse, double *L, double *out)
{
    cr_status st;
    if (m->approx == CRI_GP_EXACT) {
        st = cri_gp_solve(cx, problem, k, noise, CRI_GP_NO_JITTER, L, solution);
        *out = solution->log_evidence;
    } else {
        st = cri_gp_sparse_solve(cx, problem, k, noise, sparse, NULL, NULL);
        *out = sparse->value;
    }
    if (st != CR_ENUMERIC) return st;
    *out = NAN;
    return CR_OK;
}

/* The kernel and the noise with some of the values. */
static cr_status set_values(cr_ctx *cx, cr_kernel *k, const size_t *which, size_t n,
                            const double *values, double *noise)
{
    cr_status st = CR_OK;
    for (size_t j = 0; j < n; j++) {
        if (which[j] == cr_kernel_parameters(k))
            *noise = values[j];
        else
            CR_TRY(cr_kernel_set_value(cx, k, which[j], values[j]));
    }
done:
    return st;
}

cr_status cri_gp_evidence_at(cr_ctx *cx, const void *state, const cri_rows *rows,
                             const size_t *which, size_t n, const double *values, size_t count,
                             double *out)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    const cri_gp_posterior *m = state;
    cri_gp_data             data = { 0 };
    cr_kernel              *k = NULL;
    size_t                  q = m->q, a;
    bool                    exact = m->approx == CRI_GP_EXACT;

    CR_TRY(check_evidence(cx, m));
    CR_TRY(cri_gp_data_add(cx, &data, rows, rows->roles[0], !m->white, NULL));
    CR_TRY(cr_kernel_copy(cx, m->kernel, &k));
    a = exact ? data.n : m->at.n;
    double         *H = cr_scratch_matrix(&s, data.n, q), *L = cr_scratch_matrix(&s, a, a);
    cri_gp_solution solution = { .alpha = cr_scratch_f64(&s, a),
                                 .beta = cr_scratch_f64(&s, q),
                                 .U = cr_scratch_matrix(&s, a, q),
                                 .A = cr_scratch_matrix(&s, q, q) };
    cri_gp_sparse   sparse = { .approx = (cri_gp_approx)m->approx,
                               .Z = m->at,
                               .L = L,
                               .L2 = exact ? NULL : cr_scratch_matrix(&s, a, a),
                               .alpha = solution.alpha,
                               .beta = solution.beta,
                               .U = solution.U,
                               .A = solution.A };
    cri_gp_problem  problem = { &data, q, H };

    CR_TRY(s.status);
    cri_gp_mean_fill(&m->mean, data.X, data.n, H);
    for (size_t i = 0; i < count; i++) {
        double noise = m->noise;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(set_values(cx, k, which, n, values + i * n, &noise));
        CR_TRY(evaluate(cx, m, &problem, k, noise, &solution, &sparse, L, out + i));
    }
done:
    cr_kernel_free(cx, k);
    cri_gp_data_free(cx, &data);
    cr_scratch_end(&s);
    return st;
}
