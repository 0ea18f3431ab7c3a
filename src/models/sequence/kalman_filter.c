/* kalman_filter.c -- the filter: row after row, what the rows so far say of the states. */
#include "kalman_system.h"
#include "base/context_internal.h"
#include "math/constants.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* P_inf counts as 0, and so does z' P_inf z, below this share of the largest that it has been. */
static const double nothing = 1e-11;
/* Rounding counts where an observation leaves less than this share of a variance. */
static const double delicate = 1e-4;
/* The variances have settled when a step changes them by no more than this share. */
static const double settled = 1e-12;

/* The filter under way, in the caller's arena. */
typedef struct run {
    const cri_kalman_system *s;
    const cri_kalman_data   *data;
    cri_kalman_path         *out;
    double *a, *P, *Pinf; /* [m], [m x m] of the row at hand, first before and then after it      */
    double *before,
        *work;            /* [m x m]                                                              */
    double *z, *M, *Minf; /* [m]                                                                  */
    double  size;         /* the largest diagonal of P_inf in this series                         */
    double *constant;     /* [p] log 2 pi F of steady rows                                        */
    size_t  directions;   /* of P_inf: 0 means that it is 0                                       */
    bool    steady;       /* P is what it was a row ago, and stays so while all of y is observed  */
    size_t  end;          /* of the series at hand                                                */
} run;

/* --- the path -------------------------------------------------------------------------------- */

void cri_kalman_path_free(cr_ctx *cx, cri_kalman_path *path)
{
    if (!path->system) return;
    size_t m = path->system->m, p = path->system->p, n = path->data->n;
    cr_free(cx, path->mean, n * p, sizeof(double));
    cr_free(cx, path->slot, n, sizeof(size_t));
    cr_free(cx, path->slots, path->room, path->width * sizeof(double));
    cr_free(cx, path->unknown, path->unknown_room, m * m * sizeof(double));
    cr_free(cx, path->a, n * m, sizeof(double));
    cr_free(cx, path->end, m * (2 * m + 1), sizeof(double));
    *path = (cri_kalman_path){ 0 };
}

static cr_status open_path(cr_ctx *cx, const cri_kalman_system *s, const cri_kalman_data *data,
                           bool states, cri_kalman_path *out)
{
    size_t m = s->m;
    *out = (cri_kalman_path){ .system = s, .data = data, .states = states, .failed = SIZE_MAX };
    out->width = (3 + 2 * m) * s->p + 1 + (states ? m * m : 0);
    out->mean = cr_alloc(cx, data->n * s->p, sizeof(double));
    out->slot = cr_alloc(cx, data->n, sizeof(size_t));
    out->end = cr_alloc(cx, m * (2 * m + 1), sizeof(double));
    if (states) out->a = cr_alloc(cx, data->n * m, sizeof(double));
    return out->mean && out->slot && out->end && (out->a || !states) ? CR_OK : CR_ENOMEM;
}

static cr_status open_slot(cr_ctx *cx, cri_kalman_path *out, size_t t)
{
    cr_status st =
        cri_array_grow(cx, &out->slots, out->n_slots, &out->room, out->width * sizeof(double));
    if (st == CR_OK) out->slot[t] = out->n_slots++;
    return st;
}

/* P_inf of the row just filtered into its slot. */
static cr_status keep_unknown(cr_ctx *cx, run *f, cri_kalman_slot slot)
{
    cri_kalman_path *out = f->out;
    size_t           m = f->s->m;
    *slot.which = 0;
    if (f->directions == 0 || !out->states) return CR_OK;
    cr_status st = cri_array_grow(cx, &out->unknown, out->n_unknown, &out->unknown_room,
                                  m * m * sizeof(double));
    if (st != CR_OK) return st;
    memcpy(out->unknown + out->n_unknown * m * m, f->Pinf, m * m * sizeof(double));
    *slot.which = (double)++out->n_unknown;
    return CR_OK;
}

/* --- one series after another ---------------------------------------------------------------- */

/* The states that are not shared start anew. */
static void start_series(run *f, bool first)
{
    const cri_kalman_system *s = f->s;
    size_t                   m = s->m;
    f->directions = 0;
    f->steady = false;
    for (size_t i = 0; i < m; i++) {
        bool goes_on = s->shared[i] && !first;
        if (!goes_on) f->a[i] = s->start[i];
        for (size_t j = 0; j < m; j++) {
            if (goes_on && s->shared[j]) continue;
            f->P[i * m + j] = goes_on || (s->shared[j] && !first) ? 0 : s->P1[i * m + j];
            f->Pinf[i * m + j] = s->unknown                ? s->unknown[i * m + j]
                                 : i == j && s->diffuse[i] ? 1
                                                           : 0;
        }
    }
    f->size = 0;
    for (size_t i = 0; i < m; i++) {
        f->size = fmax(f->size, f->Pinf[i * m + i]);
        f->directions += f->Pinf[i * m + i] > 0;
    }
}

