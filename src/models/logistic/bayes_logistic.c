/* bayes_logistic.c -- Bayesian logistic regression: mode, Laplace's approximation, evidence.
 *   log Z ~ log p(y | mode) + log p(mode) + D/2 log 2 pi - log|A| / 2
 * alpha is averaged over (bayes_average.h), or maximises that, or is given. */
#include "bayes_average.h"
#include "math/constants.h"
#include "models/common/rows_view.h"
#include "models/core/parameters.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define BAYES_LOGISTIC_OPTIONS(X)                                                                    \
    X(real,   alpha,     "",        ">0",                                                            \
      "prior precision of the slopes; default: as --optimize says", "1")                           \
    X(choice, optimize,  "auto",    "auto|integrate|evidence",                                       \
      "auto: integrate, or the alpha that is given; integrate: average over alpha; evidence: use the alpha of largest evidence as if known", "evidence") \
    X(real,   intercept_sd, "",     ">0",                                                            \
      "prior sd of the intercepts, in log odds of a row at the means of the columns; default: 10", "5") \
    X(flag,   shrink_intercept, "false", "", "give the intercepts the prior of the slopes", "true")  \
    X(choice, infer,     "auto", "laplace|importance|mcmc|bound|auto",                               \
      "how the posterior is represented: Gaussian at the mode, weighted draws, a Markov chain, or (two classes) the Gaussian of a lower bound on the evidence; auto: the first of Gaussian, draws and chain that passes its check", "mcmc") \
    X(count,  draws,     "4000",    "100..1e7", "importance, mcmc, auto: number of draws", "20000")  \
    X(flag,   intercept, "true",    "", "fit intercepts", "false")
/* clang-format on */

CR_OPTIONS(bayes_logistic_options, bayes_logistic_table, BAYES_LOGISTIC_OPTIONS);
enum { OPTIMIZE_AUTO, OPTIMIZE_INTEGRATE, OPTIMIZE_EVIDENCE };

static const cri_requirement bayes_requirements[] = {
    { "alpha", "optimize", "auto", false },
    CRI_REQUIREMENT_LAST,
};

CRI_RECORD_TABLE(static, bayes_record, cri_bayes_logistic, CRI_BAYES_LOGISTIC);

/* --- the posterior --------------------------------------------------------------------------- */

cr_status cri_posterior_cost(cr_ctx *cx, const cri_posterior *post, const double *theta,
                             double *opt_gradient, double *out)
{
    cri_likelihood_value v = { .gradient = opt_gradient };
    cr_status            st = cri_likelihood_at(cx, post->f, theta, &v);
    if (st != CR_OK) return st;
    *out = v.f;
    if (post->average) *out -= cri_alpha_average_prior(post->average, theta, opt_gradient);
    return CR_OK;
}

cr_status cri_posterior_log(cr_ctx *cx, const cri_posterior *post, const double *theta, double *out)
{
    double    cost = 0;
    cr_status st = cri_posterior_cost(cx, post, theta, NULL, &cost);
    if (st == CR_OK) *out = post->log_prior - cost;
    return st;
}

void cri_posterior_place(const cri_posterior *post, const double *u, double *theta)
{
    size_t D = post->D;
    for (size_t i = D; i-- > 0;) { /* L' x = u */
        double sum = u[i];
        for (size_t k = i + 1; k < D; k++) sum -= post->L[k * D + i] * theta[k];
        theta[i] = sum / post->L[i * D + i];
    }
    for (size_t i = 0; i < D; i++) theta[i] += post->mode[i];
}

/* --- fit ------------------------------------------------------------------------------------- */

static const double WIDE = 10; /* the sd of an intercept, where none is given */

/* Means and sds of the coefficients of N(mode, A^-1), in the units of the data; sd of intercept at
 * x = 0.  A is overwritten. */
static cr_status set_normal(cr_ctx *cx, const cri_likelihood *f, double *A, cri_bayes_logistic *m)
{
    for (size_t k = 0; k < m->M; k++)
        for (size_t j = 0; j <= m->p; j++)
            m->mean[k * m->q1 + j] =
                cri_classifier_coef(m->centre, m->scale, m->p, m->intercept, m->mode + k * m->q, j);
    return cri_classifier_sds(cx, f, NULL, NULL, A, m->sd);
}

