/* rvm_fit.c -- rows to functions, a search, and what is kept of its end. */
#include "rvm_job.h"
#include "models/common/some_rows.h"
#include "models/core/rows_check.h"
#include "models/kernel/default_kernel.h"

#include <math.h>
#include <string.h>

static const double LEAST_NOISE = 1e-8; /* of the variance of the target */

/* --- rows ------------------------------------------------------------------------------------ */

/* Distinct inputs in their order; group [rows]: the input of each row. */
static cr_status gather(cr_ctx *cx, const cri_rows *rows, size_t *group, cri_gp_data *at)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *position;
    CR_TRY(cri_gp_data_add(cx, at, rows, NULL, true, group));
    position = cr_scratch_index(&s, at->n);
    CR_TRY(s.status);
    CR_TRY(cri_rvm_sort(cx, at, position));
    for (size_t i = 0; i < rows->n; i++)
        if (!rows->w || rows->w[i] > 0) group[i] = position[group[i]];
done:
    cr_scratch_end(&s);
    return st;
}

/* The latent function of each class that has weight: the second of two classes has f > 0. */
static cr_status find_classes(cr_ctx *cx, const cri_rows *rows, cri_rvm *m)
{
    size_t seen = 0;
    m->K = cr_design_classes(rows->design);
    m->place = cr_alloc(cx, m->K, sizeof *m->place);
    if (!m->place) return CR_ENOMEM;
    for (size_t k = 0; k < m->K; k++) m->place[k] = -1;
    for (size_t i = 0; i < rows->n; i++)
        if (!rows->w || rows->w[i] > 0) m->place[(size_t)rows->y[i]] = 0;
    for (size_t k = 0; k < m->K; k++)
        if (m->place[k] == 0) m->place[k] = (double)seen++;
    m->F = seen == 2 ? 1 : seen;
    return CR_OK;
}

/* T [n x F] and count [n] of the inputs. */
static void count_classes(const cri_rows *rows, const size_t *group, const cri_rvm *m,
                          cri_rvm_job *j)
{
    memset(j->T, 0, j->at.n * m->F * sizeof *j->T);
    memset(j->count, 0, j->at.n * sizeof *j->count);
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        if (!(w > 0)) continue;
        size_t f = (size_t)m->place[(size_t)rows->y[i]], to = group[i];
        j->count[to] += w;
        if (m->F > 1)
            j->T[to * m->F + f] += w;
        else if (f == 1)
            j->T[to] += w;
    }
}

/* --- what is kept ---------------------------------------------------------------------------- */

