/* hmm_update.c -- rows that come later: they go on with sequences that are known by name, or begin new ones.
 * On-line EM: the statistics expected of the old rows were kept with the fit, and those of the new rows are added to
 * them; E-steps see the new rows alone, M-steps the sum,
 *   theta <- solve(old statistics + E[statistics of new rows | theta]),
 * until the log likelihood of the new rows stays. So the old rows count as they did when the fit ended, or their update
 * did: near a fit to all rows, not equal to it. A sequence that goes on begins with the filtered probabilities of its
 * last row. Nothing is searched for: the states stay in number and order.
 * Neal & Hinton (1998), A view of the EM algorithm that justifies incremental, sparse, and other variants. */
#include "hmm.h"
#include "base/context_internal.h"
#include "base/hash.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

/* --- sequences ------------------------------------------------------------------------------- */

/* Where a name is, or would be; slots [size]: 0, or 1 + the number of a known one. */
static size_t find_slot(const char *const *known, const size_t *slots, size_t size,
                        const char *name)
{
    size_t slot = cri_hash_text(name, strlen(name)) % size;
    while (slots[slot] && strcmp(known[slots[slot] - 1], name) != 0) slot = (slot + 1) % size;
    return slot;
}

/* The number of each sequence among all, at [n]; those from m->sequences on are new. */
static cr_status match_sequences(cr_ctx *cx, const cri_hmm *m, const cri_sequences *q, size_t *at,
                                 size_t *out_sequences)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const char *const *known = m->known.name;
    size_t             size = 2 * m->sequences + 1, next = m->sequences, slot;
    size_t            *slots = cr_scratch_index(&s, size);
    CR_TRY(s.status);
    *out_sequences = m->sequences;
    if (!q->names && m->sequences == 1) {
        at[0] = 0;
        goto done;
    }
    if (!q->names || !known) {
        cr_fail(cx, CR_EUNSUPPORTED, "hmm: the model does not know the names of its sequences");
        CR_TRY(cr_fail_hint(cx, "fit it again to all the rows"));
    }
    memset(slots, 0, size * sizeof *slots);
    for (size_t i = 0; i < m->sequences; i++) {
        slot = find_slot(known, slots, size, known[i]);
        if (!slots[slot]) slots[slot] = i + 1;
    }
    for (size_t i = 0; i < q->n; i++) {
        slot = find_slot(known, slots, size, q->names[i]);
        at[i] = slots[slot] ? slots[slot] - 1 : next++;
        if (!slots[slot] && strchr(q->names[i], '\n'))
            CR_TRY(cr_fail(cx, CR_EDATA, "the label of sequence %zu has a line feed in it", i + 1));
    }
    *out_sequences = next;
done:
    cr_scratch_end(&s);
    return st;
}

/* The names of those from `from` on behind those of the others. */
static cr_status join_labels(cr_ctx *cx, const cri_sequences *q, const size_t *at, size_t from,
                             cri_hmm *m)
{
    size_t old = m->labels ? strlen(m->labels) : 0, size = old + 1;
    for (size_t i = 0; q->names && i < q->n; i++)
        size += at[i] >= from ? strlen(q->names[i]) + 1 : 0;
    if (size == old + 1) return CR_OK;
    char *text = cr_alloc(cx, size, 1), *to = text + old;
    if (!text) return CR_ENOMEM;
    memcpy(text, m->labels, old);
    for (size_t i = 0; i < q->n; i++) { /* the new ones are numbered in their order */
        if (at[i] < from) continue;
        size_t length = strlen(q->names[i]);
        memcpy(to, q->names[i], length);
        to[length] = '\n';
        to += length + 1;
    }
    cri_string_free(cx, m->labels);
    m->labels = text;
    return CR_OK;
}

/* --- statistics ------------------------------------------------------------------------------ */

/* What log u was taken to be at these degrees of freedom, beside what the sums have. */
static double log_weight(double dof) { return cr_digamma((dof + 1) / 2) - log((dof + 1) / 2); }

/* Moments of rows about a mean, to those about one a step higher. */
static void move_moments(double rows, double step, double *first, double *second)
{
    *second += step * (step * rows - 2 * *first);
    *first -= step * rows;
}

