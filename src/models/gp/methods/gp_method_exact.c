/* gp_method_exact.c -- the exact Gaussian process by a Cholesky factor, O(n^3) time and O(n^2)
 * memory (gp_exact.h); and its form of low rank, where there is one, which answers for it
 * (gp_lowrank.h). */
#include "gp_cost.h"
#include "gp_fit.h"
#include "models/gp/exact/gp_pivoted_cholesky.h"
#include "models/gp/posterior/gp_lowrank.h"
#include "models/gp/posterior/gp_update.h"
#include "models/gp/search/gp_diagonal.h"
#include "models/gp/search/gp_lowrank_evidence.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum { SCREEN_ROWS = 200 }; /* that many starts are screened on first */

/* --- the fit ------------------------------------------------------------------------------------ */

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

/* --- the posterior ------------------------------------------------------------------------------ */

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

#define EXACT(name_, moments_, fits_)                                                              \
    {                                                                                              \
        .name = name_, .option = "--approx exact",                                                 \
        .help = "y ~ N(H b, K + noise), by a Cholesky factor", .process = "an exact process",      \
        .inputs = "distinct_inputs", .uses = "loo", .approx = CRI_GP_EXACT, .factors = CRI_GP_L,   \
        .evidence = CR_EVIDENCE_EXACT, .check = cri_gp_check_noise_free, .cost = cost,             \
        .prepare = cri_gp_exact_prepare, .open = cri_gp_exact_open, .learn = learn,                \
        .hyper = cri_gp_learn_sds, .condition = condition, .fits = fits_,                          \
        .answers = &cri_gp_process_answers, .cross = cri_gp_kernel_cross,                          \
        .project = cri_gp_factor_project, .moments = moments_, .slopes = cri_gp_kernel_slopes,     \
        .describe = cri_gp_exact_describe, .extend = cri_gp_extend,                                \
        .evidence_at = cri_gp_exact_objective, .workspace = cri_gp_exact_evidence_workspace        \
    }

const cri_gp_method cri_gp_method_exact = EXACT("exact", cri_gp_dense_moments, NULL);
const cri_gp_method cri_gp_method_lowrank =
    EXACT("low rank", cri_gp_lowrank_moments, cri_gp_lowrank_fits);
