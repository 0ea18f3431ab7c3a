/* rvm_gauss.c -- steps of one function each. */
#include "rvm_gauss.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum {
    AFRESH = 50,
    MANY = 5
}; /* steps between two refreshes, as rounding adds up; changes before all a are moved */
/* A function that the others span but for this share of its square is one of them. */
static const double PARALLEL = 1e-10;

/* --- life ------------------------------------------------------------------------------------ */

/* What there is of each function present. */
static void free_lists(cr_ctx *cx, cri_rvm_gauss *g)
{
    size_t C = g->basis ? g->basis->C : 0, cap = g->capacity;
    cr_free(cx, g->at, cap, sizeof *g->at);
    cr_free(cx, g->a, cap, sizeof *g->a);
    cr_free(cx, g->mu, cap, sizeof *g->mu);
    cr_free(cx, g->P, cap * C, sizeof *g->P);
    cr_free(cx, g->H, cap * cap, sizeof *g->H);
    cr_free(cx, g->sound_at, cap, sizeof *g->at);
    cr_free(cx, g->sound_a, cap, sizeof *g->a);
}

void cri_rvm_gauss_free(cr_ctx *cx, cri_rvm_gauss *g)
{
    size_t C = g->basis ? g->basis->C : 0;
    free_lists(cx, g);
    cr_free(cx, g->diag, C, sizeof *g->diag);
    cr_free(cx, g->proj, C, sizeof *g->proj);
    cr_free(cx, g->S, C, sizeof *g->S);
    cr_free(cx, g->Q, C, sizeof *g->Q);
    cr_free(cx, g->place, C, sizeof *g->place);
    *g = (cri_rvm_gauss){ 0 };
}

cr_status cri_rvm_gauss_reserve(cr_ctx *cx, cri_rvm_gauss *g, size_t cap)
{
    cr_status st = CR_OK;
    size_t    C = g->basis->C, old = g->capacity, M = g->M;
    if (cap <= old) return CR_OK;
    size_t *at = cr_alloc(cx, cap, sizeof *at);
    double *a = cr_alloc(cx, cap, sizeof *a), *mu = cr_alloc(cx, cap, sizeof *mu);
    double *P = cr_alloc(cx, cap * C, sizeof *P), *H = cr_alloc(cx, cap * cap, sizeof *H);
    size_t *sound_at = cr_alloc(cx, cap, sizeof *at);
    double *sound_a = cr_alloc(cx, cap, sizeof *a);
    if (!at || !a || !mu || !P || !H || !sound_at || !sound_a) {
        st = cr_error_status(cx);
        cr_free(cx, at, cap, sizeof *at);
        cr_free(cx, a, cap, sizeof *a);
        cr_free(cx, mu, cap, sizeof *mu);
        cr_free(cx, P, cap * C, sizeof *P);
        cr_free(cx, H, cap * cap, sizeof *H);
        cr_free(cx, sound_at, cap, sizeof *at);
        cr_free(cx, sound_a, cap, sizeof *a);
        return st;
    }
    if (M) {
        memcpy(at, g->at, M * sizeof *at);
        memcpy(a, g->a, M * sizeof *a);
        memcpy(mu, g->mu, M * sizeof *mu);
        memcpy(P, g->P, M * C * sizeof *P);
    }
    for (size_t m = 0; m < M; m++) memcpy(H + m * cap, g->H + m * old, M * sizeof *H);
    if (g->sound_M) {
        memcpy(sound_at, g->sound_at, g->sound_M * sizeof *at);
        memcpy(sound_a, g->sound_a, g->sound_M * sizeof *a);
    }
    free_lists(cx, g);
    g->at = at, g->a = a, g->mu = mu, g->P = P, g->H = H;
    g->sound_at = sound_at, g->sound_a = sound_a;
    g->capacity = cap;
    return CR_OK;
}

/* Room for what there is of all functions. */
static cr_status open_functions(cr_ctx *cx, const cri_rvm_basis *b, cri_rvm_gauss *g)
{
    g->basis = b;
    g->diag = cr_alloc(cx, b->C, sizeof *g->diag);
    g->proj = cr_alloc(cx, b->C, sizeof *g->proj);
    g->S = cr_alloc(cx, b->C, sizeof *g->S);
    g->Q = cr_alloc(cx, b->C, sizeof *g->Q);
    g->place = cr_alloc(cx, b->C, sizeof *g->place);
    return g->diag && g->proj && g->S && g->Q && g->place ? CR_OK : cr_error_status(cx);
}

