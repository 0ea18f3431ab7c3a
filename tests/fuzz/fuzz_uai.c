/* fuzz_uai.c -- any bytes give a network or one sentence, within the memory limit, and no leak. */
#include "base/context.h"
#include "graph/exact/bucket.h"
#include "graph/files/uai.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What must hold of every network that was read. */
static void check_network(cr_ctx *cx, const cr_network *net)
{
    double           log_z;
    cr_exact_options o = { .order = CR_ELIMINATE_MIN_FILL, .memory = (size_t)1 << 18, .most = 1e4 };
    if (cr_network_check(cx, net) != CR_OK) abort();
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        for (size_t e = 0; e < t.size; e++)
            if (!(t.value[e] >= 0) || isinf(t.value[e])) abort();
    }
    if (cr_bucket_log_evidence(cx, net, NULL, &o, &log_z, NULL) == CR_OK && isnan(log_z)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cr_ctx     *cx = NULL;
    cr_network *net = NULL;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)1 << 20); /* more makes inputs slow, not new */
    cr_ctx_set_threads(cx, 1);
    cr_status st = cr_uai_parse(cx, "fuzz", bytes, size, &net);
    if (st == CR_OK)
        check_network(cx, net);
    else if (net || cr_error(cx)[0] == '\0')
        abort();
    cr_network_free(cx, net);
    if (cr_ctx_memory(cx) != 0) abort();
    cr_ctx_free(cx);
    return 0;
}
