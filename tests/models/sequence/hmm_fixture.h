/* hmm_fixture.h -- what the tests of hidden Markov models share: fits whose objective rises, and the likelihood of short
 * sequences by all paths. */
#ifndef CREDENCE_TEST_MODELS_SEQUENCE_HMM_FIXTURE_H
#define CREDENCE_TEST_MODELS_SEQUENCE_HMM_FIXTURE_H

#include "../fixture.h"

#include "models/core/em.h"
#include "models/core/model_internal.h"
#include "models/core/sequence.h"
#include "models/sequence/hmm.h"

static inline const cri_hmm *state_of(const cr_model *m) { return m->state; }

/* A fit whose objective has never fallen, and whose description is in order. */
static inline cr_model *rising(cr_ctx *cx, const cr_table *t, const char *settings)
{
    cr_model             *m = fit(cx, "hmm", t, settings);
    const cri_em_outcome *o = &state_of(m)->em;
    for (size_t i = 1; i < o->iterations; i++)
        if (!(o->trace[i] >= o->trace[i - 1] - 1e-9 * (1 + fabs(o->trace[i]))))
            fail_msg("%s: pass %zu falls by %g", settings, i, o->trace[i - 1] - o->trace[i]);
    assert_close(o->objective - cri_hmm_log_prior(m->state), m->report.log_likelihood,
                 1e-9 * (1 + fabs(o->objective)));
    describe(cx, m);
    return m;
}

/* What is said of a parameter: its "value", "sd", ... */
static inline double number_at(const json_t *d, const char *name, const char *what)
{
    json_t *row;
    size_t  i;
    json_array_foreach(json_object_get(d, "parameters"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "name")), name) == 0)
            return json_number_value(json_object_get(row, what));
    }
    fail_msg("there is no parameter '%s'", name);
    return NAN;
}

static inline double value_of(const json_t *d, const char *name)
{
    return number_at(d, name, "value");
}

/* A file with some columns read as categories. */
static inline cr_table *read_categories(cr_ctx *cx, const char *path, const char *columns)
{
    cr_read_options o;
    cr_table       *t = NULL;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_options_set(cx, cr_read_table, &o, "category", columns));
    assert_ok(cx, cr_table_read(cx, path, &o, &t));
    cr_options_free(cx, cr_read_table, &o);
    test_own(cx, t, release_table);
    return t;
}

/* log p(x) of T steps by all k^T paths, from log b [T x k]. */
static inline double log_by_paths(const double *pi, const double *A, const double *log_b, size_t T,
                                  size_t k)
{
    size_t      paths = 1;
    long double total = 0;
    for (size_t t = 0; t < T; t++) paths *= k;
    for (size_t z = 0; z < paths; z++) {
        long double p = 1;
        size_t      rest = z, before = 0;
        for (size_t t = 0; t < T; t++, rest /= k) {
            size_t now = rest % k;
            p *= (t == 0 ? pi[now] : A[before * k + now]) * expl(log_b[t * k + now]);
            before = now;
        }
        total += p;
    }
    return (double)logl(total);
}

#endif
