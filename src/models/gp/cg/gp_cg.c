/* gp_cg.c -- preconditioned conjugate gradients for several right-hand sides at once. */
#include "gp_cg.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { ALL_ROWS = 2000, MOST_RANK = 3000 };
enum { ROWS = 256 };             /* of K computed at a time when it is not kept */
static const double SHARE = 0.4; /* of the memory left that K may take          */

cri_gp_cg_settings cri_gp_cg_defaults(uint64_t seed)
{
    return (cri_gp_cg_settings){ .rank = 0,
                                 .probes = 32,
                                 .max_iter = 1000,
                                 .tolerance = 1e-8,
                                 .probe_tolerance = 1e-3,
                                 .seed = seed };
}

size_t cri_gp_cg_rank(size_t n)
{
    if (n <= ALL_ROWS) return n;
    return (size_t)fmin(15 * sqrt((double)n), MOST_RANK);
}

/* --- C --------------------------------------------------------------------------------------- */

cr_status cri_gp_operator_new(cr_ctx *cx, cr_scratch *s, const cri_gp_data *data,
                              const cr_kernel *k, double noise, cri_gp_operator *out)
{
    cr_status       st = CR_OK;
    size_t          n = data->n;
    cri_gp_operator op = { .data = data, .k = k, .noise = noise };
    if (8 * (double)n * (double)n <= SHARE * (double)cri_memory_left(cx)) {
        cr_kernel_input in = cri_gp_inputs(data);
        op.K = cr_scratch_matrix(s, n, n);
        CR_TRY(s->status);
        CR_TRY(cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(op.K, n, n)));
    } else {
        op.workspace = cr_scratch_matrix(s, n < ROWS ? n : ROWS, n);
        CR_TRY(s->status);
    }
    *out = op;
done:
    return st;
}

static cr_status multiply_rows(cr_ctx *cx, const cri_gp_operator *op, cri_range r, const double *B,
                               size_t t, double *out)
{
    cr_status          st = CR_OK;
    const cri_gp_data *a = op->data;
    size_t             b = r.end - r.begin, n = a->n;
    cri_gp_data        part = cri_gp_data_view(a, r.begin, r.end);
    cr_kernel_input    rows = cri_gp_inputs(&part), all = cri_gp_inputs(a);
    CR_TRY(cr_kernel_cross(cx, op->k, &rows, &all, cr_mat_of(op->workspace, b, n)));
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(op->workspace, b, n), CR_PLAIN, cr_cmat_of(B, n, t), CR_PLAIN,
                   0, cr_mat_of(out + r.begin * t, b, t)));
done:
    return st;
}

cr_status cri_gp_multiply(cr_ctx *cx, const cri_gp_operator *op, const double *B, size_t t,
                          double *out)
{
    cr_status st = CR_OK;
    size_t    n = op->data->n;
    if (op->K)
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(op->K, n, n), CR_PLAIN, cr_cmat_of(B, n, t), CR_PLAIN, 0,
                       cr_mat_of(out, n, t)));
    for (size_t b = 0; !op->K && b < cri_block_count(n, ROWS); b++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(multiply_rows(cx, op, cri_block_range(n, ROWS, b), B, t, out));
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < t; c++) out[i * t + c] += op->noise * op->data->r[i] * B[i * t + c];
done:
    return st;
}

/* --- conjugate gradients --------------------------------------------------------------------- */

/* out [t] = the products of the columns of A and B. */
static void column_products(const double *A, const double *B, size_t n, size_t t, double *out)
{
    memset(out, 0, t * sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < t; c++) out[c] += A[i * t + c] * B[i * t + c];
}

typedef struct iteration {
    size_t  n, t;                        /* t: columns that are still worked at              */
    double *X, *R, *Z, *P, *Q;           /* [n x t]                                          */
    double *rz, *pq, *rr, *size, *ratio; /* [t]; size: the |R|^2 that is small enough        */
    bool   *going;                       /* [t]                                              */
    size_t *column;                      /* [t] which of all columns it is                   */
    size_t  all;                         /* how many of these there are                      */
} iteration;

