/* hmm_paths.c -- of a hidden Markov model the most probable paths of each sequence, and the entropy of the posterior over
 * all of them. */
#include "base/scratch.h"
#include "chain_entropy.h"
#include "chain_paths.h"
#include "hmm_duration.h"
#include "math/dense/blas_internal.h"

#include <math.h>
#include <string.h>

typedef struct paths_job {
    const cri_hmm      *m;
    const cri_hmm_data *data;
    cri_path_search     search;
    size_t              steps;           /* rows of all sequences                             */
    double             *path;            /* [count x steps] by steps                          */
    double             *log_probability; /* [count x sequences]                     */
    const double       *M, *M_log_M;     /* [nodes x nodes]                         */
    double             *entropy;         /* [sequences]                             */
} paths_job;

/* Log densities of the states, as the chain of a view has them. */
static void score_steps(const void *of, size_t begin, size_t end, double *out)
{
    const cri_chain *c = of;
    if (!c->symbol) {
        c->emit(c->of, begin, end, out);
        return;
    }
    for (size_t t = begin; t < end; t++, out += c->stride) {
        double symbol = c->symbol[t];
        if (symbol == symbol)
            memcpy(out, c->log_table + (size_t)symbol * c->log_stride, c->k * sizeof *out);
        else
            memset(out, 0, c->k * sizeof *out);
    }
}

static void find_paths(void *arg, cri_range range, double *work)
{
    const paths_job    *j = arg;
    const cri_hmm_data *d = j->data;
    cri_path_search     search = j->search;
    cri_hmm_view        v;
    cri_hmm_view_open(j->m, d, work, &v);
    work += cri_hmm_view_work(j->m);
    search.score = score_steps, search.of = &v.chain;
    for (size_t s = range.begin; s < range.end; s++)
        cri_path_search_run(&search, d->start[s], d->start[s + 1], j->path + d->start[s], j->steps,
                            j->log_probability + s, d->n, work);
}

cr_status cri_hmm_paths(cr_ctx *cx, const void *state, const cri_rows *rows, size_t count,
                        double *path, double *log_probability)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_hmm *m = cri_hmm_next(state);
    size_t         k = cri_hmm_nodes(m), stride = cri_chain_stride(k), n = rows->n, work = 0;
    cri_hmm_data   data = { 0 };
    double        *first = cr_scratch_f64(&s, k), *logs = cr_scratch_matrix(&s, k, k);
    double        *T = cr_scratch_matrix(&s, stride, stride);
    double        *steps = cr_scratch_matrix(&s, count, n);
    paths_job      j = { .m = m, .data = &data, .steps = n, .path = steps };

    CR_TRY(s.status);
    CR_TRY(cri_hmm_open_rows(cx, m, rows, &data));
    for (size_t i = 0; i < k; i++) first[i] = i < m->k ? log(m->pi[i]) : -INFINITY;
    cri_hmm_unfold(m, logs);
    for (size_t i = 0; i < k * k; i++) logs[i] = log(logs[i]);
    cri_chain_pad(logs, k, false, -INFINITY, T);
    for (size_t i = 0; i < count * n; i++) steps[i] = NAN;
    j.search = (cri_path_search){ .cx = cx,
                                  .k = k,
                                  .stride = stride,
                                  .count = count,
                                  .longest = data.longest,
                                  .first = first,
                                  .T = T };
    j.log_probability = log_probability;
    CR_TRY(cri_path_search_work(cx, &j.search, &work));
    CR_TRY(cri_parallel_rows(cx, "decoding", data.n, cri_sequences_together(data.n),
                             cri_hmm_view_work(m) + work, find_paths, &j));
    CR_TRY(cr_check_interrupt(cx)); /* a search may have stopped */
    for (size_t r = 0; r < count; r++)
        for (size_t t = 0; t < n; t++)
            path[r * n + data.row[t]] = fmod(steps[r * n + t], (double)m->k); /* of its node */
done:
    cri_hmm_data_close(cx, &data);
    cr_scratch_end(&s);
    return st;
}

/* --- entropy --------------------------------------------------------------------------------- */

static void find_entropies(void *arg, cri_range range, double *work)
{
    const paths_job    *j = arg;
    const cri_hmm      *m = j->m;
    const cri_hmm_data *d = j->data;
    size_t              k = cri_hmm_nodes(m);
    cri_hmm_view        v;
    cri_blas_enter();
    cri_hmm_view_open(m, d, work, &v);
    double *alpha = work + cri_hmm_view_work(m), *rest = alpha + d->longest * k;
    for (size_t s = range.begin; s < range.end; s++) {
        size_t         at = d->start[s], n = d->start[s + 1] - at;
        cri_chain_wish wish = { .filtered = alpha };
        cri_chain_run(&v.chain, at, at + n, d->longest, &wish, rest);
        j->entropy[s] = cri_chain_entropy(j->search.cx, k, k, j->M, j->M_log_M, n, alpha, k, rest);
    }
    cri_blas_leave();
}

cr_status cri_hmm_path_entropy(cr_ctx *cx, const void *state, const cri_rows *rows, double *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_hmm *m = cri_hmm_next(state);
    size_t         k = cri_hmm_nodes(m);
    cri_hmm_data   data = { 0 };
    double        *M = cr_scratch_matrix(&s, k, k), *logs = cr_scratch_matrix(&s, k, k);
    paths_job      j = { .m = m, .data = &data, .entropy = out, .M = M, .M_log_M = logs };

    CR_TRY(s.status);
    CR_TRY(cri_hmm_open_rows(cx, m, rows, &data));
    CR_TRY(cri_blas_reserve(cx));
    cri_hmm_unfold(m, M);
    cri_chain_weigh_logs(M, k, k, logs);
    j.search.cx = cx;
    CR_TRY(
        cri_parallel_rows(cx, "scoring", data.n, cri_sequences_together(data.n),
                          cri_hmm_view_work(m) + data.longest * k + cri_chain_work(data.longest, k),
                          find_entropies, &j));
    CR_TRY(cr_check_interrupt(cx));
done:
    cri_hmm_data_close(cx, &data);
    cr_scratch_end(&s);
    return st;
}
