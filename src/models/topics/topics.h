/* topics.h -- latent Dirichlet allocation: the state, and what the files of the family share.
 *   phi_k ~ Dirichlet(eta, .., eta)      what topic k = 1 .. K is about: probabilities of the V terms
 *   theta_d ~ Dirichlet(alpha_1, .., alpha_K)                     the mix of document d
 *   z_di ~ Cat(theta_d),   w_di ~ Cat(phi_z)                      topic and term of its i-th token
 * n_dk, n_kw, n_k: tokens of topic k in document d, of term w, in all.  With theta and phi integrated out,
 *   log p(w, z) = sum_k log B(n_k. + eta) / B(eta) + sum_d log B(n_d. + alpha) / B(alpha),   B: see gamma functions below
 *   log B(n + a) / B(a) = lnG(sum a) - lnG(sum n + sum a) + sum_j [lnG(n_j + a_j) - lnG(a_j)]
 *
 *   1. topics.c            the fit, answers about documents, the descriptor
 *   2. topics_documents.c  documents: of columns that are counts, or of a column of text
 *   3. topics_gibbs.c      collapsed Gibbs sampling in fixed shards, several chains
 *   4. topics_vb.c         variational Bayes, batch and on-line
 *   5. topics_prior.c      alpha and eta by Minka's fixed point; log p(w, z)
 *   6. topics_mix.c        the mix of a new document, and how well half of it tells the other half
 *   7. topics_describe.c   top terms, coherence, description
 * Blei, Ng & Jordan (2003), JMLR 3; Griffiths & Steyvers (2004), PNAS 101.  (Internal header.) */
#ifndef CREDENCE_MODELS_TOPICS_TOPICS_H
#define CREDENCE_MODELS_TOPICS_TOPICS_H

#include "models/core/class.h"
#include "models/common/coordinates.h"
#include "base/context_internal.h"
#include "base/scratch.h"

enum { CRI_TOPICS_MOST = 1000 };
typedef enum cri_topics_infer {
    CRI_TOPICS_GIBBS,
    CRI_TOPICS_VB,
    CRI_TOPICS_ONLINE
} cri_topics_infer;

/* clang-format off */
#define CRI_TOPICS_OPTIONS(X)                                                                      \
    X(count,  k,         "10", "1..1000", "number of topics", "20")                                \
    X(choice, infer,     "gibbs", "gibbs|vb|online",                                               \
      "how the posterior is found: collapsed Gibbs sampling, variational Bayes over all documents in every pass, or over one batch after another", "vb") \
    X(real,   alpha,     "", ">0", "prior count of each topic in a document; default: learned, one for each topic", "0.1") \
    X(real,   eta,       "", ">0", "prior count of each term in a topic; default: learned", "0.01") \
    X(count,  sweeps,    "500", ">=2", "of Gibbs sampling, of which the second half is kept", "1000") \
    X(count,  chains,    "2", "1..64", "independent chains of Gibbs sampling; the best is kept, and how far the others agree is reported", "4") \
    X(count,  shards,    "", "1..64", "parts of the documents that each sweep of Gibbs sampling takes side by side: 1 is exact, more are an approximation; default: by the number of tokens, 1 up to half a million", "1") \
    X(count,  passes,    "100", ">=1", "of variational Bayes over the documents, at most", "20")   \
    X(real,   tol,       "1e-5", ">=0", "variational Bayes stops when the bound gains less than this share of itself", "1e-6") \
    X(count,  batch,     "256", ">=1", "documents in a step of --infer online", "1024")            \
    X(real,   forget,    "0.7", "0.5<..1", "step t of --infer online weighs (delay + t) to the power of minus this", "0.6") \
    X(real,   delay,     "10", ">=0", "see --forget", "64")                                        \
    X(text,   text,      "", "COLUMN", "column of text whose words are the terms, instead of columns that are counts", "body") \
    X(choice, tokens,    "words", "words|cells", "what a term of --text is: a word, in lower case, or the whole cell", "cells") \
    X(text,   document,  "", "COLUMN", "rows with the same value here are one document of --text", "article") \
    X(text,   counts,    "", "COLUMN", "how often the cell of --text counts", "n")                 \
    X(count,  min_documents, "1", ">=1", "leave out terms of --text in fewer documents", "5")      \
    X(real,   max_share, "1", "0<..1", "leave out terms of --text in more than this share of the documents", "0.5") \
    X(text,   stop_words, "", "FILE", "words to leave out of --text, one a line", "stop.txt")      \
    X(text,   vocabulary, "", "FILE", "names of the terms, one a line, of columns that only have numbers", "reuters.tokens") \
    X(count,  top_terms, "10", "1..1000", "terms of each topic in the description", "20")

