/* bn_answer.c -- what a learned network says of rows, and draws of rows.
 * A row without gaps is a product of entries of tables.  For others the evidence goes through a junction tree, once for
 * all rows that show the same. */
#include "bn.h"
#include "base/number.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "graph/exact/junction.h"
#include "graph/network/evidence.h"
#include "graph/network/structure.h"

#include <math.h>
#include <string.h>

/* --- complete rows ---------------------------------------------------------------------------- */

/* log p(x_v | parents) of a row. */
static double log_entry(const cri_bn *m, const uint16_t *row, size_t v)
{
    cr_table_view t = cr_network_table(m->net, v);
    size_t        entry = 0;
    for (size_t k = 0; k < t.n; k++)
        entry = entry * cr_network_states(m->net, t.scope[k]) + row[t.scope[k]];
    return log(t.value[entry]);
}

static double log_row(const cri_bn *m, const uint16_t *row, size_t p)
{
    double sum = 0;
    for (size_t v = 0; v < p; v++) sum += log_entry(m, row, v);
    return sum;
}

/* --- rows with gaps --------------------------------------------------------------------------- */

typedef struct reader {
    cr_ctx       *cx;
    const cri_bn *m;
    cr_evidence  *e;
    cr_junction  *tree;
    double       *posterior; /* [states of the target] */
} reader;

static cr_status open_reader(cr_scratch *s, const cri_bn *m, reader *r)
{
    cr_status st = CR_OK;
    *r = (reader){ .cx = s->cx, .m = m };
    if (m->target != CR_NONE)
        r->posterior = cr_scratch_f64(s, cr_network_states(m->net, m->target));
    CR_TRY(s->status);
    CR_TRY(cr_evidence_new(s->cx, m->net, &r->e));
    CR_TRY(cr_junction_new(s->cx, m->net, NULL, NULL, &r->tree));
done:
    return st;
}

static void close_reader(reader *r)
{
    cr_junction_free(r->cx, r->tree);
    cr_evidence_free(r->cx, r->e);
}

/* Sets the evidence of a row; *out_log its probability. */
static cr_status show_row(reader *r, const uint16_t *row, size_t p, double *out_log)
{
    cr_status st = CR_OK;
    for (size_t v = 0; v < p; v++) {
        if (row[v] == CRI_BN_GAP)
            cr_evidence_forget(r->cx, r->e, v);
        else
            CR_TRY(cr_evidence_observe(r->cx, r->e, v, row[v]));
    }
    CR_TRY(cr_junction_set_evidence(r->cx, r->tree, r->e));
    CR_TRY(cr_junction_log_evidence(r->cx, r->tree, out_log));
done:
    return st;
}

static cr_status density_of_row(reader *r, const uint16_t *row, size_t p, double *out)
{
    for (size_t v = 0; v < p; v++)
        if (row[v] == CRI_BN_GAP) return show_row(r, row, p, out);
    *out = log_row(r->m, row, p);
    return CR_OK;
}

/* --- classes ---------------------------------------------------------------------------------- */

/* P(target | row) of a row that shows all else: by the tables that the target stands in. */
static void classes_of_complete(const cri_bn *m, uint16_t *row, size_t p, double *out)
{
    size_t states = cr_network_states(m->net, m->target);
    double most = -INFINITY, sum = 0;
    for (size_t k = 0; k < states; k++) {
        row[m->target] = (uint16_t)k;
        out[k] = 0;
        for (size_t v = 0; v < p; v++) {
            size_t        n;
            const size_t *scope = cr_network_parents(m->net, v, &n);
            bool          has = v == m->target;
            for (size_t i = 0; i < n; i++) has |= scope[i] == m->target;
            if (has) out[k] += log_entry(m, row, v);
        }
        most = out[k] > most ? out[k] : most;
    }
    for (size_t k = 0; k < states; k++) sum += out[k] = isfinite(most) ? exp(out[k] - most) : 1;
    for (size_t k = 0; k < states; k++) out[k] /= sum;
    row[m->target] = CRI_BN_GAP;
}

/* P(target | row), in the order of the states; what is impossible says nothing: all states alike. */
static cr_status classes_of_row(reader *r, uint16_t *row, size_t p, double *out)
{
    size_t gaps = 0;
    double log_p;
    for (size_t v = 0; v < p; v++) gaps += row[v] == CRI_BN_GAP && v != r->m->target;
    row[r->m->target] = CRI_BN_GAP;
    if (gaps == 0) {
        classes_of_complete(r->m, row, p, out);
        return CR_OK;
    }
    cr_status st = show_row(r, row, p, &log_p);
    size_t    states = cr_network_states(r->m->net, r->m->target);
    if (st != CR_OK) return st;
    if (isfinite(log_p)) return cr_junction_marginal(r->cx, r->tree, r->m->target, out);
    for (size_t k = 0; k < states; k++) out[k] = 1 / (double)states;
    return CR_OK;
}

