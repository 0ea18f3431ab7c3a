/* hmm_start.c -- starts of EM for a hidden Markov model.
 * Of some of the steps k are drawn, each the likelier the further it is from those before it (k-means++: Arthur &
 * Vassilvitskii 2007, SODA), and each is where a state begins; levels of categories are those of all rows, multiplied by
 * random factors.  Transitions are drawn: rows of A uniformly, and in every other start towards staying.
 * Every third start takes states as stretches of time instead: sequences are cut at random places, each piece has a
 * random state, and the parameters are those that are best for these. */
#include "hmm_plan.h"
#include "hmm_duration.h"
#include "hmm_ties.h"
#include "base/scratch.h"
#include "base/number.h"
#include "models/common/column_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLED = 1024 };

/* --- which transitions are possible ---------------------------------------------------------- */

static cr_status fail_topology(cr_ctx *cx, const char *text)
{
    cr_fail(cx, CR_EARG, "--topology: '%s' is not understood", text);
    return cr_fail_hint(cx, "full, left-right, or banded:2");
}

static cr_status read_topology(cr_ctx *cx, const char *text, cri_hmm *m)
{
    size_t k = m->k;
    double width = INFINITY;
    bool   forward = strcmp(text, "left-right") == 0;
    if (strncmp(text, "banded:", 7) == 0) {
        if (!cri_text_number(text + 7, &width) || width != floor(width) || width < 0)
            return fail_topology(cx, text);
    } else if (!forward && strcmp(text, "full") != 0) {
        return fail_topology(cx, text);
    }
    for (size_t i = 0; i < k; i++) {
        m->may_begin[i] = !forward || i == 0;
        for (size_t j = 0; j < k; j++) {
            double away = fabs((double)i - (double)j);
            m->may_go[i * k + j] = away <= width && (!forward || j >= i);
        }
    }
    return CR_OK;
}

/* Probabilities drawn uniformly over what is allowed, `stay` of it to state `self`. */
static void draw_shares(const double *allowed, size_t k, size_t self, double stay, cr_rng *r,
                        double *out)
{
    double sum = 0;
    for (size_t j = 0; j < k; j++) {
        double e = cr_rng_exponential(r);
        out[j] = allowed[j] > 0 ? e : 0;
        sum += out[j];
    }
    bool can_stay = self < k && allowed[self] > 0;
    for (size_t j = 0; j < k; j++) out[j] *= (can_stay ? 1 - stay : 1) / sum;
    if (can_stay) out[self] += stay;
}

static void draw_transitions(size_t attempt, cr_rng *r, cri_hmm *m)
{
    size_t k = m->k;
    double stay = attempt % 2 == 0 ? 0.5 + 0.45 * cr_rng_uniform(r) : 0, places = 0;
    for (size_t i = 0; i < k; i++) places += m->may_begin[i] > 0;
    for (size_t i = 0; i < k; i++) {
        m->pi[i] = m->may_begin[i] > 0 ? 1 / places : 0;
        draw_shares(m->may_go + i * k, k, i, stay, r, m->A + i * k);
    }
}

/* --- emissions ------------------------------------------------------------------------------- */

/* How far two cells of a column are apart, about 1 on average. */
static double cell_distance(const cri_hmm *m, size_t j, double x, double y)
{
    if (m->kind[j] == CRI_EMIT_COVARIATE) return 0;
    if (isnan(x) || isnan(y)) return 0.5;
    switch (m->kind[j]) {
    case CRI_EMIT_CATEGORY:
    case CRI_EMIT_BERNOULLI:
        return x != y;
    case CRI_EMIT_POISSON:
    case CRI_EMIT_NEGATIVE_BINOMIAL:
        return 0.5 * (x - y) * (x - y) / (m->overall[j] + 1);
    case CRI_EMIT_GAMMA:
        return 0.5 * pow(log(x / y), 2);
    case CRI_EMIT_VON_MISES:
        return 1 - cos(x - y);
    default:
        return 0.5 * (x - y) * (x - y);
    }
}

static double step_distance(const cri_hmm *m, const cri_hmm_data *d, size_t s, size_t t)
{
    double sum = 0;
    for (size_t j = 0; j < m->p; j++)
        sum += cell_distance(m, j, d->X[j * d->T + s], d->X[j * d->T + t]);
    return sum;
}

