/* ppca.c -- probabilistic principal components: a plane of few dimensions, and noise of one size about it.
 *   t = (x - centre) / scale = W^T z + e,   z ~ N(0, I_q),   e ~ N(0, s2 I_p)
 * The maximum of the likelihood is a closed form of the covariance C of t (divisor n), C = sum_j lambda_j v_j v_j^T:
 *   s2 = mean of lambda_q+1 .. lambda_p,   W_j = (lambda_j - s2)^1/2 v_j
 *   log L = -n/2 (p log 2 pi + p + sum_j<=q log lambda_j + (p - q) log s2)
 * from the moments of the rows, O(n p^2 + p^3), or by EM over missing cells (factors.h), whose every step has this
 * form.  Tipping & Bishop (1999), J. Royal Stat. Soc. B 61; Bishop (2006), sec. 12.2. */
#include "components.h"
#include "factors.h"
#include "spread.h"
#include "models/common/described.h"
#include "models/common/moments.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define PPCA_OPTIONS(X)                                                                            \
    X(text,  components, "auto", "",    CRI_COMPONENTS_HELP, "2")                                  \
    X(real,  tol,        "1e-9", ">=0", "where cells are missing: stop when a step of EM gains less than this per row", "1e-6") \
    X(count, max_iter,   "2000", ">=1", "where cells are missing: give up after this many steps of EM", "100")

#define PPCA_STATE(MEMBER)                                                                         \
    MEMBER(part,   moments,        (cri_moments), "none inside", "for updates; absent where cells were missing") \
    MEMBER(part,   model,          (cri_factors), "",   "the distribution")                         \
    MEMBER(count,  k,              (),     ">0",        "components, again")                        \
    MEMBER(count,  d,              (),     ">1",        "terms, again")                             \
    MEMBER(real,   n,              (),     ">0",        "rows, by weight")                          \
    MEMBER(real,   log_likelihood, (),     "",          "of the cells that are there")              \
    MEMBER(real,   total,          (),     ">=0",       "variance of the scaled terms")             \
    MEMBER(vector, eigenvalue,     (k),    ">=0",       "lambda, divisor n")                        \
    MEMBER(matrix, loading_sd,     (k, d), ">=0 any",   "infinite: not known")                      \
    MEMBER(real,   noise_sd,       (),     ">=0",       "of s2")                                    \
    MEMBER(count,  iterations,     (),     "",          "of EM; 0: there were none")                \
    MEMBER(flag,   converged,      (),     "",          "EM gained less than the tolerance")
/* clang-format on */
CR_OPTIONS(ppca_options, ppca_table, PPCA_OPTIONS);
CRI_RECORD(ppca_state, PPCA_STATE);
CRI_RECORD_TABLE(static, ppca_record, ppca_state, PPCA_STATE);

static void ppca_release(cr_ctx *cx, void *state)
{
    cri_factors_release(cx, &((ppca_state *)state)->model);
}

/* --- the best for a covariance ---------------------------------------------------------------- */

typedef struct solving {
    const char *components;
    ppca_state *m;
    bool        fixed; /* as many components as there are */
} solving;

static double noise_of(const double *lambda, size_t p, size_t q)
{
    double sum = 0;
    for (size_t j = q; j < p; j++) sum += lambda[j];
    return sum / (double)(p - q);
}

static cr_status fail_noise(cr_ctx *cx, size_t rank)
{
    cr_fail(cx, CR_ENUMERIC, "ppca: the rows lie in %zu dimension%s: there is no noise left", rank,
            rank == 1 ? "" : "s");
    return cr_fail_hint(cx,
                        rank > 1 ? "--components %zu or fewer leave some; pca needs none"
                                 : "leave out columns that are constant or copies of others",
                        rank - 1);
}

