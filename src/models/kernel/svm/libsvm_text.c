/* libsvm_text.c -- model files of LIBSVM as text. */
#include "libsvm_text.h"
#include "data/formats/libsvm.h"
#include "base/number.h"
#include "base/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CLASSES = 10000 };

static const char *const types[] = {
    "c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr", NULL
};
static const char *const kernels[] = { "linear", "polynomial", "rbf", "sigmoid", NULL };

bool cri_libsvm_is_model(const char *bytes, size_t size)
{
    static const char first[] = "svm_type ";
    return size >= sizeof first - 1 && memcmp(bytes, first, sizeof first - 1) == 0;
}

/* --- tokens ---------------------------------------------------------------------------------- */

typedef struct token {
    const char *at;
    size_t      length; /* 0: the line has no more */
} token;

static token next_token(cri_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) cri_step(r);
    token t = { r->at, 0 };
    while (r->at < r->end && !strchr(" \t\r\n", *r->at) && *r->at) cri_step(r);
    t.length = (size_t)(r->at - t.at);
    return t;
}

static bool is_word(token t, const char *word)
{
    return t.length == strlen(word) && memcmp(t.at, word, t.length) == 0;
}

static int shown(token t) { return t.length > 40 ? 40 : (int)t.length; }

/* Behind the end of the line. */
static cr_status end_line(cri_reader *r)
{
    token t = next_token(r);
    if (t.length > 0)
        return cri_reader_fail_at(r, t.at, t.length, "'%.*s' is one value too many", shown(t),
                                  t.at);
    if (r->at == r->end) {
        cri_reader_fail_at(r, r->at, 0, "the file breaks off within this line");
        return cr_fail_hint(r->cx, "make or copy it again");
    }
    if (*r->at != '\n') return cri_reader_fail_at(r, r->at, 1, "this character cannot stand here");
    cri_step(r);
    return CR_OK;
}

static cr_status read_number(cri_reader *r, const char *what, double *out)
{
    token t = next_token(r);
    if (t.length == 0) return cri_reader_fail_at(r, t.at, 0, "%s has too few values", what);
    if (cri_parse_double(t.at, t.at + t.length, out) != t.length || !isfinite(*out))
        return cri_reader_fail_at(r, t.at, t.length, "%s: '%.*s' is not a finite number", what,
                                  shown(t), t.at);
    return CR_OK;
}

static cr_status read_whole(cri_reader *r, const char *what, double least, double most, double *out)
{
    const char *before = r->at;
    cr_status   st = read_number(r, what, out);
    if (st == CR_OK && (*out != floor(*out) || *out < least || *out > most))
        st = cri_reader_fail_at(r, before, (size_t)(r->at - before),
                                "%s is not a whole number from %g to %g", what, least, most);
    return st;
}

static cr_status read_count(cri_reader *r, const char *what, double most, size_t *out)
{
    double    x = 0;
    cr_status st = read_whole(r, what, 0, most, &x);
    if (st == CR_OK) *out = (size_t)x;
    return st;
}

static cr_status read_word(cri_reader *r, const char *what, const char *const *words, int *out)
{
    token t = next_token(r);
    for (int i = 0; words[i]; i++)
        if (is_word(t, words[i])) return *out = i, CR_OK;
    return cri_reader_fail_at(r, t.at, t.length, "%s '%.*s' is not known, or cannot be read", what,
                              shown(t), t.at);
}

/* --- header ---------------------------------------------------------------------------------- */

typedef struct header {
    cri_libsvm_model *m;
    cr_scratch       *s;
    size_t            total;
    bool              type, kernel, classes, totals;
} header;

/* n numbers into memory of their own, each once. */
static cr_status read_numbers(cri_reader *r, header *h, const char *what, size_t n, double **out)
{
    cr_status st = CR_OK;
    if (!h->classes || *out)
        return cri_reader_fail_at(r, r->at, 0, *out ? "%s comes twice" : "%s comes before nr_class",
                                  what);
    if (n > cri_reader_left(r))
        return cri_reader_fail_at(r, r->at, 0, "%s has too few values", what);
    *out = cr_scratch_f64(h->s, n);
    if (!*out) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) CR_TRY(read_number(r, what, *out + i));
