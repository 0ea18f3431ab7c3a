/* fuzz_npy.c -- any bytes as a .npy array and as a .npz archive: a table or a sentence.
 * clang -fsanitize=fuzzer,address,undefined; seeds are any .npy and .npz files. */
#include "data/formats/npy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool fact)
{
    if (!fact) abort();
}

/* The two ways to the elements agree: all at once, and column by column. */
static void compare_roads(cr_ctx *cx, const cri_npy *a)
{
    size_t  n = a->rows * a->cols;
    double *all = cr_alloc(cx, n, sizeof *all), *column = cr_alloc(cx, a->rows, sizeof *column);
    if (all && column && cri_npy_values(cx, "fuzz", a, all) == CR_OK)
        for (size_t j = 0; j < a->cols && j < 64; j++) {
            require(cri_npy_column(cx, "fuzz", a, j, 0, a->rows, column) == CR_OK);
            for (size_t i = 0; i < a->rows; i++)
                require(memcmp(&column[i], &all[i * a->cols + j], sizeof *all) == 0);
        }
    cr_free(cx, all, n, sizeof *all);
    cr_free(cx, column, a->rows, sizeof *column);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cr_ctx *cx;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)1 << 26);
    for (int archive = 0; archive < 2; archive++) {
        cr_table *t = NULL;
        bool      borrowed;
        cr_status st = archive ? cri_npz_read_table(cx, "fuzz", data, size, &t)
                               : cri_npy_read_table(cx, "fuzz", data, size, &t, &borrowed);
        require(st == CR_OK || st == CR_EDATA || st == CR_ENOMEM);
        require((st == CR_OK) == (t != NULL));
        require(st == CR_OK || cr_error(cx)[0] != '\0');
        cr_table_free(cx, t);
    }
    cri_reader r = cri_reader_open(cx, "fuzz", data, size);
    cri_npy    a;
    if (cri_npy_parse(&r, &a) == CR_OK) compare_roads(cx, &a);
    require(cr_ctx_memory(cx) == 0);
    cr_ctx_free(cx);
    return 0;
}
