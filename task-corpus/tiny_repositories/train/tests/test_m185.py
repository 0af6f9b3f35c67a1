from tiny.m185 import f


def test_0():
    assert f('ad') == 'ad'


def test_1():
    assert f('ab') == 'ab'


def test_2():
    assert f('dc') == 'dc'


def test_3():
    assert f('cde') == 'cd'


def test_4():
    assert f('aadd') == 'aa'


def test_5():
    assert f('dec') == 'de'


def test_6():
    assert f('ce') == 'ce'


def test_7():
    assert f('dede') == 'de'
