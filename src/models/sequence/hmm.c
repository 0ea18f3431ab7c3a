/* hmm.c -- hidden Markov models: rows of a sequence are emitted by a state that is not seen and follows a Markov chain.
 *   p(x_1..T) = sum over z_1..T of pi_z1 b_1(z_1) prod_t A_z(t-1),z(t) b_t(z_t)
 * Parameters maximise the likelihood of the sequences, times a weak prior, by EM (Baum & Welch) from several starts; the
 * number of states is given or chosen by BIC; or they have a posterior by variational Bayes.  See hmm.h for the other files.
 * Rabiner (1989), A tutorial on hidden Markov models, Proc. IEEE 77; Zucchini, MacDonald & Langrock (2016), Hidden Markov
 * Models for Time Series; Bishop (2006), PRML, sec. 13.2. */
#include "hmm.h"
#include "hmm_duration.h"
#include "hmm_regress.h"
#include "hmm_ties.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "models/common/column_kinds.h"
#include "models/common/numbered.h"

#include <math.h>
#include <string.h>

CR_OPTIONS_TABLE(static, hmm_table, cri_hmm_options, CRI_HMM_OPTIONS);

static const cri_requirement hmm_requirements[] = {
    { "alpha", "infer", "vb", false },
    { "prior_rows", "infer", "em", false },
    { "prior_transitions", "infer", "em", false },
    { "least_spread", "infer", "em", false },
    CRI_REQUIREMENT_LAST,
};

#define CRI_TYPE cri_hmm
const cri_member cri_hmm_record[] = { CRI_HMM(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

/* --- life ------------------------------------------------------------------------------------ */

static void hmm_release(cr_ctx *cx, void *state)
{
    cri_hmm *m = state;
    cri_cluster_names_free(cx, m->k, &m->text, &m->names);
    cr_free(cx, m->joint, m->g, sizeof *m->joint);
    cri_sequence_names_close(cx, &m->known);
    cri_hmm_vb_close(cx, m);
    m->joint = NULL;
}

cr_status cri_hmm_name(cr_ctx *cx, cri_hmm *m)
{
    cr_status st = cri_cluster_names_new(cx, m->k, &m->text, &m->names);
    return st == CR_OK ? cri_sequence_names_open(cx, m->labels, m->sequences, &m->known) : st;
}

/* --- answers --------------------------------------------------------------------------------- */

cr_status cri_hmm_open_rows(cr_ctx *cx, const cri_hmm *m, const cri_rows *rows, cri_hmm_data *out)
{
    cr_status     st = cri_hmm_data_open(cx, rows, out);
    cri_hmm_units units = cri_hmm_units_of(m);
    if (st == CR_OK) st = cri_hmm_check_labels(cx, out, m->k);
    if (st == CR_OK) st = cri_hmm_check_support(cx, rows, out, m->kind);
    if (st == CR_OK) st = cri_hmm_regress_data(cx, out, &units);
    if (st == CR_OK) cri_hmm_data_scale(out, m->kind, m->centre, m->scale);
    if (st != CR_OK) cri_hmm_data_close(cx, out);
    return st;
}

/* The model that answers: of a posterior that of the next row. */

typedef struct answering {
    const cri_hmm      *m;
    const cri_hmm_data *data;
    bool                filtered;
    double             *log_density, *prob; /* [T], [T x nodes] by steps               */
    double             *opt_places;         /* [sequences x place]                     */
    double             *path, *log_path;    /* [T] by steps, [sequences]; of decoding  */
    const double       *log_pi, *log_A;
} answering;

static void answer_sequence(void *arg, cri_range range, double *work)
{
    answering          *a = arg;
    const cri_hmm      *m = a->m;
    const cri_hmm_data *d = a->data;
    size_t              nodes = cri_hmm_nodes(m);
    cri_hmm_view        v;
    cri_blas_enter();
    cri_hmm_view_open(m, d, work, &v);
    work += cri_hmm_view_work(m);
    for (size_t s = range.begin; s < range.end; s++) {
        size_t         at = d->start[s];
        double        *place = a->opt_places ? a->opt_places + s * m->place : NULL;
        cri_chain_wish wish = { .log_density = a->log_density + at,
                                .last = place ? place + 1 : NULL };
        if (place && place[0] > 0) wish.before = place + 1;
        *(a->filtered ? &wish.filtered : &wish.smoothed) = a->prob ? a->prob + at * nodes : NULL;
        cri_chain_run(&v.chain, at, d->start[s + 1], d->longest, &wish, work);
        if (place) place[0] += (double)(d->start[s + 1] - at);
    }
    cri_blas_leave();
}

/* Smoothed or filtered probabilities of all rows. */
static cr_status answer(cr_ctx *cx, const cri_hmm *m, const cri_rows *rows, bool filtered,
                        double *opt_places, cr_prediction *out)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       k = m->k, n = rows->n, nodes = cri_hmm_nodes(m);
    cri_hmm_data data = { 0 };
    answering    a = { cri_hmm_next(m), &data, .filtered = filtered, .opt_places = opt_places };

    CR_TRY(cri_hmm_open_rows(cx, m, rows, &data));
    a.log_density = cr_scratch_f64(&s, n);
    a.prob = cr_scratch_matrix(&s, n, nodes);
    CR_TRY(s.status);
    CR_TRY(cri_blas_reserve(cx));
    CR_TRY(cri_parallel_rows(cx, "scoring", data.n, cri_sequences_together(data.n),
                             cri_hmm_view_work(m) + cri_chain_work(data.longest, nodes),
                             answer_sequence, &a));
    for (size_t t = 0; t < n; t++) {
        out->log_density[data.row[t]] = a.log_density[t];
        cri_hmm_fold(m, 1, a.prob + t * nodes, nodes, out->prob + data.row[t] * k, k);
    }
done:
    cri_hmm_data_close(cx, &data);
    cr_scratch_end(&s);
    return st;
}

static cr_status hmm_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    return answer(cx, state, rows, false, NULL, out);
}

