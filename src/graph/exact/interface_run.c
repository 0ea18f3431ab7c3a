/* interface_run.c -- the steps of a slice, forwards, backwards and traced back. */
#include "interface_internal.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

/* --- products -------------------------------------------------------------------------------- */

/* out[to[e]] += (or max=) the product of m tables, each at its own places. */
static inline void run_block(bool maximise, size_t m, const double *const *in,
                             const uint32_t *const *at, size_t n, double *out, const uint32_t *to)
{
    for (size_t e = 0; e < n; e++) {
        double x = in[0][at[0][e]], *o = out + to[e];
        for (size_t k = 1; k < m; k++) x *= in[k][at[k][e]];
        *o = !maximise ? *o + x : x > *o ? x : *o;
    }
}

/* The same with the number of tables known when it is compiled. */
static void run_few(bool maximise, size_t m, const double *const *in, const uint32_t *const *at,
                    size_t n, double *out, const uint32_t *to)
{
    switch (m) {
    case 1:
        run_block(maximise, 1, in, at, n, out, to);
        break;
    case 2:
        run_block(maximise, 2, in, at, n, out, to);
        break;
    case 3:
        run_block(maximise, 3, in, at, n, out, to);
        break;
    default:
        run_block(maximise, m, in, at, n, out, to);
    }
}

/* A product that a step computes: its own, or the derivative by one of its inputs. */
typedef struct product {
    const cri_step *step;
    cri_operand    *in; /* [step->inputs] */
    cri_output      out;
    const uint32_t *at[CRI_MOST_INPUTS], *to; /* the places of these within a block */
} product;

/* Block after block; the variables before the block go round like the digits of a number. */
static void walk_small(const product *p, bool maximise)
{
    const cri_space *space = &p->step->space;
    const double    *in[CRI_MOST_INPUTS];
    size_t           m = p->step->inputs, outer = space->n - p->step->inner;
    size_t           index[CRI_MOST_DIMS] = { 0 };
    double          *to = p->out.value;
    for (size_t k = 0; k < m; k++) in[k] = p->in[k].value;
    for (;;) {
        size_t d = outer;
        run_few(maximise, m, in, p->at, p->step->block, to, p->to);
        for (; d > 0; d--) {
            size_t states = space->states[d - 1], back = states - 1;
            if (++index[d - 1] < states) break;
            index[d - 1] = 0;
            for (size_t k = 0; k < m; k++) in[k] -= back * p->in[k].stride[d - 1];
            to -= back * p->out.stride[d - 1];
        }
        if (d == 0) return;
        for (size_t k = 0; k < m; k++) in[k] += p->in[k].stride[d - 1];
        to += p->out.stride[d - 1];
    }
}

/* out = sum (or max) of the product; its memory has been cleared. */
static cr_status run_product(cr_ctx *cx, cri_interface *h, const product *p, bool maximise)
{
    const cri_step *step = p->step;
    if (step->space.n == 0) {
        double x = 1;
        for (size_t k = 0; k < step->inputs; k++) x *= p->in[k].value[0];
        *p->out.value = x;
        return CR_OK;
    }
    if (step->at) {
        walk_small(p, maximise);
        return CR_OK;
    }
    bool lost = false;
    bool fine = cri_combine(cx, &step->space, maximise ? CRI_MAX : CRI_SUM, step->inputs, p->in, 1,
                            &p->out, true, &lost);
    h->lost |= lost;
    if (fine) return CR_OK;
    cr_status st = cr_check_interrupt(cx);
    return st != CR_OK ? st : cri_fail_memory(cx, 0);
}

/* The product of the step itself. */
static product whole_product(cri_step *step)
{
    product p = { .step = step, .in = step->in, .out = step->out };
    for (size_t k = 0; k < step->inputs && step->at; k++) p.at[k] = step->at[k];
    p.to = step->at ? step->at[step->inputs] : NULL;
    return p;
}

/* --- a slice --------------------------------------------------------------------------------- */

