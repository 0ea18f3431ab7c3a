/* gp_fit.c -- steps of a fit that methods share. */
#include "gp_fit.h"
#include "models/gp/search/gp_optima.h"

#include <math.h>

/* --- checks ---------------------------------------------------------------------------------- */

cr_status cri_gp_check_noise_free(cr_ctx *cx, const cri_gp_fit *f)
{
    const cri_gp_posterior *m = f->m;
    const cri_gp_data      *data = &f->data;
    const cri_rows         *rows = f->rows;
    if (m->noise != 0 || m->noise_learned || m->white) return CR_OK;
    for (size_t i = 0; i < rows->n; i++) {
        if (rows->w && !(rows->w[i] > 0)) continue;
        size_t g = f->group[i], row = rows->index ? rows->index[i] : i;
        if (row == data->first[g]) continue;
        if (fabs(rows->y[i] - data->y[g]) <= 1e-12 * fabs(data->y[g])) continue;
        cr_fail(cx, CR_EDATA,
                "rows %zu and %zu have the same inputs but different targets, which is impossible "
                "without noise",
                data->first[g] + 1, row + 1);
        return cr_fail_hint(cx, "leave out --noise 0, so that the noise is learned");
    }
    return CR_OK;
}

cr_status cri_gp_check_sparse(cr_ctx *cx, const cri_gp_fit *f)
{
    cr_status st = cri_gp_check_noise_free(cx, f);
    if (st == CR_OK && f->m->white)
        st = cr_fail(cx, CR_EUNSUPPORTED,
                     "a sparse Gaussian process takes its noise from --noise, not "
                     "from a white kernel");
    if (st == CR_OK && f->m->noise == 0)
        st = cr_fail(cx, CR_EUNSUPPORTED, "a sparse Gaussian process needs noise above 0");
    return st;
}

/* --- learning -------------------------------------------------------------------------------- */

cr_status cri_gp_open_search(cr_scratch *s, cri_gp_fit *f, size_t most)
{
    const cri_gp_posterior *m = f->m;
    size_t                  n = f->problem.data->n, few = n < most ? n : most;
    cri_gp_exact_workspace *w = cr_scratch_bytes(s, 1, sizeof *w);
    if (!w) return s->status;
    *w = (cri_gp_exact_workspace){ cr_scratch_matrix(s, few, few), cri_gp_posterior_solution(m) };
    w->solution.alpha = cr_scratch_f64(s, few);
    w->solution.U = cr_scratch_matrix(s, few, m->q);
    f->learning.search_objective = cri_gp_exact_objective;
    f->learning.search_workspace = w;
    return s->status;
}

cr_status cri_gp_learn_from_few(cr_ctx *cx, cri_gp_fit *f, size_t most, cri_gp_learned *learned,
                                bool *out_all)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cri_gp_data     part = { 0 };
    cri_gp_problem  few;
    cri_gp_learning search = f->learning;

    CR_TRY(cri_gp_draw_problem(&s, &f->problem, most, f->seed, &part, &few));
    search.problem = &few;
    search.objective = search.search_objective;
    search.workspace = search.search_workspace;
    CR_TRY(cri_gp_learn(cx, &search, f->m->kernel, &f->m->noise, learned));
    *out_all = part.n == f->problem.data->n;
done:
    cri_gp_data_free(cx, &part);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_learn_all(cr_ctx *cx, cri_gp_fit *f, cri_gp_learned *learned)
{
    return cri_gp_learn(cx, &f->learning, f->m->kernel, &f->m->noise, learned);
}