static cr_status hmm_filter(cr_ctx *cx, const void *state, const cri_rows *rows, double *places,
                            cr_prediction *out)
{
    return answer(cx, state, rows, true, places, out);
}

/* --- paths ----------------------------------------------------------------------------------- */

static void decode_sequence(void *arg, cri_range range, double *work)
{
    answering          *a = arg;
    const cri_hmm      *m = a->m;
    const cri_hmm_data *d = a->data;
    cri_hmm_view        v;
    cri_hmm_view_open(m, d, work, &v);
    work += cri_hmm_view_work(m);
    for (size_t s = range.begin; s < range.end; s++)
        a->log_path[s] =
            cri_chain_viterbi(&v.chain, a->log_pi, a->log_A, d->start[s], d->start[s + 1],
                              d->longest, a->path + d->start[s], work);
}

static cr_status hmm_decode(cr_ctx *cx, const void *state, const cri_rows *rows, double *path,
                            double *log_probability)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_hmm *m = state;
    size_t         nodes = cri_hmm_nodes(m), stride = cri_chain_stride(nodes);
    cri_hmm_data   data = { 0 };
    double   *log_pi = cr_scratch_f64(&s, stride), *log_A = cr_scratch_matrix(&s, stride, stride);
    double   *logs = cr_scratch_matrix(&s, nodes, nodes), *steps = cr_scratch_f64(&s, rows->n);
    answering a = { cri_hmm_next(m), &data, .path = steps, .log_path = log_probability };

    CR_TRY(s.status);
    CR_TRY(cri_hmm_open_rows(cx, m, rows, &data));
    for (size_t i = 0; i < stride; i++) log_pi[i] = i < m->k ? log(m->pi[i]) : -INFINITY;
    cri_hmm_unfold(m, logs);
    for (size_t i = 0; i < nodes * nodes; i++) logs[i] = log(logs[i]);
    cri_chain_pad(logs, nodes, false, -INFINITY, log_A);
    a.log_pi = log_pi, a.log_A = log_A;
    CR_TRY(cri_parallel_rows(cx, "decoding", data.n, cri_sequences_together(data.n),
                             cri_hmm_view_work(m) + cri_chain_work(data.longest, nodes),
                             decode_sequence, &a));
    for (size_t t = 0; t < rows->n; t++) path[data.row[t]] = (double)((size_t)steps[t] % m->k);
