/* loglinear_terms.c -- features as terms: tables whose entries say which weight counts; and as a Markov network. */
#include "loglinear.h"
#include "base/scratch.h"
#include "graph/files/log_linear.h"
#include "graph/network/network_internal.h"

#include <string.h>

enum { MOST_ENTRIES = 1 << 26 };

/* --- life ------------------------------------------------------------------------------------- */

void cri_loglinear_drop_terms(cr_ctx *cx, cri_potentials *t)
{
    size_t members = t->begin ? t->begin[t->n] : 0;
    cr_free(cx, t->scope, members, sizeof *t->scope);
    cr_free(cx, t->stride, members, sizeof *t->stride);
    cr_free(cx, t->of, members, sizeof *t->of);
    cr_free(cx, t->term_of, members, sizeof *t->term_of);
    cr_free(cx, t->begin, t->n + 1, sizeof *t->begin);
    cr_free(cx, t->at, t->n + 1, sizeof *t->at);
    cr_free(cx, t->parameter, t->entries, sizeof *t->parameter);
    cr_free(cx, t->coefficient, t->entries, sizeof *t->coefficient);
    cr_free(cx, t->states, t->p, sizeof *t->states);
    cr_free(cx, t->of_begin, t->p + 1, sizeof *t->of_begin);
    *t = (cri_potentials){ 0 };
}

/* --- features are what they must be ----------------------------------------------------------- */

static size_t length_of(const cri_loglinear *m, size_t k) { return m->begin[k + 1] - m->begin[k]; }

static bool same_set(const cri_loglinear *m, size_t a, size_t b)
{
    size_t n = length_of(m, a);
    return n == length_of(m, b) && memcmp(m->variable + m->begin[a], m->variable + m->begin[b],
                                          n * sizeof *m->variable) == 0;
}

static bool is_sound(const cri_loglinear *m)
{
    size_t p = cr_network_size(m->columns.net);
    if (m->begins != m->parameters + 1 || m->begin[0] != 0 || m->begin[m->parameters] != m->members)
        return false;
    for (size_t k = 0; k < m->parameters; k++)
        if (m->begin[k + 1] <= m->begin[k] || m->begin[k + 1] > m->members) return false;
    for (size_t k = 0; k < m->parameters; k++)
        for (size_t i = m->begin[k]; i < m->begin[k + 1]; i++) {
            size_t v = m->variable[i];
            if (v >= p || (i > m->begin[k] && v <= m->variable[i - 1])) return false;
            if (m->state[i] >= cr_network_states(m->columns.net, v)) return false;
            if (m->spins && cr_network_states(m->columns.net, v) != 2) return false;
        }
    return true;
}

/* --- terms ------------------------------------------------------------------------------------ */

static cr_status count_terms(const cri_loglinear *m, cri_potentials *t, size_t *out_members)
{
    double entries = 0;
    size_t members = 0;
    for (size_t k = 0; k < m->parameters; k++) {
        double size = 1;
        if (k > 0 && same_set(m, k, k - 1)) continue;
        for (size_t i = m->begin[k]; i < m->begin[k + 1]; i++)
            size *= (double)cr_network_states(m->columns.net, m->variable[i]);
        entries += size;
        members += length_of(m, k);
        t->n++;
    }
    t->entries = entries <= MOST_ENTRIES ? (size_t)entries : SIZE_MAX;
    *out_members = members;
    return t->entries == SIZE_MAX ? CR_EDATA : CR_OK;
}

/* The value of a product of spins at entry e of n: -1 for an odd number of first states. */
static double product_of_spins(size_t n, size_t e)
{
    double sign = 1;
    for (size_t k = 0; k < n; k++)
        if ((e >> k & 1) == 0) sign = -sign;
    return sign;
}

/* Opens term i with the variables of feature k. */
static void open_term(const cri_loglinear *m, cri_potentials *t, size_t i, size_t k)
{
    size_t n = length_of(m, k), size = 1;
    t->begin[i + 1] = t->begin[i] + n;
    for (size_t j = n; j-- > 0;) {
        size_t v = m->variable[m->begin[k] + j];
        t->scope[t->begin[i] + j] = v;
        t->stride[t->begin[i] + j] = size;
        t->term_of[t->begin[i] + j] = i;
        size *= t->states[v];
    }
    t->at[i + 1] = t->at[i] + size;
    for (size_t e = 0; e < size; e++) t->parameter[t->at[i] + e] = CRI_NO_WEIGHT;
}

/* Gives feature k its place in term i; false where it is taken. */
static bool enter_feature(const cri_loglinear *m, cri_potentials *t, size_t i, size_t k)
{
    size_t n = length_of(m, k), e = t->at[i];
    for (size_t j = 0; j < n && !m->spins; j++)
        e += t->stride[t->begin[i] + j] * m->state[m->begin[k] + j];
    if (t->parameter[e] != CRI_NO_WEIGHT) return false;
    for (size_t of = 0; m->spins && of < (size_t)1 << n; of++) {
        t->parameter[e + of] = (uint32_t)k;
        t->coefficient[e + of] = product_of_spins(n, of);
    }
    if (!m->spins) t->parameter[e] = (uint32_t)k, t->coefficient[e] = 1;
    return true;
}

