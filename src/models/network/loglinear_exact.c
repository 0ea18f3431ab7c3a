/* loglinear_exact.c -- log Z, the moments of features and their covariance, through a junction tree.
 *   d log Z / d w_k = E f_k,     d^2 log Z / d w_k d w_l = Cov(f_k, f_l) = sum_e c_e P(e) (E[f_l | e] - E f_l)
 * over the entries e of the term of k with coefficients c_e: a pass through the tree given each.  O(passes x entries of all
 * cliques).  Koller & Friedman (2009), sec. 20.2-20.3. */
#include "loglinear.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "graph/exact/junction.h"
#include "graph/network/evidence.h"
#include "graph/network/network_internal.h"

#include <math.h>
#include <string.h>

/* Tables exp(weights), each divided by its largest entry. */
static cr_status add_tables(cr_ctx *cx, const cri_potentials *t, const double *w,
                            cri_loglinear_tree *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     most = 0;
    for (size_t i = 0; i < t->n; i++) {
        size_t size = t->at[i + 1] - t->at[i];
        most = size > most ? size : most;
    }
    double *value = cr_scratch_f64(&s, most);
    CR_TRY(s.status);
    for (size_t i = 0; i < t->n; i++) {
        size_t size = t->at[i + 1] - t->at[i];
        double top = -INFINITY;
        for (size_t e = 0; e < size; e++) {
            size_t k = t->at[i] + e;
            value[e] =
                t->parameter[k] == CRI_NO_WEIGHT ? 0 : t->coefficient[k] * w[t->parameter[k]];
            top = fmax(top, value[e]);
        }
        if (!isfinite(top)) CR_TRY(CR_ENUMERIC);
        for (size_t e = 0; e < size; e++) value[e] = exp(value[e] - top);
        CR_TRY(cr_network_add_table(cx, out->net, t->begin[i + 1] - t->begin[i],
                                    t->scope + t->begin[i], value));
        out->offset += top;
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_loglinear_tree_open(cr_ctx *cx, const cri_loglinear *m, const double *w,
                                  cri_loglinear_tree *out)
{
    cr_status          st = CR_OK;
    cri_loglinear_tree t = { .terms = &m->terms };
    cr_exact_options   o = cr_exact_defaults();
    o.order = CR_ELIMINATE_MIN_FILL;
    o.effort = 0;
    CR_TRY(cr_network_new(cx, CR_NETWORK_MARKOV, &t.net));
    CR_TRY(cri_network_copy_variables(cx, m->columns.net, t.net));
    CR_TRY(add_tables(cx, &m->terms, w, &t));
    CR_TRY(cr_evidence_new(cx, t.net, &t.e));
    CR_TRY(cr_junction_new(cx, t.net, NULL, &o, &t.tree));
    *out = t;
    t = (cri_loglinear_tree){ 0 };
done:
    cri_loglinear_tree_close(cx, &t);
    return st;
}

void cri_loglinear_tree_close(cr_ctx *cx, cri_loglinear_tree *t)
{
    cr_junction_free(cx, t->tree);
    cr_evidence_free(cx, t->e);
    cr_network_free(cx, t->net);
    *t = (cri_loglinear_tree){ 0 };
}

cr_status cri_loglinear_tree_show(cr_ctx *cx, cri_loglinear_tree *t, const uint16_t *opt_row,
                                  double *out_log)
{
    cr_status st = CR_OK;
    for (size_t v = 0; v < t->terms->p; v++) {
        if (!opt_row || opt_row[v] == CRI_BN_GAP)
            cr_evidence_forget(cx, t->e, v);
        else
            CR_TRY(cr_evidence_observe(cx, t->e, v, opt_row[v]));
    }
    CR_TRY(cr_junction_set_evidence(cx, t->tree, t->e));
    CR_TRY(cr_junction_log_evidence(cx, t->tree, out_log));
    *out_log += t->offset;
    if (!isfinite(*out_log)) CR_TRY(CR_ENUMERIC);
done:
    return st;
}

/* Probabilities of the entries of term i. */
static cr_status entries_of(cr_ctx *cx, cri_loglinear_tree *t, size_t i, double *out)
{
    const cri_potentials *x = t->terms;
    size_t                n = x->begin[i + 1] - x->begin[i];
    cr_factor             f = { 0 };
    cr_status st = n == 1 ? cr_junction_marginal(cx, t->tree, x->scope[x->begin[i]], out)
                          : cr_junction_joint(cx, t->tree, n, x->scope + x->begin[i], &f);
    if (st != CR_OK || n == 1) return st;
    if (f.is_log) cr_factor_set_log(&f, false);
    memcpy(out, f.value, f.size * sizeof *out); /* scopes ascend in both */
    cr_factor_free(cx, &f);
    return CR_OK;
}

cr_status cri_loglinear_tree_expect(cr_ctx *cx, cri_loglinear_tree *t, double *moment,
                                    double *opt_entry)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cri_potentials *x = t->terms;
    double               *entry = opt_entry ? opt_entry : cr_scratch_f64(&s, x->entries);
    CR_TRY(s.status);
    CR_TRY(cr_junction_calibrate(cx, t->tree, CR_CALIBRATE_HUGIN));
    memset(moment, 0, x->parameters * sizeof *moment);
    for (size_t i = 0; i < x->n; i++) {
        if (i % 64 == 0) CR_TRY(cr_check_interrupt(cx));
        CR_TRY(entries_of(cx, t, i, entry + x->at[i]));
        for (size_t e = x->at[i]; e < x->at[i + 1]; e++)
            if (x->parameter[e] != CRI_NO_WEIGHT)
                moment[x->parameter[e]] += x->coefficient[e] * entry[e];
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_loglinear_covariance(cr_ctx *cx, const cri_loglinear *m, const double *w, double *out)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cri_potentials *x = &m->terms;
    cri_loglinear_tree    t = { 0 };
    size_t                K = x->parameters;
    double               *mean = cr_scratch_f64(&s, K), *given = cr_scratch_f64(&s, K), log_z;
    double               *entry = cr_scratch_f64(&s, x->entries);
    uint16_t             *row = cr_scratch_bytes(&s, x->p, sizeof *row);
    CR_TRY(s.status);
    for (size_t v = 0; v < x->p; v++) row[v] = CRI_BN_GAP;
    memset(out, 0, K * K * sizeof *out);
    CR_TRY(cri_loglinear_tree_open(cx, m, w, &t));
    CR_TRY(cri_loglinear_tree_show(cx, &t, NULL, &log_z));
    CR_TRY(cri_loglinear_tree_expect(cx, &t, mean, entry));
    for (size_t i = 0; i < x->n; i++) {
        for (size_t e = x->at[i]; e < x->at[i + 1]; e++) {
            size_t k = x->parameter[e];
            if (k == CRI_NO_WEIGHT || !(entry[e] > 0)) continue;
            for (size_t j = x->begin[i]; j < x->begin[i + 1]; j++)
                row[x->scope[j]] =
                    (uint16_t)((e - x->at[i]) / x->stride[j] % x->states[x->scope[j]]);
            CR_TRY(cri_loglinear_tree_show(cx, &t, row, &log_z));
            CR_TRY(cri_loglinear_tree_expect(cx, &t, given, NULL));
            for (size_t l = 0; l < K; l++)
                out[k * K + l] += x->coefficient[e] * entry[e] * (given[l] - mean[l]);
        }
        for (size_t j = x->begin[i]; j < x->begin[i + 1]; j++) row[x->scope[j]] = CRI_BN_GAP;
    }
    for (size_t k = 0; k < K; k++)
        for (size_t l = 0; l < k; l++)
            out[k * K + l] = out[l * K + k] = (out[k * K + l] + out[l * K + k]) / 2;
done:
    cri_loglinear_tree_close(cx, &t);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_loglinear_tree_size(cr_ctx *cx, const cri_loglinear *m, double most,
                                  double *out_entries, size_t *out_width)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cri_potentials *x = &m->terms;
    cr_graph              g = { 0 };
    size_t                pairs = 0, n = 0;
    for (size_t i = 0; i < x->n; i++) {
        size_t k = x->begin[i + 1] - x->begin[i];
        pairs += k * (k - 1) / 2;
    }
    size_t *a = cr_scratch_index(&s, pairs), *b = cr_scratch_index(&s, pairs);
    CR_TRY(s.status);
    for (size_t i = 0; i < x->n; i++)
        for (size_t j = x->begin[i]; j < x->begin[i + 1]; j++)
            for (size_t k = x->begin[i]; k < j; k++) a[n] = x->scope[j], b[n++] = x->scope[k];
    CR_TRY(cr_graph_new(cx, x->p, pairs, a, b, &g));
    CR_TRY(cri_order_glance(cx, &g, x->states, NULL, most, out_entries, out_width));
done:
    cr_graph_free(cx, &g);
    cr_scratch_end(&s);
    return st;
}