done:
    cri_hmm_data_close(cx, &data);
    cr_scratch_end(&s);
    return st;
}

/* --- rows to come ---------------------------------------------------------------------------- */

static size_t hmm_place(const void *state) { return ((const cri_hmm *)state)->place; }

static cr_status hmm_forecast(cr_ctx *cx, const void *state, const cr_design *design,
                              const double *places, size_t n, size_t ahead, cr_prediction *out)
{
    cr_status      st = CR_OK;
    cr_scratch     scratch = cr_scratch_begin(cx);
    const cri_hmm *m = state;
    size_t         k = m->k, nodes = cri_hmm_nodes(m);
    double        *p = cr_scratch_f64(&scratch, nodes), *next = cr_scratch_f64(&scratch, nodes);

    (void)design;
    CR_TRY(scratch.status);
    for (size_t s = 0; s < n; s++) {
        const double *place = places + s * m->place;
        memcpy(p, place + 1, nodes * sizeof *p);
        for (size_t h = 0; h < ahead; h++) {
            if (h % 256 == 0) CR_TRY(cr_check_interrupt(cx));
            memset(next, 0, nodes * sizeof *next);
            if (h == 0 && place[0] == 0)
                memcpy(next, m->pi, k * sizeof *next);
            else
                cri_hmm_go_on(m, p, next);
            memcpy(p, next, nodes * sizeof *p);
            cri_hmm_fold(m, 1, p, nodes, out->prob + (s * ahead + h) * k, k);
        }
    }
done:
    cr_scratch_end(&scratch);
    return st;
}

static void hmm_ends(const void *state, size_t *out_n, const double **out_places,
                     const char *const **out_names)
{
    const cri_hmm *m = state;
    *out_n = m->sequences, *out_places = m->ends, *out_names = m->known.name;
}

cr_status cri_hmm_follow(cr_ctx *cx, const cri_hmm *m, const cri_hmm_data *data, double *places)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    answering  a = { .m = cri_hmm_next(m), .data = data, .filtered = true, .opt_places = places };
    a.log_density = cr_scratch_f64(&s, data->T);
    CR_TRY(s.status);
    CR_TRY(cri_parallel_rows(cx, NULL, data->n, cri_sequences_together(data->n),
                             cri_hmm_view_work(m) + cri_chain_work(data->longest, cri_hmm_nodes(m)),
                             answer_sequence, &a));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- draws ----------------------------------------------------------------------------------- */

/* A draw of the columns that are normal together, in the units of the model: mean + L z, W L = I. */
static void draw_joint(const cri_hmm *m, size_t c, cr_rng *r, double *z, double *x)
{
    size_t g = m->g, k = m->k;
    for (size_t a = 0; a < g; a++) { /* W y = z, by substitution */
        double v = cr_rng_normal(r);
        for (size_t b = 0; b < a; b++) v -= m->whiten[(a * g + b) * k + c] * z[b];
        z[a] = v / m->whiten[(a * g + a) * k + c];
    }
    double dof = m->tail[m->joint[0] * k + c], half = 0.5 * dof;
    double stretch = dof > 0 ? sqrt(half / exp(cr_rng_log_gamma(r, half))) : 1; /* Student's t */
    for (size_t a = 0; a < g; a++) {
        size_t j = m->joint[a];
        x[j] = m->centre[j] + m->scale[j] * (m->mean[j * k + c] + stretch * z[a]);
    }
}

