/* kalman_average.c -- settings of the parameters that share their posterior. */
#include "kalman_average.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

enum { MOST_FREE = 12, ROWS_EACH = 25, MOST_ROUNDS = 12, FEW_POINTS = 256, MANY_POINTS = 512 };
enum { WIDE_EACH = 5 };              /* one point of so many comes from the prior */
static const double most_work = 2e9; /* operations of a round that nobody has asked for */
static const char   no_time[] = "the time limit leaves no time for an average over them";

/* --- the posterior --------------------------------------------------------------------------- */

typedef struct averager {
    cri_kalman_target *t;
    size_t             free[MOST_FREE], d; /* parameters with a coordinate         */
    double             scale[MOST_FREE];   /* of a root of a ratio, by its prior    */
    size_t             n;                  /* points of a round                    */
    double            *z;                  /* [n x d]                              */
    double            *weight;             /* [n] logarithms, then what they are   */
    double            *S, *mean, *A;       /* [n] as in the header                 */
    double             centre[MOST_FREE], L[MOST_FREE * MOST_FREE]; /* of the t distributions */
    double             dof;
    double            *theta;
} averager;

/* How far a state of this part may go in a step, against the noise: a slope, which adds up, and seasons less. */
static double typical(const cri_kalman_plan *plan, size_t i)
{
    for (size_t k = 0; k < plan->n_parts; k++) {
        const cri_kalman_part *part = &plan->parts[k];
        if (i < part->theta || i >= part->theta + part->count) continue;
        if (part->kind == CRI_KALMAN_TREND && i > part->theta) return 0.1;
        if (part->kind == CRI_KALMAN_SEASONAL || part->kind == CRI_KALMAN_REGRESSION) return 0.3;
    }
    return 1;
}

/* The variance that the others are measured by: that of the noise, or the first. */
static size_t unit_variance(const cri_kalman_plan *plan)
{
    size_t first = plan->n_theta;
    for (size_t k = 0; k < plan->n_parts; k++)
        if (plan->parts[k].kind == CRI_KALMAN_IRREGULAR) return plan->parts[k].theta;
    for (size_t i = plan->n_theta; i-- > 0;)
        if (plan->scale[i] == CRI_KALMAN_VARIANCE) first = i;
    return first;
}

/* false where there are too many. */
static bool list_free(averager *v)
{
    const cri_kalman_plan *plan = v->t->plan;
    size_t                 unit = unit_variance(plan);
    for (size_t i = 0; i < plan->n_theta; i++) {
        if (i == unit || plan->scale[i] == CRI_KALMAN_MEAN) continue;
        if (v->d == MOST_FREE) return false;
        v->scale[v->d] = typical(plan, i);
        v->free[v->d++] = i;
    }
    return true;
}

/* log tan(pi u / 2) at u = 1 / (1 + exp(-z)). */
static double log_ratio(double z)
{
    return copysign(log(tan(M_PI_2 / (1 + exp(fabs(z))))), z); /* tan is at most 1 */
}

static void read_point(const averager *v, const double *z, double *theta)
{
    const cri_kalman_plan *plan = v->t->plan;
    memset(theta, 0, plan->n_theta * sizeof *theta);
    for (size_t j = 0; j < v->d; j++) {
        size_t i = v->free[j];
        bool   variance = plan->scale[i] == CRI_KALMAN_VARIANCE;
        theta[i] = variance ? 2 * (log(v->scale[j]) + log_ratio(z[j])) : sinh(z[j] / 2);
    }
}

/* The log likelihood at scale 1 and a mean, without S / 2, and S. */
static cr_status take_sum(averager *v, double mean, double *out_height, double *out_S)
{
    cri_kalman_target *t = v->t;
    cri_kalman_path    path = { 0 };
    t->evaluations++;
    for (size_t i = 0; i < t->data.n; i++) t->moved[i] = t->y[i] - mean;
    t->data.y = t->moved;
    cr_status st = cri_kalman_filter(t->cx, &t->system, &t->data, false, &path);
    *out_S = path.squares;
    *out_height = path.log_likelihood + 0.5 * path.squares;
    cri_kalman_path_free(t->cx, &path);
    return st;
}

