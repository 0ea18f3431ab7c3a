/* Questions to networks: the reference answers, definitions, and what is wrong with a question. */
#include "support.h"

#include "graph/exact/enumerate.h"
#include "graph/files/network_file.h"
#include "graph/query/query.h"
#include "random_network.h"

#include <jansson.h>

/* --- the reference answers ------------------------------------------------------------------- */

/* Adds `x=a` for each member to the text; quotes are never wrong. */
static size_t put_states(char *out, size_t used, size_t capacity, const json_t *states, bool *first)
{
    const char *key;
    json_t     *value;
    json_object_foreach((json_t *)(uintptr_t)states, key, value)
    {
        used += (size_t)snprintf(out + used, capacity - used, "%s\"%s\"=\"%s\"", *first ? "" : ", ",
                                 key, json_string_value(value));
        *first = false;
    }
    return used;
}

static size_t put_likelihoods(char *out, size_t used, size_t capacity, const json_t *all,
                              bool *first)
{
    const char *key, *state;
    json_t     *value, *number;
    json_object_foreach((json_t *)(uintptr_t)all, key, value)
    {
        bool one = true;
        used += (size_t)snprintf(out + used, capacity - used, "%s%s ~ {", *first ? "" : ", ", key);
        json_object_foreach(value, state, number)
        {
            used += (size_t)snprintf(out + used, capacity - used, "%s'%s': %.17g", one ? "" : ", ",
                                     state, json_number_value(number));
            one = false;
        }
        used += (size_t)snprintf(out + used, capacity - used, "}");
        *first = false;
    }
    return used;
}

/* " | e" of a case: observed, virtual, do. */
static size_t put_known(char *out, size_t used, size_t capacity, const json_t *one)
{
    const json_t *action = json_object_get(one, "do");
    bool          first = true, inside = true;
    used += (size_t)snprintf(out + used, capacity - used, " | ");
    size_t begin = used;
    used = put_states(out, used, capacity, json_object_get(one, "evidence"), &first);
    used = put_likelihoods(out, used, capacity, json_object_get(one, "virtual_evidence"), &first);
    if (json_object_size(action)) {
        used += (size_t)snprintf(out + used, capacity - used, "%sdo(", first ? "" : ", ");
        used = put_states(out, used, capacity, action, &inside);
        used += (size_t)snprintf(out + used, capacity - used, ")");
    }
    if (used == begin) used -= 3;
    out[used] = '\0';
    return used;
}

static void check_marginals(cr_ctx *cx, const cr_network *net, const json_t *one,
                            cr_query_method method)
{
    const cr_variables *vs = cr_network_variables(net);
    cr_query_options    o = cr_query_defaults();
    cr_query_answer     a = { 0 };
    char                text[4096];
    const char         *name, *state;
    json_t             *p, *number;
    size_t              checked = 0, at = 0;
    size_t              used = (size_t)snprintf(text, sizeof text, "P(*");
    used = put_known(text, used, sizeof text, one);
    snprintf(text + used, sizeof text - used, ")");
    o.method = method;
    assert_ok(cx, cr_query(cx, net, text, NULL, &o, &a));
    assert_true(a.exact);
    if (json_object_get(one, "log_evidence"))
        assert_close(a.log_evidence, json_number_value(json_object_get(one, "log_evidence")), 1e-9);
    for (size_t i = 0; i < a.n; i++) {
        p = json_object_get(json_object_get(one, "marginals"), cr_variable_name(vs, a.variable[i]));
        size_t n = cr_network_states(net, a.variable[i]);
        json_object_foreach(p, state, number)
        {
            size_t s = cr_state_lookup(vs, a.variable[i], state);
            assert_true(s != CR_NONE);
            assert_close(a.value[at + s], json_number_value(number), 1e-9);
            checked++;
        }
        at += n;
    }
    json_object_foreach(json_object_get(one, "marginals"), name, p) assert_true(checked > 0);
    assert_int_equal(at, a.values);
    cr_query_answer_free(cx, &a);
}

static void check_best(cr_ctx *cx, const cr_network *net, const json_t *one)
{
    cr_query_answer a = { 0 };
    char            text[4096];
    size_t          used = (size_t)snprintf(text, sizeof text, "argmax(*");
    used = put_known(text, used, sizeof text, one);
    snprintf(text + used, sizeof text - used, ")");
    assert_ok(cx, cr_query(cx, net, text, NULL, NULL, &a));
    assert_close(a.log_joint, json_number_value(json_object_get(one, "mpe_logprob")), 1e-9);
    cr_query_answer_free(cx, &a);
}

