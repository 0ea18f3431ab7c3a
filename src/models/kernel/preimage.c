/* preimage.c -- pre-images by quasi-Newton steps, all rows of a block side by side. */
#include "preimage.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64, NEAR = 10, PAIRS = 6, MOST_ROUNDS = 300, MOST_HALVINGS = 40 };

/* One search; arrays have d numbers. */
typedef struct search {
    double *x, *gradient, *direction, *trial; /* where it is; trial: where it looks next */
    double *s, *y;                            /* [PAIRS x d] last steps, changes of the gradient */
    double  value, step;
    size_t  pairs, halvings;
    bool    moving;
} search;

typedef struct work {
    cr_ctx                   *cx;
    const cri_preimage_space *space;
    size_t                    m;          /* points of the block                           */
    const double             *Z;          /* [m x q]                                       */
    double                   *gamma;      /* [n x m]                                       */
    search                   *of;         /* [m]                                           */
    double                   *low, *high; /* [d] where the kernel has values               */
    double                   *X, *D, *dX; /* [m x d] places; derivatives there: of k(X, X) */
    double                   *C, *W;      /* [n x m] workspace                             */
    double                   *own, *ones, *value; /* [m]                                    */
    size_t                   *which;              /* [m] searches that the places belong to */
} work;

/* --- the function ---------------------------------------------------------------------------- */

/* value [count] = k(x, x) - 2 sum_i g_i k(x_i, x) at the places X of the points which[], and where
 * wanted its derivatives D. */
static cr_status evaluate(work *w, size_t count, bool slopes)
{
    cr_status                 st = CR_OK;
    const cri_preimage_space *p = w->space;
    size_t                    n = p->n, d = p->d;
    cr_kernel_input           in = cr_kernel_rows(cr_cmat_of(w->X, count, d));
    CR_TRY(cr_kernel_cross(w->cx, p->kernel, &p->at, &in, cr_mat_of(w->C, n, count)));
    CR_TRY(cr_kernel_diagonal(w->cx, p->kernel, &in, false, w->own));
    memcpy(w->value, w->own, count * sizeof *w->value);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < count; c++) {
            double g = -2 * w->gamma[i * w->m + w->which[c]];
            w->W[i * count + c] = g;
            w->value[c] += g * w->C[i * count + c];
        }
    if (!slopes) goto done;
    CR_TRY(cr_kernel_cross_gradient(w->cx, p->kernel, &p->at, &in, cr_cmat_of(w->W, n, count), NULL,
                                    cr_mat_of(w->D, count, d)));
    CR_TRY(cr_kernel_diagonal_gradient(w->cx, p->kernel, &in, w->ones, false, NULL,
                                       cr_mat_of(w->dX, count, d)));
    for (size_t e = 0; e < count * d; e++) w->D[e] += w->dX[e];
done:
    return st;
}

/* --- starts ---------------------------------------------------------------------------------- */

/* The rows nearest to the point z, in order, by their squared distance from it; ties by their
 * number. */
static size_t find_near(const cri_preimage_space *p, const double *z, size_t *row, double *square)
{
    size_t found = 0;
    for (size_t i = 0; i < p->n; i++) {
        double t = p->beside[i];
        for (size_t j = 0; j < p->q; j++)
            t += (p->place[i * p->q + j] - z[j]) * (p->place[i * p->q + j] - z[j]);
        if (found == NEAR && !(t < square[NEAR - 1])) continue;
        size_t at = found < NEAR ? found++ : NEAR - 1;
        for (; at > 0 && t < square[at - 1]; at--)
            row[at] = row[at - 1], square[at] = square[at - 1];
        row[at] = i, square[at] = t;
    }
    return found;
}

/* The rbf that the node is, up to factors, which go into *variance, and centring; NULL when it is
 * none. */
static const cri_node *find_rbf(const cr_kernel *k, size_t at, double *variance)
{
    const cri_node *node = &k->nodes[at];
    size_t          other = SIZE_MAX;
    if (cri_is_centre(node)) return find_rbf(k, node->first, variance);
    if (node->op == CRI_LEAF)
        return node->class == &cri_kernel_rbf && node->warp == CRI_PLAIN ? node : NULL;
    for (size_t c = node->op == CRI_PRODUCT ? node->first : SIZE_MAX; c != SIZE_MAX;
         c = k->nodes[c].next) {
        const cri_node *factor = &k->nodes[c];
        if (factor->op == CRI_LEAF && factor->class == &cri_kernel_constant)
            *variance *= cri_value(k, factor, 0, 0);
        else if (other != SIZE_MAX)
            return NULL;
        else
            other = c;
    }
    return other == SIZE_MAX ? NULL : find_rbf(k, other, variance);
}

