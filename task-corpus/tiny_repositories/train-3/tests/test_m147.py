from tiny.m147 import f


def test_0():
    assert f('ea') == 'EA'


def test_1():
    assert f('eed') == 'EED'


def test_2():
    assert f('ddd') == 'DDD'


def test_3():
    assert f('dbcb') == 'DBCB'


def test_4():
    assert f('dda') == 'DDA'


def test_5():
    assert f('ccb') == 'CCB'


def test_6():
    assert f('ce') == 'CE'


def test_7():
    assert f('bcdd') == 'BCDD'