/* The names of an array with commas between. */
static size_t put_names(char *out, size_t used, size_t capacity, const json_t *list)
{
    size_t  i;
    json_t *name;
    json_array_foreach((json_t *)(uintptr_t)list, i, name) used += (size_t)snprintf(
        out + used, capacity - used, "%s%s", i ? ", " : "", json_string_value(name));
    return used;
}

static void check_joint(cr_ctx *cx, const cr_network *net, const json_t *one)
{
    cr_query_answer a = { 0 };
    char            text[4096];
    json_t         *table = json_object_get(one, "table");
    size_t          used = (size_t)snprintf(text, sizeof text, "P("), state[128] = { 0 };
    used = put_names(text, used, sizeof text, json_object_get(one, "variables"));
    used = put_known(text, used, sizeof text, one);
    snprintf(text + used, sizeof text - used, ")");
    assert_ok(cx, cr_query(cx, net, text, NULL, NULL, &a));
    assert_int_equal(a.table.size, json_array_size(table));
    for (size_t e = 0; e < a.table.size; e++) { /* the order of the question, last fastest */
        size_t rest = e;
        for (size_t k = a.n; k-- > 0;) {
            size_t n = cr_network_states(net, a.variable[k]);
            state[a.variable[k]] = rest % n;
            rest /= n;
        }
        assert_close(a.table.value[cr_factor_index(&a.table, state)],
                     json_number_value(json_array_get(table, e)), 1e-9);
    }
    cr_query_answer_free(cx, &a);
}

static void check_map(cr_ctx *cx, const cr_network *net, const json_t *one)
{
    const cr_variables *vs = cr_network_variables(net);
    cr_query_answer     a = { 0 };
    char                text[4096];
    size_t              used = (size_t)snprintf(text, sizeof text, "argmax(");
    used = put_names(text, used, sizeof text, json_object_get(one, "map_variables"));
    used = put_known(text, used, sizeof text, one);
    snprintf(text + used, sizeof text - used, ")");
    assert_ok(cx, cr_query(cx, net, text, NULL, NULL, &a));
    assert_close(a.log_joint,
                 json_number_value(json_object_get(one, "log_prob_joint_with_evidence")), 1e-9);
    assert_close(a.log_evidence, json_number_value(json_object_get(one, "log_evidence")), 1e-9);
    for (size_t i = 0; i < a.n && json_is_true(json_object_get(one, "unique")); i++)
        assert_string_equal(
            cr_state_name(vs, a.variable[i], a.states[i]),
            json_string_value(json_object_get(json_object_get(one, "assignment"),
                                              cr_variable_name(vs, a.variable[i]))));
    cr_query_answer_free(cx, &a);
}

static void check_separation(cr_ctx *cx, const cr_network *net, const json_t *one)
{
    cr_query_answer a = { 0 };
    char            text[4096];
    json_t         *z = json_object_get(one, "z");
    size_t          used = (size_t)snprintf(
                 text, sizeof text, "%s _|_ %s%s", json_string_value(json_object_get(one, "x")),
                 json_string_value(json_object_get(one, "y")), json_array_size(z) ? " | " : "");
    put_names(text, used, sizeof text, z);
    assert_ok(cx, cr_query(cx, net, text, NULL, NULL, &a));
    assert_int_equal(a.holds, json_is_true(json_object_get(one, "d_separated")));
    assert_true(a.holds || a.n > 1); /* the trail */
    cr_query_answer_free(cx, &a);
}

static const char *const NAMES[] = { "asia",  "cancer", "earthquake", "sachs",      "survey",
                                     "alarm", "child",  "insurance",  "hailfinder", "win95pts" };

static json_t *load_reference(const char *name)
{
    json_error_t error;
    const char  *path = test_data(name);
    json_t      *all = json_load_file(path, 0, &error);
    assert_non_null(all);
    return all;
}

static cr_network *read_network(cr_ctx *cx, const char *name)
{
    char        path[64];
    cr_network *net = NULL;
    snprintf(path, sizeof path, "bn/%s.bif", name);
    assert_ok(cx, cr_network_read(cx, test_data(path), CR_FORMAT_AUTO, &net));
    return net;
}

TEST(reference_answers)
{
    json_t *all = load_reference("bn/reference.json"), *one;
    for (size_t i = 0; i < 10; i++) {
        cr_network *net = read_network(cx, NAMES[i]);
        size_t      k;
        json_array_foreach(json_object_get(all, NAMES[i]), k, one)
        {
            check_marginals(cx, net, one, CR_QUERY_AUTO);
            if (k == 3) check_marginals(cx, net, one, CR_QUERY_VE);
            check_best(cx, net, one);
            if (cr_network_size(net) <= 11) check_marginals(cx, net, one, CR_QUERY_ENUMERATE);
        }
        cr_network_free(cx, net);
    }
    json_decref(all);
}

