/* crf_rows.c -- labels, weights and attributes of rows; the survey of all of them. */
#include "crf_rows.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

/* --- some rows ------------------------------------------------------------------------------- */

/* One weight for each sequence: its rows must have the same. */
static cr_status weigh_sequences(cr_ctx *cx, const cri_rows *rows, double *weight)
{
    const cri_sequences *q = rows->sequences;
    for (size_t k = 0; k < q->n; k++) {
        weight[k] = rows->w[q->row[q->start[k]]];
        for (size_t i = q->start[k]; i < q->start[k + 1]; i++) {
            if (rows->w[q->row[i]] == weight[k]) continue;
            cr_fail(
                cx, CR_EDATA,
                "the rows of a sequence have different weights, but crf weighs whole sequences");
            return cr_fail_hint(cx, "give all rows of a sequence the same weight");
        }
    }
    return CR_OK;
}

cr_status cri_crf_rows_open(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, cri_crf_making *making,
                            bool learn, cri_crf_rows *out)
{
    cr_status            st = CR_OK;
    const cri_sequences *q = rows->sequences;
    *out = (cri_crf_rows){ .y = cr_scratch_bytes(s, rows->n, sizeof *out->y),
                           .weight = rows->w ? cr_scratch_f64(s, q->n) : NULL };
    CR_TRY(s->status);
    if (rows->n >= UINT32_MAX)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "crf takes less than 2^32 rows"));
    if (out->weight) CR_TRY(weigh_sequences(cx, rows, out->weight));
    for (size_t i = 0; i < rows->n; i++) out->y[i] = (uint32_t)rows->y[q->row[i]];
    CR_TRY(cri_attribute_rows_open(cx, rows, making->list, making->n, &making->dictionary, learn,
                                   &out->attributes));
done:
    return st;
}

void cri_crf_rows_close(cr_ctx *cx, cri_crf_rows *r)
{
    cri_attribute_rows_free(cx, &r->attributes);
}

/* --- all rows -------------------------------------------------------------------------------- */

cr_status cri_crf_survey_open(cr_ctx *cx, size_t K, cri_crf_survey *out)
{
    *out = (cri_crf_survey){ .K = K, .classes = cr_alloc(cx, K, sizeof *out->classes) };
    return out->classes ? CR_OK : CR_ENOMEM;
}

void cri_crf_survey_free(cr_ctx *cx, cri_crf_survey *v)
{
    cr_free(cx, v->most, v->room, sizeof *v->most);
    cr_free(cx, v->seen, v->room * v->K, 1);
    cr_free(cx, v->classes, v->K, sizeof *v->classes);
    *v = (cri_crf_survey){ 0 };
}

/* Room for other numbers of attributes: both arrays, or neither. */
static cr_status make_room(cr_ctx *cx, cri_crf_survey *v, size_t room)
{
    double  *most = cr_alloc(cx, room, sizeof *most);
    uint8_t *seen = cr_alloc(cx, room * v->K, 1);
    if (!most || !seen) {
        cr_free(cx, most, room, sizeof *most);
        cr_free(cx, seen, room * v->K, 1);
        return CR_ENOMEM;
    }
    if (v->room) memcpy(most, v->most, v->room * sizeof *most);
    if (v->room) memcpy(seen, v->seen, v->room * v->K);
    cr_free(cx, v->most, v->room, sizeof *v->most);
    cr_free(cx, v->seen, v->room * v->K, 1);
    v->most = most, v->seen = seen, v->room = room;
    return CR_OK;
}

cr_status cri_crf_survey_add(cr_ctx *cx, const cri_rows *rows, const cri_crf_rows *r,
                             const cri_attributes *d, cri_crf_survey *v)
{
    const cri_attribute_rows *a = &r->attributes;
    const cri_sequences      *q = rows->sequences;
    if (d->capacity > v->room) {
        cr_status st = make_room(cx, v, d->capacity);
        if (st != CR_OK) return st;
    }
    for (size_t i = 0; i < a->n; i++)
        for (size_t e = a->start[i]; e < a->start[i + 1]; e++) {
            double size = a->value ? fabs(a->value[e]) : 1;
            v->most[a->which[e]] = fmax(v->most[a->which[e]], size);
            v->seen[a->which[e] * v->K + r->y[i]] = 1;
        }
    for (size_t k = 0; k < q->n; k++)
        for (size_t i = q->start[k]; i < q->start[k + 1]; i++)
            v->classes[r->y[i]] += r->weight ? r->weight[k] : 1;
    v->n += a->n;
    v->sequences += q->n;
    v->entries += a->start[a->n];
    return CR_OK;
}

cr_status cri_crf_survey_sort(cr_ctx *cx, cri_attributes *d, cri_crf_survey *v, uint32_t *to)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *most = cr_scratch_f64(&s, d->n);
    uint8_t   *seen = cr_scratch_bytes(&s, d->n * v->K, 1);
    CR_TRY(s.status);
    CR_TRY(cri_attributes_sort(cx, d, to));
    for (size_t a = 0; a < d->n; a++) {
        most[to[a]] = v->most[a];
        memcpy(seen + to[a] * v->K, v->seen + a * v->K, v->K);
    }
    if (d->n) memcpy(v->most, most, d->n * sizeof *most);
    if (d->n) memcpy(v->seen, seen, d->n * v->K);
done:
    cr_scratch_end(&s);
    return st;
}
