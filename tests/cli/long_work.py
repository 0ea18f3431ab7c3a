"""Commands that would work for seconds, and the data that they need: every verb, every model, every method.

`make_data(folder)` writes the data, from fixed seeds; `make_models(program, folder)` fits what PREPARED names;
FEW and MANY are the commands, as one would type them there: a dozen, and all the others."""
import json
import random
import shlex
import subprocess


# --- tables

def rows_of(rng, n, numbers):
    """Columns x1.., then the usual ones: a count, a category of many levels, classes, a target that bends.  The numbers
    are drawn from a stock of them, which is faster."""
    stock = [(v, f"{v:.5f}") for v in (rng.gauss(0, 1) for _ in range(min(20000, n * numbers)))]
    for _ in range(n):
        x, texts = zip(*rng.choices(stock, k=numbers))
        signal = x[0] - x[1] + (x[0] > 0.5) * x[-1]
        noise = rng.gauss(0, 1)
        yield (*texts, str(min(9, int(rng.expovariate(0.6)))), f"l{int(rng.random() ** 2 * 200)}",
               "abc"[min(2, max(0, int(signal + noise + 1.5)))], "uv"[signal + noise > 0], f"{signal + noise:.5f}")


def write_table(path, rng, n, numbers, copies=1):
    head = ",".join([*(f"x{i + 1}" for i in range(numbers)), "count", "level", "kind", "side", "y"]) + "\n"
    body = "".join(",".join(row) + "\n" for row in rows_of(rng, n, numbers))
    with open(path, "w") as f:
        f.write(head)
        for _ in range(copies):
            f.write(body)


# --- networks

def spin_glass(side, rng):
    """A grid of two-valued variables whose neighbours want to agree or to differ."""
    def edges():
        for i in range(side):
            for j in range(side):
                yield from ([(i * side + j, i * side + j + 1)] if j + 1 < side else [])
                yield from ([(i * side + j, i * side + j + side)] if i + 1 < side else [])
    pairs = list(edges())
    text = [f"MARKOV\n{side * side}\n{' '.join(['2'] * side * side)}\n{len(pairs)}\n"]
    text += [f"2 {a} {b}\n" for a, b in pairs]
    for _ in pairs:
        strong = 2.718281828 ** rng.gauss(0, 1.2)
        text.append(f"\n4\n{strong:.6f} {1 / strong:.6f} {1 / strong:.6f} {strong:.6f}\n")
    return "".join(text)


def lattice(side, rng):
    """A Bayesian network in which each variable has its left and upper neighbour for parents."""
    text = ["network lattice { }\n"]
    for i in range(side):
        for j in range(side):
            text.append(f"variable v{i}_{j} {{ type discrete [2] {{ no, yes }}; }}\n")
    for i in range(side):
        for j in range(side):
            parents = [f"v{i - 1}_{j}"] * (i > 0) + [f"v{i}_{j - 1}"] * (j > 0)
            text.append(f"probability ( v{i}_{j}{' | ' if parents else ''}{', '.join(parents)} ) {{\n")
            for row in range(1 << len(parents)):
                p = rng.betavariate(0.7, 0.7) * 0.98 + 0.01
                given = ", ".join("yes" if row >> k & 1 else "no" for k in range(len(parents)))
                text.append(f"  {'(' + given + ')' if parents else 'table'} {p:.6f}, {1 - p:.6f};\n")
            text.append("}\n")
    return "".join(text)


def chains(n, rng):
    """Hidden chains that drive their neighbours from slice to slice, and a reading of each."""
    def rows(k):
        return [[p, 1 - p] for p in (rng.uniform(0.1, 0.9) for _ in range(k))]
    hidden = {f"h{i}": {"states": 2, "initial": {"table": [0.5, 0.5]}, "table": rows(4),
                        "parents": [f"h{i}[-1]", f"h{(i + 1) % n}[-1]"]} for i in range(n)}
    seen = {f"y{i}": {"states": 2, "parents": [f"h{i}"], "table": rows(2)} for i in range(n)}
    return json.dumps({"network": "bayes", "slices": 2, "variables": hidden | seen})


