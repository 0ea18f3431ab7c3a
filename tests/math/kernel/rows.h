/* rows.h -- rows for the tests of kernels: reproducible numbers, codes and texts. */
#ifndef CREDENCE_TEST_KERNEL_ROWS_H
#define CREDENCE_TEST_KERNEL_ROWS_H

#include "support.h"

#include "math/kernel/kernel.h"

typedef struct dice {
    uint64_t state;
} dice;

static inline uint64_t roll(dice *d)
{
    d->state += 0x9E3779B97F4A7C15u;
    uint64_t z = d->state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline double uniform(dice *d, double low, double high)
{
    return low + (high - low) * ((double)(roll(d) >> 11) * 0x1p-53);
}

static inline size_t pick(dice *d, size_t n) { return (size_t)(roll(d) % n); }

enum { ROWS = 150, COLUMNS = 3, CODES = 2, LEVELS = 3, LETTERS = 13 };

typedef struct rows {
    double          X[ROWS * COLUMNS];
    uint32_t        codes[ROWS * CODES];
    char            text[ROWS][LETTERS + 1];
    const char     *texts[ROWS];
    cr_kernel_input in;
} rows;

/* n rows of numbers in (low, high), two categories of three levels, one text of the letters a, b,
 * c. */
static inline void make_rows(rows *r, dice *d, size_t n, double low, double high)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < COLUMNS; c++) r->X[i * COLUMNS + c] = uniform(d, low, high);
        for (size_t c = 0; c < CODES; c++) r->codes[i * CODES + c] = (uint32_t)pick(d, LEVELS);
        size_t length = pick(d, LETTERS);
        for (size_t c = 0; c < length; c++) r->text[i][c] = "abc "[pick(d, 4)];
        r->text[i][length] = '\0';
        r->texts[i] = r->text[i];
    }
    r->in = (cr_kernel_input){ .rows = n,
                               .numbers = cr_cmat_of(r->X, n, COLUMNS),
                               .codes = r->codes,
                               .categories = CODES,
                               .texts = r->texts,
                               .text_columns = 1 };
}

/* A column table: x1..x3 numbers, c1, c2 categories of LEVELS levels, t1 texts. */
static inline ptrdiff_t find_column(const void *user, const char *name, cr_kernel_column *out)
{
    (void)user;
    if (name[0] == '\0' || name[1] < '1' || name[2] != '\0') return -1;
    *out = (cr_kernel_column){ .kind = CR_KERNEL_NUMBER };
    if (name[0] == 'x' && name[1] <= '3') return name[1] - '1';
    *out = (cr_kernel_column){ .kind = CR_KERNEL_CATEGORY, .levels = LEVELS };
    if (name[0] == 'c' && name[1] <= '2') return name[1] - '1';
    *out = (cr_kernel_column){ .kind = CR_KERNEL_TEXT };
    return name[0] == 't' && name[1] == '1' ? 0 : -1;
}

static inline const char *name_column(const void *user, size_t i)
{
    static const char *const names[] = { "x1", "x2", "x3", "c1", "c2", "t1" };
    (void)user;
    return names[i];
}

static const cr_kernel_columns test_columns = { find_column, name_column, NULL, 6,
                                                COLUMNS,     NULL,        NULL };

/* Rows that centre(...) takes its means over. */
static inline const cr_kernel_input *reference_rows(void)
{
    static rows r;
    dice        d = { 77 };
    make_rows(&r, &d, 19, 0.1, 0.9);
    return &r.in;
}

static inline cr_kernel *parse(cr_ctx *cx, const char *text)
{
    cr_kernel *k = NULL;
    if (cr_kernel_parse(cx, text, &test_columns, NULL, 0, &k) != CR_OK)
        fail_msg("%s: %s\n%s", text, cr_error(cx), cr_error_notes(cx));
    if (cr_kernel_needs_rows(k)) assert_ok(cx, cr_kernel_centre_on(cx, k, reference_rows(), NULL));
    return k;
}

#endif
