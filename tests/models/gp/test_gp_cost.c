/* test_gp_cost.c -- what is chosen and what is refused, by the number of rows. */
#include "../fixture.h"

#include "models/gp/methods/gp_cost.h"

/* Exact, then vfe, then svgp; the two others are told with a figure. */
TEST(choice)
{
    warnings w = { 0 };
    cr_ctx_set_log(cx, keep_warning, &w);
    assert_int_equal(cri_gp_choose(cx, 4000, 500), CRI_GP_EXACT);
    assert_int_equal(w.n, 0);
    assert_int_equal(cri_gp_choose(cx, 4001, 500), CRI_GP_VFE);
    assert_non_null(strstr(w.text, "vfe with 500"));
    assert_non_null(strstr(w.text, "0.256 GB")); /* 16 n^2 bytes */
    assert_int_equal(cri_gp_choose(cx, 100000, 500), CRI_GP_VFE);
    assert_int_equal(cri_gp_choose(cx, 100001, 500), CRI_GP_SVGP);
    assert_non_null(strstr(w.text, "svgp with 500"));
}

/* With 1 GB: each says what it needs. */
TEST(refusals)
{
    cr_ctx_set_memory_limit(cx, 1000000000);
    assert_ok(cx, cri_gp_cost_exact(cx, 7000)); /* 2.2 x 0.392 GB */
    assert_fails_with(cx, cri_gp_cost_exact(cx, 8000), CR_ENOMEM, "1.13 GB");
    assert_ok(cx, cri_gp_cost_cg(cx, 20000, 450, 32, true));
    assert_fails_with(cx, cri_gp_cost_cg(cx, 200000, 500, 32, false), CR_ENOMEM, "10.4 GB");
    assert_ok(cx, cri_gp_cost_sparse(cx, CRI_GP_VFE, 1000000, 500));
    assert_fails_with(cx, cri_gp_cost_sparse(cx, CRI_GP_VFE, 1000000, 20000), CR_ENOMEM, "19.9 GB");
    assert_ok(cx, cri_gp_cost_sparse(cx, CRI_GP_VFE, 100, 20000)); /* no more than there are rows */
    assert_fails(cx, cri_gp_cost_sparse(cx, CRI_GP_RFF, 100, 20000), CR_ENOMEM);
    assert_ok(cx, cri_gp_cost_mcmc(cx, 2000, 5, 100));
}

/* The number that the hint names after this word; 0 for none. */
static size_t hinted(const cr_ctx *cx, const char *after)
{
    const char *at = strstr(cr_error_hint(cx), after);
    return at ? strtoul(at + strlen(after), NULL, 10) : 0;
}

/* What a hint names is not refused in its turn; what would not do is not named. */
TEST(hints_work)
{
    for (size_t megabytes = 20; megabytes < 3000; megabytes *= 2)
        for (size_t n = 6000; n < 100000; n *= 3) {
            cr_ctx *own = test_context();
            cr_ctx_set_memory_limit(own, megabytes * 1000000);
            if (cri_gp_cost_exact(own, n) != CR_OK) {
                size_t m = hinted(own, "--approx vfe --inducing "),
                       rank = hinted(own, "--solver cg --inducing ");
                bool cg = strstr(cr_error_hint(own), "--solver cg") != NULL;
                assert_in_range(m, 20, 500);
                assert_ok(own, cri_gp_cost_sparse(own, CRI_GP_VFE, n, m));
                cr_status st = cri_gp_cost_cg(own, n, rank ? rank : cg ? 500 : 20, 32, true);
                if (cg) assert_ok(own, st);
            }
            if (cri_gp_cost_sparse(own, CRI_GP_VFE, n, n) != CR_OK)
                assert_ok(own, cri_gp_cost_sparse(own, CRI_GP_VFE, n, hinted(own, "--inducing ")));
            test_context_free(own);
        }
}

/* The exact path takes at most 2.2 n^2 doubles, and some MB that do not grow with n^2. */
TEST(memory)
{
    enum { N = 700 };
    static double X[N], y[N];
    for (size_t i = 0; i < N; i++) X[i] = 0.01 * (double)i, y[i] = sin(X[i]) + 0.1 * cos(41 * X[i]);
    cr_ctx_set_threads(cx, 1);
    cr_table *t = make_table(cx, X, N, 1, y, NULL);
    fit(cx, "gp", t, "target=y max_iter=1 kernel=rbf noise=0.01");
    assert_true((double)cr_ctx_peak_memory(cx) < 8 * 2.2 * N * N + 2e6);
}
