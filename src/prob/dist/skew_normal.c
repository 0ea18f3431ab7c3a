/* skew_normal.c -- a normal density times a rising or falling normal distribution function.
 *     p(x) = 2 / s phi(z) Phi(a z),   z = (x - location) / s,   a the shape;  a = 0 is the normal.
 * The distribution function is Phi(z) - 2 T(z, a) with Owen's T; as a difference it would lose the
 * thin tail.  With T(z, inf) = Phi(-|z|) / 2 it is, for z <= 0,
 *     P(X <= x) = 1/pi integral from a to inf of exp(-z^2 (1 + t^2) / 2) / (1 + t^2) dt,
 * which has no negative part; the upper tail at z is the lower one at -z with shape -a.
 * Azzalini (1985), Scand. J. Statist. 12; Owen (1956), Ann. Math. Statist. 27. */
#include "fit.h"
#include "line_kl.h"
#include "saddle.h"
#include "math/quadrature.h"

#include <math.h>

static double standard_logpdf(double a, double z)
{
    return M_LN2 + cr_norm_logpdf(z) + cr_norm_logcdf(a * z);
}

static double sn_logpdf(cri_par p, double x)
{
    return standard_logpdf(p.v[2], cri_standard(p, x)) - log(p.v[1]);
}

/* --- tails ----------------------------------------------------------------------------------- */

/* In u = asinh t - asinh a, a >= 0, the integrand over its value at u = 0 is
 *     exp(-sinh u (2 (h a) (h c) cosh u + (h^2 + 2 (h a)^2) sinh u) / 2) / (cosh u + r sinh u)
 * with h = |z|, c = sqrt(1 + a^2), r = a / c: nothing cancels. */
typedef struct tail_integrand {
    double cross, square, r;
} tail_integrand;

static double tail_density(double u, void *user)
{
    const tail_integrand *k = user;
    double                sh = sinh(u), ch = cosh(u);
    return exp(-0.5 * sh * (2 * k->cross * ch + k->square * sh)) / (ch + k->r * sh);
}

/* Where the exponential has lost `drop`. */
static double find_drop(double h, double a, double c, double drop)
{
    double y = sqrt(2 * drop) / h, x = hypot(a, y);
    return asinh(y / x * (y / c) / (1 + a / x * (hypot(1, x) / c)));
}

/* log P(Z <= -h) for a >= 0, h >= 0: pieces of Gauss's rule, no longer than 2 (the poles are
 * pi / 2 off the line), ending where exp or 1 / cosh have lost 18 digits. */
static double log_thin_tail(double h, double a)
{
    static const double drops[] = { 1, 6, 18, 42 };
    double              c = hypot(1, a), from = 0, sum = 0, ha = h * a, hc = h * c;
    tail_integrand      k = { ha * hc, h * h + 2 * ha * ha, a / c };
    if (h == 0) return log(atan2(1, a) / M_PI);
    if (hc * hc == INFINITY) return -INFINITY;
    for (int i = 0; i < 4; i++) {
        double to = h < 1e-100 ? 42 : fmin(42, find_drop(h, a, c, drops[i]));
        int    pieces = (int)ceil((to - from) / 2);
        for (int j = 0; j < pieces; j++)
            sum += cr_gauss20(tail_density, &k, from + j * (to - from) / pieces,
                              from + (j + 1) * (to - from) / pieces);
        from = fmax(from, to);
    }
    return -0.5 * hc * hc + log(sum / (M_PI * c));
}

/* log P(Z <= -h), h >= 0, any shape: the two shapes a and -a share 2 Phi(-h). */
static double log_tail(double h, double a)
{
    if (a >= 0) return log_thin_tail(h, a);
    double both = M_LN2 + cr_norm_logcdf(-h);
    return both == -INFINITY ? both : both + log1p(-exp(log_thin_tail(h, -a) - both));
}

static double scaled_density(double z, void *user)
{
    return 2 * exp(cr_norm_logpdf(z)) * cr_norm_cdf(*(double *)user * z);
}

