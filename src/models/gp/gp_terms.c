/* gp_terms.c -- the terms of a sum, each in turn, at another length and amplitude. */
#include "gp_climb.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

enum { LENGTHS = 6, SIZES = 3, ROUNDS = 3, TRIES = 2, GLANCE = 12 };
static const double lengths[LENGTHS] = { 0.005, 0.02, 0.06, 0.2, 0.6, 2 };
static const double ENOUGH = 0.01; /* a gain that is worth another round */

typedef struct renewal {
    double *x, value;
    size_t  term;
} renewal;

/* Sizes of a term, between the noise and the variance of the target: logarithm of its amplitude against its unit. */
static double size_at(const cri_gp_search *u, const double *x, size_t number)
{
    double quiet = u->size > u->p ? fmin(x[u->p] - log(u->variance), log(0.1)) : log(0.01);
    return quiet * (double)number / (SIZES - 1);
}

/* true when the term has a length of its own. */
static bool has_length(const cri_gp_search *u, size_t term)
{
    for (size_t j = 0; j < u->p; j++)
        if (u->term[j] == term && u->kind[j] == CRI_GP_LENGTH) return true;
    return false;
}

/* z := x with one term anew. */
static void renew(const cri_gp_search *u, const double *x, size_t term, double length, double size, double *z)
{
    memcpy(z, x, u->size * sizeof *z);
    for (size_t j = 0; j < u->p; j++) {
        if (u->term[j] != term) continue;
        z[j] = u->kind[j] == CRI_GP_LENGTH      ? u->unit[j] + (double)term * CRI_GP_APART + log(length)
               : u->kind[j] == CRI_GP_AMPLITUDE ? u->unit[j] + size
                                                : u->given[j];
        z[j] = fmin(fmax(z[j], u->lower[j]), u->upper[j]);
    }
}

/* Puts z among the best, at most one for each term: best [TRIES], descending. */
static void rank(const cri_gp_search *u, renewal *best, size_t term, const double *z, double value)
{
    size_t at = TRIES - 1;
    for (size_t i = 0; i < TRIES; i++)
        if (best[i].term == term) at = i;
    if (!(value > best[at].value)) return;
    memcpy(best[at].x, z, u->size * sizeof *z);
    best[at].value = value;
    best[at].term = term;
    for (; at > 0 && best[at].value > best[at - 1].value; at--) {
        renewal keep = best[at];
        best[at] = best[at - 1];
        best[at - 1] = keep;
    }
}

static cr_status try_terms(cri_gp_run *r, const double *x, double *z, renewal *best)
{
    cr_status            st = CR_OK;
    const cri_gp_search *u = &r->search;
    for (size_t i = 0; i < TRIES; i++) best[i].value = -INFINITY, best[i].term = SIZE_MAX;
    for (size_t t = 0; t < u->terms; t++)
        for (size_t l = 0; has_length(u, t) && l < LENGTHS; l++)
            for (size_t i = 0; i < SIZES; i++) {
                double value;
                renew(u, x, t, lengths[l], size_at(u, x, i), z);
                CR_TRY(cri_gp_try(r, z, false, &value));
                rank(u, best, t, z, value);
            }
done:
    return st;
}

cr_status cri_gp_renew_terms(cri_gp_run *r, double *x, double *value, cri_gp_learned *report)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(r->cx);
    const cri_gp_search *u = &r->search;
    double              *z = cr_scratch_f64(&s, u->size);
    renewal              best[TRIES];
    bool                 gained = u->terms > 1, converged = report->converged;

    for (size_t i = 0; i < TRIES; i++) best[i].x = cr_scratch_f64(&s, u->size);
    CR_TRY(s.status);
    for (size_t round = 0; gained && round < ROUNDS; round++) {
        gained = false;
        CR_TRY(try_terms(r, x, z, best));
        for (size_t i = 0; i < TRIES && !isinf(best[i].value); i++) {
            CR_TRY(cri_gp_climb(r, false, GLANCE, NULL, best[i].x, &best[i].value, report));
            if (!(best[i].value > *value - 1)) continue;
            CR_TRY(cri_gp_climb(r, false, r->task->max_iter, NULL, best[i].x, &best[i].value, report));
            if (!(best[i].value > *value + ENOUGH)) continue;
            gained = true;
            converged = report->converged;
            *value = best[i].value;
            memcpy(x, best[i].x, u->size * sizeof *x);
        }
    }
done:
    report->converged = converged;
    cr_scratch_end(&s);
    return st;
}
