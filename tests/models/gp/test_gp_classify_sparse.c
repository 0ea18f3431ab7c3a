/* test_gp_classify_sparse.c -- the variational bound of sparse classifiers: against its definition,
 * integrals, differences, and reference answers. */
#include "classify_fixture.h"
#include "gp_reference.h"

#include "base/scratch.h"
#include "math/special/special.h"
#include "models/common/softmax_normal.h"
#include "models/gp/classify/classify_cavity.h"
#include "models/gp/classify/classify_sparse.h"
#include "models/gp/classify/classify_tilted.h"

/* The bound at its maximum with these inducing inputs. */
static double bound_of(cr_ctx *cx, small *p, const cri_gp_data *Z, const cr_kernel *k,
                       double *opt_gradient, cri_svgp *opt_workspace, cr_scratch *s)
{
    cr_scratch own = cr_scratch_begin(cx), *arena = s ? s : &own;
    cri_svgp   workspace;
    double     value = NAN;
    double    *L = cr_scratch_matrix(arena, Z->n, Z->n),
           *factor = cr_scratch_matrix(arena, p->F * Z->n, Z->n);
    assert_ok(cx, cri_svgp_new(arena, &p->data, Z, L, factor, &workspace));
    assert_ok(cx, cri_svgp_objective(cx, &workspace, &p->problem, k, 0, &value, opt_gradient));
    assert_true(workspace.converged);
    if (opt_workspace) *opt_workspace = workspace;
    cr_scratch_end(&own);
    return value;
}

static cri_gp_data few_of(small *p, size_t m)
{
    return (cri_gp_data){ .n = m, .d = 2, .X = p->X, .first = p->first };
}

/* --- the definition --------------------------------------------------------------------------- */

/* q(u) = N(L mu, L S L^T), all by explicit inverses; expectations by a fine trapezoid rule. */
TEST(definition)
{
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_PROBIT; link++) {
        enum { N = 10, M = 4 };
        small      p;
        cr_scratch s = cr_scratch_begin(cx);
        cr_kernel *k = read_kernel(cx, "5.2*rbf(l=1.1)");
        cri_svgp   v;
        double     Kmm[M * M], Kmn[M * N], step = 1e-3, expected = 0;
        make_small(&p, (cri_classify_link)link, N, 1, 31);
        cri_gp_data     Z = few_of(&p, M);
        cr_kernel_input z = cri_gp_inputs(&Z), rows = cri_gp_inputs(&p.at);
        double          value = bound_of(cx, &p, &Z, k, NULL, &v, &s);
        assert_ok(cx, cr_kernel_gram(cx, k, &z, CR_FILL_BOTH, cr_mat_of(Kmm, M, M)));
        assert_ok(cx, cr_kernel_cross(cx, k, &z, &rows, cr_mat_of(Kmn, M, N)));
        long double K[M * M], Ki[M * M], P[M * M] = { 0 }, S[M * M], L[M * M] = { 0 },
                                               Su[M * M] = { 0 }, mu[M] = { 0 };
        for (int a = 0; a < M; a++)
            for (int b = 0; b <= a; b++) L[a * M + b] = v.L[a * M + b];
        for (int i = 0; i < M * M; i++) K[i] = Kmm[i];
        for (int a = 0; a < M; a++)
            for (int b = 0; b < M; b++)
                for (int c = 0; c <= (a < b ? a : b); c++)
                    P[a * M + b] += v.factor[a * M + c] * v.factor[b * M + c];
        invert_dense(M, K, Ki);
        invert_dense(M, P, S);
        for (int a = 0; a < M; a++)
            for (int b = 0; b < M; b++) {
                mu[a] += L[a * M + b] * v.mu[b];
                for (int c = 0; c < M; c++)
                    for (int d = 0; d < M; d++)
                        Su[a * M + b] += L[a * M + c] * S[c * M + d] * L[b * M + d];
            }
        for (int i = 0; i < N; i++) {
            long double w[M] = { 0 }, mean = 0, variance = 5.2L, sum = 0;
            for (int a = 0; a < M; a++)
                for (int b = 0; b < M; b++) w[a] += Ki[a * M + b] * Kmn[b * N + i];
            for (int a = 0; a < M; a++) {
                mean += w[a] * mu[a];
                variance -= w[a] * Kmn[a * N + i];
                for (int b = 0; b < M; b++) variance += w[a] * Su[a * M + b] * w[b];
            }
            for (double x = -10; x <= 10; x += step)
                sum += step * exp(cr_norm_logpdf(x)) *
                       cri_classify_at((cri_classify_link)link, p.counts + 2 * i,
                                       (double)(mean + sqrtl(variance) * x))
                           .log_p;
            expected += (double)sum;
        }
        long double kl = -M, copy[M * M], t[M], first, second; /* KL(N(mu, Su) | N(0, K)) */
        for (int a = 0; a < M; a++)
            for (int b = 0; b < M; b++) kl += Ki[a * M + b] * Su[b * M + a];
        memcpy(copy, K, sizeof copy);
        memcpy(t, mu, sizeof t);
        kl += quadratic_form(M, copy, t, &first);
        memcpy(copy, Su, sizeof copy);
        quadratic_form(M, copy, t, &second);
        kl = 0.5L * (kl + first - second);
        assert_close(v.divergence, (double)kl, 1e-9);
        assert_close(v.expected, expected, 1e-7);
        assert_close(value, expected - (double)kl, 1e-7);
        /* and it is a maximum: any other q is below */
        for (int e = 0; e < 6; e++) {
            double lambda = v.lambda[e], b = v.mu[e % M];
            if (e < 3)
                v.lambda[e] *= e % 2 ? 1.3 : 0.6;
            else
                v.mu[e % M] += e % 2 ? 0.02 : -0.01;
            assert_ok(cx, cri_svgp_bound(cx, &v));
            assert_true(v.bound < value);
            v.lambda[e] = lambda, v.mu[e % M] = b;
        }
        cr_kernel_free(cx, k);
        cr_scratch_end(&s);
    }
}

