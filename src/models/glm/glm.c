/* glm.c -- generalised linear models: a family, a link, maximum likelihood.
 *   g(E y) = offset + b0 + x . b,   Var y = phi V(mu).
 * Estimates by reweighted least squares (irls.h); Cov b = phi (X^T W X)^-1 with the expected
 * information.  phi is 1 for counts, else Pearson's chi-square / (n - rank).
 * Predictive: the family's distribution whose mean is mu and whose variance is that of an
 * observation plus mu'^2 Var(eta), the estimate's own: a Poisson becomes a negative binomial, a
 * binomial a beta-binomial.  Varying intercepts are glm_varying.h.  McCullagh & Nelder (1989). */
#include "glm_precisions.h"
#include "glm_separation.h"
#include "glm_state.h"
#include "irls.h"
#include "measures.h"
#include "overdispersion.h"
#include "models/common/sandwich.h"
#include "models/linear/bordered.h"
#include "models/linear/relations.h"
#include "base/scratch.h"
#include "data/table/table_internal.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define GLM_OPTIONS(X)                                                                               \
    X(choice, family,     "gaussian", CRI_GLM_FAMILIES, "distribution of the target", "poisson")     \
    X(choice, link,       "auto", CRI_GLM_LINKS,                                                     \
      "link function of the mean; auto: identity, logit or log, depending on the family", "log")                        \
    X(text,   offset,     "", "COLUMN", "column added to the linear predictor", "log_area")  \
    X(text,   exposure,   "", "COLUMN", "column whose logarithm is added to the linear predictor", "population")       \
    X(text,   trials,     "", "COLUMN",                                                              \
      "binomial: column with the number of trials; the target then counts successes", "n")           \
    X(choice, dispersion, "auto", "auto|one|pearson|deviance",                                       \
      "dispersion phi; auto: 1 for counts and shares, otherwise pearson", "pearson")                               \
    X(real,   overdispersion, "", ">0",                                                              \
      "negative binomial: alpha in Var y = mu + alpha mu^2; estimated if not given", "0.5")  \
    X(flag,   intercept,  "true", "", "fit an intercept", "false")                                   \
    CRI_WEIGHTS_ARE(X)                                                                               \
    X(choice, errors,     "classical", "classical|hc0|hc1",                                           \
      "standard errors: from the family's variance, or hc0 or hc1, which hold for any variance", "hc1")           \
    X(count,  max_iter,   "100", "1..1000000", "maximum number of iterations", "25")                              \
    X(real,   tolerance,  "1e-12", ">0", "stop when the relative change of the deviance is below this", "1e-6")
/* clang-format on */
enum { DISPERSION_AUTO, DISPERSION_ONE, DISPERSION_PEARSON, DISPERSION_DEVIANCE };
static const char *const glm_roles[] = { "offset", "exposure", "trials", NULL }; /* cri_glm_role */

CR_OPTIONS(glm_options, glm_table, GLM_OPTIONS);
static const cri_requirement glm_requirements[] = {
    { "trials", "family", "binomial", false },
    { "overdispersion", "family", "negative-binomial", false },
    CRI_WEIGHTS_ARE_REQUIRES,
    CRI_REQUIREMENT_LAST,
};

CRI_RECORD_TABLE(static, glm_record, cri_glm, CRI_GLM);

/* --- fit ------------------------------------------------------------------------------------- */

/* A link whose means are shares is for the binomial alone. */
static cr_status check_link(cr_ctx *cx, cri_glm_family family, cri_glm_link link)
{
    static const char *const families[] = { "gaussian", "binomial",         "poisson",
                                            "gamma",    "inverse-gaussian", "negative-binomial" };
    static const char *const links[] = { "auto",    "identity", "log",
                                         "logit",   "probit",   "cloglog",
                                         "cauchit", "inverse",  "inverse-squared",
                                         "sqrt" };
    bool share = link == CRI_LINK_LOGIT || link == CRI_LINK_PROBIT || link == CRI_LINK_CLOGLOG ||
                 link == CRI_LINK_CAUCHIT;
    if (family == CRI_GLM_BINOMIAL || !share) return CR_OK;
    cr_fail(cx, CR_EARG,
            "--link %s gives means between 0 and 1, but the means of --family %s are not limited "
            "to them",
            links[link], families[family]);
    return cr_fail_hint(cx, "suitable links: identity, log, inverse, inverse-squared, sqrt");
}

