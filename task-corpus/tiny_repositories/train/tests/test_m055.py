from tiny.m055 import f


def test_0():
    assert f('abc') == ['a', 'b', 'c']


def test_1():
    assert f('ea') == ['e', 'a']


def test_2():
    assert f('dca') == ['d', 'c', 'a']


def test_3():
    assert f('ee') == ['e', 'e']


def test_4():
    assert f('acc') == ['a', 'c', 'c']


def test_5():
    assert f('da') == ['d', 'a']


def test_6():
    assert f('dbe') == ['d', 'b', 'e']


def test_7():
    assert f('dc') == ['d', 'c']
