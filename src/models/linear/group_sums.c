/* group_sums.c -- sums over rows in groups, and the equations with the groups eliminated. */
#include "group_sums.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

/* Rows begin .. end - 1 with their targets: out [rows x q]. */
static void fill(const cri_rows *rows, size_t begin, size_t end, size_t q, double *out)
{
    cri_rows_fill(rows, begin, end, out, q);
    for (size_t i = begin; i < end; i++) out[(i - begin) * q + q - 1] = rows->y[i];
}

/* What is done with a block: rows from .. to - 1 with their targets, X [rows x q], which it may overwrite. */
typedef cr_status block_fn(cr_ctx *cx, const cri_rows *rows, const size_t *group, size_t from,
                           size_t to, double *X, cri_group_sums *s);

static cr_status for_each_block(cr_ctx *cx, const cri_rows *rows, const size_t *group, double *X,
                                block_fn *take, cri_group_sums *s)
{
    cr_status st = CR_OK;
    for (size_t from = 0; from < rows->n && st == CR_OK; from += BLOCK) {
        size_t to = rows->n - from > BLOCK ? from + BLOCK : rows->n;
        st = cr_check_interrupt(cx);
        if (st != CR_OK) break;
        fill(rows, from, to, s->q, X);
        st = take(cx, rows, group, from, to, X, s);
    }
    return st;
}

/* N and the means of the groups. */
static cr_status add_to_means(cr_ctx *cx, const cri_rows *rows, const size_t *group, size_t from,
                              size_t to, double *X, cri_group_sums *s)
{
    (void)cx;
    for (size_t i = from; i < to; i++) {
        double        w = rows->w ? rows->w[i] : 1, *mean = s->mean + group[i] * s->q;
        const double *x = X + (i - from) * s->q;
        if (w == 0) continue;
        s->N[group[i]] += w;
        for (size_t j = 0; j < s->q; j++) mean[j] += w / s->N[group[i]] * (x[j] - mean[j]);
    }
    return CR_OK;
}

/* W. */
static cr_status add_to_within(cr_ctx *cx, const cri_rows *rows, const size_t *group, size_t from,
                               size_t to, double *X, cri_group_sums *s)
{
    size_t q = s->q;
    for (size_t i = from; i < to; i++) {
        double root = rows->w ? sqrt(rows->w[i]) : 1, *x = X + (i - from) * q;
        for (size_t j = 0; j < q; j++) x[j] = root * (x[j] - s->mean[group[i] * q + j]);
    }
    return cr_syrk(cx, 1, cr_cmat_of(X, to - from, q), CR_TRANSPOSED, from > 0,
                   cr_mat_of(s->within, q, q));
}

/* Means of all rows go from the groups', and all is divided by the scales. */
static cr_status standardise(cr_ctx *cx, cr_scratch *arena, bool intercept, bool by_sd,
                             cri_group_sums *s)
{
    size_t  q = s->q, p = s->p;
    double *centre = cr_scratch_bytes(arena, q, sizeof *centre), *scale = cr_scratch_f64(arena, q);
    if (arena->status != CR_OK) return arena->status;
    for (size_t g = 0; g < s->J; g++)
        for (size_t j = 0; j < q; j++) centre[j] += s->N[g] / s->weight * s->mean[g * q + j];
    for (size_t j = 0; j < q; j++) {
        double square = s->within[j * q + j];
        for (size_t g = 0; g < s->J; g++) {
            double x = s->mean[g * q + j] - centre[j];
            square += s->N[g] * x * x;
        }
        cr_status st = cri_check_squares(cx, j, p, square, fabs(centre[j]));
        if (st != CR_OK) return st;
        scale[j] = by_sd && j < p && square > 0 ? sqrt(square / s->weight) : 1;
        if (!intercept) centre[j] = 0;
    }
    for (size_t g = 0; g < s->J; g++)
        for (size_t j = 0; j < q; j++)
            s->mean[g * q + j] = s->N[g] > 0 ? (s->mean[g * q + j] - centre[j]) / scale[j] : 0;
    for (size_t j = 0; j < q; j++)
        for (size_t k = 0; k < q; k++) s->within[j * q + k] /= scale[j] * scale[k];
    s->centre = centre;
    s->scale = scale;
    s->offset = centre[p];
    return CR_OK;
}

