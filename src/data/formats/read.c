/* read.c -- which reader the data are for. */
#include "read_internal.h"
#include "attributes.h"
#include "dates.h"
#include "jsonl.h"
#include "data/csv/csv_internal.h"
#include "ldac.h"
#include "libsvm.h"
#include "npy.h"
#include "number_texts.h"
#include "retype.h"
#include "sqlite_source.h"
#include "data/table/table_internal.h"

#include <string.h>
#include <strings.h>

static const char SQLITE_PREFIX[] = "sqlite:";

/* --- telling the format ---------------------------------------------------------------------- */

static bool begins_with(const char *bytes, size_t size, const char *magic, size_t length)
{
    return size >= length && memcmp(bytes, magic, length) == 0;
}

/* true when the path ends with `ending`, not counting .gz or .zst. */
static bool has_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    if (n > 3 && strcasecmp(path + n - 3, ".gz") == 0)
        n -= 3;
    else if (n > 4 && strcasecmp(path + n - 4, ".zst") == 0)
        n -= 4;
    return n > m && strncasecmp(path + n - m, ending, m) == 0;
}

/* true for a zip whose first entry has this name (its local header is 30 bytes and then the
 * name). */
static bool is_zip_of(const char *bytes, size_t size, const char *name)
{
    size_t n = strlen(name);
    return begins_with(bytes, size, "PK\3\4", 4) && size >= 30 + n &&
           (unsigned char)bytes[26] == n && bytes[27] == 0 && memcmp(bytes + 30, name, n) == 0;
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && strchr(" \t\r\n", *p) && *p) p++;
    return p;
}

bool cri_begins_objects(const char *bytes, size_t size)
{
    bool        marked = begins_with(bytes, size, "\xef\xbb\xbf", 3);
    const char *end = bytes + size, *p = skip_blanks(bytes + (marked ? 3 : 0), end);
    bool        array = p < end && *p == '[';
    if (array) p = skip_blanks(p + 1, end);
    if (p == end || *p++ != '{') return false;
    p = skip_blanks(p, end);
    return p < end && (*p == '"' || (array && *p == '}'));
}

static cri_format guess_format(const char *path, const char *bytes, size_t size)
{
    if (begins_with(bytes, size, "\x93NUMPY", 6)) return CRI_FORMAT_NPY;
    if (begins_with(bytes, size, "PK\3\4", 4) || begins_with(bytes, size, "PK\5\6", 4))
        return CRI_FORMAT_NPZ;
    if (begins_with(bytes, size, "SQLite format 3", 16)) return CRI_FORMAT_SQLITE;
    if (has_ending(path, ".svm") || has_ending(path, ".libsvm")) return CRI_FORMAT_LIBSVM;
    if (has_ending(path, ".crfsuite")) return CRI_FORMAT_ATTRIBUTES;
    if (has_ending(path, ".ldac")) return CRI_FORMAT_LDAC;
    if (has_ending(path, ".tsv")) return CRI_FORMAT_TSV;
    if (has_ending(path, ".jsonl") || has_ending(path, ".ndjson")) return CRI_FORMAT_JSONL;
    if (!has_ending(path, ".csv") && cri_libsvm_looks_like(bytes, size)) return CRI_FORMAT_LIBSVM;
    if (!has_ending(path, ".csv") && cri_begins_objects(bytes, size)) return CRI_FORMAT_JSONL;
    return CRI_FORMAT_CSV;
}