static void draw_row(const cri_hmm *of, size_t c, cr_rng *r, double *level, double *z, double *x)
{
    const cri_hmm *m = cri_hmm_next(of);
    for (size_t j = 0; j < m->p; j++) {
        const cri_emission *e = cri_emission_of(m->kind[j]);
        cri_emitted         here = cri_hmm_emitted(m, j, NULL);
        if (e) x[j] = m->centre[j] + m->scale[j] * e->draw(&here, c, r);
        if (of->kind[j] == CRI_EMIT_LOGNORMAL) x[j] = exp(x[j]);
        if (m->kind[j] == CRI_EMIT_CATEGORY) {
            size_t n = cri_hmm_levels(m, j);
            for (size_t l = 0; l < n; l++) level[l] = m->level[(m->first[j] + l) * m->k + c];
            x[j] = (double)cr_rng_categorical(r, level, n);
        }
    }
    if (m->g > 0) draw_joint(m, c, r, z, x);
}

/* Rows of each state in turn.  An angle has no mean on a line, and rows with covariates no distribution. */
static cr_status hmm_draw_labels(cr_ctx *cx, const void *state, const cr_design *design,
                                 size_t count, uint64_t seed, double *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_hmm *m = state;
    size_t         columns = design->n_columns;
    double        *level = cr_scratch_f64(&s, m->L), *z = cr_scratch_f64(&s, m->g);
    CR_TRY(s.status);
    for (size_t i = 0; i < m->k * count; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        if (m->q == 0) draw_row(m, i / count, &r, level, z, out + i * columns);
        for (size_t j = 0; j < columns; j++)
            if (m->q > 0 || m->kind[j] == CRI_EMIT_VON_MISES) out[i * columns + j] = NAN;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Whether state c, which has lasted *lasted rows and one, is left; where durations are geometric A says so. */
static bool leaves(const cri_hmm *m, size_t c, size_t *lasted, cr_rng *r)
{
    if (m->stages == 0) return true;
    bool left = cr_rng_uniform(r) < m->leave[*lasted * m->k + c];
    *lasted = left ? 0 : *lasted + 1 < m->stages ? *lasted + 1 : *lasted;
    return left;
}

/* One sequence: step i by stream i, so that the first steps do not depend on how many there are. */
static cr_status hmm_sample(cr_ctx *cx, const void *state, const cr_design *design,
                            const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_hmm *m = state;
    double        *level = cr_scratch_f64(&s, m->L), *z = cr_scratch_f64(&s, m->g);
    size_t         c = 0, lasted = 0;

    (void)design, (void)opt_rows;
    CR_TRY(s.status);
    if (m->q > 0)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "hmm: rows cannot be drawn: the model has covariates, of which it knows no "
                       "distribution"));
    for (size_t i = 0; i < count; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        if (i == 0 || leaves(m, c, &lasted, &r))
            c = cr_rng_categorical(&r, i == 0 ? m->pi : m->A + c * m->k, m->k);
        draw_row(m, c, &r, level, z, out + i * m->p);
    }
done:
    cr_scratch_end(&s);
    return st;
}

static const char *const *hmm_labels(const void *state, size_t *out_n)
{
    const cri_hmm *m = state;
    *out_n = m->k;
    return m->names;
}

/* --- file ------------------------------------------------------------------------------------ */

static bool fits_column(const cri_hmm *m, size_t j)
{
    const cri_emission *e = cri_emission_of(m->kind[j]);
    for (size_t c = 0; c < m->k && e; c++) {
        double mean = m->mean[j * m->k + c];
        bool   positive = !e->moved && m->kind[j] != CRI_EMIT_VON_MISES;
        if (positive && !(mean > 0)) return false;
        if (m->kind[j] == CRI_EMIT_BERNOULLI && !(mean < 1)) return false;
        if (e->parameter[1] && !(m->spread[j * m->k + c] > 0) && m->kind[j] != CRI_EMIT_VON_MISES)
            return false;
        if (e->parameter[2] && !(m->tail[j * m->k + c] > 0)) return false;
    }
    return true;
}

