from tiny.m133 import f


def test_0():
    assert f('ac') == ['c', 'a']


def test_1():
    assert f('bbe') == ['b', 'e', 'b']


def test_2():
    assert f('ea') == ['a', 'e']


def test_3():
    assert f('bdec') == ['d', 'e', 'c', 'b']


def test_4():
    assert f('ded') == ['e', 'd', 'd']


def test_5():
    assert f('dde') == ['d', 'e', 'd']


def test_6():
    assert f('caa') == ['a', 'a', 'c']


def test_7():
    assert f('cdec') == ['d', 'e', 'c', 'c']
