/* interface.c -- networks of slices opened, and followed through time. */
#include "interface_internal.h"
#include "base/context_internal.h"
#include "graph/network/network_internal.h"
#include "graph/network/noisy.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* --- life ------------------------------------------------------------------------------------ */

/* The variables of the interface, and the size of alpha. */
static cr_status find_members(cr_ctx *cx, cri_interface *h)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool      *seen = cr_scratch_bytes(&s, h->n, sizeof *seen);
    double     size = 1;
    h->member = cr_scratch_index(&h->s, h->n);
    CR_TRY(s.status);
    CR_TRY(h->s.status);
    for (size_t v = 0; v < h->n; v++) {
        size_t        n;
        const size_t *parents = cr_network_parents(h->next, h->n + v, &n);
        for (size_t i = 0; i < n; i++)
            if (parents[i] < h->n) seen[parents[i]] = true;
    }
    for (size_t v = 0; v < h->n; v++)
        if (seen[v]) {
            h->member[h->members++] = v;
            size *= (double)cr_network_states(h->first, v);
        }
    if (16 * size > (double)cri_memory_left(cx)) {
        cr_fail(cx, CR_ENOMEM, "what connects a slice to the next has %.3g joint states", size);
        CR_TRY(
            cr_fail_hint(cx, "that is %zu variables with children in the next slice", h->members));
    }
    h->size = (size_t)size;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status open_tables(cr_ctx *cx, cri_interface *h)
{
    cr_status st = CR_OK;
    CR_TRY(cri_network_fill(cx, h->net->first, NULL, CRI_NOISY_LARGE, &h->own_first));
    CR_TRY(cri_network_fill(cx, h->net->next, NULL, CRI_NOISY_LARGE, &h->own_next));
    h->first = h->own_first ? h->own_first : h->net->first;
    h->next = h->own_next ? h->own_next : h->net->next;
    CR_TRY(cri_network_need_tables(cx, h->first));
    CR_TRY(cri_network_need_tables(cx, h->next));
done:
    return st;
}

cr_status cri_interface_new(cr_ctx *cx, const cri_dynamic *net, cri_interface **out)
{
    cr_status      st = CR_OK;
    cri_interface *h = cr_alloc(cx, 1, sizeof *h);
    if (!h) return CR_ENOMEM;
    h->s = cr_scratch_begin(cx);
    h->net = net;
    h->n = net->n;
    CR_TRY(open_tables(cx, h));
    CR_TRY(find_members(cx, h));
    h->offset = cr_scratch_index(&h->s, h->n + 1);
    h->key = cr_scratch_bytes(&h->s, 2 * h->n, 1);
    h->state = cr_scratch_bytes(&h->s, 2 * h->n, sizeof *h->state);
    CR_TRY(h->s.status);
    h->offset[0] = 0;
    for (size_t v = 0; v < h->n; v++)
        h->offset[v + 1] = h->offset[v] + cr_network_states(h->first, v);
    h->likelihood = cr_scratch_f64(&h->s, h->offset[h->n]);
    h->derivative = cr_scratch_bytes(&h->s, h->offset[h->n], sizeof *h->derivative);
    h->marginal = cr_scratch_f64(&h->s, h->offset[h->n]);
    CR_TRY(h->s.status);
    *out = h;
    h = NULL;
done:
    cri_interface_free(cx, h);
    return st;
}

void cri_interface_free(cr_ctx *cx, cri_interface *h)
{
    if (!h) return;
    for (size_t i = 0; i < h->programs; i++) cri_program_free(cx, h->program[i]);
    cr_network_free(cx, h->own_first);
    cr_network_free(cx, h->own_next);
    cr_scratch_end(&h->s);
    cr_free(cx, h, 1, sizeof *h);
}

bool cri_interface_lost(const cri_interface *h) { return h->lost; }

size_t cri_interface_width(const cri_interface *h) { return h->offset[h->n]; }

