/* von_mises.c -- which way: mean direction, and concentration, of angles.
 *   x | mu, k ~ VonMises(mu, k)
 * k known:    mu ~ VonMises(mu0, k0).  With k' exp(i mu') = k0 exp(i mu0) + k sum_j exp(i x_j),
 *               posterior VonMises(mu', k'),   p(x_1 .. x_n) = I0(k') / (I0(k0) (2 pi I0(k))^n)
 * k unknown:  p(mu, k) ~ g(k) exp(k r0 cos(mu - mu0)) / I0(k)^c0, which is conjugate:
 *               r' exp(i mu') = r0 exp(i mu0) + sum_j exp(i x_j),   c' = c0 + n;
 *             given k, mu is VonMises(mu', k r'); k itself is integrated by quadrature
 *             (von_mises_kappa.h):   p(x_1 .. x_n) = Z' / Z / (2 pi)^n
 * Mardia & Jupp (2000), Directional Statistics, sec. 5.3; Guttorp & Lockhart (1988), JASA 83. */
#include "univariate.h"
#include "von_mises_kappa.h"
#include "math/constants.h"
#include "math/special/special.h"
#include "prob/dist/dist_class.h"
#include "prob/dist/von_mises.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* clang-format off */
#define VON_MISES_OPTIONS(X)                                                                         \
    CRI_CONJUGATE_OPTIONS(X, "jeffreys",                                                             \
      "prior: jeffreys, flat; mu0=M,kappa0=K for the direction if kappa is known; mu0=M,r0=R,c0=C or kappa_mean=M,kappa_sd=S if it is not", "kappa_mean=2,kappa_sd=2")        \
    X(real, kappa, "", ">0", "the concentration, if it is known", "2")
/* clang-format on */
CR_OPTIONS(von_mises_options, von_mises_table, VON_MISES_OPTIONS);

/* LENGTH is k' where kappa is known, r' where not. */
enum { MU, LENGTH, COUNT, KAPPA, KIND, SHAPE, RATE, LOG_Z, PARAMS };
enum { N, COS, SIN, STATS };

static bool known(const double *p) { return !isnan(p[KAPPA]); }

static cri_kappa kappa_of(const double *p)
{
    return (cri_kappa){ p[LENGTH], p[COUNT], (int)p[KIND], p[SHAPE], p[RATE] };
}

static bool valid(const double *prior, double x)
{
    (void)prior;
    return !isnan(x);
}

/* More than a full turn: degrees, as a rule. */
static bool strange(double x) { return fabs(x) > 2 * M_PI + 0.01; }

static void measure(const double *x, const double *w, size_t n, double *stats)
{
    stats[N] = stats[COS] = stats[SIN] = 0;
    for (size_t i = 0; i < n; i++) {
        stats[N] += w[i];
        stats[COS] += w[i] * cos(x[i]);
        stats[SIN] += w[i] * sin(x[i]);
    }
}

/* --- prior ----------------------------------------------------------------------------------- */

static cr_status prior_of_direction(cr_ctx *cx, const cri_prior *p, double *params)
{
    double v[2];
    if (cri_prior_is(p, "jeffreys") || cri_prior_is(p, "flat") || cri_prior_is(p, "uniform"))
        return CR_OK; /* uniform on the circle */
    if (!cri_prior_match(p, "mu0,kappa0", v))
        return cri_prior_refuse(cx, p, "with a known kappa: uniform; mu0=M,kappa0=K");
    params[MU] = v[0];
    params[LENGTH] = v[1];
    return cri_prior_above(cx, "kappa0", v[1], 0);
}

static cr_status prior_of_both(cr_ctx *cx, const cri_prior *p, double *params)
{
    cr_status st = CR_OK;
    double    v[3];
    params[KIND] = cri_prior_is(p, "jeffreys") ? CRI_KAPPA_JEFFREYS : CRI_KAPPA_FLAT;
    if (cri_prior_is(p, "jeffreys") || cri_prior_is(p, "flat") || cri_prior_is(p, "uniform"))
        goto done;
    if (cri_prior_match(p, "kappa_mean,kappa_sd", v)) {
        CR_TRY(cri_prior_above(cx, "kappa_mean", v[0], 0));
        CR_TRY(cri_prior_above(cx, "kappa_sd", v[1], 0));
        params[KIND] = CRI_KAPPA_GAMMA;
        params[SHAPE] = v[0] / v[1] * (v[0] / v[1]), params[RATE] = v[0] / v[1] / v[1];
    } else if (cri_prior_match(p, "mu0,r0,c0", v)) {
        if (!(v[1] >= 0)) CR_TRY(cri_prior_above(cx, "r0", v[1], 0));
        if (!(v[2] > v[1]))
            CR_TRY(cr_fail(cx, CR_EARG,
                           "--prior: c0 is %g, but must be above r0, %g: c0 unit vectors cannot "
                           "have a sum that long",
                           v[2], v[1]));
        params[MU] = v[0], params[LENGTH] = v[1], params[COUNT] = v[2];
    } else {
        CR_TRY(cri_prior_refuse(cx, p, "jeffreys, flat; mu0=M,r0=R,c0=C; kappa_mean=M,kappa_sd=S"));
    }
    double    work[CRI_KAPPA_WORK];
    cri_kappa q = kappa_of(params);
    CR_TRY(cri_kappa_prepare(cx, &q, work));
    params[LOG_Z] = cri_kappa_log_normaliser(work);
done:
    return st;
}

