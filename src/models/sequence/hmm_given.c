/* hmm_given.c -- see hmm_given.h. */
#include "hmm_given.h"
#include "hmm_duration.h"
#include "hmm_regress.h"
#include "base/scratch.h"
#include "base/file.h"
#include "models/common/column_kinds.h"

#include <math.h>
#include <string.h>

static const char *const keys[] = { "pi",   "A",     "B",       "mean",  "sd",        "covariance",
                                    "rate", "p",     "shape",   "size",  "scale",     "location",
                                    "dof",  "kappa", "meanlog", "sdlog", "direction", "intercept",
                                    "coef", "leave", "tie",     NULL };

cr_status cri_given_open(cr_ctx *cx, const char *option, const char *text, cri_given *out)
{
    cr_status st = CR_OK;
    cri_given g = { 0 };
    char      source[64];
    bool      itself = text[strspn(text, " \t\n")] == '{';
    snprintf(source, sizeof source, "--%s", option);
    if (!itself) CR_TRY(cri_file_load(cx, text, (size_t)1 << 28, &g.bytes, &g.size));
    CR_TRY(itself ? cri_json_open(cx, "the text of the option", text, strlen(text), &g.d)
                  : cri_json_open(cx, text, g.bytes, g.size, &g.d));
    CR_TRY(cri_json_keys(&g.d, g.d.root, keys));
    for (const char *const *key = keys; *key; key++) { /* all of them are lists of states */
        json_t *list = json_object_get(g.d.root, *key);
        if (!json_is_array(list)) continue;
        if (g.k == 0) g.k = json_array_size(list);
        if (json_array_size(list) != g.k || g.k == 0)
            CR_TRY(cri_json_fail(&g.d, list, "'%s' is about %zu states, but other lists about %zu",
                                 *key, json_array_size(list), g.k));
    }
    if (g.k == 0 || g.k > 1000)
        CR_TRY(
            cri_json_fail(&g.d, g.d.root, "%s: there is no list of states, such as \"A\"", source));
    g.ties = json_object_get(g.d.root, "tie") != NULL;
    *out = g;
    g = (cri_given){ 0 };
done:
    cri_given_close(cx, &g);
    return st;
}

void cri_given_close(cr_ctx *cx, cri_given *g)
{
    if (g->d.root) cri_json_close(&g->d);
    cr_free(cx, g->bytes, g->size, 1);
    *g = (cri_given){ 0 };
}

/* --- probabilities --------------------------------------------------------------------------- */

/* n probabilities of a list, `stride` apart; they sum to one. */
static cr_status read_shares(const cri_json *d, json_t *list, const char *what, size_t n,
                             double *out, size_t stride)
{
    cr_status st = CR_OK;
    double    sum = 0;
    CR_TRY(cri_json_is_array(d, list, what));
    if (json_array_size(list) != n)
        CR_TRY(cri_json_fail(d, list, "%s: there are %zu numbers, but there must be %zu", what,
                             json_array_size(list), n));
    for (size_t j = 0; j < n; j++) {
        CR_TRY(cri_json_real_in(d, json_array_get(list, j), what, 0, 1, &out[j * stride]));
        sum += out[j * stride];
    }
    if (!(fabs(sum - 1) < 1e-6))
        CR_TRY(cri_json_fail(d, list, "%s: the probabilities sum to %.9g, not to 1", what, sum));
    for (size_t j = 0; j < n; j++) out[j * stride] /= sum;
done:
    return st;
}

static cr_status read_pi(const cri_json *d, cri_hmm *m)
{
    json_t   *list = json_object_get(d->root, "pi");
    cr_status st = list ? read_shares(d, list, "pi", m->k, m->pi, 1) : CR_OK;
    for (size_t i = 0; i < m->k && list && st == CR_OK; i++) m->may_begin[i] = m->pi[i] > 0;
    return st;
}

static cr_status read_A(const cri_json *d, cri_hmm *m)
{
    cr_status st = CR_OK;
    json_t   *list = json_object_get(d->root, "A");
    for (size_t i = 0; i < m->k && list; i++) {
        CR_TRY(read_shares(d, json_array_get(list, i), "a row of A", m->k, m->A + i * m->k, 1));
        for (size_t j = 0; j < m->k; j++) m->may_go[i * m->k + j] = m->A[i * m->k + j] > 0;
    }
done:
    return st;
}

