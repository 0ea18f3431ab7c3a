/* test_gaussian_linear.c -- linear-Gaussian models: Bayes' rule is conditioning of the joint, the
 * evidence is the density of the marginal, and one observation after the other is all at once. */
#include "naive.h"

enum { D = 4, K = 3 };

typedef struct model {
    double             A[K * D], b[K], R[K * K];
    cr_linear_gaussian rule;
} model;

static void random_model(cr_rng *r, double noise, model *out)
{
    for (size_t i = 0; i < K * D; i++) out->A[i] = cr_rng_normal(r);
    for (size_t i = 0; i < K; i++) out->b[i] = cr_rng_normal(r);
    for (size_t i = 0; i < K * K; i++) out->R[i] = noise * (i % (K + 1) == 0 ? 1 : 0.2);
    out->rule = (cr_linear_gaussian){ cr_cmat_of(out->A, K, D), out->b, cr_cmat_of(out->R, K, K) };
}

/* The joint by sums in long double. */
static naive naive_joint(const cr_gaussian *x, const model *m)
{
    naive n = { .d = D + K }, p = naive_of(x);
    for (size_t i = 0; i < D; i++) {
        n.m[i] = p.m[i];
        for (size_t j = 0; j < D; j++) n.S[i][j] = p.S[i][j];
    }
    for (size_t i = 0; i < K; i++) {
        n.m[D + i] = m->b[i];
        for (size_t j = 0; j < D; j++) {
            n.m[D + i] += m->A[i * D + j] * p.m[j];
            for (size_t l = 0; l < D; l++) n.S[D + i][j] += m->A[i * D + l] * p.S[l][j];
            n.S[j][D + i] = n.S[D + i][j];
        }
    }
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++) {
            n.S[D + i][D + j] = m->R[i * K + j];
            for (size_t l = 0; l < D; l++) n.S[D + i][D + j] += n.S[D + i][l] * m->A[j * D + l];
        }
    return n;
}

static const size_t first[] = { 0, 1, 2, 3 }, last[] = { 4, 5, 6 };

TEST(bayes_rule)
{
    cr_rng r = cr_rng_stream(21, 0);
    for (int round = 0; round < 20; round++) {
        cr_gaussian *x = random_gaussian(cx, &r, D, D, 0.2), *joint = NULL, *post = NULL, *y = NULL;
        cr_gaussian *given = NULL, *back = NULL;
        model        m;
        double       seen[K], evidence = 0, dense = 0, of_joint = 0, other = 0;
        random_model(&r, 0.5, &m);
        for (size_t i = 0; i < K; i++) seen[i] = 2 * cr_rng_normal(&r);
        naive n = naive_joint(x, &m), right = naive_condition(&n, last, K, seen, first);
        assert_ok(cx, cr_gaussian_joint(cx, x, &m.rule, &joint));
        assert_moments(joint, &n, 1e-13);
        assert_ok(cx, cr_gaussian_posterior(cx, x, &m.rule, seen, &post, &evidence));
        assert_moments(post, &right, 1e-11);
        assert_ok(cx, cr_gaussian_condition(cx, joint, last, K, seen, &given, &of_joint));
        assert_same(given, post, 1e-10);
        assert_ok(cx, cr_gaussian_predictive(cx, x, &m.rule, &y));
        assert_ok(cx, cr_gaussian_logpdf(cx, y, seen, 1, &dense));
        naive marginal = naive_of(y);
        assert_relative(evidence, (double)naive_logpdf(&marginal, seen), 1e-11);
        assert_relative(evidence, dense, 1e-12);
        assert_relative(of_joint, dense, 1e-11);
        cr_canonical *c = NULL, *cp = NULL;
        assert_ok(cx, cr_gaussian_to_canonical(cx, x, &c));
        assert_ok(cx, cr_canonical_posterior(cx, c, &m.rule, seen, &cp, &other));
        assert_ok(cx, cr_canonical_to_gaussian(cx, cp, &back));
        assert_same(back, post, 1e-10);
        assert_close(other, evidence, 1e-10);
        cr_canonical_free(cx, c), cr_canonical_free(cx, cp);
        cr_gaussian_free(cx, x), cr_gaussian_free(cx, joint), cr_gaussian_free(cx, post);
        cr_gaussian_free(cx, y), cr_gaussian_free(cx, given), cr_gaussian_free(cx, back);
    }
}

/* With noise that is independent the rows may come one by one, each posterior the next prior. */
TEST(rows_one_by_one)
{
    cr_rng       r = cr_rng_stream(22, 0);
    cr_gaussian *x = random_gaussian(cx, &r, D, D, 0.2), *all = NULL, *next = NULL;
    model        m;
    double       seen[K], evidence = 0, sum = 0, part = 0;
    random_model(&r, 0.5, &m);
    for (size_t i = 0; i < K * K; i++) m.R[i] = i % (K + 1) == 0 ? 0.1 * (double)(i + 1) : 0;
    for (size_t i = 0; i < K; i++) seen[i] = cr_rng_normal(&r);
    assert_ok(cx, cr_gaussian_posterior(cx, x, &m.rule, seen, &all, &evidence));
    for (size_t i = 0; i < K; i++) {
        cr_linear_gaussian one = { cr_cmat_of(m.A + i * D, 1, D), m.b + i,
                                   cr_cmat_of(m.R + i * K + i, 1, 1) };
        assert_ok(cx, cr_gaussian_posterior(cx, x, &one, seen + i, &next, &part));
        cr_gaussian_free(cx, x);
        x = next;
        sum += part;
    }
    assert_same(x, all, 1e-11);
    assert_relative(sum, evidence, 1e-11);
    cr_gaussian_free(cx, x), cr_gaussian_free(cx, all);
}

