/* info_answer_blanket.c -- which columns a target needs: its Markov blanket, and all others by what they
 * tell about it that those before them do not.
 * Where all columns are measured, tests are Fisher's z of partial correlations and informations those of
 * normal variables; otherwise columns of numbers are cut into ranges of about as many rows each, and tests
 * are G^2 of counts.  Tests are given up to four columns, which is what rows usually allow. */
#include "info_answer.h"
#include "info_internal.h"
#include "base/sort.h"
#include "graph/learn/neighbours.h"
#include "graph/learn/relevance.h"

#include <math.h>
#include <string.h>

enum { MOST_GIVEN = 4 };

/* Columns ready to be tested. */
typedef struct tested {
    size_t               n, target;
    cri_cases_table      cases;
    cri_state_test       states;
    cri_correlation_test correlations;
    cri_independence     test;
    bool                 normal;
} tested;

/* The range of each value: below the same share of rows each, ties together. */
static cr_status cut(cri_info_answer *j, const cri_variable *v, size_t n, size_t p, size_t at,
                     uint16_t *code, uint32_t *out_levels)
{
    size_t  bins = j->o->bins, used = 0;
    double *sorted = cr_scratch_f64(&j->s, n), *edge = cr_scratch_f64(&j->s, bins);
    if (j->s.status != CR_OK) return j->s.status;
    memcpy(sorted, v->x, n * sizeof *sorted);
    cri_sort_doubles(sorted, n);
    for (size_t b = 1; b < bins && n > 0; b++) {
        double x = sorted[b * n / bins];
        if (x > sorted[0] && (used == 0 || x > edge[used - 1])) edge[used++] = x;
    }
    for (size_t i = 0; i < n; i++) {
        size_t b = 0;
        while (b < used && v->x[i] >= edge[b]) b++;
        code[i * p + at] = (uint16_t)b;
    }
    *out_levels = (uint32_t)used + 1;
    return CR_OK;
}

static cr_status open_counts(cri_info_answer *j, const cri_variables *vs, tested *t)
{
    cr_status st = CR_OK;
    size_t    p = vs->m, n = vs->n;
    uint16_t *code = cr_scratch_bytes(&j->s, n * p, sizeof *code);
    uint32_t *levels = cr_scratch_bytes(&j->s, p, sizeof *levels);
    CR_TRY(j->s.status);
    for (size_t c = 0; c < p; c++) {
        const cri_variable *v = &vs->v[c];
        if (!v->counted) {
            CR_TRY(cut(j, v, n, p, c, code, &levels[c]));
            continue;
        }
        if (v->levels > CRI_MOST_LEVELS)
            CR_TRY(cr_fail(j->cx, CR_EDATA, "column '%s' has %zu levels: --blanket takes up to %d",
                           v->name, v->levels, CRI_MOST_LEVELS));
        levels[c] = v->levels > 0 ? (uint32_t)v->levels : 1;
        for (size_t i = 0; i < n; i++) code[i * p + c] = (uint16_t)v->code[i];
    }
    CR_TRY(cri_cases_group(&j->s, n, p, levels, code, NULL, NULL, NULL, &t->cases));
    CR_TRY(cri_state_test_of(j->cx, &t->cases, CRI_TEST_G2, j->o->alpha, &t->states));
    t->test = cri_independence_states(&t->states);
done:
    return st;
}

/* Columns have mean 0 and variance 1, or are constant. */
static cr_status open_correlations(cri_info_answer *j, const cri_variables *vs, tested *t)
{
    size_t  p = vs->m;
    double *c = cr_scratch_matrix(&j->s, p, p);
    if (j->s.status != CR_OK) return j->s.status;
    for (size_t a = 0; a < p; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0, aa = 0, bb = 0;
            for (size_t i = 0; i < vs->n; i++) {
                sum += vs->v[a].x[i] * vs->v[b].x[i];
                aa += vs->v[a].x[i] * vs->v[a].x[i], bb += vs->v[b].x[i] * vs->v[b].x[i];
            }
            double r = aa > 0 && bb > 0 ? sum / sqrt(aa * bb) : 0;
            c[a * p + b] = c[b * p + a] = a == b ? 1 : r;
            if (cr_check_interrupt(j->cx) != CR_OK) return cr_check_interrupt(j->cx);
        }
    t->correlations = (cri_correlation_test){ p, (double)vs->n, j->o->alpha, c };
    t->test = cri_independence_correlations(&t->correlations);
    t->normal = true;
    return CR_OK;
}

