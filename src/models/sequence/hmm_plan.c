/* hmm_plan.c -- before the first start: which distribution each column has, its units, and what all rows together are
 * like. */
#include "hmm_plan.h"
#include "hmm_regress.h"
#include "hmm_ties.h"
#include "math/dense/blas_internal.h"
#include "models/common/column_kinds.h"
#include "models/common/described.h"
#include "models/common/numbered.h"

#include <math.h>
#include <string.h>

enum { MOST_JOINT = 512, MOST_NODES = 2000, MOST_PARTS = 50 };

static const char *const kind_names[] = { "auto",      "gaussian", "lognormal",         "student-t",
                                          "bernoulli", "poisson",  "negative-binomial", "gamma",
                                          "von-mises", "mixture" };
enum { MIXTURE = CRI_EMIT_NUMBERS }; /* among the names; it takes the number of parts */
static const cri_kind_names kinds = { "emission", kind_names, MIXTURE + 1, MIXTURE };
_Static_assert(sizeof kind_names / sizeof *kind_names == MIXTURE + 1, "a name for each kind");

void cri_hmm_plan_close(cr_ctx *cx, void *plan)
{
    cri_hmm_plan *a = plan;
    double       *numbers[] = { a->threshold, a->centre, a->scale, a->overall, a->overall2 };
    for (size_t i = 0; i < 5; i++) cr_free(cx, numbers[i], a->p, sizeof(double));
    cr_free(cx, a->kind, a->p, sizeof *a->kind);
    cr_free(cx, a->first, a->p, sizeof *a->first);
    cr_free(cx, a->overall_level, a->L, sizeof(double));
    cr_free(cx, a->blend, a->q * a->q, sizeof(double));
    cr_free(cx, a->slope, a->p * a->q, sizeof(double));
    cr_free(cx, a->tried_likelihood, a->tried, sizeof(double));
    cr_free(cx, a->tried_parameters, a->tried, sizeof(double));
    cri_given_close(cx, &a->start);
    cri_given_close(cx, &a->transitions);
    cri_hmm_data_close(cx, &a->data);
    cr_free(cx, a, 1, sizeof *a);
}

/* --- kinds ----------------------------------------------------------------------------------- */

/* Gaussian columns are normal together where there are several, or their covariance is shared. */
static cr_status join_gaussian(cr_ctx *cx, cri_hmm_plan *a)
{
    size_t n = 0;
    for (size_t j = 0; j < a->p; j++)
        n += a->kind[j] == CRI_EMIT_GAUSSIAN || a->kind[j] == CRI_EMIT_REGRESSED;
    bool joint = (a->o->covariance == 0 && n > 1) || (a->o->covariance == 2 && n > 0);
    if (joint && a->q > 0) {
        cr_fail(cx, CR_EARG, "hmm: with --covariates gaussian columns have no covariance");
        return cr_fail_hint(cx, "add --covariance diag");
    }
    if (joint && n > MOST_JOINT) {
        cr_fail(cx, CR_EARG, "hmm: covariances of %zu columns are more than %d by %d", n,
                MOST_JOINT, MOST_JOINT);
        return cr_fail_hint(cx, "--covariance diag has none between columns");
    }
    for (size_t j = 0; j < a->p && joint; j++)
        if (a->kind[j] == CRI_EMIT_GAUSSIAN) a->kind[j] = CRI_EMIT_JOINT, a->g++;
    return CR_OK;
}

/* Columns that are mixtures, all of as many parts. */
static cr_status find_mixtures(cr_ctx *cx, cri_hmm_plan *a)
{
    for (size_t j = 0; j < a->p; j++) {
        double parts = a->threshold[j];
        if (a->kind[j] != MIXTURE || cri_term_levels(a->design, j) > 0) continue;
        a->kind[j] = CRI_EMIT_MIXTURE;
        if (!(parts >= 2 && parts <= MOST_PARTS && parts == floor(parts))) {
            cr_fail(cx, CR_EARG, "--emission: a mixture has 2, 3, ..., %d parts", MOST_PARTS);
            return cr_fail_hint(cx, "--emission mixture:3");
        }
        if (a->mixtures++ > 0 && (size_t)parts != a->M)
            return cr_fail(cx, CR_EARG,
                           "--emission: mixtures have %zu parts in one column, but %g in '%s'",
                           a->M, parts, cr_design_term_name(a->design, j));
        a->M = (size_t)parts;
    }
    if (a->mixtures == 0 || a->o->max_iter > 0) return CR_OK;
    return cr_fail(cx, CR_EARG,
                   "--max-iter 0 keeps parameters that are given, but those of mixtures cannot be");
}

