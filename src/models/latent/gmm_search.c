/* gmm_search.c -- the search for a mixture: a survey of the rows, the prior, candidates, ends that are no answer, and
 * the choice among them by BIC = -2 log L + parameters ln n.
 * The likelihood of a mixture has no maximum: a component that closes in on a few rows, or on a plane, raises it
 * without bound.  Such spurious ends are never the answer: those in which a component has fewer than d + 1.5 rows
 * (2.5 where components share their orientation, or have none), or a variance in some direction below a thousandth
 * (--least-spread) of the least of all rows together.  McLachlan & Peel (2000), Finite Mixture Models, sec. 3.10. */
#include "gmm_plan.h"
#include "gmm_gibbs.h"
#include "gmm_start.h"
#include "few_rows.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* --- candidates and starts -------------------------------------------------------------------- */

static size_t candidates(const void *search) { return ((const cri_gmm_plan *)search)->tried; }

/* Whether no end is rejected: of a posterior, in which a component that stands on few rows does no harm; chains begin at
 * any, but with several numbers of components EM has to choose among them first. */
static bool takes_any_end(const cri_gmm_plan *p)
{
    return p->o->infer == CRI_GMM_INFER_VB || (p->o->infer == CRI_GMM_INFER_GIBBS && p->tried == 1);
}

static size_t starts(const void *search, size_t candidate, size_t restarts)
{
    const cri_gmm_plan *p = search;
    size_t              k = (size_t)p->tried_k[candidate];
    if (!takes_any_end(p) && k > 1 &&
        (double)k * cri_gmm_least_rows(p, (int)p->tried_form[candidate]) > p->weight)
        return 0; /* one of them would stand on too few rows */
    return k == 1 ? 1 : restarts;
}

/* The prior of a covariance is as `prior_rows` rows of the covariance of all rows, its volume shared by the components
 * (Fraley & Raftery 2007, J. Classification 24), that of a mean as a hundredth of a row at the mean of all.
 * Their prior of covariances counts for 2 d + 4 rows and is densest at small covariances: among many starts
 * that favours ends with a small component of just this size.  Variational Bayes, which integrates over covariances,
 * needs a proper prior: nu = d and the scale of theirs. */
static void set_prior(const cri_gmm_plan *p, cri_gmm *m)
{
    size_t d = m->d;
    double volume = pow((double)m->k, -2.0 / (double)d), sum = 0;
    bool   diagonal = cri_gmm_is_diagonal(m->form), round = cri_gmm_form_name(m->form)[1] == 'I';
    m->prior_rows = p->o->infer == 1 ? (double)d : p->o->prior_rows, m->prior_kappa = 0.01;
    for (size_t j = 0; j < d; j++) sum += p->C[p->width > 1 ? j * (d + 1) : j] / (double)d;
    for (size_t i = 0; i < d * m->width; i++) {
        double c = p->C[diagonal && p->width > 1 ? i * (d + 1) : i];
        m->prior_scale[i] = (p->o->infer == 1 ? 1 : m->prior_rows) * volume * (round ? sum : c);
    }
}

static cr_status start(cr_ctx *cx, const void *search, size_t candidate, size_t attempt,
                       const void *opt_best, cr_rng *rng, void **out_state)
{
    cr_status           st = CR_OK;
    const cri_gmm_plan *p = search;
    cri_gmm_rows        rows = p->sample;
    cri_gmm            *m = NULL;
    CR_TRY(cri_gmm_new(cx, (size_t)p->tried_k[candidate], p->d, (int)p->tried_form[candidate],
                       p->tried, &m));
    m->factors = m->form == CRI_GMM_PPCA ? p->o->factors : 0;
    memcpy(m->centre, p->centre, p->d * sizeof(double));
    memcpy(m->scale, p->scale, p->d * sizeof(double));
    if (p->o->prior == 0) set_prior(p, m);
    if (p->o->infer == 0) rows.least_share = cri_gmm_least_rows(p, m->form) / p->weight;
    CR_TRY(cri_gmm_start(cx, &rows, p->tree, attempt, opt_best, rng, m));
    if (p->o->infer == 1 && !cri_gmm_vb_begin(m, p->o->alpha, p->weight))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "gmm: the covariance of all rows has no determinant"));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_gmm, m);
    return st;
}

