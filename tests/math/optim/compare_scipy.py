#!/usr/bin/python3
"""compare_scipy.py LIBCREDENCE.so [--header] -- evaluations of lbfgs beside SciPy's L-BFGS-B.

Both minimise the functions of mgh.h, free and in boxes, from the same starts with ten pairs and the
same tolerances.  Problems count where both reach the same f.  --header writes scipy_evaluations.h
to the standard output instead of the table.  Needs scipy and a C compiler; the library must be built
without sanitizers.  Ends with 1 when the median of the ratios, or the ratio of the sums, exceeds 1.2;
with 77 when scipy is not there."""
import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy
    from scipy.optimize import minimize
except ImportError:
    print("compare_scipy: skipped, scipy is not installed")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
F_TOLERANCE, G_TOLERANCE, LIMIT = 1e-12, 1e-6, 1.2

# Both optimisers through one C interface: the problem by number, in a box or not.
BRIDGE = r"""
#include "credence/math.h"
#include "mgh.h"
#include "boxes.h"

size_t count(void) { return MGH_COUNT; }
size_t size(size_t k) { return mgh_problems[k].n; }
const char *name(size_t k) { return mgh_problems[k].name; }
const double *start(size_t k) { return mgh_problems[k].start; }
double value(size_t k, const double *x, double *g) { return mgh_value(&mgh_problems[k], x, g); }
void box(size_t k, double *lower, double *upper) { mgh_box_of(&mgh_problems[k], lower, upper); }

static cr_status objective(void *p, const double *x, size_t n, double *f, double *g)
{
    (void)n;
    *f = mgh_value(p, x, g);
    return CR_OK;
}

size_t ours(size_t k, double *lower, double *upper, double f_tolerance, double g_tolerance, double *f)
{
    cr_ctx *cx;
    cr_problem p = { .n = mgh_problems[k].n, .objective = objective, .lower = lower, .upper = upper,
                     .user = (void *)&mgh_problems[k] };
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report r = { 0 };
    double x[MGH_MOST_N];
    o.max_iter = 15000;
    o.f_tolerance = f_tolerance;
    o.gradient_tolerance = g_tolerance;
    memcpy(x, mgh_problems[k].start, sizeof x);
    cr_ctx_new(NULL, &cx);
    cr_minimize(cx, &p, &o, x, &r);
    cr_ctx_free(cx);
    *f = r.f;
    return r.f_evaluations;
}
"""


def load(library, folder):
    source, target = folder / "bridge.c", folder / "bridge.so"
    source.write_text(BRIDGE)
    subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", f"-I{ROOT / 'include'}", f"-I{HERE}",
                    str(source), "-o", str(target), library, f"-Wl,-rpath,{pathlib.Path(library).parent}",
                    "-lm"], check=True)
    bridge = ctypes.CDLL(str(target))
    vector = np.ctypeslib.ndpointer(np.float64, flags="C")
    bridge.value.restype, bridge.value.argtypes = ctypes.c_double, [ctypes.c_size_t, vector, vector]
    bridge.name.restype, bridge.start.restype = ctypes.c_char_p, ctypes.POINTER(ctypes.c_double)
    bridge.box.argtypes = [ctypes.c_size_t, vector, vector]
    bridge.ours.restype = ctypes.c_size_t
    bridge.ours.argtypes = [ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double,
                            ctypes.c_double, ctypes.POINTER(ctypes.c_double)]
    return bridge


def run(bridge, k, boxed):
    n = bridge.size(k)
    lower, upper, f = np.full(n, -np.inf), np.full(n, np.inf), ctypes.c_double()
    if boxed:
        bridge.box(k, lower, upper)
    ours = bridge.ours(k, lower.ctypes.data, upper.ctypes.data, F_TOLERANCE, G_TOLERANCE, f)

    def objective(x):
        g = np.zeros(n)
        return bridge.value(k, np.ascontiguousarray(x), g), g

    start = np.clip(np.array(bridge.start(k)[:n]), lower, upper)
    theirs = minimize(objective, start, jac=True, method="L-BFGS-B",
                      bounds=list(zip(lower, upper)) if boxed else None,
                      options={"maxcor": 10, "ftol": F_TOLERANCE, "gtol": G_TOLERANCE,
                               "maxiter": 15000, "maxfun": 100000})
    return ours, f.value, theirs.nfev, float(theirs.fun)


def main():
    with tempfile.TemporaryDirectory() as folder:
        bridge = load(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(folder))
        rows = [(bridge.name(k).decode() + (" in a box" if boxed else ""), *run(bridge, k, boxed))
                for boxed in (False, True) for k in range(bridge.count())]

    if "--header" in sys.argv:
        print(f"/* scipy_evaluations.h -- evaluations and final f of L-BFGS-B in SciPy {scipy.__version__} on "
              f"mgh.h,\n * free and in the boxes of boxes.h; f tolerance {F_TOLERANCE:g}, gradient tolerance "
              f"{G_TOLERANCE:g}.  Written by\n * compare_scipy.py --header. */\n"
              "static const struct { const char *name; unsigned evaluations; double f; } "
              "scipy_evaluations[] = {")
        for name, _, _, evaluations, f in rows:
            print(f'    {{ "{name}", {evaluations}, {f!r} }},')
        print("};")
        return

    same = [abs(f - g) <= 1e-6 * max(1e-3, abs(g)) for _, _, f, _, g in rows]
    for (name, ours, f, theirs, g), equal in zip(rows, same):
        print(f"{name:32} {ours:6} {theirs:6} {ours / theirs:6.2f}  {f:<22.15g} {g:<22.15g}"
              f"{'' if equal else '  another f: not counted'}")
    counted = [(o, t) for (_, o, _, t, _), equal in zip(rows, same) if equal]
    median = statistics.median(o / t for o, t in counted)
    total = sum(o for o, _ in counted) / sum(t for _, t in counted)
    print(f"{len(counted)} of {len(rows)} problems: evaluations {sum(o for o, _ in counted)} to "
          f"{sum(t for _, t in counted)} of SciPy {scipy.__version__}: median ratio {median:.3f}, total {total:.3f}")
    sys.exit(median > LIMIT or total > LIMIT)


main()
