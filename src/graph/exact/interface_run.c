/* interface_run.c -- the steps of a slice, forwards, backwards and traced back. */
#include "interface_internal.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

enum { LARGE = 1 << 13 }; /* entries from which the general walk over tables pays (combine.h) */

/* --- products -------------------------------------------------------------------------------- */

/* out[s] += (or max=) the product of m tables along the last variable of a space. */
static inline void run_line(bool maximise, size_t m, const double *const *at, const size_t *stride,
                            size_t states, double *out, size_t out_stride)
{
    if (out_stride == 0) {
        double sum = 0;
        for (size_t s = 0; s < states; s++) {
            double x = at[0][s * stride[0]];
            for (size_t k = 1; k < m; k++) x *= at[k][s * stride[k]];
            sum = !maximise ? sum + x : x > sum ? x : sum;
        }
        *out = !maximise ? *out + sum : sum > *out ? sum : *out;
        return;
    }
    for (size_t s = 0; s < states; s++) {
        double x = at[0][s * stride[0]], *o = out + s * out_stride;
        for (size_t k = 1; k < m; k++) x *= at[k][s * stride[k]];
        *o = !maximise ? *o + x : x > *o ? x : *o;
    }
}

/* The loops above with the number of tables known when they are compiled. */
static void run_short(bool maximise, size_t m, const double *const *at, const size_t *stride,
                      size_t states, double *out, size_t out_stride)
{
    switch (m) {
    case 1:
        run_line(maximise, 1, at, stride, states, out, out_stride);
        break;
    case 2:
        run_line(maximise, 2, at, stride, states, out, out_stride);
        break;
    case 3:
        run_line(maximise, 3, at, stride, states, out, out_stride);
        break;
    default:
        run_line(maximise, m, at, stride, states, out, out_stride);
    }
}

enum { FEW = 16 }; /* steps have no more tables */

/* The same as cri_combine over a small space, without anything made beforehand. */
static void combine_small(const cri_space *space, bool maximise, size_t m, const cri_operand *in,
                          const cri_output *out)
{
    const double *at[FEW];
    size_t        stride[FEW], index[CRI_MOST_DIMS] = { 0 }, last = space->n - 1;
    double       *to = out->value;
    for (size_t k = 0; k < m; k++) {
        at[k] = in[k].value;
        stride[k] = in[k].stride[last];
    }
    for (;;) {
        size_t d = last;
        run_short(maximise, m, at, stride, space->states[last], to, out->stride[last]);
        for (; d > 0; d--) {
            size_t states = space->states[d - 1], back = states - 1;
            if (++index[d - 1] < states) break;
            index[d - 1] = 0;
            for (size_t k = 0; k < m; k++) at[k] -= back * in[k].stride[d - 1];
            to -= back * out->stride[d - 1];
        }
        if (d == 0) return;
        for (size_t k = 0; k < m; k++) at[k] += in[k].stride[d - 1];
        to += out->stride[d - 1];
    }
}

/* out = sum (or max) of the product; out->value has been cleared. */
static cr_status combine(cr_ctx *cx, const cri_space *space, bool maximise, size_t m,
                         const cri_operand *in, const cri_output *out)
{
    if (space->n == 0) {
        double x = 1;
        for (size_t k = 0; k < m; k++) x *= in[k].value[0];
        *out->value = x;
        return CR_OK;
    }
    if (m <= FEW && cri_space_size(space) < LARGE) {
        combine_small(space, maximise, m, in, out);
        return CR_OK;
    }
    if (cri_combine(cx, space, maximise ? CRI_MAX : CRI_SUM, m, in, 1, out, true, NULL))
        return CR_OK;
    cr_status st = cr_check_interrupt(cx);
    return st != CR_OK ? st : cri_fail_memory(cx, 0);
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
    bool open = code == CRI_CODE_OPEN || code == CRI_CODE_WEIGHED;
    h->key[id] = (unsigned char)(open                  ? CRI_SEEN_NOT
                                 : code & CRI_CODE_SET ? CRI_SEEN_SET
                                                       : CRI_SEEN_STATE);
    h->state[id] = open ? CR_NONE : code & ~CRI_CODE_SET;
}