/* The functions number at [M] of the basis, M being set. */
static cr_status keep_functions(cr_ctx *cx, const cri_rvm_basis *b, const size_t *at, cri_rvm *m)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = b->at;
    size_t            *row = cr_scratch_index(&s, b->C), d = data->d, c = data->c;

    CR_TRY(s.status);
    m->terms = !b->kernel, m->constant = b->constant, m->candidates = b->C;
    m->rows = data->count;
    m->d = d, m->c = c;
    for (size_t k = 0; k < b->C; k++) row[k] = SIZE_MAX;
    for (size_t k = 0; k < m->M; k++) row[at[k]] = 0;
    for (size_t k = b->constant; b->kernel && k < b->C; k++)
        if (row[k] == 0) row[k] = m->R++;
    CR_TRY(cri_record_allocate(cx, cri_rvm_record, m));
    for (size_t k = b->constant; b->kernel && k < b->C; k++) {
        if (row[k] == SIZE_MAX) continue;
        size_t from = k - b->constant;
        memcpy(m->X + row[k] * d, data->X + from * d, d * sizeof *m->X);
        memcpy(m->codes + row[k] * c, data->codes + from * c, c * sizeof *m->codes);
    }
    for (size_t k = 0; k < m->M; k++)
        m->function[k] = b->constant && at[k] == 0 ? -1
                         : b->kernel               ? (double)row[at[k]]
                                                   : (double)(at[k] - b->constant);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_rvm_keep(cr_ctx *cx, const cri_rvm_job *j, const cri_rvm_gauss *g, double times,
                       cri_rvm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = j->at.n;
    double     noise = times * cri_rvm_gauss_noise(g, g->E);
    double    *Phi = cr_scratch_matrix(&s, n, g->M), *residual = cr_scratch_f64(&s, n);
    double    *precision = cr_scratch_f64(&s, n);

    CR_TRY(s.status);
    m->M = g->M, m->F = 1;
    CR_TRY(keep_functions(cx, g->basis, g->at, m));
    m->noise = noise, m->given = !isnan(j->noise);
    if (j->constant && !m->given) m->noise = j->at.count > 1 ? 0 : NAN; /* nothing varies, or may */
    for (size_t k = 0; k < m->M; k++) {
        const double *h = g->H + k * g->capacity;
        m->alpha[k] = g->a[k] / noise;
        m->weight[k] = g->mu[k];
        m->known += 1 - g->a[k] * h[k];
        for (size_t l = 0; l < m->M; l++) m->covariance[k * m->M + l] = noise * h[l];
    }
    if (!j->query) goto done;
    CR_TRY(cri_rvm_columns(cx, g->basis, g->at, m->M, Phi));
    for (size_t i = 0; i < n; i++) {
        precision[i] = 1 / (j->at.r[i] * noise);
        residual[i] = j->at.y[i];
        for (size_t k = 0; k < m->M; k++) residual[i] -= m->weight[k] * Phi[i * m->M + k];
        residual[i] *= precision[i];
    }
    CR_TRY(cri_rvm_keep_rows(cx, j, residual, precision, j->query_precision, j->spread, m));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status keep_classes(cr_ctx *cx, const cri_rvm_job *j, const cri_rvm_options *o,
                              const cri_rvm_classes *z, cri_rvm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *at = cr_scratch_index(&s, z->M), C = z->basis->C, n = j->at.n;
    double    *residual = cr_scratch_f64(&s, n), *precision = cr_scratch_f64(&s, n), square = 0;
    CR_TRY(s.status);
    m->M = z->M;
    for (size_t k = 0; k < z->M; k++) at[k] = z->at[k] % C;
    CR_TRY(keep_functions(cx, z->basis, at, m));
    for (size_t k = 0; k < m->M; k++) {
        const double *v = z->V + k * z->capacity;
        size_t        f = z->at[k] / C;
        m->latent[k] = (double)f;
        m->alpha[k] = z->alpha[k];
        m->weight[k] = z->weight[k];
        m->known += 1 - z->alpha[k] * v[k];
        memcpy(m->covariance + k * m->M, v, m->M * sizeof *v);
    }
    if (!o->basis_at_query) goto done;
    for (size_t i = 0; i < n; i++) {
        double p = z->p[i], eta = log(p) - log1p(-p);
        residual[i] = z->T[i] - z->count[i] * p;
        precision[i] = z->count[i] * p * (1 - p);
        square += z->count[i] * eta * eta / j->at.count;
    }
    CR_TRY(cri_rvm_keep_rows(cx, j, residual, precision, o->query_precision, fmax(square, 1), m));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- a fit ----------------------------------------------------------------------------------- */

enum { FEW = 100, MOST_LEFT_OUT = 500 }; /* rows; inputs of which some are left out */

/* Functions that are chosen by the rows they explain leave few rows to tell noise from them. */
static bool are_few(const cri_rvm_job *j, const cri_rvm_gauss *g)
{
    double known = 0;
    for (size_t k = 0; k < g->M; k++) known += 1 - g->a[k] * g->H[k * g->capacity + k];
    return j->at.n <= MOST_LEFT_OUT && (j->at.count < FEW || known > j->at.count / 2);
}

/* The intervals of evidence alone hold 0.53 in place of 0.95 of 6 rows, 0.87 of 20. */
static void warn_of_few(cr_ctx *cx, const cri_rvm *m)
{
    double left = m->rows - m->known - (double)m->taken;
    if (m->given || (m->rows >= 50 && left >= m->rows / 2)) return;
    cr_log(cx, CR_LOG_WARNING,
           "rvm: %g rows, of which %.3g are left to learn the noise from beside the functions: the "
           "intervals of predictions are too narrow; %s",
           m->rows, fmax(left, 0),
           m->taken ? "gp allows for what so few rows leave open"
                    : "--hyper auto allows for what so few rows leave open, as gp does");
}

static cr_status fit_numbers(cr_ctx *cx, const cri_rvm_job *j, const cri_rvm_options *o,
                             const cri_rows *rows, cri_rvm_basis *b, cri_rvm *m, cr_report *report)
{
    cr_status     st = CR_OK;
    cri_rvm_gauss g = { 0 };
    double        inflation = NAN;
    CR_TRY(cri_rvm_numbers(cx, j, b, &g, &m->up, &m->down, &report->stop));
    if (isnan(j->noise) && g.M && cri_rvm_gauss_noise(&g, g.E) <= j->floor)
        cri_warn_of_perfect_fit(cx);
    m->taken = j->hyper == CRI_RVM_COUNTED ? 2 : 0;
    if (m->taken && isnan(j->noise) && !j->constant && are_few(j, &g))
        CR_TRY(cri_rvm_left_out(cx, j, rows->design, o->intercept, m, &inflation));
    CR_TRY(cri_rvm_keep(cx, j, &g, inflation > 0 ? inflation : 1, m));
    m->inflation = inflation > 0 ? inflation : 0;
    report->iterations = g.steps;
    report->evidence = CR_EVIDENCE_EXACT;
    report->log_evidence =
        cri_rvm_gauss_evidence(&g) - j->at.count * log(rows->design->target_scale);
    if (j->constant && !m->given)
        m->up = m->down = report->log_evidence = NAN; /* it has no bound */
    if (isnan(m->noise))
        cri_warn_no_spread(cx);
    else if (isnan(inflation))
        warn_of_few(cx, m);
done:
    cri_rvm_gauss_free(cx, &g);
    return st;
}

static cr_status fit_classes(cr_ctx *cx, const cri_rvm_job *j, const cri_rvm_options *o,
                             const cri_rvm_basis *b, cri_rvm *m, cr_report *report)
{
    cr_status       st = CR_OK;
    cri_rvm_classes z = { 0 };
    CR_TRY(cri_rvm_groups(cx, j, b, &z, &m->up, &m->down, &report->stop));
    CR_TRY(keep_classes(cx, j, o, &z, m));
    report->iterations = z.steps;
    report->evidence = CR_EVIDENCE_LAPLACE;
    report->log_evidence = z.evidence;
    report->log_likelihood = z.log_likelihood;
done:
    cri_rvm_classes_free(cx, &z);
    return st;
}

/* Options that this target leaves no meaning to. */
static cr_status check_options(cr_ctx *cx, const cri_rvm_options *o, const cri_rvm *m)
{
    if (m->K && !isnan(o->noise)) return cri_fail_unused(cx, "noise", "task", "regression");
    if (m->F > 1 && o->basis_at_query)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "--basis-at-query is for numbers and two classes, but the target has %zu",
                       m->F);
    return CR_OK;
}

/* The kernel of the options, or the one of the best scale. */
static cr_status make_kernel(cr_ctx *cx, const cri_rvm_job *j, const cri_rvm_options *o,
                             const cri_rows *rows, cri_rvm *m)
{
    cr_status st = CR_OK;
    m->scaled = !o->kernel && j->at.d > 0;
    if (o->kernel)
        CR_TRY(cri_default_kernel(cx, o->kernel, rows->design, &j->at, 1, NULL, &m->kernel));
    else
        CR_TRY(cri_rvm_scale(cx, j, rows->design, &m->kernel));
    if (cri_gp_kernel_has_white(m->kernel)) {
        cr_fail(cx, CR_EARG, "white in the kernel '%s' is no function of the columns", o->kernel);
        CR_TRY(cr_fail_hint(cx, "the noise of a target of numbers is learned, or --noise"));
    }
    CR_TRY(cri_gp_check_data(cx, m->kernel, rows, &j->at));
    CR_TRY(cri_gp_kernel_keep(cx, m->kernel, &m->formula, &m->centre));
done:
    return st;
}

/* A target of numbers: the mean is taken off where there is a constant; its spread, and the least noise. */
static void set_units(const cri_rvm_options *o, cri_rvm_job *j, cri_rvm *m)
{
    double mean = cri_gp_data_mean(&j->at), square = j->at.spread;
    for (size_t i = 0; i < j->at.n; i++)
        square += (j->at.y[i] - mean) * (j->at.y[i] - mean) / j->at.r[i];
    j->constant = !(square > 0) && (o->intercept || mean == 0);
    j->spread = square > 0 ? square / j->at.count : mean != 0 ? mean * mean : 1;
    j->floor = LEAST_NOISE * j->spread;
    if (!o->intercept) return;
    m->shift = mean;
    cri_gp_data_shift(&j->at, mean);
}

static cr_status prepare(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, const cri_rvm_options *o,
                         cri_rvm_job *j, cri_rvm *m)
{
    cr_status st = CR_OK;
    size_t   *group = cr_scratch_index(s, rows->n);
    CR_TRY(s->status);
    CR_TRY(cri_check_sizes(cx, rows, true));
    CR_TRY(gather(cx, rows, group, &j->at));
    m->query = m->variance = m->noise = NAN;
    if (cr_design_classes(rows->design)) CR_TRY(find_classes(cx, rows, m));
    CR_TRY(check_options(cx, o, m));
    if (!m->K) set_units(o, j, m);
    j->F = m->F, j->noise = o->noise, j->start = o->start;
    j->hyper = (cri_rvm_hyper)o->hyper;
    j->query = o->basis_at_query, j->query_precision = o->query_precision;
    j->limits = (cri_rvm_limits){ .tol = o->tol,
                                  .max_steps = o->max_iter,
                                  .clock = cri_clock_start(cx, NAN) };
    if (!m->K) goto done;
    j->T = cr_scratch_matrix(s, j->at.n, m->F), j->count = cr_scratch_f64(s, j->at.n);
    CR_TRY(s->status);
    count_classes(rows, group, m, j);
done:
    return st;
}

static cr_status fit_rows(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    cr_status              st = CR_OK;
    cr_scratch             s = cr_scratch_begin(cx);
    const cri_rvm_options *o = options;
    cri_rvm_job            j = { 0 };
    cri_rvm_basis          b;
    cri_rvm               *m = cr_alloc(cx, 1, sizeof *m);
    (void)seed;

    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(prepare(cx, &s, rows, o, &j, m));
    if (o->functions == CRI_RVM_KERNELS) CR_TRY(make_kernel(cx, &j, o, rows, m));
    if (!m->kernel) {
        m->formula = cri_string_copy(cx, "terms");
        if (!m->formula) CR_TRY(CR_ENOMEM);
    }
    CR_TRY(cri_rvm_basis_new(&s, &j.at, m->kernel, rows->design, o->intercept, &b));
    if (m->K)
        CR_TRY(fit_classes(cx, &j, o, &b, m, report));
    else
        CR_TRY(fit_numbers(cx, &j, o, rows, &b, m, report));
    *out_state = m;
    m = NULL;
done:
    cri_gp_data_free(cx, &j.at);
    cri_state_free(cx, &cri_class_rvm, m);
    cr_scratch_end(&s);
    return st;
}

/* Within a time limit, of some rows where even a first look at all takes too long. */
cr_status cri_rvm_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                      void **out_state, cr_report *report)
{
    return cri_fit_some(cx, fit_rows, rows, options, seed, out_state, report);
}
