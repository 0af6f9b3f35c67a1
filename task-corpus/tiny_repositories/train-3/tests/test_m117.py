from tiny.m117 import f


def test_0():
    assert f('eea') == 5


def test_1():
    assert f('dbe') == 4


def test_2():
    assert f('ceee') == 6


def test_3():
    assert f('ce') == 4


def test_4():
    assert f('bceb') == 6


def test_5():
    assert f('baa') == 5


def test_6():
    assert f('adda') == 4


def test_7():
    assert f('ed') == 3
