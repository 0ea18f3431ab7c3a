/* query_parse.c -- questions from text.
 *   question  = "P" "(" ("*" | items) [known] ")" | "argmax" "(" ("*" | names) [known] ")"
 *             | "H" "(" names [known] ")" | "I" "(" names ";" ("*" | names) [known] ")"
 *             | "best" "(" count ";" ("*" | names) [known] ")"
 *             | "causes" "(" ("*" | names) known ")"
 *             | "sensitivity" "(" [(count | "*") ";"] items [known] ")"
 *             | names "_|_" names [known]
 *   known     = "|" item {"," item}
 *   item      = name [("=" state) | ("!=" state) | ("in" set) | ("~" weights) | (":=" weights)]
 *             | "do" "(" name "=" state {"," name "=" state} ")"
 *   set       = "{" state {"," state} "}"        weights = "{" state ":" number {...} "}" */
#include "query.h"
#include "network_text.h"
#include "query_more.h"
#include "../../base/number.h"
#include "../../base/scratch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct parser {
    cr_ctx           *cx;
    const cr_network *net;
    const char       *text, *at, *from; /* from: where the last name or state begins */
    char             *name;             /* [length of the text + 1] */
    cr_question      *q;
    bool              values; /* variables have values, not states: x=1.2 */
} parser;

/* Where a name ends that has no quotes; states may hold more. */
static const char NAME_ENDS[] = "(){},;|=~:!\"'";
static const char STATE_ENDS[] = ",)}|\"'";
static const char WEIGHT_ENDS[] = ",)}|:\"'";

static const char QUESTIONS[] = "questions are P(x | e), argmax(x | e), best(k; x | e), H(x | e), "
                                "I(x; y | e), causes(x | e), sensitivity(x=a | e), x _|_ y | z";

/* --- messages -------------------------------------------------------------------------------- */

static cr_status fail_at(parser *p, const char *from, const char *end, const char *format, ...)
    CR_PRINTF(4, 5);
static cr_status fail_at(parser *p, const char *from, const char *end, const char *format, ...)
{
    enum { WIDTH = 200 };
    char    text[1024], caret[WIDTH + 1];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cr_fail(p->cx, CR_EARG, "%s", text);
    size_t before = 0, length = 0; /* in characters, not bytes */
    for (const char *c = p->text; c < from; c++) before += ((unsigned char)*c & 0xC0) != 0x80;
    for (const char *c = from; c < end; c++) length += ((unsigned char)*c & 0xC0) != 0x80;
    cr_fail_note(p->cx, "%.*s", WIDTH, p->text);
    if (before >= WIDTH) return CR_EARG;
    if (length == 0) length = 1;
    if (before + length > WIDTH) length = WIDTH - before;
    memset(caret, ' ', before);
    memset(caret + before, '~', length);
    caret[before] = '^';
    caret[before + length] = '\0';
    return cr_fail_note(p->cx, "%s", caret);
}

/* --- words ----------------------------------------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skip_space(parser *p)
{
    while (is_space(*p->at)) p->at++;
}

static bool at_bar(const char *at) { return strncmp(at, "_|_", 3) == 0; }

/* Takes this if it is next. */
static bool take(parser *p, const char *mark)
{
    skip_space(p);
    if (strncmp(p->at, mark, strlen(mark)) != 0) return false;
    p->at += strlen(mark);
    return true;
}

static cr_status expect(parser *p, const char *mark, const char *where)
{
    if (take(p, mark)) return CR_OK;
    return fail_at(p, p->at, p->at, "expected '%s' %s", mark, where);
}

/* A name in quotes, a quote within written twice; or all up to one of `ends`, or a blank.  It is in
 * p->name and began at p->from. */
static cr_status read_name(parser *p, const char *ends, const char *what)
{
    char *out = p->name;
    skip_space(p);
    p->from = p->at;
    if (*p->at == '"' || *p->at == '\'') {
        char quote = *p->at++;
        while (*p->at && (*p->at != quote || p->at[1] == quote)) {
            p->at += *p->at == quote;
            *out++ = *p->at++;
        }
        if (!*p->at) return fail_at(p, p->from, p->at, "this quote has no end");
        p->at++;
    } else {
        while (*p->at && !is_space(*p->at) && !strchr(ends, *p->at) && !at_bar(p->at))
            *out++ = *p->at++;
    }
    *out = '\0';
    if (out == p->name) return fail_at(p, p->from, p->at, "%s should stand here", what);
    return CR_OK;
}

