/* formula.c -- a formula of R in the options of a fit. */
#include "formula.h"

#include <stdio.h>
#include <string.h>

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || (unsigned char)c >= 0x80;
}

/* The first of these signs outside quotes and brackets; the end where there is none. */
static const char *find_sign(const char *text, const char *signs)
{
    int depth = 0;
    for (; *text; text++) {
        if (*text == '"') { /* to the closing quote */
            const char *close = strchr(text + 1, '"');
            if (!close) return text + strlen(text);
            text = close;
        } else if (depth == 0 && strchr(signs, *text)) {
            return text;
        }
        depth += (*text == '(') - (*text == ')');
    }
    return text;
}

bool cri_is_formula(const char *text) { return *find_sign(text, "~") == '~'; }

/* A copy of begin .. end - 1 without the spaces around it. */
static char *trimmed(cr_scratch *s, const char *begin, const char *end)
{
    while (begin < end && is_space(*begin)) begin++;
    while (end > begin && is_space(end[-1])) end--;
    char *out = cr_scratch_bytes(s, (size_t)(end - begin) + 1, 1);
    if (out) memcpy(out, begin, (size_t)(end - begin));
    return out;
}

/* The inside of NAME(...) where the whole text is that; else NULL. */
static char *inside(cr_scratch *s, const char *text, const char *name)
{
    size_t n = strlen(name), length = strlen(text);
    bool   call =
        length > n + 1 && strncmp(text, name, n) == 0 && text[n] == '(' && text[length - 1] == ')';
    return call ? trimmed(s, text + n + 1, text + length - 1) : NULL;
}

static void read_target(cr_scratch *s, char *text, cri_formula *out)
{
    static const char *const functions[] = { "log", "sqrt" };
    char                    *name = text;
    for (size_t k = 0; k < 2 && name == text; k++) {
        char *inner = inside(s, text, functions[k]);
        if (inner) name = inner, out->transform = functions[k];
    }
    size_t length = 0;
    if (inside(s, text, "cbind"))
        out->instead = "of successes and failures, glm takes --target SUCCESSES --trials COLUMN "
                       "--family binomial: a column of their sums must be in the file";
    while (is_name_byte(name[length])) length++;
    if (length > 0 && !name[length]) out->target = name;
    if (name[0] == '"' && name[1] != '"' && strchr(name + 1, '"') == name + strlen(name) - 1)
        out->target = trimmed(s, name + 1, name + strlen(name) - 1);
}

/* Appends n bytes of a text, for which there is room, to another. */
static void append(char *to, const char *text, size_t n)
{
    size_t length = strlen(to);
    memcpy(to + length, text, n);
    to[length + n] = '\0';
}

static void append_text(char *to, const char *text) { append(to, text, strlen(text)); }

/* Reads "factor(g)" at the start of the item: appends g to `to` and to the categories.  What follows; NULL: it is none. */
static const char *take_factor(const char *item, char *to, char *categories)
{
    static const char *const words[] = { "factor(", "as.factor(" };
    size_t                   skipped = 0;
    for (size_t k = 0; k < 2; k++)
        if (strncmp(item, words[k], strlen(words[k])) == 0) skipped = strlen(words[k]);
    const char *end = skipped ? strchr(item, ')') : NULL;
    if (!end) return NULL;
    if (*categories) append_text(categories, ",");
    append(categories, item + skipped, (size_t)(end - item) - skipped);
    append(to, item + skipped, (size_t)(end - item) - skipped);
    return end + 1;
}

/* The splines of R by their names here.  Those with K degrees of freedom have K terms, and leave out the intercept; bs
 * has at least three. */
static const struct {
    const char *begins, *name;
    unsigned    least;
} splines[] = { { "ns(", "natural(", 1 }, { "bs(", "bspline(", 3 } };

static const char *skip_blanks(const char *p) { return p + strspn(p, " \t"); }

/* Degrees of freedom behind the comma of ns(x, 3) or bs(x, df = 5), a number of up to three digits before `end`. */
static bool read_degrees(const char *comma, const char *end, unsigned *out)
{
    const char *p = skip_blanks(comma + 1);
    if (strncmp(p, "df", 2) == 0) {
        p = skip_blanks(p + 2);
        if (*p++ != '=') return false;
        p = skip_blanks(p);
    }
    size_t digits = strspn(p, "0123456789");
    *out = 0;
    for (size_t i = 0; i < digits && i < 3; i++) *out = 10 * *out + (unsigned)(p[i] - '0');
    return digits > 0 && digits <= 3 && skip_blanks(p + digits) == end;
}

