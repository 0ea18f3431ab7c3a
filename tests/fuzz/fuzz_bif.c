/* fuzz_bif.c -- any bytes give a network or one sentence, within the memory limit, and no leak.
 * The first byte N, X or Q chooses NET, XMLBIF or a question. */
#include "base/context.h"
#include "graph/files/bif.h"
#include "graph/files/net.h"
#include "graph/files/network_file.h"
#include "graph/query/query.h"
#include "graph/files/xmlbif.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What must hold of every network that was read. */
static void check_network(cr_ctx *cx, const cr_network *net)
{
    if (cr_network_check(cx, net) != CR_OK) abort();
    for (size_t v = 0; v < cr_network_size(net); v++) {
        cr_table_view t = cr_network_table(net, v);
        size_t        states = cr_network_states(net, v);
        for (size_t row = 0; row < t.size; row += states) {
            double sum = 0;
            for (size_t s = 0; s < states; s++) sum += t.value[row + s];
            if (!(fabs(sum - 1) < 1e-9)) abort();
        }
    }
}

/* The bytes as a question to a network: an answer or a sentence. */
static void ask(cr_ctx *cx, const cr_network *net, const uint8_t *bytes, size_t size)
{
    cr_query_answer a = { 0 };
    char            text[256];
    size_t          n = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, bytes, n);
    text[n] = '\0';
    cr_query_options o = cr_query_defaults();
    o.exact.order = CR_ELIMINATE_MIN_FILL;
    o.exact.memory = (size_t)1 << 20;
    o.exact.most = 1e5;
    cr_status st = cr_query(cx, net, text, NULL, &o, &a);
    if (st != CR_OK && cr_error(cx)[0] == '\0') abort();
    cr_query_answer_free(cx, &a);
}

static const char ASKED[] = "variable a { type discrete [2] { x, y }; }\n"
                            "variable b { type discrete [3] { x, y, z }; }\n"
                            "probability ( a ) { table 0, 1; }\n"
                            "probability ( b | a ) { default 0.5, 0.25, 0.25; }\n";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cr_ctx     *cx = NULL;
    cr_network *net = NULL;
    if (size == 0 || cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)16 << 20);
    cr_ctx_set_threads(cx, 1);
    char      kind = (char)bytes[0];
    cr_status st = CR_EDATA;
    if (kind == 'Q') {
        if (cr_bif_parse(cx, "asked", ASKED, sizeof ASKED - 1, &net) != CR_OK) abort();
        ask(cx, net, bytes + 1, size - 1);
        cr_network_free(cx, net);
        net = NULL;
    } else {
        st = kind == 'N'   ? cr_net_parse(cx, "fuzz", bytes + 1, size - 1, &net)
             : kind == 'X' ? cr_xmlbif_parse(cx, "fuzz", bytes + 1, size - 1, &net)
                           : cr_bif_parse(cx, "fuzz", bytes, size, &net);
        if (st == CR_OK)
            check_network(cx, net);
        else if (net || cr_error(cx)[0] == '\0')
            abort();
    }
    cr_network_free(cx, net);
    if (cr_ctx_memory(cx) != 0) abort();
    cr_ctx_free(cx);
    return 0;
}