/* --- one observation ------------------------------------------------------------------------- */

/* out = A z, z' A z; z has few entries that are not 0. */
static double project(const double *A, const double *z, size_t m, double *out)
{
    double sum = 0;
    memset(out, 0, m * sizeof *out);
    for (size_t j = 0; j < m; j++) {
        const double *row = A + j * m; /* A is symmetric */
        double        factor = z[j];
        if (factor == 0) continue;
        for (size_t i = 0; i < m; i++) out[i] += factor * row[i];
    }
    for (size_t j = 0; j < m; j++) sum += z[j] * out[j];
    return sum;
}

/* A direction that turns out to have no variance left has no covariances either: P stays positive semidefinite. */
static void mend(double *P, size_t m, size_t i)
{
    if (P[i * m + i] > 0) return;
    for (size_t j = 0; j < m; j++) P[i * m + j] = P[j * m + i] = 0;
}

/* Whether an observation leaves so little of a variance that the difference has lost digits. */
static bool is_delicate(const run *f, double F)
{
    size_t m = f->s->m;
    for (size_t i = 0; i < m; i++) {
        double P = f->P[i * m + i];
        if (P - f->M[i] * f->M[i] / F < delicate * P) return true;
    }
    return false;
}

/* P = L P L' + h K K' with L = I - K z' (Joseph), one side after the other: rounding in the direction of z is damped as P is. */
static void shrink_delicately(run *f, double h, const double *K)
{
    size_t m = f->s->m;
    double *restrict left = f->Minf, *restrict old = f->work;
    for (size_t i = 0; i < m; i++) old[i] = f->P[i * m + i];
    for (size_t i = 0; i < m; i++) { /* L P, and what it leaves in the direction of z beside h K */
        double *restrict row = f->P + i * m;
        double factor = K[i], sum = 0;
        for (size_t j = 0; j < m; j++) row[j] -= factor * f->M[j];
        for (size_t j = 0; j < m; j++) sum += row[j] * f->z[j];
        left[i] = sum - h * factor;
    }
    for (size_t i = 0; i < m; i++) {
        double *restrict row = f->P + i * m;
        for (size_t j = 0; j <= i; j++) f->P[j * m + i] = row[j] -= left[i] * K[j];
        if (h == 0 && row[i] < 4 * DBL_EPSILON * old[i]) row[i] = 0; /* known for sure */
    }
}

/* P = P - M M' / F, the same number on both sides of the diagonal. */
static void shrink(run *f, double F)
{
    size_t m = f->s->m;
    double root = sqrt(F), *restrict M = f->M;
    for (size_t i = 0; i < m; i++) M[i] /= root;
    for (size_t i = 0; i < m; i++) {
        double *restrict row = f->P + i * m;
        double factor = M[i];
        if (factor == 0) continue;
        for (size_t j = 0; j < m; j++) row[j] -= factor * M[j];
    }
}

static void take_regular(run *f, double v, double F, double h, double *K)
{
    size_t m = f->s->m;
    for (size_t i = 0; i < m; i++) {
        K[i] = f->M[i] / F;
        f->a[i] += K[i] * v;
    }
    if (is_delicate(f, F))
        shrink_delicately(f, h, K);
    else
        shrink(f, F);
    for (size_t i = 0; i < m; i++) mend(f->P, m, i);
}

/* Drops what is but rounding of P_inf. */
static void clear_unknown(run *f)
{
    size_t m = f->s->m;
    double largest = 0;
    f->directions--;
    for (size_t i = 0; i < m; i++) largest = fmax(largest, f->Pinf[i * m + i]);
    if (largest <= nothing * f->size) f->directions = 0;
    if (f->directions == 0) memset(f->Pinf, 0, m * m * sizeof(double));
}

