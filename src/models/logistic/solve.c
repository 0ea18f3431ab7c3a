/* solve.c -- choosing a method, where to start, and what is known at the end. */
#include "solve.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

bool cri_is_separated(const cri_likelihood *f, const cri_solve_options *o,
                      const cri_likelihood_value *v)
{
    return f->l2 == 0 && o->l1 == 0 && v->wrong == 0 && v->nll <= 1e-6 * f->x->weight;
}

static bool has_l1(const cri_likelihood *f, size_t place) { return !f->x->intercept || place > 0; }

double cri_l1_norm(const cri_likelihood *f, double l1, const double *theta)
{
    double sum = 0;
    for (size_t m = 0; l1 > 0 && m < f->M; m++)
        for (size_t j = 0; j < f->x->q; j++)
            if (has_l1(f, j)) sum += fabs(theta[m * f->x->q + j]);
    return l1 * sum;
}

double cri_kkt(const cri_likelihood *f, double l1, const double *theta, const double *gradient,
               const bool *fixed)
{
    double worst = 0;
    for (size_t m = 0; m < f->M; m++)
        for (size_t j = 0; j < f->x->q; j++) {
            double g = gradient[m * f->x->q + j], b = theta[m * f->x->q + j], lack = fabs(g);
            if (fixed && fixed[j]) continue;
            if (has_l1(f, j) && l1 > 0)
                lack = b != 0 ? fabs(g + copysign(l1, b)) : fmax(0, fabs(g) - l1);
            worst = fmax(worst, lack);
        }
    return worst;
}

cr_status cri_null_start(cr_ctx *cx, const cri_likelihood *f, double *theta)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *weight = cr_scratch_f64(&s, f->M + 1), mean = 0, rows;

    CR_TRY(s.status);
    memset(theta, 0, cri_likelihood_size(f) * sizeof(double));
    if (!f->x->intercept) goto done;
    CR_TRY(cri_likelihood_classes(cx, f, weight, &rows));
    for (size_t m = 0; m < f->M; m++) {
        double rest = f->full && f->M > 1 ? 1 : fmax(weight[f->M], 1e-3);
        double odds = log(fmax(weight[m], 1e-3) / rest);
        theta[m * f->x->q] = f->link == CRI_LINK_PROBIT ? odds / 1.6 : odds;
        mean += odds / (double)f->M;
    }
    for (size_t m = 0; f->full && f->M > 1 && m < f->M; m++) theta[m * f->x->q] -= mean;
done:
    cr_scratch_end(&s);
    return st;
}

static cri_solver choose(const cri_likelihood *f, const cri_solve_options *o)
{
    size_t D = cri_likelihood_size(f);
    bool   rows =
        o->solver == CRI_SOLVER_NEWTON_CG || o->solver == CRI_SOLVER_SGD; /* must be at hand */
    if (o->l1 > 0) return CRI_SOLVER_PROXIMAL;
    if (o->solver != CRI_SOLVER_AUTO && !(rows && f->passes)) return o->solver;
    if (D <= (f->M == 1 ? 2000 : 400)) return CRI_SOLVER_NEWTON;
    return f->passes ? CRI_SOLVER_LBFGS : CRI_SOLVER_NEWTON_CG;
}

static cr_status run(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                     cri_solution *s)
{
    switch (s->solver) {
    case CRI_SOLVER_PROXIMAL:
        return cri_solve_proximal(cx, f, o, s);
    case CRI_SOLVER_NEWTON_CG:
        return cri_solve_newton_cg(cx, f, o, s);
    case CRI_SOLVER_SGD:
        return cri_solve_sgd(cx, f, o, s);
    case CRI_SOLVER_LBFGS:
    case CRI_SOLVER_GRADIENT:
        return cri_solve_first_order(cx, f, o, s);
    default:
        return cri_solve_newton(cx, f, o, s);
    }
}

/* Up to here the inverse of the Hessian is worth its time. */
static bool can_have_hessian(const cri_likelihood *f)
{
    double D = (double)cri_likelihood_size(f);
    return D <= 3000 && D * D * (double)f->x->n <= 3e11;
}

