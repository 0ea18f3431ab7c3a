/* fuzz_json.c -- any bytes give a network or one sentence with its place, within the memory limit,
 * and no leak; what was read can be written and read again.  A Gaussian network is asked, and one with
 * slices is followed over a few of them. */
#include "base/context.h"
#include "graph/exact/bucket.h"
#include "graph/exact/interface.h"
#include "graph/files/json_dynamic.h"
#include "graph/query/gaussian_query.h"
#include "graph/files/json_network.h"
#include "graph/files/log_linear.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What must hold of every network that was read. */
static void check_network(cr_ctx *cx, const cr_network *net)
{
    double           log_z;
    cr_network      *features = NULL;
    cr_exact_options o = { .order = CR_ELIMINATE_MIN_FILL, .memory = (size_t)1 << 18, .most = 1e4 };
    if (cr_network_check(cx, net) != CR_OK) abort();
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        for (size_t e = 0; e < t.size; e++)
            if (!(t.value[e] >= 0) || isinf(t.value[e])) abort();
    }
    if (cr_bucket_log_evidence(cx, net, NULL, &o, &log_z, NULL) == CR_OK && isnan(log_z)) abort();
    if (cr_network_canonical(cx, net, NULL, &features) != CR_OK && cr_error(cx)[0] == '\0') abort();
    cr_network_free(cx, features);
    if (cr_json_write(cx, net, "/dev/null") != CR_OK && cr_error(cx)[0] == '\0') abort();
}

static void check_gaussian(cr_ctx *cx, const cr_gaussian_network *net)
{
    cr_query_answer a = { 0 };
    if (cr_gaussian_network_size(net) > 100) return;
    if (cr_gaussian_query(cx, net, "P(*)", NULL, &a) == CR_OK)
        for (size_t i = 0; i < a.n; i++)
            if (a.covariance[i] < 0) abort();
    cr_query_answer_free(cx, &a);
}

/* Nothing is known of three slices: whatever they are, they are possible. */
static void check_dynamic(cr_ctx *cx, const cri_dynamic *net)
{
    enum { MOST = 100, SLICES = 3 };
    uint32_t           code[MOST * SLICES];
    cri_slice_evidence e = { .slices = SLICES, .code = code };
    cri_interface     *h = NULL;
    size_t             possible = 0;
    if (cr_network_check(cx, net->first) != CR_OK || cr_network_check(cx, net->next) != CR_OK)
        abort();
    if (cri_json_write_dynamic(cx, net, "/dev/null") != CR_OK && cr_error(cx)[0] == '\0') abort();
    if (net->n > MOST) return;
    for (size_t i = 0; i < SLICES * net->n; i++) code[i] = CRI_CODE_OPEN;
    if (cri_interface_new(cx, net, &h) == CR_OK &&
        cri_interface_filter(cx, h, &e, NULL, NULL, NULL, &possible) == CR_OK && possible < SLICES)
        abort();
    cri_interface_free(cx, h);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cr_ctx              *cx = NULL;
    cr_network          *net = NULL;
    cr_gaussian_network *gaussian = NULL;
    cri_dynamic         *dynamic = NULL;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)1 << 20); /* more makes inputs slow, not new */
    cr_ctx_set_threads(cx, 1);
    bool      normal = cr_json_is_gaussian(bytes, size), slices = cri_json_is_dynamic(bytes, size);
    cr_status st = slices   ? cri_json_parse_dynamic(cx, "fuzz", bytes, size, &dynamic)
                   : normal ? cr_json_parse_gaussian(cx, "fuzz", bytes, size, &gaussian)
                            : cr_json_parse(cx, "fuzz", bytes, size, &net);
    if (st != CR_OK && (net || gaussian || dynamic || cr_error(cx)[0] == '\0')) abort();
    if (net) check_network(cx, net);
    if (gaussian) check_gaussian(cx, gaussian);
    if (dynamic) check_dynamic(cx, dynamic);
    cr_network_free(cx, net);
    cr_gaussian_network_free(cx, gaussian);
    cri_dynamic_free(cx, dynamic);
    if (cr_ctx_memory(cx) != 0) abort();
    cr_ctx_free(cx);
    return 0;
}
