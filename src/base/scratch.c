/* scratch.c -- an arena as a list of blocks, each from the context's allocator. */
#include "scratch.h"
#include "checked.h"
#include "context_internal.h"

enum { ALIGNMENT = 64 };

typedef struct block {
    struct block *next;
    size_t        bytes; /* of the whole allocation */
} block;

cr_scratch cr_scratch_begin(cr_ctx *cx) { return (cr_scratch){ cx, CR_OK, NULL }; }

void cr_scratch_end(cr_scratch *s)
{
    for (block *b = s->blocks, *next; b; b = next) {
        next = b->next;
        cr_free(s->cx, b, b->bytes, 1);
    }
    s->blocks = NULL;
}

static void *give(cr_scratch *s, size_t count, size_t size)
{
    size_t bytes = 0;
    if (s->status != CR_OK) return NULL;
    if (!cri_mul(count, size, &bytes) || !cri_add(bytes, sizeof(block) + ALIGNMENT, &bytes)) {
        s->status = cr_fail(s->cx, CR_ENOMEM, "out of memory: %zu items of %zu bytes do not fit",
                            count, size);
        return NULL;
    }
    block *b = cr_resize(s->cx, NULL, 0, bytes, 1);
    if (!b) {
        s->status = cr_error_status(s->cx);
        return NULL;
    }
    *b = (block){ s->blocks, bytes };
    s->blocks = b;
    uintptr_t at = (uintptr_t)(b + 1);
    return (char *)(b + 1) + (ALIGNMENT - at % ALIGNMENT) % ALIGNMENT;
}

void *cr_scratch_bytes(cr_scratch *s, size_t count, size_t size)
{
    void *p = give(s, count, size);
    if (p) s->status = cri_clear(s->cx, p, count * size);
    return s->status == CR_OK ? p : NULL;
}

double *cr_scratch_f64(cr_scratch *s, size_t n) { return give(s, n, sizeof(double)); }
size_t *cr_scratch_index(cr_scratch *s, size_t n) { return give(s, n, sizeof(size_t)); }

double *cr_scratch_matrix(cr_scratch *s, size_t rows, size_t cols)
{
    size_t n = SIZE_MAX; /* too large for give, which then says so */
    cri_mul(rows, cols, &n);
    return give(s, n, sizeof(double));
}