TEST(more_reference_answers)
{
    json_t *all = load_reference("bn/reference_extra.json"), *one;
    for (size_t i = 0; i < 10; i++) {
        cr_network *net = read_network(cx, NAMES[i]);
        json_t     *kinds = json_object_get(all, NAMES[i]);
        size_t      k;
        json_array_foreach(json_object_get(kinds, "rare_evidence"), k, one)
            check_marginals(cx, net, one, CR_QUERY_AUTO);
        json_array_foreach(json_object_get(kinds, "virtual_evidence"), k, one)
            check_marginals(cx, net, one, CR_QUERY_AUTO);
        json_array_foreach(json_object_get(kinds, "do"), k, one)
            check_marginals(cx, net, one, CR_QUERY_AUTO);
        json_array_foreach(json_object_get(kinds, "joint"), k, one) check_joint(cx, net, one);
        json_array_foreach(json_object_get(kinds, "marginal_map"), k, one) check_map(cx, net, one);
        json_array_foreach(json_object_get(kinds, "d_separation"), k, one)
            check_separation(cx, net, one);
        cr_network_free(cx, net);
    }
    json_decref(all);
}

/* --- small networks, by definition ----------------------------------------------------------- */

/* Pearl's alarm: burglary and earthquake set it off, John and Mary call. */
static const char BURGLARY[] =
    "network burglary { }\n"
    "variable burglary { type discrete [2] { yes, no }; }\n"
    "variable earthquake { type discrete [2] { yes, no }; }\n"
    "variable alarm { type discrete [2] { on, off }; }\n"
    "variable \"John calls\" { type discrete [2] { yes, no }; }\n"
    "variable mary { type discrete [2] { yes, no }; }\n"
    "variable never { type discrete [2] { on, off }; }\n"
    "probability ( burglary ) { table 0.001, 0.999; }\n"
    "probability ( earthquake ) { table 0.002, 0.998; }\n"
    "probability ( alarm | burglary, earthquake ) { (yes, yes) 0.95, 0.05; (yes, no) 0.94, 0.06;"
    " (no, yes) 0.29, 0.71; (no, no) 0.001, 0.999; }\n"
    "probability ( \"John calls\" | alarm ) { (on) 0.9, 0.1; (off) 0.05, 0.95; }\n"
    "probability ( mary | alarm ) { (on) 0.7, 0.3; (off) 0.01, 0.99; }\n"
    "probability ( never ) { table 0, 1; }\n";

static cr_network *burglary(cr_ctx *cx)
{
    cr_network *net = NULL;
    assert_ok(cx,
              cr_network_parse(cx, "b.bif", BURGLARY, sizeof BURGLARY - 1, CR_FORMAT_BIF, &net));
    return net;
}

static cr_query_answer ask(cr_ctx *cx, const cr_network *net, const char *text)
{
    cr_query_answer a = { 0 };
    assert_ok(cx, cr_query(cx, net, text, NULL, NULL, &a));
    return a;
}

/* The number that a question has for an answer; the first probability of a table. */
static double number(cr_ctx *cx, const cr_network *net, const char *text)
{
    cr_query_answer a = ask(cx, net, text);
    double          x = a.kind == CR_QUESTION_TABLE ? a.table.value[0] : a.number;
    cr_query_answer_free(cx, &a);
    return x;
}

TEST(the_burglary)
{
    cr_network *net = burglary(cx);
    /* Russell & Norvig (2020), Artificial intelligence, 13.3: <0.284, 0.716> */
    assert_close(number(cx, net, "P(burglary | 'John calls'=yes, mary=yes)"), 0.284171835364393,
                 1e-12);
    assert_close(number(cx, net, "P(burglary=yes | \"John calls\" = yes, mary == yes)"),
                 0.284171835364393, 1e-12);
    assert_close(number(cx, net, "P(burglary!=no|'John calls' in {yes}, mary in{yes})"),
                 0.284171835364393, 1e-12);
    assert_close(number(cx, net, "P( burglary in {yes, no} | mary=yes)"), 1, 1e-15);
    assert_close(number(cx, net, "P(alarm=on | do(burglary=yes))"), 0.94 * 0.998 + 0.95 * 0.002,
                 1e-12);
    assert_close(number(cx, net, "P(burglary=yes | do(alarm=on))"), 0.001, 1e-14);
    assert_close(number(cx, net, "P(never=on)"), 0, 0);
    assert_close(number(cx, net, "P(never=on | mary=yes)"), 0, 0);
    /* virtual: only ratios matter */
    assert_close(number(cx, net, "P(burglary=yes | mary~{yes:3, no:1.5})"),
                 number(cx, net, "P(burglary=yes | mary~{no:1, yes:2})"), 1e-14);
    cr_network_free(cx, net);
}

