/* gp_starts.c -- units of hyper-parameters, and starts made of them. */
#include "gp_starts.h"
#include "base/rng.h"
#include "base/sort.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 200 }; /* whose distances are looked at */

/* --- distances ------------------------------------------------------------------------------- */

static double column_sd(const cri_gp_data *data, size_t j)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < data->n; i++) {
        double delta = data->X[i * data->d + j] - mean;
        mean += delta / (double)(i + 1);
        square += delta * (data->X[i * data->d + j] - mean);
    }
    double sd = sqrt(square / (double)data->n);
    return sd > 1e-13 * fabs(mean) ? sd : 0;
}

/* The median distance of some evenly spaced rows over the columns of the node, and how far a row is
 * from the one nearest to it; workspace [MOST_ROWS^2 / 2]. */
static double median_distance(const cr_kernel *k, const cri_node *node, const cri_gp_data *data,
                              double *workspace, double *out_nearest)
{
    cr_kernel_input in = cri_gp_inputs(data);
    size_t          m = data->n < MOST_ROWS ? data->n : MOST_ROWS, count = 0;
    size_t          active = cri_active(node, &in);
    for (size_t a = 0; a < m; a++)
        for (size_t b = 0; b < a; b++) {
            const double *x = data->X + a * data->n / m * data->d;
            const double *z = data->X + b * data->n / m * data->d;
            double        t = 0;
            for (size_t c = 0; c < active; c++) {
                size_t j = cri_column_at(k, node, c);
                t += (x[j] - z[j]) * (x[j] - z[j]);
            }
            if (t > 0) workspace[count++] = sqrt(t);
        }
    if (count == 0) return *out_nearest = 1;
    cri_sort_doubles(workspace, count);
    *out_nearest = workspace[count / m]; /* each of the m rows has one */
    return workspace[count / 2];
}

/* What is known of the columns, so that nothing is looked at again for every length-scale. */
typedef struct columns {
    const cri_gp_data *data;
    double            *sd, *workspace; /* [d]; of median_distance                       */
    const cri_node    *counted;        /* the node whose columns that vary are `moving` */
    size_t             moving;
    double             nearest; /* the least distance of neighbours, in units     */
} columns;

static size_t count_moving(const cr_kernel *k, const cri_node *node, size_t active, columns *c)
{
    if (c->counted == node) return c->moving;
    c->counted = node;
    c->moving = 0;
    for (size_t j = 0; j < active; j++) c->moving += c->sd[cri_column_at(k, node, j)] > 0;
    return c->moving;
}

/* The unit of a length-scale: element e of the lengths of a node. */
static double length_unit(const cr_kernel *k, const cri_node *node, const cri_param *p, columns *c)
{
    cr_kernel_input in = cri_gp_inputs(c->data);
    bool            plain = node->op == CRI_LEAF && node->warp == CRI_PLAIN &&
                 node->class->kind == CR_KERNEL_NUMBER && node->class != &cri_kernel_periodic;
    if (!plain) return p->value;
    if (node->n_values[p->spec - node->class->specs] <= 1) {
        double nearest, median = median_distance(k, node, c->data, c->workspace, &nearest);
        c->nearest = fmin(c->nearest, nearest / median);
        return median;
    }
    size_t moving = count_moving(k, node, cri_active(node, &in), c);
    double sd = c->sd[cri_column_at(k, node, p->element)];
    return sd > 0 ? sd * sqrt(2 * (double)moving) : 1;
}

/* --- amplitudes ------------------------------------------------------------------------------ */

/* true when `at` is the node or below it. */
static bool is_below(const cr_kernel *k, size_t node, size_t at)
{
    if (node == at) return true;
    for (size_t c = k->nodes[node].first; c != SIZE_MAX; c = k->nodes[c].next)
        if (is_below(k, c, at)) return true;
    return false;
}

/* The term of the sum at the root that holds the node; *out_terms: how many terms there are. */
static size_t term_of(const cr_kernel *k, size_t at, size_t *out_terms)
{
    size_t root = k->n_nodes - 1, found = 0;
    *out_terms = 0;
    if (k->nodes[root].op != CRI_SUM) return *out_terms = 1, root;
    for (size_t c = k->nodes[root].first; c != SIZE_MAX; c = k->nodes[c].next) {
        if (is_below(k, c, at)) found = c;
        *out_terms += !cri_kernel_is_noise(k, c);
    }
    return found;
}

