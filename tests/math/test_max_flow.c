/* Largest flows against the smallest of all 2^n cuts. */
#include "support.h"

#include "base/rng.h"
#include "math/max_flow.h"

enum { MOST = 10, ARCS = 40 };

typedef struct net {
    size_t n, m, from[ARCS], to[ARCS];
    double there[ARCS], back[ARCS], source[MOST], sink[MOST];
} net;

static double capacity(cr_rng *r)
{
    switch (cr_rng_below(r, 4)) {
    case 0:
        return 0;
    case 1:
        return (double)cr_rng_below(r, 4);
    default:
        return 5 * cr_rng_uniform(r);
    }
}

static net random_net(cr_rng *r)
{
    net x = { .n = 1 + cr_rng_below(r, MOST) };
    x.m = cr_rng_below(r, ARCS + 1);
    for (size_t i = 0; i < x.m; i++) {
        x.from[i] = cr_rng_below(r, x.n);
        x.to[i] = cr_rng_below(r, x.n);
        x.there[i] = capacity(r);
        x.back[i] = capacity(r);
    }
    for (size_t v = 0; v < x.n; v++) x.source[v] = capacity(r), x.sink[v] = capacity(r);
    return x;
}

/* Bit v of `side`: with the source. */
static double cut(const net *x, size_t side)
{
    double sum = 0;
    for (size_t v = 0; v < x->n; v++) sum += side >> v & 1 ? x->sink[v] : x->source[v];
    for (size_t i = 0; i < x->m; i++) {
        bool a = side >> x->from[i] & 1, b = side >> x->to[i] & 1;
        if (a && !b) sum += x->there[i];
        if (b && !a) sum += x->back[i];
    }
    return sum;
}

TEST(flows_are_smallest_cuts)
{
    cr_rng r = cr_rng_stream(31, 1);
    for (size_t round = 0; round < 300; round++) {
        cr_scratch s = cr_scratch_begin(cx);
        net        x = random_net(&r);
        cri_flow  *f = cri_flow_new(&s, x.n, x.m);
        double     flow = -1, least = INFINITY;
        size_t     side = 0;
        assert_non_null(f);
        for (int again = 0; again < 2; again++) { /* a network can be used twice */
            cri_flow_clear(f);
            for (size_t v = 0; v < x.n; v++) cri_flow_terminal(f, v, x.source[v], x.sink[v]);
            for (size_t i = 0; i < x.m; i++)
                cri_flow_arc(f, x.from[i], x.to[i], x.there[i], x.back[i]);
            assert_ok(cx, cri_flow_run(&s, f, &flow));
        }
        for (size_t v = 0; v < x.n; v++) side |= (size_t)cri_flow_reached(f, v) << v;
        for (size_t all = 0; all < (size_t)1 << x.n; all++) least = fmin(least, cut(&x, all));
        assert_close(flow, least, 1e-12);
        assert_close(cut(&x, side), least, 1e-12);
        cr_scratch_end(&s);
    }
}
