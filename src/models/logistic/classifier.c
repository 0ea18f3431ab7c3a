/* classifier.c -- fitting a linear classifier: classes, penalty, standard errors. */
#include "classifier.h"
#include "models/core/passes.h"
#include "models/core/rows_check.h"
#include "base/context_internal.h"
#include "base/quoted.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- classes --------------------------------------------------------------------------------- */

/* weight [K] += the weight of each class. */
static void weigh_classes(const cri_rows *rows, double *weight)
{
    for (size_t i = 0; i < rows->n; i++) weight[(size_t)rows->y[i]] += rows->w ? rows->w[i] : 1;
}

/* The places of the classes that have weight. */
static cr_status place_classes(cr_ctx *cx, const cr_design *d, const double *weight, bool full,
                               double *place, size_t *out_M)
{
    size_t    K = cr_design_classes(d), count = 0, first = K;
    cr_status st = cri_check_classes(cx, d, weight);
    if (st != CR_OK) return st;
    for (size_t k = 0; k < K; k++) {
        place[k] = weight[k] > 0 ? (double)count++ : -1;
        if (weight[k] > 0 && first == K) first = k;
    }
    bool every = full && count > 2;
    *out_M = every ? count : count - 1;
    for (size_t k = 0; k < K && !every; k++) /* the first is the reference */
        if (place[k] >= 0) place[k] = k == first ? (double)*out_M : place[k] - 1;
    return CR_OK;
}

cr_status cri_classifier_classes(cr_ctx *cx, const cri_rows *rows, bool full, double *place,
                                 size_t *out_M)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *weight = cr_scratch_bytes(&s, cr_design_classes(rows->design), sizeof *weight);

    CR_TRY(s.status);
    weigh_classes(rows, weight);
    CR_TRY(place_classes(cx, rows->design, weight, full, place, out_M));
done:
    cr_scratch_end(&s);
    return st;
}

void cri_classifier_targets(const cri_rows *rows, const double *place, uint32_t *y)
{
    for (size_t i = 0; i < rows->n; i++) {
        double k = place[(size_t)rows->y[i]];
        y[i] = k < 0 ? 0 : (uint32_t)k; /* of weight 0: any will do */
    }
}

size_t cri_classifier_class(const double *place, size_t K, size_t m)
{
    for (size_t k = 0; k < K; k++)
        if (place[k] == (double)m) return k;
    return 0;
}

double cri_classifier_coef(const double *centre, const double *scale, size_t p, bool intercept,
                           const double *theta, size_t j)
{
    if (j > 0) return theta[intercept + j - 1] / scale[j - 1];
    double sum = intercept ? theta[0] : 0;
    for (size_t k = 0; k < p; k++) sum -= theta[intercept + k] / scale[k] * centre[k];
    return sum;
}

/* --- fit ------------------------------------------------------------------------------------- */

CRI_RECORD_TABLE(, cri_classifier_record, cri_classifier, CRI_CLASSIFIER);

cr_status cri_classifier_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    const cri_classifier *m = state;
    bool fits = m->p == cr_design_terms(design) && m->K == cr_design_classes(design) &&
                m->q == m->p + m->intercept && m->q1 == m->p + 1;
    (void)cx;
    for (size_t k = 0; fits && k < m->K; k++) fits = m->place[k] <= (double)m->M;
    return fits ? CR_OK : CR_EDATA;
}

double cri_classifier_l1_share(const cri_classifier_settings *o)
{
    return o->penalty == CRI_PENALTY_ELASTIC ? o->l1_ratio : o->penalty == CRI_PENALTY_L1;
}

/* The likelihood without any slope. */
static double null_likelihood(const cri_likelihood *f, const double *share, size_t classes)
{
    double nll = 0, used = 0;
    for (size_t k = 0; k < classes; k++) used += share[k] > 0;
    for (size_t k = 0; k < classes; k++)
        if (share[k] > 0)
            nll -= share[k] * (f->x->intercept ? log(share[k] / f->x->weight) : -log(used));
    return nll;
}

