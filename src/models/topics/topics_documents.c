/* topics_documents.c -- documents as counts of terms: a row whose columns are counts, or the words of a text. */
#include "topics.h"
#include "base/file.h"
#include "data/formats/words.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t table_row(const cri_rows *rows, size_t i) { return rows->index ? rows->index[i] : i; }

static cr_status fail_count(cr_ctx *cx, const cri_rows *rows, size_t i, const char *name,
                            double value)
{
    char where[512];
    return cr_fail(cx, CR_EDATA, "%s: '%s' is %g, but must be a count: a whole number from 0 to %u",
                   cri_table_where(rows->table, table_row(rows, i), where, sizeof where), name,
                   value, UINT32_MAX);
}

static bool is_count(double x) { return x >= 0 && x <= UINT32_MAX && x == floor(x); }

/* --- columns that are counts ------------------------------------------------------------------ */

/* Calls for the entries of each row that are not 0. */
typedef struct entries {
    uint32_t *term, *count;
    size_t    n;
} entries;

static cr_status take_count(cr_ctx *cx, const cri_rows *rows, size_t i, size_t j, double x,
                            entries *opt_out, size_t *n)
{
    if (!is_count(x)) return fail_count(cx, rows, i, cr_design_term_name(rows->design, j), x);
    if (x == 0) return CR_OK;
    if (opt_out) opt_out->term[*n] = (uint32_t)j, opt_out->count[*n] = (uint32_t)x;
    (*n)++;
    return CR_OK;
}

/* The entries of all rows; counts them without a place to put them. */
static cr_status walk_rows(cr_ctx *cx, const cri_rows *rows, double *x, cri_documents *d,
                           entries *opt_out)
{
    cr_status st = CR_OK;
    size_t    n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        d->start[i] = n;
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        if (rows->sparse) {
            size_t end, e = cri_sparse_row(rows->sparse, i, &end);
            for (; e < end; e++)
                CR_TRY(take_count(cx, rows, i, rows->sparse->column[e], rows->sparse->value[e],
                                  opt_out, &n));
        } else {
            cri_rows_fill(rows, i, i + 1, x, rows->p);
            for (size_t j = 0; j < rows->p; j++)
                CR_TRY(take_count(cx, rows, i, j, x[j], opt_out, &n));
        }
    }
    d->start[rows->n] = n;
done:
    return st;
}

static void sum_tokens(cri_documents *d)
{
    for (size_t e = 0; e < d->start[d->n]; e++) d->tokens += d->count[e];
}

static cr_status read_columns(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, cri_documents *out)
{
    cr_status     st = CR_OK;
    cri_documents d = { .n = rows->n, .terms = rows->p, .start = cr_scratch_index(s, rows->n + 1) };
    double       *x = cr_scratch_f64(s, rows->p);
    entries       to;
    CR_TRY(s->status);
    CR_TRY(walk_rows(cx, rows, x, &d, NULL));
    to.term = d.term = cr_scratch_bytes(s, d.start[d.n], sizeof *d.term);
    to.count = d.count = cr_scratch_bytes(s, d.start[d.n], sizeof *d.count);
    CR_TRY(s->status);
    CR_TRY(walk_rows(cx, rows, x, &d, &to));
    sum_tokens(&d);
    *out = d;
done:
    return st;
}

/* --- a column of text ------------------------------------------------------------------------- */

/* A term in a document, once or as often as `count` says. */
typedef struct token {
    size_t   document;
    uint32_t term, count;
} token;

typedef struct reading {
    cr_ctx           *cx;
    const cri_rows   *rows;
    const cri_topics *m;
    const cr_column  *text, *opt_document, *opt_counts;
    cri_dictionary   *learn; /* NULL: the vocabulary is that of the state */
    cri_dictionary    stop, documents;
    token            *tokens;
    size_t            n, room, size; /* of tokens; of the word */
    char             *word;
    double            unknown;
} reading;

static int compare_tokens(const void *a, const void *b)
{
    const token *x = a, *y = b;
    if (x->document != y->document) return x->document < y->document ? -1 : 1;
    return (x->term > y->term) - (x->term < y->term);
}

static cr_status find_column(cr_ctx *cx, const cri_rows *rows, const char *opt_name,
                             const cr_column **out)
{
    *out = opt_name ? cr_table_find(rows->table, opt_name) : NULL;
    return opt_name && !*out ? cri_table_no_column(cx, rows->table, opt_name) : CR_OK;
}

