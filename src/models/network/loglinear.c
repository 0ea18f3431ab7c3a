/* loglinear.c -- log-linear models of columns with states: the fit and the descriptor.  See loglinear.h for the model and
 * the other files. */
#include "loglinear.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "graph/query/methods.h"

#include <stdio.h>
#include <string.h>

CR_OPTIONS_TABLE(static, loglinear_table, cri_loglinear_options, CRI_LOGLINEAR_OPTIONS);

#define CRI_TYPE cri_loglinear
const cri_member cri_loglinear_record[] = { CRI_LOGLINEAR(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

static const double MOST_EXACT = 1 << 20; /* entries of all cliques that auto takes */

/* --- life ------------------------------------------------------------------------------------- */

void cri_loglinear_release(cr_ctx *cx, void *state)
{
    cri_loglinear *m = state;
    cri_bn_close(cx, &m->columns);
    cri_string_free(cx, m->columns.layout);
    m->columns = (cri_bn){ 0 };
    cri_loglinear_drop_terms(cx, &m->terms);
    cr_network_free(cx, m->net);
    m->net = NULL;
}

cr_status cri_loglinear_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cr_status      st = CR_OK;
    cri_loglinear *m = state;
    (void)design;
    m->columns.layout = m->layout;
    m->columns.target = CR_NONE;
    st = cri_bn_read_layout(cx, &m->columns);
    m->columns.layout = NULL;
    if (st != CR_OK) return st == CR_ENOMEM || st == CR_EINTERRUPTED ? st : CR_EDATA;
    size_t p = cr_network_size(m->columns.net);
    for (size_t e = 0; e < m->edges; e++)
        if (m->edge_b[e] >= p || m->edge_a[e] >= m->edge_b[e]) return CR_EDATA;
    if (m->hidden > p || m->method == CRI_LOGLINEAR_AUTO) return CR_EDATA;
    st = cri_loglinear_make_terms(cx, m);
    return st == CR_OK ? cri_loglinear_make_network(cx, m) : st;
}

const void *cri_loglinear_network(const void *state) { return ((const cri_loglinear *)state)->net; }

/* --- columns ---------------------------------------------------------------------------------- */

static cr_status check_rows(cr_ctx *cx, const cri_rows *rows, const char *model)
{
    const cr_design *d = rows->design;
    bool             expanded = d->p != d->n_columns || cri_design_has_made(d);
    for (size_t j = 0; j < d->n_columns; j++) expanded |= cri_design_has_basis(d, j);
    if (expanded)
        return cr_fail(cx, CR_EARG,
                       "%s takes columns as they are: it cannot be combined with --basis "
                       "or made columns in --terms",
                       model);
    if (d->p == 0) return cr_fail(cx, CR_EDATA, "there is no column for %s", model);
    if (rows->imputed > 0) {
        cr_fail(cx, CR_EARG, "%s sums over what is missing: cells cannot be filled in", model);
        return cr_fail_hint(cx, "leave --missing out");
    }
    return CR_OK;
}

static cr_status add_hidden(cr_ctx *cx, size_t hidden, cri_bn *columns)
{
    static const char *const names[] = { "0", "1" };
    cr_status                st = CR_OK;
    size_t                   old = columns->variables;
    char                     name[32];
    for (size_t h = 0; h < hidden; h++) {
        snprintf(name, sizeof name, "hidden%zu", h + 1);
        CR_TRY(cr_network_add_variable(cx, columns->net, name, 2, names, NULL));
    }
    size_t p = cr_network_size(columns->net);
    if (p <= old) goto done;
    double **cuts = cr_resize(cx, columns->cuts, old, p, sizeof *cuts);
    if (!cuts) CR_TRY(CR_ENOMEM);
    columns->cuts = cuts;
    size_t *n_cuts = cr_resize(cx, columns->n_cuts, old, p, sizeof *n_cuts);
    if (!n_cuts) { /* by one number both are freed */
        columns->cuts = cr_resize(cx, cuts, p, old, sizeof *cuts);
        CR_TRY(CR_ENOMEM);
    }
    columns->n_cuts = n_cuts;
    for (size_t v = old; v < p; v++) cuts[v] = NULL, n_cuts[v] = 0;
    columns->variables = p;
done:
    return st;
}

static cr_status open_columns(cr_ctx *cx, const cri_rows *rows, const cri_loglinear_options *o,
                              cri_loglinear *m)
{
    cr_status      st = CR_OK;
    char           structure[] = "empty";
    cri_bn_options of = { .structure = structure, .bins = o->bins, .levels = o->levels };
    CR_TRY(cri_bn_open_variables(cx, rows, &of, &m->columns));
    for (size_t v = 0; m->spins && v < cr_network_size(m->columns.net); v++) {
        size_t states = cr_network_states(m->columns.net, v);
        if (states <= 2) continue;
        const char *name = cr_variable_name(cr_network_variables(m->columns.net), v);
        cr_fail(cx, CR_EDATA, "ising describes columns of two states, but '%s' has %zu", name,
                states);
        CR_TRY(cr_fail_hint(cx, "loglinear takes any, --features '!%s' leaves it out", name));
    }
    CR_TRY(add_hidden(cx, o->hidden, &m->columns));
    CR_TRY(cri_bn_write_layout(cx, &m->columns));
    m->layout = m->columns.layout;
    m->columns.layout = NULL;
done:
    return st;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Different rows, those with gaps marked, and the sums of features over the others. */
static cr_status open_task(cr_scratch *s, const cri_bn_rows *data, cri_loglinear_task *t)
{
    cr_status            st = CR_OK;
    const cri_loglinear *m = t->m;
    size_t               p = data->p;
    CR_TRY(cri_bn_cases(s, &m->columns, data, NULL, &t->cases));
    t->row = cr_scratch_bytes(s, t->cases.n * p, sizeof *t->row);
    t->gap = cr_scratch_bytes(s, t->cases.n, sizeof *t->gap);
    t->moment = cr_scratch_bytes(s, m->parameters, sizeof *t->moment);
    t->joint = cr_scratch_bytes(s, m->parameters, sizeof *t->joint);
    CR_TRY(s->status);
    for (size_t k = 0; k < m->parameters; k++) t->joint[k] = m->begin[k + 1] - m->begin[k] > 1;
    for (size_t i = 0; i < t->cases.n; i++) {
        uint16_t *row = t->row + i * p;
        for (size_t v = 0; v < p; v++) {
            row[v] = t->cases.code[v][i];
            if (row[v] == CRI_BN_GAP && cr_network_states(m->columns.net, v) == 1) row[v] = 0;
            t->gap[i] |= row[v] == CRI_BN_GAP;
        }
        t->total += t->cases.weight[i];
        t->gaps += t->gap[i];
        if (t->gap[i]) continue;
        t->complete += t->cases.weight[i];
        cri_potentials_add(&m->terms, row, t->cases.weight[i], t->moment);
    }
done:
    return st;
}

/* Which method, and what becomes of rows with gaps. */
static cr_status choose_method(cri_loglinear_task *t)
{
    cr_status st = CR_OK;
    double    entries = 0;
    size_t    width = 0;
    t->method = (cri_loglinear_method)t->o->method;
    CR_TRY(cri_loglinear_tree_size(t->cx, t->m, 4 * MOST_EXACT, &entries, &width));
    if (t->method == CRI_LOGLINEAR_AUTO) {
        t->method = entries <= MOST_EXACT ? CRI_LOGLINEAR_EXACT : CRI_LOGLINEAR_PSEUDO;
        if (t->method == CRI_LOGLINEAR_PSEUDO)
            cr_log(t->cx, CR_LOG_INFO,
                   "the junction tree would have cliques of %zu columns and more: the "
                   "pseudo-likelihood is "
                   "maximised instead, and log Z is not known",
                   width + 1);
    } else if (t->method == CRI_LOGLINEAR_EXACT && entries > 4 * MOST_EXACT) {
        cr_fail(
            t->cx, CR_EUNSUPPORTED,
            "the junction tree of these features has cliques of %zu columns and more: too wide for "
            "--method exact",
            width + 1);
        CR_TRY(cr_fail_hint(t->cx, "--method pseudo"));
    }
    if (t->method == CRI_LOGLINEAR_EXACT || t->gaps == 0) goto done;
    if (t->m->hidden > 0)
        CR_TRY(cr_fail(
            t->cx, CR_EUNSUPPORTED,
            "hidden variables need the exact likelihood, but the junction tree is too wide or "
            "--method is another"));
    if (!(t->complete > 0))
        CR_TRY(cr_fail(t->cx, CR_EDATA,
                       "every row has a missing cell: only --method exact can sum over them"));
    cr_log(t->cx, CR_LOG_WARNING,
           "%g rows in which cells are missing are left out: only --method exact sums over them",
           t->total - t->complete);
done:
    return st;
}

static void note_rows(const cri_bn_rows *data, const cri_loglinear_task *t, cri_loglinear *m)
{
    bool all = t->method == CRI_LOGLINEAR_EXACT;
    m->rows = all ? t->total : t->complete;
    m->missing = all ? data->missing : 0;
    m->incomplete = all ? data->incomplete : 0;
    m->l2 = t->o->l2, m->l1 = t->o->l1;
}

static cr_status check_shown(cr_ctx *cx, const cri_rows *rows, const cri_bn_rows *d)
{
    for (size_t v = 0; v < d->p; v++)
        if (d->shown[v]) return CR_OK;
    return cr_fail(cx, CR_EDATA, "%s: no column has a value in any row: there is nothing to learn",
                   cr_table_source(rows->table));
}

cr_status cri_loglinear_fit(cr_ctx *cx, const cri_rows *rows, const cri_loglinear_options *o,
                            bool spins, uint64_t seed, void **out_state, cr_report *report)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    cri_loglinear_task t = { .cx = cx, .o = o, .seed = seed };
    cri_bn_rows        data;
    cri_loglinear     *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) CR_TRY(CR_ENOMEM);
    m->spins = spins;
    m->hidden = o->hidden;
    m->columns.target = CR_NONE;
    t.m = m;
    CR_TRY(check_rows(cx, rows, spins ? "ising" : "loglinear"));
    CR_TRY(open_columns(cx, rows, o, m));
    CR_TRY(cri_bn_read_rows(&s, &m->columns, rows, NULL, &data));
    CR_TRY(check_shown(cx, rows, &data));
    CR_TRY(cri_loglinear_find_features(cx, o, &data, seed, m));
    CR_TRY(cri_loglinear_make_terms(cx, m));
    CR_TRY(open_task(&s, &data, &t));
    CR_TRY(choose_method(&t));
    CR_TRY(cri_loglinear_learn(&t, m, report));
    note_rows(&data, &t, m);
    CR_TRY(cri_loglinear_make_network(cx, m));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_loglinear, m);
    cr_scratch_end(&s);
    return st;
}