/* Refuses what is a well-known format, but not one of data that can be read here. */
static cr_status refuse_foreign(cr_ctx *cx, const char *name, const char *bytes, size_t size)
{
    static const struct {
        const char *magic, *what;
    } formats[] = { { "PAR1", "a Parquet file" },
                    { "\x89HDF\r\n\x1a\n", "an HDF5 file" },
                    { "ARROW1", "an Arrow file" },
                    { "\xD0\xCF\x11\xE0", "an old Excel file" } };
    bool zip = begins_with(bytes, size, "PK", 2);
    if (is_zip_of(bytes, size, "model.json") || (zip && has_ending(name, ".cred"))) {
        cr_fail(cx, CR_EDATA, "%s is a model, not data", name);
        return cr_fail_hint(cx, "to look at it: credence describe %s",
                            strcmp(name, "stdin") == 0 ? "-" : name);
    }
    if (is_zip_of(bytes, size, "[Content_Types].xml")) {
        cr_fail(cx, CR_EDATA, "%s is an Excel or other Office file", name);
        return cr_fail_hint(cx, "save it as CSV first");
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (begins_with(bytes, size, formats[i].magic, strlen(formats[i].magic))) {
            cr_fail(cx, CR_EDATA, "%s is %s, which is not supported", name, formats[i].what);
            return cr_fail_hint(cx, "save it as CSV first");
        }
    return CR_OK;
}

/* --- reading --------------------------------------------------------------------------------- */

typedef cr_status whole_reader(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                               cr_table **out_table);

static cr_status read_whole(cr_ctx *cx, cri_source *source, whole_reader *reader,
                            cr_table **out_table)
{
    cri_block data = { 0 };
    cr_status st = cri_source_hold(cx, source, &data);
    if (st == CR_OK) st = reader(cx, cri_source_name(source), data.bytes, data.size, out_table);
    cri_block_free(cx, &data);
    return st;
}

/* A .npy array; the table keeps the bytes when its columns point into them. */
static cr_status read_npy(cr_ctx *cx, cri_source *source, cr_table **out_table)
{
    cri_block data = { 0 };
    bool      borrowed = false;
    cr_status st = cri_source_hold(cx, source, &data);
    if (st == CR_OK)
        st = cri_npy_read_table(cx, cri_source_name(source), data.bytes, data.size, out_table,
                                &borrowed);
    if (st == CR_OK && borrowed)
        cri_table_keep_block(*out_table, data);
    else
        cri_block_free(cx, &data);
    return st;
}

static cr_status read_delimited(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                                bool tabs, bool may_be_empty, cr_table **out_table)
{
    char            tab[] = "\t";
    cr_read_options with_tabs = *options;
    if (tabs && !options->delimiter) with_tabs.delimiter = tab;
    return may_be_empty ? cri_csv_read_any(cx, source, &with_tabs, out_table)
                        : cri_csv_read(cx, source, &with_tabs, out_table);
}

/* Gives the table that was read, which remembers what its cells mean. */
static cr_status give_table(cr_ctx *cx, cr_table *table, const cr_read_options *options,
                            cr_table **out_table)
{
    cr_status st = cri_table_set_reading(cx, table, options);
    if (st == CR_OK)
        *out_table = table;
    else
        cr_table_free(cx, table);
    return st;
}

static cr_status read_database(cr_ctx *cx, const char *path, const cr_read_options *options,
                               cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *raw = NULL, *table = NULL;
    if (strncmp(path, SQLITE_PREFIX, sizeof SQLITE_PREFIX - 1) == 0)
        path += sizeof SQLITE_PREFIX - 1;
    CR_TRY(cri_sqlite_read(cx, path, &raw));
    CR_TRY(cri_table_retype(cx, raw, options, CRI_TEXTS_ARE_TYPED, &table));
    CR_TRY(give_table(cx, table, options, out_table));
done:
    return st;
}

/* The bytes of the source in this format. */
static cr_status read_format(cr_ctx *cx, const char *path, cri_source *source,
                             const cr_read_options *options, cri_format f, bool may_be_empty,
                             cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *table = NULL;
    switch (f) {
    case CRI_FORMAT_AUTO:
    case CRI_FORMAT_CSV:
    case CRI_FORMAT_TSV:
        return read_delimited(cx, source, options, f == CRI_FORMAT_TSV, may_be_empty, out_table);
    case CRI_FORMAT_LIBSVM:
        CR_TRY(read_whole(cx, source, cri_libsvm_read, &table));
        break;
    case CRI_FORMAT_ATTRIBUTES:
        CR_TRY(read_whole(cx, source, cri_attributes_read, &table));
        break;
    case CRI_FORMAT_LDAC:
        CR_TRY(read_whole(cx, source, cri_ldac_read, &table));
        break;
    case CRI_FORMAT_JSONL:
        CR_TRY(cri_jsonl_read(cx, source, options, &table));
        break;
    case CRI_FORMAT_NPY:
        CR_TRY(read_npy(cx, source, &table));
        break;
    case CRI_FORMAT_NPZ:
        CR_TRY(read_whole(cx, source, cri_npz_read_table, &table));
        break;
    case CRI_FORMAT_SQLITE:
        if (strcmp(path, "-") != 0) return read_database(cx, path, options, out_table);
        CR_TRY(
            cr_fail(cx, CR_EDATA, "stdin is an SQLite database, which must be read from a file"));
        break;
    }
    CR_TRY(cri_table_retype(cx, table, options, CRI_TEXTS_ARE_LEVELS, out_table));
done:
    return st;
}

bool cri_is_database(const char *path, const cr_read_options *options)
{
    bool prefixed = strncmp(path, SQLITE_PREFIX, sizeof SQLITE_PREFIX - 1) == 0;
    return options->from == CRI_FORMAT_SQLITE || (options->from == CRI_FORMAT_AUTO && prefixed);
}

cr_status cri_tell_format(cr_ctx *cx, const char *path, cri_source *source,
                          const cr_read_options *options, cri_format *out_format)
{
    return cri_tell_format_ahead(cx, path, source, options, 0, out_format);
}

cr_status cri_tell_format_ahead(cr_ctx *cx, const char *path, cri_source *source,
                                const cr_read_options *options, size_t lines,
                                cri_format *out_format)
{
    enum { LOOK = 1 << 16 };
    cr_status   st = CR_OK;
    const char *bytes = NULL;
    size_t      size = 0;

    *out_format = (cri_format)options->from;
    if (*out_format != CRI_FORMAT_AUTO) return CR_OK;
    CR_TRY(cri_source_peek(source, 2, &bytes, &size));
    if (begins_with(bytes, size, "\xff\xfe", 2) || begins_with(bytes, size, "\xfe\xff", 2) ||
        options->encoding >= CRI_ENCODING_UTF_16LE)
        CR_TRY(cri_csv_begin_text(cx, source, options));
    CR_TRY(lines ? cri_source_peek_lines(source, lines, LOOK, &bytes, &size)
                 : cri_source_peek(source, LOOK, &bytes, &size));
    CR_TRY(refuse_foreign(cx, cri_source_name(source), bytes, size));
    *out_format = guess_format(path, bytes, size);
done:
    return st;
}

/* Frees the table on failure. */
static cr_status warn_of_texts(cr_ctx *cx, const cr_read_options *options, cri_format f,
                               cr_table **table)
{
    cr_status st = cri_warn_of_number_texts(cx, options, f == CRI_FORMAT_JSONL, *table);
    if (st == CR_OK) return CR_OK;
    cr_table_free(cx, *table);
    *table = NULL;
    return st;
}

static cr_status read_source(cr_ctx *cx, const char *path, cri_source *source,
                             const cr_read_options *options, bool may_be_empty,
                             cr_table **out_table)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cr_read_options asked;
    cr_table       *table = NULL;
    cri_format      f;
    if (options->from > CRI_FORMAT_LDAC)
        CR_TRY(cr_fail(cx, CR_EARG, "--from names a network format, but %s is read as data",
                       cri_source_name(source)));
    CR_TRY(cri_tell_format(cx, path, source, options, &f));
    CR_TRY(cri_dates_ask(&s, options, &asked));
    CR_TRY(read_format(cx, path, source, &asked, f, may_be_empty, &table));
    CR_TRY(cri_dates_take_all(cx, &asked, &table));
    CR_TRY(warn_of_texts(cx, &asked, f, &table));
    CR_TRY(give_table(cx, table, options, out_table));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_table_read_source(cr_ctx *cx, const char *path, cri_source *source,
                                const cr_read_options *options, cr_table **out_table)
{
    return read_source(cx, path, source, options, false, out_table);
}

static cr_status read_path(cr_ctx *cx, const char *path, const cr_read_options *options,
                           bool may_be_empty, cr_table **out_table)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cr_read_options asked;
    cr_table       *table = NULL;
    cri_source     *source = NULL;
    if (cri_is_database(path, options)) {
        CR_TRY(cri_dates_ask(&s, options, &asked));
        CR_TRY(read_database(cx, path, &asked, &table));
        CR_TRY(cri_dates_take_all(cx, &asked, &table));
        CR_TRY(warn_of_texts(cx, &asked, CRI_FORMAT_SQLITE, &table));
        *out_table = table;
        goto done;
    }
    CR_TRY(cri_source_open(cx, path, &source));
    CR_TRY(read_source(cx, path, source, options, may_be_empty, out_table));
done:
    cri_source_close(source);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_table_read(cr_ctx *cx, const char *path, const cr_read_options *options,
                        cr_table **out_table)
{
    return read_path(cx, path, options, false, out_table);
}

cr_status cri_table_read_any(cr_ctx *cx, const char *path, const cr_read_options *options,
                             cr_table **out_table)
{
    return read_path(cx, path, options, true, out_table);
}
