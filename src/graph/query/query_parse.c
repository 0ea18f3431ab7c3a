/* query_parse.c -- questions from text.
 *   question  = "P" "(" ("*" | items) [known] ")" | "argmax" "(" ("*" | names) [known] ")"
 *             | "H" "(" names [known] ")" | "I" "(" names ";" ("*" | names) [known] ")"
 *             | "best" "(" count ";" ("*" | names) [known] ")"
 *             | "causes" "(" ("*" | names) known ")"
 *             | "sensitivity" "(" [(count | "*") ";"] items [known] ")"
 *             | ("parents" | "children" | "ancestors" | "descendants" | "blanket") "(" names ")"
 *             | ("order" | "moral" | "cliques" | "chordal") "(" ")" | "imap" "(" file ")"
 *             | "dsep" "(" names ";" names [known] ")" | names ("_|_" | "_||_" | the sign of perpendicular) names [known]
 *   known     = "|" item {"," item}
 *   item      = name [("=" state) | ("!=" (state | set)) | ("in" set) | ("~" weights)
 *                       | (":=" weights)]
 *             | "do" "(" name "=" state {"," name "=" state} ")"
 *   name      = text | text "[" ["t" "="] slice [".." slice] "]"          in a network with slices
 *   set       = "{" state {"," state} "}"        weights = "{" state ":" number {...} "}" */
#include "query_more.h"
#include "questions.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <stdio.h>
#include <string.h>

/* --- questions ------------------------------------------------------------------------------- */

static cr_status read_list(cri_asking *p, size_t **list, size_t *n)
{
    cr_status st = CR_OK;
    do {
        const char *from;
        size_t      v;
        cri_ask_skip(p);
        from = p->at;
        CR_TRY(cri_ask_variable(p, &v));
        CR_TRY(cri_ask_add(p, from, list, n, v));
        cri_ask_skip(p);
        if (*p->at == '=' || *p->at == '~' || strncmp(p->at, "!=", 2) == 0 ||
            strncmp(p->at, ":=", 2) == 0) {
            cri_ask_fail(p, from, p->at + strcspn(p->at, ",;|) "),
                         "variables are expected here, without states");
            CR_TRY(cr_fail_hint(p->cx, "put evidence after a bar, as in argmax(x | y=b)"));
        }
    } while (cri_ask_take(p, ","));
done:
    return st;
}

cr_status cri_read_names(cri_asking *p) { return read_list(p, &p->q->x, &p->q->n_x); }
cr_status cri_read_nothing(cri_asking *p) { return p ? CR_OK : CR_EARG; }

/* P( ... : variables, or what shall be the case. */
cr_status cri_read_probability(cri_asking *p)
{
    cr_status    st = CR_OK;
    cr_question *q = p->q;
    q->kind = CR_QUESTION_MARGINALS;
    if (cri_ask_take(p, "*")) goto done;
    do {
        const char *from;
        size_t      v;
        cri_ask_skip(p);
        from = p->at;
        CR_TRY(cri_ask_item(p, &q->event, &v));
        if (v != CR_NONE) CR_TRY(cri_ask_add(p, from, &q->x, &q->n_x, v));
        if (q->n_x > 0 && q->event.n > 0)
            CR_TRY(cri_ask_fail(p, from, p->at, "P() takes either variables or states, not both"));
        if (v == CR_NONE && q->event.item[q->event.n - 1].kind > CR_FINDING_SET)
            CR_TRY(cri_ask_fail(p, from, p->at, "this is evidence: put it after a bar"));
    } while (cri_ask_take(p, ","));
    q->kind = q->n_x > 0 ? CR_QUESTION_TABLE : CR_QUESTION_PROBABILITY;
done:
    return st;
}

cr_status cri_read_best(cri_asking *p) { return cri_ask_take(p, "*") ? CR_OK : cri_read_names(p); }

