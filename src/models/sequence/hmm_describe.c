/* hmm_describe.c -- what a hidden Markov model says of itself: parameters in the units of the data, criteria, and for
 * each state its share, how long it lasts and how often it is visited in the long run. */
#include "hmm.h"
#include "hmm_duration.h"
#include "hmm_regress.h"
#include "hmm_ties.h"
#include "base/scratch.h"
#include "models/common/column_kinds.h"
#include "stationary.h"

#include <math.h>
#include <string.h>

const cr_field cri_hmm_statistics[] = {
    CR_COUNT("states", 0, "hidden states"),
    CR_COUNT("sequences", 0, "sequences that it has learned from"),
    CR_NUMBER("parameters", 0, "free parameters: of pi, A and of what states emit"),
    CR_NUMBER("bic", CR_FIELD_NULL,
              "-2 log likelihood + parameters ln(rows): lower is better; null with --infer vb"),
    CR_NUMBER("aic", CR_FIELD_NULL, "-2 log likelihood + 2 parameters; null with --infer vb"),
    CR_COUNT("occupied", 0, "states with at least one row, by their expected number"),
    CR_COUNT("rejected", 0, "starts whose end was spurious: a state that hardly varies"),
    CR_NUMBER("best_rejected", CR_FIELD_NULL,
              "the highest objective of these; null where there are none"),
    CRI_EM_FIELDS,
    CR_FIELD_LAST,
};

static const cr_field column_fields[] = {
    CR_TEXT("column", 0, "a column"),
    CR_TEXT("distribution", 0, "of it in a state"),
    CR_FIELD_LAST,
};

static const cr_field tried_fields[] = {
    CR_COUNT("states", 0, "how many"),
    CR_NUMBER("parameters", 0, "free parameters"),
    CR_NUMBER("log_likelihood", CR_FIELD_NULL,
              "of the rows; null where every start was rejected, and with --infer vb"),
    CR_NUMBER("bic", CR_FIELD_NULL, "-2 log likelihood + parameters ln(rows)"),
    CR_NUMBER("log_evidence", CR_FIELD_NULL, "with --infer vb: the bound on it"),
    CR_FIELD_LAST,
};

static const cr_field state_fields[] = {
    CR_TEXT("state", 0, "its number"),
    CR_NUMBER("share", 0, "expected share of the rows"),
    CR_NUMBER(
        "duration", CR_FIELD_NULL,
        "rows that it lasts on average, without --duration 1 / (1 - A[i,i]); null where it is "
        "never left"),
    CR_NUMBER("duration_sd", CR_FIELD_NULL, "standard deviation of these; null likewise"),
    CR_NUMBER("stationary", CR_FIELD_NULL,
              "probability in the long run; null where that depends on where it begins"),
    CR_FIELD_LAST,
};

static const cr_field duration_fields[] = {
    CR_TEXT("state", 0, "its number"),
    CR_COUNT("rows", 0, "how many"),
    CR_NUMBER("probability", 0, "that it lasts so many, or, of the last number, as many or more"),
    CR_FIELD_LAST,
};

const cr_field cri_hmm_tables[] = {
    CR_INNER(ROWS, "states", 0, "the hidden states", state_fields),
    CR_INNER(ROWS, "durations", CR_FIELD_SOMETIMES,
             "with --duration: how many rows states last, of the last number of rows: that or more",
             duration_fields),
    CR_INNER(ROWS, "kinds", 0, "which distribution each column has", column_fields),
    CR_INNER(ROWS, "numbers", CR_FIELD_SOMETIMES,
             "where there is more than one: numbers of states that were tried", tried_fields),
    CR_FIELD_LAST,
};

/* --- parameters ------------------------------------------------------------------------------ */

/* The parameters in their order: named in a list, or as numbers alone, each with what its standard error is. */
typedef struct listing {
    const cri_hmm   *m;
    const cr_design *design;
    cri_sheet       *list;   /* NULL: numbers alone */
    double          *values; /* NULL: the list alone */
    bool            *weak;   /* with values: probabilities for which less than half a row speaks */
    const cri_hmm_known *known; /* of a posterior, else NULL */
    size_t               n;
} listing;

/* Takes the next parameter, a probability that `rows` rows are divided by or, where that is 0, another number; its
 * standard error. */
