from tiny.m018 import f


def test_0():
    assert f('ae') == ['a', 'e']


def test_1():
    assert f('ec') == ['c', 'e']


def test_2():
    assert f('da') == ['a', 'd']


def test_3():
    assert f('abba') == ['a', 'a', 'b', 'b']


def test_4():
    assert f('aaac') == ['a', 'a', 'a', 'c']


def test_5():
    assert f('ebbc') == ['b', 'b', 'c', 'e']


def test_6():
    assert f('dea') == ['a', 'd', 'e']


def test_7():
    assert f('ada') == ['a', 'a', 'd']
