/* topics_describe.c -- what topics are about: their top terms, how well these go together, and the course of the fit.
 * Coherence (UMass): the mean over pairs of top terms, a before b, of log((D(a, b) + 1) / D(a)), where D counts the
 * documents of the fit with a term, or both.  Mimno, Wallach, Talley, Leenders & McCallum (2011), EMNLP. */
#include "topics.h"

#include <math.h>
#include <string.h>

const cr_field cri_topics_statistics[] = {
    CR_TEXT("infer", 0, "how the posterior was found"),
    CR_COUNT("topics", 0, "K"),
    CR_COUNT("terms", 0, "V, the size of the vocabulary"),
    CR_NUMBER("documents", 0, "that it has learned from"),
    CR_NUMBER("tokens", 0, "in these documents"),
    CR_NUMBER(
        "log_joint", CR_FIELD_SOMETIMES,
        "of Gibbs sampling: log p(w, z) with mixes and topics integrated out, the mean over the "
        "kept sweeps of the best chain"),
    CR_NUMBER("bound", CR_FIELD_EITHER,
              "of variational Bayes: a lower bound on log p(w); null: the time was over before"),
    CR_NUMBER(
        "perplexity", CR_FIELD_NULL,
        "exp(- mean log p(token)) of the documents of the fit, which it has seen; of variational "
        "Bayes by the bound; evaluate gives that of new ones"),
    CR_NUMBER("coherence", CR_FIELD_NULL,
              "mean of the topics' (UMass): the nearer to 0 the better"),
    CR_NUMBER("eta", 0, "prior count of each term in a topic"),
    CR_COUNT("iterations", 0, "sweeps, or passes over the documents"),
    CR_COUNT("kept", CR_FIELD_SOMETIMES, "of Gibbs sampling: sweeps behind means and sds"),
    CR_COUNT("chains", CR_FIELD_SOMETIMES, "of Gibbs sampling"),
    CR_COUNT("shards", 0,
             "parts of the documents that were worked on side by side; of Gibbs sampling more than "
             "one make it an approximation"),
    CR_NUMBER("rhat", CR_FIELD_EITHER, "of Gibbs sampling: R-hat of log_joint over the chains"),
    CR_NUMBER("ess", CR_FIELD_EITHER, "of Gibbs sampling: independent draws of log_joint"),
    CR_NUMBER(
        "agreement", CR_FIELD_SOMETIMES,
        "of several chains: mean cosine of the topics with those most like them in the others"),
    CR_FLAG("converged", 0, "the bound has settled, or the chains agree: R-hat up to 1.1"),
    CR_FIELD_LAST,
};

static const cr_field term_fields[] = {
    CR_TEXT("topic", 0, "its name"),
    CR_COUNT("rank", 0, "of the term in it"),
    CR_TEXT("term", 0, "one of its most probable"),
    CR_NUMBER("probability", 0, "posterior mean"),
    CR_NUMBER("sd", 0, "posterior standard deviation"),
    CR_FIELD_LAST,
};

static const cr_field topic_fields[] = {
    CR_TEXT("topic", 0, "its name"),
    CR_NUMBER("share", 0, "of all tokens"),
    CR_NUMBER("alpha", 0, "prior count in a document"),
    CR_NUMBER("coherence", CR_FIELD_NULL, "of its top terms"),
    CR_NUMBER("agreement", CR_FIELD_SOMETIMES,
              "of several chains: mean cosine with the topics most like it in the others"),
    CR_TEXT("terms", 0, "the most probable ones"),
    CR_FIELD_LAST,
};

const cr_field cri_topics_tables[] = {
    CR_INNER(ROWS, "topics", 0, "top terms of each topic", term_fields),
    CR_INNER(ROWS, "summary", 0, "the topics", topic_fields),
    CR_FIELD_LAST,
};

/* --- top terms -------------------------------------------------------------------------------- */

void cri_topics_top(const cri_topics *m, size_t k, size_t top, size_t *out)
{
    const double *phi = m->phi + k * m->terms;
    size_t        n = 0;
    for (size_t w = 0; w < m->terms; w++) {
        size_t at = n;
        while (at > 0 && phi[out[at - 1]] < phi[w]) at--;
        if (at == top) continue;
        n += n < top;
        memmove(out + at + 1, out + at, (n - at - 1) * sizeof *out);
        out[at] = w;
    }
}

static size_t top_of(const cri_topics *m) { return m->top < m->terms ? m->top : m->terms; }

/* --- coherence -------------------------------------------------------------------------------- */

/* together [top x top] and in its diagonal: documents with two of the terms; place [terms] is 1 + the rank of a top
 * term, else 0.  O(entries + hits^2). */
static void count_together(const cri_documents *docs, const uint32_t *place, size_t top,
                           size_t *hit, double *together)
{
    memset(together, 0, top * top * sizeof *together);
    for (size_t d = 0; d < docs->n; d++) {
        size_t n = 0;
        for (size_t e = docs->start[d]; e < docs->start[d + 1]; e++)
            if (place[docs->term[e]]) hit[n++] = place[docs->term[e]] - 1;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) together[hit[i] * top + hit[j]]++;
    }
}

