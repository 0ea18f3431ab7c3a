/* classify_evidence.c -- the evidence of a classifier over its hyper-parameters. */
#include "classify.h"
#include "classify_ep.h"
#include "classify_sparse.h"
#include "models/gp/posterior/gp_method.h"

cr_status cri_classify_hyper(cr_ctx *cx, const void *state, size_t k, cr_hyper *out)
{
    const cri_classify *m = state;
    return k < cr_kernel_parameters(m->gp.kernel) ? cri_gp_hyper(cx, &m->gp, k, out)
                                                  : CR_OK; /* no noise */
}

cr_status cri_classify_count(cr_scratch *s, const cri_classify *m, const cri_gp_data *at,
                             const cri_rows *rows, const size_t *group, cri_classify_data *out)
{
    size_t  C = m->F > 1 ? m->F : 2;
    double *counts = cr_scratch_bytes(s, at->n * C, sizeof *counts);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1, place = m->place[(size_t)rows->y[i]];
        if (!(w > 0)) continue;
        if (place < 0)
            return cr_fail(s->cx, CR_EDATA,
                           "the rows have a class that was not in the fit: there is no evidence");
        counts[group[i] * C + (size_t)place] += w;
    }
    *out = (cri_classify_data){
        .at = at, .link = (cri_classify_link)m->link, .F = m->F, .C = C, .counts = counts
    };
    return CR_OK;
}

cr_status cri_classify_evidence_at(cr_ctx *cx, const void *state, const cri_rows *rows,
                                   const size_t *which, size_t n, const double *values,
                                   size_t count, double *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const cri_classify *m = state;
    size_t              z = m->gp.at.n, *group = cr_scratch_index(&s, rows->n);
    double              nothing = 0;
    cri_gp_data         inputs = { 0 };
    cri_gp_problem      problem = { &inputs, 0, &nothing };
    cri_classify_data   data;
    cr_kernel          *k = NULL;
    bool                by_ep = m->infer == CRI_CLASSIFY_EP;
    cri_laplace         laplace;
    cri_svgp            sparse;
    cri_ep              ep;

    CR_TRY(s.status);
    CR_TRY(cri_gp_data_add(cx, &inputs, rows, NULL, !m->gp.white, group));
    CR_TRY(cr_kernel_copy(cx, m->gp.kernel, &k));
    CR_TRY(cri_classify_count(&s, m, &inputs, rows, group, &data));
    if (m->sparse) {
        double *L = cr_scratch_matrix(&s, z, z), *factor = cr_scratch_matrix(&s, m->F * z, z);
        CR_TRY(s.status);
        CR_TRY(cri_svgp_new(&s, &data, &m->gp.at, L, factor, &sparse));
    } else
        CR_TRY(cri_laplace_new(&s, &data, inputs.n, NULL, NULL, &laplace));
    if (by_ep) CR_TRY(cri_ep_new(&s, &laplace, inputs.n, &ep));
    cri_gp_learning learning = { .problem = &problem,
                                 .objective = m->sparse ? cri_svgp_objective
                                              : by_ep   ? cri_ep_objective
                                                        : cri_laplace_objective,
                                 .workspace = m->sparse ? (void *)&sparse
                                              : by_ep   ? (void *)&ep
                                                        : &laplace };
    CR_TRY(cri_gp_evaluate_at(cx, &learning, k, 0, which, n, values, count, out));
done:
    cr_kernel_free(cx, k);
    cri_gp_data_free(cx, &inputs);
    cr_scratch_end(&s);
    return st;
}
