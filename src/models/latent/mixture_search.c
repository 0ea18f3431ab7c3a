/* mixture_search.c -- the search for a mixture: candidates, ends that are no answer, and the choice among them by
 * BIC = -2 log L + parameters ln n.
 * Spurious ends are never the answer: those in which a component has fewer than 2.5 rows, or a variance below a
 * thousandth (--least-spread) of that of all rows.  McLachlan & Peel (2000), Finite Mixture Models, sec. 3.10. */
#include "mixture_plan.h"
#include "few_rows.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* --- candidates and starts -------------------------------------------------------------------- */

static size_t candidates(const void *search) { return ((const cri_mixture_plan *)search)->tried; }

static size_t starts(const void *search, size_t candidate, size_t restarts)
{
    const cri_mixture_plan *a = search;
    size_t                  k = a->from + candidate;
    if (k > 1 && (double)k * CRI_MIXTURE_LEAST_ROWS > a->weight) return 0;
    return k == 1 ? 1 : restarts;
}

static cr_status start(cr_ctx *cx, const void *search, size_t candidate, size_t attempt,
                       const void *opt_best, cr_rng *rng, void **out_state)
{
    cr_status               st = CR_OK;
    const cri_mixture_plan *a = search;
    cri_mixture            *m = NULL;
    bool                    draws = a->o->e_step == 1 && a->from + candidate > 1;
    size_t                  k = a->from + candidate, numbers = a->p * sizeof(double);
    CR_TRY(cri_mixture_new(cx, k, a->p, a->L, a->tried, &m));
    memcpy(m->kind, a->kind, a->p * sizeof *a->kind);
    memcpy(m->first, a->first, a->p * sizeof *a->first);
    memcpy(m->threshold, a->threshold, numbers);
    memcpy(m->centre, a->centre, numbers);
    memcpy(m->scale, a->scale, numbers);
    memcpy(m->overall, a->overall, numbers);
    if (a->L) memcpy(m->overall_level, a->overall_level, a->L * sizeof(double));
    m->prior_rows = a->o->prior == 0 ? a->o->prior_rows : 0;
    m->prior_variance = a->o->prior == 0 ? pow((double)k, -2 / (double)a->p) : 0;
    cri_mixture_place(m);
    CR_TRY(!draws && opt_best && attempt % 2 == 1
               ? cri_mixture_swap(cx, &a->sample, opt_best, rng, m)
               : cri_mixture_start(cx, &a->sample, draws, rng, m));
    m->salt = cr_rng_u64(rng);
    if (draws)
        m->draws =
            (a->o->draws + CRI_MIXTURE_BATCHES - 1) / CRI_MIXTURE_BATCHES * CRI_MIXTURE_BATCHES;
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_mixture, m);
    return st;
}

/* --- ends ------------------------------------------------------------------------------------- */

static bool lost(const void *state) { return ((const cri_mixture *)state)->lost; }

static void reach(void *state, const double *sums)
{
    cri_mixture *m = state;
    m->weight = 0; /* of the rows that hold anything */
    for (size_t b = 0; b < cri_mixture_parts(m); b++)
        for (size_t c = 0; c < m->k; c++)
            m->weight += sums[2 + b * cri_mixture_part_size(m) + c] / (double)cri_mixture_parts(m);
    m->log_likelihood = sums[0];
    m->log_certainty = fmin(sums[1], 0);
    if (m->draws) m->draws_error = cri_mixture_draws_error(m, sums + 2);
}

static cr_status judge(cr_ctx *cx, const void *search, const void *state, bool *out_rejected)
{
    const cri_mixture_plan *a = search;
    const cri_mixture      *m = state;
    (void)cx;
    *out_rejected = m->k > 1 && cri_mixture_is_flat(m, a->sample.least);
    for (size_t c = 0; m->k > 1 && c < m->k; c++)
        *out_rejected |= m->share[c] * m->weight < CRI_MIXTURE_LEAST_ROWS;
    return CR_OK;
}