/* --- the evidence of several functions -------------------------------------------------------- */

/* log p(classes | f) of all inputs, f [F x n]. */
static double log_likelihood_of(const small *p, const double *f)
{
    double sum = 0, at[4];
    for (size_t i = 0; i < p->n; i++) {
        double weight = 0;
        for (size_t c = 0; c < p->F; c++) {
            at[c] = f[c * p->n + i];
            sum += p->counts[i * p->F + c] * at[c];
            weight += p->counts[i * p->F + c];
        }
        sum -= weight * cr_logsumexp(at, p->F);
    }
    return sum;
}

/* The log evidence by points of a lattice through the prior. */
static double integrate_prior(cr_ctx *cx, const small *p, const cr_kernel *k, size_t count)
{
    size_t          n = p->n, N = n * p->F;
    double          K[MOST_INPUTS * MOST_INPUTS], f[MOST_LATENT], sum = 0;
    double         *points = malloc(count * N * sizeof *points);
    cr_kernel_input in = cri_gp_inputs(&p->at);
    assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, n, n)));
    cri_factor_small(K, n);
    cri_softmax_points(N, count, points);
    cri_softmax_whiten(N, count, points);
    for (size_t t = 0; t < 2 * count; t++) {
        const double *z = points + t / 2 * N;
        for (size_t c = 0; c < p->F; c++)
            for (size_t i = 0; i < n; i++) {
                double *to = f + c * n + i;
                *to = 0;
                for (size_t j = 0; j <= i; j++)
                    *to += (t % 2 ? -1 : 1) * K[i * n + j] * z[c * n + j];
            }
        sum += exp(log_likelihood_of(p, f)) / (2 * (double)count);
    }
    free(points);
    return log(sum);
}

/* Of inputs that do not depend on each other it is exact; of others much nearer to the evidence than the bound. */
TEST(evidence_of_several_functions)
{
    enum { POINTS = 30000, COUNT = 300000 };
    static const char *const kernels[] = { "4*rbf(l=1e-4)", "6*rbf(l=1.1)", "2*rbf(l=0.6)" };
    for (size_t j = 0; j < 3; j++)
        for (size_t F = 3; F <= 4; F++) {
            small         p;
            cr_scratch    s = cr_scratch_begin(cx);
            cr_kernel    *k = read_kernel(cx, kernels[j]);
            cri_svgp      v;
            static double points[POINTS * 4];
            double        workspace[16];
            make_small(&p, CRI_CLASSIFY_SOFTMAX, 4, F, 40 + F);
            double bound = bound_of(cx, &p, &p.at, k, NULL, &v, &s);
            cri_softmax_points(F, POINTS, points);
            cri_softmax_whiten(F, POINTS, points);
            double found = cri_svgp_evidence(&v, points, POINTS, workspace);
            double truth = j ? integrate_prior(cx, &p, k, COUNT) : 0;
            for (size_t i = 0; j == 0 && i < p.n; i++) {
                small one = p;
                one.n = one.at.n = 1, one.at.X = p.X + 2 * i;
                memcpy(one.counts, p.counts + i * F, F * sizeof(double));
                truth += integrate_prior(cx, &one, k, COUNT / 10);
            }
            if (getenv("CREDENCE_SHOW"))
                printf("%s, %zu: %.5f %.5f bound %.5f\n", kernels[j], F, found, truth, bound);
            assert_true(fabs(found - truth) < (j ? 0.25 * (truth - bound) : 1e-4));
            cr_kernel_free(cx, k);
            cr_scratch_end(&s);
        }
}