/* max over all assignments x of q(x_v) P(x) / P(x_v), from the table of all variables. */
static double best_by_jeffrey(cr_ctx *cx, const cr_network *net, const char *name, const double *q)
{
    cr_factor all = { 0 };
    size_t    n = cr_network_size(net), scope[16], v;
    double    p[8] = { 0 }, best = 0;
    assert_true(n <= 16);
    for (size_t i = 0; i < n; i++) scope[i] = i;
    v = cr_variable_lookup(cr_network_variables(net), name);
    assert_ok(cx, cr_enumerate_query(cx, net, NULL, n, scope, 0, &all, NULL));
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t e = 0; e < all.size; e++) {
            size_t x = e / all.stride[v] % cr_network_states(net, v);
            if (pass == 0) p[x] += all.value[e];
            if (pass == 1) best = fmax(best, q[x] * all.value[e] / p[x]);
        }
    cr_factor_free(cx, &all);
    return best;
}

/* Jeffrey's rule: P'(z) = sum_a q(a) P(z | x=a, e). */
TEST(soft_evidence)
{
    cr_network *net = burglary(cx);
    double      yes = number(cx, net, "P(burglary=yes | alarm=on, mary=yes)");
    double      no = number(cx, net, "P(burglary=yes | alarm=off, mary=yes)");
    assert_close(number(cx, net, "P(burglary=yes | mary=yes, alarm:={on:0.7, off:0.3})"),
                 0.7 * yes + 0.3 * no, 1e-13);
    assert_close(number(cx, net, "P(alarm | mary=yes, alarm:={on:0.7, off:0.3})"), 0.7, 1e-14);
    assert_close(number(cx, net, "P(alarm=off | mary=yes, alarm:={on:1})"), 0, 0);
    /* two of them: both hold; and it is not virtual evidence */
    const char     *both = "P(* | alarm:={on:.7, off:.3}, mary:={yes:0.2, no:0.8})";
    cr_query_answer a = ask(cx, net, both);
    assert_close(a.value[4], 0.7, 1e-12);
    assert_close(a.value[8], 0.2, 1e-12);
    assert_true(a.sweeps > 1);
    assert_close(a.log_evidence, 0, 1e-15);
    cr_query_answer_free(cx, &a);
    assert_true(fabs(number(cx, net, "P(alarm=on | alarm~{on:0.7, off:0.3})") - 0.7) > 0.1);
    a = ask(cx, net, "argmax(* | alarm:={on:0.7, off:0.3})");
    assert_close(a.number, best_by_jeffrey(cx, net, "alarm", (double[]){ 0.7, 0.3 }), 1e-12);
    assert_close(a.log_number, log(a.number), 1e-12);
    cr_query_answer_free(cx, &a);
    cr_query_answer bad = { 0 };
    assert_fails_with(cx, cr_query(cx, net, "P(mary | never:={on:0.5, off:0.5})", NULL, NULL, &bad),
                      CR_EDATA, "never=on should have probability 0.5, but it is impossible");
    cr_network_free(cx, net);
}

TEST(impossible_evidence)
{
    static const char *const QUESTIONS[] = {
        "P(mary | burglary=yes, never=on, earthquake=no)",
        "P(* | burglary=yes, never=on, earthquake=no)",
        "P(mary=yes | burglary=yes, never=on, earthquake=no)",
        "argmax(* | burglary=yes, never=on, earthquake=no)",
        "argmax(mary | burglary=yes, never=on, earthquake=no)",
        "H(mary | burglary=yes, never=on, earthquake=no)",
        "I(mary; alarm | burglary=yes, never=on, earthquake=no)",
        "I(mary; * | burglary=yes, never=on, earthquake=no)",
        "P(mary | burglary=yes, never=on, earthquake:={no:1})",
    };
    cr_network *net = burglary(cx);
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++) {
        cr_query_answer a = { 0 };
        assert_fails_with(cx, cr_query(cx, net, QUESTIONS[i], NULL, NULL, &a), CR_EDATA,
                          "the evidence is impossible: its probability is 0");
        assert_non_null(strstr(cr_error_notes(cx), "never=on is impossible"));
    }
    cr_network_free(cx, net);
}