/* A step whose state is known to be c; T where there is none.  By the random number of the state. */
static size_t labelled_step(const cri_hmm_data *d, size_t c, cr_rng *r)
{
    size_t from = (size_t)cr_rng_below(r, d->T);
    for (size_t i = 0; i < d->T && d->label; i++)
        if (d->label[(from + i) % d->T] == (double)c) return (from + i) % d->T;
    return d->T;
}

/* seed [k]: steps that are far apart, of n drawn ones. */
static cr_status draw_seeds(cr_ctx *cx, const cri_hmm *m, cr_rng *r, size_t *step, double *distance,
                            size_t n, size_t *seed)
{
    const cri_hmm_data *d = m->data;
    for (size_t i = 0; i < n; i++) {
        step[i] = n == d->T ? i : (size_t)cr_rng_below(r, d->T);
        distance[i] = 1;
    }
    for (size_t c = 0; c < m->k; c++) {
        cr_status st = cr_check_interrupt(cx);
        if (st != CR_OK) return st;
        double total = 0, left;
        size_t at = 0;
        for (size_t i = 0; i < n; i++) total += distance[i];
        left = total * cr_rng_uniform(r);
        if (total > 0)
            for (at = 0; at + 1 < n && (left -= distance[at]) >= 0;) at++;
        else
            at = (size_t)cr_rng_below(r, n);
        seed[c] = labelled_step(d, c, r);
        if (seed[c] == d->T) seed[c] = step[at];
        for (size_t i = 0; i < n; i++) {
            double away = step_distance(m, d, step[i], seed[c]);
            distance[i] = c == 0 || away < distance[i] ? away : distance[i];
        }
    }
    return CR_OK;
}

/* Levels of state c: those of all rows times random factors, and half the level of the seed. */
static void draw_levels(cri_hmm *m, size_t j, size_t c, double code, cr_rng *r)
{
    size_t n = cri_hmm_levels(m, j), first = m->first[j], k = m->k;
    double sum = 0;
    for (size_t l = 0; l < n; l++) {
        double *p = &m->level[(first + l) * k + c];
        *p = m->overall_level[first + l] * exp(2 * cr_rng_normal(r));
        sum += *p;
    }
    for (size_t l = 0; l < n; l++) m->level[(first + l) * k + c] /= sum;
    if (isnan(code)) return;
    for (size_t l = 0; l < n; l++)
        m->level[(first + l) * k + c] =
            0.75 * m->level[(first + l) * k + c] + (l == (size_t)code ? 0.25 : 0);
}

/* Parts of mixtures are drawn towards any rows. */
static void scatter_parts(cri_hmm *m, size_t j, size_t c, cr_rng *r)
{
    cri_emitted e = cri_hmm_emitted(m, j, NULL);
    for (size_t at = c; at < m->M * m->k; at += m->k) {
        double x = m->data->X[j * m->data->T + (size_t)cr_rng_below(r, m->data->T)];
        if (!isnan(x)) e.part_mean[at] += 0.5 * (x - e.part_mean[at]);
    }
}

static void begin_state(cri_hmm *m, size_t c, size_t step, cr_rng *r)
{
    const cri_hmm_data *d = m->data;
    size_t              k = m->k, g = m->g;
    double              sd = fmax(1 / (double)k, 0.1);
    for (size_t j = 0; j < m->p; j++) {
        double              x = d->X[j * d->T + step];
        const cri_emission *e = cri_emission_of(m->kind[j]);
        cri_emitted         here = cri_hmm_emitted(m, j, NULL);
        if (m->kind[j] == CRI_EMIT_CATEGORY) draw_levels(m, j, c, x, r);
        if (m->kind[j] == CRI_EMIT_JOINT) m->mean[j * k + c] = isnan(x) ? 0 : x;
        if (e) e->begin(&here, c, isnan(x) ? (e->moved ? 0 : fmax(m->overall[j], 0)) : x);
        if (m->kind[j] == CRI_EMIT_MIXTURE) scatter_parts(m, j, c, r);
    }
    for (size_t a = 0; a < g; a++)
        for (size_t b = 0; b < g; b++) m->covariance[(a * g + b) * k + c] = a == b ? sd * sd : 0;
}

