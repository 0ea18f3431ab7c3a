/* hmm_step.c -- the E-step: densities of steps in each state, and the statistics expected under the posterior of the
 * states.  O(T k (k + p + levels read)) for columns by themselves. */
#include "hmm.h"
#include "hmm_duration.h"
#include "math/dense/blas_internal.h"

#include <math.h>
#include <string.h>

/* --- memory ---------------------------------------------------------------------------------- */

size_t cri_hmm_own_work(const cri_hmm *m)
{
    size_t one = CRI_EMIT_WORK * cri_chain_stride(m->k), all = cri_joint_work(m->k, m->g);
    return (one > all ? one : all) + cri_emit_regress_work(m->q) + m->M * (m->k + 1);
}

size_t cri_hmm_view_work(const cri_hmm *m)
{
    size_t nodes = cri_hmm_nodes(m), s = cri_chain_stride(nodes);
    size_t table = m->L > 0 && m->stages == 0 ? m->L * (s + 1) : 0;
    size_t stages = nodes + m->k + CRI_HMM_FOLDED * cri_chain_stride(m->k);
    return cri_hmm_own_work(m) + (m->stages > 0 ? stages : 2 * s * s) + s + m->g + 1 + table;
}

static const double **place_columns(const cri_hmm *m, const cri_hmm_data *data, double *at)
{
    const double **columns = (const double **)(void *)at;
    _Static_assert(sizeof(double *) <= sizeof(double), "pointers stand among the numbers");
    for (size_t a = 0; a < m->g; a++) columns[a] = data->X + m->joint[a] * data->T;
    return columns;
}

/* --- densities ------------------------------------------------------------------------------- */

static void score_category(const cri_hmm *m, size_t j, const double *code, size_t n, double *out)
{
    size_t        k = m->k, stride = cri_chain_stride(k);
    const double *log_level = m->log_level + m->first[j] * k;
    for (size_t i = 0; i < n; i++) {
        if (isnan(code[i])) continue;
        const double *l = log_level + (size_t)code[i] * k;
        for (size_t c = 0; c < k; c++) out[i * stride + c] += l[c];
    }
}

/* States that are known: no other can have emitted the step. */
static void apply_labels(const cri_hmm_view *v, size_t begin, size_t end, double *out)
{
    size_t k = v->m->k, stride = cri_chain_stride(k);
    for (size_t t = begin; t < end && v->data->label; t++) {
        double z = v->data->label[t];
        for (size_t c = 0; c < k && !isnan(z); c++)
            if ((double)c != z) out[(t - begin) * stride + c] = -INFINITY;
    }
}

/* Column j, at the steps from `begin`. */
static cri_emitted emitted_from(const cri_hmm_view *v, size_t j, size_t begin)
{
    cri_emitted e = cri_hmm_emitted(v->m, j, v->work);
    e.u = e.q > 0 ? v->data->U + begin * e.q : NULL;
    return e;
}

static void emit(const void *of, size_t begin, size_t end, double *out)
{
    const cri_hmm_view *v = of;
    const cri_hmm      *m = v->m;
    size_t              n = end - begin, stride = cri_chain_stride(m->k);
    for (size_t t = 0; t < n; t++)
        for (size_t c = 0; c < stride; c++) out[t * stride + c] = v->data->shared[begin + t];
    for (size_t j = 0; j < m->p; j++) {
        const double       *x = v->data->X + j * v->data->T + begin;
        const cri_emission *e = cri_emission_of(m->kind[j]);
        if (m->kind[j] == CRI_EMIT_CATEGORY) score_category(m, j, x, n, out);
        if (!e) continue;
        cri_emitted here = emitted_from(v, j, begin);
        e->score(&here, x, n, out);
    }
    if (m->g > 0) {
        cri_joint joint = cri_hmm_joint(m, v->columns, v->work);
        cri_joint_score(&joint, begin, end, out);
    }
    if (v->opt_shift) cri_hmm_vb_shift(v, begin, end, out);
    apply_labels(v, begin, end, out);
    cri_hmm_spread(m, n, out);
}

/* One category and no known states: densities are looked up. */
static void make_table(const cri_hmm *m, double *table, cri_hmm_view *v)
{
    size_t  k = m->k, s = v->chain.stride;
    double *top = table + m->L * s;
    for (size_t l = 0; l < m->L; l++) {
        double most = 0;
        for (size_t c = 0; c < k; c++) most = fmax(most, m->level[l * k + c]);
        top[l] = log(most);
        for (size_t c = 0; c < s; c++)
            table[l * s + c] = c < k && most > 0 ? m->level[l * k + c] / most : 0;
    }
    v->chain.symbol = v->data->X;
    v->chain.table = table, v->chain.table_top = top;
    v->chain.log_table = m->log_level, v->chain.log_stride = k;
}

