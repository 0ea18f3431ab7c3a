/* gp_cg_learn.c -- hyper-parameters by the gradient of the evidence that conjugate gradients
 * estimate.  With the same probes at every step the gradient is a smooth function of the
 * hyper-parameters; the value, whose noise is another, is not looked at.  The steps are those of
 * Newton with second derivatives of the exact evidence of some rows, scaled to all, and corrected
 * by BFGS; a step is good when the slope along it has not turned to more than what it was (the
 * approximate Wolfe condition of Hager & Zhang 2005, SIAM J.  Optim. 16).  Nocedal & Wright (2006),
 * ch. 6 and 18.3 (damped BFGS). */
#include "gp_cg.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/decompose.h"

#include <math.h>
#include <string.h>

enum { CURVATURE_ROWS = 1000, PROBES = 16, CUTS = 8 };
enum { USUAL = 12 };      /* evaluations after which the search is reported as half done */
enum { EVALUATIONS = 8 }; /* that a step and the rest of the fit take, with time to spare */
static const double TOLERANCE = 1e-3,
                    PROBE_TOLERANCE = 1e-2; /* of the residuals                       */
static const double NEAR =
    5; /* nats that a step promises: with less the residuals are a hundredth */
static const double GAIN =
    0.05; /* with less it is over                                              */
static const double REACH =
    1.5; /* the longest step of a parameter                                   */
static const double AT_BOUND = 1e-6; /* of logarithms */
static const double TURNED =
    0.9; /* of the slope at the start: what the end of a step may have        */
static const double STEP =
    1e-3; /* of the differences for second derivatives                         */
static const double FLAT =
    1e-3; /* of the largest curvature: the least that is believed              */

typedef struct search {
    cr_ctx                *cx;
    const cri_gp_learning *learning;
    cri_gp_cg             *cg;
    cr_kernel             *k;
    cri_gp_space           u;
    size_t                 size, evaluations;
    double                 noise;
    double  seconds; /* that the last evaluation took                                       */
    double *x, *g;   /* [p + 1] where it is; the gradient of minus the log evidence and prior */
    double *to, *g1; /* [p + 1] the same at the end of a step                               */
    double *step;    /* [size]                                                              */
    double *B;       /* [size x size] second derivatives, as far as they are known          */
} search;

/* The gradient at x. */
static cr_status evaluate(search *a, const double *x, double *gradient)
{
    cr_status st = CR_OK;
    size_t    p = a->u.p;
    double    noise = a->size > p ? exp(x[p]) : a->noise, begun = cri_seconds();
    CR_TRY(cr_kernel_set_theta(a->cx, a->k, x));
    CR_TRY(cri_gp_cg_evidence(a->cx, a->learning->problem, a->k, noise, a->cg, gradient));
    cri_gp_log_prior(a->learning->prior, a->k, x, gradient);
    for (size_t j = 0; j <= p; j++) {
        gradient[j] = -gradient[j];
        if (!isfinite(gradient[j]))
            CR_TRY(
                cr_fail(a->cx, CR_ENUMERIC, "gp: the gradient of the log evidence is not finite"));
    }
    a->evaluations++;
    a->seconds = cri_seconds() - begun;
    cri_progress_part(a->cx, (double)a->evaluations / (double)(a->evaluations + USUAL));
done:
    return st;
}

/* --- second derivatives ---------------------------------------------------------------------- */

/* The same by the exact evidence of some rows, times `scale`. */
static cr_status evaluate_few(search *a, const cri_gp_problem *few,
                              cri_gp_exact_workspace *workspace, double scale, const double *x,
                              double *gradient)
{
    cr_status st = CR_OK;
    size_t    p = a->u.p;
    double    noise = a->size > p ? exp(x[p]) : a->noise, value;
    for (size_t j = 0; j <= p; j++) gradient[j] = 0;
    CR_TRY(cr_kernel_set_theta(a->cx, a->k, x));
    CR_TRY(cri_gp_exact_objective(a->cx, workspace, few, a->k, noise, &value, gradient));
    for (size_t j = 0; j <= p; j++) gradient[j] *= scale;
    cri_gp_log_prior(a->learning->prior, a->k, x, gradient);
    for (size_t j = 0; j <= p; j++) gradient[j] = -gradient[j];
done:
    return st;
}

