/* network_write.c -- Bayesian networks as BIF, Hugin NET and XMLBIF. */
#include "bif.h"
#include "net.h"
#include "network_text.h"
#include "xmlbif.h"
#include "base/utf8.h"
#include "graph/network/noisy.h"

#include <stdio.h>
#include <string.h>

/* Fails for a network that the format cannot hold. */
static cr_status check_network(cr_ctx *cx, const cr_network *net, const char *format)
{
    cr_status st = cr_network_check(cx, net);
    if (st == CR_OK) st = cri_network_need_tables(cx, net);
    if (st == CR_OK) st = cri_bayes_only(cx, net, format);
    return st;
}

/* The next remark on v (CR_NONE: on the network) from *at on; NULL: there is none. */
static const char *next_property(const cr_network *net, size_t v, size_t *at)
{
    while (*at < cr_network_properties(net)) {
        size_t      whose;
        const char *text = cr_network_property(net, (*at)++, &whose);
        if (whose == v) return text;
    }
    return NULL;
}

/* --- BIF -------------------------------------------------------------------------------------- */

static void put_bif_name(cri_writer *w, const char *name)
{
    bool plain = name[0] != '\0' && !strstr(name, "//") && !strstr(name, "/*");
    for (const char *p = name; *p && plain; p++)
        plain = (unsigned char)*p > ' ' && *p != 0x7f && !strchr("{}()[],;|\"\\", *p);
    if (plain)
        cri_put(w, name);
    else
        cri_put_quoted(w, name);
}

static void put_bif_properties(cri_writer *w, const cr_network *net, size_t v)
{
    const char *text;
    for (size_t at = 0; (text = next_property(net, v, &at));) {
        cri_put(w, "  property ");
        cri_put_quoted(w, text);
        cri_put(w, ";\n");
    }
}

static void put_bif_variable(cri_writer *w, const cr_network *net, size_t v)
{
    const cr_variables *vs = cr_network_variables(net);
    cri_put(w, "variable ");
    put_bif_name(w, cr_variable_name(vs, v));
    cri_put_format(w, " {\n  type discrete [ %zu ] { ", cr_variable_states(vs, v));
    for (size_t s = 0; s < cr_variable_states(vs, v); s++) {
        if (s) cri_put(w, ", ");
        put_bif_name(w, cr_state_name(vs, v, s));
    }
    cri_put(w, " };\n");
    put_bif_properties(w, net, v);
    cri_put(w, "}\n");
}

static void put_bif_row(cri_writer *w, const cr_network *net, const cr_table_view *t, size_t row,
                        size_t states)
{
    const cr_variables *vs = cr_network_variables(net);
    size_t              below = t->size / states, rest = row;
    cri_put(w, t->n > 1 ? "  (" : "  table ");
    for (size_t i = 0; i + 1 < t->n; i++) {
        below /= cr_variable_states(vs, t->scope[i]);
        if (i) cri_put(w, ", ");
        put_bif_name(w, cr_state_name(vs, t->scope[i], rest / below));
        rest %= below;
    }
    if (t->n > 1) cri_put(w, ") ");
    for (size_t s = 0; s < states; s++) {
        if (s) cri_put(w, ", ");
        cri_put_number(w, t->value[row * states + s]);
    }
    cri_put(w, ";\n");
}

static void put_bif_table(cri_writer *w, const cr_network *net, size_t v)
{
    const cr_variables *vs = cr_network_variables(net);
    cr_table_view       t = cr_network_table(net, v);
    size_t              states = cr_network_states(net, v);
    cri_put(w, "probability ( ");
    put_bif_name(w, cr_variable_name(vs, v));
    for (size_t i = 0; i + 1 < t.n; i++) {
        cri_put(w, i ? ", " : " | ");
        put_bif_name(w, cr_variable_name(vs, t.scope[i]));
    }
    cri_put(w, " ) {\n");
    for (size_t row = 0; row < t.size / states; row++) put_bif_row(w, net, &t, row, states);
    cri_put(w, "}\n");
}

cr_status cr_bif_write(cr_ctx *cx, const cr_network *net, const char *path)
{
    cri_writer w = { 0 };
    cr_status  st = check_network(cx, net, "BIF");
    if (st == CR_OK) st = cri_packed_create(cx, path, &w.file);
    if (st != CR_OK) return st;
    cri_put(&w, "network ");
    put_bif_name(&w, cr_network_name(net)[0] ? cr_network_name(net) : CRI_BIF_NO_NAME);
    cri_put(&w, " {\n");
    put_bif_properties(&w, net, CR_NONE);
    cri_put(&w, "}\n");
    for (size_t v = 0; v < cr_network_size(net); v++) put_bif_variable(&w, net, v);
    for (size_t v = 0; v < cr_network_size(net); v++) put_bif_table(&w, net, v);
    return cri_writer_close(&w);
}

