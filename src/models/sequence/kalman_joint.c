/* kalman_joint.c -- seemingly unrelated series: from the parts of one column to those of several, and back. */
#include "kalman_joint.h"
#include "kalman_arma.h"

#include <math.h>
#include <string.h>

enum { MOST = CRI_KALMAN_MOST_JOINT, MOST_VARIANCES = CRI_KALMAN_MOST_PARTS };

/* --- the parameters -------------------------------------------------------------------------- */

/* Parameters of one variance beside that of the target: variances, then correlations. */
static size_t extras(const cri_kalman_plan *plan)
{
    return plan->p - 1 + plan->p * (plan->p - 1) / 2;
}

/* Where variance number w of column a is, and the correlation of columns b < a. */
static size_t variance_at(const cri_kalman_plan *plan, size_t w, size_t a)
{
    return a == 0 ? plan->variance[w] : plan->n1 + w * extras(plan) + a - 1;
}

static size_t correlation_at(const cri_kalman_plan *plan, size_t w, size_t a, size_t b)
{
    return plan->n1 + w * extras(plan) + plan->p - 1 + a * (a - 1) / 2 + b;
}

bool cri_kalman_entry(const cri_kalman_plan *plan, size_t i, cri_kalman_entry_of *out)
{
    for (size_t w = 0; plan->p > 1 && w < plan->variances; w++)
        for (size_t a = 0; a < plan->p; a++)
            for (size_t b = 0; b <= a; b++) {
                size_t at = a == b ? variance_at(plan, w, a) : correlation_at(plan, w, a, b);
                if (at != i) continue;
                *out = (cri_kalman_entry_of){ w, a, b };
                return true;
            }
    return false;
}

bool cri_kalman_is_idle(const cri_kalman_plan *plan, const double *theta, size_t i)
{
    cri_kalman_entry_of e;
    if (!cri_kalman_entry(plan, i, &e) || e.a == e.b) return false;
    return isinf(theta[variance_at(plan, e.of, e.a)]) || isinf(theta[variance_at(plan, e.of, e.b)]);
}

bool cri_kalman_is_rigid(const cri_kalman_plan *plan, const double *theta, size_t i)
{
    static const double edge = 0.9999;
    cri_kalman_entry_of e;
    return cri_kalman_entry(plan, i, &e) && e.a != e.b && fabs(cri_partial_of(theta[i])) > edge;
}

cr_status cri_kalman_plan_join(cr_ctx *cx, size_t p, cri_kalman_plan *plan)
{
    cri_kalman_plan joint = *plan;
    if (plan->k > 0) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "--beside has no regression: coefficients are of one column alone");
        return cr_fail_hint(cx, "fit each column by itself, or leave regression out");
    }
    if (p > CRI_KALMAN_MOST_JOINT)
        return cr_fail(cx, CR_EARG, "--beside: %zu columns are more than the %d of one model", p,
                       CRI_KALMAN_MOST_JOINT);
    if (joint
            .mean) { /* a state in place of a parameter, as of a model that has other unknown ones */
        cri_kalman_part *part = &joint.parts[joint.n_parts++];
        *part = (cri_kalman_part){ .kind = CRI_KALMAN_CONSTANT, .name = "mean", .n = 1 };
        part->first = joint.m++;
        part->theta = --joint.n_theta;
        joint.mean = false;
    }
    joint.p = p;
    joint.m1 = joint.m;
    joint.n1 = joint.n_theta;
    joint.m = p * (joint.m1 + 1);
    for (size_t i = 0; i < joint.n1; i++)
        if (joint.scale[i] == CRI_KALMAN_VARIANCE) joint.variance[joint.variances++] = i;
    joint.n_theta += joint.variances * extras(&joint);
    if (joint.n_theta > CRI_KALMAN_MOST_THETA || joint.m > CRI_KALMAN_MOST_STATES)
        return cr_fail(
            cx, CR_EARG,
            "%zu columns of these parts have %zu states and %zu parameters: more than %d "
            "and %d are too many",
            p, joint.m, joint.n_theta, CRI_KALMAN_MOST_STATES, CRI_KALMAN_MOST_THETA);
    for (size_t w = 0; w < joint.variances; w++)
        for (size_t a = 1; a < p; a++) {
            joint.scale[variance_at(&joint, w, a)] = CRI_KALMAN_VARIANCE;
            for (size_t b = 0; b < a; b++)
                joint.scale[correlation_at(&joint, w, a, b)] = CRI_KALMAN_PARTIAL;
        }
    *plan = joint;
    return CR_OK;
}

/* --- covariances ----------------------------------------------------------------------------- */

/* The covariance of one variance of the plan: S = D R D, R = L L'. */
typedef struct covariance {
    double sd[MOST], L[MOST * MOST], S[MOST * MOST];
    double r[MOST * MOST];    /* of theta                                            */
    double left[MOST * MOST]; /* sqrt(1 - z_a1^2) ... sqrt(1 - z_a,b-1^2): L_ab / z_ab */
} covariance;

