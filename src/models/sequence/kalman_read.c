/* kalman_read.c -- the parts of a structural model from their names: "trend,seasonal:12" or "level + ar:2". */
#include "kalman_parts.h"
#include "base/number.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

static const struct word {
    const char     *name;
    cri_kalman_kind kind;
    size_t          numbers; /* behind the colon */
} words[] = {
    { "level", CRI_KALMAN_LEVEL, 0 },
    { "trend", CRI_KALMAN_TREND, 0 },
    { "seasonal", CRI_KALMAN_SEASONAL, 1 },
    { "cycle", CRI_KALMAN_CYCLE, 0 },
    { "ar", CRI_KALMAN_AR, 1 },
    { "arma", CRI_KALMAN_ARMA, 2 },
    { "regression", CRI_KALMAN_REGRESSION, 0 },
    { "irregular", CRI_KALMAN_IRREGULAR, 0 },
};
enum { WORDS = sizeof words / sizeof *words };

static cr_status fail_word(cr_ctx *cx, const char *word, size_t length)
{
    cr_fail(cx, CR_EARG, "--components has no part '%.*s'", (int)length, word);
    return cr_fail_hint(cx,
                        "parts are level, trend, seasonal:12, cycle, ar:2, arma:1,1, regression, "
                        "regression:walk and irregular, as in --components trend,seasonal:12");
}

static const char *skip(const char *at)
{
    while (isspace((unsigned char)*at)) at++;
    return at;
}

/* A whole number at *at, which goes on behind it. */
static bool read_number(const char **at, size_t *out)
{
    char         *end;
    unsigned long n;
    *at = skip(*at);
    if (!isdigit((unsigned char)**at)) return false;
    n = strtoul(*at, &end, 10);
    *at = end;
    *out = n > 1000000 ? 1000000 : n;
    return true;
}

/* The numbers behind the colon of a part. */
static cr_status read_numbers(cr_ctx *cx, const struct word *w, const char **at,
                              cri_kalman_part *part)
{
    size_t number[2] = { 0, 0 };
    for (size_t i = 0; i < w->numbers; i++) {
        *at = skip(*at);
        if (**at != (i == 0 ? ':' : ',') || (++*at, !read_number(at, &number[i])))
            return cr_fail(cx, CR_EARG, "--components: '%s' needs %s, as in %s", w->name,
                           w->numbers == 2 ? "two numbers" : "a number",
                           w->kind == CRI_KALMAN_ARMA       ? "arma:1,1"
                           : w->kind == CRI_KALMAN_SEASONAL ? "seasonal:12"
                                                            : "ar:2");
    }
    if (w->kind == CRI_KALMAN_SEASONAL) {
        part->period = number[0];
        if (part->period < 2 || part->period > CRI_KALMAN_MOST_STATES)
            return cr_fail(cx, CR_EARG, "--components: a season has 2 to %d rows, not %zu",
                           CRI_KALMAN_MOST_STATES, part->period);
        return CR_OK;
    }
    part->p = number[0];
    part->q = number[1];
    if (w->numbers > 0 && (part->p > CRI_KALMAN_MOST_LAGS || part->q > CRI_KALMAN_MOST_LAGS ||
                           part->p + part->q == 0))
        return cr_fail(cx, CR_EARG, "--components: '%s' has 1 to %d lags", w->name,
                       CRI_KALMAN_MOST_LAGS);
    return CR_OK;
}

/* One part at *at. */
static cr_status read_part(cr_ctx *cx, const char **at, cri_kalman_plan *plan)
{
    size_t length;
    *at = skip(*at);
    for (length = 0; isalpha((unsigned char)(*at)[length]) || (*at)[length] == '-';) length++;
    const struct word *w = NULL;
    for (size_t i = 0; i < WORDS; i++)
        if (strlen(words[i].name) == length && strncmp(words[i].name, *at, length) == 0)
            w = &words[i];
    if (!w) {
        size_t rest = strcspn(*at, "+,");
        return fail_word(cx, *at, rest);
    }
    if (plan->n_parts + 2 > CRI_KALMAN_MOST_PARTS)
        return cr_fail(cx, CR_EARG, "--components has more than %d parts",
                       CRI_KALMAN_MOST_PARTS - 2);
    cri_kalman_part *part = &plan->parts[plan->n_parts++];
    *part = (cri_kalman_part){ .kind = w->kind };
    snprintf(part->name, sizeof part->name, "%s", w->name);
    *at += length;
    if (w->kind == CRI_KALMAN_REGRESSION && **at == ':') {
        part->walk = strncmp(*at, ":walk", 5) == 0 && !isalpha((unsigned char)(*at)[5]);
        if (!part->walk)
            return cr_fail(cx, CR_EARG,
                           "--components: coefficients are constant, as in "
                           "regression, or walk, as in regression:walk");
        *at += 5;
    }
    return read_numbers(cx, w, at, part);
}