cr_status cri_topics_judge(cr_ctx *cx, const cri_documents *docs, cri_topics *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     top = top_of(m);
    size_t    *best = cr_scratch_index(&s, top + 1), *hit = cr_scratch_index(&s, top);
    uint32_t  *place = cr_scratch_bytes(&s, m->terms, sizeof *place);
    double    *together = cr_scratch_matrix(&s, top, top);
    CR_TRY(s.status);
    for (size_t k = 0; k < m->k; k++) {
        double sum = 0, pairs = 0;
        CR_TRY(cr_check_interrupt(cx));
        cri_topics_top(m, k, top, best);
        for (size_t i = 0; i < top; i++) place[best[i]] = (uint32_t)i + 1;
        count_together(docs, place, top, hit, together);
        for (size_t i = 0; i < top; i++) place[best[i]] = 0;
        for (size_t i = 0; i < top; i++)
            for (size_t j = i + 1; j < top && together[i * top + i] > 0; j++, pairs++)
                sum += log((together[i * top + j] + 1) / together[i * top + i]);
        m->coherence[k] = pairs > 0 ? sum / pairs : NAN;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- description ------------------------------------------------------------------------------ */

static double mean_known(const double *a, size_t n)
{
    double sum = 0, known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(a[i])) sum += a[i], known++;
    return known > 0 ? sum / known : NAN;
}

static void put_statistics(const cri_topics *m, cri_sheet *s)
{
    static const char *const ways[] = { "gibbs", "vb", "online" };
    bool                     gibbs = m->infer == CRI_TOPICS_GIBBS;
    cri_put_text(s, "infer", ways[m->infer]);
    cri_put_count(s, "topics", m->k);
    cri_put_count(s, "terms", m->terms);
    cri_put_real(s, "documents", m->documents);
    cri_put_real(s, "tokens", m->tokens);
    cri_put_real(s, gibbs ? "log_joint" : "bound", gibbs ? m->log_joint : m->bound);
    cri_put_real(s, "perplexity", m->perplexity);
    cri_put_real(s, "coherence", mean_known(m->coherence, m->k));
    cri_put_real(s, "eta", m->eta);
    cri_put_count(s, "iterations", m->iterations);
    if (gibbs) {
        cri_put_count(s, "kept", m->kept);
        cri_put_count(s, "chains", m->chains);
    }
    cri_put_count(s, "shards", m->shards);
    if (gibbs) {
        cri_put_real(s, "rhat", m->rhat);
        cri_put_real(s, "ess", m->ess);
    }
    if (m->agreement) cri_put_real(s, "agreement", mean_known(m->agreement, m->k));
    cri_put_flag(s, "converged", m->converged);
}

static void put_topic(const cri_topics *m, const cr_design *design, size_t k, const size_t *best,
                      cri_sheet *terms, cri_sheet *summary, cri_sheet *names)
{
    size_t     top = top_of(m);
    cri_sheet *row;
    cri_sheet_clear(names);
    cri_sheet *list = cri_put_list(names, "terms");
    for (size_t i = 0; i < top; i++) {
        const char *term = cri_topics_term(m, design, best[i]);
        row = cri_put_object(terms, NULL);
        cri_put_text(row, "topic", m->at.names[k]);
        cri_put_count(row, "rank", i + 1);
        cri_put_text(row, "term", term);
        cri_put_real(row, "probability", m->phi[k * m->terms + best[i]]);
        cri_put_real(row, "sd", m->sd[k * m->terms + best[i]]);
        cri_put_text(list, NULL, term);
    }
    row = cri_put_object(summary, NULL);
    cri_put_text(row, "topic", m->at.names[k]);
    cri_put_real(row, "share", m->share[k]);
    cri_put_real(row, "alpha", m->alpha[k]);
    cri_put_real(row, "coherence", m->coherence[k]);
    if (m->agreement) cri_put_real(row, "agreement", m->agreement[k]);
    cri_put_joined(row, "terms", list, " ");
}

cr_status cri_topics_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const cri_topics *m = state;
    size_t           *best = cr_scratch_index(&s, top_of(m) + 1);
    cri_sheet        *names = cri_sheet_new(cx);
    if (!names) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    cri_put_list(out, "parameters");
    put_statistics(m, cri_put_object(out, "statistics"));
    cri_sheet *terms = cri_put_list(out, "topics"), *summary = cri_put_list(out, "summary");
    for (size_t k = 0; k < m->k; k++) {
        cri_topics_top(m, k, top_of(m), best);
        put_topic(m, design, k, best, terms, summary, names);
    }
    CR_TRY(cri_sheet_status(names));
done:
    cri_sheet_free(names);
    cr_scratch_end(&s);
    return st;
}