/* Noise of 1e-20 against a variance of 1: the posterior variance is that, not 0 and not negative.
 */
TEST(tiny_noise)
{
    double             m = 0, P = 1, A = 1, R = 1e-20, y = 0.7;
    cr_linear_gaussian rule = { cr_cmat_of(&A, 1, 1), NULL, cr_cmat_of(&R, 1, 1) };
    cr_gaussian       *x = NULL, *post = NULL;
    assert_ok(cx, cr_gaussian_new(cx, &m, cr_cmat_of(&P, 1, 1), &x));
    assert_ok(cx, cr_gaussian_posterior(cx, x, &rule, &y, &post, NULL));
    assert_relative(post->covariance[0], 1e-20, 1e-12);
    assert_relative(post->mean[0], 0.7, 1e-15);
    cr_gaussian_free(cx, x), cr_gaussian_free(cx, post);
}

/* Without noise y fixes directions of x. */
TEST(no_noise)
{
    double             m[] = { 0, 0 }, P[] = { 1, 0, 0, 4 }, A[] = { 1, 1 }, y = 3, evidence = 0;
    cr_linear_gaussian sum = { .A = cr_cmat_of(A, 1, 2) };
    cr_gaussian       *x = NULL, *post = NULL, *check = NULL;
    assert_ok(cx, cr_gaussian_new(cx, m, cr_cmat_of(P, 2, 2), &x));
    assert_ok(cx, cr_gaussian_posterior(cx, x, &sum, &y, &post, &evidence));
    assert_close(post->mean[0], 0.6, 1e-15);
    assert_close(post->mean[1], 2.4, 1e-15);
    assert_close(post->covariance[0], 0.8, 1e-15);
    assert_close(post->covariance[1], -0.8, 1e-15);
    assert_close(evidence, -0.5 * (log(2 * M_PI * 5) + 9.0 / 5), 1e-14);
    assert_ok(cx, cr_gaussian_affine(cx, post, cr_cmat_of(A, 1, 2), NULL, &check));
    assert_close(check->mean[0], 3, 1e-14);
    assert_true(fabs(check->covariance[0]) < 1e-15);
    cr_gaussian_free(cx, x), cr_gaussian_free(cx, post), cr_gaussian_free(cx, check);
}

/* An improper prior, flat in every direction: the posterior is the least-squares estimate. */
TEST(flat_prior)
{
    double             h[] = { 0, 0 }, none[] = { 0, 0, 0, 0 }, R[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    double             A[] = { 1, 0, 1, 1, 1, 2 }, y[] = { 1, 2, 4 }, mean[2] = { 0, 0 }, e = 5;
    cr_linear_gaussian line = { cr_cmat_of(A, 3, 2), NULL, cr_cmat_of(R, 3, 3) };
    cr_canonical      *flat = NULL, *post = NULL;
    assert_ok(cx, cr_canonical_new(cx, h, cr_cmat_of(none, 2, 2), &flat));
    assert_ok(cx, cr_canonical_posterior(cx, flat, &line, y, &post, NULL));
    assert_ok(cx, cr_canonical_mean(cx, post, mean));
    assert_close(mean[0], 5.0 / 6, 1e-14);
    assert_close(mean[1], 1.5, 1e-14);
    cr_canonical_free(cx, post);
    post = NULL;
    assert_fails(cx, cr_canonical_posterior(cx, flat, &line, y, &post, &e), CR_ENUMERIC);
    line.R = (cr_cmat){ 0 };
    assert_fails_with(cx, cr_canonical_posterior(cx, flat, &line, y, &post, NULL), CR_ENUMERIC,
                      "noise R is not positive definite: its pivot at variable 0");
    assert_true(post == NULL && e == 5);
    cr_canonical_free(cx, flat);
}

TEST(affine)
{
    cr_rng       r = cr_rng_stream(23, 0);
    cr_gaussian *x = random_gaussian(cx, &r, 3, 3, 0.1), *y = NULL;
    double       A[] = { 1, 2, 0, 0, 0, 1, 1, 2, 1, 3, 0, -1 }, b[] = { 1, 0, 0, -2 }, out = 0;
    naive        n = naive_of(x), wanted = { .d = 4 };
    for (size_t i = 0; i < 4; i++) {
        wanted.m[i] = b[i];
        for (size_t k = 0; k < 3; k++) wanted.m[i] += A[i * 3 + k] * n.m[k];
        for (size_t j = 0; j < 4; j++)
            for (size_t k = 0; k < 3; k++)
                for (size_t l = 0; l < 3; l++)
                    wanted.S[i][j] += A[i * 3 + k] * n.S[k][l] * A[j * 3 + l];
    }
    assert_ok(cx, cr_gaussian_affine(cx, x, cr_cmat_of(A, 4, 3), b, &y));
    assert_moments(y, &wanted, 1e-13);
    assert_fails_with(cx, cr_gaussian_entropy(cx, y, &out), CR_ENUMERIC,
                      "singular: variable 2 is determined"); /* row 2 = row 0 + row 1 */
    cr_gaussian_free(cx, x), cr_gaussian_free(cx, y);
}
