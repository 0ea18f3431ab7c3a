/* questions.c -- the table of questions. */
#include "questions.h"

#include <stdio.h>
#include <string.h>

static char small_letter(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

/* In the order in which hints and completion name them; of a word the first row reads it. */
/* clang-format off */
static const cri_question_row ROWS[CR_QUESTION_COUNT] = {
    [CR_QUESTION_TABLE] = {
        .name = "P", .syntax = "P(x | e)", .typed = "P(", .others = "p pr prob",
        .help = "a distribution, or the probability of states", .given = CRI_GIVEN_EVIDENCE,
        .parse = cri_read_probability, .answer = cri_answer_table, .normal = cri_normal_table, .put = cri_put_table,
        .shows = "table marginals variables mean covariance" },
    [CR_QUESTION_MARGINALS] = {
        .name = "P", .given = CRI_GIVEN_EVIDENCE, .parse = cri_read_probability, .answer = cri_answer_marginals,
        .normal = cri_normal_marginals, .put = cri_put_marginals, .shows = "marginals",
        .none = "every variable is known" },
    [CR_QUESTION_PROBABILITY] = {
        .name = "P", .given = CRI_GIVEN_EVIDENCE, .parse = cri_read_probability, .answer = cri_answer_probability,
        .normal = cri_normal_density, .put = cri_put_probability,
        .shows = "probability log_probability density log_density" },
    [CR_QUESTION_BEST] = {
        .name = "argmax", .syntax = "argmax(x | e)", .typed = "argmax(", .others = "map mpe max argmax",
        .help = "the most probable states", .given = CRI_GIVEN_EVIDENCE, .parse = cri_read_best,
        .answer = cri_answer_best, .normal = cri_normal_best, .put = cri_put_best,
        .shows = "assignment probability log_probability log_joint density log_density" },
    [CR_QUESTION_BEST_LIST] = {
        .name = "best", .syntax = "best(k; x | e)", .typed = "best(", .others = "best",
        .help = "the k most probable assignments", .given = CRI_GIVEN_EVIDENCE, .parse = cri_read_best_list,
        .answer = cri_answer_list, .put = cri_put_best_list, .shows = "assignments" },
    [CR_QUESTION_ENTROPY] = {
        .name = "H", .syntax = "H(x | e)", .typed = "H(", .others = "h entropy", .help = "entropy",
        .given = CRI_GIVEN_VARIABLES, .parse = cri_read_names, .answer = cri_answer_information,
        .normal = cri_normal_entropy, .put = cri_put_information, .shows = "entropy unit" },
    [CR_QUESTION_INFORMATION] = {
        .name = "I", .syntax = "I(x; y | e)", .typed = "I(", .others = "i mi", .help = "mutual information",
        .given = CRI_GIVEN_VARIABLES, .parse = cri_read_information, .answer = cri_answer_information,
        .normal = cri_normal_information, .put = cri_put_information, .shows = "information unit" },
    [CR_QUESTION_INFORMATIVE] = {
        .name = "I", .given = CRI_GIVEN_VARIABLES, .parse = cri_read_information, .answer = cri_answer_informative,
        .normal = cri_normal_informative, .put = cri_put_informative, .shows = "informative unit",
        .none = "every other variable is known" },
    [CR_QUESTION_CAUSES] = {
        .name = "causes", .syntax = "causes(x | e)", .typed = "causes(", .others = "causes cause",
        .help = "what the evidence supports", .given = CRI_GIVEN_EVIDENCE, .parse = cri_read_best,
        .answer = cri_answer_list, .put = cri_put_causes, .shows = "causes",
        .none = "no unobserved variable precedes the evidence" },
    [CR_QUESTION_SENSITIVITY] = {
        .name = "sensitivity", .syntax = "sensitivity(x=a | e)", .typed = "sensitivity(",
        .help = "how a probability changes with parameters", .given = CRI_GIVEN_EVIDENCE,
        .parse = cri_read_sensitivity, .answer = cri_answer_list, .put = cri_put_sensitivity,
        .shows = "parameters probability log_probability" },
    [CR_QUESTION_SEPARATION] = {
        .syntax = "x _|_ y | z", .given = CRI_GIVEN_VARIABLES, .graph = true, .answer = cri_answer_separation,
        .normal = cri_normal_separation, .put = cri_put_separation, .shows = "independent trail determined" },
    [CR_QUESTION_DSEP] = {
        .name = "dsep", .syntax = "dsep(x; y | z)", .typed = "dsep(", .others = "dseparated dseparation",
        .help = "separation by the graph alone", .given = CRI_GIVEN_VARIABLES, .graph = true,
        .parse = cri_read_separation, .answer = cri_answer_separation, .normal = cri_normal_separation,
        .put = cri_put_separation, .shows = "independent trail determined" },
    [CR_QUESTION_PARENTS] = {
        .name = "parents", .syntax = "parents(x)", .typed = "parents(", .others = "pa",
        .help = "variables with an arrow to x", .graph = true, .arrows = true, .parse = cri_read_names,
        .answer = cri_answer_relatives, .put = cri_put_list_of_names, .shows = "variables" },
    [CR_QUESTION_CHILDREN] = {
        .name = "children", .typed = "children(", .others = "ch", .help = "variables with an arrow from x",
        .graph = true, .arrows = true, .parse = cri_read_names, .answer = cri_answer_relatives,
        .put = cri_put_list_of_names, .shows = "variables" },
    [CR_QUESTION_ANCESTORS] = {
        .name = "ancestors", .typed = "ancestors(", .help = "all before x", .graph = true, .arrows = true,
        .parse = cri_read_names, .answer = cri_answer_relatives, .put = cri_put_list_of_names, .shows = "variables" },
    [CR_QUESTION_DESCENDANTS] = {
        .name = "descendants", .typed = "descendants(", .help = "all behind x", .graph = true, .arrows = true,
        .parse = cri_read_names, .answer = cri_answer_relatives, .put = cri_put_list_of_names, .shows = "variables" },
    [CR_QUESTION_BLANKET] = {
        .name = "blanket", .syntax = "blanket(x)", .typed = "blanket(",
        .others = "mb markov_blanket neighbours neighbors", .help = "what shields x from all others", .graph = true,
        .parse = cri_read_names, .answer = cri_answer_relatives, .put = cri_put_list_of_names, .shows = "variables" },
    [CR_QUESTION_ORDER] = {
        .name = "order", .syntax = "order()", .typed = "order()", .others = "toposort",
        .help = "causes before effects", .graph = true, .arrows = true, .parse = cri_read_nothing,
        .answer = cri_answer_order, .put = cri_put_list_of_names, .shows = "variables" },
    [CR_QUESTION_MORAL] = {
        .name = "moral", .typed = "moral()", .others = "moralize", .help = "edges of the moral graph", .graph = true,
        .parse = cri_read_nothing, .answer = cri_answer_moral, .put = cri_put_sets, .shows = "edges" },
    [CR_QUESTION_CLIQUES] = {
        .name = "cliques", .syntax = "cliques()", .typed = "cliques()", .help = "maximal cliques after triangulation",
        .graph = true, .parse = cri_read_nothing, .answer = cri_answer_cliques, .put = cri_put_sets,
        .shows = "cliques" },
    [CR_QUESTION_CHORDAL] = {
        .name = "chordal", .typed = "chordal()", .help = "is the moral graph chordal?", .graph = true,
        .parse = cri_read_nothing, .answer = cri_answer_chordal, .put = cri_put_flag_only, .shows = "chordal" },
    [CR_QUESTION_IMAP] = {
        .name = "imap", .typed = "imap(", .help = "do its independences hold in another network?", .graph = true,
        .arrows = true, .parse = cri_read_path, .answer = cri_answer_imap, .put = cri_put_imap,
        .shows = "imap independence" },
};
/* clang-format on */

const cri_question_row *cri_question_of(cr_question_kind kind) { return &ROWS[kind]; }

bool cri_is_listed_word(const char *list, const char *word, size_t n)
{
    for (const char *at = list; at && *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " "), i = 0;
        while (length == n && i < n && small_letter(word[i]) == at[i]) i++;
        if (length == n && i == n) return true;
        at += length;
    }
    return false;
}

cr_status cri_hint_questions(cr_ctx *cx)
{
    char   text[512] = "";
    size_t used = 0;
    for (size_t k = 0; k < CR_QUESTION_COUNT && used < sizeof text; k++)
        if (ROWS[k].syntax)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                     used ? ", " : "questions are ", ROWS[k].syntax);
    return cr_fail_hint(cx, "%s", text);
}
