/* toy_star.c -- a toy model that has learned a network: every column is high or low, on which side of its
 * mean, and depends on the first column alone.  It has the face of networks and nothing else, to see
 * that every verb which takes a network takes it. */
#include "models/core/class.h"
#include "base/scratch.h"
#include "graph/query/methods.h"

static const cr_option toy_table[] = { CR_OPTION_LAST };

/* The share of rows in which a column is high, of those whose first column is low, and of those where
 * it is high, with one row of each kind added. */
/* clang-format off */
#define TOY_STATE(MEMBER)                                                                          \
    MEMBER(count,  p,       (),  ">0",     "columns")                                              \
    MEMBER(vector, mean,    (p), "",       "where a column becomes high")                          \
    MEMBER(vector, if_low,  (p), "0<..<1", "share of high rows")                                   \
    MEMBER(vector, if_high, (p), "0<..<1", "likewise")
/* clang-format on */
typedef struct toy_state {
    TOY_STATE(CRI_RECORD_MEMBER)
    cr_network *net; /* made of the others */
} toy_state;
#define CRI_TYPE toy_state
static const cri_member toy_record[] = { TOY_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE
extern const cr_model_class cri_class_toy_star;

static cr_status toy_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    static const char *const states[] = { "low", "high" };
    cr_status                st = CR_OK;
    toy_state               *m = state;
    const size_t             first = 0;
    if (m->p != cr_design_terms(design)) return CR_EDATA;
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, &m->net));
    for (size_t j = 0; j < m->p; j++) {
        const double a = m->if_low[j], b = m->if_high[j], table[] = { 1 - a, a, 1 - b, b };
        CR_TRY(
            cr_network_add_variable(cx, m->net, cr_design_term_name(design, j), 2, states, NULL));
        CR_TRY(cr_network_set_parents(cx, m->net, j, j > 0 ? 1 : 0, &first));
        CR_TRY(cr_network_set_table(cx, m->net, j, table));
    }
done:
    return st;
}

static void toy_release(cr_ctx *cx, void *state) { cr_network_free(cx, ((toy_state *)state)->net); }

static void count_rows(const cri_rows *rows, toy_state *m, double *x, double *low, double *high)
{
    for (size_t i = 0; i < rows->n; i++) {
        cri_rows_fill(rows, i, i + 1, x, rows->p);
        bool    is_high = x[0] > m->mean[0];
        double *count = is_high ? m->if_high : m->if_low;
        for (size_t j = 0; j < m->p; j++) count[j] += x[j] > m->mean[j];
        *(is_high ? high : low) += 1;
    }
}

static cr_status toy_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *x = cr_scratch_f64(&s, rows->p), low = 2, high = 2;
    toy_state *m = cr_alloc(cx, 1, sizeof *m);
    (void)options, (void)seed;
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    m->p = rows->p;
    CR_TRY(cri_record_allocate(cx, toy_record, m));
    for (size_t i = 0; i < rows->n; i++) {
        cri_rows_fill(rows, i, i + 1, x, rows->p);
        for (size_t j = 0; j < m->p; j++) m->mean[j] += x[j] / (double)rows->n;
    }
    count_rows(rows, m, x, &low, &high);
    for (size_t j = 0; j < m->p; j++) {
        m->if_low[j] = (m->if_low[j] + 1) / low;
        m->if_high[j] = (m->if_high[j] + 1) / high;
    }
    m->if_low[0] = m->if_high[0] = (high - 1) / (low + high - 2); /* has no parents */
    CR_TRY(toy_ready(cx, m, rows->design));
    report->stop = CR_STOP_CLOSED_FORM;
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_toy_star, m);
    cr_scratch_end(&s);
    return st;
}

static const void *toy_network(const void *state) { return ((const toy_state *)state)->net; }

static const cr_field toy_statistics[] = { CR_COUNT("arrows", 0, "to other columns"),
                                           CR_FIELD_LAST };

static cr_status toy_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    (void)cx, (void)design;
    cri_put_list(out, "parameters");
    cri_put_count(cri_put_object(out, "statistics"), "arrows", ((const toy_state *)state)->p - 1);
    return CR_OK;
}

const cr_model_class cri_class_toy_star = {
    .name = "toy-star",
    .summary = "columns that are high or low, and depend on the first",
    .formulas = "p(x) = p(x_1) prod_j p(x_j | x_1)",
    .reference = "Chow & Liu (1968)",
    .tasks = CR_TASK_NETWORK,
    .options = toy_table,
    .options_size = sizeof(void *),
    .default_scale = CR_SCALE_NONE,
    .whole = &(const cri_whole_face){ .fit = toy_fit },
    .network = &(const cri_network_face){ .methods = &cri_states_methods, .network = toy_network },
    .describe = toy_describe,
    .statistics = toy_statistics,
    .state = toy_record,
    .state_size = sizeof(toy_state),
    .ready = toy_ready,
    .release = toy_release,
};