static cr_status add_token(reading *r, size_t document, const char *word, size_t length,
                           uint32_t count)
{
    cr_status st = CR_OK;
    uint32_t  term;
    if (cri_dictionary_find(&r->stop, word, length, &term)) return CR_OK;
    if (r->learn) {
        if (memchr(word, '\n', length))
            return cr_fail(r->cx, CR_EDATA, "topics: a term has a line feed: '%.*s'", (int)length,
                           word);
        CR_TRY(cri_dictionary_code(r->cx, r->learn, word, length, &term));
    } else if (!cri_dictionary_find(&r->m->known, word, length, &term)) {
        r->unknown += count;
        return CR_OK;
    }
    if (r->n == r->room) {
        size_t room = 2 * r->room + 1024;
        token *more = cr_resize(r->cx, r->tokens, r->room, room, sizeof *more);
        if (!more) return CR_ENOMEM;
        r->tokens = more, r->room = room;
    }
    r->tokens[r->n++] = (token){ document, term, count };
done:
    return st;
}

static cr_status read_cell(reading *r, size_t document, const char *text, uint32_t count)
{
    cr_status st = CR_OK;
    size_t    need = 2 * strlen(text) + 1, length;
    if (r->m->cells == 1) return *text ? add_token(r, document, text, strlen(text), count) : CR_OK;
    if (need > r->size) {
        char *word = cr_resize(r->cx, r->word, r->size, 2 * need, 1);
        if (!word) return CR_ENOMEM;
        r->word = word, r->size = 2 * need;
    }
    while ((length = cri_next_word(&text, r->word)) > 0)
        CR_TRY(add_token(r, document, r->word, length, count));
done:
    return st;
}

static cr_status document_of(reading *r, size_t i, size_t *out)
{
    const cr_column *c = r->opt_document;
    size_t           row = table_row(r->rows, i);
    char             number[40], where[512];
    const char      *text = number;
    uint32_t         code;
    *out = i;
    if (!c) return CR_OK;
    bool missing = c->codes ? c->codes[row] == CR_MISSING_CODE : isnan(c->values[row * c->stride]);
    if (missing)
        return cr_fail(r->cx, CR_EDATA, "%s: '%s', which says what document this is, has no value",
                       cri_table_where(r->rows->table, row, where, sizeof where), c->name);
    if (c->codes)
        text = c->levels[c->codes[row]];
    else
        snprintf(number, sizeof number, "%.17g", c->values[row * c->stride]);
    cr_status st = cri_dictionary_code(r->cx, &r->documents, text, strlen(text), &code);
    *out = code;
    return st;
}

static cr_status read_rows(reading *r, cri_documents *d)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < r->rows->n; i++) {
        size_t row = table_row(r->rows, i), document;
        double count = r->opt_counts ? r->opt_counts->values[row * r->opt_counts->stride] : 1;
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(r->cx));
        CR_TRY(document_of(r, i, &document));
        if (d->opt_row) d->opt_row[i] = document;
        if (!is_count(count)) CR_TRY(fail_count(r->cx, r->rows, i, r->opt_counts->name, count));
        if (r->text->codes[row] == CR_MISSING_CODE || count == 0) continue;
        CR_TRY(read_cell(r, document, r->text->levels[r->text->codes[row]], (uint32_t)count));
    }
    d->n = r->opt_document ? r->documents.n : r->rows->n;
done:
    return st;
}

/* Tokens of one term in one document together; returns how many are left, 0 with *out_row where a count overflows. */
static cr_status join_tokens(reading *r)
{
    size_t n = 0;
    if (r->n > 0) qsort(r->tokens, r->n, sizeof *r->tokens, compare_tokens);
    for (size_t i = 0; i < r->n; i++) {
        token *last = n > 0 ? &r->tokens[n - 1] : NULL;
        if (!last || compare_tokens(last, &r->tokens[i]) != 0) {
            r->tokens[n++] = r->tokens[i];
            continue;
        }
        if (r->tokens[i].count > UINT32_MAX - last->count)
            return cr_fail(r->cx, CR_EDATA, "%s: a document has a term more than %u times",
                           cr_table_source(r->rows->table), UINT32_MAX);
        last->count += r->tokens[i].count;
    }
    r->n = n;
    return CR_OK;
}

static cr_status give_documents(reading *r, cr_scratch *s, cri_documents *d)
{
    size_t at = 0;
    d->start = cr_scratch_index(s, d->n + 1);
    d->term = cr_scratch_bytes(s, r->n, sizeof *d->term);
    d->count = cr_scratch_bytes(s, r->n, sizeof *d->count);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < d->n; i++) {
        d->start[i] = at;
        for (; at < r->n && r->tokens[at].document == i; at++)
            d->term[at] = r->tokens[at].term, d->count[at] = r->tokens[at].count;
    }
    d->start[d->n] = at;
    d->unknown = r->unknown;
    sum_tokens(d);
    return CR_OK;
}

