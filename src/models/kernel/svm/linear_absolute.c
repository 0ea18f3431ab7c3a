/* linear_absolute.c -- the squared hinge with the sum of |w_j| as penalty: few w_j are other than 0.
 * Newton's method as in linear_newton.c, with the penalty left as it is in the model of each step,
 *   minimise over d  grad l . d + d' H d / 2 + |w + d|_1,   H = [X 1]' diag(h) [X 1] + nu I,
 * which coordinate descent solves, over the columns that may move: those with w_j other than 0, or a slope near 1.  Few columns: by
 * H itself, O(p) for each; many: by t = [X 1] d, kept up to date, and a copy of the columns, O(entries of one) each.
 * Then a step of exact length along d.  The intercept is where it is best for the other d at any time,
 *   d_b = -(grad_b + c . d) / H_bb,   c = X'h,   H_bb = sum h,
 * which makes H - c c' / H_bb the Hessian of the others: columns of one sign would else be nearly its multiples. */
#include "linear_svm.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

typedef struct absolute {
    cri_svm_linear_work          *work;
    const cri_svm_linear_problem *q;
    size_t                        p;
    double         *grad, *d, *diagonal, *slope; /* [p + 1]; slope = grad + H d, of few columns */
    double         *c, Hbb, cross;               /* [p + 1]; cross = c . d */
    double         *h, *df, *t;                  /* [n]; t = [X 1] d */
    size_t         *order;                       /* [p] the columns that may move */
    size_t          active;
    double         *H;       /* [p + 1 x p + 1], or NULL: */
    cri_sparse_copy columns; /* X' */
    double          nu;
} absolute;

static cr_status set_gradient(absolute *m)
{
    cr_status                     st = CR_OK;
    const cri_svm_linear_problem *q = m->q;
    double                       *v = m->work->v;
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
done:
    return st;
}

/* sum h x_j t, or of squares: over the entries of column j of the copy, or the strided ones of dense rows. */
static double column_times(const absolute *m, size_t j, const double *h, const double *opt_t)
{
    double sum = 0;
    if (m->q->x->dense) {
        for (size_t i = 0; i < m->q->x->n; i++) {
            double x = m->q->x->dense[i * m->p + j];
            sum += h[i] * x * (opt_t ? opt_t[i] : x);
        }
    } else {
        const cri_sparse *C = &m->columns.view;
        for (size_t e = C->start[j]; e < C->start[j + 1]; e++)
            sum += h[C->column[e]] * C->value[e] * (opt_t ? opt_t[C->column[e]] : C->value[e]);
    }
    return sum;
}

static void column_add(absolute *m, size_t j, double a)
{
    if (m->q->x->dense) {
        for (size_t i = 0; i < m->q->x->n; i++) m->t[i] += a * m->q->x->dense[i * m->p + j];
    } else {
        const cri_sparse *C = &m->columns.view;
        for (size_t e = C->start[j]; e < C->start[j + 1]; e++)
            m->t[C->column[e]] += a * C->value[e];
    }
}

static double best_intercept(const absolute *m)
{
    return m->Hbb > 0 ? -(m->grad[m->p] + m->cross) / m->Hbb : 0;
}

/* The model's slope along column j without the penalty, and a move along it. */
static double slope_of(const absolute *m, size_t j)
{
    if (m->H) return m->slope[j];
    return m->grad[j] + column_times(m, j, m->h, m->t) + best_intercept(m) * m->c[j] +
           m->nu * m->d[j];
}

static void move(absolute *m, size_t j, double a)
{
    m->d[j] += a;
    m->cross += a * m->c[j];
    if (m->H) {
        const double *row = m->H + j * (m->p + 1); /* both halves */
        for (size_t k = 0; k < m->p; k++) m->slope[k] += a * row[k];
    } else
        column_add(m, j, a);
}

/* H without the intercept where it is kept, both halves; its diagonal; c and H_bb. */
static cr_status set_hessian(absolute *m)
{
    cr_status st = CR_OK;
    size_t    p = m->p, q = p + 1;
    if (m->H) {
        CR_TRY(cri_svm_linear_gram(m->work->cx, m->q->x, m->h, m->H));
        memcpy(m->c, m->H + p * q, q * sizeof *m->c);
    } else
        CR_TRY(cri_svm_linear_transpose_times(m->work->cx, m->q->x, m->h, m->c));
    m->Hbb = m->q->intercept ? m->c[p] : 0;
    if (!(m->Hbb > 0)) memset(m->c, 0, q * sizeof *m->c);
    double per = m->Hbb > 0 ? 1 / m->Hbb : 0, trace = 0;
    for (size_t a = 0; a < p; a++) {
        for (size_t b = 0; m->H && b <= a; b++) {
            m->H[a * q + b] -= m->c[a] * m->c[b] * per;
            m->H[b * q + a] = m->H[a * q + b];
        }
        m->diagonal[a] =
            m->H ? m->H[a * q + a] : column_times(m, a, m->h, NULL) - m->c[a] * m->c[a] * per;
        m->diagonal[a] = fmax(m->diagonal[a], 0);
        trace += m->diagonal[a];
    }
    m->nu = 1e-12 * (trace / (double)q) + 1e-300;
    for (size_t j = 0; j < p; j++) {
        m->diagonal[j] += m->nu;
        if (m->H) m->H[j * q + j] += m->nu;
    }
done:
    return st;
}