/* An observation that fixes a direction of the start: P* = L P* L' + h K K', L = I - K z'. */
static void take_fixing(run *f, double v, double F, double Finf, double *K, double *K1)
{
    size_t m = f->s->m;
    for (size_t i = 0; i < m; i++) {
        K[i] = f->Minf[i] / Finf;
        K1[i] = (f->M[i] - K[i] * F) / Finf;
        f->a[i] += K[i] * v;
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) {
            double now = f->P[i * m + j] - f->M[i] * K[j] - K[i] * f->M[j] + F * K[i] * K[j];
            double rest = f->Pinf[i * m + j] - K[i] * f->Minf[j];
            f->P[i * m + j] = f->P[j * m + i] = i == j && now < 0 ? 0 : now;
            f->Pinf[i * m + j] = f->Pinf[j * m + i] = i == j && rest < 0 ? 0 : rest;
        }
    for (size_t i = 0; i < m; i++) {
        if (f->Pinf[i * m + i] <= nothing * nothing * f->size) f->Pinf[i * m + i] = 0;
        mend(f->Pinf, m, i);
        mend(f->P, m, i);
    }
    clear_unknown(f);
}

/* Observation i of row t. */
static void observe(run *f, size_t t, size_t i, cri_kalman_slot slot)
{
    const cri_kalman_system *s = f->s;
    size_t                   m = s->m;
    double                   y = f->data->y[t * s->p + i], mean = 0, F, Finf = 0, reach = 0;
    double                  *K = slot.K + i * m;

    cri_kalman_loadings(s, f->data, t, i, f->z);
    for (size_t j = 0; j < m; j++) mean += f->z[j] * f->a[j], reach += f->z[j] * f->z[j];
    F = project(f->P, f->z, m, f->M) + s->h[i];
    if (f->directions > 0) Finf = project(f->Pinf, f->z, m, f->Minf);
    if (!(Finf > nothing * f->size * reach)) Finf = 0;
    f->out->mean[t * s->p + i] = mean;
    slot.F[i] = F;
    slot.Finf[i] = Finf;
    slot.use[i] = isnan(y) ? CRI_KALMAN_MISSING : Finf > 0 ? CRI_KALMAN_FIXES : CRI_KALMAN_REGULAR;
    if (isnan(y)) {
        memset(K, 0, m * sizeof *K);
        return;
    }
    f->out->observed++;
    if (Finf > 0) {
        f->out->fixing++;
        f->out->log_likelihood -= 0.5 * log(Finf);
        take_fixing(f, y - mean, F, Finf, K, slot.K1 + i * m);
        return;
    }
    if (!(F > 0)) {
        if (f->out->failed == SIZE_MAX) f->out->failed = t;
        f->out->log_likelihood = NAN;
        memset(K, 0, m * sizeof *K);
        slot.use[i] = CRI_KALMAN_MISSING;
        return;
    }
    double square = (y - mean) * (y - mean) / F;
    f->out->log_likelihood -= 0.5 * (CRI_LOG_2PI + log(F) + square);
    f->out->squares += square;
    take_regular(f, y - mean, F, s->h[i], K);
}

/* --- one row --------------------------------------------------------------------------------- */

static bool is_complete(const run *f, size_t t)
{
    for (size_t i = 0; i < f->s->p; i++)
        if (isnan(f->data->y[t * f->s->p + i])) return false;
    return true;
}

/* Whether the row behind row t of the series at hand, if there is one, is reached as row t was. */
static bool goes_on(const run *f, size_t t)
{
    const size_t *step = f->data->step;
    return !step || (t + 1 < f->end && step[t + 1] == step[t]);
}

/* Into row t: from the row before it, after its observations, or from where a series begins. */
static void step_into(run *f, size_t t)
{
    size_t          m = f->s->m;
    cri_kalman_step step = cri_kalman_step_into(f->s, f->data, t);
    cri_kalman_move(&step.forward, m, f->a, f->work);
    cri_kalman_carry(&step.forward, m, f->P, step.Q, false, f->work);
    if (f->directions == 0) return;
    cri_kalman_carry(&step.forward, m, f->Pinf, NULL, false, f->work);
    for (size_t i = 0; i < m; i++) f->size = fmax(f->size, f->Pinf[i * m + i]);
}

/* Whether P is what it was before, all of it measured by its diagonal. */
static bool has_settled(const double *P, const double *before, size_t m)
{
    for (size_t i = 0; i < m; i++)
        if (fabs(P[i * m + i] - before[i * m + i]) > settled * P[i * m + i]) return false;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < i; j++)
            if (fabs(P[i * m + j] - before[i * m + j]) >
                settled * sqrt(P[i * m + i] * P[j * m + j]))
                return false;
    return true;
}