/* x, the mean of the rows so far, from its distances to them: A y = (|a_i|^2 - t_i) / 2 about their
 * mean, in columns divided by their length-scales; left as it is when the distances are beyond
 * those that the kernel tells. */
static cr_status place_by_distances(cr_ctx *cx, const cri_preimage_space *p, const cri_node *rbf,
                                    double variance, const size_t *row, const double *square,
                                    size_t count, double *x)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    const cr_kernel *k = p->kernel;
    size_t           d = p->d, active = rbf->n_columns ? rbf->n_columns : d;
    size_t           rank = count < active ? count : active;
    double *A = cr_scratch_matrix(&s, count, active), *U = cr_scratch_matrix(&s, count, rank);
    double *V = cr_scratch_matrix(&s, active, rank), *value = cr_scratch_f64(&s, rank), b[NEAR];

    CR_TRY(s.status);
    for (size_t i = 0; i < count; i++)
        if (!(square[i] < 1.999 * variance)) goto done;
    for (size_t c = 0; c < active; c++) {
        size_t column = cri_column_at(k, rbf, c);
        double l = cri_value(k, rbf, 0, c);
        for (size_t i = 0; i < count; i++)
            A[i * active + c] = (p->at.numbers.a[row[i] * d + column] - x[column]) / l;
    }
    for (size_t i = 0; i < count; i++)
        b[i] = (cr_dot(A + i * active, A + i * active, active) +
                2 * log1p(-fmax(square[i], 0) / (2 * variance))) /
               2;
    CR_TRY(cr_svd(cx, cr_cmat_of(A, count, active), cr_mat_of(U, count, rank), value,
                  cr_mat_of(V, active, rank)));
    for (size_t r = 0; r < rank && value[r] > 1e-8 * value[0]; r++) {
        double along = 0;
        for (size_t i = 0; i < count; i++) along += U[i * rank + r] * b[i] / value[r];
        for (size_t c = 0; c < active; c++)
            x[cri_column_at(k, rbf, c)] += along * V[c * rank + r] * cri_value(k, rbf, 0, c);
    }
done:
    cr_scratch_end(&s);
    return st;
}

static void clamp(const work *w, double *x)
{
    for (size_t j = 0; j < w->space->d; j++) x[j] = fmin(fmax(x[j], w->low[j]), w->high[j]);
}

cr_status cri_preimage_start(cr_ctx *cx, const cri_preimage_space *p, const double *z, size_t start,
                             double *x)
{
    double variance = 1, square[NEAR];
    size_t row[NEAR], d = p->d, count = find_near(p, z, row, square), used = start == 0 ? 1 : count;
    const cri_node *rbf =
        start == 2 ? find_rbf(p->kernel, p->kernel->n_nodes - 1, &variance) : NULL;
    for (size_t j = 0; j < d; j++) {
        x[j] = 0;
        for (size_t i = 0; i < used; i++) x[j] += p->at.numbers.a[row[i] * d + j] / (double)used;
    }
    return rbf ? place_by_distances(cx, p, rbf, variance, row, square, count, x) : CR_OK;
}

/* The start number `start` of each point into X. */
static cr_status set_starts(work *w, size_t start)
{
    cr_status                 st = CR_OK;
    const cri_preimage_space *p = w->space;
    for (size_t c = 0; c < w->m; c++) {
        w->which[c] = c;
        CR_TRY(cri_preimage_start(w->cx, p, w->Z + c * p->q, start, w->X + c * p->d));
        clamp(w, w->X + c * p->d);
    }
done:
    return st;
}

static cr_status begin_searches(work *w)
{
    cr_status st = CR_OK;
    size_t    d = w->space->d;
    for (size_t start = 0; start < CRI_PREIMAGE_STARTS; start++) {
        CR_TRY(set_starts(w, start));
        CR_TRY(evaluate(w, w->m, false));
        for (size_t c = 0; c < w->m; c++) {
            search *o = &w->of[c];
            if (start > 0 && !(w->value[c] < o->value)) continue;
            o->value = w->value[c];
            memcpy(o->trial, w->X + c * d, d * sizeof(double));
        }
    }
    for (size_t c = 0; c < w->m; c++) {
        memcpy(w->X + c * d, w->of[c].trial, d * sizeof(double));
        memcpy(w->of[c].x, w->of[c].trial, d * sizeof(double));
    }
    CR_TRY(evaluate(w, w->m, true));
    for (size_t c = 0; c < w->m; c++) {
        search *o = &w->of[c];
        o->value = w->value[c];
        o->moving = true, o->step = 1, o->pairs = o->halvings = 0;
        memcpy(o->gradient, w->D + c * d, d * sizeof(double));
    }
done:
    return st;
}