/* map [terms so far] = the new number of each term, UINT32_MAX of those in too few or too many documents. */
static size_t choose_terms(const reading *r, const cri_topics_options *o, size_t documents,
                           size_t *in, uint32_t *map)
{
    size_t left = 0;
    for (size_t i = 0; i < r->n; i++) in[r->tokens[i].term]++;
    for (size_t w = 0; w < r->learn->n; w++) {
        bool enough = in[w] >= o->min_documents,
             few = (double)in[w] <= o->max_share * (double)documents;
        map[w] = enough && few && in[w] > 0 ? (uint32_t)left++ : UINT32_MAX;
    }
    return left;
}

static cr_status keep_vocabulary(cr_ctx *cx, const cri_dictionary *all, const uint32_t *map,
                                 cri_topics *m)
{
    size_t size = 1;
    for (size_t w = 0; w < all->n; w++)
        size += map[w] != UINT32_MAX ? strlen(all->texts[w]) + 1 : 0;
    char *at = m->vocabulary = cr_alloc(cx, size, 1);
    if (!at) return CR_ENOMEM;
    for (size_t w = 0; w < all->n; w++) {
        size_t length = strlen(all->texts[w]);
        if (map[w] == UINT32_MAX) continue;
        memcpy(at, all->texts[w], length);
        at[length] = '\n';
        at += length + 1;
    }
    return CR_OK;
}

static cr_status filter_terms(reading *r, const cri_topics_options *o, size_t documents,
                              cri_topics *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(r->cx);
    size_t    *in = cr_scratch_bytes(&s, r->learn->n, sizeof *in), n = 0;
    uint32_t  *map = cr_scratch_bytes(&s, r->learn->n, sizeof *map);
    CR_TRY(s.status);
    m->terms = choose_terms(r, o, documents, in, map);
    for (size_t i = 0; i < r->n; i++) {
        if (map[r->tokens[i].term] == UINT32_MAX) continue;
        r->tokens[n] = r->tokens[i];
        r->tokens[n++].term = map[r->tokens[i].term];
    }
    r->n = n;
    if (m->terms == 0) {
        cr_fail(r->cx, CR_EDATA, "%s: no term of '%s' is left", cr_table_source(r->rows->table),
                m->text);
        CR_TRY(cr_fail_hint(r->cx, "a smaller --min-documents or a larger --max-share keeps more"));
    }
    CR_TRY(keep_vocabulary(r->cx, r->learn, map, m));
done:
    cr_scratch_end(&s);
    return st;
}

/* The lines of a file, each without its end, into a dictionary. */
static cr_status read_lines(cr_ctx *cx, const char *path, cri_dictionary *out)
{
    cr_status st = CR_OK;
    char     *bytes = NULL;
    size_t    size = 0;
    uint32_t  code;
    CR_TRY(cri_file_load(cx, path, 0, &bytes, &size));
    for (size_t at = 0; at < size;) {
        const char *end = memchr(bytes + at, '\n', size - at);
        size_t      length = end ? (size_t)(end - (bytes + at)) : size - at, kept = length;
        if (kept > 0 && bytes[at + kept - 1] == '\r') kept--;
        if (memchr(bytes + at, '\0', kept))
            CR_TRY(cr_fail(cx, CR_EDATA, "%s: a line has a zero byte", path));
        if (kept > 0) CR_TRY(cri_dictionary_code(cx, out, bytes + at, kept, &code));
        at += length + 1;
    }
done:
    cr_free(cx, bytes, size, 1);
    return st;
}

static cr_status check_text(cr_ctx *cx, const reading *r)
{
    if (r->opt_counts && !r->opt_counts->values)
        return cr_fail(cx, CR_EDATA, "topics: the column '%s' of --counts has text, not numbers",
                       r->opt_counts->name);
    if (r->text->codes) return CR_OK;
    cr_fail(cx, CR_EDATA, "topics: the column '%s' has numbers, not text", r->text->name);
    return cr_fail_hint(cx, "--category %s takes each number as a text", r->text->name);
}