/* One state: as all rows together. */
static void begin_alone(cri_hmm *m, cr_rng *r)
{
    for (size_t j = 0; j < m->p; j++) {
        const cri_emission *e = cri_emission_of(m->kind[j]);
        cri_emitted         here = cri_hmm_emitted(m, j, NULL);
        if (e) e->begin(&here, 0, e->moved ? 0 : m->overall[j]);
        if (m->kind[j] == CRI_EMIT_MIXTURE) scatter_parts(m, j, 0, r);
        m->mean[j] = e && !e->moved ? m->overall[j] : 0;
    }
    for (size_t l = 0; l < m->L; l++) m->level[l] = m->overall_level[l];
    for (size_t a = 0; a < m->g; a++)
        for (size_t b = 0; b < m->g; b++) m->covariance[a * m->g + b] = a == b;
}

static cr_status begin_states(cr_ctx *cx, cr_rng *r, cri_hmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->data->T < SAMPLED ? m->data->T : SAMPLED;
    size_t    *step = cr_scratch_index(&s, n), *seed = cr_scratch_index(&s, m->k);
    double    *distance = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    CR_TRY(draw_seeds(cx, m, r, step, distance, n, seed));
    for (size_t c = 0; c < m->k; c++) begin_state(m, c, seed[c], r);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- stretches of time ----------------------------------------------------------------------- */

static const double FIRM =
    1; /* rows, and transitions, that such a start is drawn towards all rows by */

/* Draws states step by step, which change with probability `change`, and adds their statistics; gamma [BLOCK x stride]. */
enum { BLOCK = 256 };
static void add_stretches(const cri_hmm_view *v, size_t begin, size_t end, double change, cr_rng *r,
                          double *gamma, double *sums)
{
    size_t       k = v->m->k, stride = cri_chain_stride(k), before = 0, state = cr_rng_below(r, k);
    size_t       lasted = 1;
    cri_hmm_sums s = cri_hmm_sums_at(v->m, sums);
    s.begins[state] += 1;
    for (size_t at = begin; at < end; at += BLOCK) {
        size_t n = end - at < BLOCK ? end - at : BLOCK;
        memset(gamma, 0, n * stride * sizeof *gamma);
        for (size_t i = 0; i < n; i++) {
            before = state;
            if (cr_rng_uniform(r) < change) state = (size_t)cr_rng_below(r, k);
            if (at + i > begin) cri_hmm_count_step(v->m, before, state, &lasted, &s);
            gamma[i * stride + state] = 1;
        }
        cri_hmm_add_known(v, at, n, gamma, sums);
    }
}

static cr_status begin_stretches(cr_ctx *cx, const void *options, cr_rng *r, cri_hmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     width = cri_hmm_width(m);
    double    *sums = cr_scratch_bytes(&s, width, sizeof(double)), rows = m->prior_rows;
    double    *work = cr_scratch_f64(&s, cri_hmm_view_work(m)), transitions = m->prior_transitions;
    double    *gamma = cr_scratch_matrix(&s, BLOCK, cri_chain_stride(m->k));
    double     pieces = (double)m->k * (1 + 3 * cr_rng_uniform(r));
    cri_hmm_view v;

    CR_TRY(s.status);
    cri_hmm_view_open(m, m->data, work, &v);
    for (size_t i = 0; i < m->data->n; i++) {
        if (i % 256 == 0) CR_TRY(cr_check_interrupt(cx));
        add_stretches(&v, m->data->start[i], m->data->start[i + 1],
                      fmin(pieces / (double)m->data->longest, 1), r, gamma, sums);
    }
    m->prior_rows = FIRM, m->prior_transitions = FIRM;
    st = cri_hmm_solve(cx, options, sums, m);
    m->prior_rows = rows, m->prior_transitions = transitions;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- a start --------------------------------------------------------------------------------- */

/* Levels that are given as impossible, but have a prior, begin near it. */
static void soften_levels(cri_hmm *m)
{
    static const double LITTLE = 1e-9;
    for (size_t l = 0; l < m->L && !m->fixed && m->prior_rows > 0; l++)
        for (size_t c = 0; c < m->k; c++) {
            double *p = &m->level[l * m->k + c];
            *p = (1 - LITTLE) * *p + LITTLE * m->overall_level[l];
        }
}

/* Likewise of what is given of durations. */
static void soften_leave(cri_hmm *m)
{
    static const double LITTLE = 1e-9;
    for (size_t i = 0; i < m->k && !m->fixed && m->prior_transitions > 0; i++)
        for (size_t d = 0; d < m->stages && cri_hmm_can_leave(m, i); d++) {
            double *p = &m->leave[d * m->k + i];
            *p = fmin(fmax(*p, LITTLE), 1 - LITTLE);
        }
}

static cr_status check_start(cr_ctx *cx, cri_hmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *work = cr_scratch_f64(&s, cri_hmm_own_work(m));
    CR_TRY(s.status);
    if (!cri_hmm_prepare(m, work))
        CR_TRY(cr_fail(cx, CR_EDATA, "--start: a covariance is not positive definite"));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_hmm_start(cr_ctx *cx, const cri_hmm_plan *a, size_t k, size_t attempt, cr_rng *rng,
                        cri_hmm **out)
{
    cr_status st = CR_OK;
    cri_hmm  *m = NULL;
    size_t    numbers = a->p * sizeof(double);
    CR_TRY(cri_hmm_new(cx,
                       (cri_hmm_shape){ .k = k,
                                        .p = a->p,
                                        .L = a->L,
                                        .g = a->g,
                                        .tried = a->tried,
                                        .sequences = a->data.n,
                                        .q = a->q,
                                        .stages = k > 1 && a->o->duration > 1 ? a->o->duration : 0,
                                        .M = a->M,
                                        .parts = a->M * a->mixtures,
                                        .ties = a->transitions.ties || a->start.ties ? k : 0 },
                       &m));
    memcpy(m->kind, a->kind, a->p * sizeof *a->kind);
    memcpy(m->first, a->first, a->p * sizeof *a->first);
    memcpy(m->centre, a->centre, numbers);
    memcpy(m->scale, a->scale, numbers);
    memcpy(m->overall, a->overall, numbers);
    memcpy(m->overall2, a->overall2, numbers);
    if (a->L) memcpy(m->overall_level, a->overall_level, a->L * sizeof(double));
    if (a->q) memcpy(m->blend, a->blend, a->q * a->q * sizeof(double));
    if (a->q) memcpy(m->slope, a->slope, a->p * a->q * sizeof(double));
    m->covariance_is = a->o->covariance;
    m->prior_rows = a->o->prior_rows;
    m->fixed = a->o->max_iter == 0;
    m->data = &a->data;
    CR_TRY(cri_hmm_place(cx, m));
    CR_TRY(read_topology(cx, a->o->topology, m));
    m->prior_transitions = a->o->prior_transitions;
    if (isnan(m->prior_transitions)) m->prior_transitions = cri_hmm_are_few(m) ? 1 : 1e-4;
    if (k == 1)
        begin_alone(m, rng);
    else
        CR_TRY(begin_states(cx, rng, m));
    draw_transitions(attempt, rng, m);
    cri_hmm_part_durations(m);
    if (k > 1 && attempt % 3 == 2 && !a->data.label) CR_TRY(begin_stretches(cx, a->o, rng, m));
    if (a->transitions.k) CR_TRY(cri_given_apply(cx, &a->transitions, a->design, m));
    if (a->start.k) CR_TRY(cri_given_apply(cx, &a->start, a->design, m));
    if (m->ties > 0) CR_TRY(cri_hmm_ties_settle(cx, m));
    soften_levels(m);
    soften_leave(m);
    m->statistics = cri_hmm_width(m);
    m->sums = cr_alloc(cx, m->statistics, sizeof(double));
    if (!m->sums) CR_TRY(CR_ENOMEM);
    if (a->o->infer == CRI_HMM_INFER_VB) CR_TRY(cri_hmm_vb_begin(cx, a->o->alpha, m));
    CR_TRY(check_start(cx, m));
    *out = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_hmm, m);
    return st;
}
