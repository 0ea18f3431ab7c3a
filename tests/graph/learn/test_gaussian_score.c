/* test_gaussian_score.c -- scores of linear-Gaussian networks: least squares by elimination, the evidence of a
 * multivariate normal distribution, one score for a class, corners. */
#include "learning.h"

#include "graph/learn/gaussian_score.h"
#include "models/core/model.h"

enum { N = 60, P = 5 };

typedef struct drawn {
    double             x[N * P], mean[P], scale[P], S[P * P]; /* S of the scaled columns */
    cri_gaussian_cases cases;
} drawn;

static drawn *draw(cr_scratch *s, uint64_t seed)
{
    drawn *d = cr_scratch_bytes(s, 1, sizeof *d);
    cr_rng r = cr_rng_stream(seed, 1);
    assert_non_null(d);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < P; j++)
            d->x[i * P + j] = (double)(j + 1) * cr_rng_normal(&r) +
                              (j > 0 ? d->x[i * P + j - 1] : 7) - (j > 2 ? 0.5 * d->x[i * P] : 0);
    for (size_t j = 0; j < P; j++) {
        for (size_t i = 0; i < N; i++) d->mean[j] += d->x[i * P + j] / N;
        for (size_t i = 0; i < N; i++) d->scale[j] += pow(d->x[i * P + j] - d->mean[j], 2) / N;
        d->scale[j] = sqrt(d->scale[j]);
    }
    for (size_t j = 0; j < P; j++)
        for (size_t k = 0; k < P; k++)
            for (size_t i = 0; i < N; i++)
                d->S[j * P + k] += (d->x[i * P + j] - d->mean[j]) / d->scale[j] *
                                   (d->x[i * P + k] - d->mean[k]) / d->scale[k] / N;
    d->cases = (cri_gaussian_cases){ P, N, d->S, d->scale };
    return d;
}

/* The mean square that an intercept and the parents leave of the child, by elimination of the normal equations. */
static double mean_square(const drawn *d, size_t child, const uint32_t *parents, size_t n)
{
    long double A[(P + 1) * (P + 2)] = { 0 }, w[P + 1] = { 0 }, sum = 0;
    size_t      m = n + 1;
    for (size_t i = 0; i < N; i++) {
        double z[P + 1] = { 1 };
        for (size_t k = 0; k < n; k++) z[k + 1] = d->x[i * P + parents[k]];
        for (size_t a = 0; a < m; a++) {
            for (size_t b = 0; b < m; b++) A[a * (m + 1) + b] += z[a] * z[b];
            A[a * (m + 1) + m] += z[a] * d->x[i * P + child];
        }
    }
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < m; i++) {
            long double f = A[i * (m + 1) + k] / A[k * (m + 1) + k];
            for (size_t b = k; i != k && b <= m; b++) A[i * (m + 1) + b] -= f * A[k * (m + 1) + b];
        }
    for (size_t k = 0; k < m; k++) w[k] = A[k * (m + 1) + m] / A[k * (m + 1) + k];
    for (size_t i = 0; i < N; i++) {
        long double e = d->x[i * P + child] - w[0];
        for (size_t k = 0; k < n; k++) e -= w[k + 1] * d->x[i * P + parents[k]];
        sum += e * e / N;
    }
    return (double)sum;
}

static double score_of(cr_scratch *s, const drawn *d, cri_gaussian_score_kind kind, double rows,
                       size_t child, const uint32_t *parents, size_t n)
{
    cri_score_source source;
    void            *work;
    assert_ok(s->cx, cri_gaussian_score(s, &d->cases, kind, rows, &source));
    assert_ok(s->cx, source.open_work(s, source.own, &work));
    return source.score(source.own, child, parents, n, work);
}

TEST(likelihoods)
{
    const struct {
        size_t   child, n;
        uint32_t parents[P];
    } families[] = {
        { 0, 0, { 0 } }, { 3, 1, { 2 } }, { 4, 3, { 0, 1, 3 } }, { 1, 4, { 0, 2, 3, 4 } }
    };
    cr_scratch s = cr_scratch_begin(cx);
    drawn     *d = draw(&s, 1);
    for (size_t f = 0; f < 4; f++) {
        size_t          n = families[f].n, child = families[f].child;
        const uint32_t *parents = families[f].parents;
        double          left = mean_square(d, child, parents, n), k = (double)n + 2;
        double          l = -0.5 * N * (1 + log(2 * M_PI * left));
        assert_close(score_of(&s, d, CRI_GAUSSIAN_LOGLIK, 1, child, parents, n), l, 1e-11);
        assert_close(score_of(&s, d, CRI_GAUSSIAN_AIC, 1, child, parents, n), l - k, 1e-11);
        assert_close(score_of(&s, d, CRI_GAUSSIAN_BIC, 1, child, parents, n), l - k * log(N) / 2,
                     1e-11);
    }
    cr_scratch_end(&s);
}

