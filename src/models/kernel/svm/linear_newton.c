/* linear_newton.c -- the squared hinge by Newton's method.
 * P is quadratic wherever the same pieces cost something: with A those, and h_i = 2 sum_(k in A of row i) c_k,
 *   grad P = (w, 0) - 2 [X 1]' sum_A s c u,   Hess P = diag(1, .., 1, 0) + [X 1]' diag(h) [X 1],
 * so that some steps, each of exact length, end at the minimum.  Few columns: by a factor of the Hessian, O(the cross-products +
 * p^3 / 3) a step.  Many: by conjugate gradients, until |r| <= 0.1 |grad P|, preconditioned by the diagonal; O(entries) each. */
#include "linear_svm.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

typedef struct newton {
    cri_svm_linear_work          *work;
    const cri_svm_linear_problem *q;
    size_t                        p;
    double                       *grad, *d, *r, *z, *s, *Hs; /* [p + 1] */
    double                       *h, *df, *t;                /* [n] */
    double                       *diagonal;                  /* [p + 1], of the Hessian */
    double                       *H;                         /* [p + 1 x p + 1], or NULL */
} newton;

/* The gradient at (w, b), whose scores are work->f, and h. */
static cr_status set_gradient(newton *m)
{
    cr_status                      st = CR_OK;
    const cri_svm_linear_problem  *q = m->q;
    const cri_svm_linear_solution *o = m->work->solution;
    double                        *v = m->work->v;
    memset(m->h, 0, q->x->n * sizeof *v);
    memset(v, 0, q->x->n * sizeof *v);
    for (size_t k = 0; k < q->m; k++) {
        size_t i = cri_svm_linear_row(q, k);
        double u = cri_svm_linear_slack(q, k, m->work->f[i]);
        if (u <= 0) continue;
        m->h[i] += 2 * q->cost[k];
        v[i] -= 2 * q->cost[k] * q->sign[k] * u;
    }
    CR_TRY(cri_svm_linear_transpose_times(m->work->cx, q->x, v, m->grad));
    for (size_t j = 0; j < m->p; j++) m->grad[j] += o->w[j];
    if (!q->intercept) m->grad[m->p] = 0;
done:
    return st;
}

/* d = -H^-1 grad by the factor of H. */
static cr_status step_by_factor(newton *m)
{
    cr_status st = CR_OK;
    size_t    p = m->p;
    double    trace = 0;
    CR_TRY(cri_svm_linear_gram(m->work->cx, m->q->x, m->h, m->H));
    for (size_t j = 0; j < p; j++) m->H[j * (p + 1) + j] += 1;
    for (size_t j = 0; j <= p; j++) trace += m->H[j * (p + 1) + j];
    if (!m->q->intercept) {
        memset(m->H + p * (p + 1), 0, (p + 1) * sizeof *m->H);
        m->H[p * (p + 1) + p] = 1;
    } else /* where few pieces are left to hold it */
        m->H[p * (p + 1) + p] += 1e-14 * trace;
    CR_TRY(cr_chol(m->work->cx, cr_mat_of(m->H, p + 1, p + 1)));
    for (size_t j = 0; j <= p; j++) m->d[j] = -m->grad[j];
    CR_TRY(cr_chol_solve(m->work->cx, cr_cmat_of(m->H, p + 1, p + 1), cr_mat_of(m->d, p + 1, 1)));
done:
    return st;
}

/* out = H s. */
static cr_status hessian_times(newton *m, const double *s, double *out)
{
    cr_status st = CR_OK;
    CR_TRY(cri_svm_linear_scores(m->work->cx, m->q->x, s, s[m->p], m->t));
    for (size_t i = 0; i < m->q->x->n; i++) m->t[i] *= m->h[i];
    CR_TRY(cri_svm_linear_transpose_times(m->work->cx, m->q->x, m->t, out));
    for (size_t j = 0; j < m->p; j++) out[j] += s[j];
    if (!m->q->intercept) out[m->p] = s[m->p];
done:
    return st;
}