/* --- steps ----------------------------------------------------------------------------------- */

/* The direction -H g by the last steps (Nocedal 1980). */
static void set_direction(search *o, size_t d)
{
    double along[PAIRS], *q = o->direction;
    for (size_t j = 0; j < d; j++) q[j] = -o->gradient[j];
    for (size_t k = o->pairs; k-- > 0;) {
        const double *s = o->s + k * d, *y = o->y + k * d;
        along[k] = cr_dot(s, q, d) / cr_dot(s, y, d);
        for (size_t j = 0; j < d; j++) q[j] -= along[k] * y[j];
    }
    if (o->pairs > 0) {
        const double *s = o->s + (o->pairs - 1) * d, *y = o->y + (o->pairs - 1) * d;
        double        scale = cr_dot(s, y, d) / cr_dot(y, y, d);
        for (size_t j = 0; j < d; j++) q[j] *= scale;
    }
    for (size_t k = 0; k < o->pairs; k++) {
        const double *s = o->s + k * d, *y = o->y + k * d;
        double        back = cr_dot(y, q, d) / cr_dot(s, y, d);
        for (size_t j = 0; j < d; j++) q[j] += (along[k] - back) * s[j];
    }
}

/* Where the search looks next; false when that is where it is. */
static bool set_trial(const work *w, search *o)
{
    size_t d = w->space->d;
    double moved = 0, size = 0;
    for (size_t j = 0; j < d; j++) o->trial[j] = o->x[j] + o->step * o->direction[j];
    clamp(w, o->trial);
    for (size_t j = 0; j < d; j++) {
        moved = fmax(moved, fabs(o->trial[j] - o->x[j]));
        size = fmax(size, fabs(o->x[j]));
    }
    return moved > 1e-14 * (1e-300 + size);
}

/* Remembers the step from x to trial; the oldest of PAIRS is forgotten. */
static void remember(search *o, const double *gradient, size_t d)
{
    double sy = 0, ss = 0, yy = 0;
    for (size_t j = 0; j < d; j++) {
        double s = o->trial[j] - o->x[j], y = gradient[j] - o->gradient[j];
        sy += s * y, ss += s * s, yy += y * y;
    }
    if (!(sy > 1e-10 * sqrt(ss * yy))) return;
    if (o->pairs == PAIRS) {
        memmove(o->s, o->s + d, (PAIRS - 1) * d * sizeof *o->s);
        memmove(o->y, o->y + d, (PAIRS - 1) * d * sizeof *o->y);
        o->pairs--;
    }
    for (size_t j = 0; j < d; j++) {
        o->s[o->pairs * d + j] = o->trial[j] - o->x[j];
        o->y[o->pairs * d + j] = gradient[j] - o->gradient[j];
    }
    o->pairs++;
}

/* Takes the step when it went down enough, else halves it; without a downward step the search
 * ends. */
static void take_step(search *o, double value, const double *gradient, size_t d)
{
    double slope = 0;
    for (size_t j = 0; j < d; j++) slope += o->gradient[j] * (o->trial[j] - o->x[j]);
    if (!(value <= o->value + 1e-4 * slope) || !(slope < 0)) {
        o->step /= 2;
        if (++o->halvings < MOST_HALVINGS && slope < 0) return;
        o->moving = o->pairs > 0; /* once more, straight down */
        o->pairs = o->halvings = 0;
        o->step = 1;
        set_direction(o, d);
        return;
    }
    remember(o, gradient, d);
    o->moving = value < o->value;
    o->value = value;
    memcpy(o->x, o->trial, d * sizeof *o->x);
    memcpy(o->gradient, gradient, d * sizeof *o->gradient);
    o->step = 1, o->halvings = 0;
    set_direction(o, d);
}

static cr_status run_searches(work *w)
{
    cr_status st = CR_OK;
    size_t    d = w->space->d;
    for (size_t c = 0; c < w->m; c++) set_direction(&w->of[c], d);
    for (size_t round = 0; round < MOST_ROUNDS; round++) {
        size_t count = 0;
        for (size_t c = 0; c < w->m; c++) {
            search *o = &w->of[c];
            if (o->moving && !set_trial(w, o)) o->moving = false;
            if (!o->moving) continue;
            memcpy(w->X + count * d, o->trial, d * sizeof(double));
            w->which[count++] = c;
        }
        if (count == 0) break;
        CR_TRY(cr_check_interrupt(w->cx));
        CR_TRY(evaluate(w, count, true));
        for (size_t c = 0; c < count; c++)
            take_step(&w->of[w->which[c]], w->value[c], w->D + c * d, d);
    }
done:
    return st;
}

