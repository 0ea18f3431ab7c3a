/* fuzz_libsvm_model.c -- any bytes give a model that can be saved, or one sentence, within the memory limit, and no
 * leak. */
#include "base/context.h"
#include "models/kernel/svm/libsvm_model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What was read can be saved, and loaded again. */
static void check_model(cr_ctx *cx, const cr_model *m)
{
    char     *saved = NULL;
    size_t    size = 0;
    cr_model *again = NULL;
    cr_status st = cr_model_to_bytes(cx, m, &saved, &size);
    if (st == CR_OK) st = cr_model_from_bytes(cx, "saved", saved, size, &again);
    if (st != CR_OK && st != CR_ENOMEM) abort();
    cr_model_free(cx, again);
    cr_free(cx, saved, size, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cr_ctx   *cx = NULL;
    cr_model *m = NULL;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)16 << 20);
    cr_ctx_set_threads(cx, 1);
    cr_ctx_set_time_limit(cx, 1);
    cr_is_libsvm_model(bytes, size);
    cr_status st = cr_model_parse_libsvm(cx, "fuzz", bytes, size, &m);
    if (st == CR_OK)
        check_model(cx, m);
    else if (m || cr_error(cx)[0] == '\0')
        abort();
    cr_model_free(cx, m);
    if (cr_ctx_memory(cx) != 0) abort();
    cr_ctx_free(cx);
    return 0;
}
