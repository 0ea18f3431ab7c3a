/* blas.c -- the number of threads inside BLAS, its buffers, and which kernels it runs. */
#include "blas_internal.h"
#include "base/context_internal.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

/* What only OpenBLAS has; NULL with another BLAS. */
void  openblas_set_num_threads(int threads) __attribute__((weak));
int   openblas_get_num_threads(void) __attribute__((weak));
char *openblas_get_config(void) __attribute__((weak));
char *openblas_get_corename(void) __attribute__((weak));
void *blas_memory_alloc(int place) __attribute__((weak));
void  blas_memory_free(void *buffer) __attribute__((weak));

/* --- one thread ------------------------------------------------------------------------------ */

static struct {
    pthread_mutex_t lock;
    size_t          inside;  /* calls between enter and leave                                     */
    int             former;  /* threads in BLAS before the first of them                          */
    atomic_size_t   buffers; /* that OpenBLAS holds, in use or not; it never gives them back      */
} guard = { PTHREAD_MUTEX_INITIALIZER, 0, 1, 0 };

int cri_blas_threads(void) { return openblas_get_num_threads ? openblas_get_num_threads() : 1; }

static void set_threads(int threads)
{
    if (openblas_set_num_threads) openblas_set_num_threads(threads);
}

void cri_blas_enter(void)
{
    pthread_mutex_lock(&guard.lock);
    if (guard.inside++ == 0) {
        guard.former = cri_blas_threads();
        if (guard.former != 1) set_threads(1);
    }
    pthread_mutex_unlock(&guard.lock);
}

void cri_blas_leave(void)
{
    pthread_mutex_lock(&guard.lock);
    if (--guard.inside == 0 && guard.former != 1) set_threads(guard.former);
    pthread_mutex_unlock(&guard.lock);
}

/* --- buffers --------------------------------------------------------------------------------- */

enum { MOST_BUFFERS = 64 }; /* OpenBLAS has room for twice as many, or more */
/* The bytes of one, as Debian builds OpenBLAS for x86-64. */
static const size_t BUFFER_SIZE = (size_t)128 << 20;

/* The system would give this many bytes now. */
static bool can_map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED && munmap(p, size) == 0;
}

/* Lets OpenBLAS take up to `wanted` buffers, as many as the system gives; how many it has then. */
static size_t take_buffers(size_t wanted)
{
    void *held[MOST_BUFFERS];
    pthread_mutex_lock(&guard.lock);
    size_t have = atomic_load(&guard.buffers);
    while (wanted > have && !can_map((wanted - have) * BUFFER_SIZE)) wanted--;
    if (wanted > have && blas_memory_alloc && blas_memory_free) {
        for (size_t i = 0; i < wanted; i++) held[i] = blas_memory_alloc(0); /* all at once */
        for (size_t i = 0; i < wanted; i++) blas_memory_free(held[i]);
    }
    if (wanted > have) atomic_store(&guard.buffers, wanted);
    have = atomic_load(&guard.buffers);
    pthread_mutex_unlock(&guard.lock);
    return have;
}

cr_status cri_blas_reserve(cr_ctx *cx)
{
    const cr_ctx *root = cri_ctx_root(cx);
    size_t        wanted = cr_ctx_threads(root);
    if (wanted > MOST_BUFFERS) wanted = MOST_BUFFERS;
    if (!openblas_get_config || atomic_load(&guard.buffers) >= wanted) return CR_OK;
    size_t have = take_buffers(wanted);
    if (have >= wanted) return CR_OK;
    if (have > 0 && root == cx) {
        cr_log(cx, CR_LOG_INFO, "%zu threads instead of %zu: there is no memory for more buffers",
               have, wanted);
        cr_ctx_set_threads(cx, have);
        return CR_OK;
    }
    cr_fail(cx, CR_ENOMEM,
            "out of memory: the linear algebra needs a buffer of %zu bytes for each thread",
            BUFFER_SIZE);
    return cr_fail_hint(cx, "it is address space, hardly used: ulimit -v unlimited");
}

/* --- which kernels --------------------------------------------------------------------------- */

