/* fuzz_csv.c -- any bytes as a CSV file: no crash, and two ways to cut it agree.
 *   clang -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -pthread -D_XOPEN_SOURCE=700 -Isrc \
 *       tests/fuzz/fuzz_csv.c src/base/{context,edit_distance,number*,parallel,reader,scratch}.c \
 *       src/data/{csv*,source,table}.c -lz -lzstd -lm -o fuzz_csv
 *   ./fuzz_csv tests/data/csv_corpus
 * The first byte chooses header, sizes and comments, the rest is the file (plain, gzip or zstd). */
#include "data/csv/csv.h"
#include "data/table/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cr_status read_once(cr_ctx *cx, const uint8_t *data, size_t size, const cr_read_options *o,
                           const cri_csv_sizes *sizes, cr_table **out)
{
    cri_source *source = NULL;
    cr_status   st = cri_source_open_bytes(cx, "fuzz", data, size, &source);
    if (st == CR_OK) st = cri_csv_read_cut(cx, source, o, sizes, out);
    cri_source_close(source);
    return st;
}

static void require(int truth)
{
    if (!truth) abort();
}

static void compare(const cr_table *a, const cr_table *b)
{
    size_t rows = cr_table_rows(a);
    require(rows == cr_table_rows(b) && cr_table_columns(a) == cr_table_columns(b));
    for (size_t c = 0; c < cr_table_columns(a); c++) {
        const cr_column *x = cr_table_column(a, c), *y = cr_table_column(b, c);
        require(x->type == y->type && x->n_levels == y->n_levels && strcmp(x->name, y->name) == 0);
        for (size_t k = 0; k < x->n_levels; k++) require(strcmp(x->levels[k], y->levels[k]) == 0);
        for (size_t i = 0; i < rows; i++) {
            if (x->type == CR_CATEGORY)
                require(x->codes[i] == y->codes[i]);
            else
                require(x->values[i] == y->values[i] ||
                        (isnan(x->values[i]) && isnan(y->values[i])));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const unsigned      choice = data[0];
    const cri_csv_sizes large = { 1 << 14, 4, 1 << 14, false };
    const cri_csv_sizes tiny = { 1 + choice % 13, 1 + choice / 13 % 3, 1 << 14, false };
    char                mark[] = "#";
    cr_read_options     o = { .header = (int)(choice / 39 % 3),
                              .comment = choice >= 117 ? mark : NULL };
    cr_ctx             *a = NULL, *b = NULL;
    cr_table           *t = NULL, *u = NULL;
    require(cr_ctx_new(NULL, &a) == CR_OK && cr_ctx_new(NULL, &b) == CR_OK);
    cr_ctx_set_threads(a, 1);
    cr_ctx_set_threads(b, 1);
    cr_ctx_set_memory_limit(a, 1 << 20);
    cr_ctx_set_memory_limit(b, 1 << 20);
    cr_status one = read_once(a, data + 1, size - 1, &o, &large, &t);
    cr_status two = read_once(b, data + 1, size - 1, &o, &tiny, &u);
    require(one == two || one == CR_ENOMEM || two == CR_ENOMEM);
    if (one == CR_OK && two == CR_OK) compare(t, u);
    if (one == CR_EDATA && two == CR_EDATA) require(strcmp(cr_error(a), cr_error(b)) == 0);
    cr_table_free(a, t);
    cr_table_free(b, u);
    require(cr_ctx_memory(a) == 0 && cr_ctx_memory(b) == 0);
    cr_ctx_free(a);
    cr_ctx_free(b);
    return 0;
}