static cr_status read_prior(cr_ctx *cx, const cri_prior *p, const void *options, double *params)
{
    const von_mises_options *o = options;
    memset(params, 0, PARAMS * sizeof *params);
    params[KAPPA] = o->kappa;
    params[LOG_Z] = NAN;
    return known(params) ? prior_of_direction(cx, p, params) : prior_of_both(cx, p, params);
}

/* --- posterior and evidence ------------------------------------------------------------------ */

static bool proper(const double *p)
{
    cri_kappa q = kappa_of(p);
    return known(p) || cri_kappa_proper(&q);
}

/* n unit vectors have a sum of length n at most, but for rounding. */
static bool sound(const double *prior, const double *stats)
{
    double kind = prior[KIND];
    return isfinite(prior[MU]) && cri_at_least(prior[LENGTH], 0) && cri_at_least(prior[COUNT], 0) &&
           (!known(prior) || cri_at_least(prior[KAPPA], DBL_TRUE_MIN)) &&
           (kind == CRI_KAPPA_FLAT || kind == CRI_KAPPA_JEFFREYS || kind == CRI_KAPPA_GAMMA) &&
           cri_at_least(prior[SHAPE], 0) && cri_at_least(prior[RATE], 0) &&
           hypot(stats[COS], stats[SIN]) <= stats[N] * (1 + 1e-9);
}

static void posterior(const double *prior, const double *stats, double *params)
{
    double unit = known(prior) ? prior[KAPPA] : 1;
    double c = prior[LENGTH] * cos(prior[MU]) + unit * stats[COS];
    double s = prior[LENGTH] * sin(prior[MU]) + unit * stats[SIN];
    memcpy(params, prior, PARAMS * sizeof *params);
    params[LENGTH] = hypot(c, s);
    params[MU] = atan2(s, c);
    params[COUNT] = prior[COUNT] + stats[N];
    if (!known(prior)) params[LENGTH] = fmin(params[LENGTH], params[COUNT]); /* but for rounding */
}

static cr_status prepare(cr_ctx *cx, const double *params, double *work)
{
    cri_kappa q = kappa_of(params);
    return known(params) ? CR_OK : cri_kappa_prepare(cx, &q, work);
}

static double log_i0(double k) { return k + cri_bessel_scaled(k).log_i0; }

static double log_evidence(const double *prior, const double *stats, const double *params,
                           const double *work)
{
    double n = stats[N];
    if (known(prior))
        return log_i0(params[LENGTH]) - log_i0(prior[LENGTH]) -
               n * (CRI_LOG_2PI + log_i0(prior[KAPPA]));
    return cri_kappa_log_normaliser(work) - prior[LOG_Z] - n * CRI_LOG_2PI;
}

/* --- the next angle -------------------------------------------------------------------------- */

/* log of the integral of VonMises(x; mu, k) VonMises(mu; mu', k') over mu, x at `off` from mu':
 * I0(|k + k' exp(i off)|) / (2 pi I0(k) I0(k')), the exponents without cancellation. */
static double log_spread(double k, double more, double off)
{
    double s = sin(0.5 * off), lost = 4 * k * more * s * s;
    double all = k + more, length = sqrt(fmax(0, all * all - lost));
    return -lost / (length + all) + cri_bessel_scaled(length).log_i0 - cri_bessel_scaled(k).log_i0 -
           cri_bessel_scaled(more).log_i0 - CRI_LOG_2PI;
}

/* With k unknown: the normaliser with this angle among the others, against that without. */
static double log_predictive(const double *params, const double *work, double x)
{
    double    one[STATS] = { 1, cos(x), sin(x) }, more[PARAMS];
    cri_kappa q;
    if (known(params)) return log_spread(params[KAPPA], params[LENGTH], x - params[MU]);
    posterior(params, one, more);
    q = kappa_of(more);
    return cri_kappa_log_z(&q) - cri_kappa_log_normaliser(work) - CRI_LOG_2PI;
}

static double draw_angle(double mu, double k, cr_rng *r)
{
    double v[2] = { mu, k };
    return cri_dist_von_mises.sample((cri_par){ v, 2 }, r);
}

static double draw(const double *params, const double *work, cr_rng *r)
{
    cri_kappa q = kappa_of(params);
    double    k = params[KAPPA], length = params[LENGTH];
    if (!known(params)) k = cri_kappa_quantile(&q, work, cr_rng_uniform(r)), length *= k;
    double mu = draw_angle(params[MU], length, r);
    return remainder(draw_angle(mu, k, r), 2 * M_PI);
}

/* --- what is told ---------------------------------------------------------------------------- */

static cri_named joint(const double *p)
{
    if (known(p)) return (cri_named){ "von-mises", 2, { "mu", "kappa" }, { p[MU], p[LENGTH] } };
    return (
        cri_named){ "von-mises-conjugate", 3, { "mu", "r", "c" }, { p[MU], p[LENGTH], p[COUNT] } };
}