static double next(listing *l, double value, double rows)
{
    size_t at = l->n++;
    if (l->values) l->values[at] = value;
    if (l->weak) l->weak[at] = rows > 0 && value * rows < 0.5;
    return l->known ? l->known[at].sd : at < l->m->errors ? l->m->error[at] : NAN;
}

/* The row of the parameter that was taken last. */
static void add_interval(const listing *l, cri_sheet *row)
{
    if (!l->known) return;
    cri_put_real(row, "lower", l->known[l->n - 1].lower);
    cri_put_real(row, "upper", l->known[l->n - 1].upper);
}

/* Parameters of this name in more than one column have its name behind theirs. */
static bool is_shared(const cri_hmm *m, const char *name)
{
    size_t columns = 0;
    for (size_t j = 0; j < m->p; j++) {
        const cri_emission *e = cri_emission_of(m->kind[j]);
        columns += e && e->parameter[0] && strcmp(e->parameter[0], name) == 0;
    }
    return columns > 1;
}

static void add_number(listing *l, size_t c, size_t j, const char *parameter, double value)
{
    double error = next(l, value, 0);
    bool   bare = strcmp(parameter, "rate") == 0 && !is_shared(l->m, "rate");
    if (!l->list) return;
    if (bare)
        add_interval(l, cri_parameter_add(l->list, value, error, "%s[%zu]", parameter, c + 1));
    else
        add_interval(l, cri_parameter_add(l->list, value, error, "%s[%zu].%s", parameter, c + 1,
                                          cr_design_term_name(l->design, j)));
}

static void add_emission(listing *l, size_t c, size_t j)
{
    const cri_hmm      *m = l->m;
    const cri_emission *e = cri_emission_of(m->kind[j]);
    size_t              at = j * m->k + c;
    double              scale = m->scale[j];
    if (!e) return; /* none of its own */
    bool units = e->moved || e->scaled;
    add_number(l, c, j, e->parameter[0], units ? m->centre[j] + scale * m->mean[at] : m->mean[at]);
    if (e->parameter[1])
        add_number(l, c, j, e->parameter[1], e->moved ? scale * m->spread[at] : m->spread[at]);
    if (e->parameter[2]) add_number(l, c, j, e->parameter[2], m->tail[at]);
}

/* The parts of a mixture. */
static void add_parts(listing *l, size_t c, size_t j)
{
    static const char *const names[] = { "weight", "mean", "sd" };
    const cri_hmm           *m = l->m;
    cri_emitted              e = cri_hmm_emitted(m, j, NULL);
    for (size_t i = 0; i < m->M; i++) {
        size_t at = i * m->k + c;
        double values[] = { e.part_weight[at], m->centre[j] + m->scale[j] * e.part_mean[at],
                            m->scale[j] * e.part_sd[at] };
        for (size_t a = 0; a < 3; a++) {
            double error = next(l, values[a], a == 0 ? m->share[c] * m->weight : 0);
            if (!l->list) continue;
            cri_parameter_add(l->list, values[a], error, "%s[%zu,%zu].%s", names[a], c + 1, i + 1,
                              cr_design_term_name(l->design, j));
        }
    }
}

/* The line of a regressed column. */
static void add_line(listing *l, size_t c, size_t j)
{
    const cri_hmm *m = l->m;
    add_number(l, c, j, "intercept", cri_hmm_intercept(m, j, c));
    for (size_t i = 0; i < m->q; i++) {
        double b = cri_hmm_coefficient(m, j, c, i), error = next(l, b, 0);
        if (!l->list) continue;
        cri_parameter_add(l->list, b, error, "coef[%zu].%s.%s", c + 1,
                          cr_design_term_name(l->design, j),
                          cr_design_term_name(l->design, cri_hmm_covariate(m, i)));
    }
    add_number(l, c, j, "sd", m->scale[j] * m->spread[j * m->k + c]);
}