/* --- blocks ---------------------------------------------------------------------------------- */

/* All numbers, or, for a kernel that has values for some only, the range of the rows. */
static void set_range(work *w)
{
    const cri_preimage_space *p = w->space;
    bool                      all = true;
    for (size_t i = 0; i < p->kernel->n_nodes; i++) {
        const cri_node *node = &p->kernel->nodes[i];
        if (node->op == CRI_LEAF && node->class &&
            (node->class->not_negative || node->warp != CRI_PLAIN ||
             node->class == &cri_kernel_product))
            all = false;
    }
    for (size_t j = 0; j < p->d; j++) {
        w->low[j] = all ? -INFINITY : INFINITY, w->high[j] = -w->low[j];
        for (size_t i = 0; !all && i < p->n; i++) {
            w->low[j] = fmin(w->low[j], p->at.numbers.a[i * p->d + j]);
            w->high[j] = fmax(w->high[j], p->at.numbers.a[i * p->d + j]);
        }
    }
}

static cr_status reserve(cr_scratch *s, work *w, size_t most)
{
    size_t n = w->space->n, d = w->space->d;
    w->gamma = cr_scratch_matrix(s, n, most), w->C = cr_scratch_matrix(s, n, most);
    w->W = cr_scratch_matrix(s, n, most), w->X = cr_scratch_matrix(s, most, d);
    w->D = cr_scratch_matrix(s, most, d), w->dX = cr_scratch_matrix(s, most, d);
    w->own = cr_scratch_f64(s, most), w->ones = cr_scratch_f64(s, most),
    w->value = cr_scratch_f64(s, most);
    w->low = cr_scratch_f64(s, d), w->high = cr_scratch_f64(s, d);
    w->which = cr_scratch_index(s, most);
    w->of = cr_scratch_bytes(s, most, sizeof *w->of);
    for (size_t c = 0; w->of && c < most; c++)
        w->of[c] = (search){ .x = cr_scratch_f64(s, d),
                             .gradient = cr_scratch_f64(s, d),
                             .direction = cr_scratch_f64(s, d),
                             .trial = cr_scratch_f64(s, d),
                             .s = cr_scratch_matrix(s, PAIRS, d),
                             .y = cr_scratch_matrix(s, PAIRS, d) };
    for (size_t c = 0; s->status == CR_OK && c < most; c++) w->ones[c] = 1;
    return s->status;
}

/* g_i of all points of the block, and |P|^2 = |mu|^2 + 2 z . (v . mu) + |z|^2 in the distances. */
static cr_status set_points(work *w, double *out_square)
{
    const cri_preimage_space *p = w->space;
    size_t                    n = p->n, m = w->m, q = p->q;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < m; c++) w->gamma[i * m + c] = p->share[i];
    for (size_t c = 0; c < m; c++) {
        const double *z = w->Z + c * q;
        out_square[c] = p->square[q] + 2 * cr_dot(p->square, z, q) + cr_dot(z, z, q);
    }
    return cr_gemm(w->cx, 1, cr_cmat_of(p->weight, n, q), CR_PLAIN, cr_cmat_of(w->Z, m, q),
                   CR_TRANSPOSED, 1, cr_mat_of(w->gamma, n, m));
}

cr_status cri_preimages(cr_ctx *cx, const cri_preimage_space *space, const double *Z, size_t m,
                        double *out, double *out_distance)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    work       w = { .cx = cx, .space = space };
    size_t     d = space->d;

    CR_TRY(reserve(&s, &w, m < BLOCK ? m : BLOCK));
    set_range(&w);
    for (size_t b = 0; b < cri_block_count(m, BLOCK); b++) {
        cri_range r = cri_block_range(m, BLOCK, b);
        w.m = r.end - r.begin;
        w.Z = Z + r.begin * space->q;
        CR_TRY(set_points(&w, out_distance + r.begin));
        CR_TRY(begin_searches(&w));
        CR_TRY(run_searches(&w));
        for (size_t c = 0; c < w.m; c++) {
            memcpy(out + (r.begin + c) * d, w.of[c].x, d * sizeof *out);
            double *distance = &out_distance[r.begin + c];
            *distance = sqrt(fmax(*distance + w.of[c].value, 0));
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}