static cr_status set_laplace(cr_ctx *cx, const cri_likelihood *f, cri_bayes_logistic *m)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    double              *H = cr_scratch_matrix(&s, m->D, m->D);
    cri_likelihood_value v = { .hessian = H };

    CR_TRY(s.status);
    CR_TRY(cri_likelihood_at(cx, f, m->mode, &v));
    CR_TRY(set_normal(cx, f, H, m));
done:
    cr_scratch_end(&s);
    return st;
}

/* The normal of the bound in place of Laplace's, at the same alpha. */
static cr_status tighten(cr_ctx *cx, const cri_likelihood *f, cri_bayes_logistic *m,
                         cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *A = cr_scratch_matrix(&s, m->D, m->D);
    size_t     rounds = 0;
    CR_TRY(s.status);
    CR_TRY(cri_bayes_logistic_bound(cx, f, 0, NULL, A, m, &rounds));
    CR_TRY(set_normal(cx, f, A, m));
    report->iterations += rounds;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status prepare(cr_ctx *cx, const cri_rows *rows, const bayes_logistic_options *o,
                         const cri_classifier_rows *x, cri_bayes_logistic *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     K = cr_design_classes(rows->design);
    double    *place = cr_scratch_f64(&s, K);

    CR_TRY(s.status);
    CR_TRY(cri_classifier_classes(cx, rows, true, place, &m->M));
    m->p = x->p, m->q = x->q, m->q1 = x->p + 1, m->K = K, m->D = m->M * m->q;
    m->intercept = o->intercept;
    m->infer = o->infer == CRI_INFER_AUTO ? CRI_INFER_LAPLACE : (size_t)o->infer;
    m->intercept_sd = o->shrink_intercept ? NAN : isnan(o->intercept_sd) ? WIDE : o->intercept_sd;
    bool normal = m->infer == CRI_INFER_LAPLACE || m->infer == CRI_INFER_BOUND;
    m->R = normal ? 0 : o->draws < CRI_KEPT_DRAWS ? o->draws : CRI_KEPT_DRAWS;
    if (o->infer == CRI_INFER_BOUND && m->M > 1)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "--infer bound is for two classes, but the target has %zu", K));
    if (m->D > 3000) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "bayes-logistic stores the covariance of its coefficients: %zu are too many, the "
                "limit is 3000",
                m->D);
        CR_TRY(cr_fail_hint(cx, "choose columns with --features, or use logistic with --lambda"));
    }
    CR_TRY(cri_record_allocate(cx, bayes_record, m));
    memcpy(m->place, place, K * sizeof(double));
    memcpy(m->centre, x->centre, m->p * sizeof(double));
    memcpy(m->scale, x->scale, m->p * sizeof(double));
done:
    cr_scratch_end(&s);
    return st;
}

/* The mode at one alpha, and all that Laplace's approximation gives. */
static cr_status approximate(cr_ctx *cx, cri_likelihood *f, cri_alpha_search *w, double alpha,
                             cri_bayes_logistic *m)
{
    cr_status st = CR_OK;
    m->learned = isnan(alpha);
    if (m->learned) CR_TRY(cri_alpha_learn(w, &alpha));
    CR_TRY(cri_alpha_at(w, alpha));
    m->alpha = alpha;
    m->nll = w->s->nll;
    m->laplace = m->log_evidence = w->log_evidence;
    m->log_joint = cri_log_prior_at_zero(f) - w->s->f;
    memcpy(m->mode, w->s->theta, m->D * sizeof(double));
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(w->L, m->D, m->D), cr_mat_of(m->covariance, m->D, m->D)));
    m->effective = (double)m->D;
    for (size_t a = 0; a < m->D; a++)
        m->effective -= m->covariance[a * (m->D + 1)] *
                        (m->intercept && a % m->q == 0 ? f->intercept_l2 : f->l2);
    m->evidence_se = m->ess = m->rhat = NAN;
    CR_TRY(set_laplace(cx, f, m));
done:
    return st;
}

/* The same with alpha averaged over: mode and covariance are the moments of all normals, w->L the factor
 * of their inverse, and f is left at the geometric mean of alpha. */