static cr_status read_variable(parser *p, size_t *out_v)
{
    cr_status st = read_name(p, NAME_ENDS, "a variable");
    if (st != CR_OK) return st;
    *out_v = cr_variable_lookup(cr_network_variables(p->net), p->name);
    if (*out_v != CR_NONE) return CR_OK;
    fail_at(p, p->from, p->at, "there is no variable '%s'", p->name);
    return cri_nearest_variable(p->cx, p->net, p->name);
}

static cr_status read_state(parser *p, size_t v, const char *ends, size_t *out_s)
{
    cr_status st = read_name(p, ends, "a state");
    if (st != CR_OK) return st;
    *out_s = cr_state_lookup(cr_network_variables(p->net), v, p->name);
    if (*out_s != CR_NONE) return CR_OK;
    fail_at(p, p->from, p->at, "'%s' has no state '%s'",
            cr_variable_name(cr_network_variables(p->net), v), p->name);
    return cri_nearest_state(p->cx, p->net, v, p->name);
}

/* --- what is known --------------------------------------------------------------------------- */

/* {a, b} */
static cr_status read_set(parser *p, size_t v, double *weight)
{
    cr_status st = CR_OK;
    size_t    s;
    CR_TRY(expect(p, "{", "before the states"));
    do {
        CR_TRY(read_state(p, v, STATE_ENDS, &s));
        weight[s] = 1;
    } while (take(p, ","));
    CR_TRY(expect(p, "}", "after the states"));
done:
    return st;
}

/* {a:3, b:1}; all states, unless they are probabilities. */
static cr_status read_weights(parser *p, size_t v, bool all, double *weight)
{
    cr_status  st = CR_OK;
    cr_scratch arena = cr_scratch_begin(p->cx);
    size_t     n = cr_network_states(p->net, v), s;
    bool      *seen = cr_scratch_bytes(&arena, n, sizeof *seen);
    CR_TRY(arena.status);
    CR_TRY(expect(p, "{", "before the states"));
    do {
        CR_TRY(read_state(p, v, WEIGHT_ENDS, &s));
        if (seen[s]) CR_TRY(fail_at(p, p->from, p->at, "'%s' stands here twice", p->name));
        seen[s] = true;
        CR_TRY(expect(p, ":", "between a state and its number"));
        skip_space(p);
        size_t length = cri_parse_double(p->at, p->at + strlen(p->at), &weight[s]);
        if (length == 0) CR_TRY(fail_at(p, p->at, p->at, "a number should stand here"));
        p->at += length;
    } while (take(p, ","));
    for (s = 0; all && s < n; s++)
        if (!seen[s])
            CR_TRY(fail_at(p, p->at, p->at, "the likelihood of state '%s' is missing",
                           cr_state_name(cr_network_variables(p->net), v, s)));
    CR_TRY(expect(p, "}", "after the numbers"));
done:
    cr_scratch_end(&arena);
    return st;
}

static bool take_word(parser *p, const char *word)
{
    size_t n = strlen(word);
    skip_space(p);
    if (strncmp(p->at, word, n) != 0 || !(is_space(p->at[n]) || p->at[n] == '{')) return false;
    p->at += n;
    return true;
}

/* x=1.2, or nothing. */
static cr_status read_value(parser *p, double *value, bool *out_any)
{
    const char *from;
    skip_space(p);
    from = p->at;
    *out_any = take(p, "==") || take(p, "=");
    if (!*out_any) {
        if (take(p, ":=") || take(p, "~") || take(p, "!=") || take(p, ">") || take(p, "<") ||
            take_word(p, "in"))
            return fail_at(p, from, p->at, "of a Gaussian variable a value is known: x=1.2");
        return CR_OK;
    }
    skip_space(p);
    size_t length = cri_parse_double(p->at, p->at + strlen(p->at), value);
    if (length == 0 || !(*value - *value == 0))
        return fail_at(p, p->at, p->at + length, "a finite number should stand here");
    p->at += length;
    return CR_OK;
}