cr_status cri_rvm_gauss_new(cr_ctx *cx, const cri_rvm_basis *b, double noise, double floor,
                            cri_rvm_hyper hyper, cri_rvm_gauss *out)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *at = b->at;
    cri_rvm_gauss      g = {
             .basis = b, .given = noise, .floor = floor, .count = at->count, .banned = SIZE_MAX
    };
    double *w = cr_scratch_f64(&s, b->n), *wy = cr_scratch_f64(&s, b->n);

    CR_TRY(s.status);
    CR_TRY(open_functions(cx, b, &g));
    g.total = at->spread;
    for (size_t i = 0; i < b->n; i++) {
        w[i] = 1 / at->r[i];
        wy[i] = w[i] * at->y[i];
        g.total += wy[i] * at->y[i];
    }
    CR_TRY(cri_rvm_squares(cx, b, w, 1, g.diag));
    CR_TRY(cri_rvm_products(cx, b, wy, 1, g.proj));
    for (size_t c = 0; c < b->C; c++) g.S[c] = g.diag[c], g.Q[c] = g.proj[c], g.place[c] = SIZE_MAX;
    if (hyper == CRI_RVM_COUNTED) {
        g.price = 0.5 * log((double)b->C);
        if (isnan(noise) && g.count > 1) {
            g.unit = 0.5 * log(2 * M_PI * (g.total > 0 ? g.total / g.count : 1));
            g.count -= 1;
        }
    }
    g.E = g.total;
    *out = g;
    g = (cri_rvm_gauss){ 0 };
done:
    cri_rvm_gauss_free(cx, &g);
    cr_scratch_end(&s);
    return st;
}

/* --- the evidence ---------------------------------------------------------------------------- */

double cri_rvm_gauss_noise(const cri_rvm_gauss *g, double E)
{
    return isnan(g->given) ? fmax(E / g->count, g->floor) : g->given;
}

/* N log s^2 + E / s^2. */
static double energy(const cri_rvm_gauss *g, double E)
{
    double noise = cri_rvm_gauss_noise(g, E);
    return g->count * log(noise) + E / noise;
}

double cri_rvm_gauss_evidence(const cri_rvm_gauss *g)
{
    return -0.5 * (g->count * log(2 * M_PI) + energy(g, g->E) + g->log_det) - g->unit -
           g->price * (double)g->M;
}

/* The a of the largest evidence of a function with S and Q, E being without it. */
static double best_ratio(const cri_rvm_gauss *g, double S, double Q, double E)
{
    double noise = g->given, a;
    if (isnan(noise) && E > g->count * g->floor) {
        double gain = g->count * Q * Q - S * E;
        if (!(gain > 0)) return INFINITY;
        a = S * fmax(E * S - Q * Q, 0) / gain;
        if (E - Q * Q / (a + S) >= g->count * g->floor) return a;
    }
    if (isnan(noise)) noise = g->floor;
    double gain = Q * Q / noise - S;
    return gain > 0 ? S * S / gain : INFINITY;
}

/* Twice the log evidence that a function with S, Q and a adds. */
static double worth(const cri_rvm_gauss *g, double S, double Q, double E, double a)
{
    return isinf(a) ? 0
                    : energy(g, E) - energy(g, E - Q * Q / (a + S)) - log1p(S / a) - 2 * g->price;
}

typedef struct step {
    size_t c;
    double a, gain; /* what it becomes, infinite: absent; of the log evidence */
} step;

/* The best that can be done to function c. */
static step look_at(const cri_rvm_gauss *g, size_t c)
{
    size_t m = g->place[c];
    double S = g->S[c], Q = g->Q[c], E = g->E, now = INFINITY;
    if (m != SIZE_MAX) {
        double h = g->H[m * g->capacity + m];
        now = g->a[m];
        S = 1 / h - now, Q = g->mu[m] / h, E = g->E + g->mu[m] * g->mu[m] / h;
    }
    if (m == SIZE_MAX && !(S > PARALLEL * g->diag[c])) return (step){ c, INFINITY, 0 };
    S = fmax(S, 0.1 * PARALLEL * g->diag[c]);
    double a = fmax(best_ratio(g, S, Q, E), 1e-14 * S);
    return (step){ c, a, 0.5 * (worth(g, S, Q, E, a) - worth(g, S, Q, E, now)) };
}

