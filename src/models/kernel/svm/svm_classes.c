/* svm_classes.c -- many classes by machines of two.
 *   one against one   K (K - 1) / 2 machines, each on the rows of two classes; the class with the most votes, of several
 *                     the one whose machines are surer
 *   one against rest  K machines on all rows; the class of the greatest value
 *   joint             K machines found together (svm_joint.h); likewise
 * Knerr, Personnaz & Dreyfus (1990); Hsu & Lin (2002), IEEE Trans. Neural Networks 13. */
#include "svm.h"
#include "linear_machine.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"
#include "math/dense/dense.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

/* A kernel matrix that several machines need is computed once, where it takes no more than this. */
static const double MOST_GRAM = 4e8;
/* Kernel values of new rows at a time, more or less. */
enum { AT_ONCE = 1 << 21, LEAST_ROWS = 64 };

size_t cri_svm_machines(cri_svm_multi multi, size_t K)
{
    return K == 2 ? 1 : multi == CRI_SVM_OVO ? K * (K - 1) / 2 : K;
}

void cri_svm_classes_of(const cri_svm *m, size_t machine, size_t *out_for, size_t *out_against)
{
    size_t i = 0;
    if (m->K > 2 && m->multi != CRI_SVM_OVO) {
        *out_for = machine, *out_against = SIZE_MAX;
        return;
    }
    for (; machine >= m->K - 1 - i; i++) machine -= m->K - 1 - i;
    *out_for = i + 1 + machine, *out_against = i;
}

/* --- training -------------------------------------------------------------------------------- */

/* What all machines of a fit share. */
typedef struct training {
    cri_svm           *m;
    const cr_kernel   *kernel;
    const cri_gp_data *data;
    const cr_design   *design;
    cri_svm_margin     margin;
    bool               loo;
    double            *gram;  /* [n x n] or NULL */
    double            *beta;  /* [n x M] of all rows, column by column: beta[machine * n + i] */
    double            *most;  /* [n] greatest |beta| of a row in any machine                    */
    cri_clock          whole; /* of all machines */
    double *w; /* [M x d] weights of the columns that are not of support vectors, or NULL */
} training;

/* The rows of a machine with their signs; how many, and whether both are there. */
static size_t pick_rows(const training *t, size_t plus, size_t minus, size_t *index, double *sign,
                        double *weight, bool there[2])
{
    size_t n = 0;
    there[0] = there[1] = false;
    for (size_t i = 0; i < t->data->n; i++) {
        size_t k = (size_t)t->data->y[i];
        if (k != plus && minus != SIZE_MAX && k != minus) continue;
        index[n] = i;
        sign[n] = k == plus ? 1 : -1;
        weight[n] = 1 / t->data->r[i];
        there[k == plus] = true;
        n++;
    }
    return n;
}

static const double *sub_gram(cr_scratch *s, const training *t, const size_t *index, size_t n)
{
    if (!t->gram || n == t->data->n) return t->gram;
    double *K = cr_scratch_matrix(s, n, n);
    for (size_t i = 0; K && i < n; i++)
        for (size_t j = 0; j < n; j++) K[i * n + j] = t->gram[index[i] * t->data->n + index[j]];
    return K;
}

static void note_link(training *t, size_t machine, size_t row, double beta, bool bounded)
{
    if (beta == 0) return;
    t->beta[machine * t->data->n + row] = beta;
    t->most[row] = fmax(t->most[row], fabs(beta));
    t->m->links[machine]++;
    t->m->bounded[machine] += bounded;
}

static void note_stop(bool converged, bool late, cr_report *report)
{
    if (late)
        report->stop = CR_STOP_TIME;
    else if (!converged && report->stop != CR_STOP_TIME)
        report->stop = CR_STOP_LIMIT;
}

/* The results of a machine into the state; beta into the column of the machine. */
static void keep_machine(training *t, size_t machine, const cri_svm_machine *a, const size_t *index,
                         const double *weight, size_t n)
{
    cri_svm *m = t->m;
    m->b[machine] = a->b;
    m->objective[machine] = a->objective;
    m->gap[machine] = cri_svm_known_gap(a->gap);
    m->violation[machine] = a->violation;
    m->norm[machine] = a->norm;
    m->steps[machine] = a->steps;
    for (size_t i = 0; i < n; i++)
        note_link(t, machine, index[i], a->beta[i], cri_svm_is_bounded(a, a->beta[i], weight[i]));
}

