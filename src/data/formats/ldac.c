/* ldac.c -- reading documents of lda-c: one pass over the text. */
#include "ldac.h"
#include "base/context_internal.h"
#include "base/reader.h"
#include "data/table/table_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    uint32_t term, count;
} entry;

typedef struct documents {
    cri_reader r;
    size_t    *start; /* [rows + 1] */
    size_t     rows, room_start;
    entry     *entries;
    size_t     n, room, terms;
} documents;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return (x->term > y->term) - (x->term < y->term);
}

static void skip_blanks(cri_reader *r)
{
    while (cri_peek(r) == ' ' || cri_peek(r) == '\t' || cri_peek(r) == '\r') cri_step(r);
}

/* A whole number up to `most`; `what` is it. */
static cr_status read_number(cri_reader *r, const char *what, uint64_t most, uint64_t *out)
{
    const char *from = r->at;
    uint64_t    x = 0;
    while (cri_peek(r) >= '0' && cri_peek(r) <= '9') {
        if (x <= most) x = 10 * x + (uint64_t)(cri_peek(r) - '0');
        cri_step(r);
    }
    if (r->at == from)
        return cri_reader_fail_at(r, from, 1, "%s, a whole number, is expected here", what);
    if (x > most)
        return cri_reader_fail_at(r, from, (size_t)(r->at - from), "%s is above %llu", what,
                                  (unsigned long long)most);
    *out = x;
    return CR_OK;
}

static cr_status read_entry(documents *d)
{
    cri_reader *r = &d->r;
    cr_status   st = CR_OK;
    const char *from = r->at;
    uint64_t    term, count;
    CR_TRY(read_number(r, "a term", CRI_LDAC_MOST_TERMS - 1, &term));
    if (cri_peek(r) != ':')
        return cri_reader_fail_at(r, from, (size_t)(r->at - from) + 1,
                                  "a colon and a count are expected behind the term");
    cri_step(r);
    from = r->at;
    CR_TRY(read_number(r, "the count of a term", UINT32_MAX, &count));
    if (count == 0)
        return cri_reader_fail_at(r, from, (size_t)(r->at - from), "the count of a term is 0");
    CR_TRY(cri_array_grow(r->cx, &d->entries, d->n, &d->room, sizeof *d->entries));
    d->entries[d->n++] = (entry){ (uint32_t)term, (uint32_t)count };
    if (term >= d->terms) d->terms = (size_t)term + 1;
done:
    return st;
}

/* The entries of a line in order; *out_twice is a term that it has twice. */
static bool sort_line(entry *a, size_t n, uint32_t *out_twice)
{
    bool sorted = true;
    for (size_t i = 1; i < n; i++) sorted &= a[i - 1].term < a[i].term;
    if (!sorted) qsort(a, n, sizeof *a, compare_entries);
    for (size_t i = 1; i < n; i++)
        if (a[i - 1].term == a[i].term) return *out_twice = a[i].term, false;
    return true;
}

static cr_status read_line(documents *d)
{
    cri_reader *r = &d->r;
    cr_status   st = CR_OK;
    const char *from = r->at;
    size_t      first = d->n;
    uint64_t    wanted;
    uint32_t    twice;
    CR_TRY(read_number(r, "the number of terms", CRI_LDAC_MOST_TERMS, &wanted));
    size_t width = (size_t)(r->at - from);
    for (skip_blanks(r); r->at < r->end && cri_peek(r) != '\n'; skip_blanks(r))
        CR_TRY(read_entry(d));
    if (d->n - first != wanted)
        return cri_reader_fail_at(r, from, width, "the document has %zu terms, not %llu",
                                  d->n - first, (unsigned long long)wanted);
    if (d->n > first && !sort_line(d->entries + first, d->n - first, &twice))
        return cri_reader_fail_at(r, from, width, "the document has the term %u twice", twice);
    CR_TRY(cri_array_grow(r->cx, &d->start, d->rows + 1, &d->room_start, sizeof *d->start));
    d->start[++d->rows] = d->n;
done:
    return st;
}

static cr_status read_lines(documents *d)
{
    cri_reader *r = &d->r;
    cr_status   st = CR_OK;
    CR_TRY(cri_array_grow(r->cx, &d->start, 0, &d->room_start, sizeof *d->start));
    d->start[0] = 0;
    while (r->at < r->end) {
        if (r->line % 1024 == 0) CR_TRY(cr_check_interrupt(r->cx));
        skip_blanks(r);
        if (r->at < r->end && cri_peek(r) != '\n') CR_TRY(read_line(d));
        if (r->at < r->end) cri_step(r);
    }
    if (d->rows == 0) CR_TRY(cr_fail(r->cx, CR_EDATA, "%s: there are no documents", r->source));
done:
    return st;
}

static cr_status make_table(cr_ctx *cx, documents *d, cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    size_t   *start = cr_resize(cx, NULL, 0, d->rows + 1, sizeof *start);
    uint32_t *column = start ? cr_resize(cx, NULL, 0, d->n, sizeof *column) : NULL;
    double   *value = column || d->n == 0 ? cr_resize(cx, NULL, 0, d->n, sizeof *value) : NULL;
    if (!start || (d->n > 0 && (!column || !value))) CR_TRY(CR_ENOMEM);
    memcpy(start, d->start, (d->rows + 1) * sizeof *start);
    for (size_t e = 0; e < d->n; e++)
        column[e] = d->entries[e].term, value[e] = d->entries[e].count;
    CR_TRY(cr_table_new(cx, d->r.source, d->rows, &t));
    cri_table_set_open_ended(t);
    st = cri_table_own_csr(cx, t, CR_INTEGER, d->terms, start, column, value);
    start = NULL, column = NULL, value = NULL;
    CR_TRY(st);
    *out_table = t;
    t = NULL;
done:
    if (start) cr_free(cx, start, d->rows + 1, sizeof *start);
    if (column) cr_free(cx, column, d->n, sizeof *column);
    if (value) cr_free(cx, value, d->n, sizeof *value);
    cr_table_free(cx, t);
    return st;
}

cr_status cri_ldac_read(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                        cr_table **out_table)
{
    documents d = { .r = cri_reader_open(cx, source, bytes, size) };
    cr_status st = read_lines(&d);
    if (st == CR_OK) st = make_table(cx, &d, out_table);
    cr_free(cx, d.start, d.room_start, sizeof *d.start);
    cr_free(cx, d.entries, d.room, sizeof *d.entries);
    return st;
}
