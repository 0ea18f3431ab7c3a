/* kalman_parts.c -- from the parts of a structural model to its matrices, and back from their score. */
#include "kalman_parts.h"
#include "kalman_arma.h"
#include "kalman_joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the matrices ---------------------------------------------------------------------------- */

/* rho cos and rho sin of a cycle, and their derivatives by its two parameters. */
typedef struct turn {
    double rho, lambda;             /* damping and frequency            */
    double rho_slope, lambda_slope; /* their derivatives by theta       */
} turn;

/* A number in (0, 1) by a theta without bounds, and its slope. */
static double unit_of(double theta, double *slope)
{
    *slope = 0.5 * pow(1 + theta * theta, -1.5);
    return 0.5 * (1 + cri_partial_of(theta));
}

static turn turn_of(const cri_kalman_plan *plan, const double *theta)
{
    turn   t;
    double low = 2 * M_PI / plan->longest, slope;
    t.rho = unit_of(theta[1], &t.rho_slope);
    t.lambda = low + (M_PI - low) * unit_of(theta[2], &slope);
    t.lambda_slope = (M_PI - low) * slope;
    return t;
}

/* A block of a matrix of m columns as a matrix of its own, and back, added. */
static void take_block(const double *A, size_t m, size_t first, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * n, A + (first + i) * m + first, n * sizeof *out);
}

static void put_block(const double *block, size_t m, size_t first, size_t n, double *A)
{
    for (size_t i = 0; i < n; i++)
        memcpy(A + (first + i) * m + first, block + i * n, n * sizeof *A);
}

/* A state that is what it was. */
static void build_constant(cri_kalman_system *s, size_t i)
{
    s->T[i * s->m + i] = 1;
    s->diffuse[i] = true;
}

static void build_variance(cri_kalman_system *s, size_t i, double variance)
{
    s->Q[i * s->m + i] = variance;
    s->noisy[i] = true;
}

static void build_trend(const cri_kalman_part *part, const double *variance, cri_kalman_system *s)
{
    size_t i = part->first;
    build_constant(s, i);
    build_variance(s, i, variance[0]);
    s->Z[i] = 1;
    if (part->kind == CRI_KALMAN_LEVEL) return;
    build_constant(s, i + 1);
    build_variance(s, i + 1, variance[1]);
    s->T[i * s->m + i + 1] = 1;
}

static void build_seasonal(const cri_kalman_part *part, double variance, cri_kalman_system *s)
{
    size_t first = part->first, m = s->m;
    for (size_t i = 0; i < part->n; i++) {
        s->T[first * m + first + i] = -1;
        if (i > 0) s->T[(first + i) * m + first + i - 1] = 1;
        s->diffuse[first + i] = true;
    }
    build_variance(s, first, variance);
    s->Z[first] = 1;
}

static bool build_cycle(const cri_kalman_plan *plan, const cri_kalman_part *part,
                        const double *theta, double variance, cri_kalman_system *s)
{
    turn   t = turn_of(plan, theta);
    size_t i = part->first, m = s->m;
    double c = t.rho * cos(t.lambda), d = t.rho * sin(t.lambda);
    double in_the_long_run = variance / ((1 - t.rho) * (1 + t.rho));
    s->T[i * m + i] = s->T[(i + 1) * m + i + 1] = c;
    s->T[i * m + i + 1] = d;
    s->T[(i + 1) * m + i] = -d;
    build_variance(s, i, variance);
    build_variance(s, i + 1, variance);
    s->P1[i * m + i] = s->P1[(i + 1) * m + i + 1] = in_the_long_run;
    s->Z[i] = 1;
    return isfinite(in_the_long_run);
}

/* phi and theta of an arma part, with their Jacobians. */
typedef struct arma {
    double phi[CRI_KALMAN_MOST_LAGS],
        theta[CRI_KALMAN_MOST_LAGS]; /* theta as in 1 + theta_1 B + ... */
    double of_phi[CRI_KALMAN_MOST_LAGS * CRI_KALMAN_MOST_LAGS];
    double of_theta[CRI_KALMAN_MOST_LAGS * CRI_KALMAN_MOST_LAGS];
    double variance;
} arma;

