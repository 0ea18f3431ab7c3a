/* network.c -- networks on the command line: read, described, checked, converted. */
#include "network.h"
#include "gaussian.h"
#include "base/bytes.h"
#include "base/list.h"
#include "base/scratch.h"
#include "data/source.h"
#include "models/graph/junction.h"
#include "models/graph/log_linear.h"
#include "models/graph/noisy.h"
#include "models/graph/query.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* --- reading --------------------------------------------------------------------------------- */

/* The choice of --from among the formats of networks; AUTO: it is none of them. */
static cr_network_format format_asked(const cli *c)
{
    const cr_option *from = cr_option_find(cr_read_table, "from");
    char             word[32];
    if (!(c->verb->takes & VERB_READS)) return CR_FORMAT_AUTO;
    cr_options_print(from, &c->read, word, sizeof word);
    for (int f = CR_FORMAT_BIF; f <= CR_FORMAT_JSON; f++)
        if (strcmp(word, cr_network_format_name((cr_network_format)f)) == 0)
            return (cr_network_format)f;
    return CR_FORMAT_AUTO;
}

static bool is_auto(const cli *c) { return c->read.from == 0; }

/* "model": "network" in a model.json that lies in the archive as it is. */
static bool says_network(const char *bytes, size_t size)
{
    const char *at = cri_find_text(bytes, size, "\"model\""), *end = bytes + size;
    if (!at) return false;
    for (at += 7; at < end && (*at == ' ' || *at == ':'); at++) continue;
    return end - at > 9 && memcmp(at, "\"network\"", 9) == 0;
}

/* Looks at the beginning of a regular file, and says nothing if that cannot be. */
static bool looks_like_network(cli *c, const char *path)
{
    cri_source *source = NULL;
    const char *bytes;
    size_t      size;
    struct stat info;
    bool        is = false;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    if (cri_source_open(c->cx, path, &source) != CR_OK) return false;
    if (cri_source_peek(source, 4096, &bytes, &size) == CR_OK) {
        cr_network_format f = cr_network_sniff(bytes, size);
        is = f == CR_FORMAT_CRED ? says_network(bytes, size) : f != CR_FORMAT_AUTO;
    }
    cri_source_close(source);
    return is;
}

bool cli_is_network(cli *c, size_t index)
{
    const char       *path = c->args[index];
    cr_network_format f = cr_network_format_of(path);
    if (format_asked(c) == CR_FORMAT_CRED) /* models have the same ending */
        return strcmp(path, "-") == 0 || looks_like_network(c, path);
    if (format_asked(c) != CR_FORMAT_AUTO) return true;
    if (!is_auto(c)) return false;
    return (f != CR_FORMAT_AUTO && f != CR_FORMAT_CRED) || looks_like_network(c, path);
}

cr_status cli_read_network(cli *c, size_t index, cr_network_format format, cr_network **out_net)
{
    if (format == CR_FORMAT_AUTO) format = format_asked(c);
    return cr_network_read(c->cx, c->args[index], format, out_net);
}

cr_status cli_read_either(cli *c, size_t index, cr_network_format format, cr_network **out_net,
                          cr_gaussian_network **out_gaussian)
{
    if (format == CR_FORMAT_AUTO) format = format_asked(c);
    return cr_network_read_either(c->cx, c->args[index], format, out_net, out_gaussian);
}

static const char *file_name(const cli *c)
{
    return strcmp(c->args[0], "-") == 0 ? "stdin" : c->args[0];
}

/* --- describe -------------------------------------------------------------------------------- */

typedef struct sizes {
    size_t arcs, entries, free, most_states, most_parents;
} sizes;

static sizes count(const cr_network *net)
{
    sizes s = { 0 };
    bool  bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        size_t        states = bayes ? cr_network_states(net, i) : 1;
        if (t.value) {
            s.entries += t.size;
            s.free += bayes ? t.size / states * (states - 1) : t.size;
        } else { /* effects of each parent by itself */
            const cri_noisy *x = &net->table[i].noisy;
            s.entries += x->rows * x->levels;
            s.free += t.kind == CR_CPD_NOISY_OR ? t.n : x->rows * (x->levels - 1);
        }
        if (bayes) s.arcs += t.n - 1;
        if (bayes && t.n - 1 > s.most_parents) s.most_parents = t.n - 1;
    }
    for (size_t v = 0; v < cr_network_size(net); v++)
        if (cr_network_states(net, v) > s.most_states) s.most_states = cr_network_states(net, v);
    return s;
}