done:
    return st;
}

static cr_status read_labels(cri_reader *r, header *h)
{
    cr_status st = read_numbers(r, h, "label", h->m->K, &h->m->label);
    for (size_t i = 0; st == CR_OK && i < h->m->K; i++) {
        double x = h->m->label[i];
        if (x != floor(x) || fabs(x) > 2147483648.0)
            st = cri_reader_fail_at(r, r->at, 0, "the label %g is not a whole number", x);
        for (size_t j = 0; st == CR_OK && j < i; j++)
            if (h->m->label[j] == x)
                st = cri_reader_fail_at(r, r->at, 0, "the label %g comes twice", x);
    }
    return st;
}

static cr_status read_shares(cri_reader *r, header *h)
{
    cr_status st = CR_OK;
    if (!h->classes || h->m->per)
        return cri_reader_fail_at(r, r->at, 0,
                                  h->m->per ? "nr_sv comes twice" : "nr_sv comes before nr_class");
    h->m->per = cr_scratch_index(h->s, h->m->K);
    if (!h->m->per) return CR_ENOMEM;
    for (size_t i = 0; i < h->m->K; i++) CR_TRY(read_count(r, "nr_sv", 1e9, h->m->per + i));
done:
    return st;
}

/* What probA and probB are of: a machine each; of numbers the only one. */
static cr_status read_line(cri_reader *r, header *h, token key, bool *out_rows)
{
    cri_libsvm_model *m = h->m;
    double            skipped;
    int               word = 0;
    cr_status         st;
    if (is_word(key, "svm_type")) {
        st = read_word(r, "the svm_type", types, &word);
        m->type = (cri_libsvm_type)word, h->type = true;
    } else if (is_word(key, "kernel_type")) {
        st = read_word(r, "the kernel_type", kernels, &word);
        m->kernel = (cri_libsvm_kernel)word, h->kernel = true;
    } else if (is_word(key, "degree"))
        st = read_count(r, "degree", 50, &m->degree);
    else if (is_word(key, "gamma"))
        st = read_number(r, "gamma", &m->gamma);
    else if (is_word(key, "coef0"))
        st = read_number(r, "coef0", &m->coef0);
    else if (is_word(key, "nr_class")) {
        if (h->classes) return cri_reader_fail_at(r, key.at, key.length, "nr_class comes twice");
        st = read_count(r, "nr_class", MOST_CLASSES, &m->K);
        h->classes = true;
        m->M = m->K * (m->K - 1) / 2;
        if (st == CR_OK && m->K < 2)
            st = cri_reader_fail_at(r, key.at, key.length, "nr_class is less than 2");
    } else if (is_word(key, "total_sv")) {
        st = read_count(r, "total_sv", 1e9, &h->total);
        h->totals = true;
    } else if (is_word(key, "rho"))
        st = read_numbers(r, h, "rho", m->M, &m->rho);
    else if (is_word(key, "label"))
        st = read_labels(r, h);
    else if (is_word(key, "probA"))
        st = read_numbers(r, h, "probA", m->M, &m->prob_a);
    else if (is_word(key, "probB"))
        st = read_numbers(r, h, "probB", m->M, &m->prob_b);
    else if (is_word(key, "nr_sv"))
        st = read_shares(r, h);
    else if (is_word(key, "prob_density_marks")) {
        st = CR_OK;
        while (st == CR_OK && r->at < r->end && *r->at != '\n' && *r->at != '\r')
            st = read_number(r, "prob_density_marks", &skipped);
    } else if (is_word(key, "SV")) {
        *out_rows = true;
        st = CR_OK;
    } else
        return cri_reader_fail_at(r, key.at, key.length, "'%.*s' is not known in such a file",
                                  shown(key), key.at);
    return st == CR_OK ? end_line(r) : st;
}

