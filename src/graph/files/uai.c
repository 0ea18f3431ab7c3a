/* uai.c -- reading and writing lists of numbers. */
#include "uai.h"
#include "uai_internal.h"
#include "network_text.h"
#include "base/context_internal.h"
#include "graph/network/noisy.h"
#include "base/file.h"
#include "base/number.h"
#include "base/reader.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

enum { POLL = 4096 }; /* items between two looks at the clock */
static const double MOST_COUNT = 1e9;

/* --- words ----------------------------------------------------------------------------------- */

void cri_uai_skip(cri_reader *r)
{
    while (r->at < r->end && cri_is_space(*r->at)) cri_step(r);
}

double cri_uai_number(cri_reader *r, const char *what)
{
    double x = 0;
    if (r->status != CR_OK) return 0;
    cri_uai_skip(r);
    size_t      length = cri_parse_double(r->at, r->end, &x);
    const char *after = r->at + length;
    if (r->at == r->end) {
        cri_reader_fail_at(r, r->at, 1, "the file ends where %s should be", what);
    } else if (length == 0 || (after < r->end && !cri_is_space(*after))) {
        size_t word = 0;
        while (r->at + word < r->end && !cri_is_space(r->at[word])) word++;
        cri_reader_fail_at(r, r->at, word, "%s should be a number", what);
    } else {
        r->at = after;
        return x;
    }
    return 0;
}

size_t cri_uai_count(cri_reader *r, const char *what, double limit)
{
    cri_uai_skip(r);
    const char *from = r->at;
    double      x = cri_uai_number(r, what);
    if (r->status != CR_OK) return 0;
    if (x >= 0 && x < limit && x == (double)(size_t)x) return (size_t)x;
    cri_reader_fail_at(r, from, (size_t)(r->at - from), "%s should be a whole number below %.0f",
                       what, limit);
    return 0;
}

/* --- networks -------------------------------------------------------------------------------- */

static cr_status read_kind(cri_reader *r, cr_network_kind *out_kind)
{
    cri_uai_skip(r);
    size_t word = 0;
    while (r->at + word < r->end && !cri_is_space(r->at[word])) word++;
    if (word == 6 && memcmp(r->at, "MARKOV", 6) == 0)
        *out_kind = CR_NETWORK_MARKOV;
    else if (word == 5 && memcmp(r->at, "BAYES", 5) == 0)
        *out_kind = CR_NETWORK_BAYES;
    else
        return cri_reader_fail_at(r, r->at, word ? word : 1, "expected MARKOV or BAYES");
    r->at += word;
    return CR_OK;
}

static cr_status read_variables(cr_ctx *cx, cri_reader *r, cr_network *net, cri_places *places)
{
    cr_status st = CR_OK;
    char      name[32];
    size_t    n = cri_uai_count(r, "the number of variables", MOST_COUNT);
    for (size_t v = 0; v < n && r->status == CR_OK; v++) {
        if (v % POLL == 0) CR_TRY(cr_check_interrupt(cx));
        cri_uai_skip(r);
        const char *from = r->at;
        size_t      states = cri_uai_count(r, "a number of states", 1e7);
        CR_TRY(r->status);
        if (states == 0)
            CR_TRY(cri_reader_fail_at(r, from, (size_t)(r->at - from), "variable %zu has no states",
                                      v));
        CR_TRY(cri_places_set(cx, places, v, from));
        snprintf(name, sizeof name, "x%zu", v);
        CR_TRY(cr_network_add_variable(cx, net, name, states, NULL, NULL));
    }
    CR_TRY(r->status);
done:
    return st;
}

/* All scopes in one list; scope i is list[begin[i]] .. list[begin[i + 1] - 1]. */
typedef struct scopes {
    size_t      *list, n, capacity, *begin, tables;
    const char **from; /* [tables] where each begins */
} scopes;

static cr_status put_scope(cr_ctx *cx, scopes *s, size_t v)
{
    if (cri_array_grow(cx, &s->list, s->n, &s->capacity, sizeof *s->list) != CR_OK)
        return CR_ENOMEM;
    s->list[s->n++] = v;
    return CR_OK;
}

