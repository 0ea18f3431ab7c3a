/* svr_train.c -- one function of support vector regression.
 *   epsilon  minimise 1/2 |w|^2 + C sum_i w_i max(0, |y_i - f(x_i)| - epsilon)
 *   nu       the same with epsilon to be found, for C nu sum_i w_i epsilon: at most a share nu of the rows is outside the
 *            tube, and at least such a share are support vectors
 * Two variables a row, of what is above the tube (y = +1) and below it (y = -1); beta is their difference.
 * Drucker, Burges, Kaufman, Smola & Vapnik (1997), NIPS 9; Schoelkopf et al. (2000), Neural Computation 12. */
#include "svr.h"
#include "linear_machine.h"
#include "base/scratch.h"

#include <math.h>

/* The same of the linear kernel by the weights of the columns: the tolerance counts for the duality gap. */
static cr_status train_weights(cr_ctx *cx, const cri_svr_sample *sample, const cri_svr_tube *tube,
                               cri_svr_fit *out)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    size_t                  n = sample->n, m = 2 * n;
    double                 *sign = cr_scratch_f64(&s, m), *target = cr_scratch_f64(&s, m);
    double                 *cost = cr_scratch_f64(&s, m);
    cri_svm_linear_solution x = { .w = cr_scratch_f64(&s, sample->rows.numbers.cols),
                                  .alpha = cr_scratch_f64(&s, m) };
    cri_svm_linear_rows     rows;
    cri_svm_linear_options  how = { .tol = fmax(0.01 * tube->how.tol, 1e-10),
                                    .max_iter = cri_svm_linear_steps(tube->how.max_iter, n),
                                    .clock = &tube->how.clock };
    CR_TRY(s.status);
    CR_TRY(cri_svm_linear_rows_of(&s, sample->rows.numbers, &rows));
    for (size_t i = 0; i < n; i++) {
        sign[i] = 1, sign[n + i] = -1;
        target[i] = sample->y[i] - tube->epsilon, target[n + i] = -sample->y[i] - tube->epsilon;
        cost[i] = cost[n + i] = tube->C * sample->weight[i];
    }
    cri_svm_linear_problem q = {
        .x = &rows, .m = m, .sign = sign, .target = target, .cost = cost, .intercept = true
    };
    CR_TRY(cri_svm_linear_solve(cx, &q, &how, &x));
    CR_TRY(cri_svm_linear_scores(cx, &rows, x.w, 0, out->value));
    for (size_t i = 0; i < n; i++) out->beta[i] = x.alpha[i] - x.alpha[n + i];
    out->b = x.b;
    out->epsilon = tube->epsilon;
    out->from = (cri_svm_solution){ .objective = -x.dual,
                                    .gap = x.gap,
                                    .violation = cri_svm_linear_violation(&q, &x, x.b, out->value),
                                    .steps = x.iterations,
                                    .converged = x.converged,
                                    .late = !x.converged && cri_clock_over(&tube->how.clock) };
    for (size_t j = 0; j < rows.p; j++) out->from.quadratic += x.w[j] * x.w[j];
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_svr_train(cr_ctx *cx, const cri_svr_sample *sample, const cri_svr_tube *tube,
                        cri_svr_fit *out)
{
    if (tube->kind == CRI_SVR_EPSILON && sample->n >= CRI_SVM_WEIGHTS_FROM &&
        cri_svm_is_linear(sample->kernel))
        return train_weights(cx, sample, tube, out);
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           m = sample->n, n = 2 * m, *row = cr_scratch_index(&s, n);
    double          *sign = cr_scratch_f64(&s, n), *linear = cr_scratch_f64(&s, n);
    double          *upper = cr_scratch_f64(&s, n), left = 0;
    bool             nu = tube->kind == CRI_SVR_NU;
    cri_svm_solution x = { .alpha = cr_scratch_bytes(&s, n, sizeof(double)), .value = out->value };
    CR_TRY(s.status);
    for (size_t i = 0; nu && i < m; i++) left += tube->C * tube->nu * sample->weight[i] / 2;
    for (size_t i = 0; i < m; i++) {
        double epsilon = nu ? 0 : tube->epsilon;
        row[i] = row[m + i] = i;
        sign[i] = 1, sign[m + i] = -1;
        linear[i] = epsilon - sample->y[i], linear[m + i] = epsilon + sample->y[i];
        upper[i] = upper[m + i] = tube->C * sample->weight[i];
        x.alpha[i] = x.alpha[m + i] = fmin(left, upper[i]);
        left -= x.alpha[i];
    }
    cri_svm_problem problem = { .kernel = sample->kernel,
                                .rows = sample->rows,
                                .n = n,
                                .opt_row = row,
                                .sign = sign,
                                .linear = linear,
                                .upper = upper,
                                .groups = nu };
    CR_TRY(cri_svm_solve(cx, &problem, &tube->how, &x));
    for (size_t i = 0; i < m; i++) out->beta[i] = x.alpha[i] - x.alpha[m + i];
    out->b = (x.b[0] + x.b[1]) / 2;
    out->epsilon = nu ? fmax((x.b[1] - x.b[0]) / 2, 0) : tube->epsilon;
    out->from = x;
    out->from.alpha = NULL;
done:
    cr_scratch_end(&s);
    return st;
}