static bool is_dispersion_fixed(const glm_options *o)
{
    return o->dispersion == DISPERSION_ONE ||
           (o->dispersion == DISPERSION_AUTO && cri_family_is_fixed((cri_glm_family)o->family));
}

static double dispersion(const cri_glm *m, int choice)
{
    double dof = m->n - m->parameters;
    if (m->fixed_dispersion) return 1;
    if (!(dof > 0)) return NAN;
    return (choice == DISPERSION_DEVIANCE ? m->deviance : m->pearson) / dof;
}

/* phi at the maximum of the likelihood, by the deviance D: D / n of the Gaussian and the inverse
 * Gaussian; 1 / a of the gamma, whose shape a solves log a - digamma(a) = D / 2n.  The difference falls
 * from infinity to 0 and lies between 1 / 2a and 1 / a, so Newton's steps in log a from the middle of
 * that stay on its way. */
static double ml_dispersion(const cri_glm *m, const cri_glm_problem *p)
{
    double s = m->deviance / (2 * m->n);
    if (m->fixed_dispersion) return 1;
    if (m->family == CRI_GLM_GAMMA && p->precise)
        return cri_glm_gamma_dispersion(p->weight, p->rows->n, m->deviance);
    if (m->family == CRI_GLM_GAUSSIAN || m->family == CRI_GLM_INVERSE_GAUSSIAN) return 2 * s;
    if (m->family != CRI_GLM_GAMMA) return m->phi; /* a quasi-likelihood has none */
    if (s < 1e-5)
        return 12 * s / (3 + sqrt(9 + 12 * s)); /* s = phi/2 + phi^2/12: no cancellation */
    double a = 0.75 / s;
    for (int step = 0; s > 0 && isfinite(s) && step < 50; step++) {
        double off = log(a) - cr_digamma(a) - s, slope = 1 - a * cr_trigamma(a);
        double next = a * exp(-off / slope);
        if (!(fabs(next - a) > 1e-14 * a)) break;
        a = next;
    }
    return 1 / a;
}

static const char *glm_two_classes(const void *options)
{
    const glm_options *o = options;
    return o->family == CRI_GLM_BINOMIAL && !o->trials ? "glm --family binomial" : NULL;
}

/* phi of intervals, where a spread is learned beside the mean.  Of the gamma and the inverse Gaussian by the likelihood:
 * Pearson's estimate, which the standard errors use, varies much more where the tail is long.  Of counts
 * alpha comes out too small with few rows, which Pearson's chi-square shows. */
static void set_row_dispersion(cri_glm *m, const glm_options *o)
{
    double left = m->n - m->parameters;
    bool   counts = m->family == CRI_GLM_NEGATIVE_BINOMIAL && isnan(o->overdispersion);
    m->row_dispersion = NAN;
    m->spread_dof = 0;
    if (o->dispersion != DISPERSION_AUTO || !(left > 0)) return;
    if (!counts && m->family != CRI_GLM_GAMMA && m->family != CRI_GLM_INVERSE_GAUSSIAN) return;
    m->row_dispersion = counts ? fmax(1, m->pearson / left) : m->ml_dispersion * m->n / left;
    m->spread_dof = left;
}

/* The estimate of alpha at its least: the counts are a Poisson's, or spread even less. */
static void warn_of_underdispersion(cr_ctx *cx, const cri_glm_solution *s)
{
    if (s->underdispersed)
        cr_log(cx, CR_LOG_WARNING,
               "the counts vary no more than Poisson counts (Pearson's chi-square is %.3g with "
               "%.3g degrees of freedom): the estimate of the overdispersion is 0, and the fit is "
               "that of --family poisson; --dispersion pearson adjusts its standard errors",
               s->pearson, s->left);
}

