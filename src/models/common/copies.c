/* copies.c -- see copies.h. */
#include "copies.h"
#include "base/context_internal.h"
#include "base/hash.h"
#include "data/judge/copies.h"

/* Rows of weight, with the hash of their features. */
static cr_status list_rows(cr_scratch *s, const cri_rows *rows, cri_keyed_row *list, size_t *out_n)
{
    double *x = cr_scratch_f64(s, rows->p);
    size_t  n = 0;
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        if (!(w > 0)) continue;
        cri_rows_fill(rows, i, i + 1, x, rows->p);
        list[n] = (cri_keyed_row){ .key = 0, .y = rows->y[i], .w = w, .row = i };
        for (size_t j = 0; j < rows->p; j++) list[n].key = cri_hash_double(list[n].key, x[j]);
        n++;
    }
    *out_n = n;
    return CR_OK;
}

cr_status cri_copies_merge(cr_scratch *s, const cri_rows *rows, cri_rows *out)
{
    cri_keyed_row *list = cr_scratch_bytes(s, rows->n, sizeof *list);
    size_t        *which = cr_scratch_index(s, rows->n), n, all;
    double         weight = 0;
    *out = *rows;
    if (s->status != CR_OK) return s->status;
    if (!rows->y || cr_design_classes(rows->design) > 0) return CR_OK;
    cr_status st = list_rows(s, rows, list, &n);
    all = n;
    if (st != CR_OK || !cri_copies_merge_keyed(list, &n)) return st;
    for (size_t i = 0; i < n; i++) which[i] = list[i].row, weight += list[i].w;
    cri_rows view = cri_rows_pick(s, rows, which, n);
    view.w = cr_scratch_f64(s, n);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < n; i++) view.w[i] = list[i].w * ((double)n / weight);
    view.whole = true;
    *out = view;
    cr_log(s->cx, CR_LOG_WARNING,
           "%zu rows with a total weight of %g are copies of %zu observations, as rows of equal "
           "features never differ in the target: an observation is held out with all its copies, "
           "and weights count in their ratios alone",
           all, weight, n);
    return CR_OK;
}

cr_status cri_fit_observations(cr_ctx *cx, cri_fit_rows *fit, const cri_rows *rows,
                               const void *options, uint64_t seed, void **out_state,
                               cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_rows   observations;
    CR_TRY(cri_copies_merge(&s, rows, &observations));
    CR_TRY(fit(cx, &observations, options, seed, out_state, report));
done:
    cr_scratch_end(&s);
    return st;
}