TEST(information)
{
    cr_network *net = burglary(cx);
    double      p = number(cx, net, "P(alarm=on)");
    assert_close(number(cx, net, "H(alarm)"), -p * log(p) - (1 - p) * log(1 - p), 1e-13);
    assert_close(number(cx, net, "H(never)"), 0, 0);
    double on = number(cx, net, "H(mary | alarm=on)"), off = number(cx, net, "H(mary | alarm=off)");
    assert_close(number(cx, net, "H(mary | alarm)"), p * on + (1 - p) * off, 1e-13);
    assert_close(number(cx, net, "I(mary; alarm)"),
                 number(cx, net, "H(mary)") - number(cx, net, "H(mary | alarm)"), 1e-13);
    assert_close(number(cx, net, "I(mary; 'John calls' | alarm)"), 0, 1e-13);
    assert_close(number(cx, net, "I(burglary; earthquake)"), 0, 1e-13);
    assert_true(number(cx, net, "I(burglary; earthquake | alarm=on)") > 1e-3);
    assert_close(number(cx, net, "I(mary, 'John calls'; burglary)"),
                 number(cx, net, "I(mary; burglary)") +
                     number(cx, net, "I('John calls'; burglary | mary)"),
                 1e-13);
    /* what to look at next */
    cr_query_answer a = ask(cx, net, "I(burglary; * | mary=yes)");
    assert_int_equal(a.n, 4);
    assert_int_equal(a.variable[0], 2);
    assert_int_equal(a.variable[3], 5);
    assert_close(a.value[0], number(cx, net, "I(burglary; alarm | mary=yes)"), 1e-13);
    for (size_t i = 1; i < a.n; i++) assert_true(a.value[i] <= a.value[i - 1]);
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, net);
}

/* Two ways to write the same. */
TEST(aliases)
{
    cr_network *net = burglary(cx);
    assert_close(number(cx, net, "P(burglary=yes | alarm!={off})"),
                 number(cx, net, "P(burglary=yes | alarm=on)"), 1e-15);
    assert_close(number(cx, net, "P(burglary=yes | alarm != { off })"),
                 number(cx, net, "P(burglary=yes | alarm in {on})"), 1e-15);
    static const char *const SIGNS[] = { "burglary _||_ earthquake",
                                         "burglary \xE2\x8A\xA5 earthquake",
                                         "burglary\xE2\x8A\xA5\xE2\x8A\xA5"
                                         "earthquake" };
    for (size_t i = 0; i < 3; i++) {
        cr_query_answer a = ask(cx, net, SIGNS[i]);
        assert_true(a.holds);
        cr_query_answer_free(cx, &a);
    }
    cr_network_free(cx, net);
}

/* x and a copy of it cannot have different probabilities; an exact method says so. */
TEST(contradictory_soft_evidence)
{
    static const char text[] = "variable x { type discrete [2] { a, b }; }\n"
                               "variable y { type discrete [2] { a, b }; }\n"
                               "probability ( x ) { table 0.5, 0.5; }\n"
                               "probability ( y | x ) { (a) 1, 0; (b) 0, 1; }\n";
    cr_network       *net = NULL;
    cr_query_answer   a = { 0 };
    assert_ok(cx, cr_network_parse(cx, "c", text, strlen(text), CR_FORMAT_BIF, &net));
    assert_fails_with(
        cx, cr_query(cx, net, "P(x | x:={a:0.3, b:0.7}, y:={a:0.5, b:0.5})", NULL, NULL, &a),
        CR_EDATA, "the soft evidence on x, y is contradictory");
    assert_fails_with(cx, cr_query(cx, net, "P(x | x=a, y:={a:0.5, b:0.5})", NULL, NULL, &a),
                      CR_EDATA,
                      "y=b should have probability 0.5, but it is impossible with the rest");
    assert_close(number(cx, net, "P(x=a | x:={a:0.3, b:0.7}, y:={a:0.3, b:0.7})"), 0.3, 1e-12);
    cr_network_free(cx, net);
}

TEST(separation)
{
    cr_network     *net = burglary(cx);
    cr_query_answer a = ask(cx, net, "burglary _|_ mary");
    assert_false(a.holds);
    assert_int_equal(a.n, 3);
    assert_true(a.variable[0] == 0 && a.variable[1] == 2 && a.variable[2] == 4);
    assert_string_equal(a.method, "graph");
    cr_query_answer_free(cx, &a);
    a = ask(cx, net, "burglary,earthquake_|_mary , 'John calls'|alarm");
    assert_true(a.holds);
    cr_query_answer_free(cx, &a);
    a = ask(cx, net, "burglary _|_ earthquake | mary");
    assert_false(a.holds);
    cr_query_answer_free(cx, &a);
    a = ask(cx, net, "burglary _|_ mary | do(alarm=on)");
    assert_true(a.holds);
    cr_query_answer_free(cx, &a);
    a = ask(cx, net, "burglary _|_ earthquake | do(alarm=on)"); /* a cut node opens no trail */
    assert_true(a.holds);
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, net);
}

