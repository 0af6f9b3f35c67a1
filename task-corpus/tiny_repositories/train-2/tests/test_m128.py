from tiny.m128 import f


def test_0():
    assert f('abda') == ['d', 'b', 'a', 'a']


def test_1():
    assert f('ddeb') == ['e', 'd', 'd', 'b']


def test_2():
    assert f('cbcd') == ['d', 'c', 'c', 'b']


def test_3():
    assert f('dcb') == ['d', 'c', 'b']


def test_4():
    assert f('ec') == ['e', 'c']


def test_5():
    assert f('cc') == ['c', 'c']


def test_6():
    assert f('bedd') == ['e', 'd', 'd', 'b']


def test_7():
    assert f('dde') == ['e', 'd', 'd']
