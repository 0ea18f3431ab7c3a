/* tape_batch.c -- operations on single numbers put together into operations on vectors.
 * A loop over rows writes y[1] - m, y[2] - m, ... one by one.  Operations of one kernel that are
 * equally far from the parameters (level: one more than the highest of what they need) do not need
 * each other; they become one, whose inputs are runs of slots where they lie in order, one slot
 * where all are the same, and else gathered.  Sums of one entry that are only terms of the density
 * become one sum.  O(operations log operations) time; derivatives are those of before, values to
 * the last bits (sums are taken in another order). */
#include "tape.h"
#include "kernels.h"
#include "base/sort.h"

#include <string.h>

enum { FEWEST = 3, MOST_KERNELS = 200 };

typedef struct entry {
    uint64_t key; /* segment, level, kernel */
    size_t   i;
} entry;
CRI_COMPARE_BY_TWO(compare_entries, entry, key, i);

typedef struct batch {
    cri_tape    *t;
    cri_tape_op *old; /* the operations as they were                                             */
    size_t       n_old;
    cri_slot    *now;     /* [slots there were]: where each value is now                         */
    uint32_t    *level;   /* [slots there were] of what is in the slot                           */
    uint32_t    *used;    /* [slots there were]: by so many inputs                               */
    uint32_t    *as_term; /* [slots there were]: so many times a term                            */
    entry       *order;   /* operations by segment, level and kernel                             */
    cri_slot    *slots;   /* workspace                                                           */
    double      *numbers;
    const cri_tape_kernel *seen[MOST_KERNELS];
    size_t                 n_seen;
} batch;

static uint32_t outputs(const cri_tape_op *op) { return op->kernel->sums ? 1 : op->n; }

/* What an operation of one entry joins as: its own kernel, or that of a sum taken apart; NULL: it
 * stays alone. */
static const cri_tape_kernel *joins_as(const batch *b, const cri_tape_op *op)
{
    if (op->n != 1) return NULL;
    if (op->kernel->each) return op->kernel;
    if (!op->kernel->sums || !op->kernel->apart) return NULL;
    return b->used[op->out] == 0 && b->as_term[op->out] == 1 ? op->kernel : op->kernel->apart;
}

/* Kernels by number, in the order of their first use; 0: alone. */
static uint64_t number_of(batch *b, const cri_tape_kernel *kernel)
{
    if (!kernel) return 0;
    for (size_t i = 0; i < b->n_seen; i++)
        if (b->seen[i] == kernel) return i + 1;
    if (b->n_seen == MOST_KERNELS) return 0;
    b->seen[b->n_seen++] = kernel;
    return b->n_seen;
}

/* Levels and uses of all slots; operations in the order in which they are written anew. */
static void survey(batch *b, const cri_slot *const *kept, const size_t *n_kept, size_t runs)
{
    for (size_t i = 0; i < b->t->n_terms; i++) b->as_term[b->t->term[i]]++;
    for (size_t r = 0; r < runs; r++)
        for (size_t i = 0; i < n_kept[r]; i++) b->used[kept[r][i]]++;
    for (size_t i = 0; i < b->n_old; i++) {
        const cri_tape_op *op = &b->old[i];
        for (unsigned k = 0; k < op->n_in; k++)
            for (uint32_t e = 0; e < op->in[k].n; e++) b->used[op->in[k].at + e]++;
        for (uint32_t e = 0; op->index && e < op->n; e++) b->used[op->index[e]]++;
    }
    for (size_t i = 0; i < b->n_old; i++) {
        const cri_tape_op *op = &b->old[i];
        uint32_t           level = 0;
        for (unsigned k = 0; k < op->n_in; k++)
            for (uint32_t e = 0; e < op->in[k].n; e++)
                if (b->level[op->in[k].at + e] > level) level = b->level[op->in[k].at + e];
        for (uint32_t e = 0; op->index && e < op->n; e++)
            if (b->level[op->index[e]] > level) level = b->level[op->index[e]];
        level++;
        for (uint32_t e = 0; e < outputs(op); e++) b->level[op->out + e] = level;
        uint64_t segment = i >= b->t->core;
        b->order[i] =
            (entry){ segment << 63 | (uint64_t)level << 16 | number_of(b, joins_as(b, op)), i };
    }
    if (b->n_old > 1) qsort(b->order, b->n_old, sizeof *b->order, compare_entries);
}

/* The slots b->slots [n] as an input: one run, or gathered. */
static cri_tape_operand operand_of(batch *b, size_t n)
{
    cri_slot *s = b->slots;
    bool      in_order = true, known = true;
    for (size_t i = 0; i < n; i++) {
        in_order = in_order && s[i] == s[0] + i;
        known = known && b->t->constant[s[i]];
    }
    if (in_order || n == 0) return (cri_tape_operand){ .at = n ? s[0] : 0, .n = (uint32_t)n };
    if (known) {
        for (size_t i = 0; i < n; i++) b->numbers[i] = b->t->initial[s[i]];
        return (cri_tape_operand){ .at = cri_tape_constants(b->t, b->numbers, n),
                                   .n = (uint32_t)n };
    }
    return (cri_tape_operand){ .at = cri_tape_gather(b->t, s, n), .n = (uint32_t)n };
}

