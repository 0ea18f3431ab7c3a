/* parse.c -- expressions to kernels, by recursive descent.
 *   sum     = product { "+" product }
 *   product = power { "*" power }
 *   power   = atom { "^" whole }
 *   atom    = value | name [ "(" item { ("," | ";") item } ")" ] [ "@" "[" columns "]" ] | "(" sum ")"
 *   item    = column | "ard" | value | name "=" (value | list | word | sum) [ ends ] | name ends
 *   value   = number ends;  ends = [ "fixed" ] [ "[" low "," high "]" ] [ "~" prior "(" a [ "," b ] ")" ]
 * A fault is told with the line and a caret under it. */
#include "parse.h"

#include <math.h>

static cr_status parse_atom(cri_parser *p, size_t *out)
{
    cr_status st = CR_OK;
    cri_parse_blanks(p);
    const char *begin = p->at;
    if (++p->depth > CRI_MOST_DEPTH)
        return FAULT(p, begin, "parentheses are nested more than %d deep", CRI_MOST_DEPTH);
    if (cri_parse_begins_number(p)) {
        cri_parse_given g = { .where = begin };
        CR_TRY(cri_parse_values(p, &g.begin, &g.n));
        CR_TRY(cri_parse_constant(p, &g, out));
    } else if (cri_parse_accept(p, '(')) {
        CR_TRY(cri_parse_sum(p, out));
        CR_TRY(cri_parse_expect(p, ')', "to close the parenthesis"));
    } else {
        char seen[CRI_PARSE_FOUND];
        if (!cri_parse_begins_name(*p->at))
            CR_TRY(FAULT(p, p->at, "expected a kernel or a number, found %s",
                         cri_parse_found(p, seen)));
        CR_TRY(cri_parse_call(p, out));
    }
    p->depth--;
done:
    return st;
}

static cr_status parse_power(cri_parser *p, size_t *out)
{
    cr_status st = CR_OK;
    CR_TRY(parse_atom(p, out));
    while (cri_parse_accept(p, '^')) {
        double power;
        cri_parse_blanks(p);
        const char *begin = p->at;
        CR_TRY(cri_parse_number(p, &power));
        if (!(power >= 1 && power <= 50) || power != floor(power))
            CR_TRY(FAULT(p, begin, "a power must be a whole number in 1..50"));
        CR_TRY(cri_parse_add_node(
            p,
            (cri_node){ .op = CRI_POWER, .first = *out, .next = SIZE_MAX, .power = (size_t)power },
            out));
    }
done:
    return st;
}

/* A list of members of a sum or a product; members that are such themselves are taken apart. */
typedef struct members {
    size_t first, last, n;
} members;

static void add_member(cri_parser *p, members *m, cri_op op, size_t node)
{
    cri_node *nodes = p->k->nodes;
    size_t    head = node;
    if (nodes[node].op == op && node == p->k->n_nodes - 1) {
        head = nodes[node].first;
        p->k->n_nodes--;
    }
    if (m->n == 0)
        m->first = head;
    else
        nodes[m->last].next = head;
    for (m->last = head, m->n++; nodes[m->last].next != SIZE_MAX; m->n++)
        m->last = nodes[m->last].next;
}

static cr_status parse_list(cri_parser *p, cri_op op, char sign,
                            cr_status (*member)(cri_parser *, size_t *), size_t *out)
{
    cr_status st = CR_OK;
    members   m = { SIZE_MAX, SIZE_MAX, 0 };
    do {
        size_t node;
        CR_TRY(member(p, &node));
        add_member(p, &m, op, node);
    } while (cri_parse_accept(p, sign));
    *out = m.first;
    if (m.n > 1)
        CR_TRY(
            cri_parse_add_node(p, (cri_node){ .op = op, .first = m.first, .next = SIZE_MAX }, out));
done:
    return st;
}

static cr_status parse_product(cri_parser *p, size_t *out)
{
    return parse_list(p, CRI_PRODUCT, '*', parse_power, out);
}

cr_status cri_parse_sum(cri_parser *p, size_t *out)
{
    return parse_list(p, CRI_SUM, '+', parse_product, out);
}

cr_status cr_kernel_parse(cr_ctx *cx, const char *text, const cr_kernel_columns *opt_columns,
                          const cr_kernel_hook *hooks, size_t n_hooks, cr_kernel **out_kernel)
{
    cr_status  st = CR_OK;
    cri_parser p = { .cx = cx, .text = text, .at = text, .columns = opt_columns };
    size_t     root;
    char       seen[CRI_PARSE_FOUND];
    CR_TRY(cri_kernel_new(cx, hooks, n_hooks, &p.k));
    CR_TRY(cri_parse_sum(&p, &root));
    if (cri_parse_peek(&p) != '\0')
        CR_TRY(
            FAULT(&p, p.at, "expected '+', '*' or the end, found %s", cri_parse_found(&p, seen)));
    *out_kernel = p.k;
    p.k = NULL;
done:
    cr_free(cx, p.values, p.value_capacity, sizeof *p.values);
    cr_kernel_free(cx, p.k);
    return st;
}
