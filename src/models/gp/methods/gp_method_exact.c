/* gp_method_exact.c -- the exact Gaussian process by a Cholesky factor, O(n^3) time and O(n^2)
 * memory (gp_exact.h); and its form of low rank, where there is one, which answers for it
 * (gp_lowrank.h). */
#include "gp_cost.h"
#include "gp_fit.h"
#include "models/gp/exact/gp_pivoted_cholesky.h"
#include "models/gp/posterior/gp_lowrank.h"
#include "models/gp/search/gp_diagonal.h"
#include "models/gp/search/gp_lowrank_evidence.h"
#include "base/context_internal.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { SCREEN_ROWS = 200 }; /* that many starts are screened on first */

/* --- the fit --------------------------------------------------------------------------------- */

static cr_status cost(cr_ctx *cx, const cri_gp_fit *f) { return cri_gp_cost_exact(cx, f->data.n); }

cr_status cri_gp_exact_prepare(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f)
{
    (void)cx, (void)s;
    f->m->at = f->data;
    f->data = (cri_gp_data){ 0 };
    f->problem.data = &f->m->at;
    return CR_OK;
}

cr_status cri_gp_exact_open(cr_ctx *cx, cr_scratch *s, cri_gp_fit *f)
{
    cri_gp_posterior       *m = f->m;
    cri_gp_quick_workspace *w = cr_scratch_bytes(s, 1, sizeof *w);
    if (!w) return s->status;
    w->exact = (cri_gp_exact_workspace){ m->L, cri_gp_posterior_solution(m) };
    f->workspace = w;
    f->learning.objective = f->learning.search_objective = cri_gp_quick_objective;
    f->learning.workspace = f->learning.search_workspace = w;
    f->learning.screen_rows = SCREEN_ROWS;
    return cri_gp_tabulate(cx, m->kernel, f->rows->design, f->optimize);
}

/* true when the fit is within ten standard deviations of the nugget at the average row.  What it
 * misses is jitter * alpha there, since alpha = C^-1 (y - H b) and C = K + jitter I. */
static cr_status check_residual(cr_ctx *cx, cri_gp_fit *f, bool *out)
{
    cr_status               st = CR_OK;
    cri_gp_quick_workspace *w = f->workspace;
    const cri_gp_solution  *found = &w->exact.solution;
    size_t                  n = f->problem.data->n;
    double                  square = 0, value;
    CR_TRY(cri_gp_exact_objective(cx, &w->exact, &f->problem, f->m->kernel, f->m->noise, &value,
                                  NULL));
    for (size_t i = 0; i < n; i++) square += found->jitter * pow(found->alpha[i], 2);
    *out = square <= 100 * (double)n;
done:
    return st;
}

/* Without noise the covariance of a smooth kernel is singular up to rounding wherever it suits
 * smooth data.  Where the search met such settings (`first` is its status), another one adds a
 * nugget to the diagonal, far below what distinguishes the rows; its optimum is taken if the rows
 * are fitted that closely and the evidence is better. */
static cr_status learn_with_nugget(cr_ctx *cx, cri_gp_fit *f, const double *given, cr_status first,
                                   cri_gp_learned *learned)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    cri_gp_posterior       *m = f->m;
    cri_gp_quick_workspace *w = f->workspace;
    double                 *plain = cr_scratch_f64(&s, m->n_theta + 1);
    cri_gp_learned          close = { 0 };
    bool                    fitted = false;

    CR_TRY(s.status);
    cr_kernel_theta(m->kernel, plain);
    CR_TRY(cr_kernel_set_theta(cx, m->kernel, given));
    w->exact.solution.nugget = cri_gp_nugget(f->problem.data->n);
    st = cri_gp_learn_all(cx, f, &close);
    if (st == CR_OK) st = check_residual(cx, f, &fitted);
    if (st != CR_OK && st != CR_ENUMERIC) goto done;
    st = CR_OK;
    if (fitted && (first != CR_OK || !(close.value <= learned->value + 0.01))) {
        f->nugget = w->exact.solution.nugget;
        *learned = close;
        goto done;
    }
    w->exact.solution.nugget = 0;
    CR_TRY(cr_kernel_set_theta(cx, m->kernel, first == CR_OK ? plain : given));
    if (first != CR_OK) CR_TRY(cri_gp_learn_all(cx, f, learned)); /* fails as before */
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_exact_learn(cr_ctx *cx, cri_gp_fit *f, cri_gp_learned *learned)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = f->m;
    bool              noise_free = !m->noise_learned && m->noise == 0 && !m->white;
    double           *given = cr_scratch_f64(&s, m->n_theta + 1);

    CR_TRY(s.status);
    cr_kernel_theta(m->kernel, given);
    st = cri_gp_learn_all(cx, f, learned);
    if (noise_free && (st == CR_ENUMERIC || (st == CR_OK && learned->refused > 0)))
        st = learn_with_nugget(cx, f, given, st, learned);