enum { MOST_NAMES = 8 };                                     /* in a warning */
static const double LEAST_PER_ROW = 0.05, LEAST_SHARE = 0.8; /* of warn_few */

static void warn_fixed(cr_ctx *cx, const cr_design *d, const cri_classifier *m)
{
    cri_quoted list = { .most = MOST_NAMES };
    for (size_t j = m->intercept; j < m->q; j++)
        if (m->fixed[j] != 0) cri_quoted_add(&list, cr_design_term_name(d, j - m->intercept));
    if (list.n > 0)
        cr_log(cx, CR_LOG_WARNING,
               "%zu column%s constant or a linear combination of the others, so the coefficient is "
               "not identified and was set to 0: %s",
               list.n, list.n == 1 ? " is" : "s are each", cri_quoted_text(&list));
}

/* Names the classes that are apart from all others. */
static void warn_apart(cr_ctx *cx, const cr_design *d, const cri_classifier *m, const bool *apart)
{
    cri_quoted list = { .most = MOST_NAMES };
    for (size_t k = 0; k < m->K; k++)
        if (m->place[k] >= 0 && apart[(size_t)m->place[k]])
            cri_quoted_add(&list, cr_design_class(d, k));
    cr_log(cx, CR_LOG_WARNING,
           "the likelihood has no maximum for %zu class%s, which the columns separate from the "
           "others: %s; the coefficients shown are diverging and have no standard errors; use a "
           "penalty (--lambda %.1g) or a prior (bayes-logistic)",
           list.n, list.n == 1 ? "" : "es", cri_quoted_text(&list), 1 / m->weight);
}

static cr_status warn_separated(cr_ctx *cx, const cr_design *d, const cri_classifier *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool      *blame = cr_scratch_bytes(&s, m->q, sizeof(bool));
    char       cure[80];

    CR_TRY(s.status);
    for (size_t j = 0; j < m->q; j++) blame[j] = m->blame[j] != 0;
    snprintf(cure, sizeof cure, "a penalty (--lambda %.1g) or a prior (bayes-logistic)",
             1 / m->weight);
    if (m->separation != CRI_NOT_SEPARATED)
        cri_warn_separation(cx, d, m->intercept, (cri_separation)m->separation, blame, cure);
done:
    cr_scratch_end(&s);
    return st;
}

/* With k slopes the log likelihood of the fit is above that of no slopes by G / 2, of which chance alone makes k / 2, and
 * log odds of new rows hold the share (G - k) / G of what is said of them (van Houwelingen & le Cessie 1990, Statistics
 * in Medicine 9); log losses of new rows exceed those of the fit by k / n. */
static void warn_few(cr_ctx *cx, const cri_classifier *m)
{
    double slopes = m->df - (double)(m->intercept * m->M), gain = 2 * (m->null_nll - m->nll);
    double share = slopes < gain ? 1 - slopes / gain : 0;
    if (m->lambda > 0 || !(slopes > LEAST_PER_ROW * m->weight) || !(share < LEAST_SHARE)) return;
    cr_log(cx, CR_LOG_WARNING,
           "%g rows are few for %g slopes, and the probabilities are too sure: log odds of new "
           "rows are about %.2g of what they say; bayes-logistic allows for what so few rows "
           "leave open, and a penalty (--lambda %.1g) shrinks them",
           m->weight, slopes, share, 1 / m->weight);
}

/* Whether some coefficient of class k is known ten thousand times worse than that of the same
 * column of another class: its estimate is on the way to infinity.  sd [M x q1]; blame [q] becomes
 * true for these columns. */
static bool explodes(const cri_classifier *m, size_t M, const double *sd, size_t k, bool *blame)
{
    bool any = false;
    for (size_t j = !m->intercept; j <= m->p; j++) {
        double least = INFINITY;
        for (size_t l = 0; l < M; l++)
            if (sd[l * m->q1 + j] > 0) least = fmin(least, sd[l * m->q1 + j]);
        if (!(sd[k * m->q1 + j] > 1e4 * least)) continue;
        any = blame[j - !m->intercept] = true;
    }
    return any;
}

