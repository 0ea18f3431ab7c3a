/* test_kernel_strings.c -- kernels of texts against their definitions, by enumeration, and against
 * reference values. */
#include "rows.h"

#include "math/kernel/kernel_internal.h"

#include <ctype.h>
#include <jansson.h>

/* All texts of k letters over "abc", in turn. */
static bool next_text(char *u, size_t k)
{
    for (size_t i = 0; i < k; i++) {
        if (u[i] < 'c') return u[i]++, true;
        u[i] = 'a';
    }
    return false;
}

/* The number of pieces of s that differ from u in at most m places. */
static double near_pieces(const char *s, const char *u, size_t k, size_t m)
{
    double n = 0;
    for (size_t i = 0; i + k <= strlen(s); i++) {
        size_t h = 0;
        for (size_t c = 0; c < k; c++) h += s[i + c] != u[c];
        n += h <= m;
    }
    return n;
}

static double enumerate_mismatch(const char *s, const char *t, size_t k, size_t m)
{
    char   u[8];
    double sum = 0;
    memset(u, 'a', k);
    do sum += near_pieces(s, u, k, m) * near_pieces(t, u, k, m);
    while (next_text(u, k));
    return sum;
}

/* sum over the places of u in s of lambda^span: begins after `from`; `first` is where it began. */
static double weigh(const char *s, const char *u, size_t k, size_t from, size_t first, size_t done,
                    double lambda)
{
    double sum = 0;
    if (done == k) return pow(lambda, (double)(from - first));
    for (size_t i = from; i < strlen(s); i++)
        if (s[i] == u[done]) sum += weigh(s, u, k, i + 1, done ? first : i, done + 1, lambda);
    return sum;
}

static double enumerate_subsequence(const char *s, const char *t, size_t k, double lambda)
{
    char   u[8];
    double sum = 0;
    memset(u, 'a', k);
    do sum += weigh(s, u, k, 0, 0, 0, lambda) * weigh(t, u, k, 0, 0, 0, lambda);
    while (next_text(u, k));
    return sum;
}

enum { TEXTS = 24 };

static void letters_only(rows *r, dice *d)
{
    make_rows(r, d, TEXTS, 0, 1);
    for (size_t i = 0; i < TEXTS; i++)
        for (char *c = r->text[i]; *c; c++)
            if (*c == ' ') *c = 'a';
    strcpy(r->text[0], ""), strcpy(r->text[1], "a"), strcpy(r->text[2], "aaaaaaa");
}

static void gram_of(cr_ctx *cx, const char *text, const cr_kernel_input *in, double *K)
{
    cr_kernel *k = parse(cx, text);
    assert_ok(cx, cr_kernel_gram(cx, k, in, CR_FILL_BOTH, cr_mat_of(K, in->rows, in->rows)));
    cr_kernel_free(cx, k);
}

TEST(enumeration)
{
    static rows   r;
    static double S[TEXTS * TEXTS], M[TEXTS * TEXTS], G[TEXTS * TEXTS], H[TEXTS * TEXTS];
    dice          d = { 21 };
    letters_only(&r, &d);
    for (size_t k = 1; k <= 4; k++) {
        char text[100];
        snprintf(text, sizeof text, "spectrum(k=%zu)", k), gram_of(cx, text, &r.in, S);
        snprintf(text, sizeof text, "mismatch(k=%zu, m=%zu, alphabet=3)", k, k / 2),
            gram_of(cx, text, &r.in, M);
        snprintf(text, sizeof text, "subsequence(k=%zu, lambda=0.7)", k),
            gram_of(cx, text, &r.in, G);
        snprintf(text, sizeof text, "subsequence(t1; k=%zu, lambda=0.7, normalise=1)", k),
            gram_of(cx, text, &r.in, H);
        for (size_t i = 0; i < TEXTS; i++)
            for (size_t j = 0; j < TEXTS; j++) {
                size_t      at = i * TEXTS + j;
                const char *s = r.text[i], *t = r.text[j];
                assert_true(S[at] == enumerate_mismatch(s, t, k, 0));
                assert_true(M[at] == enumerate_mismatch(s, t, k, k / 2));
                double xy = enumerate_subsequence(s, t, k, 0.7), xx = G[i * TEXTS + i],
                       yy = G[j * TEXTS + j];
                assert_close(G[at], xy, 1e-13);
                assert_close(H[at], xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0, 1e-13);
            }
    }
}

/* The weighted degree by its definition: all places, all lengths, byte by byte. */
static double enumerate_degree(const char *s, const char *t, size_t k)
{
    double sum = 0;
    for (size_t d = 1; d <= k; d++)
        for (size_t i = 0; i + d <= strlen(s) && i + d <= strlen(t); i++) {
            bool same = true;
            for (size_t c = 0; c < d; c++) same &= s[i + c] == t[i + c];
            if (same) sum += 2 * (double)(k - d + 1) / (double)(k * (k + 1));
        }
    return sum;
}

