/* bn.c -- Bayesian networks, learned: the fit, updates, the descriptor.  See bn.h for the model and the other files. */
#include "bn_searches.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "graph/query/methods.h"
#include "models/core/rows_check.h"

#include <math.h>
#include <string.h>

CR_OPTIONS_TABLE(static, bn_table, cri_bn_options, CRI_BN_OPTIONS);

#define CRI_TYPE cri_bn
const cri_member cri_bn_record[] = { CRI_BN(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

/* --- life ------------------------------------------------------------------------------------- */

static void bn_release(cr_ctx *cx, void *state) { cri_bn_close(cx, state); }

/* Columns as they are, with or without a target. */
static cr_status check_rows(cr_ctx *cx, const cri_rows *rows)
{
    const cr_design *d = rows->design;
    bool             expanded = d->p != d->n_columns || cri_design_has_made(d);
    for (size_t j = 0; j < d->n_columns; j++) expanded |= cri_design_has_basis(d, j);
    if (expanded)
        return cr_fail(cx, CR_EARG,
                       "bn takes columns as they are: it cannot be combined with --basis "
                       "or made columns in --terms");
    if (d->p == 0 && !d->target.name) return cr_fail(cx, CR_EDATA, "there is no column for bn");
    if (rows->imputed > 0) {
        cr_fail(cx, CR_EARG, "bn sums over what is missing: cells cannot be filled in");
        return cr_fail_hint(cx, "leave --missing out");
    }
    return CR_OK;
}

static double total_weight(const cri_rows *rows)
{
    double sum = 0;
    if (!rows->w) return (double)rows->n;
    for (size_t i = 0; i < rows->n; i++) sum += rows->w[i];
    return sum;
}

static void note_gaps(const cri_bn_rows *d, cri_bn *m)
{
    m->missing = d->missing;
    m->incomplete = d->incomplete;
    for (size_t v = 0; v < d->p; v++) m->hidden += !d->shown[v];
}

/* All that follows from complete rows in closed form. */
static cr_status solve_complete(cr_ctx *cx, cri_bn *m, cr_report *report)
{
    cr_status st = cri_bn_set_tables(cx, m);
    if (st != CR_OK) return st;
    m->log_likelihood = cri_bn_log_likelihood(m);
    m->log_evidence = cri_bn_log_evidence(m);
    report->log_likelihood = m->log_likelihood;
    report->log_evidence = m->log_evidence;
    report->evidence = CR_EVIDENCE_EXACT;
    return CR_OK;
}

/* Some column beside the target must say something. */
static cr_status check_shown(cr_ctx *cx, const cri_rows *rows, const cri_bn *m,
                             const cri_bn_rows *d)
{
    bool any = rows->design->n_read == 0;
    for (size_t v = 0; v < d->p; v++) any |= d->shown[v] && v != m->target;
    return any ? CR_OK
               : cr_fail(cx, CR_EDATA,
                         "%s: no column has a value in any row: there is nothing to learn",
                         cr_table_source(rows->table));
}

static cr_status bn_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                        void **out_state, cr_report *report)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cri_bn_options *o = options;
    cri_bn_rows           data;
    cri_bn               *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) CR_TRY(CR_ENOMEM);
    report->stop = CR_STOP_CLOSED_FORM;
    CR_TRY(check_rows(cx, rows));
    if (rows->design->target.name) CR_TRY(cri_check_row_classes(cx, rows));
    CR_TRY(cri_bn_open_variables(cx, rows, o, m));
    CR_TRY(cri_bn_read_rows(&s, m, rows, o->intervention, &data));
    CR_TRY(check_shown(cx, rows, m, &data));
    CR_TRY(cri_bn_find_structure(cx, rows, o, &data, seed, m, report));
    CR_TRY(cri_bn_place_tables(cx, m));
    CR_TRY(cri_bn_open_prior(cx, o, m));
    m->rows = total_weight(rows);
    note_gaps(&data, m);
    if (data.complete) {
        CR_TRY(cri_bn_add_counts(cx, &data, m));
        CR_TRY(solve_complete(cx, m, report));
    } else {
        CR_TRY(cri_bn_fit_em(cx, rows, o, &data, seed, m, report));
    }
    CR_TRY(cri_bn_write_layout(cx, m));
    CR_TRY(cri_bn_remark_arcs(cx, m));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_bn, m);
    cr_scratch_end(&s);
    return st;
}

