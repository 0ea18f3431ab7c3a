/* selection_about.c -- a selection as it is shown. */
#include "selection.h"
#include "predictor.h"

#include <math.h>

#define CRI_TYPE cri_selection
const cri_member cri_selection_record[] = { CRI_SELECTION(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

/* --- describe -------------------------------------------------------------------------------- */

static double known(double x) { return x < 0 ? NAN : x; }

static cr_status describe_terms(cr_ctx *cx, const cri_selection *s, size_t k, const cr_design *d,
                                json_t *item)
{
    cr_status st = CR_OK;
    json_t   *names = json_array();
    CR_TRY(cri_store_set(cx, item, "terms", names));
    for (size_t j = 0; j < s->p; j++)
        if (s->member[k * s->p + j] != 0)
            CR_TRY(cri_store_append(cx, names, json_string_nocheck(cr_design_term_name(d, j))));
done:
    return st;
}

cr_status cri_selection_describe(cr_ctx *cx, const cri_selection *s, const cr_design *design,
                                 json_t *out)
{
    cr_status st = CR_OK;
    json_t   *list = json_array();
    double    unit = design->target_scale, square = unit * unit, n = s->weight;
    CR_TRY(cri_store_set(cx, out, "subsets", list));
    for (size_t k = 0; k < s->sizes; k++) {
        if (s->rss[k] < 0) continue;
        json_t *item = json_object();
        double  r2 = s->tss > 0 ? 1 - s->rss[k] / s->tss : NAN;
        double  aic = cri_selection_information(s, k, 2, log(unit));
        double  bic = cri_selection_information(s, k, log(n), log(unit));
        CR_TRY(cri_store_append(cx, list, item));
        CR_TRY(cri_store_set(cx, item, "size", json_integer((json_int_t)k)));
        CR_TRY(cri_store_set(cx, item, "rss", cri_json_number(s->rss[k] * square)));
        CR_TRY(cri_store_set(cx, item, "r2", cri_json_number(r2)));
        CR_TRY(cri_store_set(cx, item, "adjusted_r2",
                             cri_json_number(cri_selection_adjusted_r2(s, k))));
        CR_TRY(cri_store_set(cx, item, "aic", cri_json_number(aic)));
        CR_TRY(cri_store_set(cx, item, "bic", cri_json_number(bic)));
        CR_TRY(cri_store_set(cx, item, "cv", cri_json_number(known(s->cv[k]) * square)));
        CR_TRY(cri_store_set(cx, item, "cv_se", cri_json_number(known(s->cv_se[k]) * square)));
        CR_TRY(cri_store_set(cx, item, "chosen", json_boolean(k == s->size)));
        CR_TRY(describe_terms(cx, s, k, design, item));
    }
done:
    return st;
}