/* All methods, on random networks with evidence of all kinds. */
TEST(methods_agree)
{
    cr_rng r = cr_rng_stream(11, 0);
    for (size_t i = 0; i < 30; i++) {
        cr_network_kind kind = i % 3 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV;
        cr_network     *net = random_network(cx, &r, kind, 2 + i % 6);
        cr_query_answer a[3] = { { 0 } }, b[3] = { { 0 } };
        cr_status       st[3];
        cr_findings     known = { 0 };
        double          log_e = 0;
        cr_evidence    *e = random_evidence(cx, &r, net);
        for (size_t v = 0; v < cr_network_size(net); v++)
            if (cr_evidence_likelihood(e, v))
                assert_ok(cx, cr_findings_add(cx, &known, net, CR_FINDING_VIRTUAL, v,
                                              cr_evidence_likelihood(e, v)));
        assert_ok(cx, cr_enumerate_query(cx, net, e, 0, NULL, 0, NULL, &log_e));
        for (int m = 0; m < 3; m++) {
            cr_query_options o = cr_query_defaults();
            o.method = (cr_query_method)(CR_QUERY_VE + m);
            st[m] = cr_query(cx, net, "P(*)", &known, &o, &a[m]);
            assert_int_equal(st[m], log_e == -INFINITY ? CR_EDATA : CR_OK);
            if (st[m] != CR_OK) continue;
            assert_close(a[m].log_evidence, log_e, 1e-11);
            assert_ok(cx, cr_query(cx, net, "P(v1, v0)", &known, &o, &b[m]));
            for (size_t k = 0; k < a[m].values; k++)
                assert_close(a[m].value[k], a[0].value[k], 1e-11);
            for (size_t k = 0; k < b[m].table.size; k++)
                assert_close(b[m].table.value[k], b[0].table.value[k], 1e-11);
            assert_int_equal(b[m].variable[0], 1);
        }
        for (int m = 0; m < 3; m++)
            cr_query_answer_free(cx, &a[m]), cr_query_answer_free(cx, &b[m]);
        cr_evidence_free(cx, e);
        cr_findings_free(cx, &known);
        cr_network_free(cx, net);
    }
}

/* A Markov network: probabilities are ratios of sums. */
TEST(markov_networks)
{
    const char  text[] = "MARKOV 2 2 2 1 2 0 1 4 1 2 3 4";
    cr_network *net = NULL;
    assert_ok(cx, cr_network_parse(cx, "x.uai", text, strlen(text), CR_FORMAT_AUTO, &net));
    assert_close(number(cx, net, "P(x0=1)"), 0.7, 1e-15);
    assert_close(number(cx, net, "P(x0=1 | x1=0)"), 0.75, 1e-15);
    cr_query_answer a = ask(cx, net, "argmax(*)");
    assert_close(a.log_joint, log(4), 1e-15);
    assert_close(a.number, 0.4, 1e-15);
    assert_close(a.log_evidence, log(10), 1e-15);
    cr_query_answer_free(cx, &a);
    assert_fails_with(cx, cr_query(cx, net, "P(x0 | do(x1=0))", NULL, NULL, &a), CR_EARG,
                      "do() needs a Bayesian network");
    cr_network_free(cx, net);
}

/* --- mistakes -------------------------------------------------------------------------------- */

