from tiny.m194 import f


def test_0():
    assert f('eb') == -1


def test_1():
    assert f('adc') == 0


def test_2():
    assert f('cdbb') == -1


def test_3():
    assert f('cbdc') == -1


def test_4():
    assert f('eaa') == 1


def test_5():
    assert f('cab') == 1


def test_6():
    assert f('bcab') == 2


def test_7():
    assert f('ccee') == -1