static void list_by_variable(cri_potentials *t)
{
    size_t members = t->begin[t->n];
    for (size_t i = 0; i < members; i++) t->of_begin[t->scope[i] + 1]++;
    for (size_t v = 0; v < t->p; v++) t->of_begin[v + 1] += t->of_begin[v];
    for (size_t i = members; i-- > 0;) t->of[--t->of_begin[t->scope[i] + 1]] = i;
    /* each begin has moved down to that of the variable before it */
    for (size_t v = 0; v < t->p; v++) t->of_begin[v] = t->of_begin[v + 1];
    t->of_begin[t->p] = members;
}

cr_status cri_loglinear_make_terms(cr_ctx *cx, cri_loglinear *m)
{
    cr_status       st = CR_OK;
    cri_potentials *t = &m->terms;
    size_t          members = 0, i = CR_NONE;
    if (!is_sound(m)) return CR_EDATA;
    cri_loglinear_drop_terms(cx, t);
    CR_TRY(count_terms(m, t, &members));
    t->p = cr_network_size(m->columns.net);
    t->parameters = m->parameters;
    t->begin = cr_alloc(cx, t->n + 1, sizeof *t->begin);
    if (!t->begin) CR_TRY(CR_ENOMEM);
    t->begin[t->n] = members; /* by which what follows is freed */
    t->scope = cr_alloc(cx, members, sizeof *t->scope);
    t->stride = cr_alloc(cx, members, sizeof *t->stride);
    t->of = cr_alloc(cx, members, sizeof *t->of);
    t->term_of = cr_alloc(cx, members, sizeof *t->term_of);
    t->at = cr_alloc(cx, t->n + 1, sizeof *t->at);
    t->parameter = cr_alloc(cx, t->entries, sizeof *t->parameter);
    t->coefficient = cr_alloc(cx, t->entries, sizeof *t->coefficient);
    t->states = cr_alloc(cx, t->p, sizeof *t->states);
    t->of_begin = cr_alloc(cx, t->p + 1, sizeof *t->of_begin);
    if (!t->scope || !t->stride || !t->of || !t->term_of || !t->at || !t->parameter ||
        !t->coefficient || !t->states || !t->of_begin)
        CR_TRY(CR_ENOMEM);
    for (size_t v = 0; v < t->p; v++) t->states[v] = cr_network_states(m->columns.net, v);
    for (size_t k = 0; k < m->parameters; k++) {
        if (k == 0 || !same_set(m, k, k - 1)) open_term(m, t, ++i, k);
        if (!enter_feature(m, t, i, k)) CR_TRY(CR_EDATA);
    }
    list_by_variable(t);
done:
    return st;
}

double cri_potentials_value(const cri_potentials *t, const double *w, const uint16_t *row)
{
    double sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        size_t e = cri_term_entry(t, i, row);
        if (t->parameter[e] != CRI_NO_WEIGHT) sum += t->coefficient[e] * w[t->parameter[e]];
    }
    return sum;
}

void cri_potentials_add(const cri_potentials *t, const uint16_t *row, double weight, double *sum)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t e = cri_term_entry(t, i, row);
        if (t->parameter[e] != CRI_NO_WEIGHT) sum[t->parameter[e]] += weight * t->coefficient[e];
    }
}

/* --- as a network ----------------------------------------------------------------------------- */

/* One table of a term, remembered as the features it is. */
static cr_status add_term(cr_ctx *cx, cri_loglinear *m, size_t i)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cri_potentials *t = &m->terms;
    size_t      n = t->begin[i + 1] - t->begin[i], size = t->at[i + 1] - t->at[i], count = 0;
    cr_feature *feature = cr_scratch_bytes(&s, size, sizeof *feature);
    size_t     *state = cr_scratch_index(&s, size * n);
    CR_TRY(s.status);
    for (size_t e = 0; e < size; e++) {
        size_t k = t->at[i] + e, *at = state + count * n;
        if (t->parameter[k] == CRI_NO_WEIGHT) continue;
        for (size_t j = 0; j < n; j++)
            at[j] = e / t->stride[t->begin[i] + j] % t->states[t->scope[t->begin[i] + j]];
        feature[count++] = (cr_feature){ .n = n,
                                         .var = t->scope + t->begin[i],
                                         .state = at,
                                         .weight = t->coefficient[k] * m->weight[t->parameter[k]] };
    }
    CR_TRY(cri_network_add_log_linear(cx, m->net, count, feature));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_loglinear_make_network(cr_ctx *cx, cri_loglinear *m)
{
    cr_status st = CR_OK;
    cr_network_free(cx, m->net);
    m->net = NULL;
    CR_TRY(cr_network_new(cx, CR_NETWORK_MARKOV, &m->net));
    CR_TRY(cri_network_copy_variables(cx, m->columns.net, m->net));
    for (size_t i = 0; i < m->terms.n; i++) CR_TRY(add_term(cx, m, i));
done:
    return st;
}