/* Counts that vary more than the family says.  True ones are taken for such in fewer than one of 100 fits
 * (test_overdispersion.c); a little more than 1 does not matter, however sure it is. */
static void warn_of_overdispersion(cr_ctx *cx, const glm_options *o, const cri_glm_problem *p,
                                   const cri_glm *m, const double *eta)
{
    const double SURE = 1e-3, MATTERS = 1.2;
    double       left = m->n - m->parameters, phi = m->pearson / left;
    if (o->dispersion != DISPERSION_AUTO || o->errors != CRI_CLASSICAL || !(phi > MATTERS)) return;
    double probability = cri_glm_overdispersion(p, m, eta);
    if (!(probability < SURE)) return;
    cr_log(cx, CR_LOG_WARNING,
           "%s: Pearson's chi-square is %.3g times its %.6g degrees of freedom (p = %.1g), so "
           "standard errors and intervals are too small; %s--dispersion pearson multiplies the "
           "standard errors by %.3g",
           p->family == CRI_GLM_POISSON ? "the counts vary more than Poisson counts"
                                        : "the successes vary more than those of a binomial",
           phi, left, probability,
           p->family == CRI_GLM_POISSON ? "--family negative-binomial learns the spread, and " : "",
           sqrt(phi));
}

static void warn_of_few_rows(cr_ctx *cx, const cri_glm *m)
{
    if (!(m->n - m->parameters > 0))
        cr_log(cx, CR_LOG_WARNING,
               m->fixed_dispersion
                   ? "there are as many coefficients as rows: the means are the rows themselves"
                   : "there are as many coefficients as rows: "
                     "no standard errors or intervals can be given");
}

/* The tail of the inverse Gaussian is so long that its estimates are far from normal even then. */
static void warn_of_long_tail(cr_ctx *cx, const cri_glm *m)
{
    enum { FEW = 200 };
    if (m->family == CRI_GLM_INVERSE_GAUSSIAN && m->n > m->parameters && m->n < FEW)
        cr_log(cx, CR_LOG_WARNING,
               "with fewer than %d rows, 95 %% intervals of --family inverse-gaussian hold 91 to "
               "94 %% of the time; --calibrate conformal gives better intervals for new rows",
               FEW);
}

static void warn_of_edge(cr_ctx *cx, const cri_glm_solution *s)
{
    if (s->at_edge > 0)
        cr_log(cx, CR_LOG_WARNING,
               "the best fit has %zu %s with a mean at the boundary of the range of the family: "
               "the standard errors do not hold there; --link auto keeps the means inside",
               s->at_edge, s->at_edge == 1 ? "row" : "rows");
}

/* Every step solves p x p equations, about which nothing can be done where there is no penalty:
 * many terms are refused where they have no unique answer, and else the cost is said before it is
 * spent. */
static cr_status check_size(cr_ctx *cx, const cri_rows *rows, bool intercept)
{
    enum { MANY = 2000 };
    double p = (double)rows->p, n = (double)rows->n;
    if (rows->p <= MANY) return CR_OK;
    if (p + intercept > n) {
        cr_fail(cx, CR_ENUMERIC,
                "%zu columns and %zu rows: without a penalty the likelihood has no unique maximum",
                rows->p, rows->n);
        return cr_fail_hint(cx, "credence fit ridge takes more columns than rows, and so does "
                                "credence fit logistic for classes");
    }
    if (cri_bordered_pays(rows)) return CR_OK; /* nearly all of them the levels of one category */
    cr_log(cx, CR_LOG_WARNING,
           "%zu columns: every step takes three matrices of columns by columns, %.3g GB, and at "
           "most %.2g multiplications",
           rows->p, 24e-9 * p * p, n * p * p + p * p * p / 3);
    return CR_OK;
}