static void read_arma(const cri_kalman_part *part, const double *theta, double variance, arma *out)
{
    cri_partials_to_ar(theta, part->p, out->phi, out->of_phi);
    if (part->damped) out->phi[0] = unit_of(theta[0], out->of_phi);
    cri_partials_to_ar(theta + part->p, part->q, out->theta, out->of_theta);
    for (size_t i = 0; i < part->q; i++) out->theta[i] = -out->theta[i];
    for (size_t i = 0; i < part->q * part->q; i++) out->of_theta[i] = -out->of_theta[i];
    out->variance = variance;
}

/* What a shock does to state i. */
static double weight_of(const arma *a, const cri_kalman_part *part, size_t i)
{
    return i == 0 ? 1 : i <= part->q ? a->theta[i - 1] : 0;
}

static bool build_arma(const cri_kalman_part *part, const double *theta, double variance,
                       cri_kalman_system *s, double *work)
{
    arma   a;
    size_t first = part->first, m = s->m, n = part->n;
    read_arma(part, theta, variance, &a);
    for (size_t i = 0; i < n; i++) {
        if (i < part->p) s->T[(first + i) * m + first] = a.phi[i];
        if (i + 1 < n) s->T[(first + i) * m + first + i + 1] = 1;
        s->noisy[first + i] = true;
        for (size_t j = 0; j < n; j++)
            s->Q[(first + i) * m + first + j] =
                a.variance * weight_of(&a, part, i) * weight_of(&a, part, j);
    }
    s->Z[first] = 1;
    double *T = work, *Q = T + n * n, *P = Q + n * n; /* and n x n x 3 behind them */
    take_block(s->T, m, first, n, T);
    take_block(s->Q, m, first, n, Q);
    bool settles = cri_kalman_settle(T, Q, n, P, P + n * n);
    put_block(P, m, first, n, s->P1);
    return settles;
}

/* The parts of one column, with these variances, in place of those of theta, where theta has variances. */
bool cri_kalman_build_parts(const cri_kalman_plan *plan, const double *theta,
                            const double *variance, cri_kalman_system *s, double *work)
{
    bool there = true;
    memset(s->T, 0, s->m * s->m * sizeof *s->T);
    memset(s->Q, 0, s->m * s->m * sizeof *s->Q);
    memset(s->P1, 0, s->m * s->m * sizeof *s->P1);
    s->h[0] = 0;
    for (size_t k = 0; k < plan->n_parts; k++) {
        const cri_kalman_part *part = &plan->parts[k];
        const double          *own = theta + part->theta, *v = variance + part->theta;
        switch (part->kind) {
        case CRI_KALMAN_LEVEL:
        case CRI_KALMAN_TREND:
            build_trend(part, v, s);
            break;
        case CRI_KALMAN_SEASONAL:
            build_seasonal(part, v[0], s);
            break;
        case CRI_KALMAN_CYCLE:
            there = build_cycle(plan, part, own, v[0], s) && there;
            break;
        case CRI_KALMAN_AR:
        case CRI_KALMAN_ARMA:
            there = build_arma(part, own, v[part->p + part->q], s, work) && there;
            break;
        case CRI_KALMAN_REGRESSION:
            for (size_t i = part->first; i < part->first + part->n; i++) {
                build_constant(s, i);
                s->shared[i] = !part->walk;
                if (part->walk) build_variance(s, i, v[i - part->first]);
            }
            break;
        case CRI_KALMAN_IRREGULAR:
            s->h[0] = v[0];
            break;
        case CRI_KALMAN_CONSTANT:
            build_constant(s, part->first);
            s->Z[part->first] = 1;
            break;
        }
    }
    return there;
}