/* Loadings and noise, and in m what is said of them. */
static cr_status solve(cr_ctx *cx, void *user, const double *C, double n, cri_factors *f)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    solving    *of = user;
    ppca_state *m = of->m;
    size_t      p = f->p, rank, q = f->q;
    double     *lambda = cr_scratch_f64(&s, p), *V = cr_scratch_matrix(&s, p, p), noise;

    CR_TRY(s.status);
    CR_TRY(cri_directions(cx, C, p, lambda, V, &rank));
    if (!of->fixed) {
        q = cri_components_choose(cx, "ppca", of->components,
                                  &(cri_spectrum_of){ lambda, rank, rank, n, 0 });
        if (q > p - 1) q = p - 1;
        m->k = f->q = q, m->d = p;
        CR_TRY(cri_record_allocate(cx, ppca_record, m));
        of->fixed = true;
    }
    noise = noise_of(lambda, p, q);
    if (!(noise > 0)) CR_TRY(fail_noise(cx, rank));
    m->total = 0;
    for (size_t j = 0; j < p; j++) {
        f->psi[j] = noise;
        m->total += lambda[j];
    }
    for (size_t j = 0; j < q; j++) {
        m->eigenvalue[j] = lambda[j];
        for (size_t i = 0; i < p; i++)
            f->loading[j * p + i] = sqrt(fmax(lambda[j] - noise, 0)) * V[j * p + i];
    }
    m->n = n;
done:
    cr_scratch_end(&s);
    return st;
}

/* sds of the loadings (lambda - s2)^1/2 v, whose parts are independent to first order. */
static cr_status find_sds(cr_ctx *cx, const double *C, ppca_state *m)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_factors *f = &m->model;
    size_t             p = f->p, q = f->q, rank;
    double            *lambda = cr_scratch_f64(&s, p), *V = cr_scratch_matrix(&s, p, p);
    double            *value_sd = cr_scratch_f64(&s, q), noise = f->psi[0];

    CR_TRY(s.status);
    CR_TRY(cri_directions(cx, C, p, lambda, V, &rank));
    for (size_t j = q; j < p; j++) lambda[j] = noise; /* as the model has it */
    CR_TRY(cri_spread(cx, &(cri_decomposed){ C, V, lambda, p, p, false, m->n, NULL }, q,
                      CRI_SPREAD_VECTORS, value_sd, m->loading_sd));
    m->noise_sd = noise * sqrt(2 / (m->n * (double)(p - q)));
    for (size_t j = 0; j < q; j++) {
        double left = fmax(lambda[j] - noise, 0);
        double of_root = left > 0
                             ? (value_sd[j] * value_sd[j] + m->noise_sd * m->noise_sd) / 4 / left
                             : INFINITY;
        for (size_t i = 0; i < p; i++) {
            double sd = m->loading_sd[j * p + i], v = V[j * p + i];
            m->loading_sd[j * p + i] = sqrt(left * sd * sd + v * v * of_root);
            if (isnan(m->loading_sd[j * p + i])) m->loading_sd[j * p + i] = INFINITY;
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- from the moments ------------------------------------------------------------------------- */

static cr_status check(cr_ctx *cx, const cri_rows *rows, const ppca_options *o)
{
    cr_status st = cri_components_check(cx, "ppca", o->components);
    if (st == CR_OK) st = cri_described_numbers(cx, "ppca", rows->design);
    if (st != CR_OK) return st;
    if (rows->p > 1) return CR_OK;
    cr_fail(cx, CR_EDATA, "ppca needs at least two columns, but there is only %zu feature(s)",
            rows->p);
    return cr_fail_hint(cx, "normal describes a single one");
}

static bool ppca_serves(const cri_rows *rows, const void *options, size_t leaves)
{
    (void)options, (void)leaves;
    return !cri_rows_have_gaps(rows);
}

static cr_status ppca_check(cr_ctx *cx, const void *state)
{
    if (((const ppca_state *)state)->moments.weight > 0) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED,
            "a ppca model fitted to rows with missing cells has no exact update");
    return cr_fail_hint(cx, "fit it again to all the rows");
}

static cr_status ppca_open(cr_ctx *cx, const cri_rows *rows, const void *options, void **out_state)
{
    cr_status st = check(cx, rows, options);
    if (st != CR_OK) return st;
    *out_state = cr_alloc(cx, 1, sizeof(ppca_state));
    return *out_state ? CR_OK : CR_ENOMEM;
}

static cr_status ppca_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                             const void *options, void *moments)
{
    if (cri_rows_have_gaps(rows)) {
        cr_fail(cx, CR_EDATA, "ppca: cells are missing, which takes all rows at once");
        return cr_fail_hint(cx, "fit it without --stream to all the rows, or use --missing drop");
    }
    return cri_moments_gather(cx, state, rows, options, moments);
}