static cr_status full_row(cr_ctx *cx, run *f, size_t t)
{
    const cri_kalman_system *s = f->s;
    size_t                   m = s->m;
    cr_status                st = open_slot(cx, f->out, t);
    if (st != CR_OK) return st;
    cri_kalman_slot slot = cri_kalman_slot_at(f->out, f->out->slot[t]);
    bool            can_settle = f->directions == 0 && s->k == 0 && is_complete(f, t);
    if (can_settle) memcpy(f->before, f->P, m * m * sizeof(double));
    for (size_t i = 0; i < s->p; i++) observe(f, t, i, slot);
    st = keep_unknown(cx, f, slot);
    if (st != CR_OK) return st;
    if (f->out->states) {
        memcpy(f->out->a + t * m, f->a, m * sizeof(double));
        memcpy(slot.P, f->P, m * m * sizeof(double));
    }
    f->steady = false;
    if (f->data->step && t + 1 == f->end) return CR_OK; /* it ends here */
    step_into(f, t + 1);
    f->steady = can_settle && f->out->failed == SIZE_MAX && has_settled(f->P, f->before, m);
    for (size_t i = 0; f->steady && i < s->p; i++) f->constant[i] = CRI_LOG_2PI + log(slot.F[i]);
    return CR_OK;
}

/* A row whose variances are those of the row before. */
static void steady_row(run *f, size_t t)
{
    const cri_kalman_system *s = f->s;
    size_t                   m = s->m;
    cri_kalman_slot slot = cri_kalman_slot_at(f->out, f->out->slot[t] = f->out->n_slots - 1);
    for (size_t i = 0; i < s->p; i++) {
        const double *z = s->Z + i * m, *K = slot.K + i * m;
        double        mean = 0, F = slot.F[i];
        for (size_t j = 0; j < m; j++) mean += z[j] * f->a[j];
        double v = f->data->y[t * s->p + i] - mean;
        for (size_t j = 0; j < m; j++) f->a[j] += K[j] * v;
        f->out->mean[t * s->p + i] = mean;
        f->out->log_likelihood -= 0.5 * (f->constant[i] + v * v / F);
        f->out->squares += v * v / F;
    }
    f->out->observed += s->p;
    if (f->out->states) memcpy(f->out->a + t * m, f->a, m * sizeof(double));
    cri_kalman_step step = cri_kalman_step_into(s, f->data, t + 1);
    cri_kalman_move(&step.forward, m, f->a, f->work);
}

static cr_status run_rows(cr_ctx *cx, run *f)
{
    cr_status st = CR_OK;
    size_t    poll = cri_kalman_poll(f->s);
    for (size_t k = 0; k < f->data->series; k++) {
        size_t begin = f->data->start[k];
        f->end = f->data->start[k + 1];
        start_series(f, k == 0);
        if (f->data->step && f->data->step[begin] != CRI_KALMAN_HERE) step_into(f, begin);
        for (size_t t = begin; t < f->end; t++) {
            if (t % poll == poll - 1) CR_TRY(cr_check_interrupt(cx));
            if (f->steady && goes_on(f, t) && is_complete(f, t))
                steady_row(f, t);
            else
                CR_TRY(full_row(cx, f, t));
        }
    }
done:
    return st;
}

cr_status cri_kalman_filter(cr_ctx *cx, const cri_kalman_system *system,
                            const cri_kalman_data *data, bool states, cri_kalman_path *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     m = system->m;
    run        f = { .s = system, .data = data, .out = out };
    f.a = cr_scratch_f64(&s, m);
    f.P = cr_scratch_matrix(&s, m, m);
    f.Pinf = cr_scratch_matrix(&s, m, m);
    f.before = cr_scratch_matrix(&s, m, m);
    f.work = cr_scratch_matrix(&s, m, m);
    f.z = cr_scratch_f64(&s, m);
    f.constant = cr_scratch_f64(&s, system->p);
    f.M = cr_scratch_f64(&s, m);
    f.Minf = cr_scratch_f64(&s, m);
    *out = (cri_kalman_path){ 0 };
    CR_TRY(s.status);
    CR_TRY(open_path(cx, system, data, states, out));
    CR_TRY(run_rows(cx, &f));
    memcpy(out->end, f.a, m * sizeof(double));
    memcpy(out->end + m, f.P, m * m * sizeof(double));
    memcpy(out->end + m + m * m, f.Pinf, m * m * sizeof(double));
done:
    cr_scratch_end(&s);
    return st;
}