/* Names are numbered as they come. */
static cr_status read_ties(const cri_json *d, cri_hmm *m)
{
    cr_status st = CR_OK;
    json_t   *list = json_object_get(d->root, "tie"), *numbers = json_object();
    if (!numbers) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < m->k && list; i++) {
        json_t *row = json_array_get(list, i);
        CR_TRY(cri_json_is_array(d, row, "a row of tie"));
        if (json_array_size(row) != m->k)
            CR_TRY(cri_json_fail(d, row, "a row of tie: there are %zu names, but there must be %zu",
                                 json_array_size(row), m->k));
        for (size_t j = 0; j < m->k; j++) {
            json_t     *entry = json_array_get(row, j);
            const char *name = "";
            if (!json_is_null(entry)) CR_TRY(cri_json_text(d, entry, "a name of tie", &name));
            uint32_t *tie = &m->tie[i * m->k + j];
            *tie = 0;
            if (!*name) continue;
            size_t next = json_object_size(numbers) + 1;
            if (!json_object_get(numbers, name) &&
                json_object_set_new_nocheck(numbers, name, json_integer((json_int_t)next)) != 0)
                CR_TRY(CR_ENOMEM);
            *tie = (uint32_t)json_integer_value(json_object_get(numbers, name));
        }
    }
done:
    json_decref(numbers);
    return st;
}

/* leave [stages] of each state. */
static cr_status read_leave(const cri_json *d, cri_hmm *m)
{
    cr_status st = CR_OK;
    json_t   *list = json_object_get(d->root, "leave");
    if (list && m->stages == 0)
        CR_TRY(
            cri_json_fail(d, list, "'leave' is of durations: --duration says up to how many rows"));
    for (size_t i = 0; i < m->k && list; i++) {
        json_t *own = json_array_get(list, i);
        CR_TRY(cri_json_is_array(d, own, "a row of leave"));
        if (json_array_size(own) != m->stages)
            CR_TRY(cri_json_fail(d, own,
                                 "a row of leave: there are %zu numbers, but --duration is %zu",
                                 json_array_size(own), m->stages));
        for (size_t s = 0; s < m->stages; s++) {
            double *out = &m->leave[s * m->k + i];
            CR_TRY(cri_json_real_in(d, json_array_get(own, s), "a number of leave", 0, 1, out));
            if (!cri_hmm_can_leave(m, i)) *out = 0;
        }
    }
done:
    return st;
}

/* --- emissions ------------------------------------------------------------------------------- */

/* The entry of state c for a column that is number `at` of `of` that have the parameter. */
static json_t *entry_of(json_t *value, const char *column, size_t c, size_t at, size_t of)
{
    if (json_is_object(value)) return json_array_get(json_object_get(value, column), c);
    json_t *entry = json_array_get(value, c);
    return of > 1 && json_is_array(entry) ? json_array_get(entry, at) : entry;
}

static cr_status read_levels(const cri_json *d, const cr_design *design, json_t *row, size_t j,
                             size_t c, cri_hmm *m)
{
    cr_status st = CR_OK;
    size_t    n = cri_hmm_levels(m, j);
    double    sum = 0, *out = m->level + m->first[j] * m->k + c;
    if (!json_is_object(row)) return read_shares(d, row, "a row of B", n, out, m->k);
    for (size_t l = 0; l < n; l++) {
        const char *level = cr_design_level(design, cri_term_column(design, j), l);
        json_t     *p = json_object_get(row, level);
        out[l * m->k] = 0;
        if (p) CR_TRY(cri_json_real_in(d, p, "a probability of B", 0, 1, &out[l * m->k]));
        sum += out[l * m->k];
    }
    if (!(fabs(sum - 1) < 1e-6))
        CR_TRY(cri_json_fail(d, row,
                             "the probabilities of the levels of '%s' sum to %.9g, not to 1",
                             cr_design_term_name(design, j), sum));
done:
    return st;
}

static bool is_category(const cri_hmm *m, size_t j, const char *name)
{
    return m->kind[j] == CRI_EMIT_CATEGORY && strcmp(name, "B") == 0;
}

/* Which parameter of column j has this name; 3: none. */
static size_t parameter_of(const cri_hmm *m, size_t j, const char *name)
{
    const cri_emission *e =
        m->kind[j] == CRI_EMIT_JOINT ? &cri_emit_gaussian : cri_emission_of(m->kind[j]);
    for (size_t a = 0; a < 3 && e; a++)
        if (e->parameter[a] && strcmp(e->parameter[a], name) == 0) return a;
    return 3;
}