/* What the model keeps of a solution, whose coefficients it takes over; phi and with it all sds. */
static cr_status keep_solution(cr_ctx *cx, cri_glm *m, const glm_options *o,
                               const cri_glm_problem *p, cri_glm_solution *s)
{
    cr_status   st = CR_OK;
    cri_glm_law law = { p->family, p->link, s->alpha };
    for (size_t i = 0; i < p->rows->n; i++) m->n += p->weight[i];
    m->family = (size_t)p->family;
    m->link = (size_t)p->link;
    m->alpha = p->family == CRI_GLM_NEGATIVE_BINOMIAL ? s->alpha : 0;
    m->parameters = (double)s->facts.rank + o->intercept;
    m->deviance = s->deviance;
    m->pearson = s->pearson;
    m->fixed_dispersion = is_dispersion_fixed(o);
    m->phi = dispersion(m, o->dispersion);
    m->ml_dispersion = ml_dispersion(m, p);
    set_row_dispersion(m, o);
    m->log_likelihood = -0.5 * s->deviance;
    if (!s->single)
        CR_TRY(cri_glm_log_likelihood(cx, p, &law, m->ml_dispersion, s->eta, &m->log_likelihood));
    CR_TRY(cri_glm_null_deviance(cx, p, &law, &m->null_deviance));
    m->fit = s->fit;
    s->fit = (cri_predictor){ 0 };
    m->fit.sigma = sqrt(m->phi);
    m->fit.dof = m->fixed_dispersion ? INFINITY : m->n - m->parameters;
    cri_predictor_set_sds(&m->fit);
done:
    return st;
}

/* Standard errors from the scores of the rows. */
static cr_status set_robust(cr_ctx *cx, const glm_options *o, const cri_glm_problem *p,
                            const cri_glm_solution *s, cri_glm *m)
{
    cr_status   st = CR_OK;
    cr_scratch  workspace = cr_scratch_begin(cx);
    double     *square = cr_scratch_f64(&workspace, p->rows->n);
    cri_glm_law law = { p->family, p->link, s->alpha };
    CR_TRY(workspace.status);
    for (size_t i = 0; i < p->rows->n; i++) {
        double score = p->trials[i] * cri_family_score(&law, p->y[i], s->eta[i]);
        double times = p->precise ? p->weight[i] * p->weight[i] : p->weight[i];
        square[i] = p->weight[i] > 0 ? times * score * score : 0;
    }
    m->errors = (size_t)o->errors;
    CR_TRY(cri_predictor_set_robust(cx, p->rows, (cri_errors)o->errors, square, NULL,
                                    m->n / (m->n - m->parameters), &m->fit));
done:
    cr_scratch_end(&workspace);
    return st;
}

/* The groups of varying intercepts beside what was fitted without them. */
static cr_status add_groups(cr_ctx *cx, const cri_glm_problem *p, cri_glm_solution *s,
                            cri_glm_varying *out)
{
    cri_glm_law      law = { p->family, p->link, s->alpha };
    cri_glm_measures q;
    cr_status        st = cri_glm_solve_varying(cx, p, s, out);
    if (st == CR_OK) st = cri_glm_measure(cx, p, &law, s->eta, &q);
    if (st != CR_OK) return st;
    s->deviance = q.deviance;
    s->pearson = q.pearson;
    s->iterations = out->iterations;
    s->converged = out->converged;
    const cr_design *d = p->rows->design;
    if (out->at_zero)
        cr_log(cx, CR_LOG_WARNING,
               "the groups' sd is at 0: these rows do not show that the groups of %s differ, and "
               "all intervals, those of the groups above all, hold only if they do not",
               d->columns[cri_design_varying(d)].name);
    return CR_OK;
}

/* What is of the likelihood with the groups integrated out. */
static void keep_groups(cri_glm *m, cri_glm_varying *v)
{
    m->varying = v->groups;
    v->groups = (cri_varying){ 0 };
    m->log_likelihood = v->log_likelihood;
    if (!m->fixed_dispersion) {
        m->phi = v->phi;
        m->ml_dispersion = v->ml_phi;
        m->fit.sigma = sqrt(m->phi);
        cri_predictor_set_sds(&m->fit);
    }
}

