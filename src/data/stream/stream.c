/* stream.c -- blocks of any format with the same levels in all of them. */
#include "stream_internal.h"
#include "data/table/dictionary.h"
#include "data/formats/read_internal.h"
#include "data/formats/dates.h"
#include "data/formats/number_texts.h"
#include "data/formats/retype.h"
#include "data/table/table_internal.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <stdlib.h>
#include <string.h>

/* A category: the levels of all blocks. */
typedef struct category {
    char          *name;
    cri_dictionary texts;
    const char   **sorted; /* [texts.n], once they are settled */
} category;

struct cr_stream {
    cri_source              *source;
    const cri_stream_format *format;
    void                    *reader;
    cr_read_options          options;    /* owns its texts */
    category                *categories; /* [n_categories] */
    size_t                   n_categories;
    bool                     settled;          /* no level can be added any more */
    bool                     free_levels;      /* levels may differ from block to block */
    const char              *open;             /* but to this column of a pipe, borrowed; or NULL */
    size_t                   rows, first_rows; /* given so far; of the first block */
    cri_dates                dates;
};

/* --- levels ---------------------------------------------------------------------------------- */

static category *find_category(const cr_stream *s, const char *name)
{
    for (size_t k = 0; k < s->n_categories; k++)
        if (strcmp(s->categories[k].name, name) == 0) return &s->categories[k];
    return NULL;
}

static cr_status add_category(cr_ctx *cx, cr_stream *s, const char *name, category **out)
{
    size_t    n = s->n_categories;
    category *grown = cr_resize(cx, s->categories, n, n + 1, sizeof *grown);
    if (!grown) return CR_ENOMEM;
    s->categories = grown;
    grown[n] = (category){ .name = NULL };
    s->n_categories++;
    grown[n].name = cri_string_copy(cx, name);
    *out = &grown[n];
    return grown[n].name ? CR_OK : CR_ENOMEM;
}

/* Adds the levels of a block to those known. */
static cr_status learn_levels(cr_ctx *cx, cr_stream *s, const cr_table *t)
{
    cr_status st = CR_OK;
    uint32_t  code;
    for (size_t k = 0; k < cri_table_ordinary(t); k++) {
        const cr_column *c = cri_table_ordinary_column(t, k);
        category        *known = c->type == CR_CATEGORY ? find_category(s, c->name) : NULL;
        if (c->type != CR_CATEGORY) continue;
        if (cri_dates_pass_over(&s->dates, c->name)) continue; /* as many as there are days */
        if (!known) CR_TRY(add_category(cx, s, c->name, &known));
        for (size_t i = 0; i < c->n_levels; i++)
            CR_TRY(
                cri_dictionary_code(cx, &known->texts, c->levels[i], strlen(c->levels[i]), &code));
    }
done:
    return st;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static cr_status settle_levels(cr_ctx *cx, cr_stream *s)
{
    for (size_t k = 0; k < s->n_categories; k++) {
        category *c = &s->categories[k];
        c->sorted = cr_alloc(cx, c->texts.n, sizeof *c->sorted);
        if (!c->sorted) return CR_ENOMEM;
        for (size_t i = 0; i < c->texts.n; i++) c->sorted[i] = c->texts.texts[i];
        if (c->texts.n) qsort(c->sorted, c->texts.n, sizeof *c->sorted, compare_texts);
    }
    s->settled = true;
    return CR_OK;
}

static cr_status fail_level(cr_ctx *cx, const cr_stream *s, const cr_table *t, const cr_column *c,
                            uint32_t code)
{
    size_t row = 0;
    char   where[512];
    while (c->codes[row] != code) row++;
    cr_fail(cx, CR_EDATA,
            "%s: column '%s' has the level '%s', which the first %zu rows do not have",
            cri_table_where(t, row, where, sizeof where), c->name, c->levels[code], s->first_rows);
    return cr_fail_hint(
        cx, "give the data as a file, whose levels are read first, or use a larger --block");
}

/* Brings one category of a block to the levels of the stream. */
static cr_status set_levels(cr_ctx *cx, const cr_stream *s, cr_table *t, size_t k)
{
    cr_status        st = CR_OK;
    cr_scratch       sc = cr_scratch_begin(cx);
    const cr_column *c = cri_table_ordinary_column(t, k);
    const category  *known = find_category(s, c->name);
    uint32_t        *map = cr_scratch_bytes(&sc, c->n_levels, sizeof *map);
    size_t           n = known ? known->texts.n : 0;

    CR_TRY(sc.status);
    for (size_t i = 0; i < c->n_levels; i++) {
        const char **found =
            n ? bsearch(&c->levels[i], known->sorted, n, sizeof *known->sorted, compare_texts)
              : NULL;
        if (!found && s->open && strcmp(s->open, c->name) == 0)
            goto done; /* as the block has them */
        if (!found) CR_TRY(fail_level(cx, s, t, c, (uint32_t)i));
        map[i] = (uint32_t)(found - known->sorted);
    }
    if (known) CR_TRY(cri_table_set_levels(cx, t, k, known->sorted, n, map));
done:
    cr_scratch_end(&sc);
    return st;
}

void cri_stream_leave_open(cr_stream *s, const char *column) { s->open = column; }

/* --- blocks ---------------------------------------------------------------------------------- */

/* The next block as the options want it, dates as texts; NULL at the end. */
static cr_status next_texts(cr_ctx *cx, cr_stream *s, cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    CR_TRY(cr_check_interrupt(cx));
    CR_TRY(s->format->next(cx, s->reader, &t));
    if (t && !s->format->retypes && cr_table_columns(t) > 0) {
        cr_table *raw = t;
        t = NULL; /* taken over */
        CR_TRY(cri_table_retype(cx, raw, &s->options, CRI_TEXTS_ARE_LEVELS, &t));
    }
    *out_table = t;
    t = NULL;
done:
    cr_table_free(cx, t);
    return st;
}

static cr_status next_block(cr_ctx *cx, cr_stream *s, cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    CR_TRY(next_texts(cx, s, &t));
    if (t) CR_TRY(cri_dates_take(cx, &s->dates, &s->options, t));
    *out_table = t;
    t = NULL;
done:
    cr_table_free(cx, t);
    return st;
}

/* Reads all blocks once for their levels and dates, and goes back to the start. */
static cr_status read_through(cr_ctx *cx, cr_stream *s)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    for (;;) {
        CR_TRY(next_texts(cx, s, &t));
        if (!t) break;
        CR_TRY(cri_dates_watch(cx, &s->dates, &s->options, t));
        CR_TRY(learn_levels(cx, s, t));
        cr_table_free(cx, t);
        t = NULL;
    }
    CR_TRY(s->format->rewind(cx, s->reader));
done:
    cr_table_free(cx, t);
    return st;
}