static const char *class_name(const cr_design *design, size_t k)
{
    return k == SIZE_MAX ? "the rest" : cr_design_class(design, k);
}

cr_status cri_svm_train_one(cr_ctx *cx, const cri_svm_sample *sample, const cri_svm_margin *margin,
                            cri_svm_machine *machine, double *opt_w)
{
    return cri_svm_by_weights(sample->kernel, margin, sample->n)
               ? cri_svm_train_weights(cx, sample, margin, machine, opt_w)
               : cri_svm_train(cx, sample, margin, machine);
}

/* A machine that there was no time for is 0 everywhere: of c, its gap is the price of all rows. */
static void leave_out(training *t, size_t machine, const double *weight, size_t n)
{
    cri_svm *m = t->m;
    m->violation[machine] = 2;
    for (size_t i = 0; i < n; i++) m->gap[machine] += m->C * weight[i];
    if (m->kind == CRI_SVM_NU || isinf(m->C)) m->gap[machine] = NAN;
}

/* Its share of what time there is for it and those to come. */
static cri_clock clock_of(cr_ctx *cx, const training *t, size_t machine)
{
    double left = cri_time_left(cx), machines = (double)(t->m->M - machine);
    return machines > 1 && !isinf(left) ? cri_clock_start(cx, 0.75 * left / machines) : t->whole;
}

static cr_status train_machine(cr_ctx *cx, training *t, size_t machine, cr_report *report)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          all = t->data->n, n, plus, minus;
    size_t         *index = cr_scratch_index(&s, all);
    double         *sign = cr_scratch_f64(&s, all), *weight = cr_scratch_f64(&s, all);
    cri_svm_machine a = { .beta = cr_scratch_bytes(&s, all, sizeof(double)),
                          .value = cr_scratch_f64(&s, all) };
    bool            there[2];
    cr_kernel_input in = cri_gp_inputs(t->data), some = in;

    CR_TRY(s.status);
    cri_svm_classes_of(t->m, machine, &plus, &minus);
    n = pick_rows(t, plus, minus, index, sign, weight, there);
    if (!there[0] || !there[1]) { /* a class without rows loses to one that has some */
        t->m->b[machine] = there[1] ? 1 : there[0] ? -1 : 0;
        goto done;
    }
    if (machine > 0 && cri_clock_over(&t->whole)) {
        leave_out(t, machine, weight, n);
        note_stop(false, true, report);
        goto done;
    }
    if (n < all) CR_TRY(cri_svm_pick(&s, &in, index, n, &some));
    cri_svm_sample sample = { .kernel = t->kernel,
                              .rows = some,
                              .opt_gram = sub_gram(&s, t, index, n),
                              .n = n,
                              .sign = sign,
                              .weight = weight,
                              .names = { class_name(t->design, minus),
                                         class_name(t->design, plus) } };
    CR_TRY(s.status);
    double *w = t->w ? t->w + machine * t->data->d : NULL;
    CR_TRY(t->m->P ? cri_svm_train_path(cx, t->m, t->loo, &sample, &t->margin, &a)
                   : cri_svm_train_one(cx, &sample, &t->margin, &a, w));
    if (t->loo && !a.late) CR_TRY(cri_svm_span(cx, &sample, &a, &t->m->loo));
    keep_machine(t, machine, &a, index, weight, n);
    report->iterations += a.steps;
    note_stop(a.converged, a.late, report);
done:
    cr_scratch_end(&s);
    return st;
}

cri_svm_joint_solution cri_svm_joint_of(cri_svm *m, double *A)
{
    return (cri_svm_joint_solution){
        .A = A, .b = m->b, .objective = m->objective, .gap = m->gap, .norm = m->norm
    };
}

