/* csv_levels.c -- texts to numbers. */
#include "csv_levels.h"
#include "base/context_internal.h"

#include <string.h>

static uint64_t word_at(const char *p)
{
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}

/* The last 8 bytes of a text, or all of a shorter one and zeros: no text holds a zero, so the words
 * of two short texts differ when the texts do, and from those of longer ones. */
static uint64_t last_word(const char *text, size_t length)
{
    uint64_t w = 0;
    if (length >= 8) return word_at(text + length - 8);
    memcpy(&w, text, length);
    return w;
}

/* The same without a branch on short lengths, where 8 bytes can be read from the text on. */
static inline uint64_t last_word_quickly(const char *text, size_t length)
{
    if (length >= 8) return word_at(text + length - 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return word_at(text) & (((uint64_t)1 << 8 * length) - 1);
#else
    return last_word(text, length);
#endif
}

/* Words of eight bytes, mixed by multiplication with 2^64 over the golden ratio; `last` is the last
 * one. */
static inline uint32_t hash_text(const char *text, size_t length, uint64_t last)
{
    const uint64_t factor = 0x9e3779b97f4a7c15;
    uint64_t       h = 0;
    for (size_t i = 0; i + 8 < length; i += 8) {
        h = (h ^ word_at(text + i)) * factor;
        h ^= h >> 32;
    }
    h = (h ^ last) * factor;
    h ^= h >> 29;
    return (uint32_t)((h * factor) >> 32);
}

static bool is_text(const cri_csv_levels *v, size_t i, const char *text, size_t length)
{
    const char *known = v->bytes + v->start[i];
    size_t      behind = i + 1 < v->n ? v->start[i + 1] : v->used; /* and its '\0' before it */
    if (behind - v->start[i] - 1 != length) return false;
    for (size_t k = 0; k + 8 < length; k += 8)
        if (word_at(known + k) != word_at(text + k)) return false;
    return true; /* the last words are the same */
}

/* The slot with the text, or the free one where it belongs; n_slots > 0. */
static inline size_t find_slot(const cri_csv_levels *v, const char *text, size_t length,
                               uint64_t last, uint32_t hash)
{
    size_t mask = v->n_slots - 1, at = hash & mask;
    for (;; at = (at + 1) & mask) {
        const cri_csv_slot *slot = &v->slots[at];
        if (!slot->number) return at;
        if (slot->word != last || slot->hash != hash) continue;
        if (length < 8 || is_text(v, slot->number - 1, text, length)) return at;
    }
}

uint32_t cri_csv_levels_find(const cri_csv_levels *v, const char *text, size_t length)
{
    if (v->n_slots == 0) return UINT32_MAX;
    uint64_t last = last_word_quickly(text, length);
    return v->slots[find_slot(v, text, length, last, hash_text(text, length, last))].number - 1;
}

static void *resize(cr_ctx *cx, cri_csv_levels *v, void *old, size_t n, size_t more, size_t size)
{
    void *p = cri_resize_quietly(cx, old, n, more, size);
    if (!p) v->refused = (more - n) * size;
    return p;
}

static cr_status grow_slots(cr_ctx *cx, cri_csv_levels *v)
{
    size_t        n_slots = v->n_slots ? 2 * v->n_slots : 64, mask = n_slots - 1;
    cri_csv_slot *slots = resize(cx, v, NULL, 0, n_slots, sizeof *slots);
    if (!slots) return CR_ENOMEM;
    memset(slots, 0, n_slots * sizeof *slots);
    for (size_t i = 0; i < v->n_slots; i++) {
        if (!v->slots[i].number) continue;
        size_t slot = v->slots[i].hash & mask;
        while (slots[slot].number) slot = (slot + 1) & mask;
        slots[slot] = v->slots[i];
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
        v->capacity = more;
    }
    if (v->byte_capacity - v->used <= length) {
        size_t more = v->byte_capacity + v->byte_capacity / 2 + length + 256;
        char  *bytes = resize(cx, v, v->bytes, v->byte_capacity, more, 1);
        if (!bytes) return CR_ENOMEM;
        v->bytes = bytes;
        v->byte_capacity = more;
    }
    return 2 * (v->n + 1) > v->n_slots ? grow_slots(cx, v) : CR_OK;
}

cr_status cri_csv_levels_fail(cr_ctx *cx, const cri_csv_levels *v, cr_status status)
{
    if (status == CR_EUNSUPPORTED)
        return cr_fail(cx, status, "a category has more than %zu different values", v->n);
    return cri_fail_memory(cx, v->refused);
}

cr_status cri_csv_levels_add(cr_ctx *cx, cri_csv_levels *v, const char *text, size_t length,
                             uint32_t *out_number)
{
    uint64_t last = last_word(text, length);
    uint32_t hash = hash_text(text, length, last);
    if (v->n_slots > 0) {
        uint32_t found = v->slots[find_slot(v, text, length, last, hash)].number;
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
    v->used += length + 1;
    v->slots[find_slot(v, text, length, last, hash)] =
        (cri_csv_slot){ last, hash, (uint32_t)(v->n + 1) };
    *out_number = (uint32_t)v->n++;
    return CR_OK;
}

const char *cri_csv_level(const cri_csv_levels *v, size_t i) { return v->bytes + v->start[i]; }

void cri_csv_levels_clear(cr_ctx *cx, cri_csv_levels *v)
{
    cr_free(cx, v->bytes, v->byte_capacity, 1);
    cr_free(cx, v->start, v->capacity, sizeof *v->start);
    cr_free(cx, v->slots, v->n_slots, sizeof *v->slots);
    *v = (cri_csv_levels){ .n = 0 };
}
