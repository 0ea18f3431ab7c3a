/* kmeans_order.c -- rows in the order of their values, those that are alike as one with their weights together.
 * Column by column: a million rows differ in the first, and are sorted by its digits.  O(n p) at least. */
#include "kmeans.h"
#include "base/scratch.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum {
    MANY = 4096, /* rows that are sorted by digits */
    AHEAD = 8
};

typedef struct place {
    double key;
    size_t row;
} place;
CRI_COMPARE_BY_TWO(compare_places, place, key, row);

/* --- sorting ---------------------------------------------------------------------------------- */

/* The bits of a number in the order of the numbers: those of negative ones are turned round. */
static uint64_t bits_in_order(double x)
{
    uint64_t bits, sign = (uint64_t)1 << 63;
    memcpy(&bits, &x, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

/* Sorts n places by their keys, those with equal keys as they are, digit by digit from the last; other [n] is workspace. */
static void sort_digits(place *a, place *other, size_t n)
{
    enum { DIGIT = 11, DIGITS = 6, VALUES = 1 << DIGIT };
    place *from = a, *to = other;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        size_t start[VALUES] = { 0 }, sum = 0, shift = digit * DIGIT;
        for (size_t i = 0; i < n; i++) start[bits_in_order(from[i].key) >> shift & (VALUES - 1)]++;
        for (size_t v = 0; v < VALUES; v++) {
            size_t count = start[v];
            start[v] = sum, sum += count;
        }
        for (size_t i = 0; i < n; i++)
            to[start[bits_in_order(from[i].key) >> shift & (VALUES - 1)]++] = from[i];
        place *swap = from;
        from = to, to = swap;
    }
}

/* Sorts the rows [begin, end) of `order`, which are alike in all columns before j and in the order of their places, by
 * column j. */
static void sort_run(const cri_kmeans_rows *d, size_t j, place *order, place *other, size_t begin,
                     size_t end)
{
    for (size_t i = begin; i < end; i++)
        order[i].key = d->X[order[i].row * d->p + j] + 0.0; /* one zero */
    if (end - begin >= MANY)
        sort_digits(order + begin, other, end - begin);
    else
        qsort(order + begin, end - begin, sizeof *order, compare_places);
}

/* The order of the rows, and at the first of rows that are alike first[i] = true.  Column by column, within the rows
 * that are alike so far. */
static cr_status find_order(cr_ctx *cx, const cri_kmeans_rows *d, place *order, place *other,
                            bool *first)
{
    cr_status st = CR_OK;
    bool      again = d->n > 1;
    for (size_t i = 0; i < d->n; i++) order[i].row = i, first[i] = i == 0;
    for (size_t j = 0; j < d->p && again; j++) {
        again = false;
        CR_TRY(cr_check_interrupt(cx));
        for (size_t begin = 0, end; begin < d->n; begin = end) {
            for (end = begin + 1; end < d->n && !first[end];) end++;
            if (end - begin == 1) continue;
            sort_run(d, j, order, other, begin, end);
            for (size_t i = begin + 1; i < end; i++) {
                first[i] = order[i].key != order[i - 1].key;
                again |= !first[i];
            }
        }
    }
done:
    return st;
}

/* --- moving rows ------------------------------------------------------------------------------ */

/* Row i becomes what row order[i] was, cycle by cycle; x [p] is workspace, and the order is used up.  Rows are asked
 * for from memory some places ahead. */
static void permute(cri_kmeans_rows *d, place *order, double *x)
{
    size_t p = d->p, bytes = p * sizeof *x;
    for (size_t start = 0; start < d->n; start++) {
        size_t to = start, from, ahead = order[start].row;
        double w = d->w[start];
        if (ahead == start) continue;
        for (size_t i = 0; i < AHEAD && ahead != start; i++) ahead = order[ahead].row;
        memcpy(x, d->X + start * p, bytes);
        while ((from = order[to].row) != start) {
            if (ahead != start) {
                for (size_t j = 0; j < p && j < 64; j += 8)
                    __builtin_prefetch(d->X + ahead * p + j);
                ahead = order[ahead].row;
            }
            memcpy(d->X + to * p, d->X + from * p, bytes);
            d->w[to] = d->w[from];
            order[to].row = to;
            to = from;
        }
        memcpy(d->X + to * p, x, bytes);
        d->w[to] = w;
        order[to].row = to;
    }
}

static void merge_alike(cri_kmeans_rows *d, const bool *first)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->n; i++) {
        if (!first[i]) {
            d->w[kept - 1] += d->w[i];
            continue;
        }
        if (kept < i) memcpy(d->X + kept * d->p, d->X + i * d->p, d->p * sizeof(double));
        d->w[kept++] = d->w[i];
    }
    d->n = kept;
}

cr_status cri_kmeans_put_in_order(cr_ctx *cx, cri_kmeans_rows *d)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    place     *order = cr_scratch_bytes(&s, d->n, sizeof *order);
    place     *other = d->n < MANY ? NULL : cr_scratch_bytes(&s, d->n, sizeof *other);
    bool      *first = cr_scratch_bytes(&s, d->n, sizeof *first);
    double    *x = cr_scratch_f64(&s, d->p);
    CR_TRY(s.status);
    CR_TRY(find_order(cx, d, order, other, first));
    permute(d, order, x);
    merge_alike(d, first);
done:
    cr_scratch_end(&s);
    return st;
}