/* The tilted bound: exact without variance, above the expectation with it, and its derivatives. */
TEST(tilted)
{
    const double m[][3] = { { 0.3, -1.1, 0.9 }, { 40, 0, -7 }, { 0, 0, 0 } };
    const double v[][3] = { { 0, 0, 0 }, { 0.4, 1.3, 2.2 }, { 30, 90, 4 }, { 1e6, 1, 1e-9 } };
    double       workspace[64], g[3], bend[9], up[3], down[3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            double phi = cri_tilted(3, m[i], v[k], workspace, g, bend), sum = 0, mean = 0,
                   total = 0, step = 0.25, h = 1e-5;
            assert_close(g[0] + g[1] + g[2], 1, 1e-12);
            if (k == 0) assert_close(phi, cr_logsumexp(m[i], 3), 1e-13);
            for (double a = -7; a <= 7; a += step)
                for (double b = -7; b <= 7; b += step)
                    for (double c = -7; c <= 7; c += step) {
                        double f[] = { m[i][0] + sqrt(v[k][0]) * a, m[i][1] + sqrt(v[k][1]) * b,
                                       m[i][2] + sqrt(v[k][2]) * c };
                        double w = exp(-(a * a + b * b + c * c) / 2);
                        sum += w * cr_logsumexp(f, 3), total += w;
                    }
            mean = sum / total;
            assert_true(phi >= mean - 1e-6 * fabs(mean));
            if (k == 1) assert_true(phi < mean + 0.1);
            for (int c = 0; c < 3 && k < 3; c++) {
                double z[3] = { m[i][0], m[i][1], m[i][2] }, u[3] = { v[k][0], v[k][1], v[k][2] },
                       t[3];
                z[c] += h;
                double above = cri_tilted(3, z, u, workspace, up, NULL);
                z[c] -= 2 * h;
                double below = cri_tilted(3, z, u, workspace, down, NULL);
                assert_close((above - below) / (2 * h), g[c], 1e-7);
                for (int e = 0; e < 3; e++)
                    assert_close((up[e] - down[e]) / (2 * h), bend[3 * c + e], 1e-6);
                if (v[k][c] == 0) continue;
                u[c] += h;
                above = cri_tilted(3, m[i], u, workspace, t, NULL);
                u[c] -= 2 * h;
                below = cri_tilted(3, m[i], u, workspace, t, NULL);
                assert_close((above - below) / (2 * h), g[c] * (1 - g[c]) / 2, 1e-7);
            }
        }
}

/* --- bounds ----------------------------------------------------------------------------------- */

/* Every input inducing: below the evidence, which two latent values let us integrate, and near to
 * it. */
TEST(below_evidence)
{
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_PROBIT; link++) {
        small           p;
        cr_kernel      *k = read_kernel(cx, "3.7*rbf(l=1.5)");
        cr_kernel_input in;
        double          K[4], sum = 0, step = 0.05;
        make_small(&p, (cri_classify_link)link, 2, 1, 21);
        in = cri_gp_inputs(&p.at);
        assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, 2, 2)));
        double det = K[0] * K[3] - K[1] * K[2];
        for (double f = -14; f <= 14; f += step)
            for (double g = -14; g <= 14; g += step) {
                double square = (K[3] * f * f - 2 * K[1] * f * g + K[0] * g * g) / det;
                double log_p = cri_classify_at((cri_classify_link)link, p.counts, f).log_p +
                               cri_classify_at((cri_classify_link)link, p.counts + 2, g).log_p;
                sum += step * step * exp(log_p - square / 2) / (2 * M_PI * sqrt(det));
            }
        double bound = bound_of(cx, &p, &p.at, k, NULL, NULL, NULL);
        assert_true(bound <= log(sum) && bound > log(sum) - 0.03);
        cr_kernel_free(cx, k);
    }
}

