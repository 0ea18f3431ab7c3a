/* context_memory.c -- memory that is counted, limited and made to fail; arrays that grow, and texts. */
#include "checked.h"
#include "context_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

size_t cri_memory_left(const cr_ctx *cx)
{
    size_t use = atomic_load(&cx->memory), limit = cx->memory_limit;
    if (cx->parent) return cri_memory_left(cx->parent);
    if (limit == 0) {
        long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        limit = pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
    }
    return limit > use ? limit - use : 0;
}

bool cri_memory_is_limited(const cr_ctx *cx)
{
    return cx->parent ? cri_memory_is_limited(cx->parent) : cx->memory_limit > 0;
}

/* Counts `more` bytes against the limit and the planned failures; false when refused. */
static bool reserve(cr_ctx *cx, size_t more)
{
    uint_fast64_t left = atomic_load(&cx->fail_countdown);
    while (left > 0 && !atomic_compare_exchange_weak(&cx->fail_countdown, &left, left - 1)) {}
    if (left == 1) return false;
    size_t use = atomic_fetch_add(&cx->memory, more) + more;
    if (cx->memory_limit && use > cx->memory_limit) {
        atomic_fetch_sub(&cx->memory, more);
        return false;
    }
    size_t peak = atomic_load(&cx->peak_memory);
    while (use > peak && !atomic_compare_exchange_weak(&cx->peak_memory, &peak, use)) {}
    return true;
}

cr_status cri_fail_memory(cr_ctx *cx, size_t more)
{
    size_t limit = cx->parent ? cx->parent->memory_limit : cx->memory_limit;
    if (limit == 0 || more <= cri_memory_left(cx))
        return cr_fail(cx, CR_ENOMEM, "out of memory: %zu bytes were requested", more);
    cr_fail(cx, CR_ENOMEM, "the memory limit of %zu bytes is reached: %zu more were requested",
            limit, more);
    return cr_fail_hint(cx, "raise it with --memory-limit");
}

void *cri_resize_quietly(cr_ctx *cx, void *old, size_t old_count, size_t new_count, size_t size)
{
    size_t old_bytes = old_count * size, new_bytes;
    if (!cri_mul(new_count, size, &new_bytes) || new_bytes > PTRDIFF_MAX) return NULL;
    if (new_bytes == 0) new_bytes = 1;
    if (old && old_bytes == 0) old_bytes = 1;
    if (new_bytes > old_bytes && !reserve(cx, new_bytes - old_bytes)) return NULL;
    void *p = cx->allocator.resize(cx->allocator.user, old, old_bytes, new_bytes);
    if (!p && new_bytes > old_bytes) atomic_fetch_sub(&cx->memory, new_bytes - old_bytes);
    if (p && new_bytes < old_bytes) atomic_fetch_sub(&cx->memory, old_bytes - new_bytes);
    return p;
}

void *cr_resize(cr_ctx *cx, void *old, size_t old_count, size_t new_count, size_t size)
{
    size_t bytes, old_bytes = old_count * size;
    void  *p = cri_resize_quietly(cx, old, old_count, new_count, size);
    if (p) return p;
    if (cri_mul(new_count, size, &bytes) && bytes <= PTRDIFF_MAX)
        cri_fail_memory(cx, bytes > old_bytes ? bytes - old_bytes : bytes);
    else
        cr_fail(cx, CR_ENOMEM, "out of memory: %zu items of %zu bytes do not fit", new_count, size);
    return NULL;
}

cr_status cri_clear(cr_ctx *cx, void *bytes, size_t size)
{
    const size_t share = (size_t)1 << 25; /* some hundredths of a second, with new pages */
    cr_status    st = CR_OK;
    for (size_t at = 0; at < size && st == CR_OK; at += share) {
        size_t left = size - at;
        memset((char *)bytes + at, 0, left < share ? left : share);
        if (left > share) st = cr_check_interrupt(cx);
    }
    return st;
}

void *cr_alloc(cr_ctx *cx, size_t count, size_t size)
{
    void *p = cr_resize(cx, NULL, 0, count, size);
    if (!p || cri_clear(cx, p, count * size) == CR_OK) return p;
    cr_free(cx, p, count, size);
    return NULL;
}

void cr_free(cr_ctx *cx, void *p, size_t count, size_t size)
{
    if (!p) return;
    size_t bytes = count * size;
    if (bytes == 0) bytes = 1;
    atomic_fetch_sub(&cx->memory, bytes);
    cx->allocator.resize(cx->allocator.user, p, bytes, 0);
}

cr_status cri_array_grow(cr_ctx *cx, void *array, size_t n, size_t *capacity, size_t size)
{
    void  *old;
    size_t more = *capacity ? 2 * *capacity : 16;
    if (n < *capacity) return CR_OK;
    memcpy(&old, array, sizeof old); /* whatever it points to */
    void *bigger = cr_resize(cx, old, *capacity, more, size);
    if (!bigger) return CR_ENOMEM;
    memcpy(array, &bigger, sizeof bigger);
    *capacity = more;
    return CR_OK;
}

char *cri_string_copy_n(cr_ctx *cx, const char *text, size_t length)
{
    char *copy = cr_resize(cx, NULL, 0, length + 1, 1);
    if (!copy) return NULL;
    if (length > 0) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *cri_string_copy(cr_ctx *cx, const char *text)
{
    return text ? cri_string_copy_n(cx, text, strlen(text)) : NULL;
}

char *cri_string_format(cr_ctx *cx, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t size = (size_t)vsnprintf(NULL, 0, format, args) + 1;
    char  *text = cr_resize(cx, NULL, 0, size, 1);
    if (text) vsnprintf(text, size, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void cri_string_free(cr_ctx *cx, char *text)
{
    if (text) cr_free(cx, text, strlen(text) + 1, 1);
}
