"""Networks: read from any file, asked in words, one question or many rows at a time."""
import ctypes
import json
import os
import pathlib
import tempfile

import numpy as np

from . import _columns, _options
from . import _declarations as c
from ._context import call, current, json_of, make, work
from ._library import lib
from ._model import _copy
from ._result import Framed, Result, draw
from ._settings import filled
from ._table import Table, read_table

_OPTIONS = _options.read_table(_options.table_address("cr_ask_table"))
_options.know(_OPTIONS)
FORMATS = ("auto", "bif", "xmlbif", "net", "uai", "cred", "json")   # cr_network_format


def _format(name):
    if name not in FORMATS:
        raise ValueError(f"there is no format {name!r} of networks; formats: {', '.join(FORMATS)}")
    return FORMATS.index(name)


def _state_text(value, states):
    """A state as the network spells it: True is the state true, or True."""
    text = _columns.level_text(value)
    if text not in states and isinstance(value, (bool, np.bool_)):
        return next((state for state in states if state.lower() == text), text)
    return text


class Posteriors(Framed):
    """The posteriors of rows of evidence.

    Attributes
    ----------
    variables : list of str
        The variables they are for.
    marginals : dict of ndarray
        For each variable, by name, an array with a row for each row of evidence: the probabilities of its states or,
        for a Gaussian variable, mean and sd.  NaN in an impossible row.
    states : dict of list of str
        The columns of these arrays.
    log_evidence : ndarray
        log P(row); -inf for an impossible row, NaN if the method has none.
    possible : ndarray of bool
        Whether a row is possible in this network.
    se : ndarray
        The largest standard error of a row, for sampling methods; otherwise NaN.
    method, exact : str, bool
        The method used, and whether the answers are exact except for rounding.

    ``posteriors[i]`` is row i as a dict, ``to_pandas()`` a frame with a row for each.
    """

    def __init__(self, names, states, p):
        self.variables, self.method, self.exact = names, p.method.decode(), p.exact
        self.states = states
        self.log_evidence, self.se = _copy(p.log_evidence, p.rows), _copy(p.se, p.rows)
        self.possible = np.array(p.possible[:p.rows], dtype=bool)
        values, ends = _copy(p.value, p.rows, p.width), np.cumsum([len(states[name]) for name in names])
        self.marginals = dict(zip(names, np.split(values, ends[:-1], axis=1))) if names else {}

    def __len__(self):
        return len(self.log_evidence)

    def __getitem__(self, i):
        """Row i: log_evidence, and the marginals by variable and state; none where it is impossible."""
        log_evidence = float(self.log_evidence[i])
        row = {"log_evidence": log_evidence if np.isfinite(log_evidence) else None}
        if not self.possible[i]:
            return Result({**row, "impossible": True, "marginals": {}})
        return Result({**row, "marginals": {name: dict(zip(self.states[name], self.marginals[name][i].tolist()))
                                            for name in self.variables}})

    def __repr__(self):
        return f"<credence.Posteriors of {', '.join(self.variables)}: {len(self)} rows, by {self.method}>"

    def to_pandas(self):
        """A frame with log_evidence and a column x=state (of a Gaussian variable x:mean and x:sd) for each number,
        as ``credence infer --format csv`` has them."""
        import pandas   # only who asks for it needs it
        columns = {"log_evidence": self.log_evidence}
        for name in self.variables:
            mark = ":" if self.states[name] == ["mean", "sd"] and self.method == "gaussian" else "="
            columns.update({f"{name}{mark}{state}": self.marginals[name][:, k]
                            for k, state in enumerate(self.states[name])})
        return pandas.DataFrame(columns)


