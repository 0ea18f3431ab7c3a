/* gp_update.c -- more rows for an exact Gaussian process. */
#include "gp_update.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

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

static cri_gp_data tail_of(const cri_gp_data *a, size_t from)
{
    return (cri_gp_data){ .n = a->n - from,
                          .d = a->d,
                          .c = a->c,
                          .X = a->X + from * a->d,
                          .codes = a->codes + from * a->c };
}

/* The rows of the factor below row n: L21 = (L11^-1 C12)^T, L22 L22^T = C22 - L21 L21^T. */
static cr_status add_inputs(cr_ctx *cx, cri_gp_posterior *m, size_t n)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          all = m->at.n, more = all - n;
    cri_gp_data     head = m->at, tail = tail_of(&m->at, n);
    cr_kernel_input in_tail = cri_gp_inputs(&tail), in_head;
    cr_mat          L = cr_mat_of(m->L, all, all), L22 = cr_mat_part(L, n, n, more, more);
    double         *C = cr_scratch_matrix(&s, n, more);

    CR_TRY(s.status);
    if (more == 0) goto done;
    head.n = n;
    in_head = cri_gp_inputs(&head);
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

cr_status cri_gp_extend(cr_ctx *cx, const cri_gp_posterior *old, const cri_rows *rows,
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
                "centre(...) is about the rows of the fit: with others it is another kernel, and "
                "there is no exact update");
        CR_TRY(cr_fail_hint(cx, "fit it again on all the rows"));
    }
    m = cr_alloc(cx, 1, sizeof *m);
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(copy_model(cx, old, m));
    cri_gp_kernel_bind(m->kernel, rows->design);
    CR_TRY(cri_gp_data_add(cx, &m->at, rows, rows->roles[0], !m->white, NULL));
    CR_TRY(cri_gp_check_data(cx, m->kernel, rows, &m->at));
    if (m->noise == 0 && m->at.spread > 1e-20 + old->at.spread)
        CR_TRY(cr_fail(cx, CR_EDATA,
                       "a new row has inputs that were seen before with another target, "
                       "which no function without noise can give"));
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