cr_status cri_interface_plan(cr_ctx *cx, const cri_dynamic *net, cri_interface_cost *out)
{
    cr_status      st = CR_OK;
    cri_interface *h = NULL;
    cri_program   *p = NULL;
    CR_TRY(cri_interface_new(cx, net, &h));
    memset(h->key, CRI_SEEN_NOT, 2 * h->n);
    CR_TRY(cri_program_new(cx, h, false, h->key, true, &p));
    *out = (cri_interface_cost){ h->members, (double)h->size, p->operations, p->width };
done:
    cri_program_free(cx, p);
    cri_interface_free(cx, h);
    return st;
}

/* --- underflow ------------------------------------------------------------------------------- */

/* Watches the flag of the processor from one call to the other; the caller's is as it was. */
typedef struct watch {
    fexcept_t before;
} watch;

static watch watch_begin(void)
{
    watch w;
    fegetexceptflag(&w.before, FE_UNDERFLOW);
    feclearexcept(FE_UNDERFLOW);
    return w;
}

static void watch_end(const watch *w, cri_interface *h)
{
    h->lost |= fetestexcept(FE_UNDERFLOW) != 0;
    fesetexceptflag(&w->before, FE_UNDERFLOW);
}

/* --- forwards -------------------------------------------------------------------------------- */

/* The messages of all slices: those of one block, and where each block begins.  Those of another block are computed
 * again from there. */
typedef struct tape {
    cri_interface            *h;
    const cri_slice_evidence *e;
    bool                      maximise;
    size_t                    length, blocks; /* slices of a block; how many there are */
    size_t                    held;           /* the block that is in `message` */
    double                   *start;   /* [blocks x size] what comes before each but the first */
    double                   *message; /* [length x size] */
} tape;

/* Blocks so that all fits a part of the memory. */
static void choose_blocks(cr_ctx *cx, tape *p)
{
    const double BYTES = 1 << 28;
    double       slices = (double)p->e->slices, room = (double)cri_memory_left(cx) / 4;
    double       all = slices * (double)p->h->size * sizeof(double);
    p->length = p->e->slices;
    if (all > (room < BYTES ? room : BYTES)) p->length = (size_t)ceil(sqrt(slices));
    p->blocks = (p->e->slices + p->length - 1) / p->length;
}

/* What comes before slice t, if its block is held; NULL: nothing does. */
static double *before(const tape *p, size_t t)
{
    if (t == 0) return NULL;
    size_t block = t / p->length, at = t % p->length;
    return at == 0 ? p->start + block * p->h->size : p->message + (at - 1) * p->h->size;
}

/* Slice t; *out_log: -INFINITY where it is impossible. */
static cr_status roll(cr_ctx *cx, tape *p, size_t t, double *out_log)
{
    enum { OFTEN = 64 };
    cr_status    st = CR_OK;
    cri_program *program;
    double      *to = p->message + t % p->length * p->h->size;
    if (t % OFTEN == 0) CR_TRY(cr_check_interrupt(cx));
    CR_TRY(cri_slice_open(cx, p->h, p->e, t, &program));
    CR_TRY(cri_slice_forward(cx, p->h, program, p->maximise, before(p, t), to, out_log));
    if ((t + 1) % p->length == 0 && t + 1 < p->e->slices)
        memcpy(p->start + (t + 1) / p->length * p->h->size, to, p->h->size * sizeof *to);
done:
    return st;
}

/* Brings the block of slice t back. */
static cr_status load(cr_ctx *cx, tape *p, size_t t)
{
    cr_status st = CR_OK;
    size_t    block = t / p->length;
    double    log_e;
    for (size_t i = block * p->length; block != p->held && i < t; i++)
        CR_TRY(roll(cx, p, i, &log_e));
    p->held = block;
done:
    return st;
}

