/* cache.c -- local scores, remembered.
 * A family is known by 128 bits of hash of its child and parents: two of a million families share them with a probability
 * below 1e-26.  Each of 64 tables has a lock of its own; scores are computed outside of it, and two threads that need one
 * at a time both compute it, to the same bits. */
#include "local_score.h"
#include "base/context_internal.h"

#include <pthread.h>
#include <string.h>

enum { SHARDS = 64, FIRST_SLOTS = 64 };

typedef struct entry {
    uint64_t key[2]; /* both 0: free */
    double   score;
} entry;

typedef struct shard {
    pthread_mutex_t lock;
    entry          *slot; /* [slots] */
    size_t          slots, used;
} shard;

struct cri_local_scores {
    cr_ctx          *cx;
    cri_score_source source;
    cr_scratch       s;
    size_t           locks; /* that were made */
    shard            shard[SHARDS];
    cri_slots        slots;
    void           **work; /* [slots.n] */
    atomic_size_t    computed, asked;
};

cr_status cri_local_scores_new(cr_ctx *cx, const cri_score_source *source, cri_local_scores **out)
{
    cr_status         st = CR_OK;
    cri_local_scores *c = cr_alloc(cx, 1, sizeof *c);
    if (!c) return CR_ENOMEM;
    c->cx = cx;
    c->source = *source;
    c->s = cr_scratch_begin(cx);
    c->slots.n = cri_slots_needed(cx, CRI_MOST_SLOTS);
    c->work = cr_scratch_bytes(&c->s, c->slots.n, sizeof *c->work);
    CR_TRY(c->s.status);
    for (size_t i = 0; i < c->slots.n; i++)
        CR_TRY(source->open_work(&c->s, source->own, &c->work[i]));
    for (; c->locks < SHARDS; c->locks++)
        if (pthread_mutex_init(&c->shard[c->locks].lock, NULL) != 0)
            CR_TRY(cr_fail(cx, CR_ENOMEM, "out of memory for locks"));
    *out = c;
    c = NULL;
done:
    cri_local_scores_free(c);
    return st;
}

void cri_local_scores_free(cri_local_scores *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->locks; i++) {
        shard *d = &c->shard[i];
        if (d->slot) cr_free(c->cx, d->slot, d->slots, sizeof *d->slot);
        pthread_mutex_destroy(&d->lock);
    }
    cr_scratch_end(&c->s);
    cr_free(c->cx, c, 1, sizeof *c);
}

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

/* Sums of mixed numbers: the order of the parents is of no matter. */
static void make_key(size_t child, const uint32_t *parents, size_t n, uint64_t *key)
{
    key[0] = mix(2 * (uint64_t)child + 1);
    key[1] = mix(~(uint64_t)child);
    for (size_t i = 0; i < n; i++) {
        key[0] += mix(UINT64_C(0x9e3779b97f4a7c15) * (parents[i] + 1) + 1);
        key[1] += mix(UINT64_C(0xc2b2ae3d27d4eb4f) * (parents[i] + 1) + 2);
    }
    key[0] |= 1; /* never free */
}

/* Where the key is, or would be. */
static entry *find(const shard *d, const uint64_t *key)
{
    size_t k = (size_t)key[1] & (d->slots - 1);
    while (d->slot[k].key[0] && (d->slot[k].key[0] != key[0] || d->slot[k].key[1] != key[1]))
        k = (k + 1) & (d->slots - 1);
    return &d->slot[k];
}

/* Twice as many slots; false where there is no memory. */
static bool grow(cri_local_scores *c, shard *d)
{
    shard wide = { .slots = d->slots ? 2 * d->slots : FIRST_SLOTS };
    wide.slot = cri_resize_quietly(c->cx, NULL, 0, wide.slots, sizeof *wide.slot);
    if (!wide.slot) return false;
    memset(wide.slot, 0, wide.slots * sizeof *wide.slot);
    for (size_t i = 0; i < d->slots; i++)
        if (d->slot[i].key[0]) *find(&wide, d->slot[i].key) = d->slot[i];
    if (d->slot) cr_free(c->cx, d->slot, d->slots, sizeof *d->slot);
    d->slot = wide.slot, d->slots = wide.slots;
    return true;
}

static bool recall(shard *d, const uint64_t *key, double *out)
{
    bool known = false;
    pthread_mutex_lock(&d->lock);
    if (d->slots) {
        const entry *e = find(d, key);
        known = e->key[0] != 0;
        if (known) *out = e->score;
    }
    pthread_mutex_unlock(&d->lock);
    return known;
}

static void remember(cri_local_scores *c, shard *d, const uint64_t *key, double score)
{
    pthread_mutex_lock(&d->lock);
    if (3 * (d->used + 1) <= 2 * d->slots || grow(c, d)) {
        entry *e = find(d, key);
        d->used += e->key[0] == 0;
        *e = (entry){ { key[0], key[1] }, score };
    }
    pthread_mutex_unlock(&d->lock);
}

double cri_local_score(cri_local_scores *c, size_t child, const uint32_t *parents, size_t n)
{
    uint64_t key[2];
    double   score;
    make_key(child, parents, n, key);
    shard *d = &c->shard[key[0] >> 58];
    atomic_fetch_add_explicit(&c->asked, 1, memory_order_relaxed);
    if (recall(d, key, &score)) return score;
    size_t slot = cri_slot_take(&c->slots);
    score = c->source.score(c->source.own, child, parents, n, c->work[slot]);
    cri_slot_leave(&c->slots, slot);
    atomic_fetch_add_explicit(&c->computed, 1, memory_order_relaxed);
    remember(c, d, key, score);
    return score;
}

bool cri_local_score_recall(cri_local_scores *c, size_t child, const uint32_t *parents, size_t n,
                            double *out)
{
    uint64_t key[2];
    make_key(child, parents, n, key);
    return recall(&c->shard[key[0] >> 58], key, out);
}

size_t cri_local_scores_variables(const cri_local_scores *c) { return c->source.n; }

bool cri_local_scores_equivalent(const cri_local_scores *c) { return c->source.equivalent; }

size_t cri_local_scores_computed(const cri_local_scores *c) { return atomic_load(&c->computed); }

size_t cri_local_scores_asked(const cri_local_scores *c) { return atomic_load(&c->asked); }
