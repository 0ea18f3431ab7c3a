/* svm_joint.c -- the blocks of the rows, and rounds of working sets. */
#include "svm_joint.h"
#include "svm_rows.h"
#include "base/scratch.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- one block ------------------------------------------------------------------------------- */

static size_t class_of(const cri_svm_joint_problem *p, size_t i) { return (size_t)p->y[i]; }

/* a_k = min(c_k, (t - B_k) / q) with B = g - q a, q the curvature: of D_k = B_k + q c_k what exceeds the threshold t,
 * altogether q c.  The greatest D are found by leaving out, from all of them, those below the threshold of what is left. */
void cri_svm_joint_step(const cri_svm_joint_problem *p, size_t i, double curve, const double *g,
                        double *a)
{
    static const double FLAT = 1e-12; /* stands for no curvature, or one below 0 */
    size_t              K = p->K, y = class_of(p, i), left = K + 1, before = SIZE_MAX;
    double              q = curve > FLAT ? curve : FLAT, c = p->cost[i], t = -INFINITY, rest = 0;
    while (left < before) { /* rounding can let one in again */
        double sum = 0, above = t;
        before = left, left = 0;
        for (size_t k = 0; k < K; k++) {
            double D = g[k] - q * a[k] + (k == y ? q * c : 0);
            if (!(D > above)) continue;
            sum += D;
            left++;
        }
        if (left == 0) break; /* all equal: rounding */
        t = (sum - q * c) / (double)left;
    }
    bool at_bound = g[y] - q * a[y] + q * c <= t;
    for (size_t k = 0; k < K; k++) {
        if (k == y) continue;
        double over = (g[k] - q * a[k] - t) / q;
        a[k] = over > 0 ? -over : 0;
        rest -= a[k];
    }
    if (rest > c) /* by rounding */
        for (size_t k = 0; k < K; k++) a[k] *= c / rest;
    a[y] = rest < c && !at_bound ? rest : c;
}

double cri_svm_joint_violation(const cri_svm_joint_problem *p, size_t i, const double *g,
                               const double *a)
{
    size_t y = class_of(p, i);
    double most = -INFINITY, least = INFINITY;
    for (size_t k = 0; k < p->K; k++) {
        most = fmax(most, g[k]);
        if (a[k] < (k == y ? p->cost[i] : 0)) least = fmin(least, g[k]);
    }
    return least < most ? most - least : 0;
}

void cri_svm_joint_add_gap(const cri_svm_joint_problem *p, size_t i, const double *g,
                           const double *a, double *gap)
{
    size_t y = class_of(p, i);
    double most = g[0];
    for (size_t k = 1; k < p->K; k++) most = fmax(most, g[k]);
    for (size_t k = 0; k < p->K; k++) gap[k] += ((k == y ? p->cost[i] : 0) - a[k]) * (most - g[k]);
}

/* --- any kernel ------------------------------------------------------------------------------ */

enum { MOST_WORKING = 256, STEPS_A_ROW = 50, MOST_CHECKS = 50 };

typedef struct ranked {
    double violation;
    size_t row;
} ranked;

typedef struct joint {
    cr_ctx                      *cx;
    const cri_svm_joint_problem *p;
    const cr_kernel             *kernel;
    const cr_kernel_input       *in;
    const cri_svm_settings      *how;
    cri_svm_joint_solution      *x;
    double                      *F; /* [K x n] f less b */
    ranked                      *order;
    size_t                      *set, n_set; /* [q] the working set */
    bool                        *chosen;     /* [n] */
    size_t                       q;
    double                      *g, *a; /* [K] of one row */
    bool                         fresh; /* F is of A alone, in double */
    cri_svm_rows                 rows;
} joint;

static void slope_of(const joint *s, size_t i, double *g)
{
    size_t n = s->p->n, y = class_of(s->p, i);
    for (size_t k = 0; k < s->p->K; k++) g[k] = s->F[k * n + i] + s->x->b[k] + (k != y);
}

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->violation != y->violation) return x->violation > y->violation ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The rows by violation, the worst first; the largest. */
static double look(joint *s)
{
    double worst = 0;
    for (size_t i = 0; i < s->p->n; i++) {
        slope_of(s, i, s->g);
        s->order[i] = (ranked){ cri_svm_joint_violation(s->p, i, s->g, s->x->A + i * s->p->K), i };
        if (s->p->cost[i] == 0) s->order[i].violation = 0;
        worst = fmax(worst, s->order[i].violation);
    }
    return worst;
}