#define CRI_TOPICS(MEMBER)                                                                         \
    MEMBER(count,  k,          (),         ">0",     "topics")                                     \
    MEMBER(count,  terms,      (),         ">0",     "V")                                          \
    MEMBER(choice, infer,      (),         "gibbs|vb|online", "how the posterior was found")       \
    MEMBER(vector, alpha,      (k),        ">0",     "prior counts of the topics in a document")   \
    MEMBER(real,   eta,        (),         ">0",     "prior count of a term in a topic")           \
    MEMBER(matrix, phi,        (k, terms), "0..1 sums", "posterior means of the probabilities of the terms") \
    MEMBER(matrix, sd,         (k, terms), ">=0",    "and their sds")                              \
    MEMBER(matrix, lambda,     (k, terms), ">0 none", "of variational Bayes: q(phi_k) = Dirichlet(lambda_k)") \
    MEMBER(vector, share,      (k),        "0..1",   "of the tokens, by topic")                    \
    MEMBER(vector, coherence,  (k),        "any",    "of the top terms of each topic; NaN: of fewer than two") \
    MEMBER(vector, agreement,  (k),        "none",   "with the most similar topics of the other chains") \
    MEMBER(count,  top,        (),         ">0",     "terms of each topic to describe")            \
    MEMBER(real,   documents,  (),         ">0",     "that it has learned from")                   \
    MEMBER(real,   tokens,     (),         ">=0",    "of these")                                   \
    MEMBER(real,   log_joint,  (),         "none",   "log p(w, z): the mean of the kept sweeps")   \
    MEMBER(real,   bound,      (),         "none",   "of variational Bayes on log p(w)")           \
    MEMBER(real,   perplexity, (),         ">0 none", "of the documents of the fit")                \
    MEMBER(count,  iterations, (),         ">0",     "sweeps or passes")                           \
    MEMBER(count,  kept,       (),         "",       "sweeps behind the means")                    \
    MEMBER(count,  chains,     (),         "",       "of Gibbs sampling")                          \
    MEMBER(count,  shards,     (),         ">0",     "parts of the documents that were sampled side by side") \
    MEMBER(real,   rhat,       (),         "none endless", "of log p(w, z) over the kept sweeps")  \
    MEMBER(real,   ess,        (),         "none",   "independent draws that these are worth")     \
    MEMBER(real,   steps,      (),         ">=0",    "of on-line learning so far")                 \
    MEMBER(flag,   converged,  (),         "",       "the bound has settled")                      \
    MEMBER(text,   text,       (),         "none",   "the column of text; absent: columns are counts") \
    MEMBER(text,   document,   (),         "none",   "the column that says which rows are one document") \
    MEMBER(text,   counts,     (),         "none",   "the column of how often a cell counts")      \
    MEMBER(choice, cells,      (),         "words|cells", "what a term of the text is")            \
    MEMBER(text,   vocabulary, (),         "none",   "the terms, each before a line feed")
/* clang-format on */