/* --- ends ------------------------------------------------------------------------------------- */

static bool lost(const void *state) { return ((const cri_gmm *)state)->lost; }

static void reach(void *state, const double *sums)
{
    cri_gmm *m = state;
    m->weight = 0; /* of the rows that say anything */
    for (size_t c = 0; c < m->k; c++) m->weight += sums[2 + c * (1 + m->d + m->d * m->width)];
    m->log_likelihood = m->vb ? NAN : sums[0];
    m->log_certainty = fmin(sums[1], 0);
}

static cr_status judge(cr_ctx *cx, const void *search, const void *state, bool *out_rejected)
{
    cr_status           st = CR_OK;
    const cri_gmm_plan *p = search;
    const cri_gmm      *m = state;
    double              least_rows = cri_gmm_least_rows(p, m->form);
    *out_rejected = false;
    if (takes_any_end(p)) goto done;
    if (m->k > 1) CR_TRY(cri_gmm_is_flat(cx, m, p->sample.least, out_rejected));
    for (size_t c = 0; m->k > 1 && c < m->k; c++)
        *out_rejected |= m->share[c] * m->weight < least_rows;
done:
    return st;
}

static void note(void *search, size_t candidate, const cri_em_ends *ends, void *opt_best,
                 double *out_criterion)
{
    cri_gmm_plan *p = search;
    cri_gmm      *m = opt_best;
    p->total.made += ends->made - (size_t)p->tried_starts[candidate];
    p->tried_starts[candidate] = (double)ends->made;
    p->total.best_rejected = fmax(p->total.best_rejected, ends->best_rejected);
    if (!m) return;
    p->tried_likelihood[candidate] = m->vb ? m->em.objective : m->log_likelihood;
    *out_criterion = m->vb
                         ? -m->em.objective
                         : -2 * m->log_likelihood +
                               cri_gmm_parameters(m->form, m->k, m->d, m->factors) * log(m->weight);
    m->rejected = ends->rejected;
    m->best_rejected = ends->best_rejected;
}

