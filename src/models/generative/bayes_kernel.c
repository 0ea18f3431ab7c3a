/* bayes_kernel.c -- densities by Gaussian kernels: the points that are kept, their bandwidth, and
 * the sum over those near enough to count.  Silverman (1986), Density Estimation, sec. 3.4. */
#include "bayes_columns.h"
#include "base/scratch.h"
#include "math/constants.h"

#include <math.h>
#include <stdlib.h>

/* --- points ---------------------------------------------------------------------------------- */

typedef struct weighted_point {
    size_t cell;
    double x, w;
} weighted_point;

static int compare_points(const void *a, const void *b)
{
    const weighted_point *s = a, *t = b;
    if (s->cell != t->cell) return s->cell < t->cell ? -1 : 1;
    if (s->x != t->x) return s->x < t->x ? -1 : 1;
    return s->w < t->w ? -1 : s->w > t->w;
}

static size_t list_points(const cri_nb *old, weighted_point *list)
{
    size_t n = 0;
    for (size_t c = 0; c < old->cells; c++)
        for (size_t i = old->start[c]; i < old->start[c + 1]; i++)
            list[n++] = (weighted_point){ c, old->point[i], old->mass[i] };
    return n;
}

/* The values of term j that are there and count; x [n] is workspace. */
static size_t list_term(const cri_rows *rows, const cri_nb *m, size_t j, double *x,
                        weighted_point *list)
{
    size_t n = 0;
    cri_rows_fill_term(rows, j, 0, rows->n, x, 1);
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        if (isnan(x[i]) || !(w > 0)) continue;
        list[n++] =
            (weighted_point){ m->first[j] * m->K + (size_t)rows->y[i], x[i] == 0 ? 0 : x[i], w };
    }
    return n;
}

/* Equal values of a cell become one; returns how many are left. */
static size_t join_equal(weighted_point *list, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        weighted_point *last = kept ? &list[kept - 1] : NULL;
        if (last && last->cell == list[i].cell && last->x == list[i].x)
            last->w += list[i].w;
        else
            list[kept++] = list[i];
    }
    return kept;
}

/* The points become those of the list, which is put in order. */
static cr_status keep_points(cr_ctx *cx, weighted_point *list, size_t n, cri_nb *m)
{
    cr_status st = CR_OK;
    double   *point = NULL, *mass = NULL;

    if (n > 0) qsort(list, n, sizeof *list, compare_points);
    n = join_equal(list, n);
    point = cr_alloc(cx, n, sizeof *point);
    mass = cr_alloc(cx, n, sizeof *mass);
    if (!point || !mass) CR_TRY(CR_ENOMEM);
    for (size_t c = 0, i = 0; c <= m->cells; c++) {
        m->start[c] = i;
        for (; i < n && list[i].cell == c; i++) point[i] = list[i].x, mass[i] = list[i].w;
    }
done:
    cr_free(cx, st == CR_OK ? m->point : point, st == CR_OK ? m->points : n, sizeof *point);
    cr_free(cx, st == CR_OK ? m->mass : mass, st == CR_OK ? m->points : n, sizeof *mass);
    if (st == CR_OK) m->points = n, m->point = point, m->mass = mass;
    return st;
}

cr_status cri_nb_set_points(cr_ctx *cx, const cri_rows *rows, cri_nb *m)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = 0;
    double         *x = cr_scratch_f64(&s, m->kernels ? rows->n : 0);
    weighted_point *list = cr_scratch_bytes(&s, m->kernels * rows->n, sizeof *list);

    CR_TRY(s.status);
    for (size_t j = 0; j < m->p; j++) {
        if (cri_nb_kind_of(m, j) != CRI_NB_KERNEL) continue;
        CR_TRY(cr_check_interrupt(cx));
        n += list_term(rows, m, j, x, list + n);
    }
    CR_TRY(keep_points(cx, list, n, m));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_nb_add_points(cr_ctx *cx, const cri_nb *from, cri_nb *to)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    weighted_point *list = cr_scratch_bytes(&s, to->points + from->points, sizeof *list);
    CR_TRY(s.status);
    size_t n = list_points(to, list);
    n += list_points(from, list + n);
    CR_TRY(keep_points(cx, list, n, to));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- bandwidth ------------------------------------------------------------------------------- */

/* The least value with at least the share q of the mass up to it. */
static double quantile(const cri_nb *m, size_t cell, double n, double q)
{
    double sum = 0;
    size_t i = m->start[cell], end = m->start[cell + 1];
    for (; i + 1 < end; i++)
        if ((sum += m->mass[i]) >= q * n * (1 - 1e-12)) break;
    return m->point[i];
}

void cri_nb_set_bandwidths(cri_nb *m, const double *spread)
{
    for (size_t j = 0; j < m->p; j++) {
        if (cri_nb_kind_of(m, j) != CRI_NB_KERNEL) continue;
        for (size_t k = 0; k < m->K; k++) {
            size_t cell = m->first[j] * m->K + k;
            double n = m->weight[k * m->p + j], size = 0;
            if (m->start[cell + 1] > m->start[cell] && n > 1) {
                double sd = sqrt(m->scatter[k * m->p + j] / (n - 1));
                double range = quantile(m, cell, n, 0.75) - quantile(m, cell, n, 0.25);
                size = range > 0 ? fmin(sd, range / 1.34) : sd;
            }
            if (!(size > 1e-9 * spread[j])) size = spread[j]; /* one value: how wide is not known */
            m->bandwidth[cell] = m->width[j] > 0 ? m->width[j] : 0.9 * size * pow(fmax(n, 1), -0.2);
        }
    }
}

/* --- density --------------------------------------------------------------------------------- */

/* Points so far off that all of them together are less than e^-40 of the nearest are left out. */
long double cri_nb_kernel(const cri_nb *m, size_t j, size_t k, double x)
{
    size_t cell = m->first[j] * m->K + k;
    size_t begin = m->start[cell], end = m->start[cell + 1], low = begin;
    double h = m->bandwidth[cell], n = m->weight[k * m->p + j], sum = 0;
    for (size_t high = end; low < high;) { /* the first point not below x */
        size_t middle = low + (high - low) / 2;
        if (m->point[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    size_t near = low;
    if (near == end || (near > begin && x - m->point[near - 1] < m->point[near] - x)) near--;
    double least = fabs(x - m->point[near]), reach = 40 + log(n / m->mass[near]);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = side ? low : low - 1; side ? i < end : i + 1 > begin; side ? i++ : i--) {
            double d = fabs(x - m->point[i]), e = (d - least) / h * ((d + least) / h) / 2;
            if (e > reach) break;
            sum += m->mass[i] * exp(-e);
        }
    long double u = (long double)least / h;
    return -0.5L * u * u + (log(sum) - log(n) - log(h) - CRI_HALF_LOG_2PI);
}