/* The place of a term in the sum at the root, from 0. */
static size_t place_of_term(const cr_kernel *k, size_t term)
{
    const cri_node *root = &k->nodes[k->n_nodes - 1];
    size_t          place = 0;
    for (size_t c = root->op == CRI_SUM ? root->first : SIZE_MAX; c != SIZE_MAX && c != term;
         c = k->nodes[c].next)
        place++;
    return place;
}

/* The mean of k(x, x) of a term over the rows, its leading amplitude taken out: 1 for a stationary
 * one. */
static cr_status term_size(cr_scratch *s, const cr_kernel *k, size_t term, double amplitude,
                           const cri_gp_data *data, double *out)
{
    cr_status       st = CR_OK;
    cr_kernel      *alone = NULL;
    cr_kernel_input in = cri_gp_inputs(data);
    double         *diagonal = cr_scratch_f64(s, data->n), mean = 0;

    CR_TRY(s->status);
    CR_TRY(cr_kernel_copy(s->cx, k, &alone));
    alone->n_nodes = term + 1;
    alone->nodes[term].next = SIZE_MAX;
    CR_TRY(cr_kernel_diagonal(s->cx, alone, &in, false, diagonal));
    for (size_t i = 0; i < data->n; i++) mean += diagonal[i] / (double)data->n;
    *out = mean / amplitude > 0 && isfinite(mean / amplitude) ? mean / amplitude : 1;
done:
    cr_kernel_free(s->cx, alone);
    return st;
}

/* true for the first amplitude of its term: the others stay as they are. */
static bool leads_term(const cr_kernel *k, size_t param, size_t term)
{
    for (size_t i = 0; i < param; i++)
        if (!k->params[i].fixed && k->nodes[k->params[i].node].class == &cri_kernel_constant &&
            is_below(k, term, k->params[i].node))
            return false;
    return true;
}

/* (v |x|^2 + c)^degree is to be `size` on the mean, half of the root by either: the unit of v or
 * c. */
static double polynomial_unit(const cr_kernel *k, const cri_node *node, const cri_param *p,
                              const cri_gp_data *data, double size)
{
    cr_kernel_input in = cri_gp_inputs(data);
    double          half = pow(size, 1 / node->setting[0]) / 2, square = 0;
    if (strcmp(p->spec->shown.name, "variance") != 0) return half;
    for (size_t c = 0; c < cri_active(node, &in); c++)
        for (size_t i = 0; i < data->n; i++)
            square += pow(data->X[i * data->d + cri_column_at(k, node, c)], 2) / (double)data->n;
    return square > 0 ? half / square : half;
}

/* true when a constant scales the term. */
static bool has_amplitude(const cr_kernel *k, size_t term)
{
    for (size_t i = 0; i < k->n_nodes; i++)
        if (k->nodes[i].class == &cri_kernel_constant && is_below(k, term, i)) return true;
    return false;
}

/* --- units and bounds ------------------------------------------------------------------------ */

/* Of what the lowest noise is a share: the variance of y about its mean, where that is less than
 * about the mean function; a target far from a mean of zero is not the noisier for it. */
static double floor_unit(const cri_gp_data *data, double variance)
{
    double mean = 0, square = 0, weight = 0;
    for (size_t i = 0; data->y && data->r && i < data->n; i++) {
        double w = 1 / data->r[i], delta = data->y[i] - mean;
        weight += w;
        mean += w / weight * delta;
        square += w * delta * (data->y[i] - mean);
    }
    double own = (square + data->spread) / weight;
    return own > 0 && own < variance ? own : variance;
}

typedef struct span {
    double unit, below, above; /* natural, and how far around it */
    int    kind;
} span;

