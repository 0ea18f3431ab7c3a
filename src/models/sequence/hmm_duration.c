/* hmm_duration.c -- see hmm_duration.h. */
#include "hmm_duration.h"

#include <math.h>
#include <string.h>

bool cri_hmm_can_leave(const cri_hmm *m, size_t i)
{
    for (size_t j = 0; j < m->k; j++)
        if (j != i && m->may_go[i * m->k + j] > 0) return true;
    return false;
}

/* --- the chain of nodes ---------------------------------------------------------------------- */

static size_t stage_behind(const cri_hmm *m, size_t d) { return d + 1 < m->stages ? d + 1 : d; }

void cri_hmm_unfold(const cri_hmm *m, double *A)
{
    size_t k = m->k, nodes = cri_hmm_nodes(m);
    if (m->stages == 0) {
        memcpy(A, m->A, k * k * sizeof *A);
        return;
    }
    memset(A, 0, nodes * nodes * sizeof *A);
    for (size_t d = 0; d < m->stages; d++)
        for (size_t i = 0; i < k; i++) {
            double *row = A + (d * k + i) * nodes, leave = m->leave[d * k + i];
            row[stage_behind(m, d) * k + i] = 1 - leave;
            for (size_t j = 0; j < k; j++)
                if (j != i) row[j] += leave * m->A[i * k + j];
        }
}

void cri_hmm_go_on(const cri_hmm *m, const double *p, double *out)
{
    size_t k = m->k;
    memset(out, 0, cri_hmm_nodes(m) * sizeof *out);
    for (size_t i = 0; i < k && m->stages == 0; i++)
        for (size_t j = 0; j < k; j++) out[j] += p[i] * m->A[i * k + j];
    for (size_t d = 0; d < m->stages; d++)
        for (size_t i = 0; i < k; i++) {
            double from = p[d * k + i], leave = m->leave[d * k + i];
            out[stage_behind(m, d) * k + i] += from * (1 - leave);
            for (size_t j = 0; j < k; j++)
                if (j != i) out[j] += from * leave * m->A[i * k + j];
        }
}

void cri_hmm_spread(const cri_hmm *m, size_t n, double *rows)
{
    size_t k = m->k, from = cri_chain_stride(k), to = cri_chain_stride(cri_hmm_nodes(m));
    for (size_t t = n; t-- > 0 && m->stages > 0;) { /* from the last, so that none is overwritten */
        double *row = rows + t * to;
        memmove(row, rows + t * from, k * sizeof *row);
        for (size_t d = 1; d < m->stages; d++) memcpy(row + d * k, row, k * sizeof *row);
    }
}

void cri_hmm_fold(const cri_hmm *m, size_t n, const double *from, size_t from_stride, double *to,
                  size_t to_stride)
{
    size_t k = m->k;
    for (size_t t = 0; t < n; t++, from += from_stride, to += to_stride) {
        memmove(to, from, k * sizeof *to);
        for (size_t d = 1; d < m->stages; d++)
            for (size_t i = 0; i < k; i++) to[i] += from[d * k + i];
    }
}

/* --- learning -------------------------------------------------------------------------------- */

size_t cri_hmm_counts(const cri_hmm *m) { return 2 * m->stages * m->k + m->k * m->k; }

void cri_hmm_add_counts(const cri_hmm *m, const double *counts, cri_hmm_sums *s)
{
    size_t        k = m->k, nodes = m->stages * k;
    const double *leaves = counts + nodes, *moves = leaves + nodes;
    for (size_t a = 0; a < nodes; a++) s->stays[a] += counts[a], s->leaves[a] += leaves[a];
    for (size_t i = 0; i < k * k; i++) s->pairs[i] += moves[i];
}

void cri_hmm_count_step(const cri_hmm *m, size_t from, size_t to, size_t *lasted, cri_hmm_sums *s)
{
    size_t stage = (*lasted < m->stages ? *lasted : m->stages) - 1;
    if (m->stages == 0 || from != to) s->pairs[from * m->k + to] += 1;
    if (m->stages > 0) (from == to ? s->stays : s->leaves)[stage * m->k + from] += 1;
    *lasted = from == to ? *lasted + 1 : 1;
}

