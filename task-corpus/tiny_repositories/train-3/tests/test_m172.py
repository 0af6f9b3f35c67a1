from tiny.m172 import f


def test_0():
    assert f('bc') == 'c'


def test_1():
    assert f('ed') == 'ed'


def test_2():
    assert f('bd') == 'd'


def test_3():
    assert f('ac') == 'ac'


def test_4():
    assert f('bb') == ''


def test_5():
    assert f('ebac') == ['c', 'a', 'b', 'e']


def test_6():
    assert f('ab') == 'a'


def test_7():
    assert f('aedc') == ['c', 'd', 'e', 'a']
