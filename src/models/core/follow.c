/* follow.c -- where the sequences of a stream stand, between its blocks.
 * A table of names by open addressing, at most half full; entry k of it stands at row k of the places.  O(1) a
 * sequence and block. */
#include "follow.h"
#include "base/hash.h"
#include "model_internal.h"

#include <string.h>

struct cr_follower {
    const cr_model *model;
    size_t          width;
    size_t          n, capacity; /* sequences so far, and those there is memory for */
    char          **names;       /* [capacity] */
    double         *places;      /* [capacity x width] */
    size_t         *slots;       /* [2 capacity] 1 + number of the sequence; 0: none */
};

const cr_model *cri_follow_model(const cr_follower *f) { return f->model; }

cr_status cr_follow_open(cr_ctx *cx, const cr_model *m, cr_follower **out)
{
    if (!cri_sequence_of(m->class)->filter)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "the model %s has no predictions from the rows so far alone",
                       m->class->name);
    cr_follower *f = cr_alloc(cx, 1, sizeof *f);
    if (!f) return CR_ENOMEM;
    f->model = m;
    f->width = m->class->sequence->width(m->state);
    *out = f;
    return CR_OK;
}

void cr_follow_free(cr_ctx *cx, cr_follower *f)
{
    if (!f) return;
    for (size_t k = 0; k < f->n; k++) cr_free(cx, f->names[k], strlen(f->names[k]) + 1, 1);
    cr_free(cx, f->names, f->capacity, sizeof *f->names);
    cr_free(cx, f->places, f->capacity, f->width * sizeof *f->places);
    cr_free(cx, f->slots, 2 * f->capacity, sizeof *f->slots);
    cr_free(cx, f, 1, sizeof *f);
}

/* The slot of a name, or the empty one where it would stand. */
static size_t *slot_of(const cr_follower *f, const char *name)
{
    size_t size = 2 * f->capacity, at = cri_hash_text(name, strlen(name)) % size;
    while (f->slots[at] && strcmp(f->names[f->slots[at] - 1], name) != 0) at = (at + 1) % size;
    return &f->slots[at];
}

/* Memory for one more. */
static cr_status grow(cr_ctx *cx, cr_follower *f)
{
    size_t  more = f->capacity ? 2 * f->capacity : 16;
    char  **names = cr_alloc(cx, more, sizeof *names);
    double *places = cr_alloc(cx, more, f->width * sizeof *places);
    size_t *slots = cr_alloc(cx, 2 * more, sizeof *slots);
    if (!names || !places || !slots) {
        cr_free(cx, names, more, sizeof *names);
        cr_free(cx, places, more, f->width * sizeof *places);
        cr_free(cx, slots, 2 * more, sizeof *slots);
        return CR_ENOMEM;
    }
    if (f->n > 0) {
        memcpy(names, f->names, f->n * sizeof *names);
        memcpy(places, f->places, f->n * f->width * sizeof *places);
    }
    cr_free(cx, f->names, f->capacity, sizeof *f->names);
    cr_free(cx, f->places, f->capacity, f->width * sizeof *f->places);
    cr_free(cx, f->slots, 2 * f->capacity, sizeof *f->slots);
    f->names = names, f->places = places, f->slots = slots, f->capacity = more;
    for (size_t k = 0; k < f->n; k++) *slot_of(f, names[k]) = k + 1;
    return CR_OK;
}

/* The number of a sequence, which begins if it has none. */
static cr_status find(cr_ctx *cx, cr_follower *f, const char *name, size_t *out)
{
    cr_status st = f->n == f->capacity ? grow(cx, f) : CR_OK;
    if (st != CR_OK) return st;
    size_t *slot = slot_of(f, name);
    if (!*slot) {
        size_t size = strlen(name) + 1;
        f->names[f->n] = cr_alloc(cx, size, 1);
        if (!f->names[f->n]) return CR_ENOMEM;
        memcpy(f->names[f->n], name, size);
        memset(f->places + f->n * f->width, 0, f->width * sizeof *f->places);
        *slot = ++f->n;
    }
    *out = *slot - 1;
    return CR_OK;
}

static const char *name_of(const cri_sequences *s, size_t k) { return s->names ? s->names[k] : ""; }

cr_status cri_follow_load(cr_ctx *cx, cr_follower *f, const cri_sequences *s, double *places)
{
    for (size_t k = 0; k < s->n; k++) {
        size_t    at;
        cr_status st = find(cx, f, name_of(s, k), &at);
        if (st != CR_OK) return st;
        memcpy(places + k * f->width, f->places + at * f->width, f->width * sizeof *places);
    }
    return CR_OK;
}

void cri_follow_store(cr_follower *f, const cri_sequences *s, const double *places)
{
    for (size_t k = 0; k < s->n; k++) {
        size_t at = *slot_of(f, name_of(s, k)) - 1;
        memcpy(f->places + at * f->width, places + k * f->width, f->width * sizeof *places);
    }
}