/* The program of the key, which comes first then; the one that was used longest ago makes way. */
static cr_status find_program(cr_ctx *cx, cri_interface *h, bool first, cri_program **out)
{
    cri_program *p = NULL;
    size_t       i = 0;
    while (i < h->programs && (h->program[i]->first != first ||
                               memcmp(h->program[i]->key, h->key, 2 * h->n) != 0))
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
        see(h, h->member[i], e->code[(t - 1) * h->n + h->member[i]]);
        if (h->key[h->member[i]] == CRI_SEEN_SET) h->key[h->member[i]] = CRI_SEEN_STATE;
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
        return cr_network_table(net, p->first ? x->index : h->n + x->index).value + find_place(h, x);
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
        cri_step  *step = &p->step[i];
        bool       last = step->last;
        double    *to = last ? out : step->value;
        cri_output o = step->out;
        memset(to, 0, step->size * sizeof *to);
        o.value = last ? to + find_place(h, &step->place) : to;
        for (size_t k = 0; k < step->inputs; k++)
            step->in[k].value = find_input(h, p, &step->input[k], before);
        CR_TRY(combine(cx, &step->space, maximise, step->inputs, step->in, &o));
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
        return NULL;
    }
}

/* d Z / d (input k): the derivative by the output, times all other inputs. */
static cr_status send_back(cr_ctx *cx, cri_interface *h, cri_step *step, size_t k,
                           const double *adjoint, double *to, size_t size)
{
    cri_operand mine = step->in[k];
    cri_output  o = { .value = to };
    memset(to, 0, size * sizeof *to);
    if (step->input[k].from == CRI_FROM_MESSAGE) o.value += find_place(h, &step->input[k]);
    memcpy(o.stride, mine.stride, sizeof o.stride);
    step->in[k].value = adjoint;
    memcpy(step->in[k].stride, step->out.stride, sizeof mine.stride);
    cr_status st = combine(cx, &step->space, false, step->inputs, step->in, &o);
    step->in[k] = mine;
    return st;
}

/* P(v | e) from the derivatives by its likelihoods. */
static void set_marginal(cri_interface *h, size_t v)
{
    size_t  from = h->offset[v], n = h->offset[v + 1] - from;
    double *p = h->marginal + from, sum = 0;
    if (h->key[h->n + v] != CRI_SEEN_NOT) {
        for (size_t s = 0; s < n; s++) p[s] = s == h->state[h->n + v];
        return;
    }
    for (size_t s = 0; s < n; s++) sum += p[s] = h->likelihood[from + s] * h->derivative[from + s];
    for (size_t s = 0; s < n && sum > 0; s++) p[s] /= sum;
}

cr_status cri_slice_backward(cr_ctx *cx, cri_interface *h, cri_program *p, const double *before,
                             double *beta, bool marginals, double *opt_beta_before)
{
    cr_status st = CR_OK;
    for (size_t i = p->steps; i-- > 0;) {
        cri_step *step = &p->step[i];
        bool      last = step->last;
        double   *adjoint = last ? beta : step->adjoint, *to;
        size_t    size;
        if (!marginals && !step->carries) continue;
        scale(adjoint, step->size);
        for (size_t k = 0; k < step->inputs; k++)
            step->in[k].value = find_input(h, p, &step->input[k], before);
        for (size_t k = 0; k < step->inputs; k++) {
            to = find_adjoint(h, p, &step->input[k], marginals, opt_beta_before, &size);
            if (!to) continue;
            CR_TRY(send_back(cx, h, step, k,
                             last ? adjoint + find_place(h, &step->place) : adjoint, to, size));
        }
    }
    for (size_t v = 0; v < h->n && marginals; v++) set_marginal(h, v);
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
