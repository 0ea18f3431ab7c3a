/* query_items.c -- names, states and what is known, each with a caret where it is wrong. */
#include "query_items.h"
#include "graph/files/network_text.h"
#include "query_more.h"
#include "questions.h"
#include "base/number.h"
#include "base/scratch.h"
#include "graph/network/dynamic_network.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Where a name ends that has no quotes; states may hold more. */
static const char NAME_ENDS[] = "(){},;|=~:!\"'";
static const char SLICED_ENDS[] = "[](){},;|=~:!\"'";
static const char STATE_ENDS[] = ",)}|\"'";
static const char WEIGHT_ENDS[] = ",)}|:\"'";

enum { MOST_OF_RANGE = 10000 }; /* each is looked for among the others */

/* --- messages -------------------------------------------------------------------------------- */

cr_status cri_ask_fail(cri_asking *p, const char *from, const char *end, const char *format, ...)
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

void cri_ask_skip(cri_asking *p)
{
    while (is_space(*p->at)) p->at++;
}

size_t cri_ask_bar(const char *at)
{
    static const char *const bars[] = { "_|_", "_||_", "\xE2\x8A\xA5\xE2\x8A\xA5", "\xE2\x8A\xA5" };
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
        if (strncmp(at, bars[i], strlen(bars[i])) == 0) return strlen(bars[i]);
    return 0;
}

bool cri_ask_take(cri_asking *p, const char *mark)
{
    cri_ask_skip(p);
    if (strncmp(p->at, mark, strlen(mark)) != 0) return false;
    p->at += strlen(mark);
    return true;
}

cr_status cri_ask_expect(cri_asking *p, const char *mark, const char *where)
{
    if (cri_ask_take(p, mark)) return CR_OK;
    return cri_ask_fail(p, p->at, p->at, "expected '%s' %s", mark, where);
}

/* A name in quotes, a quote within written twice; or all up to one of `ends`, or a blank.  It is in
 * p->name and began at p->from. */
static cr_status read_name(cri_asking *p, const char *ends, const char *what)
{
    char *out = p->name;
    cri_ask_skip(p);
    p->from = p->at;
    if (*p->at == '"' || *p->at == '\'') {
        char quote = *p->at++;
        while (*p->at && (*p->at != quote || p->at[1] == quote)) {
            p->at += *p->at == quote;
            *out++ = *p->at++;
        }
        if (!*p->at) return cri_ask_fail(p, p->from, p->at, "this quote has no end");
        p->at++;
    } else {
        while (*p->at && !is_space(*p->at) && !strchr(ends, *p->at) && !cri_ask_bar(p->at))
            *out++ = *p->at++;
    }
    *out = '\0';
    if (out == p->name) return cri_ask_fail(p, p->from, p->at, "%s is expected here", what);
    return CR_OK;
}

/* The variable of the network that v is, in whatever slice. */
static size_t within_slice(const cri_asking *p, size_t v) { return v % cr_network_size(p->net); }

const char *cri_ask_name(cri_asking *p, size_t v)
{
    const char *name = cr_variable_name(cr_network_variables(p->net), within_slice(p, v));
    if (!p->times) return name;
    snprintf(p->said, sizeof p->said, "%.250s[t=%zu]", name, v / cr_network_size(p->net) + 1);
    return p->said;
}

/* A slice: a number from 1. */
static cr_status read_slice(cri_asking *p, size_t *out_t)
{
    const char *from;
    size_t      t = 0;
    cri_ask_skip(p);
    from = p->at;
    while (*p->at >= '0' && *p->at <= '9') {
        if (t <= CRI_MOST_SLICES) t = 10 * t + (size_t)(*p->at - '0');
        p->at++;
    }
    *out_t = t;
    if (t >= 1 && t <= CRI_MOST_SLICES) return CR_OK;
    if (p->at == from && *from != '-')
        return cri_ask_fail(p, from, from, "the number of a slice is expected here: [t=1]");
    return cri_ask_fail(p, from, p->at + (p->at == from), "slices are numbered from 1 to %d",
                        CRI_MOST_SLICES);
}