double cri_rvm_gauss_loss(const cri_rvm_gauss *g, size_t m)
{
    double h = g->H[m * g->capacity + m], S = 1 / h - g->a[m], Q = g->mu[m] / h;
    return 0.5 * worth(g, fmax(S, 0), Q, g->E + g->mu[m] * g->mu[m] / h, g->a[m]);
}

/* The step of most gain; of several as good, that of the first function. */
static step choose(const cri_rvm_gauss *g)
{
    step best = { 0, INFINITY, 0 };
    for (size_t c = 0; c < g->basis->C; c++) {
        step one = look_at(g, c);
        if (c == g->banned) continue;
        if (one.gain > best.gain * (1 + 1e-9)) best = one;
    }
    return best;
}

/* --- from scratch ---------------------------------------------------------------------------- */

cr_status cri_rvm_gauss_factor(cr_ctx *cx, cri_rvm_gauss *g)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     M = g->M, C = g->basis->C;
    double    *L = cr_scratch_matrix(&s, M, M), *root = cr_scratch_f64(&s, M), *b = root;
    double     scale = 1e-14;

    CR_TRY(s.status);
    for (st = CR_ENUMERIC; st == CR_ENUMERIC && scale < 1;) {
        for (size_t m = 0; m < M; m++) root[m] = 1 / sqrt(g->a[m] + g->P[m * C + g->at[m]]);
        for (size_t m = 0; m < M; m++)
            for (size_t k = 0; k <= m; k++)
                L[m * M + k] = m == k ? 1 : g->P[m * C + g->at[k]] * root[m] * root[k];
        st = cr_chol(cx, cr_mat_of(L, M, M));
        scale *= 10; /* prior precisions a shade larger: another model, and a sound one */
        for (size_t m = 0; st == CR_ENUMERIC && m < M; m++) g->a[m] += scale / (root[m] * root[m]);
    }
    CR_TRY(st);
    g->log_det = M ? cr_chol_logdet(cr_cmat_of(L, M, M)) : 0;
    for (size_t m = 0; m < M; m++) g->log_det -= 2 * log(root[m]) + log(g->a[m]);
    if (M) CR_TRY(cr_chol_inverse(cx, cr_cmat_of(L, M, M), cr_mat_of(L, M, M)));
    for (size_t m = 0; m < M; m++)
        for (size_t k = 0; k < M; k++) g->H[m * g->capacity + k] = L[m * M + k] * root[m] * root[k];
    for (size_t m = 0; m < M; m++) b[m] = g->proj[g->at[m]];
    g->E = g->total;
    for (size_t m = 0; m < M; m++) {
        g->mu[m] = cr_dot(g->H + m * g->capacity, b, M);
        g->E -= g->mu[m] * b[m];
    }
    g->E = fmax(g->E, 0);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_rvm_gauss_refresh(cr_ctx *cx, cri_rvm_gauss *g)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     M = g->M, C = g->basis->C;
    double    *T = cr_scratch_matrix(&s, M, C);
    cr_cmat    H = { g->H, M, M, g->capacity };

    CR_TRY(s.status);
    CR_TRY(cri_rvm_gauss_factor(cx, g));
    for (size_t c = 0; c < C; c++) g->S[c] = g->diag[c], g->Q[c] = g->proj[c];
    if (M)
        CR_TRY(
            cr_gemm(cx, 1, H, CR_PLAIN, cr_cmat_of(g->P, M, C), CR_PLAIN, 0, cr_mat_of(T, M, C)));
    for (size_t m = 0; m < M; m++)
        for (size_t c = 0; c < C; c++) {
            g->S[c] -= g->P[m * C + c] * T[m * C + c];
            g->Q[c] -= g->P[m * C + c] * g->mu[m];
        }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- one step -------------------------------------------------------------------------------- */

