/* bn_parameters.c -- priors of tables, counts, and the tables that follow from both.
 *   row u of a table  ~  Dirichlet(prior(u, .) + count(u, .)),   its mean is what the network has */
#include "bn.h"
#include "base/context_internal.h"
#include "base/number.h"
#include "base/scratch.h"
#include "graph/network/network_internal.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

cri_bn_table cri_bn_table_of(const cri_bn *m, size_t v)
{
    size_t        n;
    cri_bn_table  t = { .rows = 1, .states = cr_network_states(m->net, v), .at = m->at[v] };
    const size_t *parents = cr_network_parents(m->net, v, &n);
    for (size_t i = 0; i < n; i++) t.rows *= cr_network_states(m->net, parents[i]);
    return t;
}

size_t cri_bn_free_parameters(const cri_bn *m)
{
    size_t free = 0;
    for (size_t v = 0; v < cr_network_size(m->net); v++) {
        cri_bn_table t = cri_bn_table_of(m, v);
        free += t.rows * (t.states - 1);
    }
    return free;
}

/* --- priors ----------------------------------------------------------------------------------- */

/* The same number for all entries; or `cases` spread over each table. */
static void fill_prior(cri_bn *m, double each, double cases)
{
    for (size_t v = 0; v < cr_network_size(m->net); v++) {
        cri_bn_table t = cri_bn_table_of(m, v);
        size_t       size = t.rows * t.states;
        for (size_t i = 0; i < size; i++) m->prior[t.at + i] = each + cases / (double)size;
    }
}

/* The number behind the colon of "bdeu:10"; `usual` without one. */
static cr_status number_of(cr_ctx *cx, const char *text, double usual, double *out)
{
    const char *colon = strchr(text, ':');
    *out = usual;
    if (!colon) return CR_OK;
    size_t n = strlen(colon + 1);
    if (n > 0 && cri_parse_double(colon + 1, colon + 1 + n, out) == n && *out > 0 && isfinite(*out))
        return CR_OK;
    return cr_fail(cx, CR_EARG, "--prior %s: expected a number above 0 after the colon", text);
}

/* Whether `text` is this word, alone or before a colon. */
static bool is_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    return strncmp(text, word, n) == 0 && (text[n] == '\0' || text[n] == ':');
}

/* Table v of the file, in the order of our parents and states. */
static cr_status take_table(cr_ctx *cx, cr_scratch *s, const cr_network *from, const char *path,
                            double cases, size_t v, cri_bn *m)
{
    cr_status           st = CR_OK;
    const cr_variables *ours = cr_network_variables(m->net), *theirs = cr_network_variables(from);
    const char         *name = cr_variable_name(ours, v);
    size_t              u = cr_variable_lookup(theirs, name), n, k;
    const size_t       *parents = cr_network_parents(m->net, v, &n);
    cri_bn_table        t = cri_bn_table_of(m, v);
    size_t             *state = cr_scratch_index(s, cr_network_size(from));
    CR_TRY(s->status);
    if (u == CR_NONE)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: there is no variable '%s' with a prior", path, name));
    cr_table_view table = cr_network_table(from, u);
    for (size_t i = 0; i + 1 < table.n; i++) {
        const char *parent = cr_variable_name(theirs, table.scope[i]);
        for (k = 0; k < n && strcmp(cr_variable_name(ours, parents[k]), parent) != 0;) k++;
        if (k == n)
            CR_TRY(cr_fail(cx, CR_EDATA,
                           "%s: the prior of '%s' depends on '%s', which is no parent "
                           "in the structure",
                           path, name, parent));
    }
    if (!table.value) CR_TRY(cr_fail(cx, CR_EDATA, "%s: '%s' has no plain table", path, name));
    for (size_t i = 0; i < t.rows * t.states; i++) {
        size_t inner = t.rows * t.states, entry = 0;
        for (k = 0; k <= n; k++) {
            size_t w = k < n ? parents[k] : v, states = cr_network_states(m->net, w);
            size_t there = cr_variable_lookup(theirs, cr_variable_name(ours, w));
            inner /= states;
            if (there == CR_NONE) continue;
            state[there] =
                cr_state_lookup(theirs, there, cr_state_name(ours, w, i / inner % states));
            if (state[there] == CR_NONE)
                CR_TRY(cr_fail(cx, CR_EDATA, "%s: '%s' has no state '%s'", path,
                               cr_variable_name(ours, w),
                               cr_state_name(ours, w, i / inner % states)));
        }
        for (k = 0; k < table.n; k++)
            entry = entry * cr_network_states(from, table.scope[k]) + state[table.scope[k]];
        m->prior[t.at + i] = cases * table.value[entry];
    }
done:
    return st;
}

static cr_status read_prior(cr_ctx *cx, const cri_bn_options *o, cri_bn *m)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cr_network *net = NULL;
    CR_TRY(cri_bn_read_network(cx, "--prior", o->prior, &net));
    CR_TRY(cr_network_check(cx, net));
    for (size_t v = 0; v < cr_network_size(m->net); v++)
        CR_TRY(take_table(cx, &s, net, o->prior, o->prior_cases, v, m));