TEST(weighted_degree)
{
    static rows   r;
    static double D[TEXTS * TEXTS], N[TEXTS * TEXTS];
    dice          d = { 22 };
    letters_only(&r, &d);
    strcpy(r.text[3], "aaaaaab"), strcpy(r.text[4], "baaaaaa");
    for (size_t k = 1; k <= 8; k++) {
        char   text[100];
        size_t shared = 0;
        snprintf(text, sizeof text, "weighted_degree(k=%zu)", k), gram_of(cx, text, &r.in, D);
        snprintf(text, sizeof text, "wd(t1; k=%zu, normalise=1)", k), gram_of(cx, text, &r.in, N);
        for (size_t i = 0; i < TEXTS; i++)
            for (size_t j = 0; j < TEXTS; j++) {
                double xy = enumerate_degree(r.text[i], r.text[j], k), xx = D[i * TEXTS + i],
                       yy = D[j * TEXTS + j];
                assert_close(D[i * TEXTS + j], xy, 1e-14);
                assert_close(N[i * TEXTS + j], xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0, 1e-14);
                shared += xy > 0 && i != j;
            }
        assert_true(shared > 100);
    }
}

TEST(sets)
{
    const char         *texts[] = { "a b c", "c,a ;a|a", "", "bb\tb", NULL };
    cr_kernel_input     in = { .rows = 5, .texts = texts, .text_columns = 1 };
    double              K[25], J[25];
    static const double both[4][4] = {
        { 3, 2, 0, 1 }, { 2, 2, 0, 0 }, { 0, 0, 0, 0 }, { 1, 0, 0, 2 }
    };
    static const double size[] = { 3, 2, 0, 2 };
    gram_of(cx, "set", &in, K);
    gram_of(cx, "jaccard(t1)", &in, J);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            double either = size[i] + size[j] - both[i][j];
            assert_true(K[i * 5 + j] == exp2(both[i][j]));
            assert_close(J[i * 5 + j], either > 0 ? both[i][j] / either : 1, 1e-15);
        }
    assert_true(J[24] == 1 && J[14] == 1 && J[4] == 0); /* a text that is missing is an empty one */
}

/* --- texts by their codes -------------------------------------------------------------------- */

enum { KNOWN = 7, ALL = 9, CODED = 70, OTHERS = 20 };

static const char *const dictionary[ALL] = { "",     "a", "abcab", "b a c", "ccccbcab",
                                             "aabb", "b", "cab",   "abab a" };

/* The column 1 of two; those of the kernel end at KNOWN, those of some rows go further. */
static const char *known_text(const void *user, size_t column, uint32_t code)
{
    const size_t *count = user;
    return column == 1 && code < *count ? dictionary[code] : NULL;
}

static const char *const coded[] = { "spectrum(c2; k=2)",
                                     "spectrum(c2; k=1, normalise=1)",
                                     "mismatch(c2; k=2, m=1, alphabet=3)",
                                     "mismatch(c2; k=3, m=1, alphabet=4, normalise=1)",
                                     "subsequence(c2; k=2, lambda=0.7)",
                                     "subsequence(c2; k=3, lambda=0.4, normalise=1)",
                                     "weighted_degree(c2; k=3)",
                                     "weighted_degree(c2; k=2, normalise=1)",
                                     "set(c2)",
                                     "jaccard(c2)" };

static ptrdiff_t find_code(const void *user, const char *name, cr_kernel_column *out)
{
    (void)user;
    *out = (cr_kernel_column){ .kind = CR_KERNEL_CATEGORY, .named = true };
    return strcmp(name, "c2") == 0 ? 1 : -1;
}

/* One value, from texts given as such. */
static double direct(cr_ctx *cx, const char *text, const char *x, const char *y)
{
    char        plain[100];
    const char *both[] = { x, y };
    double      out;
    snprintf(plain, sizeof plain, "%s", text);
    memcpy(strstr(plain, "c2"), "t1", 2);
    cr_kernel      *k = parse(cx, plain);
    cr_kernel_input a = { .rows = 1, .texts = both, .text_columns = 1 };
    cr_kernel_input b = { .rows = 1, .texts = both + 1, .text_columns = 1 };
    assert_ok(cx, cr_kernel_cross(cx, k, &a, &b, cr_mat_of(&out, 1, 1)));
    cr_kernel_free(cx, k);
    return out;
}