/* Behind the name of v: [t=3], [3], or [t=1..5].  *inout_v becomes its number. */
static cr_status read_time(cri_asking *p, size_t *inout_v)
{
    cr_status   st = CR_OK;
    const char *from = p->from, *at;
    size_t      first, last, n = cr_network_size(p->net);
    if (!cri_ask_take(p, "[")) {
        cri_ask_fail(p, from, p->at, "'%s' is in every slice: which one is meant?", p->name);
        CR_TRY(cr_fail_hint(p->cx, "%.200s[t=1] is in the first slice", p->name));
    }
    cri_ask_skip(p);
    at = p->at;
    if (cri_ask_take(p, "t") && !cri_ask_take(p, "=")) p->at = at;
    CR_TRY(read_slice(p, &first));
    last = first;
    if (cri_ask_take(p, "..")) CR_TRY(read_slice(p, &last));
    if (last < first)
        CR_TRY(cri_ask_fail(p, at, p->at, "the last slice of a range comes before its first"));
    if (last - first >= MOST_OF_RANGE)
        CR_TRY(cri_ask_fail(p, at, p->at, "a range may have up to %d slices", MOST_OF_RANGE));
    CR_TRY(cri_ask_expect(p, "]", "after the slice"));
    p->next = first * n + *inout_v;
    p->last = (last - 1) * n + *inout_v;
    *inout_v += (first - 1) * n;
    if (p->q && p->q->slices < last) p->q->slices = last;
done:
    return st;
}

bool cri_ask_next(cri_asking *p, size_t *out_v)
{
    if (!p->times || p->next > p->last) return false;
    *out_v = p->next;
    p->next += cr_network_size(p->net);
    return true;
}

/* A name with its place in plates, grade[student=1,course=logic], needs no quotes: the variable that is called like the
 * text up to the bracket that follows; CR_NONE: none is. */
static size_t find_repeated(cri_asking *p)
{
    size_t      n = strcspn(p->from, "[,= \"'(){};|~"), v;
    const char *end = p->from[n] == '[' ? strchr(p->from, ']') : NULL;
    if (!end || n == 0) return CR_NONE;
    memcpy(p->name, p->from, (size_t)(end + 1 - p->from));
    p->name[end + 1 - p->from] = '\0';
    v = cr_variable_lookup(cr_network_variables(p->net), p->name);
    if (v != CR_NONE) p->at = end + 1;
    return v;
}

cr_status cri_ask_variable(cri_asking *p, size_t *out_v)
{
    cri_ask_skip(p);
    p->from = p->at;
    *out_v = find_repeated(p);
    if (*out_v != CR_NONE) return p->times ? read_time(p, out_v) : CR_OK;
    cr_status st = read_name(p, p->times ? SLICED_ENDS : NAME_ENDS, "a variable");
    if (st != CR_OK) return st;
    *out_v = cr_variable_lookup(cr_network_variables(p->net), p->name);
    if (*out_v != CR_NONE) return p->times ? read_time(p, out_v) : CR_OK;
    if (strcmp(p->name, "*") == 0)
        return cri_ask_fail(p, p->from, p->at, "* must stand alone: it means all variables");
    if (strcmp(p->name, "do") == 0 && *p->at == '(')
        return cri_ask_fail(p, p->from, p->at, "do() is evidence: put it after the bar");
    cri_ask_fail(p, p->from, p->at, "there is no variable '%s'", p->name);
    return cri_nearest_variable(p->cx, p->net, p->name);
}

