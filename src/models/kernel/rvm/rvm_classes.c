/* rvm_classes.c -- steps of one function each, of a classifier. */
#include "rvm_classes.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

static const double PARALLEL = 1e-10; /* as in rvm_gauss.c */
enum { ROUNDS = 200 };
static const double IDLE = 1e-3; /* as in rvm_down.c */

/* --- life ------------------------------------------------------------------------------------ */

static void free_lists(cr_ctx *cx, cri_rvm_classes *z)
{
    size_t cap = z->capacity, n = z->basis ? z->basis->n : 0;
    cr_free(cx, z->at, cap, sizeof *z->at);
    cr_free(cx, z->alpha, cap, sizeof *z->alpha);
    cr_free(cx, z->weight, cap, sizeof *z->weight);
    cr_free(cx, z->Phi, cap * n, sizeof *z->Phi);
    cr_free(cx, z->V, cap * cap, sizeof *z->V);
}

void cri_rvm_classes_free(cr_ctx *cx, cri_rvm_classes *z)
{
    size_t all = z->basis ? z->F * z->basis->C : 0, n = z->basis ? z->basis->n : 0;
    free_lists(cx, z);
    cr_free(cx, z->p, n * z->F, sizeof *z->p);
    cr_free(cx, z->S, all, sizeof *z->S);
    cr_free(cx, z->Q, all, sizeof *z->Q);
    cr_free(cx, z->place, all, sizeof *z->place);
    cr_free(cx, z->vain, all, sizeof *z->vain);
    *z = (cri_rvm_classes){ 0 };
}

static cr_status reserve(cr_ctx *cx, cri_rvm_classes *z, size_t cap)
{
    size_t n = z->basis->n, M = z->M;
    if (cap <= z->capacity) return CR_OK;
    cri_rvm_classes more = { .basis = z->basis,
                             .capacity = cap,
                             .at = cr_alloc(cx, cap, sizeof *z->at),
                             .alpha = cr_alloc(cx, cap, sizeof *z->alpha),
                             .weight = cr_alloc(cx, cap, sizeof *z->weight),
                             .Phi = cr_alloc(cx, cap * n, sizeof *z->Phi),
                             .V = cr_alloc(cx, cap * cap, sizeof *z->V) };
    if (!more.at || !more.alpha || !more.weight || !more.Phi || !more.V) {
        cr_status st = cr_error_status(cx);
        free_lists(cx, &more);
        return st;
    }
    if (M) {
        memcpy(more.at, z->at, M * sizeof *z->at);
        memcpy(more.alpha, z->alpha, M * sizeof *z->alpha);
        memcpy(more.weight, z->weight, M * sizeof *z->weight);
        memcpy(more.Phi, z->Phi, M * n * sizeof *z->Phi);
    }
    for (size_t m = 0; m < M; m++)
        memcpy(more.V + m * cap, z->V + m * z->capacity, M * sizeof *z->V);
    free_lists(cx, z);
    z->at = more.at, z->alpha = more.alpha, z->weight = more.weight;
    z->Phi = more.Phi, z->V = more.V, z->capacity = cap;
    return CR_OK;
}

/* Room for what there is of all functions. */
static cr_status open_functions(cr_ctx *cx, cri_rvm_classes *z)
{
    size_t all = z->F * z->basis->C;
    z->p = cr_alloc(cx, z->basis->n * z->F, sizeof *z->p);
    z->S = cr_alloc(cx, all, sizeof *z->S);
    z->Q = cr_alloc(cx, all, sizeof *z->Q);
    z->place = cr_alloc(cx, all, sizeof *z->place);
    z->vain = cr_alloc(cx, all, sizeof *z->vain);
    return z->p && z->S && z->Q && z->place && z->vain ? CR_OK : cr_error_status(cx);
}