done:
    cr_scratch_end(&s);
    return st;
}

/* The same, with a look at rows that the kernel does not bind together. */
static cr_status learn(cr_ctx *cx, cri_gp_fit *f, cri_gp_learned *learned)
{
    cr_status st = CR_OK;
    bool      diagonal = false;
    CR_TRY(cri_gp_exact_learn(cx, f, learned));
    if (!f->m->white)
        CR_TRY(cri_gp_check_diagonal(cx, &f->learning, f->m->kernel, &f->m->noise, &diagonal));
    if (diagonal) learned->at_bound[0] = '\0'; /* the evidence is flat there */
done:
    return st;
}

cr_status cri_gp_exact_solve(cr_ctx *cx, cri_gp_fit *f)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = f->m;
    cri_gp_solution   solution = cri_gp_posterior_solution(m);
    size_t            n = f->loo || m->gradient ? m->at.n : 0;
    double           *inverse = cr_scratch_matrix(&s, n, n);

    CR_TRY(s.status);
    solution.nugget = f->nugget;
    CR_TRY(cri_gp_solve(cx, &f->problem, m->kernel, m->noise, CRI_GP_JITTER, m->L, &solution));
    m->evidence = solution.log_evidence;
    m->jitter = solution.jitter;
    if (f->loo)
        CR_TRY(cri_gp_leave_one_out(cx, &f->problem, f->rows, f->rows->roles[0], f->group, m->noise,
                                    &solution, m->L, inverse, NULL, &m->loo_score, &m->loo_rmse));
    if (m->gradient) {
        memcpy(inverse, m->L, n * n * sizeof *inverse);
        CR_TRY(
            cri_gp_gradient(cx, &f->problem, m->kernel, m->noise, &solution, inverse, m->gradient));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The same, and a form of low rank where there is one. */
static cr_status condition(cr_ctx *cx, cri_gp_fit *f)
{
    cr_status st = cri_gp_exact_solve(cx, f);
    if (st != CR_OK) return st;
    return cri_gp_lowrank_new(cx, f->m, CRI_GP_PIVOT_LEAST, CRI_GP_LOWRANK_WORST, &f->m->low);
}

/* --- the posterior --------------------------------------------------------------------------- */

void cri_gp_exact_describe(const cri_gp_posterior *m, const cr_design *design, cri_sheet *out)
{
    double unit = design->target_scale;
    cri_put_real(out, "loo_log_score", m->loo_score - m->rows * log(unit));
    cri_put_real(out, "loo_rmse", m->loo_rmse * unit);
    cri_put_real(out, "jitter", m->jitter);
}

cr_status cri_gp_exact_evidence_workspace(cr_scratch *s, const cri_gp_posterior *m, size_t n,
                                          void **out)
{
    cri_gp_exact_workspace *w = *out = cr_scratch_bytes(s, 1, sizeof *w);
    if (!w) return s->status;
    *w = (cri_gp_exact_workspace){ .L = cr_scratch_matrix(s, n, n),
                                   .solution = { .alpha = cr_scratch_f64(s, n),
                                                 .beta = cr_scratch_f64(s, m->q),
                                                 .U = cr_scratch_matrix(s, n, m->q),
                                                 .A = cr_scratch_matrix(s, m->q, m->q) } };
    return s->status;
}

/* --- more rows ----------------------------------------------------------------------------------
 * New inputs add rows to the Cholesky factor; rows at inputs that are there already take something
 * off the diagonal of C, a rank-one downdate each.  Hyper-parameters stay.  O(n^2) for each row. */

/* Everything but the inputs and what follows from them. */
static cr_status copy_model(cr_ctx *cx, const cri_gp_posterior *old, cri_gp_posterior *m)
{
    cr_status st = CR_OK;
    m->approx = old->approx;
    m->noise = old->noise;
    m->jitter = old->jitter;
    m->white = old->white;
    m->noise_learned = old->noise_learned;
    m->noise_column = old->noise_column;
    m->starts = old->starts;
    m->agreed = old->agreed;
    m->evaluations = old->evaluations;
    m->hyper = old->hyper;
    m->occam = old->occam;
    m->loo_score = m->loo_rmse = NAN;
    CR_TRY(cr_kernel_copy(cx, old->kernel, &m->kernel));
    CR_TRY(cri_gp_data_copy(cx, &old->at, &m->at));
    m->at_bound = cri_string_copy(cx, old->at_bound);
    if (!m->at_bound) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_record_copy(cx, cri_gp_mean_record, &old->mean, &m->mean));
done:
    return st;
}

