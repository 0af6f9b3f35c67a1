from tiny.m146 import f


def test_0():
    assert f('be') == 'be'


def test_1():
    assert f('ac') == 'ac'


def test_2():
    assert f('abd') == 'bad'


def test_3():
    assert f('ea') == 'ea'


def test_4():
    assert f('ab') == 'ab'


def test_5():
    assert f('dd') == 'dd'


def test_6():
    assert f('aab') == 'aab'


def test_7():
    assert f('aedb') == 'deab'
