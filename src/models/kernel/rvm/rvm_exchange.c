/* rvm_exchange.c -- away from an end of single steps.
 * Two functions that are nearly the same share one weight at no cost, and no single step takes either out; functions
 * that came early may do what others would do better.  Each in turn, the one that matters least first, is taken out and
 * banned while the others settle. */
#include "rvm_classes.h"
#include "base/sort.h"

#include <math.h>

enum { SETTLE = 30, ROUNDS = 3 };
static const double MOST = 20; /* a larger loss of log evidence is not made up for */

typedef struct candidate {
    double loss;
    size_t c;
} candidate;

CRI_COMPARE_BY_TWO(compare_candidates, candidate, loss, c);

/* One trial; *out_kept: it is better without c.  before: a copy of g. */
static cr_status try_without(cr_ctx *cx, cri_rvm_gauss *g, const cri_rvm_gauss *before, size_t c,
                             const cri_rvm_limits *limits, bool *out_kept)
{
    cr_status      st = CR_OK;
    cri_rvm_limits some = *limits;
    double         gain, was = cri_rvm_gauss_evidence(before);

    some.max_steps = SETTLE;
    g->banned = c;
    CR_TRY(cri_rvm_gauss_drop(cx, g, g->place[c]));
    CR_TRY(cri_rvm_gauss_settle(cx, g, &some));
    gain = cri_rvm_gauss_evidence(g) - was;
    if (gain > -limits->tol) {
        CR_TRY(cri_rvm_gauss_refresh(cx, g));
        gain = cri_rvm_gauss_evidence(g) - was;
    }
    *out_kept = gain > limits->tol || (gain > -limits->tol && g->M < before->M);
done:
    g->banned = SIZE_MAX;
    return st;
}

cr_status cri_rvm_gauss_exchange(cr_ctx *cx, cri_rvm_gauss *g, const cri_rvm_limits *limits)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cri_rvm_gauss before = { 0 };
    candidate    *list = cr_scratch_bytes(&s, g->basis->C, sizeof *list);
    CR_TRY(s.status);
    CR_TRY(cri_rvm_gauss_copy(cx, g, &before));
    for (size_t round = 0, kept = 1; round < ROUNDS && kept; round++) {
        size_t n = 0;
        for (size_t m = 0; m < g->M; m++) {
            double loss = cri_rvm_gauss_loss(g, m);
            if (loss < MOST) list[n++] = (candidate){ loss, g->at[m] };
        }
        if (n) qsort(list, n, sizeof *list, compare_candidates);
        kept = 0;
        for (size_t i = 0; i < n; i++) {
            bool better = false;
            if (g->place[list[i].c] == SIZE_MAX) continue;
            if (cri_clock_over(&limits->clock)) goto done;
            CR_TRY(try_without(cx, g, &before, list[i].c, limits, &better));
            CR_TRY(better ? cri_rvm_gauss_copy(cx, g, &before)
                          : cri_rvm_gauss_copy(cx, &before, g));
            kept += better;
        }
    }
done:
    cri_rvm_gauss_free(cx, &before);
    cr_scratch_end(&s);
    return st;
}

/* --- the same of classes --------------------------------------------------------------------- */

static cr_status try_classes_without(cr_ctx *cx, cri_rvm_classes *z, const cri_rvm_classes *before,
                                     size_t c, const cri_rvm_limits *limits, bool *out_kept)
{
    cr_status      st = CR_OK;
    cri_rvm_limits some = *limits;
    cr_stop        stop;
    some.max_steps = SETTLE;
    z->banned = c;
    CR_TRY(cri_rvm_classes_drop(cx, z, z->place[c]));
    CR_TRY(cri_rvm_classes_climb(cx, z, &some, &stop));
    double gain = z->evidence - before->evidence;
    *out_kept = gain > limits->tol || (gain > -limits->tol && z->M < before->M);
done:
    z->banned = SIZE_MAX;
    return st;
}

cr_status cri_rvm_classes_exchange(cr_ctx *cx, cri_rvm_classes *z, const cri_rvm_limits *limits)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cri_rvm_classes before = { 0 };
    candidate      *list = cr_scratch_bytes(&s, z->F * z->basis->C, sizeof *list);
    CR_TRY(s.status);
    CR_TRY(cri_rvm_classes_copy(cx, z, &before));
    for (size_t round = 0, kept = 1; round < ROUNDS && kept; round++) {
        size_t n = 0;
        for (size_t m = 0; m < z->M; m++) {
            double loss = cri_rvm_classes_loss(z, m);
            if (loss < MOST) list[n++] = (candidate){ loss, z->at[m] };
        }
        if (n) qsort(list, n, sizeof *list, compare_candidates);
        kept = 0;
        for (size_t i = 0; i < n; i++) {
            bool better = false;
            if (z->place[list[i].c] == SIZE_MAX) continue;
            if (cri_clock_over(&limits->clock)) goto done;
            CR_TRY(try_classes_without(cx, z, &before, list[i].c, limits, &better));
            CR_TRY(better ? cri_rvm_classes_copy(cx, z, &before)
                          : cri_rvm_classes_copy(cx, &before, z));
            kept += better;
        }
    }
done:
    cri_rvm_classes_free(cx, &before);
    cr_scratch_end(&s);
    return st;
}
