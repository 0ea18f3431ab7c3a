/* precisions.c -- the scale of weights that are precisions, there and back. */
#include "precisions.h"

#include <math.h>

CRI_RECORD_TABLE(, cri_precisions_record, cri_precisions, CRI_PRECISIONS);

cri_precisions cri_precisions_of_rows(const cri_rows *rows)
{
    cri_precisions p = { 0 };
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        if (!(w > 0)) continue;
        p.rows++;
        p.weight += w;
        p.logs += log(w);
    }
    return p;
}

cri_precisions cri_precisions_merge(cri_precisions a, cri_precisions b)
{
    return (cri_precisions){ a.rows + b.rows, a.weight + b.weight, a.logs + b.logs };
}

void cri_precisions_scale_rows(const cri_precisions *p, const cri_rows *rows, double *out)
{
    double c = p->rows / p->weight;
    for (size_t i = 0; i < rows->n; i++) out[i] = c * (rows->w ? rows->w[i] : 1);
}

void cri_precisions_scale_factor(const cri_precisions *p, cri_rows_factor *f)
{
    double root = sqrt(p->rows / f->weight);
    for (size_t i = 0; i < f->q * f->q; i++) f->R[i] *= root;
    f->weight = p->rows;
}

void cri_precisions_restore_fit(const cri_precisions *p, cri_predictor *fit)
{
    double c = p->rows / p->weight;
    for (size_t i = 0; i < fit->rank * fit->p; i++) fit->factor[i] *= sqrt(c);
    for (size_t i = 0; fit->start && i < fit->rank; i++) fit->start[i] *= sqrt(c);
    for (size_t j = 0; fit->diagonal && j < fit->p; j++) fit->diagonal[j] *= c;
    fit->mean_share *= c;
    fit->sigma /= sqrt(c);
}

void cri_precisions_restore(const cri_precisions *p, cri_predictor *fit, cri_least_squares *facts)
{
    double c = p->rows / p->weight;
    cri_precisions_restore_fit(p, fit);
    fit->dof = p->rows - (double)facts->rank - fit->has_intercept;
    facts->weight = p->rows;
    facts->rss /= c;
    facts->tss /= c;
}