/* Of a regressed column: r becomes r - step . (1, u). */
static void move_line(const cri_hmm *from, const cri_hmm *m, size_t j, double *sums)
{
    size_t k = m->k, q = m->q;
    for (size_t c = 0; c < k; c++) {
        double *n = sums + c, *u = n + 3 * k, *cross = u + q * k, *squares = cross + q * k;
        double  mean = m->mean[j * k + c] - from->mean[j * k + c], fall = 0;
        for (size_t l = 0; l < q; l++) { /* of r^2, with the cross-products of before and after */
            double b = m->coef[(j * q + l) * k + c] - from->coef[(j * q + l) * k + c];
            fall += b * cross[l * k];
            cross[l * k] -= mean * u[l * k];
            for (size_t h = 0; h < q; h++) {
                size_t at = l >= h ? l * (l + 1) / 2 + h : h * (h + 1) / 2 + l;
                double of = m->coef[(j * q + h) * k + c] - from->coef[(j * q + h) * k + c];
                cross[l * k] -= of * squares[at * k];
            }
            fall += b * cross[l * k];
        }
        fall += mean * n[k];
        n[k] -= mean * n[0];
        for (size_t l = 0; l < q; l++)
            n[k] -= (m->coef[(j * q + l) * k + c] - from->coef[(j * q + l) * k + c]) * u[l * k];
        n[2 * k] -= fall + mean * n[k];
    }
}

/* Of the parts of a mixture. */
static void move_parts(const cri_hmm *from, const cri_hmm *m, size_t j, double *sums)
{
    size_t      all = m->M * m->k;
    cri_emitted old = cri_hmm_emitted(from, j, NULL), now = cri_hmm_emitted(m, j, NULL);
    for (size_t at = 0; at < all; at++)
        move_moments(sums[at], now.part_mean[at] - old.part_mean[at], &sums[all + at],
                     &sums[2 * all + at]);
}

/* Of a column with moments about the means of `from`, to those about the means of m. */
static void move_column(const cri_hmm *from, const cri_hmm *m, size_t j, double *sums)
{
    size_t k = m->k;
    bool   student = m->kind[j] == CRI_EMIT_STUDENT;
    for (size_t c = 0; c < k; c++) {
        size_t  at = j * k + c;
        double  step = m->mean[at] - from->mean[at];
        double *weight = sums + c + (student ? k : 0), *first = weight + k, *second = first + k;
        move_moments(*weight, step, first, second);
        if (student)
            sums[4 * k + c] += sums[c] * (log_weight(from->tail[at]) - log_weight(m->tail[at]));
    }
}

/* step [g] */
static void move_joint(const cri_hmm *from, const cri_hmm *m, double *sums, double *step)
{
    size_t  k = m->k, g = m->g;
    double *first = sums + k, *second = first + g * k;
    for (size_t c = 0; c < k; c++) {
        for (size_t a = 0; a < g; a++)
            step[a] = m->mean[m->joint[a] * k + c] - from->mean[m->joint[a] * k + c];
        for (size_t a = 0; a < g; a++)
            for (size_t b = 0; b <= a; b++)
                second[(a * g + b) * k + c] += step[a] * step[b] * sums[c] -
                                               step[a] * first[b * k + c] -
                                               step[b] * first[a * k + c];
        for (size_t a = 0; a < g; a++) first[a * k + c] -= step[a] * sums[c];
    }
}

/* total = the statistics of the old rows, as those of m, and of the new ones; step [g]. */
static void add_up(const cri_hmm *old, const cri_hmm *m, const double *fresh, double *step,
                   double *total)
{
    memcpy(total, old->sums, m->statistics * sizeof *total);
    cri_hmm_sums s = cri_hmm_sums_at(m, total);
    for (size_t j = 0; j < m->p; j++) {
        const cri_emission *e = cri_emission_of(m->kind[j]);
        double             *sums = cri_hmm_sums_of(m, &s, j);
        if (m->kind[j] == CRI_EMIT_REGRESSED)
            move_line(old, m, j, sums);
        else if (m->kind[j] == CRI_EMIT_MIXTURE)
            move_parts(old, m, j, sums);
        else if (e && e->moved)
            move_column(old, m, j, sums);
    }
    if (m->g > 0) move_joint(old, m, s.joint, step);
    for (size_t i = 0; i < m->statistics; i++) total[i] += fresh[i];
}

/* --- steps ----------------------------------------------------------------------------------- */

typedef struct expecting {
    const cri_hmm       *m;
    const double *const *before; /* [sequences of the data] NULL where one begins */
} expecting;

static void expect(void *arg, cri_range range, double *sums, double *work)
{
    const expecting *a = arg;
    cri_hmm_expect(a->m, range, a->before, sums, work);
}

static cr_status note_pass(cr_ctx *cx, double log_p, cri_em_outcome *o)
{
    if (log_p == -INFINITY) {
        cr_fail(cx, CR_EDATA, "hmm: the new rows have probability 0 under the model");
        return cr_fail_hint(cx, "fit it again to all the rows; --prior-rows and "
                                "--prior-transitions above 0 leave nothing impossible");
    }
    if (!isfinite(log_p))
        return cr_fail(cx, CR_ENUMERIC,
                       "hmm: the likelihood of the new rows is not finite after %zu steps",
                       o->iterations);
    double *trace = cr_resize(cx, o->trace, o->iterations, o->iterations + 1, sizeof *trace);
    if (!trace) return CR_ENOMEM;
    o->trace = trace;
    trace[o->iterations++] = o->objective = log_p;
    return CR_OK;
}

