/* relations.c -- the columns without a coefficient as combinations of the others: least squares of each of them, by the QR
 * factor of the latter. */
#include "relations.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* kept [p]: the terms that F speaks of; others[*out_others] the rest. */
static size_t split_terms(const cri_predictor *m, size_t *kept, size_t *others, size_t *out_others)
{
    size_t n = 0, rest = 0;
    for (size_t j = 0; j < m->p; j++) {
        bool any = false;
        for (size_t k = 0; k < m->rank && !any; k++) any = m->factor[k * m->p + j] != 0;
        if (any)
            kept[n++] = j;
        else
            others[rest++] = j;
    }
    *out_others = rest;
    return n;
}

/* Column j of the factor, behind it without an intercept the root of the weight times its mean: [q + 1]. */
static double read_column(const cri_rows_factor *f, bool intercept, size_t j, double *c)
{
    double norm = 0, last = intercept ? 0 : sqrt(f->weight) * f->mean[j];
    for (size_t i = 0; i < f->q; i++) {
        c[i] = f->R[i * f->q + j];
        norm = hypot(norm, c[i]);
    }
    c[f->q] = last;
    return hypot(norm, last);
}

cr_status cri_relations_of_factor(cr_ctx *cx, const cri_rows_factor *f, bool intercept,
                                  cri_predictor *fit)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = fit->p, rows = f->q + 1, *kept = cr_scratch_index(&s, p),
           *others = cr_scratch_index(&s, p), n_others = 0;
    double *c = cr_scratch_f64(&s, rows), *size = cr_scratch_f64(&s, p), root = sqrt(f->weight);
    cr_qr   qr = { 0 };

    CR_TRY(s.status);
    if (fit->diagonal || p != f->p) goto done;
    size_t r = split_terms(fit, kept, others, &n_others);
    if (n_others == 0) goto done;
    double *K = cr_scratch_matrix(&s, rows, r);
    CR_TRY(s.status);
    for (size_t k = 0; k < r; k++) {
        size[k] = read_column(f, intercept, kept[k], c);
        for (size_t i = 0; i < rows; i++) K[i * r + k] = c[i] / size[k];
    }
    if (r > 0) CR_TRY(cr_qr_new(cx, cr_cmat_of(K, rows, r), -1, &qr));
    fit->relations = cr_alloc(cx, n_others * p, sizeof(double));
    if (!fit->relations) CR_TRY(CR_ENOMEM);
    fit->aliased = n_others;
    for (size_t a = 0; a < n_others; a++) {
        size_t  j = others[a];
        double *N = fit->relations + a * p, norm = read_column(f, intercept, j, c);
        /* a constant column is one to the last digits, and its relation is as strict as that */
        double level = fmax(fabs(fit->centre[j]), fabs(f->mean[j]));
        double spread = norm > 0x1p-46 * root * level ? norm / root : fmax(1e-6 * level, 1e-100);
        N[j] = 1 / spread;
        if (!(norm > 0x1p-46 * root * level) || r == 0) continue;
        CR_TRY(cr_qr_apply(cx, &qr, true, c));
        cr_qr_solve_r(&qr, false, c);
        for (size_t k = 0; k < qr.rank; k++) {
            size_t at = qr.pivot[k];
            /* what rounding has left of a column that takes no part */
            if (fabs(c[k]) > 1e-9 * norm) N[kept[at]] = -c[k] / size[at] / spread;
        }
    }
done:
    cr_qr_free(cx, &qr);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_relations_of_rows(cr_ctx *cx, const cri_rows *rows, bool intercept,
                                cri_predictor *fit)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cri_rows_factor factor = { 0 };
    size_t         *terms = cr_scratch_index(&s, 2 * fit->p), others = 0;

    CR_TRY(s.status);
    if (fit->diagonal || fit->p > CRI_MOST_FACTOR) goto done;
    split_terms(fit, terms, terms + fit->p, &others);
    if (others == 0) goto done;
    CR_TRY(cri_rows_factor_of_rows(cx, rows, NULL, &factor));
    CR_TRY(cri_relations_of_factor(cx, &factor, intercept, fit));
done:
    cri_rows_factor_free(cx, &factor);
    cr_scratch_end(&s);
    return st;
}