TEST(mistakes_are_shown)
{
    static const struct {
        const char *text, *message, *caret;
    } QUESTIONS[] = {
        { " ", "the question is empty", " ^" },
        { "P(", "a variable is expected here", "  ^" },
        { "P()", "a variable is expected here", "  ^" },
        { "P(mary", "expected ')' at the end of the question", "      ^" },
        { "P(mary) x", "the question ends before this", "        ^" },
        { "P(marry)", "there is no variable 'marry'", "  ^~~~~" },
        { "P(mary | alarm=onn)", "'alarm' has no state 'onn'", "               ^~~" },
        { "P(mary | alarm=)", "a state is expected here", "               ^" },
        { "P(mary | alarm)", "what is the evidence on 'alarm'?", "         ^~~~~" },
        { "P(mary | alarm=on, alarm=off)", "there is already evidence on 'alarm'",
          "                   ^~~~~~~~~" },
        { "P(mary | alarm=on, do(alarm=off))", "there is already evidence on 'alarm'",
          "                      ^~~~~~~~~" },
        { "P(mary, mary)", "'mary' occurs here twice", "        ^~~~" },
        { "P(mary=yes, mary=yes)", "'mary' occurs here twice", "            ^~~~~~~~" },
        { "P(mary, alarm=on)", "P() takes either variables or states", "        ^~~~~~~~" },
        { "P(mary~{yes:1,no:2})", "this is evidence", "  ^" },
        { "P(mary | alarm in on)", "expected '{' before the states", "                  ^" },
        { "P(mary | alarm in {on)", "expected '}' after the states", "                     ^" },
        { "P(mary | alarm in {on, of})", "no state 'of'", "                       ^~" },
        { "P(mary | alarm~{on:1})", "the likelihood of state 'off' is missing",
          "                    ^" },
        { "P(mary | alarm~{on:1, on:2})", "'on' occurs here twice", "                      ^~" },
        { "P(mary | alarm~{on:x, off:1})", "a number is expected here", "                   ^" },
        { "P(mary | alarm~{on:-1, off:1})", "-1 is not a valid weight", "         ^" },
        { "P(mary | alarm~{on:0, off:0})", "excludes all its states", "         ^" },
        { "P(mary | alarm:={on:0.5, off:0.4})", "sums to 0.9, expected 1", "         ^" },
        { "P(mary | do(alarm))", "do() needs a variable and the state", "            ^~~~~" },
        { "P(mary | do(alarm!=on))", "do() needs a variable and the state", "            ^" },
        { "P(mary | 'alarm)", "this quote has no end", "         ^" },
        { "Q(mary)", "there is no question 'Q'", "^" },
        { "mary alarm", "expected _|_ here", "     ^" },
        { "mary _|_ mary", "'mary' occurs on both sides", "^" },
        { "mary _|_ alarm | burglary=yes", "separation is given variables",
          "                 ^~~~~~~~~~~~" },
        { "mary", "a variable alone is not a question", "^~~~" },
        { "P mary", "expected '(' after P", "  ^" },
        { "p(mary)", "there is no question 'p'", "^" },
        { "P(*, mary)", "* must stand alone", "  ^" },
        { "P(mary, *)", "* must stand alone", "        ^" },
        { "P(mary | *)", "* must stand alone", "         ^" },
        { "H(*)", "* must stand alone", "  ^" },
        { "I(mary; *, alarm)", "* must stand alone", "        ^" },
        { "argmax(mary=yes)", "without states", "       ^~~~~~~~" },
        { "I(mary; alarm~{on:1, off:2})", "without states", "        ^~~~~" },
        { "sensitivity(3, mary=yes)", "expected ';' after the number", "             ^" },
        { "P(do(alarm=on))", "put it after the bar", "  ^~" },
        { "P(mary && alarm)", "expected ',', '|' or ')' here", "       ^" },
        { "P(mary | alarm=on; never=a)", "expected ',' or ')' here", "                 ^" },
        { "P(mary | alarm=on and x)", "expected ',' or ')' here", "                  ^" },
        { "P(mary | alarm!={on,off})", "excludes all its states", "         ^~~~~~~~" },
        { "P(mary | alarm~on)", "expected '{' before the states", "               ^" },
        { "I(mary, alarm)", "expected ';' between the two sides", "             ^" },
        { "I(mary; alarm | mary)", "'mary' occurs on both sides", "^" },
        { "H()", "a variable is expected here", "  ^" },
        { "argmax(mary | alarm=on", "expected ')'", "                      ^" },
    };
    cr_network *net = burglary(cx);
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++) {
        cr_query_answer a = { 0 };
        cr_status       st = cr_query(cx, net, QUESTIONS[i].text, NULL, NULL, &a);
        const char     *caret = strchr(cr_error_notes(cx), '\n');
        if (st != CR_EARG || !strstr(cr_error(cx), QUESTIONS[i].message) || !caret ||
            strncmp(caret + 1, QUESTIONS[i].caret, strlen(QUESTIONS[i].caret)) != 0)
            fail_msg("%s: %s\n%s", QUESTIONS[i].text, cr_error(cx), cr_error_notes(cx));
    }
    cr_query_answer a = { 0 };
    cr_status       st = cr_query(cx, net, "P(marry)", NULL, NULL, &a);
    assert_int_equal(st, CR_EARG);
    assert_string_equal(cr_error_nearest(cx), "mary");
    assert_int_equal(cr_query(cx, net, "P(mary | alarm in {on, of})", NULL, NULL, &a), CR_EARG);
    assert_string_equal(cr_error_nearest(cx), "off");
    assert_int_equal(cr_query(cx, net, "causes(*)", NULL, NULL, &a), CR_EARG);
    assert_int_equal(cr_query(cx, net, "P(mary | alarm:=on)", NULL, NULL, &a), CR_EARG);
    assert_non_null(strstr(cr_error_hint(cx), "alarm:={on:0.5, off:0.5}"));
    assert_int_equal(cr_query(cx, net, "MPE(*)", NULL, NULL, &a), CR_EARG);
    assert_non_null(strstr(cr_error_hint(cx), "argmax(...)"));
    cr_network_free(cx, net);
}

