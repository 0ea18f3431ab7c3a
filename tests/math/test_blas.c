/* test_blas.c -- the one-thread guard, and the judgement about kernels. */
#include "support.h"
#include "math/dense/blas_internal.h"

#include <cblas.h>
#include <pthread.h>
#include <stdatomic.h>

TEST(guard_nests_and_restores)
{
    openblas_set_num_threads(2);
    int before = cri_blas_threads();
    cri_blas_enter();
    assert_int_equal(cri_blas_threads(), 1);
    cri_blas_enter();
    cri_blas_leave();
    assert_int_equal(cri_blas_threads(), 1); /* the outer one still holds */
    cri_blas_leave();
    assert_int_equal(cri_blas_threads(), before);

    openblas_set_num_threads(1);
    cri_blas_enter();
    cri_blas_leave();
    assert_int_equal(cri_blas_threads(), 1);
    openblas_set_num_threads(before);
}

static atomic_int wrong;

static void *enter_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5000; i++) {
        cri_blas_enter();
        if (cri_blas_threads() != 1) atomic_fetch_add(&wrong, 1);
        cri_blas_leave();
    }
    return NULL;
}

TEST(guard_holds_among_threads)
{
    pthread_t threads[4];
    openblas_set_num_threads(2);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, enter_often, NULL), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_int_equal(cri_blas_threads(), 2);
}

TEST(better_kernels)
{
    assert_string_equal(cri_blas_better("Prescott", CRI_SIMD_AVX512, false), "SkylakeX");
    assert_string_equal(cri_blas_better("Prescott", CRI_SIMD_AVX2, false), "Haswell");
    assert_string_equal(cri_blas_better("sandybridge", CRI_SIMD_AVX2, true), "Zen");
    assert_string_equal(cri_blas_better("Nehalem", CRI_SIMD_AVX, false), "Sandybridge");
    assert_string_equal(cri_blas_better("Haswell", CRI_SIMD_AVX512, false), "SkylakeX");
    assert_string_equal(cri_blas_better("Zen", CRI_SIMD_AVX512, true), "");
    assert_string_equal(cri_blas_better("Zen", CRI_SIMD_AVX2, true), "");
    assert_string_equal(cri_blas_better("SkylakeX", CRI_SIMD_AVX512, false), "");
    assert_string_equal(cri_blas_better("Prescott", CRI_SIMD_SSE, false), "");
    assert_string_equal(cri_blas_better("Neoversen1", CRI_SIMD_SSE, false), "");
    assert_string_equal(cri_blas_better("a core of next year", CRI_SIMD_AVX512, false), "");
}

TEST(query)
{
    cr_blas_info info = cr_blas_query();
    assert_non_null(strstr(info.library, "OpenBLAS"));
    assert_string_equal(info.kernel, openblas_get_corename());
    assert_true(info.slow == (info.better[0] != '\0'));
}