static json_t *integer(size_t n) { return json_integer((json_int_t)n); }

/* Relatives of v by a question to the graph; a list that cannot be had is left out. */
static cr_status add_relatives(cli *c, const cr_network *net, const char *key, cr_structure what,
                               size_t v, json_t *row)
{
    cr_question     q = { .kind = CR_QUESTION_STRUCTURE, .structure = what, .x = &v, .n_x = 1 };
    cr_query_answer a = { 0 };
    if (what == CR_STRUCTURE_ORDER || what == CR_STRUCTURE_CHORDAL) q.n_x = 0;
    cr_status st = cr_query_run(c->cx, net, &q, NULL, NULL, &a);
    if (st != CR_OK) return st;
    json_t *list = json_array();
    for (size_t i = 0; i < a.n; i++)
        json_array_append_new(
            list, json_string_nocheck(cr_variable_name(cr_network_variables(net), a.variable[i])));
    if (what == CR_STRUCTURE_CHORDAL)
        json_object_set_new(row, key, json_boolean(a.holds));
    else
        json_object_set(row, key, list);
    json_decref(list);
    cr_query_answer_free(c->cx, &a);
    return CR_OK;
}

/* JSON of networks that are not large has what the graph tells besides the parents. */
static cr_status add_structure(cli *c, const cr_network *net, json_t *summary, json_t *variables)
{
    enum { SMALL = 200 };
    cr_status st = CR_OK;
    bool      bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    if (cr_network_size(net) > SMALL) return CR_OK;
    CR_TRY(add_relatives(c, net, "chordal", CR_STRUCTURE_CHORDAL, 0, summary));
    if (bayes) CR_TRY(add_relatives(c, net, "order", CR_STRUCTURE_ORDER, 0, summary));
    for (size_t v = 0; v < cr_network_size(net); v++) {
        json_t *row = json_array_get(variables, v);
        if (bayes) CR_TRY(add_relatives(c, net, "children", CR_STRUCTURE_CHILDREN, v, row));
        CR_TRY(add_relatives(c, net, "blanket", CR_STRUCTURE_BLANKET, v, row));
    }
done:
    return st;
}

static void add_variables(const cr_network *net, json_t *out)
{
    const cr_variables *vs = cr_network_variables(net);
    for (size_t v = 0; v < cr_network_size(net); v++) {
        json_t       *row = json_object(), *states = json_array(), *parents = json_array();
        size_t        n = 0;
        bool          bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
        const size_t *list = bayes ? cr_network_parents(net, v, &n) : NULL;
        for (size_t s = 0; s < cr_variable_states(vs, v); s++)
            json_array_append_new(states, json_string_nocheck(cr_state_name(vs, v, s)));
        for (size_t i = 0; i < n; i++)
            json_array_append_new(parents, json_string_nocheck(cr_variable_name(vs, list[i])));
        json_object_set_new(row, "name", json_string_nocheck(cr_variable_name(vs, v)));
        json_object_set_new(row, "states", states);
        json_object_set_new(row, "parents", parents);
        if (bayes)
            json_object_set_new(row, "kind",
                                json_string(cri_cpd_name(cr_network_table(net, v).kind)));
        json_array_append_new(out, row);
    }
}

/* What all marginals cost, by a junction tree; it need not fit into memory. */
static cr_status find_cost(cli *c, const cr_network *net, cr_exact_report *out)
{
    cr_status        st = CR_OK;
    cr_exact_options o = cr_exact_defaults();
    cr_junction     *tree = NULL;
    cri_divorced     d = { 0 };
    o.memory = SIZE_MAX;
    CR_TRY(cri_network_divorce(c->cx, net, NULL, true, &d));
    CR_TRY(cr_junction_new(c->cx, d.net ? d.net : net, NULL, &o, &tree));
    *out = cr_junction_report(tree);
done:
    cr_junction_free(c->cx, tree);
    cri_divorced_free(c->cx, &d);
    return st;
}