cr_status cri_bn_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    const cri_bn *m = state;
    cri_bn_rows   d;
    reader        r = { .cx = cx };
    bool          classes = out->prob != NULL;
    CR_TRY(cri_bn_read_rows(&s, m, rows, NULL, &d));
    CR_TRY(open_reader(&s, m, &r));
    for (size_t i = 0; i < rows->n; i++) {
        uint16_t *row = d.code + i * d.p;
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        if (classes) {
            CR_TRY(classes_of_row(&r, row, d.p, r.posterior));
            for (size_t k = 0; k < out->n_classes; k++) {
                size_t at = cr_state_lookup(cr_network_variables(m->net), m->target,
                                            rows->design->target.levels[k]);
                out->prob[i * out->n_classes + k] = at == CR_NONE ? 0 : r.posterior[at];
            }
        } else {
            CR_TRY(density_of_row(&r, row, d.p, &out->log_density[i]));
        }
    }
done:
    close_reader(&r);
    cr_scratch_end(&s);
    return st;
}

/* --- draws ------------------------------------------------------------------------------------ */

double cri_bn_value_of(const cri_bn *m, const cri_design_column *c, size_t v, size_t state)
{
    const char *name = cr_state_name(cr_network_variables(m->net), v, state);
    double      x = NAN;
    if (c->type == CR_CATEGORY) {
        for (size_t k = 0; k < c->n_levels; k++)
            if (strcmp(c->levels[k], name) == 0) return (double)k;
        return NAN;
    }
    if (m->n_cuts[v] > 0) {
        const double *cut = m->cuts[v];
        size_t        last = m->n_cuts[v];
        return state == 0      ? cut[0]
               : state == last ? cut[last - 1]
                               : (cut[state - 1] + cut[state]) / 2;
    }
    if (strcmp(name, "false") == 0) return 0;
    if (strcmp(name, "true") == 0) return 1;
    cri_parse_double(name, name + strlen(name), &x);
    return x;
}

static size_t draw_state(const double *p, size_t n, cr_rng *r)
{
    double u = cr_rng_uniform(r);
    size_t k = 0;
    while (k + 1 < n && u >= p[k]) u -= p[k++];
    return k;
}

/* Draws of the target for each row, from its posterior. */
static cr_status draw_targets(cr_ctx *cx, const void *state, const cri_rows *rows, size_t count,
                              uint64_t seed, double *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        K = cr_design_classes(rows->design);
    cr_prediction p = { .n = rows->n, .n_classes = K, .prob = cr_scratch_matrix(&s, rows->n, K) };
    CR_TRY(s.status);
    CR_TRY(cri_bn_predict(cx, state, rows, &p));
    for (size_t i = 0; i < rows->n; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        for (size_t k = 0; k < count; k++)
            out[i * count + k] = (double)draw_state(p.prob + i * K, K, &r);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_bn_sample(cr_ctx *cx, const void *state, const cr_design *design,
                        const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    const cri_bn *m = state;
    size_t        p = cr_network_size(m->net), *order = cr_scratch_index(&s, p);
    size_t       *x = cr_scratch_index(&s, p);
    CR_TRY(s.status);
    if (opt_rows) {
        CR_TRY(draw_targets(cx, state, opt_rows, count, seed, out));
        goto done;
    }
    CR_TRY(cr_network_order(cx, m->net, order));
    for (size_t i = 0; i < count; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t k = 0; k < p; k++) {
            cr_table_view t = cr_network_table(m->net, order[k]);
            size_t        states = cr_network_states(m->net, order[k]), row = 0;
            for (size_t d = 0; d + 1 < t.n; d++)
                row = row * cr_network_states(m->net, t.scope[d]) + x[t.scope[d]];
            x[order[k]] = draw_state(t.value + row * states, states, &r);
        }
        for (size_t j = 0; j < design->n_read; j++) {
            size_t v = cr_variable_lookup(cr_network_variables(m->net), design->columns[j].name);
            out[i * design->n_read + j] =
                v == CR_NONE ? NAN : cri_bn_value_of(m, &design->columns[j], v, x[v]);
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}
