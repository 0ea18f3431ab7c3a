/* rvm_down.c -- from all functions down.
 * All a are re-estimated at once by MacKay's rule, a_m = g_m s^2 / mu_m^2 with g_m = 1 - a_m H_mm, how well the rows
 * determine the weight; functions of which they determine next to nothing go. */
#include "rvm_gauss.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 500 };
static const double IDLE = 1e-2, SETTLED = 0.3; /* as known as a share; a gain of log evidence */

/* P and the lists of all functions. */
static cr_status fill(cr_ctx *cx, cri_rvm_gauss *g, double strength)
{
    cr_status st = CR_OK;
    size_t    C = g->basis->C;
    double    sum = 0;
    CR_TRY(cri_rvm_gauss_reserve(cx, g, C));
    if (C) memcpy(g->P, g->basis->gram, C * C * sizeof *g->P);
    for (size_t c = 0; c < C; c++) sum += g->diag[c] / g->count;
    for (size_t c = 0; c < C; c++) {
        g->at[c] = g->place[c] = c;
        g->a[c] = strength * sum;
    }
    g->M = C;
done:
    return st;
}

cr_status cri_rvm_gauss_down(cr_ctx *cx, cri_rvm_gauss *g, double strength,
                             const cri_rvm_limits *limits)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool      *keep = cr_scratch_bytes(&s, g->basis->C, sizeof *keep);
    double     last = -INFINITY;
    CR_TRY(s.status);
    CR_TRY(fill(cx, g, strength));
    for (size_t round = 0; round < ROUNDS && g->M > 0; round++, g->steps++) {
        size_t going = 0;
        CR_TRY(cr_check_interrupt(cx));
        if (cri_clock_over(&limits->clock)) break;
        CR_TRY(cri_rvm_gauss_factor(cx, g));
        double noise = cri_rvm_gauss_noise(g, g->E), now = cri_rvm_gauss_evidence(g);
        for (size_t m = 0; m < g->M; m++) {
            double known = 1 - g->a[m] * g->H[m * g->capacity + m];
            keep[m] = known > IDLE;
            going += !keep[m];
            if (keep[m])
                g->a[m] = fmax(known * noise / (g->mu[m] * g->mu[m]), 1e-14 * g->diag[g->at[m]]);
        }
        if (going) cri_rvm_gauss_thin(g, keep);
        if (!going && now - last < SETTLED) break;
        last = now;
    }
done:
    cr_scratch_end(&s);
    return st;
}