static void set_report(const ppca_state *m, cr_report *report)
{
    report->stop = m->iterations == 0 ? CR_STOP_CLOSED_FORM
                   : m->converged     ? CR_STOP_TOLERANCE
                                      : CR_STOP_LIMIT;
    report->iterations = m->iterations;
    report->log_likelihood = m->log_likelihood;
}

static void set_log_likelihood(ppca_state *m)
{
    const cri_factors *f = &m->model;
    double             p = (double)f->p, q = (double)f->q, logs = (p - q) * log(f->psi[0]);
    for (size_t j = 0; j < f->q; j++) logs += log(m->eigenvalue[j]);
    m->log_likelihood = -0.5 * m->n * (p * log(2 * M_PI) + p + logs);
    for (size_t j = 0; j < f->p; j++) m->log_likelihood -= m->n * log(f->scale[j]);
}

static cr_status ppca_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                            cr_report *report)
{
    cr_status   st = CR_OK;
    ppca_state *m = state;
    size_t      p = m->model.p = m->moments.p;
    solving     of = { ((const ppca_options *)options)->components, m, false };
    cri_gram    g = { 0 };

    CR_TRY(cri_gram_new(cx, &m->moments, true, design->standardised, &g));
    for (size_t i = 0; i < p * p; i++) g.G[i] /= g.weight;
    CR_TRY(solve(cx, &of, g.G, g.weight, &m->model));
    memcpy(m->model.centre, g.centre, p * sizeof(double));
    memcpy(m->model.scale, g.scale, p * sizeof(double));
    CR_TRY(find_sds(cx, g.G, m));
    CR_TRY(cri_factors_ready(cx, &m->model, p));
    set_log_likelihood(m);
    set_report(m, report);
done:
    cri_gram_free(cx, &g);
    return st;
}

/* All but the moments, which the statistics are. */
static void ppca_reopen(cr_ctx *cx, void *state)
{
    ppca_state *m = state, empty = { 0 };
    ppca_release(cx, m);
    cri_record_free(cx, ppca_record, m);
    *m = empty;
}

/* --- with missing cells ----------------------------------------------------------------------- */

/* With as many components as can be, which is any covariance, the spectrum says how many to take. */
static cr_status fit_with(cr_ctx *cx, const cri_rows *rows, const ppca_options *o, double *C,
                          ppca_state *m, solving *of, cri_gaps_report *out)
{
    cri_gaps_options how = { o->tol, o->max_iter, rows->design->standardised, false };
    *out = (cri_gaps_report){ .C = C };
    memset(m->model.centre, 0, rows->p * sizeof(double));
    memset(m->model.loading, 0, m->model.q * rows->p * sizeof(double));
    return cri_factors_fit_gaps(cx, rows, &how, solve, of, &m->model, out);
}

static cr_status start_state(cr_ctx *cx, size_t p, size_t q, ppca_state *m)
{
    m->model.p = m->d = p;
    m->model.q = m->k = q;
    return cri_record_allocate(cx, ppca_record, m);
}

