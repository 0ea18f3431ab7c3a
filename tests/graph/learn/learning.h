/* learning.h -- cases for tests of learning: from arrays, by draws, and from files. */
#ifndef CREDENCE_TEST_GRAPH_LEARNING_H
#define CREDENCE_TEST_GRAPH_LEARNING_H

#include "support.h"
#include "base/rng.h"
#include "data/formats/read.h"
#include "data/table/table.h"
#include "graph/files/network_file.h"
#include "graph/learn/dag.h"
#include "graph/learn/local_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A table of categories as cases, in the arena; names [p] of its columns where they are wanted. */
static inline cri_cases_table cases_of_table(cr_scratch *s, const cr_table *t)
{
    size_t          n = cr_table_rows(t), p = cr_table_columns(t);
    uint32_t       *levels = cr_scratch_bytes(s, p, sizeof *levels);
    uint16_t       *code = cr_scratch_bytes(s, n * p, sizeof *code);
    cri_cases_table out;
    assert_non_null(code);
    for (size_t v = 0; v < p; v++) {
        const cr_column *c = cr_table_column(t, v);
        levels[v] = c->type == CR_CATEGORY ? (uint32_t)c->n_levels : 2;
        for (size_t i = 0; i < n; i++)
            code[i * p + v] =
                (uint16_t)(c->type == CR_CATEGORY ? c->codes[i] : c->values[i * c->stride] != 0);
    }
    assert_ok(s->cx, cri_cases_group(s, n, p, levels, code, NULL, NULL, NULL, &out));
    return out;
}

/* The columns of a file, which must be there. */
static inline cr_table *table_of_file(cr_ctx *cx, const char *path)
{
    cr_read_options o;
    cr_table       *t = NULL;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_table_read(cx, path, &o, &t));
    cr_options_free(cx, cr_read_table, &o);
    return t;
}

/* Rows that hang together a little: each variable follows the one before it in 6 of 10 cases. */
static inline void draw_cases(uint64_t seed, size_t n, size_t p, const uint32_t *levels,
                              uint16_t *code)
{
    cr_rng r = cr_rng_stream(seed, 3);
    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < p; v++) {
            bool follows = v > 0 && cr_rng_uniform(&r) < 0.6;
            code[i * p + v] =
                (uint16_t)(follows ? code[i * p + v - 1] % levels[v] : cr_rng_below(&r, levels[v]));
        }
}

#endif