/* e [C] := u^T P, of the functions present. */
static cr_status combine(cr_ctx *cx, const cri_rvm_gauss *g, const double *u, double *e)
{
    size_t C = g->basis->C;
    memset(e, 0, C * sizeof *e);
    if (g->M == 0) return CR_OK;
    return cr_gemv(cx, 1, cr_cmat_of(g->P, g->M, C), CR_TRANSPOSED, u, 0, e);
}

/* The products of function c with all, weighted: out [C]. */
static cr_status products_of(cr_ctx *cx, const cri_rvm_gauss *g, size_t c, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *phi = cr_scratch_f64(&s, g->basis->n);
    CR_TRY(s.status);
    CR_TRY(cri_rvm_columns(cx, g->basis, &c, 1, phi));
    for (size_t i = 0; i < g->basis->n; i++) phi[i] /= g->basis->at->r[i];
    CR_TRY(cri_rvm_products(cx, g->basis, phi, 1, out));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status add(cr_ctx *cx, cri_rvm_gauss *g, size_t c, double a)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     M = g->M, C = g->basis->C;
    if (M == g->capacity) CR_TRY(cri_rvm_gauss_reserve(cx, g, M ? 2 * M : 16));
    size_t  cap = g->capacity;
    double *p = g->P + M * C, *u = cr_scratch_f64(&s, M), *v = cr_scratch_f64(&s, M);
    double *e = cr_scratch_f64(&s, C), S = g->S[c], Q = g->Q[c], d = 1 / (a + S);

    CR_TRY(s.status);
    CR_TRY(products_of(cx, g, c, p));
    for (size_t m = 0; m < M; m++) v[m] = p[g->at[m]];
    for (size_t m = 0; m < M; m++) u[m] = cr_dot(g->H + m * cap, v, M);
    CR_TRY(combine(cx, g, u, e));
    for (size_t k = 0; k < C; k++) {
        e[k] = p[k] - e[k];
        g->S[k] -= d * e[k] * e[k];
        g->Q[k] -= d * Q * e[k];
    }
    for (size_t m = 0; m < M; m++) {
        for (size_t k = 0; k < M; k++) g->H[m * cap + k] += d * u[m] * u[k];
        g->H[m * cap + M] = g->H[M * cap + m] = -d * u[m];
        g->mu[m] -= d * Q * u[m];
    }
    g->H[M * cap + M] = d, g->mu[M] = d * Q;
    g->at[M] = c, g->a[M] = a, g->place[c] = M;
    g->E = fmax(g->E - d * Q * Q, 0);
    g->log_det += log1p(S / a);
    g->M++;
done:
    cr_scratch_end(&s);
    return st;
}

/* The function number m takes ratio a; infinite: the effect of its going, though it stays in the lists. */
static cr_status change(cr_ctx *cx, cri_rvm_gauss *g, size_t m, double a)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     M = g->M, C = g->basis->C, cap = g->capacity;
    double    *h = cr_scratch_f64(&s, M), *e = cr_scratch_f64(&s, C), mu = g->mu[m];

    CR_TRY(s.status);
    memcpy(h, g->H + m * cap, M * sizeof *h);
    double k = 1 / ((isinf(a) ? 0 : 1 / (a - g->a[m])) + h[m]), S = 1 / h[m] - g->a[m];
    CR_TRY(combine(cx, g, h, e));
    for (size_t c = 0; c < C; c++) {
        g->S[c] += k * e[c] * e[c];
        g->Q[c] += k * mu * e[c];
    }
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < M; j++) g->H[i * cap + j] -= k * h[i] * h[j];
        g->mu[i] -= k * mu * h[i];
    }
    g->E = fmax(g->E + k * mu * mu, 0);
    g->log_det += (isinf(a) ? 0 : log1p(S / a)) - log1p(S / g->a[m]);
    g->a[m] = a;
done:
    cr_scratch_end(&s);
    return st;
}