/* How many components the rows have, by the covariance that they have without any such bound. */
static cr_status choose(cr_ctx *cx, const cri_rows *rows, const ppca_options *o, double *C,
                        size_t *out_q)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          p = rows->p, rank;
    ppca_state      m = { 0 };
    cri_gaps_report r;
    double         *lambda = cr_scratch_f64(&s, p), *V = cr_scratch_matrix(&s, p, p);

    CR_TRY(s.status);
    CR_TRY(start_state(cx, p, p - 1, &m));
    CR_TRY(fit_with(cx, rows, o, C, &m, &(solving){ o->components, &m, true }, &r));
    CR_TRY(cri_directions(cx, C, p, lambda, V, &rank));
    *out_q = cri_components_choose(cx, "ppca", o->components,
                                   &(cri_spectrum_of){ lambda, rank, rank, r.n, 0 });
    if (*out_q > p - 1) *out_q = p - 1;
done:
    cri_record_free(cx, ppca_record, &m);
    cr_scratch_end(&s);
    return st;
}

static cr_status ppca_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const ppca_options *o = options;
    size_t              q = 0;
    double             *C = cr_scratch_matrix(&s, rows->p, rows->p);
    ppca_state         *m = cr_alloc(cx, 1, sizeof *m);
    cri_gaps_report     r;
    (void)seed;

    CR_TRY(s.status);
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(check(cx, rows, o));
    CR_TRY(choose(cx, rows, o, C, &q));
    CR_TRY(start_state(cx, rows->p, q, m));
    CR_TRY(fit_with(cx, rows, o, C, m, &(solving){ o->components, m, true }, &r));
    m->iterations = r.iterations, m->converged = r.converged;
    m->log_likelihood = r.log_likelihood;
    CR_TRY(find_sds(cx, C, m));
    CR_TRY(cri_factors_ready(cx, &m->model, rows->p));
    set_report(m, report);
    if (r.cut) report->stop = CR_STOP_TIME;
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_ppca, m);
    cr_scratch_end(&s);
    return st;
}

/* --- answers ---------------------------------------------------------------------------------- */

static cr_status ppca_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                              cr_prediction *out)
{
    return cri_factors_predict(cx, &((const ppca_state *)state)->model, rows, out);
}

static cr_status ppca_reconstruct(cr_ctx *cx, const void *state, const double *Z, size_t n,
                                  double *out, double *distance)
{
    return cri_factors_reconstruct(cx, &((const ppca_state *)state)->model, Z, n, out, distance);
}

static cr_status ppca_sample(cr_ctx *cx, const void *state, const cr_design *design,
                             const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    (void)design, (void)opt_rows;
    return cri_factors_sample(cx, &((const ppca_state *)state)->model, count, seed, out);
}

static cr_status ppca_next(cr_ctx *cx, const void *state, const cr_design *design,
                           cr_prediction *out)
{
    (void)cx, (void)design;
    cri_factors_next(&((const ppca_state *)state)->model, out);
    return CR_OK;
}

static const char *const *ppca_labels(const void *state, size_t *out_n)
{
    const cri_factors *f = &((const ppca_state *)state)->model;
    *out_n = f->q;
    return f->at.names;
}

/* --- describe and file ------------------------------------------------------------------------ */

static const cr_field ppca_statistics[] = {
    CR_COUNT("components", 0, "coordinates"),
    CR_NUMBER("noise_variance", CR_FIELD_NULL, "variance of the noise in each scaled column"),
    CR_NUMBER("noise_variance_sd", CR_FIELD_NULL, "its standard error"),
    CR_NUMBER("total", CR_FIELD_NULL, "total variance of the terms, as they were scaled"),
    CR_NUMBER("eigenvalue(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each coordinate: variance along it (divisor n)"),
    CR_NUMBER("share(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each coordinate: its share of the total"),
    CR_NUMBER("explained", CR_FIELD_NULL, "share of the total explained by the coordinates"),
    CR_NUMBER("score_sd(COORDINATE)", CR_FIELD_SOMETIMES,
              "of each coordinate: its sd given a row without missing cells"),
    CR_NUMBER("parameters", 0, "free parameters of the distribution"),
    CR_NUMBER("aic", CR_FIELD_NULL, "Akaike's criterion"),
    CR_NUMBER("bic", CR_FIELD_NULL, "Schwarz's criterion"),
    CR_FIELD_LAST,
};

