/* hmm_solve.c -- the M-step: the parameters that are best for expected statistics, with a prior.
 * Rows of A, and pi, have a Dirichlet prior prod_j A_ij^(s / n_i) over the n_i states that may follow; levels of
 * categories one of prior_rows rows like all rows together.  A state that nothing is expected of stays at its prior, or,
 * without one, where it was: there is no row of NaN, and no step loses. */
#include "hmm.h"
#include "hmm_duration.h"
#include "hmm_ties.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* --- states ---------------------------------------------------------------------------------- */

size_t cri_hmm_levels(const cri_hmm *m, size_t j)
{
    size_t next = j + 1;
    if (m->kind[j] != CRI_EMIT_CATEGORY) return 0;
    while (next < m->p && m->kind[next] != CRI_EMIT_CATEGORY) next++;
    return (next < m->p ? m->first[next] : m->L) - m->first[j];
}

cr_status cri_hmm_new(cr_ctx *cx, cri_hmm_shape s, cri_hmm **out)
{
    cri_hmm  *m = cr_alloc(cx, 1, sizeof *m);
    cr_status st;
    if (!m) return CR_ENOMEM;
    m->k = s.k, m->p = s.p, m->L = s.L, m->g = s.g, m->gg = s.g * s.g, m->tried = s.tried;
    m->sequences = s.sequences, m->q = s.q, m->pq = s.p * s.q, m->stages = s.stages;
    m->M = s.M, m->parts = s.parts, m->ties = s.ties;
    m->place = cri_hmm_nodes(m) + 1;
    st = cri_record_allocate(cx, cri_hmm_record, m);
    if (st != CR_OK) cri_state_free(cx, &cri_class_hmm, m);
    if (st == CR_OK) *out = m;
    return st;
}

cr_status cri_hmm_place(cr_ctx *cx, cri_hmm *m)
{
    size_t a = 0;
    m->joint = cr_alloc(cx, m->g, sizeof *m->joint);
    if (!m->joint) return CR_ENOMEM;
    for (size_t j = 0; j < m->p && a < m->g; j++)
        if (m->kind[j] == CRI_EMIT_JOINT) m->joint[a++] = j;
    return CR_OK;
}

size_t cri_hmm_mixtures_before(const cri_hmm *m, size_t j)
{
    size_t n = 0;
    while (j-- > 0) n += m->kind[j] == CRI_EMIT_MIXTURE;
    return n;
}

cri_emitted cri_hmm_emitted(const cri_hmm *m, size_t j, double *work)
{
    size_t parts = m->kind[j] == CRI_EMIT_MIXTURE ? cri_hmm_mixtures_before(m, j) * m->M * m->k : 0;
    return (cri_emitted){ .k = m->k,
                          .stride = cri_chain_stride(m->k),
                          .mean = m->mean + j * m->k,
                          .spread = m->spread + j * m->k,
                          .tail = m->tail + j * m->k,
                          .overall = m->overall[j],
                          .overall2 = m->overall2[j],
                          .work = work,
                          .q = m->q,
                          .M = m->M,
                          .part_weight = m->parts > 0 ? m->part_weight + parts : NULL,
                          .part_mean = m->parts > 0 ? m->part_mean + parts : NULL,
                          .part_sd = m->parts > 0 ? m->part_sd + parts : NULL,
                          .coef = m->q > 0 ? m->coef + j * m->q * m->k : NULL };
}

cri_joint cri_hmm_joint(const cri_hmm *m, const double **columns, double *work)
{
    return (cri_joint){ .k = m->k,
                        .stride = cri_chain_stride(m->k),
                        .g = m->g,
                        .tied = m->covariance_is == 2,
                        .x = columns,
                        .column = m->joint,
                        .mean = m->mean,
                        .covariance = m->covariance,
                        .whiten = m->whiten,
                        .peak = m->peak,
                        .opt_dof = m->g > 0 ? m->tail + m->joint[0] * m->k : NULL,
                        .work = work };
}

bool cri_hmm_prepare(cri_hmm *m, double *work)
{
    cri_joint joint = cri_hmm_joint(m, NULL, work);
    for (size_t i = 0; i < m->L * m->k; i++) m->log_level[i] = log(m->level[i]);
    return m->g == 0 || cri_joint_prepare(&joint);
}

double cri_hmm_parameters(const cri_hmm *m)
{
    double k = (double)m->k, sum = -1, g = (double)m->g;
    for (size_t i = 0; i < m->k; i++) sum += m->may_begin[i] > 0;
    for (size_t i = 0; i < m->k; i++) {
        if (m->ties > 0) break;
        sum += (cri_hmm_can_leave(m, i) ? (double)m->stages : 0) - 1;
        for (size_t j = 0; j < m->k; j++) sum += m->may_go[i * m->k + j] > 0;
    }
    sum += (double)m->free_transitions;
    for (size_t j = 0; j < m->p; j++) {
        const cri_emission *e = cri_emission_of(m->kind[j]);
        for (size_t a = 0; a < 3 && e; a++) sum += e->parameter[a] ? k : 0;
        if (m->kind[j] == CRI_EMIT_MIXTURE) sum += k * (3 * (double)m->M - 1);
        if (m->kind[j] == CRI_EMIT_REGRESSED) sum += k * (double)m->q;
        if (m->kind[j] == CRI_EMIT_CATEGORY) sum += k * ((double)cri_hmm_levels(m, j) - 1);
        if (m->kind[j] == CRI_EMIT_JOINT) sum += k;
    }
    return sum + (m->covariance_is == 2 ? 1 : k) * g * (g + 1) / 2;
}

