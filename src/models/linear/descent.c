/* descent.c -- coordinate descent for the elastic net, from one lambda to the next. */
#include "descent.h"
#include "base/context_internal.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_DIRECT = 1500 }; /* terms whose equations are solved as they stand */

/* How many at the most of these columns: 3 n in any event, and of columns with few entries no more
 * than make a row of G about as long as the entries that stand in for it. */
static size_t most_direct(const cri_columns *X)
{
    size_t most = MOST_DIRECT;
    if (X && X->n < MOST_DIRECT / 3) most = 3 * X->n + 100;
    if (X && !X->Z && X->p > 0 && 8 * X->entries.entries / X->p + 100 < most)
        most = 8 * X->entries.entries / X->p + 100;
    return most;
}

/* --- setting up ------------------------------------------------------------------------------ */

static cr_status place_arrays(cr_scratch *s, cri_descent *d)
{
    size_t p = d->p, most = most_direct(d->X);
    d->most = p < most ? p : most;
    d->order = cr_scratch_index(s, p);
    d->b = cr_scratch_bytes(s, p, sizeof(double));
    d->before = cr_scratch_bytes(s, p, sizeof(double));
    d->c = cr_scratch_f64(s, p);
    d->c0 = cr_scratch_f64(s, p);
    d->square = cr_scratch_f64(s, p);
    d->K = cr_scratch_matrix(s, d->most, d->most);
    d->d = cr_scratch_f64(s, p);
    d->slope = cr_scratch_f64(s, p);
    d->sign = cr_scratch_f64(s, p);
    d->left = cr_scratch_f64(s, p);
    d->way = cr_scratch_f64(s, p);
    d->product = cr_scratch_f64(s, p);
    d->support = cr_scratch_index(s, p);
    for (size_t i = 0; s->status == CR_OK && i < p; i++) d->order[i] = i;
    d->lambda = INFINITY;
    d->converged = true;
    return s->status;
}

cr_status cri_descent_of_gram(cr_scratch *s, cri_gram *g, const cri_descent_settings *settings,
                              cri_descent *out)
{
    size_t      p = g->p;
    cri_descent d = { .settings = *settings,
                      .p = p,
                      .weight = g->weight,
                      .G = g->G,
                      .tt = g->tt / g->weight,
                      .stride = p,
                      .known = p };
    cr_status   st = place_arrays(s, &d);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < p * p; i++) d.G[i] /= d.weight;
    for (size_t i = 0; i < p; i++) {
        d.c[i] = d.c0[i] = g->g[i] / d.weight;
        d.square[i] = d.G[i * p + i];
    }
    d.unit = sqrt(d.tt);
    *out = d;
    return CR_OK;
}

cr_status cri_descent_of_columns(cr_scratch *s, const cri_columns *X,
                                 const cri_descent_settings *settings, cri_descent *out)
{
    cri_descent d = {
        .settings = *settings, .p = X->p, .weight = X->weight, .X = X, .tt = X->tt / X->weight
    };
    d.r = cr_scratch_f64(s, X->residual_size);
    d.z = cr_scratch_f64(s, X->residual_size);
    d.joining = cr_scratch_matrix(s, CRI_DESCENT_JOIN, X->residual_size);
    cr_status st = place_arrays(s, &d);
    d.stride = d.most;
    d.G = cr_scratch_matrix(s, d.stride, d.stride);
    st = s->status;
    if (st != CR_OK) return st;
    X->start(X, d.r);
    for (size_t j = 0; j < d.p; j++) {
        d.square[j] = X->square[j];
        d.c[j] = d.c0[j] = X->square[j] > 0 ? X->dot(X, j, d.r) / d.weight : 0;
    }
    d.unit = sqrt(d.tt);
    for (size_t j = 0; j < d.p; j++) d.d[j] = d.c0[j] * d.weight;
    st = cri_known_new(s, X, d.r, d.d, &d.known_at);
    if (st != CR_OK) return st;
    *out = d;
    return CR_OK;
}

double cri_descent_lambda_max(const cri_descent *d)
{
    double most = 0;
    for (size_t i = 0; i < d->p; i++)
        if (d->square[i] > 0) most = fmax(most, fabs(d->c0[i]));
    /* so that lambda r is not below it by rounding */
    return most / fmax(d->settings.l1_ratio, 1e-3) * (1 + 2 * DBL_EPSILON);
}

/* --- places ---------------------------------------------------------------------------------- */

static void swap_numbers(double *a, double *b)
{
    double keep = *a;
    *a = *b, *b = keep;
}