/* What is said of v, if anything; *out_kind: which kind of finding that is. */
static cr_status read_statement(parser *p, size_t v, double *weight, cr_finding_kind *out_kind,
                                bool *out_any)
{
    cr_status st = CR_OK;
    size_t    s, n = cr_network_states(p->net, v);
    *out_any = true;
    *out_kind = CR_FINDING_SET;
    if (take(p, ":=")) {
        *out_kind = CR_FINDING_SOFT;
        CR_TRY(read_weights(p, v, false, weight));
    } else if (take(p, "~")) {
        *out_kind = CR_FINDING_VIRTUAL;
        CR_TRY(read_weights(p, v, true, weight));
    } else if (take(p, "!=")) {
        CR_TRY(read_state(p, v, STATE_ENDS, &s));
        for (size_t i = 0; i < n; i++) weight[i] = i != s;
    } else if (take(p, "==") || take(p, "=")) {
        *out_kind = CR_FINDING_STATE;
        CR_TRY(read_state(p, v, STATE_ENDS, &s));
        weight[s] = 1;
    } else if (take_word(p, "in")) {
        CR_TRY(read_set(p, v, weight));
    } else {
        *out_any = false;
    }
done:
    return st;
}

static cr_status add_variable(parser *p, const char *from, size_t **list, size_t *n, size_t v)
{
    for (size_t i = 0; i < *n; i++)
        if ((*list)[i] == v)
            return fail_at(p, from, p->at, "'%s' stands here twice",
                           cr_variable_name(cr_network_variables(p->net), v));
    size_t *more = cr_resize(p->cx, *list, *n, *n + 1, sizeof *more);
    if (!more) return CR_ENOMEM;
    *list = more;
    more[(*n)++] = v;
    return CR_OK;
}

/* A variable, or what is known of one; *out_v: the variable alone, else CR_NONE. */
static cr_status read_item(parser *p, cr_findings *list, size_t *out_v)
{
    cr_status       st = CR_OK;
    cr_scratch      arena = cr_scratch_begin(p->cx);
    cr_finding_kind kind;
    const char     *from;
    size_t          v;
    double         *weight;
    bool            any;
    skip_space(p);
    from = p->at;
    CR_TRY(read_variable(p, &v));
    weight = cr_scratch_bytes(&arena, cr_network_states(p->net, v), sizeof *weight);
    CR_TRY(arena.status);
    kind = CR_FINDING_STATE;
    CR_TRY(p->values ? read_value(p, weight, &any) : read_statement(p, v, weight, &kind, &any));
    *out_v = any ? CR_NONE : v;
    if (!any) goto done;
    st = p->values ? cri_findings_add_value(p->cx, list, p->net, v, *weight)
                   : cr_findings_add(p->cx, list, p->net, kind, v, weight);
    if (st == CR_EARG) {
        char sentence[512];
        snprintf(sentence, sizeof sentence, "%s", cr_error(p->cx));
        fail_at(p, from, p->at, "%s", sentence);
    }
done:
    cr_scratch_end(&arena);
    return st;
}

/* do(x=a, y=b) behind its parenthesis. */
static cr_status read_actions(parser *p)
{
    cr_status st = CR_OK;
    do {
        const char *from;
        size_t      v, before = p->q->known.n;
        skip_space(p);
        from = p->at;
        CR_TRY(read_item(p, &p->q->known, &v));
        if (v != CR_NONE || p->q->known.item[before].kind != CR_FINDING_STATE)
            CR_TRY(fail_at(p, from, p->at, "do() takes a variable and the state it is set to"));
        p->q->known.item[before].kind = CR_FINDING_DO;
    } while (take(p, ","));
    CR_TRY(expect(p, ")", "after do(..."));
done:
    return st;
}

static bool take_function(parser *p, const char *name)
{
    const char *begin;
    skip_space(p);
    begin = p->at;
    size_t n = strlen(name);
    if (strncmp(begin, name, n) != 0) return false;
    p->at += n;
    if (take(p, "(")) return true;
    p->at = begin;
    return false;
}

/* What stands behind the bar.  Variables alone go to `given` where that means something. */
static cr_status read_known(parser *p, bool averages)
{
    cr_status st = CR_OK;
    if (!take(p, "|")) return CR_OK;
    do {
        const char *from;
        size_t      v;
        skip_space(p);
        from = p->at;
        if (take_function(p, "do")) {
            CR_TRY(read_actions(p));
            continue;
        }
        CR_TRY(read_item(p, &p->q->known, &v));
        if (v == CR_NONE) continue;
        if (averages) {
            CR_TRY(add_variable(p, from, &p->q->given, &p->q->n_given, v));
        } else {
            const char *name = cr_variable_name(cr_network_variables(p->net), v);
            fail_at(p, from, p->at, "what is known of '%s'?", name);
            if (p->values) CR_TRY(cr_fail_hint(p->cx, "write %s=1.2, or another value", name));
            CR_TRY(cr_fail_hint(p->cx, "write %s=%s, or another of its states", name,
                                cr_state_name(cr_network_variables(p->net), v, 0)));
        }
    } while (take(p, ","));
done:
    return st;
}