/* All machines at once. */
static cr_status train_joint(cr_ctx *cx, training *t, cr_report *report)
{
    cr_status              st = CR_OK;
    cr_scratch             s = cr_scratch_begin(cx);
    cri_svm               *m = t->m;
    size_t                 n = t->data->n, K = m->K;
    double                *cost = cr_scratch_f64(&s, n);
    cri_svm_joint_solution x = cri_svm_joint_of(m, cr_scratch_bytes(&s, n * K, sizeof(double)));
    cri_svm_joint_problem  p = { .n = n, .K = K, .y = t->data->y, .cost = cost };
    cr_kernel_input        in = cri_gp_inputs(t->data);
    cri_svm_linear_rows    rows;

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) cost[i] = m->C / t->data->r[i];
    if (cri_svm_by_weights(t->kernel, &t->margin, n)) {
        double *W = cr_scratch_matrix(&s, K, in.numbers.cols);
        CR_TRY(s.status);
        CR_TRY(cri_svm_linear_rows_of(&s, in.numbers, &rows));
        CR_TRY(cri_svm_joint_solve_linear(cx, &p, &rows, NULL, &t->margin.how,
                                          cri_svm_linear_steps(t->margin.how.max_iter, n), W, &x));
    } else
        CR_TRY(cri_svm_joint_solve(cx, &p, t->kernel, &in, &t->margin.how, &x));
    for (size_t k = 0; k < K; k++) {
        m->violation[k] = x.violation, m->steps[k] = x.steps;
        for (size_t i = 0; i < n; i++) {
            double a = x.A[i * K + k];
            note_link(t, k, i, a, a >= cost[i] * (1 - 1e-12));
        }
    }
    report->iterations = x.steps;
    note_stop(x.converged, x.late, report);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_svm_allocate_machines(cr_ctx *cx, cri_svm *m)
{
    double **reals[] = { &m->b, &m->objective, &m->gap, &m->violation, &m->norm };
    size_t **counts[] = { &m->links, &m->bounded, &m->steps };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (!(*reals[i] = cr_alloc(cx, m->M, sizeof(double)))) return CR_ENOMEM;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (!(*counts[i] = cr_alloc(cx, m->M, sizeof(size_t)))) return CR_ENOMEM;
    return CR_OK;
}

/* The rows with any weight, and who has which. */
static cr_status keep_support(cr_ctx *cx, training *t)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_svm   *m = t->m;
    size_t     all = t->data->n, *place = cr_scratch_index(&s, all), l = 0;
    CR_TRY(s.status);
    for (size_t i = 0; i < all; i++)
        if (t->most[i] > 0) place[i] = m->n++;
    for (size_t k = 0; k < m->M; k++) m->S += m->links[k];
    m->d = t->data->d, m->c = t->data->c;
    CR_TRY(cri_record_allocate(cx, cri_svm_record, m));
    for (size_t i = 0; i < all; i++) {
        if (t->most[i] == 0) continue;
        if (m->d) memcpy(m->X + place[i] * m->d, t->data->X + i * m->d, m->d * sizeof *m->X);
        if (m->c)
            memcpy(m->codes + place[i] * m->c, t->data->codes + i * m->c, m->c * sizeof *m->codes);
    }
    for (size_t k = 0; k < m->M; k++)
        for (size_t i = 0; i < all; i++) {
            double beta = t->beta[k * all + i];
            if (beta != 0) m->row[l] = place[i], m->beta[l++] = beta;
        }
done:
    cr_scratch_end(&s);
    return st;
}

/* Of weights of columns that come from no rows: each machine has them for its only support vector. */
static cr_status keep_weights(cr_ctx *cx, training *t)
{
    cr_status st = CR_OK;
    cri_svm  *m = t->m;
    m->n = m->S = m->M;
    m->d = t->data->d, m->c = t->data->c;
    CR_TRY(cri_record_allocate(cx, cri_svm_record, m));
    memcpy(m->X, t->w, m->M * m->d * sizeof *m->X);
    for (size_t k = 0; k < m->M; k++) {
        m->links[k] = 1, m->bounded[k] = 0;
        m->row[k] = k, m->beta[k] = 1;
    }
done:
    return st;
}

