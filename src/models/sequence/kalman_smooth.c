/* kalman_smooth.c -- the way back through the rows of the filter: the score and the smoother.
 * r and N are the gradient and minus twice the curvature of the log likelihood of the rows from here on by
 * the states: a^ = a + P r, V = P - P N P (de Jong 1989; Durbin & Koopman 2012, sec. 4.4, 5.3, 7.3).  While
 * the start is not known, r = r0 + r1/kappa and N = N0 + N1/kappa + N2/kappa^2; of N1 only what P_inf on its
 * left does not annihilate is kept. */
#include "kalman_system.h"

#include <math.h>
#include <string.h>

static const double settled = 1e-12;

typedef struct back {
    const cri_kalman_path   *path;
    const cri_kalman_system *s;
    double                  *r0, *r1, *N0, *N1, *N2; /* [m], [m x m] */
    double                  *work;                   /* [m x m]      */
    double                  *z, *g, *g1, *g2;        /* [m]          */
    double                  *u, *D;                  /* [p]          */
    bool                     unknown;                /* r1, N1, N2 are not 0 */
} back;

static cr_status open_back(cr_scratch *s, const cri_kalman_path *path, back *b)
{
    size_t m = path->system->m, p = path->system->p;
    *b = (back){ .path = path, .s = path->system };
    b->r0 = cr_scratch_bytes(s, m, sizeof(double));
    b->r1 = cr_scratch_bytes(s, m, sizeof(double));
    b->N0 = cr_scratch_bytes(s, m * m, sizeof(double));
    b->N1 = cr_scratch_bytes(s, m * m, sizeof(double));
    b->N2 = cr_scratch_bytes(s, m * m, sizeof(double));
    b->work = cr_scratch_matrix(s, m, m);
    b->z = cr_scratch_f64(s, m);
    b->g = cr_scratch_f64(s, m);
    b->g1 = cr_scratch_f64(s, m);
    b->g2 = cr_scratch_f64(s, m);
    b->u = cr_scratch_f64(s, p);
    b->D = cr_scratch_f64(s, p);
    return s->status;
}

/* --- matrices -------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* out = A x, or A' x, which is quicker: what a symmetric A is asked for. */
static void times(const double *A, const double *x, size_t m, bool transposed, double *restrict out)
{
    memset(out, 0, m * sizeof *out);
    for (size_t i = 0; i < m; i++) {
        const double *restrict row = A + i * m;
        double factor = x[i];
        if (transposed)
            for (size_t j = 0; j < m; j++) out[j] += factor * row[j];
        else
            out[i] = dot(row, x, m);
    }
}

/* N += c z z' - z x' - y z', z having few entries that are not 0. */
static void fold(double *N, const double *z, double c, const double *x, const double *y, size_t m)
{
    for (size_t i = 0; i < m; i++) {
        if (z[i] == 0) continue;
        double *row = N + i * m;
        for (size_t j = 0; j < m; j++) row[j] += z[i] * (c * z[j] - x[j]);
        for (size_t j = 0; y && j < m; j++) N[j * m + i] -= z[i] * y[j];
    }
}

/* --- one row back ---------------------------------------------------------------------------- */

/* From the states of row t + 1, before its observations, to those of row t, after them. */
static void leave_row(back *b, size_t t)
{
    cri_kalman_step           step = cri_kalman_step_into(b->s, b->path->data, t + 1);
    const cri_kalman_entries *T = &step.backward;
    size_t                    m = b->s->m;
    cri_kalman_move(T, m, b->r0, b->work);
    cri_kalman_carry(T, m, b->N0, NULL, false, b->work);
    if (!b->unknown) return;
    cri_kalman_move(T, m, b->r1, b->work);
    cri_kalman_carry(T, m, b->N1, NULL, true, b->work);
    cri_kalman_carry(T, m, b->N2, NULL, false, b->work);
}

static void undo_regular(back *b, size_t i, double v, double F, const double *K)
{
    size_t m = b->s->m;
    times(b->N0, K, m, true, b->g);
    b->D[i] = 1 / F + dot(K, b->g, m);
    b->u[i] = v / F - dot(K, b->r0, m);
    for (size_t j = 0; j < m; j++) b->r0[j] += b->z[j] * b->u[i];
    fold(b->N0, b->z, b->D[i], b->g, b->g, m);
    if (!b->unknown) return;
    times(b->N1, K, m, false, b->g); /* N1 = N1 (I - K z') */
    for (size_t j = 0; j < m; j++)
        for (size_t l = 0; l < m; l++) b->N1[j * m + l] -= b->g[j] * b->z[l];
}