static bool fits_mixtures(const cri_hmm *m)
{
    if (m->parts != cri_hmm_mixtures_before(m, m->p) * m->M || (m->M > 0) != (m->parts > 0))
        return false;
    for (size_t a = 0; a < m->parts; a += m->M)
        for (size_t c = 0; c < m->k; c++) {
            double sum = 0;
            for (size_t i = a; i < a + m->M; i++) sum += m->part_weight[i * m->k + c];
            if (!(fabs(sum - 1) < 1e-6)) return false;
        }
    return true;
}

static bool levels_sum_to_one(const cri_hmm *m, size_t j)
{
    for (size_t c = 0; c < m->k; c++) {
        double sum = 0;
        for (size_t l = 0; l < cri_hmm_levels(m, j); l++)
            sum += m->level[(m->first[j] + l) * m->k + c];
        if (!(fabs(sum - 1) < 1e-6)) return false;
    }
    return true;
}

enum { MOST_STAGES = 2000 };

/* Covariates, and whether there are regressed columns. */
static bool fits_covariates(const cri_hmm *m)
{
    size_t q = 0, regressed = 0;
    for (size_t j = 0; j < m->p; j++) {
        q += m->kind[j] == CRI_EMIT_COVARIATE;
        regressed += m->kind[j] == CRI_EMIT_REGRESSED;
    }
    return m->q == q && m->pq == m->p * q && (q > 0 ? q + regressed == m->p : regressed == 0);
}

/* Of durations: a state that can be left has no probability to stay in A, one that cannot none to leave. */
static bool fits_stages(const cri_hmm *m)
{
    if (m->stages > MOST_STAGES || m->place != cri_hmm_nodes(m) + 1) return false;
    for (size_t i = 0; i < m->k; i++) {
        bool leaves = cri_hmm_can_leave(m, i);
        if (m->stages > 0 && leaves && m->A[i * m->k + i] > 0) return false;
        for (size_t d = 0; d < m->stages && !leaves; d++)
            if (m->leave[d * m->k + i] > 0) return false;
    }
    return true;
}

static bool fits_design(const cri_hmm *m, const cr_design *d)
{
    size_t L = 0, g = 0;
    if (m->p != cr_design_terms(d) || m->gg != m->g * m->g) return false;
    for (size_t j = 0; j < m->p; j++) {
        bool category = m->kind[j] == CRI_EMIT_CATEGORY;
        if ((cri_term_levels(d, j) > 0) != category || m->first[j] != L) return false;
        L += cri_term_levels(d, j);
        g += m->kind[j] == CRI_EMIT_JOINT;
    }
    if (m->L != L || m->g != g || !fits_covariates(m) || !fits_stages(m) || !fits_mixtures(m))
        return false;
    for (size_t j = 0; j < m->p; j++) {
        if (!fits_column(m, j)) return false;
        if (m->kind[j] == CRI_EMIT_CATEGORY && !levels_sum_to_one(m, j)) return false;
    }
    if (!cri_hmm_ties_fit(m)) return false;
    if (!cri_hmm_vb_fits(m) || (m->statistics > 0 && m->statistics != cri_hmm_width(m)))
        return false;
    for (size_t i = 0; i < m->tried; i++)
        if (m->tried_k[i] != floor(m->tried_k[i]) || !(m->tried_k[i] < 1e6)) return false;
    return true;
}

static cr_status hmm_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_hmm   *m = state;
    double    *work;

    if (!fits_design(m, design)) CR_TRY(CR_EDATA);
    if (isnan(m->em.objective)) m->em.objective = -INFINITY; /* which no file can hold */
    if (isnan(m->log_likelihood) && !cri_hmm_is_vb(m)) m->log_likelihood = -INFINITY;
    work = cr_scratch_f64(&s, cri_hmm_own_work(m));
    CR_TRY(s.status);
    CR_TRY(cri_record_allocate(cx, cri_hmm_record, m));
    CR_TRY(cri_hmm_place(cx, m));
    if (!cri_hmm_prepare(m, work)) CR_TRY(CR_EDATA);
    if (cri_hmm_is_vb(m)) CR_TRY(cri_hmm_vb_set_predictive(cx, m));
    CR_TRY(cri_hmm_name(cx, m));
