/* info_mmd.c -- info A B --mmd: do two files come from one distribution? */
#include "info_job.h"

enum { RELABELLINGS = 999 }; /* unless --permutations says else */

static void put_mmd(const cr_mmd *g, cri_sheet *o)
{
    cri_put_text(o, "kernel", g->kernel);
    cri_put_text(o, "method", g->pairs ? "pairs" : g->exact ? "all relabellings" : "relabellings");
    cri_put_count(o, "rows", g->rows[0]);
    cri_put_count(o, "rows_other", g->rows[1]);
    cri_put_real(o, "mmd2", g->unbiased);
    if (!g->pairs) cri_put_real(o, "mmd2_biased", g->biased);
    if (g->pairs) cri_put_real(o, "se", g->se);
    cri_put_real(o, "p", g->p);
    if (!g->pairs) {
        cri_put_real(o, "p_se", g->p_se);
        cri_put_count(o, "permutations", g->permutations);
    }
}

cr_status info_mmd(info_job *j)
{
    cr_status      st = CR_OK;
    const char   **names = NULL;
    size_t         n = 0;
    cr_mmd         g;
    cri_sheet     *one;
    cr_mmd_options how = { .kernel = j->o->kernel && j->o->kernel[0] ? j->o->kernel : NULL,
                           .permutations = j->how.permutations ? j->how.permutations : RELABELLINGS,
                           .linear = j->o->linear };
    CR_TRY(info_columns(j, &names, &n));
    if (!j->o->columns) CR_TRY(info_common_columns(j, names, &n));
    CR_TRY(cr_table_mmd(j->c->cx, j->a, j->b, names, n, &how, j->seed, &g));
    info_tell_dropped(j, j->a, g.dropped[0]);
    info_tell_dropped(j, j->b, g.dropped[1]);
    one = cri_put_object(j->r.object, "mmd");
    info_put_texts(one, "columns", names, n);
    put_mmd(&g, one);
    info_put_row(j, one);
    cli_result_title(j->r, "%s against %s: maximum mean discrepancy, seed %llu",
                     cr_table_source(j->a), cr_table_source(j->b), (unsigned long long)j->seed);
done:
    return st;
}