/* All slices forwards, as far as they are possible. */
static cr_status record(cr_ctx *cx, cr_scratch *s, tape *p, double *opt_log, double *out_log,
                        size_t *out_possible)
{
    cr_status st = CR_OK;
    size_t    t;
    double    total = 0, log_e = 0;
    choose_blocks(cx, p);
    p->start = cr_scratch_matrix(s, p->blocks, p->h->size);
    p->message = cr_scratch_matrix(s, p->length, p->h->size);
    CR_TRY(s->status);
    for (t = 0; t < p->e->slices; t++) {
        CR_TRY(roll(cx, p, t, &log_e));
        if (opt_log) opt_log[t] = log_e;
        total += log_e;
        if (log_e == -INFINITY) break;
    }
    *out_possible = t;
    *out_log = total;
    for (; opt_log && t < p->e->slices; t++) opt_log[t] = -INFINITY;
    p->held = p->blocks - 1;
done:
    return st;
}

cr_status cri_interface_filter(cr_ctx *cx, cri_interface *h, const cri_slice_evidence *e,
                               cri_slice_visit *opt_visit, void *arg, double *opt_log,
                               size_t *out_possible)
{
    cr_status  st = CR_OK;
    watch      w = watch_begin();
    cr_scratch s = cr_scratch_begin(cx);
    double    *beta = cr_scratch_f64(&s, h->size), *was, *is, log_e = 0;
    size_t     t;
    was = cr_scratch_f64(&s, h->size);
    is = cr_scratch_f64(&s, h->size);
    CR_TRY(s.status);
    for (t = 0; t < e->slices; t++) {
        cri_program *program;
        double      *spare = was;
        if (t % 64 == 0) CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_slice_open(cx, h, e, t, &program));
        CR_TRY(cri_slice_forward(cx, h, program, false, t ? was : NULL, is, &log_e));
        if (opt_log) opt_log[t] = log_e;
        if (log_e == -INFINITY) break;
        if (opt_visit) {
            for (size_t i = 0; i < h->size; i++) beta[i] = 1;
            CR_TRY(cri_slice_backward(cx, h, program, t ? was : NULL, is, beta, true, NULL));
            if (!opt_visit(arg, t, h->marginal)) break;
        }
        was = is;
        is = spare;
    }
    *out_possible = t;
    for (; opt_log && log_e == -INFINITY && t < e->slices; t++) opt_log[t] = -INFINITY;
done:
    watch_end(&w, h);
    cr_scratch_end(&s);
    return st;
}

/* --- backwards ------------------------------------------------------------------------------- */

cr_status cri_interface_smooth(cr_ctx *cx, cri_interface *h, const cri_slice_evidence *e,
                               size_t first, size_t last, cri_slice_visit *visit, void *arg,
                               double *opt_log, double *out_log, size_t *out_possible)
{
    cr_status  st = CR_OK;
    watch      w = watch_begin();
    cr_scratch s = cr_scratch_begin(cx);
    tape       p = { .h = h, .e = e };
    double    *beta = cr_scratch_f64(&s, h->size), *next = cr_scratch_f64(&s, h->size);
    double    *again = cr_scratch_f64(&s, h->size), log_e;
    CR_TRY(s.status);
    CR_TRY(record(cx, &s, &p, opt_log, out_log, out_possible));
    if (*out_possible < e->slices) goto done;
    for (size_t i = 0; i < h->size; i++) beta[i] = 1;
    for (size_t t = e->slices; t-- > first;) {
        cri_program *program;
        double      *spare = beta;
        CR_TRY(load(cx, &p, t));
        if (t % 64 == 0) CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_slice_open(cx, h, e, t, &program));
        CR_TRY(cri_slice_forward(cx, h, program, false, before(&p, t), again, &log_e));
        CR_TRY(cri_slice_backward(cx, h, program, before(&p, t), again, beta, t <= last,
                                  t > first ? next : NULL));
        if (t <= last && !visit(arg, t, h->marginal)) break;
        beta = next;
        next = spare;
    }