/* P(Z <= z) for 0 < z below the median, a > 0: P(Z <= 0) and the integral from 0 to z, which is
 * cut where Phi(a z) has reached 1. */
static double below_median(double z, double a)
{
    static const double steps[] = { 1.5, 4, 8 };
    double              from = 0, sum = atan2(1, a) / M_PI;
    for (int i = 0; i <= 3; i++) {
        double to = i < 3 ? fmin(z, steps[i] / a) : z;
        if (to > from) sum += cr_gauss20(scaled_density, &a, from, to);
        from = fmax(from, to);
    }
    return sum;
}

static double lower_tail(double z, double a, bool as_log)
{
    if (z <= 0) return as_log ? log_tail(-z, a) : exp(log_tail(-z, a));
    double above = exp(log_tail(z, -a));
    if (above <= 0.5) return as_log ? log1p(-above) : 1 - above;
    double below = below_median(z, a);
    return as_log ? log(below) : below;
}

static double sn_cdf(cri_par p, double x, unsigned side)
{
    double z = cri_standard(p, x), a = p.v[2];
    if (side & CRI_UPPER) z = -z, a = -a;
    return lower_tail(z, a, side & CRI_LOG);
}

/* --- moments --------------------------------------------------------------------------------- */

static const double ROOT_2_PI = 0.79788456080286535588; /* sqrt(2 / pi), the mean of |Z| */

static double standard_mean(double a) { return ROOT_2_PI * (a / hypot(1, a)); }

static double standard_variance(double a)
{
    double mean = standard_mean(a);
    return 1 - mean * mean;
}

static double sn_mean(cri_par p) { return p.v[0] + p.v[1] * standard_mean(p.v[2]); }

static double sn_variance(cri_par p) { return p.v[1] * p.v[1] * standard_variance(p.v[2]); }

/* z = a pdf(a z) / cdf(a z), bisected between 0 and 1: the right side falls in z. */
static double sn_mode(cri_par p)
{
    double a = fabs(p.v[2]), low = 0, high = 1;
    for (int i = 0; i < 1100 && high - low > 1e-16 * high; i++) {
        double z = i < 60 ? 0.5 * (low + high) : sqrt(fmax(low, 1e-320) * high);
        if (z <= low || z >= high) break;
        *(a * cr_inv_mills(a * z) > z ? &low : &high) = z;
    }
    return p.v[0] + p.v[1] * copysign(a == 0 ? 0 : low, p.v[2]);
}

typedef struct entropy_part {
    double a, unit;
} entropy_part;

/* -2 phi(z) Phi(a z) log Phi(a z) in units of z in which it is smooth. */
static double lost_entropy(double t, void *user)
{
    const entropy_part *k = user;
    double              z = t * k->unit, log_cdf = cr_norm_logcdf(k->a * z);
    return -2 * k->unit * exp(cr_norm_logpdf(z) + log_cdf) * log_cdf;
}

/* A normal's less log 2 and E log Phi(a Z), E Z^2 being 1. */
static double sn_entropy(cri_par p)
{
    entropy_part k = { fabs(p.v[2]), 1 / fmax(1, fabs(p.v[2])) };
    double       sum = 0;
    for (int i = -7; i < 7; i++) sum += cr_gauss20(lost_entropy, &k, 1.5 * i, 1.5 * (i + 1));
    return log(p.v[1]) + 0.5 + CRI_HALF_LOG_2PI - M_LN2 + sum;
}

/* (a |Z0| + Z1) / sqrt(1 + a^2). */
static double sn_sample(cri_par p, cr_rng *r)
{
    double a = p.v[2], c = hypot(1, a), first = fabs(cr_rng_normal(r));
    return p.v[0] + p.v[1] * (a / c * first + cr_rng_normal(r) / c);
}

static cri_line line(cri_par p)
{
    return (cri_line){ standard_logpdf, NULL, p.v[2], p.v[0], p.v[1] };
}

