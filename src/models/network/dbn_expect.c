/* dbn_expect.c -- expected counts: blocks of sequences side by side, each with counts of its own, which are added up in the
 * order of the blocks.  These are cut by the data alone, so that no answer depends on the threads. */
#include "dbn.h"
#include "base/context_internal.h"
#include "base/parallel.h"

#include <string.h>

enum { MOST_BLOCKS = 64 };
static const size_t MOST_COUNTS = (size_t)1 << 22; /* of all blocks together */

/* What one thread works with. */
typedef struct lane {
    cr_ctx        *cx; /* its own; of a single one the caller's */
    cri_interface *h;
    double       **first, **next; /* [n] where families are counted */
} lane;

struct cri_dbn_counter {
    cr_ctx             *cx;
    cr_scratch          s;
    const cri_dbn      *m;
    const cri_dbn_data *data;
    size_t              together, blocks; /* sequences of a block */
    cri_slots           slots;
    lane               *lane;       /* [slots.n] */
    double             *count;      /* [blocks x size] */
    double             *log_p;      /* [blocks] */
    size_t             *impossible; /* [blocks] a slice; CR_NONE: none is */
    cr_status          *status;     /* [blocks] */
    const cr_ctx      **failed;     /* [blocks] who has the sentence */
    atomic_bool         stop;       /* some block has failed */
};

/* --- life ------------------------------------------------------------------------------------- */

static void choose_blocks(cri_dbn_counter *c)
{
    size_t n = c->data->of->n, most = MOST_COUNTS / c->m->size;
    if (most > MOST_BLOCKS) most = MOST_BLOCKS;
    if (most < 1) most = 1;
    c->together = (n + most - 1) / most;
    c->blocks = cri_block_count(n, c->together);
}

static cr_status open_lane(cri_dbn_counter *c, lane *l)
{
    l->first = cr_scratch_bytes(&c->s, c->m->net->n, sizeof *l->first);
    l->next = cr_scratch_bytes(&c->s, c->m->net->n, sizeof *l->next);
    if (c->s.status != CR_OK) return c->s.status;
    if (c->slots.n == 1)
        l->cx = c->cx;
    else if (cri_ctx_child(c->cx, &l->cx) != CR_OK)
        return cri_fail_memory(c->cx, 1);
    cr_status st = cri_interface_new(l->cx, c->m->net, &l->h);
    return st != CR_OK && l->cx != c->cx ? cri_fail_as(c->cx, l->cx) : st;
}

cr_status cri_dbn_counter_new(cr_ctx *cx, const cri_dbn *m, const cri_dbn_data *data,
                              cri_dbn_counter **out)
{
    cr_status        st = CR_OK;
    cri_dbn_counter *c = cr_alloc(cx, 1, sizeof *c);
    if (!c) return CR_ENOMEM;
    c->cx = cx, c->m = m, c->data = data;
    c->s = cr_scratch_begin(cx);
    choose_blocks(c);
    c->slots.n = cri_slots_needed(cx, c->blocks);
    c->lane = cr_scratch_bytes(&c->s, c->slots.n, sizeof *c->lane);
    c->count = cr_scratch_matrix(&c->s, c->blocks, m->size);
    c->log_p = cr_scratch_f64(&c->s, c->blocks);
    c->impossible = cr_scratch_index(&c->s, c->blocks);
    c->status = cr_scratch_bytes(&c->s, c->blocks, sizeof *c->status);
    c->failed = cr_scratch_bytes(&c->s, c->blocks, sizeof *c->failed);
    CR_TRY(c->s.status);
    for (size_t i = 0; i < c->slots.n; i++) CR_TRY(open_lane(c, &c->lane[i]));
    *out = c;
    c = NULL;
done:
    cri_dbn_counter_free(cx, c);
    return st;
}

void cri_dbn_counter_free(cr_ctx *cx, cri_dbn_counter *c)
{
    if (!c) return;
    for (size_t i = 0; c->lane && i < c->slots.n; i++) {
        cri_interface_free(c->lane[i].cx, c->lane[i].h);
        if (c->lane[i].cx != cx) cr_ctx_free(c->lane[i].cx);
    }
    cr_scratch_end(&c->s);
    cr_free(cx, c, 1, sizeof *c);
}

bool cri_dbn_counter_lost(const cri_dbn_counter *c)
{
    bool lost = false;
    for (size_t i = 0; i < c->slots.n; i++) lost |= cri_interface_lost(c->lane[i].h);
    return lost;
}

/* --- counting --------------------------------------------------------------------------------- */

/* Where the families of a block are counted: those of one table together. */
static cri_family_sums point(const cri_dbn *m, const lane *l, double *count)
{
    for (size_t k = 0; k < m->tables; k++)
        (m->table[k].first ? l->first : l->next)[m->table[k].variable] = count + m->table[k].at;
    for (size_t i = 0; i < m->places; i++) {
        const cri_dbn_place *p = &m->place[i];
        (p->first ? l->first : l->next)[p->variable] = count + m->table[p->table].at;
    }
    return (cri_family_sums){ l->first, l->next };
}

static void count_block(void *arg, size_t b)
{
    cri_dbn_counter *c = arg;
    if (atomic_load(&c->stop)) return;
    size_t          slot = cri_slot_take(&c->slots);
    lane           *l = &c->lane[slot];
    cri_range       range = cri_block_range(c->data->of->n, c->together, b);
    cri_family_sums sums = point(c->m, l, c->count + b * c->m->size);
    for (size_t k = range.begin; k < range.end && !atomic_load(&c->stop); k++) {
        cri_slice_evidence e = cri_dbn_sequence(c->data, k);
        double             log_e = 0;
        size_t             possible = e.slices;
        c->status[b] = cri_interface_count(l->cx, l->h, &e, &sums, NULL, &log_e, &possible);
        c->log_p[b] += log_e;
        if (c->status[b] == CR_OK && possible < e.slices)
            c->impossible[b] = c->data->of->start[k] + possible;
        if (c->status[b] != CR_OK) {
            c->failed[b] = l->cx;
            atomic_store(&c->stop, true);
        }
        if (c->impossible[b] != CR_NONE) break;
    }
    cri_slot_leave(&c->slots, slot);
}

cr_status cri_dbn_count(cri_dbn_counter *c, double *count, double *out_log, size_t *out_impossible)
{
    cr_status st = CR_OK;
    *out_log = 0, *out_impossible = CR_NONE;
    atomic_store(&c->stop, false);
    memset(c->count, 0, c->blocks * c->m->size * sizeof *c->count);
    memset(count, 0, c->m->size * sizeof *count);
    for (size_t i = 0; i < c->slots.n; i++) cri_interface_renew(c->lane[i].h);
    for (size_t b = 0; b < c->blocks; b++)
        c->log_p[b] = 0, c->impossible[b] = CR_NONE, c->status[b] = CR_OK;
    if (c->blocks == 1)
        count_block(c, 0);
    else
        CR_TRY(cri_parallel_for(c->cx, NULL, c->blocks, count_block, c));
    for (size_t b = 0; b < c->blocks; b++) {
        if (c->status[b] != CR_OK)
            CR_TRY(c->failed[b] == c->cx ? c->status[b] : cri_fail_as(c->cx, c->failed[b]));
        if (c->impossible[b] < *out_impossible) *out_impossible = c->impossible[b];
        *out_log += c->log_p[b];
        for (size_t i = 0; i < c->m->size; i++) count[i] += c->count[b * c->m->size + i];
    }
done:
    return st;
}