/* The standard errors of classes that are apart, or whose own say so, are taken back. */
static void drop_endless_sds(const cri_classifier *m, size_t M, bool *apart, bool *blame,
                             double *sd)
{
    for (size_t k = 0; k < M; k++) apart[k] = apart[k] || explodes(m, M, sd, k, blame);
    for (size_t k = 0; k < M; k++)
        for (size_t j = 0; (apart[k] || apart[M]) && j < m->q1; j++) sd[k * m->q1 + j] = -1;
}

/* What remains to be said of a solution of the vectors `first` .. of m.  apart [M + 1] becomes true
 * for classes that are separated from all others. */
static cr_status keep_solution(cr_ctx *cx, const cri_likelihood *f, cri_solution *s, bool expected,
                               size_t first, bool *apart, cri_classifier *m)
{
    cr_status      st = CR_OK;
    cr_scratch     workspace = cr_scratch_begin(cx);
    bool          *blame = cr_scratch_bytes(&workspace, m->q, sizeof(bool));
    bool          *endless = cr_scratch_bytes(&workspace, m->q, sizeof(bool));
    cri_separation kind = CRI_NOT_SEPARATED;

    CR_TRY(workspace.status);
    memcpy(m->theta + first * m->q, s->theta, s->D * sizeof(double));
    for (size_t k = 0; k < f->M * m->q1; k++) m->sd[first * m->q1 + k] = -1;
    bool free = f->l2 == 0 && m->lambda == 0;
    if (free) CR_TRY(cri_find_separation(cx, f, s, &kind, blame, endless));
    bool many = free && kind == CRI_NOT_SEPARATED && f->M > 1;
    if (many) CR_TRY(cri_find_apart(cx, f, s, apart, blame));
    if (expected && s->hessian) {
        cri_likelihood       g = *f;
        cri_likelihood_value v = { .hessian = s->hessian };
        g.expected = true;
        CR_TRY(cri_likelihood_at(cx, &g, s->theta, &v));
    }
    if (s->hessian && kind != CRI_SEPARATED_PERFECTLY)
        CR_TRY(cri_classifier_sds(cx, f, s->fixed, s->theta, s->hessian, m->sd + first * m->q1));
    if (many) drop_endless_sds(m, f->M, apart, blame, m->sd + first * m->q1);
    for (size_t k = 0; many && k <= f->M; k++)
        if (apart[k]) kind = CRI_SEPARATED_PARTLY;
    for (size_t j = 0; j < m->q; j++) {
        for (size_t k = 0; k < f->M && endless[j]; k++)
            m->sd[(first + k) * m->q1 + j + !m->intercept] = m->sd[(first + k) * m->q1] = -1;
        if (blame[j]) m->blame[j] = 1;
        if (s->fixed[j]) m->fixed[j] = 1;
    }
    if (kind == CRI_SEPARATED_PERFECTLY || m->separation == CRI_NOT_SEPARATED) m->separation = kind;
    m->objective += s->f;
    m->nll += s->nll;
    m->kkt = fmax(m->kkt, s->kkt);
    m->solver = s->solver;
done:
    cr_scratch_end(&workspace);
    return st;
}

/* Over all blocks of a stream, from the answer of the first with its share of the penalty, or from the model
 * without slopes where that is no worse: the first block may lack classes.  Its few rows are kept from taking
 * chance for certainty by a square penalty of at least 1. */
