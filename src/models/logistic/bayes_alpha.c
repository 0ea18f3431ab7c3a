/* bayes_alpha.c -- the evidence of Bayesian logistic regression as a function of alpha, and its maximum.
 *   log Z ~ log p(y | mode) + log p(mode) + D/2 log 2 pi - log|A| / 2 */
#include "bayes_logistic.h"
#include "math/constants.h"
#include "math/dense/chol.h"
#include "math/optim/minimize.h"

#include <math.h>
#include <string.h>

/* log |prior precisions|. */
static double prior_log_det(const cri_likelihood *f)
{
    double M = (double)f->M, slopes = (double)f->x->p;
    return M * slopes * log(f->l2) + (f->x->intercept ? M * log(f->intercept_l2) : 0);
}

cr_status cri_alpha_at(cri_alpha_search *w, double alpha)
{
    cr_status st = CR_OK;
    size_t    D = w->s->D;
    w->f->l2 = alpha;
    if (w->shared) w->f->intercept_l2 = alpha;
    CR_TRY(cri_solve_again(w->cx, w->f, w->o, true, w->s));
    w->iterations += w->s->iterations;
    memcpy(w->L, w->s->hessian, D * D * sizeof(double));
    CR_TRY(cr_chol(w->cx, cr_mat_of(w->L, D, D)));
    w->log_det = cr_chol_logdet(cr_cmat_of(w->L, D, D));
    w->log_evidence = 0.5 * (prior_log_det(w->f) - w->log_det) - w->s->f;
done:
    return st;
}

static cr_status minus_evidence(void *user, const double *x, size_t n, double *out_f,
                                double *opt_gradient)
{
    cri_alpha_search *w = user;
    cr_status         st = cri_alpha_at(w, exp(x[0]));
    (void)n, (void)opt_gradient;
    if (st == CR_OK) *out_f = -w->log_evidence;
    return st;
}

/* Newton on differences of five values: finds the maximum where Brent's method, which compares
 * values, sees rounding only. */
static cr_status polish(cri_alpha_search *w, double *x)
{
    cr_status    st = CR_OK;
    const double h = 0.03;
    for (int round = 0; round < 2; round++) {
        double f[5];
        for (int k = 0; k < 5; k++) {
            CR_TRY(cri_alpha_at(w, exp(*x + (k - 2) * h)));
            f[k] = w->log_evidence;
        }
        double slope = (8 * (f[3] - f[1]) - (f[4] - f[0])) / (12 * h);
        double bend = (16 * (f[3] + f[1]) - (f[4] + f[0]) - 30 * f[2]) / (12 * h * h);
        if (bend < 0 && fabs(slope / bend) < 0.1) *x -= slope / bend;
    }
done:
    return st;
}

cr_status cri_alpha_learn(cri_alpha_search *w, double *out_alpha)
{
    cr_status           st = CR_OK;
    const double        low = log(1e-8), high = log(1e8);
    double              x = 0;
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  report;
    cr_problem          problem = { .n = 1,
                                    .objective = minus_evidence,
                                    .no_gradient = true,
                                    .lower = &low,
                                    .upper = &high,
                                    .user = w };
    o.method = CR_METHOD_BRENT;
    o.x_tolerance = 1e-5;
    CR_TRY(cr_minimize(w->cx, &problem, &o, &x, &report));
    if (x > high - 1 || x < low + 1)
        cr_log(w->cx, CR_LOG_WARNING,
               "the evidence has no maximum for alpha between 1e-8 and 1e8: alpha is %.3g, %s",
               exp(x),
               x > 0 ? "the columns carry no information about the classes"
                     : "the prior has no effect");
    else
        CR_TRY(polish(w, &x));
    *out_alpha = exp(x);
done:
    return st;
}

double cri_log_prior_at_zero(const cri_likelihood *f)
{
    return 0.5 * (prior_log_det(f) - (double)cri_likelihood_size(f) * CRI_LOG_2PI);
}