static cr_status ppca_describe(cr_ctx *cx, const void *state, const cr_design *design,
                               cri_sheet *out)
{
    cr_status          st = CR_OK;
    cr_scratch         memory = cr_scratch_begin(cx);
    const ppca_state  *m = state;
    const cri_factors *f = &m->model;
    cri_sheet         *list = cri_put_list(out, "parameters"), *s;
    double            *sd = cr_scratch_f64(&memory, f->q), p = (double)f->p, q = (double)f->q;
    double             k = p + p * q - q * (q - 1) / 2 + 1;
    char               name[64];

    CR_TRY(memory.status);
    for (size_t j = 0; j < f->q; j++)
        for (size_t i = 0; i < f->p; i++) {
            double of = m->loading_sd[j * f->p + i];
            cri_parameter_add(list, f->loading[j * f->p + i], isinf(of) ? NAN : of, "%s.%s",
                              f->at.names[j], cr_design_term_name(design, i));
        }
    s = cri_put_object(out, "statistics");
    cri_put_count(s, "components", f->q);
    cri_put_real(s, "noise_variance", f->psi[0]);
    cri_put_real(s, "noise_variance_sd", m->noise_sd);
    cri_put_real(s, "total", m->total);
    cri_put_real(s, "explained", cri_coordinates_describe(&f->at, m->eigenvalue, m->total, s));
    cri_factors_score_sds(f, sd);
    for (size_t j = 0; j < f->q; j++) {
        snprintf(name, sizeof name, "score_sd(%s)", f->at.names[j]);
        cri_put_real(s, name, sd[j]);
    }
    cri_put_real(s, "parameters", k);
    cri_put_real(s, "aic", 2 * k - 2 * m->log_likelihood);
    cri_put_real(s, "bic", k * log(m->n) - 2 * m->log_likelihood);
done:
    cr_scratch_end(&memory);
    return st;
}

static cr_status ppca_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    ppca_state *m = state;
    size_t      p = cr_design_terms(design);
    bool        fits = m->k == m->model.q && m->d == p && m->model.p == p && m->model.q < p &&
                (m->iterations > 0 || cri_moments_fit(&m->moments, p));
    return fits ? cri_factors_ready(cx, &m->model, p) : CR_EDATA;
}

const cr_model_class cri_class_ppca = {
    .example = "examples/iris.csv --features '*cm' --components 2",
    .name = "ppca",
    .summary = "probabilistic principal components: a normal distribution with few directions",
    .formulas = "(x - centre) / scale = W z + e,   z ~ N(0, I),   e ~ N(0, s2 I)\n"
                "s2 = mean of the smaller eigenvalues,  W_j = (lambda_j - s2)^1/2 v_j",
    .reference = "Tipping & Bishop (1999), J. Royal Stat. Soc. B 61; Bishop (2006), sec. 12.2",
    .tasks = CR_TASK_TRANSFORM | CR_TASK_DENSITY,
    .options = ppca_table,
    .options_size = sizeof(ppca_options),
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .takes_missing = true,
    .sums = &(const cri_sums_face){ .record = cri_moments_record,
                                    .size = sizeof(cri_moments),
                                    .at = offsetof(ppca_state, moments),
                                    .serves = ppca_serves,
                                    .check = ppca_check,
                                    .open = ppca_open,
                                    .gather = ppca_gather,
                                    .merge = cri_moments_add,
                                    .solve = ppca_solve,
                                    .reopen = ppca_reopen },
    .whole = &(const cri_whole_face){ .fit = ppca_fit },
    .rows = &(const cri_rows_face){ .predict = ppca_predict,
                                    .reconstruct = ppca_reconstruct,
                                    .labels = ppca_labels,
                                    .next = ppca_next,
                                    .sample = ppca_sample },
    .describe = ppca_describe,
    .statistics = ppca_statistics,
    .state = ppca_record,
    .state_size = sizeof(ppca_state),
    .ready = ppca_ready,
    .release = ppca_release,
};
