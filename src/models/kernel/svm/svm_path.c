/* svm_path.c -- one machine at several prices, and its errors with rows left out.  The price of the machine comes first,
 * so that there is one when the time ends; the others rise, each from the one before, or from the machine once past it. */
#include "svm.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

bool cri_svm_is_bounded(const cri_svm_machine *a, double beta, double weight)
{
    return fabs(beta) >= a->bound * weight * (1 - 1e-12);
}

/* --- the path -------------------------------------------------------------------------------- */

static void note(cri_svm *m, size_t i, const cri_svm_sample *sample, const cri_svm_machine *a,
                 double loo)
{
    double errors = 0, all = 0;
    m->path_objective[i] = a->objective;
    m->path_gap[i] = cri_svm_known_gap(a->gap);
    m->path_norm[i] = a->norm;
    m->path_loo[i] = loo;
    for (size_t r = 0; r < sample->n; r++) {
        all += sample->weight[r];
        if (!(sample->sign[r] * a->value[r] > 0)) errors += sample->weight[r];
        if (a->beta[r] == 0) continue;
        m->path_support[i]++;
        m->path_bounded[i] += cri_svm_is_bounded(a, a->beta[r], sample->weight[r]);
    }
    m->path_errors[i] = errors / all;
}

enum { NOTES = 8 };

/* The arrays of what is noted of each price; numbers and counts have elements of one size. */
static void list_notes(cri_svm *m, void **out[NOTES])
{
    void *list[NOTES] = { &m->path_C,      &m->path_objective, &m->path_gap,     &m->path_norm,
                          &m->path_errors, &m->path_loo,       &m->path_support, &m->path_bounded };
    memcpy(out, list, sizeof list);
}

/* Room for those that are not there yet, of m->P elements. */
static cr_status allocate(cr_ctx *cx, cri_svm *m)
{
    void **list[NOTES];
    list_notes(m, list);
    for (size_t i = 0; i < NOTES; i++)
        if (!*list[i] && !(*list[i] = cr_alloc(cx, m->P, sizeof(double)))) return CR_ENOMEM;
    return CR_OK;
}

/* Only the first `count` prices are kept. */
static cr_status shorten(cr_ctx *cx, cri_svm *m, size_t count)
{
    cr_status st = CR_OK;
    cri_svm   few = { .P = count };
    void    **list[NOTES], **kept[NOTES];
    list_notes(m, list);
    list_notes(&few, kept);
    CR_TRY(allocate(cx, &few));
    for (size_t i = 0; i < NOTES; i++) {
        void *whole = *list[i];
        memcpy(*kept[i], whole, count * sizeof(double));
        *list[i] = *kept[i];
        *kept[i] = whole;
    }
    few.P = m->P;
    m->P = count;
done:
    for (size_t i = 0; i < NOTES; i++) cr_free(cx, *kept[i], few.P, sizeof(double));
    return st;
}

/* The machine at one price, from where the arrays of `run` stand. */
static cr_status solve(cr_ctx *cx, const cri_svm_sample *sample, const cri_svm_margin *margin,
                       double C, cri_svm_machine *run)
{
    cri_svm_margin at = *margin;
    at.C = C;
    return cri_svm_train_one(cx, sample, &at, run, NULL);
}

static void copy(const cri_svm_machine *from, size_t n, cri_svm_machine *to)
{
    double *beta = to->beta, *value = to->value;
    *to = *from;
    to->beta = beta, to->value = value;
    memcpy(beta, from->beta, n * sizeof *beta);
    memcpy(value, from->value, n * sizeof *value);
}

cr_status cri_svm_train_path(cr_ctx *cx, cri_svm *m, bool loo, const cri_svm_sample *sample,
                             const cri_svm_margin *margin, cri_svm_machine *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = sample->n, done_with = 0;
    cri_svm_machine run = { .beta = cr_scratch_bytes(&s, n, sizeof(double)),
                            .value = cr_scratch_f64(&s, n) };
    bool            own = false;

    CR_TRY(s.status);
    CR_TRY(allocate(cx, m));
    CR_TRY(solve(cx, sample, margin, margin->C, out));
    for (size_t i = 0; i < m->P && !out->late; i++) {
        double share = NAN;
        cr_progress(cx, "prices", (double)i, (double)m->P);
        if (!own && margin->C <= m->path_C[i]) {
            copy(out, n, &run);
            own = true;
        }
        if (margin->C != m->path_C[i]) CR_TRY(solve(cx, sample, margin, m->path_C[i], &run));
        if (run.late || cri_clock_over(&margin->how.clock)) break;
        if (loo) CR_TRY(cri_svm_span(cx, sample, &run, &share));
        note(m, i, sample, &run, share);
        done_with++;
    }
    if (done_with < m->P) {
        out->late = true;
        cr_log(cx, CR_LOG_WARNING, "svm: there was time for %zu of the %zu prices of --path",
               done_with, m->P);
        CR_TRY(shorten(cx, m, done_with));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- rows left out --------------------------------------------------------------------------- */

/* Support vectors off their bounds, then those at them. */
typedef struct span {
    size_t *at, free, all;
    double *L;      /* [free x free] factor of their kernel */
    double *z, sum; /* [free] its inverse times 1; the sum of that */
} span;

static cr_status kernel_of(cr_ctx *cx, const cri_svm_sample *sample, const size_t *rows, size_t n,
                           const size_t *cols, size_t m, cr_mat out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cr_kernel_input a, b;
    if (sample->opt_gram) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < m; j++)
                out.a[i * m + j] = sample->opt_gram[rows[i] * sample->n + cols[j]];
        goto done;
    }
    CR_TRY(cri_svm_pick(&s, &sample->rows, rows, n, &a));
    CR_TRY(cri_svm_pick(&s, &sample->rows, cols, m, &b));
    CR_TRY(cr_kernel_cross(cx, sample->kernel, &a, &b, out));
done:
    cr_scratch_end(&s);
    return st;
}

