/* crf_paths.c -- of a conditional random field the best labellings of each sequence, and the entropy of all of them. */
#include "chain_entropy.h"
#include "chain_paths.h"
#include "crf_answer.h"
#include "base/context_internal.h"
#include "base/parallel.h"

#include <math.h>

typedef struct paths_job {
    cri_crf_answer  a;
    cri_path_search search;
    size_t          rows;
    double         *path, *log_probability; /* [count x rows], [count x sequences] */
    double         *entropy;                /* [sequences]                         */
    const double   *log_weights;            /* [K x stride]                        */
} paths_job;

static void score_rows(const void *of, size_t begin, size_t end, double *out)
{
    const cri_crf_answer *a = of;
    cri_crf_scores(&a->r, begin, end - begin, a->W, a->chain.stride, out);
}

static size_t marginals_work(const cri_crf_answer *a)
{
    return a->longest * a->chain.stride + cri_crf_chain_work(&a->chain, a->longest);
}

/* log Z of a sequence, NaN where the context says to stop; scores and workspace of the chain in `work`. */
static double sum_over_all(const cri_crf_answer *a, size_t sequence, double *work)
{
    size_t begin = a->q->start[sequence], n = a->q->start[sequence + 1] - begin;
    cri_crf_scores(&a->r, begin, n, a->W, a->chain.stride, work);
    return cri_crf_chain_marginals(&a->chain, n, work, 1, NULL,
                                   work + a->longest * a->chain.stride);
}

/* --- paths ----------------------------------------------------------------------------------- */

/* work: paths [count x longest], then that of sum_over_all and, after it, of the search. */
static void find_paths(void *arg, cri_range range, double *work)
{
    const paths_job      *j = arg;
    const cri_crf_answer *a = &j->a;
    size_t                count = j->search.count;
    double               *path = work, *rest = path + count * a->longest;
    for (size_t k = range.begin; k < range.end; k++) {
        size_t  begin = a->q->start[k], n = a->q->start[k + 1] - begin;
        double *log_p = j->log_probability + k;
        double  log_Z = sum_over_all(a, k, rest);
        size_t  found =
            cri_path_search_run(&j->search, begin, begin + n, path, n, log_p, a->q->n, rest);
        for (size_t r = 0; r < found; r++) {
            log_p[r * a->q->n] = fmin(log_p[r * a->q->n] - log_Z, 0);
            for (size_t t = 0; t < n; t++)
                j->path[r * j->rows + a->q->row[begin + t]] = path[r * n + t];
        }
        if (isnan(log_Z)) log_p[0] = INFINITY; /* a mark: its scores overflow, or it has stopped */
    }
}

cr_status cri_crf_paths(cr_ctx *cx, const void *state, const cri_rows *rows, size_t count,
                        double *path, double *log_probability)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    paths_job  j = { .rows = rows->n, .path = path, .log_probability = log_probability };
    size_t     work = 0, sums;
    CR_TRY(cri_crf_answer_open(cx, &s, state, rows, &j.a));
    j.search = (cri_path_search){ .cx = cx,
                                  .k = j.a.m->K,
                                  .stride = j.a.chain.stride,
                                  .count = count,
                                  .longest = j.a.longest,
                                  .T = j.a.chain.T,
                                  .score = score_rows,
                                  .of = &j.a };
    CR_TRY(cri_path_search_work(cx, &j.search, &work));
    sums = marginals_work(&j.a);
    work = (work > sums ? work : sums) + count * j.a.longest;
    CR_TRY(cri_parallel_rows(cx, "decoding", j.a.q->n, 16, work, find_paths, &j));
    CR_TRY(cr_check_interrupt(cx)); /* a chain may have stopped */
    for (size_t k = 0; k < j.a.q->n; k++)
        if (log_probability[k] == INFINITY) CR_TRY(cri_crf_fail_overflow(cx));
done:
    cri_attribute_rows_free(cx, &j.a.r);
    cr_scratch_end(&s);
    return st;
}

/* --- entropy --------------------------------------------------------------------------------- */

static void find_entropies(void *arg, cri_range range, double *work)
{
    const paths_job      *j = arg;
    const cri_crf_answer *a = &j->a;
    double               *of_chain = work + a->longest * a->chain.stride;
    double               *rest = work + marginals_work(a);
    for (size_t k = range.begin; k < range.end; k++) {
        double log_Z = sum_over_all(a, k, work);
        double H = cri_crf_chain_entropy(&a->chain, a->q->start[k + 1] - a->q->start[k],
                                         j->log_weights, of_chain, rest);
        j->entropy[k] = isnan(log_Z) ? NAN : H;
    }
}

cr_status cri_crf_path_entropy(cr_ctx *cx, const void *state, const cri_rows *rows, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    paths_job  j = { .entropy = out };
    size_t     K, stride;
    double    *log_weights;
    CR_TRY(cri_crf_answer_open(cx, &s, state, rows, &j.a));
    K = j.a.m->K, stride = j.a.chain.stride;
    log_weights = cr_scratch_matrix(&s, K, stride);
    CR_TRY(s.status);
    cri_chain_weigh_logs(j.a.chain.M, K, stride, log_weights);
    j.log_weights = log_weights;
    CR_TRY(cri_parallel_rows(cx, "scoring", j.a.q->n, 16, marginals_work(&j.a) + 3 * K,
                             find_entropies, &j));
    CR_TRY(cr_check_interrupt(cx));
    for (size_t k = 0; k < j.a.q->n; k++)
        if (isnan(out[k])) CR_TRY(cri_crf_fail_overflow(cx));
done:
    cri_attribute_rows_free(cx, &j.a.r);
    cr_scratch_end(&s);
    return st;
}