class Network:
    """A network of probabilities: Bayesian, Markov or linear-Gaussian.

    Parameters
    ----------
    path : str or path, or a fitted estimator
        A file .bif, .xmlbif, .net, .uai, .json or .cred, also compressed, or a model that has learned a network.
    format : str
        Of the file: 'auto' looks at its name and its first bytes.

    Questions are formulas, the same as those of ``credence query``:

    ==================================  ===============================================================
    P(x | y=a), P(x, y | z=b), P(*)     distributions
    P(x=a, y=b | z=c)                   a probability
    argmax(x, y | z=c), best(5; * | e)  the most probable states
    H(x | e), I(x; y | e), I(x; * | e)  entropy, information
    x _|_ y | z, blanket(x), parents(x) what the graph says
    causes(* | e), sensitivity(x=a | e) what the evidence supports; which parameters matter
    ==================================  ===============================================================

    Behind the bar stand observations ``x=a``, sets ``x in {a, b}``, likelihoods ``x~{a:3, b:1}``, soft evidence
    ``x:={a:0.7, b:0.3}`` and interventions ``do(x=a)``.

    Examples
    --------
    >>> net = credence.Network("burglary.bif")
    >>> net.query("P(burglary | john=yes, mary=yes)").marginals["burglary"]["yes"]
    0.284171...
    >>> net.query("P(burglary)", evidence={"john": "yes", "mary": "yes"})      # the same
    >>> net.infer({"john": ["yes", "no"], "mary": ["no", None]}, targets="burglary").to_pandas()
    """

    def __init__(self, path, format="auto"):
        if hasattr(path, "_fitted"):
            self._handle, self._name = path._fitted()._handle, type(path).__name__
        else:
            self._name = os.path.basename(os.fspath(path))
            self._handle = make(lib.cr_model_free, lib.cr_model_load_network, os.fsencode(path), _format(format))
        self._read()

    def _read(self):
        self._pointer, has_states = self._handle.pointer, ctypes.c_bool()
        self._variables = lib.cr_model_variables(self._pointer, has_states)
        if not self._variables:
            raise NotImplementedError(f"{self._name} is a model without a network")
        self._has_states, self._description = has_states.value, None
        self.variables = [lib.cr_variable_name(self._variables, v).decode()
                          for v in range(lib.cr_variables_count(self._variables))]
        self._numbers = {name: v for v, name in enumerate(self.variables)}

    @classmethod
    def _from_bytes(cls, name, data):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "network.cred")
            path.write_bytes(data)
            network = cls(path)
        network._name = name
        return network

    def __reduce__(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "network.cred")
            self.save(path)
            return Network._from_bytes, (self._name, path.read_bytes())

    def __copy__(self):
        return self  # it never changes

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"<credence.Network {self._name!r}: {len(self.variables)} variables>"

    # --- looking

    def states(self, variable):
        """The states of a variable; none for a Gaussian variable."""
        if variable not in self._numbers:
            raise KeyError(f"there is no variable {variable!r}; variables: {', '.join(self.variables)}")
        if not self._has_states:
            return []
        v = self._numbers[variable]
        return [lib.cr_state_name(self._variables, v, s).decode()
                for s in range(lib.cr_variable_states(self._variables, v))]

    def describe(self):
        """The contents of the network: the same as ``credence describe --json``."""
        if self._description is None:
            self._description = Result(json_of(lib.cr_model_describe_network, self._pointer), "variables")
        return self._description

    # --- what is known

    def _known(self, value, states):
        """What is known of one variable, as the library reads it."""
        if isinstance(value, dict):
            return {key if key in ("do", "soft") and len(value) == 1 else _state_text(key, states):
                    self._known(x, states) if key in ("do", "soft") and len(value) == 1 else float(x)
                    for key, x in value.items()}
        if not self._has_states:
            return float(value)
        if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
            return [_state_text(x, states) for x in value]
        return _state_text(value, states)

    def _evidence(self, evidence, more):
        """JSON of all that is known; None values are not known."""
        known = {}
        for name, value in {**(evidence or {}), **more}.items():
            if value is not np.ma.masked and not _columns.is_missing(value):
                known[name] = self._known(value, self.states(name) if name in self._numbers else [])
        return json.dumps(known).encode() if known else None

    def _split(self, keywords):
        """(options, evidence) of keywords: a variable has its name in the network."""
        options = {name: value for name, value in keywords.items() if name in {o.name for o in _OPTIONS}}
        more = {name: value for name, value in keywords.items() if name not in options}
        for name in more:
            if name not in self._numbers:
                raise TypeError(f"{name!r} is neither an option nor a variable of the network; options: "
                                f"{', '.join(o.name for o in _OPTIONS)}")
        return options, more

    # --- asking

    def query(self, *questions, evidence=None, **options):
        """The answer to a question, or a list of answers to several.

        evidence, in addition to that in the questions, is a dict from variables to a state, a list of states, {state:
        likelihood}, {'soft': {state: probability}} or {'do': state}, or to a number for a Gaussian variable.
        Variables may also be keywords: ``net.query("P(burglary)", john="yes")``.

        Options: ``method`` ('auto', 'exact', 've', 'jt', 'enumerate', 'bp', 'gibbs', ...), ``budget`` in seconds,
        ``unit`` of H and I ('bits' or 'nats'), ``seed``, and those of the approximations (``samples``, ...).

        An answer is a dict, its items also attributes: ``marginals`` or ``table``, ``assignment``,
        ``probability``, ``log_probability``, ``entropy``, ...; ``method``, ``exact``, ``log_evidence``.
        """
        if not questions:
            raise TypeError("query takes a question, such as 'P(x | y=a)'")
        given, more = self._split(options)
        known = self._evidence(evidence, more)
        with filled("cr_ask_table", given) as values:
            answers = [Result(json_of(lib.cr_model_query, self._pointer, question.encode(), known, values))
                       for question in questions]
        return answers[0] if len(questions) == 1 else answers

    def infer(self, data, targets=None, evidence=None, **options):
        """The posteriors of every row of evidence: a ``Posteriors``.

        data is a Table, a pandas DataFrame, a dict of columns or the path of a file; columns are matched to variables
        by name, and missing values are not observed.  targets lists the variables whose posteriors are wanted; None
        means all that are not observed in every row.  evidence and options are those of ``query``.  In a network with
        slices the rows are the slices of one sequence, in their order, and each posterior is given all of them.
        """
        table = self._cases(data)
        given, more = self._split(options)
        names = [targets] if isinstance(targets, str) else targets
        wanted = None if names is None else ",".join(map(_options.list_item, names)).encode()
        p = c.Posteriors()
        known = self._evidence(evidence, more)
        try:
            with filled("cr_ask_table", given) as values:
                context = work(lib.cr_model_infer, self._pointer, table._handle.pointer, wanted, known, values, p)
            names = [self.variables[p.variable[i]] for i in range(p.n)]
            found = Posteriors(names, {name: self.states(name) or ["mean", "sd"] for name in names}, p)
        finally:
            lib.cr_posteriors_free(current().handle, p)   # nothing where the call failed
        context.pass_warnings_on()
        return found

    def _cases(self, data):
        """A table whose columns of variables with states are categories."""
        if isinstance(data, (str, os.PathLike)):
            table = read_table(data)
            states = [name for name in self._numbers if table.types.get(name, "category") != "category"]
            return read_table(data, category=states) if states and self._has_states else table
        if isinstance(data, Table):
            types = data.types
            if not self._has_states or all(types[name] == "category" for name in types if name in self._numbers):
                return data
            data = {name: data[name].astype(object) if types[name] != "boolean" else
                    [None if np.isnan(x) else bool(x) for x in data[name]] for name in types}
        if not self._has_states:
            return Table(data)
        columns = {name: self._levels(name, data[name]) if name in self._numbers else data[name] for name in data.keys()}
        table = Table._empty(max((len(data[name]) for name in columns), default=0))
        for name, values in columns.items():
            table._add(str(name), values)
        return table

    def _levels(self, name, values):
        states = self.states(name)
        values = _columns.unmasked(values)
        return _columns.levels(np.asarray(values, dtype=object).tolist(), lambda value: _state_text(value, states))

    # --- drawing and writing

    def plot(self, question=None, evidence=None, path=None):
        """The network as a figure: each node shows the distribution of its variable, given the evidence in
        ``question``, 'P(* | x=a)', and in ``evidence``.  ``str(figure)`` is SVG; with a path it is also written
        there."""
        known = self._evidence(evidence, {})
        asked = None if question is None else question.encode()
        return draw(path, lambda file: work(lib.cr_plot_model_network, self._pointer, asked, known,
                                            self._name.encode(), file).pass_warnings_on())

    def save(self, path, format="auto"):
        """Writes the network to a file, completely or not at all, in the format of its name: .bif, .xmlbif, .net,
        .uai, .json or .cred, optionally followed by .gz or .zst."""
        call(lib.cr_model_write_network, self._pointer, os.fsencode(path), _format(format)).pass_warnings_on()