static void add_levels(listing *l, size_t c, size_t j)
{
    const cri_hmm *m = l->m;
    size_t         categories = 0;
    for (size_t i = 0; i < m->p; i++) categories += m->kind[i] == CRI_EMIT_CATEGORY;
    for (size_t v = 0; v < cri_hmm_levels(m, j); v++) {
        double p = m->level[(m->first[j] + v) * m->k + c];
        double error = next(l, p, m->share[c] * m->weight);
        if (!l->list) continue;
        const char *level = cr_design_level(l->design, cri_term_column(l->design, j), v);
        if (categories > 1)
            add_interval(l, cri_parameter_add(l->list, p, error, "B[%zu,%s=%s]", c + 1,
                                              cr_design_term_name(l->design, j), level));
        else
            add_interval(l, cri_parameter_add(l->list, p, error, "B[%zu,%s]", c + 1, level));
    }
}

/* Means, sds and correlations of the columns that are normal together. */
static void add_joint(listing *l, size_t c)
{
    const cri_hmm *m = l->m;
    size_t         g = m->g, k = m->k;
    const double  *S = m->covariance;
    for (size_t a = 0; a < g; a++) {
        size_t j = m->joint[a];
        add_number(l, c, j, "mean", m->centre[j] + m->scale[j] * m->mean[j * k + c]);
        add_number(l, c, j, "sd", m->scale[j] * sqrt(S[(a * g + a) * k + c]));
    }
    for (size_t a = 0; a < g; a++)
        for (size_t b = 0; b < a; b++) {
            double r =
                S[(a * g + b) * k + c] / sqrt(S[(a * g + a) * k + c] * S[(b * g + b) * k + c]);
            double error = next(l, r, 0);
            if (!l->list) continue;
            add_interval(l, cri_parameter_add(l->list, r, error, "correlation[%zu].%s.%s", c + 1,
                                              cr_design_term_name(l->design, m->joint[b]),
                                              cr_design_term_name(l->design, m->joint[a])));
        }
}

static void add_parameters(listing *l)
{
    const cri_hmm *m = l->m;
    size_t         k = m->k;
    for (size_t i = 0; i < k; i++) {
        double error = next(l, m->pi[i], (double)m->sequences);
        if (l->list) add_interval(l, cri_parameter_add(l->list, m->pi[i], error, "pi[%zu]", i + 1));
    }
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            double error = next(l, m->A[i * k + j], cri_hmm_transition_rows(m, i, j));
            if (l->list)
                add_interval(l, cri_parameter_add(l->list, m->A[i * k + j], error, "A[%zu,%zu]",
                                                  i + 1, j + 1));
        }
    for (size_t i = 0; i < k; i++)
        for (size_t d = 0; d < m->stages; d++) {
            double p = m->leave[d * k + i];
            double error = next(l, p, fmin(cri_hmm_stage_rows(m, i, d), 1e300));
            if (l->list) cri_parameter_add(l->list, p, error, "leave[%zu,%zu]", i + 1, d + 1);
        }
    for (size_t c = 0; c < k; c++) {
        for (size_t j = 0; j < m->p; j++) {
            if (m->kind[j] == CRI_EMIT_CATEGORY) add_levels(l, c, j);
            if (m->kind[j] == CRI_EMIT_REGRESSED)
                add_line(l, c, j);
            else if (m->kind[j] == CRI_EMIT_MIXTURE)
                add_parts(l, c, j);
            else
                add_emission(l, c, j);
        }
        if (m->g > 0) add_joint(l, c);
    }
}

size_t cri_hmm_values(const cri_hmm *m, double *opt_values, bool *opt_weak)
{
    listing l = { .m = m, .values = opt_values, .weak = opt_weak };
    add_parameters(&l);
    return l.n;
}

/* --- tables ---------------------------------------------------------------------------------- */

static double bic_of(const cri_hmm *m, double log_likelihood, double parameters)
{
    return -2 * log_likelihood + parameters * log(m->weight);
}

/* From shares of the visits to shares of the rows. */
static void weigh_by_duration(const cri_hmm *m, double *pi)
{
    double sum = 0, sd;
    for (size_t i = 0; i < m->k && m->stages > 0; i++) {
        double rows = cri_hmm_can_leave(m, i) ? cri_hmm_duration(m, i, &sd) : 1;
        pi[i] = pi[i] > 0 ? pi[i] * rows : pi[i];
        sum += pi[i];
    }
    for (size_t i = 0; i < m->k && m->stages > 0; i++) pi[i] = isfinite(sum) ? pi[i] / sum : NAN;
}

