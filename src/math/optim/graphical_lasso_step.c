/* graphical_lasso_step.c -- the step of a group: coordinate descent finds which entries are 0 and the signs of the
 * others; conjugate gradients then move these together, which strongly correlated columns need. */
#include "graphical_lasso_group.h"
#include "base/inner_loop.h"
#include "base/parallel.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum {
    LANES = CRI_LASSO_LANES,
    FIRST_SWEEPS = 2,
    MOST_SWEEPS = 10,
    FIRST_GRADIENTS = 5,
    MOST_GRADIENTS = 200
};
#define SETTLED 1e-3 /* changes, or residuals, as a share of the first that are small enough */

#if defined(__x86_64__) && defined(__GNUC__)
#define AVX2 CRI_INNER_LOOP __attribute__((target("avx2")))
#define HAS_AVX2() __builtin_cpu_supports("avx2")
#else
#define AVX2 CRI_INNER_LOOP
#define HAS_AVX2() false
#endif
#define BODY static inline __attribute__((always_inline))

static double soft(double x, double by) { return x > by ? x - by : x < -by ? x + by : 0; }

/* --- what is free ---------------------------------------------------------------------------- */

static bool is_free(const cri_lasso_group *g, size_t i, size_t j)
{
    size_t at = i * g->m + j;
    return i == j || g->T[at] != 0 ||
           (cri_lasso_allows(g, i, j) && fabs(g->S[at] - g->W[at]) > g->lambda);
}

void cri_lasso_release(cri_lasso_group *g)
{
    cri_free_entries *f = &g->free;
    cr_free(g->cx, f->column, f->room, sizeof *f->column);
    cr_free(g->cx, f->mirror, f->room, sizeof *f->mirror);
    cr_free(g->cx, f->D, f->room, sizeof *f->D);
    cr_free(g->cx, f->work, f->room, 4 * sizeof *f->work);
    f->column = f->mirror = NULL, f->D = f->work = NULL, f->room = 0;
}

/* Lists the entries that are free at T, their step being 0. */
static cr_status find_free(cri_lasso_group *g)
{
    cri_free_entries *f = &g->free;
    size_t            m = g->m, k = 0;
    for (size_t i = 0; i < m; i++) {
        f->start[i] = k;
        for (size_t j = 0; j < m; j++) k += is_free(g, i, j);
    }
    f->start[m] = f->n = k;
    if (k > f->room) {
        cri_lasso_release(g);
        f->room = k;
        f->column = cr_alloc(g->cx, k, sizeof *f->column);
        f->mirror = cr_alloc(g->cx, k, sizeof *f->mirror);
        f->D = cr_alloc(g->cx, k, sizeof *f->D);
        f->work = cr_alloc(g->cx, k, 4 * sizeof *f->work);
        if (!f->column || !f->mirror || !f->D || !f->work) return CR_ENOMEM;
    }
    size_t *at = f->filled; /* the next place of each row */
    memcpy(at, f->start, m * sizeof *at);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) {
            if (!is_free(g, i, j)) continue;
            size_t a = at[i]++, b = i == j ? a : at[j]++;
            f->column[a] = j, f->mirror[a] = b;
            f->column[b] = i, f->mirror[b] = a;
            f->D[a] = f->D[b] = 0;
        }
    return CR_OK;
}

/* --- coordinate descent ---------------------------------------------------------------------- */

/* r [m x LANES]: beside each other, LANES rows of W X from row `first` on, so that one entry of X is met once for all
 * of them; X [n] is at the free entries.  W is symmetric, and read by its columns; what is beyond the last is of no use.
 * Compiled for every machine and for AVX2, without fused multiplication, so with the same bits. */
BODY void add_rows(const cri_lasso_group *g, const double *X, size_t first, double *r)
{
    const cri_free_entries *f = &g->free;
    size_t                  m = g->m;
    memset(r, 0, m * LANES * sizeof *r);
    for (size_t l = 0; l < m; l++) {
        const double *w = g->W + l * m + first;
        for (size_t k = f->start[l]; k < f->start[l + 1]; k++) {
            double *to = r + f->column[k] * LANES, x = X[k];
            if (x == 0) continue;
            for (size_t b = 0; b < LANES; b++) to[b] += w[b] * x;
        }
    }
}

AVX2 static void add_rows_avx2(const cri_lasso_group *g, const double *X, size_t first, double *r)
{
    add_rows(g, X, first, r);
}

CRI_INNER_LOOP static void add_rows_plain(const cri_lasso_group *g, const double *X, size_t first,
                                          double *r)
{
    add_rows(g, X, first, r);
}