TEST(evidence_from_files)
{
    static const struct {
        const char *text, *message;
    } BAD[] = {
        { "{", "not JSON" },
        { "[]", "expected an object" },
        { "{\"marry\": \"yes\"}", "there is no variable 'marry'" },
        { "{\"mary\": \"yse\"}", "'mary' has no state 'yse'" },
        { "{\"mary\": 1}", "'mary' has no state '1'" },
        { "{\"mary\": true}", "'mary' has no state 'true'" },
        { "{\"mary\": 1.5}", "should have a state, a list of states, likelihoods by" },
        { "{\"mary\": {\"soft\": {\"yes\": 0.5}}}", "sums to 0.5, expected 1" },
        { "{\"mary\": {\"do\": [\"yes\"]}}", "do needs the state that 'mary' is set to" },
        { "{\"mary\": [\"yes\", 1]}", "has no state" },
        { "{\"mary\": {\"yes\": 1}}", "the likelihoods of 'mary' are 1, but it has 2 states" },
        { "{\"mary\": {\"yes\": 1, \"no\": \"x\"}}", "is not a number" },
        { "{\"mary\": \"yes\", \"mary\": \"no\"}", "not JSON" },
    };
    const char      good[] = "{\"mary\": \"yes\", \"alarm\": {\"on\": 3, \"off\": 1},"
                             " \"earthquake\": [\"yes\", \"no\"]}";
    cr_network     *net = burglary(cx);
    cr_findings     known = { 0 };
    cr_query_answer a = { 0 };
    assert_ok(cx, cr_findings_read(cx, &known, net, test_file("e.json", good, strlen(good))));
    assert_int_equal(known.n, 3);
    assert_ok(cx, cr_query(cx, net, "P(burglary)", &known, NULL, &a));
    assert_close(a.table.value[0], number(cx, net, "P(burglary | mary=yes, alarm~{on:3,off:1})"),
                 1e-14);
    cr_query_answer_free(cx, &a);
    assert_fails_with(cx, cr_query(cx, net, "P(burglary | mary=no)", &known, NULL, &a), CR_EARG,
                      "there is evidence on 'mary' both in the question and outside it");
    cr_findings_free(cx, &known);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        cr_status st = cr_findings_read(cx, &known, net,
                                        test_file("bad.json", BAD[i].text, strlen(BAD[i].text)));
        if ((st != CR_EDATA && st != CR_EARG) || !strstr(cr_error(cx), BAD[i].message))
            fail_msg("%s: %s", BAD[i].text, cr_error(cx));
        cr_findings_free(cx, &known);
    }
    assert_ok(cx, cr_findings_read(cx, &known, net, test_file("e.evid", "1 4 0", 5)));
    assert_int_equal(known.item[0].variable, 4);
    cr_findings_free(cx, &known);
    cr_network_free(cx, net);
}

static cr_status ask_failing(cr_ctx *cx, void *arg)
{
    cr_network     *net = NULL;
    cr_query_answer a = { 0 };
    cr_status st = cr_network_parse(cx, "b", BURGLARY, sizeof BURGLARY - 1, CR_FORMAT_BIF, &net);
    if (st == CR_OK) st = cr_query(cx, net, arg, NULL, NULL, &a);
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, net);
    return st;
}

TEST(allocations_may_fail)
{
    static const char *const QUESTIONS[] = {
        "P(mary, alarm | burglary=yes, earthquake~{yes:1,no:2})",
        "P(* | do(alarm=on), mary:={yes:0.5,no:0.5})",
        "argmax(* | mary=yes)",
        "I(mary; * | alarm=on)",
        "burglary _|_ mary | never",
        "P(mary=yes | alarm in {on})",
    };
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++)
        test_every_allocation_fails(ask_failing, (void *)(uintptr_t)QUESTIONS[i]);
}