static cri_named predictive(const double *p)
{
    cri_named d = joint(p);
    d.family = "von-mises-mixture";
    if (known(p)) d.n = 3, d.names[1] = "kappa_mu", d.names[2] = "kappa", d.values[2] = p[KAPPA];
    return d;
}

static size_t marginals(const double *p, const char *names[], cri_named *out)
{
    names[0] = "direction", out[0] = joint(p);
    if (known(p)) return 1;
    names[1] = "concentration", out[1] = joint(p);
    return 2;
}

typedef struct looking {
    double r, off;
} looking;

/* Given k: one less the mean of cos(mu - mu'), P(|mu - mu'| <= off), and its derivative. */
static double gap_at(double k, void *user) { return cri_bessel_scaled(k * *(double *)user).gap; }

static double mass_at(double k, void *user)
{
    const looking *a = user;
    double         v[2] = { 0, k * a->r };
    return 2 * cri_dist_cdf(&cri_dist_von_mises, (cri_par){ v, 2 }, a->off, CRI_LOWER) - 1;
}

static double edge_at(double k, void *user)
{
    const looking *a = user;
    double         v[2] = { 0, k * a->r };
    return 2 * exp(cri_dist_von_mises.logpdf((cri_par){ v, 2 }, a->off));
}

/* The arc around mu' that holds `level` of a direction whose k is not known: Newton's method, kept
 * in its bracket by halving. */
static double find_arc(const double *p, const double *work, double level)
{
    cri_kappa q = kappa_of(p);
    looking   a = { p[LENGTH], 0 };
    double    low = 0, high = M_PI, width = cri_kappa_expect(&q, work, gap_at, &a.r);
    a.off = fmin(cr_norm_ppf(0.5 + level / 2) * sqrt(2 * width), 0.5 * M_PI);
    for (int i = 0; i < 60; i++) {
        double excess = cri_kappa_expect(&q, work, mass_at, &a) - level;
        double next = a.off - excess / cri_kappa_expect(&q, work, edge_at, &a);
        if (excess < 0)
            low = a.off;
        else
            high = a.off;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        bool near = fabs(excess) < 1e-9; /* what is left is about its square */
        a.off = next;
        if (near) break;
    }
    return a.off;
}

/* The direction as an angle around its mean, with the circular sd sqrt(-2 log E cos(mu - mu')). */
static cr_status summarise(cr_ctx *cx, const double *p, const double *work, size_t k, double level,
                           cri_summary *out)
{
    cr_status st = CR_OK;
    cri_kappa q = kappa_of(p);
    double    gap, arc, r = p[LENGTH];
    if (k == 1) {
        cri_kappa_summarise(&q, work, level, out);
        return CR_OK;
    }
    if (known(p)) {
        double v[2] = { 0, p[LENGTH] };
        CR_TRY(cr_dist_quantile(cx, &cri_dist_von_mises, v, 2, 0.5 + level / 2, &arc));
        gap = cri_bessel_scaled(p[LENGTH]).gap;
    } else {
        arc = find_arc(p, work, level);
        gap = cri_kappa_expect(&q, work, gap_at, &r);
    }
    *out = (cri_summary){ .mean = p[MU], .mode = p[MU] };
    out->sd = sqrt(-2 * log1p(-gap));
    out->lower = out->hdi_lower = p[MU] - arc;
    out->upper = out->hdi_upper = p[MU] + arc;
done:
    return st;
}

static const char *const statistics[] = { "n", "sum_cos", "sum_sin" };

static const cri_conjugate_family family = {
    .model = "von-mises",
    .needs = "an angle in radians",
    .strange = strange,
    .advice = "a full turn is 6.2832; if the values are degrees, multiply them by 0.0174533 first",
    .improper = "this prior needs more angles, not all the same",
    CRI_CONJUGATE_FAMILY,
    .n_work = CRI_KAPPA_WORK,
    .prepare = prepare,
    .log_predictive = log_predictive,
    .marginals = marginals,
    .summarise = summarise,
    .evidence = "exact; quadrature where kappa is not known",
};

CRI_CONJUGATE_ENTRIES(von_mises, family, NULL)

const cr_model_class cri_class_von_mises = {
    .name = "von-mises",
    .summary = "mean direction and concentration of angles in radians",
    .formulas = "x | mu, k ~ VonMises(mu, k);  k known:  mu ~ VonMises(mu0, k0),\n"
                "  posterior  k' exp(i mu') = k0 exp(i mu0) + k sum exp(i x)\n"
                "k unknown:  p(mu, k) ~ g(k) exp(k r0 cos(mu - mu0)) / I0(k)^c0,\n"
                "  r' exp(i mu') = r0 exp(i mu0) + sum exp(i x),  c' = c0 + n;  k by quadrature",
    .reference = "Mardia & Jupp (2000), Directional Statistics; Guttorp & Lockhart (1988), JASA 83",
    .example = "examples/turtles.csv",
    CRI_CONJUGATE_CLASS(von_mises, NULL, NULL),
};