/* X and R move along P; the columns that are done stay. */
static void advance(const iteration *w, double *step)
{
    for (size_t c = 0; c < w->t; c++)
        step[c] = w->going[c] && w->pq[c] > 0 ? w->rz[c] / w->pq[c] : 0;
    for (size_t i = 0; i < w->n; i++)
        for (size_t c = 0; c < w->t; c++) {
            w->X[i * w->t + c] += step[c] * w->P[i * w->t + c];
            w->R[i * w->t + c] -= step[c] * w->Q[i * w->t + c];
        }
}

/* P := Z + ratio P; returns whether any column goes on. */
static bool turn(iteration *w)
{
    bool any = false;
    column_products(w->R, w->R, w->n, w->t, w->rr);
    column_products(w->R, w->Z, w->n, w->t, w->pq);
    for (size_t c = 0; c < w->t; c++) {
        w->ratio[c] = w->going[c] && w->rz[c] > 0 ? w->pq[c] / w->rz[c] : 0;
        w->rz[c] = w->pq[c];
        if (!(w->rr[c] > w->size[c]) || !(w->rz[c] > 0)) w->going[c] = false;
        any = any || w->going[c];
    }
    for (size_t i = 0; i < w->n; i++)
        for (size_t c = 0; c < w->t; c++)
            w->P[i * w->t + c] = w->Z[i * w->t + c] + w->ratio[c] * w->P[i * w->t + c];
    return any;
}

/* R, Z and P of the solutions to begin with; returns whether there is anything to do. */
static cr_status begin(cr_ctx *cx, const cri_gp_operator *op, const cri_gp_preconditioner *p,
                       const cri_gp_cg_run *run, const double *B, iteration *w, bool *out_any)
{
    cr_status st = CR_OK;
    size_t    n = w->n, t = w->t;
    if (run->warm)
        CR_TRY(cri_gp_multiply(cx, op, w->X, t, w->R));
    else
        memset(w->X, 0, n * t * sizeof *B), memset(w->R, 0, n * t * sizeof *B);
    for (size_t i = 0; i < n * t; i++) w->R[i] = B[i] - w->R[i];
    column_products(w->R, w->R, n, t, w->rr);
    column_products(B, B, n, t, w->size);
    for (size_t c = 0; c < t; c++) {
        if (!(w->rr[c] > w->size[c])) continue; /* else a beginning that is worse than none */
        for (size_t i = c; i < n * t; i += t) w->X[i] = 0, w->R[i] = B[i];
        w->rr[c] = w->size[c];
    }
    CR_TRY(cri_gp_precondition(cx, p, w->R, t, w->Z));
    memcpy(w->P, w->Z, n * t * sizeof *B);
    column_products(w->R, w->Z, n, t, w->rz);
    *out_any = false;
    for (size_t c = 0; c < t; c++) {
        w->size[c] *= pow(c < run->close ? run->tolerance : run->rest_tolerance, 2);
        *out_any |= w->going[c] = w->rz[c] > 0 && w->rr[c] > w->size[c];
    }
done:
    return st;
}

/* Writes the columns of X into those of all [n x all]. */
static void write_columns(const iteration *w, double *all)
{
    for (size_t i = 0; i < w->n; i++)
        for (size_t c = 0; c < w->t; c++) all[i * w->all + w->column[c]] = w->X[i * w->t + c];
}

/* A [n x t], its columns `kept` alone. */
static void keep_columns(double *A, size_t n, size_t t, const size_t *kept, size_t count)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < count; c++) A[i * count + c] = A[i * t + kept[c]];
}

/* Leaves the columns that are done behind, when these are half of them; kept [t] is workspace. */
static void drop_columns(iteration *w, double *X, size_t *kept)
{
    size_t count = 0;
    for (size_t c = 0; c < w->t; c++)
        if (w->going[c]) kept[count++] = c;
    if (count == 0 || 2 * count > w->t) return;
    write_columns(w, X);
    double *large[] = { w->X, w->R, w->P }, *small[] = { w->rz, w->rr, w->size };
    for (size_t i = 0; i < 3; i++) {
        keep_columns(large[i], w->n, w->t, kept, count);
        keep_columns(small[i], 1, w->t, kept, count);
    }
    for (size_t c = 0; c < count; c++) {
        w->column[c] = w->column[kept[c]];
        w->going[c] = true;
    }
    w->t = count;
}