static cr_status average(cr_ctx *cx, cr_scratch *arena, cri_likelihood *f, cri_alpha_search *w,
                         bool bound, cri_alpha_average *a, cri_bayes_logistic *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *A = cr_scratch_matrix(&s, m->D, m->D);
    size_t     rounds = 0;
    CR_TRY(s.status);
    CR_TRY(cri_alpha_average_new(w, arena, a));
    m->averaged = 1;
    m->nll = w->s->nll;
    m->log_joint = cri_log_prior_at_zero(f) - w->s->f;
    m->laplace = a->log_evidence;
    m->effective = a->effective;
    if (bound) CR_TRY(cri_alpha_average_bound(w, a, &rounds));
    w->iterations += rounds;
    m->log_evidence = a->log_evidence;
    m->alpha = f->l2 = a->base;
    if (w->shared) f->intercept_l2 = a->base;
    m->evidence_se = m->ess = m->rhat = NAN;
    CR_TRY(cri_alpha_average_moments(cx, a, m->mode, m->covariance, A));
    memcpy(w->L, A, m->D * m->D * sizeof(double));
    CR_TRY(cr_chol(cx, cr_mat_of(w->L, m->D, m->D)));
    w->log_det = cr_chol_logdet(cr_cmat_of(w->L, m->D, m->D));
    CR_TRY(set_normal(cx, f, A, m));
done:
    cr_scratch_end(&s);
    return st;
}

/* The normals of the average, where there are no draws in their place. */
static cr_status keep_parts(cr_ctx *cx, const cri_alpha_average *a, cri_bayes_logistic *m)
{
    cr_status st = CR_OK;
    if (!m->averaged || m->R > 0 || a->parts < 2) return CR_OK;
    double **arrays[] = { &m->share, &m->part_mean, &m->part_covariance }; /* of no elements yet */
    for (size_t k = 0; k < 3; k++) {
        cr_free(cx, *arrays[k], 0, sizeof(double));
        *arrays[k] = NULL;
    }
    m->parts = a->parts, m->PD = a->parts * m->D;
    CR_TRY(cri_record_allocate(cx, bayes_record, m));
    memcpy(m->share, a->share, m->parts * sizeof(double));
    memcpy(m->part_mean, a->centre, m->PD * sizeof(double));
    memcpy(m->part_covariance, a->covariance, m->PD * m->D * sizeof(double));
done:
    return st;
}

static cr_status check_options(cr_ctx *cx, const bayes_logistic_options *o)
{
    if (!isnan(o->intercept_sd) && o->shrink_intercept)
        return cr_fail(
            cx, CR_EARG,
            "shrink_intercept and intercept_sd both set the prior of the intercepts: give one");
    if ((!isnan(o->intercept_sd) || o->shrink_intercept) && !o->intercept)
        return cr_fail(cx, CR_EARG,
                       "a prior for the intercepts is given, but there are no intercepts");
    return CR_OK;
}

/* Whether a normal at the mode is a poor picture of the posterior, which costs a small part of the fit to
 * find out. */
static cr_status check_normal(cr_ctx *cx, const cri_posterior *post, double wrong, uint64_t seed,
                              bool *out_poor)
{
    const double TOO_FAR = 10, MOST_WORK = 3e7; /* numbers read in one look at the rows */
    cr_status    st = CR_OK;
    double       misfit = 0, n = (double)post->f->x->n, D = (double)post->D;
    bool         cheap = n * D <= MOST_WORK && D * D <= MOST_WORK;
    if (cheap) CR_TRY(cri_bayes_logistic_misfit(cx, post, seed, &misfit));
    *out_poor = cheap ? misfit > TOO_FAR : wrong == 0;
done:
    return st;
}

static cr_status draw(cr_ctx *cx, const cri_posterior *post, size_t infer, size_t draws,
                      uint64_t seed, cri_bayes_logistic *m)
{
    cr_status st = CR_OK;
    cr_free(cx, m->draws, m->R * m->D, sizeof *m->draws);
    m->draws = NULL;
    m->infer = infer;
    m->R = draws < CRI_KEPT_DRAWS ? draws : CRI_KEPT_DRAWS;
    CR_TRY(cri_record_allocate(cx, bayes_record, m));
    CR_TRY(cri_bayes_logistic_draw(cx, post, draws, seed, m));
done:
    return st;
}