static const double *weight_of(const cri_slice_evidence *e, size_t number)
{
    size_t low = 0, high = e->weights;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (e->weight[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return e->weight[low].weight;
}

/* What is seen of variable v, whose code this is, under the id of its slice. */
static void see(cri_interface *h, size_t id, uint32_t code)
{
    cri_seen seen = code == CRI_CODE_OPEN      ? CRI_SEEN_NOT
                    : code == CRI_CODE_WEIGHED ? CRI_SEEN_WEIGHED
                    : code & CRI_CODE_SET      ? CRI_SEEN_SET
                                               : CRI_SEEN_STATE;
    h->key[id] = (unsigned char)seen;
    h->state[id] = seen < CRI_SEEN_STATE ? CR_NONE : code & ~CRI_CODE_SET;
}

/* The program of the key, which comes first then; the one that was used longest ago makes way. */
static cr_status find_program(cr_ctx *cx, cri_interface *h, bool first, cri_program **out)
{
    cri_program *p = NULL;
    size_t       i = 0;
    while (i < h->programs &&
           (h->program[i]->first != first || memcmp(h->program[i]->key, h->key, 2 * h->n) != 0))
        i++;
    if (i == h->programs) {
        cr_status st = cri_program_new(cx, h, first, h->key, false, &p);
        if (st != CR_OK) return st;
        if (h->programs < CRI_MOST_PROGRAMS)
            h->programs++;
        else
            cri_program_free(cx, h->program[--i]);
    } else {
        p = h->program[i];
    }
    memmove(h->program + 1, h->program, i * sizeof *h->program);
    *out = h->program[0] = p;
    return CR_OK;
}

cr_status cri_slice_open(cr_ctx *cx, cri_interface *h, const cri_slice_evidence *e, size_t t,
                         cri_program **out)
{
    const uint32_t *code = e->code + t * h->n;
    h->blank = true;
    for (size_t v = 0; v < h->n; v++) {
        h->key[v] = CRI_SEEN_NOT;
        h->blank &= code[v] == CRI_CODE_OPEN;
        see(h, h->n + v, code[v]);
        double       *lambda = h->likelihood + h->offset[v];
        const double *w = code[v] == CRI_CODE_WEIGHED ? weight_of(e, t * h->n + v) : NULL;
        for (size_t s = 0; s < h->offset[v + 1] - h->offset[v]; s++) lambda[s] = w ? w[s] : 1;
    }
    for (size_t i = 0; t > 0 && i < h->members; i++) {
        size_t v = h->member[i];
        see(h, v, e->code[(t - 1) * h->n + v]);
        h->key[v] = h->state[v] == CR_NONE ? CRI_SEEN_NOT : CRI_SEEN_STATE;
    }
    return find_program(cx, h, t == 0, out);
}

/* Where the observed states of a table's scope put it. */
static size_t find_place(const cri_interface *h, const cri_input *x)
{
    size_t place = 0;
    for (size_t i = 0; i < x->fixed; i++) place += h->state[x->id[i]] * x->stride[i];
    return place;
}

static const double *find_input(const cri_interface *h, const cri_program *p, const cri_input *x,
                                const double *before)
{
    const cr_network *net = p->first ? h->first : h->next;
    switch (x->from) {
    case CRI_FROM_TABLE:
        return cr_network_table(net, p->first ? x->index : h->n + x->index).value +
               find_place(h, x);
    case CRI_FROM_MESSAGE:
        return before + find_place(h, x);
    case CRI_FROM_LIKELIHOOD:
        return h->likelihood + h->offset[x->index];
    default:
        return p->step[x->index].value;
    }
}

/* Divides by the largest value; its logarithm. */
static double scale(double *x, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] > largest) largest = x[i];
    if (!(largest > 0)) return -INFINITY;
    for (size_t i = 0; i < n; i++) x[i] /= largest;
    return log(largest);
}

cr_status cri_slice_forward(cr_ctx *cx, cri_interface *h, cri_program *p, bool maximise,
                            const double *before, double *out, double *out_log)
{
    cr_status st = CR_OK;
    double    total = 0, sum = 0;
    *out_log = -INFINITY;
    for (size_t i = 0; i < p->steps; i++) {
        cri_step *step = &p->step[i];
        bool      last = step->last;
        double   *to = last ? out : step->value;
        product   x = whole_product(step);
        memset(to, 0, step->size * sizeof *to);
        x.out.value = last ? to + find_place(h, &step->place) : to;
        for (size_t k = 0; k < step->inputs; k++)
            step->in[k].value = find_input(h, p, &step->input[k], before);
        CR_TRY(run_product(cx, h, &x, maximise));
        total += scale(to, step->size);
        if (total == -INFINITY) goto done;
    }
    for (size_t i = 0; i < h->size; i++) sum += out[i];
    for (size_t i = 0; !maximise && i < h->size; i++) out[i] /= sum;
    *out_log = maximise ? total : h->blank ? 0 : total + log(sum);
done:
    return st;
}