/* More inducing inputs never lower the bound; all of them come near to Laplace's evidence. */
TEST(more_inducing)
{
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_SOFTMAX; link++) {
        small       p;
        cr_scratch  s = cr_scratch_begin(cx);
        cr_kernel  *k = read_kernel(cx, "1.5*rbf(l=1.2)");
        cri_laplace workspace;
        double      before = -INFINITY, laplace;
        make_small(&p, (cri_classify_link)link, 10, link == CRI_CLASSIFY_SOFTMAX ? 3 : 1, 6);
        for (size_t m = 1; m <= 10; m++) {
            cri_gp_data Z = few_of(&p, m);
            double      bound = bound_of(cx, &p, &Z, k, NULL, NULL, NULL);
            assert_true(bound > before - 1e-6);
            before = bound;
        }
        assert_ok(cx, cri_laplace_new(&s, &p.data, p.n, NULL, NULL, &workspace));
        assert_ok(cx, cri_laplace_objective(cx, &workspace, &p.problem, k, 0, &laplace, NULL));
        assert_close(before, laplace, link == CRI_CLASSIFY_SOFTMAX ? 0.05 : 0.02);
        cr_kernel_free(cx, k);
        cr_scratch_end(&s);
    }
}

/* --- gradient --------------------------------------------------------------------------------- */

static void check_gradient(cr_ctx *cx, cri_classify_link link, size_t F, size_t m, const char *text)
{
    small      p;
    cr_kernel *k = read_kernel(cx, text);
    size_t     size = cr_kernel_theta_size(k);
    double     theta[8], gradient[9], h = 1e-3;
    make_small(&p, link, 10, F, 4);
    cri_gp_data Z = few_of(&p, m);
    bound_of(cx, &p, &Z, k, gradient, NULL, NULL);
    assert_true(gradient[size] == 0);
    cr_kernel_theta(k, theta);
    for (size_t j = 0; j < size; j++) {
        double f[4];
        for (int e = 0; e < 4; e++) {
            double z[8];
            memcpy(z, theta, sizeof z);
            z[j] += h * (e - 1.5) * 2 / 3;
            assert_ok(cx, cr_kernel_set_theta(cx, k, z));
            f[e] = bound_of(cx, &p, &Z, k, NULL, NULL, NULL);
        }
        double wide = (f[3] - f[0]) / (2 * h), narrow = (f[2] - f[1]) / (2 * h / 3);
        assert_close(gradient[j], narrow + (narrow - wide) / 8, 3e-5);
    }
    cr_kernel_free(cx, k);
}

TEST(gradient)
{
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_SOFTMAX; link++) {
        size_t F = link == CRI_CLASSIFY_SOFTMAX ? 3 : 1;
        check_gradient(cx, (cri_classify_link)link, F, 4, "2.1*rbf(l=[0.8,1.7])");
        check_gradient(cx, (cri_classify_link)link, F, 10, "3*matern52(l=0.6) + 0.7*linear(x1)");
    }
}

/* --- reference answers ------------------------------------------------------------------------ */

TEST(reference)
{
    json_t *root = load_reference(), *item;
    size_t  i, seen = 0;
    json_array_foreach(json_object_get(root, "cases"), i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        if (strncmp(id, "svgp/bernoulli", 14)) continue;
        split         sp = read_split(cx, root, item);
        const json_t *set = json_object_get(json_object_get(root, "inducing_sets"),
                                            json_string_value(json_object_get(item, "inducing")));
        size_t        m = json_array_size(set);
        double *ZX = malloc(m * sp.d * sizeof *ZX), *counts = read_counts(cx, root, item, sp.n),
               value;
        char text[2048] = "";
        for (size_t a = 0; a < m; a++)
            for (size_t j = 0; j < sp.d; j++) ZX[a * sp.d + j] = element(json_array_get(set, a), j);
        kernel_text(json_object_get(item, "kernel"), json_object_get(item, "hyper"), text);
        cr_scratch  s = cr_scratch_begin(cx);
        cr_kernel  *k = read_kernel(cx, text);
        cri_gp_data at = { .n = sp.n, .d = sp.d, .X = sp.X }, Z = { .n = m, .d = sp.d, .X = ZX };
        cri_classify_data data = { .at = &at,
                                   .F = 1,
                                   .C = 2,
                                   .counts = counts,
                                   .link = strstr(id, "probit") ? CRI_CLASSIFY_PROBIT
                                                                : CRI_CLASSIFY_LOGIT };
        cri_gp_problem    problem = { .data = &at };
        cri_svgp          workspace;
        assert_ok(cx, cri_svgp_new(&s, &data, &Z, cr_scratch_matrix(&s, m, m),
                                   cr_scratch_matrix(&s, m, m), &workspace));
        assert_ok(cx, cri_svgp_objective(cx, &workspace, &problem, k, 0, &value, NULL));
        assert_close(value, number_of(item, "best_elbo_over_q"), 1e-6);
        cr_kernel_free(cx, k);
        cr_scratch_end(&s);
        free(ZX);
        free(counts);
        drop_split(&sp);
        seen++;
    }
    assert_int_equal(seen, 4);
    json_decref(root);
}
