/* proximal.c -- linear classifiers with an absolute penalty, by proximal Newton.
 *   minimise  g.d + d'Hd/2 + l1 |theta + d|_1  over d, by coordinate descent; then a line search.
 * With many columns H is taken of a working set only: the columns in use and those that violate the
 * optimality conditions most; it grows until none is violated.
 * Friedman, Hastie & Tibshirani (2010), J. Stat. Soft. 33; Lee, Sun & Saunders (2014), SIAM J.
 * Optim. 24. */
#include "solve.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITERATIONS = 500, MOST_SWEEPS = 20000, MOST_HALVINGS = 40, WHOLE_EDGE = 1200 };

typedef struct proximal {
    cr_ctx                  *cx;
    cri_likelihood           f; /* with the working set */
    const cri_solve_options *o;
    cri_solution            *s;
    size_t                   q, n_set, edge, most_set;
    size_t                  *set;       /* [most_set] places in z, ascending          */
    double                  *H;         /* [edge x edge]                              */
    double                  *u, *b;     /* [edge]: H d, and theta + d                 */
    double                  *g, *trial; /* [D]                                        */
    double                  *lack;      /* [q] violation of each column               */
} proximal;

/* The place in theta of coordinate a of the working set; whether it has no penalty. */
static size_t place_of(const proximal *w, size_t a)
{
    return a / w->n_set * w->q + w->set[a % w->n_set];
}

static bool is_free(const proximal *w, size_t a)
{
    return w->f.x->intercept && w->set[a % w->n_set] == 0;
}

/* --- the working set ------------------------------------------------------------------------- */

static void measure_lacks(proximal *w)
{
    for (size_t j = 0; j < w->q; j++) {
        w->lack[j] = w->f.x->intercept && j == 0 ? INFINITY : 0;
        for (size_t m = 0; m < w->f.M; m++) {
            double b = w->s->theta[m * w->q + j], g = w->g[m * w->q + j];
            double lack = b != 0 ? INFINITY : fmax(0, fabs(g) - w->o->l1);
            w->lack[j] = fmax(w->lack[j], lack);
        }
    }
}

