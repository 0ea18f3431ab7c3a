/* file_format.h -- what is asked of every parser of networks: dialects that mean the same, mistakes
 * shown in their place, files that are cut off, memory that runs out. */
#ifndef CREDENCE_TEST_FILE_FORMAT_H
#define CREDENCE_TEST_FILE_FORMAT_H

#include "same_network.h"

typedef cr_status parse_fn(cr_ctx *cx, const char *source, const void *text, size_t size,
                           cr_network **out_net);

typedef struct file_format {
    parse_fn   *parse;
    const char *source; /* the name in messages: "x.bif" */
} file_format;

typedef struct mistake {
    const char *text, *message;
} mistake;

static inline cr_network *parse_text(cr_ctx *cx, const file_format *f, const char *text)
{
    cr_network *net = NULL;
    assert_ok(cx, f->parse(cx, f->source, text, strlen(text), &net));
    return net;
}

static inline void check_dialects(cr_ctx *cx, const file_format *f, const char *plain,
                                  const char *const *same, size_t n)
{
    cr_network *wanted = parse_text(cx, f, plain);
    for (size_t i = 0; i < n; i++) {
        cr_network *net = parse_text(cx, f, same[i]);
        assert_same_network(wanted, net, true);
        cr_network_free(cx, net);
    }
    cr_network_free(cx, wanted);
}

/* Property number i: of variable v, or of none. */
static inline void check_property(const cr_network *net, size_t i, const char *text, size_t v)
{
    size_t of;
    assert_string_equal(cr_network_property(net, i, &of), text);
    assert_true(of == v);
}

static inline void check_mistakes(cr_ctx *cx, const file_format *f, const mistake *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cr_network *net = NULL;
        assert_fails_with(cx, f->parse(cx, f->source, files[i].text, strlen(files[i].text), &net),
                          CR_EDATA, files[i].message);
        assert_null(net);
    }
}

/* No beginning of the text, but for the end of its last line, is a file without mistake. */
static inline void check_beginnings(cr_ctx *cx, const file_format *f, const char *text)
{
    for (size_t n = 0; n + 1 < strlen(text); n++) {
        cr_network *net = NULL;
        assert_fails(cx, f->parse(cx, f->source, text, n, &net), CR_EDATA);
        assert_true(cr_error(cx)[0] != '\0');
    }
}

typedef struct parse_job {
    const file_format *format;
    const char        *text;
} parse_job;

static inline cr_status parse_and_free(cr_ctx *cx, void *arg)
{
    const parse_job *job = arg;
    cr_network      *net = NULL;
    cr_status st = job->format->parse(cx, job->format->source, job->text, strlen(job->text), &net);
    cr_network_free(cx, net);
    return st;
}

static inline void check_parse_allocations(const file_format *f, const char *text)
{
    test_every_allocation_fails(parse_and_free, &(parse_job){ f, text });
}

#endif
