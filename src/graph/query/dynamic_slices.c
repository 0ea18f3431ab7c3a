/* dynamic_slices.c -- questions to a network of slices that are answered slice by slice (exact/interface.h).
 *   P(x | e)         the slices up to that of x forwards, those after it backwards
 *   P(x, y | e)      the same for every state of all but one of them, by the chain rule
 *   P(* | e)         all slices forwards and backwards
 *   P(x=a | e)       P(x=a, e) / P(e), both forwards
 *   argmax(* | e)    Viterbi's path */
#include "dynamic_slices.h"
#include "query_more.h"
#include "graph/exact/interface.h"
#include "graph/network/network_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One question on its way. */
typedef struct asked {
    cr_ctx            *cx;
    cr_scratch         s;
    const cri_dynamic *net;
    const cr_question *q;
    size_t             slices;
    cri_interface     *h;
    size_t            *offset; /* [n] where the states of v begin among the marginals of a slice */
    uint32_t          *code;   /* [slices x n] */
    cri_slice_weight  *weight; /* [weights] */
    cri_slice_evidence evidence; /* of these */
    cr_query_answer   *out;
} asked;

bool cri_dynamic_by_slices(const cr_question *q, const cr_findings *opt_more)
{
    const cr_findings *lists[] = { &q->known, opt_more };
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; lists[l] && i < lists[l]->n; i++)
            if (lists[l]->item[i].kind == CR_FINDING_SOFT) return false;
    switch (q->kind) {
    case CR_QUESTION_TABLE:
    case CR_QUESTION_MARGINALS:
    case CR_QUESTION_PROBABILITY:
        return true;
    case CR_QUESTION_BEST:
        return q->n_x == 0;
    default:
        return false;
    }
}

/* --- evidence -------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const cri_slice_weight *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* The only state of a finding that is one. */
static uint32_t code_of(const cr_finding *f)
{
    uint32_t s = 0;
    if (f->kind != CR_FINDING_STATE && f->kind != CR_FINDING_DO) return CRI_CODE_WEIGHED;
    while (f->weight[s] == 0) s++;
    return f->kind == CR_FINDING_DO ? s | CRI_CODE_SET : s;
}

/* All that is known, in the codes of the slices.  CR_EARG where two findings are about one variable. */
static cr_status take_evidence(asked *a, const cr_findings *opt_more)
{
    cr_status          st = CR_OK;
    const cr_findings *lists[] = { &a->q->known, opt_more };
    cr_findings        all = { 0 };
    size_t             numbers = a->slices * a->net->n, weights = 0;
    a->code = cr_scratch_bytes(&a->s, numbers, sizeof *a->code);
    CR_TRY(a->s.status);
    for (size_t i = 0; i < numbers; i++) a->code[i] = CRI_CODE_OPEN;
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; lists[l] && i < lists[l]->n; i++) {
            const cr_finding *f = &lists[l]->item[i];
            CR_TRY(cr_findings_add(a->cx, &all, a->net->first, f->kind, f->variable, f->weight));
            a->code[f->variable] = code_of(f);
            weights += a->code[f->variable] == CRI_CODE_WEIGHED;
        }
    a->weight = cr_scratch_bytes(&a->s, weights + a->q->event.n, sizeof *a->weight);
    CR_TRY(a->s.status);
    a->evidence = (cri_slice_evidence){ .slices = a->slices, .code = a->code, .weight = a->weight };
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; lists[l] && i < lists[l]->n; i++) {
            const cr_finding *f = &lists[l]->item[i];
            if (code_of(f) == CRI_CODE_WEIGHED)
                a->weight[a->evidence.weights++] = (cri_slice_weight){ f->variable, f->weight };
        }
    qsort(a->weight, weights, sizeof *a->weight, by_number);
done:
    cr_findings_free(a->cx, &all);
    return st;
}

/* The likelihoods of a variable, if it has some. */
static cri_slice_weight *find_weight(asked *a, size_t number)
{
    cri_slice_weight key = { .number = number };
    return a->code[number] == CRI_CODE_WEIGHED
               ? bsearch(&key, a->weight, a->evidence.weights, sizeof key, by_number)
               : NULL;
}

