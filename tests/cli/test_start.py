"""The program starts, and says who it is."""


def test_version(credence):
    result = credence("--version")
    assert result.code == 0
    assert result.stdout.startswith("credence ")
    assert result.stderr == ""
