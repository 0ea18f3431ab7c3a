/* stationary.c -- see stationary.h. */
#include "stationary.h"

#include <math.h>
#include <string.h>

/* Marks what can be reached from `from` along P, or against it: order [k] gets the states as they are left behind (the
 * last first reached).  at [k] is where each state of the stack goes on. */
static size_t visit(const double *P, size_t k, double least, bool against, size_t from,
                    size_t *class_of, size_t mark, size_t unset, size_t *stack, size_t *at,
                    size_t *order, size_t n)
{
    size_t depth = 0;
    stack[depth++] = from;
    at[from] = 0;
    class_of[from] = mark;
    while (depth > 0) {
        size_t i = stack[depth - 1], j = at[i];
        while (j < k && !(class_of[j] == unset && (against ? P[j * k + i] : P[i * k + j]) > least))
            j++;
        at[i] = j + 1;
        if (j < k) {
            class_of[j] = mark;
            at[j] = 0;
            stack[depth++] = j;
        } else {
            depth--;
            if (order) order[n++] = i;
        }
    }
    return n;
}

size_t cri_communicating_classes(const double *P, size_t k, double least, size_t *class_of,
                                 bool *closed, size_t *work)
{
    size_t *order = work, *stack = order + k, *at = stack + k, *name = at + k, n = 0, classes = 0;
    enum { UNSEEN = 0, SEEN = 1 };
    for (size_t i = 0; i < k; i++) class_of[i] = UNSEEN;
    for (size_t i = 0; i < k; i++)
        if (class_of[i] == UNSEEN)
            n = visit(P, k, least, false, i, class_of, SEEN, UNSEEN, stack, at, order, n);
    for (size_t i = 0; i < k; i++) class_of[i] = SIZE_MAX;
    for (size_t o = k; o-- > 0;) /* against the arrows, the last first: one class at a time */
        if (class_of[order[o]] == SIZE_MAX)
            visit(P, k, least, true, order[o], class_of, classes++, SIZE_MAX, stack, at, NULL, 0);
    size_t next = 0;
    for (size_t c = 0; c < classes; c++) name[c] = SIZE_MAX;
    for (size_t i = 0; i < k; i++) {
        if (name[class_of[i]] == SIZE_MAX) name[class_of[i]] = next++;
        class_of[i] = name[class_of[i]];
    }
    for (size_t c = 0; c < classes; c++) closed[c] = true;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            if (P[i * k + j] > least && class_of[i] != class_of[j]) closed[class_of[i]] = false;
    return classes;
}

bool cri_stationary(const double *P, size_t k, double *Q, size_t *index, double *pi)
{
    size_t *class_of = index, *work = index + k, *member = work + 4 * k, n = 0, open = 0, its = 0;
    bool   *closed = (bool *)(void *)Q; /* before Q is needed */
    size_t  classes = cri_communicating_classes(P, k, 0, class_of, closed, work);
    for (size_t c = 0; c < classes; c++) {
        if (closed[c]) its = c;
        open += closed[c];
    }
    for (size_t i = 0; i < k; i++) pi[i] = open == 1 ? 0 : NAN;
    if (open != 1) return false;
    for (size_t i = 0; i < k; i++)
        if (class_of[i] == its) member[n++] = i;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) Q[a * n + b] = P[member[a] * k + member[b]];
    for (size_t m = n; m-- > 1;) { /* state m is passed over */
        double leave = 0;
        for (size_t b = 0; b < m; b++) leave += Q[m * n + b];
        for (size_t a = 0; a < m; a++) Q[a * n + m] /= leave;
        for (size_t a = 0; a < m; a++)
            for (size_t b = 0; b < m; b++) Q[a * n + b] += Q[a * n + m] * Q[m * n + b];
    }
    double sum = pi[member[0]] = 1;
    for (size_t m = 1; m < n; m++) {
        double v = 0;
        for (size_t a = 0; a < m; a++) v += pi[member[a]] * Q[a * n + m];
        pi[member[m]] = v;
        sum += v;
    }
    for (size_t a = 0; a < n; a++) pi[member[a]] /= sum;
    return true;
}
