/* Layered drawings: laws that every picture keeps, and crossings counted by comparing all pairs. */
#include "support.h"

#include "base/rng.h"
#include "plot/layered_internal.h"

enum { MOST = 40 };

static const cri_spacing SPACING = { 20, 40, 0.1, 1.5 };

typedef struct graph {
    size_t   n, m;
    cri_box  box[MOST];
    cri_link link[4 * MOST];
} graph;

static graph random_graph(cr_rng *r)
{
    graph g = { .n = cr_rng_below(r, MOST + 1) };
    for (size_t i = 0; i < g.n; i++)
        g.box[i] = (cri_box){ 30 + 100 * cr_rng_uniform(r), 20 + 60 * cr_rng_uniform(r), 0, 0, 0 };
    size_t wanted = g.n < 2 ? 0 : cr_rng_below(r, 2 * g.n);
    for (size_t k = 0; k < wanted; k++) {
        size_t a = cr_rng_below(r, g.n), b = cr_rng_below(r, g.n);
        bool   there = a == b;
        for (size_t i = 0; i < g.m; i++)
            there |= g.link[i].from + g.link[i].to == a + b &&
                     (g.link[i].from == a || g.link[i].to == a);
        if (!there) g.link[g.m++] = (cri_link){ .from = a < b ? a : b, .to = a < b ? b : a };
    }
    return g;
}

static bool apart(const cri_box *a, const cri_box *b)
{
    return fabs(a->x - b->x) >= (a->width + b->width) / 2 + SPACING.across - 1e-6 ||
           fabs(a->y - b->y) >= (a->height + b->height) / 2 + SPACING.across - 1e-6;
}

static void check_link(const graph *g, const cri_link *l)
{
    const cri_box *a = &g->box[l->from], *b = &g->box[l->to];
    assert_true(b->layer > a->layer);
    assert_int_equal(l->n, 2 * (b->layer - a->layer));
    assert_close(l->y[0], a->y + a->height / 2, 1e-9);
    assert_close(l->y[l->n - 1], b->y - b->height / 2, 1e-9);
    assert_true(fabs(l->x[0] - a->x) <= a->width / 2);
    assert_true(fabs(l->x[l->n - 1] - b->x) <= b->width / 2);
    for (size_t k = 1; k < l->n; k++) assert_true(l->y[k] >= l->y[k - 1] - 1e-9);
    for (size_t k = 1; k + 1 < l->n; k += 2) { /* straight through a layer, and through no box */
        assert_close(l->x[k], l->x[k + 1], 1e-9);
        for (size_t i = 0; i < g->n; i++) {
            bool passes = g->box[i].y > l->y[k] && g->box[i].y < l->y[k + 1];
            if (passes) assert_true(fabs(g->box[i].x - l->x[k]) > g->box[i].width / 2);
        }
    }
}

/* The length of all links, in layers, when every box is as high up as it can be. */
static size_t longest_paths(const graph *g)
{
    size_t depth[MOST] = { 0 }, total = 0;
    for (size_t v = 0; v < g->n; v++) /* links go to larger numbers */
        for (size_t i = 0; i < g->m; i++)
            if (g->link[i].from == v && depth[g->link[i].to] <= depth[v])
                depth[g->link[i].to] = depth[v] + 1;
    for (size_t i = 0; i < g->m; i++) total += depth[g->link[i].to] - depth[g->link[i].from];
    return total;
}

TEST(pictures_keep_the_laws)
{
    cr_rng r = cr_rng_stream(7, 1);
    for (size_t round = 0; round < 150; round++) {
        cr_scratch s = cr_scratch_begin(cx);
        graph      g = random_graph(&r);
        double     width, height;
        assert_ok(cx, cri_layered_place(&s, g.n, g.box, g.m, g.link, &SPACING, &width, &height));
        for (size_t i = 0; i < g.n; i++) {
            const cri_box *b = &g.box[i];
            assert_true(b->x - b->width / 2 > -1e-6 && b->x + b->width / 2 < width + 1e-6);
            assert_true(b->y - b->height / 2 > -1e-6 && b->y + b->height / 2 < height + 1e-6);
            for (size_t k = 0; k < i; k++) assert_true(apart(b, &g.box[k]));
        }
        size_t length = 0;
        for (size_t i = 0; i < g.m; i++) {
            check_link(&g, &g.link[i]);
            length += g.box[g.link[i].to].layer - g.box[g.link[i].from].layer;
        }
        assert_true(length <= longest_paths(&g));
        cr_scratch_end(&s);
    }
}

/* Layers of points with random segments between neighbouring ones. */
static cri_layers random_layers(cr_scratch *s, cr_rng *r, size_t layers, size_t each)
{
    size_t     n = layers * each, capacity = (layers - 1) * each * each;
    cri_layers g = { .n = n, .boxes = n, .layers = layers };
    g.size = cr_scratch_index(s, layers);
    g.order = cr_scratch_bytes(s, layers, sizeof *g.order);
    g.layer = cr_scratch_index(s, n);
    g.place = cr_scratch_index(s, n);
    g.width = cr_scratch_f64(s, n);
    g.x = cr_scratch_f64(s, n);
    g.up = (cri_lists){ cr_scratch_bytes(s, n + 1, sizeof(size_t)), cr_scratch_index(s, capacity) };
    g.down =
        (cri_lists){ cr_scratch_bytes(s, n + 1, sizeof(size_t)), cr_scratch_index(s, capacity) };
    bool *joined = cr_scratch_bytes(s, n * n, sizeof *joined);
    for (size_t v = 0; v < n; v++) {
        size_t l = g.layer[v] = v / each;
        if (v % each == 0) g.order[l] = cr_scratch_index(s, each), g.size[l] = each;
        g.place[v] = v % each;
        g.order[l][v % each] = v;
        g.width[v] = 10;
        for (size_t k = 0; l > 0 && k < each; k++)
            joined[((l - 1) * each + k) * n + v] = cr_rng_below(r, 3) == 0;
    }
    for (size_t v = 0; v < n; v++) {
        g.up.begin[v + 1] = g.up.begin[v];
        g.down.begin[v + 1] = g.down.begin[v];
        for (size_t u = 0; u < n; u++) {
            if (joined[u * n + v]) g.up.to[g.up.begin[v + 1]++] = u;
            if (joined[v * n + u]) g.down.to[g.down.begin[v + 1]++] = u;
        }
    }
    return g;
}

