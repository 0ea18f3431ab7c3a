/* em_starts.c -- what searches for mixtures share. */
#include "em_starts.h"
#include "base/sort.h"
#include "math/kernel/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cri_choose_origin(const cri_rows *first, double *row, double *origin)
{
    bool missing = true;
    for (size_t j = 0; j < first->p; j++) origin[j] = NAN;
    for (size_t i = 0; i < first->n && missing; i++) {
        if (first->w && !(first->w[i] > 0)) continue;
        cri_rows_fill(first, i, i + 1, row, first->p);
        missing = false;
        for (size_t j = 0; j < first->p; j++) {
            if (isnan(origin[j])) origin[j] = row[j];
            missing |= isnan(origin[j]);
        }
    }
    for (size_t j = 0; j < first->p; j++) origin[j] = isnan(origin[j]) ? 0 : origin[j];
}

/* --- rows for the starts ---------------------------------------------------------------------- */

uint64_t cri_hash_row(const double *x, size_t d, size_t stride)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t j = 0; j < d; j++) {
        double   value = isnan(x[j * stride]) ? 1e-303 : x[j * stride] + 0.0; /* one zero */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        h = (h ^ bits) * 0xff51afd7ed558ccdu; /* rounds of MurmurHash3's finaliser */
        h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
        h ^= h >> 29;
    }
    return h;
}

cr_status cri_row_sample_open(cr_ctx *cx, size_t d, cri_row_sample *s)
{
    s->d = d;
    s->kept = cr_alloc(cx, CRI_MOST_SAMPLED, sizeof *s->kept);
    s->X = cr_alloc(cx, CRI_MOST_SAMPLED * d, sizeof(double));
    s->row = cr_alloc(cx, d, sizeof(double));
    return s->kept && s->X && s->row ? CR_OK : CR_ENOMEM;
}

void cri_row_sample_close(cr_ctx *cx, cri_row_sample *s)
{
    cr_free(cx, s->kept, CRI_MOST_SAMPLED, sizeof *s->kept);
    cr_free(cx, s->X, CRI_MOST_SAMPLED * s->d, sizeof(double));
    cr_free(cx, s->row, s->d, sizeof(double));
    *s = (cri_row_sample){ 0 };
}

/* Sifts entry i of the heap, the greatest key of which is first, down to its place. */
static void sift_down(cri_sampled_row *heap, size_t n, size_t i)
{
    for (;;) {
        size_t          child = 2 * i + 1;
        cri_sampled_row swap = heap[i];
        if (child + 1 < n && heap[child + 1].key > heap[child].key) child++;
        if (child >= n || heap[child].key <= heap[i].key) return;
        heap[i] = heap[child], heap[child] = swap;
        i = child;
    }
}

cr_status cri_row_sample_meet(cr_ctx *cx, cri_row_sample *s, const cri_rows *leaf)
{
    for (size_t i = 0; i < leaf->n; i++) {
        double w = leaf->w ? leaf->w[i] : 1;
        if (i % 65536 == 0 && cr_check_interrupt(cx) != CR_OK) return CR_EINTERRUPTED;
        if (!(w > 0)) continue;
        cri_rows_fill(leaf, i, i + 1, s->row, s->d);
        uint64_t key = cri_hash_row(s->row, s->d, 1);
        if (s->n < CRI_MOST_SAMPLED) {
            cri_sampled_row *r = &s->kept[s->n];
            *r = (cri_sampled_row){ key, w, s->X + s->n * s->d };
            memcpy(r->x, s->row, s->d * sizeof(double));
            if (++s->n == CRI_MOST_SAMPLED)
                for (size_t at = CRI_MOST_SAMPLED / 2; at-- > 0;) sift_down(s->kept, s->n, at);
        } else if (key < s->kept[0].key) {
            s->kept[0].key = key, s->kept[0].w = w;
            memcpy(s->kept[0].x, s->row, s->d * sizeof(double));
            sift_down(s->kept, s->n, 0);
        }
    }
    return CR_OK;
}

CRI_COMPARE_BY_TWO(compare_sampled, cri_sampled_row, key, w);

void cri_row_sample_sort(cri_row_sample *s)
{
    qsort(s->kept, s->n, sizeof *s->kept, compare_sampled);
}

/* --- responsibilities ------------------------------------------------------------------------- */

void cri_responsibilities(double *r, size_t k, size_t n, double *sum, double *top)
{
    for (size_t i = 0; i < n; i++) top[i] = -INFINITY, sum[i] = 0;
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < n; i++) top[i] = r[c * n + i] > top[i] ? r[c * n + i] : top[i];
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < n; i++)
            r[c * n + i] = top[i] == -INFINITY ? 0 : r[c * n + i] - top[i];
    cri_exp_array(r, k * n);
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < n; i++) sum[i] += r[c * n + i];
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < n; i++) r[c * n + i] /= sum[i];
    for (size_t i = 0; i < n; i++) {
        double log_sum = log(sum[i]);
        sum[i] = top[i] + log_sum;
        top[i] = -log_sum;
    }
}
