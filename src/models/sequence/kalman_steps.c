/* kalman_steps.c -- see kalman_steps.h. */
#include "kalman_steps.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_STAGES = 128 };

/* The largest part whose T has parameters, of which the adjoint of powers is needed. */
static size_t largest_dynamic(const cri_kalman_plan *opt_plan)
{
    size_t most = 0;
    for (size_t k = 0; opt_plan && k < opt_plan->n_parts; k++) {
        const cri_kalman_part *part = &opt_plan->parts[k];
        bool                   dynamic = part->p + part->q > 0 || part->kind == CRI_KALMAN_CYCLE;
        if (dynamic && part->n > most) most = part->n;
    }
    return most;
}

cr_status cri_kalman_steps_new(cr_scratch *s, const cri_kalman_plan *opt_plan, const double *gap,
                               size_t n, cri_kalman_system *system)
{
    size_t m = system->m, d = largest_dynamic(opt_plan), entries = opt_plan ? 0 : m * m;
    for (size_t k = 0; opt_plan && k < opt_plan->n_parts; k++) {
        const cri_kalman_part *part = &opt_plan->parts[k];
        bool constant = part->kind == CRI_KALMAN_REGRESSION || part->kind == CRI_KALMAN_CONSTANT;
        entries += constant ? part->n : part->n * part->n;
    }
    system->steps_work = cr_scratch_f64(s, 5 * m * m + (2 * MOST_STAGES + 8) * d * d);
    system->steps = cr_scratch_bytes(s, n, sizeof *system->steps);
    for (size_t i = 0; s->status == CR_OK && i < n; i++) {
        cri_kalman_step    *step = &system->steps[i];
        cri_kalman_entries *lists[] = { &step->forward, &step->backward };
        for (size_t k = 0; k < 2; k++) {
            lists[k]->row = cr_scratch_index(s, m + 1);
            lists[k]->column = cr_scratch_index(s, entries);
            lists[k]->entry = cr_scratch_f64(s, entries);
        }
        step->Q = cr_scratch_matrix(s, m, m);
        step->gap = gap[i];
    }
    system->n_steps = n;
    return s->status;
}

/* --- whole gaps ------------------------------------------------------------------------------ */

static size_t top_bit(size_t g)
{
    size_t bit = 1;
    while (bit <= g / 2) bit *= 2;
    return g > 0 ? bit : 0;
}

/* A = T^g and S = sum_{i<g} T^i Q T'^i, digit by digit of g.  out_A lists A; its entries must have the room.  work [3 m m]. */
static cr_status raise(cr_ctx *cx, const cri_kalman_entries *T, const double *Q, size_t m, size_t g,
                       double *S, cri_kalman_entries *out_A, double *work)
{
    cr_status st = CR_OK;
    double   *A = work, *old = A + m * m, *rest = old + m * m;
    memset(A, 0, m * m * sizeof *A);
    memset(S, 0, m * m * sizeof *S);
    for (size_t i = 0; i < m; i++) A[i * m + i] = 1;
    cri_kalman_list(A, m, false, out_A);
    for (size_t bit = top_bit(g); bit > 0; bit /= 2) {
        CR_TRY(cr_check_interrupt(cx));
        memcpy(old, S, m * m * sizeof *S);
        cri_kalman_carry(out_A, m, S, old, false, rest); /* S + A S A' */
        cri_kalman_apply(out_A, m, A, old);              /* A A */
        memcpy(A, old, m * m * sizeof *A);
        if (g & bit) { /* a step more */
            cri_kalman_carry(T, m, S, Q, false, rest);
            cri_kalman_apply(T, m, A, old);
            memcpy(A, old, m * m * sizeof *A);
        }
        cri_kalman_list(A, m, false, out_A);
    }
done:
    return st;
}

/* out (+)= A B, each of them transposed or not: small and dense. */
static void multiply(const double *A, bool turn_A, const double *B, bool turn_B, size_t n,
                     double factor, bool add, double *out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < n; l++)
                sum +=
                    (turn_A ? A[l * n + i] : A[i * n + l]) * (turn_B ? B[j * n + l] : B[l * n + j]);
            out[i * n + j] = factor * sum + (add ? out[i * n + j] : 0);
        }
}

/* out += the score by T of the powers T^g and Q_g, whose own scores are by_A and by_S [n x n], overwritten: the stages of
 * raise() backwards.  work [(2 MOST_STAGES + 2) n n]. */