/* N2 += L' N1 L1 + L1' N1' L + L1' N0 L1 and L' N2 L for it, with L = I - K z', L1 = -K1 z'. */
static void undo_second(back *b, double F, double Finf, const double *K, const double *K1)
{
    size_t m = b->s->m;
    double c = -F / (Finf * Finf);
    times(b->N2, K, m, true, b->g);
    c += dot(K, b->g, m);
    times(b->N1, K1, m, false, b->g1);
    c += 2 * dot(K, b->g1, m);
    times(b->N0, K1, m, true, b->g2);
    c += dot(K1, b->g2, m);
    for (size_t j = 0; j < m; j++) b->g[j] += b->g1[j];
    fold(b->N2, b->z, c, b->g, b->g, m);
}

/* N1 = z z'/Finf + L' N1 L + L1' N0 L; g2 holds N0 K1. */
static void undo_first(back *b, double Finf, const double *K)
{
    size_t m = b->s->m;
    times(b->N1, K, m, true, b->g);
    for (size_t j = 0; j < m; j++) b->g[j] += b->g2[j];
    times(b->N1, K, m, false, b->g1);
    double c = 1 / Finf + dot(K, b->g1, m) + dot(b->g2, K, m);
    fold(b->N1, b->z, c, b->g, b->g1, m);
}

static void undo_fixing(back *b, size_t i, double v, cri_kalman_slot slot)
{
    size_t        m = b->s->m;
    const double *K = slot.K + i * m, *K1 = slot.K1 + i * m;
    double        Finf = slot.Finf[i];
    double        first = v / Finf - dot(K, b->r1, m) - dot(K1, b->r0, m);
    b->u[i] = -dot(K, b->r0, m);
    if (b->path->states) {
        undo_second(b, slot.F[i], Finf, K, K1);
        undo_first(b, Finf, K);
        for (size_t j = 0; j < m; j++) b->r1[j] += b->z[j] * first;
        b->unknown = true;
    }
    times(b->N0, K, m, true, b->g);
    b->D[i] = dot(K, b->g, m);
    fold(b->N0, b->z, b->D[i], b->g, b->g, m);
    for (size_t j = 0; j < m; j++) b->r0[j] += b->z[j] * b->u[i];
}

/* Back over the observations of row t. */
static void undo_row(back *b, size_t t)
{
    const cri_kalman_path *path = b->path;
    size_t                 m = b->s->m, p = b->s->p;
    cri_kalman_slot        slot = cri_kalman_slot_at(path, path->slot[t]);
    for (size_t i = p; i-- > 0;) {
        double v = path->data->y[t * p + i] - path->mean[t * p + i];
        b->u[i] = b->D[i] = NAN;
        cri_kalman_loadings(b->s, path->data, t, i, b->z);
        if (slot.use[i] == CRI_KALMAN_REGULAR) undo_regular(b, i, v, slot.F[i], slot.K + i * m);
        if (slot.use[i] == CRI_KALMAN_FIXES) undo_fixing(b, i, v, slot);
    }
}

/* Before the first row of a series: what is not shared has no past. */
static void leave_series(back *b)
{
    size_t m = b->s->m;
    for (size_t i = 0; i < m; i++) {
        if (!b->s->shared[i]) b->r0[i] = b->r1[i] = 0;
        for (size_t j = 0; j < m; j++)
            if (!b->s->shared[i] || !b->s->shared[j])
                b->N0[i * m + j] = b->N1[i * m + j] = b->N2[i * m + j] = 0;
    }
}

/* --- the score ------------------------------------------------------------------------------- */

typedef struct scorer {
    back              b;
    cri_kalman_score *out;
    double           *w, *w1; /* [m] */
    double           *before; /* [m x m] N0 of the row behind, to see whether it has settled */
    size_t           *noisy, n_noisy;
} scorer;

