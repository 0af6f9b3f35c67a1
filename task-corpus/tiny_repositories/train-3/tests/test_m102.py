from tiny.m102 import f


def test_0():
    assert f('ee') == 'dee'


def test_1():
    assert f('cc') == 'dcc'


def test_2():
    assert f('ace') == 'dace'


def test_3():
    assert f('dadb') == 'ddadb'


def test_4():
    assert f('bded') == 'dbded'


def test_5():
    assert f('ea') == 'dea'


def test_6():
    assert f('abde') == 'dabde'


def test_7():
    assert f('cecc') == 'dcecc'