static cr_status solve_blocks(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                              bool want_hessian, cri_solution *s)
{
    cr_status            st = CR_OK;
    cr_scratch           workspace = cr_scratch_begin(cx);
    size_t               D = cri_likelihood_size(f);
    double              *null = cr_scratch_f64(&workspace, D), weight = 0;
    cri_likelihood       first = *f;
    cri_solve_options    usual = *o;
    cri_likelihood_value at_null = { 0 }, at_first = { 0 };

    CR_TRY(workspace.status);
    for (size_t i = 0; i < f->x->n; i++) weight += f->x->w ? f->x->w[i] : 1;
    first.passes = NULL;
    first.l2 = fmax(first.l2 * weight / f->x->weight, 1);
    usual.l1 *= weight / f->x->weight;
    usual.solver = CRI_SOLVER_AUTO;
    CR_TRY(cri_solve(cx, &first, &usual, false, s));
    CR_TRY(cri_null_start(cx, f, null));
    CR_TRY(cri_likelihood_at(cx, f, null, &at_null));
    CR_TRY(cri_likelihood_at(cx, f, s->theta, &at_first));
    double f_null = at_null.f + cri_l1_norm(f, o->l1, null);
    if (!(at_first.f + cri_l1_norm(f, o->l1, s->theta) < f_null))
        memcpy(s->theta, null, D * sizeof(double));
    CR_TRY(cri_solve_again(cx, f, o, want_hessian, s));
done:
    cr_scratch_end(&workspace);
    return st;
}

/* One solution of all vectors, or, for probit with several, one of each against the rest. */
static cr_status solve_all(cr_ctx *cx, cri_likelihood f, const cri_classifier_settings *o,
                           uint32_t *y, uint32_t *own, bool *apart, cri_classifier *m,
                           cr_report *report)
{
    cr_status    st = CR_OK;
    cri_solution s = { 0 };
    bool         rest = o->link == CRI_LINK_PROBIT && m->M > 1;
    bool         sds = o->solve.l1 == 0;
    report->stop = CR_STOP_TOLERANCE;
    for (size_t first = 0; first < (rest ? m->M : 1); first++) {
        for (size_t i = 0; rest && i < f.x->n; i++) own[i] = y[i] == first ? 0 : 1;
        f.y = rest ? own : y;
        f.M = rest ? 1 : m->M;
        f.full = m->full && !rest;
        CR_TRY(f.passes ? solve_blocks(cx, &f, &o->solve, sds, &s)
                        : cri_solve(cx, &f, &o->solve, sds, &s));
        CR_TRY(keep_solution(cx, &f, &s, o->expected, first, apart, m));
        report->iterations += s.iterations;
        if (s.stop == CR_STOP_LIMIT || m->separation != CRI_NOT_SEPARATED)
            report->stop = CR_STOP_LIMIT;
        cri_solution_free(cx, &s);
    }
done:
    cri_solution_free(cx, &s);
    return st;
}

/* What must be known of all rows before anything is fitted: the weight of each class [K], and how
 * the columns are standardised. */
typedef struct survey {
    double         *weight;
    cri_column_sums columns;
} survey;

static cr_status survey_block(cr_ctx *cx, void *arg, const cri_rows *rows)
{
    survey *w = arg;
    weigh_classes(rows, w->weight);
    return cri_column_sums_add(cx, rows, &w->columns);
}

/* Opens the rows, or the first block of a stream by what a pass over all of it finds. */
static cr_status open_rows(cr_ctx *cx, const cri_rows *rows, bool intercept, double *weight,
                           cri_classifier_rows *x)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    survey     w = { .weight = weight };
    bool       standardise = rows->design->standardised;
    if (!rows->passes) {
        weigh_classes(rows, weight);
        CR_TRY(cri_classifier_rows_new(cx, rows, intercept, standardise, x));
        goto done;
    }
    CR_TRY(cri_column_sums_new(&s, rows, &w.columns));
    CR_TRY(cri_passes_each(cx, rows->passes, survey_block, &w));
    CR_TRY(cri_classifier_rows_of_sums(cx, rows, &w.columns, intercept, standardise, x));
done:
    cr_scratch_end(&s);
    return st;
}

