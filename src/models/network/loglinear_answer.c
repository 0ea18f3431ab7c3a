/* loglinear_answer.c -- densities of rows, and draws.
 *   log p(row) = sum_k w_k f_k(row) - log Z;   of a row with gaps log Z(what it shows) - log Z, through the tree.
 * Draws are exact: along an elimination order backwards, each variable given those that its elimination joins, whose joint
 * tables the tree has.  Where the tree is too wide, each draw is a Gibbs chain of its own, 1000 sweeps long. */
#include "loglinear.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "graph/exact/elimination.h"
#include "graph/exact/elimination_tree.h"
#include "graph/exact/junction.h"

#include <math.h>
#include <string.h>

/* --- densities -------------------------------------------------------------------------------- */

cr_status cri_loglinear_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_loglinear *m = state;
    cri_loglinear_tree   tree = { 0 };
    cri_bn_rows          d;
    if (isnan(m->log_z)) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "log Z of this network is not known: its junction tree has cliques of %g columns, "
                "so rows have no "
                "density",
                m->width + 1);
        CR_TRY(cr_fail_hint(cx, "query and infer answer questions approximately"));
    }
    CR_TRY(cri_bn_read_rows(&s, &m->columns, rows, NULL, &d));
    for (size_t i = 0; i < rows->n; i++) {
        uint16_t *row = d.code + i * d.p;
        bool      gap = false;
        double    value;
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t v = 0; v < d.p; v++) gap |= row[v] == CRI_BN_GAP;
        if (gap && !tree.tree) CR_TRY(cri_loglinear_tree_open(cx, m, m->weight, &tree));
        if (gap)
            CR_TRY(cri_loglinear_tree_show(cx, &tree, row, &value));
        else
            value = cri_potentials_value(&m->terms, m->weight, row);
        out->log_density[i] = value - m->log_z;
    }
done:
    cri_loglinear_tree_close(cx, &tree);
    cr_scratch_end(&s);
    return st;
}

/* --- exact draws ------------------------------------------------------------------------------ */

/* Joint tables of each variable and those that its elimination joins, the variable last. */
typedef struct sampler {
    size_t               p;
    size_t              *order; /* [p] eliminated as the i-th */
    cri_elimination_tree tree;
    double             **joint; /* [p] of rank i: [states of later(i) x states of i] */
} sampler;

/* The entries of the joint of rank i, from a factor whose scope ascends by variable. */
static cr_status take_joint(cr_scratch *s, const cri_potentials *t, const sampler *a, size_t i,
                            const cr_factor *f, double **out)
{
    size_t  n = a->tree.begin[i + 1] - a->tree.begin[i];
    double *value = cr_scratch_f64(s, f->size);
    if (!value) return s->status;
    for (size_t e = 0; e < f->size; e++) {
        size_t rest = e, at = 0, v = a->order[i];
        size_t own = rest % t->states[v];
        rest /= t->states[v];
        at = own * f->stride[cr_factor_position(f, v)];
        for (size_t k = n; k-- > 0;) {
            size_t u = a->order[a->tree.later[a->tree.begin[i] + k]];
            at += rest % t->states[u] * f->stride[cr_factor_position(f, u)];
            rest /= t->states[u];
        }
        value[e] = f->value[at];
    }
    *out = value;
    return CR_OK;
}

static cr_status open_sampler(cr_scratch *s, const cri_loglinear *m, sampler *a)
{
    cr_status             st = CR_OK;
    cr_ctx               *cx = s->cx;
    const cri_potentials *t = &m->terms;
    cr_graph              g = { 0 };
    cr_order              o = { 0 };
    cri_loglinear_tree    tree = { 0 };
    cr_factor             f = { 0 };
    double                log_z;
    size_t               *query = cr_scratch_index(s, t->p);
    a->p = t->p;
    a->joint = cr_scratch_bytes(s, t->p, sizeof *a->joint);
    a->order = cr_scratch_index(s, t->p);
    CR_TRY(s->status);
    CR_TRY(cr_network_moral(cx, m->net, &g));
    CR_TRY(cr_order_find(cx, &g, t->states, NULL, CR_ELIMINATE_MIN_FILL, 0, &o));
    memcpy(a->order, o.order, t->p * sizeof *a->order);
    CR_TRY(cri_elimination_tree_new(cx, &g, a->order, &a->tree));
    CR_TRY(cri_loglinear_tree_open(cx, m, m->weight, &tree));
    CR_TRY(cri_loglinear_tree_show(cx, &tree, NULL, &log_z));
    for (size_t i = 0; i < t->p; i++) {
        size_t n = 0;
        CR_TRY(cr_check_interrupt(cx));
        query[n++] = a->order[i];
        for (size_t k = a->tree.begin[i]; k < a->tree.begin[i + 1]; k++)
            query[n++] = a->order[a->tree.later[k]];
        CR_TRY(cr_junction_joint(cx, tree.tree, n, query, &f));
        if (f.is_log) cr_factor_set_log(&f, false);
        CR_TRY(take_joint(s, t, a, i, &f, &a->joint[i]));
        cr_factor_free(cx, &f);
    }
done:
    cr_factor_free(cx, &f);
    cri_loglinear_tree_close(cx, &tree);
    cr_order_free(cx, &o);
    cr_graph_free(cx, &g);
    return st;
}