static cr_status check_conjugate(cr_ctx *cx, const cri_hmm_plan *a)
{
    for (size_t j = 0; j < a->p && a->o->infer == CRI_HMM_INFER_VB; j++) {
        if (cri_hmm_vb_knows(a->kind[j])) continue;
        cr_fail(cx, CR_EUNSUPPORTED,
                "hmm: --infer vb needs a conjugate prior, and '%s' is %s, which has none",
                cr_design_term_name(a->design, j), cri_emission_name(a->kind[j]));
        return cr_fail_hint(cx, "--infer em; or --emission gaussian, lognormal, poisson or "
                                "bernoulli");
    }
    return CR_OK;
}

static cr_status read_kinds(cr_ctx *cx, cri_hmm_plan *a)
{
    cr_status        st = CR_OK;
    const cr_design *d = a->design;
    for (size_t j = 0; j < a->p; j++) {
        cr_type type = cr_design_column_type(d, cri_term_column(d, j));
        a->kind[j] = type == CR_CATEGORY  ? CRI_EMIT_CATEGORY
                     : type == CR_BOOLEAN ? CRI_EMIT_BERNOULLI
                                          : CRI_EMIT_AUTO;
        a->first[j] = a->L;
        a->L += cri_term_levels(d, j);
    }
    CR_TRY(cri_column_kinds(cx, d, a->o->emission, &kinds, a->kind, a->threshold));
    CR_TRY(find_mixtures(cx, a));
    for (size_t j = 0; j < a->p; j++)
        if (a->kind[j] == CRI_EMIT_AUTO) a->kind[j] = CRI_EMIT_GAUSSIAN;
    a->overall_level = cr_alloc(cx, a->L, sizeof(double));
    if (!a->overall_level) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_hmm_name_covariates(cx, d, a->o->covariates, a->kind, &a->q));
    if (a->q > 0) a->M = a->mixtures = 0; /* one that was asked for is a covariate */
    a->blend = cr_alloc(cx, a->q * a->q, sizeof(double));
    a->slope = cr_alloc(cx, a->p * a->q, sizeof(double));
    if (!a->blend || !a->slope) CR_TRY(CR_ENOMEM);
    CR_TRY(join_gaussian(cx, a));
    CR_TRY(check_conjugate(cx, a));
done:
    return st;
}

/* --- all rows together ----------------------------------------------------------------------- */

static double transformed(size_t kind, double x) { return kind == CRI_EMIT_LOGNORMAL ? log(x) : x; }

/* Mean and sd of a column, in two passes. */
static size_t moments(const cri_hmm_data *d, size_t j, size_t kind, double *mean, double *sd)
{
    const double *x = d->X + j * d->T;
    size_t        n = 0;
    double        sum = 0, squares = 0, origin = NAN;
    for (size_t t = 0; t < d->T; t++) {
        if (isnan(x[t])) continue;
        if (n++ == 0) origin = transformed(kind, x[t]);
        sum += transformed(kind, x[t]) - origin;
    }
    *mean = n > 0 ? origin + sum / (double)n : NAN;
    for (size_t t = 0; t < d->T; t++)
        if (!isnan(x[t])) squares += pow(transformed(kind, x[t]) - *mean, 2);
    *sd = sqrt(squares / (double)n);
    return n;
}

static cr_status fail_constant(cr_ctx *cx, const cri_hmm_plan *a, size_t j)
{
    const char *name = cr_design_term_name(a->design, j);
    cr_fail(cx, CR_EDATA, "hmm: column '%s' is the same in all rows: it has no %s", name,
            a->kind[j] == CRI_EMIT_COVARIATE ? "coefficient" : "density");
    return cr_fail_hint(cx, "--features '!%s' leaves it out", name);
}

