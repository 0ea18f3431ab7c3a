/* csv_levels.c -- texts to numbers. */
#include "csv_levels.h"
#include "../base/context_internal.h"

#include <string.h>

/* Words of eight bytes, mixed by multiplication with 2^64 over the golden ratio. */
static uint32_t hash_text(const char *text, size_t length)
{
    const uint64_t factor = 0x9e3779b97f4a7c15;
    uint64_t       h = length * factor, word;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, 8);
        h = (h ^ word) * factor;
        h ^= h >> 32;
    }
    word = 0;
    if (length > 0) memcpy(&word, text, length);
    h = (h ^ word) * factor;
    h ^= h >> 29;
    return (uint32_t)((h * factor) >> 32);
}

static bool is_text(const cri_csv_levels *v, size_t i, const char *text, size_t length)
{
    const char *known = v->bytes + v->start[i];
    return strncmp(known, text, length) == 0 && known[length] == '\0';
}

/* The slot with the text, or the free one where it belongs; n_slots > 0. */
static size_t find_slot(const cri_csv_levels *v, const char *text, size_t length, uint32_t hash)
{
    size_t mask = v->n_slots - 1, slot = hash & mask;
    for (; v->slots[slot]; slot = (slot + 1) & mask) {
        size_t i = v->slots[slot] - 1;
        if (v->hash[i] == hash && is_text(v, i, text, length)) break;
    }
    return slot;
}

uint32_t cri_csv_levels_find(const cri_csv_levels *v, const char *text, size_t length)
{
    if (v->n_slots == 0) return UINT32_MAX;
    return v->slots[find_slot(v, text, length, hash_text(text, length))] - 1;
}

static void *resize(cr_ctx *cx, cri_csv_levels *v, void *old, size_t n, size_t more, size_t size)
{
    void *p = cri_resize_quietly(cx, old, n, more, size);
    if (!p) v->refused = (more - n) * size;
    return p;
}

static cr_status grow_slots(cr_ctx *cx, cri_csv_levels *v)
{
    size_t    n_slots = v->n_slots ? 2 * v->n_slots : 64, mask = n_slots - 1;
    uint32_t *slots = resize(cx, v, NULL, 0, n_slots, sizeof *slots);
    if (!slots) return CR_ENOMEM;
    memset(slots, 0, n_slots * sizeof *slots);
    for (size_t i = 0; i < v->n; i++) {
        size_t slot = v->hash[i] & mask;
        while (slots[slot]) slot = (slot + 1) & mask;
        slots[slot] = (uint32_t)(i + 1);
    }
    cr_free(cx, v->slots, v->n_slots, sizeof *slots);
    v->slots = slots;
    v->n_slots = n_slots;
    return CR_OK;
}

/* Room for one more text of this length. */
static cr_status grow(cr_ctx *cx, cri_csv_levels *v, size_t length)
{
    if (v->n == v->capacity) {
        size_t  more = v->capacity ? 2 * v->capacity : 16;
        size_t *start = resize(cx, v, v->start, v->capacity, more, sizeof *start);
        if (!start) return CR_ENOMEM;
        v->start = start;
        uint32_t *hash = resize(cx, v, v->hash, v->capacity, more, sizeof *hash);
        if (!hash) { /* both arrays keep one size */
            size_t *back = cri_resize_quietly(cx, start, more, v->capacity, sizeof *start);
            if (back) v->start = back;
            return CR_ENOMEM;
        }
        v->hash = hash;
        v->capacity = more;
    }
    if (v->room - v->used <= length) {
        size_t more = v->room + v->room / 2 + length + 256;
        char  *bytes = resize(cx, v, v->bytes, v->room, more, 1);
        if (!bytes) return CR_ENOMEM;
        v->bytes = bytes;
        v->room = more;
    }
    return 2 * (v->n + 1) > v->n_slots ? grow_slots(cx, v) : CR_OK;
}

cr_status cri_csv_levels_fail(cr_ctx *cx, const cri_csv_levels *v, cr_status status)
{
    if (status == CR_EUNSUPPORTED)
        return cr_fail(cx, status, "a category has more than %zu different texts", v->n);
    return cri_fail_memory(cx, v->refused);
}

cr_status cri_csv_levels_add(cr_ctx *cx, cri_csv_levels *v, const char *text, size_t length,
                             uint32_t *out_number)
{
    uint32_t hash = hash_text(text, length);
    if (v->n_slots > 0) {
        uint32_t found = v->slots[find_slot(v, text, length, hash)];
        if (found) {
            *out_number = found - 1;
            return CR_OK;
        }
    }
    if (v->n >= UINT32_MAX - 1) return CR_EUNSUPPORTED;
    cr_status st = grow(cx, v, length);
    if (st != CR_OK) return st;
    memcpy(v->bytes + v->used, text, length);
    v->bytes[v->used + length] = '\0';
    v->start[v->n] = v->used;
    v->hash[v->n] = hash;
    v->used += length + 1;
    v->slots[find_slot(v, text, length, hash)] = (uint32_t)(v->n + 1);
    *out_number = (uint32_t)v->n++;
    return CR_OK;
}

const char *cri_csv_level(const cri_csv_levels *v, size_t i) { return v->bytes + v->start[i]; }

void cri_csv_levels_clear(cr_ctx *cx, cri_csv_levels *v)
{
    cr_free(cx, v->bytes, v->room, 1);
    cr_free(cx, v->start, v->capacity, sizeof *v->start);
    cr_free(cx, v->hash, v->capacity, sizeof *v->hash);
    cr_free(cx, v->slots, v->n_slots, sizeof *v->slots);
    *v = (cri_csv_levels){ .n = 0 };
}