/* F from A alone, in double. */
static cr_status refresh(joint *s)
{
    cr_status       st = CR_OK;
    cr_scratch      a = cr_scratch_begin(s->cx);
    size_t          n = s->p->n, K = s->p->K, count = 0, *row = cr_scratch_index(&a, n);
    double         *coef = cr_scratch_matrix(&a, n, K), *out = cr_scratch_matrix(&a, n, K);
    cr_kernel_input at;
    CR_TRY(a.status);
    for (size_t i = 0; i < n; i++) {
        bool any = false;
        for (size_t k = 0; k < K; k++) any |= s->x->A[i * K + k] != 0;
        if (!any) continue;
        memcpy(coef + count * K, s->x->A + i * K, K * sizeof *coef);
        row[count++] = i;
    }
    CR_TRY(cri_svm_pick(&a, s->in, row, count, &at));
    CR_TRY(cri_svm_values(s->cx, s->kernel, &at, coef, K, s->in, out));
    for (size_t k = 0; k < K; k++) s->x->b[k] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < K; k++) {
            s->F[k * n + i] = out[i * K + k];
            s->x->b[k] += s->x->A[i * K + k];
        }
    s->fresh = true;
done:
    cr_scratch_end(&a);
    return st;
}

/* Half of the set the worst rows, the others those of the set before, as far as they are not optimal. */
static void choose(joint *s)
{
    size_t n = s->p->n, kept = 0, fresh = s->n_set ? s->q / 2 : s->q, *former = s->set + s->q;
    memcpy(former, s->set, s->n_set * sizeof *former);
    size_t n_former = s->n_set;
    qsort(s->order, n, sizeof *s->order, compare_ranked);
    memset(s->chosen, 0, n * sizeof *s->chosen);
    for (size_t i = 0; i < n && kept < fresh && s->order[i].violation > 0; i++) {
        s->set[kept++] = s->order[i].row;
        s->chosen[s->order[i].row] = true;
    }
    for (size_t i = 0; i < n_former && kept < s->q; i++)
        if (!s->chosen[former[i]]) s->chosen[former[i]] = true, s->set[kept++] = former[i];
    s->n_set = kept;
}

/* Blocks of the set, the most promising first, until none violates more than tol: K [q x q] with 1 added, G [q x K] their
 * slopes.  O(q K) a step. */
static void solve_set(joint *s, const double *M, double *G, double *A, double tol)
{
    size_t q = s->n_set, K = s->p->K, most = STEPS_A_ROW * q;
    for (size_t step = 0; step < most && s->x->steps < s->how->max_iter; step++, s->x->steps++) {
        size_t at = q;
        double best = -1;
        for (size_t i = 0; i < q; i++) {
            double v = cri_svm_joint_violation(s->p, s->set[i], G + i * K, A + i * K);
            double gain = v * v / fmax(M[i * q + i], 1e-12);
            if (v > tol && gain > best) best = gain, at = i;
        }
        if (at == q) break;
        memcpy(s->a, A + at * K, K * sizeof *s->a);
        cri_svm_joint_step(s->p, s->set[at], M[at * q + at], G + at * K, A + at * K);
        for (size_t k = 0; k < K; k++) {
            double change = A[at * K + k] - s->a[k];
            if (change == 0) continue;
            for (size_t i = 0; i < q; i++) G[i * K + k] += change * M[at * q + i];
        }
    }
}