static cr_status settle_number(cr_ctx *cx, cri_hmm_plan *a, size_t j)
{
    const cri_emission *e = cri_emission_of(a->kind[j]);
    const double       *x = a->data.X + j * a->data.T;
    bool                moved = !e || e->moved;
    double              mean = 0, sd = 0, sum = 0, sum2 = 0;
    size_t              n = moments(&a->data, j, a->kind[j], &mean, &sd);
    if (n == 0)
        return cr_fail(cx, CR_EDATA, "hmm: column '%s' has no value",
                       cr_design_term_name(a->design, j));
    if (!isfinite(mean) || !isfinite(sd))
        return cr_fail(cx, CR_ENUMERIC, "hmm: the variance of column '%s' is beyond all numbers",
                       cr_design_term_name(a->design, j));
    if (moved && !(sd > 4e-16 * fabs(mean) && sd > 1e-145)) return fail_constant(cx, a, j);
    if (moved) a->centre[j] = mean, a->scale[j] = sd;
    if (e && e->scaled) a->scale[j] = mean;
    for (size_t t = 0; t < a->data.T && !moved; t++) {
        double y = x[t] / a->scale[j];
        if (isnan(y)) continue;
        bool angle = a->kind[j] == CRI_EMIT_VON_MISES;
        sum += angle ? cos(y) : y;
        sum2 += angle ? sin(y) : e->scaled ? log(y) : 0;
    }
    a->overall[j] = sum / (double)n;
    a->overall2[j] = sum2 / (double)n;
    if (a->kind[j] == CRI_EMIT_POISSON || a->kind[j] == CRI_EMIT_BERNOULLI ||
        a->kind[j] == CRI_EMIT_NEGATIVE_BINOMIAL) /* keeps off 0, and 1 */
        a->overall[j] = (sum + 0.5) / (double)(n + 1);
    return CR_OK;
}

static cr_status settle_levels(cr_ctx *cx, cri_hmm_plan *a, size_t j)
{
    const double *x = a->data.X + j * a->data.T;
    size_t        levels = cri_term_levels(a->design, j), n = 0;
    double       *of = a->overall_level + a->first[j];
    for (size_t t = 0; t < a->data.T; t++)
        if (!isnan(x[t])) of[(size_t)x[t]] += 1, n++;
    if (n == 0)
        return cr_fail(cx, CR_EDATA, "hmm: column '%s' has no value",
                       cr_design_term_name(a->design, j));
    for (size_t l = 0; l < levels; l++) of[l] = (of[l] + 0.5) / ((double)n + 0.5 * (double)levels);
    return CR_OK;
}

/* --- opening --------------------------------------------------------------------------------- */

/* What ties do not go with. */
static cr_status check_ties(cr_ctx *cx, const cri_hmm_plan *a)
{
    if (!a->transitions.ties && !a->start.ties) return CR_OK;
    if (a->o->infer == CRI_HMM_INFER_VB)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "hmm: transitions that are tied have no posterior by --infer vb");
    if (a->o->duration > 1)
        return cr_fail(cx, CR_EUNSUPPORTED, "hmm: with --duration transitions cannot be tied");
    if (a->o->max_iter == 0)
        return cr_fail(cx, CR_EARG,
                       "--max-iter 0 keeps the parameters that are given: ties are "
                       "for those that are learned");
    if (a->o->prior_transitions == 0)
        return cr_fail(cx, CR_EARG, "transitions that are tied need --prior-transitions above 0");
    if (a->to > CRI_HMM_MOST_TIED)
        return cr_fail(cx, CR_EARG, "transitions of more than %d states cannot be tied",
                       CRI_HMM_MOST_TIED);
    return CR_OK;
}