done:
    cr_scratch_end(&s);
    return st;
}

static void hmm_choice(const void *state, cri_choice *out)
{
    const cri_hmm *m = state;
    *out = (cri_choice){ .n = m->tried,
                         .by = cri_hmm_is_vb(m) ? "bound on the log evidence" : "BIC",
                         .of = "states",
                         .lower = !cri_hmm_is_vb(m),
                         .no_value = "every start ended with a state that does not vary",
                         .how = "--states 1:4" };
}

static void hmm_candidate(const void *state, size_t i, cri_candidate *out)
{
    const cri_hmm *m = state;
    double         reached = m->tried_likelihood[i], parameters = m->tried_parameters[i];
    *out = (cri_candidate){ .number = (size_t)m->tried_k[i],
                            .value = cri_hmm_is_vb(m) ? reached
                                                      : -2 * reached + parameters * log(m->weight),
                            .chosen = (size_t)m->tried_k[i] == m->k };
}

static const char *const hmm_roles[] = { "state", NULL };

const cr_model_class cri_class_hmm = {
    .example = "examples/earthquakes.csv --features count --states 2",
    .name = "hmm",
    .summary = "hidden Markov model: rows in sequence, each emitted by an unseen state",
    .formulas =
        "P(z_1 = i) = pi_i,  P(z_t = j | z_t-1 = i) = A_ij,  p(x_t | z_t) = prod_j p(x_tj | "
        "z_t);  a missing x_tj has no factor\n"
        "numbers: normal (with covariances), and by --emission others;  categories: a "
        "probability per level\n"
        "EM on the likelihood of the sequences, times a weak prior, or variational Bayes",
    .reference =
        "Rabiner (1989), Proc. IEEE 77; Zucchini, MacDonald & Langrock (2016), Hidden Markov "
        "Models for Time Series; Bishop (2006), sec. 13.2; Beal (2003), ch. 3",
    .tasks = CR_TASK_DENSITY | CR_TASK_CLUSTER,
    .options = hmm_table,
    .options_size = sizeof(cri_hmm_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .takes_missing = true,
    .sequences = true,
    .coding = CRI_CODING_CODE,
    .requirements = hmm_requirements,
    .roles = hmm_roles,
    .em = &(const cri_em_face){ .at = offsetof(cri_hmm, em),
                                .width = cri_hmm_width,
                                .work = cri_hmm_work,
                                .gather = cri_hmm_gather,
                                .solve = cri_hmm_solve,
                                .dimension = cri_hmm_dimension,
                                .to_vector = cri_hmm_to_vector,
                                .from_vector = cri_hmm_from_vector },
    .whole = &(const cri_whole_face){ .update = cri_hmm_update, .update_forgets = true },
    .search = &cri_hmm_search,
    .rows = &(
        const cri_rows_face){ .predict = hmm_predict, .labels = hmm_labels, .sample = hmm_sample },
    .sequence = &(const cri_sequence_face){ .width = hmm_place,
                                            .filter = hmm_filter,
                                            .smooth = hmm_predict,
                                            .decode = hmm_decode,
                                            .paths = cri_hmm_paths,
                                            .path_entropy = cri_hmm_path_entropy,
                                            .forecast = hmm_forecast,
                                            .draw_labels = hmm_draw_labels,
                                            .ends = hmm_ends },
    .choice = &(const cri_choice_face){ .choice = hmm_choice, .candidate = hmm_candidate },
    .describe = cri_hmm_describe,
    .statistics = cri_hmm_statistics,
    .tables = cri_hmm_tables,
    .state = cri_hmm_record,
    .state_size = sizeof(cri_hmm),
    .ready = hmm_ready,
    .release = hmm_release,
};