cr_status cri_svm_train_all(cr_ctx *cx, cri_svm *m, const cr_kernel *kernel,
                            const cri_gp_data *data, const cr_design *design, bool loo,
                            const cri_svm_settings *how, cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = data->n, M = m->M;
    double     whole = (double)n * (double)n * sizeof(double);
    training   t = { .m = m,
                     .kernel = kernel,
                     .data = data,
                     .design = design,
                     .loo = loo,
                     .whole = how->clock,
                     .margin = { .kind = (cri_svm_kind)m->kind,
                                 .loss = (int)m->loss,
                                 .penalty = (int)m->penalty,
                                 .C = m->C,
                                 .nu = m->nu,
                                 .how = *how },
                     .beta = cr_scratch_bytes(&s, n * M, sizeof(double)),
                     .most = cr_scratch_bytes(&s, n, sizeof(double)) };

    CR_TRY(s.status);
    CR_TRY(cri_svm_allocate_machines(cx, m));
    if (m->penalty == CRI_SVM_L1) {
        t.w = cr_scratch_bytes(&s, M * data->d, sizeof(double));
        CR_TRY(s.status);
    }
    if (cri_svm_is_joint(m)) {
        CR_TRY(train_joint(cx, &t, report));
        CR_TRY(keep_support(cx, &t));
        goto done;
    }
    if (M > 1 && !cri_svm_by_weights(kernel, &t.margin, n) && whole <= MOST_GRAM &&
        whole <= (double)cri_memory_left(cx) / 4) {
        cr_kernel_input in = cri_gp_inputs(data);
        t.gram = cr_scratch_matrix(&s, n, n);
        CR_TRY(s.status);
        CR_TRY(cr_kernel_cross(cx, kernel, &in, &in, cr_mat_of(t.gram, n, n)));
    }
    for (size_t k = 0; k < M; k++) {
        cr_progress(cx, "machines", (double)k, (double)M);
        t.margin.how.clock = clock_of(cx, &t, k);
        CR_TRY(train_machine(cx, &t, k, report));
    }
    CR_TRY(t.w ? keep_weights(cx, &t) : keep_support(cx, &t));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- answers --------------------------------------------------------------------------------- */

cr_kernel_input cri_svm_inputs(const cri_svm *m)
{
    return (cr_kernel_input){
        .rows = m->n, .numbers = cr_cmat_of(m->X, m->n, m->d), .codes = m->codes, .categories = m->c
    };
}

typedef struct adding {
    const cri_svm *m;
    const double  *K; /* [rows x n] */
    double        *out;
    size_t         rows;
    bool           in_order; /* one machine, of all rows as they come */
} adding;

enum { ROWS = 16 };

static void add_links(void *arg, size_t block)
{
    const adding  *a = arg;
    const cri_svm *m = a->m;
    cri_range      r = cri_block_range(a->rows, ROWS, block);
    for (size_t i = r.begin; i < r.end; i++) {
        const double *k = a->K + i * m->n;
        size_t        l = 0;
        for (size_t machine = 0; machine < m->M; machine++) {
            double sum = 0;
            size_t end = l + m->links[machine];
            if (a->in_order) {
                a->out[i] = cr_dot(m->beta, k, m->n) + m->b[0];
                break;
            }
            for (; l < end; l++) sum += m->beta[l] * k[m->row[l]];
            a->out[i * m->M + machine] = sum + m->b[machine];
        }
    }
}

static bool is_in_order(const cri_svm *m)
{
    size_t l = 0;
    while (l < m->S && m->row[l] == l) l++;
    return m->M == 1 && l == m->S && m->S == m->n;
}

cr_status cri_svm_set_weights(cr_ctx *cx, cri_svm *m)
{
    size_t l = 0;
    if (!cri_svm_is_linear(m->kernel)) return CR_OK;
    m->W = cr_alloc(cx, m->M * m->d, sizeof *m->W);
    if (!m->W) return CR_ENOMEM;
    for (size_t k = 0; k < m->M; k++)
        for (size_t end = l + m->links[k]; l < end; l++)
            for (size_t j = 0; j < m->d; j++)
                m->W[k * m->d + j] += m->beta[l] * m->X[m->row[l] * m->d + j];
    return CR_OK;
}

/* Values by the weights of the columns. */
typedef struct weighing {
    const cri_svm *m;
    const double  *X; /* [rows x d] */
    double        *out;
} weighing;

static void weigh_rows(void *arg, cri_range rows, double *workspace)
{
    const weighing *w = arg;
    const cri_svm  *m = w->m;
    (void)workspace;
    for (size_t i = rows.begin; i < rows.end; i++)
        for (size_t k = 0; k < m->M; k++)
            w->out[i * m->M + k] = cr_dot(w->X + i * m->d, m->W + k * m->d, m->d) + m->b[k];
}

static cr_status decide_by_weights(cr_ctx *cx, const cri_svm *m, const cri_rows *rows, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     most = rows->n < LEAST_ROWS * LEAST_ROWS ? rows->n : LEAST_ROWS * LEAST_ROWS;
    double    *workspace = cr_scratch_matrix(&s, most, rows->p),
           *X = cr_scratch_matrix(&s, most, m->d);
    uint32_t *codes = cr_scratch_bytes(&s, most * m->c, sizeof *codes);
    CR_TRY(s.status);
    for (size_t begin = 0; begin < rows->n; begin += most) {
        size_t count = rows->n - begin < most ? rows->n - begin : most;
        cri_gp_split(rows, begin, begin + count, workspace, X, codes);
        weighing w = { m, X, out + begin * m->M };
        CR_TRY(cri_parallel_rows(cx, NULL, count, 256, 0, weigh_rows, &w));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_svm_decide(cr_ctx *cx, const cri_svm *m, const cri_rows *rows, double *out)
{
    if (m->W && rows->sparse) return cri_svm_decide_sparse(cx, m, rows, out);
    if (m->W) return decide_by_weights(cx, m, rows, out);
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     most = AT_ONCE / m->n;
    if (most < LEAST_ROWS) most = LEAST_ROWS;
    if (most > rows->n) most = rows->n;
    double          *workspace = cr_scratch_matrix(&s, most, rows->p);
    double          *X = cr_scratch_matrix(&s, most, m->d), *K = cr_scratch_matrix(&s, most, m->n);
    uint32_t        *codes = cr_scratch_bytes(&s, most * m->c, sizeof *codes);
    cr_kernel_input  at = cri_svm_inputs(m);
    cri_kernel_held *held = NULL;

    CR_TRY(s.status);
    CR_TRY(cri_kernel_hold(cx, m->kernel, &at, &held));
    for (size_t begin = 0; begin < rows->n; begin += most) {
        size_t count = rows->n - begin < most ? rows->n - begin : most;
        cr_progress(cx, "predicting", (double)begin, (double)rows->n);
        cri_gp_split(rows, begin, begin + count, workspace, X, codes);
        cr_kernel_input in = { .rows = count,
                               .numbers = cr_cmat_of(X, count, m->d),
                               .codes = codes,
                               .categories = m->c,
                               .names = cri_gp_names(rows) };
        CR_TRY(cri_gp_check_inputs(cx, m->kernel, rows, begin, &in));
        CR_TRY(cri_kernel_cross_held(cx, held, &in, cr_mat_of(K, count, m->n)));
        adding a = { m, K, out + begin * m->M, count, is_in_order(m) };
        CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(count, ROWS), add_links, &a));
    }
done:
    cri_kernel_release(held);
    cr_scratch_end(&s);
    return st;
}

/* Votes, each class with less than half a vote more or less by how sure its machines are. */
static void count_votes(const cri_svm *m, const double *f, double *score)
{
    for (size_t k = 0; k < m->K; k++) {
        double votes = 0, sure = 0;
        size_t machine = 0;
        for (size_t i = 0; i < m->K; i++)
            for (size_t j = i + 1; j < m->K; j++, machine++) {
                if (k != i && k != j) continue;
                double own = k == j ? f[machine] : -f[machine];
                votes += own > 0 ? 1 : own == 0 ? 0.5 : 0;
                sure += own;
            }
        score[k] = votes + sure / (3 * (fabs(sure) + 1));
    }
}

void cri_svm_rank(const cri_svm *m, const double *f, double *share)
{
    double most = -INFINITY, sum = 0;
    if (m->K == 2) {
        share[1] = cr_sigmoid(f[0]);
        share[0] = cr_sigmoid(-f[0]);
        return;
    }
    if (m->multi == CRI_SVM_OVO)
        count_votes(m, f, share);
    else
        memcpy(share, f, m->K * sizeof *share);
    for (size_t k = 0; k < m->K; k++) most = fmax(most, share[k]);
    for (size_t k = 0; k < m->K; k++) sum += share[k] = exp(share[k] - most);
    for (size_t k = 0; k < m->K; k++) share[k] /= sum;
}
