/* classify_evidence.c -- the evidence of a classifier over its hyper-parameters. */
#include "classify_evidence.h"
#include "classify_sparse.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>

cr_status cri_classify_hyper(cr_ctx *cx, const void *state, size_t k, cr_hyper *out)
{
    const cri_classify *m = state;
    return k < cr_kernel_parameters(m->gp.kernel) ? cri_gp_hyper(cx, &m->gp, k, out)
                                                  : CR_OK; /* no noise */
}

/* The weight of the rows of each class at each input: counts [inputs x C]. */
static cr_status count_classes(cr_ctx *cx, const cri_classify *m, const cri_rows *rows,
                               const size_t *group, size_t C, double *counts)
{
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1, place = m->place[(size_t)rows->y[i]];
        if (!(w > 0)) continue;
        if (place < 0)
            return cr_fail(
                cx, CR_EDATA,
                "the rows have a class that those of the fit had none of: there is no evidence");
        counts[group[i] * C + (size_t)place] += w;
    }
    return CR_OK;
}

/* One evaluation; NaN where there is no value. */
static cr_status evaluate(cr_ctx *cx, cri_gp_objective *objective, void *method,
                          const cri_gp_problem *problem, const cr_kernel *k, double *out)
{
    cr_status st = objective(cx, method, problem, k, 0, out, NULL);
    if (st != CR_ENUMERIC) return st;
    *out = NAN;
    return CR_OK;
}

cr_status cri_classify_evidence_at(cr_ctx *cx, const void *state, const cri_rows *rows,
                                   const size_t *which, size_t n, const double *values,
                                   size_t count, double *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const cri_classify *m = state;
    size_t      C = m->F > 1 ? m->F : 2, z = m->gp.at.n, *group = cr_scratch_index(&s, rows->n);
    cri_gp_data inputs = { 0 };
    cr_kernel  *k = NULL;
    cri_laplace laplace;
    cri_svgp    sparse;

    CR_TRY(s.status);
    CR_TRY(cri_gp_data_add(cx, &inputs, rows, NULL, !m->gp.white, group));
    CR_TRY(cr_kernel_copy(cx, m->gp.kernel, &k));
    double           *counts = cr_scratch_bytes(&s, inputs.n * C, sizeof *counts), nothing = 0;
    cri_gp_problem    problem = { &inputs, 0, &nothing };
    cri_classify_data data = {
        .at = &inputs, .link = (cri_classify_link)m->link, .F = m->F, .C = C, .counts = counts
    };
    CR_TRY(s.status);
    CR_TRY(count_classes(cx, m, rows, group, C, counts));
    if (m->sparse) {
        double *L = cr_scratch_matrix(&s, z, z), *factor = cr_scratch_matrix(&s, m->F * z, z);
        CR_TRY(s.status);
        CR_TRY(cri_svgp_new(&s, &data, &m->gp.at, L, factor, &sparse));
    } else
        CR_TRY(cri_laplace_new(&s, &data, inputs.n, NULL, NULL, &laplace));
    for (size_t i = 0; i < count; i++) {
        CR_TRY(cr_check_interrupt(cx));
        for (size_t j = 0; j < n; j++)
            CR_TRY(cr_kernel_set_value(cx, k, which[j], values[i * n + j]));
        CR_TRY(evaluate(cx, m->sparse ? cri_svgp_objective : cri_laplace_objective,
                        m->sparse ? (void *)&sparse : &laplace, &problem, k, out + i));
    }
done:
    cr_kernel_free(cx, k);
    cri_gp_data_free(cx, &inputs);
    cr_scratch_end(&s);
    return st;
}
