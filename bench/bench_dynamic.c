/* bench_dynamic.c -- times one way to all marginals of a network with slices and prints one line of JSON.
 *   bench_dynamic slices|unrolled FILE SLICES [THREADS]
 * Half of the variables, those of the slice that come last, are observed at random.  slices: followed one after another,
 * forwards and backwards.  unrolled: as one network, by a junction tree.  "slice": seconds for each slice. */
#include "base/context.h"
#include "base/file.h"
#include "base/rng.h"
#include "graph/exact/interface.h"
#include "graph/exact/junction.h"
#include "graph/files/json_dynamic.h"
#include "graph/network/network_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct bench {
    cr_ctx      *cx;
    cri_dynamic *net;
    size_t       slices;
    uint32_t    *code; /* [slices x n] */
    double       log_e, first;
} bench;

static bool keep_first(void *arg, size_t t, const double *p)
{
    if (t == 0) ((bench *)arg)->first = p[0];
    return true;
}

static cr_status follow(bench *b)
{
    cr_status          st = CR_OK;
    cri_interface     *h = NULL;
    size_t             possible;
    cri_slice_evidence e = { .slices = b->slices, .code = b->code };
    CR_TRY(cri_interface_new(b->cx, b->net, &h));
    CR_TRY(cri_interface_smooth(b->cx, h, &e, 0, b->slices - 1, keep_first, b, NULL, &b->log_e,
                                &possible));
done:
    cri_interface_free(b->cx, h);
    return st;
}

static cr_status unroll(bench *b)
{
    cr_status    st = CR_OK;
    cr_network  *whole = NULL;
    cr_evidence *e = NULL;
    cr_junction *tree = NULL;
    double      *p = NULL;
    CR_TRY(cri_dynamic_unroll(b->cx, b->net, b->slices, &whole));
    CR_TRY(cr_evidence_new(b->cx, whole, &e));
    for (size_t i = 0; i < b->slices * b->net->n; i++)
        if (b->code[i] != CRI_CODE_OPEN) CR_TRY(cr_evidence_observe(b->cx, e, i, b->code[i]));
    p = calloc(cri_states_before(whole, cr_network_size(whole)), sizeof *p);
    CR_TRY(cr_junction_new(b->cx, whole, e, NULL, &tree));
    CR_TRY(cr_junction_set_evidence(b->cx, tree, e));
    CR_TRY(cr_junction_marginals(b->cx, tree, p));
    CR_TRY(cr_junction_log_evidence(b->cx, tree, &b->log_e));
    b->first = p[0];
done:
    free(p);
    cr_junction_free(b->cx, tree);
    cr_evidence_free(b->cx, e);
    cr_network_free(b->cx, whole);
    return st;
}

int main(int argc, char **argv)
{
    bench     b = { 0 };
    cr_status st = CR_OK;
    char     *bytes = NULL;
    size_t    size = 0;
    if (argc < 4 || cr_ctx_new(NULL, &b.cx) != CR_OK) return 2;
    if (argc > 4) cr_ctx_set_threads(b.cx, (size_t)atoi(argv[4]));
    CR_TRY(cri_file_load(b.cx, argv[2], 0, &bytes, &size));
    CR_TRY(cri_json_parse_dynamic(b.cx, argv[2], bytes, size, &b.net));
    b.slices = (size_t)atol(argv[3]);
    b.code = malloc(b.slices * b.net->n * sizeof *b.code);
    if (!b.code) return 2;
    cr_rng r = cr_rng_stream(1, 0);
    for (size_t i = 0; i < b.slices * b.net->n; i++) {
        size_t v = i % b.net->n, states = cr_network_states(b.net->first, v);
        b.code[i] = 2 * v < b.net->n ? CRI_CODE_OPEN : (uint32_t)cr_rng_below(&r, states);
    }
    double start = now();
    CR_TRY(strcmp(argv[1], "slices") == 0 ? follow(&b) : unroll(&b));
    double seconds = now() - start;
    printf("{\"what\":\"%s\",\"slices\":%zu,\"seconds\":%.6f,\"slice\":%.3g,\"log_evidence\":%.12g,"
           "\"first\":%.9g,\"peak\":%zu}\n",
           argv[1], b.slices, seconds, seconds / (double)b.slices, b.log_e, b.first,
           cr_ctx_peak_memory(b.cx));
done:
    if (st != CR_OK) fprintf(stderr, "%s\n", cr_error(b.cx));
    cr_free(b.cx, bytes, size, 1);
    cri_dynamic_free(b.cx, b.net);
    free(b.code);
    cr_ctx_free(b.cx);
    return st == CR_OK ? 0 : 3;
}