/* Whole numbers from 0 on that are small: their spread depends on their mean, which the usual family does not know. */
static void warn_of_counts(cr_ctx *cx, const cri_rows *rows, const glm_options *o)
{
    enum { SMALL = 20 };
    const cr_design *d = rows->design;
    double           sum = 0, largest = 0;
    if (o->family != CRI_GLM_GAUSSIAN || o->link || d->target_scale != 1 || d->target_shift != 0)
        return;
    for (size_t i = 0; i < rows->n; i++) {
        if (!(rows->y[i] >= 0) || rows->y[i] != floor(rows->y[i])) return;
        sum += rows->y[i];
        largest = fmax(largest, rows->y[i]);
    }
    if (largest < 3 || sum >= SMALL * (double)rows->n) return;
    cr_log(
        cx, CR_LOG_WARNING,
        "the target '%s' looks like counts: --family poisson gives them a spread that grows with "
        "their mean; --link identity silences this warning",
        d->target.name);
}

static cr_status check_groups(cr_ctx *cx, const glm_options *o, const cri_glm_problem *p)
{
    if (o->errors != CRI_CLASSICAL || o->dispersion != DISPERSION_AUTO)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "--errors and --dispersion cannot be combined with varying intercepts");
    return cri_glm_check_varying(cx, p);
}

static cr_status glm_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    cr_status          st = CR_OK;
    const glm_options *o = options;
    cr_scratch         scratch = cr_scratch_begin(cx);
    size_t             n = rows->n;
    double            *y = cr_scratch_f64(&scratch, n), *weight = cr_scratch_f64(&scratch, n);
    double            *trials = cr_scratch_f64(&scratch, n), *offset = cr_scratch_f64(&scratch, n);
    cri_glm           *m = cr_alloc(cx, 1, sizeof *m);
    cri_glm_solution   s = { 0 };
    cri_glm_varying    varying = { 0 };
    bool               groups = cri_design_varying(rows->design) != SIZE_MAX;
    cri_glm_family     family = (cri_glm_family)o->family;
    bool               separated = false;
    cri_glm_problem    p = { .family = family,
                             .link = o->link ? (cri_glm_link)o->link : cri_glm_usual_link(family),
                             .intercept = o->intercept,
                             .alpha = o->overdispersion,
                             .tolerance = o->tolerance,
                             .max_iter = o->max_iter,
                             .rows = rows,
                             .y = y,
                             .weight = weight,
                             .trials = trials,
                             .offset = offset,
                             .precise = rows->w && o->weights_are == CRI_WEIGHTS_PRECISE };
    cri_precisions     precisions = { 0 };
    (void)seed;

    CR_TRY(scratch.status);
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(check_link(cx, family, (cri_glm_link)o->link));
    warn_of_counts(cx, rows, o);
    if (groups) CR_TRY(check_groups(cx, o, &p));
    CR_TRY(check_size(cx, rows, o->intercept));
    CR_TRY(cri_glm_read_rows(cx, rows, family, y, weight, trials, offset));
    if (p.precise) CR_TRY(cri_glm_check_precisions(cx, rows, is_dispersion_fixed(o)));
    if (p.precise) precisions = cri_glm_scale_precisions(rows, weight);
    CR_TRY(cri_glm_solve(cx, &p, &s));
    if (groups) CR_TRY(add_groups(cx, &p, &s, &varying));
    warn_of_underdispersion(cx, &s);
    warn_of_edge(cx, &s);
    CR_TRY(keep_solution(cx, m, o, &p, &s));
    if (m->parameters < (double)(rows->p + o->intercept))
        CR_TRY(cri_relations_of_rows(cx, rows, o->intercept, &m->fit));
    if (p.precise) cri_glm_restore_precisions(&precisions, m, weight, n);
    if (groups) keep_groups(m, &varying);
    warn_of_few_rows(cx, m);
    if (m->n > m->parameters) cri_glm_warn_of_perfect_fit(cx, &p, s.deviance);
    warn_of_long_tail(cx, m);
    if (!groups) warn_of_overdispersion(cx, o, &p, m, s.eta);
    if (o->errors != CRI_CLASSICAL && m->n > m->parameters) CR_TRY(set_robust(cx, o, &p, &s, m));
    if (!groups) CR_TRY(cri_glm_find_separation(cx, &p, &s, &m->fit, &separated));
    report->stop = s.converged && !separated ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    report->iterations = s.iterations;
    report->log_likelihood = m->log_likelihood;
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_glm, m);
    cri_record_free(cx, cri_varying_record, &varying.groups);
    cri_glm_solution_free(cx, &p, &s);
    cr_scratch_end(&scratch);
    return st;
}