static cr_status span_of(cr_scratch *s, const cr_kernel *k, size_t i, double variance, columns *c,
                         span *out)
{
    cr_status        st = CR_OK;
    const cri_param *p = &k->params[i];
    const cri_node  *node = &k->nodes[p->node];
    size_t           terms, term = term_of(k, p->node, &terms);
    if (node->class == &cri_kernel_white)
        return *out =
                   (span){ variance, CRI_GP_NOISE_FLOOR * floor_unit(c->data, variance) / variance,
                           10, CRI_GP_NOISE },
               CR_OK;
    if (node->class == &cri_kernel_constant) {
        double size = 1;
        bool   leads = leads_term(k, i, term);
        if (leads) CR_TRY(term_size(s, k, term, p->value, c->data, &size));
        *out = leads ? (span){ variance / (double)terms / size, 1e-7, 1e7, CRI_GP_AMPLITUDE }
                     : (span){ p->value, 1e-6, 1e6, CRI_GP_OTHER };
        return CR_OK;
    }
    if (node->class == &cri_kernel_polynomial && !has_amplitude(k, term))
        return *out = (span){ polynomial_unit(k, node, p, c->data, variance / (double)terms), 1e-6,
                              1e6, CRI_GP_AMPLITUDE },
               CR_OK;
    if (p->spec->role == CRI_LENGTH && node->class->family == CRI_DISTANCE &&
        node->class != &cri_kernel_periodic)
        return *out = (span){ length_unit(k, node, p, c), 2e-4, 1e4, CRI_GP_LENGTH }, CR_OK;
    if (node->class == &cri_kernel_loglinear) return *out = (span){ 0, 1, 1, CRI_GP_SLOPE }, CR_OK;
    if (node->class == &cri_kernel_periodic || node->class == &cri_kernel_cosine)
        return *out = (span){ p->value, 1e-2, 1e2, CRI_GP_OTHER }, CR_OK;
    return *out = (span){ p->value, 1e-6, 1e6, CRI_GP_OTHER }, CR_OK;
done:
    return st;
}

/* Bounds around the unit and the value given, where the expression has none. */
static void set_bounds(cri_gp_space *u, const cri_param *p, size_t j, span sp)
{
    double low = sp.unit * sp.below, high = sp.unit * sp.above;
    bool   log_scale = p->spec->coordinate == CRI_LOG;
    if (p->value < low) low = p->value;
    if (p->value > high) high = p->value;
    if (log_scale && isinf(u->lower[j])) u->lower[j] = cri_to_theta(p, low);
    if (log_scale && isinf(u->upper[j])) u->upper[j] = cri_to_theta(p, high);
    u->unit[j] = log_scale && sp.unit > 0 ? cri_to_theta(p, sp.unit) : u->given[j];
    if (p->spec->coordinate == CRI_LOGIT) {
        if (isinf(u->lower[j])) u->lower[j] = -15;
        if (isinf(u->upper[j])) u->upper[j] = 15;
    }
}

/* Length-scales of one kernel move together at first. */
static void set_ties(const cr_kernel *k, cri_gp_space *u)
{
    size_t j = 0, last = SIZE_MAX;
    u->ties = 0;
    for (size_t i = 0; i < k->n_params; i++) {
        if (k->params[i].fixed) continue;
        bool follows = u->kind[j] == CRI_GP_LENGTH && last == k->params[i].node;
        last = u->kind[j] == CRI_GP_LENGTH ? k->params[i].node : SIZE_MAX;
        u->tie[j++] = follows ? u->ties - 1 : u->ties++;
    }
    for (; j < u->size; j++) u->tie[j] = u->ties++;
    u->tied = u->ties < u->size;
}

