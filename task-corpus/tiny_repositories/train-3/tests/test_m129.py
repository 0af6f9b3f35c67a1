from tiny.m129 import f


def test_0():
    assert f('ad') == 0


def test_1():
    assert f('be') == -1


def test_2():
    assert f('cdc') == -1


def test_3():
    assert f('bce') == -1


def test_4():
    assert f('cbaa') == 2


def test_5():
    assert f('dcc') == -1


def test_6():
    assert f('cacb') == 1


def test_7():
    assert f('cee') == -1
