/* dbn_sample.c -- one sequence, slice by slice, each from causes to effects; the columns of the data show their variables
 * alone, hidden ones stay hidden. */
#include "dbn.h"
#include "base/context_internal.h"
#include "base/number.h"
#include "base/scratch.h"
#include "graph/network/structure.h"

#include <math.h>
#include <string.h>

typedef struct drawing {
    const cri_dynamic *net;
    size_t            *first, *next; /* [n], [2 n] parents first */
    size_t            *state;        /* [2 n] of the slice before, and of this one */
} drawing;

/* The row of the table of v under the states of its parents. */
static size_t draw_state(const cr_network *net, size_t v, const size_t *state, cr_rng *r)
{
    cr_table_view t = cr_network_table(net, v);
    size_t        at = 0, n = cr_network_states(net, v);
    for (size_t k = 0; k + 1 < t.n; k++)
        at = at * cr_network_states(net, t.scope[k]) + state[t.scope[k]];
    return cr_rng_categorical(r, t.value + at * n, n);
}

static void draw_slice(const drawing *d, size_t t, cr_rng *r)
{
    size_t n = d->net->n, *now = d->state + n;
    if (t == 0) {
        for (size_t i = 0; i < n; i++)
            now[d->first[i]] = draw_state(d->net->first, d->first[i], now, r);
        return;
    }
    memcpy(d->state, now, n * sizeof *now);
    for (size_t i = 0; i < 2 * n; i++)
        if (d->next[i] >= n)
            d->state[d->next[i]] = draw_state(d->net->next, d->next[i], d->state, r);
}

/* A state as a cell of the column: its level, or its number. */
static cr_status cell_of(cr_ctx *cx, const cri_design_column *c, const char *name, double *out)
{
    if (c->type != CR_CATEGORY) {
        size_t n = strlen(name);
        if (n > 0 && cri_parse_double(name, name + n, out) == n) return CR_OK;
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "dbn: rows cannot be drawn: the column '%s' has numbers, and the state '%s' "
                       "is none",
                       c->name, name);
    }
    for (size_t i = 0; i < c->n_levels; i++) {
        *out = (double)i;
        if (strcmp(c->levels[i], name) == 0) return CR_OK;
    }
    cr_fail(cx, CR_EUNSUPPORTED,
            "dbn: rows cannot be drawn: the column '%s' of this model does not know the state '%s'",
            c->name, name);
    return cr_fail_hint(cx, "fit it again with this version");
}

/* The cells of the states of each column, cell [columns]: NULL where there is no variable; number [columns]. */
static cr_status find_cells(cr_scratch *s, const cri_dynamic *net, const cr_design *design,
                            double **cell, size_t *number)
{
    cr_status           st = CR_OK;
    const cr_variables *vs = cr_network_variables(net->first);
    for (size_t j = 0; j < design->n_columns; j++) {
        const cri_design_column *c = &design->columns[j];
        size_t                   v = number[j] = cr_variable_lookup(vs, c->name);
        cell[j] = NULL;
        if (v == CR_NONE) continue;
        cell[j] = cr_scratch_f64(s, cr_variable_states(vs, v));
        CR_TRY(s->status);
        for (size_t k = 0; k < cr_variable_states(vs, v); k++)
            CR_TRY(cell_of(s->cx, c, cr_state_name(vs, v, k), &cell[j][k]));
    }
done:
    return st;
}

/* Slice t by stream t: so the first slices do not depend on how many there are. */
cr_status cri_dbn_sample(cr_ctx *cx, const void *state, const cr_design *design,
                         const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_dbn *m = state;
    size_t         n = m->net->n, columns = design->n_columns;
    double       **cell = cr_scratch_bytes(&s, columns, sizeof *cell);
    size_t        *number = cr_scratch_index(&s, columns);
    drawing        d = { .net = m->net };
    (void)opt_rows;
    d.first = cr_scratch_index(&s, n);
    d.next = cr_scratch_index(&s, 2 * n);
    d.state = cr_scratch_bytes(&s, 2 * n, sizeof *d.state);
    CR_TRY(s.status);
    CR_TRY(cr_network_order(cx, m->net->first, d.first));
    CR_TRY(cr_network_order(cx, m->net->next, d.next));
    CR_TRY(find_cells(&s, m->net, design, cell, number));
    for (size_t t = 0; t < count; t++) {
        cr_rng r = cr_rng_stream(seed, t);
        if (t % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        draw_slice(&d, t, &r);
        for (size_t j = 0; j < columns; j++)
            out[t * columns + j] = cell[j] ? cell[j][d.state[n + number[j]]] : NAN;
    }
done:
    cr_scratch_end(&s);
    return st;
}
