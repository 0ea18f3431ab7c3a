/* chain_paths.c -- see chain_paths.h. */
#include "chain_paths.h"
#include "base/context_internal.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A sequence is one block where all its ways take no more than 16 MiB; what a search may work in. */
static const size_t MOST_IN_ONE = (size_t)1 << 22, MOST_NUMBERS = (size_t)1 << 26;
enum { LEAST_BLOCK = 64 };

/* --- memory ---------------------------------------------------------------------------------- */

static size_t block_of(const cri_path_search *s)
{
    size_t T = s->longest, root = (size_t)ceil(sqrt((double)T));
    if (T <= LEAST_BLOCK || T * s->k * s->count <= MOST_IN_ONE) return T > 0 ? T : 1;
    return root > LEAST_BLOCK ? root : LEAST_BLOCK;
}

static size_t blocks_of(size_t T, size_t block) { return (T + block - 1) / block; }

/* A way to a state that is a candidate: by state `state` before, whose list it is number `rank` of. */
typedef struct candidate {
    double   value;
    uint32_t state, rank;
} candidate;

/* The lists of a step are value [k x count], falling, -infinity behind their ends. */
typedef struct memory {
    size_t     block;
    double    *now, *next; /* [k x count] lists of a step and of the one behind it        */
    double    *kept;       /* [blocks x k x count] the lists before each block but the first */
    double    *scores;     /* [block x stride]                                            */
    uint32_t  *from;       /* [block x k x count] a way before, by its number in its step's lists */
    candidate *heap;       /* [k]                                                         */
    uint32_t  *at;         /* [count] where the paths are on the way back                 */
} memory;

cr_status cri_path_search_work(cr_ctx *cx, const cri_path_search *s, size_t *out_numbers)
{
    double lists = (double)s->k * (double)s->count;
    if (lists < (double)MOST_NUMBERS && s->longest < SIZE_MAX >> 32) {
        size_t block = block_of(s);
        double numbers = (double)(blocks_of(s->longest, block) + 2) * lists +
                         (double)block * (double)s->stride + (double)block * lists / 2 + 1 +
                         2 * (double)s->k + (double)s->count / 2 + 1;
        if (numbers <= (double)MOST_NUMBERS) {
            *out_numbers = (size_t)numbers + 4;
            return CR_OK;
        }
    }
    cr_fail(cx, CR_EDATA,
            "the %zu best paths of %zu states through a sequence of %zu rows would need more than "
            "%zu MiB to work in",
            s->count, s->k, s->longest, MOST_NUMBERS * sizeof(double) >> 20);
    return cr_fail_hint(cx, "ask for fewer paths");
}

static memory cut(const cri_path_search *s, double *work)
{
    size_t lists = s->k * s->count, n = block_of(s);
    memory m = { .block = n, .now = work };
    m.next = m.now + lists;
    m.kept = m.next + lists;
    m.scores = m.kept + blocks_of(s->longest, n) * lists;
    m.heap = (candidate *)(void *)(m.scores + n * s->stride);
    m.from = (uint32_t *)(void *)(m.heap + s->k);
    m.at = m.from + n * lists;
    return m;
}

/* --- merging --------------------------------------------------------------------------------- */

/* Each state has at most one candidate in the heap, so that no two are equal. */
static inline bool is_before(const candidate *a, const candidate *b)
{
    return a->value > b->value || (a->value == b->value && a->state < b->state);
}

