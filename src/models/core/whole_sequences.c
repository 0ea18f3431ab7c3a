/* whole_sequences.c -- holding back the rows of a sequence that may go on. */
#include "whole_sequences.h"
#include "data/design/design_internal.h"
#include "data/table/stack.h"
#include "data/table/subset.h"
#include "data/table/table_internal.h"
#include "base/number.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* --- labels ---------------------------------------------------------------------------------- */

/* The code of a level or the number; NaN where it is missing, of which opening the rows speaks. */
static double label_at(const cr_column *c, size_t row)
{
    if (c->type != CR_CATEGORY) return c->values[row * c->stride] + 0.0; /* -0 is 0 */
    return c->codes[row] == CR_MISSING_CODE ? NAN : (double)c->codes[row];
}

static bool is_same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static size_t find_slot(const cri_whole_sequences *w, double label)
{
    uint64_t bits;
    memcpy(&bits, &label, sizeof bits);
    bits = (bits ^ bits >> 32) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(bits >> 20) & (w->slots - 1);
    while (!isnan(w->ended[at]) && w->ended[at] != label) at = (at + 1) & (w->slots - 1);
    return at;
}

static cr_status grow_slots(cr_ctx *cx, cri_whole_sequences *w)
{
    cri_whole_sequences more = *w;
    more.slots = w->slots ? 2 * w->slots : 64;
    more.ended = cr_resize(cx, NULL, 0, more.slots, sizeof *more.ended);
    if (!more.ended) return CR_ENOMEM;
    for (size_t i = 0; i < more.slots; i++) more.ended[i] = NAN;
    for (size_t i = 0; i < w->slots; i++)
        if (!isnan(w->ended[i])) more.ended[find_slot(&more, w->ended[i])] = w->ended[i];
    cr_free(cx, w->ended, w->slots, sizeof *w->ended);
    *w = more;
    return CR_OK;
}

static cr_status fail_again(cr_ctx *cx, const cri_whole_sequences *w, const cr_table *block,
                            const cr_column *c, size_t row)
{
    char where[512], text[CRI_DOUBLE_SIZE];
    cr_fail(cx, CR_EDATA,
            "%s: the sequence '%s' goes on after another one, but in a stream the rows of a "
            "sequence must follow one another",
            cri_table_where(block, row, where, sizeof where),
            c->type == CR_CATEGORY ? c->levels[c->codes[row]]
                                   : cri_level_text(c, label_at(c, row), text));
    return cr_fail_hint(cx, "sort the rows by '%s', or leave out --stream", w->by);
}

/* The sequences that begin in a block have not been there before. */
static cr_status check_begins(cr_ctx *cx, cri_whole_sequences *w, const cr_table *block,
                              const cr_column *c)
{
    double last = w->last;
    for (size_t i = 0; i < cr_table_rows(block); i++) {
        double label = label_at(c, i);
        if (isnan(label) || label == last) continue;
        last = label;
        if (2 * w->n_ended >= w->slots) {
            cr_status st = grow_slots(cx, w);
            if (st != CR_OK) return st;
        }
        size_t at = find_slot(w, label);
        if (!isnan(w->ended[at])) return fail_again(cx, w, block, c, i);
        w->ended[at] = label;
        w->n_ended++;
    }
    return CR_OK;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* Takes the table over, also on failure. */
static cr_status hold(cr_ctx *cx, cri_whole_sequences *w, cr_table *t)
{
    if (w->n_held == w->room) {
        size_t     more = w->room ? 2 * w->room : 4;
        cr_table **held = cr_resize(cx, w->held, w->room, more, sizeof(cr_table *));
        if (!held) {
            cr_table_free(cx, t);
            return CR_ENOMEM;
        }
        w->held = held;
        w->room = more;
    }
    w->held[w->n_held++] = t;
    return CR_OK;
}

static void drop_held(cr_ctx *cx, cri_whole_sequences *w)
{
    while (w->n_held > 0) cr_table_free(cx, w->held[--w->n_held]);
}

/* What is held as one table; NULL of nothing. */
static cr_status give(cr_ctx *cx, cri_whole_sequences *w, cr_table **out)
{
    cr_status st = CR_OK;
    *out = w->n_held == 1 ? w->held[0] : NULL;
    if (w->n_held > 1) st = cri_table_stack(cx, w->held, w->n_held, out);
    if (w->n_held == 1) w->n_held = 0;
    drop_held(cx, w);
    return st;
}

static cr_status rows_between(cr_ctx *cx, const cr_table *t, size_t begin, size_t end,
                              cr_table **out)
{
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *rows = cr_scratch_index(&s, end - begin);
    cr_status  st = s.status;
    for (size_t i = begin; st == CR_OK && i < end; i++) rows[i - begin] = i;
    if (st == CR_OK) st = cri_table_subset(cx, t, rows, end - begin, out);
    cr_scratch_end(&s);
    return st;
}

/* The block joins what is held, which is given but for the sequence at its end; *out stays NULL where that
 * is all.  Takes the block over, also on failure. */
static cr_status take(cr_ctx *cx, cri_whole_sequences *w, cr_table *block, cr_table **out)
{
    cr_status        st = CR_OK;
    cr_table        *head = NULL, *tail = NULL;
    const cr_column *c = cr_table_find(block, w->by);
    size_t           n = cr_table_rows(block), cut = n - 1;

    if (!c) { /* opening the rows says so */
        *out = block;
        return CR_OK;
    }
    double before = w->last, label = label_at(c, n - 1);
    while (cut > 0 && is_same(label_at(c, cut - 1), label)) cut--;
    if (w->check) CR_TRY(check_begins(cx, w, block, c));
    w->last = label;
    if (cut == 0) {
        if (!is_same(before, label)) CR_TRY(give(cx, w, out));
        st = hold(cx, w, block);
        block = NULL;
        goto done;
    }
    CR_TRY(rows_between(cx, block, 0, cut, &head));
    CR_TRY(rows_between(cx, block, cut, n, &tail));
    st = hold(cx, w, head);
    head = NULL;
    CR_TRY(st);
    CR_TRY(give(cx, w, out));
    st = hold(cx, w, tail);
    tail = NULL;
done:
    cr_table_free(cx, head);
    cr_table_free(cx, tail);
    cr_table_free(cx, block);
    return st;
}

cr_status cri_whole_sequences_next(cr_ctx *cx, cri_whole_sequences *w, cr_table **out_block)
{
    cr_status st = CR_OK;
    cr_table *block = NULL, *out = NULL;
    if (w->n_held == 0) w->last = NAN;
    do {
        CR_TRY(cr_stream_next(cx, w->stream, &block));
        if (!block || !w->by) break;
        st = take(cx, w, block, &out);
        block = NULL;
        CR_TRY(st);
    } while (!out);
    if (block)
        out = block;
    else if (!out)
        CR_TRY(give(cx, w, &out));
    *out_block = out;
    out = NULL;
done:
    cr_table_free(cx, out);
    return st;
}

void cri_whole_sequences_close(cr_ctx *cx, cri_whole_sequences *w)
{
    drop_held(cx, w);
    cr_free(cx, w->held, w->room, sizeof(cr_table *));
    cr_free(cx, w->ended, w->slots, sizeof *w->ended);
    *w = (cri_whole_sequences){ 0 };
}