/* The variances of theta, and numbers that nobody reads where it has none. */
static void list_variances(const cri_kalman_plan *plan, const double *theta, double *out)
{
    for (size_t i = 0; i < plan->n1; i++) out[i] = exp(theta[i]);
}

bool cri_kalman_build(const cri_kalman_plan *plan, const double *theta, cri_kalman_system *s,
                      double *work)
{
    double variance[CRI_KALMAN_MOST_THETA];
    bool   there = true;
    if (plan->p > 1)
        there = cri_kalman_build_joint(plan, theta, s, work);
    else {
        list_variances(plan, theta, variance);
        there = cri_kalman_build_parts(plan, theta, variance, s, work);
    }
    for (size_t i = 0; i < plan->n_theta; i++) there = there && !isnan(theta[i]) && theta[i] < 700;
    cri_kalman_pack(s);
    return there;
}

cr_status cri_kalman_new_of(cr_scratch *s, const cri_kalman_plan *plan, cri_kalman_system *out)
{
    cr_status          st = cri_kalman_new(s, plan->m, plan->p, plan->k, out);
    cri_kalman_system *one = cr_scratch_bytes(s, 1, sizeof *one);
    if (st != CR_OK || plan->p == 1) return st;
    out->opt_one = one;
    return one ? cri_kalman_new(s, plan->m1, 1, 0, one) : s->status;
}

/* --- the gradient ---------------------------------------------------------------------------- */

/* By the logarithm of a variance, and by itself. */
static void pull_variance(double variance, double slope, size_t i, double *gradient,
                          double *opt_slope)
{
    gradient[i] = variance * slope;
    if (opt_slope) opt_slope[i] = slope;
}

static void pull_cycle(const cri_kalman_plan *plan, const cri_kalman_part *part,
                       const double *theta, const double *variance, const cri_kalman_system *s,
                       const cri_kalman_score *score, double *gradient, double *opt_slope)
{
    const double *own = theta + part->theta;
    turn          t = turn_of(plan, own);
    size_t        i = part->first, m = s->m, at = part->theta;
    double        c = cos(t.lambda), d = sin(t.lambda), left = (1 - t.rho) * (1 + t.rho);
    double        by_P = score->P1[i * m + i] + score->P1[(i + 1) * m + i + 1];
    double        by_Q = score->Q[i * m + i] + score->Q[(i + 1) * m + i + 1];
    double        by_c = score->T[i * m + i] + score->T[(i + 1) * m + i + 1];
    double        by_d = score->T[i * m + i + 1] - score->T[(i + 1) * m + i];
    pull_variance(variance[at], by_Q + by_P / left, at, gradient, opt_slope);
    gradient[at + 1] =
        t.rho_slope * (by_c * c + by_d * d + by_P * variance[at] * 2 * t.rho / (left * left));
    gradient[at + 2] = t.lambda_slope * t.rho * (by_d * c - by_c * d);
}

/* The covariance in the long run, P1 = T P1 T' + Q, has the adjoint X = T' X T + score of P1: it adds X to the
 * score of Q and 2 X T P1 to that of T. */