/* The first passes, as many as the reader needs, and one more for texts that only began as dates. */
static cr_status scan(cr_ctx *cx, cr_stream *s)
{
    cr_status st = CR_OK;
    do CR_TRY(read_through(cx, s));
    while (s->format->start_scan(s->reader));
    if (cri_dates_settle(&s->dates)) CR_TRY(read_through(cx, s));
    CR_TRY(settle_levels(cx, s));
    for (size_t k = 0; k < s->n_categories; k++) {
        const category *c = &s->categories[k];
        cri_dates_warn(cx, &s->options, c->name, c->sorted, c->texts.n);
        CR_TRY(cri_warn_of_number_levels(cx, &s->options, s->format == &cri_stream_jsonl, c->name,
                                         c->sorted, c->texts.n));
    }
done:
    return st;
}

cr_status cr_stream_next(cr_ctx *cx, cr_stream *s, cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    CR_TRY(next_block(cx, s, &t));
    if (t) {
        CR_TRY(cri_table_set_leaves(cx, t, &(size_t){ 0 }, 1));
        CR_TRY(cri_table_set_reading(cx, t, &s->options));
        if (!s->settled) { /* of a pipe, the first block */
            CR_TRY(learn_levels(cx, s, t));
            CR_TRY(settle_levels(cx, s));
            s->first_rows = cr_table_rows(t);
        }
        for (size_t k = 0; !s->free_levels && k < cri_table_ordinary(t); k++)
            if (cri_table_ordinary_column(t, k)->type == CR_CATEGORY)
                CR_TRY(set_levels(cx, s, t, k));
        s->rows += cr_table_rows(t);
    }
    *out_table = t;
    t = NULL;
done:
    cr_table_free(cx, t);
    return st;
}

cr_status cri_stream_rewind(cr_ctx *cx, cr_stream *s)
{
    s->rows = 0;
    if (cri_source_is_seekable(s->source)) return s->format->rewind(cx, s->reader);
    cr_fail(cx, CR_EUNSUPPORTED, "%s can be read only once, and several passes are needed",
            cri_source_name(s->source));
    return cr_fail_hint(cx, "give the data as a file, or leave out --stream");
}

void cr_stream_free_levels(cr_stream *s) { s->free_levels = true; }

size_t cr_stream_rows(const cr_stream *s) { return s->rows; }

/* --- life ------------------------------------------------------------------------------------ */