/* How far it is: decades of the residual that are done, of those there are. */
static void report_progress(cr_ctx *cx, const char *what, const iteration *w, double first)
{
    double worst = 1;
    for (size_t c = 0; c < w->t; c++)
        if (w->going[c]) worst = fmax(worst, w->rr[c] / w->size[c]);
    cr_progress(cx, what ? what : "gp: conjugate gradients", fmax(log(first) - log(worst), 0),
                log(first));
}

/* What a round did, for those who keep it. */
static void record(const cri_gp_cg_run *run, const iteration *w, const double *step, size_t round)
{
    for (size_t c = 0; run->opt_steps && c < w->t; c++) {
        double *row = run->opt_steps + round * 2 * w->all;
        row[w->column[c]] = step[c];
        row[w->all + w->column[c]] = w->ratio[c];
    }
}

cr_status cri_gp_cg_solve(cr_ctx *cx, const cri_gp_operator *op, const cri_gp_preconditioner *p,
                          const double *B, size_t t, const cri_gp_cg_run *run, double *X,
                          cri_gp_cg_report *out_report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = op->data->n, round = 0;
    iteration  w = { .n = n,
                     .t = t,
                     .all = t,
                     .column = cr_scratch_index(&s, t),
                     .X = cr_scratch_matrix(&s, n, t),
                     .R = cr_scratch_matrix(&s, n, t),
                     .Z = cr_scratch_matrix(&s, n, t),
                     .P = cr_scratch_matrix(&s, n, t),
                     .Q = cr_scratch_matrix(&s, n, t),
                     .rz = cr_scratch_f64(&s, t),
                     .pq = cr_scratch_f64(&s, t),
                     .rr = cr_scratch_f64(&s, t),
                     .size = cr_scratch_f64(&s, t),
                     .ratio = cr_scratch_f64(&s, t),
                     .going = cr_scratch_bytes(&s, t, sizeof(bool)) };
    double    *step = cr_scratch_f64(&s, t), *rest = cr_scratch_f64(&s, t), worst = 0, first = M_E;
    size_t    *kept = cr_scratch_index(&s, t);
    bool       any;

    CR_TRY(s.status);
    for (size_t c = 0; c < t; c++) w.column[c] = c;
    if (run->warm) memcpy(w.X, X, n * t * sizeof *X);
    CR_TRY(begin(cx, op, p, run, B, &w, &any));
    for (size_t c = 0; c < t; c++) {
        rest[c] = w.size[c] > 0 ? w.rr[c] / w.size[c] : 0;
        if (w.going[c]) first = fmax(first, rest[c]);
        if (run->opt_count) run->opt_count[c] = 0;
    }
    for (; any && round < run->max_iter; round++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_gp_multiply(cx, op, w.P, w.t, w.Q));
        column_products(w.P, w.Q, n, w.t, w.pq);
        for (size_t c = 0; run->opt_count && c < w.t; c++)
            run->opt_count[w.column[c]] += w.going[c];
        advance(&w, step);
        CR_TRY(cri_gp_precondition(cx, p, w.R, w.t, w.Z));
        any = turn(&w);
        report_progress(cx, run->what, &w, first);
        record(run, &w, step, round);
        for (size_t c = 0; c < w.t; c++)
            if (w.size[c] > 0) rest[w.column[c]] = w.rr[c] / w.size[c];
        drop_columns(&w, X, kept);
    }
    write_columns(&w, X);
    for (size_t c = 0; c < t && c < run->close; c++)
        worst = fmax(worst, run->tolerance * sqrt(rest[c]));
    *out_report = (cri_gp_cg_report){ round, worst };
done:
    cr_scratch_end(&s);
    return st;
}