/* The step that Newton's method would take from the end, for methods that take none: a minimum at
 * infinity shows in it. */
static cr_status look_ahead(cr_ctx *cx, cri_solution *s)
{
    cr_status  st = CR_OK;
    cr_scratch workspace = cr_scratch_begin(cx);
    double    *L = cr_scratch_matrix(&workspace, s->D, s->D);

    CR_TRY(workspace.status);
    memcpy(L, s->hessian, s->D * s->D * sizeof(double));
    if (cr_chol(cx, cr_mat_of(L, s->D, s->D)) != CR_OK) goto done; /* dependent columns: no step */
    for (size_t a = 0; a < s->D; a++) s->step[a] = -s->gradient[a];
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(L, s->D, s->D), cr_mat_of(s->step, s->D, 1)));
done:
    cr_scratch_end(&workspace);
    return st;
}

/* Value, gradient and, where wanted, Hessian at the end. */
static cr_status finish(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                        bool want_hessian, cri_solution *s)
{
    cr_status            st = CR_OK;
    cri_likelihood_value v = { .gradient = s->gradient };
    if (want_hessian && can_have_hessian(f)) {
        s->hessian = cr_alloc(cx, s->D * s->D, sizeof(double));
        if (!s->hessian) CR_TRY(CR_ENOMEM);
    }
    v.hessian = s->hessian;
    CR_TRY(cri_likelihood_at(cx, f, s->theta, &v));
    s->f = v.f + cri_l1_norm(f, o->l1, s->theta);
    s->nll = v.nll;
    s->wrong = v.wrong;
    s->kkt = cri_kkt(f, o->l1, s->theta, s->gradient, s->fixed) / f->x->weight;
    double least = 0, stride = 0;
    bool   by_gradient = s->solver != CRI_SOLVER_NEWTON && s->solver != CRI_SOLVER_NEWTON_CG;
    if (by_gradient && s->hessian && f->l2 == 0 && o->l1 == 0) CR_TRY(look_ahead(cx, s));
    for (size_t a = 0; a < s->D; a++) stride = fmax(stride, fabs(s->step[a]));
    if (f->l2 == 0 && o->l1 == 0 && stride > 1e-5)
        CR_TRY(cri_likelihood_margins(cx, f, s->step, &least, &s->moved));
    if (!isfinite(s->f))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "the likelihood is not finite: the values are too large"));
done:
    return st;
}

cr_status cri_solve(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                    bool want_hessian, cri_solution *out)
{
    cr_status    st = CR_OK;
    size_t       D = cri_likelihood_size(f), q = f->x->q;
    cri_solution s = { .solver = choose(f, o),
                       .D = D,
                       .q = q,
                       .theta = cr_alloc(cx, D, sizeof(double)),
                       .step = cr_alloc(cx, D, sizeof(double)),
                       .gradient = cr_alloc(cx, D, sizeof(double)),
                       .fixed = cr_alloc(cx, q, sizeof(bool)) };
    if (!s.theta || !s.step || !s.gradient || !s.fixed) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_null_start(cx, f, s.theta));
    CR_TRY(run(cx, f, o, &s));
    CR_TRY(finish(cx, f, o, want_hessian, &s));
    *out = s;
    s = (cri_solution){ 0 };
done:
    cri_solution_free(cx, &s);
    return st;
}

cr_status cri_solve_again(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                          bool want_hessian, cri_solution *s)
{
    cr_status st = CR_OK;
    s->solver = choose(f, o);
    CR_TRY(run(cx, f, o, s));
    cr_free(cx, s->hessian, s->D * s->D, sizeof(double));
    s->hessian = NULL;
    CR_TRY(finish(cx, f, o, want_hessian, s));
done:
    return st;
}

void cri_solution_free(cr_ctx *cx, cri_solution *s)
{
    cr_free(cx, s->theta, s->D, sizeof(double));
    cr_free(cx, s->step, s->D, sizeof(double));
    cr_free(cx, s->gradient, s->D, sizeof(double));
    cr_free(cx, s->hessian, s->D * s->D, sizeof(double));
    cr_free(cx, s->fixed, s->q, sizeof(bool));
    *s = (cri_solution){ 0 };
}