def image(side, rng):
    """Stripes with a fifth of the pixels wrong."""
    pixels = bytes(255 * (((i // 9 + j // 13) % 2) ^ (rng.random() < 0.2)) for i in range(side) for j in range(side))
    return b"P5\n%d %d\n255\n" % (side, side) + pixels


def make_data(folder):
    rng = random.Random(1)
    write_table(folder / "tall.csv", rng, 40000, 4)
    write_table(folder / "long.csv", rng, 20000, 4, copies=40)
    write_table(folder / "broad.csv", rng, 3000, 60)
    write_table(folder / "wide.csv", rng, 100, 3000)
    write_table(folder / "mid.csv", rng, 3000, 3)
    write_table(folder / "few.csv", rng, 800, 3)
    (folder / "glass.uai").write_text(spin_glass(60, rng))
    (folder / "grid.uai").write_text(spin_glass(19, rng))
    (folder / "lattice.bif").write_text(lattice(19, rng))
    (folder / "small.bif").write_text(lattice(5, rng))
    (folder / "large.bif").write_text(lattice(45, rng))
    (folder / "cases.csv").write_text("v0_0,v3_4\n" + "yes,no\nno,yes\n" * 2000)
    (folder / "chains.json").write_text(chains(6, rng))
    (folder / "slices.csv").write_text("y0,y3\n" + "0,1\n1,\n1,0\n" * 20000)
    (folder / "noisy.pgm").write_bytes(image(700, rng))


# --- commands

PREPARED = """
linear tall.csv --target y --features x*
gp few.csv --target y --features x* --optimize none
gp few.csv --target y --features x1 --optimize none --approx exact -o gp1.cred
gp-classify few.csv --target side --features x* --optimize none
gp-online few.csv --target y --features x* --optimize none
knn tall.csv --target y --features x*
nadaraya-watson few.csv --target y --features x* --bandwidth 0.5
naive-bayes tall.csv --target kind --numbers kernel
kernel-ridge few.csv --target y --features x* --lambda 1
logistic tall.csv --target kind --features x*
tree tall.csv --target kind --features x* --prune none
adaboost few.csv --target kind --features x*
mvn broad.csv --features x*
normal tall.csv --features x1
von-mises tall.csv --features x1
dirichlet-categorical tall.csv --features level
lda tall.csv --target level --features x*
bayes-logistic tall.csv --target side --features x*
spline tall.csv --target y --features x1
fisher tall.csv --target kind --features x*
kernel-pca few.csv --features x* --kernel rbf --components 5
crf mid.csv --target level --features x* --max-iter 2
svm mid.csv --target kind --features x*
"""

FEW = """
fit linear tall.csv --target y
fit gp mid.csv --target y --features x*
fit lda wide.csv --target kind --features x*
fit kernel-pca mid.csv --features x* --kernel rbf
fit kmeans long.csv --features x* --k 30:60
fit kmeans tall.csv --features x* --k 40 --scores
fit logistic tall.csv --target kind
fit robust tall.csv --target y --method lad
fit svm tall.csv --target kind --features x*
fit rvm mid.csv --target y --features x*
cv knn tall.csv --target y --features x*
tune ridge tall.csv --target y --over lambda=1..1000:log:200
info tall.csv --matrix
query lattice.bif P(*) --method exact
query glass.uai P(*) --method gibbs
query large.bif argmax(*)
denoise noisy.pgm --labels 64 --method max-product --sweeps 1000
dist normal mean=0 sd=1 --sample 500000000 -o out.csv
"""

MANY = """
fit linear wide.csv --target y --features x* --select forward
fit linear broad.csv --target y --features x* --basis poly:5 --select forward --criterion cv
fit linear tall.csv --target y --errors hc3
fit ridge tall.csv --target y
fit ridge wide.csv --target y --features x*
fit bayes-linear wide.csv --target y --features x*
fit bayes-linear wide.csv --target y --features x* --optimize em
fit bayes-linear broad.csv --target y --features x* --basis poly:20
fit lasso wide.csv --target y --features x*
fit lasso broad.csv --target y --features x* --basis poly:10 --choose cv
fit logistic tall.csv --target level --features x*
fit logistic wide.csv --target kind --features x*
fit logistic wide.csv --target kind --features x* --penalty l1 --lambda 0.1
fit logistic tall.csv --target kind --solver sgd --max-iter 1000
fit probit tall.csv --target kind
fit glm tall.csv --target count --family poisson
fit glm tall.csv --target count --family negative-binomial
fit fa broad.csv --features x* --components all
fit robust tall.csv --target y --method student
fit robust tall.csv --target y --method huber
fit spline tall.csv --target y --features x1,x2,x3,x4
fit gp tall.csv --target y --features x*
fit gp mid.csv --target y --features x* --approx fitc --inducing 300 --optimize-inducing
fit gp tall.csv --target y --features x* --approx svgp
fit gp tall.csv --target y --features x* --approx rff --inducing 800
fit gp mid.csv --target y --features x* --approx nystrom --inducing 500
fit gp mid.csv --target y --features x* --solver cg
fit gp mid.csv --target y --features x* --hyper mcmc
fit gp mid.csv --target y --features level,x1 --kernel spectrum(level;k=2)+rbf(x1)
fit gp-classify mid.csv --target side --features x*
fit gp-classify mid.csv --target side --features x* --infer ep
fit gp-classify mid.csv --target kind --features x*
fit gp-classify tall.csv --target side --features x* --approx svgp
fit gp-online tall.csv --target y --features x*
fit gp-online tall.csv --target y --features x* --method basis
fit kernel-ridge mid.csv --target y --features x*
fit topics tall.csv --features count --k 50 --sweeps 20000
fit topics tall.csv --text level --k 50 --infer vb --tol 0 --passes 10000
fit topics tall.csv --text level --document kind --k 20 --sweeps 20000 --shards 8
fit topics tall.csv --features count --k 50 --infer online --passes 10000
fit kalman tall.csv --target y --components trend,seasonal:24
fit kalman tall.csv --target y --components trend,seasonal:24 --infer em
fit knn tall.csv --target kind --features x* --k auto
fit nadaraya-watson tall.csv --target y --features x*
fit nadaraya-watson tall.csv --target y --features x* --per-column --order 1
fit mixture tall.csv --features x*,count,level,kind --numbers auto,count=poisson --k 10:30
fit mixture tall.csv --features x*,kind --k 12 --e-step mc --draws 100
fit bn tall.csv --features x*,count,kind,side --bins 4 --restarts 1000000
fit bn tall.csv --features x*,count,kind,side --bins 4 --structure ges --restarts 1000000
fit bn tall.csv --features x*,count,kind,side --bins 4 --structure partition-mcmc --samples 10000000
fit bn tall.csv --features x*,count,kind,side --bins 4 --bootstrap 1000000
fit naive-bayes long.csv --target level --features x*,kind
fit naive-bayes tall.csv --target kind --numbers kernel
fit qda wide.csv --target kind --features x*
fit fisher wide.csv --target kind --features x*
fit tree long.csv --target kind --features x*
fit tree wide.csv --target y --features x*
fit adaboost tall.csv --target kind
fit adaboost tall.csv --target y --form gradient --rounds 1000
fit normal long.csv --features x1
fit poisson long.csv --features count
fit exponential long.csv --features count
fit uniform long.csv --features count
fit von-mises long.csv --features x1
fit beta-bernoulli long.csv --features side --success u
fit dirichlet-categorical long.csv --features level
fit bayes-logistic tall.csv --target kind --features x*
fit bayes-logistic tall.csv --target side --features x* --infer mcmc
fit bayes-logistic tall.csv --target side --features x* --infer importance
fit gmm tall.csv --features x* --k 3 --infer gibbs
fit program tall.csv --program y~normal(a+b*x1+c*x2,s);a~normal(0,9);b~normal(0,9);c~normal(0,9);s~exponential(1)
fit crf tall.csv --target level --features x*,kind
fit crf tall.csv --target level --features x*,kind --solver sgd --tol 1e-9
fit crf tall.csv --target kind --features x*,level --window level[-2:2],level[-1]*level --l1 0.1
fit svm tall.csv --target kind --features x* --multi crammer-singer
fit svm tall.csv --target kind --features x*,level --kernel linear --multi crammer-singer --tol 1e-9 --C 100
fit svm tall.csv --target level --features x* --multi ovr --C 100
fit svm tall.csv --target side --features x* --path 0.1,1,10,100
fit svm mid.csv --target side --features x* --path 0.1,1,10,100,1e5 --loo
fit svm tall.csv --target kind --features x* --calibrate platt
fit svm tall.csv --target side --features x* --kind nu --nu 0.6
fit svm tall.csv --target kind --kernel linear --tol 1e-9
fit svm tall.csv --target kind --kernel linear --margin-loss squared-hinge --tol 1e-9 --C 1000
fit svm tall.csv --target kind --kernel linear --margin-loss squared-hinge --penalty l1 --tol 1e-9
fit svr tall.csv --target y --features x*
fit svr tall.csv --target y --features x* --kind nu --C 100
fit svr tall.csv --target y --kernel linear --tol 1e-9 --epsilon 0
fit one-class-svm tall.csv --features x*
fit rvm tall.csv --target kind --features x*
fit rvm mid.csv --target side --features x*
tune svm mid.csv --target kind --features x* --over C=0.1..1000:9
predict svm.cred long.csv -o out.csv
cv linear tall.csv --target y --folds 3000
cv ridge tall.csv --target y --features x* --bootstrap 100000
cv linear tall.csv --target y --bias-variance
cv linear tall.csv --target y --learning-curve 0.1,0.5,1
cv gp mid.csv --target y --features x* --optimize none
compare ridge knn tree tall.csv --target y --features x*
compare normal long.csv --by level --features x1
tune knn tall.csv --target y --features x* --over k=1..50:50
predict linear.cred long.csv --draws 100 -o out.csv
predict gp.cred long.csv -o out.csv
predict gp.cred tall.csv --slopes -o out.csv
predict gp.cred few.csv --covariance out.npy -o out.csv
predict gp.cred tall.csv --latent --draws 10 -o out.csv
predict gp-classify.cred long.csv -o out.csv
predict gp-online.cred long.csv -o out.csv
predict knn.cred long.csv -o out.csv
predict nadaraya-watson.cred tall.csv -o out.csv
predict naive-bayes.cred tall.csv -o out.csv
predict kernel-ridge.cred long.csv -o out.csv
predict logistic.cred long.csv --json -o out.json
predict tree.cred long.csv -o out.csv
predict adaboost.cred long.csv -o out.csv
predict lda.cred tall.csv -o out.csv
predict bayes-logistic.cred long.csv -o out.csv
predict spline.cred long.csv -o out.csv
predict fisher.cred long.csv --coordinates -o out.csv
predict kernel-pca.cred tall.csv -o out.csv
predict kernel-pca.cred few.csv --reconstruct -o out.csv
predict crf.cred tall.csv -o out.csv
predict crf.cred tall.csv --decode viterbi -o out.csv
predict crf.cred tall.csv --decode viterbi --paths 20 -o out.csv
evaluate linear.cred long.csv
evaluate gp.cred long.csv
evaluate knn.cred long.csv
evaluate normal.cred long.csv --rows
update linear.cred long.csv -o out.cred
update linear.cred long.csv --stream -o out.cred
update gp.cred tall.csv -o out.cred
update gp-online.cred tall.csv -o out.cred
update naive-bayes.cred long.csv -o out.cred
sample normal.cred -n 100000000 -o out.csv
sample mvn.cred -n 10000000 -o out.csv
sample von-mises.cred -n 100000000 -o out.csv
sample dirichlet-categorical.cred -n 100000000 -o out.csv
describe long.csv
describe glass.uai
check long.csv
convert long.csv out.csv
convert long.csv out.csv.gz
convert long.csv out.csv.zst
convert glass.uai out.json --canonical
dist gamma shape=2 rate=1 --sample 500000000 -o out.csv
dist normal --fit long.csv:x1
dist student-t --fit long.csv:x1
dist negative-binomial --fit long.csv:count
info long.csv
info tall.csv --columns x1,x2,x3,x4
info tall.csv --mutual x1,y --permutations 1000
info tall.csv --rows --joint
info mid.csv mid.csv --mmd
plot gp1.cred few.csv -o out.svg
plot gp.cred few.csv --kind map --over x1,x2 -o out.svg
plot gp.cred few.csv --kind evidence -o out.svg
plot gp.cred few.csv --kind learning-curve -o out.svg
plot linear.cred long.csv --kind residuals -o out.svg
plot logistic.cred long.csv --kind roc -o out.svg
plot logistic.cred tall.csv --kind path -o out.svg
plot large.bif -o out.svg
query lattice.bif P(*) --method jt
query grid.uai P(*) --method ve
query grid.uai argmax(*) --method exact
query glass.uai argmax(*)
query glass.uai argmax(*) --method bp
query glass.uai P(*)
query large.bif 'P(* | v44_44=yes)' --method bp --schedule flooding --max-iter 100000 --tol 0
query large.bif 'P(* | v44_44=yes)' --method trw
query large.bif 'P(* | v44_44=yes)' --method gbp
query large.bif 'P(* | v44_44=yes)' --method mean-field --max-iter 1000000 --tol 0
query large.bif 'P(* | v44_44=yes)' --method forward --samples 10000000
query large.bif 'P(* | v44_44=yes)' --method rejection --samples 10000000
query large.bif 'P(* | v44_44=yes)' --method likelihood-weighting --samples 10000000
query large.bif 'P(* | v44_44=yes)' --method importance --samples 10000000
query large.bif 'P(* | v44_44=yes)' --method gibbs
query large.bif 'P(* | v44_44=yes)' --method annealed
query small.bif P(v0_0) --method enumerate
query lattice.bif 'I(v0_0; *)'
query lattice.bif 'causes(* | v18_18=yes)'
query lattice.bif 'best(1000; * | v18_18=yes)'
query lattice.bif 'sensitivity(4; v0_0=yes | v18_18=yes)'
query lattice.bif 'argmax(v0_0, v1_1, v2_2, v3_3 | v18_18=yes)'
query glass.uai cliques() chordal()
infer lattice.bif cases.csv
infer lattice.bif cases.csv --target v9_9 --method ve
infer large.bif cases.csv --method bp
infer large.bif cases.csv --method gibbs
query chains.json 'P(h0[t=9] | y0[t=1000000]=0)'
query chains.json 'P(* | y0[t=20000]=0)'
query chains.json 'argmax(* | y0[t=20000]=0)'
query chains.json 'P(h0[t=1], h1[t=2000] | y0[t=9000]=0)'
infer chains.json slices.csv
infer chains.json slices.csv --filtered
fit dbn slices.csv --network chains.json -o out.cred
denoise noisy.pgm
denoise noisy.pgm --method icm --sweeps 100000 --labels 256
denoise noisy.pgm --labels 256 --method gibbs --sweeps 1000
denoise noisy.pgm --labels 16
denoise noisy.pgm --network out.uai
"""


def commands(text):
    """The words of every line."""
    return [shlex.split(line) for line in text.strip().splitlines()]


def make_models(program, folder):
    """NAME.cred of every line of PREPARED."""
    for words in commands(PREPARED):
        output = [] if "-o" in words else ["-o", f"{words[0]}.cred"]
        subprocess.run([program, "fit", *words, *output, "-q"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