/* Multiplies an event into the evidence. */
static cr_status add_event(asked *a, const cr_finding *f)
{
    uint32_t         *code = &a->code[f->variable];
    cri_slice_weight *old = find_weight(a, f->variable);
    double           *w = cr_scratch_f64(&a->s, f->states);
    if (a->s.status != CR_OK) return a->s.status;
    for (size_t s = 0; s < f->states; s++) {
        w[s] = f->weight[s] * (old ? old->weight[s] : 1);
        if (*code < CRI_CODE_WEIGHED) w[s] *= s == (*code & ~CRI_CODE_SET);
    }
    if (*code < CRI_CODE_WEIGHED) { /* observed: as it was, or impossible */
        for (size_t s = 0; s < f->states; s++)
            if (w[s] > 0) return CR_OK;
    }
    if (old) {
        old->weight = w;
        return CR_OK;
    }
    *code = CRI_CODE_WEIGHED;
    a->weight[a->evidence.weights++] = (cri_slice_weight){ f->variable, w };
    qsort(a->weight, a->evidence.weights, sizeof *a->weight, by_number);
    return CR_OK;
}

/* Fails: the slices from `possible` on, counted from 0, cannot be as they are. */
static cr_status refuse_impossible(const asked *a, size_t possible)
{
    cri_fail_impossible(a->cx);
    return cr_fail_note(a->cx,
                        "what is known of slice %zu is impossible, given the slices before it",
                        possible + 1);
}

/* log P(e), -INFINITY where it is impossible. */
static cr_status find_log(asked *a, double *out_log, size_t *out_possible)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(a->cx);
    double    *log_e = cr_scratch_f64(&s, a->slices), total = 0;
    CR_TRY(s.status);
    CR_TRY(cri_interface_filter(a->cx, a->h, &a->evidence, NULL, NULL, log_e, out_possible));
    for (size_t t = 0; t < a->slices; t++) total += log_e[t];
    *out_log = total;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- one variable, or several ---------------------------------------------------------------- */

/* The marginal of one variable. */
typedef struct one {
    size_t  from, n;
    double *p;
} one;

static bool keep_one(void *arg, size_t t, const double *p)
{
    one *k = arg;
    (void)t;
    memcpy(k->p, p + k->from, k->n * sizeof *p);
    return true;
}

/* P(number | e) [states] and log P(e). */
static cr_status find_marginal(asked *a, size_t number, double *p, double *out_log,
                               size_t *out_possible)
{
    size_t v = number % a->net->n, t = number / a->net->n;
    one    k = { a->offset[v], cr_network_states(a->net->first, v), p };
    memset(p, 0, k.n * sizeof *p);
    return cri_interface_smooth(a->cx, a->h, &a->evidence, t, t, keep_one, &k, NULL, out_log,
                                out_possible);
}

/* Fixes a variable whose code was `was` in a state; log: what its likelihoods say to that. */
static void fix(asked *a, size_t number, uint32_t was, uint32_t s, double *inout_log)
{
    a->code[number] = was;
    cri_slice_weight *w = find_weight(a, number);
    if (w) *inout_log += log(w->weight[s]);
    if (was < CRI_CODE_WEIGHED && (was & ~CRI_CODE_SET) != s) *inout_log = -INFINITY;
    if (was >= CRI_CODE_WEIGHED) a->code[number] = s;
}

/* The joint table over `list` [n], ascending numbers: for each assignment of all but the last its probability
 * with the evidence, times what that leaves of the last. */