/* All arcs say as much as a normal distribution without any structure: bge is its evidence. */
TEST(evidence_of_all_arcs)
{
    cr_scratch s = cr_scratch_begin(cx);
    drawn     *d = draw(&s, 2);
    for (double rows = 0.5; rows < 5; rows *= 3) {
        double    sum = 0, wishart = P + rows + 1, z[N * P];
        uint32_t  parents[P];
        char      prior[128];
        cr_table *t = NULL;
        cr_model *m = NULL;
        for (size_t v = 0; v < P; v++) {
            sum += score_of(&s, d, CRI_GAUSSIAN_BGE, rows, v, parents, v);
            parents[v] = (uint32_t)v;
        }
        for (size_t i = 0; i < N * P; i++) z[i] = (d->x[i] - d->mean[i % P]) / d->scale[i % P];
        assert_ok(cx, cr_table_new(cx, "z.csv", N, &t));
        for (size_t j = 0; j < P; j++) {
            char name[2] = { (char)('a' + j), '\0' };
            assert_ok(cx, cr_table_add_numbers(cx, t, name, CR_REAL, z + j, P));
        }
        snprintf(prior, sizeof prior, "mean0=0,kappa0=%.17g,nu0=%.17g,scale0=%.17g", rows, wishart,
                 rows * (wishart - P - 1) / (rows + 1));
        cr_setting setting = { "prior", prior };
        assert_ok(cx, cr_fit(cx, "mvn", t, &setting, 1, &m));
        assert_close(sum, cr_model_get_report(m)->log_evidence, 1e-11);
        cr_model_free(cx, m);
        cr_table_free(cx, t);
    }
    cr_scratch_end(&s);
}

/* a -> b and b -> a, with common parents, have one score. */
TEST(one_score_for_a_class)
{
    cr_scratch     s = cr_scratch_begin(cx);
    drawn         *d = draw(&s, 3);
    const uint32_t both[3] = { 0, 2, 4 }, a[3] = { 0, 2, 3 }, rest[2] = { 0, 2 };
    for (int kind = CRI_GAUSSIAN_BIC; kind <= CRI_GAUSSIAN_LOGLIK; kind++) {
        cri_gaussian_score_kind k = (cri_gaussian_score_kind)kind;
        assert_close(score_of(&s, d, k, 2, 3, both, 3) + score_of(&s, d, k, 2, 4, rest, 2),
                     score_of(&s, d, k, 2, 4, a, 3) + score_of(&s, d, k, 2, 3, rest, 2), 1e-11);
    }
    cr_scratch_end(&s);
}

/* Weights of least squares leave what they should, and the inverse is that of the parents. */
TEST(regressions)
{
    cr_scratch     s = cr_scratch_begin(cx);
    drawn         *d = draw(&s, 4);
    const uint32_t parents[3] = { 0, 2, 3 };
    double         w[3], inverse[9], work[16 + 3], share, left = 1;
    share = cri_gaussian_regress(&d->cases, 4, parents, 3, w, inverse, work);
    assert_close(share * d->scale[4] * d->scale[4], mean_square(d, 4, parents, 3), 1e-11);
    for (size_t i = 0; i < 3; i++) {
        double slope = d->S[4 * P + parents[i]];
        for (size_t j = 0; j < 3; j++) {
            double one = 0;
            slope -= d->S[parents[i] * P + parents[j]] * w[j];
            for (size_t k = 0; k < 3; k++)
                one += d->S[parents[i] * P + parents[k]] * inverse[k * 3 + j];
            assert_close(one, i == j, 1e-11);
        }
        assert_close(slope, 0, 1e-12);
        left -= w[i] * d->S[4 * P + parents[i]];
    }
    assert_close(left, share, 1e-12);
    cr_scratch_end(&s);
}

/* Parents that determine each other, or more parameters than rows: no likelihood; bge has one. */
TEST(nothing_left)
{
    cr_scratch     s = cr_scratch_begin(cx);
    drawn         *d = draw(&s, 5);
    const uint32_t parents[3] = { 0, 1, 2 };
    for (size_t j = 0; j < P; j++) d->S[2 * P + j] = d->S[j * P + 2] = d->S[P + j];
    d->S[2 * P + 2] = d->S[2 * P + 1] = d->S[P + 2] = d->S[P + 1];
    assert_true(score_of(&s, d, CRI_GAUSSIAN_BIC, 1, 3, parents, 3) == -INFINITY);
    assert_true(isfinite(score_of(&s, d, CRI_GAUSSIAN_BGE, 1, 3, parents, 3)));
    assert_true(
        isfinite(score_of(&s, d, CRI_GAUSSIAN_BIC, 1, 2, parents, 2))); /* a copy of its parent */
    d->cases.n = 4;
    assert_true(score_of(&s, d, CRI_GAUSSIAN_BIC, 1, 4, parents, 2) == -INFINITY);
    cr_scratch_end(&s);
}