/* Reads ns(x), ns(x, 3) or bs(x, df = 5) at the start of the item.  What follows; NULL: it is none. */
static const char *take_spline(const char *item, char *to)
{
    for (size_t k = 0; k < 2; k++) {
        const char *begins = splines[k].begins, *column = item + strlen(begins);
        unsigned    df = splines[k].least, given;
        char        text[16];
        if (strncmp(item, begins, strlen(begins)) != 0) continue;
        const char *end = find_sign(column, ")"), *comma = find_sign(column, ",)");
        if (*end != ')') continue;
        if (*comma == ',') {
            if (!read_degrees(comma, end, &given)) return NULL;
            df = given > df ? given : df;
        }
        append_text(to, splines[k].name);
        append(to, column, (size_t)(comma - column));
        snprintf(text, sizeof text, ",%u)", df + 1);
        append_text(to, text);
        return end + 1;
    }
    return NULL;
}

/* Appends an item to `to` with g instead of factor(g), and g to the categories; with bases by their names here, and
 * a:b for a %in% b. */
static void take_item(const char *item, char *to, char *categories)
{
    bool inner = false; /* a name before: not a word of its own */
    while (*item) {
        const char *next = inner ? NULL : take_factor(item, to, categories);
        if (!next && !inner) next = take_spline(item, to);
        if (!next && strncmp(item, "%in%", 4) == 0) {
            while (*to && is_space(to[strlen(to) - 1])) to[strlen(to) - 1] = '\0';
            append_text(to, ":");
            for (next = item + 4; is_space(*next);) next++;
        }
        inner = !next && is_name_byte(*item);
        if (!next) append(to, item, 1), next = item + 1;
        item = next;
    }
}

/* --- what --terms does not know --------------------------------------------------------------- */

/* What to do instead of an item that no option says; NULL: --terms may take it. */
static const char *instead_of(const char *item)
{
    static const struct {
        const char *begins, *instead;
    } others[] = {
        { "s(", "--terms has no smooth terms: the model spline fits a sum of smooth curves, and "
                "bspline(COLUMN,8) in --terms is a curve without penalty" },
        { "te(",
          "--terms has no smooth terms: the model gp fits smooth functions of several columns" },
        { "offset(", "--terms has no offset: the model glm has --offset COLUMN" },
        { "ns(", "in --terms, natural(COLUMN,K) has K - 1 terms beside the intercept, as "
                 "ns(COLUMN, K - 1) has" },
        { "bs(", "in --terms, bspline(COLUMN,K) has K - 1 terms beside the intercept, as "
                 "bs(COLUMN, K - 1) has" },
    };
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (strncmp(item, others[k].begins, strlen(others[k].begins)) == 0)
            return others[k].instead;
    if (strncmp(item, "poly(", 5) == 0 && strchr(item, '='))
        return "write poly(COLUMN,K) in --terms: it has the powers up to K";
    if (strncmp(item, "I(", 2) == 0 && strpbrk(item, "*/+-") && strncmp(item, "I(1/", 4) != 0)
        return "--terms does not calculate with numbers: the column alone gives the same fit as "
               "the column times a number; other columns must be in the file";
    if (item[0] == '(' && strchr(item, '|') && strncmp(item, "(1", 2) != 0)
        return "--terms has varying intercepts, (1 | COLUMN), but no varying slopes";
    if (item[0] != '(' && *find_sign(item, "|"))
        return "--terms has no |: (1 | COLUMN) is an intercept for each level, which bayes-linear "
               "and glm learn, and a*b a slope for each";
    if (item[0] == '(' && !strchr(item, '|'))
        return "--terms has no brackets around sums: a*b is a + b + a:b";
    return NULL;
}

/* Appends (a + b + c)^2 as a + b + c + a:b + a:c + b:c; false: it is not of this form. */
static bool take_square(cr_scratch *s, const char *item, char *to)
{
    enum { MOST = 16 };
    size_t n = 0, length = strlen(item);
    char  *names[MOST], *inner = NULL;
    if (length < 5 || item[0] != '(' || strcmp(item + length - 3, ")^2") != 0) return false;
    inner = trimmed(s, item + 1, item + length - 3);
    for (const char *at = inner; at && n < MOST;) {
        const char *end = find_sign(at, "+");
        char       *name = names[n++] = trimmed(s, at, end);
        for (const char *c = name; c && *c; c++)
            if (!is_name_byte(*c)) return false;
        if (!name || !*name) return false;
        at = *end ? end + 1 : NULL;
    }
    if (n < 2 || n == MOST) return false;
    for (size_t i = 0; i < n; i++) {
        if (i > 0) append_text(to, " + ");
        append_text(to, names[i]);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            append_text(to, " + "), append_text(to, names[i]);
            append_text(to, ":"), append_text(to, names[j]);
        }
    return true;
}