cr_status cri_rvm_classes_copy(cr_ctx *cx, const cri_rvm_classes *from, cri_rvm_classes *to)
{
    cr_status st = CR_OK;
    size_t    n = from->basis->n, M = from->M, all = from->F * from->basis->C;
    if (!to->basis) {
        to->basis = from->basis, to->F = from->F, to->T = from->T, to->count = from->count;
        CR_TRY(open_functions(cx, to));
    }
    CR_TRY(reserve(cx, to, from->capacity));
    for (size_t m = 0; m < M; m++) {
        to->at[m] = from->at[m], to->alpha[m] = from->alpha[m], to->weight[m] = from->weight[m];
        memcpy(to->Phi + m * n, from->Phi + m * n, n * sizeof *to->Phi);
        memcpy(to->V + m * to->capacity, from->V + m * from->capacity, M * sizeof *to->V);
    }
    memcpy(to->p, from->p, n * from->F * sizeof *to->p);
    memcpy(to->place, from->place, all * sizeof *to->place);
    memset(to->vain, 0, all * sizeof *to->vain);
    to->M = M, to->evidence = from->evidence, to->log_likelihood = from->log_likelihood;
    to->banned = SIZE_MAX, to->steps = from->steps;
done:
    return st;
}

cr_status cri_rvm_classes_new(cr_ctx *cx, const cri_rvm_basis *b, size_t F, const double *T,
                              const double *count, cri_rvm_classes *out)
{
    cr_status       st = CR_OK;
    size_t          all = F * b->C;
    cri_rvm_classes z = { .basis = b, .F = F, .T = T, .count = count, .banned = SIZE_MAX };
    CR_TRY(open_functions(cx, &z));
    for (size_t k = 0; k < all; k++) z.place[k] = SIZE_MAX;
    CR_TRY(cri_rvm_classes_mode(cx, &z));
    *out = z;
    z = (cri_rvm_classes){ 0 };
done:
    cri_rvm_classes_free(cx, &z);
    return st;
}

/* --- what a step would gain ------------------------------------------------------------------ */