/* B := V max(|w|, FLAT max |w|) V^T: positive definite. */
static cr_status make_definite(cr_ctx *cx, double *B, size_t n)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *V = cr_scratch_matrix(&s, n, n), *w = cr_scratch_f64(&s, n), most = 0;

    CR_TRY(s.status);
    CR_TRY(cr_eigen(cx, cr_cmat_of(B, n, n), w, cr_mat_of(V, n, n)));
    for (size_t j = 0; j < n; j++) most = fmax(most, fabs(w[j]));
    if (!(most > 0)) most = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            B[i * n + j] = 0;
            for (size_t c = 0; c < n; c++)
                B[i * n + j] += V[i * n + c] * fmax(fabs(w[c]), FLAT * most) * V[j * n + c];
        }
done:
    cr_scratch_end(&s);
    return st;
}

/* B by differences of the exact gradient of some rows; on failure a multiple of the identity. */
static cr_status find_curvature(search *a)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(a->cx);
    const cri_gp_problem *all = a->learning->problem;
    size_t m = all->data->n < CURVATURE_ROWS ? all->data->n : CURVATURE_ROWS, q = all->q,
           n = a->size;
    cri_gp_data            part = { 0 };
    double                *L = cr_scratch_matrix(&s, m, m), *H = cr_scratch_matrix(&s, m, q);
    cri_gp_problem         few = { .data = &part, .q = q, .H = H };
    cri_gp_exact_workspace workspace = { L,
                                         { .alpha = cr_scratch_f64(&s, m),
                                           .beta = cr_scratch_f64(&s, q),
                                           .U = cr_scratch_matrix(&s, m, q),
                                           .A = cr_scratch_matrix(&s, q, q) } };
    double                 scale = (double)all->data->n / (double)m;

    CR_TRY(s.status);
    CR_TRY(cri_gp_data_draw(a->cx, all->data, m, a->learning->seed, &part));
    for (size_t i = 0, k = 0; k < m; i++) /* the rows of H that were drawn */
        if (all->data->first[i] == part.first[k])
            memcpy(H + k++ * q, all->H + i * q, q * sizeof(double));
    st = evaluate_few(a, &few, &workspace, scale, a->x, a->g);
    for (size_t i = 0; st == CR_OK && i < n; i++) {
        memcpy(a->to, a->x, n * sizeof(double));
        a->to[i] += STEP;
        st = evaluate_few(a, &few, &workspace, scale, a->to, a->g1);
        for (size_t j = 0; j < n; j++) a->B[i * n + j] = (a->g1[j] - a->g[j]) / STEP;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            a->B[i * n + j] = a->B[j * n + i] = 0.5 * (a->B[i * n + j] + a->B[j * n + i]);
    if (st == CR_ENUMERIC || st == CR_EDATA) {
        st = CR_OK;
        for (size_t i = 0; i < n * n; i++)
            a->B[i] = i % (n + 1) == 0 ? 0.1 * (double)all->data->n : 0;
    }
    CR_TRY(st);
    CR_TRY(make_definite(a->cx, a->B, n));
done:
    cri_gp_data_free(a->cx, &part);
    cr_scratch_end(&s);
    return st;
}

/* Damped BFGS (Nocedal & Wright, procedure 18.2): B stays positive definite whatever the step
 * was. */