static void read_covariance(const cri_kalman_plan *plan, const double *theta, size_t w,
                            covariance *c)
{
    size_t p = plan->p;
    memset(c->L, 0, sizeof c->L);
    for (size_t a = 0; a < p; a++) {
        double left = 1;
        c->sd[a] = exp(0.5 * theta[variance_at(plan, w, a)]);
        for (size_t b = 0; b < a; b++) {
            double r = c->r[a * p + b] = theta[correlation_at(plan, w, a, b)];
            c->left[a * p + b] = left;
            c->L[a * p + b] = cri_partial_of(r) * left;
            left /= hypot(1, r);
        }
        c->L[a * p + a] = left;
    }
    for (size_t a = 0; a < p; a++)
        for (size_t b = 0; b < p; b++) {
            double R = 0;
            for (size_t k = 0; k <= a && k <= b; k++) R += c->L[a * p + k] * c->L[b * p + k];
            c->S[a * p + b] = c->sd[a] * c->sd[b] * (a == b ? 1 : R);
        }
}

/* d L_ak / d theta of the correlation of columns b < a. */
static double slope_of_L(const covariance *c, size_t p, size_t a, size_t b, size_t k)
{
    double r = c->r[a * p + b];
    if (k < b) return 0;
    if (k > b) return -r / (1 + r * r) * c->L[a * p + k];
    return c->left[a * p + b] * pow(1 + r * r, -1.5);
}

static void read_covariances(const cri_kalman_plan *plan, const double *theta, covariance *out)
{
    for (size_t w = 0; w < plan->variances; w++) read_covariance(plan, theta, w, &out[w]);
}

/* The variances of one column as those that columns a and b have in common: [n1]. */
static void take_pair(const cri_kalman_plan *plan, const covariance *c, size_t a, size_t b,
                      double *out)
{
    memset(out, 0, plan->n1 * sizeof *out);
    for (size_t w = 0; w < plan->variances; w++) out[plan->variance[w]] = c[w].S[a * plan->p + b];
}

/* --- the matrices ---------------------------------------------------------------------------- */

/* Block (a, b) of a matrix [m x m] is block [m1 x m1]. */
static void put_block(const double *block, const cri_kalman_plan *plan, size_t a, size_t b,
                      double *A)
{
    for (size_t i = 0; i < plan->m1; i++)
        memcpy(A + (a * plan->m1 + i) * plan->m + b * plan->m1, block + i * plan->m1,
               plan->m1 * sizeof *A);
}

static void take_block(const double *A, const cri_kalman_plan *plan, size_t a, size_t b,
                       double *block)
{
    for (size_t i = 0; i < plan->m1; i++)
        memcpy(block + i * plan->m1, A + (a * plan->m1 + i) * plan->m + b * plan->m1,
               plan->m1 * sizeof *A);
}

bool cri_kalman_build_joint(const cri_kalman_plan *plan, const double *theta, cri_kalman_system *s,
                            double *work)
{
    covariance         c[MOST_VARIANCES];
    double             variance[CRI_KALMAN_MOST_THETA];
    cri_kalman_system *one = s->opt_one;
    size_t             p = plan->p, m = plan->m, m1 = plan->m1, noise = p * m1;
    bool               there = true;
    read_covariances(plan, theta, c);
    memset(s->T, 0, m * m * sizeof *s->T);
    memset(s->Q, 0, m * m * sizeof *s->Q);
    memset(s->P1, 0, m * m * sizeof *s->P1);
    memset(s->Z, 0, p * m * sizeof *s->Z);
    memset(s->h, 0, p * sizeof *s->h);
    for (size_t a = 0; a < p; a++)
        for (size_t b = 0; b < p; b++) {
            take_pair(plan, c, a, b, variance);
            there = cri_kalman_build_parts(plan, theta, variance, one, work) && there;
            put_block(one->Q, plan, a, b, s->Q);
            put_block(one->P1, plan, a, b, s->P1);
            s->Q[(noise + a) * m + noise + b] = s->P1[(noise + a) * m + noise + b] = one->h[0];
            if (a != b) continue;
            put_block(one->T, plan, a, a, s->T);
            memcpy(s->Z + a * m + a * m1, one->Z, m1 * sizeof *s->Z);
            memcpy(s->diffuse + a * m1, one->diffuse, m1 * sizeof *s->diffuse);
            memcpy(s->noisy + a * m1, one->noisy, m1 * sizeof *s->noisy);
            s->Z[a * m + noise + a] = 1;
            s->noisy[noise + a] = true;
        }
    return there;
}

/* --- the gradient ---------------------------------------------------------------------------- */

