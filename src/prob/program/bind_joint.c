/* bind_joint.c -- distributions that are not of one number each: made of operations that exist.
 *   d_glm(y | X, a, b)       d(y | a + X b)
 *   dirichlet(x | a)         sum (a - 1) log x + log Gamma(sum a) - sum log Gamma(a)
 *   categorical(y | p)       log p_y;    categorical_logit(y | u): u_y - log sum exp u
 *   ordered_logistic(y | e, c)   log(F(c_y - e) - F(c_{y-1} - e)), F the logistic function */
#include "bind_internal.h"

#include <math.h>
#include <string.h>

typedef struct joint {
    cri_binder       *b;
    const cri_syntax *node;
    const cri_value  *y, *a;
    size_t            n;
    cr_status         st; /* the first failure: what follows does nothing */
} joint;

/* --- small words for what is on the tape ------------------------------------------------------ */

static cri_value apply(joint *j, const char *name, cri_value x, const cri_value *opt_z)
{
    cri_value v = { 0 };
    if (j->st == CR_OK)
        j->st = cri_bind_each(j->b, j->node, cri_each_find(name, opt_z ? 2 : 1), &x, opt_z, &v);
    return v;
}
static cri_value plus(joint *j, cri_value x, cri_value z) { return apply(j, "add", x, &z); }
static cri_value less(joint *j, cri_value x, cri_value z) { return apply(j, "subtract", x, &z); }
static cri_value times(joint *j, cri_value x, cri_value z) { return apply(j, "multiply", x, &z); }
static cri_value number(joint *j, double x) { return cri_value_number(j->b, x, false); }

static cri_value total(joint *j, cri_value x)
{
    cri_value v = { .n = 1 };
    double    sum = 0;
    if (j->st != CR_OK) return x;
    if (x.dims == 0) return x;
    if (x.data) {
        for (size_t i = 0; i < x.n; i++) sum += x.data[i];
        return number(j, sum);
    }
    return cri_value_of_run(j->b, &v, cri_tape_sum(&j->b->p->tape, cri_value_run(j->b, &x), x.n));
}

/* n entries of x from `first` on, `stride` apart. */
static cri_value part(joint *j, const cri_value *x, size_t first, size_t n, size_t stride)
{
    cri_value shape = { .inner = CRI_INNER_VECTOR, .dims = 1, .n = n };
    size_t   *place = cr_scratch_index(&j->b->s, n);
    shape.dim[0] = n;
    if (!place) {
        j->st = j->b->s.status;
        return shape;
    }
    for (size_t i = 0; i < n; i++) place[i] = first + i * stride;
    return cri_value_pick(j->b, x, place, &shape);
}

static void need(joint *j, bool good, const char *what)
{
    if (j->st == CR_OK && !good) j->st = CRI_BIND_FAIL(j->b, j->node, "%s", what);
}

/* --- distributions ---------------------------------------------------------------------------- */

/* eta = alpha + X beta, then the distribution without "_glm". */
static cri_value glm(joint *j, const char *name)
{
    cri_value eta = { 0 }, out = { 0 }, argument[2];
    if (j->st == CR_OK) j->st = cri_bind_product(j->b, j->node, &j->a[0], &j->a[2], &eta);
    argument[0] = plus(j, eta, j->a[1]);
    if (j->n > 3) argument[1] = j->a[3];
    if (j->st == CR_OK)
        j->st = cri_bind_log_density(j->b, j->node, name, j->y, argument, j->n - 2, &out);
    return out;
}
static cri_value bernoulli_logit_glm(joint *j) { return glm(j, "bernoulli_logit"); }
static cri_value poisson_log_glm(joint *j) { return glm(j, "poisson_log"); }
static cri_value neg_binomial_2_log_glm(joint *j) { return glm(j, "neg_binomial_2_log"); }
static cri_value normal_id_glm(joint *j) { return glm(j, "normal"); }

static cri_value dirichlet(joint *j)
{
    size_t    K = j->a[0].n;
    cri_value sum = number(j, 0), one = number(j, 1), free = less(j, j->a[0], one);
    need(j, K > 0 && j->y->n % K == 0, "the two sides of dirichlet differ in length");
    for (size_t r = 0; j->st == CR_OK && r < j->y->n / K; r++) {
        cri_value x = part(j, j->y, r * K, K, 1), logs = apply(j, "log", x, NULL), flat = free;
        flat.inner = CRI_INNER_VECTOR;
        flat.dims = 1, flat.dim[0] = K;
        sum = plus(j, sum, total(j, times(j, flat, logs)));
        sum = plus(j, sum, apply(j, "lgamma", total(j, j->a[0]), NULL));
        sum = less(j, sum, total(j, apply(j, "lgamma", j->a[0], NULL)));
    }
    return sum;
}