/* --- Hugin NET -------------------------------------------------------------------------------- */

static bool is_identifier(const char *name)
{
    static const char *const WORDS[] = { "net", "node", "potential", "class", "discrete" };
    if (!name[0] || (name[0] >= '0' && name[0] <= '9')) return false;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strcmp(name, WORDS[i]) == 0) return false;
    for (; *name; name++)
        if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
              (*name >= '0' && *name <= '9') || *name == '_'))
            return false;
    return true;
}

/* The name if it is an identifier; else one that no variable has, with its number. */
static void put_net_id(cri_writer *w, const cr_network *net, size_t v)
{
    const cr_variables *vs = cr_network_variables(net);
    const char         *name = cr_variable_name(vs, v);
    char                id[64] = "";
    if (is_identifier(name)) {
        cri_put(w, name);
        return;
    }
    for (size_t tail = 0; !id[0] || cr_variable_lookup(vs, id) != CR_NONE; tail++)
        snprintf(id, sizeof id, tail ? "node_%zu_%zu" : "node_%zu", v, tail);
    cri_put(w, id);
}

/* Remarks that are fields are written as such, others as comments are not: they are kept in a field
 * of their own. */
static void put_net_properties(cri_writer *w, const cr_network *net, size_t v)
{
    const char *text;
    for (size_t at = 0, other = 0; (text = next_property(net, v, &at));) {
        size_t name = strcspn(text, " \t=");
        size_t gap = strspn(text + name, " \t");
        cri_put(w, "    ");
        if (name > 0 && text[name + gap] == '=' && !strpbrk(text, ";{}%\n\r")) {
            cri_put(w, text);
        } else {
            cri_put_format(w, "remark_%zu = ", ++other);
            cri_put_quoted(w, text);
        }
        cri_put(w, ";\n");
    }
}

static void put_net_node(cri_writer *w, const cr_network *net, size_t v)
{
    const cr_variables *vs = cr_network_variables(net);
    cri_put(w, "\nnode ");
    put_net_id(w, net, v);
    cri_put(w, "\n{\n    states = (");
    for (size_t s = 0; s < cr_variable_states(vs, v); s++) {
        if (s) cri_put(w, " ");
        cri_put_quoted(w, cr_state_name(vs, v, s));
    }
    cri_put(w, ");\n");
    if (!is_identifier(cr_variable_name(vs, v))) {
        cri_put_format(w, "    %s = ", CRI_NET_NAME_FIELD);
        cri_put_quoted(w, cr_variable_name(vs, v));
        cri_put(w, ";\n");
    }
    put_net_properties(w, net, v);
    cri_put(w, "}\n");
}

/* As many parentheses as there are variables: row i opens those whose index begins again. */
static void put_net_potential(cri_writer *w, const cr_network *net, size_t v)
{
    cr_table_view t = cr_network_table(net, v);
    cri_put(w, "\npotential (");
    put_net_id(w, net, v);
    for (size_t i = 0; i + 1 < t.n; i++) {
        cri_put(w, i ? " " : " | ");
        put_net_id(w, net, t.scope[i]);
    }
    cri_put(w, ")\n{\n    data = ");
    for (size_t e = 0; e < t.size; e++) {
        size_t block = t.size, opened = 0, closed = 0;
        for (size_t i = 0; i < t.n; i++) {
            opened += e % block == 0;
            closed += (e + 1) % block == 0;
            block /= cr_network_states(net, t.scope[i]);
        }
        if (e > 0) cri_put(w, opened ? "\n            " : " ");
        for (size_t i = 0; i < opened; i++) cri_put(w, "(");
        cri_put_number(w, t.value[e]);
        for (size_t i = 0; i < closed; i++) cri_put(w, ")");
    }
    cri_put(w, ";\n}\n");
}

cr_status cr_net_write(cr_ctx *cx, const cr_network *net, const char *path)
{
    cri_writer w = { 0 };
    cr_status  st = check_network(cx, net, "Hugin NET");
    if (st == CR_OK) st = cri_packed_create(cx, path, &w.file);
    if (st != CR_OK) return st;
    cri_put(&w, "net\n{\n");
    if (cr_network_name(net)[0]) {
        cri_put(&w, "    name = ");
        cri_put_quoted(&w, cr_network_name(net));
        cri_put(&w, ";\n");
    }
    put_net_properties(&w, net, CR_NONE);
    cri_put(&w, "}\n");
    for (size_t v = 0; v < cr_network_size(net); v++) put_net_node(&w, net, v);
    for (size_t v = 0; v < cr_network_size(net); v++) put_net_potential(&w, net, v);
    return cri_writer_close(&w);
}

/* --- XMLBIF ----------------------------------------------------------------------------------- */