/* Here and below v is a variable of p->net. */
static cr_status read_state(cri_asking *p, size_t v, const char *ends, size_t *out_s)
{
    cr_status st = read_name(p, ends, "a state");
    if (st != CR_OK) return st;
    *out_s = cr_state_lookup(cr_network_variables(p->net), v, p->name);
    if (*out_s != CR_NONE) return CR_OK;
    char *stray = strchr(p->name, ';');
    if (stray && *p->from == p->name[0]) { /* no quotes: does the state end there? */
        *stray = '\0';
        *out_s = cr_state_lookup(cr_network_variables(p->net), v, p->name);
        *stray = ';';
        if (*out_s != CR_NONE) {
            p->at = p->from + (stray - p->name);
            return CR_OK;
        }
    }
    cri_ask_fail(p, p->from, p->at, "'%s' has no state '%s'",
                 cr_variable_name(cr_network_variables(p->net), v), p->name);
    return cri_nearest_state(p->cx, cr_network_variables(p->net), v, p->name);
}

/* --- what is known --------------------------------------------------------------------------- */

/* What a list of states looks like. */
static cr_status hint_states(cri_asking *p, size_t v, const char *mark, bool numbers)
{
    const cr_variables *vs = cr_network_variables(p->net);
    char                text[256];
    size_t              n = cr_network_states(p->net, v), used = 0;
    for (size_t s = 0; s < n && s < 3; s++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, numbers ? "%s%.60s:%.2g" : "%s%.60s",
                             s ? ", " : "", cr_state_name(vs, v, s), 1 / (double)n);
    return cr_fail_hint(p->cx, "for example %.60s%s{%s%s}", cr_variable_name(vs, v), mark, text,
                        n > 3 ? ", ..." : "");
}

/* {a, b} */
static cr_status read_set(cri_asking *p, size_t v, double *weight)
{
    cr_status st = CR_OK;
    size_t    s;
    st = cri_ask_expect(p, "{", "before the states");
    if (st != CR_OK) hint_states(p, v, " in ", false);
    CR_TRY(st);
    do {
        CR_TRY(read_state(p, v, STATE_ENDS, &s));
        weight[s] = 1;
    } while (cri_ask_take(p, ","));
    CR_TRY(cri_ask_expect(p, "}", "after the states"));
done:
    return st;
}

/* {a:3, b:1}; all states, unless they are probabilities. */
static cr_status read_weights(cri_asking *p, size_t v, bool all, double *weight)
{
    cr_status  st = CR_OK;
    cr_scratch arena = cr_scratch_begin(p->cx);
    size_t     n = cr_network_states(p->net, v), s;
    bool      *seen = cr_scratch_bytes(&arena, n, sizeof *seen);
    CR_TRY(arena.status);
    st = cri_ask_expect(p, "{", "before the states");
    if (st != CR_OK) hint_states(p, v, all ? "~" : ":=", true);
    CR_TRY(st);
    do {
        CR_TRY(read_state(p, v, WEIGHT_ENDS, &s));
        if (seen[s]) CR_TRY(cri_ask_fail(p, p->from, p->at, "'%s' occurs here twice", p->name));
        seen[s] = true;
        CR_TRY(cri_ask_expect(p, ":", "between a state and its number"));
        cri_ask_skip(p);
        size_t length = cri_parse_double(p->at, p->at + strlen(p->at), &weight[s]);
        if (length == 0) CR_TRY(cri_ask_fail(p, p->at, p->at, "a number is expected here"));
        p->at += length;
    } while (cri_ask_take(p, ","));
    for (s = 0; all && s < n; s++)
        if (!seen[s])
            CR_TRY(cri_ask_fail(p, p->at, p->at, "the likelihood of state '%s' is missing",
                                cr_state_name(cr_network_variables(p->net), v, s)));
    CR_TRY(cri_ask_expect(p, "}", "after the numbers"));
done:
    cr_scratch_end(&arena);
    return st;
}