static void fill_rows(const cri_lasso_group *g, const double *X, size_t first, double *r)
{
    cri_check_array(g->W, g->m * g->m + LANES);
    cri_check_array(r, g->m * LANES);
    cri_check_array(X, g->free.n);
    (HAS_AVX2() ? add_rows_avx2 : add_rows_plain)(g, X, first, r);
}

/* Row i of W X, of the LANES that are filled. */
static void take_row(const cri_lasso_group *g, const double *r, size_t i, double *row)
{
    for (size_t l = 0; l < g->m; l++) row[l] = r[l * LANES + i % LANES];
}

/* D_ij and D_ji have changed: so do the rows of W D that are filled, and that which was taken. */
static void note_change(const cri_lasso_group *g, size_t i, size_t j, double change)
{
    const double *w = g->W + i * g->m, *v = g->W + j * g->m;
    size_t        first = i - i % LANES;
    for (size_t b = 0; b < LANES; b++) g->r[j * LANES + b] += change * w[first + b];
    g->row[j] += change * w[i];
    if (i == j) return;
    for (size_t b = 0; b < LANES; b++) g->r[i * LANES + b] += change * v[first + b];
    g->row[i] += change * v[i];
}

/* Minimises the quadratic model tr(G D) + tr(W D W D) / 2 + lambda |T + D|, G = S - W, along each free entry once;
 * returns the largest change, each as a share of what its own curvature makes of it. */
static double sweep(cri_lasso_group *g)
{
    const cri_free_entries *f = &g->free;
    size_t                  m = g->m;
    double                  largest = 0;
    for (size_t i = 0; i < m; i++) {
        const double *w = g->W + i * m;
        if (i % LANES == 0) fill_rows(g, f->D, i, g->r);
        take_row(g, g->r, i, g->row);
        for (size_t k = f->start[i]; k < f->start[i + 1]; k++) {
            size_t j = f->column[k];
            if (j < i) continue;
            const double *v = g->W + j * m;
            double        slope = g->S[i * m + j] - w[j] + cr_dot(g->row, v, m), change;
            double        a = i == j ? w[i] * w[i] : w[j] * w[j] + w[i] * v[j];
            if (i == j) {
                change = -slope / a;
            } else {
                double at = g->T[i * m + j] + f->D[k];
                double to = soft(at - slope / a, g->lambda / a);
                change = to == 0 ? -g->T[i * m + j] - f->D[k] : to - at;
            }
            if (change == 0) continue;
            f->D[k] += change;
            f->D[f->mirror[k]] = f->D[k];
            note_change(g, i, j, change);
            largest = fmax(largest, fabs(change) * sqrt(a));
        }
    }
    return largest;
}

/* --- conjugate gradients --------------------------------------------------------------------- */

/* The entries that are not 0 move, the others stay. */
static bool moves(const cri_lasso_group *g, size_t i, size_t k)
{
    size_t j = g->free.column[k];
    return i == j || g->T[i * g->m + j] + g->free.D[k] != 0;
}

typedef struct curving {
    cri_lasso_group *g;
    const double    *X;
    bool             moving;
    double          *out;
    cri_slots        slots;
} curving;

static void curve_rows(void *arg, size_t block)
{
    curving                *a = arg;
    const cri_lasso_group  *g = a->g;
    const cri_free_entries *f = &g->free;
    cri_range               rows = cri_block_range(g->m, LANES, block);
    size_t                  slot = cri_slot_take(&a->slots);
    double                 *r = g->r + slot * g->m * LANES, *row = g->row + slot * g->m;
    fill_rows(g, a->X, rows.begin, r);
    for (size_t i = rows.begin; i < rows.end; i++) {
        take_row(g, r, i, row);
        for (size_t k = f->start[i]; k < f->start[i + 1]; k++)
            if (f->column[k] >= i)
                a->out[k] = a->out[f->mirror[k]] =
                    a->moving && !moves(g, i, k) ? 0
                                                 : cr_dot(row, g->W + f->column[k] * g->m, g->m);
    }
    cri_slot_leave(&a->slots, slot);
}

/* out [n] = W X W; `moving`: only at the entries that move, 0 at the others. */
static cr_status curve(cri_lasso_group *g, const double *X, bool moving, double *out)
{
    curving a = { g, X, moving, out, { .n = g->slots } };
    return cri_parallel_for(g->cx, NULL, cri_block_count(g->m, LANES), curve_rows, &a);
}