static void note(void *search, size_t candidate, const cri_em_ends *ends, void *opt_best,
                 double *out_criterion)
{
    cri_mixture_plan *a = search;
    cri_mixture      *m = opt_best;
    a->total.made += ends->made, a->total.rejected += ends->rejected;
    a->total.best_rejected = fmax(a->total.best_rejected, ends->best_rejected);
    if (!m) return;
    a->tried_likelihood[candidate] = m->log_likelihood;
    *out_criterion = -2 * m->log_likelihood + cri_mixture_parameters(m, m->k) * log(m->weight);
    m->rejected = ends->rejected;
    m->best_rejected = ends->best_rejected;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* Component a comes before b: by its share, then by its parameters. */
static bool comes_before(const cri_mixture *m, size_t a, size_t b)
{
    double gap = m->share[a] - m->share[b];
    if (fabs(gap) > 1e-9) return gap > 0;
    for (size_t j = 0; j < m->p; j++) {
        gap = m->mean[a * m->p + j] - m->mean[b * m->p + j];
        if (fabs(gap) > 1e-9) return gap < 0;
    }
    for (size_t l = 0; l < m->L; l++) {
        gap = m->level[a * m->L + l] - m->level[b * m->L + l];
        if (fabs(gap) > 1e-9) return gap > 0;
    }
    return a < b;
}

/* Rows [k x width] in another order; copy [k x width] to work in. */
static void permute(double *x, size_t k, size_t width, const size_t *order, double *copy)
{
    if (width == 0) return;
    memcpy(copy, x, k * width * sizeof *x);
    for (size_t c = 0; c < k; c++)
        memcpy(x + c * width, copy + order[c] * width, width * sizeof *x);
}

static cr_status order_components(cr_ctx *cx, cri_mixture *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *order = cr_scratch_index(&s, m->k);
    double    *copy = cr_scratch_matrix(&s, m->k, m->p + m->L);
    CR_TRY(s.status);
    for (size_t c = 0; c < m->k; c++) {
        size_t at = c;
        for (; at > 0 && comes_before(m, c, order[at - 1]); at--) order[at] = order[at - 1];
        order[at] = c;
    }
    permute(m->share, m->k, 1, order, copy);
    permute(m->mean, m->k, m->p, order, copy);
    permute(m->sd, m->k, m->p, order, copy);
    permute(m->level, m->k, m->L, order, copy);
    cri_mixture_prepare(m);
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status fail_finish(cr_ctx *cx, const cri_mixture_plan *a)
{
    if (a->total.made == 0)
        return cr_fail(cx, CR_EDATA,
                       "mixture: %zu components need more rows than %g: no fewer than %g for each",
                       a->from, a->weight, CRI_MIXTURE_LEAST_ROWS);
    cr_fail(cx, CR_EDATA,
            "mixture: all %zu starts ended with a component on fewer than %g rows, or one in which "
            "a column does not vary",
            a->total.made, CRI_MIXTURE_LEAST_ROWS);
    return cr_fail_hint(cx,
                        "ask for fewer components (--k) or more --restarts, or allow components "
                        "that vary little with --least-spread%s",
                        a->o->prior == 0 ? "" : ", or leave out --prior none");
}

static cr_status finish(cr_ctx *cx, const void *search, void *opt_state)
{
    const cri_mixture_plan *a = search;
    cri_mixture            *m = opt_state;
    cr_status               st = m ? order_components(cx, m) : fail_finish(cx, a);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < a->tried; i++) m->tried_k[i] = (double)(a->from + i);
    memcpy(m->tried_likelihood, a->tried_likelihood, a->tried * sizeof(double));
    for (size_t c = 0; c < m->k; c++) m->share_error[c] = NAN;
    for (size_t i = 0; i < m->k * m->p; i++) m->mean_error[i] = m->sd_error[i] = NAN;
    for (size_t i = 0; i < m->k * m->L; i++) m->level_error[i] = NAN;
    if (m->rejected > 0 && m->best_rejected > m->em.objective)
        cr_log(cx, CR_LOG_INFO,
               "%zu of %zu starts ended higher, but with a component on too few rows", m->rejected,
               m->em.restarts);
    if (m->em.converged && cri_mixture_left(m) > a->o->tol * m->weight)
        cr_log(
            cx, CR_LOG_WARNING,
            "mixture: another step may gain %.2g nats, more than --tol asks for, which %zu draws "
            "of each row are too few to tell",
            cri_mixture_left(m), m->draws);
    cri_warn_of_few_rows(cx, "mixture", cri_mixture_parameters(m, m->k), m->weight);
    return cri_mixture_name(cx, m);
}

const cri_em_search cri_mixture_search = {
    .open = cri_mixture_plan_open,
    .close = cri_mixture_plan_close,
    .meet = cri_mixture_meet,
    .survey_width = cri_mixture_survey_width,
    .survey_work = cri_mixture_survey_work,
    .survey = cri_mixture_survey,
    .settle = cri_mixture_settle,
    .candidates = candidates,
    .starts = starts,
    .start = start,
    .log_prior = cri_mixture_log_prior,
    .refine = cri_mixture_refine,
    .lost = lost,
    .reach = reach,
    .judge = judge,
    .note = note,
    .finish = finish,
    .review = cri_mixture_find_errors,
};
