/* newton_cg.c -- truncated Newton for linear classifiers with many coefficients.
 * The Newton system is solved by conjugate gradients on products with the Hessian, preconditioned
 * by its diagonal (or, for a softmax of few columns, by its diagonal blocks), only as well as the
 * distance from the minimum deserves.  O(n q M) per product, or the entries of sparse rows.
 * Nocedal & Wright (2006), alg. 7.1; Lin, Weng & Keerthi (2008). */
#include "solve.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { MOST_ITERATIONS = 200, MOST_PRODUCTS = 500, MOST_HALVINGS = 40 };

typedef struct truncated {
    cr_ctx                  *cx;
    const cri_likelihood    *f;
    const cri_solve_options *o;
    cri_solution            *s;
    size_t                   D;
    double                  *curvature;                                 /* [n x M] */
    double                  *diagonal, *g, *d, *r, *y, *v, *Hv, *trial; /* [D] */
} truncated;

static void precondition(const truncated *w, const double *r, double *y)
{
    for (size_t a = 0; a < w->D; a++) y[a] = w->diagonal[a] > 0 ? r[a] / w->diagonal[a] : 0;
}

/* d: H d = -g until the residual has shrunk by `share`; returns the gain of the quadratic model. */
static cr_status conjugate_gradients(truncated *w, double share, double *out_gain)
{
    cr_status st = CR_OK;
    size_t    D = w->D;
    double    rho, rho0;

    memset(w->d, 0, D * sizeof(double));
    for (size_t a = 0; a < D; a++) w->r[a] = -w->g[a];
    precondition(w, w->r, w->y);
    memcpy(w->v, w->y, D * sizeof(double));
    rho0 = rho = cr_dot(w->r, w->y, D);
    for (size_t k = 0; k < MOST_PRODUCTS && rho > share * share * rho0 && rho > 0; k++) {
        CR_TRY(cri_likelihood_product(w->cx, w->f, w->curvature, w->v, w->Hv));
        double bend = cr_dot(w->v, w->Hv, D);
        if (!(bend > 1e-14 * rho)) { /* flat: go as far as the gradient says */
            for (size_t a = 0; k == 0 && a < D; a++) w->d[a] = w->v[a];
            break;
        }
        double step = rho / bend, before = rho;
        for (size_t a = 0; a < D; a++) w->d[a] += step * w->v[a], w->r[a] -= step * w->Hv[a];
        precondition(w, w->r, w->y);
        rho = cr_dot(w->r, w->y, D);
        for (size_t a = 0; a < D; a++) w->v[a] = w->y[a] + rho / before * w->v[a];
    }
    /* -g.d - d'Hd/2 with H d = -g - r */
    *out_gain = 0.5 * (cr_dot(w->r, w->d, D) - cr_dot(w->g, w->d, D));
done:
    return st;
}

/* Tries theta + d, half of d, ...; false when no step lowers F. */
static cr_status search(truncated *w, double gain, cri_likelihood_value *v, bool *out_found)
{
    cr_status st = CR_OK;
    double    f0 = v->f, a = 1;
    *out_found = false;
    for (int k = 0; k < MOST_HALVINGS && !*out_found; k++, a /= 2) {
        for (size_t j = 0; j < w->D; j++) w->trial[j] = w->s->theta[j] + a * w->d[j];
        *v = (cri_likelihood_value){ .gradient = w->r, .curvature = w->curvature };
        CR_TRY(cri_likelihood_at(w->cx, w->f, w->trial, v));
        *out_found = v->f <= f0 - 2e-4 * a * gain + 1e-15 * fabs(f0);
    }
done:
    return st;
}

static cr_status iterate(truncated *w, size_t most)
{
    cr_status            st = CR_OK;
    cri_likelihood_value v = { .gradient = w->g, .curvature = w->curvature };
    double               norm0 = 0, gain;
    bool                 found;
    cri_clock            clock = cri_clock_start(w->cx, NAN);

    CR_TRY(cri_likelihood_at(w->cx, w->f, w->s->theta, &v));
    if (!isfinite(v.f))
        CR_TRY(
            cr_fail(w->cx, CR_ENUMERIC, "the likelihood is not finite: the values are too large"));
    w->s->stop = CR_STOP_LIMIT;
    for (w->s->iterations = 0; w->s->iterations < most; w->s->iterations++) {
        double norm = cr_norm2(w->g, w->D);
        if (w->s->iterations == 0) norm0 = norm;
        if (norm == 0 || cri_is_separated(w->f, w->o, &v) || cri_clock_over(&clock)) break;
        CR_TRY(cri_likelihood_diagonal(w->cx, w->f, w->curvature, w->diagonal));
        CR_TRY(conjugate_gradients(w, fmin(0.1, sqrt(norm / norm0)), &gain));
        if (gain <= w->o->tol * fmax(fabs(v.f), 1e-300)) {
            for (size_t j = 0; j < w->D; j++) w->s->theta[j] += w->s->step[j] = w->d[j];
            w->s->stop = CR_STOP_TOLERANCE;
            break;
        }
        CR_TRY(search(w, gain, &v, &found));
        if (!found) {
            if (gain <= 1e-9 * fabs(v.f)) w->s->stop = CR_STOP_TOLERANCE;
            break;
        }
        for (size_t j = 0; j < w->D; j++) w->s->step[j] = w->trial[j] - w->s->theta[j];
        memcpy(w->s->theta, w->trial, w->D * sizeof(double));
        memcpy(w->g, w->r, w->D * sizeof(double));
    }
    if (w->s->stop == CR_STOP_LIMIT && cr_norm2(w->g, w->D) == 0) w->s->stop = CR_STOP_TOLERANCE;
done:
    return st;
}

cr_status cri_solve_newton_cg(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                              cri_solution *s)
{
    cr_status  st = CR_OK;
    cr_scratch workspace = cr_scratch_begin(cx);
    truncated  w = { .cx = cx, .f = f, .o = o, .s = s, .D = s->D };
    double   **vectors[] = { &w.diagonal, &w.g, &w.d, &w.r, &w.y, &w.v, &w.Hv, &w.trial };

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = cr_scratch_f64(&workspace, s->D);
    w.curvature = cr_scratch_matrix(&workspace, f->x->n, f->M);
    CR_TRY(workspace.status);
    CR_TRY(iterate(&w, o->max_iter == CR_COUNT_UNSET ? MOST_ITERATIONS : o->max_iter));
done:
    cr_scratch_end(&workspace);
    return st;
}