static cr_status glm_undetermined(cr_ctx *cx, const void *state, const cri_rows *rows,
                                  size_t *which)
{
    return cri_predictor_undetermined(cx, &((const cri_glm *)state)->fit, rows, which);
}

static cr_status glm_covariance(cr_ctx *cx, const void *state, double **out, size_t *out_n)
{
    return cri_predictor_covariance(cx, &((const cri_glm *)state)->fit, out, out_n);
}

/* --- describe and file ----------------------------------------------------------------------- */

/* Says the i-th of texts separated by '|'. */
static void put_choice(cri_sheet *s, const char *name, const char *choices, size_t i)
{
    const char *end;
    for (; i > 0 && (end = strchr(choices, '|')); i--) choices = end + 1;
    cri_put_textf(s, name, "%.*s", (int)strcspn(choices, "|"), choices);
}

static const cr_field glm_statistics[] = {
    CR_TEXT("family", 0, "distribution of the target"),
    CR_TEXT("link", 0, "link function of the mean"),
    CR_NUMBER("dispersion", CR_FIELD_NULL | CR_FIELD_OF_TARGET,
              "variance of the target over that of the family"),
    CR_NUMBER("ml_dispersion", CR_FIELD_EITHER | CR_FIELD_OF_TARGET,
              "if it is estimated: its maximum likelihood value, used by aic and bic"),
    CR_TEXT("errors", CR_FIELD_SOMETIMES, "with --errors: the kind of standard errors"),
    CR_NUMBER("overdispersion", CR_FIELD_EITHER,
              "of negative-binomial: alpha, variance mu + alpha mu^2"),
    CR_NUMBER("deviance", CR_FIELD_NULL | CR_FIELD_OF_TARGET,
              "twice the difference in log likelihood from a perfect fit"),
    CR_NUMBER("null_deviance", CR_FIELD_NULL | CR_FIELD_OF_TARGET, "the same for the mean alone"),
    CR_NUMBER("deviance_explained", CR_FIELD_NULL | CR_FIELD_OF_TARGET,
              "1 - deviance / null_deviance"),
    CR_NUMBER("pearson_chi2", CR_FIELD_NULL | CR_FIELD_OF_TARGET,
              "sum of squared residuals over variances"),
    CR_NUMBER("residual_dof", CR_FIELD_NULL, "weight of the rows minus the number of parameters"),
    CR_NUMBER("aic", CR_FIELD_NULL | CR_FIELD_CRITERION, "Akaike's criterion"),
    CR_NUMBER("bic", CR_FIELD_NULL | CR_FIELD_CRITERION, "Schwarz's criterion"),
    CRI_VARYING_STATISTICS(NULL),
    CR_FIELD_LAST,
};

/* What the coefficients add up to. */
static void put_meaning(const cri_glm *m, const cr_design *d, cri_sheet *out)
{
    bool log = m->link == CRI_LINK_LOG;
    if (cr_design_classes(d) == 2 && m->link == CRI_LINK_LOGIT) /* read as 0 and 1 */
        cri_put_textf(out, "coefficients", "log odds of %s against %s", cr_design_class(d, 1),
                      cr_design_class(d, 0));
    else if (cr_design_classes(d) == 2)
        cri_put_textf(out, "coefficients", "%s of the probability of %s", log ? "log" : "link",
                      cr_design_class(d, 1));
    else if (log || m->link == CRI_LINK_LOGIT)
        cri_put_textf(out, "coefficients", log ? "log of the mean of %s" : "log odds of %s",
                      d->target.name);
}