void cri_rvm_gauss_thin(cri_rvm_gauss *g, const bool *keep)
{
    size_t C = g->basis->C, cap = g->capacity, to = 0;
    for (size_t m = 0; m < g->M; m++) {
        g->place[g->at[m]] = keep[m] ? to : SIZE_MAX;
        if (!keep[m]) continue;
        g->at[to] = g->at[m], g->a[to] = g->a[m], g->mu[to] = g->mu[m];
        if (to != m) memcpy(g->P + to * C, g->P + m * C, C * sizeof *g->P);
        for (size_t k = 0, j = 0; k < g->M; k++)
            if (keep[k]) g->H[to * cap + j++] = g->H[m * cap + k];
        to++;
    }
    g->M = to;
}

cr_status cri_rvm_gauss_drop(cr_ctx *cx, cri_rvm_gauss *g, size_t m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool      *keep = cr_scratch_bytes(&s, g->M, sizeof *keep);
    CR_TRY(s.status);
    for (size_t k = 0; k < g->M; k++) keep[k] = k != m;
    CR_TRY(change(cx, g, m, INFINITY));
    cri_rvm_gauss_thin(g, keep);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- until none gains ------------------------------------------------------------------------ */

cr_status cri_rvm_gauss_set(cr_ctx *cx, cri_rvm_gauss *g, const size_t *at, const double *a,
                            size_t M)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_rvm_basis *b = g->basis;
    double              *Phi = cr_scratch_matrix(&s, b->n, M), *T = cr_scratch_matrix(&s, b->C, M);

    CR_TRY(s.status);
    CR_TRY(cri_rvm_columns(cx, b, at, M, Phi));
    for (size_t i = 0; i < b->n; i++)
        for (size_t m = 0; m < M; m++) Phi[i * M + m] /= b->at->r[i];
    if (M) CR_TRY(cri_rvm_products(cx, b, Phi, M, T));
    CR_TRY(cri_rvm_gauss_reserve(cx, g, M));
    for (size_t m = 0; m < g->M; m++) g->place[g->at[m]] = SIZE_MAX;
    g->M = M;
    for (size_t m = 0; m < M; m++) {
        g->at[m] = at[m], g->a[m] = a[m], g->place[at[m]] = m;
        for (size_t c = 0; c < b->C; c++) g->P[m * b->C + c] = T[c * M + m];
    }
    CR_TRY(cri_rvm_gauss_refresh(cx, g));
done:
    cr_scratch_end(&s);
    return st;
}

/* What is known to be sound; what to return to when rounding leads astray. */
static void mark(cri_rvm_gauss *g)
{
    g->sound_M = g->M;
    g->sound = cri_rvm_gauss_evidence(g);
    if (g->M == 0) return;
    memcpy(g->sound_at, g->at, g->M * sizeof *g->at);
    memcpy(g->sound_a, g->a, g->M * sizeof *g->a);
}

/* Afresh; where the evidence has not risen after all, back to the mark, and refreshed more often from now on.
 * *out_stuck: that is after each step already. */
static cr_status confirm(cr_ctx *cx, cri_rvm_gauss *g, size_t *interval, bool *out_stuck)
{
    cr_status st = CR_OK;
    CR_TRY(cri_rvm_gauss_refresh(cx, g));
    *out_stuck = false;
    if (cri_rvm_gauss_evidence(g) >= g->sound - 1e-9 * fabs(g->sound)) {
        mark(g);
        goto done;
    }
    *out_stuck = *interval == 1;
    *interval = *interval > 4 ? *interval / 4 : 1;
    CR_TRY(cri_rvm_gauss_set(cx, g, g->sound_at, g->sound_a, g->sound_M));
done:
    return st;
}

/* Takes a step, and unless `alone` all a together after many that only changed them. */
static cr_status take(cr_ctx *cx, cri_rvm_gauss *g, step best, bool alone, size_t *changes)
{
    cr_status st = CR_OK;
    size_t    m = g->place[best.c];
    g->steps++;
    *changes = m != SIZE_MAX && !isinf(best.a) ? *changes + 1 : 0;
    if (m == SIZE_MAX) return add(cx, g, best.c, best.a);
    if (isinf(best.a)) return cri_rvm_gauss_drop(cx, g, m);
    CR_TRY(change(cx, g, m, best.a));
    if (alone || *changes <= MANY + g->M / 2) goto done;
    CR_TRY(cri_rvm_gauss_move(cx, g, 50, 1e-8));
    CR_TRY(cri_rvm_gauss_refresh(cx, g));
    *changes = 0;
done:
    return st;
}