/* A quarter of a nat for each row: of the starts of many candidates on several tables none gained as much. */
static double margin(const void *search)
{
    const cri_gmm_plan *p = search;
    double              nats = 0.25 * p->weight;
    return p->o->infer == CRI_GMM_INFER_VB ? nats : 2 * nats;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* Component a comes before b: by its share, then by its mean. */
static bool comes_before(const cri_gmm *m, size_t a, size_t b)
{
    double gap = m->share[a] - m->share[b];
    if (fabs(gap) > 1e-9) return gap > 0;
    for (size_t j = 0; j < m->d; j++) {
        gap = m->mean[a * m->d + j] - m->mean[b * m->d + j];
        if (fabs(gap) > 1e-9) return gap < 0;
    }
    return a < b;
}

static cr_status order_components(cr_ctx *cx, cri_gmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     d = m->d, size = d * m->width, *order = cr_scratch_index(&s, m->k);
    double    *share = cr_scratch_f64(&s, m->k), *rows = cr_scratch_f64(&s, m->k),
           *mean = cr_scratch_matrix(&s, m->k, d);
    double *L = cr_scratch_matrix(&s, m->k, size);
    CR_TRY(s.status);
    for (size_t c = 0; c < m->k; c++) {
        size_t at = c;
        for (; at > 0 && comes_before(m, c, order[at - 1]); at--) order[at] = order[at - 1];
        order[at] = c;
    }
    memcpy(share, m->share, m->k * sizeof *share);
    memcpy(rows, m->rows, m->k * sizeof *rows);
    memcpy(mean, m->mean, m->kd * sizeof *mean);
    memcpy(L, m->L, m->k * size * sizeof *L);
    for (size_t c = 0; c < m->k; c++) {
        m->share[c] = share[order[c]], m->rows[c] = rows[order[c]];
        memcpy(m->mean + c * d, mean + order[c] * d, d * sizeof *mean);
        memcpy(m->L + c * size, L + order[c] * size, size * sizeof *L);
    }
    cri_gmm_prepare(m);
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status fail_finish(cr_ctx *cx, const cri_gmm_plan *p)
{
    double least = cri_gmm_least_rows(p, p->forms[0]);
    if (p->total.made == 0)
        return cr_fail(cx, CR_EDATA,
                       "gmm: %zu component%s of %zu column%s need more rows than %g: no fewer than "
                       "%g for each",
                       p->from, p->from == 1 ? "" : "s", p->d, p->d == 1 ? "" : "s", p->weight,
                       least);
    cr_fail(
        cx, CR_EDATA,
        "gmm: all %zu starts ended with a component on fewer than %g rows, or without spread in "
        "some direction",
        p->total.made, least);
    return cr_fail_hint(cx,
                        "ask for fewer components (--k), a simpler --covariance or more "
                        "--restarts, or allow thin components with --least-spread%s",
                        p->o->prior == 0 ? "" : ", or leave out --prior none");
}

static cr_status finish(cr_ctx *cx, const void *search, void *opt_state)
{
    const cri_gmm_plan *p = search;
    cri_gmm            *m = opt_state;
    cr_status           st = m ? order_components(cx, m) : fail_finish(cx, p);
    if (st != CR_OK) return st;
    memcpy(m->tried_k, p->tried_k, p->tried * sizeof(double));
    memcpy(m->tried_form, p->tried_form, p->tried * sizeof(double));
    memcpy(m->tried_likelihood, p->tried_likelihood, p->tried * sizeof(double));
    memcpy(m->tried_starts, p->tried_starts, p->tried * sizeof(double));
    if (m->rejected > 0 && m->best_rejected > m->em.objective)
        cr_log(cx, CR_LOG_INFO,
               "%zu of %zu starts ended higher, but with a component on too few rows", m->rejected,
               m->em.restarts);
    if (p->o->infer == CRI_GMM_INFER_EM)
        cri_warn_of_few_rows(cx, "gmm", cri_gmm_parameters(m->form, m->k, m->d, m->factors),
                             m->weight);
    return cri_gmm_name(cx, m);
}

static cr_status review(cr_ctx *cx, const void *search, const cri_rows *rows, uint64_t seed,
                        bool late, void *state)
{
    const cri_gmm_plan *p = search;
    if (p->o->infer == CRI_GMM_INFER_GIBBS)
        return cri_gmm_run_chains(cx, rows, &p->sample, p->o, seed, state);
    return p->o->infer == CRI_GMM_INFER_VB ? CR_OK : cri_gmm_find_errors(cx, rows, late, state);
}

static void report(const void *state, cr_report *out)
{
    const cri_gmm *m = state;
    if (m->sampled.kept > 0) out->log_likelihood = NAN; /* there is no one state that it is of */
    if (!m->vb) return;
    out->log_likelihood = NAN;
    out->log_evidence = m->em.objective;
    out->evidence = CR_EVIDENCE_BOUND;
}

const cri_em_search cri_gmm_search = {
    .open = cri_gmm_open,
    .close = cri_gmm_close,
    .meet = cri_gmm_meet,
    .survey_width = cri_gmm_survey_width,
    .survey_work = cri_gmm_survey_work,
    .survey = cri_gmm_survey,
    .settle = cri_gmm_settle,
    .candidates = candidates,
    .starts = starts,
    .start = start,
    .log_prior = cri_gmm_log_prior,
    .lost = lost,
    .reach = reach,
    .judge = judge,
    .note = note,
    .margin = margin,
    .report = report,
    .finish = finish,
    .review = review,
};
