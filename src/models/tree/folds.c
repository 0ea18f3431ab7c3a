/* folds.c -- copies of rows dealt to folds. */
#include "folds.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "base/sort.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { FEW = 16 };             /* equal copies that are dealt one by one  */
#define MOST_COPIES 4294967296 /* a weight of more is no number of copies */

/* --- rows and their copies ------------------------------------------------------------------- */

typedef struct keyed_row {
    double class; /* 0 for numbers */
    uint64_t key;
    double   w;
    size_t   row;
    bool     whole; /* one copy, whatever its weight */
} keyed_row;

CRI_COMPARE_BY_TWO(compare_rows, keyed_row, class, key);

/* Equal rows by their weights, so that all weights come in one order. */
static int compare_all(const void *a, const void *b)
{
    const keyed_row *x = a, *y = b;
    int              order = compare_rows(a, b);
    return order ? order : (x->w > y->w) - (x->w < y->w);
}

CRI_COMPARE_BY(compare_targets, keyed_row, class);

/* Starts every key with the rank of its target among the different ones. */
static void rank_targets(const cri_kept *kept, uint64_t seed, keyed_row *rows)
{
    uint64_t rank = 0;
    for (size_t i = 0; i < kept->n; i++)
        rows[i] = (keyed_row){ kept->y[i], 0, kept->w[i], i, kept->whole };
    qsort(rows, kept->n, sizeof *rows, compare_targets);
    for (size_t i = 0; i < kept->n; i++) {
        rank += i > 0 && rows[i].class > rows[i - 1].class;
        rows[i].key = cri_hash_mix(seed, rank);
    }
}

/* key [n] of each row goes on with its rank in column j, or its bin where only those are known. */
static void mix_column(const cri_columns *c, size_t j, uint64_t *key)
{
    if (c->entries) {
        const cri_entry *e = c->entries + j * c->n;
        for (size_t k = 0; k < c->n; k++) key[e[k].row] = cri_hash_mix(key[e[k].row], e[k].rank);
    } else if (c->ranks) {
        for (size_t i = 0; i < c->n; i++) key[i] = cri_hash_mix(key[i], c->ranks[j * c->n + i]);
    } else {
        cri_bin_column bins = cri_bins_column(&c->bins, j);
        for (size_t i = 0; i < c->n; i++) {
            uint32_t code = cri_bin_of(&bins, i);
            key[i] = cri_hash_mix(key[i], code == c->bins.count[j] ? CRI_GAP : code);
        }
    }
}

/* key [n] is workspace. */
static void sort_rows(const cri_kept *kept, const cri_columns *columns, bool classes, uint64_t seed,
                      uint64_t *key, keyed_row *rows)
{
    rank_targets(kept, seed, rows);
    for (size_t i = 0; i < kept->n; i++) key[rows[i].row] = rows[i].key;
    for (size_t j = 0; j < kept->p; j++) mix_column(columns, j, key);
    for (size_t i = 0; i < kept->n; i++) {
        rows[i].key = key[rows[i].row];
        if (!classes) rows[i].class = 0;
    }
    qsort(rows, kept->n, sizeof *rows, compare_all);
}

static uint64_t copies_of(const keyed_row *r)
{
    return !r->whole && r->w >= 1 && r->w <= MOST_COPIES && r->w == floor(r->w) ? (uint64_t)r->w
                                                                                : 1;
}

/* The end of the rows that equal row i, and how many copies they are. */
static size_t equals_end(const keyed_row *rows, size_t i, size_t n, uint64_t *out_copies)
{
    size_t j = i;
    *out_copies = 0;
    for (; j < n && compare_rows(&rows[i], &rows[j]) == 0; j++) *out_copies += copies_of(&rows[j]);
    return j;
}

/* --- dealing --------------------------------------------------------------------------------- */

typedef struct copy {
    double class;
    uint64_t key;
    size_t   part; /* its place among the parts */
} copy;

CRI_COMPARE_BY_TWO(compare_copies, copy, class, key);

typedef struct dealing {
    const keyed_row *rows;
    size_t           n, folds;
    cri_part        *part;
    copy            *copies;
    size_t           parts, single; /* so far; copies that are dealt one by one */
    double          *even;          /* [folds] 1  */
    uint64_t        *count;         /* [folds] workspace */
} dealing;

/* Room for parts and for single copies, and how many copies there are, up to SIZE_MAX. */
static void measure(const keyed_row *rows, size_t n, size_t most, size_t *out_parts,
                    size_t *out_single, double *out_copies)
{
    uint64_t copies;
    *out_parts = *out_single = 0;
    *out_copies = 0;
    for (size_t i = 0, end; i < n; i = end) {
        end = equals_end(rows, i, n, &copies);
        *out_copies += (double)copies;
        *out_parts += copies <= FEW ? (size_t)copies : end - i + most;
        *out_single += copies <= FEW ? (size_t)copies : 0;
    }
}