/* The kernel for many rows in the place of a density's. */
static const cri_tape_kernel *for_rows(const cri_tape_kernel *kernel, size_t n)
{
    const cri_tape_kernel *rows =
        kernel->apart && n >= FEWEST ? cri_rows_kernel(kernel->name) : NULL;
    return rows ? rows : kernel;
}

/* An operation as it was, on the slots of now. */
static void write_alone(batch *b, const cri_tape_op *old)
{
    cri_tape_op op = *old;
    cri_slot    at;
    for (unsigned k = 0; k < op.n_in; k++) {
        for (uint32_t e = 0; e < op.in[k].n; e++) b->slots[e] = b->now[op.in[k].at + e];
        op.in[k] = operand_of(b, op.in[k].n);
    }
    if (op.index) {
        for (uint32_t e = 0; e < op.n; e++) b->slots[e] = b->now[op.index[e]];
        cri_tape_operand all =
            operand_of(b, op.n); /* now in order perhaps: no gather is needed then */
        at = all.at;
    } else {
        op.kernel = for_rows(op.kernel, op.n);
        at = cri_tape_add(b->t, op);
    }
    if (at == CRI_NO_SLOT) return;
    for (uint32_t e = 0; e < outputs(old); e++) b->now[old->out + e] = at + e;
}

/* n operations of one kernel as one. */
static void write_together(batch *b, const entry *of, size_t n)
{
    const cri_tape_op *first = &b->old[of[0].i];
    cri_tape_op        op = { .kernel = joins_as(b, first), .n = (uint32_t)n, .n_in = first->n_in };
    cri_slot           at;
    bool               once = op.kernel->each; /* all do the very same */
    for (unsigned k = 0; k < op.n_in; k++) {
        bool same = true;
        for (size_t i = 0; i < n; i++) {
            b->slots[i] = b->now[b->old[of[i].i].in[k].at];
            same = same && (b->slots[i] == b->slots[0] ||
                            (b->t->constant[b->slots[i]] && b->t->constant[b->slots[0]] &&
                             b->t->initial[b->slots[i]] == b->t->initial[b->slots[0]]));
        }
        once = once && same;
        op.in[k] = operand_of(b, same ? 1 : n);
    }
    if (once) op.n = 1;
    op.kernel = for_rows(op.kernel, n);
    at = cri_tape_add(b->t, op);
    if (at == CRI_NO_SLOT) return;
    for (size_t i = 0; i < n; i++)
        b->now[b->old[of[i].i].out] =
            op.kernel->sums ? (i == 0 ? at : CRI_NO_SLOT) : at + (once ? 0 : (cri_slot)i);
}

cr_status cri_tape_batch(cr_ctx *cx, cri_tape *t, cri_slot **kept, const size_t *n_kept,
                         size_t runs)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     slots = t->size, n_terms = t->n_terms, most = slots, core = 0;
    batch      b = { .t = t, .old = t->op, .n_old = t->n_ops };
    cri_slot  *term = t->term;
    for (size_t i = 0; i < t->n_ops; i++)
        if (t->op[i].n > most) most = t->op[i].n;
    b.now = cr_scratch_bytes(&s, slots, sizeof *b.now);
    b.level = cr_scratch_bytes(&s, slots, sizeof *b.level);
    b.used = cr_scratch_bytes(&s, slots, sizeof *b.used);
    b.as_term = cr_scratch_bytes(&s, slots, sizeof *b.as_term);
    b.order = cr_scratch_bytes(&s, t->n_ops, sizeof *b.order);
    b.slots = cr_scratch_bytes(&s, most, sizeof *b.slots);
    b.numbers = cr_scratch_f64(&s, most);
    CR_TRY(s.status);
    survey(&b, (const cri_slot *const *)kept, n_kept, runs);
    for (size_t i = 0; i < slots; i++) b.now[i] = (cri_slot)i;
    t->op = NULL, t->n_ops = t->ops_most = 0;
    for (size_t i = 0, n; i < b.n_old; i += n) {
        bool in_core = b.order[i].key >> 63 == 0;
        for (n = 1; i + n < b.n_old && b.order[i + n].key == b.order[i].key; n++) continue;
        if (!in_core && core == 0) core = t->n_ops + 1;
        if (n < FEWEST || (b.order[i].key & 0xffff) == 0)
            for (size_t k = 0; k < n; k++) write_alone(&b, &b.old[b.order[i + k].i]);
        else
            write_together(&b, b.order + i, n);
        CR_TRY(cr_check_interrupt(cx));
    }
    t->core = core ? core - 1 : t->n_ops;
    t->term = NULL, t->n_terms = t->terms_most = 0;
    for (size_t i = 0; i < n_terms; i++)
        if (b.now[term[i]] != CRI_NO_SLOT) cri_tape_term(t, b.now[term[i]]);
    for (size_t r = 0; r < runs; r++)
        for (size_t i = 0; i < n_kept[r]; i++) kept[r][i] = b.now[kept[r][i]];
    CR_TRY(t->memory.status);
done:
    cr_scratch_end(&s);
    return st;
}