static void lower(const double *T, const double *Q, size_t n, size_t g, double *by_A, double *by_S,
                  double *out, double *work)
{
    size_t  nn = n * n, bytes = nn * sizeof(double), stages = 0;
    double *stage = work, *M = work + 2 * MOST_STAGES * nn, *N = M + nn;
    bool    doubled[MOST_STAGES];
    if (g == 0) return;
    memcpy(stage, T, bytes); /* A and S before each stage */
    memcpy(stage + nn, Q, bytes);
    for (size_t bit = top_bit(g) / 2; bit > 0; bit /= 2)
        for (size_t k = 0; k < 1 + (g & bit ? 1u : 0u); k++) {
            const double *A = stage + 2 * stages * nn, *S = A + nn, *by = k == 0 ? A : T;
            double       *next_A = stage + 2 * (stages + 1) * nn, *next_S = next_A + nn;
            doubled[stages++] = k == 0;
            multiply(by, false, A, false, n, 1, false, next_A);
            multiply(by, false, S, false, n, 1, false, M);
            memcpy(next_S, k == 0 ? S : Q, bytes);
            multiply(M, false, by, true, n, 1, true, next_S);
        }
    while (stages-- > 0) {
        const double *A = stage + 2 * stages * nn, *S = A + nn;
        bool          twice = doubled[stages];
        multiply(by_S, false, twice ? A : T, false, n, 1, false, M);
        multiply(M, false, S, false, n, 2, !twice, twice ? N : out);
        multiply(by_A, false, A, true, n, 1, true, twice ? N : out);
        multiply(twice ? A : T, true, by_A, false, n, 1, twice, N);
        memcpy(by_A, N, bytes);
        multiply(twice ? A : T, true, M, false, n, 1, twice, by_S);
    }
    for (size_t i = 0; i < nn; i++) out[i] += by_A[i];
}

/* --- other gaps ------------------------------------------------------------------------------ */

/* What of the matrices of a gap d of a stationary part follows from those of a step: rho^d, the factor
 * (1 - rho^2d) / (1 - rho^2) of the variance, and their derivatives by rho. */
typedef struct decay {
    double power, power_slope, factor, factor_slope;
} decay;

static decay decay_of(double rho, double d)
{
    decay  o = { .power = pow(rho, d), .power_slope = d * pow(rho, d - 1) };
    double left = (1 - rho) * (1 + rho), gone = -expm1(2 * d * log(rho));
    o.factor = gone / left;
    o.factor_slope = 2 * (rho * o.factor - o.power * o.power_slope) / left;
    return o;
}

/* The block of a part in T_d and Q_d: T and Q hold those of a step. */
static void build_between(const cri_kalman_part *part, const cri_kalman_system *s, double d,
                          double *T, double *Q)
{
    size_t m = s->m, i = part->first, j = i + 1;
    double q = part->n > 0 ? s->Q[i * m + i] : 0, rho, angle;
    decay  o;
    switch (part->kind) {
    case CRI_KALMAN_TREND:
        T[i * m + i] = T[j * m + j] = 1;
        T[i * m + j] = d;
        Q[i * m + i] = d * (q + d * d / 3 * s->Q[j * m + j]);
        Q[i * m + j] = Q[j * m + i] = d * d / 2 * s->Q[j * m + j];
        Q[j * m + j] = d * s->Q[j * m + j];
        break;
    case CRI_KALMAN_CYCLE:
        rho = hypot(s->T[i * m + i], s->T[i * m + j]);
        angle = d * atan2(s->T[i * m + j], s->T[i * m + i]);
        o = decay_of(rho, d);
        T[i * m + i] = T[j * m + j] = o.power * cos(angle);
        T[i * m + j] = o.power * sin(angle);
        T[j * m + i] = -T[i * m + j];
        Q[i * m + i] = Q[j * m + j] = q * o.factor;
        break;
    case CRI_KALMAN_AR:
        o = decay_of(s->T[i * m + i], d);
        T[i * m + i] = o.power;
        Q[i * m + i] = q * o.factor;
        break;
    default: /* walks, and what is constant */
        for (; i < part->first + part->n; i++) {
            T[i * m + i] = 1;
            Q[i * m + i] = d * s->Q[i * m + i];
        }
    }
}

