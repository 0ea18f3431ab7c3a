/* scores.c -- the formulas of scores of tables.
 * Sums over cells and configurations of functions of one count each: where counts are whole numbers, x log x and log x!
 * come from tables, which is most of the work that bic, aic, loglik, k2 and qnml are. */
#include "local_score.h"
#include "base/number.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

/* --- the regret of a multinomial -------------------------------------------------------------- */

/* C(n, r + 2) = C(n, r + 1) + n C(n, r) / r (Kontkanen & Myllymäki 2007), with C(n, 1) = 1. */
static double regret_of_two(double n)
{
    double sum = 2; /* k = 0 and k = n */
    for (double k = 1; k < n; k++)
        sum += exp(cr_lchoose(n, k) + k * log(k / n) + (n - k) * log1p(-k / n));
    return sum;
}

/* Szpankowski & Weinberger (2010): for many states. */
static double regret_of_many(double n, double r)
{
    double a = r / n, c = 0.5 + 0.5 * sqrt(1 + 4 / a);
    return n * (log(a) + (a + 2) * log(c) - 1 / c) - 0.5 * log(c + 2 / a);
}

enum { MOST_REGRETS = 1024, MOST_EXACT_ROWS = 100000 };

/* out[r - 1] = log C(n, r) for r = 1 .. most. */
static void fill_regrets(double n, size_t most, double *out)
{
    double before = 0, last = log(regret_of_two(n)); /* of r and r + 1 */
    out[0] = 0;
    for (size_t r = 1; r < most; r++) {
        out[r] = last;
        double next = last + log1p(exp(log(n / (double)r) + before - last));
        before = last, last = next;
    }
}

double cri_log_regret(double n, double r)
{
    if (n <= 0 || r <= 1) return 0;
    if (r > MOST_REGRETS || n > MOST_EXACT_ROWS || n != floor(n)) return regret_of_many(n, r);
    double before = 0, last = log(regret_of_two(n));
    for (double k = 1; k + 1 < r; k++) {
        double next = last + log1p(exp(log(n / k) + before - last));
        before = last, last = next;
    }
    return last;
}

/* --- sums over cells -------------------------------------------------------------------------- */

/* What one source keeps: tables of functions of whole counts, and regrets of as many rows as count for a variable. */
typedef struct table_score {
    const cri_cases_table *t;
    cri_score_kind         kind;
    double                 ess;
    size_t                 known;    /* entries of the tables; 0: there are none */
    double                *xlogx;    /* [known] */
    double                *log_fact; /* [known] */
    double **regret; /* [p] to [MOST_REGRETS], shared where the rows are as many; NULL: none */
} table_score;

static double x_log_x(const table_score *o, double x)
{
    if (o && x < (double)o->known) return o->xlogx[(size_t)x];
    return x > 0 ? x * log(x) : 0;
}

static double log_factorial(const table_score *o, double x)
{
    if (o && x < (double)o->known) return o->log_fact[(size_t)x];
    return cr_lgamma_abs(x + 1);
}

static double log_likelihood(const table_score *o, const cri_counts *c)
{
    double cells = 0, configs = 0;
    for (size_t k = 0; k < c->cells; k++) cells += x_log_x(o, c->cell[k]);
    for (size_t j = 0; j < c->configs; j++) configs += x_log_x(o, c->config[j]);
    return cells - configs;
}

/* log P of the rows when each row of the table is Dirichlet(a, ..., a). */
static double dirichlet(const cri_counts *c, double a)
{
    double sum = 0, all = a * (double)c->r;
    for (size_t k = 0; k < c->cells; k++)
        if (c->cell[k] > 0) sum += cr_lgamma_diff(a, c->cell[k]);
    for (size_t j = 0; j < c->configs; j++)
        if (c->config[j] > 0) sum -= cr_lgamma_diff(all, c->config[j]);
    return sum;
}