/* The numbers of states: as asked for, or of the file that is given. */
static cr_status read_states(cr_ctx *cx, cri_hmm_plan *a)
{
    cr_status   st = CR_OK;
    const char *from = a->o->start ? "start" : "transitions";
    bool        open = strcmp(a->o->states, CRI_HMM_STATES) == 0;
    size_t      given;
    CR_TRY(cri_read_numbers(cx, "hmm", "states", "states", a->o->states, &a->from, &a->to));
    if (a->o->start) CR_TRY(cri_given_open(cx, "start", a->o->start, &a->start));
    if (a->o->transitions)
        CR_TRY(cri_given_open(cx, "transitions", a->o->transitions, &a->transitions));
    given = a->start.k ? a->start.k : a->transitions.k;
    if (given && a->start.k && a->transitions.k && a->start.k != a->transitions.k)
        CR_TRY(cr_fail(cx, CR_EARG, "--start has %zu states, but --transitions %zu", a->start.k,
                       a->transitions.k));
    if (given && !open && (a->from != given || a->to != given))
        CR_TRY(cr_fail(cx, CR_EARG, "--states is %s, but --%s has %zu states", a->o->states, from,
                       given));
    if (given) a->from = a->to = given;
    CR_TRY(check_ties(cx, a));
    if (a->to > MOST_NODES / a->o->duration && a->o->duration > 1) {
        cr_fail(cx, CR_EARG, "hmm: %zu states times --duration %zu is more than %d", a->to,
                a->o->duration, MOST_NODES);
        CR_TRY(cr_fail_hint(cx, "from --duration rows on durations are geometric: fewer will do"));
    }
    if (a->o->max_iter == 0 && !a->o->start) {
        cr_fail(cx, CR_EARG, "--max-iter 0 keeps the parameters that are given, but none are");
        CR_TRY(cr_fail_hint(cx, "--start FILE.json gives them"));
    }
    if (a->o->max_iter == 0 && a->o->infer == CRI_HMM_INFER_VB)
        CR_TRY(cr_fail(cx, CR_EARG,
                       "--max-iter 0 keeps the parameters that are given: they have no posterior "
                       "by --infer vb"));
    if (a->o->duration > 1 && a->o->infer == CRI_HMM_INFER_VB)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "hmm: --duration has no posterior by --infer vb"));
done:
    return st;
}

cr_status cri_hmm_plan_open(cr_ctx *cx, const cri_rows *rows, const void *options, void **out_plan)
{
    cr_status     st = CR_OK;
    cri_hmm_plan *a = cr_alloc(cx, 1, sizeof *a);
    if (!a) return CR_ENOMEM;
    a->o = options, a->design = rows->design, a->p = rows->p, a->sequences = rows->sequences;
    a->total.best_rejected = NAN;
    CR_TRY(cri_described_check(cx, "hmm", rows->design));
    if (rows->w) {
        cr_fail(cx, CR_EARG, "hmm: a row of a sequence cannot count more than another");
        CR_TRY(cr_fail_hint(cx, "leave --weights out"));
    }
    CR_TRY(read_states(cx, a));
    CR_TRY(cri_blas_reserve(cx));
    a->kind = cr_alloc(cx, a->p, sizeof *a->kind);
    a->first = cr_alloc(cx, a->p, sizeof *a->first);
    a->threshold = cr_alloc(cx, a->p, sizeof(double));
    a->centre = cr_alloc(cx, a->p, sizeof(double));
    a->scale = cr_alloc(cx, a->p, sizeof(double));
    a->overall = cr_alloc(cx, a->p, sizeof(double));
    a->overall2 = cr_alloc(cx, a->p, sizeof(double));
    if (!a->kind || !a->first || !a->threshold || !a->centre || !a->scale || !a->overall ||
        !a->overall2)
        CR_TRY(CR_ENOMEM);
    CR_TRY(read_kinds(cx, a));
    CR_TRY(cri_hmm_data_open(cx, rows, &a->data));
    CR_TRY(cri_hmm_check_labels(cx, &a->data, a->from));
    CR_TRY(cri_hmm_check_support(cx, rows, &a->data, a->kind));
    for (size_t j = 0; j < a->p; j++) {
        a->scale[j] = 1;
        CR_TRY(a->kind[j] == CRI_EMIT_CATEGORY ? settle_levels(cx, a, j) : settle_number(cx, a, j));
    }
    if (a->q > 0) {
        cri_hmm_units units = { a->p, a->q, a->kind, a->centre, a->scale, a->blend, a->slope };
        CR_TRY(cri_hmm_settle_regression(cx, a->design, &a->data, &units));
    }
    cri_hmm_data_scale(&a->data, a->kind, a->centre, a->scale);
    a->tried = a->to - a->from + 1;
    a->tried_likelihood = cr_alloc(cx, a->tried, sizeof(double));
    a->tried_parameters = cr_alloc(cx, a->tried, sizeof(double));
    if (!a->tried_likelihood || !a->tried_parameters) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < a->tried; i++) a->tried_likelihood[i] = a->tried_parameters[i] = NAN;
    *out_plan = a;
    a = NULL;
done:
    if (a) cri_hmm_plan_close(cx, a);
    return st;
}
