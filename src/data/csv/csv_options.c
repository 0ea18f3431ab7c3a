/* csv_options.c -- what the user said about the file. */
#include "csv_internal.h"
#include "base/find.h"
#include "base/list.h"
#include "base/number.h"
#include "data/table/table_internal.h"

#include <string.h>
#include <strings.h>

enum { FROM_TSV = 2 }; /* in the choices of `from` */

cr_status cri_csv_ask_delimiter(cri_csv *csv, char *out_delimiter)
{
    const char *text = csv->options->delimiter;
    *out_delimiter = csv->options->from == FROM_TSV ? '\t' : '\0';
    if (!text || !text[0]) return CR_OK;
    if (strcmp(text, "\\t") == 0 || strcmp(text, "tab") == 0) text = "\t";
    if (strlen(text) != 1) {
        cr_fail(csv->cx, CR_EARG, "the delimiter '%s' is not one character", text);
        return cr_fail_hint(csv->cx, "write --delimiter ';', or --delimiter tab");
    }
    unsigned char c = (unsigned char)text[0];
    bool letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || strchr("\"\r\n.+-", c) || (c < ' ' && c != '\t') || c >= 0x7f) {
        cr_fail(csv->cx, CR_EARG, "%s%.*s%s cannot be the delimiter",
                c > ' ' && c < 0x7f ? "'" : "a control character",
                c > ' ' && c<0x7f, text, c> ' ' && c < 0x7f ? "'" : "");
        return cr_fail_hint(csv->cx, "quotes, letters, digits and . + - are part of the fields");
    }
    *out_delimiter = text[0];
    return CR_OK;
}

/* One character that an option gives; '\0' where it gives none. */
static cr_status one_character(cr_ctx *cx, const char *option, const char *text,
                               const char *allowed, char *out)
{
    *out = '\0';
    if (!text || !text[0]) return CR_OK;
    if (strcmp(text, "space") == 0) text = " ";
    if (strcmp(text, "none") == 0 && strchr(allowed, ' ')) return CR_OK;
    *out = text[0];
    if (!text[1] && (allowed[0] == '\0' || strchr(allowed, text[0]))) return CR_OK;
    if (allowed[0] == '\0')
        return cr_fail(cx, CR_EARG, "--%s '%s' is not one character", option, text);
    return cr_fail(cx, CR_EARG, "--%s '%s' is not one of %s%s", option, text,
                   strchr(allowed, ' ') ? ". , ' space none" : ". ,", "");
}

/* One of the characters of a number style, to what is asked for or, if marked so, to the usual. */
static cr_status style_character(cri_csv *csv, const char *option, const char *text,
                                 const char *allowed, char *asked, char *usual)
{
    enum { LONGEST = 16 };
    char   bare[LONGEST] = "";
    size_t n = text ? strlen(text) : 0;
    if (!cri_read_option_is_usual(text) || n >= LONGEST)
        return one_character(csv->cx, option, text, allowed, asked);
    memcpy(bare, text, n - 1);
    return one_character(csv->cx, option, bare, allowed, usual);
}

cr_status cri_csv_ask_style(cri_csv *csv)
{
    cr_status              st = CR_OK;
    const cr_read_options *o = csv->options;
    cri_csv_characters    *a = &csv->asked, *u = &csv->usual;
    CR_TRY(style_character(csv, "decimal", o->decimal, ".,", &a->decimal, &u->decimal));
    CR_TRY(style_character(csv, "thousands", o->thousands, ".,' ", &a->thousands, &u->thousands));
    a->no_groups = o->thousands && strcmp(o->thousands, "none") == 0;
    if (a->thousands && a->thousands == (a->decimal ? a->decimal : '.')) {
        if (!a->decimal && a->thousands == '.') return CR_OK; /* the comma is the decimal one */
        CR_TRY(cr_fail(csv->cx, CR_EARG, "--decimal and --thousands cannot be the same character"));
    }
done:
    return st;
}

cr_status cri_csv_begin_text(cr_ctx *cx, cri_source *source, const cr_read_options *options)
{
    char      comment;
    cr_status st = one_character(cx, "comment", options->comment, "", &comment);
    if (st != CR_OK) return st;
    cri_text_decoder how =
        cri_text_decoder_of((cri_encoding)options->encoding, comment, options->skip);
    const char *between = options->delimiter;
    if (between && strlen(between) == 1) how.delimiter = between[0];
    if (options->from == FROM_TSV || (between && strlen(between) > 1)) how.delimiter = '\t';
    return cri_source_set_text(source, &how);
}

size_t cri_csv_separator_line(const char *text, size_t size, char *out_delimiter)
{
    size_t n = 0, length;
    while (n < size && (text[n] == ' ' || text[n] == '\n' || text[n] == '\r'))
        n++; /* lines skipped */
    if (size - n < 6 || strncasecmp(text + n, "sep=", 4) != 0) return 0;
    length = n + 5;
    if (text[length] == '\r') length++;
    if (length < size && text[length] == '\n') length++;
    if (length == n + 5) return 0;
    *out_delimiter = text[n + 4];
    return length;
}

cr_status cri_csv_take_missing_values(cri_csv *csv)
{
    cr_status st = CR_OK;
    char    **texts = NULL;
    size_t    n = 0, numbers = 0;
    if (!csv->options->missing_values) return CR_OK;
    CR_TRY(cri_list_split(&csv->scratch, csv->options->missing_values, &texts, &n));
    double *values = cr_scratch_f64(&csv->scratch, n);
    CR_TRY(csv->scratch.status);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(texts[i]);
        if (cri_parse_double(texts[i], texts[i] + length, &values[numbers]) == length) numbers++;
    }
    csv->dialect.missing = (const char *const *)texts;
    csv->dialect.n_missing = n;
    csv->dialect.missing_numbers = values;
    csv->dialect.n_missing_numbers = numbers;