cr_status cri_gp_space_new(cr_scratch *s, const cr_kernel *k, const cri_gp_problem *problem,
                           double variance, double noise, bool learn_noise, cri_gp_space *out)
{
    cr_status    st = CR_OK;
    size_t       p = cr_kernel_theta_size(k), j = 0, terms, place;
    columns      c = { .data = problem->data,
                       .sd = cr_scratch_f64(s, problem->data->d),
                       .workspace = cr_scratch_f64(s, MOST_ROWS * MOST_ROWS / 2),
                       .nearest = 1 };
    cri_gp_space u = { .p = p,
                       .size = p + learn_noise,
                       .variance = variance,
                       .lower = cr_scratch_f64(s, p + 1),
                       .upper = cr_scratch_f64(s, p + 1),
                       .unit = cr_scratch_f64(s, p + 1),
                       .given = cr_scratch_f64(s, p + 1),
                       .kind = cr_scratch_bytes(s, p + 1, sizeof(int)),
                       .tie = cr_scratch_index(s, p + 1),
                       .term = cr_scratch_index(s, p + 1) };
    CR_TRY(s->status);
    for (size_t a = 0; a < problem->data->d; a++) c.sd[a] = column_sd(problem->data, a);
    cr_kernel_theta(k, u.given);
    cr_kernel_theta_bounds(k, u.lower, u.upper);
    for (size_t i = 0; i < k->n_params; i++) {
        const cri_param *param = &k->params[i];
        if (param->fixed) continue;
        span sp;
        CR_TRY(span_of(s, k, i, variance, &c, &sp));
        u.kind[j] = sp.kind;
        u.has_lengths |= sp.kind == CRI_GP_LENGTH;
        u.has_values |= param->value != param->spec->fallback;
        set_bounds(&u, param, j, sp);
        place = place_of_term(k, term_of(k, param->node, &terms));
        if (sp.kind == CRI_GP_LENGTH) u.unit[j] -= (double)place * CRI_GP_TERM_STEP;
        u.term[j++] = place;
        if (place >= u.terms) u.terms = place + 1;
    }
    u.term[p] = u.terms;
    u.kind[p] = CRI_GP_NOISE;
    u.unit[p] = log(variance);
    u.lower[p] = log(CRI_GP_NOISE_FLOOR * floor_unit(problem->data, variance));
    u.upper[p] = log(10 * variance);
    u.given[p] = noise > 0 ? log(noise) : log(0.1 * variance);
    u.nearest = c.nearest;
    set_ties(k, &u);
    *out = u;
done:
    return st;
}

/* Units of length beyond which a function has to be larger than the target to bend as that does: by
 * the square, so its variance by the fourth power. */
static const double BROAD = 2;
enum { ALL, HALF, TWO, SPARSE_WAYS };             /* the columns that count                 */
static const uint64_t SPARSE = (uint64_t)1 << 32; /* the first stream of sparse starts */

/* --- starts ---------------------------------------------------------------------------------- */

static double clamp(const cri_gp_space *u, size_t j, double x)
{
    return fmin(fmax(x, u->lower[j]), u->upper[j]);
}

/* true when the term of parameter j has a length. */
static bool has_length(const cri_gp_space *u, size_t j)
{
    for (size_t i = 0; i < u->p; i++)
        if (u->kind[i] == CRI_GP_LENGTH && u->term[i] == u->term[j]) return true;
    return false;
}

void cri_gp_start(const cri_gp_space *u, double length, double noise, double *x)
{
    double bend = length > BROAD ? 4 * log(length / BROAD) : 0;
    for (size_t j = 0; j < u->size; j++) {
        double at = u->given[j];
        if (u->kind[j] == CRI_GP_LENGTH) at = u->unit[j] + log(length);
        if (u->kind[j] == CRI_GP_AMPLITUDE)
            at = u->unit[j] + log1p(-noise) + (has_length(u, j) ? bend : 0);
        if (u->kind[j] == CRI_GP_NOISE) at = u->unit[j] + log(noise);
        x[j] = clamp(u, j, at);
    }
}

void cri_gp_start_random(const cri_gp_space *u, uint64_t seed, uint64_t number, double *x)
{
    cr_rng rng = cr_rng_stream(seed, 1 + number);
    for (size_t j = 0; j < u->size; j++) {
        double z = cr_rng_uniform(&rng), at = u->unit[j] + 2 * (z - 0.5) * log(10);
        if (u->kind[j] == CRI_GP_LENGTH) at = u->unit[j] + log(0.05) + z * log(100);
        if (u->kind[j] == CRI_GP_NOISE) at = u->unit[j] + log(1e-4) + z * log(5e3);
        if (u->kind[j] == CRI_GP_SLOPE) at = u->given[j] + 2 * (z - 0.5);
        x[j] = clamp(u, j, at);
    }
}

bool cri_gp_is_column(const cri_gp_space *u, size_t j) { return cri_gp_count_columns(u, j) > 1; }

size_t cri_gp_count_columns(const cri_gp_space *u, size_t j)
{
    size_t count = 0;
    for (size_t i = 0; u->kind[j] == CRI_GP_LENGTH && i < u->p; i++)
        count += u->tie[i] == u->tie[j];
    return count;
}