/* The score of one column by what columns a and b have in common. */
static void take_score(const cri_kalman_plan *plan, const cri_kalman_score *from, size_t a,
                       size_t b, cri_kalman_score *out)
{
    size_t m = plan->m, m1 = plan->m1, noise = plan->p * m1, at = (noise + a) * m + noise + b;
    take_block(from->Q, plan, a, b, out->Q);
    take_block(from->P1, plan, a, b, out->P1);
    memset(out->T, 0, m1 * m1 * sizeof *out->T);
    if (a == b && from->T) take_block(from->T, plan, a, a, out->T);
    out->h[0] = from->Q[at] + from->P1[at];
}

/* From G [p x p], the slopes by the entries of S, to those by its parameters. */
static void pull_covariance(const cri_kalman_plan *plan, const covariance *c, const double *G,
                            size_t w, double *gradient, double *opt_slope)
{
    size_t p = plan->p;
    double by_L[MOST * MOST];
    for (size_t a = 0; a < p; a++) {
        double sum = 0, variance = c->sd[a] * c->sd[a];
        size_t at = variance_at(plan, w, a);
        for (size_t b = 0; b < p; b++) sum += 0.5 * (G[a * p + b] + G[b * p + a]) * c->S[a * p + b];
        gradient[at] = sum;
        if (opt_slope) opt_slope[at] = variance > 0 ? sum / variance : G[a * p + a];
    }
    for (size_t a = 0; a < p; a++) /* of R = L L' */
        for (size_t k = 0; k < p; k++) {
            double sum = 0;
            for (size_t b = 0; b < p; b++)
                sum += (G[a * p + b] + G[b * p + a]) * c->sd[a] * c->sd[b] * c->L[b * p + k];
            by_L[a * p + k] = sum;
        }
    for (size_t a = 1; a < p; a++)
        for (size_t b = 0; b < a; b++) {
            double sum = 0;
            for (size_t k = b; k <= a; k++) sum += by_L[a * p + k] * slope_of_L(c, p, a, b, k);
            gradient[correlation_at(plan, w, a, b)] = sum;
        }
}

void cri_kalman_pull_joint(const cri_kalman_plan *plan, const double *theta,
                           const cri_kalman_system *s, const cri_kalman_score *score, double *work,
                           double *gradient, double *opt_slope)
{
    covariance       c[MOST_VARIANCES];
    double           G[MOST_VARIANCES][MOST * MOST], variance[CRI_KALMAN_MOST_THETA];
    double           own[CRI_KALMAN_MOST_THETA], slope[CRI_KALMAN_MOST_THETA];
    size_t           p = plan->p, square = plan->m1 * plan->m1;
    double           h = 0, level = 0;
    double          *parts = work + 3 * square; /* of what follows */
    cri_kalman_score one = { .h = &h, .Q = work, .T = work + square, .P1 = work + 2 * square };
    one.level = &level;
    read_covariances(plan, theta, c);
    memset(gradient, 0, plan->n_theta * sizeof *gradient);
    for (size_t a = 0; a < p; a++)
        for (size_t b = 0; b < p; b++) {
            take_score(plan, score, a, b, &one);
            take_pair(plan, c, a, b, variance);
            cri_kalman_build_parts(plan, theta, variance, s->opt_one, parts);
            cri_kalman_pull_parts(plan, theta, variance, s->opt_one, &one, parts, own, slope);
            for (size_t i = 0; i < plan->n1; i++)
                if (plan->scale[i] != CRI_KALMAN_VARIANCE) gradient[i] += own[i];
            for (size_t w = 0; w < plan->variances; w++) G[w][a * p + b] = slope[plan->variance[w]];
        }
    for (size_t w = 0; w < plan->variances; w++)
        pull_covariance(plan, &c[w], G[w], w, gradient, opt_slope);
}

/* --- the parameters as they are shown -------------------------------------------------------- */

void cri_kalman_show_joint(const cri_kalman_plan *plan, const double *theta, double *value,
                           double *opt_jacobian)
{
    size_t p = plan->p, n = plan->n_theta;
    for (size_t w = 0; w < plan->variances; w++) {
        covariance c;
        read_covariance(plan, theta, w, &c);
        for (size_t a = 1; a < p; a++)
            for (size_t b = 0; b < a; b++) {
                size_t at = correlation_at(plan, w, a, b);
                value[at] = 0;
                for (size_t k = 0; k <= b; k++) value[at] += c.L[a * p + k] * c.L[b * p + k];
                if (!opt_jacobian) continue;
                double *slope = opt_jacobian + at * n;
                memset(slope, 0, n * sizeof *slope);
                for (size_t k = 0; k <= b; k++) {
                    for (size_t j = 0; j < a; j++)
                        slope[correlation_at(plan, w, a, j)] +=
                            slope_of_L(&c, p, a, j, k) * c.L[b * p + k];
                    for (size_t j = 0; j < b; j++)
                        slope[correlation_at(plan, w, b, j)] +=
                            slope_of_L(&c, p, b, j, k) * c.L[a * p + k];
                }
            }
    }
}