static void add_part(dealing *d, const keyed_row *r, size_t fold, uint64_t copies, uint64_t of)
{
    double weight = of > 1 ? (double)copies : r->w;
    d->part[d->parts++] = (cri_part){ r->row, fold, weight };
}

/* The first of them keeps the key of the row: rows that are all different are in order already. */
static void list_single(dealing *d, size_t begin, size_t end)
{
    uint64_t number = 0;
    for (size_t i = begin; i < end; i++) {
        const keyed_row *r = &d->rows[i];
        for (uint64_t j = 0, of = copies_of(r); j < of; j++, number++) {
            d->copies[d->single++] =
                (copy){ r->class, number ? cri_hash_mix(r->key, number) : r->key, d->parts };
            add_part(d, r, 0, 1, of);
        }
    }
}

static void deal_many(dealing *d, size_t begin, size_t end, uint64_t copies)
{
    size_t f = 0;
    cr_rng rng = cr_rng_stream(d->rows[begin].key, (uint64_t)0x464f4c44u << 32); /* "FOLD" */
    cr_rng_multinomial(&rng, copies, d->even, d->folds, d->count);
    for (size_t i = begin; i < end; i++) {
        uint64_t of = copies_of(&d->rows[i]), left = of;
        while (left > 0) {
            while (d->count[f] == 0) f++;
            uint64_t take = left < d->count[f] ? left : d->count[f];
            add_part(d, &d->rows[i], f, take, of);
            d->count[f] -= take;
            left -= take;
        }
    }
}

static void deal_all(dealing *d)
{
    uint64_t copies;
    bool     sorted = true;
    for (size_t f = 0; f < d->folds; f++) d->even[f] = 1;
    for (size_t i = 0, end; i < d->n; i = end) {
        end = equals_end(d->rows, i, d->n, &copies);
        if (copies <= FEW)
            list_single(d, i, end);
        else
            deal_many(d, i, end, copies);
        sorted = sorted && copies == 1;
    }
    if (!sorted && d->single) qsort(d->copies, d->single, sizeof *d->copies, compare_copies);
    for (size_t i = 0; i < d->single; i++) d->part[d->copies[i].part].fold = i % d->folds;
}

/* Parts in the order of their rows; start [n + 1] is zero. */
static void sort_parts(const cri_part *part, size_t parts, size_t n, size_t *start, cri_part *out)
{
    for (size_t i = 0; i < parts; i++) start[part[i].row + 1]++;
    for (size_t i = 0; i < n; i++) start[i + 1] += start[i];
    for (size_t i = 0; i < parts; i++) out[start[part[i].row]++] = part[i];
}

cr_status cri_deal_folds(cr_ctx *cx, const cri_kept *kept, const cri_columns *columns, bool classes,
                         size_t most, uint64_t seed, cri_deal *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    keyed_row *rows = cr_scratch_bytes(&s, kept->n, sizeof *rows);
    size_t    *start = cr_scratch_bytes(&s, kept->n + 1, sizeof *start);
    uint64_t  *key = cr_scratch_bytes(&s, kept->n, sizeof *key);
    size_t     parts, single;
    double     copies;
    cri_part  *part = NULL;

    CR_TRY(s.status);
    sort_rows(kept, columns, classes, seed, key, rows);
    measure(rows, kept->n, most, &parts, &single, &copies);
    dealing d = { .rows = rows,
                  .n = kept->n,
                  .folds = copies < (double)most ? (size_t)copies : most,
                  .part = cr_scratch_bytes(&s, parts, sizeof *part),
                  .copies = cr_scratch_bytes(&s, single, sizeof *d.copies),
                  .even = cr_scratch_f64(&s, most),
                  .count = cr_scratch_bytes(&s, most, sizeof *d.count) };
    CR_TRY(s.status);
    deal_all(&d);
    part = cr_alloc(cx, d.parts, sizeof *part);
    if (!part) CR_TRY(CR_ENOMEM);
    sort_parts(d.part, d.parts, kept->n, start, part);
    *out = (cri_deal){ d.parts, d.folds, part };
done:
    cr_scratch_end(&s);
    return st;
}

void cri_deal_free(cr_ctx *cx, cri_deal *deal)
{
    cr_free(cx, deal->part, deal->n, sizeof *deal->part);
    *deal = (cri_deal){ 0 };
}

double cri_deal_without(const cri_deal *deal, const cri_kept *kept, size_t f, double *w)
{
    double held = 0, left = 0;
    for (size_t i = 0; i < kept->n; i++) w[i] = kept->w[i];
    for (size_t i = 0; i < deal->n; i++) {
        const cri_part *part = &deal->part[i];
        if (part->fold != f) {
            left += part->weight;
            continue;
        }
        w[part->row] -= part->weight;
        held += part->weight;
    }
    return left > 0 ? held : 0;
}
