/* info.c -- entropy and mutual information of columns: by counts, or by neighbours. */
#include "info.h"
#include "info_internal.h"
#include "math/neighbours.h"

#include <math.h>

CR_OPTIONS_TABLE(, cr_info_table, cr_info_options, CR_INFO_OPTIONS);

/* --- what both need -------------------------------------------------------------------------- */

static cr_status read_variables(cr_scratch *s, const cr_table *table, const char *const *a,
                                size_t n_a, const char *opt_b, const char *const *given,
                                size_t n_given, uint64_t seed, cri_variables *out)
{
    size_t       m = 0, most = n_a + 1 + n_given;
    const char **names = cr_scratch_bytes(s, most, sizeof *names);
    unsigned    *roles = cr_scratch_bytes(s, most, sizeof *roles);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < n_a; i++) names[m] = a[i], roles[m++] = CRI_A;
    if (opt_b) names[m] = opt_b, roles[m++] = CRI_B;
    for (size_t i = 0; i < n_given; i++) names[m] = given[i], roles[m++] = CRI_GIVEN;
    return cri_variables_read(s, table, names, roles, m, seed, out);
}

static cr_information start(const cri_variables *vs)
{
    bool counted = cri_measured(vs, CRI_A | CRI_B | CRI_GIVEN) == 0;
    return (cr_information){ .rows = vs->n,
                             .dropped = vs->dropped,
                             .counted = counted,
                             .value = NAN,
                             .plugin = NAN,
                             .se = NAN,
                             .lower = NAN,
                             .upper = NAN,
                             .most = INFINITY,
                             .p = NAN,
                             .resolution = vs->m == 1 ? vs->v[0].resolution : NAN };
}

static cr_status check_rows(cr_ctx *cx, const cr_table *table, const cri_variables *vs)
{
    if (vs->n > 0) return CR_OK;
    return cr_fail(cx, CR_EDATA,
                   vs->m == 1 ? "column '%s' of %s has no values"
                              : "no row has '%s' and the others in %s",
                   vs->v[0].name, cr_table_source(table));
}

/* Value, interval by parts and p-value of an estimate by neighbours. */
static cr_status resample(cr_ctx *cx, const cri_variables *vs, cri_estimate *estimate,
                          const cr_info_options *o, uint64_t seed, cri_span span,
                          cr_information *out)
{
    if (o->bootstrap == 0) return CR_OK;
    cr_status st = cri_parts_error(cx, vs, estimate, o, out->value, o, seed, &out->se);
    cri_normal_interval(out->value, out->se, o->level, span, &out->lower, &out->upper);
    return st;
}

/* The largest entropy that the variables of a set can have. */
static cr_status largest_entropy(cr_ctx *cx, const cri_variables *vs, unsigned set, double level,
                                 double *out)
{
    cr_status st = CR_OK;
    double    sum = 0;
    for (size_t j = 0; j < vs->m; j++) {
        double one = INFINITY;
        if (!(vs->v[j].role & set)) continue;
        if (vs->v[j].counted) CR_TRY(cri_largest_entropy(cx, &vs->v[j], vs->n, level, &one));
        sum += one;
    }
    *out = sum;
done:
    return st;
}

/* --- entropy --------------------------------------------------------------------------------- */

/* H(A | GIVEN) = H(A) - I(A; GIVEN): the errors of neighbours in spaces of different dimension
 * would not cancel in H(A, GIVEN) - H(GIVEN). */
static cr_status entropy_given(cr_ctx *cx, const cri_variables *vs, const cr_info_options *o,
                               double *out, size_t *out_alone)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cri_variables pair = *vs;
    double        entropy = 0, mutual = 0;
    size_t        alone = 0, known = 0;
    pair.v = cr_scratch_bytes(&s, vs->m, sizeof *pair.v);
    CR_TRY(s.status);
    for (size_t j = 0; j < vs->m; j++) {
        pair.v[j] = vs->v[j];
        if (vs->v[j].role == CRI_GIVEN) pair.v[j].role = CRI_B, known++;
    }
    CR_TRY(cri_mixed_entropy(cx, vs, CRI_A, o, &entropy, &alone));
    if (known > 0) CR_TRY(cri_neighbours_mutual(cx, &pair, o->neighbours, &mutual, &alone));
    *out = entropy - mutual;
    *out_alone = alone;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status entropy_value(cr_ctx *cx, const cri_variables *vs, const void *arg, double *out)
{
    size_t alone;
    return entropy_given(cx, vs, arg, out, &alone);
}