static void check_codes(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *a,
                        const cr_kernel_input *b, double (*wanted)[ALL])
{
    static double K[CODED * CODED], own[CODED];
    assert_ok(cx, b ? cr_kernel_cross(cx, k, a, b, cr_mat_of(K, a->rows, b->rows))
                    : cr_kernel_gram(cx, k, a, CR_FILL_BOTH, cr_mat_of(K, a->rows, a->rows)));
    assert_ok(cx, cr_kernel_diagonal(cx, k, a, true, own));
    for (size_t i = 0; i < a->rows; i++) {
        assert_close(own[i], wanted[a->codes[2 * i + 1]][a->codes[2 * i + 1]], 1e-15);
        for (size_t j = 0; j < (b ? b->rows : a->rows); j++)
            assert_true(K[i * (b ? b->rows : a->rows) + j] ==
                        wanted[a->codes[2 * i + 1]][(b ? b : a)->codes[2 * j + 1]]);
    }
}

/* Rows that repeat texts, rows with texts that the kernel does not know, and tables: all the same
 * bits. */
TEST(codes)
{
    static uint32_t   codes[2 * CODED], others[2 * OTHERS];
    static double     wanted[ALL][ALL];
    const size_t      few = KNOWN, all = ALL;
    cr_kernel_columns columns = { .find = find_code };
    cr_kernel_input   a = { .rows = CODED, .codes = codes, .categories = 2 };
    cr_kernel_input   b = {
          .rows = OTHERS, .codes = others, .categories = 2, .names = { known_text, &all }
    };
    for (size_t i = 0; i < CODED; i++) codes[2 * i + 1] = (uint32_t)(i * i % KNOWN);
    for (size_t i = 0; i < OTHERS; i++) others[2 * i + 1] = (uint32_t)(i % ALL);
    for (size_t t = 0; t < sizeof coded / sizeof *coded; t++) {
        cr_kernel *k = NULL, *copy = NULL;
        for (size_t i = 0; i < ALL; i++)
            for (size_t j = 0; j < ALL; j++)
                wanted[i][j] = direct(cx, coded[t], dictionary[i], dictionary[j]);
        assert_ok(cx, cr_kernel_parse(cx, coded[t], &columns, NULL, 0, &k));
        cr_kernel_set_names(k, (cr_kernel_names){ known_text, &few });
        check_codes(cx, k, &a, NULL, wanted);
        check_codes(cx, k, &a, &b, wanted);
        check_codes(cx, k, &b, &a, wanted);
        assert_ok(cx, cri_kernel_tabulate(cx, k, 0, KNOWN));
        assert_ok(cx, cr_kernel_copy(cx, k, &copy));
        check_codes(cx, copy, &a, NULL, wanted);
        check_codes(cx, copy, &a, &b, wanted);
        cr_kernel_free(cx, copy);
        b.rows = KNOWN;
        check_codes(cx, k, &a, &b, wanted);
        b.rows = OTHERS, b.names = (cr_kernel_names){ NULL, NULL };
        assert_fails_with(cx, cr_kernel_check(cx, k, &b), CR_EDATA, "which has no text");
        b.names = (cr_kernel_names){ known_text, &all };
        cr_kernel_free(cx, k);
    }
}

typedef struct tried {
    const char            *text;
    const cr_kernel_input *in;
} tried;

static cr_status whole_life(cr_ctx *cx, void *arg)
{
    cr_status         st = CR_OK;
    const tried      *t = arg;
    cr_kernel_columns columns = { .find = find_code };
    cr_kernel        *k = NULL;
    const size_t      few = KNOWN;
    double            K[100], g[4];
    CR_TRY(cr_kernel_parse(cx, t->text, &columns, NULL, 0, &k));
    cr_kernel_set_names(k, (cr_kernel_names){ known_text, &few });
    CR_TRY(cr_kernel_gram(cx, k, t->in, CR_FILL_BOTH, cr_mat_of(K, 10, 10)));
    CR_TRY(cr_kernel_gram_gradient(cx, k, t->in, cr_cmat_of(K, 10, 10), g));
    CR_TRY(cri_kernel_tabulate(cx, k, 0, KNOWN));
    CR_TRY(cr_kernel_diagonal(cx, k, t->in, true, K));
done:
    cr_kernel_free(cx, k);
    return st;
}

TEST(allocations)
{
    static uint32_t codes[20];
    cr_kernel_input in = { .rows = 10, .codes = codes, .categories = 2 };
    for (size_t repeats = 0; repeats < 2; repeats++) { /* with a table of pairs, and without */
        for (size_t i = 0; i < 10; i++) codes[2 * i + 1] = (uint32_t)(i % (repeats ? 3 : KNOWN));
        for (size_t t = 0; t < sizeof coded / sizeof *coded; t++)
            test_every_allocation_fails(whole_life, &(tried){ coded[t], &in });
    }
}