static cr_status read_scopes(cr_ctx *cx, cri_reader *r, const cr_network *net, scopes *s)
{
    cr_status st = CR_OK;
    double    variables = (double)cr_network_size(net);
    s->tables = cri_uai_count(r, "the number of tables", MOST_COUNT);
    if (r->status == CR_OK && s->tables > cri_reader_left(r)) /* each takes a byte at least */
        return cri_reader_fail_at(r, r->at, 1, "there are not %zu tables in the file", s->tables);
    CR_TRY(r->status);
    s->begin = cr_alloc(cx, s->tables + 1, sizeof *s->begin);
    s->from = s->begin ? cr_alloc(cx, s->tables, sizeof *s->from) : NULL;
    if (!s->from) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < s->tables; i++) {
        if (i % POLL == 0) CR_TRY(cr_check_interrupt(cx));
        cri_uai_skip(r);
        s->from[i] = r->at;
        size_t n = cri_uai_count(r, "the size of a scope", variables + 1);
        for (size_t k = 0; k < n; k++) {
            cri_uai_skip(r);
            const char *from = r->at;
            size_t      v = cri_uai_count(r, "a variable", variables);
            CR_TRY(r->status);
            for (size_t m = s->begin[i]; m < s->n; m++)
                if (s->list[m] == v)
                    CR_TRY(cri_reader_fail_at(r, from, (size_t)(r->at - from),
                                              "variable %zu occurs twice in this scope", v));
            CR_TRY(put_scope(cx, s, v));
        }
        CR_TRY(r->status);
        s->begin[i + 1] = s->n;
    }
done:
    return st;
}

/* Sets table i of a network from its scope and values. */
static cr_status set_table(cr_ctx *cx, cr_network *net, size_t n, const size_t *scope,
                           const double *values)
{
    if (cr_network_get_kind(net) == CR_NETWORK_MARKOV)
        return cr_network_add_table(cx, net, n, scope, values);
    if (n == 0) return cr_fail(cx, CR_EDATA, "a table of a Bayesian network has no variables");
    size_t    child = scope[n - 1];
    cr_status st = cri_network_set_scope(cx, net, child, n - 1, scope);
    return st == CR_OK ? cr_network_set_table(cx, net, child, values) : st;
}

/* Do the rows of a table sum to one, nearly? */
static bool is_conditional(const double *value, size_t size, size_t states)
{
    for (size_t row = 0; row < size; row += states) {
        double sum = 0;
        for (size_t s = 0; s < states; s++) sum += value[row + s];
        if (!(sum > 0.999 && sum < 1.001)) return false;
    }
    return true;
}

/* The entries of table i.  All zeros are warned of: they make everything impossible. */
static cr_status read_entries(cri_reader *r, size_t i, size_t count, double *values)
{
    size_t line = 0;
    bool   any = count == 0;
    for (size_t e = 0; e < count; e++) {
        if (e % POLL == POLL - 1 && cr_check_interrupt(r->cx) != CR_OK)
            return cr_check_interrupt(r->cx);
        cri_uai_skip(r);
        const char *from = r->at;
        if (e == 0) line = r->line;
        values[e] = cri_uai_number(r, "an entry");
        if (r->status != CR_OK) return r->status;
        if (!(values[e] >= 0 && values[e] <= DBL_MAX))
            return cri_reader_fail_at(r, from, (size_t)(r->at - from),
                                      "an entry should be a finite number, 0 or more");
        any |= values[e] > 0;
    }
    if (!any)
        cr_log(r->cx, CR_LOG_WARNING,
               "%s:%zu: table %zu is all zeros: nothing is possible in this network", r->source,
               line, i + 1);
    return CR_OK;
}

/* A variable of a Bayesian network has one table, whose last variable it is. */
static cr_status take_child(cri_reader *r, const cr_network *net, const scopes *s, size_t i,
                            cri_places *places)
{
    cri_reader at = *r; /* which stays where it is */
    if (s->begin[i + 1] == s->begin[i]) return CR_OK;
    size_t child = s->list[s->begin[i + 1] - 1];
    if (!cr_network_table(net, child).value)
        return cri_places_set(r->cx, places, child, s->from[i]);
    at.line = 1;
    at.line_begin = at.begin;
    for (const char *c = at.begin; c < s->from[i]; c++)
        if (*c == '\n') at.line++, at.line_begin = c + 1;
    return cri_reader_fail_at(&at, s->from[i], 1, "variable %zu has two tables", child);
}

