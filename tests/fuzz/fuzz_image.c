/* fuzz_image.c -- any bytes give an image or one sentence, within the memory limit, and no leak. */
#include "base/context.h"
#include "data/image/image_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cr_ctx  *cx = NULL;
    cr_image image = { 0 };
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)16 << 20);
    cr_ctx_set_threads(cx, 1);
    cr_status st = cri_image_parse(cx, "fuzz", bytes, size, &image);
    if (st == CR_OK) {
        for (size_t i = 0; i < image.width * image.height; i++)
            if (!(image.pixel[i] >= 0 && image.pixel[i] <= 1)) abort();
    } else if (image.pixel || cr_error(cx)[0] == '\0') {
        abort();
    }
    cr_image_free(cx, &image);
    if (cr_ctx_memory(cx) != 0) abort();
    cr_ctx_free(cx);
    return 0;
}