static void find_support(const cri_svm_sample *sample, const cri_svm_machine *a, span *p)
{
    p->free = p->all = 0;
    for (int bound = 0; bound < 2; bound++) {
        for (size_t i = 0; i < sample->n; i++)
            if (a->beta[i] != 0 && cri_svm_is_bounded(a, a->beta[i], sample->weight[i]) == bound)
                p->at[p->all++] = i;
        if (!bound) p->free = p->all;
    }
}

/* S^2 of all support vectors: of the free ones 1 / (K~^-1)_pp, of the others k(x, x) - v^T K~^-1 v, where K~ is the kernel
 * of the free ones bordered by ones, and v that with the row, and 1. */
static cr_status squares(cr_ctx *cx, const cri_svm_sample *sample, span *p, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     f = p->free, b = p->all - f;
    double    *K = cr_scratch_matrix(&s, f, p->all), *I = cr_scratch_bytes(&s, f * f, sizeof *I);
    double    *diagonal = cr_scratch_f64(&s, sample->n);
    cr_jitter  jitter;

    CR_TRY(s.status);
    CR_TRY(kernel_of(cx, sample, p->at, f, p->at, p->all, cr_mat_of(K, f, p->all)));
    CR_TRY(cr_kernel_diagonal(cx, sample->kernel, &sample->rows, false, diagonal));
    for (size_t i = 0; i < f; i++) {
        for (size_t j = 0; j < f; j++) p->L[i * f + j] = K[i * p->all + j];
        I[i * f + i] = 1;
    }
    CR_TRY(cr_chol_jitter(cx, cr_mat_of(p->L, f, f), &jitter));
    cr_cmat L = cr_cmat_of(p->L, f, f);
    CR_TRY(cr_chol_solve(cx, L, cr_mat_of(I, f, f)));
    p->sum = 0;
    for (size_t i = 0; i < f; i++) {
        p->z[i] = 0;
        for (size_t j = 0; j < f; j++) p->z[i] += I[i * f + j];
        p->sum += p->z[i];
    }
    for (size_t i = 0; i < f; i++) out[i] = 1 / (I[i * f + i] - p->z[i] * p->z[i] / p->sum);
    for (size_t k = 0; k < b; k++) {
        double zv = 0;
        out[f + k] = diagonal[p->at[f + k]];
        for (size_t i = 0; i < f; i++) zv += p->z[i] * K[i * p->all + f + k];
        out[f + k] += (zv - 1) * (zv - 1) / p->sum;
    }
    for (size_t i = 0; i < f; i++) /* L^-1 of the columns of the others */
        for (size_t k = 0; k < b; k++) K[i * p->all + k] = K[i * p->all + f + k];
    cr_mat V = { K, f, b, p->all };
    CR_TRY(cr_chol_forward(cx, L, V));
    for (size_t i = 0; i < f; i++)
        for (size_t k = 0; k < b; k++) out[f + k] -= K[i * p->all + k] * K[i * p->all + k];
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_svm_span(cr_ctx *cx, const cri_svm_sample *sample, const cri_svm_machine *a,
                       double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = sample->n;
    double    *S2 = cr_scratch_f64(&s, n), lost = 0, all = 0;
    span       p = { .at = cr_scratch_index(&s, n) };

    CR_TRY(s.status);
    find_support(sample, a, &p);
    double need = 8.0 * (double)p.free * (double)(p.all + 2 * p.free);
    *out = NAN;
    if (p.free == 0 || need > (double)cri_memory_left(cx) / 2) goto done;
    p.L = cr_scratch_matrix(&s, p.free, p.free);
    p.z = cr_scratch_f64(&s, p.free);
    CR_TRY(s.status);
    CR_TRY(squares(cx, sample, &p, S2));
    for (size_t i = 0; i < n; i++) all += sample->weight[i];
    for (size_t i = 0; i < n; i++)
        if (a->beta[i] == 0 && sample->sign[i] * a->value[i] <= 0) lost += sample->weight[i];
    for (size_t k = 0; k < p.all; k++) {
        size_t i = p.at[k];
        double yf = sample->sign[i] * a->value[i];
        if (yf <= fabs(a->beta[i]) * fmax(S2[k], 0)) lost += sample->weight[i];
    }
    *out = lost / all;
done:
    cr_scratch_end(&s);
    return st;
}