/* The core types of OpenBLAS that do not use the newest instructions, with what they use. */
static const struct {
    const char *kernel;
    cri_simd    uses;
} old_kernels[] = {
    { "Generic", CRI_SIMD_SSE },      { "Katmai", CRI_SIMD_SSE },
    { "Coppermine", CRI_SIMD_SSE },   { "Northwood", CRI_SIMD_SSE },
    { "Banias", CRI_SIMD_SSE },       { "Prescott", CRI_SIMD_SSE },
    { "Atom", CRI_SIMD_SSE },         { "Core2", CRI_SIMD_SSE },
    { "Penryn", CRI_SIMD_SSE },       { "Dunnington", CRI_SIMD_SSE },
    { "Nehalem", CRI_SIMD_SSE },      { "Nano", CRI_SIMD_SSE },
    { "Athlon", CRI_SIMD_SSE },       { "Opteron", CRI_SIMD_SSE },
    { "Opteron_SSE3", CRI_SIMD_SSE }, { "Barcelona", CRI_SIMD_SSE },
    { "Bobcat", CRI_SIMD_SSE },       { "Sandybridge", CRI_SIMD_AVX },
    { "Bulldozer", CRI_SIMD_AVX },    { "Piledriver", CRI_SIMD_AVX },
    { "Steamroller", CRI_SIMD_AVX },  { "Excavator", CRI_SIMD_AVX2 },
    { "Haswell", CRI_SIMD_AVX2 },     { "Zen", CRI_SIMD_AVX2 },
};

static cri_simd kernel_uses(const char *kernel)
{
    for (size_t i = 0; i < sizeof old_kernels / sizeof *old_kernels; i++)
        if (strcasecmp(kernel, old_kernels[i].kernel) == 0) return old_kernels[i].uses;
    return CRI_SIMD_AVX512; /* newer than this list */
}

const char *cri_blas_better(const char *kernel, cri_simd cpu, bool amd)
{
    cri_simd uses = kernel_uses(kernel);
    /* AMD's cores run the AVX2 kernels at full width: there, wider ones are no reason to change. */
    if (uses >= cpu || (amd && uses >= CRI_SIMD_AVX2)) return "";
    if (cpu == CRI_SIMD_AVX512) return "SkylakeX";
    if (cpu == CRI_SIMD_AVX2) return amd ? "Zen" : "Haswell";
    return "Sandybridge";
}

#if defined(__x86_64__) || defined(__i386__)
static cri_simd cpu_has(bool *out_amd)
{
    __builtin_cpu_init();
    *out_amd = __builtin_cpu_is("amd");
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        return CRI_SIMD_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return CRI_SIMD_AVX2;
    if (__builtin_cpu_supports("avx")) return CRI_SIMD_AVX;
    return CRI_SIMD_SSE;
}
#else
static cri_simd cpu_has(bool *out_amd)
{
    *out_amd = false;
    return CRI_SIMD_SSE; /* nothing is older than that, so nothing is called slow */
}
#endif

cr_blas_info cr_blas_query(void)
{
    cr_blas_info info = { "unknown BLAS", "unknown", false, "" };
    bool         amd = false;
    cri_simd     cpu = cpu_has(&amd);

    pthread_mutex_lock(&guard.lock); /* OpenBLAS writes its answer into a buffer of its own */
    if (openblas_get_config) info.library = openblas_get_config();
    if (openblas_get_corename) info.kernel = openblas_get_corename();
    pthread_mutex_unlock(&guard.lock);

    info.better = cri_blas_better(info.kernel, cpu, amd);
    info.slow = info.better[0] != '\0';
    return info;
}

/* --- sizes ----------------------------------------------------------------------------------- */

cr_status cri_blas_check(cr_ctx *cx, const char *who, cr_cmat A)
{
    if (A.rows > INT_MAX || A.cols > INT_MAX || A.stride > INT_MAX)
        return cr_fail(cx, CR_EUNSUPPORTED, "%s: a matrix of %zu x %zu (stride %zu) is too large",
                       who, A.rows, A.cols, A.stride);
    if (A.stride < A.cols)
        return cr_fail(cx, CR_EARG, "%s: a matrix has %zu columns but a stride of %zu", who, A.cols,
                       A.stride);
    return cri_blas_reserve(cx);
}