static bool take_word(cri_asking *p, const char *word)
{
    size_t n = strlen(word);
    cri_ask_skip(p);
    if (strncmp(p->at, word, n) != 0 || !(is_space(p->at[n]) || p->at[n] == '{')) return false;
    p->at += n;
    return true;
}

/* x=1.2, or nothing. */
static cr_status read_value(cri_asking *p, double *value, bool *out_any)
{
    const char *from;
    cri_ask_skip(p);
    from = p->at;
    *out_any = cri_ask_take(p, "==") || cri_ask_take(p, "=");
    if (!*out_any) {
        static const char *const others[] = { ":=", "~", "!=", ">", "<" };
        bool                     other = take_word(p, "in");
        for (size_t i = 0; !other && i < sizeof others / sizeof *others; i++)
            other = cri_ask_take(p, others[i]);
        if (!other) return CR_OK;
        return cri_ask_fail(p, from, p->at, "evidence on a Gaussian variable is a value: x=1.2");
    }
    cri_ask_skip(p);
    size_t length = cri_parse_double(p->at, p->at + strlen(p->at), value);
    if (length == 0 || !(*value - *value == 0))
        return cri_ask_fail(p, p->at, p->at + length, "a finite number is expected here");
    p->at += length;
    return CR_OK;
}

/* What is said of v, if anything; *out_kind: which kind of finding that is. */
static cr_status read_statement(cri_asking *p, size_t v, double *weight, cr_finding_kind *out_kind,
                                bool *out_any)
{
    cr_status st = CR_OK;
    size_t    s, n = cr_network_states(p->net, v);
    *out_any = true;
    *out_kind = CR_FINDING_SET;
    if (cri_ask_take(p, ":=")) {
        *out_kind = CR_FINDING_SOFT;
        CR_TRY(read_weights(p, v, false, weight));
    } else if (cri_ask_take(p, "~")) {
        *out_kind = CR_FINDING_VIRTUAL;
        CR_TRY(read_weights(p, v, true, weight));
    } else if (cri_ask_take(p, "!=")) {
        cri_ask_skip(p);
        if (*p->at == '{') {
            CR_TRY(read_set(p, v, weight));
        } else {
            CR_TRY(read_state(p, v, STATE_ENDS, &s));
            weight[s] = 1;
        }
        for (size_t i = 0; i < n; i++) weight[i] = 1 - weight[i];
    } else if (cri_ask_take(p, "==") || cri_ask_take(p, "=")) {
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

static cr_status add_one(cri_asking *p, const char *from, size_t **list, size_t *n, size_t v)
{
    for (size_t i = 0; i < *n; i++)
        if ((*list)[i] == v)
            return cri_ask_fail(p, from, p->at, "'%s' occurs here twice", cri_ask_name(p, v));
    size_t *more = cr_resize(p->cx, *list, *n, *n + 1, sizeof *more);
    if (!more) return CR_ENOMEM;
    *list = more;
    more[(*n)++] = v;
    return CR_OK;
}

cr_status cri_ask_add(cri_asking *p, const char *from, size_t **list, size_t *n, size_t v)
{
    cr_status st = add_one(p, from, list, n, v);
    while (st == CR_OK && cri_ask_next(p, &v)) st = add_one(p, from, list, n, v);
    return st;
}

/* Adds what was read about v to a list. */
static cr_status add_finding(cri_asking *p, const char *from, cr_findings *list,
                             cr_finding_kind kind, size_t v, const double *weight)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < list->n && list == &p->q->event; i++)
        if (list->item[i].variable == v)
            return cri_ask_fail(p, from, p->at, "'%.400s' occurs here twice", cri_ask_name(p, v));
    st = p->values ? cri_findings_add_value(p->cx, list, p->net, v, *weight)
                   : cr_findings_add(p->cx, list, p->net, kind, v, weight);
    if (st == CR_EARG) {
        char sentence[512], hint[512];
        snprintf(sentence, sizeof sentence, "%s", cr_error(p->cx));
        snprintf(hint, sizeof hint, "%s", cr_error_hint(p->cx));
        cri_ask_fail(p, from, p->at, "%s", sentence);
        if (hint[0]) cr_fail_hint(p->cx, "%s", hint);
    }
    return st;
}