static void describe_durations(const cri_hmm *m, cri_sheet *out)
{
    cri_sheet *list = m->stages > 0 ? cri_put_list(out, "durations") : NULL;
    for (size_t i = 0; i < m->k && list; i++)
        for (size_t d = 0; d < m->stages; d++) {
            cri_sheet *row = cri_put_object(list, NULL);
            cri_put_text(row, "state", m->names[i]);
            cri_put_count(row, "rows", d + 1);
            cri_put_real(row, "probability", cri_hmm_duration_probability(m, i, d));
        }
}

static cr_status describe_states(cr_ctx *cx, const cri_hmm *m, cri_sheet *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->k, *index = cr_scratch_index(&s, 6 * k);
    double    *pi = cr_scratch_f64(&s, k), *work = cr_scratch_matrix(&s, k, k);
    cri_sheet *list;

    CR_TRY(s.status);
    cri_stationary(m->A, k, work, index, pi);
    weigh_by_duration(m, pi);
    list = cri_put_list(out, "states");
    for (size_t c = 0; c < k; c++) {
        cri_sheet *row = cri_put_object(list, NULL);
        double     sd, rows = cri_hmm_duration(m, c, &sd);
        cri_put_text(row, "state", m->names[c]);
        cri_put_real(row, "share", m->share[c]);
        cri_put_real(row, "duration", isfinite(rows) ? rows : NAN);
        cri_put_real(row, "duration_sd", sd);
        cri_put_real(row, "stationary", pi[c]);
    }
done:
    cr_scratch_end(&s);
    return st;
}

static void describe_columns(const cri_hmm *m, const cr_design *design, cri_sheet *out)
{
    cri_sheet *list = cri_put_list(out, "kinds");
    for (size_t j = 0; j < m->p; j++) {
        cri_sheet *row = cri_put_object(list, NULL);
        cri_put_text(row, "column", cr_design_term_name(design, j));
        cri_put_text(row, "distribution", cri_emission_name(m->kind[j]));
    }
    list = m->tried > 1 ? cri_put_list(out, "numbers") : NULL;
    for (size_t i = 0; i < m->tried && m->tried > 1; i++) {
        cri_sheet *row = cri_put_object(list, NULL);
        cri_put_count(row, "states", (size_t)m->tried_k[i]);
        cri_put_real(row, "parameters", m->tried_parameters[i]);
        double reached = m->tried_likelihood[i], likelihood = cri_hmm_is_vb(m) ? NAN : reached;
        cri_put_real(row, "log_likelihood", likelihood);
        cri_put_real(row, "bic", bic_of(m, likelihood, m->tried_parameters[i]));
        cri_put_real(row, "log_evidence", cri_hmm_is_vb(m) ? reached : NAN);
    }
}

cr_status cri_hmm_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out)
{
    cr_status      st = CR_OK;
    cr_scratch     room = cr_scratch_begin(cx);
    const cri_hmm *m = state;
    double         parameters = cri_hmm_parameters(m);
    cri_hmm_known *known = cr_scratch_bytes(&room, cri_hmm_values(m, NULL, NULL), sizeof *known);
    CR_TRY(room.status);
    if (cri_hmm_is_vb(m)) cri_hmm_vb_know(m, known);
    add_parameters(&(listing){ .m = m,
                               .design = design,
                               .list = cri_put_list(out, "parameters"),
                               .known = cri_hmm_is_vb(m) ? known : NULL });
    cri_sheet *s = cri_put_object(out, "statistics");
    cri_put_count(s, "states", m->k);
    cri_put_count(s, "sequences", m->sequences);
    cri_put_real(s, "parameters", parameters);
    cri_put_real(s, "bic", bic_of(m, m->log_likelihood, parameters));
    cri_put_real(s, "aic", -2 * m->log_likelihood + 2 * parameters);
    size_t occupied = 0;
    for (size_t c = 0; c < m->k; c++) occupied += m->share[c] * m->weight >= 1;
    cri_put_count(s, "occupied", occupied);
    cri_put_count(s, "rejected", m->rejected);
    cri_put_real(s, "best_rejected", m->best_rejected);
    cri_em_describe(&m->em, s);
    CR_TRY(describe_states(cx, m, out));
    describe_durations(m, out);
    describe_columns(m, design, out);
done:
    cr_scratch_end(&room);
    return st;
}