static void sift_down(candidate *heap, size_t n, size_t i)
{
    candidate moved = heap[i];
    for (size_t child = 2 * i + 1; child < n; i = child, child = 2 * i + 1) {
        if (child + 1 < n && is_before(&heap[child + 1], &heap[child])) child++;
        if (!is_before(&heap[child], &moved)) break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

/* The best of all ways: list i moved by weight[i * apart], or not where there is none.  Values and numbers of the ways go
 * to out [count] and from [count], falling.  Returns how many there are. */
static size_t merge(const cri_path_search *s, const double *lists, const double *opt_weight,
                    candidate *heap, double *out, uint32_t *from)
{
    size_t n = 0, found = 0, count = s->count;
    for (size_t i = 0; i < s->k; i++) {
        double value = lists[i * count] + (opt_weight ? opt_weight[i * s->stride] : 0);
        if (value > -INFINITY) heap[n++] = (candidate){ value, (uint32_t)i, 0 };
    }
    for (size_t i = n / 2; i-- > 0;) sift_down(heap, n, i);
    for (; found < count && n > 0; found++) {
        size_t i = heap[0].state, r = heap[0].rank;
        out[found] = heap[0].value;
        from[found] = (uint32_t)(i * count + r);
        double next = r + 1 < count ? lists[i * count + r + 1] : -INFINITY;
        if (next > -INFINITY) {
            heap[0].value = next + (opt_weight ? opt_weight[i * s->stride] : 0);
            heap[0].rank++;
        } else {
            heap[0] = heap[--n];
        }
        if (n > 0) sift_down(heap, n, 0);
    }
    for (size_t r = found; r < count; r++) out[r] = -INFINITY, from[r] = 0;
    return found;
}

/* --- forwards -------------------------------------------------------------------------------- */

/* The lists of the first step: of each state one way. */
static void begin_lists(const cri_path_search *s, double *lists)
{
    for (size_t i = 0; i < s->k * s->count; i++) lists[i] = -INFINITY;
    for (size_t j = 0; j < s->k; j++) lists[j * s->count] = s->first ? s->first[j] : 0;
}

/* Takes the lists m->now over the steps of a block, from the ways kept; false where it was told to stop. */
static bool run_block(const cri_path_search *s, size_t begin, size_t end, bool first, memory *m)
{
    size_t k = s->k, count = s->count, lists = k * count;
    size_t often = 1 + 4000000 / (k * (k + count)); /* steps between two questions */
    s->score(s->of, begin, end, m->scores);
    for (size_t t = 0; t < end - begin; t++) {
        const double *score = m->scores + t * s->stride;
        if (t % often == often - 1 && cri_should_stop(s->cx)) return false;
        if (first && t == 0) {
            begin_lists(s, m->next);
        } else {
            for (size_t j = 0; j < k; j++)
                merge(s, m->now, s->T + j, m->heap, m->next + j * count,
                      m->from + t * lists + j * count);
        }
        for (size_t j = 0; j < k; j++)
            for (size_t r = 0; r < count; r++) m->next[j * count + r] += score[j];
        double *swap = m->now;
        m->now = m->next, m->next = swap;
    }
    return true;
}

/* --- backwards ------------------------------------------------------------------------------- */

size_t cri_path_search_run(const cri_path_search *s, size_t begin, size_t end, double *path,
                           size_t apart, double *log_weight, size_t weight_apart, double *work)
{
    size_t T = end - begin, lists = s->k * s->count, found;
    memory m = cut(s, work);
    size_t blocks = blocks_of(T, m.block);
    if (T == 0) return 0;
    for (size_t b = 0; b < blocks; b++) {
        size_t from = b * m.block, to = from + m.block < T ? from + m.block : T;
        if (b > 0) memcpy(m.kept + b * lists, m.now, lists * sizeof *m.now);
        if (!run_block(s, begin + from, begin + to, b == 0, &m)) return 0;
    }
    found = merge(s, m.now, NULL, m.heap, m.next, m.at);
    for (size_t r = 0; r < found; r++) log_weight[r * weight_apart] = m.next[r];
    for (size_t b = blocks; b-- > 0;) {
        size_t from = b * m.block, to = from + m.block < T ? from + m.block : T;
        if (b + 1 < blocks) { /* of the last one the ways are still there */
            if (b > 0) memcpy(m.now, m.kept + b * lists, lists * sizeof *m.now);
            if (!run_block(s, begin + from, begin + to, b == 0, &m)) return 0;
        }
        for (size_t t = to - from; t-- > 0;)
            for (size_t r = 0; r < found; r++) {
                size_t state = m.at[r] / s->count;
                path[r * apart + from + t] = (double)state;
                if (from + t > 0) m.at[r] = m.from[t * lists + m.at[r]];
            }
    }
    return found;
}