static size_t count_by_pairs(const cri_layers *g)
{
    size_t total = 0;
    for (size_t a = 0; a < g->n; a++)
        for (size_t b = 0; b < g->n; b++) {
            if (g->layer[a] != g->layer[b] || g->place[a] >= g->place[b]) continue;
            for (size_t i = g->down.begin[a]; i < g->down.begin[a + 1]; i++)
                for (size_t k = g->down.begin[b]; k < g->down.begin[b + 1]; k++)
                    total += g->place[g->down.to[i]] > g->place[g->down.to[k]];
        }
    return total;
}

TEST(crossings_are_counted_and_become_fewer)
{
    cr_rng r = cr_rng_stream(7, 2);
    size_t before = 0, after = 0;
    for (size_t round = 0; round < 40; round++) {
        cr_scratch s = cr_scratch_begin(cx);
        cri_layers g = random_layers(&s, &r, 2 + cr_rng_below(&r, 4), 1 + cr_rng_below(&r, 9));
        size_t     first, last;
        assert_ok(cx, s.status);
        assert_ok(cx, cri_layers_crossings(&s, &g, &first));
        assert_int_equal(first, count_by_pairs(&g));
        assert_ok(cx, cri_layers_order(&s, &g));
        assert_ok(cx, cri_layers_crossings(&s, &g, &last));
        assert_int_equal(last, count_by_pairs(&g));
        assert_true(last <= first);
        before += first, after += last;
        for (size_t v = 0; v < g.n; v++) assert_int_equal(g.order[g.layer[v]][g.place[v]], v);
        assert_ok(cx, cri_layers_align(&s, &g));
        for (size_t l = 0; l < g.layers; l++)
            for (size_t i = 1; i < g.size[l]; i++)
                assert_true(g.x[g.order[l][i]] - g.x[g.order[l][i - 1]] > 10 - 1e-9);
        cr_scratch_end(&s);
    }
    assert_true(after * 10 < before * 9);
}

/* A tree has a drawing without crossings, and a chain stands in one line. */
TEST(simple_graphs_are_simple)
{
    cr_scratch s = cr_scratch_begin(cx);
    graph      g = { .n = 15, .m = 14 };
    double     width, height;
    for (size_t i = 0; i < 15; i++) g.box[i] = (cri_box){ 40, 30, 0, 0, 0 };
    for (size_t i = 0; i < 14; i++) g.link[i] = (cri_link){ .from = i / 2, .to = i + 1 };
    assert_ok(cx, cri_layered_place(&s, g.n, g.box, g.m, g.link, &SPACING, &width, &height));
    for (size_t i = 0; i < 7; i++) { /* each parent between its children, families side by side */
        double a = g.box[2 * i + 1].x, b = g.box[2 * i + 2].x;
        assert_true((a - g.box[i].x) * (b - g.box[i].x) < 0);
    }
    for (size_t i = 0; i < 6; i++) g.link[i] = (cri_link){ .from = i, .to = i + 1 };
    assert_ok(cx, cri_layered_place(&s, 7, g.box, 6, g.link, &SPACING, &width, &height));
    for (size_t i = 0; i < 7; i++) assert_close(g.box[i].x, 20, 1e-9);
    g.link[6] = (cri_link){ .from = 6, .to = 0 };
    assert_fails_with(cx, cri_layered_place(&s, 7, g.box, 7, g.link, &SPACING, &width, &height),
                      CR_EARG, "cycle");
    assert_ok(cx, cri_layered_place(&s, 0, NULL, 0, NULL, &SPACING, &width, &height));
    assert_close(width, 0, 0);
    cr_scratch_end(&s);
}

/* A source that only feeds the last of a chain stands just above that. */
TEST(links_are_short)
{
    cr_scratch s = cr_scratch_begin(cx);
    graph      g = { .n = 7, .m = 6 };
    double     width, height;
    for (size_t i = 0; i < 7; i++) g.box[i] = (cri_box){ 40, 30, 0, 0, 0 };
    for (size_t i = 0; i < 4; i++) g.link[i] = (cri_link){ .from = i, .to = i + 1 };
    g.link[4] = (cri_link){ .from = 5, .to = 6 }; /* two that must move together */
    g.link[5] = (cri_link){ .from = 6, .to = 4 };
    assert_ok(cx, cri_layered_place(&s, g.n, g.box, g.m, g.link, &SPACING, &width, &height));
    assert_int_equal(g.box[4].layer, 4);
    assert_int_equal(g.box[6].layer, 3);
    assert_int_equal(g.box[5].layer, 2);
    cr_scratch_end(&s);
}

static cr_status place_once(cr_ctx *cx, void *arg)
{
    cr_scratch s = cr_scratch_begin(cx);
    cr_rng     r = cr_rng_stream(7, 3);
    graph      g = random_graph(&r);
    double     width, height;
    (void)arg;
    cr_status st = cri_layered_place(&s, g.n, g.box, g.m, g.link, &SPACING, &width, &height);
    cr_scratch_end(&s);
    return st;
}

TEST(memory_may_be_short) { test_every_allocation_fails(place_once, NULL); }
