/* svm_sparse.c -- linear machines for classes on sparse rows, of any number of rows and columns.
 * What a machine keeps is its weights, not its support vectors, which would be dense rows; so many of those as there are
 * is noted.  Columns are divided by their scale alone: the intercept takes up where they have their 0, and then that of
 * standardised columns is b + sum_j w_j shift_j / scale_j.  O(entries) memory beside the rows. */
#include "linear_machine.h"
#include "svm.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

typedef struct fit_sparse {
    cri_svm               *m;
    const cri_rows        *rows;
    cri_svm_linear_rows    x;
    cri_svm_linear_problem problem;
    cri_svm_linear_options how;
    double                *sign, *target, *cost, *alpha; /* [n] */
    bool                  *needed;                       /* [n] a support vector of some machine */
} fit_sparse;

/* Copies the rows, columns divided by their scale. */
static cr_status scale_rows(cr_scratch *s, const cri_sparse *X, cri_svm_linear_rows *out)
{
    size_t    n = X->n, entries = cri_sparse_entries(X), at = 0, end;
    size_t   *start = cr_scratch_index(s, n + 1);
    uint32_t *column = cr_scratch_bytes(s, entries, sizeof *column);
    double   *value = cr_scratch_f64(s, entries);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < n; i++) {
        start[i] = at;
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) {
            column[at] = X->column[e];
            value[at++] = X->value[e] / (X->scale ? X->scale[X->column[e]] : 1);
        }
    }
    start[n] = at;
    *out = (cri_svm_linear_rows){ .n = n, .p = X->p };
    out->sparse = (cri_sparse){
        .n = n, .p = X->p, .start = start, .column = column, .value = value, .plain = true
    };
    return CR_OK;
}

/* What stays of a machine: its weights, which are its only support vector. */
static void keep_weights(cri_svm *m, size_t k, double b)
{
    m->b[k] = b;
    m->links[k] = 1, m->row[k] = k, m->beta[k] = 1;
}

static void note_stop(fit_sparse *f, bool converged, cr_report *report)
{
    if (!converged) report->stop = cri_clock_over(f->how.clock) ? CR_STOP_TIME : CR_STOP_LIMIT;
}

/* What the search has to say of a machine. */
static void keep_machine(fit_sparse *f, size_t k, const cri_svm_linear_solution *x,
                         const double *scores, cr_report *report)
{
    cri_svm          *m = f->m;
    const cri_sparse *X = f->rows->sparse;
    double            square = 0, shift = 0;
    for (size_t j = 0; j < m->d; j++) {
        square += x->w[j] * x->w[j];
        if (X->shift) shift += x->w[j] * X->shift[j] / (X->scale ? X->scale[j] : 1);
    }
    keep_weights(m, k, x->b + shift);
    m->objective[k] = -x->dual;
    m->gap[k] = fmax(x->gap, 0);
    m->norm[k] = sqrt(square);
    m->violation[k] = cri_svm_linear_violation(&f->problem, x, 0, scores);
    m->steps[k] = x->iterations;
    for (size_t i = 0; i < f->x.n; i++) f->needed[i] |= x->alpha[i] > 0;
    report->iterations += x->iterations;
    note_stop(f, x->converged, report);
}

static cr_status train_machine(cr_ctx *cx, fit_sparse *f, size_t k, double *scores,
                               cr_report *report)
{
    cr_status               st = CR_OK;
    cri_svm                *m = f->m;
    size_t                  plus, minus;
    double                  there[2] = { 0, 0 };
    cri_svm_linear_solution x = { .w = m->X + k * m->d, .alpha = f->alpha };
    cri_svm_classes_of(m, k, &plus, &minus);
    for (size_t i = 0; i < f->x.n; i++) {
        size_t y = (size_t)f->rows->y[i];
        bool   in = y == plus || minus == SIZE_MAX || y == minus;
        f->sign[i] = y == plus ? 1 : -1;
        f->cost[i] = in ? m->C * (f->rows->w ? f->rows->w[i] : 1) : 0;
        there[y == plus] += f->cost[i];
    }
    if (there[0] > 0 && there[1] > 0) {
        CR_TRY(cri_svm_linear_solve(cx, &f->problem, &f->how, &x));
        CR_TRY(cri_svm_linear_scores(cx, &f->x, x.w, x.b, scores));
    } else { /* a class without rows loses to one that has some */
        memset(x.alpha, 0, f->x.n * sizeof *x.alpha);
        for (size_t i = 0; i < f->x.n; i++) scores[i] = f->sign[i];
        x.b = there[1] > 0 ? 1 : there[0] > 0 ? -1 : 0;
        x.converged = true;
    }
    keep_machine(f, k, &x, scores, report);
done:
    return st;
}