static cr_status choose_format(cr_ctx *cx, const char *path, bool follow, cr_stream *s)
{
    cri_format f;
    cr_status  st = cri_tell_format_ahead(cx, path, s->source, &s->options, follow ? 2 : 0, &f);
    if (st != CR_OK) return st;
    switch (f) {
    case CRI_FORMAT_TSV:
        if (!s->options.delimiter && !(s->options.delimiter = cri_string_copy(cx, "\t")))
            return CR_ENOMEM;
        s->format = &cri_stream_csv;
        return CR_OK;
    case CRI_FORMAT_AUTO:
    case CRI_FORMAT_CSV:
        s->format = &cri_stream_csv;
        return CR_OK;
    case CRI_FORMAT_LIBSVM:
        s->format = &cri_stream_libsvm;
        return CR_OK;
    case CRI_FORMAT_NPY:
        s->format = &cri_stream_npy;
        return CR_OK;
    case CRI_FORMAT_JSONL:
        s->format = &cri_stream_jsonl;
        return CR_OK;
    case CRI_FORMAT_NPZ:
    case CRI_FORMAT_SQLITE:
    case CRI_FORMAT_ATTRIBUTES:
    case CRI_FORMAT_LDAC:
        break;
    }
    cr_fail(cx, CR_EUNSUPPORTED, "%s cannot be read block by block", cri_source_name(s->source));
    return cr_fail_hint(cx, "CSV, JSON lines, LIBSVM and .npy can");
}

/* opt_wanted: the reader knows types and levels. */
static cr_status open_source(cr_ctx *cx, const char *path, cri_source *source,
                             const cr_read_options *options, cri_block_size size,
                             const cri_wanted *opt_wanted, cr_stream **out_stream)
{
    cr_status       st = CR_OK;
    cr_scratch      asked_by = cr_scratch_begin(cx);
    cr_read_options asked;
    cr_stream      *s = cr_alloc(cx, 1, sizeof *s);
    if (!s) {
        cri_source_close(source);
        return CR_ENOMEM;
    }
    s->source = source;
    CR_TRY(cri_dates_ask(&asked_by, options, &asked));
    CR_TRY(cri_read_options_copy(cx, &asked, &s->options)); /* needed as long as the stream */
    CR_TRY(choose_format(cx, path, cri_stream_follows(source, size), s));
    CR_TRY(s->format->open(cx, source, &s->options, size, &s->reader));
    if (opt_wanted) s->settled = s->free_levels = true;
    if (opt_wanted && s->format->choose) s->format->choose(s->reader, *opt_wanted);
    if (!cri_source_is_seekable(source))
        cri_source_forget(source);
    else if (!opt_wanted && (s->format->start_scan(s->reader) || s->options.category))
        CR_TRY(scan(cx, s));
    *out_stream = s;
    s = NULL;
done:
    cr_stream_free(cx, s);
    cr_scratch_end(&asked_by);
    return st;
}

cr_status cri_stream_open_source(cr_ctx *cx, const char *path, cri_source *source,
                                 const cr_read_options *options, cri_block_size size,
                                 cr_stream **out_stream)
{
    return open_source(cx, path, source, options, size, NULL, out_stream);
}

static cr_status open_path(cr_ctx *cx, const char *path, const cr_read_options *options,
                           size_t rows, const cri_wanted *opt_wanted, cr_stream **out_stream)
{
    cri_source *source = NULL;
    if (cri_is_database(path, options)) {
        cr_fail(cx, CR_EUNSUPPORTED, "%s cannot be read block by block", path);
        return cr_fail_hint(cx, "CSV, JSON lines, LIBSVM and .npy can");
    }
    cr_status st = cri_source_open(cx, path, &source);
    if (st != CR_OK) return st;
    const cri_block_size size = { .rows = rows, .bytes = cri_leaf_bytes(cx) };
    return open_source(cx, path, source, options, size, opt_wanted, out_stream);
}

cr_status cr_stream_open(cr_ctx *cx, const char *path, const cr_read_options *options, size_t rows,
                         cr_stream **out_stream)
{
    return open_path(cx, path, options, rows, NULL, out_stream);
}

cr_status cri_stream_open_known(cr_ctx *cx, const char *path, const cr_read_options *options,
                                size_t rows, cri_wanted wanted, cr_stream **out_stream)
{
    return open_path(cx, path, options, rows, &wanted, out_stream);
}

void cr_stream_free(cr_ctx *cx, cr_stream *s)
{
    if (!s) return;
    if (s->reader) s->format->free(cx, s->reader);
    for (size_t k = 0; k < s->n_categories; k++) {
        category *c = &s->categories[k];
        cri_string_free(cx, c->name);
        cr_free(cx, c->sorted, c->texts.n, sizeof *c->sorted);
        cri_dictionary_free(cx, &c->texts);
    }
    cr_free(cx, s->categories, s->n_categories, sizeof *s->categories);
    cri_dates_free(cx, &s->dates);
    cr_options_free(cx, cr_read_table, &s->options);
    cri_source_close(s->source);
    cr_free(cx, s, 1, sizeof *s);
}