/* The old factor into the corner of the new one, with what merged rows take off its diagonal. */
static cr_status take_old(cr_ctx *cx, const cri_gp_posterior *old, cri_gp_posterior *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = old->at.n, all = m->at.n;
    double    *x = cr_scratch_bytes(&s, n, sizeof(double));

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) memcpy(m->L + i * all, old->L + i * n, (i + 1) * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        double less = m->noise * (old->at.r[i] - m->at.r[i]);
        if (!(less > 0)) continue;
        memset(x, 0, n * sizeof *x);
        x[i] = sqrt(less);
        CR_TRY(cr_chol_downdate(cx, cr_mat_part(cr_mat_of(m->L, all, all), 0, 0, n, n), x));
        CR_TRY(cr_check_interrupt(cx));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The rows of the factor below row n: L21 = (L11^-1 C12)^T, L22 L22^T = C22 - L21 L21^T. */
static cr_status add_inputs(cr_ctx *cx, cri_gp_posterior *m, size_t n)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          all = m->at.n, more = all - n;
    cri_gp_data     head = cri_gp_data_view(&m->at, 0, n), tail = cri_gp_data_view(&m->at, n, all);
    cr_kernel_input in_tail = cri_gp_inputs(&tail), in_head = cri_gp_inputs(&head);
    cr_mat          L = cr_mat_of(m->L, all, all), L22 = cr_mat_part(L, n, n, more, more);
    double         *C = cr_scratch_matrix(&s, n, more);

    CR_TRY(s.status);
    if (more == 0) goto done;
    CR_TRY(cr_kernel_cross(cx, m->kernel, &in_head, &in_tail, cr_mat_of(C, n, more)));
    CR_TRY(cr_chol_forward(cx, cr_const(cr_mat_part(L, 0, 0, n, n)), cr_mat_of(C, n, more)));
    CR_TRY(cr_kernel_gram(cx, m->kernel, &in_tail, CR_FILL_LOWER, L22));
    CR_TRY(cr_syrk(cx, -1, cr_cmat_of(C, n, more), CR_TRANSPOSED, 1, L22));
    for (size_t i = 0; i < more; i++) {
        L22.a[i * all + i] += m->noise * m->at.r[n + i] + m->jitter;
        for (size_t j = 0; j < n; j++) L.a[(n + i) * all + j] = C[j * more + i];
    }
    CR_TRY(cr_chol(cx, L22));
done:
    cr_scratch_end(&s);
    return st;
}

