/* svm_machine.c -- machines with soft and hard margins. */
#include "svm_machine.h"
#include "base/scratch.h"

#include <math.h>

static const double TOUCH =
    1e-10; /* hulls nearer than the root of this, in units of the features, touch */
enum { MOST_TIGHTENINGS = 40 };
static const double LEAST_TOL =
    1e-6; /* of nu: the finest tolerance, as a share of what is asked for */

/* The quadratic programme of a machine. */
typedef struct programme {
    cri_svm_problem  p;
    cri_svm_settings how;
    cri_svm_solution x;
    double          *linear, *upper;
} programme;

static cr_status programme_new(cr_scratch *s, const cri_svm_sample *sample,
                               const cri_svm_margin *margin, const cri_svm_machine *m,
                               programme *out)
{
    size_t n = sample->n;
    *out = (programme){ .how = margin->how,
                        .linear = cr_scratch_bytes(s, n, sizeof(double)),
                        .upper = cr_scratch_f64(s, n) };
    out->x =
        (cri_svm_solution){ .alpha = cr_scratch_bytes(s, n, sizeof(double)), .value = m->value };
    out->p = (cri_svm_problem){ .kernel = sample->kernel,
                                .rows = sample->rows,
                                .opt_gram = sample->opt_gram,
                                .n = n,
                                .sign = sample->sign,
                                .linear = out->linear,
                                .upper = out->upper,
                                .groups = margin->kind == CRI_SVM_NU || isinf(margin->C) };
    return s->status;
}

/* beta = scale y a,  f = scale F + b. */
static void take_solution(const programme *q, double scale, double b, cri_svm_machine *m)
{
    m->b = b;
    for (size_t i = 0; i < q->p.n; i++) {
        m->beta[i] = scale * q->p.sign[i] * q->x.alpha[i];
        m->value[i] = scale * m->value[i] + b;
    }
    m->objective = q->x.objective * scale * scale;
    m->norm = scale * sqrt(fmax(q->x.quadratic, 0));
    m->gap = q->x.gap * scale * scale;
    m->violation = q->x.violation * scale;
    m->steps = q->x.steps;
    m->converged = q->x.converged;
    m->late = q->x.late;
}

static cr_status train_soft(cr_ctx *cx, const cri_svm_sample *sample, const cri_svm_margin *margin,
                            programme *q, cri_svm_machine *m)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < sample->n; i++) {
        q->linear[i] = -1;
        q->upper[i] = margin->C * sample->weight[i];
        q->x.alpha[i] = fmin(fabs(m->beta[i]), q->upper[i]);
    }
    CR_TRY(cri_svm_solve(cx, &q->p, &q->how, &q->x));
    take_solution(q, 1, q->x.b[0], m);
    m->bound = margin->C;
done:
    return st;
}

/* The sums of the weights of y = -1 and y = +1. */
static void weigh(const cri_svm_sample *sample, double weight[2])
{
    weight[0] = weight[1] = 0;
    for (size_t i = 0; i < sample->n; i++) weight[sample->sign[i] > 0] += sample->weight[i];
}

static cr_status train_nu(cr_ctx *cx, const cri_svm_sample *sample, const cri_svm_margin *margin,
                          programme *q, cri_svm_machine *m)
{
    cr_status st = CR_OK;
    double    weight[2], left[2];
    weigh(sample, weight);
    double all = weight[0] + weight[1], most = 2 * fmin(weight[0], weight[1]) / all;
    if (margin->nu > most) {
        cr_fail(cx, CR_EDATA,
                "svm: --nu %g is too large: with %g rows of '%s' and %g of '%s' it can be at most "
                "%g",
                margin->nu, weight[0], sample->names[0], weight[1], sample->names[1], most);
        CR_TRY(cr_fail_hint(cx, "--nu %g, or --class-weights balanced", floor(900 * most) / 1000));
    }
    left[0] = left[1] = margin->nu * all / 2;
    for (size_t i = 0; i < sample->n; i++) {
        double *rest = &left[sample->sign[i] > 0];
        q->upper[i] = sample->weight[i];
        q->x.alpha[i] = fmin(*rest, q->upper[i]);
        *rest -= q->x.alpha[i];
    }
    double r = 0, size = 0;
    size_t steps = 0;
    for (int i = 0; i < MOST_TIGHTENINGS; i++) { /* tol is of the function whose margin is 1 */
        CR_TRY(cri_svm_solve(cx, &q->p, &q->how, &q->x));
        steps += q->x.steps;
        r = (q->x.b[0] - q->x.b[1]) / 2, size = sqrt(fmax(q->x.quadratic, 0));
        if (q->x.violation <= margin->how.tol * r || !q->x.converged) break;
        if (q->how.tol < LEAST_TOL * margin->how.tol || steps >= margin->how.max_iter) break;
        q->how.tol =
            fmax(fmin(q->how.tol / 4, margin->how.tol * r / 2), LEAST_TOL / 4 * margin->how.tol);
        q->how.max_iter = margin->how.max_iter - steps;
    }
    /* Below what the conditions are off by there is no telling a margin from none. */
    if (!(r > 2 * q->x.violation) || !(r > 1e-9 * size) || size == 0) {
        cr_fail(cx, CR_EDATA,
                "svm: --nu %g is too small: '%s' and '%s' overlap so much that no margin is left",
                margin->nu, sample->names[0], sample->names[1]);
        CR_TRY(cr_fail_hint(cx, "a larger --nu, up to %g, or --kind c", most));
    }
    take_solution(q, 1 / r, (q->x.b[0] + q->x.b[1]) / (2 * r), m);
    m->bound = 1 / r, m->steps = steps;
    m->converged &= m->violation <= margin->how.tol;
done:
    return st;
}