cr_status cri_ask_item(cri_asking *p, cr_findings *list, size_t *out_v)
{
    cr_status       st = CR_OK;
    cr_scratch      arena = cr_scratch_begin(p->cx);
    cr_finding_kind kind;
    const char     *from;
    size_t          v, one;
    double         *weight;
    bool            any;
    cri_ask_skip(p);
    from = p->at;
    CR_TRY(cri_ask_variable(p, &v));
    one = within_slice(p, v);
    weight = cr_scratch_bytes(&arena, cr_network_states(p->net, one), sizeof *weight);
    CR_TRY(arena.status);
    kind = CR_FINDING_STATE;
    CR_TRY(p->values ? read_value(p, weight, &any) : read_statement(p, one, weight, &kind, &any));
    *out_v = any ? CR_NONE : v;
    if (!any) goto done;
    do CR_TRY(add_finding(p, from, list, kind, v, weight));
    while (cri_ask_next(p, &v));
done:
    cr_scratch_end(&arena);
    return st;
}

/* do(x=a, y=b) behind its parenthesis. */
static cr_status read_actions(cri_asking *p)
{
    cr_status st = CR_OK;
    do {
        const char *from;
        size_t      v, before = p->q->known.n;
        cri_ask_skip(p);
        from = p->at;
        CR_TRY(cri_ask_item(p, &p->q->known, &v));
        if (v != CR_NONE || p->q->known.item[before].kind != CR_FINDING_STATE)
            CR_TRY(
                cri_ask_fail(p, from, p->at, "do() needs a variable and the state it is set to"));
        while (before < p->q->known.n) p->q->known.item[before++].kind = CR_FINDING_DO;
    } while (cri_ask_take(p, ","));
    CR_TRY(cri_ask_expect(p, ")", "after do(..."));
done:
    return st;
}

bool cri_ask_function(cri_asking *p, const char *name)
{
    const char *begin;
    cri_ask_skip(p);
    begin = p->at;
    size_t n = strlen(name);
    if (strncmp(begin, name, n) != 0) return false;
    p->at += n;
    if (cri_ask_take(p, "(")) return true;
    p->at = begin;
    return false;
}

cr_status cri_ask_known(cri_asking *p, bool averages)
{
    cr_status st = CR_OK;
    if (!cri_ask_take(p, "|")) return CR_OK;
    do {
        const char *from;
        size_t      v;
        cri_ask_skip(p);
        from = p->at;
        if (cri_ask_function(p, "do")) {
            CR_TRY(read_actions(p));
            continue;
        }
        CR_TRY(cri_ask_item(p, &p->q->known, &v));
        if (v == CR_NONE && cri_question_of(p->q->kind)->graph) {
            v = p->q->known.item[p->q->known.n - 1].variable;
            cri_ask_fail(p, from, p->at, "separation is given variables, not their states");
            CR_TRY(cr_fail_hint(p->cx, "name the variable alone: ... | %s", cri_ask_name(p, v)));
        }
        if (v == CR_NONE) continue;
        if (averages) {
            CR_TRY(cri_ask_add(p, from, &p->q->given, &p->q->n_given, v));
        } else {
            const char *name = cri_ask_name(p, v);
            cri_ask_fail(p, from, p->at, "what is the evidence on '%s'?", name);
            if (p->values) CR_TRY(cr_fail_hint(p->cx, "write %s=1.2, or another value", name));
            CR_TRY(
                cr_fail_hint(p->cx, "write %s=%s, or another of its states", name,
                             cr_state_name(cr_network_variables(p->net), within_slice(p, v), 0)));
        }
    } while (cri_ask_take(p, ","));
done:
    return st;
}
