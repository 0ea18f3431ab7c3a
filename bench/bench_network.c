/* bench_network.c -- times one thing about a network and prints one line of JSON.
 *   bench_network load|marginals|list|requery|scratch|memory FILE [THREADS]
 * load: reads the file.  list: the file names networks, one a line; marginals of each, from its
 * file.  marginals: reads it, compiles a junction tree, computes all marginals. requery, scratch:
 * all marginals after one variable of the evidence has changed, with the tree as it is or with a
 * new one; the median of some changes.  memory: the largest number of bytes held at a time while a
 * tree computes all marginals, against what was predicted. */
#include "base/context.h"
#include "graph/exact/junction.h"
#include "graph/files/network_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHANGES = 11 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct bench {
    cr_ctx      *cx, *reader; /* reader: its memory is not counted */
    cr_network  *net;
    cr_junction *tree;
    double      *p; /* all marginals */
    double       log_e, bytes;
} bench;

static cr_status find_marginals(bench *b)
{
    cr_status st = cr_junction_marginals(b->cx, b->tree, b->p);
    if (st == CR_OK) st = cr_junction_log_evidence(b->cx, b->tree, &b->log_e);
    return st;
}

static cr_status read_network(bench *b, const char *path)
{
    size_t    states = 0;
    cr_status st = cr_network_read(b->reader, path, CR_FORMAT_AUTO, &b->net);
    for (size_t v = 0; st == CR_OK && v < cr_network_size(b->net); v++)
        states += cr_network_states(b->net, v);
    b->p = calloc(states + 1, sizeof *b->p);
    return st;
}

/* Sixteen variables are observed; each time one of them takes its other state. */
static cr_status requery(bench *b, bool anew, double *out_seconds)
{
    cr_status    st = CR_OK;
    cr_evidence *e = NULL;
    size_t       n = cr_network_size(b->net);
    double       seconds[CHANGES];
    CR_TRY(cr_evidence_new(b->cx, b->net, &e));
    for (size_t i = 0; i < 16; i++) CR_TRY(cr_evidence_observe(b->cx, e, i * n / 16, 0));
    CR_TRY(cr_junction_new(b->cx, b->net, NULL, NULL, &b->tree));
    CR_TRY(cr_junction_set_evidence(b->cx, b->tree, e));
    CR_TRY(find_marginals(b));
    for (size_t i = 0; i < CHANGES; i++) {
        CR_TRY(cr_evidence_observe(b->cx, e, i * n / 16, 1));
        double start = now();
        if (anew) {
            cr_junction_free(b->cx, b->tree);
            b->tree = NULL;
            CR_TRY(cr_junction_new(b->cx, b->net, e, NULL, &b->tree));
        } else {
            CR_TRY(cr_junction_set_evidence(b->cx, b->tree, e));
        }
        CR_TRY(find_marginals(b));
        seconds[i] = now() - start;
    }
    qsort(seconds, CHANGES, sizeof *seconds, by_size);
    *out_seconds = seconds[CHANGES / 2];
done:
    cr_evidence_free(b->cx, e);
    return st;
}

static void forget(bench *b)
{
    cr_junction_free(b->cx, b->tree);
    cr_network_free(b->reader, b->net);
    free(b->p);
    b->tree = NULL, b->net = NULL, b->p = NULL;
}

/* All marginals of every network that is listed; *out_seconds of all together.  The last one stays.
 */
static cr_status run_list(bench *b, const char *path, double *out_seconds)
{
    cr_status st = CR_OK;
    char      line[4096];
    FILE     *list = fopen(path, "r");
    if (!list) return cr_fail(b->cx, CR_EIO, "cannot open %s", path);
    double start = now();
    while (fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        forget(b);
        CR_TRY(read_network(b, line));
        CR_TRY(cr_junction_new(b->cx, b->net, NULL, NULL, &b->tree));
        CR_TRY(find_marginals(b));
    }
    *out_seconds = now() - start;
done:
    fclose(list);
    return st;
}

int main(int argc, char **argv)
{
    bench     b = { 0 };
    cr_status st = CR_OK;
    if (argc < 3 || cr_ctx_new(NULL, &b.cx) != CR_OK) return 2;
    if (cr_ctx_new(NULL, &b.reader) != CR_OK) return 2;
    if (argc > 3) cr_ctx_set_threads(b.cx, (size_t)atoi(argv[3]));
    double start = now(), seconds;
    size_t peak = 0;
    if (strcmp(argv[1], "list") != 0) CR_TRY(read_network(&b, argv[2]));
    seconds = now() - start;
    if (strcmp(argv[1], "list") == 0) {
        CR_TRY(run_list(&b, argv[2], &seconds));
    } else if (strcmp(argv[1], "marginals") == 0 || strcmp(argv[1], "memory") == 0) {
        CR_TRY(cr_junction_new(b.cx, b.net, NULL, NULL, &b.tree));
        CR_TRY(find_marginals(&b));
        seconds = now() - start;
        peak = cr_ctx_peak_memory(b.cx);
        b.bytes = cr_junction_report(b.tree).bytes;
    } else if (strcmp(argv[1], "load") != 0) {
        CR_TRY(requery(&b, strcmp(argv[1], "scratch") == 0, &seconds));
    }
    printf(
        "{\"what\":\"%s\",\"variables\":%zu,\"seconds\":%.6f,\"log_evidence\":%.9g,\"first\":%.9g,"
        "\"predicted\":%.0f,\"peak\":%zu}\n",
        argv[1], b.net ? cr_network_size(b.net) : 0, seconds, b.log_e, b.p ? b.p[0] : 0, b.bytes,
        peak);
done:
    if (st != CR_OK) fprintf(stderr, "%s%s\n", cr_error(b.reader), cr_error(b.cx));
    forget(&b);
    cr_ctx_free(b.cx);
    cr_ctx_free(b.reader);
    return st == CR_OK ? 0 : 3;
}