/* *out_not: a table of a Bayesian network is not conditional; reading stops there. */
static cr_status read_values(cr_ctx *cx, cri_reader *r, cr_network *net, const scopes *s,
                             cri_places *places, bool *out_not)
{
    cr_status st = CR_OK;
    double   *values = NULL;
    size_t    capacity = 0;
    bool      bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    for (size_t i = 0; i < s->tables; i++) {
        const size_t *scope = s->list ? s->list + s->begin[i] : NULL;
        size_t        n = s->begin[i + 1] - s->begin[i];
        double        size = 1;
        if (i % POLL == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t k = 0; k < n; k++) size *= (double)cr_network_states(net, scope[k]);
        cri_uai_skip(r);
        const char *from = r->at;
        size_t      count = cri_uai_count(r, "the number of entries", 1e15);
        CR_TRY(r->status);
        if ((double)count != size) {
            cri_reader_fail_at(r, from, (size_t)(r->at - from),
                               "table %zu has %zu entries, but its scope needs %.0f", i + 1, count,
                               size);
            if (i > 0)
                cr_fail_hint(cx, "table %zu ends before this: does it have one entry too many?", i);
            CR_TRY(CR_EDATA);
        }
        if (count > cri_reader_left(r)) /* each takes two bytes */
            CR_TRY(cri_reader_fail_at(r, from, 1, "the file ends within table %zu", i + 1));
        if (count > capacity) {
            double *more = cr_resize(cx, values, capacity, count, sizeof *values);
            if (!more) CR_TRY(CR_ENOMEM);
            values = more;
            capacity = count;
        }
        CR_TRY(read_entries(r, i, count, values));
        *out_not =
            bayes && n > 0 && !is_conditional(values, count, cr_network_states(net, scope[n - 1]));
        if (*out_not) goto done;
        if (bayes) CR_TRY(take_child(r, net, s, i, places));
        st = set_table(cx, net, n, scope, values);
        if (st == CR_EDATA) cri_reader_fail_at(r, r->at, 1, "table %zu: %s", i + 1, cr_error(cx));
        if (st != CR_OK) goto done;
    }
    cri_uai_skip(r);
    if (r->at < r->end) {
        size_t word = 0;
        while (r->at + word < r->end && !cri_is_space(r->at[word])) word++;
        CR_TRY(cri_reader_fail_at(r, r->at, word, "the file should end here, after table %zu",
                                  s->tables));
    }
done:
    cr_free(cx, values, capacity, sizeof *values);
    return st;
}

/* Reads as the given kind; *out_not: a table of a Bayesian network is not conditional. */
static cr_status parse_as(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                          bool as_markov, cr_network **out_net, bool *out_not)
{
    cr_status       st = CR_OK;
    cri_reader      r = cri_reader_open(cx, source, bytes, size);
    cr_network     *net = NULL;
    scopes          s = { 0 };
    cri_places      places = { 0 };
    cr_network_kind kind = CR_NETWORK_MARKOV;
    CR_TRY(read_kind(&r, &kind));
    if (as_markov) kind = CR_NETWORK_MARKOV;
    CR_TRY(cr_network_new(cx, kind, &net));
    CR_TRY(read_variables(cx, &r, net, &places));
    CR_TRY(read_scopes(cx, &r, net, &s));
    CR_TRY(read_values(cx, &r, net, &s, &places, out_not));
    if (!*out_not) CR_TRY(cri_check_placed(&r, net, &places));
    if (*out_not) goto done;
    *out_net = net;
    net = NULL;
done:
    cr_free(cx, s.list, s.capacity, sizeof *s.list);
    cr_free(cx, s.begin, s.tables + 1, sizeof *s.begin);
    cr_free(cx, s.from, s.tables, sizeof *s.from);
    cri_places_free(cx, &places);
    cr_network_free(cx, net);
    return st;
}