bool cri_hmm_are_few(const cri_hmm *m) { return (double)m->data->T < 5 * cri_hmm_parameters(m); }

/* --- maximisation ---------------------------------------------------------------------------- */

/* p [n] over what is allowed, with a prior of s. */
static void solve_row(const double *count, const double *allowed, size_t n, double s, double *p)
{
    double total = 0, places = 0;
    for (size_t j = 0; j < n; j++) {
        total += allowed[j] > 0 ? count[j] : 0;
        places += allowed[j] > 0;
    }
    if (!(total + s > 0)) return;
    for (size_t j = 0; j < n; j++)
        p[j] = allowed[j] > 0 ? (count[j] + s / places) / (total + s) : 0;
}

/* All rows, with the same prior, under their ties: with it every count is above 0. */
static void solve_tied(cri_hmm *m, double *pairs, double *work)
{
    size_t k = m->k;
    for (size_t i = 0; i < k; i++) {
        double places = 0;
        for (size_t j = 0; j < k; j++) places += m->may_go[i * k + j] > 0;
        for (size_t j = 0; j < k; j++) pairs[i * k + j] += m->prior_transitions / places;
    }
    cri_hmm_solve_ties(m, pairs, m->A, work);
}

static void solve_levels(cri_hmm *m, size_t j, const double *levels)
{
    size_t k = m->k, n = cri_hmm_levels(m, j), first = m->first[j];
    for (size_t c = 0; c < k; c++) {
        double total = 0, s = m->prior_rows;
        for (size_t l = first; l < first + n; l++) total += levels[l * k + c];
        if (!(total + s > 0)) continue;
        for (size_t l = first; l < first + n; l++)
            m->level[l * k + c] = (levels[l * k + c] + s * m->overall_level[l]) / (total + s);
    }
}

cr_status cri_hmm_solve(cr_ctx *cx, const void *options, const double *sums, void *state)
{
    cr_status    st = CR_OK;
    cr_scratch   room = cr_scratch_begin(cx);
    cri_hmm     *m = state;
    size_t       k = m->k, width = cri_hmm_width(m);
    double      *work = cr_scratch_f64(&room, cri_hmm_own_work(m));
    double      *copy = cr_scratch_f64(&room, width);
    double      *ties = cr_scratch_f64(&room, cri_hmm_ties_work(m));
    cri_hmm_sums s;

    (void)options;
    CR_TRY(room.status);
    memcpy(copy, sums, width * sizeof *copy);
    s = cri_hmm_sums_at(m, copy);
    if (cri_hmm_is_vb(m)) {
        cri_hmm_vb_solve(m, copy, work);
        m->lost = !cri_hmm_prepare(m, work);
        goto done;
    }
    solve_row(s.begins, m->may_begin, k, m->prior_transitions, m->pi);
    for (size_t i = 0; i < k && m->ties == 0; i++)
        solve_row(s.pairs + i * k, m->may_go + i * k, k, m->prior_transitions, m->A + i * k);
    if (m->ties > 0) solve_tied(m, s.pairs, ties);
    cri_hmm_solve_leave(m, &s);
    for (size_t j = 0; j < m->p; j++) {
        const cri_emission *e = cri_emission_of(m->kind[j]);
        cri_emitted         here = cri_hmm_emitted(m, j, work);
        if (m->kind[j] == CRI_EMIT_CATEGORY) solve_levels(m, j, s.levels);
        for (size_t c = 0; c < k && e; c++)
            e->solve(&here, c, m->prior_rows, cri_hmm_sums_of(m, &s, j) + c);
    }
    if (m->g > 0) {
        cri_joint joint = cri_hmm_joint(m, NULL, work);
        m->lost = !cri_joint_solve(&joint, m->prior_rows, s.joint);
    }
    if (!m->lost) m->lost = !cri_hmm_prepare(m, work);
done:
    cr_scratch_end(&room);
    return st;
}

static double log_prior_of_row(const double *p, const double *allowed, size_t n, double s)
{
    double sum = 0, places = 0;
    for (size_t j = 0; j < n; j++) {
        places += allowed[j] > 0;
        if (allowed[j] > 0) sum += log(p[j]);
    }
    return s * sum / places;
}