done:
    watch_end(&w, h);
    cr_scratch_end(&s);
    return st;
}

static bool visit_none(void *arg, size_t t, const double *p)
{
    (void)arg, (void)t, (void)p;
    return true;
}

/* Room for the derivatives by the entries of one table, twice. */
static cr_status open_family(cri_interface *h)
{
    size_t most = 1;
    for (size_t v = 0; v < h->n; v++) {
        size_t a = cr_network_table(h->first, v).size;
        size_t b = cr_network_table(h->next, h->n + v).size;
        most = a > most ? a : most;
        most = b > most ? b : most;
    }
    if (!h->family) h->family = cr_scratch_matrix(&h->s, 2, most);
    h->entries = most;
    return h->s.status;
}

cr_status cri_interface_count(cr_ctx *cx, cri_interface *h, const cri_slice_evidence *e,
                              const cri_family_sums *sums, double *opt_log, double *out_log,
                              size_t *out_possible)
{
    cr_status st = open_family(h);
    if (st != CR_OK) return st;
    h->sums = sums;
    st = cri_interface_smooth(cx, h, e, 0, e->slices - 1, visit_none, NULL, opt_log, out_log,
                              out_possible);
    h->sums = NULL;
    return st;
}

/* The plain tables of a copy, which has others filled in, from the network. */
static void renew(const cr_network *from, cr_network *opt_own)
{
    for (size_t i = 0; opt_own && i < from->tables; i++)
        if (from->table[i].kind == CR_CPD_TABLE)
            memcpy(opt_own->table[i].value, from->table[i].value,
                   from->table[i].size * sizeof(double));
}

void cri_interface_renew(cri_interface *h)
{
    renew(h->net->first, h->own_first);
    renew(h->net->next, h->own_next);
}

/* --- the best path --------------------------------------------------------------------------- */

/* The states of the interface where alpha is largest, the first of equals. */
static void take_best(cri_interface *h, const double *alpha)
{
    size_t best = 0;
    for (size_t i = 1; i < h->size; i++)
        if (alpha[i] > alpha[best]) best = i;
    for (size_t i = h->members; i-- > 0;) {
        size_t states = cr_network_states(h->first, h->member[i]);
        h->state[h->n + h->member[i]] = best % states;
        best /= states;
    }
}

cr_status cri_interface_best(cr_ctx *cx, cri_interface *h, const cri_slice_evidence *e,
                             uint32_t *out_state, double *out_log, size_t *out_possible)
{
    cr_status  st = CR_OK;
    watch      w = watch_begin();
    cr_scratch s = cr_scratch_begin(cx);
    tape       p = { .h = h, .e = e, .maximise = true };
    double    *again = cr_scratch_f64(&s, h->size), log_e;
    size_t    *came = cr_scratch_index(&s, h->n);
    CR_TRY(s.status);
    CR_TRY(record(cx, &s, &p, NULL, out_log, out_possible));
    if (*out_possible < e->slices) goto done;
    for (size_t t = e->slices; t-- > 0;) {
        cri_program *program;
        CR_TRY(load(cx, &p, t));
        if (t % 64 == 0) CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_slice_open(cx, h, e, t, &program));
        CR_TRY(cri_slice_forward(cx, h, program, true, before(&p, t), again, &log_e));
        if (t + 1 == e->slices) take_best(h, again);
        for (size_t i = 0; i < h->members && t + 1 < e->slices; i++)
            h->state[h->n + h->member[i]] = came[h->member[i]];
        cri_slice_trace(h, program, before(&p, t));
        for (size_t v = 0; v < h->n; v++) out_state[t * h->n + v] = (uint32_t)h->state[h->n + v];
        memcpy(came, h->state, h->n * sizeof *came);
    }
done:
    watch_end(&w, h);
    cr_scratch_end(&s);
    return st;
}