/* Where Laplace's normal fails its check: weighted draws, and where these are worth few, a Markov chain; or,
 * where the user has asked for the normal or the rows are too many for draws, a warning. */
static cr_status improve(cr_ctx *cx, const cri_posterior *post, const bayes_logistic_options *o,
                         double wrong, uint64_t seed, cri_bayes_logistic *m)
{
    const double MOST_WORK = 2e10; /* numbers read for all draws */
    cr_status    st = CR_OK;
    double       work = (double)o->draws * (double)post->f->x->n * (double)post->D;
    double       enough = fmax(400, 0.05 * (double)o->draws);
    bool         poor = false;
    CR_TRY(check_normal(cx, post, wrong, seed, &poor));
    if (!poor) goto done;
    if (o->infer == CRI_INFER_LAPLACE || work > MOST_WORK) {
        cr_log(cx, CR_LOG_WARNING,
               "the columns %sseparate the classes: Laplace's approximation of the posterior is "
               "poor and its probabilities are too cautious; --infer mcmc gives better ones",
               wrong == 0 ? "" : "nearly ");
        goto done;
    }
    CR_TRY(draw(cx, post, CRI_INFER_IMPORTANCE, o->draws, seed, m));
    if (m->ess < fmin(enough, 0.5 * (double)o->draws)) {
        m->log_evidence = m->laplace, m->evidence_se = NAN; /* the chain may have none of its own */
        CR_TRY(draw(cx, post, CRI_INFER_MCMC, o->draws, seed, m));
    }
    cr_log(cx, CR_LOG_INFO,
           "Laplace's approximation of the posterior is poor here: %s is used instead, with draws "
           "worth %.0f independent ones",
           m->infer == CRI_INFER_MCMC ? "a Markov chain" : "importance sampling", m->ess);
    cri_bayes_logistic_warn(cx, m);
done:
    return st;
}

static cr_status fit(cr_ctx *cx, const cri_rows *rows, const bayes_logistic_options *o,
                     uint64_t seed, cri_bayes_logistic *m, cr_report *report)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    cri_classifier_rows x = { 0 };
    cri_solution        solution = { 0 };
    cri_solve_options   solve = { .solver = CRI_SOLVER_NEWTON,
                                  .tol = 1e-14,
                                  .max_iter = CR_COUNT_UNSET };
    uint32_t           *y = cr_scratch_bytes(&s, rows->n, sizeof *y);
    cri_likelihood      f = { .x = &x, .y = y, .step = 1 };
    cri_alpha_search    w = { .cx = cx, .f = &f, .o = &solve, .s = &solution };
    double              alpha = o->alpha; /* NaN: to be learned, or averaged over */
    bool                integrate = isnan(alpha) && o->optimize != OPTIMIZE_EVIDENCE;
    cri_alpha_average   over = { 0 };

    CR_TRY(s.status);
    CR_TRY(check_options(cx, o));
    CR_TRY(cri_classifier_rows_new(cx, rows, o->intercept, rows->design->standardised, &x));
    CR_TRY(prepare(cx, rows, o, &x, m));
    cri_classifier_targets(rows, m->place, y);
    f.M = m->M;
    f.full = m->M > 1;
    f.l2 = isnan(alpha) ? 1 : alpha;
    w.shared = isnan(m->intercept_sd);
    f.intercept_l2 = w.shared ? f.l2 : 1 / (m->intercept_sd * m->intercept_sd);
    w.L = cr_scratch_matrix(&s, m->D, m->D);
    CR_TRY(s.status);
    CR_TRY(cri_solve(cx, &f, &solve, true, &solution));
    CR_TRY(integrate ? average(cx, &s, &f, &w, o->infer == CRI_INFER_BOUND, &over, m)
                     : approximate(cx, &f, &w, alpha, m));
    report->stop = solution.stop;
    report->iterations = w.iterations;
    report->log_likelihood = -m->nll;
    report->evidence = CR_EVIDENCE_LAPLACE;
    cri_posterior post = { &f,        cri_log_prior_at_zero(&f), m->D, m->mode, w.L,
                           w.log_det, integrate ? &over : NULL };
    if (o->infer == CRI_INFER_LAPLACE || o->infer == CRI_INFER_AUTO) {
        CR_TRY(improve(cx, &post, o, solution.wrong, seed, m));
    } else if (o->infer == CRI_INFER_BOUND) {
        if (!integrate) CR_TRY(tighten(cx, &f, m, report));
        report->evidence = CR_EVIDENCE_BOUND;
    } else {
        CR_TRY(cri_bayes_logistic_draw(cx, &post, o->draws, seed, m));
        cri_bayes_logistic_warn(cx, m);
    }
    CR_TRY(keep_parts(cx, &over, m));
    if (m->R > 0 && !isnan(m->evidence_se)) report->evidence = CR_EVIDENCE_ESTIMATE;
    report->log_evidence = m->log_evidence;