/* --- backwards ------------------------------------------------------------------------------- */

/* Where the family of a table is counted; NULL: nowhere. */
static double *find_sums(const cri_interface *h, const cri_program *p, const cri_input *x)
{
    if (!h->sums || x->from != CRI_FROM_TABLE) return NULL;
    return (p->first ? h->sums->first : h->sums->next)[x->index];
}

static cr_table_view find_table(const cri_interface *h, const cri_program *p, const cri_input *x)
{
    return cr_network_table(p->first ? h->first : h->next, p->first ? x->index : h->n + x->index);
}

/* P(x, parents | e) from the derivatives by the entries of the table. */
static void add_family(cri_interface *h, cr_table_view t, double *sums)
{
    double total = 0;
    for (size_t i = 0; i < t.size; i++) total += h->family[i] *= t.value[i];
    if (!(total > 0)) h->lost = true;
    for (size_t i = 0; i < t.size && total > 0; i++) sums[i] += h->family[i] / total;
}

/* Where the derivative by an input goes, and how much that is; NULL: it is not wanted. */
static double *find_adjoint(cri_interface *h, cri_program *p, const cri_input *x, bool marginals,
                            double *opt_beta_before, size_t *out_size)
{
    switch (x->from) {
    case CRI_FROM_MESSAGE:
        *out_size = h->size;
        return opt_beta_before;
    case CRI_FROM_LIKELIHOOD:
        *out_size = h->offset[x->index + 1] - h->offset[x->index];
        return marginals ? h->derivative + h->offset[x->index] : NULL;
    case CRI_FROM_STEP:
        *out_size = p->step[x->index].size;
        return marginals || p->step[x->index].carries ? p->step[x->index].adjoint : NULL;
    default:
        *out_size = find_table(h, p, x).size;
        return find_sums(h, p, x) ? h->family : NULL;
    }
}

/* d Z / d (input k): the derivative by the output, times all other inputs, added to an
 * output with these strides. */
static cr_status send_to(cr_ctx *cx, cri_interface *h, cri_step *step, size_t k,
                         const double *adjoint, const size_t *stride, double *to)
{
    cri_operand mine = step->in[k];
    product     x = whole_product(step);
    x.out.value = to;
    memcpy(x.out.stride, stride, sizeof mine.stride);
    step->in[k].value = adjoint;
    memcpy(step->in[k].stride, step->out.stride, sizeof mine.stride);
    if (step->at) {
        x.to = x.at[k];
        x.at[k] = step->at[step->inputs];
    }
    cr_status st = run_product(cx, h, &x, false);
    step->in[k] = mine;
    return st;
}

static cr_status send_back(cr_ctx *cx, cri_interface *h, cri_step *step, size_t k,
                           const double *adjoint, double *to, size_t size)
{
    bool placed = step->input[k].from == CRI_FROM_MESSAGE || step->input[k].from == CRI_FROM_TABLE;
    memset(to, 0, size * sizeof *to);
    return send_to(cx, h, step, k, adjoint, step->in[k].stride,
                   placed ? to + find_place(h, &step->input[k]) : to);
}

/* The same for a table in a large space, whose outputs have to be in the order of the space: by way of one that is. */
static cr_status send_ordered(cr_ctx *cx, cri_interface *h, cri_step *step, size_t k,
                              const double *adjoint, double *to, size_t size)
{
    const cri_space *space = &step->space;
    const size_t    *place = step->in[k].stride;
    double          *ordered = h->family + h->entries;
    size_t           stride[CRI_MOST_DIMS] = { 0 }, entries = 1;
    for (size_t d = space->n; d-- > 0;) {
        if (place[d] == 0) continue;
        stride[d] = entries;
        entries *= space->states[d];
    }
    memset(ordered, 0, entries * sizeof *ordered);
    cr_status st = send_to(cx, h, step, k, adjoint, stride, ordered);
    if (st != CR_OK) return st;
    memset(to, 0, size * sizeof *to);
    to += find_place(h, &step->input[k]);
    for (size_t i = 0; i < entries; i++) {
        size_t at = 0;
        for (size_t d = 0; d < space->n; d++)
            if (place[d] > 0) at += i / stride[d] % space->states[d] * place[d];
        to[at] = ordered[i];
    }
    return CR_OK;
}