static json_t *network_summary(const cr_network *net, const cr_exact_report *cost)
{
    sizes   s = count(net);
    bool    bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    json_t *out = json_object();
    json_object_set_new(out, "name", json_string_nocheck(cr_network_name(net)));
    json_object_set_new(out, "type", json_string(bayes ? "bayes" : "markov"));
    json_object_set_new(out, "nodes", integer(cr_network_size(net)));
    json_object_set_new(out, "arcs", bayes ? integer(s.arcs) : json_null());
    json_object_set_new(out, "tables", integer(cr_network_tables(net)));
    json_object_set_new(out, "entries", integer(s.entries));
    json_object_set_new(out, "parameters", integer(s.free));
    json_object_set_new(out, "most_states", integer(s.most_states));
    json_object_set_new(out, "most_parents", bayes ? integer(s.most_parents) : json_null());
    json_object_set_new(out, "width", integer(cost->width));
    json_object_set_new(out, "operations", json_real(cost->operations));
    json_object_set_new(out, "bytes", json_real(cost->bytes));
    return out;
}

/* "yes, no" in a cell, cut where it is long. */
static json_t *joined(const json_t *list)
{
    char    text[80] = "";
    size_t  used = 0, i;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)list, i, item)
    {
        const char *name = json_string_value(item);
        if (used + strlen(name) + 8 > sizeof text) {
            snprintf(text + used, sizeof text - used, ", ...");
            break;
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", name);
    }
    return json_string_nocheck(text);
}

/* Is some distribution given by other than a table? */
static bool has_kinds(json_t *variables)
{
    json_t *row;
    size_t  i;
    json_array_foreach(variables, i, row)
    {
        const char *kind = json_string_value(json_object_get(row, "kind"));
        if (kind && strcmp(kind, "table") != 0) return true;
    }
    return false;
}

static void print_network(cli *c, const json_t *root)
{
    const json_t *net = json_object_get(root, "network");
    const char   *name = json_string_value(json_object_get(net, "name"));
    bool          bayes = strcmp(json_string_value(json_object_get(net, "type")), "bayes") == 0;
    json_t       *rows = json_array(), *row, *lines = json_copy((json_t *)(uintptr_t)net);
    size_t        i;
    bool          kinds = has_kinds(json_object_get(root, "variables"));
    json_array_foreach(json_object_get(root, "variables"), i, row)
    {
        json_t *flat = json_object();
        json_object_set(flat, "name", json_object_get(row, "name"));
        json_object_set_new(flat, "states", joined(json_object_get(row, "states")));
        json_object_set_new(flat, "parents", joined(json_object_get(row, "parents")));
        if (kinds) json_object_set(flat, "kind", json_object_get(row, "kind"));
        json_array_append_new(rows, flat);
    }
    if (c->format == FORMAT_TEXT) {
        json_object_del(lines, "name");
        json_object_del(lines, "type");
        out_text(c, "%s: a %s network%s%s\n", file_name(c), bayes ? "Bayesian" : "Markov",
                 name[0] ? ", " : "", name);
        out_pairs(c, lines);
        out_text(c, "\n");
    }
    out_table(c, rows);
    json_decref(rows);
    json_decref(lines);
}

cr_status cli_describe_network(cli *c)
{
    cr_status            st = CR_OK;
    cr_network          *net = NULL;
    cr_exact_report      cost = { 0 };
    json_t              *root = json_object(), *variables = json_array();
    cr_gaussian_network *gaussian = NULL;
    CR_TRY(cli_read_either(c, 0, CR_FORMAT_AUTO, &net, &gaussian));
    if (gaussian) {
        CR_TRY(cli_describe_gaussian(c, gaussian));
        goto done;
    }
    CR_TRY(cli_check_strict(c));
    CR_TRY(find_cost(c, net, &cost));
    add_variables(net, variables);
    json_object_set_new(root, "file", json_string_nocheck(file_name(c)));
    json_object_set_new(root, "kind", json_string("network"));
    json_object_set_new(root, "network", network_summary(net, &cost));
    json_object_set(root, "variables", variables);
    if (c->format == FORMAT_JSON)
        CR_TRY(add_structure(c, net, json_object_get(root, "network"), variables));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_json(c, "describe", root);
    else
        print_network(c, root);
done:
    json_decref(root);
    json_decref(variables);
    cr_network_free(c->cx, net);
    cr_gaussian_network_free(c->cx, gaussian);
    return st;
}

/* --- check and convert ----------------------------------------------------------------------- */

/* A table of a Markov network that is all zeros excludes everything. */
static cr_status refuse_zeros(cli *c, const cr_network *net)
{
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        bool          any = !t.value;
        for (size_t e = 0; e < t.size && !any; e++) any = t.value[e] > 0;
        if (!any)
            return cr_fail(c->cx, CR_EDATA, "%s: table %zu is all zeros: nothing is possible",
                           file_name(c), i + 1);
    }
    return CR_OK;
}