double cri_hmm_log_prior(const void *state)
{
    const cri_hmm *m = state;
    double         sum = 0, s = m->prior_transitions;
    size_t         k = m->k;
    if (m->fixed) return 0; /* what is given needs none */
    if (cri_hmm_is_vb(m)) return cri_hmm_vb_log_prior(m);
    if (s > 0) {
        sum += log_prior_of_row(m->pi, m->may_begin, k, s);
        for (size_t i = 0; i < k; i++)
            sum += log_prior_of_row(m->A + i * k, m->may_go + i * k, k, s);
        sum += cri_hmm_leave_log_prior(m);
    }
    s = m->prior_rows;
    if (!(s > 0)) return sum;
    for (size_t j = 0; j < m->p; j++) {
        const cri_emission *e = cri_emission_of(m->kind[j]);
        cri_emitted         here = cri_hmm_emitted(m, j, NULL);
        for (size_t c = 0; c < k && e; c++) sum += s * e->log_prior(&here, c);
    }
    for (size_t l = 0; l < m->L; l++)
        for (size_t c = 0; c < k; c++) sum += s * m->overall_level[l] * m->log_level[l * k + c];
    cri_joint joint = cri_hmm_joint(m, NULL, NULL);
    return m->g > 0 ? sum + s * cri_joint_log_prior(&joint) : sum;
}

/* --- the order of states --------------------------------------------------------------------- */

/* The first column whose means order the states; p where there is none. */
static size_t ordering_column(const cri_hmm *m)
{
    size_t j = 0;
    while (j < m->p && (m->kind[j] == CRI_EMIT_CATEGORY || m->kind[j] == CRI_EMIT_VON_MISES ||
                        m->kind[j] == CRI_EMIT_COVARIATE))
        j++;
    return j;
}

static bool comes_before(const cri_hmm *m, size_t a, size_t b)
{
    size_t j = ordering_column(m);
    double gap = j < m->p ? m->mean[j * m->k + b] - m->mean[j * m->k + a] : 0;
    if (fabs(gap) > 1e-9) return gap > 0;
    gap = m->share[a] - m->share[b];
    if (fabs(gap) > 1e-9) return gap > 0;
    for (size_t l = 0; l < m->L; l++) {
        gap = m->level[l * m->k + a] - m->level[l * m->k + b];
        if (fabs(gap) > 1e-9) return gap > 0;
    }
    return a < b;
}

/* Columns of x [rows x k] in another order. */
static void permute(double *x, size_t rows, size_t k, const size_t *order, double *copy)
{
    for (size_t r = 0; r < rows; r++, x += k) {
        memcpy(copy, x, k * sizeof *x);
        for (size_t c = 0; c < k; c++) x[c] = copy[order[c]];
    }
}

/* Rows and columns of x [k x k]. */
static void permute_both(double *x, size_t k, const size_t *order, double *copy)
{
    memcpy(copy, x, k * k * sizeof *x);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) x[i * k + j] = copy[order[i] * k + order[j]];
}

void cri_hmm_order_parts(cri_hmm *m)
{
    for (size_t j = 0; j < m->p; j++) {
        cri_emitted e = cri_hmm_emitted(m, j, NULL);
        for (size_t c = 0; c < m->k && m->kind[j] == CRI_EMIT_MIXTURE; c++)
            cri_emit_order_parts(&e, c);
    }
}

cr_status cri_hmm_order(cr_ctx *cx, cri_hmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->k, *order = cr_scratch_index(&s, k);
    double    *copy = cr_scratch_matrix(&s, k, k);
    double    *work = cr_scratch_f64(&s, cri_hmm_own_work(m));
    CR_TRY(s.status);
    for (size_t c = 0; c < k; c++) {
        size_t at = c;
        for (; at > 0 && comes_before(m, c, order[at - 1]); at--) order[at] = order[at - 1];
        order[at] = c;
    }
    permute(m->pi, 1, k, order, copy);
    permute(m->may_begin, 1, k, order, copy);
    permute(m->share, 1, k, order, copy);
    permute_both(m->A, k, order, copy);
    permute_both(m->may_go, k, order, copy);
    permute(m->leave, m->stages, k, order, copy);
    permute(m->mean, m->p, k, order, copy);
    permute(m->spread, m->p, k, order, copy);
    permute(m->tail, m->p, k, order, copy);
    permute(m->level, m->L, k, order, copy);
    permute(m->coef, m->pq, k, order, copy);
    permute(m->part_weight, m->parts, k, order, copy);
    permute(m->part_mean, m->parts, k, order, copy);
    permute(m->part_sd, m->parts, k, order, copy);
    permute(m->covariance, m->gg, k, order, copy);
    if (cri_hmm_is_vb(m)) permute(m->leaving, 1, k, order, copy);
    if (cri_hmm_is_vb(m)) permute(m->seen, m->p, k, order, copy);
    if (m->statistics > 0) {
        cri_hmm_sums sums = cri_hmm_sums_at(m, m->sums);
        permute(sums.begins, 1, k, order, copy);
        permute_both(sums.pairs, k, order, copy);
        permute(sums.rows, (m->statistics - 1) / k - 1 - k, k, order, copy);
    }
    cri_hmm_prepare(m, work);
done:
    cr_scratch_end(&s);
    return st;
}