/* Transitions: A and its transpose, or of states that last their stages; to the end of the work. */
static void open_transitions(const cri_hmm *m, double *work, cri_hmm_view *v)
{
    size_t s = v->chain.stride, nodes = v->chain.k;
    if (m->stages == 0) {
        double *A = work, *At = A + s * s;
        cri_chain_pad(m->A, m->k, false, 0, A);
        cri_chain_pad(m->A, m->k, true, 0, At);
        v->chain.A = A, v->chain.At = At;
        return;
    }
    double *stay = work, *onward = stay + nodes;
    for (size_t a = 0; a < nodes; a++) stay[a] = 1 - m->leave[a];
    v->folded = onward + m->k;
    v->stages = (cri_chain_stages){
        .k = m->k, .D = m->stages, .leave = m->leave, .stay = stay, .A = m->A, .work = onward
    };
    v->chain.stages = &v->stages;
}

void cri_hmm_view_open(const cri_hmm *m, const cri_hmm_data *data, double *work, cri_hmm_view *out)
{
    size_t  nodes = cri_hmm_nodes(m), s = cri_chain_stride(nodes);
    double *pi = work + cri_hmm_own_work(m), *rest = pi + s + m->g + 1;
    bool    symbols = m->p == 1 && m->kind[0] == CRI_EMIT_CATEGORY && !data->label;
    memset(pi, 0, s * sizeof *pi);
    memcpy(pi, m->pi, m->k * sizeof *pi);
    *out = (cri_hmm_view){ .m = m,
                           .data = data,
                           .work = work,
                           .columns = place_columns(m, data, pi + s),
                           .chain = { .k = nodes, .stride = s, .pi = pi } };
    out->chain.emit = emit;
    out->chain.of = out;
    open_transitions(m, rest, out);
    if (symbols && m->stages == 0) make_table(m, rest + 2 * s * s, out);
}

/* --- statistics ------------------------------------------------------------------------------ */

cri_hmm_sums cri_hmm_sums_at(const cri_hmm *m, double *sums)
{
    size_t       k = m->k;
    cri_hmm_sums s = { .begins = sums + 1 };
    s.pairs = s.begins + k;
    s.rows = s.pairs + k * k;
    s.columns = s.rows + k;
    s.levels = s.columns + m->p * CRI_EMIT_SUMS * k;
    s.joint = s.levels + m->L * k;
    s.regressed = s.joint + cri_joint_width(k, m->g);
    s.mixed = s.regressed + m->p * cri_emit_regress_sums(m->q) * k;
    s.stays = s.mixed + 3 * m->parts * k;
    s.leaves = s.stays + m->stages * k;
    return s;
}

double *cri_hmm_sums_of(const cri_hmm *m, const cri_hmm_sums *s, size_t j)
{
    if (m->kind[j] == CRI_EMIT_MIXTURE)
        return s->mixed + 3 * cri_hmm_mixtures_before(m, j) * m->M * m->k;
    return m->kind[j] == CRI_EMIT_REGRESSED ? s->regressed + j * cri_emit_regress_sums(m->q) * m->k
                                            : s->columns + j * CRI_EMIT_SUMS * m->k;
}

size_t cri_hmm_width(const void *state)
{
    const cri_hmm *m = state;
    size_t         k = m->k;
    return 1 +
           k * (2 + k + m->p * (CRI_EMIT_SUMS + cri_emit_regress_sums(m->q)) + m->L +
                2 * m->stages + 3 * m->parts) +
           cri_joint_width(k, m->g);
}

size_t cri_hmm_work(const void *state)
{
    const cri_hmm *m = state;
    size_t         nodes = cri_hmm_nodes(m);
    return 2 * nodes + cri_hmm_view_work(m) + cri_chain_work(m->data->longest, nodes) +
           (m->stages > 0 ? cri_hmm_counts(m) : 0);
}

typedef struct gathering {
    const cri_hmm_view *v;
    cri_hmm_sums        s;
} gathering;

static void add_category(const cri_hmm *m, size_t j, const double *code, size_t n,
                         const double *gamma, double *levels)
{
    size_t  k = m->k, stride = cri_chain_stride(k);
    double *count = levels + m->first[j] * k;
    for (size_t i = 0; i < n; i++) {
        if (isnan(code[i])) continue;
        double *l = count + (size_t)code[i] * k;
        for (size_t c = 0; c < k; c++) l[c] += gamma[i * stride + c];
    }
}