static cr_status fill_joint(asked *a, size_t n, const size_t *list, double *value, size_t size,
                            double *out_log)
{
    cr_status st = CR_OK;
    size_t    states = cr_network_states(a->net->first, list[n - 1] % a->net->n), possible;
    uint32_t *was = cr_scratch_bytes(&a->s, n, sizeof *was);
    double   *log_of = cr_scratch_f64(&a->s, size / states), most = -INFINITY, sum = 0;
    CR_TRY(a->s.status);
    for (size_t i = 0; i < n; i++) was[i] = a->code[list[i]];
    for (size_t row = 0; row < size / states; row++) {
        size_t rest = row;
        double weight = 0;
        for (size_t i = n - 1; i-- > 0;) {
            size_t k = cr_network_states(a->net->first, list[i] % a->net->n);
            fix(a, list[i], was[i], (uint32_t)(rest % k), &weight);
            rest /= k;
        }
        log_of[row] = -INFINITY;
        if (weight > -INFINITY)
            CR_TRY(find_marginal(a, list[n - 1], value + row * states, &log_of[row], &possible));
        log_of[row] += weight;
        if (log_of[row] > most) most = log_of[row];
    }
    for (size_t i = 0; i < n; i++) a->code[list[i]] = was[i];
    *out_log = most;
    if (most == -INFINITY) goto done;
    for (size_t i = 0; i < size; i++)
        sum += value[i] =
            log_of[i / states] > -INFINITY ? value[i] * exp(log_of[i / states] - most) : 0;
    for (size_t i = 0; i < size; i++) value[i] /= sum;
    *out_log += log(sum);
done:
    return st;
}

