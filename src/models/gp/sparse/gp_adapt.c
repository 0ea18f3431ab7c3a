/* gp_adapt.c -- from the optimum of some rows to a start for a bound. */
#include "models/gp/search/gp_optimiser.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { LOUDER = 5, LOUDEST = 20 };

/* The noise goes up by fours, until it is as loud as the target. */
cr_status cri_gp_adapt_point(cri_gp_optimiser *r, double *x, double *best)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(r->cx);
    const cri_gp_space *u = &r->space;
    double             *from = cr_scratch_f64(&s, u->size), *z = cr_scratch_f64(&s, u->size);
    double              up = u->size > u->p ? (log(u->variance) - x[u->p]) / log(4) : 0;
    int                 levels = (int)fmin(fmax(ceil(up) + 1, LOUDER), LOUDEST);

    CR_TRY(s.status);
    memcpy(from, x, u->size * sizeof *x);
    *best = -INFINITY;
    for (int step = 0; step < 3 * levels; step++) {
        double value, wider = step % 3 == 1 ? log(2) : 0, smaller = step % 3 == 2 ? log(0.1) : 0;
        int    level = step / 3;
        double louder = level * log(4);
        for (size_t j = 0; j < u->size; j++) {
            z[j] = from[j] + (u->kind[j] == CRI_GP_LENGTH      ? wider
                              : u->kind[j] == CRI_GP_AMPLITUDE ? smaller
                              : u->kind[j] == CRI_GP_NOISE     ? louder
                                                               : 0);
            z[j] = fmin(fmax(z[j], u->lower[j]), u->upper[j]);
        }
        CR_TRY(cri_gp_try(r, z, false, &value));
        if (value <= *best) continue;
        *best = value;
        memcpy(x, z, u->size * sizeof *x);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_adapt(cr_ctx *cx, const cri_gp_learning *learning, cr_kernel *k, double *noise)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           p = cr_kernel_theta_size(k);
    double          *x = cr_scratch_f64(&s, p + 1), best;
    cri_gp_optimiser r = { .cx = cx };

    CR_TRY(cri_gp_optimiser_begin(&s, learning, k, *noise, &r));
    cr_kernel_theta(k, x);
    x[p] = *noise > 0 ? log(*noise) : 0;
    if (r.space.size == 0) goto done;
    CR_TRY(cri_gp_adapt_point(&r, x, &best));
    if (isinf(best)) goto done;
    CR_TRY(cr_kernel_set_theta(cx, k, x));
    if (learning->learn_noise) *noise = exp(x[p]);
done:
    cri_gp_optimiser_end(&r);
    cr_scratch_end(&s);
    return st;
}