done:
    return st;
}

static const char *column_name(const void *columns, size_t i)
{
    return ((const cri_csv_column *)columns)[i].name;
}

static cr_status find_column(const cri_csv *csv, const char *name, cri_csv_column **out_column)
{
    uint32_t i = cri_csv_levels_find(&csv->names, name, strlen(name));
    if (i != UINT32_MAX) {
        *out_column = &csv->columns[i];
        return CR_OK;
    }
    cr_fail(csv->cx, CR_EDATA, "column '%s' not found in %s", name, cri_source_name(csv->source));
    cr_fail_nearest(csv->cx, name, "columns", csv->n, column_name, csv->columns);
    return csv->has_header ? CR_EDATA : cri_fail_without_header(csv->cx);
}

void cri_csv_warn_of_zeros(const cri_csv *csv, const cri_csv_column *k)
{
    const char *expected = cri_read_expected_names(csv->options);
    if (expected && *expected) return; /* a model does not look at it */
    cr_log(csv->cx, CR_LOG_WARNING,
           "column '%s' of %s is read as text: its whole numbers would lose their leading zeros as "
           "numbers; --real '%s' reads them as numbers, --category '%s' silences this warning",
           k->name, cri_source_name(csv->source), k->name, k->name);
}

void cri_csv_warn_of_late_zeros(const cri_csv *csv, cri_csv_column *k)
{
    if (k->codes || k->mode == CRI_CSV_SKIP || !k->keeps_zeros || !k->zeros ||
        k->seen != CRI_CSV_WHOLE)
        return;
    k->keeps_zeros = false; /* once */
    cr_log(
        csv->cx, CR_LOG_WARNING,
        "column '%s' of %s begins with numbers, and whole numbers with leading zeros follow, which "
        "are lost: --category '%s' reads the column as text, --real '%s' silences this warning",
        k->name, cri_source_name(csv->source), k->name, k->name);
}

/* Columns like 007 are texts, unless the options or a model that knows the column want numbers.  Other
 * columns do not matter to a model, so nothing is said of them. */
static cr_status keep_padded(cri_csv *csv)
{
    cr_status st = CR_OK;
    char    **names = NULL;
    size_t    n = 0;
    CR_TRY(cri_list_split(&csv->scratch, cri_read_expected_names(csv->options), &names, &n));
    for (size_t c = 0; c < csv->n; c++) {
        cri_csv_column *k = &csv->columns[c];
        k->keeps_zeros = !k->must_be_real && !k->must_be_category &&
                         !cri_has_name((const char *const *)names, n, k->name);
        if (!k->padded || !k->keeps_zeros) continue;
        k->mode = CRI_CSV_CATEGORY;
        cri_csv_warn_of_zeros(csv, k);
    }
done:
    return st;
}

/* Numbers that are taken as names of rows, unless the user has named their column. */
static void warn_of_row_names(const cri_csv *csv)
{
    if (!csv->row_names_in_doubt || strcmp(csv->columns[0].name, "x1") != 0) return;
    cr_log(
        csv->cx, CR_LOG_WARNING,
        "the header of %s has one name less than the rows have fields: the first column is taken "
        "as the names of the rows, and called x1%s; --rename x1=row silences this warning",
        cri_source_name(csv->source),
        csv->dialect.delimiter == ','
            ? " (numbers with a decimal comma need quotes, or semicolons between the fields)"
            : "");
}

cr_status cri_csv_take_column_options(cri_csv *csv)
{
    cr_status       st = CR_OK;
    char          **names = NULL;
    size_t          n = 0;
    cri_csv_column *k = NULL;
    CR_TRY(cri_list_split(&csv->scratch, csv->options->category, &names, &n));
    for (size_t i = 0; i < n; i++) {
        CR_TRY(find_column(csv, names[i], &k));
        k->must_be_category = true;
        k->mode = CRI_CSV_CATEGORY;
    }
    CR_TRY(cri_list_split(&csv->scratch, csv->options->real, &names, &n));
    for (size_t i = 0; i < n; i++) {
        CR_TRY(find_column(csv, names[i], &k));
        if (k->must_be_category)
            CR_TRY(cr_fail(csv->cx, CR_EARG, "column '%s' cannot be both real and a category",
                           k->name));
        k->must_be_real = true;
        k->mode = CRI_CSV_STRICT;
    }
    CR_TRY(keep_padded(csv));
    cri_csv_warn_of_styles(csv);
    cri_csv_warn_of_doubts(csv);
    if (csv->empty_at_end > 0)
        cr_log(csv->cx, CR_LOG_WARNING,
               "the lines of %s end with %s: the empty cells behind %s are not read",
               cri_source_name(csv->source), csv->empty_at_end > 1 ? "delimiters" : "a delimiter",
               csv->empty_at_end > 1 ? "them" : "it");
    warn_of_row_names(csv);
    if (csv->header_in_doubt)
        cr_log(csv->cx, CR_LOG_WARNING,
               "the first line of %s is read as data, but may hold the names of the columns: "
               "--header yes reads it so, --header no silences this warning",
               cri_source_name(csv->source));
done:
    return st;
}
