/* dist_input.c -- what the verb dist is given: numbers and parameters. */
#include "dist_job.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- numbers on the command line ------------------------------------------------------------- */

static bool is_break(char ch) { return ch == ',' || ch == ';'; }

size_t dist_count_numbers(const char *text)
{
    size_t n = 1;
    for (; *text; text++) n += is_break(*text);
    return n;
}

/* Reads numbers with commas or semicolons between them into out. */
cr_status dist_read_numbers(cli *c, const char *what, const char *text, double *out)
{
    for (const char *at = text;; at++) {
        const char *end = at;
        while (*end && !is_break(*end)) end++;
        if (end == at || cri_parse_double(at, end, out) != (size_t)(end - at))
            return cr_fail(c->cx, CR_EARG, "%s: '%.*s' is not a number", what, (int)(end - at), at);
        out++;
        if (!*end) return CR_OK;
        at = end;
    }
}

/* --- parameters ------------------------------------------------------------------------------ */

enum { MOST_PARAMETERS = 8 };

size_t dist_parameter_count(const cr_dist_class *d)
{
    size_t n = 0;
    while (cr_dist_parameter(d, n)) n++;
    return n;
}

size_t dist_dimension(const cr_dist_class *c, size_t n)
{
    for (size_t d = 1; d < n; d++) {
        size_t used = 0;
        for (size_t i = 0; cr_dist_parameter(c, i); i++) {
            cr_shape shape = cr_dist_parameter(c, i)->shape;
            used += shape == CR_SHAPE_SCALAR ? 1 : shape == CR_SHAPE_VECTOR ? d : d * d;
        }
        if (used >= n) return d;
    }
    return n > 0 ? n : 1;
}

static const char *parameter_name(const void *d, size_t i) { return cr_dist_parameter(d, i)->name; }

static double inverse(double x) { return 1 / x; }
static double root(double x) { return sqrt(x); }
static double inverse_root(double x) { return 1 / sqrt(x); }

/* Other words that people have for a parameter, and how its value follows. */
static const struct {
    const char *given, *known, *as;
    double (*value)(double);
} synonyms[] = {
    { "scale", "rate", "1 / scale", inverse },
    { "variance", "sd", "the root of the variance", root },
    { "precision", "sd", "1 / the root of the precision", inverse_root },
};

/* No parameter is called so: the one that is meant, with its value, or the nearest name. */
static cr_status fail_parameter(dist_job *j, const char *name, const char *value)
{
    size_t n = dist_parameter_count(j->dist), length = strlen(value);
    char   number[32];
    double x;
    cr_fail(j->c->cx, CR_EARG, "%s has no parameter '%s'", cr_dist_name(j->dist), name);
    for (size_t k = 0; k < sizeof synonyms / sizeof *synonyms; k++)
        for (size_t i = 0; i < n; i++) {
            if (strcmp(synonyms[k].given, name) != 0 ||
                strcmp(synonyms[k].known, parameter_name(j->dist, i)) != 0)
                continue;
            bool known = cri_parse_double(value, value + length, &x) == length && x > 0;
            return cr_fail_hint(
                j->c->cx, "use %s, which is %s%s%s%s", synonyms[k].known, synonyms[k].as,
                known ? ": " : "", known ? synonyms[k].known : "",
                known ? (snprintf(number, sizeof number, "=%.12g", synonyms[k].value(x)), number)
                      : "");
        }
    return cr_fail_nearest(j->c->cx, name, "parameters", n, parameter_name, j->dist);
}

/* Which parameter a word sets: "name=value" that one, else the next free. */
static cr_status place_word(dist_job *j, const char *word, const char *taken[], size_t *which,
                            const char **value)
{
    const char *equals = strchr(word, '=');
    size_t      n = dist_parameter_count(j->dist), at = 0;
    char        name[64];
    if (!equals) {
        while (at < n && taken[at]) at++;
        *value = word;
    } else {
        snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
        while (at < n && strcmp(cr_dist_parameter(j->dist, at)->name, name) != 0) at++;
        *value = equals + 1;
        if (at == n) return fail_parameter(j, name, *value);
        if (taken[at])
            return cr_fail(j->c->cx, CR_EARG, "%s: %s is given twice", cr_dist_name(j->dist), name);
    }
    *which = at;
    return CR_OK;
}

/* All words into one array, in the order of the declaration.  A vector that comes last may also be
 * spread over several words. */
cr_status dist_read_parameters(dist_job *j)
{
    cr_status   st = CR_OK;
    const char *taken[MOST_PARAMETERS] = { NULL }, *value;
    size_t      n = dist_parameter_count(j->dist), at = 0, capacity = n;
    for (size_t i = 1; i < j->c->n_args; i++) capacity += dist_count_numbers(j->c->args[i]);
    j->v = cr_scratch_f64(&j->s, capacity);
    double *extra = cr_scratch_f64(&j->s, capacity);
    size_t  n_extra = 0;
    CR_TRY(j->s.status);
    for (size_t i = 1; i < j->c->n_args; i++) {
        size_t which = 0;
        CR_TRY(place_word(j, j->c->args[i], taken, &which, &value));
        bool spread = which == n && cr_dist_parameter(j->dist, n - 1)->shape == CR_SHAPE_VECTOR;
        if (which == n && !spread) {
            cr_fail(j->c->cx, CR_EARG, "%s: '%s' is one parameter too many", cr_dist_name(j->dist),
                    value);
            CR_TRY(cr_fail_hint(j->c->cx, "credence dist %s explains them", cr_dist_name(j->dist)));
        }
        if (which < n)
            taken[which] = value;
        else {
            CR_TRY(dist_read_numbers(j->c, cr_dist_parameter(j->dist, n - 1)->name, value,
                                     extra + n_extra));
            n_extra += dist_count_numbers(value);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const cr_dist_param *p = cr_dist_parameter(j->dist, i);
        if (taken[i] && j->o->fit && !p->given && cr_dist_is_vector(j->dist)) {
            CR_TRY(cr_fail(j->c->cx, CR_EARG, "%s: %s is fitted, so it cannot also be given",
                           cr_dist_name(j->dist), p->name));
        } else if (taken[i]) {
            CR_TRY(dist_read_numbers(j->c, p->name, taken[i], j->v + at));
            at += dist_count_numbers(taken[i]);
        } else if (j->o->fit && !p->given) {
            j->v[at++] = NAN;
        } else if (p->standard) {
            CR_TRY(dist_read_numbers(j->c, p->name, p->example, j->v + at++));
        } else {
            cr_fail(j->c->cx, CR_EARG, "%s: %s is missing: %s; %s", cr_dist_name(j->dist), p->name,
                    p->help, p->domain);
            CR_TRY(cr_fail_hint(j->c->cx, "for example %s=%s", p->name, p->example));
        }
    }
    for (size_t i = 0; i < n_extra; i++) j->v[at++] = extra[i];
    j->n = at;
done:
    return st;
}