static double factorials(const table_score *o, const cri_counts *c)
{
    double sum = 0, r = (double)c->r;
    for (size_t k = 0; k < c->cells; k++) sum += log_factorial(o, c->cell[k]);
    for (size_t j = 0; j < c->configs; j++)
        if (c->config[j] > 0)
            sum += log_factorial(o, r - 1) - log_factorial(o, c->config[j] + r - 1);
    return sum;
}

static double occurring(const cri_counts *c)
{
    size_t n = 0;
    for (size_t j = 0; j < c->configs; j++) n += c->config[j] > 0;
    return n > 0 ? (double)n : 1;
}

static double held_out(const cri_counts *c, double ess)
{
    double sum = 0, a = ess / c->q / (double)c->r;
    for (size_t k = 0; k < c->cells && c->held; k++) {
        double of = c->config[c->dense ? k / c->r : c->of[k]];
        if (c->held[k] > 0) sum += c->held[k] * log((c->cell[k] + a) / (of + ess / c->q));
    }
    return sum;
}

static double regret(const double *opt_known, double n, double r)
{
    return opt_known && r <= MOST_REGRETS ? opt_known[(size_t)r - 1] : cri_log_regret(n, r);
}

static double score_of(const table_score *o, const double *opt_regret, const cri_counts *c,
                       cri_score_kind kind, double ess)
{
    double r = (double)c->r, free = c->q * (r - 1);
    switch (kind) {
    case CRI_SCORE_LOGLIK:
        return log_likelihood(o, c);
    case CRI_SCORE_AIC:
        return log_likelihood(o, c) - free;
    case CRI_SCORE_BIC:
        return log_likelihood(o, c) - (c->total > 1 ? free * log(c->total) / 2 : 0);
    case CRI_SCORE_BDEU:
        return dirichlet(c, ess / c->q / r);
    case CRI_SCORE_BDS:
        return dirichlet(c, ess / occurring(c) / r);
    case CRI_SCORE_K2:
        return factorials(o, c);
    case CRI_SCORE_QNML:
        return log_likelihood(o, c) - regret(opt_regret, c->total, c->q * r) +
               regret(opt_regret, c->total, c->q);
    case CRI_SCORE_HOLDOUT:
        return held_out(c, ess);
    }
    return 0;
}

double cri_counts_score(const cri_counts *c, cri_score_kind kind, double ess)
{
    return score_of(NULL, NULL, c, kind, ess);
}

/* --- as a source ------------------------------------------------------------------------------ */

static double score_family(const void *own, size_t child, const uint32_t *parents, size_t n,
                           void *work)
{
    const table_score *o = own;
    cri_counts         c = cri_count_family(o->t, work, child, parents, n);
    return score_of(o, o->regret ? o->regret[child] : NULL, &c, o->kind, o->ess);
}

static cr_status open_counter(cr_scratch *s, const void *own, void **out_work)
{
    const table_score *o = own;
    cri_counter       *c = cr_scratch_bytes(s, 1, sizeof *c);
    cr_status          st = s->status == CR_OK ? cri_counter_new(s, o->t, c) : s->status;
    if (st == CR_OK) *out_work = c;
    return st;
}

static cr_status fill_functions(cr_scratch *s, table_score *o)
{
    enum { MOST_KNOWN = 1 << 20 };
    const cri_cases_table *t = o->t;
    size_t                 most = 0;
    for (size_t v = 0; v < t->p; v++) most = t->levels[v] > most ? t->levels[v] : most;
    if (!t->whole || t->rows + (double)most + 1 > MOST_KNOWN) return CR_OK;
    size_t known = (size_t)t->rows + most + 1;
    o->xlogx = cr_scratch_f64(s, known);
    o->log_fact = cr_scratch_f64(s, o->kind == CRI_SCORE_K2 ? known : 0);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < known; i++) o->xlogx[i] = i > 0 ? (double)i * log((double)i) : 0;
    for (size_t i = 0; i < known && o->kind == CRI_SCORE_K2; i++)
        o->log_fact[i] = cr_lgamma_abs((double)i + 1);
    o->known = known;
    return CR_OK;
}

