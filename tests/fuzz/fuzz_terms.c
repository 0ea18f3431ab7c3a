/* fuzz_terms.c -- any text read as --terms of a small table: it is refused in words, or it makes a
 * design whose terms have names and, where they are numbers, values. */
#include "data/design/design_internal.h"
#include "data/formats/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth) abort();
}

static cr_table *small_table(cr_ctx *cx)
{
    static const double      x[] = { 1.5, 0.25, 3, 2 }, y[] = { 1, 2, 4, 3 };
    static const char *const k[] = { "a", "b", "c", "a" }, *const g[] = { "u", "v", "u", "v" };
    cr_table *t = NULL;
    require(cr_table_new(cx, "t", 4, &t) == CR_OK);
    require(cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1) == CR_OK);
    require(cr_table_add_numbers(cx, t, "y", CR_INTEGER, y, 1) == CR_OK);
    require(cr_table_add_texts(cx, t, "k", k) == CR_OK);
    require(cr_table_add_texts(cx, t, "g", g) == CR_OK);
    return t;
}

static void use(cr_ctx *cx, const cr_table *t, const cr_design *d)
{
    cri_rows r = { 0 };
    for (size_t j = 0; j < cr_design_terms(d); j++) require(cr_design_term_name(d, j)[0] != '\0');
    if (cr_design_terms(d) > 1000 || cri_rows_open(cx, d, t, CRI_TARGET_NONE, &r) != CR_OK) return;
    double *X = malloc((r.n * r.p + 1) * sizeof *X);
    require(X != NULL);
    cri_rows_fill(&r, 0, r.n, X, r.p);
    for (size_t i = 0; i < r.n * r.p; i++) require(isfinite(X[i]));
    free(X);
    cri_rows_close(cx, &r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cr_ctx           *cx = NULL;
    cr_design        *d = NULL;
    char             *text = malloc(size + 1);
    cr_design_options o = { .terms = text };
    require(text && cr_ctx_new(NULL, &cx) == CR_OK);
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    cr_ctx_set_threads(cx, 1);
    cr_ctx_set_memory_limit(cx, 1 << 28);
    cr_table        *t = small_table(cx);
    cri_design_needs needs = { .coding = size % 2 ? CRI_CODING_CODE : CRI_CODING_CONTRAST };
    cr_status        st = cri_design_fit(cx, t, &o, &needs, &d);
    require(st != CR_OK || d != NULL);
    require(st == CR_OK || cr_error(cx)[0] != '\0');
    if (d) use(cx, t, d);
    cri_design_free(cx, d);
    cr_table_free(cx, t);
    require(cr_ctx_memory(cx) == 0);
    cr_ctx_free(cx);
    free(text);
    return 0;
}
