from tiny.m170 import f


def test_0():
    assert f('ad') == 'a'


def test_1():
    assert f('bc') == 'b'


def test_2():
    assert f('ca') == 'c'


def test_3():
    assert f('bb') == 'b'


def test_4():
    assert f('acde') == 'ad'


def test_5():
    assert f('daad') == 'da'


def test_6():
    assert f('ea') == 'e'


def test_7():
    assert f('cded') == 'ce'