/* Entries y of the rows of x, which has one row for all y or one for each. */
static cri_value chosen(joint *j, const cri_value *x, const cri_value *y)
{
    size_t    rows = x->dims > 1 ? x->dim[0] : 1, K = rows ? x->n / rows : 0;
    cri_value shape = { .inner = CRI_INNER_VECTOR, .dims = 1, .n = y->n };
    size_t   *place = cr_scratch_index(&j->b->s, y->n);
    shape.dim[0] = y->n;
    need(j, y->data != NULL, "the left side must be known: it is not data");
    need(j, rows == 1 || rows == y->n,
         "there must be one vector of probabilities, or one for each");
    if (!place) j->st = j->b->s.status;
    for (size_t i = 0; j->st == CR_OK && i < y->n; i++) {
        need(j, y->data[i] >= 1 && y->data[i] <= (double)K && y->data[i] == floor(y->data[i]),
             "a category is not one of 1 to the number of probabilities");
        if (j->st == CR_OK) place[i] = (rows == 1 ? 0 : i * K) + (size_t)y->data[i] - 1;
    }
    if (j->st != CR_OK) return shape;
    return cri_value_pick(j->b, x, place, &shape);
}

static cri_value categorical(joint *j)
{
    cri_value p = chosen(j, &j->a[0], j->y);
    return total(j, apply(j, "log", p, NULL));
}

static cri_value categorical_logit(joint *j)
{
    const cri_value *u = &j->a[0];
    size_t           rows = u->dims > 1 ? u->dim[0] : 1, K = rows ? u->n / rows : 0;
    cri_value        sum = total(j, chosen(j, u, j->y)), top;
    for (size_t r = 0; j->st == CR_OK && r < rows; r++) {
        top = part(j, u, r * K, K, 1);
        cri_value one = { .n = 1 }, norm;
        norm = cri_value_of_run(
            j->b, &one,
            cri_tape_unary(&j->b->p->tape, &cri_kernel_log_sum_exp, cri_value_run(j->b, &top), K));
        sum = less(j, sum, times(j, norm, number(j, rows == 1 ? (double)j->y->n : 1)));
    }
    return sum;
}

/* log of F(c_y - e) - F(c_{y-1} - e), by the tails at both ends. */
static cri_value ordered_logistic(joint *j)
{
    const cri_value *eta = &j->a[0], *cut = &j->a[1];
    size_t           K = cut->n + 1;
    cri_value        sum = number(j, 0);
    need(j, j->y->data != NULL, "the left side must be known: it is not data");
    for (size_t i = 0; j->st == CR_OK && i < j->y->n; i++) {
        double    y = j->y->data[i];
        cri_value e = eta->dims ? part(j, eta, i, 1, 1) : *eta, low, high, term;
        e.dims = 0, e.n = 1, e.inner = CRI_INNER_NUMBER;
        need(j, y >= 1 && y <= (double)K && y == floor(y),
             "a category is not one of 1 to the number of cut points and one");
        if (j->st != CR_OK) break;
        low = high = e;
        if (y > 1)
            low = part(j, cut, (size_t)y - 2, 1, 1), low.dims = 0, low.inner = CRI_INNER_NUMBER;
        if (y < (double)K)
            high = part(j, cut, (size_t)y - 1, 1, 1), high.dims = 0, high.inner = CRI_INNER_NUMBER;
        if (y == 1)
            term = apply(j, "log_inv_logit", less(j, high, e), NULL);
        else if (y == (double)K)
            term = apply(j, "log1m_inv_logit", less(j, low, e), NULL);
        else { /* log(F(h) - F(l)) = log F(h) + log(1 - F(l)) + log(1 - exp(l - h)) */
            cri_value h = less(j, high, e), l = less(j, low, e), gap = less(j, l, h);
            term =
                plus(j, apply(j, "log_inv_logit", h, NULL), apply(j, "log1m_inv_logit", l, NULL));
            term = plus(j, term, apply(j, "log1m_exp", gap, NULL));
        }
        sum = plus(j, sum, term);
    }
    return sum;
}

static const struct {
    const char *name;
    size_t      parameters;
    cri_value (*run)(joint *j);
} JOINT[] = {
    { "bernoulli_logit_glm", 3, bernoulli_logit_glm },
    { "poisson_log_glm", 3, poisson_log_glm },
    { "neg_binomial_2_log_glm", 4, neg_binomial_2_log_glm },
    { "normal_id_glm", 4, normal_id_glm },
    { "dirichlet", 1, dirichlet },
    { "categorical", 1, categorical },
    { "categorical_logit", 1, categorical_logit },
    { "ordered_logistic", 2, ordered_logistic },
};

cr_status cri_bind_joint(cri_binder *b, const cri_syntax *node, const char *name,
                         const cri_value *y, const cri_value *argument, size_t n, bool *out_found,
                         cri_value *out)
{
    joint j = { .b = b, .node = node, .y = y, .a = argument, .n = n };
    *out_found = false;
    for (size_t i = 0; i < sizeof JOINT / sizeof *JOINT; i++) {
        if (strcmp(JOINT[i].name, name) != 0) continue;
        *out_found = true;
        if (n != JOINT[i].parameters)
            return CRI_BIND_FAIL(b, node, "%s takes %zu arguments, but %zu are given", name,
                                 JOINT[i].parameters, n);
        *out = JOINT[i].run(&j);
        return j.st != CR_OK ? j.st : b->s.status;
    }
    return CR_OK;
}