static double rows_for(const cri_cases_table *t, size_t v)
{
    double n = 0;
    for (size_t i = 0; i < t->n; i++)
        if ((!t->set || t->set[i] != v) && !(t->held && t->held[i])) n += t->weight[i];
    return n;
}

/* One table of regrets for each number of rows that count for a variable. */
static cr_status fill_all_regrets(cr_scratch *s, table_score *o)
{
    cr_status st = CR_OK;
    size_t    p = o->t->p;
    double   *rows = cr_scratch_f64(s, p);
    o->regret = cr_scratch_bytes(s, p, sizeof *o->regret);
    CR_TRY(s->status);
    for (size_t v = 0; v < p; v++) {
        size_t u = 0;
        rows[v] = v == 0 || o->t->set ? rows_for(o->t, v) : rows[0];
        while (rows[u] != rows[v]) u++;
        if (u < v) o->regret[v] = o->regret[u];
        if (u < v || rows[v] < 1 || rows[v] > MOST_EXACT_ROWS || rows[v] != floor(rows[v]))
            continue;
        CR_TRY(cr_check_interrupt(s->cx));
        o->regret[v] = cr_scratch_f64(s, MOST_REGRETS);
        CR_TRY(s->status);
        fill_regrets(rows[v], MOST_REGRETS, o->regret[v]);
    }
done:
    return st;
}

cr_status cri_table_score(cr_scratch *s, const cri_cases_table *t, cri_score_kind kind, double ess,
                          cri_score_source *out)
{
    cr_status    st = CR_OK;
    table_score *o = cr_scratch_bytes(s, 1, sizeof *o);
    CR_TRY(s->status);
    *o = (table_score){ .t = t, .kind = kind, .ess = ess };
    CR_TRY(fill_functions(s, o));
    if (kind == CRI_SCORE_QNML) CR_TRY(fill_all_regrets(s, o));
    *out = (cri_score_source){
        .n = t->p,
        .equivalent =
            kind != CRI_SCORE_K2 && kind != CRI_SCORE_BDS && kind != CRI_SCORE_HOLDOUT && !t->set,
        .own = o,
        .score = score_family,
        .open_work = open_counter,
    };
done:
    return st;
}

/* --- names ------------------------------------------------------------------------------------ */

static const char *const names[] = {
    "bic", "aic", "bdeu", "bds", "k2", "qnml", "loglik", "holdout"
};
enum { KINDS = sizeof names / sizeof *names };

const char *cri_score_name(cri_score_kind kind) { return names[kind]; }

static const char *name_at(const void *list, size_t i) { return ((const char *const *)list)[i]; }

cr_status cri_score_parse(cr_ctx *cx, const char *text, cri_score_kind *out_kind, double *out_ess)
{
    size_t      k = 0, length = strcspn(text, ":");
    const char *number = text[length] ? text + length + 1 : "1";
    double      ess = 0;
    while (k < KINDS && (strlen(names[k]) != length || strncmp(names[k], text, length) != 0)) k++;
    if (k == KINDS) {
        cr_fail(cx, CR_EARG, "there is no score '%s'", text);
        return cr_fail_nearest(cx, text, "scores", KINDS, name_at, names);
    }
    bool takes = k == CRI_SCORE_BDEU || k == CRI_SCORE_BDS || k == CRI_SCORE_HOLDOUT;
    if (!takes && text[length])
        return cr_fail(cx, CR_EARG, "score %s takes no number: '%s'", names[k], text);
    if (cri_parse_double(number, number + strlen(number), &ess) != strlen(number) || !(ess > 0) ||
        !isfinite(ess)) {
        cr_fail(cx, CR_EARG, "'%s': the equivalent sample size of %s must be above 0", text,
                names[k]);
        return cr_fail_hint(cx, "%s:1, or %s:10", names[k], names[k]);
    }
    *out_kind = (cri_score_kind)k;
    *out_ess = ess;
    return CR_OK;
}