static cr_status round_of(joint *s, double tol)
{
    cr_status       st = CR_OK;
    cr_scratch      r = cr_scratch_begin(s->cx);
    size_t          q = s->n_set, K = s->p->K, n = s->p->n;
    double         *M = cr_scratch_matrix(&r, q, q), *G = cr_scratch_matrix(&r, q, K);
    double         *A = cr_scratch_matrix(&r, q, K), *coef = cr_scratch_matrix(&r, K, q);
    cr_kernel_input in;

    CR_TRY(r.status);
    CR_TRY(cri_svm_pick(&r, s->in, s->set, q, &in));
    CR_TRY(cr_kernel_cross(s->cx, s->kernel, &in, &in, cr_mat_of(M, q, q)));
    for (size_t i = 0; i < q * q; i++) M[i] += 1;
    for (size_t i = 0; i < q; i++) {
        slope_of(s, s->set[i], G + i * K);
        memcpy(A + i * K, s->x->A + s->set[i] * K, K * sizeof *A);
    }
    solve_set(s, M, G, A, tol);
    for (size_t k = 0; k < K; k++)
        for (size_t i = 0; i < q; i++) {
            double *a = &s->x->A[s->set[i] * K + k];
            coef[k * q + i] = A[i * K + k] - *a;
            s->x->b[k] += coef[k * q + i];
            *a = A[i * K + k];
        }
    CR_TRY(cri_svm_rows_add_many(&s->rows, s->set, coef, q, K, s->F, n));
    s->fresh = false;
done:
    cr_scratch_end(&r);
    return st;
}

static cr_status run(joint *s)
{
    cr_status st = CR_OK;
    size_t    checks = 0, stalled = 0;
    for (size_t rounds = 0;; rounds++) {
        CR_TRY(cr_check_interrupt(s->cx));
        double worst = look(s);
        if (worst <= s->how->tol || stalled > 3) {
            if (s->fresh || ++checks > MOST_CHECKS) break;
            CR_TRY(refresh(s));
            stalled = 0;
            continue;
        }
        s->x->late = rounds > 0 && cri_clock_over(&s->how->clock);
        if (s->x->late || s->x->steps >= s->how->max_iter) break;
        choose(s);
        size_t steps = s->x->steps;
        CR_TRY(round_of(s, fmax(0.1 * worst, 0.5 * s->how->tol)));
        stalled = s->x->steps == steps ? stalled + 1 : 0;
    }
done:
    return st;
}

static void certify(joint *s)
{
    cri_svm_joint_solution *x = s->x;
    size_t                  n = s->p->n, K = s->p->K;
    x->violation = look(s);
    x->converged = x->violation <= s->how->tol;
    for (size_t k = 0; k < K; k++) x->objective[k] = x->gap[k] = x->norm[k] = 0;
    for (size_t i = 0; i < n; i++) {
        const double *a = x->A + i * K;
        slope_of(s, i, s->g);
        cri_svm_joint_add_gap(s->p, i, s->g, a, x->gap);
        for (size_t k = 0; k < K; k++) x->norm[k] += a[k] * s->F[k * n + i];
        x->objective[class_of(s->p, i)] -= a[class_of(s->p, i)];
    }
    for (size_t k = 0; k < K; k++) {
        x->objective[k] += (x->norm[k] + x->b[k] * x->b[k]) / 2;
        x->norm[k] = sqrt(fmax(x->norm[k], 0));
    }
}

cr_status cri_svm_joint_solve(cr_ctx *cx, const cri_svm_joint_problem *p, const cr_kernel *kernel,
                              const cr_kernel_input *rows, const cri_svm_settings *how,
                              cri_svm_joint_solution *x)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = p->n, K = p->K, q = how->working ? how->working : MOST_WORKING;
    joint      j = { .cx = cx, .p = p, .kernel = kernel, .in = rows, .how = how, .x = x };
    j.q = q < n ? q : n;
    j.F = cr_scratch_bytes(&s, n * K, sizeof(double));
    j.order = cr_scratch_bytes(&s, n, sizeof *j.order);
    j.set = cr_scratch_index(&s, 2 * j.q);
    j.chosen = cr_scratch_bytes(&s, n, sizeof *j.chosen);
    j.g = cr_scratch_f64(&s, K), j.a = cr_scratch_f64(&s, K);
    j.fresh = true;
    CR_TRY(s.status);
    x->steps = 0, x->late = false;
    for (size_t k = 0; k < K; k++) x->b[k] = 0;
    CR_TRY(
        cri_svm_rows_open(cx, kernel, rows, NULL, cri_svm_rows_memory(cx, how->memory), &j.rows));
    CR_TRY(run(&j));
    certify(&j);
done:
    cri_svm_rows_close(&j.rows);
    cr_scratch_end(&s);
    return st;
}
