/* gp_rivals.c -- the most promising of many points. */
#include "gp_rivals.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

cr_status cri_gp_rivals_new(cr_scratch *s, cri_gp_optimiser *run, size_t most, cri_gp_rivals *out)
{
    cri_gp_rivals r = { .run = run, .most = most };
    r.at = cr_scratch_bytes(s, most, sizeof *r.at);
    r.kind = cr_scratch_index(s, most);
    for (size_t i = 0; s->status == CR_OK && i < most; i++)
        r.at[i].x = cr_scratch_f64(s, run->space.size);
    *out = r;
    return s->status;
}

void cri_gp_rivals_clear(cri_gp_rivals *r, const cri_gp_point *from)
{
    for (size_t i = 0; i < r->most; i++) {
        r->kind[i] = SIZE_MAX;
        r->at[i].value = -INFINITY;
        r->at[i].iterations = from->iterations;
    }
}

static bool are_alike(const cri_gp_rivals *r, size_t a, size_t b)
{
    return a != SIZE_MAX && (a > b ? a - b : b - a) <= r->alike;
}

void cri_gp_rivals_keep(cri_gp_rivals *r, const double *x, double value, size_t kind)
{
    size_t at = r->most - 1;
    for (size_t i = r->most; i-- > 0;)
        if (are_alike(r, r->kind[i], kind)) at = i;
    if (!(value > r->at[at].value)) return;
    memcpy(r->at[at].x, x, r->run->space.size * sizeof *x);
    r->at[at].value = value;
    r->kind[at] = kind;
    for (; at > 0 && r->at[at].value > r->at[at - 1].value; at--) {
        cri_gp_point point = r->at[at];
        r->at[at] = r->at[at - 1], r->kind[at] = r->kind[at - 1];
        r->at[at - 1] = point, r->kind[at - 1] = kind;
    }
}

cr_status cri_gp_rivals_ascend(cri_gp_rivals *r, size_t most, cri_gp_point *best, bool *out_gained)
{
    cr_status st = CR_OK;
    bool      higher;
    *out_gained = false;
    for (size_t i = 0; i < r->most && i < most; i++) {
        if (isinf(r->at[i].value)) continue;
        CR_TRY(cri_gp_ascend_rival(r->run, &r->at[i], best, &higher));
        *out_gained |= higher;
    }
done:
    return st;
}