/* What must be there, and fit each other. */
static cr_status check_header(cri_reader *r, const header *h)
{
    const cri_libsvm_model *m = h->m;
    size_t                  sum = 0;
    const char             *lacks = !h->type      ? "svm_type"
                                    : !h->kernel  ? "kernel_type"
                                    : !h->classes ? "nr_class"
                                    : !h->totals  ? "total_sv"
                                    : !m->rho     ? "rho"
                                                  : NULL;
    bool                    classes = cri_libsvm_is_classes(m->type);
    if (!lacks && classes && !m->label) lacks = "label";
    if (!lacks && classes && !m->per) lacks = "nr_sv";
    if (lacks) return cri_reader_fail(r, "the line '%s' is missing", lacks);
    if (!classes && m->K != 2)
        return cri_reader_fail(r, "a model of this svm_type has nr_class 2, not %zu", m->K);
    for (size_t i = 0; classes && i < m->K; i++) sum += m->per[i];
    if (classes && sum != h->total)
        return cri_reader_fail(r, "nr_sv adds up to %zu, but total_sv is %zu", sum, h->total);
    if (m->kernel != CRI_LIBSVM_LINEAR && !(m->gamma > 0))
        return cri_reader_fail(r, "gamma must be above 0, and is %g", m->gamma);
    if (m->kernel == CRI_LIBSVM_POLYNOMIAL && (m->degree < 1 || m->coef0 < 0))
        return cri_reader_fail(r, "a polynomial needs a degree of 1 or more and no negative coef0");
    return CR_OK;
}

/* --- support vectors ------------------------------------------------------------------------- */

static size_t count_bytes(const cri_reader *r, char c)
{
    size_t n = 0;
    for (const char *at = r->at; at < r->end; at++) n += *at == c;
    return n;
}

/* index:value, the index after the one before it. */
static cr_status read_pair(cri_reader *r, token t, size_t *previous, size_t *entries,
                           cri_libsvm_model *m)
{
    const char *colon = memchr(t.at, ':', t.length), *end = t.at + t.length;
    double      index = 0, value = 0;
    if (!colon || cri_parse_double(t.at, colon, &index) != (size_t)(colon - t.at) ||
        cri_parse_double(colon + 1, end, &value) != (size_t)(end - colon - 1) || !isfinite(value))
        return cri_reader_fail_at(r, t.at, t.length, "'%.*s' is not of the form index:value",
                                  shown(t), t.at);
    if (!(index > (double)*previous) || index > CRI_LIBSVM_MOST_COLUMNS || index != floor(index))
        return cri_reader_fail_at(r, t.at, t.length,
                                  "'%.*s': indices are whole, begin at 1 and rise along the line",
                                  shown(t), t.at);
    *previous = (size_t)index;
    if (*previous > m->d) m->d = *previous;
    m->column[*entries] = (uint32_t)(*previous - 1);
    m->value[(*entries)++] = value;
    return CR_OK;
}

static cr_status read_rows(cri_reader *r, header *h)
{
    cr_status         st = CR_OK;
    cri_libsvm_model *m = h->m;
    size_t            lines = count_bytes(r, '\n'), colons = count_bytes(r, ':'), entries = 0;
    if (lines != h->total) {
        cri_reader_fail(r, "%zu lines of support vectors follow, but total_sv is %zu", lines,
                        h->total);
        return cr_fail_hint(r->cx, "make or copy the file again");
    }
    m->n = h->total;
    if ((m->K - 1) * m->n > cri_reader_left(r)) /* each weight takes a character or more */
        return cri_reader_fail(r, "there are fewer weights than nr_class and total_sv need");
    m->coef = cr_scratch_matrix(h->s, m->n, m->K - 1);
    m->start = cr_scratch_index(h->s, m->n + 1);
    m->column = cr_scratch_bytes(h->s, colons, sizeof *m->column);
    m->value = cr_scratch_f64(h->s, colons);
    CR_TRY(h->s->status);
    for (size_t i = 0; i < m->n; i++) {
        size_t previous = 0;
        m->start[i] = entries;
        for (size_t k = 0; k + 1 < m->K; k++)
            CR_TRY(read_number(r, "the weight of a support vector", &m->coef[i * (m->K - 1) + k]));
        for (token t; (t = next_token(r)).length > 0;)
            CR_TRY(read_pair(r, t, &previous, &entries, m));
        CR_TRY(end_line(r));
    }
    m->start[m->n] = entries;
    if (r->at < r->end) CR_TRY(end_line(r));
done:
    return st;
}