static size_t count_kind(const cri_kalman_plan *plan, cri_kalman_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n_parts; i++) n += plan->parts[i].kind == kind;
    return n;
}

/* Parts that say the same cannot be told apart. */
static cr_status check_parts(cr_ctx *cx, const cri_kalman_plan *plan, size_t k)
{
    static const cri_kalman_kind once[] = { CRI_KALMAN_CYCLE, CRI_KALMAN_REGRESSION,
                                            CRI_KALMAN_IRREGULAR };
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        if (count_kind(plan, once[i]) > 1)
            return cr_fail(cx, CR_EARG, "--components has the same part twice");
    if (count_kind(plan, CRI_KALMAN_LEVEL) + count_kind(plan, CRI_KALMAN_TREND) > 1)
        return cr_fail(cx, CR_EARG,
                       "--components: 'trend' has a level: give one of level and trend");
    if (count_kind(plan, CRI_KALMAN_AR) + count_kind(plan, CRI_KALMAN_ARMA) > 1)
        return cr_fail(cx, CR_EARG, "--components has more than one of ar and arma");
    for (size_t i = 0; i < plan->n_parts; i++)
        for (size_t j = 0; j < i; j++)
            if (plan->parts[i].period > 0 && plan->parts[i].period == plan->parts[j].period)
                return cr_fail(cx, CR_EARG, "--components has the season of %zu twice",
                               plan->parts[i].period);
    bool wants = count_kind(plan, CRI_KALMAN_REGRESSION) > 0;
    if (wants && k == 0)
        return cr_fail(
            cx, CR_EARG,
            "--components regression needs columns beside the target, and there are none");
    return CR_OK;
}

static size_t states_of(const cri_kalman_part *part, size_t k)
{
    switch (part->kind) {
    case CRI_KALMAN_TREND:
    case CRI_KALMAN_CYCLE:
        return 2;
    case CRI_KALMAN_SEASONAL:
        return part->period - 1;
    case CRI_KALMAN_AR:
    case CRI_KALMAN_ARMA:
        return part->p > part->q + 1 ? part->p : part->q + 1;
    case CRI_KALMAN_REGRESSION:
        return k;
    case CRI_KALMAN_IRREGULAR:
        return 0;
    default:
        return 1;
    }
}

static void add_scale(cri_kalman_plan *plan, cri_kalman_part *part, cri_kalman_scale scale)
{
    plan->scale[plan->n_theta++] = scale;
    part->count++;
}

static void add_parameters(cri_kalman_plan *plan, cri_kalman_part *part)
{
    part->theta = plan->n_theta;
    for (size_t i = 0; i < part->p + part->q; i++) add_scale(plan, part, CRI_KALMAN_PARTIAL);
    if (part->kind != CRI_KALMAN_REGRESSION && part->kind != CRI_KALMAN_CONSTANT)
        add_scale(plan, part, CRI_KALMAN_VARIANCE);
    if (part->kind == CRI_KALMAN_TREND) add_scale(plan, part, CRI_KALMAN_VARIANCE);
    for (size_t i = 0; part->walk && i < part->n; i++) add_scale(plan, part, CRI_KALMAN_VARIANCE);
    if (part->kind != CRI_KALMAN_CYCLE) return;
    add_scale(plan, part, CRI_KALMAN_DAMPING);
    add_scale(plan, part, CRI_KALMAN_PERIOD);
}

static void add_part(cri_kalman_plan *plan, cri_kalman_kind kind, const char *name)
{
    cri_kalman_part *part = &plan->parts[plan->n_parts++];
    *part = (cri_kalman_part){ .kind = kind };
    snprintf(part->name, sizeof part->name, "%s", name);
}

/* Regressors stand last among the states, and the irregular first among the parameters. */
static int rank_of(const cri_kalman_part *part)
{
    return part->kind == CRI_KALMAN_IRREGULAR ? 0 : part->kind == CRI_KALMAN_REGRESSION ? 2 : 1;
}

