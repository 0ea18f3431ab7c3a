/* line_kl.c -- E_p[log p / q] over x = location + scale sinh(u) of p: in u every tail, also that of
 * a Student-t with few degrees of freedom, falls exponentially. */
#include "line_kl.h"
#include "math/quadrature.h"

#include <math.h>

typedef struct pair {
    cri_line p, q;
    double   log_ratio; /* of the scales, p's over q's                          */
    bool     near;      /* integrate p log(p / q) - p + q, none of it negative  */
} pair;

enum { FAR = 300 }; /* |u| from which sinh(u) is only known by its logarithm */

static double in_tail(cri_line l, double log_z)
{
    return l.log_tail ? l.log_tail(l.shape, log_z) : -INFINITY;
}

static double integrand(double u, void *user)
{
    const pair *k = user;
    bool        far = fabs(u) > FAR;
    double      log_z = fabs(u) - M_LN2, log_slope = far ? log_z : log(cosh(u)), log_p, log_q;
    if (far) {
        log_p = in_tail(k->p, log_z);
        log_q = in_tail(k->q, log_z + k->log_ratio);
    } else {
        double z = sinh(u), off = (k->p.location - k->q.location) / k->q.scale;
        log_p = k->p.log_density(k->p.shape, z);
        log_q = k->q.log_density(k->q.shape, off + k->p.scale / k->q.scale * z);
    }
    log_p += log_slope, log_q += log_slope + k->log_ratio;
    double mass = exp(log_p), gain = log_p - log_q;
    if (!k->near) return mass > 0 ? mass * gain : 0;
    if (mass == 0) return exp(log_q);
    return fabs(gain) < 1 ? mass * (expm1(-gain) + gain) : exp(log_q) - mass + mass * gain;
}

static cr_status integrate(cr_ctx *cx, pair *k, double absolute, double relative, double *out)
{
    cr_status st = CR_OK;
    double    part = 0, sum = 0, other = asinh((k->q.location - k->p.location) / k->p.scale);
    double    cut[] = { -INFINITY, fmin(0, other), fmax(0, other), INFINITY };
    for (size_t i = 0; i < 3; i++) {
        if (cut[i] == cut[i + 1]) continue;
        CR_TRY(cr_integrate(cx, integrand, k, cut[i], cut[i + 1], absolute, relative, &part, NULL));
        sum += part;
    }
    *out = sum;
done:
    return st;
}

/* Where the two are alike, what is integrated has no negative part and keeps its digits; where they
 * are not, q may stand where nothing of p is, and only p's own places are looked at. */
cr_status cri_line_kl(cr_ctx *cx, const char *name, cri_line p, cri_line q, double *out)
{
    cr_status st = CR_OK;
    pair      k = { p, q, log(p.scale) - log(q.scale), false };
    double    kl = 0;
    if (p.shape == q.shape && p.location == q.location && p.scale == q.scale) goto done;
    st = integrate(cx, &k, 1e-10, 1e-12, &kl);
    k.near = kl < 0.05;
    if (st == CR_OK && k.near) st = integrate(cx, &k, 1e-17, 1e-11, &kl);
    if (st == CR_ENUMERIC)
        CR_TRY(cr_fail(cx, st, "%s: the integral of the divergence does not converge", name));
    CR_TRY(st);
done:
    if (st == CR_OK) *out = fmax(0, kl);
    return st;
}
