/* fuzz_kernel.c -- any text read as a kernel expression: it is refused with a caret, or it is a
 * kernel whose canonical form reads back to the same kernel, with finite values and gradients where
 * theta is moderate. */
#include "math/kernel/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth) abort();
}

static void use(cr_ctx *cx, cr_kernel *k)
{
    static const double   X[] = { 0.1, 0.2, 0.3, 0.9, 0.5, 0.4 };
    static const uint32_t codes[] = { 0, 1, 0, 0, 1, 1 };
    static const char    *texts[] = { "abba", "", "b a b" };
    cr_kernel_input       in = { .rows = 3,
                                 .numbers = cr_cmat_of(X, 3, 2),
                                 .codes = codes,
                                 .categories = 2,
                                 .texts = texts,
                                 .text_columns = 1 };
    double                K[9] = { 0 }, *g = calloc(cr_kernel_theta_size(k) + 1, sizeof *g);
    require(g != NULL);
    if (cr_kernel_centre_on(cx, k, &in, NULL) == CR_OK &&
        cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, 3, 3)) == CR_OK) {
        require(K[1] == K[3] || (isnan(K[1]) && isnan(K[3])));
        require(cr_kernel_gram_gradient(cx, k, &in, cr_cmat_of(K, 3, 3), g) == CR_OK);
    }
    free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cr_ctx    *cx = NULL;
    cr_kernel *k = NULL, *again = NULL;
    char      *text = malloc(size + 1);
    require(text && cr_ctx_new(NULL, &cx) == CR_OK);
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    cr_ctx_set_threads(cx, 1);
    cr_ctx_set_memory_limit(cx, 1 << 28);
    cr_status st = cr_kernel_parse(cx, text, NULL, NULL, 0, &k);
    require(st == CR_OK || st == CR_EARG || st == CR_ENOMEM);
    if (st == CR_EARG) require(strchr(cr_error_notes(cx), '^') != NULL);
    if (st == CR_OK) {
        size_t length = cr_kernel_print(k, NULL, 0);
        char  *printed = malloc(length + 1);
        require(printed && cr_kernel_print(k, printed, length + 1) == length);
        require(cr_kernel_parse(cx, printed, NULL, NULL, 0, &again) == CR_OK &&
                cr_kernel_equal(k, again));
        if (cr_kernel_parameters(k) < 100) use(cx, k);
        free(printed);
    }
    cr_kernel_free(cx, k);
    cr_kernel_free(cx, again);
    require(cr_ctx_memory(cx) == 0);
    cr_ctx_free(cx);
    free(text);
    return 0;
}