/* share [K + 1] becomes the weight of each vector's class, and of the reference. */
static cr_status prepare(cr_ctx *cx, const cri_rows *rows, const cri_classifier_settings *o,
                         const double *weight, const cri_classifier_rows *x, cri_classifier *m,
                         double *share)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     K = cr_design_classes(rows->design);
    double    *place = cr_scratch_f64(&s, K);
    bool       full = o->lambda > 0 || o->link == CRI_LINK_PROBIT;

    CR_TRY(s.status);
    CR_TRY(place_classes(cx, rows->design, weight, full, place, &m->M));
    for (size_t k = 0; k < K; k++)
        if (place[k] >= 0) share[(size_t)place[k]] = weight[k];
    m->p = x->p, m->q = x->q, m->q1 = x->p + 1, m->K = K;
    m->intercept = o->intercept;
    m->full = full && m->M > 1;
    m->link = o->link;
    m->lambda = o->lambda, m->l1_ratio = o->l1_ratio;
    m->penalty = o->penalty == CRI_PENALTY_L2 ? CRI_KEPT_L2 : (size_t)o->penalty;
    m->weight = x->weight;
    CR_TRY(cri_record_allocate(cx, cri_classifier_record, m));
    memcpy(m->place, place, K * sizeof(double));
    memcpy(m->centre, x->centre, m->p * sizeof(double));
    memcpy(m->scale, x->scale, m->p * sizeof(double));
done:
    cr_scratch_end(&s);
    return st;
}

static void count_coefficients(cri_classifier *m)
{
    for (size_t a = 0; a < m->M * m->q; a++) {
        bool slope = a % m->q >= m->intercept;
        m->nonzero += slope && m->theta[a] != 0;
        m->df += m->fixed[a % m->q] == 0;
    }
}

static cr_status solve(cr_ctx *cx, const cri_rows *rows, const cri_classifier_rows *x,
                       const cri_classifier_settings *settings, const double *classes,
                       cri_classifier *m, cr_report *report)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    cri_classifier_settings o = *settings;
    uint32_t               *y = cr_scratch_bytes(&s, x->n, sizeof *y);
    uint32_t               *own = cr_scratch_bytes(&s, x->n, sizeof *own);
    bool                   *apart = cr_scratch_bytes(&s, m->M + 1, sizeof(bool)), any = false;

    CR_TRY(s.status);
    cri_classifier_targets(rows, m->place, y);
    cri_likelihood f = {
        .x = x, .link = o.link, .step = 1, .passes = rows->passes, .place = m->place
    };
    double share = cri_classifier_l1_share(&o);
    f.l2 = o.lambda * x->weight * (1 - share);
    o.solve.l1 = o.lambda * x->weight * share;
    m->information = m->tests = o.lambda == 0;
    CR_TRY(solve_all(cx, f, &o, y, own, apart, m, report));
    m->null_nll = null_likelihood(&f, classes, m->M + 1);
    if (o.link == CRI_LINK_PROBIT && m->M > 1) m->null_nll = NAN;
    count_coefficients(m);
    warn_fixed(cx, rows->design, m);
    for (size_t k = 0; k <= m->M; k++) any = any || apart[k];
    if (any)
        warn_apart(cx, rows->design, m, apart);
    else
        CR_TRY(warn_separated(cx, rows->design, m));
    if (!any && m->separation == CRI_NOT_SEPARATED) warn_few(cx, m);
    report->log_likelihood = o.link == CRI_LINK_PROBIT && m->M > 1 ? NAN : -m->nll;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_classifier_fit(cr_ctx *cx, const cri_rows *rows, const cri_classifier_settings *o,
                             void **out_state, cr_report *report)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    cri_classifier     *m = cr_alloc(cx, 1, sizeof *m);
    cri_classifier_rows x = { 0 };
    size_t              K = cr_design_classes(rows->design);
    double             *share = cr_scratch_bytes(&s, K + 1, sizeof *share);
    double             *weight = cr_scratch_bytes(&s, K, sizeof *weight);

    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    CR_TRY(open_rows(cx, rows, o->intercept, weight, &x));
    CR_TRY(prepare(cx, rows, o, weight, &x, m, share));
    CR_TRY(solve(cx, rows, &x, o, share, m, report));
    *out_state = m;
    m = NULL;
done:
    if (m) cri_record_free(cx, cri_classifier_record, m);
    cr_free(cx, m, 1, sizeof *m);
    cri_classifier_rows_free(cx, &x);
    cr_scratch_end(&s);
    return st;
}