/* The log of the likelihood of point i, the scale and the mean integrated out. */
static cr_status weigh(averager *v, size_t i, double *out)
{
    cr_status st = CR_OK;
    double    height, S, up, down;
    bool      there;
    *out = -INFINITY;
    v->mean[i] = v->A[i] = 0;
    read_point(v, v->z + i * v->d, v->theta);
    CR_TRY(cri_kalman_set(v->t, v->theta, &there));
    if (!there) goto done;
    CR_TRY(take_sum(v, 0, &height, &S));
    if (v->t->plan->mean) { /* S is a parabola */
        CR_TRY(take_sum(v, 1, &height, &up));
        CR_TRY(take_sum(v, -1, &height, &down));
        v->A[i] = 0.5 * (up + down) - S;
        v->mean[i] = 0.25 * (down - up) / v->A[i];
        S -= v->mean[i] * v->mean[i] * v->A[i];
        height -= 0.5 * log(v->A[i]);
    }
    v->S[i] = S;
    double log_likelihood = height - 0.5 * v->dof * log(S);
    if (isfinite(log_likelihood) && S > 1e-14) *out = log_likelihood;
done:
    return st;
}

/* --- points ---------------------------------------------------------------------------------- */

static double log_prior(const double *z, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum -= fabs(z[j]) + 2 * log1p(exp(-fabs(z[j])));
    return sum;
}

/* Student's t of 4 degrees of freedom: its quantile (Shaw 2006), and its log density. */
static double t4_quantile(double u)
{
    double root = sqrt(4 * u * (1 - u));
    return copysign(2 * sqrt(fmax(0, cos(acos(root) / 3) / root - 1)), u - 0.5);
}

static double t4_log_density(double x) { return log(0.375) - 2.5 * log1p(x * x / 4); }

/* The log density of a point under what it is drawn from: the prior, or prior and t. */
static double log_density(const averager *v, const double *z, bool first)
{
    double x[MOST_FREE], sum = 0, prior = log_prior(z, v->d);
    if (first) return prior;
    for (size_t j = 0; j < v->d; j++) {
        double rest = z[j] - v->centre[j];
        for (size_t k = 0; k < j; k++) rest -= v->L[j * v->d + k] * x[k];
        x[j] = rest / v->L[j * v->d + j];
        sum += t4_log_density(x[j]) - log(v->L[j * v->d + j]);
    }
    double high = fmax(sum, prior), wide = 1.0 / WIDE_EACH;
    return high + log((1 - wide) * exp(sum - high) + wide * exp(prior - high));
}

/* Points of low discrepancy: multiples of powers of 1 / g, g^(d+1) = g + 1 (Roberts 2018). */
static void draw_points(averager *v, bool first)
{
    double g = 2;
    for (size_t i = 0; i < 40; i++) g = pow(1 + g, 1 / ((double)v->d + 1));
    for (size_t i = 0; i < v->n; i++) {
        double *z = v->z + i * v->d, x[MOST_FREE], whole;
        bool    wide = first || i % WIDE_EACH == 0;
        for (size_t j = 0; j < v->d; j++) {
            double u = modf(0.5 + (double)(i + 1) * pow(g, -1.0 - (double)j), &whole);
            u = fmin(fmax(u, 1e-9), 1 - 1e-9);
            x[j] = wide ? log(u / (1 - u)) : t4_quantile(u);
        }
        for (size_t j = 0; j < v->d; j++) {
            z[j] = wide ? x[j] : v->centre[j];
            for (size_t k = 0; !wide && k <= j; k++) z[j] += v->L[j * v->d + k] * x[k];
            z[j] = fmin(fmax(z[j], -60), 60);
        }
    }
}

/* --- weights --------------------------------------------------------------------------------- */

/* The effective number of points whose weights are taken to a power. */
static double effective(const double *log_weight, size_t n, double power)
{
    double high = -INFINITY, sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) high = fmax(high, log_weight[i]);
    for (size_t i = 0; i < n; i++) {
        double w = exp(power * (log_weight[i] - high));
        sum += w;
        square += w * w;
    }
    return sum * sum / square;
}