/* --- questions ------------------------------------------------------------------------------- */

static cr_status read_names(parser *p, size_t **list, size_t *n)
{
    cr_status st = CR_OK;
    do {
        const char *from;
        size_t      v;
        skip_space(p);
        from = p->at;
        CR_TRY(read_variable(p, &v));
        CR_TRY(add_variable(p, from, list, n, v));
    } while (take(p, ","));
done:
    return st;
}

/* P( ... : variables, or what shall be the case. */
static cr_status read_probability(parser *p)
{
    cr_status    st = CR_OK;
    cr_question *q = p->q;
    q->kind = CR_QUESTION_MARGINALS;
    if (take(p, "*")) goto done;
    do {
        const char *from;
        size_t      v;
        skip_space(p);
        from = p->at;
        CR_TRY(read_item(p, &q->event, &v));
        if (v != CR_NONE) CR_TRY(add_variable(p, from, &q->x, &q->n_x, v));
        if (q->n_x > 0 && q->event.n > 0)
            CR_TRY(fail_at(p, from, p->at,
                           "P() is of variables or of states they are in, not of both"));
        if (v == CR_NONE && q->event.item[q->event.n - 1].kind > CR_FINDING_SET)
            CR_TRY(fail_at(p, from, p->at, "this is evidence: it stands behind a bar"));
    } while (take(p, ","));
    q->kind = q->n_x > 0 ? CR_QUESTION_TABLE : CR_QUESTION_PROBABILITY;
done:
    return st;
}

static cr_status read_best(parser *p)
{
    p->q->kind = CR_QUESTION_BEST;
    return take(p, "*") ? CR_OK : read_names(p, &p->q->x, &p->q->n_x);
}

/* "5;" */
static cr_status read_count(parser *p)
{
    const char *from;
    size_t      n = 0;
    skip_space(p);
    from = p->at;
    while (*p->at >= '0' && *p->at <= '9' && n < 1000000) n = 10 * n + (size_t)(*p->at++ - '0');
    if (n == 0 || n > 1000000)
        return fail_at(p, from, p->at, "how many? a number from 1 to 1000000 should stand here");
    p->q->count = n;
    return expect(p, ";", "after the number");
}

static cr_status read_best_list(parser *p)
{
    cr_status st = read_count(p);
    if (st == CR_OK) st = read_best(p);
    p->q->kind = CR_QUESTION_BEST_LIST;
    return st;
}

static cr_status read_causes(parser *p)
{
    cr_status st = read_best(p);
    p->q->kind = CR_QUESTION_CAUSES;
    return st;
}

/* Is there a ';' before the bar? */
static bool has_count(const char *at)
{
    size_t n = strspn(at, "0123456789* \t");
    return n > 0 && at[n] == ';';
}

static cr_status read_sensitivity(parser *p)
{
    enum { USUAL = 10 };
    cr_status   st = CR_OK;
    const char *from;
    p->q->count = USUAL;
    skip_space(p);
    if (has_count(p->at)) {
        if (take(p, "*")) {
            p->q->count = SIZE_MAX;
            CR_TRY(expect(p, ";", "after the number"));
        } else {
            CR_TRY(read_count(p));
        }
    }
    skip_space(p);
    from = p->at;
    CR_TRY(read_probability(p));
    if (p->q->kind != CR_QUESTION_PROBABILITY) {
        fail_at(p, from, p->at, "sensitivity() is of the probability of a state");
        CR_TRY(cr_fail_hint(p->cx, "for example sensitivity(x=a | y=b)"));
    }
    p->q->kind = CR_QUESTION_SENSITIVITY;
done:
    return st;
}

static cr_status read_information(parser *p)
{
    cr_status st = CR_OK;
    p->q->kind = CR_QUESTION_INFORMATION;
    CR_TRY(read_names(p, &p->q->x, &p->q->n_x));
    CR_TRY(expect(p, ";", "between the two sides of I()"));
    if (take(p, "*"))
        p->q->kind = CR_QUESTION_INFORMATIVE;
    else
        CR_TRY(read_names(p, &p->q->y, &p->q->n_y));
done:
    return st;
}