cr_status cli_check_network(cli *c)
{
    cr_status            st = CR_OK;
    cr_network          *net = NULL;
    json_t              *root = json_object(), *rows = json_array();
    cr_gaussian_network *gaussian = NULL;
    CR_TRY(cli_read_either(c, 0, CR_FORMAT_AUTO, &net, &gaussian));
    if (gaussian) {
        CR_TRY(cli_check_gaussian(c, gaussian));
        goto done;
    }
    CR_TRY(cli_check_strict(c));
    CR_TRY(refuse_zeros(c, net));
    json_object_set_new(root, "file", json_string_nocheck(file_name(c)));
    json_object_set_new(root, "kind", json_string("network"));
    json_object_set_new(root, "sound", json_true());
    json_array_append(rows, root);
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_json(c, "check", root);
    else if (c->format == FORMAT_CSV)
        out_table(c, rows);
    else
        out_text(c, "%s: a sound network, %zu nodes, %zu parameters\n", file_name(c),
                 cr_network_size(net), count(net).free);
done:
    json_decref(root);
    json_decref(rows);
    cr_network_free(c->cx, net);
    cr_gaussian_network_free(c->cx, gaussian);
    return st;
}

/* [variables] the states of a list "x=a,y=b"; of variables that are not on it, the first. */
static cr_status read_reference(cli *c, const cr_network *net, const char *list, size_t *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(c->cx);
    char     **item = NULL, *state;
    size_t     n = 0, v;
    CR_TRY(cri_list_split(&s, list, &item, &n));
    for (size_t i = 0; i < n; i++) {
        state = strchr(item[i], '=');
        if (!state) {
            cr_fail(c->cx, CR_EARG, "--reference: '%s' should be a variable and its state",
                    item[i]);
            CR_TRY(cr_fail_hint(c->cx, "for example --reference %s=%s",
                                cr_variable_name(cr_network_variables(net), 0),
                                cr_state_name(cr_network_variables(net), 0, 0)));
        }
        *state++ = '\0';
        CR_TRY(cr_variable_find(c->cx, cr_network_variables(net), item[i], &v));
        CR_TRY(cr_state_find(c->cx, cr_network_variables(net), v, state, &out[v]));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Puts the network of its features in the place of *net. */
static cr_status make_canonical(cli *c, const char *opt_reference, cr_network **net)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(c->cx);
    size_t     *reference = cr_scratch_bytes(&s, cr_network_size(*net), sizeof *reference);
    cr_network *features = NULL;
    CR_TRY(s.status);
    CR_TRY(read_reference(c, *net, opt_reference, reference));
    CR_TRY(cr_network_canonical(c->cx, *net, reference, &features));
    cr_network_free(c->cx, *net);
    *net = features;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cli_convert_network(cli *c, const char *to, cr_network_format format, bool canonical,
                              const char *opt_reference)
{
    cr_status            st = CR_OK;
    cr_network          *net = NULL;
    bool                 stream = strcmp(to, "-") == 0;
    cr_gaussian_network *gaussian = NULL;
    if (format == CR_FORMAT_AUTO) format = cr_network_format_of(to);
    if (format == CR_FORMAT_AUTO) {
        cr_fail(c->cx, CR_EARG, "cannot tell the format of the network '%s' from its name", to);
        CR_TRY(cr_fail_hint(c->cx,
                            "end it in .bif, .xmlbif, .net, .uai, .cred or .json, or give --to"));
    }
    CR_TRY(cli_read_either(c, 0, CR_FORMAT_AUTO, &net, &gaussian));
    CR_TRY(cli_check_strict(c));
    if (gaussian) {
        if (canonical)
            CR_TRY(cr_fail(c->cx, CR_EARG,
                           "--canonical is of networks with states, not of a "
                           "Gaussian one"));
        CR_TRY(cli_convert_gaussian(c, gaussian, to, format));
        goto done;
    }
    if (canonical) CR_TRY(make_canonical(c, opt_reference, &net));
    CR_TRY(cr_network_write(c->cx, net, stream ? "/dev/stdout" : to, format));
done:
    cr_network_free(c->cx, net);
    cr_gaussian_network_free(c->cx, gaussian);
    return st;
}