/* Exchanges two places, in G the rows and the columns. */
static void exchange(cri_descent *d, size_t i, size_t j)
{
    size_t p = d->p, term = d->order[i];
    if (i == j) return;
    d->order[i] = d->order[j], d->order[j] = term;
    double *arrays[] = { d->b, d->before, d->c, d->c0, d->square };
    for (size_t k = 0; k < 5; k++) swap_numbers(&arrays[k][i], &arrays[k][j]);
    if (d->X) return; /* G is of places that stay */
    cblas_dswap((int)p, d->G + i * p, 1, d->G + j * p, 1);
    cblas_dswap((int)p, d->G + i, (int)p, d->G + j, (int)p);
}

/* The places of a working set that is solved by columns, in the order in which these stand: a sweep
 * then goes through memory from its beginning to its end.  O(p). */
static void sort_places(cri_descent *d)
{
    double *arrays[] = { d->b, d->before, d->c, d->c0, d->square };
    size_t *from = d->support, m = 0;
    if (!d->X || cri_descent_by_products(d)) return;
    const size_t *rank = d->X->entries.view.index;
    memset(from, 0, d->p * sizeof *from);
    for (size_t i = 0; i < d->m; i++) from[rank ? rank[d->order[i]] : d->order[i]] = i + 1;
    for (size_t j = 0; j < d->p; j++)
        if (from[j] != 0) from[m++] = from[j] - 1;
    for (size_t k = 0; k < 5; k++) {
        for (size_t i = 0; i < m; i++) d->d[i] = arrays[k][from[i]];
        memcpy(arrays[k], d->d, m * sizeof(double));
    }
    for (size_t i = 0; i < m; i++) d->d[i] = (double)d->order[from[i]];
    for (size_t i = 0; i < m; i++) d->order[i] = (size_t)d->d[i];
}

/* The strong rule (Tibshirani et al. 2012, sec. 4): who was this close at the last lambda. */
static void admit_strong(cri_descent *d, double last)
{
    double bound = d->settings.l1_ratio * (2 * d->lambda - last);
    size_t before = d->m;
    for (size_t i = d->m; i < d->p; i++)
        if (d->square[i] > 0 && fabs(d->c[i]) >= bound) exchange(d, i, d->m++);
    if (d->m > before) sort_places(d);
}

/* --- one lambda ------------------------------------------------------------------------------ */

/* c of all places anew; by columns from the products with what was wanted, or of each. */
static void take_gradients(cri_descent *d, const double *products, size_t stride)
{
    cri_known_gradients *known = &d->known_at;
    bool                 adds = products && known->most > 0;
    if (!d->X) {
        memcpy(d->c, d->c0, d->p * sizeof(double));
        if (d->m > 0)
            cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)d->p, (int)d->m, -1, d->G, (int)d->p,
                        d->b, 1, 1, d->c, 1);
        return;
    }
    for (size_t i = 0; i < d->p; i++) {
        size_t j = d->order[i];
        if (!(d->square[i] > 0)) continue;
        double all = products ? products[j * stride] : d->X->dot(d->X, j, d->r);
        d->c[i] = (all + (adds ? known->guess[j] : 0)) / d->weight;
    }
    if (adds) cri_known_add(known, products, stride);
}

/* Whether place i, from what is known, may be as large as l1 by magnitude. */
static bool is_unsure(const cri_descent *d, size_t i)
{
    const cri_known_gradients *known = &d->known_at;
    double                     size = fabs(known->guess[d->order[i]]);
    return size + sqrt(d->square[i] * d->weight) * known->length >= cri_descent_l1(d) * d->weight;
}

const double *cri_descent_wanted(cri_descent *d)
{
    enum { SHARE = 4 }; /* of the columns: when more are unsure, the products tell more */
    size_t unsure = 0, *which = d->support;
    if (!d->X || !(d->unit > 0)) return NULL;
    if (d->known_at.most == 0) {
        if (cri_descent_by_products(d) || d->p - d->m > d->p / SHARE) return d->r;
        for (size_t i = d->m; i < d->p; i++) /* those of the set are left by its solution */
            if (d->square[i] > 0) d->c[i] = d->X->dot(d->X, d->order[i], d->r) / d->weight;
        d->taken = true;
        return NULL;
    }
    cri_known_look(&d->known_at, d->r);
    for (size_t i = 0; i < d->p; i++)
        if (d->square[i] > 0 && (i < d->m || is_unsure(d, i))) which[unsure++] = i;
    if (unsure > d->p / SHARE) return d->known_at.v;
    for (size_t i = d->m; i < d->p; i++) d->c[i] = d->known_at.guess[d->order[i]] / d->weight;
    for (size_t a = 0; a < unsure; a++)
        d->c[which[a]] = d->X->dot(d->X, d->order[which[a]], d->r) / d->weight;
    d->taken = true;
    return NULL;
}

