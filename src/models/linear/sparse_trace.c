/* sparse_trace.c -- e'He of probes e, H = Z (Z'Z + lambda I)^-1 Z', by bidiagonalisation.
 * It is what a ridge on the target e takes off |e|^2: the sum of the phi^2 of LSQR's rotations,
 * which come from the bidiagonalisation alone, without a solution, and settle twice as fast as one
 * would (Golub & Meurant 2010, "Matrices, moments and quadrature", sec. 7.3).  All probes go
 * through it together, so that each entry of the rows is fetched once for all. */
#include "sparse_solve.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { PROBES = CRI_SPARSE_PANEL, BLOCK = 1024 };

/* [Z; sqrt(l) I] D = U B V', D as in sparse_solve.h; arrays are panels, a row of PROBES numbers
 * each.  U and V are kept unnormalised, with what to multiply them by. */
typedef struct bidiagonal {
    const cri_sparse_terms *z;
    double                  root;         /* sqrt(lambda)       */
    double                 *D;            /* [p]                */
    double                 *top, *bottom; /* U: [n], [p] panels */
    double                 *V, *work_p;   /* [p] panels         */
    double                 *work_n;       /* [n] panel          */
    double                  alpha[PROBES], beta[PROBES], of_u[PROBES], of_v[PROBES];
    double                  level[PROBES]; /* centre . v, or the sum of u */
} bidiagonal;

static double root_of(const bidiagonal *q, size_t i) { return q->z->root ? q->z->root[i] : 1; }

/* work_p = D v / scale, the sum of centre times that, and the lower part of U, with its norm. */
static void enter_terms(void *arg, cri_range range, double *acc)
{
    const bidiagonal       *q = arg;
    const cri_sparse_terms *z = q->z;
    for (size_t j = range.begin; j < range.end; j++) {
        double *V = q->V + j * PROBES, *low = q->bottom + j * PROBES, *to = q->work_p + j * PROBES;
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
        double *U = q->top + i * PROBES, *from = q->work_n + i * PROBES;
        for (size_t c = 0; c < PROBES; c++) {
            U[c] = root_of(q, i) * (from[c] - q->level[c]) - q->alpha[c] * U[c] * q->of_u[c];
            acc[c] += U[c] * U[c];
        }
    }
}

/* work_n = sqrt(w) u, and its sum. */
static void enter_rows(void *arg, cri_range range, double *acc)
{
    const bidiagonal *q = arg;
    for (size_t i = range.begin; i < range.end; i++)
        for (size_t c = 0; c < PROBES; c++) {
            double u = root_of(q, i) * q->top[i * PROBES + c] * q->of_u[c];
            q->work_n[i * PROBES + c] = u;
            acc[c] += u;
        }
}

/* V = D (Z' u + sqrt(l) u) - beta v, and its norm. */
static void leave_terms(void *arg, cri_range range, double *acc)
{
    const bidiagonal       *q = arg;
    const cri_sparse_terms *z = q->z;
    for (size_t j = range.begin; j < range.end; j++) {
        double *V = q->V + j * PROBES, *from = q->work_p + j * PROBES, per_scale = 1 / z->scale[j];
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
    CR_TRY(cri_sparse_times_panel(cx, q->z->X, q->work_p, q->work_n));
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
    CR_TRY(cri_sparse_times_panel(cx, q->z->columns, q->work_n, q->work_p));
    CR_TRY(cri_parallel_sum(cx, NULL, q->z->p, BLOCK, PROBES, leave_terms, q, squares));
    set_norms(squares, q->alpha, q->of_v);
done:
    return st;
}

/* told [PROBES] = e'He of the probes that stand in q->top, of these squared lengths. */
static cr_status rotate(cr_ctx *cx, bidiagonal *q, const double *lengths, double *told)
{
    enum { MOST = 1000 };
    cr_status st = CR_OK;
    double    rhobar[PROBES], phibar[PROBES], taken[PROBES] = { 0 };
    bool      settled = false;
    set_norms(lengths, q->beta, q->of_u);
    CR_TRY(step_v(cx, q));
    memcpy(rhobar, q->alpha, sizeof rhobar);
    memcpy(phibar, q->beta, sizeof phibar);
    memset(told, 0, PROBES * sizeof *told);
    for (size_t k = 0; !settled && k < MOST; k++) {
        CR_TRY(step_u(cx, q));
        CR_TRY(step_v(cx, q));
        for (size_t c = 0; c < PROBES; c++) {
            double rho = hypot(rhobar[c], q->beta[c]);
            if (!(rho > 0)) continue;
            double cosine = rhobar[c] / rho, phi = cosine * phibar[c];
            rhobar[c] = -cosine * q->alpha[c];
            phibar[c] *= q->beta[c] / rho;
            told[c] += phi * phi;
            taken[c] = phi * phi;
        }
        settled = cri_probes_settled(told, taken, lengths);
    }
done:
    return st;
}

cr_status cri_sparse_bidiagonal(cr_ctx *cx, void *user, double *E, const double *lengths,
                                double *told)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    const cri_sparse_ridge *ridge = user;
    const cri_sparse_terms *z = ridge->z;
    size_t                  n = z->n, p = z->p;
    bidiagonal              q = { .z = z,
                                  .root = sqrt(ridge->lambda),
                                  .D = cr_scratch_f64(&s, p),
                                  .top = E,
                                  .bottom = cr_scratch_bytes(&s, p, PROBES * sizeof(double)),
                                  .V = cr_scratch_bytes(&s, p, PROBES * sizeof(double)),
                                  .work_p = cr_scratch_matrix(&s, p, PROBES),
                                  .work_n = cr_scratch_matrix(&s, n, PROBES) };

    CR_TRY(s.status);
    for (size_t j = 0; j < p; j++)
        q.D[j] = z->square[j] > 0 ? 1 / sqrt(z->square[j] + ridge->lambda) : 0;
    CR_TRY(rotate(cx, &q, lengths, told));
done:
    cr_scratch_end(&s);
    return st;
}
