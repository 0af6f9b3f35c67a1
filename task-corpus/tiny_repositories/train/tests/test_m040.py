from tiny.m040 import f


def test_0():
    assert f('ab') == 'a'


def test_1():
    assert f('ed') == 'e'


def test_2():
    assert f('beb') == 'bb'


def test_3():
    assert f('cb') == 'c'


def test_4():
    assert f('ee') == 'e'


def test_5():
    assert f('dc') == 'd'


def test_6():
    assert f('bb') == 'b'


def test_7():
    assert f('adbb') == 'ba'