/* The states of a row, before it: r r' - N into the sums of Q, and into those of T by way of row t - 1. */
static void add_transition(scorer *w, size_t t)
{
    const back            *b = &w->b;
    const cri_kalman_path *path = b->path;
    const cri_kalman_data *data = path->data;
    cri_kalman_step        step = cri_kalman_step_into(b->s, data, t);
    size_t                 m = b->s->m, at = data->step ? data->step[t] * m * m : 0;
    double                *Q = data->step ? w->out->steps_Q + at : w->out->Q;
    for (size_t k = 0; k < w->n_noisy; k++)
        for (size_t l = 0; l < w->n_noisy; l++) {
            size_t i = w->noisy[k], j = w->noisy[l];
            Q[i * m + j] += 0.5 * (b->r0[i] * b->r0[j] - b->N0[i * m + j]);
        }
    if (!w->out->T) return;
    /* T += r (a + P T' r)' - N T P */
    const double   *a = path->a + (t - 1) * m;
    double         *T = data->step ? w->out->steps_T + at : w->out->T;
    cri_kalman_slot slot = cri_kalman_slot_at(path, path->slot[t - 1]);
    memcpy(w->w1, b->r0, m * sizeof(double));
    cri_kalman_move(&step.backward, m, w->w1, b->work);
    times(slot.P, w->w1, m, true, w->w);
    for (size_t k = 0; k < w->n_noisy; k++) {
        size_t  i = w->noisy[k];
        double *to = T + i * m;
        memcpy(w->w1, b->N0 + i * m, m * sizeof(double));
        cri_kalman_move(&step.backward, m, w->w1, b->work); /* row i of N T */
        times(slot.P, w->w1, m, true, b->work);
        for (size_t j = 0; j < m; j++) to[j] += b->r0[i] * (a[j] + w->w[j]) - b->work[j];
    }
}

static void add_start(scorer *w, bool first)
{
    const back *b = &w->b;
    size_t      m = b->s->m;
    for (size_t i = 0; i < m; i++) {
        if (b->s->shared[i] && !first) continue;
        w->out->start[i] += b->r0[i];
        for (size_t j = 0; j < m; j++)
            if (first || !b->s->shared[j])
                w->out->P1[i * m + j] += 0.5 * (b->r0[i] * b->r0[j] - b->N0[i * m + j]);
    }
}

static bool has_settled(const double *N, const double *before, size_t m)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++)
            if (fabs(N[i * m + j] - before[i * m + j]) >
                settled * sqrt(fabs(N[i * m + i] * N[j * m + j])))
                return false;
    return true;
}

/* Row t, whose N is that of the row behind it: r alone. */
static void steady_row(back *b, size_t t)
{
    const cri_kalman_path *path = b->path;
    size_t                 m = b->s->m, p = b->s->p;
    cri_kalman_slot        slot = cri_kalman_slot_at(path, path->slot[t]);
    cri_kalman_step        step = cri_kalman_step_into(b->s, path->data, t + 1);
    cri_kalman_move(&step.backward, m, b->r0, b->work);
    for (size_t i = p; i-- > 0;) {
        const double *z = b->s->Z + i * m;
        double        v = path->data->y[t * p + i] - path->mean[t * p + i];
        b->u[i] = v / slot.F[i] - dot(slot.K + i * m, b->r0, m);
        for (size_t j = 0; j < m; j++) b->r0[j] += z[j] * b->u[i];
    }
}

static void add_observations(scorer *w)
{
    for (size_t i = 0; i < w->b.s->p; i++) {
        if (isnan(w->b.u[i])) continue;
        w->out->h[i] += 0.5 * (w->b.u[i] * w->b.u[i] - w->b.D[i]);
        w->out->level[i] += w->b.u[i];
    }
}

static cr_status score_series(cr_ctx *cx, scorer *w, size_t begin, size_t end)
{
    cr_status st = CR_OK;
    size_t    m = w->b.s->m;
    bool      steady = false;
    size_t    poll = cri_kalman_poll(w->b.s);
    for (size_t t = end; t-- > begin;) {
        const size_t *slot = w->b.path->slot;
        bool          same = t + 1 < end && slot[t] == slot[t + 1];
        if (t % poll == 0) CR_TRY(cr_check_interrupt(cx));
        if (steady && same)
            steady_row(&w->b, t);
        else {
            if (same) memcpy(w->before, w->b.N0, m * m * sizeof(double));
            if (t + 1 < end) leave_row(&w->b, t);
            undo_row(&w->b, t);
            steady = same && has_settled(w->b.N0, w->before, m);
        }
        add_observations(w);
        if (t > begin) add_transition(w, t);
    }
done:
    return st;
}