/* S and Q of all functions. */
static cr_status look_at_all(cr_ctx *cx, cri_rvm_classes *z)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_rvm_basis *b = z->basis;
    size_t               n = b->n, C = b->C, F = z->F, M = z->M;
    double              *B = cr_scratch_matrix(&s, n, 2 * F), *R = B + n * F;
    double              *U = cr_scratch_matrix(&s, n, M), *v = cr_scratch_matrix(&s, C, M);
    double              *Hv = cr_scratch_matrix(&s, C, M), *sums = cr_scratch_matrix(&s, C, F);
    cr_cmat              V = { z->V, M, M, z->capacity };

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++)
        for (size_t f = 0; f < F; f++) {
            B[i * F + f] = cri_rvm_curvature(z, i, f, f);
            R[i * F + f] = z->T[i * F + f] - z->count[i] * z->p[i * F + f];
        }
    CR_TRY(cri_rvm_products(cx, b, R, F, sums));
    for (size_t c = 0; c < C; c++)
        for (size_t f = 0; f < F; f++) z->Q[f * C + c] = sums[c * F + f];
    CR_TRY(cri_rvm_squares(cx, b, B, F, sums));
    for (size_t c = 0; c < C; c++)
        for (size_t f = 0; f < F; f++) z->S[f * C + c] = sums[c * F + f];
    for (size_t f = 0; M && f < F; f++) {
        for (size_t i = 0; i < n; i++)
            for (size_t m = 0; m < M; m++)
                U[i * M + m] = z->Phi[m * n + i] * cri_rvm_curvature(z, i, f, z->at[m] / C);
        CR_TRY(cri_rvm_products(cx, b, U, M, v));
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(v, C, M), CR_PLAIN, V, CR_PLAIN, 0, cr_mat_of(Hv, C, M)));
        for (size_t c = 0; c < C; c++) {
            double whole = z->S[f * C + c];
            z->S[f * C + c] -= cr_dot(v + c * M, Hv + c * M, M);
            if (z->S[f * C + c] < PARALLEL * whole) z->S[f * C + c] = 0;
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Twice the log evidence that a function adds. */
static double worth(double S, double Q, double alpha)
{
    return isinf(alpha) ? 0 : Q * Q / (alpha + S) - log1p(S / alpha);
}

static double best_alpha(double S, double Q)
{
    double gain = Q * Q - S;
    return gain > 0 ? S * S / gain : INFINITY;
}

typedef struct step {
    size_t c;
    double alpha, gain;
} step;

static step look_at(const cri_rvm_classes *z, size_t c)
{
    size_t m = z->place[c];
    double S = z->S[c], Q = z->Q[c], now = INFINITY;
    if (m != SIZE_MAX) {
        double v = z->V[m * z->capacity + m];
        now = z->alpha[m], S = fmax(1 / v - now, 1e-12 / v), Q = z->weight[m] / v;
    }
    if (!(S > 0)) return (step){ c, INFINITY, 0 };
    double alpha = best_alpha(S, Q);
    return (step){ c, alpha, 0.5 * (worth(S, Q, alpha) - worth(S, Q, now)) };
}

double cri_rvm_classes_loss(const cri_rvm_classes *z, size_t m)
{
    double v = z->V[m * z->capacity + m], S = fmax(1 / v - z->alpha[m], 0);
    return 0.5 * worth(S, z->weight[m] / v, z->alpha[m]);
}

/* The step of most gain among those not found vain: of functions that are present, or absent. */
static step choose(const cri_rvm_classes *z, bool present)
{
    step best = { 0, INFINITY, 0 };
    for (size_t c = 0; c < z->F * z->basis->C; c++) {
        if ((z->place[c] != SIZE_MAX) != present || z->vain[c] || c == z->banned) continue;
        step one = look_at(z, c);
        if (one.gain > best.gain * (1 + 1e-9)) best = one;
    }
    return best;
}

/* --- steps ----------------------------------------------------------------------------------- */

static cr_status append(cr_ctx *cx, cri_rvm_classes *z, size_t c, double alpha)
{
    cr_status st = CR_OK;
    size_t    n = z->basis->n, of = c % z->basis->C;
    if (z->M == z->capacity) CR_TRY(reserve(cx, z, z->M ? 2 * z->M : 16));
    CR_TRY(cri_rvm_columns(cx, z->basis, &of, 1, z->Phi + z->M * n));
    z->at[z->M] = c, z->place[c] = z->M;
    z->alpha[z->M] = alpha, z->weight[z->M] = 0;
    z->M++;
done:
    return st;
}

/* Keeps the weights that `keep` names. */
static void thin(cri_rvm_classes *z, const bool *keep)
{
    size_t n = z->basis->n, to = 0;
    for (size_t m = 0; m < z->M; m++) {
        z->place[z->at[m]] = keep[m] ? to : SIZE_MAX;
        if (!keep[m]) continue;
        z->at[to] = z->at[m], z->alpha[to] = z->alpha[m], z->weight[to] = z->weight[m];
        if (to != m) memcpy(z->Phi + to * n, z->Phi + m * n, n * sizeof *z->Phi);
        to++;
    }
    z->M = to;
}

static cr_status drop(cr_ctx *cx, cri_rvm_classes *z, size_t m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool      *keep = cr_scratch_bytes(&s, z->M, sizeof *keep);
    CR_TRY(s.status);
    for (size_t k = 0; k < z->M; k++) keep[k] = k != m;
    thin(z, keep);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_rvm_classes_drop(cr_ctx *cx, cri_rvm_classes *z, size_t m)
{
    cr_status st = drop(cx, z, m);
    return st == CR_OK ? cri_rvm_classes_mode(cx, z) : st;
}

/* Takes the step and finds the mode; where the evidence has not risen, all is as it was, and the step is vain. */
static cr_status take(cr_ctx *cx, cri_rvm_classes *z, step to)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     M = z->M, m = z->place[to.c];
    double    *weight = cr_scratch_f64(&s, M), before = z->evidence;
    double     alpha = m == SIZE_MAX ? INFINITY : z->alpha[m];

    CR_TRY(s.status);
    if (M) memcpy(weight, z->weight, M * sizeof *weight);
    z->steps++;
    if (m == SIZE_MAX)
        CR_TRY(append(cx, z, to.c, to.alpha));
    else if (isinf(to.alpha))
        CR_TRY(drop(cx, z, m));
    else
        z->alpha[m] = to.alpha;
    CR_TRY(cri_rvm_classes_mode(cx, z));
    if (z->evidence > before) {
        memset(z->vain, 0, z->F * z->basis->C * sizeof *z->vain);
        goto done;
    }
    z->vain[to.c] = true;
    if (m == SIZE_MAX) {
        CR_TRY(drop(cx, z, M));
        memcpy(z->weight, weight, M * sizeof *weight);
    } else if (isinf(to.alpha)) { /* it comes back as the last one */
        CR_TRY(append(cx, z, to.c, alpha));
        memmove(weight + m, weight + m + 1, (M - m - 1) * sizeof *weight);
        memcpy(z->weight, weight, (M - 1) * sizeof *weight);
    } else {
        z->alpha[m] = alpha;
        memcpy(z->weight, weight, M * sizeof *weight);
    }
    CR_TRY(cri_rvm_classes_mode(cx, z));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_rvm_classes_climb(cr_ctx *cx, cri_rvm_classes *z, const cri_rvm_limits *limits,
                                cr_stop *out_stop)
{
    cr_status st = CR_OK;
    size_t    begin = z->steps;
    bool      known = false; /* S and Q are those of the present mode */
    for (*out_stop = CR_STOP_TOLERANCE;;) {
        bool over = cri_clock_over(&limits->clock);
        if (over || z->steps - begin >= limits->max_steps) {
            *out_stop = over ? CR_STOP_TIME : CR_STOP_LIMIT;
            goto done;
        }
        CR_TRY(cr_check_interrupt(cx));
        step   best = choose(z, true); /* those present settle before another one comes */
        double before = z->evidence;
        if (best.gain < limits->tol) {
            if (!known) CR_TRY(look_at_all(cx, z));
            known = true;
            best = choose(z, false);
            if (best.gain < limits->tol) goto done;
        }
        CR_TRY(take(cx, z, best));
        if (z->evidence != before) known = false;
    }
done:
    return st;
}

/* --- from all functions down ----------------------------------------------------------------- */

static cr_status fill(cr_ctx *cx, cri_rvm_classes *z, double strength)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_rvm_basis *b = z->basis;
    size_t               n = b->n, C = b->C;
    double              *square = cr_scratch_f64(&s, C), sum = 0, rows = 0;
    CR_TRY(s.status);
    CR_TRY(reserve(cx, z, z->F * C));
    CR_TRY(cri_rvm_squares(cx, b, z->count, 1, square));
    for (size_t i = 0; i < n; i++) rows += z->count[i];
    for (size_t c = 0; c < C; c++) sum += square[c] / rows;
    for (size_t k = 0; k < z->F * C; k++) {
        z->at[k] = z->place[k] = k;
        z->alpha[k] = strength * sum, z->weight[k] = 0;
        for (size_t i = 0; i < n; i++) z->Phi[k * n + i] = b->Phi[i * C + k % C];
    }
    z->M = z->F * C;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_rvm_classes_down(cr_ctx *cx, cri_rvm_classes *z, double strength,
                               const cri_rvm_limits *limits)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool      *keep = cr_scratch_bytes(&s, z->F * z->basis->C, sizeof *keep);
    double     last = -INFINITY;
    CR_TRY(s.status);
    CR_TRY(fill(cx, z, strength));
    for (size_t round = 0; round < ROUNDS && z->M > 0; round++, z->steps++) {
        size_t going = 0;
        CR_TRY(cr_check_interrupt(cx));
        if (cri_clock_over(&limits->clock)) break;
        CR_TRY(cri_rvm_classes_mode(cx, z));
        for (size_t m = 0; m < z->M; m++) {
            double known = 1 - z->alpha[m] * z->V[m * z->capacity + m];
            double next = known / (z->weight[m] * z->weight[m]);
            keep[m] = known > IDLE && isfinite(next);
            going += !keep[m];
            if (keep[m]) z->alpha[m] = next;
        }
        if (going) thin(z, keep);
        if (!going && z->evidence - last < 0.01) break;
        last = z->evidence;
    }
    CR_TRY(cri_rvm_classes_mode(cx, z));
done:
    cr_scratch_end(&s);
    return st;
}