/* The structure and the prior stay; counts add up. */
static cr_status bn_update(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                           void **out_state, cr_report *report)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cri_bn         *old = state;
    const cri_bn_options *o = options;
    cri_bn_rows           data;
    cri_bn               *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) CR_TRY(CR_ENOMEM);
    if (old->em.trace) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "this network was learned from rows with gaps by EM, which cannot take in others");
        CR_TRY(cr_fail_hint(cx, "fit it to all rows"));
    }
    CR_TRY(cri_record_copy(cx, cri_bn_record, old, m));
    CR_TRY(cri_bn_read_layout(cx, m));
    m->target = old->target;
    CR_TRY(cri_bn_read_rows(&s, m, rows, o->intervention, &data));
    if (!data.complete) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "%s has gaps, which a network learned from complete rows cannot "
                "take in",
                cr_table_source(rows->table));
        CR_TRY(cr_fail_hint(cx, "fit it to all rows"));
    }
    CR_TRY(cri_bn_add_counts(cx, &data, m));
    m->rows += total_weight(rows);
    cr_free(cx, m->score, m->scores, sizeof *m->score); /* of rows that are not kept */
    m->score = NULL, m->scores = 0;
    CR_TRY(solve_complete(cx, m, report));
    CR_TRY(cri_bn_remark_arcs(cx, m));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_bn, m);
    cr_scratch_end(&s);
    return st;
}

static cr_status bn_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_bn   *m = state;
    size_t    size = m->size;
    cr_status st = cri_bn_read_layout(cx, m);
    bool      fits = st == CR_OK && m->size == size;
    size_t    arcs = 0;
    m->size = size; /* by which it is freed */
    if (!fits) return st == CR_ENOMEM || st == CR_EINTERRUPTED ? st : CR_EDATA;
    for (size_t v = 0; v < cr_network_size(m->net); v++) {
        size_t n;
        cr_network_parents(m->net, v, &n);
        arcs += n;
    }
    m->target = design->target.name
                    ? cr_variable_lookup(cr_network_variables(m->net), design->target.name)
                    : CR_NONE;
    if ((m->shares && m->shares != m->size) || arcs != m->arcs || (m->scores && m->scores != 8) ||
        (design->target.name && m->target == CR_NONE))
        return CR_EDATA;
    st = cri_bn_set_tables(cx, m);
    return st == CR_OK ? cri_bn_remark_arcs(cx, m) : st;
}

static const void *bn_network(const void *state) { return ((const cri_bn *)state)->net; }

/* The graphs that a search went through, as candidates. */
static void bn_choice(const void *state, cri_choice *out)
{
    const cri_bn *m = state;
    *out = (cri_choice){
        .n = m->trace_size, .by = "score", .of = "steps", .no_value = "", .how = "--structure tabu"
    };
}

static void bn_candidate(const void *state, size_t i, cri_candidate *out)
{
    const cri_bn *m = state;
    *out =
        (cri_candidate){ .number = i + 1, .value = m->trace[i], .chosen = i + 1 == m->trace_size };
}

static void bn_arcs(const void *state, const double **out_strength, const double **out_compelled)
{
    const cri_bn *m = state;
    if (!cri_bn_is_search(m->how)) return; /* the arcs were given */
    *out_strength = m->strength;
    *out_compelled = m->compelled;
}

/* A state that training has not seen is none that is not known: the network says which there are. */
static cr_status bn_shape(cr_ctx *cx, const void *options, cr_design *d)
{
    (void)cx, (void)options;
    for (size_t j = 0; j < d->n_terms; j++) {
        cri_design_column *c = &d->columns[d->terms[j].column];
        if (d->terms[j].code && c->made.kind == CRI_MADE_NOT) c->texts = true;
    }
    return CR_OK;
}

const cr_model_class cri_class_bn = {
    .name = "bn",
    .summary =
        "Bayesian network: arcs and tables learned from columns with states, gaps and hidden "
        "variables summed over",
    .formulas =
        "p(x) = prod_v p(x_v | x_parents(v)),   rows of tables ~ Dirichlet(prior + counts)\n"
        "arcs: maximise  sum_v score(v, parents of v)  over graphs without cycles",
    .reference = "Koller & Friedman (2009), Probabilistic Graphical Models, ch. 17-19; Heckerman, "
                 "Geiger & Chickering (1995), Machine Learning 20",
    .example = "examples/commute.csv",
    .tasks = CR_TASK_CLASSIFICATION | CR_TASK_DENSITY | CR_TASK_NETWORK,
    .target_optional = true,
    .options = bn_table,
    .options_size = sizeof(cri_bn_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .joint = true,
    .aside = "intervention",
    .takes_missing = true,
    .support = CRI_SUPPORT_LEVELS,
    .coding = CRI_CODING_CODE,
    .shape = bn_shape,
    .whole = &(const cri_whole_face){ .fit = bn_fit, .update = bn_update, .update_holds = true },
    .rows = &(const cri_rows_face){ .predict = cri_bn_predict, .sample = cri_bn_sample },
    .choice = &(const cri_choice_face){ .choice = bn_choice, .candidate = bn_candidate },
    .network = &(const cri_network_face){ .methods = &cri_states_methods,
                                          .network = bn_network,
                                          .arcs = bn_arcs },
    .describe = cri_bn_describe,
    .statistics = cri_bn_statistics,
    .tables = cri_bn_tables,
    .state = cri_bn_record,
    .state_size = sizeof(cri_bn),
    .ready = bn_ready,
    .release = bn_release,
};