/* The vocabulary comes from the rows where opt_new is there, which is m then. */
static cr_status read_text(cr_ctx *cx, cr_scratch *s, const cri_rows *rows,
                           const cri_topics_options *opt_learn, const cri_topics *m,
                           cri_topics *opt_new, cri_documents *out)
{
    cr_status      st = CR_OK;
    cri_dictionary all = { 0 };
    cri_documents  d = { 0 };
    reading        r = { .cx = cx, .rows = rows, .m = m, .learn = opt_learn ? &all : NULL };
    if (m->document) d.opt_row = cr_scratch_index(s, rows->n);
    CR_TRY(s->status);
    CR_TRY(find_column(cx, rows, m->text, &r.text));
    CR_TRY(find_column(cx, rows, m->document, &r.opt_document));
    CR_TRY(find_column(cx, rows, m->counts, &r.opt_counts));
    CR_TRY(check_text(cx, &r));
    if (opt_learn && opt_learn->stop_words) CR_TRY(read_lines(cx, opt_learn->stop_words, &r.stop));
    CR_TRY(read_rows(&r, &d));
    CR_TRY(join_tokens(&r));
    if (opt_learn) CR_TRY(filter_terms(&r, opt_learn, d.n, opt_new));
    d.terms = m->terms;
    CR_TRY(give_documents(&r, s, &d));
    *out = d;
done:
    cri_dictionary_free(cx, &all);
    cri_dictionary_free(cx, &r.stop);
    cri_dictionary_free(cx, &r.documents);
    cr_free(cx, r.tokens, r.room, sizeof *r.tokens);
    cr_free(cx, r.word, r.size, 1);
    return st;
}

/* --- names ------------------------------------------------------------------------------------ */

static cr_status name_terms(cr_ctx *cx, const char *path, const cr_design *design, cri_topics *m)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    cri_dictionary          all = { 0 };
    const cri_design_block *b = &design->block;
    CR_TRY(read_lines(cx, path, &all));
    uint32_t *map = cr_scratch_bytes(&s, all.n, sizeof *map);
    CR_TRY(s.status);
    for (size_t w = 0; w < all.n; w++) map[w] = UINT32_MAX;
    for (size_t j = 0; j < m->terms; j++) {
        size_t line = b->index ? b->index[j] : j;
        if (line >= all.n)
            CR_TRY(cr_fail(cx, CR_EDATA,
                           "topics: %s names %zu different terms, but the data have term %zu", path,
                           all.n, line + 1));
        map[line] = (uint32_t)j;
    }
    CR_TRY(keep_vocabulary(cx, &all, map, m));
done:
    cri_dictionary_free(cx, &all);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_topics_open_vocabulary(cr_ctx *cx, cri_topics *m)
{
    cr_status st = CR_OK;
    uint32_t  code;
    for (const char *at = m->vocabulary; at && *at;) {
        const char *end = strchr(at, '\n');
        if (!end || end == at) return CR_EDATA;
        CR_TRY(cri_dictionary_code(cx, &m->known, at, (size_t)(end - at), &code));
        at = end + 1;
    }
    if (m->vocabulary && m->known.n != m->terms) return CR_EDATA;
done:
    return st;
}

const char *cri_topics_term(const cri_topics *m, const cr_design *design, size_t w)
{
    return m->vocabulary ? m->known.texts[w] : cr_design_term_name(design, w);
}

/* --- both ------------------------------------------------------------------------------------- */

static cr_status copy_name(cr_ctx *cx, const char *opt_name, char **out)
{
    *out = opt_name ? cri_string_copy(cx, opt_name) : NULL;
    return opt_name && !*out ? CR_ENOMEM : CR_OK;
}

cr_status cri_topics_learn_documents(cr_ctx *cx, cr_scratch *s, const cri_rows *rows,
                                     const cri_topics_options *o, cri_topics *m, cri_documents *out)
{
    cr_status st = CR_OK;
    CR_TRY(copy_name(cx, o->text, &m->text));
    CR_TRY(copy_name(cx, o->document, &m->document));
    CR_TRY(copy_name(cx, o->counts, &m->counts));
    m->cells = o->tokens;
    if (m->text) {
        CR_TRY(read_text(cx, s, rows, o, m, m, out));
    } else {
        m->terms = rows->p;
        CR_TRY(read_columns(cx, s, rows, out));
        if (o->vocabulary) CR_TRY(name_terms(cx, o->vocabulary, rows->design, m));
    }
    CR_TRY(cri_topics_open_vocabulary(cx, m));
done:
    return st;
}

cr_status cri_topics_read_documents(cr_ctx *cx, cr_scratch *s, const cri_rows *rows,
                                    const cri_topics *m, cri_documents *out)
{
    return m->text ? read_text(cx, s, rows, NULL, m, NULL, out) : read_columns(cx, s, rows, out);
}