static void put_xml_element(cri_writer *w, const char *indent, const char *name, const char *text)
{
    cri_put_format(w, "%s<%s>", indent, name);
    for (; *text; text++) {
        if (*text == '<')
            cri_put(w, "&lt;");
        else if (*text == '>')
            cri_put(w, "&gt;");
        else if (*text == '&')
            cri_put(w, "&amp;");
        else if (*text == '\r')
            cri_put(w, "&#13;");
        else
            cri_put_n(w, text, 1);
    }
    cri_put_format(w, "</%s>\n", name);
}

static void put_xml_properties(cri_writer *w, const cr_network *net, const char *indent, size_t v)
{
    const char *text;
    for (size_t at = 0; (text = next_property(net, v, &at));)
        put_xml_element(w, indent, "PROPERTY", text);
}

static void put_xml_definition(cri_writer *w, const cr_network *net, size_t v)
{
    const cr_variables *vs = cr_network_variables(net);
    cr_table_view       t = cr_network_table(net, v);
    size_t              states = cr_network_states(net, v);
    cri_put(w, "  <DEFINITION>\n");
    put_xml_element(w, "    ", "FOR", cr_variable_name(vs, v));
    for (size_t i = 0; i + 1 < t.n; i++)
        put_xml_element(w, "    ", "GIVEN", cr_variable_name(vs, t.scope[i]));
    cri_put(w, "    <TABLE>");
    for (size_t e = 0; e < t.size; e++) {
        if (t.n > 1 && e % states == 0)
            cri_put(w, "\n      ");
        else if (e > 0)
            cri_put(w, " ");
        cri_put_number(w, t.value[e]);
    }
    cri_put(w, t.n > 1 ? "\n    </TABLE>\n  </DEFINITION>\n" : "</TABLE>\n  </DEFINITION>\n");
}

/* XML cannot hold every byte: texts must be UTF-8 without control characters. */
static cr_status check_text(cr_ctx *cx, const char *text)
{
    bool fit = cri_utf8_valid(text);
    for (const char *p = text; *p && fit; p++)
        fit = (unsigned char)*p >= ' ' || *p == '\t' || *p == '\n' || *p == '\r';
    if (fit) return CR_OK;
    return cr_fail(cx, CR_EDATA,
                   "XML cannot hold '%.200s': it is not UTF-8, or has a control character", text);
}

/* Blanks around a text are those of the file. */
static cr_status check_name(cr_ctx *cx, const char *text)
{
    size_t    n = strlen(text);
    cr_status st = check_text(cx, text);
    if (st != CR_OK || n == 0 || (!cri_is_space(text[0]) && !cri_is_space(text[n - 1]))) return st;
    cr_fail(cx, CR_EDATA, "XMLBIF cannot hold '%.200s': blanks around a name are not read", text);
    return cr_fail_hint(cx, "JSON keeps them: write to a name that ends in .json");
}

static cr_status check_texts(cr_ctx *cx, const cr_network *net)
{
    cr_status           st = CR_OK;
    const cr_variables *vs = cr_network_variables(net);
    CR_TRY(check_text(cx, cr_network_name(net)));
    for (size_t v = 0; v < cr_variables_count(vs); v++) {
        CR_TRY(check_name(cx, cr_variable_name(vs, v)));
        for (size_t s = 0; s < cr_variable_states(vs, v); s++)
            CR_TRY(check_name(cx, cr_state_name(vs, v, s)));
    }
    for (size_t i = 0; i < cr_network_properties(net); i++)
        CR_TRY(check_text(cx, cr_network_property(net, i, NULL)));
done:
    return st;
}

cr_status cr_xmlbif_write(cr_ctx *cx, const cr_network *net, const char *path)
{
    const cr_variables *vs = cr_network_variables(net);
    cri_writer          w = { 0 };
    cr_status           st = check_network(cx, net, "XMLBIF");
    if (st == CR_OK) st = check_texts(cx, net);
    if (st == CR_OK) st = cri_packed_create(cx, path, &w.file);
    if (st != CR_OK) return st;
    cri_put(&w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<BIF VERSION=\"0.3\">\n<NETWORK>\n");
    put_xml_element(&w, "  ", "NAME", cr_network_name(net));
    put_xml_properties(&w, net, "  ", CR_NONE);
    for (size_t v = 0; v < cr_network_size(net); v++) {
        cri_put(&w, "  <VARIABLE TYPE=\"nature\">\n");
        put_xml_element(&w, "    ", "NAME", cr_variable_name(vs, v));
        for (size_t s = 0; s < cr_variable_states(vs, v); s++)
            put_xml_element(&w, "    ", "OUTCOME", cr_state_name(vs, v, s));
        put_xml_properties(&w, net, "    ", v);
        cri_put(&w, "  </VARIABLE>\n");
    }
    for (size_t v = 0; v < cr_network_size(net); v++) put_xml_definition(&w, net, v);
    cri_put(&w, "</NETWORK>\n</BIF>\n");
    return cri_writer_close(&w);
}