/* Adds to the score by T and Q what follows from that by T_d and Q_d. */
static void pull_between(const cri_kalman_part *part, const cri_kalman_system *s, double d,
                         const double *by_T, const double *by_Q, cri_kalman_score *out)
{
    size_t m = s->m, i = part->first, j = i + 1;
    double q = part->n > 0 ? s->Q[i * m + i] : 0, rho, angle, by_rho, by_angle, c, e;
    decay  o;
    switch (part->kind) {
    case CRI_KALMAN_TREND:
        out->Q[i * m + i] += d * by_Q[i * m + i];
        out->Q[j * m + j] += d * d * d / 3 * by_Q[i * m + i] +
                             d * d / 2 * (by_Q[i * m + j] + by_Q[j * m + i]) + d * by_Q[j * m + j];
        break;
    case CRI_KALMAN_CYCLE:
        rho = hypot(s->T[i * m + i], s->T[i * m + j]);
        angle = atan2(s->T[i * m + j], s->T[i * m + i]);
        o = decay_of(rho, d);
        c = by_T[i * m + i] + by_T[j * m + j];
        e = by_T[i * m + j] - by_T[j * m + i];
        by_rho = o.power_slope * (c * cos(d * angle) + e * sin(d * angle)) +
                 q * o.factor_slope * (by_Q[i * m + i] + by_Q[j * m + j]);
        by_angle = d * o.power * (e * cos(d * angle) - c * sin(d * angle));
        out->Q[i * m + i] += o.factor * by_Q[i * m + i];
        out->Q[j * m + j] += o.factor * by_Q[j * m + j];
        out->T[i * m + i] += by_rho * cos(angle) - by_angle * sin(angle) / rho;
        out->T[i * m + j] += by_rho * sin(angle) + by_angle * cos(angle) / rho;
        break;
    case CRI_KALMAN_AR:
        o = decay_of(s->T[i * m + i], d);
        out->T[i * m + i] += o.power_slope * by_T[i * m + i] + q * o.factor_slope * by_Q[i * m + i];
        out->Q[i * m + i] += o.factor * by_Q[i * m + i];
        break;
    default:
        for (; i < part->first + part->n; i++) out->Q[i * m + i] += d * by_Q[i * m + i];
    }
}

/* --- all gaps -------------------------------------------------------------------------------- */

cr_status cri_kalman_steps_build(cr_ctx *cx, const cri_kalman_plan *opt_plan, cri_kalman_system *s)
{
    cr_status st = CR_OK;
    size_t    m = s->m;
    double   *work = s->steps_work, *T = work;
    for (size_t g = 0; g < s->n_steps; g++) {
        cri_kalman_step *step = &s->steps[g];
        if (opt_plan && opt_plan->between) {
            memset(T, 0, m * m * sizeof *T);
            memset(step->Q, 0, m * m * sizeof *T);
            for (size_t k = 0; k < opt_plan->n_parts; k++)
                build_between(&opt_plan->parts[k], s, step->gap, T, step->Q);
            cri_kalman_list(T, m, false, &step->forward);
        } else {
            CR_TRY(
                raise(cx, &s->forward, s->Q, m, (size_t)step->gap, step->Q, &step->forward, work));
        }
        cri_kalman_list(T, m, true, &step->backward);
    }
done:
    return st;
}

static void take(const double *A, size_t m, const cri_kalman_part *part, double *out)
{
    for (size_t i = 0; i < part->n; i++)
        memcpy(out + i * part->n, A + (part->first + i) * m + part->first, part->n * sizeof *out);
}

/* The score by the block of T of a part, from that of a whole gap. */
static void pull_dynamic(const cri_kalman_part *part, const cri_kalman_system *s, size_t g,
                         const double *by_T, const double *by_Q, cri_kalman_score *out,
                         double *work)
{
    size_t  m = s->m, n = part->n, nn = n * n;
    double *T = work, *Q = T + nn, *by_A = Q + nn, *by_S = by_A + nn, *sum = by_S + nn;
    take(s->T, m, part, T);
    take(s->Q, m, part, Q);
    take(by_T, m, part, by_A);
    take(by_Q, m, part, by_S);
    memset(sum, 0, nn * sizeof *sum);
    lower(T, Q, n, g, by_A, by_S, sum, sum + nn);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            out->T[(part->first + i) * m + part->first + j] += sum[i * n + j];
}

cr_status cri_kalman_steps_pull(cr_ctx *cx, const cri_kalman_plan *plan, const cri_kalman_system *s,
                                cri_kalman_score *score)
{
    cr_status st = CR_OK;
    size_t    m = s->m, mm = m * m;
    double   *W = s->steps_work, *work = W + mm, *small = s->steps_work + 5 * mm;
    for (size_t g = 0; g < s->n_steps; g++) {
        cri_kalman_step *step = &s->steps[g];
        const double    *by_Q = score->steps_Q + g * mm;
        const double    *by_T = score->T ? score->steps_T + g * mm : NULL;
        for (size_t k = 0; k < plan->n_parts; k++) {
            const cri_kalman_part *part = &plan->parts[k];
            if (plan->between)
                pull_between(part, s, step->gap, by_T, by_Q, score);
            else if (part->p + part->q > 0 || part->kind == CRI_KALMAN_CYCLE)
                pull_dynamic(part, s, (size_t)step->gap, by_T, by_Q, score, small);
        }
        if (plan->between) continue;
        /* T'^g is what `backward` lists already */
        CR_TRY(raise(cx, &s->backward, by_Q, m, (size_t)step->gap, W, &step->backward, work));
        for (size_t i = 0; i < mm; i++) score->Q[i] += W[i];
    }
done:
    return st;
}