cr_status cri_kalman_differentiate(cr_ctx *cx, const cri_kalman_path *path, cri_kalman_score *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    scorer     w = { .out = out };
    size_t     m = path->system->m, p = path->system->p;
    w.w = cr_scratch_f64(&s, m);
    w.w1 = cr_scratch_f64(&s, m);
    w.before = cr_scratch_matrix(&s, m, m);
    w.noisy = cr_scratch_index(&s, m);
    CR_TRY(open_back(&s, path, &w.b));
    for (size_t i = 0; i < m; i++)
        if (path->system->noisy[i]) w.noisy[w.n_noisy++] = i;
    memset(out->h, 0, p * sizeof(double));
    memset(out->level, 0, p * sizeof(double));
    memset(out->start, 0, m * sizeof(double));
    memset(out->Q, 0, m * m * sizeof(double));
    memset(out->P1, 0, m * m * sizeof(double));
    if (out->T) memset(out->T, 0, m * m * sizeof(double));
    if (path->data->step) {
        size_t size = path->system->n_steps * m * m * sizeof(double);
        memset(out->steps_Q, 0, size);
        if (out->T) memset(out->steps_T, 0, size);
    }
    for (size_t k = path->data->series; k-- > 0;) {
        CR_TRY(score_series(cx, &w, path->data->start[k], path->data->start[k + 1]));
        add_start(&w, k == 0);
        leave_series(&w.b);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the smoother ---------------------------------------------------------------------------- */

cr_status cri_kalman_smooth(cr_ctx *cx, const cri_kalman_path *path, cri_kalman_visit *visit,
                            void *arg)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     m = path->system->m, size = m * m * sizeof(double);
    back       b;
    double    *a = cr_scratch_f64(&s, m), *work = cr_scratch_f64(&s, 2 * m);
    double    *N0 = cr_scratch_matrix(&s, m, m), *N1 = cr_scratch_matrix(&s, m, m);
    double    *N2 = cr_scratch_matrix(&s, m, m);
    CR_TRY(open_back(&s, path, &b));
    size_t poll = cri_kalman_poll(path->system);
    for (size_t k = path->data->series; k-- > 0;) {
        size_t begin = path->data->start[k], end = path->data->start[k + 1];
        for (size_t t = end; t-- > begin;) {
            cri_kalman_slot slot = cri_kalman_slot_at(path, path->slot[t]);
            cri_kalman_row  row = {
                 path, t, a, slot.P, NULL, N0, N1, N2, b.r0, b.N0, b.u, b.D, work
            };
            if (t % poll == 0) CR_TRY(cr_check_interrupt(cx));
            if (t + 1 < end) leave_row(&b, t);
            if (*slot.which > 0) row.Pinf = path->unknown + ((size_t)*slot.which - 1) * m * m;
            times(slot.P, b.r0, m, true, a);
            for (size_t i = 0; i < m; i++) {
                a[i] += path->a[t * m + i];
                if (row.Pinf) a[i] += dot(row.Pinf + i * m, b.r1, m);
            }
            memcpy(N0, b.N0, size);
            if (row.Pinf) memcpy(N1, b.N1, size);
            if (row.Pinf) memcpy(N2, b.N2, size);
            undo_row(&b, t);
            visit(arg, &row);
        }
        leave_series(&b);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* w' A q. */
static double form(const double *w, const double *A, const double *q, size_t m)
{
    double sum = 0;
    for (size_t i = 0; i < m; i++)
        if (w[i] != 0) sum += w[i] * dot(A + i * m, q, m);
    return sum;
}

double cri_kalman_covariance(const cri_kalman_row *row, const double *w, const double *q)
{
    size_t  m = row->path->system->m;
    double *Pw = row->work, *Pq = row->work + m;
    times(row->P, w, m, true, Pw);
    times(row->P, q, m, true, Pq);
    double sum = dot(w, Pq, m) - form(Pw, row->N0, Pq, m);
    if (!row->Pinf) return w == q ? fmax(sum, 0) : sum;
    double *iw = Pw, first = 0, left, size = 0, reach = 0;
    /* - w' P_inf N1 P* q - w' P* N1' P_inf q - w' P_inf N2 P_inf q */
    for (int side = 0; side < 2; side++) {
        const double *inner = side ? w : q, *outer = side ? q : w;
        times(row->P, inner, m, true, Pq);
        times(row->Pinf, outer, m, true, iw);
        first += form(iw, row->N1, Pq, m);
    }
    times(row->Pinf, w, m, true, Pw);
    times(row->Pinf, q, m, true, Pq);
    left = dot(w, Pq, m) - form(Pw, row->N1, Pq, m); /* of order kappa */
    for (size_t i = 0; i < m; i++) {
        size = fmax(size, row->Pinf[i * m + i]);
        reach += w[i] * w[i];
    }
    if (w == q && left > 1e-8 * size * reach) return INFINITY;
    sum -= first + form(Pw, row->N2, Pq, m);
    return w == q ? fmax(sum, 0) : sum;
}