static cr_status read_separation(parser *p)
{
    cr_status st = CR_OK;
    p->q->kind = CR_QUESTION_SEPARATION;
    CR_TRY(read_names(p, &p->q->x, &p->q->n_x));
    skip_space(p);
    if (!at_bar(p->at)) {
        fail_at(p, p->at, p->at, "expected _|_ here");
        CR_TRY(cr_fail_hint(p->cx, "%s", QUESTIONS));
    }
    p->at += 3;
    CR_TRY(read_names(p, &p->q->y, &p->q->n_y));
    CR_TRY(read_known(p, true));
    for (size_t i = 0; i < p->q->known.n; i++)
        if (p->q->known.item[i].kind != CR_FINDING_DO)
            CR_TRY(fail_at(p, p->text, p->text + strlen(p->text),
                           "separation is given variables, whatever their states"));
done:
    return st;
}

/* No variable on two of the three sides. */
static cr_status check_sides(parser *p)
{
    const cr_question *q = p->q;
    const size_t      *side[] = { q->x, q->y, q->given }, n[] = { q->n_x, q->n_y, q->n_given };
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < a; b++)
            for (size_t i = 0; i < n[a]; i++)
                for (size_t k = 0; k < n[b]; k++)
                    if (side[a][i] == side[b][k])
                        return fail_at(p, p->text, p->text + strlen(p->text),
                                       "'%s' stands on two sides",
                                       cr_variable_name(cr_network_variables(p->net), side[a][i]));
    return CR_OK;
}

static cr_status read_question(parser *p)
{
    cr_status st = CR_OK;
    bool      averages = false;
    skip_space(p);
    if (!*p->at) CR_TRY(fail_at(p, p->at, p->at, "the question is empty"));
    if (take_function(p, "P")) {
        CR_TRY(read_probability(p));
    } else if (take_function(p, "argmax")) {
        CR_TRY(read_best(p));
    } else if (take_function(p, "best")) {
        CR_TRY(read_best_list(p));
    } else if (take_function(p, "causes")) {
        CR_TRY(read_causes(p));
    } else if (take_function(p, "sensitivity")) {
        CR_TRY(read_sensitivity(p));
    } else if (take_function(p, "H")) {
        averages = true;
        p->q->kind = CR_QUESTION_ENTROPY;
        CR_TRY(read_names(p, &p->q->x, &p->q->n_x));
    } else if (take_function(p, "I")) {
        averages = true;
        CR_TRY(read_information(p));
    } else {
        const char *word = p->at;
        size_t      n = strcspn(word, "( \t");
        if (n > 0 && word[n + strspn(word + n, " \t")] == '(' && !memchr(word, '|', n)) {
            fail_at(p, word, word + n, "there is no question '%.*s'", (int)(n < 50 ? n : 50), word);
            CR_TRY(cr_fail_hint(p->cx, "%s", QUESTIONS));
        }
        CR_TRY(read_separation(p));
        goto end;
    }
    CR_TRY(read_known(p, averages));
    CR_TRY(expect(p, ")", "at the end of the question"));
end:
    skip_space(p);
    if (*p->at) CR_TRY(fail_at(p, p->at, p->at + strlen(p->at), "the question ends before this"));
    if (averages || p->q->kind == CR_QUESTION_SEPARATION) CR_TRY(check_sides(p));
done:
    return st;
}

static cr_status parse(cr_ctx *cx, const cr_network *net, const char *text, bool values,
                       cr_question **out_q)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    parser     p = { cx, net, .text = text, .at = text, .from = text, .values = values };
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
    return parse(cx, net, text, false, out_q);
}

cr_status cri_question_parse_values(cr_ctx *cx, const cr_network *graph, const char *text,
                                    cr_question **out_q)
{
    return parse(cx, graph, text, true, out_q);
}

void cr_question_free(cr_ctx *cx, cr_question *q)
{
    if (!q) return;
    cr_free(cx, q->x, q->n_x, sizeof *q->x);
    cr_free(cx, q->y, q->n_y, sizeof *q->y);
    cr_free(cx, q->given, q->n_given, sizeof *q->given);
    cr_findings_free(cx, &q->event);
    cr_findings_free(cx, &q->known);
    cr_free(cx, q, 1, sizeof *q);
}
