/* csv_names.c -- what the columns are called: by the header, by numbers, or as the user says. */
#include "csv_internal.h"
#include "base/list.h"
#include "base/reader.h"

#include <stdio.h>
#include <string.h>

/* What the options say of names, and what the header has of them so far. */
typedef struct naming {
    cri_csv        *csv;
    cri_csv_header *header;
    char          **names; /* [n_names] of --names */
    size_t          n_names;
    cri_renames     renames;
    cri_csv_levels  texts;                    /* the different cells of the header */
    size_t         *times;                    /* [header->n] how often each of them came */
    size_t          nameless, first_nameless; /* columns but the first, which may have row names */
    const char     *nameless_at;
} naming;

/* --- failures -------------------------------------------------------------------------------- */

/* A place in the sample as a reader, to fail at. */
static cri_reader reader_at(const cri_csv *csv, const cri_csv_header *h, const char *at)
{
    cri_reader r = cri_reader_open(csv->cx, cri_source_name(csv->source), h->begin,
                                   (size_t)(h->end - h->begin));
    r.line = h->first_line;
    for (const char *p = h->begin; p < at; p++)
        if (*p == csv->dialect.line_end) r.line++, r.line_begin = p + 1;
    return r;
}

static cr_status fail_in_header(cri_csv *csv, const cri_csv_header *h, const cri_csv_cell *cell)
{
    return cri_csv_fail(csv, &(cri_csv_piece){ .begin = h->begin,
                                               .end = h->end,
                                               .first_line = h->first_line,
                                               .fault = cell->fault,
                                               .fault_at = cell->fault_at,
                                               .fault_length = 1 });
}

/* Two columns would have one name; `times` that of the header has come. */
static cr_status fail_twice(const naming *w, const cri_csv_cell *cell, const char *name,
                            size_t length, size_t times)
{
    int        shown = length < 200 ? (int)length : 200;
    cri_reader r = reader_at(w->csv, w->header, cell->begin);
    cri_reader_fail_at(&r, cell->begin, (size_t)(cell->end - cell->begin),
                       "two columns are called '%.*s'", shown, name);
    if (times < 2) return CR_EDATA;
    return cr_fail_hint(w->csv->cx, "--rename '%.*s.%zu=%.*s_%zu' gives this one another name",
                        shown, name, times, shown, name, times);
}

/* Columns have the names x2, x3, ... where the header has none; a header that names fewer than half is none. */
static cr_status judge_nameless(const naming *w)
{
    const char *source = cri_source_name(w->csv->source);
    size_t      first = w->first_nameless;
    if (w->nameless == 0) return CR_OK;
    if (2 * w->nameless > w->header->n) {
        cri_reader r = reader_at(w->csv, w->header, w->nameless_at);
        cri_reader_fail_at(&r, w->nameless_at, 1, "column %zu has no name", first);
        return cr_fail_hint(w->csv->cx,
                            "if the line is a title, --skip 1 leaves it out; if it is data, use "
                            "--header no; --names a,b,... names all columns");
    }
    cr_log(w->csv->cx, CR_LOG_WARNING,
           "%zu column%s of %s ha%s no name: %s x%zu; --names a,b,... names all columns, --header "
           "no takes "
           "the first line as data",
           w->nameless, w->nameless == 1 ? "" : "s", source, w->nameless == 1 ? "s" : "ve",
           w->nameless == 1 ? "it is called" : "they are called by their numbers, the first",
           first);
    return CR_OK;
}

/* --- names ----------------------------------------------------------------------------------- */

/* How often this text has been in the header, now included. */
static cr_status count_text(naming *w, const char *text, size_t length, size_t *out_times)
{
    uint32_t  number;
    cr_status st = cri_csv_levels_add(w->csv->cx, &w->texts, text, length, &number);
    if (st != CR_OK) return cri_csv_levels_fail(w->csv->cx, &w->texts, st);
    *out_times = ++w->times[number];
    return CR_OK;
}

