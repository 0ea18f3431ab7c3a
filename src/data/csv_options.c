/* csv_options.c -- what the user said about the file. */
#include "csv_internal.h"
#include "../base/number.h"

#include <string.h>

enum { FROM_TSV = 2 }; /* in the choices of `from` */

/* The next name of a list "a,b,c"; *at moves behind it.  false at the end. */
static bool next_name(const char **at, const char **out_name, size_t *out_length)
{
    while (**at == ',') ++*at;
    *out_name = *at;
    *out_length = strcspn(*at, ",");
    *at += *out_length;
    return *out_length > 0;
}

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
                c > ' ' && c < 0x7f ? "'" : "a control character", c > ' ' && c < 0x7f, text,
                c > ' ' && c < 0x7f ? "'" : "");
        return cr_fail_hint(csv->cx, "quotes, letters, digits and . + - are part of the fields");
    }
    *out_delimiter = text[0];
    return CR_OK;
}

cr_status cri_csv_take_missing_values(cri_csv *csv)
{
    const char *at = csv->options->missing_values, *name;
    size_t      n = 0, numbers = 0, length;
    if (!at) return CR_OK;
    size_t       most = strlen(at) / 2 + 1;
    const char **texts = cr_scratch_bytes(&csv->scratch, most, sizeof *texts);
    double      *values = cr_scratch_f64(&csv->scratch, most);
    if (csv->scratch.status != CR_OK) return csv->scratch.status;
    while (next_name(&at, &name, &length)) {
        char *copy = cr_scratch_bytes(&csv->scratch, length + 1, 1);
        if (!copy) return csv->scratch.status;
        memcpy(copy, name, length);
        texts[n++] = copy;
        if (cri_parse_double(copy, copy + length, &values[numbers]) == length) numbers++;
    }
    csv->dialect.missing = texts;
    csv->dialect.n_missing = n;
    csv->dialect.missing_numbers = values;
    csv->dialect.n_missing_numbers = numbers;
    return CR_OK;
}

static const char *column_name(const void *columns, size_t i)
{
    return ((const cri_csv_column *)columns)[i].name;
}

static cr_status find_column(const cri_csv *csv, const char *name, size_t length,
                             cri_csv_column **out_column)
{
    char     shown[256];
    uint32_t i = cri_csv_levels_find(&csv->names, name, length);
    if (i != UINT32_MAX) {
        *out_column = &csv->columns[i];
        return CR_OK;
    }
    if (length >= sizeof shown) length = sizeof shown - 1;
    memcpy(shown, name, length);
    shown[length] = '\0';
    cr_fail(csv->cx, CR_EDATA, "column '%s' not found in %s", shown, cri_source_name(csv->source));
    return cr_fail_nearest(csv->cx, shown, "columns", csv->n, column_name, csv->columns);
}

cr_status cri_csv_take_column_options(cri_csv *csv)
{
    cr_status       st = CR_OK;
    const char     *at, *name;
    size_t          length;
    cri_csv_column *k = NULL;
    for (at = csv->options->category; at && next_name(&at, &name, &length);) {
        CR_TRY(find_column(csv, name, length, &k));
        k->must_be_category = true;
        k->mode = CRI_CSV_CATEGORY;
    }
    for (at = csv->options->real; at && next_name(&at, &name, &length);) {
        CR_TRY(find_column(csv, name, length, &k));
        if (k->must_be_category)
            CR_TRY(cr_fail(csv->cx, CR_EARG, "column '%s' cannot be both real and a category",
                           k->name));
        k->must_be_real = true;
        k->mode = CRI_CSV_STRICT;
    }
done:
    return st;
}