/* From the parameters of the old rows to those of all; m->sums become those of all. */
static cr_status go_on(cr_ctx *cx, const cri_hmm *old, const cri_hmm_options *o,
                       const double *const *before, cri_hmm *m, cr_stop *out_stop)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          width = m->statistics, n = m->data->n;
    cri_em_outcome *em = &m->em;
    expecting       of = { m, before };
    double          left = cri_time_left(cx), reserve = isinf(left) ? 0 : fmin(left / 4, 2);
    double         *fresh = cr_scratch_f64(&s, width), *step = cr_scratch_f64(&s, m->g), last = NAN;

    CR_TRY(s.status);
    CR_TRY(cri_blas_reserve(cx));
    cr_free(cx, em->trace, em->iterations, sizeof *em->trace);
    *em = (cri_em_outcome){ .restarts = 1, .restarts_agreed = 1 };
    for (;; last = fresh[0]) {
        CR_TRY(cri_parallel_sum_in(cx, NULL, n, cri_sequences_together(n), width, cri_hmm_work(m),
                                   expect, &of, fresh));
        CR_TRY(note_pass(cx, fresh[0], em));
        em->converged = o->max_iter == 0 || fabs(fresh[0] - last) <= o->tol * (double)m->data->T;
        bool late = cri_time_left(cx) < reserve;
        *out_stop = o->max_iter == 0 ? CR_STOP_CLOSED_FORM
                    : em->converged  ? CR_STOP_TOLERANCE
                    : late           ? CR_STOP_TIME
                                     : CR_STOP_LIMIT;
        add_up(old, m, fresh, step, m->sums);
        if (em->converged || late || em->iterations >= o->max_iter) break;
        CR_TRY(cri_hmm_solve(cx, o, m->sums, m));
        if (m->lost) {
            cr_fail(cx, CR_ENUMERIC, "hmm: with these rows a covariance has no inverse");
            CR_TRY(cr_fail_hint(cx, "fit it again to all the rows"));
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the new state --------------------------------------------------------------------------- */

/* A copy with the sequences that there are now, and no standard errors: those were of the old rows. */
static cr_status copy_state(cr_ctx *cx, const cri_hmm *old, const cri_sequences *q,
                            const size_t *at, size_t sequences, cri_hmm **out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_hmm   *m = cr_alloc(cx, 1, sizeof *m);
    double    *work = cr_scratch_f64(&s, cri_hmm_own_work(old)), *ends;
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    CR_TRY(cri_record_copy(cx, cri_hmm_record, old, m));
    CR_TRY(cri_record_allocate(cx, cri_hmm_record, m)); /* what is made */
    CR_TRY(cri_hmm_place(cx, m));
    if (!cri_hmm_prepare(m, work)) CR_TRY(CR_EDATA);
    if (cri_hmm_is_vb(m)) CR_TRY(cri_hmm_vb_open(cx, m));
    ends = cr_resize(cx, m->ends, m->sequences * m->place, sequences * m->place, sizeof *ends);
    if (!ends) CR_TRY(CR_ENOMEM);
    memset(ends + m->sequences * m->place, 0, (sequences - m->sequences) * m->place * sizeof *ends);
    m->ends = ends, m->sequences = sequences;
    CR_TRY(join_labels(cx, q, at, old->sequences, m));
    cr_free(cx, m->error, m->errors, sizeof *m->error);
    m->error = NULL, m->errors = 0;
    *out = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_hmm, m);
    cr_scratch_end(&s);
    return st;
}

/* The numbers of states that were tried were so on the old rows alone. */
static cr_status forget_candidates(cr_ctx *cx, cri_hmm *m)
{
    double **arrays[] = { &m->tried_k, &m->tried_likelihood, &m->tried_parameters }, *one[3];
    bool     there = true;
    for (size_t i = 0; i < 3; i++) there &= (one[i] = cr_alloc(cx, 1, sizeof **one)) != NULL;
    for (size_t i = 0; i < 3; i++) {
        cr_free(cx, there ? *arrays[i] : one[i], there ? m->tried : 1, sizeof **one);
        if (there) *arrays[i] = one[i];
    }
    if (!there) return CR_ENOMEM;
    m->tried = 1;
    m->tried_k[0] = (double)m->k;
    m->tried_likelihood[0] = cri_hmm_is_vb(m) ? m->bound : m->log_likelihood;
    m->tried_parameters[0] = cri_hmm_parameters(m);
    m->rejected = 0, m->best_rejected = NAN;
    return CR_OK;
}

/* The bound on the evidence of all rows: paths of the old rows stay as they were, and what they say of the parameters is
 * weighed by the posterior of now,
 *   log of what paths were normalised by, old and new, + E_now log p(old rows and paths) - E_then the same - divergence. */
static cr_status find_bound(cr_ctx *cx, const cri_hmm *old, cri_hmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *none = cr_scratch_bytes(&s, m->statistics, sizeof *none);
    double    *then = cr_scratch_f64(&s, m->statistics), *now = cr_scratch_f64(&s, m->statistics);
    double    *step = cr_scratch_f64(&s, m->g);
    CR_TRY(s.status);
    memcpy(then, old->sums, m->statistics * sizeof *then);
    add_up(old, m, none, step, now);
    double before = old->bound != 0 ? old->bound : old->em.objective;
    m->bound = before - cri_hmm_vb_log_prior(old) + m->em.objective + cri_hmm_vb_log_prior(m) +
               cri_hmm_vb_log_of_sums(m, now) - cri_hmm_vb_log_of_sums(old, then);
done:
    cr_scratch_end(&s);
    return st;
}

/* The states were looked for in the rows of the fit.  Said whenever there are twice as many rows as when it was said. */
static void warn_of_few(cr_ctx *cx, const cri_hmm *old, const cri_hmm *m)
{
    double then = old->weight / m->searched, now = m->weight / m->searched;
    if (now < 2 || floor(log2(now)) == floor(log2(then)) || m->fixed) return;
    cr_log(
        cx, CR_LOG_WARNING,
        "the states were found from %.0f rows, and %.0f are known now: an update keeps what they "
        "are, and a fit to all rows may find better ones",
        m->searched, m->weight);
}

/* What is said of all rows. */
static cr_status close_update(cr_ctx *cx, const cri_hmm *old, cri_hmm *m)
{
    cr_status     st = CR_OK;
    const double *rows = m->sums + 1 + m->k + m->k * m->k;
    m->weight = old->weight + (double)m->data->T;
    m->log_likelihood = old->log_likelihood + m->em.objective;
    m->searched = old->searched > 0 ? old->searched : old->weight;
    for (size_t c = 0; c < m->k; c++) m->share[c] = rows[c] / m->weight;
    if (cri_hmm_is_vb(m)) CR_TRY(find_bound(cx, old, m));
    warn_of_few(cx, old, m);
    CR_TRY(forget_candidates(cx, m));
    if (cri_hmm_is_vb(m)) CR_TRY(cri_hmm_vb_set_predictive(cx, m));
    CR_TRY(cri_hmm_name(cx, m));
done:
    return st;
}

/* places [sequences of the data]: where those that go on stand in the state, before these rows, and after them. */
static void copy_places(const size_t *at, cri_hmm *m, bool back, double *places)
{
    for (size_t i = 0; i < m->data->n; i++) {
        double *end = m->ends + at[i] * m->place, *place = places + i * m->place;
        memcpy(back ? end : place, back ? place : end, m->place * sizeof *place);
    }
}

cr_status cri_hmm_update(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                         void **out_state, cr_report *report)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_hmm *old = state;
    cri_hmm       *m = NULL;
    cri_hmm_data   data = { 0 };
    size_t         n = rows->sequences->n, sequences, *at = cr_scratch_index(&s, n);
    double        *places = cr_scratch_f64(&s, n * old->place);
    const double **before = cr_scratch_bytes(&s, n, sizeof *before);

    CR_TRY(s.status);
    if (rows->w) CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "the model hmm knows no weights"));
    if (old->statistics == 0) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "hmm: this model was stored without the statistics of its "
                "rows, which an update adds to");
        CR_TRY(cr_fail_hint(cx, "fit it again to all the rows"));
    }
    CR_TRY(match_sequences(cx, old, rows->sequences, at, &sequences));
    CR_TRY(cri_hmm_open_rows(cx, old, rows, &data));
    CR_TRY(copy_state(cx, old, rows->sequences, at, sequences, &m));
    m->data = &data;
    copy_places(at, m, false, places);
    for (size_t i = 0; i < n; i++)
        before[i] = places[i * m->place] > 0 ? places + i * m->place + 1 : NULL;
    CR_TRY(go_on(cx, old, options, before, m, &report->stop));
    CR_TRY(close_update(cx, old, m));
    CR_TRY(cri_hmm_follow(cx, m, &data, places));
    copy_places(at, m, true, places);
    report->iterations = m->em.iterations;
    report->log_likelihood = m->log_likelihood;
    report->log_evidence = cri_hmm_is_vb(m) ? m->bound : NAN;
    report->evidence = cri_hmm_is_vb(m) ? CR_EVIDENCE_BOUND : report->evidence;
    m->data = NULL;
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_hmm, m);
    cri_hmm_data_close(cx, &data);
    cr_scratch_end(&s);
    return st;
}
