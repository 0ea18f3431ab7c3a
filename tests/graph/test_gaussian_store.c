/* Gaussian networks as model files: every number comes back, and what is damaged is told. */
#include "support.h"

#include "base/rng.h"
#include "graph/files/network_file.h"
#include "graph/files/network_store.h"
#include "data/store/store.h"

#include <string.h>

static cr_gaussian_network *random_gaussian(cr_ctx *cx, uint64_t seed, size_t n)
{
    cr_rng               r = cr_rng_stream(seed, 0);
    cr_gaussian_network *net;
    assert_ok(cx, cr_gaussian_network_new(cx, &net));
    assert_ok(cx, cr_gaussian_network_set_name(cx, net, "w\u00e4rme \"1\""));
    for (size_t v = 0; v < n; v++) {
        size_t parents[16];
        double weights[16];
        char   name[32];
        cr_rng_permutation(&r, v, parents);
        for (size_t i = 0; i < v; i++) weights[i] = cr_rng_normal(&r);
        snprintf(name, sizeof name, "v %zu", v);
        assert_ok(cx, cr_gaussian_network_add(cx, net, name, cr_rng_below(&r, v + 1), parents,
                                              weights, cr_rng_normal(&r) / 3,
                                              v == 2 ? 0 : cr_rng_uniform(&r), NULL));
    }
    return net;
}

static const char *path_of(const char *name, char out[4096])
{
    snprintf(out, 4096, "%s/%s", test_directory(), name);
    return out;
}

static void assert_same(const cr_gaussian_network *a, const cr_gaussian_network *b)
{
    assert_int_equal(cr_gaussian_network_size(a), cr_gaussian_network_size(b));
    assert_string_equal(cr_gaussian_network_name(a), cr_gaussian_network_name(b));
    for (size_t v = 0; v < cr_gaussian_network_size(a); v++) {
        cr_gaussian_node x = cr_gaussian_network_node(a, v), y = cr_gaussian_network_node(b, v);
        assert_string_equal(cr_variable_name(cr_gaussian_network_names(a), v),
                            cr_variable_name(cr_gaussian_network_names(b), v));
        assert_int_equal(x.n, y.n);
        assert_true(x.intercept == y.intercept && x.variance == y.variance);
        for (size_t i = 0; i < x.n; i++)
            assert_true(x.parents[i] == y.parents[i] && x.weights[i] == y.weights[i]);
    }
}

TEST(networks_round_trip)
{
    static const char *const names[] = { "g.cred", "g.json" };
    char                     path[4096];
    for (size_t i = 0; i < 2; i++)
        for (size_t n = 1; n < 10; n += 4) {
            cr_gaussian_network *net = random_gaussian(cx, n, n), *back = NULL;
            cr_network          *other = NULL;
            assert_ok(cx,
                      cr_gaussian_network_write(cx, net, path_of(names[i], path), CR_FORMAT_AUTO));
            assert_ok(cx, cr_network_read_either(cx, path, CR_FORMAT_AUTO, &other, &back));
            assert_null(other);
            assert_same(net, back);
            cr_gaussian_network_free(cx, net);
            cr_gaussian_network_free(cx, back);
        }
}

TEST(what_cannot_be)
{
    cr_gaussian_network *net = random_gaussian(cx, 1, 4), *back = NULL;
    cr_network          *other = NULL;
    char                 path[4096];
    assert_fails_with(cx, cr_gaussian_network_write(cx, net, "g.bif", CR_FORMAT_AUTO), CR_EARG,
                      ".json and .cred");
    assert_fails_with(cx, cr_gaussian_network_write(cx, net, "g.cred.gz", CR_FORMAT_AUTO), CR_EARG,
                      "not compressed again");
    assert_ok(cx, cr_gaussian_network_write(cx, net, path_of("h.cred", path), CR_FORMAT_AUTO));
    assert_fails_with(cx, cr_network_read(cx, path, CR_FORMAT_AUTO, &other), CR_EDATA,
                      "is a Gaussian network");
    for (size_t i = 0; i < 2; i++) { /* a parent that comes later; no name */
        cri_store *store = NULL;
        char      *bytes = NULL;
        size_t     size = 0;
        assert_ok(cx, cri_store_load(cx, path, &store));
        json_t *list =
            json_object_get(json_object_get(cri_store_json(store), "network"), "variables");
        json_t *last = json_array_get(list, 3), *parents = json_object_get(last, "parents");
        if (i == 0) {
            json_t *first = json_array_get(list, 0); /* the same number of parents in all */
            json_object_set(first, "parents", parents);
            json_object_set_new(last, "parents", json_array());
            json_array_clear(json_object_get(first, "parents"));
            json_array_append_new(json_object_get(first, "parents"), json_integer(3));
        } else {
            json_object_del(last, "name");
        }
        assert_ok(cx, cri_store_to_bytes(cx, store, &bytes, &size));
        assert_true(cri_gaussian_from_bytes(cx, "h", bytes, size, &back) == CR_EDATA);
        assert_null(back);
        cr_free(cx, bytes, size, 1);
        cri_store_free(cx, store);
    }
    cr_gaussian_network_free(cx, net);
}

static cr_status save_and_load(cr_ctx *cx, void *net)
{
    char                 path[4096];
    cr_gaussian_network *back = NULL;
    cr_network          *other = NULL;
    cr_status st = cr_gaussian_network_write(cx, net, path_of("a.cred", path), CR_FORMAT_AUTO);
    if (st == CR_OK) st = cr_network_read_either(cx, path, CR_FORMAT_AUTO, &other, &back);
    cr_gaussian_network_free(cx, back);
    return st;
}

TEST(allocations_may_fail)
{
    cr_gaussian_network *net = random_gaussian(cx, 2, 3);
    test_every_allocation_fails(save_and_load, net);
    cr_gaussian_network_free(cx, net);
}
