/* linear_machine.c -- machines with the linear kernel. */
#include "linear_machine.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

bool cri_svm_is_linear(const cr_kernel *k)
{
    const cri_node *root = &k->nodes[k->n_nodes - 1];
    return k->n_nodes == 1 && root->op == CRI_LEAF && root->class == &cri_kernel_linear &&
           root->n_columns == 0 && root->warp == CRI_PLAIN;
}

bool cri_svm_by_weights(const cr_kernel *k, const cri_svm_margin *margin, size_t n)
{
    if (margin->loss != CRI_SVM_HINGE || margin->penalty != CRI_SVM_L2) return true;
    return margin->kind == CRI_SVM_C && isfinite(margin->C) && n >= CRI_SVM_WEIGHTS_FROM &&
           cri_svm_is_linear(k);
}

size_t cri_svm_linear_steps(size_t max_iter, size_t n)
{
    size_t sweeps = n > 0 ? max_iter / n : max_iter;
    return sweeps > 1000 ? sweeps : max_iter < 1000 ? max_iter : 1000;
}

/* --- rows ------------------------------------------------------------------------------------ */

cr_status cri_svm_linear_rows_of(cr_scratch *s, cr_cmat X, cri_svm_linear_rows *out)
{
    size_t n = X.rows, p = X.cols, entries = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++) entries += X.a[i * X.stride + j] != 0;
    *out = (cri_svm_linear_rows){ .n = n, .p = p };
    if (4 * entries >= n * p && X.stride == p) {
        out->dense = X.a;
        return CR_OK;
    }
    size_t   *start = cr_scratch_index(s, n + 1), e = 0;
    uint32_t *column = cr_scratch_bytes(s, entries, sizeof *column);
    double   *value = cr_scratch_f64(s, entries);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < n; i++) {
        start[i] = e;
        for (size_t j = 0; j < p; j++) {
            double x = X.a[i * X.stride + j];
            if (x != 0) column[e] = (uint32_t)j, value[e++] = x;
        }
    }
    start[n] = e;
    out->sparse = (cri_sparse){
        .n = n, .p = p, .start = start, .column = column, .value = value, .plain = true
    };
    return CR_OK;
}

/* --- training -------------------------------------------------------------------------------- */

double cri_svm_linear_violation(const cri_svm_linear_problem *q, const cri_svm_linear_solution *x,
                                double b, const double *f)
{
    double worst = 0;
    for (size_t k = 0; k < q->m; k++) {
        double a = x->alpha[k];
        double over = q->sign[k] * (f[cri_svm_linear_row(q, k)] + b) - q->target[k];
        if (q->cost[k] == 0) continue;
        if (q->squared) over += a / (2 * q->cost[k]);
        if (a > 0 && (q->squared || a < q->cost[k]))
            worst = fmax(worst, fabs(over));
        else
            worst = fmax(worst, a > 0 ? over : -over);
    }
    return worst;
}

static void take_solution(const cri_svm_linear_problem *q, const cri_svm_linear_solution *x,
                          const cri_clock *clock, cri_svm_machine *m)
{
    double square = 0;
    for (size_t i = 0; i < q->m; i++) m->beta[i] = q->sign[i] * x->alpha[i];
    for (size_t j = 0; j < q->x->p; j++) square += x->w[j] * x->w[j];
    m->b = x->b;
    m->objective = -x->dual;
    m->gap = fmax(x->gap, 0);
    m->norm = sqrt(square);
    m->violation = cri_svm_linear_violation(q, x, 0, m->value);
    m->steps = x->iterations;
    m->converged = x->converged;
    m->late = !x->converged && cri_clock_over(clock);
}

cr_status cri_svm_train_weights(cr_ctx *cx, const cri_svm_sample *sample,
                                const cri_svm_margin *margin, cri_svm_machine *m, double *opt_w)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    size_t                  n = sample->n, p = sample->rows.numbers.cols;
    double                 *target = cr_scratch_f64(&s, n), *cost = cr_scratch_f64(&s, n);
    cri_svm_linear_solution x = { .w = opt_w ? opt_w : cr_scratch_f64(&s, p),
                                  .alpha = cr_scratch_f64(&s, n) };
    cri_svm_linear_rows     rows;
    cri_svm_linear_options  how = { .tol = fmax(0.01 * margin->how.tol, 1e-10),
                                    .max_iter = cri_svm_linear_steps(margin->how.max_iter, n),
                                    .clock = &margin->how.clock };

    CR_TRY(s.status);
    CR_TRY(cri_svm_linear_rows_of(&s, sample->rows.numbers, &rows));
    for (size_t i = 0; i < n; i++) {
        target[i] = 1;
        cost[i] = margin->C * sample->weight[i];
    }
    cri_svm_linear_problem q = { .x = &rows,
                                 .m = n,
                                 .sign = sample->sign,
                                 .target = target,
                                 .cost = cost,
                                 .squared = margin->loss == CRI_SVM_SQUARED_HINGE,
                                 .l1 = margin->penalty == CRI_SVM_L1,
                                 .intercept = true };
    CR_TRY(cri_svm_linear_solve(cx, &q, &how, &x));
    CR_TRY(cri_svm_linear_scores(cx, &rows, x.w, x.b, m->value));
    take_solution(&q, &x, &margin->how.clock, m);
    m->bound = q.squared ? INFINITY : margin->C;
done:
    cr_scratch_end(&s);
    return st;
}