done:
    cr_network_free(cx, net);
    cr_scratch_end(&s);
    return st;
}

void cri_bn_drop_tables(cr_ctx *cx, cri_bn *m)
{
    if (m->prior) cr_free(cx, m->prior, m->size, sizeof *m->prior);
    if (m->count) cr_free(cx, m->count, m->size, sizeof *m->count);
    if (m->em.trace) cr_free(cx, m->em.trace, m->em.iterations, sizeof *m->em.trace);
    if (m->share) cr_free(cx, m->share, m->shares, sizeof *m->share);
    m->prior = m->count = m->share = NULL;
    m->shares = 0;
    m->em = (cri_em_outcome){ 0 };
    m->size = 0;
}

cr_status cri_bn_open_prior(cr_ctx *cx, const cri_bn_options *o, cri_bn *m)
{
    cr_status   st = CR_OK;
    double      x;
    const char *text = o->prior ? o->prior : "none";
    m->prior = cr_alloc(cx, m->size, sizeof *m->prior);
    m->count = cr_alloc(cx, m->size, sizeof *m->count);
    if (!m->prior || !m->count) CR_TRY(CR_ENOMEM);
    if (is_word(text, "bdeu")) {
        CR_TRY(number_of(cx, text, 1, &x));
        fill_prior(m, 0, x);
    } else if (is_word(text, "dirichlet")) {
        CR_TRY(number_of(cx, text, 1, &x));
        fill_prior(m, x, 0);
    } else if (strcmp(text, "k2") == 0) {
        fill_prior(m, 1, 0);
    } else if (strcmp(text, "jeffreys") == 0) {
        fill_prior(m, 0.5, 0);
    } else if (strcmp(text, "none") != 0) {
        CR_TRY(read_prior(cx, o, m));
    }
done:
    return st;
}

/* --- counts ----------------------------------------------------------------------------------- */

cr_status cri_bn_add_counts(cr_ctx *cx, const cri_bn_rows *d, cri_bn *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *entry = cr_scratch_index(&s, d->n);
    CR_TRY(s.status);
    for (size_t v = 0; v < d->p; v++) {
        size_t        n;
        const size_t *scope = cr_network_parents(m->net, v, &n); /* v itself comes behind them */
        double       *count = m->count + m->at[v];
        CR_TRY(cr_check_interrupt(cx));
        memset(entry, 0, d->n * sizeof *entry);
        for (size_t k = 0; k <= n; k++) {
            size_t states = cr_network_states(m->net, scope[k]);
            for (size_t i = 0; i < d->n; i++)
                entry[i] = entry[i] * states + d->code[i * d->p + scope[k]];
        }
        for (size_t i = 0; i < d->n; i++) {
            double w = d->weight ? d->weight[i] : 1;
            if (w > 0 && (!d->set || d->set[i] != v))
                count[entry[i]] += w; /* others may have gaps */
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_bn_set_tables(cr_ctx *cx, cri_bn *m)
{
    cr_status st = CR_OK;
    for (size_t v = 0; v < cr_network_size(m->net); v++) {
        cri_bn_table t = cri_bn_table_of(m, v);
        double      *value;
        size_t       size;
        CR_TRY(cri_network_new_table(cx, m->net, v, &value, &size));
        for (size_t u = 0; u < t.rows; u++) {
            const double *a = m->prior + t.at + u * t.states, *c = m->count + t.at + u * t.states;
            double        sum = 0;
            for (size_t k = 0; k < t.states; k++) sum += a[k] + c[k];
            for (size_t k = 0; k < t.states; k++)
                value[u * t.states + k] = sum > 0 ? (a[k] + c[k]) / sum : 1 / (double)t.states;
        }
        CR_TRY(cri_network_take_table(cx, m->net, v, value, size, CR_CPD_TABLE));
    }
done:
    return st;
}

double cri_bn_log_likelihood(const cri_bn *m)
{
    double sum = 0;
    for (size_t v = 0; v < cr_network_size(m->net); v++) {
        cr_table_view t = cr_network_table(m->net, v);
        for (size_t i = 0; i < t.size; i++) {
            double c = m->count[m->at[v] + i];
            if (c > 0) sum += c * log(t.value[i]);
        }
    }
    return sum;
}

double cri_bn_log_evidence(const cri_bn *m)
{
    double sum = 0;
    for (size_t v = 0; v < cr_network_size(m->net); v++) {
        cri_bn_table t = cri_bn_table_of(m, v);
        for (size_t u = 0; u < t.rows; u++) {
            const double *a = m->prior + t.at + u * t.states, *c = m->count + t.at + u * t.states;
            double        prior = 0, count = 0;
            for (size_t k = 0; k < t.states; k++) {
                prior += a[k], count += c[k];
                if (c[k] > 0 && a[k] > 0) sum += cr_lgamma_diff(a[k], c[k]);
                if (c[k] > 0 && !(a[k] > 0)) return NAN;
            }
            if (count > 0) sum -= cr_lgamma_diff(prior, count);
        }
    }
    return sum;
}