static cr_status sn_kl(cr_ctx *cx, cri_par p, cri_par q, double *out)
{
    return cri_line_kl(cx, "skew-normal", line(p), line(q), out);
}

/* --- fit ------------------------------------------------------------------------------------- */

/* The mean log-likelihood of the sample, counted in units of its mean and standard deviation, and
 * its slopes in location, scale and shape. */
typedef struct sn_problem {
    const cri_sample *s;
    double            centre, unit, edge; /* edge: the value at the sharp end, in those units */
} sn_problem;

typedef struct sn_score {
    double value, location, scale, shape;
} sn_score;

static sn_score score_at(const sn_problem *q, double location, double scale, double a)
{
    sn_score g = { 0, 0, 0, 0 };
    for (size_t i = 0; i < q->s->n; i++) {
        double w = cri_weight(q->s, i) / q->s->total;
        double z = ((q->s->x[i] - q->centre) / q->unit - location) / scale;
        double mills = cr_inv_mills(a * z), slope = a * mills - z;
        g.value += w * (standard_logpdf(a, z) - log(scale));
        g.location -= w * slope / scale;
        g.scale -= w * (slope * z + 1) / scale;
        g.shape += w * mills * z;
    }
    return g;
}

/* A soft wall for asinh a, which may run away. */
static double lean_on_wall(double theta, double wall, double *slope)
{
    double over = fabs(theta) - wall;
    if (!(over > 0)) return 0;
    *slope -= copysign(2 * over, theta);
    return -over * over;
}

static const double WALL = 5, LAST_WALL = 13; /* of asinh a: a = 74, a = 2e5 */

/* location = mean - sd m / r, scale = sd / r with the mean m and variance r^2 of the standard
 * member; their slopes in a. */
typedef struct sn_member {
    double location, scale, location_slope, scale_slope;
} sn_member;

static sn_member member_at(double mean, double sd, double a)
{
    double c = hypot(1, a), m = standard_mean(a), r = sqrt(1 - m * m);
    double bend = ROOT_2_PI / (c * c * c) / (r * r * r);
    return (sn_member){ mean - sd * m / r, sd / r, -sd * bend, sd * m * bend };
}

/* In (mean, log sd, asinh a): in location and scale the information is singular at a = 0, where
 * mean and sd stay apart from the shape. */
static double by_moments(const double *theta, double *g, const void *user)
{
    double    a = sinh(theta[2]);
    sn_member k = member_at(theta[0], exp(theta[1]), a);
    sn_score  s = score_at(user, k.location, k.scale, a);
    g[0] = s.location;
    g[1] = s.location * (k.location - theta[0]) + s.scale * k.scale;
    g[2] = (s.shape + s.location * k.location_slope + s.scale * k.scale_slope) * cosh(theta[2]);
    return s.value + lean_on_wall(theta[2], WALL, &g[2]);
}

/* In (a (edge - location) / scale, log scale, asinh a): where a is large the location is known to
 * 1 / a beside the edge of the sample. */
static double by_edge(const double *theta, double *g, const void *user)
{
    const sn_problem *q = user;
    double            a = sinh(theta[2]), scale = exp(theta[1]), off = scale * theta[0] / a;
    sn_score          s = score_at(q, q->edge - off, scale, a);
    g[0] = -s.location * scale / a;
    g[1] = -s.location * off + s.scale * scale;
    g[2] = (s.shape + s.location * off / a) * cosh(theta[2]);
    return s.value + lean_on_wall(theta[2], LAST_WALL, &g[2]);
}

/* The shape whose skewness is that of the sample, or the largest that a skew normal has. */
static double shape_of_moments(const sn_problem *q)
{
    double third = 0;
    for (size_t i = 0; i < q->s->n; i++) {
        double z = (q->s->x[i] - q->centre) / q->unit;
        third += cri_weight(q->s, i) / q->s->total * z * z * z;
    }
    double skew = fmin(fabs(third), 0.95), root = cbrt(2 * skew / (4 - M_PI)); /* m / r */
    double m = root / sqrt(1 + root * root), delta = m / ROOT_2_PI;
    return copysign(delta / sqrt(1 - delta * delta), third);
}