/* The columns asked for and the target, which is the last. */
static cr_status open_columns(cri_info_answer *j, cri_variables *vs, tested *t)
{
    cr_status    st = CR_OK;
    const char **names = NULL, *target = j->o->blanket;
    size_t       n = 0, k = 0;
    unsigned    *roles;
    bool         counted = false;
    CR_TRY(cri_info_columns(j, &names, &n));
    const char **used = cr_scratch_bytes(&j->s, n + 1, sizeof *used);
    roles = cr_scratch_bytes(&j->s, n + 1, sizeof *roles);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], target) != 0) used[k++] = names[i];
    used[k++] = target;
    for (size_t i = 0; i < k; i++) roles[i] = CRI_A;
    CR_TRY(cri_variables_read(&j->s, j->a, used, roles, k, j->seed, vs));
    if (k < 2) CR_TRY(cr_fail(j->cx, CR_EARG, "--blanket needs a column besides '%s'", target));
    *t = (tested){ .n = k, .target = k - 1 };
    for (size_t i = 0; i < k; i++) counted |= vs->v[i].counted;
    CR_TRY(counted ? open_counts(j, vs, t) : open_correlations(j, vs, t));
done:
    return st;
}

static void put_column(const cri_info_answer *j, const cri_variables *vs,
                       const cri_ranked_feature *r, const cri_blanket_member *m, cri_sheet *row)
{
    static const char *const roles[] = { "", "neighbour", "spouse" };
    cri_put_text(row, "name", vs->v[r->feature].name);
    cri_put_text(row, "role", roles[m->role]);
    cri_put_real(row, "p", m->role ? m->p : NAN);
    cri_info_put(j, row, "given_others", m->role ? m->association : NAN);
    cri_info_put(j, row, "relevance", r->relevance);
    cri_info_put(j, row, "redundancy", r->redundancy);
    cri_info_put(j, row, "gain", r->score);
}

cr_status cri_info_blanket(cri_info_answer *j)
{
    cr_status             st = CR_OK;
    cri_variables         vs;
    tested                t;
    cri_neighbour_options o = { .most_given = MOST_GIVEN };
    CR_TRY(open_columns(j, &vs, &t));
    size_t              shown = j->o->top < t.n - 1 ? j->o->top : t.n - 1;
    cri_blanket_member *member = cr_scratch_bytes(&j->s, t.n, sizeof *member);
    cri_ranked_feature *rank = cr_scratch_bytes(&j->s, t.n, sizeof *rank);
    CR_TRY(j->s.status);
    cri_info_warn_dropped(j, j->a, vs.dropped);
    CR_TRY(cri_blanket(j->cx, &t.test, &o, t.target, member));
    CR_TRY(cri_rank_features(j->cx, &t.test, t.target, shown, rank));
    cri_put_text(j->object, "test", t.normal ? "fisher-z" : "g2");
    cri_sheet *members = cri_put_list(j->object, "members");
    for (size_t i = 0; i + 1 < t.n; i++)
        if (member[i].role) cri_put_text(members, NULL, vs.v[i].name);
    j->rows = cri_put_list(j->object, "blanket"); /* the table is this list */
    for (size_t i = 0; i < shown; i++)
        put_column(j, &vs, &rank[i], &member[rank[i].feature], cri_put_object(j->rows, NULL));
    cri_info_title(j, "%s: Markov blanket of %s by %s, information in %s", cr_table_source(j->a),
                   j->o->blanket, t.normal ? "partial correlations" : "G2 tests", j->unit);
done:
    return st;
}
