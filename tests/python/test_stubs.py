"""The type hints for editors name everything there is, with the same parameters."""
import __future__
import ast
import inspect

import pytest
from conftest import ESTIMATORS

import credence
from credence import stubs

TEXT = "\n".join(stubs.lines()) + "\n"
TREE = ast.parse(TEXT)
CLASSES = {node.name: node for node in TREE.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in TREE.body if isinstance(node, ast.FunctionDef)}


def parameters_of(node):
    a = node.args
    return [arg.arg for arg in (*a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs,
                                *([a.kwarg] if a.kwarg else []))]


def test_everything_public_is_there():
    assert set(CLASSES) | set(FUNCTIONS) == set(credence.__all__)
    for name, node in FUNCTIONS.items():
        assert parameters_of(node) == list(inspect.signature(getattr(credence, name)).parameters)
        assert ast.get_docstring(node)


@pytest.mark.parametrize("name", stubs.CLASSES)
def test_classes_by_hand(name):
    made, node = getattr(credence, name), CLASSES[name]
    methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
    for member, value in vars(made).items():
        if inspect.isfunction(value) and not member.startswith("_"):
            assert parameters_of(methods[member]) == list(inspect.signature(value).parameters)
        assert not isinstance(value, property) or member.startswith("_") or member in methods
    assert parameters_of(methods.get("__init__", ast.parse("def f(self, names, states, p): ...").body[0])) == \
        list(inspect.signature(made.__init__).parameters)
    assert ast.get_docstring(node)


def test_they_are_python():
    found = {}
    exec(compile(TEXT, "__init__.pyi", "exec", flags=__future__.annotations.compiler_flag), found)
    assert found["Ridge"].__init__.__kwdefaults__["lambda_"] == 1.0
    assert TEXT == "\n".join(stubs.lines()) + "\n"


@pytest.mark.parametrize("made", ESTIMATORS)
def test_estimators(made):
    node = CLASSES[made.__name__]
    methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
    assert parameters_of(methods["__init__"]) == list(inspect.signature(made.__init__).parameters)
    public = [name for name, _ in inspect.getmembers(made, inspect.isfunction) if not name.startswith("_")]
    assert set(public) | {"__init__"} == set(methods)
    for name in public:
        assert parameters_of(methods[name]) == list(inspect.signature(getattr(made, name)).parameters)
    fields = {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
    assert {"n_features_in_", *made().get_params()} <= fields
    for name in ("coef_", "cluster_names_", "n_iter_"):
        assert (name in fields) == hasattr(made, name)
    assert made.__doc__.splitlines()[0] in ast.get_docstring(node)


def test_from_the_command_line(python):
    code, out, err = python("import runpy; runpy.run_module('credence.stubs', run_name='__main__')")
    assert code == 0, err
    assert out == TEXT