done:
    cri_solution_free(cx, &solution);
    cri_classifier_rows_free(cx, &x);
    cr_scratch_end(&s);
    return st;
}

/* Rows of weight 0 are left out: chains would go elsewhere if they changed the last bit of a sum. */
static cr_status bayes_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                           void **out_state, cr_report *report)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    cri_bayes_logistic *m = cr_alloc(cx, 1, sizeof *m);
    cri_rows            some = *rows;
    size_t             *which = cr_scratch_index(&s, rows->n), n = 0;
    CR_TRY(s.status);
    if (!m) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < rows->n; i++)
        if (!rows->w || rows->w[i] > 0) which[n++] = i;
    if (n < rows->n && n > 0) some = cri_rows_pick(&s, rows, which, n);
    CR_TRY(s.status);
    CR_TRY(fit(cx, &some, options, seed, m, report));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_bayes_logistic, m);
    cr_scratch_end(&s);
    return st;
}

static cr_status bayes_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                               cr_prediction *out)
{
    return cri_bayes_logistic_predict(cx, state, rows, out);
}

static cr_status bayes_intervals(cr_ctx *cx, const void *state, const cri_rows *rows, double level,
                                 double *lower, double *upper)
{
    return cri_bayes_logistic_intervals(cx, state, rows, level, lower, upper);
}

/* --- describe and file ----------------------------------------------------------------------- */

static void describe_parameters(const cri_bayes_logistic *m, const cr_design *d, cri_sheet *out)
{
    cri_sheet *list = cri_put_list(out, "parameters");
    for (size_t k = 0; k < m->M; k++)
        for (size_t j = !m->intercept; j <= m->p; j++) {
            double     value = m->mean[k * m->q1 + j], sd = m->sd[k * m->q1 + j];
            cri_sheet *row = cri_classifier_parameter(list, value, sd, d, m->place, m->M, k, j);
            cri_parameter_interval(row, value, CRI_Z95 * sd);
        }
}

static const cr_field bayes_statistics[] = {
    CR_TEXT("prior", 0, "of intercept and coefficients"),
    CR_NUMBER("alpha", CR_FIELD_NULL,
              "prior precision of the coefficients; its geometric mean, if averaged"),
    CR_NUMBER("intercept_sd", CR_FIELD_EITHER, "prior sd of the intercept, if it has its own"),
    CR_TEXT("alpha_from", 0,
            "averaged if alpha was averaged over, evidence if it maximises it, otherwise option"),
    CR_TEXT("infer", 0, "laplace, importance, mcmc or bound: the method that --infer auto chose"),
    CR_MEASURE("log_joint", "nats", CR_FIELD_NULL, "log of likelihood and prior at the mode"),
    CR_MEASURE("log_evidence_laplace", "nats", CR_FIELD_NULL,
               "log evidence by Laplace's approximation"),
    CR_NUMBER("effective_coefficients", CR_FIELD_NULL,
              "effective number of coefficients determined by the data"),
    CR_MEASURE("log_evidence_bound", "nats", CR_FIELD_EITHER,
               "of bound: lower bound of the log evidence"),
    CR_NUMBER("effective_draws", CR_FIELD_EITHER,
              "of draws: equivalent number of independent draws"),
    CR_MEASURE("log_evidence_se", "nats", CR_FIELD_EITHER,
               "of draws: standard error of the log evidence"),
    CR_NUMBER("rhat", CR_FIELD_EITHER, "of mcmc: largest potential scale reduction"),
    CR_FIELD_LAST,
};

