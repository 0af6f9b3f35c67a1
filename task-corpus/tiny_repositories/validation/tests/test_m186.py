from tiny.m186 import f


def test_0():
    assert f('dbb') == 'db'


def test_1():
    assert f('aa') == 'a'


def test_2():
    assert f('abca') == 'aac'


def test_3():
    assert f('bb') == 'b'


def test_4():
    assert f('ec') == 'e'


def test_5():
    assert f('cdca') == 'cac'


def test_6():
    assert f('dc') == 'd'


def test_7():
    assert f('ccab') == 'cba'
