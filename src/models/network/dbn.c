/* dbn.c -- dynamic Bayesian networks, learned: the file, the answers, the descriptor.  See dbn.h for the model and the
 * other files. */
#include "dbn.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "graph/query/methods.h"
#include "models/common/described.h"

#include <math.h>
#include <string.h>

CR_OPTIONS_TABLE(static, dbn_table, cri_dbn_options, CRI_DBN_OPTIONS);

#define CRI_TYPE cri_dbn
const cri_member cri_dbn_record[] = { CRI_DBN(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

/* --- life ------------------------------------------------------------------------------------ */

static void dbn_release(cr_ctx *cx, void *state)
{
    cri_dbn *m = state;
    cri_dbn_close(cx, m);
    cri_sequence_names_close(cx, &m->known);
}

cr_status cri_dbn_check_rows(cr_ctx *cx, const cri_rows *rows)
{
    cr_status st = cri_described_check(cx, "dbn", rows->design);
    if (st != CR_OK) return st;
    if (rows->w) {
        cr_fail(cx, CR_EARG, "dbn: a row of a sequence cannot count more than another");
        return cr_fail_hint(cx, "leave --weights out");
    }
    if (rows->imputed > 0) {
        cr_fail(cx, CR_EARG, "dbn sums over what is missing: cells cannot be filled in");
        return cr_fail_hint(cx, "leave --missing out");
    }
    return CR_OK;
}

const char *cri_dbn_source(const cri_dbn_options *o)
{
    return o->network && *o->network == '{' ? "--network" : o->network;
}

static cr_status dbn_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    cr_status              st = CR_OK;
    const cri_dbn_options *o = options;
    cri_dbn               *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    CR_TRY(cri_dbn_check_rows(cx, rows));
    CR_TRY(cri_dbn_read_network(cx, o->network, &m->network));
    m->prior = o->prior;
    CR_TRY(cri_dbn_open(cx, cri_dbn_source(o), m));
    CR_TRY(cri_dbn_fit(cx, rows, o, seed, NULL, m, report));
    CR_TRY(cri_sequence_labels_join(cx, rows->sequences, &m->labels));
    CR_TRY(cri_sequence_names_open(cx, m->labels, m->sequences, &m->known));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_dbn, m);
    return st;
}

/* Every row of every table is a distribution. */
static bool sums_to_one(const cri_dbn *m)
{
    for (size_t k = 0; k < m->tables; k++)
        for (size_t i = 0; i < m->table[k].size; i += m->table[k].states) {
            const double *row = m->value + m->table[k].at + i;
            double        sum = 0;
            for (size_t s = 0; s < m->table[k].states; s++) sum += row[s];
            if (!(fabs(sum - 1) < 1e-9)) return false;
        }
    return true;
}

static cr_status dbn_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_dbn *m = state;
    size_t   size = m->size, free = m->free;
    cri_mute_warnings(cx,
                      true); /* what there was to say of the network was said when it was read */
    cr_status st = cri_dbn_open(cx, "the network in it", m);
    cri_mute_warnings(cx, false);
    (void)design;
    bool fits = st == CR_OK && m->size == size && m->free == free && sums_to_one(m) &&
                (!m->count || m->errors != CRI_DBN_UNKNOWN) &&
                (!m->sd) == (m->errors != CRI_DBN_CURVATURE) &&
                (!m->count) == (m->errors == CRI_DBN_UNKNOWN) &&
                (!m->shown) == (m->errors == CRI_DBN_UNKNOWN) &&
                (!m->shown || m->variables == m->net->n);
    m->size = size; /* by which it is freed */
    if (!fits) return st != CR_OK ? st : CR_EDATA;
    cri_dbn_set(m, m->value);
    return cri_sequence_names_open(cx, m->labels, m->sequences, &m->known);
}

/* --- answers --------------------------------------------------------------------------------- */

/* log P(row | the rows of its sequence before it). */
static cr_status dbn_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_dbn *m = state;
    cri_interface *h = NULL;
    double        *log_p = cr_scratch_f64(&s, rows->n);
    cri_dbn_data   d;
    CR_TRY(s.status);
    CR_TRY(cri_dbn_read_rows(&s, m, rows, &d));
    CR_TRY(cri_interface_new(cx, m->net, &h));
    for (size_t k = 0; k < d.of->n; k++) {
        cri_slice_evidence e = cri_dbn_sequence(&d, k);
        size_t             possible;
        CR_TRY(cri_interface_filter(cx, h, &e, NULL, NULL, log_p, &possible));
        for (size_t t = 0; t < e.slices; t++)
            out->log_density[d.of->row[d.of->start[k] + t]] = log_p[t];
    }
done:
    cri_interface_free(cx, h);
    cr_scratch_end(&s);
    return st;
}

static const void *dbn_network(const void *state) { return ((const cri_dbn *)state)->net; }

/* Columns are variables with the states of the network: a state that training has not seen is none that is not known. */
static cr_status dbn_shape(cr_ctx *cx, const void *options, cr_design *d)
{
    cr_status              st = CR_OK;
    const cri_dbn_options *o = options;
    cri_dbn                m = { 0 };
    CR_TRY(cri_dbn_read_network(cx, o->network, &m.network));
    cri_mute_warnings(cx, true); /* the fit reads it again */
    st = cri_dbn_open(cx, cri_dbn_source(o), &m);
    cri_mute_warnings(cx, false);
    CR_TRY(st);
    for (size_t j = 0; j < d->n_terms; j++) {
        cri_design_column *c = &d->columns[d->terms[j].column];
        if (d->terms[j].code && c->made.kind == CRI_MADE_NOT) c->texts = true;
    }
    CR_TRY(cri_dbn_join_levels(cx, &m, d));
done:
    cri_dbn_close(cx, &m);
    cri_string_free(cx, m.network);
    return st;
}

const cr_model_class cri_class_dbn = {
    .name = "dbn",
    .summary = "dynamic Bayesian network: the tables of a network with slices, from sequences with "
               "gaps and hidden variables",
    .formulas = "p(x_1, ..., x_T) = p(x_1) prod_(t>1) p(x_t | x_(t-1)),  each a Bayesian network\n"
                "maximise  log p(what is seen) + prior sum given log table,  by EM",
    .reference = "Murphy (2002), Dynamic Bayesian Networks; Lauritzen (1995), Computational "
                 "Statistics and Data Analysis 19",
    .example = "examples/umbrellas.csv --network examples/networks/umbrella.json --sequence town "
               "--time day",
    .tasks = CR_TASK_DENSITY | CR_TASK_NETWORK,
    .options = dbn_table,
    .options_size = sizeof(cri_dbn_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .takes_missing = true,
    .sequences = true,
    .support = CRI_SUPPORT_LEVELS,
    .coding = CRI_CODING_CODE,
    .shape = dbn_shape,
    .whole =
        &(const cri_whole_face){ .fit = dbn_fit, .update = cri_dbn_update, .update_forgets = true },
    .rows = &(const cri_rows_face){ .predict = dbn_predict, .sample = cri_dbn_sample },
    .network = &(const cri_network_face){ .methods = &cri_dynamic_methods, .network = dbn_network },
    .describe = cri_dbn_describe,
    .statistics = cri_dbn_statistics,
    .state = cri_dbn_record,
    .state_size = sizeof(cri_dbn),
    .ready = dbn_ready,
    .release = dbn_release,
};