static cr_status bayes_describe(cr_ctx *cx, const void *state, const cr_design *d, cri_sheet *out)
{
    static const char *const  routes[] = { "laplace", "importance", "mcmc", "bound" };
    const cri_bayes_logistic *m = state;
    cri_sheet                *s;
    cri_classifier_put_meaning(m->place, m->M, false, d, out);
    describe_parameters(m, d, out);
    s = cri_put_object(out, "statistics");
    cri_put_text(s, "prior",
                 !m->intercept            ? "b ~ N(0, 1/alpha), of z"
                 : isnan(m->intercept_sd) ? "b0, b ~ N(0, 1/alpha), of z"
                                          : "b ~ N(0, 1/alpha), of z; "
                                            "b0 ~ N(0, intercept_sd^2)");
    cri_put_real(s, "alpha", m->alpha);
    if (m->intercept && !isnan(m->intercept_sd)) cri_put_real(s, "intercept_sd", m->intercept_sd);
    cri_put_text(s, "alpha_from", m->averaged ? "averaged" : m->learned ? "evidence" : "option");
    cri_put_text(s, "infer", routes[m->infer]);
    cri_put_real(s, "log_joint", m->log_joint);
    cri_put_real(s, "log_evidence_laplace", m->laplace);
    cri_put_real(s, "effective_coefficients", m->effective);
    if (m->infer == CRI_INFER_BOUND) cri_put_real(s, "log_evidence_bound", m->log_evidence);
    if (m->R > 0) cri_put_real(s, "effective_draws", m->ess);
    if (m->R > 0) cri_put_real(s, "log_evidence_se", m->evidence_se);
    if (m->infer == CRI_INFER_MCMC) cri_put_real(s, "rhat", m->rhat);
    (void)cx;
    return CR_OK;
}

static bool is_valid(const cri_bayes_logistic *m, const cr_design *d)
{
    bool valid = m->p == cr_design_terms(d) && m->K == cr_design_classes(d) &&
                 m->q == m->p + m->intercept && m->q1 == m->p + 1 && m->D == m->M * m->q &&
                 m->infer <= CRI_INFER_BOUND &&
                 (m->infer == CRI_INFER_LAPLACE || m->infer == CRI_INFER_BOUND) == (m->R == 0) &&
                 m->averaged <= 1 && m->PD == m->parts * m->D && (m->parts == 0 || m->R == 0);
    for (size_t k = 0; valid && k < m->K; k++) valid = m->place[k] <= (double)m->M;
    return valid;
}

static cr_status bayes_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    (void)cx;
    return is_valid(state, design) ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_bayes_logistic = {
    .name = "bayes-logistic",
    .summary = "logistic and softmax regression with a Gaussian prior: posterior and evidence",
    .formulas = "P(second) = 1 / (1 + exp(-b0 - z.b)),   b ~ N(0, 1/alpha),  b0 ~ N(0, 10^2)\n"
                "posterior ~ N(mode, A^-1),  A = prior precisions + Z'VZ\n"
                "log evidence ~ log joint at the mode + D/2 log 2 pi - log|A|/2\n"
                "predictive: the logistic function integrated over the posterior of b0 + z.b\n"
                "more classes: softmax, one b0, b for each class",
    .reference = "MacKay (1992), Neural Comp. 4, 720-736; Bishop (2006), sec. 4.5",
    .tasks = CR_TASK_CLASSIFICATION,
    .options = bayes_logistic_table,
    .options_size = sizeof(bayes_logistic_options),
    .requirements = bayes_requirements,
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .takes_sparse = true,
    .whole = &(const cri_whole_face){ .fit = bayes_fit },
    .rows = &(const cri_rows_face){ .predict = bayes_predict,
                                    .probability_intervals = bayes_intervals },
    .describe = bayes_describe,
    .statistics = bayes_statistics,
    .state = bayes_record,
    .state_size = sizeof(cri_bayes_logistic),
    .ready = bayes_ready,
};