cr_status cr_uai_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                       cr_network **out_net)
{
    bool      not_conditional = false;
    cr_status st = parse_as(cx, source, bytes, size, false, out_net, &not_conditional);
    if (st != CR_OK || !not_conditional) return st;
    cr_log(cx, CR_LOG_WARNING,
           "%s says BAYES, but has tables whose rows do not sum to 1: read as a Markov network",
           source);
    return parse_as(cx, source, bytes, size, true, out_net, &not_conditional);
}

cr_status cr_uai_read(cr_ctx *cx, const char *path, cr_network **out_net)
{
    char     *bytes;
    size_t    size;
    cr_status st = cri_file_load(cx, path, 0, &bytes, &size);
    if (st != CR_OK) return st;
    st = cr_uai_parse(cx, path, bytes, size, out_net);
    cr_free(cx, bytes, size, 1);
    return st;
}

/* --- evidence -------------------------------------------------------------------------------- */

static size_t count_words(const char *at, const char *end)
{
    size_t n = 0;
    for (bool in = false; at < end; at++) {
        bool space = cri_is_space(*at);
        n += !space && !in;
        in = !space;
    }
    return n;
}

cr_status cr_uai_read_evidence(cr_ctx *cx, const char *path, const cr_network *net, cr_evidence *e)
{
    cr_status st = CR_OK;
    char     *bytes;
    size_t    size, n, words;
    bool      none;
    st = cri_file_load(cx, path, 0, &bytes, &size);
    if (st != CR_OK) return st;
    cri_reader r = cri_reader_open(cx, path, bytes, size);
    words = count_words(bytes, bytes + size);
    n = words ? cri_uai_count(&r, "the number of observations", MOST_COUNT) : 0;
    none = n == 0; /* whatever follows: some files have a list behind it that is not meant */
    if (n == 1 && words % 2 == 0) n = cri_uai_count(&r, "the number of observations", MOST_COUNT);
    for (size_t i = 0; i < n; i++) {
        cri_uai_skip(&r);
        const char *from = r.at;
        size_t      v = cri_uai_count(&r, "a variable", (double)cr_network_size(net));
        CR_TRY(r.status);
        if (cr_evidence_likelihood(e, v))
            CR_TRY(cri_reader_fail_at(&r, from, (size_t)(r.at - from),
                                      "variable %zu is observed already", v));
        size_t state = cri_uai_count(&r, "a state", (double)cr_network_states(net, v));
        CR_TRY(r.status);
        CR_TRY(cr_evidence_observe(cx, e, v, state));
    }
    cri_uai_skip(&r);
    if (r.at < r.end && !none)
        CR_TRY(
            cri_reader_fail_at(&r, r.at, 1, "the file should end here, after %zu observations", n));
    CR_TRY(r.status);
done:
    cr_free(cx, bytes, size, 1);
    return st;
}

/* --- writing --------------------------------------------------------------------------------- */

static void write_count(cri_writer *w, size_t n, const char *after)
{
    cri_put_format(w, "%zu%s", n, after);
}

static void write_network(cri_writer *w, const cr_network *net)
{
    bool bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    cri_put(w, bayes ? "BAYES\n" : "MARKOV\n");
    write_count(w, cr_network_size(net), "\n");
    for (size_t v = 0; v < cr_network_size(net); v++)
        write_count(w, cr_network_states(net, v), v + 1 < cr_network_size(net) ? " " : "");
    cri_put(w, "\n");
    write_count(w, cr_network_tables(net), "\n");
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        write_count(w, t.n, t.n ? " " : "");
        for (size_t k = 0; k < t.n; k++) write_count(w, t.scope[k], k + 1 < t.n ? " " : "");
        cri_put(w, "\n");
    }
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        cri_put(w, "\n");
        write_count(w, t.size, "\n");
        for (size_t e = 0; e < t.size; e++) {
            cri_put(w, " ");
            cri_put_number(w, t.value[e]);
        }
        cri_put(w, "\n");
    }
}

cr_status cr_uai_write(cr_ctx *cx, const cr_network *net, const char *path)
{
    cri_writer w = { 0 };
    cr_status  st = cr_network_check(cx, net);
    if (st == CR_OK) st = cri_network_need_tables(cx, net);
    if (st == CR_OK) st = cri_packed_create(cx, path, &w.file);
    if (st != CR_OK) return st;
    write_network(&w, net);
    return cri_writer_close(&w);
}