/* "5;" */
static cr_status read_count(cri_asking *p)
{
    const char *from;
    size_t      n = 0;
    cri_ask_skip(p);
    from = p->at;
    while (*p->at >= '0' && *p->at <= '9' && n < 1000000) n = 10 * n + (size_t)(*p->at++ - '0');
    if (n == 0 || n > 1000000)
        return cri_ask_fail(p, from, p->at, "a number from 1 to 1000000 is expected here");
    p->q->count = n;
    return cri_ask_expect(p, ";", "after the number");
}

cr_status cri_read_best_list(cri_asking *p)
{
    cr_status st = read_count(p);
    return st == CR_OK ? cri_read_best(p) : st;
}

/* Is there a ';' before the bar? */
static bool has_count(const char *at)
{
    size_t n = strspn(at, "0123456789* \t");
    return n > 0 && at[n] == ';';
}

cr_status cri_read_sensitivity(cri_asking *p)
{
    enum { USUAL = 10 };
    cr_status   st = CR_OK;
    const char *from;
    p->q->count = USUAL;
    cri_ask_skip(p);
    size_t digits = strspn(p->at, "0123456789");
    if (digits > 0 && p->at[digits] == ',')
        CR_TRY(
            cri_ask_fail(p, p->at + digits, p->at + digits + 1, "expected ';' after the number"));
    if (has_count(p->at)) {
        if (cri_ask_take(p, "*")) {
            p->q->count = SIZE_MAX;
            CR_TRY(cri_ask_expect(p, ";", "after the number"));
        } else {
            CR_TRY(read_count(p));
        }
    }
    cri_ask_skip(p);
    from = p->at;
    CR_TRY(cri_read_probability(p));
    if (p->q->kind != CR_QUESTION_PROBABILITY) {
        cri_ask_fail(p, from, p->at, "sensitivity() needs the probability of a state");
        CR_TRY(cr_fail_hint(p->cx, "for example sensitivity(x=a | y=b)"));
    }
    p->q->kind = CR_QUESTION_SENSITIVITY;
done:
    return st;
}

/* The two sides of I() and dsep(), with ';' between. */
static cr_status read_sides(cri_asking *p, bool may_star)
{
    cr_status   st = CR_OK;
    char        where[64];
    const char *name = cri_question_of(p->q->kind)->name;
    snprintf(where, sizeof where, "between the two sides of %s()", name);
    CR_TRY(cri_read_names(p));
    CR_TRY(cri_ask_expect(p, ";", where));
    if (may_star && cri_ask_take(p, "*"))
        p->q->kind = CR_QUESTION_INFORMATIVE;
    else
        CR_TRY(read_list(p, &p->q->y, &p->q->n_y));
done:
    return st;
}

cr_status cri_read_information(cri_asking *p) { return read_sides(p, true); }
cr_status cri_read_separation(cri_asking *p) { return read_sides(p, false); }

/* x _|_ y | z */
static cr_status read_bar(cri_asking *p)
{
    cr_status st = CR_OK;
    p->q->kind = CR_QUESTION_SEPARATION;
    CR_TRY(read_list(p, &p->q->x, &p->q->n_x));
    cri_ask_skip(p);
    if (!*p->at) {
        cri_ask_fail(p, p->text, p->at, "a variable alone is not a question");
        CR_TRY(cr_fail_hint(p->cx, "its distribution is P(%s)", cri_ask_name(p, p->q->x[0])));
    }
    if (!cri_ask_bar(p->at)) {
        cri_ask_fail(p, p->at, p->at, "expected _|_ here");
        CR_TRY(cri_hint_questions(p->cx));
    }
    p->at += cri_ask_bar(p->at);
    CR_TRY(read_list(p, &p->q->y, &p->q->n_y));
    CR_TRY(cri_ask_known(p, true));
done:
    return st;
}