/* One parameter of a column in state c, from the units of the data. */
static cr_status set_parameter(const cri_json *d, const json_t *at, size_t j, size_t a, size_t c,
                               const char *name, cri_hmm *m)
{
    const cri_emission *e = cri_emission_of(m->kind[j]);
    bool                scaled = !e || e->moved || e->scaled;
    double              x = 0, *out = (a == 0 ? m->mean : a == 1 ? m->spread : m->tail);
    cr_status           st = cri_json_real(d, at, name, &x);
    if (st != CR_OK) return st;
    bool free_sign = a == 0 && (!e || e->moved || m->kind[j] == CRI_EMIT_VON_MISES);
    if (!free_sign && !(x > 0)) return cri_json_fail(d, at, "%s must be above 0", name);
    if (m->kind[j] == CRI_EMIT_BERNOULLI && !(x < 1))
        return cri_json_fail(d, at, "%s must be below 1", name);
    if (scaled && a == 0) x = (x - m->centre[j]) / m->scale[j];
    if (scaled && a == 1 && (!e || e->moved)) x /= m->scale[j];
    if (m->kind[j] == CRI_EMIT_JOINT && a == 1) {
        for (size_t b = 0, own = 0; b < m->g; b++) {
            own = m->joint[b] == j ? b : m->g;
            for (size_t o = 0; own < m->g && o < m->g; o++)
                m->covariance[(own * m->g + o) * m->k + c] =
                    m->covariance[(o * m->g + own) * m->k + c] = own == o ? x * x : 0;
        }
        return CR_OK;
    }
    out[j * m->k + c] = x;
    return CR_OK;
}

static bool is_line(const char *name)
{
    return strcmp(name, "intercept") == 0 || strcmp(name, "coef") == 0;
}

/* The coefficients [q] of a state: a list of numbers, or one. */
static cr_status read_coefficients(const cri_json *d, json_t *entry, size_t q, double *coef)
{
    cr_status st = CR_OK;
    size_t    n = json_is_array(entry) ? json_array_size(entry) : 1;
    if (n != q)
        CR_TRY(cri_json_fail(d, entry, "coef: there are %zu numbers, but %zu covariates", n, q));
    for (size_t l = 0; l < q; l++)
        CR_TRY(cri_json_real(d, json_is_array(entry) ? json_array_get(entry, l) : entry, "coef",
                             &coef[l]));
done:
    return st;
}

