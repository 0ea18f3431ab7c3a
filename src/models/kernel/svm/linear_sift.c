/* linear_sift.c -- the hinge where most rows are not needed.
 * The interior point solves a part of the pieces; those of the others that the answer leaves on the wrong side of the
 * margin join them, until hardly any are left: the optimum of the part is then that of all, with a = 0 elsewhere, as the
 * certificate over all pieces says.  The part begins as every s-th piece.  Where a quarter of all or more are needed, one
 * solution for all is quicker.  Bradley & Mangasarian (2000), Optim. Methods Softw. 13. */
#include "linear_svm.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 20, LEAST_PART = 2000 };

typedef struct part {
    size_t  n;                            /* pieces, each with a row of its own */
    size_t *piece;                        /* [m] which                          */
    bool   *chosen;                       /* [m]                                */
    double *sign, *target, *cost, *alpha; /* [m], of which n are used           */
} part;

/* The rows of the part, one for each piece. */
static cr_status copy_rows(cr_scratch *s, const cri_svm_linear_problem *q, const part *t,
                           cri_svm_linear_rows *out)
{
    const cri_svm_linear_rows *x = q->x;
    size_t                     entries = 0, p = x->p;
    *out = (cri_svm_linear_rows){ .n = t->n, .p = p };
    if (x->dense) {
        double *X = cr_scratch_matrix(s, t->n, p);
        for (size_t k = 0; X && k < t->n; k++)
            memcpy(X + k * p, x->dense + cri_svm_linear_row(q, t->piece[k]) * p, p * sizeof *X);
        out->dense = X;
        return s->status;
    }
    const size_t *start = x->sparse.start;
    for (size_t k = 0; k < t->n; k++) {
        size_t i = cri_svm_linear_row(q, t->piece[k]);
        entries += start[i + 1] - start[i];
    }
    size_t   *first = cr_scratch_index(s, t->n + 1);
    uint32_t *column = cr_scratch_bytes(s, entries, sizeof *column);
    double   *value = cr_scratch_f64(s, entries);
    if (s->status != CR_OK) return s->status;
    entries = 0;
    for (size_t k = 0; k < t->n; k++) {
        size_t i = cri_svm_linear_row(q, t->piece[k]), length = start[i + 1] - start[i];
        first[k] = entries;
        memcpy(column + entries, x->sparse.column + start[i], length * sizeof *column);
        memcpy(value + entries, x->sparse.value + start[i], length * sizeof *value);
        entries += length;
    }
    first[t->n] = entries;
    out->sparse = (cri_sparse){
        .n = t->n, .p = p, .start = first, .column = column, .value = value, .plain = true
    };
    return CR_OK;
}

static void choose(part *t, size_t k)
{
    if (t->chosen[k]) return;
    t->chosen[k] = true;
    t->piece[t->n++] = k;
}

/* Solves the part into w, b and alpha of the whole. */
static cr_status solve_part(cri_svm_linear_work *work, part *t, double tol)
{
    cr_status                     st = CR_OK;
    cr_scratch                    s = cr_scratch_begin(work->cx);
    const cri_svm_linear_problem *q = work->problem;
    cri_svm_linear_solution      *o = work->solution;
    cri_svm_linear_rows           rows;
    cri_svm_linear_options        how = *work->options;
    cri_svm_linear_solution       x = { .w = o->w, .alpha = t->alpha };

    CR_TRY(copy_rows(&s, q, t, &rows));
    for (size_t k = 0; k < t->n; k++) {
        t->sign[k] = q->sign[t->piece[k]];
        t->target[k] = q->target[t->piece[k]];
        t->cost[k] = q->cost[t->piece[k]];
    }
    cri_svm_linear_problem some = { .x = &rows,
                                    .m = t->n,
                                    .sign = t->sign,
                                    .target = t->target,
                                    .cost = t->cost,
                                    .intercept = q->intercept };
    how.method = CRI_SVM_LINEAR_INTERIOR;
    how.warm = false;
    how.tol = tol;
    how.max_iter -= o->iterations;
    CR_TRY(cri_svm_linear_solve(work->cx, &some, &how, &x));
    o->b = x.b;
    o->iterations += x.iterations;
    memset(o->alpha, 0, q->m * sizeof *o->alpha);
    for (size_t k = 0; k < t->n; k++) o->alpha[t->piece[k]] = t->alpha[k];
done:
    cr_scratch_end(&s);
    return st;
}

/* Takes in the pieces outside that cost something; how many. */
static size_t take_in(const cri_svm_linear_work *work, part *t)
{
    const cri_svm_linear_problem *q = work->problem;
    size_t                        before = t->n;
    for (size_t k = 0; k < q->m; k++) {
        double u = cri_svm_linear_slack(q, k, work->f[cri_svm_linear_row(q, k)]);
        if (u > 0 && q->cost[k] > 0) choose(t, k);
    }
    return t->n - before;
}

cr_status cri_svm_linear_sift(cri_svm_linear_work *work)
{
    cr_status                     st = CR_OK;
    cr_scratch                    s = cr_scratch_begin(work->cx);
    const cri_svm_linear_problem *q = work->problem;
    cri_svm_linear_solution      *o = work->solution;
    size_t                        m = q->m, stride = m / LEAST_PART < 10 ? m / LEAST_PART : 10;
    part                          t = { .piece = cr_scratch_index(&s, m),
                                        .chosen = cr_scratch_bytes(&s, m, sizeof(bool)),
                                        .sign = cr_scratch_f64(&s, m),
                                        .target = cr_scratch_f64(&s, m),
                                        .cost = cr_scratch_f64(&s, m),
                                        .alpha = cr_scratch_f64(&s, m) };
    CR_TRY(s.status);
    for (size_t k = 0; k<m; k += stride> 0 ? stride : 1)
        if (q->cost[k] > 0) choose(&t, k);
    for (int round = 0;; round++) {
        double tol = work->options->tol / 2; /* the rest is for pieces outside */
        CR_TRY(solve_part(work, &t, round == 0 ? fmax(tol, 1e-3) : tol));
        CR_TRY(cri_svm_linear_certify(work, false, &o->converged));
        if (o->converged || cri_svm_linear_over(work)) break;
        size_t more = take_in(work, &t);
        if ((more > 0 || round == 0) && t.n <= m / 4 && round < MOST_ROUNDS) continue;
        CR_TRY(cri_svm_linear_interior(work));
        break;
    }
done:
    cr_scratch_end(&s);
    return st;
}