static cr_status set_diagonal(newton *m)
{
    const cri_svm_linear_rows *x = m->q->x;
    for (size_t j = 0; j < m->p; j++) m->diagonal[j] = 1;
    m->diagonal[m->p] = m->q->intercept ? 1e-300 : 1;
    for (size_t i = 0; i < x->n; i++) {
        if (m->h[i] == 0) continue;
        if (x->dense)
            for (size_t j = 0; j < x->p; j++)
                m->diagonal[j] += m->h[i] * x->dense[i * x->p + j] * x->dense[i * x->p + j];
        else
            for (size_t e = x->sparse.start[i]; e < x->sparse.start[i + 1]; e++)
                m->diagonal[x->sparse.column[e]] +=
                    m->h[i] * x->sparse.value[e] * x->sparse.value[e];
        if (m->q->intercept) m->diagonal[m->p] += m->h[i];
    }
    return cr_check_interrupt(m->work->cx);
}

static double inner(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += a[j] * b[j];
    return sum;
}

/* d = -H^-1 grad, nearly. */
static cr_status step_by_gradients(newton *m)
{
    cr_status st = CR_OK;
    size_t    q = m->p + 1;
    CR_TRY(set_diagonal(m));
    for (size_t j = 0; j < q; j++) {
        m->d[j] = 0;
        m->r[j] = -m->grad[j];
        m->s[j] = m->z[j] = m->r[j] / m->diagonal[j];
    }
    double rz = inner(m->r, m->z, q), first = rz;
    for (size_t k = 0; k < 200 && rz > 0.01 * first; k++) {
        CR_TRY(cr_check_interrupt(m->work->cx));
        CR_TRY(hessian_times(m, m->s, m->Hs));
        double curvature = inner(m->s, m->Hs, q), step = rz / curvature;
        if (!(curvature > 0)) break;
        for (size_t j = 0; j < q; j++) {
            m->d[j] += step * m->s[j];
            m->r[j] -= step * m->Hs[j];
            m->z[j] = m->r[j] / m->diagonal[j];
        }
        double next = inner(m->r, m->z, q), ratio = next / rz;
        rz = next;
        for (size_t j = 0; j < q; j++) m->s[j] = m->z[j] + ratio * m->s[j];
    }
done:
    return st;
}

cr_status cri_svm_linear_newton(cri_svm_linear_work *work)
{
    cr_status                     st = CR_OK;
    cr_scratch                    s = cr_scratch_begin(work->cx);
    const cri_svm_linear_problem *q = work->problem;
    cri_svm_linear_solution      *o = work->solution;
    size_t                        n = q->x->n, p = q->x->p;
    newton                        m = { .work = work, .q = q, .p = p };
    double                       *vectors = cr_scratch_f64(&s, 7 * (p + 1));
    bool                          narrow = cri_svm_linear_is_narrow(q->x);
    m.h = cr_scratch_f64(&s, n), m.df = cr_scratch_f64(&s, n), m.t = cr_scratch_f64(&s, n);
    if (narrow) m.H = cr_scratch_matrix(&s, p + 1, p + 1);
    CR_TRY(s.status);
    m.grad = vectors, m.d = m.grad + p + 1, m.r = m.d + p + 1, m.z = m.r + p + 1;
    m.s = m.z + p + 1, m.Hs = m.s + p + 1, m.diagonal = m.Hs + p + 1;
    for (;; o->iterations++) {
        CR_TRY(cri_svm_linear_certify(work, true, &o->converged));
        if (o->converged || cri_svm_linear_over(work)) break;
        CR_TRY(cr_check_interrupt(work->cx));
        CR_TRY(set_gradient(&m));
        CR_TRY(narrow ? step_by_factor(&m) : step_by_gradients(&m));
        CR_TRY(cri_svm_linear_scores(work->cx, q->x, m.d, m.d[p], m.df));
        double step = cri_svm_linear_exact_step(work, work->f, m.df, m.d);
        if (!(step > 0)) break; /* as low as rounding lets it be */
        for (size_t j = 0; j < p; j++) o->w[j] += step * m.d[j];
        o->b += step * m.d[p];
    }
done:
    cr_scratch_end(&s);
    return st;
}