/* The name of a file, in quotes or as it is up to the last parenthesis. */
cr_status cri_read_path(cri_asking *p)
{
    const char *end, *from;
    cri_ask_skip(p);
    from = p->at;
    if (*from == '"' || *from == '\'') {
        end = strchr(from + 1, *from);
        if (!end) return cri_ask_fail(p, from, from + strlen(from), "this quote has no end");
        p->at = end + 1;
        from++;
    } else {
        end = strrchr(from, ')');
        if (!end) end = from + strlen(from);
        p->at = end;
        while (end > from && (end[-1] == ' ' || end[-1] == '\t')) end--;
    }
    if (end == from)
        return cri_ask_fail(p, p->at, p->at, "the file of the other network is expected here");
    p->q->path = cri_string_copy_n(p->cx, from, (size_t)(end - from));
    return p->q->path ? CR_OK : CR_ENOMEM;
}

/* No variable on two of the three sides. */
static cr_status check_sides(cri_asking *p)
{
    const cr_question *q = p->q;
    const size_t      *side[] = { q->x, q->y, q->given }, n[] = { q->n_x, q->n_y, q->n_given };
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < a; b++)
            for (size_t i = 0; i < n[a]; i++)
                for (size_t k = 0; k < n[b]; k++)
                    if (side[a][i] == side[b][k])
                        return cri_ask_fail(p, p->text, p->text + strlen(p->text),
                                            "'%s' occurs on both sides",
                                            cri_ask_name(p, side[a][i]));
    return CR_OK;
}

/* A word and a parenthesis that are no question, or a question without its parenthesis. */
static cr_status refuse_other(cri_asking *p)
{
    const char *word = p->at;
    size_t      n = strcspn(word, "( \t,|_"), more = n + strspn(word + n, " \t");
    if (n == 0) return CR_OK;
    if (word[more] == '(') {
        cri_ask_fail(p, word, word + n, "there is no question '%.*s'", (int)(n < 50 ? n : 50),
                     word);
        cri_hint_questions(p->cx);
        for (size_t k = 0; k < CR_QUESTION_COUNT; k++) {
            const cri_question_row *row = cri_question_of((cr_question_kind)k);
            if (cri_is_listed_word(row->others, word, n))
                cr_fail_hint(p->cx, "did you mean %s(...)?", row->name);
        }
        return CR_EARG;
    }
    for (size_t k = 0; k < CR_QUESTION_COUNT; k++) {
        const cri_question_row *row = cri_question_of((cr_question_kind)k);
        if (row->name && row->given != CRI_GIVEN_NOTHING && strlen(row->name) == n &&
            memcmp(word, row->name, n) == 0 && word[more] && !cri_ask_bar(word + more) &&
            word[more] != ',')
            return cri_ask_fail(p, word + more, word + more, "expected '(' after %s", row->name);
    }
    return CR_OK;
}

/* Behind what is asked for: a bar, or the end. */
static cr_status close_asked(cri_asking *p)
{
    cri_ask_skip(p);
    if (!*p->at || *p->at == '|' || *p->at == ')') return CR_OK;
    if (*p->at == ',' && p->at > p->text && p->at[-1] == '*')
        return cri_ask_fail(p, p->at - 1, p->at, "* must stand alone: it means all variables");
    return cri_ask_fail(p, p->at, p->at, "expected ',', '|' or ')' here");
}

static cr_status close_question(cri_asking *p)
{
    if (cri_ask_take(p, ")")) return CR_OK;
    return cri_ask_fail(p, p->at, p->at,
                        *p->at ? "expected ',' or ')' here"
                               : "expected ')' at the end of the question");
}

/* Between the parenthesis and the end: what is asked, and what is known. */
static cr_status read_function(cri_asking *p, const cri_question_row *row)
{
    cr_status st = CR_OK;
    CR_TRY(row->parse(p));
    cri_ask_skip(p);
    if (row->given != CRI_GIVEN_NOTHING) {
        CR_TRY(close_asked(p));
        CR_TRY(cri_ask_known(p, row->given == CRI_GIVEN_VARIABLES));
    } else if (*p->at == '|') {
        CR_TRY(cri_ask_fail(p, p->at, p->at + strlen(p->at),
                            "%s() is about the graph and takes no evidence", row->name));
    } else if (*p->at && *p->at != ')') {
        CR_TRY(cri_ask_fail(p, p->at, p->at, "expected ')' after %s(", row->name));
    }
    CR_TRY(close_question(p));
done:
    return st;
}