/* --- reference values ------------------------------------------------------------------------ */

/* The case with this id in the file of reference answers; a new reference, or NULL. */
static json_t *reference_case(const char *id)
{
    const char *path = test_data("tabular/reference.json");
    json_t     *root = path ? json_load_file(path, 0, NULL) : NULL, *found = NULL, *one;
    size_t      i;
    json_array_foreach(json_object_get(root, "cases"), i, one)
    {
        const char *name = json_string_value(json_object_get(one, "id"));
        if (name && strcmp(name, id) == 0) found = json_incref(one);
    }
    json_decref(root);
    return found;
}

static void compare(cr_ctx *cx, const char *text, const cr_kernel_input *in, json_t *one,
                    const char *name)
{
    double  K[400];
    json_t *matrix = json_object_get(json_object_get(one, "matrices"), name);
    assert_int_equal(json_array_size(matrix), in->rows);
    gram_of(cx, text, in, K);
    for (size_t i = 0; i < in->rows; i++)
        for (size_t j = 0; j < in->rows; j++)
            assert_relative(K[i * in->rows + j],
                            json_number_value(json_array_get(json_array_get(matrix, i), j)), 1e-12);
}

TEST(reference_texts)
{
    static const size_t wanted[] = { 0, 1, 2, 1000, 1500, 2000, 2500, 3000 };
    json_t             *one = reference_case("stringkernels");
    static char         lines[8][256];
    const char         *texts[8];
    char                line[256];
    FILE               *file = fopen(test_data("tabular/splice.csv"), "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    for (size_t i = 0, n = 0; n < 8 && fgets(line, sizeof line, file); i++)
        if (i == wanted[n]) {
            line[strcspn(line, ",\r\n")] = '\0';
            for (size_t c = 0; line[c]; c++) line[c] = (char)toupper((unsigned char)line[c]);
            texts[n] = strcpy(lines[n], line);
            n++;
        }
    fclose(file);
    cr_kernel_input in = { .rows = 8, .texts = texts, .text_columns = 1 };
    compare(cx, "spectrum(k=3)", &in, one, "spectrum3");
    compare(cx, "spectrum(k=5)", &in, one, "spectrum5");
    compare(cx, "spectrum(1) + spectrum(2) + spectrum(3) + spectrum(4)", &in, one, "boundrange4");
    compare(cx, "mismatch(k=4, m=1, alphabet=4)", &in, one, "mismatch_k4_m1");
    compare(cx, "weighted_degree(k=5)", &in, one, "weighted_degree5");
    compare(cx, "subsequence(k=3, lambda=0.5)", &in, one, "ssk_n3_lam0_5");
    compare(cx, "subsequence(k=4, lambda=0.8)", &in, one, "ssk_n4_lam0_8");
    json_decref(one);
}

TEST(reference_histograms)
{
    enum { PIXELS = 64, IMAGES = 12 };
    json_t *one = reference_case("histkernels");
    double  X[IMAGES * PIXELS];
    char    line[1024];
    FILE   *file = fopen(test_data("tabular/digits.csv"), "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    for (size_t i = 0; i < IMAGES; i++) {
        double sum = 0;
        assert_non_null(fgets(line, sizeof line, file));
        char *at = line;
        for (size_t c = 0; c < PIXELS; c++, at++) sum += X[i * PIXELS + c] = strtod(at, &at);
        for (size_t c = 0; c < PIXELS; c++) X[i * PIXELS + c] /= sum;
    }
    fclose(file);
    cr_kernel_input in = cr_kernel_rows(cr_cmat_of(X, IMAGES, PIXELS));
    compare(cx, "chi2", &in, one, "exp_chi2_gamma1");
    compare(cx, "intersection", &in, one, "intersection");
    compare(cx, "bhattacharyya", &in, one, "bhattacharyya");
    double  L[IMAGES * IMAGES], E[IMAGES * IMAGES];
    json_t *divergence =
        json_object_get(json_object_get(one, "matrices"), "jensen_shannon_divergence_nats");
    gram_of(cx, "jensen_shannon", &in, L);
    gram_of(cx, "exp_js(gamma=2)", &in, E);
    assert_int_equal(json_array_size(divergence), IMAGES);
    for (size_t i = 0; i < IMAGES; i++)
        for (size_t j = 0; j < IMAGES; j++) {
            double D = json_number_value(json_array_get(json_array_get(divergence, i), j));
            assert_close(L[i * IMAGES + j], M_LN2 - D, 1e-14);
            assert_close(E[i * IMAGES + j], exp(-2 * D), 1e-14);
        }
    json_decref(one);
}