static void pull_arma(const cri_kalman_part *part, const double *theta, const double *variance,
                      const cri_kalman_system *s, const cri_kalman_score *score, double *work,
                      double *gradient, double *opt_slope)
{
    arma    a;
    size_t  first = part->first, m = s->m, n = part->n, at = part->theta, p = part->p, q = part->q;
    double *T = work, *by_Q = T + n * n, *X = by_Q + n * n, *rest = X + n * n;
    double  by_phi[CRI_KALMAN_MOST_LAGS] = { 0 }, by_weight[CRI_KALMAN_MOST_LAGS + 1] = { 0 };
    double  by_variance = 0;
    read_arma(part, theta + at, variance[at + p + q], &a);
    for (size_t i = 0; i < n; i++) /* transposed */
        for (size_t j = 0; j < n; j++) T[j * n + i] = s->T[(first + i) * m + first + j];
    take_block(score->P1, m, first, n, by_Q);
    cri_kalman_settle(T, by_Q, n, X, rest);
    take_block(score->Q, m, first, n, by_Q);
    for (size_t i = 0; i < n * n; i++) by_Q[i] += X[i];
    for (size_t i = 0; i < p; i++) { /* column 0 of the score of T, and of 2 X T P1 */
        double sum = score->T[(first + i) * m + first];
        for (size_t j = 0; j < n; j++)
            for (size_t l = 0; l < n; l++)
                sum += 2 * X[i * n + j] * T[l * n + j] * s->P1[(first + l) * m + first];
        by_phi[i] = sum;
    }
    for (size_t i = 0; i < n; i++) {
        double w = weight_of(&a, part, i), sum = 0;
        for (size_t j = 0; j < n; j++) sum += by_Q[i * n + j] * weight_of(&a, part, j);
        by_variance += w * sum;
        if (i <= q) by_weight[i] = 2 * a.variance * sum;
    }
    for (size_t j = 0; j < p; j++) {
        gradient[at + j] = 0;
        for (size_t i = 0; i < p; i++) gradient[at + j] += by_phi[i] * a.of_phi[i * p + j];
    }
    for (size_t j = 0; j < q; j++) {
        gradient[at + p + j] = 0;
        for (size_t i = 0; i < q; i++)
            gradient[at + p + j] += by_weight[i + 1] * a.of_theta[i * q + j];
    }
    pull_variance(a.variance, by_variance, at + p + q, gradient, opt_slope);
}

void cri_kalman_pull_parts(const cri_kalman_plan *plan, const double *theta, const double *variance,
                           const cri_kalman_system *s, const cri_kalman_score *score, double *work,
                           double *gradient, double *opt_slope)
{
    size_t m = s->m;
    for (size_t k = 0; k < plan->n_parts; k++) {
        const cri_kalman_part *part = &plan->parts[k];
        size_t                 at = part->theta, i = part->first;
        switch (part->kind) {
        case CRI_KALMAN_TREND:
            pull_variance(variance[at + 1], score->Q[(i + 1) * m + i + 1], at + 1, gradient,
                          opt_slope);
            pull_variance(variance[at], score->Q[i * m + i], at, gradient, opt_slope);
            break;
        case CRI_KALMAN_LEVEL:
        case CRI_KALMAN_SEASONAL:
            pull_variance(variance[at], score->Q[i * m + i], at, gradient, opt_slope);
            break;
        case CRI_KALMAN_CYCLE:
            pull_cycle(plan, part, theta, variance, s, score, gradient, opt_slope);
            break;
        case CRI_KALMAN_AR:
        case CRI_KALMAN_ARMA:
            pull_arma(part, theta, variance, s, score, work, gradient, opt_slope);
            break;
        case CRI_KALMAN_IRREGULAR:
            pull_variance(variance[at], score->h[0], at, gradient, opt_slope);
            break;
        case CRI_KALMAN_REGRESSION:
            for (size_t j = 0; j < part->count; j++)
                pull_variance(variance[at + j], score->Q[(i + j) * (m + 1)], at + j, gradient,
                              opt_slope);
            break;
        case CRI_KALMAN_CONSTANT:
            break;
        }
    }
}

void cri_kalman_pull(const cri_kalman_plan *plan, const double *theta, const cri_kalman_system *s,
                     const cri_kalman_score *score, double *work, double *gradient,
                     double *opt_slope)
{
    double variance[CRI_KALMAN_MOST_THETA];
    for (size_t i = 0; opt_slope && i < plan->n_theta; i++) opt_slope[i] = NAN;
    if (plan->p > 1) {
        cri_kalman_pull_joint(plan, theta, s, score, work, gradient, opt_slope);
        return;
    }
    list_variances(plan, theta, variance);
    cri_kalman_pull_parts(plan, theta, variance, s, score, work, gradient, opt_slope);
    if (plan->mean) gradient[plan->n_theta - 1] = score->level[0];
}

