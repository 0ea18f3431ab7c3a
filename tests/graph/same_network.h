/* same_network.h -- are two networks the same, bit by bit? */
#ifndef CREDENCE_TEST_SAME_NETWORK_H
#define CREDENCE_TEST_SAME_NETWORK_H

#include "support.h"

#include "graph/network/network.h"

/* With names also the names of variables and states, and of the network. */
static inline void assert_same_network(const cr_network *a, const cr_network *b, bool names)
{
    const cr_variables *x = cr_network_variables(a), *y = cr_network_variables(b);
    assert_int_equal(cr_network_get_kind(a), cr_network_get_kind(b));
    assert_int_equal(cr_network_size(a), cr_network_size(b));
    assert_int_equal(cr_network_tables(a), cr_network_tables(b));
    if (names) assert_string_equal(cr_network_name(a), cr_network_name(b));
    for (size_t v = 0; v < cr_network_size(a); v++) {
        assert_int_equal(cr_network_states(a, v), cr_network_states(b, v));
        if (names) assert_string_equal(cr_variable_name(x, v), cr_variable_name(y, v));
        for (size_t s = 0; names && s < cr_network_states(a, v); s++)
            assert_string_equal(cr_state_name(x, v, s), cr_state_name(y, v, s));
    }
    for (size_t i = 0; i < cr_network_tables(a); i++) {
        cr_table_view p = cr_network_table(a, i), q = cr_network_table(b, i);
        assert_int_equal(p.n, q.n);
        assert_int_equal(p.size, q.size);
        if (p.n) assert_memory_equal(p.scope, q.scope, p.n * sizeof *p.scope);
        assert_memory_equal(p.value, q.value, p.size * sizeof *p.value);
    }
}

static inline void assert_same_properties(const cr_network *a, const cr_network *b)
{
    assert_int_equal(cr_network_properties(a), cr_network_properties(b));
    for (size_t i = 0; i < cr_network_properties(a); i++) {
        size_t u, v;
        assert_string_equal(cr_network_property(a, i, &u), cr_network_property(b, i, &v));
        assert_true(u == v);
    }
}

#endif
