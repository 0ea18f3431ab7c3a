/* leaps.c -- see leaps.h. */
#include "leaps.h"

/* How many differences are kept, and how many there must be. */
enum { MOST = 6, LEAST = 2 };

void cri_leaps_begin(cr_scratch *s, const cri_em_face *face, const void *state, cri_leaps *out)
{
    *out = (cri_leaps){ .face = face, .n = face->dimension ? face->dimension(state) : 0 };
    if (out->n == 0) return;
    out->from = cr_scratch_f64(s, out->n);
    out->to = cr_scratch_f64(s, out->n);
    out->next = cr_scratch_f64(s, out->n);
    cri_anderson_begin(s, out->n, MOST, &out->differences);
}

void cri_leaps_from(cri_leaps *l, const void *state)
{
    l->leapt = false;
    if (l->n > 0) l->face->to_vector(state, l->from);
}

cr_status cri_leaps_back(cr_ctx *cx, cri_leaps *l, void *state)
{
    bool valid;
    cri_anderson_forget(&l->differences);
    l->leapt = false;
    return l->face->from_vector(cx, l->to, state, &valid);
}

cr_status cri_leaps_on(cr_ctx *cx, cri_leaps *l, void *state)
{
    cr_status st = CR_OK;
    if (l->n == 0) goto done;
    l->face->to_vector(state, l->to);
    cri_anderson_note(&l->differences, l->from, l->to);
    if (l->differences.k < LEAST) goto done;
    CR_TRY(cri_anderson_next(cx, &l->differences, l->next));
    CR_TRY(l->face->from_vector(cx, l->next, state, &l->leapt));
    if (!l->leapt) CR_TRY(cri_leaps_back(cx, l, state));
done:
    return st;
}
