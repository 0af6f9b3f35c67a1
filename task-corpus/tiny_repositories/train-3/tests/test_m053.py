from tiny.m053 import f


def test_0():
    assert f('bb') == 'bb'


def test_1():
    assert f('ddde') == 'dd'


def test_2():
    assert f('bdb') == 'bd'


def test_3():
    assert f('ebec') == 'eb'


def test_4():
    assert f('bcbb') == 'by'


def test_5():
    assert f('aa') == 'aa'


def test_6():
    assert f('dde') == 'dd'


def test_7():
    assert f('abed') == 'ab'