static cr_status loglinear_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                               void **out_state, cr_report *report)
{
    return cri_loglinear_fit(cx, rows, options, false, seed, out_state, report);
}

/* A state that training has not seen is none that is not known: the network says which there are. */
cr_status cri_loglinear_shape(cr_ctx *cx, const void *options, cr_design *d)
{
    return cri_class_bn.shape(cx, options, d);
}

const cri_requirement cri_loglinear_requirements[] = {
    { "gamma", "structure", "select", false },
    { "join", "structure", "select", false },
    { "stability", "structure", "select", false },
    { "steps", "method", "pcd", false },
    CRI_REQUIREMENT_LAST,
};

const cr_model_class cri_class_loglinear = {
    .name = "loglinear",
    .summary = "Markov network of columns with states: features found or given, weights of most "
               "likelihood",
    .formulas = "p(x) = exp(sum_k w_k f_k(x)) / Z,   f_k = 1 where its columns are in its states\n"
                "w: maximise  log p(rows) - l2/2 |w|^2 - l1 |w of several columns|",
    .reference =
        "Koller & Friedman (2009), Probabilistic Graphical Models, ch. 20; Ravikumar, Wainwright & "
        "Lafferty (2010), Annals of Statistics 38",
    .example = "examples/commute.csv",
    .tasks = CR_TASK_DENSITY | CR_TASK_NETWORK,
    .options = loglinear_table,
    .options_size = sizeof(cri_loglinear_options),
    .requirements = cri_loglinear_requirements,
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .takes_missing = true,
    .support = CRI_SUPPORT_LEVELS,
    .coding = CRI_CODING_CODE,
    .shape = cri_loglinear_shape,
    .whole = &(const cri_whole_face){ .fit = loglinear_fit },
    .rows =
        &(const cri_rows_face){ .predict = cri_loglinear_predict, .sample = cri_loglinear_sample },
    .network = &(const cri_network_face){ .methods = &cri_states_methods,
                                          .network = cri_loglinear_network },
    .describe = cri_loglinear_describe,
    .statistics = cri_loglinear_statistics,
    .tables = cri_loglinear_tables,
    .state = cri_loglinear_record,
    .state_size = sizeof(cri_loglinear),
    .ready = cri_loglinear_ready,
    .release = cri_loglinear_release,
};
