/* topics.c -- latent Dirichlet allocation: the fit, answers about documents, the descriptor.  See topics.h for the model
 * and the other files. */
#include "topics.h"
#include "models/common/described.h"

#include <math.h>
#include <string.h>

CR_OPTIONS_TABLE(static, topics_table, cri_topics_options, CRI_TOPICS_OPTIONS);

#define CRI_TYPE cri_topics
const cri_member cri_topics_record[] = { CRI_TOPICS(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

static const double AGREED = 1.1; /* R-hat */

static const cri_requirement topics_requirements[] = {
    { "sweeps", "infer", "gibbs", true },  { "chains", "infer", "gibbs", true },
    { "shards", "infer", "gibbs", false }, { "tol", "infer", "vb", false },
    { "batch", "infer", "online", false }, { "forget", "infer", "online", false },
    { "delay", "infer", "online", false }, CRI_REQUIREMENT_LAST,
};

static void topics_release(cr_ctx *cx, void *state)
{
    cri_topics *m = state;
    cri_dictionary_free(cx, &m->known);
    cri_coordinates_free(cx, &m->at);
}

static cr_status topics_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_topics *m = state;
    if (!m->text && m->terms != cr_design_terms(design)) return CR_EDATA;
    if ((m->text && !m->vocabulary) || (m->infer != CRI_TOPICS_GIBBS && !m->lambda))
        return CR_EDATA;
    cr_status st = cri_topics_open_vocabulary(cx, m);
    return st == CR_OK ? cri_numbered_names(cx, "topic_", m->k, &m->at) : st;
}

/* --- fit -------------------------------------------------------------------------------------- */

/* Of text the model looks at the column itself. */
static cr_status topics_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    const cri_topics_options *o = options;
    if (o->text) return cri_design_drop_inputs(cx, design);
    if (o->document || o->counts) {
        cr_fail(cx, CR_EARG, "topics: --%s says something of the cells of --text",
                o->document ? "document" : "counts");
        return cr_fail_hint(cx, "--text COLUMN");
    }
    return cri_described_numbers(cx, "topics", design);
}

static cr_status check_rows(cr_ctx *cx, const cri_rows *rows)
{
    bool same = true;
    for (size_t i = 0; rows->w && i < rows->n; i++) same &= rows->w[i] == 1;
    if (same) return CR_OK;
    cr_fail(cx, CR_EARG, "topics: a document cannot count more than another");
    return cr_fail_hint(cx, "leave --weights out");
}

static cr_status check_documents(cr_ctx *cx, const cri_rows *rows, const cri_documents *docs)
{
    double most = 9e15;
    if (docs->tokens > 0 && docs->tokens < most) return CR_OK;
    return cr_fail(cx, CR_EDATA, "%s: there are %s tokens to learn topics from",
                   cr_table_source(rows->table), docs->tokens > 0 ? "too many" : "no");
}

static cr_status finish(cr_ctx *cx, const cri_documents *docs, cri_topics *m, cr_report *report)
{
    cr_status st = cri_topics_judge(cx, docs, m);
    if (st != CR_OK) return st;
    if (m->infer == CRI_TOPICS_GIBBS) m->converged = m->rhat <= AGREED;
    report->stop = m->converged ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    return cri_numbered_names(cx, "topic_", m->k, &m->at);
}

static cr_status topics_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                            void **out_state, cr_report *report)
{
    cr_status                 st = CR_OK;
    cr_scratch                s = cr_scratch_begin(cx);
    const cri_topics_options *o = options;
    cri_documents             docs;
    cri_topics               *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(check_rows(cx, rows));
    CR_TRY(cri_topics_learn_documents(cx, &s, rows, o, m, &docs));
    CR_TRY(check_documents(cx, rows, &docs));
    m->k = o->k, m->infer = o->infer, m->top = o->top_terms;
    m->documents = (double)docs.n, m->tokens = docs.tokens;
    CR_TRY(cri_record_allocate(cx, cri_topics_record, m));
    CR_TRY(m->infer == CRI_TOPICS_GIBBS ? cri_topics_gibbs(cx, &docs, o, seed, m, report)
                                        : cri_topics_vb(cx, &docs, o, seed, m, report));
    CR_TRY(finish(cx, &docs, m, report));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_topics, m);
    cr_scratch_end(&s);
    return st;
}

