/* random_expression.h -- expressions at random, for laws that hold for all of them. */
#ifndef CREDENCE_TEST_KERNEL_RANDOM_EXPRESSION_H
#define CREDENCE_TEST_KERNEL_RANDOM_EXPRESSION_H

#include "rows.h"

typedef struct text_out {
    char   text[4096];
    size_t used;
} text_out;

static inline void say(text_out *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->used += (size_t)vsnprintf(t->text + t->used, sizeof t->text - t->used, format, args);
    va_end(args);
}

/* A value, sometimes with ends. */
static inline void say_value(text_out *t, dice *d, bool ends)
{
    say(t, "%.6g", uniform(d, 0.5, 2));
    if (!ends) return;
    if (pick(d, 6) == 0) say(t, " fixed");
    if (pick(d, 6) == 0) say(t, "[0.1,10]");
    if (pick(d, 6) == 0)
        say(t, "~lognormal(0.3,%.3g)", uniform(d, 0.5, 2));
    else if (pick(d, 6) == 0)
        say(t, "~gamma(2,%.3g)", uniform(d, 0.5, 2));
}

/* A leaf for numbers in (0.1, 0.9); texts and categories when all. */
static inline void say_leaf(text_out *t, dice *d, bool smooth, bool all, bool ends)
{
    static const char *const lengths[] = { "rbf",      "matern12", "matern32",
                                           "matern52", "rq",       "periodic" };
    static const char *const columns[] = { "", "x1; ", "x1, x3; ", "x2, x3; " };
    switch (pick(d, all ? 17 : smooth ? 6 : 8)) {
    case 0:
    case 1:
    case 2: {
        size_t which = smooth ? 2 + pick(d, 4) : pick(d, 6), c = pick(d, 4);
        say(t, "%s(%sl=", lengths[which], columns[c]);
        say_value(t, d, ends);
        if (pick(d, 2)) say(t, ", ard");
        if (which < 5 && pick(d, 4) == 0)
            say(t, ", warp=kumaraswamy, a=1.3, b=0.8");
        else if (which < 5 && pick(d, 4) == 0)
            say(t, ", warp=log");
        say(t, ")");
        break;
    }
    case 3:
        if (pick(d, 3) == 0)
            say(t, "loglinear(%sslope=%.3g, ard)", columns[pick(d, 4)], uniform(d, -1, 1));
        else
            say(t, pick(d, 2) ? "linear" : "linear(x2, x1)");
        break;
    case 4:
        say(t, "polynomial(degree=%zu, c=", 1 + pick(d, 3));
        say_value(t, d, ends);
        say(t, ")");
        break;
    case 5:
        say(t, "cosine(%sp=", columns[pick(d, 4)]);
        say_value(t, d, ends);
        say(t, pick(d, 2) ? ", ard)" : ")");
        break;
    case 6:
        say(t, "white(0.3)");
        break;
    case 7:
        say(t, pick(d, 2) ? "chi2(gamma=0.7)" : "bhattacharyya");
        break;
    case 8:
        say(t, "hamming(l=0.8)");
        break;
    case 9:
        say(t, "category(c1; rank=%zu)", 1 + pick(d, 2));
        break;
    case 10:
        say(t, "spectrum(k=%zu, normalise=1)", 1 + pick(d, 2));
        break;
    case 11:
        say(t, "subsequence(t1; k=2, lambda=0.6, normalise=%zu)", pick(d, 2));
        break;
    case 12: {
        static const char *const some[] = { "intersection", "jaccard", "jensen_shannon",
                                            "exp_jensen_shannon(gamma=2)", "weighted_degree(k=3)" };
        say(t, "%s", some[pick(d, 5)]);
    } break;
    case 13:
        say(t, "set(t1)");
        break;
    case 14:
        say(t, "mismatch(k=%zu, m=%zu, alphabet=4, normalise=1)", 2 + pick(d, 2), pick(d, 2));
        break;
    case 15:
        say(t, pick(d, 2) ? "brownian" : "brownian(x2)");
        break;
    case 16:
        say(t, pick(d, 2) ? "normalise(spectrum(k=2))" : "normalise(set + 0.5*linear)");
        break;
    }
}

static inline void say_expression(text_out *t, dice *d, size_t depth, bool smooth, bool all,
                                  bool ends)
{
    size_t form = depth == 0 ? 0 : pick(d, 8);
    if (form == 0) {
        say_leaf(t, d, smooth, all, ends);
    } else if (form == 1) {
        say_value(t, d, ends);
        say(t, "*");
        say_leaf(t, d, smooth, all, ends);
    } else if (form == 2) {
        static const char *const over[] = { "rbf", "matern52", "rq" };
        say(t, "%s(base=", over[pick(d, 3)]);
        say_expression(t, d, depth - 1, smooth, all, ends);
        say(t, ", l=%.4g)", uniform(d, 1, 3));
    } else if (form == 3) {
        say(t, "(");
        say_expression(t, d, depth - 1, smooth, all, ends);
        say(t, ")^2");
    } else if (form == 4 || form == 7) { /* without white */
        say(t, form == 4 ? "normalise(" : "centre(");
        say_expression(t, d, depth - 1, true, false, ends);
        say(t, ")");
    } else {
        size_t n = 2 + pick(d, 2);
        say(t, "(");
        for (size_t i = 0; i < n; i++) {
            if (i) say(t, form == 5 ? " + " : " * ");
            say_expression(t, d, depth - 1, smooth, all, ends);
        }
        say(t, ")");
    }
}

#endif
