/* sgd.c -- mini-batches with reduced variance, to the minimum.
 * Each epoch takes the full gradient at a snapshot; a batch then needs only the difference of its
 * gradient from the one it had there, which vanishes at the minimum, so that a constant rate
 * converges (Johnson & Zhang 2013).  The rate is half the inverse of the expected smoothness of a
 * batch: L(B) = (n - B) / (B (n - 1)) L_max + n (B - 1) / (B (n - 1)) L_mean,   L_i = c |z_i|^2 w_i
 * n / W. */
#include "solve.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* Epochs where no number is given: five million rows, within bounds.  What is not at its minimum
 * then, with dependent columns or classes nearly separated, needs a method that knows the
 * curvature. */
static size_t most_epochs(size_t n)
{
    enum { ROWS = 5000000, LEAST = 200, MOST = 5000 };
    size_t epochs = ROWS / (n > 0 ? n : 1);
    return epochs < LEAST ? LEAST : epochs > MOST ? MOST : epochs;
}

/* g += k d nll / d theta of one row. */
static void add_row(const cri_likelihood *f, const double *theta, const double *z, uint32_t y,
                    double k, double *eta, double *g)
{
    size_t M = f->M, q = f->x->q;
    double nll;
    for (size_t m = 0; m < M; m++) {
        eta[m] = 0;
        for (size_t j = 0; j < q; j++) eta[m] += theta[m * q + j] * z[j];
    }
    cri_likelihood_row(f, eta, y, &nll, eta, eta + M);
    for (size_t m = 0; m < M; m++)
        for (size_t j = 0; j < q; j++) g[m * q + j] += k * eta[m] * z[j];
}

/* theta -= rate (g + l2 theta); the intercepts are free. */
static void step(const cri_likelihood *f, double rate, double l2, const double *g,
                 const double *from, double *theta)
{
    size_t q = f->x->q;
    for (size_t a = 0; a < f->M * q; a++) {
        bool   free = f->x->intercept && a % q == 0;
        double pull = free ? 0 : l2 * (theta[a] - (from ? from[a] : 0));
        theta[a] -= rate * (g[a] + pull);
    }
}

typedef struct reduced {
    cr_ctx               *cx;
    const cri_likelihood *f;
    size_t                D, batch;
    double                rate;
    size_t               *order;                     /* [n] */
    double               *z, *g, *full, *snap, *eta; /* [q], [D] x 3, [2 M] */
} reduced;

/* Half the inverse of the expected smoothness of a batch, the rate at which steps surely fall; z [q] is
 * workspace. */
static double find_rate(const cri_likelihood *f, size_t batch, double *z)
{
    const cri_classifier_rows *x = f->x;
    double                     bend = f->link == CRI_LINK_PROBIT ? 1 : f->M > 1 ? 0.5 : 0.25;
    double most = 0, mean = 0, n = (double)x->n, B = (double)batch, extra = f->l2 / x->weight;
    for (size_t i = 0; i < x->n; i++) {
        const double *row = cri_classifier_rows_one(x, i, z);
        double        square = 0;
        for (size_t j = 0; j < x->q; j++) square += row[j] * row[j];
        square *= bend * (x->w ? x->w[i] : 1) * n / x->weight;
        most = fmax(most, square);
        mean += square / n;
    }
    if (n > 1) most = (n - B) / (B * (n - 1)) * most + n * (B - 1) / (B * (n - 1)) * mean;
    return 0.5 / (most + extra + (f->full ? 1 / x->weight : 0) + 1e-300);
}

static void run_epoch(reduced *w, cr_rng *rng, double *theta)
{
    const cri_likelihood      *f = w->f;
    const cri_classifier_rows *x = f->x;
    double                     W = x->weight, n = (double)x->n;
    cr_rng_permutation(rng, x->n, w->order);
    for (size_t begin = 0; begin < x->n; begin += w->batch) {
        size_t end = x->n - begin < w->batch ? x->n : begin + w->batch;
        double share = n / ((double)(end - begin) * W);
        for (size_t a = 0; a < w->D; a++) w->g[a] = w->full[a] / W;
        for (size_t i = begin; i < end; i++) {
            size_t        row = w->order[i];
            double        k = share * (x->w ? x->w[row] : 1);
            const double *z = cri_classifier_rows_one(x, row, w->z);
            add_row(f, theta, z, f->y[row], k, w->eta, w->g);
            add_row(f, w->snap, z, f->y[row], -k, w->eta, w->g);
        }
        step(f, w->rate, f->l2 / W, w->g, w->snap, theta);
    }
}

cr_status cri_solve_sgd(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                        cri_solution *s)
{
    cr_status  st = CR_OK;
    cr_scratch workspace = cr_scratch_begin(cx);
    size_t     n = f->x->n;
    size_t     most = o->max_iter == CR_COUNT_UNSET ? most_epochs(n) : o->max_iter;
    reduced    w = { .cx = cx, .f = f, .D = s->D, .batch = o->batch < n ? o->batch : n };
    double     best = INFINITY;
    cri_clock  clock = cri_clock_start(cx, NAN);

    w.order = cr_scratch_index(&workspace, n);
    w.z = cr_scratch_f64(&workspace, f->x->q);
    w.g = cr_scratch_f64(&workspace, s->D);
    w.full = cr_scratch_f64(&workspace, s->D);
    w.snap = cr_scratch_f64(&workspace, s->D);
    w.eta = cr_scratch_f64(&workspace, 2 * f->M);
    CR_TRY(workspace.status);
    memcpy(w.snap, s->theta, s->D * sizeof(double));
    w.rate = find_rate(f, w.batch, w.z);
    s->stop = CR_STOP_LIMIT;
    for (s->iterations = 0; s->iterations <= most; s->iterations++) {
        cri_likelihood_value v = { .gradient = w.full };
        cr_rng               rng = cr_rng_stream(o->seed, s->iterations);
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_likelihood_at(cx, f, s->theta, &v));
        bool settled = cri_kkt(f, 0, s->theta, w.full, NULL) <= sqrt(o->tol) * f->x->weight;
        if (settled) s->stop = CR_STOP_TOLERANCE;
        if (settled || s->iterations == most || cri_is_separated(f, o, &v)) break;
        if (cri_clock_over(&clock)) break;
        if (!(v.f <= best * 2)) w.rate /= 2; /* weights or rows of very unlike sizes */
        best = fmin(best, v.f);
        for (size_t a = 0; a < s->D; a++) s->step[a] = s->theta[a] - w.snap[a];
        memcpy(w.snap, s->theta, s->D * sizeof(double));
        run_epoch(&w, &rng, s->theta);
    }
done:
    cr_scratch_end(&workspace);
    return st;
}
