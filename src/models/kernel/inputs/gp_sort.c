/* gp_sort.c -- inputs in an order of their own. */
#include "gp_data.h"

#include <string.h>

/* true when input a comes before b, column by column, then code by code; equal ones as they stand. */
static bool comes_before(const cri_gp_data *data, size_t a, size_t b)
{
    for (size_t j = 0; j < data->d; j++) {
        double x = data->X[a * data->d + j], y = data->X[b * data->d + j];
        if (x != y) return x < y;
    }
    for (size_t j = 0; j < data->c; j++) {
        uint32_t x = data->codes[a * data->c + j], y = data->codes[b * data->c + j];
        if (x != y) return x < y;
    }
    return a < b;
}

/* Merges runs of rising length, from one array to the other and back; where the sorted indices are. */
static size_t *merge_sort(const cri_gp_data *data, size_t *from, size_t *to, size_t n)
{
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t begin = 0; begin < n; begin += 2 * run) {
            size_t middle = n - begin < run ? n : begin + run;
            size_t end = n - begin < 2 * run ? n : begin + 2 * run, i = begin, j = middle;
            for (size_t k = begin; k < end; k++) {
                bool left = j == end || (i < middle && comes_before(data, from[i], from[j]));
                to[k] = left ? from[i++] : from[j++];
            }
        }
        size_t *other = from;
        from = to, to = other;
    }
    return from;
}

cr_status cri_gp_data_sort(cr_ctx *cx, cri_gp_data *data)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      n = data->n, *a = cr_scratch_index(&s, n), *b = cr_scratch_index(&s, n);
    cri_gp_data sorted = { 0 };
    CR_TRY(s.status);
    CR_TRY(cri_gp_data_copy(cx, data, &sorted));
    for (size_t i = 0; i < n; i++) a[i] = i;
    a = merge_sort(data, a, b, n);
    for (size_t i = 0; i < n; i++) {
        size_t k = a[i];
        if (data->d)
            memcpy(sorted.X + i * data->d, data->X + k * data->d, data->d * sizeof(double));
        if (data->c)
            memcpy(sorted.codes + i * data->c, data->codes + k * data->c,
                   data->c * sizeof(uint32_t));
        sorted.y[i] = data->y[k], sorted.r[i] = data->r[k], sorted.first[i] = data->first[k];
    }
    cri_gp_data_free(cx, data);
    *data = sorted;
done:
    cr_scratch_end(&s);
    return st;
}