static void put_in_order(cri_kalman_plan *plan)
{
    for (size_t i = 1; i < plan->n_parts; i++)
        for (size_t j = i; j > 0 && rank_of(&plan->parts[j]) < rank_of(&plan->parts[j - 1]); j--) {
            cri_kalman_part swap = plan->parts[j];
            plan->parts[j] = plan->parts[j - 1];
            plan->parts[j - 1] = swap;
        }
}

/* What goes without saying: noise, where ar is not the noise, and a constant, where there is no level. */
static void complete(cri_kalman_plan *plan)
{
    bool arma = count_kind(plan, CRI_KALMAN_AR) + count_kind(plan, CRI_KALMAN_ARMA) > 0;
    bool level = count_kind(plan, CRI_KALMAN_LEVEL) + count_kind(plan, CRI_KALMAN_TREND) > 0;
    bool diffuse =
        count_kind(plan, CRI_KALMAN_SEASONAL) + count_kind(plan, CRI_KALMAN_REGRESSION) > 0;
    if (!arma && count_kind(plan, CRI_KALMAN_IRREGULAR) == 0)
        add_part(plan, CRI_KALMAN_IRREGULAR, "irregular");
    plan->dynamic = arma || count_kind(plan, CRI_KALMAN_CYCLE) > 0;
    plan->mean = !level && !diffuse && plan->dynamic;
    if (!level && !plan->mean) add_part(plan, CRI_KALMAN_CONSTANT, "mean");
}

static void lay_out(cri_kalman_plan *plan)
{
    bool several = count_kind(plan, CRI_KALMAN_SEASONAL) > 1;
    for (size_t i = 0; i < plan->n_parts; i++) {
        cri_kalman_part *part = &plan->parts[i];
        part->first = plan->m;
        part->n = states_of(part, plan->k);
        plan->m += part->n;
        add_parameters(plan, part);
        if (several && part->kind == CRI_KALMAN_SEASONAL)
            snprintf(part->name, sizeof part->name, "seasonal%zu", part->period);
    }
    if (plan->mean) plan->scale[plan->n_theta++] = CRI_KALMAN_MEAN;
}

cr_status cri_kalman_plan_read(cr_ctx *cx, const char *text, size_t k, double longest,
                               cri_kalman_plan *out)
{
    cr_status       st = CR_OK;
    cri_kalman_plan plan = { .longest = longest > 4 ? longest : 4 };
    const char     *at = text;
    for (bool more = true; more;) {
        CR_TRY(read_part(cx, &at, &plan));
        at = skip(at);
        more = *at == '+' || *at == ',';
        if (more) at++;
    }
    if (*at) CR_TRY(fail_word(cx, at, strcspn(at, "+,")));
    CR_TRY(check_parts(cx, &plan, k));
    plan.k = count_kind(&plan, CRI_KALMAN_REGRESSION) > 0 ? k : 0;
    for (size_t i = 0; i < plan.n_parts; i++) plan.walk = plan.walk || plan.parts[i].walk;
    if (plan.walk && k > CRI_KALMAN_MOST_WALKS)
        CR_TRY(cr_fail(cx, CR_EARG, "regression:walk has %zu columns: more than %d are too many", k,
                       CRI_KALMAN_MOST_WALKS));
    complete(&plan);
    put_in_order(&plan);
    lay_out(&plan);
    if (plan.m > CRI_KALMAN_MOST_STATES)
        CR_TRY(cr_fail(cx, CR_EARG, "--components has %zu states: more than %d are too many",
                       plan.m, CRI_KALMAN_MOST_STATES));
    plan.p = 1;
    plan.m1 = plan.m;
    plan.n1 = plan.n_theta;
    *out = plan;
done:
    return st;
}

/* A part that is what it is by counting rows, or that changes its sign from row to row, has no form between them. */
cr_status cri_kalman_plan_between(cr_ctx *cx, cri_kalman_plan *plan)
{
    for (size_t k = 0; k < plan->n_parts; k++) {
        cri_kalman_part *part = &plan->parts[k];
        bool             one = part->kind == CRI_KALMAN_AR && part->p == 1;
        if (part->kind == CRI_KALMAN_SEASONAL || part->kind == CRI_KALMAN_ARMA ||
            (part->kind == CRI_KALMAN_AR && !one)) {
            cr_fail(cx, CR_EUNSUPPORTED,
                    "the times of rows are not whole steps, between which '%s' has no form",
                    part->name);
            return cr_fail_hint(cx,
                                "--unit gives the length of a step; level, trend, cycle, ar:1 and "
                                "regression are defined at all times");
        }
        part->damped = one;
    }
    plan->between = true;
    return CR_OK;
}
