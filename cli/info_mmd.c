/* info_mmd.c -- info A B --mmd: do two files come from one distribution? */
#include "info_job.h"

#include <math.h>
#include <string.h>

enum { RELABELLINGS = 999 }; /* unless --permutations says else */

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t *mmd_object(const cr_mmd *g, const char *const *names, size_t n)
{
    json_t *o = json_object(), *columns = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(columns, json_string_nocheck(names[i]));
    json_object_set_new(o, "columns", columns);
    json_object_set_new(o, "kernel", json_string_nocheck(g->kernel));
    json_object_set_new(o, "method",
                        json_string(g->pairs   ? "pairs"
                                    : g->exact ? "all relabellings"
                                               : "relabellings"));
    json_object_set_new(o, "rows", json_integer((json_int_t)g->rows[0]));
    json_object_set_new(o, "rows_other", json_integer((json_int_t)g->rows[1]));
    json_object_set_new(o, "mmd2", number(g->unbiased));
    if (!g->pairs) json_object_set_new(o, "mmd2_biased", number(g->biased));
    if (g->pairs) json_object_set_new(o, "se", number(g->se));
    json_object_set_new(o, "p", number(g->p));
    if (!g->pairs) {
        json_object_set_new(o, "p_se", number(g->p_se));
        json_object_set_new(o, "permutations", json_integer((json_int_t)g->permutations));
    }
    return o;
}

cr_status info_mmd(info_job *j)
{
    cr_status      st = CR_OK;
    const char   **names = NULL;
    size_t         n = 0;
    cr_mmd         g;
    cr_mmd_options how = { .kernel = j->o->kernel && j->o->kernel[0] ? j->o->kernel : NULL,
                           .permutations = j->how.permutations ? j->how.permutations : RELABELLINGS,
                           .linear = j->o->linear };
    CR_TRY(info_columns(j, &names, &n));
    if (!j->o->columns) CR_TRY(info_common_columns(j, names, &n));
    CR_TRY(cr_table_mmd(j->c->cx, j->a, j->b, names, n, &how, j->seed, &g));
    info_tell_dropped(j, j->a, g.dropped[0]);
    info_tell_dropped(j, j->b, g.dropped[1]);
    json_t *one = mmd_object(&g, names, n);
    json_object_set(j->root, "mmd", one);
    json_array_append_new(j->rows, info_flat(one));
    json_decref(one);
    j->one = true;
    CR_TRY(info_title(j, "%s against %s: maximum mean discrepancy, seed %llu",
                      cr_table_source(j->a), cr_table_source(j->b), (unsigned long long)j->seed));
done:
    return st;
}
