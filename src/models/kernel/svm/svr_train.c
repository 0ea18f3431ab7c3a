/* svr_train.c -- one function of support vector regression.
 *   epsilon  minimise 1/2 |w|^2 + C sum_i w_i max(0, |y_i - f(x_i)| - epsilon)
 *   nu       the same with epsilon to be found, for C nu sum_i w_i epsilon: at most a share nu of the rows is outside the
 *            tube, and at least such a share are support vectors
 * Two variables a row, of what is above the tube (y = +1) and below it (y = -1); beta is their difference.
 * Drucker, Burges, Kaufman, Smola & Vapnik (1997), NIPS 9; Schoelkopf et al. (2000), Neural Computation 12. */
#include "svr.h"
#include "base/scratch.h"

#include <math.h>

cr_status cri_svr_train(cr_ctx *cx, const cri_svr_sample *sample, const cri_svr_tube *tube,
                        cri_svr_fit *out)
{
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