static void draw(const sampler *a, const cri_potentials *t, cr_rng *r, uint16_t *row)
{
    for (size_t i = a->p; i-- > 0;) {
        size_t v = a->order[i], at = 0;
        for (size_t k = a->tree.begin[i]; k < a->tree.begin[i + 1]; k++) {
            size_t u = a->order[a->tree.later[k]];
            at = at * t->states[u] + row[u];
        }
        row[v] = (uint16_t)cr_rng_categorical(r, a->joint[i] + at * t->states[v], t->states[v]);
    }
}

/* --- draws of chains -------------------------------------------------------------------------- */

enum { SWEEPS = 1000 };

typedef struct chains {
    const cri_loglinear *m;
    uint64_t             seed;
    uint16_t            *row;  /* [count x p] */
    double              *work; /* [count x most] */
    size_t               most; /* states of a variable */
} chains;

static void run_chain(void *arg, size_t i)
{
    const chains         *a = arg;
    const cri_potentials *t = &a->m->terms;
    uint16_t             *row = a->row + i * t->p;
    cr_rng                r = cr_rng_stream(a->seed, i);
    double               *p = a->work + i * a->most;
    for (size_t v = 0; v < t->p; v++) row[v] = (uint16_t)cr_rng_below(&r, t->states[v]);
    for (size_t n = 0; n < SWEEPS; n++)
        for (size_t v = 0; v < t->p; v++) {
            if (t->states[v] < 2) continue;
            cri_potentials_condition(t, a->m->weight, row, v, p);
            row[v] = (uint16_t)cr_rng_categorical(&r, p, t->states[v]);
        }
}

cr_status cri_loglinear_sample(cr_ctx *cx, const void *state, const cr_design *design,
                               const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cri_loglinear  *m = state;
    const cri_potentials *t = &m->terms;
    const cr_variables   *vs = cr_network_variables(m->columns.net);
    sampler               a = { 0 };
    bool                  is_exact = !isnan(m->log_z);
    uint16_t             *row = cr_scratch_bytes(&s, is_exact ? t->p : count * t->p, sizeof *row);
    (void)opt_rows;
    CR_TRY(s.status);
    if (is_exact) {
        CR_TRY(open_sampler(&s, m, &a));
    } else {
        chains c = { .m = m, .seed = seed, .row = row, .most = 1 };
        for (size_t v = 0; v < t->p; v++) c.most = t->states[v] > c.most ? t->states[v] : c.most;
        c.work = cr_scratch_matrix(&s, count, c.most);
        CR_TRY(s.status);
        cr_log(cx, CR_LOG_INFO, "each draw is the end of a Gibbs chain of %d sweeps", SWEEPS);
        CR_TRY(cri_parallel_for(cx, "drawing", count, run_chain, &c));
    }
    for (size_t i = 0; i < count; i++) {
        const uint16_t *x = is_exact ? row : row + i * t->p;
        cr_rng          r = cr_rng_stream(seed, i);
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        if (is_exact) draw(&a, t, &r, row);
        for (size_t j = 0; j < design->n_read; j++) {
            size_t v = cr_variable_lookup(vs, design->columns[j].name);
            out[i * design->n_read + j] =
                v == CR_NONE ? NAN : cri_bn_value_of(&m->columns, &design->columns[j], v, x[v]);
        }
    }
done:
    cri_elimination_tree_free(cx, &a.tree);
    cr_scratch_end(&s);
    return st;
}