void cri_gp_start_sparse(const cri_gp_space *u, uint64_t seed, uint64_t number, double *x)
{
    cr_rng rng = cr_rng_stream(seed, SPARSE + number);
    int    way = (int)(number % SPARSE_WAYS);
    bool   clear = u->tied && u->size > u->p && way == TWO && number % 2;
    cri_gp_start_random(u, seed, number, x);
    for (size_t j = 0; way != ALL && j < u->p; j++) {
        size_t beside = cri_gp_count_columns(u, j);
        double z = cr_rng_uniform(&rng), fine = log(0.002) + cr_rng_uniform(&rng) * log(2500);
        if (beside < 2) continue;
        if (z > (way == HALF ? 0.5 : 2 / (double)beside))
            x[j] = u->upper[j];
        else if (way == TWO)
            x[j] = clamp(u, j, u->unit[j] + fine);
    }
    if (clear) x[u->p] = clamp(u, u->p, u->unit[u->p] + log(1e-5));
}

cr_status cri_gp_target_variance(cr_ctx *cx, const cri_gp_problem *problem, double *out)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = problem->data;
    size_t             n = data->n, q = problem->q;
    double            *Z = cr_scratch_matrix(&s, n, q), *z = cr_scratch_f64(&s, n);
    double            *A = cr_scratch_matrix(&s, q, q), *b = cr_scratch_f64(&s, q), weight = 0;

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        double root = 1 / sqrt(data->r[i]);
        z[i] = root * data->y[i];
        weight += 1 / data->r[i];
        for (size_t j = 0; j < q; j++) Z[i * q + j] = root * problem->H[i * q + j];
    }
    if (q) {
        CR_TRY(cr_syrk(cx, 1, cr_cmat_of(Z, n, q), CR_TRANSPOSED, 0, cr_mat_of(A, q, q)));
        CR_TRY(cr_chol(cx, cr_mat_of(A, q, q)));
        CR_TRY(cr_gemv(cx, 1, cr_cmat_of(Z, n, q), CR_TRANSPOSED, z, 0, b));
        CR_TRY(cr_chol_solve(cx, cr_cmat_of(A, q, q), cr_mat_of(b, q, 1)));
        CR_TRY(cr_gemv(cx, -1, cr_cmat_of(Z, n, q), CR_PLAIN, b, 1, z));
    }
    *out = (cr_dot(z, z, n) + data->spread) / weight;
done:
    cr_scratch_end(&s);
    return st;
}

void cri_gp_learn_noise_alone(cr_ctx *cx, const cri_gp_data *data, bool constant, bool learn,
                              double *noise)
{
    double      repeated = data->count - (double)data->n;
    bool        learned = learn && !constant && repeated > 0 && data->spread > 0;
    const char *so =
        learned ? "only the noise can be learned" : "the hyper-parameters cannot be learned";
    if (learned) *noise = data->spread / repeated;
    if (constant)
        cr_log(cx, CR_LOG_WARNING, "the target does not vary around its mean: %s", so);
    else if (data->n == 1)
        cr_log(cx, CR_LOG_WARNING, "all rows have the same inputs: %s", so);
    else
        cr_log(cx, CR_LOG_WARNING,
               "there are only %zu different inputs, which the mean function alone can fit: %s",
               data->n, so);
}

/* true when the text holds "WORD... (END)", WORD at the end of a name or before its index. */
static bool stands_at(const char *text, const char *word, const char *end)
{
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        const char *rest = at + length;
        if (*rest == '[') rest += strcspn(rest, " ");
        if (strncmp(rest, end, strlen(end)) == 0) return true;
    }
    return false;
}

void cri_gp_report_bounds(cr_ctx *cx, const char *at_bound, bool classes)
{
    bool longest = stands_at(at_bound, ".l", " (upper)"),
         given = strstr(at_bound, " as given)") != NULL;
    bool        silent = !classes && stands_at(at_bound, "noise", " (lower)");
    bool        apart = classes && stands_at(at_bound, "variance", " (upper)");
    const char *about =
        longest ? "; a length-scale at its upper bound means that the column has no influence" : "";
    const char *noise =
        silent  ? "; noise at its lower bound: the data look noise-free"
        : apart ? "; a variance at its upper bound: the classes can be separated without error"
                : "";
    const char *wider = given ? "; wider bounds than those given would fit better" : "";
    const char *other =
        !longest && !silent && !apart && !given ? "; the data hardly determine how far beyond" : "";
    if (at_bound[0])
        cr_log(cx, CR_LOG_WARNING, "these hyper-parameters ended at a bound: %s%s%s%s%s", at_bound,
               about, noise, wider, other);
}