/* Intercepts and coefficients of the regressed columns, of which one alone may be given. */
static cr_status read_lines(cr_ctx *cx, const cri_json *d, const cr_design *design, cri_hmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *coef = cr_scratch_f64(&s, m->q);
    json_t *value[2] = { json_object_get(d->root, "intercept"), json_object_get(d->root, "coef") };
    size_t  of = 0, at = 0;

    CR_TRY(s.status);
    if (!value[0] && !value[1]) goto done;
    for (size_t j = 0; j < m->p; j++) of += m->kind[j] == CRI_EMIT_REGRESSED;
    if (of == 0)
        CR_TRY(cri_json_fail(d, value[0] ? value[0] : value[1],
                             "there are no --covariates that 'intercept' and 'coef' are about"));
    for (size_t j = 0; j < m->p; j++) {
        if (m->kind[j] != CRI_EMIT_REGRESSED) continue;
        for (size_t c = 0; c < m->k; c++) {
            const char *name = cr_design_term_name(design, j);
            json_t     *own = entry_of(value[0], name, c, at, of);
            json_t     *slopes = entry_of(value[1], name, c, at, of);
            double      intercept = cri_hmm_intercept(m, j, c);
            for (size_t l = 0; l < m->q; l++) coef[l] = cri_hmm_coefficient(m, j, c, l);
            if ((value[0] && !own) || (value[1] && !slopes))
                CR_TRY(cri_json_fail(d, value[0] && !own ? value[0] : value[1],
                                     "there is nothing for the column '%s' and state %zu", name,
                                     c + 1));
            if (own) CR_TRY(cri_json_real(d, own, "intercept", &intercept));
            if (slopes) CR_TRY(read_coefficients(d, slopes, m->q, coef));
            cri_hmm_set_line(m, j, c, intercept, coef);
        }
        at++;
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status read_key(const cri_json *d, const cr_design *design, const char *name, cri_hmm *m)
{
    cr_status st = CR_OK;
    json_t   *value = json_object_get(d->root, name);
    size_t    of = 0, at = 0;
    for (size_t j = 0; j < m->p; j++) of += is_category(m, j, name) || parameter_of(m, j, name) < 3;
    if (!value) return CR_OK;
    if (of == 0)
        return cri_json_fail_key(d, d->root, name, "no column has a parameter '%s' here", name);
    for (size_t j = 0; j < m->p; j++) {
        size_t a = parameter_of(m, j, name);
        if (!is_category(m, j, name) && a == 3) continue;
        for (size_t c = 0; c < m->k; c++) {
            json_t *entry = entry_of(value, cr_design_term_name(design, j), c, at, of);
            if (!entry)
                CR_TRY(cri_json_fail(d, value, "'%s' has nothing for the column '%s' and state %zu",
                                     name, cr_design_term_name(design, j), c + 1));
            CR_TRY(a == 3 ? read_levels(d, design, entry, j, c, m)
                          : set_parameter(d, entry, j, a, c, name, m));
        }
        at++;
    }
done:
    return st;
}

static size_t wide_of(const cri_hmm *m)
{
    size_t n = 0;
    for (size_t j = 0; j < m->p; j++)
        n += m->kind[j] == CRI_EMIT_GAUSSIAN || m->kind[j] == CRI_EMIT_JOINT;
    return n;
}

/* Entry (a, b) of the covariance of state c. */
static cr_status set_covariance(const cri_json *d, const json_t *at, size_t ja, size_t jb, size_t c,
                                cri_hmm *m)
{
    double    v = 0;
    cr_status st = cri_json_real(d, at, "a covariance", &v);
    if (st != CR_OK) return st;
    v /= m->scale[ja] * m->scale[jb];
    if (m->g == 0) {
        if (ja == jb && !(v > 0)) return cri_json_fail(d, at, "a variance must be above 0");
        if (ja == jb) m->spread[ja * m->k + c] = sqrt(v);
        return CR_OK;
    }
    for (size_t a = 0; a < m->g; a++)
        for (size_t b = 0; b < m->g; b++)
            if (m->joint[a] == ja && m->joint[b] == jb)
                m->covariance[(a * m->g + b) * m->k + c] = v;
    return CR_OK;
}

static cr_status read_covariances(const cri_json *d, cri_hmm *m)
{
    cr_status st = CR_OK;
    json_t   *value = json_object_get(d->root, "covariance");
    size_t    n = wide_of(m);
    for (size_t c = 0; c < m->k && value; c++) {
        json_t *matrix = json_array_get(value, c);
        size_t  a = 0;
        CR_TRY(cri_json_is_array(d, matrix, "a covariance matrix of each state"));
        if (json_array_size(matrix) != n)
            CR_TRY(cri_json_fail(d, matrix, "there are %zu gaussian columns", n));
        for (size_t ja = 0; ja < m->p; ja++) {
            size_t b = 0;
            if (m->kind[ja] != CRI_EMIT_GAUSSIAN && m->kind[ja] != CRI_EMIT_JOINT) continue;
            json_t *row = json_array_get(matrix, a++);
            CR_TRY(cri_json_is_array(d, row, "a row of a covariance matrix"));
            for (size_t jb = 0; jb < m->p; jb++) {
                if (m->kind[jb] != CRI_EMIT_GAUSSIAN && m->kind[jb] != CRI_EMIT_JOINT) continue;
                CR_TRY(set_covariance(d, json_array_get(row, b++), ja, jb, c, m));
            }
        }
    }
done:
    return st;
}

cr_status cri_given_apply(cr_ctx *cx, const cri_given *g, const cr_design *design, cri_hmm *m)
{
    cr_status st = CR_OK;
    CR_TRY(read_pi(&g->d, m));
    CR_TRY(read_A(&g->d, m));
    if (g->ties) CR_TRY(read_ties(&g->d, m));
    cri_hmm_part_durations(m);
    CR_TRY(read_leave(&g->d, m));
    for (const char *const *key = keys + 2; *key; key++)
        if (strcmp(*key, "covariance") != 0 && strcmp(*key, "leave") != 0 &&
            strcmp(*key, "tie") != 0 && !is_line(*key))
            CR_TRY(read_key(&g->d, design, *key, m));
    CR_TRY(read_covariances(&g->d, m));
    CR_TRY(read_lines(cx, &g->d, design, m));
done:
    return st;
}
