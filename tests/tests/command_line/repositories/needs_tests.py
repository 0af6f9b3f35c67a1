import colorsys
import runtime_helper
import test_helper
import pytest
import _pytest.python
from importlib.metadata import version

def test_both():
    assert (runtime_helper.deep(), test_helper.VALUE) == (7, 1)

def test_nothing_is_replaced():
    assert colorsys.__file__.startswith("/usr/local/lib")
    assert not hasattr(colorsys, "forged")

def test_metadata():
    assert (version("needs"), version("test-helper")) == ("1.0", "1.0")

def test_compiled():
    pytest.importorskip("compiled")
