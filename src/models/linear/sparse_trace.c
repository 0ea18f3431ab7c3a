/* sparse_trace.c -- the degrees of freedom of a ridge on sparse rows, by random probes.
 *   tr H = E e'He,  H = Z (Z'Z + lambda I)^-1 Z',  e random signs      (Hutchinson 1990)
 * e'He is what a ridge on the target e takes off |e|^2: the sum of the phi^2 of LSQR's rotations,
 * which come from the bidiagonalisation alone, without a solution, and settle twice as fast as one
 * would (Golub & Meurant 2010, "Matrices, moments and quadrature", sec. 7.3).  All probes go
 * through it together, so that each entry of the rows is fetched once for all.  What differs from
 * probe to probe is far more than rounding in single precision: the vectors are floats, half the
 * memory to go through, their norms and the rotations doubles; and the steps end when what is left
 * is little beside the standard error. */
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
    float                  *top, *bottom; /* U: [n], [p] panels        */
    float                  *V, *room_p;   /* [p] panels                */
    float                  *room_n;       /* [n] panel                 */
    double                  alpha[PROBES], beta[PROBES], of_u[PROBES], of_v[PROBES];
    double                  level[PROBES]; /* centre . v, or the sum of u */
} bidiagonal;

static double root_of(const bidiagonal *q, size_t i) { return q->z->root ? q->z->root[i] : 1; }

/* room_p = D v / scale, the sum of centre times that, and the lower part of U, with its norm. */
static void enter_terms(void *arg, cri_range range, double *acc)
{
    const bidiagonal       *q = arg;
    const cri_sparse_terms *z = q->z;
    float                   of_v[PROBES], keep[PROBES];
    for (size_t c = 0; c < PROBES; c++) {
        of_v[c] = (float)q->of_v[c];
        keep[c] = (float)(q->alpha[c] * q->of_u[c]);
    }
    for (size_t j = range.begin; j < range.end; j++) {
        float *V = q->V + j * PROBES, *low = q->bottom + j * PROBES, *to = q->room_p + j * PROBES;
        float  root = (float)(q->root * q->D[j]), of = (float)(q->D[j] / z->scale[j]);
        for (size_t c = 0; c < PROBES; c++) {
            float v = V[c] * of_v[c];
            to[c] = of * v;
            low[c] = root * v - keep[c] * low[c];
        }
        for (size_t c = 0; c < PROBES; c++) {
            acc[c] += z->centre[j] * (double)to[c];
            acc[PROBES + c] += (double)low[c] * (double)low[c];
        }
    }
}

/* The upper part of U = Z D v - alpha u, and its norm. */
static void leave_rows(void *arg, cri_range range, double *acc)
{
    const bidiagonal *q = arg;
    for (size_t i = range.begin; i < range.end; i++) {
        float *U = q->top + i * PROBES, *from = q->room_n + i * PROBES;
        for (size_t c = 0; c < PROBES; c++) {
            double u = (double)U[c] * q->alpha[c] * q->of_u[c];
            U[c] = (float)(root_of(q, i) * ((double)from[c] - q->level[c]) - u);
            acc[c] += (double)U[c] * (double)U[c];
        }
    }
}

/* room_n = sqrt(w) u, and its sum. */
static void enter_rows(void *arg, cri_range range, double *acc)
{
    const bidiagonal *q = arg;
    for (size_t i = range.begin; i < range.end; i++)
        for (size_t c = 0; c < PROBES; c++) {
            double u = root_of(q, i) * (double)q->top[i * PROBES + c] * q->of_u[c];
            q->room_n[i * PROBES + c] = (float)u;
            acc[c] += (double)(float)u;
        }
}