const char *cri_formula_instead(const cri_formula *f)
{
    if (f->instead) return f->instead;
    return f->nothing && f->target
               ? "--terms needs a column: the model normal describes a column by its mean alone"
               : "write --target COLUMN, and what follows ~ in --terms";
}

const char *cri_formula_remark(const cri_formula *f)
{
    return f->varying ? "; bayes-linear and glm have varying intercepts" : "";
}

/* --- the formula ------------------------------------------------------------------------------ */

cr_status cri_formula_read(cr_scratch *s, const char *text, cri_formula *out)
{
    cri_formula f = { .target = NULL };
    const char *tilde = find_sign(text, "~"), *at = tilde + 1;
    size_t      size = 64 * strlen(text) + 8; /* a square has each name up to 15 times */
    char       *left = trimmed(s, text, tilde), *terms = cr_scratch_bytes(s, size, 1),
         *categories = cr_scratch_bytes(s, size, 1);
    bool any = false, plain = true;
    if (!left || !terms || !categories) return s->status;
    *terms = *categories = '\0';
    read_target(s, left, &f);
    for (char sign = '+'; *at || sign;) { /* items, each with the sign before it */
        const char *end = find_sign(at, "+-");
        char       *item = trimmed(s, at, end);
        if (!item) return s->status;
        bool zero = strcmp(item, "0") == 0, one = strcmp(item, "1") == 0;
        if ((zero && sign == '+') || (one && sign == '-')) f.without_intercept = true;
        if (*item && !zero && !one) {
            if (any || sign == '-') append_text(terms, sign == '-' ? (any ? " - " : "-") : " + ");
            f.varying |= item[0] == '(' && item[1] == '1' && strchr(item, '|');
            if (sign == '-' || !take_square(s, item, terms)) {
                size_t before = strlen(terms);
                take_item(item, terms, categories);
                if (!f.instead) f.instead = instead_of(terms + before);
            }
            plain = plain && !any && sign == '+' && strcmp(item, ".") == 0;
            any = true;
        }
        sign = *end;
        at = *end ? end + 1 : end;
        if (!sign) break;
    }
    f.nothing = !any;
    f.terms = plain ? "" : terms;
    f.categories = categories;
    *out = f;
    return s->status;
}

/* A word of a command, in single quotes where it needs them. */
static void add_word(char *out, const char *option, const char *word)
{
    size_t n = 0;
    while (is_name_byte(word[n]) || word[n] == ',') n++;
    bool quoted = word[n] != '\0';
    append_text(out, option);
    if (quoted) append_text(out, "'");
    append_text(out, word);
    if (quoted) append_text(out, "'");
}

const char *cri_formula_options(cr_scratch *s, const cri_formula *f)
{
    char *out;
    if (!f->target || f->nothing || f->instead || strchr(f->terms, '\'') || strchr(f->target, '\''))
        return NULL;
    out =
        cr_scratch_bytes(s, strlen(f->target) + strlen(f->terms) + strlen(f->categories) + 128, 1);
    if (!out) return NULL;
    *out = '\0';
    add_word(out, " --target ", f->target);
    if (f->transform) add_word(out, " --transform-target ", f->transform);
    if (*f->terms) add_word(out, " --terms ", f->terms);
    if (*f->categories) add_word(out, " --category ", f->categories);
    if (f->without_intercept) append_text(out, " --no-intercept");
    return out;
}

cr_status cri_formula_refuse(cr_ctx *cx, const char *text)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_formula f;
    CR_TRY(cri_formula_read(&s, text, &f));
    const char *options = cri_formula_options(&s, &f);
    CR_TRY(s.status);
    cr_fail(cx, CR_EARG, "--terms: '%.200s' is a formula, but the target is an option of its own",
            text);
    st = options ? cr_fail_hint(cx, "write%s%s", options, cri_formula_remark(&f))
                 : cr_fail_hint(cx, "%s", cri_formula_instead(&f));
done:
    cr_scratch_end(&s);
    return st;
}