static void normalise(double *p, size_t n)
{
    double sum = 0;
    for (size_t s = 0; s < n; s++) sum += p[s];
    for (size_t s = 0; s < n && sum > 0; s++) p[s] /= sum;
}

/* P(v | e) of what is observed, or from the derivatives by its likelihoods. */
static void set_marginal(cri_interface *h, size_t v)
{
    size_t  from = h->offset[v], n = h->offset[v + 1] - from, id = h->n + v;
    double *p = h->marginal + from;
    for (size_t s = 0; s < n; s++)
        p[s] = h->key[id] < CRI_SEEN_STATE ? h->likelihood[from + s] * h->derivative[from + s]
                                           : s == h->state[id];
    normalise(p, n);
}

/* Of all variables of the interface, from P(I | e), proportional to alpha beta. */
static void set_members(cri_interface *h, const double *alpha, const double *beta)
{
    size_t inner = 1;
    for (size_t i = h->members; i-- > 0;) {
        size_t  from = h->offset[h->member[i]], n = h->offset[h->member[i] + 1] - from;
        double *p = h->marginal + from;
        for (size_t s = 0; s < n; s++) p[s] = 0;
        for (size_t block = 0; block < h->size; block += n * inner)
            for (size_t s = 0; s < n; s++)
                for (size_t k = block + s * inner; k < block + (s + 1) * inner; k++)
                    p[s] += alpha[k] * beta[k];
        normalise(p, n);
        inner *= n;
    }
}

cr_status cri_slice_backward(cr_ctx *cx, cri_interface *h, cri_program *p, const double *before,
                             const double *alpha, double *beta, bool marginals,
                             double *opt_beta_before)
{
    cr_status st = CR_OK;
    scale(beta, h->size);
    for (size_t i = p->steps; i-- > 0;) {
        cri_step *step = &p->step[i];
        bool      last = step->last;
        double   *adjoint = last ? beta : step->adjoint, *to;
        size_t    size;
        if (!marginals && !step->carries) continue;
        if (!last) scale(adjoint, step->size);
        for (size_t k = 0; k < step->inputs; k++)
            step->in[k].value = find_input(h, p, &step->input[k], before);
        for (size_t k = 0; k < step->inputs; k++) {
            const cri_input *x = &step->input[k];
            double          *sums = find_sums(h, p, x);
            if (sums && x->fixed == find_table(h, p, x).n) { /* all of the family is observed */
                sums[find_place(h, x)] += 1;
                continue;
            }
            to = find_adjoint(h, p, x, marginals, opt_beta_before, &size);
            if (!to) continue;
            bool ordered = sums && !step->at && step->space.n > 0;
            CR_TRY((ordered ? send_ordered : send_back)(
                cx, h, step, k, last ? adjoint + find_place(h, &step->place) : adjoint, to, size));
            if (sums) add_family(h, find_table(h, p, x), sums);
        }
    }
    for (size_t v = 0; v < h->n && marginals; v++) set_marginal(h, v);
    if (marginals) set_members(h, alpha, beta);
done:
    return st;
}

/* --- the best path --------------------------------------------------------------------------- */

/* The product of a step's tables where all its variables have states. */
static double value_at(const cri_interface *h, const cri_step *step)
{
    double x = 1;
    for (size_t k = 0; k < step->inputs; k++) {
        size_t place = 0;
        for (size_t d = 0; d < step->space.n; d++)
            place += step->in[k].stride[d] * h->state[step->space.var[d]];
        x *= step->in[k].value[place];
    }
    return x;
}

void cri_slice_trace(cri_interface *h, cri_program *p, const double *before)
{
    for (size_t i = p->steps; i-- > 0;) {
        cri_step *step = &p->step[i];
        size_t    id = step->eliminated, best = 0;
        double    most = -1;
        if (id == CR_NONE) continue;
        for (size_t k = 0; k < step->inputs; k++)
            step->in[k].value = find_input(h, p, &step->input[k], before);
        for (size_t s = 0; s < cr_network_states(h->first, id % h->n); s++) {
            h->state[id] = s;
            double x = value_at(h, step);
            if (x > most) most = x, best = s;
        }
        h->state[id] = best;
    }
}
