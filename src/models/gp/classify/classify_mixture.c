/* classify_mixture.c -- predictions of two classes averaged over settings of the hyper-parameters. */
#include "classify_mixture.h"
#include "classify_normals.h"
#include "models/common/normal_mixture.h"
#include "base/scratch.h"
#include "math/dense/dense.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>

enum { CHUNK = 2048, ROWS = 16 }; /* rows that share a factor; rows of a thread at a time */

/* Some rows on their way: what each setting says of them, and what becomes of that. */
typedef struct mixture mixture;
struct mixture {
    const cri_classify *m;
    cri_classify        one; /* that of a setting; shares the inputs of m */
    double             *K;   /* [n x n]                                   */
    size_t              begin, count;
    double             *mean, *sd; /* [CHUNK x settings]                  */
    void (*answer)(const mixture *x, size_t row, const double *mean, const double *sd);
    double level, *out, *lower, *upper; /* of all rows                          */
};

/* The normal of setting s. */
static cr_status set(cr_ctx *cx, mixture *x, size_t s)
{
    cr_status       st = CR_OK;
    cri_classify   *one = &x->one;
    size_t          n = x->m->n;
    cr_kernel_input in = cri_gp_inputs(&x->m->gp.at);
    CR_TRY(cr_check_interrupt(cx));
    CR_TRY(cr_kernel_set_theta(cx, one->gp.kernel, x->m->thetas + s * x->m->n_theta));
    CR_TRY(cri_kernel_settle(cx, one->gp.kernel));
    CR_TRY(cr_kernel_gram(cx, one->gp.kernel, &in, CR_FILL_BOTH, cr_mat_of(x->K, n, n)));
    one->latent = x->m->latents + s * n;
    one->root = x->m->roots + s * n;
    CR_TRY(cri_laplace_factor(cx, n, x->K, one->root, one->gp.L));
done:
    return st;
}

static void answer_rows(void *arg, size_t number)
{
    const mixture *x = arg;
    cri_range      r = cri_block_range(x->count, ROWS, number);
    size_t         S = x->m->settings;
    for (size_t i = r.begin; i < r.end; i++)
        x->answer(x, x->begin + i, x->mean + i * S, x->sd + i * S);
}

/* Means and sds of a range of rows, by every setting. */
static cr_status find_normals(cr_ctx *cx, mixture *x, const cri_rows *rows, cri_range r,
                              cri_classify_block *b)
{
    cr_status st = CR_OK;
    size_t    S = x->m->settings;
    x->begin = r.begin, x->count = r.end - r.begin;
    for (size_t s = 0; s < S; s++) {
        CR_TRY(set(cx, x, s));
        for (size_t k = 0; k < cri_block_count(x->count, CRI_CLASSIFY_BLOCK); k++) {
            cri_range part = cri_block_range(x->count, CRI_CLASSIFY_BLOCK, k), all = part;
            all.begin += r.begin, all.end += r.begin;
            CR_TRY(cri_classify_normals(cx, rows, all, b));
            for (size_t i = 0; i < b->count; i++) {
                x->mean[(part.begin + i) * S + s] = b->mean[i];
                x->sd[(part.begin + i) * S + s] = sqrt(b->cov[i]);
            }
        }
    }
done:
    return st;
}

static cr_status answer(cr_ctx *cx, mixture *x, const cri_rows *rows)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const cri_classify *m = x->m;
    size_t              n = m->n, most = rows->n < CHUNK ? rows->n : CHUNK;
    cri_classify_block  b;

    x->one = *m;
    x->one.gp.kernel = NULL;
    x->one.gp.L = cr_scratch_matrix(&s, n, n);
    x->K = cr_scratch_matrix(&s, n, n);
    x->mean = cr_scratch_matrix(&s, most, m->settings);
    x->sd = cr_scratch_matrix(&s, most, m->settings);
    CR_TRY(s.status);
    CR_TRY(cr_kernel_copy(cx, m->gp.kernel, &x->one.gp.kernel));
    CR_TRY(cri_classify_block_new(&s, &x->one, rows->p, cri_classify_rows(rows), 0, &b));
    for (size_t k = 0; k < cri_block_count(rows->n, CHUNK); k++) {
        CR_TRY(find_normals(cx, x, rows, cri_block_range(rows->n, CHUNK, k), &b));
        CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(x->count, ROWS), answer_rows, x));
    }
done:
    cr_kernel_free(cx, x->one.gp.kernel);
    cr_scratch_end(&s);
    return st;
}

/* --- answers --------------------------------------------------------------------------------- */

static void answer_probability(const mixture *x, size_t row, const double *mean, const double *sd)
{
    const cri_classify *m = x->m;
    cri_classify_link   link = (cri_classify_link)m->link;
    double              p[2] = { 0, 0 }, *to = x->out + row * m->K;
    for (size_t s = 0; s < m->settings; s++) {
        p[0] += m->shares[s] * cri_classify_probability(link, mean[s], sd[s] * sd[s]);
        p[1] += m->shares[s] * cri_classify_probability(link, -mean[s], sd[s] * sd[s]);
    }
    for (size_t k = 0; k < m->K; k++)
        to[k] = m->place[k] < 0 ? 0 : p[(size_t)m->place[k]] / (p[0] + p[1]);
}

cr_status cri_classify_mixture_predict(cr_ctx *cx, const cri_classify *m, const cri_rows *rows,
                                       cr_prediction *out)
{
    mixture x = { .m = m, .answer = answer_probability, .out = out->prob };
    return answer(cx, &x, rows);
}

static void answer_interval(const mixture *x, size_t row, const double *mean, const double *sd)
{
    const cri_classify *m = x->m;
    cri_classify_link   link = (cri_classify_link)m->link;
    double              tail = (1 - x->level) / 2;
    double              f0 = cri_normal_mixture_quantile(m->settings, m->shares, mean, sd, tail);
    double f1 = cri_normal_mixture_quantile(m->settings, m->shares, mean, sd, 1 - tail);
    double low[2] = { cri_classify_probability(link, f0, 0),
                      cri_classify_probability(link, -f1, 0) };
    double high[2] = { cri_classify_probability(link, f1, 0),
                       cri_classify_probability(link, -f0, 0) };
    for (size_t k = 0; k < m->K; k++) {
        bool absent = m->place[k] < 0; /* no row of the class was seen */
        x->lower[row * m->K + k] = absent ? 0 : low[(size_t)m->place[k]];
        x->upper[row * m->K + k] = absent ? 0 : high[(size_t)m->place[k]];
    }
}

cr_status cri_classify_mixture_intervals(cr_ctx *cx, const cri_classify *m, const cri_rows *rows,
                                         double level, double *lower, double *upper)
{
    mixture x = {
        .m = m, .answer = answer_interval, .level = level, .lower = lower, .upper = upper
    };
    return answer(cx, &x, rows);
}

/* Mean and sd of the mixture. */
static void answer_latent(const mixture *x, size_t row, const double *mean, const double *sd)
{
    const cri_classify *m = x->m;
    double              centre = 0, square = 0;
    for (size_t s = 0; s < m->settings; s++) centre += m->shares[s] * mean[s];
    for (size_t s = 0; s < m->settings; s++)
        square += m->shares[s] * (sd[s] * sd[s] + pow(mean[s] - centre, 2));
    x->out[2 * row] = centre;
    x->out[2 * row + 1] = sqrt(square);
}

cr_status cri_classify_mixture_latent(cr_ctx *cx, const cri_classify *m, const cri_rows *rows,
                                      double *out)
{
    mixture x = { .m = m, .answer = answer_latent, .out = out };
    return answer(cx, &x, rows);
}
