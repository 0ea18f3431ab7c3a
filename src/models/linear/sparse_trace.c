/* sparse_trace.c -- the degrees of freedom of a ridge on sparse rows, by random probes.
 *   tr H = E e'He,  H = Z (Z'Z + lambda I)^-1 Z',  e random signs      (Hutchinson 1990)
 * e'He is what a ridge on the target e takes off |e|^2: the sum of the phi^2 of LSQR's rotations,
 * which come from the bidiagonalisation alone, without a solution, and settle twice as fast as one
 * would (Golub & Meurant 2010, "Matrices, moments and quadrature", sec. 7.3).  All probes go
 * through it together, so that each entry of the rows is fetched once for all. */
#include "sparse_solve.h"
#include "../../base/parallel.h"
#include "../../base/rng.h"

#include <math.h>
#include <string.h>

enum { PROBES = CRI_SPARSE_PANEL, BLOCK = 1024 };

/* [Z; sqrt(l) I] D = U B V', D as in sparse_solve.h; arrays are panels, a row of PROBES numbers
 * each.  U and V are kept unnormalised, with what to multiply them by. */
typedef struct bidiagonal {
    const cri_sparse_terms *z;
    double                  root;         /* sqrt(lambda)              */
    double                 *D;            /* [p]                       */
    double                 *top, *bottom; /* U: [n], [p] panels        */
    double                 *V, *room_p;   /* [p] panels                */
    double                 *room_n;       /* [n] panel                 */
    double                  alpha[PROBES], beta[PROBES], of_u[PROBES], of_v[PROBES];
    double                  level[PROBES]; /* centre . v, or the sum of u */
} bidiagonal;

static double root_of(const bidiagonal *q, size_t i) { return q->z->root ? q->z->root[i] : 1; }

/* room_p = D v / scale, the sum of centre times that, and the lower part of U, with its norm. */
static void enter_terms(void *arg, cri_range range, double *acc)
{
    const bidiagonal       *q = arg;
    const cri_sparse_terms *z = q->z;
    for (size_t j = range.begin; j < range.end; j++) {
        double *V = q->V + j * PROBES, *low = q->bottom + j * PROBES, *to = q->room_p + j * PROBES;
        double  per_scale = 1 / z->scale[j];
        for (size_t c = 0; c < PROBES; c++) {
            double b = q->D[j] * V[c] * q->of_v[c];
            to[c] = b * per_scale;
            acc[c] += z->centre[j] * to[c];
            low[c] = q->root * b - q->alpha[c] * low[c] * q->of_u[c];
            acc[PROBES + c] += low[c] * low[c];
        }
    }
}

/* The upper part of U = Z D v - alpha u, and its norm. */
static void leave_rows(void *arg, cri_range range, double *acc)
{
    const bidiagonal *q = arg;
    for (size_t i = range.begin; i < range.end; i++) {
        double *U = q->top + i * PROBES, *from = q->room_n + i * PROBES;
        for (size_t c = 0; c < PROBES; c++) {
            U[c] = root_of(q, i) * (from[c] - q->level[c]) - q->alpha[c] * U[c] * q->of_u[c];
            acc[c] += U[c] * U[c];
        }
    }
}

/* room_n = sqrt(w) u, and its sum. */
static void enter_rows(void *arg, cri_range range, double *acc)
{
    const bidiagonal *q = arg;
    for (size_t i = range.begin; i < range.end; i++)
        for (size_t c = 0; c < PROBES; c++) {
            double u = root_of(q, i) * q->top[i * PROBES + c] * q->of_u[c];
            q->room_n[i * PROBES + c] = u;
            acc[c] += u;
        }
}

/* V = D (Z' u + sqrt(l) u) - beta v, and its norm. */
static void leave_terms(void *arg, cri_range range, double *acc)
{
    const bidiagonal       *q = arg;
    const cri_sparse_terms *z = q->z;
    for (size_t j = range.begin; j < range.end; j++) {
        double *V = q->V + j * PROBES, *from = q->room_p + j * PROBES, per_scale = 1 / z->scale[j];
        for (size_t c = 0; c < PROBES; c++) {
            double g = (from[c] - z->centre[j] * q->level[c]) * per_scale;
            g += q->root * q->bottom[j * PROBES + c] * q->of_u[c];
            V[c] = q->D[j] * g - q->beta[c] * V[c] * q->of_v[c];
            acc[c] += V[c] * V[c];
        }
    }
}

/* The norms, and the factors that make them 1; vectors that have vanished stay away. */
static void set_norms(const double *squares, double *norm, double *factor)
{
    for (size_t c = 0; c < PROBES; c++) {
        norm[c] = sqrt(squares[c]);
        factor[c] = norm[c] > 0 ? 1 / norm[c] : 0;
    }
}

/* beta u = A v - alpha u. */
static cr_status step_u(cr_ctx *cx, bidiagonal *q)
{
    cr_status st = CR_OK;
    double    sums[2 * PROBES], squares[PROBES];
    CR_TRY(cri_parallel_sum(cx, NULL, q->z->p, BLOCK, 2 * PROBES, enter_terms, q, sums));
    memcpy(q->level, sums, sizeof q->level);
    CR_TRY(cri_sparse_times_panel(cx, q->z->X, q->room_p, q->room_n));
    CR_TRY(cri_parallel_sum(cx, NULL, q->z->n, BLOCK, PROBES, leave_rows, q, squares));
    for (size_t c = 0; c < PROBES; c++) squares[c] += sums[PROBES + c];
    set_norms(squares, q->beta, q->of_u);
done:
    return st;
}