/* The largest power up to 1 that leaves enough of them. */
static double temper(const double *log_weight, size_t n)
{
    double enough = (double)n / 8, low = 0, high = 1;
    if (effective(log_weight, n, 1) >= enough) return 1;
    for (size_t i = 0; i < 40; i++) {
        double middle = 0.5 * (low + high);
        if (effective(log_weight, n, middle) >= enough)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Weights to a power, summing to 1, in place of their logarithms. */
static void normalise(averager *v, double power)
{
    double high = -INFINITY, sum = 0;
    for (size_t i = 0; i < v->n; i++) high = fmax(high, v->weight[i]);
    for (size_t i = 0; i < v->n; i++) sum += v->weight[i] = exp(power * (v->weight[i] - high));
    for (size_t i = 0; i < v->n; i++) v->weight[i] /= sum;
}

/* The t distributions for the next round: L L' is 3/4 of the covariance of the points. */
static void follow(averager *v)
{
    size_t d = v->d;
    memset(v->centre, 0, sizeof v->centre);
    memset(v->L, 0, sizeof v->L);
    for (size_t i = 0; i < v->n; i++)
        for (size_t j = 0; j < d; j++) v->centre[j] += v->weight[i] * v->z[i * d + j];
    for (size_t i = 0; i < v->n; i++)
        for (size_t j = 0; j < d; j++)
            for (size_t k = 0; k <= j; k++)
                v->L[j * d + k] += 0.75 * v->weight[i] * (v->z[i * d + j] - v->centre[j]) *
                                   (v->z[i * d + k] - v->centre[k]);
    for (size_t j = 0; j < d; j++) { /* its factor, in place */
        double pivot = v->L[j * d + j], least = 1e-4 * pivot + 1e-12;
        for (size_t k = 0; k < j; k++) pivot -= v->L[j * d + k] * v->L[j * d + k];
        v->L[j * d + j] = sqrt(fmax(pivot, least));
        for (size_t i = j + 1; i < d; i++) {
            for (size_t k = 0; k < j; k++) v->L[i * d + j] -= v->L[i * d + k] * v->L[j * d + k];
            v->L[i * d + j] /= v->L[j * d + j];
        }
    }
}

/* --- settings -------------------------------------------------------------------------------- */

typedef struct place {
    double z;
    size_t i;
} place;

CRI_COMPARE_BY_TWO(compare_places, place, z, i);

/* Points by their weights, one at each of `most` equal steps in the order of the first coordinate; those of a mean are
 * pairs, which have its mean and its variance given the rest. */
static cr_status choose(cr_scratch *s, averager *v, size_t most, cri_kalman_average *out)
{
    const cri_kalman_plan *plan = v->t->plan;
    size_t                 each = plan->mean ? 2 : 1, steps = v->d == 0 ? 1 : most / each;
    place                 *order = cr_scratch_bytes(s, v->n, sizeof *order);
    out->setting = cr_scratch_matrix(s, steps * each, plan->n_theta);
    out->share = cr_scratch_f64(s, steps * each);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < v->n; i++) order[i] = (place){ v->d ? v->z[i * v->d] : 0, i };
    qsort(order, v->n, sizeof *order, compare_places);
    double passed = 0;
    size_t taken = 0;
    for (size_t k = 0; k < v->n; k++) {
        size_t i = order[k].i, before = taken;
        passed += v->weight[i];
        while (taken < steps && ((double)taken + 0.5) / (double)steps < passed) taken++;
        if (taken == before) continue;
        double square = v->S[i] / v->dof;
        double apart = v->dof > 4 ? v->dof / (v->dof - 2) : 1; /* that of the t itself */
        for (size_t side = 0; side < each; side++, out->n++) {
            double *theta = out->setting + out->n * plan->n_theta;
            out->share[out->n] = (double)(taken - before) / (double)each;
            read_point(v, v->z + i * v->d, theta);
            for (size_t j = 0; j < plan->n_theta; j++)
                if (plan->scale[j] == CRI_KALMAN_VARIANCE) theta[j] += log(square);
            if (plan->mean)
                theta[plan->n_theta - 1] =
                    v->mean[i] + (side ? 1 : -1) * sqrt(square * apart / v->A[i]);
        }
    }
    for (size_t i = 0; i < out->n; i++) out->share[i] /= (double)taken;
    return CR_OK;
}

/* One round: points, and the logarithms of their weights. */
static cr_status run_round(averager *v, bool first, const cri_clock *clock, bool *out_late)
{
    cr_status st = CR_OK;
    draw_points(v, first);
    for (size_t i = 0; i < v->n && !*out_late; i++) {
        const double *z = v->z + i * v->d;
        st = cr_check_interrupt(v->t->cx);
        if (st == CR_OK) st = weigh(v, i, &v->weight[i]);
        *out_late = cri_is_late(v->t->cx, st);
        CR_TRY(*out_late ? CR_OK : st);
        v->weight[i] += log_prior(z, v->d) - log_density(v, z, first);
        *out_late = *out_late || cri_clock_over(clock);
    }
done:
    return st;
}

bool cri_kalman_is_open(const cri_kalman_plan *plan, size_t observed)
{
    return observed < ROWS_EACH * plan->n_theta + plan->m;
}

cr_status cri_kalman_settings(cr_scratch *s, cri_kalman_target *t, size_t most, bool asked,
                              cri_kalman_average *out)
{
    cr_status       st = CR_OK;
    averager        v = { .t = t };
    cri_kalman_path path = { 0 };
    double          left = cri_time_left(t->cx), m = (double)t->plan->m, power = 0;
    cri_clock       clock = cri_clock_start(t->cx, isinf(left) ? NAN : left / 4);
    bool            late = false, there;
    *out = (cri_kalman_average){ .why = "they are too many for an average" };
    if (!list_free(&v)) goto done;
    v.n = v.d == 0 ? 1 : v.d <= 2 ? FEW_POINTS : MANY_POINTS;
    out->why = "an average over them would take long";
    double work = (double)v.n * (double)t->data.n * (4 * m * m + 100) * (t->plan->mean ? 3 : 1);
    if (work > most_work && !asked) goto done;
    v.z = cr_scratch_matrix(s, v.n, v.d);
    v.weight = cr_scratch_f64(s, v.n);
    v.S = cr_scratch_f64(s, v.n);
    v.mean = cr_scratch_f64(s, v.n);
    v.A = cr_scratch_f64(s, v.n);
    v.theta = cr_scratch_f64(s, t->plan->n_theta);
    CR_TRY(s->status);
    for (size_t i = 0; i < v.n * v.d; i++) v.z[i] = 0;
    read_point(&v, v.z, v.theta);
    CR_TRY(cri_kalman_set(t, v.theta, &there));
    t->data.y = t->y;
    if (there) st = cri_kalman_filter(t->cx, &t->system, &t->data, false, &path);
    late = cri_is_late(t->cx, st);
    out->why = no_time;
    if (late) st = CR_OK;
    if (late || st != CR_OK) goto done;
    v.dof = (double)path.observed - (double)path.fixing - t->plan->mean;
    out->why = "the rows leave no degrees of freedom";
    if (!(v.dof > 0)) goto done;
    for (size_t round = 0; round < MOST_ROUNDS; round++) {
        out->why = no_time;
        CR_TRY(run_round(&v, round == 0, &clock, &late));
        if (late) goto done;
        out->why = "no setting near them has a likelihood";
        double high = -INFINITY;
        for (size_t i = 0; i < v.n; i++) high = fmax(high, v.weight[i]);
        if (isinf(high)) goto done;
        bool settled = power == 1 || v.d == 0; /* the last t followed the posterior */
        power = v.d == 0 ? 1 : temper(v.weight, v.n);
        normalise(&v, settled ? 1 : power);
        if (settled && power == 1) break;
        out->why = "their likelihood is too narrow to be averaged over";
        if (round + 1 == MOST_ROUNDS) goto done;
        follow(&v);
    }
    out->dof = v.dof;
    CR_TRY(choose(s, &v, most, out));
    out->why = NULL;
done:
    cri_kalman_path_free(t->cx, &path);
    return st;
}