/* The name of column c, whose cell in the header has this text. */
static cr_status add_name(naming *w, const cri_csv_cell *cell, const char *text, size_t length,
                          size_t c)
{
    cr_status   st = CR_OK;
    cri_csv    *csv = w->csv;
    uint32_t    number;
    size_t      times = 0;
    char        numbered[32];
    const char *other = NULL;
    if (w->names) {
        text = w->names[c], length = strlen(text);
    } else if (w->header->nameless || length == 0) {
        if (!w->header->nameless && c > 0 && w->nameless++ == 0)
            w->first_nameless = c + 1, w->nameless_at = cell->begin;
        length = (size_t)snprintf(numbered, sizeof numbered, "x%zu", c + 1);
        text = numbered;
    }
    CR_TRY(count_text(w, text, length, &times));
    other = cri_renames_find(&w->renames, text, length, times);
    if (other) text = other, length = strlen(other);
    st = cri_csv_levels_add(csv->cx, &csv->names, text, length, &number);
    if (st != CR_OK) CR_TRY(cri_csv_levels_fail(csv->cx, &csv->names, st));
    if (number != c) CR_TRY(fail_twice(w, cell, text, length, other ? 0 : times));
done:
    return st;
}

static cr_status begin_naming(naming *w)
{
    cr_status              st = CR_OK;
    const cr_read_options *o = w->csv->options;
    cr_scratch            *s = &w->csv->scratch;
    w->times = cr_scratch_bytes(s, w->header->n, sizeof *w->times);
    CR_TRY(cri_renames_begin(s, o->rename, &w->renames));
    if (!cri_given_names(o)) goto done;
    CR_TRY(cri_list_split(s, cri_given_names(o), &w->names, &w->n_names));
    if (w->n_names == w->header->n) goto done;
    cr_fail(w->csv->cx, CR_EDATA, "%s has %zu column%s, but --names has %zu",
            cri_source_name(w->csv->source), w->header->n, w->header->n == 1 ? "" : "s",
            w->n_names);
    CR_TRY(cr_fail_hint(w->csv->cx, "--rename OLD=NEW changes single names"));
done:
    return st != CR_OK ? st : s->status;
}

static const char *name_at(const void *names, size_t i) { return cri_csv_level(names, i); }

cr_status cri_csv_take_names(cri_csv *csv, cri_csv_header *h, const char **out_next)
{
    cr_status   st = CR_OK;
    naming      w = { .csv = csv, .header = h };
    char       *at = h->at;
    const char *unused;
    CR_TRY(begin_naming(&w));
    if (csv->has_row_names)
        CR_TRY(add_name(&w, &(cri_csv_cell){ .begin = at, .end = at }, at, 0, 0));
    for (size_t c = csv->has_row_names; c < h->n; c++) {
        cri_csv_cell cell = cri_csv_next_cell(&csv->dialect, at, h->end);
        if (cell.fault) CR_TRY(fail_in_header(csv, h, &cell));
        char *text = at + (cell.begin - at), *end = at + (cell.end - at);
        if (cell.escaped) end = cri_csv_unescape(text, end);
        CR_TRY(add_name(&w, &cell, text, (size_t)(end - text), c));
        at += cell.stop + 1 - at;
    }
    while (csv->empty_at_end > 0 && at[-1] == csv->dialect.delimiter && at < h->end)
        at += cri_csv_next_cell(&csv->dialect, at, h->end).stop + 1 - at;
    CR_TRY(judge_nameless(&w));
    unused = cri_renames_unused(&w.renames);
    if (unused) {
        cr_fail(csv->cx, CR_EDATA, "column '%s' of --rename not found in %s", unused,
                cri_source_name(csv->source));
        CR_TRY(cr_fail_nearest(csv->cx, unused, "columns", w.texts.n, name_at, &w.texts));
    }
    *out_next = at;
done:
    cri_csv_levels_clear(csv->cx, &w.texts);
    return st;
}
