/* kalman_settings.c -- answers of a model that is averaged over settings of its parameters: those at each, mixed. */
#include "kalman.h"
#include "base/context_internal.h"

#include <string.h>

/* --- one setting ----------------------------------------------------------------------------- */

void cri_kalman_take_places(const kalman_state *m, size_t h, const double *places, size_t n,
                            double *out)
{
    size_t width = cri_kalman_width(m);
    for (size_t k = 0; k < n; k++)
        memcpy(out + k * width, places + k * m->width + h * width, width * sizeof *out);
}

void cri_kalman_put_places(const kalman_state *m, size_t h, const double *own, size_t n,
                           double *places)
{
    size_t width = cri_kalman_width(m);
    for (size_t k = 0; k < n; k++)
        memcpy(places + k * m->width + h * width, own + k * width, width * sizeof *own);
}

cr_status cri_kalman_view(cr_scratch *s, const kalman_state *m, size_t h, kalman_state *out)
{
    kalman_state one = *m;
    one.settings = 0;
    one.width = cri_kalman_width(m);
    one.theta = cr_scratch_f64(s, m->n_theta);
    one.places = cr_scratch_matrix(s, m->series, one.width);
    one.coefficient = cr_scratch_f64(s, m->k);
    one.coefficient_sd = cr_scratch_f64(s, m->k);
    if (s->status != CR_OK) return s->status;
    if (m->n_theta > 0)
        memcpy(one.theta, h == 0 ? m->theta : m->setting + (h - 1) * m->n_theta,
               m->n_theta * sizeof(double));
    cri_kalman_take_places(m, h, m->places, m->series, one.places);
    *out = one;
    return CR_OK;
}

/* --- the mixture ----------------------------------------------------------------------------- */

/* Sums over the settings, [n] each: of powers of d, the mean less that of the first setting, and of the variance V. */
typedef struct moments {
    double *origin, *d1, *d2, *d3, *d4, *V, *VV, *dV, *ddV;
} moments;

static cr_status open_moments(cr_scratch *s, size_t n, moments *out)
{
    double **each[] = { &out->origin, &out->d1, &out->d2, &out->d3, &out->d4,
                        &out->V,      &out->VV, &out->dV, &out->ddV };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        *each[i] = cr_scratch_bytes(s, n, sizeof(double));
    return s->status;
}

/* What a t of these degrees of freedom has for a variance, by its squared scale; 1 where it has no fourth moment, for then
 * squared scales are mixed. */
static double unfold(double dof) { return dof > 4 ? dof / (dof - 2) : 1; }

static void add_setting(moments *m, const cr_prediction *one, size_t n, double share, double dof,
                        bool first)
{
    for (size_t i = 0; i < n; i++) {
        if (first) m->origin[i] = one->mean[i];
        double d = one->mean[i] - m->origin[i];
        m->d1[i] += share * d;
        if (!one->scale) continue;
        double V = one->scale[i] * one->scale[i] * unfold(dof);
        m->d2[i] += share * d * d;
        m->d3[i] += share * d * d * d;
        m->d4[i] += share * d * d * d * d;
        m->V[i] += share * V;
        m->VV[i] += share * V * V;
        m->dV[i] += share * d * V;
        m->ddV[i] += share * d * d * V;
    }
}

/* Student's t with the moments of the mixture of t's of `dof` degrees of freedom. */
static void read_moments(const moments *m, size_t i, double dof, cr_prediction *out)
{
    double c = m->d1[i], d2 = fmax(0, m->d2[i] - c * c);
    out->mean[i] = m->origin[i] + c;
    if (!out->scale) return;
    double variance = m->V[i] + d2, fits = dof;
    if (dof > 4 && variance > 0) {
        double d4 = m->d4[i] - 4 * c * m->d3[i] + 6 * c * c * m->d2[i] - 3 * c * c * c * c;
        double ddV = m->ddV[i] - 2 * c * m->dV[i] + c * c * m->V[i];
        double fourth = d4 + 6 * ddV + 3 * m->VV[i] * (dof - 2) / (dof - 4);
        double excess = fourth / (variance * variance) - 3;
        fits = excess > 0 ? 4 + 6 / excess : INFINITY;
        variance *= isinf(fits) ? 1 : (fits - 2) / fits;
    }
    out->scale[i] = isnan(out->mean[i]) ? NAN : sqrt(variance);
    out->dof[i] = isnan(out->mean[i]) ? NAN : fits;
}

cr_status cri_kalman_answer(cr_ctx *cx, const kalman_state *m, const cri_kalman_question *q,
                            double *opt_places, cr_prediction *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cr_prediction one = *out;
    size_t        n = q->n;
    double       *own = cr_scratch_matrix(&s, q->places, cri_kalman_width(m));
    moments       sums;
    if (m->settings == 0) {
        st = q->ask(cx, m, q, opt_places, out);
        goto done;
    }
    one.mean = cr_scratch_f64(&s, n);
    if (out->scale) one.scale = cr_scratch_f64(&s, n);
    if (out->scale) one.dof = cr_scratch_f64(&s, n);
    CR_TRY(open_moments(&s, n, &sums));
    for (size_t h = opt_places ? 0 : 1; h <= m->settings; h++) { /* places go on at theta too */
        cr_scratch   inner = cr_scratch_begin(cx);
        kalman_state view;
        st = cri_kalman_view(&inner, m, h, &view);
        if (opt_places) cri_kalman_take_places(m, h, opt_places, q->places, own);
        if (st == CR_OK) st = cr_check_interrupt(cx);
        if (st == CR_OK) st = q->ask(cx, &view, q, opt_places ? own : NULL, &one);
        cr_scratch_end(&inner);
        CR_TRY(st);
        if (opt_places) cri_kalman_put_places(m, h, own, q->places, opt_places);
        if (h > 0) add_setting(&sums, &one, n, m->share[h - 1], m->dof, h == 1);
    }
    for (size_t i = 0; i < n; i++) read_moments(&sums, i, m->dof, out);
done:
    cr_scratch_end(&s);
    return st;
}