/* --- the parameters as they are shown -------------------------------------------------------- */

static void show_arma(const cri_kalman_plan *plan, const cri_kalman_part *part, const double *theta,
                      double *value, double *opt_jacobian)
{
    arma   a;
    size_t at = part->theta, n = plan->n_theta, p = part->p, q = part->q;
    read_arma(part, theta + at, NAN, &a);
    memcpy(value + at, a.phi, p * sizeof *value);
    memcpy(value + at + p, a.theta, q * sizeof *value);
    for (size_t i = 0; opt_jacobian && i < p; i++)
        for (size_t j = 0; j < p; j++) opt_jacobian[(at + i) * n + at + j] = a.of_phi[i * p + j];
    for (size_t i = 0; opt_jacobian && i < q; i++)
        for (size_t j = 0; j < q; j++)
            opt_jacobian[(at + p + i) * n + at + p + j] = a.of_theta[i * q + j];
}

void cri_kalman_values(const cri_kalman_plan *plan, const double *theta, double *value,
                       double *opt_jacobian)
{
    size_t n = plan->n_theta;
    if (opt_jacobian) memset(opt_jacobian, 0, n * n * sizeof *opt_jacobian);
    for (size_t i = 0; i < n; i++) {
        bool   variance = plan->scale[i] == CRI_KALMAN_VARIANCE;
        double slope = 1;
        value[i] = variance ? exp(theta[i]) : theta[i];
        if (variance) slope = value[i];
        if (plan->scale[i] == CRI_KALMAN_DAMPING) value[i] = unit_of(theta[i], &slope);
        if (plan->scale[i] == CRI_KALMAN_PERIOD) {
            turn t = turn_of(plan, theta + i - 2);
            value[i] = 2 * M_PI / t.lambda;
            slope = -value[i] / t.lambda * t.lambda_slope;
        }
        if (opt_jacobian) opt_jacobian[i * n + i] = slope;
    }
    for (size_t k = 0; k < plan->n_parts; k++)
        if (plan->parts[k].kind == CRI_KALMAN_AR || plan->parts[k].kind == CRI_KALMAN_ARMA)
            show_arma(plan, &plan->parts[k], theta, value, opt_jacobian);
    if (plan->p > 1) cri_kalman_show_joint(plan, theta, value, opt_jacobian);
}

size_t cri_kalman_walk_of(const cri_kalman_plan *plan, size_t i)
{
    for (size_t k = 0; k < plan->n_parts; k++)
        if (plan->parts[k].walk && i - plan->parts[k].theta < plan->parts[k].count)
            return i - plan->parts[k].theta;
    return plan->k;
}

void cri_kalman_name(const cri_kalman_plan *plan, size_t i, char *out, size_t size)
{
    if (plan->mean && i + 1 == plan->n_theta) {
        snprintf(out, size, "mean");
        return;
    }
    for (size_t k = 0; k < plan->n_parts; k++) {
        const cri_kalman_part *part = &plan->parts[k];
        size_t                 own = i - part->theta;
        if (i < part->theta || own >= part->count) continue;
        switch (plan->scale[i]) {
        case CRI_KALMAN_VARIANCE:
            if (part->kind == CRI_KALMAN_TREND)
                snprintf(out, size, "variance.%s", own == 0 ? "level" : "slope");
            else
                snprintf(out, size, "variance.%s",
                         part->kind == CRI_KALMAN_ARMA ? "ar" : part->name);
            break;
        case CRI_KALMAN_PARTIAL:
            if (own < part->p)
                snprintf(out, size, "phi%zu", own + 1);
            else
                snprintf(out, size, "theta%zu", own - part->p + 1);
            break;
        default:
            snprintf(out, size, "%s", plan->scale[i] == CRI_KALMAN_DAMPING ? "damping" : "period");
        }
    }
}
