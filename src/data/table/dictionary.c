/* dictionary.c -- texts to numbers. */
#include "dictionary.h"
#include "base/context_internal.h"
#include "base/hash.h"

#include <string.h>

static bool is_text(const char *known, const char *text, size_t length)
{
    return strncmp(known, text, length) == 0 && known[length] == '\0';
}

/* The slot of the text, or the free one where it belongs. */
static size_t *find_slot(const cri_dictionary *d, const char *text, size_t length)
{
    size_t mask = 2 * d->capacity - 1;
    for (size_t at = cri_hash_text(text, length);; at++) {
        size_t *slot = &d->slots[at & mask];
        if (*slot == 0 || is_text(d->texts[*slot - 1], text, length)) return slot;
    }
}

static cr_status grow(cr_ctx *cx, cri_dictionary *d)
{
    size_t  more = d->capacity ? 2 * d->capacity : 16;
    size_t *slots = cr_alloc(cx, 2 * more, sizeof *slots);
    char  **texts = slots ? cr_resize(cx, d->texts, d->capacity, more, sizeof *texts) : NULL;
    if (!texts) {
        cr_free(cx, slots, 2 * more, sizeof *slots);
        return CR_ENOMEM;
    }
    cr_free(cx, d->slots, 2 * d->capacity, sizeof *slots);
    d->texts = texts;
    d->slots = slots;
    d->capacity = more;
    for (size_t i = 0; i < d->n; i++) *find_slot(d, texts[i], strlen(texts[i])) = i + 1;
    return CR_OK;
}

cr_status cri_dictionary_code(cr_ctx *cx, cri_dictionary *d, const char *text, size_t length,
                              uint32_t *out_code)
{
    cr_status st = CR_OK;
    size_t   *slot = d->n > 0 ? find_slot(d, text, length) : NULL;
    if (!slot || *slot == 0) {
        if (d->n >= UINT32_MAX - 1)
            CR_TRY(cr_fail(cx, CR_ENOMEM, "a column has more than %u different values",
                           UINT32_MAX - 1));
        if (d->n == d->capacity) CR_TRY(grow(cx, d));
        char *copy = cri_string_copy_n(cx, text, length);
        if (!copy) CR_TRY(CR_ENOMEM);
        slot = find_slot(d, text, length);
        d->texts[d->n++] = copy;
        *slot = d->n;
    }
    *out_code = (uint32_t)(*slot - 1);
done:
    return st;
}

bool cri_dictionary_find(const cri_dictionary *d, const char *text, size_t length,
                         uint32_t *out_code)
{
    size_t slot = d->n > 0 ? *find_slot(d, text, length) : 0;
    if (slot > 0) *out_code = (uint32_t)(slot - 1);
    return slot > 0;
}

void cri_dictionary_free(cr_ctx *cx, cri_dictionary *d)
{
    for (size_t i = 0; i < d->n; i++) cri_string_free(cx, d->texts[i]);
    cr_free(cx, d->texts, d->capacity, sizeof *d->texts);
    cr_free(cx, d->slots, 2 * d->capacity, sizeof *d->slots);
    *d = (cri_dictionary){ 0 };
}