static cr_status glm_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    const cri_glm *m = state;
    cri_glm_spread spread = cri_glm_find_spread(m);
    double         k = m->parameters + (m->varying.groups > 0) + !m->fixed_dispersion +
               (m->family == CRI_GLM_NEGATIVE_BINOMIAL);
    cri_sheet *s;
    put_meaning(m, design, out);
    cri_predictor_describe_within(&m->fit, design, CRI_SHOW_TESTS,
                                  spread.scale * cr_student_t_ppf(0.975, spread.dof), NULL, out);
    s = cri_put_object(out, "statistics");
    put_choice(s, "family", CRI_GLM_FAMILIES, m->family);
    put_choice(s, "link", CRI_GLM_LINKS, m->link);
    cri_put_real(s, "dispersion", m->phi);
    if (!m->fixed_dispersion && !isnan(m->ml_dispersion))
        cri_put_real(s, "ml_dispersion", m->ml_dispersion);
    if (m->errors != CRI_CLASSICAL)
        cri_put_text(s, "errors", cri_errors_name((cri_errors)m->errors));
    if (m->family == CRI_GLM_NEGATIVE_BINOMIAL) cri_put_real(s, "overdispersion", m->alpha);
    cri_put_real(s, "deviance", m->deviance);
    cri_put_real(s, "null_deviance", m->null_deviance);
    cri_put_real(s, "deviance_explained", 1 - m->deviance / m->null_deviance);
    cri_put_real(s, "pearson_chi2", m->pearson);
    cri_put_real(s, "residual_dof", m->n - m->parameters);
    cri_put_real(s, "aic", 2 * k - 2 * m->log_likelihood);
    cri_put_real(s, "bic", k * log(m->n) - 2 * m->log_likelihood);
    if (m->varying.groups > 0) cri_varying_describe(&m->varying, &m->fit, design, s, out);
    (void)cx;
    return CR_OK;
}

static cr_status glm_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    const cri_glm *m = state;
    (void)cx;
    bool fits = cri_predictor_fits(&m->fit, cr_design_terms(design)) &&
                cri_varying_fits(&m->varying, design);
    return fits ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_glm = {
    .name = "glm",
    .summary = "generalised linear models: counts, shares, positive numbers",
    .formulas =
        "g(E y) = offset + b0 + x.b,  Var y = phi V(mu):  maximum likelihood\n"
        "Cov b = phi (X^T W X)^-1,  W = mu'^2 / V(mu);  phi = 1 for counts, else Pearson / dof\n"
        "prediction: the family with mean mu and variance phi V(mu) + mu'^2 Var(eta)",
    .reference = "McCullagh & Nelder (1989), Generalized Linear Models, 2nd ed.",
    .tasks = CR_TASK_REGRESSION,
    .for_classes = "use logistic or probit for classes; --family binomial takes two of them, "
                   "and also has the links cloglog, cauchit and log",
    .two_classes = glm_two_classes,
    .options = glm_table,
    .requirements = glm_requirements,
    .options_size = sizeof(glm_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .target_as_is = true,
    .takes_sparse = true,
    .varying = true,
    .roles = glm_roles,
    .whole = &(const cri_whole_face){ .fit = glm_fit },
    .rows = &(const cri_rows_face){ .predict = cri_glm_predict,
                                    .mean_intervals = cri_glm_mean_intervals,
                                    .undetermined = glm_undetermined,
                                    .means_alone = true },
    .covariance = glm_covariance,
    .describe = glm_describe,
    .statistics = glm_statistics,
    .tables = cri_varying_tables,
    .state = glm_record,
    .state_size = sizeof(cri_glm),
    .ready = glm_ready,
};