/* Steps, until none gains or there have been too many.  quick: nothing is computed afresh, and no step follows the
 * first that gains nothing. */
static cr_status walk(cr_ctx *cx, cri_rvm_gauss *g, const cri_rvm_limits *limits, bool quick,
                      cr_stop *out_stop)
{
    cr_status st = CR_OK;
    size_t    begin = g->steps, changes = 0, interval = AFRESH, since = 0;
    bool      stuck = false;
    for (*out_stop = CR_STOP_TOLERANCE; !stuck;) {
        step best = choose(g);
        bool none = best.gain < limits->tol;
        if (none && (quick || since == 0)) goto done;
        if (!quick && (none || since >= interval)) {
            CR_TRY(confirm(cx, g, &interval, &stuck));
            since = 0;
            continue;
        }
        bool over = cri_clock_over(&limits->clock);
        if (over || g->steps - begin >= limits->max_steps) {
            *out_stop = over ? CR_STOP_TIME : CR_STOP_LIMIT;
            break;
        }
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(take(cx, g, best, quick, &changes));
        since++;
    }
    if (!quick) CR_TRY(confirm(cx, g, &interval, &stuck));
done:
    return st;
}

cr_status cri_rvm_gauss_climb(cr_ctx *cx, cri_rvm_gauss *g, const cri_rvm_limits *limits,
                              cr_stop *out_stop)
{
    cr_status st = CR_OK;
    CR_TRY(cri_rvm_gauss_refresh(cx, g));
    mark(g);
    CR_TRY(walk(cx, g, limits, false, out_stop));
done:
    return st;
}

cr_status cri_rvm_gauss_finish(cr_ctx *cx, cri_rvm_gauss *g, const cri_rvm_limits *limits)
{
    cr_status      st = CR_OK;
    cr_stop        stop;
    cri_rvm_limits fine = *limits;
    fine.tol *= 1e-3, fine.max_steps = 100;
    CR_TRY(cri_rvm_gauss_refresh(cx, g));
    mark(g);
    CR_TRY(cri_rvm_gauss_move(cx, g, 500, 1e-13));
    CR_TRY(cri_rvm_gauss_refresh(cx, g));
    if (cri_rvm_gauss_evidence(g) < g->sound)
        CR_TRY(cri_rvm_gauss_set(cx, g, g->sound_at, g->sound_a, g->sound_M));
    mark(g);
    CR_TRY(walk(cx, g, &fine, false, &stop));
    CR_TRY(cri_rvm_gauss_move(cx, g, 500, 1e-13));
    CR_TRY(cri_rvm_gauss_refresh(cx, g));
done:
    return st;
}

cr_status cri_rvm_gauss_settle(cr_ctx *cx, cri_rvm_gauss *g, const cri_rvm_limits *limits)
{
    cr_stop stop;
    return walk(cx, g, limits, true, &stop);
}

cr_status cri_rvm_gauss_copy(cr_ctx *cx, const cri_rvm_gauss *from, cri_rvm_gauss *to)
{
    cr_status st = CR_OK;
    size_t    C = from->basis->C, M = from->M;
    if (!to->basis) CR_TRY(open_functions(cx, from->basis, to));
    CR_TRY(cri_rvm_gauss_reserve(cx, to, M + 16));
    for (size_t c = 0; c < C; c++) {
        to->diag[c] = from->diag[c], to->proj[c] = from->proj[c];
        to->S[c] = from->S[c], to->Q[c] = from->Q[c], to->place[c] = from->place[c];
    }
    for (size_t m = 0; m < M; m++) {
        to->at[m] = from->at[m], to->a[m] = from->a[m], to->mu[m] = from->mu[m];
        memcpy(to->P + m * C, from->P + m * C, C * sizeof *to->P);
        memcpy(to->H + m * to->capacity, from->H + m * from->capacity, M * sizeof *to->H);
    }
    to->count = from->count, to->price = from->price, to->unit = from->unit,
    to->total = from->total, to->given = from->given;
    to->floor = from->floor, to->E = from->E, to->log_det = from->log_det;
    to->banned = from->banned, to->steps = from->steps, to->M = M;
    mark(to);
done:
    return st;
}