cr_status cr_table_entropy(cr_ctx *cx, const cr_table *table, const char *const *columns, size_t n,
                           const char *const *given, size_t n_given, const cr_info_options *options,
                           uint64_t seed, cr_information *out)
{
    static const cri_sum sum = { 2, { 1, -1 }, { CRI_A | CRI_GIVEN, CRI_GIVEN } };
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    cri_variables        vs;
    if (n == 0) CR_TRY(cr_fail(cx, CR_EARG, "entropy: no column is named"));
    CR_TRY(read_variables(&s, table, columns, n, NULL, given, n_given, seed, &vs));
    CR_TRY(check_rows(cx, table, &vs));
    cr_information got = start(&vs);
    cri_span       span = { cri_measured(&vs, CRI_A) == 0 ? 0 : -INFINITY, INFINITY };
    CR_TRY(largest_entropy(cx, &vs, CRI_A, options->level, &span.most));
    got.most = span.most;
    if (got.counted) {
        CR_TRY(cri_counts_measure(cx, &vs, &sum, options, seed, span, &got));
    } else {
        CR_TRY(entropy_given(cx, &vs, options, &got.value, &got.alone));
        CR_TRY(resample(cx, &vs, entropy_value, options, seed, span, &got));
    }
    *out = got;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- mutual information ---------------------------------------------------------------------- */

static cr_status mutual_value(cr_ctx *cx, const cri_variables *vs, const void *arg, double *out)
{
    size_t alone;
    return cri_neighbours_mutual(cx, vs, ((const cr_info_options *)arg)->neighbours, out, &alone);
}

static cr_status check_levels(cr_ctx *cx, const cr_table *table, const cri_variables *vs)
{
    for (size_t j = 0; j < vs->m; j++) {
        const cri_variable *v = &vs->v[j];
        bool                same = v->counted && v->role != CRI_GIVEN;
        for (size_t i = 1; same && i < vs->n; i++) same = v->code[i] == v->code[0];
        if (same)
            return cr_fail(cx, CR_EDATA,
                           "column '%s' of %s has only one level: it carries no information",
                           v->name, cr_table_source(table));
    }
    return CR_OK;
}

static cr_status test_dependence(cr_ctx *cx, const cri_variables *vs, cri_estimate *estimate,
                                 const void *arg, const cr_info_options *o, uint64_t seed,
                                 cr_information *out)
{
    if (o->permutations == 0) return CR_OK;
    if (cri_measured(vs, CRI_GIVEN) > 0) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "no p-value given measured numbers: their values do not repeat");
        return cr_fail_hint(cx, "give a category, or leave out --permutations");
    }
    return cri_permutation_p(cx, vs, estimate, arg, out->value, o, seed, &out->p);
}

static const cri_sum mutual_sum = { 4,
                                    { 1, 1, -1, -1 },
                                    { CRI_A | CRI_GIVEN, CRI_B | CRI_GIVEN,
                                      CRI_A | CRI_B | CRI_GIVEN, CRI_GIVEN } };

/* What is common to both is not more than either: the smaller of the upper ends of the intervals of H(A |
 * GIVEN) and H(B | GIVEN), where they are counted. */
static cr_status largest_mutual(cr_ctx *cx, const cri_variables *vs, const cr_info_options *o,
                                uint64_t seed, double *out)
{
    static const unsigned sides[] = { CRI_A, CRI_B };
    cr_status             st = CR_OK;
    double                least = INFINITY;
    for (size_t k = 0; k < 2; k++) {
        cri_sum        sum = { 2, { 1, -1 }, { sides[k] | CRI_GIVEN, CRI_GIVEN } };
        cr_information one = start(vs);
        cri_span       span = { 0, INFINITY };
        CR_TRY(largest_entropy(cx, vs, sides[k], o->level, &span.most));
        if (o->bootstrap > 0 && cri_measured(vs, sides[k] | CRI_GIVEN) == 0) {
            CR_TRY(cri_counts_measure(cx, vs, &sum, o, seed, span, &one));
            span.most = one.upper;
        }
        least = fmin(least, span.most);
    }
    *out = least;
done:
    return st;
}