CR_OPTIONS_STRUCT(cri_topics_options, CRI_TOPICS_OPTIONS);
/* What no file holds: the columns of text by name, terms by their texts, and the names of the topics. */
CRI_RECORD(cri_topics, CRI_TOPICS, cri_dictionary known; cri_coordinates at;);
extern const cri_member cri_topics_record[];

/* --- documents (topics_documents.c) ----------------------------------------------------------- */

/* Document d has the terms term[e], count[e] times, for e = start[d] .. start[d + 1] - 1, in increasing order.
 * Row i of the rows is of document row[i] (NULL: i).  All of it is of the arena it was asked for with. */
typedef struct cri_documents {
    size_t    n, terms;
    size_t   *start;
    uint32_t *term, *count;
    double    tokens;
    size_t   *opt_row;
    double    unknown; /* tokens of terms that are not known */
} cri_documents;

/* Those of a fit: also sets terms and, where the terms have names of their own, the vocabulary of the state. */
cr_status cri_topics_learn_documents(cr_ctx *cx, cr_scratch *s, const cri_rows *rows,
                                     const cri_topics_options *o, cri_topics *m,
                                     cri_documents *out);
/* Those of rows under a vocabulary that is there: terms it lacks are counted in `unknown` alone. */
cr_status cri_topics_read_documents(cr_ctx *cx, cr_scratch *s, const cri_rows *rows,
                                    const cri_topics *m, cri_documents *out);
/* Cuts the vocabulary into `known`; CR_EDATA where it does not have as many terms as the state. */
cr_status cri_topics_open_vocabulary(cr_ctx *cx, cri_topics *m);
/* The name of a term. */
const char *cri_topics_term(const cri_topics *m, const cr_design *design, size_t w);

/* --- learning --------------------------------------------------------------------------------- */

/* Fills the posterior of the state, whose arrays are there (topics_gibbs.c, topics_vb.c). */
cr_status cri_topics_gibbs(cr_ctx *cx, const cri_documents *docs, const cri_topics_options *o,
                           uint64_t seed, cri_topics *m, cr_report *report);
cr_status cri_topics_vb(cr_ctx *cx, const cri_documents *docs, const cri_topics_options *o,
                        uint64_t seed, cri_topics *m, cr_report *report);
/* More documents into the lambda of a state (Hoffman et al.). */
cr_status cri_topics_vb_steps(cr_ctx *cx, const cri_documents *docs, const cri_topics_options *o,
                              cri_topics *m);
/* phi and sd from lambda. */
void cri_topics_from_lambda(cri_topics *m);

/* How often n of something was counted: at[n], 1 <= n <= most. */
typedef struct cri_tally {
    size_t  most;
    double *at; /* [most + 1] */
} cri_tally;
/* sum over counts n of psi(n + a) - psi(a), and of lnG(n + a) - lnG(a). */
double cri_tally_digamma(const cri_tally *t, double a);
double cri_tally_lgamma(const cri_tally *t, double a);

/* --- new documents (topics_mix.c) ------------------------------------------------------------- */

/* mix [documents x K], and opt_score [documents] the log probability of the tokens at odd places of each given those
 * at even places, with opt_scored [documents] of them. */
cr_status cri_topics_mix(cr_ctx *cx, const cri_topics *m, const cri_documents *docs, double *mix,
                         double *opt_score, double *opt_scored);

/* --- description (topics_describe.c) ---------------------------------------------------------- */

extern const cr_field cri_topics_statistics[], cri_topics_tables[];
cr_status             cri_topics_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                          cri_sheet *out);
/* top [top] = the terms of topic k of highest probability, the highest first; of equal ones the first. */
void cri_topics_top(const cri_topics *m, size_t k, size_t top, size_t *out);
/* Fills the coherence of the state: UMass of at most `top` terms of each topic. */
cr_status cri_topics_judge(cr_ctx *cx, const cri_documents *docs, cri_topics *m);

#endif