cr_status cri_libsvm_model_parse(cr_scratch *s, const char *source, const char *bytes, size_t size,
                                 cri_libsvm_model *out)
{
    cr_status        st = CR_OK;
    cri_libsvm_model m = { .degree = 3 };
    header           h = { .m = &m, .s = s };
    cri_reader       r = cri_reader_open(s->cx, source, bytes, size);
    bool             rows = false;
    while (!rows) {
        token key = next_token(&r);
        if (key.length == 0)
            CR_TRY(r.at == r.end ? cri_reader_fail(&r, "the line 'SV' is missing")
                                 : cri_reader_fail_at(&r, r.at, 0, "this line is empty"));
        CR_TRY(read_line(&r, &h, key, &rows));
    }
    CR_TRY(check_header(&r, &h));
    CR_TRY(read_rows(&r, &h));
    *out = m;
done:
    return st;
}

/* --- writing --------------------------------------------------------------------------------- */

static void add_text(cri_writer *out, const char *text)
{
    cri_write_raw(out, text, strlen(text));
    out->in_row = false;
}

static void add_number(cri_writer *out, double x)
{
    char text[CRI_DOUBLE_SIZE];
    cri_print_double(x, text);
    add_text(out, text);
}

static void add_line(cri_writer *out, const char *key, const double *x, size_t n)
{
    add_text(out, key);
    for (size_t i = 0; i < n; i++) {
        add_text(out, " ");
        add_number(out, x[i]);
    }
    add_text(out, "\n");
}

static void add_count(cri_writer *out, const char *key, size_t n)
{
    double x = (double)n;
    add_line(out, key, &x, 1);
}

static void add_word(cri_writer *out, const char *key, const char *word)
{
    add_text(out, key);
    add_text(out, word);
    add_text(out, "\n");
}

static void add_header(cri_writer *out, const cri_libsvm_model *m)
{
    add_word(out, "svm_type ", types[m->type]);
    add_word(out, "kernel_type ", kernels[m->kernel]);
    if (m->kernel == CRI_LIBSVM_POLYNOMIAL) add_count(out, "degree", m->degree);
    if (m->kernel != CRI_LIBSVM_LINEAR) add_line(out, "gamma", &m->gamma, 1);
    if (m->kernel == CRI_LIBSVM_POLYNOMIAL || m->kernel == CRI_LIBSVM_SIGMOID)
        add_line(out, "coef0", &m->coef0, 1);
    add_count(out, "nr_class", m->K);
    add_count(out, "total_sv", m->n);
    add_line(out, "rho", m->rho, m->M);
    if (m->label) add_line(out, "label", m->label, m->K);
    if (m->prob_a) add_line(out, "probA", m->prob_a, m->M);
    if (m->prob_b) add_line(out, "probB", m->prob_b, m->M);
    if (m->per) {
        add_text(out, "nr_sv");
        for (size_t k = 0; k < m->K; k++) {
            add_text(out, " ");
            add_number(out, (double)m->per[k]);
        }
        add_text(out, "\n");
    }
    add_text(out, "SV\n");
}

void cri_libsvm_model_print(const cri_libsvm_model *m, cri_writer *out)
{
    add_header(out, m);
    for (size_t i = 0; i < m->n; i++) {
        for (size_t k = 0; k + 1 < m->K; k++) {
            add_number(out, m->coef[i * (m->K - 1) + k]);
            add_text(out, " ");
        }
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++) {
            char text[32];
            snprintf(text, sizeof text, "%zu:", (size_t)m->column[e] + 1);
            add_text(out, text);
            add_number(out, m->value[e]);
            add_text(out, " ");
        }
        add_text(out, "\n");
    }
}