/* What `old` knew and the new rows, as a fit of all of them at the same hyper-parameters; its
 * leave-one-out score is not known. */
static cr_status extend(cr_ctx *cx, const cri_gp_posterior *old, const cri_rows *rows,
                        cri_gp_posterior **out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = NULL;
    cri_gp_problem    problem;
    cri_gp_solution   solution;
    double           *H;

    if (cr_kernel_needs_rows(old->kernel)) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "centre(...) depends on the rows of the fit: new rows change the kernel, so there "
                "is no exact update");
        CR_TRY(cr_fail_hint(cx, "fit it again to all the rows"));
    }
    m = cr_alloc(cx, 1, sizeof *m);
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(copy_model(cx, old, m));
    cri_gp_kernel_bind(m->kernel, rows->design);
    CR_TRY(cri_gp_data_add(cx, &m->at, rows, rows->roles[0], !m->white, NULL));
    CR_TRY(cri_gp_check_data(cx, m->kernel, rows, &m->at));
    if (m->noise == 0 && m->at.spread > 1e-20 + old->at.spread)
        CR_TRY(cr_fail(cx, CR_EDATA,
                       "a new row has inputs that were seen before with another target, which is "
                       "impossible without noise"));
    CR_TRY(cri_gp_posterior_allocate(cx, m, CRI_GP_L));
    memcpy(m->sd, old->sd, (m->n_theta + 1) * sizeof(double));
    m->rows = m->at.count;
    H = cr_scratch_matrix(&s, m->at.n, m->q);
    CR_TRY(s.status);
    cri_gp_mean_fill(&m->mean, m->at.X, m->at.n, H);
    problem = (cri_gp_problem){ &m->at, m->q, H };
    solution = cri_gp_posterior_solution(m);
    st = take_old(cx, old, m);
    if (st == CR_OK) st = add_inputs(cx, m, old->at.n);
    if (st == CR_OK) st = cri_gp_check_factor(cx, &problem, m->kernel, m->noise, m->jitter, m->L);
    if (st == CR_OK) st = cri_gp_resolve(cx, &problem, m->noise, m->L, &solution);
    if (st == CR_ENUMERIC) /* all rows need more on the diagonal than the old ones did */
        st = cri_gp_solve(cx, &problem, m->kernel, m->noise, CRI_GP_JITTER, m->L, &solution);
    CR_TRY(st);
    m->jitter = solution.jitter;
    m->evidence = solution.log_evidence;
    CR_TRY(cri_gp_posterior_keep(cx, m));
    *out = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_gp, m);
    cr_scratch_end(&s);
    return st;
}

/* --- the rows of the table ------------------------------------------------------------------- */

#define EXACT(name_, moments_, fits_)                                                              \
    {                                                                                              \
        .name = (name_), .option = "--approx exact",                                               \
        .help = "y ~ N(H b, K + noise), by a Cholesky factor", .process = "an exact process",      \
        .inputs = "distinct_inputs", .uses = "loo", .approx = CRI_GP_EXACT, .factors = CRI_GP_L,   \
        .evidence = CR_EVIDENCE_EXACT, .check = cri_gp_check_noise_free, .cost = cost,             \
        .prepare = cri_gp_exact_prepare, .open = cri_gp_exact_open, .learn = learn,                \
        .hyper = cri_gp_learn_sds, .condition = condition, .fits = (fits_),                        \
        .answers = &cri_gp_process_answers, .cross = cri_gp_kernel_cross,                          \
        .project = cri_gp_factor_project, .moments = (moments_), .slopes = cri_gp_kernel_slopes,   \
        .describe = cri_gp_exact_describe, .extend = extend,                                       \
        .evidence_at = cri_gp_exact_objective, .workspace = cri_gp_exact_evidence_workspace        \
    }

const cri_gp_method cri_gp_method_exact = EXACT("exact", cri_gp_dense_moments, NULL);
const cri_gp_method cri_gp_method_lowrank =
    EXACT("low rank", cri_gp_lowrank_moments, cri_gp_lowrank_fits);