/* alpha v = A' u - beta v. */
static cr_status step_v(cr_ctx *cx, bidiagonal *q)
{
    cr_status st = CR_OK;
    double    squares[PROBES];
    CR_TRY(cri_parallel_sum(cx, NULL, q->z->n, BLOCK, PROBES, enter_rows, q, q->level));
    CR_TRY(cri_sparse_times_panel(cx, q->z->columns, q->room_n, q->room_p));
    CR_TRY(cri_parallel_sum(cx, NULL, q->z->p, BLOCK, PROBES, leave_terms, q, squares));
    set_norms(squares, q->alpha, q->of_v);
done:
    return st;
}

/* Signs for the rows that count, without their part along sqrt(w), which Z (centred) does not
 * reach; returns the squared length. */
static double draw_probe(const cri_sparse_terms *z, bool centred, uint64_t seed, size_t c,
                         double *top)
{
    cr_rng r = cr_rng_stream(seed, c);
    double along = 0, length = 0;
    for (size_t i = 0; i < z->n; i++) {
        double root = z->root ? z->root[i] : 1, sign = cr_rng_below(&r, 2) ? 1 : -1;
        top[i * PROBES + c] = root > 0 ? sign : 0;
        along += root * top[i * PROBES + c] / z->weight;
    }
    for (size_t i = 0; i < z->n; i++) {
        double *e = &top[i * PROBES + c];
        if (centred) *e -= along * (z->root ? z->root[i] : 1);
        length += *e * *e;
    }
    return length;
}

/* The mean of the ratios told / lengths, and its standard error. */
static double summarise(const double *told, const double *lengths, double *out_se)
{
    double sum = 0, squares = 0;
    for (size_t c = 0; c < PROBES; c++) {
        double share = lengths[c] > 0 ? told[c] / lengths[c] : 0;
        sum += share / PROBES;
        squares += share * share / PROBES;
    }
    *out_se = sqrt(fmax(squares - sum * sum, 0) / (PROBES - 1));
    return sum;
}

/* The share that one more rotation may take off when it is the last: well below the standard error
 * of the mean of the probes, so that this stands for both. */
static double settled(const double *told, const double *lengths)
{
    const double LEAST = 1e-7, MOST = 1e-5, PART = 0.1;
    double       se, mean = summarise(told, lengths, &se);
    return fmin(MOST, fmax(LEAST, mean > 0 ? PART * se / mean : 0));
}

/* told [PROBES] = e'He of the probes that stand in q->top, of these squared lengths. */
static cr_status measure(cr_ctx *cx, bidiagonal *q, const double *lengths, double *told)
{
    enum { MOST = 1000 };
    cr_status st = CR_OK;
    double    rhobar[PROBES], phibar[PROBES], taken[PROBES] = { 0 };
    bool      busy = true;
    set_norms(lengths, q->beta, q->of_u);
    CR_TRY(step_v(cx, q));
    memcpy(rhobar, q->alpha, sizeof rhobar);
    memcpy(phibar, q->beta, sizeof phibar);
    memset(told, 0, PROBES * sizeof *told);
    for (size_t k = 0; busy && k < MOST; k++) {
        CR_TRY(step_u(cx, q));
        CR_TRY(step_v(cx, q));
        busy = false;
        for (size_t c = 0; c < PROBES; c++) {
            double rho = hypot(rhobar[c], q->beta[c]);
            if (!(rho > 0)) continue;
            double cosine = rhobar[c] / rho, phi = cosine * phibar[c];
            rhobar[c] = -cosine * q->alpha[c];
            phibar[c] *= q->beta[c] / rho;
            told[c] += phi * phi;
            taken[c] = phi * phi;
        }
        double share = settled(told, lengths);
        for (size_t c = 0; c < PROBES; c++) busy = busy || taken[c] > share * told[c];
    }
done:
    return st;
}

cr_status cri_sparse_trace(cr_ctx *cx, const cri_sparse_terms *z, double lambda, bool centred,
                           uint64_t seed, double *out_df, double *out_se)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = z->n, p = z->p;
    double     lengths[PROBES], told[PROBES], most = centred ? -1 : 0;
    bidiagonal q = { .z = z,
                     .root = sqrt(lambda),
                     .D = cr_scratch_f64(&s, p),
                     .top = cr_scratch_matrix(&s, n, PROBES),
                     .bottom = cr_scratch_bytes(&s, p, PROBES * sizeof(double)),
                     .V = cr_scratch_bytes(&s, p, PROBES * sizeof(double)),
                     .room_p = cr_scratch_matrix(&s, p, PROBES),
                     .room_n = cr_scratch_matrix(&s, n, PROBES) };

    CR_TRY(s.status);
    cr_progress(cx, "estimating the degrees of freedom", 0, 1);
    for (size_t j = 0; j < p; j++) q.D[j] = z->square[j] > 0 ? 1 / sqrt(z->square[j] + lambda) : 0;
    for (size_t c = 0; c < PROBES; c++) lengths[c] = draw_probe(z, centred, seed, c, q.top);
    for (size_t i = 0; i < n; i++) most += !z->root || z->root[i] > 0;
    CR_TRY(measure(cx, &q, lengths, told));
    *out_df = most * summarise(told, lengths, out_se);
    *out_se *= most;
done:
    cr_scratch_end(&s);
    return st;
}