/* The model at d = 0, and the columns that may move. */
static cr_status set_model(absolute *m)
{
    cr_status     st = CR_OK;
    const double *w = m->work->solution->w;
    CR_TRY(set_hessian(m));
    m->cross = 0;
    m->active = 0;
    for (size_t j = 0; j < m->p; j++) {
        m->d[j] = 0;
        m->slope[j] = m->grad[j] + best_intercept(m) * m->c[j];
        if (w[j] != 0 || fabs(m->slope[j]) > 1) m->order[m->active++] = j;
    }
    if (!m->H) memset(m->t, 0, m->q->x->n * sizeof *m->t);
done:
    return st;
}

/* Column j to its best; how much the model's slope was off. */
static double descend(absolute *m, size_t j)
{
    double w = m->work->solution->w[j] + m->d[j], g = slope_of(m, j), Q = m->diagonal[j];
    double next = w - g / Q, cut = 1 / Q;
    next = next > cut ? next - cut : next < -cut ? next + cut : 0;
    double a = next - w;
    if (a != 0) move(m, j, a);
    return fabs(a) * Q;
}

static cr_status solve_model(absolute *m, cr_rng *rng, double eps)
{
    cr_status st = CR_OK;
    for (size_t round = 0; round < (m->H ? 1000 : 20); round++) {
        double worst = 0;
        CR_TRY(cr_check_interrupt(m->work->cx));
        for (size_t k = 0; k + 1 < m->active; k++) {
            size_t other = k + (size_t)cr_rng_below(rng, m->active - k), kept = m->order[k];
            m->order[k] = m->order[other];
            m->order[other] = kept;
        }
        for (size_t k = 0; k < m->active; k++) worst = fmax(worst, descend(m, m->order[k]));
        if (worst <= eps) break;
    }
    m->d[m->p] = best_intercept(m);
done:
    return st;
}

/* The greatest violation of the conditions at (w, b). */
static double violation(const absolute *m)
{
    const double *w = m->work->solution->w;
    double        worst = m->q->intercept ? fabs(m->grad[m->p]) * 1e-3 : 0;
    for (size_t j = 0; j < m->p; j++) {
        double g = m->grad[j];
        worst = fmax(worst, w[j] > 0 ? fabs(g + 1) : w[j] < 0 ? fabs(g - 1) : fabs(g) - 1);
    }
    return worst;
}

cr_status cri_svm_linear_absolute(cri_svm_linear_work *work)
{
    cr_status                     st = CR_OK;
    cr_scratch                    s = cr_scratch_begin(work->cx);
    const cri_svm_linear_problem *q = work->problem;
    cri_svm_linear_solution      *o = work->solution;
    size_t                        n = q->x->n, p = q->x->p;
    absolute                      m = { .work = work, .q = q, .p = p };
    double                       *vectors = cr_scratch_f64(&s, 5 * (p + 1));
    m.h = cr_scratch_f64(&s, n), m.df = cr_scratch_f64(&s, n), m.t = cr_scratch_f64(&s, n);
    m.order = cr_scratch_index(&s, p);
    if (cri_svm_linear_is_narrow(q->x)) m.H = cr_scratch_matrix(&s, p + 1, p + 1);
    CR_TRY(s.status);
    m.grad = vectors, m.d = m.grad + p + 1, m.diagonal = m.d + p + 1, m.slope = m.diagonal + p + 1;
    m.c = m.slope + p + 1;
    if (!m.H && !q->x->dense) CR_TRY(cri_sparse_transpose(work->cx, &q->x->sparse, &m.columns));
    for (;; o->iterations++) {
        CR_TRY(cri_svm_linear_certify(work, true, &o->converged));
        if (o->converged || cri_svm_linear_over(work)) break;
        CR_TRY(cr_check_interrupt(work->cx));
        cr_rng rng = cr_rng_stream(work->options->seed, o->iterations);
        CR_TRY(set_gradient(&m));
        double off = violation(&m);
        CR_TRY(set_model(&m));
        CR_TRY(solve_model(&m, &rng, 0.03 * fmin(off, 1)));
        CR_TRY(cri_svm_linear_scores(work->cx, q->x, m.d, m.d[p], m.df));
        double step = cri_svm_linear_exact_step(work, work->f, m.df, m.d);
        if (!(step > 0)) break;
        for (size_t j = 0; j < p; j++) o->w[j] += step * m.d[j];
        o->b += step * m.d[p];
    }
done:
    if (m.columns.start) cri_sparse_free(work->cx, &m.columns);
    cr_scratch_end(&s);
    return st;
}