static void correct(search *a, const double *s, const double *y)
{
    size_t n = a->size;
    double sy = 0, sBs = 0, *Bs = a->step; /* overwritten: the step is over */
    for (size_t i = 0; i < n; i++) {
        Bs[i] = 0;
        for (size_t j = 0; j < n; j++) Bs[i] += a->B[i * n + j] * s[j];
        sy += s[i] * y[i];
        sBs += s[i] * Bs[i];
    }
    if (!(sBs > 0)) return;
    double theta = sy >= 0.2 * sBs ? 1 : 0.8 * sBs / (sBs - sy),
           sr = theta * sy + (1 - theta) * sBs;
    for (size_t i = 0; i < n; i++) {
        double ri = theta * y[i] + (1 - theta) * Bs[i];
        for (size_t j = 0; j <= i; j++) {
            double rj = theta * y[j] + (1 - theta) * Bs[j];
            a->B[i * n + j] += ri * rj / sr - Bs[i] * Bs[j] / sBs;
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) a->B[j * n + i] = a->B[i * n + j];
}

/* --- steps ----------------------------------------------------------------------------------- */

/* true when x_j stands at a bound, or next to it, that the gradient pushes it against: the step of the
 * others is downhill as far as the bounds let it go (Bertsekas 1982, SIAM J. Control Optim. 20). */
static bool is_held(const search *a, size_t j)
{
    return (a->x[j] <= a->u.lower[j] + AT_BOUND && a->g[j] > 0) ||
           (a->x[j] >= a->u.upper[j] - AT_BOUND && a->g[j] < 0);
}

/* step := -B^-1 g of the parameters that may move, none further than REACH; *out_gain what it
 * promises. */
static cr_status find_step(search *a, double *out_gain)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(a->cx);
    size_t     n = a->size, m = 0;
    size_t    *at = cr_scratch_index(&s, n);
    double    *B = cr_scratch_matrix(&s, n, n), *r = cr_scratch_f64(&s, n), most = 0, gain = 0;

    CR_TRY(s.status);
    for (size_t j = 0; j < n; j++) {
        a->step[j] = 0;
        if (!is_held(a, j)) at[m++] = j;
    }
    for (size_t i = 0; i < m; i++) {
        r[i] = -a->g[at[i]];
        for (size_t j = 0; j < m; j++) B[i * m + j] = a->B[at[i] * n + at[j]];
    }
    CR_TRY(cr_chol(a->cx, cr_mat_of(B, m, m)));
    CR_TRY(cr_chol_solve(a->cx, cr_cmat_of(B, m, m), cr_mat_of(r, m, 1)));
    for (size_t i = 0; i < m; i++) {
        gain -= 0.5 * r[i] * a->g[at[i]];
        most = fmax(most, fabs(r[i]));
    }
    for (size_t i = 0; i < m; i++) a->step[at[i]] = r[i] * (most > REACH ? REACH / most : 1);
    *out_gain = gain;
done:
    cr_scratch_end(&s);
    return st;
}

/* Goes along the step, less far where that was too far; *out_moved false when it came to nothing. */
static cr_status go(search *a, double *s, double *y, bool *out_moved)
{
    cr_status st = CR_OK;
    size_t    n = a->size;
    double    length = 1;
    *out_moved = false;
    for (size_t cut = 0; cut < CUTS && !*out_moved; cut++) {
        double before = 0, after = 0;
        for (size_t j = 0; j < n; j++) {
            a->to[j] = fmin(fmax(a->x[j] + length * a->step[j], a->u.lower[j]), a->u.upper[j]);
            s[j] = a->to[j] - a->x[j];
            before += s[j] * a->g[j];
        }
        st = before < 0 ? evaluate(a, a->to, a->g1) : CR_ENUMERIC;
        if (st == CR_ENUMERIC) {
            st = CR_OK;
            length *= 0.3;
            continue;
        }
        CR_TRY(st);
        for (size_t j = 0; j < n; j++) {
            y[j] = a->g1[j] - a->g[j];
            after += s[j] * a->g1[j];
        }
        *out_moved = after <= -TURNED * before;
        if (!*out_moved) length *= fmin(fmax(-before / (after - before), 0.1), 0.6);
    }
done:
    return st;
}