/* All machines at once. */
static cr_status train_joint(cr_ctx *cx, fit_sparse *f, const cri_svm_settings *how,
                             cr_report *report)
{
    cr_status              st = CR_OK;
    cr_scratch             s = cr_scratch_begin(cx);
    cri_svm               *m = f->m;
    const cri_sparse      *X = f->rows->sparse;
    size_t                 n = f->x.n, K = m->K;
    double                *centre = cr_scratch_f64(&s, X->shift ? m->d : 0);
    cri_svm_joint_solution x = cri_svm_joint_of(m, cr_scratch_bytes(&s, n * K, sizeof(double)));
    cri_svm_joint_problem  p = { .n = n, .K = K, .y = f->rows->y, .cost = f->cost };
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) f->cost[i] = m->C * (f->rows->w ? f->rows->w[i] : 1);
    for (size_t j = 0; X->shift && j < m->d; j++)
        centre[j] = X->shift[j] / (X->scale ? X->scale[j] : 1);
    CR_TRY(cri_svm_joint_solve_linear(cx, &p, &f->x, X->shift ? centre : NULL, how, f->how.max_iter,
                                      m->X, &x));
    for (size_t k = 0; k < K; k++) {
        keep_weights(m, k, x.b[k]);
        m->violation[k] = x.violation, m->steps[k] = x.steps;
        for (size_t i = 0; i < n; i++) f->needed[i] |= x.A[i * K + k] != 0;
    }
    report->iterations = x.steps;
    note_stop(f, x.converged, report);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_svm_train_sparse(cr_ctx *cx, cri_svm *m, const cri_rows *rows,
                               const cri_svm_settings *how, cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = rows->n;
    double    *scores = cr_scratch_f64(&s, n);
    fit_sparse f = { .m = m, .rows = rows };
    f.sign = cr_scratch_f64(&s, n), f.target = cr_scratch_f64(&s, n);
    f.cost = cr_scratch_f64(&s, n), f.alpha = cr_scratch_f64(&s, n);
    f.needed = cr_scratch_bytes(&s, n, sizeof *f.needed);
    CR_TRY(s.status);
    CR_TRY(scale_rows(&s, rows->sparse, &f.x));
    f.problem = (cri_svm_linear_problem){ .x = &f.x,
                                          .m = n,
                                          .sign = f.sign,
                                          .target = f.target,
                                          .cost = f.cost,
                                          .squared = m->loss == CRI_SVM_SQUARED_HINGE,
                                          .l1 = m->penalty == CRI_SVM_L1,
                                          .intercept = true };
    f.how = (cri_svm_linear_options){ .tol = fmax(0.01 * how->tol, 1e-10),
                                      .max_iter = cri_svm_linear_steps(how->max_iter, n),
                                      .clock = &how->clock };
    m->n = m->S = m->M;
    m->d = rows->p;
    CR_TRY(cri_svm_allocate_machines(cx, m));
    CR_TRY(cri_record_allocate(cx, cri_svm_record, m));
    for (size_t i = 0; i < n; i++) {
        f.target[i] = 1;
        m->rows += rows->w ? rows->w[i] : 1;
    }
    if (cri_svm_is_joint(m)) CR_TRY(train_joint(cx, &f, how, report));
    for (size_t k = 0; !cri_svm_is_joint(m) && k < m->M; k++) {
        cr_progress(cx, "machines", (double)k, (double)m->M);
        CR_TRY(train_machine(cx, &f, k, scores, report));
    }
    for (size_t i = 0; i < n; i++) m->support += f.needed[i];
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_svm_decide_sparse(cr_ctx *cx, const cri_svm *m, const cri_rows *rows, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *v = cr_scratch_f64(&s, m->d), *f = cr_scratch_f64(&s, rows->n);
    CR_TRY(s.status);
    for (size_t k = 0; k < m->M; k++) {
        double shift = cri_sparse_fold(rows->sparse, m->W + k * m->d, v);
        CR_TRY(cri_sparse_times(cx, rows->sparse, v, f));
        for (size_t i = 0; i < rows->n; i++) out[i * m->M + k] = f[i] - shift + m->b[k];
    }
done:
    cr_scratch_end(&s);
    return st;
}