/* Batches of the new documents, each a step on. */
static cr_status topics_update(cr_ctx *cx, const void *state, const cri_rows *rows,
                               const void *options, void **out_state, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const cri_topics *old = state;
    cri_documents     docs;
    cri_topics       *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(check_rows(cx, rows));
    if (old->infer != CRI_TOPICS_ONLINE) {
        cr_fail(cx, CR_EUNSUPPORTED, "topics: only on-line learning takes in further documents");
        CR_TRY(cr_fail_hint(cx, "fit with --infer online, or fit to all documents"));
    }
    CR_TRY(cri_record_copy(cx, cri_topics_record, old, m));
    CR_TRY(cri_topics_open_vocabulary(cx, m));
    CR_TRY(cri_topics_read_documents(cx, &s, rows, m, &docs));
    m->documents += (double)docs.n, m->tokens += docs.tokens;
    if (docs.n > 0) CR_TRY(cri_topics_vb_steps(cx, &docs, options, m));
    cri_topics_from_lambda(m);
    CR_TRY(cri_numbered_names(cx, "topic_", m->k, &m->at));
    report->iterations = m->iterations;
    report->stop = CR_STOP_TOLERANCE;
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_topics, m);
    cr_scratch_end(&s);
    return st;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Rows of one document have the same mix, and the first of them its score. */
static void give_rows(const cri_rows *rows, const cri_documents *docs, size_t K, const double *mix,
                      double *score, const double *scored, cr_prediction *out)
{
    for (size_t i = 0; i < rows->n; i++) {
        size_t d = docs->opt_row ? docs->opt_row[i] : i;
        memcpy(out->vector + i * K, mix + d * K, K * sizeof *mix);
        out->log_density[i] = score[d];
        out->observations[i] = isnan(score[d]) ? 0 : scored[d];
        score[d] = docs->opt_row ? NAN : score[d];
    }
}

static cr_status topics_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const cri_topics *m = state;
    cri_documents     docs;
    CR_TRY(cri_topics_read_documents(cx, &s, rows, m, &docs));
    if (docs.unknown > docs.tokens) /* stop words are among them */
        cr_log(cx, CR_LOG_WARNING,
               "%s: %g of %g tokens are of terms that the model does not have, and were left out",
               cr_table_source(rows->table), docs.unknown, docs.unknown + docs.tokens);
    double *mix = cr_scratch_matrix(&s, docs.n, m->k), *score = cr_scratch_f64(&s, docs.n);
    double *scored = cr_scratch_f64(&s, docs.n);
    CR_TRY(s.status);
    out->observations = cr_alloc(cx, out->n, sizeof *out->observations);
    if (!out->observations) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_topics_mix(cx, m, &docs, mix, score, scored));
    give_rows(rows, &docs, m->k, mix, score, scored, out);
done:
    cr_scratch_end(&s);
    return st;
}

static const char *const *topics_labels(const void *state, size_t *out_n)
{
    const cri_topics *m = state;
    *out_n = m->k;
    return m->at.names;
}

const cr_model_class cri_class_topics = {
    .name = "topics",
    .summary = "latent Dirichlet allocation: what documents are about, by the words they share",
    .formulas = "topic k:  phi_k ~ Dirichlet(eta),   document d:  theta_d ~ Dirichlet(alpha)\n"
                "token i of d:  z ~ Cat(theta_d),   term ~ Cat(phi_z)",
    .reference =
        "Blei, Ng & Jordan (2003), JMLR 3; Griffiths & Steyvers (2004), PNAS 101; Hoffman, "
        "Blei & Bach (2010), NIPS 23",
    .example = "examples/headlines.csv --text headline --k 3",
    .tasks = CR_TASK_TRANSFORM | CR_TASK_DENSITY,
    .options = topics_table,
    .options_size = sizeof(cri_topics_options),
    .requirements = topics_requirements,
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .support = CRI_SUPPORT_COUNTS,
    .takes_sparse = true,
    .aside = "text",
    .shape = topics_shape,
    .whole = &(
        const cri_whole_face){ .fit = topics_fit, .update = topics_update, .update_forgets = true },
    .rows = &(const cri_rows_face){ .predict = topics_predict, .labels = topics_labels },
    .describe = cri_topics_describe,
    .statistics = cri_topics_statistics,
    .tables = cri_topics_tables,
    .state = cri_topics_record,
    .state_size = sizeof(cri_topics),
    .ready = topics_ready,
    .release = topics_release,
};