/* From x until a step promises nothing more. */
static cr_status ascend(search *a, cri_gp_learned *learned)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(a->cx);
    size_t     n = a->size, max_iter = a->learning->max_iter, iteration = 0;
    double    *s = cr_scratch_f64(&scratch, n), *y = cr_scratch_f64(&scratch, n), gain;
    bool       moved = true;

    CR_TRY(scratch.status);
    CR_TRY(evaluate(a, a->x, a->g));
    CR_TRY(find_step(a, &gain));
    for (; gain > GAIN && moved && iteration < max_iter; iteration++) {
        learned->expired = cri_time_left(a->cx) < EVALUATIONS * a->seconds;
        if (learned->expired) break;
        CR_TRY(go(a, s, y, &moved));
        if (!moved) break;
        correct(a, s, y);
        memcpy(a->x, a->to, n * sizeof(double));
        memcpy(a->g, a->g1, n * sizeof(double));
        cr_log(a->cx, CR_LOG_DEBUG,
               "gp: step %zu promised %.3g nats; %zu evaluations so far, the last by %zu conjugate "
               "gradients",
               iteration + 1, gain, a->evaluations, a->cg->report.iterations);
        CR_TRY(find_step(a, &gain));
        if (gain < NEAR) {
            a->cg->settings.tolerance = 0.01 * TOLERANCE;
            a->cg->settings.probe_tolerance = 0.01 * PROBE_TOLERANCE;
        }
    }
    learned->iterations = iteration;
    learned->stop = gain <= GAIN            ? CR_STOP_TOLERANCE
                    : learned->expired      ? CR_STOP_TIME
                    : iteration == max_iter ? CR_STOP_LIMIT
                                            : CR_STOP_NO_PROGRESS;
done:
    cr_scratch_end(&scratch);
    return st;
}

/* The settings while learning, and landmarks for all of it. */
static cr_status prepare(cr_ctx *cx, cr_scratch *s, const search *a, cri_gp_cg *cg)
{
    cr_status           st = CR_OK;
    const cri_gp_data  *data = a->learning->problem->data;
    cri_gp_cg_settings *o = &cg->settings;
    cri_gp_operator     op = { .data = data, .k = a->k, .noise = a->noise };
    size_t              most = o->rank ? o->rank : cri_gp_cg_rank(data->n);
    size_t             *landmarks = cr_scratch_index(s, most < data->n ? most : data->n);

    if (o->probes > PROBES) o->probes = PROBES;
    o->tolerance = TOLERANCE;
    o->probe_tolerance = PROBE_TOLERANCE;
    cg->last =
        cr_scratch_bytes(s, data->n * (a->learning->problem->q + 1 + o->probes), sizeof(double));
    CR_TRY(s->status);
    CR_TRY(cri_gp_cg_landmarks(cx, &op, most, o->seed, landmarks, &cg->rank));
    cg->landmarks = landmarks;
done:
    return st;
}

cr_status cri_gp_cg_learn(cr_ctx *cx, const cri_gp_learning *learning, cri_gp_cg *cg, cr_kernel *k,
                          double *noise, cri_gp_learned *learned)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = cr_kernel_theta_size(k), size = p + learning->learn_noise;
    cri_gp_cg  own = *cg;
    search     a = { .cx = cx,
                     .learning = learning,
                     .cg = &own,
                     .size = size,
                     .noise = *noise,
                     .x = cr_scratch_f64(&s, p + 1),
                     .g = cr_scratch_f64(&s, p + 1),
                     .to = cr_scratch_f64(&s, p + 1),
                     .g1 = cr_scratch_f64(&s, p + 1),
                     .step = cr_scratch_f64(&s, p + 1),
                     .B = cr_scratch_bytes(&s, size * size, sizeof(double)) };

    CR_TRY(s.status);
    if (size == 0) goto done;
    CR_TRY(cr_kernel_copy(cx, k, &a.k));
    CR_TRY(cri_gp_space_new(&s, k, learning->problem, learning->variance, *noise,
                            learning->learn_noise, &a.u));
    cr_kernel_theta(k, a.x);
    if (learning->learn_noise) a.x[p] = log(*noise);
    for (size_t j = 0; j < size; j++) a.x[j] = fmin(fmax(a.x[j], a.u.lower[j]), a.u.upper[j]);
    CR_TRY(prepare(cx, &s, &a, &own));
    CR_TRY(find_curvature(&a));
    CR_TRY(ascend(&a, learned));
    CR_TRY(cr_kernel_set_theta(cx, k, a.x));
    if (learning->learn_noise) *noise = exp(a.x[p]);
    learned->evaluations += a.evaluations;
    if (learned->expired)
        cri_gp_report_expired(cx, learned->evaluations, learning->problem->data->n,
                              learning->problem->data->n);
done:
    cr_kernel_free(cx, a.k);
    cr_scratch_end(&s);
    return st;
}