/* V = D (Z' u + sqrt(l) u) - beta v, and its norm. */
static void leave_terms(void *arg, cri_range range, double *acc)
{
    const bidiagonal       *q = arg;
    const cri_sparse_terms *z = q->z;
    float                   level[PROBES], of_u[PROBES], keep[PROBES];
    for (size_t c = 0; c < PROBES; c++) {
        level[c] = (float)q->level[c];
        of_u[c] = (float)q->of_u[c];
        keep[c] = (float)(q->beta[c] * q->of_v[c]);
    }
    for (size_t j = range.begin; j < range.end; j++) {
        float *V = q->V + j * PROBES, *from = q->room_p + j * PROBES, *low = q->bottom + j * PROBES;
        float  centre = (float)z->centre[j], of = (float)(q->D[j] / z->scale[j]);
        float  root = (float)(q->root * q->D[j]);
        for (size_t c = 0; c < PROBES; c++)
            V[c] = of * (from[c] - centre * level[c]) + root * (low[c] * of_u[c]) - keep[c] * V[c];
        for (size_t c = 0; c < PROBES; c++) acc[c] += (double)V[c] * (double)V[c];
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
                         float *top)
{
    cr_rng r = cr_rng_stream(seed, c);
    double along = 0, length = 0;
    for (size_t i = 0; i < z->n; i++) {
        double root = z->root ? z->root[i] : 1, sign = cr_rng_below(&r, 2) ? 1 : -1;
        top[i * PROBES + c] = (float)(root > 0 ? sign : 0);
        along += root * (double)top[i * PROBES + c] / z->weight;
    }
    for (size_t i = 0; i < z->n; i++) {
        float *e = &top[i * PROBES + c];
        if (centred) *e = (float)((double)*e - along * (z->root ? z->root[i] : 1));
        length += (double)*e * (double)*e;
    }
    return length;
}

/* What each of the probes has told, and over the last two windows of rotations. */
typedef struct quadratic {
    double lengths[PROBES], told[PROBES], gain[PROBES], gain_before[PROBES];
    double most; /* that the trace can be */
} quadratic;

/* The mean of most e'He / e'e over the probes, and its standard error. */
static double mean_of(const quadratic *h, double *out_se)
{
    double df[PROBES], sum = 0, squares = 0;
    for (size_t c = 0; c < PROBES; c++) {
        df[c] = h->lengths[c] > 0 ? h->most * h->told[c] / h->lengths[c] : 0;
        sum += df[c] / PROBES;
    }
    for (size_t c = 0; c < PROBES; c++) squares += (df[c] - sum) * (df[c] - sum);
    *out_se = sqrt(squares / (PROBES * (PROBES - 1)));
    return sum;
}

/* Whether what further rotations will add, gains that fall by the ratio of the last two windows, is
 * rounding, or of no account beside the standard error. */
static bool is_settled(const quadratic *h)
{
    const double ROUNDING = 1e-7, SHARE = 0.02;
    double       se;
    mean_of(h, &se);
    for (size_t c = 0; c < PROBES; c++) {
        double gain = h->gain[c], ratio = gain / h->gain_before[c];
        double enough = h->most > 0 ? SHARE * se * h->lengths[c] / h->most : 0;
        if (gain <= ROUNDING * h->told[c]) continue;
        if (!(ratio < 1) || gain * ratio / (1 - ratio) > enough) return false;
    }
    return true;
}

/* told = e'He of the probes that stand in q->top. */
static cr_status measure(cr_ctx *cx, bidiagonal *q, quadratic *h)
{
    enum { MOST = 1000, WINDOW = 3 };
    cr_status st = CR_OK;
    double    rhobar[PROBES], phibar[PROBES];
    set_norms(h->lengths, q->beta, q->of_u);
    CR_TRY(step_v(cx, q));
    memcpy(rhobar, q->alpha, sizeof rhobar);
    memcpy(phibar, q->beta, sizeof phibar);
    for (size_t k = 1; k <= MOST; k++) {
        CR_TRY(step_u(cx, q));
        CR_TRY(step_v(cx, q));
        for (size_t c = 0; c < PROBES; c++) {
            double rho = hypot(rhobar[c], q->beta[c]);
            if (!(rho > 0)) continue;
            double cosine = rhobar[c] / rho, phi = cosine * phibar[c];
            rhobar[c] = -cosine * q->alpha[c];
            phibar[c] *= q->beta[c] / rho;
            h->told[c] += phi * phi;
            h->gain[c] += phi * phi;
        }
        if (k % WINDOW != 0) continue;
        if (is_settled(h)) break;
        memcpy(h->gain_before, h->gain, sizeof h->gain);
        memset(h->gain, 0, sizeof h->gain);
    }
done:
    return st;
}

cr_status cri_sparse_trace(cr_ctx *cx, const cri_sparse_terms *z, double lambda, bool centred,
                           uint64_t seed, double *out_df, double *out_se)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = z->n, p = z->p, row = PROBES * sizeof(float);
    quadratic  h = { .most = centred ? -1 : 0 };
    bidiagonal q = { .z = z,
                     .root = sqrt(lambda),
                     .D = cr_scratch_f64(&s, p),
                     .top = cr_scratch_bytes(&s, n, row),
                     .bottom = cr_scratch_bytes(&s, p, row),
                     .V = cr_scratch_bytes(&s, p, row),
                     .room_p = cr_scratch_bytes(&s, p, row),
                     .room_n = cr_scratch_bytes(&s, n, row) };

    CR_TRY(s.status);
    cr_progress(cx, "estimating the degrees of freedom", 0, 1);
    for (size_t j = 0; j < p; j++) q.D[j] = z->square[j] > 0 ? 1 / sqrt(z->square[j] + lambda) : 0;
    for (size_t c = 0; c < PROBES; c++) h.lengths[c] = draw_probe(z, centred, seed, c, q.top);
    for (size_t i = 0; i < n; i++) h.most += !z->root || z->root[i] > 0;
    CR_TRY(measure(cx, &q, &h));
    *out_df = mean_of(&h, out_se);
done:
    cr_scratch_end(&s);
    return st;
}