static int compare_down(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Columns in use, and the worst of the others as far as there is room for them. */
static cr_status choose_set(proximal *w)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(w->cx);
    double    *sorted = cr_scratch_f64(&s, w->q), least = -1;

    CR_TRY(s.status);
    measure_lacks(w);
    if (w->q > w->most_set) {
        memcpy(sorted, w->lack, w->q * sizeof(double));
        qsort(sorted, w->q, sizeof(double), compare_down);
        least = sorted[w->most_set - 1];
    }
    w->n_set = 0;
    for (size_t j = 0; j < w->q && w->n_set < w->most_set; j++)
        if (least < 0 || (w->lack[j] >= least && w->lack[j] > 0)) w->set[w->n_set++] = j;
    if (w->n_set == 0) w->set[w->n_set++] = 0;
    w->edge = w->f.M * w->n_set;
    w->f.sub = w->set;
    w->f.n_sub = w->n_set;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the quadratic model --------------------------------------------------------------------- */

/* The best value of one coordinate; returns h delta^2, what it gained twice over. */
static double descend(proximal *w, size_t a)
{
    size_t at = place_of(w, a);
    double h = w->H[a * w->edge + a], b = w->b[a], next;
    if (!(h > 0)) return 0;
    next = b - (w->g[at] + w->u[a]) / h;
    if (!is_free(w, a)) {
        double shrink = w->o->l1 / h;
        next = next > shrink ? next - shrink : next < -shrink ? next + shrink : 0;
    }
    double delta = next - b;
    if (delta == 0) return 0;
    w->b[a] = next;
    for (size_t k = 0; k < w->edge; k++) w->u[k] += delta * w->H[a * w->edge + k];
    return h * delta * delta;
}

/* Sweeps over all, then over those in use until they settle, and again. */
static cr_status minimise_model(proximal *w, double enough)
{
    cr_status st = CR_OK;
    for (size_t a = 0; a < w->edge; a++) w->b[a] = w->s->theta[place_of(w, a)];
    memset(w->u, 0, w->edge * sizeof(double));
    for (size_t sweep = 0; sweep < MOST_SWEEPS;) {
        double gain = 0, inner = INFINITY;
        CR_TRY(cr_check_interrupt(w->cx));
        for (size_t a = 0; a < w->edge; a++) gain += descend(w, a);
        sweep++;
        if (gain <= enough) break;
        for (; sweep < MOST_SWEEPS && inner > enough; sweep++) {
            inner = 0;
            for (size_t a = 0; a < w->edge; a++)
                if (w->b[a] != 0) inner += descend(w, a);
        }
    }
done:
    return st;
}

/* g.d + the change of the absolute penalty: not above minus the gain of the model. */
static double promised(const proximal *w)
{
    double sum = 0;
    for (size_t a = 0; a < w->edge; a++) {
        size_t at = place_of(w, a);
        double b = w->s->theta[at];
        sum += w->g[at] * (w->b[a] - b);
        if (!is_free(w, a)) sum += w->o->l1 * (fabs(w->b[a]) - fabs(b));
    }
    return sum;
}

static void move(proximal *w, double step)
{
    memcpy(w->trial, w->s->theta, w->s->D * sizeof(double));
    for (size_t a = 0; a < w->edge; a++) {
        size_t at = place_of(w, a);
        double b = w->s->theta[at];
        w->trial[at] = step == 1 ? w->b[a] : b + step * (w->b[a] - b);
    }
}

/* --- iterations ------------------------------------------------------------------------------ */

static cr_status take_step(proximal *w, double promise, double *f, bool *out_found)
{
    cr_status st = CR_OK;
    double    f0 = *f, a = 1;
    *out_found = false;
    for (int k = 0; k < MOST_HALVINGS && !*out_found; k++, a /= 2) {
        cri_likelihood_value v = { 0 };
        move(w, a);
        CR_TRY(cri_likelihood_at(w->cx, &w->f, w->trial, &v));
        double total = v.f + cri_l1_norm(&w->f, w->o->l1, w->trial);
        *out_found = total <= f0 + 1e-4 * a * promise + 1e-15 * fabs(f0);
        if (*out_found) *f = total;
    }
    if (!*out_found) goto done;
    for (size_t j = 0; j < w->s->D; j++) w->s->step[j] = w->trial[j] - w->s->theta[j];
    memcpy(w->s->theta, w->trial, w->s->D * sizeof(double));
done:
    return st;
}

static cr_status iterate(proximal *w, size_t most)
{
    cr_status            st = CR_OK;
    cri_likelihood_value v = { .gradient = w->g };
    bool                 found = true;
    cri_clock            clock = cri_clock_start(w->cx, NAN);

    CR_TRY(cri_likelihood_at(w->cx, &w->f, w->s->theta, &v));
    if (!isfinite(v.f))
        CR_TRY(
            cr_fail(w->cx, CR_ENUMERIC, "the likelihood is not finite: the values are too large"));
    w->s->stop = CR_STOP_LIMIT;
    for (w->s->iterations = 0; w->s->iterations < most; w->s->iterations++) {
        if (w->s->iterations > 0 && cri_clock_over(&clock)) break;
        CR_TRY(choose_set(w));
        v = (cri_likelihood_value){ .gradient = w->g, .hessian = w->H };
        CR_TRY(cri_likelihood_at(w->cx, &w->f, w->s->theta, &v));
        double f = v.f + cri_l1_norm(&w->f, w->o->l1, w->s->theta);
        CR_TRY(minimise_model(w, 0.01 * w->o->tol * fabs(f)));
        double promise = promised(w);
        if (-promise <= w->o->tol * fabs(f)) {
            move(w, 1);
            memcpy(w->s->theta, w->trial, w->s->D * sizeof(double));
            w->s->stop = CR_STOP_TOLERANCE;
            break;
        }
        CR_TRY(take_step(w, promise, &f, &found));
        if (!found) {
            if (-promise <= 1e-9 * fabs(f)) w->s->stop = CR_STOP_TOLERANCE;
            break;
        }
    }
done:
    return st;
}

cr_status cri_solve_proximal(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                             cri_solution *s)
{
    cr_status  st = CR_OK;
    cr_scratch workspace = cr_scratch_begin(cx);
    proximal   w = { .cx = cx, .f = *f, .o = o, .s = s, .q = f->x->q };
    size_t     edge;

    w.most_set = WHOLE_EDGE / f->M;
    if (w.most_set < 64) w.most_set = 64;
    if (w.most_set > w.q) w.most_set = w.q;
    if (w.q == 0) goto done;
    edge = w.most_set * f->M;
    w.set = cr_scratch_index(&workspace, w.most_set);
    w.H = cr_scratch_matrix(&workspace, edge, edge);
    w.u = cr_scratch_f64(&workspace, edge);
    w.b = cr_scratch_f64(&workspace, edge);
    w.g = cr_scratch_f64(&workspace, s->D);
    w.trial = cr_scratch_f64(&workspace, s->D);
    w.lack = cr_scratch_f64(&workspace, w.q);
    CR_TRY(workspace.status);
    CR_TRY(iterate(&w, o->max_iter == CR_COUNT_UNSET ? MOST_ITERATIONS : o->max_iter));
done:
    cr_scratch_end(&workspace);
    return st;
}