static int by_index(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static cr_status answer_table(asked *a)
{
    cr_status st = CR_OK;
    size_t    n = a->q->n_x, *list = cr_scratch_index(&a->s, n), possible = 0;
    size_t   *states = cr_scratch_index(&a->s, n), *place = cr_scratch_index(&a->s, n);
    CR_TRY(a->s.status);
    memcpy(list, a->q->x, n * sizeof *list);
    qsort(list, n, sizeof *list, by_index);
    for (size_t i = 0; i < n; i++)
        states[i] = cr_network_states(a->net->first, list[i] % a->net->n);
    for (size_t i = 0; i < n; i++) place[i] = i;
    CR_TRY(cr_factor_new(a->cx, n, place, states, NULL, &a->out->table));
    CR_TRY(fill_joint(a, n, list, a->out->table.value, a->out->table.size, &a->out->log_evidence));
    if (a->out->log_evidence == -INFINITY) {
        double none;
        CR_TRY(find_log(a, &none, &possible));
        CR_TRY(refuse_impossible(a, possible));
    }
    CR_TRY(cri_dynamic_name(a->cx, a->net, n, list, &a->out->about));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (list[k] == a->q->x[i]) place[i] = k;
    CR_TRY(cri_answer_name(a->cx, a->out, n, place));
done:
    return st;
}

/* --- all variables --------------------------------------------------------------------------- */

/* The numbers of the variables that are not observed, which the answer is about. */
static cr_status list_open(asked *a, size_t *out_n, size_t **out_list)
{
    cr_status st = CR_OK;
    size_t    numbers = a->slices * a->net->n, n = 0;
    size_t   *list = cr_scratch_index(&a->s, numbers), *place = cr_scratch_index(&a->s, numbers);
    CR_TRY(a->s.status);
    for (size_t i = 0; i < numbers; i++)
        if (a->code[i] >= CRI_CODE_WEIGHED) list[n++] = i;
    for (size_t i = 0; i < n; i++) place[i] = i;
    CR_TRY(cri_dynamic_name(a->cx, a->net, n, list, &a->out->about));
    CR_TRY(cri_answer_name(a->cx, a->out, n, place));
    *out_n = n;
    *out_list = list;
done:
    return st;
}

/* Marginals into the answer, where those of each slice begin. */
typedef struct all {
    const asked *a;
    size_t      *begin; /* [slices] */
} all;

static bool keep_open(void *arg, size_t t, const double *p)
{
    const all   *k = arg;
    const asked *a = k->a;
    double      *to = a->out->value + k->begin[t];
    for (size_t v = 0; v < a->net->n; v++) {
        size_t states = cr_network_states(a->net->first, v);
        if (a->code[t * a->net->n + v] < CRI_CODE_WEIGHED) continue;
        memcpy(to, p + a->offset[v], states * sizeof *p);
        to += states;
    }
    return true;
}

static cr_status answer_marginals(asked *a)
{
    cr_status st = CR_OK;
    size_t    n, *list, total = 0, possible;
    all       k = { .a = a, .begin = cr_scratch_index(&a->s, a->slices) };
    CR_TRY(a->s.status);
    CR_TRY(list_open(a, &n, &list));
    for (size_t t = 0, i = 0; t < a->slices; t++) {
        k.begin[t] = total;
        for (; i < n && list[i] / a->net->n == t; i++)
            total += cr_network_states(a->net->first, list[i] % a->net->n);
    }
    a->out->value = cr_alloc(a->cx, total, sizeof *a->out->value);
    if (!a->out->value) CR_TRY(CR_ENOMEM);
    a->out->values = total;
    CR_TRY(cri_interface_smooth(a->cx, a->h, &a->evidence, 0, a->slices - 1, keep_open, &k, NULL,
                                &a->out->log_evidence, &possible));
    if (possible < a->slices) CR_TRY(refuse_impossible(a, possible));
done:
    return st;
}

static cr_status answer_best(asked *a)
{
    cr_status st = CR_OK;
    size_t    n, *list, possible;
    uint32_t *state = cr_scratch_bytes(&a->s, a->slices * a->net->n, sizeof *state);
    CR_TRY(a->s.status);
    CR_TRY(list_open(a, &n, &list));
    CR_TRY(find_log(a, &a->out->log_evidence, &possible));
    if (possible < a->slices) CR_TRY(refuse_impossible(a, possible));
    CR_TRY(cri_interface_best(a->cx, a->h, &a->evidence, state, &a->out->log_joint, &possible));
    a->out->states = cr_alloc(a->cx, n, sizeof *a->out->states);
    if (!a->out->states) CR_TRY(CR_ENOMEM);
    a->out->n_states = n;
    a->out->rows = 1;
    for (size_t i = 0; i < n; i++) a->out->states[i] = state[list[i]];
    a->out->log_number = fmin(a->out->log_joint - a->out->log_evidence, 0);
    a->out->number = exp(a->out->log_number);
done:
    return st;
}

static cr_status answer_probability(asked *a)
{
    cr_status st = CR_OK;
    size_t    possible;
    double    with;
    CR_TRY(find_log(a, &a->out->log_evidence, &possible));
    if (possible < a->slices) CR_TRY(refuse_impossible(a, possible));
    for (size_t i = 0; i < a->q->event.n; i++) CR_TRY(add_event(a, &a->q->event.item[i]));
    CR_TRY(find_log(a, &with, &possible));
    a->out->log_number = fmin(with - a->out->log_evidence, 0);
    a->out->number = exp(a->out->log_number);
    CR_TRY(cri_dynamic_name(a->cx, a->net, 0, NULL, &a->out->about));
done:
    return st;
}

/* --- the question ---------------------------------------------------------------------------- */

cr_status cri_dynamic_slices_run(cr_ctx *cx, const cri_dynamic *net, size_t slices,
                                 const cr_question *q, const cr_findings *opt_more,
                                 cr_query_answer *out, bool *out_lost)
{
    cr_status       st = CR_OK;
    cr_query_answer answer = {
        .kind = q->kind, .exact = true, .upper = NAN, .method = "interface"
    };
    asked a = { .cx = cx, .s = cr_scratch_begin(cx), .net = net, .q = q, .slices = slices };
    a.out = &answer;
    a.offset = cr_scratch_index(&a.s, net->n);
    CR_TRY(a.s.status);
    for (size_t v = 0; v < net->n; v++) a.offset[v] = cri_states_before(net->first, v);
    CR_TRY(take_evidence(&a, opt_more));
    CR_TRY(cri_interface_new(cx, net, &a.h));
    switch (q->kind) {
    case CR_QUESTION_TABLE:
        CR_TRY(answer_table(&a));
        break;
    case CR_QUESTION_MARGINALS:
        CR_TRY(answer_marginals(&a));
        break;
    case CR_QUESTION_BEST:
        CR_TRY(answer_best(&a));
        break;
    default:
        CR_TRY(answer_probability(&a));
    }
    *out = answer;
    answer = (cr_query_answer){ 0 };
done:
    *out_lost = a.h && cri_interface_lost(a.h);
    cr_query_answer_free(cx, &answer);
    cri_interface_free(cx, a.h);
    cr_scratch_end(&a.s);
    return st;
}
