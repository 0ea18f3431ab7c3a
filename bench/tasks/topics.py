"""Topics: sweeps of collapsed Gibbs sampling against textbook loops in C, one chain on one core; and variational Bayes
against LatentDirichletAllocation in scikit-learn, passes over the same documents."""
import random

from harness import Task, python

DOCUMENTS, LENGTH, TERMS, TOPICS = 2_000, 200, 5_000, 20


def write_corpus(path):
    """Documents of a few topics each; terms fall off as 1 / rank."""
    rng = random.Random(1)
    topics = []
    for _ in range(TOPICS):
        order = list(range(TERMS))
        rng.shuffle(order)
        topics.append(order)
    weights = [1 / (rank + 3) for rank in range(TERMS)]
    total, cumulative = 0, []
    for weight in weights:
        total += weight
        cumulative.append(total)
    with open(path, "w") as f:
        for _ in range(DOCUMENTS):
            mix = [rng.gammavariate(0.1, 1) + 1e-12 for _ in range(TOPICS)]
            counts = {}
            for k in rng.choices(range(TOPICS), mix, k=LENGTH):
                term = topics[k][rng.choices(range(TERMS), cum_weights=cumulative)[0]]
                counts[term] = counts.get(term, 0) + 1
            f.write(f"{len(counts)} " + " ".join(f"{w}:{n}" for w, n in sorted(counts.items())) + "\n")


# The data are documents of lda-c; the bound is per token, as a perplexity.
SKLEARN = """
import json, sys, time, warnings
import numpy, scipy.sparse
from sklearn.decomposition import LatentDirichletAllocation
warnings.simplefilter("ignore")
rows = [[tuple(map(int, e.split(":"))) for e in line.split()[1:]] for line in open(sys.argv[1])]
start = numpy.cumsum([0] + [len(r) for r in rows])
X = scipy.sparse.csr_matrix(([n for r in rows for _, n in r], [w for r in rows for w, _ in r], start))
m = LatentDirichletAllocation(20, doc_topic_prior=0.1, topic_word_prior=0.01, max_iter=int(sys.argv[2]), random_state=0)
begin = time.perf_counter()
m.fit(X)
seconds = time.perf_counter() - begin
print(json.dumps({"seconds": seconds, "perplexity": m.perplexity(X)}))
"""

DATA = (f"topics-{DOCUMENTS}x{LENGTH}.ldac", write_corpus)


def gibbs(topics, sweeps, goal):
    return Task(name=f"topics-{topics}", about=f"collapsed Gibbs sampling, 400 000 tokens, {topics} topics, "
                "against textbook loops in C", ours=["{build}/bench/bench_topics", "ours", "{data}", str(topics),
                                                     str(sweeps), "1"],
                peer=["{build}/bench/bench_topics", "plain", "{data}", str(topics), str(sweeps), "1"], data=DATA,
                quality="log_joint", judge="higher", tolerance=5e-3, goal=goal, threads=1, scaling=None)


def perplexity(said):
    return said["perplexity"] if "perplexity" in said else said["statistics"]["perplexity"]


TASKS = [
    gibbs(20, 100, 2),
    gibbs(100, 40, 2),
    Task(name="topics-vb", about="variational Bayes, 20 passes over 400 000 tokens, 20 topics, against scikit-learn",
         ours=["{build}/credence", "fit", "topics", "{data}", "--k", "20", "--infer", "vb", "--alpha", "0.1", "--eta",
               "0.01", "--passes", "20", "--tol", "0", "--threads", "1", "--json"],
         peer=python(SKLEARN, "{data}", "20"), needs=("sklearn", "scipy"), data=DATA, quality=perplexity,
         judge="lower", tolerance=0.02, goal=2, threads=1, scaling=None),
]