static void add_block(void *arg, size_t begin, size_t n, const double *gamma)
{
    gathering          *a = arg;
    const cri_hmm_view *v = a->v;
    const cri_hmm      *m = v->m;
    size_t              k = m->k, stride = cri_chain_stride(k);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < k; c++) a->s.rows[c] += gamma[i * stride + c];
    for (size_t j = 0; j < m->p; j++) {
        const double       *x = v->data->X + j * v->data->T + begin;
        const cri_emission *e = cri_emission_of(m->kind[j]);
        if (m->kind[j] == CRI_EMIT_CATEGORY) add_category(m, j, x, n, gamma, a->s.levels);
        if (!e) continue;
        cri_emitted here = emitted_from(v, j, begin);
        e->gather(&here, x, n, gamma, cri_hmm_sums_of(m, &a->s, j));
    }
    if (m->g > 0) {
        cri_joint joint = cri_hmm_joint(m, v->columns, v->work);
        cri_joint_gather(&joint, begin, begin + n, gamma, a->s.joint);
    }
}

/* From probabilities of nodes. */
static void add_nodes(void *arg, size_t begin, size_t n, const double *gamma)
{
    const gathering    *a = arg;
    const cri_hmm_view *v = a->v;
    size_t              stride = cri_chain_stride(v->m->k);
    for (size_t at = 0; at < n; at += CRI_HMM_FOLDED) {
        size_t some = n - at < CRI_HMM_FOLDED ? n - at : CRI_HMM_FOLDED;
        cri_hmm_fold(v->m, some, gamma + at * v->chain.stride, v->chain.stride, v->folded, stride);
        add_block(arg, begin + at, some, v->folded);
    }
}

void cri_hmm_add_known(const cri_hmm_view *v, size_t begin, size_t n, const double *gamma,
                       double *sums)
{
    gathering a = { v, cri_hmm_sums_at(v->m, sums) };
    add_block(&a, begin, n, gamma);
}

/* Of a sequence that goes on: the transition from the last of its old rows, of which before [k] are the filtered
 * probabilities, to the first of the new ones, of which first [k] are P(z | x). */
static void add_passage(const cri_hmm *m, const double *before, const double *first, double *pairs)
{
    size_t k = m->k;
    for (size_t j = 0; j < k; j++) {
        double expected = 0;
        for (size_t i = 0; i < k; i++) expected += before[i] * m->A[i * k + j];
        for (size_t i = 0; i < k && expected > 0; i++)
            pairs[i * k + j] += before[i] * m->A[i * k + j] * first[j] / expected;
    }
}

/* The same of nodes; first [nodes] is overwritten, predicted [nodes] is workspace. */
static void add_staged_passage(const cri_hmm_view *v, const double *before, double *first,
                               double *predicted, double *counts)
{
    cri_hmm_go_on(v->m, before, predicted);
    for (size_t a = 0; a < v->chain.k; a++)
        first[a] = predicted[a] > 0 ? first[a] / predicted[a] : 0;
    cri_stages_count(&v->stages, v->chain.stride, 1, before, first, counts);
}

void cri_hmm_expect(const cri_hmm *of, cri_range sequences, const double *const *opt_before,
                    double *sums, double *work)
{
    cri_hmm        expected = *of;
    const double  *shift = cri_hmm_is_vb(of) ? cri_hmm_vb_expect(of, &expected) : NULL;
    const cri_hmm *m = &expected;
    size_t         nodes = cri_hmm_nodes(m), staged = m->stages > 0 ? cri_hmm_counts(m) : 0;
    double        *first = work, *predicted = first + nodes, *counts = predicted + nodes;
    cri_hmm_view   v;
    gathering      a = { &v, cri_hmm_sums_at(m, sums) };
    cri_chain_wish wish = { .pairs = staged ? counts : a.s.pairs,
                            .visit = staged ? add_nodes : add_block,
                            .arg = &a };
    cri_blas_enter();
    memset(counts, 0, staged * sizeof *counts);
    cri_hmm_view_open(m, m->data, counts + staged, &v);
    v.opt_shift = shift;
    work = counts + staged + cri_hmm_view_work(m);
    for (size_t s = sequences.begin; s < sequences.end; s++) {
        wish.before = opt_before ? opt_before[s] : NULL;
        wish.begins = wish.before || staged ? first : a.s.begins;
        memset(first, 0, nodes * sizeof *first);
        sums[0] += cri_chain_run(&v.chain, m->data->start[s], m->data->start[s + 1],
                                 m->data->longest, &wish, work);
        for (size_t i = 0; i < m->k && staged && !wish.before; i++) a.s.begins[i] += first[i];
        if (wish.before && staged)
            add_staged_passage(&v, wish.before, first, predicted, counts);
        else if (wish.before)
            add_passage(m, wish.before, first, a.s.pairs);
    }
    if (staged) cri_hmm_add_counts(m, counts, &a.s);
    cri_blas_leave();
}

void cri_hmm_gather(const void *state, const cri_rows *rows, cri_range sequences, double *sums,
                    double *work)
{
    (void)rows; /* their numbers stand in the data already */
    cri_hmm_expect(state, sequences, NULL, sums, work);
}