/* Minus the slope of the model at D along the entries that move, of which `curved` is W D W. */
static void find_residual(const cri_lasso_group *g, const double *curved, double *out)
{
    const cri_free_entries *f = &g->free;
    for (size_t i = 0; i < g->m; i++)
        for (size_t k = f->start[i]; k < f->start[i + 1]; k++) {
            size_t at = i * g->m + f->column[k];
            double to = g->T[at] + f->D[k], sign = f->column[k] == i ? 0 : (to > 0) - (to < 0);
            out[k] = moves(g, i, k) ? g->W[at] - g->S[at] - curved[k] - g->lambda * sign : 0;
        }
}

/* out = residual / the curvature along each entry alone; returns their product. */
static double precondition(const cri_lasso_group *g, const double *residual, double *out)
{
    const cri_free_entries *f = &g->free;
    double                  sum = 0;
    for (size_t i = 0; i < g->m; i++)
        for (size_t k = f->start[i]; k < f->start[i + 1]; k++) {
            size_t j = f->column[k];
            double w = g->W[i * g->m + j], both = g->W[i * g->m + i] * g->W[j * g->m + j];
            out[k] = residual[k] / (i == j ? both : both + w * w);
            sum += residual[k] * out[k];
        }
    return sum;
}

/* The value of the model at D + X, those that would change sign being 0 there, whose sum is left in `to`, and W to W
 * in `curved`. */
static cr_status value_beyond(cri_lasso_group *g, const double *X, double share, double *to,
                              double *curved, double *out)
{
    const cri_free_entries *f = &g->free;
    double                  value = 0;
    for (size_t i = 0; i < g->m; i++)
        for (size_t k = f->start[i]; k < f->start[i + 1]; k++) {
            size_t j = f->column[k];
            double t = g->T[i * g->m + j], now = t + f->D[k], then = now + share * X[k];
            to[k] = i != j && now * then <= 0 ? -t : f->D[k] + share * X[k];
        }
    cr_status st = curve(g, to, false, curved);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < g->m; i++)
        for (size_t k = f->start[i]; k < f->start[i + 1]; k++) {
            size_t at = i * g->m + f->column[k];
            value += (g->S[at] - g->W[at] + curved[k] / 2) * to[k];
            if (f->column[k] != i) value += g->lambda * fabs(g->T[at] + to[k]);
        }
    *out = value;
    return CR_OK;
}

/* Moves D to the minimum of the model for the signs it has, or towards it as far as the model falls. */
static cr_status move_together(cri_lasso_group *g, size_t most)
{
    cr_status         st = CR_OK;
    cri_free_entries *f = &g->free;
    double           *X = f->work, *residual = X + f->room, *direction = residual + f->room;
    double           *product = direction + f->room, square, first, start, value;
    memset(X, 0, f->n * sizeof *X);
    CR_TRY(curve(g, f->D, true, product));
    find_residual(g, product, residual);
    first = square = precondition(g, residual, direction);
    for (size_t n = 0; n < most && square > SETTLED * SETTLED * first; n++) {
        double along = 0, next;
        CR_TRY(curve(g, direction, true, product));
        for (size_t k = 0; k < f->n; k++) along += direction[k] * product[k];
        if (!(along > 0)) break;
        for (size_t k = 0; k < f->n; k++) {
            X[k] += square / along * direction[k];
            residual[k] -= square / along * product[k];
        }
        next = precondition(g, residual, product);
        for (size_t k = 0; k < f->n; k++) direction[k] = product[k] + next / square * direction[k];
        square = next;
    }
    memset(direction, 0, f->n * sizeof *direction);
    CR_TRY(value_beyond(g, direction, 0, residual, product, &start));
    for (double share = 1; share > 1e-3; share /= 4) {
        CR_TRY(value_beyond(g, X, share, direction, product, &value));
        if (value > start) continue;
        memcpy(f->D, direction, f->n * sizeof *f->D);
        break;
    }
done:
    return st;
}

cr_status cri_lasso_step(cri_lasso_group *g, size_t iteration)
{
    cr_status st = CR_OK;
    size_t    sweeps = FIRST_SWEEPS + iteration;
    size_t    gradients = (size_t)FIRST_GRADIENTS << (iteration < 6 ? iteration : 6);
    double    first = 0;
    CR_TRY(find_free(g));
    if (sweeps > MOST_SWEEPS) sweeps = MOST_SWEEPS;
    if (gradients > MOST_GRADIENTS) gradients = MOST_GRADIENTS;
    for (size_t k = 0; k < sweeps; k++) {
        double change = sweep(g);
        if (k == 0) first = change;
        if (change <= SETTLED * first * fmin(1, first)) goto done;
        CR_TRY(cr_check_interrupt(g->cx));
    }
    CR_TRY(move_together(g, gradients));
done:
    return st;
}