static cr_status fail_touching(cr_ctx *cx, const cri_svm_sample *sample)
{
    cr_fail(cx, CR_EDATA,
            "svm: '%s' and '%s' cannot be separated: with this kernel there is no hard margin "
            "between them",
            sample->names[0], sample->names[1]);
    return cr_fail_hint(cx, "a soft margin, such as --C 100, or a kernel that varies faster");
}

/* The greatest distance of a feature from the first row's, squared: the unit of distances. */
static cr_status unit_of(cr_ctx *cx, const cri_svm_sample *sample, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *diagonal = cr_scratch_f64(&s, sample->n), most = 0;
    CR_TRY(s.status);
    CR_TRY(cr_kernel_diagonal(cx, sample->kernel, &sample->rows, false, diagonal));
    for (size_t i = 0; i < sample->n; i++) most = fmax(most, diagonal[i]);
    *out = most;
done:
    cr_scratch_end(&s);
    return st;
}

/* The margin by primal feasibility: w / least is separating, so |w|^2 / (2 least^2) bounds the optimum. */
static double hard_gap(const cri_svm_sample *sample, const cri_svm_machine *m)
{
    double least = INFINITY;
    for (size_t i = 0; i < sample->n; i++) least = fmin(least, sample->sign[i] * m->value[i]);
    return least > 0 ? -m->objective / (least * least) + m->objective : INFINITY;
}

static cr_status train_hard(cr_ctx *cx, const cri_svm_sample *sample, const cri_svm_margin *margin,
                            programme *q, cri_svm_machine *m)
{
    cr_status st = CR_OK;
    double    weight[2], unit = 0, square = 0;
    CR_TRY(unit_of(cx, sample, &unit));
    weigh(sample, weight);
    for (size_t i = 0; i < sample->n; i++) {
        q->upper[i] = 2; /* more than any can have: a corner is not at a bound */
        q->x.alpha[i] = sample->weight[i] / weight[sample->sign[i] > 0];
    }
    q->how.tol = 0.1 * unit;
    for (int i = 0; i < MOST_TIGHTENINGS; i++) {
        size_t before = m->steps;
        CR_TRY(cri_svm_solve(cx, &q->p, &q->how, &q->x));
        m->steps = before + q->x.steps;
        square = q->x.quadratic;
        if (!(square > TOUCH * unit)) CR_TRY(fail_touching(cx, sample));
        if (q->x.violation <= margin->how.tol * square / 2 || !q->x.converged) break;
        q->how.tol = fmin(q->how.tol / 4, margin->how.tol * square / 4);
        q->how.max_iter = margin->how.max_iter - m->steps;
    }
    size_t steps = m->steps;
    take_solution(q, 2 / square, (q->x.b[0] + q->x.b[1]) / square, m);
    m->steps = steps;
    m->objective = -2 / square;
    m->bound = INFINITY;
    m->gap = hard_gap(sample, m);
done:
    return st;
}

cr_status cri_svm_train(cr_ctx *cx, const cri_svm_sample *sample, const cri_svm_margin *margin,
                        cri_svm_machine *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    programme  q;
    m->steps = 0;
    CR_TRY(programme_new(&s, sample, margin, m, &q));
    if (margin->kind == CRI_SVM_NU)
        CR_TRY(train_nu(cx, sample, margin, &q, m));
    else if (isinf(margin->C))
        CR_TRY(train_hard(cx, sample, margin, &q, m));
    else
        CR_TRY(train_soft(cx, sample, margin, &q, m));
done:
    cr_scratch_end(&s);
    return st;
}