bool cri_descent_check(cri_descent *d, const double *c, size_t stride)
{
    enum { MOST_IDLE = 3 };
    size_t before = d->m;
    double tolerance = d->settings.tolerance;
    if (!(d->unit > 0)) return true;
    if (!d->taken) take_gradients(d, c, stride);
    d->taken = false;
    d->violation = 0;
    for (size_t i = 0; i < d->p; i++) {
        double v = cri_descent_violation(d, i, d->c[i]);
        d->violation = fmax(d->violation, v);
        if (i >= d->m && v > tolerance) exchange(d, i, d->m++);
    }
    if (d->m > before) sort_places(d);
    d->converged = d->violation <= 4 * tolerance + 1e-13;
    d->idle = d->m > before ? 0 : d->idle + 1;
    bool settled = d->m == before && (d->converged || d->idle >= MOST_IDLE);
    return settled || d->sweeps >= d->settings.most_sweeps ||
           (d->settings.cx && cri_should_stop(d->settings.cx));
}

/* Solutions are linear in lambda between the points where a term enters or leaves: goes on along
 * the line through the last two, but turns no sign.  O(m^2) or O(n m). */
static void extrapolate(cri_descent *d, double lambda)
{
    double share = (lambda - d->lambda) / (d->lambda - d->lambda_before);
    for (size_t i = 0; i < d->m; i++) {
        double b = d->b[i], next = b + share * (b - d->before[i]);
        d->before[i] = b;
        if (b != 0 && isfinite(share) && next * b > 0) d->b[i] = next;
    }
    d->lambda_before = d->lambda;
}

static void start_lambda(cri_descent *d, double lambda)
{
    d->lambda = lambda;
    d->sweeps = d->since = d->idle = 0;
    d->violation = 0;
    d->converged = true;
}

void cri_descent_begin(cri_descent *d, double lambda)
{
    double last = isinf(d->lambda) ? fmax(cri_descent_lambda_max(d), lambda) : d->lambda;
    extrapolate(d, lambda);
    start_lambda(d, lambda);
    if (d->unit > 0) admit_strong(d, last); /* else there is nothing to explain */
}

static void settle(cri_descent *d)
{
    do cri_descent_solve(d);
    while (!cri_descent_check(d, NULL, 0));
}

void cri_descent_step(cri_descent *d, double lambda)
{
    cri_descent_begin(d, lambda);
    if (d->unit > 0) settle(d);
}

void cri_descent_finish(cri_descent *d, double lambda, const double *b)
{
    enum { ENOUGH = 200 }; /* sweeps that rounding may take in vain */
    cri_descent_settings settings = d->settings;
    bool                 converged = d->converged;
    start_lambda(d, lambda);
    if (!(d->unit > 0)) return;
    for (size_t i = 0; i < d->p; i++) d->b[i] = b[d->order[i]];
    cri_descent_refresh(d);
    size_t k = cri_descent_support(d);
    if (k > 0) cri_descent_solve_directly(d, k);
    d->settings.tolerance = fmin(settings.tolerance, 1e-12);
    if (d->settings.most_sweeps > ENOUGH) d->settings.most_sweeps = ENOUGH;
    settle(d);
    d->settings = settings;
    d->converged = converged; /* what is left now is beyond what was asked for */
}

/* --- looks ----------------------------------------------------------------------------------- */

double cri_descent_mse(const cri_descent *d)
{
    double mse = d->tt; /* b^T G b = b . (c0 - c) */
    if (d->X) return d->X->inner(d->X, d->r, d->r) / d->weight;
    for (size_t i = 0; i < d->m; i++) mse -= d->b[i] * (d->c0[i] + d->c[i]);
    return fmax(mse, 0);
}

size_t cri_descent_nonzero(const cri_descent *d)
{
    size_t k = 0;
    for (size_t i = 0; i < d->m; i++) k += d->b[i] != 0;
    return k;
}

void cri_descent_coefficients(const cri_descent *d, double *out)
{
    for (size_t i = 0; i < d->p; i++) out[d->order[i]] = d->b[i];
}

void cri_descent_products(const cri_descent *d, const size_t *terms, size_t first, size_t k,
                          size_t *place, double *out)
{
    bool known = cri_descent_by_products(d); /* G has them all */
    for (size_t i = 0; i < d->p; i++) place[d->order[i]] = i;
    for (size_t a = 0; a < k; a++) known = known && place[terms[a]] < d->known;
    for (size_t a = first; a < k; a++) {
        const double *row = d->G + place[terms[a]] * d->stride;
        if (!known) d->X->copy(d->X, terms[a], d->z);
        for (size_t e = 0; e <= a; e++)
            out[a * k + e] = out[e * k + a] =
                known ? row[place[terms[e]]] : d->X->dot(d->X, terms[e], d->z) / d->weight;
    }
}