static cr_status measure_mutual(cr_ctx *cx, const cr_table *table, const cri_variables *vs,
                                const cr_info_options *o, uint64_t seed, cr_information *out)
{
    cr_status      st = CR_OK;
    cri_counts_arg arg = { &mutual_sum, o };
    CR_TRY(check_rows(cx, table, vs));
    CR_TRY(check_levels(cx, table, vs));
    cr_information got = start(vs);
    cri_span       span = { 0, INFINITY };
    CR_TRY(largest_mutual(cx, vs, o, seed, &span.most));
    if (got.counted) {
        CR_TRY(cri_counts_measure(cx, vs, &mutual_sum, o, seed, span, &got));
        CR_TRY(test_dependence(cx, vs, cri_counts_value, &arg, o, seed, &got));
    } else {
        CR_TRY(cri_neighbours_mutual(cx, vs, o->neighbours, &got.value, &got.alone));
        CR_TRY(resample(cx, vs, mutual_value, o, seed, span, &got));
        CR_TRY(test_dependence(cx, vs, mutual_value, o, o, seed, &got));
    }
    *out = got;
done:
    return st;
}

cr_status cr_table_mutual(cr_ctx *cx, const cr_table *table, const char *a, const char *b,
                          const char *const *given, size_t n_given, const cr_info_options *options,
                          uint64_t seed, cr_information *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cri_variables vs;
    CR_TRY(read_variables(&s, table, &a, 1, b, given, n_given, seed, &vs));
    CR_TRY(measure_mutual(cx, table, &vs, options, seed, out));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- all pairs ------------------------------------------------------------------------------- */

/* All columns at once, when they have values in every row: *out_ready says so.  A column without
 * density spoils it; then each pair is read by itself. */
static cr_status read_together(cr_scratch *s, const cr_table *table, const char *const *columns,
                               size_t n, uint64_t seed, cri_variables *out, bool *out_ready)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < n; i++) {
        const cr_column *c = NULL;
        CR_TRY(cri_info_column(s->cx, table, columns[i], &c));
        if (c->missing > 0) return CR_OK;
    }
    st = read_variables(s, table, columns, n, NULL, NULL, 0, seed, out);
    *out_ready = st == CR_OK;
    if (st == CR_EDATA) st = CR_OK;
done:
    return st;
}

static cr_status make_lines(cr_ctx *cx, cri_variables *vs)
{
    cr_status st = CR_OK;
    for (size_t j = 0; j < vs->m; j++) {
        cr_neighbours *line = NULL;
        if (vs->v[j].counted) continue;
        CR_TRY(cr_neighbours_new(cx, cr_cmat_of(vs->v[j].x, vs->n, 1), CR_NORM_MAX, &line));
        vs->v[j].opt_line = line;
    }
done:
    return st;
}

static void free_lines(cr_ctx *cx, cri_variables *vs)
{
    for (size_t j = 0; j < vs->m; j++)
        cr_neighbours_free(cx, (cr_neighbours *)(uintptr_t)vs->v[j].opt_line);
}

cr_status cr_table_mutual_pairs(cr_ctx *cx, const cr_table *table, const char *const *columns,
                                size_t n, const cr_info_options *options, uint64_t seed,
                                cr_information *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cri_variables all = { 0 };
    bool          ready = false;
    size_t        pairs = n * (n - 1) / 2;
    CR_TRY(read_together(&s, table, columns, n, seed, &all, &ready));
    if (ready) CR_TRY(make_lines(cx, &all));
    for (size_t b = 1, k = 0; b < n; b++)
        for (size_t a = 0; a < b; a++, k++) {
            cri_variable  two[2];
            cri_variables vs = { all.n, 0, 2, all.row, two };
            if (ready) {
                two[0] = all.v[a], two[1] = all.v[b], two[1].role = CRI_B;
                st = measure_mutual(cx, table, &vs, options, seed, &out[k]);
            } else {
                st = cr_table_mutual(cx, table, columns[a], columns[b], NULL, 0, options, seed,
                                     &out[k]);
            }
            if (st == CR_EDATA) {
                cr_log(cx, CR_LOG_WARNING, "%s", cr_error(cx));
                out[k] = (cr_information){ .value = NAN, .plugin = NAN, .p = NAN };
            } else {
                CR_TRY(st);
            }
            cr_progress(cx, "pairs", (double)(k + 1), (double)pairs);
        }
    st = CR_OK;
done:
    free_lines(cx, &all);
    cr_scratch_end(&s);
    return st;
}