/* Climbs from a shape; where that runs away, goes on from the edge.  theta is location, log scale,
 * asinh a. */
static cr_status climb_from(cr_ctx *cx, sn_problem *q, double shape, double *theta, double *value)
{
    cr_status st = CR_OK;
    double    at[3] = { 0, 0, asinh(shape) }, low, high, unused[3];
    CR_TRY(cri_climb(cx, "skew-normal", by_moments, q, 3, at));
    double    a = sinh(at[2]);
    sn_member k = member_at(at[0], exp(at[1]), a);
    *value = by_moments(at, unused, q);
    if (fabs(at[2]) > WALL - 0.5) {
        cri_sample_range(q->s, &low, &high);
        q->edge = ((a > 0 ? low : high) - q->centre) / q->unit;
        at[0] = a * (q->edge - k.location) / k.scale, at[1] = log(k.scale);
        CR_TRY(cri_climb(cx, "skew-normal", by_edge, q, 3, at));
        k.scale = exp(at[1]), k.location = q->edge - k.scale * at[0] / sinh(at[2]);
        *value = by_edge(at, unused, q);
    }
    theta[0] = k.location, theta[1] = log(k.scale), theta[2] = at[2];
done:
    return st;
}

/* At a = 0 the slope in a is always 0, so the climbs start beside it, on both sides: a symmetric
 * sample may be fitted best by either. */
static cr_status sn_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status  st = CR_OK;
    sn_problem problem = { s, 0, 1, 0 };
    double     best = -INFINITY, theta[3] = { 0 };
    (void)n;
    CR_TRY(cri_need_spread(cx, s, "skew-normal", "scale"));
    problem.centre = cri_sample_mean(s, NULL);
    problem.unit = sqrt(cri_sample_spread(s, problem.centre));
    double moment = shape_of_moments(&problem), beside = moment < 0 ? -0.5 : 0.5;
    double starts[] = { moment, beside, -beside };
    for (size_t i = 0; i < 3; i++) {
        double at[3], value;
        CR_TRY(climb_from(cx, &problem, starts[i], at, &value));
        if (!(value > best)) continue;
        best = value;
        for (size_t j = 0; j < 3; j++) theta[j] = at[j];
    }
    v[0] = problem.centre + problem.unit * theta[0];
    v[1] = problem.unit * exp(theta[1]);
    v[2] = sinh(theta[2]);
    if (fabs(theta[2]) > LAST_WALL - 1)
        cr_log(cx, CR_LOG_WARNING,
               "skew-normal: the values end sharply on one side: the shape has no finite estimate, "
               "and the fit is half a normal up to rounding");
done:
    return st;
}

/* --- the descriptor -------------------------------------------------------------------------- */

static const cri_dist_param params[] = {
    CRI_PARAM("location", cri_any, "any number", "0", "where the density would be cut"),
    CRI_PARAM("scale", cri_positive, ">0", "1", "scale"),
    CRI_PARAM("shape", cri_any, "any number", "4",
              "0 for a normal; its sign is the side of the long tail"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_skew_normal = {
    .name = "skew-normal",
    .summary = "a normal with one shorter tail: skewed errors",
    .formula = "p(x) = 2 / scale phi(z) Phi(shape z),  z = (x - location) / scale",
    .reference = "Azzalini (1985), Scandinavian J. Statistics 12",
    .params = params,
    CRI_ON_REALS,
    .logpdf = sn_logpdf,
    .cdf = sn_cdf,
    .mean = sn_mean,
    .mode = sn_mode,
    .variance = sn_variance,
    .entropy = sn_entropy,
    .sample = sn_sample,
    .fit = sn_fit,
    .kl_integral = sn_kl,
};