static cr_status read_question(cri_asking *p)
{
    cr_status               st = CR_OK;
    const cri_question_row *row = NULL;
    cri_ask_skip(p);
    if (!*p->at) CR_TRY(cri_ask_fail(p, p->at, p->at, "the question is empty"));
    for (size_t k = 0; k < CR_QUESTION_COUNT && !row; k++) {
        p->q->kind = (cr_question_kind)k;
        row = cri_question_of(p->q->kind);
        if (!row->name || !cri_ask_function(p, row->name)) row = NULL;
    }
    if (row) {
        CR_TRY(read_function(p, row));
    } else {
        CR_TRY(refuse_other(p));
        CR_TRY(read_bar(p));
    }
    cri_ask_skip(p);
    if (*p->at)
        CR_TRY(cri_ask_fail(p, p->at, p->at + strlen(p->at), "the question ends before this"));
    if (!row || row->given == CRI_GIVEN_VARIABLES) CR_TRY(check_sides(p));
done:
    return st;
}

typedef enum names { PLAIN, VALUES, SLICES } names;

static cr_status parse(cr_ctx *cx, const cr_network *net, const char *text, names how,
                       cr_question **out_q)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_asking p = { .cx = cx, .net = net, .text = text, .at = text, .from = text };
    p.values = how == VALUES;
    p.times = how == SLICES;
    p.name = cr_scratch_bytes(&s, strlen(text) + 1, 1);
    CR_TRY(s.status);
    p.q = cr_alloc(cx, 1, sizeof *p.q);
    if (!p.q) CR_TRY(CR_ENOMEM);
    CR_TRY(read_question(&p));
    *out_q = p.q;
    p.q = NULL;
done:
    cr_question_free(cx, p.q);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_question_parse(cr_ctx *cx, const cr_network *net, const char *text,
                            cr_question **out_q)
{
    return parse(cx, net, text, PLAIN, out_q);
}

cr_status cri_question_parse_values(cr_ctx *cx, const cr_network *graph, const char *text,
                                    cr_question **out_q)
{
    return parse(cx, graph, text, VALUES, out_q);
}

cr_status cri_question_parse_slices(cr_ctx *cx, const cr_network *slice, const char *text,
                                    cr_question **out_q)
{
    return parse(cx, slice, text, SLICES, out_q);
}

cr_status cri_find_in_slice(cr_ctx *cx, const cr_network *slice, const char *name,
                            size_t *out_number)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_asking p = {
        .cx = cx, .net = slice, .text = name, .at = name, .from = name, .times = true
    };
    p.name = cr_scratch_bytes(&s, strlen(name) + 1, 1);
    CR_TRY(s.status);
    CR_TRY(cri_ask_variable(&p, out_number));
    cri_ask_skip(&p);
    if (*p.at || p.next <= p.last)
        CR_TRY(
            cri_ask_fail(&p, name, name + strlen(name), "one variable in one slice is expected"));
done:
    cr_scratch_end(&s);
    return st;
}

void cr_question_free(cr_ctx *cx, cr_question *q)
{
    if (!q) return;
    cr_free(cx, q->x, q->n_x, sizeof *q->x);
    cr_free(cx, q->y, q->n_y, sizeof *q->y);
    cr_free(cx, q->given, q->n_given, sizeof *q->given);
    cri_string_free(cx, q->path);
    cr_findings_free(cx, &q->event);
    cr_findings_free(cx, &q->known);
    cr_free(cx, q, 1, sizeof *q);
}