cr_status cri_group_sums_new(cr_ctx *cx, cr_scratch *arena, const cri_rows *rows, bool intercept,
                             bool by_sd, cri_group_sums *out)
{
    cr_status      st = CR_OK;
    cr_scratch     scratch = cr_scratch_begin(cx);
    size_t         J = rows->design->columns[cri_design_varying(rows->design)].n_levels;
    size_t         p = rows->p, q = p + 1;
    cri_group_sums s = { .J = J, .p = p, .q = q };
    double        *X = cr_scratch_f64(&scratch, BLOCK * q);
    size_t        *group = cr_scratch_index(&scratch, rows->n);

    s.N = cr_scratch_bytes(arena, J, sizeof *s.N);
    s.mean = cr_scratch_bytes(arena, J, q * sizeof *s.mean);
    s.within = cr_scratch_matrix(arena, q, q);
    CR_TRY(scratch.status);
    CR_TRY(arena->status);
    cri_rows_groups(rows, group);
    for (size_t i = 0; i < rows->n; i++)
        if (group[i] >= J) CR_TRY(cr_fail(cx, CR_EDATA, "a row is of a group that is not there"));
    CR_TRY(for_each_block(cx, rows, group, X, add_to_means, &s));
    for (size_t g = 0; g < J; g++) s.weight += s.N[g];
    CR_TRY(for_each_block(cx, rows, group, X, add_to_within, &s));
    CR_TRY(standardise(cx, arena, intercept, by_sd, &s));
    for (size_t j = 0; j < q; j++) {
        double square = s.within[j * q + j];
        for (size_t g = 0; g < J; g++) square += s.N[g] * s.mean[g * q + j] * s.mean[g * q + j];
        if (j < p)
            s.signal += square / s.weight;
        else
            s.tt = square;
    }
    *out = s;
done:
    cr_scratch_end(&scratch);
    return st;
}

cr_status cri_group_equations_new(cr_scratch *arena, const cri_group_sums *s,
                                  cri_group_equations *out)
{
    *out = (cri_group_equations){ .c = cr_scratch_f64(arena, s->q),
                                  .T = cr_scratch_matrix(arena, s->q, s->q) };
    return arena->status;
}

cr_status cri_group_equations_at(cr_ctx *cx, const cri_group_sums *s, double theta, bool flat,
                                 cri_group_equations *e)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    size_t     J = s->J, q = s->q;
    double    *M = cr_scratch_matrix(&scratch, J, q);

    CR_TRY(scratch.status);
    e->theta = theta;
    e->rows = e->logdet = 0;
    memset(e->c, 0, q * sizeof *e->c);
    for (size_t g = 0; g < J; g++) {
        double k = s->N[g] * (theta / (s->N[g] + theta));
        e->rows += k;
        e->logdet += log1p(s->N[g] / theta);
        for (size_t j = 0; flat && j < q; j++) e->c[j] += k * s->mean[g * q + j];
    }
    for (size_t j = 0; flat && j < q; j++) e->c[j] /= e->rows;
    for (size_t g = 0; g < J; g++) {
        double root = sqrt(s->N[g] * (theta / (s->N[g] + theta)));
        for (size_t j = 0; j < q; j++) M[g * q + j] = root * (s->mean[g * q + j] - e->c[j]);
    }
    memcpy(e->T, s->within, q * q * sizeof *e->T);
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(M, J, q), CR_TRANSPOSED, 1, cr_mat_of(e->T, q, q)));
done:
    cr_scratch_end(&scratch);
    return st;
}