void cri_hmm_solve_leave(cri_hmm *m, const cri_hmm_sums *sums)
{
    double s = m->prior_transitions;
    for (size_t i = 0; i < m->k; i++) {
        if (!cri_hmm_can_leave(m, i)) continue;
        for (size_t d = 0; d < m->stages; d++) {
            size_t at = d * m->k + i;
            double n = sums->leaves[at] + sums->stays[at] + s;
            if (n > 0) m->leave[at] = (sums->leaves[at] + s / 2) / n;
        }
    }
}

double cri_hmm_leave_log_prior(const cri_hmm *m)
{
    double sum = 0;
    for (size_t i = 0; i < m->k; i++)
        for (size_t d = 0; d < m->stages && cri_hmm_can_leave(m, i); d++) {
            double p = m->leave[d * m->k + i];
            sum += log(p) + log1p(-p);
        }
    return m->prior_transitions / 2 * sum;
}

void cri_hmm_part_durations(cri_hmm *m)
{
    size_t k = m->k;
    for (size_t i = 0; i < k && m->stages > 0; i++) {
        double *A = m->A + i * k, stay = A[i];
        bool    leaves = cri_hmm_can_leave(m, i), anew = stay > 0 || m->leave[i] == 0;
        for (size_t d = 0; d < m->stages && (!leaves || anew); d++)
            m->leave[d * k + i] = !leaves ? 0 : stay > 0 ? 1 - stay : 0.5;
        m->may_go[i * k + i] = !leaves;
        if (!leaves) continue;
        A[i] = 0;
        for (size_t j = 0; j < k; j++) A[j] /= 1 - stay;
    }
}

/* --- what it says of them -------------------------------------------------------------------- */

double cri_hmm_duration_probability(const cri_hmm *m, size_t i, size_t stage)
{
    double lasts = 1;
    for (size_t d = 0; d < stage; d++) lasts *= 1 - m->leave[d * m->k + i];
    return stage + 1 < m->stages ? lasts * m->leave[stage * m->k + i] : lasts;
}

/* With S(d) = P(it lasts more than d rows): E = sum S(d), E (d^2) = sum (2 d + 1) S(d), the tail in closed form: of n rows
 * a geometric number is left, of mean 1 / h and second moment (2 - h) / h^2. */
double cri_hmm_duration(const cri_hmm *m, size_t i, double *out_sd)
{
    size_t k = m->k, D = m->stages;
    double lasts = 1, mean = 0, square = 0, h = 0;
    for (size_t j = 0; j < k && D == 0; j++) h += j == i ? 0 : m->A[i * k + j];
    if (D > 0) h = m->leave[(D - 1) * k + i];
    for (size_t d = 0; d + 1 < D; d++) {
        mean += lasts;
        square += (2 * (double)d + 1) * lasts;
        lasts *= 1 - m->leave[d * k + i];
    }
    double before = D > 0 ? (double)D - 1 : 0; /* rows, where `lasts` says how likely the tail is */
    *out_sd = NAN;
    if (!(lasts > 0)) return *out_sd = sqrt(fmax(square - mean * mean, 0)), mean;
    if (!(h > 0)) return INFINITY;
    mean += lasts / h;
    square += lasts * (2 * before / h + (2 - h) / (h * h));
    *out_sd = sqrt(fmax(square - mean * mean, 0));
    return mean;
}

double cri_hmm_stage_rows(const cri_hmm *m, size_t i, size_t stage)
{
    double sd, mean = cri_hmm_duration(m, i, &sd), lasts = 1;
    for (size_t d = 0; d < stage; d++) lasts *= 1 - m->leave[d * m->k + i];
    if (stage + 1 == m->stages) lasts /= m->leave[stage * m->k + i];
    return isfinite(mean) ? m->share[i] * m->weight * lasts / mean : 0;
}
